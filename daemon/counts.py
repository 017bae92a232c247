"""What the daemon counts while it runs: for the database's counters and the metrics endpoint."""

import threading
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latency histogram, in seconds; what takes longer is in one more bucket."""


@dataclass
class Counts:
    """Totals since the daemon's start. Written by its event loop, read by others under the lock.

    Names of ``totals``: readers_started, procedures_started, readers_failed, not_started, limit_reached,
    transport_messages, transport_sets, transport_bytes, messages_dropped, messages_corrupted.
    ``buckets`` counts activation latencies: seconds from the wake-up (the NOTIFY, or the look that found
    the message) to the CALL of the program. ``state`` is starting, leading, standing_by or lost (the server
    does not let it in); ``beat_at`` is when its event loop turned last: time.monotonic().
    """

    totals: Counter[str] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    latency_sum: float = 0.0
    state: str = "starting"
    beat_at: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _flushed: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, number: int = 1) -> None:
        """Count so many more of them."""
        with self.lock:
            self.totals[name] += number

    def observe(self, seconds: float) -> None:
        """A program was called so long after its queue woke."""
        with self.lock:
            self.buckets[bisect_left(BOUNDS, seconds)] += 1
            self.latency_sum += seconds

    def news(self) -> dict[str, int]:
        """What came since the last `written`."""
        with self.lock:
            return dict(self.totals - self._flushed)

    def written(self, news: dict[str, int]) -> None:
        """These are in the database."""
        with self.lock:
            self._flushed.update(news)
