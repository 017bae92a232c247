-- LIKE and PATINDEX with T-SQL's patterns: % _ [set] [^set] [a-z], ESCAPE.
-- PostgreSQL's LIKE knows no sets, so such patterns become regular expressions.
-- A range goes by character code; the comparison is case-sensitive, as = is here.

-- The body of a regular expression for a pattern: neither anchored, nor are
-- leading and trailing % left out. An unclosed [ matches nothing.
CREATE OR REPLACE FUNCTION sys.pattern_body(pattern text, escape text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result text := '';
    v_set text;
    v_at integer := 1;
    v_char text;
    v_literal boolean;
BEGIN
    WHILE v_at <= length(pattern) LOOP
        v_char := substr(pattern, v_at, 1);
        v_at := v_at + 1;
        IF v_char = escape AND v_at <= length(pattern) THEN
            v_char := substr(pattern, v_at, 1);
            v_at := v_at + 1;
            v_result := v_result || sys.regex_literal(v_char);
        ELSIF v_char = '%' THEN
            v_result := v_result || '.*';
        ELSIF v_char = '_' THEN
            v_result := v_result || '.';
        ELSIF v_char = '[' THEN
            v_set := '';
            IF substr(pattern, v_at, 1) = '^' THEN
                v_set := '^';
                v_at := v_at + 1;
            END IF;
            LOOP
                v_char := substr(pattern, v_at, 1);
                v_at := v_at + 1;
                v_literal := false;
                IF v_char = '' THEN
                    RETURN v_result || '(?!)';
                ELSIF v_char = escape AND v_at <= length(pattern) THEN
                    v_char := substr(pattern, v_at, 1);
                    v_at := v_at + 1;
                    v_literal := true;
                END IF;
                EXIT WHEN v_char = ']' AND NOT v_literal;
                -- A hyphen between two characters is a range, elsewhere itself.
                IF v_char = '-' AND NOT v_literal AND v_set NOT IN ('', '^') AND substr(pattern, v_at, 1) NOT IN (']', '') THEN
                    v_set := v_set || '-';
                ELSE
                    v_set := v_set || CASE WHEN v_char ~ '[\\\[\]^-]' THEN '\' || v_char ELSE v_char END;
                END IF;
            END LOOP;
            -- An empty set matches no character, its complement any.
            v_result := v_result || CASE v_set WHEN '' THEN '(?!)' WHEN '^' THEN '.' ELSE '[' || v_set || ']' END;
        ELSE
            v_result := v_result || sys.regex_literal(v_char);
        END IF;
    END LOOP;
    RETURN v_result;
END;
$$;

CREATE OR REPLACE FUNCTION sys.regex_literal("character" text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN "character" ~ '[][\\.*+?(){}|^$]' THEN '\' || "character" ELSE "character" END;

-- Most patterns need no reading character by character: they have no escape character, and sets only of letters and
-- digits, which a regular expression spells alike.
CREATE OR REPLACE FUNCTION sys.is_plain_pattern(pattern text, escape text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN escape IS NULL AND pattern ~ '^([^][^]|\[\^?([A-Za-z0-9](-[A-Za-z0-9])?)+\])*$';
-- sys.pattern_body of such a pattern.
CREATE OR REPLACE FUNCTION sys.plain_pattern_body(pattern text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace(replace(regexp_replace(pattern, '([.*+?(){}|$\\])', '\\\1', 'g'), '%', '.*'), '_', '.');

-- An escaped % stands for itself; one after an escaped escape character is
-- taken for escaped too, which only leaves a harmless .* in place.
CREATE OR REPLACE FUNCTION sys.ends_in_percent(pattern text, escape text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN right(pattern, 1) = '%' AND escape IS DISTINCT FROM '%'
    AND (escape IS NULL OR left(right(pattern, 2), 1) <> escape);
CREATE OR REPLACE FUNCTION sys.anchored_body(body text, pattern text, escape text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN left(pattern, 1) <> '%' OR escape = '%' THEN '^' || body
            WHEN pattern = '%' THEN ''
            ELSE substr(body, 3) END;

-- The regular expression that matches what LIKE would: anchored where the
-- pattern has no % at that end, so that a fixed beginning can use an index.
CREATE OR REPLACE FUNCTION sys.like_regex(pattern text, escape text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_body pg_catalog.text;
BEGIN
    IF pattern IS NULL THEN
        RETURN NULL;
    ELSIF pg_catalog.length(escape) OPERATOR(pg_catalog.<>) 1 THEN
        PERFORM ssb_internal.raise_error(506, pg_catalog.format(
            'The invalid escape character "%s" was specified in a LIKE predicate.', escape));
    END IF;
    IF sys.is_plain_pattern(pattern, escape) THEN
        v_body := sys.plain_pattern_body(pattern);
    ELSE
        v_body := sys.pattern_body(pattern, escape);
    END IF;
    IF sys.ends_in_percent(pattern, escape) THEN
        v_body := pg_catalog.substr(v_body, 1, pg_catalog.length(v_body) OPERATOR(pg_catalog.-) 2);
    ELSE
        v_body := pg_catalog.concat(v_body, '$');
    END IF;
    RETURN sys.anchored_body(v_body, pattern, escape);
END;
$$;

CREATE OR REPLACE FUNCTION sys.like(value text, pattern text, escape text DEFAULT NULL) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value ~ sys.like_regex(pattern, escape);
CREATE OR REPLACE FUNCTION sys.like(value anyelement, pattern text, escape text DEFAULT NULL) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.convert_varchar(value) OPERATOR(pg_catalog.~) sys.like_regex(pattern, escape)';

-- LIKE of what is not Unicode: the pattern may end before any of the blanks at the value's end.
CREATE OR REPLACE FUNCTION sys.like_before_blanks(value text, pattern text, escape text DEFAULT NULL) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value ~ CASE WHEN sys.ends_in_percent(pattern, escape) THEN sys.like_regex(pattern, escape)
                    ELSE left(sys.like_regex(pattern, escape), -1) || ' *$' END;

-- Several % in front say what one says.
CREATE OR REPLACE FUNCTION sys.one_percent_in_front(pattern text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN regexp_replace(pattern, '^%+', '%');
-- The text before the first match: with everything non-greedy the first group is as short as it can be.
CREATE OR REPLACE FUNCTION sys.before_match(value text, regex text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (regexp_match(value, '^(.*?)' || '(?:' || regex || ')'))[1];

-- PATINDEX: where the pattern first matches, 0 for nowhere. Without % in front
-- it can only be 1, without % behind it must reach the end.
CREATE OR REPLACE FUNCTION sys.patindex(pattern text, value text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_regex pg_catalog.text := sys.like_regex(sys.one_percent_in_front(pattern));
BEGIN
    IF pg_catalog.substr(pattern, 1, 1) OPERATOR(pg_catalog.<>) '%' THEN
        RETURN (value OPERATOR(pg_catalog.~) v_regex)::integer;
    ELSIF value OPERATOR(pg_catalog.=) '' THEN
        RETURN 0;
    END IF;
    RETURN coalesce(pg_catalog.length(sys.before_match(value, v_regex)) OPERATOR(pg_catalog.+) 1, 0);
END;
$$;
CREATE OR REPLACE FUNCTION sys.patindex(pattern text, value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.patindex(pattern, sys.convert_varchar(value))';

-- A string as collations with _AI compare it.
CREATE OR REPLACE FUNCTION sys.without_accents(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(normalize(value, NFD), '[\u0300-\u036F]', '', 'g');
