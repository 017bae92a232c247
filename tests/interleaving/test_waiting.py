"""A RECEIVE that waits: what it finds, whenever that was sent; what it leaves behind."""

import time
from collections.abc import Callable

from runtime.broker import Pair, Session, Waiting, refused

Open = Callable[[], Session]

WAIT = "CALL ssb.wait_for_message('{}', NULL, may_commit => true)"


def open_waiter(another: Open) -> Session:
    waiter = another()
    waiter.connection.autocommit = True
    return waiter


def fall_asleep(session: Session, waiter: Session, act: Callable[[], object]) -> Waiting:
    """`waiter` begins a wait without end; returns once it has looked, and sleeps."""
    waiting = Waiting(act)
    asleep = "SELECT wait_event IN ('PgSleep', 'advisory') FROM pg_stat_activity WHERE pid = %s"
    deadline = time.monotonic() + 20
    while not session.value(asleep, waiter.pid):
        assert waiting.is_running() and time.monotonic() < deadline, "nobody sleeps"
    return waiting


def wait(session: Session, waiter: Session, queue: str) -> Waiting:
    return fall_asleep(session, waiter, lambda: waiter.do(WAIT.format(queue)))


def test_a_deadline_before_all_time_has_passed(another: Open, pair: Pair) -> None:
    waiter = open_waiter(another)
    waiter.do("SET statement_timeout = '20s'")
    for may_commit in ("false", "true"):
        waiter.do(f"CALL ssb.wait_for_message('{pair.far}', '-infinity', may_commit => {may_commit})")


def test_it_finds_what_was_sent_before_and_while_it_sleeps(
    session: Session, another: Open, pair: Pair
) -> None:
    near, _ = pair.conversing()
    other_near, _ = pair.conversing()
    waiter = open_waiter(another)
    before, after = another(), another()
    for _ in range(10):
        waiting = wait(session, waiter, pair.far)
        session.send(near, pair.request, "at once")
        waiting.result()
        assert waiter.bodies(pair.far) == ["at once"]

        before.send(near, pair.request, "before")
        waiting = wait(session, waiter, pair.far)
        before.commit()
        waiting.result()
        assert waiter.bodies(pair.far) == ["before"]

        # The order of one that never comes is drawn first.
        waiting = wait(session, waiter, pair.far)
        before.send(near, pair.request, "never")
        after.send(other_near, pair.request, "after")
        after.commit()
        waiting.result()
        assert waiter.bodies(pair.far) == ["after"]
        before.rollback()


def test_the_end_of_a_sender_wakes_it(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    waiter, sender = open_waiter(another), another()
    for end in (sender.rollback, sender.commit):
        waiting = wait(session, waiter, pair.far)
        sender.send(near, pair.request, "on its way")
        # It waits for the sender, again and again; the sender has waited for nobody.
        waits = "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = %s"
        deadline = time.monotonic() + 20
        while not session.value(waits, waiter.pid):
            assert waiting.is_running() and time.monotonic() < deadline, "nobody waits for the sender"
        assert not session.value("SELECT pg_blocking_pids(%s) <> '{}'", sender.pid)
        end()
        if end == sender.rollback:
            session.send(near, pair.request, "instead")
            session.commit()
        waiting.result()
        assert waiter.bodies(pair.far) == ["instead" if end == sender.rollback else "on its way"]


def test_a_stranger_who_holds_the_senders_lock_stops_nobody(
    session: Session, another: Open, pair: Pair
) -> None:
    near, _ = pair.conversing()
    waiter, stranger = open_waiter(another), another()
    stranger.do(
        "SELECT pg_advisory_xact_lock(1397965379, q.order_sequence::oid::integer) FROM ssb.queue AS q"
        " WHERE q.name = %s",
        pair.far,
    )
    for body in ("one", "two"):
        waiting = wait(session, waiter, pair.far)
        session.send(near, pair.request, body)
        session.commit()
        waiting.result()
        assert waiter.bodies(pair.far) == [body]


def test_it_finds_what_a_reader_gives_back(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    waiter, reader = open_waiter(another), another()
    session.send(near, pair.request, "given back")
    assert reader.bodies(pair.far) == ["given back"]
    waiting = wait(session, waiter, pair.far)
    reader.rollback()
    waiting.result()
    assert waiter.bodies(pair.far) == ["given back"]


def test_it_finds_a_timer_that_falls_due(session: Session, another: Open, pair: Pair) -> None:
    _, far = pair.conversing()
    waiter = open_waiter(another)
    waiting = wait(session, waiter, pair.far)
    session.do("SELECT ssb.begin_conversation_timer(%s, 1)", far)
    waiting.result()
    assert [message.handle for message in waiter.receive(pair.far)] == [far]


def test_it_leaves_no_lock_by_which_senders_are_known(session: Session, another: Open, pair: Pair) -> None:
    near, _ = pair.conversing()
    waiter = open_waiter(another)
    waiter.do(
        f"""
        CREATE PROCEDURE pg_temp.wait_and_look(INOUT is_locked boolean) LANGUAGE plpgsql AS $$
        BEGIN
            {WAIT.format(pair.far)};
            is_locked := EXISTS (
                SELECT FROM pg_locks AS l JOIN ssb.queue AS q ON q.order_sequence = l.relation
                 WHERE l.pid = pg_backend_pid() AND l.mode = 'RowExclusiveLock' AND q.name = '{pair.far}');
        END $$
        """
    )
    look = "CALL pg_temp.wait_and_look(NULL)"
    session.send(near, pair.request, "there already")
    assert waiter.value(look) is False
    assert waiter.bodies(pair.far) == ["there already"]
    waiting = fall_asleep(session, waiter, lambda: waiter.value(look))
    session.send(near, pair.request, "later")
    assert waiting.result() is False


def test_a_queue_that_is_dropped_meanwhile_is_told_by_its_name(session: Session, another: Open) -> None:
    session.do("SELECT ssb.create_queue('dbo.short_lived')")
    waiter = open_waiter(another)
    waiting = wait(session, waiter, "dbo.short_lived")
    session.do("SELECT ssb.drop_queue('dbo.short_lived')")
    waiting.result()
    with refused(208, "short_lived"):
        waiter.receive("dbo.short_lived")
    with refused(208, "short_lived"):
        waiter.do("SELECT ssb.message_is_waiting('dbo.short_lived')")


def test_a_conversation_that_leaves_the_queue_meanwhile_wakes_it(
    session: Session, another: Open, pair: Pair
) -> None:
    waiter = open_waiter(another)
    for column, number in (("conversation", 8426), ("conversation_group", 8436)):
        near, far = pair.conversing()
        wanted = far if column == "conversation" else session.group(far)
        call = WAIT.replace("NULL", f"NULL, {column} => '{wanted}'").format(pair.far)
        waiting = fall_asleep(session, waiter, lambda call=call: waiter.do(call))  # type: ignore[misc]
        session.end(far)
        waiting.result()
        for statement in ("SELECT FROM ssb.receive", "SELECT ssb.message_is_waiting"):
            with refused(number):
                waiter.do(f"{statement}(%s, {column} => %s)", pair.far, wanted)
        session.end(near)
