"""A claim of nearly all messages that there are is completed by TRUNCATE, what else there is stays."""

import random
from collections.abc import Callable

import psycopg
import pytest
from bulk_desk import Desk

from pgsb.bulk import Outputs, claim
from pgsb.bulk.claim import Claim
from pgsb.bulk.complete import complete
from support import Connection

Connect = Callable[..., Connection]
_FILE = "SELECT pg_relation_filenode('ssb.message_0')"
_PERMISSION = "SELECT ssb.{}_permission('{{RECEIVE}}', 'OBJECT', 'dbo.target', '{{{}}}')"
_LOCKED = (
    "SELECT count(*) FROM pg_locks"
    " WHERE mode = 'AccessExclusiveLock' AND relation = 'ssb.message_0'::regclass"
)
_ROWS = (
    "SELECT endpoint_id, queuing_order, message_sequence_number, enqueued_at, queue_id, message_type_id,"
    " priority, validation, body FROM ssb.message_stored ORDER BY queue_id, queuing_order"
)


@pytest.fixture
def eager(desk: Desk) -> Desk:
    """A desk where claims of any size are worth it."""
    desk.connection.execute(
        "CREATE OR REPLACE FUNCTION"
        " ssb_internal.may_truncate_claimed(p_messages bigint, p_conversations bigint) RETURNS boolean"
        " LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN true; END'"
    )
    return desk


def _claim(desk: Desk, connect: Connect, most: int | None = None) -> Claim:
    held = claim(connect(), "dbo.target", max_messages=most)
    assert held is not None
    return held


def _is_truncated(desk: Desk, held: Claim, *, end_all: bool = False) -> bool:
    """Completes the claim. All of its messages are gone then, and nothing else has changed."""
    claimed = desk.connection.execute(
        "SELECT e.endpoint_id, c.queuing_order FROM ssb_internal.claimed_message AS c"
        " JOIN ssb.conversation_endpoint AS e USING (conversation_handle) WHERE c.claim_id = %s",
        (held.claim_id,),
    ).fetchall()
    before = desk.connection.execute(_ROWS).fetchall()
    file = desk.value(_FILE)
    done = complete(held, Outputs(end_all=end_all, unread="complete"), desk.database.dsn)
    assert done.deleted == held.messages == len(claimed)
    gone = set(claimed)
    expected = [row for row in before if row[:2] not in gone]
    after = desk.connection.execute(_ROWS).fetchall()
    if end_all:
        after = [row for row in after if row[5] != 2]
    assert after == expected
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0
    return bool(desk.value(_FILE) != file)


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_before_between_and_behind_the_claimed_stays(
    eager: Desk, connect: Connect, seed: int
) -> None:
    """Messages of other conversations and queues, and those that came since on claimed ones."""
    chance = random.Random(seed)
    count = chance.randint(10, 40)
    handles = eager.send(count, 0)
    others = {0, chance.randrange(1, count - 1), count - 1}
    send = (
        "SELECT ssb.send_batch(array_fill(%s::uuid, ARRAY[n]), array_fill('trade'::text, ARRAY[n]),"
        " array_fill(%s::bytea, ARRAY[n])) FROM (VALUES (%s::integer)) AS v (n)"
    )
    for number, handle in enumerate(handles):
        if number not in others:
            eager.connection.execute(send, (handle, b"claimed", chance.randint(20, 40)))
    held = _claim(eager, connect)
    later = [handles[number] for number in {*others, *chance.sample(range(count), 3)}]
    for handle in later:
        # One does not fit into a page.
        eager.connection.execute(send, (handle, chance.randbytes(chance.choice((0, 10, 20_000))), 2))
    # Another queue's.
    far = eager.connection.execute("SELECT DISTINCT conversation_handle FROM dbo.target").fetchall()
    for handle in chance.sample(far, 3):
        eager.connection.execute("SELECT ssb.send(%s, 'note', 'for the source')", handle)
    assert _is_truncated(eager, held)
    # To be received as ever, in order.
    received = []
    while rows := connect().execute("SELECT queuing_order FROM ssb.receive('dbo.target')").fetchall():
        assert rows == sorted(rows)
        received += rows
    assert len(received) == 2 * len(later)
    assert len(eager.replies()) == 3


def test_replies_and_ends_go_before_it(eager: Desk, connect: Connect) -> None:
    eager.send(5, 40)
    assert _is_truncated(eager, _claim(eager, connect), end_all=True)
    types = [row[0] for row in eager.replies()]
    assert len(types) == 5 and len(set(types)) == 1
    states = eager.connection.execute(
        "SELECT DISTINCT state FROM sys.conversation_endpoints WHERE is_initiator = 0"
    ).fetchall()
    assert states == [("CD",)]


