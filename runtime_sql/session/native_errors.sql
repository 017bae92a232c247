-- PostgreSQL's own errors as SQL Server's: number, severity, state and text.
-- Names are taken from between the quotation marks of PostgreSQL's message, which
-- keep them in every language of the server. What else is read of messages are English words:
-- sessions have lc_messages C where their role may set it, and ssb.diagnose tells where the server speaks otherwise.
--
-- Called by  ssb_internal.failed (session/errors.sql)

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
     WHERE (p_table IS NULL OR c.relname = p_table) AND c.relkind IN ('r', 'p');
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
     WHERE c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S');
$$;

-- Whether a schema is one of the session's T-SQL database.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_this_database(p_schema text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb_internal.database_of_schema(p_schema) IS NOT DISTINCT FROM ssb_internal.current_database_id(); $$;

-- The values of a key, which PostgreSQL lists in its own spelling, as SQL Server's messages have them. A value may have a comma.
CREATE OR REPLACE FUNCTION ssb_internal.shown_key(p_index oid, p_key text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH value AS (
        SELECT v.place, v.value, format_type(a.atttypid, NULL) AS type, a.atttypmod AS typmod,
               ssb_internal.kept_type(col_description(a.attrelid, a.attnum)) AS kept
          FROM pg_index AS i
         CROSS JOIN LATERAL unnest(i.indkey[:i.indnkeyatts - 1], string_to_array(p_key, ', ')) WITH ORDINALITY AS v(attnum, value, place)
          LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = v.attnum
         WHERE i.indexrelid = p_index)
    SELECT CASE WHEN bool_and(v.type IS NOT NULL AND v.value IS NOT NULL)
                THEN string_agg(CASE
                    WHEN v.value = 'null' THEN '<NULL>'
                    WHEN v.type = 'timestamp without time zone' AND v.kept IS NULL AND v.typmod IN (0, 3)
                    THEN to_char(v.value::timestamp, 'Mon ') || lpad(to_char(v.value::timestamp, 'FMDD'), 2) || to_char(v.value::timestamp, ' YYYY ')
                         || lpad(to_char(v.value::timestamp, 'FMHH12'), 2) || to_char(v.value::timestamp, ':MIAM')
                    WHEN v.type = 'bytea' THEN '0x' || upper(substr(v.value, 3))
                    WHEN v.kept IN ('money', 'smallmoney') THEN round(v.value::numeric, 2)::text
                    ELSE v.value END, ', ' ORDER BY v.place)
                ELSE p_key END
      FROM value AS v;
$$;

-- Messages 2627, 2601 and 547, built from the catalog. p_verb: INSERT, UPDATE, DELETE, MERGE.
CREATE OR REPLACE FUNCTION ssb_internal.constraint_error(sqlstate_code text, p_message text, p_detail text, p_verb text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rule record;
    v_names text[] := ssb_internal.quoted_names(sqlstate_code, p_message);
    v_key text := substring(p_detail FROM '\)=\((.*)\)');
    v_owner text;
    v_index text;
    v_found oid;
    v_error ssb.error;
BEGIN
    SELECT c.conindid, c.conname, ssb_internal.spelled(obj_description(c.oid, 'pg_constraint'), c.conname::text) AS name, c.contype, c.conrelid, c.confrelid,
           c.conkey, c.confkey,
           -- PostgreSQL tells no schema: where several of the database have such a table, the name alone.
           CASE WHEN count(*) OVER (PARTITION BY d.is_here, r.relname) > 1 AND c.contype IN ('p', 'u', 'c')
                THEN ssb_internal.spelled(obj_description(r.oid, 'pg_class'), r.relname::text) ELSE ssb_internal.tsql_name_of(c.conrelid) END AS owner,
           ssb_internal.tsql_name_of(nullif(c.confrelid, 0)) AS target,
           -- A foreign key stays within a database.
           coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()) AS database,
           (SELECT format('%s.%s', ssb_internal.tsql_schema(n.nspname::text), t.typname) FROM pg_type AS t WHERE t.oid = c.contypid) AS domain
      INTO v_rule
      FROM pg_constraint AS c
      JOIN pg_namespace AS n ON n.oid = c.connamespace
      LEFT JOIN pg_class AS r ON r.oid = c.conrelid
     CROSS JOIN LATERAL (SELECT ssb_internal.is_of_this_database(n.nspname::text) AS is_here) AS d
     WHERE c.conname = ANY (v_names)
     ORDER BY r.relname = ANY (v_names) DESC NULLS LAST, d.is_here DESC
     LIMIT 1;
    v_error.severity := 16;
    v_error.state := 0;
    v_error.number := 547;
    IF sqlstate_code = '23505' THEN
        v_error.severity := 14;
        v_error.state := 1;
        -- An index has its table's name and __ before its own.
        v_owner := split_part(v_names[1], '__', 1);
        v_index := CASE WHEN v_names[1] LIKE '%\_\_%' THEN substr(v_names[1], length(v_owner) + 3) ELSE v_names[1] END;
        IF v_names[1] ~ '^pg_(class|type|proc|namespace|constraint|trigger)_' THEN
            -- Two sessions made something of one name, and this one's is the second.
            v_owner := split_part(v_key, ', ', 1);
            v_owner := CASE WHEN v_names[1] ~ '^pg_namespace_' THEN ssb_internal.tsql_schema(v_owner)
                            ELSE ssb_internal.spelled_relation(substring(v_owner FROM '(?:.+__)?(.+)$')) END;
            RETURN ROW(2714, format('There is already an object %s in the database.', coalesce(format('named ''%s''', nullif(v_owner, '')), 'of that name')),
                       16, 6, NULL, NULL)::ssb.error;
        ELSIF p_message ~ '^could not create' THEN
            v_error.number := 1505;
            v_error.severity := 16;
            v_error.message := format(
                'The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the %sindex name ''%s''.',
                -- That of a constraint does not tell its table, and is gone again.
                (SELECT format('object name ''%s'' and the ', ssb_internal.tsql_name_of(c.oid))
                   FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                  WHERE c.relname = v_owner AND c.relkind = 'r' ORDER BY ssb_internal.is_of_this_database(n.nspname::text) DESC LIMIT 1), v_index);
        ELSIF v_rule.contype IN ('p', 'u') THEN
            v_error.number := 2627;
            v_error.message := format('Violation of %s KEY constraint ''%s''. Cannot insert duplicate key in object ''%s''.',
                CASE v_rule.contype WHEN 'p' THEN 'PRIMARY' ELSE 'UNIQUE' END, v_rule.name, v_rule.owner);
        ELSE
            v_found := (SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                         WHERE c.relname = v_names[1] AND c.relkind = 'i' ORDER BY ssb_internal.is_of_this_database(n.nspname::text) DESC LIMIT 1);
            v_error.number := 2601;
            v_error.message := format('Cannot insert duplicate key row in object ''%s'' with unique index ''%s''.',
                (SELECT ssb_internal.tsql_name_of(i.indrelid) FROM pg_index AS i WHERE i.indexrelid = v_found),
                coalesce(ssb_internal.tsql_index_name(v_found), v_index));
        END IF;
        v_key := coalesce(ssb_internal.shown_key(coalesce(v_found, v_rule.conindid), v_key), v_key);
        v_key := regexp_replace(v_key, '(^|, )null(?=, |$)', '\1<NULL>', 'g');
        v_error.message := v_error.message || coalesce(' The duplicate key value is (' || v_key || ').', '');
    ELSIF v_rule.contype = 'f' THEN
        -- PostgreSQL names the changed table first: the child or, for a deleted or changed parent, the parent, and then the
        -- child behind the constraint, which may be the same table.
        v_error.message := (SELECT
            CASE WHEN v_names[1] = r.relname AND v_names[2] = v_rule.conname AND v_names[3] IS NULL
                 THEN format('The %s statement conflicted with the FOREIGN KEY %sconstraint "%s". The conflict occurred in '
                             'database "%s", table "%s", column ''%s''.', p_verb,
                             CASE WHEN v_rule.conrelid = v_rule.confrelid THEN 'SAME TABLE ' ELSE '' END, v_rule.name, v_rule.database, v_rule.target,
                             (SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) FROM pg_attribute AS a
                               WHERE a.attrelid = v_rule.confrelid AND a.attnum = v_rule.confkey[1]))
                 ELSE format('The %s statement conflicted with the %s constraint "%s". The conflict occurred in '
                             'database "%s", table "%s", column ''%s''.', p_verb,
                             CASE WHEN v_rule.conrelid = v_rule.confrelid THEN 'SAME TABLE REFERENCE' ELSE 'REFERENCE' END,
                             v_rule.name, v_rule.database, v_rule.owner,
                             (SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) FROM pg_attribute AS a
                               WHERE a.attrelid = v_rule.conrelid AND a.attnum = v_rule.conkey[1]))
            END FROM pg_class AS r WHERE r.oid = v_rule.conrelid);
    ELSIF v_rule.conname LIKE 'rule\_\_%' THEN
        -- sp_bindrule names it so.
        v_error.number := 513;
        v_error.message := format('A column insert or update conflicts with a rule imposed by a previous CREATE RULE statement. The statement '
                                  'was terminated. The conflict occurred in database ''%s'', table ''%s'', column ''%s''.', v_rule.database,
                                  v_rule.owner, (SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) FROM pg_attribute AS a
                                                  WHERE a.attrelid = v_rule.conrelid AND a.attnum = v_rule.conkey[1]));
    ELSIF v_rule.domain IS NOT NULL THEN
        v_error.message := format('The %s statement conflicted with the CHECK constraint "%s". The conflict occurred in database "%s", type "%s".',
                                  p_verb, v_rule.name, v_rule.database, v_rule.domain);
    ELSIF v_rule.name IS NULL AND v_names[2] IS NULL THEN
        -- Tables of other tools: no partition takes the row, or the partition that it is written to does not.
        SELECT format('The %s statement conflicted with the CHECK constraint "%s". The conflict occurred in database "%s", table "%s".%s', p_verb,
                      coalesce('PARTITION BY ' || pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid)),
                      coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()),
                      ssb_internal.tsql_name_of(c.oid), ' No partition takes ' || substring(p_detail FROM '[(].*[)] = [(].*[)]') || '.')
          INTO v_error.message
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.relname = v_names[1] AND (c.relkind = 'p' OR c.relispartition) LIMIT 1;
        v_error.message := coalesce(v_error.message, p_message);
    ELSE
        IF v_rule.name IS NULL AND p_message ~ '^check constraint' THEN
            -- One that could not be made: it stands before its table.
            v_names := ARRAY[v_names[2], v_names[1]];
        ELSIF v_rule.name IS NULL THEN
            v_names[1] := coalesce(substring(p_detail FROM ' is not present in table "(.+)"[.]$'), v_names[1]);
        END IF;
        v_error.message := format('The %s statement conflicted with the %s constraint "%s". The conflict occurred in '
                                  'database "%s", table "%s"%s.', p_verb,
                                  CASE WHEN p_message ~ 'foreign key' THEN 'FOREIGN KEY' ELSE 'CHECK' END, coalesce(v_rule.name, v_names[2]),
                                  coalesce(v_rule.database, ssb.db_name()),
                                  coalesce(v_rule.owner,
                                           (SELECT ssb_internal.tsql_name_of(c.oid) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                                             WHERE c.relname = v_names[1] AND c.relkind IN ('r', 'p')
                                             ORDER BY ssb_internal.is_of_this_database(n.nspname::text) DESC LIMIT 1), v_names[1]),
                                  CASE WHEN array_length(v_rule.conkey, 1) = 1 THEN
                                       (SELECT format(', column ''%s''', ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text)) FROM pg_attribute AS a
                                         WHERE a.attrelid = v_rule.conrelid AND a.attnum = v_rule.conkey[1]) END);
    END IF;
    RETURN v_error;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.value_too_large()
