-- CREATE, ALTER and DROP of procedures, functions, triggers and views as T-SQL
-- means them: one object a name, whatever its parameters.
--
-- Called by  compiled CREATE PROCEDURE … (before the PostgreSQL statement itself), DROP

-- Before CREATE (p_action CREATE: the name must be free), ALTER (there must be
-- one) or CREATE OR ALTER. Versions with other parameters go: T-SQL has no
-- overloading. p_arguments are the types that the new version takes.
CREATE OR REPLACE FUNCTION ssb.prepare_module(p_action text, p_kind text, p_name text, p_arguments text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_shown text := ssb.tsql_spelling(p_name);
    v_found regprocedure[];
    v_version regprocedure;
BEGIN
    IF v_name[1] <> 'pg_temp' AND to_regnamespace(quote_ident(v_name[1])) IS NULL THEN
        PERFORM ssb.ensure_schema(v_name[1]);
    END IF;
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = ssb.actual_schema(v_name[1]) AND p.proname = v_name[2];
    IF p_action = 'CREATE' AND (v_found IS NOT NULL OR to_regclass(p_name) IS NOT NULL AND p_kind <> 'TYPE') THEN
        PERFORM ssb.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND v_found IS NULL AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb.raise_error(208, format('Invalid object name ''%s''.', v_shown), 16, 6);
    END IF;
    PERFORM ssb.note_alteration(p_name, v_found IS NOT NULL);
    IF p_kind = 'FUNCTION' AND v_found IS NOT NULL THEN
        -- Its result type may change too.
        PERFORM ssb.drop_module('FUNCTION', p_name);
        RETURN;
    END IF;
    FOREACH v_version IN ARRAY coalesce(v_found, '{}') LOOP
        IF v_version IS DISTINCT FROM to_regprocedure(p_name || '(' || coalesce(p_arguments, '') || ')') THEN
            EXECUTE format('DROP ROUTINE %s', v_version);
        END IF;
    END LOOP;
END;
$$;

-- PostgreSQL creates anew what T-SQL alters: for the event of it (650_definition_events.sql).
CREATE OR REPLACE FUNCTION ssb.note_alteration(p_name text, p_exists boolean)
RETURNS void
LANGUAGE sql
AS $$
    SELECT set_config('pgsb.altered', CASE WHEN p_exists THEN p_name ELSE '' END, false)
$$;

-- Whether the function is the runtime's, and a trigger that calls it part of a table: rowversion, for one.
CREATE OR REPLACE FUNCTION ssb.is_runtime_function(p_function oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_proc AS f WHERE f.oid = p_function AND f.pronamespace IN ('ssb'::regnamespace, 'sys'::regnamespace))
$$;

-- pg_temp is an alias of the session's own schema.
CREATE OR REPLACE FUNCTION ssb.actual_schema(p_schema text)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN p_schema = 'pg_temp' THEN (SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()) ELSE p_schema END
$$;

-- "dbo.orders" of 'trader1_dbo.orders', for messages.
CREATE OR REPLACE FUNCTION ssb.tsql_spelling(p_name text)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT concat_ws('.', CASE WHEN f.parts[1] = 'pg_temp' THEN NULL ELSE ssb.tsql_schema(f.parts[1]) END,
                     f.parts[2])
      FROM parse_ident(p_name) AS f(parts)
$$;

-- DROP PROCEDURE, DROP FUNCTION, DROP TRIGGER. Types of its table variables go too.
CREATE OR REPLACE FUNCTION ssb.drop_module(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_schema text := ssb.actual_schema(v_name[1]);
    v_found regprocedure[];
    v_version regprocedure;
    v_type regtype;
BEGIN
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = v_schema AND (p.proname = v_name[2] OR p_kind = 'TRIGGER' AND p.proname LIKE replace(v_name[2], '_', '\_') || '@%')
       AND CASE p_kind WHEN 'PROCEDURE' THEN p.prokind = 'p'
                       WHEN 'TRIGGER' THEN p.prorettype = 'trigger'::regtype
                       ELSE p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype END;
    IF v_found IS NULL THEN
        IF NOT if_exists THEN
            PERFORM ssb.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                                 lower(p_kind), ssb.tsql_spelling(p_name)), 11, 5);
        END IF;
        RETURN;
    END IF;
    FOREACH v_version IN ARRAY v_found LOOP
        EXECUTE format('DROP ROUTINE %s %s', v_version, CASE p_kind WHEN 'TRIGGER' THEN 'CASCADE' ELSE '' END);
    END LOOP;
    FOR v_type IN
        SELECT t.oid FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
         WHERE n.nspname = v_schema AND t.typname LIKE replace(v_name[2], '_', '\_') || '@%' AND t.typtype = 'c'
    LOOP
        EXECUTE format('DROP TYPE %s', v_type);
    END LOOP;
