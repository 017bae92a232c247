"""The way that an earlier dialog to another instance took is taken only where it would be found again."""

from collections.abc import Callable

import pytest
from runtime.broker import Pair, Session, refused

pytestmark = pytest.mark.one_postgres

KEPT = """
SELECT count(*) FROM ssb.dialog_path
 WHERE from_service = %s AND peer_id IS NOT NULL AND epoch = pg_sequence_last_value('ssb.dialog_path_epoch')
"""
SHAPE = """
SELECT e.sent_count, e.sent_order, e.has_waiting, e.priority, e.far_endpoint_id IS NULL, r.address,
       r.mirror_address, r.is_initiator, r.database_id, r.service_id = e.service_id, r.is_under_way,
       p.address = r.address, r.conversation_id = e.conversation_id, t.database_id, t.to_service,
       t.message_sequence_number, t.message_type_name, t.is_end_of_dialog, t.is_conversation_error, t.body,
       t.transmission_status, t.trace, t.priority, t.peer_id = r.peer_id, e.is_initiator, e.is_encrypted,
       e.is_system, e.lock_id = e.endpoint_id, e.conversation_group_id = e.conversation_handle, e.near_order,
       e.near_state, e.contract_id, e.queue_id, e.service_name, e.contract_name, e.far_service,
       e.far_broker_instance, e.lifetime, e.due_at, e.plain_type
  FROM ssb.conversation_endpoint AS e
  LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id
  LEFT JOIN ssb.transport_peer AS p ON p.peer_id = r.peer_id
  LEFT JOIN ssb.transmission AS t ON t.endpoint_id = e.endpoint_id
 WHERE e.conversation_handle = %s ORDER BY t.transmission_id
"""
ONE, TWO = "TCP://one.example:4022", "TCP://two.example:4022"


class Away:
    """Dialogs of a pair's initiator with a service that a route leads to, and is not here."""

    def __init__(self, session: Session, pair: Pair) -> None:
        self.session, self.pair = session, pair
        self.service = f"{pair.target}/away"
        self.name = f"to {self.service}"
        session.do("SELECT ssb.create_route(%s, %s, %s)", self.name, ONE, self.service)
        session.commit()

    def sent(self, session: Session | None = None, body: str = "job") -> list[tuple[object, ...]]:
        """What the first message of a new dialog has left behind."""
        by = session or self.session
        handle = by.value(
            "SELECT ssb.begin_dialog(%s, %s, %s)", self.pair.initiator, self.service, self.pair.contract
        )
        by.send(handle, self.pair.request, body)
        return by.rows(SHAPE, handle)

    def address(self, session: Session | None = None) -> object:
        return self.sent(session)[0][5]

    def kept(self) -> int:
        found: int = self.session.value(KEPT, self.pair.initiator)
        return found


@pytest.fixture
def away(session: Session, pair: Pair) -> Away:
    return Away(session, pair)


def test_the_second_dialog_is_as_the_first(session: Session, pair: Pair, away: Away) -> None:
    first = away.sent()
    assert away.kept() == 1
    assert away.sent() == first
    named = pair.send_new(b"job", far=away.service)
    assert session.rows(SHAPE, named) == first
    # … and goes on as one: the next message has the next number.
    pair.say(named, "more")
    assert [(row[5], row[15]) for row in session.rows(SHAPE, named)] == [(ONE, 0), (ONE, 1)]


@pytest.mark.parametrize("definition", ["create", "alter"])
def test_the_first_who_send_to_an_address_do_not_wait_for_each_other(
    session: Session, pair: Pair, away: Away, another: Callable[[], Session], definition: str
) -> None:
    first, second = another(), another()
    second.do("SET lock_timeout = '2s'")
    address = f"TCP://{definition}.first.example:4022"
    if definition == "create":
        away.service += "/first"
        session.do("SELECT ssb.create_route(%s, %s, %s)", f"to {away.service}", address, away.service)
    else:
        session.do("SELECT ssb.alter_route(%s, %s)", away.name, address)
    session.commit()
    assert away.address(first) == address
    assert away.address(second) == address


def test_dialogs_that_leave_are_counted_without_gaps(session: Session, pair: Pair, away: Away) -> None:
    named = pair.send_new(b"job", far=away.service)
    for _ in range(10):
        pair.say(named, "more")
        away.sent()
        session.send(named, pair.request)
        with session.connection.transaction(force_rollback=True):
            pair.say(named, "lost")
    session.end(named)
    assert [row[15] for row in session.rows(SHAPE, named)] == list(range(22))


