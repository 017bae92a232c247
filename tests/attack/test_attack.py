"""A short attack; `python -m tests.attack --minutes 20` is the long one."""

import os

import pytest
from attack.actors import Attack
from attack.field import Field


@pytest.mark.long
@pytest.mark.timeout(400)
def test_nothing_is_lost_doubled_or_out_of_order() -> None:
    with Field(os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0]) as ground:
        # The server crashes once a minute or so: too seldom for a test.
        Attack(ground, seed=0).run(12, without=("restart", "crash_backend", "dump"))
    assert ground.wrong == []
    for way in ("near", "program", "far", "sealed", "answer"):
        assert ground.done[f"{way}: messages"] > 0
    assert ground.done["sessions ended"] > 0
    assert ground.done["certificates renewed"] > 0
    assert ground.done["priorities and retention changed"] > 0
