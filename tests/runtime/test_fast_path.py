"""What most applications do takes SEND's and END's fast path, and means the same there as on the slow one."""

from collections.abc import Callable

import pytest
from runtime.broker import END, ERROR, TIMER, Pair, Session
from runtime.test_time import pass_time

from support import end_counted

SLOW = "SELECT funcname FROM pg_stat_user_functions WHERE funcname = ANY (%s) AND calls > 0"
SLOW_PATHS = ["send_slow_path", "make_endpoint", "make_target", "deliver", "close_endpoint"]
RECEIVED = """
SELECT message_type_name, validation, message_body, message_sequence_number FROM ssb.receive(%s)
"""
SIDES = """
SELECT e.is_initiator, e.lifetime = n.lifetime, e.due_at = e.lifetime, e.sent_count, e.plain_type,
       e.far_priority, e.far_contract_id, e.lock_id = e.endpoint_id
  FROM ssb.conversation_endpoint AS n
  JOIN ssb.conversation_endpoint AS e ON e.conversation_id = n.conversation_id
 WHERE n.conversation_handle = %s ORDER BY e.is_initiator
"""


def converse(session: Session, pair: Pair, body: str | None, lifetime: int | None) -> None:
    """Two messages there, one back, both ends."""
    near = pair.dialog(session, lifetime=lifetime)
    session.send(near, pair.request, body)
    session.send(near, pair.request, body)
    far = session.receive(pair.far)[0].handle
    session.send(far, pair.reply, body)
    session.end(far)
    assert [message.type for message in session.receive(pair.near)] == [pair.reply, END]
    session.end(near)


@pytest.mark.parametrize(
    ("validation", "body", "lifetime"),
    [
        ("WELL_FORMED_XML", "<a/>", None),
        ("EMPTY", None, None),
        ("NONE", "a", 600),
        ("WELL_FORMED_XML", "<a/>", 600),
    ],
)
def test_what_most_applications_do_takes_no_slow_path(
    session: Session,
    another: Callable[[], Session],
    pair: Pair,
    validation: str,
    body: str | None,
    lifetime: int | None,
) -> None:
    for name in (pair.request, pair.reply):
        session.do("SELECT ssb.alter_message_type(%s, %s)", name, validation)
    # Other dialogs' priorities are no reason.
    others = {
        "contract": "contract => 'DEFAULT'",
        "service": f"local_service => '{pair.target}', remote_service => '{pair.target}'",
    }
    for name, match in others.items():
        session.do(f"SELECT ssb.create_broker_priority('{name}', priority_level => 9, {match})")
    session.do("SELECT pg_stat_reset()")
    # The first dialog finds its path, on the slow one.
    counted = another()
    converse(counted, pair, body, lifetime)
    counted.do("SET track_functions = 'all'")
    converse(counted, pair, body, lifetime)
    if body is not None and lifetime is None:
        counted.end(pair.send_new(body=body))
    end_counted(counted.connection, session.connection)
    assert session.rows(SLOW, SLOW_PATHS) == []
    assert session.value("SELECT count(*) FROM pg_stat_user_functions WHERE funcname = 'send'") > 0
    for name in others:
        session.do("SELECT ssb.drop_broker_priority(%s)", name)


@pytest.mark.parametrize("lifetime", [None, 600])
@pytest.mark.parametrize(("validation", "body"), [("NONE", "a"), ("WELL_FORMED_XML", "<a/>")])
def test_both_paths_make_the_same_sides(
    session: Session, pair: Pair, validation: str, body: str, lifetime: int | None
) -> None:
    session.do("SELECT ssb.alter_message_type(%s, %s)", pair.request, validation)
    handles = [pair.dialog(lifetime=lifetime) for _ in range(2)]
    session.send(handles[0], pair.request, body)
    fast = session.rows(SIDES, handles[0])
    # Where a route will lapse, nothing is remembered.
    session.do("SELECT ssb.create_route('any', 'LOCAL', %s, lifetime => 600)", pair.target)
    session.send(handles[1], pair.request, body)
    session.do("SELECT ssb.drop_route('any')")
    assert session.rows(SIDES, handles[1]) == fast
    assert session.rows(RECEIVED, pair.far) == session.rows(RECEIVED, pair.far)


