"""Each entry of docs/runbook.md: its fault is made, what to look at shows it, what to do mends it.

The statements are those of the page, as they stand there.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from activation import DRAIN, Daemon, done, tsql, until
from pgsb.daemon.config import Program
from pgsb.observe.findings import diagnose
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Start = Callable[..., Daemon]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", PAGE + "\n", re.MULTILINE))

DESK = """
CREATE QUEUE dbo.Orders;
CREATE QUEUE dbo.Counter;
CREATE SERVICE [//Orders] ON QUEUE dbo.Orders ([DEFAULT]);
CREATE SERVICE [//Counter] ON QUEUE dbo.Counter;
"""
BOOKING = DRAIN.replace("dbo.to_queue", "dbo.orders")
DEADLOCK = """
BEGIN
    PERFORM ssb.receive('dbo.orders', 1);
    RAISE EXCEPTION 'lost to a deadlock';
END;
"""
NOW = {"waiting": "0", "recent": "1 hour", "old_transaction": "0", "leak_age": "0", "leak_count": 3}


def statements(entry: str, part: str) -> list[str]:
    """What an entry says to run: ``part`` is Look or Do."""
    text = re.split(r"^- (Look|Do): ", ENTRIES[entry], flags=re.MULTILINE)
    found = dict(zip(text[1::2], text[2::2], strict=True))[part]
    return [
        " ".join(one.split())
        for one in re.findall(r"`([^`]+)`", found)
        if re.match(r"(SELECT|ALTER|VACUUM)\b.*;$", " ".join(one.split()))
    ]


class Desk:
    """A database with the queue that the page speaks of."""

    def __init__(self, connection: Connection) -> None:
        self.sql = connection
        tsql(connection, DESK)
        connection.execute("CREATE TABLE dbo.done (body text, at timestamptz DEFAULT clock_timestamp())")

    def send(self, body: str = "order") -> Any:
        row = self.sql.execute(
            "SELECT ssb.send_new('//Counter', '//Orders', 'DEFAULT', 'DEFAULT', %s::text)", [body]
        ).fetchone()
        assert row is not None
        return row[0]

    def program(self, text: str) -> None:
        self.sql.execute(f"CREATE OR REPLACE PROCEDURE dbo.book() LANGUAGE plpgsql AS $p$ {text} $p$")

    def activate(self, text: str) -> None:
        self.program(text)
        tsql(
            self.sql,
            "ALTER QUEUE dbo.Orders WITH ACTIVATION"
            " (STATUS = ON, PROCEDURE_NAME = dbo.Book, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER);",
        )

    def look(self, entry: str, number: int = 0) -> list[dict[str, Any]]:
        """What the page's statement shows."""
        cursor = self.sql.execute(statements(entry, "Look")[number].encode())
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def do(self, entry: str, number: int = 0) -> None:
        statement = statements(entry, "Do")[number]
        if statement.startswith("ALTER"):
            tsql(self.sql, statement)
        else:
            self.sql.execute(statement.encode())

    def findings(self) -> set[int]:
        return {one.number for one in diagnose(self.sql, limits=NOW)}

    def booked(self) -> list[str]:
        return done(self.sql)


@pytest.fixture
def desk(connect: Connect) -> Desk:
    return Desk(connect())


def test_programs_are_not_started(desk: Desk, daemon: Start) -> None:
    desk.activate(BOOKING)
    desk.send()
    assert desk.look("Programs are not started") == []
    assert 201 in desk.findings()
    daemon()
    until(lambda: desk.booked() == ["order"])
    assert len(desk.look("Programs are not started")) == 1
    assert 201 not in desk.findings()


def test_the_database_does_not_answer(desk: Desk, daemon: Start, connect: Connect) -> None:
    desk.activate(BOOKING)
    running = daemon()
    idle = connect(autocommit=False)
    idle.execute("SELECT 1")
    assert "idle in transaction" in {row["state"] for row in desk.look("The database does not answer")}
    statement = statements("The database does not answer", "Do")[0].replace("10 minutes", "0")
    desk.sql.execute(statement.replace("WHERE", f"WHERE pid = {idle.info.backend_pid} AND").encode())
    until(lambda: _is_gone(desk, idle.info.backend_pid))
    # The daemon loses the server, and comes back by itself.
    desk.sql.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE 'pgsb %'"
    )
    running.wait_for("server_lost")
    desk.send()
    until(lambda: desk.booked() == ["order"])


def _is_gone(desk: Desk, pid: int) -> bool:
    return desk.sql.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone() is None


@pytest.mark.long
def test_a_queue_has_stopped(desk: Desk, daemon: Start) -> None:
    desk.activate(DEADLOCK)
    desk.send()
    daemon(longest_backoff=0.1)
    until(lambda: 301 in desk.findings())
    until(lambda: desk.look("A queue has stopped"))
    assert "lost to a deadlock" in {row["message"] for row in desk.look("A queue has stopped")}
    with pytest.raises(psycopg.Error, match="currently disabled"):
        desk.sql.execute("SELECT ssb.receive('dbo.orders')")
    desk.program(BOOKING)
    desk.do("A queue has stopped")
    until(lambda: desk.booked() == ["order"])
    assert 301 not in desk.findings()


@pytest.mark.long
def test_groups_are_in_quarantine(desk: Desk, daemon: Start) -> None:
    tsql(desk.sql, "ALTER QUEUE dbo.Orders WITH POISON_MESSAGE_HANDLING (STATUS = ON, QUARANTINE = ON);")
    desk.activate(DEADLOCK)
    first, _ = desk.send("first"), desk.send("second")
    daemon(longest_backoff=0.05)
    until(lambda: len(desk.look("Groups are in quarantine")) == 2)
    assert 310 in desk.findings()
    assert {row["error"] for row in desk.look("Groups are in quarantine")} == {"lost to a deadlock"}
    # The one can never be processed, the other can once its cause is gone.
    desk.program("BEGIN NULL; END;")
    desk.do("Groups are in quarantine")
    assert desk.look("Groups are in quarantine") == []
    by_hand = (
        "SELECT ssb.set_aside(conversation_group_id, 'by hand') FROM ssb.conversation_endpoint"
        " WHERE conversation_id = (SELECT conversation_id FROM ssb.conversation_endpoint"
        " WHERE conversation_handle = %s) AND NOT is_initiator"
    )
    # A reader that was at work may have it for a moment.
    until(lambda: desk.sql.execute(by_hand, [first]).fetchone() == (True,))
    assert [row["error"] for row in desk.look("Groups are in quarantine")] != []
    desk.do("Groups are in quarantine", 1)
    desk.program(BOOKING)
    until(lambda: desk.booked() == ["second"])
    (body,) = desk.sql.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.counter', conversation => %s)",
        [first],
    ).fetchone() or ("",)
    assert "<Code>9001</Code><Description>The order cannot be booked</Description>" in body


