"""sys.internal_tables, sys.partitions and the module texts: what monitoring scripts join."""

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest
from end_to_end.tsql import Tsql

from support import Database


def test_messages_of_a_queue_are_counted_through_its_internal_table(
    database: Database, connect: Callable[..., psycopg.Connection]
) -> None:
    connection = connect(database.dsn)
    connection.execute("SELECT ssb.create_queue('dbo.counted')")
    connection.execute("SELECT ssb.create_service('s', 'dbo.counted', '{DEFAULT}')")
    for _ in range(3):
        connection.execute("SELECT ssb.send(ssb.begin_dialog('s', 's'), 'DEFAULT', 'x'::text)")
    through_objects = connection.execute(
        "SELECT p.rows, i.internal_type_desc"
        " FROM sys.objects AS q JOIN sys.objects AS o ON o.parent_object_id = q.object_id"
        " JOIN sys.partitions AS p ON p.object_id = o.object_id"
        " JOIN sys.internal_tables AS i ON i.object_id = o.object_id"
        " WHERE q.name = 'counted' AND p.index_id = 1"
    ).fetchall()
    assert through_objects == [(3, "QUEUE_MESSAGES")]


def test_tables_indexes_and_queues_have_pages(
    database: Database, connect: Callable[..., psycopg.Connection]
) -> None:
    connection = connect(database.dsn)
    connection.execute("CREATE TABLE dbo.paged (a int PRIMARY KEY, b int, c text)")
    connection.execute("CREATE INDEX paged__b ON dbo.paged (b)")
    connection.execute(
        "INSERT INTO dbo.paged SELECT n, n, repeat('x', 1000) FROM generate_series(1, 100) AS n"
    )
    connection.execute("SELECT ssb.create_queue('dbo.paged_queue')")
    connection.execute("SELECT ssb.create_service('p', 'dbo.paged_queue', '{DEFAULT}')")
    connection.execute("SELECT ssb.send(ssb.begin_dialog('p', 'p'), 'DEFAULT', repeat('y', 10000)::text)")
    pages = connection.execute(
        "SELECT s.index_id, s.used_page_count, u.used_pages FROM sys.dm_db_partition_stats AS s"
        " JOIN sys.allocation_units AS u ON u.container_id = s.partition_id"
        " WHERE s.object_id = sys.object_id('dbo.paged') ORDER BY 1"
    ).fetchall()
    assert [(number, used > 0, used == allocated) for number, used, allocated in pages] == [
        (1, True, True),
        (2, True, True),
    ]
    of_queue = connection.execute(
        "SELECT s.index_id, s.reserved_page_count FROM sys.service_queues AS q"
        " JOIN sys.internal_tables AS t ON t.parent_object_id = q.object_id"
        " JOIN sys.dm_db_partition_stats AS s ON s.object_id = t.object_id"
        " WHERE q.name = 'paged_queue' ORDER BY 1"
    ).fetchall()
    assert of_queue == [(1, 1), (2, 0)]


@pytest.mark.long
def test_modules_have_their_texts(database: Database, connect: Callable[..., psycopg.Connection]) -> None:
    connection = connect(database.dsn)
    connection.execute("CREATE PROCEDURE dbo.nothing() LANGUAGE sql AS 'SELECT 1'")
    row = connection.execute(
        "SELECT m.definition FROM sys.sql_modules AS m WHERE m.object_id = sys.object_id('dbo.nothing')"
    ).fetchone()
    assert row is not None and "SELECT 1" in row[0]


# What the reference's pages tell, in their order.
COLUMNS = {
    "dm_tran_locks": "resource_type resource_subtype resource_database_id resource_description"
    " resource_associated_entity_id resource_lock_partition request_mode request_type request_status"
    " request_reference_count request_lifetime request_session_id request_exec_context_id request_request_id"
    " request_owner_type request_owner_id request_owner_guid request_owner_lockspace_id lock_owner_address",
    "event_notifications": "name object_id parent_class parent_class_desc parent_id create_date modify_date"
    " service_name broker_instance principal_id creator_sid",
    "server_event_notifications": "name object_id parent_class parent_class_desc parent_id create_date"
    " modify_date service_name broker_instance creator_sid principal_id",
}


def test_columns_stand_where_the_reference_has_them(connect: Callable[..., psycopg.Connection]) -> None:
    connection = connect()
    for view, columns in COLUMNS.items():
        shown = connection.execute(f"SELECT * FROM sys.{view} LIMIT 0".encode()).description or []
        assert " ".join(column.name for column in shown) == columns


def test_the_engines_own_locks_are_no_application_locks(
    database: Database, connect: Callable[..., psycopg.Connection]
) -> None:
    connection = connect(database.dsn)
    connection.execute(
        "SELECT ssb.create_queue('dbo.hinted'), ssb.create_service('h', 'dbo.hinted', '{DEFAULT}')"
    )
    handle = connection.execute("SELECT ssb.begin_dialog('h', 'h')").fetchone()
    assert handle is not None
    mine = (
        "SELECT count(*) FROM sys.dm_tran_locks AS l"
        " WHERE l.resource_type = 'APPLICATION' AND l.request_session_id = pg_backend_pid()"
    )
    with connection.transaction():
        connection.execute("SELECT ssb.send(%s, 'DEFAULT', 'x'::text)", handle)
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        assert connection.execute(held).fetchone() != (0,)
        assert connection.execute(mine).fetchone() == (0,)
        connection.execute("SELECT sys.getapplock('stock', 'Exclusive')")
        assert connection.execute(mine).fetchone() == (1,)


