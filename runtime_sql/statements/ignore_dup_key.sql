-- IGNORE_DUP_KEY = ON on a table: an INSERT leaves out rows whose key is there already, with
-- SQL Server's message (3604), and the others go in. The arguments are the key's columns.
--
-- Two sessions that insert the same key at once meet at a lock, so that the second
-- sees the first one's row instead of failing in the unique index. Its number is cut
-- down to 1,024 values a table, whose rows stay as long as it does. A temporary table is its session's alone.
--
-- Called by  the trigger that CREATE TABLE, ALTER TABLE and CREATE INDEX make
-- Locks      a row of ssb.duplicate_lock, for the key

-- Who holds it keeps others from inserting such keys, as an INSERT that has not ended does: so it is for those who
-- insert into the table. They have locked it for that; the session's role need not be the one that may.
CREATE OR REPLACE FUNCTION ssb_internal.lock_duplicate(p_table oid, p_key text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_slot CONSTANT smallint := hashtext(p_key) & 1023;
BEGIN
    IF NOT coalesce(has_any_column_privilege(ssb_internal.caller(), p_table, 'INSERT'), false)
       AND NOT EXISTS (SELECT FROM pg_locks AS l
                        WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation = p_table AND l.granted
                          AND l.mode = 'RowExclusiveLock'
                          AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())) THEN
        RAISE insufficient_privilege USING MESSAGE = 'Keys of a table are locked by those who insert into it.';
    END IF;
    LOOP
        PERFORM FROM ssb.duplicate_lock AS l WHERE l.table_id = p_table AND l.slot = v_slot FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO ssb.duplicate_lock (table_id, slot) VALUES (p_table, v_slot) ON CONFLICT DO NOTHING;
    END LOOP;
END;
$$;

-- The message of duplicates: the first of a statement has it. p_statement: what tells the statement from others;
-- NULL where nothing does, so that each has it.
CREATE OR REPLACE FUNCTION ssb_internal.tell_duplicate(p_statement text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_statement IS NULL OR current_setting('ssb.duplicates_of', true) IS DISTINCT FROM p_statement THEN
        RAISE INFO 'Duplicate key was ignored.' USING ERRCODE = 'SP001', DETAIL = 'Msg 3604, Level 0, State 1';
        PERFORM set_config('ssb.duplicates_of', p_statement, false);
    END IF;
END;
$$;

-- Before a statement's first row.
CREATE OR REPLACE FUNCTION sys.begin_leaving_out()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('ssb.duplicates_of', '', false);
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION sys.leave_out_duplicate()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_same  text;
    v_key   text;
    v_found boolean;
BEGIN
    -- IS NOT DISTINCT FROM finds no index.
    SELECT string_agg(format(CASE WHEN a.attnotnull THEN 't.%1$I = ($1).%1$I' ELSE '(t.%1$I = ($1).%1$I OR t.%1$I IS NULL AND ($1).%1$I IS NULL)' END,
                             c.name), ' AND '),
           string_agg(format('($1).%I::text', c.name), ', ')
      INTO v_same, v_key
      FROM unnest(TG_ARGV) AS c(name) JOIN pg_attribute AS a ON a.attrelid = TG_RELID AND a.attname = c.name;
    EXECUTE format('SELECT concat_ws(chr(1), %s)', v_key) INTO v_key USING NEW;
    PERFORM ssb_internal.lock_duplicate(TG_RELID, v_key)
       FROM pg_class AS c WHERE c.oid = TG_RELID AND c.relpersistence <> 't';
    EXECUTE format('SELECT true FROM %s AS t WHERE %s LIMIT 1', TG_RELID::regclass, v_same)
       INTO v_found USING NEW;
    IF v_found THEN
        -- A table of an older version has no trigger that tells where a statement begins.
        PERFORM ssb_internal.tell_duplicate(TG_RELID::text)
           FROM pg_trigger AS t
          WHERE t.tgrelid = TG_RELID AND t.tgfoid = 'sys.begin_leaving_out()'::regprocedure
          LIMIT 1;
        IF NOT FOUND THEN
            PERFORM ssb_internal.tell_duplicate(NULL);
        END IF;
        RETURN NULL;
    END IF;
    RETURN NEW;
END;
$$;
