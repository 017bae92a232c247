"""SELECT @a = …, @b = …: a query whose rows flow into variables.

The last row wins, no row leaves the variables as they were.  An expression may read a
variable that the same SELECT assigns (``SELECT @s = @s + name FROM …`` walks the rows):
what does not depend on such variables is then computed by the query, the rest row by row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from sqlglot import exp

from ....grammar.records import replace
from ...catalog.names import AGGREGATES, fold
from ...catalog.objects import ScalarVariable
from ...catalog.types import SqlType
from ...target import nodes as n
from .. import values as v
from ..assignments import assign
from ..context import Context
from ..dispatch import handles, query_tree
from ..expressions.names import scalar
from ..functions import builtin
from ..interface import Assignment
from ..parse.nodes import SetVariable, TypeName, is_variable
from ..values import Value

RECORD = Assignment.RECORD

ASSIGNS_AND_SHOWS = (
    "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval "
    "operations."
)
"""Error 141."""


class Lifted(exp.Expression):
    """A part of an expression that the query computes: ``this`` is its column's name."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "value": True}


@handles(Lifted)
def _lifted(node: Lifted, ctx: Context) -> Value:
    value: Value = node.args["value"]
    return Value(n.Name((RECORD, fold(node.name))), value.type, pg=value.pg, nullable=value.nullable)


def assignment(node: exp.Expr, ctx: Context) -> Assignment | None:
    """Translate a SELECT that assigns variables; None when it assigns none."""
    if not isinstance(node, exp.Select):
        return None
    items = [item for item in node.expressions if isinstance(item, SetVariable)]
    if not items:
        return None
    names = [item.this.name for item in items]
    if len(items) != len(node.expressions):
        other = next(item for item in node.expressions if not isinstance(item, SetVariable))
        ctx.problem(
            ASSIGNS_AND_SHOWS,
            other,
            number=141,
        )
        return Assignment((), ())
    if node.args.get("for_") is not None:
        ctx.problem("The FOR XML clause is not allowed in a ASSIGNMENT statement.", node, number=6819)
    targets: list[ScalarVariable] = []
    for item in items:
        known = ctx.scope.variable(item.this.name)
        if known is None:
            ctx.problem(f'Must declare the scalar variable "{item.this.name}".', item.this, number=137)
            return Assignment((), ())
        targets.append(known)
    expressions = [operand(item) for item in items]
    references = tuple(target.reference for target in targets)
    if _is_plain(node):
        values = [
            assign(ctx.implicitly(scalar(value, ctx), target.type, value), target.type)
            for value, target in zip(expressions, targets, strict=True)
        ]
        return Assignment(
            references,
            tuple(value.code for value in values),
            target_names=tuple(names),
            sources=tuple(item.expression if item.args["operator"] == "=" else None for item in items),
        )
    assigned = {name.lower() for name in names}
    if node.args.get("from_") is not None and any(reads(value, assigned) for value in expressions):
        return _sequential(node, expressions, targets, tuple(names), ctx)
    return _flowing(node, expressions, targets, tuple(names), ctx)


def operand(item: SetVariable) -> exp.Expr:
    """The value of ``@x = value``; ``@x += value`` is ``@x + (value)``."""
    operator = item.args["operator"]
    if operator == "=":
        value: exp.Expr = item.expression
        return value
    return operand_of(operator, exp.Column(this=item.this.copy()), item.expression)


def operand_of(operator: str, target: exp.Expr, value: exp.Expr) -> exp.Expr:
    """What ``target += value`` and its relatives assign."""
    classes: dict[str, type[exp.Expr]] = {
        "+=": exp.Add,
        "-=": exp.Sub,
        "*=": exp.Mul,
        "/=": exp.Div,
        "%=": exp.Mod,
        "&=": exp.BitwiseAnd,
        "|=": exp.BitwiseOr,
        "^=": exp.BitwiseXor,
        "||=": exp.DPipe,
    }
    if isinstance(value, exp.Binary):
        value = exp.Paren(this=value)
    return classes[operator](this=target, expression=value)


def _is_plain(node: exp.Select) -> bool:
    """No relation, no condition: as many SETs would do."""
    clauses = ("from_", "where", "having", "group", "limit", "order", "with_", "distinct", "offset")
    return not any(node.args.get(key) for key in clauses)


