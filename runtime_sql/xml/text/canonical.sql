-- The canonical form of XML, recognised by one regular expression: what our own functions write, and
-- what most programs send. PostgreSQL runs an expression without captures as an automaton, at
-- about 4 ns per character, so asking first costs next to nothing.

-- Is p_text in the form that tokens of ssb_internal.xml_read have, as far as its characters go? (Comments
-- and instructions make the answer false; nesting and repeated attributes are another question.)
CREATE OR REPLACE FUNCTION ssb_internal.xml_is_canonical(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    -- text: at least one character that is no white space, or white space ending in a reference
    RETURN p_text OPERATOR(pg_catalog.~) ('^(?:(?:[ \t\n]*(?:[^<>& \t\n\x01-\x08\x0b-\x1f\uFFFE\uFFFF]|&(?:amp|lt|gt|#xD);)'
                     '(?:[^<>&\x01-\x08\x0b-\x1f\uFFFE\uFFFF]|&(?:amp|lt|gt|#xD);)*|[ \t\n]*&#x(?:20|A|9);)?'
                     '(?:<(?:/[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?'
                     '|[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?'
                     '(?: [A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?'
                     '="(?:[^<>&"\x01-\x1f\uFFFE\uFFFF]|&(?:amp|lt|gt|quot|#x[9AD]);)*")*/?)>|$))*$');
END;
$$;

-- The same for a value that ought to be ours already: names may be any, comments and instructions
-- are in order, and a start tag may lack its end tag.
CREATE OR REPLACE FUNCTION ssb_internal.xml_is_ours(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_text ~ ('^(?:(?:[ \t\n]*(?:[^<>& \t\n\r]|&(?:amp|lt|gt|#xD);)'
                     '(?:[^<>&\r]|&(?:amp|lt|gt|#xD);)*|[ \t\n]*&#x(?:20|A|9);)?'
                     '(?:<(?:/[^ \t\n<>/="&]+|[^ \t\n<>/="&!?''][^ \t\n<>/="&'']*'
                     '(?: [^ \t\n<>/="&'']+="(?:[^<>&"\r\n\t]|&(?:amp|lt|gt|quot|#x[9AD]);)*")*/?'
                     '|!--(?:[^-]|-[^-])*--|\?(?:[^?]|\?+[^?>])*\?+)>|$))*$');
END;
$$;

-- Are all prefixes in a text of the canonical form declared, by its first element? (false also where
-- declarations stand further inside: that takes a closer look.)
CREATE OR REPLACE FUNCTION ssb_internal.xml_prefixes_at_root(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_root text := split_part(substr(p_text, strpos(p_text, '<')), '>', 1);
    v_prefixes text;
    v_uris text[];
BEGIN
    IF strpos(substr(p_text, strpos(p_text, v_root) + length(v_root)), ' xmlns') > 0 OR strpos(p_text, '<xmlns:') > 0 THEN
        RETURN false;
    END IF;
    SELECT string_agg(m[1], '|'), array_agg(DISTINCT m[2]) INTO v_prefixes, v_uris
      FROM regexp_matches(v_root, ' xmlns:([^=]+)="([^"]*)"', 'g') AS m;
    IF v_prefixes IS NULL OR '' = ANY (v_uris) OR v_prefixes ~ '(?:^|\|)xml' OR v_root ~ 'XML/1998|2000/xmlns|xml:space'
       OR cardinality(v_uris) <> length(v_prefixes) - length(replace(v_prefixes, '|', '')) + 1 THEN
        RETURN false;       -- two prefixes for one namespace: attributes may be repeated unseen
    END IF;
    RETURN p_text !~ ('[</ ](?!(?:xmlns|' || replace(replace(v_prefixes, '.', '\.'), '-', '\-') || '):)'
                      '[A-Za-z_][A-Za-z0-9_.-]*:[A-Za-z_][A-Za-z0-9_.-]*[ =/>]');
END;
$$;

-- Do the tags of a text of the canonical form match? false also for what needs a closer look:
-- <a></a>, repeated attributes, prefixes declared inside, more than p_max_depth levels.
CREATE OR REPLACE FUNCTION ssb_internal.xml_nests(p_text text, p_max_depth integer DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_piece text;
    v_depth integer := 0;
    v_open text[] := '{}';
    v_first boolean := true;
    v_prefixes boolean := p_text ~ '[< ][A-Za-z_][A-Za-z0-9_.-]*:[A-Za-z_][A-Za-z0-9_.-]*[=>/ ]';
    v_roots integer := 0;
BEGIN
    IF p_text ~ '<[^/<>](?:[^<>]*[^/<>])?></' OR strpos(p_text, ' xmlns="http://www.w3.org/XML/1998') > 0
       OR strpos(p_text, ' xmlns="http://www.w3.org/2000/xmlns') > 0 OR v_prefixes AND NOT ssb_internal.xml_prefixes_at_root(p_text) THEN
        RETURN false;
    END IF;
    FOREACH v_piece IN ARRAY string_to_array(p_text, '<') LOOP
        IF v_first THEN
            v_first := false;
        ELSIF v_piece LIKE '/%' THEN
            IF v_depth = 0 THEN
                RETURN false;
            ELSIF split_part(split_part(v_open[v_depth], '>', 1), ' ', 1)
                  <> substr(split_part(v_piece, '>', 1), 2) THEN
                RETURN false;
            END IF;
            v_depth := v_depth - 1;
        ELSE
            IF v_prefixes AND v_depth = 0 THEN
                v_roots := v_roots + 1;
                IF v_roots > 1 THEN
                    RETURN false;       -- out of the scope of the first one's declarations
                END IF;
            END IF;
            IF strpos(v_piece, '" ') > 0 AND ssb_internal.xml_repeats_attribute(split_part(v_piece, '>', 1)) THEN
                RETURN false;
            END IF;
            IF v_piece NOT LIKE '%/>%' THEN
                v_depth := v_depth + 1;
                v_open[v_depth] := v_piece;
                IF v_depth > p_max_depth THEN
                    RETURN false;
                END IF;
            END IF;
        END IF;
    END LOOP;
    RETURN v_depth = 0;
END;
$$;
