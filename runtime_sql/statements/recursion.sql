-- OPTION (MAXRECURSION n).
--
-- Called by  compiled recursive queries, for each row of the recursive part
-- Locks      none

-- The level below that of the row from which a row comes: the anchor's is 0.
CREATE OR REPLACE FUNCTION ssb_internal.recursion_level(p_level integer, p_most integer)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_level >= p_most THEN
        PERFORM ssb_internal.raise_error(530, format('The statement terminated. The maximum recursion %s has been exhausted before statement '
                                                     'completion.', p_most));
    END IF;
    RETURN p_level + 1;
END;
$$;
