"""Event notifications reach the service that asked for them."""

from xml.etree import ElementTree

import psycopg
import pytest

from support import Connection, Database

POST = "http://schemas.microsoft.com/SQL/Notifications/PostEventNotification"


@pytest.fixture
def listener(sql: Connection) -> Connection:
    sql.execute("SELECT ssb.create_queue('dbo.events')")
    sql.execute("SELECT ssb.create_service('//Events', 'dbo.events', %s)", [[POST]])
    return sql


def _listen(
    sql: Connection, name: str, *events: str, scope: str = "DATABASE", queue: str | None = None
) -> None:
    sql.execute(
        "SELECT ssb.create_event_notification(%s, %s, %s, '//Events', 'current database', queue => %s)",
        [name, list(events), scope, queue],
    )


def _events(sql: Connection) -> list[tuple[str | None, ...]]:
    found = []
    for (body,) in sql.execute("SELECT message_body FROM ssb.receive('dbo.events')").fetchall():
        root = ElementTree.fromstring(body)
        found.append(
            tuple(root.findtext(name) for name in ("EventType", "SchemaName", "ObjectName", "ObjectType"))
        )
    return found


def test_definitions_fire_their_event_and_its_group(listener: Connection) -> None:
    _listen(listener, "n", "DDL_SSB_EVENTS")
    listener.execute("SELECT ssb.create_queue('dbo.new', spelling => 'New')")
    listener.execute("SELECT ssb.alter_queue('dbo.new', retention => true)")
    listener.execute("SELECT ssb.create_service('//New', 'dbo.new')")
    listener.execute("SELECT ssb.alter_service('//New', add_contracts => '{DEFAULT}')")
    listener.execute("SELECT ssb.alter_service('//New', 'dbo.from_queue', drop_contracts => '{DEFAULT}')")
    listener.execute("SELECT ssb.drop_service('//New')")
    listener.execute("SELECT ssb.create_message_type('T')")
    assert _events(listener) == [
        ("CREATE_QUEUE", "dbo", "New", "QUEUE"),
        ("ALTER_QUEUE", "dbo", "New", "QUEUE"),
        ("CREATE_SERVICE", None, "//New", "SERVICE"),
        ("ALTER_SERVICE", None, "//New", "SERVICE"),
        ("ALTER_SERVICE", None, "//New", "SERVICE"),
        ("DROP_SERVICE", None, "//New", "SERVICE"),
        ("CREATE_MESSAGE_TYPE", None, "T", "MESSAGE TYPE"),
    ]


