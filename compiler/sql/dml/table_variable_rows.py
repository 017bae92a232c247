"""Rows that go into a table variable: each with its columns' defaults, types and constraints."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo, KeyInfo, TableVariable
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..assignments import store
from ..context import Context, changed_table_variable
from ..conversions import convert
from ..interface import TableVariableDml
from ..query.from_clause import PLACE
from ..values import Value
from .columns import COLUMNS_DIFFER, fillable, fitted, refuse_numbers


def typed(rows: list[list[Value]], columns: list[ColumnInfo], known_to_fit: set[int]) -> list[list[Value]]:
    """The first row's cells carry the columns' types, which VALUES would otherwise guess."""
    if not rows:
        return rows  # they do not fit, which is reported
    first = [
        _cast(cell, column.type if place in known_to_fit else column.type.unlimited)
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
    if is_rowversion(column):
        return Value(NEXT_ROWVERSION, column.type)
    return Value(column.default, column.type) if column.default is not None else v.NULL


def needs_query(variable: TableVariable) -> bool:
    """Tell whether a row's values are needed by CHECKs and computed columns, or a duplicate is left out."""
    info = variable.info
    left_out = any(key.ignore_dup_key for key in _keys_to_look_at(variable))
    return bool(left_out or info.checks or any(column.computed is not None for column in info.columns))


def _keys_to_look_at(variable: TableVariable) -> list[KeyInfo]:
    """The keys of a new row that has its number from IDENTITY: those numbers are new ones."""
    counted = {fold(variable.identity.name)} if variable.identity is not None else set()
    return [key for key in variable.info.keys if counted.isdisjoint(map(fold, key.columns))]


def uniqueness_of_row(variable: TableVariable, name: str) -> tuple[n.Node, ...]:
    """For each key: whether no row has that of TableVariableDml.NEW_ROW, else error 2627."""
    every = q.Aliased(n.Call("unnest", (n.Variable(variable.query_reference),)), "r")
    conditions: list[n.Node] = []
    for key in _keys_to_look_at(variable):
        columns = [fold(column) for column in key.columns]
        new = [n.Member(TableVariableDml.NEW_ROW, column) for column in columns]
        same = n.all_of(
            [
                _same_value(variable, key, column, n.Name(("r", column)), value)
                for column, value in zip(columns, new, strict=True)
            ]
        )
        found = n.Exists(n.Subquery(q.Select((), every, where=same, breaks=q.Breaks.NEVER)))
        conditions.append(_unique_key(variable, key, n.Not(found), name, new))
    return tuple(conditions)


def row_of(variable: TableVariable, cells: list[n.Node]) -> n.Node:
    """``ROW(…)`` of the type of the variable's rows."""
    return n.Cast(n.Call("ROW", tuple(cells)), variable.row_type)


def one_row(variable: TableVariable, columns: list[ColumnInfo], row: list[Value], name: str) -> list[n.Node]:
    """The cells of a new row, those of its defaults included."""
    given = {fold(column.name): default_of(cell, column) for column, cell in zip(columns, row, strict=True)}
    cells: list[n.Node] = []
    for column in variable.info.columns:
        value = given.get(fold(column.name))
        if value is None and column.identity is not None and variable.counter is not None:
            cells.append(n.Variable(variable.counter))  # it has just been drawn
        elif value is None:
            cells.append(_absent(variable, column, name))
        else:
            code = value.code if fits(value, column) else fitting(value.code, column, value.type)
            cells.append(_checked(code, value, column, name))
    return cells


def fits(value: Value, column: ColumnInfo) -> bool:
    """Whether a value's tree or type tells that it is not too long for a column."""
    limit = column.type.limit if column.type is not None else None
    if limit is None or value.is_null:
        return True
    return value.is_literal and len(str(value.constant)) <= limit


def fitting(code: n.Node, column: ColumnInfo, source: SqlType | None = None) -> n.Node:
    """A value for a column of limited length: ROW(…)::type would cut off what is too long.

    ``source``: the value's type, where it is known.
    """
    limit = column.type.limit if column.type is not None else None
    if column.type is None or limit is None:
        return code
    if source is not None and source.family == column.type.family:
        if source.limit is not None and source.limit <= limit:
            return code
        return n.Call("sys.fitting", (code, n.Integer(limit)))
    unlimited = n.Cast(n.Paren(code), column.type.unlimited.postgres)
    return n.Call("sys.fitting", (unlimited, n.Integer(limit)))


