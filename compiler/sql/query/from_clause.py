"""FROM: tables, derived tables, VALUES, joins and APPLY."""

from __future__ import annotations

from sqlglot import exp

from ....grammar.problems import NAME_MISSING, NO_SYNONYM_FOR_QUEUES, SYNONYM_OF_QUEUE
from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.builtin_relations import system_view
from ...catalog.names import ObjectName, fold
from ...catalog.objects import ColumnInfo, TableVariable
from ...target import nodes as n
from ...target import queries as q
from ...target.emit import emit
from ..context import Context, Relation, object_name, undeclared_table
from ..conversions import convert, reconcile
from ..ddl.system_versioning import versions
from ..dispatch import query_tree
from ..expressions.calls import dotted_names
from ..expressions.names import condition, scalar
from ..from_items import Source, alias_of, failed
from ..parse.nodes import is_variable
from ..query_result import ROWS
from ..values import cast, differs_by_row, loses_domain
from .lock_hints import LOCKING, held
from .pivot import pivoted
from .table_functions import table_function


def read_from(node: exp.Expr, ctx: Context) -> list[Source]:
    """Translate FROM and the joins of a query or statement; its relations are then in scope."""
    _pivot_joined(node)
    from_ = node.args.get("from_")
    if from_ is None:
        return []
    before = len(ctx.frame.relations)
    sources = [source(from_.this, ctx, "")]
    inner = from_.this
    sources += _joins(inner.args.get("joins") or [], ctx) if not isinstance(inner, exp.Subquery) else []
    sources += _joins(node.args.get("joins") or [], ctx)
    _refuse_same_names(ctx.frame.relations[before:], from_, ctx)
    group = node.args.get("group")
    if group is not None and (
        group.args.get("rollup")
        or group.args.get("cube")
        or group.find(exp.Rollup, exp.Cube, exp.GroupingSets)
    ):
        _may_be_null(ctx.frame.relations)
    return sources


def _refuse_same_names(relations: list[Relation], node: exp.Expr, ctx: Context) -> None:
    """Errors 1013 and 1012: a table without an alias has another's name. PostgreSQL finds two aliases."""
    seen: dict[str, Relation] = {}
    for relation in relations:
        other = seen.setdefault(relation.alias, relation)
        if other is relation:
            continue
        if relation.name is not None and other.name is not None:
            ctx.problem(
                f'The objects "{relation.name.text}" and "{other.name.text}" in the FROM clause have the '
                "same exposed names. Use correlation names to distinguish them.",
                node,
                number=1013,
            )
        elif relation.alias and relation.name is None and other.name is None:
            ctx.problem(
                f"The correlation name '{relation.alias}' is specified multiple times in a FROM clause.",
                node,
                number=1011,
            )
        elif (named := relation.name or other.name) is not None and relation.stored and other.stored:
            ctx.problem(
                f"The correlation name '{relation.alias}' has the same exposed name as table '{named.text}'.",
                node,
                number=1012,
            )


def _pivot_joined(node: exp.Expr) -> None:
    """``a CROSS APPLY b PIVOT (…) p``, ``a JOIN b ON … PIVOT (…) p``: of all that is joined so far.

    It becomes a derived table with the PIVOT behind it.
    """
    joins: list[exp.Join] = node.args.get("joins") or []
    last = max((place for place, join in enumerate(joins) if join.args.get("pivots")), default=None)
    if last is None:
        return
    pivots = joins[last].args["pivots"]
    joins[last].set("pivots", None)
    rows = exp.Select(expressions=[exp.Star()], from_=node.args["from_"], joins=joins[: last + 1])
    alias = exp.TableAlias(this=exp.to_identifier("joined"))
    node.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias, pivots=pivots)))
    node.set("joins", joins[last + 1 :])


def _joins(joins: list[exp.Join], ctx: Context) -> list[Source]:
    return [_join(join, ctx) for join in joins]


_JOIN_PARTS = frozenset("this side kind on hint method using".split())


