"""What stands behind a claim is found at once, and what a claim sets free is found too."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from bulk_desk import Desk

from pgsb.bulk import abandon, claim
from support import Connection, end_counted, rest_is_long

Connect = Callable[..., Connection]


def _bodies(connection: Connection) -> list[int]:
    """One RECEIVE: the bodies that it returns."""
    rows = connection.execute(
        "SELECT convert_from(message_body, 'UTF8')::int FROM ssb.receive('dbo.target')"
    ).fetchall()
    return [int(row[0]) for row in rows]


def _front(desk: Desk) -> int | None:
    row = desk.connection.execute("SELECT last_order FROM ssb.claimed_front").fetchone()
    return None if row is None else int(row[0])


def _calls(session: Connection, desk: Desk, function: str) -> int:
    """How often a session, which this ends, has called a function. (14's collector hears of it later.)"""
    end_counted(session, desk.connection)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        counted = "SELECT coalesce(sum(calls), 0)::integer FROM pg_stat_user_functions WHERE funcname = %s"
        if calls := int(desk.value(counted, function)):
            return calls
        time.sleep(0.05)
    return 0


@pytest.mark.parametrize("priority", [False, True], ids=["fast path", "slow path"])
def test_what_claims_hold_is_passed_in_one_step(desk: Desk, connect: Connect, priority: bool) -> None:
    if priority:
        # Any priority takes the queue out of RECEIVE's fast path.
        desk.connection.execute(
            "SELECT ssb.create_broker_priority('p', contract => 'trades', priority_level => 9)"
        )
    desk.send(300, 2)
    held = claim(connect(), "dbo.target")
    assert held is not None and held.messages == 600
    desk.send(5, 2)
    reader = connect()
    reader.execute("SET track_functions = 'all'")
    for _ in range(5):
        assert _bodies(reader) == [1, 2]
    assert reader.execute("SELECT ssb.message_is_waiting('dbo.target')").fetchone() == (False,)
    # Once or twice a statement, and not once for each message that is set aside.
    assert 0 < _calls(reader, desk, "claim_is_alive") <= 20
    assert claim(connect(), "dbo.target") is None


@pytest.mark.parametrize("is_held", [False, True], ids=["claimed", "in a reader's hands"])
def test_a_claim_that_has_little_room_looks_no_message_by_message(
    desk: Desk, connect: Connect, is_held: bool
) -> None:
    """Full to the last message, or of one: behind that, or before, stand groups that others have."""
    handles = desk.send(40, 0)
    for number in range(40):
        desk.connection.execute(
            "SELECT ssb.send_batch(%s::uuid[], array_fill('trade'::text, ARRAY[40]),"
            " array_fill(%s::text::bytea, ARRAY[40]))",
            (handles, number),
        )
    if is_held:
        desk.send(5, 1)
        reader = connect(autocommit=False)
        for _ in range(40):
            assert reader.execute("SELECT FROM ssb.receive('dbo.target', 1)").rowcount == 1
    job = connect()
    job.execute("SET track_functions = 'all'")
    for _ in range(4):
        held = claim(job, "dbo.target", max_messages=1 if is_held else 400)
        assert held is not None and held.messages == (1 if is_held else 400)
    assert 0 < _calls(job, desk, "claim_groups") < 40


@pytest.mark.parametrize("where", ["conversation", "conversation_group"])
@pytest.mark.parametrize("retains", [False, True])
def test_what_is_claimed_is_not_received_by_name(
    desk: Desk, connect: Connect, where: str, retains: bool
) -> None:
    desk.connection.execute("SELECT ssb.alter_queue('dbo.target', retention => %s)", [retains])
    desk.send(1, 2)
    column = where + ("_handle" if where == "conversation" else "_id")
    name = desk.value(f"SELECT {column} FROM dbo.target LIMIT 1")
    by_name = f"SELECT count(*) FROM ssb.receive('dbo.target', {where} => %s)"
    held = claim(connect(), "dbo.target")
    assert held is not None and held.messages == 2
    reader = connect()
    assert reader.execute(by_name, [name]).fetchone() == (0,)
    abandon(held)
    assert reader.execute(by_name, [name]).fetchone() == (2,)


def test_what_is_claimed_of_one_level_hides_nothing_of_the_next_one(desk: Desk, connect: Connect) -> None:
    desk.send(2, 1)
    desk.connection.execute(
        "SELECT ssb.create_broker_priority('p', contract => 'trades', priority_level => 9)"
    )
    desk.send(20, 1)
    held = claim(connect(), "dbo.target", max_messages=20)
    assert held is not None and held.messages == 20
    holder = connect(autocommit=False)
    assert _bodies(holder) == [1]
    reader = connect()
    assert _bodies(reader) == [1]
    assert _bodies(reader) == []
    holder.rollback()
    assert _bodies(reader) == [1]


def test_a_group_that_was_held_when_others_were_claimed_is_found(desk: Desk, connect: Connect) -> None:
    desk.send(20, 1)
    holder = connect(autocommit=False)
    assert _bodies(holder) == [1]
    held = claim(connect(), "dbo.target")
    assert held is not None and held.messages == 19
    reader = connect()
    assert _bodies(reader) == []
    holder.rollback()
    assert _bodies(reader) == [1]
    assert _bodies(reader) == []


def test_a_message_that_was_being_sent_when_others_were_claimed_is_found(
    desk: Desk, connect: Connect
) -> None:
    desk.send(10, 1)
    (late,) = (
        desk.connection.execute("SELECT ssb.begin_dialog('source', 'target', 'trades')").fetchone() or ()
    )
    sender = connect(autocommit=False)
    # It has its place in the queue, before the others, and is not there yet.
    sender.execute("SELECT ssb.send_batch(ARRAY[%s]::uuid[], ARRAY['trade'], ARRAY['77'::bytea])", (late,))
    desk.send(10, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None and held.messages == 20
    reader = connect()
    assert _bodies(reader) == []
    sender.commit()
    assert _bodies(reader) == [77]


def test_of_two_claims_the_one_that_dies_is_free(desk: Desk, connect: Connect) -> None:
    desk.send(10, 1)
    first = connect()
    assert claim(first, "dbo.target", max_messages=5) is not None
    second = connect()
    assert claim(second, "dbo.target") is not None
    reader = connect()
    assert _bodies(reader) == []
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (second.info.backend_pid,))
    assert [_bodies(reader) for _ in range(6)] == [[1]] * 5 + [[]]
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (first.info.backend_pid,))
    assert [_bodies(reader) for _ in range(6)] == [[1]] * 5 + [[]]


