"""ssb.queue_status, queue_history, conversation_timeline, log_recent and the performance counters."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from dialogs import begin

from activation import DRAIN, Daemon, activate, done, send, tsql, until
from pgsb.daemon.config import BrokerOptions
from support import Connection, Database

Start = Callable[..., Daemon]
Connect = Callable[..., Connection]


def status(connection: Connection, queue: str = "dbo.to_queue") -> dict[str, Any]:
    """The queue's row of ssb.queue_status."""
    cursor = connection.execute("SELECT * FROM ssb.queue_status WHERE queue = %s", [queue])
    row = cursor.fetchone()
    assert row is not None and cursor.description is not None
    return dict(zip([column.name for column in cursor.description], row, strict=True))


def test_a_queue_tells_what_waits_and_for_how_long(sql: Connection) -> None:
    before = status(sql)
    assert (before["depth"], before["oldest_age"], before["state"]) == (0, None, "ON")
    send(sql, "one", "two")
    send(sql, "three")
    row = status(sql)
    assert (row["depth"], row["is_estimate"], row["enqueued_total"]) == (3, False, 3)
    assert row["oldest_age"].total_seconds() > 0
    assert row["services"] == ["//To"]
    assert row["held_by"] is None


def test_every_t_sql_database_is_shown(sql: Connection) -> None:
    tsql(sql, "CREATE DATABASE Trader1\nGO\nUSE Trader1\nGO\nCREATE QUEUE Orders\nGO\nUSE master")
    names = sql.execute("SELECT database_name, queue FROM ssb.queue_status ORDER BY 2").fetchall()
    assert ("Trader1", "trader1_dbo.orders") in [(row[0], row[1].lower()) for row in names]
    assert len(names) == 3


def calls_of(sql: Connection, function: str, query: str) -> int:
    """How often a query calls a function of the runtime."""
    with sql.transaction():
        sql.execute("SET LOCAL track_functions = 'pl'")
        asked = "SELECT coalesce(sum(calls), 0)::integer FROM pg_stat_xact_user_functions WHERE funcname = %s"
        before = sql.execute(asked, [function]).fetchall()[0][0]
        sql.execute(query)
        after: int = sql.execute(asked, [function]).fetchall()[0][0]
        return after - before


def test_who_asks_for_one_queue_looks_at_one(sql: Connection) -> None:
    assert calls_of(sql, "measured_queue", "SELECT * FROM ssb.queue_status") == 2
    assert calls_of(sql, "measured_queue", "SELECT * FROM ssb.queue_status WHERE queue = 'dbo.to_queue'") == 1
    one = "SELECT * FROM ssb_internal.queue_measures('dbo.to_queue')"
    assert calls_of(sql, "measured_queue", one) == 1


def test_poison_is_looked_for_where_it_is_asked_for(sql: Connection) -> None:
    assert calls_of(sql, "is_shown_poisoned", "SELECT name, max_readers FROM sys.service_queues") == 0
    one = "SELECT is_receive_enabled, is_enqueue_enabled FROM sys.service_queues WHERE name = 'to_queue'"
    assert calls_of(sql, "is_shown_poisoned", one) == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM ssb.queue_status",
        "SELECT * FROM sys.service_queues",
        "SELECT * FROM sys.dm_os_performance_counters",
        "SELECT ssb_internal.sample_queues()",
    ],
)
def test_a_look_at_all_queues_keeps_no_lock_on_their_sequences(sql: Connection, query: str) -> None:
    """With thousands of queues such locks fill the server's table of locks: everybody's statements fail."""
    send(sql, "one")
    with sql.transaction():
        sql.execute(query)
        kept = sql.execute(
            "SELECT l.relation::regclass::text FROM pg_locks AS l JOIN ssb.queue AS q"
            " ON l.relation IN (q.order_sequence, q.state_sequence) WHERE l.pid = pg_backend_pid()"
        ).fetchall()
        assert kept == []


def test_a_long_queue_is_estimated_by_its_orders(sql: Connection) -> None:
    handle = send(sql, "first")
    sql.execute("SELECT ssb.send(%s, 'DEFAULT', n::text) FROM generate_series(1, 199) AS n", [handle])
    row = sql.execute(
        "SELECT depth, is_estimate FROM ssb_internal.queue_measures('dbo.to_queue', 50)"
    ).fetchone()
    assert row == (200, True)
    row = sql.execute(
        "SELECT depth, is_estimate FROM ssb_internal.queue_measures('dbo.to_queue', 200)"
    ).fetchone()
    assert row == (200, False)


