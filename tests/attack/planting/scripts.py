"""Runs a script in a session of its own, as `pgsb run` does."""

from contextlib import closing

from end_to_end.tsql import Tsql

from support import Connection

_END = "SELECT pg_terminate_backend(a.pid, 20000) FROM pg_stat_activity AS a WHERE a.usename = %s"


def end_sessions(owner: Connection, role: str) -> None:
    """Wait until the role has no session: one that its client has closed may still drop temporary tables."""
    owner.execute(_END, [role])


def run_well(dsn: str, text: str) -> str:
    """Run it; an error is a failure of the test. Returns what a user would see."""
    with closing(Tsql(dsn)) as session:
        return session.run_well(text)


def run_any(dsn: str, text: str) -> list[str]:
    """Run it, and return the messages of its errors."""
    with closing(Tsql(dsn)) as session:
        session.run(text)
        return [error.message for error in session.errors]
