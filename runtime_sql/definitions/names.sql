-- From names to numbers: databases, schemas, queues, message types, contracts, services.
-- Called by  nearly every statement

-- The session's T-SQL database, as ssb.use_database left it.
CREATE OR REPLACE FUNCTION ssb_internal.current_database_id()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT d.database_id FROM ssb.database AS d
                      WHERE lower(d.name) = lower(current_setting('pgsb.database', true))),
                    -- In a Turkish database inventory is no INVENTORY; only there the longer way is gone.
                    CASE WHEN 'i' <> lower('I') THEN
                        (SELECT d.database_id FROM ssb.database AS d
                          WHERE ssb_internal.lower_name(d.name) = ssb_internal.lower_name(current_setting('pgsb.database', true)))
                    END, 5);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.database_name(p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(d.name, current_database()) FROM ssb.database AS d WHERE d.database_id = p_database_id);
END;
$$;

-- NULL when there is no such database. A database named like the PostgreSQL one
-- is the default one, whatever its case.
CREATE OR REPLACE FUNCTION ssb_internal.find_database(p_name text)
RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT d.database_id FROM ssb.database AS d WHERE ssb_internal.lower_name(d.name) = ssb_internal.lower_name(p_name)
            UNION ALL
            -- A name of PostgreSQL's has the collation C, in which É stays.
            SELECT 5 WHERE ssb_internal.lower_name(p_name) = ssb_internal.lower_name(current_database() COLLATE "default")
            LIMIT 1);
END;
$$;

-- The database meant by a parameter: NULL is the session's. 911 when it does not exist.
CREATE OR REPLACE FUNCTION ssb_internal.database_id_of(p_name text)
RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id integer;
BEGIN
    IF p_name IS NULL THEN
        RETURN ssb_internal.current_database_id();
    END IF;
    v_id := ssb_internal.find_database(p_name);
    IF v_id IS NULL THEN
        PERFORM ssb_internal.raise_error(911, format('Database ''%s'' does not exist. Make sure that the name is entered correctly.', p_name));
    END IF;
    RETURN v_id;
END;
$$;

-- Which T-SQL database a PostgreSQL schema belongs to: the one it was made for, else by prefix.
CREATE OR REPLACE FUNCTION ssb_internal.database_of_schema(p_schema text)
RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(
        (SELECT s.database_id FROM ssb.schema_of_database AS s WHERE s.name = p_schema),
        (SELECT d.database_id FROM ssb.database AS d
          WHERE starts_with(p_schema, d.schema_prefix) ORDER BY length(d.schema_prefix) DESC LIMIT 1));
END;
$$;

-- "etl" of the PostgreSQL schema warehouse_etl, for messages; what is no such schema stays as it is.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_schema(p_schema text)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(
        (SELECT s.schema_name FROM ssb.schema_of_database AS s WHERE s.name = p_schema),
        (SELECT substr(p_schema, length(d.schema_prefix) + 1) FROM ssb.database AS d
          WHERE starts_with(p_schema, d.schema_prefix) AND length(p_schema) > length(d.schema_prefix)
          ORDER BY length(d.schema_prefix) DESC LIMIT 1),
        p_schema);
END;
$$;

