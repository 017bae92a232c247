"""How deep @@TRANCOUNT may be before each statement, found without running anything.

Used to leave out what cannot happen (a commit after a statement that surely runs inside a
transaction) and to see which batches leave a transaction open to the next one.

A depth is 0 … :data:`MANY`; a state is the set of depths that are possible.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import cached_property

from sqlglot import exp

from .. import nodes
from ..sql.parse.nodes import unwrapped, variable_name
from .execution_switches import BeginImplicitly, WhenExecuting

MANY = 4
"""Stands for four and more."""

State = frozenset[int]
NOWHERE: State = frozenset()
"""The state where control never comes."""
CLOSED: State = frozenset({0})
ANY: State = frozenset(range(MANY + 1))

_MOVES = nodes.IsOneOf(
    nodes.BeginTransaction,
    BeginImplicitly,
    nodes.CommitTransaction,
    nodes.RollbackTransaction,
    nodes.Block,
    nodes.AtomicBlock,
    nodes.If,
    nodes.While,
    nodes.TryCatch,
    nodes.Break,
    nodes.Continue,
    nodes.Goto,
    nodes.Label,
    nodes.Return,
    nodes.Throw,
    nodes.Execute,
    nodes.ExecuteString,
    nodes.InsertExecute,
)
"""Statements that change the depth, or where control goes."""

CallEffect = Callable[[nodes.Statement, State], tuple[State, State]]
"""What a call does: the states after it came back, and those in which an error may leave it."""


def same_depth(call: nodes.Statement, state: State) -> tuple[State, State]:
    """Effect of a call of which nothing is known: procedures leave @@TRANCOUNT as they found it."""
    return state, state


class Depths:
    """The states before the statements of one batch or module body."""

    def __init__(
        self,
        body: tuple[nodes.Statement, ...],
        entry: State,
        call_effect: CallEffect = same_depth,
        *,
        careful: bool = False,
    ) -> None:
        """Interpret ``body`` starting in ``entry``, when the first question is asked.

        A called procedure may not run at all (errors 201, 8144, 2812). ``careful``: it may also
        end early (208), as whoever leaves a commit out must assume.
        """
        self._body = body
        self._entry = entry
        self._before: dict[int, State] = {}
        self._call_effect = call_effect
        self._careful = careful
        self._loops: list[tuple[set[int], set[int]]] = []
        self._tries: list[set[int]] = []
        self._returned: set[int] = set()
        self._at_label: dict[str, set[int]] = {}

    @cached_property
    def exit(self) -> State:
        """The depths possible at the end of the body."""
        while True:
            known = {label: set(state) for label, state in self._at_label.items()}
            after = self._run(self._body, self._entry)
            if known == self._at_label:
                return after | frozenset(self._returned)

    @cached_property
    def _savepoints(self) -> frozenset[str]:
        return frozenset(
            statement.name.text.lower()
            for statement in nodes.all_of(self._body)
            if isinstance(statement, nodes.SaveTransaction) and isinstance(statement.name, nodes.Identifier)
        )

    def before(self, statement: nodes.Statement) -> State:
        """Return the depths possible before ``statement``; ANY for one that was not met."""
        _ = self.exit
        return self._before.get(id(statement), ANY)

    @property
    def anywhere(self) -> State:
        """Return the depths possible anywhere in the body: where an error may leave it."""
        _ = self.exit
        return frozenset().union(*self._before.values()) if self._before else NOWHERE

    def _run(self, body: Iterable[nodes.Statement], state: State) -> State:
        for statement in body:
            state = self._step(statement, state)
        return state

    def _step(self, statement: nodes.Statement, state: State) -> State:
        self._before[id(statement)] = self._before.get(id(statement), NOWHERE) | state
        for caught in self._tries:
            caught |= state
        if not _MOVES[type(statement)]:
            return state
        match statement:
            case nodes.BeginTransaction():
                return frozenset(min(depth + 1, MANY) for depth in state)
            case BeginImplicitly():
                return frozenset(max(depth, 1) for depth in state)
            case nodes.CommitTransaction():
                return frozenset(_less(depth) for depth in state) | (
                    frozenset({MANY}) if MANY in state else NOWHERE
                )
            case nodes.RollbackTransaction(name=name):
                if isinstance(name, nodes.Identifier) and name.text.lower() in self._savepoints:
                    return state
                # A name is that of the outermost transaction, or an error.
                return _closed(state) if name is None else state | CLOSED
            case nodes.Block(statements=inner) | nodes.AtomicBlock(statements=inner):
                return self._run(inner, state)
            case WhenExecuting():
                other = self._step(statement.otherwise, state) if statement.otherwise else state
                return self._step(statement.then, state) | other
            case nodes.If():
                when_true, when_false = _refine(statement.condition, state)
                then = self._step(statement.then, when_true) if when_true else NOWHERE
                if statement.otherwise is None:
                    return then | when_false
                return then | (self._step(statement.otherwise, when_false) if when_false else NOWHERE)
            case nodes.While():
                return self._loop(statement, state)
            case nodes.TryCatch():
                return self._try(statement, state)
            case nodes.Break() if self._loops:
                self._loops[-1][0].update(state)
                return NOWHERE
            case nodes.Continue() if self._loops:
                self._loops[-1][1].update(state)
                return NOWHERE
            case nodes.Goto(label=label):
                self._at_label.setdefault(label.text.lower(), set()).update(state)
                return NOWHERE
            case nodes.Label(name=label):
                return state | frozenset(self._at_label.setdefault(label.text.lower(), set()))
            case nodes.Return():
                self._returned.update(state)
                return NOWHERE
            case nodes.Throw():
                # Outside TRY it ends the batch: the transaction stays as it is.
                if not self._tries:
                    self._returned.update(state)
                return NOWHERE
            case nodes.Execute() | nodes.ExecuteString() | nodes.InsertExecute():
                after, thrown = self._call_effect(statement, state)
                for caught in self._tries:
                    caught |= after | thrown
                return after | thrown | state if self._careful else after | state
        return state

    def _loop(self, loop: nodes.While, state: State) -> State:
        forever = always_true(loop.condition)
        while True:
            leaving: set[int] = set()
            again: set[int] = set()
            self._loops.append((leaving, again))
            when_true, when_false = _refine(loop.condition, state)
            end = self._step(loop.body, when_true) if when_true else NOWHERE
            self._loops.pop()
            widened = state | end | frozenset(again)
            if widened == state:
                return frozenset(leaving) | (NOWHERE if forever else when_false)
            state = widened

    def _try(self, statement: nodes.TryCatch, state: State) -> State:
        caught: set[int] = set()
        self._tries.append(caught)
        after = self._run(statement.body, state)
        self._tries.pop()
        caught |= after
        if self._may_have_rolled_back(statement.body):
            caught.add(0)
        return after | self._run(statement.handler, frozenset(caught))

    def _may_have_rolled_back(self, body: tuple[nodes.Statement, ...]) -> bool:
        """A called procedure may roll back and raise its error afterwards."""
        return any(
            isinstance(s, nodes.Execute | nodes.ExecuteString | nodes.InsertExecute)
            for s in nodes.all_of(body)
        )


def depths_after(body: tuple[nodes.Statement, ...], entry: State, call_effect: CallEffect) -> State:
    """Return the depths possible at the end of ``body``."""
    if any(_MOVES[type(statement)] for statement in body):
        return Depths(body, entry, call_effect).exit
    return entry


def _less(depth: int) -> int:
    return max(depth - 1, 0)


def _closed(state: State) -> State:
    return CLOSED if state else NOWHERE


def always_true(condition: nodes.SqlText) -> bool:
    """Tell whether a condition is ``1 = 1`` or its like."""
    test = None if condition.tree is None else unwrapped(condition.tree)
    if not isinstance(test, exp.EQ):
        return False
    left, right = _whole(unwrapped(test.this)), _whole(unwrapped(test.expression))
    return left is not None and left == right


def _whole(node: exp.Expr) -> str | None:
    """The digits that an expression is."""
    digits = isinstance(node, exp.Literal) and not node.is_string and node.this.isdecimal()
    return node.this if digits else None


_TESTS: dict[type[exp.Expr], Callable[[int, int], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.GT: operator.gt,
    exp.LT: operator.lt,
    exp.GTE: operator.ge,
    exp.LTE: operator.le,
}
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}


def _refine(condition: nodes.SqlText, state: State) -> tuple[State, State]:
    """Return the states where ``condition`` holds and where it does not."""
    test = None if condition.tree is None else unwrapped(condition.tree)
    kind = type(test)
    if test is None or kind not in _TESTS:
        return state, state
    left, right = test.this, test.expression
    if _is_trancount(right):
        left, right, kind = right, left, _TURNED.get(kind, kind)
    digits = _whole(right)
    if _is_trancount(left) and digits is not None and int(digits) < MANY:
        holds = frozenset(depth for depth in state if _TESTS[kind](depth, int(digits)))
        return holds, state - holds
    if _is_xact_state(left):
        if digits == "0" and kind is exp.NEQ:
            return state - CLOSED, state & CLOSED
        if digits == "0" and kind is exp.EQ:
            return state & CLOSED, state - CLOSED
        if kind is exp.EQ and (digits == "1" or (isinstance(right, exp.Neg) and _whole(right.this) == "1")):
            return state - CLOSED, state
    if always_true(condition):
        return state, NOWHERE
    return state, state


def _is_trancount(node: exp.Expr) -> bool:
    return (variable_name(node) or "").upper() == "@@TRANCOUNT"


def _is_xact_state(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "XACT_STATE" and not node.expressions
