"""Translated expressions: PostgreSQL text with its T-SQL type, and T-SQL's implicit conversions.

A :class:`Value` carries how tightly its text binds, so that parentheses appear only
where PostgreSQL needs them, and what PostgreSQL itself takes its type to be where that
differs from the T-SQL type (COUNT is int there, bigint here).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from ...grammar.records import dataclass
from ..catalog import types as tm
from ..catalog.names import literal
from ..catalog.objects import Form
from ..catalog.types import MAX, SqlType

# How tightly PostgreSQL binds, loosest first.
OR, AND, NOT, IS, COMPARE, RANGE, OTHER, ADD, MULTIPLY, UNARY, CAST, ATOM = range(12)


@dataclass(frozen=True, slots=True)
class Value:
    """One translated expression.

    ``constant``: the value of a string or integer literal; ``pg``: PostgreSQL's type where
    it is not ``type``'s own; ``collation``: "ci", "cs", "ci_ai" or "cs_ai" where a COLLATE clause said so.
    """

    text: str
    level: int = ATOM
    type: SqlType | None = None
    pg: str | None = None
    nullable: bool = True
    constant: str | int | None = None
    is_null: bool = False
    collation: str | None = None
    national: bool = False
    wrapped: tuple[str, int] | None = None
    """Text into which an aggregate goes (at {}) once OVER has been added, and how tightly that binds."""
    joined: bool = False
    """Text joined with text that is no number: what is added to it is text too."""
    clock: str | None = None
    """Of a datetimeoffset, which is a moment alone here: the wall clock at its offset in T-SQL."""
    converted: bool = False
    """A call of sys.convert_…, or a cast of one."""
    cast_to: str | None = None
    """Where ``level`` is CAST, the type behind the last ``::``."""
    distinct: bool = False
    """An aggregate's argument: DISTINCT stands before it."""

    def at(self, level: int) -> str:
        """The text, in parentheses unless it binds at least as tightly as ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def family(self) -> str:
        """The family of the type; "unknown" without one, "null" for the literal NULL."""
        if self.type is None:
            return "null" if self.is_null else "unknown"
        return self.type.family

    @property
    def is_string(self) -> bool:
        """A character value for certain."""
        return self.type is not None and self.type.is_string

    @property
    def form(self) -> Form:
        """What it is at its outermost."""
        if self.converted:
            return Form.CONVERSION
        if isinstance(self.constant, str) and self.level == ATOM:
            return Form.LITERAL
        return Form.CAST if self.level == CAST else Form.OTHER

    @property
    def operand(self) -> str:
        """The text without DISTINCT."""
        return self.text[len("DISTINCT ") :] if self.distinct else self.text

    @property
    def is_literal(self) -> bool:
        """A string or integer literal."""
        return self.constant is not None


def unwrap(value: Value) -> Value:
    """Put an aggregate into what stands around it: ``trunc(avg(x))``."""
    if value.wrapped is None:
        return value
    around, level = value.wrapped
    return replace(value, text=around.format(value.text), level=level, wrapped=None)


NULL = Value("NULL", is_null=True)
INVALID = Value("NULL", is_null=True)
"""What a reported problem leaves behind."""


_UNSAFE = re.compile("[\r\n\ufdd0-\ufdd2]")


def text_literal(text: str) -> str:
    """A PostgreSQL string literal on one line: line ends are escaped, so that layout may indent the rest."""
    if not _UNSAFE.search(text):
        return literal(text)
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\r", "\\r").replace("\n", "\\n")
    return "E'" + re.sub("[\ufdd0-\ufdd2]", lambda match: f"\\u{ord(match.group()):04x}", escaped) + "'"


def call(name: str, *arguments: str, type: SqlType | None = None, nullable: bool = True) -> Value:
    """A function call."""
    return Value(f"{name}({', '.join(arguments)})", ATOM, type, nullable=nullable)


def string(text: str, *, national: bool = False) -> Value:
    """A string literal."""
    length = max(len(text), 1)
    type_ = tm.nvarchar(length) if national else tm.varchar(length)
    return Value(text_literal(text), ATOM, type_, nullable=False, constant=text, national=national)


def integer(number: int) -> Value:
    """An integer literal; beyond int it is a decimal in T-SQL."""
    if -(2**31) <= number < 2**31:
        return Value(str(number), ATOM if number >= 0 else UNARY, tm.INT, nullable=False, constant=number)
    return Value(
        str(number), ATOM, tm.decimal(len(str(abs(number))), 0), pg="bigint", nullable=False, constant=number
    )


# ---------------------------------------------------------------- precedence of types

_PRECEDENCE = {
    name: rank
    for rank, name in enumerate(
        """
        binary varbinary image char varchar nchar nvarchar sysname uniqueidentifier rowversion text ntext bit
        tinyint smallint int bigint smallmoney money decimal real float time date smalldatetime
        datetime datetime2 datetimeoffset xml sql_variant
        """.split()
    )
}


def common_type(values: list[Value]) -> SqlType | None:
    """The type T-SQL gives CASE, COALESCE, UNION … over these values; None when one is unknown."""
    types = []
    for value in values:
        if value.is_null:
            continue
        if value.type is None:
            return None
        types.append(value.type)
    return common_of_types(types)


def common_of_types(types: list[SqlType]) -> SqlType | None:
    """The type of highest precedence, wide enough for all."""
    if not types:
        return None
    best = types[0]
    for other in types[1:]:
        best = _wider(best, other)
    return best


def _wider(a: SqlType, b: SqlType) -> SqlType:
    if a == b:
        return a
    if a.family == "user" or b.family == "user":
        return a
    if (a.is_string and b.is_string) or a.family == b.family == "binary":
        name = a.name if _PRECEDENCE[a.name] >= _PRECEDENCE[b.name] else b.name
        if name in ("text", "ntext", "image"):
            return SqlType(name)
        if MAX in (a.length, b.length):
            return SqlType(
                {"char": "varchar", "nchar": "nvarchar", "binary": "varbinary"}.get(name, name), length=MAX
            )
        lengths = [128 if t.name == "sysname" else t.length or 1 for t in (a, b)]
        if name == "sysname":
            name = "nvarchar"
        return SqlType(name, length=max(lengths))
    if a.family == b.family == "decimal" or {a.family, b.family} == {"decimal", "integer"}:
        if "money" in (a.name, b.name) and "decimal" not in (a.name, b.name):
            return tm.MONEY
        (p1, s1), (p2, s2) = digits(a), digits(b)
        scale = max(s1, s2)
        return tm.decimal(max(p1 - s1, p2 - s2) + scale, scale)
    rank_a, rank_b = _PRECEDENCE.get(a.name, 99), _PRECEDENCE.get(b.name, 99)
    winner = a if rank_a >= rank_b else b
    if winner.is_string:
        return tm.nvarchar(4001) if winner.is_unicode else tm.varchar(8001)
    return winner


def digits(type_: SqlType, constant: str | int | None = None) -> tuple[int, int]:
    """Precision and scale of a number type as decimal arithmetic sees it."""
    if isinstance(constant, int):
        return max(len(str(abs(constant))), 1), 0
    if type_.name == "decimal":
        return type_.precision or 18, type_.scale or 0
    return {
        "bigint": (19, 0),
        "int": (10, 0),
        "smallint": (5, 0),
        "tinyint": (3, 0),
        "bit": (1, 0),
        "money": (19, 4),
        "smallmoney": (10, 4),
    }.get(type_.name, (38, 6))


# ---------------------------------------------------------------- conversions

_ISO_DATE = re.compile(r"\s*\d{4}-?\d{2}-?\d{2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?\s*\Z")
_EARLIEST = {"datetime": "1753", "smalldatetime": "1900"}
_ISO_TIME = re.compile(r"\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?\s*\Z")
_INTEGER = re.compile(r"\s*[+-]?\d{1,9}\s*\Z")
_DECIMAL = re.compile(r"\s*[+-]?\d{1,30}(?:\.\d{0,30})?\s*\Z")
_GUID = re.compile(r"\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?\Z")

_INTEGER_RANK = {"bit": 0, "tinyint": 1, "smallint": 2, "int": 3, "bigint": 4}


def cast(value: Value, postgres: str, type_: SqlType | None = None) -> Value:
    """``value::postgres``."""
    return Value(
        f"{value.at(CAST)}::{postgres}",
        CAST,
        type_ or value.type,
        nullable=value.nullable,
        converted=value.converted,
        cast_to=postgres,
    )


def untyped_xml(value: Value) -> Value:
    """A value of type xml(collection) as plain xml, which PostgreSQL's choice among functions knows."""
    if value.type is None or value.type.collection is None:
        return value
    return cast(value, tm.XML.postgres, tm.XML)


