"""SELECT with everything around it: common table expressions, set operations, FROM, hints, TOP."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from . import ordinary_sql_for_xml as for_xml
from . import ordinary_sql_values as v
from . import type_map as tm
from .names import fold, identifier, quote
from .ordinary_sql_context import Context, Relation
from .ordinary_sql_expressions import condition, find_relation, scalar
from .ordinary_sql_for import form
from .ordinary_sql_interface import ColumnInfo, ResultColumn
from .ordinary_sql_layout import BREAK, CLOSE, OPEN
from .ordinary_sql_reading import SetVariable
from .ordinary_sql_relations import locking, read_from
from .ordinary_sql_values import Value
from .ordinary_sql_windows import order_item
from .ordinary_sql_writing import group, select, with_clause


@dataclass
class QueryText:
    """A translated query: text (with layout marks), columns, and the select list's values.

    ``columns`` is None when a ``*`` could not be expanded.
    """

    sql: str
    columns: tuple[ResultColumn, ...] | None
    values: list[Value] | None = None
    one_row: bool = False
    """Aggregates without GROUP BY: exactly one row."""
    has_from: bool = True
    at_most_one: bool = False
    before: tuple[str, ...] = ()
    filtered: bool = False


@dataclass
class Targets:
    """Types that the columns of a query shall have.

    ``exact``: to the letter, as the parts of a recursive query need it.
    """

    types: list[tm.SqlType | None]
    exact: bool = False
    store: bool = False
    """The columns go into a table's columns: converted as an assignment is."""

    def convert(self, position: int, value: Value) -> Value:
        """The value of the column at ``position``, converted."""
        wanted = self.types[position]
        if wanted is None or value.family == "boolean":
            return value
        if self.store:
            return v.store(value, wanted)
        if not self.exact:
            return v.convert(value, wanted) if _mismatched(value, wanted) else value
        if (
            value.pg is None
            and value.type is not None
            and value.constant is None
            and value.type.postgres == wanted.postgres
        ):
            return value
        if isinstance(value.constant, int) and wanted.name == "int":
            return value
        converted = (
            v.convert(value, wanted) if _mismatched(value, wanted) else v.cast(value, wanted.postgres, wanted)
        )
        return replace(converted, type=wanted)


def query_text(node: exp.Expr, ctx: Context, *, targets: Targets | None = None) -> QueryText:
    """Translate a query expression; its columns are converted to ``targets`` where given."""
    while isinstance(node, exp.Subquery) and not node.args.get("alias"):
        inner = node.this
        for key in ("order", "limit", "offset", "for_", "with_"):
            if node.args.get(key) is not None and inner.args.get(key) is None:
                inner.set(key, node.args[key])
        node = inner
    outer_ctes = dict(ctx.ctes)
    try:
        definitions, recursive = ctes(node.args.get("with_"), ctx)
        if isinstance(node, exp.SetOperation):
            result = _set_operation(node, ctx, targets)
        elif isinstance(node, exp.Select):
            result = _select(node, ctx, targets)
        elif isinstance(node, exp.Values):
            ctx.unsupported("VALUES as a query of its own", node)
            return QueryText("SELECT NULL", None)
        else:
            ctx.problem("a SELECT is expected here", node, number=102)
            return QueryText("SELECT NULL", None)
    finally:
        ctx.ctes = outer_ctes
    if definitions:
        result.sql = group(with_clause(definitions, recursive=recursive), result.sql)
    return result


# ---------------------------------------------------------------- common table expressions


def ctes(with_: exp.With | None, ctx: Context) -> tuple[list[tuple[str, str]], bool]:
    """Translate ``WITH a AS (…), b (x, y) AS (…)``; the names are then in sight."""
    if with_ is None:
        return [], False
    definitions: list[tuple[str, str]] = []
    recursive = False
    for cte in with_.expressions:
        alias = cte.args["alias"]
        name = fold(alias.name)
        names = [column.name for column in alias.columns]
        body = cte.this
        itself = _mentions(body, name)
        recursive = recursive or itself
        targets: Targets | None = None
        if itself:
            targets = _recursive_types(body, name, names, ctx)
        query = query_text(body, ctx, targets=targets)
        columns: tuple[ColumnInfo, ...] | None = None
        if query.columns is not None:
            labels = names or [column.name or "" for column in query.columns]
            if names and len(names) != len(query.columns):
                ctx.problem(
                    f"{alias.name!r} has {len(query.columns)} columns, not {len(names)}", alias, number=8158
                )
            if not all(labels):
                ctx.problem(
                    f"no column name was specified for a column of {alias.name!r}", alias, number=8155
                )
            columns = tuple(
                ColumnInfo(label, column.type) for label, column in zip(labels, query.columns, strict=False)
            )
        ctx.ctes[name] = columns
        head = quote(name)
        if names:
            head += f" ({', '.join(identifier(column) for column in names)})"
        definitions.append((head, query.sql))
    return definitions, recursive


