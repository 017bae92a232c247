"""INSERT, UPDATE and DELETE on table variables.

A table variable is a PL/pgSQL array of a composite type, so that it survives ROLLBACK.
One row of values without keys is appended in place; everything else is one query that
gives the new array and the row count.  What PostgreSQL checks on tables (NOT NULL, keys,
CHECK) is checked by functions in the query (160_table_variables.sql).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlglot import exp

from . import ordinary_sql_values as v
from .names import fold, identifier, literal, quote
from .ordinary_sql_context import Context, Relation, object_name, undeclared_table
from .ordinary_sql_dml_tools import COLUMNS_DIFFER
from .ordinary_sql_expressions import condition
from .ordinary_sql_interface import ColumnInfo, KeyInfo, Query, TableVariable, TableVariableDml
from .ordinary_sql_layout import BREAK, CLOSE, OPEN, layout
from .ordinary_sql_output import fillable, fitted, output_items, result_columns
from .ordinary_sql_relations import read_from
from .ordinary_sql_set import set_column, set_value
from .ordinary_sql_sources import Source
from .ordinary_sql_statements import Change, Insert, Output
from .ordinary_sql_top import limit_of, limited
from .ordinary_sql_values import Value
from .ordinary_sql_writing import select, with_clause
from .type_map import SqlType

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
    if rows is not None and len(rows) == 1 and not _needs_query(variable, columns, rows[0]):
        cells = _one_row(variable, columns, rows[0], name)
        appended = TableVariableDml(variable, append=f"ROW({', '.join(cells)})::{variable.row_type}")
        return _with_output(appended, statement.outputs, ctx)
    safe: set[str] = set()
    if rows is not None:
        kept = [[_default(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows]
        if columns:
            short = {
                place
                for place, column in enumerate(columns)
                if all(_fits(row[place], column) for row in kept)
            }
            safe = {fold(columns[place].name) for place in short}
            query = "VALUES " + ", ".join(
                f"({', '.join(cell.text for cell in row)})" for row in _typed(kept, columns, short)
            )
        else:
            query = "SELECT"
    assert query is not None
    query = limited(query, statement.top, ctx)
    with_ = f"{with_clause(definitions, recursive=recursive)}{BREAK}" if definitions else ""
    return _with_output(_rows(variable, name, columns, query, with_, (), safe), statement.outputs, ctx)


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
        items = output_items(output, [Relation("inserted", info.columns, prefix="inserted")], ctx)
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


def _typed(rows: list[list[Value]], columns: list[ColumnInfo], safe: set[int]) -> list[list[Value]]:
    """The first row's cells carry the columns' types, which VALUES would otherwise guess."""
    if not rows:
        return rows  # they do not fit, which is reported
    first = [
        _cast(cell, column.type if place in safe else column.type.unlimited)
        if column.type is not None and (cell.is_null or cell.is_literal or cell.type is None)
        else cell
        for place, (cell, column) in enumerate(zip(rows[0], columns, strict=True))
    ]
    return [first, *rows[1:]]


def _cast(cell: Value, type_: SqlType) -> Value:
    return v.cast(cell, type_.postgres, type_)


def _default(cell: Value, column: ColumnInfo) -> Value:
    if cell.text != "DEFAULT":
        return cell
    return Value(column.default, v.OR, column.type) if column.default is not None else v.NULL


def _needs_query(variable: TableVariable, columns: list[ColumnInfo], row: list[Value]) -> bool:
    """Keys, CHECKs and computed columns need the row's values more than once."""
    info = variable.info
    return bool(info.keys or info.checks or any(column.computed is not None for column in info.columns))


def _one_row(variable: TableVariable, columns: list[ColumnInfo], row: list[Value], name: str) -> list[str]:
    given = {fold(column.name): _default(cell, column) for column, cell in zip(columns, row, strict=True)}
    cells = []
    for column in variable.info.columns:
        value = given.get(fold(column.name))
        if value is None:
            cells.append(_absent(variable, column, name))
        else:
            text = value.text if _fits(value, column) else fitting(value.text, column, value.type)
            cells.append(_checked(text, value, column, name))
    return cells


def _fits(value: Value, column: ColumnInfo) -> bool:
    """Whether a value's text or type tells that it is not too long for a column."""
    limit = column.type.limit if column.type is not None else None
    if limit is None or value.is_null:
        return True
    return value.is_literal and len(value.text) - 2 <= limit


def fitting(text: str, column: ColumnInfo, source: SqlType | None = None) -> str:
    """A value for a column of limited length: ROW(…)::type would cut off what is too long.

    ``source``: the value's type, where it is known.
    """
    limit = column.type.limit if column.type is not None else None
    if column.type is None or limit is None:
        return text
    if source is not None and source.family == column.type.family:
        if source.limit is not None and source.limit <= limit:
            return text
        return f"sys.fitting({text}, {limit})"
    return f"sys.fitting(({text})::{column.type.unlimited.postgres}, {limit})"


