"""What the fixtures hand to tests, and tests share: ``from support import Connection, Database``."""

import time
from dataclasses import dataclass
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Database:
    """One database of the test server: its name, and a DSN for a superuser."""

    name: str
    dsn: str


def end_counted(session: psycopg.Connection[Any], beside: psycopg.Connection[Any]) -> None:
    """End a session, and wait until the server has what it counted: before it leaves pg_stat_activity.

    ``beside`` is an autocommit session of the same role.
    """
    pid = session.info.backend_pid
    session.close()
    deadline = time.monotonic() + 60
    while beside.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [pid]).rowcount:
        assert time.monotonic() < deadline, "the session does not end"
        time.sleep(0.02)
