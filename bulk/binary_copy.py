"""Arrow's record batches as COPY's binary format, and columns as arrays, without Python touching a value.

Per row COPY wants the number of fields, and per field its length and its bytes, numbers with the
highest byte first: https://www.postgresql.org/docs/current/sql-copy.html, Binary Format. Elements of
a binary array have the same form, behind a header (src/backend/utils/adt/arrayfuncs.c, array_recv).
Each column becomes an Arrow array of such pieces, and one kernel joins them row by row.
"""

import hashlib
import itertools
import struct
from typing import Any

from psycopg.adapt import Dumper
from psycopg.pq import Format

from .problems import BulkError

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"

# A uuid that comes as text: its 16 bytes where it is written as PostgreSQL writes it, else NULL and,
# beside it, the text. What PostgreSQL makes of that is seen where the row can be named.
UUID_OR_TEXT = "uuid_or_text"
# What a staging table has behind the columns of its rows.
OF_ROWS = ("row_number", "attempt_id")

_NUMBERS = {"int2": ">i2", "int4": ">i4", "int8": ">i8", "float4": ">f4", "float8": ">f8"}
# PostgreSQL counts from 2000-01-01.
_DAYS = 10957
_MICROSECONDS = 946684800_000_000
# Where the hyphens of a uuid's text are.
_HYPHENS = (8, 13, 18, 23)


def text_of(name: str) -> str:
    """The column beside ``name`` (UUID_OR_TEXT) that holds its text."""
    return _other_name("text of", name)


def staged_as(name: str) -> str:
    """What the column is called in a staging table, which has some of its own beside it (OF_ROWS)."""
    return _other_name("column", name) if name in OF_ROWS else name


def _other_name(what: str, name: str) -> str:
    """No longer than a name may be, whatever ``name`` is, and no other column's."""
    return f"{what} {hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()}"


def fields(name: str, type_: str) -> tuple[tuple[str, str], ...]:
    """The columns of a staging table that hold the column, with PostgreSQL's types."""
    if type_ == UUID_OR_TEXT:
        return (staged_as(name), "uuid"), (text_of(name), "bytea")
    return ((staged_as(name), type_),)


def encode(batch: Any, types: tuple[str, ...], attempt: int, first_row: int) -> Any:
    """The rows of ``batch``, each behind it its number and ``attempt`` (int8), as one Arrow buffer.

    ``types`` are PostgreSQL's or UUID_OR_TEXT, one for each column. Raises BulkError for a handle that is
    no uuid.
    """
    import numpy

    count = batch.num_rows
    head = numpy.full(count, len(types) + types.count(UUID_OR_TEXT) + 2, dtype=">i2")
    all_ = [_fixed(head, 2)]
    for name, type_, column in zip(batch.schema.names, types, batch.columns, strict=True):
        all_ += pieces(column, type_, name)[1]
    tail = numpy.zeros(count, dtype=[("a", ">i4"), ("row", ">i8"), ("b", ">i4"), ("attempt", ">i8")])
    tail["a"] = tail["b"] = 8
    tail["row"] = numpy.arange(first_row, first_row + count)
    tail["attempt"] = attempt
    all_.append(_fixed(tail, 24))
    _, _, data = join(all_).buffers()
    return data


def join(all_: list[Any]) -> Any:
    """Pieces joined row by row, as an Arrow array; before that those of one length side by side."""
    import numpy
    import pyarrow
    import pyarrow.compute

    large = pyarrow.large_binary()
    merged: list[Any] = []
    for is_fixed, group in itertools.groupby(all_, lambda one: isinstance(one, numpy.ndarray)):
        some = list(group)
        merged += (
            [_binary(some[0] if len(some) == 1 else numpy.concatenate(some, axis=1))] if is_fixed else some
        )
    if len(merged) == 1:
        return merged[0]
    return pyarrow.compute.binary_join_element_wise(*merged, pyarrow.scalar(b"", large))


class BinaryArray:
    """A parameter for psycopg: an array in PostgreSQL's binary form."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class BinaryArrayDumper(Dumper):
    """The placeholder's cast says which type it is; the array's header, which its elements have."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: BinaryArray) -> bytes:
        """As it is."""
        return obj.data


