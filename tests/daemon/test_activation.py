"""Service programs start when messages arrive, as whom they should, and as many as it takes."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

import dialogs
import psycopg
import pytest

from activation import DRAIN, Daemon, activate, done, send, tsql, until
from pgsb.daemon.control import SETTINGS, one_row
from pgsb.daemon.readers import ActiveQueue, Sessions, open_connection
from pgsb.runtime_sql.installer import install
from pgsb.runtime_sql.removal import uninstall
from support import Connection, Database

Start = Callable[..., Daemon]


class LateClock(datetime):
    """That of a machine that is an hour behind the server."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "LateClock":
        return cls.fromtimestamp(time.time() - 3600, tz)


def test_a_message_starts_the_program(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN)
    daemon()
    send(sql, "a", "b")
    until(lambda: done(sql) == ["a", "b"])


@pytest.mark.one_postgres
def test_a_message_of_a_prepared_transaction_starts_the_program(
    sql: Connection, database: Database, connect: Callable[..., Connection], daemon: Start
) -> None:
    activate(sql, DRAIN)
    daemon()
    quiet = "SELECT count(*) FROM ssb.queue_monitor WHERE state = 'INACTIVE'"
    until(lambda: sql.execute(quiet).fetchone() == (1,))
    manager = connect(autocommit=False)
    for number, setting in enumerate(("off", "on")):
        manager.execute(f"SET ssb.two_phase = {setting}")
        manager.commit()
        send(manager, setting)
        # The daemon sleeps and wants a NOTIFY: that is what PostgreSQL does not prepare.
        if number == 0:
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="NOTIFY"):
                manager.execute("PREPARE TRANSACTION 'told'")
            manager.rollback()
        else:
            manager.execute("PREPARE TRANSACTION 'not told'")
    assert done(sql) == []
    sql.execute("COMMIT PREPARED 'not told'")
    until(lambda: done(sql) == ["on"])


def test_definitions_and_messages_for_other_instances_can_be_prepared(sql: Connection) -> None:
    tsql(
        sql,
        "CREATE ENDPOINT e STATE = STARTED AS TCP (LISTENER_PORT = 4022)"
        " FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS);\n"
        "CREATE ROUTE Away WITH SERVICE_NAME = '//Away', ADDRESS = 'TCP://far:4022';",
    )
    sql.execute("SET ssb.two_phase = on")
    sql.execute("BEGIN")
    handle = dialogs.begin(sql, "//From", "//Away")
    dialogs.send(sql, handle, "x", "y")
    sql.execute("SELECT ssb.create_queue('dbo.prepared')")
    sql.execute("PREPARE TRANSACTION 'all of it'")
    sql.execute("COMMIT PREPARED 'all of it'")
    assert sql.execute("SELECT count(*) FROM sys.transmission_queue").fetchone() == (2,)
    assert sql.execute("SELECT count(*) FROM sys.service_queues WHERE name = 'prepared'").fetchone() == (1,)


def test_messages_that_came_before_the_daemon_are_found(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN)
    send(sql, "a")
    daemon()
    until(lambda: done(sql) == ["a"])


@pytest.mark.one_postgres
def test_activation_switched_on_later_is_noticed(sql: Connection, daemon: Start) -> None:
    daemon(sweep=20)
    send(sql, "a")
    activate(sql, DRAIN)
    until(lambda: done(sql) == ["a"])


@pytest.mark.one_postgres
def test_a_program_that_takes_one_message_is_started_again(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        "BEGIN INSERT INTO dbo.done (body)"
        " SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.to_queue', 1); END;",
    )
    daemon()
    send(sql, "a", "b", "c")
    until(lambda: done(sql) == ["a", "b", "c"])


