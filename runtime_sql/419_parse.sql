-- PARSE and TRY_PARSE: a string by a culture's habits. The decimal separator and
-- the order of day and month follow the culture; month names are English.
-- Error 9819 where the string is no such value.

-- What a culture does. NULL for one that is not known here.
--   decimal_mark, group_mark, date_order, date_mark, currency
CREATE OR REPLACE FUNCTION sys.culture(
    name text, OUT decimal_mark text, OUT group_mark text, OUT date_order text, OUT date_mark text, OUT currency text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT c.decimal_mark, c.group_mark, c.date_order, c.date_mark, c.currency
    FROM (VALUES
        ('en-us', '.', ',', 'mdy', '/', '$'), ('', '.', ',', 'mdy', '/', '¤'), ('iv', '.', ',', 'mdy', '/', '¤'),
        ('en-gb', '.', ',', 'dmy', '/', '£'), ('en-ca', '.', ',', 'ymd', '-', '$'), ('en-au', '.', ',', 'dmy', '/', '$'),
        ('en-nz', '.', ',', 'dmy', '/', '$'), ('en-ie', '.', ',', 'dmy', '/', '€'), ('en-in', '.', ',', 'dmy', '-', '₹'),
        ('de-de', ',', '.', 'dmy', '.', '€'), ('de-at', ',', '.', 'dmy', '.', '€'), ('de-ch', '.', '’', 'dmy', '.', 'CHF'),
        ('fr-fr', ',', ' ', 'dmy', '/', '€'), ('es-es', ',', '.', 'dmy', '/', '€'), ('it-it', ',', '.', 'dmy', '/', '€'),
        ('nl-nl', ',', '.', 'dmy', '-', '€'), ('pt-br', ',', '.', 'dmy', '/', 'R$'), ('pt-pt', ',', ' ', 'dmy', '/', '€'),
        ('sv-se', ',', ' ', 'ymd', '-', 'kr'), ('da-dk', ',', '.', 'dmy', '-', 'kr.'), ('nb-no', ',', ' ', 'dmy', '.', 'kr'),
        ('fi-fi', ',', ' ', 'dmy', '.', '€'), ('pl-pl', ',', ' ', 'dmy', '.', 'zł'), ('cs-cz', ',', ' ', 'dmy', '.', 'Kč'),
        ('ru-ru', ',', ' ', 'dmy', '.', '₽'), ('tr-tr', ',', '.', 'dmy', '.', '₺'), ('ja-jp', '.', ',', 'ymd', '/', '¥'),
        ('zh-cn', '.', ',', 'ymd', '/', '¥'), ('ko-kr', '.', ',', 'ymd', '-', '₩')
    ) AS c (name, decimal_mark, group_mark, date_order, date_mark, currency)
    WHERE c.name = lower($1)
$$;

CREATE OR REPLACE FUNCTION sys.known_culture(
    name text, OUT decimal_mark text, OUT group_mark text, OUT date_order text, OUT date_mark text, OUT currency text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    SELECT c.decimal_mark, c.group_mark, c.date_order, c.date_mark, c.currency
      INTO decimal_mark, group_mark, date_order, date_mark, currency
      FROM sys.culture(coalesce(name, 'en-US')) AS c;
    IF decimal_mark IS NULL THEN
        PERFORM ssb.raise_error(9818, format(
            'The culture parameter ''%s'' provided in the function call is not supported.', name));
    END IF;
END;
$$;

-- The number in a string of that culture, NULL for none.
CREATE OR REPLACE FUNCTION sys.parse_number(value text, culture text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
    v_text text := regexp_replace(value, '\s', '', 'g');
BEGIN
    v_text := replace(v_text, v_culture.currency, '');
    v_text := replace(replace(v_text, v_culture.group_mark, ''), v_culture.decimal_mark, '.');
    IF v_text ~ '^\(.*\)$' THEN
        v_text := '-' || substr(v_text, 2, length(v_text) - 2);
    ELSIF v_text ~ '-$' THEN
        v_text := '-' || left(v_text, -1);
    END IF;
    RETURN CASE WHEN v_text <> '' THEN sys.read_float(v_text) END;
END;
$$;

-- The moment in a string of that culture, NULL for none.
CREATE OR REPLACE FUNCTION sys.parse_moment(value text, culture text) RETURNS timestamp
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
    -- Day names in front say nothing new.
    v_text text := regexp_replace(value, '^\s*(mon|tues|wednes|thurs|fri|satur|sun)day\s*,?\s*', '', 'i');
    v_read record;
BEGIN
    v_read := sys.read_datetime(
        v_text, CASE v_culture.date_order WHEN 'mdy' THEN 101 WHEN 'dmy' THEN 103 ELSE 111 END, true);
    RETURN CASE WHEN v_text <> '' AND v_read.problem IS NULL THEN v_read.moment END;
END;
$$;

-- STABLE: the planner must not call it ahead of time.
CREATE OR REPLACE FUNCTION sys.parse_failed(value text, type_name text, culture text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    PERFORM ssb.raise_error(9819, format(
        'Error converting string value ''%s'' into data type %s using culture ''%s''.', value, type_name,
        coalesce(culture, '')));
    RETURN NULL;
END;
$$;

-- One pair of functions for each type.
CREATE OR REPLACE FUNCTION sys.try_parse_int(value text, culture text DEFAULT 'en-US') RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN sys.parse_number(value, culture) BETWEEN -2147483648 AND 2147483647
     AND sys.parse_number(value, culture) = trunc(sys.parse_number(value, culture))
    THEN sys.parse_number(value, culture)::integer
END;
CREATE OR REPLACE FUNCTION sys.parse_int(value text, culture text DEFAULT 'en-US') RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_int(value, culture) IS NULL THEN sys.parse_failed(value, 'int', culture)::integer
    ELSE sys.try_parse_int(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_bigint(value text, culture text DEFAULT 'en-US') RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN sys.parse_number(value, culture) BETWEEN -9223372036854775808 AND 9223372036854775807
     AND sys.parse_number(value, culture) = trunc(sys.parse_number(value, culture))
    THEN sys.parse_number(value, culture)::bigint
END;
CREATE OR REPLACE FUNCTION sys.parse_bigint(value text, culture text DEFAULT 'en-US') RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_bigint(value, culture) IS NULL THEN sys.parse_failed(value, 'bigint', culture)::bigint
    ELSE sys.try_parse_bigint(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_smallint(value text, culture text DEFAULT 'en-US') RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN sys.parse_number(value, culture) BETWEEN -32768 AND 32767
     AND sys.parse_number(value, culture) = trunc(sys.parse_number(value, culture))
    THEN sys.parse_number(value, culture)::smallint
END;
CREATE OR REPLACE FUNCTION sys.parse_smallint(value text, culture text DEFAULT 'en-US') RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_smallint(value, culture) IS NULL THEN sys.parse_failed(value, 'smallint', culture)::smallint
    ELSE sys.try_parse_smallint(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_tinyint(value text, culture text DEFAULT 'en-US') RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN sys.parse_number(value, culture) BETWEEN 0 AND 255
     AND sys.parse_number(value, culture) = trunc(sys.parse_number(value, culture))
    THEN sys.parse_number(value, culture)::smallint
END;
CREATE OR REPLACE FUNCTION sys.parse_tinyint(value text, culture text DEFAULT 'en-US') RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_tinyint(value, culture) IS NULL THEN sys.parse_failed(value, 'tinyint', culture)::smallint
    ELSE sys.try_parse_tinyint(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_decimal(value text, culture text DEFAULT 'en-US', "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(sys.parse_number(value, culture), "precision", scale);
CREATE OR REPLACE FUNCTION sys.parse_decimal(value text, culture text DEFAULT 'en-US', "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_decimal(value, culture, "precision", scale) IS NULL THEN sys.parse_failed(value, 'decimal', culture)::numeric
    ELSE sys.try_parse_decimal(value, culture, "precision", scale)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_money(value text, culture text DEFAULT 'en-US') RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(sys.parse_number(value, culture), 19, 4);
CREATE OR REPLACE FUNCTION sys.parse_money(value text, culture text DEFAULT 'en-US') RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_money(value, culture) IS NULL THEN sys.parse_failed(value, 'money', culture)::numeric
    ELSE sys.try_parse_money(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_float(value text, culture text DEFAULT 'en-US') RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.parse_number(value, culture)::double precision;
CREATE OR REPLACE FUNCTION sys.parse_float(value text, culture text DEFAULT 'en-US') RETURNS double precision
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_float(value, culture) IS NULL THEN sys.parse_failed(value, 'float', culture)::double precision
    ELSE sys.try_parse_float(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_real(value text, culture text DEFAULT 'en-US') RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.parse_number(value, culture)::real;
CREATE OR REPLACE FUNCTION sys.parse_real(value text, culture text DEFAULT 'en-US') RETURNS real
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_real(value, culture) IS NULL THEN sys.parse_failed(value, 'real', culture)::real
    ELSE sys.try_parse_real(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_datetime(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_datetime(sys.parse_moment(value, culture)), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.parse_datetime(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_datetime(value, culture) IS NULL THEN sys.parse_failed(value, 'datetime', culture)::timestamp
    ELSE sys.try_parse_datetime(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_smalldatetime(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_smalldatetime(sys.parse_moment(value, culture)), 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.parse_smalldatetime(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_smalldatetime(value, culture) IS NULL THEN sys.parse_failed(value, 'smalldatetime', culture)::timestamp
    ELSE sys.try_parse_smalldatetime(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_datetime2(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.parse_moment(value, culture);
CREATE OR REPLACE FUNCTION sys.parse_datetime2(value text, culture text DEFAULT 'en-US') RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_datetime2(value, culture) IS NULL THEN sys.parse_failed(value, 'datetime2', culture)::timestamp
    ELSE sys.try_parse_datetime2(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_date(value text, culture text DEFAULT 'en-US') RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.parse_moment(value, culture)::date;
CREATE OR REPLACE FUNCTION sys.parse_date(value text, culture text DEFAULT 'en-US') RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_date(value, culture) IS NULL THEN sys.parse_failed(value, 'date', culture)::date
    ELSE sys.try_parse_date(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_time(value text, culture text DEFAULT 'en-US') RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.parse_moment(value, culture)::time;
CREATE OR REPLACE FUNCTION sys.parse_time(value text, culture text DEFAULT 'en-US') RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_time(value, culture) IS NULL THEN sys.parse_failed(value, 'time', culture)::time
    ELSE sys.try_parse_time(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_datetimeoffset(value text, culture text DEFAULT 'en-US') RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN sys.parse_moment(value, culture) IS NOT NULL THEN sys.try_convert_datetimeoffset(value) END;
CREATE OR REPLACE FUNCTION sys.parse_datetimeoffset(value text, culture text DEFAULT 'en-US') RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_datetimeoffset(value, culture) IS NULL THEN sys.parse_failed(value, 'datetimeoffset', culture)::timestamptz
    ELSE sys.try_parse_datetimeoffset(value, culture)
END;
