-- What ROLLBACK does not undo in T-SQL, and PostgreSQL's does: SET options, CONTEXT_INFO(), SESSION_CONTEXT(), the documents
-- of sp_xml_preparedocument, cursors, EXECUTE AS and REVERT, USE. It is told before ROLLBACK, also of what was set before BEGIN TRANSACTION
-- and never committed, and put back behind it.
--
-- Called by  ROLLBACK TRANSACTION, of a savepoint too, and the end of a batch (transactions.sql, batches.sql); compiled
--            modules that change settings of the connection
-- Locks      none beyond those of the session's own tables

-- Settings of the connection: each name, and its value behind it, '' where it is unknown.
CREATE OR REPLACE FUNCTION ssb_internal.settings(VARIADIC p_names text[])
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
    v_found text[] := '{}';
BEGIN
    FOREACH v_name IN ARRAY p_names LOOP
        v_found := v_found || v_name || coalesce(current_setting(v_name, true), '');
    END LOOP;
    RETURN v_found;
END;
$$;

-- True where one of them was different.
CREATE OR REPLACE FUNCTION ssb_internal.restore_settings(p_settings text[])
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_was_different boolean := false;
BEGIN
    FOR i IN 1..cardinality(p_settings) BY 2 LOOP
        CONTINUE WHEN coalesce(current_setting(p_settings[i], true), '') = p_settings[i + 1];
        PERFORM set_config(p_settings[i], p_settings[i + 1], false);
        IF p_settings[i] = 'pgsb.datefirst' THEN
            -- As SET DATEFIRST does: plans have its value.
            EXECUTE 'DISCARD PLANS';
        END IF;
        v_was_different := true;
    END LOOP;
    RETURN v_was_different;
END;
$$;

-- The tables of global cursors (kept_cursors.sql), where this session has none. They belong to the runtime's owner.
-- opened_in: the transaction that has read the cursor's rows.
CREATE OR REPLACE FUNCTION ssb_internal.make_cursor_tables()
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.ssb_cursor') IS NULL THEN
        CREATE TEMPORARY TABLE ssb_cursor (key text PRIMARY KEY, at integer NOT NULL, row_count integer, can_scroll boolean, is_fixed boolean,
                                           columns text, opened_in xid8);
        CREATE TEMPORARY TABLE ssb_cursor_row (key text, place integer, cells text[], PRIMARY KEY (key, place));
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.make_cursor_tables() FROM PUBLIC;

-- The global cursors, NULL where there are none: where each stands, and the rows of those that were opened in this
-- transaction. Tables that somebody else made by these names have no cursors.
CREATE OR REPLACE FUNCTION ssb_internal.cursors_of_session()
RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.ssb_cursor') IS NULL THEN
        RETURN NULL;
    ELSIF (SELECT count(*) <> 2 FROM pg_class AS c
         WHERE c.oid IN (to_regclass('pg_temp.ssb_cursor'), to_regclass('pg_temp.ssb_cursor_row'))
           AND c.relkind = 'r' AND c.relpersistence = 't' AND c.relowner = quote_ident(current_user)::regrole) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT jsonb_build_object(
                'cursors', coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.key), '[]'),
                'opened', coalesce(jsonb_agg(c.key ORDER BY c.key) FILTER (WHERE c.opened_in = pg_current_xact_id_if_assigned()), '[]'),
                'rows', coalesce((SELECT jsonb_agg(to_jsonb(r)) FROM pg_temp.ssb_cursor_row AS r JOIN pg_temp.ssb_cursor AS o ON o.key = r.key
                                   WHERE o.opened_in = pg_current_xact_id_if_assigned()), '[]'))
              FROM pg_temp.ssb_cursor AS c);
END;
$$;

