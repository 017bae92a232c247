-- XML Schema: is a text a value of a simple type?

-- White space as the whiteSpace facet says.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_collapse(p_value text, p_how text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_how = 'preserve' OR p_value !~ '[ \t\n\r]' THEN
        RETURN p_value;
    ELSIF p_how = 'replace' THEN
        RETURN translate(p_value, E'\t\n\r', '   ');
    END IF;
    RETURN btrim(regexp_replace(p_value, '[ \t\n\r]+', ' ', 'g'), ' ');
END;
$$;

-- A date or time as a point on one line, so that two can be compared; NULL where it is none. What
-- a value lacks (a gMonth its year) is taken from 1972-01-01, and no time zone counts as UTC.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_instant(p_primitive text, p_value text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_match text[];
    v_year bigint;
    v_month integer;
    v_day integer;
    v_hour integer;
    v_minute integer;
    v_second numeric;
    v_zone text;
    v_offset integer := 0;
    v_days bigint;
BEGIN
    v_match := regexp_match(p_value, CASE p_primitive
        WHEN 'dateTime' THEN '^(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)'
        WHEN 'date' THEN '^(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})()()()'
        WHEN 'time' THEN '^()()()([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)'
        WHEN 'gYearMonth' THEN '^(-?[0-9]{4,9})-([0-9]{2})()()()()'
        WHEN 'gYear' THEN '^(-?[0-9]{4,9})()()()()()'
        WHEN 'gMonthDay' THEN '^()--([0-9]{2})-([0-9]{2})()()()'
        WHEN 'gDay' THEN '^()()---([0-9]{2})()()()'
        ELSE '^()--([0-9]{2})()()()()' END || '(Z|[+-][0-9]{2}:[0-9]{2})?$');
    IF v_match IS NULL THEN
        RETURN NULL;
    END IF;
    v_year := coalesce(nullif(v_match[1], '')::bigint, 1972);
    v_month := coalesce(nullif(v_match[2], '')::integer, 1);
    v_day := coalesce(nullif(v_match[3], '')::integer, 1);
    v_hour := coalesce(nullif(v_match[4], '')::integer, 0);
    v_minute := coalesce(nullif(v_match[5], '')::integer, 0);
    v_second := coalesce(nullif(v_match[6], '')::numeric, 0);
    v_zone := v_match[7];
    IF v_month NOT BETWEEN 1 AND 12 OR v_day NOT BETWEEN 1 AND 31 OR v_minute > 59 OR v_second >= 60
       OR v_hour > 24 OR v_hour = 24 AND (v_minute > 0 OR v_second > 0)
       OR v_day = 31 AND v_month IN (4, 6, 9, 11) OR v_month = 2 AND v_day > 29
       OR v_month = 2 AND v_day = 29 AND NOT (v_year % 4 = 0 AND v_year % 100 <> 0 OR v_year % 400 = 0) THEN
        RETURN NULL;
    END IF;
    IF v_zone <> 'Z' THEN
        v_offset := substr(v_zone, 2, 2)::integer * 60 + substr(v_zone, 5, 2)::integer;
        IF v_offset > 14 * 60 OR substr(v_zone, 5, 2)::integer > 59 THEN
            RETURN NULL;
        END IF;
        v_offset := CASE left(v_zone, 1) WHEN '-' THEN -v_offset ELSE v_offset END;
    END IF;
    -- days from a March-based year, as calendars are commonly counted
    v_year := v_year - CASE WHEN v_month <= 2 THEN 1 ELSE 0 END;
    v_days := v_year * 365 + floor(v_year / 4.0)::bigint - floor(v_year / 100.0)::bigint + floor(v_year / 400.0)::bigint
              + (153 * ((v_month + 9) % 12) + 2) / 5 + v_day;
    RETURN v_days::numeric * 86400 + v_hour * 3600 + v_minute * 60 + v_second - v_offset * 60;
END;
$$;

-- A duration in seconds, a month counted as 30 days: enough to order what can be ordered.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_duration(p_value text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_match text[] := regexp_match(p_value,
        '^(-?)P(?=[0-9T])(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?$');
BEGIN
    IF v_match IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN CASE v_match[1] WHEN '-' THEN -1 ELSE 1 END * (
        coalesce(v_match[2]::numeric, 0) * 31104000 + coalesce(v_match[3]::numeric, 0) * 2592000
        + coalesce(v_match[4]::numeric, 0) * 86400 + coalesce(v_match[5]::numeric, 0) * 3600
        + coalesce(v_match[6]::numeric, 0) * 60 + coalesce(v_match[7]::numeric, 0));
END;
$$;

-- Sign of the difference of two values of one primitive type.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_order(p_primitive text, p_left text, p_right text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE
    WHEN p_primitive IN ('decimal', 'integer') THEN
        RETURN sign(p_left::numeric - p_right::numeric);
    WHEN p_primitive = 'double' THEN
        IF p_left LIKE '%INF' OR p_right LIKE '%INF' THEN
            RETURN CASE WHEN p_left = p_right THEN 0 WHEN p_left = 'INF' OR p_right = '-INF' THEN 1 ELSE -1 END;
        END IF;
        RETURN sign(ssb_internal.xq_double(p_left) - ssb_internal.xq_double(p_right));
    WHEN p_primitive = 'duration' THEN
        RETURN sign(ssb_internal.xsd_duration(p_left) - ssb_internal.xsd_duration(p_right));
    WHEN p_primitive IN ('dateTime', 'date', 'time', 'gYearMonth', 'gYear', 'gMonthDay', 'gDay', 'gMonth') THEN
        RETURN sign(ssb_internal.xsd_instant(p_primitive, p_left) - ssb_internal.xsd_instant(p_primitive, p_right));
    ELSE
        RETURN CASE WHEN p_left = p_right THEN 0 WHEN p_left COLLATE "C" < p_right THEN -1 ELSE 1 END;
    END CASE;
END;
$$;

-- Are two texts the same value of a type? ('1.0' and '1' of xs:decimal are.)
CREATE OR REPLACE FUNCTION ssb_internal.xsd_is_same(p_type jsonb, p_left text, p_right text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_primitive text := p_type ->> 'p';
    v_left text := ssb_internal.xsd_collapse(p_left, p_type ->> 'ws');
    v_right text := ssb_internal.xsd_collapse(p_right, p_type ->> 'ws');
BEGIN
    RETURN v_left = v_right
           OR v_primitive NOT IN ('list', 'union')
              AND ssb_internal.xsd_is_lexical(v_primitive, v_left) AND ssb_internal.xsd_is_lexical(v_primitive, v_right)
              AND CASE v_primitive
                  WHEN 'boolean' THEN v_left IN ('true', '1') = (v_right IN ('true', '1'))
                  WHEN 'hexBinary' THEN upper(v_left) = upper(v_right)
                  WHEN 'base64Binary' THEN replace(v_left, ' ', '') = replace(v_right, ' ', '')
                  ELSE ssb_internal.xsd_order(v_primitive, v_left, v_right) = 0 END;
END;
$$;

-- Does a text (white space already handled) belong to the lexical space of a primitive type?
CREATE OR REPLACE FUNCTION ssb_internal.xsd_is_lexical(p_primitive text, p_value text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE p_primitive
        WHEN 'string' THEN true
        WHEN 'integer' THEN length(p_value) < 400 AND p_value ~ '^[+-]?[0-9]+$'
        WHEN 'decimal' THEN length(p_value) < 400 AND p_value ~ '^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$'
        WHEN 'boolean' THEN p_value IN ('true', 'false', '1', '0')
        WHEN 'double' THEN p_value IN ('INF', '-INF')
                           OR length(p_value) < 400 AND p_value ~ '^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$'
                              AND ssb_internal.xq_double(p_value) IS NOT NULL
        WHEN 'duration' THEN ssb_internal.xsd_duration(p_value) IS NOT NULL
        WHEN 'hexBinary' THEN p_value ~ '^(?:[0-9A-Fa-f]{2})*$'
        WHEN 'base64Binary' THEN replace(p_value, ' ', '') ~ '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
        WHEN 'language' THEN p_value ~ '^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$'
        WHEN 'NMTOKEN' THEN p_value ~ '^[A-Za-z0-9_.:\u00B7-\U0010FFFF-]+$'
        WHEN 'Name' THEN p_value ~ '^[A-Za-z_:\u00C0-\U0010FFFF][A-Za-z0-9_.:\u00B7-\U0010FFFF-]*$'
        WHEN 'QName' THEN p_value ~ '^(?:[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*:)?[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$'
        WHEN 'NCName' THEN p_value ~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$'
        WHEN 'ID' THEN p_value ~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$'
        WHEN 'IDREF' THEN p_value ~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$'
        ELSE ssb_internal.xsd_instant(p_primitive, p_value) IS NOT NULL END;
END;
$$;

-- NULL for a value of the type, else the facet or kind at fault. p_types: the collection's types.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_value_fault(p_types jsonb, p_type jsonb, p_value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_primitive text := p_type ->> 'p';
    v_value text := ssb_internal.xsd_collapse(p_value, p_type ->> 'ws');
    v_length integer;
    v_item text;
    v_pattern text;
    v_patterns jsonb;
    v_fault text;
BEGIN
    IF v_primitive = 'list' THEN
        v_length := 0;
        IF v_value <> '' THEN
            FOREACH v_item IN ARRAY string_to_array(v_value, ' ') LOOP
                v_length := v_length + 1;
                v_fault := ssb_internal.xsd_value_fault(p_types, ssb_internal.xsd_type(p_types, p_type ->> 'list'), v_item);
                IF v_fault IS NOT NULL THEN
                    RETURN v_fault;
                END IF;
            END LOOP;
        END IF;
    ELSIF v_primitive = 'union' THEN
        v_fault := 'union';
        FOR v_item IN SELECT m FROM jsonb_array_elements_text(p_type -> 'union') AS m LOOP
            v_fault := ssb_internal.xsd_value_fault(p_types, ssb_internal.xsd_type(p_types, v_item), p_value);
            EXIT WHEN v_fault IS NULL;
        END LOOP;
        IF v_fault IS NOT NULL THEN
            RETURN v_fault;
        END IF;
    ELSE
        IF NOT ssb_internal.xsd_is_lexical(v_primitive, v_value) THEN
            RETURN v_primitive;
        END IF;
        IF p_type ?| ARRAY['length', 'minLength', 'maxLength'] THEN
            v_length := CASE v_primitive WHEN 'hexBinary' THEN length(v_value) / 2
                             WHEN 'base64Binary' THEN length(decode(replace(v_value, ' ', ''), 'base64'))
                             ELSE length(v_value) END;
        END IF;
    END IF;
    -- the common case: a built-in type without facets
    IF p_type - ARRAY['k', 'p', 'ws', 'b', 'list', 'union'] = '{}' THEN
        RETURN NULL;
    END IF;
    IF v_length <> (p_type ->> 'length')::integer THEN
        RETURN 'length';
    ELSIF v_length < (p_type ->> 'minLength')::integer THEN
        RETURN 'minLength';
    ELSIF v_length > (p_type ->> 'maxLength')::integer THEN
        RETURN 'maxLength';
    ELSIF p_type ? 'min' AND ssb_internal.xsd_order(v_primitive, v_value, p_type ->> 'min') < 0 THEN
        RETURN 'minInclusive';
    ELSIF p_type ? 'max' AND ssb_internal.xsd_order(v_primitive, v_value, p_type ->> 'max') > 0 THEN
        RETURN 'maxInclusive';
    ELSIF p_type ? 'above' AND ssb_internal.xsd_order(v_primitive, v_value, p_type ->> 'above') <= 0 THEN
        RETURN 'minExclusive';
    ELSIF p_type ? 'below' AND ssb_internal.xsd_order(v_primitive, v_value, p_type ->> 'below') >= 0 THEN
        RETURN 'maxExclusive';
    ELSIF p_type ? 'digits' AND length(replace(ltrim(trim_scale(abs(v_value::numeric))::text, '0'), '.', ''))
                                > (p_type ->> 'digits')::integer THEN
        RETURN 'totalDigits';
    ELSIF p_type ? 'fraction' AND scale(trim_scale(v_value::numeric)) > (p_type ->> 'fraction')::integer THEN
        RETURN 'fractionDigits';
    END IF;
    IF p_type ? 'patterns' THEN
        FOR v_patterns IN SELECT p FROM jsonb_array_elements(p_type -> 'patterns') AS p LOOP
            v_fault := 'pattern';
            FOR v_pattern IN SELECT p FROM jsonb_array_elements_text(v_patterns) AS p LOOP
                IF v_value ~ v_pattern THEN
                    v_fault := NULL;
                    EXIT;
                END IF;
            END LOOP;
            IF v_fault IS NOT NULL THEN
                RETURN v_fault;
            END IF;
        END LOOP;
    END IF;
    IF p_type ? 'enum' AND NOT p_type -> 'enum' ? v_value THEN
        FOR v_item IN SELECT e FROM jsonb_array_elements_text(p_type -> 'enum') AS e LOOP
            IF ssb_internal.xsd_is_same(p_type, v_value, v_item) THEN
                RETURN NULL;
            END IF;
        END LOOP;
        RETURN 'enumeration';
    END IF;
    RETURN NULL;
END;
$$;
