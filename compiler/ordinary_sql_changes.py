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

from dataclasses import dataclass, field

from sqlglot import exp

from . import functions
from . import ordinary_sql_values as v
from .names import ObjectName, fold, identifier, quote
from .ordinary_sql_assignment import _labels, _lift, _reads, assignment, operand_of
from .ordinary_sql_context import Context, Relation, Verbatim, object_name
from .ordinary_sql_dml_tools import is_default
from .ordinary_sql_expressions import condition, scalar, xml_binding, xml_literals
from .ordinary_sql_interface import (
    Assignment,
    ColumnInfo,
    Dml,
    Expression,
    ScalarVariable,
    TableInfo,
    TableVariableDml,
)
from .ordinary_sql_layout import BREAK, CLOSE, OPEN
from .ordinary_sql_output import Changing, finish
from .ordinary_sql_queries import ctes, row_count
from .ordinary_sql_reading import SetVariable
from .ordinary_sql_relations import Source, read_from
from .ordinary_sql_statements import Change, SetItem, read_delete, read_update
from .ordinary_sql_values import Value
from .ordinary_sql_writing import select
from .xml_methods import xml_modify
from ..grammar.tokens import Token

Statement = Dml | Assignment | TableVariableDml | None


def update(tokens: list[Token], ctx: Context) -> Statement:
    """Translate an UPDATE statement."""
    return _change(read_update(tokens, ctx.reader), ctx)


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
    definitions: list[tuple[str, str]] = field(default_factory=list)
    recursive: bool = False
    hints: frozenset[str] = frozenset()

    @property
    def shown(self) -> str:
        """The name under which the target's columns are known."""
        return quote(self.alias if self.alias is not None else fold(self.name.name))

    @property
    def head(self) -> str:
        """``dbo.t`` or ``dbo.t AS a``."""
        if self.alias is None or self.alias == fold(self.name.name):
            return self.table
        return f"{self.table} AS {quote(self.alias)}"

    @property
    def is_update(self) -> bool:
        """An UPDATE, not a DELETE."""
        return bool(self.change.sets)

    def key(self) -> tuple[str, ...] | None:
        """The primary key's columns where known, quoted."""
        for key in self.info.keys if self.info is not None else ():
            if key.primary:
                return tuple(identifier(column) for column in key.columns)
        return None


def _change(change: Change, ctx: Context) -> Statement:
    from .ordinary_sql_table_variables import change_variable

    if change.cursor:
        ctx.unsupported("WHERE CURRENT OF", change.target, hint="use the primary key that the cursor fetched")
        return None
    if change.top is not None and change.top.percent:
        ctx.unsupported("TOP … PERCENT in UPDATE and DELETE", change.top.count)
        return None
    if change.sets and all(item.column is None for item in change.sets) and change.top is None and not change.outputs:
        return _only_variables(change, ctx)
    _derived_target(change)
    chosen = _cte_target(change, ctx)
    if chosen is not None:
        return chosen.translate(ctx)
    definitions, recursive = ctes(change.with_, ctx)
    item = _target_item(change, ctx)
    real = item if item is not None else change.target
    if real.name.startswith("@"):
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


def _items(change: Change) -> list[exp.Expression]:
    """The items of FROM as nodes."""
    from_ = change.source.args.get("from_")
    if from_ is None:
        return []
    return [from_.this, *(join.this for join in change.source.args.get("joins") or [])]


def _target_item(change: Change, ctx: Context) -> exp.Table | None:
    """The item of FROM that the statement changes: by alias, else by the table's name."""
    wanted = fold(change.target.name)
    single = len(change.target.parts) == 1
    items = [item for item in _all_tables(change) if isinstance(item, exp.Table)]
    if single:
        for item in items:
            if item.args.get("alias") is not None and fold(item.alias) == wanted:
                return item
    if change.target.name.startswith("@"):
        return next((item for item in items if fold(item.name) == wanted), None)
    target = ctx.relation_name(object_name(change.target))
    named = [item for item in items if not item.name.startswith("@") and ctx.relation_name(object_name(item)) == target]
    return named[0] if named else None


def _all_tables(change: Change) -> list[exp.Expression]:
    out: list[exp.Expression] = []
    pending = _items(change)
    while pending:
        item = pending.pop(0)
        if isinstance(item, exp.Subquery) and item.args.get("alias") is None and not isinstance(item.this, exp.Query):
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
        ctx.unsupported(f"the linked server {name.server!r}", node)
        return None
    info = ctx.scope.table(name)
    alias = fold(item.alias) if item is not None and item.args.get("alias") is not None else None
    hints = {hint.name.upper() for part in (change.target, item) if part is not None for hint in part.args.get("hints") or ()}
    return Work(change, name, ctx.relation_name(name), info, alias, hints=frozenset(hints))


