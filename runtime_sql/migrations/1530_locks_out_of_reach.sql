-- PREPARE takes a table's lock before it asks for rights: what is waited for stands where nobody finds it.
CREATE SCHEMA IF NOT EXISTS ssb_locks;
ALTER TABLE IF EXISTS ssb.change_lock SET SCHEMA ssb_locks;
ALTER TABLE IF EXISTS ssb_locks.change_lock RENAME TO definitions;
-- What the new definitions fire.
CREATE OR REPLACE FUNCTION ssb_internal.forget_dialog_paths()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE ssb_locks.definitions IN ROW SHARE MODE;
    PERFORM nextval('ssb.dialog_path_epoch');
    RETURN NULL;
END;
$$;
