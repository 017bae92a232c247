"""Timers, lifetimes and the removal of closed endpoints: brought about by whoever looks first.

Time passes here by setting dates back; nothing waits.
"""

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest
from runtime.broker import ERROR, TIMER, Message, Pair, Session, refused

from support import Database


def pass_time(session: Session, handle: uuid.UUID, seconds: int) -> None:
    """As if everything at this endpoint had happened so many seconds earlier."""
    session.do(
        "UPDATE ssb.conversation_endpoint SET dialog_timer = dialog_timer - d, lifetime = lifetime - d,"
        " closed_at = closed_at - d, due_at = due_at - d FROM make_interval(secs => %s) AS d"
        " WHERE conversation_handle = %s",
        seconds,
        handle,
    )


def test_a_timer_sends_a_message_to_its_own_queue(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    pass_time(session, near, 59)
    assert session.receive(pair.near) == []
    pass_time(session, near, 1)
    assert session.receive(pair.near) == [Message(TIMER, None, near, -1)]
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []
    session.send(far, pair.reply)
    assert [m.number for m in session.receive(pair.near)] == [0]


def test_a_later_timer_replaces_the_earlier(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 10)", near)
    session.do("SELECT ssb.begin_conversation_timer(%s, 1000)", near)
    pass_time(session, near, 20)
    assert session.receive(pair.near) == []
    pass_time(session, near, 1000)
    assert len(session.receive(pair.near)) == 1


@pytest.mark.parametrize("seconds", [0, None])
def test_a_timer_is_taken_back(session: Session, pair: Pair, seconds: int | None) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 10)", near)
    session.do("SELECT ssb.begin_conversation_timer(%s, %s)", near, seconds)
    pass_time(session, near, 20)
    assert session.receive(pair.near) == []


def test_a_timer_that_is_rolled_back_comes_again(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 10)", near)
    pass_time(session, near, 10)
    with session.connection.transaction(force_rollback=True):
        assert len(session.receive(pair.near)) == 1
    assert len(session.receive(pair.near)) == 1


def test_a_timer_needs_no_message_before_it(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.do("SELECT ssb.begin_conversation_timer(%s, 10)", near)
    pass_time(session, near, 10)
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.near) == session.group(near)
    assert session.receive(pair.near) == [Message(TIMER, None, near, -1)]


def test_ending_takes_the_timer_along(session: Session, pair: Pair) -> None:
    _, far = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 10)", far)
    session.end(far)
    pass_time(session, far, 20)
    assert session.receive(pair.far) == []


def test_timer_refusals(session: Session, pair: Pair) -> None:
    begin = "SELECT ssb.begin_conversation_timer(%s, %s)"
    with refused(8418):
        session.do(begin, None, 1)
    with refused(8426):
        session.do(begin, uuid.uuid4(), 1)
    with refused(8410):
        session.do(begin, pair.dialog(lifetime=10), 20)
    with refused(1080):
        session.do(begin, pair.dialog(), -1)
    _, far = pair.conversing()
    session.end(far)
    with refused(8458, "'CD'"):
        session.do(begin, far, 1)


def test_a_lifetime_ends_both_sides_with_an_error(session: Session, pair: Pair) -> None:
    near, far = pair.conversing(lifetime=100)
    session.send(near, pair.request, "in time")
    for handle in (near, far):
        pass_time(session, handle, 100)
    assert (session.state(near), session.state(far)) == ("ER", "ER")
    with refused(8429, "'ER'"):
        session.send(near, pair.request)
    with refused(8429, "'ER'"):
        session.send(far, pair.reply)
    session.do("SELECT ssb.deliver_due(%s)", pair.far)  # RECEIVE itself looks once in a tenth of a second
    received = session.receive(pair.far, 1) + session.receive(pair.far)
    assert [m.type for m in received] == [ERROR, pair.request]
    assert received[0].body is not None and "<Code>-8489</Code>" in received[0].body
    assert [m.type for m in session.receive(pair.near)] == [ERROR]
    assert (session.state(near), session.state(far)) == ("ER", "ER")
    session.end(near)
    session.end(far)
    assert session.receive(pair.far) == [] and session.receive(pair.near) == []
    assert (session.state(near), session.state(far)) == (None, "CD")


