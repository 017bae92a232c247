-- What the server lacks or has lost: no statement is to blame for it.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

CREATE OR REPLACE FUNCTION ssb_internal.value_too_large()
RETURNS ssb.error
LANGUAGE sql IMMUTABLE
RETURN ROW(7119, 'Attempting to grow LOB beyond maximum allowed size of 1073741823 bytes.', 16, 1, NULL, NULL)::ssb.error;

-- p_name: the first that the message names.
CREATE OR REPLACE FUNCTION ssb_internal.server_error(sqlstate_code text, p_message text, p_name text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
BEGIN
    CASE sqlstate_code
    WHEN '54001' THEN
        -- An expression or a query: modules are counted, and fail with 217 before (modules/nesting.sql).
        v_error := ROW(8631, 'Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your '
                             'query, and try to simplify it.', 17, 1, NULL, NULL);
    WHEN '54000' THEN
        v_error := CASE WHEN p_message ~ 'index'
            -- "index row size 2712 exceeds btree version 4 maximum 2704 for index "i"".
            THEN ROW(1946, format('Operation failed. The index entry of length %s bytes for the index ''%s'' exceeds the maximum length '
                                  'of %s bytes.', substring(p_message FROM '\d+'), p_name, substring(p_message FROM '(\d+)\D*$')),
                     16, 3, NULL, NULL)::ssb.error
            ELSE ssb_internal.value_too_large() END;
    -- What the server lacks, no statement is to blame for: a program that went on behind it would commit half of what it was to do.
    WHEN '53100', '53400' THEN
        -- A full disk; temp_file_limit.
        v_error := ROW(1105, format('Could not allocate space for object ''%s'' in database ''%s'' because the ''PRIMARY'' filegroup is full. '
                                    'Create disk space by deleting unneeded files, dropping objects in the filegroup, adding additional '
                                    'files to the filegroup, or setting autogrowth on for existing files in the filegroup.',
                                    coalesce((SELECT ssb_internal.tsql_name_of(coalesce(o.oid, f.relation))
                                                FROM pg_filenode_relation(0, substring(p_name FROM '^base/\d+/(\d+)')::oid) AS f (relation)
                                                LEFT JOIN pg_catalog.pg_class AS o ON o.reltoastrelid = f.relation AND o.reltoastrelid <> 0),
                                             '<temporary system object>'),
                                    CASE WHEN p_name ~ '^base/\d+/\d' THEN ssb.db_name() ELSE 'tempdb' END), 17, 2, NULL, NULL);
    WHEN '53000', '53200' THEN
        v_error := CASE WHEN p_message = 'out of shared memory'
            THEN ROW(1204, 'The instance of the SQL Server Database Engine cannot obtain a LOCK resource at this time. Rerun your statement '
                           'when there are fewer active users. Ask the database administrator to check the lock and memory configuration '
                           'for this instance, or to check for long-running transactions.', 19, 4, NULL, NULL)::ssb.error
            ELSE ROW(701, 'There is insufficient system memory in resource pool ''default'' to run this query.', 17, 123,
                     NULL, NULL)::ssb.error END;
    WHEN '58030', 'XX001', 'XX002' THEN
        v_error := ROW(823, p_message, 24, 2, NULL, NULL);
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