def _absent(variable: TableVariable, column: ColumnInfo, name: str) -> str:
    """The value of a column that the INSERT does not name."""
    if column.identity is not None:
        seed, increment = column.identity
        rows = variable.query_reference
        last = f"({rows})[cardinality({rows})].{identifier(column.name)}"
        return f"COALESCE({last} + {increment}, {seed})"
    if column.default is not None:
        return column.default
    if not column.nullable:
        return _not_null("NULL", column, name)
    return "NULL"


def _checked(text: str, value: Value, column: ColumnInfo, name: str) -> str:
    if column.nullable or (not value.nullable and not value.is_null):
        return text
    return _not_null(text, column, name)


def _not_null(text: str, column: ColumnInfo, name: str, verb: str = "INSERT") -> str:
    if text == "NULL":
        text = f"NULL::{column.type.postgres if column.type is not None else 'text'}"
    arguments = [text, literal(column.name), literal(name)]
    if verb != "INSERT":
        arguments.append(literal(verb))
    return f"sys.not_null({', '.join(arguments)})"


def rows_into(
    target: exp.Table,
    columns: list[str],
    source: str,
    types: list[SqlType | None],
    ctx: Context,
    *,
    with_: str = "",
    before: tuple[str, ...] = (),
) -> TableVariableDml | None:
    """Append the rows of query ``source`` to a table variable (OUTPUT … INTO @t, RECEIVE … INTO @t)."""
    variable = ctx.scope.table_variable(target.name)
    if variable is None:
        undeclared_table(target.name, target, ctx)
        return None
    if columns:
        wanted = [_column(variable, name) or ColumnInfo(name, None) for name in columns]
    else:
        wanted = fillable(variable.info.columns)
    if len(wanted) != len(types):
        ctx.problem(COLUMNS_DIFFER, target, number=213)
        return None
    names = [f"given.c{place}" for place in range(1, len(types) + 1)]
    values = fitted(names, types, wanted)
    if values != names:
        head = ", ".join(name.removeprefix("given.") for name in names)
        source = f"SELECT {', '.join(values)} FROM ({source}) AS given ({head})"
    return _rows(variable, target.name, wanted, source, with_, before)


def appending_query(
    variable: TableVariable, name: str, columns: list[ColumnInfo], values: list[str], source: str
) -> str:
    """RECEIVE … INTO and INSERT … EXEC append ``SELECT values FROM source``: the new array, the row count.

    ``columns``: what the values are for; those of limited length have the unlimited type of it. Keys, CHECKs
    and lengths hold, IDENTITY and computed columns are filled.
    """
    info = variable.info
    if info.keys or info.checks or len(columns) < len(info.columns):
        made = _rows(variable, name, columns, f"SELECT {', '.join(values)} FROM {source}", "", ()).replace
        assert made is not None
        return made
    # array_agg over no row is NULL, and NULL joins to an array as nothing.
    row = ", ".join(
        fitting(value, column, column.type.unlimited if column.type is not None else None)
        for value, column in zip(values, columns, strict=True)
    )
    return (
        f"SELECT {variable.query_reference} || array_agg(ROW({row})::{variable.row_type}), count(*)"
        f" FROM {source}"
    )


def _column(variable: TableVariable, name: str) -> ColumnInfo | None:
    return next((column for column in variable.info.columns if fold(column.name) == fold(name)), None)


