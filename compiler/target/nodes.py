"""The target tree: PostgreSQL's expressions and queries, as the translation builds them.

A node says what it is and nothing of how it is written: names and strings are as they are, unquoted, and no
node holds its parentheses (but :class:`Paren`, which keeps the script's own). ``level`` is how tightly a node
binds, and its class tells it; :mod:`.emit` puts parentheses by it. What a rule asks of an expression (is it a
constant, NULL, a cast) it asks of the node's class and fields.

Nodes are compared by value. None is changed once it is made, so one may stand in several trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from ...grammar.records import dataclass, replace
from .quoting import last_part

OR, AND, NOT, IS, COMPARE, RANGE, OTHER, ADD, MULTIPLY, UNARY, CAST, ATOM = range(12)
"""From the loosest to the tightest, as PostgreSQL's grammar has them; OTHER are ``||``, ``&``, ``~`` …"""


class Node:
    """A piece of the tree."""

    __slots__ = ()
    level: int
    """How tightly it binds."""


class Atom(Node):
    """What never needs parentheses."""

    __slots__ = ()
    level = ATOM


# ------------------------------------------------------------------ literals and names


@dataclass(frozen=True, slots=True)
class Text(Atom):
    """A string literal."""

    value: str


@dataclass(frozen=True, slots=True)
class Integer(Atom):
    """A whole number of zero or more."""

    value: int


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """A whole number below zero; ``value`` has its sign."""

    level = UNARY
    value: int


@dataclass(frozen=True, slots=True)
class Number(Atom):
    """A number with a point or an exponent, by its digits: ``1.50``."""

    digits: str


@dataclass(frozen=True, slots=True)
class Bytes(Atom):
    """Bytes by their hexadecimal digits, an even number of them: a string of PostgreSQL's bytea."""

    digits: str


@dataclass(frozen=True, slots=True)
class Word(Atom):
    """A word that stands for itself: TRUE, DEFAULT, ``*``."""

    word: str


@dataclass(frozen=True, slots=True)
class Null(Atom):
    """NULL."""


def integer(value: int) -> Integer | Negative:
    """A whole number."""
    return Integer(value) if value >= 0 else Negative(value)


def truth(value: bool) -> Word:
    """TRUE or FALSE."""
    return TRUE if value else FALSE


NULL = Null()
TRUE = Word("true")
FALSE = Word("false")
DEFAULT = Word("DEFAULT")
STAR = Word("*")
NOTHING = Word("")
"""In place of a value whose type alone is asked for; it is never written."""


@dataclass(frozen=True, slots=True)
class Name(Atom):
    """A column, or a relation: its parts unquoted, in PostgreSQL's spelling."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable(Atom):
    """A variable, parameter or object as its declaration spells it: ``usp_send.handle``."""

    spelling: str

    @property
    def name(self) -> str:
        """The last part of it, unquoted."""
        return last_part(self.spelling)


@dataclass(frozen=True, slots=True)
class Member(Atom):
    """``of.name``: a field of a variable, a column of what a variable's spelling names."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Every(Atom):
    """``of.*``: all columns of a relation, the whole row of a composite value."""

    of: Node


@dataclass(frozen=True, slots=True)
class Field(Atom):
    """``(of).name``: a field of a composite value."""

    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Element(Atom):
    """``of[index]``."""

    of: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Slice(Atom):
    """``of[first:last]``."""

    of: Node
    first: Node
    last: Node


# ------------------------------------------------------------------ operators


@dataclass(frozen=True, slots=True)
class Paren(Atom):
    """The script's own parentheses."""

    inner: Node


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """``a OR b …``."""

    level = OR
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """``a AND b …``."""

    level = AND
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """``NOT operand``."""

    level = NOT
    operand: Node


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    """``operand IS [NOT] NULL``."""

    level = IS
    operand: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Is(Node):
    """``operand IS word``: TRUE, NOT TRUE, NOT FALSE."""

    level = IS
    operand: Node
    word: str


