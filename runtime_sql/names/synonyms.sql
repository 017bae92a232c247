-- CREATE and DROP SYNONYM.
--
-- Called by  compiled CREATE SYNONYM and DROP SYNONYM; what changes the table that one stands for

-- A synonym is a view whose comment tells what it stands for (ssb_internal.synonym, catalog_views/objects.sql). The
-- compiler follows it; while there is a table or view of that name, the view shows it too. It stands for no queue: whoever
-- reads it then is told so.
CREATE OR REPLACE FUNCTION ssb_internal.create_synonym(p_name text, p_target text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.is_system_schema((parse_ident(p_name))[1]) THEN
        PERFORM ssb_internal.refuse_system_schema('CREATE', p_name);
    ELSIF to_regclass(p_name) IS NOT NULL
       OR ssb_internal.is_name_taken(to_regnamespace(quote_ident((parse_ident(p_name))[1])), (parse_ident(p_name))[2]) THEN
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
    PERFORM ssb_internal.raise_error(4135, format('Synonym ''%s'' is defined over queue ''%s''. Synonyms on queues are not allowed.', p_name,
        (SELECT ssb_internal.tsql_spelling(s.target) FROM ssb_internal.synonym AS s
          WHERE ssb_internal.tsql_spelling(s.oid::regclass::text) = p_name LIMIT 1)), 16, 1,
        'A synonym cannot stand for a queue: write the queue''s name.');
END;
$$;

-- Before a table or view is dropped, or its columns change: its synonyms go on without it, with their columns and without rows. Those of others
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

-- Behind what has changed a table's columns, or made it anew: the caller's synonyms of it show it again.
CREATE OR REPLACE FUNCTION ssb_internal.attach_synonyms()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.bind_view(s.oid::regclass, format('%I.%I', n.nspname, c.relname), format(' AS SELECT * FROM %s ;', s.target))
       FROM ssb_internal.synonym AS s
       JOIN pg_class AS c ON c.oid = s.oid
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE to_regclass(s.target) IS NOT NULL AND NOT ssb_internal.is_queue(to_regclass(s.target)) AND pg_has_role(c.relowner, 'USAGE')
        AND NOT EXISTS (SELECT FROM pg_rewrite AS w JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                         WHERE w.ev_class = s.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass(s.target));
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
        RETURN;
    END IF;
    PERFORM ssb_internal.refuse_another_kind('SYNONYM', p_name);
    IF NOT if_exists THEN
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the synonym ''%s'', because it does not exist or you do not have permission.',
                                             ssb_internal.tsql_spelling(p_name)), 11, 5);
    END IF;
END;
$$;

-- Before each statement that names a synonym: the compiler has put what it stood for in its place.
CREATE OR REPLACE FUNCTION ssb_internal.expect_synonym(p_name text, p_target text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_target text := (SELECT s.target FROM ssb_internal.synonym AS s WHERE s.oid = to_regclass(p_name));
BEGIN
    IF v_target IS NULL THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', ssb_internal.tsql_spelling(p_name)), 16, 1);
    ELSIF v_target <> p_target THEN
        PERFORM ssb_internal.raise_error(5313,
            format('Synonym ''%s'' stands for ''%s'' now. This was compiled when it stood for ''%s''.', ssb_internal.tsql_name_of(to_regclass(p_name)),
                   coalesce(ssb_internal.tsql_name_of(to_regclass(v_target)), ssb_internal.tsql_spelling(v_target)),
                   coalesce(ssb_internal.tsql_name_of(to_regclass(p_target)), ssb_internal.tsql_spelling(p_target))), 16, 1,
            'Run the CREATE OR ALTER of the module again, or put the statement into dynamic SQL.');
    END IF;
END;
$$;

-- The same of dynamic SQL, which is translated anew where it is not so.
CREATE OR REPLACE FUNCTION ssb_internal.are_synonyms(p_names text[], p_targets text[])
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT bool_and(t.target IS NOT DISTINCT FROM (SELECT s.target FROM ssb_internal.synonym AS s WHERE s.oid = to_regclass(t.name)))
              FROM unnest(p_names, p_targets) AS t (name, target));
END;
$$;

-- What the transaction sees of synonyms, for a client whose second connection may not see it yet: schema and name, and name,
-- schema and database of what each stands for.
CREATE OR REPLACE FUNCTION ssb_internal.synonyms_of_session()
RETURNS json
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT json_agg(json_build_array(n.nspname, c.relname, t.part[2], ssb_internal.tsql_schema(t.part[1]),
                                             ssb_internal.database_name(ssb_internal.database_of_schema(t.part[1]))))
              FROM ssb_internal.synonym AS s
              JOIN pg_class AS c ON c.oid = s.oid
              JOIN pg_namespace AS n ON n.oid = c.relnamespace
             CROSS JOIN LATERAL (SELECT parse_ident(s.target) AS part) AS t);
END;
$$;
