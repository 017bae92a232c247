"""Rows in packs: what COPY of a table reads, as bytes that a staging table only holds.

A row that goes through a staging table is made twice by the server: once there, and again, value by value,
in its own table. Where a row's values travel in the very types of their columns it need be made once:
tasks put rows, in COPY's binary form, into packs of a page each, and the session that completes hands the
packs on to COPY, which fills pages where INSERT writes row by row. What PostgreSQL refuses is then
told row by row: the packs are undone into a staging table of the usual kind.
"""

import struct
from collections.abc import Iterator
from typing import Any

from .binary_copy import UUID_OR_TEXT, join, pieces, plain_pieces

COLUMNS = ("attempt_id", "place", "is_plain", "packed", "origin")
"""Of a staging table of packs. ``origin``: of which message each row is, where its own columns do not say so;
``place``: the pack's number in its attempt; ``is_plain``: whether COPY of the table can take it."""

# A pack and what stands before it fill a page, and are not moved out of the row (toast_tuple_target).
_PAGE = 8000
# Of rows that leave much of a page empty: in another table, in parts.
_LARGE_ROW = 2000
_LARGE = 1 << 18

_HEAD = struct.Struct(">hiqiiibi")
_LENGTH = struct.Struct(">i")
_FIELDS = struct.Struct(">h")
_NULL = b"\xff\xff\xff\xff"


def pack(
    batch: Any, types: tuple[str, ...], own: int, attempt: int, place: int
) -> tuple[bytes, int, int, bool]:
    """A batch's packs as rows of COPY, how many, the size of the largest, and whether COPY takes them.

    The first ``own`` columns are the table's, the others tell the origin. ``place`` is the first pack's.
    """
    columns = list(zip(batch.columns, types, batch.schema.names, strict=True))
    made = [plain_pieces(*one) for one in columns[:own]]
    is_plain = None not in made
    if is_plain:
        rows = _fields(made, batch.num_rows)
    else:
        rows = _fields([pieces(*one) for one in columns[:own]], batch.num_rows)
    origins = _fields([pieces(*one) for one in columns[own:]], batch.num_rows) if own < len(columns) else None
    data, ends = _buffers(rows)
    origin, origin_ends = _buffers(origins) if origins is not None else (None, ends)
    sizes = ends + origin_ends if origin is not None else ends
    count = len(sizes) - 1
    limit = _PAGE if sizes[-1] - sizes[0] < count * _LARGE_ROW else _LARGE
    parts: list[Any] = []
    row = number = largest = 0
    while row < count:
        end = max(int(sizes.searchsorted(sizes[row] + limit, "right")) - 1, row + 1)
        first, last = int(ends[row]), int(ends[end])
        largest = max(largest, int(sizes[end] - sizes[row]))
        parts.append(_HEAD.pack(5, 8, attempt, 4, place + number, 1, is_plain, last - first))
        parts.append(data[first:last])
        if origin is None:
            parts.append(_NULL)
        else:
            first, last = int(origin_ends[row]), int(origin_ends[end])
            parts += [_LENGTH.pack(last - first), origin[first:last]]
        row = end
        number += 1
    return b"".join(parts), number, largest, is_plain


def unpack(
    packed: bytes, origin: bytes | None, is_plain: bool, types: tuple[str, ...], own: int
) -> Iterator[bytes]:
    """The fields of each row of a pack, joined, as a staging table of the usual kind has them."""
    rows = _rows(packed)
    if is_plain and UUID_OR_TEXT in types[:own]:
        # Beside a uuid's bytes its text, which no row here has.
        rows = (
            [
                one
                for field, type_ in zip(row, types, strict=False)
                for one in ((field, _NULL) if type_ == UUID_OR_TEXT else (field,))
            ]
            for row in rows
        )
    if origin is None:
        yield from map(b"".join, rows)
    else:
        for row, more in zip(rows, _rows(origin), strict=True):
            yield b"".join((*row, *more))


def _fields(made: list[Any], count: int) -> Any:
    """Rows in COPY's form: the number of their fields, and of each its length and its bytes."""
    import numpy

    head = numpy.full(count, sum(number for number, _ in made), dtype=">i2").view("u1").reshape(count, 2)
    return join([head, *(one for _, pieces_ in made for one in pieces_)])


def _buffers(rows: Any) -> tuple[memoryview, Any]:
    """The bytes of all rows, and where each begins, behind the last its end."""
    import numpy

    _, offsets, data = rows.buffers()
    return memoryview(data), numpy.frombuffer(offsets, dtype="<i8")[: len(rows) + 1]


def _rows(data: bytes) -> Iterator[list[bytes]]:
    """The fields of each row, each with its length before it."""
    place = 0
    while place < len(data):
        (count,) = _FIELDS.unpack_from(data, place)
        place += 2
        row = []
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(data, place)
            end = place + 4 + max(length, 0)
            row.append(data[place:end])
            place = end
        yield row
