"""CAST and CONVERT, and the conversions that T-SQL does by itself where types meet.

A conversion is a plain cast where PostgreSQL's means the same, else a call of ``sys.convert_…``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from ...grammar.records import replace
from ..catalog import types as tm
from ..catalog.types import MAX, SqlType
from ..target import nodes as n
from .constant_texts import is_decimal, is_exact_date, is_guid, is_integer, is_iso_time
from .precedence import common_type, differs_in_decimals, digits, holds_all
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
    if style is not None and (iso := _in_iso_style(value, style.constant, to)) is not None:
        value, style = iso, None
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


_ISO_STYLES = {"": (23, 120, 121, 126), " ": (120, 121), "T": (126,)}
"""By what stands behind the date."""


def _in_iso_style(value: Value, style: object, to: SqlType) -> Value | None:
    """A constant date in a style of ISO's as it is read without a style, whatever DATEFORMAT says."""
    text = value.constant
    if not isinstance(text, str) or to.family not in ("date", "datetime"):
        return None
    if style == 112 and len(text) == 8 and text.isascii() and text.isdecimal():
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    elif style not in _ISO_STYLES.get(text[10:11], ()):
        return None
    return replace(value, code=n.Text(text)) if is_exact_date(text, to) else None


def _simple(value: Value, to: SqlType) -> Value | None:
    """The conversion as a plain PostgreSQL cast, where it means the same."""
    source = value.type
    if source is None:
        return None
    convert_plainly = _PLAINLY.get(to.family)
    if convert_plainly is not None and (found := convert_plainly(value, source, to)) is not None:
        return found
    if isinstance(value.constant, str) and _says(value.constant, to):
        return cast(value, to.postgres, to)
    return None


def _says(text: str, to: SqlType) -> bool:
    """Tell whether a text says a value of a type as PostgreSQL reads it, too."""
    match to.family:
        case "integer":
            return is_integer(text) and to.name in ("int", "bigint")
        case "decimal":
            return to.name == "decimal" and is_decimal(text) and bool(text.strip()) and _has_room(text, to)
        case "date":
            return is_exact_date(text, to) and len(text.strip()) <= 10
        case "datetime":
            return is_exact_date(text, to)
        case "time":
            return is_iso_time(text)
        case "uniqueidentifier":
            return is_guid(text)
    return False


def _has_room(text: str, to: SqlType) -> bool:
    """Whether a decimal has room for the digits of a text before its point, rounded up too."""
    whole = text.strip().lstrip("+-").partition(".")[0].lstrip("0")
    precision, scale = digits(to)
    return len(whole) < precision - scale or (len(whole) == precision - scale and set(whole) != {"9"})


def _integer_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family not in ("integer", "bit") or not (holds_all(to, source) or to.name in ("int", "bigint")):
        return None
    if isinstance(value.constant, int) and to.name == "int" and source.name == "int":
        return replace(value, type=to)
    if source.name == to.name and value.pg is None:
        return value
    return cast(value, to.postgres, to)


def _decimal_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family not in ("integer", "bit", "decimal") or not fits_number(value, to):
        return None
    return cast(value, to.postgres, to)


_NAMED_NUMBERS = ("int", "bigint", "float", "real")
"""What ``Arithmetic overflow error converting … to data type numeric`` may tell by these functions."""
_MOST_MONEY = {"money": Decimal("922337203685477.5807"), "smallmoney": Decimal("214748.3647")}


def fits_number(value: Value, to: SqlType) -> bool:
    """Whether a cast to ``to``, a decimal or money, that fails does so with SQL Server's error.

    PostgreSQL's numeric has more numbers than money, and its error does not tell what the number was.
    """
    if to.name == "decimal" and value.type is not None and value.type.name in _NAMED_NUMBERS:
        precision, scale = digits(to)
        return value.type.family == "integer" and digits(value.type, value.constant)[0] <= precision - scale
    most = _MOST_MONEY.get(to.name)
    source = value.type
    if most is None or source is None or source.name == to.name or value.is_null:
        return True
    if isinstance(value.constant, int):
        return abs(value.constant) <= most
    if isinstance(value.code, n.Number):
        return Decimal(value.code.digits) <= most
    precision, scale = digits(source)
    return Decimal(10) ** (precision - scale) <= most


def _float_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family not in ("integer", "bit", "decimal", "float"):
        return None
    return value if source.postgres == to.postgres and value.pg is None else cast(value, to.postgres, to)


