-- Which triggers are running, for code that must not be told by its caller.
--
-- Called by  the WHEN of compiled triggers, by way of ssb_internal.fires (modules/nesting.sql) and
--            ssb_internal.instead_runs (statements/triggers.sql)
-- Locks      none

-- Whether the function's trigger is on the call stack, or the innermost trigger there. The stack also shows the text of
-- statements, in which whoever wrote them may have put lines that look like a trigger's. So each mention of
-- PL/pgSQL that no other routine accounts for has to be one of the triggers that PostgreSQL itself has counted: with more,
-- nothing that the stack says is believed.
CREATE OR REPLACE FUNCTION ssb_internal.trigger_runs(p_function regproc, p_is_innermost boolean)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stack text;
    v_triggers text[] := '{}';
    v_others integer;
    v_own text[] := (SELECT ARRAY[n.nspname, p.proname]::text[]
                       FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.oid = p_function);
    v_innermost text[];
BEGIN
    GET DIAGNOSTICS v_stack = PG_CONTEXT;
    SELECT array_agg(f.part[1] ORDER BY f.n) FILTER (WHERE t.is_trigger), count(*) FILTER (WHERE NOT t.is_trigger) INTO v_triggers, v_others
      FROM regexp_matches(v_stack, '^[^\n]*?PL/pgSQL[^\n"«»„“”''‘’「『]*?((?:(?:"(?:[^"]|\n|"")*"|[^\s".()]+)\.)?(?:"(?:[^"]|\n|"")*"|[^\s".()]+)\([^()\n]*\))',
                          'ng') WITH ORDINALITY AS f (part, n)
     CROSS JOIN LATERAL (SELECT f.part[1] LIKE '%()'
                                AND (f.part[1] !~ '^(ssb|ssb_internal|sys)\.'
                                     OR (SELECT p.prorettype = 'trigger'::regtype FROM pg_proc AS p WHERE p.oid = to_regprocedure(f.part[1]))) AS is_trigger) AS t;
    v_others := v_others + (SELECT count(*) FROM regexp_matches(v_stack, '^[^\n"«»„“”''‘’「『]*PL/pgSQL[^\n"«»„“”''‘’「『]*\minline_code_block\M(?!\.)[^\n"(]*$', 'ng'));
    v_innermost := parse_ident(left(v_triggers[1], -2));
    RETURN (length(v_stack) - length(replace(v_stack, 'PL/pgSQL', ''))) / length('PL/pgSQL') - v_others <= pg_trigger_depth()
       -- A trigger for several events has a function for each: tr, tr@update. tr@rows keeps the rows before the body runs.
       AND CASE WHEN p_is_innermost THEN v_innermost[1] = v_own[1] AND ssb_internal.stem(v_innermost[2]) = ssb_internal.stem(v_own[2])
                ELSE EXISTS (SELECT FROM unnest(v_triggers) AS t (shown) CROSS JOIN LATERAL parse_ident(left(t.shown, -2)) AS f (name)
                              WHERE f.name[1] = v_own[1] AND ssb_internal.stem(f.name[2]) = ssb_internal.stem(v_own[2])
                                AND f.name[2] NOT LIKE '%@rows') END;
END;
$$;
