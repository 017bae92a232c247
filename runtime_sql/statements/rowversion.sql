-- rowversion (timestamp) columns: eight bytes, larger with every INSERT and UPDATE of a row in
-- the database. The argument of the trigger is the column's name.
--
-- Called by  the trigger that CREATE TABLE and ALTER TABLE make; compiled @@DBTS
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

-- The trigger of a column, instead of that of another one.
CREATE OR REPLACE FUNCTION ssb_internal.number_versions(p_table regclass, p_column text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER rowversion BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION sys.set_rowversion(%L) ;',
                   p_table, p_column);
END;
$$;

-- Makes rowversions of a column that ALTER TABLE has added: rows that are there get numbers, too, and no trigger hears of it.
CREATE OR REPLACE FUNCTION ssb_internal.add_rowversion(p_table text, p_column text, p_is_nullable boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE bytea USING int8send(nextval(''sys.rowversion_numbers'')) ;',
                   to_regclass(p_table), p_column);
    IF NOT p_is_nullable THEN
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL ;', to_regclass(p_table), p_column);
    END IF;
    PERFORM ssb_internal.number_versions(to_regclass(p_table), p_column);
END;
$$;

CREATE OR REPLACE FUNCTION sys.dbts()
RETURNS bytea
LANGUAGE sql STABLE
RETURN (SELECT pg_catalog.int8send(last_value) FROM sys.rowversion_numbers);
