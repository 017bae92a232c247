"""UPDATE and DELETE on real tables.

Three shapes come out:

* plain: ``UPDATE t AS a SET … FROM b, c WHERE …`` when FROM has inner joins only;
* chosen: ``… WHERE id = ANY (ARRAY(SELECT id … LIMIT n FOR UPDATE))`` for TOP and READPAST
  without joins;
* computed: ``UPDATE t SET c = changes.v1 FROM (SELECT … FOR UPDATE OF t) AS changes`` for
  outer joins, APPLY, and OUTPUT deleted.* of an UPDATE.

Rows are found again by their primary key where the script tells it, else by ctid.  The
inner query locks them, so that a row changed meanwhile by another session is read anew.
"""

from __future__ import annotations

from dataclasses import field

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ....grammar.tokens import Token
from ...catalog.builtin_relations import system_view
from ...catalog.names import ObjectName, fold
from ...catalog.objects import CursorRow, TableInfo
from ...catalog.types import BOOLEAN
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from .. import values as v
from ..context import Context, Relation, object_name
from ..dispatch import Verbatim, translates
from ..expressions.names import condition, scalar
from ..from_items import Source
from ..interface import Assignment, Dml, TableVariableDml
from ..parse.dml import Change, SetItem, from_items, read_delete, read_update
from ..parse.nodes import SetVariable, is_variable
from ..query.assignment import assignment, reads
from ..query.from_clause import read_from
from ..query.lock_hints import RANGES, held, lock_beside, lock_range, locks_whole_table
from ..query.row_limits import changing_top, limit_of, limit_rows
from ..query.set_operations import ctes
from ..values import Value
from .columns import refuse_repeated
from .cte_targets import cte_target, derived_target
from .output import Changing, finish
from .set_clause import set_column, set_value, share_next_values
from .set_variables import into_variables
from .table_variables import change_variable

Statement = Dml | Assignment | TableVariableDml | None


@translates("UPDATE")
def update(tokens: list[Token], ctx: Context) -> Statement:
    """Translate an UPDATE statement."""
    return _change(read_update(tokens, ctx.reader), ctx)


@translates("DELETE")
def delete(tokens: list[Token], ctx: Context) -> Statement:
    """Translate a DELETE statement."""
    return _change(read_delete(tokens, ctx.reader), ctx)


@dataclass
class Work:
    """An UPDATE or DELETE being translated."""

    change: Change
    name: ObjectName
    table: str
    """Schema-qualified table."""
    info: TableInfo | None
    alias: str | None
    """Folded alias, None when the table stands under its own name."""
    sources: list[Source] = field(default_factory=list)
    place: int | None = None
    """Where in ``sources`` the target stands, None when FROM does not name it."""
    definitions: list[q.Definition] = field(default_factory=list)
    recursive: bool = False
    hints: frozenset[str] = frozenset()

    @property
    def shown(self) -> str:
        """The name under which the target's columns are known."""
        return self.alias if self.alias is not None else fold(self.name.name)

    @property
    def head(self) -> n.Node:
        """``dbo.t`` or ``dbo.t AS a``."""
        table = n.Variable(self.table)
        return table if self.alias is None or self.alias == table.name else q.Aliased(table, self.alias)

    @property
    def is_update(self) -> bool:
        """An UPDATE, not a DELETE."""
        return bool(self.change.sets)

    def key(self) -> tuple[str, ...] | None:
        """The primary key's columns where known."""
        for key in self.info.keys if self.info is not None else ():
            if key.primary:
                return tuple(fold(column) for column in key.columns)
        return None


def _change(change: Change, ctx: Context) -> Statement:
    if change.cursor is not None:
        row = _at_cursor(change, change.cursor, ctx)
        if row is None:
            return None
        change.cursor = None
        changed = _change(change, ctx)
        if isinstance(changed, TableVariableDml):
            return replace(changed, before=(s.Effect(row.check), *changed.before))
        if not isinstance(changed, Dml):
            return changed
        moved = row.moved if change.sets and changed.output is None else None
        return replace(changed, before=(s.Effect(row.check), *changed.before), moved=moved)
    if (
        change.sets
        and all(item.column is None for item in change.sets)
        and change.top is None
        and not change.outputs
    ):
        return _only_variables(change, ctx)
    change.top = changing_top(change.top, ctx)
    derived_target(change)
    chosen = cte_target(change, ctx)
    if chosen is not None and is_variable(chosen.base):
        return chosen.translate_variable(ctx)
    if chosen is not None:
        return chosen.translate(ctx)
    definitions, recursive = ctes(change.with_, ctx)
    item = _target_item(change, ctx)
    real = item if item is not None else change.target
    if is_variable(real):
        return change_variable(change, item, definitions, recursive, ctx)
    work = _open(change, item, ctx)
    if work is None:
        return None
    work.definitions, work.recursive = definitions, recursive
    ctx.push()
    try:
        return _translate(work, ctx)
    finally:
        ctx.pop()


