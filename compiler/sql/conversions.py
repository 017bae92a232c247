"""CAST and CONVERT, and the conversions that T-SQL does by itself where types meet.

A conversion is a plain cast where PostgreSQL's means the same, else a call of ``sys.convert_…``.
"""

from __future__ import annotations

from ...grammar.records import replace
from ..catalog import types as tm
from ..catalog.types import MAX, SqlType
from ..target import nodes as n
from .constant_texts import is_decimal, is_exact_date, is_guid, is_integer, is_iso_time
from .precedence import common_type, digits, holds_all, lacks_decimals
from .values import NULL, Value, at_clock, call, cast, integer, kept_blanks, scale_of


def untyped_xml(value: Value) -> Value:
    """A value of type xml(collection) as plain xml, which PostgreSQL's choice among functions knows."""
    if value.type is None or value.type.collection is None:
        return value
    return cast(value, tm.XML.postgres, tm.XML)


def convert(value: Value, to: SqlType, *, style: Value | None = None, attempt: bool = False) -> Value:
    """CAST(value AS to), CONVERT(to, value, style); ``attempt``: their TRY_ forms."""
    if value.is_null:
        return cast(NULL, to.postgres, to)
    if to.family == "user":
        return cast(value, to.postgres, to)
    if value.clock is not None and to.family in ("date", "datetime", "time"):
        value = at_clock(value)
    if (
        style is not None
        and style.constant == 0
        and to.family not in ("date", "datetime", "datetimeoffset", "time")
    ):
        style = None
    if to.family == "xml":
        plain = _to_xml(value, tm.XML, style, attempt)
        # The cast to the collection's domain validates.
        return plain if to.collection is None else cast(cast(plain, to.collection), tm.XML.postgres, tm.XML)
    if to.family == "variant":
        return replace(_text_that_keeps_all(value), type=to)
    if to.family in ("cursor", "table"):
        return replace(value, type=to)
    if to.family == "integer" and value.type is not None and value.type.name in ("money", "smallmoney"):
        # It is rounded; decimals are cut.
        value = call("round", value.code, type=SqlType("decimal", precision=19, scale=0))
    if not attempt and style is None:
        simple = _simple(value, to)
        if simple is not None:
            return simple
    return _by_function(value, to, style, attempt)


def _text_that_keeps_all(value: Value) -> Value:
    """A value as the text of a sql_variant: the default text of dates and numbers would cut them."""
    type_ = value.type
    if type_ is None:
        return convert(value, tm.NVARCHAR_MAX)
    if type_.is_string:
        return value
    if type_.family == "float":
        return cast(value, tm.NVARCHAR_MAX.postgres, tm.NVARCHAR_MAX)
    style = 121 if type_.is_datetime else 2 if type_.name in ("money", "smallmoney") else None
    return convert(value, tm.NVARCHAR_MAX, style=integer(style) if style is not None else None)


def _simple(value: Value, to: SqlType) -> Value | None:
    """The conversion as a plain PostgreSQL cast, where it means the same."""
    source = value.type
    if source is None:
        return None
    family, target = source.family, to.family
    if target == "integer" and family in ("integer", "bit"):
        if holds_all(to, source) or to.name in ("int", "bigint"):
            if isinstance(value.constant, int) and to.name == "int" and source.name == "int":
                return replace(value, type=to)
            if source.name == to.name and value.pg is None:
                return value
            return cast(value, to.postgres, to)
        return None
    if target == "decimal" and family in ("integer", "bit", "decimal"):
        return cast(value, to.postgres, to)
    if target == "float" and family in ("integer", "bit", "decimal", "float"):
        return value if source.postgres == to.postgres and value.pg is None else cast(value, to.postgres, to)
    if target == "bit" and (family == "bit" or value.constant in (0, 1)):
        return value if family == "bit" else cast(value, "sys.bit", to)
    if target == "bit" and value.constant in ("0", "1"):
        return cast(integer(int(value.constant)), "sys.bit", to)
    if target == "string" and family == "string":
        if to.name in ("char", "nchar"):
            return cast(value, to.postgres, to)
        if isinstance(value.constant, str) and (to.length == MAX or len(value.constant) <= limit(to)):
            return replace(value, type=to)
        if source.postgres == to.postgres or (to.postgres == "text" and source.name not in ("char", "nchar")):
            return replace(value, type=to)
        return cast(value, to.postgres, to)
    roomy = to.length == MAX or limit(to) >= 11
    if family == "integer" and roomy and to.name in ("varchar", "nvarchar", "sysname"):
        return cast(value, to.postgres, to)
    if isinstance(value.constant, str):
        text = value.constant
        if target == "integer" and is_integer(text) and to.name in ("int", "bigint"):
            return cast(value, to.postgres, to)
        if target == "decimal" and to.name == "decimal" and is_decimal(text) and text.strip():
            return cast(value, to.postgres, to)
        if (
            target in ("date", "datetime")
            and is_exact_date(text, to)
            and (target != "date" or len(text.strip()) <= 10)
        ):
            return cast(value, to.postgres, to)
        if target == "time" and is_iso_time(text):
            return cast(value, to.postgres, to)
        if target == "uniqueidentifier" and is_guid(text):
            return cast(value, to.postgres, to)
    if target == family == "uniqueidentifier":
        return value
    if target == family == "binary" and to.length in (None, MAX) and to.name != "binary":
        return replace(value, type=to)
    if target == "datetime" and family == "date":
        return cast(value, to.postgres, to)
    if target == "datetime" and family == "datetime" and (source == to or to.name == "datetime2"):
        return replace(value, type=to) if source == to else cast(value, to.postgres, to)
    if target == family and source == to and target in ("date", "time", "datetimeoffset"):
        return value
    if target == "date" and family == "datetime":
        return cast(value, "date", to)
    return None


