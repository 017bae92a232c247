-- Synonyms are views (names/synonyms.sql): the comment on one tells what it stands for.
CREATE OR REPLACE VIEW ssb_internal.synonym AS
SELECT d.objoid AS oid, substr(t.text, length('synonym for ') + 1) AS target
  FROM pg_description AS d
 CROSS JOIN LATERAL (SELECT ssb_internal.comment_without_name(d.description) AS text) AS t
-- Anybody may write such a comment on what is his: what names no relation of a schema is none, else it would be an error for all.
 WHERE d.classoid = 'pg_class'::regclass AND d.objsubid = 0 AND starts_with(t.text, 'synonym for ')
   -- Asked first, for it costs nothing: each of the runtime's views has a comment.
   AND strpos(d.description, 'synonym for ') > 0
   AND t.text ~ '^synonym for ("([^"]|"")+"|[a-z_]\w*)\.("([^"]|"")+"|[a-z_]\w*)$'
   AND EXISTS (SELECT FROM pg_class AS c WHERE c.oid = d.objoid AND c.relkind = 'v');
GRANT SELECT ON ssb_internal.synonym TO PUBLIC;

-- The services that each database of SQL Server's has, with their queues and numbers, and the contract of each. Here nobody sends to
-- them, so there is no queue behind: they are for scripts that look for, or leave out, what the system brings
-- (is_ms_shipped, service_id > 65535).
CREATE OR REPLACE VIEW ssb_internal.system_service AS
SELECT s.service_id, s.name, s.queue_id, s.queue_name, s.contract_ids
  FROM (VALUES (1, 'http://schemas.microsoft.com/SQL/Notifications/QueryNotificationService', 1977058079, 'QueryNotificationErrorsQueue', '{7}'::integer[]),
               (2, 'http://schemas.microsoft.com/SQL/Notifications/EventNotificationService', 2009058193, 'EventNotificationErrorsQueue', '{8}'),
               (3, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceBroker', 2041058307, 'ServiceBrokerQueue', '{2,3}'))
       AS s (service_id, name, queue_id, queue_name, contract_ids);
GRANT SELECT ON ssb_internal.system_service TO PUBLIC;

-- The system tables that SQL Server keeps conversations in, with their numbers there. Nobody reads them, not even in SQL Server
-- without a connection of its own; scripts that watch a broker take their rows from sys.partitions (catalog_views/storage.sql).
CREATE OR REPLACE VIEW ssb_internal.system_table AS
SELECT t.object_id, t.name
  FROM (VALUES (68, 'sysxmitqueue'), (71, 'sysconvgroup'), (72, 'sysdesend'), (73, 'sysdercv')) AS t (object_id, name);
GRANT SELECT ON ssb_internal.system_table TO PUBLIC;

-- What sys.objects calls a routine, by pg_proc's columns.
CREATE OR REPLACE FUNCTION ssb_internal.routine_type(p_kind "char", p_returns_rows boolean, p_language oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN p_kind = 'p' THEN 'P' WHEN p_kind = 'a' THEN 'AF' WHEN NOT p_returns_rows THEN 'FN'
            WHEN p_language = (SELECT l.oid FROM pg_language AS l WHERE l.lanname = 'sql') THEN 'IF' ELSE 'TF' END;

-- The views have an order, by what SQL Server's clustered indexes have: a view with one is sorted once, whatever it is joined
-- to, and a condition is still asked inside it. Without it PostgreSQL reads a view anew for each row of another one where it
-- takes those for one row, as it does with joins by two columns. And scripts list a table's columns without ORDER BY.
--
-- sys.objects and its relatives, enough for scripts that ask what exists: queues
-- from our catalog, everything else from PostgreSQL's. Tables and procedures have
-- folded names there; queues keep their spelling.

CREATE OR REPLACE VIEW ssb_internal.queue_object AS
SELECT q.spelling COLLATE "C" AS name, q.queue_id AS object_id, ssb_internal.principal_id_of(q.owner, q.database_id) AS principal_id,
       v.schema_id, 0 AS parent_object_id, 'SQ'::bpchar AS type, 'SERVICE_QUEUE'::text AS type_desc,
       q.create_date::timestamp(3)::timestamp AS create_date, q.modify_date::timestamp(3)::timestamp AS modify_date,
       0::sys.bit AS is_ms_shipped, 0::sys.bit AS is_published, 0::sys.bit AS is_schema_published
  FROM ssb.queue AS q JOIN ssb_internal.visible_schema AS v ON v.postgres_name = q.schema_name;

CREATE OR REPLACE VIEW ssb_internal.system_queue_object AS
SELECT s.queue_name COLLATE "C" AS name, s.queue_id AS object_id, NULL::integer AS principal_id, 1 AS schema_id, 0 AS parent_object_id,
       'SQ'::bpchar AS type, 'SERVICE_QUEUE'::text AS type_desc, r.installed_at::timestamp(3)::timestamp AS create_date,
       r.installed_at::timestamp(3)::timestamp AS modify_date, 1::sys.bit AS is_ms_shipped, 0::sys.bit AS is_published, 0::sys.bit AS is_schema_published
  FROM ssb_internal.system_service AS s CROSS JOIN ssb.runtime_version AS r;

-- The constraints but defaults, with what sys.objects tells of each. The views of constraints take it from here: a join of
-- sys.objects, of all kinds, with pg_constraint is one that the planner takes for a row.
CREATE OR REPLACE VIEW ssb_internal.constraint_object AS
SELECT ssb_internal.spelled(obj_description(k.oid, 'pg_constraint'), k.conname::text) COLLATE "C" AS name, k.oid::integer AS object_id,
       NULL::integer AS principal_id, v.schema_id, k.conrelid::integer AS parent_object_id,
       CASE r.kind WHEN 'p' THEN 'PK' WHEN 'u' THEN 'UQ' WHEN 'f' THEN 'F' ELSE 'C' END::bpchar AS type,
       CASE r.kind WHEN 'p' THEN 'PRIMARY_KEY_CONSTRAINT' WHEN 'u' THEN 'UNIQUE_CONSTRAINT'
                   WHEN 'f' THEN 'FOREIGN_KEY_CONSTRAINT' ELSE 'CHECK_CONSTRAINT' END AS type_desc,
       NULL::timestamp AS create_date, NULL::timestamp AS modify_date,
       0::sys.bit AS is_ms_shipped, 0::sys.bit AS is_published, 0::sys.bit AS is_schema_published, k.oid
  FROM pg_constraint AS k JOIN ssb_internal.visible_schema AS v ON v.oid = k.connamespace
 CROSS JOIN LATERAL (SELECT CASE WHEN k.contype = 'c' AND starts_with(ssb_internal.definition_switched_off(k.oid), 'FOREIGN KEY ')
                                 THEN 'f' ELSE k.contype END AS kind) AS r
 WHERE k.connamespace = ANY ((SELECT ssb_internal.visible_namespaces())::oid[]) AND k.contype IN ('p', 'u', 'f', 'c');

CREATE OR REPLACE VIEW sys.objects AS
SELECT o.* FROM ssb_internal.queue_object AS o
UNION ALL
SELECT o.* FROM ssb_internal.system_queue_object AS o
UNION ALL
SELECT t.name, t.object_id, NULL, 4, 0, 'S', 'SYSTEM_TABLE', r.installed_at::timestamp(3), r.installed_at::timestamp(3),
       1::sys.bit, 0::sys.bit, 0::sys.bit
  FROM ssb_internal.system_table AS t CROSS JOIN ssb.runtime_version AS r
UNION ALL
-- The internal table that a queue's messages lie in (catalog_views/storage.sql): its number is the queue's, negative.
SELECT 'queue_messages_' || q.queue_id, -q.queue_id, NULL, 4, q.queue_id, 'IT', 'INTERNAL_TABLE',
       q.create_date::timestamp(3), q.modify_date::timestamp(3), 0::sys.bit, 0::sys.bit, 0::sys.bit
  FROM ssb.queue AS q JOIN ssb_internal.visible_schema AS v ON v.postgres_name = q.schema_name
UNION ALL
-- Comments by a join: who asks for a name would otherwise wait for a look for that of each of thousands of queues.
SELECT CASE WHEN starts_with(m.description, 'T-SQL name: ') THEN ssb_internal.spelled(m.description, c.relname::text)
            ELSE c.relname::text END,
       c.oid::integer, NULL, v.schema_id, 0,
       CASE WHEN s.target IS NOT NULL THEN 'SN' WHEN c.relkind IN ('v', 'm') THEN 'V' WHEN c.relkind = 'S' THEN 'SO' ELSE 'U' END,
       CASE WHEN s.target IS NOT NULL THEN 'SYNONYM' WHEN c.relkind IN ('v', 'm') THEN 'VIEW'
            WHEN c.relkind = 'S' THEN 'SEQUENCE_OBJECT' ELSE 'USER_TABLE' END,
       NULL, NULL, 0::sys.bit, 0::sys.bit, 0::sys.bit
  FROM pg_class AS c JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
  LEFT JOIN pg_description AS m ON m.objoid = c.oid AND m.classoid = 'pg_class'::regclass AND m.objsubid = 0
  LEFT JOIN ssb_internal.synonym AS s ON s.oid = c.oid
 WHERE c.relnamespace = ANY ((SELECT ssb_internal.visible_namespaces())::oid[])
   AND (c.relkind IN ('r', 'p', 'f', 'v', 'm') AND (c.relkind <> 'v' OR c.relname NOT LIKE '%@row')
        AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.schema_name = v.postgres_name AND q.relation_name = c.relname)
        OR c.relkind = 'S' AND NOT EXISTS (SELECT FROM pg_depend AS d
                                            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')))
   -- What belongs to an extension of PostgreSQL is nobody's here.
   AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
UNION ALL
SELECT ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname::text), p.oid::integer, NULL, v.schema_id, 0,
       k.type, CASE k.type WHEN 'P' THEN 'SQL_STORED_PROCEDURE' WHEN 'AF' THEN 'AGGREGATE_FUNCTION' WHEN 'FN' THEN 'SQL_SCALAR_FUNCTION'
                           WHEN 'IF' THEN 'SQL_INLINE_TABLE_VALUED_FUNCTION' ELSE 'SQL_TABLE_VALUED_FUNCTION' END,
       NULL, NULL, 0::sys.bit, 0::sys.bit, 0::sys.bit
  FROM pg_proc AS p JOIN ssb_internal.visible_schema AS v ON v.oid = p.pronamespace
 CROSS JOIN LATERAL (SELECT ssb_internal.routine_type(p.prokind, p.proretset, p.prolang) AS type) AS k
 WHERE p.pronamespace = ANY ((SELECT ssb_internal.visible_namespaces())::oid[])
   AND p.prorettype <> 'trigger'::regtype AND NOT (p.prorettype = 'void'::regtype AND p.proname ~ '@(database|server)$')
   AND NOT (p.prokind = 'p' AND p.proname ~ '^ssb_dropped_\d+$')  -- ssb_internal.drop_routine
   AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e')
UNION ALL
SELECT ssb_internal.spelled(obj_description(t.tgfoid, 'pg_proc'), t.tgname::text), t.oid::integer, NULL, v.schema_id, t.tgrelid::integer, 'TR', 'SQL_TRIGGER',
       NULL, NULL, 0::sys.bit, 0::sys.bit, 0::sys.bit
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
 WHERE NOT t.tgisinternal AND ssb_internal.without_part(t.tgname) = t.tgname AND NOT ssb_internal.is_runtime_function(t.tgfoid)
UNION ALL
SELECT k.name, k.object_id, k.principal_id, k.schema_id, k.parent_object_id, k.type, k.type_desc, k.create_date, k.modify_date,
       k.is_ms_shipped, k.is_published, k.is_schema_published
  FROM ssb_internal.constraint_object AS k
UNION ALL
SELECT d.spelling, d.oid::integer, NULL, v.schema_id, d.relation::integer, 'D', 'DEFAULT_CONSTRAINT', NULL, NULL, 0::sys.bit, 0::sys.bit, 0::sys.bit
  FROM ssb_internal.column_default AS d JOIN ssb_internal.visible_schema AS v ON v.oid = d.namespace
 ORDER BY 2;

-- Those of the system: scripts count on there being thousands (SELECT TOP (1000) ROW_NUMBER() …), and ask for a view or a column
-- of one before they read it.
CREATE OR REPLACE VIEW sys.system_objects AS
SELECT r.*
  FROM (SELECT CASE WHEN i.is_one THEN upper(substr(c.relname, 20)) ELSE c.relname::text END AS name, c.oid::integer AS object_id,
               CASE WHEN i.is_one THEN 3 ELSE 4 END AS schema_id, 0 AS parent_object_id,
               CASE c.relkind WHEN 'v' THEN 'V' ELSE 'S' END AS type,
               CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'SYSTEM_TABLE' END AS type_desc,
               1 AS is_ms_shipped, 0 AS is_published, 0 AS is_schema_published
          FROM pg_class AS c
         CROSS JOIN LATERAL (SELECT c.relnamespace = 'sys'::regnamespace AND starts_with(c.relname, 'information_schema_') AS is_one) AS i
         WHERE c.relnamespace IN ('sys'::regnamespace, 'pg_catalog'::regnamespace) AND c.relkind IN ('r', 'v')
        UNION ALL
        SELECT p.proname::text, p.oid::integer, 4, 0, 'FN', 'SQL_SCALAR_FUNCTION', 1, 0, 0
          FROM pg_proc AS p
         WHERE p.pronamespace IN ('sys'::regnamespace, 'pg_catalog'::regnamespace)) AS s
 CROSS JOIN LATERAL jsonb_populate_record(NULL::sys.objects, to_jsonb(s)) AS r;

CREATE OR REPLACE VIEW sys.all_objects AS
SELECT o.* FROM sys.objects AS o UNION ALL SELECT s.* FROM sys.system_objects AS s;

-- What PostgreSQL has not (replication of SQL Server's kind, FILESTREAM, temporal tables …) is never set.
CREATE OR REPLACE VIEW sys.tables AS
SELECT o.*, NULL::integer AS lob_data_space_id, NULL::integer AS filestream_data_space_id,
       (SELECT c.relnatts FROM pg_class AS c WHERE c.oid = o.object_id::oid)::integer AS max_column_id_used,
       0::sys.bit AS lock_on_bulk_load, 1::sys.bit AS uses_ansi_nulls, 0::sys.bit AS is_replicated,
       0::sys.bit AS has_replication_filter, 0::sys.bit AS is_merge_published, 0::sys.bit AS is_sync_tran_subscribed,
       0::sys.bit AS has_unchecked_assembly_data, 0 AS text_in_row_limit, 0::sys.bit AS large_value_types_out_of_row,
       0::sys.bit AS is_tracked_by_cdc, 0::smallint AS lock_escalation, 'TABLE'::text AS lock_escalation_desc,
       0::sys.bit AS is_filetable, 0::sys.bit AS is_memory_optimized, 0::smallint AS durability,
       'SCHEMA_AND_DATA'::text AS durability_desc,
       (CASE WHEN p.history IS NOT NULL THEN 2 WHEN h.relation IS NOT NULL THEN 1 ELSE 0 END)::smallint AS temporal_type,
       CASE WHEN p.history IS NOT NULL THEN 'SYSTEM_VERSIONED_TEMPORAL_TABLE' WHEN h.relation IS NOT NULL THEN 'HISTORY_TABLE'
            ELSE 'NON_TEMPORAL_TABLE' END AS temporal_type_desc,
       p.history::oid::integer AS history_table_id, 0::sys.bit AS is_remote_data_archive_enabled, 0::sys.bit AS is_external,
       0::sys.bit AS is_node, 0::sys.bit AS is_edge
  FROM sys.objects AS o
  LEFT JOIN ssb_internal.system_period AS p ON p.relation = o.object_id::oid
  LEFT JOIN ssb_internal.system_period AS h ON h.history = o.object_id::oid
 WHERE o.type = 'U';

CREATE OR REPLACE VIEW sys.periods AS
SELECT 'SYSTEM_TIME'::text AS name, 1 AS period_type, 'SYSTEM_TIME_PERIOD'::text AS period_type_desc,
       p.relation::integer AS object_id, s.attnum::integer AS start_column_id, e.attnum::integer AS end_column_id
  FROM ssb_internal.system_period AS p
  JOIN sys.objects AS o ON o.object_id = p.relation::integer
  JOIN pg_attribute AS s ON s.attrelid = p.relation AND s.attname = p.start_column
  JOIN pg_attribute AS e ON e.attrelid = p.relation AND e.attname = p.end_column;

CREATE OR REPLACE VIEW sys.views AS
SELECT o.*, 0::sys.bit AS is_replicated, 0::sys.bit AS has_replication_filter, 0::sys.bit AS has_opaque_metadata,
       0::sys.bit AS has_unchecked_assembly_data,
       coalesce((SELECT array_to_string(c.reloptions, ',') LIKE '%check_option=%' FROM pg_class AS c WHERE c.oid = o.object_id::oid),
                false)::integer::sys.bit AS with_check_option,
       0::sys.bit AS is_date_correlation_view, 0::sys.bit AS is_tracked_by_cdc
  FROM sys.objects AS o WHERE o.type = 'V';

CREATE OR REPLACE VIEW sys.procedures AS
SELECT o.*, 0::sys.bit AS is_auto_executed, 0::sys.bit AS is_execution_replicated, 0::sys.bit AS is_repl_serializable_only,
       0::sys.bit AS skips_repl_constraints
  FROM sys.objects AS o WHERE o.type = 'P';

CREATE OR REPLACE VIEW sys.triggers AS
SELECT ssb_internal.spelled(obj_description(t.tgfoid, 'pg_proc'), t.tgname::text) AS name, t.oid::integer AS object_id, 1::smallint AS parent_class, 'OBJECT_OR_COLUMN'::text AS parent_class_desc,
       t.tgrelid::integer AS parent_id, 'TR'::char(2) AS type, 'SQL_TRIGGER'::text AS type_desc,
       NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date, 0::sys.bit AS is_ms_shipped,
       (t.tgenabled = 'D')::integer::sys.bit AS is_disabled, 0::sys.bit AS is_not_for_replication, (EXISTS (SELECT FROM pg_trigger AS r WHERE r.tgrelid = t.tgrelid AND ssb_internal.stem(r.tgname) = ssb_internal.stem(t.tgname) AND r.tgname LIKE '%@rows'))::integer::sys.bit AS is_instead_of_trigger
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
 WHERE NOT t.tgisinternal AND ssb_internal.without_part(t.tgname) = t.tgname AND NOT ssb_internal.is_runtime_function(t.tgfoid)
UNION ALL
SELECT d.name, d.trigger_id, 0::smallint, 'DATABASE', 0, 'TR'::char(2), 'SQL_TRIGGER', d.create_date::timestamp(3), d.create_date::timestamp(3),
       0::sys.bit, d.is_disabled::integer::sys.bit, 0::sys.bit, 0::sys.bit
  FROM ssb.ddl_trigger AS d WHERE d.scope = 'DATABASE' AND d.database_id = (SELECT ssb_internal.current_database_id())
 ORDER BY 2;

CREATE OR REPLACE VIEW sys.server_triggers AS
SELECT d.name, d.trigger_id AS object_id, 100::smallint AS parent_class, 'SERVER'::text AS parent_class_desc, 0 AS parent_id,
       'TR'::char(2) AS type, 'SQL_TRIGGER'::text AS type_desc, d.create_date::timestamp(3) AS create_date,
       d.create_date::timestamp(3) AS modify_date, 0::sys.bit AS is_ms_shipped, d.is_disabled::integer::sys.bit AS is_disabled
  FROM ssb.ddl_trigger AS d WHERE d.scope = 'SERVER';

-- The T-SQL type that a PostgreSQL one stands for, and its number in sys.types.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_type(p_type oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE format_type(p_type, NULL)
        WHEN 'integer' THEN 'int' WHEN 'bigint' THEN 'bigint' WHEN 'smallint' THEN 'smallint' WHEN 'boolean' THEN 'bit'
        WHEN 'sys."bit"' THEN 'bit' WHEN 'numeric' THEN 'numeric' WHEN 'double precision' THEN 'float' WHEN 'real' THEN 'real'
        WHEN 'character varying' THEN 'nvarchar' WHEN 'text' THEN 'nvarchar' WHEN 'character' THEN 'nchar'
        WHEN 'bytea' THEN 'varbinary' WHEN 'uuid' THEN 'uniqueidentifier' WHEN 'date' THEN 'date'
        WHEN 'timestamp without time zone' THEN 'datetime2' WHEN 'timestamp with time zone' THEN 'datetimeoffset'
        WHEN 'time without time zone' THEN 'time' WHEN 'xml' THEN 'xml' WHEN 'sys.xml' THEN 'xml'
        ELSE format_type(p_type, NULL) END;
$$;

CREATE OR REPLACE VIEW ssb_internal.system_type AS
SELECT t.name, t.number AS system_type_id, t.max_length, t.precision, t.scale
  FROM (VALUES ('image', 34, 16, 0, 0), ('text', 35, 16, 0, 0), ('uniqueidentifier', 36, 16, 0, 0), ('date', 40, 3, 10, 0),
               ('time', 41, 5, 16, 7), ('datetime2', 42, 8, 27, 7), ('datetimeoffset', 43, 10, 34, 7), ('tinyint', 48, 1, 3, 0),
               ('smallint', 52, 2, 5, 0), ('int', 56, 4, 10, 0), ('smalldatetime', 58, 4, 16, 0), ('real', 59, 4, 24, 0),
               ('money', 60, 8, 19, 4), ('datetime', 61, 8, 23, 3), ('float', 62, 8, 53, 0), ('sql_variant', 98, 8016, 0, 0),
               ('ntext', 99, 16, 0, 0), ('bit', 104, 1, 1, 0), ('decimal', 106, 17, 38, 38), ('numeric', 108, 17, 38, 38),
               ('smallmoney', 122, 4, 10, 4), ('bigint', 127, 8, 19, 0), ('varbinary', 165, 8000, 0, 0),
               ('varchar', 167, 8000, 0, 0), ('binary', 173, 8000, 0, 0), ('char', 175, 8000, 0, 0), ('timestamp', 189, 8, 0, 0),
               ('nvarchar', 231, 8000, 0, 0), ('nchar', 239, 8000, 0, 0), ('xml', 241, -1, 0, 0), ('sysname', 256, 256, 0, 0))
       AS t (name, number, max_length, precision, scale);

-- CREATE TYPE … FROM makes a domain, CREATE TYPE … AS TABLE the type of its rows.
CREATE OR REPLACE VIEW ssb_internal.user_type AS
SELECT t.oid, ssb_internal.spelled(obj_description(t.oid, 'pg_type'), t.typname::text) AS name, v.schema_id, t.typtype = 'c' AS is_table, t.typbasetype AS base, t.typtypmod AS modifier,
       NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.contypid = t.oid AND k.conname = 'columns are NOT NULL') AS is_nullable
  FROM pg_type AS t
  JOIN ssb_internal.visible_schema AS v ON v.oid = t.typnamespace
 WHERE t.typtype = 'd'
    -- The rows of a module's table variable have a type too (name@variable), those of a table-valued function (name@row).
    OR t.typtype = 'c' AND (t.typname NOT LIKE '%@%' OR obj_description(t.oid, 'pg_type') LIKE '%AS TABLE (%') AND EXISTS (SELECT FROM pg_class AS c WHERE c.oid = t.typrelid AND c.relkind = 'c');

CREATE OR REPLACE VIEW sys.types AS
-- sysname is an nvarchar with a number of its own.
SELECT t.name, CASE t.name WHEN 'sysname' THEN 231 ELSE t.system_type_id END AS system_type_id, t.system_type_id AS user_type_id, 4 AS schema_id, t.max_length, t.precision, t.scale,
       1::sys.bit AS is_nullable, 0::sys.bit AS is_user_defined, 0::sys.bit AS is_table_type, NULL::integer AS principal_id,
       CASE WHEN t.system_type_id IN (35, 99, 167, 175, 231, 239, 256) THEN ssb_internal.collation_name() END AS collation_name,
       0::sys.bit AS is_assembly_type, 0 AS default_object_id, 0 AS rule_object_id
  FROM ssb_internal.system_type AS t
UNION ALL
SELECT u.name, CASE WHEN u.is_table THEN 243 ELSE t.system_type_id END, u.oid::integer, u.schema_id,
       CASE WHEN u.is_table THEN -1 WHEN u.base IN ('varchar'::regtype, 'bpchar'::regtype) AND u.modifier > 0 THEN 2 * (u.modifier - 4)
            ELSE t.max_length END,
       coalesce(CASE WHEN u.base = 'numeric'::regtype AND u.modifier > 0 THEN ((u.modifier - 4) >> 16) & 65535 END, t.precision, 0),
       coalesce(CASE WHEN u.base = 'numeric'::regtype AND u.modifier > 0 THEN (u.modifier - 4) & 2047 END, t.scale, 0),
       (u.is_nullable AND NOT u.is_table)::integer::sys.bit, 1::sys.bit, u.is_table::integer::sys.bit, NULL,
       CASE WHEN t.system_type_id IN (35, 99, 167, 175, 231, 239, 256) THEN ssb_internal.collation_name() END, 0::sys.bit, 0, 0
  FROM ssb_internal.user_type AS u
  LEFT JOIN ssb_internal.system_type AS t ON t.name = ssb_internal.tsql_type(u.base);

-- Whether a trigger numbers each version of the row there: its argument is the column's name, which ends with a zero byte.
CREATE OR REPLACE FUNCTION ssb_internal.is_rowversion(p_column pg_attribute)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_trigger AS t
                    WHERE t.tgrelid = p_column.attrelid AND t.tgfoid = to_regprocedure('sys.set_rowversion()')
                      AND convert_from(rtrim(t.tgargs, '\x00'), current_setting('server_encoding')) = p_column.attname);
$$;

CREATE OR REPLACE VIEW sys.columns AS
SELECT coalesce(q.queue_id, c.oid::integer) AS object_id,
       ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) AS name, a.attnum::integer AS column_id,
       t.system_type_id, coalesce(u.oid::integer, t.system_type_id) AS user_type_id,
       -- The names in a queue are nvarchar(512) and nvarchar(256).
       CASE WHEN q.queue_id IS NOT NULL AND a.attname = 'service_name' THEN 1024
            WHEN q.queue_id IS NOT NULL AND a.attname IN ('service_contract_name', 'message_type_name') THEN 512
            WHEN b.type = 'bytea'::regtype AND k.type IS NOT NULL THEN k.type[2]::integer
            WHEN b.type IN ('text'::regtype, 'bytea'::regtype) OR b.modifier < 0 AND b.type IN ('varchar'::regtype, 'bpchar'::regtype) THEN -1
            WHEN b.type IN ('varchar'::regtype, 'bpchar'::regtype) THEN 2 * (b.modifier - 4)
            ELSE coalesce(t.max_length, a.attlen) END::smallint AS max_length,
       coalesce(CASE WHEN b.type = 'numeric'::regtype AND b.modifier > 0 THEN ((b.modifier - 4) >> 16) & 65535 END, t.precision, 0)::smallint
           AS precision,
       coalesce(CASE WHEN b.type = 'numeric'::regtype AND b.modifier > 0 THEN (b.modifier - 4) & 2047 END, t.scale, 0)::smallint AS scale,
       CASE WHEN b.type IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN ssb_internal.collation_name() END AS collation_name,
       (NOT a.attnotnull)::integer::sys.bit AS is_nullable, 1::sys.bit AS is_ansi_padded, 0::sys.bit AS is_rowguidcol,
       ssb_internal.is_identity(a)::integer::sys.bit AS is_identity, (a.attgenerated <> '')::integer::sys.bit AS is_computed,
       0::sys.bit AS is_filestream, 0::sys.bit AS is_replicated, 0::sys.bit AS is_non_sql_subscribed,
       0::sys.bit AS is_merge_published, 0::sys.bit AS is_dts_replicated, 0::sys.bit AS is_xml_document, 0 AS xml_collection_id,
       CASE WHEN a.atthasdef AND a.attgenerated = ''
            THEN (SELECT d.oid::integer FROM pg_attrdef AS d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum)
            ELSE 0 END AS default_object_id,
       0 AS rule_object_id, 0::sys.bit AS is_sparse, 0::sys.bit AS is_column_set, g.number::smallint AS generated_always_type,
       (ARRAY['NOT_APPLICABLE', 'AS_ROW_START', 'AS_ROW_END'])[g.number + 1] AS generated_always_type_desc,
       coalesce(CASE g.number WHEN 1 THEN p.start_is_hidden WHEN 2 THEN p.end_is_hidden END, false)::integer::sys.bit AS is_hidden, 0::sys.bit AS is_masked
  FROM pg_attribute AS a
  JOIN pg_class AS c ON c.oid = a.attrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
  LEFT JOIN ssb.queue AS q ON q.schema_name = v.postgres_name AND q.relation_name = c.relname
  LEFT JOIN ssb_internal.user_type AS u ON u.oid = a.atttypid AND NOT u.is_table
 CROSS JOIN LATERAL (SELECT coalesce(u.base, a.atttypid) AS type, CASE WHEN u.base IS NULL THEN a.atttypmod ELSE u.modifier END AS modifier) AS b
  -- The type that PostgreSQL's does not tell, and its length.
 CROSS JOIN LATERAL (SELECT CASE WHEN b.type = ANY ('{numeric,smallint,timestamp,bytea}'::regtype[])
                                 THEN regexp_match(ssb_internal.kept_type(col_description(a.attrelid, a.attnum)),
                                                   CASE b.type WHEN 'numeric'::regtype THEN '^((?:small)?money)()$'
                                                               WHEN 'smallint'::regtype THEN '^(tinyint)()$'
                                                               WHEN 'timestamp'::regtype THEN '^(datetime2)[(](\d+)[)]$'
                                                               ELSE '^((?:var)?binary)[(](\d+)[)]$' END) END AS type) AS w
 CROSS JOIN LATERAL (SELECT CASE WHEN b.type = 'bytea'::regtype AND w.type IS NULL AND ssb_internal.is_rowversion(a)
                                 THEN '{timestamp,8}'::text[] ELSE w.type END AS type) AS k
  -- What datetime and smalldatetime are made of.
  LEFT JOIN ssb_internal.system_type AS t ON t.name = CASE WHEN q.queue_id IS NOT NULL AND b.type = 'smallint'::regtype THEN 'tinyint'
                                                  WHEN k.type IS NOT NULL THEN k.type[1]
                                                  WHEN b.type <> 'timestamp'::regtype OR b.modifier NOT IN (0, 3) THEN ssb_internal.tsql_type(b.type)
                                                  WHEN b.modifier = 3 THEN 'datetime' ELSE 'smalldatetime' END
  LEFT JOIN ssb_internal.system_period AS p ON p.relation = c.oid
 CROSS JOIN LATERAL (SELECT CASE a.attname WHEN p.start_column THEN 1 WHEN p.end_column THEN 2 ELSE 0 END AS number) AS g
 WHERE c.relnamespace = ANY ((SELECT ssb_internal.visible_namespaces())::oid[])
   AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
   AND (c.relkind <> 'v' OR c.relname NOT LIKE '%@row')
 ORDER BY 1, 3;

-- Names of indexes are unique in a schema here, on a table there: the compiler puts the
-- table's name and __ in front (compiler/sql/ddl/tables.index_name). Those of constraints are as given.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_index_name(p_index oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN k.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(k.oid, 'pg_constraint'), k.conname::text)
                -- One too long for PostgreSQL cannot be told from what PostgreSQL calls it.
                WHEN right(c.relname, 9) ~ '^_[0-9a-f]{8}$' AND n.kept IS NOT NULL THEN n.kept
                ELSE ssb_internal.spelled(n.comment, CASE WHEN starts_with(c.relname, t.relname || '__') THEN substr(c.relname, length(t.relname) + 3)
                                                          ELSE c.relname::text END) END
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
      LEFT JOIN pg_constraint AS k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
     CROSS JOIN LATERAL (SELECT d.comment, substring(d.comment FROM '^T-SQL name: ([^\n]*)') AS kept
                           FROM (SELECT obj_description(c.oid, 'pg_class')) AS d (comment)) AS n
     WHERE i.indexrelid = p_index;
$$;

-- 1 is the primary key, which stands for SQL Server's clustered index; from 2 on the others.
CREATE OR REPLACE VIEW ssb_internal.numbered_index AS
SELECT i.indexrelid, i.indrelid,
       (row_number() OVER (PARTITION BY i.indrelid ORDER BY i.indisprimary DESC, i.indexrelid)
        + CASE WHEN bool_or(i.indisprimary) OVER (PARTITION BY i.indrelid) THEN 0 ELSE 1 END)::integer AS index_id
  FROM pg_index AS i;

CREATE OR REPLACE VIEW sys.indexes AS
SELECT n.indrelid::integer AS object_id, ssb_internal.tsql_index_name(c.oid) AS name, n.index_id,
       CASE WHEN i.indisprimary THEN 1 ELSE 2 END::smallint AS type,
       CASE WHEN i.indisprimary THEN 'CLUSTERED' ELSE 'NONCLUSTERED' END AS type_desc,
       i.indisunique::integer::sys.bit AS is_unique, i.indisprimary::integer::sys.bit AS is_primary_key,
       (EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = c.oid AND k.contype = 'u'))::integer::sys.bit AS is_unique_constraint,
       0::sys.bit AS is_disabled, 1 AS data_space_id, 0::sys.bit AS ignore_dup_key,
       coalesce(substring(array_to_string(c.reloptions, ',') FROM 'fillfactor=(\d+)'), '0')::smallint AS fill_factor,
       0::sys.bit AS is_padded, 0::sys.bit AS is_hypothetical, 0::sys.bit AS is_ignored_in_optimization,
       1::sys.bit AS allow_row_locks, 1::sys.bit AS allow_page_locks, (i.indpred IS NOT NULL)::integer::sys.bit AS has_filter,
       pg_get_expr(i.indpred, i.indrelid) AS filter_definition, 0::sys.bit AS auto_created
  FROM ssb_internal.numbered_index AS n
  JOIN pg_index AS i ON i.indexrelid = n.indexrelid
  JOIN pg_class AS c ON c.oid = n.indexrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
UNION ALL
-- A table without a primary key is a heap.
SELECT c.oid::integer, NULL, 0, 0::smallint, 'HEAP', 0::sys.bit, 0::sys.bit, 0::sys.bit, 0::sys.bit, 1, 0::sys.bit, 0::smallint,
       0::sys.bit, 0::sys.bit, 0::sys.bit, 1::sys.bit, 1::sys.bit, 0::sys.bit, NULL, 0::sys.bit
  FROM pg_class AS c JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'f') AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)
