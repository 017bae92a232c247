"""QUARANTINE = ON: the failing message's group is set aside, the queue goes on."""

from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import Session, refused, start_and_block

from activation import DRAIN, Daemon, activate, done, send, tsql, until
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

Start = Callable[..., Daemon]

POISONED = """
DECLARE m ssb.message; n integer;
BEGIN
    LOOP
        n := 0;
        FOR m IN SELECT * FROM ssb.receive('dbo.to_queue', 1) LOOP
            n := n + 1;
            IF m.message_body = 'bad' THEN
                RAISE EXCEPTION 'cannot swallow this';
            END IF;
            INSERT INTO dbo.done (body) VALUES (convert_from(m.message_body, 'UTF8'));
        END LOOP;
        COMMIT;
        EXIT WHEN n = 0;
    END LOOP;
END;
"""


def _quarantine(sql: Connection) -> list[tuple[object, ...]]:
    return sql.execute(
        "SELECT conversation_group_id, convert_from(message_body, 'UTF8'), is_poison, rollbacks, error"
        " FROM ssb.quarantine"
    ).fetchall()


@pytest.fixture
def set_aside(sql: Connection, daemon: Start) -> Daemon:
    """A queue whose program fails at the body 'bad', which came between good ones, and is set aside."""
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 3)")
    activate(sql, POISONED)
    bad = send(sql, "good", "bad", "behind")
    send(sql, "other", conversation=None)
    running = daemon()
    until(lambda: _quarantine(sql))
    until(lambda: "other" in done(sql))
    send(sql, "later", conversation=bad)
    return running


def test_the_group_is_visible_with_the_error(sql: Connection, set_aside: Daemon) -> None:
    rows = until(lambda: len(rows := _quarantine(sql)) == 3 and rows)
    assert [row[1:3] for row in rows] == [("bad", True), ("behind", False), ("later", False)]
    assert rows[0][3] == 3
    assert rows[0][4] == "cannot swallow this"
    assert sorted(done(sql)) == ["good", "other"]
    state = sql.execute("SELECT is_receive_enabled FROM ssb.queue WHERE name = 'dbo.to_queue'").fetchone()
    assert state == (True,)


def test_resubmitted_it_comes_again_in_order(sql: Connection, set_aside: Daemon) -> None:
    activate(sql, DRAIN)
    until(lambda: len(_quarantine(sql)) == 3)
    answer = sql.execute("SELECT ssb.resubmit_quarantined(%s)", [_quarantine(sql)[0][0]]).fetchone()
    assert answer == (3,)
    until(lambda: len(done(sql)) == 5)
    assert done(sql)[2:] == ["bad", "behind", "later"]
    assert _quarantine(sql) == []


def test_dropped_the_rest_goes_on(sql: Connection, set_aside: Daemon) -> None:
    answer = sql.execute("SELECT ssb.drop_quarantined(%s)", [_quarantine(sql)[0][0]]).fetchone()
    assert answer == (1,)
    until(lambda: len(done(sql)) == 4)
    assert done(sql)[2:] == ["behind", "later"]
    assert _quarantine(sql) == []


@pytest.mark.long
def test_what_a_program_printed_is_the_error_where_it_caught_it(sql: Connection, daemon: Start) -> None:
    tsql(
        sql,
        """
CREATE PROCEDURE dbo.careful AS
BEGIN
    DECLARE @body varbinary(max);
    BEGIN TRANSACTION;
    RECEIVE TOP (1) @body = message_body FROM to_queue;
    BEGIN TRY
        THROW 50001, N'I do not like it', 1;
    END TRY
    BEGIN CATCH
        PRINT 'rolled back: ' + ERROR_MESSAGE();
        ROLLBACK;
    END CATCH
END
GO
ALTER QUEUE to_queue WITH POISON_MESSAGE_HANDLING (STATUS = ON, MAX_ROLLBACKS = 2, QUARANTINE = ON),
    ACTIVATION (STATUS = ON, PROCEDURE_NAME = dbo.careful, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER);
""",
    )
    daemon()
    send(sql, "bad")
    row = until(lambda: _quarantine(sql))[0]
    assert row[1:] == ("bad", True, 2, "rolled back: I do not like it")


