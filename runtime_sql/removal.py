"""Takes the runtime out of a database, and renders that as text for people who apply it themselves."""

from typing import Any

import psycopg

from .installer import EXTENSION_NAME, NO_TIMEOUTS, PATH, PATH_BACK, TAKE_LOCK, has_tables

_DEPENDENTS = """\
WITH ours (class, number) AS (
    SELECT 'pg_proc'::regclass, p.oid FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys')
    UNION ALL
    SELECT 'pg_class', c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys')
        OR EXISTS (SELECT FROM ssb.queue AS q WHERE q.schema_name = n.nspname AND q.relation_name = c.relname)
    UNION ALL
    SELECT 'pg_type', t.oid FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
      LEFT JOIN pg_type AS e ON e.oid = t.typelem
     WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys')
       AND 'd' NOT IN (t.typtype, coalesce(e.typtype, t.typtype))
)
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid)
  FROM ours AS o
  JOIN pg_depend AS d ON d.refclassid = o.class AND d.refobjid = o.number AND d.deptype = 'n'
  LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
  LEFT JOIN pg_attrdef AS f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
  LEFT JOIN pg_trigger AS t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
  LEFT JOIN pg_constraint AS k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
  LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
  LEFT JOIN pg_class AS c ON c.oid = CASE d.classid WHEN 'pg_class'::regclass THEN d.objid
                                          ELSE coalesce(r.ev_class, f.adrelid, t.tgrelid) END
  JOIN pg_namespace AS n ON n.oid = coalesce(c.relnamespace, k.connamespace, p.pronamespace)
 WHERE n.nspname NOT IN ('ssb', 'ssb_internal', 'sys', 'ssb_staging', 'ssb_locks')
   AND n.nspname !~ '^pg_(temp|toast)'
   AND NOT EXISTS (SELECT FROM ours AS x WHERE x.class = 'pg_class'::regclass AND x.number = c.oid)
 ORDER BY 1
"""

# A dump that was restored without its data leaves tables and functions that name no runtime: they go, too.
_REMOVE = f"""\
DO $$
DECLARE
    v_ours CONSTANT name[] := '{{ssb,ssb_internal,sys,ssb_staging,ssb_locks}}';
    v_schemas text[];
    v_names text[];
    v_one record;
    v_schema text;
    v_name text;
    v_number integer;
BEGIN
    IF to_regclass('ssb.runtime_version') IS NULL THEN
        RETURN;
    END IF;
    SELECT array_agg(s.name) INTO v_schemas FROM ssb.schema_of_database AS s;
    SELECT array_agg(format('%I.%I', q.schema_name, q.relation_name)) INTO v_names FROM ssb.queue AS q;
    FOREACH v_name IN ARRAY coalesce(v_names, '{{}}') LOOP
        EXECUTE format('DROP VIEW IF EXISTS %s CASCADE', v_name);
    END LOOP;

    -- Where CREATE EXTENSION made the runtime, DROP EXTENSION must not drop the schema dbo, with every table
    -- in it, nor the domains that columns have.
    SELECT array_agg(format('%s %s', CASE WHEN t.oid IS NULL THEN 'SCHEMA' ELSE 'DOMAIN' END, o.identity))
      INTO v_names
      FROM pg_extension AS e
      JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
       AND d.deptype = 'e'
      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid AND t.typtype = 'd'
      LEFT JOIN pg_namespace AS n ON d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
       AND n.nspname <> ALL (v_ours)
     CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS o
     WHERE e.extname = '{EXTENSION_NAME}' AND coalesce(t.oid, n.oid) IS NOT NULL;
    FOREACH v_name IN ARRAY coalesce(v_names, '{{}}') LOOP
        -- The identity is quoted by PostgreSQL.
        EXECUTE format('ALTER EXTENSION {EXTENSION_NAME} DROP %s', v_name);
    END LOOP;

    -- DROP SCHEMA with CASCADE would drop the columns outside that have the domains (bit, xml), with what is
    -- in them, and the types and routines: domains move to a schema where they may go on.
    FOR v_one IN
        SELECT u.* FROM (
            SELECT o.nspname, y.typname,
                   (SELECT array_agg(DISTINCT n.nspname ORDER BY n.nspname)
                      FROM pg_depend AS d
                      LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
                      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
                      LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
                      JOIN pg_namespace AS n
                        ON n.oid = coalesce(c.relnamespace, t.typnamespace, p.pronamespace)
                     WHERE d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
                       AND d.deptype = 'n' AND n.nspname <> ALL (v_ours)
                       AND n.nspname !~ '^pg_(temp|toast)') AS users
              FROM pg_type AS y JOIN pg_namespace AS o ON o.oid = y.typnamespace
             WHERE o.nspname IN ('ssb', 'ssb_internal', 'sys') AND y.typtype = 'd'
        ) AS u WHERE u.users IS NOT NULL
    LOOP
        -- Where T-SQL's tables are, if they use it.
        v_schema := CASE WHEN 'dbo' = ANY (v_one.users) THEN 'dbo' ELSE v_one.users[1] END;
        v_number := 1;
        v_name := v_one.typname;
        WHILE to_regtype(format('%I.%I', v_schema, v_name)) IS NOT NULL LOOP
            v_number := v_number + 1;
            v_name := format('%s_%s', left(v_one.typname, 50), v_number);
        END LOOP;
        IF v_name <> v_one.typname THEN
            EXECUTE format('ALTER DOMAIN %I.%I RENAME TO %I', v_one.nspname, v_one.typname, v_name);
        END IF;
        EXECUTE format('ALTER DOMAIN %I.%I SET SCHEMA %I', v_one.nspname, v_name, v_schema);
    END LOOP;

    DROP EXTENSION IF EXISTS {EXTENSION_NAME} CASCADE;
    DROP SCHEMA IF EXISTS ssb, ssb_internal, sys, ssb_staging, ssb_locks CASCADE;

    -- Schemas that CREATE DATABASE or CREATE SCHEMA made, where they are empty.
    FOREACH v_schema IN ARRAY coalesce(v_schemas, '{{}}') LOOP
        IF NOT EXISTS (SELECT FROM pg_depend AS d
                        WHERE d.refclassid = 'pg_namespace'::regclass
                          AND d.refobjid = to_regnamespace(quote_ident(v_schema))) THEN
            EXECUTE format('DROP SCHEMA IF EXISTS %I', v_schema);
        END IF;
    END LOOP;
END;
$$;
"""

_SCRIPT = f"""\
SET LOCAL client_min_messages = warning;
{PATH}
{TAKE_LOCK}
{_REMOVE}
{PATH_BACK}"""


def dependents(connection: psycopg.Connection[Any]) -> list[str]:
    """What `uninstall` takes along outside the runtime's schemas, each in PostgreSQL's words.

    Compiled procedures, and views, defaults, constraints and triggers that call the runtime's functions.
    """
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        return [row[0] for row in cursor.execute(_DEPENDENTS)] if has_tables(connection) else []


def uninstall(connection: psycopg.Connection[Any]) -> None:
    """Remove the runtime with all queues, dialogs and messages. Tables stay with all their rows and columns.

    What `dependents` names goes too. The types bit and xml of columns move to those tables' schema.
    Schemas that CREATE DATABASE or CREATE SCHEMA made are dropped where they are empty.
    """
    with connection.transaction():
        connection.execute(NO_TIMEOUTS)
        connection.execute(_SCRIPT.encode())


def uninstall_sql() -> str:
    """What `uninstall` does, as one psql-ready transaction."""
    return f"BEGIN;\nSET LOCAL client_encoding = 'UTF8';\n{_SCRIPT}COMMIT;\n"
