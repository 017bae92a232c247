"""How a Spark column travels into a PostgreSQL table: which type on the way, which cast at the end.

Everything is decided before a task runs. What does not fit is refused by the column's name. On the
way, values are in one of a few types whose binary form Arrow's buffers nearly have already; the
last step, to the table's own type, is a cast on the database's side, in the transaction that
completes: a value that does not pass fails there, where the row can be named.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql

from .binary_copy import UUID_OR_TEXT, text_of
from .problems import BulkError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_INTEGERS = {"ByteType": "int2", "ShortType": "int2", "IntegerType": "int4", "LongType": "int8"}
_FLOATS = {"FloatType": "float4", "DoubleType": "float8"}
_STRINGS = frozenset({"StringType", "VarcharType", "CharType"})
_NESTED = frozenset({"StructType", "MapType", "ArrayType", "VariantType"})
_NUMBERS = frozenset({"int2", "int4", "int8", "numeric", "float4", "float8", "money"})
_TEXTS = frozenset({"text", "varchar", "bpchar", "name", "citext"})
_DOCUMENTS = frozenset({"json", "jsonb"})
# What JSON's text form of a moment must not lose: microseconds, and its offset, XXX in Spark's patterns.
_MOMENTS = (
    "map('timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\", 'timestampNTZFormat', "
    "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\", 'ignoreNullFields', 'false')"
)


# What is in its binary form, as it travels, what COPY reads for a column of that type: row by row it comes
# to the same as the cast at the end.
_AS_IT_IS: dict[str, frozenset[str]] = {
    **{one: frozenset({one}) for one in ("int2", "int4", "int8", "float4", "float8", "bool")},
    **{one: frozenset({one}) for one in ("date", "timestamp", "timestamptz")},
    UUID_OR_TEXT: frozenset({"uuid"}),
    "text": frozenset({"text", "varchar", "bpchar"}),
    "bytea": frozenset({"bytea", "text", "varchar", "bpchar"}),
}


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its type as SQL spells it, without a length; the type under its domains;
    of an array, the type of its elements."""

    name: str
    type: str
    base: str
    element: str | None
    is_written: bool


TABLE_COLUMNS = """
SELECT a.attname AS name, format_type(a.atttypid, -1) AS type, b.typname::text AS base,
       CASE WHEN b.typcategory = 'A' THEN format_type(b.typelem, -1) END AS element,
       a.attgenerated = '' AND a.attidentity <> 'a' AS is_written
  FROM pg_catalog.pg_attribute AS a
 CROSS JOIN LATERAL (
       WITH RECURSIVE under AS (
           SELECT t.oid, t.typbasetype, t.typtype, 0 AS depth
             FROM pg_catalog.pg_type AS t WHERE t.oid = a.atttypid
            UNION ALL
           SELECT t.oid, t.typbasetype, t.typtype, u.depth + 1
             FROM under AS u JOIN pg_catalog.pg_type AS t ON t.oid = u.typbasetype WHERE u.typtype = 'd')
       SELECT t.typname, t.typcategory, t.typelem
         FROM under AS u JOIN pg_catalog.pg_type AS t ON t.oid = u.oid ORDER BY u.depth DESC LIMIT 1) AS b
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
"""
"""Rows for TableColumn."""


@dataclass(frozen=True)
class Travel:
    """A column on its way: Spark's expression, how `binary_copy.encode` writes it, the value at the end, and
    whether COPY takes it as it is."""

    name: str
    expression: str
    type: str
    value: sql.Composable
    is_plain: bool