def test_status_off_starts_nothing(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN)
    running = daemon()
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', activation_status => false)")
    send(sql, "a")
    assert running.broker.settle(10)
    assert done(sql) == []
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', activation_status => true)")
    until(lambda: done(sql) == ["a"])


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_daemon_that_stands_by_knows_whether_the_leaders_programs_are_at_work(
    sql: Connection, daemon: Start, connect: Callable[..., Connection]
) -> None:
    activate(
        sql,
        "BEGIN INSERT INTO dbo.done (body) SELECT convert_from(message_body, 'UTF8')"
        " FROM ssb.receive('dbo.to_queue', 1); PERFORM pg_advisory_xact_lock(944); END;",
    )
    daemon()
    second = daemon(wait=False)
    second.wait_for("standing_by")
    assert second.broker.settle(10)
    gate = connect()
    gate.execute("SELECT pg_advisory_lock(944)")
    send(sql, "a")
    until(lambda: sql.execute("SELECT FROM sys.dm_broker_activated_tasks").fetchone() is not None)
    assert not second.broker.settle(0.5)
    gate.execute("SELECT pg_advisory_unlock(944)")
    assert second.broker.settle(30)
    assert done(sql) == ["a"]


def test_a_compiled_procedure_commits_and_rolls_back_for_itself(sql: Connection, daemon: Start) -> None:
    tsql(
        sql,
        """
CREATE TABLE dbo.tried (id int IDENTITY, body nvarchar(max));
GO
CREATE PROCEDURE dbo.keep_good_ones AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @body nvarchar(max);
    WHILE 1 = 1
    BEGIN
        BEGIN TRANSACTION;
        WAITFOR (RECEIVE TOP (1) @body = CAST(message_body AS nvarchar(max)) FROM to_queue), TIMEOUT 100;
        IF @@ROWCOUNT = 0 BEGIN ROLLBACK; BREAK; END
        INSERT INTO dbo.tried (body) VALUES (@body);
        COMMIT;
        PRINT 'kept ' + @body;
        BEGIN TRANSACTION;
        INSERT INTO dbo.tried (body) VALUES ('undone');
        ROLLBACK;
    END
END
GO
ALTER QUEUE to_queue WITH ACTIVATION
    (STATUS = ON, PROCEDURE_NAME = dbo.keep_good_ones, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER);
""",
    )
    running = daemon()
    send(sql, "a", "b")
    running.wait_for("print", "kept b")
    assert [row[0] for row in sql.execute("SELECT body FROM dbo.tried ORDER BY id").fetchall()] == ["a", "b"]
    until(lambda: sql.execute("SELECT 1 FROM ssb.broker_log WHERE message = 'kept a'").fetchone())


@pytest.mark.one_postgres
def test_the_log_says_where_a_procedure_of_another_database_failed(sql: Connection, daemon: Start) -> None:
    tsql(
        sql,
        """
CREATE DATABASE Other
GO
CREATE PROCEDURE dbo.fails AS
RECEIVE conversation_handle FROM Other.dbo.q
SELECT COUNT(*) AS here, NULL AS nothing FROM sys.procedures WHERE name = 'fails';
THROW 50001, 'no', 1
GO
USE Other
GO
CREATE QUEUE q
CREATE SERVICE s ON QUEUE q ([DEFAULT])
DECLARE @h uniqueidentifier
BEGIN DIALOG @h FROM SERVICE s TO SERVICE 's' WITH ENCRYPTION = OFF
;SEND ON CONVERSATION @h
""",
    )
    sql.execute(
        "SELECT ssb.alter_queue('other_dbo.q', activation_status => true,"
        " activation_procedure => 'dbo.fails', max_queue_readers => 1)"
    )
    running = daemon()
    assert running.wait_for("reader_failed").message == "no (fails, line 4)"
    assert running.messages("result_set")[-1] == "here, nothing: 1, NULL"


@pytest.mark.one_postgres
def test_a_database_that_takes_no_changes_is_waited_for(
    sql: Connection, daemon: Start, database: Database
) -> None:
    """As services make it whose disk is full."""
    activate(sql, DRAIN)
    running = daemon()
    sql.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    sql.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    running.wait_for("read_only", "takes no changes")
    send(sql, "a")
    sql.execute(f"ALTER DATABASE {database.name} RESET default_transaction_read_only")
    until(lambda: done(sql) == ["a"])
    assert len(running.messages("read_only")) == 1
    assert not [text for text in running.messages("failed") if "read-only" in text]


