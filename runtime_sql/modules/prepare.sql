-- What CREATE, ALTER and CREATE OR ALTER of procedures, functions and views need before PostgreSQL's own statement: T-SQL has one
-- object a name, whatever its parameters.
--
-- Called by  compiled CREATE PROCEDURE … (before the PostgreSQL statement itself)

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
    IF ssb_internal.is_system_schema(v_name[1]) THEN
        PERFORM ssb_internal.refuse_system_schema(p_action, p_name);
    ELSIF v_name[1] <> 'pg_temp' AND to_regnamespace(quote_ident(v_name[1])) IS NULL THEN
        PERFORM ssb.ensure_schema(v_name[1]);
    END IF;
    SELECT array_agg(p.oid::regprocedure) INTO v_found
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = ssb_internal.actual_schema(v_name[1]) AND p.proname = v_name[2];
    IF p_action = 'CREATE' AND (v_found IS NOT NULL OR p_kind <> 'TYPE' AND (to_regclass(p_name) IS NOT NULL
       OR ssb_internal.is_name_taken(to_regnamespace(quote_ident(v_name[1])), v_name[2]))) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_name[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND v_found IS NULL AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', v_shown), 16, 6);
    ELSIF v_found IS NULL AND ssb_internal.kind_of_relation(p_name) IS NOT NULL
          OR (SELECT CASE WHEN p.prokind = 'p' THEN 'PROCEDURE' WHEN p.prorettype = 'trigger'::regtype THEN 'TRIGGER' ELSE 'FUNCTION' END
                FROM pg_proc AS p WHERE p.oid = v_found[1]) <> p_kind THEN
        PERFORM ssb_internal.raise_incompatible(v_shown);
    END IF;
    IF p_kind = 'FUNCTION' AND v_found IS NOT NULL THEN
        PERFORM ssb_internal.refuse_bound('ALTER', format('%I.%I()', v_name[1], v_name[2]));
    END IF;
    PERFORM ssb_internal.note_alteration(p_name, v_found IS NOT NULL);
    IF p_action <> 'CREATE' THEN
        PERFORM ssb_internal.note_module(p_name);
    END IF;
    PERFORM ssb_internal.forget_source(p_name);
    IF p_kind = 'FUNCTION' THEN
        PERFORM ssb_internal.forget_view_binding(p_name);
    END IF;
    FOREACH v_version IN ARRAY coalesce(v_found, '{}') LOOP
        -- A function's result type may change too.
        PERFORM ssb_internal.unbind_views('pg_proc', v_version);
        IF p_kind = 'FUNCTION' OR v_version IS DISTINCT FROM to_regprocedure(p_name || '(' || coalesce(p_arguments, '') || ')')
           OR p_parameters IS NOT NULL AND p_parameters IS DISTINCT FROM ssb_internal.shape_of_parameters(v_version) THEN
            PERFORM ssb_internal.drop_routine(v_version);
        END IF;
    END LOOP;
    IF p_kind = 'FUNCTION' AND v_found IS NOT NULL THEN
        PERFORM ssb_internal.drop_row_types(p_name);
    END IF;
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
    IF ssb_internal.is_system_schema((parse_ident(p_name))[1]) THEN
        PERFORM ssb_internal.refuse_system_schema(p_action, p_name);
    ELSIF p_action = 'CREATE' AND (to_regclass(p_name) IS NOT NULL
       OR ssb_internal.is_name_taken(to_regnamespace(quote_ident((parse_ident(p_name))[1])), (parse_ident(p_name))[2])) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                             (parse_ident(p_name))[2]), 16, 3);
    ELSIF p_action = 'ALTER' AND to_regclass(p_name) IS NULL THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 6);
    ELSIF to_regclass(p_name) IS NOT NULL AND ssb_internal.kind_of_relation(p_name) IS DISTINCT FROM 'VIEW' THEN
        PERFORM ssb_internal.raise_incompatible(ssb_internal.tsql_spelling(p_name));
    END IF;
    PERFORM ssb_internal.refuse_bound('ALTER', p_name) WHERE to_regclass(p_name) IS NOT NULL;
    PERFORM ssb_internal.note_alteration(p_name, to_regclass(p_name) IS NOT NULL);
    IF p_action <> 'CREATE' THEN
        PERFORM ssb_internal.note_module(p_name);
    END IF;
    PERFORM ssb_internal.forget_source(p_name);
    PERFORM ssb_internal.forget_view_binding(p_name);
    IF p_action <> 'CREATE' AND to_regclass(p_name) IS NOT NULL THEN
        PERFORM ssb_internal.loosen_synonyms(to_regclass(p_name));
        PERFORM ssb_internal.unbind_views('pg_class', to_regclass(p_name));
        EXECUTE format('DROP VIEW %s ;', to_regclass(p_name));
    END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
    PERFORM ssb_internal.raise_error(3729, format('Cannot ALTER ''%s'' because it is being referenced by object ''%s''.',
                                         ssb_internal.tsql_spelling(p_name), ssb_internal.dependent_name('pg_class', to_regclass(p_name))), 16, 3);
END;
$$;

-- CREATE and CREATE OR ALTER in a schema of the system's, and ALTER of what is there.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_system_schema(p_action text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_action = 'ALTER' THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 6);
    END IF;
    PERFORM ssb_internal.raise_no_schema((parse_ident(p_name))[1]);
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
