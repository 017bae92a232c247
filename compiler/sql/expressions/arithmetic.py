"""Arithmetic and joining of strings, with T-SQL's result types."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import replace
from ...catalog import types as tm
from ...target import nodes as n
from .. import values as v
from ..assignments import assign
from ..constant_texts import is_numeric_text
from ..context import Context
from ..conversions import as_text, convert, limit
from ..dispatch import handles
from ..operand_types import arithmetic_error, written
from ..precedence import common_of_types, common_type, digits
from ..values import Value
from .conditions import flatten
from .names import computed_late, scalar


@handles(exp.Neg)
def _negative(node: exp.Neg, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    if isinstance(value.code, n.Integer):
        return v.integer(-value.code.value)
    if value.is_null:
        return value
    if value.type is not None and value.family not in ("integer", "decimal", "float", "unknown", "user"):
        return ctx.problem(
            f"Operand data type {written(value)} is invalid for minus operator.", node, number=8117
        )
    is_tiny = value.type is not None and value.type.name == "tinyint"  # which has no negative numbers
    return Value(n.Minus(value.code), tm.SMALLINT if is_tiny else value.type, pg=value.pg)


@handles(exp.BitwiseNot)
def _bitwise_not(node: exp.BitwiseNot, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    if value.family == "bit":
        return Value(n.Sum("-", n.Integer(1), value.code), tm.BIT)
    if value.type == tm.TINYINT:
        return Value(n.Sum("-", n.Integer(255), value.code), tm.TINYINT)
    if value.is_null or value.family not in ("integer", "unknown", "user"):
        name = "NULL" if value.is_null else written(value)
        return ctx.problem(f"Operand data type {name} is invalid for '~' operator.", node, number=8117)
    return Value(n.Complement(value.code), value.type)


@handles(exp.Add)
def _add(node: exp.Add, ctx: Context) -> Value:
    operands = flatten(node, exp.Add)
    result = scalar(operands[0], ctx)
    for operand in operands[1:]:
        result = _plus(result, scalar(operand, ctx), ctx, node)
    return result


def _counted(left: Value, right: Value) -> tuple[Value, Value]:
    """A binary value beside a number is the number that its bytes are."""
    a, b = left.type, right.type
    if a is not None and b is not None:
        if a.is_numeric and b.family == "binary":
            return left, convert(right, tm.BIGINT if a.name == "bigint" else tm.INT)
        if b.is_numeric and a.family == "binary":
            return convert(left, tm.BIGINT if b.name == "bigint" else tm.INT), right
    return left, right


def _plus(left: Value, right: Value, ctx: Context, node: exp.Expr | None = None) -> Value:
    left, right = _counted(left, right)
    a, b = left.type, right.type
    if left.is_null or right.is_null:
        return _plus_null(left, right)
    if a is not None and b is not None:
        if a.is_string and b.is_string:
            return _concatenate(left, right)
        error = arithmetic_error("+", left, right)
        if error is not None:
            return ctx.problem(error[1], node, number=error[0])
        if "uniqueidentifier" in (a.family, b.family):
            return _clash("add", a, b, ctx, node)
        if a.family == b.family == "binary":
            return Value(n.joined(left.code, right.code), _joined_bytes(a, b))
        if a.is_numeric and b.is_numeric:
            return _computed_late("+", left, right, node, ctx)
        if a.is_string and b.is_numeric:
            return _numeric("+", _number_of(left, b), right)
        if a.is_numeric and b.is_string:
            return _numeric("+", left, _number_of(right, a))
        if a.is_datetime or b.is_datetime:
            return v.call("sys.add", left.code, right.code, type=_moment(a, b))
        return v.call("sys.add", left.code, right.code)
    # One type is for the server to know.  Text that is no number can only be joined.
    if any(_is_text_only(value) for value in (left, right)):
        return Value(n.joined(left.code, right.code), tm.NVARCHAR_MAX, joined=True)
    return v.call("sys.add", left.code, right.code)


def _clash(operator: str, a: tm.SqlType, b: tm.SqlType, ctx: Context, node: exp.Expr | None = None) -> Value:
    """A uniqueidentifier takes no arithmetic."""
    if a.is_numeric or b.is_numeric:
        first, second = (a, b) if b.is_numeric else (b, a)
        return ctx.problem(f"Operand type clash: {first.name} is incompatible with {second.name}", number=206)
    return ctx.problem(
        f"The data types {a.name} and {b.name} are incompatible in the {operator} operator.", node, number=402
    )


def _is_text_only(value: Value) -> bool:
    """Text that could not be meant as a number."""
    return value.joined or (isinstance(value.constant, str) and not is_numeric_text(value.constant))


def _plus_null(left: Value, right: Value) -> Value:
    known = left.type or right.type
    if known is not None and known.is_string:
        return Value(n.joined(left.code, right.code), known)
    if known is None or known.is_numeric:
        return _numeric("+", left, right)
    return replace(v.NULL, type=known)


def _concatenate(left: Value, right: Value) -> Value:
    type_ = _joined_type(left, right)
    return Value(
        n.joined(v.kept_blanks(left).code, v.kept_blanks(right).code),
        type_,
        nullable=left.nullable or right.nullable,
        joined=_is_text_only(left) or _is_text_only(right),
    )


def _joined_bytes(a: tm.SqlType, b: tm.SqlType) -> tm.SqlType:
    if None in (a.length, b.length) or tm.MAX in (a.length, b.length):
        return tm.VARBINARY_MAX
    return tm.SqlType("varbinary", length=min((a.length or 1) + (b.length or 1), 8000))


def _joined_type(left: Value, right: Value) -> tm.SqlType:
    assert left.type is not None and right.type is not None
    make = tm.nvarchar if left.type.is_unicode or right.type.is_unicode else tm.varchar
    total = limit(left.type) + limit(right.type)
    if tm.MAX in (left.type.length, right.type.length):
        return make(10**9)
    return make(min(total, 4000 if make is tm.nvarchar else 8000))


def _moment(a: tm.SqlType, b: tm.SqlType) -> tm.SqlType:
    return a if a.is_datetime else b


def _number_of(text: Value, other: tm.SqlType) -> Value:
    """A string beside a number becomes that number's type."""
    return assign(text, other) if not isinstance(text.constant, str) else convert(text, other)