-- USE: the setting lasts for the session.
CREATE OR REPLACE FUNCTION ssb.use_database(name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id integer := ssb_internal.database_id_of(name);
BEGIN
    IF EXISTS (SELECT FROM ssb.database AS d WHERE d.database_id = v_id AND d.options ? 'OFFLINE') THEN
        PERFORM ssb_internal.raise_error(942, format('Database ''%s'' cannot be opened because it is offline.', name), 14, 4);
    END IF;
    PERFORM set_config('pgsb.database', coalesce(name, ''), false);
END;
$$;

-- The T-SQL database of a procedure, by its PostgreSQL name, where that is another one than this: it reads its own catalog.
-- A schema that T-SQL did not make, such as public, is of every database.
CREATE OR REPLACE FUNCTION ssb_internal.another_database(p_procedure text, p_than integer)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_schema CONSTANT text := ssb_internal.actual_schema((parse_ident(p_procedure))[1]);
BEGIN
    RETURN (SELECT ssb_internal.database_name(s.database_id) FROM ssb.schema_of_database AS s
             WHERE s.name = v_schema AND s.database_id <> p_than);
END;
$$;

-- Around the call of another database's procedure, and at the end of dynamic SQL that said USE: back to what the setting
-- was, '' or NULL the default database.
CREATE OR REPLACE FUNCTION ssb_internal.return_to_database(name text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('pgsb.database', coalesce(name, ''), false);
END;
$$;

-- DB_NAME() without argument.
CREATE OR REPLACE FUNCTION ssb.db_name()
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.database_name(ssb_internal.current_database_id());
END;
$$;

-- Schemas that are no script's: the runtime's and PostgreSQL's. What stands there may be the caller's own, where he owns the
-- runtime, and is nevertheless not to be made, altered or dropped by T-SQL.
CREATE OR REPLACE FUNCTION ssb_internal.is_system_schema(p_schema text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN p_schema OPERATOR(pg_catalog.=) ANY ('{ssb,ssb_internal,ssb_locks,ssb_staging,sys,information_schema,pg_catalog,pg_toast}'::pg_catalog.text[]);

-- 'schema.name' or 'name' (then in dbo of the current database), in PostgreSQL's
-- spelling, to its two parts.
CREATE OR REPLACE FUNCTION ssb_internal.split_name(p_name text, OUT schema_name text, OUT object_name text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[];
BEGIN
    BEGIN
        v_parts := parse_ident(p_name);
    EXCEPTION WHEN invalid_parameter_value THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', p_name), 16, 1,
                                         'Write it as schema.name, with quotation marks around what is no plain name.');
    END;
    IF v_parts IS NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.');
    ELSIF cardinality(v_parts) > 3 THEN
        PERFORM ssb_internal.raise_error(117, format('The object name ''%s'' contains more than the maximum number of prefixes. '
                                                     'The maximum is 2.', p_name), 15);
    ELSIF cardinality(v_parts) = 1 THEN
        SELECT d.schema_prefix || 'dbo', v_parts[1] INTO schema_name, object_name
          FROM ssb.database AS d WHERE d.database_id = ssb_internal.current_database_id();
    ELSE
        schema_name := v_parts[cardinality(v_parts) - 1];
        object_name := v_parts[cardinality(v_parts)];
    END IF;
END;
$$;

-- The one spelling under which ssb.queue knows a queue; for everybody, so with the owner's sight of ssb.database.
CREATE OR REPLACE FUNCTION ssb_internal.normal_name(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT format('%I.%I', n.schema_name, n.object_name) FROM ssb_internal.split_name(p_name) AS n);
END;
$$;

-- A relation's name without its schema, of PostgreSQL's spelling, for messages.
CREATE OR REPLACE FUNCTION ssb_internal.bare_name(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_name ~ '^("([^"]|"")+"|[^".]+)([.]("([^"]|"")+"|[^".]+))*$'
                THEN replace(btrim(last, '"'), '""', '"') ELSE p_name END
      FROM (SELECT substring(p_name FROM '("(?:[^"]|"")+"|[^".]+)$')) AS s (last)
$$;

-- A name, and a string, as T-SQL writes them. (quote_literal doubles backslashes, which is no T-SQL.)
CREATE OR REPLACE FUNCTION ssb_internal.in_brackets(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT '[' || replace(p_name, ']', ']]') || ']'; $$;

CREATE OR REPLACE FUNCTION ssb_internal.in_quotes(p_text text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT '''' || replace(p_text, '''', '''''') || ''''; $$;

-- 'shop_dbo.handle' as SQL Server's views show a queue's procedure: '[dbo].[handle]'. Other text, such as a
-- program's name, stays.
CREATE OR REPLACE FUNCTION ssb_internal.bracketed_name(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN p_name ~ '^("([^"]|"")+"|\w+)[.]("([^"]|"")+"|\w+)$'
                THEN (SELECT format('%s.%s', ssb_internal.in_brackets(ssb_internal.tsql_schema(n.schema_name)), ssb_internal.in_brackets(
                                    coalesce((SELECT ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), n.object_name)
                                                FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = p.pronamespace
                                               WHERE s.nspname = n.schema_name AND p.proname = n.object_name
                                               ORDER BY p.oid LIMIT 1), n.object_name)))
                        FROM ssb_internal.split_name(p_name) AS n)
                ELSE p_name END;
END;
$$;

-- For whoever names a queue as T-SQL does: the hint that tells its name here; NULL where the session's T-SQL database has none
-- of this name.
CREATE OR REPLACE FUNCTION ssb_internal.hint_of_queue(p_queue text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT format('Queues have PostgreSQL''s names here: that of the database %s is ''%s''.',
                          ssb_internal.in_brackets(d.name), q.name)
              FROM ssb_internal.split_name(p_queue) AS n
              JOIN ssb.schema_of_database AS s ON lower(s.schema_name COLLATE "C") = lower(n.schema_name COLLATE "C")
              JOIN ssb.database AS d ON d.database_id = s.database_id
              JOIN ssb.queue AS q ON q.schema_name = s.name AND lower(q.spelling COLLATE "C") = lower(n.object_name COLLATE "C")
             WHERE s.database_id = ssb_internal.current_database_id()
             LIMIT 1);
END;
$$;

-- 208 when there is no such queue.
CREATE OR REPLACE FUNCTION ssb_internal.queue_of(p_queue text)
RETURNS ssb.queue
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = p_queue;
    IF NOT FOUND THEN
        SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_queue);
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_queue)),
                                             hint => ssb_internal.hint_of_queue(p_queue));
        END IF;
    END IF;
    RETURN v_queue;
END;
$$;

-- The same for who receives from it: that it is not being dropped, either. Nobody drops it then, before our transaction ends.
CREATE OR REPLACE FUNCTION ssb_internal.queue_to_receive(p_queue text)
RETURNS ssb.queue
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(p_queue);
BEGIN
    PERFORM pg_sequence_last_value(v_queue.state_sequence);
    RETURN v_queue;
EXCEPTION WHEN internal_error THEN
    -- It was being dropped: the sequence is gone.
    RETURN ssb_internal.queue_of(p_queue);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.find_message_type(p_database_id integer, p_name text)
RETURNS ssb.message_type
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT t FROM ssb.message_type AS t
             WHERE t.name = p_name AND coalesce(t.database_id, 0) IN (0, p_database_id) LIMIT 1);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.find_contract(p_database_id integer, p_name text)
