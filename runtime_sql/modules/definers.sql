-- What a module with rights of its own (triggers and functions WITH EXECUTE AS, DDL triggers) may use of the session
-- in which it runs, which is its caller's: docs/engine.md, "Code that runs as another".
--
-- Called by  compiled triggers and procedures; ssb_internal.trampoline_body, ssb_internal.translated, ssb_internal.begin_instead, the
--            functions of kept cursors
-- Locks      none

-- Whether code runs with rights that the session's user cannot take on: in a module WITH EXECUTE AS, fired
-- by somebody else. What his session holds (pg_temp, settings, the client) is not that code's to trust.
CREATE OR REPLACE FUNCTION ssb_internal.runs_as_another()
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT NOT ssb_internal.has_or_may_become(session_user, current_user)
$$;

-- Whether a relation in pg_temp does nothing of its own when the current role uses it: it is this role's, or a
-- plain table without triggers, rules, policies, defaults, generated columns, CHECK constraints, indexes over
-- expressions, relatives, and columns of anybody's types.
CREATE OR REPLACE FUNCTION ssb_internal.temporary_is_safe(p_relation oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.relowner = quote_ident(current_user)::regrole
           OR c.relkind = 'r' AND NOT c.relhastriggers AND NOT c.relhasrules AND NOT c.relrowsecurity AND NOT c.relhassubclass
              AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid)
              AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'u', 'n'))
              AND NOT EXISTS (SELECT FROM pg_index AS i
                               WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
              AND NOT EXISTS (SELECT FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid
                               WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                                 AND (a.atthasdef OR y.typnamespace NOT IN ('pg_catalog'::regnamespace, 'sys'::regnamespace)))
      FROM pg_class AS c WHERE c.oid = p_relation
$$;

-- Error 50000 unless the table, of pg_temp, is the current role's: what it has in it and on it, this role has made.
CREATE OR REPLACE FUNCTION ssb_internal.require_own_table(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table pg_class;
BEGIN
    SELECT c.* INTO v_table FROM pg_class AS c WHERE c.oid = p_table;
    IF v_table.relkind <> 'r' OR v_table.relpersistence <> 't' OR v_table.relowner <> quote_ident(current_user)::regrole THEN
        PERFORM ssb_internal.refuse_foreign(v_table.relname, v_table.relowner);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.refuse_foreign(p_name text, p_owner oid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(50000, format('What runs as %s does not use pg_temp."%s", which %s has made.', current_user, p_name,
                                          pg_get_userbyid(p_owner)), 16, 1,
                            'A module with rights of its own takes from its caller only plain temporary tables, with no triggers, '
                            'defaults or checks.');
END;
$$;

-- At the beginning of a module whose text has these names, such as #orders: error 50000 where it runs with
-- rights that are not the session's user's and one of them does something of its own.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_planted(p_names text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_found record;
BEGIN
    IF pg_my_temp_schema() = 0 OR NOT ssb_internal.runs_as_another() THEN
        RETURN;
    END IF;
    SELECT c.relname, c.relowner INTO v_found FROM pg_class AS c
     WHERE c.relnamespace = pg_my_temp_schema() AND c.relname = ANY (p_names) AND NOT ssb_internal.temporary_is_safe(c.oid)
    UNION ALL
    SELECT p.proname, p.proowner FROM pg_proc AS p
     WHERE p.pronamespace = pg_my_temp_schema() AND p.proname = ANY (p_names) AND p.proowner <> quote_ident(current_user)::regrole
    LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.refuse_foreign(v_found.relname, v_found.relowner);
    END IF;
END;
$$;

-- Into a trigger with rights of its own, or of a database made by CREATE DATABASE: names are looked up in its database,
-- whatever the caller's USE says.
CREATE OR REPLACE FUNCTION ssb_internal.enter_definer(procedure text, database text DEFAULT '')
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    session ssb.session := ssb_internal.enter_trigger(procedure);
BEGIN
    session.database := coalesce(current_setting('pgsb.database', true), '');
    PERFORM set_config('pgsb.database', database, true);
    RETURN session;
END;
$$;
