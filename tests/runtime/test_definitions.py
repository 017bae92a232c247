"""CREATE, ALTER, DROP of everything a broker consists of: what is refused, and with which number."""

from collections.abc import Callable

import pytest
from psycopg import errors
from runtime.broker import Pair, Session, refused, start_and_block

CREATED_TWICE = [
    ("SELECT ssb.create_message_type('t')", 15530),
    ("SELECT ssb.create_contract('c', '{DEFAULT}', '{ANY}')", 15530),
    ("SELECT ssb.create_queue('dbo.q')", 2714),
    ("SELECT ssb.create_service('s', 'dbo.q')", 15530),
    ("SELECT ssb.create_route('r', 'LOCAL')", 15530),
    ("SELECT ssb.create_remote_service_binding('b', 'far', 'dbo')", 15530),
    ("SELECT ssb.create_broker_priority('p', local_service => 's')", 33303),
    ("SELECT ssb.create_principal('u', 'USER')", 15023),
    ("SELECT ssb.create_principal('l', 'LOGIN')", 15025),
    ("SELECT ssb.create_schema('Sales')", 2714),
    ("SELECT ssb.create_database('Second')", 1801),
    ("SELECT ssb.create_endpoint('e', listener_port => 4022)", 7862),
    (
        "SELECT ssb.create_event_notification('n', '{QUEUE_ACTIVATION}', 'QUEUE', 's', 'current"
        " database', 'dbo.q')",
        15530,
    ),
    (
        "SELECT ssb.create_xml_schema_collection('dbo.x', '<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"/>')",
        2714,
    ),
]


def test_a_name_is_taken_once(session: Session) -> None:
    for statement, _ in CREATED_TWICE:
        session.do(statement)
    for statement, number in CREATED_TWICE:
        with refused(number):
            session.do(statement)


