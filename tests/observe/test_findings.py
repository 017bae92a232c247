"""Each finding of ssb.diagnose has a fault that makes it; where one statement mends the fault, it does."""

import os
import re
import shlex
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dialogs
import psycopg
import pytest
from end_to_end.tsql import Tsql
from observe_desk import HURRY

from activation import DRAIN, activate, send, tsql, until
from pgsb.compiler.pipeline import CompileOptions, compile_script
from pgsb.grammar.source import Source
from pgsb.observe.findings import Dialog, Finding, diagnose
from pgsb.runtime_sql.installer import install, upgrade
from pgsb.server.connect import LOOKING
from pgsb.server.embedded import PrivateServer
from support import Connection, Database, server_home

Connect = Callable[..., Connection]
Fault = Callable[[Connection, Connect], Any]

NOW: dict[str, Any] = {"waiting": "0", "recent": "1 hour", "old_transaction": "0"}
"""Limits that take everything for long."""
MANY: dict[str, Any] = {"leak_age": "0", "leak_count": 3, "unended_age": "0", "unended_count": 3}


def found(connection: Connection, number: int, dialog: Dialog | None = None, **limits: Any) -> list[Finding]:
    return [one for one in diagnose(connection, dialog, limits=limits) if one.number == number]


def mend(connection: Connection, finding: Finding) -> None:
    """Run the remedy as it stands there."""
    assert finding.remedy is not None
    if finding.run_with == "pgsb shell":
        tsql(connection, finding.remedy)
    else:
        assert finding.run_with == "psql"
        for statement in finding.remedy.split(";"):
            if statement.strip():
                connection.execute(statement.encode())


def _leak(connection: Connection, _: Connect) -> None:
    for _number in range(3):
        send(connection, "x")
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 10)")
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 10)")
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 10)")


def _end_far_side(connection: Connection, error: str = "") -> None:
    for _ in range(3):
        send(connection, "x")
    for _ in range(3):
        connection.execute(
            f"SELECT ssb.end_conversation(conversation_handle{error}) FROM ssb.receive('dbo.to_queue', 1)"
        )


def _poison(connection: Connection, connect: Connect) -> None:
    send(connection, "bad")
    for _ in range(6):
        reader = connect(autocommit=False)
        try:
            reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
        except psycopg.Error:
            break
        finally:
            reader.rollback()
            reader.close()


def _one_rollback(connection: Connection, connect: Connect) -> None:
    send(connection, "bad")
    for _ in range(2):
        reader = connect(autocommit=False)
        reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
        reader.rollback()


def _activate_as(principal: str, *grants: str) -> Fault:
    """dbo.program runs as a role that has these rights and no others."""

    def fault(connection: Connection, _: Connect) -> None:
        activate(connection, DRAIN)
        connection.execute("REVOKE ALL ON PROCEDURE dbo.program FROM PUBLIC")
        connection.execute("DROP ROLE IF EXISTS weak_reader")
        connection.execute("CREATE ROLE weak_reader")
        for grant in grants:
            connection.execute(grant.encode())
        connection.execute("SELECT ssb.alter_queue('dbo.to_queue', execute_as => %s)", [f"'{principal}'"])

    return fault


def _retained(connection: Connection, _: Connect) -> None:
    connection.execute("SELECT ssb.alter_queue('dbo.to_queue', retention => true)")
    handle = send(connection, "x")
    connection.execute("SELECT ssb.send(%s, 'DEFAULT', n::text) FROM generate_series(1, 1000) n", [handle])
    connection.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue', 2000)")


def _stream_stopped(connection: Connection, connect: Connect) -> None:
    send(connection, "x")
    with connect() as stream:
        stream.execute("SELECT ssb_internal.claim_messages('dbo.to_queue', stream => 'nightly')")


def _do(*statements: str) -> Fault:
    def fault(connection: Connection, _: Connect) -> None:
        for statement in statements:
            connection.execute(statement.encode())

    return fault


def _tsql(script: str) -> Fault:
    return lambda connection, _: tsql(connection, script)


def _binding_without_its_user(connection: Connection, _: Connect) -> None:
    tsql(
        connection,
        "CREATE USER Gone WITHOUT LOGIN;\nGO\n"
        "CREATE REMOTE SERVICE BINDING b TO SERVICE '//Far' WITH USER = Gone;",
    )
    # DROP USER refuses; before it did, the user could go.
    connection.execute("DELETE FROM ssb.principal WHERE name = 'Gone'")


def _session_in_transaction(_: Connection, connect: Connect) -> None:
    other = connect(autocommit=False, application_name="old report")
    other.execute("SELECT pg_catalog.txid_current()")


def _session_holds(connection: Connection, connect: Connect) -> None:
    send(connection, "x")
    other = connect(autocommit=False, application_name="stuck")
    other.execute("SELECT * FROM ssb.receive('dbo.to_queue')")


def _locked(connection: Connection, connect: Connect) -> None:
    connection.execute(HURRY)
    other = connect(autocommit=False, application_name="careless")
    other.execute("LOCK TABLE ssb.message_0 IN ACCESS EXCLUSIVE MODE")


def _daemon(connection: Connection, version: str = "0.0.1") -> None:
    connection.execute("SELECT ssb_internal.broker_began('here [1]', %s, true)", [version])


def _send_nowhere(connection: Connection, _: Connect) -> None:
    dialogs.send(connection, dialogs.begin(connection, "//From", "//Nowhere"), "x", "y")


def _set(setting: str) -> Fault:
    return lambda connection, _: connection.execute(f"ALTER DATABASE {connection.info.dbname} SET {setting}")