def test_a_service_program_fails(desk: Desk, daemon: Start) -> None:
    desk.activate("BEGIN RAISE EXCEPTION 'no paper'; END;")
    desk.send()
    daemon()
    until(lambda: desk.look("A service program fails"))
    until(lambda: 204 in desk.findings())
    assert desk.look("A service program fails")[0]["message"] == "no paper"
    desk.program(BOOKING)
    until(lambda: desk.booked() == ["order"])


def test_a_service_program_cannot_be_started(desk: Desk, daemon: Start) -> None:
    desk.program(BOOKING)
    desk.sql.execute(
        "SELECT ssb.alter_queue('dbo.orders', activation_status => true, external_program => 'unknown',"
        " max_queue_readers => 1, execute_as => 'OWNER')"
    )
    desk.send()
    daemon(programs={"known": Program("known", command=("true",))})
    until(lambda: desk.look("A service program cannot be started"))
    assert desk.look("A service program cannot be started")[0]["error_number"] == 9614
    assert 205 in desk.findings()
    desk.do("A service program cannot be started")
    until(lambda: desk.booked() == ["order"])


@pytest.mark.long
def test_messages_wait_and_nobody_takes_them(desk: Desk, daemon: Start, connect: Connect) -> None:
    entry = "Messages wait and nobody takes them"
    desk.send()
    tsql(desk.sql, "ALTER QUEUE dbo.Orders WITH STATUS = OFF;")
    assert [(row["queue"], row["state"]) for row in desk.look(entry)] == [("dbo.orders", "OFF")]
    assert 302 in desk.findings()
    desk.do(entry)
    assert [row["state"] for row in desk.look(entry)] == ["ON"]
    assert {302, 303} & desk.findings() == {303}
    # A program that makes no progress.
    blocker = connect(autocommit=False)
    blocker.execute("LOCK TABLE dbo.done")
    running = daemon(slow_reader=0.2)
    desk.activate(BOOKING)
    running.wait_for("slow_reader")
    until(lambda: {206, 311} <= desk.findings())
    assert [row["held_by"] for row in desk.look(entry)] != [None]
    desk.do(entry, 1)
    running.wait_for("reader_lost")
    blocker.rollback()
    until(lambda: desk.booked() == ["order"])


