"""When sets are read a little later, so that they have more messages."""

from collections.abc import Callable

import pytest

from pgsb.daemon.pacing import LONGEST, LONGEST_OF_SLOW, Pace

_SET = 0.004
"""Seconds that a set takes, whatever is in it."""


def _run(
    arrived: Callable[[float], int], seconds: float, pace: Pace, began: float = 0.0, most: int = 2000
) -> tuple[list[int], list[float]]:
    """Sets' messages and the pauses behind them; ``arrived`` tells how many messages came up to a time.

    Where nothing is there, the next look is when something is.
    """
    now, taken = began, arrived(began)
    sets: list[int] = []
    pauses: list[float] = []
    while now < began + seconds:
        found = min(arrived(now) - taken, most)
        if not found:
            pace.found_nothing()
            now += 0.0005
            continue
        taken += found
        sets.append(found)
        pauses.append(pace.pause(now, now + _SET, found, is_full=found == most))
        now += _SET + pauses[-1]
    return sets, pauses


def test_steady_senders_messages_gather() -> None:
    sets, pauses = _run(lambda now: int(now * 20_000), 2.0, Pace())
    assert max(sets[:8]) <= 81, "what came while the last set was on its way"
    assert min(sets[20:]) >= 400
    assert 0 < max(pauses) <= LONGEST


def test_pauses_are_no_longer_than_what_takes_long_anyway() -> None:
    pace = Pace()
    for place in range(10):
        pause = pace.pause(place * 0.1, place * 0.1 + 0.04, 200, is_full=False)
    assert pause == pytest.approx(0.04)
    for place in range(10, 20):
        pause = pace.pause(place * 0.5, place * 0.5 + 0.4, 500, is_full=False)
    assert pause == LONGEST_OF_SLOW


def test_what_is_enough_is_not_waited_for() -> None:
    sets, pauses = _run(lambda now: int(now * 100_000), 1.0, Pace())
    assert 900 < sets[-1] < 1100
    assert max(pauses) < 0.007
    _, pauses = _run(lambda now: int(now * 400_000), 1.0, Pace())
    assert max(pauses) == 0


def test_a_quiet_dialog_waits_for_nothing() -> None:
    _, pauses = _run(lambda now: int(now / 0.02), 2.0, Pace())
    assert set(pauses) == {0.0}
    # Sets straight one after the other, with a few messages each.
    _, pauses = _run(lambda now: int(now * 1_000), 2.0, Pace())
    assert set(pauses) == {0.0}


def test_bursts_wait_for_nothing() -> None:
    # A transaction of 200 messages now and then: behind it, there is nothing.
    _, pauses = _run(lambda now: int(now / 0.05) * 200, 5.0, Pace())
    assert set(pauses) == {0.0}


def test_a_backlog_waits_for_nothing() -> None:
    sets, pauses = _run(lambda now: 100_000 if now > 0.001 else 0, 0.4, Pace())
    assert set(sets) == {2000}
    assert set(pauses) == {0.0}


def test_who_waits_for_answers_is_not_slowed() -> None:
    # 200 messages are under way at most: as many are sent when the last ones have been answered.
    pace = Pace()
    now, free = 0.0, 200
    times: list[float] = []
    delivered = 0
    while now < 20.0:
        found, free = free // 2, free - free // 2
        pause = pace.pause(now, now + _SET, found, is_full=False)
        times.append(pause)
        now += _SET + pause
        delivered += found
        free += found
    assert max(times) > 0, "a pause is tried"
    assert len([one for one in times if one]) < 0.05 * len(times)
    assert delivered > 0.9 * 20.0 / _SET * 100


def test_senders_that_become_slower_by_themselves_go_on_gathering() -> None:
    pace = Pace()
    _run(lambda now: int(now * 40_000), 1.0, pace)
    _, pauses = _run(lambda now: int(now * 10_000), 0.5, pace, began=1.0)
    assert pauses.count(0.0) < 12, "some are read without, to see"
    assert pauses[-1] == pytest.approx(4 * _SET)


def test_rates_of_another_time_do_not_count() -> None:
    pace = Pace()
    _run(lambda now: int(now * 20_000), 1.0, pace)
    _, pauses = _run(lambda now: int(now * 20_000), 0.01, pace, began=60.0)
    assert set(pauses) == {0.0}