UNION ALL
-- Those of the internal tables that queues' messages lie in.
SELECT -q.queue_id, x.name, x.index_id, x.index_id::smallint, x.type_desc, (x.index_id = 1)::integer::sys.bit, 0::sys.bit, 0::sys.bit, 0::sys.bit,
       1, 0::sys.bit, 0::smallint, 0::sys.bit, 0::sys.bit, 0::sys.bit, 1::sys.bit, 1::sys.bit, 0::sys.bit, NULL, 0::sys.bit
  FROM ssb.queue AS q JOIN ssb_internal.visible_schema AS v ON v.postgres_name = q.schema_name
 CROSS JOIN (VALUES (1, 'queue_clustered_index', 'CLUSTERED'),
                    (2, 'queue_secondary_index', 'NONCLUSTERED')) AS x (index_id, name, type_desc)
 ORDER BY 1, 3;

CREATE OR REPLACE VIEW ssb_internal.referential_action AS
SELECT a.code, a.number, a.name
  FROM (VALUES ('a'::"char", 0::smallint, 'NO_ACTION'), ('r', 0, 'NO_ACTION'), (' ', 0, 'NO_ACTION'), ('c', 1, 'CASCADE'),
               ('n', 2, 'SET_NULL'), ('d', 3, 'SET_DEFAULT')) AS a (code, number, name);

