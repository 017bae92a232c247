"""pgsb as it is typed: options, formats, exit statuses, the choice of the server."""

import contextlib
import csv
import io
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgsb.cli import run as run_module
from pgsb.server.embedded import PrivateServer
from support import Database, server_home

pytestmark = pytest.mark.one_postgres

Pgsb = Callable[..., Any]

SCRIPT = """\
PRINT 'begin';
GO
SELECT 1 AS a, N'x' AS b UNION ALL SELECT 2, NULL;
GO
RAISERROR ('went wrong', 16, 3);
GO
PRINT 'end';
"""


# ---------------------------------------------------------------- formats and exit statuses


def test_run_prints_in_the_order_of_the_script(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=SCRIPT)
    assert left.status == 1
    assert left.out == (
        "begin\n"
        "a b\n"
        "- ----\n"
        "1 x\n"
        "2 NULL\n"
        "\n(2 rows affected)\n\n"
        "Msg 50000, Level 16, State 3, Line 1\n"
        "went wrong\n"
        "end\n"
    )
    assert left.err == ""


def test_run_writes_one_json_object_a_line(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "--format", "json", "-", stdin=SCRIPT)
    assert left.status == 1
    events = [json.loads(line) for line in left.out.splitlines()]
    assert [event["type"] for event in events] == ["print", "result", "rowcount", "error", "print"]
    assert events[1] == {"type": "result", "columns": ["a", "b"], "rows": [[1, "x"], [2, None]]}
    assert events[2] == {"type": "rowcount", "count": 2}
    error = events[3]
    assert (error["number"], error["severity"], error["state"], error["line"]) == (50000, 16, 3, 1)
    assert error["procedure"] is None
    assert error["message"] == "went wrong"


def test_run_writes_csv_with_messages_on_stderr(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "--format", "csv", "-", stdin=SCRIPT)
    assert list(csv.reader(io.StringIO(left.out))) == [["a", "b"], ["1", "x"], ["2", ""]]
    assert "begin\n" in left.err and "went wrong" in left.err and "end\n" in left.err


def test_run_leaves_with_0_when_all_went_well(database: Database, pgsb: Pgsb) -> None:
    assert pgsb("run", "--dsn", database.dsn, "-", stdin="PRINT 'fine'").status == 0


def test_a_message_of_low_severity_is_no_failure(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin="RAISERROR ('for your information', 10, 1)")
    assert left.status == 0
    assert "for your information" in left.out


def test_on_error_stop_leaves_out_what_follows(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "second.sql").write_text("PRINT 'second'")
    left = pgsb(
        "run", "--dsn", database.dsn, "--on-error", "stop", "-", str(tmp_path / "second.sql"), stdin=SCRIPT
    )
    assert left.status == 1
    assert "went wrong" in left.out
    assert "end" not in left.out and "second" not in left.out


def test_several_scripts_are_one_session(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "1.sql").write_text("CREATE DATABASE One\nGO\nUSE One\n")
    (tmp_path / "2.sql").write_text("PRINT DB_NAME()")
    left = pgsb("run", "--dsn", database.dsn, str(tmp_path / "1.sql"), str(tmp_path / "2.sql"))
    assert (left.status, left.out) == (0, "One\n")


def test_a_batch_that_does_not_compile_is_reported_and_the_next_one_runs(
    database: Database, pgsb: Pgsb
) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin="PRINT 'a'\nGO\n\nSELECT 1 +\nGO\nPRINT 'b'\n")
    assert left.status == 1
    assert left.out.startswith("a\nMsg 102, Level 15, State 1, Line 2\n<stdin>:4:11: error 102")
    assert left.out.endswith("b\n")


def test_go_with_a_count_repeats(database: Database, pgsb: Pgsb) -> None:
    assert pgsb("run", "--dsn", database.dsn, "-", stdin="PRINT 'x'\nGO 3\n").out == "x\nx\nx\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], "a script is missing"),
        (["run", "nowhere.sql"], "cannot read nowhere.sql: No such file or directory"),
        (["run", "--format", "xml", "-"], "'xml' is not one of"),
        (["run", "--dsn", "", "-"], "it is empty"),
        (["uninstall", "--yes", "--dsn", " "], "it is empty"),
        (["run", "-v", "novalue", "-"], "'novalue' is not NAME=VALUE"),
        (["check", "-v", "no name=value", "-"], "'no name=value' is not NAME=VALUE"),
        (["compile", "-d", "", "-"], "it is empty"),
        (["nothing"], "No such command 'nothing'.\n"),
        (["dignose", "--format", "json"], "No such command 'dignose'. Did you mean 'diagnose'?"),
        (["help", "dignose"], "No such command 'dignose'. Did you mean 'diagnose'?"),
        (["script.sql"], "pgsb run script.sql"),
        (["install", "--print", "--as-extension", "x"], "exclude each other"),
        (["compile", "nowhere.sql"], "cannot read nowhere.sql: No such file or directory"),
        (["compile", "--after", "nowhere.sql", "-"], "cannot read nowhere.sql: No such file or directory"),
        (["run", "-t", "nan", "-"], "nan is no number of seconds"),
        (["run", "-t", "2147484", "-"], "no number of seconds up to 2,147,483"),
        (["broker", "--wait", "inf"], "inf is no number of seconds"),
        (["diagnose", "--from", "a", "--to", "b", "--to-dsn", ""], "it is empty"),
        (["broker", "--reader-dsn", " "], "it is empty"),
        (["sqlcmd", "-S", "postgresql://ann:hidden@[db/shop", "-Q", "x"], "the connection string of -S"),
        (["broker", "--program", "x"], "Invalid value for '--program'"),
        (["broker", "--address", "TCP://a:1=postgresql://u:hidden@[/x"], "Invalid value for '--address'"),
        (["broker", "--metrics", "nowhere"], "Invalid value for '--metrics'"),
        (["sqlcmd", "-d", "", "-Q", "x"], "it is empty"),
        (["dashboard", "--user-header", ""], "it is empty"),
        *[
            ([*command, ""], "the name is empty")
            for command in (
                ["run"],
                ["run", "-o"],
                ["sqlcmd", "-i"],
                ["check"],
                ["compile"],
                ["compile", "-o"],
                ["assess"],
                ["assess", "--html"],
                ["install", "--as-extension"],
                ["broker", "--addresses"],
            )
        ],
    ],
)
def test_wrong_usage_leaves_with_2(pgsb: Pgsb, arguments: list[str], expected: str) -> None:
    left = pgsb(*arguments)
    assert left.status == 2
    assert expected in left.err
    assert "hidden" not in left.err


