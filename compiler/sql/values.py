"""Translated expressions: a target tree with its T-SQL type.

A :class:`Value` carries what PostgreSQL itself takes the tree's type to be where that differs from the T-SQL
type (COUNT is int there, bigint here). What the tree is (a constant, NULL, a cast) its nodes tell.
"""

from __future__ import annotations

from collections.abc import Callable

from ...grammar.records import dataclass, replace
from ..catalog import types as tm
from ..catalog.types import SqlType
from ..target import nodes as n
from ..target import queries as q


@dataclass(frozen=True, slots=True)
class Value:
    """One translated expression.

    ``pg``: PostgreSQL's type where it is not ``type``'s own; ``collation``: "ci", "cs", "ci_ai" or "cs_ai"
    where a COLLATE clause said so.
    """

    code: n.Node
    type: SqlType | None = None
    pg: str | None = None
    nullable: bool = True
    collation: str | None = None
    around: Callable[[n.Node], n.Node] | None = None
    """What an aggregate goes into once OVER has been added: ``trunc(avg(x) OVER (…))``."""
    joined: bool = False
    """Text joined with text that is no number: what is added to it is text too."""
    clock: n.Node | None = None
    """Of a datetimeoffset, which is a moment alone here: the wall clock at its offset in T-SQL."""
    raw: n.Node | None = None
    """Of the text that REVERSE, LEFT … make of bytes: those bytes, for the CAST that wants them back."""

    @property
    def constant(self) -> str | int | None:
        """The value of a string or integer literal."""
        return n.constant(self.code)

    @property
    def is_null(self) -> bool:
        """The literal NULL."""
        return self.code.__class__ is n.Null

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
    def is_literal(self) -> bool:
        """A string or integer literal."""
        return self.constant is not None


_DRAWN = frozenset(("gen_random_uuid", "nextval", "sys.crypt_gen_random"))
"""Functions that give each row of a T-SQL query another value."""


def differs_by_row(code: n.Node) -> bool:
    """Whether T-SQL computes it anew for each row, though it reads no column: NEWID() stands in it."""
    return any(isinstance(node, n.Call) and node.function in _DRAWN for node in n.walk(code))


def unwrap(value: Value) -> Value:
    """Put an aggregate into what stands around it: ``trunc(avg(x))``."""
    if value.around is None:
        return value
    return replace(value, code=value.around(value.code), around=None)


NULL = Value(n.NULL)
INVALID = Value(n.NULL)
"""What a reported problem leaves behind."""


def call(name: str, *arguments: n.Node, type: SqlType | None = None, nullable: bool = True) -> Value:
    """A function call."""
    return Value(n.Call(name, arguments), type, nullable=nullable)


def kept_blanks(value: Value) -> Value:
    """char(n) keeps its padding in T-SQL when it is joined or becomes bytes; PostgreSQL would cut it."""
    type_ = value.type
    if type_ is None or type_.name not in ("char", "nchar") or value.constant is not None:
        return value
    if (type_.length or 1) > 1:
        return call("rpad", value.code, n.Integer(type_.length or 1), type=type_)
    return value


def string(text: str, *, national: bool = False) -> Value:
    """A string literal."""
    length = max(len(text), 1)
    type_ = tm.nvarchar(length) if national else tm.varchar(length)
    return Value(n.Text(text), type_, nullable=False)


def integer(number: int) -> Value:
    """An integer literal; beyond int it is a decimal in T-SQL."""
    code = n.integer(number)
    if -(2**31) <= number < 2**31:
        return Value(code, tm.INT, nullable=False)
    return Value(code, tm.decimal(len(str(abs(number))), 0), pg="bigint", nullable=False)


def cast(value: Value, postgres: str, type_: SqlType | None = None) -> Value:
    """``value::postgres``."""
    return Value(n.Cast(value.code, postgres), type_ or value.type, nullable=value.nullable)


DOMAINS = ("sys.bit", "sys.xml")
"""What bit and xml are in PostgreSQL."""


def _shown(code: n.Node) -> n.Node:
    """What a value in parentheses, or a subquery of one column, shows."""
    while True:
        match code:
            case n.Paren(inner):
                code = inner
            case n.Subquery(q.Select((item,))):
                code = item.value if isinstance(item, q.Labelled) else item
            case _:
                return code


def may_lose_domain(value: Value) -> bool:
    """Whether PostgreSQL may give a bit or an xml the type under its domain: NULL in a CASE is enough."""
    if value.type is None or value.type.postgres not in DOMAINS:
        return False
    code = _shown(value.code)
    conditional = isinstance(code, n.Call) and code.function.upper() in ("COALESCE", "NULLIF")
    return conditional or isinstance(code, n.Case)


def loses_domain(value: Value, type_: SqlType | None) -> bool:
    """Whether PostgreSQL would give a column of this type, for this value, the type under its domain."""
    null = value.is_null and type_ is not None and type_.postgres in DOMAINS
    return null or may_lose_domain(value)


def with_domain(value: Value) -> Value:
    """Return the value of the domain that its type is, where it may have lost it."""
    if value.type is None or not may_lose_domain(value):
        return value
    return cast(value, value.type.postgres)


def of_known_type(value: Value) -> n.Node:
    """How an argument of any type is written: PostgreSQL gives a literal text or NULL there no type."""
    if value.is_null or isinstance(value.constant, str):
        return n.Cast(value.code, "text")
    return value.code


def at_clock(value: Value) -> Value:
    """The wall clock of a datetimeoffset where its offset is known, else the value."""
    if value.clock is None:
        return value
    return Value(value.clock, replace(tm.DATETIME2, scale=scale_of(value)), nullable=value.nullable)


def scale_of(value: Value) -> int:
    """The decimals of the seconds of a date and time; 7 where nothing says less."""
    if value.type is None:
        return 7
    known = {"datetime": 3, "smalldatetime": 0, "date": 0}
    return known.get(value.type.name, 7 if value.type.scale is None else value.type.scale)


def shown_decimals(value: Value) -> tuple[n.Node, ...]:
    """The argument of sys.xml_atom and sys.json_atom for a value whose seconds have decimals by its type."""
    if value.type is None or value.type.name not in ("time", "datetime2", "datetimeoffset"):
        return ()
    return (n.Integer(scale_of(value)),)
