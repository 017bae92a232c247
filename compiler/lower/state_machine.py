"""The shape of last resort: a body as numbered states, for jumps that cannot be nested and for savepoints.

Each state ends by naming the next one (``pc``); a loop runs them.  What contains no jump
stays structured inside its state.

**Savepoints.** PL/pgSQL has no SAVEPOINT, but an exception block is one.  So the states run
inside one exception block for each savepoint name, outermost the one that is saved first.
SAVE TRANSACTION leaves its block, which keeps what was done, and enters it anew; ROLLBACK
TRANSACTION name raises an error that only that block catches, which undoes it, and goes on in
the next state; variables keep their values.  COMMIT, ROLLBACK and EXEC, which must be able to
end the transaction, leave the blocks first; that forgets savepoints, as ending the transaction
does.  EXEC while a savepoint is set stays inside: then the callee may commit its own BEGIN
TRANSACTION, but a ROLLBACK of everything in it cannot be done and ends the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...grammar.records import dataclass
from .. import nodes
from ..analysis.execution_switches import BeginImplicitly, WhenExecuting
from ..analysis.jumps import has_savepoints, labels
from ..analysis.structured_jumps import States
from ..analysis.transaction_depth import always_true
from ..catalog.names import fold, in_comment
from ..plpgsql import nodes as pl
from ..target import nodes as n
from .context import Context, Loop, Mode, Try
from .control_flow import condition_of
from .dispatch import lower
from .leaving import count_tries, forbid_writing_if_doomed, leave_blocks, outer_error, save_outer_error
from .statement_lists import comments, forget_options, lower_body, options_set, place_of_last
from .transactions import transaction_name

_ENDS_TRANSACTION = (
    nodes.CommitTransaction,
    nodes.RollbackTransaction,
    nodes.SaveTransaction,
    nodes.Execute,
    nodes.ExecuteString,
    nodes.InsertExecute,
    nodes.WaitForMessage,
    nodes.WaitForTime,
)
_LEAVES_NOTHING = nodes.IsOneOf(
    nodes.Declare,
    nodes.SetVariable,
    nodes.SetMethod,
    nodes.SetCursorVariable,
    nodes.DeclareCursor,
    nodes.OpenCursor,
    nodes.FetchCursor,
    nodes.CloseCursor,
    nodes.DeallocateCursor,
    nodes.Print,
    nodes.RaiseError,
    nodes.Throw,
    nodes.Return,
    nodes.Break,
    nodes.Continue,
    nodes.EmptyStatement,
    nodes.BeginTransaction,
    BeginImplicitly,
)
"""Statements behind which nothing is committed; behind others it is, where no transaction is open."""


@dataclass
class _Machine:
    """The states under construction."""

    ctx: Context
    label: str
    pc: str
    states: dict[int, list[pl.Statement]] = field(default_factory=dict)
    outside: dict[int, list[pl.Statement]] = field(default_factory=dict)
    """States that run outside the blocks of the savepoints."""
    current: int = 1
    count: int = 1
    places: dict[str, int] = field(default_factory=dict)
    savepoints: dict[str, str] = field(default_factory=dict)
    """Savepoint name → the boolean variable that tells whether it is set."""
    names: dict[str, str] = field(default_factory=dict)
    """Variable that names a savepoint → the variable that keeps the name which it had then."""
    around: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Label → how many TRY and CATCH blocks are around it."""
    options: set[str] = field(default_factory=set)
    """What :func:`options_set` finds in the body."""
    renew: str = ""
    """The variable that says which block is to be entered anew."""

    def new(self) -> int:
        """Return the number of a new, empty state."""
        self.count += 1
        self.states[self.count] = []
        return self.count

    def place(self, name: str) -> int:
        """Return the state of a label."""
        key = fold(name)
        if key not in self.places:
            self.places[key] = self.new()
        return self.places[key]

    def add(self, *statements: pl.Statement) -> None:
        """Add statements to the current state."""
        self.states[self.current] += statements

    def go(self, state: int) -> list[pl.Statement]:
        """Return the statements that continue with another state."""
        return [pl.Assign(self.pc, pl.Number(state)), pl.Continue(self.inner_label)]

    @property
    def inner_label(self) -> str:
        """Label of the loop that runs the states."""
        return f"{self.label}_states" if self.savepoints else self.label

    def begin(self, state: int) -> None:
        """Go on building in another state, falling into it from the current one."""
        if self._open():
            self.add(*self.go(state))
        self.current = state

    def _open(self) -> bool:
        """Whether control can reach the end of the current state."""
        body = self.states[self.current]
        last = place_of_last(body)
        return (
            last is None
            or not isinstance(body[last], pl.Continue | pl.Exit | pl.Raise)
            or getattr(body[last], "when", None) is not None
        )


