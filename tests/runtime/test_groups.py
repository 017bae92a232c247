"""Conversation groups: RELATED_CONVERSATION, MOVE CONVERSATION, GET CONVERSATION GROUP, RECEIVE by group."""

import random
import uuid
from collections.abc import Callable
from functools import partial

import pytest
from runtime.broker import Pair, Session, refused, start_and_block


def test_every_dialog_is_a_group_of_its_own(session: Session, pair: Pair) -> None:
    a, b = pair.dialog(), pair.dialog()
    assert session.group(a) != session.group(b)


def test_a_related_dialog_joins_the_group(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    third = pair.dialog(related_conversation_group=session.group(first))
    assert session.group(first) == session.group(second) == session.group(third)


def test_a_new_group_id_makes_that_group(session: Session, pair: Pair) -> None:
    group = uuid.uuid4()
    first = pair.dialog(related_conversation_group=group)
    second = pair.dialog(related_conversation_group=group)
    assert session.group(first) == session.group(second) == group
    assert session.column(
        "SELECT service_id FROM sys.conversation_groups WHERE conversation_group_id = %s", group
    ) == (session.column("SELECT service_id FROM sys.services WHERE name = %s", pair.initiator))


def test_a_group_belongs_to_one_service(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    must = f"The service '{pair.initiator}' in the FROM SERVICE clause must match the service '{pair.target}'"
    with refused(9610, f"{must} referenced by RELATED_CONVERSATION = '{str(far).upper()}'."):
        pair.dialog(related_conversation=far)
    group = session.group(far)
    with refused(9610, f"{must} referenced by RELATED_CONVERSATION_GROUP = '{str(group).upper()}'."):
        pair.dialog(related_conversation_group=group)
    assert session.group(near) != session.group(far)


def test_groups_are_one_sided(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    session.send(first, pair.request, "1")
    session.send(second, pair.request, "2")
    (a,), (b,) = session.receive(pair.far), session.receive(pair.far)
    assert session.group(a.handle) != session.group(b.handle)


def test_receive_returns_all_messages_of_one_group_conversation_by_conversation(
    session: Session, pair: Pair
) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    alone = pair.dialog()
    handles = {}
    for near in (first, second, alone):
        session.send(near, pair.request)
        handles[near] = session.receive(pair.far)[0].handle
    for near, body in ((second, "s1"), (alone, "a1"), (first, "f1"), (second, "s2"), (first, "f2")):
        session.send(handles[near], pair.reply, body)
    assert session.bodies(pair.near) == ["s1", "s2", "f1", "f2"]
    assert session.bodies(pair.near) == ["a1"]
    assert session.bodies(pair.near) == []


def test_top_cuts_across_the_conversations_of_a_group(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    for near in (first, second):
        session.send(near, pair.request)
        far = session.receive(pair.far)[0].handle
        for i in range(2):
            session.send(far, pair.reply, f"{'first' if near == first else 'second'}{i}")
    assert session.bodies(pair.near, 3) == ["first0", "first1", "second0"]
    assert session.bodies(pair.near, 3) == ["second1"]


def _fan_out(session: Session, pair: Pair, count: int) -> list[uuid.UUID]:
    """A group of so many dialogs: the handles of their far sides."""
    first = pair.dialog()
    near = [first, *(pair.dialog(related_conversation=first) for _ in range(count - 1))]
    for handle in near:
        session.send(handle, pair.request)
    return [message.handle for _ in near for message in session.receive(pair.far, 1)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_group_of_very_many_conversations_is_read_in_its_order(
    session: Session, another: Callable[[], Session], pair: Pair, seed: int
) -> None:
    """All of the one with the oldest message, then of the next, whatever TOP cuts or a ROLLBACK undoes."""
    session.do("SELECT ssb.alter_queue(%s, poison_message_handling => false)", pair.near)
    chance = random.Random(seed)
    far = _fan_out(session, pair, 40)
    reader = another()
    waiting: list[tuple[int, str]] = []
    said = 0
    for _ in range(25):
        for _ in range(chance.randint(0, 60)):
            said += 1
            number = chance.randrange(40)
            session.send(far[number], pair.reply, f"{number}.{said}")
            waiting.append((number, f"{number}.{said}"))
        top = chance.choice((1, 2, 3, 20, 70, None))
        is_kept = chance.random() < 0.7
        order = list(dict.fromkeys(number for number, _ in waiting))
        wanted = [body for number in order for one, body in waiting if one == number][:top]
        assert reader.bodies(pair.near, top) == wanted
        if is_kept:
            reader.commit()
            waiting = [one for one in waiting if one[1] not in wanted]
        else:
            reader.rollback()
    assert said > 300


def test_a_message_of_a_large_group_costs_no_look_at_all_its_conversations(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    far = _fan_out(session, pair, 300)
    for handle in far:
        session.send(handle, pair.reply, "x")
    reader = another()
    reader.receive(pair.near, 1)
    reader.commit()
    read = (
        "SELECT sum(idx_tup_fetch) FROM pg_stat_xact_user_tables"
        " WHERE relname IN ('conversation_endpoint', 'message_0', 'message_1')"
    )
    for top in (1, 5):
        assert len(reader.receive(pair.near, top)) == top
        # 33 conversations of the group, and what stands among the next 65 orders with its conversations.
        assert 0 < reader.value(read) < 600
        reader.commit()


def test_receive_of_thousands_leaves_work_mem_as_it_was(session: Session, pair: Pair) -> None:
    session.do("SET work_mem = '64kB'")
    near = pair.dialog()
    body = "x" * 100
    for _ in range(2):
        session.do(
            "SELECT ssb.send(%s, %s, i || %s) FROM generate_series(1, 2500) AS i", near, pair.request, body
        )
        assert session.bodies(pair.far, 2400) == [f"{n}{body}" for n in range(1, 2401)]
        assert session.value("SHOW work_mem") == "64kB"
        assert len(session.receive(pair.far)) == 100


def test_receive_where(session: Session, pair: Pair) -> None:
    (near1, far1), (near2, far2) = pair.conversing(), pair.conversing()
    for far, body in ((far1, "1a"), (far2, "2a"), (far1, "1b")):
        session.send(far, pair.reply, body)
    assert [m.body for m in session.receive(pair.near, conversation=near2)] == ["2a"]
    assert session.receive(pair.near, conversation=near2) == []
    assert [m.body for m in session.receive(pair.near, 1, conversation_group=session.group(near1))] == ["1a"]
    assert [m.body for m in session.receive(pair.near, conversation=near1)] == ["1b"]


def test_where_by_handle_leaves_the_rest_of_the_group(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    for near, body in ((first, "1"), (second, "2")):
        session.send(near, pair.request)
        session.send(session.receive(pair.far)[0].handle, pair.reply, body)
    assert [m.body for m in session.receive(pair.near, conversation=second)] == ["2"]
    assert [m.body for m in session.receive(pair.near, conversation_group=session.group(first))] == ["1"]


def test_get_conversation_group_names_the_next_group(session: Session, pair: Pair) -> None:
    get = "SELECT ssb.get_conversation_group(%s)"
    assert session.value(get, pair.near) is None
    (near1, far1), (near2, far2) = pair.conversing(), pair.conversing()
    session.send(far2, pair.reply)
    session.send(far1, pair.reply)
    assert session.value(get, pair.near) == session.group(near2)
    session.receive(pair.near)
    assert session.value(get, pair.near) == session.group(near1)
    with refused(208):
        session.do(get, "dbo.nothing")


def test_move_conversation_changes_the_group_of_waiting_messages(session: Session, pair: Pair) -> None:
    (near1, far1), (near2, far2) = pair.conversing(), pair.conversing()
    session.send(far1, pair.reply, "1")
    session.send(far2, pair.reply, "2")
    session.do("SELECT ssb.move_conversation(%s, %s)", near2, session.group(near1))
    assert session.group(near1) == session.group(near2)
    assert session.bodies(pair.near) == ["1", "2"]


def test_a_group_outlives_the_conversation_that_made_it(session: Session, pair: Pair) -> None:
    (near1, far1), (near2, far2) = pair.conversing(), pair.conversing()
    near3 = pair.dialog(related_conversation=near1)
    group = session.group(near1)
    session.do("SELECT ssb.move_conversation(%s, %s)", near2, group)
    session.end(near1, cleanup=True)
    assert session.group(near2) == session.group(near3) == group
    session.send(far2, pair.reply, "2")
    assert session.bodies(pair.near) == ["2"]
    session.end(near2)
    session.end(near3)
    assert (
        session.column("SELECT 1 FROM sys.conversation_groups WHERE conversation_group_id = %s", group) == []
    )
    assert session.state(far1) == "CO"


def test_groups_are_those_of_conversations_that_are_not_closed(session: Session, pair: Pair) -> None:
    _, (near1, _), (near2, far2), (near3, _) = [pair.conversing() for _ in range(4)]
    session.end(near1)
    session.end(near2)
    session.end(far2)
    session.do("SELECT ssb.end_conversation(%s, error => 1, description => 'so')", near3)
    pair.dialog()
    states = set(session.column("SELECT DISTINCT state FROM sys.conversation_endpoints"))
    assert {"SO", "CO", "DI", "CD", "ER"} <= states
    shown = "SELECT c.conversation_group_id || '/' || c.service_id FROM {} AS c ORDER BY 1"
    pairs = "SELECT DISTINCT conversation_group_id, service_id FROM sys.conversation_endpoints"
    open_ones = f"({pairs} WHERE state <> 'CD')"
    assert session.column(shown.format("sys.conversation_groups")) == session.column(shown.format(open_ones))


def test_move_refusals(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    move = "SELECT ssb.move_conversation(%s, %s)"
    with refused(8418):
        session.do(move, None, uuid.uuid4())
    with refused(8420):
        session.do(move, near, None)
    with refused(8426):
        session.do(move, uuid.uuid4(), session.group(near))
    with refused(8439):
        session.do(move, near, uuid.uuid4())
    with refused(8439):
        session.do(move, near, session.group(far))
    group = session.group(far)
    session.end(far)
    with refused(8438, "'CD'"):
        session.do(move, far, group)


def test_sending_works_in_a_group_of_several(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    for i in range(20):
        session.send(second, pair.request, f"second {i}")
        session.send(first, pair.request, f"first {i}")
    assert session.bodies(pair.far) == [f"second {i}" for i in range(20)]
    assert session.bodies(pair.far) == [f"first {i}" for i in range(20)]


def test_a_dialog_in_a_group_of_several_sends_as_any_other(session: Session, pair: Pair) -> None:
    first = pair.dialog()
    near = pair.dialog(related_conversation=first)
    pair.say(near, "1")
    (message,) = session.receive(pair.far)
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    pair.say(near, "2")
    pair.say(near, "3")
    assert len(session.transmissions(near)) == 2
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    pair.say(near, "4")
    assert session.rows(f"SELECT status, message_body FROM {pair.near}") == [(3, b"4")]
    session.do("SELECT ssb.alter_queue(%s, retention => false)", pair.near)
    assert [(m.body, m.number) for m in session.receive(pair.far)] == [("2", 1), ("3", 2), ("4", 3)]
    pair.say(near, "poison")
    for _ in range(5):
        with session.connection.transaction(force_rollback=True):
            assert session.bodies(pair.far) == ["poison"]
    pair.say(near, "the queue was stopped")
    assert len(session.transmissions(near)) == 1
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    session.end(message.handle, error=1, description="enough")
    with refused(8429):
        pair.say(near, "5")
    late = pair.dialog(related_conversation=first, lifetime=600)
    pair.say(late, "in time")
    session.do(
        "UPDATE ssb.conversation_endpoint SET lifetime = lifetime - i FROM make_interval(secs => 601) AS i"
        " WHERE conversation_handle = %s",
        late,
    )
    with refused(8429):
        pair.say(late, "too late")
    session.end(near)
    with refused(8426):
        pair.say(near, "6")


def test_who_sends_in_a_group_waits_for_who_has_it(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """So that messages are in the order in which their transactions commit, whoever's row is the lock."""
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    for near in (first, second):
        pair.say(near, "1")
    for near in (first, second):
        holder, sender = another(), another()
        holder.do("SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR UPDATE", first)
        blocked = start_and_block(session, sender, partial(pair.say, near, "2", session=sender))
        holder.commit()
        blocked.result()
        sender.commit()


def test_a_group_that_ended_in_this_transaction_has_no_more_messages(session: Session, pair: Pair) -> None:
    """A program receives from its group until nothing comes, and ends the conversation on the way."""
    for both_sides in (False, True):
        near = pair.dialog()
        session.send(near, pair.request, "last")
        group = session.value(f"SELECT conversation_group_id FROM {pair.far}")
        if both_sides:
            session.end(near)
        transaction = session.connection.transaction
        with transaction():
            received = session.receive(pair.far, conversation_group=group)
            session.end(received[0].handle)
            assert session.receive(pair.far, conversation_group=group) == []
            with refused(8436), transaction():
                session.receive(pair.far, conversation_group=uuid.uuid4())
            with refused(8436), transaction():
                session.receive(pair.near, conversation_group=group)
        with refused(8436):
            session.receive(pair.far, conversation_group=group)
