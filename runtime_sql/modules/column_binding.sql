-- Columns that the compiler knew of no relation of a statement: T-SQL finds them when a batch begins, or a
-- module is made, of the relations that are there then. Those that come later are looked at by their statement.
--
-- Called by  compiled batches and modules, before anything of them runs

-- Raises p_message (207, 4104) where all p_relations (PostgreSQL's names) are there and p_owner, one of them, has no
-- p_column; without p_owner none of them.
CREATE OR REPLACE FUNCTION ssb_internal.bind_column(p_relations text[], p_owner text, p_column text, p_number integer,
                                                    p_message text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
    v_relation oid;
    v_looked_in oid[] := '{}';
BEGIN
    FOREACH v_name IN ARRAY p_relations LOOP
        -- No regclass, which asks for rights on the schema.
        SELECT c.oid INTO v_relation
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE n.nspname = (parse_ident(v_name))[1]::name COLLATE "C" AND c.relname = (parse_ident(v_name))[2]::name COLLATE "C"
           AND c.relkind IN ('r', 'p', 'v', 'm', 'f');
        IF NOT FOUND THEN
            RETURN;
        ELSIF p_owner IS NULL OR v_name = p_owner COLLATE "C" THEN
            v_looked_in := v_looked_in || v_relation;
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = ANY (v_looked_in) AND a.attname = p_column::name COLLATE "C" AND NOT a.attisdropped) THEN
        PERFORM ssb_internal.raise_error(p_number, p_message, ssb_internal.default_severity(p_number));
    END IF;
END;
$$;
