"""send_new, receive_and_end and end_finished do what their statements do one by one, in all cases."""

from collections.abc import Callable

import pytest
from runtime.broker import END, ERROR, Pair, Session, refused

SHAPE = """
SELECT e.is_initiator, e.lock_id = e.endpoint_id, e.is_encrypted, e.is_system, e.sent_count,
       e.sent_order IS NULL, e.priority, e.near_order, e.near_state, e.contract_id, e.far_contract_id,
       e.plain_type, e.first_type, e.plain_type_id, e.first_type_id, e.far_queue_id, e.far_order, e.far_state,
       e.far_priority, e.service_id, e.queue_id, e.service_name, e.contract_name, e.far_service,
       e.far_broker_instance, e.has_waiting, e.lifetime, e.due_at IS NULL, e.database_id,
       f.endpoint_id IS NOT NULL
  FROM ssb.conversation_endpoint AS n
  JOIN ssb.conversation_endpoint AS e ON e.conversation_id = n.conversation_id
  LEFT JOIN ssb.conversation_endpoint AS f
       ON f.endpoint_id = e.far_endpoint_id AND f.far_endpoint_id = e.endpoint_id
 WHERE n.conversation_handle = %s
 ORDER BY e.is_initiator
"""
PRIORITY = "SELECT priority FROM sys.conversation_endpoints WHERE conversation_handle = %s"
KEPT = """
SELECT count(*) FROM ssb.dialog_path
 WHERE from_service = %s AND epoch = pg_sequence_last_value('ssb.dialog_path_epoch')
"""


