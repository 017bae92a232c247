"""FROM: tables, functions, .nodes(), APPLY, PIVOT, joins, and the locks that hints ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from . import functions
from . import ordinary_sql_values as v
from . import type_map as tm
from .names import ObjectName, fold, identifier, literal, quote
from .ordinary_sql_calls import dotted_names, xml_binding, xml_literals, xml_subject
from .ordinary_sql_catalog import system_view
from .ordinary_sql_context import Context, Relation, object_name
from .ordinary_sql_expressions import condition, scalar
from .ordinary_sql_interface import ColumnInfo, TableVariable
from .ordinary_sql_values import Value
from .ordinary_sql_writing import select
from .xml_methods import XML_METHODS, levels_up, xml_nodes

Join = tuple[str, str, str | None]


@dataclass
class Source:
    """One item of FROM: how it is joined, its text, its ON condition, its hints."""

    kind: str
    """Empty for the first one, ``,``, JOIN, LEFT, RIGHT, FULL or CROSS."""
    text: str
    on: str | None = None
    hints: frozenset[str] = frozenset()
    relation: Relation | None = None
    """The relation, where the item is exactly one."""
    lockable: bool = False
    """A table: rows can be locked."""
    bare: str = ""
    """Its text without alias: what LOCK TABLE takes."""


def read_from(node: exp.Expr, ctx: Context) -> list[Source]:
    """Translate FROM and the joins of a query or statement; its relations are then in sight."""
    from_ = node.args.get("from_")
    if from_ is None:
        return []
    sources = [source(from_.this, ctx, "")]
    inner = from_.this
    sources += _joins(inner.args.get("joins") or [], ctx) if not isinstance(inner, exp.Subquery) else []
    sources += _joins(node.args.get("joins") or [], ctx)
    return sources


def _joins(joins: list[exp.Join], ctx: Context) -> list[Source]:
    return [_join(join, ctx) for join in joins]


_JOIN_PARTS = frozenset("this side kind on hint method using pivots".split())


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
    item = source(relation, ctx, word)
    if word in ("LEFT", "RIGHT", "FULL", "JOIN"):
        if on is None:
            ctx.problem("JOIN needs ON", join, number=102)
        else:
            item.on = condition(on, ctx).text
    return item


def _apply(lateral: exp.Lateral, ctx: Context) -> Source:
    """CROSS APPLY, OUTER APPLY."""
    inner = lateral.this
    alias = lateral.args.get("alias")
    if alias is not None:
        inner.set("alias", alias.copy())
    item = source(inner, ctx, "CROSS")
    if not item.text.startswith("LATERAL "):
        item.text = f"LATERAL {item.text}"
    if lateral.args.get("cross_apply") is False:
        item.kind, item.on = "LEFT", "true"
    return item


# ---------------------------------------------------------------- one item


def _failed(kind: str, ctx: Context) -> Source:
    """What stands for an item that was refused: nothing more is said about its columns."""
    ctx.frame.relations.append(Relation("", None))
    return Source(kind, "NULL")


def source(node: exp.Expr, ctx: Context, kind: str) -> Source:
    """Translate one item of FROM and bring its relation into sight."""
    pivots = node.args.get("pivots")
    if pivots:
        return _pivoted(node, pivots, ctx, kind)
    item = _unpivoted_source(node, ctx, kind)
    joins = node.args.get("joins")
    if joins and kind:
        # a LEFT JOIN b JOIN c ON … ON …: the inner join comes first.
        nested = _joins(joins, ctx)
        item = Source(kind, f"({_inline([item, *nested])})")
    return item


def _inline(sources: list[Source]) -> str:
    """Joined items on one line."""
    parts = []
    for item in sources:
        word = {"": "", ",": "CROSS JOIN ", "CROSS": "CROSS JOIN ", "JOIN": "JOIN "}.get(
            item.kind, f"{item.kind} JOIN "
        )
        if item is sources[0]:
            word = ""
        parts.append(f"{word}{item.text}{f' ON {item.on}' if item.on else ''}")
    return " ".join(parts)


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
            return Source(kind, f"({_inline([first, *nested])})" if nested else first.text)
        if isinstance(inner, exp.Values):
            inner.set("alias", node.args.get("alias"))
            return _values(inner, ctx, kind)
        return _derived(node, ctx, kind)
    if isinstance(node, exp.Values):
        return _values(node, ctx, kind)
    if isinstance(node, exp.Lateral):
        return _apply(node, ctx)
    if isinstance(node, (exp.Dot, exp.Anonymous)):
        return _function(node, ctx, kind)
    ctx.problem("incorrect syntax in FROM", node, number=102)
    return _failed(kind, ctx)


def _alias(node: exp.Expr) -> tuple[str | None, list[str]]:
    alias = node.args.get("alias")
    if alias is None:
        return None, []
    return (alias.name or None), [column.name for column in alias.columns]


def _hints(node: exp.Expr) -> frozenset[str]:
    words = {hint.name.upper() for hint in node.args.get("hints") or () if isinstance(hint, exp.Var)}
    return frozenset(words)


_TABLE_PARTS = frozenset("this db catalog alias hints pivots joins sample version".split())


def _table(node: exp.Table, ctx: Context, kind: str) -> Source:
    if node.args.get("sample") is not None:
        ctx.unsupported("TABLESAMPLE", node)
    if node.args.get("version") is not None:
        ctx.unsupported("FOR SYSTEM_TIME", node, hint="tables keep no history here")
    ctx.only(node, _TABLE_PARTS)
    if isinstance(node.this, (exp.Anonymous, exp.Dot)) and not _is_name(node.this):
        return _function(node, ctx, kind)
    alias, columns = _alias(node)
    name = object_name(node)
    if name.server or len(node.parts) > 4:
        ctx.unsupported(f"the linked server {name.server!r}", node)
        return _failed(kind, ctx)
    if name.name.startswith("@") and len(node.parts) == 1:
        return _table_variable(node, name.name, alias, ctx, kind)
    hints = _hints(node)
    if len(node.parts) == 1 and fold(name.name) in ctx.ctes:
        shown = fold(alias or name.name)
        text = quote(fold(name.name)) + (f" AS {quote(shown)}" if shown != fold(name.name) else "")
        relation = Relation(shown, ctx.ctes[fold(name.name)])
        ctx.frame.relations.append(relation)
        return Source(kind, text, hints=hints, relation=relation)
    info = ctx.scope.table(name) or system_view(name)
    like = ctx.scope.empty_like(name.name) if len(node.parts) == 1 else None
    if like is not None:
        text = f"(SELECT * FROM {like} WHERE false) AS {identifier(alias or name.name)}"
        relation = Relation(fold(alias or name.name), info.columns if info is not None else None)
        ctx.frame.relations.append(relation)
        return Source(kind, text, relation=relation)
    if info is not None and info.name is None:
        text = bare = identifier(name.name)
    else:
        text = bare = ctx.relation_name(name)
    pg_name = fold(name.name)
    shown = fold(alias) if alias is not None else pg_name
    elsewhere = _view_of_another_database(name, text, ctx)
    if elsewhere is not None:
        text, pg_name = elsewhere, ""
    relation = Relation(shown, info.columns if info is not None else None, name if alias is None else None)
    relation.partial = info is not None and info.partial
    if columns:
        relation.columns = tuple(ColumnInfo(column, None) for column in columns)
    if (alias is not None or elsewhere is not None) and shown != pg_name:
        text += f" AS {quote(shown)}"
    ctx.frame.relations.append(relation)
    lockable = fold(name.schema or "") not in ("sys", "information_schema") and not (
        info is not None and info.read_only
    )
    return Source(kind, text, hints=hints, relation=relation, lockable=lockable, bare=bare)


# Views of the whole instance: the same in every database.
_OF_THE_INSTANCE = frozenset(
    """
    databases sysdatabases server_principals syslogins sql_logins sysprocesses messages sysmessages endpoints
    tcp_endpoints service_broker_endpoints configurations servers master_files server_event_notifications
    """.split()
)


def _view_of_another_database(name: ObjectName, text: str, ctx: Context) -> str | None:
    """``Other.sys.tables``: the views show the session's database, this one shows another."""
    view = text.removeprefix("sys.")
    if view == text or not name.database or view in _OF_THE_INSTANCE or view.startswith("dm_"):
        return None
    if fold(name.database) == fold(ctx.scope.database or ctx.scope.default_database or ""):
        return None
    return f"ssb.of_database({literal(name.database)}, NULL::{text})"


