"""CREATE PROCEDURE, and what procedures, functions and triggers have in common: rights and bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...grammar.problems import Problem
from ...grammar.records import replace
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..analysis.callees import call_effect, callee_reads
from ..analysis.constants import Constants
from ..analysis.cursor_rows import located_cursors
from ..analysis.declared_types import variable_names
from ..analysis.live_status import BOTH, Status
from ..analysis.mentions import global_variables, names, temporary_names
from ..analysis.structured_jumps import States, Structured, structured
from ..analysis.transaction_depth import ANY, Depths
from ..catalog.names import fold, quote, unquoted
from ..catalog.scope import (
    Catalog,
    Procedure,
    ProcedureParameter,
    Scope,
    UnknownType,
    free_reference,
    object_name,
    sets_row_limit,
)
from ..catalog.types import NVARCHAR_MAX, SqlType
from ..plpgsql import nodes as pl
from .arguments import (
    argument_value,
)
from .context import SESSION_TYPE, Context, Mode
from .cursors import (
    count_definitions,
    deallocated_cursors,
    declare_cursor_parameter,
    handed_cursors,
    local_cursors,
    passed_cursors,
)
from .dispatch import lower
from .leaving import end_of_savepoints, kept_settings, leave_if_nested_too_deep
from .parameters import (
    conversions,
    converted,
    declare_table_parameter,
    may_overflow,
    needs_variable,
    pg_type,
    refuse_readonly,
    taken,
    variable_type,
)
from .statement_lists import comments, lower_body, lower_branch, place_of_last

# ------------------------------------------------------------------ signatures, rights


def signature(node: nodes.CreateProcedure, catalog: Catalog) -> Procedure:
    """Return what callers must know of a procedure. Unknown types count as text."""
    parameters: list[ProcedureParameter] = []
    references: dict[str, str] = {}
    for parameter in node.parameters:
        type_: SqlType | None = None
        table_type = catalog.table_type_of(parameter.type)
        if table_type is None and parameter.type.name.name.text.lower() != "cursor":
            try:
                type_ = catalog.type_of(parameter.type)
            except UnknownType:
                type_ = NVARCHAR_MAX
        parameters.append(
            ProcedureParameter(
                parameter.variable.name.removeprefix("@"),
                type_,
                parameter.output,
                parameter.default,
                table_type.row_type if table_type else None,
                free_reference(parameter.variable.name, references.get),
            )
        )
        references[f"@{parameters[-1].name}".lower()] = parameters[-1].reference
    name = object_name(node.name)
    used = {fold(v.lstrip("@")) for v in variable_names(node.body)}
    used |= {fold(parameter.name) for parameter in parameters}
    session = next(word for word in ("session", "ssb_session", "ssb_session_") if word not in used)
    return Procedure(name, catalog.sql_name(name), tuple(parameters), session)


# ------------------------------------------------------------------ CREATE PROCEDURE


PINNED = "SET search_path = pg_catalog, pg_temp"
"""Names are found in no schema that others may write to, whoever calls the routine."""


def has_own_rights(options: nodes.ModuleOptions) -> bool:
    """Tell whether a module runs as somebody else than its caller."""
    return options.execute_as is not None and options.execute_as.principal != "CALLER"


def rights(options: nodes.ModuleOptions) -> tuple[str, ...]:
    """Return the attributes that EXECUTE AS asks for: the owner's rights, or the caller's."""
    return (f"SECURITY DEFINER {PINNED}",) if has_own_rights(options) else (PINNED,)


def lower_create_procedure(node: nodes.CreateProcedure, context: Context) -> list[pl.TopLevel]:
    """Lower CREATE, ALTER and CREATE OR ALTER PROCEDURE.

    The hidden last parameter carries the session from caller to callee and back; an
    application leaves it out.
    """
    _warn_of_execute_as(node, context)
    catalog = context.catalog
    procedure = signature(node, catalog)
    catalog.define_procedure(procedure)
    name = fold(node.name.name.text)
    label = free_label(name, node.text.tokens)
    # Where the routine's name means something else in it, all parameters are copied into variables.
    copied = [p for p in procedure.parameters if label != quote(name) or needs_variable(p.type)]
    if copied:
        label = quote(fold(f"{name}_body"))
    node = replace(node, body=structured(node.body))
    ctx = _context_of(node, procedure, label, context)
    caller = ctx.outer_helper("caller", SESSION_TYPE)
    parameters = _parameters(node, procedure, copied, ctx)
    entry = _entry(procedure, copied, quote(name), ctx)
    kept = _keep_outputs([p for p in procedure.parameters if p not in copied], ctx)
    body = _body(node, [parameter for parameter in copied if parameter.output], ctx)
    session = pl.Name(ctx.session)
    keep, put_back = kept_settings(node.body, ctx)
    outer: list[pl.Statement] = [
        *refuse_planted(node.text.tokens),
        pl.Call("ssb_internal.enter", (session, pl.Name(caller), pl.Text(node.name.name.text))),
        *keep,
        pl.Block(
            (leave_if_nested_too_deep(label, ctx.session), *entry, *body),
            label=label,
            declarations=tuple(ctx.declarations.values()),
        ),
    ]
    outer += [*end_of_savepoints(ctx), *put_back, *ctx.drop_temporary_tables()]
    if kept:
        outer.append(pl.If(((ctx.session_field("leaving"), tuple(kept)),)))
    outer.append(pl.Assign(ctx.session, pl.Invoke("ssb_internal.leave", (session, pl.Name(caller)))))
    block = pl.Block(tuple(outer), declarations=tuple(ctx.frame.declarations.values()))
    arguments = ", ".join([*(pg_type(parameter) for parameter in procedure.parameters), SESSION_TYPE])
    prepare = pl.Invoke(
        "ssb_internal.prepare_module",
        (pl.Text(node.action), pl.Text("PROCEDURE"), pl.Text(procedure.sql_name), pl.Text(arguments)),
        () if node.action == "CREATE" else (("p_parameters", _shape(parameters)),),
    )
    routine = pl.Routine(
        procedure.sql_name,
        tuple(parameters),
        block,
        tag=node.name.name.text,
        preface=tuple(pl.Comment(comment.text) for comment in node.comments),
    )
    return [pl.Select(prepare), *ctx.prelude, routine, *finish_alteration(node.action, procedure.sql_name)]


def _warn_of_execute_as(node: nodes.CreateProcedure, ctx: Context) -> None:
    clause = node.options.execute_as
    if clause is not None and clause.principal != "CALLER":
        ctx.problems.add(
            "EXECUTE AS of a procedure is recorded in the source only: it runs with its caller's rights",
            clause.span,
            hint="PostgreSQL allows no COMMIT in a procedure that runs with its owner's rights",
            severity="warning",
        )


def _context_of(node: nodes.CreateProcedure, procedure: Procedure, label: str, context: Context) -> Context:
    """Return the context of a procedure's body, in which its variables are reserved."""
    catalog = context.catalog
    scope = Scope(catalog, label=label, routine=procedure.sql_name)
    scope.reserve(variable_names(node.body))
    scope.reserve(parameter.variable.name for parameter in node.parameters)
    scope.taken |= {unquoted(label), fold(node.name.name.text), procedure.session}
    scope.session = procedure.session
    scope.limits_rows = sets_row_limit(node.body)
    return Context(
        catalog=catalog,
        scope=scope,
        problems=context.problems,
        mode=Mode.PROCEDURE,
        first_line=context.first_line,
        depths=Depths(node.body, ANY, call_effect(catalog), careful=True),
        liveness=Status(node.body, BOTH, callee_reads(catalog)),
        body_label=label,
        routine_name=node.name.name.text,
    )