@dataclass(frozen=True, slots=True)
class IsDistinct(Node):
    """``left IS [NOT] DISTINCT FROM right``."""

    level = IS
    left: Node
    right: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Infix(Node):
    """``left operator right``: the classes below say how tightly."""

    level = OTHER
    operator: str
    left: Node
    right: Node


class Comparison(Infix):
    """``=``, ``<>``, ``<`` …"""

    __slots__ = ()
    level = COMPARE


class Sum(Infix):
    """``+`` and ``-``."""

    __slots__ = ()
    level = ADD


class Product(Infix):
    """``*``, ``/`` and ``%``."""

    __slots__ = ()
    level = MULTIPLY


_OPERATORS: dict[str, type[Infix]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), Comparison),
    **dict.fromkeys(("+", "-"), Sum),
    **dict.fromkeys(("*", "/", "%"), Product),
}


def infix(operator: str, left: Node, right: Node) -> Infix:
    """``left operator right``."""
    return _OPERATORS.get(operator, Infix)(operator, left, right)


def all_of(conditions: Sequence[Node]) -> Node | None:
    """The conditions joined by AND; None of none."""
    return AllOf(tuple(conditions)) if len(conditions) > 1 else conditions[0] if conditions else None


def joined(left: Node, right: Node) -> Infix:
    """``left || right``."""
    return Infix("||", left, right)


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """``left operator ANY (right)``: ``right`` is a query or an array in parentheses."""

    level = COMPARE
    left: Node
    operator: str
    word: str
    right: Node


@dataclass(frozen=True, slots=True)
class Between(Node):
    """``subject [NOT] BETWEEN low AND high``."""

    level = RANGE
    subject: Node
    low: Node
    high: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Node):
    """``subject [NOT] IN (items)``; ``items`` is one Subquery or a Row of values."""

    level = RANGE
    subject: Node
    items: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Node):
    """``subject [NOT] LIKE pattern [ESCAPE escape]``."""

    level = RANGE
    subject: Node
    pattern: Node
    escape: Node | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Minus(Node):
    """``-operand``."""

    level = UNARY
    operand: Node


@dataclass(frozen=True, slots=True)
class Complement(Node):
    """``~operand``."""

    level = OTHER
    operand: Node


@dataclass(frozen=True, slots=True)
class Collate(Node):
    """``operand COLLATE "name"``."""

    level = UNARY
    operand: Node
    name: str


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """``operand::type``; the type is spelled as :class:`~..catalog.types.SqlType` spells it."""

    level = CAST
    operand: Node
    type: str


class CertainCast(Cast):
    """A cast that cannot fail: of a routine's own name to its number, of a count of rows."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Typed(Atom):
    """``type 'text'``: a constant of a type, read when the statement is."""

    type: str
    text: Node


# ------------------------------------------------------------------ calls and constructors


@dataclass(frozen=True, slots=True)
class OrderItem(Atom):
    """One item of ORDER BY; ``nulls`` is FIRST, LAST or empty."""

    value: Node
    descending: bool = False
    nulls: str = ""


@dataclass(frozen=True, slots=True)
class Call(Atom):
    """``function(arguments [ORDER BY …]) [FILTER (WHERE …)]``.

    ``function`` is spelled as it is called: the runtime's and PostgreSQL's own, or an object's name as
    :meth:`~..catalog.names.ObjectName.sql` gives it.
    """

    function: str
    arguments: tuple[Node, ...] = ()
    order: tuple[OrderItem, ...] = ()
    filter: Node | None = None


class Conversion(Call):
    """A call of one of the runtime's conversions, ``sys.convert_…``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Filtered(Atom):
    """``aggregate FILTER (WHERE condition)``, of what has become more than a call."""

    aggregate: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class WithinGroup(Atom):
    """``call WITHIN GROUP (ORDER BY …)``."""

    call: Node
    order: tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class NamedArgument(Atom):
    """``name => value``."""

    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class Distinct(Atom):
    """``DISTINCT operand``, the argument of an aggregate."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Variadic(Atom):
    """``VARIADIC operand``, the last argument of a call."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Bound(Atom):
    """Where a window's frame begins or ends: ``1 PRECEDING``, ``UNBOUNDED PRECEDING``, ``CURRENT ROW``."""

    value: Node
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Frame(Atom):
    """``ROWS start`` or ``ROWS BETWEEN start AND end``."""

    kind: str
    start: Bound
    end: Bound | None = None