RETURNS ssb.contract
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT c FROM ssb.contract AS c
             WHERE c.name = p_name AND coalesce(c.database_id, 0) IN (0, p_database_id) LIMIT 1);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.find_service(p_database_id integer, p_name text)
RETURNS ssb.service
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT s FROM ssb.service AS s WHERE s.name = p_name AND s.database_id = p_database_id);
END;
$$;

-- A name fit for the catalog: not NULL, not empty, at most 128 characters (sysname).
CREATE OR REPLACE FUNCTION ssb_internal.check_name(p_name text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF coalesce(p_name, '') = '' THEN
        PERFORM ssb_internal.raise_error(1038, 'An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. '
                                               'For other statements, look for empty alias names. Aliases defined as "" or [] are not allowed. '
                                               'Change the alias to a valid name.', 15, 4);
    ELSIF length(p_name) > 128 THEN
        PERFORM ssb_internal.raise_error(103, format('The identifier that starts with ''%s'' is too long. Maximum length is 128.',
                                                     left(p_name, 124)), 15, 4);
    END IF;
END;
$$;

-- The name of a service elsewhere, which need not be there: an nvarchar(256).
CREATE OR REPLACE FUNCTION ssb_internal.check_remote_service(p_name text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_name IS NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.');
    ELSIF p_name = '' THEN
        PERFORM ssb_internal.raise_error(8421, 'The service name is missing.  Specify a service name.');
    ELSIF length(p_name) > 256 THEN
        PERFORM ssb_internal.raise_error(8412, format('The syntax of the service name ''%s'' is invalid.', left(p_name, 128)));
    END IF;
END;
$$;

-- The error of a schema that is not there, by its name in PostgreSQL: 2702 where the database is missing, whose dbo it would be.
CREATE OR REPLACE FUNCTION ssb_internal.no_schema_error(p_schema text)
RETURNS ssb.error
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_schema ~ '._dbo$'
                THEN ROW(2702, format('Database ''%s'' does not exist.', left(p_schema, -4)), 16, 2, NULL, NULL)::ssb.error
                ELSE ROW(2760, format('The specified schema name "%s" either does not exist or you do not have permission to use it.',
                                      ssb_internal.tsql_schema(p_schema)), 16, 1, NULL, NULL)::ssb.error END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_no_schema(p_schema text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error := ssb_internal.no_schema_error(p_schema);
BEGIN
    PERFORM ssb_internal.raise_error(v_error.number, v_error.message, v_error.severity, v_error.state);
END;
$$;

-- "Cannot find the contract 'c', because it does not exist or you do not have permission."
CREATE OR REPLACE FUNCTION ssb_internal.raise_not_found(p_verb text, p_class text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(15151, format('Cannot %s the %s ''%s'', because it does not exist or you do not have permission.',
                                                   p_verb, p_class,
                                                   -- Relations come by their PostgreSQL names: SQL Server tells the name alone.
                                                   CASE WHEN p_class IN ('queue', 'object', 'XML schema collection')
                                                        THEN ssb_internal.bare_name(p_name) ELSE p_name END));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_exists(p_class text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(15530, format('The %s with name "%s" already exists.', p_class, p_name));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_bound(p_class text, p_name text, p_user text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(3716, format('The %s ''%s'' cannot be dropped because it is bound to one or more %s.',
                                                  p_class, p_name, p_user));
END;
$$;