def reads(node: exp.Expr, assigned: set[str]) -> bool:
    """Whether an expression reads one of the variables ``assigned`` (lower case, with @)."""
    return any(
        is_variable(column) and column.name.lower() in assigned
        for column in node.find_all(exp.Column, exp.Identifier)
    )


def _flowing(
    node: exp.Select,
    expressions: list[exp.Expr],
    targets: list[ScalarVariable],
    names: tuple[str, ...],
    ctx: Context,
) -> Assignment:
    """No value reads what the statement assigns: one query gives all of them."""
    values = [Assigned(this=value, target=target) for value, target in zip(expressions, targets, strict=True)]
    fixed: Sequence[exp.Expression]
    if node.args.get("distinct"):
        # What ORDER BY names must be in the list as it stands there.
        labels, fixed = labels_of(names), values
    else:
        labels = labels_of(names, _ordered_by(node))
        fixed = [FixedType(this=value, target=target) for value, target in zip(values, targets, strict=True)]
    plain = None
    rows = None
    if any(_aggregates(value) for value in expressions):
        # Of one row: SELECT … INTO will do, and needs no names.
        node.set("expressions", values)
        rows = query_tree(node, ctx)
        plain = rows.code if rows.one_row else None
    if plain is None or rows is None:
        named = [
            exp.Alias(this=value, alias=exp.to_identifier(label, quoted=True))
            for value, label in zip(fixed, labels, strict=True)
        ]
        node.set("expressions", named)
        rows = query_tree(node, ctx)
        if rows.one_row:
            node.set("expressions", values)
            plain = query_tree(node, ctx).code
    return Assignment(
        tuple(target.reference for target in targets),
        tuple(n.Name((RECORD, label)) for label in labels),
        query=plain,
        rows=rows.code,
        exactly_one_row=rows.one_row,
        at_most_one_row=rows.at_most_one,
        target_names=names,
    )


def _aggregates(node: exp.Expr) -> bool:
    """Tell whether an aggregate function is called, as far as the names tell it."""
    return any(call.name.upper() in AGGREGATES for call in node.find_all(exp.Anonymous))


class Assigned(exp.Expression):
    """A value on its way into a variable: converted to the variable's type."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "target": True}


@handles(Assigned)
def _assigned(node: Assigned, ctx: Context) -> Value:
    target: ScalarVariable = node.args["target"]
    return assign(ctx.implicitly(scalar(node.this, ctx), target.type, node.this), target.type)


def _ordered_by(node: exp.Select) -> set[str]:
    """Columns in ORDER BY, folded: of that name PostgreSQL takes the list's column before the table's."""
    order = node.args.get("order")
    return {fold(column.name) for column in order.find_all(exp.Column)} if order is not None else set()


class FixedType(exp.Expression):
    """A value for a loop's record: of ``target``'s type, or of its own, as it is known now."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "target": False}


@handles(FixedType)
def _fixed_type(node: FixedType, ctx: Context) -> Value:
    target: ScalarVariable | None = node.args.get("target")
    return fixed_type(scalar(node.this, ctx), target.type if target is not None else None)


_TYPED = (n.Cast, n.Variable, n.Text, n.Integer, n.Negative, n.Number, n.Null)
_VARYING = frozenset(
    {"integer", "decimal", "float", "string", "datetime", "date", "time", "binary", "uniqueidentifier"}
)


def fixed_type(value: Value, to: SqlType | None = None) -> Value:
    """The value, of a type that stays the same where a table's column gets another one.

    PL/pgSQL keeps for a session which types the fields of a record had, and refuses others: type of
    parameter 1 (bigint) does not match that when preparing the plan (integer).
    """
    type_ = to or value.type
    if value.type is None or type_ is None or type_.family not in _VARYING or isinstance(value.code, _TYPED):
        return value
    if isinstance(value.code, n.Call) and value.code.function.startswith("sys.convert_"):
        return value
    # What is no variable's yet keeps its length.
    postgres = type_.postgres if to is not None else type_.postgres.partition("(")[0]
    return replace(value, code=n.Cast(value.code, postgres))


def labels_of(names: tuple[str, ...], taken: Collection[str] = ()) -> list[str]:
    """Column names for the loop's record: the variables' names, told apart where one occurs twice.

    ``taken``: names that mean something else in the query.
    """
    labels: list[str] = []
    for name in names:
        label = fold(name.lstrip("@")) or "value"
        while label in labels or label in taken:
            label += "_"
        labels.append(label)
    return labels


