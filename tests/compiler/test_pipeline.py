"""A script is read batch by batch: what comes later may be needed earlier, what is done with is let go."""

import gc
import sys
import tracemalloc
from types import FrameType

import pytest

from pgsb.compiler.catalog.names import behind_use_first, use_first
from pgsb.compiler.pipeline import CompileOptions, CompileSession, compile_script
from pgsb.grammar.source import Source

_BATCH = "DECLARE @h uniqueidentifier, @n int = {n};\nIF @n > 1 SELECT @n AS n, @h AS h;\nGO\n"


def _held(batches: int) -> int:
    """Bytes that are held after the last batch of a long script but one."""
    source = Source("long.sql", "".join(_BATCH.format(n=n) for n in range(batches)))
    session = CompileSession(CompileOptions())
    compiled = session.compile_script(source)
    tracemalloc.start()
    try:
        for _ in range(batches - 1):
            next(compiled)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_batches_that_are_done_with_are_let_go() -> None:
    _held(20)  # what is made once
    short, long = _held(50), _held(450)
    # Its lines and what Python keeps for reuse take some hundreds of bytes, its nodes thousands.
    assert long - short < 400 * 1000


def test_a_procedure_of_a_later_batch_is_known() -> None:
    script = (
        "CREATE PROCEDURE dbo.a AS DECLARE @r int; EXEC dbo.b 1, @r OUTPUT\nGO\n"
        "CREATE PROCEDURE dbo.b @n int, @r int OUTPUT AS SET @r = @n\nGO\n"
    )
    first, *_ = compile_script(Source("procedures.sql", script)).batches
    assert "CALL dbo.b(1, r, session)" in first.statements[-1].sql


def test_hints_that_would_lock_a_view_are_told() -> None:
    script = (
        "CREATE TABLE dbo.stock (id int PRIMARY KEY, n int)\nGO\n"
        "CREATE VIEW dbo.left_over AS SELECT id, n FROM dbo.stock WHERE n > 0\nGO\n"
        "SELECT id FROM dbo.left_over AS l WITH (UPDLOCK, ROWLOCK) WHERE n = 1\n"
        "SELECT id FROM dbo.left_over WITH (NOLOCK)\nSELECT id FROM dbo.stock WITH (UPDLOCK)\nGO\n"
        "CREATE TRIGGER tr ON dbo.stock AFTER INSERT AS SELECT id FROM inserted WITH (HOLDLOCK)\n"
    )
    (warning,) = compile_script(Source("views.sql", script)).problems
    told = warning.severity, warning.message, warning.span.line
    assert told == ("warning", "UPDLOCK locks nothing here: dbo.left_over is a view", 5)


def _calls(script: str) -> int:
    """How many functions of Python a translation calls."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        compile_script(Source("long.sql", script))
    finally:
        sys.setprofile(None)
    return calls


def test_each_variable_of_thousands_costs_what_the_first_ones_cost() -> None:
    few, many = (_calls("DECLARE @v int" + "".join(f", @v{i} int" for i in range(n))) for n in (200, 800))
    assert many < 5 * few


class _Script(str):
    """A text that nobody reads from its beginning to its end."""

    __slots__ = ()

    def partition(self, separator: str, /) -> tuple[str, str, str]:
        raise AssertionError(f"all of the text was searched for {separator!r}")

    def find(self, wanted: str, start: int = 0, end: int | None = None, /) -> int:  # type: ignore[override]
        assert wanted == "\n" or end is not None, f"all of the text was searched for {wanted!r}"
        return super().find(wanted, start, end)


@pytest.mark.parametrize("beginning", ["PRINT 1;\n", "USE [a];\n"])
def test_what_each_batch_asks_of_the_whole_script_reads_its_first_line_alone(beginning: str) -> None:
    """Of 40,000 batches it was a minute."""
    text = _Script(beginning + f"PRINT N'{use_first('b')}';\nGO\n")
    assert behind_use_first(text) is text
    assert behind_use_first(use_first("a]b") + "PRINT 1") == "PRINT 1"
