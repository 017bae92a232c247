"""Whole batches: a body in a block, plain statements, modules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...grammar.source import Span
from .. import nodes
from ..catalog.names import other_than_folded
from ..catalog.objects import ResultColumn, TableInfo
from ..plpgsql import nodes as pl
from ..plpgsql.emit import top_level
from ..sql import translate
from ..sql.interface import Ddl, Dml, Query
from ..target import nodes as n
from ..target import statements as s
from . import broker_objects as _ddl  # noqa: F401
from . import control_flow as _flow  # noqa: F401

# The passes register their handlers when they are imported.
from . import cursors as _cursor  # noqa: F401
from . import dialogs as _dialog  # noqa: F401
from . import drop as _drop  # noqa: F401
from . import goto as _control_flow  # noqa: F401
from . import security as _security  # noqa: F401
from . import transactions as _transaction  # noqa: F401
from . import variables as _variables  # noqa: F401
from .context import Context
from .dispatch import invocations, lower
from .functions import lower_create_function
from .queries import remember, table_type_statement
from .receive import receive_query
from .routines import bindings, lower_create_procedure, lower_text_body
from .rules import remember_rule
from .statement_lists import comments
from .triggers import Module, lower_create_trigger, module_name
from .views import lower_create_view


def lower_batch_body(batch: nodes.Batch, ctx: Context) -> list[pl.Statement]:
    """Lower the statements of a batch to the inside of its block."""
    return [*lower_text_body(batch.statements, ctx), *comments(batch.closing_comments)]


def lower_plain(node: nodes.Statement, ctx: Context) -> list[pl.TopLevel]:
    """Lower a statement to top-level statements."""
    match node:
        case nodes.EmptyStatement():
            return []
        case nodes.SqlStatement(text=text) | nodes.CreateTable(text=text):
            if isinstance(node, nodes.SqlStatement):
                if remember_rule(node, ctx):
                    return []
                created = table_type_statement(node, ctx)
                if created is not None:
                    return [pl.Plain(statement) for statement in created]
            return _plain_sql(text, ctx)
        case nodes.Receive():
            query, received = receive_query(node, ctx)
            return [
                pl.Plain(
                    query,
                    returns_rows=True,
                    counts_rows=True,
                    columns=_spelled(received),
                    fractions=_fractions(received),
                )
            ]
    calls = invocations(node, ctx)
    if calls is None:
        ctx.problem(f"{type(node).__name__} cannot stand outside a block", node.span)
        return []
    return [pl.Select(call) for call in calls]


def _spelled(columns: tuple[ResultColumn, ...] | None) -> tuple[str | None, ...] | None:
    return None if columns is None else tuple(column.name for column in columns)


_OF_SECONDS = re.compile(r"time(?:stamp)?(?:tz)?\((\d)\)")


def _fractions(columns: tuple[ResultColumn, ...] | None) -> tuple[int | None, ...]:
    """The digits behind the seconds, as the types have them that the columns are known to be of."""
    found = (
        column.type is not None and _OF_SECONDS.fullmatch(column.type.postgres) for column in columns or ()
    )
    return tuple(int(match[1]) if match else None for match in found)


def _bind_views(tables: Sequence[TableInfo], ctx: Context) -> list[pl.TopLevel]:
    return [pl.Select(call) for call in ctx.bind_views(tables)]


def _beside(statement: n.Node) -> pl.TopLevel:
    """What has no result; a call is one of a function that has none."""
    return pl.Select(pl.Raw(statement.call)) if isinstance(statement, s.Effect) else pl.Plain(statement)


def _plain_sql(text: nodes.SqlText, ctx: Context) -> list[pl.TopLevel]:
    translated = translate.translate_statement(text, ctx.scope, ctx.problems)
    match translated:
        case Query():
            before = [_beside(one) for one in translated.before]
            columns = _spelled(translated.columns)
            query = translated.code
            shown = pl.Plain(
                query,
                returns_rows=True,
                counts_rows=True,
                columns=columns,
                fractions=_fractions(translated.columns),
            )
            return [*before, shown]
        case Dml():
            for table in translated.defines:
                ctx.define(table)
            rows = translated.output is not None
            return [
                *map(_beside, translated.before),
                pl.Plain(
                    translated.code,
                    returns_rows=rows,
                    counts_rows=True,
                    columns=_spelled(translated.output),
                    fractions=_fractions(translated.output),
                ),
                *map(_beside, translated.after),
                *_bind_views(translated.defines, ctx),
            ]
        case Ddl():
            remember(translated, ctx)
            bound = _bind_views(translated.defines, ctx)
            return [*map(_beside, translated.statements), *bound]
        case None:
            return []
    ctx.problem("this statement needs a variable", text.span)
    return []


@lower.register(nodes.CreateProcedure)
@lower.register(nodes.CreateFunction)
@lower.register(nodes.CreateTrigger)
@lower.register(nodes.CreateView)
def lower_module_inside(node: nodes.Statement, ctx: Context) -> list[pl.Statement]:
    """A module made inside a block: in dynamic SQL, or while a transaction is open."""
    made = lower_module(node, ctx)
    body: list[pl.Statement] = [pl.Perform(call) for _, call in bindings([node], ctx)]
    for item in made:
        if isinstance(item, pl.Select):
            body.append(pl.Perform(item.call))
        elif not isinstance(item, pl.Comment):
            body.append(pl.Execute(pl.Text(top_level(item)), named=tuple(pl.names(item))))
    verb = node.verb
    return [*ctx.guard(node, [*body, *ctx.status(node, pl.Number(0))], verb=verb), *ctx.autocommit(node)]


def _spelling_of_module(
    node: nodes.CreateProcedure | nodes.CreateFunction | nodes.CreateTrigger, ctx: Context
) -> list[pl.TopLevel]:
    """What keeps the spelling of a module and its parameters for catalog views, errors and later scripts.

    A DDL trigger's is in its row; ``p;2`` and ``#p`` are in no view.
    """
    name = module_name(node, ctx)
    parameters: tuple[nodes.Parameter, ...] = ()
    if isinstance(node, nodes.CreateTrigger):
        if node.target is None:
            return []
    else:
        parameters = node.parameters
        if isinstance(node, nodes.CreateProcedure) and node.number not in (None, 1):
            return []
    spelled = other_than_folded(parameter.variable.name.removeprefix("@") for parameter in parameters)
    if name.is_temporary or not (spelled or other_than_folded([name.name])):
        return []
    arguments: list[pl.Expr] = [pl.Text(ctx.catalog.sql_name(name)), pl.Text(name.name)]
    if spelled:
        arguments.append(pl.Array(tuple(map(pl.Text, spelled)), "text"))
    return [pl.Select(pl.Invoke("ssb_internal.keep_module_spelling", tuple(arguments)))]


def _keeping_of_source(node: Module, ctx: Context) -> list[pl.TopLevel]:
    """What keeps a module's text, for OBJECT_DEFINITION. What only the run time knows of it is no text."""
    if not ctx.catalog.keeps_source or ctx.text is None or ctx.placeholders:
        return []
    arguments = (pl.Text(ctx.catalog.sql_name(module_name(node, ctx))), pl.Text(_as_created(node, ctx.text)))
    return [pl.Select(pl.Invoke("ssb_internal.keep_source", arguments))]


