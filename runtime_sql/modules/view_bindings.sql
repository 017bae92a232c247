-- Views that go on without what they select from. SQL Server looks at a view's tables when the view is used: DROP TABLE, DROP
-- COLUMN and the like do not ask for views (but for those WITH SCHEMABINDING), and a view whose tables are there again works
-- again. PostgreSQL binds a view when it is made.
--
-- So before something is dropped, its views let go of it: each keeps its name, columns, owner, grants and triggers, and
-- refuses to be read (4413). What it was stands in ssb.view_binding, as the catalog had it: no client's text is ever executed. Behind
-- what may be what they wait for, those of the caller are bound anew.
--
-- Called by  DROP of tables, views, functions and queues; ALTER of views, functions and columns; compiled CREATE TABLE and its
--            like, behind the statement, where something was dropped before; sp_refreshview

-- What the caller has made of a view is told by the catalog, not by him.
CREATE OR REPLACE FUNCTION ssb_internal.note_unbound_view(p_view regclass)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.view_binding AS b (schema_name, name, definition, options)
        SELECT n.nspname, c.relname, pg_get_viewdef(c.oid), c.reloptions
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.oid = p_view AND c.relkind = 'v' AND pg_has_role(ssb_internal.caller(), c.relowner, 'USAGE')
           AND NOT ssb_internal.is_unbound(c.oid)
    ON CONFLICT (schema_name, name) DO UPDATE SET definition = excluded.definition, options = excluded.options, is_schema_bound = false;
END;
$$;

-- Before CREATE, ALTER and DROP of a view: what was said of the one before is no more true.
CREATE OR REPLACE FUNCTION ssb_internal.forget_view_binding(p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    IF ssb_internal.is_module_of_caller(v_name[1], v_name[2]) IS NOT FALSE THEN
        DELETE FROM ssb.view_binding AS b WHERE b.schema_name = v_name[1] AND b.name = v_name[2];
    END IF;
END;
$$;

-- Behind CREATE VIEW and CREATE FUNCTION … WITH SCHEMABINDING. p_needs: relations, their columns ('dbo.t.a') and functions ('dbo.f()').
CREATE OR REPLACE FUNCTION ssb_internal.bind_to_schema(p_name text, p_needs text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
    v_kind CONSTANT text := CASE WHEN to_regclass(p_name) IS NULL THEN 'function' ELSE 'view' END;
    v_need text;
    v_parts text[];
    v_relation regclass;
BEGIN
    IF ssb_internal.is_module_of_caller(v_name[1], v_name[2]) IS NOT TRUE THEN
        RETURN;
    END IF;
    FOREACH v_need IN ARRAY coalesce(p_needs, '{}') LOOP
        -- It hinders those to whom these belong: who binds something to them must be allowed to.
        IF v_need LIKE '%()' THEN
            CONTINUE WHEN NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = to_regproc(left(v_need, -2)));
            IF NOT has_function_privilege(ssb_internal.caller(), to_regproc(left(v_need, -2)), 'EXECUTE') THEN
                PERFORM ssb_internal.raise_error(229, format('The EXECUTE permission was denied on the object ''%s''.',
                                                             ssb_internal.tsql_function_name(left(v_need, -2))), 14, 5);
            END IF;
            CONTINUE WHEN ssb_internal.is_schema_bound(to_regproc(left(v_need, -2)));
        ELSE
            v_parts := parse_ident(v_need);
            v_relation := to_regclass(format('%I.%I', v_parts[1], v_parts[2]));
            IF NOT has_table_privilege(ssb_internal.caller(), v_relation, 'REFERENCES') THEN
                PERFORM ssb_internal.raise_error(229, ssb_internal.denied_text('REFERENCES', v_relation), 14, 5);
            END IF;
            CONTINUE WHEN cardinality(v_parts) > 2;
            IF v_relation IS NULL THEN
                PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(v_need)));
            END IF;
            CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = v_relation AND c.relkind = 'v')
                          OR ssb_internal.queue_spelling(v_relation) IS NOT NULL OR ssb_internal.is_schema_bound(v_relation);
        END IF;
        PERFORM ssb_internal.raise_error(4513, format('Cannot schema bind %s ''%s''. ''%s'' is not schema bound.', v_kind,
            CASE v_kind WHEN 'view' THEN ssb_internal.tsql_name_of(to_regclass(p_name)) ELSE ssb_internal.tsql_function_name(p_name) END,
            CASE WHEN v_need LIKE '%()' THEN ssb_internal.tsql_function_name(left(v_need, -2)) ELSE ssb_internal.tsql_name_of(v_relation) END), 16, 2);
    END LOOP;
    INSERT INTO ssb.view_binding AS b (schema_name, name, is_schema_bound, needs) VALUES (v_name[1], v_name[2], true, p_needs)
    ON CONFLICT (schema_name, name) DO UPDATE SET definition = NULL, options = NULL, is_schema_bound = true, needs = excluded.needs;