CREATE OR REPLACE VIEW sys.key_constraints AS
SELECT o.name, o.object_id, o.principal_id, o.schema_id, o.parent_object_id, o.type, o.type_desc, o.create_date, o.modify_date,
       o.is_ms_shipped, o.is_published, o.is_schema_published, n.index_id AS unique_index_id, 0::sys.bit AS is_system_named, 1::sys.bit AS is_enforced
  FROM ssb_internal.constraint_object AS o
  JOIN pg_constraint AS k ON k.oid = o.oid
  JOIN ssb_internal.numbered_index AS n ON n.indexrelid = k.conindid
 WHERE o.type IN ('PK', 'UQ')
 ORDER BY 2;

-- The actions of a constraint that is switched off stand in what is kept of it.
CREATE OR REPLACE VIEW sys.foreign_keys AS
SELECT o.name, o.object_id, o.principal_id, o.schema_id, o.parent_object_id, o.type, o.type_desc, o.create_date, o.modify_date,
       o.is_ms_shipped, o.is_published, o.is_schema_published, k.confrelid::integer AS referenced_object_id,
       n.index_id AS key_index_id,
       (k.contype = 'c')::integer::sys.bit AS is_disabled, 0::sys.bit AS is_not_for_replication,
       (NOT k.convalidated)::integer::sys.bit AS is_not_trusted,
       d.number AS delete_referential_action, d.name AS delete_referential_action_desc,
       u.number AS update_referential_action, u.name AS update_referential_action_desc, 0::sys.bit AS is_system_named
  FROM ssb_internal.constraint_object AS o
  JOIN pg_constraint AS k ON k.oid = o.oid
  JOIN ssb_internal.referential_action AS d ON d.code = k.confdeltype
  JOIN ssb_internal.referential_action AS u ON u.code = k.confupdtype
  LEFT JOIN ssb_internal.numbered_index AS n ON n.indexrelid = k.conindid
 WHERE o.type = 'F'
 ORDER BY 2;

