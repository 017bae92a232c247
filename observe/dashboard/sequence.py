"""A dialog as a sequence diagram: two life lines, messages as arrows, all else as notes on a side's line."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from .charts import svg_text

_LEFT, _RIGHT, _ROW, _TOP = 240, 660, 46, 62
_SHORT = "http://schemas.microsoft.com/SQL/ServiceBroker/"


def diagram(events: Sequence[dict[str, Any]], initiator: str, target: str) -> Markup:
    """The events of ssb.conversation_timeline, one below the other, their times at the left."""
    height = _TOP + _ROW * len(events) + 24
    parts = [
        _head(_LEFT, initiator, "initiator"),
        _head(_RIGHT, target, "target"),
        *(
            Markup('<line class="life" x1="{0}" x2="{0}" y1="44" y2="{1}"/>').format(x, height - 12)
            for x in (_LEFT, _RIGHT)
        ),
    ]
    for place, event in enumerate(events):
        parts += _event(event, _TOP + place * _ROW)
    return Markup(
        '<svg class="sequence" viewBox="0 0 900 {}" role="img" aria-label="{}">'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto-start-reverse"><path class="arrowhead" d="M0,0 L8,4 L0,8 z"/></marker></defs>{}</svg>'
    ).format(
        height,
        f"Dialog of {initiator} and {target}, {len(events)} events; the table below tells the same",
        Markup("").join(parts),
    )


def _head(x: int, service: str, side: str) -> Markup:
    return Markup('<rect class="party" x="{}" y="4" width="300" height="40" rx="6"/>{}{}').format(
        x - 150, svg_text(x, 21, service, "party-name", 40), svg_text(x, 37, side, "party-side")
    )


def _event(event: dict[str, Any], y: int) -> list[Markup]:
    near, far = (_LEFT, _RIGHT) if event["side"] == "initiator" else (_RIGHT, _LEFT)
    at = event["at"]
    shown = [
        Markup('<text class="when" x="8" y="{}" data-time="{}">{}</text>').format(
            y + 14, at.isoformat(), at.strftime("%H:%M:%S")
        )
        if at
        else svg_text(8, y + 14, "earlier", "when")
    ]
    kind, status, detail = event["event"], event["status"] or "", event["detail"] or ""
    if kind in ("message", "received"):
        css = "waits" if "delivery" in status else "gone" if kind == "received" else ""
        name = (event["message_type_name"] or "received earlier").replace(_SHORT, "")
        if kind == "received":
            status = detail
        if name == "Error":
            css = "failed"
        number = event["message_sequence_number"]
        size = f", {event['bytes']:,} bytes" if event["bytes"] is not None else ""
        end = (near + far) / 2 if "delivery" in status else far + (8 if far < near else -8)
        shown += [
            Markup('<line class="arrow {}" x1="{}" y1="{}" x2="{}" y2="{}" marker-end="url(#head)"/>').format(
                css, near, y + 20, end, y + 20
            ),
            svg_text(
                (_LEFT + _RIGHT) / 2,
                y + 14,
                f"{'' if number is None else f'{number}. '}{name}",
                "message",
                52,
            ),
            svg_text((_LEFT + _RIGHT) / 2, y + 33, f"{status}{size}" if status else "", "status", 70),
        ]
        return shown
    is_bad = kind in ("error", "quarantine")
    if kind == "begin":
        detail = detail.partition(" on contract ")[2].rpartition(", handle ")[0]
    width, x = 230, near - 115
    shown += [
        Markup('<rect class="note {}" x="{}" y="{}" width="{}" height="34" rx="5"/>').format(
            "failed" if is_bad else kind, x, y + 2, width
        ),
        svg_text(near, y + 17, f"{kind}{': ' + status if status else ''}", "note-text", 34),
        svg_text(near, y + 30, detail, "note-detail", 38),
    ]
    return shown
