-- Dates and times as strings, by the styles of CONVERT.
-- Every to_char pattern here is independent of the locale, hence IMMUTABLE.

-- These parts are STABLE because to_char is: so they are planned as a part of sys.datetime_text, which calls them.
CREATE OR REPLACE FUNCTION sys.fraction_text(value timestamp, scale integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(to_char(value, 'US') || '0', coalesce(scale, 3));
-- The date in a style, NULL in a style that has none.
CREATE OR REPLACE FUNCTION sys.date_in_style(value timestamp, style integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN style IN (0, 100, 9, 109) THEN
        to_char(value, 'Mon ') || lpad(to_char(value, 'FMDD'), 2) || to_char(value, ' YYYY')
    WHEN style IN (1, 22) THEN to_char(value, 'MM/DD/YY')
    WHEN style = 101 THEN to_char(value, 'MM/DD/YYYY')
    WHEN style = 2 THEN to_char(value, 'YY.MM.DD')
    WHEN style = 102 THEN to_char(value, 'YYYY.MM.DD')
    WHEN style = 3 THEN to_char(value, 'DD/MM/YY')
    WHEN style = 103 THEN to_char(value, 'DD/MM/YYYY')
    WHEN style = 4 THEN to_char(value, 'DD.MM.YY')
    WHEN style = 104 THEN to_char(value, 'DD.MM.YYYY')
    WHEN style = 5 THEN to_char(value, 'DD-MM-YY')
    WHEN style = 105 THEN to_char(value, 'DD-MM-YYYY')
    WHEN style = 6 THEN to_char(value, 'DD Mon YY')
    WHEN style IN (106, 13, 113) THEN to_char(value, 'DD Mon YYYY')
    WHEN style = 7 THEN to_char(value, 'Mon DD, YY')
    WHEN style = 107 THEN to_char(value, 'Mon DD, YYYY')
    WHEN style = 10 THEN to_char(value, 'MM-DD-YY')
    WHEN style = 110 THEN to_char(value, 'MM-DD-YYYY')
    WHEN style = 11 THEN to_char(value, 'YY/MM/DD')
    WHEN style = 111 THEN to_char(value, 'YYYY/MM/DD')
    WHEN style = 12 THEN to_char(value, 'YYMMDD')
    WHEN style = 112 THEN to_char(value, 'YYYYMMDD')
    WHEN style IN (20, 120, 21, 25, 121, 23, 126, 127) THEN to_char(value, 'YYYY-MM-DD')
END;
-- The time in a style, NULL in a style that has none.
CREATE OR REPLACE FUNCTION sys.clock_in_style(value timestamp, style integer, scale integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN style IN (0, 100) THEN lpad(to_char(value, 'FMHH12'), 2) || to_char(value, ':MIAM')
    WHEN style IN (9, 109) THEN
        lpad(to_char(value, 'FMHH12'), 2) || to_char(value, ':MI:SS')
        || CASE WHEN scale IS NULL THEN ':' WHEN scale > 0 THEN '.' ELSE '' END || sys.fraction_text(value, scale)
        || to_char(value, 'AM')
    WHEN style IN (8, 24, 108, 20, 120) THEN to_char(value, 'HH24:MI:SS')
    WHEN style IN (13, 113, 14, 114) THEN
        to_char(value, 'HH24:MI:SS')
        || CASE WHEN scale IS NULL THEN ':' WHEN scale > 0 THEN '.' ELSE '' END || sys.fraction_text(value, scale)
    WHEN style IN (21, 25, 121) THEN
        to_char(value, 'HH24:MI:SS') || CASE WHEN scale = 0 THEN '' ELSE '.' END || sys.fraction_text(value, scale)
    WHEN style = 22 THEN lpad(to_char(value, 'FMHH12'), 2) || to_char(value, ':MI:SS AM')
    WHEN style IN (126, 127) THEN
        to_char(value, 'HH24:MI:SS') || CASE WHEN sys.fraction_text(value, scale) ~ '[1-9]' THEN '.' || sys.fraction_text(value, scale) ELSE '' END
END;
CREATE OR REPLACE FUNCTION sys.date_and_clock(day text, clock text, style integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN day IS NULL THEN clock
    WHEN clock IS NULL THEN day
    ELSE day || CASE WHEN style IN (126, 127) THEN 'T' ELSE ' ' END || clock
END;

-- The text of a moment in a style.
--   scale     digits after the second; NULL for a datetime: three, and set off
--             by a colon where the style's clock is 'hh:mi:ss:mmm'
--   has_date, has_time   what the T-SQL type holds (date: no time, time: no date)
-- The Hijri styles 130 and 131 are refused (error 281).
CREATE OR REPLACE FUNCTION sys.datetime_text(
    value timestamp, style integer, scale integer, has_date boolean, has_time boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_date pg_catalog.text;
    v_clock pg_catalog.text;
BEGIN
    IF value IS NULL OR style IS NULL THEN
        RETURN NULL;
    END IF;
    IF has_date THEN
        v_date := sys.date_in_style(value, style);
    END IF;
    IF has_time THEN
        v_clock := sys.clock_in_style(value, style, scale);
    END IF;
    IF v_date IS NULL AND v_clock IS NULL THEN
        PERFORM ssb_internal.raise_error(281, pg_catalog.format(
            '%s is not a valid style number when converting from %s to a character string.', style,
            CASE WHEN NOT has_date THEN 'time' WHEN NOT has_time THEN 'date' ELSE 'datetime' END));
    END IF;
    RETURN sys.date_and_clock(v_date, v_clock, style);
END;
$$;

-- A timestamp is taken for a datetime, unless it holds more than milliseconds:
-- then it can only be a datetime2.
CREATE OR REPLACE FUNCTION sys.datetime_text(value timestamp, style integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.datetime_text(
    value, style, CASE WHEN date_part('microseconds', value)::bigint % 1000 <> 0 THEN 7 END, true, true);

-- ±hh:mm for minutes east of UTC.
CREATE OR REPLACE FUNCTION sys.offset_text(minutes integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN minutes < 0 THEN '-' ELSE '+' END
    || lpad((abs(minutes) / 60)::text, 2, '0') || ':' || lpad((abs(minutes) % 60)::text, 2, '0');

-- The wall clock of the session's time zone and its offset; style 127 is UTC and Z.
CREATE OR REPLACE FUNCTION sys.datetimeoffset_text(value timestamptz, style integer, scale integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN style = 127 THEN sys.datetime_text(value AT TIME ZONE 'UTC', 127, scale, true, true) || 'Z'
    ELSE sys.datetime_text(value::timestamp, style, scale, true, true)
        || CASE WHEN style = 126 THEN '' ELSE ' ' END
        || sys.offset_text((date_part('timezone', value) / 60)::integer)
END;

-- CONVERT(varchar, a datetimeoffset(scale) that is a moment here, style), where its wall clock is known.
CREATE OR REPLACE FUNCTION sys.clock_to_varchar(
    value timestamptz, clock timestamp, scale integer DEFAULT 7, length integer DEFAULT NULL, style integer DEFAULT 121)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(CASE
    WHEN style = 127 THEN sys.datetimeoffset_text(value, style, scale)
    ELSE sys.datetime_text(clock, style, scale, true, true)
        || CASE WHEN style = 126 THEN '' ELSE ' ' END
        || sys.offset_text((extract(epoch FROM clock - value AT TIME ZONE 'UTC') / 60)::integer)
END, coalesce(length, 8000));

-- CONVERT(varchar, time(scale), style).
CREATE OR REPLACE FUNCTION sys.time_to_varchar(
    value time, scale integer DEFAULT 7, length integer DEFAULT NULL, style integer DEFAULT 121)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(timestamp '1900-01-01' + value, style, scale, false, true), coalesce(length, 8000));

-- CONVERT(varchar, datetime2(scale), style).
CREATE OR REPLACE FUNCTION sys.datetime2_to_varchar(
    value timestamp, scale integer DEFAULT 7, length integer DEFAULT NULL, style integer DEFAULT 121)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(value, style, scale, true, true), coalesce(length, 8000));

-- CONVERT(varchar, datetimeoffset(scale), style).
CREATE OR REPLACE FUNCTION sys.datetimeoffset_to_varchar(
    value timestamptz, scale integer DEFAULT 7, length integer DEFAULT NULL, style integer DEFAULT 121)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(sys.datetimeoffset_text(value, style, scale), coalesce(length, 8000));
