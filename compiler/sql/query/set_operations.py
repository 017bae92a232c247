"""Queries: common table expressions and set operations around SELECT."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ....grammar.problems import Problems
from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.names import fold
from ...catalog.objects import ColumnInfo, ResultColumn
from ...target import nodes as n
from ...target import queries as q
from ..context import Context, Relation
from ..dispatch import handles, query_tree, translates_query
from ..expressions.windows import order_item
from ..parse.nodes import RecursionLevel
from ..precedence import common_type
from ..query_result import NOTHING_SELECTED, ROWS, QueryTree, Targets, mismatched
from ..values import Value, call, loses_domain
from .for_clause import as_document
from .row_limits import limits_rows, offset_fetch, refuse_order, within_row_limit
from .select import select_tree


@translates_query(exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery)
def _query(node: exp.Expr, ctx: Context, targets: Targets | None) -> QueryTree:
    """A query with its common table expressions; parentheses hand what stands behind them to the inside."""
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
            result = select_tree(node, ctx, targets)
        elif isinstance(node, exp.Values):
            return _values(node, ctx, targets)
        else:
            ctx.problem("a SELECT is expected here", node, number=102)
            return QueryTree(NOTHING_SELECTED, None)
    finally:
        ctx.ctes = outer_ctes
    if definitions:
        result.code = q.With(tuple(definitions), result.code, recursive)
    return result


@translates_query(exp.Values)
def _values(node: exp.Values, ctx: Context, targets: Targets | None) -> QueryTree:
    ctx.unsupported("VALUES as a query of its own", node)
    return QueryTree(NOTHING_SELECTED, None)


# ---------------------------------------------------------------- common table expressions


def ctes(with_: exp.With | None, ctx: Context) -> tuple[list[q.Definition], bool]:
    """Translate ``WITH a AS (…), b (x, y) AS (…)``; the names are then in scope."""
    if with_ is None:
        return [], False
    definitions: list[q.Definition] = []
    recursive = False
    for cte in with_.expressions:
        alias = cte.args["alias"]
        name = fold(alias.name)
        names = [column.name for column in alias.columns]
        body = cte.this
        itself = _mentions(body, name)
        recursive = recursive or itself
        targets: Targets | None = ROWS
        if itself:
            _check_recursive(body, alias, ctx)
            body, names = _levelled(body, name, names, ctx)
            targets = _recursive_types(body, alias, names, ctx)
        query = query_tree(body, ctx, targets=targets)
        columns: tuple[ColumnInfo, ...] | None = None
        if query.columns is not None:
            labels = names or [column.name or "" for column in query.columns]
            if names and len(names) != len(query.columns):
                ctx.wrong_column_list(alias.name, len(query.columns), len(names), alias)
            if not all(labels):
                place = labels.index("") + 1
                ctx.problem(
                    f"No column name was specified for column {place} of '{alias.name}'.", alias, number=8155
                )
            ctx.refuse_repeated(alias.name, labels, alias)
            columns = _cte_columns(labels, query.columns)
        ctx.ctes[name] = columns
        _note_listed(name, query.listed, ctx)
        definitions.append(q.Definition(name, query.code, tuple(map(fold, names))))
    return definitions, recursive


_LEVEL = "@level"
"""The hidden column of a recursive query: no column of T-SQL has such a name."""


def _cte_columns(labels: list[str], columns: Iterable[ResultColumn]) -> tuple[ColumnInfo, ...]:
    return tuple(
        ColumnInfo(label, column.type, hidden=label == _LEVEL, pg=column.pg)
        for label, column in zip(labels, columns, strict=False)
    )


def _levelled(body: exp.Expr, name: str, names: list[str], ctx: Context) -> tuple[exp.Expr, list[str]]:
    """A recursive query whose rows tell how deep they are, so that MAXRECURSION is obeyed.

    Not where a row comes from deeper inside the recursive part, and not in what others put into queries of
    their own, whose OPTION it would be.
    """
    most = _most_recursions(ctx) if ctx.scope.limits_recursion else 0
    levelled = body.copy()
    leaves = _leaves(levelled)
    if not most or not all(isinstance(leaf, exp.Select) for leaf in leaves):
        return body, names
    for leaf in leaves:
        level: exp.Expr = exp.Literal.number(0)
        if _mentions(leaf, name):
            own = [table for table in _from_items(leaf) if _mentions(table, name)]
            if len(own) != 1 or not isinstance(own[0], exp.Table):
                return body, names
            level = RecursionLevel(this=own[0].alias or own[0].name, most=most)
        leaf.append("expressions", exp.Alias(this=level, alias=exp.to_identifier(_LEVEL, quoted=True)))
    return levelled, [*names, _LEVEL] if names else names


def _from_items(select: exp.Expr) -> list[exp.Expr]:
    """What FROM and its joins name, in parentheses or not."""
    from_ = select.args.get("from_")
    items: list[exp.Expr] = [] if from_ is None else [from_.this]
    joins = [*(select.args.get("joins") or ()), *(items[0].args.get("joins") or () if items else ())]
    return [*items, *(join.this for join in joins)]


def _leaves(body: exp.Expr) -> list[exp.Expr]:
    """The queries that UNION ALL and its like join."""
    while isinstance(body, exp.Subquery):
        body = body.this
    if isinstance(body, exp.SetOperation):
        return [*_leaves(body.this), *_leaves(body.expression)]
    return [body]


_MOST_RECURSIONS = 100
_MOST_OF_OPTION = 32767


def _most_recursions(ctx: Context) -> int:
    """What OPTION (MAXRECURSION n) says, 0: no limit."""
    for place, token in enumerate(ctx.tokens[:-1]):
        if token.word == "MAXRECURSION" and ctx.tokens[place + 1].text.isdecimal():
            most = int(ctx.tokens[place + 1].text)
            if most > _MOST_OF_OPTION:
                ctx.problem(
                    f"The value {most} specified for the MAXRECURSION option exceeds the allowed maximum of "
                    f"{_MOST_OF_OPTION}.",
                    number=310,
                )
            return most
    return _MOST_RECURSIONS


@handles(RecursionLevel)
def _recursion_level(node: RecursionLevel, ctx: Context) -> Value:
    level = n.Name((fold(node.args["this"]), _LEVEL))
    return call("ssb_internal.recursion_level", level, n.Integer(node.args["most"]), type=tm.INT)


def _note_listed(name: str, listed: bool, ctx: Context) -> None:
    if listed:
        ctx.listed_ctes.add(name)
    else:
        ctx.listed_ctes.discard(name)


def _mentions(node: exp.Expr, name: str) -> bool:
    return any(fold(table.name) == name and len(table.parts) == 1 for table in node.find_all(exp.Table))


def _check_recursive(body: exp.Expr, alias: exp.Expr, ctx: Context) -> None:
    """Errors 252 and 246: what asks itself does so behind UNION ALL and a query that does not."""
    while isinstance(body, exp.Subquery):
        body = body.this
    if not isinstance(body, exp.Union) or body.args.get("distinct"):
        ctx.problem(
            f"Recursive common table expression '{alias.name}' does not contain a top-level UNION ALL "
            "operator.",
            alias,
            number=252,
        )
        return
    anchor: exp.Expr = body
    while isinstance(anchor, (exp.SetOperation, exp.Subquery)):
        anchor = anchor.this
    if _mentions(anchor, fold(alias.name)):
        ctx.problem(f'No anchor member was specified for recursive query "{alias.name}".', alias, number=246)


def _recursive_types(body: exp.Expr, alias: exp.TableAlias, names: list[str], ctx: Context) -> Targets | None:
    """Types of a recursive query's columns.

    PostgreSQL wants the anchor and the recursive part to agree to the letter; strings go
    to text, everything else to the anchor's type.
    """
    name = fold(alias.name)
    anchor = body
    while isinstance(anchor, (exp.SetOperation, exp.Subquery)):
        anchor = anchor.this
    if not isinstance(anchor, exp.Select) or _mentions(anchor, name):
        return None
    query = query_tree(anchor.copy(), trial(ctx))
    _note_listed(name, query.listed, ctx)
    if query.columns is None:
        ctx.ctes[name] = None
        return None
    labels = names or [column.name or "" for column in query.columns]
    values = query.values or []
    types = [
        tm.NVARCHAR_MAX if column.type is not None and column.type.is_string else column.type
        for column in query.columns
    ]
    for place, value in enumerate(values):
        if value.is_null:  # NULL alone is an int
            types[place] = tm.INT
    ctx.ctes[name] = _cte_columns(labels, [ResultColumn(None, type_) for type_ in types])
    _check_types(body, alias, labels, types, ctx)
    return Targets(types, exact=True)


_NUMBERS = ("integer", "decimal", "float")


def _check_types(
    body: exp.Expr, alias: exp.Expr, labels: list[str], types: list[tm.SqlType | None], ctx: Context
) -> None:
    """Error 240, where the recursive part's values would be cut to fit the anchor's, or be no numbers."""
    while isinstance(body, exp.Subquery):
        body = body.this
    part = body.expression if isinstance(body, exp.Union) else None
    if not isinstance(part, exp.Select):
        return
    recursive = query_tree(part.copy(), trial(ctx))
    for label, type_, column in zip(labels, types, recursive.columns or (), strict=False):
        found = column.type
        if type_ is None or found is None or found.family == type_.family:
            continue
        if {type_.family, found.family} <= {*_NUMBERS, "string"}:
            ctx.problem(
                f'Types don\'t match between the anchor and the recursive part in column "{label}" '
                f'of recursive query "{alias.name}".',
                alias,
                number=240,
            )
            return


def trial(ctx: Context) -> Context:
    """A context for a trial translation: its problems are dropped, what it finds in scope is shared."""
    return replace(
        ctx,
        problems=Problems(),
        unsettled=[],
        ctes=dict(ctx.ctes),
        listed_ctes=set(ctx.listed_ctes),
        pseudo=dict(ctx.pseudo),
    )


# ---------------------------------------------------------------- UNION, EXCEPT, INTERSECT


def _set_operation(node: exp.SetOperation, ctx: Context, targets: Targets | None) -> QueryTree:
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
    for _, branch in branches[1:]:
        if branch.args.get("into") is not None:
            ctx.problem(
                "SELECT INTO must be the first query in a statement containing a UNION, INTERSECT or EXCEPT "
                "operator.",
                branch.args.pop("into").find(exp.Table) or branch,
                number=196,
            )
    rows = targets is not None and targets.rows
    if rows:
        targets = None
    leading = replace(targets, leading=True) if targets is not None else None
    queries = [
        query_tree(branch, ctx, targets=targets if index else leading)
        for index, (_, branch) in enumerate(branches)
    ]
    columns = _united(queries, branches, ctx)
    if any(word and not word.endswith(" ALL") for word, _ in branches):
        for column in columns or ():
            if column.type is not None and column.type.family == "xml":
                ctx.problem(
                    "The data type xml cannot be used as an operand to the UNION, INTERSECT or EXCEPT "
                    "operators because it is not comparable.",
                    node,
                    number=5335,
                )
                break
    if columns is not None and targets is None:
        types = [column.type for column in columns]
        if rows:
            columns, types = _with_types_of_nulls(columns, queries)
        for index, (_, branch) in enumerate(branches):
            values = queries[index].values or []
            typed = rows and (
                (index == 0 and any(value.is_null for value in values))
                or any(loses_domain(value, type_) for value, type_ in zip(values, types, strict=False))
            )
            if typed or any(mismatched(value, type_) for value, type_ in zip(values, types, strict=False)):
                queries[index] = query_tree(branch, ctx, targets=Targets(types, rows=typed))
    codes = [
        n.Subquery(query.code) if _needs_parentheses(branch) else query.code
        for query, (_, branch) in zip(queries, branches, strict=True)
    ]
    rest = tuple((word, code) for (word, _), code in zip(branches[1:], codes[1:], strict=True))
    listed = columns is not None and all(query.listed for query in queries)
    code = _ended(q.SetOperation(codes[0], rest), node, ctx, columns, listed)
    result = QueryTree(code, columns, listed=listed)
    return as_document(node, result, queries[0].values, ctx)


def _with_types_of_nulls(
    columns: tuple[ResultColumn, ...], queries: list[QueryTree]
) -> tuple[tuple[ResultColumn, ...], list[tm.SqlType | None]]:
    """Columns that are NULL in every part of a query are integers."""
    found = list(columns)
    for place, column in enumerate(columns):
        parts = [query.values[place] for query in queries if query.values is not None]
        if column.type is None and len(parts) == len(queries) and all(value.is_null for value in parts):
            found[place] = replace(column, type=tm.INT)
    return tuple(found), [column.type for column in found]


def _has_tail(node: exp.Expr) -> bool:
    return any(node.args.get(key) is not None for key in ("order", "limit", "offset"))


def _needs_parentheses(node: exp.Expr) -> bool:
    if isinstance(node, (exp.SetOperation, exp.Subquery)):
        return True
    return _has_tail(node)


def _united(
    queries: list[QueryTree], branches: list[tuple[str, exp.Expr]], ctx: Context
) -> tuple[ResultColumn, ...] | None:
    """The columns of a set operation: names of the first query, common types."""
    if any(query.columns is None for query in queries):
        return None
    counts = {len(query.columns or ()) for query in queries}
    if len(counts) > 1:
        ctx.problem(
            "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of "
            "expressions in their target lists.",
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
                values.append(Value(n.NOTHING, query.columns[position].type, pg=query.columns[position].pg))
        pg = next((value.pg for value in values if value.pg is not None), None)
        columns.append(ResultColumn(first.name, common_type(values), pg))
    return tuple(columns)


def _ended(
    operation: q.SetOperation,
    node: exp.Expr,
    ctx: Context,
    columns: tuple[ResultColumn, ...] | None,
    listed: bool,
) -> q.SetOperation:
    """A set operation with its ORDER BY and OFFSET."""
    frame = ctx.push()
    infos = None
    if columns is not None:
        infos = tuple(ColumnInfo(column.name or "", column.type) for column in columns)
    frame.relations.append(Relation("", infos, declared=listed))
    order = node.args.get("order")
    refuse_order(node, ctx)
    items = (order_item(item, ctx, results=True) for item in (order.expressions if order is not None else ()))
    ordered = replace(operation, order=tuple(items))
    limit, offset = offset_fetch(node, ctx)
    if limits_rows(node):
        limit = within_row_limit(limit, ctx)
    ctx.pop()
    return replace(ordered, limit=limit, offset=offset)
