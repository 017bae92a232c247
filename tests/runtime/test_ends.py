"""END of many conversations in one call does what END of each does, whatever is special about some."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from runtime.broker import END, ERROR, Pair, Session, refused

Dialog = tuple[uuid.UUID, uuid.UUID | None]
Make = Callable[[Session, Pair], Dialog]


def converse(session: Session, pair: Pair, **options: Any) -> tuple[uuid.UUID, uuid.UUID]:
    """As Pair.conversing, whatever else waits in the queue."""
    near = pair.dialog(**options)
    session.send(near, pair.request, "hello")
    far = session.value(f"SELECT conversation_handle FROM {pair.far} ORDER BY queuing_order DESC LIMIT 1")
    assert len(session.receive(pair.far, conversation=far)) == 1
    return near, far


def plain(session: Session, pair: Pair) -> Dialog:
    return converse(session, pair)


def with_unread_messages(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    session.send(near, pair.request, "unread")
    session.send(far, pair.reply, "unread too")
    return near, far


def long_lived(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    for i in range(20):
        session.send(far, pair.reply, str(i))
    return near, far


def ended_by_the_far_side(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    session.end(far)
    return near, far


def ended_by_the_near_side(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    session.end(near)
    return near, far


def ended_with_error(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    session.end(far, error=7, description="no")
    return near, far


def with_timer(session: Session, pair: Pair) -> Dialog:
    near, far = converse(session, pair)
    for handle in (near, far):
        session.do("SELECT ssb.begin_conversation_timer(%s, 3600)", handle)
    return near, far


def with_lifetime(session: Session, pair: Pair) -> Dialog:
    return converse(session, pair, lifetime=3600)


def never_used(session: Session, pair: Pair) -> Dialog:
    return pair.dialog(), None


def in_one_group(session: Session, pair: Pair) -> Dialog:
    first, _ = converse(session, pair)
    near, far = converse(session, pair, related_conversation=first)
    return near, far


KINDS: list[Make] = [
    plain,
    with_unread_messages,
    long_lived,
    ended_by_the_far_side,
    ended_by_the_near_side,
    ended_with_error,
    with_timer,
    with_lifetime,
    never_used,
    in_one_group,
]


def outcome(session: Session, pair: Pair, dialogs: list[Dialog]) -> Any:
    """The states of both sides, and what each would receive, dialog by dialog."""
    received: dict[uuid.UUID, list[Any]] = {}
    for queue in (pair.near, pair.far):
        while messages := session.receive(queue):
            for message in messages:
                received.setdefault(message.handle, []).append(
                    ("END" if message.type == END else message.type.split("/")[2], message.body)
                )
    return [
        [(session.state(side), received.get(side)) for side in dialog if side is not None]
        for dialog in dialogs
    ]


@pytest.mark.parametrize("place", [0, 1], ids=["initiators", "targets"])
def test_a_set_ends_as_each_alone(session: Session, place: int) -> None:
    outcomes = []
    for as_set in (True, False):
        pair = Pair(session)
        dialogs = [kind(session, pair) for kind in KINDS for _ in range(3)]
        chosen = [dialog for dialog in dialogs if dialog[place] and session.state(dialog[place]) != "CD"]
        chosen = [dialog for dialog in chosen if place == 1 or session.state(dialog[0]) != "DO"]
        if place == 0:
            chosen = [dialog for dialog in chosen if session.state(dialog[0]) is not None]
        handles = [dialog[place] for dialog in chosen]
        assert len(handles) > 20
        if as_set:
            assert session.value("SELECT ssb.end_conversations(%s)", handles) == len(handles)
        else:
            for handle in handles:
                assert handle is not None
                session.end(handle)
        outcomes.append(outcome(session, pair, dialogs))
    assert outcomes[0] == outcomes[1]


def test_both_sides_of_dialogs_in_one_set(session: Session, pair: Pair) -> None:
    dialogs = [pair.conversing() for _ in range(3)]
    handles = [handle for dialog in dialogs for handle in dialog]
    assert session.value("SELECT ssb.end_conversations(%s)", handles) == 6
    assert [session.state(far) for _, far in dialogs] == ["CD"] * 3
    assert [session.state(near) for near, _ in dialogs] == [None] * 3
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []


def test_the_set_ends_all_or_none(session: Session, pair: Pair) -> None:
    handles = [pair.conversing()[1] for _ in range(4)]
    for wrong, number in (([uuid.uuid4()], 8426), (handles[:1], 8427), ([None], 8418)):
        with refused(number):
            session.do("SELECT ssb.end_conversations(%s::uuid[])", [*handles, *wrong])
        assert [session.state(handle) for handle in handles] == ["CO"] * 4
    assert session.receive(pair.near) == []


@pytest.mark.parametrize("count", [20, 1100])
def test_sets_with_kept_plans_and_larger_ones_end_alike(session: Session, pair: Pair, count: int) -> None:
    names = (pair.initiator, pair.target, pair.contract, pair.request)
    session.do("SELECT ssb.send_new(%s, %s, %s, %s, i::text) FROM generate_series(1, %s) AS i", *names, count)
    got = session.rows(
        "SELECT conversation_handle FROM ssb.receive_and_end(%s, groups => %s)", pair.far, count
    )
    assert len(got) == count
    of_queue = "queue_id = (SELECT q.queue_id FROM ssb.queue AS q WHERE q.name = %s)"
    sides = f"SELECT count(*), count(closed_at) FROM ssb.conversation_endpoint WHERE {of_queue}"
    waiting = f"SELECT count(*) FROM ssb.message_stored WHERE {of_queue}"
    assert session.rows(sides, pair.far) == [(count, count)]
    assert (session.value(waiting, pair.far), session.value(waiting, pair.near)) == (0, count)
    for name, value in (("enable_seqscan", "on"), ("plan_cache_mode", "auto")):
        assert session.value(f"SHOW {name}") == value
    assert session.value("SELECT ssb.end_finished(%s, %s)", pair.near, count) == count
    assert session.rows(sides, pair.near) == [(0, 0)]
    assert session.value(waiting, pair.near) == 0


def test_a_set_needs_the_right_to_receive(session: Session, pair: Pair) -> None:
    handles = [pair.conversing()[1] for _ in range(5)]
    session.do("CREATE ROLE pgsb_nobody")
    try:
        session.do("SELECT ssb.end_conversations('{}')")
        session.do("SET ROLE pgsb_nobody")
        with refused(229):
            session.do("SELECT ssb.end_conversations(%s)", handles)
    finally:
        session.do("RESET ROLE")
        session.do("DROP ROLE pgsb_nobody")
    assert [session.state(handle) for handle in handles] == ["CO"] * 5


def test_tables_in_change_leave_sets_to_the_careful_way(session: Session, pair: Pair) -> None:
    handles = [pair.conversing() for _ in range(5)]
    session.do("SELECT setval('ssb.rotation_state', 3)")
    try:
        assert session.value("SELECT ssb.end_conversations(%s)", [far for _, far in handles]) == 5
        assert [session.receive(pair.near)[0].type for _ in handles] == [END] * 5
    finally:
        session.do("SELECT setval('ssb.rotation_state', 0)")


@pytest.mark.parametrize("state", [2, 3])
def test_where_both_tables_are_in_use_nothing_is_left(session: Session, pair: Pair, state: int) -> None:
    near, far = pair.conversing()
    for rotation in (2, 3):
        session.do("SELECT setval('ssb.rotation_state', %s)", rotation)
        session.send(near, pair.request, "unread")
        session.send(far, pair.reply, "unread too")
    session.do("SELECT setval('ssb.rotation_state', %s)", state)
    try:
        session.end(far)
        session.end(near)
        assert session.value("SELECT count(*) FROM ssb.message_stored") == 0
    finally:
        session.do("SELECT setval('ssb.rotation_state', 0)")


def test_a_target_is_known_by_its_handle(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    told = session.rows("SELECT ssb_internal.is_target_handle(h) FROM unnest(%s::uuid[]) AS h", [near, far])
    assert told == [(False,), (True,)]
    assert session.group(near) != session.group(far)


def test_the_description_of_an_error_is_xml_whatever_it_holds(session: Session, pair: Pair) -> None:
    """A program that reads Errors as XML failed with each try, and its queue was disabled."""
    near, _ = pair.conversing()
    session.end(near, error=7, description="a < b & \x01\x0b\x1f\ufffe\uffff\t]]>")
    kind, body, _, _ = session.receive(pair.far)[0]
    assert kind == ERROR
    assert body is not None
    assert session.value("SELECT sys.xml_is_well_formed(%s::text)", body)
    assert "<Code>7</Code><Description>a &lt; b &amp; \t]]&gt;</Description>" in body
