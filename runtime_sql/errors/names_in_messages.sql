-- What PostgreSQL's messages name, as the script has it: tables, columns, queues, types, operators.
-- Names are taken from between the quotation marks of the message, which keep them in every language of the server.
--
-- Called by  the functions that make errors of PostgreSQL's (errors/)

-- What stands between the n-th pair of quotation marks: "…", «…», »…«, „…“.
CREATE OR REPLACE FUNCTION ssb_internal.quoted_name(message text, place integer)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT f.part[1]
      FROM regexp_matches(message, '[\u0022\u00AB\u00BB\u201E\u201C][\s\u00A0\u202F]?([^\u0022\u00AB\u00BB\u201C\u201D]*?)[\u00A0\u202F]?[\u0022\u00AB\u00BB\u201C\u201D]', 'g')
           WITH ORDINALITY AS f(part, n)
     WHERE f.n = place;
END;

-- The names in a message about a constraint. PostgreSQL does not double the quotation marks in a name: where the message has more
-- than two for each name that it is known to tell, those names are looked up that have some.
CREATE OR REPLACE FUNCTION ssb_internal.quoted_names(sqlstate_code text, p_message text)
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_message text := p_message;
    v_name text;
    v_odd text[] := '{}';
BEGIN
    IF length(p_message) - length(replace(p_message, '"', '')) NOT IN (0, CASE WHEN sqlstate_code IN ('23503', '23514') THEN 4 ELSE 2 END) THEN
        FOR v_name IN
            SELECT c.conname::text FROM pg_constraint AS c WHERE strpos(c.conname, '"') > 0 AND strpos(p_message, c.conname) > 0
            UNION
            SELECT c.relname::text FROM pg_class AS c WHERE strpos(c.relname, '"') > 0 AND strpos(p_message, c.relname) > 0
            ORDER BY 1 DESC
        LOOP
            v_odd := v_odd || v_name;
            -- No name has a character of that number.
            v_message := replace(v_message, '"' || v_name || '"', format('"%s%s"', chr(1), cardinality(v_odd)));
        END LOOP;
    END IF;
    RETURN ARRAY(SELECT CASE WHEN starts_with(q.name, chr(1)) THEN v_odd[substr(q.name, 2)::integer] ELSE q.name END
                   FROM generate_series(1, 3) AS n CROSS JOIN LATERAL ssb_internal.quoted_name(v_message, n) AS q (name));
END;
$$;

-- "dbo.orders" of a relation in schema trader1_dbo.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_name_of(relation regclass)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN n.nspname LIKE 'pg\_temp%' THEN c.relname
                ELSE ssb_internal.tsql_schema(n.nspname::text) || '.'
                     || ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text) END
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.oid = relation;
END;

