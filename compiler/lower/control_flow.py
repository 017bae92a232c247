"""IF, WHILE, TRY, RETURN, PRINT, RAISERROR, THROW."""

from __future__ import annotations

from collections.abc import Sequence

from .. import nodes
from ..analysis.execution_switches import WhenExecuting
from ..analysis.mentions import has_query, has_word
from ..analysis.structured_jumps import NamedWhile
from ..analysis.transaction_depth import always_true
from ..catalog.types import BIGINT, INT, NVARCHAR_MAX, SMALLINT
from ..check.message_format import fits, literal_text, substitution_error
from ..plpgsql import nodes as pl
from ..target import nodes as n
from .context import Context, Loop, Mode, Try
from .dispatch import lower
from .leaving import count_tries, leave_blocks, outer_error, return_table, save_outer_error
from .parameters import needs_variable
from .results import sql
from .statement_lists import (
    comments,
    forget_options,
    lower_branch,
    lower_statements,
    options_set,
    place_of_last,
)

# ------------------------------------------------------------------ blocks, IF, WHILE


@lower.register(nodes.Block)
@lower.register(nodes.AtomicBlock)
def lower_block(node: nodes.Block | nodes.AtomicBlock, ctx: Context) -> list[pl.Statement]:
    """BEGIN … END only groups: T-SQL has no block scope, so the block disappears."""
    return [*lower_statements(node.statements, ctx), *comments(node.closing_comments)]


@lower.register
def lower_if(node: nodes.If, ctx: Context) -> list[pl.Statement]:
    """Lower IF; a chain of ELSE IF becomes ELSIF.

    A condition that can fail is computed in its own guarded statement first; when it does
    fail, neither branch runs. The condition itself sets @@ERROR and @@ROWCOUNT to 0, which
    each branch does where they are read there.
    """
    before, condition = condition_of(node.condition, ctx)
    failing = bool(before) and not ctx.tries
    branches = [(condition, _branch(node.then, ctx))]
    otherwise: tuple[pl.Statement, ...] | None = None
    rest = node.otherwise
    last: nodes.Statement = node
    while isinstance(rest, nodes.If) and not rest.comments and not failing:
        test = ctx.condition(rest.condition)
        if test.before or not (test.cannot_raise or ctx.mode is Mode.FUNCTION):
            break
        branches.append((pl.Raw(test.code), _branch(rest.then, ctx)))
        last, rest = rest, rest.otherwise
    if rest is not None:
        otherwise = _branch(rest, ctx)
    else:
        reset = ctx.status(last, pl.Number(0))
        otherwise = tuple(reset) if reset else None
    if failing and otherwise is not None:
        # NULL: the condition failed, and neither branch runs.
        branches.append((pl.Raw(n.Not(_operand(condition))), otherwise))
        otherwise = None
    return [*before, pl.If(tuple(branches), otherwise)]


@lower.register
def lower_when_executing(node: WhenExecuting, ctx: Context) -> list[pl.Statement]:
    """What runs unless NOEXEC is ON."""
    if node.otherwise is not None:
        return [pl.If(((pl.Name(f"{ctx.session}.noexec"), _nested(node.otherwise, ctx)),))]
    return [pl.If(((pl.not_set(f"{ctx.session}.noexec"), _nested(node.then, ctx)),))]


def _branch(statement: nodes.Statement, ctx: Context) -> tuple[pl.Statement, ...]:
    reset = ctx.status(statement, pl.Number(0), live=ctx.liveness.before(statement))
    return (*reset, *_nested(statement, ctx))


def _nested(statement: nodes.Statement, ctx: Context) -> tuple[pl.Statement, ...]:
    ctx.nesting += 1
    result = lower_branch(statement, ctx)
    ctx.nesting -= 1
    return tuple(result)


def condition_of(text: nodes.SqlText, ctx: Context) -> tuple[list[pl.Statement], pl.Expr]:
    """Return what computes a condition beforehand, and the condition."""
    condition = ctx.condition(text)
    locks = list(map(sql, condition.before))
    if condition.cannot_raise or ctx.mode is Mode.FUNCTION:
        return locks, pl.Raw(condition.code)
    holds = ctx.helper("condition", "boolean")
    if ctx.tries:
        return ctx.guard(text, [*locks, pl.Assign(holds, pl.Raw(condition.code))]), pl.Name(holds)
    # NULL will mean that the condition failed; unknown is false.
    answer = pl.Invoke("coalesce", (pl.Raw(condition.code), pl.FALSE))
    return [pl.Assign(holds, pl.NULL), *ctx.guard(text, [*locks, pl.Assign(holds, answer)])], pl.Name(holds)


