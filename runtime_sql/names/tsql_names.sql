-- T-SQL names: read and found in a database. The sessions of compiled scripts need them as
-- the metadata functions do.

-- The parts of a dotted T-SQL name, outermost first, unquoted; NULL for what is
-- no name or has more than four parts. A part left out ('db..t') is ''.
CREATE OR REPLACE FUNCTION sys.name_parts(value text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := '{}';
    v_rest text := btrim(value);
    v_part text;
BEGIN
    LOOP
        v_part := coalesce(substring(v_rest from '^\[(?:[^\]]|\]\])*\]'), substring(v_rest from '^"(?:[^"]|"")*"'));
        IF v_part IS NOT NULL THEN
            v_rest := ltrim(substr(v_rest, length(v_part) + 1));
            v_part := CASE
                WHEN left(v_part, 1) = '[' THEN replace(substr(v_part, 2, length(v_part) - 2), ']]', ']')
                ELSE replace(substr(v_part, 2, length(v_part) - 2), '""', '"')
            END;
        ELSE
            v_part := substring(v_rest from '^[^.\[\]"]*');
            v_rest := substr(v_rest, length(v_part) + 1);
            v_part := btrim(v_part);
        END IF;
        v_parts := v_parts || v_part;
        IF v_rest = '' THEN
            EXIT;
        ELSIF left(v_rest, 1) <> '.' OR cardinality(v_parts) = 4 THEN
            RETURN NULL;
        END IF;
        v_rest := ltrim(substr(v_rest, 2));
    END LOOP;
    RETURN CASE WHEN v_parts[cardinality(v_parts)] <> '' THEN v_parts END;
END;
$$;

-- The PostgreSQL schema that a T-SQL schema of a database is; NULL for the
-- database means the session's. sys and information_schema belong to all.
CREATE OR REPLACE FUNCTION sys.schema_in_database(schema_name text, database text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN lower(schema_name COLLATE "C") IN ('sys', 'information_schema') THEN lower(schema_name)
        ELSE (SELECT sys.fold(d.schema_prefix || coalesce(nullif(schema_name, ''), 'dbo'))
                FROM ssb.database AS d
               WHERE d.database_id = CASE WHEN database IS NULL THEN ssb_internal.current_database_id()
                                          ELSE ssb_internal.find_database(database) END)
    END
$$;