@pytest.mark.long
def test_a_database_without_the_runtime_is_waited_for(
    empty_database: Database, connect: Callable[..., Connection], daemon: Start
) -> None:
    """As while it is restored: a statement of the daemon's own was told."""
    admin = connect(empty_database.dsn)
    install(admin)
    running = daemon(empty_database.dsn)
    uninstall(admin)
    running.wait_for("failed", 'there is no runtime in the database: schema "ssb_internal" does not exist;')
    before = len(running.messages("leading"))
    install(admin)
    until(lambda: len(running.messages("leading")) > before)


def test_the_forms_of_the_databases_role_change_nothing(
    sql: Connection, daemon: Start, database: Database
) -> None:
    for setting in (
        "DateStyle = 'German, DMY'",
        "IntervalStyle = 'sql_standard'",
        "bytea_output = 'escape'",
        "extra_float_digits = -5",
        "client_min_messages = 'error'",
    ):
        sql.execute(f"ALTER DATABASE {database.name} SET {setting}")
    activate(
        sql,
        "BEGIN INSERT INTO dbo.done (body) SELECT concat_ws(' ', '3.2.2030'::date, '1 day'::interval,"
        " message_body, 1 / 3e0::float8) FROM ssb.receive('dbo.to_queue', 1); END;",
    )
    running = daemon()
    dialog = send(sql, "a")
    # When the next timer rings is asked with each sweep.
    sql.execute("SELECT ssb.begin_conversation_timer(%s, 3600)", [dialog])
    until(lambda: done(sql) == ["2030-02-03 1 day \\x61 0.3333333333333333"])
    assert running.broker.settle(10)
    # A session that has run a program is cleaned, and used again.
    send(sql, "b", conversation=dialog)
    until(lambda: len(done(sql)) == 2)
    assert done(sql)[1] == "2030-02-03 1 day \\x62 0.3333333333333333"
    assert not running.messages("server_lost") and not running.messages("failed")


