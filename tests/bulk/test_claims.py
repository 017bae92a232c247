"""Claims, without Spark: what they take, who passes them, how they end."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from bulk_desk import Desk

from pgsb.bulk import BulkError, ClaimLost, abandon, claim
from pgsb.bulk.complete import complete
from pgsb.bulk.program import Outputs
from support import Connection

Connect = Callable[..., Connection]
_PERMISSION = "SELECT ssb.{}_permission('{{RECEIVE}}', 'OBJECT', 'dbo.target', '{{bulk_reader}}')"


def test_a_claim_takes_whole_groups_within_its_limit(desk: Desk, connect: Connect) -> None:
    desk.send(5, 10)
    held = claim(connect(), "dbo.target", max_messages=35, partitions=3)
    assert held is not None
    assert (held.conversations, held.messages) == (3, 30)
    per_partition = desk.connection.execute(
        "SELECT claim_partition, count(DISTINCT conversation_handle), count(*)"
        "  FROM ssb.claimed_message GROUP BY 1"
    ).fetchall()
    assert sum(row[2] for row in per_partition) == 30
    assert sum(row[1] for row in per_partition) == 3


def test_a_group_larger_than_the_limit_is_cut_in_order(desk: Desk, connect: Connect) -> None:
    desk.send(1, 10)
    held = claim(connect(), "dbo.target", max_messages=4)
    assert held is not None and held.messages == 4
    bodies = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.claimed_message ORDER BY queuing_order"
    ).fetchall()
    assert bodies == [("1",), ("2",), ("3",), ("4",)]
    assert complete(held, Outputs(end_all=True), desk.database.dsn).deleted == 4
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
    assert desk.one("SELECT min(priority) FROM ssb.claimed_message") == 9


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
        complete(held, Outputs(), desk.database.dsn)


def test_what_was_lost_cannot_be_completed_by_another_session(desk: Desk, connect: Connect) -> None:
    desk.send(1, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    owner.close()
    thief = connect()
    with pytest.raises(psycopg.errors.ObjectInUse, match="there is no claim"):
        thief.execute("SELECT ssb.complete_claim(%s)", (held.claim_id,))
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
    connection.execute("SELECT ssb.complete_claim(%s)", (held.claim_id,))
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
    assert desk.one("SELECT count(*) FROM dbo.total") == (0 if waiting else 1)


def test_two_claims_never_share_a_message(desk: Desk, connect: Connect) -> None:
    desk.send(6, 5)
    first, second = claim(connect(), "dbo.target", max_messages=15), claim(connect(), "dbo.target")
    assert first is not None and second is not None
    assert (first.messages, second.messages) == (15, 15)
    assert (
        desk.one("SELECT count(DISTINCT (conversation_handle, queuing_order)) FROM ssb.claimed_message") == 30
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
        seen = reader.execute("SELECT DISTINCT claim_id FROM ssb.claimed_message").fetchall()
        assert seen == [(theirs.claim_id,)]
        with pytest.raises(psycopg.errors.ObjectInUse):
            reader.execute("SELECT ssb.complete_claim(%s)", (mine.claim_id,))
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


def test_nothing_to_claim_is_none(desk: Desk, connect: Connect) -> None:
    assert claim(connect(), "dbo.target") is None
    assert desk.one("SELECT count(*) FROM ssb.claim") == 0


def _complete_with_a_failure(owner: Connection, failures: str) -> tuple[object, ...] | None:
    """Claim all there is and complete it, saying that the first message '3' failed."""
    held = claim(owner, "dbo.target")
    assert held is not None
    staging = owner.execute("SELECT ssb.create_staging(%s, 'errors')", (held.claim_id,)).fetchone()
    assert staging is not None
    owner.execute(
        f"INSERT INTO {staging[0]} SELECT conversation_handle, queuing_order, 'bad', 1"
        " FROM ssb.claimed_message WHERE message_body = '3' ORDER BY queuing_order LIMIT 1"
    )
    outputs = json.dumps([{"kind": "errors", "staging": staging[0], "attempts": [1], "rows": 1}])
    return owner.execute(
        "SELECT deleted, failed FROM ssb.complete_claim(%s, %s, %s)", (held.claim_id, outputs, failures)
    ).fetchone()


def test_a_failed_conversation_goes_back_from_the_failed_message_on(desk: Desk, connect: Connect) -> None:
    desk.send(2, 4)
    assert _complete_with_a_failure(connect(), "requeue") == (6, 1)
    left = desk.connection.execute(
        "SELECT convert_from(message_body, 'UTF8') FROM dbo.target ORDER BY queuing_order"
    ).fetchall()
    assert left == [("3",), ("4",)]


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


def test_rows_of_attempts_that_were_not_reported_do_not_count(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    row = owner.execute("SELECT ssb.create_staging(%s, 'replies')", (held.claim_id,)).fetchone()
    assert row is not None
    for attempt in (7, 8):
        owner.execute(
            f"INSERT INTO {row[0]} SELECT conversation_handle, 'note', 'done', 0, %s"
            " FROM ssb.claimed_message",
            (attempt,),
        )
    lost = json.dumps([{"kind": "replies", "staging": row[0], "attempts": [8], "rows": 2}])
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="wrote 2 rows"):
        owner.execute("SELECT ssb.complete_claim(%s, %s)", (held.claim_id, lost))
    good = json.dumps([{"kind": "replies", "staging": row[0], "attempts": [8], "rows": 1}])
    owner.execute("SELECT ssb.complete_claim(%s, %s)", (held.claim_id, good))
    assert desk.replies() == [("note", "done")]


def test_retention_keeps_what_a_bulk_job_received(desk: Desk, connect: Connect) -> None:
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', retention => true)")
    desk.send(1, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    assert complete(held, Outputs(), desk.database.dsn).deleted == 3
    assert desk.connection.execute(
        "SELECT DISTINCT status, count(*) FROM dbo.target GROUP BY 1"
    ).fetchall() == [(0, 3)]
