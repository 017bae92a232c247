-- DROP of procedures, functions, views, tables and their like, with what belongs to them.
--
-- Called by  compiled DROP; ssb_internal.prepare_module and prepare_view (modules/prepare.sql)

-- DROP PROCEDURE, DROP FUNCTION, DROP TRIGGER. Types of its table variables go too. A migration's log need not read
-- what CASCADE takes along.
CREATE OR REPLACE FUNCTION ssb_internal.drop_module(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_schema text := ssb_internal.actual_schema(v_name[1]);
    v_found regprocedure[];
    v_version regprocedure;
    v_has_gone boolean := true;
BEGIN
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = v_schema AND NOT ssb_internal.is_system_schema(v_schema)
       -- With the procedures of its group: p;2 and so on; not the function of a DDL trigger of that name.
       AND (p.proname = v_name[2] OR p_kind = 'PROCEDURE' AND starts_with(p.proname, v_name[2] || ';')
            OR p_kind = 'TRIGGER' AND ssb_internal.stem(p.proname) = ssb_internal.stem(v_name[2])
               AND p.proname !~ '@(database|server)$')
       AND CASE p_kind WHEN 'PROCEDURE' THEN p.prokind = 'p'
                       WHEN 'TRIGGER' THEN p.prorettype = 'trigger'::regtype
                       ELSE p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype END;
    IF v_found IS NULL THEN
        PERFORM ssb_internal.refuse_another_kind(p_kind, p_name);
        IF NOT if_exists THEN
            PERFORM ssb_internal.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                                 lower(p_kind COLLATE "C"), ssb_internal.tsql_spelling(p_name)), 11, 5);
        END IF;
        RETURN;
    ELSIF p_kind = 'FUNCTION' THEN
        PERFORM ssb_internal.refuse_bound('DROP FUNCTION', format('%I.%I()', v_name[1], v_name[2]));
    END IF;
    FOREACH v_version IN ARRAY v_found LOOP
        IF p_kind = 'TRIGGER' THEN
            PERFORM ssb_internal.drop_update_notes(t.tgrelid, v_name[2]) FROM pg_trigger AS t WHERE t.tgfoid = v_version;
            EXECUTE format('DROP ROUTINE %s CASCADE', v_version);
        ELSE
            PERFORM ssb_internal.unbind_views('pg_proc', v_version);
            v_has_gone := ssb_internal.drop_routine(v_version, p_name) AND v_has_gone;
        END IF;
    END LOOP;
    PERFORM ssb_internal.forget_source(p_name);
    IF p_kind = 'FUNCTION' THEN
        PERFORM ssb_internal.forget_view_binding(p_name);
    END IF;
    IF v_has_gone THEN
        PERFORM ssb_internal.drop_row_types(p_name);
    END IF;
END;
$$;