def _sequential(
    node: exp.Select,
    expressions: list[exp.Expr],
    targets: list[ScalarVariable],
    names: tuple[str, ...],
    ctx: Context,
) -> Assignment:
    """Some value reads what the statement assigns: the query computes the rest."""
    assigned = {name.lower() for name in names}
    lifted: list[exp.Expr] = []
    outside = [lift(value.copy(), assigned, lifted) for value in expressions]
    query_node = node.copy()
    labels = labels_of(tuple(f"c{place}" for place in range(1, len(lifted) + 1)), _ordered_by(node))
    query_node.set(
        "expressions",
        [
            exp.Alias(this=FixedType(this=value.copy()), alias=exp.to_identifier(label, quoted=True))
            for value, label in zip(lifted, labels, strict=True)
        ]
        or [exp.Alias(this=exp.Literal.number(1), alias=exp.to_identifier("c1", quoted=True))],
    )
    result = query_tree(query_node, ctx)
    known = result.values or []
    values = []
    for value, target in zip(outside, targets, strict=True):
        for part in value.find_all(Lifted):
            place = int(part.name[1:]) - 1
            part.set("value", known[place] if place < len(known) else Value(n.NOTHING))
            part.set("this", labels[place])
        values.append(assign(scalar(value, ctx), target.type).code)
    return Assignment(
        tuple(target.reference for target in targets),
        tuple(values),
        rows=result.code,
        at_most_one_row=result.at_most_one,
        target_names=names,
    )


_PARTS = (TypeName, exp.Var, exp.Identifier)
"""What stands in an expression and is no value: a type, a collation, a unit of time."""


def lift(node: exp.Expr, assigned: set[str], lifted: list[exp.Expr], *, prefix: str = "c") -> exp.Expr:
    """Replace the largest parts that read no assigned variable by the query's columns."""
    if isinstance(node, _PARTS):
        return node
    if not reads(node, assigned):
        if isinstance(node, (exp.Literal, exp.National, exp.Null)) or (
            isinstance(node, exp.Column) and is_variable(node)
        ):
            return node
        lifted.append(node)
        return Lifted(this=f"{prefix}{len(lifted)}", value=v.NULL)
    if isinstance(node, (exp.Query, exp.Subquery)):
        return node

    def value(child: exp.Expr) -> exp.Expr:
        return lift(child, assigned, lifted, prefix=prefix)

    def test(child: exp.Expr) -> exp.Expr:
        return _lift_condition(child, assigned, lifted, prefix)

    if isinstance(node, exp.Case):
        searched = test if node.this is None else value
        for branch in node.args["ifs"]:
            branch.set("this", searched(branch.this))
            branch.set("true", value(branch.args["true"]))
    called = node.name.upper() if isinstance(node, exp.Anonymous) else ""
    for key, child in list(node.args.items()):
        if key == "ifs" or (isinstance(child, exp.Query | exp.Subquery) and isinstance(node, exp.In)):
            continue
        if isinstance(child, exp.Expr) and not isinstance(node, exp.Column):
            node.set(key, value(child))
        elif isinstance(child, list) and child and isinstance(child[0], exp.Expr):
            items = list(map(value, child[1:]))
            if called in builtin.DATE_PART_FUNCTIONS:
                first = child[0]
            else:
                first = test(child[0]) if called == "IIF" else value(child[0])
            node.set(key, [first, *items])
    return node


def _lift_condition(node: exp.Expr, assigned: set[str], lifted: list[exp.Expr], prefix: str) -> exp.Expr:
    """Lift the parts of a condition; what reads no assigned variable becomes 1, 0, or NULL."""
    if not reads(node, assigned):
        no = exp.Not(this=exp.Paren(this=node.copy()))
        branches = [
            exp.If(this=node, true=exp.Literal.number(1)),
            exp.If(this=no, true=exp.Literal.number(0)),
        ]
        lifted.append(exp.Case(ifs=branches))
        column = Lifted(this=f"{prefix}{len(lifted)}", value=v.NULL)
        return exp.EQ(this=column, expression=exp.Literal.number(1))
    if isinstance(node, exp.And | exp.Or | exp.Not | exp.Paren):
        for key in ("this", "expression"):
            child = node.args.get(key)
            if child is not None:
                node.set(key, _lift_condition(child, assigned, lifted, prefix))
        return node
    return lift(node, assigned, lifted, prefix=prefix)
