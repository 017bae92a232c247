-- Characters of XML: escaping as SQL Server serialises, and back; places in a text.
-- PL/pgSQL, not SQL: these are called with expressions, where an SQL function is not inlined
-- and costs twenty times as much per call.

-- Character data between tags. A carriage return would be lost to the next parser's line ends.
CREATE OR REPLACE FUNCTION ssb_internal.xml_escape_text(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_text !~ '[&<>\r]' THEN
        RETURN p_text;
    END IF;
    RETURN replace(replace(replace(replace(p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'),
                   E'\r', '&#xD;');
END;
$$;

-- The same inside a double-quoted attribute value, where tabs and line ends need a reference too.
CREATE OR REPLACE FUNCTION ssb_internal.xml_escape_attribute(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_text !~ '[&<>"\t\n\r]' THEN
        RETURN p_text;
    END IF;
    RETURN replace(replace(replace(replace(replace(replace(replace(
               p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'),
               E'\t', '&#x9;'), E'\n', '&#xA;'), E'\r', '&#xD;');
END;
$$;

-- Each reference that our texts have as its character.
CREATE OR REPLACE FUNCTION ssb_internal.xml_without_references(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace(replace(replace(replace(replace(replace(replace(replace(
           p_text, '&#x20;', ' '), '&#xA;', E'\n'), '&#x9;', E'\t'), '&#xD;', E'\r'),
           '&quot;', '"'), '&gt;', '>'), '&lt;', '<'), '&amp;', '&');

-- Undoes the references that the two functions above and ssb_internal.xml_protect_space write.
CREATE OR REPLACE FUNCTION ssb_internal.xml_unescape(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF pg_catalog.strpos(p_text, '&') OPERATOR(pg_catalog.=) 0 THEN
        RETURN p_text;
    END IF;
    RETURN ssb_internal.xml_without_references(p_text);
END;
$$;

-- A text node of white space alone is written with its last character as a reference: the next
-- parser would drop it otherwise (see "Define the serialization of XML data" in the reference).
CREATE OR REPLACE FUNCTION ssb_internal.xml_protect_space(p_escaped text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_escaped !~ '^[ \t\n]+$' THEN
        RETURN p_escaped;
    END IF;
    RETURN left(p_escaped, -1)
           || CASE right(p_escaped, 1) WHEN ' ' THEN '&#x20;' WHEN E'\n' THEN '&#xA;' ELSE '&#x9;' END;
END;
$$;

-- The message of an XML parsing error: p_position counts characters from 1 in p_text; what is
-- reported is the line and the character within that line.
CREATE OR REPLACE FUNCTION ssb_internal.xml_parsing_message(p_text text, p_position integer, p_what text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_before text := left(p_text, greatest(p_position - 1, 0));
    v_lines integer := length(v_before) - length(replace(v_before, E'\n', ''));
BEGIN
    RETURN format('XML parsing: line %s, character %s, %s', v_lines + 1,
                  CASE WHEN v_lines = 0 THEN p_position ELSE strpos(reverse(v_before), E'\n') END,
                  p_what);
END;
$$;