# number: fault, object of the finding, limits, whether the remedy mends it
FAULTS: dict[int, tuple[Fault, str, dict[str, Any], bool]] = {
    101: (_do("UPDATE ssb.database SET is_broker_enabled = false WHERE database_id = 5"), "test_", {}, True),
    102: (_session_in_transaction, "session ", NOW, True),
    103: (_do("ALTER TABLE ssb.message_0 SET (autovacuum_enabled = false)"), "ssb.message_0", {}, True),
    104: (_leak, "ssb.conversation_endpoint", {"dead_rows": 0}, False),
    105: (_do(), "max_connections", {"connections": 0}, False),
    106: (_do(), "fsync", {}, False),
    108: (_do(), "client_connection_check_interval", {}, False),
    110: (_do(), "pgsb", {}, False),
    111: (_do("CREATE PUBLICATION everything FOR ALL TABLES"), "publication everything", {}, True),
    112: (_set("default_transaction_read_only = on"), "default_transaction_read_only", {}, True),
    114: (_set("session_replication_role = replica"), "session_replication_role", {}, True),
    115: (_do("ALTER TABLE ssb.message_0 SET UNLOGGED"), "the runtime's tables", {}, True),
    116: (
        _do("SELECT pg_create_physical_replication_slot('forgotten', true)"),
        "replication slot forgotten",
        {"kept_wal": "0"},
        True,
    ),
    117: (_locked, "session ", {}, True),
    120: (_do(), "database test_", {"unfrozen": 0}, False),
    121: (_do("UPDATE ssb.runtime_version SET owner = 'seller'"), "pgsb", {}, False),
    # The tests' databases are copies of one that is there, too.
    124: (_do("SELECT ssb.create_route('away', 'TCP://far:4022', '//Far')"), "test_", {}, True),
    201: (lambda sql, _: activate(sql, DRAIN), "pgsb broker", {}, False),
    202: (lambda sql, _: _daemon(sql), "here [1]", {}, False),
    203: (lambda sql, _: _daemon(sql), "here [1]", {}, False),
    301: (_poison, "dbo.to_queue", {}, True),
    302: (
        lambda sql, _: (send(sql, "x"), tsql(sql, "ALTER QUEUE dbo.to_queue WITH STATUS = OFF;")),
        "dbo.to_queue",
        {},
        True,
    ),
    303: (lambda sql, _: send(sql, "x"), "dbo.to_queue", NOW, False),
    305: (
        lambda sql, _: (activate(sql, DRAIN), sql.execute("DROP PROCEDURE dbo.program")),
        "dbo.to_queue",
        {},
        False,
    ),
    306: (
        _do(
            "CREATE ROLE gone_role",
            "CREATE PROCEDURE dbo.program() LANGUAGE sql AS 'SELECT 1'",
            "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,"
            " activation_procedure => 'dbo.program', max_queue_readers => 1, execute_as => '''gone_role''')",
            "DROP ROLE gone_role",
        ),
        "dbo.to_queue",
        {},
        True,
    ),
    307: (_activate_as("weak_reader"), "dbo.to_queue", {}, True),
    308: (
        _activate_as("weak_reader", "GRANT EXECUTE ON PROCEDURE dbo.program TO weak_reader"),
        "dbo.to_queue",
        {},
        True,
    ),
    309: (_one_rollback, "dbo.to_queue", {}, False),
    311: (_session_holds, "dbo.to_queue", NOW, True),
    312: (
        lambda sql, _: (
            activate(sql, DRAIN),
            sql.execute("SELECT ssb.alter_queue('dbo.to_queue', max_queue_readers => 0)"),
        ),
        "dbo.to_queue",
        {},
        True,
    ),
    314: (_retained, "dbo.to_queue", {}, True),
    315: (_stream_stopped, "dbo.to_queue", NOW, True),
    316: (_do("ALTER VIEW dbo.to_queue RENAME TO other"), "dbo.to_queue", {}, True),
    401: (_leak, "//From", MANY, True),
    402: (lambda sql, _: _end_far_side(sql), "//From", MANY, True),
    403: (lambda sql, _: _end_far_side(sql, ", 7, 'no'"), "//From", MANY, True),
    404: (
        lambda sql, _: [dialogs.begin(sql, "//From", "//To") for _ in "123"],
        "//From",
        MANY,
        True,
    ),
    501: (_send_nowhere, "//Nowhere", NOW, False),
    502: (
        _tsql("CREATE ROUTE Away WITH SERVICE_NAME = 'x', ADDRESS = 'TCP://far:4022';"),
        "endpoint",
        {},
        True,
    ),
    503: (
        _tsql("CREATE ROUTE Old WITH SERVICE_NAME = 'x', LIFETIME = 3600, ADDRESS = 'LOCAL';"),
        "Old",
        {},
        True,
    ),
    506: (
        _binding_without_its_user,
        "b",
        {},
        True,
    ),
    508: (
        _do(
            "SELECT ssb.create_endpoint('Certain', 'STARTED', 4022);"
            # Its certificate was there when it was made.
            " UPDATE ssb.broker_endpoint SET authentication = 'CERTIFICATE [a c]'"
        ),
        "Certain",
        {},
        False,
    ),
}


@pytest.mark.parametrize("number", sorted(FAULTS))
def test_a_fault_is_found_and_mended(number: int, sql: Connection, connect: Connect) -> None:
    fault, about, limits, is_mended = FAULTS[number]
    before = found(sql, number, **limits)
    fault(sql, connect)
    if number == 104:
        sql.execute(
            "UPDATE ssb.conversation_endpoint SET sent_count = sent_count;"
            " DELETE FROM ssb.conversation_endpoint"
        )
        sql.execute(
            "SELECT pg_stat_force_next_flush()" if sql.info.server_version >= 150000 else "SELECT pg_sleep(1)"
        )
        until(lambda: found(sql, number, **limits))
    after = [one for one in found(sql, number, **limits) if one.object.startswith(about)]
    assert after, f"{number} is not found"
    assert number != 501 or len(after) == 1  # the second message waits for the first
    # What is there with every test server cannot be made.
    assert number in (105, 106, 108, 110, 120) or not [one for one in before if one.object.startswith(about)]
    for one in after:
        assert one.title and one.meaning and one.detail
        if one.run_with == "pgsb shell":
            compile_script(Source("remedy.sql", one.remedy or ""), CompileOptions()).problems.raise_if_any()
    if is_mended:
        mend(sql, after[0])
        if number in (102, 117, 311):
            until(lambda: not [one for one in found(sql, number, **limits) if one.object == after[0].object])
        assert not [one for one in found(sql, number, **limits) if one.object == after[0].object]