@lower.register
def lower_states(node: States, ctx: Context) -> list[pl.Statement]:
    """Lower a body to states."""
    body = node.statements
    machine = _Machine(ctx, ctx.label("machine"), ctx.new_variable("pc", "integer", pl.Number(1)))
    machine.states[1] = []
    if has_savepoints(body):
        for name in _savepoint_names(body):
            number = len(machine.savepoints) + 1
            machine.savepoints[name] = ctx.new_variable(f"saved_{number}", "boolean", pl.FALSE)
            if _is_variable(name):
                machine.names[name] = ctx.new_variable(f"saved_name_{number}", "text")
        # 0: run a state outside the blocks; n: enter the blocks from the n-th on anew.
        machine.renew = ctx.new_variable("renew", "integer", pl.Number(1))
        ctx.savepoints = True
    machine.around = _tries_around(body, 0, 0)
    machine.options = options_set(body)
    for label in labels(body):
        machine.place(label.name.text)
    _flatten_list(body, machine)
    machine.add(pl.Exit(ctx.body_label))
    if not machine.savepoints:
        return [pl.Loop((_case(machine.pc, machine.states),), label=machine.label)]
    return _with_savepoints(machine)


def _tries_around(body: Sequence[nodes.Statement], tries: int, catches: int) -> dict[str, tuple[int, int]]:
    result: dict[str, tuple[int, int]] = {}
    for statement in body:
        if isinstance(statement, nodes.Label):
            result[fold(statement.name.text)] = (tries, catches)
        elif isinstance(statement, nodes.TryCatch):
            result |= _tries_around(statement.body, tries + 1, catches)
            result |= _tries_around(statement.handler, tries, catches + 1)
        else:
            result |= _tries_around(nodes.children_of(statement), tries, catches)
    return result


def _case(pc: str, states: dict[int, list[pl.Statement]]) -> pl.Statement:
    return pl.Case(pc, tuple((number, tuple(body)) for number, body in states.items()))


# ------------------------------------------------------------------ flattening


def _commits(statement: nodes.Statement) -> bool:
    """Whether a statement by itself is a transaction where none is open."""
    return not statement.inside and not _LEAVES_NOTHING[type(statement)]


def _must_flatten(statement: nodes.Statement, machine: _Machine) -> bool:
    """Whether a statement has a jump, or in a body with savepoints an end of transaction, inside."""
    if isinstance(statement, nodes.Goto | nodes.Label):
        return True
    if machine.savepoints:
        if isinstance(statement, _ENDS_TRANSACTION):
            return True
        if _commits(statement) and 0 in machine.ctx.depths.before(statement):
            return True
    return any(_must_flatten(inner, machine) for inner in nodes.children_of(statement))


def _flatten_list(body: Sequence[nodes.Statement], machine: _Machine) -> None:
    run: list[nodes.Statement] = []
    for statement in body:
        if not _must_flatten(statement, machine):
            run.append(statement)
            continue
        machine.add(*lower_body(run, machine.ctx))
        run.clear()
        machine.add(*comments(statement.comments))
        _flatten(statement, machine)
    machine.add(*lower_body(run, machine.ctx))


