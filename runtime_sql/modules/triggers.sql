-- Triggers as T-SQL has them: a name in a schema, which one table has; they are altered, and go with the table.
--
-- Called by  compiled CREATE TRIGGER (before the PostgreSQL statement itself), ENABLE and DISABLE TRIGGER, ALTER TABLE;
--            ssb_internal.drop_relation (modules/drop.sql)

-- Before CREATE TRIGGER, ALTER TRIGGER …: the trigger's functions and PostgreSQL's
-- triggers that call them are made anew. A migration's log need not read what CASCADE takes along.
CREATE OR REPLACE FUNCTION ssb_internal.prepare_trigger(p_action text, p_name text, p_table text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_function regproc := to_regproc(p_name);
    -- Where a table went by other ways than DROP TABLE, its trigger's functions are left alone.
    v_orphan boolean := EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = v_function AND p.prorettype = 'trigger'::regtype)
                        AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgfoid = v_function);
    v_exists boolean := v_function IS NOT NULL AND NOT v_orphan;
    v_version regprocedure;
    v_trigger record;
BEGIN
    IF to_regclass(p_table) IS NULL OR ssb_internal.queue_spelling(to_regclass(p_table)) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(8197, format('The object ''%s'' does not exist or is invalid for this operation.',
                                             ssb_internal.tsql_spelling(p_table)), 16, 4);
    ELSIF p_action = 'CREATE' AND (v_exists OR ssb_internal.kind_of_relation(p_name) IS NOT NULL) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 2);
    ELSIF p_action = 'ALTER' AND NOT v_exists THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 6);
    ELSIF (SELECT p.prorettype FROM pg_proc AS p WHERE p.oid = v_function) <> 'trigger'::regtype THEN
        PERFORM ssb_internal.raise_incompatible(ssb_internal.tsql_spelling(p_name));
    END IF;
    PERFORM ssb_internal.note_alteration(p_name, v_exists);
    IF p_action <> 'CREATE' THEN
        PERFORM ssb_internal.note_module(p_name);
    END IF;
    PERFORM ssb_internal.forget_source(p_name);
    IF v_exists OR v_orphan THEN
        FOR v_version IN
            SELECT p.oid FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
             WHERE n.nspname = v_name[1] AND ssb_internal.stem(p.proname) = ssb_internal.stem(v_name[2]) AND p.prorettype = 'trigger'::regtype
        LOOP
            EXECUTE format('DROP ROUTINE %s CASCADE ;', v_version);
        END LOOP;
        PERFORM ssb_internal.drop_row_types(p_name);
    END IF;
    FOR v_trigger IN
        SELECT t.tgname FROM pg_trigger AS t
         WHERE t.tgrelid = p_table::regclass AND NOT t.tgisinternal
           AND ssb_internal.stem(t.tgname) = ssb_internal.stem(v_name[2]) AND t.tgname <> v_name[2]
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s ;', v_trigger.tgname, p_table);
    END LOOP;
    PERFORM ssb_internal.drop_update_notes(p_table::regclass, v_name[2]);
END;
$$;

-- The functions that CREATE TRIGGER made for a table's triggers: they go with it. name@rows and name@delete
-- belong to the trigger name.
CREATE OR REPLACE FUNCTION ssb_internal.functions_of_triggers(p_table regclass)
RETURNS oid[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(DISTINCT p.oid)
      FROM pg_trigger AS t
      JOIN pg_proc AS p ON p.oid = t.tgfoid
     WHERE t.tgrelid = p_table AND NOT t.tgisinternal AND NOT ssb_internal.is_runtime_function(p.oid)
       AND ssb_internal.stem(p.proname) = ssb_internal.stem(t.tgname) AND pg_has_role(p.proowner, 'USAGE');
$$;

-- After DROP TABLE: those that no trigger of another table calls.
CREATE OR REPLACE FUNCTION ssb_internal.drop_trigger_functions(p_functions oid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_function regprocedure;
    v_module text;
BEGIN
    FOR v_function, v_module IN
        SELECT p.oid, format('%I.%I', n.nspname, ssb_internal.without_part(p.proname))
          FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE p.oid = ANY (p_functions) AND p.prorettype = 'trigger'::regtype AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgfoid = p.oid)
    LOOP
        EXECUTE format('DROP FUNCTION %s ;', v_function);
        PERFORM ssb_internal.forget_source(v_module);
    END LOOP;
END;
$$;

-- The first of the triggers that a table does not have, NULL: it has all.
CREATE OR REPLACE FUNCTION ssb_internal.missing_trigger(p_table text, p_names text[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT n.name
      FROM unnest(p_names) WITH ORDINALITY AS n (name, place)
     WHERE NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = p_table::regclass AND t.tgname = n.name AND NOT t.tgisinternal
                                                     AND NOT ssb_internal.is_runtime_function(t.tgfoid))
     ORDER BY n.place LIMIT 1;
$$;

-- ALTER TABLE … DISABLE TRIGGER asks this first.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_missing_triggers(p_table text, p_names text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_missing text := ssb_internal.missing_trigger(p_table, p_names);
BEGIN
    IF v_missing IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(4920, format('ALTER TABLE failed because trigger ''%s'' on table ''%s'' does not exist.',
                                                      v_missing, (parse_ident(p_table))[2]));
    END IF;
END;
$$;

-- ENABLE TRIGGER, DISABLE TRIGGER; no names: ALL, but not those that are part of the table.
CREATE OR REPLACE FUNCTION ssb_internal.enable_trigger(p_table text, p_names text[], p_enable boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_missing text := ssb_internal.missing_trigger(p_table, p_names);
    v_trigger record;
BEGIN
    IF v_missing IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                                      v_missing), 16, 120);
    END IF;
    FOR v_trigger IN
        SELECT t.tgname FROM pg_trigger AS t
         WHERE t.tgrelid = p_table::regclass AND NOT t.tgisinternal AND NOT ssb_internal.is_runtime_function(t.tgfoid)
           AND (p_names = '{}' OR ssb_internal.stem(t.tgname) = ANY (ARRAY(SELECT ssb_internal.stem(n.name) FROM unnest(p_names) AS n (name))))
    LOOP
        EXECUTE format('ALTER TABLE %s %s TRIGGER %I ;', p_table, CASE WHEN p_enable THEN 'ENABLE' ELSE 'DISABLE' END,
                       v_trigger.tgname);
    END LOOP;
END;
$$;
