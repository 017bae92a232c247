"""Which types an operator, an aggregate or a CAST takes: what T-SQL refuses before anything runs.

Each function gives the number and the text of SQL Server's error, or None where the types will do.
A type that only the server knows is not judged here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog.types import MAX, SqlType
from ..target import nodes as n
from .values import Value

__all__ = [
    "aggregate_error",
    "argument_error",
    "arithmetic_error",
    "conversion_error",
    "date_part_error",
    "implicit_error",
    "written",
]

Error = tuple[int, str]

_NAMES = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
_OF_2008 = frozenset({"date", "time", "datetime2", "datetimeoffset"})
"""The date types of SQL Server 2008: unlike datetime they take no arithmetic."""


def written(value: Value) -> str:
    """The name of a value's type as messages have it: a literal with a point is a numeric."""
    assert value.type is not None
    name = value.type.name
    return "numeric" if name == "decimal" and isinstance(value.code, n.Number | n.Integer) else name


def _invalid(name: str, operator: str) -> Error:
    return 8117, f"Operand data type {name} is invalid for {operator} operator."


def _incompatible(a: str, b: str, operator: str) -> Error:
    return 402, f"The data types {a} and {b} are incompatible in the {operator} operator."


def arithmetic_error(operator: str, left: Value, right: Value) -> Error | None:
    """What ``left operator right`` raises for its types alone."""
    a, b = left.type, right.type
    if a is None or b is None or "user" in (a.family, b.family):
        return None
    first, second = written(left), written(right)
    name = _NAMES[operator]
    if a.family == b.family == "bit":
        return _invalid(first, name) if operator in "*/" else _incompatible(first, second, name)
    if operator == "%" and a.family == b.family == "float":
        return _invalid(first, name)
    if operator == "%" and "float" in (a.family, b.family) and "uniqueidentifier" not in (a.family, b.family):
        return _incompatible(first, second, name)
    if operator == "+" and {a.family, b.family} == {"string", "binary"} and (a.is_unicode or b.is_unicode):
        return _incompatible(first, second, name)
    if a.is_string and b.is_string and operator != "+":
        if operator == "%" or a.name != b.name:
            return _incompatible(first, second, name)
        return _invalid(first, name)
    if "xml" in (a.family, b.family):
        return _incompatible(first, second, name)
    if a.name in _OF_2008 or b.name in _OF_2008:
        if a.is_numeric or b.is_numeric:
            return 206, f"Operand type clash: {first} is incompatible with {second}"
        return _invalid(first, name) if a.name == b.name else _incompatible(first, second, name)
    if operator in "*/%" and "datetime" in (a.family, b.family):
        if a.name == b.name:
            return _invalid(first, name)
        if a.is_numeric or b.is_numeric:
            moment, other = (first, second) if a.family == "datetime" else (second, first)
            return (
                257,
                f"Implicit conversion from data type {moment} to {other} is not allowed. "
                "Use the CONVERT function to run this query.",
            )
    return None


_ADDING = frozenset({"sum", "avg", "stdev", "stdevp", "var", "varp"})
_NO_SUM = frozenset({"string", "bit", "datetime", "uniqueidentifier", "binary", "xml", "variant"})


def aggregate_error(name: str, value: Value) -> Error | None:
    """What the aggregate ``name`` (any case) raises for the type of its argument alone."""
    lower = name.lower()
    type_ = value.type
    if type_ is None:
        return _invalid("NULL", lower) if value.is_null and lower in _ADDING else None
    if lower in _ADDING and (type_.family in _NO_SUM or type_.name in _OF_2008):
        return _invalid(written(value), lower)
    if lower in ("min", "max") and type_.family in ("bit", "xml"):
        return _invalid(written(value), lower)
    if isinstance(value.code, n.Distinct) and type_.family == "xml":
        return _invalid(written(value), lower)
    return None


_NUMBERS = frozenset({"integer", "bit", "decimal", "float"})
_FAMILIES_WITHOUT: dict[str, frozenset[str]] = {
    **dict.fromkeys(_NUMBERS, frozenset({"date", "time", "datetimeoffset", "uniqueidentifier", "xml"})),
    "date": frozenset({"time", "uniqueidentifier", "xml"}) | _NUMBERS,
    "time": frozenset({"date", "uniqueidentifier", "xml"}) | _NUMBERS,
    "datetime": frozenset({"uniqueidentifier", "xml"}),
    "datetimeoffset": frozenset({"uniqueidentifier", "xml"}) | _NUMBERS,
    "uniqueidentifier": frozenset({"date", "time", "datetime", "datetimeoffset", "xml"}) | _NUMBERS,
    "xml": frozenset({"date", "time", "datetime", "datetimeoffset", "uniqueidentifier", "variant"})
    | _NUMBERS,
    "binary": frozenset({"float"}),
}
"""By the family of the source: those that it is never converted to."""
_OLD_TEXTS = frozenset({"text", "ntext"})


def conversion_error(value: Value, to: SqlType) -> Error | None:
    """What CAST, CONVERT and their TRY_ forms raise where there is no conversion at all."""
    source = value.type
    if source is None or source.family in ("user", "variant") or to.family == "user":
        return None
    if source.name in _OLD_TEXTS:
        allowed = to.is_string or to.family == "xml"
    elif to.name in _OLD_TEXTS:
        allowed = source.is_string
    elif source.name == "datetime2":
        allowed = to.family not in _FAMILIES_WITHOUT["datetimeoffset"]
    elif to.name == "datetime2" and source.family in _NUMBERS:
        allowed = False
    else:
        allowed = to.family not in _FAMILIES_WITHOUT.get(source.family, ())
    if allowed:
        return None
    return 529, f"Explicit conversion from data type {written(value)} to {to.name} is not allowed."


