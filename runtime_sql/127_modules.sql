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
    FOREACH v_version IN ARRAY coalesce(v_found, '{}') LOOP
        IF v_version IS DISTINCT FROM to_regprocedure(p_name || '(' || coalesce(p_arguments, '') || ')') THEN
            EXECUTE format('DROP ROUTINE %s', v_version);
        END IF;
    END LOOP;
END;
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
LANGUAGE sql IMMUTABLE
AS $$
    SELECT concat_ws('.', CASE WHEN f.parts[1] = 'pg_temp' THEN NULL WHEN f.parts[1] LIKE '%\_dbo' THEN 'dbo' ELSE f.parts[1] END,
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
