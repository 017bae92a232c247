"""CREATE and ALTER VIEW, CREATE SYNONYM, and what inline functions have in common with views."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...grammar.records import replace
from ...grammar.source import Span
from ...grammar.tokens import TokenKind
from .. import nodes
from ..catalog.names import fold, spelling_arguments
from ..catalog.objects import ColumnInfo, SchemaBinding, TableInfo, keeping_of_types
from ..catalog.scope import Catalog, Scope, object_name
from ..plpgsql import nodes as pl
from ..sql import translate
from ..target import statements as s
from .context import Context
from .dispatch import invocations
from .routines import finish_alteration


def lower_create_view(node: nodes.CreateView, context: Context) -> list[pl.TopLevel]:
    """Lower CREATE VIEW and ALTER VIEW."""
    catalog = context.catalog
    name = object_name(node.name)
    # In dynamic SQL, too, a view knows nothing of the session of those that make it.
    scope = replace(context.scope, session=None, identity=None, first_identity=None, asks_identity=False)
    scope.schema_binding = schema_binding(node, "view")
    scope.limits_recursion = False
    refuse_temporary_tables(node.query, context)
    query = translate.translate_query(node.query, scope, context.problems, named=True)
    if query is None:
        return []
    listed = [column.text for column in node.columns]
    found = [column.name for column in query.columns or ()]
    if listed and found and len(listed) != len(found):
        more = len(found) > len(listed)
        context.problem(
            f"'{node.name.text}' has {'more' if more else 'fewer'} columns than were specified in the column "
            "list.",
            node.name.span,
            number=8158 if more else 8159,
        )
        return []
    failed = "Create View or Function failed because no column name was specified for column"
    if not names_its_columns(node, listed or found, 4511, failed, context):
        return []
    sql_name = catalog.sql_name(name)
    columns = tuple(fold(column.text) for column in node.columns)
    catalog.tables.pop(catalog.key(name), None)
    if query.columns is not None:
        names: Sequence[str | None] = [column.text for column in node.columns] or [
            column.name for column in query.columns
        ]
        if len(names) == len(query.columns):
            catalog.tables[catalog.key(name)] = TableInfo(
                name,
                tuple(
                    ColumnInfo(label or "", column.type, pg=column.pg)
                    for label, column in zip(names, query.columns, strict=True)
                ),
                read_only=True,
            )
    known = catalog.tables.get(catalog.key(name))
    shown = [column.name for column in known.columns] if known is not None else [c.text for c in node.columns]
    kept = [pl.Raw(argument) for argument in spelling_arguments(name, sql_name, shown)]
    prepare = pl.Invoke("ssb_internal.prepare_view", (pl.Text(node.action), pl.Text(sql_name)))
    made: list[pl.TopLevel] = [
        *(pl.Comment(comment.text) for comment in node.comments),
        pl.Plain(s.CreateView(sql_name, query.code, columns, node.check_option)),
    ]
    keeping = [
        *([pl.Select(pl.Invoke("ssb_internal.keep_spelling", tuple(kept)))] if kept else []),
        *_keeping_of_types(sql_name, known, catalog),
    ]
    return definition_of(node, prepare, made, sql_name, scope, context, keeping)


def _keeping_of_types(sql_name: str, view: TableInfo | None, catalog: Catalog) -> list[pl.TopLevel]:
    """Keep types of a view's columns that PostgreSQL's do not tell, as CREATE TABLE does."""
    columns = view.columns if view is not None else ()
    result = keeping_of_kept_types(sql_name, columns)
    kept = [
        fold(c.name) for c in columns if c.type is not None and c.type.is_string and not c.type.is_unicode
    ]
    if kept and catalog.tells_varchar:
        arguments = (pl.Text(sql_name), pl.Array(tuple(map(pl.Text, kept)), "text"))
        result.append(pl.Select(pl.Invoke("ssb_internal.keep_varchar", arguments)))
    return result


@invocations.register
def create_synonym(node: nodes.CreateSynonym, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE SYNONYM: the compiler follows it; there is a view as well, for others who ask."""
    target = object_name(node.target)
    ctx.catalog.define_synonym(object_name(node.name), target)
    name = object_name(node.name)
    sql_name = ctx.catalog.sql_name(name)
    kept = tuple(map(pl.Raw, spelling_arguments(name, sql_name)))
    return [
        pl.Invoke("ssb_internal.create_synonym", (pl.Text(sql_name), pl.Text(ctx.catalog.sql_name(target)))),
        *([pl.Invoke("ssb_internal.keep_spelling", kept)] if kept else []),
        *ctx.bind_views(),
    ]


def definition_of(
    node: nodes.CreateFunction | nodes.CreateView,
    prepare: pl.Invoke,
    made: Iterable[pl.TopLevel],
    sql_name: str,
    scope: Scope,
    ctx: Context,
    kept: Iterable[pl.TopLevel] = (),
) -> list[pl.TopLevel]:
    """Return the statements of a definition: what makes the module, and what is kept of it.

    ``scope`` is the one in which its body was translated.
    """
    # Views that waited for what was made are bound to it.
    follows = ctx.bind_views() if node.action == "CREATE" else []
    altered = [] if node.action == "CREATE" else finish_alteration(node.action, sql_name)
    result = [pl.Select(prepare), *made, *map(pl.Select, follows), *altered, *kept]
    if scope.schema_binding is not None:
        needs = pl.Array(tuple(map(pl.Text, scope.schema_binding.needs)), "text")
        result.append(pl.Select(pl.Invoke("ssb_internal.bind_to_schema", (pl.Text(sql_name), needs))))
    return result


def schema_binding(node: nodes.CreateFunction | nodes.CreateView, kind: str) -> SchemaBinding | None:
    """Return what the body of a module WITH SCHEMABINDING is translated with."""
    if "SCHEMABINDING" not in node.options.words:
        return None
    return SchemaBinding(kind, object_name(node.name), {})


_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def refuse_temporary_tables(query: nodes.SqlText, ctx: Context) -> None:
    """Report ``#t`` in the query of a view or an inline function, which outlives the session."""
    for token in query.tokens:
        if token.kind in _NAMES and token.name.startswith("#"):
            ctx.problem(
                "Views or functions are not allowed on temporary tables. Table names that begin with '#' "
                "denote temporary tables.",
                Span(query.span.source, token.start, token.end),
                number=4508,
            )
            return


def names_its_columns(
    node: nodes.CreateView | nodes.CreateFunction,
    names: Sequence[str | None],
    number: int,
    failed: str,
    ctx: Context,
) -> bool:
    """Check that each column of a view or function has a name of its own."""
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        if not name:
            ctx.problem(f"{failed} {place}.", node.name.span, number=number)
            return False
        if fold(name) in seen:
            ctx.problem(
                f"Column names in each view or function must be unique. Column name '{name}' in view or "
                f"function '{node.name.name.text}' is specified more than once.",
                node.name.span,
                number=4506,
            )
            return False
        seen.add(fold(name))
    return True


def keeping_of_kept_types(sql_name: str, columns: Iterable[ColumnInfo]) -> list[pl.TopLevel]:
    """Keep T-SQL's types of columns where PostgreSQL's do not tell them."""
    call = keeping_of_types(sql_name, columns)
    return [] if call is None else [pl.Select(pl.Invoke(call.function, tuple(map(pl.Raw, call.arguments))))]
