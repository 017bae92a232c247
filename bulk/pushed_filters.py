"""What ``where(…)`` asks of a look at queues or views, as conditions of SQL (Spark 4.1 and newer).

Spark hands over what it would do itself, one comparison of a column with values each. A condition
says the same of the value that the look would have given: a text by its bytes, a moment that Arrow
cannot hold as NULL. What cannot be said so stays with Spark.
"""

import datetime
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg import sql

from .array_columns import Column, finite

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

_COMPARED = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "EqualNullSafe": "IS NOT DISTINCT FROM",
}
_WITHIN = {
    "StringStartsWith": "pg_catalog.starts_with({value}, {part})",
    "StringEndsWith": "pg_catalog.right({value}, pg_catalog.length({part})) = {part}",
    "StringContains": "pg_catalog.strpos({value}, {part}) > 0",
}
_EQUAL = ("EqualTo", "In")


@dataclass(frozen=True)
class Filtered:
    """A column that is read; ``is_uuid``: it is one, whose text is read."""

    column: Column
    is_uuid: bool


def is_asked() -> bool:
    """Whether Spark plans with filters here. Where it does not, it refuses a reader that would take some."""
    return "pyspark.sql.worker.data_source_pushdown_filters" in sys.modules


def taken(filters: Iterable["Filter"], columns: Mapping[str, Filtered]) -> tuple[list[str], list["Filter"]]:
    """Conditions of SQL, and the filters that they leave to Spark."""
    conditions = []
    rest = []
    for one in filters:
        said = _condition(one, columns)
        if said is None:
            rest.append(one)
        else:
            conditions.append(said.as_string(None))
    return conditions, rest


def _condition(asked: "Filter", columns: Mapping[str, Filtered]) -> sql.Composable | None:
    kind = type(asked).__name__
    if kind == "Not":
        said = _condition(asked.child, columns)
        return None if said is None else sql.SQL("(NOT {})").format(said)
    path = asked.attribute
    found = columns.get(path[0]) if len(path) == 1 else None
    if found is None:
        return None
    if kind in ("IsNull", "IsNotNull"):
        word = "IS NULL" if kind == "IsNull" else "IS NOT NULL"
        return sql.SQL("({} " + word + ")").format(_value(found.column))
    values: Sequence[Any] = asked.value if kind == "In" else (asked.value,)
    if found.is_uuid and kind in _EQUAL and all(_is_uuid(one) for one in values):
        # As a uuid it is found by an index.
        value: sql.Composable = sql.SQL("({})").format(sql.SQL(found.column.expression))
        literals: list[sql.Composable | None] = [
            sql.SQL("{}::pg_catalog.uuid").format(sql.Literal(one)) for one in values
        ]
    else:
        value = _value(found.column)
        literals = [_literal(one, found.column.kind) for one in values]
    if not literals or any(one is None for one in literals):
        return None
    if kind == "In":
        return sql.SQL("({} IN ({}))").format(value, sql.SQL(", ").join(literals))
    if kind in _COMPARED:
        return sql.SQL("({} " + _COMPARED[kind] + " {})").format(value, literals[0])
    if kind in _WITHIN and found.column.kind == "string":
        return sql.SQL("(" + _WITHIN[kind] + ")").format(value=value, part=literals[0])
    return None


def _value(column: Column) -> sql.Composable:
    """The column's value as `array_columns.aggregate` reads it."""
    given = sql.SQL("({})").format(sql.SQL(column.expression))
    if column.kind == "string":
        return sql.SQL('({}::pg_catalog.text COLLATE "C")').format(given)
    if column.kind in ("date", "timestamp"):
        type_ = sql.SQL("date" if column.kind == "date" else "timestamptz")
        return sql.SQL("({})::pg_catalog.{}").format(sql.SQL(finite(f"({column.expression})")), type_)
    if column.kind == "double":
        return sql.SQL("{}::pg_catalog.float8").format(given)
    return given


def _is_uuid(value: object) -> bool:
    """Whether it is a uuid's text as PostgreSQL writes it: any other text equals none."""
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False


def _literal(value: object, kind: str) -> sql.Composable | None:
    """The value as what the column is compared with; None where PostgreSQL has no such."""
    types, said = _LITERALS[kind]
    return said(value) if type(value) in types else None


def _text(value: str) -> sql.Composable | None:
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return None
    return sql.SQL("{}::pg_catalog.text").format(sql.Literal(value))


def _bytes(value: bytes) -> sql.Composable:
    return sql.SQL("pg_catalog.decode({}, 'hex')").format(sql.Literal(value.hex()))


def _moment(value: datetime.datetime) -> sql.Composable | None:
    if value.tzinfo is None:
        return None
    return sql.SQL("{}::pg_catalog.timestamptz").format(sql.Literal(value.isoformat()))


def _number(value: float) -> sql.Composable:
    return sql.SQL("{}::pg_catalog.float8").format(sql.Literal(str(value)))


def _day(value: datetime.date) -> sql.Composable:
    return sql.SQL("{}::pg_catalog.date").format(sql.Literal(value.isoformat()))


_WHOLE = ((int,), sql.Literal)
_LITERALS: Mapping[str, tuple[tuple[type, ...], Callable[[Any], sql.Composable | None]]] = {
    "boolean": ((bool,), sql.Literal),
    "short": _WHOLE,
    "int": _WHOLE,
    "long": _WHOLE,
    "double": ((float,), _number),
    "string": ((str,), _text),
    "binary": ((bytes, bytearray), _bytes),
    "date": ((datetime.date,), _day),
    "timestamp": ((datetime.datetime,), _moment),
}