-- Whether a schema is the runtime's or PostgreSQL's own. A script names nothing there, so a bare name in a message means something
-- else if it can: ssb has a "message" and a "queue", too.
CREATE OR REPLACE FUNCTION ssb_internal.is_schema_of_system(p_schema text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_schema IN ('ssb', 'ssb_internal', 'ssb_locks', 'ssb_staging', 'sys', 'information_schema')
           OR p_schema ~ '^pg_' AND p_schema !~ '^pg_temp';
$$;

-- Whether a schema is one of the session's T-SQL database.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_this_database(p_schema text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT NOT ssb_internal.is_schema_of_system(p_schema)
           AND ssb_internal.database_of_schema(p_schema) IS NOT DISTINCT FROM ssb_internal.current_database_id();
$$;

-- A column as the tables of that name (NULL: all that have it), in whatever schema, spell it alike; as PostgreSQL names it
-- where they do not.
CREATE OR REPLACE FUNCTION ssb_internal.spelled_column(p_table text, p_column text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(DISTINCT s.name) = 1 THEN min(s.name) ELSE p_column END
      FROM pg_class AS c
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = p_column
     CROSS JOIN LATERAL (SELECT ssb_internal.spelled(col_description(c.oid, a.attnum), p_column) AS name) AS s
     WHERE (p_table IS NULL OR c.relname = p_table) AND c.relkind IN ('r', 'p')
       AND NOT ssb_internal.is_schema_of_system(c.relnamespace::regnamespace::text);
$$;

-- A table, view or sequence likewise.
CREATE OR REPLACE FUNCTION ssb_internal.spelled_relation(p_name text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(DISTINCT s.name) = 1 THEN min(s.name) ELSE p_name END
      FROM pg_class AS c
     CROSS JOIN LATERAL (SELECT ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text) AS name) AS s
     WHERE c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S')
       AND NOT ssb_internal.is_schema_of_system(c.relnamespace::regnamespace::text);
$$;

-- The relation that a bare name in one of PostgreSQL's messages means: the only one, or the only one in the session's database.
CREATE OR REPLACE FUNCTION ssb_internal.relation_in_message(p_name text)
RETURNS regclass
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(*) = 1 THEN min(r.id)
                WHEN count(*) FILTER (WHERE r.here) = 1 THEN min(r.id) FILTER (WHERE r.here) END
      FROM (SELECT c.oid AS id, ssb_internal.is_of_this_database(n.nspname::text) AS here
              FROM pg_class AS c
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S')) AS r;
$$;

-- "dbo.Orders", for messages; the name itself where no relation has it, or several.
CREATE OR REPLACE FUNCTION ssb_internal.table_named(p_name text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(ssb_internal.tsql_name_of(ssb_internal.relation_in_message(p_name)), p_name);
$$;

-- "dbo.my table", as PostgreSQL's messages have it: without quotation marks, whatever is in the name.
CREATE OR REPLACE FUNCTION ssb_internal.spelling_in_message(p_name text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN strpos(p_name, '.') = 0 THEN p_name
                ELSE concat_ws('.', CASE WHEN f.part[1] <> 'pg_temp' THEN ssb_internal.tsql_schema(f.part[1]) END, f.part[2]) END
      FROM regexp_match(p_name, '^([^.]*)[.](.*)$') AS f(part);
END;

-- "db.dbo.Orders" for message 515; the name alone when several tables of the database have it. A temporary one is tempdb's.
CREATE OR REPLACE FUNCTION ssb_internal.qualified_table(p_name text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN p_name LIKE '#%' THEN 'tempdb.dbo.' || p_name
                WHEN count(DISTINCT t.name) = 1 THEN ssb.db_name() || '.' || min(t.name) ELSE ssb_internal.spelled_relation(p_name) END
      FROM (SELECT ssb_internal.tsql_name_of(c.oid) AS name, h.is_here, bool_or(h.is_here) OVER () AS is_any_here
              FROM pg_class AS c
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             CROSS JOIN LATERAL (SELECT ssb_internal.is_of_this_database(n.nspname::text) AS is_here) AS h
             WHERE c.relname = p_name AND c.relkind IN ('r', 'p')) AS t
     WHERE t.is_here OR NOT t.is_any_here;
END;

-- Whether a queue has that name, in whatever schema. SECURITY DEFINER: errors are everybody's.
CREATE OR REPLACE FUNCTION ssb_internal.names_queue(p_name text)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT EXISTS (SELECT FROM ssb.queue AS q WHERE q.relation_name = p_name); $$;

-- A queue as its CREATE QUEUE spells it; NULL for other relations. SECURITY DEFINER likewise.
CREATE OR REPLACE FUNCTION ssb_internal.queue_spelling(p_relation regclass)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT q.spelling
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN ssb.queue AS q ON q.schema_name = n.nspname AND q.relation_name = c.relname
     WHERE c.oid = p_relation;
$$;

-- What SQL Server's messages call an operator. NULL: by its sign.
CREATE OR REPLACE FUNCTION ssb_internal.operator_name(p_operator text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT ('{"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo", "=": "equal to", "<>": "not equal to",'
            ' "<": "less than", "<=": "less than or equal to", ">": "greater than", ">=": "greater than or equal to"}'::jsonb)
           ->> p_operator;
END;

-- SQL Server's name of the PostgreSQL type that a message mentions.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_type_in(p_message text, p_otherwise text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT CASE WHEN p_message ~ '\mbigint\M' THEN 'bigint'
                WHEN p_message ~ '\msmallint\M' THEN 'smallint'
                WHEN p_message ~ '\minteger\M' THEN 'int'
                WHEN p_message ~ '\muuid\M' THEN 'uniqueidentifier'
                WHEN p_message ~ '\mnumeric\M' THEN 'numeric'
                WHEN p_message ~ '\mdouble precision\M' THEN 'float'
                WHEN p_message ~ '\mreal\M' THEN 'real'
                WHEN p_message ~ '\mtimestamp without time zone\M' THEN 'datetime2'
                WHEN p_message ~ '\mtimestamp with time zone\M' THEN 'datetimeoffset'
                WHEN p_message ~ '\mbytea\M' THEN 'varbinary'
                ELSE p_otherwise END;
END;

-- SQL Server's name of the PostgreSQL type of an operand.
CREATE OR REPLACE FUNCTION ssb_internal.operand_type(p_type text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT CASE WHEN p_type ~ '^time\M' THEN 'time'
                WHEN p_type IN ('text', 'character varying') THEN 'varchar'
                WHEN p_type = 'character' THEN 'char'
                WHEN p_type ~ '^sys[.]' THEN substr(p_type, 5)
                ELSE ssb_internal.tsql_type_in(p_type, p_type) END;
END;
