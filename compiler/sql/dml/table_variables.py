"""INSERT, UPDATE and DELETE on table variables.

A table variable is a PL/pgSQL array of a composite type, so that it survives ROLLBACK.
One row of values without keys is appended in place; everything else is one query that
gives the new array and the row count.  What PostgreSQL checks on tables (NOT NULL, keys,
CHECK) is checked by functions in the query (statements/table_variables.sql).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....grammar.records import dataclass
from ...catalog.names import fold, identifier, literal, quote
from ...catalog.objects import ColumnInfo, TableVariable
from ...target import nodes as n
from ...target.layout import BREAK, CLOSE, OPEN, layout
from .. import values as v
from ..context import Context, Relation, object_name, undeclared_table
from ..expressions.names import condition
from ..from_items import Source
from ..interface import Query, TableVariableDml
from ..parse.dml import Change, Insert, Output
from ..query.from_clause import read_from
from ..query.row_limits import limit_of, limited
from ..values import Value
from ..writer import select, with_clause
from .columns import fillable
from .output import output_items, result_columns
from .set_clause import set_column, set_value
from .table_variable_rows import (
    default_of,
    fits,
    fitting,
    needs_query,
    new_rows,
    not_null,
    numbered,
    one_row,
    rows_into,
    typed,
)

# ---------------------------------------------------------------- INSERT


def insert_into_variable(
    statement: Insert,
    variable: TableVariable,
    columns: list[ColumnInfo],
    rows: list[list[Value]] | None,
    query: str | None,
    definitions: list[tuple[str, str]],
    recursive: bool,
    ctx: Context,
) -> TableVariableDml | None:
    """INSERT @t …"""
    name = statement.target.name
    if statement.defaults:
        rows, columns = [[]], []
    if rows is not None and len(rows) == 1 and not needs_query(variable, columns, rows[0]):
        cells = one_row(variable, columns, rows[0], name)
        appended = TableVariableDml(variable, append=f"ROW({', '.join(cells)})::{variable.row_type}")
        return _with_output(appended, statement.outputs, ctx)
    safe: set[str] = set()
    if rows is not None:
        kept = [[default_of(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows]
        if columns:
            short = {
                place for place, column in enumerate(columns) if all(fits(row[place], column) for row in kept)
            }
            safe = {fold(columns[place].name) for place in short}
            query = "VALUES " + ", ".join(
                f"({', '.join(cell.text for cell in row)})" for row in typed(kept, columns, short)
            )
        else:
            query = "SELECT"
    assert query is not None
    query = limited(query, statement.top, ctx)
    with_ = f"{with_clause(definitions, recursive=recursive)}{BREAK}" if definitions else ""
    return _with_output(new_rows(variable, name, columns, query, with_, (), safe), statement.outputs, ctx)


def _with_output(dml: TableVariableDml, outputs: list[Output], ctx: Context) -> TableVariableDml | None:
    """OUTPUT of an INSERT: the rows that stand behind all others afterwards."""
    info, rows = dml.variable.info, dml.variable.query_reference
    names = ", ".join(identifier(column.name) for column in info.columns)
    place = quote("@place")

    def added(expressions: list[str]) -> str:
        return select(
            expressions=expressions,
            from_=f"unnest({rows}) WITH ORDINALITY AS inserted ({names}, {place})",
            where=f"inserted.{place} > cardinality({rows}) - {TableVariableDml.ADDED}",
            order=f"inserted.{place}",
        )

    for output in outputs:
        if (dml.output_after if output.target is None else dml.into) is not None:
            ctx.problem("a statement has at most one OUTPUT clause and one OUTPUT … INTO", number=102)
            return None
        items = output_items(output, [Relation("inserted", info.columns)], ctx)
        if output.target is None:
            shown = [f"{item.text} AS {identifier(item.name)}" if item.name else item.text for item in items]
            dml = replace(dml, output_after=Query(layout(added(shown)), result_columns(items)))
        elif output.target.name.startswith("@"):
            kept = added([item.text for item in items])
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


def change_variable(
    change: Change, item: exp.Table | None, definitions: list[tuple[str, str]], recursive: bool, ctx: Context
) -> TableVariableDml | None:
    """UPDATE and DELETE whose target is a table variable.

    Every row meets, in a LATERAL subquery, the other relations and the WHERE condition;
    the rows that find a match are changed.
    """
    node = item if item is not None else change.target
    variable = ctx.scope.table_variable(node.name)
    if variable is None:
        undeclared_table(node.name, node, ctx)
        return None
    if any(entry.variable is not None for entry in change.sets):
        ctx.unsupported("a variable in SET of an UPDATE on a table variable", change.target)
        return None
    name = node.name
    alias = (
        fold(item.alias)
        if item is not None and item.args.get("alias") is not None
        else fold(name.lstrip("@"))
    )
    if (
        not change.sets
        and not change.outputs
        and change.top is None
        and change.source.args.get("where") is None
        and not change.source.args.get("from_")
    ):
        text = f"SELECT '{{}}'::{variable.row_type}[], cardinality({variable.query_reference})"
        return TableVariableDml(variable, replace=text)
    row = quote(alias)
    ctx.push()
    try:
        sources = read_from(change.source, ctx) if change.source.args.get("from_") is not None else []
        place = _place(sources, alias, ctx)
        if place is None:
            ctx.frame.relations.insert(0, Relation(alias, variable.info.columns))
        for relation in ctx.frame.relations:
            if relation.alias == alias:
                relation.qualify = True
        where_node = change.source.args.get("where")
        where = condition(where_node.this, ctx).text if where_node is not None else None
        values: dict[str, str] = {}
        if change.sets:
            translated = _set_values(change, variable, alias, ctx)
            if translated is None:
                return None
            values = translated
        hit = _match(sources, place, where, values)
        rows = numbered(variable, row)
        limit = limit_of(change.top, ctx, lambda: _hits(rows, hit))
        output = _Outputs()
        if change.outputs:
            exists = f"EXISTS ({_match(sources, place, where, {})})"
            found_output = _outputs(change, variable, alias, values, _Hits(rows, hit, exists, limit), ctx)
            if found_output is None:
                return None
            output = found_output
    finally:
        ctx.pop()
    names = [identifier(column.name) for column in variable.info.columns]
    found = "changed.hit"
    from_, joins = rows, [("LEFT", f"LATERAL ({hit}) AS changed", "true")]
    if limit is not None:
        # The first rows found are the chosen ones.
        picked = select(
            expressions=[
                f"{row}.*",
                *(f"changed.{identifier(c)} AS new_{n}" for n, c in enumerate(values, 1)),
                "changed.hit",
                "count(changed.hit) OVER (ORDER BY place) AS nth",
            ],
            from_=from_,
            joins=joins,
        )
        from_, joins = f"({picked}) AS {row}", []
        found = f"CASE WHEN ({row}.nth <= {limit}) IS NOT FALSE THEN {row}.hit END"
    old = f"ROW({', '.join(f'{row}.{column}' for column in names)})::{variable.row_type}"
    if change.sets:
        cells = []
        for column in variable.info.columns:
            folded = fold(column.name)
            if folded in values:
                position = list(values).index(folded) + 1
                text = f"{row}.new_{position}" if limit is not None else f"changed.{identifier(folded)}"
                cells.append(text if column.nullable else not_null(text, column, name, "UPDATE"))
            else:
                cells.append(f"{row}.{identifier(column.name)}")
        new = f"ROW({', '.join(cells)})::{variable.row_type}"
        aggregate = f"array_agg(CASE WHEN {found} THEN {new} ELSE {old} END ORDER BY {row}.place)"
    else:
        aggregate = f"array_agg({old} ORDER BY {row}.place) FILTER (WHERE {found} IS NULL)"
    text = select(expressions=[f"COALESCE({aggregate}, '{{}}')", f"count({found})"], from_=from_, joins=joins)
    text = _rechecked(text, variable, set(values), name)
    with_ = f"{with_clause(definitions, recursive=recursive)}{BREAK}" if definitions else ""
    return TableVariableDml(
        variable,
        replace=layout(f"{OPEN}{with_}{text}{CLOSE}"),
        output_before=output.shown,
        into_before=output.kept,
        before=output.stored,
    )


def _hits(rows: str, hit: str) -> str:
    """A query with a row for each one that the statement finds."""
    return select(expressions=["1"], from_=rows, joins=[("CROSS", f"LATERAL ({hit}) AS changed", None)])


def _place(sources: list[Source], alias: str, ctx: Context) -> int | None:
    for place, source in enumerate(sources):
        if source.relation is not None and source.relation.alias == alias:
            return place
    return None


def _match(sources: list[Source], place: int | None, where: str | None, values: dict[str, str]) -> str:
    """The LATERAL subquery: one row, with the new values, for a row that is to be changed."""
    expressions = ["true AS hit", *(f"{text} AS {identifier(column)}" for column, text in values.items())]
    items = list(sources)
    if place is not None:
        # The row itself comes from outside.
        if len(items) == 1:
            items = []
        else:
            items[place] = replace(items[place], text="(SELECT) AS this_row")
    return select(
        expressions=expressions,
        from_=items[0].text if items else None,
        joins=[(source.kind, source.text, source.on) for source in items[1:]],
        where=where,
        # LIMIT keeps PostgreSQL from computing the new values of rows that the condition leaves out.
        limit="1",
    )


def _set_values(change: Change, variable: TableVariable, alias: str, ctx: Context) -> dict[str, str] | None:
    values: dict[str, str] = {}
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
        values[fold(column.name)] = fitting(value.text, column, value.type)
    return values


@dataclass
class _Hits:
    """The rows that a change finds."""

    rows: str
    """All rows with their places, as an item of FROM."""
    hit: str
    """The LATERAL subquery with the new values."""
    exists: str
    limit: str | None


@dataclass
class _Outputs:
    """Where the rows of OUTPUT go: to the client, into a table variable, into a table."""

    shown: Query | None = None
    kept: TableVariableDml | None = None
    stored: tuple[str, ...] = ()


def _outputs(
    change: Change, variable: TableVariable, alias: str, values: dict[str, str], hits: _Hits, ctx: Context
) -> _Outputs | None:
    """OUTPUT of UPDATE and DELETE: the rows as they are, and as they will be, found before the change."""
    row = quote(alias)
    deleted = Relation("deleted", variable.info.columns, prefix=n.Name((alias,)))
    inserted = Relation(
        "inserted",
        variable.info.columns,
        renamed={
            name: n.Name(("changed" if name in values else alias, name))
            for name in (fold(column.name) for column in variable.info.columns)
        },
    )
    relations = [*ctx.frame.relations, deleted, *([inserted] if change.sets else [])]
    result = _Outputs()
    for output in change.outputs:
        if (result.shown if output.target is None else result.kept or result.stored or None) is not None:
            ctx.problem("a statement has at most one OUTPUT clause and one OUTPUT … INTO", number=102)
            return None
        items = output_items(output, relations, ctx)

        def found(expressions: list[str]) -> str:
            if not change.sets and hits.limit is None:
                names = [identifier(column.name) for column in variable.info.columns]
                rows = f"unnest({variable.query_reference}) AS {row} ({', '.join(names)})"
                return select(expressions=expressions, from_=rows, where=hits.exists)
            joins = [("CROSS", f"LATERAL ({hits.hit}) AS changed", None)]
            return select(
                expressions=expressions, from_=hits.rows, joins=joins, order=f"{row}.place", limit=hits.limit
            )

        if output.target is None:
            shown = [
                f"{item.text} AS {identifier(item.name)}"
                if item.name and item.text.rpartition(".")[2] != identifier(item.name)
                else item.text
                for item in items
            ]
            result.shown = Query(layout(found(shown)), result_columns(items))
            continue
        text = found([item.text for item in items])
        if output.target.name.startswith("@"):
            types = [item.value.type if item.value is not None else None for item in items]
            result.kept = rows_into(output.target, output.columns, text, types, ctx)
            if result.kept is None:
                return None
            continue
        into = object_name(output.target)
        info = ctx.scope.table(into)
        columns = output.columns or ([c.name for c in fillable(info.columns)] if info is not None else [])
        listed = f" ({', '.join(identifier(column) for column in columns)})" if columns else ""
        result.stored = (layout(f"INSERT INTO {ctx.relation_name(into)}{listed}{BREAK}{text}"),)
    return result


def _rechecked(text: str, variable: TableVariable, changed: set[str], name: str) -> str:
    """Keys and CHECKs over changed columns are checked on the new array."""
    conditions = []
    for key in variable.info.keys:
        if not changed & {fold(column) for column in key.columns}:
            continue
        columns = ", ".join(f"r.{identifier(column)}" for column in key.columns)
        kind = "PRIMARY KEY" if key.primary else "UNIQUE KEY"
        unique = f"(SELECT count(*) = count(DISTINCT ({columns})) FROM unnest(result.new_rows) AS r)"
        conditions.append(f"sys.unique_key({unique}, {literal(kind)}, {literal(name)}, '')")
    if changed:
        for check in variable.info.checks:
            conditions.append(
                f"(SELECT bool_and(sys.check_row({check}, {literal(name)}, 'UPDATE')) "
                "FROM unnest(result.new_rows) AS n) IS NOT FALSE"
            )
    if not conditions:
        return text
    inner = f"({text}) AS result (new_rows, row_count)"
    return select(
        expressions=["result.new_rows", "result.row_count"], from_=inner, where=" AND ".join(conditions)
    )