_ARITHMETIC: dict[type, str] = {exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}


@handles(*_ARITHMETIC)
def _arithmetic(node: exp.Binary, ctx: Context) -> Value:
    operator = _ARITHMETIC[type(node)]
    left, right = _counted(scalar(node.this, ctx), scalar(node.expression, ctx))
    a, b = left.type, right.type
    error = arithmetic_error(operator, left, right)
    if error is not None:
        return ctx.problem(error[1], node, number=error[0])
    if a is not None and b is not None and "uniqueidentifier" in (a.family, b.family):
        return _clash(_OPERATOR_NAMES[operator], a, b, ctx, node)
    if operator == "-":
        if (a is not None and a.is_datetime) or (b is not None and b.is_datetime):
            moment = tm.DATETIME if a is None or b is None else _moment(a, b)
            return v.call("sys.subtract", left.code, right.code, type=moment)
        if (a is None and not left.is_null) or (b is None and not right.is_null):
            return v.call("sys.subtract", left.code, right.code)
    if a is not None and a.is_string:
        left = _number_of(left, b if b is not None and b.is_numeric else tm.INT)
    if b is not None and b.is_string:
        right = _number_of(right, a if a is not None and a.is_numeric else tm.INT)
    return _computed_late(operator, left, right, node, ctx)


def _computed_late(operator: str, left: Value, right: Value, node: exp.Expr | None, ctx: Context) -> Value:
    """Arithmetic that fails where it is reached alone: a division by zero, constants that are too large."""
    value = _numeric(operator, left, right)
    a, b = left.constant, right.constant
    if node is None:
        return value
    if operator in "/%":
        return computed_late(value, right, fails=b == 0, node=node, ctx=ctx)
    if isinstance(a, int) and isinstance(b, int) and value.type == tm.INT:
        result = {"+": a + b, "-": a - b, "*": a * b}[operator]
        if not -(2**31) <= result < 2**31:
            return computed_late(value, right, fails=True, node=node, ctx=ctx)
    return value


