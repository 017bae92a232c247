"""LEFT_SHIFT, RIGHT_SHIFT, BIT_COUNT, GET_BIT, SET_BIT, and the operators << and >>.

The runtime takes integers as bigint and is told their width (runtime_sql/functions/numbers/bits.sql); binary
values have overloads of their own.
"""

from __future__ import annotations

from ....grammar.records import replace
from ...catalog import types as tm
from ...target import nodes as n
from .. import values as v
from ..conversions import convert
from ..values import Value
from .builders import Builder, Surroundings, Wrong

_WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def _operand(name: str, value: Value) -> tuple[Value, list[n.Node]]:
    """The value as the runtime takes it, and its width as a further argument (none of a binary value)."""
    if value.family == "binary":
        return value, []
    if value.type is None and not value.is_null:
        return value, [n.Call("sys.bit_width", (value.code,))]
    if value.family not in ("integer", "bit", "null"):
        kind = value.type.name if value.type is not None else "NULL"
        raise Wrong(f"Argument data type {kind} is invalid for argument 1 of {name} function.", 8116)
    if value.type is None or value.type.name not in _WIDTHS:
        value = convert(value, tm.INT)
    assert value.type is not None
    return value, [n.Integer(_WIDTHS[value.type.name])]


def _as_first(value: Value, call: Value) -> Value:
    """The result in the type of the first argument."""
    if value.family == "binary" or value.type is None:
        return replace(call, type=value.type)
    return v.cast(call, value.type.postgres, value.type)


def shift(name: str) -> Builder:
    """LEFT_SHIFT, RIGHT_SHIFT: logical; a negative amount shifts the other way."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        value, width = _operand(name, arguments[0])
        amount = arguments[1]
        by = amount.code if name == "left_shift" else n.Minus(amount.code)
        return _as_first(value, v.call("sys.shift", value.code, by, *width))

    return build


def bit_count(arguments: list[Value], surroundings: Surroundings) -> Value:
    """BIT_COUNT: of a negative number as many as its type has."""
    value, width = _operand("bit_count", arguments[0])
    return v.call("sys.bit_count", value.code, *width, type=tm.BIGINT)


def get_bit(arguments: list[Value], surroundings: Surroundings) -> Value:
    """GET_BIT."""
    value, width = _operand("get_bit", arguments[0])
    return v.cast(v.call("sys.get_bit", value.code, arguments[1].code, *width), tm.BIT.postgres, tm.BIT)


def set_bit(arguments: list[Value], surroundings: Surroundings) -> Value:
    """SET_BIT: to 1 unless the third argument says otherwise."""
    value, width = _operand("set_bit", arguments[0])
    bit = arguments[2].code if len(arguments) == 3 else n.Integer(1)
    return _as_first(value, v.call("sys.set_bit", value.code, arguments[1].code, *width, bit))
