"""Values that pass through the daemon as they are, in PostgreSQL's binary format.

A set of messages is read here as arrays and given to the other instance as arrays. Nothing in them is looked
at on the way, so none is made a Python object: 500 messages of 200 bytes are six copies of memory.
"""

from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper, Transformer
from psycopg.pq import Format

from .readers import Connection

_COUNT = slice(12, 16)
"""Where a binary array of one dimension says how many elements it has."""


class Raw(bytes):
    """A value in binary format."""

    oid: int
    """Of its type."""


class RawJson(Raw):
    """jsonb."""

    oid = 3802


class RawIntegers(Raw):
    """integer[]."""

    oid = 1007


class RawBigints(Raw):
    """bigint[]."""

    oid = 1016


class RawTexts(Raw):
    """text[]."""

    oid = 1009


class RawBodies(Raw):
    """bytea[]."""

    oid = 1001


_BY_OID = {one.oid: one for one in (RawJson, RawIntegers, RawBigints, RawTexts, RawBodies)}


class _RawDumper(Dumper):
    format = Format.BINARY

    def __init__(self, cls: type[Raw], context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = cls.oid

    def dump(self, obj: Raw) -> Buffer:
        return obj


def accept_raw(connection: Connection) -> None:
    """Let statements of this connection have raw values, each as its placeholder %b."""
    for one in _BY_OID.values():
        connection.adapters.register_dumper(one, _RawDumper)


class UnexpectedType(Exception):
    """A column has another type than was asked for."""


def raw_row(
    cursor: psycopg.AsyncCursor[Any], types: tuple[type[Raw] | None, ...]
) -> list[Raw | bytes | None] | None:
    """The first row of a binary result as it came; None without one.

    ``types`` says what each column has to be; None: anything. Raises UnexpectedType.
    """
    result = cursor.pgresult
    if result is None or result.ntuples == 0:
        return None
    if result.nfields != len(types):
        raise UnexpectedType
    row: list[Raw | bytes | None] = []
    for column, wanted in enumerate(types):
        value = result.get_value(0, column)
        if wanted is not None and result.ftype(column) != wanted.oid:
            raise UnexpectedType
        row.append(wanted(value) if wanted is not None and value is not None else value)
    return row


def count_of(array: bytes) -> int:
    """How many elements a raw array has."""
    return int.from_bytes(array[_COUNT], "big")


def number_of(value: bytes | None) -> int | None:
    """An integer or bigint that came in binary."""
    return int.from_bytes(value, "big", signed=True) if value is not None else None


def loaded(value: Raw | None) -> Any:
    """As a Python object."""
    return Transformer().get_loader(value.oid, Format.BINARY).load(value) if value is not None else None
