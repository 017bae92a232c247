-- PostgreSQL's own errors as SQL Server's: number, severity, state and text. This file tells what kind an error is; errors/
-- have each kind. What is read of messages, beside names, are English words: sessions have lc_messages C where their role may set it,
-- and ssb.diagnose tells where the server speaks otherwise.
--
-- Called by  ssb_internal.failed (errors/handling.sql)

-- SQL Server would have had one of the two wait, or chosen it, too.
CREATE OR REPLACE FUNCTION ssb_internal.deadlock_error()
RETURNS ssb.error
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT ROW(1205, format('Transaction (Process ID %s) was deadlocked on lock resources with another process and has been chosen as '
                            'the deadlock victim. Rerun the transaction.', pg_backend_pid()), 13, 51, NULL, NULL)::ssb.error;
END;

-- p_verb: the statement, and behind it what its error may be about. An error that SQL Server would not have is 50000, with PostgreSQL's text.
CREATE OR REPLACE FUNCTION ssb_internal.native_error(sqlstate_code text, p_message text, p_detail text, p_verb text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_first text := ssb_internal.quoted_name(p_message, 1);
    v_unknown text[];
    v_behind text;
    v_action text;
BEGIN
    -- Behind the verb: functions in FROM that the compiler did not know, the foreign keys of a table, or the table whose column is altered.
    v_behind := substring(p_verb FROM ': (.*)$');
    p_verb := nullif(regexp_replace(p_verb, ': .*$', ''), '');
    IF p_verb LIKE 'ALTER TABLE %' THEN
        v_action := p_verb;
        p_verb := 'ALTER TABLE';
    END IF;
    IF (v_action IS NULL OR v_action = 'ALTER TABLE ADD') AND v_behind LIKE '[%' THEN
        v_error := ssb_internal.foreign_key_error(sqlstate_code, p_message, p_detail, v_behind::jsonb);
        IF v_error.number IS NOT NULL THEN
            RETURN v_error;
        END IF;
    ELSE
        v_unknown := string_to_array(v_behind, '.');
    END IF;
    IF sqlstate_code = '3F000' AND v_first = 'pg_temp' THEN
        -- The session has had no temporary table yet.
        v_first := coalesce(v_behind, '#');
    ELSIF sqlstate_code IN ('42P01', '3F000') AND v_first ~ '^\w+_\w+([.]\w+)?$' AND to_regnamespace(split_part(v_first, '.', 1)) IS NULL THEN
        -- A schema that is not there, of a database that is, or maybe is not: if not dbo, only the text tells (ssb_internal.as_written).
        v_first := regexp_replace(concat_ws('.', ssb_internal.tsql_schema(split_part(v_first, '.', 1)), nullif(split_part(v_first, '.', 2), '')),
                                  '^(\w+)_dbo[.]', '\1.dbo.');
    ELSIF sqlstate_code IN ('42P01', '3F000') AND v_first ~ '^[^.]+([.][^.]+)?$' THEN
        -- As the script names it, without the database's prefix.
        v_first := CASE WHEN v_first LIKE '%.%' THEN ssb_internal.spelling_in_message(v_first)
                        WHEN sqlstate_code = '3F000' THEN ssb_internal.tsql_schema(v_first) ELSE v_first END;
    ELSIF v_first LIKE 'pg\_temp.#%' THEN
        v_first := substr(v_first, length('pg_temp.') + 1);
    END IF;
    CASE sqlstate_code
    WHEN '23505', '23503', '23514', '23P01' THEN
        v_error := ssb_internal.constraint_error(sqlstate_code, p_message, p_detail, p_verb);
    WHEN '23502', '428C9' THEN
        v_error := ssb_internal.column_error(sqlstate_code, p_message, p_detail, v_first, p_verb, v_action);
    WHEN '44000' THEN
        v_error := ROW(550, 'The attempted insert or update failed because the target view either specifies WITH CHECK OPTION or '
                            'spans a view that specifies WITH CHECK OPTION and one or more rows resulting from the operation did '
                            'not qualify under the CHECK OPTION constraint.', 16, 1, NULL, NULL);
    WHEN '22001', '22003', '22007', '22008', '22012', '2200H', '2201E', '2201F', '22023', '22P02' THEN
        v_error := ssb_internal.value_error(sqlstate_code, p_message, p_detail, v_first);
    WHEN '21000', '22014', '2201W', '2201X', '2202H', '42601', '42702', '42712', '42803', '42804', '42P10', '42P19', '42P20' THEN
        v_error := ssb_internal.query_error(sqlstate_code, p_message, v_first);
    WHEN '3F000', '42703', '42704', '42883', '42P01' THEN
        v_error := ssb_internal.missing_object_error(sqlstate_code, p_message, v_first, p_verb, v_action, v_behind, v_unknown);
    WHEN '0A000', '2BP01', '42701', '42710', '42723', '42809', '42830', '42P07', '42P16', '42P17', '55000' THEN
        v_error := ssb_internal.object_error(sqlstate_code, p_message, p_detail, v_first, p_verb);
    WHEN '42501' THEN
        v_error := ssb_internal.permission_error(p_message, p_verb);
    WHEN '40001' THEN
        -- SNAPSHOT: an update conflict; REPEATABLE READ and SERIALIZABLE: SQL Server would have blocked or deadlocked.
        IF current_setting('pgsb.snapshot', true) IS DISTINCT FROM 'on' THEN
            v_error := ssb_internal.deadlock_error();
        ELSE
            v_error := ROW(3960, format('Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot '
                                        'isolation to access table '''' directly or indirectly in database ''%s'' to update, delete, or '
                                        'insert the row that has been modified or deleted by another transaction. Retry the transaction '
                                        'or change the isolation level for the update/delete statement.', ssb.db_name()), 16, 2, NULL, NULL);
        END IF;
    WHEN '40P01' THEN
        v_error := ssb_internal.deadlock_error();
    WHEN '55P03' THEN
        v_error := ROW(1222, 'Lock request time out period exceeded.', 16, 45, NULL, NULL);
    WHEN '25006' THEN
        v_error := CASE WHEN pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean
            -- A standby, or a database that is closed for maintenance: not a transaction that is doomed.
            THEN ROW(3906, format('Failed to update database "%s" because the database is read-only.', ssb.db_name()),
                     16, 1, NULL, NULL)::ssb.error
            ELSE ROW(3930, 'The current transaction cannot be committed and cannot support operations that write to '
                           'the log file. Roll back the transaction.', 16, 1, NULL, NULL)::ssb.error END;
    WHEN '53000', '53100', '53200', '53400', '54000', '54001', '58030', 'XX001', 'XX002' THEN
        v_error := ssb_internal.server_error(sqlstate_code, p_message, v_first);
    WHEN 'XX000' THEN
        -- What PostgreSQL says, in English everywhere, when a value would become larger than 1 GB.
        IF p_message LIKE 'invalid memory alloc request size%' THEN
            v_error := ssb_internal.value_too_large();
        -- And when somebody else drops a function, a table or a type between the look for it and its use.
        ELSIF p_message LIKE 'cache lookup failed for %' THEN
            v_error := ROW(2801, format('The definition of object ''%s'' has changed since it was compiled.',
                                        substr(p_message, length('cache lookup failed for ') + 1)), 16, 1, NULL, NULL);
        -- Two change the definition, or the rights, of one thing at once: SQL Server would have had this one wait.
        ELSIF p_message IN ('tuple concurrently updated', 'tuple concurrently deleted') THEN
            v_error := ssb_internal.deadlock_error();
        -- Or a queue, while a RECEIVE waits for what the one who drops it has locked.
        ELSIF p_message LIKE 'could not open relation with OID %' THEN
            v_error := ROW(2801, format('The definition of object ''%s'' has changed since it was compiled.',
                                        substr(p_message, length('could not open ') + 1)), 16, 1, NULL, NULL);
        END IF;
    ELSE
        NULL;
    END CASE;
    IF v_error.number IS NULL THEN
        RETURN ROW(50000, p_message, 16, 1, NULL, NULL)::ssb.error;
    END IF;
    RETURN v_error;
END;
$$;