RETURNS ssb.error
LANGUAGE sql IMMUTABLE
RETURN ROW(7119, 'Attempting to grow LOB beyond maximum allowed size of 1073741823 bytes.', 16, 1, NULL, NULL)::ssb.error;

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

-- Message 229.
CREATE OR REPLACE FUNCTION ssb_internal.denied_text(p_right text, p_relation regclass)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT format('The %s permission was denied on the object ''%s'', database ''%s'', schema ''%s''.', p_right,
                  coalesce(ssb_internal.queue_spelling(p_relation), ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)),
                  coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()), ssb_internal.tsql_schema(n.nspname::text))
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.oid = p_relation;
END;

-- The right to a relation that the session lacks. PostgreSQL's message does not tell: who may change the rows may not read them, then.
CREATE OR REPLACE FUNCTION ssb_internal.denied_right(p_verb text, p_relation regclass)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_verb IN ('CREATE TABLE', 'ALTER TABLE') THEN 'REFERENCES'
                ELSE coalesce(min(r.name) FILTER (WHERE r.name = p_verb), min(r.name) FILTER (WHERE r.place = r.first),
                              p_verb, 'SELECT') END
      FROM (SELECT w.name, w.place, min(w.place) OVER () AS first
              FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) WITH ORDINALITY AS w(name, place)
             WHERE NOT has_table_privilege(p_relation, w.name)) AS r;
$$;