def is_iso_date(text: str) -> bool:
    """Text that SQL Server and PostgreSQL read as the same date, whatever the session's settings."""
    if not _ISO_DATE.match(text):
        return False
    day = text.strip().replace("-", "")[:8]
    try:
        date(int(day[:4]), int(day[4:6]), int(day[6:]))
    except ValueError:
        return False  # the conversion's function knows the error (241)
    return True


def _is_rounded(text: str, to: SqlType) -> bool:
    """Whether a constant is rounded: datetime knows .000, .003 and .007, smalldatetime whole minutes."""
    clock = text.strip()[10:] if ":" in text else ""
    seconds, _, fraction = [*clock.split(":"), "", "", ""][2].partition(".")
    if to.name == "smalldatetime":
        return bool((seconds + fraction).strip("0"))
    if to.name != "datetime":
        return False
    return len(fraction) > 3 or fraction.ljust(3, "0")[2] not in "037"


def is_numeric_text(text: str) -> bool:
    """Text that T-SQL would take for a number."""
    return text.strip() == "" or bool(_DECIMAL.match(text))


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
    if not attempt and style is None:
        simple = _simple(value, to)
        if simple is not None:
            return simple
    return _by_function(value, to, style, attempt)


def at_clock(value: Value) -> Value:
    """The wall clock of a datetimeoffset where its offset is known, else the value."""
    if value.clock is None:
        return value
    return Value(value.clock, ATOM, replace(tm.DATETIME2, scale=scale_of(value)), nullable=value.nullable)


