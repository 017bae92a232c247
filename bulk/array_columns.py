"""Columns that the server has aggregated, as Arrow's arrays, without Python touching a value.

Numbers and moments come as PostgreSQL's arrays in their binary form: behind a header each element's
length and its bytes, the highest first (src/backend/utils/adt/arrayfuncs.c, array_send). Such
arrays hold no NULL here, so all elements are of one width and numpy reads them at once. Texts and
bodies come as one value that holds them all, one behind the other, which is what Arrow keeps of
them too, and an array of their lengths (-1: NULL).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# PostgreSQL counts from 2000-01-01.
_DAYS = 10957
_MICROSECONDS = 946684800_000_000
# Arrow's type, the type in which PostgreSQL sends it, and what stands in for NULL.
_FIXED = {
    "boolean": ("bool", "u1", "'false'"),
    "short": ("int2", ">i2", "'0'"),
    "int": ("int4", ">i4", "'0'"),
    "long": ("int8", ">i8", "'0'"),
    "double": ("float8", ">f8", "'0'"),
    "date": ("date", ">i4", "'2000-01-01'"),
    "timestamp": ("timestamptz", ">i8", "'2000-01-01 00:00:00+00'"),
}


@dataclass(frozen=True)
class Column:
    """A column of a query: its type as Spark's DDL spells it, and the SQL expression that it is."""

    name: str
    kind: str
    expression: str


def aggregate(columns: Sequence[Column], relation: str, order: str, size: int, most_bytes: int) -> str:
    """A query for the rows of ``relation``, ``size`` of them at most in one row, which `record_batch` reads.

    ``order`` is what ORDER BY takes, or empty. Texts and bodies of one row of the query have less than
    2 * ``most_bytes`` bytes, or are those of one row of the relation, as PostgreSQL's values end at 1 GB.
    Its session must not hash to group (enable_hashagg): that would keep all rows in memory.
    """
    inner = []
    outer = ["count(*)"]
    lengths = ["0"]
    for number, column in enumerate(columns):
        value = f"a{number}"
        if column.kind in _FIXED:
            type_, _, absent = _FIXED[column.kind]
            given = f"({column.expression})"
            if column.kind in ("date", "timestamp"):
                given = finite(given)
            inner.append(f"({given})::pg_catalog.{type_} AS {value}")
            outer += [
                f"pg_catalog.array_agg(coalesce({value}, {absent}))",
                f"pg_catalog.array_agg({value} IS NOT NULL)",
            ]
        else:
            given = f"({column.expression})"
            if column.kind == "string":
                given = f"pg_catalog.convert_to({given}::pg_catalog.text, 'UTF8')"
            inner.append(f"{given} AS {value}")
            length = f"pg_catalog.octet_length({value})"
            lengths.append(f"coalesce({length}, 0)::pg_catalog.int8")
            outer += [
                f"pg_catalog.string_agg({value}, ''::pg_catalog.bytea)",
                f"pg_catalog.array_agg(coalesce({length}, -1))",
            ]
    window = f"ORDER BY {order} " if order else ""
    # Each of these grows from row to row or stays: a batch ends where one grows. The last two part a
    # row that has most_bytes alone from the one before it and the one behind it.
    steps = (
        f"(place - 1) / {size:d}",
        f"bytes_so_far / {most_bytes:d}",
        "large_so_far",
        f"large_so_far - (bytes >= {most_bytes:d})::pg_catalog.int4",
    )
    # Sorted by both: a sort by the batch alone may bring its rows into another order where it spills.
    return (
        f"SELECT {', '.join(outer)} FROM (SELECT *, {' + '.join(steps)} AS batch FROM"
        " (SELECT v.*, b.bytes, pg_catalog.row_number() OVER w AS place,"
        " (pg_catalog.sum(b.bytes) OVER w)::pg_catalog.int8 AS bytes_so_far,"
        f" count(*) FILTER (WHERE b.bytes >= {most_bytes:d}) OVER w AS large_so_far"
        f" FROM (SELECT * FROM {relation}) AS r CROSS JOIN LATERAL (SELECT {', '.join(inner)}) AS v"
        f" CROSS JOIN LATERAL (SELECT {' + '.join(lengths)} AS bytes) AS b"
        f" WINDOW w AS ({window}ROWS UNBOUNDED PRECEDING)) AS placed"
        " ORDER BY batch, place) AS rows GROUP BY batch ORDER BY batch"
    )


