"""Values that pass through the daemon as they are, in PostgreSQL's binary format.

A set of messages is read here as arrays and given to the other instance as arrays. Nothing in them is looked
at on the way, so none is made a Python object: 500 messages of 200 bytes are six copies of memory. Where a
set has to be divided, arrays are cut between their elements: an int4 of length (-1: NULL), and the bytes.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakSet

from psycopg import InternalError
from psycopg.abc import AdaptContext, Buffer, PQGen
from psycopg.adapt import Dumper, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult

from .readers import Connection

_NEVER = 2**31
"""How often a statement runs before it is prepared unasked."""
_COUNT = slice(12, 16)
"""Where a binary array of one dimension says how many elements it has."""
_HEAD = struct.Struct(">iiIii")
"""Dimensions, whether there are NULLs, the elements' type, how many, the number of the first."""
_EMPTY = struct.Struct(">iiI")
LENGTH = struct.Struct(">i")
"""What an element begins with."""


class Raw(bytes):
    """A value in binary format."""

    oid: int
    """Of its type."""
    element_oid: int = 0
    """Of an array."""
    width: int | None = None
    """Of an element in bytes; None: they differ."""


class RawJson(Raw):
    """jsonb."""

    oid = 3802


class RawText(Raw):
    """text."""

    oid = 25


class RawIntegers(Raw):
    """integer[]."""

    oid, element_oid, width = 1007, 23, 4


class RawBigints(Raw):
    """bigint[]."""

    oid, element_oid, width = 1016, 20, 8


class RawTexts(Raw):
    """text[]."""

    oid, element_oid = 1009, 25


class RawBodies(Raw):
    """bytea[]."""

    oid, element_oid = 1001, 17


class RawUuids(Raw):
    """uuid[]."""

    oid, element_oid, width = 2951, 2950, 16


class RawDoubles(Raw):
    """double precision[]."""

    oid, element_oid, width = 1022, 701, 8


_BY_OID = {one.oid: one for one in (RawJson, RawIntegers, RawBigints, RawTexts, RawBodies, RawUuids)}


