"""Target tree → text, in one pass: the only place that quotes and puts parentheses.

A writer hands its pieces to ``put``; they are joined once. An operand that binds looser than its place allows
stands in parentheses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from . import nodes as n
from .quoting import quote, text_literal

Put = Callable[[str], object]
Writer = TypeVar("Writer", bound=Callable[..., None])

_WRITERS: dict[type, Callable[[Any, Put], None]] = {}


def emit(node: n.Node) -> str:
    """Return the text of a tree, with the marks of :mod:`.layout` where its queries may break."""
    pieces: list[str] = []
    _WRITERS[node.__class__](node, pieces.append)
    return "".join(pieces)


def emit_at(node: n.Node, level: int) -> str:
    """Return the text of an operand, in parentheses unless it binds at least as tightly as ``level``."""
    text = emit(node)
    return text if node.level >= level else f"({text})"


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
        case n.IsNull(operand) | n.Quantified(operand):
            return [(operand, n.RANGE)]
        case n.Not(operand):
            return [(operand, n.NOT)]
        case n.Between(subject, low, high):
            return [(subject, n.OTHER), (low, n.OTHER), (high, n.OTHER)]
        case n.Like(subject, pattern):
            return [(subject, n.OTHER), (pattern, n.OTHER)]
        case n.In(subject):
            return [(subject, n.OTHER)]
        case n.Minus(operand) | n.Collate(operand) | n.Cast(operand):
            return [(operand, n.CAST)]
        case n.Complement(operand):
            return [(operand, n.UNARY)]
    return ()


def _writes(*classes: type) -> Callable[[Writer], Writer]:
    """Register the decorated function for nodes of ``classes``."""

    def registering(writer: Writer) -> Writer:
        for one in classes:
            _WRITERS[one] = writer
        return writer

    return registering


def _write(node: n.Node, put: Put) -> None:
    _WRITERS[node.__class__](node, put)


def _at(node: n.Node, level: int, put: Put) -> None:
    """Write an operand, in parentheses unless it binds at least as tightly as ``level``."""
    if node.level >= level:
        _WRITERS[node.__class__](node, put)
    else:
        put("(")
        _WRITERS[node.__class__](node, put)
        put(")")


def _list(items: Sequence[n.Node], put: Put) -> None:
    """Write items with commas between them."""
    first = True
    for item in items:
        if not first:
            put(", ")
        first = False
        _WRITERS[item.__class__](item, put)


# ------------------------------------------------------------------ literals and names


@_writes(n.Text)
def _text(node: n.Text, put: Put) -> None:
    put(text_literal(node.value))


@_writes(n.Integer, n.Negative)
def _integer(node: n.Integer, put: Put) -> None:
    put(str(node.value))


@_writes(n.Number)
def _number(node: n.Number, put: Put) -> None:
    put(node.digits)


@_writes(n.Bytes)
def _bytes(node: n.Bytes, put: Put) -> None:
    put(f"'\\x{node.digits}'")


@_writes(n.Word)
def _word(node: n.Word, put: Put) -> None:
    put(node.word)


@_writes(n.Null)
def _null(node: n.Null, put: Put) -> None:
    put("NULL")


@_writes(n.Name)
def _name(node: n.Name, put: Put) -> None:
    parts = node.parts
    put(quote(parts[0]) if len(parts) == 1 else ".".join(map(quote, parts)))


@_writes(n.Variable)
def _variable(node: n.Variable, put: Put) -> None:
    put(node.spelling)


@_writes(n.Member)
def _member(node: n.Member, put: Put) -> None:
    _write(node.of, put)
    put(f".{quote(node.name)}")


@_writes(n.Every)
def _every(node: n.Every, put: Put) -> None:
    _write(node.of, put)
    put(".*")


@_writes(n.Field)
def _field(node: n.Field, put: Put) -> None:
    put("(")
    _write(node.of, put)
    put(f").{quote(node.name)}")


@_writes(n.Element)
def _element(node: n.Element, put: Put) -> None:
    if isinstance(node.of, n.Name | n.Variable | n.Member | n.Element):
        _write(node.of, put)
    else:
        put("(")
        _write(node.of, put)
        put(")")
    put("[")
    _write(node.index, put)
    put("]")


@_writes(n.Written)
def _written(node: n.Written, put: Put) -> None:
    put(node.text)


# ------------------------------------------------------------------ operators


@_writes(n.Paren)
def _paren(node: n.Paren, put: Put) -> None:
    put("(")
    _write(node.inner, put)
    put(")")


def _chain(operands: tuple[n.Node, ...], level: int, word: str, put: Put) -> None:
    _at(operands[0], level, put)
    for operand in operands[1:]:
        put(word)
        _at(operand, level, put)


@_writes(n.AnyOf)
def _any_of(node: n.AnyOf, put: Put) -> None:
    _chain(node.operands, n.OR, " OR ", put)


@_writes(n.AllOf)
def _all_of(node: n.AllOf, put: Put) -> None:
    _chain(node.operands, n.AND, " AND ", put)


@_writes(n.Not)
def _not(node: n.Not, put: Put) -> None:
    put("NOT ")
    _at(node.operand, n.NOT, put)


@_writes(n.IsNull)
def _is_null(node: n.IsNull, put: Put) -> None:
    _at(node.operand, n.RANGE, put)
    put(" IS NOT NULL" if node.negated else " IS NULL")


@_writes(n.IsDistinct)
def _is_distinct(node: n.IsDistinct, put: Put) -> None:
    _at(node.left, n.RANGE, put)
    put(" IS NOT DISTINCT FROM " if node.negated else " IS DISTINCT FROM ")
    _at(node.right, n.RANGE, put)


@_writes(n.Comparison)
def _comparison(node: n.Comparison, put: Put) -> None:
    # Comparisons do not chain: a = b = c is no PostgreSQL.
    _at(node.left, n.RANGE, put)
    put(f" {node.operator} ")
    _at(node.right, n.RANGE, put)


@_writes(n.Infix, n.Sum, n.Product)
def _infix(node: n.Infix, put: Put) -> None:
    # A sum of a thousand parts leans to the left: no call for each of them.
    level = node.level
    spine = [node]
    left = node.left
    while isinstance(left, n.Infix) and left.level >= level and left.__class__ is not n.Comparison:
        spine.append(left)
        left = left.left
    _at(left, spine[-1].level, put)
    for one in reversed(spine):
        put(f" {one.operator} ")
        _at(one.right, one.level + 1, put)


@_writes(n.Quantified)
def _quantified(node: n.Quantified, put: Put) -> None:
    _at(node.left, n.RANGE, put)
    put(f" {node.operator} {node.word} ")
    _write(node.right, put)


@_writes(n.Between)
def _between(node: n.Between, put: Put) -> None:
    _at(node.subject, n.OTHER, put)
    put(" NOT BETWEEN " if node.negated else " BETWEEN ")
    _at(node.low, n.OTHER, put)
    put(" AND ")
    _at(node.high, n.OTHER, put)


@_writes(n.In)
def _in(node: n.In, put: Put) -> None:
    _at(node.subject, n.OTHER, put)
    put(" NOT IN " if node.negated else " IN ")
    _write(node.items, put)


@_writes(n.Like)
def _like(node: n.Like, put: Put) -> None:
    _at(node.subject, n.OTHER, put)
    put(" NOT LIKE " if node.negated else " LIKE ")
    _at(node.pattern, n.OTHER, put)
    if node.escape is not None:
        put(" ESCAPE ")
        _at(node.escape, n.OTHER, put)


@_writes(n.Minus)
def _minus(node: n.Minus, put: Put) -> None:
    put("-")
    # Two signs side by side would be one operator, or a comment.
    _at(node.operand, n.CAST, put)


@_writes(n.Complement)
def _complement(node: n.Complement, put: Put) -> None:
    put("~")
    _at(node.operand, n.UNARY, put)


@_writes(n.Collate)
def _collate(node: n.Collate, put: Put) -> None:
    _at(node.operand, n.CAST, put)
    # Always in quotes: "C" and "und-x-icu" are no words of SQL.
    name = node.name.replace('"', '""')
    put(f' COLLATE "{name}"')


@_writes(n.Cast, n.CertainCast)
def _cast(node: n.Cast, put: Put) -> None:
    _at(node.operand, n.CAST, put)
    put(f"::{node.type}")


@_writes(n.Typed)
def _typed(node: n.Typed, put: Put) -> None:
    put(f"{node.type} ")
    _write(node.text, put)


# ------------------------------------------------------------------ calls and constructors


@_writes(n.OrderItem)
def _order_item(node: n.OrderItem, put: Put) -> None:
    _write(node.value, put)
    if node.descending:
        put(" DESC")
    if node.nulls:
        put(f" NULLS {node.nulls}")


def _order_by(items: tuple[n.OrderItem, ...], put: Put) -> None:
    put("ORDER BY ")
    _list(items, put)


@_writes(n.Call, n.Conversion)
def _call(node: n.Call, put: Put) -> None:
    put(f"{node.function}(")
    _list(node.arguments, put)
    if node.order:
        put(" ")
        _order_by(node.order, put)
    put(")")
    if node.filter is not None:
        put(" FILTER (WHERE ")
        _write(node.filter, put)
        put(")")


@_writes(n.WithinGroup)
def _within_group(node: n.WithinGroup, put: Put) -> None:
    _write(node.call, put)
    put(" WITHIN GROUP (")
    _order_by(node.order, put)
    put(")")


@_writes(n.NamedArgument)
def _named_argument(node: n.NamedArgument, put: Put) -> None:
    put(f"{quote(node.name)} => ")
    _write(node.value, put)


@_writes(n.Distinct)
def _distinct(node: n.Distinct, put: Put) -> None:
    put("DISTINCT ")
    _write(node.operand, put)


@_writes(n.Variadic)
def _variadic(node: n.Variadic, put: Put) -> None:
    put("VARIADIC ")
    _write(node.operand, put)


@_writes(n.Bound)
def _bound(node: n.Bound, put: Put) -> None:
    _write(node.value, put)
    if node.direction:
        put(f" {node.direction}")


@_writes(n.Frame)
def _frame(node: n.Frame, put: Put) -> None:
    put(f"{node.kind} ")
    if node.end is not None:
        put("BETWEEN ")
    _write(node.start, put)
    if node.end is not None:
        put(" AND ")
        _write(node.end, put)


@_writes(n.Over)
def _over(node: n.Over, put: Put) -> None:
    _write(node.call, put)
    between = " OVER ("
    if node.partition:
        put(f"{between}PARTITION BY ")
        _list(node.partition, put)
        between = " "
    if node.order:
        put(between)
        _order_by(node.order, put)
        between = " "
    if node.frame is not None:
        put(between)
        _frame(node.frame, put)
        between = ""
    put(")" if between != " OVER (" else " OVER ()")


@_writes(n.Case)
def _case(node: n.Case, put: Put) -> None:
    put("CASE")
    if node.subject is not None:
        put(" ")
        _write(node.subject, put)
    for test, value in node.branches:
        put(" WHEN ")
        # Beside the subject of a simple CASE an operand stands, else a condition by itself.
        _at(test, n.OR if node.subject is None else n.RANGE, put)
        put(" THEN ")
        _write(value, put)
    if node.default is not None:
        put(" ELSE ")
        _write(node.default, put)
    put(" END")


@_writes(n.Items)
def _items(node: n.Items, put: Put) -> None:
    put("(")
    _list(node.items, put)
    put(")")


@_writes(n.Array)
def _array(node: n.Array, put: Put) -> None:
    put("ARRAY[")
    _list(node.items, put)
    put("]")


@_writes(n.Subquery)
def _subquery(node: n.Subquery, put: Put) -> None:
    put("(")
    _write(node.query, put)
    put(")")


@_writes(n.Exists)
def _exists(node: n.Exists, put: Put) -> None:
    put("EXISTS ")
    _write(node.query, put)


# ------------------------------------------------------------------ queries


@_writes(n.Aliased)
def _aliased(node: n.Aliased, put: Put) -> None:
    if node.lateral:
        put("LATERAL ")
    _write(node.item, put)
    put(f" AS {quote(node.alias)}")
    if node.columns:
        put(f" ({', '.join(map(quote, node.columns))})")


@_writes(n.Select)
def _select(node: n.Select, put: Put) -> None:
    put("SELECT ")
    _list(node.items, put)
    if node.source is not None:
        put(" FROM ")
        _write(node.source, put)