@pytest.mark.parametrize(
    ("change", "leads_to"),
    [
        ("SELECT ssb.alter_route(%(route)s, 'TCP://two.example:4022')", {TWO}),
        ("SELECT ssb.drop_route(%(route)s)", {None}),
        # One that is as good: they share new dialogs.
        ("SELECT ssb.create_route(%(route)s || ' too', 'TCP://two.example:4022', %(service)s)", {ONE, TWO}),
        (
            "SELECT ssb.drop_route(%(route)s),"
            " ssb.create_route(%(route)s, 'TCP://two.example:4022', %(service)s,"
            " '11111111-1111-1111-1111-111111111111', mirror_address => 'TCP://mirror.example:4022')",
            {TWO},
        ),
        # LOCAL counts more where the service is here, and only there.
        ("SELECT ssb.create_route(%(route)s || ' too', 'LOCAL', %(service)s)", {ONE}),
        (
            "SELECT ssb.create_route(%(route)s || ' too', 'LOCAL', %(service)s),"
            " ssb.create_service(%(service)s, %(queue)s, ARRAY[%(contract)s])",
            {None},
        ),
    ],
)
def test_a_change_by_another_session_is_obeyed(
    session: Session,
    pair: Pair,
    away: Away,
    another: Callable[[], Session],
    change: str,
    leads_to: set[str | None],
) -> None:
    assert {away.address() for _ in range(2)} == {ONE}
    values = {"route": away.name, "service": away.service, "queue": pair.far, "contract": pair.contract}
    changing = another()
    changing.connection.execute(change.encode(), values)
    # As long as it is not committed nothing has changed, and nothing is remembered.
    assert {away.address() for _ in range(2)} == {ONE}
    assert away.kept() == 0
    changing.commit()
    assert {away.address() for _ in range(40 if len(leads_to) > 1 else 2)} == leads_to
    assert away.kept() == (leads_to in ({ONE}, {TWO}))


def test_a_route_that_lapses_is_looked_up_each_time(session: Session, away: Away) -> None:
    session.do(
        "SELECT ssb.create_route(%s, %s, %s, lifetime => 600)", f"{away.name} too", TWO, f"{away.service} too"
    )
    assert {away.address() for _ in range(2)} == {ONE}
    assert away.kept() == 0
    session.do("SELECT ssb.drop_route(%s)", f"{away.name} too")
    assert away.address() == ONE
    assert away.kept() == 1


def test_a_priority_and_retention_count(session: Session, pair: Pair, away: Away) -> None:
    away.sent()
    session.do(
        "SELECT ssb.create_broker_priority('away', priority_level => 8, remote_service => %s)",
        away.service,
    )
    assert away.sent()[0][3] == 8
    session.do("SELECT ssb.drop_broker_priority('away')")
    assert [away.sent()[0][3] for _ in range(2)] == [5, 5]
    session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.near)
    away.sent(body="kept")
    assert session.column("SELECT body FROM ssb.retained_message") == [b"kept"]


def test_a_type_of_the_other_side_is_refused(session: Session, pair: Pair, away: Away) -> None:
    away.sent()
    handle = session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, away.service, pair.contract)
    with refused(8432):
        session.send(handle, pair.reply, "no")
    session.do("SELECT ssb.alter_message_type(%s, 'EMPTY')", pair.request)
    assert away.sent(body="")[0][19] is None


def test_a_change_that_is_rolled_back_was_none(
    session: Session, away: Away, another: Callable[[], Session]
) -> None:
    away.sent()
    changing = another()
    changing.do("SELECT ssb.alter_route(%s, %s)", away.name, TWO)
    assert {away.address(changing) for _ in range(2)} == {TWO}
    changing.rollback()
    assert {away.address() for _ in range(2)} == {ONE}


def test_its_rights_and_errors_are_those_of_the_statements(session: Session, pair: Pair, away: Away) -> None:
    away.sent()
    with refused(8428):
        pair.send_new(far=away.service, type="//none")
    with refused(8432):
        pair.send_new(far=away.service, type=pair.reply)
    session.do("CREATE ROLE away_sender")
    try:
        session.do("SET ROLE away_sender")
        with refused(8494):
            pair.send_new(far=away.service)
    finally:
        session.do("RESET ROLE")
        session.do("DROP ROLE away_sender")