def test_what_came_for_claimed_groups_is_free_after_them(desk: Desk, connect: Connect) -> None:
    handles = desk.send(3, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    desk.connection.execute(
        "SELECT ssb.send_batch(%s::uuid[], ARRAY['trade', 'trade', 'trade'], ARRAY['2', '2', '2']::bytea[])",
        (handles,),
    )
    # The daemon's look takes them into the front: they belong to claimed groups.
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    assert (_front(desk) or 0) >= 5
    reader = connect()
    assert _bodies(reader) == []
    held.connection.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    assert [_bodies(reader) for _ in range(4)] == [[2], [2], [2], []]


def test_the_sweep_forgets_claims_of_dead_sessions(desk: Desk, connect: Connect) -> None:
    desk.send(1, 1)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    owner.execute("SELECT ssb_internal.create_staging(%s, 'errors')", (held.claim_id,))
    desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (owner.info.backend_pid,))
    desk.connection.execute("SELECT ssb_internal.broker_sweep('{}')")
    assert desk.value("SELECT count(*) FROM ssb.claim") == 0
    assert desk.value("SELECT count(*) FROM pg_class WHERE relnamespace = 'ssb_staging'::regnamespace") == 0


@pytest.mark.long
@pytest.mark.parametrize("seed", rest_is_long(range(2), 0))
def test_each_message_is_taken_once_whatever_claims_and_readers_do(
    desk: Desk, connect: Connect, seed: int
) -> None:
    chance = random.Random(seed)
    sessions = [connect(autocommit=False) for _ in range(3)]
    taken: list[int] = []
    pending: dict[int, list[int]] = {0: [], 1: [], 2: []}
    claims: list[tuple[Connection, int, list[int]]] = []
    handles = desk.send(6, 0)
    number = 0

    def take(reader: Connection) -> list[int]:
        rows = reader.execute(
            "SELECT convert_from(message_body, 'UTF8')::int FROM ssb.receive('dbo.target', %s)",
            (chance.choice([1, None]),),
        ).fetchall()
        return [int(row[0]) for row in rows]

    for _ in range(120):
        deed = chance.random()
        which = chance.randrange(3)
        if deed < 0.45:
            number += 1
            handle = chance.choice(handles) if chance.random() < 0.7 else desk.send(1, 0)[0]
            desk.connection.execute(
                "SELECT ssb.send_batch(ARRAY[%s]::uuid[], ARRAY['trade'], ARRAY[%s::text::bytea])",
                (handle, number),
            )
        elif deed < 0.65:
            pending[which] += take(sessions[which])
        elif deed < 0.75:
            if chance.random() < 0.5:
                sessions[which].commit()
                taken += pending[which]
            else:
                sessions[which].rollback()
            pending[which] = []
        elif deed < 0.87:
            owner = connect()
            held = claim(owner, "dbo.target", max_messages=chance.choice([1, 3, None]))
            if held is not None:
                rows = owner.execute(
                    "SELECT convert_from(message_body, 'UTF8')::int FROM ssb_internal.claimed_message"
                    " WHERE claim_id = %s",
                    (held.claim_id,),
                ).fetchall()
                claims.append((owner, held.claim_id, [int(row[0]) for row in rows]))
        elif deed < 0.97 and claims:
            owner, claim_id, bodies = claims.pop(chance.randrange(len(claims)))
            ending = chance.random()
            if ending < 0.4:
                owner.execute("SELECT ssb_internal.complete_claim(%s)", (claim_id,))
                owner.execute("SELECT ssb_internal.unlock_claim(%s)", (claim_id,))
                taken += bodies
            elif ending < 0.7:
                desk.connection.execute("SELECT pg_terminate_backend(%s, 5000)", (owner.info.backend_pid,))
            else:
                owner.execute("SELECT ssb_internal.abandon_claim(%s)", (claim_id,))
        else:
            desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    for which, session in enumerate(sessions):
        session.commit()
        taken += pending[which]
    for owner, claim_id, _ in claims:
        owner.execute("SELECT ssb_internal.abandon_claim(%s)", (claim_id,))
    last = connect()
    while bodies := _bodies(last):
        taken += bodies
    assert sorted(taken) == list(range(1, number + 1))


