"""T-SQL types ↔ PostgreSQL types.

``SqlType`` is the T-SQL side: base name in lower case, length, precision, scale.
``postgres`` is the type a column or variable gets; the rules and their reasons
stand beside the table below and in docs/dialect.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from ...grammar.problems import did_you_mean
from ...grammar.records import dataclass, replace
from .names import fold, quote

MAX = -1
"""Length of varchar(max) and its like."""

# Base name → (family, PostgreSQL type without length).
_TYPES: dict[str, tuple[str, str]] = {
    "bigint": ("integer", "bigint"),
    "int": ("integer", "integer"),
    "smallint": ("integer", "smallint"),
    "tinyint": ("integer", "smallint"),
    "bit": ("bit", "sys.bit"),
    "decimal": ("decimal", "numeric"),
    "money": ("decimal", "numeric(19,4)"),
    "smallmoney": ("decimal", "numeric(10,4)"),
    "float": ("float", "double precision"),
    "real": ("float", "real"),
    "char": ("string", "char"),
    "varchar": ("string", "varchar"),
    "text": ("string", "text"),
    "nchar": ("string", "char"),
    "nvarchar": ("string", "varchar"),
    "ntext": ("string", "text"),
    "sysname": ("string", "varchar(128)"),
    "binary": ("binary", "bytea"),
    "varbinary": ("binary", "bytea"),
    "image": ("binary", "bytea"),
    "rowversion": ("binary", "bytea"),
    "date": ("date", "date"),
    "time": ("time", "time"),
    "datetime": ("datetime", "timestamp(3)"),
    "smalldatetime": ("datetime", "timestamp(0)"),
    "datetime2": ("datetime", "timestamp"),
    "datetimeoffset": ("datetimeoffset", "timestamptz"),
    "uniqueidentifier": ("uniqueidentifier", "uuid"),
    "xml": ("xml", "sys.xml"),
    "sql_variant": ("variant", "text"),
    "boolean": ("boolean", "boolean"),
    "table": ("table", ""),
    "cursor": ("cursor", "refcursor"),
}

TYPE_NAMES = tuple(name for name in _TYPES if name != "boolean")
"""All of the system's that there are here."""
_FAMILIES = {name: family for name, (family, _) in _TYPES.items()}

_SYNONYMS: dict[str, str] = {
    "integer": "int",
    "numeric": "decimal",
    "dec": "decimal",
    "double precision": "float",
    "character": "char",
    "char varying": "varchar",
    "character varying": "varchar",
    "national char": "nchar",
    "national character": "nchar",
    "national char varying": "nvarchar",
    "national character varying": "nvarchar",
    "national text": "ntext",
    "binary varying": "varbinary",
    "timestamp": "rowversion",
}

_ELSEWHERE_CALLED = {
    "blob": "varbinary(max)",
    "bool": "bit",
    "boolean": "bit",
    "bytea": "varbinary(max)",
    "clob": "varchar(max)",
    "double": "float",
    "guid": "uniqueidentifier",
    "int4": "int",
    "int8": "bigint",
    "long": "bigint",
    "nclob": "nvarchar(max)",
    "number": "decimal",
    "nvarchar2": "nvarchar",
    "serial": "int IDENTITY",
    "short": "smallint",
    "string": "nvarchar",
    "timestamptz": "datetimeoffset",
    "uuid": "uniqueidentifier",
    "varchar2": "varchar",
}
"""Types that other databases have, and what they are called here."""

REFUSED: dict[str, str] = {
    "geography": "geography needs PostGIS, which this product does not ask for",
    "geometry": "geometry needs PostGIS, which this product does not ask for",
    "hierarchyid": "hierarchyid is a CLR type, and CLR types cannot run on PostgreSQL",
    "json": "the type json came with SQL Server 2025; nvarchar(max) and the JSON functions do here",
    "vector": "vector has no counterpart in a plain PostgreSQL server",
}