@lower.register
def lower_while(node: nodes.While, ctx: Context) -> list[pl.Statement]:
    """Lower WHILE. Its condition sets @@ERROR and @@ROWCOUNT to 0, BREAK leaves them."""
    forever = always_true(node.condition)
    forget_options(options_set([node.body]), ctx)
    before: list[pl.Statement] = []
    condition: pl.Expr = pl.TRUE
    if not forever:
        before, condition = condition_of(node.condition, ctx)
    label = ctx.label("loop") if isinstance(node, NamedWhile) else None
    ctx.loops.append(Loop(len(ctx.tries), ctx.catches, (pl.Exit(label),), (pl.Continue(label),)))
    ctx.nesting += 1
    body = [
        *ctx.status(node, pl.Number(0), live=ctx.liveness.before(node.body)),
        *lower_branch(node.body, ctx),
    ]
    ctx.nesting -= 1
    ctx.loops.pop()
    if forever:
        return [pl.Loop(tuple(body), label=label)]
    reset = ctx.status(node, pl.Number(0))
    if not before and not (reset and _breaks(node.body)):
        return [pl.Loop(tuple(body), condition, label), *reset]
    ends = pl.Raw(n.Is(_operand(condition), "NOT TRUE"))
    leave: pl.Statement = pl.Exit(label, ends)
    if reset and isinstance(condition, pl.Name) and not ctx.tries:
        # NULL: the condition failed, and @@ERROR tells why.
        is_false = pl.Raw(n.Not(_operand(condition)))
        leave = pl.If(((ends, (pl.If(((is_false, tuple(reset)),)), pl.Exit(label))),))
    elif reset:
        leave = pl.If(((ends, (*reset, pl.Exit(label))),))
    return [pl.Loop((*before, leave, *body), label=label)]


def _breaks(statement: nodes.Statement) -> bool:
    """Tell whether the loop of this body has a BREAK."""
    if isinstance(statement, nodes.Break):
        return True
    if isinstance(statement, nodes.While):
        return False
    return any(_breaks(inner) for inner in nodes.children_of(statement))


def _operand(expression: pl.Expr) -> n.Node:
    assert isinstance(expression, pl.Name | pl.Raw)
    return n.Variable(expression.spelling) if isinstance(expression, pl.Name) else n.Paren(expression.code)


@lower.register
def lower_break(node: nodes.Break, ctx: Context) -> list[pl.Statement]:
    """Lower BREAK, which stands in a loop: check.statements has looked."""
    loop = ctx.loops[-1]
    return [*leave_blocks(ctx, loop.tries, loop.catches), *loop.leave]


@lower.register
def lower_continue(node: nodes.Continue, ctx: Context) -> list[pl.Statement]:
    """Lower CONTINUE, in a loop as well."""
    loop = ctx.loops[-1]
    return [*leave_blocks(ctx, loop.tries, loop.catches), *loop.again]


# ------------------------------------------------------------------ TRY


@lower.register
def lower_try(node: nodes.TryCatch, ctx: Context) -> list[pl.Statement]:
    """Lower TRY to a labelled block without EXCEPTION, so that COMMIT and ROLLBACK stay legal in it.

    Each statement in it that can fail leaves the block; an unresolved name (208) leaves the
    routine, for T-SQL resolves names outside TRY.
    """
    if ctx.in_function:
        ctx.problem(
            "Invalid use of a side-effecting operator 'BEGIN TRY' within a function.", node.span, number=443
        )
        return []
    label = ctx.label("try")
    session = ctx.session
    outer = save_outer_error(ctx)
    ctx.tries.append(Try(label))
    ctx.nesting += 1
    body = lower_statements(node.body, ctx)
    body += comments(node.body_comments)
    ctx.tries.pop()
    ctx.nesting -= 1
    result: list[pl.Statement] = [
        *outer,
        count_tries(session, 1, note="BEGIN TRY"),
        pl.Block(tuple(body), label=label),
        count_tries(session, -1, note="END TRY"),
    ]
    certain = not _may_fail(body)
    if not certain and _names_relations(node.body):
        result.append(pl.Exit(ctx.body_label, ctx.session_field("unresolved")))
    ctx.catches += 1
    ctx.nesting += 1
    handler: list[pl.Statement] = [
        pl.Assign(session, pl.Invoke("ssb_internal.begin_catch", (pl.Name(session),))),
        *lower_statements(node.handler, ctx),
        *comments(node.handler_comments),
    ]
    ctx.catches -= 1
    ctx.nesting -= 1
    last = place_of_last(handler)
    if last is None or not _jumps(handler[last]):
        handler.append(pl.Assign(f"{session}.caught", outer_error(ctx, ctx.catches), note="END CATCH"))
    if not certain:
        # Else nothing in TRY can fail; the handler was lowered for what it declares.
        result.append(pl.If(((ctx.session_field("leaving"), tuple(handler)),), note="BEGIN CATCH"))
    return result