_NOT_IN_LIST = "The cursor has a FOR UPDATE list and the requested column to be updated is not in this list."


def _at_cursor(change: Change, cursor: str, ctx: Context) -> CursorRow | None:
    """WHERE CURRENT OF: the row is found by its primary key, or its ctid."""
    row = ctx.scope.cursor_row(cursor)
    if row is None:
        ctx.unsupported(
            f"WHERE CURRENT OF {cursor}",
            change.target,
            hint="the cursor must be declared in the same procedure or batch"
            if not is_variable(change.target)
            else "the table variable needs a primary key, which no UPDATE at the cursor changes",
        )
        return None
    changed = {fold(item.column.name) for item in change.sets if item.column is not None}
    if row.update_columns and not changed <= row.update_columns:
        row = CursorRow((), n.Call("ssb_internal.raise_error", (n.Integer(16932), n.Text(_NOT_IN_LIST))))
    table = fold(change.target.name.lstrip("@") if is_variable(change.target) else change.target.name)
    found = n.all_of([n.Comparison("=", n.Name((table, column)), value) for column, value in row.columns])
    change.source.set("where", exp.Where(this=Verbatim(this=Value(found or n.FALSE, BOOLEAN))))
    return row


def _target_item(change: Change, ctx: Context) -> exp.Table | None:
    """The item of FROM that the statement changes: by alias, else by the table's name."""
    wanted = fold(change.target.name)
    single = len(change.target.parts) == 1
    items = [item for item in _all_tables(change) if isinstance(item, exp.Table)]
    if single:
        for item in items:
            if item.args.get("alias") is not None and fold(item.alias) == wanted:
                return item
    if is_variable(change.target):
        return next((item for item in items if fold(item.name) == wanted), None)
    name = object_name(change.target)
    if name.server:
        return None
    target = ctx.relation_name(name)
    for item in items:
        other = object_name(item)
        if not is_variable(item) and not other.server and ctx.relation_name(other) == target:
            return item
    return None


def _all_tables(change: Change) -> list[exp.Expr]:
    out: list[exp.Expr] = []
    pending = from_items(change)
    while pending:
        item = pending.pop(0)
        if (
            isinstance(item, exp.Subquery)
            and item.args.get("alias") is None
            and not isinstance(item.this, exp.Query)
        ):
            pending.insert(0, item.this)
            pending += [join.this for join in item.args.get("joins") or []]
            continue
        out.append(item)
        pending += [join.this for join in item.args.get("joins") or []]
    return out


def _open(change: Change, item: exp.Table | None, ctx: Context) -> Work | None:
    node = item if item is not None else change.target
    name = object_name(node)
    if name.server:
        ctx.refuse_server(node)
        return None
    info = ctx.scope.table(name)
    if info is None and item is None:
        ctx.unknown(name, node)
    alias = fold(item.alias) if item is not None and item.args.get("alias") is not None else None
    if alias is None and ctx.scope.synonym(name) != name:
        alias = fold(name.name)
    hints = frozenset(
        hint.name.upper()
        for part in (change.target, item)
        if part is not None
        for hint in part.args.get("hints") or ()
    )
    return Work(change, name, ctx.relation_name(name), info, alias, hints=held(hints, name, ctx.scope))


# ---------------------------------------------------------------- plain, chosen, computed


