"""One SELECT: its list, WHERE, GROUP BY, ORDER BY; TOP and FOR XML put around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ....grammar.problems import NAME_MISSING
from ....grammar.records import dataclass, replace
from ...catalog.names import AGGREGATES, fold
from ...catalog.objects import ColumnInfo, ResultColumn
from ...catalog.types import BIT_KEPT_AS_BOOLEAN
from ...target import nodes as n
from ...target import queries as q
from ..context import Context, Frame
from ..expressions.names import column_of, condition, find_relation, own_name, scalar
from ..expressions.windows import order_item, refuse_sorted_xml
from ..functions.xml_methods import XML_METHODS
from ..parse.nodes import Conversion, SetVariable, is_variable
from ..query_result import QueryTree, Shape, Targets
from ..values import Value
from . import for_xml
from .assignment import ASSIGNS_AND_SHOWS
from .for_clause import as_document, form
from .from_clause import read_from
from .lock_hints import locking
from .row_limits import limits_rows, offset_fetch, refuse_order, top, top_percent, within_row_limit


def select_tree(node: exp.Select, ctx: Context, targets: Targets | None) -> QueryTree:
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


def _select_inside(node: exp.Select, ctx: Context, targets: Targets | None) -> QueryTree:
    ctx.only(node, _SELECT_CLAUSES)
    into = node.args.get("into")
    if into is not None:
        # That of a statement's first SELECT is taken out before (dml/insert.py).
        ctx.problem("Incorrect syntax near the keyword 'INTO'.", into.find(exp.Table) or node, number=156)
    sources = read_from(node, ctx)
    if targets is not None and targets.store and node.args.get("distinct") is not None:
        targets = replace(targets, leading=True)
    items = _select_list(node, ctx, targets)
    where_node = node.args.get("where")
    aggregates = ctx.frame.aggregates
    where = condition(where_node.this, ctx).code if where_node is not None else None
    if where_node is not None and ctx.frame.aggregates > aggregates and ctx.frame.is_outermost:
        ctx.problem(
            "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a "
            "HAVING clause or a select list, and the column being aggregated is an outer reference.",
            where_node,
            number=147,
        )
        ctx.frame.aggregates = aggregates
    if where_node is not None and any(
        window.find_ancestor(exp.Query) is node for window in where_node.find_all(exp.Window)
    ):
        ctx.problem(
            "Windowed functions can only appear in the SELECT or ORDER BY clauses.", where_node, number=4108
        )
    group = _group_by(node.args.get("group"), ctx)
    having_node = node.args.get("having")
    having = condition(having_node.this, ctx).code if having_node is not None else None
    distinct = node.args.get("distinct") is not None
    if distinct:
        ctx.only(node.args["distinct"], frozenset())
        if any(value.type is not None and value.type.family == "xml" for value in items.values or ()):
            ctx.problem(
                "The xml data type cannot be selected as DISTINCT because it is not comparable.",
                node.args["distinct"],
                number=421,
            )
    order_node = node.args.get("order")
    ctx.frame.results = frozenset(fold(name) for name in items.names if name is not None)
    order = _order(order_node, items, distinct, ctx) if order_node is not None else ()
    if node.parent is not None:
        refuse_order(node, ctx)
    limit, percent, with_ties = top(node, ctx)
    fetch, offset = offset_fetch(node, ctx)
    limit = limit if limit is not None else fetch
    if limits_rows(node):
        limit = within_row_limit(limit, ctx)
    aggregated = bool(ctx.frame.aggregates) or bool(group) or having is not None
    if aggregated:
        _refuse_ungrouped(node, items, ctx)
    searched = where_node.this if where_node is not None else None
    plain = not (aggregated or distinct or items.windows)
    locks, where = locking(sources, ctx, searched, where=where, plain=plain and not _is_united(node))
    one_row = bool(ctx.frame.aggregates) and not group and having is None
    columns = items.columns()
    source = sources[0].code if sources else None
    joins = tuple(item.join() for item in sources[1:])
    if source is not None and plain and not (joins or where or order or offset or percent):
        source = _first_rows(source, limit, exists=isinstance(node.parent, exp.Exists))
    simple = plain and not (limit or offset or percent or locks)
    if node.args.get("for_") is not None and simple and columns is not None:
        direct = _xml_directly(node, items, source, joins, where, order, ctx)
        if direct is not None:
            return direct
    code: n.Node = q.Select(
        _unnamed(items, order),
        source,
        joins,
        where,
        group,
        having,
        order,
        limit,
        offset,
        distinct=distinct,
        ties=with_ties,
        locks=locks,
    )
    if percent is not None:
        assert isinstance(code, q.Select)
        code = top_percent(code, items.names, items.values, percent, ctx)
    result = QueryTree(
        code,
        columns,
        items.values,
        one_row=one_row,
        at_most_one=q.is_one(limit) or source is None,
        filtered=where is not None,
        listed=items.listed and columns is not None,
    )
    return as_document(node, result, items.values, ctx)


def _is_united(node: exp.Expr) -> bool:
    """It is a part of UNION, INTERSECT or EXCEPT, in parentheses or not."""
    around = node.parent
    while isinstance(around, exp.Subquery | exp.Paren) and not around.alias:
        around = around.parent
    return isinstance(around, exp.SetOperation)


def _first_rows(source: n.Node, limit: n.Node | None, *, exists: bool) -> n.Node:
    """A relation of which only the first rows count: of a table variable no others are read."""
    count = n.Integer(1) if limit is None and exists else limit
    match source:
        case q.Aliased(n.Call("unnest", (n.Variable() as rows,)), ordinality=False) if isinstance(
            count, n.Integer
        ):
            few = n.Slice(rows, n.Integer(1), count)
            return replace(source, item=n.Call("unnest", (few,)))
    return source


def _xml_directly(
    node: exp.Select,
    items: SelectList,
    source: n.Node | None,
    joins: tuple[q.Join, ...],
    where: n.Node | None,
    order: tuple[n.OrderItem, ...],
    ctx: Context,
) -> QueryTree | None:
    """FOR XML and FOR JSON of a query without grouping: the rows are built and joined in the query itself."""
    clause = node.args["for_"]
    if clause.args["kind"] == "BROWSE":
        return None
    found = form(clause, ctx)
    if found is None or items.values is None or (order and not _orders_by_source(node, items)):
        return None
    many = source is not None or where is not None
    if many and _names_only_outer_columns(node, ctx):
        return None
    tables = for_xml.column_tables(node, len(items.values), ctx)
    shape = Shape(items.names, items.values, tables)
    if len({table for table in tables if table is not None}) > 1 and found.auto:
        many = True
    expression = found.whole(shape, node, many, order if many else ())
    return QueryTree(
        q.Select((expression,), source, joins, where),
        (found.column,),
        [Value(n.NOTHING, found.column.type)],
        one_row=True,
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

    codes: list[n.Node]
    names: list[str | None]
    values: list[Value] | None
    """None when a ``*`` of unknown columns is among them."""
    windows: bool = False
    aliases: dict[str, Value] | None = None
    listed: bool = True
    """No ``*`` is among them that stands for what a table has when the query runs."""

    def columns(self) -> tuple[ResultColumn, ...] | None:
        """Names and types of the result."""
        if self.values is None:
            return None
        return tuple(
            ResultColumn(name, value.type, value.pg)
            for name, value in zip(self.names, self.values, strict=True)
        )


def _select_list(node: exp.Select, ctx: Context, targets: Targets | None) -> SelectList:
    codes: list[n.Node] = []
    names: list[str | None] = []
    values: list[Value] = []
    known = listed = True
    windows = False
    aliases: dict[str, Value] = {}
    sorted_by = node.args.get("distinct") is not None and node.args.get("order") is not None
    for item in node.expressions:
        if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            star = star_columns(item, ctx)
            listed = listed and all(relation.declared for relation in ctx.frame.relations)
            codes += star.codes
            if star.columns is None:
                known = False
            names += [column.name for column in star.columns or ()]
            values += star.values
            continue
        if isinstance(item, SetVariable):
            ctx.problem(
                ASSIGNS_AND_SHOWS,
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
        _refuse_node(inner, ctx)
        value = scalar(inner, ctx)
        position = len(values)
        if targets is not None and (targets.rows or position < len(targets.types)):
            if targets.store:
                value = ctx.implicitly(value, targets.types[position], inner)
            value = targets.convert(position, value, sorted_by=sorted_by)
        name = alias
        if alias is not None:
            aliases[fold(alias)] = value
        else:
            name = own_name(inner)
        codes.append(q.labelled(value.code, fold(name) if name is not None else None))
        names.append(name)
        values.append(value)
    if len(names) > _MOST_ELEMENTS:
        _too_many(node.expressions[-1], ctx)
        codes, names, known = [n.NULL], [None], False
    return SelectList(
        codes, names, values if known else None, windows=windows, aliases=aliases, listed=listed
    )


# A list of stars over stars is longer each time: the number is soon beyond all measure.
_MOST_ELEMENTS = 4096


def _too_many(item: exp.Expr, ctx: Context) -> None:
    ctx.problem(
        "The number of elements in the select list exceeds the maximum allowed number of "
        f"{_MOST_ELEMENTS} elements.",
        item,
        number=1056,
    )


def _refuse_node(item: exp.Expr, ctx: Context) -> None:
    """Error 493: a row of .nodes() is there for its methods, not for a select list."""
    column = item.this if isinstance(item, Conversion) else item
    if not isinstance(column, exp.Column):
        return
    if column.args.get("table") is not None:
        found = find_relation([part.name for part in column.parts[:-1]], ctx)
    else:
        found = next((one for one in ctx.frame.relations if one.column(column.name) is not None), None)
    if found is not None and found.nodes:
        _no_value(column.name, column, ctx)


def _no_value(name: str, node: exp.Expr, ctx: Context) -> None:
    ctx.problem(
        f"The column '{name}' that was returned from the nodes() method cannot be used directly. It can only "
        "be used with one of the four XML data type methods, exist(), nodes(), query(), and value(), or in "
        "IS NULL and IS NOT NULL checks.",
        node,
        number=493,
    )


@dataclass
class Star:
    """``*`` or ``t.*``: what is written for it and, where known, its columns."""

    codes: tuple[n.Node, ...]
    columns: tuple[ColumnInfo, ...] | None
    values: tuple[Value, ...] = ()
    """Each column as an expression, where they are known."""


def star_columns(item: exp.Expr, ctx: Context) -> Star:
    """Expand ``*`` as far as the relations in scope are known."""
    ctx.only(item.this if isinstance(item, exp.Column) else item, frozenset())
    ctx.refuse_star(item)
    relations = ctx.frame.relations
    codes: tuple[n.Node, ...] = (n.STAR,)
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
            return Star((n.NULL,), None)
        relations = [relation]
        codes = (relation.every(),)
    if not relations:
        ctx.problem("Must specify table to select from.", item, number=263)
        return Star((n.NULL,), None)
    for relation in relations:
        if relation.nodes and relation.columns:
            _no_value(relation.columns[0].name, item, ctx)
    if any(relation.columns is None or relation.partial for relation in relations):
        return Star(codes, None)
    all_columns = [(relation, column) for relation in relations for column in relation.columns or ()]
    shown = [(relation, column) for relation, column in all_columns if not column.hidden]
    if len(shown) > _MOST_ELEMENTS:
        _too_many(item, ctx)
        return Star((n.NULL,), None)
    values = tuple(column_of(relation, column, ctx) for relation, column in shown)
    columns = tuple(column for _, column in shown)
    if any(column.type == BIT_KEPT_AS_BOOLEAN for column in columns):
        codes = tuple(value.code for value in values)  # PostgreSQL names a cast as the column in it
        columns = tuple(
            replace(column, type=value.type) for column, value in zip(columns, values, strict=True)
        )
    elif len(shown) < len(all_columns):
        codes = tuple(relation.spell(fold(column.name)) for relation, column in shown)
    return Star(codes, columns, values)


def _unnamed(items: SelectList, order: Sequence[n.OrderItem]) -> tuple[n.Node, ...]:
    """The columns; one without a name gets none where ORDER BY would take what PostgreSQL calls it.

    ``SELECT CASE … ELSE name END … ORDER BY name``: in T-SQL that is the table's column.
    """
    sorted_by = {
        item.value.parts[0] for item in order if isinstance(item.value, n.Name) and len(item.value.parts) == 1
    }
    sorted_by -= set(items.aliases or {})
    if not sorted_by or len(items.names) != len(items.codes):
        return tuple(items.codes)
    return tuple(
        q.Labelled(code, q.UNNAMED) if name is None and q.own_name(code) in sorted_by else code
        for name, code in zip(items.names, items.codes, strict=True)
    )


def _order(order: exp.Order, items: SelectList, distinct: bool, ctx: Context) -> tuple[n.OrderItem, ...]:
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

    names = [fold(name or "") for name in items.names]
    for place, item in enumerate(order.expressions, 1):
        _refuse_order_item(item.this, names, items, ctx)
        if distinct and isinstance(order.parent, exp.Select):
            _refuse_unselected(item.this, order.parent, items, ctx)
        if isinstance(item.this, exp.Column) and is_variable(item.this):
            ctx.problem(
                f"The SELECT item identified by the ORDER BY number {place} contains a variable as part of "
                "the expression identifying a column position. Variables are only allowed when ordering by "
                "an expression referencing a column name.",
                item,
                number=1008,
            )
        if isinstance(item.this, exp.Null) or (
            isinstance(item.this, exp.Literal) and not item.this.name.isdecimal()
        ):
            ctx.problem(
                f"A constant expression was encountered in the ORDER BY list, position {place}.",
                item,
                number=408,
            )
    return tuple(order_item(item, ctx, resolve=resolve, results=distinct) for item in order.expressions)


def _refuse_order_item(node: exp.Expr, names: list[str], items: SelectList, ctx: Context) -> None:
    """Errors 209 and 108: an item of ORDER BY that two items of the select list are, or none."""
    if items.values is None:
        return
    if isinstance(node, exp.Column) and node.args.get("table") is None:
        found = [value for name, value in zip(names, items.values, strict=True) if name == fold(node.name)]
        if any(value.code != found[0].code for value in found):
            ctx.wrong(f"Ambiguous column name '{node.name}'.", 209, node)
        return
    number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    if number and items.listed and not 1 <= int(node.name) <= len(items.values):
        ctx.problem(
            f"The ORDER BY position number {node.name} is out of range of the number of items in the "
            "select list.",
            node,
            number=108,
        )


def _refuse_unselected(node: exp.Expr, select: exp.Select, items: SelectList, ctx: Context) -> None:
    """Error 145: SELECT DISTINCT is ordered by a column that no item of the select list has in it."""
    place = _place_of(node, ctx)
    if not isinstance(node, exp.Column) or place is None:
        return
    if any(item.find(exp.Star) for item in select.expressions):
        return
    if len(node.parts) == 1 and fold(node.name) in (items.aliases or {}):
        return
    selected = {_place_of(one, ctx) for item in select.expressions for one in item.find_all(exp.Column)}
    if place not in selected:
        ctx.wrong("ORDER BY items must appear in the select list if SELECT DISTINCT is specified.", 145, node)


def _refuse_ungrouped(node: exp.Select, items: SelectList, ctx: Context) -> None:
    """Errors 8120, 8121 and 8127, where all columns are known: of those that nothing in GROUP BY mentions.

    PostgreSQL finds them too, but not where a primary key is among those of GROUP BY, nor before it runs.
    """
    group = node.args.get("group")
    if group is not None and group.args.get("grouping_sets"):
        return
    grouped = [
        _place_of(column, ctx)
        for element in (group.expressions if group is not None else [])
        for column in element.find_all(exp.Column)
    ]
    if not all(grouped):
        return
    # An aggregate without columns of this query may be one of the query around it.
    if group is not None or ctx.frame.is_outermost:
        _refuse_ungrouped_item(node, grouped, ctx)
    for key, clause, number, quote in (("having", "HAVING", 8121, "'"), ("order", "ORDER BY", 8127, '"')):
        for column in _outside_aggregates(node.args.get(key)):
            is_alias = key == "order" and not column.table and fold(column.name) in (items.aliases or {})
            place = None if is_alias else _place_of(column, ctx)
            if place is not None and place not in grouped:
                named = ctx.frame.relations[place[0]]
                owner = named.name.text if named.name is not None else named.alias
                ctx.problem(
                    f"Column {quote}{owner}.{column.name}{quote} is invalid in the {clause} clause because "
                    "it is not contained in either an aggregate function or the GROUP BY clause.",
                    column,
                    number=number,
                )
                return


def _refuse_ungrouped_item(node: exp.Select, grouped: list[tuple[int, str] | None], ctx: Context) -> None:
    """Error 8120: a column of the select list that no row of the result has for itself."""
    relations = ctx.frame.relations
    for item in node.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        if isinstance(inner, exp.Star):
            if any(relation.columns is None or relation.partial for relation in relations):
                return
            columns = [
                ((place, fold(column.name)), column.name)
                for place, relation in enumerate(relations)
                for column in relation.columns or ()
                if not column.hidden
            ]
        else:
            columns = [
                (found, column.name)
                for column in (*_outside_aggregates(inner), *_outer_references(inner))
                if (found := _place_of(column, ctx)) is not None
            ]
        for found, name in columns:
            if found not in grouped:
                named = relations[found[0]]
                owner = named.name.text if named.name is not None else named.alias
                ctx.wrong(
                    f"Column '{owner}.{name}' is invalid in the select list because it is not contained in "
                    "either an aggregate function or the GROUP BY clause.",
                    8120,
                    inner,
                )
                return


def _place_of(node: exp.Expr, ctx: Context) -> tuple[int, str] | None:
    """A column's relation among those of this query, and its folded name."""
    if not isinstance(node, exp.Column):
        return None
    relations = ctx.frame.relations
    if any(relation.columns is None or relation.partial for relation in relations):
        return None
    parts = [part.name for part in node.parts[:-1]]
    among = [find_relation(parts, ctx)] if parts else relations
    found = [
        place
        for place, relation in enumerate(relations)
        if any(relation is one for one in among) and relation.column(node.name) is not None
    ]
    return (found[0], fold(node.name)) if len(found) == 1 else None