-- Takes what cursors_of_session tells; true where it had to change anything.
CREATE OR REPLACE FUNCTION ssb_internal.restore_cursors(p_cursors jsonb)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_cursors IS NULL OR ssb_internal.cursors_of_session() IS NOT DISTINCT FROM p_cursors THEN
        RETURN false;
    END IF;
    PERFORM ssb_internal.make_cursor_tables();
    PERFORM ssb_internal.require_own_table(to_regclass('pg_temp.ssb_cursor')),
            ssb_internal.require_own_table(to_regclass('pg_temp.ssb_cursor_row'));
    DELETE FROM pg_temp.ssb_cursor;
    INSERT INTO pg_temp.ssb_cursor (key, at, row_count, can_scroll, is_fixed, columns, opened_in)
    SELECT c.key, c.at, c.row_count, c.can_scroll, c.is_fixed, c.columns,
           -- Its rows may be undone together with what else this transaction does.
           CASE WHEN p_cursors -> 'opened' ? c.key THEN pg_current_xact_id() END
      FROM jsonb_to_recordset(p_cursors -> 'cursors')
           AS c (key text, at integer, row_count integer, can_scroll boolean, is_fixed boolean, columns text);
    DELETE FROM pg_temp.ssb_cursor_row AS r
     WHERE p_cursors -> 'opened' ? r.key OR NOT EXISTS (SELECT FROM pg_temp.ssb_cursor AS c WHERE c.key = r.key);
    INSERT INTO pg_temp.ssb_cursor_row (key, place, cells)
    SELECT r.key, r.place, r.cells FROM jsonb_to_recordset(p_cursors -> 'rows') AS r (key text, place integer, cells text[]);
    RETURN true;
END;
$$;

-- The settings, each name with its value behind it, and the cursors at the end, where there are any. By simple expressions:
-- each ROLLBACK does it.
CREATE OR REPLACE FUNCTION ssb_internal.session_state()
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_documents CONSTANT text := current_setting('pgsb.documents', true);
    v_state text[] := ARRAY[
        'pgsb.roles', coalesce(current_setting('pgsb.roles', true), ''),
        'role', current_setting('role'),
        'pgsb.database', coalesce(current_setting('pgsb.database', true), ''),
        'lock_timeout', current_setting('lock_timeout'),
        'default_transaction_isolation', current_setting('default_transaction_isolation'),
        'pgsb.snapshot', coalesce(current_setting('pgsb.snapshot', true), ''),
        'pgsb.language', coalesce(current_setting('pgsb.language', true), ''),
        'pgsb.datefirst', coalesce(current_setting('pgsb.datefirst', true), ''),
        'pgsb.dateformat', coalesce(current_setting('pgsb.dateformat', true), ''),
        'pgsb.context_info', coalesce(current_setting('pgsb.context_info', true), ''),
        'pgsb.session_context', coalesce(current_setting('pgsb.session_context', true), ''),
        'pgsb.identity_insert', coalesce(current_setting('pgsb.identity_insert', true), ''),
        'pgsb.nocount_now', coalesce(current_setting('pgsb.nocount_now', true), ''),
        'pgsb.implicit_transactions', coalesce(current_setting('pgsb.implicit_transactions', true), ''),
        'pgsb.opened_cursor', coalesce(current_setting('pgsb.opened_cursor', true), '')];
BEGIN
    IF v_documents <> '' THEN
        v_state := v_state || ssb_internal.settings('pgsb.documents', 'pgsb.free_documents');
        FOR i IN 1..v_documents::integer LOOP
            v_state := v_state || ssb_internal.settings('pgsb.document_' || i, 'pgsb.namespaces_' || i);
        END LOOP;
    END IF;
    IF to_regclass('pg_temp.ssb_cursor') IS NOT NULL THEN
        v_state := v_state || ssb_internal.cursors_of_session()::text;
    END IF;
    RETURN v_state;
END;
$$;

-- Takes what session_state tells, or NULL; true where it had to change anything.
CREATE OR REPLACE FUNCTION ssb_internal.restore_session_state(p_state text[])
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count CONSTANT integer := cardinality(p_state);
    v_was_different boolean := false;
BEGIN
    IF p_state IS NULL THEN
        RETURN false;
    ELSIF coalesce(current_setting('pgsb.roles', true), '') <> p_state[2] THEN
        -- EXECUTE AS or REVERT: not where something else has set the role for the transaction alone.
        PERFORM ssb_internal.forget_trampolines();
        PERFORM set_config('role', p_state[4], false), set_config('pgsb.roles', p_state[2], false);
        v_was_different := true;
    END IF;
    v_was_different := ssb_internal.restore_settings(p_state[5:v_count - v_count % 2]) OR v_was_different;
    IF v_count % 2 = 1 THEN
        v_was_different := ssb_internal.restore_cursors(p_state[v_count]::jsonb) OR v_was_different;
    END IF;
    RETURN v_was_different;
END;
$$;
