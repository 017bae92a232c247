"""The pair of message tables: switching, moving what is left, TRUNCATE under a pinned horizon."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from runtime.broker import Pair, Session

from support import end_counted


@pytest.fixture(autouse=True)
def fresh_tables(session: Session) -> None:
    """Both tables empty, new messages go to message_0."""
    session.do("TRUNCATE ssb.message_0, ssb.message_1")
    state = "coalesce(pg_sequence_last_value('ssb.rotation_state'), 0)"
    session.do(f"SELECT setval('ssb.rotation_state', ({state} / 8 + 1) * 8)")


def rotate(session: Session) -> list[str]:
    """What rotation does until it has no more to do."""
    done: list[str] = []
    while (step := session.value("SELECT ssb.rotate_messages(60000)")) not in ("nothing", "waiting"):
        done.append(step)
        assert len(done) < 100
    return done


def phase(session: Session) -> tuple[int, int]:
    """Which table takes new messages; 2: both may hold some, 4: the other is drained."""
    state = session.value("SELECT pg_sequence_last_value('ssb.rotation_state')")
    return state & 1, state & 6


def where(session: Session) -> tuple[int, int]:
    first, second = (session.value(f"SELECT count(*) FROM ssb.message_{n}") for n in (0, 1))
    return first, second


def fill_and_drain(session: Session, pair: Pair, messages: int) -> None:
    handle = pair.dialog()
    body = b"x" * 200
    session.do(
        "SELECT ssb.send(%s, %s, %s::bytea) FROM generate_series(1, %s)", handle, pair.request, body, messages
    )
    assert len(session.receive(pair.far)) == messages


def test_a_drained_table_is_truncated_though_a_snapshot_pins_its_rows(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    report = another()
    report.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    report.do("SELECT count(*) FROM pg_class")
    fill_and_drain(session, pair, 500)
    size = "SELECT pg_relation_size('ssb.message_0')"
    assert session.value(size) > 0
    assert rotate(session) == ["switched", "truncated"]
    assert session.value(size) == 0
    assert phase(session) == (1, 0)
    fill_and_drain(session, pair, 500)
    assert rotate(session) == ["switched", "truncated"]
    assert phase(session) == (0, 0)
    report.rollback()


def test_a_table_full_of_messages_is_left_alone(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    for _ in range(50):
        session.send(handle, pair.request, "x" * 200)
    assert rotate(session) == []
    assert len(session.receive(pair.far)) == 50


@pytest.mark.parametrize("is_pinned", [False, True])
def test_where_vacuum_can_do_nothing_a_table_is_large_sooner(
    session: Session, another: Callable[[], Session], pair: Pair, is_pinned: bool
) -> None:
    report = another()
    if is_pinned:
        report.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.do("SELECT count(*) FROM pg_class")
    fill_and_drain(session, pair, 500)
    large = 2 * session.value("SELECT pg_relation_size('ssb.message_0')")
    assert session.value("SELECT ssb.rotate_messages(%s)", large) == "nothing"
    # The last message keeps VACUUM from cutting off the end of the file.
    session.send(pair.dialog(), pair.request, "last")
    session.do("VACUUM ssb.message_0")
    assert session.value("SELECT ssb.rotate_messages(%s)", large) == ("switched" if is_pinned else "nothing")
    assert session.bodies(pair.far) == ["last"]
    assert session.value("SELECT ssb.rotate_messages(%s)", large) == ("truncated" if is_pinned else "nothing")


@pytest.mark.long(on="older")
def test_thousands_of_messages_move_in_steps(session: Session, pair: Pair) -> None:
    handles = [pair.dialog() for _ in range(7)]
    session.do(
        "SELECT ssb.send_batch((SELECT array_agg((%s::uuid[])[1 + i %% 7] ORDER BY i)"
        "                         FROM generate_series(0, 2499) AS i),"
        " array_fill(%s::text, ARRAY[2500]),"
        " (SELECT array_agg(i::text::bytea ORDER BY i) FROM generate_series(0, 2499) AS i))",
        handles,
        pair.request,
    )
    fill_and_drain(session, Pair(session), 20_000)
    assert rotate(session) == ["switched", *["moved"] * 3, "truncated"]
    assert where(session) == (0, 2500)
    for start in range(7):
        assert session.bodies(pair.far) == [str(i) for i in range(start, 2500, 7)]


def test_what_was_sent_to_a_conversation_that_ended_does_not_stay_in_the_old_table(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    fill_and_drain(session, Pair(session), 500)
    ender = another()
    ender.end(far)
    session.send(near, pair.request, "orphan")
    ender.commit()
    assert sum(where(session)) > 0
    assert rotate(session) == ["switched", "moved", "truncated"]
    assert session.value("SELECT count(*) FROM ssb.message_stored WHERE body = 'orphan'") == 0


def test_what_is_left_moves_and_keeps_its_order(session: Session, pair: Pair) -> None:
    kept = [pair.dialog() for _ in range(3)]
    for i in range(2):
        for n, handle in enumerate(kept):
            session.send(handle, pair.request, f"{n}{i}")
    before = session.rows(f"SELECT queuing_order, message_sequence_number, message_body FROM {pair.far}")
    other = Pair(session)
    fill_and_drain(session, other, 500)
    assert session.value("SELECT ssb.rotate_messages(60000)") == "switched"
    session.send(kept[0], pair.request, "02")
    assert where(session) == (6, 1)
    assert rotate(session) == ["moved", "truncated"]
    assert where(session) == (0, 7)
    assert (
        session.rows(f"SELECT queuing_order, message_sequence_number, message_body FROM {pair.far}")[:6]
        == before
    )
    assert session.bodies(pair.far) == ["00", "01", "02"]
    assert session.bodies(pair.far) == ["10", "11"]
    assert session.bodies(pair.far) == ["20", "21"]


@pytest.mark.parametrize("state", [0, 1, 2, 3])
def test_messages_of_both_tables_are_one_queue(session: Session, pair: Pair, state: int) -> None:
    a, b = pair.dialog(), pair.dialog()
    session.do("SELECT setval('ssb.rotation_state', %s)", state if state < 2 else 3 - state)
    session.send(a, pair.request, "a0")
    session.send(b, pair.request, "b0")
    session.do("SELECT setval('ssb.rotation_state', %s)", state)
    session.send(a, pair.request, "a1")
    session.send(b, pair.request, "b1")
    assert session.column(f"SELECT message_body FROM {pair.far}") == [b"a0", b"b0", b"a1", b"b1"]
    assert session.bodies(pair.far, 1) == ["a0"]
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) is not None
    assert session.bodies(pair.far) == ["b0", "b1"]
    assert session.bodies(pair.far) == ["a1"]
    assert where(session) == (0, 0)


def test_a_conversation_in_use_stays_until_it_is_free(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    session.send(pair.dialog(), pair.request, "busy")
    fill_and_drain(session, Pair(session), 500)
    reader = another()
    assert reader.bodies(pair.far) == ["busy"]
    assert rotate(session) == ["switched"]
    reader.rollback()
    assert rotate(session) == ["moved", "truncated"]
    assert session.bodies(pair.far) == ["busy"]


def test_a_sender_that_looked_before_the_switch_is_not_lost(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, _ = pair.conversing()
    fill_and_drain(session, pair, 500)
    late, later = another(), another()
    late.send(near, pair.request, "late")
    assert rotate(session) == ["switched"]
    # Nothing is to be seen in the old table, but one of those who looked is still at it.
    assert phase(session) == (1, 2)
    later.send(pair.dialog(session), pair.request, "later")
    assert rotate(session) == []
    late.commit()
    assert rotate(session) == ["moved", "truncated"]
    assert phase(session) == (1, 0)
    later.commit()
    assert [message.body for message in session.receive(pair.far)] == ["late"]
    assert session.bodies(pair.far) == ["later"]


def test_a_prepared_transaction_may_bring_a_message_too(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    if session.value("SHOW max_prepared_transactions") == "0":
        pytest.skip("the server has no prepared transactions")
    near, _ = pair.conversing()
    fill_and_drain(session, pair, 500)
    late = another()
    late.send(near, pair.request, "late")
    assert rotate(session) == ["switched"]
    late.do("PREPARE TRANSACTION 'late'")
    assert rotate(session) == []
    session.do("COMMIT PREPARED 'late'")
    assert rotate(session) == ["moved", "truncated"]
    assert session.bodies(pair.far) == ["late"]


def test_a_drained_table_that_somebody_reads_is_left_alone_and_nobody_else_looks_there(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, _ = pair.conversing()
    fill_and_drain(session, pair, 500)
    dump = another()
    dump.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    dump.do("SELECT count(*) FROM ssb.message_stored")
    assert rotate(session) == ["switched"]
    assert phase(session) == (1, 4)
    session.do("SELECT ssb.send(%s, %s, 'x'::bytea) FROM generate_series(1, 50)", near, pair.request)
    # RECEIVE on its fast path locks the table that takes new messages, and not the other.
    used: list[set[object]] = []
    for _ in range(49):
        with session.connection.transaction():
            assert session.bodies(pair.far, 1) == ["x"]
            tables = session.column(
                "SELECT relation::regclass::text FROM pg_locks WHERE pid = pg_backend_pid()"
                " AND locktype = 'relation'"
                " AND relation IN ('ssb.message_0'::regclass, 'ssb.message_1'::regclass)"
            )
            used.append(set(tables))
    assert {"ssb.message_1"} in used
    dump.rollback()
    assert rotate(session) == ["truncated"]
    assert phase(session) == (1, 0)
    assert session.bodies(pair.far) == ["x"]


def test_the_drained_table_is_waited_for_where_its_readers_come_and_go(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    fill_and_drain(session, pair, 500)
    first, second = another(), another()
    truncate = session.value("SELECT pg_get_functiondef('ssb_internal.truncate_drained'::regproc)")
    session.do("CREATE TABLE tried (patience integer)")
    session.do(
        "CREATE OR REPLACE FUNCTION ssb_internal.truncate_drained(p_table regclass, p_patience integer)"
        " RETURNS boolean LANGUAGE sql AS 'INSERT INTO public.tried VALUES (p_patience); SELECT false'"
    )

    def tried() -> list[int]:
        assert rotate(session) == []
        found: list[int] = session.column("SELECT patience FROM tried")
        return found

    first.do("SELECT count(*) FROM ssb.message_stored")
    assert rotate(session) == ["switched"]
    assert phase(session) == (1, 4)
    # Others would wait behind a TRUNCATE that waits for somebody who stays.
    assert tried() == []
    second.do("SELECT count(*) FROM ssb.message_stored")
    assert tried() == []
    first.rollback()
    assert len(tried()) == 1
    (patience,) = tried()
    assert 100 <= patience <= 1000
    second.rollback()
    assert tried() == [patience, 5]
    session.do(truncate)
    assert rotate(session) == ["truncated"]


def test_truncate_waits_as_long_as_it_may(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    fill_and_drain(session, pair, 500)
    reader = another()
    reader.do("SELECT count(*) FROM ssb.message_stored")
    assert session.value("SELECT ssb_internal.truncate_drained('ssb.message_0', 5)") is False
    rotator = another()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(rotator.value, "SELECT ssb_internal.truncate_drained('ssb.message_0', 60000)")
        while not session.value("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"):
            assert not done.done()
        reader.rollback()
        assert done.result() is True
    rotator.commit()
    assert session.value("SELECT pg_relation_size('ssb.message_0')") == 0


def test_rotation_in_an_old_snapshot_does_nothing(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    old = another()
    old.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    fill_and_drain(session, pair, 500)
    assert old.value("SELECT ssb.rotate_messages(60000)") == "nothing"
    assert old.value("SELECT ssb.tidy_up()") == "nothing"


@pytest.mark.parametrize("table", [0, 1])
@pytest.mark.parametrize("retains", [False, True])
def test_numbers_go_on_in_either_table(session: Session, pair: Pair, table: int, retains: bool) -> None:
    state = session.value("SELECT pg_sequence_last_value('ssb.rotation_state')")
    session.do("SELECT setval('ssb.rotation_state', %s)", state + table)
    session.do("SELECT ssb.alter_queue(%s, retention => %s)", pair.near, retains)
    near = pair.dialog()
    pair.say(near, *(["x"] * 20))
    # From the 17th on each would leave a dead row behind.
    assert session.value(SENT_COUNT, near) == 16
    session.end(near)
    assert where(session) == (21 * (1 - table), 21 * table)
    assert [m.number for m in session.receive(pair.far)] == list(range(21))


SENT_COUNT = "SELECT sent_count FROM ssb.conversation_endpoint WHERE conversation_handle = %s"


def test_a_reader_takes_the_fast_path_again_after_a_switch(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """At all levels at once."""
    low = pair.dialog()
    pair.say(low, "low")
    session.do("SELECT ssb.create_broker_priority(%s, %s, priority_level => 9)", pair.contract, pair.contract)
    high = pair.dialog()
    pair.say(high, "high")
    session.do("SELECT ssb.drop_broker_priority(%s)", pair.contract)
    assert [session.bodies(pair.far) for _ in range(2)] == [["high"], ["low"]]
    reader = another()
    reader.do("SET track_functions = 'all'")
    for _ in range(2):
        session.do("SELECT pg_stat_reset()")
        for _ in range(3):
            pair.say(low, "low")
            pair.say(high, "high")
            for body in ("high", "low"):
                assert reader.bodies(pair.far) == [body]
                reader.commit()
        session.do(
            "SELECT setval('ssb.rotation_state', s.state + CASE WHEN s.state % 2 = 0 THEN 1 ELSE 7 END)"
            " FROM (SELECT pg_sequence_last_value('ssb.rotation_state') AS state) AS s"
        )
    end_counted(reader.connection, session.connection)
    slow = "SELECT calls FROM pg_stat_user_functions WHERE funcname = 'receive_slow_path'"
    assert session.column(slow) == [1]


class TestLowWaterMark:
    """The session's mark passes what is gone, never what may still come."""

    def marks(self, session: Session, pair: Pair) -> int:
        queue_id = session.value("SELECT queue_id FROM ssb.queue WHERE name = %s", pair.far)
        mark: int = session.value("SELECT ssb_internal.low_water(%s, 5::smallint, 0)", queue_id)
        return mark

    def send(self, session: Session, pair: Pair, count: int) -> None:
        """So many dialogs with one message each."""
        session.do(
            "SELECT ssb.send(ssb.begin_dialog(%s, %s, %s), %s) FROM generate_series(1, %s)",
            pair.initiator,
            pair.target,
            pair.contract,
            pair.request,
            count,
        )

    def drain(self, session: Session, pair: Pair) -> int:
        """Receive group by group, each in a transaction of its own; how many there were."""
        session.do("SELECT set_config('test.drained', '0', false)")
        in_transaction = session.connection.info.transaction_status.name != "IDLE"
        commit = "" if in_transaction else "COMMIT;"
        session.do(
            "DO $$ DECLARE n bigint; total bigint := 0; BEGIN LOOP"
            f" SELECT count(*) INTO n FROM ssb.receive('{pair.far}'); EXIT WHEN n = 0; total :="
            f" total + n; {commit}"
            " END LOOP; PERFORM set_config('test.drained', total::text, false); END $$"
        )
        return int(session.value("SELECT current_setting('test.drained')"))

    @pytest.mark.long(on="older")
    def test_it_rises_as_messages_are_received(self, session: Session, pair: Pair) -> None:
        for _ in range(3):
            self.send(session, pair, 130)
            assert self.drain(session, pair) == 130
        assert self.marks(session, pair) >= 200

    @pytest.mark.long(on="older")
    def test_it_never_passes_an_open_sender(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        self.send(session, pair, 130)
        self.drain(session, pair)
        sender = another()
        handle = pair.dialog(sender)
        sender.send(handle, pair.request, "slow")
        for _ in range(4):
            self.send(session, pair, 130)
            assert self.drain(session, pair) == 130
        assert self.marks(session, pair) <= 131
        sender.commit()
        assert session.bodies(pair.far) == ["slow"]
        for _ in range(2):
            self.send(session, pair, 130)
            self.drain(session, pair)
        assert self.marks(session, pair) > 500

    def test_it_never_passes_the_newest_transaction_of_all(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        # A snapshot's xmax is not above its number: nothing younger has ended when it is taken.
        queue_id, sequence = session.rows(
            "SELECT queue_id, order_sequence FROM ssb.queue WHERE name = %s", pair.far
        )[0]
        low = "ssb_internal.low_water(%s, 5::smallint, 0)"
        look = f"SELECT ssb_internal.raise_low_water(%s, 5::smallint, {low}, %s::regclass, NULL)"
        near, _ = pair.conversing()
        slow_near, _ = pair.conversing()
        sender, other = another(), another()
        sender.send(slow_near, pair.request, "slow")
        session.do(look, queue_id, queue_id, sequence)
        other.send(near, pair.request, "other")
        other.commit()
        session.do(look, queue_id, queue_id, sequence)
        assert session.bodies(pair.far) == ["other"]
        session.do(look, queue_id, queue_id, sequence)
        sender.commit()
        assert session.bodies(pair.far) == ["slow"]

    @pytest.mark.long(on="older")
    def test_it_passes_what_somebody_holds_and_remembers_it(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        holders = [another() for _ in range(3)]
        for number, holder in enumerate(holders):
            handle = pair.dialog()
            session.send(handle, pair.request, f"held {number}")
            session.send(handle, pair.request, f"left {number}")
            assert holder.bodies(pair.far, 1) == [f"held {number}"]
        for _ in range(3):
            self.send(session, pair, 130)
            assert self.drain(session, pair) == 130
        assert self.marks(session, pair) > 200
        holders[1].rollback()
        holders[2].commit()
        self.send(session, pair, 1)
        assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) is not None
        assert session.bodies(pair.far) == ["held 1", "left 1"]
        assert session.bodies(pair.far) == ["left 2"]
        assert self.drain(session, pair) == 1
        assert session.value("SELECT ssb.message_is_waiting(%s)", pair.far) is False
        holders[0].rollback()
        assert session.value("SELECT ssb.message_is_waiting(%s)", pair.far) is True
        assert session.bodies(pair.far) == ["held 0", "left 0"]

    @pytest.mark.long(on="older")
    def test_more_held_conversations_than_it_remembers_stop_it(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        holder = another()
        self.send(session, pair, 40)
        for _ in range(40):
            assert len(holder.receive(pair.far)) == 1
        for _ in range(3):
            self.send(session, pair, 130)
            assert self.drain(session, pair) == 130
        assert self.marks(session, pair) == 32
        holder.rollback()
        assert self.drain(session, pair) == 40

    @pytest.mark.long(on="older")
    def test_each_priority_has_its_own(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        sender = another()
        sender.send(pair.dialog(sender), pair.request, "an early order of priority 5")
        session.do(
            "SELECT ssb.create_broker_priority(%s, %s, priority_level => 8)", pair.contract, pair.contract
        )
        for _ in range(3):
            self.send(session, pair, 130)
            assert self.drain(session, pair) == 130
        sender.commit()
        assert len(session.receive(pair.far)) == 1
        session.do("SELECT ssb.drop_broker_priority(%s)", pair.contract)

    @pytest.mark.long(on="older")
    def test_a_rollback_takes_it_back(self, session: Session, pair: Pair) -> None:
        for _ in range(2):
            self.send(session, pair, 130)
            self.drain(session, pair)
        before = self.marks(session, pair)
        self.send(session, pair, 260)
        with session.connection.transaction(force_rollback=True):
            assert self.drain(session, pair) == 260
        assert self.marks(session, pair) == before
        assert self.drain(session, pair) == 260

    @pytest.mark.long(on="older")
    def test_orphans_are_cleared_away(
        self, session: Session, another: Callable[[], Session], pair: Pair
    ) -> None:
        near, far = pair.conversing()
        ender = another()
        ender.end(far)
        session.send(near, pair.request, "orphan")
        ender.commit()
        assert sum(where(session)) > 0
        for _ in range(3):
            self.send(session, pair, 130)
            self.drain(session, pair)
        assert session.value("SELECT count(*) FROM ssb.message_stored WHERE body = 'orphan'") == 0
