"""The target tree of statements that change rows or definitions; names are unquoted, as in queries."""

from __future__ import annotations

from ...grammar.records import dataclass
from .nodes import Atom, Node, Word
from .queries import Breaks


@dataclass(frozen=True, slots=True)
class Effect(Atom):
    """``SELECT call``, for what the function does: its row is nobody's."""

    call: Node


@dataclass(frozen=True, slots=True)
class LockTable(Atom):
    """``LOCK TABLE table IN mode MODE``."""

    table: Node
    mode: str


@dataclass(frozen=True, slots=True)
class Insert(Atom):
    """``INSERT INTO table [(columns)] [OVERRIDING SYSTEM VALUE] source [RETURNING …]``."""

    table: Node
    columns: tuple[str, ...]
    source: Node
    """A query, VALUES, or :data:`DEFAULT_VALUES`."""
    overriding: bool = False
    returning: tuple[Node, ...] = ()
    breaks: Breaks = Breaks.OWN
    """OWN, or OUTER: it breaks where the common table expressions before it do."""


DEFAULT_VALUES = Word("DEFAULT VALUES")


@dataclass(frozen=True, slots=True)
class Update(Atom):
    """``UPDATE table SET column = value … [FROM sources] [WHERE …] [RETURNING …]``."""

    table: Node
    sets: tuple[tuple[str, Node], ...]
    sources: tuple[Node, ...] = ()
    where: Node | None = None
    returning: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Delete(Atom):
    """``DELETE FROM table [USING sources] [WHERE …] [RETURNING …]``."""

    table: Node
    sources: tuple[Node, ...] = ()
    where: Node | None = None
    returning: tuple[Node, ...] = ()


Change = Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Returning(Atom):
    """A change with a RETURNING clause that breaks apart from the clauses before it."""

    change: Change
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class CreateTableAs(Atom):
    """``CREATE TABLE table AS query``."""

    table: Node
    query: Node