CREATE OR REPLACE VIEW sys.check_constraints AS
SELECT o.name, o.object_id, o.principal_id, o.schema_id, o.parent_object_id, o.type, o.type_desc, o.create_date, o.modify_date,
       o.is_ms_shipped, o.is_published, o.is_schema_published, (d.kept IS NOT NULL)::integer::sys.bit AS is_disabled, (NOT k.convalidated)::integer::sys.bit AS is_not_trusted,
       CASE WHEN cardinality(k.conkey) = 1 THEN k.conkey[1] ELSE 0 END::integer AS parent_column_id,
       regexp_replace(coalesce(d.kept, pg_get_constraintdef(k.oid)), '^CHECK \((.*)\)( NOT VALID)?$', '\1') AS definition,
       0::sys.bit AS is_not_for_replication, 1::sys.bit AS uses_database_collation, 0::sys.bit AS is_system_named
  FROM ssb_internal.constraint_object AS o
  JOIN pg_constraint AS k ON k.oid = o.oid
 CROSS JOIN LATERAL (SELECT ssb_internal.definition_switched_off(k.oid) AS kept) AS d
 WHERE o.type = 'C'
 ORDER BY 2;

CREATE OR REPLACE VIEW sys.database_permissions AS
SELECT CASE p.class WHEN 'DATABASE' THEN 0 WHEN 'QUEUE' THEN 1 WHEN 'SCHEMA' THEN 3 WHEN 'XML SCHEMA COLLECTION' THEN 10
                    WHEN 'MESSAGE TYPE' THEN 15 WHEN 'CONTRACT' THEN 16 WHEN 'SERVICE' THEN 17
                    WHEN 'REMOTE SERVICE BINDING' THEN 18 WHEN 'ROUTE' THEN 19 WHEN 'CERTIFICATE' THEN 25 ELSE 4 END::smallint AS class,
       CASE p.class WHEN 'QUEUE' THEN 'OBJECT_OR_COLUMN' WHEN 'CONTRACT' THEN 'SERVICE_CONTRACT' WHEN 'USER' THEN 'DATABASE_PRINCIPAL'
                    WHEN 'ROLE' THEN 'DATABASE_PRINCIPAL' ELSE replace(p.class, ' ', '_') END AS class_desc,
       CASE p.class WHEN 'DATABASE' THEN 0 ELSE p.major_id END AS major_id, 0 AS minor_id,
       ssb_internal.principal_id_of(p.grantee, p.database_id) AS grantee_principal_id,
       ssb_internal.principal_id_of(p.grantor, p.database_id) AS grantor_principal_id,
       ssb_internal.permission_code(p.privilege)::char(4) AS type, p.privilege AS permission_name, p.state,
       CASE p.state WHEN 'G' THEN 'GRANT' WHEN 'W' THEN 'GRANT_WITH_GRANT_OPTION' ELSE 'DENY' END AS state_desc
  FROM ssb.permission AS p
 WHERE p.database_id = (SELECT ssb_internal.current_database_id()) AND p.class NOT IN ('SERVER', 'LOGIN', 'ENDPOINT')