def _translate(work: Work, ctx: Context) -> Statement:
    change = work.change
    target_relation = Relation(
        work.alias if work.alias is not None else fold(work.name.name),
        work.info.columns if work.info is not None else None,
        work.name if work.alias is None else None,
        stored=ctx.reads(work.name, work.info),
    )
    before_from = len(ctx.frame.relations)
    work.sources = read_from(change.source, ctx)
    known = work.info or system_view(work.name)
    is_view = known is not None and known.read_only
    for place, item in enumerate(work.sources):
        is_target = item.relation is not None and item.relation.alias == target_relation.alias
        if is_target and (item.lockable or is_view):
            work.place = place
            break
    if work.place is None:
        if _target_item(change, ctx) is not None:
            # Inside parentheses or a nested join: only the computed shape reaches it.
            pass
        ctx.frame.relations.insert(before_from, target_relation)
    where_node = change.source.args.get("where")
    where = condition(where_node.this, ctx).code if where_node is not None else None
    before = _table_lock(work)
    searched = where_node.this if where_node is not None else None
    for place, item in enumerate(work.sources):
        if place != work.place:
            lock_beside(item, searched, ctx)
    if "READPAST" not in work.hints and not before and work.hints & RANGES:
        keys = work.info.keys if work.info is not None else ()
        target = Source("", work.head, relation=target_relation, bare=n.Variable(work.table), keys=keys)
        lock_range(target, searched, ctx, writes=True, alone=len(ctx.frame.relations) == 1)
    nested = work.place is None and _target_item(change, ctx) is not None
    joined = any(item.kind in ("LEFT", "RIGHT", "FULL") or item.lateral for item in work.sources)
    needs_old = work.is_update and _mentions_deleted(change)
    chosen = change.top is not None or "READPAST" in work.hints
    others = len(work.sources) > (0 if work.place is None else 1)
    if needs_old or joined or nested or (chosen and others) or _old_values(work):
        return _computed(work, where, before, nested, ctx)
    if chosen:
        return _chosen(work, where, before, ctx)
    return _plain(work, where, before, ctx)


def _table_lock(work: Work) -> tuple[n.Node, ...]:
    if locks_whole_table(work.hints, changes=True):
        return (s.LockTable(n.Variable(work.table), "EXCLUSIVE"),)
    return ()


def _mentions_deleted(change: Change) -> bool:
    return any(
        isinstance(column, exp.Column)
        and column.args.get("table") is not None
        and fold(column.parts[-2].name) == "deleted"
        for output in change.outputs
        for item in output.items
        for column in item.find_all(exp.Column)
    )


def _old_values(work: Work) -> bool:
    """``SET @v = expression`` over a column that the statement changes wants the old value."""
    changed = {fold(item.column.name) for item in work.change.sets if item.column is not None}
    return any(
        item.variable is not None
        and item.column is None
        and any(fold(column.name) in changed for column in item.value.find_all(exp.Column))
        for item in work.change.sets
    )


def _plain(work: Work, where: n.Node | None, before: tuple[n.Node, ...], ctx: Context) -> Statement:
    others = [item for place, item in enumerate(work.sources) if place != work.place]
    conditions = [item.on for item in work.sources if item.on is not None]
    if where is not None:
        conditions.append(where)
    code = _changing(work, tuple(item.code for item in others), n.all_of(conditions), ctx)
    prefix = n.Name((work.shown,)) if others else None
    return None if code is None else _finish(work, code, before, prefix, prefix, ctx)


def _changing(
    work: Work, sources: tuple[n.Node, ...], where: n.Node | None, ctx: Context
) -> s.Update | s.Delete | None:
    """The statement itself; None after a problem in SET."""
    if not work.is_update:
        return s.Delete(work.head, sources, where)
    sets = _sets(work, ctx)
    return None if sets is None else s.Update(work.head, sets, sources, where)


def _chosen(work: Work, where: n.Node | None, before: tuple[n.Node, ...], ctx: Context) -> Statement:
    """TOP and READPAST without joins: the rows are picked and locked by a subquery."""
    key = work.key()
    _refuse_rows_of_view(work, ctx)
    column = key[0] if key is not None and len(key) == 1 else "ctid"
    found = q.Select((n.Integer(1),), work.head, where=where)
    limit = limit_of(work.change.top, ctx, lambda: found)
    lock = q.Lock("FOR UPDATE", waiting=" SKIP LOCKED" if "READPAST" in work.hints else "")
    name = n.Name((column,))
    code = _changing(work, (), q.among(name, replace(found, items=(name,), limit=limit, locks=(lock,))), ctx)
    return None if code is None else _finish(work, code, before, None, None, ctx)


def _refuse_rows_of_view(work: Work, ctx: Context) -> None:
    """Report a view whose rows would have to be found again: PostgreSQL tells no place of them."""
    if work.info is None and system_view(work.name) is not None:
        ctx.problem("Ad hoc updates to system catalogs are not allowed.", number=259)
    elif work.info is not None and work.info.read_only and not work.info.is_queue and work.key() is None:
        verb = "UPDATE" if work.is_update else "DELETE"
        ctx.unsupported(
            f"TOP, SET ROWCOUNT, an outer join or old values in OUTPUT of {verb} on a view",
            hint="change the table that the view selects from",
        )


