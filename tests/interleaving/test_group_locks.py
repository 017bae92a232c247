"""Two and three sessions step by step: who waits for whom, and who passes whom."""

from collections.abc import Callable

import pytest
from dialogs import begin
from runtime.broker import END, Pair, Session, refused, start_and_block

Open = Callable[[], Session]


def test_a_second_reader_skips_a_locked_group(session: Session, another: Open, pair: Pair) -> None:
    a, b = pair.dialog(), pair.dialog()
    for handle, body in ((a, "a1"), (b, "b1"), (a, "a2")):
        session.send(handle, pair.request, body)
    first, second, third = another(), another(), another()
    assert first.bodies(pair.far) == ["a1", "a2"]
    assert second.bodies(pair.far) == ["b1"]
    assert third.bodies(pair.far) == []
    first.rollback()
    assert third.bodies(pair.far) == ["a1", "a2"]
    assert second.bodies(pair.far) == []


def test_the_older_group_comes_first_again_once_it_is_free(
    session: Session, another: Open, pair: Pair
) -> None:
    a, b = pair.dialog(), pair.dialog()
    for handle, body in ((a, "a1"), (b, "b1"), (b, "b2")):
        session.send(handle, pair.request, body)
    first, second = another(), another()
    assert first.bodies(pair.far, 1) == ["a1"]
    assert second.bodies(pair.far, 1) == ["b1"]
    second.commit()
    first.rollback()
    assert second.bodies(pair.far, 1) == ["a1"]


def test_messages_arrive_in_a_locked_group_without_waiting(
    session: Session, another: Open, pair: Pair
) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "1")
    reader, other = another(), another()
    assert reader.bodies(pair.far) == ["1"]
    session.send(near, pair.request, "2")
    assert other.bodies(pair.far) == []
    assert reader.bodies(pair.far) == ["2"]
    reader.commit()
    assert other.bodies(pair.far) == []


def test_an_uncommitted_message_is_not_there_yet(session: Session, another: Open, pair: Pair) -> None:
    sender = another()
    near, late = pair.dialog(), pair.dialog()
    sender.send(near, pair.request, "early")
    session.send(late, pair.request, "late")
    assert session.bodies(pair.far) == ["late"]
    assert session.bodies(pair.far) == []
    sender.commit()
    assert session.bodies(pair.far) == ["early"]


def test_senders_on_one_dialog_follow_each_other(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    first, second = another(), another()
    first.send(near, pair.request, "1")
    waiting = start_and_block(session, second, lambda: second.send(near, pair.request, "2"))
    first.send(near, pair.request, "1b")
    first.commit()
    waiting.result()
    second.commit()
    assert [(m.number, m.body) for m in session.receive(pair.far)] == [(1, "1"), (2, "1b"), (3, "2")]


def test_a_sender_who_waited_uses_the_number_of_one_who_rolled_back(
    session: Session, another: Open, pair: Pair
) -> None:
    near, _ = pair.conversing()
    first, second = another(), another()
    first.send(near, pair.request, "lost")
    waiting = start_and_block(session, second, lambda: second.send(near, pair.request, "kept"))
    first.rollback()
    waiting.result()
    second.commit()
    assert [(m.number, m.body) for m in session.receive(pair.far)] == [(1, "kept")]


def test_a_reader_of_the_other_side_does_not_stop_a_sender(
    session: Session, another: Open, pair: Pair
) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request, "x")
    reader = another()
    assert reader.bodies(pair.far) == ["x"]
    reader.send(far, pair.reply, "reply")
    session.send(near, pair.request, "y")
    reader.commit()
    assert session.bodies(pair.far) == ["y"]
    assert session.bodies(pair.near) == ["reply"]


