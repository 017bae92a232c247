"""The handlers of the lowering passes, by node class.

A pass is a function registered with :data:`lower` for one node class; it returns PL/pgSQL
statements.  A definition such as CREATE QUEUE registers with :data:`invocations` instead:
the calls that do it, used in blocks (PERFORM) and at top level (SELECT) alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from .. import nodes
from ..catalog.names import ObjectName
from ..plpgsql import nodes as pl
from ..registry import Registry
from .context import Context

REFUSES_IN_TRANSACTION = "ssb_internal.refuse_in_transaction"
"""What precedes the call of a statement that no transaction may hold: error 226."""

_DIALOG = (nodes.Send, nodes.EndConversation, nodes.BeginConversationTimer, nodes.MoveConversation)


class _Lowering(Registry[Callable[[Any, Context], list[pl.Statement]]]):
    def __call__(self, node: nodes.Statement, ctx: Context) -> list[pl.Statement]:
        """Lower one statement."""
        handler = self.find(type(node)) or _definition
        around, ctx.catalog.followed_synonyms = ctx.catalog.followed_synonyms, {}
        lowered = handler(node, ctx)
        followed, ctx.catalog.followed_synonyms = ctx.catalog.followed_synonyms, around
        if not followed:
            return lowered
        ctx.catalog.followed_in_text |= followed
        return [*_still_what_they_were(followed, node, ctx), *lowered]


class _Invocations(Registry[Callable[[Any, Context], "list[pl.Invoke] | None"]]):
    def __call__(self, node: nodes.Statement, ctx: Context) -> list[pl.Invoke] | None:
        """Return the function calls that carry out a definition; None when it is no definition."""
        handler = self.find(type(node))
        return handler(node, ctx) if handler is not None else None


lower = _Lowering("lower")
invocations = _Invocations("invocations")
system_procedures: Registry[Callable[[nodes.Execute, Context], list[pl.Statement] | None]] = Registry(
    "system procedures"
)
"""By folded name, without schema. None: the name turns out to be another procedure's."""


def system_procedure_names() -> tuple[str, ...]:
    """Return the system procedures that are known here, as they are written without a schema."""
    return system_procedures.keys


def is_system_procedure(name: nodes.QualifiedName) -> bool:
    """Tell whether EXEC of a name is a system procedure's that is known here."""
    return system_procedures.find(name.name.text.lower()) is not None


def _still_what_they_were(
    followed: Mapping[ObjectName, ObjectName], node: nodes.Statement, ctx: Context
) -> list[pl.Statement]:
    """What refuses to run a statement whose synonyms stand for something else by now."""
    checks = [
        pl.Perform(
            pl.Invoke(
                "ssb_internal.expect_synonym",
                (pl.Text(ctx.catalog.sql_name(name)), pl.Text(ctx.catalog.sql_name(target))),
            )
        )
        for name, target in followed.items()
    ]
    return ctx.guard(node, checks)


def _refuses(call: pl.Perform) -> bool:
    """Whether a call only sees that no transaction is open."""
    return isinstance(call.call, pl.Invoke) and call.call.function == REFUSES_IN_TRANSACTION


def _drops(
    node: nodes.DropStatement, body: tuple[pl.Perform, ...], status: list[pl.Statement], ctx: Context
) -> list[pl.Statement]:
    """DROP TABLE a, b: what cannot be dropped leaves the rest to be dropped, and @@ERROR tells of it."""
    guarded: list[list[pl.Statement]] = [
        ctx.guard(node, [call], verb=node.verb, hints=True) for call in body if not _refuses(call)
    ]
    refused = [call for call in body if _refuses(call)]
    if not refused:
        return [*status, *chain(*guarded)]
    if len(guarded) == 1:
        return ctx.guard(node, [*body, *status], verb=node.verb, hints=True)
    # Error 226 once, and nothing is dropped.
    is_open = pl.with_number(f"{ctx.session}.trancount", ">", 0)
    refusal = ctx.guard(node, refused[:1], verb=node.verb, hints=True)
    return [*status, pl.If(((is_open, tuple(refusal)),), tuple(chain(*guarded)))]


def _definition(node: nodes.Statement, ctx: Context) -> list[pl.Statement]:
    """What calls alone carry out; a statement that nothing handles is refused by its name."""
    calls = invocations(node, ctx)
    if calls is None:
        kind = getattr(node, "kind", None) or type(node).__name__
        ctx.problem(f"{kind} is not supported", node.span)
        return []
    body = tuple(pl.Perform(call) for call in calls)
    if not body:
        return []
    # Only definitions raise errors with another severity than 16, which stands in the detail.
    verb = None if isinstance(node, _DIALOG) else node.verb
    if isinstance(node, nodes.CreateSchema):
        verb = "CREATE SCHEMA"  # error 2759 stands behind its errors
    status = ctx.status(node, pl.Number(0))
    if len(body) == 1 or not isinstance(node, nodes.DropStatement):
        guarded = ctx.guard(node, [*body, *status], verb=verb, hints=verb is not None)
    else:
        guarded = _drops(node, body, status, ctx)
    return [*guarded, *ctx.autocommit(node)]
