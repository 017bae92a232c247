"""Claims, without Spark: what they take, who passes them, how they end."""

import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from bulk_desk import Desk

from pgsb.bulk import BulkError, ClaimLost, abandon, claim
from pgsb.bulk import connections as bulk_connections
from pgsb.bulk.claim import explained
from pgsb.bulk.complete import complete
from pgsb.bulk.problems import first_line, has_ended, told
from pgsb.bulk.program import Outputs
from support import Connection, rest_is_long

Connect = Callable[..., Connection]
_PERMISSION = "SELECT ssb.{}_permission('{{RECEIVE}}', 'OBJECT', 'dbo.target', '{{bulk_reader}}')"


def test_a_claim_takes_whole_groups_within_its_limit(desk: Desk, connect: Connect) -> None:
    desk.send(5, 10)
    held = claim(connect(), "dbo.target", max_messages=35, partitions=3)
    assert held is not None
    assert (held.conversations, held.messages) == (3, 30)
    per_partition = desk.connection.execute(
        "SELECT claim_partition, count(DISTINCT conversation_handle), count(*)"
        "  FROM ssb_internal.claimed_message GROUP BY 1"
    ).fetchall()
    assert sum(row[2] for row in per_partition) == 30
    assert sum(row[1] for row in per_partition) == 3


def test_only_a_claim_that_has_ended_is_passed(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    tomorrow = "%s::timestamptz + interval '1 day'"
    for number, when in ((held.claim_id, "%s"), (held.claim_id + 1, tomorrow), (99, "%s")):
        desk.connection.execute(
            f"SELECT ssb_internal.pass_claim(%s, ({when})::timestamptz)", (number, held.claimed_at)
        )
    # Neither the one that is there nor one to come.
    assert desk.connection.execute("SELECT claim_id FROM ssb.passed_claim").fetchall() == [(99,)]


def test_a_claim_is_passed_by_its_own_role_alone(desk: Desk, connect: Connect) -> None:
    """Who guesses when another's claim is made neither ends it nor keeps it from its completion."""
    desk.send(1, 1)
    stranger = connect()
    stranger.execute("CREATE ROLE passing")
    desk.connection.execute("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.target', '{passing}')")
    stranger.execute("SET ROLE passing")
    stranger.execute("BEGIN")
    done = "SELECT ssb_internal.claim_was_completed(%s, %s)"
    try:
        with connect() as claiming, claiming.transaction():
            claiming.execute("SET LOCAL lock_timeout = '2s'")
            held = claiming.execute(
                "SELECT claim_id, claimed_at FROM ssb_internal.claim_messages('dbo.target')"
            ).fetchone()
            assert held is not None
            stranger.execute("SELECT ssb_internal.pass_claim(%s, %s)", held)
            assert stranger.execute(done, held).fetchone() == (True,)
            assert claiming.execute(done, held).fetchone() == (False,)
            assert claiming.execute(
                "SELECT deleted FROM ssb_internal.complete_claim(%s)", held[:1]
            ).fetchone() == (1,)
    finally:
        stranger.execute("ROLLBACK")
        stranger.execute("RESET ROLE; DROP OWNED BY passing; DROP ROLE passing")


def test_settings_of_the_database_are_not_those_of_a_job(desk: Desk) -> None:
    for setting in (
        "DateStyle = 'German'",
        "IntervalStyle = 'sql_standard'",
        "standard_conforming_strings = off",
        "default_transaction_isolation = 'serializable'",
        "idle_session_timeout = '200ms'",
    ):
        desk.connection.execute(f"ALTER DATABASE {desk.database.name} SET {setting}")
    desk.send(1, 1)
    with bulk_connections.connect(desk.database.dsn, "test") as session:
        held = claim(session, "dbo.target")
        assert held is not None and held.claimed_at.year > 2000
        time.sleep(0.4)
        assert complete(held, Outputs(end_all=True, unread="complete"), desk.database.dsn).deleted == 1
    shown = r"SELECT current_setting('transaction_isolation'), length('\n'), now(), '1 day'::interval"
    with bulk_connections.task_session(desk.database.dsn, "test") as session:
        for _ in range(2):
            row = session.execute(shown.encode()).fetchone()
            assert row is not None and row[:2] == ("read committed", 2)
            session.rollback()


def test_a_group_larger_than_the_limit_is_cut_in_order(desk: Desk, connect: Connect) -> None:
    desk.send(1, 10)
    held = claim(connect(), "dbo.target", max_messages=4)
    assert held is not None and held.messages == 4
    bodies = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb_internal.claimed_message ORDER BY queuing_order"
    ).fetchall()
    assert bodies == [("1",), ("2",), ("3",), ("4",)]
    assert complete(held, Outputs(end_all=True, unread="complete"), desk.database.dsn).deleted == 4
    # Not ended: six messages wait, which END CONVERSATION would throw away.
    assert desk.waiting() == 6


def test_bytes_are_a_limit_too(desk: Desk, connect: Connect) -> None:
    desk.send(4, 2, body=b"x" * 100)
    held = claim(connect(), "dbo.target", max_bytes=450)
    assert held is not None
    assert (held.conversations, held.bytes) == (2, 400)


