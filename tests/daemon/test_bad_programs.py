"""A program that cannot run, never returns or does nothing is reported, and the others run on."""

import asyncio
import errno
import os
import time
from collections.abc import Callable

import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import make_conninfo

from activation import DRAIN, Daemon, activate, done, send, until
from pgsb.cli.main import commands
from pgsb.daemon.readers import Sessions, open_connection
from pgsb.server.problems import ServerError
from support import Connection, Database

Start = Callable[..., Daemon]


@pytest.fixture
def neighbour(sql: Connection) -> Connection:
    """Another activated queue in the same database, dbo.other: its program must not suffer."""
    sql.execute(
        """
        SELECT ssb.create_queue('dbo.other');
        SELECT ssb.create_service('//Other', 'dbo.other', '{DEFAULT}');
        CREATE PROCEDURE dbo.other_program() LANGUAGE sql AS
            $$ INSERT INTO dbo.done (body) SELECT 'other' FROM ssb.receive('dbo.other') $$;
        SELECT ssb.alter_queue('dbo.other', activation_status => true,
            activation_procedure => 'dbo.other_program', max_queue_readers => 1);
        """
    )
    return sql


def _other_runs(sql: Connection) -> None:
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//Other'), 'DEFAULT', 'x'::text)")
    until(lambda: "other" in done(sql))


def _in_table(sql: Connection, event: str, text: str) -> None:
    until(
        lambda: sql.execute(
            "SELECT 1 FROM ssb.broker_log WHERE event = %s AND strpos(message, %s) > 0", [event, text]
        ).fetchone()
    )


@pytest.mark.one_postgres
def test_a_missing_procedure_is_reported_and_found_once_it_exists(
    neighbour: Connection, daemon: Start
) -> None:
    sql = neighbour
    sql.execute(
        "SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,"
        " activation_procedure => 'dbo.program', max_queue_readers => 1)"
    )
    sql.execute(
        "UPDATE ssb.queue SET activation_spelling = '[dbo].[Program]' WHERE activation_procedure IS NOT NULL"
    )
    running = daemon(longest_backoff=0.3)
    send(sql, "a")
    line = running.wait_for("reader_failed", "dbo.Program")
    assert (line.level, line.error_number, line.queue) == ("error", 2812, "dbo.to_queue")
    _in_table(sql, "reader_failed", "dbo.Program")
    _other_runs(sql)
    activate(sql, DRAIN)
    until(lambda: "a" in done(sql))