def last_value(variable: TableVariable, column: ColumnInfo) -> n.Node:
    """The value of a column in the last row that is there."""
    rows = n.Variable(variable.query_reference)
    return n.Member(n.Element(n.Paren(rows), n.Call("cardinality", (rows,))), fold(column.name))


def last_number(variable: TableVariable, column: ColumnInfo) -> n.Node:
    """The number that IDENTITY gave last; NULL before the first."""
    last = last_value(variable, column)
    if variable.counter is None:
        return last
    _, increment = column.identity or (1, 1)
    label = variable.query_reference.removesuffix(variable.reference)
    # Of a row that is gone, or of the last one that is there.
    return n.Call("GREATEST" if increment > 0 else "LEAST", (n.Variable(label + variable.counter), last))


def next_number(variable: TableVariable, column: ColumnInfo) -> n.Node:
    """The number that IDENTITY gives next."""
    seed, increment = column.identity or (1, 1)
    following = n.Sum("+", last_number(variable, column), n.integer(increment))
    return n.Call("COALESCE", (following, n.integer(seed)))


def _absent(variable: TableVariable, column: ColumnInfo, name: str) -> n.Node:
    """The value of a column that the INSERT does not name."""
    if column.identity is not None:
        return next_number(variable, column)
    if is_rowversion(column):
        return NEXT_ROWVERSION
    if column.default is not None:
        return column.default
    if not column.nullable:
        return not_null(n.NULL, column, name)
    return n.NULL


NEXT_ROWVERSION = n.Call("int8send", (n.Call("nextval", (n.Text("sys.rowversion_numbers"),)),))
"""What a changed row has in a rowversion column; a table has a trigger for it."""


def is_rowversion(column: ColumnInfo) -> bool:
    """Tell whether each change of a row gives the column a new number."""
    return column.type is not None and column.type.name == "rowversion"


def _checked(code: n.Node, value: Value, column: ColumnInfo, name: str) -> n.Node:
    if column.nullable or (not value.nullable and not value.is_null):
        return code
    return not_null(code, column, name)


def not_null(code: n.Node, column: ColumnInfo, name: str, verb: str = "INSERT") -> n.Node:
    """The value, or error 515."""
    if isinstance(code, n.Null):
        code = n.Cast(code, column.type.postgres if column.type is not None else "text")
    verbs = (n.Text(verb),) if verb != "INSERT" else ()
    return n.Call("sys.not_null", (code, n.Text(column.name), n.Text(name), *verbs))


def rows_into(
    target: exp.Table,
    columns: list[str],
    source: n.Node,
    types: list[SqlType | None],
    ctx: Context,
    *,
    definitions: Sequence[q.Definition] = (),
    recursive: bool = False,
    before: tuple[n.Node, ...] = (),
) -> TableVariableDml | None:
    """Append the rows of query ``source`` to a table variable (OUTPUT … INTO @t, RECEIVE … INTO @t)."""
    variable = changed_table_variable(target.name, target, ctx)
    if variable is None:
        return None
    if columns:
        wanted = [_column(variable, name) or ColumnInfo(name, None) for name in columns]
    else:
        wanted = fillable(variable.info.columns)
    if len(wanted) != len(types):
        ctx.problem(COLUMNS_DIFFER, target, number=213)
        return None
    if columns:
        before = (*refuse_numbers(wanted, target.name), *before)
    labels = tuple(f"c{place}" for place in range(1, len(types) + 1))
    names: list[n.Node] = [n.Name(("given", label)) for label in labels]
    values = fitted(names, types, wanted)
    if values != names:
        given = q.Aliased(n.Subquery(source), "given", labels)
        source = q.Select(tuple(values), given, breaks=q.Breaks.NEVER)
    checked = {
        fold(column.name)
        for column, type_ in zip(wanted, types, strict=True)
        if type_ is not None and column.type is not None and column.type.family == type_.family == "binary"
    }
    return new_rows(
        variable,
        target.name,
        wanted,
        source,
        definitions,
        recursive=recursive,
        before=before,
        known_to_fit=checked,
    )


