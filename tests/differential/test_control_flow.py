"""Compiled T-SQL against the interpreter: kept cases, and a few hundred random ones.

More of them: python -m tests.differential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from differential import check, compiled, curated, generator, interpreter, trace
from differential.rules import Doubtful

from support import Database

# They look for errors of the compiler; PGSB_TEST_POSTGRES=15 runs them on another version.
pytestmark = pytest.mark.one_postgres

CASES = curated.load()
RANDOM_CASES = 240
EXTENDED_CASES = 80


@pytest.fixture(scope="module")
def runner(new_database: Callable[[], Database]) -> Iterator[compiled.Runner]:
    with compiled.runner(new_database().dsn) as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_kept_case(runner: compiled.Runner, case: curated.Case) -> None:
    found = curated.shown(trace.lines(runner.run_kept(case.program, case.script), counts=False))
    expected = [line for line in case.expected if not line.startswith("batch ")]
    actual = [line for line in found if not line.startswith("batch ")]
    assert check.same(expected, actual), "\n".join(actual)


def disagreements(runner: compiled.Runner, cases: int, features: frozenset[str]) -> Iterator[str]:
    for number in range(cases):
        try:
            found = check.compare(generator.numbered(1, number, features=features), runner)
        except (Doubtful, interpreter.TooLong):
            continue
        if found is not None:
            yield f"case {number}\n{check.smaller(found, runner, attempts=150).report()}"


@pytest.mark.long
def test_random_programs_agree(runner: compiled.Runner) -> None:
    for report in disagreements(runner, RANDOM_CASES, frozenset()):
        pytest.fail(report, pytrace=False)


@pytest.mark.long
def test_random_programs_with_cursors_tables_and_conversations_agree(runner: compiled.Runner) -> None:
    for report in disagreements(runner, EXTENDED_CASES, generator.FEATURES):
        pytest.fail(report, pytrace=False)
