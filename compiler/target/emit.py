"""Target tree → text, in one pass: the only place that quotes and puts parentheses.

A writer hands its pieces to ``put``; they are joined once. An operand that binds looser than its place allows
stands in parentheses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...grammar.problems import RoomToRecurse
from . import nodes as n
from .layout import BREAK, CLOSE, OPEN, layout
from .quoting import quote, text_literal

Put = Callable[[str], object]
Writer = TypeVar("Writer", bound=Callable[..., None])

_WRITERS: dict[type, Callable[[Any, Put], None]] = {}


def emit(node: n.Node) -> str:
    """Return the text of a tree, with the marks of :mod:`.layout` where its queries may break."""
    pieces: list[str] = []
    _WRITERS[node.__class__](node, pieces.append)
    return "".join(pieces)


def text_of(node: n.Node) -> str:
    """Return the text of a tree, its queries broken into lines."""
    if node.__class__ in _SHORT:
        return emit(node)
    with RoomToRecurse():
        return layout(emit(node))


_SHORT = frozenset((n.Variable, n.Name, n.Text, n.Integer, n.Word, n.Null))
"""Nothing in them nests or breaks."""


def has_open_case(node: n.Node) -> bool:
    """Tell whether a CASE will stand outside all parentheses of a tree's text.

    PL/pgSQL reads IF up to the first THEN that stands so.
    """
    if isinstance(node, n.Case):
        return True
    return any(operand.level >= level and has_open_case(operand) for operand, level in _operands(node))


def _operands(node: n.Node) -> Sequence[tuple[n.Node, int]]:
    """The operands that may stand without parentheses, and how tightly each must bind for that."""
    match node:
        case n.AnyOf(operands=operands) | n.AllOf(operands=operands):
            return [(operand, node.level) for operand in operands]
        case n.Comparison() | n.IsDistinct():
            return [(node.left, n.RANGE), (node.right, n.RANGE)]
        case n.Infix(_, left, right):
            return [(left, node.level), (right, node.level + 1)]
        case n.IsNull(operand) | n.Is(operand) | n.Quantified(operand):
            return [(operand, n.RANGE)]
        case n.Not(operand):
            return [(operand, n.NOT)]
        case n.Between(subject, low, high):
            return [(subject, n.OTHER), (low, n.OTHER), (high, n.OTHER)]
        case n.Like(subject, pattern):
            return [(subject, n.OTHER), (pattern, n.OTHER)]
        case n.In(subject):
            return [(subject, n.OTHER)]
        case n.Minus(operand) | n.Complement(operand) | n.Collate(operand) | n.Cast(operand):
            return [(operand, n.CAST)]
    return ()


def writes(*classes: type) -> Callable[[Writer], Writer]:
    """Register the decorated function for nodes of ``classes``."""

    def registering(writer: Writer) -> Writer:
        for one in classes:
            _WRITERS[one] = writer
        return writer

    return registering


def write(node: n.Node, put: Put) -> None:
    """Write a node."""
    _WRITERS[node.__class__](node, put)


def at(node: n.Node, level: int, put: Put) -> None:
    """Write an operand, in parentheses unless it binds at least as tightly as ``level``."""
    if node.level >= level:
        _WRITERS[node.__class__](node, put)
    else:
        put("(")
        _WRITERS[node.__class__](node, put)
        put(")")


def list_of(items: Sequence[n.Node], put: Put) -> None:
    """Write items with commas between them."""
    between = ""
    for item in items:
        kind = item.__class__
        # A line's own blank is where it breaks.
        put("," if between and kind is n.Line else between)
        between = ", "
        _WRITERS[kind](item, put)


# ------------------------------------------------------------------ literals and names


@writes(n.Text)
def _text(node: n.Text, put: Put) -> None:
    put(text_literal(node.value))


@writes(n.Integer, n.Negative)
def _integer(node: n.Integer, put: Put) -> None:
    put(str(node.value))


@writes(n.Number)
def _number(node: n.Number, put: Put) -> None:
    put(node.digits)


@writes(n.Bytes)
def _bytes(node: n.Bytes, put: Put) -> None:
    put(f"'\\x{node.digits}'")


@writes(n.Word)
def _word(node: n.Word, put: Put) -> None:
    put(node.word)


@writes(n.Null)
def _null(node: n.Null, put: Put) -> None:
    put("NULL")


@writes(n.Name)
def _name(node: n.Name, put: Put) -> None:
    parts = node.parts
    put(quote(parts[0]) if len(parts) == 1 else ".".join(map(quote, parts)))


@writes(n.Variable)
def _variable(node: n.Variable, put: Put) -> None:
    put(node.spelling)


@writes(n.Member)
def _member(node: n.Member, put: Put) -> None:
    write(node.of, put)
    put(f".{quote(node.name)}")


@writes(n.Every)
def _every(node: n.Every, put: Put) -> None:
    write(node.of, put)
    put(".*")


@writes(n.Field)
def _field(node: n.Field, put: Put) -> None:
    put("(")
    write(node.of, put)
    put(f").{quote(node.name)}")


@writes(n.Element)
def _element(node: n.Element, put: Put) -> None:
    if isinstance(node.of, n.Name | n.Variable | n.Member | n.Element | n.Paren):
        write(node.of, put)
    else:
        put("(")
        write(node.of, put)
        put(")")
    put("[")
    write(node.index, put)
    put("]")


@writes(n.Slice)
def _slice(node: n.Slice, put: Put) -> None:
    write(node.of, put)
    put("[")
    write(node.first, put)
    put(":")
    write(node.last, put)
    put("]")


@writes(n.Deparsed)
def _deparsed(node: n.Deparsed, put: Put) -> None:
    put(node.text)


# ------------------------------------------------------------------ operators


@writes(n.Paren)
def _paren(node: n.Paren, put: Put) -> None:
    put("(")
    write(node.inner, put)
    put(")")


def _chain(operands: tuple[n.Node, ...], level: int, word: str, put: Put) -> None:
    at(operands[0], level, put)
    for operand in operands[1:]:
        put(word)
        at(operand, level, put)


@writes(n.AnyOf)
def _any_of(node: n.AnyOf, put: Put) -> None:
    _chain(node.operands, n.OR, " OR ", put)


@writes(n.AllOf)
def _all_of(node: n.AllOf, put: Put) -> None:
    _chain(node.operands, n.AND, " AND ", put)


@writes(n.Not)
def _not(node: n.Not, put: Put) -> None:
    put("NOT ")
    at(node.operand, n.NOT, put)


@writes(n.IsNull)
def _is_null(node: n.IsNull, put: Put) -> None:
    at(node.operand, n.RANGE, put)
    put(" IS NOT NULL" if node.negated else " IS NULL")


@writes(n.Is)
def _is(node: n.Is, put: Put) -> None:
    at(node.operand, n.RANGE, put)
    put(f" IS {node.word}")


@writes(n.IsDistinct)
def _is_distinct(node: n.IsDistinct, put: Put) -> None:
    at(node.left, n.RANGE, put)
    put(" IS NOT DISTINCT FROM " if node.negated else " IS DISTINCT FROM ")
    at(node.right, n.RANGE, put)


@writes(n.Comparison)
def _comparison(node: n.Comparison, put: Put) -> None:
    # Comparisons do not chain: a = b = c is no PostgreSQL.
    at(node.left, n.RANGE, put)
    put(f" {node.operator} ")
    at(node.right, n.RANGE, put)


@writes(n.Infix, n.Sum, n.Product)
def _infix(node: n.Infix, put: Put) -> None:
    # A sum of a thousand parts leans to the left: no call for each of them.
    level = node.level
    spine = [node]
    left = node.left
    while isinstance(left, n.Infix) and left.level >= level and left.__class__ is not n.Comparison:
        spine.append(left)
        left = left.left
    at(left, spine[-1].level, put)
    for one in reversed(spine):
        put(f" {one.operator} ")
        at(one.right, one.level + 1, put)


@writes(n.Quantified)
def _quantified(node: n.Quantified, put: Put) -> None:
    at(node.left, n.RANGE, put)
    put(f" {node.operator} {node.word} ")
    write(node.right, put)


@writes(n.Between)
def _between(node: n.Between, put: Put) -> None:
    at(node.subject, n.OTHER, put)
    put(" NOT BETWEEN " if node.negated else " BETWEEN ")
    at(node.low, n.OTHER, put)
    put(" AND ")
    at(node.high, n.OTHER, put)


@writes(n.In)
def _in(node: n.In, put: Put) -> None:
    at(node.subject, n.OTHER, put)
    put(" NOT IN " if node.negated else " IN ")
    write(node.items, put)


@writes(n.Like)
def _like(node: n.Like, put: Put) -> None:
    at(node.subject, n.OTHER, put)
    put(" NOT LIKE " if node.negated else " LIKE ")
    at(node.pattern, n.OTHER, put)
    if node.escape is not None:
        put(" ESCAPE ")
        at(node.escape, n.OTHER, put)


@writes(n.Minus)
def _minus(node: n.Minus, put: Put) -> None:
    put("-")
    # Two signs side by side would be one operator, or a comment.
    at(node.operand, n.CAST, put)


@writes(n.Complement)
def _complement(node: n.Complement, put: Put) -> None:
    put("~")
    # As for a minus: ~- would be an operator of its own.
    at(node.operand, n.CAST, put)


@writes(n.Collate)
def _collate(node: n.Collate, put: Put) -> None:
    at(node.operand, n.CAST, put)
    # Always in quotes: "C" and "und-x-icu" are no words of SQL.
    name = node.name.replace('"', '""')
    put(f' COLLATE "{name}"')


@writes(n.Cast, n.CertainCast)
def _cast(node: n.Cast, put: Put) -> None:
    at(node.operand, n.CAST, put)
    put(f"::{node.type}")


@writes(n.Typed)
def _typed(node: n.Typed, put: Put) -> None:
    put(f"{node.type} ")
    write(node.text, put)


# ------------------------------------------------------------------ calls and constructors


@writes(n.OrderItem)
def _order_item(node: n.OrderItem, put: Put) -> None:
    write(node.value, put)
    if node.descending:
        put(" DESC")
    if node.nulls:
        put(f" NULLS {node.nulls}")


def order_by(items: tuple[n.OrderItem, ...], put: Put) -> None:
    """Write ORDER BY."""
    put("ORDER BY ")
    list_of(items, put)


@writes(n.Call, n.Conversion)
def _call(node: n.Call, put: Put) -> None:
    put(f"{node.function}(")
    list_of(node.arguments, put)
    if node.order:
        put(" ")
        order_by(node.order, put)
    put(")")
    if node.filter is not None:
        _filter(node.filter, put)


def _filter(condition: n.Node, put: Put) -> None:
    put(" FILTER (WHERE ")
    write(condition, put)
    put(")")


@writes(n.Filtered)
def _filtered(node: n.Filtered, put: Put) -> None:
    write(node.aggregate, put)
    _filter(node.condition, put)


@writes(n.WithinGroup)
def _within_group(node: n.WithinGroup, put: Put) -> None:
    write(node.call, put)
    put(" WITHIN GROUP (")
    order_by(node.order, put)
    put(")")


@writes(n.NamedArgument)
def _named_argument(node: n.NamedArgument, put: Put) -> None:
    put(f"{quote(node.name)} => ")
    write(node.value, put)


@writes(n.Distinct)
def _distinct(node: n.Distinct, put: Put) -> None:
    put("DISTINCT ")
    write(node.operand, put)


@writes(n.Variadic)
def _variadic(node: n.Variadic, put: Put) -> None:
    put("VARIADIC ")
    write(node.operand, put)


@writes(n.Bound)
def _bound(node: n.Bound, put: Put) -> None:
    write(node.value, put)
    if node.direction:
        put(f" {node.direction}")


@writes(n.Frame)
def _frame(node: n.Frame, put: Put) -> None:
    put(f"{node.kind} ")
    if node.end is not None:
        put("BETWEEN ")
    write(node.start, put)
    if node.end is not None:
        put(" AND ")
        write(node.end, put)


@writes(n.Over)
def _over(node: n.Over, put: Put) -> None:
    write(node.call, put)
    between = " OVER ("
    if node.partition:
        put(f"{between}PARTITION BY ")
        list_of(node.partition, put)
        between = " "
    if node.order:
        put(between)
        order_by(node.order, put)
        between = " "
    if node.frame is not None:
        put(between)
        _frame(node.frame, put)
        between = ""
    put(")" if between != " OVER (" else " OVER ()")


@writes(n.Case)
def _case(node: n.Case, put: Put) -> None:
    put("CASE")
    if node.subject is not None:
        put(" ")
        write(node.subject, put)
    for test, value in node.branches:
        put(" WHEN ")
        # Beside the subject of a simple CASE an operand stands, else a condition by itself.
        at(test, n.OR if node.subject is None else n.RANGE, put)
        put(" THEN ")
        write(value, put)
    if node.default is not None:
        put(" ELSE ")
        write(node.default, put)
    put(" END")


@writes(n.Items)
def _items(node: n.Items, put: Put) -> None:
    put("(")
    list_of(node.items, put)
    put(")")


@writes(n.Array)
def _array(node: n.Array, put: Put) -> None:
    put("ARRAY[")
    list_of(node.items, put)
    put("]")


@writes(n.Elements)
def _elements(node: n.Elements, put: Put) -> None:
    put("[")
    list_of(node.items, put)
    put("]")


@writes(n.Subquery)
def _subquery(node: n.Subquery, put: Put) -> None:
    put("(\n" if node.apart else "(")
    write(node.query, put)
    put("\n)" if node.apart else ")")


@writes(n.Exists)
def _exists(node: n.Exists, put: Put) -> None:
    put("EXISTS ")
    write(node.query, put)


# ------------------------------------------------------------------ lists that may break


@writes(n.Lines)
def _lines(node: n.Lines, put: Put) -> None:
    put(OPEN)
    between = ""
    for item in node.items:
        put(between)
        between = f",{BREAK}"
        write(item, put)
    put(CLOSE)


@writes(n.Group)
def _group(node: n.Group, put: Put) -> None:
    put(OPEN)
    write(node.inner, put)
    put(CLOSE)


@writes(n.Alone)
def _alone(node: n.Alone, put: Put) -> None:
    put(layout(emit(node.inner)))


@writes(n.Line)
def _line(node: n.Line, put: Put) -> None:
    put(BREAK)
    write(node.item, put)
