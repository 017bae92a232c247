"""Line breaks in generated SQL: a query that fits stays on one line, else one clause a line.

While SQL text is put together, three marks (Unicode noncharacters, which no script
contains for any purpose) say where a query begins and ends and where its clauses may
break; :func:`layout` turns them into blanks or line ends.
"""

from __future__ import annotations

import re

OPEN = "\ufdd0"
CLOSE = "\ufdd1"
BREAK = "\ufdd2"
_UNMARKED = re.compile(f"[^{OPEN}{CLOSE}{BREAK}]+")

WIDTH = 96
"""Columns that one line may take; the surrounding PL/pgSQL indents it further."""


def layout(text: str, width: int = WIDTH) -> str:
    """Return ``text`` without marks, broken into lines where a query is wider than ``width``."""
    if OPEN not in text and BREAK not in text:
        return text
    out: list[str] = []
    column = 0
    # For every open group: (broken?, indentation).
    groups: list[tuple[bool, int]] = [(False, 0)]
    position = 0
    length = len(text)
    while position < length:
        character = text[position]
        if character == OPEN:
            # Most texts are short as a whole.
            fits = (
                column + length - position <= width
                or column + _flat_length(text, position, width - column) <= width
            )
            groups.append((not fits, column))
        elif character == CLOSE:
            if len(groups) > 1:
                groups.pop()
        elif character == BREAK:
            broken, indent = groups[-1]
            if broken:
                while out and out[-1].endswith(" "):
                    out[-1] = out[-1].rstrip(" ")
                out.append("\n" + " " * indent)
                column = indent
            elif column and not (out and out[-1].endswith(" ")):
                out.append(" ")
                column += 1
        else:
            found = _UNMARKED.match(text, position)
            assert found is not None
            piece = found.group()
            position = found.end()
            out.append(piece)
            newline = piece.rfind("\n")
            column = column + len(piece) if newline < 0 else len(piece) - newline - 1
            continue
        position += 1
    return "".join(out)


def flat(text: str) -> str:
    """Return ``text`` on one line."""
    return layout(text, 1 << 30)


def _flat_length(text: str, position: int, enough: int) -> int:
    """The length of the group that opens at ``position``, on one line, and what is glued to its end.

    Stops counting once ``enough`` is passed.
    """
    depth = 0
    length = 0
    for index in range(position, len(text)):
        character = text[index]
        if character == OPEN:
            depth += 1
        elif character == CLOSE:
            depth -= 1
            if depth == 0:
                return length + 1
        else:
            length += 1
        if length > enough:
            return length
    return length