def finite(given: str) -> str:
    """The day or moment that is ``given`` in brackets, NULL for one beyond what Arrow counts to."""
    return f"CASE WHEN pg_catalog.isfinite{given} THEN {given} END"


def record_batch(columns: Sequence[Column], values: Sequence[bytes | None]) -> Any:
    """A row of `aggregate`'s query, its fields in their binary form, as a record batch."""
    import pyarrow

    arrays = []
    for number, column in enumerate(columns):
        first, second = values[1 + 2 * number : 3 + 2 * number]
        if column.kind in _FIXED:
            is_there = numbers(second, "boolean").astype(bool)
            arrays.append(fixed(first, column.kind, None if is_there.all() else ~is_there))
        else:
            arrays.append(varying(first, numbers(second, "int"), column.kind))
    return pyarrow.RecordBatch.from_arrays(arrays, names=[one.name for one in columns])


def numbers(data: bytes | None, kind: str) -> Any:
    """The elements of an array without NULL as a numpy array, in this machine's byte order."""
    import numpy

    if data is None:
        return numpy.zeros(0, dtype="i8")
    format_ = numpy.dtype(_FIXED[kind][1])
    if data[:4] == b"\0\0\0\0":
        return numpy.zeros(0, dtype=format_.newbyteorder("="))
    elements = numpy.frombuffer(data, dtype=[("length", ">i4"), ("value", format_)], offset=20)
    return elements["value"].astype(format_.newbyteorder("="))


def fixed(data: bytes | None, kind: str, absent: Any = None) -> Any:
    """An array of numbers, booleans or moments as Arrow's; ``absent`` (numpy) tells which are NULL."""
    import pyarrow

    values = numbers(data, kind)
    types = arrow_types()
    if kind == "boolean":
        return pyarrow.array(values.astype(bool), types[kind], mask=absent)
    if kind == "date":
        return pyarrow.array(values + _DAYS, pyarrow.int32(), mask=absent).cast(types[kind])
    if kind == "timestamp":
        return pyarrow.array(values + _MICROSECONDS, pyarrow.int64(), mask=absent).cast(types[kind])
    return pyarrow.array(values, types[kind], mask=absent)


def varying(data: bytes | None, lengths: Any, kind: str) -> Any:
    """Texts or bodies that stand one behind the other as Arrow's array; a length below zero is NULL."""
    import numpy
    import pyarrow

    offsets = numpy.zeros(len(lengths) + 1, dtype="i4")
    numpy.cumsum(numpy.maximum(lengths, 0), out=offsets[1:])
    is_there = None
    if len(lengths) and lengths.min() < 0:
        is_there = pyarrow.py_buffer(numpy.packbits(lengths >= 0, bitorder="little").tobytes())
    return pyarrow.Array.from_buffers(
        arrow_types()[kind],
        len(lengths),
        [is_there, pyarrow.py_buffer(offsets.tobytes()), pyarrow.py_buffer(data or b"")],
    )


def arrow_types() -> dict[str, Any]:
    """Arrow's types by the words of Spark's DDL."""
    import pyarrow

    return {
        "boolean": pyarrow.bool_(),
        "short": pyarrow.int16(),
        "int": pyarrow.int32(),
        "long": pyarrow.int64(),
        "double": pyarrow.float64(),
        "string": pyarrow.string(),
        "binary": pyarrow.binary(),
        "date": pyarrow.date32(),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
    }