def scale_of(value: Value) -> int:
    """The decimals of the seconds of a date and time; 7 where nothing says less."""
    if value.type is None:
        return 7
    known = {"datetime": 3, "smalldatetime": 0, "date": 0}
    return known.get(value.type.name, 7 if value.type.scale is None else value.type.scale)


def _text_that_keeps_all(value: Value) -> Value:
    """A value as the text of a sql_variant: the usual text of dates and numbers would cut them."""
    type_ = value.type
    if type_ is None:
        return convert(value, tm.NVARCHAR_MAX)
    if type_.is_string:
        return value
    if type_.family == "float":
        return cast(value, tm.NVARCHAR_MAX.postgres, tm.NVARCHAR_MAX)
    style = "121" if type_.is_datetime else "2" if type_.name in ("money", "smallmoney") else None
    return convert(
        value, tm.NVARCHAR_MAX, style=Value(style, type=tm.INT, constant=int(style)) if style else None
    )


def _simple(value: Value, to: SqlType) -> Value | None:
    """The conversion as a plain PostgreSQL cast, where it means the same."""
    source = value.type
    if source is None:
        return None
    family, target = source.family, to.family
    if target == "integer" and family in ("integer", "bit"):
        widens = _INTEGER_RANK[to.name] >= _INTEGER_RANK.get(source.name, 0)
        if widens or to.name in ("int", "bigint"):
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
        if target == "integer" and _INTEGER.match(text) and to.name in ("int", "bigint"):
            return cast(value, to.postgres, to)
        if target == "decimal" and to.name == "decimal" and _DECIMAL.match(text) and text.strip():
            return cast(value, to.postgres, to)
        if (
            target in ("date", "datetime")
            and is_iso_date(text)
            and text.strip() >= _EARLIEST.get(to.name, "")
            and not _is_rounded(text, to)
            and (target != "date" or len(text.strip()) <= 10)
        ):
            return cast(value, to.postgres, to)
        if target == "time" and _ISO_TIME.match(text):
            return cast(value, to.postgres, to)
        if target == "uniqueidentifier" and _GUID.match(text.strip()):
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
    text = value.text
    if value.family not in ("string", "binary", "xml", "unknown"):
        text = as_text(value).text
    return call(name, text, *([style.text] if style is not None else []), type=to)


