"""sqlcmd's habits: `pgsb sqlcmd`, options of `pgsb run`, :out, places of errors, streams of rows."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgsb.cli.like_sqlcmd import _REFUSED, sqlcmd_command
from pgsb.cli.run import _LETTERS, run_command
from support import Database

pytestmark = pytest.mark.one_postgres

Pgsb = Callable[..., Any]
RUN = [sys.executable, "-m", "pgsb.cli.main", "run"]
TWO_COLUMNS = "SET NOCOUNT ON; SELECT 1 AS a, N'x' AS wide UNION ALL SELECT 22, N'yyyyyy'"


def test_a_query_instead_of_a_file(database: Database, pgsb: Pgsb) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-Q", "PRINT 1", "-Q", "PRINT 2")
    assert (left.status, left.out) == (0, "1\n2\n")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["-W", "-s", "|"], "a|wide\n-|----\n1|x\n22|yyyyyy\n\n"),
        (["--headers", "-1", "-W"], "1 x\n22 yyyyyy\n\n"),
        (["--headers", "1", "-W", "-s", ","], "a,wide\n-,----\n1,x\n\na,wide\n-,----\n22,yyyyyy\n\n"),
        (["-w", "5"], "a  wi\nde\n-- --\n----\n 1 x\n22 yy\nyyyy\n\n"),
    ],
)
def test_tables_as_sqlcmd_lays_them_out(
    database: Database, pgsb: Pgsb, options: list[str], shown: str
) -> None:
    assert pgsb("run", "--dsn", database.dsn, *options, "-Q", TWO_COLUMNS).out == shown


def test_output_goes_into_a_file(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-o", str(tmp_path / "o.txt"), "-Q", "PRINT N'ä'")
    assert (left.status, left.out) == (0, "")
    assert (tmp_path / "o.txt").read_text(encoding="utf-8") == "ä\n"


def test_b_stops_at_the_first_error_and_e_echoes(database: Database, pgsb: Pgsb) -> None:
    left = pgsb(
        "run", "--dsn", database.dsn, "-b", "-e", "-", stdin="PRINT 1\nGO\nTHROW 50000, 'x', 1\nGO\nPRINT 2\n"
    )
    assert left.status == 1
    assert left.out == "PRINT 1\n1\nTHROW 50000, 'x', 1\nMsg 50000, Level 16, State 1, Line 1\nx\n"


@pytest.mark.parametrize("seconds", ["0.2", "0.0004", "1e-9"])
def test_a_timeout_cancels_the_statement(database: Database, pgsb: Pgsb, seconds: str) -> None:
    left = pgsb("run", "--dsn", database.dsn, "-t", seconds, "-Q", "WAITFOR DELAY '00:01:00'")
    assert (left.status, "Query was canceled" in left.out) == (1, True)


def test_errors_at_run_time_name_file_and_line(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "inner.sql").write_text("\nSELECT 1/0;\nGO\n")
    script = tmp_path / "orders.sql"
    script.write_text(
        "CREATE PROCEDURE p AS\nBEGIN\n  RAISERROR('inside', 16, 1);\nEND\nGO\n"
        "DECLARE @i INT;\nSET @i = CAST('x' AS INT);\nGO\n\nEXEC p;\nEXEC('\n\nSELECT 1/0');\nGO\n"
        ":r inner.sql\nBEGIN TRAN;\nGO\nSELECT 1/0;\nGO 2\n\nROLLBACK;\nROLLBACK;\n"
    )
    left = pgsb("run", "--dsn", database.dsn, str(script))
    places = re.findall(r"^((?:in the batch )?at) .*?(\w+\.sql:\d+)$", left.out, re.MULTILINE)
    assert places == [
        ("at", "orders.sql:7"),
        *[("in the batch at", "orders.sql:9")] * 2,
        ("at", "inner.sql:2"),
        *[("at", "orders.sql:18")] * 2,
        ("at", "orders.sql:22"),
    ]
    left = pgsb("run", "--dsn", database.dsn, "--format", "json", str(script))
    assert f'"file":"{script}","file_line":7' in left.out


def test_a_script_chooses_where_results_and_errors_go(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    out, errors = tmp_path / "out.txt", tmp_path / "errors.txt"
    script = (
        f"PRINT 'here'\nGO\n:out {out}\n:error {errors}\nPRINT 'in the file'\nGO\nTHROW 50000, 'no', 1\nGO\n"
        ":out stdout\n:error stdout\nPRINT 'back'\nGO\n"
    )
    left = pgsb("run", "--dsn", database.dsn, "-", stdin=script)
    assert (left.status, left.out) == (1, "here\nback\n")
    assert out.read_text() == "in the file\n"
    assert errors.read_text() == "Msg 50000, Level 16, State 1, Line 1\nno\n"


# ---------------------------------------------------------------- pgsb sqlcmd


def test_sqlcmds_letters(database: Database, pgsb: Pgsb, tmp_path: Path) -> None:
    parts = conninfo_to_dict(database.dsn)
    script = tmp_path / "a.sql"
    script.write_text("SET NOCOUNT ON; SELECT '$(WORD)' AS word, DB_NAME() AS d;")
    left = pgsb(
        *("sqlcmd", "-S", f"{parts['host']},{parts['port']}", "-d", database.name, "-U", str(parts["user"])),
        *("-E", "-C", "-b", "-h", "-1", "-W", "-s", ";", "-l", "5", "-v", "WORD=tea", "-i", str(script)),
    )
    assert (left.status, left.out) == (0, f"tea;{database.name}\n\n"), left.err
    left = pgsb("sqlcmd", "-S", database.dsn, stdin="PRINT 'from stdin'\nGO\n")
    assert left.out == "from stdin\n"
    assert pgsb("sqlcmd", "-S", database.dsn, "-Q", "PRINT 1").out == "1\n"


def test_one_v_is_for_all_the_variables_behind_it(database: Database, pgsb: Pgsb) -> None:
    query = "PRINT '$(first) $(second) $(third)'"
    left = pgsb(
        *("sqlcmd", "-S", database.dsn, "-v", "first=one two", "second=", "-vthird=3", "-k1", "-Q", query)
    )
    assert (left.status, left.out) == (0, "one two  3\n"), left.err
    left = pgsb("sqlcmd", "-S", database.dsn, "-vfirst=1", "second=2", "third=3", "-r1", "-Q", query)
    assert (left.status, left.out) == (0, "1 2 3\n"), left.err


def test_d_is_the_tsql_database_where_another_word_names_the_other(
    database: Database, pgsb: Pgsb, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ("sqlcmd", "-h", "-1", "-W", "-Q", "SET NOCOUNT ON; SELECT DB_NAME()")
    pgsb("run", "--dsn", database.dsn, "-Q", "CREATE DATABASE Shop")
    parts = conninfo_to_dict(database.dsn)
    monkeypatch.setenv("DATABASE_URL", database.dsn)
    for given in (
        ["-d", "Shop"],
        ["-d", "Shop", "-U", str(parts["user"])],
        ["-S", database.dsn, "-d", "Shop"],
    ):
        left = pgsb(*shown, *given)
        assert (left.status, left.out) == (0, "Shop\n\n"), left.err
    left = pgsb(*shown, "-d", "Shop", "-S", "127.0.0.1,1")
    assert left.status == 1
    assert left.err.startswith("cannot connect to dbname=Shop host=127.0.0.1 port=1")
    assert left.err.endswith("\nhint: the server was named by -S\n")
    monkeypatch.setenv("DATABASE_URL", "se cret")
    left = pgsb(*shown, "-d", "Shop")
    assert (left.status, "cannot read the connection string of DATABASE_URL" in left.err) == (2, True)
    assert "cret" not in left.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-L"], "-L is not here: servers are not listed; name one with -S"),
        (["-S", "host\\INSTANCE", "-Q", "x"], "PostgreSQL has no named instances"),
        (["-S", "host,abc", "-Q", "x"], "a port is a number: HOST,PORT"),
        (["-S", "host:5432", "-Q", "x"], "the port stands behind a comma: HOST,PORT"),
        (["-X"], "commands of the operating system are never run"),
    ],
)
def test_what_sqlcmd_has_and_pgsb_has_not(pgsb: Pgsb, arguments: list[str], sentence: str) -> None:
    left = pgsb("sqlcmd", *arguments)
    assert left.status == 2 and sentence in left.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-S", "host", "-Q", "x"], "-S is a letter of sqlcmd; here it is --dsn. pgsb sqlcmd takes"),
        (["-h", "-1", "-Q", "x"], "-h is a letter of sqlcmd; here it is --headers"),
        (["-Psecret", "x.sql"], "-P is a letter of sqlcmd; here it is PGPASSWORD"),
        (["-y", "30", "x.sql"], "-y is a letter of sqlcmd: pgsb sqlcmd takes it, or says why not"),
    ],
)
def test_run_says_what_a_letter_of_sqlcmd_is_here(pgsb: Pgsb, arguments: list[str], sentence: str) -> None:
    left = pgsb("run", *arguments)
    assert left.status == 2 and sentence in left.err and "secret" not in left.err


def test_every_letter_of_sqlcmd_is_known_to_both() -> None:
    """-? is the help of both."""
    letters = set("aAbcCdDeEfFgGhHiIjkKlLmMNopPqQrRsStuUvVwWxXyYzZ")
    of_run = {name[1] for option in run_command.params for name in option.opts if len(name) == 2}
    of_sqlcmd = {name[1] for option in sqlcmd_command.params for name in option.opts if len(name) >= 2}
    assert letters <= of_run | set(_LETTERS), letters - of_run - set(_LETTERS)
    assert letters <= of_sqlcmd | set(_REFUSED), letters - of_sqlcmd - set(_REFUSED)


@pytest.mark.parametrize(
    ("severity", "state", "behind"),
    [(16, 127, ["the same batch"]), (10, 127, ["the same batch"]), (26, 1, [])],
)
def test_an_error_of_state_127_and_a_fatal_one_end_the_script(
    database: Database, pgsb: Pgsb, tmp_path: Path, severity: int, state: int, behind: list[str]
) -> None:
    """As the scripts that SSDT publishes do before data would be lost."""
    script = tmp_path / "publish.sql"
    script.write_text(
        ":on error ignore\nRAISERROR('state 126', 16, 126)\nGO\n"
        f"IF 1 = 1 RAISERROR('rows', {severity}, {state}) WITH NOWAIT, LOG\nPRINT 'the same batch'\nGO\n"
        "PRINT 'no'\nGO\n"
    )
    left = pgsb("run", "--dsn", database.dsn, str(script), str(script))
    assert left.status == 1
    found = re.findall("^(state 126|rows|the same batch|no)$", left.out, re.MULTILINE)
    assert found == ["state 126", "rows", *behind]


# ---------------------------------------------------------------- streams

_PEAK = """
import resource, sys
from pgsb.cli.main import main
sys.argv = ["pgsb", "run", "--format", sys.argv[2], "--dsn", sys.argv[1], "-Q", sys.argv[3]]
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.long
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_memory_stays_flat_whatever_the_rows(database: Database, form: str) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE dbo.many AS SELECT g AS a, repeat('x', 200) AS b FROM generate_series(1, 200000) g"
        )

    def peak(query: str) -> int:
        shown = subprocess.run(
            [sys.executable, "-c", _PEAK, database.dsn, form, query],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
        return int(shown.stderr.split()[-1])

    few, many = peak("SELECT TOP (6000) * FROM many"), peak("SELECT * FROM many")
    assert many - few < 8_000  # kB, of 40 MB of rows


def test_the_first_row_comes_before_the_last_is_made(database: Database) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION dbo.slow(n integer) RETURNS integer LANGUAGE plpgsql AS"
            " 'BEGIN IF n > 2 THEN PERFORM pg_advisory_lock(42); END IF; RETURN n; END'"
        )
        # The server sends what fills its buffer: 8 kB.
        connection.execute(
            "CREATE VIEW dbo.slowly AS SELECT dbo.slow(g) AS n, repeat('x', 9000) AS b"
            " FROM generate_series(1, 3) g"
        )
        connection.execute("SELECT pg_advisory_lock(42)")
        process = subprocess.Popen(
            [*RUN, "--dsn", database.dsn, "--format", "csv", "-Q", "SELECT n, b FROM slowly"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "n,b\n"
        assert process.stdout.readline().startswith("1,xxx")
        connection.execute("SELECT pg_advisory_unlock(42)")
        rest, _ = process.communicate()
    assert [line[:2] for line in rest.splitlines()] == ["2,", "3,"]


def test_an_error_behind_the_first_rows(database: Database, pgsb: Pgsb) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW dbo.late AS SELECT 1000 / (3000 - g) AS n FROM generate_series(1, 4000) g"
        )
    left = pgsb("run", "--dsn", database.dsn, "--format", "csv", "-Q", "SELECT n FROM late")
    assert left.status == 1
    assert left.out.count("\n") > 1000
    assert "Msg 8134" in left.err
