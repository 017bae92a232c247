"""docs/spark.md's commands, which the test of all pages does not run, on the page's own queue."""

import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from end_to_end.tsql import Tsql

from pgsb.cli.spark import spark_command
from pgsb.daemon.config import parse_program
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

PAGE = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")


@pytest.fixture
def day(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., Connection]
) -> Iterator[Connection]:
    """The page's queue with its messages, and its program in the current directory."""
    session = Tsql(database.dsn)
    first = re.search(r"^```tsql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    program = re.search(r"^<!-- file: sales\.py -->\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert first and program
    session.run_well(first[1])
    session.close()
    (tmp_path / "sales.py").write_text(program[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "sales", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    yield connect()
    signal.signal(signal.SIGTERM, before)


def _words(command: str) -> list[str]:
    line = re.search(rf"^{re.escape(command)} .*$", PAGE, re.MULTILINE)
    assert line
    return shlex.split(line[0])


def _is_booked(connection: Connection) -> bool:
    takings = connection.execute("SELECT sales, total::text FROM dbo.takings").fetchall()
    replies = connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM dbo.shopqueue"
        " WHERE message_type_name = '//Sales/Total'"
    ).fetchall()
    waiting = connection.execute("SELECT count(*) FROM dbo.daysales").fetchone()
    return takings == [(2, "19.75")] * 2 and replies == [("19.75",)] * 2 and waiting == (0,)


@pytest.mark.long
def test_the_command_books_the_day(
    spark: Any, database: Database, tcp: Callable[[Database], str], day: Connection
) -> None:
    words = _words("pgsb spark run")[2:]
    result = CliRunner().invoke(spark_command, words, env={"DATABASE_URL": tcp(database)})
    assert result.exit_code == 0, result.output
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["claimed", "completed"]
    assert result.stdout.startswith("claimed 4, completed 4, written 2 rows, replied 2, failed 0:")
    assert _is_booked(day)


@pytest.mark.long
def test_what_the_daemon_is_told_to_start_books_the_day(
    spark: Any, database: Database, tcp: Callable[[Database], str], day: Connection
) -> None:
    program = parse_program(_words("pgsb broker")[-1])
    assert program.command[:2] == ("pgsb", "spark")
    # As the daemon starts it: tests/daemon shows that it hands these on.
    environment = {"DATABASE_URL": tcp(database), "PGSB_QUEUE": "dbo.daysales"}
    result = CliRunner().invoke(spark_command, list(program.command[2:]), env=environment)
    assert result.exit_code == 0, result.output
    assert _is_booked(day)
