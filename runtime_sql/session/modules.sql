-- CREATE, ALTER and DROP of procedures, functions, triggers and views as T-SQL
-- means them: one object a name, whatever its parameters.
--
-- Called by  compiled CREATE PROCEDURE … (before the PostgreSQL statement itself), DROP

-- Before CREATE (p_action CREATE: the name must be free), ALTER (there must be
-- one) or CREATE OR ALTER. Versions with other parameters go: T-SQL has no
-- overloading. p_arguments are the types that the new version takes; p_parameters, of a procedure, their modes, names
-- and whether they have defaults ('IN orderid', 'INOUT out ='), which CREATE OR REPLACE does not change.
CREATE OR REPLACE FUNCTION ssb_internal.prepare_module(p_action text, p_kind text, p_name text, p_arguments text DEFAULT NULL,
                                                       p_parameters text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_shown text := ssb_internal.tsql_spelling(p_name);
    v_found regprocedure[];
    v_version regprocedure;
BEGIN
    IF v_name[1] <> 'pg_temp' AND to_regnamespace(quote_ident(v_name[1])) IS NULL THEN
        PERFORM ssb.ensure_schema(v_name[1]);
    END IF;
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND p.proname = v_name[2];
    IF p_action = 'CREATE' AND (v_found IS NOT NULL OR to_regclass(p_name) IS NOT NULL AND p_kind <> 'TYPE') THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND v_found IS NULL AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', v_shown), 16, 6);
    ELSIF v_found IS NULL AND ssb_internal.kind_of_relation(p_name) IS NOT NULL THEN
        PERFORM ssb_internal.raise_incompatible(v_shown);
    END IF;
    PERFORM ssb_internal.note_alteration(p_name, v_found IS NOT NULL);
    IF p_action <> 'CREATE' THEN
        PERFORM ssb_internal.note_module(p_name);
    END IF;
    PERFORM ssb_internal.forget_source(p_name);
    FOREACH v_version IN ARRAY coalesce(v_found, '{}') LOOP
        -- A function's result type may change too.
        IF p_kind = 'FUNCTION' OR v_version IS DISTINCT FROM to_regprocedure(p_name || '(' || coalesce(p_arguments, '') || ')')
           OR p_parameters IS NOT NULL AND p_parameters IS DISTINCT FROM ssb_internal.shape_of_parameters(v_version) THEN
            EXECUTE format('DROP ROUTINE %s ;', v_version);
        END IF;
    END LOOP;
    IF p_kind = 'FUNCTION' AND v_found IS NOT NULL THEN
        PERFORM ssb_internal.drop_row_types(p_name);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.shape_of_parameters(p_routine regprocedure)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(CASE coalesce(p.proargmodes[g.n], 'i') WHEN 'i' THEN 'IN ' ELSE 'INOUT ' END || p.proargnames[g.n]
                     || CASE WHEN pg_get_function_arg_default(p.oid, g.n) IS NULL THEN '' ELSE ' =' END ORDER BY g.n)
      FROM pg_proc AS p CROSS JOIN LATERAL generate_series(1, cardinality(p.proargnames)) AS g (n)
     WHERE p.oid = p_routine;
$$;

-- Whether the function is the runtime's, and a trigger that calls it part of a table: rowversion, for one.
CREATE OR REPLACE FUNCTION ssb_internal.is_runtime_function(p_function oid)
RETURNS boolean
LANGUAGE plpgsql STABLE  -- before PostgreSQL 18 a function in SQL is planned each time
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_proc AS f
                    WHERE f.oid = p_function
                      AND (f.pronamespace IN ('ssb'::regnamespace, 'ssb_internal'::regnamespace, 'sys'::regnamespace)
                           -- ssb_internal.start_versioning makes one for each table.
                           OR (f.proname LIKE 'mssql\_keep\_history\_%' AND f.prorettype = 'trigger'::regtype AND f.prosecdef)));
END;
$$;

-- pg_temp is an alias of the session's own schema.
CREATE OR REPLACE FUNCTION ssb_internal.actual_schema(p_schema text)
RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN p_schema = 'pg_temp' THEN (SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()) ELSE p_schema END;

