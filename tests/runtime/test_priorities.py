"""BROKER PRIORITY: which level an endpoint gets, and what RECEIVE makes of it."""

from collections.abc import Callable

import pytest
from runtime.broker import Pair, Session, refused

SIDES = """
SELECT e.priority FROM ssb.conversation_endpoint AS n
  JOIN ssb.conversation_endpoint AS e ON e.conversation_id = n.conversation_id
 WHERE n.conversation_handle = %s ORDER BY e.is_initiator DESC
"""
"""Levels of the initiator and the target."""


def priority(session: Session, name: str, pair: Pair, level: int, **match: str) -> None:
    words = "".join(f", {key} => %s" for key in match)
    session.do(
        f"SELECT ssb.create_broker_priority(%s, priority_level => %s{words})", name, level, *match.values()
    )


def levels(session: Session, pair: Pair) -> tuple[int, int]:
    near, far = pair.conversing()
    found = [
        session.value(
            "SELECT priority FROM sys.conversation_endpoints WHERE conversation_handle = %s", handle
        )
        for handle in (near, far)
    ]
    return found[0], found[1]


def test_without_a_match_the_level_is_5(session: Session, pair: Pair) -> None:
    assert levels(session, pair) == (5, 5)


def test_each_side_finds_its_own_best_match(session: Session, pair: Pair) -> None:
    priority(session, f"contract {pair.contract}", pair, 7, contract=pair.contract)
    assert levels(session, pair) == (7, 7)
    priority(session, f"near {pair.contract}", pair, 9, contract=pair.contract, local_service=pair.initiator)
    assert levels(session, pair) == (9, 7)
    priority(
        session, f"service {pair.contract}", pair, 1, local_service=pair.target, remote_service=pair.initiator
    )
    assert levels(session, pair) == (9, 7)
    priority(session, f"far {pair.contract}", pair, 2, contract=pair.contract, remote_service=pair.initiator)
    assert levels(session, pair) == (9, 2)


def test_higher_levels_are_received_first(session: Session, pair: Pair) -> None:
    low = pair.dialog()
    session.send(low, pair.request, "low")
    priority(session, f"high {pair.contract}", pair, 8, contract=pair.contract)
    high = pair.dialog()
    session.send(high, pair.request, "high")
    session.send(low, pair.request, "low again")
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) == session.value(
        f"SELECT conversation_group_id FROM {pair.far} WHERE priority = 8"
    )
    assert session.column(f"SELECT priority FROM {pair.far}") == [8, 5, 5]
    assert session.bodies(pair.far) == ["high"]
    assert session.bodies(pair.far) == ["low", "low again"]


def test_in_a_group_the_higher_conversation_comes_first(session: Session, pair: Pair) -> None:
    low_near, low_far = pair.conversing()
    priority(session, f"in group {pair.contract}", pair, 10, contract=pair.contract)
    high_near = pair.dialog(related_conversation=low_near)
    session.send(high_near, pair.request)
    high_far = session.receive(pair.far)[0].handle
    session.send(low_far, pair.reply, "low")
    session.send(high_far, pair.reply, "high")
    assert session.bodies(pair.near) == ["high", "low"]


def test_a_level_stays_for_the_life_of_the_endpoint(session: Session, pair: Pair) -> None:
    name = f"altered {pair.contract}"
    priority(session, name, pair, 3, contract=pair.contract)
    near, _ = pair.conversing()
    session.do("SELECT ssb.alter_broker_priority(%s, priority_level => 6)", name)
    assert levels(session, pair) == (6, 6)
    session.do("SELECT ssb.drop_broker_priority(%s)", name)
    assert levels(session, pair) == (5, 5)
    assert (
        session.value("SELECT priority FROM sys.conversation_endpoints WHERE conversation_handle = %s", near)
        == 3
    )


def test_the_target_gets_the_level_of_when_the_first_message_comes(session: Session, pair: Pair) -> None:
    assert levels(session, pair) == (5, 5)
    near = pair.dialog()
    priority(session, f"between {pair.contract}", pair, 8, contract=pair.contract)
    session.send(near, pair.request)
    assert session.column(f"SELECT priority FROM {pair.far}") == [8]
    assert session.column(SIDES, near) == [5, 8]


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_level_counts_from_the_commit_of_its_definition(
    session: Session, another: Callable[[], Session], pair: Pair, is_kept: bool
) -> None:
    """Sessions that have been that way before, and one that changes the level meanwhile."""
    sender, reader, owner = another(), another(), another()
    sender.connection.autocommit = reader.connection.autocommit = True
    assert levels(session, pair) == (5, 5)
    assert sender.column(SIDES, pair.send_new(session=sender)) == [5, 5]
    assert reader.bodies(pair.far, 1) == ["job"]
    owner.do("SELECT ssb.create_broker_priority('later', contract => %s, priority_level => 9)", pair.contract)
    assert sender.column(SIDES, pair.send_new("before", session=sender)) == [5, 5]
    assert sender.column(SIDES, pair.send_new("before too", session=sender)) == [5, 5]
    if is_kept:
        owner.commit()
    else:
        owner.rollback()
    level = 9 if is_kept else 5
    for _ in range(2):
        assert sender.column(SIDES, pair.send_new("after", session=sender)) == [level, level]
    # The reader has seen nothing but level 5.
    expected = ["before", "before too", "after", "after"]
    if is_kept:
        expected = [*expected[2:], *expected[:2]]
    assert [body for _ in range(5) for body in reader.bodies(pair.far, 1)] == expected
    if is_kept:
        session.do("SELECT ssb.drop_broker_priority('later')")
        assert sender.column(SIDES, pair.send_new("last", session=sender)) == [5, 5]
        # A queue forgets no level; a reader finds what comes at the one that was empty.
        assert reader.bodies(pair.far, 1) == ["last"]


def test_who_is_held_up_at_one_level_is_passed_for_the_next(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    priority(session, f"high {pair.contract}", pair, 8, contract=pair.contract)
    high = pair.dialog()
    session.send(high, pair.request, "high", "high too")
    session.do("SELECT ssb.drop_broker_priority(%s)", f"high {pair.contract}")
    session.send(pair.dialog(), pair.request, "low")
    holder, reader = another(), another()
    reader.connection.autocommit = True
    assert holder.bodies(pair.far, 1) == ["high"]
    assert reader.bodies(pair.far, 1) == ["low"]
    assert reader.bodies(pair.far, 1) == []
    holder.rollback()
    assert [body for _ in range(3) for body in reader.bodies(pair.far, 1)] == ["high", "high too"]


@pytest.mark.parametrize("level", [0, 11, -1])
def test_a_level_is_1_to_10(session: Session, pair: Pair, level: int) -> None:
    with refused(1080):
        priority(session, "x", pair, level)


def test_refusals(session: Session, pair: Pair) -> None:
    name = f"refused {pair.contract}"
    priority(session, name, pair, 3, contract=pair.contract)
    with refused(15530):
        priority(session, name, pair, 3)
    with refused(15530):
        priority(session, "same match", pair, 3, contract=pair.contract)
    with refused(15151):
        priority(session, "x", pair, 3, contract="//nothing")
    with refused(15151):
        priority(session, "x", pair, 3, local_service="//nothing")
    with refused(15151):
        session.do("SELECT ssb.alter_broker_priority('//nothing')")
    with refused(3716):
        session.do("SELECT ssb.alter_service(%s, drop_contracts => ARRAY[%s])", pair.target, pair.contract)
        session.do("SELECT ssb.drop_contract(%s)", pair.contract)