@pytest.mark.one_postgres
def test_the_log_has_the_servers_time_whatever_the_daemons_clock_says(
    sql: Connection, daemon: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgsb.daemon.log.datetime", LateClock)
    daemon()
    lines = "SELECT min(logged_at) > clock_timestamp() - interval '5 minutes' FROM ssb.broker_log"
    assert until(lambda: sql.execute(f"{lines} HAVING count(*) > 0").fetchall()) == [(True,)]


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_timer_rings_in_time_whatever_the_daemons_clock_says(
    sql: Connection, daemon: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgsb.daemon.supervisor.datetime", LateClock, raising=False)
    sql.execute("SELECT ssb.begin_conversation_timer(%s, 1)", [send(sql, "a")])
    daemon(sweep=60)
    until(lambda: sql.execute("SELECT FROM dbo.from_queue").fetchall(), 10)


def test_the_program_runs_as_execute_as_says(
    sql: Connection, daemon: Start, database: Database, connect: Callable[..., Connection]
) -> None:
    role = f"clerk_{database.name}"
    sql.execute(f"CREATE ROLE {role}")
    try:
        sql.execute(
            f"GRANT USAGE ON SCHEMA ssb, dbo TO {role}; GRANT INSERT ON dbo.done TO {role};"
            f"SELECT ssb.grant_permission('{{RECEIVE}}', 'OBJECT', 'dbo.to_queue', '{{{role}}}')"
        )
        activate(
            sql,
            "BEGIN INSERT INTO dbo.done (body)"
            " SELECT current_user || ':' || convert_from(message_body, 'UTF8')"
            " FROM ssb.receive('dbo.to_queue'); END;",
            execute_as=f"'{role}'",
        )
        daemon()
        send(sql, "a")
        until(lambda: done(sql) == [f"{role}:a"])
    finally:
        sql.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_queue_of_another_tsql_database_has_it_as_its_current_one(sql: Connection, daemon: Start) -> None:
    sql.execute(
        """
        SELECT ssb.create_database('Trader1');
        SELECT ssb.create_queue('trader1_dbo.orders');
        SELECT ssb.create_service('//Trader', 'trader1_dbo.orders', '{DEFAULT}', database => 'Trader1');
        CREATE PROCEDURE trader1_dbo.program() LANGUAGE sql AS
            $$ INSERT INTO dbo.done (body) SELECT ssb.db_name() FROM ssb.receive('trader1_dbo.orders') $$;
        SELECT ssb.alter_queue('trader1_dbo.orders', activation_status => true,
            activation_procedure => 'trader1_dbo.program', max_queue_readers => 1, execute_as => 'OWNER');
        """
    )
    daemon()
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Trader'), 'DEFAULT', 'x'::text)")
    until(lambda: done(sql) == ["Trader1"])


@pytest.mark.one_postgres
def test_readers_join_while_messages_wait_and_never_too_many(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        """
        DECLARE m ssb.message; n integer;
        BEGIN
            LOOP
                n := 0;
                FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
                    n := n + 1;
                    PERFORM pg_sleep(0.15);
                    INSERT INTO dbo.done (body) VALUES (convert_from(m.message_body, 'UTF8'));
                END LOOP;
                COMMIT;
                EXIT WHEN n = 0;
            END LOOP;
        END;
        """,
        readers=4,
    )
    running = daemon()
    with sql.transaction():
        for number in range(24):
            send(sql, str(number))
    most = 0

    def finished() -> bool:
        nonlocal most
        row = sql.execute(
            "SELECT count(*), (SELECT count(*) FROM dbo.done) FROM sys.dm_broker_activated_tasks"
        ).fetchone()
        assert row is not None
        most = max(most, row[0])
        return bool(row[1] == 24)

    until(finished)
    assert 3 <= most <= 4
    assert running.broker.settle(10)
    assert sql.execute("SELECT count(*) FROM sys.dm_broker_activated_tasks").fetchone() == (0,)
    until(lambda: _state(sql) == "INACTIVE")


def _state(sql: Connection) -> str:
    row = sql.execute(
        "SELECT m.state FROM sys.dm_broker_queue_monitors AS m JOIN ssb.queue AS q USING (queue_id)"
        " WHERE q.name = 'dbo.to_queue'"
    ).fetchone()
    assert row is not None
    return str(row[0])


def test_the_views_show_the_reader_by_its_spid(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        """
        BEGIN
            INSERT INTO dbo.done (body)
            SELECT t.spid = pg_backend_pid() AND t.procedure_name = '[dbo].[program]'
              FROM ssb.receive('dbo.to_queue') AS m, sys.dm_broker_activated_tasks AS t;
        END;
        """,
    )
    daemon()
    send(sql, "a")
    until(lambda: done(sql) == ["true"])


def test_a_parked_session_keeps_nothing_of_the_last_run(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        """
        BEGIN
            CREATE TEMP TABLE mine (a integer);
            EXECUTE 'PREPARE mine AS SELECT 1';
            PERFORM set_config('my.setting', 'left over', false), pg_advisory_lock(77);
            INSERT INTO dbo.done (body)
            SELECT coalesce(current_setting('my.earlier', true), '') FROM ssb.receive('dbo.to_queue', 1);
            PERFORM set_config('my.earlier', 'left over', false);
        END;
        """,
    )
    daemon()
    send(sql, "a", "b", "c")
    until(lambda: len(done(sql)) == 3)
    assert done(sql) == ["", "", ""]
    until(lambda: sql.execute("SELECT pg_try_advisory_lock(77)").fetchone() == (True,))


@pytest.mark.one_postgres
def test_the_sessions_that_ran_last_stay_warm(database: Database, sql: Connection) -> None:
    """They wait for an hour, the others for a minute; the next program gets a session that has its plans."""
    (role,) = sql.execute("SELECT current_user").fetchone() or ("",)
    queue = ActiveQueue(1, "dbo.to_queue", None, "dbo.program", None, role, role, 9, False)

    async def pids(age: float) -> tuple[set[int], set[int]]:
        sessions = Sessions(database.dsn, 16)
        try:
            taken = [await sessions.take(queue) for _ in range(6)]
            for place, session in enumerate(taken):
                await sessions.give_back(session)
                session.parked_at += place - age
            await sessions.tend()
            again = [await sessions.take(queue) for _ in range(6)]
            return {one.pid for one in taken[2:]}, {one.pid for one in again} & {one.pid for one in taken}
        finally:
            for session in taken + again:
                await session.connection.close()
            await sessions.close()

    last, kept = asyncio.run(pids(age=600))
    assert kept == last
    assert asyncio.run(pids(age=7200))[1] == set()


@pytest.mark.one_postgres
def test_an_idle_program_ends_at_once_when_the_daemon_stops(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        "BEGIN CALL ssb.wait_for_message('dbo.to_queue', clock_timestamp() + interval '1 hour',"
        " may_commit => true); PERFORM FROM ssb.receive('dbo.to_queue'); COMMIT;"
        " CALL ssb.wait_for_message('dbo.to_queue', NULL, may_commit => true); END;",
    )
    running = daemon(grace=60)
    send(sql, "a")
    until(lambda: sql.execute("SELECT 1 WHERE NOT EXISTS (SELECT FROM dbo.to_queue)").fetchone())
    running.broker.stop()
    assert running.messages("reader_failed") == []


@pytest.mark.one_postgres
def test_what_a_daemon_counts_stays_when_it_stops_soon(sql: Connection, daemon: Start) -> None:
    counted = "SELECT coalesce((SELECT value FROM ssb.broker_counter WHERE name = 'readers_started'), 0)"
    before = sql.execute(counted).fetchone()
    running = daemon()
    send(sql, "one")
    activate(sql, DRAIN)
    until(lambda: len(done(sql)) == 1)
    running.broker.stop()
    after = sql.execute(counted).fetchone()
    assert before is not None and after is not None and after[0] > before[0]
    # Where another machine looks, too; and once.
    told = sql.execute("SELECT event FROM ssb.log_recent WHERE event IN ('leading', 'stopped')").fetchall()
    assert told == [("stopped",), ("leading",)]
    assert len(running.messages("stopped")) == 1


@pytest.mark.one_postgres
def test_stopping_lets_a_program_finish_within_the_grace_period(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); PERFORM pg_sleep(0.5);"
        " INSERT INTO dbo.done (body) VALUES ('finished'); END;",
    )
    running = daemon(grace=20)
    send(sql, "a")
    until(lambda: sql.execute("SELECT 1 FROM sys.dm_broker_activated_tasks").fetchone())
    until(lambda: _readers_at_work(sql))
    running.broker.stop()
    assert done(sql) == ["finished"]


@pytest.mark.one_postgres
def test_after_the_grace_period_a_program_is_rolled_back(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); INSERT INTO dbo.done (body) VALUES ('never');"
        " PERFORM pg_sleep(3600); END;",
    )
    running = daemon(grace=0.2)
    send(sql, "a")
    until(lambda: _readers_at_work(sql))
    running.broker.stop()
    assert running.messages("reader_stopped") == ["still running after the grace period: rolled back"]
    assert done(sql) == []
    assert sql.execute("SELECT count(*) FROM dbo.to_queue").fetchone() == (1,)