_NARROWER = frozenset({"tinyint", "smallmoney", "smalldatetime", "datetime"})
"""Of the PostgreSQL type that each has, some values are none of its own."""
_KEPT_BY_NAME = ("money", "smallmoney", "tinyint")
_OF_KEPT_TYPES = frozenset(
    {"numeric(19,4)", "numeric(10,4)", "smallint", "timestamp(3)", "timestamp(0)", "bytea"}
)
_KEPT = re.compile(r"(\w+)(?:\((\d+)\))?")
_NUMERIC_FAMILIES = frozenset({"integer", "decimal", "float", "bit"})


@dataclass(frozen=True)
class SqlType:
    """A T-SQL type.  ``length`` is MAX for (max), None where none was written.

    ``user`` names a user-defined type (CREATE TYPE), already in PostgreSQL spelling.
    """

    name: str
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    user: str | None = None
    collection: str | None = field(default=None, compare=False)
    """Of xml(collection): the PostgreSQL domain that validates its values."""
    written: str | None = field(default=None, compare=False)
    """Of a type that only the server knows: its name as errors tell it."""

    family: str = field(init=False, repr=False, compare=False)
    """integer, bit, decimal, float, string, binary, date, time, datetime, datetimeoffset,
    uniqueidentifier, xml, variant, boolean, table, cursor; user for a user-defined type."""

    def __post_init__(self) -> None:
        """Set the family, which is asked for more often than any other field."""
        object.__setattr__(self, "family", _FAMILIES.get(self.name, "user"))

    @property
    def is_string(self) -> bool:
        """A character type."""
        return self.family == "string"

    @property
    def is_numeric(self) -> bool:
        """A number; bit counts as one, as it does in T-SQL arithmetic."""
        return self.family in _NUMERIC_FAMILIES

    @property
    def kept(self) -> str | None:
        """How a column's comment names the type where PostgreSQL's means another one; None elsewhere."""
        if self.name in _KEPT_BY_NAME:
            return self.name
        if self.name == "datetime2" and self.scale in (0, 3):
            return f"datetime2({self.scale})"
        if self.name in ("binary", "varbinary") and self.length != MAX:
            return f"{self.name}({self.length or 1})"
        return None

    @property
    def may_be_kept(self) -> bool:
        """Whether PostgreSQL's type stands for one that is kept, too."""
        return self.postgres in _OF_KEPT_TYPES

    @property
    def is_datetime(self) -> bool:
        """A type with a date in it."""
        return self.family in ("date", "datetime", "datetimeoffset")

    @property
    def is_unicode(self) -> bool:
        """Nchar, nvarchar, ntext, sysname: two bytes a character in DATALENGTH."""
        return self.name in ("nchar", "nvarchar", "ntext", "sysname")

    @property
    def limit(self) -> int | None:
        """How many characters or bytes a value may have; None where nothing is too long."""
        if self.name == "sysname":
            return 128
        unlimited = self.length == MAX or self.name in ("text", "ntext", "image", "rowversion")
        if unlimited or self.user is not None:
            return None
        return (self.length or 1) if self.family in ("string", "binary") else None

    @property
    def is_narrower_here(self) -> bool:
        """Tell whether PostgreSQL's type holds more values than this one, as smallint does for tinyint."""
        if self.user is not None:
            return False
        return self.name in _NARROWER or (self.family == "binary" and self.limit is not None)

    @property
    def unlimited(self) -> SqlType:
        """The type that takes a value as it is, so that it can be seen to be too long."""
        if self.limit is None:
            return self
        name = "varbinary" if self.family == "binary" else "nvarchar" if self.is_unicode else "varchar"
        return replace(self, name=name, length=MAX)

    @property
    def postgres(self) -> str:
        """The PostgreSQL type of a column, variable or cast of this type."""
        if self.user is not None or self.collection is not None:
            return self.user or self.collection or ""
        base = _TYPES[self.name][1]
        if self.name in ("varchar", "nvarchar"):
            if self.length == MAX:
                return "text"
            return f"varchar({self.length or 1})"
        if self.name in ("char", "nchar"):
            return f"char({self.length or 1})"
        if self.name == "decimal":
            return f"numeric({self.precision or 18},{self.scale or 0})"
        if self.name == "datetime2":
            return f"timestamp({min(6 if self.scale is None else self.scale, 6)})"
        if self.name == "time":
            return f"time({min(6 if self.scale is None else self.scale, 6)})"
        if self.name == "datetimeoffset":
            return f"timestamptz({min(6 if self.scale is None else self.scale, 6)})"
        if self.name == "float" and self.precision is not None and self.precision <= 24:
            return "real"
        return base

    @property
    def postgres_bare(self) -> str:
        """The PostgreSQL type without length or precision, as a function's parameter has it."""
        text = self.postgres if self.collection is None else _TYPES[self.name][1]
        return text.partition("(")[0] if not text.endswith('"') else text

    @property
    def text(self) -> str:
        """The type as T-SQL writes it."""
        if self.length is not None:
            return f"{self.name}({'max' if self.length == MAX else self.length})"
        if self.precision is not None:
            return f"{self.name}({self.precision}{'' if self.scale is None else f',{self.scale}'})"
        if self.scale is not None:
            return f"{self.name}({self.scale})"
        return self.name