def _parameters(
    node: nodes.CreateProcedure, procedure: Procedure, copied: Sequence[ProcedureParameter], ctx: Context
) -> list[pl.Parameter]:
    """Declare the parameters, those that are ``copied`` as variables; the session comes last."""
    result: list[pl.Parameter] = []
    defaults = False
    pairs = zip(node.parameters, procedure.parameters, strict=True)
    for place, (written, known) in enumerate(pairs, 1):
        result.append(_parameter(written, known, ctx, must_default=defaults))
        defaults = defaults or result[-1].default is not None
        name = None if known in copied else quote(fold(node.name.name.text))
        _declare_parameter(written, known, ctx, name, place)
    return [*result, pl.Parameter(ctx.session, SESSION_TYPE, "INOUT", pl.NULL)]


def _body(
    node: nodes.CreateProcedure, given_back: Sequence[ProcedureParameter], ctx: Context
) -> list[pl.Statement]:
    """Return the body, and behind it what copies its OUTPUT parameters back unless it failed."""
    name = fold(node.name.name.text)
    if given_back:
        ctx.body_label = quote(fold(f"{name}_statements"))
    body = [*lower_routine_body(node.body, ctx, node.parameters), *comments(node.closing_comments)]
    if not given_back:
        return body
    back = tuple(pl.Assign(f"{quote(name)}.{p.reference}", pl.Name(p.reference)) for p in given_back)
    return [
        pl.Block(tuple(body), label=ctx.body_label),
        pl.If(((pl.not_set(f"{ctx.session}.leaving"), back),)),
    ]


