"""Search conditions: comparisons with T-SQL's conversions, LIKE, IN, EXISTS, and CASE."""

from __future__ import annotations

import enum
import re
import unicodedata

from sqlglot import exp

from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.names import collation_of
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..assignments import assign
from ..context import Context
from ..conversions import as_text, convert, reconcile
from ..dispatch import handles
from ..parse.nodes import is_variable
from ..precedence import common_of_types, common_type
from ..values import Value
from .names import condition, scalar, subquery

BOOLEAN = tm.BOOLEAN

ONLY_NULLS = (
    "At least one of the result expressions in a CASE specification must be an expression other than the "
    "NULL constant."
)
"""Error 8133, of CASE and IIF."""


def flatten(node: exp.Expr, kind: type) -> list[exp.Expr]:
    """The operands of a chain ``a AND b AND c``, without recursion."""
    operands: list[exp.Expr] = []
    while isinstance(node, kind):
        operands.append(node.args["expression"])
        node = node.this
    operands.append(node)
    operands.reverse()
    return operands


@handles(exp.And)
def _and(node: exp.And, ctx: Context) -> Value:
    operands = [condition(operand, ctx).code for operand in flatten(node, exp.And)]
    return Value(n.AllOf(tuple(operands)), BOOLEAN)


@handles(exp.Or)
def _or(node: exp.Or, ctx: Context) -> Value:
    operands = [condition(operand, ctx).code for operand in flatten(node, exp.Or)]
    return Value(n.AnyOf(tuple(operands)), BOOLEAN)


@handles(exp.Not)
def _not(node: exp.Not, ctx: Context) -> Value:
    inner = node.this
    if isinstance(inner, exp.In):
        return _in(inner, ctx, negate=True)
    if isinstance(inner, exp.Between):
        return _between(inner, ctx, negate=True)
    if isinstance(inner, exp.Is):
        return _is(inner, ctx, negate=True)
    if isinstance(inner, (exp.Like, exp.Escape)):
        return _like_node(inner, ctx, negate=True)
    if isinstance(inner, (exp.NullSafeEQ, exp.NullSafeNEQ)):
        return _distinct(inner, ctx, negate=True)
    return Value(n.Not(condition(inner, ctx).code), BOOLEAN)


@handles(exp.Is)
def _is(node: exp.Is, ctx: Context, negate: bool = False) -> Value:
    if not isinstance(node.expression, exp.Null):
        return ctx.problem("IS must be followed by NULL, NOT NULL or DISTINCT FROM", node, number=102)
    negate = negate or bool(node.args.get("negate"))
    return Value(n.IsNull(scalar(node.this, ctx).code, negate), BOOLEAN)


@handles(exp.NullSafeEQ, exp.NullSafeNEQ)
def _distinct(node: exp.Binary, ctx: Context, negate: bool = False) -> Value:
    left, right = align(scalar(node.this, ctx), scalar(node.expression, ctx), ctx)
    distinct = isinstance(node, exp.NullSafeNEQ) != negate
    return Value(n.IsDistinct(left.code, right.code, not distinct), BOOLEAN)


