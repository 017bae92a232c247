-- CAST and CONVERT to and from xml, and the well-formedness of messages.

-- A document or fragment as SQL Server keeps it, or an error of the 9400 family.
-- p_style: as CONVERT(xml, v, style): 1 keeps white space, 2 skips a DTD, 3 does both.
CREATE OR REPLACE FUNCTION ssb_internal.xml_normalise(p_text text, p_style integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- SQL Server keeps at most 128 levels in a value of type xml (error 6335).
    c_depth CONSTANT integer := 128;
    v_text text := ltrim(p_text, E'\uFEFF');
    v_read record;
BEGIN
    IF p_style IS NULL OR p_style NOT BETWEEN 0 AND 3 THEN
        IF p_style IS NULL THEN
            RETURN NULL;
        END IF;
        PERFORM ssb_internal.raise_error(6358, format('%s is not a valid style number when converting to XML.', p_style));
    END IF;
    -- Most documents need at most their declaration and indentation removed. (A '<' cannot stand in
    -- an attribute value, and comments are not canonical, so what is dropped is space between tags.)
    IF p_style IN (0, 2) THEN
        IF left(v_text, 5) = '<?xml' THEN
            v_text := regexp_replace(v_text, '^<\?xml version=("|'')1\.0\1(?: encoding=("|'')[A-Za-z][A-Za-z0-9._-]*\2)?'
                                             '(?: standalone=("|'')(?:yes|no)\3)? ?\?>', '');
        END IF;
        IF v_text ~ '(?:^|>)[ \t\r\n]+(?:<|$)' AND strpos(v_text, 'xml:space') = 0 THEN
            v_text := regexp_replace(v_text, '>[ \t\r\n]+<', '><', 'g');
            IF left(v_text, 1) <> '<' THEN
                v_text := regexp_replace(v_text, '^[ \t\r\n]+<', '<');
            END IF;
            IF right(v_text, 1) <> '>' THEN
                v_text := regexp_replace(v_text, '>[ \t\r\n]+$', '>');
            END IF;
        END IF;
        v_text := replace(v_text, ' />', '/>');
    END IF;
    IF ssb_internal.xml_is_canonical(v_text) AND ssb_internal.xml_nests(v_text, c_depth) THEN
        RETURN v_text;
    END IF;

    v_text := ltrim(p_text, E'\uFEFF');
    IF strpos(v_text, E'\r') > 0 THEN
        v_text := replace(replace(v_text, E'\r\n', E'\n'), E'\r', E'\n');
    END IF;
    SELECT r.tokens, r.error, r.place INTO v_read
      FROM ssb_internal.xml_read(v_text, p_style IN (1, 3), p_style IN (2, 3), c_depth) AS r;
    IF v_read.error = 6359 THEN
        PERFORM ssb_internal.raise_error(6359, 'Parsing XML with internal subset DTDs not allowed. Use CONVERT with style'
                                               ' option 2 to enable limited internal subset DTD support.');
    ELSIF v_read.error = 6335 THEN
        PERFORM ssb_internal.raise_error(6335, format('XML datatype instance has too many levels of nested nodes.'
                                                      ' Maximum allowed depth is %s levels.', c_depth));
    ELSIF v_read.error IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(v_read.error, ssb_internal.xml_parsing_message(v_text, v_read.place,
                                                                                        ssb_internal.xml_parsing_error(v_read.error)));
    END IF;
    RETURN array_to_string(v_read.tokens, '<');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xml_normalise(p_bytes bytea, p_style integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_decoded record;
BEGIN
    SELECT d.value, d.error, d.place INTO v_decoded FROM ssb_internal.xml_decode(p_bytes) AS d;
    IF v_decoded.error IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(v_decoded.error, ssb_internal.xml_parsing_message(
            encode(substring(p_bytes from 1 for 200), 'escape'), v_decoded.place,
            ssb_internal.xml_parsing_error(v_decoded.error)));
    END IF;
    RETURN ssb_internal.xml_normalise(v_decoded.value, p_style);
END;
$$;

-- VALIDATION = WELL_FORMED_XML. Several roots are legal; a body of no characters is no XML.
CREATE OR REPLACE FUNCTION sys.xml_is_well_formed(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := p_text;
BEGIN
    IF p_text = '' THEN
        RETURN false;
    END IF;
    IF ssb_internal.xml_is_canonical(p_text) AND ssb_internal.xml_nests(p_text) THEN
        RETURN true;
    END IF;
    v_text := regexp_replace(p_text, '>[ \t\r\n]+<', '><', 'g');
    IF ssb_internal.xml_is_canonical(v_text) AND ssb_internal.xml_nests(v_text) THEN
        RETURN true;
    END IF;
    RETURN (SELECT r.error IS NULL
              FROM ssb_internal.xml_read(replace(ltrim(p_text, E'\uFEFF'), E'\r', E'\n')) AS r);
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_is_well_formed(p_bytes bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_decoded record;
BEGIN
    SELECT d.value, d.error INTO v_decoded FROM ssb_internal.xml_decode(p_bytes) AS d;
    RETURN v_decoded.error IS NULL AND sys.xml_is_well_formed(v_decoded.value);
END;
$$;

-- The conversions by their T-SQL face. PL/pgSQL, so that RETURN coerces to sys.xml whether that
-- is a domain over text or over xml.
CREATE OR REPLACE FUNCTION sys.xml_of(p_value text, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN ssb_internal.xml_normalise(p_value, p_style);
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_of(p_value bytea, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
    RETURN ssb_internal.xml_normalise(p_value, p_style);
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_of(p_value sys.xml, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_value;

CREATE OR REPLACE FUNCTION sys.try_xml_of(p_value text, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := replace(replace(ltrim(p_value, E'\uFEFF'), E'\r\n', E'\n'), E'\r', E'\n');
BEGIN
    RETURN (SELECT array_to_string(r.tokens, '<')
              FROM ssb_internal.xml_read(v_text, p_style IN (1, 3), p_style IN (2, 3), 128) AS r);
END;
$$;

CREATE OR REPLACE FUNCTION sys.try_xml_of(p_value bytea, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sys.try_xml_of((SELECT d.value FROM ssb_internal.xml_decode(p_value) AS d WHERE d.error IS NULL), p_style);
END;
$$;

CREATE OR REPLACE FUNCTION sys.try_xml_of(p_value sys.xml, p_style integer DEFAULT 0) RETURNS sys.xml
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_value;

-- Of text that is nvarchar for certain, or varchar: what its declaration says must not be an encoding of other bytes (9402).
-- Only PostgreSQL's own text is the same for both.
CREATE OR REPLACE FUNCTION ssb_internal.xml_place_of_other_encoding(p_value text, p_national boolean) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN lower((regexp_match(p_value, '^<\?xml[^?>]*?encoding[ \t\r\n]*=[ \t\r\n]*["'']([A-Za-z0-9._-]+)["'']'))[1] COLLATE "C")
                 IN ('utf-16', 'utf-16le', 'utf-16be', 'ucs-2', 'iso-10646-ucs-2', 'unicode') <> p_national
            THEN strpos(p_value, '?>') + 1 END;

CREATE OR REPLACE FUNCTION sys.xml_of(p_value text, p_style integer, p_national boolean) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_place integer;
BEGIN
    IF pg_catalog.starts_with(p_value, '<?xml') THEN
        v_place := ssb_internal.xml_place_of_other_encoding(p_value, p_national);
        IF v_place IS NOT NULL THEN
            PERFORM ssb_internal.raise_error(9402, ssb_internal.xml_parsing_message(p_value, v_place, ssb_internal.xml_parsing_error(9402)));
        END IF;
    END IF;
    RETURN ssb_internal.xml_normalise(p_value, p_style);
END;
$$;

CREATE OR REPLACE FUNCTION sys.try_xml_of(p_value text, p_style integer, p_national boolean) RETURNS sys.xml
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN ssb_internal.xml_place_of_other_encoding(p_value, p_national) IS NULL THEN sys.try_xml_of(p_value, p_style) END;

-- CAST(x AS NVARCHAR(MAX)) and CAST(x AS VARBINARY(MAX)).
CREATE OR REPLACE FUNCTION sys.xml_to_text(p_value sys.xml) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_value::text;

CREATE OR REPLACE FUNCTION sys.xml_to_text(p_value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_value;

CREATE OR REPLACE FUNCTION sys.xml_to_bytes(p_value sys.xml) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xml_bytes(p_value::text);

CREATE OR REPLACE FUNCTION sys.xml_to_bytes(p_value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xml_bytes(p_value);

-- What is wrong with a body that is no well-formed XML, in SQL Server's words; NULL if it is.
CREATE OR REPLACE FUNCTION ssb_internal.xml_fault(body bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_decoded record;
    v_read record;
    v_text text;
BEGIN
    IF sys.xml_is_well_formed($1) THEN
        RETURN NULL;
    END IF;
    SELECT d.value, d.error, d.place INTO v_decoded FROM ssb_internal.xml_decode($1) AS d;
    IF v_decoded.error IS NOT NULL THEN
        RETURN ssb_internal.xml_parsing_message(encode(substring($1 from 1 for 200), 'escape'), v_decoded.place,
                                                ssb_internal.xml_parsing_error(v_decoded.error));
    END IF;
    v_text := replace(replace(ltrim(v_decoded.value, E'\uFEFF'), E'\r\n', E'\n'), E'\r', E'\n');
    SELECT r.error, r.place INTO v_read FROM ssb_internal.xml_read(v_text) AS r;
    RETURN ssb_internal.xml_parsing_message(v_text, coalesce(v_read.place, 1), ssb_internal.xml_parsing_error(coalesce(v_read.error, 9400)));
END;
$$;
