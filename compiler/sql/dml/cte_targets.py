"""UPDATE and DELETE through a common table expression or a derived table.

``WITH c AS (SELECT TOP (1) * FROM q ORDER BY id) DELETE FROM c`` changes the table under
the expression: it gets a column with the row's ctid, by which the rows are found again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..context import Context, Relation, object_name
from ..dispatch import Verbatim, query_tree
from ..expressions.names import condition
from ..interface import Assignment, Dml, TableVariableDml
from ..parse.dml import Change, from_items
from ..query.from_clause import PLACE, read_from, table_variable_alias
from ..query.row_limits import limit_of
from ..query.set_operations import ctes, trial
from ..values import Value
from .output import Changing, finish
from .set_clause import set_column, set_value, share_next_values
from .set_variables import into_variables
from .table_variables import Through, change_variable

Statement = Dml | Assignment | TableVariableDml | None


def derived_target(change: Change) -> None:
    """``DELETE d FROM (SELECT …) AS d JOIN …``: the subquery becomes a common table expression."""
    if len(change.target.parts) != 1:
        return
    target = fold(change.target.name)
    items = from_items(change)
    found = [item for item in items if isinstance(item, exp.Subquery) and fold(item.alias) == target]
    if len(found) != 1 or not isinstance(found[0].this, exp.Query):
        return
    derived = found[0]
    alias = derived.args["alias"]
    name = alias.this.copy()
    if any(fold(table.name) == target for table in derived.this.find_all(exp.Table)):
        name = exp.to_identifier(f"{derived.alias} rows", quoted=True)  # it would be a recursive one
    table = exp.Table(this=name.copy(), alias=exp.TableAlias(this=alias.this.copy()))
    cte = exp.CTE(this=derived.this, alias=exp.TableAlias(this=name, columns=alias.columns))
    if change.with_ is None:
        change.with_ = exp.With(expressions=[cte])
    else:
        change.with_.append("expressions", cte)
    if len(items) > 1 or fold(name.name) != target:
        derived.replace(table)
    else:
        change.source.set("from_", None)


@dataclass
class CteTarget:
    """A statement that changes the one table under a common table expression."""

    change: Change
    cte: exp.CTE
    base: exp.Table
    row_id: str = ""
    """The column that finds the row again."""

    @property
    def shown(self) -> str:
        """The name by which the statement knows the expression: ``x`` in ``DELETE x FROM c AS x``."""
        name = fold(self.cte.alias)
        found = [
            fold(table.alias or table.name)
            for table in from_items(self.change)
            if isinstance(table, exp.Table) and len(table.parts) == 1 and fold(table.name) == name
        ]
        target = fold(self.change.target.name)
        return target if target in found or len(found) != 1 else found[0]

    def translate(self, ctx: Context) -> Statement:
        """Give the expression a column that finds the row again, lock its rows, and change the table."""
        change = self.change
        select_node = self.cte.this
        base_name = object_name(self.base)
        base_alias = fold(self.base.alias or self.base.name)
        found = Value(n.Name((base_alias, "ctid")))
        self.base.meta["placed"] = True
        windowed = select_node.find(exp.Window) is not None or select_node.args.get("distinct") is not None
        if not windowed:
            hints = list(self.base.args.get("hints") or [])
            self.base.set("hints", [*hints, exp.Var(this="UPDLOCK")])
        _list_columns(self.cte, self.base, ctx)
        mapping, computed = _base_columns(self.cte)
        trial_columns = _columns_of(self.cte, ctx)
        self.row_id = _free_name(trial_columns)
        has_all = [type(item) for item in select_node.expressions] == [exp.Star]
        select_node.append(
            "expressions",
            exp.Alias(this=Verbatim(this=found), alias=exp.to_identifier(self.row_id, quoted=True)),
        )
        _name_last(self.cte, self.row_id)
        definitions, recursive = ctes(change.with_, ctx)
        name, shown = fold(self.cte.alias), self.shown
        table = ctx.relation_name(base_name)
        info = ctx.scope.table(base_name)
        target = fold(base_name.name)
        head: n.Node = n.Variable(table)
        if target in (name, shown):
            target = f"{target}_base"
            head = q.Aliased(head, target)
        ctx.push()
        try:
            relation = Relation(shown, trial_columns, qualify=True)
            ctx.frame.relations.append(relation)
            extra = read_from(change.source, ctx)
            where_node = change.source.args.get("where")
            row_id = n.Name((shown, self.row_id))
            conditions: list[n.Node] = [n.Comparison("=", n.Name((target, "ctid")), row_id)]
            listed = [
                item for item in extra if not (item.relation is not None and item.relation.alias == shown)
            ]
            own: n.Node = n.Name((name,)) if shown == name else q.Aliased(n.Name((name,)), shown)
            sources: tuple[n.Node, ...]
            if any(item.kind in ("LEFT", "RIGHT", "FULL") for item in extra):
                joined = q.Joined(extra[0].code, tuple(item.join() for item in extra[1:]))
                sources = (joined,) if len(listed) < len(extra) else (own, joined)
            else:
                sources = (own, *(item.code for item in listed))
                conditions += [item.on for item in extra if item.on is not None]
            if where_node is not None:
                conditions.append(condition(where_node.this, ctx).code)
            if change.top is not None:
                conditions.append(self._first_rows(shown, sources, conditions[1:], ctx))
            where = n.all_of(conditions)
            code: s.Update | s.Delete
            if change.sets:
                sets: list[tuple[str, n.Node]] = []
                new = ((item.column.name, item.value) for item in change.sets if item.column is not None)
                share_next_values(((mapping.get(fold(key), key), value) for key, value in new), info, ctx)
                for item in change.sets:
                    if item.column is None:
                        continue
                    base_column = mapping.get(fold(item.column.name), item.column.name)
                    info_column = set_column(exp.Column(this=exp.to_identifier(base_column)), info, ctx)
                    sets.append((fold(base_column), set_value(item, info_column, ctx).code))
                code = s.Update(head, tuple(sets), sources, where)
            else:
                code = s.Delete(head, sources, where)
            columns = trial_columns
            others = [item.relation for item in listed if item.relation is not None]
            if has_all and not change.sets:
                # The table's own row: the common table expression has the row's place beside.
                stored = ctx.stored_name(base_name, info)
                deleted = Relation("deleted", columns, prefix=n.Name((target,)), stored=stored)
            else:
                deleted = Relation("deleted", columns, prefix=n.Name((shown,)))
            relations = [*others, deleted]
            if change.sets:
                # What is computed is as it was found, and other columns have the expression's names.
                renamed: dict[str, n.Node] = {column: n.Name((shown, column)) for column in computed}
                renamed |= {column: n.Name((target, fold(of))) for column, of in mapping.items()}
                stored_row = n.Name((target,))
                relations.append(Relation("inserted", trial_columns, prefix=stored_row, renamed=renamed))
            changing = Changing(definitions, recursive, code, target=table)
            variables = [item for item in change.sets if item.variable is not None]
            for item in variables:
                if isinstance(item.column, exp.Column) and fold(item.column.name) in mapping:
                    item.column = exp.column(exp.to_identifier(mapping[fold(item.column.name)], quoted=True))
            if variables:
                return into_variables(variables, changing, info, n.Name((target,)), [], ctx)
            return finish(changing, change.outputs, relations, ctx)
        finally:
            ctx.pop()

    def translate_variable(self, ctx: Context) -> TableVariableDml | None:
        """The same over a table variable: its rows are found again by their places."""
        change, base = self.change, self.base
        name = fold(self.cte.alias)
        alias = fold(base.alias or table_variable_alias(base.name, ctx))
        base.meta["numbered"] = True
        _list_columns(self.cte, base, ctx)
        mapping, computed = _base_columns(self.cte)
        columns = _columns_of(self.cte, ctx)
        place = Verbatim(this=Value(n.Name((alias, PLACE))))
        self.row_id = _free_name(columns)
        row_id = exp.to_identifier(self.row_id, quoted=True)
        self.cte.this.append("expressions", exp.Alias(this=place, alias=row_id))
        _name_last(self.cte, self.row_id)
        definitions, recursive = ctes(change.with_, ctx)
        ctx.listed_ctes.discard(name)  # SET and OUTPUT are translated with the table's own columns
        for item in change.sets:
            if isinstance(item.column, exp.Column) and fold(item.column.name) in mapping:
                item.column = exp.column(exp.to_identifier(mapping[fold(item.column.name)], quoted=True))
        if change.source.args.get("from_") is None:
            table = exp.Table(this=exp.to_identifier(self.cte.alias, quoted=True))
            change.source.set("from_", exp.From(this=table))
        through = Through(
            n.Name((self.shown, self.row_id)),
            columns,
            {column: fold(of) for column, of in mapping.items()},
            {column: n.Name((self.shown, column)) for column in computed},
        )
        return change_variable(change, base, definitions, recursive, ctx, through=through)

    def _first_rows(
        self, shown: str, sources: tuple[n.Node, ...], conditions: list[n.Node], ctx: Context
    ) -> n.Node:
        """TOP: the rows of the expression that are among the first ones found."""
        joins = tuple(q.Join(",", item) for item in sources[1:])
        found = q.Select((n.Integer(1),), sources[0], joins, n.all_of(conditions))
        limit = limit_of(self.change.top, ctx, lambda: found)
        row_id = n.Name((shown, self.row_id))
        return q.among(row_id, replace(found, items=(row_id,), limit=limit))


def _free_name(columns: Sequence[ColumnInfo] | None) -> str:
    """A name for the column that finds the row again, which the expression lacks."""
    is_free = columns is not None and all(fold(column.name) != "row_id" for column in columns)
    return "row_id" if is_free else "row@id"


def _columns_of(cte: exp.CTE, ctx: Context) -> tuple[ColumnInfo, ...] | None:
    """The columns of a common table expression as the script sees them."""
    result = query_tree(cte.this.copy(), trial(ctx))
    if result.columns is None:
        return None
    names = [column.name for column in cte.args["alias"].columns] or [
        column.name or "" for column in result.columns
    ]
    return tuple(ColumnInfo(name, column.type) for name, column in zip(names, result.columns, strict=False))


def _base_columns(cte: exp.CTE) -> tuple[dict[str, str], set[str]]:
    """Name → column of the table, for ``SELECT a AS b`` and ``c (b) AS …``; names of what is computed."""
    mapping: dict[str, str] = {}
    computed: set[str] = set()
    names: list[str | None] = [column.name for column in cte.args["alias"].columns]
    items = cte.this.expressions
    for item, listed in zip_longest(items, names[: len(items)]):
        inner = item.this if isinstance(item, exp.Alias) else item
        name = listed or (item.alias if isinstance(item, exp.Alias) else None)
        if name is None:
            continue
        if isinstance(inner, exp.Column):
            mapping[fold(name)] = inner.name
        else:
            computed.add(fold(name))
    return mapping, computed


def _list_columns(cte: exp.CTE, base: exp.Table, ctx: Context) -> None:
    """Write the table's columns for the ``*`` of an expression whose columns have names of their own."""
    variable = ctx.scope.table_variable(base.name)
    info = variable.info if variable is not None else ctx.scope.table(object_name(base))
    if not cte.args["alias"].columns or info is None:
        return
    items: list[exp.Expr] = []
    for item in cte.this.expressions:
        if isinstance(item, exp.Star):
            shown = (column for column in info.columns if not column.hidden)
            items += [exp.column(exp.to_identifier(column.name, quoted=True)) for column in shown]
        else:
            items.append(item)
    cte.this.set("expressions", items)


def _name_last(cte: exp.CTE, name: str) -> None:
    """Where the columns of the expression are listed, the last one is, too."""
    if cte.args["alias"].columns:
        cte.args["alias"].append("columns", exp.to_identifier(name, quoted=True))


def cte_target(change: Change, ctx: Context) -> CteTarget | None:
    """The common table expression that the statement changes; None when it changes a table."""
    if change.with_ is None or len(change.target.parts) != 1:
        return None
    wanted = fold(change.target.name)
    item = next(
        (
            table
            for table in from_items(change)
            if isinstance(table, exp.Table)
            and table.args.get("alias") is not None
            and fold(table.alias) == wanted
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
            ctx.unsupported(
                "a change through a common table expression over more than one table", change.target
            )
            return None
        return CteTarget(change, cte, from_.this)
    return None