_COMPARISONS: dict[type, str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


@handles(*_COMPARISONS)
def _comparison(node: exp.Binary, ctx: Context) -> Value:
    operator = _COMPARISONS[type(node)]
    if isinstance(node.expression, (exp.Any, exp.All)):
        return _quantified(node, operator, ctx)
    left, right = align(scalar(node.this, ctx), scalar(node.expression, ctx), ctx)
    if left.family == right.family == "binary" and not any(map(_is_column, (node.this, node.expression))):
        left, right = _without_zeros(left), _without_zeros(right)
    return Value(n.Comparison(operator, left.code, right.code), BOOLEAN)


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not is_variable(node)


def _without_zeros(value: Value) -> Value:
    """Bytes as they compare: zeros at the end do not count. Columns are left alone, for their indexes."""
    code = value.code
    if isinstance(code, n.Cast) and isinstance(code.operand, n.Bytes):
        digits = re.sub("(00)+$", "", code.operand.digits)
        return replace(value, code=replace(code, operand=n.Bytes(digits)))
    return v.call("rtrim", value.code, n.Bytes("00"), type=value.type, nullable=value.nullable)


def _quantified(node: exp.Binary, operator: str, ctx: Context) -> Value:
    quantifier = node.expression
    left = scalar(node.this, ctx)
    query = quantifier.this
    if isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    if not isinstance(query, exp.Query):
        return ctx.problem("ALL, ANY and SOME take a subquery", node, number=102)
    word = "ANY" if isinstance(quantifier, exp.Any) else "ALL"
    right = subquery(query, ctx)
    aligned, _ = align(left, right, ctx)
    return Value(n.Quantified(aligned.code, operator, word, right.code), BOOLEAN)


@handles(exp.Between)
def _between(node: exp.Between, ctx: Context, negate: bool = False) -> Value:
    subject = scalar(node.this, ctx)
    low, high = scalar(node.args["low"], ctx), scalar(node.args["high"], ctx)
    aligned, low = align(subject, low, ctx)
    same, high = align(subject, high, ctx)
    if aligned.code != same.code:
        both = n.AllOf((n.Comparison(">=", aligned.code, low.code), n.Comparison("<=", same.code, high.code)))
        return Value(n.Not(both) if negate else both, BOOLEAN)
    return Value(n.Between(aligned.code, low.code, high.code, negate), BOOLEAN)


@handles(exp.In)
def _in(node: exp.In, ctx: Context, negate: bool = False) -> Value:
    subject = scalar(node.this, ctx)
    query = node.args.get("query")
    if query is not None:
        right = subquery(query, ctx)
        rows = right.code
        column = Value(n.Name(("found", "value")), right.type or subject.type, collation=right.collation)
        aligned, compared = align(subject, column, ctx)
        if compared.code != column.code:
            found = q.Aliased(rows, "found", ("value",))
            rows = n.Subquery(q.Select((compared.code,), source=found, breaks=q.Breaks.NEVER))
        return Value(n.In(aligned.code, rows, negate), BOOLEAN)
    items = [scalar(item, ctx) for item in node.expressions]
    explicit = next((item.collation for item in (subject, *items) if item.collation), None)
    subject = replace(subject, collation=explicit)
    # T-SQL converts the whole list and the subject to one type.
    known = [item for item in items if item.type is not None]
    strongest = common_type([subject, *known]) if subject.type is not None else None
    if (
        strongest is not None
        and subject.family != strongest.family
        and not (subject.type is not None and subject.type.is_numeric and strongest.is_numeric)
    ):
        subject = assign(subject, strongest)
    listed: list[n.Node] = []
    aligned = subject
    needs = 0
    for item in items:
        beside_item, right = align(subject, item, ctx)
        # One collation for all: of the item that needs most letters (_with_letters).
        if not listed or _letters(item) > needs:
            aligned, needs = beside_item, _letters(item)
        listed.append(right.code)
    if not listed:
        return ctx.problem("IN takes at least one value", node, number=102)
    return Value(n.In(aligned.code, n.Items(tuple(listed)), negate), BOOLEAN)


@handles(exp.Exists)
def _exists(node: exp.Exists, ctx: Context) -> Value:
    query = node.this
    if isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    if not isinstance(query, exp.Query):
        return ctx.problem("EXISTS takes a subquery", node, number=102)
    is_grouped = isinstance(query, exp.Select) and (query.args.get("group") or query.args.get("having"))
    if is_grouped and all(isinstance(item, exp.Star) for item in query.expressions):
        for item in query.expressions:
            ctx.refuse_star(item)
        # Here the star stands for no columns: none of them has to be grouped.
        query.set("expressions", [exp.Literal.number(1)])
    return Value(n.Exists(subquery(query, ctx, one_column=False).code), BOOLEAN)


# ---------------------------------------------------------------- comparison of unlike types


def align(left: Value, right: Value, ctx: Context) -> tuple[Value, Value]:
    """Convert the side of lower precedence where PostgreSQL would not; fold case where asked to."""
    if any(side.type is not None and side.type.family == "xml" for side in (left, right)):
        ctx.problem(
            "The XML data type cannot be compared or sorted, except when using the IS NULL operator.",
            number=305,
        )
    left, right = _align_types(left, right)
    if left.is_null or right.is_null:
        return left, right
    collation = _collation(left, right, ctx)
    if collation == "name":
        left, right = _with_letters(left, right)
    return collated(left, collation), collated(right, collation)


def _with_letters(left: Value, right: Value) -> tuple[Value, Value]:
    """Names of the catalog mostly have the collation C, in which lower() knows no letters but ASCII's."""
    constants = [side for side in (left, right) if isinstance(side.constant, str)]
    needs = max(map(_letters, constants or (left, right)))
    if needs == 0:
        return left, right

    collation = "C" if needs == 1 else "default"

    def with_letters(side: Value) -> Value:
        is_constant = isinstance(side.constant, str)
        return side if is_constant else replace(side, code=n.Collate(side.code, collation))

    return with_letters(left), with_letters(right)


def _letters(value: Value) -> int:
    """Which letters lower() has to know: 1 the I, which is another in a Turkish database, 2 those of all."""
    if not (isinstance(value.constant, str) and value.constant.isascii()):
        return 2
    return 1 if "I" in value.constant else 0


def _collation(left: Value, right: Value, ctx: Context) -> str | None:
    """How two values are compared: as COLLATE says, else as the script is compiled."""
    # A literal beside a uniqueidentifier or a date stays the text that PostgreSQL reads as one.
    known = [side.type for side in (left, right) if side.type is not None]
    text = bool(known) and all(type_.is_string for type_ in known)
    return left.collation or right.collation or ("ci" if ctx.scope.case_insensitive and text else None)


def collated(value: Value, collation: str | None) -> Value:
    """A string as a collation compares it: without case (ci, name), without accents (…_ai)."""
    if collation is not None and collation.endswith("_ai"):
        value = without_accents(value)
    return case_folded(value) if collation in ("ci", "ci_ai", "name") else value


def without_accents(value: Value) -> Value:
    """A string without its accents."""
    if isinstance(value.constant, str):
        plain = "".join(
            c for c in unicodedata.normalize("NFD", value.constant) if not unicodedata.combining(c)
        )
        return replace(value, code=n.Text(plain))
    return v.call("sys.without_accents", value.code, type=value.type, nullable=value.nullable)


def _align_types(left: Value, right: Value) -> tuple[Value, Value]:
    a, b = left.type, right.type
    if a is None or b is None or a.family == b.family or BOOLEAN in (a, b):
        return left, right
    if (a.is_numeric and b.is_numeric) or (a.is_datetime and b.is_datetime):
        return left, right
    if a.family == "variant":
        return _of_variant(left, b), right
    if b.family == "variant":
        return left, _of_variant(right, a)
    if "user" in (a.family, b.family):
        return left, right
    target = common_of_types([a, b])
    if target is None:
        return left, right
    if a.family != target.family:
        return assign(left, target), right
    return left, assign(right, target)


def _of_variant(value: Value, other: tm.SqlType) -> Value:
    """A sql_variant, which is text here, beside another type: NULL where it is nothing of the kind."""
    if other.is_string or other.family in ("user", "xml"):
        return value
    target = tm.decimal(38, 10) if other.is_numeric else other
    return convert(replace(value, type=tm.NVARCHAR_MAX), target, attempt=True)


def case_folded(value: Value) -> Value:
    """A string as SQL Server's default collations compare it: case and trailing blanks do not count."""
    if isinstance(value.constant, str):
        return replace(value, code=n.Text(value.constant.rstrip(" ").lower()))
    code = value.code
    if value.type is None or value.type.name != "sysname":
        code = n.Call("rtrim", (code,))
    return v.call("lower", code, type=value.type, nullable=value.nullable)


def lowered(value: Value) -> Value:
    """A string in lower case; a constant too, as lower('x') has no collation in a column's definition."""
    if isinstance(value.constant, str) and isinstance(value.code, n.Text):
        return replace(value, code=n.Text(value.constant.lower()))
    return v.call("lower", value.code, type=value.type, nullable=value.nullable)


@handles(exp.Collate)
def _collate(node: exp.Collate, ctx: Context) -> Value:
    value = scalar(node.this, ctx)
    collation = collation_of(node.expression.name)
    if collation is None:
        return ctx.problem(f"Invalid collation '{node.expression.name}'.", node, number=448)
    if collation == "bin":
        return replace(value, code=n.Collate(value.code, "C"), collation="cs")
    return replace(value, collation=collation) if collation else value


# ---------------------------------------------------------------- LIKE


@handles(exp.Like)
def _like(node: exp.Like, ctx: Context) -> Value:
    return _like_node(node, ctx)


@handles(exp.Escape)
def _escape(node: exp.Escape, ctx: Context) -> Value:
    return _like_node(node, ctx)


def _like_node(node: exp.Expr, ctx: Context, negate: bool = False) -> Value:
    escape: Value | None = None
    like = node
    if isinstance(node, exp.Escape):
        like = node.this
        escape = scalar(node.expression, ctx)
    if not isinstance(like, exp.Like):
        return ctx.problem("ESCAPE belongs to LIKE", node, number=102)
    negate = negate != bool(like.args.get("negate"))
    subject, pattern = scalar(like.this, ctx), scalar(like.expression, ctx)
    if subject.type is not None and not subject.is_string:
        subject = as_text(subject, national=pattern.type is not None and pattern.type.is_unicode)
    if pattern.type is not None and not pattern.is_string and not pattern.is_null:
        pattern = as_text(pattern, national=subject.type is not None and subject.type.is_unicode)
    explicit = subject.collation or pattern.collation
    folded = explicit in ("ci", "ci_ai", "name") or (explicit is None and ctx.scope.case_insensitive)
    blanks = _blanks_behind(subject, pattern, folded)
    if explicit is not None and explicit.endswith("_ai"):
        subject, pattern = without_accents(subject), without_accents(pattern)
    if explicit == "name":
        subject, pattern = _with_letters(subject, pattern)
    if folded:
        subject, pattern = lowered(subject), lowered(pattern)
    subject, tolerant = _with_blanks(subject, pattern, escape, blanks)
    constant = pattern.constant
    if not tolerant and (pattern.is_null or (isinstance(constant, str) and "[" not in constant)):
        tail = escape.code if escape is not None else None
        if tail is None and isinstance(constant, str) and "\\" in constant:
            tail = n.Text("")
        return Value(n.Like(subject.code, pattern.code, tail, negate), BOOLEAN)
    arguments = [subject.code, pattern.code, *([escape.code] if escape is not None else [])]
    value = v.call("sys.like_before_blanks" if tolerant else "sys.like", *arguments, type=BOOLEAN)
    return Value(n.Not(value.code), BOOLEAN) if negate else value


class _Blanks(enum.Enum):
    """What the blanks at the end of LIKE's subject mean."""

    AS_STORED = enum.auto()
    """They count as PostgreSQL has them."""
    COUNT = enum.auto()
    """They count: those of an nchar, which PostgreSQL forgets where it becomes another string."""
    PASSED = enum.auto()
    """The pattern may end before any of them: strings that are not Unicode."""


def _blanks_behind(subject: Value, pattern: Value, folded: bool) -> _Blanks:
    """Blanks of Unicode count in LIKE; those of a char do not, nor, where = passes them, a varchar's."""
    if subject.type is None or pattern.type is None:
        return _Blanks.AS_STORED
    fixed = subject.type.name in ("char", "nchar")
    if subject.type.is_unicode or pattern.type.is_unicode:
        return _Blanks.COUNT if fixed else _Blanks.AS_STORED
    return _Blanks.PASSED if fixed or folded else _Blanks.AS_STORED


def _with_blanks(subject: Value, pattern: Value, escape: Value | None, blanks: _Blanks) -> tuple[Value, bool]:
    """The subject with the blanks that count, and whether the pattern has to be asked to end before them."""
    constant = pattern.constant
    known = escape is None and isinstance(constant, str) and "[" not in constant
    if blanks is _Blanks.AS_STORED or (known and str(constant).endswith("%")):
        return subject, False
    if blanks is _Blanks.PASSED and known and not str(constant).endswith((" ", "_")):
        # Without blanks at its end the pattern matches what is left of the subject without them.
        return replace(subject, code=n.Call("rtrim", (subject.code,))), False
    assert subject.type is not None
    if subject.type.name in ("char", "nchar"):
        length = n.Integer(subject.type.length or 1)
        subject = replace(subject, code=n.Call("rpad", (n.Cast(subject.code, "text"), length)))
    return subject, blanks is _Blanks.PASSED


@handles(exp.Case)
def _case(node: exp.Case, ctx: Context) -> Value:
    values = [scalar(branch.args["true"], ctx) for branch in node.args["ifs"]]
    default = node.args.get("default")
    if default is not None:
        values.append(scalar(default, ctx))
    if all(value.is_null for value in values):
        return ctx.problem(ONLY_NULLS, node, number=8133)
    converted, type_ = reconcile(values)
    subject = scalar(node.this, ctx) if node.this is not None else None
    shown: n.Node | None = None
    if subject is None:
        tests = [condition(branch.this, ctx).code for branch in node.args["ifs"]]
    else:
        sides = [align(subject, scalar(branch.this, ctx), ctx) for branch in node.args["ifs"]]
        if all(left.code == subject.code for left, _ in sides):
            shown = subject.code
            tests = [right.code for _, right in sides]
        else:
            tests = [n.Comparison("=", left.code, right.code) for left, right in sides]
    branches = tuple((test, value.code) for test, value in zip(tests, converted, strict=False))
    nullable = default is None or any(value.nullable for value in values)
    return Value(
        n.Case(branches, shown, converted[-1].code if default is not None else None),
        type_,
        nullable=nullable,
    )