def _bit_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family == "bit":
        return value
    if value.constant in (0, 1):
        return cast(value, "sys.bit", to)
    return cast(integer(int(value.constant)), "sys.bit", to) if value.constant in ("0", "1") else None


def _string_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family == "integer":
        roomy = to.length == MAX or limit(to) >= 11
        return (
            cast(value, to.postgres, to) if roomy and to.name in ("varchar", "nvarchar", "sysname") else None
        )
    if source.family != "string":
        return None
    if to.name in ("char", "nchar"):
        return cast(value, to.postgres, to)
    if isinstance(value.constant, str) and (to.length == MAX or len(value.constant) <= limit(to)):
        return replace(value, type=to)
    if source.postgres == to.postgres or (to.postgres == "text" and source.name not in ("char", "nchar")):
        return replace(value, type=to)
    return cast(value, to.postgres, to)


def _binary_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family == "binary" and to.length in (None, MAX) and to.name != "binary":
        return replace(value, type=to)
    return None


def _datetime_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source == to:
        return replace(value, type=to)
    if to.name == "datetime2" and source.family in ("date", "datetime"):
        return cast(value, to.postgres, to)
    return None


def _date_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    if source.family == "datetime":
        return cast(value, "date", to)
    return _same_plainly(value, source, to)


def _same_plainly(value: Value, source: SqlType, to: SqlType) -> Value | None:
    return value if source == to else None


_PLAINLY: dict[str, Callable[[Value, SqlType, SqlType], Value | None]] = {
    "integer": _integer_plainly,
    "decimal": _decimal_plainly,
    "float": _float_plainly,
    "bit": _bit_plainly,
    "string": _string_plainly,
    "binary": _binary_plainly,
    "date": _date_plainly,
    "datetime": _datetime_plainly,
    "datetimeoffset": _same_plainly,
    "time": _same_plainly,
    "uniqueidentifier": lambda value, source, to: value if source.family == to.family else None,
}
"""By the family of the type that is wanted; the value, its type, and that type."""


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
    further = [style.code] if style is not None else []
    if value.type is not None and value.is_string and _may_declare_encoding(value):
        further = [*(further or [n.Integer(0)]), n.TRUE if value.type.is_unicode else n.FALSE]
    return call(name, text, *further, type=to)


def _may_declare_encoding(value: Value) -> bool:
    """Whether text is nvarchar or varchar for certain, a column may be either, and may tell an encoding."""
    if isinstance(value.constant, str):
        return value.constant.startswith("<?xml") and "encoding" in value.constant
    return isinstance(value.code, n.Variable | n.Infix) and _is_of_variables(value.code)


def _is_of_variables(code: n.Node) -> bool:
    """Whether it is a variable, or joined of variables and literals."""
    if isinstance(code, n.Infix) and code.operator == "||":
        return _is_of_variables(code.left) and _is_of_variables(code.right)
    return isinstance(code, n.Variable | n.Text)


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
    if to.family == "string":
        return _string_by_function(value, to, style, attempt)
    if to.family == "binary":
        return _bytes_by_function(value, to, style, attempt)
    name = _FUNCTION_NAMES.get(to.name, to.name)
    arguments = [_argument(value)]
    source = value.type
    if to.name == "decimal":
        arguments += [n.Integer(to.precision or 18), n.Integer(to.scale or 0)]
    elif to.name in ("datetime2", "time", "datetimeoffset"):
        scale = 7 if to.scale is None else to.scale
        if scale != 7 or style is not None:
            arguments.append(n.Integer(scale))
        if style is not None:
            arguments.append(style.code)
        # A function's result says nothing of its decimals, and those are shown.
        return cast(_called(name, arguments, to, attempt), to.postgres, to)
    elif to.name in ("datetime", "smalldatetime", "date") and style is not None:
        arguments.append(style.code)
    if not attempt and source is not None and (named := _named_source(source, to)) is not None:
        if to.name in ("datetime", "smalldatetime") and style is None:
            arguments.append(n.Integer(0))
        arguments.append(n.Text(named))
    return _called(name, arguments, to, attempt)


def _named_source(source: SqlType, to: SqlType) -> str | None:
    """How an error calls the source where its PostgreSQL type does not tell; None: it tells, or needs not."""
    if source.is_unicode and to.name in _NAME_THEIR_SOURCE:
        return "nvarchar"
    return "datetime2" if (source.name, to.name) == ("datetime2", "smalldatetime") else None


def _called(name: str, arguments: Sequence[n.Node], to: SqlType, attempt: bool) -> Value:
    if attempt:
        return call(f"sys.try_convert_{name}", *arguments, type=to)
    return Value(n.Conversion(f"sys.convert_{name}", tuple(arguments)), to)


