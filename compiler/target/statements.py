"""The target tree of statements that change rows or definitions; names are unquoted, as in queries."""

from __future__ import annotations

from ...grammar.records import dataclass
from .nodes import Atom, Call, Node, OrderItem, Word
from .queries import Breaks


@dataclass(frozen=True, slots=True)
class Effect(Atom):
    """``SELECT call``, for what the function does: its row is nobody's."""

    call: Node


class LockKey(Effect):
    """A key that no row of a table has is locked."""

    __slots__ = ()


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
    line: bool = False
    """It begins a line, however short it is."""


@dataclass(frozen=True, slots=True)
class CreateTableAs(Atom):
    """``CREATE TABLE table AS query``."""

    table: Node
    query: Node


# ------------------------------------------------------------------ tables


@dataclass(frozen=True, slots=True)
class References:
    """``REFERENCES table [(columns)] [ON event action …]``."""

    table: str
    columns: tuple[str, ...] = ()
    actions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint(Atom):
    """``[CONSTRAINT name] kind …`` of a table or, without columns, of one column.

    ``kind`` is PRIMARY KEY, UNIQUE, CHECK or FOREIGN KEY; one that is not ``valid`` holds for new rows alone.
    """

    kind: str
    name: str | None = None
    columns: tuple[str, ...] = ()
    check: Node | None = None
    references: References | None = None
    valid: bool = True


@dataclass(frozen=True, slots=True)
class Column(Atom):
    """One column of a table: stored where it is ``computed``; ``identity`` is its seed and increment."""

    name: str
    type: str
    computed: Node | None = None
    identity: tuple[int, int] | None = None
    nullable: bool = True
    default: Node | None = None
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTable(Atom):
    """``CREATE TABLE name (parts)``, a line each."""

    name: str
    parts: tuple[Column | Constraint, ...]


@dataclass(frozen=True, slots=True)
class Add(Atom):
    """``ADD [COLUMN] part`` of ALTER TABLE."""

    part: Column | Constraint


@dataclass(frozen=True, slots=True)
class Drop(Atom):
    """``DROP kind [IF EXISTS] name``: an action of ALTER TABLE, or a statement."""

    kind: str
    name: Node
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class AlterColumn(Atom):
    """``ALTER COLUMN name change``: one of the classes below, or words that stand for themselves."""

    name: str
    change: Node


SET_NOT_NULL = Word("SET NOT NULL")
DROP_NOT_NULL = Word("DROP NOT NULL")


@dataclass(frozen=True, slots=True)
class SetType(Atom):
    """``TYPE type [USING value]``."""

    type: str
    using: Node | None = None


@dataclass(frozen=True, slots=True)
class SetDefault(Atom):
    """``SET DEFAULT value``."""

    value: Node


@dataclass(frozen=True, slots=True)
class AddIdentity(Atom):
    """``ADD GENERATED ALWAYS AS IDENTITY (START WITH seed INCREMENT BY increment)``."""

    seed: int
    increment: int


@dataclass(frozen=True, slots=True)
class AlterTable(Atom):
    """``ALTER TABLE name actions``; several stand on a line each, or on one where they are ``short``."""

    name: str
    actions: tuple[Node, ...]
    short: bool = False


@dataclass(frozen=True, slots=True)
class CreateIndex(Atom):
    """``CREATE [UNIQUE] INDEX name ON table (columns) [INCLUDE (…)] [WHERE …]``."""

    name: str
    table: str
    columns: tuple[OrderItem, ...]
    unique: bool = False
    include: tuple[str, ...] = ()
    where: Node | None = None
    nulls_are_equal: bool = False


@dataclass(frozen=True, slots=True)
class CreateRowTrigger(Atom):
    """``CREATE TRIGGER name BEFORE events ON table FOR EACH ROW EXECUTE FUNCTION call``."""

    name: str
    events: str
    table: str
    call: Call


@dataclass(frozen=True, slots=True)
class CreateStatementTrigger(Atom):
    """``CREATE TRIGGER name AFTER event [OF column] ON table … FOR EACH STATEMENT [WHEN …] EXECUTE …``.

    ``rows``: what REFERENCING makes of the changed rows, (``NEW TABLE``, name). ``before``: not AFTER.
    """

    name: str
    event: str
    table: str
    call: Call
    column: str | None = None
    rows: tuple[tuple[str, str], ...] = ()
    when: Node | None = None
    before: bool = False


@dataclass(frozen=True, slots=True)
class RevokeFromPublic(Atom):
    """``REVOKE EXECUTE ON FUNCTION function FROM PUBLIC``; the function is written as a call of its types."""

    function: Call


@dataclass(frozen=True, slots=True)
class Truncate(Atom):
    """``TRUNCATE TABLE name RESTART IDENTITY``."""

    name: str


# ------------------------------------------------------------------ types, sequences, views


@dataclass(frozen=True, slots=True)
class CreateDomain(Atom):
    """``CREATE DOMAIN name AS type``, with a constraint that only says something where it is ``named``."""

    name: str
    type: str
    named: str | None = None


@dataclass(frozen=True, slots=True)
class CreateType(Atom):
    """``CREATE TYPE name AS (column type, …)``."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CommentOn(Atom):
    """``COMMENT ON kind name IS text``."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Sequence(Atom):
    """``CREATE SEQUENCE name AS type options``, ``ALTER SEQUENCE name options`` without a type.

    An option is its words and a number, where it has one.
    """

    name: str
    type: str | None
    options: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class CreateView(Atom):
    """``CREATE VIEW name [(columns)] AS query [WITH CHECK OPTION]``; of a ``plain`` one on the same line."""

    name: str
    query: Node
    columns: tuple[str, ...] = ()
    checked: bool = False
    plain: bool = False