def refuse_planted(tokens: Sequence[Token]) -> list[pl.Statement]:
    """Return what begins a module that names temporary objects, in a string too.

    Where it runs with rights that its caller lacks, an object of the caller's that does something of
    its own is refused.
    """
    names = sorted(temporary_names(tokens))
    if not names:
        return []
    array = pl.Array(tuple(map(pl.Text, names)), "text")
    return [pl.Perform(pl.Invoke("ssb_internal.refuse_planted", (array,)))]


def _entry(
    procedure: Procedure, copied: Sequence[ProcedureParameter], name: str, ctx: Context
) -> list[pl.Statement]:
    """Convert the arguments to the declared types, into variables those that are ``copied``.

    What does not fit fails the EXEC (8114).
    """
    risky: list[pl.Statement] = []
    for parameter in copied:
        reference = parameter.reference
        outside = f"{name}.{reference}"
        exact = pg_type(parameter) if parameter.type is None else parameter.type.postgres
        initial: pl.Expr | None = converted(outside, parameter.type) or pl.Name(outside)
        if may_overflow(parameter.type):
            initial = None
            risky.append(pl.Assign(reference, pl.Name(outside)))
        elif parameter.type is not None and needs_variable(parameter.type):
            initial = taken(outside, parameter.type)
        ctx.declarations[reference] = pl.Declaration(reference, exact, initial)
    result = conversions([(p.reference, p.type) for p in procedure.parameters if p not in copied])
    if risky:
        arguments = (pl.Name(ctx.session), pl.Number(0), pl.Text(ctx.routine_name or ""))
        failed = pl.Invoke(
            "ssb_internal.failed_argument",
            (*arguments, pl.Name("SQLSTATE"), pl.Name("SQLERRM"), pl.Text("numeric")),
        )
        handler = (pl.Assign(ctx.session, failed), pl.Exit(ctx.body_label))
        result.append(pl.Block(tuple(risky), handler=handler))
    return result


def _shape(parameters: Sequence[pl.Parameter]) -> pl.Expr:
    """What PostgreSQL's CREATE OR REPLACE cannot change of parameters, as prepare_module compares it."""
    shapes = (
        f"{parameter.mode} {fold(unquoted(parameter.name))}{' =' if parameter.default is not None else ''}"
        for parameter in parameters
    )
    return pl.Array(tuple(map(pl.Text, shapes)), "text")


def _parameter(
    written: nodes.Parameter, known: ProcedureParameter, ctx: Context, *, must_default: bool
) -> pl.Parameter:
    default: pl.Expr | None = pl.NO_ROWS if known.table_type is not None else None
    if written.default is not None:
        default = argument_value(written.default, known.type, ctx)
    elif must_default and default is None:
        # PostgreSQL wants a default behind every parameter that has one; NULL stands for "none".
        default = pl.NULL
    return pl.Parameter(known.reference, pg_type(known), "INOUT" if known.output else "IN", default)


def _declare_parameter(
    written: nodes.Parameter, known: ProcedureParameter, ctx: Context, qualifier: str | None, place: int
) -> None:
    name = written.variable.name
    table = ctx.catalog.table_type_of(written.type)
    if table is not None:
        declare_table_parameter(written, table, ctx, qualifier)
        return
    refuse_readonly(written, ctx)
    if known.type is None:
        declare_cursor_parameter(written.variable, known.reference, ctx)
    else:
        ctx.scope.declare(name, ctx.type_of(written.type, place), qualifier=qualifier)


def _keep_outputs(parameters: Sequence[ProcedureParameter], ctx: Context) -> list[pl.Statement]:
    """OUTPUT parameters stay as they were when an error ends the procedure: keep them at entry."""
    result: list[pl.Statement] = []
    for parameter in parameters:
        if not parameter.output:
            continue
        name = ctx.scope.helper(f"{fold(parameter.name)}_at_entry")
        kept = pl.Declaration(name, variable_type(parameter), pl.Name(parameter.reference))
        ctx.frame.declarations[name] = kept
        result.append(pl.Assign(parameter.reference, pl.Name(name)))
    return result


def bindings(statements: Sequence[nodes.Statement], ctx: Context) -> list[tuple[Problem, pl.Invoke]]:
    """Return what finds the columns that the compiler did not, before anything of a batch or module runs.

    Dynamic SQL in it finds its own when it runs.
    """
    found: list[tuple[Problem, pl.Invoke]] = []
    whole = statements[0].span.to(statements[-1].span) if statements else None
    for problem in ctx.problems.unbound:
        unbound = problem.unbound
        if unbound is None or unbound.relations is None or whole is None or not whole.holds(problem.span):
            continue
        relations = pl.Array(tuple(map(pl.Text, unbound.relations)), "text")
        owner = pl.NULL if unbound.owner is None else pl.Text(unbound.owner)
        told = (owner, pl.Text(unbound.name), pl.Number(problem.number or 207), pl.Text(problem.message))
        found.append((problem, pl.Invoke("ssb_internal.bind_column", (relations, *told))))
    return found


