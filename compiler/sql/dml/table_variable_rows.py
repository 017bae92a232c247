"""Rows that go into a table variable: each with its columns' defaults, types and constraints."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from ...catalog.names import fold, identifier, literal
from ...catalog.objects import ColumnInfo, KeyInfo, TableVariable
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target.layout import CLOSE, OPEN, layout
from .. import values as v
from ..context import Context, undeclared_table
from ..interface import TableVariableDml
from ..messages import COLUMNS_DIFFER
from ..values import Value
from ..writer import select
from .columns import fillable, fitted


def typed(rows: list[list[Value]], columns: list[ColumnInfo], safe: set[int]) -> list[list[Value]]:
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


def default_of(cell: Value, column: ColumnInfo) -> Value:
    """The value of a cell; DEFAULT is the column's."""
    if cell.code is not n.DEFAULT:
        return cell
    return Value(n.Written(column.default, n.OR), column.type) if column.default is not None else v.NULL


def needs_query(variable: TableVariable, columns: list[ColumnInfo], row: list[Value]) -> bool:
    """Keys, CHECKs and computed columns need the row's values more than once."""
    info = variable.info
    return bool(info.keys or info.checks or any(column.computed is not None for column in info.columns))


def one_row(variable: TableVariable, columns: list[ColumnInfo], row: list[Value], name: str) -> list[str]:
    """The cells of a new row, those of its defaults included."""
    given = {fold(column.name): default_of(cell, column) for column, cell in zip(columns, row, strict=True)}
    cells = []
    for column in variable.info.columns:
        value = given.get(fold(column.name))
        if value is None:
            cells.append(_absent(variable, column, name))
        else:
            text = value.text if fits(value, column) else fitting(value.text, column, value.type)
            cells.append(_checked(text, value, column, name))
    return cells


def fits(value: Value, column: ColumnInfo) -> bool:
    """Whether a value's text or type tells that it is not too long for a column."""
    limit = column.type.limit if column.type is not None else None
    if limit is None or value.is_null:
        return True
    return value.is_literal and len(str(value.constant)) <= limit


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
        return not_null("NULL", column, name)
    return "NULL"


def _checked(text: str, value: Value, column: ColumnInfo, name: str) -> str:
    if column.nullable or (not value.nullable and not value.is_null):
        return text
    return not_null(text, column, name)


def not_null(text: str, column: ColumnInfo, name: str, verb: str = "INSERT") -> str:
    """The value, or error 515."""
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
    return new_rows(variable, target.name, wanted, source, with_, before)


def appending_query(
    variable: TableVariable, name: str, columns: list[ColumnInfo], values: list[str], source: str
) -> str:
    """RECEIVE … INTO and INSERT … EXEC append ``SELECT values FROM source``: the new array, the row count.

    ``columns``: what the values are for; those of limited length have the unlimited type of it. Keys, CHECKs
    and lengths hold, IDENTITY and computed columns are filled.
    """
    info = variable.info
    if info.keys or info.checks or len(columns) < len(info.columns):
        made = new_rows(variable, name, columns, f"SELECT {', '.join(values)} FROM {source}", "", ()).replace
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


def new_rows(
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
            cells.append(text if column.nullable else not_null(text, column, name))
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


def numbered(variable: TableVariable, row: str) -> str:
    """The rows of a table variable with their places."""
    names = [*(identifier(column.name) for column in variable.info.columns), "place"]
    return f"unnest({variable.query_reference}) WITH ORDINALITY AS {row} ({', '.join(names)})"