UNION ALL
-- PostgreSQL keeps those on tables, views and routines. It lets everybody execute a routine of which nothing else was said.
SELECT 1::smallint, 'OBJECT_OR_COLUMN', o.object_id, 0,
       CASE a.grantee WHEN 0 THEN 0 ELSE ssb_internal.principal_id_of(ssb_internal.user_of_role(pg_get_userbyid(a.grantee), d.id), d.id) END,
       ssb_internal.principal_id_of(ssb_internal.user_of_role(pg_get_userbyid(a.grantor), d.id), d.id),
       ssb_internal.permission_code(a.privilege_type)::char(4), a.privilege_type, CASE WHEN a.is_grantable THEN 'W' ELSE 'G' END::char(1),
       CASE WHEN a.is_grantable THEN 'GRANT_WITH_GRANT_OPTION' ELSE 'GRANT' END
  FROM sys.objects AS o
 CROSS JOIN (SELECT ssb_internal.current_database_id() AS id) AS d
 CROSS JOIN LATERAL (SELECT c.relacl AS acl, c.relowner AS owner, false AS is_routine FROM pg_class AS c
                      WHERE c.oid = o.object_id::oid AND o.type IN ('U', 'V') AND c.relacl IS NOT NULL
                     UNION ALL
                     SELECT p.proacl, p.proowner, true FROM pg_proc AS p
                      WHERE p.oid = o.object_id::oid AND o.type IN ('P', 'FN', 'IF', 'TF') AND p.proacl IS NOT NULL) AS r
 CROSS JOIN LATERAL aclexplode(r.acl) AS a
 WHERE a.grantee <> r.owner AND NOT (r.is_routine AND a.grantee = 0)
   AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES', 'EXECUTE')