def _rows(
    variable: TableVariable,
    name: str,
    columns: list[ColumnInfo],
    source: str,
    with_: str,
    before: tuple[str, ...],
    safe: Collection[str] = (),
) -> TableVariableDml:
    """The array with the rows of ``source`` behind its own; ``safe``: columns whose values fit."""
    info = variable.info
    given = [identifier(column.name) for column in columns]
    names = {fold(column.name) for column in columns}
    counted = {fold(c.name) for c in info.columns if c.identity is not None} - names
    # The numbers that IDENTITY gives are new ones: such a key needs no look at the old rows.
    keys = [key for key in info.keys if counted.isdisjoint(fold(column) for column in key.columns)]
    looked_at = {fold(column) for key in keys for column in key.columns}
    computes = any(column.computed is not None for column in info.columns)
    cells: list[str] = []
    filled: list[str] = []
    computed: list[str] = []
    for column in info.columns:
        name_of = identifier(column.name)
        spelled = f"n.{name_of}"
        if fold(column.name) in names:
            text = spelled if fold(column.name) in safe else fitting(spelled, column)
            cells.append(text if column.nullable else _not_null(text, column, name))
            continue
        if column.computed is not None:
            computed.append(f"({column.computed}) AS {name_of}")
            cells.append(spelled)
            continue
        value = (
            _identity(variable, column) if column.identity is not None else _absent(variable, column, name)
        )
        if computes or info.checks or fold(column.name) in looked_at:
            # Used more than once: written into the row first.
            if value == "NULL" and column.type is not None:
                value = f"NULL::{column.type.postgres}"
            filled.append(f"({value}) AS {name_of}")
            value = spelled
        cells.append(value)
    head = f"n ({', '.join(given)})" if given else "n"
    inner = f"({source}) AS {head}"
    if not (keys or counted or computes or info.checks):
        aggregate = f"array_agg(ROW({', '.join(cells)})::{variable.row_type})"
        text = select(expressions=[f"{variable.query_reference} || {aggregate}", "count(*)"], from_=inner)
        return TableVariableDml(variable, replace=layout(f"{OPEN}{with_}{text}{CLOSE}"), before=before)
    # The place first: windows over keys would change the order of the rows.
    inner = f"({select(expressions=['n.*', 'row_number() OVER () AS place'], from_=inner)}) AS n"
    for added in (filled, computed):
        if added:
            inner = f"({select(expressions=['n.*', *added], from_=inner)}) AS n"
    if keys:
        numbered = ["n.*"]
        for number, key in enumerate(keys, 1):
            partition = ", ".join(f"n.{identifier(column)}" for column in key.columns)
            numbered.append(f"row_number() OVER (PARTITION BY {partition} ORDER BY n.place) AS nth_{number}")
        inner = f"({select(expressions=numbered, from_=inner)}) AS n"
    joins = []
    conditions = []
    for number, key in enumerate(keys, 1):
        joins.append(("LEFT", _existing(variable, key, number), _same_key(variable, key, number)))
        conditions.append(_unique(variable, key, number, name))
    for check in info.checks:
        conditions.append(f"sys.check_row({check}, {literal(name)})")
    aggregate = f"array_agg(ROW({', '.join(cells)})::{variable.row_type} ORDER BY n.place)"
    text = select(
        expressions=[f"{variable.query_reference} || {aggregate}", "count(*)"],
        from_=inner,
        joins=joins,
        where=" AND ".join(conditions) or None,
    )
    return TableVariableDml(variable, replace=layout(f"{OPEN}{with_}{text}{CLOSE}"), before=before)


def _identity(variable: TableVariable, column: ColumnInfo) -> str:
    seed, increment = column.identity or (1, 1)
    rows = variable.query_reference
    last = f"({rows})[cardinality({rows})].{identifier(column.name)}"
    step = "n.place" if increment == 1 else f"n.place * {increment}"
    return f"COALESCE({last}, {seed - increment}) + {step}"


def _existing(variable: TableVariable, key: KeyInfo, number: int) -> str:
    columns = ", ".join(identifier(column) for column in key.columns)
    inner = f"SELECT {columns}, true AS found FROM unnest({variable.query_reference}) AS r"
    return f"({inner}) AS old_{number}"


def _same_key(variable: TableVariable, key: KeyInfo, number: int) -> str:
    parts = []
    for name in key.columns:
        column = _column(variable, name)
        nullable = column is None or column.nullable
        operator = "IS NOT DISTINCT FROM" if nullable and not key.primary else "="
        parts.append(f"old_{number}.{identifier(name)} {operator} n.{identifier(name)}")
    return " AND ".join(parts)


def _unique(variable: TableVariable, key: KeyInfo, number: int, name: str) -> str:
    fresh = f"n.nth_{number} = 1 AND old_{number}.found IS NULL"
    if key.ignore_dup_key:
        return f"sys.ignore_duplicate_key({fresh})"
    kind = "PRIMARY KEY" if key.primary else "UNIQUE KEY"
    values = ", ', ', ".join(f"n.{identifier(column)}" for column in key.columns)
    return f"sys.unique_key({fresh}, {literal(kind)}, {literal(name)}, concat({values}))"


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
        rows = _numbered(variable, row)
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
                cells.append(text if column.nullable else _not_null(text, column, name, "UPDATE"))
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


def _numbered(variable: TableVariable, row: str) -> str:
    """The rows of a table variable with their places."""
    names = [*(identifier(column.name) for column in variable.info.columns), "place"]
    return f"unnest({variable.query_reference}) WITH ORDINALITY AS {row} ({', '.join(names)})"


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
        if value.text == "DEFAULT":
            value = _default(value, column)
        if value.is_null or value.is_literal:
            type_ = column.type if _fits(value, column) else column.type.unlimited
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
    deleted = Relation("deleted", variable.info.columns, prefix=row)
    inserted = Relation(
        "inserted",
        variable.info.columns,
        renamed={
            fold(
                column.name
            ): f"{'changed' if fold(column.name) in values else row}.{identifier(column.name)}"
            for column in variable.info.columns
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
