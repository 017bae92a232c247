-- Cursors: where a position may go. A cursor is an array of rows and a position,
-- variables of the compiled routine: NULL not declared, -1 closed, 0 before the
-- first row, one more than the number of rows behind the last.
--
-- Called by  compiled DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE

CREATE OR REPLACE FUNCTION ssb_internal.declare_cursor(cursor_name text, at integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF at IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(16915, format('A cursor with the name ''%s'' already exists.', cursor_name));
    END IF;
    RETURN -1;
END;
$$;

-- 16916 for a cursor that does not exist, 16950 for a variable without one.
CREATE OR REPLACE FUNCTION ssb_internal.require_cursor(cursor_name text, at integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF at IS NULL AND left(cursor_name, 1) = '@' THEN
        PERFORM ssb_internal.raise_error(16950, format('The variable ''%s'' does not currently have a cursor allocated to it.', cursor_name));
    ELSIF at IS NULL THEN
        PERFORM ssb_internal.raise_error(16916, format('A cursor with the name ''%s'' does not exist.', cursor_name));
    END IF;
END;
$$;

-- WHERE CURRENT OF: the cursor must stand on a row.
CREATE OR REPLACE FUNCTION ssb_internal.require_row(cursor_name text, at integer, row_count integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_cursor(cursor_name, at);
    IF at < 0 THEN
        PERFORM ssb_internal.raise_error(16917, 'Cursor is not open.');
    ELSIF at = 0 OR at > coalesce(row_count, 0) THEN
        PERFORM ssb_internal.raise_error(16931, 'There are no rows in the current fetch buffer.');
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.open_cursor(cursor_name text, at integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_cursor(cursor_name, at);
    IF at >= 0 THEN
        PERFORM ssb_internal.raise_error(16905, 'The cursor is already open.');
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.close_cursor(cursor_name text, at integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_cursor(cursor_name, at);
    IF at < 0 THEN
        PERFORM ssb_internal.raise_error(16917, 'Cursor is not open.');
    END IF;
    RETURN -1;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.deallocate_cursor(cursor_name text, at integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_cursor(cursor_name, at);
    RETURN NULL;
END;
$$;

-- The position after FETCH; 0 or row_count + 1 where there is no row.
CREATE OR REPLACE FUNCTION ssb_internal.fetch(cursor_name text, at integer, row_count integer, direction text, row_offset integer DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count integer := coalesce(row_count, 0);
BEGIN
    IF at IS NULL OR at < 0 THEN
        PERFORM ssb_internal.require_cursor(cursor_name, at);
        PERFORM ssb_internal.raise_error(16917, 'Cursor is not open.');
    END IF;
    RETURN greatest(0, least(v_count + 1, CASE direction
        WHEN 'NEXT' THEN at + 1
        WHEN 'PRIOR' THEN at - 1
        WHEN 'FIRST' THEN 1
        WHEN 'LAST' THEN v_count
        WHEN 'ABSOLUTE' THEN CASE WHEN row_offset < 0 THEN v_count + 1 + row_offset ELSE row_offset END
        WHEN 'RELATIVE' THEN at + row_offset END));
END;
$$;

-- CURSOR_STATUS: 1 open with rows, 0 open without, -1 closed, -3 no such cursor.
CREATE OR REPLACE FUNCTION ssb_internal.cursor_status(at integer, row_count integer)
RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN at IS NULL THEN -3 WHEN at < 0 THEN -1 WHEN row_count > 0 THEN 1 ELSE 0 END;

-- @@CURSOR_ROWS of the cursor opened last. T-SQL counts the rows of a STATIC or KEYSET cursor;
-- those of a dynamic one may change: −1.
CREATE OR REPLACE FUNCTION ssb_internal.cursor_rows(at integer, row_count integer, fixed boolean)
RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN at IS NULL OR at < 0 THEN 0 WHEN fixed THEN coalesce(row_count, 0) ELSE -1 END;
