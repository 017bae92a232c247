"""Several T-SQL sessions at once: each in a thread of its own, with what it showed."""

import threading
from collections.abc import Sequence

import psycopg
from end_to_end.tsql import Tsql

from activation import until


class Session(threading.Thread):
    """Runs one script on a connection of its own; ``join`` raises what went wrong in it."""

    def __init__(self, dsn: str, script: str, **options: str) -> None:
        super().__init__(daemon=True)
        self.tsql = Tsql(dsn, **options)
        self.shown = ""
        self._script = script
        self._failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.shown = self.tsql.run(self._script)
        except BaseException as error:
            self._failure = error

    def join(self, timeout: float | None = 60.0) -> None:
        super().join(timeout)
        assert not self.is_alive(), "the session does not end"
        self.tsql.close()
        if self._failure is not None:
            raise self._failure

    @property
    def pid(self) -> int:
        """The backend's process."""
        return self.tsql.connection.info.backend_pid


def together(dsn: str, scripts: Sequence[str], **options: str) -> list[Session]:
    """Run the scripts at the same time; the sessions, when all have ended."""
    sessions = [Session(dsn, script, **options) for script in scripts]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    return sessions


def until_blocked(connection: psycopg.Connection[object], pid: int) -> None:
    """Return when the session waits for a lock."""
    until(
        lambda: (
            connection.execute(
                "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", [pid]
            ).fetchone()
            is not None
        )
    )


def started(dsn: str, script: str, **options: str) -> Session:
    """Return a session that runs its script by now."""
    session = Session(dsn, script, **options)
    session.start()
    return session
