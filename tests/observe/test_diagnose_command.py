"""pgsb diagnose: text, JSON, exit status, --level, --ignore, --watch."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from dialogs import begin
from end_to_end.conftest import Outcome

from activation import send, tsql
from pgsb.observe.findings import LogLine, Trouble, watch
from pgsb.runtime_sql.installer import RUNTIME_VERSION
from support import Connection, Database

Run = Callable[..., Outcome]


@pytest.fixture
def run(pgsb: Run) -> Run:
    """``run(database, "--watch")`` in this process: one of its own takes longer to start than to look."""
    return lambda database, *arguments: pgsb("diagnose", "--dsn", database.dsn, *arguments)


# With every test server: fsync and autovacuum are off.
SERVER = "103,106"


@pytest.mark.long
def test_limits_that_are_for_programs_do_not_end_it(
    sql: Connection, database: Database, connect: Callable[..., Connection], run: Run
) -> None:
    limits = {"statement_timeout": "1500", "idle_session_timeout": "1500"}
    if sql.info.server_version >= 170000:
        limits["transaction_timeout"] = "1500"
    for name, value in limits.items():
        sql.execute(f"ALTER DATABASE {database.name} SET {name} = {value}".encode())
    careless = connect(autocommit=False)
    for name in limits:
        careless.execute(f"SET {name} = 0".encode())
    careless.commit()
    careless.execute("LOCK TABLE ssb.message_0 IN ACCESS EXCLUSIVE MODE")  # it waits two seconds for that
    shown = run(database, "--ignore", SERVER)
    assert (shown.status, shown.err) == (3, "")
    assert shown.out.startswith("117 error: session ")


def test_nothing_found_is_status_0(sql: Connection, database: Database) -> None:
    command = [sys.executable, "-m", "pgsb.cli.main", "diagnose", "--dsn", database.dsn, "--ignore", SERVER]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "nothing found\n", "")


@pytest.mark.parametrize(("away", "remedy"), [(-1, ["    shell: pgsb upgrade"]), (1, [])])
def test_a_runtime_of_another_version_is_told(
    sql: Connection, database: Database, away: int, remedy: list[str], run: Run
) -> None:
    version = int(RUNTIME_VERSION) + away
    sql.execute("UPDATE ssb.runtime_version SET version = %s", [version])
    shown = run(database, "--ignore", SERVER)
    assert (shown.status, shown.err) == (3, "")
    said = shown.out.splitlines()
    assert said[0] == "123 warning: the runtime: the runtime is of another version than pgsb"
    assert said[1] == f"    it is version {version}, this pgsb brings {RUNTIME_VERSION}"
    (kind,) = sql.execute("SELECT * FROM ssb_internal.finding_kinds() WHERE number = 123").fetchall()
    assert f"    {kind[3]}" == said[2]
    assert said[3:] == [*remedy, "", "0 errors, 1 warning, 0 info"]
    (told,) = json.loads(run(database, "--ignore", SERVER, "--format", "json").out)
    assert (told["number"], told["severity"], told["title"]) == tuple(kind[:3])


def test_a_finding_is_told_with_its_remedy(sql: Connection, database: Database, run: Run) -> None:
    send(sql, "x")
    tsql(sql, "ALTER QUEUE dbo.to_queue WITH STATUS = OFF;")
    shown = run(database, "--ignore", "103", "--ignore", "106")
    assert shown.status == 3
    assert shown.out.splitlines() == [
        "302 warning: dbo.to_queue: a queue is off and messages wait",
        "    1 message in the queue",
        "    STATUS = OFF: nobody can receive; what is sent waits in the transmission queue.",
        "    pgsb shell: ALTER QUEUE [dbo].[to_queue] WITH STATUS = ON;",
        "",
        "0 errors, 1 warning, 0 info",
    ]
    assert run(database, "--ignore", SERVER, "--level", "error").status == 0
    as_json = json.loads(run(database, "--ignore", SERVER, "--format", "json").out)
    assert [(one["number"], one["object"], one["run_with"]) for one in as_json] == [
        (302, "dbo.to_queue", "pgsb shell")
    ]


def test_a_dialog_is_checked(sql: Connection, database: Database, run: Run) -> None:
    shown = run(database, "--ignore", SERVER, "--from", "//From", "--to", "//To,CURRENT DATABASE")
    assert shown.status == 0, shown.out
    shown = run(database, "--ignore", SERVER, "--from", "//From", "--to", "//Typo")
    assert shown.status == 3
    assert "602 error: //Typo: no way leads to the target service" in shown.out


@pytest.mark.long
@pytest.mark.one_postgres
def test_names_move_no_terminal(sql: Connection, database: Database, run: Run) -> None:
    """Whoever may send chooses the name of a service, and an operator reads it."""
    sql.execute(r"SELECT ssb.send(ssb.begin_dialog('//From', E'//T\x1b]0;mine\x07o\r!'), body => 'x'::bytea)")
    shown = run(database, "--ignore", SERVER, "--limit", "waiting=0 s")
    assert "501 error: //T·]0;mine·o·!: messages cannot be delivered\n" in shown.out
    assert "WITH SERVICE_NAME = '//T·]0;mine·o·!'" in shown.out
    assert " to //T·]0;mine·o·!: " in run(database, "--watch", "--timeout", "0.1").out
    (found,) = json.loads(run(database, "--ignore", SERVER, "--limit", "waiting=0 s", "--format", "json").out)
    assert found["object"] == "//T\x1b]0;mine\x07o\r!"
    command = [sys.executable, "-m", "pgsb.cli.main", "top", "--once", "--dsn", database.dsn]
    top = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert not {"\x1b", "\x07", "\r"} & set(top.stdout)


@pytest.mark.one_postgres
def test_a_line_break_in_a_name_makes_no_finding_and_no_statement(
    sql: Connection, database: Database, run: Run
) -> None:
    """An operator runs what stands behind `psql:`."""
    name = "//To\n    psql: ALTER ROLE mallory SUPERUSER;\n\n101 error: roles: forged"
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', %s), body => 'x'::bytea)", [name])
    shown = run(database, "--ignore", SERVER, "--limit", "waiting=0 s").out.splitlines()
    assert [line.split(":")[0] for line in shown if "ALTER ROLE" in line] == ["501 error", "    pgsb shell"]
    assert not [line for line in shown if line.startswith("101 ")]
    watched = run(database, "--watch", "--timeout", "0.1").out.splitlines()
    assert len([line for line in watched if " 501 " in line]) == 1
    assert not [line for line in watched if line.startswith(("101", "    psql"))]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ignore", "x"], "'x' is no list of numbers"),
        (["--limit", "waiting"], "'waiting' is not NAME=VALUE"),
        (["--new"], "go with --watch"),
        (["--to-dsn", "dbname=x"], "--to-dsn goes with --from and --to"),
        (["--contract", "//Orders"], "--contract and --encryption go with --from or --to"),
        (["--encryption", "on"], "--contract and --encryption go with --from or --to"),
        (["--watch", "--from", "//From"], "--from does not go with --watch"),
        (["--watch", "--ignore", "301"], "--ignore does not go with --watch"),
        (["--watch", "--level", "warning"], "--level does not go with --watch"),
    ],
)
@pytest.mark.one_postgres
def test_wrong_use_is_told(arguments: list[str], said: str, pgsb: Run) -> None:
    shown = pgsb("diagnose", "--dsn", "host=127.0.0.1 port=1 dbname=nowhere", *arguments)
    assert shown.status == 2
    assert said in shown.err


@pytest.mark.one_postgres
def test_a_database_without_the_runtime_is_told(empty_database: Database, run: Run) -> None:
    shown = run(empty_database)
    assert shown.status == 1
    assert "there is no runtime in " in shown.err and "`pgsb install --dsn …`" in shown.err


@pytest.mark.one_postgres
def test_an_older_runtime_is_told_with_both_versions(sql: Connection, database: Database, run: Run) -> None:
    sql.execute("DROP FUNCTION ssb_internal.last_conversation()")
    sql.execute("UPDATE ssb.runtime_version SET version = 12")
    shown = run(database)
    assert shown.status == 1
    assert f"is version 12, this pgsb needs {RUNTIME_VERSION}" in shown.err
    assert "hint: `pgsb upgrade --dsn …` brings it up to date" in shown.err


@pytest.mark.one_postgres
def test_of_two_databases_the_one_without_it_is_named(
    database: Database, empty_database: Database, run: Run
) -> None:
    far = ["--from", "//From", "--to", "//To", "--to-dsn", empty_database.dsn]
    shown = run(database, *far)
    assert shown.status == 1
    assert f"dbname={empty_database.name} " in shown.err and "there is no runtime" in shown.err


def _fail_dialog(sql: Connection) -> Any:
    handle = send(sql, "x")
    sql.execute(
        "SELECT ssb.end_conversation(conversation_handle, 9001, 'Zürich & more')"
        " FROM ssb.receive('dbo.to_queue', 1)"
    )
    return handle


def test_new_conversations_are_followed(sql: Connection) -> None:
    _fail_dialog(sql)
    other = sql.execute("SELECT ssb_internal.last_conversation()").fetchone()
    assert other is not None
    troubles = sql.execute("SELECT * FROM ssb_internal.conversation_troubles(NULL, %s)", other).fetchall()
    assert troubles == []
    handle = _fail_dialog(sql)
    (one,) = sql.execute("SELECT * FROM ssb_internal.conversation_troubles(NULL, %s)", other).fetchall()
    assert one[:2] == (403, handle)
    assert one[4] == "Error 9001: Zürich &amp; more"
    (told,) = watch(sql, [handle], timeout=0)
    assert isinstance(told, Trouble) and told.number == 403
    assert list(watch(sql, new=True, timeout=0)) == []


def test_one_conversation_is_followed_and_each_trouble_told_once(sql: Connection) -> None:
    handle = begin(sql, "//From", "//Nowhere")
    news = watch(sql, [handle], timeout=0.3, pause=0.02)
    for body in ("x", "waits for x"):
        send(sql, body, conversation=handle)
    told = list(news)
    assert [(one.number, one.conversation_handle) for one in told if isinstance(one, Trouble)] == [
        (501, handle)
    ]


@pytest.mark.long
def test_all_are_followed_together_with_the_log(sql: Connection, database: Database, run: Run) -> None:
    sql.execute("INSERT INTO ssb.broker_log (level, event, message) VALUES ('error', 'failed', 'before')")
    news = watch(sql, timeout=5, pause=0.02)
    handle = send(sql, "x", conversation=begin(sql, "//From", "//Nowhere"))
    first = next(news)
    assert isinstance(first, Trouble) and first.number == 501
    sql.execute("INSERT INTO ssb.broker_log (level, event, message) VALUES ('error', 'failed', 'it broke')")
    second = next(news)
    assert isinstance(second, LogLine) and second.message == "it broke"
    shown = run(database, "--watch", "--timeout", "0", "--format", "json")
    assert shown.status == 0
    assert json.loads(shown.out)["number"] == 501
    shown = run(database, "--watch", "--id", str(handle), "--timeout", "0")
    assert shown.status == 0
    assert f" 501 {str(handle).upper()} //From to //Nowhere: " in shown.out
    other = sql.execute("SELECT gen_random_uuid()").fetchone()
    assert run(database, "--watch", "--id", str(other and other[0]), "--timeout", "0").out == ""
    # Of conversations that begin from now on.
    assert run(database, "--watch", "--new", "--timeout", "0").out == ""


def test_encryption_is_checked_as_it_is_asked_for(sql: Connection, database: Database, run: Run) -> None:
    tsql(sql, "CREATE ROUTE There WITH SERVICE_NAME = '//Far', ADDRESS = 'TCP://far:4022';")

    def numbers(encryption: str) -> list[int]:
        shown = run(
            database, "--from", "//From", "--to", "//Far", "--encryption", encryption, "--ignore", SERVER,
            "--format", "json",
        )  # fmt: skip
        return [one["number"] for one in json.loads(shown.out) if one["number"] > 600]

    assert numbers("off") == []
    assert numbers("on") == numbers("anonymous") == [609]
