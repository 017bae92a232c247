"""A PostgreSQL of the harness's own, durable as in production, and pgbench against it.

pgbench is a C program: its cost per transaction is small and the same for every
queue, so that the ratios are those of the queues and not of client drivers.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from pgsb.server.binaries import all_binaries, find_binaries
from pgsb.server.embedded import PrivateServer
from pgsb.server.problems import ServerError

Connection = psycopg.Connection[tuple[Any, ...]]

PGBENCH = "pgbench"

SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    # No checkpoint inside a round: it would charge its full-page images to whoever runs then.
    # WAL files are recycled, as on a server that has run for a while (see `settle`).
    "max_wal_size": "16GB",
    "min_wal_size": "4GB",
    "checkpoint_timeout": "60min",
    "wal_compression": "off",
    "autovacuum_naptime": "10s",
    "log_min_messages": "error",
}


@dataclass(frozen=True)
class BenchServer:
    """A running server: its DSN, its version as text, and where its programs are."""

    dsn: str
    version: str
    pgbench_program: str

    bin: Path

    def connect(self) -> Connection:
        """A connection in autocommit mode."""
        return psycopg.connect(self.dsn, autocommit=True)

    def database(self, name: str) -> "BenchServer":
        """The same server, seen through a database that is made anew."""
        with self.connect() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}"')
        parts = urlsplit(self.dsn)
        return replace(self, dsn=urlunsplit(parts._replace(path=f"/{name}")))


@contextmanager
def ended_by_term() -> Iterator[None]:
    """Let SIGTERM, that of `timeout` too, end the program as Ctrl-C does: what it started is stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def running(wanted: str | None = None, **settings: str) -> Iterator[BenchServer]:
    """Start a fresh server (a major version, a bin directory, or the best found) and remove it at the end.

    ``settings`` go before those of all benchmarks.
    """
    binaries = find_binaries(wanted)
    home = Path(tempfile.mkdtemp(prefix="pgsb-bench-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    server = PrivateServer(home, wanted=str(binaries.bin), settings={**SETTINGS, **settings})
    with ended_by_term():
        try:
            dsn = server.start()
            with psycopg.connect(dsn, autocommit=True) as connection:
                row = connection.execute("SHOW server_version").fetchone()
            assert row is not None
            yield BenchServer(dsn, row[0], _pgbench(binaries.bin), binaries.bin)
        finally:
            server.stop(immediate=True)
            shutil.rmtree(home, ignore_errors=True)


def settle(connection: Connection) -> None:
    """Bring the server to where one that has run for days is: WAL files ready, no dirty pages.

    A fresh server makes each 16 MB file of its WAL as it comes to it, and writes it twice.
    """
    missing = "SELECT setting::bigint / %s FROM pg_settings WHERE name = 'min_wal_size'"
    row = connection.execute(missing, (16,)).fetchone()
    ready = connection.execute("SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'").fetchone()
    assert row is not None and ready is not None
    for _ in range(max(0, row[0] - ready[0])):
        connection.execute("SELECT pg_logical_emit_message(false, 'bench', 'x')")
        connection.execute("SELECT pg_switch_wal()")
    connection.execute("CHECKPOINT")


def _pgbench(directory: Path) -> str:
    """The server's own pgbench, else any other that is installed: it is only the client."""
    for candidate in (directory / "pgbench", *(one.bin / "pgbench" for one in all_binaries())):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    on_path = shutil.which("pgbench")
    if on_path:
        return on_path
    raise ServerError(
        "found no pgbench on this machine",
        hint="it comes with PostgreSQL (Debian: postgresql-contrib or postgresql-15)",
    )


@dataclass(frozen=True)
class Run:
    """What one pgbench run did.

    ``transactions`` are all of them, ``rate`` is transactions/s after the warm-up, and
    ``latencies`` are in milliseconds, sorted.
    """

    transactions: int
    rate: float
    latencies: Sequence[float]

    def percentile(self, share: float) -> float:
        """The latency in milliseconds below which ``share`` (0 to 1) of the transactions lie."""
        if not self.latencies:
            return float("nan")
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def pgbench(
    server: BenchServer,
    scripts: Sequence[str],
    *,
    clients: int,
    transactions: int | None = None,
    seconds: float | None = None,
    rate: float | None = None,
    synchronous_commit: bool = True,
    latencies: bool = False,
    variables: Mapping[str, int] | None = None,
    warm_up: int = 0,
    application: str = PGBENCH,
) -> Run:
    """Run scripts with pgbench, each client in its own connection, statements prepared.

    Several scripts are chosen at random, equally often. ``transactions`` is per
    client; else the run lasts ``seconds``. ``rate`` limits transactions/s over all clients.
    ``variables`` are each client's own, with these values at first; ``started`` is 0.
    ``application`` is what the sessions call themselves (`profile.Watch`).

    The first ``warm_up`` seconds do not count in the rate, and come on top of ``seconds``: there
    each session connects, compiles functions and makes plans. They do count where the whole
    run is hardly longer than that.
    """
    with tempfile.TemporaryDirectory(prefix="pgsb-bench-") as directory:
        command = [server.pgbench_program, "--no-vacuum", "--protocol=prepared", f"--client={clients}"]
        command += [f"--jobs={min(clients, 2)}"]
        for number, script in enumerate(scripts):
            file = Path(directory, f"script{number}.sql")
            file.write_text(script)
            command.append(f"--file={file}")
        if transactions is not None:
            command.append(f"--transactions={transactions}")
        else:
            command.append(f"--time={max(1, round(seconds or 1)) + warm_up}")
        if warm_up:
            command.append("--progress=1")
        if rate is not None:
            command.append(f"--rate={rate}")
        command += [f"--define={name}={value}" for name, value in {"started": 0, **(variables or {})}.items()]
        if latencies:
            command += ["--log", f"--log-prefix={directory}/log"]
        options = f"-c synchronous_commit={'on' if synchronous_commit else 'off'}"
        started = time.monotonic()
        done = subprocess.run(
            [*command, server.dsn],
            env={**os.environ, "PGOPTIONS": options, "PGAPPNAME": application},
            capture_output=True,
            text=True,
            check=False,
        )
        elapsed = time.monotonic() - started
        if done.returncode != 0:
            raise ServerError(f"pgbench failed: {done.stderr.strip()[-2000:]}")
        processed = re.search(r"number of transactions actually processed: (\d+)", done.stdout)
        speed = re.search(r"tps = ([0-9.]+) \(without", done.stdout) or re.search(
            r"tps = ([0-9.]+)", done.stdout
        )
        assert processed and speed, done.stdout
        count = int(processed[1])
        took = count / float(speed[1]) if float(speed[1]) else elapsed
        early, until = _early(done.stderr, warm_up)
        if took - until >= warm_up:
            count_late, took = count - early, took - until
        else:
            count_late = count
        times = sorted(
            int(line.split()[2]) / 1000
            for log in Path(directory).glob("log.*")
            for line in log.read_text().splitlines()
            if line.split()[2].isdigit()
        )
        return Run(count, count_late / took, times)


def _early(progress: str, seconds: int) -> tuple[float, float]:
    """How many transactions pgbench's progress lines tell of in the first seconds, and when those ended."""
    count = last = 0.0
    if seconds:
        for line in re.finditer(r"progress: ([0-9.]+) s, ([0-9.]+) tps", progress):
            count += float(line[2]) * (float(line[1]) - last)
            last = float(line[1])
            if last >= seconds - 0.5:
                break
    return count, last


def machine() -> dict[str, object]:
    """What the run's numbers depend on: cores, kernel, load before the run."""
    return {"cores": os.cpu_count(), "kernel": os.uname().release, "load": round(os.getloadavg()[0], 2)}