# What somebody does to the runtime, and what is then said to be missing.
DAMAGES = {
    "DROP FUNCTION ssb.send(uuid, text, bytea) CASCADE": "function ssb.send(uuid,text,bytea)",
    "DROP VIEW sys.service_queues CASCADE": "view sys.service_queues",
    "ALTER TABLE ssb.queue DISABLE TRIGGER USER": "trigger announce_definition on ssb.queue",
    "DROP INDEX ssb.message_0_by_order": "index ssb.message_0_by_order",
    "REVOKE USAGE ON SCHEMA sys FROM PUBLIC": "GRANT USAGE ON SCHEMA sys TO PUBLIC",
    "GRANT EXECUTE ON FUNCTION ssb_internal.check_runtime() TO PUBLIC": (
        "REVOKE EXECUTE ON ROUTINE ssb_internal.check_runtime() FROM PUBLIC"
    ),
    # Other checks ask them.
    "DROP TABLE ssb.broker_log CASCADE": "table ssb.broker_log",
    "DROP FUNCTION ssb_internal.check_queues(jsonb)": "function ssb_internal.check_queues(jsonb)",
    "DROP SCHEMA sys CASCADE": "1",
}


_ALL = "DROP SCHEMA sys CASCADE"


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_missing_of_the_runtime_is_found(damage: str, sql: Connection) -> None:
    assert found(sql, 115) == []
    sql.execute(damage.encode())
    (one,) = found(sql, 115)
    assert DAMAGES[damage] in one.detail
    assert (one.remedy, one.run_with) == ("pgsb upgrade", "shell")


@pytest.mark.parametrize(
    "damages",
    [
        [_ALL],
        [one for one in DAMAGES if one != _ALL],
        # Whether each alone is made anew: an upgrade of a second and a half for each.
        *(pytest.param([one], marks=pytest.mark.long) for one in DAMAGES if one != _ALL),
    ],
    ids=lambda damages: damages[0] if len(damages) == 1 else "several",
)
def test_what_is_missing_of_the_runtime_is_made_anew(damages: list[str], sql: Connection) -> None:
    for damage in damages:
        sql.execute(damage.encode())
    assert len(found(sql, 115)) == 1
    upgrade(sql)
    assert found(sql, 115) == []


ASTRAY = {
    "ALTER SCHEMA app RENAME TO other": ["ALTER SCHEMA other RENAME TO app;"],
    "ALTER VIEW app.q SET SCHEMA dbo": ["ALTER VIEW dbo.q SET SCHEMA app;"],
    "ALTER VIEW app.q RENAME TO other": ["ALTER VIEW app.other RENAME TO q;"],
    "DROP VIEW app.q": ["pgsb upgrade"],
    "DROP SCHEMA app CASCADE": ["CREATE SCHEMA app;", "pgsb upgrade"],
    # Not a schema that others need.
    "ALTER VIEW app.q SET SCHEMA dbo; DROP SCHEMA app": [
        "CREATE SCHEMA app;",
        "ALTER VIEW dbo.q SET SCHEMA app;",
    ],
    "DROP VIEW app.q; CREATE TABLE app.q ()": ["ALTER TABLE app.q RENAME TO q_table;", "pgsb upgrade"],
}


# Those with the most and with the oddest remedies: each takes two upgrades and more.
_ODD = ("DROP SCHEMA app CASCADE", "ALTER VIEW app.q SET SCHEMA dbo; DROP SCHEMA app")


@pytest.mark.parametrize(
    "damage", [one if one in _ODD else pytest.param(one, marks=pytest.mark.long) for one in ASTRAY]
)
def test_a_queue_that_postgresql_has_renamed_is_found_again(damage: str, sql: Connection) -> None:
    tsql(
        sql, "CREATE SCHEMA app;\nGO\nCREATE QUEUE app.q;\nCREATE SERVICE [//app] ON QUEUE app.q ([DEFAULT]);"
    )
    dialogs.send(sql, dialogs.begin(sql, "//From", "//app", "DEFAULT"), "kept")
    sql.execute(damage.encode())
    said = []
    while astray := found(sql, 316):
        (one,) = astray
        assert one.object == "app.q" and len(said) < 3
        said.append(one.remedy)
        if one.run_with == "shell":
            upgrade(sql)
        else:
            if one.remedy and one.remedy.startswith(("ALTER SCHEMA", "ALTER TABLE", "CREATE SCHEMA")):
                upgrade(sql)  # it goes on, and leaves alone what it cannot make
            mend(sql, one)
    assert said == ASTRAY[damage]
    assert sql.execute("SELECT convert_from(message_body, 'UTF8') FROM app.q").fetchall() == [("kept",)]


@pytest.mark.long
def test_what_no_upgrade_makes_anew_is_a_statement(sql: Connection) -> None:
    sql.execute("ALTER TABLE ssb.queue DROP CONSTRAINT queue_pkey CASCADE")
    upgrade(sql)  # it does not forget what it once made
    (one,) = found(sql, 115)
    assert one.remedy is not None and one.remedy.startswith(
        "ALTER TABLE ssb.queue ADD CONSTRAINT queue_pkey "
    )
    mend(sql, one)
    assert found(sql, 115) == []


def test_nothing_is_missing_in_the_next_version_of_postgresql(sql: Connection) -> None:
    """JSON_VALUE is a word that wants quotes since 17: a database that came from 14 missed it for ever."""
    quoted = """SELECT o.line FROM ssb_internal.runtime_object AS o
                 WHERE o.line ~ '^(function|procedure|aggregate|REVOKE) ' AND o.line LIKE '%"%'"""
    assert sql.execute(quoted).fetchall() == []
    sql.execute("DROP FUNCTION sys.json_value(text, text)")
    (one,) = found(sql, 115)
    assert "1 missing: function sys.json_value(text,text)" in one.detail


@pytest.mark.long
def test_nothing_is_missing_where_a_session_quotes_all_names(sql: Connection) -> None:
    """As a migration tool's may, which installs the printed text: pgsb's own sessions do not, and look."""
    for quotes in ("on", "off"):
        sql.execute(f"SET quote_all_identifiers = {quotes}")
        upgrade(sql)
        assert sql.execute("SHOW quote_all_identifiers").fetchone() == (quotes,)
    assert found(sql, 115) == []
    sql.execute("DROP INDEX ssb.message_0_by_order")
    for quotes in ("on", "off"):
        sql.execute(f"SET quote_all_identifiers = {quotes}")
        (one,) = found(sql, 115)
        assert "1 missing: index ssb.message_0_by_order" in one.detail