def _is_name(node: exp.Expr) -> bool:
    return isinstance(node, exp.Dot) and dotted_names(node) is not None


def _table_variable(node: exp.Table, name: str, alias: str | None, ctx: Context, kind: str) -> Source:
    variable = ctx.scope.table_variable(name)
    if variable is None:
        ctx.problem(f"must declare the table variable {name!r}", node, number=1087)
        return _failed(kind, ctx)
    shown = fold(alias) if alias is not None else table_variable_alias(name, ctx)
    relation = Relation(shown, variable.info.columns)
    ctx.frame.relations.append(relation)
    return Source(kind, unnest(variable, shown, ctx), relation=relation)


def table_variable_alias(name: str, ctx: Context) -> str:
    """The alias of a table variable that has none: its name, unless a table has that name too."""
    bare = fold(name.lstrip("@"))
    return bare if bare not in ctx.words else f"{bare}_rows"


def unnest(variable: TableVariable, alias: str, ctx: Context) -> str:
    """A table variable as a relation."""
    return f"unnest({variable.query_reference}) AS {quote(alias)}"


_SUBQUERY_PARTS = frozenset("this alias joins pivots with_ order limit offset for_ hints".split())


def _derived(node: exp.Subquery, ctx: Context, kind: str) -> Source:
    from .ordinary_sql_queries import query_text

    ctx.only(node, _SUBQUERY_PARTS)
    alias, columns = _alias(node)
    inner = node.this
    while isinstance(inner, exp.Subquery) and not inner.args.get("alias"):
        inner = inner.this
    query = query_text(inner, ctx)
    if alias is None:
        ctx.problem("a subquery in FROM needs an alias", node, number=102)
        alias = "q"
    shown = fold(alias)
    infos: tuple[ColumnInfo, ...] | None = None
    if query.columns is not None:
        labels = columns or [column.name or "" for column in query.columns]
        if len(labels) != len(query.columns):
            ctx.problem(f"{alias!r} has {len(query.columns)} columns, not {len(labels)}", node, number=8158)
        elif not all(labels):
            place = labels.index("") + 1
            ctx.problem(f"no column name was specified for column {place} of {alias!r}", node, number=8155)
        nullable = [value.nullable for value in query.values] if query.values is not None else []
        infos = tuple(
            ColumnInfo(label, column.type, nullable=nullable[place] if place < len(nullable) else True)
            for place, (label, column) in enumerate(zip(labels, query.columns, strict=False))
        )
    elif columns:
        infos = tuple(ColumnInfo(column, None) for column in columns)
    relation = Relation(shown, infos)
    ctx.frame.relations.append(relation)
    tail = f" ({', '.join(identifier(column) for column in columns)})" if columns else ""
    # PostgreSQL sees earlier relations from a subquery only with LATERAL; T-SQL only with APPLY.
    return Source(kind, f"({query.sql}) AS {quote(shown)}{tail}", relation=relation)


