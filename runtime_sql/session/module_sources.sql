-- The T-SQL text of modules, as `pgsb run` hands it over; names are PostgreSQL's.
CREATE TABLE IF NOT EXISTS ssb.module_source (
    schema_name text NOT NULL,
    name        text NOT NULL,
    text        text NOT NULL,
    PRIMARY KEY (schema_name, name)
);

-- Called by  pgsb run, after CREATE PROCEDURE and its like
CREATE OR REPLACE FUNCTION ssb_internal.keep_source(p_name text, p_text text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := parse_ident(p_name);
    v_is_owner boolean;
BEGIN
    -- Only the owner of the module says what its text is. One that consists of parts (name@database, name@update)
    -- has the owner of all of them.
    SELECT coalesce(bool_and(pg_has_role(ssb_internal.caller(), o.owner, 'USAGE')) FILTER (WHERE o.name = v_name[2]),
                    bool_and(pg_has_role(ssb_internal.caller(), o.owner, 'USAGE')))
      INTO v_is_owner
      FROM (SELECT p.proname, p.proowner FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace(quote_ident(v_name[1]))
            UNION ALL
            SELECT c.relname, c.relowner FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(quote_ident(v_name[1]))
           ) AS o (name, owner)
     WHERE o.name = v_name[2] OR starts_with(o.name, v_name[2] || '@');
    IF v_name[1] = 'pg_temp' OR v_is_owner IS NOT TRUE THEN
        RETURN;
    END IF;
    INSERT INTO ssb.module_source AS m (schema_name, name, text) VALUES (v_name[1], v_name[2], p_text)
    ON CONFLICT (schema_name, name) DO UPDATE SET text = excluded.text;
END;
$$;

-- SECURITY DEFINER: the table is the owner's, the texts are everybody's, as in sys.sql_modules.
CREATE OR REPLACE FUNCTION ssb_internal.source_of(p_schema text, p_name text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT m.text FROM ssb.module_source AS m WHERE m.schema_name = p_schema AND m.name = p_name $$;
