"""The check itself: wrong rules are found, and shrunk to something readable."""

from __future__ import annotations

from random import Random

import pytest
from differential import check, generator, interpreter, render, syntax
from differential.evaluation import Frame
from differential.expressions import Scope
from differential.flat import Step
from differential.interpreter import BatchEnds, Machine, Snapshot, TooLong
from differential.rules import Doubtful, Ends, Error
from differential.trace import Trace

from pgsb.compiler.checking import check_scripts
from pgsb.grammar.source import Source


class Wrong:
    """A side that runs a machine with one wrong rule."""

    def __init__(self, machine: type[Machine]) -> None:
        self.machine = machine

    def run(self, program: syntax.Program) -> Trace:
        return self.machine(program).run()


class CommitsOnRollback(Machine):
    def restore(self, snapshot: Snapshot) -> None:
        pass


class NeverDooms(Machine):
    def catch(self, error: Error, depth: int, number: int) -> None:
        super().catch(error, depth, number)
        self.doomed = False


class ForgetsTheMismatch(Machine):
    def check_count(self, frame: Frame, line: int) -> None:
        pass


class KeepsOptions(Machine):
    def leave(self, frame: Frame, status: int = 0, returned: bool = False) -> None:
        frame.options = (self.xact_abort, self.nocount)
        super().leave(frame, status, returned)


class CatchesMissingObjects(Machine):
    def handler(self, skip_top: bool) -> tuple[int, int] | None:
        return super().handler(skip_top=False)


class ConditionsKeepError(Machine):
    def perform(self, frame: Frame, step: Step) -> None:
        before = self.last_error, self.rowcount
        super().perform(frame, step)
        if step.kind == "jump unless":
            self.last_error, self.rowcount = before


class ThrowRollsBack(Machine):
    def fail(
        self, error: Error, frame: Frame, *, changes_rows: bool = False, of_trigger: bool = False
    ) -> None:
        if error.ends is Ends.BATCH and self.handler(skip_top=False) is None:
            self.send(error)
            self.roll_back()
            raise BatchEnds
        super().fail(error, frame, changes_rows=changes_rows, of_trigger=of_trigger)


class OutputAlwaysReturns(Machine):
    def catch(self, error: Error, depth: int, number: int) -> None:
        for frame in self.stack[depth + 1 :]:
            if frame.call is not None and frame.procedure is not None:
                for arg, param in zip(frame.call.args, frame.procedure.params, strict=False):
                    if arg.output and arg.name is None and isinstance(arg.value, syntax.Var):
                        self.stack[depth].variables[arg.value.name] = frame.variables[param.name]
        super().catch(error, depth, number)


WRONG: list[type[Machine]] = [
    CommitsOnRollback,
    NeverDooms,
    ForgetsTheMismatch,
    KeepsOptions,
    CatchesMissingObjects,
    ConditionsKeepError,
    ThrowRollsBack,
    OutputAlwaysReturns,
]


def first_disagreement(side: Wrong, cases: int) -> check.Disagreement | None:
    for number in range(cases):
        try:
            found = check.compare(generator.numbered(3, number), side)
        except (Doubtful, TooLong):
            continue
        if found is not None:
            return found
    return None


@pytest.mark.long
@pytest.mark.parametrize("machine", WRONG, ids=lambda machine: machine.__name__)
def test_a_wrong_rule_is_found_and_the_program_made_small(machine: type[Machine]) -> None:
    side = Wrong(machine)
    found = first_disagreement(side, 2500)
    assert found is not None
    small = check.smaller(found, side)
    assert small.expected != small.actual
    size = sum(isinstance(node, syntax.Stmt) for node in syntax.walk(small.program))
    assert size <= 12, render.script(small.program)


def test_equal_rules_never_disagree() -> None:
    assert first_disagreement(Wrong(Machine), 300) is None


def test_the_report_shows_the_program_with_its_lines_and_both_traces() -> None:
    side = Wrong(CommitsOnRollback)
    found = first_disagreement(side, 2500)
    assert found is not None
    report = check.smaller(found, side).report()
    assert "  1 " in report and "--- interpreter" in report and "+++ compiled" in report


def test_a_crash_stays_a_crash_while_it_shrinks() -> None:
    class Crashes:
        def run(self, program: syntax.Program) -> Trace:
            if any(isinstance(node, syntax.Try) for node in syntax.walk(program)):
                raise interpreter.TooLong("loop")
            return interpreter.run(program)

    found = None
    for number in range(500):
        try:
            found = check.compare(generator.numbered(3, number), Crashes())
        except (Doubtful, TooLong):
            continue
        if found is not None:
            break
    assert found is not None and "TooLong" in found.actual[0]
    assert "TooLong" in check.smaller(found, Crashes()).actual[0]


def test_a_loop_over_a_cursor_tells_of_no_variable_that_it_does_not_declare() -> None:
    for seed in range(100):
        writer = generator.Generator(Random(seed), features=frozenset({"branches", "cursors"}))
        scope = Scope(ints=["@a", "@b"])
        made = list(writer.cursor_loop(scope, 9, 1))
        known = [syntax.Declare(name, syntax.INT, None) for name in ("@a", "@b")]
        shown = [syntax.Print(syntax.Concat([syntax.Var(name)])) for name in scope.ints]
        program = syntax.Program([], [syntax.Batch([*known, *scope.declared, *made, *shown])])
        found = check_scripts([Source("case.sql", render.script(program))])
        assert not [str(problem) for problem in found if problem.number == 137], seed
