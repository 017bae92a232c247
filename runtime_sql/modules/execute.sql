-- EXEC of a procedure that the compiler does not know: its name stands in a variable, or another script has made it.
--
-- PL/pgSQL keeps COMMIT and ROLLBACK possible only below a CALL that is written out, so a procedure in pg_temp is written that has
-- it (modules/trampolines.sql). In a transaction that can only be rolled back nothing can be written: there the caller's CATCH
-- has a CALL of its own (compiler/lower/execute.py), or DO runs the body.
--
-- Called by  compiled EXEC
-- Settings   pgsb.answer; pgsb.call_is_doomed: such a call is running

-- The PostgreSQL name of a procedure named in T-SQL: [db].[schema].[name].
CREATE OR REPLACE FUNCTION ssb_internal.module_name(p_name text, database text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := sys.name_parts(p_name);
    v_count integer := cardinality(v_parts);
    v_name text := sys.fold(v_parts[v_count]);
BEGIN
    IF v_count IS NULL OR v_count > 3 THEN
        RETURN NULL;
    ELSIF left(v_name, 1) = '#' THEN
        RETURN 'pg_temp.' || quote_ident(v_name);
    END IF;
    RETURN quote_ident(sys.schema_in_database(v_parts[v_count - 1], coalesce(nullif(v_parts[v_count - 2], ''), database)))
           || '.' || quote_ident(v_name);
END;
$$;

-- PostgreSQL before 14.10, 15.5 and 16.1 keeps the plan of a CALL whose procedure has gone, as a
-- ROLLBACK takes the procedure in pg_temp ("cache lookup failed for function"). Another search_path makes
-- it plan anew: one schema more, in turns, by a number that no ROLLBACK takes back (blocks of a session begin odd
-- and end even). What is returned is to be set again behind the CALL; NULL where none of this is needed.
CREATE SEQUENCE IF NOT EXISTS ssb.planned_calls CACHE 1000;
GRANT USAGE ON SEQUENCE ssb.planned_calls TO PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.plan_calls_anew()
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_version integer := pg_catalog.current_setting('server_version_num');
    v_path text := pg_catalog.current_setting('search_path');
BEGIN
    IF v_version OPERATOR(pg_catalog.>=) 160001
       OR v_version OPERATOR(pg_catalog.>=) 150005 AND v_version OPERATOR(pg_catalog.<) 160000
       OR v_version OPERATOR(pg_catalog.>=) 140010 AND v_version OPERATOR(pg_catalog.<) 150000 THEN
        RETURN NULL;
    END IF;
    PERFORM pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ',
        CASE WHEN v_path OPERATOR(pg_catalog.<>) '' THEN v_path END,
        CASE WHEN pg_catalog.nextval('ssb.planned_calls') OPERATOR(pg_catalog.%) 2 OPERATOR(pg_catalog.=) 0 THEN 'ssb' ELSE 'sys' END), true);
    RETURN v_path;
END;
$$;

