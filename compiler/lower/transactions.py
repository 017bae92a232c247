"""BEGIN, COMMIT, ROLLBACK TRANSACTION; EXECUTE AS and REVERT.

SAVE TRANSACTION and ROLLBACK to a savepoint need a routine of another shape: see
:mod:`.state_machine`.
"""

from __future__ import annotations

from .. import nodes
from ..analysis.execution_switches import BeginImplicitly
from ..plpgsql import nodes as pl
from .context import Context, Mode
from .dispatch import invocations, lower


def _outside_routines(node: nodes.Statement, ctx: Context, words: str) -> bool:
    if ctx.mode is Mode.FUNCTION:
        ctx.problem(
            f"Invalid use of a side-effecting operator '{words}' within a function.", node.span, number=443
        )
        return False
    return True


@lower.register
def lower_begin(node: nodes.BeginTransaction, ctx: Context) -> list[pl.Statement]:
    """BEGIN TRANSACTION counts; the name of the outermost one may be named by ROLLBACK."""
    if not _outside_routines(node, ctx, "BEGIN TRANSACTION"):
        return []
    if node.mark is not None and node.name is None:
        ctx.problem(
            "The transaction name must be specified when it is used with the mark option.",
            node.span,
            number=3901,
        )
    arguments: list[pl.Expr] = [pl.Name(ctx.session)]
    if node.name is not None:
        arguments.append(transaction_name(node.name, ctx))
    return [pl.Assign(ctx.session, pl.Invoke("ssb_internal.begin_transaction", tuple(arguments)))]


@lower.register
def lower_begin_implicitly(node: BeginImplicitly, ctx: Context) -> list[pl.Statement]:
    """SET IMPLICIT_TRANSACTIONS ON: nothing where a transaction is surely open."""
    if 0 not in ctx.depths.before(node):
        return []
    return [pl.Assign(ctx.session, pl.Invoke("ssb_internal.begin_implicitly", (pl.Name(ctx.session),)))]


def transaction_name(name: nodes.Identifier | nodes.Variable, ctx: Context) -> pl.Expr:
    """The name of a transaction or a savepoint: a variable that holds one is of a character type (3914)."""
    variable = ctx.scope.variable(name.name) if isinstance(name, nodes.Variable) else None
    type_ = variable.type if variable is not None else None
    if type_ is not None and type_.family not in ("string", "user"):
        ctx.problem(
            f'The data type "{type_.name}" is invalid for transaction names or savepoint names. Allowed '
            "data types are char, varchar, nchar, varchar(max), nvarchar, and nvarchar(max).",
            name.span,
            number=3914,
        )
    return ctx.name_or_text(name)


@lower.register
def lower_commit(node: nodes.CommitTransaction, ctx: Context) -> list[pl.Statement]:
    """COMMIT: real at @@TRANCOUNT 1. Errors 3902 and 3930 go the way of all errors."""
    if not _outside_routines(node, ctx, "COMMIT TRANSACTION"):
        return []
    call = pl.Call("ssb_internal.commit_transaction", (pl.Name(ctx.session), pl.Number(ctx.line(node))))
    return [call, ctx.leave_if_failed()]


@lower.register
def lower_rollback(node: nodes.RollbackTransaction, ctx: Context) -> list[pl.Statement]:
    """ROLLBACK: real at any depth. Without a name it fails only where nothing is open."""
    if not _outside_routines(node, ctx, "ROLLBACK TRANSACTION"):
        return []
    arguments: list[pl.Expr] = [pl.Name(ctx.session), pl.Number(ctx.line(node))]
    if node.name is not None:
        arguments.append(transaction_name(node.name, ctx))
    call = pl.Call("ssb_internal.rollback_transaction", tuple(arguments))
    surely_open = node.name is None and 0 not in ctx.depths.before(node)
    return [call] if surely_open else [call, ctx.leave_if_failed()]


# ------------------------------------------------------------------ EXECUTE AS


@invocations.register
def execute_as(node: nodes.ExecuteAs, ctx: Context) -> list[pl.Invoke] | None:
    """EXECUTE AS becomes SET ROLE to the role of that name."""
    if node.kind == "CALLER" or node.principal is None:
        return [pl.Invoke("ssb_internal.execute_as", (pl.NULL,))]
    if node.cookie is not None:
        ctx.problem("EXECUTE AS … WITH COOKIE is not supported", node.span, hint="use REVERT")
    function = "ssb_internal.execute_as_login" if node.kind == "LOGIN" else "ssb_internal.execute_as"
    if node.no_revert and (ctx.mode in (Mode.PROCEDURE, Mode.TRIGGER) or ctx.string_level):
        ctx.problem(
            "Can only use the 'No Revert' or 'Cookie' options with the 'Execute As' statement at the "
            "adhoc level.",
            node.span,
            number=15590,
        )
    calls = [pl.Invoke(function, (ctx.name_or_text(node.principal),), ctx.database_argument())]
    return [*calls, pl.Invoke("ssb_internal.forbid_revert")] if node.no_revert else calls


@invocations.register
def revert(node: nodes.Revert, ctx: Context) -> list[pl.Invoke] | None:
    """REVERT goes back to the role before the last EXECUTE AS."""
    return [pl.Invoke("ssb_internal.revert")]