def _readers_at_work(sql: Connection) -> int:
    row = sql.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'pgsb reader' AND backend_xid IS NOT NULL"
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_a_timer_rings_on_time_without_anybody_looking(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN)
    sql.execute(
        "CREATE PROCEDURE dbo.on_timer() LANGUAGE sql AS $$ INSERT INTO dbo.done (body)"
        " SELECT message_type_name FROM ssb.receive('dbo.from_queue') $$"
    )
    sql.execute(
        "SELECT ssb.alter_queue('dbo.from_queue', activation_status => true,"
        " activation_procedure => 'dbo.on_timer', max_queue_readers => 1)"
    )
    daemon()
    handle = send(sql, "a")
    row = sql.execute("SELECT ssb.begin_conversation_timer(%s, 1), clock_timestamp()", [handle]).fetchone()
    assert row is not None
    until(lambda: "http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer" in done(sql))
    late = sql.execute(
        "SELECT extract(epoch FROM max(at) - %s) FROM dbo.done WHERE body LIKE '%%DialogTimer'", [row[1]]
    ).fetchone()
    assert late is not None
    assert 0.9 < late[0] < 3


def _first(sql: Connection, query: str) -> object:
    return sql.execute(query).fetchone()


@pytest.mark.long
def test_a_lifetime_ends_on_both_queues(sql: Connection, daemon: Start) -> None:
    daemon()
    row = sql.execute("SELECT ssb.begin_dialog('//From', '//To', lifetime => 1)").fetchone()
    assert row is not None
    send(sql, "a", conversation=row[0])
    for queue in ("from_queue", "to_queue"):
        expired = (
            f"SELECT 1 FROM dbo.{queue} WHERE message_type_name LIKE '%/Error'"
            " AND convert_from(message_body, 'UTF8') LIKE '%-8489%'"
        )
        until(partial(_first, sql, expired))


