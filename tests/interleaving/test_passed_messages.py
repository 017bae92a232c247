"""What a reader has looked at can change before it has the lock: by pauses put between the two.

In careful readers the pause is ssb.claim_is_alive, which is asked about a group that a
claim has set aside; in ssb.receive's fast way it is a line put into the function. A
session that holds the pause's lock itself does not wait.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from runtime.broker import Pair, Session, start_and_block

Open = Callable[[], Session]
PAUSE = "SELECT pg_advisory_lock(4711)"
_WAIT = "PERFORM pg_advisory_lock(4711); PERFORM pg_advisory_unlock(4711);"


@contextmanager
def changed(session: Session, function: str, change: Callable[[str], str]) -> Iterator[None]:
    """The function with another text, for a while."""
    text = session.value("SELECT pg_get_functiondef(%s::regprocedure)", function)
    altered = change(text)
    assert altered != text
    session.connection.execute(altered.encode())
    try:
        yield
    finally:
        session.connection.execute(text.encode())


@pytest.fixture
def pausing_claims(session: Session) -> Iterator[None]:
    """Whoever asks whether a claim lives waits for the pause; then those above 100 do."""

    def change(text: str) -> str:
        start = text.index("SELECT p_claim_id")
        return (
            text[:start]
            + "SELECT pg_advisory_lock(4711); SELECT pg_advisory_unlock(4711);"
            + " SELECT p_claim_id > 100;$function$"
        )

    with changed(session, "ssb.claim_is_alive(bigint)", change):
        yield


def claim(session: Session, group: object, number: int) -> None:
    session.do(
        "UPDATE ssb.conversation_endpoint SET claim_id = %s WHERE conversation_group_id = %s", number, group
    )


def test_a_passed_message_that_comes_free_is_first_of_its_group(
    session: Session, another: Open, pair: Pair, pausing_claims: None
) -> None:
    a, x = pair.dialog(), pair.dialog()
    for handle, body in ((a, "a1"), (x, "x1"), (a, "a2")):
        session.send(handle, pair.request, body)
    (of_x,) = session.column(
        f"SELECT conversation_group_id FROM {pair.far} WHERE convert_from(message_body, 'UTF8') = 'x1'"
    )
    claim(session, of_x, 101)  # alive
    owner, reader = another(), another()
    # With it the planner would have the reader ask only once about the group of a1 and a2.
    reader.do("SET enable_memoize = off")
    assert owner.bodies(pair.far, 1) == ["a1"]
    session.do(PAUSE)
    # It has passed a1, whose group the owner holds, and asks about x1.
    waiting = start_and_block(session, reader, lambda: reader.bodies(pair.far, 1))
    owner.rollback()
    session.do("SELECT pg_advisory_unlock_all()")
    assert waiting.result() == ["a1"]
    assert reader.bodies(pair.far) == ["a2"]


def test_the_fast_way_takes_the_first_of_a_group_that_comes_free(
    session: Session, another: Open, pair: Pair
) -> None:
    mark = "-- Behind it, messages that somebody is receiving need not be tried."

    def change(text: str) -> str:
        # However long the test takes, it is the same tenth of a second.
        assert "v_mark[4] <> (date_part('epoch', clock_timestamp()) * 10)::bigint THEN" in text
        text = text.replace(
            "v_mark[4] <> (date_part('epoch', clock_timestamp()) * 10)::bigint THEN", "false THEN"
        )
        return text.replace(mark, _WAIT)

    a, b = pair.dialog(), pair.dialog()
    for handle, body in ((b, "b1"), (a, "a1"), (a, "a2")):
        session.send(handle, pair.request, body)
    owner, reader = another(), another()
    assert reader.bodies(pair.far, 1) == ["b1"]  # its mark is known from now on
    reader.commit()
    with changed(session, "ssb.receive(text,bigint,uuid,uuid)", change):
        session.do(PAUSE)
        assert owner.bodies(pair.far, 1) == ["a1"]
        # It has seen a1, whose group the owner holds, and looks for another one.
        waiting = start_and_block(session, reader, lambda: reader.bodies(pair.far, 1))
        owner.rollback()
        session.do("SELECT pg_advisory_unlock_all()")
        assert waiting.result() == ["a1"]
        assert reader.bodies(pair.far) == ["a2"]
        reader.commit()


@pytest.mark.parametrize("by", ["conversation", "conversation_group"])
def test_receive_where_finds_what_came_while_it_looked(
    session: Session, another: Open, pair: Pair, pausing_claims: None, by: str
) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request, "first")
    group = session.group(far)
    claim(session, group, 7)  # not alive
    where = {by: far if by == "conversation" else group}
    reader = another()
    session.do(PAUSE)
    # It has seen the first message, and asks about its group.
    waiting = start_and_block(session, reader, lambda: reader.receive(pair.far, **where))
    assert session.bodies(pair.far) == ["first"]
    session.send(near, pair.request, "second")
    session.do("SELECT pg_advisory_unlock_all()")
    assert [message.body for message in waiting.result()] == ["second"]
    reader.commit()
    claim(session, group, 0)
