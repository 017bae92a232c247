-- Temporary tables of nested levels.
--
-- Called by  compiled modules and batches that make temporary tables

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

-- Drops the one that this level has made, where it is there, and gives its caller's its name back.
CREATE OR REPLACE FUNCTION ssb_internal.drop_temporary_table_of(p_level text, p_table text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text := (parse_ident(p_table))[2];
BEGIN
    IF to_regclass(p_table) IS NOT NULL THEN
        EXECUTE format('DROP TABLE pg_temp.%I', v_name);
    END IF;
    IF to_regclass(format('pg_temp.%I', v_name || '@' || p_level)) IS NOT NULL THEN
        PERFORM ssb_internal.rename_temporary_table(v_name, '@' || p_level, '');
    END IF;
END;
$$;

-- Where a cancelled statement (a timeout, Ctrl-C) has ended procedures between two transactions of theirs, nobody has dropped
-- what they had made: the session's next one finds it, in a pool on behalf of another client. All that are on record
-- are of one statement of the client, whose time pgsb.temporary_since tells: those of another statement are left over.
CREATE OR REPLACE FUNCTION ssb_internal.drop_temporary_tables_left()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_made text[] := ssb_internal.temporary_tables_made();
    v_level text;
BEGIN
    -- The innermost ones first, as they would have gone.
    FOR i IN REVERSE cardinality(v_made)..1 LOOP
        v_level := split_part(v_made[i], ' ', 1);
        PERFORM ssb_internal.drop_temporary_table_of(v_level, substr(v_made[i], length(v_level) + 2));
    END LOOP;
    PERFORM set_config('pgsb.temporary', '{}', false);
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
    v_statement text := extract(epoch FROM statement_timestamp())::text;
BEGIN
    IF v_made <> '{}' AND current_setting('pgsb.temporary_since', true) <> v_statement THEN
        PERFORM ssb_internal.drop_temporary_tables_left();
        v_made := '{}';
    END IF;
    IF v_key = ANY (v_made) THEN
        RETURN;
    END IF;
    PERFORM set_config('pgsb.temporary', (v_made || v_key)::text, false), set_config('pgsb.temporary_since', v_statement, false);
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
BEGIN
    IF session.doomed THEN
        RETURN;
    END IF;
    FOREACH v_table IN ARRAY tables LOOP
        CONTINUE WHEN session.nestlevel || ' ' || v_table <> ALL (v_made);
        v_made := array_remove(v_made, session.nestlevel || ' ' || v_table);
        PERFORM ssb_internal.drop_temporary_table_of(session.nestlevel::text, v_table);
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

-- Before a ##t is made: one whose sessions have all ended is no more. Whoever makes it holds a lock of its name to the end of the
-- session; anybody may take such a lock, and keeps by that a table from going, no more.
--
-- Locks  of the session: ##t, shared
CREATE OR REPLACE FUNCTION ssb_internal.hold_global_table(p_table text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_locks CONSTANT integer := 1397965392;
    v_lock CONSTANT integer := hashtext(p_table);
BEGIN
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass(p_table) AND c.relkind = 'r' AND pg_has_role(c.relowner, 'USAGE'))
       AND NOT EXISTS (SELECT FROM pg_locks AS l
                        WHERE l.locktype = 'advisory' AND l.classid = c_locks::oid AND l.objid::bigint::bit(32) = v_lock::bit(32) AND l.objsubid = 2
                          AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())) THEN
        PERFORM ssb_internal.drop_relation('TABLE', p_table, true);
    END IF;
    IF to_regclass(p_table) IS NULL THEN
        -- Where a stranger holds it, nobody takes the table for left behind either.
        PERFORM pg_try_advisory_lock_shared(c_locks, v_lock);
    END IF;
END;
$$;
