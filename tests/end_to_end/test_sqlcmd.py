"""sqlcmd's directives: scripts in several files, as its users keep them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgsb.cli import sqlcmd
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from support import Database

pytestmark = pytest.mark.one_postgres

Pgsb = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".sql").write_text(text)


def test_files_are_read_in_with_their_batches_and_variables(
    database: Database, pgsb: Pgsb, folder: Path
) -> None:
    write(
        folder,
        main=":setvar Part \"parts\"\nPRINT 'first'\n"
        ":r .\\$(Part)\\one.sql\nPRINT '$(SEEN)'\nGO\n:R \"parts/two.sql\"",
        parts__one="PRINT 'one'\nGO\n:setvar Seen yes\nPRINT '$(part)'\n",
        parts__two=":r three.sql\nGO",
        parts__three="PRINT 'three'",
    )
    left = pgsb("run", "--dsn", database.dsn, "main.sql")
    assert (left.status, left.out) == (0, "first\none\nparts\nyes\nthree\n")


def test_an_empty_value_is_one_in_a_directive_too(database: Database, pgsb: Pgsb, folder: Path) -> None:
    write(folder, main=':setvar folder ""\n:r $(folder)one.sql\n', one="PRINT 'one$(folder)'")
    left = pgsb("run", "--dsn", database.dsn, "main.sql")
    assert (left.status, left.out) == (0, "one\n")


def test_places_are_those_of_the_file_that_was_read(pgsb: Pgsb, folder: Path) -> None:
    write(folder, main="PRINT 1\nGO\n:r inner.sql\nGO\nPRINT 0 SELEC 2\n", inner="\nPRINT 1\nFROBNICATE 1\n")
    left = pgsb("check", "main.sql")
    assert left.status == 1
    assert "inner.sql:3:1: error 102: Incorrect syntax near 'FROBNICATE'." in left.err
    assert "    3 | FROBNICATE 1" in left.err
    assert "main.sql:5:9: error 102: Incorrect syntax near 'SELEC'." in left.err


def test_columns_are_those_of_the_file_however_long_a_variable_is(pgsb: Pgsb, folder: Path) -> None:
    write(
        folder,
        main=":setvar Queue AVeryLongNameOfAQueue\n:setvar Status MAYBE\n"
        "CREATE QUEUE $(queue) WITH STATUS = NO;\nGO\n"
        "CREATE QUEUE q WITH STATUS = $(Status);\nGO\n:r inner.sql\n",
        inner="CREATE QUEUE $(Queue) WITH STATUS = ;",
    )
    left = pgsb("check", "--format", "json", "main.sql")
    keys = ("file", "line", "column", "end_line", "end_column")
    assert [tuple(one[key] for key in keys) for one in json.loads(left.out)["problems"]] == [
        ("main.sql", 3, 37, 3, 39),
        ("main.sql", 5, 30, 5, 39),
        ("inner.sql", 1, 37, 1, 38),
    ]
    assert "main.sql:3:37: error 102" in pgsb("check", "main.sql").err


def test_lines_of_run_time_errors_count_what_was_read(database: Database, pgsb: Pgsb, folder: Path) -> None:
    write(folder, main="PRINT 1\n:r inner.sql\nSELECT 1/0 AS a\nGO\n", inner="PRINT 2\nPRINT 3\n")
    left = pgsb("run", "--dsn", database.dsn, "main.sql")
    assert "Msg 8134, Level 16, State 1, Line 4\n" in left.out


def test_a_directive_or_variable_in_a_comment_is_none(database: Database, pgsb: Pgsb) -> None:
    script = (
        ":setvar a 1\n/* as in\n:r missing.sql /*\n:quit */\n$(missing)\n*/ -- $(missing)\n"
        "PRINT '$(a)\n:r missing.sql'\nSELECT $(A) AS [it's $(a)]\n"
    )
    left = pgsb("run", "--dsn", database.dsn, "--format", "csv", "-", stdin=script)
    assert (left.status, left.out) == (0, "it's 1\n1\n")
    assert left.err == "1\n:r missing.sql\n"


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("PRINT 1\nGO\nPRINT 2\n:quit\nPRINT 3\nGO\n", "1\n"),
        ("PRINT 1\nGO\nPRINT 2\n:exit\nPRINT 3\nGO\n", "1\n"),
        ("PRINT 1\nGO\nPRINT 2\n:EXIT()\nPRINT 3\nGO\n", "1\n2\n"),
        ("PRINT 1\nGO\nPRINT 2\n:reset\nPRINT 3\nGO\n", "1\n3\n"),
        (":out STDOUT\n:xml ON\nPRINT 1\n:error stdout", "1\n"),
        (":setvar a 1\n:setvar a\nPRINT '$(SQLCMDCOLWIDTH)'", "0\n"),
    ],
)
def test_ends_and_resets(script: str, printed: str, database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=script)
    assert (left.status, left.out) == (0, printed)


def test_on_error_holds_from_its_line_on(database: Database, pgsb: Pgsb) -> None:
    script = "SELECT 1/0\nGO\n:on error exit\nPRINT 1\nGO\nSELECT 1/0\nGO\nPRINT 2"
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=script)
    assert left.status == 1
    assert left.out.count("8134") == 2 and "\n1\n" in left.out and "2\n" not in left.out[-3:]
    left = pgsb("run", "--dsn", database.dsn, "--on-error", "stop", "-", stdin=":on error ignore\n" + script)
    assert "\n1\n" in left.out


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("PRINT 1\n:r missing.sql", "2:1: error: cannot read missing.sql: no such file"),
        (":r", "1:1: error: the name of a file is missing"),
        (":r self.sql", "self.sql:1:1: error: ./self.sql reads itself"),
        (":r a.sql", "b.sql:1:1: error: a.sql reads itself"),
        ("!!dir", "1:1: error: commands of the operating system are not run"),
        ("GO\n:!! dir", "2:1: error: commands of the operating system are not run"),
        (":exit(SELECT 1)", "1:1: error: sqlcmd's directive :exit (SELECT 1) is not supported"),
        (":on error print", "1:1: error: sqlcmd's directive :on error print is not supported"),
        (":out", "1:1: error: sqlcmd's directive :out is not supported"),
        (":listvar", "1:1: error: sqlcmd's directive :listvar is not supported"),
        (":r ../outside.sql", "1:1: error: ../outside.sql is not read: it is outside of the"),
        (":r link.sql", "1:1: error: link.sql is not read: it is outside of the working directory"),
        (
            ":setvar a 0123456789\n" + ':setvar a "$(a)$(a)$(a)$(a)$(a)$(a)$(a)$(a)"\n' * 40,
            "7:1: error: the directive becomes longer than 1,000,000 characters",
        ),
        (":setvar 1", "1:1: error: cannot read '1' as NAME VALUE"),
        (r":setvar C:\x", r"1:1: error: cannot read 'C:\x' as NAME VALUE"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    script: str, problem: str, pgsb: Pgsb, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    write(folder, outside="PRINT 1")
    write(inner, self=":r ./self.sql", a=":r b.sql", b=":r a.sql")
    (inner / "link.sql").symlink_to(folder / "outside.sql")
    left = pgsb("check", "-", stdin=script)
    assert left.status == 1
    assert problem in left.err


def test_who_only_looks_at_a_script_tells_nothing_of_the_environment(
    database: Database, pgsb: Pgsb, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, asks=":setvar a b\nPRINT '$(SECRET)'\nPRINT $(SECRET)")
    monkeypatch.setenv("SECRET", "'the secret'")
    for command in ("check", "compile", "assess"):
        left = pgsb(command, "asks.sql")
        assert "no value for the variable 'SECRET'" in left.err + left.out
        assert "the secret" not in left.err + left.out
    monkeypatch.setenv("SECRET", "the environment's")
    write(folder, asks=':setvar a b\nPRINT "$(SECRET)"')
    assert "the environment's" in pgsb("run", "--dsn", database.dsn, "asks.sql").out


def test_what_files_and_variables_add_has_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, a=":r b.sql\n" * 9, b="PRINT '$(x)'\n" * 9)
    for limit, value, message in (
        ("_MOST_FILES", 8, ":r reads more than 8 files"),
        ("_MOST_CHARACTERS", 900, "variables and :r add more than 900 characters to the script"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sqlcmd, limit, value)
            problems = Problems()
            sqlcmd.compose(Source("<stdin>", ":r a.sql"), {"x": "y" * 30}, problems)
            assert [error.message for error in problems.errors] == [message]
