-- FOR JSON: values as JSON text, and rows of several tables nested by table (AUTO).
-- The compiler writes the objects out; what depends on the row is left to these.
--
-- Called by  compiled FOR JSON queries (compiler/sql/query/for_json.py)

-- Strings; SQL Server escapes the slash too.
CREATE OR REPLACE FUNCTION sys.json_atom(value text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN replace(to_json($1)::text, '/', '\/');

CREATE OR REPLACE FUNCTION sys.json_atom(value character) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- format: a cast to text would cut the blanks off.
    RETURN sys.json_atom(format('%s', $1));
END;
$$;

CREATE OR REPLACE FUNCTION sys.json_atom(value sys.xml) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.json_atom(sys.xml_to_text($1));

CREATE OR REPLACE FUNCTION sys.json_atom(value smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.json_atom(value integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.json_atom(value bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.json_atom(value numeric) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.json_atom(value boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

-- bit is a domain over smallint, which overloading does not see.
CREATE OR REPLACE FUNCTION sys.json_bit(value smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ($1 <> 0)::text;

-- Numbers as FOR XML prints them: 1.500000000000000e+000.
CREATE OR REPLACE FUNCTION sys.json_atom(value double precision) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.xml_atom($1);

CREATE OR REPLACE FUNCTION sys.json_atom(value real) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.xml_atom($1);

-- Strings that need no escaping: ISO dates, upper case uuid. Base64 has slashes.
CREATE OR REPLACE FUNCTION sys.json_atom(value bytea) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.json_atom(sys.xml_atom($1));

CREATE OR REPLACE FUNCTION sys.json_atom(value uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value date) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value time) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value timestamp) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1) || '"';

-- With as many decimals as the type has: see sys.xml_atom.
CREATE OR REPLACE FUNCTION sys.json_atom(value time, decimals integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1, $2) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value timestamp, decimals integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1, $2) || '"';

CREATE OR REPLACE FUNCTION sys.json_atom(value timestamptz, decimals integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN '"' || sys.xml_atom($1, $2) || '"';

-- What has no form of its own in T-SQL.
CREATE OR REPLACE FUNCTION sys.json_atom(value anyelement) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sys.json_atom($1::text);
END;
$$;

-- FOR JSON AUTO over several tables: p_rows has a row for each result row and in it
-- the members of each table's object; p_names are the tables' keys from the second
-- on. Neighbouring rows with the same outer members share the outer object.
CREATE OR REPLACE FUNCTION sys.json_auto(p_names text[], p_rows text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_levels integer := array_length(p_rows, 2);
    v_level integer;
    v_pieces text[] := '{}';
    v_row text;
BEGIN
    FOR i IN 1..array_length(p_rows, 1) LOOP
        v_level := 1;
        IF i > 1 THEN
            WHILE v_level < v_levels AND p_rows[i][v_level] = p_rows[i - 1][v_level] LOOP
                v_level := v_level + 1;
            END LOOP;
            v_row := repeat('}]', v_levels - v_level) || '},{' || p_rows[i][v_level];
        ELSE
            v_row := '{' || p_rows[1][1];
        END IF;
        FOR l IN v_level + 1..v_levels LOOP
            v_row := v_row || CASE p_rows[i][l - 1] WHEN '' THEN '' ELSE ',' END || p_names[l - 1] || ':[{' || p_rows[i][l];
        END LOOP;
        v_pieces := v_pieces || v_row;
    END LOOP;
    RETURN array_to_string(v_pieces, '') || repeat('}]', v_levels - 1) || '}';
END;
$$;