def test_a_look_at_the_queue_takes_no_message_from_anybody(
    sql: Connection, connect: Callable[..., Connection]
) -> None:
    send(sql, "a")
    row = sql.execute("SELECT queue_id FROM ssb.queue WHERE name = 'dbo.to_queue'").fetchone()
    assert row is not None
    look = "SELECT head FROM ssb_internal.broker_probe(%s)"
    # Nothing is to be started for it: a daemon that has not heard so yet starts nothing.
    assert sql.execute(look, row).fetchone() is None
    activate(sql, DRAIN)
    with connect().transaction() as looking:
        assert looking.connection.execute(look, row).fetchone() == (0,)
        assert len(sql.execute("SELECT FROM ssb.receive('dbo.to_queue')").fetchall()) == 1


def test_messages_that_no_program_will_read_do_not_keep_it_from_settling(
    sql: Connection, daemon: Start
) -> None:
    sql.execute(
        "SELECT ssb.create_event_notification('n', '{QUEUE_ACTIVATION}', 'QUEUE', '//From',"
        " 'current database', queue => 'dbo.to_queue')"
    )
    running = daemon()
    send(sql, "a")
    assert running.broker.settle(20)


@pytest.mark.one_postgres
@pytest.mark.parametrize("payload", ["\u00b2", "9" * 5000, "", "-1", "x"])
def test_a_strange_notification_is_none(sql: Connection, daemon: Start, payload: str) -> None:
    activate(sql, DRAIN)
    daemon(sweep=20)
    sql.execute("SELECT pg_notify('ssb_arrival', %s)", [payload])
    send(sql, "a")
    until(lambda: done(sql) == ["a"])


def test_programs_run_as_scripts_do_whatever_the_database_says(
    sql: Connection, database: Database, daemon: Callable[..., Daemon]
) -> None:
    for setting in ("default_transaction_isolation = 'serializable'", "plpgsql.extra_errors = 'all'"):
        sql.execute(f"ALTER DATABASE {database.name} SET {setting}")
    said = "concat_ws(' ', current_setting('transaction_isolation'), current_setting('plpgsql.extra_errors'))"
    activate(sql, f"BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); INSERT INTO dbo.done SELECT {said}; END")
    daemon()
    # The second time in the first one's session, cleaned.
    for count in (1, 2):
        send(sql, "x")
        until(lambda count=count: len(done(sql)) == count)
    assert done(sql) == ["read committed none"] * 2
    assert len(sql.execute("SELECT DISTINCT pid FROM dbo.done").fetchall()) == 1

    # So do the daemon's own sessions, which limits meant for programs leave alone, too.
    async def own() -> Any:
        async with await open_connection(database.dsn, SETTINGS) as connection:
            return await one_row(
                connection, "SELECT current_setting('transaction_isolation'), current_setting('lock_timeout')"
            )

    sql.execute(f"ALTER DATABASE {database.name} SET lock_timeout = '1ms'")
    assert asyncio.run(own()) == ("read committed", "0")


def test_a_full_disk_stops_no_program_and_the_log_comes_later(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN.replace("n := 0;", "n := 0; PERFORM ssb_internal.print('said');"))
    running = daemon()
    sql.execute(
        "CREATE FUNCTION dbo.full() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
        " RAISE 'No space left on device' USING ERRCODE = '53100'; END$$;"
        " CREATE TRIGGER full_disk BEFORE INSERT ON ssb.broker_log EXECUTE FUNCTION dbo.full()"
    )
    for body in ("a", "b"):
        send(sql, body)
        running.wait_for("log_failed", "No space left on device")
    until(lambda: done(sql) == ["a", "b"])
    sql.execute("DROP TRIGGER full_disk ON ssb.broker_log")
    until(lambda: sql.execute("SELECT FROM ssb.broker_log WHERE event = 'log_failed'").fetchone() is not None)
    assert len(running.messages("leading")) == 1
