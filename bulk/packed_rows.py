"""Rows in packs: what COPY of a table reads, as bytes that a staging table only holds.

A row that goes through a staging table is made twice by the server: once there, and again, value by value,
in its own table. Where a row's values travel in the very types of their columns it need be made once:
tasks put rows, in COPY's binary form, into packs of a page each, and the session that completes hands the
packs on to COPY, which fills pages where INSERT writes row by row. What PostgreSQL refuses is then
told row by row: the packs are undone into a staging table of the usual kind.

Where all tasks run on the driver's machine the packs need not go through the server: they go into files, in
the form in which COPY of the staging table would read them.
"""

import contextlib
import errno
import os
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from .binary_copy import UUID_OR_TEXT, join, pieces, plain_pieces
from .problems import BulkError

COLUMNS = ("attempt_id", "place", "is_plain", "packed", "origin")
"""Of a staging table of packs. ``origin``: of which message each row is, where its own columns do not say so;
``place``: the pack's number in its attempt; ``is_plain``: whether COPY of the table can take it."""

# A pack and what stands before it fill a page, and are not moved out of the row (toast_tuple_target).
PAGE = 8000
"""About how large a pack becomes in a staging table."""
# Of rows that leave much of a page empty: in another table, in parts.
_LARGE_ROW = 2000
_LARGE = 1 << 18
IN_FILES = 1 << 20
"""About how large a pack in a file becomes."""

_HEAD = struct.Struct(">hiqiiibi")
_LENGTH = struct.Struct(">i")
_FIELDS = struct.Struct(">h")
_NULL = b"\xff\xff\xff\xff"


class Files:
    """A directory for files of packs, one for each attempt at a task; it goes when nobody needs it."""

    def __init__(self, parent: str) -> None:
        self.path = tempfile.mkdtemp(prefix="pgsb-rows-", dir=parent)
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        """Removes it now: who has completed, or failed to, need not wait for who still holds an error."""

    def attempts(self) -> set[int]:
        """Those that have begun to write."""
        try:
            return {int(name) for name in os.listdir(self.path)}
        except OSError as error:
            raise _unreadable(error) from error

    def packs(self, attempt: int) -> Iterator[tuple[bytes, bytes | None, bool]]:
        """The packs of an attempt, in order: rows, origins, whether COPY of the table can take them.

        Raises BulkError where the file is not whole.
        """
        try:
            with place_of(self.path, attempt).open("rb") as file:
                while head := file.read(_HEAD.size):
                    _, _, _, _, _, _, is_plain, length = _HEAD.unpack(head)
                    packed = _whole(file, length)
                    (length,) = _LENGTH.unpack(_whole(file, _LENGTH.size))
                    yield packed, None if length < 0 else _whole(file, length), bool(is_plain)
        except (OSError, struct.error) as error:
            raise _unreadable(error) from error


def _unreadable(error: Exception) -> BulkError:
    return BulkError(
        f"the rows of a task cannot be read again: {error}",
        "they were in Spark's temporary directory (spark.local.dir): run the job again",
    )


class Growing:
    """The file of an attempt that may still write. Open only while it is read: there may be thousands."""

    def __init__(self, files: Files, attempt: int) -> None:
        self._path = place_of(files.path, attempt)
        self._place = 0

    @property
    def is_begun(self) -> bool:
        """Whether there is anything in it."""
        return self._size() > 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing stands behind the last pack that `packs` has given."""
        return self._size() == self._place

    def packs(self) -> Iterator[tuple[bytes, bool]]:
        """The rows of the packs that are whole by now and were not given before, and whether COPY takes them.

        Raises BulkError where the file cannot be read.
        """
        if self._end(_HEAD.size) is None:
            return
        try:
            with self._path.open("rb", buffering=0) as file:
                while (end := self._end(_HEAD.size)) is not None:
                    *_, is_plain, length = _HEAD.unpack(_part(file, self._place, _HEAD.size))
                    if (behind := self._end(_HEAD.size + length + _LENGTH.size)) is None:
                        return
                    (origin,) = _LENGTH.unpack(_part(file, behind - _LENGTH.size, _LENGTH.size))
                    if self._end(behind - self._place + max(origin, 0)) is None:
                        return
                    packed = _part(file, end, length)
                    self._place = behind + max(origin, 0)
                    yield packed, bool(is_plain)
        except OSError as error:
            raise _unreadable(error) from error

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError as error:
            raise _unreadable(error) from error

    def _end(self, length: int) -> int | None:
        """Where so many bytes end; None where the file does before them."""
        end = self._place + length
        return end if end <= self._size() else None


def _part(file: FileIO, place: int, length: int) -> bytes:
    data = os.pread(file.fileno(), length, place)
    if len(data) < length:
        raise OSError(f"{file.name} has been cut")
    return data


def place_of(directory: str, attempt: int) -> Path:
    """The file of an attempt."""
    return Path(directory, str(attempt))


@contextlib.contextmanager
def written(directory: str, attempt: int) -> Iterator[BinaryIO]:
    """A new file of an attempt, to write. Raises BulkError where it has no room there."""
    try:
        with place_of(directory, attempt).open("xb") as file:
            yield file
    except OSError as error:
        # What the program reads from or writes to while its rows are made fails in other ways, or elsewhere.
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise BulkError(
            f"the rows of a task cannot be written to Spark's temporary directory (spark.local.dir): {error}"
        ) from error


def _whole(file: BinaryIO, length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise OSError(f"{file.name} has been cut")
    return data


def pack(
    batch: Any, types: tuple[str, ...], own: int, attempt: int, place: int, most: int = PAGE
) -> tuple[bytes, int, int, bool]:
    """A batch's packs as rows of COPY, how many, the size of the largest, and whether COPY takes them.

    The first ``own`` columns are the table's, the others tell the origin. ``place`` is the first pack's.
    A pack has about ``most`` bytes, or one row.
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
    limit = most if sizes[-1] - sizes[0] < count * _LARGE_ROW else max(most, _LARGE)
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