-- 3705, where DROP names what is there as something of another kind.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_another_kind(p_kind text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_actual text := ssb_internal.kind_of_relation(p_name);
BEGIN
    IF v_actual IS NULL THEN
        SELECT CASE WHEN p.prokind = 'p' THEN 'PROCEDURE' WHEN p.prorettype = 'trigger'::regtype THEN 'TRIGGER' ELSE 'FUNCTION' END INTO v_actual
          FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND p.proname = v_name[2] LIMIT 1;
    END IF;
    IF v_actual <> p_kind THEN
        PERFORM ssb_internal.raise_error(3705, format('Cannot use DROP %s with ''%s'' because ''%2$s'' is a %s. Use DROP %s.',
                                             p_kind, ssb_internal.tsql_spelling(p_name), lower(v_actual COLLATE "C"), v_actual));
    END IF;
END;
$$;

-- PostgreSQL looks a procedure up once more when it returns. So of one that drops itself, or is dropped by what it executes,
-- only the name goes at once, and the rest when it has returned, at the end of the batch or of the procedure that a client
-- CALLed. (That one itself returns to nobody here: the daemon knows the error.) p_name, for DROP: its types go with it.
-- False when it is still there.
CREATE OR REPLACE FUNCTION ssb_internal.drop_routine(p_routine regprocedure, p_name text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context text;
    v_name text := (SELECT quote_ident(p.proname) FROM pg_proc AS p WHERE p.oid = p_routine AND p.prokind = 'p');
    v_parked jsonb := coalesce(nullif(current_setting('pgsb.parked_routines', true), ''), '{}');
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    IF v_name IS NOT NULL AND ssb_internal.is_executing(v_context, v_name) THEN
        PERFORM set_config('pgsb.parked_routines', (v_parked || jsonb_build_object(p_routine::oid::text, jsonb_build_array(v_name, p_name)))::text, false);
        -- The semicolons and ROUTINE tell the event triggers what this is (definition_events.sql).
        EXECUTE format('ALTER %s %s RENAME TO %I ;', CASE WHEN p_name IS NULL THEN 'PROCEDURE' ELSE 'ROUTINE' END, p_routine,
                       'ssb_dropped_' || p_routine::oid);
        RETURN false;
    END IF;
    EXECUTE format(CASE WHEN p_name IS NULL THEN 'DROP ROUTINE %s ;' ELSE 'DROP ROUTINE %s' END, p_routine);
    RETURN true;
END;
$$;

-- Whether a procedure of this name stands in the context, and not as the outermost. The words of a context are in the
-- server's language, the names are not.
CREATE OR REPLACE FUNCTION ssb_internal.is_executing(p_context text, p_name text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
RETURN coalesce(strpos(substring(p_context FROM '(?:^|[\s.])' || regexp_replace(p_name, '([^[:alnum:]_])', '\\\1', 'g') || '\((.*)$'), E'\n') > 0, false);

-- What has returned of the routines that lost their names while they ran.
--
-- Called by  ssb_internal.end_batch, ssb_internal.leave_to_application
CREATE OR REPLACE FUNCTION ssb_internal.drop_parked_routines()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context text;
    v_parked jsonb := current_setting('pgsb.parked_routines');
    v_oid text;
    v_names jsonb;
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    FOR v_oid, v_names IN SELECT e.key, e.value FROM jsonb_each(v_parked) AS e LOOP
        CONTINUE WHEN ssb_internal.is_executing(v_context, v_names ->> 0);
        IF EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = v_oid::oid AND p.proname = 'ssb_dropped_' || v_oid) THEN
            EXECUTE format('DROP PROCEDURE %s ;', v_oid::regprocedure);
            IF v_names ->> 1 IS NOT NULL AND to_regproc(v_names ->> 1) IS NULL THEN
                PERFORM ssb_internal.drop_row_types(v_names ->> 1);
            END IF;
        END IF;
        v_parked := v_parked - v_oid;
    END LOOP;
    PERFORM set_config('pgsb.parked_routines', CASE v_parked WHEN '{}' THEN '' ELSE v_parked::text END, false);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_row_types(p_module text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_module);
    v_type regtype;
    v_view regclass;
BEGIN
    FOR v_type, v_view IN
        -- An inline function's is a view's, where the script does not tell the types of its columns.
        SELECT t.oid, CASE c.relkind WHEN 'v' THEN c.oid END
          FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid JOIN pg_namespace AS n ON n.oid = t.typnamespace
         WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND starts_with(t.typname, ssb_internal.stem(v_name[2]) || '@') AND t.typtype = 'c'
           -- Not those of p@q, where this is p.
           AND NOT EXISTS (SELECT FROM pg_proc AS p
                            WHERE p.pronamespace = n.oid AND starts_with(p.proname, v_name[2] || '@')
                              AND ssb_internal.stem(p.proname) <> ssb_internal.stem(v_name[2]) AND starts_with(t.typname, p.proname || '@'))
    LOOP
        IF v_view IS NULL THEN
            EXECUTE format('DROP TYPE %s', v_type);
        ELSE
            EXECUTE format('DROP VIEW %s ;', v_view);
        END IF;
    END LOOP;
END;
$$;

-- TABLE, VIEW, or QUEUE or SYNONYM, which are views here; NULL when there is none of these. SECURITY DEFINER: whoever
-- drops a view need not see the queues.
CREATE OR REPLACE FUNCTION ssb_internal.kind_of_relation(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT CASE WHEN c.relkind IN ('r', 'p', 'f') THEN 'TABLE'
                        WHEN EXISTS (SELECT FROM ssb.queue AS q
                                      WHERE q.schema_name = n.nspname AND q.relation_name = c.relname) THEN 'QUEUE'
                        WHEN EXISTS (SELECT FROM ssb_internal.synonym AS s WHERE s.oid = c.oid) THEN 'SYNONYM'
                        ELSE 'VIEW' END
              FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.oid = to_regclass(p_name) AND c.relkind IN ('r', 'p', 'f', 'v'));
END;
$$;

-- DROP TABLE, DROP VIEW, DROP SEQUENCE, DROP TYPE.
CREATE OR REPLACE FUNCTION ssb_internal.drop_relation(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_functions oid[];
BEGIN
    IF p_kind = 'TABLE' THEN
        PERFORM ssb_internal.refuse_to_drop(to_regclass(p_name));
    END IF;
    IF p_kind IN ('TABLE', 'VIEW') THEN
        PERFORM ssb_internal.refuse_another_kind(p_kind, p_name);
    END IF;
    IF ssb_internal.is_system_schema((parse_ident(p_name))[1]) THEN
        RAISE undefined_object;
    END IF;
    IF p_kind IN ('TABLE', 'VIEW') THEN
        PERFORM ssb_internal.refuse_bound('DROP ' || p_kind, p_name)
          WHERE to_regclass(p_name) IS NOT NULL
            AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = to_regclass(p_name) AND c.conrelid <> c.confrelid);  -- 3726 below
        PERFORM ssb_internal.loosen_synonyms(to_regclass(p_name));
        PERFORM ssb_internal.unbind_views('pg_class', to_regclass(p_name));
        v_functions := ssb_internal.functions_of_triggers(to_regclass(p_name));
    END IF;
    EXECUTE format('DROP %s %s', p_kind, p_name);
    PERFORM ssb_internal.drop_trigger_functions(v_functions);
    IF p_kind = 'VIEW' THEN
        PERFORM ssb_internal.forget_source(p_name);
        PERFORM ssb_internal.forget_view_binding(p_name);
    END IF;
EXCEPTION WHEN undefined_table OR undefined_object OR invalid_schema_name OR wrong_object_type THEN
    IF NOT if_exists AND p_kind = 'TYPE' THEN
        PERFORM ssb_internal.raise_error(218, format('Could not find the type ''%s''. Either it does not exist or you do not have the necessary '
                                                     'permission.', ssb_internal.tsql_spelling(p_name)));
    ELSIF NOT if_exists THEN
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                             lower(p_kind COLLATE "C"), ssb_internal.tsql_spelling(p_name)), 11, 5);
    END IF;