def _values(node: exp.Values, ctx: Context, kind: str) -> Source:
    alias, columns = _alias(node)
    rows = [[scalar(cell, ctx) for cell in row.expressions] for row in node.expressions]
    if alias is None or len({len(row) for row in rows}) != 1 or (columns and len(columns) != len(rows[0])):
        ctx.problem("VALUES needs rows of the same length, an alias and its column names", node, number=10709)
        return _failed(kind, ctx)
    types: list[tm.SqlType | None] = []
    for place in range(len(rows[0])):
        converted, type_ = v.reconcile([row[place] for row in rows])
        types.append(type_)
        for row, value in zip(rows, converted, strict=True):
            row[place] = value
    texts = ", ".join(f"({', '.join(value.text for value in row)})" for row in rows)
    infos = tuple(ColumnInfo(name, type_) for name, type_ in zip(columns, types, strict=False))
    relation = Relation(fold(alias), infos)
    ctx.frame.relations.append(relation)
    names = ", ".join(identifier(column) for column in columns)
    return Source(kind, f"(VALUES {texts}) AS {identifier(alias)} ({names})", relation=relation)


# ---------------------------------------------------------------- functions in FROM


def _function(node: exp.Expr, ctx: Context, kind: str) -> Source:
    """A table-valued function or the rows of .nodes()."""
    alias, columns = _alias(node)
    prefix: list[str] = []
    subject: exp.Expr | None = None
    if isinstance(node, exp.Table):
        call = node.this
        parts = [part.name for part in node.parts[:-1]]
        while isinstance(call, exp.Dot):
            names = dotted_names(call.this)
            if names is None:
                break
            parts += names
            call = call.expression
        prefix = parts
        if prefix:
            identifiers = [exp.to_identifier(part, quoted=not part.startswith("@")) for part in prefix]
            subject = exp.Column(
                this=identifiers[-1], table=identifiers[-2] if len(identifiers) > 1 else None
            )
    elif isinstance(node, exp.Dot):
        call = node.expression
        subject = node.this
        prefix = dotted_names(node.this) or []
    else:
        call = node
    if not isinstance(call, exp.Anonymous):
        ctx.problem("incorrect syntax in FROM", node, number=102)
        return _failed(kind, ctx)
    if call.name.lower() == "nodes" and subject is not None:
        return _nodes(node, subject, call, alias, columns, ctx, kind)
    if not prefix:
        return _builtin(node, call, alias, columns, ctx, kind)
    of_old = call.name.lower().startswith("fn_") and len(prefix) == 1 and prefix[0] == ""
    if (fold(prefix[-1]) == "sys" or of_old) and call.name.upper() in functions.TABLE_FUNCTIONS:
        return _builtin(node, call, alias, columns, ctx, kind)
    if of_old:
        prefix = ["sys"]
    padded: list[str | None] = [None, None, *prefix]
    name = ObjectName(call.name, padded[-1] or None, padded[-2] or None if len(prefix) > 1 else None)
    arguments = ", ".join(scalar(argument, ctx).text for argument in call.expressions)
    info = ctx.scope.table(name)
    shown = fold(alias or call.name)
    relation = Relation(shown, info.columns if info is not None else None)
    ctx.frame.relations.append(relation)
    return Source(kind, f"{ctx.relation_name(name)}({arguments}) AS {quote(shown)}", relation=relation)


