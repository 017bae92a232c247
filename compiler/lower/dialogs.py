"""Conversations: BEGIN DIALOG, SEND, END CONVERSATION, timers, groups."""

from __future__ import annotations

from .. import nodes
from ..analysis import mentions
from ..catalog.types import INT, UNIQUEIDENTIFIER, VARBINARY_MAX, nvarchar
from ..plpgsql import nodes as pl
from ..target import nodes as n
from .context import Context, flag, named
from .dispatch import invocations, lower


def begin_dialog_call(node: nodes.BeginDialog, ctx: Context) -> pl.Invoke:
    """Return the call of BEGIN DIALOG; clauses that are not written are left out."""
    arguments: list[pl.Expr] = [ctx.name_or_text(node.from_service), ctx.name_or_text(node.to_service)]
    if node.contract is not None:
        arguments.append(ctx.name_or_text(node.contract))
    instance = ctx.name_or_text(node.broker_instance) if node.broker_instance else None
    return pl.Invoke(
        "ssb.begin_dialog",
        tuple(arguments),
        named(
            ("broker_instance", instance),
            ("related_conversation", _value(node.related_conversation, ctx)),
            ("related_conversation_group", _value(node.related_conversation_group, ctx)),
            ("lifetime", _lifetime(node.lifetime, ctx) if node.lifetime else None),
            ("encryption", flag(node.encryption)),
        )
        + ctx.database_argument(),
    )


def _value(text: nodes.SqlText | None, ctx: Context) -> pl.Expr | None:
    return ctx.given(text, UNIQUEIDENTIFIER) if text is not None else None


def _lifetime(text: nodes.SqlText, ctx: Context) -> pl.Expr:
    """Return the seconds; NULL, which would be no lifetime to the function, is an error (8406)."""
    seconds = ctx.given(text, INT)
    return seconds if text.alone.isdigit() else pl.Invoke("ssb_internal.given_lifetime", (seconds,))


def _identifier_variable(variable: nodes.Variable, what: str, statement: str, ctx: Context) -> pl.Name:
    """Return the variable that a statement sets to a handle or group: one of another type is problem 8402."""
    known = ctx.scope.variable(variable.name)
    if known is not None and known.type.family not in ("uniqueidentifier", "user") and not known.is_text:
        ctx.problem(
            f"The data type of the '{what}' in the '{statement}' statement must be uniqueidentifier. "
            f"The {known.type.name} data type is not allowed.",
            variable.span,
            number=8402,
        )
    return ctx.variable(variable)


@lower.register
def lower_begin_dialog(node: nodes.BeginDialog, ctx: Context) -> list[pl.Statement]:
    """BEGIN DIALOG: the variable keeps its value when the statement fails."""
    handle = _identifier_variable(node.handle, "dialog handle", "BEGIN DIALOG", ctx)
    statement = pl.Assign(handle.spelling, begin_dialog_call(node, ctx))
    return [*ctx.guard(node, [statement, *ctx.status(node, pl.Number(0))]), *ctx.autocommit(node)]


def fused(
    begin: nodes.Statement, send: nodes.Statement | None, ctx: Context
) -> tuple[nodes.BeginDialog, nodes.Send] | None:
    """Return the two where a SEND is the first of a plain dialog that BEGIN DIALOG right before it begins.

    Its body is computed before there is a dialog then, and perhaps twice.
    """
    if not isinstance(begin, nodes.BeginDialog) or not isinstance(send, nodes.Send) or send.body is None:
        return None
    if begin.broker_instance or begin.lifetime or begin.related_conversation:
        return None
    handle = begin.handle.name.lower()
    known = ctx.scope.variable(handle)
    if known is None or known.type.family != "uniqueidentifier" or known.is_text:
        return None
    body = send.body.tree
    written = send.message_type
    if (
        begin.related_conversation_group
        or [one.text.lower() for one in send.handles] != [handle]
        or body is None
        or handle in mentions.variables_in(body)
        or (isinstance(written, nodes.Variable) and written.name.lower() == handle)
        or mentions.is_of_the_moment(body)
    ):
        return None
    return begin, send


def lower_fused(begin: nodes.BeginDialog, send: nodes.Send, ctx: Context) -> list[pl.Statement]:
    """BEGIN DIALOG and SEND as one call, which takes the fast path and nothing else.

    Where that does nothing the statements follow: they know what is special, and have their own errors.
    """
    assert send.body is not None
    begun = ctx.helper("begun", "uuid")
    handle = _identifier_variable(begin.handle, "dialog handle", "BEGIN DIALOG", ctx)
    call = pl.Invoke(
        "ssb_internal.begin_and_send",
        (
            ctx.name_or_text(begin.from_service),
            ctx.name_or_text(begin.to_service),
            ctx.name_or_text(begin.contract) if begin.contract else pl.Text("DEFAULT"),
            ctx.name_or_text(send.message_type) if send.message_type else pl.Text("DEFAULT"),
            _body(send.body, ctx),
        ),
        named(("p_is_encrypted", flag(begin.encryption)))
        + tuple(("p_" + name, value) for name, value in ctx.database_argument()),
    )
    none: pl.Statement = pl.Assign(begun, pl.NULL, note="the statements tell what is wrong")
    done = [
        pl.Assign(handle.spelling, pl.Name(begun)),
        *ctx.status(send, pl.Number(0)),
        *ctx.autocommit(send),
    ]
    return [
        pl.Block((pl.Assign(begun, call),), handler=(none,)),
        pl.If(
            ((pl.Raw(n.IsNull(n.Variable(begun), negated=True)), tuple(done)),),
            (*lower(begin, ctx), *lower(send, ctx)),
        ),
    ]


