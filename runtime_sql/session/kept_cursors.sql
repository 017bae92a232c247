-- Cursors that more than one batch or procedure uses: their rows and places are kept in temporary
-- tables of the session. Others are variables of the routine that declares them (session/cursors.sql).
-- p_key is the folded name of a global cursor.
--
-- A connection's global cursors are there for whatever runs in it, as another role too. So the functions run with
-- the rights of the runtime's owner, whose tables these are, and use no others of that name.
--
-- Called by  compiled DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE, CURSOR_STATUS, @@CURSOR_ROWS
-- Locks      none beyond those of the session's own tables

-- Whether this session has kept cursors. Error 50000 where the tables are somebody else's.
CREATE OR REPLACE FUNCTION ssb_internal.keeps_cursors()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_cursors regclass := to_regclass('pg_temp.ssb_cursor');
    v_rows regclass := to_regclass('pg_temp.ssb_cursor_row');
BEGIN
    IF v_cursors IS NOT NULL THEN
        PERFORM ssb_internal.require_own_table(v_cursors);
    END IF;
    IF v_rows IS NOT NULL THEN
        PERFORM ssb_internal.require_own_table(v_rows);
    END IF;
    RETURN v_cursors IS NOT NULL;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keeps_cursors() FROM PUBLIC;

