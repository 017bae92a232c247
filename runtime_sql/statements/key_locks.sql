-- Locks on keys that no row of a table has: two sessions that want to insert the same one meet there, the second waits and
-- then sees the first one's row. PostgreSQL locks rows, not what is missing between them.
--
-- A key's number is cut down to 1,024 values a table, whose rows stay as long as it does. Not an advisory lock, which anybody
-- may take and keep. It ends with the transaction, or with the subtransaction where that is rolled back.
--
-- Locks      a row of ssb.key_lock

-- Who holds it keeps others from inserting such keys, as an INSERT that has not ended does: so it is for those who
-- may change the table, or do. They have locked it for that; the session's role need not be the one that may.
CREATE OR REPLACE FUNCTION ssb_internal.lock_key(p_table oid, p_key text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_slot CONSTANT smallint := hashtext(p_key) & 1023;
BEGIN
    IF NOT coalesce(has_any_column_privilege(ssb_internal.caller(), p_table, 'INSERT'), false)
       AND NOT coalesce(has_table_privilege(ssb_internal.caller(), p_table, 'UPDATE, DELETE, TRUNCATE'), false)
       AND NOT EXISTS (SELECT FROM pg_locks AS l
                        WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation = p_table AND l.granted
                          AND l.mode = 'RowExclusiveLock'
                          AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())) THEN
        RAISE insufficient_privilege USING MESSAGE = 'Keys of a table are locked by those who change it.';
    END IF;
    LOOP
        PERFORM FROM ssb.key_lock AS l WHERE l.table_id = p_table AND l.slot = v_slot FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO ssb.key_lock (table_id, slot) VALUES (p_table, v_slot) ON CONFLICT DO NOTHING;
    END LOOP;
END;
$$;

-- p_key: the key's values as one text. A temporary table is its session's alone: nobody is waited for.
--
-- Called by  sys.leave_out_duplicate, and statements with UPDLOCK, HOLDLOCK that give all columns of a key
CREATE OR REPLACE FUNCTION sys.lock_key(p_table regclass, p_key text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.lock_key(p_table, p_key)
       FROM pg_class AS c WHERE c.oid = p_table AND c.relpersistence <> 't';
END;
$$;