-- The relation that a bare name in one of PostgreSQL's messages means: the only one, or the only one in the session's database.
CREATE OR REPLACE FUNCTION ssb_internal.relation_in_message(p_name text)
RETURNS regclass
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(*) = 1 THEN min(r.id)
                WHEN count(*) FILTER (WHERE r.here) = 1 THEN min(r.id) FILTER (WHERE r.here) END
      FROM (SELECT c.oid AS id, ssb_internal.database_of_schema(n.nspname::text) = ssb_internal.current_database_id() AS here
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

-- A view through which PostgreSQL changes no rows: p_detail tells why.
CREATE OR REPLACE FUNCTION ssb_internal.error_of_view(p_view text, p_detail text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := ssb_internal.table_named(p_view);
BEGIN
    RETURN CASE
        WHEN to_regclass('sys.' || quote_ident(p_view)) IS NOT NULL AND v_name ~ '^(sys[.].*|[^.]*)$'
        THEN ROW(259, 'Ad hoc updates to system catalogs are not allowed.', 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'UNION'
        THEN ROW(4416, format('UNION ALL view ''%s'' is not updatable because the definition contains a disallowed construct.', v_name),
                 16, 1, NULL, NULL)::ssb.error
        WHEN EXISTS (SELECT FROM pg_class AS c WHERE c.relname = p_view AND c.relkind = 'v' AND ssb_internal.is_unbound(c.oid))
        THEN ROW(4413, format('Could not use view or function ''%s'' because of binding errors.', v_name), 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'single table'
        THEN ROW(4405, format('View or function ''%s'' is not updatable because the modification affects multiple base tables.', v_name),
                 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'GROUP BY|DISTINCT|HAVING|aggregate'
        THEN ROW(4403, format('Cannot update the view or function ''%s'' because it contains aggregates, or a DISTINCT or GROUP BY clause, '
                              'or PIVOT or UNPIVOT operator.', v_name), 16, 1, NULL, NULL)::ssb.error
        ELSE ROW(4406, format('Update or insert of view or function ''%s'' failed because it contains a derived or constant field.', v_name),
                 16, 1, NULL, NULL)::ssb.error
    END;
END;
$$;

-- 4121, of a function in an expression.
CREATE OR REPLACE FUNCTION ssb_internal.no_function_error(p_schema text, p_name text)
RETURNS ssb.error
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ROW(4121, format('Cannot find either column "%s" or the user-defined function or aggregate "%s", or the name is ambiguous.',
                            coalesce(p_schema, p_name), concat_ws('.', p_schema, p_name)), 16, 1, NULL, NULL)::ssb.error
$$;

CREATE OR REPLACE FUNCTION ssb_internal.native_error(sqlstate_code text, p_message text, p_detail text, p_verb text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error := ROW(50000, p_message, 16, 1, NULL, NULL);
    v_first text := ssb_internal.quoted_name(p_message, 1);
    v_types text[];
    v_missing text[];
    v_behind text;
    v_action text;
    v_relation regclass;
BEGIN
    -- Behind the verb: functions in FROM that the compiler did not know, the foreign keys of a table, or the table whose column is altered.
    v_behind := substring(p_verb FROM ': (.*)$');
    p_verb := nullif(regexp_replace(p_verb, ': .*$', ''), '');
    IF p_verb LIKE 'ALTER TABLE %' THEN
        v_action := p_verb;
        p_verb := 'ALTER TABLE';
    END IF;
    IF (v_action IS NULL OR v_action = 'ALTER TABLE ADD') AND v_behind LIKE '[%' THEN
        v_error := ssb_internal.foreign_key_error(sqlstate_code, p_message, p_detail, v_behind::jsonb);
        IF v_error.number IS NOT NULL THEN
            RETURN v_error;
        END IF;
        v_error := ROW(50000, p_message, 16, 1, NULL, NULL);
    ELSE
        v_missing := string_to_array(v_behind, '.');
    END IF;
    IF sqlstate_code = '3F000' AND v_first = 'pg_temp' THEN
        -- The session has had no temporary table yet.
        v_first := coalesce(v_behind, '#');
    ELSIF sqlstate_code IN ('42P01', '3F000') AND v_first ~ '^\w+_\w+([.]\w+)?$' AND to_regnamespace(split_part(v_first, '.', 1)) IS NULL THEN
        -- A schema that is not there, of a database that is, or maybe is not: if not dbo, only the text tells (ssb_internal.as_written).
        v_first := regexp_replace(concat_ws('.', ssb_internal.tsql_schema(split_part(v_first, '.', 1)), nullif(split_part(v_first, '.', 2), '')),
                                  '^(\w+)_dbo[.]', '\1.dbo.');
    ELSIF sqlstate_code IN ('42P01', '3F000') AND v_first ~ '^[^.]+([.][^.]+)?$' THEN
        -- As the script names it, without the database's prefix.
        v_first := CASE WHEN v_first LIKE '%.%' THEN ssb_internal.spelling_in_message(v_first)
                        WHEN sqlstate_code = '3F000' THEN ssb_internal.tsql_schema(v_first) ELSE v_first END;
    ELSIF v_first LIKE 'pg\_temp.#%' THEN
        v_first := substr(v_first, length('pg_temp.') + 1);
    END IF;
    CASE sqlstate_code
    WHEN '23505', '23503', '23514', '23P01' THEN
        v_error := ssb_internal.constraint_error(sqlstate_code, p_message, p_detail, p_verb);
    WHEN '44000' THEN
        v_error := ROW(550, 'The attempted insert or update failed because the target view either specifies WITH CHECK OPTION or '
                            'spans a view that specifies WITH CHECK OPTION and one or more rows resulting from the operation did '
                            'not qualify under the CHECK OPTION constraint.', 16, 1, NULL, NULL);
    WHEN '23502' THEN
        IF p_message ~ ' contains null values$' THEN
            -- A column is added without a value, or a primary key; ALTER COLUMN is an UPDATE to SQL Server.
            v_error := CASE WHEN v_action = 'ALTER TABLE ADD' THEN ROW(4901, format(
                'ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column '
                'being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table '
                'must be empty to allow addition of this column. Column ''%s'' cannot be added to non-empty table ''%s'' because it does not '
                'satisfy these conditions.', v_first, ssb_internal.spelled_relation(ssb_internal.quoted_name(p_message, 2))), 16, 1, NULL, NULL)::ssb.error
                WHEN v_action IS NULL THEN ROW(8111, format('Cannot define PRIMARY KEY constraint on nullable column in table ''%s''.',
                    ssb_internal.spelled_relation(ssb_internal.quoted_name(p_message, 2))), 16, 1, NULL, NULL)::ssb.error END;
            p_verb := 'UPDATE';
        END IF;
        IF v_error.number IS NULL OR v_error.number = 50000 THEN
            v_error := ROW(515, format('Cannot insert the value NULL into column ''%s'', table ''%s''; column does not allow nulls. '
                                       '%s fails.', ssb_internal.spelled_column(ssb_internal.quoted_name(p_message, 2), v_first),
                                       coalesce(ssb_internal.qualified_table(ssb_internal.quoted_name(p_message, 2)), ''), p_verb),
                           16, 2, NULL, NULL);
        END IF;
    WHEN '428C9' THEN
        v_error := CASE
            WHEN p_detail ~ 'is a generated column'
            THEN ROW(271, format('The column "%s" cannot be modified because it is either a computed column or is the result of a UNION '
                                 'operator.', ssb_internal.spelled_column(NULL, v_first)), 16, 1, NULL, NULL)::ssb.error
            WHEN p_verb = 'UPDATE'
            THEN ROW(8102, format('Cannot update identity column ''%s''.', ssb_internal.spelled_column(NULL, v_first)), 16, 1, NULL, NULL)::ssb.error
            -- PostgreSQL names the column, SQL Server the table: that one may be known all the same.
            ELSE ROW(544, format('Cannot insert explicit value for identity column %s when IDENTITY_INSERT is set to OFF.',
                                 (SELECT CASE count(*) WHEN 1 THEN format('in table ''%s''', min(ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)))
                                                       ELSE format('''%s''', v_first) END
                                    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
                                   WHERE a.attname = v_first AND a.attidentity = 'a')), 16, 1, NULL, NULL)::ssb.error END;
    WHEN '22012' THEN
        v_error := ROW(8134, 'Divide by zero error encountered.', 16, 1, NULL, NULL);
    WHEN '22003' THEN
        -- "numeric field overflow": too many digits for numeric(p, s).
        v_error := CASE WHEN p_message ~ 'field'
            THEN ROW(8115, 'Arithmetic overflow error converting numeric to data type numeric.', 16, 8, NULL, NULL)::ssb.error
            -- "input is out of range": ACOS(2) and its like.
            WHEN p_message ~ '^input'
            THEN ROW(3623, 'An invalid floating point operation occurred.', 16, 1, NULL, NULL)::ssb.error
            -- "value out of range: overflow": of a float.
            ELSE ROW(8115, format('Arithmetic overflow error converting expression to data type %s.',
                                  ssb_internal.tsql_type_in(p_message, CASE WHEN p_message ~ 'flow$' THEN 'float' ELSE 'int' END)),
                     16, 2, NULL, NULL)::ssb.error END;
    WHEN '2BP01' THEN
        IF p_message ~ '^cannot drop column' THEN
            v_error := ROW(4922, format('ALTER TABLE DROP COLUMN %s failed because one or more objects access this column.',
                                        substring(p_message FROM '^cannot drop column (.+?) of ')), 16, 9, NULL, NULL);
        ELSIF p_message ~ '^cannot drop constraint ' AND p_detail ~ '^constraint .* on table .* depends on ' THEN
            v_types := regexp_match(p_detail, '^constraint (.+?) on table (?:.+?[.])?(\S+) depends on ');
            v_error := ROW(3725, format('The constraint ''%s'' is being referenced by table ''%s'', foreign key constraint ''%s''.',
                                        substring(p_message FROM '^cannot drop constraint (.+?) on table '),
                                        ssb_internal.spelled_relation(v_types[2]), v_types[1]), 16, 0, NULL, NULL);
        ELSIF p_message ~ '^cannot drop index .* because constraint .* requires it$' THEN
            v_types := regexp_match(p_message, ' because constraint (.+) on table (.+) requires it$');
            v_error := ROW(3723, format('An explicit DROP INDEX is not allowed on index ''%s.%s''. It is being used for %s constraint enforcement.',
                                        ssb_internal.spelled_relation((parse_ident(v_types[2]))[cardinality(parse_ident(v_types[2]))]), v_types[1],
                                        (SELECT CASE c.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE KEY' END FROM pg_constraint AS c
                                          WHERE c.conrelid = to_regclass(v_types[2]) AND c.conname = v_types[1])), 16, 4, NULL, NULL);
        END IF;
    WHEN '2200H' THEN
        v_error := ROW(11728, format('The sequence object ''%s'' has reached its minimum or maximum value. Restart the sequence '
                                     'object to allow new values to be generated.', ssb_internal.spelled_relation(v_first)), 16, 1, NULL, NULL);
    WHEN '2201W' THEN
        v_error := CASE WHEN p_message ~ 'NULL'
            THEN ROW(1060, 'The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.',
                     15, 1, NULL, NULL)::ssb.error
            ELSE ROW(127, 'A TOP N or FETCH rowcount value may not be negative.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '22014' THEN
        v_error := ROW(4116, 'The function ''ntile'' takes only a positive int or bigint expression as its input.', 16, 1, NULL, NULL);
    WHEN '2202H' THEN
        v_error := ROW(476, 'Invalid PERCENT tablesample size. The PERCENT tablesample size must be between 0 and 100.', 15, 1, NULL, NULL);
    WHEN '42701' THEN
        -- Each table has its system columns: what SELECT INTO calls so has no error of SQL Server's.
        v_error := CASE WHEN p_message ~ 'conflicts with a system column' THEN v_error ELSE ROW(2705, format('Column names in each table must be unique. Column name ''%s'' in table ''%s'' is specified more '
                                    'than once.', v_first, coalesce(ssb_internal.table_named(ssb_internal.quoted_name(p_message, 2)), '')), 16, 4, NULL, NULL)::ssb.error END;
    WHEN '42712' THEN
        v_error := CASE WHEN p_message ~ '^WITH query name '
            THEN ROW(239, format('Duplicate common table expression name ''%s'' was specified.', v_first), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(1011, format('The correlation name ''%s'' is specified multiple times in a FROM clause.', v_first),
                     16, 1, NULL, NULL)::ssb.error END;
    WHEN '42601' THEN
        -- Columns that are only known when it runs: the rows have more values than the table has columns, or fewer.
        IF p_message ~ '^INSERT ' THEN
            v_error := ROW(213, 'Column name or number of supplied values does not match table definition.', 16, 1, NULL, NULL);
        ELSIF p_message ~ '^subquery ' THEN
            v_error := ROW(116, 'Only one expression can be specified in the select list when the subquery is not introduced with '
                                'EXISTS.', 16, 1, NULL, NULL);
        ELSIF p_message ~ '^multiple assignments ' THEN
            v_error := ROW(264, format('The column name ''%s'' is specified more than once in the SET clause or column list of an INSERT. '
                                       'A column cannot be assigned more than one value in the same clause. Modify the clause to make '
                                       'sure that a column is updated only once. If this statement updates or inserts columns into a '
                                       'view, column aliasing can conceal the duplication in your code.', v_first), 16, 1, NULL, NULL);
        END IF;
    WHEN '2201X' THEN
        v_error := ROW(10742, 'The offset specified in a OFFSET clause may not be negative.', 15, 1, NULL, NULL);
    WHEN '2201E', '2201F' THEN
        v_error := ROW(3623, 'An invalid floating point operation occurred.', 16, 1, NULL, NULL);
    WHEN '22P02' THEN
        v_error := CASE
            -- In front of the value: "… for type uuid: …".
            WHEN p_message ~ '^[^\u0022\u00AB\u00BB\u201E\u201C]*\muuid\M'
            THEN ROW(8169, 'Conversion failed when converting from a character string to uniqueidentifier.', 16, 2, NULL, NULL)::ssb.error
            -- So does an enum, which has a schema, and what stands for it in "malformed range literal: …". That of JSON is in the detail.
            ELSE ROW(245, format('Conversion failed when converting the varchar value ''%s'' to data type %s.',
                                 coalesce(ssb_internal.quoted_name(p_message, 1), ssb_internal.quoted_name(p_detail, 1)),
                                 ssb_internal.tsql_type_in(split_part(p_message, ':', 1),
                                     substring(split_part(p_message, ':', 1) FROM '([^ ."]+)"?(?: literal)?$'))),
                     16, 1, NULL, NULL)::ssb.error END;
    WHEN '22008' THEN
        -- Behind a colon stands what was read; without one the result of an addition is out of range.
        v_error := CASE
            WHEN p_message ~ ': "?\s*\d{1,2}:' THEN ROW(241, 'Conversion failed when converting date and/or time from character string.',
                                                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ': "?\s*\d' THEN ROW(242, 'The conversion of a varchar data type to a datetime data type resulted in an '
                                               'out-of-range value.', 16, 3, NULL, NULL)::ssb.error
            ELSE ROW(517, 'Adding a value to a ''datetime'' column caused an overflow.', 16, 1, NULL, NULL)::ssb.error END;
    WHEN '22023' THEN
        IF p_message ~ '^time zone "' THEN
            v_error := ROW(9820, format('The time zone parameter ''%s'' provided to AT TIME ZONE clause is invalid.', v_first),
                           16, 1, NULL, NULL);
        ELSIF p_message = 'step size cannot equal zero' THEN
            v_error := ROW(4199, 'Argument value 0 is invalid for argument 3 of generate_series function.', 16, 1, NULL, NULL);
        END IF;
    WHEN '22007' THEN
        v_error := ROW(241, 'Conversion failed when converting date and/or time from character string.', 16, 1, NULL, NULL);
    WHEN '22001' THEN
        v_error := ROW(2628, 'String or binary data would be truncated.', 16, 1, NULL, NULL);
    WHEN '21000' THEN
        v_error := ROW(512, 'Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, '
                            '<= , >, >= or when the subquery is used as an expression.', 16, 1, NULL, NULL);
    WHEN '42830' THEN
        v_error := ROW(1776, format('There are no primary or candidate keys in the referenced table ''%s'' that match the referencing column '
                                    'list in the foreign key.', v_first), 16, 0, NULL, NULL);
    WHEN '42804' THEN
        v_types := regexp_match(p_message, '^column ".*" is of type (.+) but expression is of type (.+)$');
        IF v_types IS NOT NULL THEN
            v_error := ROW(206, format('Operand type clash: %s is incompatible with %s', ssb_internal.operand_type(v_types[2]),
                                       ssb_internal.tsql_type_in(v_types[1], v_types[1])), 16, 2, NULL, NULL);
        END IF;
    WHEN '42702' THEN
        v_error := ROW(209, format('Ambiguous column name ''%s''.', v_first), 16, 1, NULL, NULL);
    WHEN '42803' THEN
        v_error := CASE
            WHEN v_first IS NOT NULL
            THEN ROW(8120, format('Column ''%s'' is invalid in the select list because it is not contained in either an aggregate '
                                  'function or the GROUP BY clause.', v_first), 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ 'nested'
            THEN ROW(130, 'Cannot perform an aggregate function on an expression containing an aggregate or a subquery.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ 'cannot contain window function calls'
            THEN ROW(4109, 'Windowed functions cannot be used in the context of another windowed function or aggregate.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in UPDATE$'
            THEN ROW(157, 'An aggregate may not appear in the set list of an UPDATE statement.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in RETURNING$'
            THEN ROW(158, 'An aggregate may not appear in the OUTPUT clause.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in GROUP BY$'
            THEN ROW(144, 'Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in (check constraints|column generation expressions)$'
            THEN ROW(175, 'An aggregate may not appear in a computed column expression or check constraint.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in JOIN conditions$'
            THEN ROW(1015, 'An aggregate cannot appear in an ON clause unless it is in a subquery contained in a HAVING clause or select '
                           'list, and the column being aggregated is an outer reference.', 15, 1, NULL, NULL)::ssb.error
            ELSE ROW(147, 'An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause '
                          'or a select list, and the column being aggregated is an outer reference.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '42P17' THEN
        IF p_message ~ '^generation expression is not immutable' THEN
            v_error := ROW(4936, 'A computed column of the table cannot be persisted because the column is non-deterministic. '
                                 'Put it into a view.', 16, 1, NULL, NULL);
        END IF;
    WHEN '42P20' THEN
        v_error := CASE WHEN p_message ~ 'nested|in window definitions$'
            THEN ROW(4109, 'Windowed functions cannot be used in the context of another windowed function or aggregate.',
                     15, 1, NULL, NULL)::ssb.error
            ELSE ROW(4108, 'Windowed functions can only appear in the SELECT or ORDER BY clauses.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '42P19' THEN
        -- A recursive common table expression. PostgreSQL does not name it where it finds an aggregate.
        v_error := CASE
            WHEN p_message ~ ' must have the form '
            THEN ROW(252, format('Recursive common table expression ''%s'' does not contain a top-level UNION ALL operator.', v_first),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' more than once$'
            THEN ROW(253, format('Recursive member of a common table expression ''%s'' has multiple recursive references.', v_first),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within its non-recursive term$'
            THEN ROW(246, format('No anchor member was specified for recursive query "%s".', v_first), 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within an outer join$'
            THEN ROW(462, format('Outer join is not allowed in the recursive part of a recursive common table expression ''%s''.', v_first),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within a subquery$'
            THEN ROW(465, 'Recursive references are not allowed in subqueries.', 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ '^aggregate functions '
            THEN ROW(467, 'GROUP BY, HAVING, or aggregate functions are not allowed in the recursive part of a recursive common table '
                          'expression ''''.', 16, 1, NULL, NULL)::ssb.error
            ELSE v_error END;
    WHEN '42P10' THEN
        v_error := CASE WHEN p_message ~ '[0-9]'
            THEN ROW(108, format('The ORDER BY position number %s is out of range of the number of items in the select list.',
                                 substring(p_message FROM '[0-9]+')), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(145, 'ORDER BY items must appear in the select list if SELECT DISTINCT is specified.', 15, 1, NULL, NULL)::ssb.error
            END;
    WHEN '42P01', '3F000' THEN
        v_error := CASE
            -- "missing FROM-clause entry for table …", where no relation is looked for.
            WHEN p_message ~ 'FROM-clause'
            THEN ROW(4104, format('The multi-part identifier "%s" could not be bound.', v_first), 16, 1, NULL, NULL)::ssb.error
            -- Of a schema that is not there PostgreSQL tells no more: the text has the object (ssb_internal.as_written).
            WHEN p_verb IN ('ALTER TABLE', 'TRUNCATE TABLE', 'CREATE INDEX', 'ALTER INDEX')
            THEN ROW(CASE p_verb WHEN 'ALTER TABLE' THEN 4902 WHEN 'TRUNCATE TABLE' THEN 4701 ELSE 1088 END,
                     format('Cannot find the object "%s%s" because it does not exist or you do not have permissions.',
                            v_first, CASE WHEN sqlstate_code = '3F000' AND v_first NOT LIKE '#%' THEN '.*' END),
                     16, CASE p_verb WHEN 'CREATE INDEX' THEN 12 WHEN 'ALTER INDEX' THEN 9 ELSE 1 END, NULL, NULL)::ssb.error
            WHEN p_verb = 'DROP INDEX'
            THEN ROW(3701, format('Cannot drop the index ''%s%s'', because it does not exist or you do not have permission.', v_first,
                                  CASE WHEN sqlstate_code = '3F000' AND v_first NOT LIKE '#%' THEN '.*' END),
                     11, 7, NULL, NULL)::ssb.error
            -- A function's schema, or that of what is to be made.
            WHEN sqlstate_code = '3F000' AND v_first NOT LIKE '#%'
            THEN CASE WHEN v_missing[1] LIKE '%()' THEN ssb_internal.no_function_error(v_first, rtrim(v_missing[1], '()'))
                      WHEN cardinality(v_missing) > 0
                      THEN ROW(208, format('Invalid object name ''%s.%s''.', v_first, v_missing[1]), 16, 1, NULL, NULL)::ssb.error
                      ELSE ssb_internal.no_schema_error(ssb_internal.quoted_name(p_message, 1)) END
            ELSE ROW(208, format('Invalid object name ''%s''.', v_first), 16, 1, NULL, NULL)::ssb.error END;
    WHEN '42883' THEN
        -- "procedure dbo.p(…) does not exist", "function dbo.f(…) does not exist": no quotation marks here.
        IF p_message ~ '^procedure ' THEN
            v_types := regexp_match(p_message, '^procedure (?:([^.(]+)[.])?([^(]+)');
            v_error := ROW(2812, format('Could not find stored procedure ''%s''.',
                                        concat_ws('.', ssb_internal.tsql_schema(v_types[1]), v_types[2])), 16, 62, NULL, NULL);
        ELSIF p_message ~ 'sys\.convert_\w+\(' THEN
            -- "function sys.convert_int(uuid) does not exist": T-SQL has no such conversion.
            v_types := regexp_match(p_message, 'sys\.convert_(\w+)\(([^,)]+)');
            v_error := ROW(206, format('Operand type clash: %s is incompatible with %s', ssb_internal.tsql_type_in(v_types[2], v_types[2]),
                                       v_types[1]), 16, 2, NULL, NULL);
        ELSIF p_message ~ ' (sys\.)?xml\M' AND p_message !~ '\(' THEN
            v_error := ROW(305, 'The XML data type cannot be compared or sorted, except when using the IS NULL operator.',
                           16, 1, NULL, NULL);
        ELSIF p_message !~ '\(' THEN
            -- "operator does not exist: boolean = integer"
            v_types := regexp_match(p_message, ': (.+) ([-+*/<>=~!@#%^&|?]+) (.+)$');
            v_error := ROW(402, format('The data types %s and %s are incompatible in the %s operator.',
                                       ssb_internal.operand_type(v_types[1]), ssb_internal.operand_type(v_types[3]),
                                       coalesce(ssb_internal.operator_name(v_types[2]), quote_literal(replace(v_types[2], '#', '^')))),
                           16, 1, NULL, NULL);
            IF v_types IS NULL THEN
                -- "operator does not exist: ~ character varying"
                v_types := regexp_match(p_message, ': (\S+) (.+)$');
                v_error := ROW(8117, format('Operand data type %s is invalid for %s operator.', ssb_internal.operand_type(v_types[2]),
                                            CASE v_types[1] WHEN '-' THEN 'minus' ELSE quote_literal(v_types[1]) END), 16, 1, NULL, NULL);
            END IF;
        ELSE
            v_types := regexp_match(p_message, '^\w+ (?:([^.(]+)[.])?([^(]+)\(');
            v_types[1] := ssb_internal.tsql_schema(v_types[1]);
            IF v_types[2] = ANY (v_missing) THEN
                RETURN ROW(208, format('Invalid object name ''%s''.', concat_ws('.', v_types[1], v_types[2])), 16, 1, NULL, NULL)::ssb.error;
            END IF;
            v_error := ssb_internal.no_function_error(v_types[1], v_types[2]);
        END IF;
    WHEN '42703' THEN
        -- "column t.a does not exist": no quotation marks here.
        v_first := coalesce(v_first, substring(p_message FROM '^column [^.]*\.(.+) does not exist$'),
                            substring(p_message FROM '[\w$]+\.([\w$]+)'), p_message);
        v_error := CASE
            WHEN v_action ~ 'COLUMN$'
            THEN ROW(4924, format('%s failed because column ''%s'' does not exist in table ''%s''.', v_action, v_first, v_behind),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_verb = 'CREATE INDEX' OR p_message ~ ' named in key does not exist$'
                 -- A key that ALTER TABLE adds.
                 OR p_verb = 'ALTER TABLE' AND p_message ~ '^column ".*" of relation ".*" does not exist$'
            THEN ROW(1911, format('Column name ''%s'' does not exist in the target table or view.', v_first), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(207, format('Invalid column name ''%s''.', v_first), 16, 1, NULL, NULL)::ssb.error END;
    WHEN '42704' THEN
        IF p_message ~ '^index' THEN
            v_error := ROW(3701, format('Cannot drop the index ''%s'', because it does not exist or you do not have permission.',
                                        replace(v_first, '__', '.')), 11, 7, NULL, NULL);
        ELSIF p_message ~ '^there is no primary key for referenced table' THEN
            -- PostgreSQL has not named the constraint yet.
            v_error := ROW(1773, format('Foreign key has implicit reference to object ''%s'' which does not have a primary key '
                                        'defined on it.', v_first), 16, 0, NULL, NULL);
        ELSIF p_message ~ '^constraint' THEN
            v_error := ROW(3728, format('''%s'' is not a constraint.', v_first), 16, 1, NULL, NULL);
        ELSIF v_first LIKE 'ssb.%' THEN
            -- xml(collection) is a domain ssb."schema.collection" (xml/schema/typed_xml.sql).
            v_error := ROW(6314, format('Collection specified does not exist in metadata : ''%s''',
                                        regexp_replace(v_first, '^ssb\.([^.]*\.)?| document$', '', 'g')), 16, 1, NULL, NULL);
        ELSIF v_first IS NULL AND p_message ~ '^type .+ does not exist' THEN
            -- "type dbo.t does not exist": no quotation marks where a schema is named.
            v_error := ROW(2715, format('Column, parameter, or variable #1: Cannot find data type %s.',
                                        ssb_internal.spelling_in_message(substring(p_message FROM '^type (.+) does not exist'))), 16, 3, NULL, NULL);
        ELSIF p_message ~ '^type ".*" does not exist' THEN
            -- A table variable is an array.
            v_error := ROW(2715, format('Column, parameter, or variable #1: Cannot find data type %s.',
                                        ssb_internal.spelling_in_message(regexp_replace(v_first, '\[\]$', ''))), 16, 3, NULL, NULL);
        END IF;
    WHEN '42P07', '42723', '42710' THEN
        v_error := coalesce(
            CASE p_verb WHEN 'CREATE TYPE'
            THEN ROW(219, format('The type ''%s'' already exists, or you do not have permission to create it.', v_first), 16, 1, NULL, NULL)::ssb.error END,
            (SELECT ROW(1913, format('The operation failed because an index or statistics with name ''%s'' already exists on '
                                     'table ''%s''.', regexp_replace(i.relname, '^.*?__', ''), t.relname), 16, 1, NULL, NULL)::ssb.error
               FROM pg_catalog.pg_class AS i
               JOIN pg_catalog.pg_index AS x ON x.indexrelid = i.oid
               JOIN pg_catalog.pg_class AS t ON t.oid = x.indrelid
              WHERE i.relname = v_first AND i.relname LIKE t.relname || '\_\_%' LIMIT 1),
            -- State 5: the name is that of a constraint.
            ROW(2714, format('There is already an object named ''%s'' in the database.', v_first), 16,
                CASE WHEN p_message ~ '^constraint' OR EXISTS (
                     SELECT FROM pg_catalog.pg_constraint AS c WHERE c.conname = v_first AND c.contype IN ('p', 'u')) THEN 5 ELSE 6 END,
                NULL, NULL)::ssb.error);
    WHEN '0A000' THEN
        IF p_message LIKE 'cannot access temporary or unlogged relations%' THEN
            -- A standby: what a statement that changes something reads first may be in such a table.
            v_error := ROW(3906, format('Failed to update database "%s" because the database is read-only.', ssb.db_name()),
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^invalid UNION/INTERSECT/EXCEPT ORDER BY clause$' THEN
            v_error := ROW(104, 'ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.',
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot use subquery in ' THEN
            v_error := ROW(1046, 'Subqueries are not allowed in this context. Only scalar expressions are allowed.', 15, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot truncate a table referenced in a foreign key' THEN
            v_error := ROW(4712, format('Cannot truncate table ''%s'' because it is being referenced by a FOREIGN KEY constraint.',
                                        ssb_internal.table_named(ssb_internal.quoted_name(p_detail, 2))), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot alter type of a column used by' THEN
            v_error := ROW(4922, format('ALTER TABLE ALTER COLUMN %s failed because one or more objects access this column.',
                                        ssb_internal.quoted_name(p_detail, 1)), 16, 9, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|merge into) column .* of view' THEN
            v_error := ssb_internal.error_of_view(ssb_internal.quoted_name(p_message, 2), p_detail);
        END IF;
    WHEN '55000', '42809' THEN
        -- A query of an index or a type, whose names are among those of tables here; TRUNCATE of a view or queue; INSERT, UPDATE, DELETE of a queue.
        IF p_message ~ 'is not a table$' AND coalesce(p_verb, '') IN ('', 'TRUNCATE TABLE') THEN
            v_error := ROW(4708, format('Could not truncate object ''%s'' because it is not a table.', v_first), 16, 1, NULL, NULL);
        -- PostgreSQL 18 says the latter, of a table where it wants a sequence.
        ELSIF p_message ~ '^".*" is not a sequence$' OR p_message ~ '^cannot open relation '
              AND EXISTS (SELECT FROM pg_class AS c WHERE c.relname = v_first AND c.relkind IN ('r', 'p', 'v'))
              AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relname = v_first AND c.relkind IN ('i', 'c')) THEN
            v_error := ROW(11726, format('Object ''%s'' is not a sequence object.', v_first), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot open relation |^".*" is an? (index|composite type)$' THEN
            v_error := ROW(208, format('Invalid object name ''%s''.', v_first), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|delete from|merge into) ' AND ssb_internal.names_queue(v_first) THEN
            v_error := ROW(416, format('The service queue "%s" cannot be directly updated.', v_first), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|delete from|merge into) view' THEN
            v_error := ssb_internal.error_of_view(v_first, p_detail);
        -- The latter is PostgreSQL 14's, here and below.
        ELSIF p_message ~ '^cannot create index on relation | is not a table or materialized view$' AND ssb_internal.names_queue(v_first) THEN
            v_error := ROW(1914, format('Index cannot be created on object ''%s'' because the object is not a user table or view.', v_first),
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot create index on relation | is not a table or materialized view$' THEN
            v_error := ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                        v_first), 16, 12, NULL, NULL);
        ELSIF p_message ~ '^".*" is a view$' AND p_detail ~ '[Tt]riggers' THEN
            v_error := ROW(8197, format('The object ''%s'' does not exist or is invalid for this operation.', v_first), 16, 6, NULL, NULL);
        ELSIF p_message ~ '^cannot change sequence ' THEN
            v_error := ROW(208, format('Invalid object name ''%s''.', v_first), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^ALTER action .* cannot be performed on relation ' AND p_detail ~ 'views'
              OR p_message ~ ' is not a table, composite type, or foreign table$'
                 AND EXISTS (SELECT FROM pg_class AS c WHERE c.relname = v_first AND c.relkind = 'v') THEN
            v_error := ROW(4909, format('Cannot alter ''%s'' because it is not a table.', v_first), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^ALTER action .* cannot be performed on relation | is not a table, composite type, or foreign table$' THEN
            v_error := ROW(4902, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                        v_first), 16, 1, NULL, NULL);
        END IF;
    WHEN '42501' THEN
        -- "permission denied for table t", without quotation marks and without its schema.
        v_first := substring(p_message FROM '^permission denied for (?:table|view|relation|sequence) (.+)$');
        v_relation := ssb_internal.relation_in_message(v_first);
        v_error := ROW(229, coalesce(ssb_internal.denied_text(ssb_internal.denied_right(p_verb, v_relation), v_relation), p_message),
                       14, 5, NULL, NULL);
        IF v_first IS NOT NULL AND p_verb = 'TRUNCATE TABLE' THEN
            v_error := ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                        ssb_internal.table_named(v_first)), 16, 7, NULL, NULL);
        ELSIF p_message ~ '^permission denied for schema ' THEN
            v_first := substring(p_message FROM '^permission denied for schema (.+)$');
            -- Who may use it may not make something in it.
            IF has_schema_privilege(quote_ident(v_first)::regnamespace, 'USAGE') THEN
                v_error := ROW(2760, format('The specified schema name "%s" either does not exist or you do not have permission to use it.',
                                            ssb_internal.tsql_schema(v_first)), 16, 1, NULL, NULL);
            END IF;
        ELSIF p_message ~ '^must be owner of (table|view|relation) ' THEN
            v_first := ssb_internal.table_named(substring(p_message FROM '^must be owner of \w+ (.+)$'));
            v_error := CASE p_verb
                WHEN 'DROP' THEN ROW(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                                  substring(p_message FROM '(table|view) '), v_first), 14, 20, NULL, NULL)::ssb.error
                WHEN 'ALTER TABLE' THEN ROW(4902, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                                         v_first), 16, 1, NULL, NULL)::ssb.error
                WHEN 'CREATE INDEX' THEN ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                                          v_first), 16, 12, NULL, NULL)::ssb.error
                ELSE v_error END;
        ELSIF p_verb = 'DROP' AND p_message ~ '^must be owner of (routine|procedure|function) ' THEN
            v_first := substring(p_message FROM '^must be owner of \w+ (?:.+[.])?(.+)$');
            v_error := ROW(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                        CASE WHEN EXISTS (SELECT FROM pg_proc AS p WHERE p.proname = v_first AND p.prokind = 'p') THEN 'procedure'
                                             WHEN EXISTS (SELECT FROM pg_proc AS p WHERE p.proname = v_first AND p.prorettype = 'trigger'::regtype) THEN 'trigger'
                                             ELSE 'function' END, v_first), 14, 20, NULL, NULL);
        END IF;
    WHEN '40001' THEN
        -- SNAPSHOT: an update conflict; REPEATABLE READ and SERIALIZABLE: SQL Server would have blocked or deadlocked.
        IF current_setting('pgsb.snapshot', true) IS DISTINCT FROM 'on' THEN
            v_error := ROW(1205, format('Transaction (Process ID %s) was deadlocked on lock resources with another process and '
                                        'has been chosen as the deadlock victim. Rerun the transaction.', pg_backend_pid()),
                           13, 51, NULL, NULL);
        ELSE
            v_error := ROW(3960, format('Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot '
                                        'isolation to access table '''' directly or indirectly in database ''%s'' to update, delete, or '
                                        'insert the row that has been modified or deleted by another transaction. Retry the transaction '
                                        'or change the isolation level for the update/delete statement.', ssb.db_name()), 16, 2, NULL, NULL);
        END IF;
    WHEN '40P01' THEN
        v_error := ROW(1205, format('Transaction (Process ID %s) was deadlocked on lock resources with another process and has '
                                    'been chosen as the deadlock victim. Rerun the transaction.', pg_backend_pid()),
                       13, 51, NULL, NULL);
    WHEN '55P03' THEN
        v_error := ROW(1222, 'Lock request time out period exceeded.', 16, 45, NULL, NULL);
    WHEN '42P16' THEN
        IF p_message ~ '^multiple primary keys for table' THEN
            v_error := CASE WHEN p_verb = 'ALTER TABLE'
                THEN ROW(1779, format('Table ''%s'' already has a primary key defined on it.', ssb_internal.spelled_relation(v_first)),
                         16, 0, NULL, NULL)::ssb.error
                ELSE ROW(8110, format('Cannot add multiple PRIMARY KEY constraints to table ''%s''.', ssb_internal.table_named(v_first)),
                         16, 0, NULL, NULL)::ssb.error END;
        END IF;
    WHEN '25006' THEN
        v_error := CASE WHEN pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean
            -- A standby, or a database that is closed for maintenance: not a transaction that is doomed.
            THEN ROW(3906, format('Failed to update database "%s" because the database is read-only.', ssb.db_name()),
                     16, 1, NULL, NULL)::ssb.error
            ELSE ROW(3930, 'The current transaction cannot be committed and cannot support operations that write to '
                           'the log file. Roll back the transaction.', 16, 1, NULL, NULL)::ssb.error END;
    WHEN '54001' THEN
        v_error := ROW(217, 'Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).',
                       16, 1, NULL, NULL);
    WHEN '54000' THEN
        v_error := CASE WHEN p_message ~ 'index'
            -- "index row size 2712 exceeds btree version 4 maximum 2704 for index "i"".
            THEN ROW(1946, format('Operation failed. The index entry of length %s bytes for the index ''%s'' exceeds the maximum length '
                                  'of %s bytes.', substring(p_message FROM '\d+'), v_first, substring(p_message FROM '(\d+)\D*$')),
                     16, 3, NULL, NULL)::ssb.error
            ELSE ssb_internal.value_too_large() END;
    -- What the server lacks, no statement is to blame for: a program that went on behind it would commit half of what it was to do.
    WHEN '53100', '53400' THEN
        -- A full disk; temp_file_limit.
        v_error := ROW(1105, format('Could not allocate space for object ''%s'' in database ''%s'' because the ''PRIMARY'' filegroup is full. '
                                    'Create disk space by deleting unneeded files, dropping objects in the filegroup, adding additional '
                                    'files to the filegroup, or setting autogrowth on for existing files in the filegroup.',
                                    coalesce((SELECT ssb_internal.tsql_name_of(coalesce(o.oid, f.relation))
                                                FROM pg_filenode_relation(0, substring(v_first FROM '^base/\d+/(\d+)')::oid) AS f (relation)
                                                LEFT JOIN pg_catalog.pg_class AS o ON o.reltoastrelid = f.relation AND o.reltoastrelid <> 0),
                                             '<temporary system object>'),
                                    CASE WHEN v_first ~ '^base/\d+/\d' THEN ssb.db_name() ELSE 'tempdb' END), 17, 2, NULL, NULL);
    WHEN '53000', '53200' THEN
        v_error := CASE WHEN p_message = 'out of shared memory'
            THEN ROW(1204, 'The instance of the SQL Server Database Engine cannot obtain a LOCK resource at this time. Rerun your statement '
                           'when there are fewer active users. Ask the database administrator to check the lock and memory configuration '
                           'for this instance, or to check for long-running transactions.', 19, 4, NULL, NULL)::ssb.error
            ELSE ROW(701, 'There is insufficient system memory in resource pool ''default'' to run this query.', 17, 123,
                     NULL, NULL)::ssb.error END;
    WHEN '58030', 'XX001', 'XX002' THEN
        v_error := ROW(823, p_message, 24, 2, NULL, NULL);
    WHEN 'XX000' THEN
        -- What PostgreSQL says, in English everywhere, when a value would become larger than 1 GB.
        IF p_message LIKE 'invalid memory alloc request size%' THEN
            v_error := ssb_internal.value_too_large();
        -- And when somebody else drops a function, a table or a type between the look for it and its use.
        ELSIF p_message LIKE 'cache lookup failed for %' THEN
            v_error := ROW(2801, format('The definition of object ''%s'' has changed since it was compiled.',
                                        substr(p_message, length('cache lookup failed for ') + 1)), 16, 1, NULL, NULL);
        -- Two change the definition, or the rights, of one thing at once: SQL Server would have had this one wait.
        ELSIF p_message IN ('tuple concurrently updated', 'tuple concurrently deleted') THEN
            v_error := ROW(1205, format('Transaction (Process ID %s) was deadlocked on lock resources with another process and has '
                                        'been chosen as the deadlock victim. Rerun the transaction.', pg_backend_pid()),
                           13, 51, NULL, NULL);
        -- Or a queue, while a RECEIVE waits for what the one who drops it has locked.
        ELSIF p_message LIKE 'could not open relation with OID %' THEN
            v_error := ROW(2801, format('The definition of object ''%s'' has changed since it was compiled.',
                                        substr(p_message, length('could not open ') + 1)), 16, 1, NULL, NULL);
        END IF;
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;

-- "db.dbo.Orders" for message 515; the name alone when several tables of the database have it.
CREATE OR REPLACE FUNCTION ssb_internal.qualified_table(p_name text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE count(DISTINCT t.name) WHEN 1 THEN ssb.db_name() || '.' || min(t.name) ELSE ssb_internal.spelled_relation(p_name) END
      FROM (SELECT ssb_internal.tsql_name_of(c.oid) AS name, h.is_here, bool_or(h.is_here) OVER () AS is_any_here
              FROM pg_class AS c
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             CROSS JOIN LATERAL (SELECT ssb_internal.is_of_this_database(n.nspname::text) AS is_here) AS h
             WHERE c.relname = p_name AND c.relkind IN ('r', 'p')) AS t
     WHERE t.is_here OR NOT t.is_any_here;
END;

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
