"""Functions that answer from the session, the catalogs and the T-SQL databases."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from pgsb.compiler.sql.functions.builtin import FUNCTIONS
from support import Connection, Database


@pytest.fixture(scope="module")
def home(new_database: Callable[[], Database]) -> Database:
    """A database with a table, a view, routines, a trigger, a queue and a second T-SQL database."""
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute(
            """
            CREATE SCHEMA IF NOT EXISTS dbo;
            CREATE SCHEMA sales;
            CREATE TABLE dbo.orders (
                id integer GENERATED ALWAYS AS IDENTITY (START 100 INCREMENT 5)
                    CONSTRAINT pk_orders PRIMARY KEY,
                note varchar(20) NOT NULL, total numeric(19, 4), paid sys.bit, body bytea,
                doubled numeric GENERATED ALWAYS AS (total * 2) STORED,
                CONSTRAINT ck_total CHECK (total >= 0));
            CREATE TABLE sales.orders (x integer);
            CREATE VIEW dbo.order_notes AS SELECT note FROM dbo.orders;
            CREATE PROCEDURE dbo.pay(a integer) LANGUAGE plpgsql AS 'BEGIN NULL; END';
            CREATE FUNCTION dbo.twice(a integer) RETURNS integer LANGUAGE sql AS 'SELECT a * 2';
            CREATE FUNCTION dbo.some_rows() RETURNS SETOF integer LANGUAGE sql AS 'SELECT 1';
            CREATE FUNCTION dbo.on_order() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER tr_order AFTER INSERT ON dbo.orders EXECUTE FUNCTION dbo.on_order();
            SELECT ssb.create_database('Trader1');
            CREATE SCHEMA IF NOT EXISTS trader1_dbo;
            CREATE TABLE trader1_dbo.trades (id integer);
            SELECT ssb.create_queue('dbo.inbox', spelling => 'Inbox');
            """
        )
    return made


@pytest.fixture(scope="module")
def shared(home: Database) -> Iterator[Connection]:
    """One connection to that database."""
    with psycopg.connect(home.dsn, autocommit=True) as connection:
        yield connection


def value(connection: Connection, expression: str, *parameters: object) -> Any:
    row = connection.execute(f"SELECT {expression}".encode(), parameters).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("orders", "U"),
        ("dbo.orders", "U"),
        ("[dbo].[Orders]", "U"),
        ('"dbo"."ORDERS"', "U"),
        ("sales.orders", "U"),
        ("dbo.order_notes", "V"),
        ("dbo.pay", "P"),
        ("dbo.twice", "FN"),
        ("dbo.some_rows", "IF"),
        ("tr_order", "TR"),
        ("pk_orders", "PK"),
        ("ck_total", "C"),
        ("dbo.Inbox", "SQ"),
        ("Trader1.dbo.trades", "U"),
        ("trader1..trades", "U"),
    ],
)
def test_object_id_finds_objects_of_their_type_only(shared: Connection, name: str, kind: str) -> None:
    number = value(shared, "sys.object_id(%s)", name)
    assert number is not None
    assert value(shared, "sys.object_id(%s, %s)", name, kind) == number
    assert value(shared, "sys.object_id(%s, 'XX')", name) is None


@pytest.mark.parametrize(
    "name",
    ["trades", "nowhere.orders", "dbo.missing", "no_database.dbo.orders", "a.b.c.d", "on_order", "", "[x"],
)
def test_object_id_is_null_for_what_is_not_there(shared: Connection, name: str) -> None:
    assert value(shared, "sys.object_id(%s)", name) is None


def test_object_id_distinguishes_schemas_and_databases(shared: Connection) -> None:
    names = ["dbo.orders", "sales.orders", "trader1.dbo.trades", "dbo.inbox"]
    assert len({value(shared, "sys.object_id(%s)", name) for name in names}) == 4


def test_object_id_of_the_compile_time_database(shared: Connection) -> None:
    assert value(shared, "sys.object_id('trades', NULL, 'Trader1')") == value(
        shared, "sys.object_id('trader1.dbo.trades')"
    )


def test_temporary_tables_have_an_object_id_while_they_live(shared: Connection) -> None:
    assert value(shared, "sys.object_id('tempdb..#work')") is None
    shared.execute('CREATE TEMP TABLE "#work" (x integer)')
    assert value(shared, "sys.object_id('tempdb..#work')") == value(
        shared, "sys.object_id('#WORK', 'U', 'tempdb')"
    )
    assert value(shared, "sys.object_name(sys.object_id('tempdb..#work'))") == "#work"
    assert value(shared, "sys.object_id('#work')") is None  # of a database that is not tempdb
    shared.execute('DROP TABLE "#work"')
    assert value(shared, "sys.object_id('tempdb..#work')") is None


def test_names_come_back_from_numbers(shared: Connection) -> None:
    assert value(shared, "sys.object_name(sys.object_id('dbo.orders'))") == "orders"
    assert value(shared, "sys.object_name(sys.object_id('dbo.inbox'))") == "Inbox"
    assert value(shared, "sys.object_schema_name(sys.object_id('sales.orders'))") == "sales"
    assert value(shared, "sys.object_schema_name(sys.object_id('trader1..trades'))") == "dbo"
    assert value(shared, "sys.object_name(-5)") is None
    assert "note" in value(shared, "sys.object_definition(sys.object_id('order_notes'))")
    assert value(shared, "sys.object_definition(sys.object_id('ck_total'))") == "(total >= (0)::numeric)"


def test_databases_have_numbers_and_names(shared: Connection, home: Database) -> None:
    assert value(shared, "sys.db_name()") == home.name
    assert value(shared, "sys.db_name(sys.db_id('TRADER1'))") == "Trader1"
    assert value(shared, "sys.db_id('master')") == 1
    assert value(shared, "sys.db_id(%s)", home.name.upper()) == value(shared, "sys.db_id()")
    assert value(shared, "sys.db_id('missing')") is None
    shared.execute("SELECT ssb.use_database('Trader1')")
    try:
        assert value(shared, "sys.db_name()") == "Trader1"
        assert value(shared, "sys.object_id('trades')") is not None
        assert value(shared, "sys.object_id('orders')") is None
    finally:
        shared.execute("SELECT set_config('pgsb.database', '', false)")


def test_schemas_and_types_have_numbers(shared: Connection) -> None:
    assert value(shared, "sys.schema_name(sys.schema_id('sales'))") == "sales"
    assert value(shared, "sys.schema_id()") == value(shared, "sys.schema_id('DBO')") == 1
    assert value(shared, "sys.schema_id('missing')") is None
    assert value(shared, "sys.type_name(sys.type_id('NVARCHAR'))") == "nvarchar"
    assert value(shared, "sys.type_id('missing')") is None


def test_columns_have_their_properties(shared: Connection) -> None:
    def of(column: str, name: str) -> Any:
        return value(shared, "sys.columnproperty(sys.object_id('orders'), %s, %s)", column, name)

    assert of("id", "IsIdentity") == 1
    assert of("note", "IsIdentity") == 0
    assert of("note", "AllowsNull") == 0
    assert of("total", "AllowsNull") == 1
    assert of("total", "Precision") == 19
    assert of("total", "Scale") == 4
    assert of("doubled", "IsComputed") == 1
    assert of("Note", "ColumnId") == 2
    assert of("note", "CharMaxLen") == 20
    assert of("missing", "AllowsNull") is None
    assert of("note", "Nonsense") is None
    assert value(shared, "sys.col_length('dbo.orders', 'note')") == 20
    assert value(shared, "sys.col_length('orders', 'total')") == 9
    shared.execute("CREATE TABLE dbo.sizes (a sys.bit, b smallint, c timestamp(0), d bytea)")
    shared.execute("SELECT ssb_internal.keep_types('dbo.sizes', '{b,d}', '{tinyint,varbinary(50)}')")
    lengths = [value(shared, f"sys.col_length('dbo.sizes', '{column}')") for column in "abcd"]
    assert lengths == [1, 1, 4, 50]
    assert value(shared, "sys.col_length('orders', 'body')") == -1
    assert value(shared, "sys.col_length('orders', 'missing')") is None
    assert value(shared, "sys.col_name(sys.object_id('orders'), 2)") == "note"


def test_objects_have_their_properties(shared: Connection) -> None:
    def of(name: str, wanted: str) -> Any:
        return value(shared, "sys.objectproperty(sys.object_id(%s), %s)", name, wanted)

    assert of("orders", "IsTable") == of("orders", "IsUserTable") == 1
    assert of("orders", "TableHasPrimaryKey") == of("orders", "TableHasIdentity") == 1
    assert of("orders", "TableHasInsertTrigger") == 1
    assert of("orders", "TableHasDeleteTrigger") == 0
    assert of("tr_order", "ExecIsInsertTrigger") == of("tr_order", "ExecIsAfterTrigger") == 1
    assert of("tr_order", "ExecIsUpdateTrigger") == of("tr_order", "ExecIsTriggerDisabled") == 0
    assert of("orders", "ExecIsInsertTrigger") is None
    assert of("orders", "IsProcedure") == 0
    assert of("pay", "IsProcedure") == 1
    assert of("inbox", "IsQueue") == 1
    assert of("order_notes", "IsView") == 1
    assert of("missing", "IsView") is None


def test_database_and_server_properties(shared: Connection, home: Database) -> None:
    assert value(shared, "sys.databasepropertyex(%s, 'Status')", home.name) == "ONLINE"
    assert value(shared, "sys.databasepropertyex('Trader1', 'IsBrokerEnabled')") == "1"
    assert value(shared, "sys.databaseproperty('master', 'IsBrokerEnabled')") == 0
    assert value(shared, "sys.databasepropertyex('missing', 'Status')") is None
    assert value(shared, "sys.serverproperty('EngineEdition')") == "3"
    assert value(shared, "sys.serverproperty('Nonsense')") is None
    assert "pg-service-broker on PostgreSQL" in value(shared, "sys.version()")


def test_identity_values_of_a_table(shared: Connection) -> None:
    with psycopg.connect(shared.info.dsn, autocommit=True) as fresh:
        assert value(fresh, "sys.identity_of('dbo.orders')") is None
        assert value(fresh, "sys.identity_of('sales.orders')") is None
        assert value(fresh, "sys.scope_identity()") is None
        assert value(fresh, "sys.ident_current('dbo.orders')") == 100
        fresh.execute("INSERT INTO dbo.orders (note) VALUES ('a'), ('b')")
        assert value(fresh, "sys.identity_of('dbo.orders')") == 105
        assert value(fresh, "sys.scope_identity()") == 105
        assert value(fresh, "sys.ident_current('orders')") == 105
        assert value(fresh, "sys.ident_seed('orders')") == 100
        assert value(fresh, "sys.ident_incr('orders')") == 5
        assert value(fresh, "sys.ident_current('sales.orders')") is None
    assert value(shared, "sys.identity_of('dbo.orders')") is None


def test_indexes_are_numbered_from_the_primary_key(shared: Connection) -> None:
    assert value(shared, "sys.indexproperty(sys.object_id('orders'), 'pk_orders', 'IndexID')") == 1
    assert value(shared, "sys.indexproperty(sys.object_id('orders'), 'PK_Orders', 'IsUnique')") == 1
    assert value(shared, "sys.index_col('orders', 1, 1)") == "id"
    assert value(shared, "sys.index_col('orders', 1, 2)") is None


def test_the_owner_is_dbo(shared: Connection) -> None:
    assert value(shared, "sys.user_name()") == "dbo"
    assert value(shared, "sys.user_name(1)") == "dbo"
    assert value(shared, "sys.user_id()") == 1
    assert value(shared, "sys.suser_sname(sys.suser_sid())") == value(shared, "sys.suser_name()")
    assert value(shared, "sys.is_member('db_owner')") == 1
    assert value(shared, "sys.is_member('no such role')") is None
    assert value(shared, "sys.is_srvrolemember('sysadmin')") == 1
    assert value(shared, "sys.is_srvrolemember('no such role')") is None
    assert value(shared, "sys.has_perms_by_name('dbo.orders', 'OBJECT', 'INSERT')") == 1
    assert value(shared, "sys.has_perms_by_name('dbo.missing', 'OBJECT', 'INSERT')") is None
    assert value(shared, "sys.has_perms_by_name(NULL, 'DATABASE', 'CREATE QUEUE')") == 1


def test_rights_on_the_broker_s_objects_are_told_by_class(shared: Connection) -> None:
    granted = (
        ("dbo.inbox", "OBJECT", "RECEIVE"),
        ("//S", "SERVICE", "SEND"),
        ("//C", "CONTRACT", "REFERENCES"),
        ("//T", "MESSAGE TYPE", "REFERENCES"),
        ("r", "ROUTE", "ALTER"),
        ("b", "REMOTE SERVICE BINDING", "CONTROL"),
    )
    with shared.transaction(force_rollback=True):
        shared.execute("CREATE ROLE clerk")
        shared.execute(
            "SELECT ssb.create_message_type('//T'), ssb.create_contract('//C', '{//T}', '{ANY}'),"
            " ssb.create_service('//S', 'dbo.inbox'), ssb.create_route('r', 'LOCAL'),"
            " ssb.create_remote_service_binding('b', '//Far', 'clerk')"
        )
        for stage in (0, 1):
            for name, kind, right in granted:
                if stage:
                    shared.execute(
                        "SELECT ssb.grant_permission(ARRAY[%s], %s, %s, '{clerk}')", [right, kind, name]
                    )
                shared.execute("SET LOCAL ROLE clerk")
                for asked in (right, "ANY"):
                    assert value(shared, f"sys.has_perms_by_name('{name}', '{kind}', '{asked}')") == stage
                assert value(shared, f"sys.has_perms_by_name('{name}', '{kind}', 'TAKE OWNERSHIP')") == (
                    stage and right == "CONTROL"
                )
                assert value(shared, f"sys.has_perms_by_name('nothing', '{kind}', '{right}')") is None
                shared.execute("RESET ROLE")
        # Every database has the DEFAULT ones.
        assert value(shared, "sys.has_perms_by_name('DEFAULT', 'CONTRACT', 'REFERENCES')") == 1


def test_a_permission_that_a_class_does_not_have_is_null(shared: Connection) -> None:
    for name, kind, wrong in (
        ("dbo.inbox", "OBJECT", "SEND"),
        ("dbo.orders", "OBJECT", "FLY"),
        ("DEFAULT", "CONTRACT", "SEND"),
        ("DEFAULT", "MESSAGE TYPE", "RECEIVE"),
        ("dbo", "SCHEMA", "CREATE TABLE"),
        ("dbo", "USER", "TAKE OWNERSHIP"),
        ("dbo", "PLANET", "ANY"),
    ):
        assert value(shared, f"sys.has_perms_by_name('{name}', '{kind}', '{wrong}')") is None
    assert value(shared, "sys.has_perms_by_name(NULL, NULL, 'VIEW DATABASE STATE')") is None
    assert value(shared, "sys.has_perms_by_name(NULL, 'DATABASE', 'VIEW SERVER STATE')") is None
    assert value(shared, "sys.has_perms_by_name(NULL, 'DATABASE', 'SELECT')") == 1


def test_rights_on_principals_schemas_and_keys_are_told(shared: Connection) -> None:
    with shared.transaction(force_rollback=True):
        shared.execute("CREATE ROLE clerk; CREATE SCHEMA made; GRANT USAGE ON SCHEMA made, dbo TO clerk")
        shared.execute("SELECT ssb.create_principal('desk', 'ROLE'), ssb.create_principal('ann', 'USER')")
        asked = (
            ("desk", "ROLE", "ALTER"),
            ("ann", "USER", "IMPERSONATE"),
            ("dbo", "SCHEMA", "ALTER"),
            ("dbo", "SCHEMA", "SELECT"),
        )
        for name, kind, right in asked:
            assert value(shared, f"sys.has_perms_by_name('{name}', '{kind}', '{right}')") == 1, name
            assert value(shared, f"sys.has_perms_by_name('nothing', '{kind}', '{right}')") is None, name
            shared.execute("SET LOCAL ROLE clerk")
            assert value(shared, f"sys.has_perms_by_name('{name}', '{kind}', '{right}')") == 0, name
            shared.execute("RESET ROLE")
        shared.execute("SELECT ssb.grant_permission('{IMPERSONATE}', 'USER', 'ann', '{clerk}')")
        shared.execute("SELECT ssb.grant_permission('{SELECT}', 'SCHEMA', 'dbo', '{clerk}')")
        shared.execute("SET LOCAL ROLE clerk")
        assert value(shared, "sys.has_perms_by_name('ann', 'USER', 'IMPERSONATE')") == 1
        assert value(shared, "sys.has_perms_by_name('dbo', 'SCHEMA', 'SELECT')") == 1
        assert value(shared, "sys.has_perms_by_name('dbo', 'SCHEMA', 'DELETE')") == 0
        shared.execute("RESET ROLE")


def test_an_ordinary_role_sees_itself_and_names(shared: Connection) -> None:
    shared.execute(
        "CREATE ROLE clerk; GRANT USAGE ON SCHEMA dbo TO clerk; GRANT SELECT ON dbo.orders TO clerk"
    )
    shared.execute("SET ROLE clerk")
    try:
        assert value(shared, "sys.user_name()") == "clerk"
        assert value(shared, "sys.suser_name()") == "clerk"
        assert value(shared, "sys.user_name(sys.user_id('clerk'))") == "clerk"
        assert value(shared, "sys.original_login()") == value(shared, "session_user::text")
        assert value(shared, "sys.is_member('db_owner')") == 0
        assert value(shared, "sys.is_member('public')") == 1
        assert value(shared, "sys.is_member('clerk')") == 1
        assert value(shared, "sys.is_srvrolemember('sysadmin')") == 0
        assert value(shared, "sys.object_id('dbo.orders')") is not None
        assert value(shared, "sys.object_name(sys.object_id('dbo.inbox'))") == "Inbox"
        assert value(shared, "sys.object_schema_name(sys.object_id('dbo.orders'), sys.db_id())") == "dbo"
        assert value(shared, "sys.has_perms_by_name('dbo.orders', 'OBJECT', 'SELECT')") == 1
        assert value(shared, "sys.has_perms_by_name('dbo.orders', 'OBJECT', 'INSERT')") == 0
        assert value(shared, "sys.has_perms_by_name('dbo.inbox', 'OBJECT', 'RECEIVE')") == 0
        assert value(shared, "sys.convert_int('5')") == 5
        with pytest.raises(psycopg.Error) as failure:
            value(shared, "sys.convert_int('five')")
        assert failure.value.sqlstate == "S0245"
        # Whose the database is, is its dbo.
        shared.execute(
            "RESET ROLE; UPDATE ssb.database SET owner = 'clerk' WHERE database_id = 5; SET ROLE clerk"
        )
        assert value(shared, "sys.is_member('db_owner')") == 1
        assert value(shared, "sys.user_name()") == "dbo"
        assert value(shared, "sys.suser_name()") == "clerk"
    finally:
        shared.execute("RESET ROLE; UPDATE ssb.database SET owner = current_user WHERE database_id = 5")
        shared.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_context_and_session_values_last_for_the_session(shared: Connection) -> None:
    assert value(shared, "sys.context_info()") is None
    shared.execute("SELECT sys.set_context_info('\\x0102')")
    assert value(shared, "sys.context_info()") == bytes([1, 2]) + bytes(126)
    assert value(shared, "sys.session_context('user_id')") is None
    shared.execute(
        "SELECT sys.set_session_context('user_id', '5'), sys.set_session_context('tenant', 'a', 1)"
    )
    assert value(shared, "sys.session_context('user_id')") == "5"
    shared.execute("SELECT sys.set_session_context('user_id', NULL)")
    assert value(shared, "sys.session_context('user_id')") is None
    with pytest.raises(psycopg.Error, match="read_only") as failure:
        shared.execute("SELECT sys.set_session_context('tenant', 'b')")
    assert value(shared, "ssb.error_number_of(%s)", failure.value.sqlstate) == 15664
    assert value(shared, "sys.session_context('tenant')") == "a"


def test_sequential_identifiers_grow(shared: Connection) -> None:
    rows = shared.execute("SELECT sys.newsequentialid() FROM pg_catalog.generate_series(1, 200)").fetchall()
    made = [row[0] for row in rows]
    assert len(set(made)) == 200
    assert [str(u)[:14] for u in made] == sorted(str(u)[:14] for u in made)


def test_application_locks_exclude_each_other(home: Database, shared: Connection) -> None:
    with psycopg.connect(home.dsn, autocommit=True) as other:
        assert value(shared, "sys.getapplock('stock', 'Exclusive', 'Session')") == 0
        assert value(other, "sys.getapplock('stock', 'Shared', 'Session', 0)") == -1
        assert value(other, "sys.getapplock('other', 'Exclusive', 'Session', 0)") == 0
        assert value(other, "sys.getapplock('stock', 'Exclusive', 'Session', 20)") == -1
        assert value(other, "current_setting('lock_timeout')") == "0"
        assert value(shared, "sys.releaseapplock('stock', 'Session')") == 0
        with pytest.raises(psycopg.Error, match="it is not currently held"):
            value(shared, "sys.releaseapplock('stock', 'Session')")
        assert value(other, "sys.getapplock('stock', 'Shared', 'Session', 0)") == 0
        assert value(shared, "sys.getapplock('stock', 'Shared', 'Session', 0)") == 0
        assert value(shared, "sys.releaseapplock('stock', 'Session')") == 0
        assert value(shared, "sys.getapplock('stock', 'Sideways', 'Session')") == -999


def test_of_two_application_locks_of_a_session_the_stronger_is_shown(
    home: Database, shared: Connection
) -> None:
    mode = "sys.applock_mode('public', 'twice', 'Session')"
    assert value(shared, mode) == "NoLock"
    for asked, shown in (("Shared", "Shared"), ("Exclusive", "Exclusive")):
        assert value(shared, f"sys.getapplock('twice', '{asked}', 'Session')") == 0
        assert value(shared, mode) == shown
    for _ in range(2):
        value(shared, "sys.releaseapplock('twice', 'Session')")
    assert value(shared, mode) == "NoLock"


def test_the_number_of_a_removed_document_is_the_next_ones(shared: Connection) -> None:
    """Settings never go: a program that prepares one for each message must not make more and more of them."""
    first, second = (value(shared, f"sys.prepare_document('<{name}/>')") for name in "ab")
    assert first != second
    value(shared, f"sys.remove_document({first})")
    with pytest.raises(psycopg.Error, match="Could not find prepared statement"):
        value(shared, f"sys.document({first})")
    assert [value(shared, f"sys.prepare_document('<{name}/>')") for name in "cd"] == [first, second + 1]
    assert value(shared, f"sys.document({first})::text") == "<c/>"
    assert value(shared, f"sys.document({second})::text") == "<b/>"
    for number in (first, second, second + 1):
        value(shared, f"sys.remove_document({number})")


def test_a_transaction_lock_goes_with_the_transaction(home: Database, shared: Connection) -> None:
    with psycopg.connect(home.dsn) as other:
        assert value(other, "sys.getapplock('ledger', 'Exclusive')") == 0
        assert value(shared, "sys.getapplock('ledger', 'Exclusive', 'Transaction', 0)") == -1
        other.commit()
        assert value(shared, "sys.getapplock('ledger', 'Exclusive', 'Transaction', 0)") == 0


def test_functions_fold_away_when_planned(shared: Connection) -> None:
    plan = "\n".join(
        row[0]
        for row in shared.execute(
            "EXPLAIN (VERBOSE, COSTS OFF) SELECT sys.len(note), sys.datediff('day', t.at, t.at), "
            "sys.convert_varchar(note), sys.left(note, 3), sys.add(id, 1), sys.year(t.at), "
            "sys.charindex('a', note) "
            "FROM (SELECT note::text, id, now()::timestamp AS at FROM dbo.orders OFFSET 0) AS t"
        )
    )
    assert "sys." not in plan


def test_a_date_condition_can_use_an_index(shared: Connection) -> None:
    shared.execute("CREATE TABLE dbo.log (at timestamp(3)); CREATE INDEX log_at ON dbo.log (at)")
    shared.execute("SET enable_seqscan = off")
    plan = "\n".join(
        row[0]
        for row in shared.execute(
            "EXPLAIN (COSTS OFF) SELECT FROM dbo.log AS l WHERE l.at < sys.dateadd('day', -1, sys.getdate())"
        )
    )
    shared.execute("RESET enable_seqscan; DROP TABLE dbo.log")
    assert "Index Cond: (at <" in plan


def test_messages_have_numbers(shared: Connection) -> None:
    assert value(shared, "sys.formatmessage_of(2812, 'dbo.p')") == "Could not find stored procedure 'dbo.p'."
    parameter = "An invalid parameter or option was specified for procedure 'p'."
    assert value(shared, "sys.formatmessage_of(15600, 'p')") == parameter
    assert value(shared, "severity FROM sys.messages WHERE message_id = 15600") == 15
    assert value(shared, "sys.formatmessage_of(99999, 'x')") is None
    shared.execute("SELECT sys.addmessage(50001, 16, 'Order %d of %s is late.')")
    assert value(shared, "sys.formatmessage_of(50001, '7', 'Ada')") == "Order 7 of Ada is late."
    with pytest.raises(psycopg.Error, match="REPLACE"):
        shared.execute("SELECT sys.addmessage(50001, 16, 'again')")
    shared.execute("SELECT sys.addmessage(50001, 11, 'again', replace => 'replace')")
    assert value(shared, "severity FROM sys.messages WHERE message_id = 50001") == 11
    shared.execute("SELECT sys.dropmessage(50001)")
    with pytest.raises(psycopg.Error, match="does not exist"):
        shared.execute("SELECT sys.dropmessage(50001)")
    with pytest.raises(psycopg.Error, match="greater than 50000"):
        shared.execute("SELECT sys.addmessage(50000, 16, 'x')")


def test_a_message_has_a_text_for_each_language(shared: Connection) -> None:
    add = "SELECT sys.addmessage(50003, 16, %s, %s)"
    with pytest.raises(psycopg.Error, match="must add the us_english version"):
        shared.execute(add, ("Auftrag %1!", "German"))
    shared.execute(add, ("Order %s", None))
    shared.execute(add, ("Auftrag %1!", "Deutsch"))
    assert value(shared, "sys.formatmessage_of(50003, 'x')") == "Order x"
    german = "text FROM sys.messages WHERE message_id = 50003 AND language_id = 1031"
    assert value(shared, german) == "Auftrag %1!"
    with pytest.raises(psycopg.Error, match="All localized versions"):
        shared.execute("SELECT sys.dropmessage(50003)")
    with pytest.raises(psycopg.Error, match="'Klingon' is not a valid official language name"):
        shared.execute(add, ("x", "Klingon"))
    shared.execute("SELECT sys.dropmessage(50003, 'all')")
    assert value(shared, "count(*) FROM sys.messages WHERE message_id = 50003") == 0


@pytest.mark.parametrize("call", ["sys.addmessage(50002, 16, 'x')", "sys.dropmessage(50002)"])
def test_messages_are_not_everybodys_to_change(shared: Connection, call: str) -> None:
    with shared.transaction(force_rollback=True):
        shared.execute("CREATE ROLE message_writer")
        shared.execute("GRANT USAGE ON SCHEMA sys TO message_writer")
        shared.execute("SET LOCAL ROLE message_writer")
        with pytest.raises(psycopg.Error, match="does not have permission to perform this action"):
            shared.execute(f"SELECT {call}")


def test_numbers_agree_with_the_catalog_views(shared: Connection) -> None:
    rows = shared.execute(
        "SELECT o.name, o.object_id, sys.object_id(s.name || '.[' || o.name || ']', o.type), "
        "sys.object_name(o.object_id) "
        "FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id"
    ).fetchall()
    assert {row[0] for row in rows} >= {
        "orders",
        "order_notes",
        "pay",
        "twice",
        "Inbox",
        "pk_orders",
    }
    for name, number, found, back in rows:
        assert (number, name) == (found, back)


def test_metadata_functions_and_views_say_the_same_of_each_object(shared: Connection) -> None:
    shared.execute("CREATE VIEW dbo.stand_in AS SELECT * FROM dbo.orders")
    shared.execute("COMMENT ON VIEW dbo.stand_in IS 'synonym for dbo.orders'")
    rows = shared.execute(
        "SELECT o.name, o.type, o.is_ms_shipped, sys.objectproperty(o.object_id, 'IsMSShipped'), "
        "sys.objectpropertyex(o.object_id, 'BaseType'), sys.object_schema_name(o.object_id), s.name, "
        "sys.objectproperty(o.object_id, 'SchemaId'), s.schema_id, sys.object_definition(o.object_id), "
        "sys.has_perms_by_name(s.name || '.[' || o.name || ']', 'OBJECT', 'ANY') "
        "FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id"
    ).fetchall()
    assert {row[1].rstrip() for row in rows} >= {"U", "V", "SN", "P", "FN", "TR", "SQ", "IT", "PK", "C"}
    for name, kind, shipped, is_shipped, base, schema, in_schema, schema_id, in_schema_id, *_ in rows:
        expected = (shipped, kind.rstrip(), in_schema, in_schema_id)
        assert (is_shipped, base, schema, schema_id) == expected, name
    shared.execute("DROP VIEW dbo.stand_in")
    queue = "'ServiceBrokerQueue'"
    assert value(shared, f"sys.objectproperty(sys.object_id({queue}), 'IsQueue')") == 1
    assert value(shared, f"sys.object_id({queue}, 'SQ', 'no_database')") is None


def test_every_function_that_the_compiler_calls_exists(shared: Connection) -> None:
    """What compiler/sql/functions writes by name, and every conversion, is in schema sys."""
    called = {
        (function.target or f"sys.{name.lower()}").removeprefix("sys.")
        for name, function in FUNCTIONS.items()
        if function.build is None and (function.target is None or function.target.startswith("sys."))
    }
    types = (
        "bit tinyint smallint int bigint decimal money smallmoney float real datetime smalldatetime datetime2"
    )
    types += " date time datetimeoffset varchar nvarchar char nchar varbinary binary uniqueidentifier"
    called |= {f"{prefix}convert_{name}" for name in types.split() for prefix in ("", "try_")}
    rows = shared.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'sys'::regnamespace").fetchall()
    assert called - {row[0] for row in rows} == set()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("cache lookup failed for function 5", "function 5"),
        ("could not open relation with OID 5", "relation with OID 5"),
    ],
)
def test_what_another_session_drops_meanwhile_has_changed(shared: Connection, words: str, name: str) -> None:
    """PostgreSQL has no better words for what is gone between the look for it and its use."""
    found = shared.execute(
        "SELECT e.number, e.message FROM ssb_internal.native_error('XX000', %s, NULL, NULL) AS e", [words]
    ).fetchone()
    assert found == (2801, f"The definition of object '{name}' has changed since it was compiled.")


@pytest.mark.parametrize(
    "words",
    [
        'relation "dbo.gone" does not exist',
        "Relation »dbo.gone« existiert nicht",
        "„dbo.gone“",
        "la relation «\u00a0dbo.gone\u00a0» n'existe pas",
    ],
)
def test_a_name_stands_between_the_quotation_marks_of_any_language(shared: Connection, words: str) -> None:
    found = shared.execute(
        "SELECT e.number, e.message FROM ssb_internal.native_error('42P01', %s, NULL, NULL) AS e", [words]
    ).fetchone()
    assert found == (208, "Invalid object name 'dbo.gone'.")


@pytest.mark.parametrize("words", ["tuple concurrently updated", "tuple concurrently deleted"])
def test_who_changes_a_definition_beside_another_runs_again(shared: Connection, words: str) -> None:
    found = shared.execute(
        "SELECT e.number, e.message FROM ssb_internal.native_error('XX000', %s, NULL, NULL) AS e", [words]
    ).fetchone()
    assert found is not None
    assert found[0] == 1205
    assert found[1].endswith("Rerun the transaction.")
