"""What a catalog view costs grows as the objects do, not as their square.

Scripts that deploy and watch ask the catalog at every step. Measured is not time but what does
not vary: the pages that a statement looks at, those of the functions it calls included, and the pairs of
rows that a join looks at in vain.
"""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support import Database, rest_is_long

FEW, MANY = 30, 120
QUERIES = {
    "modules by their text": "sys.sql_modules AS m JOIN sys.objects AS o ON o.object_id = m.object_id"
    " WHERE m.definition LIKE '%SEND ON%'",
    "objects by OBJECT_NAME": "sys.objects AS o WHERE sys.object_name(o.object_id) = 'Table8'",
    "objects by OBJECTPROPERTY": "sys.objects AS o WHERE sys.objectproperty(o.object_id, 'IsProcedure') = 1",
    "columns with their types": "sys.tables AS t JOIN sys.columns AS c ON c.object_id = t.object_id"
    " JOIN sys.types AS y ON y.user_type_id = c.user_type_id"
    " JOIN sys.schemas AS s ON s.schema_id = t.schema_id",
    "information_schema": "sys.information_schema_columns AS c WHERE c.table_name = 'Table9'",
    "constraints": "sys.foreign_keys AS f"
    " JOIN sys.foreign_key_columns AS k ON k.constraint_object_id = f.object_id"
    " JOIN sys.columns AS c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id",
    "defaults": "sys.default_constraints AS d JOIN sys.columns AS c ON c.object_id = d.parent_object_id"
    " AND c.column_id = d.parent_column_id JOIN sys.tables AS t ON t.object_id = d.parent_object_id",
    "keys": "sys.key_constraints AS k JOIN sys.tables AS t ON t.object_id = k.parent_object_id",
    "indexes": "sys.indexes AS i"
    " JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id"
    " JOIN sys.tables AS t ON t.object_id = i.object_id",
    "identity columns": "sys.identity_columns AS i JOIN sys.tables AS t ON t.object_id = i.object_id",
    "parameters": "sys.procedures AS p JOIN sys.parameters AS a ON a.object_id = p.object_id",
    "rows of tables": "sys.partitions AS p JOIN sys.objects AS o ON o.object_id = p.object_id"
    " WHERE o.type = 'U'",
    "extended properties": "sys.fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'TABLE', NULL, NULL, NULL)",
}
# Each as `pgsb run` would make it: with a comment that keeps the spelling.
TABLES = """
DO $$
BEGIN
    FOR i IN 1 .. %s LOOP
        EXECUTE format('CREATE TABLE dbo.table%%1$s ('
                       ' id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_table%%1$s PRIMARY KEY,'
                       ' parent integer CONSTRAINT fk_table%%1$s REFERENCES dbo.table%%2$s,'
                       ' state smallint DEFAULT 0 CONSTRAINT ck_table%%1$s CHECK (state < 10),'
                       ' name varchar(50))', i, greatest(i - 1, 1));
        EXECUTE format('CREATE INDEX table%%1$s__by_name ON dbo.table%%1$s (name)', i);
        EXECUTE format('COMMENT ON TABLE dbo.table%%1$s IS ''T-SQL name: Table%%1$s''', i);
        EXECUTE format('CREATE PROCEDURE dbo.get%%1$s(id integer) LANGUAGE sql AS ''SELECT 1''', i);
        EXECUTE format('COMMENT ON PROCEDURE dbo.get%%1$s IS ''T-SQL name: Get%%1$s''', i);
        PERFORM sys.change_extended_property('ADD', 'MS_Description', 'x', 'SCHEMA', 'dbo',
                                             'TABLE', 'Table' || i);
    END LOOP;
END $$
"""


@pytest.fixture(scope="module")
def databases(new_database: Callable[..., Database]) -> list[Database]:
    """One with few objects, and one with four times as many."""
    made = [new_database(), new_database()]
    for database, tables in zip(made, (FEW, MANY), strict=True):
        with psycopg.connect(database.dsn, autocommit=True) as connection:
            connection.execute((TABLES % tables).encode())
    return made


