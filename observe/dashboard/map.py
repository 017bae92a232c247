"""Services and what goes between them, as a graph: who begins dialogs at the left, who is asked right."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from .charts import number, svg_text

_BOX, _HEIGHT, _GAP = 220, 44, 22


def graph(
    traffic: Sequence[dict[str, Any]], queues: Sequence[dict[str, Any]], base: str, limit: int = 60
) -> tuple[Markup, int, int]:
    """The drawing, how many services are in it, and how many there are: the busiest where they are many.

    ``traffic`` is ssb_internal.traffic's, ``queues`` ssb.queue_status's; boxes lead to queues' pages.
    """
    queue_of = {service: row for row in queues for service in row["services"]}
    edges = [row for row in traffic if row["from_service"] and row["to_service"]]
    # The most dialogs come first in traffic; where boxes stand is not to change with each look.
    talking = list(dict.fromkeys(name for row in edges for name in (row["from_service"], row["to_service"])))
    known = sorted(talking[:limit]) + sorted(queue_of.keys() - set(talking))
    ranks = _ranks(known[:limit], edges)
    columns: list[list[str]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for name, rank in ranks.items():
        columns[rank].append(name)
    width = max(900, len(columns) * (_BOX + 130) - 110)
    step = (width - _BOX - 20) / max(len(columns) - 1, 1)
    rows = max(map(len, columns), default=0) or 1
    height = rows * (_HEIGHT + _GAP) + 20
    places = {
        name: (round(10 + column * step), round(14 + (place + (rows - len(names)) / 2) * (_HEIGHT + _GAP)))
        for column, names in enumerate(columns)
        for place, name in enumerate(names)
    }
    most = max((row["conversations"] for row in edges), default=1)
    parts = [
        _edge(places[row["from_service"]], places[row["to_service"]], row, most)
        for row in edges
        if row["from_service"] in places and row["to_service"] in places
    ]
    parts += [_box(name, place, queue_of.get(name), base) for name, place in places.items()]
    drawing = Markup(
        '<svg class="map" viewBox="0 0 {} {}" role="group" aria-label="Services and open dialogs">{}</svg>'
    ).format(width, height, Markup("").join(parts))
    return drawing, len(places), len(queue_of.keys() | set(talking))


def _ranks(names: Sequence[str], edges: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The column of each: one behind who begins dialogs with it, four at most; circles end at their begin."""
    ranks = dict.fromkeys(names, 0)
    begins: dict[str, set[str]] = {}
    for row in edges:
        begins.setdefault(row["from_service"], set()).add(row["to_service"])
    asked = {row["to_service"] for row in edges if row["to_service"] != row["from_service"]}

    def walk(name: str, rank: int, above: frozenset[str]) -> None:
        if name not in ranks or name in above or rank > 3:
            return
        if rank >= ranks[name]:
            ranks[name] = rank
            for other in begins.get(name, ()):
                walk(other, rank + 1, above | {name})

    for name in [one for one in names if one not in asked] or names[:1]:
        walk(name, 0, frozenset())
    return ranks


def _edge(start: tuple[float, float], end: tuple[float, float], row: dict[str, Any], most: int) -> Markup:
    ahead = end[0] > start[0]
    x1, y1 = start[0] + (_BOX if ahead or start == end else 0), start[1] + _HEIGHT / 2
    x2, y2 = end[0] + (0 if ahead else _BOX), end[1] + _HEIGHT / 2
    if start == end:
        y1, y2 = y1 - 12, y2 + 12
    bend = max(60.0, abs(x2 - x1) / 2)
    c1, c2 = x1 + (bend if ahead or start == end else -bend), x2 + (-bend if ahead else bend)
    width = round(1 + 5 * (row["conversations"] / most) ** 0.5, 1)
    count = row["conversations"]
    label = f"{row['from_service']} to {row['to_service']}, {row['contract_name']}: {count} open dialogs"
    short = f"{row['contract_name']} · {number(count)}"
    return Markup(
        '<g class="edge"><path d="M{},{} C{},{} {},{} {},{}" stroke-width="{}"><title>{}</title></path>{}</g>'
    ).format(
        x1, y1, c1, y1, c2, y2, x2, y2, width, label,
        svg_text((x1 + x2) / 2, (y1 + y2) / 2 - 5, short, "edge-label", 18),
    )  # fmt: skip


def _box(name: str, place: tuple[float, float], queue: dict[str, Any] | None, base: str) -> Markup:
    x, y = place
    if queue is None:
        css, below = "far", "another instance, or nowhere"
    else:
        css = "bad" if queue["state"] != "ON" else "busy" if queue["depth"] else ""
        below = f"{queue['queue']} · {number(queue['depth'])} waiting"
    shape = Markup('<rect class="service {}" x="{}" y="{}" width="{}" height="{}" rx="7"/>{}{}').format(
        css, x, y, _BOX, _HEIGHT,
        svg_text(x + _BOX / 2, y + 18, name, "service-name", 30),
        svg_text(x + _BOX / 2, y + 34, below, "service-queue", 36),
    )  # fmt: skip
    if queue is None:
        return shape
    return Markup('<a href="{}/queue/{}">{}</a>').format(base, quote(queue["queue"], safe=""), shape)