-- "dbo.orders" of 'trader1_dbo.orders', for messages.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_spelling(p_name text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT concat_ws('.', CASE WHEN f.parts[1] = 'pg_temp' THEN NULL ELSE ssb_internal.tsql_schema(f.parts[1]) END,
                     f.parts[2])
      FROM parse_ident(p_name) AS f(parts);
END;

-- DROP PROCEDURE, DROP FUNCTION, DROP TRIGGER. Types of its table variables go too.
CREATE OR REPLACE FUNCTION ssb_internal.drop_module(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_schema text := ssb_internal.actual_schema(v_name[1]);
    v_found regprocedure[];
    v_version regprocedure;
BEGIN
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = v_schema
       -- With the procedures of its group: p;2 and so on; not the function of a DDL trigger of that name.
       AND (p.proname = v_name[2] OR p_kind = 'PROCEDURE' AND starts_with(p.proname, v_name[2] || ';')
            OR p_kind = 'TRIGGER' AND starts_with(p.proname, ssb_internal.stem(v_name[2]) || '@')
               AND p.proname !~ '@(database|server)$')
       AND CASE p_kind WHEN 'PROCEDURE' THEN p.prokind = 'p'
                       WHEN 'TRIGGER' THEN p.prorettype = 'trigger'::regtype
                       ELSE p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype END;
    IF v_found IS NULL THEN
        IF NOT if_exists THEN
            PERFORM ssb_internal.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                                 lower(p_kind), ssb_internal.tsql_spelling(p_name)), 11, 5);
        END IF;
        RETURN;
    END IF;
    FOREACH v_version IN ARRAY v_found LOOP
        EXECUTE format('DROP ROUTINE %s %s', v_version, CASE p_kind WHEN 'TRIGGER' THEN 'CASCADE' ELSE '' END);
    END LOOP;
    PERFORM ssb_internal.forget_source(p_name);
    PERFORM ssb_internal.drop_row_types(p_name);
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
BEGIN
    FOR v_type IN
        SELECT t.oid FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
         WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND starts_with(t.typname, ssb_internal.stem(v_name[2]) || '@') AND t.typtype = 'c'
    LOOP
        EXECUTE format('DROP TYPE %s', v_type);
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
        SELECT p.oid, format('%I.%I', n.nspname, split_part(p.proname, '@', 1))
          FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE p.oid = ANY (p_functions) AND p.prorettype = 'trigger'::regtype AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgfoid = p.oid)
    LOOP
        EXECUTE format('DROP FUNCTION %s ;', v_function);
        PERFORM ssb_internal.forget_source(v_module);
    END LOOP;
END;
$$;

