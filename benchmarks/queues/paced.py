"""Work at a given rate: pgbench that logs each transaction, what runs beside it, percentiles."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .server import BenchServer

# Seconds between two calls, as in the daemon.
_TIDY = 5.0


def start(
    server: BenchServer,
    directory: Path,
    name: str,
    scripts: Sequence[str],
    rate: float,
    seconds: float,
    synchronous_commit: bool,
    clients: int,
) -> "subprocess.Popen[str]":
    """pgbench, which logs every transaction: see `read_log`."""
    command = [server.pgbench_program, "--no-vacuum", "--protocol=prepared", f"--client={clients}"]
    command += [f"--jobs={min(clients, 2)}", f"--time={round(seconds)}", f"--rate={rate}", "--define=n=0"]
    command += ["--define=started=0"]
    command += ["--log", f"--log-prefix={directory}/{name}"]
    for number, script in enumerate(scripts):
        file = directory / f"{name}{number}.sql"
        file.write_text(script)
        command.append(f"--file={file}")
    options = f"-c synchronous_commit={'on' if synchronous_commit else 'off'}"
    return subprocess.Popen(
        [*command, server.dsn],
        env={**os.environ, "PGOPTIONS": options},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_log(directory: Path, name: str) -> list[tuple[float, float, float]]:
    """When each transaction ended (epoch), how long it took since it was due, and how late it began (ms)."""
    found: list[tuple[float, float, float]] = []
    for log in directory.glob(f"{name}.*"):
        if log.suffix == ".sql":
            continue
        for line in log.read_text().splitlines():
            _, _, took, _, second, microsecond, lag = line.split()[:7]
            found.append((int(second) + int(microsecond) / 1e6, int(took) / 1000, int(lag) / 1000))
    return found


@contextmanager
def beside(
    work: Callable[[BenchServer, threading.Event], None], server: BenchServer, stop: threading.Event
) -> Iterator[None]:
    thread = threading.Thread(target=work, args=(server, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def rotate(server: BenchServer, stop: threading.Event) -> None:
    """What the daemon does while it runs."""
    with server.connect() as connection:
        while not stop.wait(_TIDY):
            connection.execute("CALL ssb.tidy()")


def percentile(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")