def appending_query(
    variable: TableVariable,
    name: str,
    columns: list[ColumnInfo],
    values: list[n.Node],
    source: n.Node,
    never_null: Collection[int] = (),
) -> n.Node:
    """RECEIVE … INTO and INSERT … EXEC append ``SELECT values FROM source``: the new array, the row count.

    ``columns``: what the values are for; those of limited length have the unlimited type of it. Keys, CHECKs,
    NOT NULL and lengths hold, IDENTITY and computed columns are filled. ``never_null``: the places of values
    that are never NULL.
    """
    info = variable.info
    values = [_padded(value, column) for value, column in zip(values, columns, strict=True)]
    if info.keys or info.checks or len(columns) < len(info.columns):
        rows = q.Select(tuple(values), source, breaks=q.Breaks.NEVER)
        made = new_rows(variable, name, columns, rows).replace
        assert made is not None
        return made
    cells: list[n.Node] = []
    for place, (value, column) in enumerate(zip(values, columns, strict=True)):
        cell = fitting(value, column, column.type.unlimited if column.type is not None else None)
        if not column.nullable and place not in never_null:
            if cell is value and column.type is not None:
                # A literal by itself has no type that the function could take.
                cell = n.Cast(n.Paren(value), column.type.unlimited.postgres)
            cell = not_null(cell, column, name)
        cells.append(cell)
    # array_agg over no row is NULL, and NULL joins to an array as nothing.
    return q.Select(_appended(variable, cells), source, breaks=q.Breaks.NEVER)


def _padded(code: n.Node, column: ColumnInfo) -> n.Node:
    """Bytes for a column of type binary(n): zeros fill it up."""
    if column.type is None or column.type.name != "binary":
        return code
    return store(Value(code, column.type.unlimited), column.type).code


def _appended(
    variable: TableVariable, cells: list[n.Node], order: tuple[n.OrderItem, ...] = ()
) -> tuple[n.Node, ...]:
    """The array with a query's rows behind its own, and their number."""
    added = n.Call("array_agg", (row_of(variable, cells),), order)
    return n.joined(n.Variable(variable.query_reference), added), n.Call("count", (n.STAR,))


def _column(variable: TableVariable, name: str) -> ColumnInfo | None:
    return next((column for column in variable.info.columns if fold(column.name) == fold(name)), None)


def new_rows(
    variable: TableVariable,
    name: str,
    columns: list[ColumnInfo],
    source: n.Node,
    definitions: Sequence[q.Definition] = (),
    *,
    recursive: bool = False,
    before: tuple[n.Node, ...] = (),
    known_to_fit: Collection[str] = (),
) -> TableVariableDml:
    """The array with the rows of ``source`` behind its own; ``known_to_fit``: columns whose values fit."""
    info = variable.info
    given = tuple(fold(column.name) for column in columns)
    names = {fold(column.name) for column in columns}
    counted = {fold(c.name) for c in info.columns if c.identity is not None} - names
    # The numbers that IDENTITY gives are new ones: such a key needs no look at the old rows.
    keys = [key for key in info.keys if counted.isdisjoint(fold(column) for column in key.columns)]
    looked_at = {fold(column) for key in keys for column in key.columns}
    computes = any(column.computed is not None for column in info.columns)
    cells: list[n.Node] = []
    filled: list[n.Node] = []
    computed: list[n.Node] = []
    for column in info.columns:
        label = fold(column.name)
        own = n.Name(("n", label))
        if label in names:
            code = own if label in known_to_fit else fitting(own, column)
            cells.append(code if column.nullable else not_null(code, column, name))
            continue
        if column.computed is not None:
            computed.append(q.Labelled(n.Paren(column.computed), label))
            cells.append(own)
            continue
        value = (
            _identity(variable, column) if column.identity is not None else _absent(variable, column, name)
        )
        if computes or info.checks or label in looked_at:
            # Used more than once: written into the row first.
            if isinstance(value, n.Null) and column.type is not None:
                value = n.Cast(value, column.type.postgres)
            filled.append(q.Labelled(n.Paren(value), label))
            value = own
        cells.append(value)
    inner = q.Aliased(n.Subquery(source), "n", given)

    def made(query: q.Select) -> TableVariableDml:
        code = q.with_definitions(definitions, query, recursive=recursive)
        return TableVariableDml(variable, replace=code, before=before)

    if not (keys or counted or computes or info.checks):
        return made(q.Select(_appended(variable, cells), inner))
    # The place first: windows over keys would change the order of the rows.
    inner = _widened(inner, [q.Labelled(n.Over(n.Call("row_number")), PLACE)])
    for added in (filled, computed):
        if added:
            inner = _widened(inner, added)
    by_place = (n.OrderItem(_PLACE),)
    if keys:
        numbered: list[n.Node] = []
        for number, key in enumerate(keys, 1):
            partition = tuple(n.Name(("n", fold(column))) for column in key.columns)
            nth = n.Over(n.Call("row_number"), partition, by_place)
            numbered.append(q.Labelled(nth, f"nth_{number}"))
        inner = _widened(inner, numbered)
    joins: list[q.Join] = []
    conditions: list[n.Node] = []
    for number, key in enumerate(keys, 1):
        joins.append(q.Join("LEFT", _existing(variable, key, number), _same_key(variable, key, number)))
        conditions.append(_unique(variable, key, number, name))
    for check in info.checks:
        conditions.append(n.Call("sys.check_row", (check, n.Text(name))))
    return made(q.Select(_appended(variable, cells, by_place), inner, tuple(joins), n.all_of(conditions)))


