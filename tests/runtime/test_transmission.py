"""What cannot be delivered waits in sys.transmission_queue, with the reason, and goes when the
obstacle does."""

import time
from collections.abc import Callable

import pytest
from runtime.broker import END, ERROR, Pair, Session, refused


def test_a_message_to_an_unknown_service_waits_for_it(session: Session, pair: Pair) -> None:
    name = pair.target + "/later"
    handle = session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, name, pair.contract)
    session.send(handle, pair.request, "1")
    session.send(handle, pair.request, "2")
    assert session.rows(
        "SELECT to_service_name, from_service_name, service_contract_name,"
        " message_sequence_number, message_type_name,"
        " is_conversation_error, is_end_of_dialog, message_body, priority FROM sys.transmission_queue"
        " WHERE conversation_handle = %s ORDER BY message_sequence_number",
        handle,
    ) == [
        (name, pair.initiator, pair.contract, 0, pair.request, 0, 0, b"1", 5),
        (name, pair.initiator, pair.contract, 1, pair.request, 0, 0, b"2", 5),
    ]
    assert "could not be found" in session.value("SELECT ssb.get_transmission_status(%s)", handle)
    assert session.state(handle) == "CO"
    session.do("SELECT ssb.create_service(%s, %s, ARRAY[%s])", name, pair.far, pair.contract)
    assert session.transmissions(handle) == []
    assert session.value("SELECT ssb.get_transmission_status(%s)", handle) == ""
    assert session.value("SELECT ssb.get_transmission_status(gen_random_uuid())") == ""
    session.send(handle, pair.request, "3")
    assert [(m.number, m.body) for m in session.receive(pair.far)] == [(0, "1"), (1, "2"), (2, "3")]


def test_a_queue_that_is_off_keeps_messages_away(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    with refused(9617, pair.far.removeprefix("dbo.")):
        session.receive(pair.far)
    with refused(9617):
        session.value("SELECT ssb.get_conversation_group(%s)", pair.far)
    session.send(near, pair.request, "1")
    (status,) = session.transmissions(near)
    assert status.startswith("One or more messages could not be delivered to the local service")
    assert session.rows(f"SELECT * FROM {pair.far}") == []
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    session.send(near, pair.request, "2")
    assert session.bodies(pair.far) == ["1", "2"]
    assert session.state(far) == "CO"


def test_end_waits_behind_the_messages_before_it(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "1")
    session.end(near)
    assert session.state(near) == "DO"
    assert session.state(far) == "CO"
    with refused(8427, "'DO'"):
        session.end(near)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert (session.state(near), session.state(far)) == (None, "DI")
    assert [m.type for m in session.receive(pair.far)] == [pair.request, END]


def test_an_error_overtakes_the_messages_before_it(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "dropped")
    session.end(near, error=5, description="x")
    assert len(session.transmissions(near)) == 1
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert [m.type for m in session.receive(pair.far)] == [ERROR]
    assert (session.state(near), session.state(far)) == (None, "ER")


def test_messages_for_a_side_that_has_ended_are_dropped(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "unwanted")
    session.end(far)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    assert session.transmissions(near) == []
    assert session.receive(pair.far) == []
    assert session.state(near) == "DI"


def test_two_sides_that_have_ended_wait_for_nothing(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.near)
    session.send(far, pair.reply, "nobody will read this")
    session.end(far)
    assert session.state(far) == "DO"
    session.end(near)
    # The initiator's queue is still off: what is for nobody is dropped all the same.
    assert (session.state(near), session.state(far)) == (None, "CD")
    assert session.transmissions(far) == []


def test_an_initiator_that_waits_goes_with_its_target(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "nobody will read this")
    session.end(near)
    session.end(far, error=5, description="x")
    assert (session.state(near), session.state(far)) == (None, "CD")
    assert session.transmissions(near) == []


def test_who_holds_the_waiting_side_drops_it_later(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.near)
    session.end(far)
    holder = another()
    holder.do("SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR NO KEY UPDATE", far)
    session.end(near)
    assert (session.state(near), session.state(far)) == (None, "DO")
    holder.commit()
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.near)
    assert session.state(far) == "CD"


def test_an_end_takes_what_still_waits_along(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "nobody has looked at this since")
    holder = another()
    holder.do("SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR NO KEY UPDATE", near)
    session.end(far)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    holder.commit()
    assert (session.state(near), len(session.transmissions(near))) == ("DI", 1)
    session.end(near)
    assert session.value("SELECT count(*) FROM ssb.transmission WHERE to_service = %s", pair.target) == 0


