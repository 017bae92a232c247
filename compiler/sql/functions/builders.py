"""How single T-SQL functions are written in PostgreSQL: the builders that the table of functions names."""

from __future__ import annotations

from collections.abc import Callable

from ....grammar.records import dataclass, replace
from ...catalog import types as tm
from ...catalog.types import SqlType
from ...target import nodes as n
from .. import values as v
from ..assignments import assign, is_known_to_fit
from ..conversions import as_text, at_scale, convert, limit, reconcile
from ..precedence import digits
from ..values import Value


class Wrong(ValueError):
    """A call that T-SQL would refuse; the message says why, ``number`` is SQL Server's."""

    def __init__(self, message: str, number: int | None = None, hint: str | None = None) -> None:
        """Keep the parts of the problem."""
        super().__init__(message)
        self.number = number
        self.hint = hint


@dataclass(frozen=True)
class Surroundings:
    """What a function may ask.

    ``database``: the compile-time database where it is not the default one. ``stored``: the call is
    part of a computed column, in which PostgreSQL takes immutable functions only.
    """

    database: str | None = None
    stored: bool = False


Builder = Callable[[list[Value], Surroundings], Value]


# ---------------------------------------------------------------- result types


def first(arguments: list[Value]) -> SqlType | None:
    """The type of the first argument."""
    return arguments[0].type if arguments else None


def text_of_first(arguments: list[Value]) -> SqlType | None:
    """A string function keeps whether its argument is Unicode."""
    type_ = arguments[0].type
    if type_ is None or not type_.is_string:
        return tm.VARCHAR_MAX
    return tm.NVARCHAR_MAX if type_.is_unicode else tm.VARCHAR_MAX


def same_text(arguments: list[Value]) -> SqlType | None:
    """The same string type: UPPER, LTRIM, LEFT … never make a string longer."""
    type_ = arguments[0].type
    if type_ is not None and type_.is_string:
        if type_.name in ("char", "nchar"):
            return SqlType("nvarchar" if type_.is_unicode else "varchar", length=type_.length)
        return type_
    return tm.VARCHAR_MAX


def date_like(position: int, otherwise: SqlType) -> Callable[[list[Value]], SqlType | None]:
    """The type of the argument at ``position`` where it has a date or time, else ``otherwise``."""

    def result(arguments: list[Value]) -> SqlType | None:
        type_ = arguments[position].type
        if type_ is not None and (type_.is_datetime or type_.family == "time"):
            return type_
        return otherwise if type_ is not None else None

    return result


def of_last_precision(type_: SqlType) -> Callable[[list[Value]], SqlType | None]:
    """The type with as many decimals of a second as the last argument says, of TIMEFROMPARTS and its like."""

    def result(arguments: list[Value]) -> SqlType | None:
        scale = arguments[-1].constant
        return replace(type_, scale=scale) if isinstance(scale, int) and 0 <= scale <= 7 else type_

    return result


def numeric_first(arguments: list[Value]) -> SqlType | None:
    """The type of the first argument as a number: small integers become int, strings float."""
    type_ = arguments[0].type
    if type_ is None or type_.is_string:
        return tm.FLOAT if type_ else None
    if type_.name in ("bit", "tinyint", "smallint"):
        return tm.INT
    return type_


# ---------------------------------------------------------------- PostgreSQL's own where it means the same


def native(name: str, *, when: Callable[[Value], bool] | None = None, otherwise: str = "") -> Builder:
    """PostgreSQL's own function ``name`` when ``when`` holds for the first argument, else the runtime's."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        target = name if when is None or when(arguments[0]) else otherwise
        return v.call(target, *(argument.code for argument in arguments))

    return build


def edge(name: str) -> Builder:
    """FIRST_VALUE, LAST_VALUE."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        return v.call(name, v.of_known_type(arguments[0]))

    return build


def is_text(value: Value) -> bool:
    """A string."""
    return value.is_string


def is_decimal(value: Value) -> bool:
    """A number that may have a fraction."""
    return value.type is not None and value.type.family in ("decimal", "float")


