"""Two who change definitions at once, and those who send meanwhile."""

import uuid
from collections.abc import Callable

import psycopg
import pytest
from interleaving.pauses import changed
from runtime.broker import Pair, Session, refused, start_and_block

Open = Callable[[], Session]


def test_a_grant_and_a_denial_at_once(session: Session, another: Open, pair: Pair) -> None:
    """Where anybody is denied, no grant is mirrored: it could reach him through a role."""
    granted, denied = (f"r{uuid.uuid4().hex[:12]}" for _ in range(2))
    session.do(f"CREATE ROLE {granted}")
    session.do(f"CREATE ROLE {denied} IN ROLE {granted}")
    first, second = another(), another()
    change = "SELECT ssb.{}_permission('{{RECEIVE}}', 'OBJECT', %s, %s)"
    first.do(change.format("grant"), pair.far, [granted])
    denying = start_and_block(session, second, lambda: second.do(change.format("deny"), pair.far, [denied]))
    first.commit()
    denying.result()
    second.commit()
    may = "SELECT has_sequence_privilege(%s, q.order_sequence, 'USAGE') FROM ssb.queue AS q WHERE q.name = %s"
    assert not session.value(may, denied, pair.far)
    session.do(f"DROP OWNED BY {granted}, {denied}")
    session.do(f"DROP ROLE {granted}, {denied}")


def test_two_grants_at_once(session: Session, another: Open, pair: Pair) -> None:
    roles = [f"r{uuid.uuid4().hex[:12]}" for _ in range(2)]
    first, second = another(), another()
    grant = "SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, %s)"
    for role in roles:
        session.do(f"CREATE ROLE {role}")
    first.do(grant, pair.far, [roles[0]])
    granting = start_and_block(session, second, lambda: second.do(grant, pair.far, [roles[1]]))
    first.commit()
    granting.result()
    second.commit()
    may = "SELECT has_sequence_privilege(%s, q.order_sequence, 'USAGE') FROM ssb.queue AS q WHERE q.name = %s"
    assert [session.value(may, role, pair.far) for role in roles] == [True, True]
    for role in roles:
        session.do(f"DROP OWNED BY {role}")
        session.do(f"DROP ROLE {role}")


@pytest.mark.parametrize("how", ["slow path", "fast path", "send_new"])
@pytest.mark.parametrize("change", ["queue", "drop"])
def test_a_service_changes_when_those_who_begin_dialogs_with_it_are_through(
    session: Session, another: Open, pair: Pair, how: str, change: str
) -> None:
    def begin(sender: Session, body: str) -> None:
        if how == "send_new":
            pair.send_new(body, sender)
        else:
            pair.say(pair.dialog(sender, lifetime=1000), body, session=sender)

    other = f"{pair.far}_too"
    session.do("SELECT ssb.create_queue(%s)", other)
    if how == "slow path":
        session.do("SELECT ssb.alter_queue(%s, retention => true)", pair.far)
        session.do("SELECT ssb.watch_queue(%s, true)", pair.far)
    else:
        begin(session, "which keeps the path")
        session.receive(pair.far)
    early, late, admin = another(), another(), another()
    begin(early, "early")
    ask = ("SELECT ssb.alter_service(%s, queue => %s)", pair.target, other)
    if change == "drop":
        ask = ("SELECT ssb.drop_service(%s)", pair.target)
    changing = start_and_block(session, admin, lambda: admin.do(*ask))
    sending = start_and_block(session, late, lambda: begin(late, "late"))
    early.commit()
    changing.result()
    admin.commit()
    sending.result()
    late.commit()
    session.do("SELECT ssb.alter_queue(%s, retention => false)", pair.far)
    assert session.bodies(pair.far) == []
    left = (
        "SELECT count(*) FROM ssb.conversation_endpoint AS e JOIN ssb.queue AS q ON q.queue_id = e.queue_id"
        " WHERE q.name = %s AND e.closed_at IS NULL"
    )
    assert session.value(left, pair.far) == 0
    if change == "queue":
        found = [body for _ in range(3) for body in session.bodies(other)]
        assert found == ["early", "late"]
    else:
        session.do("SELECT ssb.create_service(%s, %s, ARRAY[%s])", pair.target, other, pair.contract)
        assert session.bodies(other) == ["late"]


