"""The target tree of queries: SELECT with its clauses, VALUES, set operations, common table expressions.

Names are unquoted, in PostgreSQL's spelling. A relation that an object's name gives is a
:class:`~.nodes.Variable` with the spelling of :meth:`~..catalog.names.ObjectName.sql`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from ...grammar.records import dataclass
from .nodes import (
    Array,
    Atom,
    Call,
    Case,
    Cast,
    Collate,
    Element,
    Exists,
    Field,
    Filtered,
    Integer,
    Items,
    Member,
    Name,
    Node,
    OrderItem,
    Over,
    Paren,
    Quantified,
    Slice,
    Subquery,
    Variable,
    WithinGroup,
)
from .quoting import last_part

# ------------------------------------------------------------------ lists


@dataclass(frozen=True, slots=True)
class Labelled(Atom):
    """``value AS label`` in a list of columns."""

    value: Node
    label: str


# ------------------------------------------------------------------ FROM


@dataclass(frozen=True, slots=True)
class Aliased(Atom):
    """``[LATERAL] item [WITH ORDINALITY] AS alias [(columns)]`` in FROM."""

    item: Node
    alias: str
    columns: tuple[str, ...] = ()
    lateral: bool = False
    ordinality: bool = False
    tight: bool = False
    """No blank stands between the alias and its columns."""


@dataclass(frozen=True, slots=True)
class Lateral(Atom):
    """``LATERAL item``, of a call that has no alias."""

    item: Node


@dataclass(frozen=True, slots=True)
class Sampled(Atom):
    """``item TABLESAMPLE SYSTEM (share) [REPEATABLE (seed)]``."""

    item: Node
    share: Node
    seed: Node | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """What is joined to the items before it.

    ``kind`` is JOIN, LEFT, RIGHT, FULL or CROSS; a comma is written for an inner join without ``on``.
    """

    kind: str
    item: Node
    on: Node | None = None


@dataclass(frozen=True, slots=True)
class Joined(Atom):
    """``(first JOIN …)`` as one item of FROM, on one line."""

    first: Node
    joins: tuple[Join, ...]


# ------------------------------------------------------------------ queries


@dataclass(frozen=True, slots=True)
class Lock:
    """``FOR UPDATE [OF alias] [SKIP LOCKED]``: how strong, and what it does where rows are held."""

    strength: str
    of: str | None = None
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class GroupingSets(Atom):
    """``ROLLUP (…)``, ``CUBE (…)``, ``GROUPING SETS (…)``."""

    word: str
    items: tuple[Node, ...]


class Breaks(Enum):
    """Where the clauses of a query begin lines."""

    OWN = "all of them, where the query is too wide"
    NEVER = "nowhere: it is short"
    OUTER = "all of them, where the statement around it is too wide"
    LATE = "as OUTER, but FROM, which stays beside the list"
    LIST = "before FROM alone, where the list is long"
    PAIRED = "as OWN, but HAVING, which stays beside GROUP BY"


@dataclass(frozen=True, slots=True)
class Select(Atom):
    """A SELECT, to stand in a Subquery or by itself.

    ``ties``: FETCH FIRST … WITH TIES instead of LIMIT. ``breaks``: where its clauses begin lines.
    """

    items: tuple[Node, ...]
    source: Node | None = None
    joins: tuple[Join, ...] = ()
    where: Node | None = None
    group: tuple[Node, ...] = ()
    having: Node | None = None
    order: tuple[OrderItem, ...] = ()
    limit: Node | None = None
    offset: Node | None = None
    distinct: bool = False
    ties: bool = False
    locks: tuple[Lock, ...] = ()
    breaks: Breaks = Breaks.OWN


@dataclass(frozen=True, slots=True)
class Values(Atom):
    """``VALUES (…), (…)``."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class SetOperation(Atom):
    """``first UNION next …``; ``rest``: each with the operator in front of it.

    ``short``: its queries are, so that an operator ends a line instead of taking one.
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]
    short: bool = False
    order: tuple[OrderItem, ...] = ()
    limit: Node | None = None
    offset: Node | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """``name [(columns)] AS (query)``: a common table expression."""

    name: str
    query: Node
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class With(Atom):
    """``WITH [RECURSIVE] definitions body``; ``recursive`` where a definition names itself."""

    definitions: tuple[Definition, ...]
    body: Node
    recursive: bool = False


def with_definitions(definitions: Sequence[Definition], body: Node, *, recursive: bool) -> Node:
    """A query or statement behind its common table expressions, if there are any."""
    return With(tuple(definitions), body, recursive) if definitions else body


def among(column: Node, picked: Select) -> Node:
    """``column = ANY (ARRAY(picked))``: the rows are picked before the first of them is changed."""
    return Quantified(column, "=", "ANY", Items((Call("ARRAY", (picked,)),)))


# ------------------------------------------------------------------ questions


def shows_as(node: Node, label: str) -> bool:
    """Tell whether a column of a query that is ``node`` has the name ``label`` without AS."""
    if isinstance(node, Name):
        return node.parts[-1] == label
    if isinstance(node, Member):
        return node.name == label
    return isinstance(node, Variable) and node.name == label


UNNAMED = "?column?"
"""What PostgreSQL calls a column without a name."""


def own_name(node: Node) -> str | None:
    """Return what PostgreSQL calls the column that ``node`` gives without a label; None: `UNNAMED`."""
    return _figured(node)[0]


def _figured(node: Node) -> tuple[str | None, bool]:
    """The column's name, and whether it is a good one: a poor one gives way to one of what stands around."""
    match node:
        case Name():
            return node.parts[-1], True
        case Variable() | Member() | Field():
            return node.name, True
        case Call():
            return last_part(node.function).lower(), True
        case Cast():
            name, is_good = _figured(node.operand)
            return (name, True) if is_good else (last_part(node.type.partition("(")[0]), False)
        case Case():
            name, is_good = _figured(node.default) if node.default is not None else (None, False)
            return (name, True) if is_good else ("case", False)
        case Subquery():
            first = _first_item(node.query)
            return (first.label, True) if isinstance(first, Labelled) else _figured(first)
        case Collate():
            return _figured(node.operand)
        case Paren():
            return _figured(node.inner)
        case Element() | Slice():
            return _figured(node.of)
        case WithinGroup() | Over():
            return _figured(node.call)
        case Filtered():
            return _figured(node.aggregate)
        case Array():
            return "array", True
        case Exists():
            return "exists", True
    return None, False


def _first_item(query: Node) -> Node:
    while not isinstance(query, Select):
        if isinstance(query, With):
            query = query.body
        elif isinstance(query, SetOperation):
            query = query.first
        else:
            return query
    return query.items[0]


def labelled(node: Node, label: str | None) -> Node:
    """A column of a query under a name, which is not repeated where it has it anyway."""
    return node if label is None or shows_as(node, label) else Labelled(node, label)


def is_one(limit: Node | None) -> bool:
    """Tell whether a LIMIT lets one row pass at most."""
    return isinstance(limit, Integer) and limit.value == 1