def is_not_raw(value: Value) -> bool:
    """Not of a type of bytes, which PostgreSQL has no MIN of before version 18."""
    return value.type is None or value.type.family not in ("uniqueidentifier", "binary")


def left_or_right(name: str) -> Builder:
    """LEFT, RIGHT: PostgreSQL's own where the count is surely not negative."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        text, count = arguments
        if text.is_string and isinstance(count.constant, int) and count.constant >= 0:
            return v.call(name, text.code, count.code)
        return v.call(f"sys.{name}", text.code, count.code)

    return build


def substring(arguments: list[Value], surroundings: Surroundings) -> Value:
    """SUBSTRING: PostgreSQL's own where the length is surely not negative."""
    text, start, count = arguments
    # substr knows no bigint, which ROW_NUMBER() is.
    whole = start.type is not None and start.type.name in ("int", "smallint", "tinyint") and start.pg is None
    if text.is_string and whole and isinstance(count.constant, int) and count.constant >= 0:
        return v.call("substr", text.code, start.code, count.code, type=same_text(arguments))
    result = text.type if text.type is not None and text.type.family == "binary" else None
    return v.call("sys.substring", text.code, start.code, count.code, type=result or same_text(arguments))


def replicate(arguments: list[Value], surroundings: Surroundings) -> Value:
    """REPLICATE: of a string that is no (max) it gives 8,000 bytes at most."""
    text, count = arguments
    type_ = text.type
    repeated = v.call("sys.replicate", text.code, count.code, type=text_of_first(arguments))
    if type_ is None or not type_.is_string or type_.length in (None, tm.MAX):
        return repeated
    longest = 4000 if type_.is_unicode else 8000
    each = len(text.constant) if isinstance(text.constant, str) else limit(type_)
    if isinstance(count.constant, int) and each * count.constant <= longest:
        return repeated
    return v.call("left", repeated.code, n.Integer(longest), type=repeated.type)


def isnull(arguments: list[Value], surroundings: Surroundings) -> Value:
    """ISNULL: the result has the type of the first argument."""
    first, second = arguments
    nullable = first.nullable and second.nullable
    if first.is_null:
        return replace(second, nullable=nullable)
    if first.type is None:
        if second.is_null or second.type is None or isinstance(second.constant, (str, int)):
            return v.call("COALESCE", first.code, second.code, nullable=nullable)
        return v.call("sys.isnull", first.code, second.code, nullable=nullable)
    if second.type is not None and first.type.is_string and second.type.is_string:
        # The result has the first one's type: a longer replacement is cut.
        if isinstance(second.constant, str):
            second = assign(second, first.type)
        elif second.type is not None and limit(second.type) > limit(first.type):
            second = v.cast(second, first.type.postgres, first.type)
    else:
        second = _as_the_first(second, first.type)
    second = at_scale(second, first.type)
    return v.call("COALESCE", first.code, second.code, type=first.type, nullable=nullable)


def _as_the_first(value: Value, to: SqlType) -> Value:
    """Convert a value as a variable of the type would: what it cannot hold is rounded, or an error."""
    assigned = assign(value, to)
    source = value.type
    if assigned is not value or source is None or value.is_null or isinstance(value.constant, str):
        return assigned
    if to.family in ("user", "variant", "xml"):
        return value
    if source.postgres == to.postgres or is_known_to_fit(value, to):
        return value
    return convert(value, to)


def coalesce(arguments: list[Value], surroundings: Surroundings) -> Value:
    """COALESCE: the result has the type of highest precedence."""
    if all(argument.is_null and argument.type is None for argument in arguments):
        raise Wrong(
            "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.",
            4127,
        )
    values, type_ = reconcile(arguments)
    nullable = all(argument.nullable for argument in arguments)
    return v.call("COALESCE", *(value.code for value in values), type=type_, nullable=nullable)