def _flatten(statement: nodes.Statement, machine: _Machine) -> None:
    match statement:
        case nodes.Block(statements=inner) | nodes.AtomicBlock(statements=inner):
            _flatten_list(inner, machine)
        case nodes.Label(name=name):
            machine.begin(machine.place(name.text))
            machine.add(pl.Comment(f"-- {in_comment(name.text)}:"))
            forget_options(machine.options, machine.ctx)
        case nodes.Goto(label=label) if (around := machine.around.get(fold(label.text))) is not None:
            machine.add(*leave_blocks(machine.ctx, *around), *machine.go(machine.place(label.text)))
        case nodes.If():
            _flatten_if(statement, machine)
        case nodes.While():
            _flatten_while(statement, machine)
        case nodes.TryCatch():
            _flatten_try(statement, machine)
        case nodes.SaveTransaction():
            _save(statement, machine)
        case nodes.RollbackTransaction() if _may_be(statement.name, machine):
            _rollback_to(statement, machine)
        case nodes.CommitTransaction() if machine.savepoints:
            _commit(statement, machine)
        case nodes.RollbackTransaction(name=None) if machine.savepoints:
            _outside(statement, machine, pl.TRUE)
        case nodes.RollbackTransaction(name=name) if machine.savepoints and name is not None:
            # The transaction's own name ends it; any other is error 6401, and savepoints stay.
            _outside(statement, machine, pl.Raw(_is_own(machine.ctx.name_or_text(name), machine.ctx)))
        case _ if machine.savepoints and isinstance(statement, _ENDS_TRANSACTION):
            _call(statement, machine)
        case _ if machine.savepoints and _commits(statement):
            after = machine.new()
            machine.add(*lower(statement, machine.ctx), pl.Assign(machine.pc, pl.Number(after)))
            autocommit = machine.ctx.session_field("autocommit")
            machine.add(*_leave_blocks(machine, autocommit, 1), pl.Continue(machine.inner_label))
            machine.current = after
        case _:
            machine.add(*lower(statement, machine.ctx))


def _flatten_if(node: nodes.If, machine: _Machine) -> None:
    silent = isinstance(node, WhenExecuting)
    before, condition = (
        ([], pl.Raw(n.Not(n.Variable(f"{machine.ctx.session}.noexec"))))
        if silent
        else condition_of(node.condition, machine.ctx)
    )
    then, otherwise, after = machine.new(), machine.new(), machine.new()
    machine.add(*before)
    machine.add(
        pl.If(
            ((condition, (pl.Assign(machine.pc, pl.Number(then)),)),),
            (pl.Assign(machine.pc, pl.Number(otherwise)),),
        ),
        pl.Continue(machine.inner_label),
    )
    ctx = machine.ctx
    machine.current = then
    if not silent:
        machine.add(*ctx.status(node.then, pl.Number(0), live=ctx.liveness.before(node.then)))
    ctx.nesting += 1
    _flatten_list([node.then], machine)
    machine.begin(after)
    machine.current = otherwise
    if node.otherwise is not None:
        if not silent:
            machine.add(*ctx.status(node.otherwise, pl.Number(0), live=ctx.liveness.before(node.otherwise)))
        _flatten_list([node.otherwise], machine)
    elif not silent:
        machine.add(*ctx.status(node, pl.Number(0)))
    ctx.nesting -= 1
    machine.begin(after)


def _flatten_while(node: nodes.While, machine: _Machine) -> None:
    ctx = machine.ctx
    forget_options(options_set([node.body]), ctx)
    head, body, after, end = machine.new(), machine.new(), machine.new(), machine.new()
    machine.begin(head)
    if always_true(node.condition):
        machine.add(*machine.go(body))
    else:
        before, condition = condition_of(node.condition, ctx)
        machine.add(*before)
        machine.add(
            pl.If(
                ((condition, (pl.Assign(machine.pc, pl.Number(body)),)),),
                (pl.Assign(machine.pc, pl.Number(end)),),
            ),
            pl.Continue(machine.inner_label),
        )
    machine.current = end
    machine.add(*ctx.status(node, pl.Number(0)), *machine.go(after))
    machine.current = body
    machine.add(*ctx.status(node.body, pl.Number(0), live=ctx.liveness.before(node.body)))
    leave, again = tuple(machine.go(after)), tuple(machine.go(head))
    ctx.loops.append(Loop(len(ctx.tries), ctx.catches, leave, again))
    ctx.nesting += 1
    _flatten_list([node.body], machine)
    ctx.nesting -= 1
    ctx.loops.pop()
    machine.begin(head)
    machine.current = after


