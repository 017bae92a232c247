-- The procedures in pg_temp by which EXEC calls what the compiler does not know.
--
-- The body is a CALL, and the procedure is called under one of sixteen fixed names, so that modules that call several in turn do not
-- write them in turn. It has no INOUT parameters, for the callee may roll
-- back the very transaction that made it, and PostgreSQL looks result types up after a call; results come back in a setting.
--
-- Whose procedure that is, its catalog row tells (ssb_internal.is_own_trampoline), not a setting. Inside a function or trigger,
-- where COMMIT is not possible anyhow and the role may be another than the session's, each role has a procedure under a name of
-- its own, which EXECUTE calls.
--
-- Called by  ssb_internal.execute (modules/execute.sql); EXECUTE AS, REVERT and ROLLBACK, which make it forget
-- Settings   pgsb.answer

-- Whether the procedure in pg_temp is this role's own and was written for this (ssb_internal.trampoline_key).
CREATE OR REPLACE FUNCTION ssb_internal.is_own_trampoline(p_name text, p_key text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_proc AS p
         WHERE p.oid = to_regprocedure('pg_temp.' || quote_ident(p_name) || '(text[],ssb.session)')
           AND p.prokind = 'p' AND NOT p.prosecdef AND p.proconfig IS NULL
           AND p.prolang = (SELECT l.oid FROM pg_language AS l WHERE l.lanname = 'plpgsql')
           AND p.proowner = quote_ident(current_user)::regrole AND right(p.prosrc, 33) = p_key || chr(10));
END;
$$;

-- What the body is made of: the procedure as it is now, the arguments' shape, the place. NULL: there is none of that name.
CREATE OR REPLACE FUNCTION ssb_internal.trampoline_key(procedure text, marks text[], shown_name text, line integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(procedure);
    v_schema CONSTANT oid := to_regnamespace(quote_ident(ssb_internal.actual_schema(v_name[1])));
    v_found text;
BEGIN
    SELECT string_agg(concat_ws(' ', p.oid, p.xmin, p.ctid,
                                (SELECT concat_ws(' ', d.xmin, d.ctid) FROM pg_description AS d
                                  WHERE d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass AND d.objsubid = 0)), ',' ORDER BY p.oid)
      INTO v_found
      FROM pg_proc AS p WHERE p.proname = v_name[2] AND p.pronamespace = v_schema;
    IF v_schema = pg_my_temp_schema() THEN
        v_found := v_found || ssb_internal.runs_as_another()::text;
    END IF;
    RETURN md5(ARRAY[v_found, procedure, marks::text, shown_name, line::text]::text) WHERE v_found IS NOT NULL;
END;
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
            v_at := ssb_internal.parameter_place(v_found.proargnames, v_mark);
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
    -- (Who is made at this moment has a body and no key yet.)
    v_key CONSTANT text := coalesce(ssb_internal.trampoline_key(procedure, marks, shown_name, line), repeat('0', 32));
    v_prefix CONSTANT text := 'ssb_trampoline_' || CASE WHEN p_atomic THEN quote_ident(current_user)::regrole::oid || '_' ELSE '' END;
    v_other text;
    v_made record;
    v_there boolean;
BEGIN
    -- Under one of two names, so that hardly ever two take turns under one.
    name := v_prefix || substr(v_key, 1, 1);
    v_other := v_prefix || substr(v_key, 2, 1);
    IF ssb_internal.is_own_trampoline(name, v_key) THEN
        RETURN;
    ELSIF ssb_internal.is_own_trampoline(v_other, v_key) THEN
        name := v_other;
        RETURN;
    END IF;
    SELECT t.* INTO v_made FROM ssb_internal.trampoline_body(procedure, marks, shown_name, line) AS t;
    error := v_made.error;
    IF error.number IS NOT NULL THEN
        name := NULL;
        RETURN;
    END IF;
    IF to_regproc('pg_temp.' || quote_ident(name)) IS NOT NULL AND to_regproc('pg_temp.' || quote_ident(v_other)) IS NULL THEN
        name := v_other;
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
    EXECUTE format('CREATE PROCEDURE pg_temp.%I(arguments text[], session ssb.session) LANGUAGE plpgsql AS %L', name,
                   v_made.body || '-- ' || v_key || chr(10));
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
         WHERE p.pronamespace = pg_my_temp_schema() AND (p.proname IN ('ssb_text', 'ssb_batch') OR p.proname ~ '^ssb_trampoline_[0-9a-f]$')
           AND pg_has_role(p.proowner, 'USAGE')
    LOOP
        EXECUTE format('DROP ROUTINE %s', v_routine);
    END LOOP;
END;
$$;