def test_a_server_without_its_socket_is_told_in_the_servers_words(pgsb: Pgsb, tmp_path: Path) -> None:
    """psycopg says "connection failed", or "connection is bad": neither is news."""
    left = pgsb("version", "--dsn", f"host={tmp_path} port=5499")
    assert left.status == 1
    assert (
        f' port=5499: connection to server on socket "{tmp_path}/.s.PGSQL.5499" failed: No such' in left.err
    )


@pytest.mark.parametrize("command", [[], ["install"], ["spark", "run"]])
def test_help_is_a_word_too(pgsb: Pgsb, command: list[str]) -> None:
    """It was "Did you mean 'shell'?"."""
    told = pgsb("help", *command)
    assert (told.status, told.out) == (0, pgsb(*command, "--help").out)
    assert told.out.startswith("Usage: pgsb")


def test_a_command_line_of_other_bytes_is_no_defect(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-d", "shop\udcff", "-", stdin="PRINT 1")
    assert left.status == 1
    assert left.err.startswith("'shop\\udcff' has bytes that are not UTF-8\n")


def test_binary_data_is_no_script(pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "backup.bak").write_bytes(b"TAPE\x00\x00\x03\x00\x8c\x00\xff")
    left = pgsb("check", str(tmp_path / "backup.bak"))
    assert left.status == 2
    assert "backup.bak: it is no text, but binary data" in left.err


def test_without_arguments_the_commands_are_listed(pgsb: Pgsb) -> None:
    left = pgsb()
    assert left.status == 2
    for command in ("run", "compile", "check", "install", "shell", "start"):
        assert f"  {command} " in left.err


def test_colour_is_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert run_module.wants_color()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not run_module.wants_color()


# ---------------------------------------------------------------- variables


def test_variables_are_replaced(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-v", "Who=World", "-v", "n=2", "-", stdin="PRINT '$(Who)$(n)'")
    assert left.out == "World2\n"


def test_setvar_is_obeyed_and_the_command_line_wins(database: Database, pgsb: Pgsb) -> None:
    script = (
        ':setvar a "one ""1"""\n:setvar b two\nPRINT \'$(a) $(b)\'\nGO\n:setvar a three\nPRINT \'$(a)\'\n'
    )
    assert pgsb("run", "--dsn", database.dsn, "-", stdin=script).out == 'one "1" two\nthree\n'
    assert pgsb("run", "--dsn", database.dsn, "-v", "a=four", "-", stdin=script).out == "four two\nfour\n"


def test_a_variable_without_a_value_is_an_error_with_its_place(pgsb: Pgsb) -> None:
    left = pgsb("check", "-v", "a=1", "-", stdin="PRINT '$(a)'\nPRINT '$(nobody)'\n")
    assert left.status == 1
    assert "<stdin>:2:8: error: no value for the variable 'nobody'" in left.err
    assert "-v nobody=" in left.err


def test_without_variables_a_dollar_parenthesis_is_text(database: Database, pgsb: Pgsb) -> None:
    assert pgsb("run", "--dsn", database.dsn, "-", stdin="PRINT '$(x)'").out == "$(x)\n"


def test_on_error_exit_in_a_script_stops_it(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=":on error exit\n" + SCRIPT)
    assert left.status == 1
    assert "end" not in left.out


@pytest.mark.parametrize("wrong", ["RAISERROR ('no', 16, 1)", "INSERT kept VALUES (NULL)", "SELECT FROM"])
def test_an_error_inside_a_transaction_over_batches_ends_the_script_and_the_transaction(
    database: Database, pgsb: Pgsb, wrong: str
) -> None:
    script = (
        "CREATE TABLE kept (a int NOT NULL)\nGO\nBEGIN TRANSACTION\nGO\nINSERT kept VALUES (1)\nGO\n"
        f"{wrong}\nGO\nPRINT 'end'\nCOMMIT\nGO\n"
    )
    assert "end" in pgsb("run", "--dsn", database.dsn, "-", stdin=script).out
    pgsb("run", "--dsn", database.dsn, "-", stdin="DELETE kept")
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=":on error exit\n" + script.partition("GO\n")[2])
    assert left.status == 1
    assert "end" not in left.out
    assert "0" in pgsb("run", "--dsn", database.dsn, "-", stdin="SELECT COUNT(*) FROM kept").out


def test_other_directives_of_sqlcmd_are_refused_by_name(pgsb: Pgsb) -> None:
    left = pgsb("check", "-", stdin="PRINT 1\nGO\n:connect other\n")
    assert left.status == 1
    assert "<stdin>:3:1: error: sqlcmd's directive :connect is not supported" in left.err


# ---------------------------------------------------------------- which server


@pytest.fixture(scope="module")
def private_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = server_home("pgsb-home-")
    yield home
    PrivateServer(home).stop(immediate=True)
    shutil.rmtree(home)


@pytest.mark.long
def test_without_a_name_the_private_server_is_made_and_gets_the_runtime(
    private_home: Path, pgsb: Pgsb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSB_HOME", str(private_home))
    monkeypatch.setenv("PGSB_POSTGRES", "18")
    assert pgsb("status").status == 1
    assert "private server is not running" in pgsb("version").out
    left = pgsb("run", "-", stdin="PRINT DB_NAME()")
    assert (left.status, left.out) == (0, "pgsb\n")
    status = pgsb("status", "--format", "json")
    assert status.status == 0
    assert json.loads(status.out)["version"] == 18
    assert "database: runtime" in pgsb("version").out
    assert "loopback_dsn postgresql://pgsb:" in pgsb("status", "--jdbc").out
    assert pgsb("stop").out == "stopped\n"
    assert pgsb("stop").out == "it was not running\n"


def test_a_named_server_wins_over_the_private_one(
    database: Database, pgsb: Pgsb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSB_HOME", "/nonexistent/never made")
    script = "PRINT DB_NAME()"
    parts = psycopg.conninfo.conninfo_to_dict(database.dsn)
    with monkeypatch.context() as environment:
        environment.setenv("PGHOST", str(parts["host"]))
        environment.setenv("PGPORT", str(parts["port"]))
        environment.setenv("PGUSER", str(parts["user"]))
        environment.setenv("PGDATABASE", database.name)
        assert pgsb("run", "-", stdin=script).out == f"{database.name}\n"
        environment.setenv("PGDATABASE", "nowhere")
        environment.setenv("DATABASE_URL", database.dsn.replace("postgresql://", "postgresql+psycopg://"))
        assert pgsb("run", "-", stdin=script).out == f"{database.name}\n"
        environment.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nowhere")
        assert pgsb("run", "--dsn", database.dsn, "-", stdin=script).out == f"{database.name}\n"
        as_sqlalchemy = database.dsn.replace("postgresql://", "postgresql+psycopg2://")
        assert pgsb("run", "--dsn", as_sqlalchemy, "-", stdin=script).out == f"{database.name}\n"


def test_a_server_that_does_not_answer_is_named_without_its_password(pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", "postgresql://ada:secret@127.0.0.1:1/shop", "-", stdin="PRINT 1")
    assert left.status == 1
    assert "cannot connect to" in left.err and "127.0.0.1" in left.err
    assert "secret" not in left.err


def test_a_database_without_the_runtime_is_told_the_command(empty_database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", empty_database.dsn, "-", stdin="PRINT 1")
    assert left.status == 1
    assert "there is no runtime in" in left.err
    assert "`pgsb install --dsn …` puts it there" in left.err


@pytest.mark.long
def test_a_dump_without_its_data_is_told_by_each_command_and_can_be_removed(
    database: Database, pgsb: Pgsb
) -> None:
    """As `dbmate load` makes it: `pgsb run` named `pgsb install`, which refused; uninstall found nothing."""
    with psycopg.connect(database.dsn, autocommit=True) as session:
        session.execute("CREATE TABLE dbo.kept (x int); DELETE FROM ssb.runtime_version")
    for command in (
        ["run", "-Q", "PRINT 1"], ["diagnose"], ["diagnose", "--watch", "--timeout", "0"], ["top", "--once"],
        ["upgrade"], ["install"], ["broker", "--wait", "1"],
    ):  # fmt: skip
        left = pgsb(*command, "--dsn", database.dsn)
        assert (left.status, left.out) == (1, ""), command
        assert "as a dump restored without its data" in left.err
        assert "hint: restore its data too (--data-only), or begin anew: pgsb uninstall" in left.err
    assert "as a dump restored without its data" in pgsb("version", "--dsn", database.dsn).out
    left = pgsb("uninstall", "--yes", "--dsn", database.dsn)
    assert "what a dump without its data has left of a runtime is removed from " in left.out
    assert pgsb("install", "--dsn", database.dsn).status == 0
    assert pgsb("run", "-Q", "SELECT x FROM kept", "--dsn", database.dsn).status == 0


def test_minus_d_begins_in_a_database(database: Database, pgsb: Pgsb) -> None:
    assert pgsb("run", "--dsn", database.dsn, "-", stdin="CREATE DATABASE Shop").status == 0
    dsn = ["--dsn", database.dsn]
    look = "SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0;"
    script = f"CREATE QUEUE shop_queue;\nGO\nPRINT DB_NAME();\n{look}"
    left = pgsb("run", *dsn, "-d", "shop", "--format", "json", "-", stdin=script)
    assert left.out.splitlines()[:2] == [
        '{"type":"print","text":"Shop"}',
        '{"type":"result","columns":["name"],"rows":[["shop_queue"]]}',
    ]
    for command in ("run", "shell"):
        left = pgsb(command, *dsn, "-d", "shopp", *(["-"] if command == "run" else []), stdin="PRINT 1\nGO\n")
        assert (left.status, left.out) == (1, "")
        assert left.err == "Database 'shopp' does not exist. Make sure that the name is entered correctly.\n"
    compiled = pgsb("compile", "-d", "it's", "-", stdin="PRINT 1")
    assert compiled.out.startswith("SELECT ssb.use_database('it''s');\n")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["run", "-"], b"gr?n ?\n"),
        (["run", "--format", "json", "-"], '{"type":"print","text":"grün …"}\n'.encode()),
        (["run", "--format", "csv", "-"], b""),
        pytest.param(["shell"], b"gr?n ?\n", marks=pytest.mark.long),
        (["compile", "-"], "ssb_internal.print('grün …')".encode()),
        pytest.param(["install", "--print"], "…".encode(), marks=pytest.mark.long),
    ],
    ids=["table", "json", "csv", "shell", "compile", "install"],
)
def test_a_terminal_that_knows_ascii_only(database: Database, command: list[str], shown: bytes) -> None:
    dsn = ["--dsn", database.dsn] if command[0] in ("run", "shell") else []
    done = subprocess.run(
        [sys.executable, "-m", "pgsb.cli.main", *command, *dsn],
        input="PRINT N'grün …'\n".encode(),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert shown in done.stdout
    # Messages go to stderr in csv; what it does not know it writes with backslashes.
    assert done.stderr == (b"gr\\xfcn \\u2026\n" if "csv" in command else b"")


@pytest.mark.parametrize(
    ("closed", "shown"),
    [
        pytest.param("<&-", "", marks=pytest.mark.long),
        (">&-", ""),
        pytest.param("2>&-", "1\n", marks=pytest.mark.long),
        ("<&- >&- 2>&-", ""),
    ],
)
def test_a_closed_stream_is_no_defect(database: Database, closed: str, shown: str) -> None:
    command = f"{sys.executable} -c 'from pgsb.cli.main import main; main()' run --dsn '{database.dsn}' -"
    left = subprocess.run(
        ["sh", "-c", f"echo 'PRINT 1' | {{ {command} {closed}; }}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (left.stdout, left.stderr) == (shown, "")


# ---------------------------------------------------------------- install and friends


@pytest.mark.long
def test_install_upgrade_version_uninstall(empty_database: Database, pgsb: Pgsb) -> None:
    dsn = ["--dsn", empty_database.dsn]
    assert "database: no runtime" in pgsb("version", *dsn).out
    assert pgsb("upgrade", *dsn).status == 1
    assert "is installed in" in pgsb("install", *dsn).out
    assert "was already installed" in pgsb("install", *dsn).out
    assert "is up to date" in pgsb("upgrade", *dsn).out
    assert "database: runtime" in pgsb("version", *dsn).out
    kept = pgsb("uninstall", *dsn, stdin="n\n")
    assert (kept.status, kept.err) == (1, "nothing was removed\n")
    nobody = pgsb("uninstall", *dsn, stdin="")
    assert nobody.status == 1 and "--yes answers" in nobody.err and "interrupted" not in nobody.err
    assert "database: runtime" in pgsb("version", *dsn).out
    assert "is removed from" in pgsb("uninstall", *dsn, "--yes").out
    again = pgsb("uninstall", *dsn, "--yes")
    assert (again.status, again.err) == (0, "") and again.out.startswith("there was no runtime in ")
    assert "database: no runtime" in pgsb("version", *dsn).out


@pytest.mark.long
def test_the_printed_runtime_installs_with_psql(empty_database: Database, pgsb: Pgsb, psql: str) -> None:
    text = pgsb("install", "--print").out
    shown = subprocess.run(
        [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", empty_database.dsn, "-f", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == ""
    assert pgsb("run", "--dsn", empty_database.dsn, "-", stdin="PRINT 'ready'").out == "ready\n"


def test_what_needs_the_owner_says_who_that_is(database: Database, pgsb: Pgsb) -> None:
    role = f"stranger_{database.name}"
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        (owner,) = connection.execute("SELECT current_user").fetchall()[0]
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            dsn = ["--dsn", f"{database.dsn}&user={role}"]
            for command in (
                ["uninstall", "--yes"],
                ["endpoint"],
                ["broker", "--wait", "0"],
                ["run", "--activate", "-Q", "PRINT 'ran'"],
            ):
                left = pgsb(*command, *dsn)
                assert left.out == ""
                assert left.status == 1
                assert f" belongs to {owner}, and {role} does not have its rights\n" in left.err
            left = pgsb("diagnose", *dsn)
            assert (left.status, left.err) == (
                1,
                "the server said: VIEW SERVER STATE permission was denied on object 'server', "
                "database 'master'.\n"
                "hint: GRANT pg_monitor TO this role.\n",
            )
        finally:
            connection.execute(f"DROP ROLE {role}")


def test_who_may_not_install_is_told_who_may(empty_database: Database, pgsb: Pgsb) -> None:
    role = f"stranger_{empty_database.name}"
    with psycopg.connect(empty_database.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            dsn = ["--dsn", f"{empty_database.dsn}&user={role}"]
            left = pgsb("install", *dsn)
            assert left.status == 1
            assert "permission denied for database" in left.err and "GRANT CREATE ON DATABASE" in left.err
            assert "there is no runtime in" in pgsb("endpoint", *dsn).err
        finally:
            connection.execute(f"DROP ROLE {role}")


def test_where_nothing_can_be_changed_it_is_told_why(
    database: Database, empty_database: Database, pgsb: Pgsb
) -> None:
    """A database that was switched to read only, or a standby."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for name in (database.name, empty_database.name):
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    for dsn, *command in (
        (empty_database.dsn, "install"),
        (database.dsn, "upgrade"),
        (database.dsn, "uninstall", "--yes"),
    ):
        left = pgsb(*command, "--dsn", dsn)
        assert left.status == 1
        assert "in a read-only transaction" in left.err and "default_transaction_read_only is on" in left.err


@pytest.mark.long
def test_the_files_of_an_extension_are_written(pgsb: Pgsb, tmp_path: Path) -> None:
    left = pgsb("install", "--as-extension", str(tmp_path / "extension"))
    assert left.status == 0
    written = sorted(path.name for path in (tmp_path / "extension").iterdir())
    assert [Path(line).name for line in left.out.split()] and len(written) >= 2
    assert any(name.endswith(".control") for name in written)


# ---------------------------------------------------------------- compile and check


GUARDED = """\
CREATE PROCEDURE dbo.fails AS BEGIN RAISERROR('no', 16, 1); PRINT 'inside' END
GO
BEGIN TRY RAISERROR('caught', 16, 1) END TRY BEGIN CATCH PRINT 'caught' END CATCH
IF 1 = 1 RAISERROR('no error', 10, 1)
GO
IF NOT EXISTS (SELECT 1 FROM sys.service_queues WHERE name = 'q') CREATE QUEUE q
GO
{}
GO
CREATE QUEUE never
GO
"""


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        ("IF 1 = 1 CREATE SERVICE s ON QUEUE none", "Cannot find the queue 'none'"),
        ("EXEC dbo.fails\nPRINT 'after'", "no"),
        ("BEGIN TRAN\nGO\nCREATE QUEUE undone\nGO\nEXEC dbo.fails\nGO\nPRINT 1\nGO\nCOMMIT", "no"),
        ("BEGIN TRAN\nEXEC dbo.fails\nROLLBACK", "no"),
        ("BEGIN TRAN\nGO\nCREATE QUEUE undone\nEXEC dbo.fails\nROLLBACK\nGO\nPRINT 1", "no"),
    ],
)
def test_a_compiled_text_may_stop_at_an_error(
    database: Database, pgsb: Pgsb, psql: str, tmp_path: Path, failing: str, error: str
) -> None:
    def run(script: str, *options: str) -> tuple[int, str]:
        text = tmp_path / "compiled.sql"
        assert pgsb("compile", *options, "-o", str(text), "-", stdin=script).status == 0
        command = [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.dsn, "-f", str(text)]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        return shown.returncode, shown.stderr

    def queues() -> list[str]:
        with psycopg.connect(database.dsn) as connection:
            found = connection.execute(
                "SELECT name FROM sys.service_queues WHERE is_ms_shipped = 0 ORDER BY 1"
            )
            return [name for (name,) in found]

    status, told = run(GUARDED.format(failing), "--on-error", "stop")
    assert status == 3
    assert f"ERROR:  {error}" in told
    assert queues() == ["q"]
    with psycopg.connect(database.dsn) as connection:
        connection.execute("DROP PROCEDURE dbo.fails")
    status, told = run(f":on error exit\n{GUARDED.format(failing)}")
    assert (status, f"ERROR:  {error}" in told, queues()) == (3, True, ["q"])
    with psycopg.connect(database.dsn) as connection:
        connection.execute("DROP PROCEDURE dbo.fails")
    status, told = run(GUARDED.format(failing))
    assert (status, "ERROR:" in told, "never" in queues()) == (0, False, True)


def test_compile_prints_sql_that_psql_runs(database: Database, pgsb: Pgsb, psql: str, tmp_path: Path) -> None:
    script = "CREATE QUEUE Orders;\nCREATE SERVICE [//Shop] ON QUEUE Orders;\n"
    compiled = pgsb("compile", "-", stdin=script)
    assert compiled.status == 0
    assert "ssb.create_queue" in compiled.out and "'//Shop'" in compiled.out
    assert pgsb("compile", "-", stdin=script).out == compiled.out
    out = tmp_path / "out.sql"
    assert pgsb("compile", "-", "-o", str(out), stdin=script).out == ""
    assert "CREATE OR REPLACE" not in compiled.out and out.read_text().startswith("-- Compiled by pgsb ")
    subprocess.run([psql, "-Xqv", "ON_ERROR_STOP=1", "-d", database.dsn, "-f", str(out)], check=True)
    look = "SELECT name FROM sys.services WHERE name = '//Shop'"
    assert "//Shop" in pgsb("run", "--dsn", database.dsn, "-", stdin=look).out


@pytest.mark.long
def test_compile_with_runtime_needs_nothing(empty_database: Database, pgsb: Pgsb, psql: str) -> None:
    compiled = pgsb("compile", "--with-runtime", "-", stdin="CREATE QUEUE Orders;")
    subprocess.run(
        [psql, "-Xqv", "ON_ERROR_STOP=1", "-d", empty_database.dsn], input=compiled.out, text=True, check=True
    )
    assert pgsb("run", "--dsn", empty_database.dsn, "-", stdin="SELECT * FROM Orders").status == 0


@pytest.mark.long
def test_letters_stay_what_they_are_whatever_encoding_psql_has(
    database: Database, empty_database: Database, pgsb: Pgsb, psql: str
) -> None:
    script = "CREATE TABLE Words (Word NVARCHAR(20));\nGO\nINSERT Words VALUES (N'größer €');\n"
    compiled = pgsb("compile", "--with-runtime", "-", stdin=script)
    subprocess.run(
        [psql, "-Xqv", "ON_ERROR_STOP=1", "-d", empty_database.dsn],
        input=compiled.out
        + "SELECT 1 / (current_setting('client_encoding') = 'LATIN1')::int \\g /dev/null\n",
        encoding="utf-8",
        check=True,
        env={**os.environ, "PGCLIENTENCODING": "LATIN1"},
    )
    sources = "SELECT oid::regprocedure::text, prosrc FROM pg_proc WHERE prosrc ~ '[^[:ascii:]]' ORDER BY 1"
    with psycopg.connect(empty_database.dsn) as made, psycopg.connect(database.dsn) as usual:
        assert made.execute("SELECT word FROM dbo.words").fetchall() == [("größer €",)]
        assert len(found := made.execute(sources).fetchall()) > 5
        assert found == usual.execute(sources).fetchall()


def test_a_files_name_is_no_sql(pgsb: Pgsb, tmp_path: Path) -> None:
    script = tmp_path / "a\nDROP TABLE kept; --.sql"
    script.write_text("PRINT 1;")
    out = tmp_path / "out.sql"
    assert pgsb("compile", str(script), "-d", "x\nDROP TABLE kept", "-o", str(out)).status == 0
    assert "DROP TABLE kept" in out.read_text()
    outside = [line for line in out.read_text().splitlines() if not line.startswith("--")]
    assert [line for line in outside if "DROP" in line] == ["DROP TABLE kept');"]  # -d, in its literal


@pytest.mark.parametrize("command", ["run", "sqlcmd"])
@pytest.mark.parametrize("why", ["no server", "no such database", "no script"])
def test_what_fails_before_a_batch_runs_leaves_the_old_output(
    command: str, why: str, database: Database, pgsb: Pgsb, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    out.write_text("of yesterday")
    dsn = "host=127.0.0.1 port=1 dbname=x" if why == "no server" else database.dsn
    options = ["-S" if command == "sqlcmd" else "--dsn", dsn, "-o", str(out)]
    options += ["-d", "nowhere"] if why == "no such database" else []
    script = ["-i", str(tmp_path / "gone.sql")] if why == "no script" else ["-Q", "SELECT 1"]
    assert pgsb(command, *options, *script).status != 0
    assert out.read_text() == "of yesterday"
    good = ["-S" if command == "sqlcmd" else "--dsn", database.dsn]
    assert pgsb(command, *good, "-o", str(out), "-Q", "PRINT 'of today'").status == 0
    assert out.read_text() == "of today\n"


def test_a_script_with_problems_leaves_the_old_output(pgsb: Pgsb, tmp_path: Path) -> None:
    out = tmp_path / "out.sql"
    out.write_text("precious")
    left = pgsb("compile", "-", "-o", str(out), stdin="CREATE QUEUE;\n")
    assert left.status == 1
    assert out.read_text() == "precious"


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", "one.sql", "-o", "./one.sql"],
        ["compile", "reads.sql", "-o", "one.sql"],
        ["compile", "two.sql", "--after", "one.sql", "-o", "one.sql"],
        ["compile", "--diff", "folder", "two.sql", "-o", "folder/one.sql"],
        ["run", "one.sql", "-o", "link.sql"],
        ["run", "reads.sql", "-o", "one.sql"],
        ["run", "one.sql", "redirects.sql"],
        ["sqlcmd", "-i", "two.sql,one.sql", "-o", "one.sql"],
        ["assess", "one.sql", "--html", "one.sql"],
        ["assess", "folder", "--json", "folder/one.sql"],
    ],
    ids=" ".join,
)
def test_no_output_is_written_over_a_script(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("one.sql", "two.sql", "folder/one.sql"):
        (tmp_path / name).write_text("PRINT 1;\n")
    (tmp_path / "reads.sql").write_text(":r one.sql\n")
    (tmp_path / "redirects.sql").write_text(":error stderr\n:out one.sql\nPRINT 2;\n")
    (tmp_path / "link.sql").symlink_to("one.sql")
    monkeypatch.chdir(tmp_path)
    left = pgsb(*arguments)
    assert left.status == 2 and "is a script that is read: what is written needs another name" in left.err
    assert {path.read_text() for path in tmp_path.rglob("*one.sql")} == {"PRINT 1;\n"}


def test_two_outputs_are_two_files(pgsb: Pgsb, tmp_path: Path) -> None:
    script, report = tmp_path / "one.sql", str(tmp_path / "report")
    script.write_text("PRINT 1;\n")
    left = pgsb("assess", str(script), "--html", report, "--json", report)
    assert left.status == 2 and "report is written twice" in left.err
    # A device may be named twice.
    assert pgsb("assess", str(script), "--html", os.devnull, "--json", os.devnull).status == 0


TYPE = """\
USE Shop
GO
IF TYPE_ID(N'dbo.Lines') IS NULL CREATE TYPE dbo.Lines AS TABLE (No int NOT NULL PRIMARY KEY, Sku varchar(9));
GO
"""
PROCEDURE = """\
USE Shop
GO
CREATE PROCEDURE dbo.Place @lines dbo.Lines READONLY AS SELECT COUNT(*) AS lines FROM @lines;
GO
"""
CALL = """\
USE Shop
GO
DECLARE @l dbo.Lines;
INSERT @l VALUES (1, 'tea');
EXEC dbo.Place @l;
GO
"""


def test_check_knows_the_types_and_modules_of_all_scripts_in_any_order(pgsb: Pgsb, tmp_path: Path) -> None:
    names = []
    for name, text in {"call": CALL, "procedure": PROCEDURE, "type": TYPE}.items():
        (tmp_path / f"{name}.sql").write_text(text)
        names.append(str(tmp_path / f"{name}.sql"))
    assert pgsb("check", *names).err == "3 scripts, 6 batches, no problems\n"
    alone = pgsb("check", names[0])
    assert "call.sql:4:8: error 2715: Column, parameter, or variable #1: " in alone.err
    assert "pgsb check takes the script that makes a table type too, pgsb compile --after it" in alone.err
    assert "Cannot find data type dbo.Lines." in alone.err


def test_scripts_compiled_after_others_know_what_those_define(
    database: Database, pgsb: Pgsb, psql: str, tmp_path: Path
) -> None:
    (tmp_path / "type.sql").write_text("CREATE DATABASE Shop;\nGO\n" + TYPE)
    (tmp_path / "procedure.sql").write_text(PROCEDURE)
    (tmp_path / "call.sql").write_text(CALL)
    first, second, third = (str(tmp_path / f"{name}.sql") for name in ("type", "procedure", "call"))
    together = pgsb("compile", first, second)
    later = pgsb("compile", "--after", first, "--after", second, third)
    assert together.status == later.status == 0
    assert "CREATE TYPE" not in later.out
    for text in (together.out, later.out):
        command = [psql, "-Xqv", "ON_ERROR_STOP=1", "-d", database.dsn]
        done = subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    assert '"rows":[[1]]' in done.stderr


def test_check_reports_what_another_script_reads_in_once(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Deploy.sql").write_text("PRINT 1;\nGO\n:r .\\PARTS\\Orders.SQL\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "orders.sql").write_text("CREATE QUEUE q;\nGO\nPRINT @none;\nGO\n")
    for folder in (".", str(tmp_path)):
        left = pgsb("check", folder)
        assert left.status == 1
        assert left.err.count("orders.sql:3:7: error 137: ") == 1
        assert left.err.endswith("\n\n1 script, 3 batches, 1 error\n")


def test_a_folder_is_compared_with_what_its_scripts_read_in(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, columns in (("old", "a INT"), ("new", "a INT, b INT")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "deploy.sql").write_text(":setvar S dbo\n:r tables.sql\n")
        (tmp_path / folder / "tables.sql").write_text(f"CREATE TABLE $(S).t ({columns})\nGO\n")
    assert "ALTER TABLE dbo.t ADD b INT;" in pgsb("compile", "--diff", "old", "--tsql", "new").out


def test_check_reports_all_problems_of_all_scripts(pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("PRINT @x\nGO\nCREATE QUEUE\nGO\nPRINT 'fine'\n")
    (tmp_path / "b.sql").write_text("SELECT 'open\n")
    left = pgsb("check", str(tmp_path / "a.sql"), str(tmp_path / "b.sql"))
    assert left.status == 1
    for place in ("a.sql:1:7: error 137", "a.sql:", "b.sql:1:8: error 105"):
        assert place in left.err
    assert left.err.endswith("\n\n2 scripts, 4 batches, 3 errors\n")
    assert pgsb("check", "-", stdin="PRINT 'fine'").status == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(pgsb: Pgsb, shell: str) -> None:
    left = pgsb("completion", shell)
    assert left.status == 0
    assert f"_PGSB_COMPLETE={shell}_complete" in left.out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("up", "plain,upgrade"),
        ("run a.sql -i ord", "file,ord"),
        ("compile ord", "file,ord"),
        # Each a process of half a second.
        *(
            pytest.param(f"{command} ord", "file,ord", marks=pytest.mark.long)
            for command in (
                "run",
                "check",
                "compile --after",
                "compile --diff",
                "sqlcmd -i",
                "sqlcmd -o",
                "assess",
                "spark run --py-files",
            )
        ),
    ],
)
def test_a_shell_completes_commands_and_files(typed: str, offered: str) -> None:
    place = str(len(typed.split()))
    asked = {"_PGSB_COMPLETE": "bash_complete", "COMP_WORDS": f"pgsb {typed}", "COMP_CWORD": place}
    environment = {**os.environ, **asked}
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert shown.stdout == f"{offered}\n"


@pytest.mark.parametrize("command", ["run", "compile", "check"])
def test_what_is_no_script_is_told(pgsb: Pgsb, tmp_path: Path, command: str) -> None:
    project = tmp_path / "Shop.sqlproj"
    project.write_text("<Project/>")
    left = pgsb(command, str(project))
    assert left.status == 2 and f"{project} is no script but a project: " in left.err
    if command != "check":
        left = pgsb(command, str(tmp_path))
        assert left.status == 2
        assert f"{tmp_path} is a folder: name its scripts, in the order in which they are to run" in left.err


def test_an_ordinary_role_runs_scripts_with_its_rights(database: Database, pgsb: Pgsb) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as owner:
        owner.execute("CREATE ROLE ordinary_clerk LOGIN")
        try:
            made = pgsb(
                "run",
                "--dsn",
                database.dsn,
                "-",
                stdin="CREATE QUEUE Inbox; CREATE SERVICE [//Office] ON QUEUE Inbox ([DEFAULT]);\n"
                "CREATE QUEUE Closed;\nGRANT SEND ON SERVICE::[//Office] TO ordinary_clerk;\n"
                "GRANT RECEIVE ON Inbox TO ordinary_clerk;",
            )
            assert made.status == 0, made.out
            left = pgsb(
                "run",
                "--dsn",
                f"{database.dsn}&user=ordinary_clerk",
                "-",
                stdin="SET NOCOUNT ON; DECLARE @d UNIQUEIDENTIFIER;\n"
                "BEGIN DIALOG @d FROM SERVICE [//Office] TO SERVICE '//Office' WITH ENCRYPTION = OFF;\n"
                "SEND ON CONVERSATION @d (N'hello');\n"
                "RECEIVE CAST(message_body AS NVARCHAR(MAX)) AS body FROM Inbox;\nGO\nRECEIVE * FROM Closed;",
            )
            assert left.status == 1
            assert left.out.startswith("body\n-----\nhello\n\nMsg 229, ")
        finally:
            owner.execute("DROP OWNED BY ordinary_clerk")
            owner.execute("DROP ROLE ordinary_clerk")


def test_compile_says_what_is_not_in_its_text(pgsb: Pgsb, tmp_path: Path) -> None:
    script = tmp_path / "p.sql"
    script.write_text("CREATE PROCEDURE p WITH EXECUTE AS OWNER AS SELECT 1")
    left = pgsb("compile", str(script))
    assert left.status == 0 and "CREATE OR REPLACE PROCEDURE dbo.p" in left.out
    assert left.err.startswith(f"{script}:1:25: warning: EXECUTE AS of a procedure is recorded in the source")
    assert pgsb("check", str(script)).err == left.err + "\n1 script, 1 batch, 1 warning\n"


# ---------------------------------------------------------------- what a terminal shows besides


def _with_terminal(arguments: list[str], *, status: int = 0) -> str:
    """Run the command with a terminal as its stderr; return what that shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from pgsb.cli.main import main; main()", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        # A terminal whose other side is closed is an error on Linux, an empty read elsewhere.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert process.returncode == status, shown
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.long
def test_a_run_closes_with_what_it_did(database: Database, tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("one.sql", "two.sql", "three.sql")]
    for name, text in zip(names, ("PRINT 1\nGO\nPRINT 2", "SELECT 1/0\nGO\nPRINT 1", "PRINT 3"), strict=True):
        Path(name).write_text(text)
    run = ["run", "--dsn", database.dsn]
    assert _with_terminal([*run, names[0], names[2]]) == "2 scripts, 3 batches, no problems\n"
    shown = _with_terminal([*run, *names], status=1)
    assert shown == "3 scripts, 5 batches, 1 batch with errors\n"
    shown = _with_terminal([*run, "-b", *names], status=1)
    assert shown == "2 scripts, 3 batches, 1 batch with errors, 1 script left out\n"


@pytest.mark.long
def test_compiling_much_shows_how_far_it_is(tmp_path: Path) -> None:
    script = tmp_path / "many.sql"
    script.write_text("PRINT 1\nGO\n" * 30 + "PRINT 1")
    shown = _with_terminal(["compile", str(script), "-o", str(tmp_path / "out.sql")])
    assert "compiling  [" in shown and "100%" in shown


@pytest.mark.long
def test_checking_many_files_and_running_many_batches_shows_how_far_it_is(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number}.sql").write_text(f"PRINT {number}\nGO\n")
    shown = _with_terminal(["check", str(folder)])
    assert "checking  [" in shown and "100%" in shown
    assert shown.endswith("25 scripts, 25 batches, no problems\n")
    script = tmp_path / "long.sql"
    script.write_text("PRINT 1\nGO\n" * 30)
    shown = _with_terminal(["run", "--dsn", database.dsn, "-o", str(tmp_path / "out.txt"), str(script)])
    assert "running  [" in shown and "100%" in shown
    assert shown.endswith("1 script, 30 batches, no problems\n")