-- Whether several routines have this name, of which T-SQL has made one.
CREATE OR REPLACE FUNCTION ssb_internal.is_overloaded(p_name text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts CONSTANT text[] := parse_ident(p_name);
BEGIN
    RETURN (SELECT count(*) > 1 FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
             WHERE n.nspname = ssb_internal.actual_schema(v_parts[1]) AND p.proname = v_parts[2]);
END;
$$;

-- EXEC of a procedure that was known when the module was made, and is not there.
CREATE OR REPLACE FUNCTION ssb_internal.missing_procedure(session ssb.session, line integer, shown_name text)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    RETURN ssb_internal.signal(session, ROW(2812, format('Could not find stored procedure ''%s''.', shown_name), 16, 62,
                                            session.procedure, line)::ssb.error);
END;
$$;

-- Marks are '[@name][ OUTPUT| DEFAULT][ OF type]', one for each argument. Arguments travel as PostgreSQL writes values of
-- that type; behind all of them stand those that T-SQL writes otherwise as strings, for parameters that are strings.
CREATE OR REPLACE PROCEDURE ssb_internal.execute(procedure text, marks text[], INOUT arguments text[], INOUT session ssb.session,
                                        line integer, shown_name text DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    v_answer text[];
    v_error ssb.error;
    v_path text;
    v_written record;
    v_used CONSTANT text := pg_catalog.current_setting('pgsb.database', true);
    v_database text;
    v_name CONSTANT text := coalesce(shown_name, ssb_internal.tsql_spelling(procedure));
    v_is_atomic CONSTANT boolean := session.atomic;
    -- A trigger that has rolled back a transaction which could not be committed goes on in it.
    v_is_doomed CONSTANT boolean := session.doomed OR session.atomic AND pg_catalog.current_setting('transaction_read_only')::boolean;
    v_has_failed boolean := false;
BEGIN
    -- What does not come to its end has none: not that of an earlier call either.
    session.return_code := NULL;
    BEGIN
        IF v_is_doomed THEN
            SELECT t.* INTO v_written FROM ssb_internal.trampoline_body(procedure, marks, v_name, line) AS t;
        ELSE
            SELECT t.* INTO v_written FROM ssb_internal.write_trampoline(procedure, marks, v_name, line, session.atomic) AS t;
        END IF;
        v_error := v_written.error;
    EXCEPTION WHEN OTHERS THEN
        session := ssb_internal.failed(session, line, SQLSTATE, SQLERRM);
        RETURN;
    END;
    IF v_error.number IS NOT NULL THEN
        v_error.procedure := coalesce(v_error.procedure, session.procedure);
        session := ssb_internal.signal(session, v_error);
        RETURN;
    END IF;
    v_database := ssb_internal.another_database(procedure, ssb_internal.current_database_id());
    IF v_database IS NOT NULL THEN
        PERFORM ssb_internal.return_to_database(v_database);
    END IF;
    IF v_is_doomed THEN
        BEGIN
            PERFORM ssb_internal.call_doomed(v_written.body, arguments, session);
        EXCEPTION WHEN read_only_sql_transaction THEN
            session := ssb_internal.failed(session, line, SQLSTATE, SQLERRM);
            v_has_failed := true;
        END;
    ELSIF session.atomic THEN
        PERFORM ssb_internal.call_trampoline(v_written.name, arguments, session);
    ELSE
        v_path := ssb_internal.plan_calls_anew();
        -- (By hand: CASE compares with whatever = the search_path has.)
        IF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_0' THEN
            CALL pg_temp.ssb_trampoline_0(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_1' THEN
            CALL pg_temp.ssb_trampoline_1(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_2' THEN
            CALL pg_temp.ssb_trampoline_2(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_3' THEN
            CALL pg_temp.ssb_trampoline_3(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_4' THEN
            CALL pg_temp.ssb_trampoline_4(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_5' THEN
            CALL pg_temp.ssb_trampoline_5(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_6' THEN
            CALL pg_temp.ssb_trampoline_6(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_7' THEN
            CALL pg_temp.ssb_trampoline_7(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_8' THEN
            CALL pg_temp.ssb_trampoline_8(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_9' THEN
            CALL pg_temp.ssb_trampoline_9(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_a' THEN
            CALL pg_temp.ssb_trampoline_a(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_b' THEN
            CALL pg_temp.ssb_trampoline_b(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_c' THEN
            CALL pg_temp.ssb_trampoline_c(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_d' THEN
            CALL pg_temp.ssb_trampoline_d(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_e' THEN
            CALL pg_temp.ssb_trampoline_e(arguments, session);
        ELSIF v_written.name OPERATOR(pg_catalog.=) 'ssb_trampoline_f' THEN
            CALL pg_temp.ssb_trampoline_f(arguments, session);
        END IF;
    END IF;
    IF v_database IS NOT NULL THEN
        PERFORM ssb_internal.return_to_database(v_used);
    END IF;
    IF v_path IS NOT NULL THEN
        PERFORM pg_catalog.set_config('search_path', v_path, true);
    END IF;
    IF session.leaving OR v_has_failed THEN
        RETURN;
    END IF;
    v_answer := pg_catalog.current_setting('pgsb.answer')::text[];
    session := v_answer[1]::ssb.session;
    session.atomic := v_is_atomic;
    arguments := v_answer[2]::text[];
END;
$$;

-- Whether a CALL that is written out in CATCH, of these arguments in variables of their types, finds the procedure in a
-- transaction that can only be rolled back. The marks are those of ssb_internal.execute; the names of its parameters have
-- no @ here. What it does not take as it is, ssb_internal.execute converts; there a ROLLBACK is error 3930.
CREATE OR REPLACE FUNCTION ssb_internal.can_call_where_doomed(session ssb.session, procedure text, marks text[], shown_name text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_name CONSTANT text[] := parse_ident(procedure);
    v_found pg_proc[];
    v_procedure pg_proc;
    v_written record;
    v_name_of_it text;
    v_at integer;
    v_type regtype;
    v_from regtype;
    v_given integer[] := '{}';
BEGIN
    IF session.doomed IS NOT TRUE OR session.atomic
       OR ssb_internal.another_database(procedure, ssb_internal.current_database_id()) IS NOT NULL THEN
        RETURN false;
    END IF;
    SELECT array_agg(p) INTO v_found FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = v_name[1] AND p.proname = v_name[2];
    v_procedure := v_found[1];
    IF cardinality(v_found) IS DISTINCT FROM 1 OR v_procedure.prokind <> 'p'
       OR v_procedure.proargnames[cardinality(v_procedure.proargnames)] IS DISTINCT FROM 'session'
       OR v_procedure.proallargtypes[cardinality(v_procedure.proallargtypes)] IS DISTINCT FROM 'ssb.session'::regtype THEN
        RETURN false;
    END IF;
    SELECT t.* INTO v_written FROM ssb_internal.trampoline_body(procedure, marks, shown_name, 0) AS t;
    IF (v_written.error).number IS NOT NULL THEN
        RETURN false;
    END IF;
    FOR i IN 1..cardinality(marks) LOOP
        v_name_of_it := split_part(marks[i], ' ', 1);
        v_at := CASE WHEN v_name_of_it = '' THEN i
                     ELSE ssb_internal.parameter_place(v_procedure.proargnames, v_name_of_it) END;
        v_from := to_regtype(substring(marks[i] FROM ' OF (.*)$'));
        v_type := v_procedure.proallargtypes[v_at];
        IF v_type IS NULL OR v_from IS NULL THEN
            RETURN false;
        ELSIF v_type <> v_from AND NOT EXISTS (SELECT FROM pg_cast AS c WHERE c.castsource = v_from AND c.casttarget = v_type
                                                                          AND c.castcontext = 'i') THEN
            RETURN false;
        END IF;
        v_given := v_given || v_at;
    END LOOP;
    -- CALL wants a variable for what comes back.
    RETURN NOT EXISTS (SELECT FROM unnest(v_procedure.proargmodes) WITH ORDINALITY AS m (mode, place)
                        WHERE m.mode <> 'i' AND m.place < cardinality(v_procedure.proargmodes) AND m.place <> ALL (v_given));
END;
$$;

-- A call in a transaction that can only be rolled back, where no procedure can be written: of what trampoline_body gives. It
-- is all one statement, so a ROLLBACK in it is error 3930 of the call.
CREATE OR REPLACE FUNCTION ssb_internal.call_doomed(p_body text, p_arguments text[], p_session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_code text;
BEGIN
    p_session.atomic := true;
    v_code := format('#variable_conflict use_variable
DECLARE
    arguments text[] := %L;
    session ssb.session := %L::ssb.session;
BEGIN
%s
END', p_arguments, p_session, replace(p_body, '#variable_conflict use_variable', ''));
    PERFORM set_config('pgsb.call_is_doomed', 'on', true);
    EXECUTE format('DO %L', v_code);
    PERFORM set_config('pgsb.call_is_doomed', '', true);
END;
$$;

-- A CALL inside a function or trigger.
CREATE OR REPLACE FUNCTION ssb_internal.call_trampoline(p_name text, arguments text[], session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('CALL pg_temp.%I($1, $2)', p_name) USING arguments, session;
    IF p_name LIKE 'ssb\_once\_%' THEN
        EXECUTE format('DROP PROCEDURE IF EXISTS pg_temp.%I(text[], ssb.session)', p_name);
    END IF;
END;
$$;

-- A call that the compiler knows to be wrong fails when it is reached.
CREATE OR REPLACE FUNCTION ssb_internal.wrong_call(session ssb.session, line integer, number integer, message text, procedure text)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    RETURN ssb_internal.signal(session, ROW(number, message, 16,
                                   CASE WHEN number = 201 THEN 4 WHEN number = 257 OR message ~ '''@parameters'' of type' THEN 3
                                        WHEN number = 8178 THEN 1 ELSE 2 END,
                                   nullif(procedure, ''),
                                   -- A system procedure's own line, 1, but 0 of a call that does not come into the procedure.
                                   CASE WHEN procedure = '' THEN line WHEN number = 214 THEN 1 ELSE 0 END)::ssb.error);
END;
$$;

-- Dynamic SQL whose text the compiler could not read fails when it is reached; line is a line of that text.
CREATE OR REPLACE FUNCTION ssb_internal.wrong_text(session ssb.session, line integer, number integer, message text, severity integer,
                                          state integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.signal(session, ROW(number, message, severity, state, '', line)::ssb.error);
END;
$$;