def _join(join: exp.Join, ctx: Context) -> Source:
    if join.args.get("method") or join.args.get("using"):
        ctx.problem("NATURAL and USING are not T-SQL", join, number=102)
    ctx.only(join, _JOIN_PARTS)
    side = (join.args.get("side") or "").upper()
    kind = (join.args.get("kind") or "").upper()
    on = join.args.get("on")
    relation = join.this
    if isinstance(relation, exp.Lateral):
        return _apply(relation, ctx)
    if side in ("LEFT", "RIGHT", "FULL"):
        word = side
    elif kind == "CROSS":
        word = "CROSS"
    else:
        word = "," if join.meta.get("comma") else "JOIN"
    before = len(ctx.frame.relations)
    item = source(relation, ctx, word)
    if word in ("RIGHT", "FULL"):
        _may_be_null(ctx.frame.relations[:before])
    if word in ("LEFT", "FULL"):
        _may_be_null(ctx.frame.relations[before:])
    if word in ("LEFT", "RIGHT", "FULL", "JOIN"):
        if on is None:
            ctx.problem("JOIN needs ON", join, number=102)
        else:
            aggregates = ctx.frame.aggregates
            item.on = condition(on, ctx).code
            if ctx.frame.aggregates > aggregates and ctx.frame.is_outermost:
                ctx.problem(
                    "An aggregate cannot appear in an ON clause unless it is in a subquery contained in a "
                    "HAVING clause or select list, and the column being aggregated is an outer reference.",
                    on,
                    number=1015,
                )
                ctx.frame.aggregates = aggregates
    return item


def _apply(lateral: exp.Lateral, ctx: Context) -> Source:
    """CROSS APPLY, OUTER APPLY."""
    inner = lateral.this
    alias = lateral.args.get("alias")
    if alias is not None:
        inner.set("alias", alias.copy())
    before = len(ctx.frame.relations)
    item = source(inner, ctx, "CROSS")
    if not item.lateral:
        item.make_lateral()
    if before:
        _compute_for_each_row(item, ctx.frame.relations[before - 1])
    if lateral.args.get("cross_apply") is False:
        item.kind, item.on = "LEFT", n.TRUE
        _may_be_null(ctx.frame.relations[before:])
    return item


def _compute_for_each_row(item: Source, left: Relation) -> None:
    """``CROSS APPLY (SELECT NEWID() AS id)``: PostgreSQL would compute once what reads no column."""
    derived = item.derived
    if derived is None or not isinstance(derived.item, n.Subquery):
        return
    query = derived.item.query
    if isinstance(query, q.Select) and query.source is None and any(map(differs_by_row, query.items)):
        reads = n.IsNull(n.Paren(n.IsNull(left.every())), negated=True)
        where = n.all_of([reads, *([query.where] if query.where is not None else [])])
        item.code = replace(derived, item=n.Subquery(replace(query, where=where)))


def _may_be_null(relations: list[Relation]) -> None:
    """An outer join or a grouping set fills columns with NULL, NOT NULL or not."""
    for relation in relations:
        if relation.columns is not None:
            relation.columns = tuple(replace(column, nullable=True) for column in relation.columns)


# ---------------------------------------------------------------- one item


def source(node: exp.Expr, ctx: Context, kind: str) -> Source:
    """Translate one item of FROM and bring its relation into sight."""
    pivots = node.args.get("pivots")
    if pivots:
        bare = node.copy()
        bare.set("pivots", None)
        ctx.push()
        item = source(bare, ctx, "")
        return pivoted(item, node, pivots, ctx, kind)
    item = _unpivoted_source(node, ctx, kind)
    joins = node.args.get("joins")
    if joins and kind:
        # a LEFT JOIN b JOIN c ON … ON …: the inner join comes first.
        nested = _joins(joins, ctx)
        item = Source(kind, _joined([item, *nested]))
    return item


def _joined(sources: list[Source]) -> n.Node:
    """Joined items as one."""
    return q.Joined(sources[0].code, tuple(item.join() for item in sources[1:]))


def _unpivoted_source(node: exp.Expr, ctx: Context, kind: str) -> Source:
    if isinstance(node, exp.Table):
        return _table(node, ctx, kind)
    if isinstance(node, exp.Subquery):
        inner = node.this
        if isinstance(inner, (exp.Table, exp.Subquery)) and node.args.get("alias") is None:
            # (a JOIN b ON …)
            first = source(inner, ctx, "")
            nested = [] if isinstance(inner, exp.Subquery) else _joins(inner.args.get("joins") or [], ctx)
            nested += _joins(node.args.get("joins") or [], ctx)
            return Source(kind, _joined([first, *nested]) if nested else first.code)
        if isinstance(inner, exp.Values):
            inner.set("alias", node.args.get("alias"))
            return _values(inner, ctx, kind)
        return _derived(node, ctx, kind)
    if isinstance(node, exp.Values):
        return _values(node, ctx, kind)
    if isinstance(node, exp.Lateral):
        return _apply(node, ctx)
    if isinstance(node, (exp.Dot, exp.Anonymous)):
        return table_function(node, ctx, kind)
    ctx.problem("incorrect syntax in FROM", node, number=102)
    return failed(kind, ctx)