def _outer_references(clause: exp.Expr) -> Iterator[exp.Column]:
    """The columns in subqueries that name none of these queries' own relations, outside of aggregates."""
    for query in clause.find_all(exp.Query):
        own = {fold(one.alias_or_name) for one in query.find_all(exp.Table, exp.Subquery, exp.CTE)}
        for column in query.find_all(exp.Column):
            call = column.find_ancestor(exp.Anonymous, exp.WithinGroup)
            if len(column.parts) == 2 and fold(column.table) not in own and call is None:
                yield column


def _outside_aggregates(clause: exp.Expr | None) -> Iterator[exp.Column]:
    """The columns of this query that stand in a clause by themselves; the part of DATEADD is none."""

    def is_level(node: exp.Expr) -> bool:
        is_call = isinstance(node, exp.Anonymous) and not isinstance(node.parent, exp.Dot)
        return isinstance(node, exp.Query | exp.WithinGroup) or (is_call and node.name.upper() in AGGREGATES)

    for node in clause.walk(prune=is_level) if clause is not None else ():
        if isinstance(node, exp.Column) and not (
            isinstance(node.parent, exp.Anonymous) and node.parent.name.upper().startswith("DATE")
        ):
            yield node


_GROUPINGS: dict[type[exp.Expr], str] = {
    exp.Rollup: "ROLLUP",
    exp.Cube: "CUBE",
    exp.GroupingSets: "GROUPING SETS",
}


