-- EXEC of a procedure that the compiler does not know: its name stands in a
-- variable, or another script has made it.
--
-- PL/pgSQL keeps COMMIT and ROLLBACK possible only below a CALL that is written
-- out. So a small procedure in pg_temp is written whose body is that CALL, and
-- called under its fixed name. It has no INOUT parameters, for the callee may roll
-- back the very transaction that made it, and PostgreSQL looks result types up
-- after a call; results come back in a setting.
--
-- Whose procedure that is, its catalog row tells (ssb_internal.is_own_trampoline), not a setting. Inside a function or
-- trigger, where COMMIT is not possible anyhow and the role may be another than the session's, each
-- role has a procedure under a name of its own, which EXECUTE calls. In a transaction that can only be rolled back
-- nothing can be written: there DO runs the body.
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
BEGIN
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
        session.return_code := NULL;
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
        END;
    ELSIF session.atomic THEN
        PERFORM ssb_internal.call_trampoline(v_written.name, arguments, session);
    ELSE
        v_path := ssb_internal.plan_calls_anew();
        CALL pg_temp.ssb_trampoline(arguments, session);
    END IF;
    IF v_database IS NOT NULL THEN
        PERFORM ssb_internal.return_to_database(v_used);
    END IF;
    IF v_path IS NOT NULL THEN
        PERFORM pg_catalog.set_config('search_path', v_path, true);
    END IF;
    IF session.leaving THEN
        RETURN;
    END IF;
    v_answer := pg_catalog.current_setting('pgsb.answer')::text[];
    session := v_answer[1]::ssb.session;
    session.atomic := v_is_atomic;
    arguments := v_answer[2]::text[];
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

-- Whether the procedure in pg_temp is this role's and has this body: so nobody else had a hand in it.
CREATE OR REPLACE FUNCTION ssb_internal.is_own_trampoline(p_name text, p_body text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
         WHERE p.oid = to_regprocedure(format('pg_temp.%I(text[],ssb.session)', p_name))
           AND p.prokind = 'p' AND NOT p.prosecdef AND p.proconfig IS NULL AND l.lanname = 'plpgsql'
           AND p.proowner = quote_ident(current_user)::regrole AND p.prosrc = p_body)
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

