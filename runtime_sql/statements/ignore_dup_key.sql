-- IGNORE_DUP_KEY = ON on a table: an INSERT leaves out rows whose key is there already, with
-- SQL Server's message (3604), and the others go in. The arguments are the key's columns.
--
-- Two sessions that insert the same key at once meet at the advisory lock, so that the second
-- sees the first one's row instead of failing in the unique index. The lock's number is cut
-- down to 1,024 values a table: a transaction must not run out of lock space.
--
-- Called by  the trigger that CREATE TABLE, ALTER TABLE and CREATE INDEX make
-- Locks      an advisory transaction lock for the key
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
    SELECT string_agg(format('t.%1$I = ($1).%1$I', c.name), ' AND '),
           string_agg(format('($1).%I::text', c.name), ', ')
      INTO v_same, v_key
      FROM unnest(TG_ARGV) AS c(name);
    EXECUTE format('SELECT concat_ws(chr(1), %s)', v_key) INTO v_key USING NEW;
    PERFORM pg_advisory_xact_lock(TG_RELID::integer, (hashtext(v_key) & 1023));
    EXECUTE format('SELECT true FROM %s AS t WHERE %s LIMIT 1', TG_RELID::regclass, v_same)
       INTO v_found USING NEW;
    IF v_found THEN
        RAISE INFO 'Duplicate key was ignored.' USING ERRCODE = 'SP001', DETAIL = 'Msg 3604, Level 0, State 1';
        RETURN NULL;
    END IF;
    RETURN NEW;
END;
$$;