@pytest.mark.parametrize(
    "end",
    [
        "SELECT ssb.end_conversation(%s)",
        "SELECT ssb.end_conversation(%s, cleanup => true)",
        "SELECT ssb.drop_event_notification('n', 'QUEUE', 'dbo.to_queue') WHERE %s IS NOT NULL",
    ],
    ids=["ended", "cleaned up", "dropped"],
)
@pytest.mark.one_postgres
def test_a_notification_that_is_being_ended_keeps_the_daemon_for_a_moment(
    listener: Connection, database: Database, end: str
) -> None:
    """All queues' readers are started by way of that session."""
    _listen(listener, "n", "QUEUE_ACTIVATION", scope="QUEUE", queue="dbo.to_queue")
    fire = (
        "SELECT ssb_internal.fire_queue_activation(q.queue_id) FROM ssb.queue AS q"
        " WHERE q.name = 'dbo.to_queue'"
    )
    listener.execute(fire)
    row = listener.execute("SELECT conversation_handle FROM ssb.receive('dbo.events')").fetchone()
    with psycopg.connect(database.dsn) as holder:
        holder.execute(end, row)
        listener.execute("SET statement_timeout = '10s'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            listener.execute(fire)
        holder.rollback()
    listener.execute(fire)
    assert [event[0] for event in _events(listener)] == ["QUEUE_ACTIVATION"]


def test_an_event_tells_the_user_as_user_name_does(listener: Connection) -> None:
    _listen(listener, "n", "CREATE_QUEUE")
    listener.execute("SELECT ssb.create_queue('dbo.new')")
    ((body,),) = listener.execute("SELECT message_body FROM ssb.receive('dbo.events')").fetchall()
    root = ElementTree.fromstring(body)
    shown = listener.execute("SELECT sys.user_name(), sys.suser_sname()").fetchone()
    assert (root.findtext("UserName"), root.findtext("LoginName")) == shown
    assert root.findtext("UserName") == "dbo"


def test_what_is_made_and_changed_at_once_fires_both(listener: Connection) -> None:
    _listen(listener, "n", "DDL_QUEUE_EVENTS")
    with listener.transaction():
        listener.execute("SELECT ssb.create_queue('dbo.new', status => false)")
        listener.execute("SELECT ssb.alter_queue('dbo.new', status => true)")
    assert [event[0] for event in _events(listener)] == ["CREATE_QUEUE", "ALTER_QUEUE"]


def test_only_what_was_asked_for_is_sent(listener: Connection) -> None:
    _listen(listener, "n", "CREATE_CONTRACT")
    listener.execute("SELECT ssb.create_message_type('T')")
    listener.execute("SELECT ssb.create_contract('C', '{T}', '{ANY}')")
    assert _events(listener) == [("CREATE_CONTRACT", None, "C", "CONTRACT")]


def test_a_definition_that_rolls_back_fires_nothing(listener: Connection) -> None:
    _listen(listener, "n", "CREATE_QUEUE")
    listener.execute("BEGIN; SELECT ssb.create_queue('dbo.new'); ROLLBACK")
    assert _events(listener) == []


def test_a_disabled_queue_fires_once(listener: Connection) -> None:
    _listen(listener, "n", "BROKER_QUEUE_DISABLED", scope="QUEUE", queue="dbo.to_queue")
    listener.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), 'DEFAULT', 'bad'::text)")
    for _ in range(5):
        listener.execute("BEGIN; SELECT FROM ssb.receive('dbo.to_queue'); ROLLBACK")
    for _ in range(2):
        listener.execute("SELECT ssb_internal.broker_sweep('{}')")
    assert _events(listener) == [("BROKER_QUEUE_DISABLED", "dbo", "to_queue", "QUEUE")]


def test_an_event_that_service_broker_does_not_have_is_refused(listener: Connection) -> None:
    with pytest.raises(psycopg.Error, match="'BROKER_CONVERSATION' is an invalid event type") as caught:
        _listen(listener, "n", "BROKER_CONVERSATION", scope="SERVER")
    assert caught.value.sqlstate == "S1084"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("TRC_ERRORS_AND_WARNINGS", 1),
        ("DEADLOCK_GRAPH", 1),
        ("CREATE_TABLE", 0),
        ("DROP_ROUTE", 0),
        ("DDL_QUEUE_EVENTS", 0),
    ],
)
def test_an_event_that_does_not_occur_here_is_said_to(listener: Connection, event: str, said: int) -> None:
    notices = []
    listener.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary))
    _listen(listener, "n", event, scope="SERVER")
    assert [event in (notice or "") for notice in notices] == [True] * said


def test_with_fan_in_a_service_is_told_once(listener: Connection) -> None:
    for name, fan_in in (("a", False), ("b", True), ("c", True), ("d", True)):
        listener.execute(
            "SELECT ssb.create_event_notification(%s, '{CREATE_ROUTE,CREATE_QUEUE}', 'DATABASE', '//Events',"
            " 'current database', fan_in => %s)",
            [name, fan_in],
        )
    listener.execute("SELECT ssb.create_queue('dbo.new')")
    assert _events(listener) == [("CREATE_QUEUE", "dbo", "new", "QUEUE")]
    assert len(_events(listener)) == 1
    assert _events(listener) == []


@pytest.mark.parametrize("how", ["", ", 7, 'no more'", ", cleanup => true"])
def test_its_reader_ends_the_dialog_and_nothing_is_left_of_the_system_s_side(
    listener: Connection, how: str
) -> None:
    _listen(listener, "n", "CREATE_QUEUE")
    listener.execute("SELECT ssb.create_queue('dbo.new')")
    listener.execute(f"SELECT ssb.end_conversation(conversation_handle{how}) FROM ssb.receive('dbo.events')")
    assert (
        listener.execute(
            "SELECT is_initiator, state FROM sys.conversation_endpoints WHERE state <> 'CD'"
        ).fetchall()
        == []
    )
    assert listener.execute("SELECT count(*) FROM ssb.event_notification").fetchone() == (0,)
    listener.execute("SELECT ssb.create_queue('dbo.newer')")
    assert _events(listener) == []