def test_receive_passes_claimed_groups_and_takes_others(desk: Desk, connect: Connect) -> None:
    desk.send(2, 3)
    held = claim(connect(), "dbo.target", max_messages=3)
    assert held is not None and held.conversations == 1
    other = connect()
    assert len(other.execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 3
    assert other.execute("SELECT FROM ssb.receive('dbo.target')").fetchall() == []


def test_a_purge_passes_claimed_groups_and_those_that_a_reader_holds(desk: Desk, connect: Connect) -> None:
    desk.send(3, 2)
    held = claim(connect(), "dbo.target", max_messages=2)
    assert held is not None and held.conversations == 1
    reader = connect(autocommit=False)
    assert len(reader.execute("SELECT FROM ssb.receive('dbo.target', 1)").fetchall()) == 1
    purge = "SELECT ssb.purge_messages('dbo.target'%s)"
    assert desk.value(purge % ", older_than => interval '1 hour'") == 0
    assert desk.value(purge % ", message_type => 'no such type', count_only => true") == 0
    assert desk.value(purge % ", count_only => true") == 6
    assert desk.value(purge % "") == 2
    reader.rollback()
    assert desk.value(purge % "") == 2
    assert desk.value("SELECT count(*) FROM ssb.message_stored") == 2


def test_the_end_of_finished_dialogs_passes_claimed_groups(desk: Desk, connect: Connect) -> None:
    desk.send(2, 1)
    for _ in range(2):
        assert desk.value("SELECT count(*) FROM ssb.receive('dbo.target')") == 1
    near = "SELECT conversation_handle FROM sys.conversation_endpoints WHERE is_initiator = 1"
    desk.connection.execute(f"SELECT ssb.end_conversation(e.conversation_handle) FROM ({near}) AS e")
    held = claim(connect(), "dbo.target", max_messages=1)
    assert held is not None and held.conversations == 1
    assert desk.value("SELECT ssb.end_finished('dbo.target')") == 1
    abandon(held)
    assert desk.value("SELECT ssb.end_finished('dbo.target')") == 1


def test_a_group_that_a_reader_holds_is_passed(desk: Desk, connect: Connect) -> None:
    desk.send(2, 3)
    reader = connect(autocommit=False)
    assert len(reader.execute("SELECT FROM ssb.receive('dbo.target', 1)").fetchall()) == 1
    held = claim(connect(), "dbo.target")
    assert held is not None and held.conversations == 1
    reader.rollback()
    second = claim(connect(), "dbo.target")
    assert second is not None and second.messages == 3


def test_urgent_conversations_come_first(desk: Desk, connect: Connect) -> None:
    desk.send(1, 2)
    desk.connection.execute(
        "SELECT ssb.create_broker_priority('p', contract => 'trades', priority_level => 9)"
    )
    desk.connection.execute("SELECT ssb.alter_database(ssb.db_name(), 'HONOR_BROKER_PRIORITY', 'ON')")
    desk.send(1, 2)
    held = claim(connect(), "dbo.target", max_messages=2)
    assert held is not None
    assert desk.value("SELECT min(priority) FROM ssb_internal.claimed_message") == 9


def test_an_abandoned_claim_is_free_at_once(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    abandon(held)
    assert len(connect().execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 3
    with pytest.raises(ClaimLost, match="there is no claim"):
        abandon(held)


def test_a_claim_ends_with_its_session(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    pid = owner.info.backend_pid
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    assert len(connect().execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 3
    with pytest.raises(ClaimLost):
        complete(held, Outputs(unread="complete"), desk.database.dsn)


def test_a_stream_keeps_its_claim_while_it_runs(desk: Desk, connect: Connect) -> None:
    """However long a batch takes: a reader would have had its messages beside the sink."""
    desk.send(1, 3)
    driver = connect()
    driver.execute("SELECT FROM ssb_internal.run_stream('nightly')")
    assert claim(driver, "dbo.target", stream="nightly") is not None
    desk.connection.execute("UPDATE ssb.claim SET expires_at = now()")
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    receive, state = "SELECT FROM ssb.receive('dbo.target')", "SELECT state FROM ssb.claims"
    assert connect().execute(receive).rowcount == 0
    assert desk.value(state) == "stream"
    assert driver.execute("SELECT FROM ssb_internal.claims_of_stream('nightly', 0)").rowcount == 1
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (driver.info.backend_pid,))
    assert desk.value(state) == "over"
    # It comes again too late: somebody else may have received meanwhile.
    again = connect()
    again.execute("SELECT FROM ssb_internal.run_stream('nightly')")
    assert again.execute("SELECT FROM ssb_internal.claims_of_stream('nightly')").rowcount == 0
    assert connect().execute(receive).rowcount == 3


def test_the_claim_of_a_stream_that_has_stopped_is_released_by_hand(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    driver, reader = connect(), connect()
    driver.execute("SELECT FROM ssb_internal.run_stream('nightly')")
    held = claim(driver, "dbo.target", stream="nightly")
    assert held is not None
    release = f"SELECT ssb.release_claim({held.claim_id})"
    with pytest.raises(psycopg.Error, match="in use"):
        reader.execute(release)
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (driver.info.backend_pid,))
    assert desk.value("SELECT state FROM ssb.claims") == "waiting"
    desk.connection.execute("CREATE ROLE passer_by")
    with pytest.raises(psycopg.Error, match="there is no claim"):
        connect(options="-c role=passer_by").execute(release)
    assert desk.value(release) == 3
    assert reader.execute("SELECT FROM ssb.receive('dbo.target')").rowcount == 3


@pytest.mark.parametrize("stream", [None, "nightly"])
def test_move_conversation_waits_for_the_claim(desk: Desk, connect: Connect, stream: str | None) -> None:
    """Moved away, its messages would be another reader's, and the claim's as well."""
    moved, other = desk.send(2, 3)
    owner = connect()
    held = claim(owner, "dbo.target", max_messages=3)
    assert held is not None and held.conversations == 1
    if stream is not None:
        owner.execute("UPDATE ssb.claim SET stream = %s, expires_at = now() + interval '1 hour'", (stream,))
    far = (
        "(SELECT f.{} FROM ssb.conversation_endpoint AS e JOIN ssb.conversation_endpoint AS f"
        " ON f.endpoint_id = e.far_endpoint_id WHERE e.conversation_handle = %s)"
    )
    hasty = connect()
    hasty.execute("SET lock_timeout = '1ms'")
    if stream is None:
        with pytest.raises(psycopg.errors.LockNotAvailable):
            hasty.execute(
                f"SELECT ssb.move_conversation({far.format('conversation_handle')}, %s)", (moved, other)
            )
    # Whatever fails in it: the mover waits no longer than the claim's session is there.
    with ThreadPoolExecutor(1) as thread, owner:
        mover = connect()
        waiting = thread.submit(
            mover.execute,
            f"SELECT ssb.move_conversation({far.format('conversation_handle')},"
            f" {far.format('conversation_group_id')})",
            (moved, other),
        )
        while desk.value(
            "SELECT wait_event FROM pg_stat_activity WHERE pid = %s", mover.info.backend_pid
        ) not in (
            "advisory",
            "PgSleep",
        ):
            assert not waiting.done()
        # Others of the claim's queue are not held up; and it has not moved.
        assert len(connect().execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 3
        assert not waiting.done()
        assert complete(held, Outputs(unread="complete"), desk.database.dsn).deleted == 3
        waiting.result(20)
    groups = "SELECT count(DISTINCT lock_id) FROM ssb.conversation_endpoint WHERE NOT is_initiator"
    assert desk.value(groups) == 1


def test_what_the_server_refuses_is_no_lost_connection(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    held.connection.execute("SET lock_timeout = '1ms'")
    with desk.connection.transaction():
        desk.connection.execute("SELECT FROM ssb.claim FOR UPDATE")
        for refused in (
            lambda: abandon(held),
            lambda: complete(held, Outputs(unread="complete"), desk.database.dsn),
        ):
            with pytest.raises(
                BulkError, match=r"canceling statement due to lock timeout \(SQLSTATE 55P03\)"
            ) as error:
                refused()
            assert not isinstance(error.value, ClaimLost) and "lock_timeout" in str(error.value.hint)
    with (
        pytest.raises(BulkError, match=r"statement timeout \(SQLSTATE 57014\)") as error,
        explained("dbo.target"),
    ):
        held.connection.execute("SET statement_timeout = '1ms'; SELECT pg_sleep(1)")
    assert not isinstance(error.value, ClaimLost)


@pytest.mark.parametrize(
    ("error", "is_lost", "hint"),
    [
        (psycopg.errors.TooManyConnections("no"), False, "max_connections"),
        (psycopg.errors.DiskFull("no"), False, "make room"),
        (psycopg.errors.IoError("no"), False, "log"),
        # Nobody's fault: the same again may pass.
        (psycopg.errors.DeadlockDetected("no"), True, None),
        (psycopg.errors.AdminShutdown("no"), True, None),
        (psycopg.errors.CannotConnectNow("no"), True, None),
        (psycopg.OperationalError("no"), True, None),
    ],
)
def test_errors_are_told_as_what_they_are(
    error: psycopg.OperationalError, is_lost: bool, hint: str | None
) -> None:
    sentence = told(error, "lost", "refused")
    assert isinstance(sentence, ClaimLost) == is_lost
    assert (hint is None) == (sentence.hint is None) and (hint or "") in (sentence.hint or "")
    assert str(sentence).startswith("lost" if has_ended(error) else "refused")
    assert has_ended(error) or f"SQLSTATE {error.sqlstate}" in str(sentence)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (psycopg.OperationalError(), "OperationalError"),
        (psycopg.OperationalError(" \n "), "OperationalError"),
        (psycopg.OperationalError("so\nsorry"), "so"),
    ],
)
def test_the_first_line_of_an_error_is_its_name_where_it_has_no_words(
    error: psycopg.Error, said: str
) -> None:
    assert first_line(error) == said


def test_what_was_lost_cannot_be_completed_by_another_session(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    # When this returns, the session is gone.
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (owner.info.backend_pid,))
    thief = connect()
    with pytest.raises(psycopg.errors.ObjectInUse, match="there is no claim"):
        thief.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    assert desk.waiting() == 3


_DRIVER = """
import os, signal, sys
import psycopg
from pgsb.bulk import claim

connection = psycopg.connect(sys.argv[1], autocommit=True)
held = claim(connection, "dbo.target")
if sys.argv[2] == "before":
    os.kill(os.getpid(), signal.SIGKILL)
with connection.transaction():
    connection.execute("INSERT INTO dbo.total (messages) VALUES (%s)", (held.messages,))
    connection.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    if sys.argv[2] == "during":
        os.kill(os.getpid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("moment", "waiting"), [("before", 3), ("during", 3), ("after", 0)])
def test_a_driver_killed_around_complete_loses_and_repeats_nothing(
    desk: Desk, connect: Connect, moment: str, waiting: int
) -> None:
    desk.send(1, 3)
    died = subprocess.run([sys.executable, "-c", _DRIVER, desk.database.dsn, moment], check=False)
    assert died.returncode == -signal.SIGKILL
    # The lock on the group waits for the killed driver's session to end, if it is still there.
    desk.connection.execute("SELECT FROM ssb.conversation_endpoint FOR UPDATE")
    for _ in range(20):
        held = claim(connect(), "dbo.target")
        if held is not None or waiting == 0:
            break
        desk.connection.execute("SELECT pg_sleep(0.1)")
    assert (held.messages if held else 0) == waiting
    assert desk.value("SELECT count(*) FROM dbo.total") == (0 if waiting else 1)


def test_a_claim_under_a_limit_of_a_queue_that_goes_on_behind_it(desk: Desk, connect: Connect) -> None:
    """What a look at the queue's beginning shows of a group is less than it has."""
    handles = desk.send(40, 0)
    for number in range(1, 31):
        desk.connection.execute(
            "SELECT ssb.send_batch(%s::uuid[], array_fill('trade'::text, ARRAY[40]),"
            " array_fill(%s::text::bytea, ARRAY[40]))",
            (handles, number),
        )
    held = claim(connect(), "dbo.target", max_messages=300)
    assert held is not None and (held.conversations, held.messages) == (10, 300)
    assert desk.value("SELECT count(*) FROM ssb_internal.claimed_message") == 300


@pytest.mark.parametrize("is_long", [False, True], ids=["groups", "long conversations"])
@pytest.mark.parametrize("seed", rest_is_long(range(4), 0))
def test_claims_are_what_a_plain_model_says(desk: Desk, connect: Connect, seed: int, is_long: bool) -> None:
    """Random groups, sizes and limits: the oldest free groups, whole, up to the first that is too large.

    Of long conversations in groups of their own only the first and the last message are looked at twice.
    """
    chance = random.Random(seed)
    count = chance.randint(2, 4) if is_long else chance.randint(6, 12)
    handles = desk.send(count, 0)
    queue: list[tuple[int, int]] = []
    for _ in range(80):
        number, size = chance.randrange(count), chance.choice((0, 1, 10, 100))
        desk.connection.execute("SELECT ssb.send(%s, 'trade', %s)", (handles[number], b"x" * size))
        queue.append((number, size))
    # The target's groups: some conversations share one.
    group = [
        chance.randrange(count) if chance.random() < 0.5 and not is_long else number
        for number in range(count)
    ]
    targets = dict(
        desk.connection.execute(
            "SELECT i.conversation_handle::text, t.conversation_handle FROM sys.conversation_endpoints AS i"
            "  JOIN sys.conversation_endpoints AS t USING (conversation_id) WHERE i.is_initiator = 1"
            "   AND t.is_initiator = 0"
        ).fetchall()
    )
    sent = {number for number, _ in queue}
    for number in sorted(sent):
        if group[number] != number and group[number] in sent:
            desk.connection.execute(
                "SELECT ssb.move_conversation(%s, conversation_group_id) FROM sys.conversation_endpoints"
                " WHERE conversation_handle = %s",
                (targets[handles[number]], targets[handles[group[number]]]),
            )
    group_of = {
        number: desk.value(
            "SELECT conversation_group_id FROM sys.conversation_endpoints WHERE conversation_handle = %s",
            targets[handles[number]],
        )
        for number in sent
    }
    reader = connect(autocommit=False)
    taken = reader.execute("SELECT conversation_group_id FROM ssb.receive('dbo.target', 1)").fetchone()
    assert taken is not None
    busy = {taken[0]}
    claimed = 0
    for _ in range(30):
        limits = (chance.randint(1, 60), chance.choice((None, 50, 500)))
        wanted = _model([(group_of[number], size) for number, size in queue], busy, *limits)
        held = claim(connect(), "dbo.target", max_messages=limits[0], max_bytes=limits[1])
        if held is None:
            assert wanted == []
            break
        got = desk.connection.execute(
            "SELECT conversation_group_id, octet_length(message_body) FROM ssb_internal.claimed_message"
            " WHERE claim_id = %s ORDER BY queuing_order",
            (held.claim_id,),
        ).fetchall()
        assert got == wanted
        assert (held.messages, held.bytes) == (len(got), sum(size for _, size in got))
        claimed += held.messages
        busy |= {one for one, _ in got}
    assert claimed > 0


@pytest.mark.parametrize("is_to_the_end", [False, True])
def test_what_was_seen_counts_while_the_first_and_the_last_message_are_the_same(
    desk: Desk, is_to_the_end: bool
) -> None:
    """Between look and lock readers take messages and senders bring more: these groups are counted anew."""
    desk.send(5, 20)
    rows = desk.connection.execute(
        "SELECT endpoint_id, min(queuing_order), max(queuing_order) FROM ssb.message_stored"
        " GROUP BY endpoint_id ORDER BY 2"
    ).fetchall()
    leaders, firsts, lasts = ([row[column] for row in rows] for column in range(3))
    # A reader has taken some of the second and the third, all of the fourth; the fifth has got one more.
    for number, taken in ((1, 1), (2, 19), (3, 20)):
        desk.connection.execute(
            "DELETE FROM ssb.message_stored WHERE endpoint_id = %s AND queuing_order < %s",
            (leaders[number], firsts[number] + taken),
        )
    handle = desk.value(
        "SELECT i.conversation_handle FROM ssb.conversation_endpoint AS i WHERE i.far_endpoint_id = %s",
        leaders[4],
    )
    desk.connection.execute("SELECT ssb.send(%s, 'trade', '21'::text)", (handle,))
    # What the look says is told from what is there: 1,000 messages of 7 bytes in all.
    got = desk.connection.execute(
        "SELECT place, last_order - (%s::bigint[])[place], messages, bytes, largest"
        " FROM ssb_internal.count_groups(%s, NULL, %s, true, %s, %s, array_fill(1000::bigint, '{5}'),"
        " array_fill(7::bigint, '{5}'), array_fill(5::bigint, '{5}'), false) ORDER BY place",
        (lasts, leaders, is_to_the_end, firsts, lasts),
    ).fetchall()
    seen = (0, 1000, 7, 5)
    assert got == [
        (1, *seen),
        (2, 0, 19, 30, 2),
        (3, 0, 1, 2, 2),
        (5, *seen) if is_to_the_end else (5, 1, 21, 33, 2),
    ]
    cut = desk.connection.execute(
        "SELECT messages FROM ssb_internal.count_groups(%s, 4, false, true, %s, %s, %s, %s, %s, false)",
        ([leaders[1]], [0], [0], [1], [1], [1]),
    ).fetchall()
    assert cut == [(5,)]


def test_a_look_counts_while_nothing_was_committed_since(desk: Desk) -> None:
    """Else the groups are counted again, of which a reader may have taken something."""
    desk.send(3, 4)
    rows = desk.connection.execute(
        "SELECT endpoint_id, min(queuing_order), max(queuing_order) FROM ssb.message_stored"
        " GROUP BY endpoint_id ORDER BY 1"
    ).fetchall()
    arrays = [[row[column] for row in rows] for column in range(3)]
    # What the look says is told from what is there: 1,000 messages of 7 bytes in each.
    take = (
        "SELECT g.messages, g.bytes, g.conversations FROM ssb_internal.claim_groups(99, %s, NULL, NULL, 0, 2,"
        " true, true, %s, %s, array_fill(1000::bigint, '{3}'), array_fill(7::bigint, '{3}'),"
        " array_fill(5::bigint, '{3}'), {}) AS g"
    )
    unchanged = take.replace("{}", "pg_current_snapshot()::text")
    before = desk.value("SELECT pg_current_snapshot()::text")
    with desk.connection.transaction(force_rollback=True):
        assert desk.connection.execute(unchanged, arrays).fetchall() == [(3000, 21, 3)]
    desk.connection.execute(
        "DELETE FROM ssb.message_stored WHERE endpoint_id = %s AND queuing_order = %s",
        (arrays[0][1], arrays[1][1]),
    )
    with desk.connection.transaction(force_rollback=True):
        changed = take.replace("{}", "%s")
        assert desk.connection.execute(changed, (*arrays, before)).fetchall() == [(11, 11, 3)]


def test_a_claim_leaves_the_number_of_helpers_as_it_was(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    session = connect()
    with session.transaction():
        session.execute("SET LOCAL max_parallel_workers_per_gather = 5")
        session.execute("SELECT FROM ssb_internal.claim_messages('dbo.target')")
        assert session.execute("SHOW max_parallel_workers_per_gather").fetchall() == [("5",)]


@pytest.mark.parametrize("limit", [None, 12000])
def test_partitions_are_ranges_where_the_claim_has_most_messages(
    desk: Desk, connect: Connect, limit: int | None
) -> None:
    """Also of a claim that was made in several steps. A reader walks over its own range alone."""
    desk.send(40, 500)
    first = claim(connect(), "dbo.target", max_messages=limit, partitions=4)
    assert first is not None and first.ranges == ()  # nobody knows yet how many others there are
    abandon(first)
    desk.connection.execute("VACUUM ANALYZE ssb.message_0, ssb.message_1")
    held = claim(connect(), "dbo.target", max_messages=limit, partitions=4)
    assert held is not None and held.messages == (limit or 20000)
    ranges = [one for one in held.ranges if one is not None]
    assert len(ranges) == 4
    assert all(last < behind for (_, last), (behind, _) in itertools.pairwise(ranges))
    shares = desk.connection.execute(
        "SELECT claim_partition, count(*), min(endpoint_id), max(endpoint_id)"
        " FROM ssb_internal.claimed_in_range WHERE claim_id = %s GROUP BY 1 ORDER BY 1",
        (held.claim_id,),
    ).fetchall()
    assert [row[2:] for row in shares] == ranges
    assert sum(row[1] for row in shares) == held.messages
    assert max(row[1] for row in shares) <= held.messages // 4 + 500
    # Each is read by one walk, and not conversation by conversation, nor are all compared with all.
    plan = desk.connection.execute(
        "EXPLAIN SELECT queuing_order FROM ssb_internal.claimed_in_range WHERE claim_id = %s"
        " AND claim_partition = 1 AND endpoint_id BETWEEN %s AND %s",
        (held.claim_id, *ranges[1]),
    ).fetchall()
    assert any("Hash Cond: ((m" in row[0] and ".endpoint_id + 0) = " in row[0] for row in plan), plan
    if limit:
        rest = claim(connect(), "dbo.target", partitions=4)
        # Less than half of all: its readers may look its conversations up.
        assert rest is not None and rest.ranges == ()


def _model(
    queue: list[tuple[object, int]], busy: set[object], max_messages: int, max_bytes: int | None
) -> list[tuple[object, int]]:
    """The messages that a claim takes, in the queue's order."""
    chosen: set[object] = set()
    messages = size = 0
    for group in dict.fromkeys(one for one, _ in queue):
        if group in busy:
            continue
        own = [length for one, length in queue if one == group]
        if messages + len(own) > max_messages or (max_bytes is not None and size + sum(own) > max_bytes):
            break
        chosen.add(group)
        messages += len(own)
        size += sum(own)
    if chosen:
        return [one for one in queue if one[0] in chosen]
    first = next((one for one, _ in queue if one not in busy), None)
    cut: list[tuple[object, int]] = []
    for one in queue:
        if one[0] == first and first is not None:
            size += one[1]
            if cut and (len(cut) == max_messages or (max_bytes is not None and size > max_bytes)):
                break
            cut.append(one)
    return cut


def test_two_claims_never_share_a_message(desk: Desk, connect: Connect) -> None:
    desk.send(6, 5)
    first, second = claim(connect(), "dbo.target", max_messages=15), claim(connect(), "dbo.target")
    assert first is not None and second is not None
    assert (first.messages, second.messages) == (15, 15)
    assert (
        desk.value(
            "SELECT count(DISTINCT (conversation_handle, queuing_order)) FROM ssb_internal.claimed_message"
        )
        == 30
    )


def test_another_role_needs_receive_and_sees_only_its_claims(desk: Desk, connect: Connect) -> None:
    desk.send(2, 2)
    desk.connection.execute("DROP ROLE IF EXISTS bulk_reader")
    desk.connection.execute("CREATE ROLE bulk_reader")
    try:
        reader = connect()
        reader.execute("SET ROLE bulk_reader")
        with pytest.raises(BulkError, match="RECEIVE permission was denied"):
            claim(reader, "dbo.target")
        desk.connection.execute(_PERMISSION.format("grant"))
        mine = claim(desk.connection, "dbo.target", max_messages=2)
        theirs = claim(reader, "dbo.target")
        assert mine is not None and theirs is not None
        seen = reader.execute("SELECT DISTINCT claim_id FROM ssb_internal.claimed_message").fetchall()
        assert seen == [(theirs.claim_id,)]
        with pytest.raises(psycopg.errors.ObjectInUse):
            reader.execute("SELECT ssb_internal.complete_claim(%s)", (mine.claim_id,))
        reader.execute("RESET ROLE")
    finally:
        desk.connection.execute(_PERMISSION.format("revoke"))
        desk.connection.execute("DROP OWNED BY bulk_reader")
        desk.connection.execute("DROP ROLE bulk_reader")


def test_a_disabled_queue_and_an_unknown_one_are_refused(desk: Desk, connect: Connect) -> None:
    with pytest.raises(BulkError, match=r"dbo\.nowhere"):
        claim(connect(), "dbo.nowhere")
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', status => false)")
    with pytest.raises(BulkError, match="currently disabled"):
        claim(connect(), "dbo.target")


@pytest.mark.one_postgres
def test_a_queue_that_is_dropped_takes_its_claim_with_it(desk: Desk, connect: Connect) -> None:
    desk.send(1, 2)
    held = claim(connect(), "dbo.target")
    assert held is not None
    desk.connection.execute("SELECT ssb.drop_service('target')")
    desk.connection.execute("SELECT ssb.drop_queue('dbo.target')")
    with pytest.raises(ClaimLost, match="has ended") as lost:
        complete(held, Outputs(unread="complete"), desk.database.dsn)
    assert lost.value.hint == "Its messages went with it."


def test_nothing_to_claim_is_none(desk: Desk, connect: Connect) -> None:
    assert claim(connect(), "dbo.target") is None
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


def _complete_with_a_failure(
    owner: Connection, failures: str, handle: str = "conversation_handle"
) -> tuple[object, ...] | None:
    """Claim all there is and complete it, saying that the first message '3' failed."""
    held = claim(owner, "dbo.target")
    assert held is not None
    staging = owner.execute("SELECT ssb_internal.create_staging(%s, 'errors')", (held.claim_id,)).fetchone()
    assert staging is not None
    owner.execute(
        f"INSERT INTO {staging[0]} SELECT {handle}, queuing_order, 'bad', 1"
        " FROM ssb_internal.claimed_message WHERE message_body = '3' ORDER BY queuing_order LIMIT 1"
    )
    outputs = json.dumps([{"kind": "errors", "staging": staging[0], "attempts": [1], "rows": 1}])
    return owner.execute(
        "SELECT deleted, failed FROM ssb_internal.complete_claim(%s, %s, %s)",
        (held.claim_id, outputs, failures),
    ).fetchone()


def test_a_failed_conversation_goes_back_from_the_failed_message_on(desk: Desk, connect: Connect) -> None:
    desk.send(2, 4)
    assert _complete_with_a_failure(connect(), "requeue") == (6, 1)
    left = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM dbo.target ORDER BY queuing_order"
    ).fetchall()
    assert left == [("3",), ("4",)]


def test_an_error_of_a_conversation_that_is_not_claimed_is_refused(desk: Desk, connect: Connect) -> None:
    """The message that it means would be deleted as processed."""
    desk.send(1, 4)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="which is not of claim"):
        _complete_with_a_failure(connect(), "quarantine", "gen_random_uuid()")
    assert desk.waiting() == 4


@pytest.mark.parametrize("kind", ["replies", "ends"])
def test_other_conversations_are_answered_with_the_rights_of_the_job(
    desk: Desk, connect: Connect, kind: str
) -> None:
    """As SEND and END CONVERSATION of a T-SQL reader, who may name what he may receive from."""
    for statement in (
        "SELECT ssb.create_queue('dbo.second')",
        "SELECT ssb.create_service('second', queue => 'dbo.second', contracts => '{trades}')",
        "DROP ROLE IF EXISTS bulk_reader",
        "CREATE ROLE bulk_reader",
        _PERMISSION.format("grant"),
        "SELECT ssb.begin_dialog('source', 'second', 'trades') FROM generate_series(1, 5)",
        "SELECT ssb.send_batch(array_agg(conversation_handle), array_agg('trade'::text),"
        "                      array_agg(NULL::bytea))"
        "  FROM sys.conversation_endpoints WHERE far_service = 'second'",
    ):
        desk.connection.execute(statement.encode())
    desk.send(1, 1)
    owner = connect()
    owner.execute("SET ROLE bulk_reader")
    held = claim(owner, "dbo.target")
    assert held is not None
    made = owner.execute("SELECT ssb_internal.create_staging(%s, %s)", (held.claim_id, kind)).fetchone()
    assert made is not None
    others = desk.connection.execute("SELECT conversation_handle::text FROM dbo.second").fetchall()
    columns = {"replies": "'trade', NULL, 1, 1", "ends": "NULL, NULL, 1"}[kind]
    for (handle,) in others:
        owner.execute(f"INSERT INTO {made[0]} VALUES (%s, {columns})", (handle,))
    outputs = json.dumps([{"kind": kind, "staging": made[0], "attempts": [1], "rows": len(others)}])
    completes = "SELECT replied + ended FROM ssb_internal.complete_claim(%s, %s)"
    with pytest.raises(psycopg.Error, match="RECEIVE permission was denied on the object 'second'"):
        owner.execute(completes, (held.claim_id, outputs))
    desk.connection.execute(_PERMISSION.format("grant").replace("target", "second").encode())
    done = owner.execute(completes, (held.claim_id, outputs)).fetchone()
    assert done == (len(others),) == (5,)
    owner.close()
    desk.connection.execute("DROP OWNED BY bulk_reader")
    desk.connection.execute("DROP ROLE bulk_reader")


def test_a_claim_that_is_completed_ends_a_row_of_rollbacks(desk: Desk, connect: Connect) -> None:
    desk.send(6, 1)
    owner = connect()
    for _ in range(3):
        for _ in range(2):
            with owner.transaction(force_rollback=True):
                owner.execute("SELECT FROM ssb.receive('dbo.target')")
        with owner.transaction():
            # As a job that wants to know of a failure before it commits.
            owner.execute("SET CONSTRAINTS ALL IMMEDIATE")
            held = claim(owner, "dbo.target", max_messages=1)
            assert held is not None
            owner.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    assert desk.waiting() == 3 and claim(owner, "dbo.target") is not None


def test_a_failed_conversation_can_be_dropped(desk: Desk, connect: Connect) -> None:
    desk.send(2, 4)
    assert _complete_with_a_failure(connect(), "drop") == (8, 1)
    assert desk.waiting() == 0


def test_a_failed_conversation_can_be_set_aside_until_somebody_decides(desk: Desk, connect: Connect) -> None:
    desk.send(2, 4)
    assert _complete_with_a_failure(connect(), "quarantine") == (6, 1)
    shown = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8'), is_poison, error FROM ssb.quarantine"
    ).fetchall()
    assert shown == [("3", True, "bad"), ("4", False, "bad")]
    assert claim(connect(), "dbo.target") is None
    assert desk.connection.execute("SELECT FROM ssb.receive('dbo.target')").fetchall() == []
    desk.connection.execute(
        "SELECT ssb.drop_quarantined(conversation_group_id) FROM ssb.quarantine WHERE is_poison = 1"
    )
    left = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.target')"
    ).fetchall()
    assert left == [("4",)]


@pytest.mark.parametrize(
    ("refused", "rows", "told"),
    [
        (None, [(3, "third"), (None, "all of it")], ("1", "all of it")),
        (4, [(2, "second"), (3, "third")], ("2", "second")),
        (2, [(3, "third")], ("2", "refused")),
    ],
)
def test_the_error_of_a_conversation_is_that_of_its_first_message_that_failed(
    desk: Desk,
    connect: Connect,
    refused: int | None,
    rows: list[tuple[int | None, str]],
    told: tuple[str, str],
) -> None:
    desk.send(1, 4)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    rows_there = owner.execute("SELECT queuing_order, conversation_handle::text FROM dbo.target ORDER BY 1")
    orders, (handle, *_) = zip(*rows_there.fetchall(), strict=True)
    if refused is not None:
        owner.execute(
            "SELECT ssb_internal.fail_conversations(%s, %s, %s, %s)",
            (held.claim_id, [handle], [orders[refused - 1]], ["refused"]),
        )
    staging = owner.execute("SELECT ssb_internal.create_staging(%s, 'errors')", (held.claim_id,)).fetchone()
    assert staging is not None
    for place, error in rows:
        order = None if place is None else orders[place - 1]
        owner.execute(f"INSERT INTO {staging[0]} VALUES (%s, %s, %s, 1)", (handle, order, error))
    outputs = [{"kind": "errors", "staging": staging[0], "attempts": [1], "rows": len(rows)}]
    owner.execute(
        "SELECT FROM ssb_internal.complete_claim(%s, %s, 'quarantine')", (held.claim_id, json.dumps(outputs))
    )
    shown = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8'), error FROM ssb.quarantine WHERE is_poison = 1"
    ).fetchone()
    assert shown == told