def test_without_a_daemon_any_client_passes_the_poison(sql: Connection) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 2)")
    send(sql, "bad")
    send(sql, "good")
    for _ in range(2):
        with sql.transaction():
            sql.execute("SELECT FROM ssb.receive('dbo.to_queue', 1)")
            raise psycopg.Rollback
    row = sql.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.to_queue', 1)"
    ).fetchone()
    assert row == ("good",)
    assert [row[1] for row in _quarantine(sql)] == ["bad"]


def test_the_reason_may_be_written_down_later(sql: Connection) -> None:
    """The daemon writes its log a moment after things happen: what happened before the quarantine counts."""
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 2)")
    _log(sql, "an old story", "-1 hour")
    send(sql, "bad")
    for _ in range(2):
        with sql.transaction(force_rollback=True):
            sql.execute("SELECT FROM ssb.receive('dbo.to_queue', 1)")
    assert sql.execute("SELECT FROM ssb.receive('dbo.to_queue', 1)").fetchall() == []
    assert _quarantine(sql)[0][4] == "an old story"
    _log(sql, "cannot swallow this", "-1 second")
    _log(sql, "of another queue", "-1 second", queue="dbo.from_queue")
    _log(sql, "what came after", "1 second")
    assert _quarantine(sql)[0][4] == "cannot swallow this"
    # Kept, though the log keeps only the newest lines.
    sql.execute("TRUNCATE ssb.broker_log")
    assert _quarantine(sql)[0][4] == "cannot swallow this"


def _log(sql: Connection, message: str, after: str, queue: str = "dbo.to_queue") -> None:
    """A line that the daemon wrote about this time after the quarantine, or after now."""
    sql.execute(
        "SELECT ssb_internal.write_broker_log(jsonb_build_array(jsonb_build_object('logged_at',"
        " coalesce((SELECT g.quarantined_at FROM ssb.quarantined_group AS g), now()) + %s::interval,"
        " 'level', 'error', 'event', 'reader_failed', 'queue', %s::text, 'message', %s::text)))",
        [after, queue, message],
    )


def test_a_t_sql_script_ends_a_quarantine(sql: Connection) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 1)")
    send(sql, "bad", "behind")
    with sql.transaction(force_rollback=True):
        sql.execute("SELECT FROM ssb.receive('dbo.to_queue', 1)")
    assert sql.execute("SELECT FROM ssb.receive('dbo.to_queue', 1)").fetchall() == []
    tsql(
        sql,
        """
DECLARE @group uniqueidentifier = (SELECT conversation_group_id FROM ssb.quarantine WHERE is_poison = 1);
EXEC ssb.drop_quarantined @group;
""",
    )
    assert _quarantine(sql) == []
    row = sql.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.to_queue', 1)"
    ).fetchone()
    assert row == ("behind",)


def test_a_t_sql_script_sets_a_group_aside_and_fails_it(sql: Connection) -> None:
    """Functions of ssb run by EXEC whatever they return: here a boolean and a handle."""
    send(sql, "bad", "behind")
    tsql(
        sql,
        """
DECLARE @group uniqueidentifier = (SELECT TOP (1) conversation_group_id FROM to_queue), @code int;
EXEC @code = ssb.set_aside @group, N'by hand';
IF @code <> 0 THROW 50001, N'a return code', 1;
EXEC ssb.fail_quarantined @group, 9001, N'given up';
""",
    )
    assert _quarantine(sql) == []
    row = sql.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.from_queue', 1)"
    ).fetchone()
    assert row is not None and "9001" in row[0] and "given up" in row[0]


def test_a_group_that_is_not_set_aside_is_an_error(sql: Connection) -> None:
    for command in ("resubmit", "drop"):
        with pytest.raises(psycopg.Error, match="is not found") as error:
            sql.execute(f"SELECT ssb.{command}_quarantined(gen_random_uuid())")
        assert error.value.sqlstate == "S8436"