def _string_by_function(value: Value, to: SqlType, style: Value | None, attempt: bool) -> Value:
    name = _FUNCTION_NAMES.get(to.name, to.name)
    length = None if to.name in ("text", "ntext") or to.length == MAX else limit(to)
    source = value.type
    if source is not None and source.family == "xml" and (attempt or style is None):
        inner = call("sys.xml_to_text", value.code, type=tm.NVARCHAR_MAX)
        if length is None:
            return inner
        short = call("sys.short_xml_text", inner.code, _length(length), n.truth(attempt), type=to)
        return cast(short, to.postgres, to)
    is_whole = length is None and style is None and to.is_unicode
    if source is not None and source.family == "binary" and is_whole and not attempt:
        return call("sys.text_of", value.code, type=to)
    if (found := _shown(value, to, length, style, attempt)) is not None:
        return found
    arguments = [_argument(value)]
    if length is not None or style is not None or (name.endswith("char") and not name.endswith("varchar")):
        arguments.append(_length(length))
    if style is not None:
        arguments.append(style.code)
    return _called(name, arguments, to, attempt)


_SHOWN_BY_SCALE = ("time", "datetimeoffset")


def _shown(value: Value, to: SqlType, length: int | None, style: Value | None, attempt: bool) -> Value | None:
    """A value whose text depends on more than PostgreSQL's type of it tells."""
    source = value.type
    tail = [_length(length), *([style.code] if style is not None else [])]
    text: Value | None = None
    if source is not None and source.name in ("money", "smallmoney"):
        # Of these alone a text may not fit, which is NULL to TRY_CONVERT.
        function = "sys.try_money_to_varchar" if attempt else "sys.money_to_varchar"
        text = call(function, *_trim([_argument(value), *tail]), type=to)
    elif value.clock is not None:
        shown = [n.Integer(scale_of(value)), *tail]
        text = call("sys.clock_to_varchar", value.code, value.clock, *_trim(shown), type=to)
    elif source is not None and source.name in _SHOWN_BY_SCALE and source.scale not in (None, 7):
        shown = [n.integer(source.scale or 0), *tail]
        text = call(f"sys.{source.name}_to_varchar", _argument(value), *_trim(shown, keep=1), type=to)
    elif source is not None and source.name == "datetime2":
        shown = [n.Integer(7 if source.scale is None else source.scale), *tail]
        text = call("sys.datetime2_to_varchar", _argument(value), *_trim(shown, keep=1), type=to)
    is_varying = _FUNCTION_NAMES.get(to.name, to.name).endswith("varchar")
    return text if text is None or is_varying else cast(text, to.postgres, to)


def _bytes_by_function(value: Value, to: SqlType, style: Value | None, attempt: bool) -> Value:
    if value.raw is not None and (style is None or style.constant == 0):
        return convert(Value(value.raw, tm.VARBINARY_MAX), to, attempt=attempt)
    source = value.type
    value = kept_blanks(value)
    given = value.code if source is not None and source.is_string else _argument(value)
    name = "binary" if to.name == "rowversion" else _FUNCTION_NAMES.get(to.name, to.name)
    length = 8 if to.name == "rowversion" else None if to.name == "image" or to.length == MAX else to.length
    if source is not None:
        if source.family == "xml":
            return call("sys.xml_to_bytes", value.code, type=to)
        if source.name == "tinyint" and to.name != "binary":
            length = 1
        if source.name in ("money", "smallmoney"):
            # Ten-thousandths, in eight bytes or four.
            whole = "bigint" if source.name == "money" else "integer"
            given = n.Cast(n.infix("*", value.code, n.Integer(10000)), whole)
        if source.name in _OF_THEIR_SIZE:
            # What their bytes are, their type says and not PostgreSQL's.
            given = _own_bytes(value, source)
            if length is None:
                return Value(given, to)
        if source.is_unicode:
            # Which bytes those are, the instance says.
            if style is not None:
                by_style = f"sys.{'try_' if attempt else ''}nvarchar_to_{name}"
                return call(by_style, value.code, _length(length), style.code, type=to)
            given = call("ssb.nvarchar_bytes", value.code).code
            if length is None:
                return Value(given, to)
    arguments = [given]
    if length is not None or style is not None:
        arguments.append(_length(length))
    if style is not None:
        arguments.append(style.code)
    return _called(name, arguments, to, attempt)


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
    if not differs_in_decimals(value, type_):
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