-- DROP TABLE, DROP VIEW, DROP SEQUENCE, DROP TYPE.
CREATE OR REPLACE FUNCTION ssb_internal.drop_relation(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_actual text := ssb_internal.kind_of_relation(p_name);
    v_functions oid[];
BEGIN
    IF p_kind = 'TABLE' THEN
        PERFORM ssb_internal.refuse_to_drop(to_regclass(p_name));
    END IF;
    IF v_actual <> p_kind AND p_kind IN ('TABLE', 'VIEW') THEN
        PERFORM ssb_internal.raise_error(3705, format('Cannot use DROP %s with ''%s'' because ''%2$s'' is a %s. Use DROP %s.',
                                             p_kind, ssb_internal.tsql_spelling(p_name), lower(v_actual), v_actual));
    END IF;
    IF p_kind IN ('TABLE', 'VIEW') THEN
        PERFORM ssb_internal.loosen_synonyms(to_regclass(p_name));
        v_functions := ssb_internal.functions_of_triggers(to_regclass(p_name));
    END IF;
    EXECUTE format('DROP %s %s', p_kind, p_name);
    PERFORM ssb_internal.drop_trigger_functions(v_functions);
    IF p_kind = 'VIEW' THEN
        PERFORM ssb_internal.forget_source(p_name);
    END IF;
EXCEPTION WHEN undefined_table OR undefined_object OR invalid_schema_name OR wrong_object_type THEN
    IF NOT if_exists THEN
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                             lower(p_kind), ssb_internal.tsql_spelling(p_name)), 11, 5);
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
    SELECT CASE WHEN c.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)
                WHEN p.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname::text)
                WHEN n.oid IS NOT NULL THEN ssb_internal.spelled(obj_description(n.oid, 'pg_constraint'), n.conname::text)
                ELSE ssb_internal.spelled(obj_description(t.oid, 'pg_type'), t.typname::text) END
      FROM pg_depend AS d
      LEFT JOIN pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
      LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
      LEFT JOIN pg_class AS c ON c.oid = coalesce(w.ev_class, a.adrelid, CASE d.classid WHEN 'pg_class'::regclass THEN d.objid END)
      LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_constraint AS n ON d.classid = 'pg_constraint'::regclass AND n.oid = d.objid
      LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
     -- A parameter of a table type is an array.
     WHERE d.refclassid = p_class AND d.deptype = 'n'
       AND d.refobjid IN (p_object, CASE p_class WHEN 'pg_type'::regclass THEN (SELECT y.typarray FROM pg_type AS y WHERE y.oid = p_object) END)
       AND (p_class <> 'pg_class'::regclass OR c.oid IS DISTINCT FROM p_object)
     ORDER BY c.relname, p.proname, n.conname, t.typname
     LIMIT 1;
END;

-- The composite type of a table variable or of a function's rows, made anew.
CREATE OR REPLACE FUNCTION ssb_internal.define_row_type(p_name text, p_columns text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regtype(p_name) IS NOT NULL THEN
        EXECUTE format('DROP TYPE %s', p_name);
    END IF;
    EXECUTE format('CREATE TYPE %s AS (%s)', p_name, p_columns);
END;
$$;

-- ALTER, or CREATE OR ALTER, of what is there as another kind of object.
CREATE OR REPLACE FUNCTION ssb_internal.raise_incompatible(p_shown text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(2010, format('Cannot perform alter on ''%s'' because it is an incompatible object type.', p_shown), 16, 1);
END;
$$;

-- Before CREATE VIEW, ALTER VIEW …: a view may get other columns, which PostgreSQL's
-- REPLACE refuses.
CREATE OR REPLACE FUNCTION ssb_internal.prepare_view(p_action text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass(p_name) IS NOT NULL AND p_action = 'CREATE' THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                             (parse_ident(p_name))[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 6);
    ELSIF to_regclass(p_name) IS NOT NULL AND ssb_internal.kind_of_relation(p_name) IS DISTINCT FROM 'VIEW' THEN
        PERFORM ssb_internal.raise_incompatible(ssb_internal.tsql_spelling(p_name));
    END IF;
    PERFORM ssb_internal.note_alteration(p_name, to_regclass(p_name) IS NOT NULL);
    IF p_action <> 'CREATE' THEN
        PERFORM ssb_internal.note_module(p_name);
    END IF;
    PERFORM ssb_internal.forget_source(p_name);
    IF p_action <> 'CREATE' AND to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb_internal.loosen_synonyms(to_regclass(p_name));
        EXECUTE format('DROP VIEW %s ;', to_regclass(p_name));
    END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
    PERFORM ssb_internal.raise_error(3729, format('Cannot DROP VIEW ''%s'' because it is being referenced by object ''%s''.',
                                         ssb_internal.tsql_spelling(p_name), ssb_internal.dependent_name('pg_class', to_regclass(p_name))));
END;
$$;

-- A synonym is a view whose comment tells what it stands for (ssb_internal.synonym, catalog_views/objects.sql). The
-- compiler follows it; while there is a table or view of that name, the view shows it too. It stands for no queue: whoever
-- reads it then is told so.
CREATE OR REPLACE FUNCTION ssb_internal.create_synonym(p_name text, p_target text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                             (parse_ident(p_name))[2]), 16, 3);
    END IF;
    EXECUTE format('CREATE VIEW %s AS SELECT%s ;', p_name,
                   CASE WHEN ssb_internal.is_queue(to_regclass(p_target)) THEN format(' ssb_internal.refuse_synonym(%L)', ssb_internal.tsql_spelling(p_name))
                        WHEN to_regclass(p_target) IS NOT NULL THEN ' * FROM ' || p_target ELSE '' END);
    EXECUTE format('COMMENT ON VIEW %s IS %L', p_name, 'synonym for ' || p_target);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.refuse_synonym(p_name text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(5313, format('Synonym ''%s'' refers to an invalid object.', p_name), 16, 1,
                                     'A synonym cannot stand for a queue: write the queue''s name.');
END;
$$;

-- Before a table or view is dropped: its synonyms go on without it, with their columns and without rows. Those of others
-- are not the dropping role's to change, and hinder it as any view does.
CREATE OR REPLACE FUNCTION ssb_internal.loosen_synonyms(p_target regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_synonym regclass;
BEGIN
    FOR v_synonym IN
        SELECT s.oid::regclass FROM ssb_internal.synonym AS s JOIN pg_class AS c ON c.oid = s.oid
         WHERE to_regclass(s.target) = p_target AND pg_has_role(c.relowner, 'USAGE')
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT %s WHERE false ;', v_synonym,
            (SELECT string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum)
               FROM pg_attribute AS a WHERE a.attrelid = v_synonym AND a.attnum > 0));
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_synonym(p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb_internal.synonym AS s WHERE s.oid = to_regclass(p_name)) THEN
        EXECUTE format('DROP VIEW %s ;', p_name);
    ELSIF NOT if_exists THEN
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the synonym ''%s'', because it does not exist or you do not have permission.',
                                             ssb_internal.tsql_spelling(p_name)), 11, 5);
    END IF;