def test_only_who_may_alter_the_queue_may_end_a_quarantine(
    sql: Connection, set_aside: Daemon, database: Database
) -> None:
    role = f"outsider_{database.name}"
    group = _quarantine(sql)[0][0]
    sql.execute(f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA ssb TO {role}; SET ROLE {role}")
    try:
        with pytest.raises(psycopg.Error, match="permission"):
            sql.execute("SELECT ssb.drop_quarantined(%s)", [group])
    finally:
        sql.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")


def test_failed_the_other_side_hears(sql: Connection, set_aside: Daemon) -> None:
    activate(sql, DRAIN)
    row = sql.execute(
        "SELECT ssb.fail_quarantined(%s, 9001, 'cannot book this')", [_quarantine(sql)[0][0]]
    ).fetchone()
    assert row is not None and row[0] is not None
    heard = sql.execute(
        "SELECT message_type_name, convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.from_queue')"
    ).fetchall()
    assert [name for name, _ in heard] == ["http://schemas.microsoft.com/SQL/ServiceBroker/Error"]
    assert "<Code>9001</Code>" in heard[0][1] and "cannot book this" in heard[0][1]
    assert _quarantine(sql) == []
    with pytest.raises(psycopg.Error, match="Both the error code and the description"):
        sql.execute("SELECT ssb.fail_quarantined(%s, NULL, 'no number')", [row[0]])


@pytest.mark.long
def test_a_filter_decides_about_many(sql: Connection, daemon: Start) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 2)")
    activate(sql, POISONED)
    for _ in range(3):
        send(sql, "bad", "behind")
    daemon()
    until(lambda: sql.execute("SELECT count(*) FROM ssb.quarantined_group").fetchone() == (3,))
    # What a daemon writes of an error comes a moment later.
    until(lambda: len([row for row in _quarantine(sql) if row[4] == "cannot swallow this"]) == 6)
    for filters, found in [
        ("queue => 'dbo.from_queue'", 0),
        ("error_like => 'something else'", 0),
        ("older_than => '1 hour'", 0),
        ("message_type => 'NoSuchType'", 0),
    ]:
        assert sql.execute(f"SELECT ssb.drop_all_quarantined({filters})").fetchone() == (found,)
    activate(sql, DRAIN)
    answer = sql.execute(
        "SELECT ssb.resubmit_all_quarantined(queue => 'dbo.to_queue', error_like => 'cannot%')"
    ).fetchone()
    assert answer == (3,)
    until(lambda: sorted(done(sql)) == ["bad"] * 3 + ["behind"] * 3)


@pytest.mark.long
def test_a_filter_fails_and_drops_all_that_it_finds(sql: Connection, daemon: Start) -> None:
    sql.execute("SELECT ssb.alter_queue('dbo.to_queue', quarantine => true, max_rollbacks => 2)")
    activate(sql, POISONED)
    send(sql, "bad")
    send(sql, "bad")
    daemon()
    until(lambda: sql.execute("SELECT count(*) FROM ssb.quarantined_group").fetchone() == (2,))
    one = sql.execute("SELECT conversation_group_id FROM ssb.quarantined_group LIMIT 1").fetchone()
    assert one is not None
    assert sql.execute("SELECT ssb.drop_quarantined(%s)", one).fetchone() == (1,)
    answer = sql.execute(
        "SELECT ssb.fail_all_quarantined(9001, 'given up', message_type => 'DEFAULT')"
    ).fetchone()
    assert answer == (1,)
    assert len(sql.execute("SELECT * FROM ssb.receive('dbo.from_queue')").fetchall()) == 1


def _group(sql: Connection, *bodies: str) -> list[str]:
    """Handles on dbo.to_queue of dialogs of one group that is set aside, each with such a message."""
    handles = [str(send(sql, body)) for body in bodies]
    found = [
        str(row[0])
        for row in sql.execute(
            "SELECT f.conversation_handle FROM unnest(%s::uuid[]) WITH ORDINALITY AS h (handle, place)"
            " JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = h.handle"
            " JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id ORDER BY h.place",
            [handles],
        )
    ]
    group = "SELECT conversation_group_id FROM sys.conversation_endpoints WHERE conversation_handle = %s"
    for other in found[1:]:
        sql.execute(f"SELECT ssb.move_conversation(%s, ({group}))", [other, found[0]])
    assert sql.execute(f"SELECT ssb.set_aside(({group}))", [found[0]]).fetchone() == (True,)
    return found