@pytest.mark.one_postgres
def test_a_parameter_that_nobody_gives_is_reported(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    sql.execute(
        """
        SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,
            activation_procedure => 'dbo.program', max_queue_readers => 1);
        CREATE PROCEDURE dbo.program(must integer, may integer DEFAULT 1) LANGUAGE sql AS $$ SELECT 1 $$;
        """
    )
    running = daemon(longest_backoff=0.3)
    send(sql, "a")
    line = running.wait_for("reader_failed", "expects parameter '@must', which was not supplied")
    assert (line.level, line.error_number, line.queue) == ("error", 201, "dbo.to_queue")
    _other_runs(sql)


def test_a_program_that_drops_its_own_procedure_has_not_failed(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    sql.execute(
        """
        CREATE PROCEDURE dbo.program(INOUT session ssb.session DEFAULT NULL) LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO dbo.done (body) SELECT 'last' FROM ssb.receive('dbo.to_queue');
            PERFORM ssb.alter_queue('dbo.to_queue', drop_activation => true);
            DROP PROCEDURE dbo.program;
            COMMIT;
        END;
        $$;
        SELECT ssb.alter_queue('dbo.to_queue', activation_status => true,
            activation_procedure => 'dbo.program', max_queue_readers => 1);
        """
    )
    running = daemon()
    send(sql, "a")
    until(lambda: "last" in done(sql))
    _other_runs(sql)
    assert sql.execute("SELECT to_regproc('dbo.program')").fetchone() == (None,)
    assert running.messages("reader_failed") == []


def test_a_role_without_permission_is_reported(
    neighbour: Connection, daemon: Start, database: Database
) -> None:
    sql = neighbour
    role = f"stranger_{database.name}"
    sql.execute(f"CREATE ROLE {role}")
    try:
        activate(sql, DRAIN, execute_as=f"'{role}'")
        running = daemon()
        send(sql, "a")
        line = running.wait_for("reader_failed", "permission was denied")
        assert line.error_number == 229
        _other_runs(sql)
    finally:
        sql.execute("SELECT ssb.alter_queue('dbo.to_queue', drop_activation => true)")
        sql.execute(f"DROP ROLE {role}")


def test_a_principal_that_is_no_role_is_reported(sql: Connection, daemon: Start) -> None:
    sql.execute("SELECT ssb.create_principal('Paper', 'USER')")
    activate(sql, DRAIN, execute_as="'Paper'")
    running = daemon()
    send(sql, "a")
    line = running.wait_for("not_started", '"Paper"')
    assert line.error_number == 15517
    assert "CREATE ROLE" in str(line)


def test_a_principal_whom_the_readers_may_not_become_is_reported(
    neighbour: Connection, daemon: Start, database: Database
) -> None:
    sql = neighbour
    login, role = f"login_{database.name}", f"secret_{database.name}"
    sql.execute(f"CREATE ROLE {login} LOGIN; CREATE ROLE {role}")
    try:
        activate(sql, DRAIN, execute_as=f"'{role}'")
        running = daemon(reader_dsn=make_conninfo(database.dsn, user=login))
        send(sql, "a")
        line = running.wait_for("not_started", f"GRANT {role} TO {login}")
        assert line.error_number == 15517
        running.broker.stop()
    finally:
        sql.execute("SELECT ssb.alter_queue('dbo.to_queue', drop_activation => true)")
        sql.execute(f"DROP ROLE {role}, {login}")


@pytest.mark.one_postgres
def test_a_program_that_does_not_receive_is_slowed_down_and_reported(
    neighbour: Connection, daemon: Start
) -> None:
    sql = neighbour
    activate(sql, "BEGIN INSERT INTO dbo.done (body) VALUES ('run'); END;")
    running = daemon(longest_backoff=10.0)
    send(sql, "a")
    running.wait_for("nothing_received", "(4 in a row)")
    assert done(sql).count("run") < 12
    _other_runs(sql)


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_program_that_loops_without_receiving_is_reported(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    activate(sql, "BEGIN LOOP PERFORM pg_sleep(0.01); COMMIT; END LOOP; END;")
    running = daemon(slow_reader=0.4, grace=0.2)
    send(sql, "a")
    line = running.wait_for("slow_reader", "receives nothing while messages wait")
    assert (line.level, line.queue, line.program) == ("warning", "dbo.to_queue", "dbo.program")
    _other_runs(sql)


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_program_that_never_returns_is_reported(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    activate(sql, "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); PERFORM pg_sleep(3600); END;")
    running = daemon(slow_reader=0.4, grace=0.2)
    send(sql, "a")
    line = running.wait_for("slow_reader", "in one transaction")
    assert line.pid is not None
    _other_runs(sql)


def test_a_program_that_rolls_back_is_not_told_as_one_that_receives_nothing(
    neighbour: Connection, daemon: Start
) -> None:
    sql = neighbour
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', poison_message_handling => false)")
    activate(sql, "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); ROLLBACK; END;")
    running = daemon(longest_backoff=10.0)
    send(sql, "a")
    running.wait_for("rolled_back", "received and rolled back, and ended without an error (4 in a row)")
    assert running.messages("nothing_received") == []
    _other_runs(sql)


def test_what_is_set_aside_is_named(sql: Connection, daemon: Start) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 2)")
    activate(sql, "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); RAISE EXCEPTION 'bad'; END;")
    running = daemon(sweep=0.05)
    until(lambda: running.lines)
    send(sql, "a")
    line = running.wait_for("quarantined", "conversation group ")
    row = sql.execute("SELECT upper(conversation_group_id::text) FROM ssb.quarantine").fetchone()
    assert row is not None and row[0] in line.message
    assert "of type DEFAULT, conversation " in line.message and line.queue == "dbo.to_queue"


def test_poison_stops_the_queue_and_is_reported(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    activate(sql, "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); RAISE EXCEPTION 'bad'; END;")
    running = daemon()
    send(sql, "a")
    until(
        lambda: sql.execute(
            "SELECT 1 FROM ssb.queue WHERE name = 'dbo.to_queue' AND NOT is_receive_enabled"
        ).fetchone()
    )
    line = running.wait_for("queue_disabled")
    row = sql.execute(
        "SELECT queuing_order, upper(conversation_handle::text), upper(conversation_group_id::text)"
        " FROM dbo.to_queue"
    ).fetchone()
    assert row is not None
    order, handle, group = row
    assert f"message {order} of type DEFAULT, conversation {handle}, group {group}" in line.message
    # A stopped queue starts nobody, though the catalog says so only a moment later.
    assert running.messages("reader_failed") == ["bad"] * 5
    assert sql.execute("SELECT count(*) FROM dbo.to_queue").fetchone() == (1,)
    _other_runs(sql)
    activate(sql, DRAIN)
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => true)")
    until(lambda: "a" in done(sql))


@pytest.mark.one_postgres
def test_a_dropped_queue_is_forgotten(neighbour: Connection, daemon: Start) -> None:
    sql = neighbour
    activate(sql, DRAIN)
    running = daemon(sweep=0.01)
    sql.execute("SELECT ssb.drop_service('//To')")
    sql.execute("SELECT ssb.drop_queue('dbo.to_queue')")
    _other_runs(sql)
    assert running.messages("failed") == []


@pytest.mark.one_postgres
def test_a_program_whose_queue_is_dropped_while_it_waits_ends_without_an_error(
    neighbour: Connection, daemon: Start
) -> None:
    """As where its database is dropped: it told error 208, and 266 of the transaction that it left open."""
    sql = neighbour
    activate(
        sql,
        "BEGIN PERFORM FROM ssb.receive('dbo.to_queue'); COMMIT;"
        " CALL ssb.wait_for_message('dbo.to_queue', clock_timestamp() + interval '60 s', may_commit => true);"
        " PERFORM FROM ssb.receive('dbo.to_queue'); END;",
    )
    running = daemon(sweep=0.01)
    send(sql, "a")
    until(
        lambda: sql.execute(
            "SELECT 1 FROM ssb.activated_task AS t JOIN pg_stat_activity AS a USING (pid)"
            " WHERE a.wait_event = 'PgSleep' AND NOT EXISTS (SELECT FROM dbo.to_queue)"
        ).fetchone()
    )
    sql.execute("SELECT ssb.drop_service('//To'), ssb.drop_queue('dbo.to_queue')")
    assert running.wait_for("queue_dropped").level == "info"
    _other_runs(sql)
    assert running.messages("error") == running.messages("reader_failed") == []


@pytest.mark.one_postgres
def test_a_login_of_readers_that_does_not_work_is_told_ever_more_seldom(
    sql: Connection, daemon: Start, database: Database
) -> None:
    running = daemon(reader_dsn=make_conninfo(database.dsn, user="nobody_at_all"), sweep=0.01)
    running.wait_for("no_connection", "nobody_at_all")
    assert running.broker.settle(0)


@pytest.mark.one_postgres
def test_the_tries_to_connect_do_not_fill_the_log(
    sql: Connection, daemon: Start, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for the first try, the second, the fourth, the eighth …; the last may not be written yet."""
    tries = 0
    tend = Sessions.tend

    async def counted(sessions: Sessions) -> None:
        nonlocal tries
        tries += 1
        await tend(sessions)

    monkeypatch.setattr(Sessions, "tend", counted)
    monkeypatch.setattr("pgsb.daemon.loop._TEND_SECONDS", 0.01)
    running = daemon(reader_dsn=make_conninfo(database.dsn, user="nobody_at_all"))
    until(lambda: tries >= 40)
    told = len(running.messages("no_connection"))
    assert told in (tries.bit_length() - 1, tries.bit_length())
    row = sql.execute("SELECT count(*) FROM ssb.broker_log WHERE event = 'no_connection'").fetchone()
    assert row is not None and row[0] <= tries.bit_length()


@pytest.mark.long
@pytest.mark.one_postgres
@pytest.mark.one_postgres
def test_a_full_disk_does_not_stop_a_queue_at_once(sql: Connection, daemon: Start) -> None:
    activate(
        sql,
        "BEGIN PERFORM FROM ssb.receive('dbo.to_queue');"
        " RAISE 'No space left on device' USING ERRCODE = '53100'; END",
    )
    running = daemon()
    send(sql, "a")
    assert running.wait_for("reader_failed").error_number == 1105
    # Five tries would have been over.
    time.sleep(1)
    assert len(running.messages("reader_failed")) == 1
    activate(sql, DRAIN)
    until(lambda: done(sql) == ["a"])


@pytest.mark.one_postgres
def test_a_daemon_without_files_left_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(descriptor: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "dup", none_left)
    with pytest.raises(psycopg.OperationalError, match=r"Too many open files.*ulimit -n"):
        asyncio.run(open_connection("host=127.0.0.1 port=1", {}))


def test_a_reader_dsn_that_cannot_be_read_is_refused_at_once(database: Database) -> None:
    answer = CliRunner().invoke(commands, ["broker", "--dsn", database.dsn, "--reader-dsn", "nonsense"])
    assert isinstance(answer.exception, ServerError)
    assert str(answer.exception) == "cannot read the connection string of --reader-dsn"


@pytest.mark.one_postgres
def test_what_another_session_rolled_back_is_not_told_of_a_program_that_receives_nothing(
    neighbour: Connection, daemon: Start
) -> None:
    sql = neighbour
    activate(sql, "BEGIN INSERT INTO dbo.done (body) VALUES ('run'); END;")
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', activation_status => false)")
    send(sql, "a")
    with sql.transaction(force_rollback=True):
        sql.execute("SELECT FROM ssb.receive('dbo.to_queue')")
    running = daemon(longest_backoff=10.0)
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', activation_status => true)")
    running.wait_for("nothing_received", "(4 in a row)")
    assert running.messages("rolled_back") == []
    _other_runs(sql)
