"""The interpreter against expectations derived by hand from the reference."""

from __future__ import annotations

from random import Random

import pytest
from differential import curated, generator, interpreter, reader, render, syntax, trace
from differential.rules import Doubtful

CASES = curated.load()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_interpreter_follows_the_reference(case: curated.Case) -> None:
    lines = trace.lines(interpreter.run(case.program), counts=False)
    assert curated.shown(lines) == case.expected


def lines_of(program: syntax.Program) -> list[int]:
    # BEGIN … END around the one block of an IF is written once.
    return [
        node.line
        for node in syntax.walk(program)
        if isinstance(node, syntax.Stmt) and not isinstance(node, syntax.Block)
    ]


@pytest.mark.long
def test_programs_read_back_as_they_were_written() -> None:
    for number in range(300):
        program = generator.numbered(7, number, features=generator.FEATURES if number % 2 else frozenset())
        script = render.script(program)
        again = reader.read(script)
        again.terse = program.terse
        assert lines_of(again) == lines_of(program)
        assert render.script(again) == script


@pytest.mark.long
def test_most_programs_decide_something_and_they_cover_the_rules() -> None:
    covered: set[str] = set()
    decided = 0
    for number in range(2500):
        program = generator.numbered(11, number)
        render.batches(program)
        machine = interpreter.Machine(program)
        try:
            machine.run()
        except (Doubtful, interpreter.TooLong):
            continue
        decided += 1
        covered |= machine.covered
    assert decided > 2100
    assert covered >= {
        "committed",
        "rolled back",
        "rolled back to a savepoint",
        "doomed",
        "rethrown",
        "scope ended",
        "batch ended, transaction kept",
        "batch and transaction ended",
        "caught from a called procedure",
        "call at depth 3",
        *(
            f"error {number}"
            for number in (
                201,
                208,
                245,
                266,
                515,
                547,
                628,
                2627,
                2628,
                2812,
                3902,
                3903,
                3930,
                3931,
                6401,
                8115,
                8134,
                8144,
                50000,
                50001,
            )
        ),
    }


def test_the_same_seed_gives_the_same_program() -> None:
    assert render.script(generator.generate(Random(5))) == render.script(generator.generate(Random(5)))


def test_a_program_that_does_not_end_is_given_up() -> None:
    program = reader.read("DECLARE @a int = 1;\nWHILE @a = 1\n    SET @a = 1;\n")
    with pytest.raises(interpreter.TooLong):
        interpreter.run(program)