def _computed(
    work: Work, where: n.Node | None, before: tuple[n.Node, ...], nested: bool, ctx: Context
) -> Statement:
    """Everything is computed, and the rows locked, by an inner query; the change then follows it."""
    change = work.change
    alias = work.shown
    key = work.key()
    _refuse_rows_of_view(work, ctx)
    columns: list[n.Node] = []
    conditions: list[n.Node] = []
    outer = "changing"
    while outer in ctx.words:
        outer += "_"
    if key is not None:
        for place, column in enumerate(key, 1):
            columns.append(q.Labelled(n.Name((alias, column)), f"k{place}"))
            found = n.Name(("changes", f"k{place}"))
            conditions.append(n.Comparison("=", n.Name((outer, column)), found))
    else:
        columns.append(q.Labelled(n.Name((alias, "ctid")), "row_id"))
        conditions.append(n.Comparison("=", n.Name((outer, "ctid")), n.Name(("changes", "row_id"))))
    sources = work.sources if work.sources else []
    if work.place is None and not nested:
        own = Source("", work.head, lockable=True)
        sources = [own, *sources]
        if len(sources) > 1 and not sources[1].kind:
            sources[1].kind = ","
    sets: list[tuple[str, n.Node]] = []
    targets: list[tuple[SetItem, n.Node]] = []
    if work.is_update:
        translated = _set_values(work, ctx)
        if translated is None:
            return None
        for place, (item, column_name, value) in enumerate(translated, 1):
            if value.code is n.DEFAULT:
                sets.append((column_name, n.DEFAULT))
                continue
            changed = value.code
            if not column_name or not (value.is_null or isinstance(value.constant, str)):
                # (A string or NULL has the column's type where it is assigned, and is a text in a query.)
                columns.append(q.Labelled(value.code, f"v{place}"))
                changed = n.Name(("changes", f"v{place}"))
            if column_name:
                sets.append((column_name, changed))
            if item.variable is not None and item.column is None and value.is_null and not _is_null(item):
                ctx.unsupported("an UPDATE that reads a variable and a column that it changes", item.value)
                return None
            if item.variable is not None:
                targets.append((item, n.Name((outer, column_name)) if column_name else changed))
    outputs_other = bool(change.outputs)
    if outputs_other and work.is_update and _mentions_deleted(change):
        # By its type: the name alone would be the column of tables that have one of their own name.
        columns.append(q.Labelled(n.Cast(n.Every(n.Name((alias,))), work.table), "deleted"))
    others: list[Relation] = []
    if outputs_other:
        others = _carried(work, columns, ctx)
    joins = tuple(item.join() for item in sources[1:])
    rows = q.Select((n.Integer(1),), sources[0].code, joins, where)
    limit = limit_of(change.top, ctx, lambda: rows)
    waiting = " SKIP LOCKED" if "READPAST" in work.hints else ""
    lock = q.Lock("FOR UPDATE", None if len(sources) == 1 else alias, waiting)
    locks = () if nested or _on_nullable_side(sources, work) else (lock,)
    inner = replace(rows, items=tuple(columns), limit=limit, locks=locks)
    table = q.Aliased(n.Variable(work.table), outer)
    others_of = (q.Aliased(n.Subquery(inner), "changes"),)
    where = n.all_of(conditions)
    code: s.Update | s.Delete
    if work.is_update:
        code = s.Update(table, tuple(sets), others_of, where)
        deleted: n.Node = n.Paren(n.Name(("changes", "deleted")))
    else:
        code = s.Delete(table, others_of, where)
        deleted = n.Name((outer,))
    return _finish(work, code, before, n.Name((outer,)), deleted, ctx, others=others, computed=targets)


def _is_null(item: SetItem) -> bool:
    return isinstance(item.value, exp.Null)


def _carried(work: Work, columns: list[n.Node], ctx: Context) -> list[Relation]:
    """Columns of other relations that OUTPUT shows: carried along by the inner query."""
    relations: list[Relation] = []
    for relation in ctx.frame.relations:
        if relation.alias == (work.alias if work.alias is not None else fold(work.name.name)):
            continue
        used: dict[str, n.Node] = {}
        for output in work.change.outputs:
            for item in output.items:
                for column in item.find_all(exp.Column):
                    table = column.args.get("table")
                    if (
                        table is not None
                        and fold(table.name) == relation.alias
                        and not isinstance(column.this, exp.Star)
                    ):
                        label = f"{relation.alias}_{fold(column.name)}"
                        if fold(column.name) not in used:
                            columns.append(q.Labelled(relation.spell(fold(column.name)), label))
                            used[fold(column.name)] = n.Name(("changes", label))
        relations.append(
            Relation(
                relation.alias,
                relation.columns,
                renamed=used,
                stored=relation.stored,
                declared=relation.declared,
            )
        )
    return relations


