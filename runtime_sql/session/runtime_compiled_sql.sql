-- EXEC (@sql) and sp_executesql where only the run time knows the text. The server
-- cannot translate T-SQL: it asks the client, in a notice (SQLSTATE SX001), and waits
-- for the answer, which the client writes through a second connection.
--
-- Only the session's own client can answer: it is told a token that nobody can guess,
-- and the answer must come from the same session user. So the client decides what is run: a module that
-- runs with rights which its session's user may not take on is refused (ssb_internal.runs_as_another).
--
-- Called by  compiled EXEC (compiler/lower/dynamic/runtime_compilation.py); pgsb's clients (ssb_internal.answer_translation)
-- Settings   pgsb.translator: 'on' where a client answers; pgsb.answer

CREATE OR REPLACE PROCEDURE ssb_internal.execute_text(p_text text, p_parameters text, marks text[], INOUT arguments text[],
                                             INOUT session ssb.session, line integer, levels integer)
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer text[];
    v_path text;
    v_translated record;
    v_statement text;
    v_database text := pg_catalog.current_setting('pgsb.database', true);
BEGIN
    IF coalesce(pg_catalog.btrim(p_text), '') OPERATOR(pg_catalog.=) '' THEN
        RETURN;
    END IF;
    BEGIN
        SELECT t.* INTO v_translated
          FROM ssb_internal.translated(p_text, p_parameters, marks, session.nestlevel OPERATOR(pg_catalog.+) levels, levels) AS t;
        FOREACH v_statement IN ARRAY coalesce(v_translated.statements, '{}') LOOP
            EXECUTE v_statement;
        END LOOP;
    EXCEPTION WHEN OTHERS THEN
        session := ssb_internal.failed(session, line, SQLSTATE, SQLERRM);
        RETURN;
    END;
    IF v_translated.number IS NOT NULL THEN
        session := ssb_internal.signal(session, ROW(v_translated.number, v_translated.message, v_translated.severity, v_translated.state, '', v_translated.line)::ssb.error);
        RETURN;
    END IF;
    IF session.autocommit AND pg_catalog.cardinality(v_translated.statements) OPERATOR(pg_catalog.>) 1 THEN
        -- The types of its table variables: a ROLLBACK in it would take them away.
        COMMIT;
        PERFORM ssb_internal.pin_search_path();
    END IF;
    v_path := ssb_internal.plan_calls_anew();
    PERFORM pg_catalog.set_config('pgsb.text', p_text, true);
    CALL pg_temp.ssb_text(arguments, session);
    PERFORM pg_catalog.set_config('pgsb.text', '', true);
    PERFORM ssb_internal.return_to_database(v_database);
    IF v_path IS NOT NULL THEN
        PERFORM pg_catalog.set_config('search_path', v_path, true);
    END IF;
    v_answer := pg_catalog.current_setting('pgsb.answer')::text[];
    session := v_answer[1]::ssb.session;
    arguments := v_answer[2]::text[];
END;
$$;

-- What the text of EXEC @name begins with, where @name is 'db.sys.sp_executesql'.
CREATE OR REPLACE FUNCTION ssb_internal.use_of_name(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := sys.name_parts(p_name);
BEGIN
    RETURN CASE WHEN cardinality(v_parts) > 2 AND v_parts[1] <> '' THEN format('USE [%s] /* sp_executesql */; ', replace(v_parts[1], ']', ']]'))
                ELSE '' END;
END;
$$;

-- What a compiler is told of relations: of each column its name, PostgreSQL's type, NOT NULL, identity, what computes it, and the
-- T-SQL type that its comment keeps.
CREATE OR REPLACE VIEW ssb_internal.described_relation AS
SELECT c.oid, c.relnamespace, c.reltype, c.relkind, n.nspname AS schema_name, c.relname AS name,
       ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname) AS spelled,
       CASE WHEN ssb_internal.is_queue(c.oid) THEN 'queue' ELSE c.relkind::text END AS kind,
       array_agg(ssb_internal.spelled(m.description, a.attname) ORDER BY a.attnum) AS column_names,
       array_agg(CASE WHEN b.nspname IS NULL THEN format_type(a.atttypid, a.atttypmod)
                      ELSE format_type(t.typbasetype, t.typtypmod) END ORDER BY a.attnum) AS column_types,
       array_agg(a.attnotnull ORDER BY a.attnum) AS are_not_null,
       array_agg(CASE WHEN NOT ssb_internal.is_identity(a) THEN NULL WHEN a.attidentity = 'a' THEN 'ALWAYS'
                      ELSE 'BY DEFAULT' END ORDER BY a.attnum) AS identities,
       array_agg(CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END ORDER BY a.attnum) AS computed_by,
       array_agg(ssb_internal.kept_type(m.description) ORDER BY a.attnum) AS kept_types
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type AS t ON t.oid = a.atttypid
  LEFT JOIN pg_namespace AS b ON b.oid = t.typnamespace AND t.typtype = 'd' AND b.nspname NOT IN ('ssb', 'ssb_internal', 'sys')
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
  LEFT JOIN pg_description AS m ON m.objoid = c.oid AND m.objsubid = a.attnum AND m.classoid = 'pg_class'::regclass
 GROUP BY c.oid, c.relnamespace, c.reltype, c.relkind, n.nspname, c.relname;