def test_a_body_of_no_length_is_none(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_message_type(%s, 'WELL_FORMED_XML')", pair.request)
    near = pair.dialog()
    session.send(near, pair.request, "")
    session.send(near, pair.request, "")
    pair.send_new(body="")
    assert session.bodies(pair.far) + session.bodies(pair.far) == [None, None, None]


def test_a_body_that_is_wrong_later_ends_the_dialog(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_message_type(%s, 'WELL_FORMED_XML')", pair.request)
    near = pair.dialog()
    session.send(near, pair.request, "<a/>", "<b")
    assert session.bodies(pair.far) == ["<a/>"]
    (message,) = session.receive(pair.near)
    assert message.type == ERROR and "-9615" in str(message.body)


def test_validation_follows_its_message_type(session: Session, pair: Pair) -> None:
    near = pair.dialog()
    session.do("SELECT ssb.alter_message_type(%s, 'WELL_FORMED_XML')", pair.request)
    session.send(near, pair.request, "<a/>")
    session.do("SELECT ssb.alter_message_type(%s, 'NONE')", pair.request)
    session.send(near, pair.request, "<b")
    session.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    session.send(near, pair.request, None)
    assert session.bodies(pair.far) == ["<a/>", "<b", None]


def test_a_lifetime_ends_a_dialog_of_the_fast_path(session: Session, pair: Pair) -> None:
    near = pair.dialog(lifetime=60)
    session.send(near, pair.request, "a")
    far = session.receive(pair.far)[0].handle
    for handle in (near, far):
        pass_time(session, handle, 60)
    assert [message.type for message in session.receive(pair.near)] == [ERROR]
    assert [message.type for message in session.receive(pair.far)] == [ERROR]


def test_a_closed_side_stays_half_an_hour_whatever_its_lifetime(session: Session, pair: Pair) -> None:
    for lifetime in (60, 86400):
        near = pair.dialog(lifetime=lifetime)
        session.send(near, pair.request, "a")
        far = session.receive(pair.far)[0].handle
        session.end(far)
        session.receive(pair.near)
        session.end(near)
        pass_time(session, far, 1790)
        session.receive(pair.far)
        assert session.state(far) == "CD"
        pass_time(session, far, 20)
        session.receive(pair.far)
        assert (
            session.value(
                "SELECT count(*) FROM ssb.conversation_endpoint WHERE conversation_handle = %s", far
            )
            == 0
        )


MARK = """
SELECT (current_setting('ssb.read_position_' || queue_id || '_5')::bigint[])[1] FROM ssb.queue WHERE name = %s
"""


@pytest.mark.parametrize("level", [None, 8, 3])
@pytest.mark.parametrize("retains", [False, True])
def test_receive_of_a_group_or_conversation_takes_no_slow_path(
    session: Session, another: Callable[[], Session], pair: Pair, retains: bool, level: int | None
) -> None:
    if level is not None:
        session.do(
            "SELECT ssb.create_broker_priority(%s, %s, priority_level => %s)",
            pair.contract,
            pair.contract,
            level,
        )
    session.do("SELECT ssb.alter_queue(%s, retention => %s)", pair.far, retains)
    near, far = pair.conversing()
    session.do("SELECT pg_stat_reset()")
    counted = another()
    counted.do("SET track_functions = 'all'")
    pair.say(near, "a", "b", "c", "d")
    group = counted.value("SELECT ssb.get_conversation_group(%s)", pair.far)
    assert group == session.group(far)
    taken = counted.receive(pair.far, 1, conversation_group=group)
    taken += counted.receive(pair.far, 2, conversation=far)
    taken += counted.receive(pair.far, conversation=far, conversation_group=group)
    assert [(message.body, message.handle) for message in taken] == [(body, far) for body in "abcd"]
    pair.say(near, "e", "f", "g", "h", "i")
    taken = [message for top in (1, 2, None) for message in counted.receive(pair.far, top)]
    assert [(message.body, message.number) for message in taken] == [*zip("efghi", range(5, 10), strict=True)]
    if level is not None:
        session.do("SELECT ssb.drop_broker_priority(%s)", pair.contract)
    counted.commit()
    end_counted(counted.connection, session.connection)
    slow = ["receive_slow_path", "lock_first_group", "take_messages"]
    assert session.rows(SLOW, slow) == []
    kept = session.rows(
        f"SELECT status, message_sequence_number, message_body FROM {pair.far} ORDER BY queuing_order"
    )
    bodies = ["hello", *"abcdefghi"]
    assert kept == [(0, n, body.encode()) for n, body in enumerate(bodies)] * retains


def test_who_asks_for_groups_alone_passes_what_is_gone(session: Session, pair: Pair) -> None:
    """As RECEIVE does: entries of received messages stay in the index until VACUUM."""
    near = pair.dialog()
    for _ in range(4):
        session.do(
            "SELECT ssb.send_batch(array_agg(%s::uuid), array_agg(%s::text), array_agg('x'::bytea))"
            " FROM generate_series(1, 100)",
            near,
            pair.request,
        )
    for _ in range(400):
        group = session.value("SELECT ssb.get_conversation_group(%s)", pair.far)
        assert len(session.receive(pair.far, 1, conversation_group=group)) == 1
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) is None
    assert session.value(MARK, pair.far) > 200


def test_a_held_or_tried_or_due_conversation_is_for_the_slow_path(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    near, far = pair.conversing()
    pair.say(near, "a", "b")
    holder = another()
    assert [m.body for m in holder.receive(pair.far, 1, conversation=far)] == ["a"]
    assert session.receive(pair.far, conversation=far) == []
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) is None
    holder.rollback()
    assert session.value("SELECT ssb.get_conversation_group(%s)", pair.far) == session.group(far)
    assert [m.body for m in session.receive(pair.far, conversation=far)] == ["a", "b"]
    session.do("SELECT ssb.begin_conversation_timer(%s, 60)", far)
    pass_time(session, far, 60)
    assert [m.type for m in session.receive(pair.far, 1, conversation=far)] == [TIMER]


APPENDING = {
    "SEND": "SELECT ssb.send(%(near)s, %(request)s, 'x'::bytea)",
    "SEND of another type": "SELECT ssb.send(%(near)s, %(note)s, 'x'::bytea)",
    "SEND without a body": "SELECT ssb.send(%(near)s, %(request)s)",
    "the first SEND": "SELECT ssb.send(%(new)s, %(request)s, 'x'::bytea)",
    "BEGIN DIALOG and SEND": (
        "SELECT ssb.send_new(%(initiator)s, %(target)s, %(contract)s, %(request)s, 'x'::bytea)"
    ),
    "SEND of several": "SELECT ssb.send_many(ARRAY[%(near)s, %(other)s]::uuid[], %(request)s, 'x'::bytea)",
    "END": "SELECT ssb.end_conversation(%(near)s)",
    "END of several": "SELECT ssb.end_conversations(%(several)s::uuid[])",
    "END WITH ERROR": "SELECT ssb.end_conversation(%(near)s, 1, 'x')",
}
SENDERS = """
SELECT count(*) FROM pg_locks AS l JOIN ssb.queue AS q ON l.objid = q.order_sequence::oid
 WHERE l.locktype = 'advisory' AND l.classid = 1397965379 AND l.pid = pg_backend_pid() AND q.name = %s
"""


@pytest.mark.parametrize("retains", [False, True])
@pytest.mark.parametrize("statement", APPENDING)
def test_who_appends_to_a_queue_can_be_waited_for(
    session: Session, pair: Pair, statement: str, retains: bool
) -> None:
    """Readers who wait are through when the senders are, not a pause later."""
    near, other, new = pair.dialog(), pair.dialog(), pair.dialog()
    pair.say(near, "first")
    pair.say(other, "first")
    pair.send_new()
    session.do("SELECT ssb.alter_queue(%s, retention => %s)", pair.near, retains)
    several = [near, *(pair.send_new() for _ in range(3))]
    values = {name: getattr(pair, name) for name in ("request", "note", "initiator", "target", "contract")}
    with session.connection.transaction():
        session.connection.execute(
            APPENDING[statement], {**values, "near": near, "other": other, "new": new, "several": several}
        )
        assert session.value(SENDERS, pair.far) == 1
    assert session.value(SENDERS, pair.far) == 0


HELD = """
SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = ANY (%s) ORDER BY endpoint_id FOR UPDATE
"""
NEXT_MOMENT = """
SELECT set_config('ssb.read_position_' || q.queue_id || '_5',
                  (v[1:2] || coalesce(%s, v[3]) || 0::bigint || v[5:])::text, false)
  FROM ssb.queue AS q
 CROSS JOIN LATERAL CAST(current_setting('ssb.read_position_' || q.queue_id || '_5') AS bigint[]) AS v
 WHERE q.name = %s
"""


@pytest.mark.parametrize("decided", [None, -1], ids=["the mark may be raised", "not known to be decided"])
def test_what_was_held_is_found_when_it_is_free_again(
    session: Session, another: Callable[[], Session], pair: Pair, decided: int | None
) -> None:
    """A reader that has found something far behind begins there for a tenth of a second, and no longer."""
    reader, first, others = another(), another(), another()
    for _ in range(3):
        pair.send_new()
        assert len(reader.receive(pair.far, 1)) == 1
        reader.commit()
    for number in range(60):
        pair.send_new(str(number))
    sides = session.column(
        f"SELECT conversation_handle FROM {pair.far} WHERE status = 1 ORDER BY queuing_order"
    )
    first.do(HELD, sides[:1])
    others.do(HELD, sides[1:45])
    assert reader.bodies(pair.far, 1) == ["45"]
    reader.commit()
    others.rollback()
    reader.do(NEXT_MOMENT, decided, pair.far)
    assert reader.bodies(pair.far, 1) == ["1"]
    reader.commit()
    first.rollback()
    assert reader.bodies(pair.far, 1) == ["0"]