def _builtin(
    node: exp.Expr, call: exp.Anonymous, alias: str | None, columns: list[str], ctx: Context, kind: str
) -> Source:
    upper = call.name.upper()
    if upper in functions.REFUSED:
        ctx.problem(f"{upper} is not supported: {functions.REFUSED[upper]}", call)
        return _failed(kind, ctx)
    known = functions.TABLE_FUNCTIONS.get(upper)
    if known is None:
        ctx.problem(
            f"invalid object name {call.name!r}",
            call,
            number=208,
            hint="a table-valued function is called with its schema",
        )
        return _failed(kind, ctx)
    kinds, result = known
    minimum, maximum = len(kinds.partition("?")[0]), len(kinds.replace("?", ""))
    if not minimum <= len(call.expressions) <= maximum:
        ctx.problem(
            f"the {call.name.lower()} function requires {minimum} to {maximum} arguments", call, number=174
        )
        return _failed(kind, ctx)
    arguments = [scalar(argument, ctx) for argument in call.expressions]
    shown = fold(alias or call.name)
    schema = call.meta.get("columns")
    if upper == "OPENXML":
        return _openxml(call, arguments, schema, shown, ctx, kind)
    if upper == "OPENJSON" and schema is not None:
        return _openjson_with(arguments, schema, shown, ctx, kind)
    infos = [ColumnInfo(name, type_) for name, type_ in result]
    if upper == "GENERATE_SERIES":
        infos = [ColumnInfo("value", arguments[0].type, nullable=False)]
    if upper == "STRING_SPLIT" and len(arguments) == 3:
        infos.append(ColumnInfo("ordinal", tm.BIGINT))
    text = f"sys.{upper.lower()}({', '.join(argument.text for argument in arguments)}) AS {quote(shown)}"
    if columns:
        infos = [replace(info, name=name) for info, name in zip(infos, columns, strict=False)]
        text += f" ({', '.join(identifier(column) for column in columns)})"
    relation = Relation(shown, tuple(infos))
    ctx.frame.relations.append(relation)
    return Source(kind, text, relation=relation)


