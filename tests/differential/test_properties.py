"""What must hold of every program, with Hypothesis as the source of randomness."""

from __future__ import annotations

from differential import generator, interpreter, render, syntax, trace
from differential.rules import Doubtful
from differential.trace import Trace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import examples

PROGRAMS = st.builds(
    generator.generate,
    st.randoms(use_true_random=False),
    st.integers(2, 8),
    st.frozensets(st.sampled_from(sorted(generator.FEATURES))),
)

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def outcome(program: syntax.Program) -> Trace | None:
    render.batches(program)
    try:
        return interpreter.run(program)
    except (Doubtful, interpreter.TooLong):
        return None


@settings(max_examples=examples(150), deadline=None, suppress_health_check=SLOW)
@given(PROGRAMS)
def test_tables_keep_their_constraints_and_no_transaction_is_left(program: syntax.Program) -> None:
    found = outcome(program)
    if found is None:
        return
    # What a script leaves open is rolled back when its client goes.
    assert found.trancount == 0
    for table in syntax.TABLES:
        rows = found.tables[table.name]
        assert len({row[table.key] for row in rows}) == len(rows)
        for row in rows:
            for column in table.columns:
                value = row[column.name]
                assert value is not None or column.nullable
                assert column.check_below is None or value is None or value < column.check_below


@settings(max_examples=examples(50), deadline=None, suppress_health_check=SLOW)
@given(PROGRAMS)
def test_a_program_does_the_same_twice(program: syntax.Program) -> None:
    first, second = outcome(program), outcome(program)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert trace.lines(first) == trace.lines(second)