SYSTEM_SERVICE = "http://schemas.microsoft.com/SQL/ServiceBroker/ServiceBroker"
PROCEDURE = "activation_procedure => 'dbo.p'"


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("ssb.alter_message_type('?', 'NONE')", 15151),
        ("ssb.drop_message_type('?')", 15151),
        ("ssb.drop_message_type('DEFAULT')", 9663),
        ("ssb.drop_contract('?')", 15151),
        ("ssb.drop_contract('DEFAULT')", 9663),
        ("ssb.alter_queue('dbo.nothing')", 15151),
        ("ssb.drop_queue('dbo.nothing')", 3701),
        ("ssb.alter_service('?', 'dbo.q')", 15151),
        ("ssb.drop_service('?')", 15151),
        ("ssb.alter_route('?', 'LOCAL')", 15151),
        ("ssb.drop_route('?')", 15151),
        ("ssb.alter_remote_service_binding('?')", 15151),
        ("ssb.drop_remote_service_binding('?')", 15151),
        ("ssb.alter_broker_priority('?')", 15151),
        ("ssb.drop_broker_priority('?')", 15151),
        ("ssb.alter_endpoint('?')", 15151),
        ("ssb.drop_endpoint('?')", 15151),
        ("ssb.drop_event_notification('?', 'DATABASE')", 15151),
        ("ssb.drop_event_notification('n', 'QUEUE', 'dbo.nothing')", 15151),
        (
            "ssb.create_event_notification('n', '{QUEUE_ACTIVATION}', 'QUEUE', 's', 'current database',"
            " 'dbo.nothing')",
            15151,
        ),
        ("ssb.drop_certificate('?')", 15151),
        ("ssb.alter_certificate('?')", 15151),
        ("ssb.drop_principal('?', 'USER')", 15151),
        ("ssb.drop_schema('nothing')", 15151),
        ("ssb.drop_database('Nothing')", 3701),
        ("ssb.alter_database('Nothing', 'ENABLE_BROKER')", 5011),
        ("ssb.use_database('Nothing')", 911),
        ("ssb.drop_xml_schema_collection('dbo.nothing')", 15151),
        ("ssb.alter_authorization('SERVICE', '?', 'dbo')", 15151),
        ("ssb.alter_authorization('OBJECT', 'dbo.nothing', 'dbo')", 15151),
        ("ssb.alter_authorization('CONTRACT', 'DEFAULT', 'dbo')", 9663),
        ("ssb.alter_authorization('MESSAGE TYPE', 'DEFAULT', 'dbo')", 9663),
        ("ssb.grant_permission('{SEND}', 'SERVICE', '?', '{public}')", 15151),
    ],
)
def test_what_does_not_exist_cannot_be_changed(session: Session, statement: str, number: int) -> None:
    with refused(number):
        session.do("SELECT " + statement)


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("ssb.create_message_type('x', 'SOMETHING')", 102),
        ("ssb.create_message_type('x', 'VALID_XML')", 102),
        ("ssb.create_message_type('x', 'NONE', 'dbo.x')", 102),
        ("ssb.create_message_type('x', 'VALID_XML', 'dbo.nothing')", 15151),
        ("ssb.create_message_type('')", 1038),
        ("ssb.create_message_type(repeat('x', 129))", 103),
        ("ssb.create_message_type('x', owner => 'nobody_at_all')", 15151),
        ("ssb.create_contract('x', '{}', '{}')", 102),
        ("ssb.create_contract('x', '{DEFAULT}', '{NOBODY}')", 102),
        ("ssb.create_contract('x', '{DEFAULT,DEFAULT}', '{ANY,ANY}')", 8403),
        ("ssb.create_contract('x', '{DEFAULT}', '{TARGET}')", 8492),
        ("ssb.create_contract('x', '{nothing}', '{ANY}')", 15151),
        ("ssb.create_queue('nowhere.x')", 2760),
        ("ssb.create_xml_schema_collection('nowhere.x', '')", 2760),
        ("ssb.create_principal('SA', 'LOGIN')", 15025),
        ("ssb.drop_principal('sa', 'LOGIN')", 15150),
        ("ssb.alter_database('master', 'READ_ONLY')", 5058),
        ("ssb.alter_database('tempdb', 'SINGLE_USER')", 5058),
        ("ssb.alter_database('model', 'OFFLINE')", 5058),
        ("ssb.alter_database('tempdb', 'TRUSTWORTHY', 'ON')", 15309),
        ("ssb.alter_database('msdb', 'NAME', 'x')", 5016),
        ("ssb.alter_database('msdb', 'COMPATIBILITY_LEVEL', '42')", 15048),
        ("ssb_internal.kill(0)", 6101),
        ("ssb_internal.refuse_kill_in_transaction(1)", 6115),
        ("ssb_internal.execute_as_login('nobody_at_all')", 15406),
        ("ssb.create_queue('dbo.\"#x\"')", 102),
        (f"ssb.create_queue('dbo.x', {PROCEDURE}, max_queue_readers => 32768)", 1080),
        ("ssb.create_queue('dbo.x', max_rollbacks => 0)", 1080),
        ("ssb.create_queue('dbo.x', activation_status => true)", 9614),
        (
            f"ssb.create_queue('dbo.x', {PROCEDURE}, max_queue_readers => 1, execute_as => '''nobody''')",
            15151,
        ),
        (f"ssb.create_queue('dbo.x', {PROCEDURE})", 102),
        ("ssb.create_queue('dbo.x', external_program => 'p')", 102),
        ("ssb.create_queue('dbo.x', max_queue_readers => 2)", 102),
        ("ssb.create_queue('dbo.x', execute_as => 'OWNER')", 102),
        ("ssb.create_service('x', 'dbo.nothing')", 15151),
        ("ssb.create_service('x', 'dbo.base', '{nothing}')", 15151),
        ("ssb.create_service('x', 'dbo.base', '{DEFAULT,DEFAULT}')", 8404),
        ("ssb.alter_service('base')", 8493),
        (f"ssb.create_service('{SYSTEM_SERVICE}', 'dbo.base')", 15530),
        (f"ssb.alter_service('{SYSTEM_SERVICE}', 'dbo.base')", 9663),
        (f"ssb.drop_service('{SYSTEM_SERVICE}')", 9663),
        ("ssb.create_queue('dbo.ServiceBrokerQueue')", 2714),
        ("ssb.alter_queue('dbo.ServiceBrokerQueue', status => false)", 9663),
        ("ssb.drop_queue('dbo.EventNotificationErrorsQueue')", 9663),
        ("ssb.create_route('x', '')", 9659),
        ("ssb.create_route('x', 'LOCAL', 's', '')", 9659),
        ("ssb.create_route('x', 'LOCAL', repeat('s', 257))", 9660),
        ("ssb.create_route('x', 'LOCAL', 's', repeat('b', 129))", 9660),
        ("ssb.create_route('x', 'nonsense')", 9744),
        ("ssb.create_route('x', 'TCP://a:b')", 9744),
        ("ssb.create_route('x', 'TCP://a', 's', 'i', mirror_address => 'TCP://a')", 9747),
        ("ssb.create_route('x', 'TRANSPORT', 's')", 9745),
        ("ssb.create_route('x', 'LOCAL', broker_instance => 'i')", 9662),
        ("ssb.create_route('x', 'LOCAL', lifetime => 0)", 9746),
        ("ssb.create_route('x', 'TCP://a:1', mirror_address => 'TCP://b:1')", 9661),
        ("ssb.create_route('x', 'TCP://a:1', 's', 'i', mirror_address => 'TCP://a:1')", 9747),
        ("ssb.create_route('x', 'LOCAL', 's', 'i', mirror_address => 'TCP://b:1')", 9743),
        ("ssb.create_route('x', 'TRANSPORT', mirror_address => 'TCP://b:1')", 9743),
        ("ssb.create_route('x', 'TCP://a:1', 'SQL/ServiceBroker/BrokerConfiguration', 'i')", 9662),
        ("ssb.create_event_notification('x', '{QUEUE_ACTIVATION}', 'DATABASE', 's', 'x')", 1098),
        ("ssb.create_event_notification('x', '{QUEUE_ACTIVATION}', 'SERVER', 's', 'x')", 1098),
        ("ssb.create_event_notification('x', '{DROP_TABLE,drop_table}', 'DATABASE', 's', 'x')", 1095),
        ("ssb.create_event_notification('x', '{DROP_TABLE}', 'DATABASE', 's', 'x')", 1093),
        (
            "ssb.create_event_notification('x', '{DROP_TABLE}', 'DATABASE', repeat('s', 257),"
            " 'current database')",
            8412,
        ),
        ("ssb.create_remote_service_binding('x', repeat('s', 257), 'dbo')", 8412),
        ("ssb.create_remote_service_binding('x', '', 'dbo')", 8421),
        ("ssb.create_remote_service_binding('x', 's', 'nobody_at_all')", 15151),
        ("ssb.create_remote_service_binding('x', 's', 'public')", 28083),
        ("ssb.create_remote_service_binding('x', 's', 'db_owner')", 28083),
        ("ssb.create_queue('dbo.x', activation_procedure => 'pg_temp.\"#p\"', max_queue_readers => 1)", 9742),
        ("ssb.create_route('x', 'TCP://[fe80::1')", 9744),
        ("ssb.create_route('x', 'TCP://fe80::1:4022')", 9744),
        ("ssb.create_endpoint('x', listener_port => 80)", 7810),
        ("ssb.create_endpoint('x')", 7801),
        ("ssb.create_endpoint('x', 'RUNNING', 4022)", 102),
        ("ssb.create_database('master')", 1801),
        ("ssb.drop_database('msdb')", 3708),
        ("ssb.drop_database(current_database())", 3702),
        ("ssb.alter_database(NULL, 'TRUSTWORTHY', 'PERHAPS')", 102),
        ("ssb.alter_database(NULL, 'LOCAL_DIALOG_SECURTY', 'ON')", 102),
        ("ssb.alter_database(NULL, 'DISABLE_BROKER', 'OFF')", 102),
        ("ssb.alter_database(NULL, NULL, 'ON')", 102),
        ("ssb.create_database('PG_shop')", 2760),
        ("ssb.create_schema('pg_shop')", 2760),
        ("ssb.create_endpoint('x', 'STARTED', 4022, authentication => 'CERTIFCATE c')", 102),
        ("ssb.create_endpoint('x', 'STARTED', 4022, authentication => 'WINDOWS CERTIFICATE')", 102),
        ("ssb.create_endpoint('x', 'STARTED', 4022, algorithm => 'DES')", 102),
        ("ssb.create_endpoint('x', 'STARTED', 4022, message_forward_size => -1)", 7810),
        ("ssb.create_remote_service_binding('x', NULL, 'dbo')", 15004),
        ("ssb.create_contract('x', '{DEFAULT}', '{NULL}')", 102),
        ("ssb.create_event_notification('x', '{CREATE_TABLE}', 'TABLE', 's', 'current database')", 102),
        ("ssb.create_event_notification('x', '{CREATE_TABLE}', NULL, 's', 'current database')", 102),
        ("ssb.create_event_notification('x', '{CREATE_TABLE}', 'DATABASE', NULL, 'current database')", 15004),
        ("ssb.create_event_notification('x', '{CREATE_TABLE}', 'DATABASE', 's', NULL)", 15004),
        ("ssb.grant_permission('{NULL}', 'DATABASE', NULL, '{public}')", 15004),
        ("ssb.create_principal('dbo', 'USER')", 15023),
        ("ssb.maintain_queue('dbo.base', 'POLISH')", 102),
        (
            "ssb.create_event_notification('x', '{OBJECT_CREATED}', 'QUEUE', 's', 'current"
            " database', 'dbo.base')",
            1098,
        ),
    ],
)
def test_wrong_definitions_are_refused(session: Session, statement: str, number: int) -> None:
    session.do(
        "SELECT ssb.create_queue('dbo.base'), ssb.create_service('base', 'dbo.base')"
        " WHERE NOT EXISTS (SELECT FROM sys.services WHERE name = 'base')"
    )
    before = session.value("SELECT count(*) FROM sys.objects")
    with refused(number):
        session.do("SELECT " + statement)
    assert session.value("SELECT count(*) FROM sys.objects") == before