# ---------------------------------------------------------------- plain, chosen, computed


def _translate(work: Work, ctx: Context) -> Statement:
    change = work.change
    target_relation = Relation(
        work.alias if work.alias is not None else fold(work.name.name),
        work.info.columns if work.info is not None else None,
        work.name if work.alias is None else None,
    )
    before_from = len(ctx.frame.relations)
    work.sources = read_from(change.source, ctx)
    for place, item in enumerate(work.sources):
        if item.relation is not None and item.relation.alias == target_relation.alias and item.lockable:
            work.place = place
            break
    if work.place is None:
        if _target_item(change, ctx) is not None:
            # Inside parentheses or a nested join: only the computed shape reaches it.
            pass
        ctx.frame.relations.insert(before_from, target_relation)
    where_node = change.source.args.get("where")
    where = condition(where_node.this, ctx) if where_node is not None else None
    before = _table_lock(work)
    nested = work.place is None and _target_item(change, ctx) is not None
    joined = any(item.kind in ("LEFT", "RIGHT", "FULL") or item.text.startswith("LATERAL") for item in work.sources)
    needs_old = work.is_update and _mentions_deleted(change)
    if needs_old or joined or nested or (change.top is not None and len(work.sources) > 1) or _old_values(work):
        return _computed(work, where, before, nested, ctx)
    if change.top is not None or "READPAST" in work.hints:
        return _chosen(work, where, before, ctx)
    return _plain(work, where, before, ctx)


def _table_lock(work: Work) -> tuple[str, ...]:
    if "TABLOCKX" in work.hints:
        return (f"LOCK TABLE {work.table} IN EXCLUSIVE MODE",)
    return ()