def test_the_session_that_holds_the_first_group_is_named(sql: Connection, connect: Connect) -> None:
    send(sql, "one")
    reader = connect(autocommit=False, application_name="stuck reader")
    reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
    row = status(sql)
    assert row["held_by"] == f"session {reader.info.backend_pid} (stuck reader)"
    assert row["held_by_pid"] == reader.info.backend_pid
    assert row["held_since"] is not None
    reader.rollback()
    assert status(sql)["held_by"] is None


def test_readers_wanted_are_those_that_the_monitor_would_start(sql: Connection, connect: Connect) -> None:
    """None runs here, so one is wanted first; of waiting groups each wants one beside readers at work."""
    assert BrokerOptions.patience == 0.1, "queue_measures has this number too"
    send(sql, "one", "two")
    assert status(sql)["readers_wanted"] == 0, "activation is off"
    activate(sql, DRAIN, readers=3)
    assert status(sql)["readers_wanted"] == 1
    # Five groups more; a session that is no program holds one of them, a reader another.
    for number in range(5):
        send(sql, f"more {number}")
    holder = connect(autocommit=False)
    holder.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
    reader = connect(autocommit=False)
    sql.execute(
        "SELECT ssb_internal.reader_began(%s, a.pid, a.backend_start, 'dbo.program', 'dbo')"
        " FROM pg_stat_activity AS a WHERE a.pid = %s",
        [status(sql)["queue_id"], reader.info.backend_pid],
    )
    reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
    # The times are set: on a slow machine all have waited for a while.
    sql.execute("UPDATE ssb.message_stored SET enqueued_at = now() + interval '1 hour' WHERE xmax = 0")
    row = status(sql)
    assert (row["readers"], row["readers_wanted"]) == (1, 1), "nothing has waited for long"
    sql.execute("UPDATE ssb.message_stored SET enqueued_at = now() - interval '1 second' WHERE xmax = 0")
    row = status(sql)
    assert (row["readers"], row["readers_wanted"], row["max_readers"]) == (1, 3, 3)
    activate(sql, DRAIN, readers=20)
    assert status(sql)["readers_wanted"] == 5, "one at work, four groups that nobody holds"
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => false)")
    assert status(sql)["readers_wanted"] == 1, "no more of a queue that is off"
    reader.rollback()
    holder.rollback()


def test_rates_are_the_difference_to_a_sample(sql: Connection) -> None:
    handle = send(sql, "one", "two")
    assert status(sql)["in_per_second"] is None
    sql.execute("SELECT ssb_internal.sample_queues()")
    sql.execute("UPDATE ssb.queue_sample SET sampled_at = sampled_at - interval '10 seconds'")
    send(sql, "three", "four", conversation=handle)
    sql.execute("SELECT * FROM ssb.receive('dbo.to_queue', 3)")
    row = status(sql)
    assert 0.15 < row["in_per_second"] <= 0.2
    assert 0.25 < float(row["out_per_second"]) <= 0.3
    sql.execute("SELECT ssb_internal.sample_queues()")
    history = sql.execute(
        "SELECT depth, in_per_second, out_per_second"
        " FROM ssb.queue_history('dbo.to_queue', '1 minute', '1 second')"
    ).fetchall()
    assert len(history) == 1
    assert history[0][0] == 1
    assert 0.15 < float(history[0][1]) <= 0.2 < float(history[0][2]) <= 0.3


def test_rollbacks_and_poison_show(sql: Connection, connect: Connect) -> None:
    send(sql, "bad")
    for expected in (1, 2):
        reader = connect(autocommit=False)
        reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
        reader.rollback()
        reader.close()
        looker = connect(autocommit=False)
        looker.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
        looker.rollback()
        looker.close()
        assert status(sql)["rollbacks_in_a_row"] >= expected
    for _ in range(5):
        reader = connect(autocommit=False)
        try:
            reader.execute("SELECT * FROM ssb.receive('dbo.to_queue')")
        except psycopg.Error:
            break
        finally:
            reader.rollback()
            reader.close()
    row = status(sql)
    assert row["state"] == "STOPPED BY POISON"
    assert row["rollbacks_in_a_row"] == 5