@pytest.mark.long
def test_an_owner_who_was_left_behind_is_found_until_an_upgrade(sql: Connection) -> None:
    sql.execute("UPDATE ssb.runtime_version SET owner = 'seller'")
    sql.execute("UPDATE ssb.queue SET owner = 'seller', execute_as = 'seller'")
    (one,) = found(sql, 121)
    assert (one.severity, one.detail) == ("error", "queues and services belong to seller")
    assert (one.remedy, one.run_with) == ("pgsb upgrade", "shell")
    upgrade(sql)
    assert found(sql, 121) == []


def test_xml_that_the_server_cannot_read_is_found(sql: Connection, has_libxml: bool) -> None:
    """A database whose sys.xml is PostgreSQL's xml has come to a server without libxml."""
    assert found(sql, 122) == []
    sql.execute(
        "UPDATE pg_type SET typbasetype = 'xml'::regtype WHERE oid = 'sys.xml'::regtype"
    )  # as pg_upgrade brings it
    assert [one.object for one in found(sql, 122)] == ([] if has_libxml else ["sys.xml"])


def test_connections_for_superusers_are_no_ones_else(sql: Connection) -> None:
    """All others are refused when these alone are left."""
    row = sql.execute(
        """SELECT count(*), current_setting('max_connections')::integer,
                  current_setting('superuser_reserved_connections')::integer
             FROM pg_stat_activity WHERE backend_type = 'client backend'"""
    ).fetchone()
    assert row is not None
    used, most, reserved = row
    (one,) = found(sql, 105, connections=used / (most - reserved) - 0.0001)
    assert one.detail == f"{used} of {most} are in use, and {reserved} are for superusers"


def test_what_others_have_revoked_is_not_missing(sql: Connection) -> None:
    sql.execute("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ssb FROM PUBLIC")
    assert found(sql, 115) == []


@pytest.mark.long
def test_a_queue_of_its_own_is_no_part_of_the_runtime(sql: Connection) -> None:
    tsql(sql, "CREATE QUEUE dbo.Soon;")
    upgrade(sql)
    tsql(sql, "DROP QUEUE dbo.Soon;")
    assert found(sql, 115) == []


def _waits(sql: Connection, session: Connection) -> bool:
    row = sql.execute(
        "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s", [session.info.backend_pid]
    ).fetchone()
    return row == (True,)


def test_who_is_in_everybodys_way_is_found_behind_those_who_wait(sql: Connection, connect: Connect) -> None:
    handle = send(sql, "x")
    sql.execute(HURRY)
    report = connect(autocommit=False, application_name="report")
    report.execute("SELECT count(*) FROM ssb.message_0")
    other, sender = connect(), connect()
    with ThreadPoolExecutor(2) as pool, closing(report):
        # It waits for the report, and everybody waits behind it.
        rewriting = pool.submit(other.execute, "VACUUM FULL ssb.message_0")
        until(lambda: _waits(sql, other))
        sending = pool.submit(sender.execute, "SELECT ssb.send(%s, 'DEFAULT', 'y'::text)", [handle])
        until(lambda: _waits(sql, sender))
        (one,) = found(sql, 117)
        assert one.object == f"session {report.info.backend_pid}"
        assert "report of " in one.detail and "has ssb.message_0: 2 sessions wait, the first " in one.detail
        mend(sql, one)
        rewriting.result(60)
        sending.result(60)
    assert found(sql, 117, **NOW) == []


@pytest.mark.long
def test_a_queue_that_is_being_dropped_is_in_nobodys_way_but_its_own_users(
    sql: Connection, connect: Connect
) -> None:
    tsql(sql, "CREATE QUEUE dbo.other; ALTER QUEUE dbo.from_queue WITH STATUS = OFF;")
    send(sql, "x")
    everywhere = {(one.number, one.object) for one in diagnose(sql)}
    dropping = connect(autocommit=False, application_name="careless")
    dropping.execute("SELECT ssb.drop_queue('dbo.other')")
    for is_read_only in (False, True):
        with closing(connect()) as looking:
            if is_read_only:
                looking.execute(LOOKING)
            assert {(one.number, one.object) for one in diagnose(looking)} == everywhere
            rows = looking.execute("SELECT queue, state FROM ssb.queue_status").fetchall()
            assert rows == [("dbo.from_queue", "OFF"), ("dbo.other", "ON"), ("dbo.to_queue", "ON")]
    reader = connect()
    with ThreadPoolExecutor(1) as pool, closing(dropping):
        receiving = pool.submit(reader.execute, "SELECT message_body FROM ssb.receive('dbo.other')")
        until(lambda: _waits(sql, reader))
        assert [one.detail for one in found(sql, 117, **NOW)] == []
        (one,) = found(sql, 317, **NOW)
        assert one.object == f"session {dropping.info.backend_pid}"
        assert re.search(r"careless of .* has ssb\.queue_\w+_\d+: 1 session waits", one.detail), one.detail
        mend(sql, one)
        assert receiving.result(60).fetchall() == []
    until(lambda: {(one.number, one.object) for one in diagnose(sql)} == everywhere)


def test_a_prepared_transaction_that_has_locked_a_table_is_found(sql: Connection, connect: Connect) -> None:
    other = connect(autocommit=False)
    other.execute("LOCK TABLE ssb.queue IN ACCESS EXCLUSIVE MODE")
    other.execute("PREPARE TRANSACTION 'locked'")
    sql.execute(HURRY)
    began = time.monotonic()
    (one,) = found(sql, 117)
    assert time.monotonic() - began < 30
    assert one.object == "prepared transaction locked"
    mend(sql, one)
    assert found(sql, 117) == []


