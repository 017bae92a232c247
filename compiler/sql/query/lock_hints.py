"""FROM for the writer, with the locks that its hints ask for."""

from __future__ import annotations

from typing import NamedTuple

from ...catalog.names import quote
from ..context import Context
from ..from_items import Join, Source
from ..writer import select


class Lock(NamedTuple):
    """A lock on rows: how strong, and what it does where another session holds them."""

    strength: str
    waiting: str

    def clause(self, alias: str | None = None) -> str:
        """The clause, for one of several relations with its alias."""
        of = f" OF {alias}" if alias is not None else ""
        return f"{self.strength}{of}{self.waiting}"


def join_items(sources: list[Source]) -> tuple[str | None, list[Join]]:
    """(text after FROM, joins) for the writer."""
    if not sources:
        return None, []
    return sources[0].text, [(item.kind, item.text, item.on) for item in sources[1:]]


_EXCLUSIVE = frozenset({"UPDLOCK", "XLOCK"})
_SHARED = frozenset({"HOLDLOCK", "SERIALIZABLE", "REPEATABLEREAD"})


def locking(
    sources: list[Source], ctx: Context, *, where: str | None, plain: bool
) -> tuple[str | None, tuple[str, ...], str | None, list[Join], str | None]:
    """Turn hints into row locks: (lock clause, statements before, FROM, joins, WHERE).

    UPDLOCK and XLOCK lock the rows found FOR UPDATE, HOLDLOCK and its relatives FOR SHARE,
    READPAST passes locked rows.  ``plain`` is False where PostgreSQL allows no lock clause
    (aggregates, DISTINCT): the rows are then locked in a derived table.
    TABLOCKX, and TABLOCK with HOLDLOCK, lock the table first.
    """
    before: list[str] = []
    wanted: list[tuple[Source, Lock]] = []
    for item in sources:
        if not item.lockable or not item.hints:
            continue
        if "TABLOCKX" in item.hints or {"TABLOCK", "XLOCK"} <= item.hints:
            before.append(f"LOCK TABLE {item.bare} IN EXCLUSIVE MODE")
        elif "TABLOCK" in item.hints and item.hints & (_SHARED | _EXCLUSIVE):
            before.append(f"LOCK TABLE {item.bare} IN SHARE ROW EXCLUSIVE MODE")
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
            wanted.append((item, Lock(strength, skips)))
    if not wanted:
        return None, tuple(before), *join_items(sources), where
    ctx.scope.locks_rows = True
    nullable = _nullable(sources)
    if plain and not any(item in nullable for item, _ in wanted):
        return _lock_clause(sources, wanted), tuple(before), *join_items(sources), where
    for item, lock in wanted:
        assert item.relation is not None
        alias = quote(item.relation.alias)
        condition_inside = where if len(sources) == 1 else None
        inner = select(expressions=["*"], from_=item.text, where=condition_inside, lock=lock.clause())
        item.text = f"({inner}) AS {alias}"
        if condition_inside is not None:
            where = None
    return None, tuple(before), *join_items(sources), where


def _nullable(sources: list[Source]) -> list[Source]:
    """Items on the NULL-extended side of an outer join: PostgreSQL does not lock those."""
    out: list[Source] = []
    for position, item in enumerate(sources):
        if item.kind in ("LEFT", "FULL"):
            out.append(item)
        if item.kind in ("RIGHT", "FULL"):
            out.extend(sources[:position])
    return out


def _lock_clause(sources: list[Source], wanted: list[tuple[Source, Lock]]) -> str:
    if len(sources) == 1:
        return wanted[0][1].clause()
    clauses = []
    for item, lock in wanted:
        assert item.relation is not None
        clauses.append(lock.clause(quote(item.relation.alias)))
    return " ".join(clauses)
