-- OBJECT_ID, DB_ID and the other functions that turn names into numbers and back.
--
-- Numbers: databases, queues and T-SQL principals have those of the ssb tables;
-- everything else its PostgreSQL oid. dbo is schema 1 in every database, sys is 4.
-- SECURITY DEFINER where the ssb tables are read: anyone may ask for a name.

CREATE OR REPLACE FUNCTION sys.db_id(name text DEFAULT NULL) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN name IS NULL THEN ssb_internal.current_database_id() ELSE ssb_internal.find_database(rtrim(name)) END $$;
CREATE OR REPLACE FUNCTION sys.db_name(id integer DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb_internal.database_name(coalesce(id, ssb_internal.current_database_id())) $$;
CREATE OR REPLACE FUNCTION sys.has_dbaccess(name text) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN ssb_internal.find_database(name) IS NOT NULL THEN 1 END $$;

-- The T-SQL name of a PostgreSQL schema: without its database's prefix.
CREATE OR REPLACE FUNCTION sys.tsql_schema(schema_name text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(
        (SELECT s.schema_name FROM ssb.schema_of_database AS s WHERE s.name = $1),
        (SELECT substr($1, length(d.schema_prefix) + 1) FROM ssb.database AS d
          WHERE starts_with($1, d.schema_prefix) AND length($1) > length(d.schema_prefix)
          ORDER BY length(d.schema_prefix) DESC LIMIT 1),
        $1)
$$;

-- SCHEMA_ID, SCHEMA_NAME
CREATE OR REPLACE FUNCTION sys.schema_id(name text DEFAULT NULL, database text DEFAULT NULL) RETURNS integer
LANGUAGE sql STABLE
RETURN CASE
    WHEN name IS NULL OR lower(name COLLATE "C") = 'dbo' THEN 1
    WHEN lower(name COLLATE "C") = 'information_schema' THEN 3
    WHEN lower(name COLLATE "C") = 'sys' THEN 4
    ELSE (SELECT n.oid::integer FROM pg_namespace AS n WHERE n.nspname = sys.schema_in_database(name, database))
END;
CREATE OR REPLACE FUNCTION sys.schema_name(id integer DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE
RETURN CASE coalesce(id, 1)
    WHEN 1 THEN 'dbo'
    WHEN 3 THEN 'INFORMATION_SCHEMA'
    WHEN 4 THEN 'sys'
    ELSE (SELECT sys.tsql_schema(n.nspname::text) FROM pg_namespace AS n WHERE n.oid = id::oid)
END;

-- All objects that OBJECT_ID and kin know, by folded name or number, as the script spells them, with sys.objects' type codes: those of sys.objects, and what the
-- system's schemas hold. Trigger functions and the relations behind queues stay out.
--
-- A query for each kind, and for a number none behind the one that has it: scripts ask for thousands.
CREATE OR REPLACE FUNCTION sys.known_objects(wanted_name text, wanted_id integer)
RETURNS TABLE (object_id integer, schema_name text, name text, type text)
-- PL/pgSQL, for it keeps plans: before PostgreSQL 18 an SQL function plans these queries at each call.
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 2 SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_by_id CONSTANT boolean := wanted_id IS NOT NULL;
    v_queue_id CONSTANT bigint := coalesce(-wanted_id::bigint, substring(wanted_name FROM '^queue_messages_([1-9]\d{0,9})$')::bigint);
BEGIN
    RETURN QUERY
    SELECT q.queue_id, q.schema_name, q.spelling, 'SQ'
    FROM ssb.queue AS q
    WHERE (q.relation_name = wanted_name OR q.queue_id = wanted_id);
    IF FOUND AND v_by_id THEN
        RETURN;
    END IF;
    -- Each database has the system's queues.
    RETURN QUERY
    SELECT s.queue_id, d.schema_prefix || 'dbo', s.queue_name, 'SQ'
    FROM ssb_internal.system_service AS s CROSS JOIN ssb.database AS d
    WHERE CASE WHEN v_by_id THEN s.queue_id = wanted_id ELSE sys.fold(s.queue_name) = wanted_name END
    UNION ALL
    SELECT t.object_id, 'sys', t.name, 'S'
    FROM ssb_internal.system_table AS t
    WHERE t.name = wanted_name OR t.object_id = wanted_id;
    IF FOUND AND v_by_id THEN
        RETURN;
    END IF;
    -- A queue's messages are an internal table, with its number negative.
    IF v_queue_id > 0 THEN
        RETURN QUERY
        SELECT -q.queue_id, 'sys', 'queue_messages_' || q.queue_id, 'IT' FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
    END IF;
    RETURN QUERY
    SELECT c.oid::integer, n.nspname::text, ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text),
           CASE WHEN EXISTS (SELECT FROM ssb_internal.synonym AS s WHERE s.oid = c.oid) THEN 'SN'
                WHEN c.relkind IN ('v', 'm') THEN 'V' WHEN c.relkind = 'S' THEN 'SO' WHEN n.nspname = 'sys' THEN 'S' ELSE 'U' END
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (c.relname = wanted_name OR c.oid = wanted_id::oid)
      AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
      AND (n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_t(emp|oast)' OR n.oid = pg_my_temp_schema())
      AND (SELECT q.queue_id FROM ssb.queue AS q
            WHERE q.schema_name = n.nspname::text COLLATE "default" AND q.relation_name = c.relname::text COLLATE "default" LIMIT 1) IS NULL;
    IF FOUND AND v_by_id THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT p.oid::integer, n.nspname::text, ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname::text),
           ssb_internal.routine_type(p.prokind, p.proretset, p.prolang)
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE (p.proname = wanted_name OR p.oid = wanted_id::oid)
      AND p.prorettype <> 'trigger'::regtype AND n.nspname <> 'pg_catalog';
    IF FOUND AND v_by_id THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT c.oid::integer, n.nspname::text, ssb_internal.spelled(obj_description(c.oid, 'pg_constraint'), c.conname::text),
           CASE WHEN c.contype = 'p' THEN 'PK' WHEN c.contype = 'u' THEN 'UQ'
                WHEN c.contype = 'f' OR starts_with(ssb_internal.definition_switched_off(c.oid), 'FOREIGN KEY ') THEN 'F' ELSE 'C' END
    FROM pg_constraint AS c
    JOIN pg_namespace AS n ON n.oid = c.connamespace
    WHERE (c.conname = wanted_name OR c.oid = wanted_id::oid) AND c.conrelid <> 0 AND c.contype IN ('p', 'u', 'f', 'c');
    IF FOUND AND v_by_id THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT t.oid::integer, n.nspname::text, ssb_internal.spelled(obj_description(t.tgfoid, 'pg_proc'), t.tgname::text), 'TR'
    FROM pg_trigger AS t
    JOIN pg_class AS c ON c.oid = t.tgrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (t.tgname = wanted_name OR t.oid = wanted_id::oid) AND NOT t.tgisinternal;
    IF v_by_id THEN
        IF NOT FOUND THEN
            RETURN QUERY
            SELECT d.oid::integer, n.nspname::text, d.spelling, 'D'
            FROM ssb_internal.column_default AS d
            JOIN pg_namespace AS n ON n.oid = d.namespace
            WHERE d.oid = wanted_id::oid;
        END IF;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.oid::integer, n.nspname::text, d.spelling, 'D'
    FROM ssb.default_name AS f
    JOIN ssb_internal.column_default AS d ON d.relation = f.relation AND d.column_name = f.column_name
    JOIN pg_namespace AS n ON n.oid = d.namespace
    WHERE f.name = wanted_name;
    -- One without a name of its own is called after its table and column.
    IF starts_with(wanted_name, 'df__') THEN
        RETURN QUERY
        SELECT d.oid::integer, n.nspname::text, d.spelling, 'D'
        FROM ssb_internal.column_default AS d
        JOIN pg_namespace AS n ON n.oid = d.namespace
        WHERE d.is_system_named AND d.name = wanted_name;
    END IF;
END;
$$;

-- OBJECT_ID('[database.[schema].]name' [, type]): NULL for what does not exist or
-- has another type. A temporary table is found in tempdb: as 'tempdb..#t', and as '#t' where that is the database.
CREATE OR REPLACE FUNCTION sys.object_id(name text, type text DEFAULT NULL, database text DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := sys.name_parts(name);
    v_count integer := cardinality(v_parts);
    v_name text := sys.fold(v_parts[v_count]);
    v_database text := coalesce(nullif(v_parts[v_count - 2], ''), database);
    v_schema text;
BEGIN
    IF v_count IS NULL OR v_count > 3 THEN
        RETURN NULL;
    ELSIF left(v_name, 1) = '#' AND sys.fold(coalesce(v_database, ssb.db_name())) <> 'tempdb' THEN
        RETURN NULL;
    ELSIF left(v_name, 2) = '##' THEN
        v_schema := sys.schema_in_database(NULL, 'tempdb');
    ELSIF left(v_name, 1) = '#' THEN
        v_schema := (SELECT n.nspname FROM pg_catalog.pg_namespace AS n WHERE n.oid = pg_my_temp_schema());
    ELSE
        v_schema := sys.schema_in_database(v_parts[v_count - 1], v_database);
    END IF;
    RETURN (
        SELECT o.object_id
        FROM sys.known_objects(v_name, NULL) AS o
        WHERE o.schema_name = v_schema AND (object_id.type IS NULL OR o.type = upper(rtrim(object_id.type)))
        ORDER BY o.type = 'TR', o.type IN ('PK', 'UQ', 'F', 'C', 'D')
        LIMIT 1);
END;
$$;

-- The same for statements, which find a temporary table by its name alone.
CREATE OR REPLACE FUNCTION ssb_internal.table_id(table_name text, database text) RETURNS oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN sys.object_id(CASE WHEN table_name ~ '^\[?#' THEN 'tempdb..' ELSE '' END || table_name, NULL, database)::oid;

CREATE OR REPLACE FUNCTION sys.object_name(id integer, database_id integer DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT o.name FROM sys.known_objects(NULL, id) AS o
        WHERE database_id IS NULL OR ssb_internal.database_of_schema(o.schema_name) = database_id LIMIT 1);
CREATE OR REPLACE FUNCTION sys.object_schema_name(id integer, database_id integer DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT sys.tsql_schema(o.schema_name) FROM sys.known_objects(NULL, id) AS o
        WHERE database_id IS NULL OR ssb_internal.database_of_schema(o.schema_name) = database_id LIMIT 1);

-- The value of a DEFAULT constraint, which scripts put into a new ALTER TABLE when they change a column: a constant, and a
-- function without arguments, as SQL Server writes them, ((0)), ('x') and (getdate()); others in PostgreSQL's words.
CREATE OR REPLACE FUNCTION ssb_internal.default_definition(p_default oid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_value text := (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d WHERE d.oid = p_default);
    v_number text := substring(v_value FROM '^\(?''?(-?[0-9]+(?:\.[0-9]+)?)''?'
                                            '(?:::(?:numeric|smallint|integer|bigint|real|double precision)\)?)*$');
    v_string text := substring(v_value FROM '^(?:sys\.xml_of\()?(''(?:[^'']|'''')*'')::(?:character varying|text|bpchar|uuid|date|'
                                            'timestamp without time zone|time without time zone)\)?$');
    v_bytes text := substring(v_value FROM '^''\\x([0-9a-f]*)''::bytea$');
    v_function text := substring(v_value FROM '^sys\.([a-z_]+\(\))$');
    v_date text := substring(v_value FROM '^\(sys\.([a-z_]+\(\))\)::date$');
BEGIN
    RETURN CASE
        WHEN v_number IS NOT NULL THEN '((' || v_number || '))'
        WHEN v_string IS NOT NULL THEN '(' || v_string || ')'
        WHEN v_bytes IS NOT NULL THEN '(0x' || upper(v_bytes) || ')'
        WHEN v_function IS NOT NULL THEN '(' || v_function || ')'
        WHEN v_date IS NOT NULL THEN '(CONVERT([date],' || v_date || '))'
        WHEN v_value = 'gen_random_uuid()' THEN '(newid())'
        WHEN v_value = 'pg_backend_pid()' THEN '(@@spid)'
        WHEN starts_with(v_value, 'nextval(') THEN (
            SELECT '(NEXT VALUE FOR ' || sys.quotename(sys.tsql_schema(n.nspname)) || '.'
                   || sys.quotename(ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)) || ')'
              FROM pg_depend AS d
              JOIN pg_class AS c ON c.oid = d.refobjid AND c.relkind = 'S'
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE d.classid = 'pg_attrdef'::regclass AND d.objid = p_default AND d.refclassid = 'pg_class'::regclass)
        ELSE '(' || v_value || ')'
    END;
END;
$$;

-- OBJECT_DEFINITION: the T-SQL text of a module where it is kept, else the PostgreSQL text of a
-- view, routine or trigger; of a constraint what its catalog view has.
CREATE OR REPLACE FUNCTION sys.object_definition(id integer) RETURNS text
LANGUAGE sql STABLE
RETURN (SELECT coalesce(ssb_internal.source_of(o.schema_name, sys.fold(o.name)), CASE
            WHEN o.type = 'V' THEN pg_get_viewdef(id::oid)
            WHEN o.type IN ('P', 'FN', 'IF', 'TF') THEN pg_get_functiondef(id::oid)
            WHEN o.type = 'TR' THEN pg_get_triggerdef(id::oid)
            WHEN o.type = 'C' THEN
                regexp_replace(coalesce(ssb_internal.definition_switched_off(id::oid), pg_get_constraintdef(id::oid)),
                               '^CHECK \((.*)\)( NOT VALID)?$', '\1')
            WHEN o.type = 'D' THEN ssb_internal.default_definition(id::oid)
        END)
        FROM sys.known_objects(NULL, id) AS o LIMIT 1);

-- TYPE_ID, TYPE_NAME: sys.types' numbers of the system types.
CREATE OR REPLACE FUNCTION sys.type_numbers() RETURNS TABLE (name text, id integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    VALUES ('image', 34), ('text', 35), ('uniqueidentifier', 36), ('date', 40), ('time', 41), ('datetime2', 42),
           ('datetimeoffset', 43), ('tinyint', 48), ('smallint', 52), ('int', 56), ('smalldatetime', 58), ('real', 59),
           ('money', 60), ('datetime', 61), ('float', 62), ('sql_variant', 98), ('ntext', 99), ('bit', 104),
           ('decimal', 106), ('numeric', 108), ('smallmoney', 122), ('bigint', 127), ('hierarchyid', 128),
           ('geometry', 129), ('geography', 130), ('varbinary', 165), ('varchar', 167), ('binary', 173), ('char', 175),
           ('timestamp', 189), ('nvarchar', 231), ('nchar', 239), ('xml', 241), ('sysname', 256);
END;
CREATE OR REPLACE FUNCTION sys.type_id(name text) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce(
    (SELECT t.id FROM sys.type_numbers() AS t
     WHERE t.name = sys.fold((sys.name_parts(type_id.name))[cardinality(sys.name_parts(type_id.name))])),
    (SELECT t.oid::integer FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
     WHERE t.typname = sys.fold((sys.name_parts(type_id.name))[cardinality(sys.name_parts(type_id.name))])
       AND n.nspname = sys.schema_in_database((sys.name_parts(type_id.name))[cardinality(sys.name_parts(type_id.name)) - 1], NULL)
       AND t.typtype IN ('d', 'c')));
CREATE OR REPLACE FUNCTION sys.type_name(id integer) RETURNS text
LANGUAGE sql STABLE
RETURN coalesce((SELECT t.name FROM sys.type_numbers() AS t WHERE t.id = type_name.id),
                (SELECT ssb_internal.spelled(obj_description(t.oid, 'pg_type'), t.typname::text) FROM pg_type AS t
                 WHERE t.oid = id::oid AND t.typtype IN ('d', 'c')));

CREATE OR REPLACE VIEW sys.sql_modules AS
-- By CASE, so that no text is made of what is no module, whatever a condition asks of it.
SELECT o.object_id, CASE WHEN o.type IN ('P', 'V', 'TR', 'FN', 'IF', 'TF') THEN sys.object_definition(o.object_id) END AS definition, 1::sys.bit AS uses_ansi_nulls,
       1::sys.bit AS uses_quoted_identifier, ssb_internal.is_schema_bound(o.object_id::oid)::integer::sys.bit AS is_schema_bound, 0::sys.bit AS uses_database_collation,
       0::sys.bit AS is_recompiled,
       EXISTS (SELECT FROM pg_proc AS p WHERE o.type = 'FN' AND p.oid = o.object_id::oid AND p.proisstrict)::integer::sys.bit AS null_on_null_input,
       NULL::integer AS execute_as_principal_id,
       0::sys.bit AS uses_native_compilation, 0::sys.bit AS inline_type, 0::sys.bit AS is_inlineable
  FROM sys.objects AS o WHERE o.type IN ('P', 'V', 'TR', 'FN', 'IF', 'TF');
