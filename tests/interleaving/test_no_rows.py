"""RECEIVE returns no rows at little cost, and only when nothing was free.

Its fast path is enough for that: in most tests ssb_internal.receive_slow_path fails.
"""

import uuid
from collections.abc import Callable

import pytest
from interleaving.pauses import PAUSE, RECEIVE, WAIT, changed, nothing_careful
from runtime.broker import Pair, Session, start_and_block

Open = Callable[[], Session]


def mark(reader: Session, pair: Pair) -> list[int]:
    """The reader's mark: see conversations/low_water.sql."""
    values: list[int] = reader.value(
        "SELECT current_setting('ssb.read_position_' || q.queue_id || '_5')::bigint[] FROM ssb.queue AS q"
        " WHERE q.name = %s",
        pair.far,
    )
    reader.commit()
    return values


def passed(session: Session, another: Open, pair: Pair) -> tuple[Session, Session, uuid.UUID, list[str]]:
    """Somebody holds a group of 250 messages, and the reader's mark has passed them."""
    holder, reader = another(), another()
    handle = pair.dialog()
    bodies = [f"a{number}" for number in range(250)]
    pair.say(handle, *bodies)
    assert holder.bodies(pair.far, 1) == ["a0"]
    assert reader.bodies(pair.far, 1) == []
    reader.commit()
    assert mark(reader, pair)[0] == 250
    assert mark(reader, pair)[4] == 1
    return holder, reader, handle, bodies


@pytest.mark.parametrize("top", [1, 3, None])
def test_an_empty_queue(session: Session, another: Open, pair: Pair, top: int | None) -> None:
    reader = another()
    with nothing_careful(session):
        assert reader.bodies(pair.far, top) == []
        reader.commit()
        pair.say(pair.dialog(), "one")
        assert reader.bodies(pair.far, top) == ["one"]
        assert reader.bodies(pair.far, top) == []
        reader.commit()


def test_all_is_in_other_hands(session: Session, another: Open, pair: Pair) -> None:
    holders, reader = [another(), another()], another()
    handles = [pair.dialog(), pair.dialog()]
    for number in range(40):
        pair.say(handles[number % 2], f"{'ab'[number % 2]}{number // 2}")
    assert [holder.bodies(pair.far, 1) for holder in holders] == [["a0"], ["b0"]]
    with nothing_careful(session):
        for _ in range(3):
            assert reader.bodies(pair.far, 1) == []
            reader.commit()
        holders[1].commit()
        assert reader.bodies(pair.far, 1) == ["b1"]
        reader.commit()
        holders[0].commit()
        assert reader.bodies(pair.far, 1) == ["a1"]
        reader.commit()


def test_what_was_put_back_is_found_behind_what_others_hold(
    session: Session, another: Open, pair: Pair
) -> None:
    holder, other, reader = another(), another(), another()
    held, back = pair.dialog(), pair.dialog()
    pair.say(held, *(f"a{number}" for number in range(60)))
    pair.say(back, "b0", "b1")
    assert holder.bodies(pair.far, 1) == ["a0"]
    assert other.bodies(pair.far, 1) == ["b0"]
    assert reader.bodies(pair.far, 1) == []
    other.rollback()
    assert reader.bodies(pair.far) == ["b0", "b1"]
    reader.commit()


def test_a_group_whose_claim_is_over_is_found(session: Session, another: Open, pair: Pair) -> None:
    reader = another()
    near, far = pair.conversing()
    pair.say(near, "one")
    session.do("UPDATE ssb.conversation_endpoint SET claim_id = 7 WHERE conversation_handle = %s", far)
    assert reader.bodies(pair.far, 1) == ["one"]
    reader.commit()


def test_a_group_that_the_mark_has_passed_comes_free(session: Session, another: Open, pair: Pair) -> None:
    holder, reader, handle, bodies = passed(session, another, pair)
    with nothing_careful(session):
        assert reader.bodies(pair.far, 1) == []
        reader.commit()
        pair.say(pair.dialog(), "b0")
        pair.say(handle, "a250")
        assert reader.bodies(pair.far, 1) == ["b0"]
        assert reader.bodies(pair.far, 1) == []
        reader.rollback()
        holder.commit()
        # One transaction after the other, then the rest at once.
        for expected in bodies[1:4]:
            assert reader.bodies(pair.far, 1) == [expected]
            reader.commit()
        assert reader.bodies(pair.far) == [*bodies[4:], "a250"]
        reader.commit()
    assert reader.bodies(pair.far) == ["b0"]
    assert reader.bodies(pair.far) == []
    reader.commit()


