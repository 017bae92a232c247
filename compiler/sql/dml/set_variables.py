"""UPDATE … SET @v = …: values that come back through RETURNING into variables."""

from __future__ import annotations

from sqlglot import exp

from ...catalog.names import fold
from ...catalog.objects import ScalarVariable, TableInfo
from ...target import nodes as n
from ...target import queries as q
from ...target import statements as s
from ..assignments import assign, load
from ..context import Context, Frame
from ..expressions.names import scalar
from ..interface import Assignment
from ..parse.dml import SetItem
from ..query.assignment import Lifted, fixed_type, labels_of, lift, operand_of, reads
from ..values import Value
from .output import Changing
from .set_clause import set_column


def into_variables(
    items: list[SetItem],
    changing: Changing,
    info: TableInfo | None,
    inserted: n.Node | None,
    computed: list[tuple[SetItem, n.Node]],
    ctx: Context,
) -> Assignment | None:
    """Close an UPDATE whose ``items`` assign variables.

    ``inserted`` is the prefix of the new row's columns; ``computed`` has the values that the
    statement's inner query computed before the change.
    """
    names = [item.variable.name for item in items if item.variable is not None]
    targets = _targets(items, ctx)
    if targets is None:
        return None
    assigned = {name.lower() for name in names}
    ready = {id(item): code for item, code in computed}
    returned: list[n.Node] = []
    values: list[n.Node] = []
    for item, target, label in zip(items, targets, labels_of(tuple(names)), strict=True):
        column = set_column(item.column, info, ctx) if item.column is not None else None
        type_ = column.type if column is not None else None
        if id(item) in ready:
            value = Value(ready[id(item)], type_)
        elif item.column is not None and column is not None:
            own = fold(item.column.name)
            value = load(n.Name((own,)) if inserted is None else n.Member(inserted, own), column)
        else:
            node = _operand(item)
            if reads(node, assigned):
                values.append(_row_by_row(node, target, assigned, label, returned, ctx))
                continue
            value = scalar(node, ctx)
        value = fixed_type(assign(value, target.type), target.type)
        name = n.Name((fold(label),))
        returned.append(value.code if value.code == name else q.Labelled(value.code, fold(label)))
        values.append(n.Name((Assignment.RECORD, fold(label))))
    change = s.Returning(changing.code, tuple(returned) or (n.Integer(1),))
    return Assignment(
        tuple(target.reference for target in targets),
        tuple(values),
        rows=q.with_definitions(changing.with_, change, recursive=changing.recursive),
        target_names=tuple(names),
        before=changing.before,
    )


def _operand(item: SetItem) -> exp.Expr:
    if item.operator == "=" or item.variable is None:
        return item.value
    return operand_of(item.operator, exp.Column(this=item.variable.copy()), item.value)


def _targets(items: list[SetItem], ctx: Context) -> list[ScalarVariable] | None:
    targets = []
    for item in items:
        assert item.variable is not None
        known = ctx.scope.variable(item.variable.name)
        if known is None:
            ctx.problem(
                f'Must declare the scalar variable "{item.variable.name}".', item.variable, number=137
            )
            return None
        targets.append(known)
    return targets


def _row_by_row(
    node: exp.Expr,
    target: ScalarVariable,
    assigned: set[str],
    label: str,
    returned: list[n.Node],
    ctx: Context,
) -> n.Node:
    """``SET @total = @total + amount``: the statement returns ``amount``, the loop adds."""
    lifted: list[exp.Expr] = []
    outside = lift(node.copy(), assigned, lifted, prefix=f"{label}_")
    for place, part in enumerate(lifted, 1):
        value = fixed_type(scalar(part, ctx))
        returned.append(q.Labelled(value.code, fold(f"{label}_{place}")))
        for hole in outside.find_all(Lifted):
            if hole.name == f"{label}_{place}":
                hole.set("value", value)
    frame, ctx.frame = ctx.frame, Frame()
    translated = assign(scalar(outside, ctx), target.type)
    ctx.frame = frame
    return translated.code