END;
$$;

-- Before CREATE TRIGGER, ALTER TRIGGER …: the trigger's functions and PostgreSQL's
-- triggers that call them are made anew.
CREATE OR REPLACE FUNCTION ssb_internal.prepare_trigger(p_action text, p_name text, p_table text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
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
    IF to_regclass(p_table) IS NULL THEN
        PERFORM ssb_internal.raise_error(8197, format('The object ''%s'' does not exist or is invalid for this operation.',
                                             ssb_internal.tsql_spelling(p_table)), 16, 4);
    ELSIF p_action = 'CREATE' AND v_exists THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 2);
    ELSIF p_action = 'ALTER' AND NOT v_exists THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 6);
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
         WHERE t.tgrelid = p_table::regclass AND starts_with(ltrim(t.tgname, '!'), ssb_internal.stem(v_name[2]) || '@') AND NOT t.tgisinternal
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s ;', v_trigger.tgname, p_table);
    END LOOP;
END;
$$;

-- ENABLE TRIGGER, DISABLE TRIGGER; no names: ALL, but not those that are part of the table.
CREATE OR REPLACE FUNCTION ssb_internal.enable_trigger(p_table text, p_names text[], p_enable boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_missing text;
    v_trigger record;
BEGIN
    SELECT n.name INTO v_missing
      FROM unnest(p_names) WITH ORDINALITY AS n (name, place)
     WHERE NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = p_table::regclass AND t.tgname = n.name AND NOT t.tgisinternal
                                                     AND NOT ssb_internal.is_runtime_function(t.tgfoid))
     ORDER BY n.place LIMIT 1;
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

-- A queue's view: neither it nor its columns can be renamed, in SQL Server either.
CREATE OR REPLACE FUNCTION ssb_internal.is_queue(relation regclass)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     JOIN ssb.queue AS q ON q.schema_name = n.nspname AND q.relation_name = c.relname
                    WHERE c.oid = relation)
$$;