def test_a_group_that_the_mark_has_passed_was_put_back(session: Session, another: Open, pair: Pair) -> None:
    holder, reader, _, bodies = passed(session, another, pair)
    holder.rollback()
    assert reader.bodies(pair.far, 1) == ["a0"]
    reader.commit()
    assert reader.bodies(pair.far) == bodies[1:]
    reader.commit()


def test_a_group_that_the_mark_has_passed_was_received_by_others(
    session: Session, another: Open, pair: Pair
) -> None:
    holder, reader, handle, bodies = passed(session, another, pair)
    assert holder.bodies(pair.far) == bodies[1:]
    holder.commit()
    pair.say(pair.dialog(), "c0")
    pair.say(handle, "a250")
    with nothing_careful(session):
        # It has no older messages any more: those behind the mark come in their order.
        assert reader.bodies(pair.far, 1) == ["c0"]
        reader.commit()
        assert reader.bodies(pair.far, 1) == ["a250"]
        assert reader.bodies(pair.far, 1) == []
        reader.commit()


def test_a_groups_messages_on_both_sides_of_the_mark_stay_in_order(
    session: Session, another: Open, pair: Pair
) -> None:
    holder, reader, handle, bodies = passed(session, another, pair)
    other = pair.dialog()
    for number in range(250, 300):
        pair.say(handle, f"a{number}")
        bodies.append(f"a{number}")
    pair.say(other, "d0")
    with nothing_careful(session):
        assert reader.bodies(pair.far, 1) == ["d0"]
        reader.commit()
    holder.commit()
    got: list[str | None] = []
    while received := reader.bodies(pair.far, 7):
        got += received
        reader.commit()
    assert got == bodies[1:]


@pytest.mark.parametrize("place", ["The first message.", "Another session has locked", "Further on; and now"])
def test_a_group_that_the_mark_has_passed_comes_free_meanwhile(
    session: Session, another: Open, pair: Pair, place: str
) -> None:
    holder, reader, handle, bodies = passed(session, another, pair)
    pair.say(handle, "a250")
    with changed(session, RECEIVE, lambda text: text.replace(f"-- {place}", f"{WAIT} -- {place}", 1)):
        session.do(PAUSE)
        # It has tried that group, and looks at what is behind the mark: the group's last message.
        waiting = start_and_block(session, reader, lambda: reader.bodies(pair.far, 1))
        holder.commit()
        session.do("SELECT pg_advisory_unlock_all()")
        assert waiting.result() == []
        reader.commit()
        assert reader.bodies(pair.far) == [*bodies[1:], "a250"]
        reader.commit()


@pytest.mark.parametrize("visits", [0, 1])
def test_in_its_first_visits_the_mark_passes_no_open_sender(
    session: Session, another: Open, pair: Pair, visits: int
) -> None:
    sender, readers = another(), [another(), another()]
    for reader in readers * visits:
        assert reader.bodies(pair.far) == []
        reader.commit()
    slow, quick = pair.dialog(), pair.dialog()
    sender.send(slow, pair.request, "slow")
    assert readers[0].bodies(pair.far) == []  # nothing yet
    readers[0].commit()
    pair.say(quick, "quick")
    assert readers[1].bodies(pair.far) == ["quick"]
    readers[1].commit()
    sender.commit()
    assert readers[0].bodies(pair.far) == ["slow"]
    readers[0].rollback()
    assert readers[1].bodies(pair.far) == ["slow"]
    readers[1].commit()


def test_the_second_visit_knows_what_is_decided(session: Session, another: Open, pair: Pair) -> None:
    """The first learns nothing: many sessions of a pool have no second."""
    reader = another()
    pair.say(pair.dialog(), "one", "two", "three")
    assert reader.bodies(pair.far, 1) == ["one"]
    reader.commit()
    assert mark(reader, pair)[2] == -1
    assert reader.bodies(pair.far, 1) == ["two"]
    reader.commit()
    assert mark(reader, pair)[2] == 2


