-- MERGE.
--
-- Called by  compiled MERGE statements
-- Locks      none

-- A target row that two source rows would change: UPDATE … FROM and DELETE … USING
-- take one of them without a word.
CREATE OR REPLACE FUNCTION ssb_internal.matched_twice()
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(8672, 'The MERGE statement attempted to UPDATE or DELETE the same row more than once. '
        'This happens when a target row matches more than one source row. A MERGE statement cannot UPDATE/DELETE the '
        'same row of the target table multiple times. Refine the ON clause to ensure a target row matches at most one '
        'source row, or use the GROUP BY clause to group the source rows.');
    RETURN true;
END;
$$;