@pytest.mark.long
def test_a_queue_falls_behind(desk: Desk, daemon: Start, connect: Connect) -> None:
    entry = "A queue falls behind"
    blocker = connect(autocommit=False)
    blocker.execute("SELECT pg_advisory_lock(77)")
    # Messages come and go, one after the other, and none of them quickly.
    desk.activate(
        BOOKING.replace(
            "INSERT INTO dbo.done", "PERFORM pg_advisory_xact_lock_shared(77); INSERT INTO dbo.done"
        )
    )
    daemon(sample=0.1, slow_reader=0.2)
    for _ in range(4):
        desk.send()
    until(lambda: 304 in desk.findings())
    # A row for each full minute, of which there may be none yet.
    history = statements(entry, "Look")[0].replace("1 minute", "0.2 seconds").encode()
    until(lambda: desk.sql.execute(history).fetchall())
    desk.look(entry)
    assert {row["wait_event"] for row in desk.look(entry, 1)} >= {"advisory"}
    limit = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Task Limit Reached'"
    until(lambda: (desk.sql.execute(limit).fetchone() or (0,))[0] > 0)
    desk.do(entry)
    until(lambda: desk.sql.execute("SELECT count(*) FROM ssb.activated_task").fetchone() == (4,))
    blocker.rollback()
    blocker.close()
    until(lambda: len(desk.booked()) == 4)


