"""RECEIVE while both message tables are in use: a conversation's messages may lie in them in any order."""

import uuid
from collections.abc import Callable

import pytest
from runtime.broker import Pair, Session

Open = Callable[[], Session]


@pytest.fixture(autouse=True)
def fresh_tables(session: Session) -> None:
    """Both tables empty, new messages go to message_0."""
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    state = "coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)"
    session.do(f"SELECT setval('ssb.rotation_state', ({state} / 8 + 1) * 8)")


def step(session: Session) -> str:
    done: str = session.value("SELECT ssb.rotate_messages(60000)")
    return done


def drain(session: Session) -> None:
    """Enough dead rows for a switch, in another queue."""
    other = Pair(session)
    handle = other.dialog()
    session.do(
        "SELECT ssb.send(%s, %s, %s::bytea) FROM generate_series(1, 500)", handle, other.request, b"x" * 200
    )
    assert len(session.receive(other.far)) == 500


def tables_of(session: Session, body: str) -> list[str]:
    return session.column(
        "SELECT tableoid::regclass::text FROM ssb.message_stored WHERE body = %s", body.encode()
    )


def reader_with_mark(session: Session, another: Open, pair: Pair) -> Session:
    """A session that takes the fast path from now on."""
    reader = another()
    for _ in range(2):
        session.send(pair.dialog(), pair.request, "before")
        assert reader.bodies(pair.far) == ["before"]
        reader.commit()
    return reader


@pytest.mark.parametrize("top", [1, None])
def test_a_late_message_comes_after_those_that_were_moved(
    session: Session, another: Open, pair: Pair, top: int | None
) -> None:
    reader = reader_with_mark(session, another, pair)
    near = pair.dialog()
    session.send(near, pair.request, "first")
    drain(session)
    late = another()
    late.send(near, pair.request, "second")
    assert step(session) == "switched"
    assert step(session) == "moved"
    late.commit()
    session.send(near, pair.request, "third")
    assert tables_of(session, "first") == ["ssb.message_1"]
    assert tables_of(session, "second") == ["ssb.message_0"]
    assert tables_of(session, "third") == ["ssb.message_1"]
    got: list[str] = []
    while bodies := reader.bodies(pair.far, top):
        got += bodies
        reader.commit()
    assert got == ["first", "second", "third"]


@pytest.mark.parametrize("top", [1, None])
def test_what_a_rollback_puts_back_into_the_old_table_is_first(
    session: Session, another: Open, pair: Pair, top: int | None
) -> None:
    reader = reader_with_mark(session, another, pair)
    near = pair.dialog()
    session.send(near, pair.request, "first")
    owner = another()
    assert owner.bodies(pair.far) == ["first"]
    drain(session)
    assert step(session) == "switched"
    assert step(session) == "waiting"
    session.send(near, pair.request, "second")
    session.send(pair.dialog(), pair.request, "other")
    assert reader.bodies(pair.far, top) == ["other"]
    reader.commit()
    owner.rollback()
    got: list[str] = []
    while bodies := reader.bodies(pair.far, top):
        got += bodies
        reader.commit()
    assert got == ["first", "second"]
    reader.commit()
    assert step(session) == "truncated"


def test_a_message_that_moves_between_look_and_lock_is_received_once(
    session: Session, another: Open, pair: Pair
) -> None:
    readers = [reader_with_mark(session, another, pair) for _ in range(2)]
    handles = [pair.dialog() for _ in range(4)]
    for handle in handles:
        session.send(handle, pair.request, "old")
    drain(session)
    assert step(session) == "switched"
    mover = another()
    assert mover.value("SELECT ssb.rotate_messages(60000)") == "moved"
    # All four are the mover's until it commits: neither place is free.
    assert [reader.bodies(pair.far, 1) for reader in readers] == [[], []]
    for reader in readers:
        reader.commit()
    mover.commit()
    got = [reader.bodies(pair.far, 1) for reader in readers for _ in range(2)]
    assert got == [["old"]] * 4
    assert session.bodies(pair.far) == []


def two_levels(session: Session, pair: Pair, reader: Session) -> tuple[uuid.UUID, uuid.UUID]:
    """Dialogs of level 9 and 5; the reader has received a message of each."""
    session.do("SELECT ssb.create_broker_priority('high', %s, priority_level => 9)", pair.contract)
    high = pair.dialog()
    session.send(high, pair.request, "high")
    session.do("SELECT ssb.drop_broker_priority('high')")
    low = pair.dialog()
    session.send(low, pair.request, "low")
    for expected in ("high", "low"):
        assert reader.bodies(pair.far, 1) == [expected]
        reader.commit()
    return high, low


def test_each_level_is_looked_for_in_the_table_where_it_is(
    session: Session, another: Open, pair: Pair
) -> None:
    """A reader's marks of several levels may be of different times."""
    reader = another()
    high, low = two_levels(session, pair, reader)
    drain(session)
    assert step(session) == "switched"
    for round_ in range(2):
        session.send(low, pair.request, f"low {round_}")
        session.send(high, pair.request, f"high {round_}")
        assert tables_of(session, f"high {round_}") == ["ssb.message_1"]
        assert reader.bodies(pair.far, 1) == [f"high {round_}"]
        reader.commit()
        assert reader.bodies(pair.far, 1) == [f"low {round_}"]
        assert reader.bodies(pair.far, 1) == []
        reader.commit()
        step(session)


def test_a_level_whose_mark_is_of_before_the_switch(session: Session, another: Open, pair: Pair) -> None:
    reader = another()
    high, low = two_levels(session, pair, reader)
    position = "current_setting('ssb.read_position_' || q.queue_id || '_9')"
    before = reader.value(f"SELECT {position} FROM ssb.queue AS q WHERE q.name = %s", pair.far)
    drain(session)
    steps = [step(session) for _ in range(4)]
    assert steps[0] == "switched" and "truncated" in steps
    session.send(low, pair.request, "low")
    assert reader.bodies(pair.far, 1) == ["low"]
    reader.commit()
    reader.do(
        "SELECT set_config('ssb.read_position_' || q.queue_id || '_9', %s, false) FROM ssb.queue AS q"
        " WHERE q.name = %s",
        before,
        pair.far,
    )
    session.send(low, pair.request, "low")
    session.send(high, pair.request, "high")
    assert reader.bodies(pair.far, 1) == ["high"]
    reader.commit()