_NO_SIDE_IS_LEFT = """
    SELECT count(*) FROM ssb.conversation_endpoint AS e
     WHERE e.queue_id <> 0 AND NOT EXISTS (SELECT FROM ssb.service AS s
                                            WHERE s.service_id = e.service_id AND s.queue_id = e.queue_id)
"""


@pytest.mark.parametrize(
    "how", ["path", "no path", "target elsewhere", "group", "send_new", "send_new elsewhere"]
)
@pytest.mark.parametrize("change", ["queue", "drop"])
def test_a_service_changes_when_those_who_begin_dialogs_from_it_are_through(
    session: Session, another: Open, pair: Pair, how: str, change: str
) -> None:
    """Else an initiator's side stays behind, on a queue that may go, and every SEND on it fails for good."""

    def begin(beginner: Session) -> None:
        if how.startswith("send_new"):
            pair.send_new("a job", beginner, far=elsewhere if how.endswith("elsewhere") else pair.target)
        elif how == "target elsewhere":
            beginner.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, elsewhere, pair.contract)
        else:
            pair.dialog(beginner, **({"related_conversation_group": uuid.uuid4()} if how == "group" else {}))

    elsewhere = f"{pair.target}/elsewhere"
    session.do("SELECT ssb.create_route(%s, 'TCP://there.example:4022', %s)", elsewhere, elsewhere)
    if how in ("path", "send_new"):
        pair.say(pair.dialog(), "which keeps the path")
    elif how == "send_new elsewhere":
        pair.send_new("which keeps the path", far=elsewhere)
    other = f"{pair.near}_too"
    session.do("SELECT ssb.create_queue(%s)", other)
    early, late, admin = another(), another(), another()
    begin(early)
    ask = ("SELECT ssb.alter_service(%s, queue => %s)", pair.initiator, other)
    if change == "drop":
        ask = ("SELECT ssb.drop_service(%s)", pair.initiator)
    changing = start_and_block(session, admin, lambda: admin.do(*ask))
    early.commit()
    changing.result()
    admin.do("SELECT ssb.drop_queue(%s)", pair.near)
    beginning = start_and_block(session, late, lambda: begin(late))
    admin.commit()
    if change == "drop":
        with refused(8423):
            beginning.result()
    else:
        beginning.result()
        late.commit()
    assert session.value(_NO_SIDE_IS_LEFT) == 0


@pytest.mark.parametrize("how", ["path", "no path", "send_new"])
def test_who_reads_by_an_older_snapshot_begins_no_dialog_from_a_service_that_is_gone(
    session: Session, another: Open, pair: Pair, how: str
) -> None:
    if how != "no path":
        pair.say(pair.dialog(), "which keeps the path")
    reader = another()
    reader.do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    reader.value("SELECT count(*) FROM ssb.service")
    session.do("SELECT ssb.drop_service(%s)", pair.initiator)
    with pytest.raises(psycopg.errors.SerializationFailure):
        pair.send_new("a job", reader) if how == "send_new" else pair.dialog(reader)
    assert session.value(_NO_SIDE_IS_LEFT) == 0


@pytest.mark.parametrize(
    ("change", "number"),
    [
        ("SELECT ssb.alter_queue(%s, retention => true)", 15151),
        ("SELECT ssb.drop_queue(%s)", 3701),
    ],
    ids=["alter", "drop"],
)
def test_who_comes_second_to_a_dropped_queue_is_told_so(
    session: Session, another: Open, change: str, number: int
) -> None:
    queue = f"dbo.q{uuid.uuid4().hex}"
    session.do("SELECT ssb.create_queue(%s)", queue)
    first, second = another(), another()
    first.do("SELECT ssb.drop_queue(%s)", queue)
    changing = start_and_block(session, second, lambda: second.do(change, queue))
    first.commit()
    with refused(number):
        changing.result()