_FUNCTION_NAMES = {
    "decimal": "decimal",
    "sysname": "nvarchar",
    "text": "varchar",
    "ntext": "nvarchar",
    "image": "varbinary",
}


_NAME_THEIR_SOURCE = frozenset(
    "bit tinyint smallint int bigint decimal float real datetime smalldatetime".split()
)
"""Types whose errors tell a varchar from an nvarchar."""


def _by_function(value: Value, to: SqlType, style: Value | None, attempt: bool) -> Value:
    name = _FUNCTION_NAMES.get(to.name, to.name)
    if name == "rowversion":
        name = "binary"
    prefix = "sys.try_convert_" if attempt else "sys.convert_"
    arguments = [_argument(value)]
    source = value.type

    def made(*given: str) -> Value:
        return replace(call(prefix + name, *given, type=to), converted=not attempt)

    if to.family == "string":
        length = None if to.name in ("text", "ntext") or to.length == MAX else limit(to)
        if source is not None and source.family == "xml" and (attempt or style is None):
            inner = call("sys.xml_to_text", value.text, type=tm.NVARCHAR_MAX)
            return inner if length is None else cast(inner, to.postgres, to)
        if (
            source is not None
            and source.family == "binary"
            and style is None
            and length is None
            and not attempt
        ):
            return call("sys.text_of", value.text, type=to)
        if (
            source is not None
            and source.name in ("money", "smallmoney")
            and not attempt
            and name.endswith("varchar")
        ):
            arguments.append("NULL" if length is None else str(length))
            if style is not None:
                arguments.append(style.text)
            return call("sys.money_to_varchar", *_trim(arguments), type=to)
        if value.clock is not None and not attempt and name.endswith("varchar"):
            tail = [
                str(scale_of(value)),
                "NULL" if length is None else str(length),
                *([style.text] if style is not None else []),
            ]
            return call("sys.clock_to_varchar", value.text, value.clock, *_trim(tail), type=to)
        if source is not None and source.name == "time" and source.scale not in (None, 7) and not attempt:
            tail = [
                str(source.scale),
                "NULL" if length is None else str(length),
                *([style.text] if style is not None else []),
            ]
            clock = call("sys.time_to_varchar", arguments[0], *_trim(tail, keep=1), type=to)
            return clock if name.endswith("varchar") else cast(clock, to.postgres, to)
        if source is not None and source.name == "datetime2" and not attempt and name.endswith("varchar"):
            places = str(7 if source.scale is None else source.scale)
            tail = [
                places,
                "NULL" if length is None else str(length),
                *([style.text] if style is not None else []),
            ]
            return call("sys.datetime2_to_varchar", arguments[0], *_trim(tail, keep=1), type=to)
        if (
            length is not None
            or style is not None
            or (name.endswith("char") and not name.endswith("varchar"))
        ):
            arguments.append("NULL" if length is None else str(length))
        if style is not None:
            arguments.append(style.text)
        return made(*arguments)
    if to.family == "binary":
        if source is not None and source.family == "xml":
            return call("sys.xml_to_bytes", value.text, type=to)
        length = None if to.name in ("image",) or to.length in (MAX, None) else to.length
        if to.name == "rowversion":
            length = 8
        if source is not None and source.name == "tinyint" and to.name != "binary":
            length = 1
        if source is not None and source.name in ("money", "smallmoney"):
            # Ten-thousandths, in eight bytes or four.
            whole = "bigint" if source.name == "money" else "integer"
            arguments[0] = f"({value.at(MULTIPLY)} * 10000)::{whole}"
        if length is not None or style is not None:
            arguments.append("NULL" if length is None else str(length))
        if style is not None:
            arguments.append(style.text)
        return made(*arguments)
    if to.name == "decimal":
        arguments += [str(to.precision or 18), str(to.scale or 0)]
    elif to.name in ("datetime2", "time", "datetimeoffset"):
        scale = 7 if to.scale is None else to.scale
        if scale != 7 or style is not None:
            arguments.append(str(scale))
        if style is not None:
            arguments.append(style.text)
        # A function's result says nothing of its decimals, and those are shown.
        return cast(made(*arguments), to.postgres, to)
    elif to.name in ("datetime", "smalldatetime", "date") and style is not None:
        arguments.append(style.text)
    if not attempt and source is not None and source.is_unicode and to.name in _NAME_THEIR_SOURCE:
        if to.name in ("datetime", "smalldatetime") and style is None:
            arguments.append("0")
        arguments.append("'nvarchar'")
    return made(*arguments)