def test_rows_of_attempts_that_were_not_reported_do_not_count(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    row = owner.execute("SELECT ssb_internal.create_staging(%s, 'replies')", (held.claim_id,)).fetchone()
    assert row is not None
    for attempt in (7, 8):
        owner.execute(
            f"INSERT INTO {row[0]} SELECT conversation_handle, 'note', 'done', 0, %s"
            " FROM ssb_internal.claimed_message",
            (attempt,),
        )
    lost = json.dumps([{"kind": "replies", "staging": row[0], "attempts": [8], "rows": 2}])
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="wrote 2 rows"):
        owner.execute("SELECT ssb_internal.complete_claim(%s, %s)", (held.claim_id, lost))
    good = json.dumps([{"kind": "replies", "staging": row[0], "attempts": [8], "rows": 1}])
    owner.execute("SELECT ssb_internal.complete_claim(%s, %s)", (held.claim_id, good))
    assert desk.replies() == [("note", "done")]


@pytest.mark.parametrize("state", [0, 1])
def test_what_a_job_ends_counts_as_processed_and_takes_later_messages_with_it(
    desk: Desk, connect: Connect, state: int
) -> None:
    desk.connection.execute("SELECT setval('ssb.rotation_state', %s)", (state,))
    handles = desk.send(6, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    desk.connection.execute("SELECT ssb.send(%s, 'trade', 'late'::text)", (handles[0],))
    row = owner.execute("SELECT ssb_internal.create_staging(%s, 'ends')", (held.claim_id,)).fetchone()
    assert row is not None
    owner.execute(
        f"INSERT INTO {row[0]} SELECT DISTINCT conversation_handle, NULL::int, NULL, 1"
        "  FROM ssb_internal.claimed_message"
    )
    outputs = json.dumps([{"kind": "ends", "staging": row[0], "attempts": [1], "rows": 6}])
    done = owner.execute(
        "SELECT deleted, ended FROM ssb_internal.complete_claim(%s, %s)", (held.claim_id, outputs)
    ).fetchone()
    assert done == (18, 6)
    assert desk.waiting() == 0
    assert desk.value("SELECT count(*) FROM ssb.message_stored WHERE validation <> 'E'") == 0
    assert len(desk.replies()) == 6


def test_only_staging_tables_of_the_claim_and_kind_are_read(desk: Desk, connect: Connect) -> None:
    """A table of the caller's own columns would bring casts that run with the owner's rights."""
    desk.connection.execute("DROP ROLE IF EXISTS bulk_reader")
    desk.connection.execute("CREATE ROLE bulk_reader")
    try:
        desk.connection.execute(_PERMISSION.format("grant"))
        desk.connection.execute("GRANT INSERT ON dbo.total TO bulk_reader")
        desk.connection.execute("GRANT USAGE ON SCHEMA dbo TO bulk_reader")
        desk.send(2, 1)
        owner = connect()
        owner.execute("SET ROLE bulk_reader")
        # What was once a name of the runtime's own.
        owner.execute("CREATE TEMP TABLE bulk_failure (endpoint_id bigint, from_order bigint, error text)")
        held = claim(owner, "dbo.target", max_messages=1)
        assert held is not None
        made = owner.execute(
            "SELECT ssb_internal.create_staging(%s, 'table', 'dbo.total'),"
            " ssb_internal.create_staging(%s, 'replies')",
            (held.claim_id, held.claim_id),
        ).fetchone()
        assert made is not None
        mine = f"ssb_staging_claim_{held.claim_id}_5_errors"
        owner.execute(f"CREATE TEMP TABLE {mine} (conversation_handle text, attempt_id bigint)")
        owner.execute("SET standard_conforming_strings = off")
        for name in (*made, mine, f"pg_temp.{mine}", f"ssb_staging.claim_{held.claim_id}_5_errors"):
            outputs = json.dumps([{"kind": "errors", "staging": name, "attempts": [1], "rows": 0}])
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="is no staging table for errors"):
                owner.execute("SELECT ssb_internal.complete_claim(%s, %s)", (held.claim_id, outputs))
        done = owner.execute(
            "SELECT deleted FROM ssb_internal.complete_claim(%s)", (held.claim_id,)
        ).fetchone()
        assert done == (1,)
        owner.execute("RESET ROLE")
    finally:
        desk.connection.execute(_PERMISSION.format("revoke"))
        desk.connection.execute("DROP OWNED BY bulk_reader")
        desk.connection.execute("DROP ROLE bulk_reader")


