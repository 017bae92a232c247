"""INSERT, UPDATE and DELETE on table variables.

A table variable is a PL/pgSQL array of a composite type, so that it survives ROLLBACK.
One row of values is appended in place; everything else is one query that
gives the new array and the row count.  What PostgreSQL checks on tables (NOT NULL, keys,
CHECK) is checked by functions in the query (statements/table_variables.sql).
"""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo, TableVariable
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from .. import values as v
from ..context import Context, Relation, changed_table_variable, object_name
from ..expressions.names import condition
from ..from_items import Source
from ..interface import Query, TableVariableDml
from ..parse.dml import Change, Insert, Output
from ..parse.nodes import is_variable
from ..query.from_clause import PLACE, numbered, read_from
from ..query.row_limits import limit_of, limited
from ..values import Value, differs_by_row
from .columns import fillable, refuse_repeated
from .output import output_items, result_columns, shown
from .set_clause import set_column, set_value, share_next_values
from .table_variable_rows import (
    NEXT_ROWVERSION,
    default_of,
    fits,
    fitting,
    is_rowversion,
    needs_query,
    new_rows,
    not_null,
    one_row,
    row_of,
    rows_into,
    typed,
    uniqueness_of_row,
)

# ---------------------------------------------------------------- INSERT


def insert_into_variable(
    statement: Insert,
    variable: TableVariable,
    columns: list[ColumnInfo],
    rows: list[list[Value]] | None,
    query: n.Node | None,
    definitions: list[q.Definition],
    recursive: bool,
    ctx: Context,
) -> TableVariableDml | None:
    """INSERT @t …"""
    name = statement.target.name
    if statement.defaults:
        rows, columns = [[]], []
    if rows is not None and len(rows) == 1 and not needs_query(variable):
        cells = one_row(variable, columns, rows[0], name)
        unique = uniqueness_of_row(variable, name)
        appended = TableVariableDml(variable, append=row_of(variable, cells), unique=unique)
        return _with_output(appended, statement.outputs, ctx)
    known_to_fit: set[str] = set()
    if rows is not None:
        kept = [[default_of(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows]
        if columns:
            short = {
                place for place, column in enumerate(columns) if all(fits(row[place], column) for row in kept)
            }
            known_to_fit = {fold(columns[place].name) for place in short}
            query = q.Values(tuple(tuple(cell.code for cell in row) for row in typed(kept, columns, short)))
        else:
            query = q.Select((), breaks=q.Breaks.NEVER)
    assert query is not None
    query = limited(query, statement.top, ctx)
    added = new_rows(
        variable, name, columns, query, definitions, recursive=recursive, known_to_fit=known_to_fit
    )
    return _with_output(added, statement.outputs, ctx)


def _with_output(dml: TableVariableDml, outputs: list[Output], ctx: Context) -> TableVariableDml | None:
    """OUTPUT of an INSERT: the rows that stand behind all others afterwards."""
    info, rows = dml.variable.info, n.Variable(dml.variable.query_reference)
    names = (*(fold(column.name) for column in info.columns), PLACE)
    place = n.Name(("inserted", PLACE))
    before = n.Sum("-", n.Call("cardinality", (rows,)), TableVariableDml.ADDED)

    def added(items: tuple[n.Node, ...]) -> q.Select:
        return q.Select(
            items,
            q.Aliased(n.Call("unnest", (rows,)), "inserted", names, ordinality=True),
            where=n.Comparison(">", place, before),
            order=(n.OrderItem(place),),
        )

    for output in outputs:
        if (dml.output_after if output.target is None else dml.into) is not None:
            ctx.problem("a statement has at most one OUTPUT clause and one OUTPUT … INTO", number=102)
            return None
        items = output_items(output, [Relation("inserted", info.columns, declared=True)], ctx)
        if output.target is None:
            named = (q.Labelled(item.code, fold(item.name)) if item.name else item.code for item in items)
            dml = replace(dml, output_after=Query(added(tuple(named)), result_columns(items)))
        elif is_variable(output.target):
            kept = added(tuple(item.code for item in items))
            types = [item.value.type if item.value is not None else None for item in items]
            into = rows_into(output.target, output.columns, kept, types, ctx)
            if into is None:
                return None
            dml = replace(dml, into=into)
        else:
            ctx.unsupported("OUTPUT of a table variable's rows INTO a table", output.items[0])
            return None
    return dml


# ---------------------------------------------------------------- UPDATE and DELETE


@dataclass
class Through:
    """The common table expression by which a statement knows a table variable."""

    place: n.Name
    """Its column with the row's place."""
    columns: tuple[ColumnInfo, ...] | None
    """Those that the script sees: OUTPUT's."""
    mapping: dict[str, str]
    """Folded names of those that are columns of the table variable under another name."""
    computed: dict[str, n.Node]
    """Those that it computes."""

    def relation(self, name: str, cells: dict[str, n.Node]) -> Relation:
        """``inserted`` or ``deleted``; ``cells``: the columns of the table variable there."""
        renamed = {column: cells[of] for column, of in self.mapping.items() if of in cells}
        renamed |= {column: n.Name(("changed", label)) for column, label in self.labels().items()}
        return Relation(name, self.columns, declared=True, renamed=cells | renamed)

    def labels(self) -> dict[str, str]:
        """What is computed, with its name among what is found of a row, which no column has."""
        return {column: f"computed@{number}" for number, column in enumerate(self.computed, 1)}


def change_variable(
    change: Change,
    item: exp.Table | None,
    definitions: list[q.Definition],
    recursive: bool,
    ctx: Context,
    through: Through | None = None,
) -> TableVariableDml | None:
    """UPDATE and DELETE whose target is a table variable.

    Without other relations WHERE finds the rows. With them every row meets, in a LATERAL subquery, those and
    the condition; the rows that find a match are changed. ``through``: the common table expression among the
    relations that stands for the variable.
    """
    node = item if item is not None else change.target
    variable = changed_table_variable(node.name, node, ctx)
    if variable is None:
        return None
    if any(entry.variable is not None for entry in change.sets):
        ctx.unsupported("a variable in SET of an UPDATE on a table variable", change.target)
        return None
    name = node.name
    alias = (
        "changed_row"
        if through is not None
        else fold(item.alias)
        if item is not None and item.args.get("alias") is not None
        else fold(name.lstrip("@"))
    )
    if _deletes_all(change):
        none = n.Cast(_NO_ROWS, f"{variable.row_type}[]")
        count = n.Call("cardinality", (n.Variable(variable.query_reference),))
        return TableVariableDml(variable, replace=q.Select((none, count), breaks=q.Breaks.NEVER))
    ctx.push()
    try:
        sources = read_from(change.source, ctx) if change.source.args.get("from_") is not None else []
        place = _place(sources, alias)
        computed = {fold(each.name): each.computed for each in variable.info.columns if each.computed}
        # What is computed of a row is computed of its new values, which a subquery has then.
        computes = bool(computed and change.sets)
        alone = through is None and not computes and len(sources) == (0 if place is None else 1)
        if place is None and through is None:
            ctx.frame.relations.insert(0, Relation(alias, variable.info.columns, declared=True))
        for relation in ctx.frame.relations:
            if relation.alias == alias:
                relation.qualify = True
        where_node = change.source.args.get("where")
        where = condition(where_node.this, ctx).code if where_node is not None else None
        if through is not None:
            same = n.Comparison("=", through.place, n.Name((alias, PLACE)))
            where = n.all_of([same, *([where] if where is not None else [])])
        assigned: dict[str, n.Node] = {}
        if change.sets:
            translated = _set_values(change, variable, alias, ctx, in_order=not alone)
            if translated is None:
                return None
            assigned = translated
            if not alone and any(differs_by_row(value) for value in assigned.values()):
                # Without a word about the row PostgreSQL would compute NEWID() once.
                this_row = n.IsNull(n.Name((alias, PLACE)), negated=True)
                where = n.all_of([this_row, *([where] if where is not None else [])])

        def match(more: dict[str, n.Node]) -> q.Select:
            found = _match(sources, place, where, assigned | more)
            return _computing(found, variable, alias, assigned) if computes else found

        hit = match({})
        values = assigned | computed if computes else assigned
        rows = numbered(variable, alias)
        limit = limit_of(change.top, ctx, lambda: _hits(rows, hit))
        output = _Outputs()
        if change.outputs:
            exists = n.Exists(n.Subquery(_match(sources, place, where, {})))
            own = {alias} if through is None else {alias, *through.place.parts[:1]}
            others, more = _others([each for each in ctx.frame.relations if each.alias not in own])
            if through is not None:
                labels = through.labels()
                more |= {labels[column]: code for column, code in through.computed.items()}
            shown_hit = match(more) if more else hit
            by_place = through is not None or bool(more)
            hits = _Hits(rows, shown_hit, exists, limit, by_place, through, others, definitions, recursive)
            found_output = _outputs(change, variable, alias, values, hits, ctx)
            if found_output is None:
                return None
            output = found_output
    finally:
        ctx.pop()
    found = _Found(rows, where) if alone else _Found(rows, None, hit)
    query = _changed(variable, name, alias, found, values, limit, deletes=not change.sets)
    query = _rechecked(query, variable, set(values), name)
    return TableVariableDml(
        variable,
        replace=q.with_definitions(definitions, query, recursive=recursive),
        output_before=output.shown,
        into_before=output.kept,
        before=output.stored,
    )


def _others(relations: list[Relation]) -> tuple[list[Relation], dict[str, n.Node]]:
    """Relations beside the one that changes, and what OUTPUT has of them among what is found of a row."""
    others: list[Relation] = []
    more: dict[str, n.Node] = {}
    for relation in relations:
        renamed: dict[str, n.Node] = {}
        for column in (fold(column.name) for column in relation.columns or ()):
            label = f"other@{len(more) + 1}"
            more[label] = (relation.renamed or {}).get(column) or relation.spell(column)
            renamed[column] = n.Name(("changed", label))
        others.append(replace(relation, prefix=None, bare=False, nulls=False, renamed=renamed))
    return others, more


def _deletes_all(change: Change) -> bool:
    source = change.source.args
    restricted = change.top is not None or source.get("where") is not None or source.get("from_")
    return not (change.sets or change.outputs or restricted)


@dataclass
class _Found:
    """How a change finds the rows."""

    rows: n.Node
    """All rows with their places, as an item of FROM."""
    where: n.Node | None
    hit: q.Select | None = None
    """The LATERAL subquery that has a row, with the new values, for those to be changed."""


def _changed(
    variable: TableVariable,
    name: str,
    alias: str,
    found: _Found,
    values: dict[str, n.Node],
    limit: n.Node | None,
    *,
    deletes: bool,
) -> q.Select:
    """The variable's rows as the statement leaves them, and how many it has changed."""
    query = q.Select((), found.rows, where=found.where)
    new = values
    if found.hit is not None:
        changed = q.Aliased(n.Subquery(found.hit), "changed", lateral=True)
        query = replace(query, joins=(q.Join("CROSS", changed),))
        new = {column: n.Name(("changed", column)) for column in values}
    by_place = (n.OrderItem(n.Name((alias, PLACE))),)
    if limit is not None:
        # The first rows found are the chosen ones.
        items: list[n.Node] = [n.Every(n.Name((alias,)))]
        if found.hit is not None:
            items += (q.Labelled(code, f"new_{place}") for place, code in enumerate(new.values(), 1))
            new = {column: n.Name((alias, f"new_{place}")) for place, column in enumerate(new, 1)}
        items.append(q.Labelled(n.Over(n.Call("row_number"), order=by_place), "nth"))
        chosen = n.Is(n.Paren(n.Comparison("<=", n.Name((alias, "nth")), limit)), "NOT FALSE")
        query = q.Select((), q.Aliased(n.Subquery(replace(query, items=tuple(items))), alias), where=chosen)
    # Alone, they come as they lie.
    order = by_place if found.hit is not None or limit is not None else ()
    places = n.Call("array_agg", (n.Name((alias, PLACE)),), order)
    all_rows = n.Variable(variable.query_reference)
    if deletes:
        result = n.Call("sys.without_rows", (all_rows, places))
    else:
        cells = (_new_cell(column, name, alias, new) for column in variable.info.columns)
        rows = n.Call("array_agg", (row_of(variable, list(cells)),), order)
        result = n.Call("sys.with_rows", (all_rows, places, rows))
    return replace(query, items=(result, n.Call("count", (n.STAR,))))


def _new_cell(column: ColumnInfo, name: str, alias: str, new: dict[str, n.Node]) -> n.Node:
    folded = fold(column.name)
    if folded in new:
        return new[folded] if column.nullable else not_null(new[folded], column, name, "UPDATE")
    return NEXT_ROWVERSION if is_rowversion(column) else n.Name((alias, folded))


_NO_ROWS = n.Text("{}")


def _hits(rows: n.Node, hit: q.Select) -> q.Select:
    """A query with a row for each one that the statement finds."""
    return q.Select(
        (n.Integer(1),), rows, (q.Join("CROSS", q.Aliased(n.Subquery(hit), "changed", lateral=True)),)
    )


def _place(sources: list[Source], alias: str) -> int | None:
    for place, source in enumerate(sources):
        if source.relation is not None and source.relation.alias == alias:
            return place
    return None


def _match(
    sources: list[Source], place: int | None, where: n.Node | None, values: dict[str, n.Node]
) -> q.Select:
    """The LATERAL subquery: one row, with the new values, for a row that is to be changed."""
    items = list(sources)
    if place is not None:
        # The row itself comes from outside.
        if len(items) == 1:
            items = []
        else:
            nothing = n.Subquery(q.Select((), breaks=q.Breaks.NEVER))
            items[place] = replace(items[place], code=q.Aliased(nothing, "this_row"))
    return q.Select(
        (q.Labelled(n.TRUE, "hit"), *(q.Labelled(code, column) for column, code in values.items())),
        items[0].code if items else None,
        tuple(source.join() for source in items[1:]),
        where,
        # LIMIT keeps PostgreSQL from computing the new values of rows that the condition leaves out.
        limit=n.Integer(1),
    )


def _computing(found: q.Select, variable: TableVariable, alias: str, values: dict[str, n.Node]) -> q.Select:
    """The row that ``_match`` found, with what is computed of it as it will be."""
    names = {fold(column.name): column for column in variable.info.columns}
    kept = (
        q.Labelled(n.Name((alias, name)), name)
        for name, column in names.items()
        if column.computed is None and name not in values
    )
    computed = (
        q.Labelled(n.Paren(column.computed), name)
        for name, column in names.items()
        if column.computed is not None
    )
    new_row = q.Aliased(n.Subquery(replace(found, items=(*found.items, *kept))), "n")
    return q.Select((n.Every(n.Name(("n",))), *computed), new_row)


def _set_values(
    change: Change, variable: TableVariable, alias: str, ctx: Context, *, in_order: bool
) -> dict[str, n.Node] | None:
    """``in_order``: the new values are a query's list, in the order written; else cells of a row."""
    values: dict[str, n.Node] = {}
    refuse_repeated((item.column for item in change.sets), ctx)
    written = ((item.column.name if item.column is not None else "", item.value) for item in change.sets)
    share_next_values(written, None if in_order else variable.info, ctx)
    for item in change.sets:
        assert item.column is not None
        column = set_column(item.column, variable.info, ctx)
        if column.type is None:
            ctx.problem(f"Invalid column name '{item.column.name}'.", item.column, number=207)
            return None
        value = set_value(item, column, ctx, alias)
        if value.code is n.DEFAULT:
            value = default_of(value, column)
        if value.is_null or value.is_literal:
            type_ = column.type if fits(value, column) else column.type.unlimited
            value = v.cast(value, type_.postgres, type_)
        values[fold(column.name)] = fitting(value.code, column, value.type)
    return values


@dataclass
class _Hits:
    """The rows that a change finds."""

    rows: n.Node
    """All rows with their places, as an item of FROM."""
    hit: q.Select
    """The LATERAL subquery with the new values."""
    exists: n.Node
    limit: n.Node | None
    by_place: bool
    """The rows are found by their places."""
    through: Through | None
    others: list[Relation]
    """The relations beside the one that changes, as OUTPUT has their columns."""
    definitions: list[q.Definition]
    recursive: bool


@dataclass
class _Outputs:
    """Where the rows of OUTPUT go: to the client, into a table variable, into a table."""

    shown: Query | None = None
    kept: TableVariableDml | None = None
    stored: tuple[n.Node, ...] = ()


def _outputs(
    change: Change, variable: TableVariable, alias: str, values: dict[str, n.Node], hits: _Hits, ctx: Context
) -> _Outputs | None:
    """OUTPUT of UPDATE and DELETE: the rows as they are, and as they will be, found before the change."""
    names = [fold(column.name) for column in variable.info.columns]
    new: dict[str, n.Node] = {name: n.Name(("changed" if name in values else alias, name)) for name in names}
    if hits.through is not None:
        deleted = hits.through.relation("deleted", {name: n.Name((alias, name)) for name in names})
        inserted = hits.through.relation("inserted", new)
    else:
        deleted = Relation("deleted", variable.info.columns, prefix=n.Name((alias,)), declared=True)
        inserted = Relation("inserted", variable.info.columns, declared=True, renamed=new)
    relations = [*hits.others, deleted, *([inserted] if change.sets else [])]
    result = _Outputs()
    for output in change.outputs:
        if (result.shown if output.target is None else result.kept or result.stored or None) is not None:
            ctx.problem("a statement has at most one OUTPUT clause and one OUTPUT … INTO", number=102)
            return None
        items = output_items(output, relations, ctx)

        def found(columns: tuple[n.Node, ...]) -> q.Select:
            if not change.sets and hits.limit is None and not hits.by_place:
                names = tuple(fold(column.name) for column in variable.info.columns)
                every = n.Call("unnest", (n.Variable(variable.query_reference),))
                return q.Select(columns, q.Aliased(every, alias, names), where=hits.exists)
            order = (n.OrderItem(n.Name((alias, PLACE))),)
            return replace(_hits(hits.rows, hits.hit), items=columns, order=order, limit=hits.limit)

        if output.target is None:
            code = q.with_definitions(hits.definitions, found(shown(items)), recursive=hits.recursive)
            result.shown = Query(code, result_columns(items))
            continue
        rows = found(tuple(item.code for item in items))
        if is_variable(output.target):
            types = [item.value.type if item.value is not None else None for item in items]
            result.kept = rows_into(
                output.target,
                output.columns,
                rows,
                types,
                ctx,
                definitions=hits.definitions,
                recursive=hits.recursive,
            )
            if result.kept is None:
                return None
            continue
        into = object_name(output.target)
        info = ctx.scope.table(into)
        columns = output.columns or ([c.name for c in fillable(info.columns)] if info is not None else [])
        stored = q.with_definitions(hits.definitions, rows, recursive=hits.recursive)
        result.stored = (s.Insert(n.Variable(ctx.relation_name(into)), tuple(map(fold, columns)), stored),)
    return result


def _rechecked(query: q.Select, variable: TableVariable, changed: set[str], name: str) -> q.Select:
    """Keys and CHECKs over changed columns are checked on the new array."""
    conditions: list[n.Node] = []
    new_rows = n.Name(("result", "new_rows"))
    every = n.Call("unnest", (new_rows,))
    for key in variable.info.keys:
        if not changed & {fold(column) for column in key.columns}:
            continue
        columns = n.Items(tuple(n.Name(("r", fold(column))) for column in key.columns))
        kind = "PRIMARY KEY" if key.primary else "UNIQUE KEY"
        different = n.Call("count", (n.Distinct(columns),))
        unique = q.Select(
            (n.Comparison("=", n.Call("count", (n.STAR,)), different),),
            q.Aliased(every, "r"),
            breaks=q.Breaks.NEVER,
        )
        texts = (n.Text(kind), n.Text(name), n.Text(""))
        conditions.append(n.Call("sys.unique_key", (n.Subquery(unique), *texts)))
    if changed:
        for check in variable.info.checks:
            holds = n.Call("sys.check_row", (check, n.Text(name), n.Text("UPDATE")))
            all_hold = q.Select((n.Call("bool_and", (holds,)),), q.Aliased(every, "n"), breaks=q.Breaks.NEVER)
            conditions.append(n.Is(n.Subquery(all_hold), "NOT FALSE"))
    if not conditions:
        return query
    inner = q.Aliased(n.Subquery(query), "result", ("new_rows", "row_count"))
    return q.Select((new_rows, n.Name(("result", "row_count"))), inner, where=n.all_of(conditions))