def typed_xml(schema: str, name: str, document: bool) -> SqlType:
    """Return xml(collection) or xml(DOCUMENT collection); schema and name as PostgreSQL has them."""
    domain = fold(f"{schema}.{name}{' document' if document else ''}")
    return replace(XML, collection=f"ssb.{quote(domain)}")


class TypeError_(ValueError):
    """A type that T-SQL does not know or that is refused; the message says which and why.

    ``number``: SQL Server's, where it is another one than that of an unknown type.
    """

    def __init__(self, message: str, number: int | None = None) -> None:
        """Keep both."""
        super().__init__(message)
        self.number = number


_INVALID_LENGTH = "Line 1: Length or precision specification {} is invalid."


def _too_long(type_: str, length: int, limit: int) -> str:
    """Error 131, and 2717 of nchar and nvarchar."""
    most = "for any data type (8000)" if length > 8000 else f"({limit})"
    return f"The size ({length}) given to the type '{type_}' exceeds the maximum allowed {most}."


def sql_type(name: str, arguments: tuple[int, ...] = (), *, cast: bool = False) -> SqlType:
    """Build the type ``name(arguments)``; MAX stands for ``max``.

    ``cast``: inside CAST and CONVERT a string or binary type without length has 30.
    Raises ``TypeError_`` for an unknown or refused name or wrong arguments.
    """
    base = " ".join(name.lower().split())
    base = _SYNONYMS.get(base, base)
    if base in REFUSED:
        raise TypeError_(REFUSED[base])
    if base not in _TYPES or base == "boolean":
        raise TypeError_(f"Type {name} is not a defined system type.", 243)
    family = _TYPES[base][0]
    if base in ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary"):
        if len(arguments) > 1:
            raise TypeError_(f"type {base} takes one length")
        length = arguments[0] if arguments else (30 if cast else 1)
        limit = 4000 if base in ("nchar", "nvarchar") else 8000
        if length > limit:
            raise TypeError_(_too_long(base, length, limit), 131 if length > 8000 else 2717)
        if length != MAX and length < 1:
            raise TypeError_(_INVALID_LENGTH.format(length), 1001)
        if length == MAX and base in ("char", "nchar", "binary"):
            raise TypeError_(f"type {base} has no (max)")
        return SqlType(base, length=length)
    if base == "decimal":
        precision = arguments[0] if arguments else 18
        scale = arguments[1] if len(arguments) > 1 else 0
        if precision > 38:
            raise TypeError_(
                f"Column or parameter #1: Specified column precision {precision} is greater than the maximum "
                "precision of 38.",
                2750,
            )
        if scale > precision > 0:
            raise TypeError_(
                f"Column or parameter #1: Specified column scale {scale} is greater than the specified "
                f"precision of {precision}.",
                2751,
            )
        if precision < 1:
            raise TypeError_(_INVALID_LENGTH.format(precision), 1001)
        if len(arguments) > 2:
            raise TypeError_(f"type {base} takes a precision and a scale")
        return SqlType(base, precision=precision, scale=scale)
    if base == "float":
        if arguments and arguments[0] < 1:
            raise TypeError_(_INVALID_LENGTH.format(arguments[0]), 1001)
        if arguments and arguments[0] > 53:
            raise TypeError_(
                f"Column or parameter #1: Specified column precision {arguments[0]} is greater than the "
                "maximum precision of 53.",
                2750,
            )
        return SqlType(base, precision=arguments[0] if arguments else 53)
    if base in ("datetime2", "time", "datetimeoffset"):
        if arguments and not 0 <= arguments[0] <= 7:
            raise TypeError_(f"Line 1: Specified scale {arguments[0]} is invalid.", 1002)
        return SqlType(base, scale=arguments[0] if arguments else 7)
    if arguments and family != "xml":
        if cast:
            raise TypeError_(f"CAST or CONVERT: invalid attributes specified for type '{base}'", 291)
        raise TypeError_(
            f"Column, parameter, or variable #1: Cannot specify a column width on data type {base}.", 2716
        )
    return SqlType(base)


