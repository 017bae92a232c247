"""ALTER of a module that PostgreSQL makes anew leaves whose it is, who may use it and what is said of it."""
# ruff: noqa: E501 (queries are easier to read unbroken)

import psycopg
import pytest
from end_to_end.tsql import Tsql

from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from support import Database

MADE = """
CREATE TABLE t (a int, b int)
GO
CREATE PROCEDURE p @a int AS RETURN
GO
CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN 1 END
GO
CREATE FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT 1 AS one
GO
CREATE VIEW v AS SELECT a, b FROM t
GO
CREATE TRIGGER vi ON v INSTEAD OF INSERT AS INSERT t (a) SELECT a FROM inserted
GO
CREATE TRIGGER ti ON t AFTER INSERT AS PRINT 'first'
GO
EXEC sp_addextendedproperty 'says', 'p', 'SCHEMA', 'dbo', 'PROCEDURE', 'p'
EXEC sp_addextendedproperty 'says', 'v', 'SCHEMA', 'dbo', 'VIEW', 'v'
EXEC sp_addextendedproperty 'says', 'v.b', 'SCHEMA', 'dbo', 'VIEW', 'v', 'COLUMN', 'b'
"""
ALTERED = """
ALTER PROCEDURE P @a int, @more int = 1 AS RETURN
GO
CREATE OR ALTER FUNCTION f (@a int, @more int) RETURNS bigint AS BEGIN RETURN 2 END
GO
ALTER FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT 1 AS one, 2 AS two
GO
ALTER VIEW v AS SELECT a AS c, b, a FROM t
GO
ALTER TRIGGER ti ON t AFTER INSERT, UPDATE AS PRINT 'second'
GO
INSERT v (a) VALUES (1)
SELECT objtype, objname, value FROM fn_listextendedproperty('says', 'SCHEMA', 'dbo', 'PROCEDURE', 'p', NULL, NULL)
SELECT objname, value FROM fn_listextendedproperty('says', 'SCHEMA', 'dbo', 'VIEW', 'v', NULL, NULL)
SELECT objname, value FROM fn_listextendedproperty('says', 'SCHEMA', 'dbo', 'VIEW', 'v', 'COLUMN', 'b')
"""
SHOWN = """
SELECT array_agg(name || ' ' || owner || ' ' || acl || ' ' || comment ORDER BY name) FROM (
    SELECT proname::text, proowner::regrole::text, proacl::text,
           coalesce(ssb_internal.comment_without_name(obj_description(oid, 'pg_proc')), '')
      FROM pg_proc WHERE pronamespace = 'dbo'::regnamespace AND proname IN ('p', 'f', 'rows_of', 'ti')
    UNION ALL
    SELECT relname, relowner::regrole::text, relacl::text, obj_description(oid, 'pg_class')
      FROM pg_class WHERE oid = 'dbo.v'::regclass
    UNION ALL
    SELECT 'v.' || attname, '', attacl::text, col_description(attrelid, attnum)
      FROM pg_attribute WHERE attrelid = 'dbo.v'::regclass AND attacl IS NOT NULL) AS o (name, owner, acl, comment)
"""


@pytest.mark.one_postgres
def test_what_holds_of_a_module_outlives_its_alter(tsql: Tsql, database: Database) -> None:
    tsql.run_well(MADE)
    run = tsql.connection.execute
    run("CREATE ROLE module_owner; CREATE ROLE module_reader; GRANT CREATE ON SCHEMA dbo TO module_owner")
    try:
        for kind, name in (
            ("PROCEDURE", "p"),
            ("FUNCTION", "f"),
            ("FUNCTION", "rows_of"),
            ("FUNCTION", "ti"),
            ("VIEW", "v"),
        ):
            run(f"ALTER {kind} dbo.{name} OWNER TO module_owner".encode())
            run(f"COMMENT ON {kind} dbo.{name} IS 'Said of it.'".encode())
            if kind != "VIEW":
                run(f"REVOKE ALL ON {kind} dbo.{name} FROM PUBLIC".encode())
                run(f"GRANT EXECUTE ON {kind} dbo.{name} TO module_reader WITH GRANT OPTION".encode())
        run("GRANT INSERT ON dbo.v TO module_reader; GRANT SELECT (b) ON dbo.v TO module_reader")
        run("COMMENT ON COLUMN dbo.v.b IS 'Said of b.'")
        before = tsql.scalar(SHOWN)
        assert len(before) == 6
        tsql.run_well(ALTERED)
        assert tsql.scalar(SHOWN) == before
        assert tsql.prints == ["second"]
        assert tsql.results == [[["PROCEDURE", "p", "p"]], [["v", "v"]], [["b", "v.b"]]]
        # What is dropped and created is new.
        tsql.run_well("DROP PROCEDURE p\nGO\nCREATE PROCEDURE p @a int AS RETURN")
        assert tsql.scalar("SELECT proacl IS NULL FROM pg_proc WHERE proname = 'p'")
    finally:
        run("DROP OWNED BY module_owner, module_reader CASCADE; DROP ROLE module_owner, module_reader")


def test_what_is_made_anew_or_dropped_leaves_no_notice(database: Database) -> None:
    text = "CREATE TABLE t (a int)"
    for action in ("CREATE", "ALTER", "CREATE OR ALTER"):
        text += f"\nGO\n{action} TRIGGER tr ON t AFTER INSERT, UPDATE AS RETURN"
        text += f"\nGO\n{action} PROCEDURE p @a int AS DECLARE @t TABLE (a int)"
        text += f"\nGO\n{action} VIEW v AS SELECT a FROM t"
        text += f"\nGO\n{action} TRIGGER vi ON v INSTEAD OF INSERT AS RETURN"
    text += "\nGO\nDROP TRIGGER tr\nDROP VIEW v\nDROP PROCEDURE p\nDROP TABLE t"
    told: list[str | None] = []
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        connection.execute(compile_script(Source("a.sql", text)).text().encode())
    assert told == []