def test_what_a_side_that_has_ended_does_not_want_is_counted(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.near)
    session.end(far)
    # Its EndDialog waits, so the initiator knows nothing of it.
    session.send(near, pair.request, "1")
    session.send(near, pair.request, "2")
    session.end(far, cleanup=True)
    session.send(near, pair.request, "3")
    session.end(near)
    assert session.column(
        "SELECT message_sequence_number FROM sys.transmission_queue WHERE conversation_handle = %s"
        " ORDER BY message_sequence_number",
        near,
    ) == [3, 4]


def test_receive_fetches_what_nobody_has_delivered_yet(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    session.send(near, pair.request, "1")
    # As after an ALTER QUEUE that found the sender's group locked.
    session.do(
        "UPDATE ssb.queue SET is_receive_enabled = true, is_enqueue_enabled = true WHERE name = %s", pair.far
    )
    session.do("SELECT ssb_internal.refresh_queue(queue_id) FROM ssb.queue WHERE name = %s", pair.far)
    assert session.bodies(pair.far) == ["1"]


@pytest.mark.parametrize("why", ["another instance", "no permission", "the queue takes nothing"])
def test_who_waits_does_not_come_back_for_what_cannot_be_delivered(
    session: Session, pair: Pair, why: str
) -> None:
    """Neither WAITFOR, which would look again and again without a pause, nor who asks whether to receive."""
    near = pair.dialog()
    if why == "another instance":
        session.do("SELECT ssb.create_route('away', 'tcp://elsewhere:4022', %s)", pair.target)
    elif why == "no permission":
        session.do("UPDATE ssb.service SET owner = 'nobody in particular' WHERE name = %s", pair.initiator)
    else:
        session.do(
            "UPDATE ssb.queue SET is_enqueue_enabled = false, is_accepting = false WHERE name = %s", pair.far
        )
        session.do("SELECT ssb_internal.refresh_queue(queue_id) FROM ssb.queue WHERE name = %s", pair.far)
    session.send(near, pair.request, "1")
    assert session.transmissions(near) != []
    assert session.value("SELECT ssb.message_is_waiting(%s)", pair.far) is False
    began = time.monotonic()
    session.do(
        "CALL ssb.wait_for_message(%s, clock_timestamp() + interval '0.4 s', may_commit => true)", pair.far
    )
    assert time.monotonic() - began >= 0.39
    assert session.receive(pair.far) == []
    session.do("SELECT ssb.drop_route(name) FROM sys.routes WHERE name = 'away'")


def test_a_disabled_broker_neither_sends_nor_accepts(
    session: Session, another: Callable[[], Session]
) -> None:
    session.do("SELECT ssb.create_database('Shut'), ssb.use_database('Shut')")
    session.do(
        "SELECT ssb.create_queue('shut_dbo.q'), ssb.create_service('//shut', 'shut_dbo.q', '{DEFAULT}')"
    )
    handle = session.value("SELECT ssb.begin_dialog('//shut', '//shut')")
    session.do("SELECT ssb.send(%s, body => 'a'::bytea)", handle)
    session.do("SELECT ssb.alter_database('Shut', 'DISABLE_BROKER')")
    session.do("SELECT ssb.send(%s, body => 'b'::bytea)", handle)
    (status,) = session.transmissions(handle)
    assert "disabled" in status
    # Nor does a look at the queue try each conversation, and hold it.
    reader = another()
    assert reader.bodies("shut_dbo.q") == ["a"] and reader.receive("shut_dbo.q") == []
    session.do(
        "SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR NO KEY UPDATE NOWAIT",
        handle,
    )
    reader.rollback()
    session.do("SELECT ssb.alter_database(NULL, 'ENABLE_BROKER')")
    assert session.transmissions(handle) == []
    assert session.bodies("shut_dbo.q") == ["a", "b"]
    session.do("SELECT ssb.use_database(%s)", session.value("SELECT current_database()"))


def test_the_route_decides_whether_a_service_is_here(session: Session, pair: Pair) -> None:
    name = f"route {pair.target}"
    session.do("SELECT ssb.create_route(%s, 'TCP://far.example:4022', %s)", name, pair.target)
    handle = pair.dialog()
    session.send(handle, pair.request, "1")
    (status,) = session.transmissions(handle)
    assert "TCP://far.example:4022" in status
    session.do("SELECT ssb.alter_route(%s, 'LOCAL')", name)
    assert session.bodies(pair.far) == ["1"]
    session.do("SELECT ssb.drop_route(%s)", name)


def test_broker_instance_names_one_of_several(session: Session, pair: Pair) -> None:
    guid = session.value("SELECT service_broker_guid FROM sys.databases WHERE name = current_database()")
    wrong = pair.dialog(broker_instance="11111111-2222-3333-4444-555555555555")
    right = pair.dialog(broker_instance=str(guid).upper())
    here = pair.dialog(broker_instance="CURRENT DATABASE")
    for handle in (wrong, right, here):
        session.send(handle, pair.request)
    assert len(session.transmissions(wrong)) == 1
    assert session.transmissions(right) == session.transmissions(here) == []


def test_numbers_are_exact_while_messages_wait(session: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    for _ in range(20):
        session.send(near, pair.request)
    session.do("SELECT ssb.alter_queue(%s, status => false)", pair.far)
    for _ in range(3):
        session.send(near, pair.request)
    session.do("SELECT ssb.alter_queue(%s, status => true)", pair.far)
    session.send(near, pair.request)
    assert [m.number for m in session.receive(pair.far)] == list(range(1, 25))


def test_a_dropped_service_ends_its_dialogs(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.drop_service(%s)", pair.target)
    (message,) = session.receive(pair.near)
    assert message.type == ERROR and message.body is not None and "<Code>-8470</Code>" in message.body
    assert (session.state(near), session.state(far)) == ("ER", None)
    session.end(near)
    assert session.state(near) is None


def test_an_altered_service_takes_its_messages_along(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    for i in range(3):
        session.send(near, pair.request, str(i))
    other = pair.far + "_b"
    session.do("SELECT ssb.create_queue(%s), ssb.alter_service(%s, %s)", other, pair.target, other)
    session.send(near, pair.request, "3")
    assert session.rows(f"SELECT * FROM {pair.far}") == []
    assert session.bodies(other) == ["0", "1", "2", "3"]
    session.do("SELECT ssb.drop_queue(%s)", pair.far)
    session.send(far, pair.reply)
    assert len(session.receive(pair.near)) == 1


def test_who_looks_for_parked_dialogs_reads_those_that_are_due(
    session: Session, another: Callable[[], Session]
) -> None:
    peer = session.value(
        "INSERT INTO ssb.transport_peer (address) VALUES ('TCP://parked:1') RETURNING peer_id"
    )
    session.do(
        "INSERT INTO ssb.remote_conversation"
        " (endpoint_id, conversation_id, is_initiator, database_id, service_id, peer_id, failures, retry_at)"
        " SELECT -n, gen_random_uuid(), true, 1, 1, %s, 1,"
        " clock_timestamp() + CASE WHEN n <= 2 THEN '-1 hour' ELSE '1 hour' END::interval"
        " FROM generate_series(1, 300) AS n",
        peer,
    )
    read = (
        "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables"
        " WHERE relname = 'remote_conversation'"
    )
    try:
        looking = another()
        assert peer in looking.column("SELECT peer_id FROM ssb_internal.transport_peers('{}')")
        looking.do("SELECT ssb_internal.try_parked(%s, 50)", peer)
        assert 2 <= looking.value(read) < 20
        assert peer not in looking.column("SELECT peer_id FROM ssb_internal.transport_peers('{}')")
        assert looking.value(read) < 20
        looking.rollback()
    finally:
        session.do("DELETE FROM ssb.remote_conversation WHERE peer_id = %s", peer)
        session.do("DELETE FROM ssb.transport_peer WHERE peer_id = %s", peer)


def test_who_looks_for_messages_itself_is_not_looked_for(session: Session) -> None:
    """Of rows that are not committed each look reads all."""
    peer = session.value("INSERT INTO ssb.transport_peer (address) VALUES ('TCP://told:1') RETURNING peer_id")
    session.do(
        "INSERT INTO ssb.transmission (database_id, endpoint_id, to_service, message_sequence_number,"
        " message_type_name, is_end_of_dialog, is_conversation_error, enqueued_at, transmission_status,"
        " peer_id) VALUES (1, -1, 's', 0, 'm', false, false, now(), '', %s)",
        peer,
    )
    try:
        for told in ([], [peer]):
            found = session.column("SELECT peer_id FROM ssb_internal.transport_peers(%s)", told)
            assert (peer in found) is not bool(told)
    finally:
        session.do("DELETE FROM ssb.transmission WHERE peer_id = %s", peer)
        session.do("DELETE FROM ssb.transport_peer WHERE peer_id = %s", peer)