def limit(to: SqlType) -> int:
    """The number of characters a string type holds."""
    if to.name == "sysname":
        return 128
    if to.name in ("text", "ntext") or to.length == MAX:
        return 2**31
    return to.length or 1


def _to_xml(value: Value, to: SqlType, style: Value | None, attempt: bool) -> Value:
    if value.family == "xml" and style is None:
        return value
    name = "sys.try_xml_of" if attempt else "sys.xml_of"
    text = value.code
    if value.family not in ("string", "binary", "xml", "unknown"):
        text = as_text(value).code
    return call(name, text, *([style.code] if style is not None else []), type=to)


_FUNCTION_NAMES = {
    "decimal": "decimal",
    "sysname": "nvarchar",
    "text": "varchar",
    "ntext": "nvarchar",
    "image": "varbinary",
}
_OF_THEIR_SIZE = ("decimal", "smalldatetime", "time", "datetime2", "datetimeoffset")
_NAME_THEIR_SOURCE = frozenset(
    "bit tinyint smallint int bigint decimal float real datetime smalldatetime".split()
)
"""Types whose errors tell a varchar from an nvarchar."""


def _by_function(value: Value, to: SqlType, style: Value | None, attempt: bool) -> Value:
    name = _FUNCTION_NAMES.get(to.name, to.name)
    if name == "rowversion":
        name = "binary"
    arguments = [_argument(value)]
    source = value.type

    def made(*given: n.Node) -> Value:
        if attempt:
            return call(f"sys.try_convert_{name}", *given, type=to)
        return Value(n.Conversion(f"sys.convert_{name}", given), to)

    if to.family == "string":
        length = None if to.name in ("text", "ntext") or to.length == MAX else limit(to)
        if source is not None and source.family == "xml" and (attempt or style is None):
            inner = call("sys.xml_to_text", value.code, type=tm.NVARCHAR_MAX)
            return inner if length is None else cast(inner, to.postgres, to)
        if (
            source is not None
            and source.family == "binary"
            and style is None
            and length is None
            and not attempt
            and to.is_unicode
        ):
            return call("sys.text_of", value.code, type=to)
        if (
            source is not None
            and source.name in ("money", "smallmoney")
            and not attempt
            and name.endswith("varchar")
        ):
            arguments.append(_length(length))
            if style is not None:
                arguments.append(style.code)
            return call("sys.money_to_varchar", *_trim(arguments), type=to)
        if value.clock is not None and not attempt and name.endswith("varchar"):
            tail = [
                n.Integer(scale_of(value)),
                _length(length),
                *([style.code] if style is not None else []),
            ]
            return call("sys.clock_to_varchar", value.code, value.clock, *_trim(tail), type=to)
        if source is not None and source.name == "time" and source.scale not in (None, 7) and not attempt:
            tail = [
                n.integer(source.scale or 0),
                _length(length),
                *([style.code] if style is not None else []),
            ]
            clock = call("sys.time_to_varchar", arguments[0], *_trim(tail, keep=1), type=to)
            return clock if name.endswith("varchar") else cast(clock, to.postgres, to)
        if source is not None and source.name == "datetime2" and not attempt and name.endswith("varchar"):
            places = n.Integer(7 if source.scale is None else source.scale)
            tail = [
                places,
                _length(length),
                *([style.code] if style is not None else []),
            ]
            return call("sys.datetime2_to_varchar", arguments[0], *_trim(tail, keep=1), type=to)
        if (
            length is not None
            or style is not None
            or (name.endswith("char") and not name.endswith("varchar"))
        ):
            arguments.append(_length(length))
        if style is not None:
            arguments.append(style.code)
        return made(*arguments)
    if to.family == "binary":
        value = kept_blanks(value)
        arguments[0] = value.code if source is not None and source.is_string else arguments[0]
        if source is not None and source.family == "xml":
            return call("sys.xml_to_bytes", value.code, type=to)
        length = None if to.name in ("image",) or to.length in (MAX, None) else to.length
        if to.name == "rowversion":
            length = 8
        if source is not None and source.name == "tinyint" and to.name != "binary":
            length = 1
        if source is not None and source.name in ("money", "smallmoney"):
            # Ten-thousandths, in eight bytes or four.
            whole = "bigint" if source.name == "money" else "integer"
            arguments[0] = n.Cast(n.infix("*", value.code, n.Integer(10000)), whole)
        if source is not None and source.name in _OF_THEIR_SIZE:
            # What their bytes are, their type says and not PostgreSQL's.
            arguments[0] = _own_bytes(value, source)
            if length is None:
                return Value(arguments[0], to)
        if source is not None and source.is_unicode:
            # Which bytes those are, the instance says.
            if style is not None:
                name = f"sys.{'try_' if attempt else ''}nvarchar_to_{name}"
                return call(name, value.code, _length(length), style.code, type=to)
            arguments[0] = call("ssb.nvarchar_bytes", value.code).code
            if length is None:
                return Value(arguments[0], to)
        if length is not None or style is not None:
            arguments.append(_length(length))
        if style is not None:
            arguments.append(style.code)
        return made(*arguments)
    if to.name == "decimal":
        arguments += [n.Integer(to.precision or 18), n.Integer(to.scale or 0)]
    elif to.name in ("datetime2", "time", "datetimeoffset"):
        scale = 7 if to.scale is None else to.scale
        if scale != 7 or style is not None:
            arguments.append(n.Integer(scale))
        if style is not None:
            arguments.append(style.code)
        # A function's result says nothing of its decimals, and those are shown.
        return cast(made(*arguments), to.postgres, to)
    elif to.name in ("datetime", "smalldatetime", "date") and style is not None:
        arguments.append(style.code)
    if not attempt and source is not None and source.is_unicode and to.name in _NAME_THEIR_SOURCE:
        if to.name in ("datetime", "smalldatetime") and style is None:
            arguments.append(n.Integer(0))
        arguments.append(n.Text("nvarchar"))
    return made(*arguments)