def test_the_first_visit_passes_what_others_hold(session: Session, another: Open, pair: Pair) -> None:
    holder, reader = another(), another()
    pair.say(pair.dialog(), *(f"a{number}" for number in range(250)))
    pair.say(pair.dialog(), "b0", "b1")
    assert holder.bodies(pair.far, 1) == ["a0"]
    # The holder's transaction is older, but sends nothing.
    assert reader.bodies(pair.far, 1) == ["b0"]
    reader.commit()
    assert mark(reader, pair)[0] == 250
    with nothing_careful(session):
        assert reader.bodies(pair.far, 1) == ["b1"]
        reader.commit()


def test_the_mark_passes_no_prepared_sender(session: Session, another: Open, pair: Pair) -> None:
    sender, reader = another(), another()
    sender.send(pair.dialog(), pair.request, "prepared")
    sender.do("PREPARE TRANSACTION 'sender'")
    pair.say(pair.dialog(), "later")
    assert reader.bodies(pair.far) == ["later"]
    reader.commit()
    empty = another()
    assert empty.bodies(pair.far) == []
    empty.commit()
    session.do("COMMIT PREPARED 'sender'")
    assert empty.bodies(pair.far) == ["prepared"]
    empty.rollback()
    assert reader.bodies(pair.far) == ["prepared"]
    reader.commit()


def test_what_is_due_or_waits_elsewhere_is_no_empty_queue(
    session: Session, another: Open, pair: Pair
) -> None:
    reader = another()
    near, far = pair.conversing()
    assert reader.bodies(pair.far) == []
    reader.commit()
    session.do("SELECT ssb.begin_conversation_timer(%s, 100000)", far)
    session.do(
        "UPDATE ssb.conversation_endpoint SET due_at = now(), dialog_timer = now()"
        " WHERE conversation_handle = %s",
        far,
    )
    assert len(reader.receive(pair.far)) == 1
    reader.commit()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    pair.say(near, "waits")
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert reader.bodies(pair.far) == ["waits"]
    reader.commit()


def of_levels(session: Session, pair: Pair) -> tuple[uuid.UUID, uuid.UUID]:
    """A dialog with a high priority, and one without."""
    session.do("SELECT ssb.create_broker_priority('high', %s, priority_level => 9)", pair.contract)
    high = pair.dialog()
    pair.say(high, "high")
    session.do("SELECT ssb.drop_broker_priority('high')")
    low = pair.dialog()
    pair.say(low, "low")
    return high, low


def test_below_a_level_that_is_in_other_hands_all_is_found(
    session: Session, another: Open, pair: Pair
) -> None:
    """What is held at one level says nothing of how far the next one was read."""
    high, low = of_levels(session, pair)
    holder, reader = another(), another()
    for expected in ("high", "low"):
        assert reader.bodies(pair.far, 1) == [expected]
        reader.commit()
    for _ in range(3):
        words = [f"l{number}" for number in range(100)]
        pair.say(low, *words)
        pair.say(high, "h")
        assert holder.bodies(pair.far) == ["h"]
        for word in words:
            assert reader.bodies(pair.far, 1) == [word]
            reader.commit()
        assert reader.bodies(pair.far, 1) == []
        reader.commit()
        holder.commit()


def test_a_level_whose_messages_the_mark_has_passed(session: Session, another: Open, pair: Pair) -> None:
    high, low = of_levels(session, pair)
    other = pair.dialog()
    assert [session.bodies(pair.far, 1) for _ in range(2)] == [["high"], ["low"]]
    holder, second, reader = another(), another(), another()
    words = [f"h{number}" for number in range(250)]
    pair.say(high, *words)
    assert holder.bodies(pair.far, 1) == ["h0"]
    for _ in range(2):
        assert reader.bodies(pair.far, 1) == []
        reader.commit()
    pair.say(low, "l0", "l1")
    pair.say(other, "o0")
    assert second.bodies(pair.far, 1) == ["l0"]
    assert reader.bodies(pair.far, 1) == ["o0"]
    reader.commit()
    second.commit()
    assert reader.bodies(pair.far, 1) == ["l1"]
    reader.rollback()
    holder.commit()
    assert reader.bodies(pair.far, 1) == ["h1"]
    assert reader.bodies(pair.far) == words[2:]
    reader.commit()
    assert reader.bodies(pair.far) == ["l1"]
    reader.commit()