def nullif(arguments: list[Value], surroundings: Surroundings) -> Value:
    """NULLIF: the result has the type of the first argument."""
    if arguments[0].is_null and arguments[0].type is None:
        raise Wrong(
            "The type of the first argument to NULLIF cannot be the NULL constant because the type of the "
            "first argument has to be known.",
            4151,
        )
    if any(argument.type is not None and argument.type.family == "xml" for argument in arguments):
        raise Wrong(
            "The XML data type cannot be compared or sorted, except when using the IS NULL operator.", 305
        )
    (first, second), _ = reconcile(arguments)
    if first.code == arguments[0].code:
        return v.call("NULLIF", first.code, second.code, type=first.type)
    # What was converted to be compared is not the result.
    are_equal = n.Comparison("=", first.code, second.code)
    return Value(n.Case(((are_equal, n.NULL),), default=arguments[0].code), arguments[0].type)


def choose(arguments: list[Value], surroundings: Surroundings) -> Value:
    """CHOOSE: one CASE branch each."""
    index, *choices = arguments
    if index.is_null:
        index = v.cast(index, "integer", tm.INT)
    values, type_ = reconcile(choices)
    branches = tuple((n.Integer(place), value.code) for place, value in enumerate(values, 1))
    return Value(n.Case(branches, index.code), type_)


def greatest(name: str) -> Builder:
    """GREATEST, LEAST."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        values, type_ = reconcile(arguments)
        return v.call(name, *(value.code for value in values), type=type_)

    return build


def concat(name: str) -> Builder:
    """CONCAT, CONCAT_WS: every argument as text."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        codes = []
        national = any(argument.type is not None and argument.type.is_unicode for argument in arguments)
        for argument in arguments:
            plain = argument.is_string or argument.is_null or argument.family == "integer"
            codes.append(argument.code if plain else as_text(argument, national=national).code)
        type_ = tm.NVARCHAR_MAX if national else tm.VARCHAR_MAX
        if surroundings.stored:
            # PostgreSQL's own are stable, since they ask the output function of whatever type.
            separator = codes.pop(0) if name == "concat_ws" else n.Text("")
            listed = n.Array(tuple(n.Cast(n.Paren(code), "text") for code in codes))
            return v.call("sys.concat_stored", separator, listed, type=type_, nullable=False)
        return v.call(name, *codes, type=type_, nullable=False)

    return build


def count(arguments: list[Value], surroundings: Surroundings) -> Value:
    """COUNT."""
    counted = arguments[0].code if arguments else n.STAR
    return Value(n.Call("count", (counted,)), tm.INT, pg="bigint", nullable=False)


def count_big(arguments: list[Value], surroundings: Surroundings) -> Value:
    """COUNT_BIG."""
    return v.call("count", arguments[0].code, type=tm.BIGINT, nullable=False)


_SIZES = {
    "bigint": (19, 0, 8),
    "int": (10, 0, 4),
    "smallint": (5, 0, 2),
    "tinyint": (3, 0, 1),
    "bit": (1, 0, 1),
    "money": (19, 4, 8),
    "smallmoney": (10, 4, 4),
    "float": (53, 0, 8),
    "real": (24, 0, 4),
    "date": (10, 0, 3),
    "datetime": (23, 3, 8),
    "smalldatetime": (16, 0, 4),
    "time": (16, 7, 5),
    "datetime2": (27, 7, 8),
    "datetimeoffset": (34, 7, 10),
    "uniqueidentifier": (0, 0, 16),
}
"""Precision, scale and bytes of the types that SQL_VARIANT_PROPERTY tells of."""


def sql_variant_property(arguments: list[Value], surroundings: Surroundings) -> Value:
    """SQL_VARIANT_PROPERTY; a sql_variant is the text of its value here, and so an nvarchar."""
    value, asked = arguments
    variant = value.type is None or value.type.family == "variant"
    type_ = tm.nvarchar(4000) if value.type is None or variant else value.type
    if type_.family == "decimal" and type_.name not in _SIZES:
        precision = type_.precision or 18
        size = (precision, type_.scale or 0, 5 + 4 * sum(precision > most for most in (9, 19, 28)))
    elif type_.is_string or type_.family == "binary":
        length = len(value.constant) if isinstance(value.constant, str) else type_.length or 1
        length = 128 if type_.name == "sysname" else min(max(length, 1), 8000)
        size = (0, 0, length * (1 + type_.is_unicode))
    else:
        size = _SIZES.get(type_.name, (0, 0, 0))
    base = "nvarchar" if type_.name == "sysname" else type_.name
    return v.call(
        "sys.sql_variant_property",
        convert(value, tm.NVARCHAR_MAX).code,
        asked.code,
        n.Text(base),
        *(n.integer(part) for part in size[:2]),
        n.NULL if variant else n.integer(size[2]),
        type=tm.VARIANT,
    )


