"""A PostgreSQL of the harness's own, durable as in production, and pgbench against it.

pgbench is a C program: its cost per transaction is small and the same for every
queue, so that the ratios are those of the queues and not of client drivers.
"""

import os
import re
import shutil
import subprocess
import tempfile
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

SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
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
def running(wanted: str | None = None) -> Iterator[BenchServer]:
    """Start a fresh server (a major version, a bin directory, or the best found) and remove it at the end."""
    binaries = find_binaries(wanted)
    home = Path(tempfile.mkdtemp(prefix="pgsb-bench-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    server = PrivateServer(home, wanted=str(binaries.bin), settings=SETTINGS)
    try:
        dsn = server.start()
        with psycopg.connect(dsn, autocommit=True) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        yield BenchServer(dsn, row[0], _pgbench(binaries.bin), binaries.bin)
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


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
    """What one pgbench run did: transactions, seconds, and the latencies in milliseconds, sorted."""

    transactions: int
    seconds: float
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
) -> Run:
    """Run scripts with pgbench, each client in its own connection, statements prepared.

    Several scripts are chosen at random, equally often. ``transactions`` is per
    client; else the run lasts ``seconds``. ``rate`` limits transactions/s over all clients.
    ``variables`` are each client's own, with these values at first.
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
            command.append(f"--time={max(1, round(seconds or 1))}")
        if rate is not None:
            command.append(f"--rate={rate}")
        command += [f"--define={name}={value}" for name, value in (variables or {}).items()]
        if latencies:
            command += ["--log", f"--log-prefix={directory}/log"]
        options = f"-c synchronous_commit={'on' if synchronous_commit else 'off'}"
        started = time.monotonic()
        done = subprocess.run(
            [*command, server.dsn],
            env={**os.environ, "PGOPTIONS": options},
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
        times = sorted(
            int(line.split()[2]) / 1000
            for log in Path(directory).glob("log.*")
            for line in log.read_text().splitlines()
            if line.split()[2].isdigit()
        )
        return Run(count, took, times)


def machine() -> dict[str, object]:
    """What the run's numbers depend on: cores, kernel, load before the run."""
    return {"cores": os.cpu_count(), "kernel": os.uname().release, "load": round(os.getloadavg()[0], 2)}