def test_a_standby_that_commits_wait_for_is_found(sql: Connection, connect: Connect) -> None:
    sql.execute("SET synchronous_commit = local")
    other = connect()
    other.execute("CREATE TABLE dbo.shop (n integer)")
    other.execute("SET synchronous_commit = on")
    is_over = threading.Event()

    def insert() -> None:
        # The checkpointer tells commits to wait, some time after sessions show the setting.
        while not is_over.is_set():
            other.execute("INSERT INTO dbo.shop VALUES (1)")

    sql.execute("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
    with ThreadPoolExecutor(1) as pool, closing(other):
        try:
            sql.execute("SELECT pg_reload_conf()")
            waiting = pool.submit(insert)
            until(lambda: found(sql, 118, **NOW))
            (one,) = found(sql, 118, **NOW)
            assert "it is 'gone', and no standby is connected: 1 session waits in COMMIT" in one.detail
            mend(sql, one)
        finally:
            # Else the session would wait for ever, and the pool for it.
            is_over.set()
            sql.execute("ALTER SYSTEM RESET synchronous_standby_names")
            sql.execute("SELECT pg_reload_conf()")
        waiting.result(60)
    until(lambda: found(sql, 118, **NOW) == [])


@pytest.mark.long
def test_wal_that_is_not_archived_is_found(connect: Connect) -> None:
    home = server_home("pgsb-archive-")
    server = PrivateServer(
        home,
        wanted=os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0],
        settings={"fsync": "off", "archive_mode": "on"},
    )
    try:
        with connect(server.start()) as there:
            install(there)
            assert found(there, 119, **NOW) == []
            there.execute("ALTER SYSTEM SET archive_command = 'false'")
            there.execute("SELECT pg_reload_conf(), pg_switch_wal()")
            until(lambda: found(there, 119, **NOW))
            (one,) = found(there, 119, **NOW)
            assert "; nothing was ever archived" in one.detail
            there.execute("ALTER SYSTEM SET archive_command = 'true'")
            there.execute("SELECT pg_reload_conf(), pg_switch_wal()")
            until(lambda: found(there, 119, **NOW) == [])
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


def test_a_prepared_transaction_that_holds_a_group_is_found(sql: Connection, connect: Connect) -> None:
    send(sql, "x")
    other = connect(autocommit=False)
    other.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
    other.execute("PREPARE TRANSACTION 'it''s booked'")
    status = (
        "SELECT held_by, held_by_pid, held_since IS NULL FROM ssb.queue_status WHERE queue = 'dbo.to_queue'"
    )
    assert sql.execute(status).fetchall() == [("prepared transaction it's booked", None, False)]
    (one,) = found(sql, 311, **NOW)
    mend(sql, one)
    assert found(sql, 311, **NOW) == []
    assert sql.execute("SELECT count(*) FROM ssb.receive('dbo.to_queue')").fetchone() == (1,)


def test_a_claim_waits_since_its_stream_was_seen_to_be_gone(sql: Connection, connect: Connect) -> None:
    _stream_stopped(sql, connect)
    sql.execute("UPDATE ssb.claim SET claimed_at = claimed_at - interval '1 hour'")
    assert found(sql, 315)
    sql.execute("SELECT ssb_internal.sweep_claims()")
    assert not found(sql, 315)
    sql.execute("UPDATE ssb.claim SET waits_since = waits_since - interval '1 hour'")
    sql.execute("SELECT ssb_internal.sweep_claims()")
    assert found(sql, 315)
    sql.execute("SELECT ssb_internal.run_stream('nightly')")
    assert not found(sql, 315)


def test_what_is_found_in_another_tsql_database_is_mended_there(sql: Connection) -> None:
    sql.execute("CREATE ROLE tsql_only")
    tsql(
        sql,
        "CREATE DATABASE [Shop Two];\nGO\nUSE [Shop Two];\nGO\n"
        "CREATE QUEUE dbo.q;\nCREATE SERVICE [//A] ON QUEUE dbo.q ([DEFAULT]);\n"
        "CREATE ROUTE Old WITH SERVICE_NAME = 'x', LIFETIME = 3600, ADDRESS = 'LOCAL';\nGO\n"
        "CREATE PROCEDURE dbo.p AS RETURN;\nGO\n"
        "ALTER QUEUE dbo.q WITH ACTIVATION"
        " (STATUS = ON, PROCEDURE_NAME = dbo.p, MAX_QUEUE_READERS = 1, EXECUTE AS 'tsql_only');\n"
        "DECLARE @d UNIQUEIDENTIFIER;\n"
        "BEGIN DIALOG @d FROM SERVICE [//A] TO SERVICE '//A';\n"
        "BEGIN DIALOG @d FROM SERVICE [//A] TO SERVICE '//Nowhere' WITH ENCRYPTION = OFF;\n"
        "SEND ON CONVERSATION @d ('x');",
    )
    numbers = {308, 404, 501, 503}
    limits = {**MANY, **NOW, "leak_count": 1}
    findings = [one for one in diagnose(sql, limits=limits) if one.number in numbers]
    assert {one.number for one in findings} == numbers
    for one in findings:
        mend(sql, one)
        tsql(sql, f"USE {sql.info.dbname};")
    (one,) = [one for one in diagnose(sql, limits=limits) if one.number in numbers]
    # It would leave now, with an address that is right and an endpoint. What waits is seen where it is.
    assert one.number == 501 and "transport" in one.detail
    assert one.remedy is not None and one.remedy.startswith("SELECT ssb.use_database('Shop Two'); ")
    (one,) = found(sql, 603, Dialog("//A", "//A", None, "c"))
    mend(sql, one)
    assert found(sql, 603, Dialog("//A", "//A", None, "c")) == []


def test_conversations_whose_messages_wait_are_not_abandoned(sql: Connection) -> None:
    """A reader that comes at night finds what was sent by day, also by senders that have ended."""
    limits = {**MANY, "leak_count": 1, "unended_count": 1}
    handles = [send(sql, "x") for _ in range(2)]
    dialogs.begin(sql, "//From", "//To")
    timed = dialogs.begin(sql, "//From", "//To")
    sql.execute("SELECT ssb.begin_conversation_timer(%s::uuid, 3600)", [timed])
    sql.execute("SELECT ssb.end_conversation(%s)", [handles[0]])
    (one,) = [one for one in diagnose(sql, limits=limits) if one.number in (401, 402, 403, 404)]
    assert one.number == 404 and one.detail.startswith("1 conversation to")
    mend(sql, one)
    assert [one for one in diagnose(sql, limits=limits) if one.number in (401, 402, 403, 404)] == []
    assert sql.execute(
        "SELECT count(*) FROM dbo.to_queue WHERE message_type_name = 'DEFAULT'"
    ).fetchone() == (2,)
    while sql.execute("SELECT 1 FROM ssb.receive('dbo.to_queue')").fetchone():
        pass
    found_now = [one for one in diagnose(sql, limits=limits) if one.number in (401, 402, 403, 404)]
    assert [one.number for one in found_now] == [401, 402]
    for one in found_now:
        mend(sql, one)
    assert found(sql, 401, **limits) == []