GRANT SELECT ON ssb_internal.described_relation TO PUBLIC;

-- The relations named in a text, as its session sees them: temporary ones and those of its transaction among them, which no other
-- connection sees, and those that a client knows no more since the batch drops them further on.
CREATE OR REPLACE FUNCTION ssb_internal.relations_of_text(p_text text)
RETURNS json
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text CONSTANT text := ssb_internal.lower_name(p_text);
BEGIN
    RETURN (SELECT json_agg(json_build_array(r.schema_name, r.name, r.spelled, r.kind, r.column_names, r.column_types, r.are_not_null,
                                             r.identities, r.computed_by, r.kept_types))
              FROM ssb_internal.described_relation AS r
             WHERE r.oid = ANY (ARRAY(
                       SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                        WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
                          AND (n.oid = pg_my_temp_schema()
                               OR n.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys', 'information_schema') AND n.nspname !~ '^pg_')
                          -- A long name is a shortened one, with a hash behind it.
                          AND strpos(v_text, CASE WHEN octet_length(c.relname) > 54 THEN left(c.relname, -9) ELSE c.relname END) > 0)));
END;
$$;

-- Asks the client for a translation and waits for it.
CREATE OR REPLACE FUNCTION ssb_internal.translated(p_text text, p_parameters text, marks text[], level integer, levels integer,
                                          OUT statements text[], OUT number integer, OUT message text, OUT line integer,
                                          OUT severity integer, OUT state integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_token uuid := gen_random_uuid();
    v_deadline timestamptz := clock_timestamp() + interval '60 seconds';
    v_pause double precision := 0.001;
BEGIN
    IF ssb_internal.runs_as_another() THEN
        PERFORM ssb_internal.raise_error(50000, format('The text of this dynamic SQL is known at run time only, and the module runs as %s: '
            'the client of %s would write what is executed.', current_user, session_user), 16, 1,
            'Write the text with its variable parts as parameters of sp_executesql, or the module without EXECUTE AS.');
    ELSIF coalesce(current_setting('pgsb.translator', true), '') <> 'on' THEN
        PERFORM ssb_internal.raise_error(102, 'The text of this dynamic SQL is known at run time only: `pgsb run` and `pgsb broker` '
            'can translate it, this client cannot.', 15);
    ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        -- The answer would stay invisible.
        PERFORM ssb_internal.raise_error(102, 'Dynamic SQL that is known at run time only needs the isolation level READ COMMITTED.', 15);
    END IF;
    RAISE NOTICE USING ERRCODE = 'SX001', MESSAGE = json_build_object(
        'token', v_token, 'text', p_text, 'parameters', p_parameters, 'marks', marks,
        'database', ssb.db_name(), 'level', level, 'levels', levels, 'synonyms', ssb_internal.synonyms_of_session(),
        'relations', ssb_internal.relations_of_text(p_text))::text;
    LOOP
        SELECT t.* INTO statements, number, message, line, severity, state FROM ssb_internal.take_translation(v_token) AS t;
        EXIT WHEN statements IS NOT NULL OR number IS NOT NULL;
        IF clock_timestamp() > v_deadline THEN
            PERFORM ssb_internal.raise_error(102, 'The client did not translate the text of the dynamic SQL within 60 seconds.', 15);
        END IF;
        PERFORM pg_sleep(v_pause);
        -- Slowly: who waits a while longer for an answer that is there has waited in vain.
        v_pause := least(v_pause * 1.2, 0.05);
    END LOOP;
END;
$$;

-- One answer, once.
CREATE OR REPLACE FUNCTION ssb_internal.take_translation(p_token uuid, OUT statements text[], OUT number integer, OUT message text, OUT line integer,
                                                         OUT severity integer, OUT state integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM ssb.translation AS t
     WHERE t.token = p_token AND t.requester = session_user
    RETURNING t.statements, t.number, t.message, t.line, t.severity, t.state INTO statements, number, message, line, severity, state;
END;
$$;

-- The client's answer: statements, or number, message, line, severity and state of an error.
CREATE OR REPLACE FUNCTION ssb_internal.answer_translation(p_token uuid, p_statements text[], p_number integer DEFAULT NULL,
                                                  p_message text DEFAULT NULL, p_line integer DEFAULT NULL,
                                                  p_severity integer DEFAULT 15, p_state integer DEFAULT 1)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- What a session left behind that was cancelled while it waited. Anybody may be at that, and keep his transaction open.
    DELETE FROM ssb.translation AS t
     WHERE t.token = ANY (ARRAY(SELECT o.token FROM ssb.translation AS o
                                 WHERE o.made_at < clock_timestamp() - interval '10 minutes' FOR UPDATE SKIP LOCKED));
    INSERT INTO ssb.translation (token, statements, number, message, line, severity, state)
    VALUES (p_token, p_statements, p_number, p_message, p_line, p_severity, p_state)
    -- Whose connection was ended while it answered answers again.
    ON CONFLICT (token) DO NOTHING;
$$;
