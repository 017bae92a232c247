"""A server that may be crashed, and daemons of it that may be killed."""

import signal
import subprocess
import sys
import time
from typing import Any

import psycopg

from activation import until
from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer


class Crashing:
    """A server which may be crashed, a database on it, and daemons in processes of their own."""

    def __init__(self, server: PrivateServer, database: str) -> None:
        self._server = server
        self._opened: list[psycopg.Connection[Any]] = []
        self._asking: psycopg.Connection[Any] | None = None
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.dsn = server.status().dsn or ""
        self.connect().execute(f"CREATE DATABASE {database}")
        self.dsn = self.dsn.replace("/pgsb?", f"/{database}?")
        install(self.connect())

    def start_daemon(self) -> None:
        self.daemons.append(
            # What it logs is pytest's to show where the test fails.
            subprocess.Popen(
                [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", self.dsn, "--grace", "1"]
            )
        )

    def kill_daemon(self) -> None:
        victim = self.daemons.pop(0)
        victim.kill()
        victim.wait()

    def replace_daemon(self) -> None:
        self.kill_daemon()
        self.start_daemon()

    def kill_readers(self) -> None:
        self.connect().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'pgsb reader' AND state <> 'idle'"
        )

    def crash_server(self) -> None:
        self._server.stop(immediate=True)
        self._server.start()

    def connect(self) -> psycopg.Connection[Any]:
        """A new session, once the server accepts one."""
        deadline = time.monotonic() + 20
        while True:
            try:
                self._opened.append(psycopg.connect(self.dsn, autocommit=True))
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return self._opened[-1]

    def ask(self, query: str) -> Any:
        """The first row, None while the server cannot be asked."""
        try:
            if self._asking is None or self._asking.closed:
                # One for all questions: daemons need room among the server's connections.
                self._asking = self.connect()
            return self._asking.execute(query).fetchone()
        except psycopg.OperationalError:
            return None

    def stop_daemons(self) -> None:
        # One that has just been started would not know SIGTERM yet.
        running = f"SELECT 1 FROM ssb.broker_daemons HAVING count(*) = {len(self.daemons)}"
        until(lambda: self.ask(running))
        for daemon in self.daemons:
            daemon.send_signal(signal.SIGTERM)
        statuses = [daemon.wait(120) for daemon in self.daemons]
        assert statuses == [0] * len(statuses)

    def close(self) -> None:
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()
        for connection in self._opened:
            connection.close()