-- Whether a schema has an object of that name: a table or view, a constraint, a default, a procedure or function.
CREATE OR REPLACE FUNCTION ssb_internal.object_name_is_used(p_schema oid, p_name text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = p_schema AND c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S'))
        OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.connamespace = p_schema AND k.conname = p_name)
        OR EXISTS (SELECT FROM ssb_internal.column_default AS d WHERE d.namespace = p_schema AND d.name = p_name)
        OR EXISTS (SELECT FROM pg_proc AS f WHERE f.pronamespace = p_schema AND f.proname = p_name)
$$;

-- An index's name as the compiler gives it (compiler/sql/ddl/tables.index_name).
CREATE OR REPLACE FUNCTION ssb_internal.postgres_index_name(p_name text, p_table text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN strpos(sys.fold(p_name), p_table) > 0 THEN sys.fold(p_name) ELSE sys.fold(p_table || '__' || sys.fold(p_name)) END $$;

-- Indexes are named after their table, so that the next table of its old name may have indexes of the same names.
CREATE OR REPLACE FUNCTION ssb_internal.rename_indexes(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index regclass;
    v_old text;
    v_new text;
BEGIN
    FOR v_index, v_old, v_new IN
        SELECT i.indexrelid, c.relname, ssb_internal.postgres_index_name(n.name, t.relname)
          FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indexrelid
          JOIN pg_class AS t ON t.oid = i.indrelid
         CROSS JOIN LATERAL (SELECT coalesce(substring(c.relname FROM '__(.+)$'), c.relname) AS name) AS n
         WHERE i.indrelid = p_table AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
    LOOP
        IF v_new <> v_old THEN
            EXECUTE format('ALTER INDEX %s RENAME TO %I ;', v_index, v_new);
        END IF;
    END LOOP;
END;
$$;

-- sp_rename of a table, view, constraint, default, index or, as 'table.column' with type COLUMN, a column. Not of a
-- procedure: its parameters are written with its name.
CREATE OR REPLACE FUNCTION ssb_internal.rename_object(object_name text, new_name text, object_type text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := sys.name_parts(object_name);
    v_owner text := ssb_internal.module_name(array_to_string(v_parts[1:cardinality(v_parts) - 1], '.'), database);
    v_module text := ssb_internal.module_name(object_name, database);
    v_schema oid := to_regnamespace(quote_ident((parse_ident(v_module))[1]));
    v_named text := (parse_ident(v_module))[2];
    v_part text := v_parts[cardinality(v_parts)];
    v_new text := sys.fold(new_name);
    v_relation regclass := to_regclass(v_module);
    v_table regclass;
    v_column text;
    v_default text;
    v_rename text;
    v_used boolean;
BEGIN
    IF upper(object_type) IN ('COLUMN', 'INDEX') AND (to_regclass(v_owner) IS NULL OR ssb_internal.is_queue(to_regclass(v_owner))) THEN
        NULL;  -- 15248 below
    ELSIF upper(object_type) = 'COLUMN' THEN
        SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I ;', v_owner, a.attname, v_new) INTO v_rename
          FROM pg_attribute AS a WHERE a.attrelid = v_owner::regclass AND a.attname = sys.fold(v_part) AND a.attnum > 0;
        v_default := (SELECT d.spelling FROM ssb_internal.column_default AS d
                       WHERE d.relation = v_owner::regclass AND d.column_name = sys.fold(v_part) AND NOT d.is_system_named);
        v_used := v_new <> sys.fold(v_part)
                  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_owner::regclass AND a.attname = v_new AND NOT a.attisdropped);
    ELSIF upper(object_type) = 'INDEX' THEN
        v_table := v_owner;
        -- The names of constraints' indexes are the constraints'.
        SELECT format('ALTER INDEX %s RENAME TO %I ;', i.indexrelid::regclass,
                      CASE WHEN EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
                           THEN v_new ELSE ssb_internal.postgres_index_name(new_name, t.relname) END) INTO v_rename
          FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid
         WHERE i.indrelid = v_table AND sys.fold(ssb_internal.tsql_index_name(i.indexrelid)) = sys.fold(v_part);
        v_used := v_new <> sys.fold(v_part)
                  AND EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = v_table AND sys.fold(ssb_internal.tsql_index_name(i.indexrelid)) = v_new);
    ELSE
        -- A key's index has its name: the constraint first.
        SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I ;', c.conrelid::regclass, c.conname, v_new), c.conrelid
          INTO v_rename, v_table
          FROM pg_constraint AS c WHERE c.connamespace = v_schema AND c.conname = v_named AND c.conrelid <> 0;
        IF v_rename IS NULL AND v_relation IS NOT NULL AND NOT ssb_internal.is_queue(v_relation) THEN
            v_rename := format('ALTER TABLE %s RENAME TO %I ;', v_module, v_new);
        ELSIF v_rename IS NULL THEN
            SELECT d.relation, d.column_name INTO v_table, v_column
              FROM ssb_internal.column_default AS d WHERE d.namespace = v_schema AND d.name = v_named;
        END IF;
        v_used := v_new <> v_named AND ssb_internal.object_name_is_used(v_schema, v_new);
    END IF;
    IF v_rename IS NULL AND upper(object_type) IN ('COLUMN', 'INDEX') THEN
        PERFORM ssb_internal.raise_error(15248, format('Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong.',
                                              upper(object_type)), 11, 1);
    ELSIF EXISTS (SELECT FROM pg_proc AS f WHERE f.pronamespace = v_schema AND f.proname = v_named) THEN
        PERFORM ssb_internal.raise_error(50000, 'sp_rename of a procedure, function or trigger is not supported here: create it under its new '
                                                'name, and drop the old one.', 16, 1);
    ELSIF v_rename IS NULL AND v_column IS NULL THEN
        PERFORM ssb_internal.raise_error(15225, format('No item by the name of ''%s'' could be found in the current database ''%s'', given '
            'that @itemtype was input as ''(null)''.', object_name, ssb.db_name()), 11, 1);
    ELSIF v_used THEN
        PERFORM ssb_internal.raise_error(15335, format('Error: The new name ''%s'' is already in use as a %s name and would cause a duplicate '
            'that is not permitted.', new_name, CASE WHEN upper(object_type) IN ('COLUMN', 'INDEX') THEN upper(object_type) ELSE 'object' END), 11, 1);
    END IF;
    IF v_column IS NOT NULL THEN
        PERFORM ssb_internal.name_default(v_table, quote_ident(v_column), quote_ident(new_name));
    ELSE
        EXECUTE v_rename;
    END IF;
    IF upper(object_type) = 'COLUMN' THEN
        PERFORM ssb_internal.keep_spelling(v_owner, NULL, ARRAY[new_name]);
        IF v_default IS NOT NULL THEN
            PERFORM ssb_internal.name_default(v_owner::regclass, quote_ident(sys.fold(v_part)), NULL),
                    ssb_internal.name_default(v_owner::regclass, quote_ident(v_new), quote_ident(v_default));
        END IF;
    ELSIF v_table IS NOT NULL THEN
        PERFORM ssb_internal.keep_spelling(v_table::text, NULL, p_parts => ARRAY[new_name]) WHERE v_column IS NULL;
    ELSE
        PERFORM ssb_internal.rename_indexes(v_relation);
        PERFORM ssb_internal.keep_spelling(v_relation::text, new_name)
          FROM pg_class AS c WHERE c.oid = v_relation AND c.relkind IN ('r', 'p', 'v', 'S');
    END IF;
    PERFORM ssb_internal.print('Caution: Changing any part of an object name could break scripts and stored procedures.');
END;
$$;

-- xp_logevent: a line in the server's log that no client sees.
CREATE OR REPLACE FUNCTION ssb_internal.log_event(message text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE LOG '%', message;
END;
$$;

-- A procedure, trigger or dynamic batch makes a temporary table of its own even where its caller has one of that name, which is
-- there again behind it. PostgreSQL has one schema for both: the caller's is renamed meanwhile. Who made which, the setting
-- pgsb.temporary tells ("nesting level name"), which a roll-back takes back with the tables.
CREATE OR REPLACE FUNCTION ssb_internal.temporary_tables_made()
RETURNS text[]
LANGUAGE sql STABLE
RETURN coalesce(nullif(current_setting('pgsb.temporary', true), ''), '{}')::text[];

CREATE OR REPLACE FUNCTION ssb_internal.rename_temporary_table(p_name text, p_old text, p_new text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index text;
BEGIN
    EXECUTE format('ALTER TABLE pg_temp.%I RENAME TO %I', p_name || p_old, p_name || p_new);
    -- Their names share the schema.
    FOR v_index IN
        SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
         WHERE i.indrelid = to_regclass(format('pg_temp.%I', p_name || p_new))
    LOOP
        EXECUTE format('ALTER INDEX pg_temp.%I RENAME TO %I', v_index, left(v_index, length(v_index) - length(p_old)) || p_new);
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.make_temporary_table(p_level integer, p_table text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_made text[] := ssb_internal.temporary_tables_made();
    v_key text := p_level || ' ' || p_table;
BEGIN
    IF v_key = ANY (v_made) THEN
        RETURN;
    END IF;
    PERFORM set_config('pgsb.temporary', (v_made || v_key)::text, false);
    IF to_regclass(p_table) IS NOT NULL THEN
        PERFORM ssb_internal.rename_temporary_table((parse_ident(p_table))[2], '', '@' || p_level);
    END IF;
END;
$$;

-- They go with what made them. Those of a doomed transaction go with it.
CREATE OR REPLACE FUNCTION ssb_internal.drop_own_temporary_tables(session ssb.session, tables text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_made text[] := ssb_internal.temporary_tables_made();
    v_table text;
    v_name text;
BEGIN
    IF session.doomed THEN
        RETURN;
    END IF;
    FOREACH v_table IN ARRAY tables LOOP
        CONTINUE WHEN session.nestlevel || ' ' || v_table <> ALL (v_made);
        v_made := array_remove(v_made, session.nestlevel || ' ' || v_table);
        IF to_regclass(v_table) IS NOT NULL THEN
            EXECUTE format('DROP TABLE %s', v_table);
        END IF;
        v_name := (parse_ident(v_table))[2];
        IF to_regclass(format('pg_temp.%I', v_name || '@' || session.nestlevel)) IS NOT NULL THEN
            PERFORM ssb_internal.rename_temporary_table(v_name, '@' || session.nestlevel, '');
        END IF;
    END LOOP;
    PERFORM set_config('pgsb.temporary', v_made::text, false);
END;
$$;

-- What modules call that an earlier version compiled.
CREATE OR REPLACE FUNCTION ssb_internal.drop_temporary_tables(session ssb.session, tables text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table text;
BEGIN
    IF session.doomed THEN
        RETURN;
    END IF;
    FOREACH v_table IN ARRAY tables LOOP
        IF to_regclass(v_table) IS NOT NULL THEN
            EXECUTE format('DROP TABLE %s', v_table);
        END IF;
    END LOOP;
END;
$$;

-- ALTER SCHEMA … TRANSFER.
CREATE OR REPLACE FUNCTION ssb_internal.transfer_object(p_schema text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_routine regprocedure := (SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                                WHERE n.nspname = (parse_ident(p_name))[1] AND p.proname = (parse_ident(p_name))[2] LIMIT 1);
BEGIN
    IF to_regnamespace(quote_ident(p_schema)) IS NULL THEN
        PERFORM ssb_internal.raise_not_found('alter', 'schema', ssb_internal.tsql_schema(p_schema));
    ELSIF ssb_internal.is_queue(to_regclass(p_name)) THEN
        PERFORM ssb_internal.transfer_queue(p_schema, p_name);
    ELSIF to_regclass(p_name) IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s SET SCHEMA %I ;', p_name, p_schema);
    ELSIF v_routine IS NOT NULL THEN
        EXECUTE format('ALTER ROUTINE %s SET SCHEMA %I ;', v_routine, p_schema);
    ELSE
        PERFORM ssb_internal.raise_error(15151, format('Cannot find the object ''%s'', because it does not exist or you do not have '
                                              'permission.', (parse_ident(p_name))[2]));
    END IF;
END;
$$;
