"""How a Spark column travels into a PostgreSQL table: which type on the way, which cast at the end.

Everything is decided before a task runs. What does not fit is refused by the column's name. On the
way, values are in one of a few types whose binary form Arrow's buffers nearly have already; the
last step, to the table's own type, is a cast on the database's side, in the transaction that
completes: a value that does not pass fails there, where the row can be named.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql

from .binary_copy import UUID_OR_TEXT, staged_as, text_of
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
    is_granted: bool
    """Whether the session may write it, where it may write others; else the table as a whole is told."""


TABLE_COLUMNS = """
SELECT a.attname AS name, format_type(a.atttypid, -1) AS type, b.typname::text AS base,
       CASE WHEN b.typcategory = 'A' THEN format_type(b.typelem, -1) END AS element,
       a.attgenerated = '' AND a.attidentity <> 'a' AND NOT (c.relkind = 'v' AND i.is_by_itself
           AND NOT pg_catalog.pg_column_is_updatable(c.oid, a.attnum, false)) AS is_written,
       pg_catalog.has_column_privilege(c.oid, a.attnum, 'INSERT')
           OR NOT pg_catalog.has_any_column_privilege(c.oid, 'INSERT') AS is_granted
  FROM pg_catalog.pg_attribute AS a
  JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
 CROSS JOIN LATERAL (
       -- A view that takes rows without a trigger or a rule: of what it computes it takes none. All of UPDATE
       -- (4) and DELETE (16) is asked for, since a column is what PostgreSQL tells only where both are there.
       SELECT pg_catalog.pg_relation_is_updatable(c.oid, false) & 20 = 20
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r
                                WHERE r.ev_class = c.oid AND r.ev_type = '3')
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS t
                               WHERE t.tgrelid = c.oid AND t.tgtype & 68 = 68) AS is_by_itself) AS i
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


def is_as_it_is(on_the_way: str, column: TableColumn) -> bool:
    """Whether COPY reads for the column what travels in this type."""
    return column.base in _AS_IT_IS.get(on_the_way, ())


@dataclass(frozen=True)
class _Way:
    """How values of some of Spark's types come into columns of some of PostgreSQL's."""

    kinds: Collection[str]
    bases: Collection[str] | None
    """None: whatever the column's type is."""
    type: str | Mapping[str, str]
    """On the way; by Spark's type where it depends on that."""
    value: str = "CAST({column} AS {to})"
    """At the end."""
    expression: str = "{here}"
    """Spark's."""


_TEXT = "pg_catalog.convert_from({column}, 'UTF8')"
_BITS = "CAST(CAST(({column})::pg_catalog.int4::pg_catalog.text AS pg_catalog.varbit) AS {to})"
_AS_STRING = "CAST({here} AS STRING)"
_AS_DOCUMENT = f"CAST(to_json({{here}}, {_MOMENTS}) AS BINARY)"
_WHOLE_DECIMAL = "DecimalType without a scale"
_WAYS = (
    _Way(("NullType", "VoidType"), None, "text", expression=_AS_STRING),
    _Way(_INTEGERS, _NUMBERS | _TEXTS, _INTEGERS),
    _Way(_INTEGERS, ("bool",), _INTEGERS, "({column} <> 0)"),
    _Way(_INTEGERS, ("bit", "varbit"), _INTEGERS, _BITS),
    _Way(_FLOATS, _TEXTS | {"float4", "float8", "numeric"}, _FLOATS),
    _Way(("BooleanType",), _TEXTS | {"bool"}, "bool"),
    _Way(("BooleanType",), ("bit", "varbit"), "bool", _BITS),
    _Way(
        ("BooleanType",),
        ("int2", "int4", "int8", "numeric"),
        "bool",
        "CAST(CAST({column} AS pg_catalog.int4) AS {to})",
    ),
    _Way(
        _STRINGS,
        ("uuid",),
        UUID_OR_TEXT,
        "CAST(COALESCE({column},"
        " CAST(pg_catalog.convert_from({beside}, 'UTF8') AS pg_catalog.uuid)) AS {to})",
    ),
    # As bytes: a NUL fails where the row can be named.
    _Way(_STRINGS, ("bytea",), "bytea", "{column}", "CAST({here} AS BINARY)"),
    _Way(_STRINGS, None, "bytea", f"CAST({_TEXT} AS {{to}})", "CAST({here} AS BINARY)"),
    _Way(("BinaryType",), ("bytea",), "bytea"),
    _Way(("BinaryType",), _TEXTS | _DOCUMENTS | {"xml"}, "bytea", f"CAST({_TEXT} AS {{to}})"),
    _Way(("BinaryType",), ("uuid",), "bytea", "CAST(pg_catalog.encode({column}, 'hex') AS {to})"),
    _Way(("DateType",), _TEXTS | {"date", "timestamp", "timestamptz"}, "date"),
    _Way(("TimestampType",), ("timestamp",), "timestamptz", "CAST(({column} AT TIME ZONE 'UTC') AS {to})"),
    _Way(("TimestampType",), _TEXTS | {"timestamptz"}, "timestamptz"),
    _Way(("TimestampNTZType",), _TEXTS | {"timestamp"}, "timestamp"),
    _Way(("TimeType",), _TEXTS | {"time", "timetz"}, "text", expression=_AS_STRING),
    _Way(("DecimalType",), _TEXTS | {"numeric", "float8", "money"}, "text", expression=_AS_STRING),
    _Way((_WHOLE_DECIMAL,), _TEXTS | _NUMBERS, "text", expression=_AS_STRING),
    _Way(_NESTED, _DOCUMENTS | _TEXTS, "bytea", f"CAST({_TEXT} AS {{to}})", _AS_DOCUMENT),
)
"""The first that fits."""


def plan(name: str, kind: "DataType", target: TableColumn, table: str) -> Travel:
    """How a column of Spark's type ``kind`` comes into ``target``. Raises BulkError where it does not."""
    if not target.is_written:
        raise BulkError(f"the column {name!r} of {table} is made by PostgreSQL and cannot be written")
    if not target.is_granted:
        raise BulkError(
            f"the job's role may not write the column {name!r} of {table}",
            f"GRANT INSERT on it, or leave it away in the program: drop({name!r})",
        )
    here = "`" + name.replace("`", "``") + "`"
    of = type(kind).__name__
    if of == "DecimalType" and getattr(kind, "scale", 1) == 0:
        of = _WHOLE_DECIMAL
    pieces = {
        "column": sql.Identifier(staged_as(name)),
        "beside": sql.Identifier(text_of(name)),
        "to": sql.SQL(target.type),  # spelled by the server, quoted where it must be
    }
    for way in _WAYS:
        if of in way.kinds and (way.bases is None or target.base in way.bases):
            on_the_way = way.type if isinstance(way.type, str) else way.type[of]
            value = sql.SQL(way.value).format(**pieces)
            # A column may be called {here}.
            expression = way.expression.replace("{here}", here)
            return Travel(name, expression, on_the_way, value, is_as_it_is(on_the_way, target))
    if target.element is not None and of == "ArrayType":
        text = sql.SQL(_TEXT).format(**pieces)
        array = _array(pieces["column"], text, kind, target, name, table)
        return Travel(name, _AS_DOCUMENT.replace("{here}", here), "bytea", array, is_plain=False)
    raise BulkError(
        f"the column {name!r} is {kind.simpleString()}, which does not fit {target.type} in {table}",
        "cast it in the program: f.col(…).cast(…)",
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
