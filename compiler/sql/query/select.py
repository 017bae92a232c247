"""One SELECT: its list, WHERE, GROUP BY, ORDER BY; TOP and FOR XML put around it."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.problems import NAME_MISSING
from ....grammar.records import dataclass
from ...catalog.names import fold, identifier
from ...catalog.objects import ColumnInfo, ResultColumn
from ...target import nodes as n
from ...target.emit import emit
from ..context import Context, Frame
from ..expressions.names import column_of, condition, find_relation, scalar
from ..expressions.windows import order_item
from ..parse.nodes import SetVariable
from ..query_result import QueryText, Targets
from ..values import Value
from ..writer import select
from . import for_xml
from .for_clause import as_document, form
from .for_xml_values import Shape
from .from_clause import read_from
from .lock_hints import locking
from .row_limits import limits_rows, offset_fetch, top, top_percent, within_row_limit


def select_text(node: exp.Select, ctx: Context, targets: Targets | None) -> QueryText:
    """Translate one SELECT in a query level of its own."""
    frame = ctx.push()
    try:
        return _select_inside(node, ctx, targets)
    finally:
        assert ctx.frame is frame
        ctx.pop()


_SELECT_CLAUSES = frozenset(
    """
    expressions distinct limit offset from_ joins where group having order options for_ with_ into windows
    """.split()
)


def _select_inside(node: exp.Select, ctx: Context, targets: Targets | None) -> QueryText:
    ctx.only(node, _SELECT_CLAUSES)
    sources = read_from(node, ctx)
    items = _select_list(node, ctx, targets)
    where_node = node.args.get("where")
    where = condition(where_node.this, ctx).text if where_node is not None else None
    group_text = _group_by(node.args.get("group"), ctx)
    having_node = node.args.get("having")
    having = condition(having_node.this, ctx).text if having_node is not None else None
    distinct = node.args.get("distinct") is not None
    if distinct:
        ctx.only(node.args["distinct"], frozenset())
    order_node = node.args.get("order")
    order = _order(order_node, items, distinct, ctx) if order_node is not None else None
    limit, percent, with_ties = top(node, ctx)
    fetch, offset = offset_fetch(node, ctx)
    limit = limit if limit is not None else fetch
    if limits_rows(node):
        limit = within_row_limit(limit, ctx)
    aggregated = bool(ctx.frame.aggregates) or group_text is not None or having is not None
    lock, before, from_text, joins, where = locking(
        sources, ctx, where=where, plain=not (aggregated or distinct or items.windows)
    )
    one_row = bool(ctx.frame.aggregates) and group_text is None and having is None
    columns = items.columns(ctx)
    texts = items.texts
    simple = not (aggregated or distinct or items.windows or limit or offset or percent or lock)
    if node.args.get("for_") is not None and simple and columns is not None:
        direct = _xml_directly(node, items, from_text, joins, where, order, ctx)
        if direct is not None:
            direct.before = before
            return direct
    if percent is not None:
        sql = top_percent(
            items.names,
            items.values,
            percent,
            from_text,
            joins,
            where,
            group_text,
            having,
            order,
            distinct,
            limit,
            ctx,
        )
    else:
        sql = select(
            expressions=texts,
            distinct=distinct,
            from_=from_text,
            joins=joins,
            where=where,
            group=group_text,
            having=having,
            order=order,
            limit=limit,
            with_ties=with_ties,
            offset=offset,
            lock=lock,
        )
    result = QueryText(
        sql,
        columns,
        items.values,
        one_row=one_row,
        has_from=from_text is not None,
        at_most_one=limit == "1" or from_text is None,
        before=before,
        filtered=where is not None,
    )
    return as_document(node, result, items.values, ctx)


def _xml_directly(
    node: exp.Select,
    items: SelectList,
    from_text: str | None,
    joins: list[tuple[str, str, str | None]],
    where: str | None,
    order: str | None,
    ctx: Context,
) -> QueryText | None:
    """FOR XML and FOR JSON of a query without grouping: the rows are built and joined in the query itself."""
    clause = node.args["for_"]
    if clause.args["kind"] == "BROWSE":
        return None
    found = form(clause, ctx)
    if found is None or items.values is None or (order is not None and not _orders_by_source(node, items)):
        return None
    many = from_text is not None or where is not None
    if many and _names_only_outer_columns(node, ctx):
        return None
    tables = for_xml.column_tables(node, len(items.values), ctx)
    shape = Shape(items.names, items.values, tables)
    if len({table for table in tables if table is not None}) > 1 and found.auto:
        many = True
    expression = found.whole(shape, node, many, order if many else None)
    sql = select(expressions=[expression], from_=from_text, joins=joins, where=where)
    return QueryText(
        sql,
        (found.column,),
        [Value(n.NOTHING, found.column.type)],
        one_row=True,
        has_from=from_text is not None,
        at_most_one=True,
    )


def _names_only_outer_columns(node: exp.Select, ctx: Context) -> bool:
    """The list names columns of the queries around this one, and none of its own.

    An aggregate over such columns would belong to the query around: PostgreSQL,
    as the standard has it, counts an aggregate to the level of its columns.
    """
    outer = False
    for item in (*node.expressions, *(node.args["order"].expressions if node.args.get("order") else ())):
        for column in item.find_all(exp.Column):
            frame = _frame_of(column, ctx)
            if frame is ctx.frame and (column.args.get("table") or column.find_ancestor(exp.Select) is node):
                return False
            outer = outer or frame is not None
    return outer


def _frame_of(column: exp.Column, ctx: Context) -> Frame | None:
    """The query level that a column belongs to, as far as it can be told."""
    if column.args.get("table") is not None:
        relation = find_relation([part.name for part in column.parts[:-1]], ctx)
        found = (frame for frame in ctx.frame.levels() if any(one is relation for one in frame.relations))
    else:
        found = (
            frame
            for frame in ctx.frame.levels()
            if any(one.columns is None or one.partial or one.column(column.name) for one in frame.relations)
        )
    return next(found, None)


def _orders_by_source(node: exp.Select, items: SelectList) -> bool:
    """ORDER BY names no alias and no position of the select list, which an aggregate would not see."""
    for item in node.args["order"].expressions:
        if isinstance(item.this, exp.Literal):
            return False
        for column in item.this.find_all(exp.Column):
            if column.args.get("table") is None and fold(column.name) in (items.aliases or {}):
                return False
    return True


@dataclass
class SelectList:
    """The translated select list."""

    texts: list[str]
    names: list[str | None]
    values: list[Value] | None
    """None when a ``*`` of unknown columns is among them."""
    star: tuple[ColumnInfo, ...] | None = ()
    assignments: list[tuple[str, str, Value]] | None = None
    """(variable, operator, value) of SELECT @x = …."""
    windows: bool = False
    aliases: dict[str, Value] | None = None

    def columns(self, ctx: Context) -> tuple[ResultColumn, ...] | None:
        """Names and types of the result."""
        if self.values is None:
            return None
        return tuple(
            ResultColumn(name, value.type) for name, value in zip(self.names, self.values, strict=True)
        )


def _select_list(node: exp.Select, ctx: Context, targets: Targets | None) -> SelectList:
    texts: list[str] = []
    names: list[str | None] = []
    values: list[Value] = []
    known = True
    windows = False
    aliases: dict[str, Value] = {}
    for item in node.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            star = star_columns(item, ctx)
            texts.append(star.text)
            if star.columns is None:
                known = False
            names += [column.name for column in star.columns or ()]
            values += star.values
            continue
        if isinstance(item, SetVariable):
            ctx.problem(
                "A SELECT statement that assigns a value to a variable must not be combined with "
                "data-retrieval operations.",
                item,
                number=141,
            )
            continue
        windows = windows or item.find(exp.Window) is not None
        alias: str | None = None
        inner = item
        if isinstance(item, exp.Alias):
            alias = item.alias
            inner = item.this
            if not alias:
                ctx.problem(NAME_MISSING, item, number=1038)
        value = scalar(inner, ctx)
        position = len(values)
        if targets is not None and position < len(targets.types):
            if targets.store:
                value = ctx.implicitly(value, targets.types[position], inner)
            value = targets.convert(position, value)
        text = value.text
        name = alias
        if alias is not None:
            aliases[fold(alias)] = value
            if not _is_column(value.text, identifier(alias)):
                text = f"{value.text} AS {identifier(alias)}"
        elif isinstance(inner, exp.Column) and not inner.name.startswith(("@", "$")):
            name = inner.name
            if value.text.rpartition(".")[2] != identifier(name):
                text = f"{value.text} AS {identifier(name)}"
        elif value.is_null:
            text = "NULL"
        texts.append(text)
        names.append(name)
        values.append(value)
    return SelectList(texts, names, values if known else None, windows=windows, aliases=aliases)


def _is_column(text: str, name: str) -> bool:
    """``text`` is a column reference that shows as ``name`` without AS."""
    return text == name or (text.endswith(f".{name}") and " " not in text and "(" not in text)


@dataclass
class Star:
    """``*`` or ``t.*``: its text and, where known, its columns."""

    text: str
    columns: tuple[ColumnInfo, ...] | None
    values: tuple[Value, ...] = ()
    """Each column as an expression, where they are known."""


def star_columns(item: exp.Expr, ctx: Context) -> Star:
    """Expand ``*`` as far as the relations in scope are known."""
    ctx.only(item.this if isinstance(item, exp.Column) else item, frozenset())
    relations = ctx.frame.relations
    text = "*"
    if isinstance(item, exp.Column):
        parts = [part.name for part in item.parts[:-1]]
        relation = find_relation(parts, ctx)
        if relation is None:
            prefix = ".".join(parts)
            ctx.problem(
                f"The column prefix '{prefix}' does not match with a table name or alias "
                "name used in the query.",
                item,
                number=107,
            )
            return Star("NULL", None)
        relations = [relation]
        text = emit(relation.every())
    if not relations:
        ctx.problem("Must specify table to select from.", item, number=263)
        return Star("NULL", None)
    if any(relation.columns is None or relation.partial for relation in relations):
        return Star(text, None)
    all_columns = [(relation, column) for relation in relations for column in relation.columns or ()]
    shown = [(relation, column) for relation, column in all_columns if not column.hidden]
    if len(shown) < len(all_columns):
        text = ", ".join(emit(relation.spell(fold(column.name))) for relation, column in shown)
    return Star(
        text,
        tuple(column for _, column in shown),
        tuple(column_of(relation, column, ctx) for relation, column in shown),
    )


def _order(order: exp.Order, items: SelectList, distinct: bool, ctx: Context) -> str:
    """ORDER BY: a bare name is an alias of the select list first."""

    def resolve(node: exp.Expr) -> tuple[Value | None, n.Node | None]:
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            known = (items.aliases or {}).get(fold(node.name))
            if known is not None:
                return known, n.Name((fold(node.name),))
        if (
            isinstance(node, exp.Literal)
            and not node.is_string
            and node.name.isdecimal()
            and items.values is not None
        ):
            position = int(node.name) - 1
            if 0 <= position < len(items.values):
                return items.values[position], n.Integer(position + 1)
        return None, None

    items_ = [order_item(item, ctx, resolve=resolve, results=distinct) for item in order.expressions]
    return ", ".join(map(emit, items_))


def _group_by(node: exp.Group | None, ctx: Context) -> str | None:
    if node is None:
        return None
    if node.args.get("all") is not None:
        ctx.unsupported("GROUP BY ALL", node)

    def item(element: exp.Expr) -> str:
        if isinstance(element, exp.Rollup):
            return f"ROLLUP ({', '.join(item(inner) for inner in element.expressions)})"
        if isinstance(element, exp.Cube):
            return f"CUBE ({', '.join(item(inner) for inner in element.expressions)})"
        if isinstance(element, exp.GroupingSets):
            return f"GROUPING SETS ({', '.join(item(inner) for inner in element.expressions)})"
        if isinstance(element, exp.Tuple):
            return f"({', '.join(item(inner) for inner in element.expressions)})"
        if isinstance(element, exp.Paren):
            return f"({item(element.this)})"
        if isinstance(element, exp.Literal):
            ctx.problem(
                "Each GROUP BY expression must contain at least one column that is not an outer reference.",
                element,
                number=164,
            )
        return scalar(element, ctx).text

    texts = [item(element) for element in node.expressions]
    texts += [item(element) for element in node.args.get("grouping_sets") or ()]
    text = ", ".join(texts)
    if node.args.get("rollup"):
        text = f"ROLLUP ({text})"
    elif node.args.get("cube"):
        text = f"CUBE ({text})"
    else:
        text = ", ".join(texts)
    return text