def _mentions(node: exp.Expr, name: str) -> bool:
    return any(fold(table.name) == name and len(table.parts) == 1 for table in node.find_all(exp.Table))


def _recursive_types(body: exp.Expr, name: str, names: list[str], ctx: Context) -> Targets | None:
    """Types of a recursive query's columns.

    PostgreSQL wants the anchor and the recursive part to agree to the letter; strings go
    to text, everything else to the anchor's type.
    """
    anchor = body
    while isinstance(anchor, (exp.SetOperation, exp.Subquery)):
        anchor = anchor.this
    if not isinstance(anchor, exp.Select) or _mentions(anchor, name):
        return None
    query = query_text(anchor.copy(), trial(ctx))
    if query.columns is None:
        ctx.ctes[name] = None
        return None
    labels = names or [column.name or "" for column in query.columns]
    types = [
        tm.NVARCHAR_MAX if column.type is not None and column.type.is_string else column.type
        for column in query.columns
    ]
    ctx.ctes[name] = tuple(ColumnInfo(label, type_) for label, type_ in zip(labels, types, strict=False))
    return Targets(types, exact=True)


def trial(ctx: Context) -> Context:
    """A context for a trial translation: its problems are dropped, what it finds in scope is shared."""
    from ..grammar.problems import Problems

    return replace(ctx, problems=Problems(), ctes=dict(ctx.ctes), pseudo=dict(ctx.pseudo))


# ---------------------------------------------------------------- UNION, EXCEPT, INTERSECT


def _set_operation(node: exp.SetOperation, ctx: Context, targets: Targets | None) -> QueryText:
    branches: list[tuple[str, exp.Expr]] = []
    current: exp.Expr = node
    while isinstance(current, exp.SetOperation) and (current is node or not _has_tail(current)):
        word = type(current).__name__.upper()
        if current.args.get("distinct") is False:
            word += " ALL"
        branches.append((word, current.expression))
        current = current.this
    branches.append(("", current))
    branches.reverse()
    queries = [query_text(branch, ctx, targets=targets) for _, branch in branches]
    columns = _united(queries, branches, ctx)
    if columns is not None and targets is None:
        types = [column.type for column in columns]
        for index, (_, branch) in enumerate(branches):
            values = queries[index].values or []
            if any(_mismatched(value, type_) for value, type_ in zip(values, types, strict=False)):
                queries[index] = query_text(branch, ctx, targets=Targets(types))
    pieces: list[str] = []
    operators = [word for word, _ in branches]
    for index, query in enumerate(queries):
        branch = branches[index][1]
        text = query.sql
        if _needs_parentheses(branch):
            text = f"({text})"
        if index:
            pieces.append(f"{operators[index]}{BREAK}{text}")
        else:
            pieces.append(text)
    tail = _tail(node, ctx, columns)
    sql = f"{OPEN}{BREAK.join(pieces)}{tail}{CLOSE}"
    result = QueryText(sql, columns)
    return _as_xml(node, result, queries[0].values, ctx)


def _as_xml(node: exp.Expr, result: QueryText, values: list[Value] | None, ctx: Context) -> QueryText:
    """Put FOR XML or FOR JSON around a finished query."""
    clause = node.args.get("for_")
    if clause is None or clause.args["kind"] == "BROWSE":
        return result
    found = form(clause, ctx)
    if found is None:
        return result
    if result.columns is None or values is None:
        ctx.unsupported(
            f"FOR {clause.args['kind']} over '*' of a table that the script does not create",
            node,
            hint="name the columns",
        )
        return result
    shape = for_xml.Shape(
        [column.name for column in result.columns],
        for_xml.labelled(values),
        for_xml.column_tables(node, len(values), ctx),
    )
    expression = found.whole(shape, node, True, None)
    sql = for_xml.wrap(result.sql, len(values), expression)
    return QueryText(
        sql,
        (found.column,),
        [Value("", type=found.column.type)],
        one_row=True,
        at_most_one=True,
        before=result.before,
    )


def _has_tail(node: exp.Expr) -> bool:
    return any(node.args.get(key) is not None for key in ("order", "limit", "offset"))


def _needs_parentheses(node: exp.Expr) -> bool:
    if isinstance(node, (exp.SetOperation, exp.Subquery)):
        return True
    return _has_tail(node)