def _openjson_with(arguments: list[Value], schema: list[Any], shown: str, ctx: Context, kind: str) -> Source:
    """OPENJSON … WITH (name type 'path' [AS JSON], …): one json_value a column."""
    texts, infos = [], []
    for name, type_node, path, as_json in schema:
        to = ctx.type_of(type_node, cast=False) or tm.NVARCHAR_MAX
        where = literal(path if path is not None else f'$."{name}"')
        if as_json:
            value = v.call("sys.json_query", "item", where, type=tm.NVARCHAR_MAX)
        else:
            text = v.call("sys.json_value", "item", where, type=tm.NVARCHAR_MAX)
            value = v.convert(text, to)
        texts.append(f"{value.text} AS {identifier(name)}")
        infos.append(ColumnInfo(name, to))
    rows = f"sys.openjson_rows({', '.join(argument.text for argument in arguments)}) AS items (item)"
    relation = Relation(shown, tuple(infos))
    ctx.frame.relations.append(relation)
    lateral = "LATERAL " if kind else ""
    item = f"{lateral}({select(expressions=texts, from_=rows)}) AS {quote(shown)}"
    return Source(kind, item, relation=relation)


def _openxml(
    call: exp.Anonymous,
    arguments: list[Value],
    schema: list[Any] | None,
    shown: str,
    ctx: Context,
    kind: str,
) -> Source:
    """OPENXML(handle, 'rows', flags) WITH (name type 'pattern', …): the nodes and value methods.

    A column without pattern is an attribute of its name (flags 1), an element (2), or
    either (3).
    """
    if schema is None:
        ctx.problem(
            "OPENXML needs WITH and the columns in parentheses", call, hint="the edge table is not made"
        )
        return _failed(kind, ctx)
    flags = arguments[2].constant if len(arguments) > 2 else 1
    by_flags = {2: ("{}",), 3: ("@{}", "{}")}.get(flags if isinstance(flags, int) else 1, ("@{}",))
    texts, infos = [], []
    upward = 0
    for name, type_node, path, _ in schema:
        if path is not None and path.startswith("@mp:"):
            ctx.problem(f"the metaproperty {path!r} of OPENXML is not supported", call)
            return _failed(kind, ctx)
        to = ctx.type_of(type_node, cast=False) or tm.NVARCHAR_MAX
        patterns = [path] if path is not None else [pattern.format(name) for pattern in by_flags]
        upward = max([upward, *(pattern.count("..") for pattern in patterns)])
        found = [f"sys.xml_value(element, {literal(f'({pattern})[1]')})" for pattern in patterns]
        text = found[0] if len(found) == 1 else f"COALESCE({', '.join(found)})"
        texts.append(f"{v.convert(Value(text, v.ATOM, tm.NVARCHAR_MAX), to).text} AS {identifier(name)}")
        infos.append(ColumnInfo(name, to))
    document = f"sys.document({arguments[0].text})"
    levels = f", upward => {upward}" if upward else ""
    rows = f"sys.xml_nodes({document}, {arguments[1].text}{levels}) AS rows (element)"
    relation = Relation(shown, tuple(infos))
    ctx.frame.relations.append(relation)
    lateral = "LATERAL " if kind else ""
    return Source(
        kind, f"{lateral}({select(expressions=texts, from_=rows)}) AS {quote(shown)}", relation=relation
    )


