"""Groups whose leader ends while others join: each conversation keeps a leader, and a group has one."""

import uuid
from collections.abc import Callable

import pytest
from psycopg import errors
from runtime.broker import Pair, Session, start_and_block

Open = Callable[[], Session]


def leaders(session: Session, handles: list[uuid.UUID]) -> list[uuid.UUID | None]:
    """The leader of each, None where no such conversation is there."""
    return session.column(
        "SELECT l.conversation_handle FROM unnest(%s::uuid[]) WITH ORDINALITY AS h (handle, place)"
        " JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = h.handle"
        " LEFT JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id ORDER BY h.place",
        handles,
    )


def test_a_dialog_that_joins_while_the_leader_ends_follows_the_next_one(
    session: Session, another: Open, pair: Pair
) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    group = session.group(first)
    ending, joining = another(), another()
    ending.end(first)
    waiting = start_and_block(
        session, joining, lambda: pair.dialog(joining, related_conversation_group=group)
    )
    ending.commit()
    third = waiting.result()
    joining.commit()
    assert leaders(session, [second, third]) == [second, second]


def test_a_dialog_that_joins_while_all_of_the_group_ends_begins_it_anew(
    session: Session, another: Open, pair: Pair
) -> None:
    first = pair.dialog()
    group = session.group(first)
    ending, joining = another(), another()
    ending.end(first)
    waiting = start_and_block(
        session, joining, lambda: pair.dialog(joining, related_conversation_group=group)
    )
    ending.commit()
    second = waiting.result()
    joining.commit()
    assert leaders(session, [second]) == [second]
    assert session.group(second) == group


def test_a_dialog_that_joins_while_its_member_moves_away_follows_the_group(
    session: Session, another: Open, pair: Pair
) -> None:
    first, elsewhere = pair.dialog(), pair.dialog()
    group = session.group(first)
    moving, joining = another(), another()
    moving.do("SELECT ssb.move_conversation(%s, %s)", first, session.group(elsewhere))
    waiting = start_and_block(
        session, joining, lambda: pair.dialog(joining, related_conversation_group=group)
    )
    moving.commit()
    second = waiting.result()
    joining.commit()
    assert leaders(session, [first, second]) == [elsewhere, second]
    assert session.group(second) == group


def test_a_dialog_that_moves_while_the_leader_ends_waits_for_the_next_one(
    session: Session, another: Open, pair: Pair
) -> None:
    first = pair.dialog()
    second = pair.dialog(related_conversation=first)
    group = session.group(first)
    moved = pair.dialog()
    ending, moving, last = another(), another(), another()
    ending.end(first)
    move = "SELECT ssb.move_conversation(%s, %s)"
    waiting = start_and_block(session, moving, lambda: moving.do(move, moved, group))
    ending.commit()
    waiting.result()
    leaving = start_and_block(session, last, lambda: last.end(second))
    moving.commit()
    leaving.result()
    last.commit()
    assert leaders(session, [moved]) == [moved]


@pytest.mark.parametrize("how", ["begin", "move"])
def test_who_does_not_see_the_one_that_joined_cannot_end_its_leader(
    session: Session, another: Open, pair: Pair, how: str
) -> None:
    leader, other = pair.dialog(), pair.dialog()
    old = another()
    old.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    old.value("SELECT count(*) FROM sys.conversation_endpoints")
    if how == "begin":
        joined = pair.dialog(related_conversation=leader)
    else:
        session.do("SELECT ssb.move_conversation(%s, %s)", other, session.group(leader))
        joined = other
    with pytest.raises(errors.SerializationFailure):
        old.end(leader)
    old.rollback()
    assert leaders(session, [joined]) == [leader]


def test_a_conversation_with_an_end_and_an_error_ends_once(session: Session, pair: Pair) -> None:
    near = pair.dialog(lifetime=3600)
    session.send(near, pair.request, "work")
    (message,) = session.receive(pair.far)
    session.end(message.handle)
    session.do(
        "UPDATE ssb.conversation_endpoint SET lifetime = now(), due_at = now()"
        " WHERE conversation_handle = %s",
        near,
    )
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    other = pair.dialog()
    session.send(other, pair.request, "work")
    (message,) = session.receive(pair.far)
    session.end(message.handle)
    assert session.value("SELECT ssb.end_finished(%s, 1000, true)", pair.near) == 2
    assert session.receive(pair.near) == []


@pytest.mark.parametrize("waits", [True, False])
def test_who_does_not_see_that_a_group_was_begun_cannot_begin_it(
    session: Session, another: Open, pair: Pair, waits: bool
) -> None:
    group = uuid.uuid4()
    first, old = another(), another()
    old.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    old.value("SELECT count(*) FROM sys.conversation_endpoints")
    begun = pair.dialog(first, related_conversation_group=group)
    if waits:
        begin = start_and_block(session, old, lambda: pair.dialog(old, related_conversation_group=group))
        first.commit()
    else:
        first.commit()
        begin = None
    with pytest.raises(errors.SerializationFailure):
        begin.result() if begin is not None else pair.dialog(old, related_conversation_group=group)
    old.rollback()
    joined = pair.dialog(old, related_conversation_group=group)
    old.commit()
    assert leaders(session, [begun, joined]) == [begun, begun]


def test_groups_that_were_begun_long_ago_are_forgotten(session: Session, pair: Pair) -> None:
    session.do("DELETE FROM ssb.begun_group")
    for _ in range(5):
        pair.dialog(related_conversation_group=uuid.uuid4())
    session.do("UPDATE ssb.begun_group SET begun_at = begun_at - interval '61 minutes'")
    old = "SELECT count(*) FROM ssb.begun_group WHERE begun_at < now() - interval '1 hour'"
    assert session.value(old) == 5
    # One of 256 looks for them.
    begun = 0
    while session.value(old) != 0:
        begun += 1
        assert begun < 6000
        pair.dialog(related_conversation_group=uuid.uuid4())
    assert session.value("SELECT count(*) FROM ssb.begun_group") == begun
