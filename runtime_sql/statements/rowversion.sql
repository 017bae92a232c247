-- rowversion (timestamp) columns: eight bytes, larger with every INSERT and UPDATE of a row in
-- the database. The argument of the trigger is the column's name.
--
-- Called by  the trigger that CREATE TABLE makes; compiled @@DBTS
-- Locks      none
CREATE SEQUENCE IF NOT EXISTS sys.rowversion_numbers MINVALUE 1 START WITH 2001;
GRANT USAGE, SELECT ON SEQUENCE sys.rowversion_numbers TO PUBLIC;

CREATE OR REPLACE FUNCTION sys.set_rowversion()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_populate_record(NEW, jsonb_build_object(
        TG_ARGV[0], '\x' || encode(int8send(nextval('sys.rowversion_numbers')), 'hex')));
END;
$$;

CREATE OR REPLACE FUNCTION sys.dbts()
RETURNS bytea
LANGUAGE sql STABLE
RETURN (SELECT pg_catalog.int8send(last_value) FROM sys.rowversion_numbers);