def implicit_error(value: Value, to: SqlType) -> Error | None:
    """What an assignment raises where the conversion has to be asked for, or where there is none."""
    source = value.type
    if source is None or value.is_null or source.family in ("user", "variant") or to.family == "user":
        return None
    if source.name in ("datetime", "smalldatetime"):
        asked = to.is_numeric
    elif source.is_string:
        asked = to.family == "binary"
    elif source.name in ("money", "smallmoney"):
        asked = to.is_string
    else:
        asked = source.family == "xml" and to.is_string
    if asked:
        return (
            257,
            f"Implicit conversion from data type {_with_max(source)} to {_with_max(to)} is not allowed. "
            "Use the CONVERT function to run this query.",
        )
    if conversion_error(value, to) is None:
        return None
    return 206, f"Operand type clash: {written(value)} is incompatible with {to.name}"


def _with_max(type_: SqlType) -> str:
    return f"{type_.name}(max)" if type_.length == MAX else type_.name


_CLOCK_PARTS = frozenset({"hour", "minute", "second", "millisecond", "microsecond", "nanosecond"})
_FINE_PARTS = frozenset({"microsecond", "nanosecond"})
_ZONE_PARTS = frozenset({"tzoffset", "iso_week"})


def date_part_error(function: str, part: str, value: Value) -> Error | None:
    """What DATEADD, DATEPART, DATENAME, DATETRUNC (``function``) raise for a part that the type lacks."""
    type_ = value.type
    if type_ is None or value.is_literal:
        return None
    if type_.name == "date":
        wrong = part in _CLOCK_PARTS
    elif type_.name == "time":
        wrong = part not in _CLOCK_PARTS
    else:
        wrong = function == "DATEADD" and type_.name in ("datetime", "smalldatetime") and part in _FINE_PARTS
    if not wrong and not (function == "DATEADD" and part in _ZONE_PARTS):
        return None
    return (
        9810,
        f"The datepart {part} is not supported by date function {function.lower()} "
        f"for data type {type_.name}.",
    )


_TEXT = frozenset({"string"})
_MOMENTS = frozenset({"date", "time", "datetime", "datetimeoffset"})
_WHOLE = frozenset({"integer", "bit", "string"})
_DATED = _MOMENTS | _TEXT | _NUMBERS | {"binary"}
_NUMERIC = _TEXT | _NUMBERS
_TRIMMED = _DATED | {"uniqueidentifier"}
_TAKEN: dict[str, dict[int, frozenset[str]]] = {
    **{each: {0: _NUMERIC | {"NULL"}} for each in ("ABS", "SIGN", "CEILING", "FLOOR", "ROUND", "POWER")},
    "AT TIME ZONE": {0: frozenset({"datetime", "datetimeoffset", "NULL"}), 1: _TEXT | {"NULL"}},
    "DATEADD": {2: _DATED | {"NULL"}},
    **{each: {1: _DATED | {"NULL"}, 2: _DATED | {"NULL"}} for each in ("DATEDIFF", "DATEDIFF_BIG")},
    **{each: {1: _DATED | {"NULL"}} for each in ("DATEPART", "DATENAME")},
    "DATETRUNC": {1: _MOMENTS | _TEXT | {"NULL"}},
    "DATE_BUCKET": {2: _MOMENTS | {"NULL"}, 3: _MOMENTS | {"NULL"}},
    "EOMONTH": {0: _MOMENTS - {"time"} | _TEXT | {"NULL"}},
    "FORMAT": {0: _MOMENTS | _NUMBERS - {"bit"}},
    "FORMATMESSAGE": {0: _TEXT | {"integer", "NULL"}},
    **{each: {0: _TRIMMED | {"NULL"}} for each in ("LTRIM", "RTRIM")},
    **{each: {0: _TEXT | {"NULL"}} for each in ("PARSE", "TRY_PARSE")},
    "SUBSTRING": {0: _TEXT | {"binary"}},
    **{
        each: {0: _MOMENTS | _TEXT | {"NULL"}, 1: _WHOLE | {"NULL"}}
        for each in ("SWITCHOFFSET", "TODATETIMEOFFSET")
    },
    **{each: {0: _DATED | {"NULL"}} for each in ("YEAR", "MONTH", "DAY")},
}
"""Functions that take some types only: the families, by the argument's place."""
_NO_VARIANT = frozenset({"FORMAT", "DATE_BUCKET"})


def argument_error(function: str, arguments: Sequence[Value]) -> Error | None:
    """What a function (in upper case) raises for the types of its arguments alone."""
    for place, families in _TAKEN.get(function, {}).items():
        if place >= len(arguments):
            break
        value = arguments[place]
        type_ = value.type
        if type_ is None:
            name = "NULL" if value.is_null and "NULL" not in families else None
        elif type_.family == "user" or (type_.family == "variant" and function not in _NO_VARIANT):
            name = None
        else:
            name = None if type_.family in families else written(value)
        if name is not None:
            shown = function if " " in function else function.lower()
            return 8116, f"Argument data type {name} is invalid for argument {place + 1} of {shown} function."
    return None