INT = SqlType("int")
BIGINT = SqlType("bigint")
SMALLINT = SqlType("smallint")
TINYINT = SqlType("tinyint")
BIT = SqlType("bit")
BIT_KEPT_AS_BOOLEAN = SqlType("bit", user="boolean")
"""Of columns that another tool made: read and stored as a bit, which they are not in PostgreSQL."""
FLOAT = SqlType("float", precision=53)
REAL = SqlType("real")
MONEY = SqlType("money")
SMALLMONEY = SqlType("smallmoney")
DATETIME = SqlType("datetime")
DATETIME2 = SqlType("datetime2", scale=7)
MOMENT = SqlType("datetime2")
"""Of a parameter of the server's functions, which keep no precision: datetime, smalldatetime or datetime2."""
DATETIMEOFFSET = SqlType("datetimeoffset", scale=7)
SMALLDATETIME = SqlType("smalldatetime")
DATE = SqlType("date")
TIME = SqlType("time", scale=7)
UNIQUEIDENTIFIER = SqlType("uniqueidentifier")
XML = SqlType("xml")
SYSNAME = SqlType("sysname")
NVARCHAR_MAX = SqlType("nvarchar", length=MAX)
VARCHAR_MAX = SqlType("varchar", length=MAX)
VARBINARY_MAX = SqlType("varbinary", length=MAX)
BOOLEAN = SqlType("boolean")
VARIANT = SqlType("sql_variant")


def nvarchar(length: int) -> SqlType:
    """nvarchar(length), (max) above 4000."""
    return SqlType("nvarchar", length=length if length <= 4000 else MAX)


def varchar(length: int) -> SqlType:
    """varchar(length), (max) above 8000."""
    return SqlType("varchar", length=length if length <= 8000 else MAX)


def decimal(precision: int, scale: int) -> SqlType:
    """decimal(precision, scale), cut down to 38 digits as T-SQL does: the scale yields first."""
    if precision > 38:
        whole = precision - scale
        scale = max(min(scale, 38 - whole), min(scale, 6))
        precision = 38
    return SqlType("decimal", precision=max(precision, 1), scale=scale)


def meant_by(name: str, known: Iterable[str]) -> str | None:
    """Return the hint that names the type that is most likely meant by a name that none has."""
    elsewhere = _ELSEWHERE_CALLED.get(name.lower())
    if elsewhere is not None:
        return f"did you mean '{elsewhere}'?"
    return did_you_mean(name, (*TYPE_NAMES, *_SYNONYMS, *known))


def kept_type(text: str) -> SqlType | None:
    """Return the type that a column's comment names (`SqlType.kept`); None for what is none."""
    found = _KEPT.fullmatch(text)
    name, number = (found[1], int(found[2]) if found[2] else None) if found else ("", None)
    scaled = SqlType(name, scale=number) if name == "datetime2" else SqlType(name, length=number)
    return scaled if scaled.kept == text else None