UNION ALL
-- What is granted on a schema is what its later tables and routines begin with.
SELECT DISTINCT 3::smallint, 'SCHEMA', v.schema_id, 0,
       CASE a.grantee WHEN 0 THEN 0 ELSE ssb_internal.principal_id_of(ssb_internal.user_of_role(pg_get_userbyid(a.grantee), d.id), d.id) END,
       ssb_internal.principal_id_of(ssb_internal.user_of_role(pg_get_userbyid(a.grantor), d.id), d.id),
       ssb_internal.permission_code(a.privilege_type)::char(4), a.privilege_type, 'G'::char(1), 'GRANT'
  FROM pg_default_acl AS l
  JOIN ssb_internal.visible_schema AS v ON v.oid = l.defaclnamespace
 CROSS JOIN (SELECT ssb_internal.current_database_id() AS id) AS d
 CROSS JOIN LATERAL aclexplode(l.defaclacl) AS a
 WHERE l.defaclobjtype = CASE a.privilege_type WHEN 'EXECUTE' THEN 'f' ELSE 'r' END::"char"
   AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES', 'EXECUTE');

-- The view of SQL Server 2000, still common in "if it exists" checks.
CREATE OR REPLACE VIEW sys.sysobjects AS
SELECT o.name, o.object_id AS id, o.type AS xtype, o.schema_id AS uid, o.parent_object_id AS parent_obj, o.create_date AS crdate, o.type,
       0::smallint AS info, 0 AS status, 0 AS base_schema_ver, 0 AS replinfo, 0::smallint AS ftcatid, 0 AS schema_ver,
       o.modify_date AS refdate, 0 AS version, 2 * o.is_ms_shipped::integer AS category, 0::smallint AS cache,
       CASE btrim(o.type) WHEN 'S' THEN 1 WHEN 'V' THEN 2 WHEN 'U' THEN 3 WHEN 'P' THEN 4 WHEN 'D' THEN 6 WHEN 'TR' THEN 8 ELSE 0 END::smallint
           AS sysstat
  FROM sys.objects AS o;
CREATE OR REPLACE VIEW sys.sysdatabases AS
SELECT d.name, d.database_id AS dbid, d.create_date AS crdate, d.owner_sid AS sid, 0::smallint AS mode, 0 AS status, 0 AS status2,
       0 AS category, d.compatibility_level AS cmptlevel, d.name || '.mdf' AS filename
  FROM sys.databases AS d;