def test_an_abandoned_claim_is_found_by_who_knew_the_front(desk: Desk, connect: Connect) -> None:
    desk.send(50, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    desk.send(40, 1)
    reader = connect()
    for _ in range(30):
        assert _bodies(reader) == [1]
    abandon(held)
    assert sum(len(_bodies(reader)) for _ in range(61)) == 60


def test_a_completed_claim_leaves_the_front_where_it_was(desk: Desk, connect: Connect) -> None:
    """Who looks next does not walk over a million messages that were just deleted."""
    desk.send(30, 1)
    first, second = connect(), connect()
    held = claim(first, "dbo.target", max_messages=20)
    behind = claim(second, "dbo.target")
    assert held is not None and behind is not None and (held.messages, behind.messages) == (20, 10)
    front = _front(desk)
    # In whatever order they are completed.
    for one in (behind, held):
        one.connection.execute("SELECT ssb_internal.complete_claim(%s)", (one.claim_id,))
        assert _front(desk) == front
        start = desk.value(
            "SELECT from_order FROM ssb.claimed_front, ssb_internal.behind_claims(queue_id, priority)"
        )
        assert start == (front or 0) + 1
    desk.send(2, 1)
    assert _bodies(connect()) == [1]
    last = claim(connect(), "dbo.target")
    assert last is not None and last.messages == 1


def test_what_is_left_of_a_group_that_was_cut_is_found(desk: Desk, connect: Connect) -> None:
    desk.send(1, 5)
    held = claim(connect(), "dbo.target", max_messages=2)
    assert held is not None and held.messages == 2
    desk.send(1, 1)
    # The daemon's look takes the rest of the group into the front.
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    held.connection.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    assert [_bodies(connect()) for _ in range(3)] == [[3, 4, 5], [1], []]


def test_what_moves_into_a_claimed_group_is_free_after_it(desk: Desk, connect: Connect) -> None:
    desk.send(3, 1)
    first, second, _ = (
        row[0]
        for row in desk.connection.execute(
            "SELECT conversation_handle FROM dbo.target ORDER BY queuing_order"
        )
    )
    holder = connect(autocommit=False)
    assert _bodies(holder) == [1]
    held = claim(connect(), "dbo.target")
    assert held is not None and held.messages == 2
    holder.rollback()
    desk.connection.execute(
        "SELECT ssb.move_conversation(%s, (SELECT conversation_group_id FROM sys.conversation_endpoints"
        " WHERE conversation_handle = %s))",
        (first, second),
    )
    desk.connection.execute("SELECT ssb_internal.sweep_claims()")
    reader = connect()
    assert _bodies(reader) == []
    held.connection.execute("SELECT ssb_internal.complete_claim(%s)", (held.claim_id,))
    assert [_bodies(reader) for _ in range(2)] == [[1], []]


def test_a_front_that_another_claim_deletes_meanwhile_is_made_anew(desk: Desk, connect: Connect) -> None:
    desk.send(3, 1)
    first = claim(connect(), "dbo.target", max_messages=1)
    assert first is not None and _front(desk) is not None
    other, owner = connect(autocommit=False), connect()
    other.execute("SELECT FROM ssb.claimed_front FOR UPDATE")
    with ThreadPoolExecutor(1) as thread:
        claiming = thread.submit(claim, owner, "dbo.target")
        waits = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
        while desk.value(waits, owner.info.backend_pid) != "Lock":
            assert not claiming.done()
        other.execute("DELETE FROM ssb.claimed_front")
        other.commit()
        held = claiming.result(20)
    assert held is not None and held.messages == 2
    assert _front(desk) is not None
