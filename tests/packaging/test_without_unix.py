"""What Windows lacks, taken away: everything but the private server and the daemon needs none of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from support import Database, rest_is_long

pytestmark = pytest.mark.one_postgres
# Libraries look once, when they are loaded. What they need of this system at run time stays.
WITHOUT = """
import asyncio, click, lark, os, psycopg, signal, sqlglot, subprocess, sys, tempfile
import pgsb
for name in ("fcntl", "pwd", "grp", "termios", "resource"):
    sys.modules[name] = None
for name in ("fork", "geteuid", "getuid", "fchmod", "fchown", "chown", "killpg", "setsid"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGQUIT"):
    delattr(signal, name)
import select
del select.poll
sys.platform = "win32"
from pgsb.cli.main import main
sys.exit(main())
"""
SCRIPT = """CREATE QUEUE Orders
CREATE SERVICE Orders ON QUEUE Orders ([DEFAULT])
GO
DECLARE @h UNIQUEIDENTIFIER
BEGIN DIALOG @h FROM SERVICE Orders TO SERVICE 'Orders' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @h (N'one')
SELECT CAST(message_body AS NVARCHAR(9)) AS body FROM Orders
"""


def without_unix(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "orders.sql"
    path.write_text(SCRIPT)
    return path


@pytest.mark.long
@pytest.mark.parametrize("command", rest_is_long(["check", "compile", "assess"], "compile"))
def test_scripts_are_looked_at(command: str, script: Path) -> None:
    ended = without_unix(command, script)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.long
def test_many_scripts_are_checked(script: Path) -> None:
    for number in range(3):
        script.with_name(f"large_{number}.sql").write_text("-- a line without a statement\n" * 5_000)
    ended = without_unix("check", script.parent)
    assert (ended.returncode, ended.stderr) == (0, "4 scripts, 2 batches, no problems\n")


@pytest.mark.long
def test_a_file_is_written_anew(script: Path) -> None:
    out = script.with_suffix(".out")
    for _ in range(2):
        assert without_unix("compile", script, "-o", out).returncode == 0
    assert "Orders" in out.read_text()


@pytest.mark.long
def test_scripts_run_on_a_server_that_is_named(script: Path, database: Database) -> None:
    ended = without_unix("run", "--dsn", database.dsn, script)
    assert ended.returncode == 0, ended.stderr
    assert "one" in ended.stdout
    assert without_unix("upgrade", "--dsn", database.dsn).returncode == 0
    assert without_unix("diagnose", "--dsn", database.dsn).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "SCRIPT"], "no server is named, and a private one runs on Linux and macOS alone"),
        pytest.param(
            ["start"],
            "no server is named, and a private one runs on Linux and macOS alone",
            marks=pytest.mark.long,
        ),
        (
            ["broker", "--dsn", "DSN"],
            "the daemon, which starts service programs, runs on Linux and macOS alone",
        ),
        pytest.param(
            ["run", "--dsn", "DSN", "--activate", "SCRIPT"],
            "the daemon, which starts service programs, runs on",
            marks=pytest.mark.long,
        ),
    ],
)
def test_what_needs_more_says_so(arguments: list[str], told: str, script: Path, database: Database) -> None:
    given = {"SCRIPT": str(script), "DSN": database.dsn}
    ended = without_unix(*(given.get(one, one) for one in arguments))
    assert ended.returncode != 0
    assert told in ended.stderr
    assert "hint:" in ended.stderr
    assert "Traceback" not in ended.stderr
