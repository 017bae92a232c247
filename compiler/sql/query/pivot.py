"""PIVOT and UNPIVOT behind a table of FROM."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.records import dataclass, replace
from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..context import Context, Relation
from ..conversions import convert
from ..expressions.calls import function_value
from ..expressions.names import scalar
from ..from_items import Source, failed


def pivoted(item: Source, node: exp.Expr, pivots: list[exp.Pivot], ctx: Context, kind: str) -> Source:
    """Translate PIVOT or UNPIVOT behind ``item``, and leave the query level that has ``item`` alone."""
    relation = item.relation
    if relation is None or relation.columns is None or len(pivots) != 1:
        ctx.pop()
        refused = ctx.unsupported_if_there(
            "PIVOT over a table that the script does not create",
            node,
            "put a derived table that lists the columns in front of PIVOT",
        )
        named = pivots[0].args.get("alias")
        if refused is None or relation is None or named is None or not named.name:
            return failed(kind, ctx)
        shown = fold(named.name)
        ctx.frame.relations.append(Relation(shown, None))
        query = q.Select((refused, n.STAR), item.code)
        return Source(kind, q.Aliased(n.Subquery(query), shown))
    pivot = pivots[0]
    build = _unpivot if pivot.args.get("unpivot") else _pivot
    parts = build(pivot, relation, ctx)
    ctx.pop()
    alias = pivot.args.get("alias")
    if alias is None or not alias.name:
        ctx.problem("PIVOT and UNPIVOT need an alias", pivot, number=102)
        return failed(kind, ctx)
    query = q.Select(tuple(parts.items), item.code, parts.joins, parts.where, parts.group)
    shown = fold(alias.name)
    result = Relation(shown, tuple(parts.infos), declared=relation.declared)
    ctx.frame.relations.append(result)
    return Source(kind, q.Aliased(n.Subquery(query), shown), relation=result)


@dataclass
class PivotParts:
    """What the query over the table is made of, and its columns."""

    items: list[n.Node]
    infos: list[ColumnInfo]
    joins: tuple[q.Join, ...] = ()
    where: n.Node | None = None
    group: tuple[n.Node, ...] = ()


def _pivot(pivot: exp.Pivot, relation: Relation, ctx: Context) -> PivotParts:
    """One aggregate with FILTER a column of IN, grouped by the columns not mentioned."""
    fields = pivot.args.get("fields") or []
    if len(pivot.expressions) != 1 or len(fields) != 1:
        ctx.problem("PIVOT takes one aggregate and one FOR column", pivot, number=102)
        return PivotParts([n.NULL], [])
    aggregate, field = pivot.expressions[0], fields[0]
    if isinstance(aggregate, exp.Alias):
        aggregate = aggregate.this
    used = {fold(column.name) for column in aggregate.find_all(exp.Column)} | {fold(field.this.name)}
    keys = [column for column in relation.columns or () if fold(column.name) not in used]
    value = function_value(aggregate, ctx) if isinstance(aggregate, exp.Anonymous) else scalar(aggregate, ctx)
    spread = scalar(field.this, ctx)
    names = [n.Name((fold(column.name),)) for column in keys]
    items: list[n.Node] = [*names]
    infos = list(keys)
    for entry in field.expressions:
        label = entry.alias if isinstance(entry, exp.Alias) else entry.name
        wanted = v.string(entry.name)
        if spread.type is not None and not spread.type.is_string:
            wanted = convert(wanted, spread.type)
        chosen = n.Filtered(value.code, n.Comparison("=", spread.code, wanted.code))
        items.append(q.Labelled(v.unwrap(replace(value, code=chosen)).code, fold(label)))
        infos.append(ColumnInfo(label, value.type))
    return PivotParts(items, infos, group=tuple(names))


def _unpivot(pivot: exp.Pivot, relation: Relation, ctx: Context) -> PivotParts:
    """A row per named column that is not NULL."""
    fields = pivot.args.get("fields") or []
    if len(pivot.expressions) != 1 or len(fields) != 1:
        ctx.problem("UNPIVOT takes one value column and one FOR column", pivot, number=102)
        return PivotParts([n.NULL], [])
    value_name, name_name = pivot.expressions[0].name, fields[0].this.name
    listed = [entry.name for entry in fields[0].expressions]
    rest = [
        column
        for column in relation.columns or ()
        if fold(column.name) not in {fold(name) for name in listed}
    ]
    rows = q.Values(tuple((n.Text(name), n.Name((fold(name),))) for name in listed))
    known = relation.column(listed[0]) if listed else None
    value_type = known.type if known is not None else None
    columns = (fold(name_name), fold(value_name))
    join = q.Join("CROSS", q.Aliased(n.Subquery(rows), "unpivoted", columns, lateral=True))
    value = n.Name(("unpivoted", fold(value_name)))
    items: list[n.Node] = [n.Name((relation.alias, fold(column.name))) for column in rest]
    items += [value, n.Name(("unpivoted", fold(name_name)))]
    infos = [
        *rest,
        ColumnInfo(value_name, value_type, nullable=False),
        ColumnInfo(name_name, tm.SYSNAME, nullable=False),
    ]
    return PivotParts(items, infos, (join,), n.IsNull(value, negated=True))
