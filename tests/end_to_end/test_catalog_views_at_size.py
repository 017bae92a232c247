"""What a catalog view costs grows as the objects do, not as their square.

Scripts that deploy and watch ask the catalog at every step. Measured is not time but what does
not vary: the pages that a statement looks at, those of the functions it calls included.
"""

from collections.abc import Callable

import psycopg
import pytest

from support import Database

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


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_four_times_the_objects_are_less_than_five_times_the_pages(
    databases: list[Database], query: str
) -> None:
    few, many = (pages(database, query) for database in databases)
    assert many < 5 * few
