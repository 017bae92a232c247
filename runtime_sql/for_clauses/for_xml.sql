-- FOR XML: values as XML content, and the pieces that elements are built of. Content is text that
-- is already escaped; NULL is a column that is left out. The compiler writes the nesting.

-- What cannot be done with a table whose columns the compiler does not know, where it did not know the table: run in a query over that
-- table, which is 208 while the table is missing.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_if_there(p_what text, p_hint text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(102, p_what, 15, 1, p_hint);
END;
$$;

-- Of text in which something must be escaped, see sys.xml_atom.
CREATE OR REPLACE FUNCTION sys.xml_escaped(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := $1;
    v_code integer;
BEGIN
    v_text := replace(replace(replace(v_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;');
    IF v_text ~ '[\x01-\x08\x0b-\x1f\uFFFE\uFFFF]' THEN
        FOREACH v_code IN ARRAY ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                                      24, 25, 26, 27, 28, 29, 30, 31, 65534, 65535] LOOP
            v_text := replace(v_text, chr(v_code),
                              '&#x' || CASE WHEN v_code < 16 THEN '0' ELSE '' END || upper(to_hex(v_code)) || ';');
        END LOOP;
    END IF;
    RETURN v_text;
END;
$$;

-- Character data as FOR XML writes it. Unlike a value of type xml, its text shows carriage returns
-- as &#x0D; and, untyped, even characters that XML does not allow, as references.
CREATE OR REPLACE FUNCTION sys.xml_atom(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF value OPERATOR(pg_catalog.~) '[&<>\x01-\x08\x0b-\x1f\uFFFE\uFFFF]' THEN
        RETURN sys.xml_escaped(value);
    END IF;
    RETURN value;
END;
$$;

-- char(n) keeps its padding, which a cast to text would drop.
CREATE OR REPLACE FUNCTION sys.xml_atom(value character) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN sys.xml_atom(pg_catalog.format('%s', $1));
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_atom(value sys.xml) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.xml_atom(value smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.xml_atom(value integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.xml_atom(value bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.xml_atom(value numeric) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1::text;

CREATE OR REPLACE FUNCTION sys.xml_atom(value boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN $1 THEN '1' WHEN NOT $1 THEN '0' END;

-- float and real: all their digits and a three-digit exponent, 1.500000000000000e+000.
CREATE OR REPLACE FUNCTION sys.xml_atom(value double precision) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(btrim(to_char($1, '9.999999999999999EEEE')), '^(.*e[+-])(\d\d)$', '\10\2');

CREATE OR REPLACE FUNCTION sys.xml_atom(value real) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(btrim(to_char($1::double precision, '9.9999999EEEE')), '^(.*e[+-])(\d\d)$', '\10\2');

CREATE OR REPLACE FUNCTION sys.xml_atom(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace(encode($1, 'base64'), E'\n', '');

CREATE OR REPLACE FUNCTION sys.xml_atom(value uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN upper($1::text);

CREATE OR REPLACE FUNCTION sys.xml_atom(value date) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_char($1, 'YYYY-MM-DD');

CREATE OR REPLACE FUNCTION sys.xml_atom(value time) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_char($1, 'HH24:MI:SS')
           || CASE WHEN extract(microseconds FROM $1)::bigint % 1000000 = 0 THEN ''
                   WHEN extract(microseconds FROM $1)::bigint % 1000 = 0 THEN to_char($1, '.MS')
                   ELSE to_char($1, '.US') END;
END;

-- datetime and its relatives: no fraction, three digits or six, as many as there are.
CREATE OR REPLACE FUNCTION sys.xml_atom(value timestamp) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_char($1, 'YYYY-MM-DD"T"HH24:MI:SS')
           || CASE WHEN extract(microseconds FROM $1)::bigint % 1000000 = 0 THEN ''
                   WHEN extract(microseconds FROM $1)::bigint % 1000 = 0 THEN to_char($1, '.MS')
                   ELSE to_char($1, '.US') END;
END;

CREATE OR REPLACE FUNCTION sys.xml_atom(value timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT sys.xml_atom($1::timestamp)
           || CASE WHEN extract(timezone FROM $1) = 0 THEN 'Z' ELSE to_char($1, 'TZH:TZM') END;
END;

-- Where the compiler knows the type: time, datetime2 and datetimeoffset show all decimals that it has, or none where all are 0.
-- PostgreSQL keeps six; the seventh is 0.
CREATE OR REPLACE FUNCTION ssb_internal.decimals_of_second(value time, decimals integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN extract(microseconds FROM $1)::bigint % 1000000 = 0 OR $2 = 0 THEN ''
            ELSE left(to_char($1, '.US') || '0', $2 + 1) END;

CREATE OR REPLACE FUNCTION sys.xml_atom(value time, decimals integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_char($1, 'HH24:MI:SS') || ssb_internal.decimals_of_second($1, $2);

CREATE OR REPLACE FUNCTION sys.xml_atom(value timestamp, decimals integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_char($1, 'YYYY-MM-DD"T"HH24:MI:SS') || ssb_internal.decimals_of_second($1::time, $2);

CREATE OR REPLACE FUNCTION sys.xml_atom(value timestamptz, decimals integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.xml_atom($1::timestamp, $2) || CASE WHEN extract(timezone FROM $1) = 0 THEN 'Z' ELSE to_char($1, 'TZH:TZM') END;

-- What has no form of its own in T-SQL.
CREATE OR REPLACE FUNCTION sys.xml_atom(value anyelement) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sys.xml_atom($1::text);
END;
$$;

-- ' name="content"'; NULL for NULL.
CREATE OR REPLACE FUNCTION sys.xml_attribute(name text, content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ' ' || $1 || '="'
           || replace(replace(replace($2, '"', '&quot;'), E'\t', '&#x09;'), E'\n', '&#x0A;') || '"';
END;

-- '<name>content</name>'; for NULL nothing or, with xsinil, an element that says so.
CREATE OR REPLACE FUNCTION sys.xml_leaf(name text, content text, xsinil boolean DEFAULT false) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce('<' || $1 || '>' || $2 || '</' || $1 || '>',
                    CASE WHEN $3 THEN '<' || $1 || ' xsi:nil="true"/>' END);
END;

-- The same with the namespaces that PATH('') declares at each element.
CREATE OR REPLACE FUNCTION sys.xml_leaf(name text, content text, xsinil boolean, declarations text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce('<' || $1 || $4 || '>' || $2 || '</' || $1 || '>',
                    CASE WHEN $3 THEN '<' || $1 || $4 || ' xsi:nil="true"/>' END);
END;

-- An element around content, '<name/>' without any; NULL around NULL, so that ROOT over no rows
-- stays NULL. The name '' of PATH('') gives the content alone.
CREATE OR REPLACE FUNCTION sys.xml_element(name text, attributes text, content text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN $1 = '' THEN $3
                WHEN $3 = '' THEN '<' || $1 || coalesce($2, '') || '/>'
                ELSE '<' || $1 || coalesce($2, '') || '>' || $3 || '</' || $1 || '>' END;
END;
$$;

-- A path step that columns share: nothing when all of them are NULL.
CREATE OR REPLACE FUNCTION sys.xml_group(name text, attributes text, content text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN coalesce($2, '') <> '' OR coalesce($3, '') <> ''
                THEN sys.xml_element($1, $2, coalesce($3, '')) END;
END;
$$;
CREATE OR REPLACE FUNCTION sys.xml_group(name text, attributes text, content text, declarations text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN coalesce($2, '') <> '' OR coalesce($3, '') <> ''
                THEN sys.xml_element($1, concat($4, $2), coalesce($3, '')) END;
END;
$$;

-- Columns 'comment()' and 'processing-instruction(target)': the text as it is.
CREATE OR REPLACE FUNCTION sys.xml_comment(content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '<!--' || $1 || '-->';

CREATE OR REPLACE FUNCTION sys.xml_instruction(target text, content text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '<?' || $1 || CASE $2 WHEN '' THEN '' ELSE ' ' END || $2 || '?>';

-- A column or table name as an XML name: 'a b' → a_x0020_b.
CREATE OR REPLACE FUNCTION sys.xml_name(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result text := '';
    v_char text;
    v_rest text := $1;
BEGIN
    IF $1 ~ '^[A-Za-z_][A-Za-z0-9.-]*$' THEN
        RETURN $1;
    END IF;
    WHILE v_rest <> '' LOOP
        v_char := left(v_rest, 1);
        IF v_char = '_' AND substr(v_rest, 2, 1) = 'x'
           OR v_char !~ '[A-Z_a-z0-9.:\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u037D\u037F-\u1FFF\u200C\u200D\u203F-\u2040\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD-]'
           OR v_result = '' AND v_char ~ '[0-9.\u00B7\u0300-\u036F\u203F-\u2040-]' THEN
            v_result := v_result || '_x' || upper(lpad(to_hex(ascii(v_char)),
                                                       CASE WHEN ascii(v_char) > 65535 THEN 6 ELSE 4 END, '0')) || '_';
        ELSE
            v_result := v_result || v_char;
        END IF;
        v_rest := substr(v_rest, 2);
    END LOOP;
    RETURN v_result;
END;
$$;

-- FOR XML …, TYPE: content built by the functions above as a value of type xml. It is well formed
-- by construction; only the forms that a value of type xml writes differently are changed.
CREATE OR REPLACE FUNCTION sys.xml_of_content(content text) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_illegal text;
    v_text text := $1;
BEGIN
    IF strpos(v_text, '&#x') > 0 THEN
        v_illegal := substring(v_text from '&#x(0[1-8BCEF]|1[0-9A-F]|FFF[EF]);');
        IF v_illegal IS NOT NULL THEN
            PERFORM ssb_internal.raise_error(6841, format('FOR XML could not serialize the data for node ''NoName'' because it contains'
                ' a character (0x%s) which is not allowed in XML. To retrieve this data using FOR XML, convert it to binary,'
                ' varbinary or image data type and use the BINARY BASE64 directive.', lpad(v_illegal, 4, '0')));
        END IF;
        v_text := replace(replace(replace(v_text, '&#x0D;', '&#xD;'), '&#x0A;', '&#xA;'), '&#x09;', '&#x9;');
    END IF;
    RETURN ssb_internal.xml_tidy(v_text);
END;
$$;

-- FOR XML AUTO over several tables: a row has one opening ('<c id="1">', with ELEMENTS also
-- '<c><id>1</id>') for each table, outermost first. Neighbours that open alike share the element.
CREATE OR REPLACE FUNCTION sys.xml_nested(p_names text[], p_rows text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_levels integer := cardinality(p_names);
    v_parts text[] := '{}';
    v_open text[] := '{}';          -- openings of the elements that are open
    v_bare boolean := false;        -- nothing has been written since the innermost one was opened
    v_shared integer := 0;
BEGIN
    -- Behind the last row all elements are closed.
    FOR r IN 1 .. array_length(p_rows, 1) + 1 LOOP
        v_shared := 0;
        -- the innermost element is new with each row
        WHILE r <= array_length(p_rows, 1) AND v_shared < least(cardinality(v_open), v_levels - 1)
              AND v_open[v_shared + 1] IS NOT DISTINCT FROM p_rows[r][v_shared + 1] LOOP
            v_shared := v_shared + 1;
        END LOOP;
        FOR l IN REVERSE cardinality(v_open) .. v_shared + 1 LOOP
            IF v_bare AND right(v_open[l], 1) = '>' AND v_open[l] !~ '</[^<]*>$' AND v_open[l] !~ '/>$' THEN
                v_parts[cardinality(v_parts)] := left(v_open[l], -1) || '/>';
            ELSE
                v_parts := v_parts || ('</' || p_names[l] || '>');
            END IF;
            v_bare := false;
        END LOOP;
        EXIT WHEN r > array_length(p_rows, 1);
        v_open := v_open[1 : v_shared];
        FOR l IN v_shared + 1 .. v_levels LOOP
            v_open[l] := p_rows[r][l];
            v_parts := v_parts || v_open[l];
        END LOOP;
        v_bare := true;
    END LOOP;
    RETURN array_to_string(v_parts, '');
END;
$$;

-- The same as an aggregate, which modules that earlier versions have compiled call. It copies what it has with each row.
CREATE OR REPLACE FUNCTION ssb_internal.xml_auto_row(state text[], names text[], openings text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF $1 IS NULL THEN
        RETURN cardinality($2)::text || ($2 || $3);
    END IF;
    RETURN $1 || $3;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xml_auto_result(state text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT sys.xml_nested($1[2 : l.count + 1], array_agg($1[place : place + l.count - 1] ORDER BY place))
      FROM (SELECT $1[1]::integer AS count) AS l
     CROSS JOIN LATERAL generate_series(l.count + 2, cardinality($1), l.count) AS place
     GROUP BY l.count;
$$;

DO $$
BEGIN
    IF to_regprocedure('sys.xml_auto(text[], text[])') IS NULL THEN
        CREATE AGGREGATE sys.xml_auto(names text[], openings text[]) (
            SFUNC = ssb_internal.xml_auto_row, STYPE = text[], FINALFUNC = ssb_internal.xml_auto_result, PARALLEL = SAFE
        );
    END IF;
END;
$$;