-- A type as ssb_internal.converted_argument takes it: strings are one.
CREATE OR REPLACE FUNCTION ssb_internal.type_of_argument(p_type oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN t.typcategory = 'S' AND t.typtype = 'b' THEN 'text' ELSE format_type(t.oid, -1) END FROM pg_type AS t WHERE t.oid = p_type
$$;

-- An expression of the type p_from, as T-SQL converts it to p_to where it assigns; money, a numeric here, is rounded where
-- it becomes an integer. An argument may come without a type: then PostgreSQL reads its text. Where T-SQL's conversions
-- are left out PostgreSQL's stand for them.
CREATE OR REPLACE FUNCTION ssb_internal.converted_argument(p_value text, p_from text, p_to text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_from text := CASE p_from WHEN 'money' THEN 'numeric' ELSE p_from END;
    v_to text := CASE p_to WHEN 'money' THEN 'numeric' ELSE p_to END;
    v_value text := CASE WHEN p_from = 'money' AND p_to IN ('smallint', 'integer', 'bigint') THEN format('round(%s)', p_value) ELSE p_value END;
    v_function text;
BEGIN
    IF v_from IS NULL OR v_from = v_to THEN
        RETURN v_value;
    ELSIF v_to = 'text' AND v_from IN ('sys.xml', 'sys."bit"') THEN
        RETURN format('%s::text', v_value);
    ELSIF v_to = 'timestamp without time zone' AND v_from IN ('smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision') THEN
        v_function := 'convert_datetime';
        v_value := v_value || '::double precision';
    ELSIF v_to = 'numeric' AND v_from = 'text' THEN
        v_function := 'convert_money';
    ELSIF v_from IN ('text', 'bytea') AND to_regtype(v_to) IN (SELECT 'sys.xml'::regtype UNION ALL
                                                               SELECT t.oid FROM pg_type AS t WHERE t.typbasetype = 'sys.xml'::regtype) THEN
        v_function := 'xml_of';
    ELSE
        v_function := (SELECT f.name
                         FROM (VALUES ('text', 'convert_nvarchar'), ('smallint', 'convert_smallint'), ('integer', 'convert_int'),
                                      ('bigint', 'convert_bigint'), ('sys."bit"', 'convert_bit'), ('double precision', 'convert_float'),
                                      ('real', 'convert_real'), ('timestamp without time zone', 'convert_datetime2'),
                                      ('timestamp with time zone', 'convert_datetimeoffset'), ('date', 'convert_date'),
                                      ('time without time zone', 'convert_time'), ('uuid', 'convert_uniqueidentifier'),
                                      ('bytea', 'convert_varbinary')) AS f (type, name)
                        WHERE f.type = v_to);
        IF v_to = 'text' AND v_from = 'bytea' THEN
            v_function := 'text_of';
        END IF;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = 'sys'::regnamespace AND p.proname = v_function) THEN
        RETURN format('%s::%s', v_value, v_to);
    ELSIF v_function = 'convert_money' THEN
        -- Whether the parameter is a money only its procedure knows.
        RETURN format('CASE WHEN btrim(%1$s) ~ ''^[-+]?(\d+\.?\d*|\.\d+)$'' THEN btrim(%1$s)::numeric ELSE sys.%2$s(%1$s) END',
                      v_value, v_function);
    END IF;
    RETURN format('sys.%s(%s)', v_function, v_value);
END;
$$;

-- Error 257 or 206 of an argument that no assignment converts to its parameter's type; NULL where one does.
CREATE OR REPLACE FUNCTION ssb_internal.unconverted_argument(p_from text, p_to text, procedure text)
RETURNS ssb.error
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH known (type, name, kind) AS (
        VALUES ('text', 'varchar', 'text'), ('bytea', 'varbinary', 'bytes'), ('sys.xml', 'xml', 'xml'), ('uuid', 'uniqueidentifier', 'guid'),
               ('date', 'date', 'date'), ('time without time zone', 'time', 'time'), ('timestamp without time zone', 'datetime', 'moment'),
               ('timestamp with time zone', 'datetimeoffset', 'offset'), ('smallint', 'smallint', 'number'), ('integer', 'int', 'number'),
               ('bigint', 'bigint', 'number'), ('numeric', 'numeric', 'number'), ('money', 'money', 'number'), ('real', 'real', 'number'),
               ('double precision', 'float', 'number'), ('sys."bit"', 'bit', 'number'))
    SELECT CASE WHEN f.kind = 'text' AND t.kind = 'bytes' OR f.kind = 'moment' AND t.kind = 'number'
                     OR p_from IN ('money', 'sys.xml') AND t.kind = 'text'
                THEN ROW(257, format('Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.',
                                     f.name, t.name), 16, 3, procedure, 0)::ssb.error
                WHEN t.kind = ANY (CASE f.kind WHEN 'number' THEN '{date,time,offset,guid,xml}' WHEN 'date' THEN '{number,time,guid,xml}'
                                                WHEN 'time' THEN '{number,date,guid,xml}' WHEN 'moment' THEN '{guid,xml}'
                                                WHEN 'offset' THEN '{number,guid,xml}' WHEN 'guid' THEN '{number,date,time,moment,offset,xml}'
                                                WHEN 'xml' THEN '{number,date,time,moment,offset,guid}' ELSE '{}' END::text[])
                     OR f.kind = 'bytes' AND t.name IN ('float', 'real')
                THEN ROW(206, format('Operand type clash: %s is incompatible with %s', f.name, t.name), 16, 2, procedure, 0)::ssb.error END
      FROM known AS f JOIN known AS t ON t.type = p_to
     WHERE f.type = p_from
$$;

-- The body that calls one procedure with one shape of argument list, over `arguments` and `session`, or the error of a
-- call that cannot be made.
CREATE OR REPLACE FUNCTION ssb_internal.trampoline_body(procedure text, marks text[], shown_name text, line integer,
                                               OUT error ssb.error, OUT body text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_name text[] := parse_ident(procedure);
    v_found pg_proc;
    v_is_ours boolean;
    v_count integer;
    v_parameter text;
    v_mark text;
    v_from text[];
    v_source text;
    v_target text;
    v_at integer;
    v_given integer[];
    v_seen integer[] := '{}';
    v_is_output boolean;
    v_default text;
    v_declare text := '';
    v_read text := '';
    v_call text[] := '{}';
    v_back text := '';
    v_comment text;
    v_shown text;
    v_run text := 'CALL %I.%I(%s);';
BEGIN
    -- EXEC runs scalar functions too: what a number comes to is the return code. Those of ssb run whatever they return.
    SELECT p.* INTO v_found FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND p.proname = v_name[2]
       -- EXEC #p: what the session's user made is not run with rights that are not his.
       AND (n.oid <> pg_my_temp_schema() OR p.proowner = quote_ident(current_user)::regrole OR NOT ssb_internal.runs_as_another())
       AND (p.prokind = 'p' OR p.prokind = 'f' AND NOT p.proretset
            AND (format_type(p.prorettype, NULL) IN ('smallint', 'integer', 'bigint', 'numeric', 'sys.bit', 'void')
                 OR n.nspname = 'ssb'))
     ORDER BY p.prokind DESC LIMIT 1;
    IF NOT FOUND THEN
        -- A relation of that name is none either.
        error := (SELECT ROW(2809, format('The request for procedure ''%s'' failed because ''%s'' is a %s object.', s.name, s.name,
                                          CASE WHEN q.name IS NOT NULL THEN 'queue' WHEN c.relkind = 'v' THEN 'view' ELSE 'table' END),
                             18, 4, NULL, line)::ssb.error
                    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                   CROSS JOIN LATERAL (SELECT ssb_internal.queue_spelling(c.oid) AS name) AS q
                   CROSS JOIN LATERAL (SELECT coalesce(q.name, ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text))
                                              AS name) AS s
                   WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND c.relname = v_name[2] AND c.relkind IN ('r', 'p', 'v'));
        IF error.number IS NOT NULL THEN
            RETURN;
        END IF;
        error := ROW(2812, format('Could not find stored procedure ''%s''.', shown_name), 16, 62, NULL, line)::ssb.error;
        RETURN;
    END IF;
    v_comment := obj_description(v_found.oid, 'pg_proc');
    v_shown := ssb_internal.spelled(v_comment, v_found.proname::text);
    v_is_ours := v_found.proallargtypes[cardinality(v_found.proallargtypes)] IS NOT DISTINCT FROM 'ssb.session'::regtype;
    v_count := coalesce(cardinality(v_found.proallargtypes), v_found.pronargs) - v_is_ours::integer;
    v_given := array_fill(NULL::integer, ARRAY[greatest(v_count, 1)]);
    IF v_count = 0 AND cardinality(marks) > 0 THEN
        error := ROW(8146, format('Procedure %s has no parameters and arguments were supplied.', v_shown), 16, 2, v_shown, 0)::ssb.error;
        RETURN;
    END IF;
    FOR i IN 1..cardinality(marks) LOOP
        v_from[i] := ssb_internal.type_of_argument(to_regtype(substring(marks[i] FROM ' OF (.*)$')));
        marks[i] := regexp_replace(marks[i], ' OF .*$', '');
        v_mark := split_part(marks[i], ' ', 1);
        v_at := i;
        IF v_mark <> '' THEN
            -- @ and @@ are names, and so are @a and @@a of one procedure.
            v_at := coalesce(array_position(v_found.proargnames::text[], sys.fold(v_mark)),
                             array_position(v_found.proargnames::text[], sys.fold(ltrim(v_mark, '@'))));
            IF v_at IS NULL OR v_at > v_count THEN
                error := ROW(8145, format('%s is not a parameter for procedure %s.', v_mark, v_shown), 16, 2, v_shown, 0)::ssb.error;
                RETURN;
            END IF;
        ELSIF i > v_count THEN
            error := ROW(8144, format('Procedure or function %s has too many arguments specified.', v_shown), 16, 2, v_shown, 0)::ssb.error;
            RETURN;
        END IF;
        IF v_at = ANY (v_seen) THEN
            error := ROW(8143, format('Parameter ''@%s'' was supplied multiple times.',
                                      ssb_internal.spelled_parameter(v_comment, v_found.proargnames[v_at])), 16, 2, v_shown, 0)::ssb.error;
            RETURN;
        END IF;
        v_seen := v_seen || v_at;
        IF marks[i] LIKE '% OUTPUT' AND coalesce(v_found.proargmodes[v_at], 'i') = 'i' THEN
            error := ROW(8162, format('The formal parameter "@%s" was not declared as an OUTPUT parameter, but the actual parameter '
                'passed in requested output.', ssb_internal.spelled_parameter(v_comment, v_found.proargnames[v_at])), 16, 2, v_shown, 0)::ssb.error;
            RETURN;
        END IF;
        v_given[v_at] := CASE WHEN marks[i] LIKE '% DEFAULT' THEN NULL ELSE i END;
    END LOOP;
    FOR i IN 1..v_count LOOP
        -- -1: with NULL a char would have one character.
        v_parameter := format_type(coalesce(v_found.proallargtypes[i], v_found.proargtypes[i - 1]), -1);
        v_target := ssb_internal.type_of_argument(coalesce(v_found.proallargtypes[i], v_found.proargtypes[i - 1]));
        v_is_output := coalesce(v_found.proargmodes[i], 'i') <> 'i';
        v_default := pg_get_function_arg_default(v_found.oid, i);
        IF v_given[i] IS NULL AND v_default IS NULL THEN
            error := ROW(201, format('Procedure or function ''%s'' expects parameter ''@%s'', which was not supplied.', v_shown,
                                     ssb_internal.spelled_parameter(v_comment, v_found.proargnames[i])), 16, 4, v_shown, 0)::ssb.error;
            RETURN;
        ELSIF v_given[i] IS NULL AND NOT v_is_output THEN
            CONTINUE;
        END IF;
        v_declare := v_declare || format('    p%s %s;' || chr(10), i, v_parameter);
        v_source := v_from[v_given[i]];
        IF v_is_ours THEN
            error := ssb_internal.unconverted_argument(v_source, v_target, v_shown);
            IF error.number IS NOT NULL THEN
                RETURN;
            END IF;
        END IF;
        v_read := v_read || format('        p%s := %s;' || chr(10), i, CASE
            WHEN v_given[i] IS NULL THEN v_default
            WHEN v_target = 'text' THEN format('coalesce(arguments[%s], arguments[%s])', cardinality(marks) + v_given[i], v_given[i])
            ELSE ssb_internal.converted_argument(format(CASE WHEN v_source <> 'text' THEN 'arguments[%s]::%s' ELSE 'arguments[%s]' END,
                                                        v_given[i], CASE v_source WHEN 'money' THEN 'numeric' ELSE v_source END), v_source, v_target) END);
        v_call := v_call || format('%I => p%s', v_found.proargnames[i], i);
        IF v_is_output AND marks[v_given[i]] LIKE '% OUTPUT' THEN
            v_back := v_back || format('            arguments[%s] := %s;' || chr(10), v_given[i],
                                       CASE WHEN v_source IS NULL THEN 'p' || i ELSE ssb_internal.converted_argument('p' || i, v_target, v_source) END);
        END IF;
    END LOOP;
    IF v_is_ours THEN
        v_call := v_call || format('%I => session', v_found.proargnames[v_count + 1]);
    END IF;
    IF v_found.prokind = 'f' THEN
        v_run := format('BEGIN
        %s
    EXCEPTION WHEN OTHERS THEN
        session := ssb_internal.failed(session, %s, SQLSTATE, SQLERRM);
        session.return_code := NULL;
    END;', CASE WHEN format_type(v_found.prorettype, NULL) IN ('smallint', 'integer', 'bigint', 'numeric', 'sys.bit')
                                   THEN 'session.return_code := %I.%I(%s);'
                                   ELSE 'PERFORM %I.%I(%s); session.return_code := 0;' END, line);
    END IF;
    IF v_back <> '' THEN
        v_back := format('        BEGIN
%s        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, %s, SQLSTATE, SQLERRM);
        END;
', v_back, line);
    END IF;
    body := format($trampoline$
#variable_conflict use_variable
DECLARE
%s    answer text[];
BEGIN
    BEGIN
%s    EXCEPTION WHEN OTHERS THEN
        session := ssb_internal.failed_argument(session, %s, %L, SQLSTATE, SQLERRM);
        PERFORM set_config('pgsb.answer', ARRAY[session::text, arguments::text]::text, false);
        RETURN;
    END;
    %s
    IF session.return_code IS NOT NULL THEN
%s        NULL;
    END IF;
    PERFORM set_config('pgsb.answer', ARRAY[session::text, arguments::text]::text, false);
END;
$trampoline$, v_declare, v_read, line, v_shown, format(v_run, v_name[1], v_name[2], array_to_string(v_call, ', ')), v_back);
END;
$$;

-- Writes the procedure in pg_temp for one procedure and one shape of argument list, and returns its name, or
-- the error of a call that cannot be made. p_atomic: within the caller's transaction.
CREATE OR REPLACE FUNCTION ssb_internal.write_trampoline(procedure text, marks text[], shown_name text, line integer, p_atomic boolean,
                                                OUT error ssb.error, OUT name text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_made record;
    v_body text;
    v_there boolean;
BEGIN
    SELECT t.* INTO v_made FROM ssb_internal.trampoline_body(procedure, marks, shown_name, line) AS t;
    error := v_made.error;
    IF error.number IS NOT NULL THEN
        RETURN;
    END IF;
    v_body := v_made.body;
    name := CASE WHEN p_atomic THEN 'ssb_trampoline_' || quote_ident(current_user)::regrole::oid ELSE 'ssb_trampoline' END;
    IF ssb_internal.is_own_trampoline(name, v_body) THEN
        RETURN;
    END IF;
    v_there := to_regproc(format('pg_temp.%I', name)) IS NOT NULL
               OR to_regprocedure(format('pg_temp.%I(text[],ssb.session)', name)) IS NOT NULL;
    IF v_there AND NOT EXISTS (SELECT FROM pg_proc AS p
                                WHERE p.oid = to_regprocedure(format('pg_temp.%I(text[],ssb.session)', name))
                                  AND p.proowner = quote_ident(current_user)::regrole) THEN
        IF NOT p_atomic THEN
            PERFORM ssb_internal.raise_error(50000, format('EXEC @name finds a routine pg_temp.%s that is not its own.', name), 16, 1,
                                    'That name is the engine''s: drop the routine.');
        END IF;
        -- A name that did not exist before.
        name := 'ssb_once_' || replace(gen_random_uuid()::text, '-', '');
        v_there := false;
    END IF;
    IF v_there THEN
        EXECUTE format('DROP ROUTINE pg_temp.%I(text[], ssb.session)', name);
    END IF;
    EXECUTE format('CREATE PROCEDURE pg_temp.%I(arguments text[], session ssb.session) LANGUAGE plpgsql AS %L', name, v_body);
END;
$$;

-- Whether an error is a conversion's, of which EXEC tells no more than the two types. XML tells what is wrong with it:
-- 9400 and above how it is written, 6300 to 6999 what its schema does not allow.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_conversion(sqlstate_code text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
RETURN sqlstate_code ~ '^22' OR ssb.error_number_of(sqlstate_code) NOT BETWEEN 6300 AND 6999 AND ssb.error_number_of(sqlstate_code) < 9000;

-- EXEC in the text: an argument that does not convert to its parameter's type.
CREATE OR REPLACE FUNCTION ssb_internal.unfit_argument(session ssb.session, line integer, procedure text, sqlstate_code text, message text,
                                              p_from text, p_to text)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    IF ssb_internal.is_of_conversion(sqlstate_code) THEN
        RETURN ssb_internal.signal(session, ROW(8114, format('Error converting data type %s to %s.', p_from, p_to), 16, 5,
                                       procedure, 0)::ssb.error);
    END IF;
    RETURN ssb_internal.failed(session, line, sqlstate_code, message);
END;
$$;

-- The same, raised: an argument of sp_executesql. What is wrong with a uniqueidentifier has errors of its own.
CREATE OR REPLACE FUNCTION ssb_internal.raise_unfit(sqlstate_code text, message text, p_from text, p_to text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.is_of_conversion(sqlstate_code) AND ssb.error_number_of(sqlstate_code) IN (8169, 8170) IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(8114, format('Error converting data type %s to %s.', p_from, p_to), 16, 5);
    END IF;
    RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message;
END;
$$;

-- An argument that does not convert to its parameter's type, from p_from.
CREATE OR REPLACE FUNCTION ssb_internal.failed_argument(session ssb.session, line integer, procedure text, sqlstate_code text, message text,
                                               p_from text DEFAULT 'varchar')
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    IF ssb_internal.is_of_conversion(sqlstate_code) THEN
        RETURN ssb_internal.signal(session, ROW(8114, format('Error converting data type %s to %s.', p_from,
            coalesce(substring(message FROM ' to (?:data type )?(\w+)\.$'), CASE WHEN message ~ 'date and/or time' THEN 'datetime' END,
                     ssb_internal.tsql_type_in(message, 'int'))), 16, 5, procedure, 0)::ssb.error);
    END IF;
    RETURN ssb_internal.failed(session, line, sqlstate_code, message);
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

-- The routines that EXEC has written so far, temporary ones: who runs as another now could not replace them.
CREATE OR REPLACE FUNCTION ssb_internal.forget_trampolines()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN
        SELECT p.oid FROM pg_proc AS p
         WHERE p.pronamespace = pg_my_temp_schema() AND p.proname IN ('ssb_trampoline', 'ssb_text', 'ssb_batch')
           AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('DROP ROUTINE %s', v_routine);
    END LOOP;
END;
$$;