def _united(
    queries: list[QueryText], branches: list[tuple[str, exp.Expr]], ctx: Context
) -> tuple[ResultColumn, ...] | None:
    """The columns of a set operation: names of the first query, common types."""
    if any(query.columns is None for query in queries):
        return None
    counts = {len(query.columns or ()) for query in queries}
    if len(counts) > 1:
        ctx.problem(
            "all queries combined using UNION, INTERSECT or EXCEPT must have the same number of columns",
            branches[1][1],
            number=205,
        )
        return None
    columns: list[ResultColumn] = []
    for position, first in enumerate(queries[0].columns or ()):
        values = []
        for query in queries:
            assert query.columns is not None
            if query.values is not None:
                values.append(query.values[position])
            else:
                values.append(Value("", type=query.columns[position].type))
        columns.append(ResultColumn(first.name, v.common_type(values)))
    return tuple(columns)


def _mismatched(value: Value, type_: tm.SqlType | None) -> bool:
    """PostgreSQL would not find T-SQL's common type for this column by itself."""
    if value.is_null or value.type is None or type_ is None or value.family == type_.family:
        return False
    if value.type.is_numeric and type_.is_numeric:
        return False
    return not (value.type.is_datetime and type_.is_datetime)


def _tail(node: exp.Expr, ctx: Context, columns: tuple[ResultColumn, ...] | None) -> str:
    """ORDER BY and OFFSET of a set operation."""
    frame = ctx.push()
    infos = None
    if columns is not None:
        infos = tuple(ColumnInfo(column.name or "", column.type) for column in columns)
    frame.relations.append(Relation("", infos))
    tail = ""
    order = node.args.get("order")
    if order is not None:
        tail += f"{BREAK}ORDER BY {', '.join(order_item(item, ctx) for item in order.expressions)}"
    limit, offset = _offset_fetch(node, ctx)
    if limit is not None:
        tail += f"{BREAK}LIMIT {limit}"
    if offset is not None:
        tail += f"{BREAK}OFFSET {offset}"
    ctx.pop()
    return tail


# ---------------------------------------------------------------- SELECT


def _select(node: exp.Select, ctx: Context, targets: Targets | None) -> QueryText:
    frame = ctx.push()
    try:
        return _select_inside(node, ctx, targets)
    finally:
        assert ctx.frame is frame
        ctx.pop()