def _argument(value: Value) -> str:
    """An argument for the overloaded conversions: types PostgreSQL would take otherwise are cast."""
    if value.pg is not None and value.type is not None and value.type.name == "int":
        return cast(value, "integer").text
    return value.text


def _trim(arguments: list[str], keep: int = 0) -> list[str]:
    while len(arguments) > max(keep, 1) and arguments[-1] == "NULL":
        arguments.pop()
    return arguments


def as_text(value: Value) -> Value:
    """The value as a string, converted as T-SQL would do implicitly; unknown types at run time."""
    if value.is_string:
        return value
    if value.is_null:
        return cast(NULL, "text", tm.VARCHAR_MAX)
    if value.type is not None and value.type.family == "integer":
        return cast(value, "text", tm.varchar(20))
    if value.type is not None and value.type.family == "xml":
        return call("sys.xml_to_text", value.text, type=tm.NVARCHAR_MAX)
    return convert(value, tm.NVARCHAR_MAX)


def assign(value: Value, to: SqlType) -> Value:
    """The value converted for an assignment to a variable or column of type ``to``.

    What PostgreSQL's own assignment cast does as T-SQL would is left to it.
    """
    source = value.type
    if to.collection is not None:
        # The domain of the variable or column validates.
        to = tm.XML
    if to.family == "variant" and not value.is_null:
        return convert(value, to)
    if value.is_null or to.family in ("user", "variant", "table", "cursor"):
        return value
    if source is None:
        if to.family == "unknown":
            return value
        return _assign_unknown(value, to)
    family, target = source.family, to.family
    if target == "string":
        if family == "string":
            if isinstance(value.constant, str):
                return value if len(value.constant) <= limit(to) else string(value.constant[: limit(to)])
            if limit(source) <= limit(to):
                return value
            return cast(value, to.postgres, to)
        return convert(value, to)
    if target == "integer":
        if family in ("integer", "bit"):
            return _small_integer(value, source, to) if to.name in _SMALL_INTEGERS else value
        if (
            isinstance(value.constant, str)
            and _INTEGER.match(value.constant)
            and to.name in ("int", "bigint")
        ):
            return value
        return convert(value, to)
    if target == "decimal" and family in ("integer", "bit", "decimal", "float"):
        return value
    if target == "float" and family in ("integer", "bit", "decimal", "float"):
        return value
    if target == "bit":
        if family == "bit" or value.constant in (0, 1):
            return value
        return convert(value, to)
    if target in ("datetime", "date") and family == "string" and isinstance(value.constant, str):
        text = value.constant
        fits = text.strip() >= _EARLIEST.get(to.name, "") and not _is_rounded(text, to)
        if fits and is_iso_date(text):
            return value
        return convert(value, to)
    if target == "datetime" and family in ("datetime", "date"):
        to_coarser = {"datetime": ("datetime2",), "smalldatetime": ("datetime", "datetime2")}
        if source.name in to_coarser.get(to.name, ()):
            return convert(value, to)
        return value
    if (
        target == "uniqueidentifier"
        and isinstance(value.constant, str)
        and _GUID.match(value.constant.strip())
    ):
        return value
    if target == "binary" and family == "binary":
        if to.length in (None, MAX) and to.name in ("varbinary", "image"):
            return value
        if to.name == "varbinary" and source.length not in (None, MAX) and source.length <= (to.length or 1):
            return value
        return convert(value, to)
    if target == "xml" and family == "xml":
        return value
    if family == target and source.postgres == to.postgres:
        return value
    return convert(value, to)