def test_of_conversations_that_are_special_each_message_is_deleted(eager: Desk, connect: Connect) -> None:
    """Their ends wait for others, which nobody may do who has the table for himself."""
    eager.send(5, 40)
    eager.connection.execute(
        "UPDATE ssb.conversation_endpoint SET lifetime = now() + interval '1 hour' WHERE NOT is_initiator"
    )
    assert not _is_truncated(eager, _claim(eager, connect), end_all=True)


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_where_somebody_has_the_table_each_message_is_deleted(
    eager: Desk, connect: Connect, isolation: str
) -> None:
    eager.send(5, 40)
    held = _claim(eager, connect)
    report = connect(autocommit=False)
    report.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
    report.execute("SELECT count(*) FROM dbo.target")
    assert not _is_truncated(eager, held)
    expected = 200 if isolation == "repeatable read" else 0
    assert report.execute("SELECT count(*) FROM dbo.target").fetchall() == [(expected,)]


def test_where_there_is_more_than_the_claim_nobody_is_kept_out(eager: Desk, connect: Connect) -> None:
    eager.send(10, 40)
    held = _claim(eager, connect, 200)
    file = eager.value(_FILE)
    with held.connection.transaction():
        held.connection.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
        eager.send(1, 1)
    assert eager.value(_FILE) == file and eager.waiting() == 201


def test_while_messages_go_from_one_table_to_the_other_each_is_deleted(eager: Desk, connect: Connect) -> None:
    eager.send(5, 40)
    held = _claim(eager, connect)
    eager.connection.execute("SELECT setval('ssb.rotation_state', 11)")
    assert not _is_truncated(eager, held)


def test_the_batch_of_a_stream_is_deleted_message_by_message(eager: Desk, connect: Connect) -> None:
    """Conversations are ended behind it."""
    eager.send(5, 40)
    held = claim(connect(), "dbo.target", stream="nightly")
    assert held is not None and not _is_truncated(eager, held)


def test_what_is_rolled_back_is_there_again(eager: Desk, connect: Connect) -> None:
    eager.send(5, 40)
    held = _claim(eager, connect)
    before = eager.connection.execute(_ROWS).fetchall()
    complete_it = "SELECT deleted FROM ssb_internal.complete_claim(%s)"
    with held.connection.transaction(force_rollback=True):
        assert held.connection.execute(complete_it, (held.claim_id,)).fetchall() == [(200,)]
        # Beside it nobody sends: who does not come back is not waited for.
        timeout = held.connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()
        assert timeout == ("5s",)
    assert eager.connection.execute(_ROWS).fetchall() == before
    assert _is_truncated(eager, held)
    assert held.connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() != ("5s",)


@pytest.fixture
def full(desk: Desk) -> Desk:
    """A desk with a claim's worth of messages, and none of others."""
    desk.send(50, 2000)
    return desk


def test_a_large_claim_of_the_runtimes_owner_alone_is_truncated(full: Desk, connect: Connect) -> None:
    """Anybody else could keep the lock, and with it all others, as long as he likes."""
    role = f"bulk_reader_{full.database.name}"
    full.connection.execute(f"CREATE ROLE {role}")
    try:
        full.connection.execute(_PERMISSION.format("grant", role))
        reader = connect()
        reader.execute(f"SET ROLE {role}")
        file = full.value(_FILE)
        with reader.transaction(force_rollback=True):
            theirs = reader.execute(
                "SELECT claim_id FROM ssb_internal.claim_messages('dbo.target')"
            ).fetchone()
            assert theirs is not None
            done = reader.execute("SELECT deleted FROM ssb_internal.complete_claim(%s)", theirs).fetchall()
            assert done == [(100_000,)]
            assert full.value(_LOCKED) == 0
        reader.execute("SELECT pg_advisory_unlock_all()")
        assert _is_truncated(full, _claim(full, connect))
        assert full.value(_FILE) != file
    finally:
        full.connection.execute(_PERMISSION.format("revoke", role))
        full.connection.execute(f"DROP OWNED BY {role}")
        full.connection.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize(
    ("messages", "conversations", "isolation", "may"),
    [
        (100_000, 100, "read committed", True),
        (99_999, 100, "read committed", False),
        (100_000, 10_000, "read committed", False),
        (100_000, 100, "repeatable read", False),
    ],
)
def test_when_it_is_worth_while(
    desk: Desk, messages: int, conversations: int, isolation: str, may: bool
) -> None:
    with desk.connection.transaction():
        desk.connection.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
        asked = desk.value("SELECT ssb_internal.may_truncate_claimed(%s, %s)", messages, conversations)
    assert asked is may