def pages(database: Database, query: str) -> int:
    """How many pages the second run of the query looks at: the first one fills the caches."""
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT count(*) FROM {query}".encode()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(explain)
        found = connection.execute(explain).fetchone()
    assert found is not None
    plan = found[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


# A function is called for each object: three quarters of a second of a processor and more.
_CALLING = ("modules by their text", "objects by OBJECT_NAME", "objects by OBJECTPROPERTY")


@pytest.mark.parametrize(
    "query",
    rest_is_long(QUERIES.values(), *(query for name, query in QUERIES.items() if name not in _CALLING)),
    ids=QUERIES.keys(),
)
def test_four_times_the_objects_are_less_than_five_times_the_pages(
    databases: list[Database], query: str
) -> None:
    few, many = (pages(database, query) for database in databases)
    assert many < 5 * few


# What administrators ask about conversations. The planner knows nothing of tables that were never analyzed.
DIALOGS = 400
PAIRS = (
    "sys.conversation_endpoints AS i"
    " JOIN sys.conversation_endpoints AS t ON t.conversation_id = i.conversation_id"
)
SERVICES = "sys.conversation_endpoints AS e JOIN sys.services AS s ON s.service_id = e.service_id"
JOINS = {
    "both sides": f"{PAIRS} AND i.is_initiator = 1 AND t.is_initiator = 0",
    "both sides by state": f"{PAIRS} AND t.is_initiator <> i.is_initiator"
    " WHERE i.state = 'CO' AND t.state = 'CO'",
    "targets alone": "sys.conversation_endpoints AS t WHERE t.is_initiator = 0 AND NOT EXISTS"
    " (SELECT FROM sys.conversation_endpoints AS i"
    " WHERE i.conversation_id = t.conversation_id AND i.is_initiator = 1)",
    "with services": f"{SERVICES} WHERE e.state <> 'CD'",
    "with services, queues, contracts and the other side": f"{SERVICES}"
    " JOIN sys.service_queues AS q ON q.object_id = s.service_queue_id"
    " JOIN sys.service_contracts AS c ON c.service_contract_id = e.service_contract_id"
    " LEFT JOIN sys.conversation_endpoints AS t ON t.conversation_id = e.conversation_id"
    " AND t.is_initiator = 0 WHERE e.is_initiator = 1",
    "what waits": "sys.transmission_queue AS w JOIN sys.conversation_endpoints AS e"
    " ON e.conversation_handle = w.conversation_handle WHERE e.state_desc = 'CONVERSING'",
}


@pytest.fixture(scope="module")
def conversations(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("ALTER TABLE ssb.conversation_endpoint SET (autovacuum_enabled = false)")
        connection.execute("ALTER TABLE ssb.transmission SET (autovacuum_enabled = false)")
        connection.execute(
            "SELECT ssb.create_queue('dbo.q' || n), ssb.create_service('//S' || n, 'dbo.q' || n, '{DEFAULT}')"
            " FROM generate_series(1, 100) AS n"
        )
        connection.execute(
            "SELECT ssb.send(ssb.begin_dialog('//S' || 1 + n %% 100, t.to_service), body => 'x')"
            " FROM generate_series(1, %s) AS n CROSS JOIN (VALUES ('//S7'), ('//Absent')) AS t (to_service)",
            (DIALOGS,),
        )
    return database


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


@pytest.mark.parametrize("query", JOINS.values(), ids=JOINS.keys())
def test_conversations_are_not_joined_row_by_row(conversations: Database, query: str) -> None:
    with psycopg.connect(conversations.dsn, autocommit=True) as connection:
        found = connection.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM {query}".encode()
        ).fetchone()
    assert found is not None
    in_vain = sum(
        node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"]
        for node in nodes(found[0][0]["Plan"])
    )
    assert in_vain < 10 * DIALOGS


@pytest.mark.parametrize(
    "query",
    [
        "sys.conversation_endpoints WHERE conversation_handle = %s AND state = 'CO'",
        "(VALUES (%s::uuid)) AS h (handle) JOIN sys.conversation_endpoints AS e"
        " ON e.conversation_handle = h.handle AND e.is_initiator = 1",
        "sys.transmission_queue WHERE conversation_handle = %s",
    ],
)
def test_a_conversation_is_found_by_its_handle(conversations: Database, query: str) -> None:
    with psycopg.connect(conversations.dsn, autocommit=True) as connection:
        handle = connection.execute("SELECT conversation_handle FROM ssb.conversation_endpoint").fetchone()
        found = connection.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {query}".encode(), handle).fetchone()
    assert found is not None
    used = {node.get("Index Name") for node in nodes(found[0][0]["Plan"])}
    assert "conversation_endpoint_by_handle" in used


def test_cleaning_up_looks_at_one_conversation(conversations: Database) -> None:
    with psycopg.connect(conversations.dsn) as connection:
        connection.execute(
            "INSERT INTO ssb.conversation_endpoint SELECT many.*"
            "  FROM ssb.conversation_endpoint AS e CROSS JOIN generate_series(1000000, 1009999) AS id"
            " CROSS JOIN jsonb_populate_record(e, jsonb_build_object('endpoint_id', id, 'lock_id', id,"
            "                                 'conversation_handle', gen_random_uuid())) AS many"
            " WHERE e.endpoint_id = 1"
        )
        handles = connection.execute("SELECT conversation_handle FROM ssb.conversation_endpoint LIMIT 2")
        for (handle,) in handles.fetchall():  # the first one fills the caches
            found = connection.execute(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT ssb.end_conversation(%s, cleanup => true)",
                (handle,),
            ).fetchone()
        connection.rollback()
    assert found is not None
    assert found[0][0]["Plan"]["Shared Hit Blocks"] < DIALOGS / 2