def _flatten_try(node: nodes.TryCatch, machine: _Machine) -> None:
    ctx = machine.ctx
    session = ctx.session
    catch, after = machine.new(), machine.new()
    machine.add(*save_outer_error(ctx))
    leave = count_tries(session, -1, note="END TRY")
    machine.add(count_tries(session, 1, note="BEGIN TRY"))
    ctx.tries.append(Try(go=tuple(machine.go(catch))))
    ctx.nesting += 1
    _flatten_list(node.body, machine)
    machine.add(*comments(node.body_comments))
    ctx.tries.pop()
    machine.add(leave)
    machine.begin(after)
    machine.current = catch
    machine.add(
        leave,
        pl.Exit(ctx.body_label, ctx.session_field("unresolved")),
        pl.Assign(session, pl.Invoke("ssb_internal.begin_catch", (pl.Name(session),)), note="BEGIN CATCH"),
    )
    ctx.catches += 1
    _flatten_list(node.handler, machine)
    machine.add(*comments(node.handler_comments))
    ctx.catches -= 1
    ctx.nesting -= 1
    machine.add(pl.Assign(f"{session}.caught", outer_error(ctx, ctx.catches), note="END CATCH"))
    machine.begin(after)


# ------------------------------------------------------------------ savepoints


def _savepoint_key(name: nodes.NameOrVariable | None) -> str:
    """Savepoint names are compared with their case; a variable stands for itself."""
    match name:
        case nodes.Identifier():
            return name.text
        case nodes.Variable():
            return name.key
    return ""


def _savepoint_names(body: Sequence[nodes.Statement]) -> list[str]:
    return list(
        dict.fromkeys(
            _savepoint_key(statement.name)
            for statement in nodes.all_of(body)
            if isinstance(statement, nodes.SaveTransaction)
        )
    )


def _is_variable(key: str) -> bool:
    return key.startswith("@")


def _may_be(name: nodes.NameOrVariable | None, machine: _Machine) -> dict[str, n.Node | None]:
    """Return the savepoints that ROLLBACK's name may mean, the innermost first, each with when it does.

    None: always.  A name in a variable is known when the statement runs.
    """
    if name is None:
        return {}
    result: dict[str, n.Node | None] = {}
    asked = _savepoint_key(name)
    value = pl.tree(machine.ctx.name_or_text(name))
    for key in reversed(machine.savepoints):
        if key in machine.names:
            result[key] = n.IsDistinct(n.Variable(machine.names[key]), value, negated=True)
        elif isinstance(name, nodes.Variable):
            result[key] = n.IsDistinct(value, n.Text(key), negated=True)
        elif key == asked:
            result[key] = None
    return result


def _leave_blocks(machine: _Machine, when: pl.Expr | None, level: int = 0) -> list[pl.Statement]:
    """Leave the blocks of the savepoints, those from ``level`` on to be entered anew."""
    renew = pl.Assign(machine.renew, pl.Number(level))
    leave = pl.Exit(machine.inner_label)
    if when is None or when == pl.TRUE:
        return [renew, leave]
    return [pl.If(((when, (renew, leave)),))]


def _save(node: nodes.SaveTransaction, machine: _Machine) -> None:
    ctx = machine.ctx
    level = list(machine.savepoints).index(_savepoint_key(node.name)) + 1
    after = machine.new()
    check = pl.Invoke("ssb_internal.save_transaction", (pl.Name(ctx.session), pl.Number(ctx.line(node))))
    machine.add(
        pl.Assign(ctx.session, check, note=f"SAVE TRANSACTION {_savepoint_key(node.name)}"),
        # Error 628 or 3930: savepoints stay as they are.
        ctx.leave_if_failed(),
        pl.Assign(machine.pc, pl.Number(after)),
    )
    succeeded = pl.with_number(f"{ctx.session}.error", "=", 0)
    changes: list[pl.Statement] = []
    for number, variable in enumerate(machine.savepoints.values(), 1):
        if number >= level:
            changes.append(pl.Assign(variable, pl.TRUE if number == level else pl.FALSE))
    if (kept := machine.names.get(_savepoint_key(node.name))) is not None:
        changes.append(pl.Assign(kept, transaction_name(node.name, ctx)))
    machine.add(
        pl.If(((succeeded, (*changes, *_leave_blocks(machine, None, level))),)),
        pl.Continue(machine.inner_label),
    )
    machine.current = after


