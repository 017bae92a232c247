"""CREATE, ALTER and CREATE OR ALTER FUNCTION: scalar functions, those that fill a table, inline ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...grammar.records import replace
from ...grammar.tokens import Token
from .. import nodes
from ..analysis.declared_types import variable_names
from ..analysis.live_status import DEAD, Status
from ..analysis.mentions import calls_functions, global_variables, has_word
from ..analysis.structured_jumps import structured
from ..analysis.transaction_depth import ANY, Depths
from ..catalog.names import fold, part_name, quote, spelling_arguments, unquoted
from ..catalog.objects import ColumnInfo, TableInfo, UserFunction
from ..catalog.scope import Catalog, Scope, UnknownType, object_name
from ..catalog.types import NVARCHAR_MAX, SqlType
from ..plpgsql import nodes as pl
from ..sql import translate
from ..target import nodes as n
from ..target import queries as q
from ..target import statements as s
from .arguments import argument_value
from .context import Context, Mode
from .leaving import return_table
from .parameters import (
    conversions,
    converted,
    declare_table_parameter,
    needs_variable,
    refuse_readonly,
    taken,
)
from .routines import free_label, has_own_rights, lower_routine_body, rights
from .statement_lists import comments, place_of_last
from .variables import declare_rows, define_row_type
from .views import (
    definition_of,
    keeping_of_kept_types,
    names_its_columns,
    refuse_temporary_tables,
    schema_binding,
)


def function_signature(node: nodes.CreateFunction, catalog: Catalog) -> UserFunction:
    """Return what callers must know of a function."""

    def resolve(written: nodes.DataType) -> SqlType:
        try:
            return catalog.type_of(written)
        except UnknownType:
            return NVARCHAR_MAX

    result = resolve(node.returns) if node.returns is not None else None
    return UserFunction(
        result,
        tuple(resolve(parameter.type) for parameter in node.parameters),
        tuple(fold(parameter.variable.name.lstrip("@")) for parameter in node.parameters),
    )


def lower_create_function(node: nodes.CreateFunction, context: Context) -> list[pl.TopLevel]:
    """Lower CREATE, ALTER and CREATE OR ALTER FUNCTION."""
    catalog = context.catalog
    name = object_name(node.name)
    catalog.functions[catalog.key(name)] = function_signature(node, catalog)
    sql_name = catalog.sql_name(name)
    folded = fold(node.name.name.text)
    label = free_label(folded, node.text.tokens)
    node = replace(node, body=structured(node.body))
    scope = Scope(catalog, label=label, routine=sql_name, function=True)
    scope.schema_binding = schema_binding(node, "function")
    scope.limits_recursion = node.kind != "INLINE"
    scope.missing_rows = context.scope.missing_rows
    scope.reserve(variable_names(node.body))
    scope.reserve(parameter.variable.name for parameter in node.parameters)
    scope.taken |= {folded, unquoted(label)}
    counts = node.kind != "INLINE" and _counts(node.tokens)
    if counts:
        scope.session = scope.helper("session")
    ctx = Context(
        catalog=catalog,
        scope=scope,
        problems=context.problems,
        mode=Mode.FUNCTION,
        first_line=context.first_line,
        depths=Depths(node.body, ANY),
        liveness=Status(node.body, DEAD),
        body_label=label,
        routine_name=node.name.name.text,
        nocount=True,
    )
    if scope.session is not None:
        ctx.declarations[scope.session] = pl.Declaration(scope.session, "ssb.session")
    parameters = _parameters(node, ctx, quote(folded))
    types = ", ".join(parameter.type for parameter in parameters)
    prepare = pl.Invoke(
        "ssb_internal.prepare_module",
        (pl.Text(node.action), pl.Text("FUNCTION"), pl.Text(sql_name), pl.Text(types)),
    )
    header = pl.Routine(
        sql_name,
        tuple(parameters),
        None,
        tag=node.name.name.text,
        preface=tuple(pl.Comment(comment.text) for comment in node.comments),
    )
    routine = _BY_KIND[node.kind](node, ctx, header)
    if routine is None:
        return []
    return definition_of(node, prepare, [*ctx.prelude, routine], sql_name, ctx.scope, ctx)


def _scalar(node: nodes.CreateFunction, ctx: Context, header: pl.Routine) -> pl.Routine:
    """RETURNS a type."""
    assert node.returns is not None
    ctx.return_type = ctx.type_of(node.returns)
    routine = _with_block(node, ctx, header, ctx.return_type.postgres_bare, [pl.Return(pl.NULL)])
    if "RETURNS NULL ON NULL INPUT" not in node.options.words:
        return routine
    return replace(routine, attributes=(*routine.attributes, "STRICT"))


def _with_block(
    node: nodes.CreateFunction, ctx: Context, header: pl.Routine, returns: str, at_end: list[pl.Statement]
) -> pl.Routine:
    """Return a function of statements; ``at_end`` stands behind those that do not end with a RETURN."""
    body = _function_body(node, ctx)
    last = place_of_last(body)
    if last is None or not isinstance(body[last], pl.Return):
        body += at_end
    block = pl.Block(tuple(body), label=ctx.body_label, declarations=tuple(ctx.declarations.values()))
    attributes = (_volatility(ctx.scope), *rights(node.options))
    return replace(header, body=block, returns=returns, attributes=attributes)


def _counts(tokens: Sequence[Token]) -> bool:
    """Tell whether a function reads what its own statements left: then it has a session."""
    read = global_variables(tokens) & {"@@ROWCOUNT", "@@ERROR", "@@FETCH_STATUS"}
    return bool(read) or has_word(tokens, "ROWCOUNT_BIG", "CURSOR")


def _parameters(node: nodes.CreateFunction, ctx: Context, name: str) -> list[pl.Parameter]:
    parameters: list[pl.Parameter] = []
    needs_default = False
    for place, parameter in enumerate(node.parameters, 1):
        table = ctx.catalog.table_type_of(parameter.type)
        if table is not None:
            variable = declare_table_parameter(parameter, table, ctx, name)
            parameters.append(pl.Parameter(variable.reference, f"{table.row_type}[]"))
            continue
        refuse_readonly(parameter, ctx)
        type_ = ctx.type_of(parameter.type, place)
        own = needs_variable(type_) and node.kind != "INLINE"
        scalar = ctx.scope.declare(parameter.variable.name, type_, qualifier=None if own else name)
        if own:
            outside = taken(f"{name}.{scalar.reference}", type_)
            ctx.declarations[scalar.reference] = pl.Declaration(scalar.reference, type_.postgres, outside)
        elif node.kind == "INLINE":
            exact = converted(scalar.query_reference, type_)
            if exact is not None:
                key = parameter.variable.name.lower()
                ctx.scope.variables[key] = replace(scalar, value=pl.tree(exact))
        default = argument_value(parameter.default, type_, ctx) if parameter.default is not None else None
        if default is None and needs_default:
            default = pl.NULL
        needs_default = needs_default or default is not None
        parameters.append(pl.Parameter(scalar.reference, type_.postgres_bare, default=default))
    return parameters


def _function_body(node: nodes.CreateFunction, ctx: Context) -> list[pl.Statement]:
    body = [*lower_routine_body(node.body, ctx, node.parameters), *comments(node.closing_comments)]
    given = [ctx.scope.variable(parameter.variable.name) for parameter in node.parameters]
    body[:0] = conversions([(scalar.reference, scalar.type) for scalar in given if scalar is not None])
    if calls_functions([token for inner in node.body for token in inner.tokens]) & {
        name for _, name in ctx.catalog.functions
    }:
        # Only who calls a function can be nested deeper than the limit of 32.
        body.insert(0, pl.Perform(pl.Invoke("ssb_internal.check_nesting")))
    return body


def _table_function(node: nodes.CreateFunction, ctx: Context, header: pl.Routine) -> pl.Routine | None:
    """RETURNS @t TABLE (…): the table variable's rows are the result."""
    assert node.table is not None and node.table_variable is not None
    info = translate.translate_table_variable(
        node.table.text, node.table_variable.name, ctx.scope, ctx.problems
    )
    if info is None:
        return None
    row_type = part_name(header.name, "@row")
    define_row_type(row_type, info, ctx)
    ctx.prelude += _keeping_of_columns(node, row_type, info.columns)
    table = declare_rows(node.table_variable.name, row_type, info, ctx)
    ctx.returned_table = table.reference
    routine = _with_block(node, ctx, header, f"SETOF {row_type}", return_table(table.reference))
    _know_columns(node, info.columns, ctx)
    return routine


