"""SET NOEXEC and SET PARSEONLY: what runs at all; SET IMPLICIT_TRANSACTIONS: what begins a transaction.

SET NOEXEC takes effect when it is executed, so that deployment scripts switch it on after an
error: what follows it, up to the next SET NOEXEC OFF, is put into an IF that asks the session
(:class:`WhenExecuting`). A script without SET NOEXEC has none of that. SET PARSEONLY takes
effect when a batch is read: what it is at the end of a batch is true for all of it.

Where a script has said SET IMPLICIT_TRANSACTIONS ON, :class:`BeginImplicitly` is put before each
statement that begins a transaction where none is open, up to OFF, over batches. A procedure knows
nothing of its caller's setting, so its EXEC begins the transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...grammar.records import dataclass, replace
from .. import nodes
from .mentions import has_word

__all__ = [
    "BeginImplicitly",
    "WhenExecuting",
    "parse_only",
    "sets_noexec",
    "when_executing",
    "with_implicit_transactions",
]

_MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger)
_ALONE = (*_MODULES, nodes.CreateView, nodes.CreateSchema)


@dataclass(frozen=True, kw_only=True)
class WhenExecuting(nodes.If):
    """Statements that run unless NOEXEC is ON. Unlike an IF of the script it leaves @@ERROR alone.

    ``otherwise`` is the BREAK behind the body of a loop that may have set it.
    """


def sets_noexec(statement: nodes.Statement) -> bool:
    """Tell whether SET NOEXEC is a statement or stands inside it."""
    return not isinstance(statement, _MODULES) and any(
        isinstance(one, nodes.SetOption) and "NOEXEC" in one.names for one in nodes.all_of([statement])
    )


def when_executing(batch: nodes.Batch, noexec: bool) -> tuple[nodes.Batch, bool]:
    """Return the batch with what NOEXEC may keep from running, and whether it may be ON behind it.

    ``noexec``: it may be ON where the batch begins.
    """
    if not noexec and not any(map(sets_noexec, batch.statements)):
        return batch, False
    statements, after = _guarded(batch.statements, noexec)
    return replace(batch, statements=tuple(statements)), after


def _guarded(statements: Sequence[nodes.Statement], noexec: bool) -> tuple[list[nodes.Statement], bool]:
    result: list[nodes.Statement] = []
    waiting: list[nodes.Statement] = []

    def flush() -> None:
        if waiting:
            result.append(_unless(waiting))
            waiting.clear()

    for statement in statements:
        inside = sets_noexec(statement)
        if isinstance(statement, nodes.SetOption) and inside:
            flush()
            result.append(statement)
            noexec = statement.on
            continue
        statement, after = _rebuilt(statement) if inside else (statement, False)
        if noexec and not isinstance(statement, nodes.Label):
            waiting.append(statement)
        else:
            flush()
            result.append(statement)
        if inside:
            flush()
        noexec = noexec or after
    flush()
    return result, noexec


def _rebuilt(statement: nodes.Statement) -> tuple[nodes.Statement, bool]:
    """The statement with its inside guarded; whether it may leave NOEXEC ON."""
    match statement:
        case nodes.SetOption() if sets_noexec(statement):
            return statement, statement.on
        case nodes.Block():
            inner, after = _guarded(statement.statements, False)
            return replace(statement, statements=tuple(inner)), after
        case nodes.If():
            then, after = _rebuilt(statement.then)
            other, otherwise = statement.otherwise, False
            if other is not None:
                other, otherwise = _rebuilt(other)
            return replace(statement, then=then, otherwise=other), after or otherwise
        case nodes.While():
            body, after = _rebuilt(statement.body)
            if after:
                leave = nodes.Break(span=statement.span)
                body = nodes.Block(span=body.span, statements=(body, _unless([], otherwise=leave)))
            return replace(statement, body=body), after
        case nodes.TryCatch():
            tried, after = _guarded(statement.body, False)
            handler, handled = _guarded(statement.handler, after)
            return replace(statement, body=tuple(tried), handler=tuple(handler)), after or handled
    return statement, False


def _unless(statements: list[nodes.Statement], otherwise: nodes.Statement | None = None) -> nodes.Statement:
    span = (statements[0] if otherwise is None else otherwise).span
    return WhenExecuting(
        span=span,
        condition=nodes.SqlText(span=span, tokens=()),
        then=nodes.Block(span=span, statements=tuple(statements)),
        otherwise=otherwise,
    )


def parse_only(batch: nodes.Batch, before: bool) -> bool:
    """Tell whether PARSEONLY is ON at the end of a batch: then nothing of it runs."""
    on = before
    for statement in nodes.all_of(batch.statements):
        if isinstance(statement, nodes.SetOption) and "PARSEONLY" in statement.names:
            on = statement.on
    return on


# ------------------------------------------------------------------ IMPLICIT_TRANSACTIONS

_BEGINS = nodes.IsOneOf(
    nodes.CreateTable,
    nodes.DropStatement,
    nodes.Permission,
    nodes.BeginTransaction,
    nodes.OpenCursor,
    nodes.FetchCursor,
    nodes.Execute,
    nodes.ExecuteString,
    nodes.InsertExecute,
    nodes.CreateMessageType,
    nodes.CreateContract,
    nodes.CreateQueue,
    nodes.CreateService,
    nodes.CreateRoute,
    nodes.CreateRemoteServiceBinding,
    nodes.CreateBrokerPriority,
    nodes.CreateEventNotification,
    nodes.CreateXmlSchemaCollection,
    nodes.CreateSynonym,
    nodes.CreateLogin,
    nodes.CreateUser,
    nodes.CreateRole,
    # The page of the option does not name these. They change rows.
    nodes.BeginDialog,
    nodes.BeginConversationTimer,
    nodes.Send,
    nodes.Receive,
    nodes.WaitForMessage,
    nodes.GetConversationGroup,
    nodes.MoveConversation,
    nodes.EndConversation,
)
_VERBS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "DROP"})


@dataclass(frozen=True, kw_only=True)
class BeginImplicitly(nodes.Statement):
    """BEGIN TRANSACTION unless one is open. It leaves @@ERROR and @@ROWCOUNT alone."""


def with_implicit_transactions(batch: nodes.Batch, is_on: bool) -> tuple[nodes.Batch, bool]:
    """Return the batch with the transactions that begin by themselves, and what the option is behind it.

    ``is_on``: what it is where the batch begins.
    """
    if any(isinstance(one, _ALONE) for one in batch.statements):
        # Nothing may stand before it, and it does not take the option over.
        return batch, is_on
    if not is_on and not any(_sets_implicit(one) for one in nodes.all_of(batch.statements)):
        return batch, False
    statements, is_on = _begun(batch.statements, is_on)
    return replace(batch, statements=statements), is_on


def _sets_implicit(statement: nodes.Statement) -> bool:
    return isinstance(statement, nodes.SetOption) and "IMPLICIT_TRANSACTIONS" in statement.names


def _begun(statements: Iterable[nodes.Statement], is_on: bool) -> tuple[tuple[nodes.Statement, ...], bool]:
    result: list[nodes.Statement] = []
    for statement in statements:
        if _sets_implicit(statement):
            assert isinstance(statement, nodes.SetOption)
            is_on = statement.on
        if is_on and _begins(statement):
            result.append(BeginImplicitly(span=statement.span))
        statement, is_on = _with_begins(statement, is_on)
        result.append(statement)
    return tuple(result), is_on


def _with_begins(statement: nodes.Statement, is_on: bool) -> tuple[nodes.Statement, bool]:
    match statement:
        case nodes.Block():
            inner, is_on = _begun(statement.statements, is_on)
            return replace(statement, statements=inner), is_on
        case nodes.If() if is_on:
            then = _branch(statement.then)
            otherwise = _branch(statement.otherwise) if statement.otherwise is not None else None
            # OFF on one way of a batch: the other one decides.
            return replace(statement, then=then, otherwise=otherwise), is_on
        case nodes.While() if is_on:
            return replace(statement, body=_branch(statement.body)), is_on
        case nodes.TryCatch():
            tried, is_on = _begun(statement.body, is_on)
            handler, is_on = _begun(statement.handler, is_on)
            return replace(statement, body=tried, handler=handler), is_on
    return statement, is_on


def _branch(statement: nodes.Statement) -> nodes.Statement:
    """A branch, or the body of a loop, in which the option is ON."""
    if isinstance(statement, nodes.Block):
        return _with_begins(statement, True)[0]
    inner: Sequence[nodes.Statement] = _begun([statement], True)[0]
    return inner[0] if len(inner) == 1 else nodes.Block(span=statement.span, statements=tuple(inner))


def _begins(statement: nodes.Statement) -> bool:
    match statement:
        case nodes.SqlStatement(kind="SELECT"):
            # One that reads no table, and makes none, needs none.
            return has_word(statement.tokens, "FROM") or has_word(statement.tokens, "INTO")
        case nodes.SqlStatement(kind=kind):
            return kind == "ALTER TABLE" or (kind.split()[0] in _VERBS and "STATISTICS" not in kind)
        case nodes.DropStatement(kind="DATABASE"):
            return False
    return _BEGINS[type(statement)]