def plan(name: str, kind: "DataType", target: TableColumn, table: str) -> Travel:
    """How a column of Spark's type ``kind`` comes into ``target``. Raises BulkError where it does not."""
    spelled = kind.simpleString()
    here = "`" + name.replace("`", "``") + "`"
    column = sql.Identifier(name)
    to = sql.SQL(target.type)  # spelled by the server, quoted where it must be
    if not target.is_written:
        raise BulkError(f"the column {name!r} of {table} is made by PostgreSQL and cannot be written")

    def travel(type_: str, value: sql.Composable, expression: str = here) -> Travel:
        return Travel(name, expression, type_, value, base in _AS_IT_IS.get(type_, ()))

    def cast(value: sql.Composable) -> sql.Composable:
        return sql.SQL("CAST({} AS {})").format(value, to)

    text = sql.SQL("pg_catalog.convert_from({}, 'UTF8')").format(column)
    of = type(kind).__name__
    base = target.base
    if of in ("NullType", "VoidType"):
        return travel("text", cast(column), f"CAST({here} AS STRING)")
    if of in _INTEGERS and (base in _NUMBERS or base in _TEXTS):
        return travel(_INTEGERS[of], cast(column))
    if of in _INTEGERS and base == "bool":
        return travel(_INTEGERS[of], sql.SQL("({} <> 0)").format(column))
    if of in _INTEGERS and base in ("bit", "varbit"):
        return travel(_INTEGERS[of], _bit(column, to))
    if of in _FLOATS and (base in ("float4", "float8", "numeric") or base in _TEXTS):
        return travel(_FLOATS[of], cast(column))
    if of == "BooleanType":
        if base == "bool" or base in _TEXTS:
            return travel("bool", cast(column))
        if base in ("bit", "varbit"):
            return travel("bool", _bit(column, to))
        if base in ("int2", "int4", "int8", "numeric"):
            return travel("bool", cast(sql.SQL("CAST({} AS pg_catalog.int4)").format(column)))
    if of in _STRINGS and base == "uuid":
        beside = sql.SQL("pg_catalog.convert_from({}, 'UTF8')").format(sql.Identifier(text_of(name)))
        value = sql.SQL("COALESCE({}, CAST({} AS pg_catalog.uuid))").format(column, beside)
        return travel(UUID_OR_TEXT, cast(value))
    if of in _STRINGS:
        # As bytes: a NUL fails where the row can be named.
        return travel("bytea", column if base == "bytea" else cast(text), f"CAST({here} AS BINARY)")
    if of == "BinaryType":
        if base == "bytea":
            return travel("bytea", cast(column))
        if base in _TEXTS or base in _DOCUMENTS or base == "xml":
            return travel("bytea", cast(text))
        if base == "uuid":
            return travel("bytea", cast(sql.SQL("pg_catalog.encode({}, 'hex')").format(column)))
    if of == "DateType" and (base in ("date", "timestamp", "timestamptz") or base in _TEXTS):
        return travel("date", cast(column))
    if of == "TimestampType":
        if base == "timestamp":
            return travel("timestamptz", cast(sql.SQL("({} AT TIME ZONE 'UTC')").format(column)))
        if base == "timestamptz" or base in _TEXTS:
            return travel("timestamptz", cast(column))
    if of == "TimestampNTZType" and (base == "timestamp" or base in _TEXTS):
        return travel("timestamp", cast(column))
    if of == "TimeType" and (base in ("time", "timetz") or base in _TEXTS):
        return travel("text", cast(column), f"CAST({here} AS STRING)")
    if of == "DecimalType" and (
        base in ("numeric", "float8", "money")
        or base in _TEXTS
        or (base in _NUMBERS and getattr(kind, "scale", 1) == 0)
    ):
        return travel("text", cast(column), f"CAST({here} AS STRING)")
    if of in _NESTED:
        document = f"CAST(to_json({here}, {_MOMENTS}) AS BINARY)"
        if base in _DOCUMENTS or base in _TEXTS:
            return travel("bytea", cast(text), document)
        if target.element is not None and of == "ArrayType":
            return travel("bytea", _array(column, text, kind, target, name, table), document)
    raise BulkError(
        f"the column {name!r} is {spelled}, which does not fit {target.type} in {table}",
        "cast it in the program: f.col(…).cast(…)",
    )


def _bit(column: sql.Composable, to: sql.Composable) -> sql.Composable:
    return sql.SQL("CAST(CAST(({})::pg_catalog.int4::pg_catalog.text AS pg_catalog.varbit) AS {})").format(
        column, to
    )


def _array(
    column: sql.Composable,
    text: sql.Composable,
    kind: Any,
    target: TableColumn,
    name: str,
    table: str,
) -> sql.Composable:
    """An array of plain values, out of its JSON."""
    of = type(kind.elementType).__name__
    if of in ("ArrayType", "MapType", "StructType", "VariantType") and target.element not in _DOCUMENTS:
        raise BulkError(
            f"the column {name!r} is {kind.simpleString()}, which does not fit {target.type} in {table}",
            "arrays of plain values fit PostgreSQL's arrays; the rest fits jsonb",
        )
    value = "pg_catalog.decode(e.value, 'base64')" if of == "BinaryType" else "e.value"
    function = "jsonb_array_elements" if target.element in _DOCUMENTS else "jsonb_array_elements_text"
    return sql.SQL(
        "(CASE WHEN {column} IS NOT NULL THEN CAST(ARRAY(SELECT "
        + value
        + " FROM pg_catalog."
        + function
        + "("
        "CAST({text} AS pg_catalog.jsonb)) WITH ORDINALITY AS e (value, place)"
        " ORDER BY e.place) AS {to}) END)"
    ).format(column=column, text=text, to=sql.SQL(target.type))