def _know_columns(node: nodes.CreateFunction, columns: tuple[ColumnInfo, ...], ctx: Context) -> None:
    """Let the script's later statements know what a table-valued function gives."""
    name = object_name(node.name)
    ctx.catalog.tables[ctx.catalog.key(name)] = TableInfo(name, columns, read_only=True)


def _inline(node: nodes.CreateFunction, ctx: Context, header: pl.Routine) -> pl.Routine | None:
    """An inline function: a SQL function over its query, which PostgreSQL can inline too.

    Its row type is made first: from the columns where the script tells their types, else
    from a view of the query with NULL for the parameters.
    """
    assert node.query is not None
    refuse_temporary_tables(node.query, ctx)
    query = translate.translate_query(node.query, ctx.scope, ctx.problems, named=True)
    if query is None:
        return None
    failed = "CREATE FUNCTION failed because a column name is not specified for column"
    if not names_its_columns(node, [column.name for column in query.columns or ()], 4514, failed, ctx):
        return None
    row_type = part_name(header.name, "@row")
    columns = query.columns
    if columns is not None and all(column.name and column.type for column in columns):
        infos = tuple(ColumnInfo(column.name or "", column.type) for column in columns)
        define_row_type(row_type, TableInfo(None, infos), ctx)
        ctx.prelude += _keeping_of_columns(node, row_type, infos)
        _know_columns(node, infos, ctx)
        casts = tuple(
            n.Cast(n.Name(("q", fold(column.name))), column.type.postgres if column.type else "text")
            for column in infos
        )
        rows = q.Aliased(n.Subquery(n.Alone(query.code), apart=True), "q")
        body: n.Node = q.Select(casts, rows, breaks=q.Breaks.NEVER)
    else:
        sample = _sample_view(node.query, row_type, ctx)
        if sample is None:
            return None
        named = [ColumnInfo(column.name, column.type) for column in columns or () if column.name]
        ctx.prelude += [*sample, *_keeping_of_columns(node, row_type, named)]
        body = query.code
    # Pinned it could not become part of the query that calls it, in whose search_path it is read then.
    pinned = rights(node.options) if has_own_rights(node.options) else ()
    return replace(
        header, returns=f"SETOF {row_type}", attributes=(_volatility(ctx.scope), *pinned), sql_body=body
    )


