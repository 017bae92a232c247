"""How long messages gather before the next set is read.

A set costs the same whatever is in it: some 2 ms of the two servers and this process. Where senders are
steady, sets that are read one straight after the other have only what came while the last one was on its
way. So the next one is read somewhat later, and has more. One message alone waits for nothing: only where
set after set finds something, and a pause would gather many, is there one.

Who sends again only when the other side has answered sends less for each pause. So where less comes with
pauses than before, some sets are read without; and where more comes then, pauses are left off, for longer
each time.
"""

from dataclasses import dataclass

LONGEST, LONGEST_OF_SLOW = 0.025, 0.1
"""Seconds of a pause, at most: so much later does a message arrive that comes while others stream. Where
sets themselves take longer, as long as the last one, up to the second."""
_SHARE = 4.0
"""… and at most so many times as long as the last set took."""
_WORTH = 64
"""As many messages has a pause to gather."""
_ENOUGH = 1000
"""For more no pause is longer."""
_CYCLES = 8
"""Rates are those of so many sets."""
_SLOWED = 0.67
"""Of the rate without pauses: where less comes with them, the senders wait for answers."""
_REST, _LONGEST_REST = 2.0, 60.0
"""Seconds without pauses then: first, and at most."""
_STALE = 1.0
"""Seconds without a set after which rates are not known any more."""


@dataclass
class _Rate:
    """Messages a second, of the last sets."""

    value: float = 0.0
    cycles: int = 0

    def add(self, rate: float) -> None:
        self.cycles += 1
        self.value += (rate - self.value) / min(self.cycles, _CYCLES)

    @property
    def is_known(self) -> bool:
        return self.cycles >= _CYCLES


class Pace:
    """Of one peer. Times are those of any clock, in seconds."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._read_at = float("-inf")
        self._has_paused = False
        self._plain = _Rate()
        self._paused = _Rate()
        self._is_doubted = False
        self._rest = _REST
        self._rests_until = float("-inf")

    def found_nothing(self) -> None:
        """Nothing was there to read: the next set is not straight behind the last one."""
        self._began = None
        self._has_paused = False

    def pause(self, began: float, ended: float, messages: int, *, is_full: bool) -> float:
        """Seconds until the next set should be read.

        The last one was read at ``began``, delivered at ``ended``, and had so many messages.
        """
        before, self._began = self._began, began
        has_paused, self._has_paused = self._has_paused, False
        if is_full:
            # More waits already, and how fast it comes is not seen.
            self._began = None
            return 0.0
        if began > self._read_at + _STALE:
            self._forget_rates()
        self._read_at = began
        if before is None or began <= before:
            return 0.0
        (self._paused if has_paused else self._plain).add(messages / (began - before))
        self._judge(ended)
        if ended < self._rests_until or not self._plain.is_known:
            return 0.0
        rate = (self._paused if self._paused.is_known else self._plain).value
        took = ended - began
        pause = min(max(LONGEST, min(took, LONGEST_OF_SLOW)), _SHARE * took, _ENOUGH / rate - took)
        if pause * rate < _WORTH:
            return 0.0
        self._has_paused = True
        return pause

    def _judge(self, now: float) -> None:
        if not (self._paused.is_known and self._plain.is_known):
            return
        if self._paused.value >= _SLOWED * self._plain.value:
            self._rest = _REST
            self._is_doubted = False
        elif not self._is_doubted:
            # The senders may have become slower by themselves: the rate without pauses is measured anew.
            self._plain = _Rate()
            self._is_doubted = True
        else:
            self._rests_until = now + self._rest
            self._rest = min(2 * self._rest, _LONGEST_REST)
            self._forget_rates()

    def _forget_rates(self) -> None:
        self._plain, self._paused = _Rate(), _Rate()
        self._is_doubted = False
