"""A T-SQL script and a place in it.

:class:`Source` holds the decoded text under the name the user knows it by; :class:`Span` is
a half-open range of characters in one source. Both are immutable and cheap to pass along.
"""

from __future__ import annotations

import codecs
import errno
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Self

from .records import dataclass, replace

__all__ = ["Source", "Span", "find_file", "scripts_below"]

MOST_BYTES = 256 * 1024 * 1024
"""How large a script may be. A device or a pipe may have no end: it would be read until memory has."""

OUTSIDE = "it is a link that leads outside of the working directory and of the folders given"
"""What is said of a script that is not read because of that (`is_within`)."""

# The marks that SQL Server's tools put in front of a script. UTF-32 comes before UTF-16
# because its little-endian mark begins with the other's.
_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _decode(data: bytes) -> tuple[str, str]:
    """Return the text of a script file and the name of the encoding it was in.

    A byte order mark decides. Without one the text is UTF-16 if a quarter of its characters begin
    or end with a zero byte and none does both ways, UTF-8 if it is valid UTF-8, else Windows-1252, in
    which every byte is a character.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace"), encoding
    head = data[:512]
    zeros = [head[place::2].count(0) for place in (0, 1)]
    if min(zeros) == 0 and max(zeros) * 8 >= len(head) >= 4:
        # Blanks, line ends and keywords are of ASCII in every script; other text need not be.
        encoding = "utf-16-be" if zeros[0] else "utf-16-le"
        return data.decode(encoding, errors="replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # Python leaves five code points of cp1252 undefined; Windows maps them to C1 controls.
        return "".join(map(_windows_1252, data)), "cp1252"


def _windows_1252(byte: int) -> str:
    try:
        return bytes((byte,)).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def not_read_by_others(reads: Mapping[str, set[Path]]) -> set[str]:
    """The scripts that none of the others reads in by :r: what is read has the variables of who reads it.

    ``reads``: the files that each script reads, resolved. Those that read each other alone are all there.
    """
    places = {name: Path(name).resolve() for name in reads}
    first = {name for name in reads if not any(places[name] in files for files in reads.values())}
    reached: set[Path] = set().union(*(reads[name] for name in first))
    return {name for name in reads if places[name] not in reached}


def scripts_below(folder: Path) -> list[Path]:
    """Return the folder's .sql files, in the order of their paths.

    What an SSDT project has built repeats its scripts: what is in bin and obj beside a .sqlproj is left out.
    """
    there = sorted(folder.rglob("*"))
    projects = {one.parent for one in there if one.suffix.lower() == ".sqlproj"}

    def is_built(path: Path) -> bool:
        return any(one.parent in projects and one.name.lower() in ("bin", "obj") for one in path.parents)

    return [one for one in there if one.suffix.lower() == ".sql" and one.is_file() and not is_built(one)]


def is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Tell whether a file lies below one of the folders, wherever links lead."""
    place = path.resolve()
    return any(place.is_relative_to(folder.resolve()) for folder in folders)


def find_file(path: Path) -> Path | None:
    """The file that a script means by ``path``: as it is spelled, else in whatever case, as on Windows."""
    if path.is_file():
        return path
    found = [Path(path.anchor)]
    for name in path.parts[bool(path.anchor) :]:
        found = [entry for folder in found for entry in _entries(folder, name)]
    return next((entry for entry in found if entry.is_file()), None)


def _entries(folder: Path, name: str) -> list[Path]:
    if (folder / name).exists():
        return [folder / name]
    try:
        return sorted(entry for entry in folder.iterdir() if entry.name.casefold() == name.casefold())
    except OSError:  # no folder, or nobody may look into it
        return []