def _sample_view(query: nodes.SqlText, name: str, ctx: Context) -> list[pl.TopLevel] | None:
    """Return the making of a view whose columns are the query's, with NULL for the parameters."""
    blank = Scope(ctx.catalog, label=ctx.scope.label, limits_recursion=False)
    for key, variable in ctx.scope.variables.items():
        blank.variables[key] = replace(variable, value=n.Cast(n.NULL, variable.type.postgres_bare))
    sample = translate.translate_query(query, blank, ctx.problems)
    if sample is None:
        return None
    drop = pl.Invoke(
        "ssb_internal.drop_relation", (pl.Text("VIEW"), pl.Text(name)), (("if_exists", pl.TRUE),)
    )
    return [pl.Select(drop), pl.Plain(s.CreateView(name, n.Alone(sample.code), plain=True))]


_BY_KIND: dict[str, Callable[[nodes.CreateFunction, Context, pl.Routine], pl.Routine | None]] = {
    "SCALAR": _scalar,
    "TABLE": _table_function,
    "INLINE": _inline,
}


def _keeping_of_columns(
    node: nodes.CreateFunction, row_type: str, columns: Sequence[ColumnInfo]
) -> list[pl.TopLevel]:
    """What keeps the spelling and the types of a table-valued function's columns."""
    names = [column.name for column in columns]
    arguments = spelling_arguments(object_name(node.name), row_type, names, new=False)
    kept = pl.Invoke("ssb_internal.keep_spelling", tuple(map(pl.Raw, arguments)))
    return [*([pl.Select(kept)] if arguments else []), *keeping_of_kept_types(row_type, columns)]


def _volatility(scope: Scope) -> str:
    """Return STABLE, or VOLATILE where a table hint locks something, which PostgreSQL allows only there."""
    return "VOLATILE" if scope.locks_rows else "STABLE"
