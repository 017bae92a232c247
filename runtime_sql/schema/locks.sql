-- Locks that nobody else can hold. Anybody may take an advisory lock and keep it; these are rows, or names of
-- rows, of tables to which nobody but the runtime's owner has a right.

-- Never has a row that anybody sees (ssb_internal.lock_name). Unlogged: after a crash nobody holds anything.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.named_lock (
    name text COLLATE "C" PRIMARY KEY
);

-- For each table with IGNORE_DUP_KEY up to 1,024 rows, to be locked and never changed while it is there (ssb_internal.lock_duplicate).
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.duplicate_lock (
    table_id oid      NOT NULL,
    slot     smallint NOT NULL,
    PRIMARY KEY (table_id, slot)
);

-- Takes the name to the end of the transaction, or of the subtransaction where that is rolled back. Whoever inserts
-- a name waits for the one who inserted it before and has not ended, though the row is deleted again.
-- A deadlock is found as with any lock.
--
-- Called by  ssb_internal.take_set, ssb.begin_dialog
CREATE OR REPLACE FUNCTION ssb_internal.lock_name(p_name text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.named_lock (name) VALUES (p_name);
    DELETE FROM ssb.named_lock AS l WHERE l.name = p_name;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_name(text) FROM PUBLIC;

-- Forgets those of tables that have been dropped.
--
-- Called by  ssb_internal.sample_queues
CREATE OR REPLACE FUNCTION ssb_internal.forget_duplicate_locks()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.duplicate_lock AS l WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = l.table_id);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_duplicate_locks() FROM PUBLIC;