def _rollback_to(node: nodes.RollbackTransaction, machine: _Machine) -> None:
    ctx = machine.ctx
    here, after = machine.new(), machine.new()
    machine.begin(here)
    doomed = n.Variable(f"{ctx.session}.doomed")
    set_here: list[n.Node] = []
    state = ctx.outer_helper("session_state", "text[]")
    for key, when in _may_be(node.name, machine).items():
        level = list(machine.savepoints).index(key) + 1
        is_set = n.Variable(machine.savepoints[key])
        meant: tuple[n.Node, ...] = (is_set,) if when is None else (is_set, when)
        set_here.append(is_set if when is None else n.AllOf(meant))
        inner = list(machine.savepoints.values())[level:]
        undo: tuple[pl.Statement, ...] = (
            pl.Assign(machine.pc, pl.Number(after)),
            pl.Together(
                (
                    pl.Assign(f"{ctx.session}.error", pl.Number(0)),
                    pl.Assign(f"{ctx.session}.rowcount", pl.Number(0)),
                )
            ),
            *(pl.Assign(variable, pl.FALSE) for variable in inner),
            pl.Assign(state, pl.Invoke("ssb_internal.session_state")),
            pl.Raise(_sqlstate(level), f"ROLLBACK TRANSACTION {_savepoint_key(node.name)}"),
        )
        machine.add(pl.If(((pl.Raw(n.AllOf((*meant, n.Not(doomed)))), undo),)))
    name = transaction_name(node.name, ctx) if node.name is not None else pl.NULL
    line = pl.Number(ctx.line(node))
    leave = ctx.leave_after_error(certain=False)
    # Not set: the name of the transaction, which ends it, or an error. Doomed: error 3931.
    unset = [n.Not(meant) for meant in set_here]
    machine.add(*_leave_blocks(machine, pl.Raw(n.AllOf((*unset, _is_own(name, ctx))))))
    refuse = pl.Assign(ctx.session, pl.Invoke("ssb_internal.refuse_savepoint", (pl.Name(ctx.session), line)))
    call = pl.Call("ssb_internal.rollback_transaction", (pl.Name(ctx.session), line, name))
    machine.add(
        pl.If(
            ((pl.Raw(set_here[0] if len(set_here) == 1 else n.AnyOf(tuple(set_here))), (refuse,)),), (call,)
        ),
        leave,
        *machine.go(after),
    )
    _add_outside(machine, here, [call, leave], after, node)
    machine.current = after
    # What was set since the savepoint is undone. State: NULL where nothing was, or the whole transaction is.
    restore = pl.Perform(pl.Invoke("ssb_internal.restore_session_state", (pl.Name(state),)))
    machine.add(count_tries(ctx.session, 0), restore, pl.Assign(state, pl.NULL))


def _sqlstate(level: int) -> str:
    return f"SV{level:03d}"


def _commit(node: nodes.CommitTransaction, machine: _Machine) -> None:
    """A COMMIT that only counts stays inside: savepoints live on."""
    session = machine.ctx.session
    last = n.Comparison("=", n.Variable(f"{session}.trancount"), n.Integer(1))
    _outside(node, machine, pl.Raw(n.AllOf((last, n.Not(n.Variable(f"{session}.doomed"))))))


def _is_own(name: pl.Expr, ctx: Context) -> n.Node:
    """A name is the transaction's."""
    return n.IsDistinct(n.Variable(f"{ctx.session}.transaction_name"), pl.tree(name), negated=True)


def _call(node: nodes.Statement, machine: _Machine) -> None:
    """EXEC runs outside unless a savepoint is set; inside, the transaction cannot be ended in it."""
    none_set = n.all_of([n.Not(n.Variable(variable)) for variable in machine.savepoints.values()])
    assert none_set is not None
    _outside(node, machine, pl.Raw(none_set), atomic=True)


