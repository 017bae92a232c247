"""A T-SQL session on a fresh database, and the command line."""

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from end_to_end.tsql import Tsql

from pgsb.cli.main import main
from support import Database


@pytest.fixture
def tsql(database: Database) -> Iterator[Tsql]:
    """A session as `pgsb run` has it."""
    session = Tsql(database.dsn)
    yield session
    session.close()


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit status and what it wrote."""

    status: int
    out: str
    err: str


@pytest.fixture
def pgsb(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Runs the command line inside the test process: ``pgsb("run", "-", stdin="PRINT 1")``."""
    for name in ("DATABASE_URL", "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, stdin: str | bytes = b"") -> Outcome:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["pgsb", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        shown = capfd.readouterr()
        assert "Traceback" not in shown.err
        assert isinstance(left.value.code, int)
        return Outcome(left.value.code, shown.out, shown.err)

    return call