def array(column: Any, type_: str, name: str) -> BinaryArray:
    """A column of text, bytea or uuid (as text) as an array; nulls stay. ``name`` is for errors.

    Raises BulkError for a handle that is no uuid, and for what is no text of PostgreSQL's.
    """
    import pyarrow

    if type_ != "bytea":
        column = as_text(column, name)
    elif pyarrow.types.is_null(column.type):
        # Of a column that was given no type.
        column = column.cast(pyarrow.binary())
    if type_ == "text":
        require_no_nul(column, name)
    count = len(column)
    element = {"bytea": 17, "text": 25, "uuid": 2950}[type_]
    header = struct.pack(">iii", min(count, 1), int(column.null_count > 0), element)
    if not count:
        return BinaryArray(header)
    _, _, data = join(pieces(column, type_, name)[1]).buffers()
    return BinaryArray(b"".join((header, struct.pack(">ii", count, 1), memoryview(data))))


def as_text(column: Any, name: str) -> Any:
    """A column of strings, or of bytes that are some. ``name`` is for errors.

    Raises BulkError for bytes that are no UTF-8: a cast of Spark's makes strings also of such ones.
    """
    import pyarrow

    if pyarrow.types.is_null(column.type):
        return column.cast(pyarrow.string())
    as_bytes = column.cast(pyarrow.large_binary())
    try:
        # This way they are looked at.
        return as_bytes.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        bad = next(one for one in as_bytes.to_pylist() if one is not None and not _is_utf8(one))
        raise BulkError(f"{name} holds {bad[:60]!r}, which is no text in UTF-8") from None


def require_no_nul(column: Any, name: str) -> None:
    """Raise BulkError where a text of the column is none of PostgreSQL's."""
    import pyarrow.compute as pc

    has_nul = pc.match_substring(column, "\0")
    if pc.any(has_nul).as_py():
        bad = column.filter(has_nul)[0].as_py()
        raise BulkError(f"{name} holds {bad[:60]!r}: a text of PostgreSQL's has no U+0000")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain_pieces(column: Any, type_: str, name: str) -> tuple[int, list[Any]] | None:
    """As `pieces`, but a UUID_OR_TEXT is a uuid alone; None where some row has only its text."""
    if type_ != UUID_OR_TEXT:
        return pieces(column, type_, name)
    first, texts = _uuid_or_text(column)
    return (1, [first]) if texts is None else None


def pieces(column: Any, type_: str, name: str) -> tuple[int, list[Any]]:
    """How many fields a column has, and their lengths and values: numpy's bytes of one length, or Arrow's."""
    if type_ == UUID_OR_TEXT:
        import numpy

        first, texts = _uuid_or_text(column)
        if texts is None:
            return 2, [first, _fixed(numpy.full(len(column), -1, dtype=">i4"), 4)]
        return 2, [first, *_pieces(texts, "bytea", name)]
    return 1, _pieces(column, type_, name)


def _uuid_or_text(column: Any) -> tuple[Any, Any]:
    """The bytes of each uuid, with their length, and the text of what is spelled otherwise, or None."""
    import numpy
    import pyarrow
    import pyarrow.compute as pc

    ids, is_canonical = _canonical_uuids(column)
    pairs = numpy.zeros(len(column), dtype=[("length", ">i4"), ("value", "V16")])
    pairs["length"] = 16
    pairs["value"] = ids
    first = _fixed(pairs, 20)
    if is_canonical.all():
        return first, None
    known = pyarrow.array(is_canonical)
    null = pyarrow.scalar(None, pyarrow.large_binary())
    texts = pc.if_else(known, null, column.cast(pyarrow.large_binary()))
    first = pc.if_else(known, _binary(first), pyarrow.scalar(b"\xff\xff\xff\xff", pyarrow.large_binary()))
    return first, texts if texts.null_count < len(texts) else None


def _pieces(column: Any, type_: str, name: str) -> list[Any]:
    """The column's lengths and values, in one piece or in two."""
    import numpy
    import pyarrow
    import pyarrow.compute as pc

    count = len(column)
    if type_ in ("bytea", "text"):
        values = column.cast(pyarrow.large_binary())
        lengths = pc.fill_null(pc.binary_length(values), -1).to_numpy(zero_copy_only=False)
        if column.null_count:
            values = pc.fill_null(values, pyarrow.scalar(b"", pyarrow.large_binary()))
        return [_fixed(lengths.astype(">i4"), 4), values]
    if type_ == "uuid":
        numbers: Any = _uuids(column, name)
        width, format_ = 16, "V16"
    else:
        if type_ == "bool":
            numbers = pc.fill_null(column, False).to_numpy(zero_copy_only=False).astype("u1")
            width, format_ = 1, "u1"
        elif type_ == "date":
            days = pc.fill_null(column.cast(pyarrow.int32()), 0).to_numpy(zero_copy_only=False)
            numbers, width, format_ = days - _DAYS, 4, ">i4"
        elif type_ in ("timestamp", "timestamptz"):
            moments = column.cast(pyarrow.timestamp("us", column.type.tz)).cast(pyarrow.int64())
            moments = pc.fill_null(moments, 0).to_numpy(zero_copy_only=False)
            numbers, width, format_ = moments - _MICROSECONDS, 8, ">i8"
        else:
            format_ = _NUMBERS[type_]
            width = int(format_[2:])
            numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    pairs = numpy.zeros(count, dtype=[("length", ">i4"), ("value", format_)])
    pairs["length"] = width
    pairs["value"] = numbers
    fixed = _fixed(pairs, 4 + width)
    if column.null_count:
        null = pyarrow.scalar(b"\xff\xff\xff\xff", pyarrow.large_binary())
        return [pc.if_else(column.is_valid(), _binary(fixed), null)]
    return [fixed]


def _fixed(values: Any, width: int) -> Any:
    """The bytes of a numpy array, a row for each value of that width."""
    return values.view("u1").reshape(len(values), width)


def _binary(fixed: Any) -> Any:
    """Such bytes as Arrow's binaries."""
    import pyarrow

    count, width = fixed.shape
    array = pyarrow.FixedSizeBinaryArray.from_buffers(
        pyarrow.binary(width), count, [None, pyarrow.py_buffer(fixed.tobytes())]
    )
    return array.cast(pyarrow.large_binary())


def _uuids(column: Any, name: str) -> Any:
    """The 16 bytes of each uuid; of a NULL, zeros."""
    import numpy
    import pyarrow
    import pyarrow.compute as pc

    ids, is_canonical = _canonical_uuids(column)
    if is_canonical.all():
        return ids
    if column.null_count:
        column = pc.fill_null(column, "00000000-0000-0000-0000-000000000000")
    digits = pc.replace_substring(column.cast(pyarrow.large_string()), "-", "")
    wrong = pc.invert(pc.match_substring_regex(digits, r"\A[0-9a-fA-F]{32}\z"))
    if pc.any(wrong).as_py():
        bad = column.filter(wrong)[0].as_py()
        raise BulkError(f"{name} holds {bad[:60]!r}, which is no uuid")
    text = numpy.frombuffer(pc.utf8_lower(digits).cast(pyarrow.binary(32)).buffers()[1], dtype="u1")
    text = text[: 32 * len(column)]
    nibbles = numpy.where(text >= ord("a"), text - (ord("a") - 10), text - ord("0")).astype("u1")
    return ((nibbles[0::2] << 4) | nibbles[1::2]).view("V16")


def _canonical_uuids(column: Any) -> tuple[Any, Any]:
    """The 16 bytes of each uuid that is written as PostgreSQL writes it, and which ones are."""
    import numpy
    import pyarrow
    import pyarrow.compute as pc

    # The messages of a conversation have one handle: each is read once.
    found = column.cast(pyarrow.large_binary()).dictionary_encode()
    places = pc.fill_null(found.indices, -1).to_numpy(zero_copy_only=False)
    has_length = pc.equal(pc.binary_length(found.dictionary), 36)
    chosen = found.dictionary.filter(has_length)
    # The last stands for NULL.
    ids = numpy.zeros((len(found.dictionary) + 1, 16), dtype="u1")
    is_canonical = numpy.zeros(len(ids), dtype=bool)
    if len(chosen):
        text = numpy.frombuffer(chosen.cast(pyarrow.binary(36)).buffers()[1], dtype="u1")
        data = text[: 36 * len(chosen)].reshape(-1, 36)
        values = numpy.full(256, 255, dtype="u1")
        for digit, letters in enumerate(zip("0123456789abcdef", "0123456789ABCDEF", strict=True)):
            values[[ord(letter) for letter in letters]] = digit
        nibbles = values[data]
        bytes_ = [
            (nibbles[:, start:end:2] << 4) | nibbles[:, start + 1 : end : 2]
            for start, end in zip((0, *(place + 1 for place in _HYPHENS)), (*_HYPHENS, 36), strict=True)
        ]
        is_there = numpy.append(has_length.to_numpy(zero_copy_only=False), False)
        ids[is_there] = numpy.concatenate(bytes_, axis=1)
        is_canonical[is_there] = ((nibbles > 15).sum(axis=1) == len(_HYPHENS)) & (
            data[:, _HYPHENS] == ord("-")
        ).all(axis=1)
    return ids.view("V16")[:, 0][places], is_canonical[places]