def _jumps(statement: pl.Statement) -> bool:
    """Nothing behind it is reached; what the block has set up was undone on the way."""
    return isinstance(statement, pl.Exit | pl.Continue) and statement.when is None


def _may_fail(body: Sequence[pl.Statement]) -> bool:
    for statement in body:
        match statement:
            case pl.Block(handler=handler, body=inner):
                if handler is not None or _may_fail(inner):
                    return True
            case pl.Exit(label=label) if label is not None:
                return True
            case pl.If(branches=branches, otherwise=otherwise):
                if any(_may_fail(then) for _, then in branches) or (otherwise and _may_fail(otherwise)):
                    return True
            case pl.Loop(body=inner) | pl.ForRows(body=inner):
                if _may_fail(inner):
                    return True
            case pl.Case(branches=cases):
                if any(_may_fail(then) for _, then in cases):
                    return True
            case pl.Call():
                return True
    return False


def _names_relations(body: Sequence[nodes.Statement]) -> bool:
    """Tell whether a name may be unresolved: a query, an expression with one inside, or USE."""
    for statement in body:
        if isinstance(
            statement,
            nodes.SqlStatement
            | nodes.InsertExecute
            | nodes.Receive
            | nodes.WaitForMessage
            | nodes.GetConversationGroup
            | nodes.DeclareCursor
            | nodes.OpenCursor
            | nodes.CreateTable
            | nodes.DropStatement
            | nodes.ExecuteString
            | nodes.Use,
        ) or _is_executesql(statement):
            return True
        children = nodes.children_of(statement)
        if _names_relations(children):
            return True
        if isinstance(statement, nodes.If | nodes.While):
            if has_query(statement.condition.tree):
                return True
        elif not children and has_word(statement.tokens, "SELECT"):
            return True
    return False


def _is_executesql(statement: nodes.Statement) -> bool:
    if not isinstance(statement, nodes.Execute) or isinstance(statement.module, nodes.Variable):
        return False
    return statement.module.name.text.lower() == "sp_executesql"


# ------------------------------------------------------------------ RETURN


@lower.register
def lower_return(node: nodes.Return, ctx: Context) -> list[pl.Statement]:
    """Lower RETURN; in a procedure the value is its return code."""
    if ctx.mode is Mode.FUNCTION:
        if ctx.returned_table is not None:
            return return_table(ctx.returned_table)
        if node.value is None:
            return [pl.Return(pl.NULL if ctx.return_type is not None else None)]
        value = ctx.value(node.value, ctx.return_type)
        if ctx.return_type is not None and needs_variable(ctx.return_type):
            # PostgreSQL drops the precision of a result type too.
            value = pl.Cast(value, ctx.return_type.postgres)
        return [pl.Return(value)]
    leave = pl.Exit(ctx.body_label)
    if ctx.mode is not Mode.PROCEDURE or ctx.string_level:
        return [*ctx.status(node, pl.Number(1)), leave]
    session = pl.Name(ctx.session)
    if node.value is None:
        return [pl.Assign(ctx.session, pl.Invoke("ssb_internal.return_without_code", (session,))), leave]
    code = ctx.expression(node.value, INT, exact=True)
    statement = pl.Assign(ctx.session, pl.Invoke("ssb_internal.set_return", (session, pl.Raw(code.code))))
    return [*([statement] if code.cannot_raise else ctx.guard(node, [statement])), leave]


# ------------------------------------------------------------------ messages


@lower.register
def lower_print(node: nodes.Print, ctx: Context) -> list[pl.Statement]:
    """Lower PRINT."""
    printed = ctx.scope.variable(node.value.alone)
    if printed is not None and printed.type.family == "xml":
        ctx.problem(
            "Implicit conversion from data type xml to nvarchar is not allowed. Use the CONVERT function to "
            "run this query.",
            node.value.span,
            number=257,
        )
    if any(token.word == "SELECT" for token in node.value.tokens):
        ctx.problem(
            "Subqueries are not allowed in this context. Only scalar expressions are allowed.",
            node.value.span,
            number=1046,
        )
    value = ctx.expression(node.value, None)
    if value.type is not None and value.type.family == "binary":
        printing = "ssb_internal.print_bytes"
    else:
        printing, value = "ssb_internal.print", ctx.expression(node.value, NVARCHAR_MAX)
    statement = pl.Perform(pl.Invoke(printing, (pl.Raw(value.code),)))
    body = [statement, *ctx.status(node, pl.Number(0))]
    return body if value.cannot_raise else ctx.guard(node, body)