def store(value: Value, to: SqlType | None) -> Value:
    """The value converted for a column of type ``to``: as ``assign``, but too long strings are errors."""
    if to is None:
        return value
    if to.family == "string" and (value.is_string or value.type is None):
        return value
    if to.family == "binary" and value.family == "binary":
        checked = _fitting_bytes(value, to)
        return checked if to.name != "binary" else assign(checked, to)
    return assign(value, to)


def _fitting_bytes(value: Value, to: SqlType) -> Value:
    """Bytes for a column whose length PostgreSQL does not watch: 2628 where there are more."""
    known = value.type.limit if value.type is not None else None
    if to.limit is None or value.is_null or (known is not None and known <= to.limit):
        return value
    return call("sys.fitting", value.text, str(to.limit), type=to)


_SMALL_INTEGERS = {"tinyint": range(256), "smallint": range(-32768, 32768)}


def _small_integer(value: Value, source: SqlType, to: SqlType) -> Value:
    """A whole number for tinyint or smallint: 220 tells the value that is too large."""
    fits = isinstance(value.constant, int) and value.constant in _SMALL_INTEGERS[to.name]
    widens = source.name == "bit" or _INTEGER_RANK[source.name] <= _INTEGER_RANK[to.name]
    return value if fits or widens else convert(value, to)


def _assign_unknown(value: Value, to: SqlType) -> Value:
    """An expression whose type only the server knows.

    Most often it is the target's own type, so the cheap spelling is tried where a wrong
    guess cannot pass silently: PostgreSQL's assignment cast refuses what it cannot do.
    """
    if to.family == "xml":
        return call("sys.xml_of", value.text, type=to)
    if to.family == "string":
        return convert(value, to)
    if to.family in ("integer", "bit", "binary", "date", "time", "datetime", "datetimeoffset"):
        return convert(value, to)
    return value


def lacks_decimals(value: Value, type_: SqlType) -> bool:
    """Whether a number has fewer decimals than ``type_``, a decimal or money, shows."""
    return (
        type_.family == "decimal"
        and not value.is_null
        and value.type is not None
        and value.type.family in ("integer", "bit", "decimal")
        and digits(value.type, value.constant)[1] < digits(type_)[1]
    )


def at_scale(value: Value, type_: SqlType) -> Value:
    """A number with the decimals of the type that it becomes: 0 beside decimal(10, 2) is 0.00.

    PostgreSQL keeps the digits of each value, which are seen wherever it becomes text.
    """
    if not lacks_decimals(value, type_):
        return value
    if isinstance(value.constant, int):
        return Value(f"{value.constant}.{'0' * digits(type_)[1]}", value.level, type_, nullable=False)
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