def test_a_lifetime_shows_in_the_catalog(session: Session, pair: Pair) -> None:
    limited, unlimited = pair.dialog(lifetime=3600), pair.dialog()
    seconds = (
        "SELECT extract(epoch FROM lifetime - (now() AT TIME ZONE 'UTC')) FROM sys.conversation_endpoints"
        " WHERE conversation_handle = %s"
    )
    assert 3500 < session.value(seconds, limited) <= 3600
    assert session.value(seconds, unlimited) > 2**31 - 1000


def test_closed_targets_go_after_30_minutes(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(far)
    session.end(near)
    pass_time(session, far, 1799)
    session.receive(pair.far)
    assert session.state(far) == "CD"
    pass_time(session, far, 61)
    session.receive(pair.far)
    assert session.state(far) is None
    with refused(8426):
        session.end(far)


def test_timers_of_a_queue_that_is_off_keep_no_closed_side(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.end(far)
    session.end(near)
    session.do(
        "SELECT ssb.begin_dialog(%s, %s) FROM generate_series(1, 301)",
        pair.target,
        pair.initiator,
    )
    session.do(
        "UPDATE ssb.conversation_endpoint SET dialog_timer = d, due_at = d"
        " FROM (SELECT now() - interval '1 day' AS d) AS t WHERE closed_at IS NULL"
    )
    pass_time(session, far, 1861)
    session.do("SELECT ssb.deliver_due(%s)", pair.far)
    assert session.state(far) is None


@pytest.mark.parametrize("seconds", [None, 10, 86400])
def test_a_closed_side_is_looked_at_in_time_whatever_its_timer(
    session: Session, pair: Pair, seconds: int | None
) -> None:
    _, far = pair.conversing()
    if seconds is not None:
        session.do("SELECT ssb.begin_conversation_timer(%s, %s)", far, seconds)
    session.end(far)
    due = session.value(
        "SELECT date_part('epoch', due_at - closed_at) FROM ssb.conversation_endpoint"
        " WHERE conversation_handle = %s",
        far,
    )
    # Without a timer it stays what it was from the dialog's beginning: a change would cost an index entry.
    assert 1800 <= due <= 1860


def test_the_far_side_remembers_after_the_closed_endpoint_has_gone(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(far)
    pass_time(session, far, 1860)
    session.receive(pair.far)
    assert (session.state(near), session.state(far)) == ("DI", None)
    session.end(near)
    assert session.state(near) is None


def test_what_waits_for_a_closed_endpoint_goes_with_it(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.near)
    session.send(far, pair.reply)
    session.end(far)
    holder = another()
    holder.do("SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR NO KEY UPDATE", far)
    session.end(near)
    holder.commit()
    assert (session.state(far), len(session.transmissions(far))) == ("DO", 2)
    pass_time(session, near, 31 * 60)
    session.do("SELECT ssb.deliver_due(%s)", pair.near)
    assert (session.state(far), session.transmissions(far)) == ("CD", [])
    assert (
        session.value("SELECT count(*) FROM ssb.conversation_endpoint WHERE conversation_handle = %s", near)
        == 0
    )


def test_an_initiators_trace_goes_when_the_target_has_ended(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(near, error=1, description="x")
    for handle in (near, far):
        pass_time(session, handle, 1800)
    session.receive(pair.near)
    assert session.state(far) == "ER"
    session.end(far)
    pass_time(session, far, 1800)
    session.receive(pair.far)
    left = "SELECT count(*) FROM ssb.conversation_endpoint WHERE conversation_handle = ANY(%s)"
    assert session.value(left, [near, far]) == 0


SEND_NEW = "SELECT ssb.send_new(%s, %s, %s, %s, 'job'::text)"
LEFT = "SELECT count(*) FROM ssb.conversation_endpoint WHERE conversation_handle = ANY(%s)"


def test_short_dialogs_go_as_a_set_31_minutes_after_their_beginning(session: Session, pair: Pair) -> None:
    near = [
        session.value(SEND_NEW, pair.initiator, pair.target, pair.contract, pair.request) for _ in range(5)
    ]
    far = [m.handle for _ in near for m in session.receive(pair.far)]
    for handle in far:
        session.end(handle)
    for handle in near[1:]:
        session.end(handle)
    for handle in far:
        pass_time(session, handle, 1859)
    assert session.receive(pair.far) == [] and session.value(LEFT, far) == 5
    for handle in far:
        pass_time(session, handle, 1)
    assert session.receive(pair.far) == [] and session.value(LEFT, far) == 0
    # The side that has not ended was told for good.
    assert session.state(near[0]) == "DI"
    session.end(near[0])
    assert session.value(LEFT, near) == 0


@pytest.mark.parametrize("in_a_group", [False, True])
def test_a_dialog_that_is_open_then_goes_30_minutes_after_its_end(
    session: Session, pair: Pair, in_a_group: bool
) -> None:
    near, far = pair.conversing()
    if in_a_group:
        leader = session.value(
            "SELECT ssb.begin_dialog(%s, %s, %s)", pair.target, pair.initiator, pair.contract
        )
        session.do("SELECT ssb.move_conversation(%s, %s)", far, session.group(leader))
    due = "SELECT due_at - clock_timestamp() FROM ssb.conversation_endpoint WHERE conversation_handle = %s"
    assert session.value(due, far) > timedelta(minutes=30)
    pass_time(session, far, 1861)
    assert session.receive(pair.far) == []
    assert session.value(due, far) is None
    session.end(far)
    session.end(near)
    pass_time(session, far, 1799)
    assert session.receive(pair.far) == [] and session.value(LEFT, [far]) == 1
    pass_time(session, far, 1)
    assert session.receive(pair.far) == [] and session.value(LEFT, [far]) == 0


def test_a_dialog_that_ends_late_is_looked_at_twice(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    pass_time(session, far, 900)
    session.end(far)
    session.end(near)
    pass_time(session, far, 961)
    assert session.receive(pair.far) == [] and session.value(LEFT, [far]) == 1
    pass_time(session, far, 839)
    assert session.receive(pair.far) == [] and session.value(LEFT, [far]) == 0


def test_deliver_due_says_when_to_come_again(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    assert session.value("SELECT ssb.deliver_due(%s)", pair.near) is None
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    assert session.value(
        "SELECT ssb.deliver_due(%s) BETWEEN now() AND now() + interval '1 minute'", pair.near
    )
    pass_time(session, near, 60)
    assert session.value("SELECT ssb.deliver_due(%s)", pair.near) is None
    assert session.column(f"SELECT message_type_name FROM {pair.near}") == [TIMER]


def test_a_closed_side_that_goes_leaves_its_group_to_the_others(session: Session, pair: Pair) -> None:
    near, leader = pair.conversing()
    other_near, follower = pair.conversing()
    session.do("SELECT ssb.move_conversation(%s, %s)", follower, session.group(leader))
    session.end(leader)
    session.end(near)
    pass_time(session, leader, 1860)
    assert session.receive(pair.far) == [] and session.value(LEFT, [leader]) == 0
    session.send(other_near, pair.request, "to the one that is left")
    assert [m.handle for m in session.receive(pair.far)] == [follower]


def test_who_waits_is_not_woken_for_a_timer_that_cannot_come(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", near)
    pass_time(session, near, 60)
    is_waiting = "SELECT ssb.message_is_waiting(%s)"
    holder = another()
    holder.send(near, pair.request, "a long job")
    assert session.value(is_waiting, pair.near) is False
    holder.rollback()
    with session.connection.transaction(force_rollback=True):
        session.do("UPDATE ssb.queue SET is_accepting = false WHERE name = %s", pair.near)
        assert session.value(is_waiting, pair.near) is False
    assert session.value(is_waiting, pair.near) is True
    assert session.receive(pair.near) == [Message(TIMER, None, near, -1)]


@pytest.mark.parametrize("why", ["locked", "queue off", "far side locked"])
def test_what_cannot_come_about_now_keeps_nothing_else_from_it(
    session: Session, another: Callable[[], Session], pair: Pair, why: str
) -> None:
    many = [pair.conversing() for _ in range(101)]
    _, far = pair.conversing()
    pass_all = (
        "UPDATE ssb.conversation_endpoint SET {} = now() - %s::interval, due_at = now() - %s::interval"
        " WHERE conversation_handle = ANY(%s)"
    )
    handles = [far for _, far in many]
    if why == "far side locked":
        session.do("SELECT ssb.end_conversations(%s)", [*handles, far])
    else:
        session.do("SELECT ssb.begin_conversation_timer(h, 60) FROM unnest(%s) AS h", handles)
        session.end(far)
    session.do(pass_all.format("closed_at"), "40 minutes", "10 seconds", [far])
    held = handles
    if why == "far side locked":
        held = [near for near, _ in many]
        session.do(pass_all.format("closed_at"), "40 minutes", "20 seconds", handles)
    else:
        session.do(pass_all.format("dialog_timer"), "20 seconds", "20 seconds", handles)
    holder = another()
    if why == "queue off":
        session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    else:
        lock = "SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = ANY(%s) FOR NO KEY UPDATE"
        holder.do(lock, held)
    for _ in range(3):
        session.do("SELECT ssb.deliver_due(%s)", pair.far)
    assert session.value(LEFT, [far]) == 0
    holder.rollback()


def test_who_looks_for_what_is_due_reads_nothing_that_is_not(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    ended = [pair.conversing() for _ in range(40)]
    assert session.value("SELECT ssb.end_conversations(%s)", [far for _, far in ended]) == 40
    session.send(pair.conversing()[0], pair.request, "x")
    read = "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'conversation_endpoint'"
    # A session's first look at a queue is a look at what is due there.
    reader = another()
    assert reader.bodies(pair.far, 1) == ["x"]
    assert 0 < reader.value(read) < 10
    assert reader.receive(pair.far) == []
    assert reader.value(read) < 20
    reader.rollback()


_MANY = 1300
_SWEEP = "SELECT next_due <= clock_timestamp() FROM ssb_internal.broker_sweep('{}')"


@pytest.fixture
def many(database: Database) -> Iterator[Pair]:
    """Dialogs in a database of their own, whose timers are all over, the last one's longest."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        session = Session(connection)
        pair = Pair(session)
        session.do(
            "SELECT ssb.begin_conversation_timer(ssb.begin_dialog(%s, %s, %s, encryption => false), 60)"
            " FROM generate_series(1, %s)",
            *(pair.initiator, pair.target, pair.contract, _MANY),
        )
        session.do(
            "UPDATE ssb.conversation_endpoint SET dialog_timer = d.at, due_at = d.at FROM"
            " (SELECT endpoint_id AS id, now() - row_number() OVER (ORDER BY endpoint_id) * interval '1 s'"
            "      AS at FROM ssb.conversation_endpoint) AS d WHERE endpoint_id = d.id"
        )
        yield pair


def test_many_timers_come_as_sets_in_their_order_and_who_sweeps_goes_on_at_once(many: Pair) -> None:
    session = many.session
    assert session.value(_SWEEP) is True
    assert _MANY > session.value(f"SELECT count(*) FROM {many.near}") >= 1000
    while session.value(_SWEEP):
        pass
    assert session.column(f"SELECT message_type_name FROM {many.near}") == [TIMER] * _MANY
    ids = session.column("SELECT endpoint_id FROM ssb.message_stored ORDER BY queuing_order")
    assert ids == sorted(ids, reverse=True)
    assert session.value("SELECT count(*) FROM ssb.conversation_endpoint WHERE due_at IS NOT NULL") == 0


@pytest.mark.parametrize("why", ["locked", "queue off"])
def test_who_sweeps_waits_where_what_is_due_cannot_come(many: Pair, database: Database, why: str) -> None:
    session = many.session
    with psycopg.connect(database.dsn) as holder:
        if why == "queue off":
            session.do("SELECT ssb.alter_queue(%s, status => false)", many.near)
        else:
            holder.execute("SELECT FROM ssb.conversation_endpoint FOR NO KEY UPDATE")
        assert not session.value(_SWEEP)
        assert session.value(f"SELECT count(*) FROM {many.near}") == 0
