-- Locks that nobody else can hold. Anybody may take an advisory lock and keep it; these are rows, or names of
-- rows, of tables to which nobody but the runtime's owner has a right, or whose policies say who may lock which.

-- Tables that are locked as such, and never have a row. A right on a table is not what keeps others from its lock: PREPARE, and whatever
-- else is only read, takes ACCESS SHARE, ROW SHARE or ROW EXCLUSIVE of each table that it finds, and asks for rights when it is
-- executed. Nobody finds these.

-- It is what proves that somebody changes definitions. ROW EXCLUSIVE: a message type's validation, a service
-- (ssb_internal.lock_definition). SHARE: a sender who could not have the definition's advisory lock
-- (ssb_internal.await_definition). ROW SHARE: what dialog paths depend on (ssb_internal.forget_dialog_paths).
CREATE TABLE IF NOT EXISTS ssb_locks.definitions ();
-- One session at a time rotates (ssb.rotate_messages), makes an endpoint, or one role a member of another.
CREATE TABLE IF NOT EXISTS ssb_locks.rotation ();
CREATE TABLE IF NOT EXISTS ssb_locks.endpoints ();
CREATE TABLE IF NOT EXISTS ssb_locks.members ();
-- ROW EXCLUSIVE: a master key seals something (ssb_internal.share_keys). SHARE ROW EXCLUSIVE: it changes (ssb_internal.lock_keys).
CREATE TABLE IF NOT EXISTS ssb_locks.master_keys ();

-- Never has a row that anybody sees (ssb_internal.lock_name). Unlogged: after a crash nobody holds anything.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.named_lock (
    name text COLLATE "C" PRIMARY KEY
);

-- For each table with such statements up to 1,024 rows, to be locked and never changed while it is there (ssb_internal.lock_key).
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.key_lock (
    table_id oid      NOT NULL,
    slot     smallint NOT NULL,
    PRIMARY KEY (table_id, slot)
);
ALTER TABLE ssb.key_lock ENABLE ROW LEVEL SECURITY;

-- The groups that were begun by their own number, for an hour (ssb_internal.lock_new_group). Unlogged: after a crash no snapshot is left.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.begun_group (
    conversation_group_id uuid        PRIMARY KEY,
    begun_at              timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS begun_group_by_age ON ssb.begun_group (begun_at);

-- Takes the name to the end of the transaction, or of the subtransaction where that is rolled back. Whoever inserts
-- a name waits for the one who inserted it before and has not ended, though the row is deleted again.
-- A deadlock is found as with any lock.
--
-- Called by  ssb_internal.take_set and forward_set
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

-- Takes a group that nobody has begun, to the end of the transaction. Two would each make a leader of it. The row stays for those
-- who read by an older snapshot (REPEATABLE READ, SERIALIZABLE): they do not see that the group has been begun, and their attempt is a
-- serialization failure, as with any row. Of those who have read for longer than an hour when they begin a group nobody knows.
--
-- Called by  ssb.begin_dialog
CREATE OR REPLACE FUNCTION ssb_internal.lock_new_group(p_group uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    INSERT INTO ssb.begun_group AS g (conversation_group_id, begun_at) VALUES (p_group, clock_timestamp())
    ON CONFLICT (conversation_group_id) DO UPDATE SET begun_at = excluded.begun_at;
    -- By an older snapshot what others have deleted is a failure, too. Seldom and many at once: the look at the oldest passes all that
    -- was deleted since vacuum could run.
    IF current_setting('transaction_isolation') = 'read committed' AND random() < 1.0 / 256 THEN
        DELETE FROM ssb.begun_group AS g
         WHERE g.conversation_group_id = ANY (ARRAY(SELECT o.conversation_group_id FROM ssb.begun_group AS o
                                                     WHERE o.begun_at < (SELECT clock_timestamp() - interval '1 hour')
                                                     ORDER BY o.begun_at LIMIT 1024 FOR UPDATE SKIP LOCKED));
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_new_group(uuid) FROM PUBLIC;

-- Forgets those of tables that have been dropped, which somebody may still hold.
--
-- Called by  ssb_internal.sample_queues
CREATE OR REPLACE FUNCTION ssb_internal.forget_key_locks()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.key_lock AS l
     WHERE l.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.key_lock AS o
                                WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = o.table_id) FOR UPDATE SKIP LOCKED));
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_key_locks() FROM PUBLIC;