def test_a_new_dialog_is_as_begin_and_send_make_it(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.send(near, pair.request, "job")
    apart = session.rows(SHAPE, near)
    assert len(apart) == 2
    assert session.rows(SHAPE, pair.send_new()) == apart
    assert session.bodies(pair.far) == ["job"]
    assert session.bodies(pair.far) == ["job"]


@pytest.mark.parametrize(
    ("names", "number"),
    [
        ({"near": "//nobody"}, 8423),
        ({"contract": "//none"}, 8425),
        ({"type": "//none"}, 8428),
    ],
)
def test_its_errors_are_those_of_the_statements(
    session: Session, pair: Pair, names: dict[str, str], number: int
) -> None:
    before = session.value("SELECT count(*) FROM ssb.conversation_endpoint")
    with refused(number):
        pair.send_new(**names)
    assert session.value("SELECT count(*) FROM ssb.conversation_endpoint") == before


def test_a_null_body_is_an_error(session: Session, pair: Pair) -> None:
    with refused(8433):
        session.value(
            "SELECT ssb.send_new(%s, %s, %s, %s, %s::text)",
            pair.initiator,
            pair.target,
            pair.contract,
            pair.request,
            None,
        )


def test_to_a_service_that_is_not_there_it_waits(session: Session, pair: Pair) -> None:
    handle = pair.send_new(far="//later")
    assert session.value("SELECT ssb.get_transmission_status(%s)", handle) != ""
    session.do("SELECT ssb.create_service('//later', %s, ARRAY[%s])", pair.far, pair.contract)
    assert session.value("SELECT ssb.get_transmission_status(%s)", handle) == ""
    session.do("SELECT ssb.end_conversation(%s, cleanup => true)", handle)


CHANGES: dict[str, tuple[str, str]] = {
    "a priority": (
        "SELECT ssb.create_broker_priority('p', priority_level => 9)",
        "SELECT ssb.drop_broker_priority('p')",
    ),
    "a route that leads away": (
        "SELECT ssb.create_route('away', 'TCP://elsewhere:4022', service_name => '{far}')",
        "SELECT ssb.drop_route('away')",
    ),
    "a contract that the target gave up": (
        "SELECT ssb.alter_service('{far}', drop_contracts => '{{{contract}}}')",
        "SELECT ssb.alter_service('{far}', add_contracts => '{{{contract}}}')",
    ),
    "a queue that is off": (
        "SELECT ssb.alter_queue('{queue}', status => false)",
        "SELECT ssb.alter_queue('{queue}', status => true)",
    ),
    "retention": (
        "SELECT ssb.alter_queue('{queue}', retention => true)",
        "SELECT ssb.alter_queue('{queue}', retention => false)",
    ),
    "a validation": (
        "SELECT ssb.alter_message_type('{type}', 'WELL_FORMED_XML')",
        "SELECT ssb.alter_message_type('{type}', 'NONE')",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_definition_that_changes_is_seen_by_the_next_dialog(
    session: Session, pair: Pair, change: str, another: Callable[[], Session]
) -> None:
    """What dialogs of both ways make after it, on a session that knew the path, is the same."""
    there, back = (
        text.format(far=pair.target, contract=pair.contract, queue=pair.far, type=pair.request)
        for text in CHANGES[change]
    )
    shape = SHAPE.replace("e.sent_order IS NULL", "0")
    before = session.rows(shape, pair.send_new())
    other = another()
    other.do(there)
    other.commit()
    try:
        together = pair.send_new()
        apart = pair.dialog()
        session.send(apart, pair.request, "job")
        assert session.rows(shape, together) == session.rows(shape, apart)
        assert session.value("SELECT ssb.get_transmission_status(%s)", together) == session.value(
            "SELECT ssb.get_transmission_status(%s)", apart
        )
    finally:
        other.do(back)
        other.commit()
    for handle in (together, apart):
        session.do("SELECT ssb.end_conversation(%s, cleanup => true)", handle)
    assert session.rows(shape, pair.send_new()) == before


def test_a_path_is_not_kept_of_definitions_that_are_being_changed(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    changing = another()
    changing.do("SELECT ssb.create_broker_priority('q', priority_level => 7)")
    pair.send_new()
    assert session.value(KEPT, pair.initiator) == 0
    changing.commit()
    handle = pair.send_new()
    assert session.value(PRIORITY, handle) == 7
    session.do("SELECT ssb.drop_broker_priority('q')")
    pair.send_new()
    assert session.value(KEPT, pair.initiator) == 1


def test_a_change_waits_for_nobody_and_outdates_a_path_that_is_not_committed(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    first, second, changing = another(), another(), another()
    for sender in (first, second):
        sender.do("SET lock_timeout = '1s'")
        pair.send_new(session=sender)  # both keep the path, and neither waits for the other
    changing.do("SET lock_timeout = '1s'")
    changing.do("SELECT ssb.create_broker_priority('r', priority_level => 7)")
    changing.commit()
    first.commit()
    second.commit()
    handle = pair.send_new()
    assert session.value(PRIORITY, handle) == 7
    session.do("SELECT ssb.drop_broker_priority('r')")
    assert session.value(PRIORITY, pair.send_new()) == 5


def test_of_paths_that_were_kept_at_once_one_stays(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    """Each further one drew an order of the queue, and a number, for every dialog that began."""
    senders = [another() for _ in range(4)]
    for sender in senders:
        pair.send_new(session=sender)
    for sender in senders:
        sender.commit()
    assert session.value(KEPT, pair.initiator) == 4
    frozen = another()
    frozen.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    frozen.value(KEPT, pair.initiator)
    session.send(pair.dialog(), pair.request, "one")
    assert session.value(KEPT, pair.initiator) == 1
    frozen.send(pair.dialog(session=frozen), pair.request, "sees four")
    frozen.commit()
    total = "SELECT enqueued_total FROM ssb.queue_status WHERE queue = %s"
    before = session.value(total, pair.far)
    session.send(pair.dialog(), pair.request, "two")
    pair.send_new()
    assert session.value(total, pair.far) == before + 2


def test_who_may_not_receive_from_the_queue_begins_no_dialog(session: Session, pair: Pair) -> None:
    pair.send_new()
    session.do("CREATE ROLE short_sender")
    try:
        session.do("SET ROLE short_sender")
        with refused(8494):
            pair.send_new()
    finally:
        session.do("RESET ROLE")
        session.do("DROP ROLE short_sender")


def test_receive_and_end_ends_what_it_received_from(session: Session, pair: Pair) -> None:
    handles = [pair.send_new(f"job {i}") for i in range(6)]
    got = session.rows(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive_and_end(%s, NULL, 5)", pair.far
    )
    assert [body for (body,) in got] == [f"job {i}" for i in range(5)]
    states = session.rows(
        "SELECT e.state FROM unnest(%s::uuid[]) WITH ORDINALITY AS h (handle, n)"
        " JOIN sys.conversation_endpoints AS e ON e.conversation_handle = h.handle ORDER BY n",
        handles,
    )
    assert [state for (state,) in states] == ["DI"] * 5 + ["CO"]
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 5
    assert session.bodies(pair.far) == ["job 5"]
    assert session.receive(pair.near) == []


def test_a_conversation_with_messages_left_is_not_ended(session: Session, pair: Pair) -> None:
    near = pair.send_new("first")
    session.send(near, pair.request, "second")
    bodies = "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive_and_end(%s, 1)"
    assert session.rows(bodies, pair.far) == [("first",)]
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 0
    assert session.rows(bodies, pair.far) == [("second",)]
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 1


def test_a_reply_before_an_end_keeps_no_other_dialog_from_ending(session: Session, pair: Pair) -> None:
    replied, _ = pair.send_new("asks"), pair.send_new("tells")
    first, second = (m.handle for _ in range(2) for m in session.receive(pair.far))
    session.send(first, pair.reply, "look here first")
    session.end(first)
    session.end(second)
    assert session.value("SELECT ssb.end_finished(%s, 1)", pair.near) == 1
    assert [m.handle for m in session.receive(pair.near)] == [replied] * 2


def test_receive_and_end_takes_at_least_one_group(session: Session, pair: Pair) -> None:
    with refused(1014):
        session.do("SELECT ssb.receive_and_end(%s, 1, 0)", pair.far)
    with refused(1014):
        session.do("SELECT ssb.end_finished(%s, 0)", pair.near)


def test_what_is_rolled_back_was_neither_received_nor_ended(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    pair.send_new("job")
    reader = another()
    assert len(reader.rows("SELECT FROM ssb.receive_and_end(%s)", pair.far)) == 1
    reader.rollback()
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 0
    assert session.rows(
        "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive_and_end(%s)", pair.far
    ) == [("job",)]
    sweeper = another()
    assert sweeper.value("SELECT ssb.end_finished(%s)", pair.near) == 1
    sweeper.rollback()
    assert [m.type for m in session.receive(pair.near)] == [END]


def test_end_finished_leaves_errors_answers_and_what_others_hold(
    session: Session, pair: Pair, another: Callable[[], Session]
) -> None:
    failed, answered, held, done = (pair.send_new(str(i)) for i in range(4))
    fars = [m.handle for _ in range(4) for m in session.receive(pair.far, top=1)]
    session.end(fars[0], error=7, description="no")
    session.send(fars[1], pair.reply, "answer")
    for far in fars[1:]:
        session.end(far)
    holder = another()
    holder.rows("SELECT FROM ssb.receive(%s, NULL, %s)", pair.near, held)
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 1
    holder.rollback()
    assert session.value("SELECT ssb.end_finished(%s)", pair.near) == 1
    assert session.value("SELECT ssb.end_finished(%s, errors => true)", pair.near) == 1
    left = session.receive(pair.near)
    assert [m.handle for m in left] == [answered, answered]
    assert [m.type for m in left] == [pair.reply, END]
    assert ERROR != END and failed != done
    session.end(answered)


def test_end_finished_needs_receive(session: Session, pair: Pair) -> None:
    session.do("CREATE ROLE short_sender")
    try:
        session.do("SET ROLE short_sender")
        for call in ("ssb.end_finished(%s)", "ssb.receive_and_end(%s)"):
            with refused(229):
                session.do(f"SELECT {call}", pair.near)
    finally:
        session.do("RESET ROLE")
        session.do("DROP ROLE short_sender")


def test_the_built_in_program_ends_all_that_is_finished(session: Session, pair: Pair) -> None:
    for i in range(7):
        pair.send_new(str(i))
    session.rows("SELECT FROM ssb.receive_and_end(%s, NULL, 7)", pair.far)
    session.do("CALL ssb.end_finished_dialogs(%s)", pair.near)
    assert session.receive(pair.near) == []
    assert (
        session.value("SELECT count(*) FROM sys.conversation_endpoints WHERE far_service = %s", pair.target)
        == 0
    )