_ONE_OF = (
    frozenset({"NOLOCK", "PAGLOCK", "ROWLOCK", "TABLOCK", "TABLOCKX", "READCOMMITTEDLOCK"}),
    frozenset({"NOLOCK", "HOLDLOCK", "READCOMMITTED", "REPEATABLEREAD"}),
)
_SAME = {"READUNCOMMITTED": "NOLOCK", "SERIALIZABLE": "HOLDLOCK"}


def _hints(node: exp.Expr, name: ObjectName, ctx: Context) -> frozenset[str]:
    words = {hint.name.upper() for hint in node.args.get("hints") or () if isinstance(hint, exp.Var)}
    meant = {_SAME.get(word, word) for word in words}
    if any(len(meant & group) > 1 for group in _ONE_OF):
        ctx.problem("Conflicting locking hints specified.", node, number=1047)
    return held(frozenset(words), name, ctx.scope)


def _warn_of_lost_locks(node: exp.Table, view: ObjectName, ctx: Context) -> None:
    """Tell of hints that lock nothing: who reads a view may have no right to lock the tables below it."""
    written = (hint.name.upper() for hint in node.args.get("hints") or () if isinstance(hint, exp.Var))
    lost = next((word for word in written if word in LOCKING), None)
    if lost is not None:
        ctx.problems.add(
            f"{lost} locks nothing here: {view.text} is a view",
            ctx.reach(node),
            hint="name the table below it",
            severity="warning",
        )


_TABLE_PARTS = frozenset("this db catalog alias hints pivots joins sample version".split())


def _table(node: exp.Table, ctx: Context, kind: str) -> Source:
    ctx.only(node, _TABLE_PARTS)
    if isinstance(node.this, (exp.Anonymous, exp.Dot)) and not _is_name(node.this):
        return table_function(node, ctx, kind)
    alias, columns = alias_of(node)
    name = object_name(node)
    if not name.name:
        ctx.problem(NAME_MISSING, node, number=1038)
        return failed(kind, ctx)
    if name.server or len(node.parts) > 4:
        ctx.refuse_server(node)
        return failed(kind, ctx)
    if is_variable(node):
        return _table_variable(node, name.name, alias, ctx, kind)
    hints = _hints(node, name, ctx)
    if len(node.parts) == 1 and fold(name.name) in ctx.ctes:
        shown = fold(alias or name.name)
        code: n.Node = n.Name((fold(name.name),))
        if shown != fold(name.name):
            code = q.Aliased(code, shown)
        relation = Relation(shown, ctx.ctes[fold(name.name)], declared=fold(name.name) in ctx.listed_ctes)
        ctx.frame.relations.append(relation)
        return Source(kind, code, hints=hints, relation=relation)
    info = ctx.scope.table(name) or system_view(name)
    if info is not None and info.is_queue and ctx.scope.synonym(name) != name:
        ctx.problem(
            SYNONYM_OF_QUEUE.format(".".join(part.name for part in node.parts), ctx.scope.synonym(name).text),
            node,
            number=4135,
            hint=NO_SYNONYM_FOR_QUEUES,
        )
        return failed(kind, ctx)
    stored = ctx.reads(name, info)
    if info is None or info.name is not None:
        ctx.bind(name, node)
    if info is None:
        ctx.unknown(name, node)
    like = ctx.scope.empty_like(name.name) if len(node.parts) == 1 else None
    if like is not None:
        nothing = q.Select((n.STAR,), n.Variable(like), where=n.FALSE, breaks=q.Breaks.NEVER)
        code = q.Aliased(n.Subquery(nothing), fold(alias or name.name))
        relation = Relation(fold(alias or name.name), info.columns if info is not None else None)
        ctx.frame.relations.append(relation)
        return Source(kind, code, relation=relation)
    kept = ctx.scope.kept_rows(name.name) if len(node.parts) == 1 else None
    if kept is not None:
        bare: n.Node = n.Variable(kept)
    elif info is not None and info.name is None:
        bare = n.Name((fold(name.name),))
    else:
        bare = n.Variable(ctx.relation_name(name))
    code = bare
    # INFORMATION_SCHEMA's views have longer names here.
    _, pg_name = ctx.scope.synonym(name).parts(ctx.scope.database, ctx.scope.default_database)
    shown = fold(alias if alias is not None else name.name)
    version = node.args.get("version")
    if version is not None:
        code, pg_name = versions(version, bare, ctx), ""
    elsewhere = _view_of_another_database(name, code, ctx)
    if elsewhere is not None:
        code, pg_name = elsewhere, ""
    relation = Relation(shown, info.columns if info is not None else None, name if alias is None else None)
    relation.partial = info is not None and info.partial
    if version is None and elsewhere is None:
        relation.stored = stored
    if columns:
        # A derived table and a function may have such a list.
        ctx.problem("Incorrect syntax near '('.", node, number=102)
    if kept is not None or shown != pg_name:
        code = q.Aliased(code, shown)
    ctx.frame.relations.append(relation)
    if info is not None and info.read_only and node.args.get("sample") is not None:
        # Views underneath: PostgreSQL has no pages of theirs to choose from, either.
        ctx.problem("The TABLESAMPLE clause can only be used with local tables.", node, number=494)
        return failed(kind, ctx)
    code = _sampled(node, code, bare, ctx)
    if info is not None and info.read_only and not info.is_queue and info.rows_of is None:
        _warn_of_lost_locks(node, name, ctx)
    lockable = (
        version is None
        and fold(name.schema or "") not in ("sys", "information_schema")
        and not (info is not None and info.read_only)
    )
    keys = info.keys if info is not None else ()
    placed = "placed" in node.meta
    return Source(
        kind, code, hints=hints, relation=relation, lockable=lockable, bare=bare, keys=keys, placed=placed
    )


