"""Values for variables and columns: what T-SQL converts when it assigns or stores."""

from __future__ import annotations

from ..catalog import types as tm
from ..catalog.objects import ColumnInfo
from ..catalog.types import BIT, BIT_KEPT_AS_BOOLEAN, MAX, SqlType
from ..target import nodes as n
from .constant_texts import is_exact_date, is_guid, is_integer
from .conversions import convert, fits_number, limit
from .precedence import holds_all
from .values import Value, call, cast, string

_COARSER = {"datetime": ("datetime2", "date"), "smalldatetime": ("datetime", "datetime2", "date")}
"""By a type of moments those that have values beyond its own."""


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
        if isinstance(value.constant, str) and is_integer(value.constant) and to.name in ("int", "bigint"):
            return value
        return convert(value, to)
    if target == "decimal" and family in ("integer", "bit", "decimal", "float"):
        return value if fits_number(value, to) else convert(value, to)
    if target == "float" and family in ("integer", "bit", "decimal", "float"):
        return value
    if target == "bit":
        if family == "bit" or value.constant in (0, 1):
            return value
        return convert(value, to)
    if target in ("datetime", "date") and family == "string" and isinstance(value.constant, str):
        return value if is_exact_date(value.constant, to) else convert(value, to)
    if target == "datetime" and family in ("datetime", "date"):
        return convert(value, to) if source.name in _COARSER.get(to.name, ()) else value
    if target == "uniqueidentifier" and isinstance(value.constant, str) and is_guid(value.constant):
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


def load(code: n.Node, column: ColumnInfo) -> Value:
    """The value of a column as it is read: a boolean that stands for a bit is one."""
    if column.type != BIT_KEPT_AS_BOOLEAN:
        return Value(code, column.type, pg=column.pg, nullable=column.nullable)
    bit = n.CertainCast(n.CertainCast(code, "integer"), BIT.postgres)
    return Value(bit, BIT, nullable=column.nullable)


def store(value: Value, to: SqlType | None) -> Value:
    """The value converted for a column of type ``to``: as ``assign``, but too long strings are errors."""
    if to is None:
        return value
    if to == BIT_KEPT_AS_BOOLEAN:
        bit = assign(value, BIT)
        return bit if bit.is_null else Value(n.Cast(n.Cast(n.Paren(bit.code), "integer"), "boolean"), to)
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
    return call("sys.fitting", value.code, n.Integer(to.limit), type=to)


_SMALL_INTEGERS = {"tinyint": range(256), "smallint": range(-32768, 32768)}


def _small_integer(value: Value, source: SqlType, to: SqlType) -> Value:
    """A whole number for tinyint or smallint: 220 tells the value that is too large."""
    fits = isinstance(value.constant, int) and value.constant in _SMALL_INTEGERS[to.name]
    return value if fits or holds_all(to, source) else convert(value, to)


def is_known_to_fit(value: Value, to: SqlType) -> bool:
    """Whether ``to``, of numbers or moments, has a value as it is: a small number, a narrower type."""
    source = value.type
    if source is None:
        return False
    if isinstance(value.constant, int) and to.is_numeric:
        return value.constant in _SMALL_INTEGERS.get(to.name, range(-(10**5), 10**5))
    if source.family in ("integer", "bit") and to.family == "integer":
        return holds_all(to, source)
    if source.family == to.family == "datetime":
        return source.name not in _COARSER.get(to.name, ())
    return to.family == "float" and source.family in ("integer", "bit", "decimal")


def _assign_unknown(value: Value, to: SqlType) -> Value:
    """An expression whose type only the server knows.

    Most often it is the target's own type, so the cheap spelling is tried where a wrong
    guess cannot pass silently: PostgreSQL's assignment cast refuses what it cannot do.
    """
    if to.family == "xml":
        return call("sys.xml_of", value.code, type=to)
    if to.family == "string":
        return convert(value, to)
    if to.family in ("integer", "bit", "binary", "date", "time", "datetime", "datetimeoffset"):
        return convert(value, to)
    if to.family == "uniqueidentifier" and isinstance(value.code, n.Subquery):
        # (SELECT NULL) is a text where it is an argument.
        return cast(value, to.postgres, to)
    return value