def _nodes(
    node: exp.Expr,
    subject_node: exp.Expr,
    call: exp.Anonymous,
    alias: str | None,
    columns: list[str],
    ctx: Context,
    kind: str,
) -> Source:
    """``x.nodes('path') AS T(c)``."""
    if alias is None or len(columns) != 1:
        ctx.problem("the nodes method needs a table alias and one column name: AS T(c)", call, number=493)
        return _failed(kind, ctx)
    literals = xml_literals(call, ctx)
    if literals is None:
        return _failed(kind, ctx)
    if len(literals) != 1:
        ctx.problem("the nodes method takes 1 argument", call, number=174)
        return _failed(kind, ctx)
    path = literals[0]
    subject = xml_subject(subject_node, ctx)
    levels = _levels_up(node)
    text = xml_nodes(
        subject, path, ctx.namespaces, lambda what, name: xml_binding(what, name, call, ctx), upward=levels
    )
    shown = fold(alias)
    relation = Relation(shown, (ColumnInfo(columns[0], None),), nodes=True)
    ctx.frame.relations.append(relation)
    second = "" if "place" not in ctx.words else ", node_place"
    return Source(kind, f"{text} AS {quote(shown)} ({identifier(columns[0])}{second})", relation=relation)


def _levels_up(node: exp.Expr) -> int | None:
    """How far above their nodes the paths look that the statement uses on columns of nodes()."""
    root = node.root()
    rows = {fold(alias.columns[0].name) for alias in root.find_all(exp.TableAlias) if len(alias.columns) == 1}
    most = 0
    for call in root.find_all(exp.Anonymous):
        if call.name.lower() not in XML_METHODS or not call.expressions:
            continue
        path = call.expressions[0]
        parent = call.parent
        names: list[str] | None = None
        if isinstance(parent, exp.Dot):
            names = dotted_names(parent.this)
        elif isinstance(parent, exp.Table):
            names = [part.name for part in parent.parts[:-1]]
        if names and fold(names[-1]) in rows and isinstance(path, (exp.Literal, exp.National)):
            levels = levels_up(path.name)
            if levels is None:
                return None
            most = max(most, levels)
    return most


# ---------------------------------------------------------------- PIVOT and UNPIVOT


def _pivoted(node: exp.Expr, pivots: list[exp.Pivot], ctx: Context, kind: str) -> Source:
    bare = node.copy()
    bare.set("pivots", None)
    frame = ctx.push()
    item = source(bare, ctx, "")
    relation = item.relation
    if relation is None or relation.columns is None or len(pivots) != 1:
        ctx.pop()
        ctx.unsupported(
            "PIVOT over a table that the script does not create",
            node,
            hint="put a derived table that lists the columns in front of PIVOT",
        )
        return _failed(kind, ctx)
    pivot = pivots[0]
    build = _unpivot if pivot.args.get("unpivot") else _pivot
    texts, infos, joins, where, group_by = build(pivot, relation, ctx)
    assert ctx.frame is frame
    ctx.pop()
    alias = pivot.args.get("alias")
    if alias is None or not alias.name:
        ctx.problem("PIVOT and UNPIVOT need an alias", pivot, number=102)
        return _failed(kind, ctx)
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
            wanted = v.convert(wanted, spread.type)
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


