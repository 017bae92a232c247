"""BROKER PRIORITY: which level an endpoint gets, and what RECEIVE makes of it."""

import pytest
from runtime.broker import Pair, Session, refused


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


@pytest.mark.parametrize("level", [0, 11, -1])
def test_a_level_is_1_to_10(session: Session, pair: Pair, level: int) -> None:
    with refused(33302, "conversation priority 'x' is not valid. The value must be between 1 and 10."):
        priority(session, "x", pair, level)


def test_refusals(session: Session, pair: Pair) -> None:
    name = f"refused {pair.contract}"
    priority(session, name, pair, 3, contract=pair.contract)
    with refused(33303, f"either the name '{name}' or the properties CONTRACT_NAME='ANY', LOCAL_SERVICE_N"):
        priority(session, name, pair, 3)
    with refused(33303, f"'same match' or the properties CONTRACT_NAME='{pair.contract}'"):
        priority(session, "same match", pair, 3, contract=pair.contract)
    with refused(33301, "between 1 and 256 characters long"):
        priority(session, "x", pair, 3, remote_service="")
    with refused(15151):
        priority(session, "x", pair, 3, contract="//nothing")
    with refused(15151):
        priority(session, "x", pair, 3, local_service="//nothing")
    with refused(15151):
        session.do("SELECT ssb.alter_broker_priority('//nothing')")
    with refused(3716):
        session.do("SELECT ssb.alter_service(%s, drop_contracts => ARRAY[%s])", pair.target, pair.contract)
        session.do("SELECT ssb.drop_contract(%s)", pair.contract)