def _sampled(node: exp.Table, item: n.Node, table: n.Node, ctx: Context) -> n.Node:
    """``TABLESAMPLE [SYSTEM] (n [PERCENT | ROWS]) [REPEATABLE (seed)]``: whole pages, in both languages."""
    sample = node.args.get("sample")
    if sample is None:
        return item
    method = sample.args.get("method")
    if method is not None and method.name.upper() != "SYSTEM":
        ctx.problem(f"Incorrect syntax near '{method.name}'.", node, number=102)
    percent, rows, seed = (sample.args.get(key) for key in ("percent", "size", "seed"))
    if percent is not None:
        share = convert(scalar(percent, ctx), tm.FLOAT).code
    else:
        count = convert(scalar(rows, ctx), tm.FLOAT).code
        share = n.Call("sys.percent_of_rows", (n.Text(emit(table)), count))
    return q.Sampled(item, share, scalar(seed, ctx).code if seed else None)


# Views of the whole instance: the same in every database.
_OF_THE_INSTANCE = frozenset(
    """
    databases sysdatabases server_principals syslogins sql_logins sysprocesses messages sysmessages endpoints
    tcp_endpoints service_broker_endpoints configurations servers master_files server_event_notifications
    spt_values
    """.split()
)


def _view_of_another_database(name: ObjectName, code: n.Node, ctx: Context) -> n.Node | None:
    """``Other.sys.tables``: the views show the session's database, this one shows another."""
    schema, view = name.parts(ctx.scope.database, ctx.scope.default_database)
    if schema != "sys" or not isinstance(code, n.Variable) or not name.database:
        return None
    if view in _OF_THE_INSTANCE or view.startswith("dm_"):
        return None
    if fold(name.database) == fold(ctx.scope.database or ctx.scope.default_database or ""):
        return None
    return n.Call("ssb_internal.of_database", (n.Text(name.database), n.Cast(n.NULL, code.spelling)))


def _is_name(node: exp.Expr) -> bool:
    return isinstance(node, exp.Dot) and dotted_names(node) is not None


def _table_variable(node: exp.Table, name: str, alias: str | None, ctx: Context, kind: str) -> Source:
    variable = ctx.scope.table_variable(name)
    if variable is None:
        undeclared_table(name, node, ctx)
        return failed(kind, ctx)
    shown = fold(alias) if alias is not None else table_variable_alias(name, ctx)
    relation = Relation(shown, variable.info.columns, declared=True)
    ctx.frame.relations.append(relation)
    rows = numbered(variable, shown) if "numbered" in node.meta else unnest(variable, shown)
    return Source(kind, rows, relation=relation)