def test_messages_cannot_be_delivered(desk: Desk, daemon: Start, database: Database) -> None:
    entry = "Messages cannot be delivered"
    tsql(desk.sql, "DROP SERVICE [//Orders];")
    handle = desk.sql.execute("SELECT ssb.begin_dialog('//Counter', '//Orders')").fetchone()
    desk.sql.execute("SELECT ssb.send(%s, 'DEFAULT', 'late'::text)", handle)
    (row,) = desk.look(entry)
    assert (row["to_service_name"], row["count"]) == ("//Orders", 1)
    assert "could not be found" in row["transmission_status"]
    assert 501 in desk.findings()
    (command,) = re.findall(r"`pgsb (diagnose [^`]*)`", ENTRIES[entry])
    shown = subprocess.run(
        [sys.executable, "-m", "pgsb.cli.main", *command.split(), "--dsn", database.dsn],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert shown.returncode == 3 and "602 error: //Orders: no way leads to the target service" in shown.stdout
    daemon()
    tsql(desk.sql, "CREATE SERVICE [//Orders] ON QUEUE dbo.Orders ([DEFAULT]);")
    until(lambda: desk.look(entry) == [])
    assert desk.sql.execute("SELECT message_body FROM ssb.receive('dbo.orders')").fetchall() == [(b"late",)]


def test_conversations_grow_in_number(desk: Desk) -> None:
    entry = "Conversations grow in number"
    for _ in range(4):
        desk.send()
        desk.sql.execute("SELECT ssb.receive('dbo.orders', 1)")
    assert {"far_service": "//Orders", "state_desc": "CONVERSING", "count": 4} in desk.look(entry)
    (one,) = [one for one in diagnose(desk.sql, limits=NOW) if one.number == 401]
    assert one.run_with == "psql" and one.remedy is not None
    desk.sql.execute(one.remedy.encode())
    assert 401 not in desk.findings()
    desk.do(entry)


def test_tables_grow(desk: Desk, connect: Connect) -> None:
    entry = "Tables grow"
    report = connect(autocommit=False, application_name="monthly report")
    report.execute("SELECT pg_current_xact_id()")
    report.execute("DECLARE pages CURSOR FOR SELECT * FROM pg_class")
    assert "monthly report" in {row["application_name"] for row in desk.look(entry)}
    assert 102 in desk.findings()
    assert desk.look(entry, 1) == desk.look(entry, 2) == []
    (remedy,) = [
        one.remedy for one in diagnose(desk.sql, limits=NOW) if one.number == 102 and "monthly" in one.detail
    ]
    assert remedy is not None
    desk.sql.execute(remedy.encode())
    until(lambda: _is_gone(desk, report.info.backend_pid))
    # Nothing is dropped where nothing is left behind.
    desk.do(entry)


def test_transactions_run_out_of_numbers(desk: Desk) -> None:
    entry = "Transactions run out of numbers"
    (told,) = [one for one in diagnose(desk.sql, limits={**NOW, "unfrozen": 1}) if one.number == 120]
    assert told.remedy in statements(entry, "Do") and desk.sql.info.dbname in told.object
    desk.do(entry)


def test_nothing_is_sent_or_received(desk: Desk) -> None:
    entry = "Nothing is sent or received"
    tsql(desk.sql, "ALTER DATABASE CURRENT SET DISABLE_BROKER;")
    desk.sql.execute("SELECT ssb.begin_dialog('//Counter', '//Orders') AS handle")
    assert (desk.sql.info.dbname, False) in {
        (row["name"], bool(row["is_broker_enabled"])) for row in desk.look(entry)
    }
    assert 101 in desk.findings()
    desk.do(entry)
    assert 101 not in desk.findings()
    desk.send()
    assert desk.sql.execute("SELECT message_body FROM ssb.receive('dbo.orders')").fetchall() == [(b"order",)]


def test_everything_fails_with_3906(desk: Desk, database: Database, connect: Connect) -> None:
    desk.sql.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    client = connect()
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        client.execute("SELECT ssb.send_new('//Counter', '//Orders', 'DEFAULT', 'DEFAULT', 'x'::text)")
    (look,) = statements("Everything fails with 3906", "Look")
    assert client.execute(look.encode()).fetchone() == (False, "on")
    # Whoever looks may be a role that is to change nothing, and a session may say so of itself.
    finding = "SELECT detail, remedy FROM ssb.diagnose() WHERE number = 112"
    ((detail, remedy),) = client.execute(finding).fetchall()
    assert detail == "is on for this database"
    for statement in remedy.split(";"):
        if statement:
            client.execute(statement.encode())
    watcher = connect(options="-c default_transaction_read_only=off")
    watcher.execute("SET default_transaction_read_only = on")
    assert watcher.execute(finding).fetchall() == []
    owner = client.execute("SELECT quote_ident(ssb_internal.runtime_owner()::text)").fetchone()
    assert owner is not None
    for whom in (f"ROLE {owner[0]} IN DATABASE {database.name}", f"ROLE {owner[0]}", "ROLE ALL"):
        # Rolled back: roles are the whole server's.
        with client.transaction(force_rollback=True):
            client.execute(f"ALTER {whom} SET default_transaction_read_only = on")
            ((_, remedy),) = client.execute(finding).fetchall()
            assert f"; ALTER {whom} RESET default_transaction_read_only;" in remedy


def test_triggers_do_not_fire(desk: Desk, database: Database, connect: Connect) -> None:
    desk.sql.execute(f"ALTER DATABASE {database.name} SET session_replication_role = replica")
    (look,) = statements("Triggers do not fire", "Look")
    finding = "SELECT detail, remedy FROM ssb.diagnose() WHERE number = 114"
    with connect() as client:
        assert client.execute(look.encode()).fetchone() == ("replica", "database")
        ((detail, remedy),) = client.execute(finding).fetchall()
        assert detail == "is replica for this database"
        client.execute(remedy)
        owner = client.execute("SELECT quote_ident(ssb_internal.runtime_owner()::text)").fetchone()
        assert owner is not None
        for whom in (f"ROLE {owner[0]} IN DATABASE {database.name}", f"ROLE {owner[0]}", "ROLE ALL"):
            # Rolled back: roles are the whole server's.
            with client.transaction(force_rollback=True):
                client.execute(f"ALTER {whom} SET session_replication_role = replica")
                ((_, remedy),) = client.execute(finding).fetchall()
                assert remedy == f"ALTER {whom} RESET session_replication_role;"
        # A role that loads or replicates may have it.
        with client.transaction(force_rollback=True):
            client.execute("CREATE ROLE loader; ALTER ROLE loader SET session_replication_role = replica")
            assert client.execute(finding).fetchall() == []


# tests/observe/test_findings.py finds and mends the same.
@pytest.mark.long
def test_parts_of_the_runtime_are_missing(desk: Desk, database: Database) -> None:
    desk.send()
    desk.sql.execute("DROP INDEX ssb.message_0_by_order; ALTER TABLE ssb.message_1 SET UNLOGGED")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pgsb.cli.main", *words, "--dsn", database.dsn]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    diagnosis = run("diagnose", "--level", "error", "--ignore", "106")
    assert "index ssb.message_0_by_order" in diagnosis.stdout
    assert run("upgrade").returncode == 0
    said = run("diagnose", "--level", "error", "--ignore", "106").stdout
    assert "message_0_by_order" not in said
    (statement,) = re.findall(r"^    psql: (ALTER TABLE .*;)$", said, re.MULTILINE)
    desk.sql.execute(statement.encode())
    assert desk.findings() & {115} == set()
    desk.sql.execute("DROP SCHEMA ssb_internal CASCADE")
    refused = run("diagnose")
    assert "parts of the runtime in " in refused.stderr and "`pgsb upgrade --dsn …`" in refused.stderr
    assert run("upgrade").returncode == 0
    assert desk.sql.execute("SELECT count(*) FROM ssb.receive('dbo.orders')").fetchone() == (1,)


@pytest.mark.long
def test_a_dump_is_restored_in_one_transaction(
    desk: Desk, database: Database, empty_database: Database, psql: str, connect: Connect, tmp_path: Path
) -> None:
    desk.send()
    dump = tmp_path / "shop.dump"
    subprocess.run(
        [Path(psql).with_name("pg_dump"), "-Fc", "-f", dump, "-d", database.dsn], check=True, timeout=60
    )
    said = re.search(r"`(pg_restore -1)`", ENTRIES["Restoring a dump"])
    assert said is not None
    program, *options = said[1].split()
    subprocess.run(
        [Path(psql).with_name(program), *options, "--no-privileges", "-d", empty_database.dsn, dump],
        check=True,
        timeout=120,
    )
    upgraded = subprocess.run(
        [sys.executable, "-m", "pgsb.cli.main", "upgrade", "--dsn", empty_database.dsn],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert upgraded.returncode == 0, upgraded.stderr
    there = connect(empty_database.dsn)
    assert there.execute("SELECT message_body FROM ssb.receive('dbo.orders')").fetchall() == [(b"order",)]
    assert there.execute(
        "SELECT has_table_privilege('public', 'sys.conversation_endpoints', 'SELECT')"
    ).fetchone() == (True,)


def test_what_cannot_be_published_is_refused(desk: Desk) -> None:
    with suppress(psycopg.errors.FeatureNotSupported), desk.sql.transaction():
        desk.sql.execute("CREATE PUBLICATION shop FOR TABLE dbo.done")
    with pytest.raises(psycopg.Error, match=r"cannot be replicated|cannot add relation"):
        desk.sql.execute("CREATE PUBLICATION samples FOR TABLE ssb.queue_sample")


def test_a_publication_for_all_tables_is_found(desk: Desk) -> None:
    desk.send("x")
    receive = "SELECT count(*) FROM ssb.receive('dbo.orders')"
    desk.sql.execute("CREATE PUBLICATION cdc FOR ALL TABLES")
    # Every table that a publication can have lets go of its rows.
    unidentified = """
        SELECT c.relname FROM pg_class AS c
         WHERE c.relnamespace = 'ssb'::regnamespace AND c.relkind = 'r'
           AND c.relpersistence = 'p' AND c.relreplident <> 'f'
           AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)"""
    assert desk.sql.execute(unidentified).fetchall() == []
    assert desk.sql.execute(receive).fetchone() == (1,)
    finding = "SELECT remedy FROM ssb.diagnose() WHERE number = 111"
    ((remedy,),) = desk.sql.execute(finding).fetchall()
    desk.sql.execute(remedy)
    assert desk.sql.execute(finding).fetchall() == []
    desk.sql.execute("CREATE PUBLICATION cdc FOR TABLE ssb.conversation_endpoint")
    assert len(desk.sql.execute(finding).fetchall()) == 1
    desk.sql.execute("ALTER PUBLICATION cdc SET (publish = 'insert')")
    assert desk.sql.execute(finding).fetchall() == []
    desk.sql.execute("DROP PUBLICATION cdc")
    if desk.sql.info.server_version >= 150000:
        desk.sql.execute("CREATE PUBLICATION cdc FOR TABLES IN SCHEMA dbo")
        assert desk.sql.execute(finding).fetchall() == []
        desk.sql.execute("ALTER PUBLICATION cdc ADD TABLES IN SCHEMA ssb")
        assert len(desk.sql.execute(finding).fetchall()) == 1


def test_a_publication_of_a_schema_has_its_tables_and_no_queue(desk: Desk) -> None:
    if desk.sql.info.server_version < 150000:
        pytest.skip("FOR TABLES IN SCHEMA came with version 15")
    desk.sql.execute("CREATE PUBLICATION shop FOR TABLES IN SCHEMA dbo")
    desk.sql.execute("CREATE TABLE dbo.later (what text)")
    published = desk.sql.execute("SELECT tablename FROM pg_publication_tables").fetchall()
    assert {("later",), ("done",)} <= set(published)
    assert ("orders",) not in published
    desk.send("x")
    assert desk.sql.execute("SELECT count(*) FROM ssb.receive('dbo.orders')").fetchone() == (1,)
    desk.sql.execute("INSERT INTO dbo.later VALUES ('a')")
    with pytest.raises(psycopg.Error, match="does not have a replica identity"):
        desk.sql.execute("DELETE FROM dbo.later")
    desk.sql.execute("ALTER TABLE dbo.later REPLICA IDENTITY FULL")
    assert desk.sql.execute("DELETE FROM dbo.later").rowcount == 1


# Entries whose tests stand elsewhere.
ELSEWHERE = {
    "A queue is not found": "tests/observe/test_findings.py::"
    "test_a_queue_that_postgresql_has_renamed_is_found_again",
    "Where to begin": "tests/observe/test_five_faults.py::test_both_find_all_five_in_time",
    "The disk is full": (
        "tests/daemon/test_activation.py::test_a_full_disk_stops_no_program_and_the_log_comes_later"
    ),
    "After a fail-over": "tests/daemon/test_standby.py::test_a_standby_is_read_and_promoted",
    "After a restore to an earlier time": (
        "tests/daemon/test_transport.py::test_restored_dialogs_fail_on_both_sides"
    ),
}
NAMED = {
    "Restoring a dump": "test_a_dump_is_restored_in_one_transaction",
    "Logical replication": "test_a_publication_for_all_tables_is_found",
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_has_a_test(entry: str) -> None:
    own = NAMED.get(entry) or "test_" + entry.lower().replace(" ", "_")
    file, _, name = ELSEWHERE.get(entry, f"tests/observe/test_runbook.py::{own}").partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