def sum_(arguments: list[Value], surroundings: Surroundings) -> Value:
    """SUM: of integers an integer, where PostgreSQL's is wider: what it cannot hold is error 8115."""
    (value,) = arguments
    type_ = value.type
    if type_ is None or type_.is_string:
        if type_ is not None:
            value = convert(value, tm.FLOAT)
        return v.call("sum", value.code, type=tm.FLOAT if type_ else None)
    if type_.family in ("integer", "bit"):
        result = tm.BIGINT if type_.name == "bigint" else tm.INT
        return Value(
            n.Call("sum", (value.code,)), result, around=lambda total: n.Cast(total, result.postgres)
        )
    if type_.family == "decimal":
        if type_.name == "decimal":
            return v.call("sum", value.code, type=tm.decimal(38, type_.scale or 0))
        return v.call("sum", value.code, type=tm.MONEY)
    if type_.name == "real":
        inner = _of_operand(value.code, lambda code: n.Cast(code, tm.FLOAT.postgres), wanted=True)
        return v.call("sum", inner, type=tm.FLOAT)
    return v.call("sum", value.code, type=type_)


def avg(arguments: list[Value], surroundings: Surroundings) -> Value:
    """AVG of integers is an integer, cut; of decimals it has at least six places."""
    (value,) = arguments
    type_ = value.type
    if type_ is None:
        return v.call("sys.avg", value.code)
    if type_.family in ("integer", "bit"):
        result = tm.BIGINT if type_.name == "bigint" else tm.INT
        inner = _of_operand(value.code, lambda code: n.Cast(code, "integer"), type_.name == "bit")
        return Value(
            n.Call("avg", (inner,)),
            result,
            around=lambda average: n.Cast(n.Call("trunc", (average,)), result.postgres),
        )
    if type_.family == "decimal":
        scale = 4 if type_.name != "decimal" else max(type_.scale or 0, 6)
        result = tm.MONEY if type_.name != "decimal" else tm.decimal(38, scale)
        precision, places = digits(type_)
        # More digits than PostgreSQL gives a quotient by itself; 10 for the number of rows.
        inner = _of_operand(
            value.code,
            lambda code: n.Call("round", (code, n.Integer(scale + 10))),
            precision - places + scale > 16,
        )
        return Value(
            n.Call("avg", (inner,)),
            result,
            around=lambda average: n.Call("trunc", (average, n.Integer(scale))),
        )
    return v.call("avg", value.code, type=tm.FLOAT if type_.name == "real" else type_)


def _of_operand(code: n.Node, change: Callable[[n.Node], n.Node], wanted: bool) -> n.Node:
    """An aggregate's argument, changed where that is ``wanted``: DISTINCT stays in front of it."""
    if not wanted:
        return code
    return n.Distinct(change(code.operand)) if isinstance(code, n.Distinct) else change(code)


def float_aggregate(name: str) -> Builder:
    """STDEV, VAR and their like."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        return v.call(name, arguments[0].code, type=tm.FLOAT)

    return build


def string_agg(arguments: list[Value], surroundings: Surroundings) -> Value:
    """STRING_AGG."""
    value, separator = arguments
    return v.call("string_agg", as_text(value).code, separator.code, type=text_of_first(arguments))


def ceiling(name: str, native: str) -> Builder:
    """CEILING, FLOOR: the result keeps the type of the argument."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        (value,) = arguments
        if value.type is not None and value.type.family == "integer":
            return value
        if value.type is not None and value.type.family == "decimal":
            type_ = value.type
            if type_.name != "decimal":
                return v.cast(v.call(native, value.code), type_.postgres, type_)
            return v.call(native, value.code, type=tm.decimal(type_.precision or 18, 0))
        if value.type is not None and value.type.family == "float":
            return v.call(native, value.code, type=value.type)
        return v.call(f"sys.{name}", value.code, type=numeric_first(arguments))

    return build


