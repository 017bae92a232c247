"""SET NOEXEC and SET PARSEONLY: what runs at all.

SET NOEXEC takes effect when it is executed, so that deployment scripts switch it on after an
error: what follows it, up to the next SET NOEXEC OFF, is put into an IF that asks the session
(:class:`WhenExecuting`). A script without SET NOEXEC has none of that. SET PARSEONLY takes
effect when a batch is read: what it is at the end of a batch is true for all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.problems import Problems
from ...grammar.records import dataclass, replace
from .. import nodes

__all__ = ["WhenExecuting", "parse_only", "sets_noexec", "when_executing"]

_MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger)


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


def when_executing(batch: nodes.Batch, noexec: bool, problems: Problems) -> tuple[nodes.Batch, bool]:
    """Return the batch with what NOEXEC may keep from running, and whether it may be ON behind it.

    ``noexec``: it may be ON where the batch begins.
    """
    for statement in batch.statements:
        if isinstance(statement, _MODULES):
            _refuse_inside(statement.body, problems)
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


def _refuse_inside(statements: Sequence[nodes.Statement], problems: Problems) -> None:
    for statement in nodes.all_of(statements):
        if isinstance(statement, nodes.SetOption) and sets_noexec(statement) and statement.on:
            problems.add(
                "SET NOEXEC ON in a procedure, function or trigger is not supported.",
                statement.span,
                hint="set it in the script, behind the call",
            )


def parse_only(batch: nodes.Batch, before: bool) -> bool:
    """Tell whether PARSEONLY is ON at the end of a batch: then nothing of it runs."""
    on = before
    for statement in nodes.all_of(batch.statements):
        if isinstance(statement, nodes.SetOption) and "PARSEONLY" in statement.names:
            on = statement.on
    return on