def table_variable_alias(name: str, ctx: Context) -> str:
    """The alias of a table variable that has none: its name, unless a table has that name too."""
    bare = fold(name.lstrip("@"))
    return bare if bare not in ctx.words else f"{bare}_rows"


def unnest(variable: TableVariable, alias: str) -> n.Node:
    """A table variable as a relation."""
    return q.Aliased(n.Call("unnest", (n.Variable(variable.query_reference),)), alias)


PLACE = "@place"
"""The column with a row's place in its table variable: no column of T-SQL has such a name."""


def numbered(variable: TableVariable, alias: str) -> n.Node:
    """The rows of a table variable with their places."""
    names = (*(fold(column.name) for column in variable.info.columns), PLACE)
    rows = n.Call("unnest", (n.Variable(variable.query_reference),))
    return q.Aliased(rows, alias, names, ordinality=True)


_SUBQUERY_PARTS = frozenset("this alias joins pivots with_ order limit offset for_ hints".split())


def _derived(node: exp.Subquery, ctx: Context, kind: str) -> Source:
    ctx.only(node, _SUBQUERY_PARTS)
    alias, columns = alias_of(node)
    inner = node.this
    while isinstance(inner, exp.Subquery) and not inner.args.get("alias"):
        inner = inner.this
    query = query_tree(inner, ctx, targets=ROWS)
    if alias is None:
        ctx.problem("a subquery in FROM needs an alias", node, number=102)
        alias = "q"
    shown = fold(alias)
    infos: tuple[ColumnInfo, ...] | None = None
    if query.columns is not None:
        labels = columns or [column.name or "" for column in query.columns]
        if len(labels) != len(query.columns):
            ctx.wrong_column_list(alias, len(query.columns), len(labels), node)
        elif not all(labels):
            place = labels.index("") + 1
            ctx.problem(f"No column name was specified for column {place} of '{alias}'.", node, number=8155)
        ctx.refuse_repeated(alias, labels, node)
        nullable = [value.nullable for value in query.values] if query.values is not None else []
        infos = tuple(
            ColumnInfo(
                label,
                column.type,
                nullable=nullable[place] if place < len(nullable) else True,
                pg=column.pg,
            )
            for place, (label, column) in enumerate(zip(labels, query.columns, strict=False))
        )
    elif columns:
        infos = tuple(ColumnInfo(column, None) for column in columns)
    relation = Relation(shown, infos, declared=query.listed)
    ctx.frame.relations.append(relation)
    # PostgreSQL sees earlier relations from a subquery only with LATERAL; T-SQL only with APPLY.
    item = q.Aliased(n.Subquery(query.code), shown, tuple(map(fold, columns)))
    return Source(kind, item, relation=relation)


ROWS_DIFFER = "The number of columns for each row in a table value constructor must be the same."
"""Error 10709."""


def _values(node: exp.Values, ctx: Context, kind: str) -> Source:
    alias, columns = alias_of(node)
    rows = [[scalar(cell, ctx) for cell in row.expressions] for row in node.expressions]
    if len({len(row) for row in rows}) != 1:
        ctx.problem(ROWS_DIFFER, node, number=10709)
        return failed(kind, ctx)
    if alias is None:
        ctx.problem("VALUES in FROM needs an alias and its column names", node, number=102)
        return failed(kind, ctx)
    if not columns:
        ctx.problem(f"No column name was specified for column 1 of '{alias}'.", node, number=8155)
        return failed(kind, ctx)
    if len(columns) != len(rows[0]):
        ctx.wrong_column_list(alias, len(rows[0]), len(columns), node)
        return failed(kind, ctx)
    types: list[tm.SqlType | None] = []
    for place in range(len(rows[0])):
        converted, type_ = reconcile([row[place] for row in rows])
        if all(value.is_null for value in converted):
            type_ = tm.INT
            converted = [ROWS.convert(place, value) for value in converted]
        elif type_ is not None and any(loses_domain(value, type_) for value in converted):
            converted = [cast(value, type_.postgres, type_) for value in converted]
        types.append(type_)
        for row, value in zip(rows, converted, strict=True):
            row[place] = value
    values = q.Values(tuple(tuple(value.code for value in row) for row in rows))
    infos = tuple(ColumnInfo(name, type_) for name, type_ in zip(columns, types, strict=False))
    relation = Relation(fold(alias), infos, declared=True)
    ctx.frame.relations.append(relation)
    item = q.Aliased(n.Subquery(values), fold(alias), tuple(map(fold, columns)))
    return Source(kind, item, relation=relation)
