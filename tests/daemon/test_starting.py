"""The command `pgsb broker` starts before its server does, and says what it waits for."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]


def _start(database: Database, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", database.dsn, *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def closed(postgres: str, database: Database, connect: Connect) -> Connection:
    """A connection to the server, whose database lets nobody in."""
    admin = connect(postgres)
    admin.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false")
    return admin


def test_the_daemon_waits_for_its_server(database: Database, closed: Connection) -> None:
    process = _start(database)
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        assert "warning waiting: cannot connect to" in first and "trying again in 0.1 s" in first
        closed.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true")
        while "waiting" in (line := process.stderr.readline()):
            pass
        assert "leading: this daemon leads" in line
        process.terminate()
        assert process.wait() == 0
    finally:
        process.kill()
        process.communicate()


def test_its_patience_ends(database: Database, closed: Connection) -> None:
    process = _start(database, "--wait", "0.2", "--log-format", "json")
    _, said = process.communicate()
    assert process.returncode == 1
    waiting, reason, hint = said.splitlines()
    assert waiting.startswith('{"level": "warning", "event": "waiting", ')
    assert reason.startswith("cannot connect to ") and "is not currently accepting connections" in reason
    assert hint == "hint: the server was named by --dsn"


def test_what_waiting_does_not_mend_ends_it_at_once(empty_database: Database) -> None:
    process = _start(empty_database)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "there is no runtime in" in said.splitlines()[0]
