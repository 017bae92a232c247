"""Queries as text: sqlglot's Postgres writer over translated pieces.

The translation fills a fresh sqlglot tree with :class:`Raw` leaves (text that is
PostgreSQL already), so the writer never meets a T-SQL construct it could echo or drop.
Clause boundaries come out as the marks of :mod:`.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator

from .layout import BREAK, CLOSE, OPEN


class Raw(exp.Expression):
    """Finished PostgreSQL text."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Writer(PostgresGenerator):
    """Prints trees whose leaves are Raw."""

    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **PostgresGenerator.TRANSFORMS,
        Raw: lambda self, node: node.args["this"],
    }

    def seg(self, sql: str, sep: str = " ") -> str:
        """A clause: it may begin a line."""
        return f"{BREAK}{sql}"


_WRITER = Writer(dialect=Postgres())


def raw(text: str) -> Raw:
    """A leaf."""
    return Raw(this=text)


def write(node: exp.Expr) -> str:
    """Print ``node`` as a group that is broken into lines as one."""
    text: str = _WRITER.generate(node, copy=False)
    return f"{OPEN}{text}{CLOSE}"


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
    arguments: dict[str, Any] = {"expressions": [raw(text) for text in expressions]}
    if distinct:
        arguments["distinct"] = exp.Distinct()
    if from_ is not None:
        arguments["from_"] = exp.From(this=raw(from_))
    if joins:
        arguments["joins"] = [_join(*join) for join in joins]
    if where is not None:
        arguments["where"] = exp.Where(this=raw(where))
    if group is not None:
        arguments["group"] = exp.Group(expressions=[raw(group)])
    if having is not None:
        arguments["having"] = exp.Having(this=raw(having))
    if order is not None:
        arguments["order"] = exp.Order(expressions=[raw(order)])
    if limit is not None and not with_ties:
        arguments["limit"] = exp.Limit(expression=raw(limit))
    if offset is not None:
        arguments["offset"] = exp.Offset(expression=raw(offset))
    text = write(exp.Select(**arguments))
    tail = ""
    if limit is not None and with_ties:
        tail += f"{BREAK}FETCH FIRST {limit if limit.isdecimal() else f'({limit})'} ROWS WITH TIES"
    if lock is not None:
        tail += f"{BREAK}{lock}"
    return text if not tail else f"{text[:-1]}{tail}{CLOSE}"


def _join(kind: str, relation: str, condition: str | None) -> exp.Join:
    words = kind.split()
    side = words[0] if words and words[0] in ("LEFT", "RIGHT", "FULL") else None
    return exp.Join(
        this=raw(relation),
        side=side,
        kind="CROSS" if "CROSS" in words else None,
        on=raw(condition) if condition is not None else None,
    )


def group(*pieces: str) -> str:
    """Pieces that stand on one line if they fit, else on a line each."""
    return f"{OPEN}{BREAK.join(piece for piece in pieces if piece)}{CLOSE}"


def with_clause(definitions: list[tuple[str, str]], *, recursive: bool) -> str:
    """``WITH [RECURSIVE] head AS (body), …``; empty without definitions."""
    if not definitions:
        return ""
    body = f",{BREAK}".join(f"{head} AS ({text})" for head, text in definitions)
    return f"WITH {'RECURSIVE ' if recursive else ''}{body}"