def _own_bytes(value: Value, type_: SqlType) -> n.Node:
    """The bytes of a value of a type whose size depends on its precision or scale."""
    if type_.name == "smalldatetime":
        return call("sys.bytes_of_smalldatetime", value.code).code
    if type_.name == "decimal":
        number = cast(value, type_.postgres).code
        return call("sys.bytes_of_decimal", number, n.Integer(type_.precision or 18)).code
    scale = n.Integer(7 if type_.scale is None else type_.scale)
    return call(f"sys.bytes_of_{type_.name}", value.code, scale).code


def _length(length: int | None) -> n.Node:
    """A length as an argument: NULL where there is none."""
    return n.NULL if length is None else n.integer(length)


def _argument(value: Value) -> n.Node:
    """An argument for the overloaded conversions: types PostgreSQL would take otherwise are cast."""
    if value.pg is not None and value.type is not None and value.type.name == "int":
        return cast(value, "integer").code
    return value.code


def _trim(arguments: list[n.Node], keep: int = 0) -> list[n.Node]:
    while len(arguments) > max(keep, 1) and arguments[-1] is n.NULL:
        arguments.pop()
    return arguments


def as_text(value: Value, *, national: bool = False) -> Value:
    """The value as a string, converted as T-SQL would do implicitly; unknown types at run time.

    ``national``: beside an nvarchar, which makes one of bytes too.
    """
    if value.is_string:
        return value
    if value.is_null:
        return cast(NULL, "text", tm.VARCHAR_MAX)
    if value.type is not None and value.type.family == "integer":
        return cast(value, "text", tm.varchar(20))
    if value.type is not None and value.type.family == "xml":
        return call("sys.xml_to_text", value.code, type=tm.NVARCHAR_MAX)
    if value.type is not None and value.type.family == "binary":
        return convert(value, tm.NVARCHAR_MAX if national else tm.VARCHAR_MAX)
    return convert(value, tm.NVARCHAR_MAX)


def at_scale(value: Value, type_: SqlType) -> Value:
    """A number with the decimals of the type that it becomes: 0 beside decimal(10, 2) is 0.00.

    PostgreSQL keeps the digits of each value, which are seen wherever it becomes text.
    """
    if not lacks_decimals(value, type_):
        return value
    if isinstance(value.constant, int):
        number = n.Number(f"{abs(value.constant)}.{'0' * digits(type_)[1]}")
        return Value(n.Minus(number) if value.constant < 0 else number, type_, nullable=False)
    return cast(value, type_.postgres, type_)


def reconcile(values: list[Value]) -> tuple[list[Value], SqlType | None]:
    """Convert the branches of CASE, COALESCE, UNION … to their common type where PostgreSQL would not."""
    target = common_type(values)
    if target is None:
        return values, None
    out = []
    for value in values:
        if (
            value.is_null
            or value.family == target.family
            or (value.type and value.type.is_numeric and target.is_numeric)
            or (target.is_datetime and value.type is not None and value.type.is_datetime)
        ):
            out.append(at_scale(value, target))
        elif isinstance(value.constant, str) and target.family != "string":
            converted = convert(value, target)
            out.append(converted)
        else:
            out.append(convert(value, target))
    return out, target