@pytest.mark.parametrize(
    "change",
    [
        "SELECT ssb.alter_service(%s, add_contracts => '{DEFAULT}')",
        "SELECT ssb.alter_service(%s, queue => 'dbo.never_there')",
        "SELECT ssb.drop_service(%s)",
    ],
)
def test_who_comes_second_to_a_dropped_service_is_told_so(
    session: Session, another: Open, pair: Pair, change: str
) -> None:
    first, second = another(), another()
    first.do("SELECT ssb.drop_service(%s)", pair.target)
    ask = change.replace("dbo.never_there", pair.near)
    changing = start_and_block(session, second, lambda: second.do(ask, pair.target))
    first.commit()
    with refused(15151):
        changing.result()


_NO = "SELECT ssb.drop_contract('c{0}')"
# Each of the two is waited for by the other: what it says then, of what the first has done.
_PAIRS = {
    "queue, service": (
        "SELECT ssb.drop_queue('dbo.q{0}')",
        "SELECT ssb.create_service('new{0}', 'dbo.q{0}', '{{DEFAULT}}')",
        15151,
        3716,
    ),
    "queue, service altered": (
        "SELECT ssb.drop_queue('dbo.q{0}')",
        "SELECT ssb.alter_service('s{0}', queue => 'dbo.q{0}')",
        15151,
        3716,
    ),
    "queue, grant": (
        "SELECT ssb.drop_queue('dbo.q{0}')",
        "SELECT ssb.grant_permission('{{RECEIVE}}', 'OBJECT', 'dbo.q{0}', '{{u{0}}}')",
        15151,
        None,
    ),
    "contract, service": (
        _NO,
        "SELECT ssb.create_service('new{0}', 'dbo.used{0}', '{{c{0}}}')",
        15151,
        3716,
    ),
    "contract, priority": (
        _NO,
        "SELECT ssb.create_broker_priority('p{0}', contract => 'c{0}', priority_level => 3)",
        15151,
        3716,
    ),
    "type, contract": (
        "SELECT ssb.drop_message_type('t{0}')",
        "SELECT ssb.create_contract('new{0}', '{{t{0}}}', '{{ANY}}')",
        15151,
        3716,
    ),
    "type, altered": (
        "SELECT ssb.drop_message_type('t{0}')",
        "SELECT ssb.alter_message_type('t{0}', 'EMPTY')",
        15151,
        None,
    ),
    "service, grant": (
        "SELECT ssb.drop_service('s{0}')",
        "SELECT ssb.grant_permission('{{SEND}}', 'SERVICE', 's{0}', '{{u{0}}}')",
        15151,
        None,
    ),
    "user, owner": (
        "SELECT ssb.drop_principal('u{0}', 'USER')",
        "SELECT ssb.create_service('new{0}', 'dbo.used{0}', '{{DEFAULT}}', owner => 'u{0}')",
        15151,
        15138,
    ),
    "user, grant": (
        "SELECT ssb.drop_principal('u{0}', 'USER')",
        "SELECT ssb.grant_permission('{{RECEIVE}}', 'OBJECT', 'dbo.used{0}', '{{u{0}}}')",
        15151,
        None,
    ),
    "user, member": (
        "SELECT ssb.drop_principal('u{0}', 'USER')",
        "SELECT ssb.add_member('r{0}', 'u{0}')",
        15151,
        None,
    ),
    "role, member": (
        "SELECT ssb.drop_principal('r{0}', 'ROLE')",
        "SELECT ssb.add_member('r{0}', 'u{0}')",
        15151,
        15144,
    ),
    "contract, contract": (_NO, _NO, 15151, 15151),
    "user, user": (
        "SELECT ssb.drop_principal('u{0}', 'USER')",
        "SELECT ssb.drop_principal('u{0}', 'USER')",
        15151,
        15151,
    ),
    "schema, schema": (
        "SELECT ssb.create_schema('made{0}')",
        "SELECT ssb.create_schema('made{0}')",
        2714,
        2714,
    ),
}
_NOTHING_NAMES_WHAT_IS_GONE = """
    SELECT (SELECT count(*) FROM ssb.permission AS p
             WHERE p.grantee LIKE 'u%'
               AND NOT EXISTS (SELECT FROM ssb.principal AS u WHERE u.name = p.grantee)
                OR p.class = 'QUEUE'
               AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = p.major_id)
                OR p.class = 'SERVICE'
               AND NOT EXISTS (SELECT FROM ssb.service AS s WHERE s.service_id = p.major_id))
         + (SELECT count(*) FROM ssb.role_member AS m
             WHERE NOT EXISTS (SELECT FROM ssb.principal AS u WHERE u.name = m.member))
"""


