-- INSERT without a list of columns, where the table's name is known at run time only.
--
-- Called by  compiled INSERT

-- The columns, in parentheses, that an INSERT without a list fills in a table that only the run time knows: neither IDENTITY
-- nor computed columns. Nothing where that is all of them, or the table is not there.
CREATE OR REPLACE FUNCTION ssb_internal.fillable_columns(p_table text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((
        SELECT format('(%s)', string_agg(quote_ident(c.name), ', ' ORDER BY c.place) FILTER (WHERE c.is_filled))
          FROM (SELECT a.attname AS name, a.attnum AS place,
                       NOT ssb_internal.is_identity(a) AND a.attgenerated = '' AS is_filled
                  FROM pg_attribute AS a
                 WHERE a.attrelid = to_regclass(p_table) AND a.attnum > 0 AND NOT a.attisdropped) AS c
        HAVING NOT bool_and(c.is_filled) AND bool_or(c.is_filled)), '');
END;
$$;