# ---------------------------------------------------------------- joining up, locks


def join_items(sources: list[Source]) -> tuple[str | None, list[Join]]:
    """(text after FROM, joins) for the writer."""
    if not sources:
        return None, []
    return sources[0].text, [(item.kind, item.text, item.on) for item in sources[1:]]


_EXCLUSIVE = frozenset({"UPDLOCK", "XLOCK"})
_SHARED = frozenset({"HOLDLOCK", "SERIALIZABLE", "REPEATABLEREAD"})


def locking(
    sources: list[Source], ctx: Context, *, where: str | None, plain: bool
) -> tuple[str | None, tuple[str, ...], str | None, list[Join], str | None]:
    """Turn hints into row locks: (lock clause, statements before, FROM, joins, WHERE).

    UPDLOCK and XLOCK lock the rows found FOR UPDATE, HOLDLOCK and its relatives FOR SHARE,
    READPAST passes locked rows.  ``plain`` is False where PostgreSQL allows no lock clause
    (aggregates, DISTINCT): the rows are then locked in a derived table.
    TABLOCKX, and TABLOCK with HOLDLOCK, lock the table first.
    """
    before: list[str] = []
    wanted: list[tuple[Source, str]] = []
    for item in sources:
        if not item.lockable or not item.hints:
            continue
        if "TABLOCKX" in item.hints or {"TABLOCK", "XLOCK"} <= item.hints:
            before.append(f"LOCK TABLE {item.bare} IN EXCLUSIVE MODE")
        elif "TABLOCK" in item.hints and item.hints & (_SHARED | _EXCLUSIVE):
            before.append(f"LOCK TABLE {item.bare} IN SHARE ROW EXCLUSIVE MODE")
        strength = None
        if item.hints & _EXCLUSIVE:
            strength = "FOR UPDATE"
        elif item.hints & _SHARED:
            strength = "FOR SHARE"
        elif "READPAST" in item.hints:
            strength = "FOR KEY SHARE"
        if strength is not None:
            if "READPAST" in item.hints:
                strength = f"{strength} SKIP LOCKED"
            elif "NOWAIT" in item.hints:
                strength = f"{strength} NOWAIT"
            wanted.append((item, strength))
    if not wanted:
        return None, tuple(before), *join_items(sources), where
    nullable = _nullable(sources)
    if plain and not any(item in nullable for item, _ in wanted):
        return _lock_clause(sources, wanted), tuple(before), *join_items(sources), where
    for item, strength in wanted:
        assert item.relation is not None
        alias = quote(item.relation.alias)
        condition_inside = where if len(sources) == 1 else None
        inner = select(expressions=["*"], from_=item.text, where=condition_inside, lock=strength)
        item.text = f"({inner}) AS {alias}"
        if condition_inside is not None:
            where = None
    return None, tuple(before), *join_items(sources), where


def _nullable(sources: list[Source]) -> list[Source]:
    """Items on the NULL-extended side of an outer join: PostgreSQL does not lock those."""
    out: list[Source] = []
    for position, item in enumerate(sources):
        if item.kind in ("LEFT", "FULL"):
            out.append(item)
        if item.kind in ("RIGHT", "FULL"):
            out.extend(sources[:position])
    return out


def _lock_clause(sources: list[Source], wanted: list[tuple[Source, str]]) -> str:
    if len(sources) == 1:
        return wanted[0][1]
    clauses = []
    for item, strength in wanted:
        assert item.relation is not None
        words = strength.split(" ")
        place = 3 if strength.startswith("FOR KEY SHARE") else 2
        clauses.append(" ".join([*words[:place], "OF", quote(item.relation.alias), *words[place:]]))
    return " ".join(clauses)