def _as_created(node: Module, text: Span) -> str:
    """The batch with CREATE where it has ALTER, and without the OR ALTER of CREATE OR ALTER."""
    written = text.source.text
    first, second, third = node.tokens[:3]
    if first.word == "ALTER":
        return "".join((written[text.start : first.start], "CREATE", written[first.end : text.end]))
    if second.word == "OR":
        blanks = written[first.end : second.start] + written[second.end : third.start]
        return written[text.start : first.end] + blanks + written[third.end : text.end]
    return text.text


def _user_it_runs_as(node: Module, ctx: Context) -> list[pl.TopLevel]:
    """What sees that the user of EXECUTE AS 'user' is there."""
    clause = node.options.execute_as
    if clause is None or clause.user is None:
        return []
    required = pl.Invoke("ssb_internal.require_user", (pl.Text(clause.user.value),), ctx.database_argument())
    return [pl.Select(required)]


def lower_module(node: nodes.Statement, ctx: Context) -> list[pl.TopLevel]:
    """Lower CREATE PROCEDURE, FUNCTION, TRIGGER, VIEW."""
    # What the body does with synonyms it does when it runs.
    synonyms = dict(ctx.catalog.synonyms)
    made = _made_module(node, ctx)
    ctx.catalog.synonyms = synonyms
    return made


def _made_module(node: nodes.Statement, ctx: Context) -> list[pl.TopLevel]:
    made: list[pl.TopLevel]
    match node:
        case nodes.CreateProcedure():
            made = [
                *_user_it_runs_as(node, ctx),
                *lower_create_procedure(node, ctx),
                *_spelling_of_module(node, ctx),
            ]
        case nodes.CreateFunction():
            made = [
                *_user_it_runs_as(node, ctx),
                *lower_create_function(node, ctx),
                *_spelling_of_module(node, ctx),
            ]
        case nodes.CreateTrigger():
            made = [
                *_user_it_runs_as(node, ctx),
                *lower_create_trigger(node, ctx),
                *_spelling_of_module(node, ctx),
            ]
        case nodes.CreateView():
            made = lower_create_view(node, ctx)
        case _:
            ctx.problem(f"{type(node).__name__} is not expected here", node.span)
            return []
    return [*made, *_keeping_of_source(node, ctx)]