def test_what_is_in_use_cannot_be_dropped(session: Session, pair: Pair) -> None:
    with refused(3716, "bound to one or more contract"):
        session.do("SELECT ssb.drop_message_type(%s)", pair.request)
    with refused(3716, "bound to one or more service"):
        session.do("SELECT ssb.drop_contract(%s)", pair.contract)
    with refused(3716, "bound to one or more service"):
        session.do("SELECT ssb.drop_queue(%s)", pair.far)
    session.do("SELECT ssb.drop_service(%s)", pair.target)
    session.do("SELECT ssb.drop_queue(%s)", pair.far)
    session.do("SELECT ssb.drop_contract(%s)", pair.contract)
    session.do("SELECT ssb.drop_message_type(%s)", pair.request)
    session.do("SELECT ssb.create_queue(%s)", pair.far)


def test_a_dropped_contract_ends_its_dialogs(session: Session, pair: Pair) -> None:
    near, far = pair.conversing()
    session.do("SELECT ssb.alter_service(%s, drop_contracts => ARRAY[%s])", pair.target, pair.contract)
    session.send(near, pair.request)
    assert len(session.receive(pair.far)) == 1
    session.do("SELECT ssb.drop_contract(%s)", pair.contract)
    assert (session.state(near), session.state(far)) == ("ER", "ER")
    assert "-8487" in str(session.receive(pair.near)[0].body)


