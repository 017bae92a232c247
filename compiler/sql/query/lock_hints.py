"""FROM for the writer, with the locks that its hints ask for."""

from __future__ import annotations

from ...catalog.names import quote
from ..context import Context
from ..from_items import Join, Source
from ..writer import select


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
    wanted: list[tuple[Source, str]] = []
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
            if "READPAST" in item.hints:
                strength = f"{strength} SKIP LOCKED"
            elif "NOWAIT" in item.hints:
                strength = f"{strength} NOWAIT"
            wanted.append((item, strength))
    if not wanted:
        return None, tuple(before), *join_items(sources), where
    nullable = _nullable(sources)
    if plain and not any(item in nullable for item, _ in wanted):
        return _lock_clause(sources, wanted), tuple(before), *join_items(sources), where
    for item, strength in wanted:
        assert item.relation is not None
        alias = quote(item.relation.alias)
        condition_inside = where if len(sources) == 1 else None
        inner = select(expressions=["*"], from_=item.text, where=condition_inside, lock=strength)
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


def _lock_clause(sources: list[Source], wanted: list[tuple[Source, str]]) -> str:
    if len(sources) == 1:
        return wanted[0][1]
    clauses = []
    for item, strength in wanted:
        assert item.relation is not None
        words = strength.split(" ")
        place = 3 if strength.startswith("FOR KEY SHARE") else 2
        clauses.append(" ".join([*words[:place], "OF", quote(item.relation.alias), *words[place:]]))
    return " ".join(clauses)