@dataclass(frozen=True, slots=True)
class Over(Atom):
    """``call OVER (PARTITION BY … ORDER BY … frame)``."""

    call: Node
    partition: tuple[Node, ...] = ()
    order: tuple[OrderItem, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Case(Atom):
    """``CASE [subject] WHEN test THEN value … [ELSE default] END``."""

    branches: tuple[tuple[Node, Node], ...]
    subject: Node | None = None
    default: Node | None = None


@dataclass(frozen=True, slots=True)
class Items(Atom):
    """``(a, b, …)``."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Array(Atom):
    """``ARRAY[a, b, …]``."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Elements(Atom):
    """``[a, b, …]``: a row of an array of two dimensions."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Subquery(Atom):
    """``(query)``; ``apart``: the parentheses stand on lines of their own."""

    query: Node
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Exists(Atom):
    """``EXISTS (query)``; ``query`` is a Subquery."""

    query: Node


@dataclass(frozen=True, slots=True)
class Deparsed(Node):
    """An expression as the server tells it: a computed column's, by pg_get_expr."""

    level = OR
    text: str


# ------------------------------------------------------------------ lists that may break


@dataclass(frozen=True, slots=True)
class Lines(Atom):
    """``a, b, c`` on one line if they fit, else a line each."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group(Atom):
    """What breaks into lines together, before each :class:`Line` in it, if it does not fit."""

    inner: Node


@dataclass(frozen=True, slots=True)
class Alone(Atom):
    """A query that breaks into lines as if it stood by itself."""

    inner: Node


@dataclass(frozen=True, slots=True)
class Line(Atom):
    """An item of a list that begins a line where the group around it is broken."""

    item: Node


# ------------------------------------------------------------------ questions


def constant(node: Node) -> str | int | None:
    """The value of a string or whole number; None of everything else."""
    return node.value if isinstance(node, _CONSTANTS) else None


_CONSTANTS = (Text, Integer, Negative)


def is_cast_to(node: Node, type_: str) -> bool:
    """Tell whether a node is ``…::type_``."""
    return isinstance(node, Cast) and node.type == type_


def is_conversion(node: Node) -> bool:
    """Tell whether a node is a call of sys.convert_…, or a cast of one."""
    while isinstance(node, Cast):
        node = node.operand
    return isinstance(node, Conversion)


def replaced(node: Node, found: Callable[[Node], Node | None]) -> Node:
    """A tree with other nodes in the places for which ``found`` has one."""
    other = found(node)
    if other is not None:
        return other
    if not is_dataclass(node):
        return node
    changed = {
        field.name: new
        for field in fields(node)
        if (new := _replaced_in(old := getattr(node, field.name), found)) is not old
    }
    return replace(node, **changed) if changed else node


def _replaced_in(value: object, found: Callable[[Node], Node | None]) -> object:
    """A field of a node, of a clause or of a tuple of them, with other nodes in it."""
    if isinstance(value, Node):
        return replaced(value, found)
    if isinstance(value, tuple):
        items = tuple(_replaced_in(item, found) for item in value)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: new
            for field in fields(value)
            if (new := _replaced_in(old := getattr(value, field.name), found)) is not old
        }
        return replace(value, **changed) if changed else value
    return value


def walk(node: Node) -> Iterator[Node]:
    """Give the node and all that it is made of, in no order."""
    waiting: list[object] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Node):
            yield one
            if is_dataclass(one):
                waiting += [getattr(one, field.name) for field in fields(one)]
        elif isinstance(one, tuple):
            waiting += one
        elif is_dataclass(one):
            waiting += [getattr(one, field.name) for field in fields(one)]
