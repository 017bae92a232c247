-- DATEADD, DATEDIFF, DATEPART, DATENAME, DATETRUNC, DATE_BUCKET, EOMONTH.
--
-- The date part is a literal in compiled code, so after inlining only one
-- branch of each CASE is left: DATEDIFF(day, a, b) plans as b::date - a::date.
-- Abbreviations and unknown names take the last branch, at run time.

-- The full name of a date part, of its abbreviation too; NULL for what is none.
CREATE OR REPLACE FUNCTION sys.full_date_part(part text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN lower(part COLLATE "C") IN ('year', 'yy', 'yyyy') THEN 'year'
    WHEN lower(part COLLATE "C") IN ('quarter', 'qq', 'q') THEN 'quarter'
    WHEN lower(part COLLATE "C") IN ('month', 'mm', 'm') THEN 'month'
    WHEN lower(part COLLATE "C") IN ('dayofyear', 'dy', 'y') THEN 'dayofyear'
    WHEN lower(part COLLATE "C") IN ('day', 'dd', 'd') THEN 'day'
    WHEN lower(part COLLATE "C") IN ('week', 'wk', 'ww') THEN 'week'
    WHEN lower(part COLLATE "C") IN ('weekday', 'dw', 'w') THEN 'weekday'
    WHEN lower(part COLLATE "C") IN ('hour', 'hh') THEN 'hour'
    WHEN lower(part COLLATE "C") IN ('minute', 'mi', 'n') THEN 'minute'
    WHEN lower(part COLLATE "C") IN ('second', 'ss', 's') THEN 'second'
    WHEN lower(part COLLATE "C") IN ('millisecond', 'ms') THEN 'millisecond'
    WHEN lower(part COLLATE "C") IN ('microsecond', 'mcs') THEN 'microsecond'
    WHEN lower(part COLLATE "C") IN ('nanosecond', 'ns') THEN 'nanosecond'
    WHEN lower(part COLLATE "C") IN ('tzoffset', 'tz') THEN 'tzoffset'
    WHEN lower(part COLLATE "C") IN ('iso_week', 'isowk', 'isoww') THEN 'iso_week'
END;

-- The full name of a date part; error 155 for what is none.
CREATE OR REPLACE FUNCTION sys.date_part_name(part text, function_name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_name pg_catalog.text := sys.full_date_part(part);
BEGIN
    -- A full name that got here is one that this function has no branch for.
    IF v_name IS NULL OR v_name OPERATOR(pg_catalog.=) part THEN
        PERFORM ssb_internal.raise_error(155, pg_catalog.format('''%s'' is not a recognized %s option.', part, function_name), 15);
    END IF;
    RETURN v_name;
END;
$$;

-- The moment that a value stands for: a time is on 1900-01-01, a number counts
-- days from there, a datetimeoffset is taken in UTC.
CREATE OR REPLACE FUNCTION sys.moment_of(value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.moment_of(value date) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::timestamp;
CREATE OR REPLACE FUNCTION sys.moment_of(value timestamptz) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.moment_of(value time) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN timestamp '1900-01-01' + value;
CREATE OR REPLACE FUNCTION sys.moment_of(value integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN timestamp '1900-01-01' + value * interval '1 day';
CREATE OR REPLACE FUNCTION sys.moment_of(value double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(sys.datetime_of_number(value));
CREATE OR REPLACE FUNCTION sys.moment_of(value text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'datetime2', 0, false);

-- DATEADD. A month that is too short gives its last day, as PostgreSQL does.
-- Nanoseconds count in steps of a microsecond here, the finest a timestamp has.
CREATE OR REPLACE FUNCTION sys.dateadd_other(part text, number integer, value timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    -- A variable: so the planner puts sys.dateadd in this place.
    v_part pg_catalog.text := sys.date_part_name(part, 'dateadd');
BEGIN
    RETURN sys.dateadd(v_part, number, value);
END;
$$;
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part
    WHEN 'day' THEN value + number * interval '1 day'
    WHEN 'hour' THEN value + number * interval '1 hour'
    WHEN 'minute' THEN value + number * interval '1 minute'
    WHEN 'second' THEN value + number * interval '1 second'
    WHEN 'millisecond' THEN value + number * interval '1 millisecond'
    WHEN 'month' THEN value + number * interval '1 month'
    WHEN 'year' THEN value + number * interval '1 year'
    WHEN 'week' THEN value + number * interval '7 days'
    WHEN 'quarter' THEN value + number * interval '3 months'
    WHEN 'dayofyear' THEN value + number * interval '1 day'
    WHEN 'weekday' THEN value + number * interval '1 day'
    WHEN 'microsecond' THEN value + number * interval '1 microsecond'
    WHEN 'nanosecond' THEN value + round(number / 1000.0) * interval '1 microsecond'
    ELSE sys.dateadd_other(part, number, value)
END;
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value date) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part WHEN 'day' THEN value + number ELSE sys.dateadd(part, number, value::timestamp)::date END;
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value time) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.dateadd(part, number, timestamp '1900-01-01' + value)::time;
-- By the wall clock of the session's time zone, as SQL Server goes by that of the offset.
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('hour', 'minute', 'second', 'millisecond', 'microsecond', 'nanosecond')
        THEN sys.dateadd(part, number, value AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    ELSE sys.dateadd(part, number, value::timestamp)::timestamptz
END;
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.dateadd(part, number, sys.convert_datetime(value));
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, number, sys.moment_of(value));
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number integer, value double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, number, sys.moment_of(value));
-- A number with decimals is cut; beyond the range of int it is error 8115.
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value date) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value time) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);
CREATE OR REPLACE FUNCTION sys.dateadd(part text, number double precision, value double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.dateadd(part, trunc(number)::integer, value);

-- What DATEADD and EOMONTH give, if the type can hold it; otherwise error 517.
CREATE OR REPLACE FUNCTION sys.is_date_within(value timestamp, type_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value >= CASE type_name WHEN 'datetime' THEN timestamp '1753-01-01' WHEN 'smalldatetime' THEN timestamp '1900-01-01'
                               ELSE timestamp '0001-01-01' END
       AND value < CASE type_name WHEN 'smalldatetime' THEN timestamp '2079-06-07' ELSE timestamp '10000-01-01' END;
CREATE OR REPLACE FUNCTION sys.is_date_within(value date, type_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value BETWEEN date '0001-01-01' AND date '9999-12-31';
CREATE OR REPLACE FUNCTION sys.is_date_within(value timestamptz, type_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value >= timestamptz '0001-01-01 00:00:00+00' AND value < timestamptz '10000-01-01 00:00:00+00';
CREATE OR REPLACE FUNCTION sys.dateadd_within(value anyelement, type_name text) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF NOT sys.is_date_within(value, type_name) THEN
        PERFORM ssb_internal.raise_error(
            517, pg_catalog.format('Adding a value to a ''%s'' column caused an overflow.', type_name));
    END IF;
    RETURN value;
END;
$$;

-- DATEDIFF counts the boundaries between the two moments, not full units. Weeks
-- begin on Sunday whatever DATEFIRST says.
CREATE OR REPLACE FUNCTION sys.datediff_other(part text, a timestamp, b timestamp) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    -- A variable: so the planner puts sys.datediff_big in this place.
    v_part pg_catalog.text := sys.date_part_name(part, 'datediff');
BEGIN
    RETURN sys.datediff_big(v_part, a, b);
END;
$$;
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a timestamp, b timestamp) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part
    WHEN 'day' THEN b::date - a::date
    WHEN 'hour' THEN (date_part('epoch', date_trunc('hour', b) - date_trunc('hour', a)) / 3600)::bigint
    WHEN 'minute' THEN (date_part('epoch', date_trunc('minute', b) - date_trunc('minute', a)) / 60)::bigint
    WHEN 'second' THEN date_part('epoch', date_trunc('second', b) - date_trunc('second', a))::bigint
    WHEN 'millisecond' THEN
        (extract(epoch FROM date_trunc('milliseconds', b) - date_trunc('milliseconds', a)) * 1000)::bigint
    WHEN 'month' THEN
        ((date_part('year', b) - date_part('year', a)) * 12 + date_part('month', b) - date_part('month', a))::bigint
    WHEN 'year' THEN (date_part('year', b) - date_part('year', a))::bigint
    WHEN 'quarter' THEN
        ((date_part('year', b) - date_part('year', a)) * 4 + date_part('quarter', b) - date_part('quarter', a))::bigint
    -- That day was a Sunday.
    WHEN 'week' THEN (b::date - date '0001-12-31 BC') / 7 - (a::date - date '0001-12-31 BC') / 7
    WHEN 'dayofyear' THEN b::date - a::date
    WHEN 'weekday' THEN b::date - a::date
    WHEN 'microsecond' THEN (extract(epoch FROM b - a) * 1000000)::bigint
    WHEN 'nanosecond' THEN (extract(epoch FROM b - a) * 1000000000)::bigint
    ELSE sys.datediff_other(part, a, b)
END;
CREATE OR REPLACE FUNCTION sys.is_int(value bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value BETWEEN -2147483648 AND 2147483647;
CREATE OR REPLACE FUNCTION sys.datediff_int(value bigint) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF NOT sys.is_int(value) THEN
        PERFORM ssb_internal.raise_error(535, 'The datediff function resulted in an overflow. The number of dateparts separating '
            'two date/time instances is too large. Try to use datediff with a less precise datepart.', 16, 0);
    END IF;
    RETURN value;
END;
$$;
-- Only units below a day can overflow an int.
CREATE OR REPLACE FUNCTION sys.datediff(part text, a timestamp, b timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('day', 'month', 'year', 'quarter', 'week', 'hour') THEN sys.datediff_big(part, a, b)::integer
    ELSE sys.datediff_int(sys.datediff_big(part, a, b))
END;
CREATE OR REPLACE FUNCTION sys.datediff(part text, a date, b date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datediff(part, a::timestamp, b::timestamp);
CREATE OR REPLACE FUNCTION sys.datediff(part text, a text, b timestamp) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff(part, sys.moment_of(a), b);
CREATE OR REPLACE FUNCTION sys.datediff(part text, a timestamp, b text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff(part, a, sys.moment_of(b));
CREATE OR REPLACE FUNCTION sys.datediff(part text, a text, b text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff(part, sys.moment_of(a), sys.moment_of(b));
CREATE OR REPLACE FUNCTION sys.datediff(part text, a anyelement, b anycompatible) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT sys.datediff(part, sys.moment_of(a), sys.moment_of(b))';
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a date, b date) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datediff_big(part, a::timestamp, b::timestamp);
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a text, b timestamp) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff_big(part, sys.moment_of(a), b);
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a timestamp, b text) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff_big(part, a, sys.moment_of(b));
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a text, b text) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datediff_big(part, sys.moment_of(a), sys.moment_of(b));
CREATE OR REPLACE FUNCTION sys.datediff_big(part text, a anyelement, b anycompatible) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT sys.datediff_big(part, sys.moment_of(a), sys.moment_of(b))';

-- SET DATEFIRST and SET LANGUAGE leave these settings.
CREATE OR REPLACE FUNCTION sys.datefirst() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('pgsb.datefirst', true), ''), '7')::integer;
CREATE OR REPLACE FUNCTION sys.language() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('pgsb.language', true), ''), 'us_english');
CREATE OR REPLACE FUNCTION sys.langid() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN sys.language() = 'us_english' THEN 0 ELSE 1 END;

-- SET DATEFIRST, SET DATEFORMAT, SET LANGUAGE (of which the two that it sets; names of months stay English). Plans are made
-- anew: DATEPART of a constant is folded in them.
CREATE OR REPLACE FUNCTION sys.set_date_option(option text, value text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_value text := lower(value);
    v_name text;
    v_first text := CASE option WHEN 'DATEFIRST' THEN v_value END;
    v_order text := CASE option WHEN 'DATEFORMAT' THEN v_value END;
BEGIN
    IF option = 'DATEFIRST' AND v_value !~ '^[1-7]$' THEN
        PERFORM ssb_internal.raise_error(2742, format('SET DATEFIRST %s is out of range.', value));
    ELSIF option = 'DATEFORMAT' AND v_value NOT IN ('mdy', 'dmy', 'ymd', 'ydm', 'myd', 'dym') THEN
        PERFORM ssb_internal.raise_error(2741, format('SET DATEFORMAT date order ''%s'' is invalid.', value));
    ELSIF option = 'LANGUAGE' THEN
        SELECT l.name, l.first, l.ordering INTO v_name, v_first, v_order
          FROM (VALUES ('us_english', 'English', '7', 'mdy'), ('British', 'British English', '1', 'dmy'),
                       ('Deutsch', 'German', '1', 'dmy'), ('Français', 'French', '1', 'dmy'), ('Italiano', 'Italian', '1', 'dmy'),
                       ('Español', 'Spanish', '1', 'dmy'), ('Nederlands', 'Dutch', '1', 'dmy'), ('Dansk', 'Danish', '1', 'dmy'),
                       ('Norsk', 'Norwegian', '1', 'dmy'), ('Svenska', 'Swedish', '1', 'ymd'), ('日本語', 'Japanese', '7', 'ymd'))
               AS l (name, alias, first, ordering)
         WHERE v_value IN (lower(l.name), lower(l.alias));
        PERFORM set_config('pgsb.language', coalesce(v_name, value), false);
        IF v_name IS NOT NULL THEN
            PERFORM ssb_internal.print(format('Changed language setting to %s.', v_name));   -- 5703
        END IF;
    END IF;
    IF v_first IS NOT NULL THEN
        PERFORM set_config('pgsb.datefirst', v_first, false);
        EXECUTE 'DISCARD PLANS';
    END IF;
    IF v_order IS NOT NULL THEN
        PERFORM set_config('pgsb.dateformat', v_order, false);
    END IF;
END;
$$;

-- The same where first is what DATEFIRST says.
CREATE OR REPLACE FUNCTION sys.weekday_from(value timestamp, first integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (date_part('isodow', value)::integer - first + 7) % 7 + 1;
CREATE OR REPLACE FUNCTION sys.week_from(value timestamp, first integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (date_part('doy', value)::integer + sys.weekday_from(date_trunc('year', value), first) - 2) / 7 + 1;

-- The day of the week counted from DATEFIRST, 1 to 7, and the week of the year
-- whose first begins on January 1. Declared IMMUTABLE although SET DATEFIRST
-- moves them: so that DATEPART can be, in computed columns and constant folding.
CREATE OR REPLACE FUNCTION sys.weekday_number(value timestamp) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN sys.weekday_from(value, sys.datefirst());
END;
$$;
CREATE OR REPLACE FUNCTION sys.week_number(value timestamp) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN sys.week_from(value, sys.datefirst());
END;
$$;

-- DATEPART
CREATE OR REPLACE FUNCTION sys.datepart_other(part text, value timestamp) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    -- A variable: so the planner puts sys.datepart in this place.
    v_part pg_catalog.text := sys.date_part_name(part, 'datepart');
BEGIN
    RETURN sys.datepart(v_part, value);
END;
$$;
CREATE OR REPLACE FUNCTION sys.datepart(part text, value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part
    WHEN 'year' THEN date_part('year', value)::integer
    WHEN 'quarter' THEN date_part('quarter', value)::integer
    WHEN 'month' THEN date_part('month', value)::integer
    WHEN 'dayofyear' THEN date_part('doy', value)::integer
    WHEN 'day' THEN date_part('day', value)::integer
    WHEN 'week' THEN sys.week_number(value)
    WHEN 'weekday' THEN sys.weekday_number(value)
    WHEN 'hour' THEN date_part('hour', value)::integer
    WHEN 'minute' THEN date_part('minute', value)::integer
    WHEN 'second' THEN floor(date_part('second', value))::integer
    WHEN 'millisecond' THEN date_part('microseconds', value)::bigint % 1000000 / 1000
    WHEN 'microsecond' THEN date_part('microseconds', value)::bigint % 1000000
    WHEN 'nanosecond' THEN date_part('microseconds', value)::bigint % 1000000 * 1000
    WHEN 'tzoffset' THEN CASE WHEN value IS NOT NULL THEN 0 END
    WHEN 'iso_week' THEN date_part('week', value)::integer
    ELSE sys.datepart_other(part, value)
END;
CREATE OR REPLACE FUNCTION sys.datepart(part text, value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datepart(part, value::timestamp);
CREATE OR REPLACE FUNCTION sys.datepart(part text, value timestamptz) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('tzoffset', 'tz') THEN (date_part('timezone', value) / 60)::integer
    ELSE sys.datepart(part, value::timestamp)
END;
CREATE OR REPLACE FUNCTION sys.datepart(part text, value text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('tzoffset', 'tz') THEN coalesce((sys.read_datetime(value, 0, true)).utc_offset, 0 * length(value))
    ELSE sys.datepart(part, sys.moment_of(value))
END;
CREATE OR REPLACE FUNCTION sys.datepart(part text, value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datepart(part, sys.moment_of(value));
CREATE OR REPLACE FUNCTION sys.datepart(part text, value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datepart(part, sys.moment_of(value));
-- A time has no day: error 9810.
CREATE OR REPLACE FUNCTION sys.datepart(part text, value time) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF part NOT IN ('hour', 'hh', 'minute', 'mi', 'n', 'second', 'ss', 's', 'millisecond', 'ms', 'microsecond', 'mcs',
                    'nanosecond', 'ns') THEN
        PERFORM ssb_internal.raise_error(9810, format(
            'The datepart %s is not supported by date function datepart for data type time.', part));
    END IF;
    RETURN sys.datepart(part, timestamp '1900-01-01' + value);
END;
$$;

-- DATENAME of the parts that are no number, NULL of the others. STABLE because to_char is.
CREATE OR REPLACE FUNCTION sys.date_part_text(part text, value timestamp) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('month', 'mm', 'm') THEN to_char(value, 'FMMonth')
    WHEN part IN ('weekday', 'dw', 'w') THEN to_char(value, 'FMDay')
    WHEN part IN ('tzoffset', 'tz') THEN '+00:00'
END;
-- DATENAME: month and weekday by their English names, everything else a number.
CREATE OR REPLACE FUNCTION sys.datename(part text, value timestamp) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN coalesce(sys.date_part_text(part, value), sys.datepart(part, value)::pg_catalog.text);
END;
$$;
CREATE OR REPLACE FUNCTION sys.datename(part text, value timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('tzoffset', 'tz') THEN sys.offset_text((date_part('timezone', value) / 60)::integer)
    ELSE sys.datename(part, value::timestamp)
END;
CREATE OR REPLACE FUNCTION sys.datename(part text, value date) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datename(part, value::timestamp);
CREATE OR REPLACE FUNCTION sys.datename(part text, value time) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datepart(part, value)::text;
CREATE OR REPLACE FUNCTION sys.datename(part text, value text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN part IN ('tzoffset', 'tz') THEN sys.offset_text(sys.datepart(part, value))
    ELSE sys.datename(part, sys.moment_of(value))
END;
CREATE OR REPLACE FUNCTION sys.datename(part text, value integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datename(part, sys.moment_of(value));
CREATE OR REPLACE FUNCTION sys.datename(part text, value double precision) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datename(part, sys.moment_of(value));

-- DATETRUNC. A week begins on DATEFIRST's day, an ISO week on Monday.
CREATE OR REPLACE FUNCTION sys.datetrunc_other(part text, value timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF part IN ('weekday', 'dw', 'w', 'nanosecond', 'ns', 'tzoffset', 'tz') THEN
        PERFORM ssb_internal.raise_error(9810, format(
            'The datepart %s is not supported by date function datetrunc for data type datetime2.', part));
    END IF;
    RETURN sys.datetrunc(sys.date_part_name(part, 'datetrunc'), value);
END;
$$;
CREATE OR REPLACE FUNCTION sys.datetrunc(part text, value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE part
    WHEN 'year' THEN date_trunc('year', value)
    WHEN 'quarter' THEN date_trunc('quarter', value)
    WHEN 'month' THEN date_trunc('month', value)
    WHEN 'dayofyear' THEN date_trunc('day', value)
    WHEN 'day' THEN date_trunc('day', value)
    WHEN 'week' THEN date_trunc('day', value) - (sys.weekday_number(value) - 1) * interval '1 day'
    WHEN 'iso_week' THEN date_trunc('week', value)
    WHEN 'hour' THEN date_trunc('hour', value)
    WHEN 'minute' THEN date_trunc('minute', value)
    WHEN 'second' THEN date_trunc('second', value)
    WHEN 'millisecond' THEN date_trunc('milliseconds', value)
    WHEN 'microsecond' THEN value
    ELSE sys.datetrunc_other(part, value)
END;
CREATE OR REPLACE FUNCTION sys.datetrunc(part text, value date) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetrunc(part, value::timestamp)::date;
CREATE OR REPLACE FUNCTION sys.datetrunc(part text, value time) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetrunc(part, timestamp '1900-01-01' + value)::time;
CREATE OR REPLACE FUNCTION sys.datetrunc(part text, value timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datetrunc(part, value::timestamp)::timestamptz;
CREATE OR REPLACE FUNCTION sys.datetrunc(part text, value text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.datetrunc(part, sys.moment_of(value));

-- DATE_BUCKET: the beginning of the bucket of number parts, counted from origin.
CREATE OR REPLACE FUNCTION sys.date_bucket(
    part text, number integer, value timestamp, origin timestamp DEFAULT '1900-01-01') RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_part text := CASE WHEN part IN ('year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second',
                                      'millisecond')
                        THEN part ELSE sys.date_part_name(part, 'date_bucket') END;
    v_months integer := number * CASE v_part WHEN 'year' THEN 12 WHEN 'quarter' THEN 3 WHEN 'month' THEN 1 END;
    v_count integer;
BEGIN
    IF number <= 0 THEN
        PERFORM ssb_internal.raise_error(9834, 'Invalid bucket width value passed to date_bucket function. '
                                               'Only positive values are allowed.');
    ELSIF v_months IS NULL THEN
        RETURN date_bin(number * ('1 ' || v_part)::interval, value, origin);
    END IF;
    v_count := floor(sys.datediff('month', origin, value)::numeric / v_months);
    -- Within the boundary month the bucket may not have begun yet.
    IF origin + v_count * v_months * interval '1 month' > value THEN
        v_count := v_count - 1;
    END IF;
    RETURN origin + v_count * v_months * interval '1 month';
END;
$$;
CREATE OR REPLACE FUNCTION sys.date_bucket(part text, number integer, value date, origin date DEFAULT '1900-01-01')
RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.date_bucket(part, number, value::timestamp, origin::timestamp)::date;

-- EOMONTH: the last day of the month, number months on.
CREATE OR REPLACE FUNCTION sys.eomonth(value timestamp, number integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.dateadd_within(
    (date_trunc('month', value) + (coalesce(number, 0) + 1) * interval '1 month' - interval '1 day')::date, 'date');
CREATE OR REPLACE FUNCTION sys.eomonth(value date, number integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.eomonth(value::timestamp, number);
CREATE OR REPLACE FUNCTION sys.eomonth(value timestamptz, number integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.eomonth(value::timestamp, number);
CREATE OR REPLACE FUNCTION sys.eomonth(value text, number integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.eomonth(sys.moment_of(value), number);

-- YEAR, MONTH, DAY
CREATE OR REPLACE FUNCTION sys.year(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('year', value)::integer;
CREATE OR REPLACE FUNCTION sys.year(value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('year', value)::integer;
CREATE OR REPLACE FUNCTION sys.year(value timestamptz) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('year', value::timestamp)::integer;
CREATE OR REPLACE FUNCTION sys.year(value text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('year', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.year(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('year', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.year(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('year', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.month(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('month', value)::integer;
CREATE OR REPLACE FUNCTION sys.month(value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('month', value)::integer;
CREATE OR REPLACE FUNCTION sys.month(value timestamptz) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('month', value::timestamp)::integer;
CREATE OR REPLACE FUNCTION sys.month(value text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('month', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.month(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('month', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.month(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('month', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.day(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('day', value)::integer;
CREATE OR REPLACE FUNCTION sys.day(value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('day', value)::integer;
CREATE OR REPLACE FUNCTION sys.day(value timestamptz) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('day', value::timestamp)::integer;
CREATE OR REPLACE FUNCTION sys.day(value text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN date_part('day', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.day(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('day', sys.moment_of(value))::integer;
CREATE OR REPLACE FUNCTION sys.day(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('day', sys.moment_of(value))::integer;