def lower_text_body(statements: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Lower a batch, or a text that is executed, behind what finds its columns."""
    body = lower_routine_body(statements, ctx)
    found: list[pl.Statement] = []
    for problem, call in bindings(statements, ctx):
        line = pl.Number(problem.span.line - ctx.first_line + 1)
        errors = (pl.Name(ctx.session), line, pl.Name("SQLSTATE"), pl.Name("SQLERRM"))
        failed = pl.Assign(ctx.session, pl.Invoke("ssb_internal.failed", errors))
        found.append(pl.Block((pl.Perform(call),), handler=(failed, pl.Exit(ctx.body_label))))
    return [*found, *body]


_RECEIVING = (nodes.Receive, nodes.WaitForMessage, nodes.GetConversationGroup)


def lower_routine_body(
    body: Sequence[nodes.Statement], ctx: Context, parameters: Sequence[nodes.Parameter] = ()
) -> list[pl.Statement]:
    """Lower the body of a routine, its jumps structured; a lone BEGIN … END around it disappears."""
    statements: tuple[nodes.Statement, ...] = tuple(body)
    ctx.constants = Constants(statements, {one.variable.key: one.type for one in parameters})
    ctx.cursor_definitions = count_definitions(statements)
    ctx.deallocated_cursors = deallocated_cursors(statements)
    ctx.scope.local_cursors = local_cursors(statements)
    ctx.passed_cursors = passed_cursors(statements)
    ctx.handed_cursors = handed_cursors(statements, {*ctx.passed_cursors, *ctx.scope.cursor_variables})
    ctx.located_cursors = located_cursors(statements)
    if ctx.mode is Mode.PROCEDURE and any(isinstance(one, _RECEIVING) for one in nodes.all_of(statements)):
        ctx.receiving = statements
    asked = _watch_identity(statements, ctx) if ctx.mode is not Mode.FUNCTION else []
    if len(statements) == 1 and isinstance(statements[0], Structured | States):
        return [*asked, *lower(statements[0], ctx)]
    if len(statements) == 1 and isinstance(statements[0], nodes.Block):
        result = [*comments(statements[0].comments), *lower_branch(statements[0], ctx)]
    else:
        result = lower_body(statements, ctx)
    last = place_of_last(result)
    if last is not None and result[last] == pl.Exit(ctx.body_label):
        del result[last]  # RETURN at the very end
    return [*asked, *result]


def _watch_identity(body: Sequence[nodes.Statement], ctx: Context) -> list[pl.Statement]:
    """Have SCOPE_IDENTITY() read what this body inserted, @@IDENTITY what triggers and callees did too.

    PostgreSQL's lastval() tells what was drawn last, also by SEND.
    """
    tokens = [token for statement in body for token in statement.tokens]
    before = pl.Invoke("sys.scope_identity") if ctx.mode is Mode.BATCH else None
    if "scope_identity" in names(tokens):
        ctx.scope.identity = ctx.new_variable("scope_identity", "numeric", before)
    if "@@IDENTITY" not in global_variables(tokens) or ctx.scope.session is None:
        return []
    if ctx.mode is Mode.TRIGGER:
        ctx.scope.first_identity = ctx.new_variable("first_identity", "numeric", pl.Invoke("sys.identity"))
        return []
    ctx.scope.asks_identity = True
    fresh = pl.TRUE if ctx.mode is Mode.BATCH and not ctx.string_level else pl.FALSE
    ask = pl.Invoke("ssb_internal.ask_identity", (pl.Name(ctx.session), fresh))
    return [pl.Assign(ctx.session, ask)]


def finish_alteration(action: str, sql_name: str) -> list[pl.TopLevel]:
    """Return what follows ALTER and CREATE OR ALTER: a module made anew stays whose it was."""
    if action == "CREATE":
        return []
    return [pl.Select(pl.Invoke("ssb_internal.finish_alteration", (pl.Text(sql_name),)))]


def free_label(name: str, tokens: Sequence[Token]) -> str:
    """Return a block label: the routine's name, unless the text uses it as an identifier elsewhere."""
    times = Counter(token.name for token in tokens if token.kind in _NAMES)
    seen = sum(count for written, count in times.items() if fold(written) == name)
    return quote(name) if seen <= 1 else quote(fold(f"{name}_body"))


_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
