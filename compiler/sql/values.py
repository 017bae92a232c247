"""Translated expressions: PostgreSQL text with its T-SQL type.

A :class:`Value` carries how tightly its text binds, so that parentheses appear only
where PostgreSQL needs them, and what PostgreSQL itself takes its type to be where that
differs from the T-SQL type (COUNT is int there, bigint here).
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...grammar.records import dataclass
from ..catalog import types as tm
from ..catalog.names import literal
from ..catalog.objects import Form
from ..catalog.types import SqlType

OR, AND, NOT, IS, COMPARE, RANGE, OTHER, ADD, MULTIPLY, UNARY, CAST, ATOM = range(12)


@dataclass(frozen=True, slots=True)
class Value:
    """One translated expression.

    ``constant``: the value of a string or integer literal; ``pg``: PostgreSQL's type where
    it is not ``type``'s own; ``collation``: "ci", "cs", "ci_ai" or "cs_ai" where a COLLATE clause said so.
    """

    text: str
    level: int = ATOM
    type: SqlType | None = None
    pg: str | None = None
    nullable: bool = True
    constant: str | int | None = None
    is_null: bool = False
    collation: str | None = None
    national: bool = False
    wrapped: tuple[str, int] | None = None
    """Text into which an aggregate goes (at {}) once OVER has been added, and how tightly that binds."""
    joined: bool = False
    """Text joined with text that is no number: what is added to it is text too."""
    clock: str | None = None
    """Of a datetimeoffset, which is a moment alone here: the wall clock at its offset in T-SQL."""
    converted: bool = False
    """A call of sys.convert_…, or a cast of one."""
    cast_to: str | None = None
    """Where ``level`` is CAST, the type behind the last ``::``."""
    distinct: bool = False
    """An aggregate's argument: DISTINCT stands before it."""

    def at(self, level: int) -> str:
        """The text, in parentheses unless it binds at least as tightly as ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def family(self) -> str:
        """The family of the type; "unknown" without one, "null" for the literal NULL."""
        if self.type is None:
            return "null" if self.is_null else "unknown"
        return self.type.family

    @property
    def is_string(self) -> bool:
        """A character value for certain."""
        return self.type is not None and self.type.is_string

    @property
    def form(self) -> Form:
        """What it is at its outermost."""
        if self.converted:
            return Form.CONVERSION
        if isinstance(self.constant, str) and self.level == ATOM:
            return Form.LITERAL
        return Form.CAST if self.level == CAST else Form.OTHER

    @property
    def operand(self) -> str:
        """The text without DISTINCT."""
        return self.text[len("DISTINCT ") :] if self.distinct else self.text

    @property
    def is_literal(self) -> bool:
        """A string or integer literal."""
        return self.constant is not None


def unwrap(value: Value) -> Value:
    """Put an aggregate into what stands around it: ``trunc(avg(x))``."""
    if value.wrapped is None:
        return value
    around, level = value.wrapped
    return replace(value, text=around.format(value.text), level=level, wrapped=None)


NULL = Value("NULL", is_null=True)
INVALID = Value("NULL", is_null=True)
"""What a reported problem leaves behind."""
_UNSAFE = re.compile("[\r\n\ufdd0-\ufdd2]")


def text_literal(text: str) -> str:
    """A PostgreSQL string literal on one line: line ends are escaped, so that layout may indent the rest."""
    if not _UNSAFE.search(text):
        return literal(text)
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\r", "\\r").replace("\n", "\\n")
    return "E'" + re.sub("[\ufdd0-\ufdd2]", lambda match: f"\\u{ord(match.group()):04x}", escaped) + "'"


def call(name: str, *arguments: str, type: SqlType | None = None, nullable: bool = True) -> Value:
    """A function call."""
    return Value(f"{name}({', '.join(arguments)})", ATOM, type, nullable=nullable)


def string(text: str, *, national: bool = False) -> Value:
    """A string literal."""
    length = max(len(text), 1)
    type_ = tm.nvarchar(length) if national else tm.varchar(length)
    return Value(text_literal(text), ATOM, type_, nullable=False, constant=text, national=national)


def integer(number: int) -> Value:
    """An integer literal; beyond int it is a decimal in T-SQL."""
    if -(2**31) <= number < 2**31:
        return Value(str(number), ATOM if number >= 0 else UNARY, tm.INT, nullable=False, constant=number)
    return Value(
        str(number), ATOM, tm.decimal(len(str(abs(number))), 0), pg="bigint", nullable=False, constant=number
    )


def cast(value: Value, postgres: str, type_: SqlType | None = None) -> Value:
    """``value::postgres``."""
    return Value(
        f"{value.at(CAST)}::{postgres}",
        CAST,
        type_ or value.type,
        nullable=value.nullable,
        converted=value.converted,
        cast_to=postgres,
    )


def at_clock(value: Value) -> Value:
    """The wall clock of a datetimeoffset where its offset is known, else the value."""
    if value.clock is None:
        return value
    return Value(value.clock, ATOM, replace(tm.DATETIME2, scale=scale_of(value)), nullable=value.nullable)


def scale_of(value: Value) -> int:
    """The decimals of the seconds of a date and time; 7 where nothing says less."""
    if value.type is None:
        return 7
    known = {"datetime": 3, "smalldatetime": 0, "date": 0}
    return known.get(value.type.name, 7 if value.type.scale is None else value.type.scale)