_PLACE = n.Name(("n", PLACE))


def _widened(rows: n.Node, added: list[n.Node]) -> q.Aliased:
    """The rows, which are called n, with further columns."""
    return q.Aliased(n.Subquery(q.Select((n.Every(n.Name(("n",))), *added), rows)), "n")


def _identity(variable: TableVariable, column: ColumnInfo) -> n.Node:
    seed, increment = column.identity or (1, 1)
    last = n.Call("COALESCE", (last_number(variable, column), n.integer(seed - increment)))
    return n.Sum("+", last, _PLACE if increment == 1 else n.Product("*", _PLACE, n.integer(increment)))


def _existing(variable: TableVariable, key: KeyInfo, number: int) -> n.Node:
    columns = (*(n.Name((fold(column),)) for column in key.columns), q.Labelled(n.TRUE, "found"))
    rows = q.Aliased(n.Call("unnest", (n.Variable(variable.query_reference),)), "r")
    return q.Aliased(n.Subquery(q.Select(columns, rows, breaks=q.Breaks.NEVER)), f"old_{number}")


def _same_key(variable: TableVariable, key: KeyInfo, number: int) -> n.Node | None:
    return n.all_of(
        [
            _same_value(variable, key, name, n.Name((f"old_{number}", name)), n.Name(("n", name)))
            for name in map(fold, key.columns)
        ]
    )


def _same_value(variable: TableVariable, key: KeyInfo, name: str, old: n.Node, new: n.Node) -> n.Node:
    """Compare two values of a key's column; one of several rows may have NULL in a UNIQUE one."""
    column = _column(variable, name)
    nullable = column is None or column.nullable
    if nullable and not key.primary:
        return n.IsDistinct(old, new, negated=True)
    return n.Comparison("=", old, new)


def _unique(variable: TableVariable, key: KeyInfo, number: int, name: str) -> n.Node:
    first = n.Comparison("=", n.Name(("n", f"nth_{number}")), n.Integer(1))
    fresh = n.AllOf((first, n.IsNull(n.Name((f"old_{number}", "found")))))
    if key.ignore_dup_key:
        # A query of its own is computed once: the statement's moment tells it from others.
        statement = n.Subquery(q.Select((n.Call("clock_timestamp"),)))
        return n.Call("sys.ignore_duplicate_key", (fresh, statement))
    return _unique_key(variable, key, fresh, name, [n.Name(("n", fold(column))) for column in key.columns])


def _unique_key(
    variable: TableVariable, key: KeyInfo, fresh: n.Node, name: str, values: Sequence[n.Node]
) -> n.Node:
    """True where ``fresh`` is, else error 2627 of the key with these values."""
    told: list[n.Node] = []
    for label, value in zip(key.columns, values, strict=True):
        column = _column(variable, fold(label))
        told += ([n.Text(", ")] if told else []) + [_shown(value, column, key)]
    kind = "PRIMARY KEY" if key.primary else "UNIQUE KEY"
    return n.Call("sys.unique_key", (fresh, n.Text(kind), n.Text(name), n.Call("concat", tuple(told))))


def _shown(value: n.Node, column: ColumnInfo | None, key: KeyInfo) -> n.Node:
    """A value of a key as error 2627 tells it, of a table (ssb_internal.shown_key), too."""
    if column is None or column.type is None:
        return value
    if column.type.name in ("datetime", "smalldatetime"):
        value = convert(Value(value, column.type), tm.varchar(30)).code
    elif column.type.family == "binary":
        value = n.joined(n.Text("0x"), n.Call("upper", (n.Call("encode", (value, n.Text("hex"))),)))
    elif column.type.name in ("money", "smallmoney"):
        value = n.Call("round", (value, n.Integer(2)))
    if not column.nullable or key.primary:
        return value
    return n.Call("COALESCE", (n.Cast(n.Paren(value), "text"), n.Text("<NULL>")))