def abs_(arguments: list[Value], surroundings: Surroundings) -> Value:
    """ABS."""
    (value,) = arguments
    if value.family == "bit":
        value = convert(value, tm.FLOAT)
    return v.call("abs", value.code, type=value.type)


def round_(arguments: list[Value], surroundings: Surroundings) -> Value:
    """ROUND. Of a decimal in its own type: 8115 where another digit is carried into it."""
    type_ = numeric_first(arguments)
    rounded = n.Call("sys.round", tuple(argument.code for argument in arguments))
    if type_ is None or type_.family != "decimal" or type_.precision is None:
        return Value(rounded, type_)
    to = arguments[1].code
    keeps = (isinstance(to, n.Integer) and to.value >= (type_.scale or 0)) or len(arguments) > 2
    return Value(rounded if keeps else n.Cast(rounded, type_.postgres), type_)


def trigonometric(name: str) -> Builder:
    """SIN, COS and their like: float in, float out."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        return v.call(name, *(argument.code for argument in arguments), type=tm.FLOAT)

    return build


def angle(name: str) -> Builder:
    """DEGREES, RADIANS: of a whole number a whole number, cut; else a float."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        (value,) = arguments
        if value.type is not None and value.type.family == "integer":
            turned = n.Call(name, (n.Cast(value.code, "double precision"),))
            type_ = tm.BIGINT if value.type.name == "bigint" else tm.INT
            return Value(n.Cast(n.Call("trunc", (turned,)), type_.postgres), type_)
        if value.type is None:
            value = v.cast(value, "double precision")
        elif value.family != "float":
            value = convert(value, tm.FLOAT)
        return v.call(name, value.code, type=tm.FLOAT)

    return build


def datalength(arguments: list[Value], surroundings: Surroundings) -> Value:
    """DATALENGTH: two bytes for each Unicode character."""
    value = v.kept_blanks(arguments[0])
    if value.type is not None and value.type.is_unicode:
        return v.call("sys.datalength_utf16", value.code, type=tm.INT)
    return v.call("sys.datalength", value.code, type=tm.INT)


