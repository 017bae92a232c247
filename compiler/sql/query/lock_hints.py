"""The locks that the hints of FROM ask for."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import replace
from ...catalog.names import ObjectName, fold
from ...catalog.objects import SqlScope
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ...target.emit import emit
from ..assignments import assign
from ..context import Context
from ..expressions.names import condition, scalar
from ..from_items import Source
from ..parse.nodes import is_variable

_EXCLUSIVE = frozenset({"UPDLOCK", "XLOCK"})
RANGES = frozenset({"HOLDLOCK", "SERIALIZABLE"})
_SHARED = RANGES | {"REPEATABLEREAD"}
LOCKING = _EXCLUSIVE | _SHARED | {"TABLOCKX"}
"""Hints that lock rows or tables by themselves."""

_OF_THE_STATEMENT = frozenset(
    "NOLOCK READUNCOMMITTED READCOMMITTED READCOMMITTEDLOCK READPAST TABLOCKX SNAPSHOT".split()
)


def held(written: frozenset[str], table: ObjectName, scope: SqlScope) -> frozenset[str]:
    """Add what the isolation level means for a table to the hints that are written for it.

    What the body changes too is locked to be changed at once: two who had read it would wait for one another.
    """
    if not scope.level_hint or written & (_OF_THE_STATEMENT | _SHARED) or table.name.startswith("#"):
        return written
    to_change = {"UPDLOCK"} if fold(table.name) in scope.changed_tables else set()
    return written | {scope.level_hint} | to_change


def locking(
    sources: list[Source], ctx: Context, searched: exp.Expr | None, *, where: n.Node | None, plain: bool
) -> tuple[tuple[q.Lock, ...], n.Node | None]:
    """Turn hints into row locks: (lock clauses, WHERE).

    UPDLOCK and XLOCK lock the rows found FOR UPDATE, HOLDLOCK and its relatives FOR SHARE,
    READPAST passes locked rows.  ``plain`` is False where PostgreSQL allows no lock clause
    (aggregates, DISTINCT, UNION): the rows are then locked in a derived table, which takes the item's place.
    TABLOCKX, TABLOCK with HOLDLOCK, and HOLDLOCK over more than one key lock the table first; who shares
    that lock needs none on rows.
    ``searched``: the condition behind WHERE.
    """
    wanted: list[tuple[Source, q.Lock]] = []
    nullable = _nullable(sources)
    for item in sources:
        if not item.lockable or not item.hints:
            continue
        is_locked = False
        if locks_whole_table(item.hints):
            _lock_table(item, "EXCLUSIVE", ctx)
            is_locked = True
        elif "TABLOCK" in item.hints and item.hints & (_SHARED | _EXCLUSIVE):
            _lock_table(item, "SHARE ROW EXCLUSIVE", ctx)
            is_locked = True
        elif item.hints & RANGES and "READPAST" not in item.hints:
            writes, alone = bool(item.hints & _EXCLUSIVE), len(sources) == 1
            is_locked = lock_range(item, searched, ctx, writes=writes, alone=alone)
        strength = None
        if item.hints & _EXCLUSIVE:
            strength = "FOR UPDATE"
        elif item.hints & _SHARED and not is_locked:
            if len(sources) > 1 and (not plain or item in nullable):
                # All rows would be locked, and written to for that.
                _lock_table(item, "SHARE", ctx)
            else:
                strength = "FOR SHARE"
        elif "READPAST" in item.hints:
            strength = "FOR KEY SHARE"
        if strength is not None:
            waiting = "READPAST" in item.hints, "NOWAIT" in item.hints
            skips = " SKIP LOCKED" if waiting[0] else " NOWAIT" if waiting[1] else ""
            wanted.append((item, q.Lock(strength, waiting=skips)))
    if not wanted:
        return (), where
    ctx.scope.locks_rows = True
    if plain and not any(item in nullable for item, _ in wanted):
        return _lock_clauses(sources, wanted), where
    for item, lock in wanted:
        assert item.relation is not None
        condition_inside = where if len(sources) == 1 else None
        place = (n.Name((item.relation.alias, "ctid")),) if item.placed else ()
        inner = q.Select((n.STAR, *place), item.code, where=condition_inside, locks=(lock,))
        item.code = q.Aliased(n.Subquery(inner), item.relation.alias)
        if condition_inside is not None:
            where = None
    return (), where


def locks_whole_table(hints: frozenset[str], *, changes: bool = False) -> bool:
    """Tell whether nobody else may lock anything in the table; ``changes``: the statement changes it."""
    if "TABLOCKX" in hints:
        return True
    return "TABLOCK" in hints and bool(hints & ({"XLOCK"} | (_SHARED if changes else set())))


def _lock_table(item: Source, mode: str, ctx: Context) -> None:
    ctx.scope.locks_rows = True
    ctx.locks[s.LockTable(item.bare, mode)] = None


def lock_range(item: Source, searched: exp.Expr | None, ctx: Context, *, writes: bool, alone: bool) -> bool:
    """Keep others from adding rows to those that the condition finds: HOLDLOCK, SERIALIZABLE.

    Tells whether the whole table is locked.

    PostgreSQL locks no ranges of keys.  Where all columns of a key are given and no row has it, the key is
    locked itself, against those that search for it with such hints; else the table, against all that write.
    ``writes``: the rows are locked to be changed. ``alone``: columns without a table's name are its own.
    """
    key = _whole_key(item, searched, alone=alone)
    if key is None:
        _lock_table(item, "SHARE ROW EXCLUSIVE" if writes else "SHARE", ctx)
    elif writes:
        # One who has locked the table has locked this key, too; one who adds the row without hints finds it.
        _lock_table(item, "ROW EXCLUSIVE", ctx)
        values = (_compared(name, value, item, ctx) for name, (_, value) in key.items())
        text = n.Call("concat_ws", (n.Text("/"), *values))
        lock = n.Call("sys.lock_key", (n.Text(emit(item.bare)), text))
        found = _locked_row(item, key, "FOR UPDATE", ctx)
        ctx.locks[s.LockKey(n.Case(((found, n.NULL),), default=lock))] = None
    return key is None


def lock_beside(item: Source, searched: exp.Expr | None, ctx: Context) -> None:
    """Lock what UPDATE, DELETE or MERGE reads beside the table that it changes, as its hints say.

    PostgreSQL has no lock clause there: it is the row, where the condition gives all columns of a key,
    else the table.
    """
    if not item.lockable or not item.hints & LOCKING or "READPAST" in item.hints:
        return
    writes = bool(item.hints & (_EXCLUSIVE | {"TABLOCKX"}))
    key = _whole_key(item, searched, alone=False)
    if key is None or locks_whole_table(item.hints):
        _lock_table(item, "EXCLUSIVE" if writes else "SHARE", ctx)
    elif writes:
        lock_range(item, searched, ctx, writes=True, alone=False)
    else:
        ctx.locks[s.LockKey(_locked_row(item, key, "FOR SHARE", ctx))] = None


_Given = dict[str, tuple[exp.Expr, exp.Expr]]
"""Of columns (folded): the comparison, and what it compares with."""


def _whole_key(item: Source, searched: exp.Expr | None, *, alone: bool) -> _Given | None:
    """Return what is given of the columns of a key, where that is all of them."""
    given = _given_columns(item, searched, alone=alone)
    keys = [sorted(map(fold, key.columns)) for key in item.keys]
    key = next((key for key in keys if given.keys() >= set(key)), None)
    return None if key is None else {name: given[name] for name in key}


def _locked_row(item: Source, key: _Given, strength: str, ctx: Context) -> n.Node:
    """Whether the row with this key is there; it is locked then."""
    matches = n.all_of([condition(comparison, ctx).code for comparison, _ in key.values()])
    rows = q.Select((n.Integer(1),), item.code, where=matches, locks=(q.Lock(strength),))
    return n.Exists(n.Subquery(rows))


def _compared(name: str, node: exp.Expr, item: Source, ctx: Context) -> n.Node:
    """What a column is compared with, in one spelling for all values that are the same in any collation."""
    columns = item.relation.columns if item.relation is not None else None
    type_ = next((column.type for column in columns or () if fold(column.name) == name), None)
    value = scalar(node, ctx)
    code = assign(value, type_).code if type_ is not None else value.code
    return n.Call("rtrim", (n.Call("lower", (n.Cast(code, "text"),)),))


def _given_columns(item: Source, searched: exp.Expr | None, *, alone: bool) -> _Given:
    """Columns of the item that have to equal what no column is part of."""
    given: _Given = {}
    waiting = [searched] if searched is not None and item.kind in ("", ",", "JOIN", "CROSS") else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And | exp.Paren):
            waiting += [node.this, *([node.expression] if isinstance(node, exp.And) else [])]
        elif isinstance(node, exp.EQ):
            for column, value in ((node.this, node.expression), (node.expression, node.this)):
                if _is_column_of(item, column, alone=alone) and _is_given(value):
                    given[fold(column.name)] = (node, value)
    return given


def _is_column_of(item: Source, node: exp.Expr, *, alone: bool) -> bool:
    if not isinstance(node, exp.Column) or is_variable(node) or item.relation is None:
        return False
    table = node.args.get("table")
    return alone if table is None else fold(table.name) == item.relation.alias


def _is_given(node: exp.Expr) -> bool:
    """No column is part of it, nor a query."""
    return all(is_variable(part) for part in node.find_all(exp.Column)) and node.find(exp.Query) is None


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