@pytest.mark.parametrize("is_reversed", [False, True], ids=["dropped first", "dropped second"])
@pytest.mark.parametrize(("drop", "other", "dropped", "used"), _PAIRS.values(), ids=_PAIRS)
def test_who_comes_second_is_told_what_the_first_has_done(
    session: Session,
    another: Open,
    drop: str,
    other: str,
    dropped: int,
    used: int | None,
    is_reversed: bool,
) -> None:
    n = uuid.uuid4().hex
    for made in (
        "message_type('t{0}')",
        "message_type('of_c{0}')",
        "contract('c{0}', '{{of_c{0}}}', '{{ANY}}')",
        "queue('dbo.q{0}')",
        "queue('dbo.used{0}')",
        "service('s{0}', 'dbo.used{0}')",
        "principal('u{0}', 'USER')",
        "principal('r{0}', 'ROLE')",
    ):
        session.do(f"SELECT ssb.create_{made}".format(n))
    first, second = another(), another()
    before, after = (other, drop) if is_reversed else (drop, other)
    number = used if is_reversed else dropped
    first.do(before.format(n))
    waiting = start_and_block(session, second, lambda: second.do(after.format(n)))
    first.commit()
    if number is None:
        waiting.result()
        second.commit()
    else:
        with refused(number):
            waiting.result()
    assert session.value(_NOTHING_NAMES_WHAT_IS_GONE) == 0


@pytest.mark.parametrize(
    "make",
    [
        "SELECT ssb.create_queue('{0}_dbo.{1}')",
        "SELECT ssb.create_service('//{1}', '{0}_dbo.inbox', '{{DEFAULT}}', database => '{0}')",
        "SELECT ssb.create_schema('{1}', database => '{0}')",
        "SELECT ssb.create_message_type('{1}', database => '{0}')",
        "SELECT ssb.create_principal('{1}', 'USER', database => '{0}')",
        "SELECT ssb.begin_dialog('//{0}', '//{0}', database => '{0}')",
    ],
)
def test_a_database_is_dropped_with_what_others_are_making_in_it(
    session: Session, another: Open, make: str
) -> None:
    name = f"d{uuid.uuid4().hex[:8]}"
    session.do("SELECT ssb.create_database(%s)", name)
    session.do(f"SELECT ssb.create_queue('{name}_dbo.inbox')")
    session.do(
        f"SELECT ssb.create_service('//{name}', '{name}_dbo.inbox', '{{DEFAULT}}', database => '{name}')"
    )
    (database_id,) = session.column("SELECT database_id FROM ssb.database WHERE name = %s", name)
    maker, late, admin = another(), another(), another()
    maker.do(make.format(name, "early"))
    dropping = start_and_block(session, admin, lambda: admin.do("SELECT ssb.drop_database(%s)", name))
    maker.commit()
    dropping.result()
    coming = start_and_block(session, late, lambda: late.do(make.format(name, "late")))
    admin.commit()
    with pytest.raises(psycopg.Error) as told:
        coming.result()
    assert told.value.sqlstate is not None and told.value.sqlstate[0] in "ST", told.value
    assert session.value(_NO_SIDE_IS_LEFT) == 0
    left = """
        SELECT (SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, %s))
             + (SELECT count(*) FROM pg_class AS c
                 WHERE c.relkind = 'S' AND c.relname ~ '^queue_(order|state)_'
                   AND NOT EXISTS (SELECT FROM ssb.queue AS q
                                    WHERE c.oid IN (q.order_sequence, q.state_sequence)))
             + (SELECT count(*) FROM ssb.conversation_endpoint WHERE database_id = %s)
    """
    assert session.value(left, f"{name}_", database_id) == 0


