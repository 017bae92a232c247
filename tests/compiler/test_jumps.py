"""GOTO: regions of labels never cross, and compiling takes time in proportion to labels and batches."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from pgsb.compiler.analysis.jumps import Irreducible, Region, _nest
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source


def test_widened_regions_do_not_cross() -> None:
    chosen = random.Random(7)
    nested = 0
    for _ in range(3000):
        written = []
        for _ in range(chosen.randint(1, 9)):
            first = chosen.randint(0, 12)
            written.append((first, chosen.randint(first, 13), chosen.random() < 0.5))
        regions = [Region(str(n), *place) for n, place in enumerate(written)]
        try:
            _nest(regions)
        except Irreducible:
            continue
        nested += 1
        crossing = [
            (one, other)
            for one in regions
            for other in regions
            if one.first < other.first <= one.last < other.last
        ]
        assert crossing == []
        for (first, last, backward), region in zip(written, regions, strict=True):
            assert region.first <= first and region.last >= last
            assert (region.first == first) if backward else (region.last == last)
    assert nested > 1000


def skipping(count: int) -> str:
    """A batch with ``count`` labels, each jumped to from right above."""
    parts = [f"IF @n = {i} GOTO l{i};\nSET @n = @n + 1;\nl{i}:\n" for i in range(count)]
    return "DECLARE @n int = 0;\n" + "".join(parts)


def dispatching(count: int) -> str:
    """A batch that jumps to each of ``count`` labels from its top: all regions begin there."""
    jumps = [f"IF @n = {i} GOTO l{i};\n" for i in range(count)]
    return (
        "DECLARE @n int = 0;\n" + "".join(jumps) + "".join(f"l{i}:\nSET @n = @n + 1;\n" for i in range(count))
    )


def leaving_open(count: int) -> str:
    """Batches that leave transactions open, so that all of them become one block."""
    return "BEGIN TRAN;\nGO\nPRINT 1;\nGO\n" * (count // 2)


def seconds(text: str) -> float:
    before = time.process_time()
    compiled = compile_script(Source("case.sql", text))
    assert not compiled.problems.errors
    return time.process_time() - before


@pytest.mark.long
@pytest.mark.parametrize("script", [skipping, dispatching, leaving_open])
def test_time_grows_with_the_length(script: Callable[[int], str]) -> None:
    seconds(script(20))
    short = min(seconds(script(150)) for _ in range(3))
    long = min(seconds(script(1200)) for _ in range(2))
    assert long < short * 8 * 3  # eight times the length; a square would take sixty-four times


def test_many_labels_from_one_place_become_states() -> None:
    text = compile_script(Source("case.sql", dispatching(300))).text()
    assert "pc := 2; CONTINUE machine_1;" in " ".join(text.split())