def test_a_strangers_lock_keeps_no_dead_claim_alive(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    owner, stranger = connect(), connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    owner.close()
    # Granted when the claim's session is gone.
    stranger.execute("SELECT pg_advisory_lock(1397965376, %s)", (held.claim_id,))
    again = claim(connect(), "dbo.target")
    assert again is not None and again.messages == 3


def test_an_output_of_an_unknown_kind_is_refused(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="errors, replies and ends"):
        owner.execute(
            "SELECT ssb_internal.complete_claim(%s, %s)",
            (held.claim_id, '[{"kind": "table", "staging": "x"}]'),
        )


def test_retention_keeps_what_a_bulk_job_received(desk: Desk, connect: Connect) -> None:
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', retention => true)")
    desk.send(1, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    assert complete(held, Outputs(unread="complete"), desk.database.dsn).deleted == 3
    assert desk.connection.execute(
        "SELECT DISTINCT status, count(*) FROM dbo.target GROUP BY 1"
    ).fetchall() == [(0, 3)]


def test_a_reader_of_a_dead_claims_group_holds_up_nobody_who_forgets_it(desk: Desk, connect: Connect) -> None:
    desk.send(3, 2)
    owner, reader = connect(), connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (owner.info.backend_pid,))
    reader.execute("BEGIN")
    assert len(reader.execute("SELECT FROM ssb.receive('dbo.target')").fetchall()) == 2
    desk.connection.execute("SET lock_timeout = '2s'")
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    groups = "SELECT count(*) FROM ssb.conversation_endpoint WHERE claim_id IS NOT NULL"
    assert desk.value(groups) == 1
    again = claim(desk.connection, "dbo.target")
    assert again is not None and again.messages == 4
    abandon(again)
    reader.execute("ROLLBACK")
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    assert desk.value(groups) == 0
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0


def test_a_task_that_forgets_old_sends_holds_up_no_other(desk: Desk, connect: Connect) -> None:
    note = "SELECT ssb_internal.note_send(gen_random_uuid(), 0)"
    desk.connection.execute(note)
    desk.connection.execute("UPDATE ssb.completed_send SET completed_at = now() - interval '8 days'")
    first, second = connect(), connect()
    first.execute("BEGIN")
    first.execute(note)
    second.execute("SET lock_timeout = '2s'")
    assert second.execute(note).fetchone() == (True,)
    first.execute("COMMIT")
    assert desk.value("SELECT count(*) FROM ssb.completed_send") == 2