def test_a_held_group_makes_send_wait(session: Session, another: Open, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(far, pair.reply)
    reader, sender = another(), another()
    assert len(reader.receive(pair.near)) == 1
    waiting = start_and_block(session, sender, lambda: sender.send(near, pair.request, "after"))
    reader.commit()
    waiting.result()
    sender.commit()
    assert session.bodies(pair.far) == ["after"]


def test_a_send_that_waited_for_the_end_is_refused(session: Session, another: Open, pair: Pair) -> None:
    near, far = pair.conversing()
    first, second = another(), another()
    first.end(far)
    waiting = start_and_block(session, second, lambda: second.send(far, pair.reply))
    first.commit()
    with refused(8429, "'CD'"):
        waiting.result()
    second.rollback()
    session.end(near)


def test_an_end_that_waited_for_the_end_is_refused(session: Session, another: Open, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(far)
    first, second = another(), another()
    first.end(near)
    waiting = start_and_block(session, second, lambda: second.end(near))
    first.commit()
    with refused(8426):
        waiting.result()


def test_an_end_that_waited_for_a_new_follower_hands_it_the_group(
    session: Session, another: Open, pair: Pair
) -> None:
    near, far = pair.conversing()
    session.end(far)
    beginner, ender = another(), another()
    follower = pair.dialog(beginner, related_conversation=near)
    waiting = start_and_block(session, ender, lambda: ender.end(near))
    beginner.commit()
    waiting.result()
    ender.commit()
    assert session.state(near) is None
    session.send(follower, pair.request)
    session.send(session.receive(pair.far)[0].handle, pair.reply, "led")
    assert session.bodies(pair.near) == ["led"]


def test_sending_and_ending_on_both_sides_at_once_waits_for_nobody(
    session: Session, another: Open, pair: Pair
) -> None:
    dialogs = [pair.conversing() for _ in range(2)]
    first, second = another(), another()
    # Each ends its side of both dialogs, in opposite order, before the other commits.
    for near, _ in dialogs:
        first.send(near, pair.request, "last")
        first.end(near)
    for _, far in reversed(dialogs):
        second.send(far, pair.reply, "last")
        second.end(far)
    first.commit()
    second.commit()
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []
    assert [session.state(near) for near, _ in dialogs] == [None, None]
    assert [session.state(far) for _, far in dialogs] == ["CD", "CD"]


def test_a_message_sent_while_the_far_side_ends_is_never_seen(
    session: Session, another: Open, pair: Pair
) -> None:
    near, far = pair.conversing()
    ender = another()
    ender.end(far)
    session.send(near, pair.request, "orphan")
    ender.commit()
    assert session.receive(pair.far) == []
    assert session.rows(f"SELECT * FROM {pair.far}") == []
    (message,) = session.receive(pair.near)
    assert message.type == END


def test_get_conversation_group_locks_it(session: Session, another: Open, pair: Pair) -> None:
    session.send(pair.dialog(), pair.request, "x")
    first, second = another(), another()
    group = first.value("SELECT ssb.get_conversation_group(%s)", pair.far)
    assert group is not None
    assert second.value("SELECT ssb.get_conversation_group(%s)", pair.far) is None
    assert second.receive(pair.far) == []
    assert [m.body for m in first.receive(pair.far, conversation_group=group)] == ["x"]


def test_a_related_dialog_waits_for_the_group(session: Session, another: Open, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(far, pair.reply)
    reader, beginner = another(), another()
    assert len(reader.receive(pair.near)) == 1
    waiting = start_and_block(session, beginner, lambda: pair.dialog(beginner, related_conversation=near))
    reader.commit()
    related = waiting.result()
    beginner.commit()
    assert session.group(related) == session.group(near)


def test_two_who_begin_the_same_group_share_its_lock(session: Session, another: Open, pair: Pair) -> None:
    group = session.value("SELECT gen_random_uuid()")
    first, second, third = another(), another(), another()
    a = pair.dialog(first, related_conversation_group=group)
    waiting = start_and_block(session, second, lambda: pair.dialog(second, related_conversation_group=group))
    first.commit()
    b = waiting.result()
    second.commit()
    for handle in (a, b):
        session.send(handle, pair.request)
        session.send(session.receive(pair.far)[0].handle, pair.reply)
    assert len(first.receive(pair.near, 1)) == 1
    assert third.receive(pair.near) == []


def test_all_conversations_of_a_group_are_locked_with_one(
    session: Session, another: Open, pair: Pair
) -> None:
    first_near, first_far = pair.conversing()
    second_near = pair.dialog(related_conversation=first_near)
    session.send(second_near, pair.request)
    second_far = session.receive(pair.far)[0].handle
    session.send(first_far, pair.reply, "1")
    session.send(second_far, pair.reply, "2")
    reader, other, sender = another(), another(), another()
    assert [m.body for m in reader.receive(pair.near, conversation=second_near)] == ["2"]
    assert other.receive(pair.near) == []
    waiting = start_and_block(session, sender, lambda: sender.send(first_near, pair.request))
    reader.commit()
    waiting.result()
    sender.commit()
    assert other.bodies(pair.near) == ["1"]


@pytest.mark.parametrize("has_far_ended", [False, True])
def test_an_end_waits_for_who_holds_another_conversation_of_the_group(
    session: Session, another: Open, pair: Pair, has_far_ended: bool
) -> None:
    leader, _ = pair.conversing()
    follower = pair.dialog(related_conversation=leader)
    session.send(follower, pair.request)
    if has_far_ended:
        session.end(session.receive(pair.far)[0].handle)
    holder, ender = another(), another()
    holder.send(leader, pair.request)
    waiting = start_and_block(session, ender, lambda: ender.end(follower))
    holder.commit()
    waiting.result()
    ender.commit()
    assert session.state(follower) is None


def test_the_lock_follows_a_group_whose_leader_goes(session: Session, another: Open, pair: Pair) -> None:
    leader, _ = pair.conversing()
    follower = pair.dialog(related_conversation=leader)
    third = pair.dialog(related_conversation=leader)
    session.send(follower, pair.request)
    far = session.receive(pair.far)[0].handle
    session.send(far, pair.reply, "x")
    ender, sender, reader = another(), another(), another()
    ender.end(leader, cleanup=True)
    waiting = start_and_block(session, sender, lambda: sender.send(third, pair.request))
    ender.commit()
    waiting.result()
    assert reader.receive(pair.near) == []
    sender.commit()
    assert reader.bodies(pair.near) == ["x"]


def test_a_send_that_waited_finds_its_conversation_moved(session: Session, another: Open, pair: Pair) -> None:
    (near1, _), (near2, far2) = pair.conversing(), pair.conversing()
    group = session.group(near1)
    mover, sender, holder = another(), another(), another()
    mover.do("SELECT ssb.move_conversation(%s, %s)", near2, group)
    waiting = start_and_block(session, sender, lambda: sender.send(near2, pair.request, "moved"))
    mover.commit()
    waiting.result()
    sender.commit()
    assert session.bodies(pair.far) == ["moved"]
    session.send(far2, pair.reply, "r")
    assert [m.body for m in holder.receive(pair.near, conversation=near2)] == ["r"]
    blocked = start_and_block(session, sender, lambda: sender.send(near1, pair.request, "behind"))
    holder.commit()
    blocked.result()
    sender.commit()


def test_a_wanted_conversation_that_is_locked_gives_nothing(
    session: Session, another: Open, pair: Pair
) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "x")
    far = session.column(f"SELECT conversation_handle FROM {pair.far}")[0]
    first, second = another(), another()
    assert [m.body for m in first.receive(pair.far, conversation=far)] == ["x"]
    assert second.receive(pair.far, conversation=far) == []
    first.rollback()
    assert [m.body for m in second.receive(pair.far, conversation=far)] == ["x"]


def test_receive_in_an_older_snapshot_takes_nothing_twice(
    session: Session, another: Open, pair: Pair
) -> None:
    near = pair.dialog()
    for i in range(3):
        session.send(near, pair.request, str(i))
    first, second = another(), another()
    second.do("SELECT 1")
    assert first.bodies(pair.far, 1) == ["0"]
    first.commit()
    assert second.bodies(pair.far, 1) == ["1"]
    second.commit()
    assert first.bodies(pair.far) == ["2"]


def test_a_timer_of_a_locked_group_comes_when_it_is_free(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 1)", near)
    session.do(
        "UPDATE ssb.conversation_endpoint SET dialog_timer = now(), due_at = now() WHERE"
        " conversation_handle = %s",
        near,
    )
    holder, reader = another(), another()
    holder.send(near, pair.request)
    assert reader.receive(pair.near) == []
    holder.commit()
    assert len(reader.receive(pair.near)) == 1


def test_alter_message_type_waits_for_senders_and_they_for_it(
    session: Session, another: Open, pair: Pair
) -> None:
    near, _ = pair.conversing()
    alterer, sender = another(), another()
    alterer.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    new = pair.dialog()
    waiting = start_and_block(session, sender, lambda: sender.send(new, pair.request, "x"))
    alterer.commit()
    waiting.result()
    sender.commit()
    assert session.state(new) == "ER"
    assert session.receive(pair.far) == []
    session.end(near)


def test_alter_queue_on_leaves_a_held_conversation_to_the_next_look(
    session: Session, another: Open, pair: Pair
) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    holder = another()
    holder.send(near, pair.request, "1")
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert session.receive(pair.far) == []
    holder.commit()
    assert session.transmissions(near) != []
    assert session.bodies(pair.far) == ["1"]


def test_a_waiting_receive_wakes_when_a_message_comes(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.send(near, pair.request, "x")
    session.do("CALL ssb.wait_for_message(%s, now() + interval '20 seconds')", pair.far)
    assert session.bodies(pair.far) == ["x"]
    session.do("CALL ssb.wait_for_message(%s, clock_timestamp() + interval '10 milliseconds')", pair.far)
    holder = another()
    session.send(near, pair.request, "y")
    assert holder.bodies(pair.far) == ["y"]
    assert session.value("SELECT ssb.message_is_waiting(%s)", pair.far) is False
    session.do("CALL ssb.wait_for_message(%s, clock_timestamp() + interval '10 milliseconds')", pair.far)
    holder.rollback()
    assert session.value("SELECT ssb.message_is_waiting(%s)", pair.far) is True
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.do("CALL ssb.wait_for_message(%s, NULL, may_commit => true)", pair.far)


def test_a_set_of_messages_waits_for_a_conversation_that_moves(
    session: Session, another: Open, pair: Pair
) -> None:
    nears = [pair.conversing()[0] for _ in range(5)]
    mover, sender, third = another(), another(), another()
    mover.do("SELECT ssb.move_conversation(%s, %s)", nears[1], session.group(nears[0]))
    send_all = "SELECT ssb.send_many(%s, %s, 'all')"
    waiting = start_and_block(session, sender, lambda: sender.do(send_all, nears, pair.request))
    mover.commit()
    waiting.result()
    # The sender has the group that the conversation is in now.
    blocked = start_and_block(session, third, lambda: third.send(nears[0], pair.request, "later"))
    sender.commit()
    blocked.result()
    third.commit()
    received = [session.bodies(pair.far) for _ in nears]
    assert sorted(received) == [["all"]] * 4 + [["all", "later"]]


def test_a_queue_that_is_dropped_waits_for_a_reader_that_has_begun(session: Session, another: Open) -> None:
    """Both look at the queue's sequences, in the same order: neither waits for the other for ever."""
    session.do("SELECT ssb.create_queue('dbo.going')")
    reader, dropping = another(), another()
    # A RECEIVE that has got as far as its first look.
    reader.do(
        "SELECT pg_sequence_last_value(q.state_sequence) FROM ssb.queue AS q WHERE q.name = 'dbo.going'"
    )
    drop = start_and_block(session, dropping, lambda: dropping.do("SELECT ssb.drop_queue('dbo.going')"))
    assert reader.receive("dbo.going") == []
    reader.commit()
    drop.result()
    dropping.commit()
    assert session.column("SELECT name FROM ssb.queue WHERE name = 'dbo.going'") == []


def test_a_sender_to_another_instance_waits_for_nobody_who_brings_messages(
    session: Session, another: Open, pair: Pair
) -> None:
    """Who brings messages of many dialogs locks their rows: a sender holds none, and does not wait."""
    session.do("SELECT ssb.create_route('away', 'TCP://away:4022', '//away')")
    first, second = (begin(session.connection, pair.initiator, "//away", pair.contract) for _ in range(2))
    for handle in (first, second):
        session.send(handle, pair.request, "on its way")
    # Each dialog's route has to be looked up again.
    session.do("SELECT ssb.create_route('other', 'TCP://other:4022', '//other')")
    lock = (
        "SELECT FROM ssb.remote_conversation WHERE endpoint_id ="
        " (SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = %s)"
        " FOR NO KEY UPDATE"
    )
    sender, bringer = another(), another()
    sender.send(first, pair.request, "one")
    bringer.do(lock, second)
    bringer.do(lock, first)
    sender.send(second, pair.request, "two")
    sender.commit()
    assert len(session.transmissions(second)) == 2