@dataclass(frozen=True)
class Source:
    """The text of one script.

    ``name`` is what messages print before line and column (a path, ``<stdin>``, …).
    Lines end at ``\\n``, ``\\r\\n`` or a lone ``\\r``; line and column numbers start at 1 and
    count characters, not bytes.
    """

    name: str
    text: str
    encoding: str = field(default="utf-8", compare=False)
    quoted_identifiers: bool = field(default=True, compare=False)
    """SET QUOTED_IDENTIFIER where the text begins: ON in a script, in dynamic SQL as around it."""
    begins: int = field(default=0, compare=False)
    """Where a batch begins for T-SQL: behind the declaration that was put before it."""
    is_one_batch: bool = field(default=False, compare=False)
    """No line with GO parts it: the text of dynamic SQL, which no tool has read."""

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read a script file in any encoding that SQL Server's tools write.

        Raises OSError when the file cannot be read, or is larger than a script may be.
        """
        with path.open("rb") as file:
            return cls.read_open(str(path), file)

    @classmethod
    def read_open(cls, name: str, file: BinaryIO) -> Source:
        """Read a script from an open file. Raises OSError as ``read`` does."""
        data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise OSError(errno.EFBIG, f"a script has at most {MOST_BYTES // 1024**2} MB", name)
        return cls.from_bytes(name, data)

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> Source:
        """Decode ``data``: UTF-8, UTF-16 or UTF-32 by its mark, UTF-8 or Windows-1252 without."""
        text, encoding = _decode(data)
        return cls(name, text, encoding)

    @property
    def own_text(self) -> Span:
        """The text from where it begins for T-SQL."""
        return Span(self, self.begins, len(self.text))

    def only(self, start: int, end: int) -> Self:
        """Return the same source with blanks instead of all but this part: its lines and columns stay."""
        before, behind = (re.sub(r"[^\r\n]", " ", part) for part in (self.text[:start], self.text[end:]))
        return replace(self, text=f"{before}{self.text[start:end]}{behind}")

    @cached_property
    def _line_starts(self) -> list[int]:
        text = self.text
        starts = [0]
        if "\r" not in text:
            position = text.find("\n")
            while position >= 0:
                starts.append(position + 1)
                position = text.find("\n", position + 1)
            return starts
        position, end = 0, len(text)
        while position < end:
            newline = text.find("\n", position)
            carriage = text.find("\r", position, newline if newline >= 0 else end)
            if carriage >= 0:
                position = carriage + (2 if text.startswith("\r\n", carriage) else 1)
            elif newline >= 0:
                position = newline + 1
            else:
                break
            starts.append(position)
        return starts

    @property
    def line_count(self) -> int:
        """How many lines the text has; an empty text has one."""
        return len(self._line_starts)

    def line_of(self, offset: int) -> int:
        """Return the line, from 1, on which the character at ``offset`` stands."""
        return bisect_right(self._line_starts, offset)

    def column_of(self, offset: int) -> int:
        """Return the column, from 1, of the character at ``offset``."""
        return offset - self._line_starts[self.line_of(offset) - 1] + 1

    def line_start(self, line: int) -> int:
        """Return the offset of the first character of ``line`` (from 1)."""
        return self._line_starts[line - 1]

    def line_text(self, line: int) -> str:
        """Return the text of ``line`` (from 1) without its line end."""
        starts = self._line_starts
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")

    def origin(self, line: int) -> tuple[str, int]:
        """Return the name and the line that messages tell for ``line``: its own."""
        return self.name, line

    def author_place(self, offset: int, *, behind: bool = False) -> tuple[str, int, int]:
        """Return the file, the line and the column, both from 1, where the author of the text has ``offset``.

        ``behind``: it is the end of something, behind the last character of that.
        """
        line = self.line_of(offset)
        return *self.origin(line), offset - self.line_start(line) + 1

    def span(self, start: int, end: int) -> Span:
        """Return the range from ``start`` up to, not including, ``end``."""
        return Span(self, start, end)


@dataclass(frozen=True, slots=True)
class Span:
    """The characters ``start`` … ``end - 1`` of ``source``; empty when both are equal."""

    source: Source = field(repr=False, compare=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the range as written."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line, from 1, on which the range begins."""
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        """The column, from 1, at which the range begins."""
        return self.source.column_of(self.start)

    @property
    def end_line(self) -> int:
        """The line, from 1, of the last character of the range."""
        return self.source.line_of(max(self.start, self.end - 1))

    def holds(self, other: Span) -> bool:
        """Tell whether ``other`` begins in it."""
        return other.source is self.source and self.start <= other.start < self.end

    def to(self, other: Span) -> Span:
        """Return the range from the beginning of this one to the end of ``other``."""
        return Span(self.source, self.start, other.end)