def test_others_see_the_queues_that_they_may_receive_from(
    sql: Connection, connect: Connect, database: Database
) -> None:
    sql.execute("CREATE ROLE onlooker LOGIN; CREATE ROLE watchman LOGIN; GRANT pg_monitor TO watchman")
    try:
        send(sql, "one")
        asked = "SELECT queue FROM ssb.queue_status ORDER BY 1"
        connected = "SELECT ssb_internal.transport_connected(gen_random_uuid(), 'TCP://far', 'courier', true)"
        sql.execute(connected)
        connections = "SELECT remote_user_name FROM sys.dm_broker_connections"
        with psycopg.connect(database.dsn, user="onlooker", autocommit=True) as other:
            assert other.execute(asked).fetchall() == other.execute(connections).fetchall() == []
            sql.execute("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.to_queue', '{onlooker}')")
            assert other.execute(asked).fetchall() == [("dbo.to_queue",)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute("SELECT ssb_internal.sample_queues()")
        with psycopg.connect(database.dsn, user="watchman", autocommit=True) as other:
            assert len(other.execute(asked).fetchall()) == 2
            assert other.execute(connections).fetchall() == [("courier",)]
    finally:
        sql.execute("SELECT ssb.revoke_permission('{RECEIVE}', 'OBJECT', 'dbo.to_queue', '{onlooker}')")
        sql.execute("DROP OWNED BY onlooker; DROP ROLE onlooker; DROP OWNED BY watchman; DROP ROLE watchman")


@pytest.mark.long
def test_the_daemon_takes_samples_and_counts(sql: Connection, daemon: Start) -> None:
    activate(sql, DRAIN)
    running = daemon(sample=0.2)
    send(sql, "one")
    until(lambda: done(sql) == ["one"])

    def counted() -> dict[str, int]:
        rows = sql.execute(
            "SELECT trim(counter_name), cntr_value FROM sys.dm_os_performance_counters"
            " WHERE object_name LIKE 'SQLServer:Broker%'"
        ).fetchall()
        return dict(rows)

    until(lambda: counted()["Tasks Started/sec"] >= 1)
    values = counted()
    assert values["Enqueued Messages Total"] == values["Enqueued Messages/sec"] == 1
    assert values["Activation Errors Total"] == 0
    assert sql.execute("SELECT count(*) > 0 FROM ssb.queue_sample").fetchone() == (True,)
    activate(sql, "BEGIN RAISE EXCEPTION 'never'; END;")
    send(sql, "two")
    running.wait_for("reader_failed")
    until(lambda: counted()["Activation Errors Total"] >= 1)


def timeline(connection: Connection, handle: Any) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT side, event, message_type_name, message_sequence_number, bytes, status"
        " FROM ssb.conversation_timeline(%s)",
        [handle],
    ).fetchall()


def test_a_timeline_shows_both_sides(sql: Connection) -> None:
    handle = send(sql, "one", "two")
    sql.execute("SELECT ssb.begin_conversation_timer(%s, 60)", [handle])
    events = timeline(sql, handle)
    assert events[:2] == [
        ("initiator", "begin", None, None, None, None),
        ("target", "begin", None, None, None, None),
    ]
    assert [row for row in events if row[1] == "message"] == [
        ("initiator", "message", "DEFAULT", 0, 3, "waits in queue"),
        ("initiator", "message", "DEFAULT", 1, 3, "waits in queue"),
    ]
    assert [row[1] for row in events if row[1] == "timer"] == ["timer"]
    received = sql.execute("SELECT conversation_handle FROM ssb.receive('dbo.to_queue', 1)").fetchone()
    assert received is not None
    detail = sql.execute(
        "SELECT detail FROM ssb.conversation_timeline(%s) WHERE event = 'received'", received
    ).fetchone()
    assert detail == ("1 of the messages that came for the target are received and no longer kept",)
    sql.execute("SELECT ssb.end_conversation(%s, 7, 'broken')", received)
    events = timeline(sql, handle)
    assert ("target", "error", None, None, None, "the other side has it") in events
    assert [row[2] for row in events if row[1] == "message"] == [
        "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
    ]


def test_a_timeline_tells_why_a_message_waits(sql: Connection) -> None:
    handle = send(sql, "x", conversation=begin(sql, "//From", "//Nowhere"))
    found = sql.execute(
        "SELECT status, detail FROM ssb.conversation_timeline(%s) WHERE event = 'message'", [handle]
    ).fetchone()
    assert found is not None
    assert found[0] == "waits for delivery"
    assert "target service name could not be found" in found[1]


def test_a_timeline_of_nothing_is_an_error(sql: Connection) -> None:
    with pytest.raises(psycopg.Error, match=r"conversation handle .* is not found"):
        timeline(sql, "00000000-0000-0000-0000-000000000001")


def test_log_recent_shows_the_newest_first(sql: Connection) -> None:
    sql.execute(
        "INSERT INTO ssb.broker_log (level, event, queue, message)"
        " VALUES ('info', 'print', 'dbo.to_queue', 'a'), ('error', 'reader_failed', 'dbo.from_queue', 'b')"
    )
    assert sql.execute("SELECT message FROM ssb.log_recent").fetchall() == [("b",), ("a",)]
    lines = sql.execute("SELECT message FROM ssb_internal.log_lines(p_queue => 'dbo.to_queue')").fetchall()
    assert lines == [("a",)]