def _outside(node: nodes.Statement, machine: _Machine, when: pl.Expr, *, atomic: bool = False) -> None:
    """A statement in a state of its own, run outside the blocks when the condition holds, else inside."""
    ctx = machine.ctx
    here, after = machine.new(), machine.new()
    machine.begin(here)
    machine.add(*_leave_blocks(machine, when))
    if when != pl.TRUE:
        body = lower(node, ctx)
        if atomic and any(map(_calls, body)):
            was = ctx.helper("was_atomic", "boolean")
            body = [
                pl.Assign(was, ctx.session_field("atomic")),
                pl.Assign(f"{ctx.session}.atomic", pl.TRUE),
                *_restoring(body, pl.Assign(f"{ctx.session}.atomic", pl.Name(was))),
            ]
        machine.add(*body, *machine.go(after))
    _add_outside(machine, here, lower(node, ctx), after, node)
    machine.current = after


def _calls(statement: pl.Statement) -> bool:
    """Whether a statement is a CALL, or one that is made where the procedure is there."""
    if isinstance(statement, pl.If):
        return any(isinstance(inner, pl.Call) for _, then in statement.branches for inner in then)
    return isinstance(statement, pl.Call)


def _restoring(body: list[pl.Statement], restore: pl.Statement) -> list[pl.Statement]:
    """Put a statement right behind the CALL of a lowered EXEC, before control can leave."""
    result: list[pl.Statement] = []
    for statement in body:
        result.append(statement)
        if _calls(statement):
            result.append(restore)
    return result


def _add_outside(
    machine: _Machine, state: int, body: list[pl.Statement], after: int, node: nodes.Statement
) -> None:
    forget = [pl.Assign(variable, pl.FALSE) for variable in machine.savepoints.values()]
    ends = isinstance(node, nodes.CommitTransaction | nodes.RollbackTransaction)
    outer = [_redirect(statement, machine) for statement in body]
    machine.outside[state] = [
        *(forget if ends else []),
        pl.Assign(machine.pc, pl.Number(after)),
        *outer,
    ]


def _redirect(statement: pl.Statement, machine: _Machine) -> pl.Statement:
    """Outside the blocks, a jump to a state goes on with the outer loop."""
    match statement:
        case pl.Continue(label=label) if label == machine.inner_label:
            return pl.Continue(machine.label, statement.when)
        case pl.Block(body=body, handler=handler):
            return pl.Block(
                tuple(_redirect(inner, machine) for inner in body),
                statement.label,
                statement.declarations,
                None if handler is None else tuple(_redirect(inner, machine) for inner in handler),
                statement.note,
            )
        case pl.If(branches=branches, otherwise=otherwise):
            return pl.If(
                tuple((test, tuple(_redirect(s, machine) for s in then)) for test, then in branches),
                None if otherwise is None else tuple(_redirect(s, machine) for s in otherwise),
                statement.note,
            )
        case pl.Together(statements=inner):
            return pl.Together(tuple(_redirect(s, machine) for s in inner))
        case pl.Loop(body=body):
            redirected = tuple(_redirect(s, machine) for s in body)
            return pl.Loop(redirected, statement.condition, statement.label)
    return statement


def _with_savepoints(machine: _Machine) -> list[pl.Statement]:
    """Return the loop: what runs outside, and the nested blocks around the states."""
    ctx = machine.ctx
    inner: tuple[pl.Statement, ...] = (
        pl.Loop((_case(machine.pc, machine.states),), label=machine.inner_label),
    )
    for level in range(len(machine.savepoints), 0, -1):
        name = list(machine.savepoints)[level - 1]
        block = pl.Block(
            inner,
            handler=(pl.Assign(machine.renew, pl.Number(level)),),
            condition=f"SQLSTATE '{_sqlstate(level)}'",
            note=f"savepoint {name}",
        )
        if level > 1:
            again = pl.Exit(None, pl.with_number(machine.renew, "<", level))
            inner = (pl.Loop((block, again)),)
        else:
            inner = (block,)
    autocommit = (
        [pl.CommitIf(ctx.session_field("autocommit"))] if ctx.mode in (Mode.BATCH, Mode.PROCEDURE) else []
    )
    outside = (
        pl.Assign(machine.renew, pl.Number(1)),
        _case(machine.pc, machine.outside),
    )
    renewed = pl.with_number(machine.renew, "=", 0)
    run: list[pl.Statement] = [
        *autocommit,
        forbid_writing_if_doomed(ctx),
        pl.If(((renewed, outside),), inner) if machine.outside else pl.Block(inner),
    ]
    return [pl.Loop(tuple(run), label=machine.label)]