def test_two_who_tell_the_first_event_begin_one_dialog(session: Session, another: Open) -> None:
    n = uuid.uuid4().hex
    contract = "http://schemas.microsoft.com/SQL/Notifications/PostEventNotification"
    session.do("SELECT ssb.create_queue(%s)", f"dbo.e{n}")
    session.do("SELECT ssb.create_service(%s, %s, ARRAY[%s])", f"//{n}", f"dbo.e{n}", contract)
    session.do(
        "SELECT ssb.create_event_notification(%s, '{CREATE_SERVICE}', 'DATABASE', %s, 'current database')",
        f"n{n}",
        f"//{n}",
    )
    first, second = another(), another()
    make = "SELECT ssb.create_service(%s, %s)"
    first.do(make, f"//first/{n}", f"dbo.e{n}")
    telling = start_and_block(session, second, lambda: second.do(make, f"//second/{n}", f"dbo.e{n}"))
    first.commit()
    telling.result()
    second.commit()
    told = [message for _ in range(2) for message in session.receive(f"dbo.e{n}")]
    assert len(told) == 2
    assert len({message.handle for message in told}) == 1
    session.do("SELECT ssb.drop_event_notification(%s, 'DATABASE')", f"n{n}")


def test_a_database_is_dropped_when_those_who_begin_dialogs_with_it_are_through(
    session: Session, another: Open, pair: Pair
) -> None:
    name = f"d{uuid.uuid4().hex[:8]}"
    session.do("SELECT ssb.create_database(%s)", name)
    session.do("SELECT ssb.use_database(%s)", name)
    queue = f"{name}_dbo.inbox"
    session.do("SELECT ssb.create_queue(%s)", queue)
    session.do("SELECT ssb.create_service(%s, %s, '{DEFAULT}')", f"//{name}", queue)
    session.do("SELECT ssb.use_database(NULL)")
    sender, admin = another(), another()
    begin = "SELECT ssb.begin_dialog(%s, %s)"
    handle = sender.value(begin, pair.initiator, f"//{name}")
    sender.send(handle, "DEFAULT", "early")
    dropping = start_and_block(session, admin, lambda: admin.do("SELECT ssb.drop_database(%s)", name))
    sender.commit()
    dropping.result()
    admin.commit()
    assert session.state(handle) == "ER"
    left = "SELECT count(*) FROM ssb.conversation_endpoint WHERE service_name = %s"
    assert session.value(left, f"//{name}") == 0


def test_of_two_endpoints_at_once_one_is_made(session: Session, another: Open) -> None:
    first, second = another(), another()
    make = "SELECT ssb.create_endpoint(%s, 'STOPPED', 4022)"
    first.do(make, "one")
    making = start_and_block(session, second, lambda: second.do(make, "two"))
    first.commit()
    with refused(7862):
        making.result()
    session.do("SELECT ssb.drop_endpoint('one')")


