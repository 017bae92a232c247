-- Locks on keys that no row of a table has: two sessions that want to insert the same one meet there, the second waits and
-- then sees the first one's row. PostgreSQL locks rows, not what is missing between them.
--
-- A key's number is cut down to 1,024 values a table, whose rows stay as long as it does. Not an advisory lock, which anybody
-- may take and keep. It ends with the transaction, or with the subtransaction where that is rolled back.
--
-- Locks      a row of ssb.key_lock

-- Who holds it keeps others from inserting such keys, as an INSERT that has not ended does: so it is for those who
-- may change the table. That the transaction has the table's lock proves nothing: PREPARE takes it before it asks for rights.
-- Only the executor knows as whom a statement runs, be it a function's owner, so the rows have policies.

-- Whether the current role may change the table: by a right on it; on what it is a part of; or on a view, or on what has a rule, whose
-- owner may, however many stand between.
CREATE OR REPLACE FUNCTION ssb_internal.may_change(p_table oid)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(has_any_column_privilege(p_table, 'INSERT, UPDATE') OR has_table_privilege(p_table, 'DELETE, TRUNCATE'), false)
        OR EXISTS (
        WITH RECURSIVE through (relation) AS (
            SELECT p_table
            UNION
            SELECT above.relation
              FROM through AS t CROSS JOIN LATERAL (
                  SELECT i.inhparent FROM pg_inherits AS i WHERE i.inhrelid = t.relation
                  UNION ALL
                  SELECT r.ev_class
                    FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid JOIN pg_class AS c ON c.oid = r.ev_class
                   WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = t.relation AND d.classid = 'pg_rewrite'::regclass
                     AND (has_any_column_privilege(c.relowner, t.relation, 'INSERT, UPDATE')
                          OR has_table_privilege(c.relowner, t.relation, 'DELETE, TRUNCATE'))
              ) AS above (relation)
        )
        SELECT FROM through AS t
         WHERE has_any_column_privilege(t.relation, 'INSERT, UPDATE') OR has_table_privilege(t.relation, 'DELETE, TRUNCATE'));
END;
$$;

DROP POLICY IF EXISTS found ON ssb.key_lock;
CREATE POLICY found ON ssb.key_lock FOR SELECT USING (ssb_internal.may_change(table_id));
DROP POLICY IF EXISTS made ON ssb.key_lock;
CREATE POLICY made ON ssb.key_lock FOR INSERT WITH CHECK (slot BETWEEN 0 AND 1023 AND ssb_internal.may_change(table_id));
-- FOR UPDATE asks for the right to UPDATE. What is locked is never changed.
DROP POLICY IF EXISTS locked ON ssb.key_lock;
CREATE POLICY locked ON ssb.key_lock FOR UPDATE USING (ssb_internal.may_change(table_id)) WITH CHECK (false);
-- On columns: who has a right on the table itself may LOCK it.
GRANT SELECT (table_id, slot), INSERT (table_id, slot), UPDATE (slot) ON ssb.key_lock TO PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.lock_key(p_table oid, p_key text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET row_security = on
AS $$
DECLARE
    v_slot CONSTANT smallint := hashtext(p_key) & 1023;
BEGIN
    IF NOT ssb_internal.may_change(p_table) THEN
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
