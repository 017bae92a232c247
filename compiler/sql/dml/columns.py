"""Which columns a changing statement fills, and what follows explicit identity values."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ...catalog.names import ObjectName, fold
from ...catalog.objects import ColumnInfo, TableInfo
from ...catalog.types import SqlType
from ...target import nodes as n
from ...target import statements as s
from ..assignments import store
from ..context import Context
from ..values import Value

COLUMNS_DIFFER = "Column name or number of supplied values does not match table definition."
"""Error 213."""


def refuse_unlisted(
    values: int, info: TableInfo | None, name: ObjectName, node: exp.Expr, ctx: Context
) -> None:
    """Report more or fewer values than an INSERT without a list fills; 8101: one for the identity column."""
    columns = info.columns if info is not None else ()
    numbered = any(column.identity is not None for column in columns)
    if numbered and values == len(fillable(columns, identity=True, versions=True)):
        table = ".".join(part for part in (name.database, name.schema, name.name) if part is not None)
        ctx.problem(
            f"An explicit value for the identity column in table '{table}' can only be specified when a "
            "column list is used and IDENTITY_INSERT is ON.",
            node,
            number=8101,
        )
    else:
        ctx.problem(COLUMNS_DIFFER, node, number=213)


def refuse_count(columns: int, values: int, node: exp.Expr, ctx: Context) -> None:
    """Report more or fewer values than columns that are listed: 109 or 110."""
    more = columns > values
    ctx.problem(
        f"There are {'more' if more else 'fewer'} columns in the INSERT statement than values specified in "
        "the VALUES clause. The number of values in the VALUES clause must match the number of columns "
        "specified in the INSERT statement.",
        node,
        number=109 if more else 110,
    )


def refuse_computed(node: exp.Expr, ctx: Context) -> None:
    """Report a computed column that an INSERT or a SET clause names."""
    ctx.problem(
        f'The column "{node.name}" cannot be modified because it is either a computed column or is the '
        "result of a UNION operator.",
        node,
        number=271,
    )


def refuse_repeated(columns: Iterable[exp.Expr | None], ctx: Context) -> None:
    """Error 264: a column that the SET clause or the column list of an INSERT names twice."""
    seen: set[str] = set()
    for node in columns:
        if node is not None and fold(node.name) in seen:
            ctx.problem(
                f"The column name '{node.name}' is specified more than once in the SET clause or column list "
                "of an INSERT. A column cannot be assigned more than one value in the same clause. Modify "
                "the clause to make sure that a column is updated only once. If this statement updates or "
                "inserts columns into a view, column aliasing can conceal the duplication in your code.",
                node,
                number=264,
            )
        elif node is not None:
            seen.add(fold(node.name))


def advance_identity(name: ObjectName, table: str, ctx: Context) -> tuple[n.Node, ...]:
    """What follows an INSERT under SET IDENTITY_INSERT ON: explicit values push the identity on."""
    if not ctx.scope.identity_insert(name):
        return ()
    return (s.Effect(n.Call("sys.advance_identity", (n.Text(table),))),)


def refuse_explicit(
    columns: Iterable[ColumnInfo], name: ObjectName, table: str, ctx: Context
) -> tuple[n.Node, ...]:
    """Error 544 for an INSERT that lists an identity column.

    PostgreSQL would take the value, or name no table. A module's table may be made anew without one, as
    PostgreSQL sees.
    """
    refused = any(column.by_default or (column.identity and not ctx.scope.is_module) for column in columns)
    if ctx.scope.identity_insert(name) or not refused:
        return ()
    return (s.Effect(n.Call("ssb_internal.refuse_explicit_identity", (n.Text(table),))),)


def refuse_numbers(columns: Iterable[ColumnInfo], name: str) -> tuple[n.Node, ...]:
    """Error 544 for a list that has the identity column of a table variable, which takes no numbers."""
    if not any(column.identity is not None for column in columns):
        return ()
    told = (
        f"Cannot insert explicit value for identity column in table '{name}' when IDENTITY_INSERT is set to "
        "OFF."
    )
    return (s.Effect(n.Call("ssb_internal.raise_error", (n.Integer(544), n.Text(told)))),)


def refuse_implicit(
    listed: Iterable[str] | None, info: TableInfo | None, name: ObjectName, table: str, ctx: Context
) -> tuple[n.Node, ...]:
    """Error 545 or 8101 for an INSERT under SET IDENTITY_INSERT ON that does not list the identity column.

    ``listed``: the names of its columns; None where it has no list.
    """
    if not ctx.scope.identity_insert(name) or info is None:
        return ()
    named = None if listed is None else set(map(fold, listed))
    identity = [column for column in info.columns if column.identity is not None or column.by_default]
    if not identity or (named is not None and any(fold(column.name) in named for column in identity)):
        return ()
    refused = n.Call(
        "ssb_internal.refuse_implicit_identity", (n.Text(table), n.FALSE if named is None else n.TRUE)
    )
    return (s.Effect(refused),)


def fitted(codes: list[n.Node], types: list[SqlType | None], columns: list[ColumnInfo]) -> list[n.Node]:
    """Values for columns, converted as INSERT … SELECT does: bytes into text, numbers into tinyint."""
    return [
        store(Value(code, type_), column.type).code if type_ is not None else code
        for code, type_, column in zip(codes, types, columns, strict=True)
    ]


def fillable(
    columns: tuple[ColumnInfo, ...], *, identity: bool = False, versions: bool = False
) -> list[ColumnInfo]:
    """The columns that an INSERT without a column list fills; ``versions``: rowversions, by DEFAULT, too."""
    return [
        column
        for column in columns
        if column.computed is None
        and not column.hidden
        and (identity or column.identity is None)
        and (versions or column.type is None or column.type.name != "rowversion")
    ]
