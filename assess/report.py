"""Writes an assessment as JSON, or as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections import Counter
from html import escape
from typing import Any

from .. import __version__
from ..grammar.problems import Problem
from ..grammar.source import Span
from .findings import DIFFERS, REFUSED, RUNS, Assessed, Assessment
from .inventory import Remark

# Places of one reason that the page shows; JSON has all.
_MOST_PLACES = 25

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1c2330 }
h1 { margin-bottom: 0 } h2 { margin-top: 2.2rem } .muted { color: #5c6678 }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0 }
.card { border: 1px solid #d7dce5; border-radius: 8px; padding: .7rem 1.2rem; min-width: 7rem }
.card b { display: block; font-size: 1.7rem } .runs b { color: #15803d } .differs b { color: #b45309 }
.refused b { color: #b91c1c }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top;
  border-bottom: 1px solid #e6e9ef }
th { background: #f5f7fa }
code { font: 13px ui-monospace, monospace } details > summary { cursor: pointer }
"""


def as_json(assessment: Assessment) -> str:
    """Everything, for programs."""
    whole = {
        "pgsb": __version__,
        "files": assessment.files,
        "lines": assessment.lines,
        "statuses": {status: assessment.statuses[status] for status in (RUNS, DIFFERS, REFUSED)},
        "objects": [_object(one) for one in assessment.objects],
        "reasons": [
            {
                "message": message,
                "number": number,
                "count": len(problems),
                "places": [_place(p.span) for p in problems],
            }
            for message, number, problems in assessment.reasons
        ],
        "remarks": [{"topic": r.topic, "text": r.text, "place": _place(r.span)} for r in assessment.remarks],
        "unreadable": assessment.unreadable,
        "skipped": assessment.skipped,
    }
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _object(one: Assessed) -> dict[str, Any]:
    return {
        "kind": one.object.kind,
        "name": one.object.name,
        "place": _place(one.object.span),
        "lines": one.object.lines,
        "status": one.status,
        "effort": one.effort,
        "problems": [
            {
                "severity": p.severity,
                "number": p.number,
                "message": p.message,
                "hint": p.hint,
                "place": _place(p.span),
            }
            for p in one.problems
        ],
    }


def _place(span: Span) -> str:
    file, line = span.source.origin(span.line)
    return f"{file}:{line}"


def as_html(assessment: Assessment) -> str:
    """One page for people."""
    statuses = assessment.statuses
    total = len(assessment.objects)
    efforts = Counter(one.effort for one in assessment.objects)
    cards = [
        _card("", assessment.files, "files"),
        _card("", assessment.lines, "lines"),
        _card("", total, "objects"),
        _card("runs", statuses[RUNS], "run as they are"),
        _card("differs", statuses[DIFFERS], "run, and differ"),
        _card("refused", statuses[REFUSED], "are refused"),
    ]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>pgsb assess</title>",
        f"<style>{_STYLE}</style><h1>What these scripts are on PostgreSQL</h1>",
        f"<p class=muted>pgsb {__version__}. Nothing was run: every script was compiled.</p>",
        f"<div class=cards>{''.join(cards)}</div>",
        "<p>Effort by object: "
        + ", ".join(f"{name} {efforts[name]:,}" for name in ("none", "small", "medium", "large"))
        + ".</p>",
        _reasons(assessment),
        _remarks(assessment),
        _kinds(assessment),
        _objects(assessment),
        _files(assessment),
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _card(status: str, count: int, label: str) -> str:
    return f"<div class='card {status}'><b>{count:,}</b>{label}</div>"


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{name}" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    return f"<table><tr>{cells}{body}</table>"


def _places(found: list[Problem] | list[Remark]) -> str:
    shown = ", ".join(f"<code>{escape(_place(one.span))}</code>" for one in found[:_MOST_PLACES])
    more = len(found) - _MOST_PLACES
    if more > 0:
        shown += f" and {more:,} more"
    return f"<details><summary>{len(found):,}</summary>{shown}</details>"


def _reasons(assessment: Assessment) -> str:
    if not assessment.reasons:
        return "<h2>What is refused or differs</h2><p>Nothing."
    rows = [
        [
            escape(problems[0].severity),
            str(number or ""),
            escape(message) + _hint(problems[0]),
            _places(problems),
        ]
        for message, number, problems in assessment.reasons
    ]
    return "<h2>What is refused or differs</h2>" + _table(["", "Msg", "", "places"], rows)


def _hint(problem: Problem) -> str:
    return f"<br><span class=muted>{escape(problem.hint)}</span>" if problem.hint else ""


def _remarks(assessment: Assessment) -> str:
    found: dict[tuple[str, str], list[Remark]] = {}
    for remark in assessment.remarks:
        found.setdefault((remark.topic, remark.text), []).append(remark)
    if not found:
        return ""
    rows = [[escape(topic), escape(text), _places(places)] for (topic, text), places in found.items()]
    return "<h2>To be looked at</h2>" + _table(["", "", "places"], rows)


def _kinds(assessment: Assessment) -> str:
    kinds = Counter((one.object.kind, one.status) for one in assessment.objects)
    names = sorted({kind for kind, _ in kinds})
    rows = [[kind, *(f"{kinds[kind, status]:,}" for status in (RUNS, DIFFERS, REFUSED))] for kind in names]
    return "<h2>By kind</h2>" + _table(["kind", "run", "differ", "refused"], rows)


def _objects(assessment: Assessment) -> str:
    order = {"large": 0, "medium": 1, "small": 2}
    shown = sorted(
        (one for one in assessment.objects if one.status != RUNS), key=lambda one: order.get(one.effort, 3)
    )
    if not shown:
        return ""
    rows = [
        [
            escape(one.object.kind),
            escape(one.object.name),
            f"<code>{escape(_place(one.object.span))}</code>",
            f"{one.object.lines:,}",
            one.status,
            one.effort,
            "<br>".join(
                escape(text) for text in [p.message for p in one.problems] + [r.text for r in one.remarks]
            ),
        ]
        for one in shown
    ]
    return "<h2>Objects that need a look</h2>" + _table(
        ["", "name", "place", "lines", "", "effort", ""], rows
    )


def _files(assessment: Assessment) -> str:
    parts = []
    if assessment.unreadable:
        rows = [[escape(name), escape(why)] for name, why in assessment.unreadable.items()]
        parts.append("<h2>Files that could not be read</h2>" + _table(["file", ""], rows))
    if assessment.skipped:
        names = "".join(f"<li><code>{escape(name)}</code>" for name in assessment.skipped)
        parts.append(f"<h2>Scripts that no project builds</h2><ul>{names}</ul>")
    return "".join(parts)