END;
$$;

-- DROP TABLE, DROP VIEW, DROP SEQUENCE, DROP TYPE.
CREATE OR REPLACE FUNCTION ssb.drop_relation(p_kind text, p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format('DROP %s %s', p_kind, p_name);
EXCEPTION WHEN undefined_table OR undefined_object OR invalid_schema_name OR wrong_object_type THEN
    IF NOT if_exists THEN
        PERFORM ssb.raise_error(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                             lower(p_kind), ssb.tsql_spelling(p_name)), 11, 5);
    END IF;
WHEN dependent_objects_still_exist THEN
    PERFORM ssb.raise_error(3726, format('Could not drop object ''%s'' because it is referenced by another object.',
                                         ssb.tsql_spelling(p_name)), 16, 1, SQLERRM);
END;
$$;

-- The composite type of a table variable or of a function's rows, made anew.
CREATE OR REPLACE FUNCTION ssb.define_row_type(p_name text, p_columns text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF to_regtype(p_name) IS NOT NULL THEN
        EXECUTE format('DROP TYPE %s', p_name);
    END IF;
    EXECUTE format('CREATE TYPE %s AS (%s)', p_name, p_columns);
END;
$$;

-- Before CREATE VIEW, ALTER VIEW …: a view may get other columns, which PostgreSQL's
-- REPLACE refuses.
CREATE OR REPLACE FUNCTION ssb.prepare_view(p_action text, p_name text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_action = 'CREATE' AND to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                             (parse_ident(p_name))[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb.raise_error(208, format('Invalid object name ''%s''.', ssb.tsql_spelling(p_name)), 16, 6);
    END IF;
    PERFORM ssb.note_alteration(p_name, to_regclass(p_name) IS NOT NULL);
    IF p_action <> 'CREATE' AND to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb.drop_relation('VIEW', p_name);
    END IF;
END;
$$;

-- CREATE SYNONYM for a table, view or queue: a view, through which rows can be
-- changed too. Other targets are known to the compiler alone.
CREATE OR REPLACE FUNCTION ssb.create_synonym(p_name text, p_target text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                             (parse_ident(p_name))[2]), 16, 3);
    ELSIF to_regclass(p_target) IS NOT NULL THEN
        EXECUTE format('CREATE VIEW %s AS SELECT * FROM %s', p_name, p_target);
        -- By which ssb.synonym (301_objects.sql) knows it from a view.
        EXECUTE format('COMMENT ON VIEW %s IS %L', p_name, 'synonym for ' || p_target);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_synonym(p_name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF to_regclass(p_name) IS NOT NULL THEN
        EXECUTE format('DROP VIEW %s', p_name);
    END IF;
END;
$$;

-- Before CREATE TRIGGER, ALTER TRIGGER …: the trigger's functions and PostgreSQL's
-- triggers that call them are made anew.
CREATE OR REPLACE FUNCTION ssb.prepare_trigger(p_action text, p_name text, p_table text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_exists boolean := to_regproc(p_name) IS NOT NULL;
    v_trigger record;
BEGIN
    IF to_regclass(p_table) IS NULL THEN
        PERFORM ssb.raise_error(8197, format('The object ''%s'' does not exist or is invalid for this operation.',
                                             ssb.tsql_spelling(p_table)), 16, 4);
    ELSIF p_action = 'CREATE' AND v_exists THEN
        PERFORM ssb.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 2);
    ELSIF p_action = 'ALTER' AND NOT v_exists THEN
        PERFORM ssb.raise_error(208, format('Invalid object name ''%s''.', ssb.tsql_spelling(p_name)), 16, 6);
    END IF;
    PERFORM ssb.note_alteration(p_name, v_exists);
    IF v_exists THEN
        PERFORM ssb.drop_module('TRIGGER', p_name);
    END IF;
    FOR v_trigger IN
        SELECT t.tgname FROM pg_trigger AS t
         WHERE t.tgrelid = p_table::regclass AND t.tgname LIKE replace(v_name[2], '_', '\_') || '@%' AND NOT t.tgisinternal
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', v_trigger.tgname, p_table);
    END LOOP;
END;
$$;

-- ENABLE TRIGGER, DISABLE TRIGGER; no names: ALL.
CREATE OR REPLACE FUNCTION ssb.enable_trigger(p_table text, p_names text[], p_enable boolean)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_trigger record;
BEGIN
    FOR v_trigger IN
        SELECT t.tgname FROM pg_trigger AS t
         WHERE t.tgrelid = p_table::regclass AND NOT t.tgisinternal
           AND (p_names = '{}' OR split_part(t.tgname, '@', 1) = ANY (p_names))
    LOOP
        EXECUTE format('ALTER TABLE %s %s TRIGGER %I', p_table, CASE WHEN p_enable THEN 'ENABLE' ELSE 'DISABLE' END,
                       v_trigger.tgname);
    END LOOP;
END;
$$;

-- A queue's view: neither it nor its columns can be renamed, in SQL Server either.
CREATE OR REPLACE FUNCTION ssb.is_queue(relation regclass)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     JOIN ssb.queue AS q ON q.schema_name = n.nspname AND q.relation_name = c.relname
                    WHERE c.oid = relation)
$$;

-- sp_rename of a table, view, index or, as 'table.column' with type COLUMN, a column.
CREATE OR REPLACE FUNCTION ssb.rename_object(object_name text, new_name text, object_type text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_parts text[] := sys.name_parts(object_name);
    v_owner text := ssb.module_name(array_to_string(v_parts[1:cardinality(v_parts) - 1], '.'), database);
BEGIN
    IF upper(object_type) IN ('COLUMN', 'INDEX') AND (to_regclass(v_owner) IS NULL OR ssb.is_queue(to_regclass(v_owner))) THEN
        PERFORM ssb.raise_error(15248, format('Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong.',
                                              upper(object_type)), 11, 1);
    ELSIF upper(object_type) = 'COLUMN' THEN
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', v_owner, sys.fold(v_parts[cardinality(v_parts)]), sys.fold(new_name));
    ELSIF upper(object_type) = 'INDEX' THEN
        EXECUTE format('ALTER INDEX %I.%I RENAME TO %I', (parse_ident(v_owner))[1], sys.fold(v_parts[cardinality(v_parts)]),
                       sys.fold(new_name));
    ELSIF to_regclass(ssb.module_name(object_name, database)) IS NULL
          OR ssb.is_queue(to_regclass(ssb.module_name(object_name, database))) THEN
        PERFORM ssb.raise_error(15225, format('No item by the name of ''%s'' could be found in the current database ''%s'', given '
            'that @itemtype was input as ''(null)''.', object_name, ssb.db_name()), 11, 1);
    ELSE
        EXECUTE format('ALTER TABLE %s RENAME TO %I', ssb.module_name(object_name, database), sys.fold(new_name));
    END IF;
END;
$$;

-- xp_logevent: a line in the server's log that no client sees.
CREATE OR REPLACE FUNCTION ssb.log_event(message text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE LOG '%', message;
END;
$$;

-- Temporary tables go with the procedure or dynamic batch that made them. Those
-- of a doomed transaction go with it.
CREATE OR REPLACE FUNCTION ssb.drop_temporary_tables(session ssb.session, tables text[])
RETURNS void
LANGUAGE plpgsql
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
CREATE OR REPLACE FUNCTION ssb.transfer_object(p_schema text, p_name text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_routine regprocedure := (SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                                WHERE n.nspname = (parse_ident(p_name))[1] AND p.proname = (parse_ident(p_name))[2] LIMIT 1);
BEGIN
    IF to_regclass(p_name) IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s SET SCHEMA %I', p_name, p_schema);
    ELSIF v_routine IS NOT NULL THEN
        EXECUTE format('ALTER ROUTINE %s SET SCHEMA %I', v_routine, p_schema);
    ELSE
        PERFORM ssb.raise_error(15151, format('Cannot find the object ''%s'', because it does not exist or you do not have '
                                              'permission.', (parse_ident(p_name))[2]));
    END IF;
END;
$$;
