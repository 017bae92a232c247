"""The locks that the hints of FROM ask for."""

from __future__ import annotations

from ....grammar.records import replace
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..context import Context
from ..from_items import Source

_EXCLUSIVE = frozenset({"UPDLOCK", "XLOCK"})
_SHARED = frozenset({"HOLDLOCK", "SERIALIZABLE", "REPEATABLEREAD"})


def locking(
    sources: list[Source], ctx: Context, *, where: n.Node | None, plain: bool
) -> tuple[tuple[q.Lock, ...], tuple[s.LockTable, ...], n.Node | None]:
    """Turn hints into row locks: (lock clauses, statements before, WHERE).

    UPDLOCK and XLOCK lock the rows found FOR UPDATE, HOLDLOCK and its relatives FOR SHARE,
    READPAST passes locked rows.  ``plain`` is False where PostgreSQL allows no lock clause
    (aggregates, DISTINCT): the rows are then locked in a derived table, which takes the item's place.
    TABLOCKX, and TABLOCK with HOLDLOCK, lock the table first.
    """
    before: list[s.LockTable] = []
    wanted: list[tuple[Source, q.Lock]] = []
    for item in sources:
        if not item.lockable or not item.hints:
            continue
        if "TABLOCKX" in item.hints or {"TABLOCK", "XLOCK"} <= item.hints:
            before.append(s.LockTable(item.bare, "EXCLUSIVE"))
        elif "TABLOCK" in item.hints and item.hints & (_SHARED | _EXCLUSIVE):
            before.append(s.LockTable(item.bare, "SHARE ROW EXCLUSIVE"))
        strength = None
        if item.hints & _EXCLUSIVE:
            strength = "FOR UPDATE"
        elif item.hints & _SHARED:
            strength = "FOR SHARE"
        elif "READPAST" in item.hints:
            strength = "FOR KEY SHARE"
        if strength is not None:
            waiting = "READPAST" in item.hints, "NOWAIT" in item.hints
            skips = " SKIP LOCKED" if waiting[0] else " NOWAIT" if waiting[1] else ""
            wanted.append((item, q.Lock(strength, waiting=skips)))
    if not wanted:
        return (), tuple(before), where
    ctx.scope.locks_rows = True
    nullable = _nullable(sources)
    if plain and not any(item in nullable for item, _ in wanted):
        return _lock_clauses(sources, wanted), tuple(before), where
    for item, lock in wanted:
        assert item.relation is not None
        condition_inside = where if len(sources) == 1 else None
        inner = q.Select((n.STAR,), item.code, where=condition_inside, locks=(lock,))
        item.code = q.Aliased(n.Subquery(inner), item.relation.alias)
        if condition_inside is not None:
            where = None
    return (), tuple(before), where


def _nullable(sources: list[Source]) -> list[Source]:
    """Items on the NULL-extended side of an outer join: PostgreSQL does not lock those."""
    out: list[Source] = []
    for position, item in enumerate(sources):
        if item.kind in ("LEFT", "FULL"):
            out.append(item)
        if item.kind in ("RIGHT", "FULL"):
            out.extend(sources[:position])
    return out


def _lock_clauses(sources: list[Source], wanted: list[tuple[Source, q.Lock]]) -> tuple[q.Lock, ...]:
    """The clauses; each of several relations is named by its alias."""
    if len(sources) == 1:
        return (wanted[0][1],)
    return tuple(replace(lock, of=item.relation.alias) for item, lock in wanted if item.relation is not None)