WHEN dependent_objects_still_exist THEN
    IF EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = to_regclass(p_name) AND c.conrelid <> c.confrelid) THEN
        PERFORM ssb_internal.raise_error(3726, format('Could not drop object ''%s'' because it is referenced by a FOREIGN KEY constraint.',
                                             ssb_internal.tsql_name_of(to_regclass(p_name))), 16, 1);
    ELSIF p_kind = 'TYPE' THEN
        PERFORM ssb_internal.raise_error(3732, format('Cannot drop type ''%s'' because it is being referenced by object ''%s''. There may be '
            'other objects that reference this type.', ssb_internal.tsql_spelling(p_name), ssb_internal.dependent_name('pg_type', to_regtype(p_name))));
    END IF;
    PERFORM ssb_internal.raise_error(3729, format('Cannot DROP %s ''%s'' because it is being referenced by object ''%s''.', p_kind,
                                         coalesce(ssb_internal.tsql_name_of(to_regclass(p_name)), ssb_internal.tsql_spelling(p_name)),
                                         ssb_internal.dependent_name('pg_class', to_regclass(p_name))));
END;
$$;

-- An object that depends on another: a view, function or default's table.
CREATE OR REPLACE FUNCTION ssb_internal.dependent_name(p_class regclass, p_object oid)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN f.oid IS NOT NULL THEN f.spelling
                WHEN c.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)
                WHEN p.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname::text)
                WHEN n.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(n.oid, 'pg_constraint'), n.conname::text)
                ELSE ssb_internal.spelled(obj_description(t.oid, 'pg_type'), t.typname::text) END
      FROM pg_depend AS d
      LEFT JOIN pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
      LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
      LEFT JOIN ssb_internal.column_default AS f ON f.oid = a.oid
      LEFT JOIN pg_class AS c ON c.oid = coalesce(w.ev_class, a.adrelid, CASE d.classid WHEN 'pg_class'::regclass THEN d.objid END)
      LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_constraint AS n ON d.classid = 'pg_constraint'::regclass AND n.oid = d.objid
      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
     -- A parameter of a table type is an array.
     WHERE d.refclassid = p_class AND d.deptype = 'n'
       AND d.refobjid IN (p_object, CASE p_class WHEN 'pg_type'::regclass THEN (SELECT y.typarray FROM pg_type AS y WHERE y.oid = p_object) END)
       AND (p_class <> 'pg_class'::regclass OR c.oid IS DISTINCT FROM p_object)
     -- A synonym hinders only where it is another role's (ssb_internal.loosen_synonyms).
     ORDER BY c.relkind = 'v' AND starts_with(obj_description(c.oid, 'pg_class'), 'synonym for ') IS TRUE,
              c.relname, p.proname, n.conname, t.typname
     LIMIT 1;
END;
