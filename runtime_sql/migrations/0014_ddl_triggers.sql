-- DDL triggers are triggers (activation/ddl_triggers.sql): what was compiled as another function cannot be made one.
CREATE OR REPLACE FUNCTION ssb_internal.announce_statement() RETURNS event_trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS 'BEGIN END';
DROP FUNCTION IF EXISTS ssb_internal.tell_definition(text[], integer, text), ssb_internal.announce_definitions(text, text, text),
    ssb_internal.run_ddl_trigger(text, text);
DO $$
DECLARE
    v_names text;
BEGIN
    SELECT string_agg(quote_ident(t.name), ', ' ORDER BY t.name) INTO v_names FROM ssb.ddl_trigger AS t;
    IF v_names IS NOT NULL THEN
        RAISE WARNING 'DDL triggers run with the rights of whoever defines something, and are dropped: %', v_names
            USING HINT = 'CREATE TRIGGER … ON DATABASE makes them anew.';
        DELETE FROM ssb.ddl_trigger;
    END IF;
END;
$$;