@invocations.register
def send(node: nodes.Send, ctx: Context) -> list[pl.Invoke] | None:
    """SEND: without a type DEFAULT; without a body none, which is not a body that is NULL (8433).

    Several handles are sent to in the order written, all or none.
    """
    handles = [ctx.given(handle, UNIQUEIDENTIFIER) for handle in node.handles]
    handle = handles[0] if len(handles) == 1 else pl.Array(tuple(handles), "uuid")
    arguments: list[pl.Expr] = [handle]
    if node.message_type is not None or node.body is not None:
        arguments.append(ctx.name_or_text(node.message_type) if node.message_type else pl.Text("DEFAULT"))
    if node.body is not None:
        arguments.append(_body(node.body, ctx))
    return [pl.Invoke("ssb.send" if len(handles) == 1 else "ssb.send_many", tuple(arguments))]


def _body(body: nodes.SqlText, ctx: Context) -> pl.Expr:
    """Return the body: nvarchar as text, whose bytes the instance knows, everything else as bytes."""
    value = ctx.expression(body)
    if value.type is None or value.type.is_unicode:
        # An untyped literal must not make PostgreSQL choose between the two forms of ssb.send.
        if value.type is not None and not isinstance(value.code, n.Text):
            return value.raw
        return pl.Cast(value.raw, "text")
    if value.type.is_string:
        return pl.Invoke("pg_catalog.convert_to", (value.raw, pl.Text("UTF8")))
    if value.type.family == "xml":
        return pl.Invoke("sys.xml_to_bytes", (value.raw,))
    if value.type.family == "binary":
        return pl.Raw(value.code)
    return ctx.expression(body, VARBINARY_MAX).raw


@invocations.register
def end_conversation(node: nodes.EndConversation, ctx: Context) -> list[pl.Invoke] | None:
    """END CONVERSATION [WITH ERROR … | WITH CLEANUP]."""
    return [
        pl.Invoke(
            "ssb.end_conversation",
            (ctx.given(node.handle, UNIQUEIDENTIFIER),),
            named(
                ("error", ctx.given(node.error, INT) if node.error else None),
                ("description", ctx.given(node.description, nvarchar(3000)) if node.description else None),
                ("cleanup", pl.TRUE if node.cleanup else None),
            ),
        )
    ]


@invocations.register
def begin_conversation_timer(node: nodes.BeginConversationTimer, ctx: Context) -> list[pl.Invoke] | None:
    """BEGIN CONVERSATION TIMER."""
    arguments = (ctx.given(node.handle, UNIQUEIDENTIFIER), ctx.given(node.timeout, INT))
    return [pl.Invoke("ssb.begin_conversation_timer", arguments)]


@invocations.register
def move_conversation(node: nodes.MoveConversation, ctx: Context) -> list[pl.Invoke] | None:
    """MOVE CONVERSATION … TO …"""
    arguments = (ctx.given(node.handle, UNIQUEIDENTIFIER), ctx.given(node.group, UNIQUEIDENTIFIER))
    return [pl.Invoke("ssb.move_conversation", arguments)]


@lower.register
def lower_get_group(node: nodes.GetConversationGroup, ctx: Context) -> list[pl.Statement]:
    """GET CONVERSATION GROUP: NULL when nothing came; @@ROWCOUNT tells which."""
    return [*ctx.guard(node, [*get_group(node, ctx), *ctx.status(node)]), *ctx.autocommit(node)]


def get_group(node: nodes.GetConversationGroup, ctx: Context) -> list[pl.Statement]:
    """Return the statements of one try to get a group."""
    group = _identifier_variable(node.variable, "conversation group", "GET CONVERSATION GROUP", ctx)
    call = pl.Invoke("ssb.get_conversation_group", (ctx.broker_queue(node.queue),))
    body: list[pl.Statement] = [pl.Assign(group.spelling, call)]
    if ctx.liveness.after(node).rowcount:
        body.append(
            pl.Assign(
                f"{ctx.session}.rowcount",
                pl.Raw(n.Cast(n.IsNull(n.Variable(group.spelling), negated=True), "integer")),
            )
        )
    return body
