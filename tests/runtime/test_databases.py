"""T-SQL databases: sets of schemas in one PostgreSQL database, with dialogs across them."""

import pytest
from runtime.broker import END, ERROR, Session, refused

from pgsb.compiler.builder.queries import DATABASE_OPTIONS, SWITCHES
from pgsb.compiler.catalog.names import schema_name


@pytest.fixture
def two(session: Session) -> Session:
    """Databases Trader1 and Trader2, each with a service on a queue and the contract of both."""
    session.do("SELECT ssb.drop_database(n, true) FROM unnest('{Trader1,Trader2}'::text[]) AS n")
    for name, contracts in (("Trader1", "{}"), ("Trader2", "{//trade}")):
        schema = name.lower() + "_dbo"
        session.do("SELECT ssb.create_database(%s)", name)
        session.do("SELECT ssb.create_message_type('//buy', database => %s)", name)
        session.do("SELECT ssb.create_message_type('//sold', database => %s)", name)
        session.do(
            "SELECT ssb.create_contract('//trade', '{//buy,//sold}', '{INITIATOR,TARGET}', database => %s)",
            name,
        )
        session.do("SELECT ssb.create_queue(%s)", schema + ".desk")
        session.do(
            "SELECT ssb.create_service(%s, %s, %s, database => %s)",
            "//" + name,
            schema + ".desk",
            contracts,
            name,
        )
    return session


def test_a_dialog_crosses_databases(two: Session) -> None:
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'trader1')")
    for i in range(20):
        two.send(near, "//buy", str(i))
    received = two.receive("trader2_dbo.desk")
    assert [m.body for m in received] == [str(i) for i in range(20)]
    assert [m.number for m in received] == list(range(20))
    far = received[0].handle
    two.send(far, "//sold", "done")
    with refused(8432):
        two.send(near, "//sold")
    with refused(8434):
        two.send(far, "//buy")
    two.end(far)
    assert [m.type for m in two.receive("trader1_dbo.desk")] == ["//sold", END]
    two.end(near)


@pytest.mark.parametrize("retains", [False, True])
def test_a_message_is_of_the_receivers_type_of_that_name(two: Session, retains: bool) -> None:
    two.do("SELECT ssb.alter_queue('trader1_dbo.desk', retention => %s)", retains)
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'trader1')")
    two.send(near, "//buy", "1")
    two.send(near, "//buy", "2")
    own, far = (
        two.value(
            "SELECT t.message_type_id FROM ssb.message_type AS t JOIN ssb.database AS d USING (database_id)"
            " WHERE t.name = '//buy' AND d.name = %s",
            name,
        )
        for name in ("Trader1", "Trader2")
    )
    assert own != far
    assert two.column("SELECT message_type_id FROM ssb.receive('trader2_dbo.desk')") == [far, far]


def test_catalog_views_show_the_current_database(two: Session) -> None:
    own = "SELECT name FROM sys.services WHERE service_id > 65535 ORDER BY 1"
    two.do("SELECT ssb.use_database('TRADER1')")
    assert two.column(own) == ["//Trader1"]
    assert two.value("SELECT ssb.db_name()") == "Trader1"
    assert two.column("SELECT name FROM sys.service_queues WHERE is_ms_shipped::text = '0'") == ["desk"]
    assert two.column("SELECT name FROM sys.schemas WHERE schema_id = 1") == ["dbo"]
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade')")
    two.send(near, "//buy")
    assert two.column("SELECT far_service FROM sys.conversation_endpoints") == ["//Trader2"]
    two.do("SELECT ssb.use_database('Trader2')")
    assert two.column(own) == ["//Trader2"]
    assert two.column("SELECT far_service FROM sys.conversation_endpoints") == ["//Trader1"]
    two.do("SELECT ssb.use_database(current_database())")
    assert two.column("SELECT name FROM sys.services WHERE name ~ 'Trader'") == []


def test_each_database_has_its_own_names(two: Session) -> None:
    with refused(15530):
        two.do("SELECT ssb.create_message_type('//buy', database => 'Trader1')")
    two.do("SELECT ssb.create_message_type('//buy')")
    two.do("SELECT ssb.drop_message_type('//buy')")
    with refused(15151):
        two.do("SELECT ssb.create_service('x', 'trader2_dbo.desk', database => 'Trader1')")


def test_definitions_may_differ_between_the_sides(two: Session) -> None:
    two.do("SELECT ssb.alter_message_type('//buy', 'EMPTY', database => 'Trader2')")
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'Trader1')")
    two.send(near, "//buy")
    two.send(near, "//buy", "not empty")
    assert [m.type for m in two.receive("trader1_dbo.desk")] == [ERROR]
    assert len(two.receive("trader2_dbo.desk")) == 1