def test_names_are_compared_byte_by_byte(session: Session) -> None:
    for name in ("//Case", "//case", "//case ", " //case"):
        session.do("SELECT ssb.create_message_type(%s)", name)
    assert session.column(
        "SELECT name FROM sys.service_message_types WHERE name ~ 'ase' ORDER BY message_type_id"
    ) == [
        "//Case",
        "//case",
        "//case ",
        " //case",
    ]


def test_a_queue_name_may_need_quotes(session: Session) -> None:
    session.do("""SELECT ssb.create_queue('dbo."Odd Name"', spelling => 'Odd Name')""")
    session.do("""SELECT ssb.create_queue('dbo.order', spelling => 'Order')""")
    assert session.value("""SELECT count(*) FROM ssb.receive('dbo."Odd Name"')""") == 0
    assert session.value("""SELECT count(*) FROM ssb.receive('dbo.order')""") == 0
    assert session.value("""SELECT count(*) FROM ssb.receive('dbo."order"')""") == 0
    assert session.value("""SELECT count(*) FROM ssb.receive('"order"')""") == 0
    assert session.rows('SELECT * FROM dbo."Odd Name"') == []
    assert session.column(
        "SELECT name FROM sys.service_queues WHERE name IN ('Odd Name', 'Order') ORDER BY 1"
    ) == [
        "Odd Name",
        "Order",
    ]


