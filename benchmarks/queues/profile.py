"""Where a run's time goes: processor time a message, what sessions wait for, WAL.

A thread looks at the server's sessions while pgbench runs. The processor time is that of their
server processes alone, as Linux accounts for it (`/proc/PID/schedstat`, nanoseconds); what else the
machine does makes a run slower, but a message hardly dearer. So it compares queues where
rates are noise.
"""

import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from .server import PGBENCH, BenchServer

_LOOK_SECONDS = 0.01
# A session that runs and waits for nothing; it has a core, or wants one.
RUNNING = "running"
_SESSIONS = """
SELECT pid, CASE WHEN state = 'active' THEN coalesce(wait_event_type || ':' || wait_event, %(running)s)
                 ELSE 'between statements' END
  FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = %(application)s
"""


@dataclass(frozen=True)
class Profile:
    """One run: microseconds of processor time and bytes of WAL a message, shares of the sessions' time.

    The shares are 0 to 1. ``processor`` is None where the system does not tell it.
    """

    processor: float | None
    wal: float
    waits: dict[str, float]


class Watch:
    """``with Watch(server, skip=1) as watch:`` a run of pgbench; then ``watch.profile(messages_per_second)``.

    Nothing counts before pgbench's sessions (those of ``application``) have been there for ``skip`` seconds.
    """

    def __init__(self, server: BenchServer, skip: float, application: str = PGBENCH) -> None:
        self._server = server
        self._application = application
        self._skip = skip
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._waits: Counter[str] = Counter()
        self._seconds = 0.0
        self._processor: float | None = 0.0
        self._wal = 0.0

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def profile(self, rate: float) -> Profile | None:
        """What was seen of a run of ``rate`` messages/s; None if it was over before anything counted."""
        if not self._seconds:
            return None
        messages = rate * self._seconds
        total = self._waits.total()
        return Profile(
            processor=None if self._processor is None else self._processor / messages * 1e6,
            wal=self._wal / messages,
            waits={name: count / total for name, count in self._waits.most_common()},
        )

    def _look(self) -> None:
        began: float | None = None
        first_wal = 0.0
        first: dict[int, float] = {}
        asked = {"running": RUNNING, "application": self._application}
        with self._server.connect() as connection:
            while not self._over.is_set():
                sessions = connection.execute(_SESSIONS, asked).fetchall()
                now = time.monotonic()
                used = {pid: processor_seconds(pid) for pid, _ in sessions}
                if sessions and began is None:
                    began = now
                if began is not None and now - began >= self._skip:
                    wal = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
                    assert wal is not None
                    if not first:
                        first = {pid: seconds or 0.0 for pid, seconds in used.items()}
                        first_wal, began = float(wal[0]), now - self._skip
                    # pgbench is done when the first of its sessions goes.
                    if not first.keys() <= used.keys():
                        return
                    self._seconds = now - began - self._skip
                    self._wal = float(wal[0]) - first_wal
                    self._waits.update(what for _, what in sessions)
                    if None in used.values():
                        self._processor = None
                    elif self._processor is not None:
                        self._processor = sum((used[pid] or 0.0) - first[pid] for pid in first)
                time.sleep(_LOOK_SECONDS)


def processor_seconds(pid: int) -> float | None:
    """The processor time of a process of this machine; None if it is gone or the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return None
