-- PARSE and TRY_PARSE: a string by a culture's habits. The decimal separator and
-- the order of day and month follow the culture; month names are English.
-- Error 9819 where the string is no such value.

-- What a culture does; NULL for one that is not known here. The names of months
-- and days are known for the languages en, de, fr, es, it, nl and pt.
CREATE OR REPLACE FUNCTION sys.culture(
    name text,
    OUT language text, OUT decimal_mark text, OUT group_mark text, OUT currency text, OUT currency_pattern text,
    OUT short_date text, OUT long_date text, OUT short_time text, OUT long_time text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT left(c.name, 2), c.decimal_mark, c.group_mark, c.currency, c.currency_pattern, c.short_date, c.long_date,
           c.short_time, replace(c.short_time, 'mm', 'mm:ss')
    FROM (VALUES
        ('en-us', '.', ',', '$', '$n|($n)', 'M/d/yyyy', 'dddd, MMMM d, yyyy', 'h:mm tt'),
        ('', '.', ',', '¤', '$n|($n)', 'MM/dd/yyyy', 'dddd, dd MMMM yyyy', 'HH:mm'),
        ('en-gb', '.', ',', '£', '$n|-$n', 'dd/MM/yyyy', 'dd MMMM yyyy', 'HH:mm'),
        ('en-ie', '.', ',', '€', '$n|-$n', 'dd/MM/yyyy', 'dddd d MMMM yyyy', 'HH:mm'),
        ('en-ca', '.', ',', '$', '$n|-$n', 'yyyy-MM-dd', 'MMMM d, yyyy', 'h:mm tt'),
        ('en-au', '.', ',', '$', '$n|-$n', 'd/MM/yyyy', 'dddd, d MMMM yyyy', 'h:mm tt'),
        ('en-nz', '.', ',', '$', '$n|-$n', 'd/MM/yyyy', 'dddd, d MMMM yyyy', 'h:mm tt'),
        ('en-in', '.', ',', '₹', '$ n|-$ n', 'dd-MM-yyyy', 'dd MMMM yyyy', 'HH:mm'),
        ('de-de', ',', '.', '€', 'n $|-n $', 'dd.MM.yyyy', 'dddd, d. MMMM yyyy', 'HH:mm'),
        ('de-at', ',', '.', '€', '$ n|-$ n', 'dd.MM.yyyy', 'dddd, d. MMMM yyyy', 'HH:mm'),
        ('de-ch', '.', '’', 'CHF', '$ n|$-n', 'dd.MM.yyyy', 'dddd, d. MMMM yyyy', 'HH:mm'),
        ('fr-fr', ',', U&'\00A0', '€', 'n $|-n $', 'dd/MM/yyyy', 'dddd d MMMM yyyy', 'HH:mm'),
        ('es-es', ',', '.', '€', 'n $|-n $', 'dd/MM/yyyy', 'dddd, d'' de ''MMMM'' de ''yyyy', 'H:mm'),
        ('it-it', ',', '.', '€', 'n $|-n $', 'dd/MM/yyyy', 'dddd d MMMM yyyy', 'HH:mm'),
        ('nl-nl', ',', '.', '€', '$ n|$ -n', 'd-M-yyyy', 'dddd d MMMM yyyy', 'HH:mm'),
        ('pt-br', ',', '.', 'R$', '$ n|-$ n', 'dd/MM/yyyy', 'dddd, d'' de ''MMMM'' de ''yyyy', 'HH:mm'),
        ('pt-pt', ',', U&'\00A0', '€', 'n $|-n $', 'dd/MM/yyyy', 'd'' de ''MMMM'' de ''yyyy', 'HH:mm'),
        ('sv-se', ',', U&'\00A0', 'kr', 'n $|-n $', 'yyyy-MM-dd', '''den ''d MMMM yyyy', 'HH:mm'),
        ('da-dk', ',', '.', 'kr.', 'n $|-n $', 'dd-MM-yyyy', 'd. MMMM yyyy', 'HH:mm'),
        ('nb-no', ',', U&'\00A0', 'kr', '$ n|$ -n', 'dd.MM.yyyy', 'dddd d. MMMM yyyy', 'HH:mm'),
        ('fi-fi', ',', U&'\00A0', '€', 'n $|-n $', 'd.M.yyyy', 'd. MMMM yyyy', 'H.mm'),
        ('pl-pl', ',', U&'\00A0', 'zł', 'n $|-n $', 'dd.MM.yyyy', 'd MMMM yyyy', 'HH:mm'),
        ('cs-cz', ',', U&'\00A0', 'Kč', 'n $|-n $', 'dd.MM.yyyy', 'dddd d. MMMM yyyy', 'H:mm'),
        ('ru-ru', ',', U&'\00A0', '₽', 'n $|-n $', 'dd.MM.yyyy', 'd MMMM yyyy', 'H:mm'),
        ('tr-tr', ',', '.', '₺', '$n|-$n', 'd.MM.yyyy', 'd MMMM yyyy dddd', 'HH:mm'),
        ('ja-jp', '.', ',', '¥', '$n|-$n', 'yyyy/MM/dd', 'yyyy年M月d日', 'H:mm'),
        ('zh-cn', '.', ',', '¥', '$n|$-n', 'yyyy/M/d', 'yyyy年M月d日', 'H:mm'),
        ('ko-kr', '.', ',', '₩', '$n|-$n', 'yyyy-MM-dd', 'yyyy년 M월 d일', 'tt h:mm')
    ) AS c (name, decimal_mark, group_mark, currency, currency_pattern, short_date, long_date, short_time)
    WHERE c.name = lower($1);
END;

-- The same, but error 9818 for an unknown culture.
CREATE OR REPLACE FUNCTION sys.known_culture(
    name text,
    OUT language text, OUT decimal_mark text, OUT group_mark text, OUT currency text, OUT currency_pattern text,
    OUT short_date text, OUT long_date text, OUT short_time text, OUT long_time text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT c.language, c.decimal_mark, c.group_mark, c.currency, c.currency_pattern, c.short_date, c.long_date, c.short_time,
           c.long_time
      INTO language, decimal_mark, group_mark, currency, currency_pattern, short_date, long_date, short_time, long_time
      FROM sys.culture(coalesce(name, 'en-US')) AS c;
    IF decimal_mark IS NULL THEN
        PERFORM ssb_internal.raise_error(9818, format(
            'The culture parameter ''%s'' provided in the function call is not supported.', name));
    END IF;
END;
$$;

-- The number in a string of that culture, NULL for none.
CREATE OR REPLACE FUNCTION sys.parse_number(value text, culture text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
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
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
    -- Day names in front say nothing new.
    v_text text := regexp_replace(value, '^\s*(mon|tues|wednes|thurs|fri|satur|sun)day\s*,?\s*', '', 'i');
    v_read record;
BEGIN
    v_read := sys.read_datetime(
        v_text, CASE lower(left(v_culture.short_date, 1) COLLATE "C") WHEN 'm' THEN 101 WHEN 'd' THEN 103 ELSE 111 END, true);
    RETURN CASE WHEN v_text <> '' AND v_read.problem IS NULL THEN v_read.moment END;
END;
$$;

-- STABLE: the planner must not call it ahead of time.
CREATE OR REPLACE FUNCTION sys.parse_failed(value text, type_name text, culture text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(9819, format(
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
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.parse_number(value, culture), 'money');
CREATE OR REPLACE FUNCTION sys.parse_money(value text, culture text DEFAULT 'en-US') RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_money(value, culture) IS NULL THEN sys.parse_failed(value, 'money', culture)::numeric
    ELSE sys.try_parse_money(value, culture)
END;
CREATE OR REPLACE FUNCTION sys.try_parse_smallmoney(value text, culture text DEFAULT 'en-US') RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.parse_number(value, culture), 'smallmoney');
CREATE OR REPLACE FUNCTION sys.parse_smallmoney(value text, culture text DEFAULT 'en-US') RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NOT NULL AND sys.try_parse_smallmoney(value, culture) IS NULL THEN sys.parse_failed(value, 'smallmoney', culture)::numeric
    ELSE sys.try_parse_smallmoney(value, culture)
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
