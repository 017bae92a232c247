-- How a script spells a table and its columns, where that is not how PostgreSQL knows them: 'OrderID', orderid.
-- It is kept in the object's comment, and so goes with the object, with its renamed schema, and into a dump. One that
-- no longer fits the name (ALTER TABLE … RENAME) means nothing.
--
-- Called by  compiled CREATE TABLE, ALTER TABLE ADD, SELECT INTO and CREATE VIEW; catalog views; server/learn.py

-- A T-SQL identifier as PostgreSQL stores it: lower case; more than 63 bytes
-- keep their beginning and a digest (as the compiler's names.fold does).
CREATE OR REPLACE FUNCTION sys.fold(identifier text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(lower(identifier)) <= 63 THEN lower(identifier)
    ELSE (
        SELECT left(lower(identifier), count(*) FILTER (
                   WHERE octet_length(left(lower(identifier), n)) <= 54)::integer)
            || '_' || left(encode(sha256(convert_to(lower(identifier), 'UTF8')), 'hex'), 8)
        FROM generate_series(1, 54) AS n)
END;

-- A name as its comment has it, or as PostgreSQL does.
CREATE OR REPLACE FUNCTION ssb_internal.spelled(p_comment text, p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN starts_with(p_comment, 'T-SQL name: ')
                     AND (lower(substr(p_comment, 13)) = p_name OR sys.fold(substr(p_comment, 13)) = p_name)
                THEN substr(p_comment, 13) ELSE p_name END;
$$;

-- p_name NULL: the relation's own is left as it is. p_columns: of those columns whose spelling must be kept.
CREATE OR REPLACE FUNCTION ssb_internal.keep_spelling(p_relation text, p_name text, p_columns text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation regclass := p_relation;
    v_column text;
BEGIN
    IF p_name IS NOT NULL THEN
        EXECUTE format('COMMENT ON %s %s IS %L', (SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END
                                                    FROM pg_class AS c WHERE c.oid = v_relation), v_relation, 'T-SQL name: ' || p_name);
    END IF;
    FOREACH v_column IN ARRAY p_columns LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', v_relation, sys.fold(v_column), 'T-SQL name: ' || v_column);
    END LOOP;
END;
$$;
