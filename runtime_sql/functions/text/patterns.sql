-- LIKE and PATINDEX with T-SQL's patterns: % _ [set] [^set] [a-z], ESCAPE.
-- PostgreSQL's LIKE knows no sets, so such patterns become regular expressions.
-- A range goes by character code; the comparison is case-sensitive, as = is here.

-- The body of a regular expression for a pattern: neither anchored, nor are
-- leading and trailing % left out. An unclosed [ matches nothing.
CREATE OR REPLACE FUNCTION sys.pattern_body(pattern text, escape text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
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

-- The regular expression that matches what LIKE would: anchored where the
-- pattern has no % at that end, so that a fixed beginning can use an index.
CREATE OR REPLACE FUNCTION sys.like_regex(pattern text, escape text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_body text := sys.pattern_body(pattern, escape);
    -- An escaped % stands for itself; one after an escaped escape character is
    -- taken for escaped too, which only leaves a harmless .* in place.
    v_last_is_percent boolean := right(pattern, 1) = '%' AND escape IS DISTINCT FROM '%'
        AND (escape IS NULL OR left(right(pattern, 2), 1) <> escape);
BEGIN
    IF pattern IS NULL THEN
        RETURN NULL;
    ELSIF length(escape) <> 1 THEN
        PERFORM ssb.raise_error(506, format(
            'The invalid escape character "%s" was specified in a LIKE predicate.', escape));
    END IF;
    IF v_last_is_percent THEN
        v_body := left(v_body, -2);
    ELSE
        v_body := v_body || '$';
    END IF;
    RETURN CASE WHEN left(pattern, 1) <> '%' OR escape = '%' THEN '^' || v_body
                WHEN pattern = '%' THEN ''
                ELSE substr(v_body, 3) END;
END;
$$;

CREATE OR REPLACE FUNCTION sys.like(value text, pattern text, escape text DEFAULT NULL) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value ~ sys.like_regex(pattern, escape);
CREATE OR REPLACE FUNCTION sys.like(value anyelement, pattern text, escape text DEFAULT NULL) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.convert_varchar(value) ~ sys.like_regex(pattern, escape)';

-- PATINDEX: where the pattern first matches, 0 for nowhere. Without % in front
-- it can only be 1, without % behind it must reach the end.
CREATE OR REPLACE FUNCTION sys.patindex(pattern text, value text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    -- Several % in front say what one says.
    v_regex text := sys.like_regex(regexp_replace(pattern, '^%+', '%'));
    v_before text;
BEGIN
    IF left(pattern, 1) <> '%' THEN
        RETURN (value ~ v_regex)::integer;
    ELSIF value = '' THEN
        RETURN 0;
    END IF;
    -- The text before the first match: with everything non-greedy the first
    -- group is as short as it can be.
    v_before := (regexp_match(value, '^(.*?)' || '(?:' || v_regex || ')'))[1];
    RETURN CASE WHEN v_before IS NULL THEN 0 ELSE length(v_before) + 1 END;
END;
$$;
CREATE OR REPLACE FUNCTION sys.patindex(pattern text, value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.patindex(pattern, sys.convert_varchar(value))';

-- A string as collations with _AI compare it.
CREATE OR REPLACE FUNCTION sys.without_accents(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(normalize(value, NFD), '[\u0300-\u036F]', '', 'g');
