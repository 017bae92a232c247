"""Target trees of queries → text: clauses, and where a query may break into lines."""

from __future__ import annotations

from collections.abc import Sequence

from . import nodes as n
from . import queries as q
from .emit import Put, list_of, order_by, write, writes
from .layout import BREAK, CLOSE, OPEN
from .quoting import quote

# ------------------------------------------------------------------ lists


@writes(q.Labelled)
def _labelled(node: q.Labelled, put: Put) -> None:
    write(node.value, put)
    put(f" AS {quote(node.label)}")


# ------------------------------------------------------------------ FROM


def _columns(names: Sequence[str], put: Put) -> None:
    if names:
        put(f" ({', '.join(map(quote, names))})")


@writes(q.Aliased)
def _aliased(node: q.Aliased, put: Put) -> None:
    if node.lateral:
        put("LATERAL ")
    write(node.item, put)
    if node.ordinality:
        put(" WITH ORDINALITY")
    put(f" AS {quote(node.alias)}")
    if node.tight:
        put(f"({', '.join(map(quote, node.columns))})")
    else:
        _columns(node.columns, put)


@writes(q.Lateral)
def _lateral(node: q.Lateral, put: Put) -> None:
    put("LATERAL ")
    write(node.item, put)


@writes(q.Sampled)
def _sampled(node: q.Sampled, put: Put) -> None:
    write(node.item, put)
    put(" TABLESAMPLE SYSTEM (")
    write(node.share, put)
    put(")")
    if node.seed is not None:
        put(" REPEATABLE (")
        write(node.seed, put)
        put(")")


_OUTER = frozenset({"LEFT", "RIGHT", "FULL", "CROSS"})


def _join(join: q.Join, between: str, put: Put) -> None:
    if join.kind in _OUTER:
        put(f"{between}{join.kind} JOIN ")
    elif join.on is not None:
        put(f"{between}JOIN ")
    else:
        put(", ")
    write(join.item, put)
    if join.on is not None:
        put(" ON ")
        write(join.on, put)


@writes(q.Joined)
def _joined(node: q.Joined, put: Put) -> None:
    put("(")
    write(node.first, put)
    for join in node.joins:
        _join(join if join.on is not None else q.Join("CROSS", join.item), " ", put)
    put(")")


# ------------------------------------------------------------------ queries


def lock(node: q.Lock, put: Put) -> None:
    """Write ``FOR UPDATE OF alias``."""
    put(node.strength)
    if node.of is not None:
        put(f" OF {quote(node.of)}")
    put(node.waiting)


@writes(q.GroupingSets)
def _grouping_sets(node: q.GroupingSets, put: Put) -> None:
    put(f"{node.word} (")
    list_of(node.items, put)
    put(")")


_SHORT_LIST = 40
"""Characters of a list behind which FROM stands."""


@writes(q.Select)
def _select(node: q.Select, put: Put) -> None:
    breaks = node.breaks
    between = " " if breaks is q.Breaks.NEVER else BREAK
    own = breaks is q.Breaks.OWN or breaks is q.Breaks.PAIRED
    if own:
        put(OPEN)
    put("SELECT DISTINCT" if node.distinct else "SELECT")
    if breaks is q.Breaks.LIST:
        pieces: list[str] = []
        list_of(node.items, pieces.append)
        items = "".join(pieces)
        put(f" {items}")
        before_from = "\n" if len(items) > _SHORT_LIST else " "
    else:
        if node.items:
            put(" ")
            list_of(node.items, put)
        before_from = " " if breaks is q.Breaks.LATE else between
    if node.source is not None:
        put(f"{before_from}FROM ")
        write(node.source, put)
    for join in node.joins:
        _join(join, between, put)
    if node.where is not None:
        put(f"{between}WHERE ")
        write(node.where, put)
    if node.group:
        put(f"{between}GROUP BY ")
        list_of(node.group, put)
    if node.having is not None:
        put(" HAVING " if breaks is q.Breaks.PAIRED else f"{between}HAVING ")
        write(node.having, put)
    _ordered(node.order, None if node.ties else node.limit, node.offset, between, put)
    if node.ties and node.limit is not None:
        put(f"{between}FETCH FIRST ")
        if isinstance(node.limit, n.Integer):
            write(node.limit, put)
        else:
            put("(")
            write(node.limit, put)
            put(")")
        put(" ROWS WITH TIES")
    for place, one in enumerate(node.locks):
        put(" " if place else between)
        lock(one, put)
    if own:
        put(CLOSE)


def _ordered(
    order: tuple[n.OrderItem, ...], limit: n.Node | None, offset: n.Node | None, between: str, put: Put
) -> None:
    if order:
        put(between)
        order_by(order, put)
    if limit is not None:
        put(f"{between}LIMIT ")
        write(limit, put)
    if offset is not None:
        put(f"{between}OFFSET ")
        write(offset, put)


@writes(q.Values)
def _values(node: q.Values, put: Put) -> None:
    put("VALUES ")
    between = "("
    for row in node.rows:
        put(between)
        between = "), ("
        list_of(row, put)
    put(")")


@writes(q.SetOperation)
def _set_operation(node: q.SetOperation, put: Put) -> None:
    put(OPEN)
    write(node.first, put)
    for operator, branch in node.rest:
        put(f" {operator}{BREAK}" if node.short else f"{BREAK}{operator}{BREAK}")
        write(branch, put)
    _ordered(node.order, node.limit, node.offset, BREAK, put)
    put(CLOSE)


@writes(q.With)
def _with(node: q.With, put: Put) -> None:
    put(OPEN)
    between = "WITH RECURSIVE " if node.recursive else "WITH "
    for definition in node.definitions:
        put(f"{between}{quote(definition.name)}")
        between = f",{BREAK}"
        _columns(definition.columns, put)
        put(" AS (")
        write(definition.query, put)
        put(")")
    put(BREAK)
    write(node.body, put)
    put(CLOSE)
