"""The benchmarks' server goes with the program that has started it."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = """
import time
from pgsb.benchmarks.queues.server import running
from pgsb.server.problems import ServerError
try:
    with running() as server:
        print(server.dsn, flush=True)
        time.sleep(600)
except ServerError as reason:
    print("none:", reason, flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the program makes its server; root's runs as somebody else, who has to pass through."""
    with tempfile.TemporaryDirectory(prefix="pgsb-test-") as made:
        Path(made).chmod(0o711)
        yield Path(made)


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_benchmark_that_is_terminated_stops_its_server(folder: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout is not None
        started = program.stdout.readline()
        if started.startswith("none:"):
            pytest.skip(started)
        assert len(list(folder.glob("pgsb-bench-*/postgresql-*/postmaster.pid"))) == 1
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []
