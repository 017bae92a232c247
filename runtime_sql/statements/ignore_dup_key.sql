-- IGNORE_DUP_KEY = ON on a table: an INSERT leaves out rows whose key is there already, with
-- SQL Server's message (3604), and the others go in. The arguments are the key's columns.
--
-- Two sessions that insert the same key at once meet at a lock (sys.lock_key), so that the second
-- sees the first one's row instead of failing in the unique index.
--
-- Called by  the trigger that CREATE TABLE, ALTER TABLE and CREATE INDEX make

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
    PERFORM sys.lock_key(TG_RELID, v_key);
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