def test_a_setting_is_mended_where_it_is_made(sql: Connection) -> None:
    """ALTER SYSTEM overrules postgresql.conf, which RESET leaves alone, not the command line."""
    said = "SELECT ssb_internal.setting_remedy(%s, 'on')"
    assert sql.execute(said, ["fsync"]).fetchone() == (None,)
    (one,) = [one for one in found(sql, 106) if one.object == "fsync"]
    assert one.remedy is None and "by the command that starts the server" in one.detail
    assert sql.execute(said, ["default_transaction_read_only"]).fetchone() == (
        "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf();",
    )


def test_what_another_instance_has_ended_is_found(sql: Connection) -> None:
    tsql(sql, "CREATE ROUTE Away WITH SERVICE_NAME = '//Far', ADDRESS = 'TCP://far:4022';")
    limits = {**MANY, "leak_count": 1, "unended_count": 1}
    dialogs.send(sql, dialogs.begin(sql, "//From", "//Far"), "x")
    assert found(sql, 401, **limits) == found(sql, 402, **limits) == []  # it waits for transport
    # As the daemon notes that it has arrived, and an EndDialog.
    sql.execute("DELETE FROM ssb.transmission")
    assert len(found(sql, 401, **limits)) == 1
    assert sql.execute("UPDATE ssb.remote_conversation SET far_outcome = 'DI'").rowcount == 1
    (one,) = found(sql, 402, **limits)
    mend(sql, one)
    assert found(sql, 401, **limits) == found(sql, 402, **limits) == []


@pytest.fixture(autouse=True)
def _no_roles_left(sql: Connection) -> Any:
    yield
    for role in ("weak_reader", "gone_role", "tsql_only"):
        if sql.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchone() is not None:
            sql.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_daemon_that_may_not_become_the_principal_is_found(
    sql: Connection, connect: Connect, database: Database
) -> None:
    _activate_as("weak_reader")(sql, connect)
    sql.execute("CREATE ROLE tsql_only LOGIN")
    with psycopg.connect(database.dsn, user="tsql_only", application_name="pgsb reader"):
        (one,) = found(sql, 313)
        assert one.detail == "tsql_only may not become weak_reader"
        mend(sql, one)
        assert found(sql, 313) == []


@pytest.mark.long
def test_a_database_without_letters_is_found(empty_database: Database, connect: Connect) -> None:
    from pgsb.runtime_sql import installer

    with psycopg.connect(empty_database.dsn, autocommit=True) as maintenance:
        maintenance.execute(
            "CREATE DATABASE test_plain_c TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            with psycopg.connect(
                empty_database.dsn.replace("/test_empty?", "/test_plain_c?"), autocommit=True
            ) as connection:
                installer.install(connection)
                assert [one.object for one in found(connection, 107)] == ["test_plain_c"]
        finally:
            maintenance.execute("DROP DATABASE test_plain_c WITH (FORCE)")


@pytest.mark.long
def test_an_owner_who_sees_no_other_sessions_is_found(empty_database: Database, connect: Connect) -> None:
    from pgsb.runtime_sql import installer

    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE plain_observer LOGIN")
    try:
        admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO plain_observer")
        owner = connect(empty_database.dsn, user="plain_observer")
        installer.install(owner)
        (one,) = found(owner, 109)
        mend(admin, one)
        assert found(owner, 109) == []
    finally:
        admin.execute("DROP OWNED BY plain_observer CASCADE")
        admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO CURRENT_USER")
        admin.execute("DROP ROLE plain_observer")


