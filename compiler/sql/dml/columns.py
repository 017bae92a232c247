"""Which columns a changing statement fills, and what follows explicit identity values."""

from __future__ import annotations

from ...catalog.names import ObjectName, literal
from ...catalog.objects import ColumnInfo
from ...catalog.types import SqlType
from ...target import nodes as n
from ..assignments import assign
from ..context import Context
from ..interface import EffectCall
from ..values import Value


def advance_identity(name: ObjectName, table: str, ctx: Context) -> tuple[str, ...]:
    """What follows an INSERT under SET IDENTITY_INSERT ON: explicit values push the identity on."""
    if not ctx.scope.identity_insert(name):
        return ()
    return (EffectCall(f"sys.advance_identity({literal(table)})"),)


def fitted(texts: list[str], types: list[SqlType | None], columns: list[ColumnInfo]) -> list[str]:
    """Values for columns of another kind, converted: bytes into text and xml, dates into text."""
    return [
        assign(Value(n.Written(text), type_), column.type).text
        if type_ is not None and column.type is not None and type_.family != column.type.family
        else text
        for text, type_, column in zip(texts, types, columns, strict=True)
    ]


def fillable(columns: tuple[ColumnInfo, ...], *, identity: bool = False) -> list[ColumnInfo]:
    """The columns that an INSERT without a column list fills."""
    return [
        column
        for column in columns
        if column.computed is None
        and not column.hidden
        and (identity or column.identity is None)
        and not (column.type is not None and column.type.name == "rowversion")
    ]
