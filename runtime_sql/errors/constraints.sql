-- What a constraint or a column refuses: 2627, 2601, 547, 515, 544 and their like, built from the catalog.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

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
           CASE WHEN n.nspname LIKE 'pg\_temp%' THEN 'dbo.' || r.relname
                WHEN count(*) OVER (PARTITION BY d.is_here, r.relname) > 1 AND c.contype IN ('p', 'u', 'c')
                THEN ssb_internal.spelled(obj_description(r.oid, 'pg_class'), r.relname::text) ELSE ssb_internal.tsql_name_of(c.conrelid) END AS owner,
           ssb_internal.tsql_name_of(nullif(c.confrelid, 0)) AS target,
           -- A foreign key stays within a database.
           CASE WHEN n.nspname LIKE 'pg\_temp%' THEN 'tempdb'
                ELSE coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()) END AS database,
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
                (SELECT concat(CASE WHEN t.name LIKE '#%' THEN 'dbo.' END, t.name)
                   FROM pg_index AS i CROSS JOIN LATERAL ssb_internal.tsql_name_of(i.indrelid) AS t (name) WHERE i.indexrelid = v_found),
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

-- A value that a column does not take. p_name: the first that the message names; p_action: of ALTER TABLE.
CREATE OR REPLACE FUNCTION ssb_internal.column_error(sqlstate_code text, p_message text, p_detail text, p_name text, p_verb text, p_action text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
BEGIN
    CASE sqlstate_code
    WHEN '23502' THEN
        IF p_message ~ ' contains null values$' THEN
            -- A column is added without a value, or a primary key; ALTER COLUMN is an UPDATE to SQL Server.
            v_error := CASE WHEN p_action = 'ALTER TABLE ADD' THEN ROW(4901, format(
                'ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column '
                'being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table '
                'must be empty to allow addition of this column. Column ''%s'' cannot be added to non-empty table ''%s'' because it does not '
                'satisfy these conditions.', p_name, ssb_internal.spelled_relation(ssb_internal.quoted_name(p_message, 2))), 16, 1, NULL, NULL)::ssb.error
                WHEN p_action IS NULL THEN ROW(8111, format('Cannot define PRIMARY KEY constraint on nullable column in table ''%s''.',
                    ssb_internal.spelled_relation(ssb_internal.quoted_name(p_message, 2))), 16, 1, NULL, NULL)::ssb.error END;
            p_verb := 'UPDATE';
        END IF;
        IF v_error.number IS NULL THEN
            v_error := ROW(515, format('Cannot insert the value NULL into column ''%s'', table ''%s''; column does not allow nulls. '
                                       '%s fails.', ssb_internal.spelled_column(ssb_internal.quoted_name(p_message, 2), p_name),
                                       coalesce(ssb_internal.qualified_table(ssb_internal.quoted_name(p_message, 2)), ''), p_verb),
                           16, 2, NULL, NULL);
        END IF;
    WHEN '428C9' THEN
        v_error := CASE
            WHEN p_detail ~ 'is a generated column'
            THEN ROW(271, format('The column "%s" cannot be modified because it is either a computed column or is the result of a UNION '
                                 'operator.', ssb_internal.spelled_column(NULL, p_name)), 16, 1, NULL, NULL)::ssb.error
            WHEN p_verb = 'UPDATE'
            THEN ROW(8102, format('Cannot update identity column ''%s''.', ssb_internal.spelled_column(NULL, p_name)), 16, 1, NULL, NULL)::ssb.error
            -- PostgreSQL names the column, SQL Server the table: that one may be known all the same.
            ELSE ROW(544, format('Cannot insert explicit value for identity column %s when IDENTITY_INSERT is set to OFF.',
                                 (SELECT CASE count(*) WHEN 1 THEN format('in table ''%s''', min(ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)))
                                                       ELSE format('''%s''', p_name) END
                                    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
                                   WHERE a.attname = p_name AND a.attidentity = 'a'
                                     AND NOT ssb_internal.is_schema_of_system(c.relnamespace::regnamespace::text))), 16, 1, NULL, NULL)::ssb.error END;
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
