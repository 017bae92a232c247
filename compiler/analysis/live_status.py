"""Which statements must leave @@ERROR and @@ROWCOUNT behind because something reads them.

Every T-SQL statement sets both; compiled code sets them only where a path leads to a reader
(or to the end of a procedure, whose caller may read them) before the next statement sets
them again.  The analysis runs backwards over the statements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ...grammar.records import dataclass
from .. import nodes
from .execution_switches import BeginImplicitly, WhenExecuting
from .mentions import reads_status, status_read_in


@dataclass(frozen=True)
class Live:
    """What may be read from here on."""

    error: bool = False
    rowcount: bool = False

    def __or__(self, other: Live) -> Live:
        """Return what either of two paths may read."""
        return _LIVE[self.error or other.error, self.rowcount or other.rowcount]


DEAD = Live()
BOTH = Live(True, True)
_LIVE = {(error, rowcount): Live(error, rowcount) for error in (False, True) for rowcount in (False, True)}


_MOVES = nodes.IsOneOf(
    nodes.Block,
    nodes.AtomicBlock,
    nodes.If,
    nodes.While,
    nodes.TryCatch,
    nodes.Break,
    nodes.Continue,
    nodes.Goto,
    nodes.Label,
    nodes.EmptyStatement,
    BeginImplicitly,
    nodes.Declare,
    nodes.Execute,
    nodes.ExecuteString,
    nodes.InsertExecute,
    nodes.Return,
)
"""Statements that do more than read and set both."""


class Status:
    """Which of the two are read after each statement of a body."""

    def __init__(
        self,
        body: tuple[nodes.Statement, ...],
        at_exit: Live,
        called: Callable[[nodes.Execute], Live] | None = None,
    ) -> None:
        """Analyse ``body`` when the first question is asked.

        ``at_exit`` is what its caller may read, ``called`` what a callee reads first.
        """
        self._body = body
        self._called = called
        self._after: dict[int, Live] = {}
        self._before: dict[int, Live] = {}
        self._at_exit = at_exit
        self._loops: list[tuple[Live, Live]] = []
        self._at_label: dict[str, Live] = {}

    @cached_property
    def at_entry(self) -> Live:
        """What may be read where the body begins."""
        while True:
            known = dict(self._at_label)
            live = self._run(self._body, self._at_exit)
            if known == self._at_label:
                return live

    def after(self, statement: nodes.Statement) -> Live:
        """Return what may be read after ``statement``."""
        _ = self.at_entry
        return self._after.get(id(statement), BOTH)

    def before(self, statement: nodes.Statement) -> Live:
        """Return what may be read where ``statement`` begins, by it or after it."""
        _ = self.at_entry
        return self._before.get(id(statement), BOTH)

    def _run(self, body: tuple[nodes.Statement, ...], live: Live) -> Live:
        for statement in reversed(body):
            live = self._step(statement, live)
        return live

    def _step(self, statement: nodes.Statement, live: Live) -> Live:
        key = id(statement)
        known = self._after.get(key)
        self._after[key] = live if known is None else known | live
        before = self._live_before(statement, live)
        known = self._before.get(key)
        self._before[key] = before if known is None else known | before
        return before

    def _live_before(self, statement: nodes.Statement, live: Live) -> Live:
        if not _MOVES[type(statement)]:
            return _reads_of(statement)
        match statement:
            case nodes.Block(statements=inner) | nodes.AtomicBlock(statements=inner):
                return self._run(inner, live)
            case WhenExecuting():
                other = self._step(statement.otherwise, live) if statement.otherwise else live
                return self._step(statement.then, live) | other
            case nodes.If():
                # The condition itself sets both before either branch runs.
                self._step(statement.then, live)
                if statement.otherwise is not None:
                    self._step(statement.otherwise, live)
                return _reads(statement.condition)
            case nodes.While():
                again = DEAD
                while True:
                    self._loops.append((live, again))
                    self._step(statement.body, again)
                    self._loops.pop()
                    head = again | _reads(statement.condition)
                    if head == again:
                        return head
                    again = head
            case nodes.TryCatch():
                # The error sets both before the handler runs.
                self._run(statement.handler, live)
                return self._run(statement.body, live)
            case nodes.Break():
                return self._loops[-1][0] if self._loops else BOTH
            case nodes.Continue():
                return self._loops[-1][1] if self._loops else BOTH
            case nodes.Goto(label=label):
                return self._at_label.get(label.text.lower(), DEAD)
            case nodes.Label(name=name):
                self._at_label[name.text.lower()] = live
                return live
            case nodes.EmptyStatement() | BeginImplicitly():
                return live
            case nodes.Declare(declarations=declarations):
                initials = [
                    d.initial for d in declarations if isinstance(d, nodes.VariableDeclaration) and d.initial
                ]
                return _reads(*initials) if initials else live
            case nodes.Execute():
                if statement.return_variable is not None:
                    # sp_executesql returns the @@ERROR that its text leaves.
                    self._after[id(statement)] = self._after[id(statement)] | _LIVE[True, False]
                return _reads_of(statement) | (self._called(statement) if self._called else BOTH)
            case nodes.ExecuteString() | nodes.InsertExecute():
                return BOTH
            case nodes.Return():
                self._after[id(statement)] = self._after[id(statement)] | self._at_exit
                return _reads(statement.value) if statement.value else DEAD
        return _reads_of(statement)


def _reads(*texts: nodes.SqlText) -> Live:
    read = [status_read_in(text.tree) for text in texts]
    return _LIVE[any(error for error, _ in read), any(rowcount for _, rowcount in read)]


def _reads_of(statement: nodes.Statement) -> Live:
    return _LIVE[reads_status(statement.tokens)]


def read_at_start(body: tuple[nodes.Statement, ...]) -> Live:
    """Return what a batch reads of the batch before it."""
    if body and not _MOVES[type(body[0])]:
        return _reads_of(body[0])  # what comes after it reads what it sets
    return Status(body, DEAD).at_entry