def test_it_is_not_tried_where_most_is_known_to_be_others(desk: Desk) -> None:
    desk.send(1, 300)
    desk.connection.execute("VACUUM ANALYZE ssb.message_0")
    grown = "UPDATE pg_class SET reltuples = 1000000 WHERE oid = 'ssb.message_0'::regclass"
    asked = "SELECT ssb_internal.may_truncate_claimed(100000, 100)"
    assert desk.value(asked) is True
    with desk.connection.transaction(force_rollback=True):
        desk.connection.execute(grown)
        assert desk.value(asked) is False
    with pytest.raises(psycopg.errors.InsufficientPrivilege), desk.connection.transaction():
        desk.connection.execute("SET LOCAL ROLE pg_monitor")
        desk.connection.execute("SELECT ssb_internal.truncate_claimed(1, 100000, NULL)")


def test_replies_are_held_by_their_size_before_compression(eager: Desk, connect: Connect) -> None:
    """As an array they are decompressed: what takes a megabyte on disk would be more than memory has."""
    session = eager.connection
    eager.send(1, 1)
    row = _claim(eager, connect).connection.execute("SELECT ssb_internal.create_staging(1, 'replies')")
    ((staging,),) = row.fetchall()
    held = "SELECT ssb_internal.may_hold_replies(%s::regclass, %s)"
    assert eager.value(held, staging, 100_000) is True
    assert eager.value(held, None, 100_000) is True
    assert eager.value(held, None, 100_001) is False
    session.execute(
        f"INSERT INTO {staging} (conversation_handle, message_type_name, message_body, row_number,"
        "                        attempt_id)"
        " SELECT gen_random_uuid(), 'note', convert_to(repeat('x', 1 << 20), 'UTF8'), n, 7"
        "  FROM generate_series(1, 65) AS n".encode()
    )
    assert eager.value("SELECT pg_table_size(%s::regclass)", staging) < 2_000_000
    assert eager.value(held, staging, 65) is False


@pytest.mark.parametrize("fits", ["the table is free", "somebody has the table", "too much to hold"])
def test_replies_and_ends_are_there_in_order(eager: Desk, connect: Connect, fits: str) -> None:
    """Whether they are held until the table is empty, or were written to it before."""
    handles = eager.send(4, 80)
    held = _claim(eager, connect)
    if fits == "too much to hold":
        eager.connection.execute(
            "CREATE OR REPLACE FUNCTION ssb_internal.may_hold_replies(p_staging regclass, p_messages bigint)"
            " RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS 'SELECT false'"
        )
    report = connect(autocommit=False)
    if fits == "somebody has the table":
        report.execute("SELECT count(*) FROM dbo.target")
    session = held.connection
    row = session.execute("SELECT ssb_internal.create_staging(%s, 'replies')", (held.claim_id,)).fetchone()
    assert row is not None
    staging = str(row[0])
    session.execute(
        f"INSERT INTO {staging} (conversation_handle, message_type_name, message_body, row_number,"
        "                        attempt_id)"
        " SELECT f.conversation_handle, 'note', convert_to(n::text, 'UTF8'), n, 7"
        "  FROM ssb.conversation_endpoint AS f CROSS JOIN generate_series(1, 3) AS n"
        " WHERE NOT f.is_initiator".encode()
    )
    outputs = f'[{{"kind": "replies", "staging": "{staging}", "attempts": [7], "rows": 12}}]'
    file = eager.value(_FILE)
    done = session.execute(
        "SELECT deleted, replied, ended FROM ssb_internal.complete_claim(%s, %s, end_all => true)",
        (held.claim_id, outputs),
    ).fetchone()
    assert done == (320, 12, 4)
    assert (eager.value(_FILE) != file) is (fits != "somebody has the table")
    report.rollback()
    for handle in handles:
        received = connect().execute(
            "SELECT message_sequence_number, message_type_name, convert_from(message_body, 'UTF8')"
            "  FROM ssb.receive('dbo.source', conversation => %s)",
            (handle,),
        )
        *replies, end = received.fetchall()
        assert replies == [(n - 1, "note", str(n)) for n in (1, 2, 3)]
        assert end[0] == 3 and str(end[1]).endswith("EndDialog")
    assert eager.value("SELECT count(*) FROM ssb.message_stored") == 0