END;
$$;

-- Of a view or a function. SECURITY DEFINER: the table is the owner's, and this is in sys.sql_modules.
CREATE OR REPLACE FUNCTION ssb_internal.is_schema_bound(p_view oid)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM ssb.view_binding AS b
                     JOIN pg_namespace AS n ON n.nspname = b.schema_name
                     JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = b.name
                    WHERE c.oid = p_view AND b.is_schema_bound)
        OR EXISTS (SELECT FROM ssb.view_binding AS b
                     JOIN pg_namespace AS n ON n.nspname = b.schema_name
                     JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = b.name
                    WHERE p.oid = p_view AND b.is_schema_bound)
$$;

-- The first module WITH SCHEMABINDING, as it is spelled, that needs a relation ('dbo.t'), its column ('dbo.t.a') or a function ('dbo.f()').
-- SECURITY DEFINER: whoever it belongs to, it hinders.
CREATE OR REPLACE FUNCTION ssb_internal.bound_dependent(p_need text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.spelled(coalesce(obj_description(p.oid, 'pg_proc'), obj_description(c.oid, 'pg_class')), b.name)
      FROM ssb.view_binding AS b
      JOIN pg_namespace AS n ON n.nspname = b.schema_name
      LEFT JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = b.name
      LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = b.name AND c.relkind = 'v'
     WHERE b.is_schema_bound AND p_need = ANY (b.needs) AND coalesce(p.oid, c.oid) IS NOT NULL
     ORDER BY b.name COLLATE "C"
     LIMIT 1
$$;

CREATE OR REPLACE FUNCTION ssb_internal.tsql_function_name(p_name text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.tsql_schema((parse_ident(p_name))[1]) || '.'
           || ssb_internal.spelled(obj_description(to_regproc(p_name), 'pg_proc'), (parse_ident(p_name))[2])
$$;

-- 3729: before DROP and ALTER of what such a module needs. p_action: DROP with the kind, or ALTER.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_bound(p_action text, p_need text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_dependent CONSTANT text := ssb_internal.bound_dependent(p_need);
    v_name CONSTANT text := regexp_replace(p_need, '\(\)$', '');
BEGIN
    IF v_dependent IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(3729, format('Cannot %s ''%s'' because it is being referenced by object ''%s''.', p_action,
                                             CASE WHEN v_name = p_need THEN ssb_internal.tsql_name_of(to_regclass(p_need)) ELSE ssb_internal.tsql_function_name(v_name) END,
                                             v_dependent), 16, CASE p_action WHEN 'ALTER' THEN 3 ELSE 1 END);
    END IF;
END;
$$;

-- Whether a view has let go of what it selected from.
CREATE OR REPLACE FUNCTION ssb_internal.is_unbound(p_view oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_rewrite AS w
                     JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
                    WHERE w.ev_class = p_view AND d.refobjid = 'ssb_internal.refuse_unbound_view(text)'::regprocedure)
$$;

-- What such a view selects from.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_unbound_view(p_name text)
RETURNS SETOF integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(4413, format('Could not use view or function ''%s'' because of binding errors.', p_name), 16, 1,
        'Something that it selects from was dropped or changed. Make that anew and run EXEC sp_refreshview, or ALTER the view.');
END;
$$;

-- The views of the caller that select from something let go of it; p_columns: those that use one of them. Views of others
-- are not his to change, and hinder him as PostgreSQL has it, like those WITH SCHEMABINDING.
CREATE OR REPLACE FUNCTION ssb_internal.unbind_views(p_class regclass, p_object oid, p_columns text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_view regclass;
BEGIN
    FOR v_view IN
        SELECT DISTINCT c.oid
          FROM pg_depend AS d
          JOIN pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
          JOIN pg_class AS c ON c.oid = w.ev_class
         WHERE d.refclassid = p_class AND d.refobjid = p_object AND d.deptype = 'n' AND c.relkind = 'v' AND c.oid <> p_object
           AND (p_columns IS NULL OR EXISTS (SELECT FROM pg_attribute AS a
                                              WHERE a.attrelid = p_object AND a.attnum = d.refobjsubid AND a.attname = ANY (p_columns)))
           -- (Within a function that has its owner's rights he is another.)
           AND pg_has_role(ssb_internal.caller(), c.relowner, 'USAGE') AND pg_has_role(c.relowner, 'USAGE') AND c.relpersistence <> 't'
           AND NOT ssb_internal.is_system_schema(c.relnamespace::regnamespace::text)
           AND NOT EXISTS (SELECT FROM ssb_internal.synonym AS s WHERE s.oid = c.oid)
           AND ssb_internal.queue_spelling(c.oid) IS NULL AND NOT ssb_internal.is_schema_bound(c.oid)
    LOOP
        PERFORM ssb_internal.note_unbound_view(v_view);
        PERFORM ssb_internal.empty_view(v_view);
    END LOOP;
END;
$$;

-- Before DROP DATABASE: views of other databases that select from something in this one.
CREATE OR REPLACE FUNCTION ssb_internal.unbind_views_elsewhere(p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_used record;
BEGIN
    FOR v_used IN
        WITH inside AS (
            SELECT n.oid FROM ssb.schema_of_database AS s JOIN pg_namespace AS n ON n.nspname = s.name WHERE s.database_id = p_database_id
        ), goes AS (
            SELECT 'pg_class'::regclass AS class, c.oid FROM pg_class AS c JOIN inside AS i ON i.oid = c.relnamespace
            UNION ALL
            SELECT 'pg_proc'::regclass, p.oid FROM pg_proc AS p JOIN inside AS i ON i.oid = p.pronamespace
        )
        SELECT DISTINCT g.class, g.oid
          FROM goes AS g
          JOIN pg_depend AS d ON d.refclassid = g.class AND d.refobjid = g.oid AND d.classid = 'pg_rewrite'::regclass
          JOIN pg_rewrite AS w ON w.oid = d.objid
          JOIN pg_class AS c ON c.oid = w.ev_class
         WHERE c.relnamespace NOT IN (SELECT i.oid FROM inside AS i)
    LOOP
        PERFORM ssb_internal.unbind_views(v_used.class, v_used.oid);
    END LOOP;
END;
$$;

-- A view without anything to select from. Its columns depend on the function that refuses, or a condition would be found
-- false before that is called.
CREATE OR REPLACE FUNCTION ssb_internal.empty_view(p_view regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT %s FROM ssb_internal.refuse_unbound_view(%L) AS f (n) ;', p_view,
        (SELECT string_agg(format('CASE WHEN f.n IS NULL THEN %1$s ELSE %1$s END AS %2$I',
                                  format('NULL::%s%s', format_type(a.atttypid, a.atttypmod), c.clause), a.attname), ', ' ORDER BY a.attnum)
           FROM pg_attribute AS a
           LEFT JOIN LATERAL (SELECT format(' COLLATE %I.%I', n.nspname, l.collname) AS clause
                                FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = l.collnamespace
                               WHERE l.oid = a.attcollation AND l.collname <> 'default') AS c ON true
          WHERE a.attrelid = p_view AND a.attnum > 0),
        ssb_internal.spelled(obj_description(p_view, 'pg_class'), (SELECT c.relname::text FROM pg_class AS c WHERE c.oid = p_view)));
END;
$$;

-- Those that the caller may bind, and what they were. SECURITY DEFINER: the table is the owner's.
CREATE OR REPLACE FUNCTION ssb_internal.unbound_views()
RETURNS TABLE (view regclass, name text, definition text, options text[])
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.oid, format('%I.%I', b.schema_name, b.name), b.definition, b.options
      FROM ssb.view_binding AS b
      JOIN pg_namespace AS n ON n.nspname = b.schema_name
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = b.name AND c.relkind = 'v'
     WHERE b.definition IS NOT NULL AND pg_has_role(ssb_internal.caller(), c.relowner, 'USAGE') AND ssb_internal.is_unbound(c.oid)
     ORDER BY b.schema_name, b.name
$$;

-- Binds what can be bound, also what selects from a view that was bound just now. The rest waits. p_is_alteration: ALTER TABLE fails
-- where a view would have to be made anew, and something of PostgreSQL's own depends on it; a CREATE does not.
CREATE OR REPLACE FUNCTION ssb_internal.bind_views(p_is_alteration boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_found record;
    v_has_bound boolean := true;
BEGIN
    PERFORM ssb_internal.attach_synonyms();
    WHILE v_has_bound LOOP
        v_has_bound := false;
        FOR v_found IN SELECT v.* FROM ssb_internal.unbound_views() AS v LOOP
            BEGIN
                PERFORM ssb_internal.bind_view(v_found.view, v_found.name, ssb_internal.text_of_view(v_found.definition, v_found.options));
                PERFORM ssb_internal.forget_view_binding(v_found.name);
                v_has_bound := true;
            EXCEPTION WHEN dependent_objects_still_exist THEN
                IF p_is_alteration THEN
                    PERFORM ssb_internal.raise_error(3729, format('Cannot DROP VIEW ''%s'' because it is being referenced by object ''%s''.',
                        ssb_internal.tsql_spelling(v_found.name), ssb_internal.dependent_name('pg_class', v_found.view)));
                END IF;
            WHEN undefined_table OR undefined_column OR undefined_function OR undefined_object OR invalid_schema_name
                        OR wrong_object_type OR datatype_mismatch OR cannot_coerce OR ambiguous_function OR grouping_error THEN
                NULL;  -- what it needs is not there, or not as it was
            END;
        END LOOP;
    END LOOP;
END;
$$;

-- p_text: what stands behind a view's name. Where its columns have other types now, the view is made anew.
CREATE OR REPLACE FUNCTION ssb_internal.bind_view(p_view regclass, p_name text, p_text text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_comment CONSTANT text := obj_description(p_view, 'pg_class');
    v_columns jsonb;
    v_column record;
BEGIN
    BEGIN
        EXECUTE format('CREATE OR REPLACE VIEW %s%s', p_name, p_text);
        RETURN;
    EXCEPTION WHEN invalid_table_definition THEN
        SELECT jsonb_object_agg(a.attname, col_description(p_view, a.attnum)) INTO v_columns
          FROM pg_attribute AS a WHERE a.attrelid = p_view AND a.attnum > 0;
    END;
    PERFORM ssb_internal.unbind_views('pg_class', p_view);
    PERFORM ssb_internal.loosen_synonyms(p_view);
    PERFORM ssb_internal.note_module(p_name);
    EXECUTE format('DROP VIEW %s ;', p_name);
    EXECUTE format('CREATE OR REPLACE VIEW %s%s', p_name, p_text);
    IF v_comment ~ '^(T-SQL name: |synonym for )' THEN
        EXECUTE format('COMMENT ON VIEW %s IS %L', p_name, v_comment);
    END IF;
    -- The spelling alone: the type is another one.
    FOR v_column IN SELECT c.key AS name, split_part(c.value, chr(10), 1) AS spelling FROM jsonb_each_text(v_columns) AS c WHERE c.value LIKE 'T-SQL name: %' LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = to_regclass(p_name) AND a.attname = v_column.name);
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', p_name, v_column.name, v_column.spelling);
    END LOOP;
    PERFORM ssb_internal.restore_noted_module(p_name);
END;
$$;

-- sp_refreshview and sp_refreshsqlmodule: of a view that stays without what it selects from, an error says what that is.
CREATE OR REPLACE FUNCTION ssb_internal.refresh_module(object_name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_module CONSTANT text := ssb_internal.module_name(object_name, database);
    v_found record;
BEGIN
    IF to_regclass(v_module) IS NULL AND NOT EXISTS (
        SELECT FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace(quote_ident((parse_ident(v_module))[1]))
                                   AND ssb_internal.stem(p.proname) = ssb_internal.stem((parse_ident(v_module))[2]))
       OR ssb_internal.is_schema_bound(coalesce(to_regclass(v_module), to_regproc(v_module)::oid)) THEN
        PERFORM ssb_internal.raise_error(15165, format('Could not find object ''%s'' or you do not have permission.', object_name));
    END IF;
    PERFORM ssb_internal.bind_views();
    FOR v_found IN SELECT v.* FROM ssb_internal.unbound_views() AS v WHERE v.view = to_regclass(v_module) LOOP
        PERFORM ssb_internal.bind_view(v_found.view, v_found.name, ssb_internal.text_of_view(v_found.definition, v_found.options));
    END LOOP;
END;
$$;

-- What stands behind a view's name in CREATE VIEW.
CREATE OR REPLACE FUNCTION ssb_internal.text_of_view(p_definition text, p_options text[])
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(' WITH (' || array_to_string(p_options, ', ') || ')', '') || ' AS ' || rtrim(p_definition, ';') || ' ;' $$;

-- Of a view that was made or replaced just now (activation/definition_events.sql): 'same' where it lets go of what it selected from, or
-- is what it was; 'altered' where it is bound, and reads otherwise; NULL: it did not wait.
CREATE OR REPLACE FUNCTION ssb_internal.state_of_waiting_view(p_schema text, p_name text)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT CASE WHEN ssb_internal.is_unbound(c.oid) OR pg_get_viewdef(c.oid) = b.definition THEN 'same' ELSE 'altered' END
              FROM ssb.view_binding AS b
              JOIN pg_namespace AS n ON n.nspname = b.schema_name
              JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = b.name AND c.relkind = 'v'
             WHERE b.schema_name = p_schema AND b.name = p_name AND b.definition IS NOT NULL);
END;
$$;

-- Behind sp_rename and ALTER SCHEMA … TRANSFER.
CREATE OR REPLACE FUNCTION ssb_internal.rename_view_binding(p_name text, p_new text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old CONSTANT text[] := parse_ident(p_name);
    v_new CONSTANT text[] := parse_ident(p_new);
BEGIN
    IF ssb_internal.is_name_left(p_name) AND ssb_internal.is_module_of_caller(v_new[1], v_new[2]) THEN
        DELETE FROM ssb.view_binding AS b WHERE b.schema_name = v_new[1] AND b.name = v_new[2];
        UPDATE ssb.view_binding AS b SET schema_name = v_new[1], name = v_new[2] WHERE b.schema_name = v_old[1] AND b.name = v_old[2];
    END IF;
END;
$$;
