"""One item of SET in UPDATE and MERGE: the column it changes and its new value."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo, TableInfo
from ...target import nodes as n
from .. import values as v
from ..assignments import store
from ..context import Context, object_name
from ..conversions import convert
from ..expressions.calls import xml_binding, xml_literals
from ..expressions.names import scalar
from ..functions import builtin
from ..functions.xml_methods import xml_modify
from ..parse.dml import SetItem
from ..parse.nodes import NextValue, is_default
from ..query.assignment import operand_of
from ..values import Value
from .columns import refuse_computed


def set_column(node: exp.Expr, info: TableInfo | None, ctx: Context) -> ColumnInfo:
    """The column that an item of SET changes."""
    for column in info.columns if info is not None else ():
        if fold(column.name) == fold(node.name):
            if column.computed is not None:
                refuse_computed(node, ctx)
            if column.type is not None and column.type.name == "rowversion":
                ctx.problem("Cannot update a timestamp column.", node, number=272)
            if column.identity is not None:
                ctx.problem(f"Cannot update identity column '{node.name}'.", node, number=8102)
            return column
    return ColumnInfo(node.name, None)


def share_next_values(values: Iterable[tuple[str, exp.Expr]], info: TableInfo | None, ctx: Context) -> None:
    """All that one row asks of a sequence is one value, drawn where PostgreSQL comes to it first.

    ``values``: the name of each column, and what it becomes; PostgreSQL takes them in the table's order.
    """
    columns = info.columns if info is not None else ()
    places = {fold(column.name): place for place, column in enumerate(columns)}
    drawn: set[str] = set()
    for _, value in sorted(values, key=lambda pair: places.get(fold(pair[0]), 0)):
        for asked in value.find_all(NextValue, bfs=False):
            name = ctx.relation_name(object_name(asked.this))
            asked.meta["again"] = name in drawn
            drawn.add(name)


def set_value(item: SetItem, column: ColumnInfo, ctx: Context, target: str | None = None) -> Value:
    """The new value of a column: ``=``, ``+=`` …, DEFAULT, .modify().

    ``target``: the folded name by which FROM knows the changed table.  What an operator or method
    changes is its column, whatever else in FROM has one of that name.
    """
    assert item.column is not None
    if item.method == "modify":
        assert isinstance(item.value, exp.Anonymous)
        call = item.value
        literals = xml_literals(call, ctx)
        if not literals:
            return v.INVALID
        node = (
            item.column
            if isinstance(item.column, exp.Column)
            else exp.Column(this=exp.to_identifier(item.column.name))
        )
        try:
            return xml_modify(
                scalar(_own(node, ctx, target), ctx),
                literals[0],
                ctx.namespaces,
                lambda kind, name: xml_binding(kind, name, call, ctx),
            )
        except builtin.Wrong as error:
            return ctx.problem(str(error), call, number=error.number)
    if item.method == "write":
        return _written(item, column, ctx, target)
    if item.method is not None:
        return ctx.unsupported(f"the method '{item.method}' in SET", item.value)
    if is_default(item.value):
        return Value(n.DEFAULT)
    if column.generated:
        return ctx.problem(
            f"Cannot update GENERATED ALWAYS columns in table '{target or column.name}'.",
            item.value,
            number=13537,
        )
    value = item.value
    if item.operator != "=":
        value = operand_of(item.operator, _own(item.column.copy(), ctx, target), value)
    aggregates = ctx.frame.aggregates
    result = scalar(value, ctx)
    if ctx.frame.aggregates > aggregates:
        ctx.problem("An aggregate may not appear in the set list of an UPDATE statement.", value, number=157)
    return store(ctx.implicitly(result, column.type, value), column.type)


def _own(node: exp.Expr, ctx: Context, target: str | None) -> exp.Expr:
    """The changed table's column, with its name in front where several tables are in scope."""
    if isinstance(node, exp.Identifier):
        node = exp.Column(this=node.copy())
    bare = isinstance(node, exp.Column) and node.args.get("table") is None
    if target is None or not bare or len(ctx.frame.relations) < 2:
        return node
    return exp.Column(this=node.this.copy(), table=exp.to_identifier(target, quoted=True))


def _written(item: SetItem, column: ColumnInfo, ctx: Context, target: str | None) -> Value:
    """``column.WRITE(piece, @offset, @length)``: a part of a text or binary value replaced."""
    assert item.column is not None
    call = item.value
    if not isinstance(call, exp.Anonymous) or len(call.expressions) != 3:
        return ctx.problem("The write function requires 3 argument(s).", call, number=174)
    if column.type is not None and column.type.length != tm.MAX:
        return ctx.problem(
            f"Cannot call methods on {column.type.name}.",
            call,
            number=258,
            hint="WRITE needs varchar(max), nvarchar(max) or varbinary(max)",
        )
    current = scalar(_own(item.column, ctx, target), ctx)
    piece, *places = [scalar(argument, ctx) for argument in call.expressions]
    if column.type is not None:
        piece = convert(piece, column.type)
    numbers = [convert(place, tm.BIGINT).code for place in places]
    return v.call("sys.write", current.code, piece.code, *numbers, type=column.type)