-- 16915 where there is one of this name. at: -1 closed, 0 before the first row, row_count + 1 behind the last.
-- p_columns: as ssb_internal.show takes them, by which FETCH without INTO shows a row.
CREATE OR REPLACE FUNCTION ssb_internal.keep_cursor(p_key text, p_name text, p_scroll boolean, p_fixed boolean, p_columns text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.keeps_cursors() THEN
        PERFORM ssb_internal.make_cursor_tables();
    END IF;
    IF EXISTS (SELECT FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key) THEN
        PERFORM ssb_internal.raise_error(16915, format('A cursor with the name ''%s'' already exists.', p_name));
    END IF;
    INSERT INTO pg_temp.ssb_cursor (key, at, row_count, can_scroll, is_fixed, columns) VALUES (p_key, -1, 0, p_scroll, p_fixed, p_columns);
END;
$$;

-- Before its rows are read.
CREATE OR REPLACE FUNCTION ssb_internal.empty_cursor(p_key text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.keeps_cursors();
    DELETE FROM pg_temp.ssb_cursor_row AS r WHERE r.key = p_key;
    UPDATE pg_temp.ssb_cursor AS c SET row_count = 0, opened_in = pg_current_xact_id() WHERE c.key = p_key;
END;
$$;

-- Called for each row of the cursor's query.
CREATE OR REPLACE FUNCTION ssb_internal.add_cursor_row(p_key text, p_place bigint, p_cells text[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.keeps_cursors();
    INSERT INTO pg_temp.ssb_cursor_row (key, place, cells) VALUES (p_key, p_place, p_cells);
END;
$$;

-- After its rows have been read.
CREATE OR REPLACE FUNCTION ssb_internal.fill_cursor(p_key text, p_count bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.keeps_cursors();
    UPDATE pg_temp.ssb_cursor AS c SET row_count = p_count WHERE c.key = p_key;
END;
$$;

-- Where the cursor stands; NULL: there is none.
CREATE OR REPLACE FUNCTION ssb_internal.place_of_cursor(p_key text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.keeps_cursors() THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT c.at FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.open_kept_cursor(p_key text, p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.open_cursor(p_name, ssb_internal.place_of_cursor(p_key));
    UPDATE pg_temp.ssb_cursor AS c SET at = 0 WHERE c.key = p_key;
    PERFORM set_config('pgsb.opened_cursor', p_key, false);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.close_kept_cursor(p_key text, p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.close_cursor(p_name, ssb_internal.place_of_cursor(p_key));
    UPDATE pg_temp.ssb_cursor AS c SET at = -1 WHERE c.key = p_key;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.deallocate_kept_cursor(p_key text, p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.deallocate_cursor(p_name, ssb_internal.place_of_cursor(p_key));
    DELETE FROM pg_temp.ssb_cursor_row AS r WHERE r.key = p_key;
    DELETE FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key;
END;
$$;

-- The row that FETCH comes to, each value as text; NULL when there is none. p_columns: how many
-- variables INTO names, NULL without INTO.
CREATE OR REPLACE FUNCTION ssb_internal.fetch_kept(p_key text, p_name text, p_columns integer, p_direction text, p_offset integer DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ssb_internal.place_of_cursor(p_key);
    v_count integer;
    v_scroll boolean;
    v_cells text[];
BEGIN
    PERFORM ssb_internal.require_cursor(p_name, v_at);
    SELECT c.row_count, c.can_scroll INTO v_count, v_scroll FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key;
    IF p_direction <> 'NEXT' AND NOT v_scroll THEN
        PERFORM ssb_internal.raise_error(16911, format('fetch: The fetch type %s cannot be used with forward only cursors.', lower(p_direction COLLATE "C")));
    END IF;
    v_at := ssb_internal.fetch(p_name, v_at, v_count, p_direction, p_offset);
    UPDATE pg_temp.ssb_cursor AS c SET at = v_at WHERE c.key = p_key;
    SELECT r.cells INTO v_cells FROM pg_temp.ssb_cursor_row AS r WHERE r.key = p_key AND r.place = v_at;
    IF cardinality(v_cells) <> p_columns THEN
        PERFORM ssb_internal.raise_error(16924, 'Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.');
    END IF;
    RETURN v_cells;
END;
$$;

-- Its values, converted as an assignment does, as text that can be cast to the types of variables: p_wanted, as
-- ssb_internal.captured_value takes them. For who does not know what the cursor selects.
CREATE OR REPLACE FUNCTION ssb_internal.fetched_values(p_key text, p_cells text[], p_wanted text[])
RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_columns json;
    v_type text;
    v_cells text[] := p_cells;
BEGIN
    PERFORM ssb_internal.keeps_cursors();
    SELECT c.columns::json INTO v_columns FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key;
    FOR i IN 1..cardinality(p_wanted) LOOP
        v_type := substring(v_columns -> (i - 1) ->> 'type' FROM '^[^()]+');
        IF v_type IS NOT NULL AND p_cells[i] IS NOT NULL THEN
            v_cells[i] := ssb_internal.captured_value(
                CASE WHEN v_type = 'bytea' THEN json_build_object('bytes', p_cells[i])
                     WHEN v_type IN ('timestamp', 'timestamptz', 'uuid') THEN json_build_object('type', v_type, 'value', p_cells[i])
                     WHEN v_type IN ('smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision', 'sys.bit')
                     THEN to_json(p_cells[i]::numeric)
                     ELSE to_json(p_cells[i]) END, p_wanted[i]);
        END IF;
    END LOOP;
    RETURN v_cells;
END;
$$;

-- Names and types for a row of so many values.
CREATE OR REPLACE FUNCTION ssb_internal.kept_cursor_columns(p_key text, p_count integer)
RETURNS json
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_columns json;
BEGIN
    -- It asks whose the tables are, before anything is read.
    IF ssb_internal.place_of_cursor(p_key) IS NOT NULL THEN
        SELECT c.columns::json INTO v_columns FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key;
    END IF;
    RETURN coalesce(v_columns, (SELECT json_agg(json_build_object('name', NULL, 'type', 'text')) FROM generate_series(1, p_count)));
END;
$$;

-- CURSOR_STATUS: 1 open with rows, 0 open without, -1 closed, -3 no such cursor.
CREATE OR REPLACE FUNCTION ssb_internal.kept_cursor_status(p_key text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.place_of_cursor(p_key) IS NULL THEN
        RETURN -3;
    END IF;
    RETURN (SELECT ssb_internal.cursor_status(c.at, c.row_count) FROM pg_temp.ssb_cursor AS c WHERE c.key = p_key);
END;
$$;

-- @@CURSOR_ROWS where the routine itself has opened none.
CREATE OR REPLACE FUNCTION ssb_internal.kept_cursor_rows()
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key text := current_setting('pgsb.opened_cursor', true);
BEGIN
    IF ssb_internal.place_of_cursor(v_key) IS NULL THEN
        RETURN 0;
    END IF;
    RETURN (SELECT ssb_internal.cursor_rows(c.at, c.row_count, c.is_fixed) FROM pg_temp.ssb_cursor AS c WHERE c.key = v_key);
END;
$$;
