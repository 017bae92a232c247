"""Records are made as the standard library's dataclasses are: the same arguments, defaults and errors."""

import dataclasses
import gc
import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pgsb.compiler.collecting import rare_collections
from pgsb.grammar.records import dataclass, replace


def _classes(make: Callable[..., Any]) -> list[Any]:
    """Classes of each kind of field, made by ``make``."""

    @make(frozen=True)
    class Plain:
        first: int
        second: str = "two"

    @make(frozen=True, slots=True)
    class ByName(Plain):
        third: int = dataclasses.field(kw_only=True)
        fourth: int = dataclasses.field(default=4, kw_only=True)

    @make(kw_only=True)
    class OnlyByName:
        one: int
        two: int = 2

    @make
    class Made:
        given: int
        made: list[int] = dataclasses.field(default_factory=list)
        kept: int = dataclasses.field(default=7, init=False)

        def __post_init__(self) -> None:
            self.kept += self.given

    @make
    class Empty:
        pass

    return [Plain, ByName, OnlyByName, Made, Empty]


_CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, "b"), {}),
    ((1,), {"third": 3}),
    ((1, "b"), {"third": 3, "fourth": 5}),
    ((), {"one": 1}),
    ((), {"one": 1, "two": 3}),
    ((1, "b", 3), {}),
    ((1,), {"first": 1}),
    ((1,), {"unknown": 1}),
    ((1,), {"made": [2]}),
]


def _parameters(cls: Any) -> list[tuple[str, object, object]]:
    return [(one.name, one.kind, one.default) for one in inspect.signature(cls).parameters.values()]


def _outcome(cls: Any, given: tuple[Any, ...], named: dict[str, Any]) -> object:
    try:
        made = cls(*given, **named)
    except TypeError as error:
        return str(error)
    return dataclasses.astuple(made)


@pytest.mark.parametrize("number", range(5))
def test_init_takes_what_the_standard_librarys_takes(number: int) -> None:
    ours, theirs = _classes(dataclass)[number], _classes(dataclasses.dataclass)[number]
    for given, named in _CALLS:
        # Twice: the first call of a class puts its __init__ in its place.
        for _ in range(2):
            told = _outcome(ours, given, named)
            expected = _outcome(theirs, given, named)
            assert told == expected, (given, named)
    # A value that is made anew for each object has a mark of its own as its default in the signature.
    if ours.__name__ != "Made":
        assert _parameters(ours) == _parameters(theirs)


def test_each_class_keeps_its_own_names_and_defaults() -> None:
    @dataclass(frozen=True)
    class Left:
        left: int
        default: int = 1

    @dataclass(frozen=True)
    class Right:
        right: int
        default: int = 2

    assert (Left(0).default, Right(0).default) == (1, 2)
    assert replace(Right(3), default=4) == Right(right=3, default=4)
    assert not hasattr(Right(0), "left")


@pytest.mark.parametrize("frozen", [False, True])
def test_the_search_for_cycles_is_as_before_when_scripts_are_compiled(frozen: bool) -> None:
    before, count = gc.get_threshold(), gc.get_freeze_count()
    if frozen:
        gc.freeze()
    try:
        kept = gc.get_freeze_count()
        with rare_collections():
            assert gc.get_threshold()[0] >= 1_000_000
            cycle: list[object] = []
            cycle.append(cycle)
        assert gc.get_threshold() == before
        # What a program has frozen stays so.
        assert gc.get_freeze_count() == kept
        del cycle
        assert gc.collect() >= 1
    finally:
        if frozen and not count:
            gc.unfreeze()


def test_what_much_has_left_counts_as_searched() -> None:
    # In a process of its own: these tests have frozen objects.
    program = """if True:
        import gc
        from pgsb.compiler.collecting import rare_collections
        for count in (100, 50_000):
            gc.collect()
            with rare_collections():
                kept = [[] for _ in range(count)]
            print(gc.get_count()[0] >= count, gc.get_freeze_count())
    """
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0", "False", "0"]