def _on_nullable_side(sources: list[Source], work: Work) -> bool:
    place = work.place if work.place is not None else 0
    if sources and place < len(sources) and sources[place].kind in ("LEFT", "FULL"):
        return True
    return any(item.kind in ("RIGHT", "FULL") for item in sources[place + 1 :])


# ---------------------------------------------------------------- SET


def _sets(work: Work, ctx: Context) -> tuple[tuple[str, n.Node], ...] | None:
    translated = _set_values(work, ctx)
    if translated is None:
        return None
    return tuple((column, value.code) for _, column, value in translated if column)


def _set_values(work: Work, ctx: Context) -> list[tuple[SetItem, str, Value]] | None:
    """(item, column, value); the column is empty for ``@v = value``."""
    out: list[tuple[SetItem, str, Value]] = []
    assigned = {item.variable.name.lower() for item in work.change.sets if item.variable is not None}
    refuse_repeated((item.column for item in work.change.sets), ctx)
    new = [(item.column.name, item.value) for item in work.change.sets if item.column is not None]
    share_next_values(new, work.info, ctx)
    for item in work.change.sets:
        if item.column is not None and assigned and reads(item.value, assigned):
            ctx.unsupported(
                "an UPDATE whose rows depend on a variable that it assigns",
                item.value,
                hint="number the rows with ROW_NUMBER() in a common table expression",
            )
            return None
        if item.column is None:
            value = (
                scalar(item.value, ctx)
                if item.operator == "=" and not reads(item.value, assigned)
                else v.NULL
            )
            out.append((item, "", value))
            continue
        column = set_column(item.column, work.info, ctx)
        if work.info is not None and column not in work.info.columns:
            ctx.unbound_target(item.column, work.name, work.info)
        target = work.alias if work.alias is not None else fold(work.name.name)
        out.append((item, fold(item.column.name), set_value(item, column, ctx, target)))
    return out


def _only_variables(change: Change, ctx: Context) -> Statement:
    """UPDATE t SET @v = … changes nothing: it is a SELECT into variables."""
    query = change.source.copy()
    limit_rows(query)
    if query.args.get("from_") is None:
        query.set("from_", exp.From(this=change.target.copy()))
    query.set(
        "expressions",
        [
            SetVariable(this=item.variable, expression=item.value, operator=item.operator)
            for item in change.sets
        ],
    )
    if change.with_ is not None:
        query.set("with_", change.with_)
    assigned = assignment(query, ctx)
    return assigned


# ---------------------------------------------------------------- RETURNING


def _row(name: str, work: Work, prefix: n.Node | None, ctx: Context) -> Relation:
    """The row as it was or will be: its columns behind ``prefix``, or bare."""
    columns = work.info.columns if work.info is not None else None
    stored = ctx.stored_name(work.name, work.info)
    return Relation(name, columns, prefix=prefix, bare=prefix is None, stored=stored)


def _finish(
    work: Work,
    code: s.Update | s.Delete,
    before: tuple[n.Node, ...],
    inserted: n.Node | None,
    deleted: n.Node | None,
    ctx: Context,
    *,
    others: list[Relation] | None = None,
    computed: list[tuple[SetItem, n.Node]] | None = None,
) -> Statement:
    change = work.change
    changing = Changing(work.definitions, work.recursive, code, before=before, target=work.table)
    target_alias = work.alias if work.alias is not None else fold(work.name.name)
    if others is None:
        others = [relation for relation in ctx.frame.relations if relation.alias != target_alias]
    relations = [*others]
    if work.is_update:
        relations.append(_row("inserted", work, inserted, ctx))
    relations.append(_row("deleted", work, deleted, ctx))
    variables = [item for item in change.sets if item.variable is not None]
    if variables:
        if change.outputs:
            ctx.unsupported("OUTPUT beside variables in SET", change.outputs[0].items[0])
            return None
        return into_variables(variables, changing, work.info, inserted, computed or [], ctx)
    return finish(changing, change.outputs, relations, ctx)
