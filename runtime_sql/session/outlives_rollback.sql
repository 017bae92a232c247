-- What ROLLBACK does not undo in T-SQL, and PostgreSQL's does: SET options, CONTEXT_INFO(), SESSION_CONTEXT(), the documents
-- of sp_xml_preparedocument, cursors. It is told before ROLLBACK, also of what was set before BEGIN TRANSACTION
-- and never committed, and put back behind it.
--
-- Called by  ROLLBACK TRANSACTION, of a savepoint too, and the end of a batch (transactions.sql, batches.sql); compiled
--            modules that change settings of the connection
-- Locks      none beyond those of the session's own tables

-- Settings of the connection by name; an unknown one is ''.
CREATE OR REPLACE FUNCTION ssb_internal.settings(VARIADIC p_names text[])
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(n.name, coalesce(current_setting(n.name, true), '')) FROM unnest(p_names) AS n (name);
$$;

-- True where one of them was different.
CREATE OR REPLACE FUNCTION ssb_internal.restore_settings(p_settings jsonb)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
    v_value text;
    v_was_different boolean := false;
BEGIN
    FOR v_name, v_value IN SELECT s.key, s.value FROM jsonb_each_text(p_settings) AS s LOOP
        CONTINUE WHEN coalesce(current_setting(v_name, true), '') = v_value;
        PERFORM set_config(v_name, v_value, false);
        IF v_name = 'pgsb.datefirst' THEN
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
    IF (SELECT count(*) <> 2 FROM pg_class AS c
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

CREATE OR REPLACE FUNCTION ssb_internal.session_state()
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_settings jsonb := ssb_internal.settings(
        'lock_timeout', 'default_transaction_isolation', 'pgsb.snapshot', 'pgsb.language', 'pgsb.datefirst', 'pgsb.dateformat',
        'pgsb.context_info', 'pgsb.session_context', 'pgsb.identity_insert', 'pgsb.nocount_now', 'pgsb.opened_cursor',
        'pgsb.documents', 'pgsb.free_documents');
BEGIN
    FOR i IN 1..coalesce(nullif(v_settings ->> 'pgsb.documents', '')::integer, 0) LOOP
        v_settings := v_settings || ssb_internal.settings('pgsb.document_' || i, 'pgsb.namespaces_' || i);
    END LOOP;
    RETURN jsonb_build_object('settings', v_settings, 'cursors', ssb_internal.cursors_of_session());
END;
$$;

-- Takes what session_state tells; true where it had to change anything.
CREATE OR REPLACE FUNCTION ssb_internal.restore_session_state(p_state jsonb)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_were_different CONSTANT boolean := ssb_internal.restore_settings(p_state -> 'settings');
BEGIN
    RETURN ssb_internal.restore_cursors(nullif(p_state -> 'cursors', 'null')) OR v_were_different;
END;
$$;