class _RawDumper(Dumper):
    format = Format.BINARY

    def __init__(self, cls: type[Raw], context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = cls.oid

    def dump(self, obj: Raw) -> Buffer:
        return obj


def accept_raw(connection: Connection) -> None:
    """Let this connection's statements have raw values, each as its placeholder %b, and be prepared."""
    for one in _BY_OID.values():
        connection.adapters.register_dumper(one, _RawDumper)
    connection.prepare_threshold = _NEVER


class RawStatement:
    """A statement whose values and result are binary, prepared once for a connection in autocommit mode.

    A cursor finds out for each call what a statement is and how its values are to be written: of a message on
    a quiet dialog, that is a fifth of what this process does.
    """

    _names = 0

    def __init__(self, text: str) -> None:
        """``text``: with $1, $2, …, each cast to its type."""
        self._text = text.encode()
        RawStatement._names += 1
        self._name = b"pgsb_%d" % RawStatement._names
        self._prepared_on: WeakSet[Connection] = WeakSet()

    async def run(self, connection: Connection, values: Sequence[bytes | None]) -> PGresult:
        """The result. Raises psycopg.Error, as a cursor does."""
        async with connection.lock:
            return await connection.wait(self._run(connection, values))

    def _run(self, connection: Connection, values: Sequence[bytes | None]) -> PQGen[PGresult]:
        session = connection.pgconn
        if connection not in self._prepared_on:
            session.send_prepare(self._name, self._text)
            _checked(connection, (yield from execute(session)), ExecStatus.COMMAND_OK)
            self._prepared_on.add(connection)
        session.send_query_prepared(
            self._name, values, param_formats=[Format.BINARY] * len(values), result_format=Format.BINARY
        )
        return _checked(connection, (yield from execute(session)), ExecStatus.TUPLES_OK)


def _checked(connection: Connection, results: Sequence[PGresult], wanted: ExecStatus) -> PGresult:
    result = results[-1]
    if result.status == ExecStatus.FATAL_ERROR:
        raise error_from_result(result, encoding=connection.info.encoding)
    if result.status != wanted:
        raise InternalError(f"a statement was answered with {ExecStatus(result.status).name}")
    return result


def integer(value: int | None) -> bytes | None:
    """In binary."""
    return value.to_bytes(4, "big", signed=True) if value is not None else None


def bigint(value: int | None) -> bytes | None:
    """In binary."""
    return value.to_bytes(8, "big", signed=True) if value is not None else None


class UnexpectedType(Exception):
    """A column has another type than was asked for."""


class Malformed(Exception):
    """Bytes that are no array of its type, or have another number of elements than they should."""


def raw_row(result: PGresult | None, types: tuple[type[Raw] | None, ...]) -> list[Raw | bytes | None] | None:
    """The first row of a binary result as it came; None without one.

    ``types`` says what each column has to be; None: anything. Raises UnexpectedType.
    """
    if result is None or result.ntuples == 0:
        return None
    if result.nfields != len(types):
        raise UnexpectedType
    values: list[Raw | bytes | None] = []
    for column, wanted in enumerate(types):
        value = result.get_value(0, column)
        if wanted is not None and result.ftype(column) != wanted.oid:
            raise UnexpectedType
        values.append(wanted(value) if wanted is not None and value is not None else value)
    return values


def count_of(array: bytes) -> int:
    """How many elements a raw array has."""
    return int.from_bytes(array[_COUNT], "big")


def number_of(value: bytes | None) -> int | None:
    """An integer or bigint that came in binary."""
    return int.from_bytes(value, "big", signed=True) if value is not None else None


def loaded(value: Raw | None) -> Any:
    """As a Python object. Of what another instance says see `checked_list`."""
    return Transformer().get_loader(value.oid, Format.BINARY).load(value) if value is not None else None


# ------------------------------------------------------------------ arrays in parts


def elements_of(array: Raw) -> bytes:
    """The elements of an array of one dimension, one behind the other. Raises Malformed."""
    if array[:4] == b"\0\0\0\0" and len(array) == _EMPTY.size:
        return b""
    if len(array) < _HEAD.size:
        raise Malformed
    dimensions, _, element_oid, _, _ = _HEAD.unpack_from(array)
    if dimensions != 1 or element_oid != array.element_oid:
        raise Malformed
    return array[_HEAD.size :]


def array_of(kind: type[Raw], count: int, elements: Iterable[bytes]) -> Any:
    """An array of elements, given in parts: a ``kind``."""
    if count == 0:
        return kind(_EMPTY.pack(0, 0, kind.element_oid))
    return kind(_HEAD.pack(1, 1, kind.element_oid, count, 1) + b"".join(elements))


def element(value: bytes | None) -> bytes:
    """An element with this value."""
    return NULL if value is None else LENGTH.pack(len(value)) + value


NULL = b"\xff\xff\xff\xff"
"""An element that is NULL."""


def cut(elements: bytes, counts: Sequence[int]) -> list[bytes]:
    """Divide elements into parts of so many. Raises Malformed where they are not as many as all together."""
    total = sum(counts)
    ends = _ends_of_equals(elements, total) or _ends(elements, total)
    if (ends[-1] if ends else 0) != len(elements):
        raise Malformed
    parts = []
    at = done = 0
    for count in counts:
        done += count
        end = ends[done - 1] if done else 0
        parts.append(elements[at:end])
        at = end
    return parts


def _ends_of_equals(elements: bytes, total: int) -> Sequence[int] | None:
    """Where each element ends, if all are the same: most sets have messages of one type and kind."""
    if total and len(elements) % total == 0 and len(elements) // total >= LENGTH.size:
        size = len(elements) // total
        (length,) = LENGTH.unpack_from(elements)
        if size == LENGTH.size + max(length, 0) and length >= -1 and elements[:size] * total == elements:
            return range(size, len(elements) + 1, size)
    return None


def _ends(elements: bytes, total: int) -> Sequence[int]:
    ends = []
    at = 0
    read = LENGTH.unpack_from
    try:
        for _ in range(total):
            (length,) = read(elements, at)
            if length >= 0:
                at += length
            elif length != -1:
                raise Malformed
            at += 4
            ends.append(at)
    except struct.error:
        raise Malformed from None
    return ends


def cut_fixed(array: Raw, counts: Sequence[int]) -> list[bytes]:
    """As `cut`, of an array of this server's whose elements have a width and are not NULL."""
    assert array.width is not None
    size = LENGTH.size + array.width
    elements = elements_of(array)
    if len(elements) != size * sum(counts):
        raise Malformed
    parts = []
    at = 0
    for count in counts:
        parts.append(elements[at : at + size * count])
        at += size * count
    return parts


def require_elements(elements: bytes, count: int, width: int | None = None) -> None:
    """Raise Malformed where they are not so many; ``width``: of each that is not NULL."""
    if width is not None and len(elements) == (LENGTH.size + width) * count:
        lengths = struct.unpack(">" + f"i{width}x" * count, elements)
        if lengths.count(width) == count:
            return
    cut(elements, [count])


def numbers_of(array: Raw) -> tuple[int, ...]:
    """An integer[] or bigint[] without NULLs. Raises Malformed."""
    return unpacked(elements_of(array), "4xi" if array.width == 4 else "4xq")


def bigints_of(elements: bytes) -> tuple[int, ...]:
    """Elements of a bigint[] without NULLs. Raises Malformed."""
    return unpacked(elements, "4xq")


def unpacked(elements: bytes, one: str) -> tuple[int, ...]:
    """Numbers by the format of each. Raises Malformed."""
    size = struct.calcsize(">" + one)
    if len(elements) % size:
        raise Malformed
    return struct.unpack(">" + one * (len(elements) // size), elements)


def packed(values: Sequence[int], one: str) -> bytes:
    """Elements of an integer[] ("i") or bigint[] ("q")."""
    size = struct.calcsize(">" + one)
    flat = [size] * (2 * len(values))
    flat[1::2] = values
    return struct.pack(">" + f"i{one}" * len(values), *flat)


def moved(places: bytes, by: int) -> bytes:
    """Elements of an integer[] without NULLs, each with so much more."""
    return packed([place + by for place in unpacked(places, "4xi")], "i") if by else places


def checked_list(array: Raw, count: int) -> list[Any]:
    """The ``count`` integers or texts of an array that another instance has given. Raises Malformed.

    Whoever is over there: what is no such array must not get to this instance's functions, nor end a task.
    """
    elements = elements_of(array)
    if count_of(array) != count:
        raise Malformed
    if array.width is not None:
        pairs = unpacked(elements, "ii" if array.width == 4 else "iq")
        if len(pairs) != 2 * count or pairs[::2].count(array.width) != count:
            raise Malformed
        return list(pairs[1::2])
    # Of most sets all are the same: read once.
    times = count if _ends_of_equals(elements, count) else 1
    values: list[Any] = []
    try:
        for one in cut(elements[: len(elements) // times], [1] * (count // times)):
            if b"\0" in one[LENGTH.size :]:
                raise Malformed  # no text of PostgreSQL's
            values.append(None if one == NULL else one[LENGTH.size :].decode())
    except UnicodeDecodeError:
        raise Malformed from None
    return values * times
