"""BEGIN DIALOG, SEND, RECEIVE, END CONVERSATION between two services."""

import uuid
from collections.abc import Callable

import psycopg
import pytest
from runtime.broker import END, ERROR, Pair, Session, refused


def test_a_message_arrives_with_the_documented_columns(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    session.send(handle, pair.request, "hello")
    cursor = session.connection.execute("SELECT * FROM ssb.receive(%s)", (pair.far,))
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == [
        "status", "priority", "queuing_order", "conversation_group_id", "conversation_handle",
        "message_sequence_number", "service_name", "service_id", "service_contract_name",
        "service_contract_id", "message_type_name", "message_type_id", "validation", "message_body",
        "message_enqueue_time",
    ]  # fmt: skip
    (row,) = cursor.fetchall()
    assert row[:3] == (1, 5, 0)
    assert row[4] != handle
    assert row[5:7] == (0, pair.target)
    assert row[8] == pair.contract
    assert row[10] == pair.request
    assert row[12:14] == ("N ", b"hello")


def test_the_queue_is_a_relation_with_the_same_columns(session: Session, pair: Pair) -> None:
    session.send(pair.dialog(), pair.request, "hello")
    of_relation = session.connection.execute(f"SELECT * FROM {pair.far}")
    names, rows = [c.name for c in of_relation.description or ()], of_relation.fetchall()
    of_receive = session.connection.execute("SELECT * FROM ssb.receive(%s)", (pair.far,))
    assert ([c.name for c in of_receive.description or ()], of_receive.fetchall()) == (names, rows)
    assert len(rows) == 1
    assert session.rows(f"SELECT * FROM {pair.far}") == []


@pytest.mark.parametrize(
    "statement", ["INSERT INTO {} DEFAULT VALUES", "UPDATE {} SET status = 0", "DELETE FROM {}"]
)
def test_the_relation_cannot_be_written(session: Session, pair: Pair, statement: str) -> None:
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        session.do(statement.format(pair.far))


def test_messages_come_in_the_order_of_sending_and_are_numbered_from_0(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    for i in range(40):
        session.send(handle, pair.request, str(i))
    received = session.receive(pair.far)
    assert [m.body for m in received] == [str(i) for i in range(40)]
    assert [m.number for m in received] == list(range(40))


def test_numbers_go_on_after_the_queue_was_emptied(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    numbers = []
    for _ in range(24):
        session.send(handle, pair.request)
        numbers += [m.number for m in session.receive(pair.far)]
    assert numbers == list(range(24))


def test_each_direction_has_its_own_numbers(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request)
    session.send(far, pair.reply)
    session.send(far, pair.reply)
    assert [m.number for m in session.receive(pair.far)] == [1]
    assert [m.number for m in session.receive(pair.near)] == [0, 1]


def test_numbers_keep_rising_when_dialogs_share_a_queue(session: Session, pair: Pair) -> None:
    handles = [pair.dialog() for _ in range(3)]
    for _ in range(30):
        for handle in handles:
            session.send(handle, pair.request)
    for _ in handles:
        numbers = [m.number for m in session.receive(pair.far)]
        assert numbers[:16] == list(range(16))
        assert len(numbers) == 30 and numbers == sorted(set(numbers))


OTHERS = {
    "nothing": (None, 1),
    "another dialog's message": ("SELECT ssb.send(%(other)s, %(request)s)", 2),
    "a timer's": (
        "SELECT ssb_internal.put_message(e, 3, -1, 'E', NULL) FROM ssb.conversation_endpoint AS e"
        " WHERE e.conversation_handle = %(far)s",
        2,
    ),
    "what is retained as sent": ("SELECT ssb.send(%(far)s, %(reply)s)", 2),
}


@pytest.mark.parametrize("what", OTHERS)
def test_numbers_have_gaps_only_where_something_else_comes_between(
    session: Session, pair: Pair, what: str
) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, retention => %s)", pair.far, "retained" in what)
    for _ in range(20):
        pair.say(near, "x")
    statement, step = OTHERS[what]
    if statement is not None:
        names = {"far": far, "other": pair.dialog(), "request": pair.request, "reply": pair.reply}
        session.connection.execute(statement, names)
    pair.say(near, "x")
    numbers = [m.number for m in session.receive(pair.far, conversation=far) if m.number >= 0]
    assert numbers == [*range(1, 21), 20 + step]


def test_a_send_that_is_rolled_back_leaves_a_gap_from_the_17th_on(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    for count in (10, 10):
        for _ in range(count):
            pair.say(near, "x")
        with session.connection.transaction(force_rollback=True):
            pair.say(near, "x")
    pair.say(near, "x")
    assert [m.number for m in session.receive(pair.far)] == [*range(20), 21]


def test_top_takes_so_many_and_leaves_the_rest(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    for i in range(5):
        session.send(handle, pair.request, str(i))
    assert session.bodies(pair.far, 1) == ["0"]
    assert session.bodies(pair.far, 0) == []
    assert session.bodies(pair.far, 3) == ["1", "2", "3"]
    assert session.bodies(pair.far, 9) == ["4"]
    with refused(127):
        session.receive(pair.far, -1)


def test_states_of_both_sides_from_begin_to_end(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    assert session.state(near) == "SO"
    session.send(near, pair.request)
    (message,) = session.receive(pair.far)
    far = message.handle
    assert (session.state(near), session.state(far)) == ("CO", "CO")
    session.end(far)
    assert (session.state(near), session.state(far)) == ("DI", "CD")
    (ended,) = session.receive(pair.near)
    assert ended == (END, None, near, 0)
    session.end(near)
    assert (session.state(near), session.state(far)) == (None, "CD")


def test_the_initiator_may_end_first(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request, "last")
    session.end(near)
    assert (session.state(near), session.state(far)) == (None, "DI")
    assert [(m.type, m.number) for m in session.receive(pair.far)] == [(pair.request, 1), (END, 2)]
    with refused(8429, "'DI'"):
        session.send(far, pair.reply)
    session.end(far)
    assert session.state(far) == "CD"
    assert session.receive(pair.near) == []


def test_an_initiator_that_ended_first_is_gone(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.end(near)
    with refused(8426, str(near).upper()):
        session.send(near, pair.request)


def test_an_ended_side_can_neither_send_nor_end_again(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(far)
    with refused(8427, "'CD'"):
        session.end(far)
    with refused(8429, "'CD'"):
        session.send(far, pair.reply)
    with refused(8429, "'DI'"):
        session.send(near, pair.request)
    session.end(near)
    with refused(8426, str(near).upper()):
        session.end(near)
    with refused(8426):
        session.send(near, pair.request)


def test_end_with_error_reaches_the_far_side_as_xml(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.end(far, error=42, description="too <small> & late")
    (message,) = session.receive(pair.near)
    assert message.type == ERROR
    assert message.body == (
        '<Error xmlns="http://schemas.microsoft.com/SQL/ServiceBroker/Error"><Code>42</Code>'
        "<Description>too &lt;small&gt; &amp; late</Description></Error>"
    )
    assert (session.state(near), session.state(far)) == ("ER", "CD")
    with refused(8429, "'ER'"):
        session.send(near, pair.request)
    session.end(near)
    assert session.state(near) is None


def test_errors_have_a_code_and_a_description(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    with refused(8419):
        session.end(near, error=1)
    with refused(8419):
        session.end(near, description="why")
    with refused(1080):
        session.end(near, error=0, description="why")
    session.end(near, error=1, description="§" * 4000)
    (message,) = session.receive(pair.far)
    assert message.body is not None and message.body.count("§") == 3000


def test_ending_takes_the_unread_messages_away(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request, "unread")
    session.end(far)
    assert session.receive(pair.far) == []
    assert session.rows(f"SELECT * FROM {pair.far}") == []


def test_cleanup_removes_one_side_and_tells_nobody(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.send(near, pair.request)
    session.end(far, cleanup=True)
    assert (session.state(near), session.state(far)) == ("CO", None)
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []
    session.send(near, pair.request, "to nobody")
    (status,) = session.transmissions(near)
    assert "remote conversation endpoint" in status
    session.end(near, cleanup=True)
    assert session.transmissions(near) == []


def test_a_dialog_without_messages_ends_without_a_word(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.end(near)
    assert session.state(near) is None
    assert session.receive(pair.far) == []


def test_both_sides_may_end_before_either_knows(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    first, second = another(), another()
    first.end(near)
    second.end(far)
    first.commit()
    second.commit()
    assert (session.state(near), session.state(far)) == (None, "CD")
    assert session.receive(pair.near) == [] and session.receive(pair.far) == []


def test_a_service_may_talk_to_itself(session: Session, pair: Pair) -> None:
    handle = session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.target, pair.target, pair.contract)
    session.send(handle, pair.request, "me")
    (message,) = session.receive(pair.far)
    assert message.handle != handle
    session.send(message.handle, pair.reply, "you")
    (answer,) = session.receive(pair.far)
    assert (answer.handle, answer.body) == (handle, "you")
    session.end(message.handle)
    session.end(handle)
    assert (session.state(handle), session.state(message.handle)) == (None, "CD")


def test_default_type_and_contract_need_no_names(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_service(%s, add_contracts => '{DEFAULT}')", pair.target)
    handle = session.value("SELECT ssb.begin_dialog(%s, %s)", pair.initiator, pair.target)
    session.do("SELECT ssb.send(%s)", handle)
    session.do("SELECT ssb.send(%s, body => %s)", handle, b"\x00\xff")
    assert session.rows("SELECT message_type_name, message_body FROM ssb.receive(%s)", pair.far) == [
        ("DEFAULT", None),
        ("DEFAULT", b"\x00\xff"),
    ]


def test_character_bodies_are_utf_8(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    session.do("SELECT ssb.send(%s, %s, 'Zoë €')", handle, pair.request)
    assert session.value("SELECT message_body FROM ssb.receive(%s)", pair.far) == "Zoë €".encode()


def test_a_literal_needs_no_cast(session: Session, pair: Pair) -> None:
    handle = pair.dialog()
    session.do(f"SELECT ssb.send('{handle}', '{pair.request}', 'text')")
    assert session.bodies(pair.far) == ["text"]


class TestRefusals:
    """SEND and BEGIN DIALOG say what is wrong with SQL Server's numbers, and change nothing."""

    def test_begin_dialog(self, session: Session, pair: Pair) -> None:
        begin = "SELECT ssb.begin_dialog(%s, %s, %s)"
        with refused(8423, "//nobody"):
            session.do(begin, "//nobody", pair.target, pair.contract)
        with refused(8425, "//nothing"):
            session.do(begin, pair.initiator, pair.target, "//nothing")
        with refused(8421):
            session.do(begin, None, pair.target, pair.contract)
        with refused(8421):
            session.do(begin, pair.initiator, None, pair.contract)
        with refused(8421):
            session.do(begin, pair.initiator, "", pair.contract)
        with refused(8417):
            session.do(begin, pair.initiator, pair.target, None)
        with refused(8411):
            pair.dialog(lifetime=0)
        with refused(8426):
            pair.dialog(related_conversation=uuid.uuid4())
        with refused(911):
            pair.dialog(database="Nowhere")

    def test_send(self, session: Session, pair: Pair) -> None:
        near, far = pair.conversing()
        with refused(8418):
            session.do("SELECT ssb.send(NULL::uuid, %s)", pair.request)
        with refused(8426):
            session.send(uuid.uuid4(), pair.request)
        with refused(8428, "//nothing"):
            session.send(near, "//nothing")
        with refused(8431):
            session.send(near, "DEFAULT")
        with refused(8432):
            session.send(near, pair.reply)
        with refused(8434):
            session.send(far, pair.request)
        for body in ("NULL::bytea", "NULL::text"):
            with refused(8433):
                session.do(f"SELECT ssb.send(%s, %s, {body})", near, pair.request)
            with refused(8433):
                session.do(f"SELECT ssb.send_many(%s, %s, {body})", [near], pair.request)
        session.send(near, pair.note)
        session.send(far, pair.note)
        assert [m.number for m in session.receive(pair.far)] == [1]

    def test_receive(self, session: Session, pair: Pair) -> None:
        near, far = pair.conversing()
        with refused(208, "nothing"):
            session.receive("dbo.nothing")
        with refused(8426):
            session.receive(pair.far, conversation=near)
        with refused(8426):
            session.receive(pair.far, conversation=uuid.uuid4())
        with refused(8436):
            session.receive(pair.far, conversation_group=uuid.uuid4())
        with refused(8436):
            session.receive(pair.near, conversation_group=session.group(far))

    def test_end(self, session: Session) -> None:
        with refused(8418):
            session.do("SELECT ssb.end_conversation(NULL)")
        with refused(8426):
            session.end(uuid.uuid4())

    def test_a_refused_send_leaves_no_trace(self, session: Session, pair: Pair) -> None:
        near = pair.dialog()
        with refused(8432):
            session.send(near, pair.reply)
        assert session.state(near) == "SO"
        assert (
            session.column("SELECT 1 FROM sys.conversation_endpoints WHERE far_service = %s", pair.initiator)
            == []
        )


class TestSeveralHandles:
    def test_one_message_goes_to_each(self, session: Session, pair: Pair) -> None:
        handles = [pair.dialog() for _ in range(3)]
        session.do("SELECT ssb.send_many(%s, %s, 'all')", handles, pair.request)
        assert [session.bodies(pair.far) for _ in range(4)] == [["all"], ["all"], ["all"], []]

    def test_one_bad_handle_spoils_all(self, session: Session, pair: Pair) -> None:
        good = pair.dialog()
        with refused(8435, "position 2"):
            session.do("SELECT ssb.send_many(%s, %s)", [good, uuid.uuid4()], pair.request)
        with refused(8441, "position 2"):
            session.do("SELECT ssb.send_many(%s::uuid[], %s)", [good, None], pair.request)
        with refused(8451, "position 3"):
            session.do("SELECT ssb.send_many(%s, %s)", [good, pair.dialog(), good], pair.request)
        assert session.receive(pair.far) == []

    def test_a_batch_keeps_its_order(self, session: Session, pair: Pair) -> None:
        a, b = pair.dialog(), pair.dialog()
        sent = session.value(
            "SELECT ssb.send_batch(%s, %s, %s)",
            [a, b, a, b, a],
            [pair.request, pair.note, pair.note, pair.request, pair.request],
            [b"a0", b"b0", b"a1", b"b1", None],
        )
        assert sent == 5
        assert session.bodies(pair.far) == ["a0", "a1", None]
        assert session.bodies(pair.far) == ["b0", "b1"]

    def test_a_bad_batch_sends_nothing(self, session: Session, pair: Pair) -> None:
        near, _ = pair.conversing()
        batch = "SELECT ssb.send_batch(%s, %s, %s)"
        with refused(8432):
            session.do(batch, [near, near], [pair.request, pair.reply], [b"x", b"y"])
        with refused(8426):
            session.do(batch, [near, uuid.uuid4()], [pair.request] * 2, [b"x", b"y"])
        assert session.receive(pair.far) == []

    def test_conversations_end_in_one_call(self, session: Session, pair: Pair) -> None:
        handles = [pair.conversing() for _ in range(3)]
        assert session.value("SELECT ssb.end_conversations(%s)", [far for _, far in handles]) == 3
        assert [session.state(near) for near, _ in handles] == ["DI"] * 3