def variadic_text(name: str) -> Builder:
    """CHECKSUM, BINARY_CHECKSUM: every argument as text."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        return v.call(name, *(as_text(argument).code for argument in arguments), type=tm.INT)

    return build


def date_bucket(arguments: list[Value], surroundings: Surroundings) -> Value:
    """DATE_BUCKET, of a time as one of 1900-01-01, of a datetimeoffset by its moment."""
    part, number, *moments = arguments
    type_ = moments[0].type
    codes = [one.code if type_ is None else convert(one, type_).code for one in moments]
    if type_ is not None and type_.family == "time":
        codes = [convert(one, tm.DATETIME2).code for one in moments]
    elif type_ is not None and type_.family == "datetimeoffset":
        codes = [_at_utc(code) for code in codes]
    bucket = n.Call("sys.date_bucket", (part.code, number.code, *codes))
    if type_ is not None and type_.family == "datetimeoffset":
        return v.cast(Value(_at_utc(bucket)), type_.postgres, type_)
    if type_ is not None and type_.family == "time":
        return convert(Value(bucket, tm.DATETIME2), type_)
    return Value(bucket, type_)


def _at_utc(code: n.Node) -> n.Node:
    return n.Call("timezone", (n.Text("UTC"), code))


def formatmessage(arguments: list[Value], surroundings: Surroundings) -> Value:
    """FORMATMESSAGE: of a text or of a message number."""
    first, *rest = arguments
    if first.type is not None and first.type.name == "bigint":
        first = convert(first, tm.INT)
    texts: list[n.Node] = [first.code, *(as_text(argument).code for argument in rest)]
    target = "sys.formatmessage"
    if first.type is not None and first.type.family == "integer":
        target = "sys.formatmessage_of"
    if not rest:
        texts.append(n.Variadic(n.Cast(n.Text("{}"), "text[]")))
    return v.call(target, *texts, type=tm.nvarchar(2048))


def db_name(arguments: list[Value], surroundings: Surroundings) -> Value:
    """DB_NAME of the compile-time database."""
    if not arguments and surroundings.database:
        here = n.Call("sys.db_id", (n.Text(surroundings.database),))
        return v.call("sys.db_name", here, type=tm.SYSNAME)
    return v.call("sys.db_name", *(argument.code for argument in arguments), type=tm.SYSNAME)


def db_id(arguments: list[Value], surroundings: Surroundings) -> Value:
    """DB_ID of the compile-time database."""
    if not arguments and surroundings.database:
        return v.call("sys.db_id", n.Text(surroundings.database), type=tm.INT)
    return v.call("sys.db_id", *(argument.code for argument in arguments), type=tm.INT)


def object_id(arguments: list[Value], surroundings: Surroundings) -> Value:
    """OBJECT_ID: names without a database belong to the compile-time one."""
    codes: list[n.Node] = [argument.code for argument in arguments]
    if surroundings.database:
        codes += [n.NULL] * (2 - len(codes))
        codes.append(n.Text(surroundings.database))
    return v.call("sys.object_id", *codes, type=tm.INT)


def dateadd(arguments: list[Value], surroundings: Surroundings) -> Value:
    """DATEADD: the number is cut to an integer; a date that its type cannot hold is error 517."""
    part, number, date = arguments
    if number.type is not None and number.type.family not in ("integer", "float", "bit"):
        number = convert(number, tm.INT)
    result = date_like(2, tm.DATETIME)(arguments)
    added = v.call("sys.dateadd", part.code, number.code, date.code, type=result)
    if result is not None and result.name != "time":
        added = v.call("sys.dateadd_within", added.code, n.Text(result.name), type=result)
    fine = part.constant in ("millisecond", "microsecond", "nanosecond")
    if (fine or part.constant == "second") and result is not None and result.name == "smalldatetime":
        return convert(replace(added, type=tm.DATETIME), tm.SMALLDATETIME)
    if fine and result is not None and result.name == "datetime":
        return v.call("sys.round_datetime", added.code, type=result)
    return added


def identity(arguments: list[Value], surroundings: Surroundings) -> Value:
    """SCOPE_IDENTITY, @@IDENTITY."""
    return v.call("sys.scope_identity", type=tm.decimal(38, 0))


def rank(name: str, type_: SqlType) -> Builder:
    """ROW_NUMBER, RANK and their like."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        return v.call(name, *(argument.code for argument in arguments), type=type_, nullable=False)

    return build


def with_default(value: Value, default: Value) -> tuple[Value, Value]:
    """The value of LAG or LEAD, and what stands for it where there is none: that is of the value's type."""
    if value.type is None or value.is_null or value.is_string or default.is_null:
        (value, default), _ = reconcile([value, default])
        return value, default
    return value, convert(default, value.type)


def lag(name: str) -> Builder:
    """LAG, LEAD."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        texts = [argument.code for argument in arguments]
        if len(arguments) == 3:
            value, default = with_default(arguments[0], arguments[2])
            texts[0], texts[2] = v.of_known_type(value), default.code
        else:
            texts[0] = v.of_known_type(arguments[0])
        return v.call(name, *texts, type=arguments[0].type)

    return build


def log(arguments: list[Value], surroundings: Surroundings) -> Value:
    """LOG."""
    return v.call("sys.log", *(argument.code for argument in arguments), type=tm.FLOAT)


def trim_set(native: str) -> Builder:
    """LTRIM, RTRIM, with or without the characters to take off."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        if arguments[0].is_string or len(arguments) == 2:
            return v.call(native, as_text(arguments[0]).code, *(argument.code for argument in arguments[1:]))
        return v.call(f"sys.{native}", arguments[0].code)

    return build
