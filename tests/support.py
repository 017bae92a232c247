"""What the fixtures hand to tests, and tests share: ``from support import Connection, Database``."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Database:
    """One database of the test server: its name, and a DSN for a superuser."""

    name: str
    dsn: str


def rest_is_long(values: Iterable[Any], *ordinary: Any) -> list[Any]:
    """Values to parametrize with: but for these they run with ``--long``, for they take the same way."""
    return [one if one in ordinary else pytest.param(one, marks=pytest.mark.long) for one in values]


def examples(number: int) -> int:
    """So many of Hypothesis' examples with ``--long`` and where a file is named, else a quarter of them."""
    return number if os.environ.get("PGSB_TEST_LONG") else number // 4


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


def server_home(prefix: str) -> Path:
    """A new folder for a server of a test's own; who asks for it removes it.

    Not tmp_path: the socket's path must stay short, and as root the server's user must be able to enter.
    """
    home = Path(tempfile.mkdtemp(prefix=prefix, dir=_roomy_memory()))
    if os.geteuid() == 0:
        home.chmod(0o711)
    return home


def _roomy_memory() -> Path | None:
    """The file system in memory, where there is room for the servers: it clones a database in no time."""
    memory, wanted = Path("/dev/shm"), 6 * 2**30
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < wanted:
        return None
    available = re.search(r"^MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return memory if available is not None and int(available[1]) * 1024 >= wanted else None
