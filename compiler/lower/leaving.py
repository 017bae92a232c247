"""Leaving TRY and CATCH blocks, and routines: what has to be undone on the way."""

from __future__ import annotations

from collections.abc import Sequence

from .. import nodes
from ..plpgsql import nodes as pl
from ..target import nodes as n
from ..target import queries as q
from .context import Context, Mode

_OF_THE_CONNECTION = {
    "LOCK_TIMEOUT": ("lock_timeout",),
    "TRANSACTION ISOLATION LEVEL": ("default_transaction_isolation", "pgsb.snapshot"),
}
"""Options of SET that are settings of the connection."""


def leave_blocks(ctx: Context, tries: int, catches: int) -> list[pl.Statement]:
    """Undo what TRY and CATCH blocks have set up, on the way to where so many of them are around."""
    result: list[pl.Statement] = []
    if ctx.scope.session is None:
        return result
    if len(ctx.tries) > tries:
        result.append(count_tries(ctx.session, tries - len(ctx.tries)))
    if ctx.catches > catches:
        result.append(pl.Assign(f"{ctx.session}.caught", outer_error(ctx, catches)))
    return result


def count_tries(session: str, change: int, note: str | None = None) -> pl.Assign:
    """Into or out of TRY blocks: triggers are told too, whose errors the CATCH block gets."""
    depth = f"{session}.try_depth"
    changed = pl.with_number(depth, "+" if change > 0 else "-", abs(change)) if change else pl.Name(depth)
    return pl.Assign(depth, pl.Invoke("ssb_internal.tries", (changed,)), note=note)


def save_outer_error(ctx: Context) -> list[pl.Statement]:
    """TRY inside CATCH: keep the outer error, which an inner one replaces for a while."""
    if not ctx.catches:
        return []
    name = ctx.outer_helper(f"caught_{ctx.catches}", "ssb.error")
    return [pl.Assign(name, ctx.session_field("caught"))]


def outer_error(ctx: Context, catches: int) -> pl.Expr:
    """Return what ERROR_NUMBER() and its family show inside ``catches`` CATCH blocks."""
    if catches:
        return pl.Name(ctx.outer_helper(f"caught_{catches}", "ssb.error"))
    if ctx.mode is Mode.PROCEDURE:
        return pl.Name(f"{ctx.outer_helper('caller', 'ssb.session')}.caught")
    return pl.NULL


def leave_if_nested_too_deep(label: str, session: str) -> pl.Exit:
    """First in a module: enter and enter_string of ssb_internal raise error 217 beyond 32 levels."""
    return pl.Exit(label, pl.Name(f"{session}.leaving"), note="nested deeper than 32")


def kept_settings(
    body: Sequence[nodes.Statement], ctx: Context
) -> tuple[list[pl.Statement], list[pl.Statement]]:
    """What SET and EXECUTE AS change for the connection: kept where module or string begins, and restored."""
    options = {name for one in nodes.all_of(body) if isinstance(one, nodes.SetOption) for name in one.names}
    keep: list[pl.Statement] = []
    put_back: list[pl.Statement] = []

    def kept(setting: str) -> pl.Expr:
        name = setting.removeprefix("pgsb.")
        variable = ctx.scope.helper(f"{name}_kept")
        ctx.frame.declarations[variable] = pl.Declaration(variable, "text")
        if_any = () if name == setting else (pl.TRUE,)
        keep.append(pl.Assign(variable, pl.Invoke("current_setting", (pl.Text(setting), *if_any))))
        return pl.Name(variable)

    for setting in (
        one for option, settings in _OF_THE_CONNECTION.items() if option in options for one in settings
    ):
        restored = (pl.Text(setting), kept(setting), pl.FALSE)
        put_back.append(pl.Perform(pl.Invoke("set_config", restored)))
    if ctx.mode is Mode.TRIGGER and "NOCOUNT" in options:
        # Procedures and strings leave their caller's to ssb_internal.leave.
        restored = (pl.Text("pgsb.nocount_now"), kept("pgsb.nocount_now"), pl.FALSE)
        put_back.append(pl.Perform(pl.Invoke("set_config", restored)))
    if options & {"DATEFIRST", "DATEFORMAT", "LANGUAGE"}:
        variable = ctx.scope.helper("date_options_kept")
        ctx.frame.declarations[variable] = pl.Declaration(variable, "text[]")
        names = tuple(map(pl.Text, ("pgsb.language", "pgsb.datefirst", "pgsb.dateformat")))
        keep.append(pl.Assign(variable, pl.Invoke("ssb_internal.settings", names)))
        put_back.append(pl.Perform(pl.Invoke("ssb_internal.restore_settings", (pl.Name(variable),))))
    if any(isinstance(one, nodes.ExecuteAs) for one in nodes.all_of(body)):
        roles = kept("pgsb.roles")
        put_back.append(pl.Perform(pl.Invoke("ssb_internal.revert_to", (roles,))))
    if "TRANSACTION ISOLATION LEVEL" in options and ctx.may_commit_at_its_end:
        # A transaction that has begun since keeps the level.
        put_back.append(pl.CommitIf(ctx.session_field("autocommit")))
    return keep, put_back


def end_of_savepoints(ctx: Context) -> list[pl.Statement]:
    """Return what stands behind a body with savepoints."""
    return [forbid_writing_if_doomed(ctx)] if ctx.savepoints else []


def forbid_writing_if_doomed(ctx: Context) -> pl.Statement:
    """The end of a savepoint's block makes a doomed transaction writable again: this undoes that."""
    forbid = pl.Perform(pl.Invoke("ssb_internal.forbid_writing"))
    return pl.If(((ctx.session_field("doomed"), (forbid,)),))


def as_another(node: nodes.Statement, running: list[pl.Statement], ctx: Context) -> list[pl.Statement]:
    """Wrap what runs the text of ``EXEC (…) AS USER`` or ``AS LOGIN``: it runs as that one, or not at all.

    ``running`` comes to its end whatever happens in the text, and is returned as it is where no one is named.
    """
    if not isinstance(node, nodes.ExecuteString) or node.as_name is None:
        return running
    function = "ssb_internal.execute_as_login" if node.as_kind == "LOGIN" else "ssb_internal.execute_as"
    become = pl.Invoke(function, (pl.Text(node.as_name.value),), ctx.database_argument())
    roles = ctx.new_variable("roles_before", "text")
    ready = ctx.new_variable("impersonates", "boolean")
    back = pl.Perform(pl.Invoke("ssb_internal.revert_to", (pl.Name(roles),)))
    return [
        pl.Assign(roles, pl.Invoke("current_setting", (pl.Text("pgsb.roles"), pl.TRUE))),
        pl.Assign(ready, pl.FALSE),
        *ctx.guard(node, [pl.Perform(become), pl.Assign(ready, pl.TRUE)]),
        pl.If(((pl.Name(ready), (*running, back)),)),
    ]


def return_table(reference: str) -> list[pl.Statement]:
    """RETURN of a multi-statement function."""
    rows = n.Call("unnest", (n.Variable(reference),))
    return [pl.ReturnQuery(q.Select((n.STAR,), rows, breaks=q.Breaks.NEVER)), pl.Return()]
