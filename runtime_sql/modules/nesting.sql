-- How deep modules are nested: procedures, functions and triggers up to 32, error
-- 217 beyond. Procedures count in their session. Functions and triggers have none
-- from their caller: they count the routines that PostgreSQL's own call stack names.
--
-- Called by  ssb_internal.enter, ssb_internal.enter_string, ssb_internal.enter_trigger (session/batches.sql);
--            compiled functions that call functions, @@NESTLEVEL in functions,
--            the WHEN of compiled triggers; TRIGGER_NESTLEVEL

-- The routines of the T-SQL programmer that are running, innermost first, each as
-- schema.name(types). The lines of the stack are in the server's language; the
-- language's name, PL/pgSQL, and the routine's signature are the same in all. Where a
-- quotation mark comes before it, the line shows an expression.
CREATE OR REPLACE FUNCTION ssb_internal.modules_running()
RETURNS text[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stack text;
BEGIN
    GET DIAGNOSTICS v_stack = PG_CONTEXT;
    RETURN ARRAY(
        SELECT f.part[1]
          FROM regexp_matches(v_stack, '^[^\n]*?PL/pgSQL[^\n"«»„“”''‘’「『]*?((?:(?:"(?:[^"]|\n|"")*"|[^\s".()]+)\.)?(?:"(?:[^"]|\n|"")*"|[^\s".()]+)\([^()\n]*\))',
                              'ng') WITH ORDINALITY AS f(part, n)
         WHERE f.part[1] !~ '^(ssb|ssb_internal|sys)\.|ssb_(trampoline|once)\w*\('
         ORDER BY f.n);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.nesting_level()
RETURNS integer
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT cardinality(ssb_internal.modules_running())
$$;

-- Error 217 in a function or trigger.
CREATE OR REPLACE FUNCTION ssb_internal.check_nesting()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.nesting_level() > 32 THEN
        PERFORM ssb_internal.raise_error(217, 'Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).');
    END IF;
END;
$$;

-- The line of the EXEC by which the innermost routine was called, from the T-SQL text of its
-- caller (functions/metadata/objects.sql); 0 where that is not kept, or has several such lines.
CREATE OR REPLACE FUNCTION ssb_internal.line_of_call()
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_running text[] := ssb_internal.modules_running();
    v_callee text[] := parse_ident(split_part(v_running[1], '(', 1));
    v_caller text[] := parse_ident(split_part(v_running[2], '(', 1));
    v_source text := ssb_internal.source_of(v_caller[1], v_caller[2]);
BEGIN
    RETURN (SELECT CASE WHEN count(*) = 1 THEN min(l.n) ELSE 0 END
              FROM string_to_table(v_source, E'\n') WITH ORDINALITY AS l(line, n)
             WHERE l.line ~* '\mexec(ute)?\M' AND position(v_callee[cardinality(v_callee)] IN lower(l.line)) > 0);
END;
$$;

-- Error 217 in a procedure or string: of the EXEC that called it.
CREATE OR REPLACE FUNCTION ssb_internal.nested_too_deep(session ssb.session, caller text)
RETURNS ssb.session
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb_internal.signal(session, ROW(217, 'Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).',
                                   16, 1, caller, ssb_internal.line_of_call())::ssb.error);
END;

-- The triggers that are running, innermost first, by the stems of their functions' names. A
-- trigger for several events has a function for each: tr, tr@update, …. Only triggers have no
-- parameters and can write.
CREATE OR REPLACE FUNCTION ssb_internal.triggers_running()
RETURNS text[]
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT ssb_internal.stem(f.parts[cardinality(f.parts)])
                   FROM unnest(ssb_internal.modules_running()) WITH ORDINALITY AS m(name, n)
                  CROSS JOIN parse_ident(left(m.name, -2)) AS f(parts)
                  WHERE m.name LIKE '%()' ORDER BY m.n)
$$;

-- Whether a statement inside a trigger fires the trigger p_function of its table: an
-- AFTER trigger does not fire itself unless the database has RECURSIVE_TRIGGERS ON.
CREATE OR REPLACE FUNCTION ssb_internal.fires(p_function regproc)
RETURNS boolean
LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.trigger_runs(p_function, true) IS NOT TRUE
           OR EXISTS (SELECT FROM ssb.schema_of_database AS s JOIN ssb.database AS d USING (database_id)
                       WHERE s.name = n.nspname AND upper((d.options ->> 'RECURSIVE_TRIGGERS') COLLATE "C") = 'ON')
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE p.oid = p_function
$$;

-- TRIGGER_NESTLEVEL: triggers on the call stack, or how often the one with the given
-- object id is there. INSTEAD OF triggers count as AFTER; DDL triggers are not translated.
CREATE OR REPLACE FUNCTION sys.trigger_nestlevel(object_id integer DEFAULT 0, trigger_type text DEFAULT 'AFTER',
                                                 trigger_event_category text DEFAULT 'DML')
RETURNS integer
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN object_id IS NULL OR trigger_type IS NULL OR trigger_event_category IS NULL THEN NULL
        WHEN upper(trigger_type COLLATE "C") <> 'AFTER' OR upper(trigger_event_category COLLATE "C") <> 'DML' THEN 0
        WHEN object_id = 0 THEN cardinality(ssb_internal.triggers_running())
        ELSE (SELECT count(*) FROM unnest(ssb_internal.triggers_running()) AS r(name)
               WHERE r.name IN (SELECT ssb_internal.stem(t.tgname) FROM pg_trigger AS t WHERE t.oid = object_id::oid))
    END
$$;