_SELECT_CLAUSES = frozenset(
    "expressions distinct limit offset from_ joins where group having order options for_ with_ into".split()
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
    order = _order(order_node, items, ctx) if order_node is not None else None
    limit, percent, with_ties = _top(node, ctx)
    fetch, offset = _offset_fetch(node, ctx)
    limit = limit if limit is not None else fetch
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
        sql = _top_percent(items, percent, from_text, joins, where, group_text, having, order, distinct, ctx)
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
    return _as_xml(node, result, items.values, ctx)


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
    tables = for_xml.column_tables(node, len(items.values), ctx)
    shape = for_xml.Shape(items.names, items.values, tables)
    if len({table for table in tables if table is not None}) > 1 and found.auto:
        many = True
    expression = found.whole(shape, node, many, order if many else None)
    sql = select(expressions=[expression], from_=from_text, joins=joins, where=where)
    return QueryText(
        sql,
        (found.column,),
        [Value("", type=found.column.type)],
        one_row=True,
        has_from=from_text is not None,
        at_most_one=True,
    )


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
            for column in star.columns or ():
                names.append(column.name)
                values.append(Value(identifier(column.name), type=column.type, nullable=column.nullable))
            continue
        if isinstance(item, SetVariable):
            ctx.problem(
                "a SELECT that assigns a value to a variable must not be combined with data retrieval, "
                "nor stand inside another statement",
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
        value = scalar(inner, ctx)
        position = len(values)
        if targets is not None and position < len(targets.types):
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


def star_columns(item: exp.Expr, ctx: Context) -> Star:
    """Expand ``*`` as far as the relations in sight are known."""
    ctx.only(item.this if isinstance(item, exp.Column) else item, frozenset())
    relations = ctx.frame.relations
    text = "*"
    if isinstance(item, exp.Column):
        parts = [part.name for part in item.parts[:-1]]
        relation = find_relation(parts, ctx)
        if relation is None:
            ctx.problem(
                f"the column prefix {'.'.join(parts)!r} does not match a table of the query", item, number=107
            )
            return Star("NULL", None)
        relations = [relation]
        text = relation.spell("*")
    if not relations:
        ctx.problem("'*' needs a FROM clause", item, number=263)
        return Star("NULL", None)
    if any(relation.columns is None or relation.partial for relation in relations):
        return Star(text, None)
    return Star(text, tuple(column for relation in relations for column in relation.columns or ()))


def _order(order: exp.Order, items: SelectList, ctx: Context) -> str:
    """ORDER BY: a bare name is an alias of the select list first."""

    def resolve(node: exp.Expr) -> Value | None:
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            known = (items.aliases or {}).get(fold(node.name))
            if known is not None:
                return replace(known, text=identifier(node.name), level=v.ATOM, constant=None)
        if (
            isinstance(node, exp.Literal)
            and not node.is_string
            and node.name.isdigit()
            and items.values is not None
        ):
            position = int(node.name) - 1
            if 0 <= position < len(items.values):
                return replace(items.values[position], text=node.name, level=v.ATOM, constant=None)
        return None

    return ", ".join(order_item(item, ctx, resolve=resolve) for item in order.expressions)


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
            ctx.problem("a GROUP BY expression must contain a column", element, number=164)
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


# ---------------------------------------------------------------- TOP, OFFSET


def _top(node: exp.Select, ctx: Context) -> tuple[str | None, str | None, bool]:
    """(LIMIT, percentage, WITH TIES)."""
    limit = node.args.get("limit")
    if not isinstance(limit, exp.Limit):
        return None, None, False
    value = _count_outside(limit.expression, ctx)
    options = limit.args.get("limit_options")
    with_ties = bool(options is not None and options.args.get("with_ties"))
    if with_ties and node.args.get("order") is None:
        ctx.problem("TOP … WITH TIES needs ORDER BY", node, number=1062)
    if options is not None and options.args.get("percent") and value.constant == 100:
        return None, None, False
    if options is not None and options.args.get("percent"):
        return None, value.text, with_ties
    return row_count(value), None, with_ties


def _count_outside(node: exp.Expr, ctx: Context) -> Value:
    """TOP's and OFFSET's expressions see no column of the query."""
    inside, qualified = ctx.frame, ctx.qualified
    assert inside.parent is not None
    # PostgreSQL looks for columns there all the same, so variables keep their label.
    ctx.qualified = ctx.has_relations
    ctx.frame = inside.parent
    try:
        return scalar(node, ctx)
    finally:
        ctx.frame, ctx.qualified = inside, qualified


def row_count(value: Value) -> str:
    """A row count for LIMIT: numbers that are no integers are cut by T-SQL."""
    if value.type is not None and value.type.family not in ("integer", "bit", "unknown"):
        return v.convert(value, tm.BIGINT).text
    return value.text


def _offset_fetch(node: exp.Expr, ctx: Context) -> tuple[str | None, str | None]:
    offset = node.args.get("offset")
    fetch = node.args.get("limit")
    offset_text = row_count(_count_outside(offset.expression, ctx)) if offset is not None else None
    if offset_text == "0":
        offset_text = None
    limit_text = None
    if isinstance(fetch, exp.Fetch):
        count = fetch.args.get("count")
        limit_text = row_count(_count_outside(count, ctx)) if count is not None else "1"
        if offset is None:
            ctx.problem("FETCH needs OFFSET before it", fetch, number=153)
    if offset is not None and node.args.get("order") is None:
        ctx.problem("OFFSET needs ORDER BY before it", offset, number=102)
    return limit_text, offset_text


def _top_percent(
    items: SelectList,
    percent: str,
    from_text: str | None,
    joins: list[tuple[str, str, str | None]],
    where: str | None,
    group_text: str | None,
    having: str | None,
    order: str | None,
    distinct: bool,
    ctx: Context,
) -> str:
    """TOP (n) PERCENT: the row's place and the number of rows are counted beside the columns."""
    if items.values is None:
        ctx.unsupported("TOP … PERCENT with '*' of a table that the script does not create")
        return "SELECT NULL"
    labels = [f"c{place}" for place in range(1, len(items.values) + 1)]
    inner = select(
        expressions=[f"{value.text} AS {label}" for value, label in zip(items.values, labels, strict=True)],
        distinct=distinct,
        from_=from_text,
        joins=joins,
        where=where,
        group=group_text,
        having=having,
        order=order,
    )
    shown = [
        f"{label} AS {identifier(name)}" if name else label
        for label, name in zip(labels, items.names, strict=True)
    ]
    numbered = select(
        expressions=["*", "row_number() OVER () AS place", "count(*) OVER () AS total"],
        from_=f"({inner}) AS ordered",
    )
    return select(
        expressions=shown,
        from_=f"({numbered}) AS numbered",
        where=f"place <= ceil(total * ({percent}) / 100.0)",
        order="place",
    )