def test_a_dropped_notification_ends_its_dialog(listener: Connection) -> None:
    _listen(listener, "n", "CREATE_QUEUE")
    listener.execute("SELECT ssb.create_queue('dbo.new')")
    assert len(_events(listener)) == 1
    listener.execute("SELECT ssb.drop_event_notification('n', 'DATABASE')")
    found = listener.execute(
        "SELECT message_type_name, ssb.end_conversation(conversation_handle) FROM ssb.receive('dbo.events')"
    ).fetchall()
    assert [row[0] for row in found] == ["http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"]
    assert listener.execute(
        "SELECT count(*) FROM sys.conversation_endpoints WHERE state <> 'CD'"
    ).fetchone() == (0,)
    listener.execute("SELECT ssb.create_queue('dbo.newer')")
    assert _events(listener) == []


def test_a_queue_s_notifications_go_with_it_and_end_their_dialogs(listener: Connection) -> None:
    _listen(listener, "told", "BROKER_QUEUE_DISABLED", scope="QUEUE", queue="dbo.to_queue")
    _listen(listener, "silent", "BROKER_QUEUE_DISABLED", scope="QUEUE", queue="dbo.to_queue")
    listener.execute("SELECT ssb.drop_event_notification('silent', 'QUEUE', 'dbo.to_queue')")
    _listen(listener, "never", "BROKER_QUEUE_DISABLED", scope="QUEUE", queue="dbo.to_queue")
    listener.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), 'DEFAULT', 'bad'::text)")
    for _ in range(5):
        listener.execute("BEGIN; SELECT FROM ssb.receive('dbo.to_queue'); ROLLBACK")
    listener.execute("SELECT ssb_internal.broker_sweep('{}')")
    listener.execute("SELECT ssb.drop_service('//To'), ssb.drop_queue('dbo.to_queue')")
    assert listener.execute("SELECT count(*) FROM sys.event_notifications").fetchone() == (0,)
    found: list[str] = []
    while received := listener.execute("SELECT message_type_name FROM ssb.receive('dbo.events')").fetchall():
        found += [name.rpartition("/")[2] for (name,) in received]
    assert sorted(found) == ["EndDialog", "EndDialog", "EventNotification", "EventNotification"]
    assert (
        listener.execute(
            "SELECT state FROM sys.conversation_endpoints WHERE is_initiator = 1 AND is_system = 1"
        ).fetchall()
        == []
    )


@pytest.mark.parametrize("broken_by", ["a service that takes no events", "a service that goes"])
def test_a_notification_whose_dialog_fails_is_dropped(listener: Connection, broken_by: str) -> None:
    if broken_by == "a service that takes no events":
        listener.execute("SELECT ssb.alter_service('//Events', drop_contracts => %s)", [[POST]])
        _listen(listener, "n", "CREATE_QUEUE")
        listener.execute("SELECT ssb.create_queue('dbo.new')")
    else:
        _listen(listener, "n", "CREATE_QUEUE")
        listener.execute("SELECT ssb.create_queue('dbo.new')")
        assert len(_events(listener)) == 1
        listener.execute("SELECT ssb.drop_service('//Events')")
        listener.execute("SELECT ssb.create_service('//Events', 'dbo.events', %s)", [[POST]])
    assert listener.execute("SELECT count(*) FROM sys.event_notifications").fetchone() == (0,)
    listener.execute("SELECT ssb.create_queue('dbo.newer')")
    assert _events(listener) == []
    assert listener.execute("SELECT count(*) FROM ssb.conversation_endpoint").fetchone() == (0,)


def test_one_that_waits_for_its_service_is_not_dropped(listener: Connection) -> None:
    listener.execute("SELECT ssb.drop_service('//Events')")
    _listen(listener, "n", "CREATE_QUEUE")
    for name in ("one", "two"):
        listener.execute(f"SELECT ssb.create_queue('dbo.{name}')")
    listener.execute("SELECT ssb.create_service('//Events', 'dbo.events', %s)", [[POST]])
    assert [event[2] for event in _events(listener)] == ["one", "two"]