@pytest.mark.parametrize(
    ("collation", "name", "order"),
    [("cs", "SQL_Latin1_General_CP1_CS_AS", "51"), ("ci", "SQL_Latin1_General_CP1_CI_AS", "52")],
)
def test_the_collation_has_one_name_and_it_tells_how_texts_compare(
    database: Database, collation: str, name: str, order: str
) -> None:
    with closing(Tsql(database.dsn, collation=collation)) as session:
        connection = session.connection
        connection.execute("CREATE TABLE dbo.named (s varchar(9))")
        names = connection.execute(
            "SELECT sys.serverproperty('Collation'), sys.databasepropertyex(ssb.db_name(), 'Collation'),"
            " sys.sql_variant_property('a', 'Collation', 'varchar', 0, 0, 1),"
            " (SELECT d.collation_name FROM sys.databases AS d WHERE d.name = ssb.db_name()),"
            " (SELECT c.collation_name FROM sys.columns AS c WHERE c.object_id = sys.object_id('dbo.named')),"
            " (SELECT t.collation_name FROM sys.types AS t WHERE t.name = 'nvarchar')"
        ).fetchone()
        assert names == (name,) * 6
        # What tells the collation's properties tells those of that name.
        assert connection.execute(
            "SELECT sys.databasepropertyex(ssb.db_name(), 'ComparisonStyle')"
            " = sys.collationproperty(sys.serverproperty('Collation'), 'ComparisonStyle')::text,"
            " sys.databasepropertyex(ssb.db_name(), 'SQLSortOrder')"
        ).fetchone() == (True, order)
        session.run_well("IF N'a' = N'A' PRINT 'ignores case' ELSE PRINT 'case counts'")
        assert session.prints == ["ignores case" if "_CI_" in name else "case counts"]


def test_held_conversation_groups_are_locks(
    database: Database, connect: Callable[..., psycopg.Connection]
) -> None:
    holder, watcher = connect(database.dsn), connect(database.dsn)
    holder.execute("SELECT ssb.create_queue('dbo.held'), ssb.create_service('h', 'dbo.held', '{DEFAULT}')")
    handle = holder.execute("SELECT ssb.begin_dialog('h', 'h')").fetchone()
    holder.execute("SELECT ssb.send(%s, 'DEFAULT', 'x'::text)", handle)
    locks = (
        "SELECT l.resource_type, l.request_mode, l.request_status, l.request_session_id,"
        " l.resource_description, l.resource_database_id FROM sys.dm_tran_locks AS l"
        " WHERE l.resource_subtype = 'CONVERSATION_GROUP'"
    )
    assert watcher.execute(locks).fetchall() == []
    for statement in (
        "SELECT ssb.get_conversation_group('dbo.held')",
        "SELECT * FROM ssb.receive('dbo.held')",
    ):
        with holder.transaction(force_rollback=True):
            holder.execute(statement)
            # The group of the message's reader: the target's side.
            group = holder.execute(
                "SELECT upper(replace(e.conversation_group_id::text, '-', '')), sys.db_id()"
                " FROM sys.conversation_endpoints AS e WHERE e.is_initiator = 0"
            ).fetchone()
            assert group is not None
            words = ":".join("0x" + group[0][start : start + 8] for start in (0, 8, 16))
            expected = [("METADATA", "X", "GRANT", holder.info.backend_pid, "$hash = " + words, group[1])]
            assert watcher.execute(locks).fetchall() == expected
            assert holder.execute(locks).fetchall() == expected
        assert watcher.execute(locks).fetchall() == []
    # So is one whose lock was taken, or whose row was changed, in a savepoint that has been released since.
    with holder.transaction(force_rollback=True):
        with holder.transaction():
            reader = holder.execute("SELECT conversation_handle FROM ssb.receive('dbo.held')").fetchone()
        assert {row[3] for row in watcher.execute(locks)} == {holder.info.backend_pid}
        with connect(database.dsn) as other:
            other.execute("SELECT pg_current_xact_id() FROM ssb.conversation_endpoint")
            assert {row[3] for row in watcher.execute(locks)} == {holder.info.backend_pid}
    with holder.transaction(force_rollback=True):
        holder.execute("SELECT ssb.get_conversation_group('dbo.held')")
        with holder.transaction():
            holder.execute("SELECT ssb.send(%s, 'DEFAULT', 'y'::text)", reader)
        assert {row[3] for row in watcher.execute(locks)} == {holder.info.backend_pid}
    # Whose it is is not said where it may be either's.
    with connect(database.dsn) as other, other.transaction(force_rollback=True):
        other.execute("SELECT ssb.begin_dialog('h', 'h')")
        with holder.transaction(force_rollback=True):
            holder.execute("SELECT pg_current_xact_id()")
            with holder.transaction():
                holder.execute("SELECT ssb.get_conversation_group('dbo.held')")
            assert {row[3] for row in watcher.execute(locks)} == {None}
    assert watcher.execute(locks).fetchall() == []
    # A group held in a savepoint is held; a SEND holds its own side's.
    with holder.transaction(force_rollback=True), holder.transaction():
        holder.execute("SELECT ssb.send(%s, 'DEFAULT', 'y'::text)", handle)
        assert {row[3] for row in watcher.execute(locks)} == {holder.info.backend_pid}
