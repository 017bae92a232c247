"""The command `pgsb broker` starts before its server does, and says what it waits for."""

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from activation import until
from pgsb.cli.run import open_database
from pgsb.server.connect import Target
from pgsb.server.problems import Unreachable
from support import Connection, Database, server_home

pytestmark = pytest.mark.one_postgres

AT_WORK = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = 'pgsb reader' AND wait_event = 'PgSleep'"
)

Connect = Callable[..., Connection]


def _start(database: Database, *options: str, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    command = [*before, sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", database.dsn, *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def closed(postgres: str, database: Database, connect: Connect) -> Connection:
    """A connection to the server, whose database lets nobody in."""
    admin = connect(postgres)
    admin.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false")
    return admin


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_second_signal_ends_the_grace(database: Database, connect: Connect) -> None:
    sql = connect()
    sql.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_queue('dbo.p')")
    sql.execute("SELECT ssb.create_service('//Q', 'dbo.q', '{DEFAULT}'), ssb.create_service('//P', 'dbo.p')")
    sql.execute(
        "CREATE PROCEDURE dbo.hang() LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM FROM ssb.receive('dbo.q'); PERFORM pg_sleep(3600); END $$"
    )
    sql.execute(
        "SELECT ssb.alter_queue('dbo.q', activation_status => true, activation_procedure => 'dbo.hang',"
        " max_queue_readers => 1, execute_as => 'OWNER')"
    )
    process = _start(database, "--grace", "3600")
    assert process.stderr is not None
    try:
        assert "leading" in process.stderr.readline()
        sql.execute("SELECT ssb.send(ssb.begin_dialog('//P', '//Q'), body => 'x'::bytea)")
        until(lambda: sql.execute(AT_WORK).fetchone())
        process.terminate()
        assert "draining" in process.stderr.readline()
        process.terminate()
        assert "reader_stopped" in process.stderr.readline()
        assert process.wait() == 0
    finally:
        process.kill()
        process.communicate()
    assert sql.execute("SELECT count(*) FROM dbo.q").fetchone() == (1,)


@pytest.mark.long
def test_nohup_keeps_it(database: Database, connect: Connect) -> None:
    sql = connect()
    sql.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_service('//Q', 'dbo.q', '{DEFAULT}')")
    sql.execute("CREATE PROCEDURE dbo.take() LANGUAGE sql AS $$ SELECT FROM ssb.receive('dbo.q') $$")
    sql.execute(
        "SELECT ssb.alter_queue('dbo.q', activation_status => true, activation_procedure => 'dbo.take',"
        " max_queue_readers => 1, execute_as => 'OWNER')"
    )
    process = _start(database, before=("nohup",))
    assert process.stderr is not None
    try:
        while "leading" not in process.stderr.readline():  # nohup may say something of its own
            pass
        process.send_signal(signal.SIGHUP)
        sql.execute("SELECT ssb.send(ssb.begin_dialog('//Q', '//Q'), body => 'x'::bytea)")
        until(lambda: sql.execute("SELECT 1 WHERE NOT EXISTS (SELECT FROM dbo.q)").fetchone())
        assert process.poll() is None
        process.terminate()
        assert process.wait() == 0
    finally:
        process.kill()
        process.communicate()


class _DyingServer:
    """In front of a server: a connection ends after so many of its client's messages."""

    def __init__(self, dsn: str, folder: Path) -> None:
        there = conninfo_to_dict(dsn)
        self._server = f"{there['host']}/.s.PGSQL.{there['port']}"
        self.dsn = make_conninfo(dsn, host=str(folder), port=5432)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()

    def __enter__(self) -> "_DyingServer":
        return self

    def __exit__(self, *exception: object) -> None:
        self._listener.close()

    def serve_one(self, messages: int) -> threading.Thread:
        """Serve the next connection; the thread ends with it."""
        thread = threading.Thread(target=self._serve, args=(messages,))
        thread.start()
        return thread

    def _serve(self, messages: int) -> None:
        client, _ = self._listener.accept()
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            back = threading.Thread(target=self._relay, args=(server, client, None))
            back.start()
            self._relay(client, server, messages)
            back.join()

    @staticmethod
    def _relay(source: socket.socket, to: socket.socket, left: int | None) -> None:
        with contextlib.suppress(OSError):
            while (left is None or left > 0) and (data := source.recv(65536)):
                to.sendall(data)
                left = left if left is None else left - 1
        for one in (source, to):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def test_a_server_that_dies_while_the_daemon_connects_is_waited_for(database: Database) -> None:
    """Whatever the moment: the daemon goes on after Unreachable, and ends after any other error."""
    folder = server_home("pgsb-dying-")
    unreachable = 0
    try:
        with _DyingServer(database.dsn, folder) as server:
            for messages in range(100):
                serving = server.serve_one(messages)
                try:
                    open_database(Target(server.dsn, False, "--dsn")).close()
                    break
                except Unreachable as error:
                    unreachable += 1
                    assert str(error).startswith("cannot connect to ")
                finally:
                    serving.join()
    finally:
        shutil.rmtree(folder)
    # The first message is the one that begins a session; connecting alone would take no other.
    assert 3 < unreachable < 99