def test_no_key_is_left_that_nothing_opens(session: Session, another: Open) -> None:
    session.do("INSERT INTO ssb.master_key (database_id, by_service) VALUES (5, 'sealed')")
    session.do("INSERT INTO ssb.master_key_password (database_id, sealed) VALUES (5, 'sealed')")
    first, second = another(), another()
    first.do("SELECT ssb.drop_master_key_encryption()")
    dropping = start_and_block(
        session, second, lambda: second.do("SELECT ssb.drop_master_key_encryption('password')")
    )
    first.commit()
    with refused(15558):
        dropping.result()
    session.do("DELETE FROM ssb.master_key")


@pytest.mark.parametrize(
    "change", ["ssb.drop_master_key()", "ssb_internal.lock_keys()"], ids=["DROP MASTER KEY", "REGENERATE"]
)
def test_no_certificate_is_sealed_by_a_key_that_goes(session: Session, another: Open, change: str) -> None:
    session.do("INSERT INTO ssb.master_key (database_id, by_service) VALUES (5, 'sealed')")
    first, second = another(), another()
    first.do(f"SELECT {change}")
    making = start_and_block(session, second, lambda: second.do("SELECT ssb.create_certificate('c', 'CN=c')"))
    first.commit()
    with refused(15581 if "drop" in change else 15247):  # no client answers here
        making.result()
    session.do("DELETE FROM ssb.master_key")


@pytest.mark.parametrize(
    "look",
    [
        "SELECT sum(q.is_receive_enabled + q.is_enqueue_enabled) FROM sys.service_queues AS q",
        "SELECT count(*) FROM ssb.queue_status",
        "SELECT count(*) FROM sys.dm_os_performance_counters",
        "SELECT ssb_internal.broker_sweep('{}')",
        "SELECT ssb_internal.tell_of_poison()",
        "SELECT ssb_internal.broker_state(%s, 'INACTIVE', true)",
    ],
)
def test_a_queue_that_is_dropped_meanwhile_is_no_error_for_who_looks_at_all(
    session: Session, another: Open, look: str
) -> None:
    session.do("SELECT ssb.create_queue('dbo.going')")
    session.do(
        "SELECT ssb.create_event_notification('n', '{BROKER_QUEUE_DISABLED}', 'QUEUE', 's',"
        " 'current database', queue => 'dbo.going')"
    )
    queue_id = session.value("SELECT queue_id FROM ssb.queue WHERE name = 'dbo.going'")
    dropping, looking = another(), another()
    # Who looks after all queues passes one whose row is being deleted: he has looked at it just before.
    is_passed = "ssb_internal" in look
    dropping.do(
        "SELECT ssb_internal.drop_sequences(q) FROM ssb.queue AS q WHERE q.name = 'dbo.going'"
        if is_passed
        else "SELECT ssb.drop_queue('dbo.going')"
    )
    parameters = [queue_id] if "%s" in look else []
    # It waits for 10 ms, in which a busy machine may not see it wait.
    patient = changed(
        session,
        "ssb_internal.last_orders_seen(regclass[])",
        lambda text: text.replace("lock_timeout TO '10ms'", "lock_timeout TO '5s'"),
    )
    with patient:
        looked = start_and_block(session, looking, lambda: looking.do(look, *parameters))
        if is_passed:
            dropping.do(
                "DELETE FROM ssb.event_notification; DROP VIEW dbo.going;"
                " DELETE FROM ssb.queue WHERE name = 'dbo.going'"
            )
        dropping.commit()
        looked.result()