_OPERATOR_NAMES = {"-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}


def _numeric(operator: str, left: Value, right: Value) -> Value:
    """Arithmetic on numbers with T-SQL's result type; decimal division is cut to its scale."""
    left, right = _beyond_int(_int_if_null(left)), _beyond_int(_int_if_null(right))
    a, b = left.type, right.type
    if a is not None and b is not None and "real" in (a.name, b.name) and "float" not in (a.name, b.name):
        left, right = (v.cast(one, "real", tm.REAL) for one in (left, right))
    code = n.infix(operator, left.code, right.code)
    if a is None or b is None:
        known = a or b
        return Value(code, known if known is not None and known.family == "float" else None)
    type_ = _arithmetic_type(operator, left, right)
    pg = (
        "bigint"
        if "bigint" in (left.pg, right.pg)
        else ("numeric" if "numeric" in (left.pg, right.pg) else None)
    )
    if pg is not None and type_.name not in ("int", "bigint"):
        pg = None
    if type_ == tm.SMALLMONEY and operator != "%":
        result = code if operator != "/" else _cut_quotient(left, right, type_).code
        return v.call("sys.money_of", result, n.Text("smallmoney"), n.Text("expression"), type=type_)
    if operator == "*" and {a.name, b.name} <= {"money", "smallmoney"}:
        return v.call("round", code, n.Integer(4), type=type_)
    if operator == "/" and type_.family == "decimal" and not (left.is_null or right.is_null):
        return _cut_quotient(left, right, type_)
    if type_.name == "decimal" and _decimal_digits(operator, left, right)[0] > _MOST_DIGITS:
        # PostgreSQL would keep every digit: here the last ones go, or it is error 8115.
        return v.cast(Value(code, type_), type_.postgres, type_)
    if type_ == tm.TINYINT:
        # As integers: in PostgreSQL the product of two may pass smallint.
        whole = n.infix(operator, v.cast(left, "integer").code, right.code)
        return v.call("sys.tinyint_result", whole, type=type_)
    return Value(code, type_, pg=pg)


def _decimal_digits(operator: str, left: Value, right: Value) -> tuple[int, int]:
    """Precision and scale of a decimal result before it is cut to the digits that a decimal has at most."""
    assert left.type is not None and right.type is not None
    (p1, s1), (p2, s2) = digits(left.type, left.constant), digits(right.type, right.constant)
    if operator in "+-":
        scale = max(s1, s2)
        return max(p1 - s1, p2 - s2) + scale + 1, scale
    if operator == "*":
        return p1 + p2 + 1, s1 + s2
    if operator == "/":
        scale = max(6, s1 + p2 + 1)
        return p1 - s1 + s2 + scale, scale
    scale = max(s1, s2)
    return min(p1 - s1, p2 - s2) + scale, scale


def _int_if_null(value: Value) -> Value:
    """NULL by itself is an int in arithmetic."""
    return v.cast(value, tm.INT.postgres, tm.INT) if value.is_null and value.type is None else value


def _beyond_int(value: Value) -> Value:
    """A whole literal beyond int is a decimal in T-SQL, where PostgreSQL would make it a bigint."""
    if isinstance(value.constant, int) and value.type is not None and value.type.name == "decimal":
        # Its type has just its digits, so nothing is lost with the literal.
        return v.cast(value, "numeric")
    return value


def _cut_quotient(left: Value, right: Value, type_: tm.SqlType) -> Value:
    """A decimal quotient, cut to the scale of its type.

    PostgreSQL rounds a quotient to 16 significant digits, or to the places of the dividend if these are more.
    Where that may not do, the dividend gets the places of the result, and as many more as the divisor has
    digits: then nothing is rounded up to what is kept.
    """
    assert left.type is not None and right.type is not None
    scale = 4 if type_.name != "decimal" else type_.scale or 0
    precision, places = digits(left.type, left.constant)
    divisor, divisor_places = digits(right.type, right.constant)
    dividend = left.code
    if precision - places + divisor_places + scale + divisor > 16:
        dividend = n.Call("round", (dividend, n.Integer(scale + divisor)))
    return v.call("trunc", n.Product("/", dividend, right.code), n.Integer(scale), type=type_)


def _arithmetic_type(operator: str, left: Value, right: Value) -> tm.SqlType:
    a, b = left.type, right.type
    assert a is not None and b is not None
    if "float" in (a.family, b.family):
        return tm.FLOAT if "float" in (a.name, b.name) else tm.REAL
    if a.family in ("integer", "bit") and b.family in ("integer", "bit"):
        common = common_of_types([a, b]) or tm.INT
        return common if common.name != "bit" else tm.BIT
    if {a.name, b.name} <= {"money", "smallmoney", "int", "bigint", "smallint", "tinyint", "bit"}:
        return tm.MONEY if "money" in (a.name, b.name) else tm.SMALLMONEY
    precision, scale = _decimal_digits(operator, left, right)
    if operator in "+-" and precision > _MOST_DIGITS:
        # The digit of a carry gives way before a decimal does.
        whole = precision - scale - 1
        return tm.decimal(_MOST_DIGITS, min(scale, _MOST_DIGITS - whole))
    return tm.decimal(precision, scale)


_MOST_DIGITS = 38
"""The precision that a decimal has at most."""

_BITWISE: dict[type, str] = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "#"}


@handles(*_BITWISE)
def _bitwise(node: exp.Binary, ctx: Context) -> Value:
    left, right = scalar(node.this, ctx), scalar(node.expression, ctx)
    if left.family == "binary" and right.type is not None and right.type.is_numeric:
        left = convert(left, right.type)
    elif right.family == "binary" and left.type is not None and left.type.is_numeric:
        right = convert(right, left.type)
    type_ = common_type([left, right])
    return Value(n.Infix(_BITWISE[type(node)], left.code, right.code), type_)


@handles(exp.BitwiseLeftShift, exp.BitwiseRightShift)
def _shift(node: exp.Binary, ctx: Context) -> Value:
    name = "LEFT_SHIFT" if isinstance(node, exp.BitwiseLeftShift) else "RIGHT_SHIFT"
    return scalar(exp.Anonymous(this=name, expressions=[node.this, node.expression]), ctx)


@handles(exp.DPipe)
def _joined(node: exp.DPipe, ctx: Context) -> Value:
    """``||`` of SQL Server 2025 joins and never adds."""
    left, right = (
        side if side.family == "binary" or side.is_null else as_text(side)
        for side in (scalar(node.this, ctx), scalar(node.expression, ctx))
    )
    return _plus(left, right, ctx, node)