def _is_xml_method(node: exp.Dot) -> bool:
    called = node.expression
    is_method = isinstance(called, exp.Anonymous) and called.name.lower() in XML_METHODS
    return is_method and node.this.name.lower() != "dbo"


def _group_by(node: exp.Group | None, ctx: Context) -> tuple[n.Node, ...]:
    if node is None:
        return ()
    if node.args.get("all") is not None:
        ctx.unsupported("GROUP BY ALL", node)

    def item(element: exp.Expr) -> n.Node:
        word = _GROUPINGS.get(type(element))
        if word is not None:
            return q.GroupingSets(word, tuple(item(inner) for inner in element.expressions))
        if isinstance(element, exp.Tuple):
            return n.Items(tuple(item(inner) for inner in element.expressions))
        if isinstance(element, exp.Paren):
            return n.Paren(item(element.this))
        if isinstance(element, exp.Literal):
            ctx.problem(
                "Each GROUP BY expression must contain at least one column that is not an outer reference.",
                element,
                number=164,
            )
        aggregates = ctx.frame.aggregates
        value = scalar(element, ctx)
        if element.find(exp.Query) is not None or ctx.frame.aggregates > aggregates:
            ctx.problem(
                "Cannot use an aggregate or a subquery in an expression used for the group by list of a "
                "GROUP BY clause.",
                element,
                number=144,
            )
        if any(_is_xml_method(call) for call in element.find_all(exp.Dot)):
            ctx.problem("XML methods are not allowed in a GROUP BY clause.", element, number=4148)
        else:
            refuse_sorted_xml(value, element, ctx)
        return value.code

    items = tuple(item(element) for element in (*node.expressions, *(node.args.get("grouping_sets") or ())))
    for key, word in (("rollup", "ROLLUP"), ("cube", "CUBE")):
        if node.args.get(key):
            return (q.GroupingSets(word, items),)
    return items