def test_activation_and_its_event_exclude_each_other(session: Session, pair: Pair) -> None:
    notify = (
        "SELECT ssb.create_event_notification(%s, '{QUEUE_ACTIVATION}', 'QUEUE', 's', 'current database', %s)"
    )
    alter = "SELECT ssb.alter_queue(%s, activation_procedure => 'dbo.p', "
    session.do(notify, "first", pair.far)
    session.do(notify, "second", pair.far)
    with refused(9717):
        session.do(alter + "activation_status => true)", pair.far)
    session.do(alter + "max_queue_readers => 2)", pair.far)
    assert session.value("SELECT count(*) FROM sys.service_queues WHERE is_activation_enabled = 1") == 0
    session.do(
        "SELECT ssb.drop_event_notification(n, 'QUEUE', %s) FROM unnest('{first,second}'::text[]) AS n",
        pair.far,
    )
    session.do(alter + "activation_status => true)", pair.far)
    with refused(9718):
        session.do(notify, "third", pair.far)


def test_an_activation_procedure_may_come_later_but_not_want_anything(session: Session, pair: Pair) -> None:
    def activate(procedure: str) -> None:
        session.do(
            "SELECT ssb.alter_queue(%s, activation_procedure => %s, max_queue_readers => 1)",
            pair.far,
            procedure,
        )

    activate("dbo.comes_later")
    session.do("CREATE PROCEDURE dbo.comes_later() LANGUAGE sql AS 'SELECT'")
    activate("dbo.comes_later")
    session.do("CREATE PROCEDURE dbo.wants(a integer, b integer DEFAULT 1) LANGUAGE sql AS 'SELECT'")
    with refused(9653, "The signature of activation stored procedure 'dbo.wants' is invalid."):
        activate("dbo.wants")
    session.do("CREATE PROCEDURE dbo.wants(b integer DEFAULT 1) LANGUAGE sql AS 'SELECT'")
    activate("dbo.wants")
    # As T-SQL has them, a default is none of a program's.
    session.do(
        "CREATE PROCEDURE dbo.takes(b integer DEFAULT 1, INOUT session ssb.session DEFAULT NULL)"
        " LANGUAGE plpgsql AS 'BEGIN END'"
    )
    with refused(9653):
        activate("dbo.takes")
    session.do("CREATE FUNCTION dbo.gives() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    with refused(9620, "The activation stored procedure 'dbo.gives' is invalid. Functions are not allowed."):
        activate("dbo.gives")


def test_a_binding_is_to_a_user(session: Session) -> None:
    session.do(
        "SELECT ssb.create_principal('partner', 'USER'), ssb.create_principal('partners', 'ROLE'),"
        " ssb.create_remote_service_binding('to partner', '//Partner', 'partner')"
    )
    with refused(28083, "The database principal 'partners' cannot be used in a remote service binding"):
        session.do("SELECT ssb.create_remote_service_binding('to partners', '//Partners', 'partners')")
    with refused(28083):
        session.do("SELECT ssb.alter_remote_service_binding('to partner', 'partners')")
    assert session.column("SELECT name FROM sys.remote_service_bindings WHERE name LIKE 'to %'") == [
        "to partner"
    ]


def test_a_host_may_be_an_address_of_ipv6(session: Session) -> None:
    session.do("SELECT ssb.create_route('six', 'TCP://[2001:db8::7]:4022', '//Six')")
    session.do("SELECT ssb.create_route('by name', 'TRANSPORT')")
    session.do("SELECT ssb.create_queue('dbo.near_six'), ssb.create_service('near six', 'dbo.near_six')")
    for service in ("//Six", "TCP://[2001:db8::7]:4022/Six"):
        session.do("SELECT ssb.send(ssb.begin_dialog('near six', %s), 'DEFAULT', 'x'::text)", service)
    assert session.column("SELECT DISTINCT address FROM ssb.remote_conversation") == [
        "TCP://[2001:db8::7]:4022"
    ]


def test_activation_options_follow_each_other(session: Session, pair: Pair) -> None:
    def options() -> tuple[object, ...]:
        found: tuple[object, ...] = session.rows(
            "SELECT activation_procedure, max_readers, is_activation_enabled, execute_as_principal_id"
            " FROM sys.service_queues WHERE 'dbo.' || name = %s",
            pair.far,
        )[0]
        return found

    alter = "SELECT ssb.alter_queue(%s, "
    assert options() == (None, 0, 0, None)
    session.do(alter + "activation_procedure => 'dbo.p', execute_as => 'OWNER')", pair.far)
    assert options() == ("[dbo].[p]", 0, 0, -2)
    session.do(alter + "activation_status => true, max_queue_readers => 3)", pair.far)
    assert options() == ("[dbo].[p]", 3, 1, -2)
    session.do(alter + "activation_status => false)", pair.far)
    assert options() == ("[dbo].[p]", 3, 0, -2)
    session.do(alter + "max_queue_readers => 5)", pair.far)
    assert options() == ("[dbo].[p]", 5, 0, -2)
    session.do(alter + "activation_status => true, execute_as => 'SELF')", pair.far)
    assert options() == ("[dbo].[p]", 5, 1, 1)
    session.do(alter + "drop_activation => true)", pair.far)
    assert options() == (None, 0, 0, None)
    with refused(9614):
        session.do(alter + "activation_status => true)", pair.far)


def test_every_number_has_a_sqlstate(session: Session) -> None:
    numbers = (
        "SELECT ssb.sqlstate_of(n), ssb.error_number_of(ssb.sqlstate_of(n)) FROM unnest(%s::integer[]) AS n"
    )
    assert session.rows(numbers, [1, 8426, 9999, 10000, 50000, 1679614, 1679616]) == [
        ("S0001", 1),
        ("S8426", 8426),
        ("S9999", 9999),
        ("T07PS", 10000),
        ("T12KW", 50000),
        ("TZZZY", 1679614),
        ("TZZZZ", None),
    ]
    assert session.value("SELECT ssb.error_number_of('23505')") is None


def test_no_principal_has_the_number_of_a_role(session: Session) -> None:
    session.do("CREATE ROLE numbered_role")
    role = session.value("SELECT oid::integer FROM pg_roles WHERE rolname = 'numbered_role'")
    session.do("SELECT setval('ssb.principal_principal_id_seq', %s)", role - 1)
    session.do("SELECT ssb.create_principal('numbered_user', 'USER')")
    number = session.value("SELECT principal_id FROM sys.database_principals WHERE name = 'numbered_user'")
    session.do("DROP ROLE numbered_role")
    assert number > role


def test_level_and_state_travel_in_the_detail(session: Session, pair: Pair) -> None:
    with pytest.raises(errors.Error) as caught:
        session.do("SELECT ssb.drop_queue('dbo.nothing')")
    assert caught.value.diag.message_detail == "Msg 3701, Level 11, State 5"
    with pytest.raises(errors.Error) as caught:
        session.do("SELECT ssb.alter_service(%s)", pair.target)
    assert caught.value.diag.message_detail is None


@pytest.mark.parametrize(
    "look",
    [
        "ssb.receive('dbo.goes')",
        "ssb.receive('dbo.goes', conversation_group => gen_random_uuid())",
        "ssb.get_conversation_group('dbo.goes')",
        "ssb.end_finished('dbo.goes')",
    ],
)
def test_who_waits_for_a_drop_of_the_queue_is_told_that_it_is_gone(
    session: Session, another: Callable[[], Session], look: str
) -> None:
    session.do("SELECT ssb.create_queue('dbo.goes')")
    dropping, waiting = another(), another()
    dropping.do("SELECT ssb.drop_queue('dbo.goes')")
    blocked = start_and_block(session, waiting, lambda: waiting.rows(f"SELECT {look}"))
    dropping.commit()
    with refused(208):
        blocked.result()


def test_a_look_that_waits_for_a_drop_of_the_queue_leaves_the_error_to_receive(
    session: Session, another: Callable[[], Session]
) -> None:
    session.do("SELECT ssb.create_queue('dbo.leaves')")
    dropping, waiting = another(), another()
    dropping.do("SELECT ssb.drop_queue('dbo.leaves')")
    look = "SELECT ssb.message_is_waiting('dbo.leaves')"
    blocked = start_and_block(session, waiting, lambda: waiting.value(look))
    dropping.commit()
    assert blocked.result() is True


def test_sys_service_queues_shows_the_spelling_of_a_procedure_that_is_gone(session: Session) -> None:
    session.do("CREATE PROCEDURE dbo.usp_book() LANGUAGE sql AS ''")
    session.do("COMMENT ON PROCEDURE dbo.usp_book() IS 'T-SQL name: usp_Book'")
    session.do(
        "SELECT ssb.create_queue('dbo.books', activation_procedure => 'dbo.usp_book', max_queue_readers => 1)"
    )
    shown = "SELECT activation_procedure FROM sys.service_queues WHERE name = 'books'"
    assert session.value(shown) == "[dbo].[usp_Book]"
    session.do("DROP PROCEDURE dbo.usp_book")
    assert session.value(shown) == "[dbo].[usp_Book]"
    session.do("SELECT ssb.alter_queue('dbo.books', max_queue_readers => 2)")
    assert session.value(shown) == "[dbo].[usp_Book]"
    session.do("SELECT ssb.alter_queue('dbo.books', activation_procedure => 'dbo.other')")
    assert session.value(shown) == "[dbo].[other]"


def test_triggers_of_an_older_version_keep_noting_a_column_that_is_altered(session: Session) -> None:
    session.do("CREATE TABLE dbo.noted (a integer, b integer)")
    note = "FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update('t'"
    session.do(f'CREATE TRIGGER "!t@" AFTER UPDATE ON dbo.noted {note})')
    for column in "ab":
        session.do(
            f"CREATE TRIGGER \"!t@{column}\" AFTER UPDATE OF {column} ON dbo.noted {note}, '{column}')"
        )
    session.do(
        "SELECT ssb_internal.refuse_dependants('dbo.noted', '{a}', p_type => 'bigint');"
        " ALTER TABLE dbo.noted ALTER COLUMN a TYPE bigint; SELECT ssb_internal.note_updates('dbo.noted')"
    )
    named = "SELECT ssb_internal.columns_named('dbo.noted'::regclass, 't')"
    for changed, noted in (("a = 1", ["a"]), ("b = 1", ["b"]), ("b = 1, a = 1", ["a", "b"])):
        session.do("BEGIN")
        session.do(f"UPDATE dbo.noted SET {changed}")
        assert session.value(named) == noted
        session.do("COMMIT")