def test_a_side_may_send_what_the_other_sides_contract_forbids(two: Session) -> None:
    two.do("SELECT ssb.create_contract('//odd', '{//buy}', '{ANY}', database => 'Trader1')")
    two.do(
        "SELECT ssb.create_contract('//odd', '{//sold,//buy}', '{INITIATOR,TARGET}', database => 'Trader2')"
    )
    two.do("SELECT ssb.alter_service('//Trader2', add_contracts => '{//odd}', database => 'Trader2')")
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//odd', database => 'Trader1')")
    two.send(near, "//buy")
    (message,) = two.receive("trader1_dbo.desk")
    assert message.type == ERROR and "-8457" in str(message.body)


def test_several_services_of_one_name_one_is_chosen_for_good(two: Session) -> None:
    two.do("SELECT ssb.create_service('//Trader2', 'trader1_dbo.desk', '{//trade}', database => 'Trader1')")
    counts = {"trader1_dbo.desk": 0, "trader2_dbo.desk": 0}
    for _ in range(40):
        near = two.value(
            "SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'Trader1')"
        )
        two.send(near, "//buy")
        two.send(near, "//buy")
        for queue in counts:
            found = two.receive(queue)
            assert len(found) in (0, 2)
            counts[queue] += len(found)
    assert min(counts.values()) > 0
    guid = two.value("SELECT service_broker_guid FROM sys.databases WHERE name = 'Trader2'")
    near = two.value(
        "SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', %s, database => 'Trader1')", str(guid)
    )
    two.send(near, "//buy")
    assert len(two.receive("trader2_dbo.desk")) == 1


def test_a_dropped_database_goes_with_everything(two: Session) -> None:
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'Trader1')")
    two.send(near, "//buy")
    two.do("CREATE TABLE trader2_dbo.orders (id integer)")
    two.do("CREATE VIEW trader2_dbo.depth AS SELECT count(*) FROM trader2_dbo.desk")
    two.do("SELECT ssb.drop_database('Trader2')")
    assert two.value(
        "SELECT to_regclass('trader2_dbo.orders') IS NULL AND to_regnamespace('trader2_dbo') IS NULL"
    )
    assert two.column("SELECT 1 FROM sys.databases WHERE name = 'Trader2'") == []
    (message,) = two.receive("trader1_dbo.desk")
    assert message.type == ERROR
    for table in ("queue", "service", "contract", "message_type", "route", "conversation_endpoint"):
        assert (
            two.value(
                f"SELECT count(*) FROM ssb.{table} WHERE database_id NOT IN (SELECT database_id"
                " FROM ssb.database)"
            )
            == 0
        )
    two.do("SELECT ssb.create_database('Trader2')")


def test_the_database_in_use_is_not_dropped(two: Session) -> None:
    two.do("SELECT ssb.use_database('Trader2')")
    with refused(3702):
        two.do("SELECT ssb.drop_database('Trader2')")
    two.do("SELECT ssb.use_database(current_database())")


def test_a_renamed_database_keeps_its_queues(two: Session) -> None:
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'Trader1')")
    two.send(near, "//buy", "x")
    two.do("SELECT ssb.alter_database('Trader2', 'NAME', 'Trader3')")
    assert two.bodies("trader3_dbo.desk") == ["x"]
    assert two.rows("SELECT * FROM trader3_dbo.desk") == []
    two.do("SELECT ssb.alter_database('Trader3', 'NAME', 'Trader2')")


def test_options_are_recorded(two: Session) -> None:
    for option in ("TRUSTWORTHY", "HONOR_BROKER_PRIORITY", "ALLOW_SNAPSHOT_ISOLATION"):
        two.do("SELECT ssb.alter_database('Trader1', %s, 'ON')", option)
    two.do("SELECT ssb.alter_database('Trader1', 'RECOVERY', 'SIMPLE')")
    assert two.rows(
        "SELECT is_trustworthy_on, is_honor_broker_priority_on, recovery_model_desc,"
        " snapshot_isolation_state, is_broker_enabled FROM sys.databases"
        " WHERE name = 'Trader1'"
    ) == [(1, 1, "SIMPLE", 1, 1)]
    state = (
        "SELECT state_desc, user_access, is_read_only, sys.databasepropertyex(name, 'Updateability'),"
        " sys.databasepropertyex(name, 'Status') FROM sys.databases WHERE name = 'Trader1'"
    )
    for option in ("SINGLE_USER", "OFFLINE", "READ_ONLY"):
        two.do("SELECT ssb.alter_database('Trader1', %s)", option)
    assert two.rows(state) == [("OFFLINE", 1, 1, "READ_ONLY", "OFFLINE")]
    with refused(942):
        two.do("SELECT ssb.use_database('Trader1')")
    for option in ("MULTI_USER", "ONLINE", "READ_WRITE"):
        two.do("SELECT ssb.alter_database('Trader1', %s)", option)
    assert two.rows(state) == [("ONLINE", 0, 0, "READ_WRITE", "ONLINE")]