def test_who_looks_at_a_queue_in_another_order_and_who_drops_it_are_no_deadlock(
    session: Session, another: Open
) -> None:
    session.do("SELECT ssb.create_queue('dbo.going')")
    order, state = (
        session.value(f"SELECT {which}_sequence::text FROM ssb.queue WHERE name = 'dbo.going'")
        for which in ("order", "state")
    )
    dropping, looking = another(), another()
    looking.do("SELECT ssb_internal.last_order(%s)", order)
    dropped = start_and_block(session, dropping, lambda: dropping.do("SELECT ssb.drop_queue('dbo.going')"))
    looking.do("SELECT ssb_internal.last_order(%s)", state)
    looking.commit()
    dropped.result()
    assert dropping.value("SHOW lock_timeout") == "0"
    dropping.commit()


@pytest.mark.parametrize("how", ["send", "send_new"])
def test_a_first_message_takes_no_notice_of_the_queue_that_the_service_had(
    session: Session, another: Open, pair: Pair, how: str
) -> None:
    """The path to it is kept, out of date, while somebody drops the queue."""
    pair.say(pair.dialog(), "which keeps the path")
    other = f"{pair.far}_too"
    session.do("SELECT ssb.create_queue(%s)", other)
    handle = pair.dialog()
    session.do("SELECT ssb.alter_service(%s, queue => %s)", pair.target, other)
    dropping = another()
    dropping.do("SELECT ssb.drop_queue(%s)", pair.far)
    session.do("SET lock_timeout = '2s'")
    if how == "send":
        pair.say(handle, "new")
    else:
        pair.send_new("new", session)
    dropping.commit()
    assert session.value(f"SELECT count(*) FROM {other}") == 2


@pytest.mark.parametrize("change", ["restored", "drop service", "queue", "contract", "drop database"])
def test_who_changes_many_conversations_meets_their_senders_in_one_order(
    session: Session, another: Open, pair: Pair, change: str
) -> None:
    """A sender on two conversations goes on where their rows stand the other way round in the table."""
    target = pair.target
    if change == "drop database":
        name = f"D{uuid.uuid4().hex[:12]}"
        target = f"//{name}"
        session.do("SELECT ssb.create_database(%s)", name)
        session.do("SELECT ssb.create_message_type(%s, database => %s)", pair.request, name)
        session.do(
            "SELECT ssb.create_contract(%s, %s, %s, database => %s)",
            *(pair.contract, [pair.request], ["INITIATOR"], name),
        )
        session.do("SELECT ssb.create_queue(%s)", f"{name.lower()}_dbo.desk")
        session.do(
            "SELECT ssb.create_service(%s, %s, %s, database => %s)",
            *(target, f"{name.lower()}_dbo.desk", [pair.contract], name),
        )
    early, late = (
        session.value("SELECT ssb.begin_dialog(%s, %s, %s)", pair.initiator, target, pair.contract)
        for _ in range(2)
    )
    for handle in (early, late):
        pair.say(handle, "hello")
    session.do(
        "UPDATE ssb.conversation_endpoint AS e SET priority = e.priority FROM ssb.conversation_endpoint AS o"
        " WHERE o.conversation_handle = %s AND e.conversation_id = o.conversation_id",
        early,
    )
    other = f"{pair.far}_too"
    session.do("SELECT ssb.create_queue(%s)", other)
    if change == "contract":
        session.do("SELECT ssb.alter_service(%s, drop_contracts => ARRAY[%s])", pair.target, pair.contract)
    words: dict[str, tuple[str, ...]] = {
        "restored": ("SELECT ssb.alter_database(NULL, 'ERROR_BROKER_CONVERSATIONS')",),
        "drop service": ("SELECT ssb.drop_service(%s)", target),
        "queue": ("SELECT ssb.alter_service(%s, queue => %s)", target, other),
        "contract": ("SELECT ssb.drop_contract(%s)", pair.contract),
        "drop database": ("SELECT ssb.drop_database(%s)", target.removeprefix("//")),
    }
    sender, admin = another(), another()
    pair.say(early, "one", session=sender)
    changing = start_and_block(session, admin, lambda: admin.do(*words[change]))
    pair.say(late, "two", session=sender)
    sender.commit()
    changing.result()
    admin.commit()
