"""What every node has, and the nodes that others are made of: names, values, text, types, columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import ClassVar

from sqlglot import exp

from ...grammar.records import dataclass
from ...grammar.source import Source, Span
from ...grammar.tokens import Token, words_of
from ..sql.parse.trees import readable_expression

# ------------------------------------------------------------------ script and batch


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything that stands at a place."""

    span: Span


@dataclass(frozen=True, kw_only=True)
class Comment(Node):
    """A comment. ``text`` is the whole of it, with its ``--`` or ``/* */``."""

    text: str
    block: bool
    """``/* … */`` (True) or ``-- …`` (False)."""


@dataclass(frozen=True, kw_only=True)
class Statement(Node):
    """A statement without its closing semicolon."""

    inside: ClassVar[tuple[str, ...]] = ()
    """The fields that hold statements, for :func:`children_of`."""

    tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)
    """Its tokens without white space, comments and closing semicolons."""
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    trailing_comments: tuple[Comment, ...] = field(default=(), compare=False)

    @property
    def verb(self) -> str:
        """The word that it begins with, in upper case: CREATE, SELECT, EXEC …"""
        return self.tokens[0].word if self.tokens else ""

    @cached_property
    def _everything_inside(self) -> tuple[Statement, ...]:
        """What :func:`all_of` gives of the statements inside: many analyses ask, each for its own."""
        result: list[Statement] = []
        waiting = list(reversed(children_of(self)))
        while waiting:
            statement = waiting.pop()
            result.append(statement)
            if statement.inside:
                waiting += reversed(children_of(statement))
        return tuple(result)


class IsOneOf(dict[type[Statement], bool]):
    """Whether a statement is of one of many classes: ``IsOneOf(If, While)[type(statement)]``.

    A subclass counts. Each class is asked about once.
    """

    def __init__(self, *classes: type[Statement]) -> None:
        """Nothing was asked yet."""
        super().__init__()
        self._classes = classes

    def __missing__(self, kind: type[Statement]) -> bool:
        """Find the answer for a class."""
        self[kind] = issubclass(kind, self._classes)
        return self[kind]


def children_of(statement: Statement) -> tuple[Statement, ...]:
    """Return the statements directly inside ``statement``: branches, bodies, blocks.

    The bodies of modules are included; ``WAITFOR ( RECEIVE )`` and ``INSERT … EXEC`` count as one
    statement each.
    """
    if not statement.inside:
        return ()
    result: tuple[Statement, ...] = ()
    for field_name in statement.inside:
        held = getattr(statement, field_name)
        result += held if isinstance(held, tuple) else () if held is None else (held,)
    return result


def all_of(body: Iterable[Statement]) -> list[Statement]:
    """Return the statements of a body and those inside them at any depth, in the order of the script.

    The bodies of modules are included.
    """
    result: list[Statement] = []
    for statement in body:
        result.append(statement)
        if statement.inside:
            result += statement._everything_inside
    return result


@dataclass(frozen=True, kw_only=True)
class Batch(Node):
    """What stands between two GO lines.

    ``line`` is the line in the file on which the batch's text begins (the line after GO):
    ERROR_LINE() counts from it, so a statement's line within its batch is
    ``statement.span.line - batch.line + 1``.
    ``repeat`` is the count of the GO that ends it. ``closing_comments`` stand after the last
    statement. ``has_errors`` tells that problems were reported inside it: its statements are
    then incomplete and must not be run.
    """

    statements: tuple[Statement, ...]
    line: int = 1
    repeat: int = 1
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)
    has_errors: bool = False


@dataclass(frozen=True, kw_only=True)
class Script(Node):
    """All batches of a script, in order; batches without statements are left out."""

    source: Source
    batches: tuple[Batch, ...]


# ------------------------------------------------------------------ names, values, text