_NEEDS_LOG = (
    "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the "
    "WITH LOG option."
)
_LAST_STATE = 255
"""A state is a tinyint; a greater one is error 2756 of the statement, whatever its severity."""


@lower.register
def lower_raiserror(node: nodes.RaiseError, ctx: Context) -> list[pl.Statement]:
    """Lower RAISERROR: below severity 11 a message, else an error that TRY catches."""
    if ctx.in_function:
        ctx.problem(
            "Invalid use of a side-effecting operator 'RAISERROR' within a function.", node.span, number=443
        )
        return []
    message = ctx.expression(node.message, None)
    numbered = message.type in (INT, SMALLINT, BIGINT) or node.message.alone.isdecimal()
    if not numbered:
        message = ctx.expression(node.message, NVARCHAR_MAX)
    severity = ctx.expression(node.severity, INT)
    state = ctx.expression(node.state, INT)
    sources = [ctx.expression(argument, None).type for argument in node.arguments]
    arguments = [ctx.expression(argument, NVARCHAR_MAX) for argument in node.arguments]
    parts: list[pl.Expr] = [
        pl.Name(ctx.session),
        pl.Number(ctx.line(node)),
        pl.Raw(n.Call("sys.message_text", (message.code, severity.code, state.code)))
        if numbered
        else message.raw,
        pl.Raw(severity.code),
        pl.Raw(state.code),
    ]
    extra: list[tuple[str, pl.Expr]] = []
    written = node.severity.alone
    accepted = node.state.alone.isdecimal() and int(node.state.alone) <= _LAST_STATE
    form = None if numbered else literal_text(node.message)
    refusal = substitution_error(form, sources)
    if written.isdecimal() and int(written) > 18 and "LOG" not in node.options:
        refusal = 2754, _NEEDS_LOG
    if refusal is not None:
        parts[2:] = [pl.Text(refusal[1].replace("%", "%%")), pl.Number(16), pl.Number(1)]
        extra.append(("number", pl.Number(refusal[0])))
        return [
            *ctx.guard(
                node,
                [pl.Assign(ctx.session, pl.Invoke("ssb_internal.raiserror", tuple(parts), tuple(extra)))],
            ),
            ctx.leave_after_error(),
        ]
    if arguments:
        extra.append(("arguments", pl.Array(tuple(pl.Raw(argument.code) for argument in arguments), "text")))
    if "SETERROR" in node.options:
        extra.append(("seterror", pl.TRUE))
    if not written.isdecimal() and "LOG" not in node.options:
        extra.append(("with_log", pl.FALSE))
    if numbered:
        extra.append(("number", pl.Raw(message.code)))
    statement = pl.Assign(ctx.session, pl.Invoke("ssb_internal.raiserror", tuple(parts), tuple(extra)))
    never_raises = form is not None and fits(form, sources)
    never_raises = never_raises and all(part.cannot_raise for part in (message, severity, state, *arguments))
    body: list[pl.Statement] = [statement] if never_raises else ctx.guard(node, [statement])
    level = int(written) if written.isdecimal() else None
    if level is not None and level <= 10 and accepted:
        return body
    if ctx.mode is Mode.BATCH and not ctx.tries and not ctx.string_level and level is not None:
        return body  # no TRY anywhere: the batch goes on
    return [*body, ctx.leave_after_error(certain=level is not None and level > 10)]


@lower.register
def lower_throw(node: nodes.Throw, ctx: Context) -> list[pl.Statement]:
    """Lower THROW: to the CATCH block, or out of the batch."""
    if ctx.in_function:
        ctx.problem(
            "Invalid use of a side-effecting operator 'THROW' within a function.", node.span, number=443
        )
        return []
    session = pl.Name(ctx.session)
    line = pl.Number(ctx.line(node))
    leave = ctx.tries[-1].leave(None) if ctx.tries else pl.Exit(ctx.body_label)
    if node.number is None or node.message is None or node.state is None:
        return [pl.Assign(ctx.session, pl.Invoke("ssb_internal.rethrow", (session, line))), leave]
    parts = (
        ctx.expression(node.number, INT),
        ctx.expression(node.message, NVARCHAR_MAX),
        ctx.expression(node.state, INT),
    )
    call = pl.Invoke("ssb_internal.throw", (session, line, *(pl.Raw(part.code) for part in parts)))
    statement = pl.Assign(ctx.session, call)
    body: list[pl.Statement] = (
        [statement] if all(part.cannot_raise for part in parts) else ctx.guard(node, [statement])
    )
    return [*body, leave]
