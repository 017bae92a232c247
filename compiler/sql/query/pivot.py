"""PIVOT and UNPIVOT behind a table of FROM."""

from __future__ import annotations

from sqlglot import exp

from ...catalog import types as tm
from ...catalog.names import fold, identifier, literal, quote
from ...catalog.objects import ColumnInfo
from .. import values as v
from ..context import Context, Relation
from ..conversions import convert
from ..expressions.names import scalar
from ..from_items import Join, Source, failed
from ..writer import select


def pivoted(item: Source, node: exp.Expr, pivots: list[exp.Pivot], ctx: Context, kind: str) -> Source:
    """Translate PIVOT or UNPIVOT behind ``item``, and leave the query level that has ``item`` alone."""
    relation = item.relation
    if relation is None or relation.columns is None or len(pivots) != 1:
        ctx.pop()
        ctx.unsupported(
            "PIVOT over a table that the script does not create",
            node,
            hint="put a derived table that lists the columns in front of PIVOT",
        )
        return failed(kind, ctx)
    pivot = pivots[0]
    build = _unpivot if pivot.args.get("unpivot") else _pivot
    texts, infos, joins, where, group_by = build(pivot, relation, ctx)
    ctx.pop()
    alias = pivot.args.get("alias")
    if alias is None or not alias.name:
        ctx.problem("PIVOT and UNPIVOT need an alias", pivot, number=102)
        return failed(kind, ctx)
    sql = select(expressions=texts, from_=item.text, joins=joins, where=where, group=group_by)
    shown = fold(alias.name)
    result = Relation(shown, tuple(infos))
    ctx.frame.relations.append(result)
    return Source(kind, f"({sql}) AS {quote(shown)}", relation=result)


PivotParts = tuple[list[str], list[ColumnInfo], list[Join], str | None, str | None]


def _pivot(pivot: exp.Pivot, relation: Relation, ctx: Context) -> PivotParts:
    """One aggregate with FILTER a column of IN, grouped by the columns not mentioned."""
    fields = pivot.args.get("fields") or []
    if len(pivot.expressions) != 1 or len(fields) != 1:
        ctx.problem("PIVOT takes one aggregate and one FOR column", pivot, number=102)
        return ["NULL"], [], [], None, None
    aggregate, field = pivot.expressions[0], fields[0]
    if isinstance(aggregate, exp.Alias):
        aggregate = aggregate.this
    used = {fold(column.name) for column in aggregate.find_all(exp.Column)} | {fold(field.this.name)}
    keys = [column for column in relation.columns or () if fold(column.name) not in used]
    value = scalar(aggregate, ctx)
    spread = scalar(field.this, ctx)
    texts = [identifier(column.name) for column in keys]
    infos = list(keys)
    for entry in field.expressions:
        label = entry.alias if isinstance(entry, exp.Alias) else entry.name
        wanted = v.string(entry.name)
        if spread.type is not None and not spread.type.is_string:
            wanted = convert(wanted, spread.type)
        texts.append(f"{value.text} FILTER (WHERE {spread.text} = {wanted.text}) AS {identifier(label)}")
        infos.append(ColumnInfo(label, value.type))
    return texts, infos, [], None, ", ".join(identifier(column.name) for column in keys) or None


def _unpivot(pivot: exp.Pivot, relation: Relation, ctx: Context) -> PivotParts:
    """A row per named column that is not NULL."""
    fields = pivot.args.get("fields") or []
    if len(pivot.expressions) != 1 or len(fields) != 1:
        ctx.problem("UNPIVOT takes one value column and one FOR column", pivot, number=102)
        return ["NULL"], [], [], None, None
    value_name, name_name = pivot.expressions[0].name, fields[0].this.name
    listed = [entry.name for entry in fields[0].expressions]
    rest = [
        column
        for column in relation.columns or ()
        if fold(column.name) not in {fold(name) for name in listed}
    ]
    rows = ", ".join(f"({literal(name)}, {identifier(name)})" for name in listed)
    known = relation.column(listed[0]) if listed else None
    value_type = known.type if known is not None else None
    joins: list[Join] = [
        (
            "CROSS",
            f"LATERAL (VALUES {rows}) AS unpivoted ({identifier(name_name)}, {identifier(value_name)})",
            None,
        )
    ]
    prefix = quote(relation.alias)
    texts = [f"{prefix}.{identifier(column.name)}" for column in rest]
    texts += [f"unpivoted.{identifier(value_name)}", f"unpivoted.{identifier(name_name)}"]
    infos = [
        *rest,
        ColumnInfo(value_name, value_type, nullable=False),
        ColumnInfo(name_name, tm.SYSNAME, nullable=False),
    ]
    return texts, infos, joins, f"unpivoted.{identifier(value_name)} IS NOT NULL", None
