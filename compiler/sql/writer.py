"""Queries as text: translated pieces, clause by clause.

Clause boundaries are the marks of :mod:`..target.layout`, which breaks a query into lines where it is wide.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..target.layout import BREAK, CLOSE, OPEN

_OUTER = frozenset({"LEFT", "RIGHT", "FULL"})


def select(
    *,
    expressions: list[str],
    distinct: bool = False,
    from_: str | None = None,
    joins: Sequence[tuple[str, str, str | None]] | None = None,
    where: str | None = None,
    group: str | None = None,
    having: str | None = None,
    order: str | None = None,
    limit: str | None = None,
    with_ties: bool = False,
    offset: str | None = None,
    lock: str | None = None,
) -> str:
    """Write a SELECT.  ``joins``: (kind, e.g. LEFT or CROSS; relation; condition)."""
    pieces = [OPEN, "SELECT DISTINCT" if distinct else "SELECT"]
    if expressions:
        pieces += (" ", ", ".join(expressions))
    if from_ is not None:
        pieces += (BREAK, "FROM ", from_)
    pieces += [_join(*join) for join in joins or ()]
    count = f"FETCH FIRST {limit if limit.isdecimal() else f'({limit})'} ROWS WITH TIES" if limit else None
    clauses = (
        ("WHERE ", where),
        ("GROUP BY ", group),
        ("HAVING ", having),
        ("ORDER BY ", order),
        ("LIMIT ", None if with_ties else limit),
        ("OFFSET ", offset),
        ("", count if with_ties else None),
        ("", lock),
    )
    for word, text in clauses:
        if text is not None:
            pieces += (BREAK, word, text)
    return "".join((*pieces, CLOSE))


def _join(kind: str, relation: str, condition: str | None) -> str:
    if kind == "CROSS" or kind in _OUTER:
        word = f"{kind} JOIN"
    elif condition is None:
        return f", {relation}"
    else:
        word = "JOIN"
    on = f" ON {condition}" if condition is not None else ""
    return f"{BREAK}{word} {relation}{on}"


def group(*pieces: str) -> str:
    """Pieces that stand on one line if they fit, else on a line each."""
    return f"{OPEN}{BREAK.join(piece for piece in pieces if piece)}{CLOSE}"


def with_clause(definitions: list[tuple[str, str]], *, recursive: bool) -> str:
    """``WITH [RECURSIVE] head AS (body), …``; empty without definitions."""
    if not definitions:
        return ""
    body = f",{BREAK}".join(f"{head} AS ({text})" for head, text in definitions)
    return f"WITH {'RECURSIVE ' if recursive else ''}{body}"
