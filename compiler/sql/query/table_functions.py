"""Functions in FROM: the user's, the built-in ones, OPENJSON, OPENXML, .nodes()."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from ....grammar.records import replace
from ...catalog import types as tm
from ...catalog.names import ObjectName, fold
from ...catalog.objects import ColumnInfo
from ...target import nodes as n
from ...target import queries as q
from .. import values as v
from ..context import Context, Relation, object_name
from ..conversions import convert
from ..expressions.calls import dotted_names, user_arguments, xml_binding, xml_literals, xml_subject
from ..expressions.names import scalar
from ..from_items import Source, alias_of, failed
from ..functions import builtin
from ..functions.xml_methods import XML_METHODS, levels_up, xml_nodes
from ..parse.nodes import is_default, is_variable
from ..values import Value

# A name with a prefix in a path: not an axis, as in child::a.
_PREFIXED = re.compile(r"[\w.-]:[^:]")


def table_function(node: exp.Expr, ctx: Context, kind: str) -> Source:
    """A table-valued function or the rows of .nodes()."""
    alias, columns = alias_of(node)
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
        return failed(kind, ctx)
    if call.name.lower() == "nodes" and subject is not None:
        return _nodes(node, subject, call, alias, columns, ctx, kind)
    upper = call.name.upper()
    if not prefix and (upper in builtin.TABLE_FUNCTIONS or upper in builtin.REFUSED):
        return _builtin(call, alias, columns, ctx, kind)
    of_old = call.name.lower().startswith("fn_") and len(prefix) == 1 and prefix[0] == ""
    if prefix and (fold(prefix[-1]) == "sys" or of_old) and upper in builtin.TABLE_FUNCTIONS:
        return _builtin(call, alias, columns, ctx, kind)
    if of_old:
        prefix = ["sys"]
    padded: list[str | None] = [None, None, *prefix]
    name = ObjectName(call.name, padded[-1] or None, padded[-2] or None if len(prefix) > 1 else None)
    ctx.bind(name, node, is_function=True)
    known_function = ctx.scope.user_function(ctx.scope.synonym(name))
    arguments = tuple(user_arguments(call, known_function, ctx, prefix))
    info = ctx.scope.table(name)
    if info is None and known_function is None:
        ctx.read.append(None)
    shown = fold(alias or call.name)
    found = info.columns if info is not None else None
    if columns:
        known = found or tuple(ColumnInfo(column, None) for column in columns)
        found = tuple(replace(one, name=column) for one, column in zip(known, columns, strict=False))
    relation = Relation(shown, found)
    ctx.frame.relations.append(relation)
    rows = n.Call(ctx.relation_name(name), arguments)
    if info is None:
        ctx.scope.note_missing_rows(name)
    return Source(kind, q.Aliased(rows, shown, tuple(map(fold, columns))), relation=relation)


def _builtin(call: exp.Anonymous, alias: str | None, columns: list[str], ctx: Context, kind: str) -> Source:
    upper = call.name.upper()
    if upper in builtin.REFUSED:
        ctx.problem(f"{upper} is not supported: {builtin.REFUSED[upper]}", call)
        return failed(kind, ctx)
    kinds, result = builtin.TABLE_FUNCTIONS[upper]
    minimum, maximum = len(kinds.partition("?")[0]), len(kinds.replace("?", ""))
    if not minimum <= len(call.expressions) <= maximum:
        error = builtin.wrong_arity(call.name, minimum, maximum)
        ctx.problem(str(error), call, number=error.number)
        return failed(kind, ctx)
    arguments = [v.NULL if is_default(argument) else scalar(argument, ctx) for argument in call.expressions]
    shown = fold(alias or call.name)
    schema = call.meta.get("columns")
    if upper == "OPENXML":
        if (like := call.meta.get("like")) is not None:
            return _openxml_like(like, call, arguments, shown, ctx, kind)
        if schema is None:
            ctx.problem(
                "OPENXML needs its columns behind WITH, or a table", call, hint="the edge table is not made"
            )
            return failed(kind, ctx)
        typed = [
            (name, ctx.type_of(type_node, cast=False) or tm.NVARCHAR_MAX, path)
            for name, type_node, path, _ in schema
        ]
        return _openxml(call, arguments, typed, shown, ctx, kind)
    if upper == "OPENJSON" and schema is not None:
        return _openjson_with(call, arguments, schema, shown, ctx, kind)
    infos = [ColumnInfo(name, type_) for name, type_ in result]
    if upper == "GENERATE_SERIES":
        infos = [ColumnInfo("value", arguments[0].type, nullable=False)]
    if upper == "STRING_SPLIT" and len(arguments) == 3:
        if arguments[2].constant == 1:
            infos.append(ColumnInfo("ordinal", tm.BIGINT))
        else:  # SQL Server takes a constant here: 0 and NULL ask for no ordinals
            arguments.pop()
    if columns:
        infos = [replace(info, name=name) for info, name in zip(infos, columns, strict=False)]
    relation = Relation(shown, tuple(infos), declared=True)
    ctx.frame.relations.append(relation)
    rows = n.Call(f"sys.{upper.lower()}", tuple(argument.code for argument in arguments))
    return Source(kind, q.Aliased(rows, shown, tuple(map(fold, columns))), relation=relation)


def _openjson_with(
    call: exp.Anonymous, arguments: list[Value], schema: list[Any], shown: str, ctx: Context, kind: str
) -> Source:
    """OPENJSON … WITH (name type 'path' [AS JSON], …): one json_value a column."""
    items: list[n.Node] = []
    infos = []
    for name, type_node, path, as_json in schema:
        to = ctx.type_of(type_node, cast=False) or tm.NVARCHAR_MAX
        where = n.Text(path if path is not None else f'$."{name}"')
        item = n.Name(("item",))
        if as_json and to != tm.NVARCHAR_MAX:
            ctx.problem(
                "AS JSON option can be specified only for column of nvarchar(max) type in WITH clause.",
                call,
                number=13618,
            )
        if as_json:
            value = v.call("sys.json_query", item, where, type=tm.NVARCHAR_MAX)
        else:
            text = v.call("sys.json_value", item, where, type=tm.NVARCHAR_MAX)
            value = convert(text, to)
        items.append(q.Labelled(value.code, fold(name)))
        infos.append(ColumnInfo(name, to))
    rows = n.Call("sys.openjson_rows", tuple(argument.code for argument in arguments))
    relation = Relation(shown, tuple(infos), declared=True)
    ctx.frame.relations.append(relation)
    return _rows_read(q.Select(tuple(items), q.Aliased(rows, "items", ("item",))), shown, relation, kind)


def _openxml_like(
    like: exp.Table, call: exp.Anonymous, arguments: list[Value], shown: str, ctx: Context, kind: str
) -> Source:
    """OPENXML … WITH t: the columns of a table, by name and type, without patterns."""
    if is_variable(like):
        ctx.problem(f"Incorrect syntax near '{like.name}'.", like, number=102)
        return failed(kind, ctx)
    name = object_name(like)
    info = ctx.scope.table(name)
    ctx.bind(name, like)
    columns = (info.columns or ()) if info is not None and not info.partial else ()
    schema = [(one.name, one.type, None) for one in columns if one.type is not None]
    if schema and len(schema) == len(columns):
        return _openxml(call, arguments, schema, shown, ctx, kind)
    refused = ctx.unsupported_if_there(
        "OPENXML with the columns of a table that the script does not create",
        like,
        "write its columns in parentheses behind WITH",
    )
    if refused is None:
        return failed(kind, ctx)
    ctx.frame.relations.append(Relation(shown, None))
    # A row at least, whatever the table has: 208 where there is none.
    one = q.Aliased(n.Subquery(q.Values(((n.Integer(1),),))), "one", ("row",))
    rows = q.Select((refused, n.STAR), one, (q.Join("LEFT", n.Variable(ctx.relation_name(name)), n.TRUE),))
    return Source(kind, q.Aliased(n.Subquery(rows), shown))


def _openxml(
    call: exp.Anonymous,
    arguments: list[Value],
    schema: Sequence[tuple[str, tm.SqlType, str | None]],
    shown: str,
    ctx: Context,
    kind: str,
) -> Source:
    """OPENXML(handle, 'rows', flags) WITH (name type 'pattern', …): the nodes and value methods.

    A column without pattern is an attribute of its name (flags 1), an element (2), or
    either (3).
    """
    flags = arguments[2].constant if len(arguments) > 2 else 1
    by_flags = {2: ("{}",), 3: ("@{}", "{}")}.get(flags if isinstance(flags, int) else 1, ("@{}",))
    items: list[n.Node] = []
    infos = []
    upward = 0

    # A path without prefixes needs no namespaces: it is a constant, which the plan keeps.
    known = n.Call("sys.document_namespaces", (arguments[0].code,))

    def value_of(pattern: str) -> n.Node:
        path = n.Text(f"({pattern})[1]")
        if not _PREFIXED.search(pattern):
            return n.Call("sys.xml_value", (n.Name(("element",)), path))
        plan = n.Call("ssb_internal.xq_compile", (path, n.Text("value"), known))
        once = n.Subquery(q.Select((plan,)))  # for each query, not for each row
        return n.Call("ssb_internal.xq_value", (n.Name(("element",)), once, n.NULL))

    for name, to, path in schema:
        if path is not None and path.startswith("@mp:"):
            ctx.problem(f"the metaproperty {path!r} of OPENXML is not supported", call)
            return failed(kind, ctx)
        patterns = [path] if path is not None else [pattern.format(name) for pattern in by_flags]
        upward = max([upward, *(pattern.count("..") for pattern in patterns)])
        found = [value_of(pattern) for pattern in patterns]
        code = found[0] if len(found) == 1 else n.Call("COALESCE", tuple(found))
        items.append(q.Labelled(convert(Value(code, tm.NVARCHAR_MAX), to).code, fold(name)))
        infos.append(ColumnInfo(name, to))
    document = n.Call("sys.document", (arguments[0].code,))
    options = [n.NamedArgument("upward", n.Integer(upward))] if upward else []
    where = arguments[1].constant
    if not isinstance(where, str) or _PREFIXED.search(where):
        options.append(n.NamedArgument("namespaces", known))
    rows = n.Call("sys.xml_nodes", (document, arguments[1].code, *options))
    relation = Relation(shown, tuple(infos), declared=True)
    ctx.frame.relations.append(relation)
    return _rows_read(q.Select(tuple(items), q.Aliased(rows, "rows", ("element",))), shown, relation, kind)


def _rows_read(query: q.Select, shown: str, relation: Relation, kind: str) -> Source:
    """A query over a function's rows; what is joined may read columns of what stands before it."""
    item = q.Aliased(n.Subquery(query), shown, lateral=bool(kind))
    return Source(kind, item, relation=relation)


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
        ctx.problem(
            "The table (and its columns) returned by a table-valued method need to be aliased.",
            call,
            number=318,
            hint="AS T(c)",
        )
        return failed(kind, ctx)
    literals = xml_literals(call, ctx)
    if literals is None:
        return failed(kind, ctx)
    if len(literals) != 1:
        ctx.problem("The nodes function requires 1 argument(s).", call, number=174)
        return failed(kind, ctx)
    path = literals[0]
    subject = xml_subject(subject_node, ctx)
    levels = _levels_up(node)
    rows = xml_nodes(
        subject, path, ctx.namespaces, lambda what, name: xml_binding(what, name, call, ctx), upward=levels
    )
    shown = fold(alias)
    relation = Relation(shown, (ColumnInfo(columns[0], None),), nodes=True, declared=True)
    ctx.frame.relations.append(relation)
    second = () if "place" not in ctx.words else ("node_place",)
    return Source(kind, q.Aliased(rows, shown, (fold(columns[0]), *second)), relation=relation)


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