@pytest.mark.parametrize("leave", ["end", "move"])
def test_the_rest_of_a_group_whose_leader_leaves_can_be_resubmitted(sql: Connection, leave: str) -> None:
    first, _ = _group(sql, "first", "second")
    (group,) = {row[0] for row in _quarantine(sql)}
    if leave == "end":
        sql.execute("SELECT ssb.end_conversation(%s, cleanup => true)", [first])
        assert sql.execute("SELECT FROM ssb.receive('dbo.to_queue')").fetchall() == []
    else:
        send(sql, "elsewhere")
        sql.execute(
            "SELECT ssb.move_conversation(%s, conversation_group_id) FROM sys.conversation_endpoints"
            " WHERE is_initiator = 0 AND conversation_group_id <> %s LIMIT 1",
            [first, group],
        )
    assert [(row[0], row[1]) for row in _quarantine(sql)] == [(group, "second")]
    assert sql.execute("SELECT ssb.resubmit_quarantined(%s)", [group]).fetchone() == (1,)
    received = [
        row[0]
        for _ in range(3)
        for row in sql.execute("SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.to_queue')")
    ]
    assert sorted(received) == (["second"] if leave == "end" else ["elsewhere", "first", "second"])


def test_a_targets_side_that_was_set_aside_goes_like_others(sql: Connection) -> None:
    """After half an hour, with the row that tells the other side of its end."""
    (handle,) = _group(sql, "alone")
    sql.execute("SELECT ssb.end_conversation(%s)", [handle])
    sql.execute("SELECT ssb.end_conversation(conversation_handle) FROM ssb.receive('dbo.from_queue')")
    sql.execute(
        "UPDATE ssb.conversation_endpoint SET closed_at = closed_at - interval '1 hour', due_at = closed_at"
    )
    sql.execute("SELECT ssb.deliver_due()")
    assert sql.execute("SELECT count(*) FROM ssb.conversation_endpoint").fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM ssb.quarantined_group").fetchone() == (0,)


@pytest.mark.parametrize("conversations", [1, 5])
def test_of_what_has_ended_nothing_is_set_aside(sql: Connection, conversations: int) -> None:
    """By END of one conversation, and of a set."""
    handles = [send(sql, "job") for _ in range(conversations)]
    for _ in handles:
        sql.execute("SELECT ssb.end_conversation(conversation_handle) FROM ssb.receive('dbo.to_queue')")
    for handle in handles:
        sql.execute(
            "SELECT ssb.set_aside(conversation_group_id) FROM sys.conversation_endpoints"
            " WHERE conversation_handle = %s",
            [handle],
        )
    assert len(_quarantine(sql)) == conversations
    sql.execute("SELECT ssb.end_conversations(%s)", [handles])
    assert sql.execute("SELECT count(*) FROM ssb.quarantined_group").fetchone() == (0,)


def test_two_who_decide_about_one_group(sql: Connection, connect: Callable[[], Connection]) -> None:
    _group(sql, "bad")
    (group,) = {row[0] for row in _quarantine(sql)}
    first, second = Session(connect()), Session(connect())
    first.do("BEGIN")
    first.do("SELECT ssb.resubmit_quarantined(%s)", group)
    single = start_and_block(
        Session(sql), second, lambda: second.do("SELECT ssb.drop_quarantined(%s)", group)
    )
    first.do("COMMIT")
    with refused(8436):
        single.result()
    assert first.bodies("dbo.to_queue") == ["bad"]


def test_who_decides_about_all_passes_what_another_has_decided(
    sql: Connection, connect: Callable[[], Connection]
) -> None:
    _group(sql, "a")
    _group(sql, "b")
    (group,) = {row[0] for row in _quarantine(sql) if row[1] == "a"}
    first, second = Session(connect()), Session(connect())
    first.do("BEGIN")
    first.do("SELECT ssb.resubmit_quarantined(%s)", group)
    every = start_and_block(Session(sql), second, lambda: second.value("SELECT ssb.drop_all_quarantined()"))
    first.do("COMMIT")
    assert every.result() == 1
    assert first.bodies("dbo.to_queue") == ["a"]


def test_the_daemons_log_does_not_wait_for_who_decides(
    sql: Connection, connect: Callable[[], Connection]
) -> None:
    _group(sql, "bad")
    (group,) = {row[0] for row in _quarantine(sql)}
    operator, writer = Session(connect()), Session(connect())
    operator.do("BEGIN")
    operator.do("SELECT ssb.resubmit_quarantined(%s)", group)
    writer.do("SET lock_timeout = '2s'")
    writer.do(
        "SELECT ssb_internal.write_broker_log(jsonb_build_array(jsonb_build_object('level', 'error',"
        " 'event', 'reader_failed', 'queue', 'dbo.to_queue', 'logged_at', g.quarantined_at,"
        " 'message', 'why')))"
        " FROM ssb.quarantined_group AS g"
    )
    operator.do("ROLLBACK")
