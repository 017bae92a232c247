"""RECEIVE where one snapshot serves the transaction: what others have had since is passed, not a failure."""

from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import Pair, Session

pytestmark = pytest.mark.one_postgres

Another = Callable[[], Session]
LEVELS = ["REPEATABLE READ", "SERIALIZABLE"]


def by_snapshot(another: Another, level: str, pair: Pair) -> Session:
    """A reader whose snapshot is taken."""
    reader = another()
    reader.do(f"BEGIN ISOLATION LEVEL {level}")
    assert reader.value(f"SELECT count(*) FROM {pair.far}") > 0
    return reader


@pytest.mark.parametrize("visited", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_what_another_has_received_since_is_passed(
    session: Session, another: Another, pair: Pair, level: str, visited: bool
) -> None:
    for body in ("first", "second", "third"):
        session.send(pair.dialog(), pair.request, body)
    reader = another()
    if visited:
        assert reader.bodies(pair.far, 1) == ["first"]
        reader.commit()
    reader.do(f"BEGIN ISOLATION LEVEL {level}")
    waiting = reader.value(f"SELECT count(*) FROM {pair.far}")
    other = another()
    had = other.bodies(pair.far, 1)
    other.commit()
    assert had == (["second"] if visited else ["first"])
    left = ["third"] if visited else ["second", "third"]
    assert [reader.bodies(pair.far, 1) for _ in left] == [[body] for body in left]
    assert reader.bodies(pair.far, 1) == []
    reader.commit()
    assert waiting == len(left) + 1
    assert session.value("SELECT count(*) FROM ssb.message_stored") == 0


@pytest.mark.parametrize("level", LEVELS)
def test_a_message_of_a_conversation_whose_first_is_gone_waits_for_the_next_snapshot(
    session: Session, another: Another, pair: Pair, level: str
) -> None:
    """One that another has in hand is passed, as at any level."""
    dialog = pair.dialog()
    for body in ("first", "second"):
        session.send(dialog, pair.request, body)
    session.send(pair.dialog(), pair.request, "of another")
    reader, other, third = by_snapshot(another, level, pair), another(), another()
    assert other.bodies(pair.far, 1) == ["first"]
    other.commit()
    third.do("BEGIN")
    assert third.bodies(pair.far, 1) == ["second"]
    assert reader.bodies(pair.far) == ["of another"]
    assert reader.bodies(pair.far) == []
    third.rollback()
    assert reader.bodies(pair.far) == []
    reader.commit()
    assert reader.bodies(pair.far) == ["second"]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_left_of_a_snapshot_that_others_have_emptied(
    session: Session, another: Another, pair: Pair, level: str
) -> None:
    for body in ("first", "second"):
        session.send(pair.dialog(), pair.request, body)
    reader = by_snapshot(another, level, pair)
    other = another()
    for _ in range(2):
        for message in other.receive(pair.far):
            other.end(message.handle)
        other.commit()
    assert reader.bodies(pair.far) == []
    reader.commit()


@pytest.mark.parametrize("level", LEVELS)
def test_errors_are_those_of_any_level(session: Session, another: Another, pair: Pair, level: str) -> None:
    session.send(pair.dialog(), pair.request, "first")
    reader = by_snapshot(another, level, pair)
    assert reader.bodies(pair.far, 0) == []
    with pytest.raises(psycopg.Error, match="may not be negative"):
        reader.bodies(pair.far, -1)
    reader.rollback()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    reader = by_snapshot(another, level, pair)
    with pytest.raises(psycopg.Error, match="currently disabled"):
        reader.receive(pair.far)
    reader.rollback()


@pytest.mark.parametrize("level", LEVELS)
def test_a_group_that_others_have_had_since_is_not_given(
    session: Session, another: Another, pair: Pair, level: str
) -> None:
    for body in ("first", "second"):
        session.send(pair.dialog(), pair.request, body)
    reader, other = by_snapshot(another, level, pair), another()
    (first,) = other.receive(pair.far, 1)
    other.commit()
    group = reader.value("SELECT ssb.get_conversation_group(%s)", pair.far)
    assert [message.body for message in reader.receive(pair.far, conversation_group=group)] == ["second"]
    assert reader.value("SELECT ssb.get_conversation_group(%s)", pair.far) is None
    # The one that it could not have is not held.
    session.do("SET lock_timeout = '2s'")
    session.end(first.handle)
    reader.commit()
