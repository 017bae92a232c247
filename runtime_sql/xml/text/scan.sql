-- Reading XML of any form: the careful scanner behind sys.xml_of and WELL_FORMED_XML.
--
-- A text is cut at every '<' (string_to_array, in C); each piece is then one tag, comment, CDATA
-- section or instruction and the character data after it. Nothing here raises: an error is a
-- number and a place, so that a broker can judge 10,000 messages without as many subtransactions.
--
-- Called by  xml/text/write.sql, when its one-regexp test for the canonical form did not answer

-- Resolves the references in p_text (character data or an attribute value with at least one '&').
-- place counts from 1 in p_text; length + 1 says that the next character of the document, or its
-- end, is at fault.
CREATE OR REPLACE FUNCTION ssb_internal.xml_resolve_references(
    p_text text, OUT result text, OUT error integer, OUT place integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[];
    v_part text;
    v_name text;
    v_code bigint;
    v_resolved text[];          -- appending to one long text would copy it each time
BEGIN
    IF p_text !~ '&(?!(?:amp|lt|gt|quot|apos);)' THEN
        result := replace(replace(replace(replace(replace(
                      p_text, '&lt;', '<'), '&gt;', '>'), '&quot;', '"'), '&apos;', ''''), '&amp;', '&');
        RETURN;
    END IF;
    v_parts := string_to_array(p_text, '&');
    v_resolved := v_parts[1:1];
    place := length(v_parts[1]) + 1;            -- of the '&'
    FOREACH v_part IN ARRAY v_parts[2:] LOOP
        v_name := substring(v_part from '^[^;&<>"'' \t\n]*');
        IF substr(v_part, length(v_name) + 1, 1) = ';' AND v_name IN ('amp', 'lt', 'gt', 'quot', 'apos') THEN
            v_resolved := v_resolved || CASE v_name WHEN 'amp' THEN '&' WHEN 'lt' THEN '<' WHEN 'gt' THEN '>'
                                                    WHEN 'quot' THEN '"' ELSE '''' END;
        ELSIF left(v_part, 1) = '#' THEN
            IF substr(v_part, 2, 1) = 'x' THEN
                v_name := substring(v_part from '^#x[0-9A-Fa-f]*');
                IF length(v_name) = 2 THEN
                    error := 9416;
                END IF;
            ELSE
                v_name := substring(v_part from '^#[0-9]*');
                IF length(v_name) = 1 THEN
                    error := 9417;
                END IF;
            END IF;
            place := place + length(v_name) + 1;
            IF error IS NOT NULL THEN
                RETURN;
            ELSIF substr(v_part, length(v_name) + 1, 1) <> ';' OR length(v_part) = length(v_name) THEN
                error := 9411;
                RETURN;
            END IF;
            IF length(v_name) > 12 THEN
                v_code := 0;
            ELSIF v_name ~ 'x' THEN
                v_code := ('x' || lpad(substr(v_name, 3), 16, '0'))::bit(64)::bigint;
            ELSE
                v_code := substr(v_name, 2)::bigint;
            END IF;
            IF NOT (v_code IN (9, 10, 13) OR v_code BETWEEN 32 AND 55295
                    OR v_code BETWEEN 57344 AND 65533 OR v_code BETWEEN 65536 AND 1114111) THEN
                error := 9420;
                RETURN;
            END IF;
            v_resolved := v_resolved || chr(v_code::integer);
            place := place - length(v_name) - 1;
        ELSIF v_name = '' OR v_name !~ '^[A-Za-z_:\u00C0-\U0010FFFF]' THEN
            error := 9421;
            place := place + 1;
            RETURN;
        ELSE
            v_name := substring(v_name from '^[A-Za-z0-9_:.\u00B7-\U0010FFFF-]*');
            place := place + length(v_name) + 1;
            error := CASE WHEN substr(v_part, length(v_name) + 1, 1) = ';' THEN 9448 ELSE 9411 END;
            RETURN;
        END IF;
        v_resolved := v_resolved || substr(v_part, length(v_name) + 2);
        place := place + length(v_part) + 1;
    END LOOP;
    result := array_to_string(v_resolved, '');
    place := NULL;
END;
$$;

-- One start tag in any legal form, p_piece being what follows its '<'. tag is the tag as we write
-- it, ending in '>' or '/>'; rest is the raw text after it. place counts from 1 in p_piece.
CREATE OR REPLACE FUNCTION ssb_internal.xml_read_tag(
    p_piece text, OUT tag text, OUT rest text, OUT error integer, OUT place integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- Name of XML 1.0, fifth edition, with the colon of qualified names.
    c_start CONSTANT text := ':A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF'
        '\u200C\u200D\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF';
    c_name CONSTANT text := '[' || c_start || '][' || c_start || '0-9.\u00B7\u0300-\u036F\u203F-\u2040-]*';
    c_attribute CONSTANT text := '([ \t\n]+)(' || c_name || ')([ \t\n]*=[ \t\n]*)(?:"([^"]*)"|''([^'']*)'')';
    c_attributes CONSTANT text := '^(?:[ \t\n]+' || c_name || '[ \t\n]*=[ \t\n]*(?:"[^"]*"|''[^'']*''))+';
    v_match text[];
    v_value text;
    v_names text[] := '{}';
    v_repeated text[];          -- of many names, those that stand there more than once
    v_parts text[];             -- of the tag: appending to one long text would copy it each time
    v_at integer;
    v_resolved record;
BEGIN
    tag := substring(p_piece from '^' || c_name);
    IF tag IS NULL THEN
        error := 9455;
        place := 1;
        RETURN;
    END IF;
    v_at := length(tag) + 1;
    SELECT q.error, q.place INTO error, place FROM ssb_internal.xml_check_qualified_name(tag) AS q;
    IF error IS NOT NULL THEN
        RETURN;
    END IF;
    rest := substr(p_piece, v_at);
    v_parts := ARRAY[tag];
    -- All attributes, and then each of them: a search from every next one would read the rest each time.
    v_value := substring(rest from c_attributes);
    rest := substr(rest, coalesce(length(v_value), 0) + 1);
    IF length(v_value) > 1000 THEN
        SELECT coalesce(array_agg(r.name), '{}') INTO v_repeated
          FROM (SELECT m.part[2] AS name FROM regexp_matches(v_value, c_attribute, 'g') AS m(part)
                 GROUP BY 1 HAVING count(*) > 1) AS r;
    END IF;
    FOR v_match IN SELECT m.part FROM regexp_matches(v_value, c_attribute, 'g') AS m(part) LOOP
        SELECT q.error, v_at + length(v_match[1]) + q.place - 1 INTO error, place
          FROM ssb_internal.xml_check_qualified_name(v_match[2]) AS q;
        IF error IS NOT NULL THEN
            RETURN;
        END IF;
        v_at := v_at + length(v_match[1]) + length(v_match[2]);
        IF (v_repeated IS NULL OR v_match[2] = ANY (v_repeated)) AND v_match[2] = ANY (v_names) THEN
            error := 9437;
            place := v_at;
            RETURN;
        END IF;
        v_names := v_names || v_match[2];
        v_at := v_at + length(v_match[3]) + 1;
        v_value := translate(coalesce(v_match[4], v_match[5]), E'\t\n', '  ');
        IF strpos(v_value, '&') > 0 THEN
            SELECT r.* INTO v_resolved FROM ssb_internal.xml_resolve_references(v_value) AS r;
            IF v_resolved.error IS NOT NULL THEN
                error := v_resolved.error;
                place := v_at + v_resolved.place - 1;
                RETURN;
            END IF;
            v_value := v_resolved.result;
        END IF;
        v_parts := v_parts || (' ' || v_match[2] || '="' || ssb_internal.xml_escape_attribute(v_value) || '"');
        v_at := v_at + length(coalesce(v_match[4], v_match[5])) + 1;
    END LOOP;
    tag := array_to_string(v_parts, '');

    v_match := regexp_match(rest, '^[ \t\n]*(/?>)');
    IF v_match IS NOT NULL THEN
        tag := tag || v_match[1];
        rest := substr(rest, strpos(rest, '>') + 1);
        RETURN;
    END IF;

    -- What is wrong, and where? Each of these ends at the first character that does not fit.
    v_value := substring(rest from '^[ \t\n]*');
    v_at := v_at + length(v_value);
    rest := substr(rest, length(v_value) + 1);
    IF left(rest, 1) = '/' THEN
        error := 9412;
        v_at := v_at + 1;
    ELSIF v_value = '' AND v_names <> '{}' AND rest <> '' THEN
        error := 9410;
    ELSE
        error := 9455;
        v_value := substring(rest from '^' || c_name);
        IF v_value IS NOT NULL THEN
            v_at := v_at + length(v_value);
            rest := substr(rest, length(v_value) + 1);
            v_value := substring(rest from '^[ \t\n]*');
            v_at := v_at + length(v_value);
            rest := substr(rest, length(v_value) + 1);
            error := 9414;
            IF left(rest, 1) = '=' THEN
                v_value := substring(rest from '^=[ \t\n]*');
                v_at := v_at + length(v_value);
                rest := substr(rest, length(v_value) + 1);
                error := 9413;
                IF left(rest, 1) IN ('"', '''') THEN
                    error := 9415;
                    v_at := length(p_piece) + 1;
                END IF;
            END IF;
        END IF;
    END IF;
    place := v_at;
END;
$$;

-- Does one attribute name stand twice in a start tag that has the canonical form?
CREATE OR REPLACE FUNCTION ssb_internal.xml_repeats_attribute(p_tag text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := string_to_array(p_tag, '"');
    v_rest text := substr(p_tag, strpos(p_tag, ' '));
    v_name text;
BEGIN
    v_parts[1] := substr(v_parts[1], strpos(v_parts[1], ' '));
    -- Looking each up in the rest is quickest for few; for thousands it would take minutes.
    IF cardinality(v_parts) > 64 THEN
        RETURN (SELECT count(DISTINCT p.name) < count(*) FROM unnest(v_parts) WITH ORDINALITY AS p (name, n)
                 WHERE p.n % 2 = 1 AND p.n < cardinality(v_parts));
    END IF;
    FOR i IN 1 .. cardinality(v_parts) - 2 BY 2 LOOP
        v_name := v_parts[i] || '"';            -- ' name="'
        v_rest := substr(v_rest, length(v_name) + length(v_parts[i + 1]) + 2);
        IF strpos(v_rest, v_name) > 0 THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END;
$$;

-- prefix:local, each part a name: error and place (from 1) where p_name is no such thing.
CREATE OR REPLACE FUNCTION ssb_internal.xml_check_qualified_name(p_name text, OUT error integer, OUT place integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    place := strpos(p_name, ':');
    IF place = 0 THEN
        place := NULL;
    ELSIF place = 1 THEN
        error := 9455;
    ELSIF place = length(p_name) OR substr(p_name, place + 1, 1) ~ '[0-9.\u00B7\u0300-\u036F\u203F-\u2040-]' THEN
        error := 9455;
        place := place + 1;
    ELSIF strpos(substr(p_name, place + 1), ':') > 0 THEN
        error := 9456;
        place := place + strpos(substr(p_name, place + 1), ':');
    ELSE
        place := NULL;
    END IF;
END;
$$;

-- What is wrong with the declaration of a namespace, xmlns or xmlns:prefix; NULL: nothing.
CREATE OR REPLACE FUNCTION ssb_internal.xml_declaration_error(p_name text, p_uri text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p_name = 'xmlns:xmlns' THEN 9465
                WHEN p_uri = '' AND p_name <> 'xmlns' THEN 9460
                WHEN p_uri = 'http://www.w3.org/2000/xmlns/' THEN 9466
                WHEN (p_uri = 'http://www.w3.org/XML/1998/namespace') <> (p_name = 'xmlns:xml') THEN 9464 END;
END;

-- Prefixes of one start tag (as ssb_internal.xml_read_tag writes it) against what is declared around it.
-- A scope is a chain of E'\x01' prefix E'\x02' uri, innermost first; name is the one at fault.
CREATE OR REPLACE FUNCTION ssb_internal.xml_check_prefixes(
    p_tag text, p_scope text, OUT scope text, OUT error integer, OUT name text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := string_to_array(p_tag, '"');
    v_names text[];
    v_expanded text[] := '{}';
    v_element boolean := true;
    v_name text;
    v_prefix text;
    v_uri text;
BEGIN
    scope := p_scope;
    v_names := ARRAY[rtrim(rtrim(split_part(v_parts[1], ' ', 1), '>'), '/')];
    IF cardinality(v_parts) > 1 THEN
        v_parts[1] := ' ' || split_part(v_parts[1], ' ', 2);
        FOR i IN 1 .. cardinality(v_parts) - 1 BY 2 LOOP
            name := btrim(v_parts[i], ' =');
            v_uri := v_parts[i + 1];
            IF name = 'xmlns' OR left(name, 6) = 'xmlns:' THEN
                error := ssb_internal.xml_declaration_error(name, v_uri);
                IF error IS NOT NULL THEN
                    RETURN;
                END IF;
            END IF;
            IF name = 'xmlns' THEN
                v_prefix := '';
            ELSIF left(name, 6) = 'xmlns:' THEN
                v_prefix := substr(name, 7);
            ELSE
                v_names := v_names || name;
                CONTINUE;
            END IF;
            -- What is declared so already is not declared again.
            v_name := E'\x01' || v_prefix || E'\x02';
            IF split_part(substr(scope, nullif(strpos(scope, v_name), 0) + length(v_name)), E'\x01', 1) IS DISTINCT FROM v_uri THEN
                scope := v_name || v_uri || scope;
            END IF;
        END LOOP;
    END IF;
    FOREACH name IN ARRAY v_names LOOP
        IF strpos(name, ':') = 0 OR left(name, 4) = 'xml:' THEN
            v_element := false;
            CONTINUE;
        END IF;
        v_prefix := split_part(name, ':', 1);
        IF strpos(scope, E'\x01' || v_prefix || E'\x02') = 0 THEN
            error := 9459;
            RETURN;
        END IF;
        v_uri := split_part(substr(scope, strpos(scope, E'\x01' || v_prefix || E'\x02')
                                          + length(v_prefix) + 2), E'\x01', 1)
                 || '}' || split_part(name, ':', 2);
        IF v_uri = ANY (v_expanded) THEN
            error := 9437;
            RETURN;
        END IF;
        -- The element's own name stands first, and may equal an attribute's.
        IF v_element THEN
            v_element := false;
        ELSE
            v_expanded := v_expanded || v_uri;
        END IF;
    END LOOP;
    name := NULL;
END;
$$;

-- The same for all start tags among the tokens of ssb_internal.xml_read, in time that grows as they do: each prefix
-- has a place in an array, where what it means is changed and, as its element closes, put back.
CREATE OR REPLACE FUNCTION ssb_internal.xml_check_all_prefixes(
    p_tokens text[], OUT error integer, OUT token integer, OUT name text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_few CONSTANT integer := 32;       -- names: so many are compared with each other
    v_places jsonb;                     -- of each prefix that is declared anywhere
    v_uris text[] := '{}';              -- by place: what the prefix means here, long URIs by their hash
    v_changed integer[] := '{}';        -- a stack: the places that the open elements have changed
    v_before text[] := '{}';            -- and what they meant before
    v_changes integer := 0;
    v_bottoms integer[] := '{}';        -- of each open element: how many changes there were before it
    v_depth integer := 0;
    v_tag text;
    v_parts text[];
    v_names text[];                     -- the element's and its attributes', declarations apart
    v_own text[];                       -- names of attributes with a prefix
    v_expanded text[];                  -- and what they mean
    v_repeated text;
    v_place integer;
    v_uri text;
BEGIN
    SELECT jsonb_object_agg(p.prefix, p.place) INTO v_places
      FROM (SELECT d.prefix, row_number() OVER () AS place
              FROM (SELECT DISTINCT m.part[1] AS prefix
                      FROM unnest(p_tokens) AS t (token),
                           regexp_matches(t.token, ' xmlns:([^="<>]+)="', 'g') AS m (part)
                     WHERE strpos(t.token, ' xmlns:') > 0) AS d) AS p;
    FOR i IN 2 .. cardinality(p_tokens) LOOP
        token := i;
        v_tag := p_tokens[i];
        IF left(v_tag, 1) = '/' THEN
            FOR j IN REVERSE v_changes .. v_bottoms[v_depth] + 1 LOOP
                v_uris[v_changed[j]] := v_before[j];
            END LOOP;
            v_changes := v_bottoms[v_depth];
            v_depth := v_depth - 1;
            CONTINUE;
        END IF;
        CONTINUE WHEN left(v_tag, 1) IN ('!', '?');
        v_tag := left(v_tag, strpos(v_tag, '>'));
        v_depth := v_depth + 1;
        v_bottoms[v_depth] := v_changes;
        IF strpos(v_tag, ':') > 0 OR strpos(v_tag, ' xmlns') > 0 THEN
            v_parts := string_to_array(v_tag, '"');
            v_names := ARRAY[rtrim(rtrim(split_part(v_parts[1], ' ', 1), '>'), '/')];
            IF cardinality(v_parts) > 1 THEN
                v_parts[1] := ' ' || split_part(v_parts[1], ' ', 2);
                FOR j IN 1 .. cardinality(v_parts) - 1 BY 2 LOOP
                    name := btrim(v_parts[j], ' =');
                    IF name <> 'xmlns' AND left(name, 6) <> 'xmlns:' THEN
                        v_names := v_names || name;
                        CONTINUE;
                    END IF;
                    v_uri := v_parts[j + 1];
                    error := ssb_internal.xml_declaration_error(name, v_uri);
                    IF error IS NOT NULL THEN
                        RETURN;
                    END IF;
                    v_place := (v_places ->> substr(name, 7))::integer;
                    IF v_place IS NOT NULL THEN
                        v_changes := v_changes + 1;
                        v_changed[v_changes] := v_place;
                        v_before[v_changes] := v_uris[v_place];
                        v_uris[v_place] := CASE WHEN octet_length(v_uri) > 64 THEN '#' || encode(sha256(convert_to(v_uri, 'UTF8')), 'hex')
                                                ELSE v_uri END;
                    END IF;
                END LOOP;
            END IF;
            v_own := '{}';
            v_expanded := '{}';
            FOR j IN 1 .. cardinality(v_names) LOOP
                name := v_names[j];
                CONTINUE WHEN strpos(name, ':') = 0 OR left(name, 4) = 'xml:';
                v_uri := v_uris[(v_places ->> split_part(name, ':', 1))::integer];
                IF v_uri IS NULL THEN
                    error := 9459;
                    EXIT;
                END IF;
                -- The element's own name stands first, and may equal an attribute's.
                CONTINUE WHEN j = 1;
                v_uri := v_uri || '}' || split_part(name, ':', 2);
                IF cardinality(v_names) <= c_few AND v_uri = ANY (v_expanded) THEN
                    error := 9437;
                    RETURN;
                END IF;
                v_own := v_own || name;
                v_expanded := v_expanded || v_uri;
            END LOOP;
            IF cardinality(v_names) > c_few THEN
                SELECT r.name INTO v_repeated
                  FROM (SELECT a.name, a.n, row_number() OVER (PARTITION BY a.expanded ORDER BY a.n) AS nth
                          FROM unnest(v_own, v_expanded) WITH ORDINALITY AS a (name, expanded, n)) AS r
                 WHERE r.nth > 1 ORDER BY r.n LIMIT 1;
                IF FOUND THEN
                    error := 9437;
                    name := v_repeated;
                END IF;
            END IF;
            IF error IS NOT NULL THEN
                RETURN;
            END IF;
        END IF;
        IF right(v_tag, 2) = '/>' THEN
            FOR j IN REVERSE v_changes .. v_bottoms[v_depth] + 1 LOOP
                v_uris[v_changed[j]] := v_before[j];
            END LOOP;
            v_changes := v_bottoms[v_depth];
            v_depth := v_depth - 1;
        END IF;
    END LOOP;
    token := NULL;
    name := NULL;
END;
$$;
