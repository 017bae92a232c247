-- A document ready for navigation: its pieces and, per piece, where it ends and what is open.
--
-- Nodes have numbers. Piece i of the text cut at '<' holds one tag and the character data behind
-- it: the element (comment, instruction) is node 2*i, that character data is text node 2*i + 1.
-- Node 2 is the document. An attribute is at * 2^32 + 2*i, where at is its place in the tag. So
-- numbers of elements and texts sort in document order, and nothing is extracted before it is
-- asked for: finding one value in a small message costs less than building its nodes would.

-- The text cut at '<', comments and instructions in one piece each.
CREATE OR REPLACE FUNCTION ssb_internal.xml_split(p_text text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_pieces text[] := '{}';
    v_piece text;
    v_open text[] := '{}';  -- the pieces so far of a comment or instruction that is not closed yet
    v_end text;             -- what closes it; it has no '<' inside
BEGIN
    IF p_text = '' THEN
        RETURN ARRAY[''];
    ELSIF strpos(p_text, '<!') = 0 AND strpos(p_text, '<?') = 0 THEN
        RETURN string_to_array(p_text, '<');
    END IF;
    FOREACH v_piece IN ARRAY string_to_array(p_text, '<') LOOP
        IF v_open <> '{}' THEN
            v_open := v_open || v_piece;
            IF strpos(v_piece, v_end) > 0 THEN
                v_pieces := v_pieces || array_to_string(v_open, '<');
                v_open := '{}';
            END IF;
        -- (the first piece is text, whatever it begins with)
        ELSIF v_pieces <> '{}'
           AND (v_piece LIKE '!%' AND strpos(substr(v_piece, 4), '-->') = 0 OR v_piece LIKE '?%' AND strpos(v_piece, '?>') = 0) THEN
            v_open := ARRAY[v_piece];
            v_end := CASE left(v_piece, 1) WHEN '!' THEN '-->' ELSE '?>' END;
        ELSE
            v_pieces := v_pieces || v_piece;
        END IF;
    END LOOP;
    RETURN v_pieces;
END;
$$;

-- toks    the pieces
-- ends    of a start tag: the piece with its end tag (itself for <a/>); of piece 1: beyond the last
-- opens   the innermost element that is open behind the piece; 1 is the document
-- decls   only if the text declares namespaces, else empty: the nearest element, itself or around
--         it, that has a declaration; 0 is none
-- Start tags without an end tag end with the text: ssb_internal.xml_node_index relies on it.
CREATE OR REPLACE FUNCTION ssb_internal.xml_index(
    p_text text, OUT toks text[], OUT ends integer[], OUT opens integer[], OUT decls integer[])
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_tok text;
    v_at integer := 0;
    v_open integer := 1;
    v_beyond integer;
    v_special boolean := strpos(p_text, '<!') > 0 OR strpos(p_text, '<?') > 0;
    v_names boolean := strpos(p_text, 'xmlns') > 0;
BEGIN
    IF NOT ssb_internal.xml_is_ours(p_text) THEN
        -- Not written by our functions: a value that came past sys.xml_of, e.g. a column of type
        -- xml filled by a program of its own.
        toks := ssb_internal.xml_split(ssb_internal.xml_normalise(p_text, 1));
        v_special := true;
    ELSE
        toks := ssb_internal.xml_split(p_text);
    END IF;
    v_beyond := cardinality(toks) + 1;
    ends := '{}';
    opens := '{}';
    decls := '{}';
    FOREACH v_tok IN ARRAY toks LOOP
        v_at := v_at + 1;
        IF v_tok LIKE '/%' AND v_at > 1 THEN
            ends[v_open] := v_at;
            ends[v_at] := v_at;
            v_open := opens[v_open - 1];
            opens[v_at] := v_open;
        ELSIF v_special AND (v_tok LIKE '!%' OR v_tok LIKE '?%') AND v_at > 1
              OR v_tok LIKE '%/>%' THEN
            ends[v_at] := v_at;
            opens[v_at] := v_open;
        ELSE
            ends[v_at] := v_beyond;
            opens[v_at] := v_at;
            v_open := v_at;
        END IF;
        IF v_names THEN
            IF strpos(v_tok, ' xmlns') > 0 AND strpos(split_part(v_tok, '>', 1), ' xmlns') > 0 THEN
                decls[v_at] := v_at;
            ELSIF v_at = 1 THEN
                decls[v_at] := 0;
            ELSIF ends[v_at] = v_at AND v_tok LIKE '/%' THEN
                decls[v_at] := decls[v_open];
            ELSE
                decls[v_at] := decls[opens[v_at - 1]];
            END IF;
        END IF;
    END LOOP;
END;
$$;

-- What an (unprefixed or prefixed) name's prefix stands for in element p_at; '' for nothing.
CREATE OR REPLACE FUNCTION ssb_internal.xml_uri(
    p_prefix text, p_at integer, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_mark text := CASE p_prefix WHEN '' THEN ' xmlns="' ELSE ' xmlns:' || p_prefix || '="' END;
    v_at integer := p_decls[p_at];
    v_tag text;
    v_found integer;
BEGIN
    IF p_prefix = 'xml' THEN
        RETURN 'http://www.w3.org/XML/1998/namespace';
    END IF;
    WHILE v_at > 0 LOOP
        v_tag := split_part(p_toks[v_at], '>', 1);
        v_found := strpos(v_tag, v_mark);
        IF v_found > 0 THEN
            RETURN ssb_internal.xml_unescape(split_part(substr(v_tag, v_found + length(v_mark)), '"', 1));
        END IF;
        v_at := p_decls[p_opens[v_at - 1]];
    END LOOP;
    RETURN '';
END;
$$;

-- All prefixes that are declared in element p_at, and what they stand for.
CREATE OR REPLACE FUNCTION ssb_internal.xml_scope(p_at integer, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := p_decls[p_at];
    v_scope jsonb := '{}';
BEGIN
    WHILE v_at > 0 LOOP
        v_scope := (SELECT coalesce(jsonb_object_agg(m[1], ssb_internal.xml_unescape(m[2])), '{}')
                      FROM regexp_matches(split_part(p_toks[v_at], '>', 1), ' xmlns:([^ =]+)="([^"]*)"', 'g') AS m) || v_scope;
        v_at := p_decls[p_opens[v_at - 1]];
    END LOOP;
    RETURN v_scope;
END;
$$;

-- Character data behind the tag of a piece, as written; '' for none.
CREATE OR REPLACE FUNCTION ssb_internal.xml_tail(p_tok text, p_at integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_at = 1 THEN
        RETURN p_tok;
    ELSIF p_tok LIKE '!%' THEN
        RETURN substr(p_tok, strpos(substr(p_tok, 4), '-->') + 6);        -- '<!-->-->' is one comment
    ELSIF p_tok LIKE '?%' THEN
        RETURN substr(p_tok, strpos(p_tok, '?>') + 2);
    END IF;
    RETURN substr(p_tok, strpos(p_tok, '>') + 1);
END;
$$;

-- The string value of a node (see above for node numbers).
CREATE OR REPLACE FUNCTION ssb_internal.xml_string(p_node bigint, p_toks text[], p_ends integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ((p_node & 4294967295) >> 1)::integer;
    v_tok text := p_toks[v_at];
    v_end integer;
    v_value text := '';
    v_long text[] := '{}';          -- what comes before v_value: appending to a long text copies it
BEGIN
    IF p_node IS NULL THEN
        RETURN NULL;
    ELSIF p_node > 4294967295 THEN
        RETURN ssb_internal.xml_unescape(split_part(substr(v_tok, (p_node >> 32)::integer), '"', 2));
    ELSIF p_node & 1 = 1 THEN
        RETURN ssb_internal.xml_unescape(ssb_internal.xml_tail(v_tok, v_at));
    ELSIF v_tok LIKE '!%' AND v_at > 1 THEN
        RETURN substr(v_tok, 4, strpos(substr(v_tok, 4), '-->') - 1);
    ELSIF v_tok LIKE '?%' AND v_at > 1 THEN
        RETURN ltrim(substr(left(v_tok, strpos(v_tok, '?>') - 1), length(substring(v_tok from '^\?[^ \t\n?]+')) + 1), E' \t\n');
    END IF;
    v_end := p_ends[v_at];
    IF v_end = v_at THEN
        RETURN '';
    ELSIF v_end = v_at + 1 AND v_at > 1 THEN
        RETURN ssb_internal.xml_unescape(substr(v_tok, strpos(v_tok, '>') + 1));
    END IF;
    FOR i IN v_at .. v_end - 1 LOOP
        v_tok := p_toks[i];
        IF v_tok NOT LIKE '%>' THEN
            v_value := v_value || ssb_internal.xml_tail(v_tok, i);
            IF octet_length(v_value) > 10000 THEN
                v_long := v_long || v_value;
                v_value := '';
            END IF;
        END IF;
    END LOOP;
    RETURN ssb_internal.xml_unescape(array_to_string(v_long || v_value, ''));
END;
$$;

-- The markup of a node as it stands in the document; an attribute gives its name="value".
CREATE OR REPLACE FUNCTION ssb_internal.xml_markup(p_node bigint, p_toks text[], p_ends integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ((p_node & 4294967295) >> 1)::integer;
    v_end integer := p_ends[v_at];
    v_tok text := p_toks[v_at];
    v_text text;
BEGIN
    IF p_node > 4294967295 THEN
        v_text := substr(v_tok, (p_node >> 32)::integer + 1);
        RETURN split_part(v_text, '"', 1) || '"' || split_part(v_text, '"', 2) || '"';
    ELSIF p_node & 1 = 1 THEN
        RETURN ssb_internal.xml_tail(v_tok, v_at);
    ELSIF p_node = 2 THEN
        RETURN array_to_string(p_toks, '<');
    END IF;
    IF v_end = v_at THEN
        RETURN '<' || left(v_tok, length(v_tok) - length(ssb_internal.xml_tail(v_tok, v_at)));
    END IF;
    -- Appending piece by piece beats a slice of the array until the copies of the text cost more.
    IF v_end - v_at < 300 THEN
        v_text := '';
        FOR i IN v_at .. v_end - 1 LOOP
            v_text := v_text || '<' || p_toks[i];
        END LOOP;
        RETURN v_text || '<' || split_part(p_toks[v_end], '>', 1) || '>';
    END IF;
    RETURN '<' || array_to_string(p_toks[v_at : v_end - 1], '<') || '<' || split_part(p_toks[v_end], '>', 1) || '>';
END;
$$;

-- The same, able to stand alone: an element gets the namespace declarations around it that its
-- names use.
CREATE OR REPLACE FUNCTION ssb_internal.xml_standalone(
    p_node bigint, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ((p_node & 4294967295) >> 1)::integer;
    v_text text := ssb_internal.xml_markup(p_node, p_toks, p_ends);
    v_own text;
    v_part text;
    v_decl integer;
    v_seen text[] := '{}';
    v_added text := '';
BEGIN
    IF p_decls = '{}' OR p_node <= 2 OR p_node & 1 = 1 OR p_node > 4294967295 OR left(v_text, 2) IN ('<!', '<?') THEN
        RETURN v_text;
    END IF;
    v_own := split_part(v_text, '>', 1);
    v_decl := p_decls[p_opens[v_at - 1]];
    WHILE v_decl > 0 LOOP
        FOR v_part IN
            SELECT m[1] FROM regexp_matches(split_part(p_toks[v_decl], '>', 1), ' (xmlns(?::[^ =]+)?="[^"]*")', 'g') AS m
        LOOP
            CONTINUE WHEN split_part(v_part, '=', 1) = ANY (v_seen);
            v_seen := v_seen || split_part(v_part, '=', 1);
            IF strpos(v_own, ' ' || split_part(v_part, '"', 1) || '"') = 0
               AND (CASE WHEN v_part LIKE 'xmlns="%' THEN v_part <> 'xmlns=""' AND v_text ~ '<[^:<>" /!?]+[ />]'
                         ELSE strpos(v_text, '<' || substr(split_part(v_part, '=', 1), 7) || ':') > 0
                              OR strpos(v_text, ' ' || substr(split_part(v_part, '=', 1), 7) || ':') > 0 END) THEN
                v_added := v_added || ' ' || v_part;
            END IF;
        END LOOP;
        v_decl := p_decls[p_opens[v_decl - 1]];
    END LOOP;
    IF v_added = '' THEN
        RETURN v_text;
    END IF;
    v_own := substring(v_text from '^<[^ />]+');
    RETURN v_own || v_added || substr(v_text, length(v_own) + 1);
END;
$$;