@pytest.mark.long
@pytest.mark.parametrize(("number", "until_date"), [(504, "20250101"), (505, "")])
def test_a_certificate_at_its_end_is_found(
    number: int, until_date: str, database: Database, sql: Connection, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("PGSB_KEYS", str(tmp_path / "keys"))
    soon = (datetime.now(UTC) + timedelta(days=9)).strftime("%Y%m%d")
    session = Tsql(database.dsn)
    session.run_well(
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'a pass 4 it'; CREATE USER Shop WITHOUT LOGIN;\nGO\n"
        "CREATE CERTIFICATE c AUTHORIZATION Shop WITH SUBJECT = 'The shop''s', START_DATE = '20240101',"
        f" EXPIRY_DATE = '{until_date or soon}'"
    )
    (one,) = [one for one in diagnose(sql) if one.number in (504, 505)]
    assert (one.number, one.object) == (number, "c")
    session.run_well(one.remedy or "")
    assert found(sql, number) == []
    session.connection.close()


SHOP = """
CREATE MESSAGE TYPE [//Order] VALIDATION = NONE;
CREATE MESSAGE TYPE [//Answer] VALIDATION = NONE;
CREATE CONTRACT [//Orders] ([//Order] SENT BY INITIATOR, [//Answer] SENT BY TARGET);
CREATE QUEUE dbo.Clerk;
CREATE QUEUE dbo.Desk;
CREATE SERVICE [//Clerk] ON QUEUE dbo.Clerk;
CREATE SERVICE [//Desk] ON QUEUE dbo.Desk ([//Orders]);
GO
"""
DIALOG = Dialog("//Clerk", "//Desk", None, "//Orders", "off")

# number: script that spoils the shop, the dialog, the finding's object, whether its remedy mends it
DIALOG_FAULTS: dict[int, tuple[str, Dialog, str, bool]] = {
    601: ("", Dialog("//Nobody", "//Desk", None, "//Orders"), "//Nobody", False),
    602: ("DROP SERVICE [//Desk];", DIALOG, "//Desk", False),
    603: ("", Dialog("//Clerk", "//Desk", None, "//Unknown"), "//Unknown", False),
    604: ("ALTER SERVICE [//Desk] (DROP CONTRACT [//Orders]);", DIALOG, "//Desk", True),
    607: ("ALTER QUEUE dbo.Desk WITH STATUS = OFF;", DIALOG, "dbo.desk", True),
    609: (
        "CREATE ROUTE There WITH SERVICE_NAME = '//Store', ADDRESS = 'TCP://far:4022';",
        Dialog("//Clerk", "//Store", None, "//Orders", "on"),
        "//Store",
        False,
    ),
    610: (
        "CREATE ROUTE There WITH SERVICE_NAME = '//Desk', ADDRESS = 'TCP://far:4022';",
        DIALOG,
        "//Desk",
        False,
    ),
    611: (
        "CREATE DATABASE Other;\nGO\nUSE Other;\nGO\nCREATE QUEUE dbo.Desk;\n"
        "CREATE SERVICE [//Desk] ON QUEUE dbo.Desk ([DEFAULT]);",
        DIALOG,
        "//Desk",
        False,
    ),
}


@pytest.mark.parametrize("number", sorted(DIALOG_FAULTS))
def test_a_dialog_that_cannot_work_is_found(number: int, sql: Connection) -> None:
    script, dialog, about, is_mended = DIALOG_FAULTS[number]
    tsql(sql, SHOP)
    assert [one for one in diagnose(sql, DIALOG) if one.number > 600] == []
    if script:
        tsql(sql, script)
    (one,) = found(sql, number, dialog)
    assert about in (one.object, one.detail)
    if one.run_with == "pgsb shell" and "MyQueue" not in (one.remedy or "") and "…" not in (one.remedy or ""):
        compile_script(Source("remedy.sql", one.remedy or ""), CompileOptions()).problems.raise_if_any()
    if is_mended:
        mend(sql, one)
        assert found(sql, number, dialog) == []


def test_an_owner_without_send_is_found(sql: Connection) -> None:
    tsql(sql, SHOP)
    sql.execute("CREATE ROLE weak_reader")
    sql.execute("SELECT ssb.alter_authorization('SERVICE', '//Clerk', 'weak_reader')")
    (one,) = found(sql, 606, DIALOG)
    assert one.detail == "weak_reader, who owns //Clerk, has no SEND on it"
    mend(sql, one)
    assert found(sql, 606, DIALOG) == []
    sql.execute("SELECT ssb.revoke_permission('{SEND}', 'SERVICE', '//Desk', '{weak_reader}')")
    sql.execute("SELECT ssb.alter_authorization('SERVICE', '//Clerk', 'dbo')")


OTHER_CONTRACT = """
CREATE DATABASE Store;
GO
USE Store;
GO
CREATE MESSAGE TYPE [//Order] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Answer] VALIDATION = NONE;
CREATE CONTRACT [//Orders] ([//Order] SENT BY INITIATOR, [//Answer] SENT BY ANY);
CREATE QUEUE dbo.Desk;
CREATE SERVICE [//Store] ON QUEUE dbo.Desk ([//Orders]);
GO
"""


def test_contracts_that_differ_are_found(sql: Connection) -> None:
    tsql(sql, SHOP)
    tsql(sql, OTHER_CONTRACT)
    dialog = Dialog("//Clerk", "//Store", None, "//Orders")
    (one,) = found(sql, 605, dialog)
    assert one.detail == "//Answer: at the initiator SENT BY TARGET, at the target SENT BY ANY"
    (one,) = found(sql, 612, dialog)
    assert one.detail == "at the initiator NONE, at the target WELL_FORMED_XML"


def test_both_ends_are_compared_over_two_instances(
    sql: Connection, connect: Connect, new_database: Callable[[], Database]
) -> None:
    tsql(sql, SHOP)
    tsql(sql, "CREATE ROUTE There WITH SERVICE_NAME = '//Store', ADDRESS = 'TCP://far:4022';")
    dialog = Dialog("//Clerk", "//Store", None, "//Orders")
    assert [one.number for one in diagnose(sql, dialog, level="info") if one.number > 600] == [610]
    far = connect(new_database().dsn)

    def numbers() -> list[int]:
        return [one.number for one in diagnose(sql, dialog, far=far, level="info") if one.number > 600]

    assert numbers() == [602]
    tsql(far, OTHER_CONTRACT)
    assert numbers() == [605, 608, 612]
    tsql(far, "USE Store;\nGO\nCREATE ROUTE Back WITH SERVICE_NAME = '//Clerk', ADDRESS = 'TCP://near:4022';")
    assert numbers() == [605, 612]


def test_remedies_quote_odd_names_as_they_are_run(sql: Connection) -> None:
    tsql(sql, SHOP)
    odd = r"//It's\here]"
    dialog = Dialog("//Clerk", odd, None, "//Orders")
    (one,) = found(sql, 602, dialog)
    tsql(sql, one.remedy or "")
    routes = sql.execute(
        "SELECT name, remote_service_name FROM sys.routes WHERE address <> 'LOCAL'"
    ).fetchall()
    assert routes == [(f"To {odd}", odd)]
    (one,) = [one for one in diagnose(sql, dialog, level="info") if one.number == 610]
    assert shlex.split(one.remedy or "")[2:8] == ["--from", "//Clerk", "--to", odd, "--contract", "//Orders"]


def test_other_instances_need_a_daemon_too(sql: Connection) -> None:
    sql.execute("SELECT ssb.create_route('ToThere', 'TCP://there:4022', '//There')")
    assert [one.detail for one in found(sql, 201)] == []
    sql.execute("SELECT ssb.create_endpoint('BrokerEndpoint', 'STARTED', 4022)")
    assert ["other instances" in one.detail for one in found(sql, 201)] == [True]


def test_encryption_to_another_instance_needs_a_binding(sql: Connection) -> None:
    tsql(sql, SHOP)
    tsql(sql, "CREATE ROUTE There WITH SERVICE_NAME = '//Store', ADDRESS = 'TCP://far:4022';")
    sql.execute("INSERT INTO ssb.master_key (database_id) VALUES (5)")
    (one,) = found(sql, 609, Dialog("//Clerk", "//Store", None, "//Orders", "on"))
    assert one.object == "//Store" and one.detail
    compile_script(Source("remedy.sql", one.remedy or ""), CompileOptions()).problems.raise_if_any()


@pytest.mark.long
def test_encryption_inside_an_instance_needs_what_is_asked_for(
    sql: Connection, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSB_KEYS", str(tmp_path / "keys"))
    session = Tsql(database.dsn)
    session.run_well(SHOP)
    session.run_well("CREATE DATABASE Store;\nGO\nUSE Store;\nGO\n" + SHOP.replace("Desk", "Store"))
    near = Dialog("//Clerk", "//Desk", None, "//Orders", "on")
    far = Dialog("//Clerk", "//Store", None, "//Orders", "on")
    assert found(sql, 609, near) == found(sql, 609, far) == []
    sql.execute("SELECT ssb.alter_database(NULL, 'LOCAL_DIALOG_SECURITY', 'ON')")
    assert found(sql, 609, near) == []
    file = tmp_path / "far.cer"
    owner = sql.info.user  # of the service
    key = "CREATE MASTER KEY ENCRYPTION BY PASSWORD = '…';"
    # Each remedy, with names and files of one's own, leads to the next.
    for mending, remedy in (
        ("", "CREATE REMOTE SERVICE BINDING [To //Store] TO SERVICE '//Store' WITH USER = FarUser;"),
        (
            "CREATE USER FarUser WITHOUT LOGIN;"
            " CREATE REMOTE SERVICE BINDING b TO SERVICE '//Store' WITH USER = FarUser;",
            "CREATE CERTIFICATE FarCertificate AUTHORIZATION [FarUser] FROM FILE = '…';",
        ),
        (
            f"USE Store; {key} CREATE CERTIFICATE Theirs WITH SUBJECT = 'x';"
            f" BACKUP CERTIFICATE Theirs TO FILE = '{file}'; DROP CERTIFICATE Theirs; DROP MASTER KEY;"
            f" USE {database.name}; CREATE CERTIFICATE c AUTHORIZATION FarUser FROM FILE = '{file}';",
            f"CREATE CERTIFICATE MyCertificate AUTHORIZATION [{owner}] WITH SUBJECT = '…';",
        ),
        (
            f"{key} CREATE CERTIFICATE MyCertificate AUTHORIZATION [{owner}] WITH SUBJECT = '…';",
            f"USE [Store]; {key}",
        ),
        ("ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY;", key),
    ):
        session.run_well(f"USE {database.name};\nGO\n{mending}")
        (one,) = found(sql, 609, far)
        assert one.remedy == remedy
    session.run_well(
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = '…'; DROP CERTIFICATE MyCertificate; DROP MASTER KEY; "
        + key
    )
    session.run_well(f"CREATE CERTIFICATE Mine AUTHORIZATION dbo WITH SUBJECT = 'y'; USE Store; {key}")
    session.close()
    assert found(sql, 609, far) == []


def test_every_kind_has_a_fault(sql: Connection) -> None:
    kinds = {row[0] for row in sql.execute("SELECT number FROM ssb_internal.finding_kinds()").fetchall()}
    elsewhere = {107, 109, 113, 313, 504, 505, 605, 606, 608, 612}
    elsewhere |= {118, 119, 122, 317}
    elsewhere |= {123}  # pgsb's own: test_diagnose_command.py
    # With a daemon, in test_runbook.py and tests/daemon/test_transport.py.
    elsewhere |= {204, 205, 206, 304, 310, 507, 509, 510}
    assert kinds == FAULTS.keys() | DIALOG_FAULTS.keys() | elsewhere


@pytest.mark.long
def test_a_count_of_a_part_of_what_waits_is_called_so(sql: Connection) -> None:
    """Of 100,000 messages, and of some behind them, it is seen where they go."""
    sql.execute("SELECT ssb.create_route('Away', 'tcp://far:4022', service_name => '//Far')")
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Far'), body => 'x'::bytea)")
    sql.execute("UPDATE ssb.transmission SET transmission_status = 'It is away.'")

    def told() -> list[str]:
        return [one.detail for one in diagnose(sql) if one.number == 507]

    assert told() == ["1 message: It is away."]
    sql.execute(
        """
        INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number,
               message_type_name, is_end_of_dialog, is_conversation_error, enqueued_at, transmission_status)
        SELECT t.database_id, t.endpoint_id, t.to_service, t.message_sequence_number + n,
               t.message_type_name, false, false, t.enqueued_at, t.transmission_status
          FROM ssb.transmission AS t CROSS JOIN generate_series(1, 100000) AS n
        """
    )
    assert told() == ["at least 100001 messages: It is away."]


def test_findings_are_for_operators(sql: Connection, database: Database) -> None:
    sql.execute("CREATE ROLE tsql_only LOGIN")
    with psycopg.connect(database.dsn, user="tsql_only", autocommit=True) as other:
        for asked in (
            "SELECT * FROM ssb.diagnose()",
            "SELECT * FROM ssb_internal.conversation_troubles()",
            "SELECT ssb_internal.describe_end('//To', NULL, 'DEFAULT', '//From', NULL)",
        ):
            with pytest.raises(psycopg.Error, match="VIEW SERVER STATE permission was denied"):
                other.execute(asked.encode())
        sql.execute("GRANT pg_monitor TO tsql_only")
        assert other.execute("SELECT count(*) > 0 FROM ssb.diagnose()").fetchone() == (True,)


def test_a_wrong_limit_is_an_error(sql: Connection) -> None:
    with pytest.raises(psycopg.Error, match=r"'wating' is no limit of ssb.diagnose"):
        diagnose(sql, limits={"wating": "1 hour"})
    with pytest.raises(psycopg.Error, match="encryption is on, off or anonymous"):
        diagnose(sql, Dialog("a", "b", encryption="maybe"))


def test_a_copy_that_talks_to_others_is_found_until_it_is_a_broker_of_its_own(
    new_database: Callable[..., Database],
) -> None:
    database = new_database()
    with psycopg.connect(database.dsn, autocommit=True) as original:
        tsql(original, "ALTER DATABASE CURRENT SET NEW_BROKER;\nGO\nCREATE DATABASE Second;")
        original.execute("SELECT ssb.create_route('away', 'TCP://far:4022', '//Far')")
        assert found(original, 124) == []
        # Once pg_upgrade has brought it here: it has been another server's, and leads here.
        original.execute(
            "UPDATE ssb.runtime_version SET lineage = '7 00000001 5';"
            "UPDATE ssb.database SET guid_made_in = '7/5'"
        )
        original.execute("SELECT ssb_internal.broker_began('here', '1', true)")
        assert found(original, 124) == []
    copied = new_database(database)
    with psycopg.connect(copied.dsn, autocommit=True) as copy:
        told = found(copy, 124)
        assert [one.object for one in told] == ["Second", copied.name]
        assert {one.detail for one in told} == {
            f"service_broker_guid is that of database {database.name} of this server"
        }
        for one in told:
            mend(copy, one)
        assert found(copy, 124) == []
    with psycopg.connect(database.dsn, autocommit=True) as original:
        assert found(original, 124) == []
