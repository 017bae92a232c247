-- ssb_internal.xml_read: a document or fragment in any legal form → pieces in the one form that we keep.
--
-- tokens, joined by '<', is the text of the value: no declaration, no DTD, no CDATA, no white
-- space between tags (unless p_keep_space or xml:space="preserve"), attributes in double quotes,
-- <a/> for <a></a>. tokens[1] is the character data before the first tag; each other token is one
-- tag, comment or instruction with the character data after it. A comment keeps its '<' inside.
--
-- error is an SQL Server message number (see xml/text/errors.sql) and place the character, counted
-- from 1 in p_text; tokens is NULL then. p_text has its line ends normalised to \n.
CREATE OR REPLACE FUNCTION ssb_internal.xml_read(
    p_text text, p_keep_space boolean DEFAULT false, p_skip_dtd boolean DEFAULT false,
    p_max_depth integer DEFAULT NULL,
    OUT tokens text[], OUT error integer, OUT place integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_canonical_tag CONSTANT text := '^[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?'
        '(?: [A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?="[^"<>&\t\n]*")*/?>';
    -- What stands in quotes, comments and instructions of a DTD's own subset ends neither it nor the DTD.
    c_doctype CONSTANT text := '^!DOCTYPE[ \t\n]+(?:[^][<>"'']|"[^"]*"|''[^'']*'')*(?:\[(?:[^][<"'']|"[^"]*"|''[^'']*'''
        '|<!--(?:[^-]|-[^-])*-->|<\?(?:[^?]|\?+[^?>])*\?+>|<![A-Z])*\][ \t\n]*)?>';
    c_before_doctype CONSTANT text := '^(?:[ \t\n]|<\?(?:[^?]|\?+[^?>])*\?+>|<!--(?:[^-]|-[^-])*-->)*$';
    v_pieces text[] := string_to_array(p_text, '<');
    v_count integer := cardinality(v_pieces);
    v_piece text;
    v_start integer;                    -- index of the piece where the current markup began
    v_at integer;
    v_tag text;
    v_more text;                        -- raw character data after the current markup
    v_text text := '';                  -- escaped character data not yet stored
    v_long text[] := '{}';              -- and what of it comes before: appending to a long text copies it
    v_entity_space boolean := false;    -- it holds white space that was written as a reference
    v_out integer := 1;
    v_depth integer := 0;
    v_open text[] := '{}';              -- names of the open elements
    v_opened_at integer[] := '{}';      -- and where their start tags stand in tokens
    v_preserve boolean[] := '{}';
    v_has_preserve boolean := strpos(p_text, 'xml:space') > 0;
    v_keep boolean := coalesce(p_keep_space, false);
    v_has_prefixes boolean := p_text ~ '[< \t\n][^<>="'' \t\n]+:[^<>="'' \t\n]+[ \t\n=/>]|xmlns';
    -- In a long text the prefixes are checked all at once: what is declared may be as long as the text.
    v_checks_at_end boolean := v_has_prefixes AND octet_length(p_text) > 50000;
    v_pieces_of integer[] := '{}';      -- of the start tags in tokens: the piece that each is from
    v_scope text := '';                 -- what is declared, see xml_check_prefixes
    v_scopes integer[] := '{}';         -- of the open elements: how much of it is declared around them
    v_check record;
    v_illegal integer;
BEGIN
    IF p_text ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]' THEN
        v_illegal := length(substring(p_text from '^[^\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]*')) + 1;
    END IF;
    v_has_prefixes := v_has_prefixes AND NOT v_checks_at_end;
    tokens := ARRAY[''];
    v_start := 1;
    v_at := 0;
    v_more := coalesce(v_pieces[1], '');
    FOR i IN 1 .. v_count LOOP
        -- ── markup ────────────────────────────────────────────────────────────────────────────
        IF i > 1 THEN
            -- A comment, instruction or CDATA section may hold '<': its later pieces are done.
            CONTINUE WHEN i < v_start;
            v_start := i;
            v_piece := v_pieces[i];
            CASE ascii(v_piece)
            WHEN 47 THEN                                                            -- </name>
                v_tag := substring(v_piece from '^/[^>]*>');
                IF v_tag IS NULL THEN
                    error := CASE WHEN i = v_count THEN 9400 ELSE 9455 END;
                    v_at := length(v_piece) + 1;
                    EXIT;
                END IF;
                v_tag := rtrim(substr(v_tag, 2, length(v_tag) - 2), E' \t\n');
                IF v_depth = 0 OR v_open[v_depth] IS DISTINCT FROM v_tag THEN
                    v_at := strpos(v_piece, '>');
                    error := CASE WHEN v_tag ~ '^[^A-Za-z_:\u00C0-\U0010FFFF]|^$' THEN 9455
                                  WHEN v_tag ~ '[ \t\n]' THEN 9412 ELSE 9436 END;
                    IF error = 9455 THEN
                        v_at := 2;
                    ELSIF error = 9412 THEN
                        v_at := length(substring(v_piece from '^/[^ \t\n]*[ \t\n]+')) + 1;
                    END IF;
                    EXIT;
                END IF;
                v_more := substr(v_piece, strpos(v_piece, '>') + 1);
                v_tag := '/' || v_tag || '>';
            WHEN 33, 63 THEN                                              -- <!-- <![CDATA[ <?
                v_tag := CASE WHEN left(v_piece, 3) = '!--' THEN '-->'
                              WHEN left(v_piece, 8) = '![CDATA[' THEN ']]>'
                              WHEN left(v_piece, 1) = '?' THEN '?>'
                              WHEN left(v_piece, 8) = '!DOCTYPE' THEN '>'
                         END;
                IF v_tag IS NULL THEN
                    error := CASE WHEN i = v_count AND v_piece IN ('!', '!-', '![', '![C', '![CD', '![CDA',
                                                                   '![CDAT', '![CDATA') THEN 9400
                                  WHEN left(v_piece, 2) = '![' THEN 9423
                                  WHEN left(v_piece, 2) = '!-' THEN 9424 ELSE 9422 END;
                    v_at := CASE WHEN error = 9400 THEN length(v_piece) + 1
                                 WHEN error = 9422 THEN 2 ELSE 3 END;
                    EXIT;
                END IF;
                -- '<!-->' is no comment: what closes it comes after what opened it.
                v_at := CASE v_tag WHEN '-->' THEN 4 WHEN ']]>' THEN 9 ELSE 2 END;
                IF v_tag = '>' THEN
                    error := CASE WHEN NOT coalesce(p_skip_dtd, false) THEN 6359
                                  WHEN array_to_string(v_pieces[: i - 1], '<') !~ c_before_doctype THEN 9422 END;
                    IF error IS NOT NULL THEN
                        v_at := 2;
                        EXIT;
                    END IF;
                    v_piece := substring(array_to_string(v_pieces[i:], '<') from c_doctype);
                    IF v_piece IS NULL THEN
                        v_more := NULL;
                    ELSE
                        v_start := i + length(v_piece) - length(replace(v_piece, '<', ''));
                        v_more := substr(v_pieces[v_start], strpos(reverse('<' || v_piece), '<'));
                    END IF;
                ELSIF strpos(substr(v_piece, v_at), v_tag) = 0 THEN
                    -- None of these ends has a '<' inside: it stands in one piece.
                    v_more := NULL;
                    WHILE v_more IS NULL AND v_start < v_count LOOP
                        v_start := v_start + 1;
                        IF strpos(v_pieces[v_start], v_tag) > 0 THEN
                            v_more := v_pieces[v_start];
                        END IF;
                    END LOOP;
                    -- Appending piece by piece beats a slice of the array until the copies of the text cost more.
                    IF v_start - i < 300 THEN
                        FOR j IN i + 1 .. v_start LOOP
                            v_piece := v_piece || '<' || v_pieces[j];
                        END LOOP;
                    ELSE
                        v_piece := array_to_string(v_pieces[i : v_start], '<');
                    END IF;
                END IF;
                IF v_more IS NULL THEN
                    error := 9400;
                    EXIT;
                END IF;
                IF v_tag = '-->' THEN
                    v_at := strpos(substr(v_piece, 4), '--') + 3;
                    IF substr(v_piece, v_at, 3) <> '-->' THEN
                        error := 9424;
                        v_at := v_at + 2;
                        v_start := i;
                        EXIT;
                    END IF;
                    v_more := substr(v_piece, v_at + 3);
                    v_tag := left(v_piece, v_at + 2);
                ELSIF v_tag = ']]>' THEN
                    v_at := strpos(v_piece, ']]>');
                    v_text := v_text || ssb_internal.xml_escape_text(substr(v_piece, 9, v_at - 9));
                    v_more := substr(v_piece, v_at + 3);
                    v_tag := NULL;
                ELSIF v_tag = '>' THEN
                    v_tag := NULL;
                ELSE
                    v_at := strpos(v_piece, '?>');
                    v_more := substr(v_piece, v_at + 2);
                    v_tag := left(v_piece, v_at + 1);
                    IF v_tag ~* '^\?xml[ \t\n?]' THEN
                        IF i > 2 OR v_pieces[1] <> '' THEN
                            error := 9438;
                            v_at := 5;
                        ELSIF v_tag !~ ('^\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*("1\.[0-9]+"|''1\.[0-9]+'')'
                                        '([ \t\n]+encoding[ \t\n]*=[ \t\n]*("[A-Za-z][A-Za-z0-9._-]*"|''[A-Za-z][A-Za-z0-9._-]*''))?'
                                        '([ \t\n]+standalone[ \t\n]*=[ \t\n]*("(yes|no)"|''(yes|no)''))?[ \t\n]*\?>$') THEN
                            error := 9441;
                            v_at := v_at + 1;
                        END IF;
                        v_tag := NULL;
                    ELSIF v_tag !~ '^\?[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*(?:[ \t\n]|\?>$)' THEN
                        error := 9421;
                        v_at := length(substring(v_tag from '^\?(?:[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*)?')) + 1;
                    END IF;
                    IF error IS NOT NULL THEN
                        v_start := i;
                        EXIT;
                    END IF;
                END IF;
                v_at := NULL;
            ELSE                                                                     -- <name …>
                v_tag := NULL;
                IF v_piece ~ c_canonical_tag THEN
                    v_at := strpos(v_piece, '>');
                    v_tag := left(v_piece, v_at);
                    v_more := substr(v_piece, v_at + 1);
                    IF strpos(v_tag, '" ') > 0 AND ssb_internal.xml_repeats_attribute(v_tag) THEN
                        v_tag := NULL;
                    END IF;
                END IF;
                IF v_tag IS NULL THEN
                    SELECT r.tag, r.rest, r.error, r.place INTO v_tag, v_more, error, v_at
                      FROM ssb_internal.xml_read_tag(v_piece) AS r;
                    IF error IS NOT NULL THEN
                        IF i = v_count AND v_at > length(v_piece) THEN
                            error := 9400;
                        END IF;
                        EXIT;
                    END IF;
                END IF;
                v_at := NULL;
            END CASE;
            v_start := v_start + 1;         -- the first piece after this markup

            -- ── store what came before ───────────────────────────────────────────────────────
            IF v_tag IS NOT NULL THEN
                IF v_text <> '' THEN
                    IF v_long <> '{}' THEN
                        v_text := array_to_string(v_long || v_text, '');
                        v_long := '{}';
                    END IF;
                    IF v_text !~ '[^ \t\n]' THEN
                        v_text := CASE WHEN v_keep OR v_entity_space THEN ssb_internal.xml_protect_space(v_text)
                                       ELSE '' END;
                    END IF;
                    tokens[v_out] := tokens[v_out] || v_text;
                    v_text := '';
                END IF;
                v_entity_space := false;
                IF left(v_tag, 1) = '/' THEN
                    IF v_opened_at[v_depth] = v_out AND right(tokens[v_out], 1) = '>' THEN
                        tokens[v_out] := left(tokens[v_out], -1) || '/>';
                    ELSE
                        v_out := v_out + 1;
                        tokens[v_out] := v_tag;
                    END IF;
                    IF v_scopes[v_depth] IS NOT NULL THEN
                        v_scope := right(v_scope, v_scopes[v_depth]);
                    END IF;
                    v_depth := v_depth - 1;
                    IF v_has_preserve THEN
                        v_keep := CASE WHEN v_depth = 0 THEN coalesce(p_keep_space, false)
                                       ELSE v_preserve[v_depth] END;
                    END IF;
                ELSE
                    v_out := v_out + 1;
                    tokens[v_out] := v_tag;
                    IF left(v_tag, 1) NOT IN ('!', '?') THEN
                        IF v_checks_at_end THEN
                            v_pieces_of[v_out] := i;
                        END IF;
                        IF v_has_prefixes AND (strpos(v_tag, ':') > 0 OR strpos(v_tag, ' xmlns') > 0) THEN
                            SELECT c.* INTO v_check FROM ssb_internal.xml_check_prefixes(v_tag, v_scope) AS c;
                            IF v_check.error IS NOT NULL THEN
                                error := v_check.error;
                                v_start := i;
                                v_at := strpos(v_piece, v_check.name) + length(v_check.name);
                                EXIT;
                            END IF;
                        ELSIF v_has_prefixes THEN
                            SELECT v_scope AS scope INTO v_check;
                        END IF;
                        IF v_has_preserve AND v_tag ~ ' xml:space="(?!preserve"|default")' THEN
                            error := 9463;
                            v_start := i;
                            v_at := strpos(v_piece, 'xml:space') + 9;
                            EXIT;
                        END IF;
                        IF right(v_tag, 2) <> '/>' THEN
                            v_depth := v_depth + 1;
                            v_open[v_depth] := rtrim(split_part(v_tag, ' ', 1), '>');
                            v_opened_at[v_depth] := v_out;
                            IF v_has_prefixes THEN
                                -- NULL: as much as inside
                                v_scopes[v_depth] := CASE WHEN octet_length(v_check.scope) > octet_length(v_scope) THEN length(v_scope) END;
                                v_scope := v_check.scope;
                            END IF;
                            IF v_has_preserve THEN
                                v_more := coalesce(v_more, '');
                                v_preserve[v_depth] := CASE
                                    WHEN strpos(v_tag, ' xml:space="preserve"') > 0 THEN true
                                    WHEN strpos(v_tag, ' xml:space="default"') > 0 THEN false
                                    ELSE v_keep END;
                                v_keep := v_preserve[v_depth];
                            END IF;
                            IF v_depth > p_max_depth THEN
                                error := 6335;
                                v_start := i;
                                v_at := 0;
                                EXIT;
                            END IF;
                        END IF;
                    END IF;
                END IF;
            END IF;
        END IF;

        -- ── character data after it ──────────────────────────────────────────────────────────
        IF v_more <> '' THEN
            IF strpos(v_more, '&') > 0 THEN
                SELECT r.result AS result, r.error AS error, r.place AS place INTO v_check
                  FROM ssb_internal.xml_resolve_references(v_more) AS r;
                IF v_check.error IS NOT NULL THEN
                    error := v_check.error;
                    v_start := greatest(v_start, i + 1);
                    v_at := length(v_pieces[v_start - 1]) - length(v_more) + v_check.place;
                    IF v_start > v_count AND v_check.place > length(v_more) THEN
                        error := 9400;
                        v_at := v_at - 1;
                    END IF;
                    v_start := v_start - 1;
                    EXIT;
                END IF;
                v_entity_space := v_entity_space OR v_more ~ '&#(?:x0*20|0*32|x0*[9aAdD]|0*9|0*1[03]);';
                v_text := v_text || ssb_internal.xml_escape_text(v_check.result);
            ELSE
                v_text := v_text || CASE WHEN strpos(v_more, '>') > 0 THEN replace(v_more, '>', '&gt;')
                                         ELSE v_more END;
            END IF;
            IF strpos(v_more, ']]>') > 0 THEN
                error := 9454;
                v_start := greatest(v_start - 1, i);
                v_at := length(v_pieces[v_start]) - length(v_more) + strpos(v_more, ']]>') + 2;
                EXIT;
            END IF;
            v_more := '';
        END IF;
        IF octet_length(v_text) > 10000 THEN
            v_long := v_long || left(v_text, -1);
            v_text := right(v_text, 1);
        END IF;
    END LOOP;

    IF v_checks_at_end THEN
        -- Whatever else is wrong stands behind all of these.
        SELECT c.* INTO v_check FROM ssb_internal.xml_check_all_prefixes(tokens) AS c;
        IF v_check.error IS NOT NULL THEN
            error := v_check.error;
            v_start := v_pieces_of[v_check.token];
            v_at := strpos(v_pieces[v_start], v_check.name) + length(v_check.name);
        END IF;
    END IF;
    IF error IS NULL AND v_depth > 0 THEN
        error := 9400;
        place := length(p_text);
    ELSIF error IS NOT NULL THEN
        -- v_at counts in piece v_start, whose '<' is the character before it.
        place := length(array_to_string(v_pieces[1 : v_start - 1], '<'))
                 + CASE WHEN v_start > 1 THEN 1 ELSE 0 END + v_at;
        IF error = 9400 THEN
            place := length(p_text);
        END IF;
    END IF;
    IF v_illegal IS NOT NULL AND (error IS NULL OR place >= v_illegal) THEN
        error := 9420;
        place := v_illegal;
    END IF;
    IF error IS NOT NULL THEN
        tokens := NULL;
    ELSIF v_text <> '' THEN
        v_text := array_to_string(v_long || v_text, '');
        IF v_text !~ '[^ \t\n]' THEN
            v_text := CASE WHEN v_keep OR v_entity_space THEN ssb_internal.xml_protect_space(v_text) ELSE '' END;
        END IF;
        tokens[v_out] := tokens[v_out] || v_text;
    END IF;
END;
$$;
