"""What a reader has looked at can change before it has the lock: by pauses put between the two.

In careful readers the pause is ssb_internal.claim_is_alive, which is asked about a group that a
claim has set aside; in ssb.receive's fast path it is a line put into the function. A
session that holds the pause's lock itself does not wait.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from interleaving.pauses import PAUSE, RECEIVE, WAIT, changed, nothing_careful
from runtime.broker import Pair, Session, start_and_block

Open = Callable[[], Session]


@pytest.fixture
def pausing_claims(session: Session) -> Iterator[None]:
    """Whoever asks whether a claim lives waits for the pause; then those above 100 do."""

    def change(text: str) -> str:
        return (
            text[: text.index("DECLARE")]
            + "BEGIN PERFORM pg_advisory_lock(4711); PERFORM pg_advisory_unlock(4711);"
            + " RETURN p_claim_id > 100; END;$function$"
        )

    with changed(session, "ssb_internal.claim_is_alive(bigint)", change):
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
    # Dialogs have shared a group: RECEIVE goes its careful way.
    session.do("UPDATE ssb.queue SET has_groups = true WHERE name = %s", pair.far)
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


_LOOKS = "-- Another session has locked its group: look and lock in one."
_LOCKS = "AND e.closed_at IS NULL AND e.claim_id IS NULL"


@contextmanager
def fast_path(session: Session, *, before_walk: str = "", before_lock: str = "") -> Iterator[None]:
    """RECEIVE's fast path always: with a statement before it walks past what others hold, a condition there.

    However long the test takes, it is the same tenth of a second.
    """

    def change(text: str) -> str:
        moment = "v_position[4 /* at_looked */] <> (date_part('epoch', clock_timestamp()) * 10)::bigint THEN"
        walk = text.index(_LOOKS)
        assert moment in text[:walk]
        assert _LOCKS in text[walk:]
        return (
            text[:walk].replace(moment, "false THEN")
            + before_walk
            + text[walk:].replace(_LOCKS, f"{_LOCKS} {before_lock}")
            + " "
        )

    with changed(session, RECEIVE, change):
        yield


_PAUSES = "AND CASE WHEN pg_advisory_lock(4711)::text || 'x' <> 'y' THEN pg_advisory_unlock(4711) END"


def reader_with_mark(session: Session, another: Open, pair: Pair) -> Session:
    """A session that takes the fast path from now on."""
    reader = another()
    session.send(pair.dialog(), pair.request, "before")
    assert reader.bodies(pair.far, 1) == ["before"]
    reader.commit()
    return reader


def send_all(session: Session, pair: Pair, bodies: str) -> None:
    """Messages like a1 b1 a2: each letter is a conversation."""
    handles = {name: pair.dialog() for name in sorted({body[0] for body in bodies.split()})}
    for body in bodies.split():
        session.send(handles[body[0]], pair.request, body)


def test_the_fast_path_takes_the_first_of_a_group_that_comes_free(
    session: Session, another: Open, pair: Pair
) -> None:
    owner, reader = another(), reader_with_mark(session, another, pair)
    send_all(session, pair, "a1 a2")
    with fast_path(session, before_walk=WAIT):
        session.do(PAUSE)
        assert owner.bodies(pair.far, 1) == ["a1"]
        # It has seen a1, whose group the owner holds, and looks for another one.
        waiting = start_and_block(session, reader, lambda: reader.bodies(pair.far, 1))
        owner.rollback()
        session.do("SELECT pg_advisory_unlock_all()")
        assert waiting.result() == ["a1"]
        assert reader.bodies(pair.far) == ["a2"]
        reader.commit()


@pytest.mark.parametrize("top", [1, 2, None])
def test_of_a_held_group_nothing_is_taken_however_many_stand_ahead(
    session: Session, another: Open, pair: Pair, top: int | None
) -> None:
    owners, reader = [another(), another()], reader_with_mark(session, another, pair)
    of_a = " ".join(f"a{n}" for n in range(2, 62))
    send_all(session, pair, f"a1 b1 {of_a} b2 c1 b3 c2 d1")
    with fast_path(session):
        assert [owner.bodies(pair.far, 1) for owner in owners] == [["a1"], ["b1"]]
        with nothing_careful(session):
            assert reader.bodies(pair.far, top) == ["c1", "c2"][:top]
            reader.commit()
        owners[1].commit()
        owners[0].rollback()
        got: list[str | None] = []
        while bodies := reader.bodies(pair.far, top):
            got += bodies
            reader.commit()
        assert [body for body in got if body and body[0] == "a"] == ["a1", *of_a.split()]
        assert [body for body in got if body and body[0] == "b"] == ["b2", "b3"]
        assert got[0] == "a1"
        reader.commit()


def test_behind_200_messages_of_a_held_group(session: Session, another: Open, pair: Pair) -> None:
    owner, reader = another(), reader_with_mark(session, another, pair)
    send_all(session, pair, " ".join(f"a{n}" for n in range(250)) + " b1")
    with fast_path(session):
        assert owner.bodies(pair.far, 1) == ["a0"]
        assert reader.bodies(pair.far, 1) == ["b1"]
        assert reader.bodies(pair.far, 1) == []
        reader.commit()
        owner.rollback()
        assert reader.bodies(pair.far, 1) == ["a0"]
        reader.rollback()


@pytest.mark.parametrize("released", ["the first", "one between"])
def test_a_reader_begins_where_it_found_a_free_one_while_the_first_is_held(
    session: Session, another: Open, pair: Pair, released: str
) -> None:
    owners, reader = [another(), another()], reader_with_mark(session, another, pair)
    of_c, of_d = ([f"{name}{n}" for n in range(40)] for name in "cd")
    send_all(session, pair, " ".join(["a1", "b1", "b2", *of_c, *of_d]))

    def take() -> str | None:
        (body,) = reader.bodies(pair.far, 1)
        reader.commit()
        return body

    with fast_path(session):
        assert [owner.bodies(pair.far, 1) for owner in owners] == [["a1"], ["b1"]]
        with nothing_careful(session):
            assert [take() for _ in range(60)] == of_c + of_d[:20]
        # The first is looked at always, what lies between it and there in the next tenth of a second.
        if released == "the first":
            owners[0].rollback()
            assert take() == "a1"
        else:
            owners[1].commit()
        assert take() == "d20"
    if released == "one between":
        session.do("SELECT pg_sleep(0.1)")
        assert take() == "b2"
    assert take() == "d21"


def test_what_comes_free_before_the_place_where_a_reader_begins_is_found_when_nothing_else_is(
    session: Session, another: Open, pair: Pair
) -> None:
    owners, reader = [another(), another()], reader_with_mark(session, another, pair)
    send_all(session, pair, " ".join(["a1", "b1", *(f"c{n}" for n in range(60)), "b2"]))
    with fast_path(session):
        assert [owner.bodies(pair.far, 1) for owner in owners] == [["a1"], ["b1"]]
        for number in range(60):
            assert reader.bodies(pair.far, 1) == [f"c{number}"]
            reader.commit()
        assert reader.bodies(pair.far, 1) == []
        owners[1].rollback()
        for body in ("b1", "b2"):
            assert reader.bodies(pair.far, 1) == [body]
            reader.commit()
        assert reader.bodies(pair.far, 1) == []


@pytest.mark.parametrize("outcome", ["commit", "rollback"])
def test_the_first_comes_free_while_it_is_looked_at(
    session: Session, another: Open, pair: Pair, outcome: str
) -> None:
    owner, reader = another(), reader_with_mark(session, another, pair)
    send_all(session, pair, "a1 b1 a2")
    with fast_path(session, before_lock=_PAUSES):
        assert owner.bodies(pair.far, 1) == ["a1"]
        session.do(PAUSE)
        # It sees a1 and is about to try its group.
        waiting = start_and_block(session, reader, lambda: reader.bodies(pair.far, 1))
        if outcome == "commit":
            owner.commit()
            # What is gone needs nothing more than another look.
            with nothing_careful(session):
                session.do("SELECT pg_advisory_unlock_all()")
                assert waiting.result() == ["b1"]
        else:
            owner.rollback()
            session.do("SELECT pg_advisory_unlock_all()")
            assert waiting.result() == ["a1"]
            assert reader.bodies(pair.far, 1) == ["b1"]
            assert reader.bodies(pair.far, 1) == ["a2"]
        reader.commit()
    reader.bodies(pair.far)
    reader.commit()


def test_what_was_put_back_is_first_for_whoever_looks_next(
    session: Session, another: Open, pair: Pair
) -> None:
    first, second, reader = another(), another(), reader_with_mark(session, another, pair)
    send_all(session, pair, "a1 b1 c1 d1 b2 a2 e1")
    with fast_path(session):
        assert first.bodies(pair.far, 1) == ["a1"]
        assert second.bodies(pair.far, 1) == ["b1"]
        assert reader.bodies(pair.far, 1) == ["c1"]
        reader.commit()
        second.rollback()
        first.rollback()
        for body in ("a1", "b1", "d1", "b2", "a2", "e1"):
            assert reader.bodies(pair.far, 1) == [body]
            reader.commit()
        assert reader.bodies(pair.far, 1) == []
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


@pytest.mark.parametrize("end", ["ROLLBACK", "COMMIT"])
def test_what_a_prepared_transaction_received_comes_back(
    session: Session, another: Callable[[], Session], pair: Pair, end: str
) -> None:
    """Its session has passed that, and has kept its settings."""
    if session.value("SHOW max_prepared_transactions") == "0":
        pytest.skip("the server has no prepared transactions")
    for i in range(300):
        session.send(pair.dialog(), pair.request, str(i))
    reader = another()
    reader.connection.autocommit = True
    received = [body for _ in range(3) for body in reader.bodies(pair.far, 1)]
    reader.do("BEGIN")
    for _ in range(250):
        received += reader.bodies(pair.far, 1)
    reader.do("PREPARE TRANSACTION 'reader'")
    # It is not decided: the rest is there.
    received += reader.bodies(pair.far, 1)
    assert received == [str(i) for i in range(254)]
    reader.do(f"{end} PREPARED 'reader'")
    time.sleep(0.11)
    late: list[str | None] = []
    while bodies := reader.bodies(pair.far, 1):
        late += bodies
    back = [] if end == "COMMIT" else [str(i) for i in range(3, 253)]
    assert sorted(late) == sorted([*back, *(str(i) for i in range(254, 300))])
    assert session.bodies(pair.far) == []


@pytest.mark.long
def test_get_conversation_group_sees_what_a_prepared_transaction_received(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    if session.value("SHOW max_prepared_transactions") == "0":
        pytest.skip("the server has no prepared transactions")
    for i in range(300):
        session.send(pair.dialog(), pair.request, str(i))
    reader = another()
    reader.connection.autocommit = True
    get_group = "SELECT ssb.get_conversation_group(%s)"

    def receive() -> list[str | None]:
        group = reader.value(get_group, pair.far)
        return [m.body for m in reader.receive(pair.far, conversation_group=group)] if group else []

    received = [body for _ in range(60) for body in receive()]
    reader.do("BEGIN")
    received += [body for _ in range(200) for body in receive()]
    assert received == [str(i) for i in range(260)]
    reader.do("PREPARE TRANSACTION 'group reader'")
    reader.do("ROLLBACK PREPARED 'group reader'")
    late: list[str | None] = []
    while bodies := receive():
        late += bodies
    assert sorted(late) == sorted(str(i) for i in range(60, 300))