def test_a_new_broker_forgets_its_dialogs(two: Session) -> None:
    before = two.value("SELECT service_broker_guid FROM sys.databases WHERE name = 'Trader2'")
    near = two.value("SELECT ssb.begin_dialog('//Trader1', '//Trader2', '//trade', database => 'Trader1')")
    two.send(near, "//buy")
    two.do("SELECT ssb.alter_database('Trader2', 'NEW_BROKER')")
    assert before != two.value("SELECT service_broker_guid FROM sys.databases WHERE name = 'Trader2'")
    assert two.receive("trader2_dbo.desk") == []
    two.do("SELECT ssb.alter_database('Trader1', 'ERROR_BROKER_CONVERSATIONS')")
    assert [m.type for m in two.receive("trader1_dbo.desk")] == [ERROR]


def test_schemas_belong_to_their_database(two: Session) -> None:
    two.do("SELECT ssb.create_schema('Sales', database => 'Trader1')")
    two.do("SELECT ssb.create_queue('trader1_sales.q')")
    two.do("SELECT ssb.use_database('Trader1')")
    assert "Sales" in two.column("SELECT name FROM sys.schemas")
    assert (
        two.value(
            "SELECT s.name FROM sys.service_queues AS q JOIN sys.schemas AS s ON s.schema_id ="
            " q.schema_id WHERE q.name = 'q'"
        )
        == "Sales"
    )
    with refused(3729):
        two.do("SELECT ssb.drop_schema('Sales')")
    two.do("SELECT ssb.drop_queue('trader1_sales.q'), ssb.drop_schema('Sales')")
    two.do("SELECT ssb.use_database(current_database())")


def test_every_option_that_the_compiler_reads_is_one_of_the_runtime(session: Session) -> None:
    for option in sorted(DATABASE_OPTIONS - {"ERROR_BROKER"}):
        value = None if option in SWITCHES else "ON"
        session.do("SELECT ssb_internal.check_database_option(%s, %s)", option, value)
        with refused(102):
            session.do("SELECT ssb_internal.check_database_option(%s, %s)", option + "S", value)


def test_names_that_postgresql_keeps_for_itself_are_refused(two: Session) -> None:
    two.do("SELECT ssb.create_schema('pg_sales', database => 'Trader1')")  # trader1_pg_sales
    with refused(2760):
        two.do("SELECT ssb.alter_database('Trader1', 'NAME', 'pg_trader')")


def test_system_databases_have_a_dbo_from_the_beginning(session: Session) -> None:
    assert session.column(
        "SELECT d.name FROM sys.databases AS d JOIN ssb.schema_of_database AS s USING (database_id)"
        " WHERE d.database_id < 5 AND to_regnamespace(s.name) IS NOT NULL ORDER BY d.database_id"
    ) == ["master", "tempdb", "model", "msdb"]


def test_names_are_measured_in_bytes_and_spelled_as_the_compiler_spells_them(session: Session) -> None:
    # 59 bytes are the longest: "_dbo" stands behind them.
    with refused(103):
        session.do("SELECT ssb.create_database(%s)", "ü" * 30)
    name = "ü" * 29
    session.do("SELECT ssb.create_database(%s)", name)
    schemas = ["ä" * 70, "ä" * 71]
    for schema in schemas:
        session.do("SELECT ssb.create_schema(%s, database => %s)", schema, name)
        prefix = name
        for _ in range(2):
            postgres = schema_name(schema, prefix, None)
            session.do("SELECT ssb.create_queue(%s)", f'"{postgres}".q')
            assert session.column("SELECT name FROM ssb.queue WHERE name LIKE %s", f'"{postgres}"%') == [
                f'"{postgres}".q'
            ]
            session.do("SELECT ssb.drop_queue(%s)", f'"{postgres}".q')
            renamed = "Short" if prefix == name else name
            session.do("SELECT ssb.alter_database(%s, 'NAME', %s)", prefix, renamed)
            prefix = renamed
    session.do("SELECT ssb.create_queue(%s)", f'"{schema_name(schemas[0], name, None)}".q')
    with refused(103):
        session.do("SELECT ssb.alter_database(%s, 'NAME', %s)", name, "ü" * 30)
    session.do("SELECT ssb.drop_database(%s)", name)
    assert session.column("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(ü|short)'") == []