@dataclass(frozen=True, kw_only=True)
class SqlText(Node):
    """Text of queries and DML, kept as written: an expression, a condition, a query, a list.

    ``tokens`` are its tokens without white space and comments. Comments inside it are in
    ``text`` only.
    """

    tokens: tuple[Token, ...] = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The characters as written, comments and line breaks included."""
        return self.span.text

    @cached_property
    def tree(self) -> exp.Expr | None:
        """The expression or condition that it is, read when it is first asked for and then kept.

        None where it is none. Whoever changes it takes a copy.
        """
        return readable_expression(self.tokens)

    def part(self, tree: exp.Expr) -> SqlText:
        """Return a part of the expression as an expression of its own; ``tree`` is in its tree."""
        places = [node.meta for node in tree.walk() if "start" in node.meta]
        start = min((place["start"] for place in places), default=self.span.start)
        end = max((place["end"] for place in places), default=self.span.end)
        within = tuple(token for token in self.tokens if start <= token.start and token.end <= end)
        part = SqlText(span=Span(self.span.source, start, end), tokens=within)
        part.__dict__["tree"] = tree.copy()
        return part

    @property
    def alone(self) -> str:
        """The text of the one token that it is, '' where it has several."""
        return self.tokens[0].text if len(self.tokens) == 1 else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The ``word`` of every token: upper-case keywords and names, symbols, '' for the rest."""
        return tuple(words_of(self.tokens))


@dataclass(frozen=True, kw_only=True)
class Identifier(Node):
    """One part of a name, unquoted, its case kept."""

    text: str
    quoted: bool = field(default=False, compare=False)
    """Written in brackets or double quotes."""


@dataclass(frozen=True, kw_only=True)
class QualifiedName(Node):
    """``[[[server.]database.]schema.]name``; a part left out as in ``db..t`` is None."""

    name: Identifier
    schema: Identifier | None = None
    database: Identifier | None = None
    server: Identifier | None = None

    @property
    def text(self) -> str:
        """The name with dots, parts unquoted: for messages."""
        parts = [self.server, self.database, self.schema, self.name]
        while parts[0] is None:
            parts.pop(0)
        return ".".join(part.text if part else "" for part in parts)


@dataclass(frozen=True, kw_only=True)
class Variable(Node):
    """``@name`` or ``@@name``. ``name`` keeps the sign and the case: compare case-folded."""

    name: str

    @property
    def key(self) -> str:
        """The name as T-SQL compares it."""
        return self.name.lower()


@dataclass(frozen=True, kw_only=True)
class StringLiteral(Node):
    """A string; ``value`` has quotes undoubled and line continuations joined."""

    value: str
    national: bool = False
    """Written N'…'."""


NameOrVariable = Identifier | Variable
StringOrVariable = StringLiteral | Variable
NameOrText = Identifier | StringLiteral | Variable


@dataclass(frozen=True, kw_only=True)
class DataType(Node):
    """A type as written: ``nvarchar(max)``, ``decimal(10, 2)``, ``dbo.Money``, ``xml(CONTENT c)``.

    ``arguments`` are the parts in parentheses, upper-case (``("MAX",)``, ``("10", "2")``).
    ``national``/``varying`` spellings are normalised: ``CHARACTER VARYING(5)`` has the name
    ``varchar``, ``DOUBLE PRECISION`` ``float``. For ``xml(…)`` see ``xml_collection``.
    """

    name: QualifiedName
    arguments: tuple[str, ...] = ()
    xml_collection: QualifiedName | None = None
    xml_document: bool = False
    """``xml(DOCUMENT c)``."""
    varying: bool = False
    """``CURSOR VARYING``."""


# ------------------------------------------------------------------ columns


@dataclass(frozen=True, kw_only=True)
class TableDefinition(Node):
    """``( column …, constraint … )`` of a table, table variable or table type.

    ``text`` includes the parentheses. A trailing comma and a missing comma before a table
    constraint are taken as SQL Server takes them.
    """

    text: SqlText
    columns: tuple[ColumnDefinition, ...]
    constraints: tuple[SqlText, ...]
    """Table constraints and inline indexes."""


@dataclass(frozen=True, kw_only=True)
class ColumnDefinition(Node):
    """A column: its name, its type (None for ``AS`` computed columns), and all that follows."""

    name: Identifier
    type: DataType | None
    rest: SqlText | None
    """Constraints, IDENTITY, DEFAULT …; for a computed column ``AS (…)`` and what follows."""