def _mentions_deleted(change: Change) -> bool:
    return any(
        isinstance(column, exp.Column) and column.args.get("table") is not None and fold(column.parts[-2].name) == "deleted"
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


def _plain(work: Work, where: Value | None, before: tuple[str, ...], ctx: Context) -> Statement:
    others = [item for place, item in enumerate(work.sources) if place != work.place]
    conditions = [f"({item.on})" if " OR " in item.on else item.on for item in work.sources if item.on is not None]
    if where is not None:
        conditions.append(where.at(v.AND) if conditions else where.text)
    pieces = []
    if work.is_update:
        sets = _sets(work, ctx)
        if sets is None:
            return None
        pieces.append(f"UPDATE {work.head}")
        pieces.append(f"SET {', '.join(sets)}")
        if others:
            pieces.append(f"FROM {', '.join(item.text for item in others)}")
    else:
        pieces.append(f"DELETE FROM {work.head}")
        if others:
            pieces.append(f"USING {', '.join(item.text for item in others)}")
    if conditions:
        pieces.append(f"WHERE {' AND '.join(conditions)}")
    prefix = "" if not others else work.shown
    return _finish(work, pieces, before, prefix, prefix, ctx)


def _chosen(work: Work, where: Value | None, before: tuple[str, ...], ctx: Context) -> Statement:
    """TOP and READPAST without joins: the rows are picked and locked by a subquery."""
    key = work.key()
    column = key[0] if key is not None and len(key) == 1 else "ctid"
    lock = "FOR UPDATE SKIP LOCKED" if "READPAST" in work.hints else "FOR UPDATE"
    limit = None
    if work.change.top is not None:
        limit = row_count(scalar(work.change.top.count, ctx))
    picked = select(
        expressions=[column], from_=work.head, where=where.text if where is not None else None, limit=limit, lock=lock
    )
    chosen = f"WHERE {column} = ANY (ARRAY({picked}))"
    if work.is_update:
        sets = _sets(work, ctx)
        if sets is None:
            return None
        pieces = [f"UPDATE {work.head}", f"SET {', '.join(sets)}", chosen]
    else:
        pieces = [f"DELETE FROM {work.head}", chosen]
    return _finish(work, pieces, before, "", "", ctx)


def _computed(work: Work, where: Value | None, before: tuple[str, ...], nested: bool, ctx: Context) -> Statement:
    """Everything is computed, and the rows locked, by an inner query; the change then follows it."""
    change = work.change
    alias = work.shown
    key = work.key()
    columns: list[str] = []
    conditions: list[str] = []
    outer = "changing"
    while outer in ctx.words:
        outer += "_"
    if key is not None:
        for place, column in enumerate(key, 1):
            columns.append(f"{alias}.{column} AS k{place}")
            conditions.append(f"{outer}.{column} = changes.k{place}")
    else:
        columns.append(f"{alias}.ctid AS row_id")
        conditions.append(f"{outer}.ctid = changes.row_id")
    sources = work.sources if work.sources else []
    if work.place is None and not nested:
        own = Source("", work.head, lockable=True)
        sources = [own, *sources]
        if len(sources) > 1 and not sources[1].kind:
            sources[1].kind = ","
    sets: list[str] = []
    targets: list[tuple[SetItem, str]] = []
    if work.is_update:
        translated = _set_values(work, ctx)
        if translated is None:
            return None
        for place, (item, column_name, value) in enumerate(translated, 1):
            if value.text == "DEFAULT":
                sets.append(f"{column_name} = DEFAULT")
                continue
            columns.append(f"{value.text} AS v{place}")
            if column_name:
                sets.append(f"{column_name} = changes.v{place}")
            if item.variable is not None:
                targets.append((item, f"{outer}.{column_name}" if column_name else f"changes.v{place}"))
    outputs_other = bool(change.outputs)
    if outputs_other and work.is_update and _mentions_deleted(change):
        columns.append(f"{alias} AS deleted")
    others: list[Relation] = []
    if outputs_other:
        others = _carried(work, columns, ctx)
    limit = row_count(scalar(change.top.count, ctx)) if change.top is not None else None
    lock: str | None = "FOR UPDATE" if len(sources) == 1 else f"FOR UPDATE OF {alias}"
    if "READPAST" in work.hints:
        lock += " SKIP LOCKED"
    if nested or _on_nullable_side(sources, work):
        lock = None
    inner = select(
        expressions=columns,
        from_=sources[0].text,
        joins=[(item.kind, item.text, item.on) for item in sources[1:]],
        where=where.text if where is not None else None,
        limit=limit,
        lock=lock,
    )
    if work.is_update:
        pieces = [
            f"UPDATE {work.table} AS {outer}",
            f"SET {', '.join(sets)}",
            f"FROM ({inner}) AS changes",
            f"WHERE {' AND '.join(conditions)}",
        ]
    else:
        pieces = [f"DELETE FROM {work.table} AS {outer}", f"USING ({inner}) AS changes", f"WHERE {' AND '.join(conditions)}"]
    deleted_prefix = "(changes.deleted)" if work.is_update else outer
    return _finish(work, pieces, before, outer, deleted_prefix, ctx, others=others, computed=targets)


def _carried(work: Work, columns: list[str], ctx: Context) -> list[Relation]:
    """Columns of other relations that OUTPUT shows: carried along by the inner query."""
    relations: list[Relation] = []
    for relation in ctx.frame.relations:
        if relation.alias == (work.alias if work.alias is not None else fold(work.name.name)):
            continue
        used: dict[str, str] = {}
        for output in work.change.outputs:
            for item in output.items:
                for column in item.find_all(exp.Column):
                    table = column.args.get("table")
                    if table is not None and fold(table.name) == relation.alias and not isinstance(column.this, exp.Star):
                        label = f"{relation.alias}_{fold(column.name)}"
                        if fold(column.name) not in used:
                            columns.append(f"{relation.spell(identifier(column.name))} AS {quote(label)}")
                            used[fold(column.name)] = f"changes.{quote(label)}"
        relations.append(Relation(relation.alias, relation.columns, renamed=used))
    return relations


def _on_nullable_side(sources: list[Source], work: Work) -> bool:
    place = work.place if work.place is not None else 0
    if sources and place < len(sources) and sources[place].kind in ("LEFT", "FULL"):
        return True
    return any(item.kind in ("RIGHT", "FULL") for item in sources[place + 1 :])


# ---------------------------------------------------------------- SET


def _sets(work: Work, ctx: Context) -> list[str] | None:
    translated = _set_values(work, ctx)
    if translated is None:
        return None
    return [f"{column} = {value.text}" for _, column, value in translated if column]


def _set_values(work: Work, ctx: Context) -> list[tuple[SetItem, str, Value]] | None:
    """(item, column, value); the column is empty for ``@v = value``."""
    out: list[tuple[SetItem, str, Value]] = []
    assigned = {item.variable.name.lower() for item in work.change.sets if item.variable is not None}
    for item in work.change.sets:
        if item.column is not None and assigned and _reads(item.value, assigned):
            ctx.unsupported(
                "an UPDATE whose rows depend on a variable that it assigns",
                item.value,
                hint="number the rows with ROW_NUMBER() in a common table expression",
            )
            return None
        if item.column is None:
            value = scalar(item.value, ctx) if item.operator == "=" and not _reads(item.value, assigned) else v.NULL
            out.append((item, "", value))
            continue
        column = set_column(item.column, work.info, ctx)
        out.append((item, identifier(item.column.name), set_value(item, column, ctx)))
    return out


def set_column(node: exp.Expression, info: TableInfo | None, ctx: Context) -> ColumnInfo:
    """The column that an item of SET changes."""
    for column in info.columns if info is not None else ():
        if fold(column.name) == fold(node.name):
            if column.computed is not None:
                ctx.problem(f"the column {node.name!r} cannot be modified: it is a computed column", node, number=271)
            if column.identity is not None:
                ctx.problem(f"cannot update identity column {node.name!r}", node, number=8102)
            return column
    return ColumnInfo(node.name, None)


def set_value(item: SetItem, column: ColumnInfo, ctx: Context) -> Value:
    """The new value of a column: ``=``, ``+=`` …, DEFAULT, .modify()."""
    assert item.column is not None
    if item.method == "modify":
        assert isinstance(item.value, exp.Anonymous)
        call = item.value
        literals = xml_literals(call, ctx)
        if not literals:
            return v.INVALID
        node = item.column if isinstance(item.column, exp.Column) else exp.Column(this=exp.to_identifier(item.column.name))
        try:
            return xml_modify(
                scalar(node, ctx), literals[0], ctx.namespaces, lambda kind, name: xml_binding(kind, name, call, ctx)
            )
        except functions.Wrong as error:
            return ctx.problem(str(error), call, number=error.number)
    if item.method is not None:
        return ctx.unsupported(f"the method {item.method!r} in SET", item.value)
    if is_default(item.value):
        return Value("DEFAULT")
    node = item.value
    if item.operator != "=":
        node = operand_of(item.operator, item.column.copy(), item.value)
    return v.store(scalar(node, ctx), column.type)


def _only_variables(change: Change, ctx: Context) -> Statement:
    """UPDATE t SET @v = … changes nothing: it is a SELECT into variables."""
    query = change.source.copy()
    if query.args.get("from_") is None:
        query.set("from_", exp.From(this=change.target.copy()))
    query.set(
        "expressions",
        [SetVariable(this=item.variable, expression=item.value, operator=item.operator) for item in change.sets],
    )
    if change.with_ is not None:
        query.set("with_", change.with_)
    assigned = assignment(query, ctx)
    return assigned


def _targets(items: list[SetItem], ctx: Context) -> list[ScalarVariable] | None:
    targets = []
    for item in items:
        assert item.variable is not None
        known = ctx.scope.variable(item.variable.name)
        if known is None:
            ctx.problem(f"must declare the scalar variable {item.variable.name!r}", item.variable, number=137)
            return None
        targets.append(known)
    return targets


# ---------------------------------------------------------------- RETURNING


def _finish(
    work: Work,
    pieces: list[str],
    before: tuple[str, ...],
    inserted: str,
    deleted: str,
    ctx: Context,
    *,
    others: list[Relation] | None = None,
    computed: list[tuple[SetItem, str]] | None = None,
) -> Statement:
    change = work.change
    columns = work.info.columns if work.info is not None else None
    text = f"{OPEN}{BREAK.join(pieces)}{CLOSE}"
    changing = Changing(work.definitions, work.recursive, text, before=before, target=work.table)
    target_alias = work.alias if work.alias is not None else fold(work.name.name)
    if others is None:
        others = [relation for relation in ctx.frame.relations if relation.alias != target_alias]
    relations = [*others]
    if work.is_update:
        relations.append(Relation("inserted", columns, prefix=inserted))
    relations.append(Relation("deleted", columns, prefix=deleted))
    variables = [item for item in change.sets if item.variable is not None]
    if variables:
        if change.outputs:
            ctx.unsupported("OUTPUT beside variables in SET", change.outputs[0].items[0])
            return None
        return _into_variables(work, changing, variables, relations, inserted, computed, ctx)
    return finish(changing, change.outputs, relations, ctx)


def _into_variables(
    work: Work,
    changing: Changing,
    items: list[SetItem],
    relations: list[Relation],
    inserted: str,
    computed: list[tuple[SetItem, str]] | None,
    ctx: Context,
) -> Assignment | None:
    """UPDATE … SET @v = …: the values come back through RETURNING."""
    targets = _targets(items, ctx)
    if targets is None:
        return None
    names = tuple(item.variable.name for item in items if item.variable is not None)
    assigned = {name.lower() for name in names}
    labels = _labels(names)
    returned: list[str] = []
    values: list[Expression] = []
    sequential = False
    by_item = {id(item): text for item, text in computed or []}
    for item, target, label in zip(items, targets, labels, strict=True):
        column = set_column(item.column, work.info, ctx) if item.column is not None else None
        if id(item) in by_item:
            value = Value(by_item[id(item)], v.ATOM, column.type if column is not None else None)
        elif item.column is not None:
            name = identifier(item.column.name)
            value = Value(f"{inserted}.{name}" if inserted else name, v.ATOM, column.type if column is not None else None)
        else:
            node = item.value if item.operator == "=" else operand_of(
                item.operator, exp.Column(this=item.variable.copy() if item.variable is not None else None), item.value
            )
            if _reads(node, assigned):
                sequential = True
                lifted: list[exp.Expression] = []
                outside = _lift(node.copy(), assigned, lifted)
                parts = [scalar(part, ctx) for part in lifted]
                for place, part in enumerate(parts, 1):
                    returned.append(f"{part.text} AS {label}_{place}")
                for hole in list(outside.find_all(_lifted_class())):
                    part = parts[int(hole.name[1:]) - 1]
                    text = f"{Assignment.RECORD}.{label}_{hole.name[1:]}"
                    replacement = Verbatim(this=Value(text, v.ATOM, part.type, pg=part.pg))
                    if hole is outside:
                        outside = replacement
                    else:
                        hole.replace(replacement)
                frame, ctx.frame = ctx.frame, type(ctx.frame)()
                translated = v.assign(scalar(outside, ctx), target.type)
                ctx.frame = frame
                values.append(Expression(translated.text, translated.type))
                continue
            value = scalar(node, ctx)
        value = v.assign(value, target.type)
        spelled = identifier(label)
        returned.append(value.text if value.text == spelled else f"{value.text} AS {spelled}")
        values.append(Expression(f"{Assignment.RECORD}.{spelled}", target.type))
    if not returned:
        returned = ["1"]
    dml = finish(
        Changing(changing.with_, changing.recursive, f"{changing.text}{BREAK}RETURNING {', '.join(returned)}"), [], [], ctx
    )
    assert isinstance(dml, Dml)
    return Assignment(
        tuple(target.reference for target in targets),
        tuple(values),
        rows=dml.sql,
        sequential=sequential,
        target_names=names,
        before=changing.before,
    )


def _lifted_class() -> type[exp.Expression]:
    from .ordinary_sql_assignment import Lifted

    return Lifted


# ---------------------------------------------------------------- common table expressions and subqueries as targets


def _derived_target(change: Change) -> None:
    """``DELETE d FROM (SELECT …) AS d``: the subquery becomes a common table expression."""
    items = _items(change)
    if len(items) != 1 or not isinstance(items[0], exp.Subquery) or not isinstance(items[0].this, exp.Query):
        return
    derived = items[0]
    if len(change.target.parts) != 1 or fold(derived.alias) != fold(change.target.name):
        return
    cte = exp.CTE(this=derived.this, alias=exp.TableAlias(this=exp.to_identifier(derived.alias, quoted=True)))
    if change.with_ is None:
        change.with_ = exp.With(expressions=[cte])
    else:
        change.with_.append("expressions", cte)
    change.source.set("from_", None)


@dataclass
class CteTarget:
    """A statement that changes the one table under a common table expression."""

    change: Change
    cte: exp.CTE
    base: exp.Table

    def translate(self, ctx: Context) -> Statement:
        """Give the expression a column that finds the row again, lock its rows, and change the table."""
        change = self.change
        select_node = self.cte.this
        base_name = object_name(self.base)
        base_alias = fold(self.base.alias or self.base.name)
        found = Value(f"{quote(base_alias)}.ctid", v.ATOM)
        columns_before = None
        windowed = select_node.find(exp.Window) is not None or select_node.args.get("distinct") is not None
        if not windowed:
            hints = list(self.base.args.get("hints") or [])
            self.base.set("hints", [*hints, exp.Var(this="UPDLOCK")])
        mapping = _base_columns(select_node)
        trial_columns = _columns_of(self.cte, ctx)
        select_node.append(
            "expressions", exp.Alias(this=Verbatim(this=found), alias=exp.to_identifier("row_id", quoted=True))
        )
        definitions, recursive = ctes(change.with_, ctx)
        del columns_before
        name = fold(self.cte.alias)
        table = ctx.relation_name(base_name)
        info = ctx.scope.table(base_name)
        target = fold(base_name.name)
        head = table
        if target == name:
            target = f"{target}_base"
            head = f"{table} AS {quote(target)}"
        ctx.push()
        try:
            relation = Relation(name, trial_columns, qualify=True)
            ctx.frame.relations.append(relation)
            extra = read_from(change.source, ctx)
            where_node = change.source.args.get("where")
            conditions = [f"{quote(target)}.ctid = {quote(name)}.row_id"]
            listed = [item for item in extra if not (item.relation is not None and item.relation.alias == name)]
            conditions += [item.on for item in extra if item.on is not None]
            if where_node is not None:
                conditions.append(condition(where_node.this, ctx).at(v.AND))
            work = Work(change, base_name, table, info, target, definitions=definitions, recursive=recursive)
            sources = ", ".join([quote(name), *(item.text for item in listed)])
            if work.is_update:
                sets = []
                for item in change.sets:
                    if item.column is None:
                        continue
                    base_column = mapping.get(fold(item.column.name), item.column.name)
                    info_column = set_column(exp.Column(this=exp.to_identifier(base_column)), info, ctx)
                    sets.append(f"{identifier(base_column)} = {set_value(item, info_column, ctx).text}")
                pieces = [f"UPDATE {head}", f"SET {', '.join(sets)}", f"FROM {sources}"]
            else:
                pieces = [f"DELETE FROM {head}", f"USING {sources}"]
            pieces.append(f"WHERE {' AND '.join(conditions)}")
            columns = trial_columns
            others = [item.relation for item in listed if item.relation is not None]
            relations = [*others, Relation("deleted", columns, prefix=quote(name))]
            if work.is_update:
                relations.append(Relation("inserted", info.columns if info is not None else None, prefix=quote(target)))
            changing = Changing(definitions, recursive, f"{OPEN}{BREAK.join(pieces)}{CLOSE}", target=table)
            variables = [item for item in change.sets if item.variable is not None]
            if variables:
                return _into_variables(work, changing, variables, relations, quote(target), None, ctx)
            return finish(changing, change.outputs, relations, ctx)
        finally:
            ctx.pop()


def _columns_of(cte: exp.CTE, ctx: Context) -> tuple[ColumnInfo, ...] | None:
    """The columns of a common table expression as the script sees them."""
    from .ordinary_sql_queries import query_text, trial

    result = query_text(cte.this.copy(), trial(ctx))
    if result.columns is None:
        return None
    names = [column.name for column in cte.args["alias"].columns] or [column.name or "" for column in result.columns]
    return tuple(ColumnInfo(name, column.type) for name, column in zip(names, result.columns, strict=False))


def _base_columns(select_node: exp.Select) -> dict[str, str]:
    """Alias → column of the table, for ``SELECT a AS b``."""
    mapping: dict[str, str] = {}
    for item in select_node.expressions:
        if isinstance(item, exp.Alias) and isinstance(item.this, exp.Column):
            mapping[fold(item.alias)] = item.this.name
    return mapping


def _cte_target(change: Change, ctx: Context) -> CteTarget | None:
    if change.with_ is None or len(change.target.parts) != 1:
        return None
    wanted = fold(change.target.name)
    item = next(
        (
            table
            for table in _items(change)
            if isinstance(table, exp.Table) and table.args.get("alias") is not None and fold(table.alias) == wanted
        ),
        None,
    )
    if item is not None and len(item.parts) == 1:
        wanted = fold(item.name)
    for cte in change.with_.expressions:
        if fold(cte.alias) != wanted:
            continue
        body = cte.this
        from_ = body.args.get("from_") if isinstance(body, exp.Select) else None
        if from_ is None or not isinstance(from_.this, exp.Table) or body.args.get("group") is not None:
            ctx.unsupported("a change through a common table expression over more than one table", change.target)
            return None
        return CteTarget(change, cte, from_.this)
    return None
