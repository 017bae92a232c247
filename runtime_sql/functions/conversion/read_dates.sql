-- How T-SQL reads dates and times from strings.
--
-- Numeric ('11/20/2026', by SET DATEFORMAT or the style), alphabetic
-- ('Nov 20 2026', '20 November, 2026'), unseparated ('20261120', '261120',
-- '2026') and ISO 8601 ('2026-11-20T07:00:00.5Z') dates, with or without a time
-- ('7:00', '07:00:00:123', '7PM') on either side. A missing date is 1900-01-01,
-- a missing time midnight. Month names are the English ones.

-- Two-digit years: 50 to 99 are 1950 to 1999, 0 to 49 are 2000 to 2049.
CREATE OR REPLACE FUNCTION sys.four_digit_year(digits text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(digits) > 2 THEN digits::integer
    WHEN digits::integer < 50 THEN 2000 + digits::integer
    ELSE 1900 + digits::integer
END;

-- A full English month name or its first three letters; 0 for anything else.
CREATE OR REPLACE FUNCTION sys.month_number(name text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(
    array_position(ARRAY['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'], lower(name COLLATE "C")),
    array_position(ARRAY['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september',
                         'october', 'november', 'december'], lower(name COLLATE "C")),
    CASE WHEN lower(name COLLATE "C") = 'sept' THEN 9 ELSE 0 END);

-- The order in which a style writes day, month and year; styles that say
-- nothing leave it to SET DATEFORMAT.
CREATE OR REPLACE FUNCTION sys.date_order(style integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN style IN (1, 101, 7, 107, 10, 110, 22, 100, 9, 109) THEN 'mdy'
    WHEN style IN (3, 103, 4, 104, 5, 105, 6, 106, 13, 113, 130, 131) THEN 'dmy'
    WHEN style IN (2, 102, 11, 111, 12, 112, 20, 120, 21, 121, 23, 25, 126, 127) THEN 'ymd'
    ELSE coalesce(nullif(lower(current_setting('pgsb.dateformat', true)), ''), 'mdy')
END;

-- Reads a date string. year_first_is_ymd: a leading four-digit year is followed
-- by month and day whatever the order says (date, datetime2 and datetimeoffset;
-- datetime and smalldatetime obey dmy).
--   moment      the wall clock, NULL when the string is no valid one
--   utc_offset  minutes, NULL when the string names none
--   digits      of the fraction of a second
--   problem     NULL, 'syntax' or 'range'
CREATE OR REPLACE FUNCTION sys.read_datetime(
    value text, style integer, year_first_is_ymd boolean,
    OUT moment timestamp, OUT utc_offset integer, OUT digits integer, OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rest text := btrim(regexp_replace(value, '\s+', ' ', 'g'));
    v_order text;
    v_match text[];
    v_offset text;
    v_time text;
    v_before text;
    v_after text;
    v_year integer := 1900;
    v_month integer := 1;
    v_day integer := 1;
    v_hour integer := 0;
    v_minute integer := 0;
    v_second integer := 0;
    v_micros integer := 0;
    v_numbers text[];
BEGIN
    digits := 0;
    -- The common shapes first.
    IF v_rest ~ '^[0-9]{8}$' THEN
        v_year := left(v_rest, 4)::integer;
        v_month := substr(v_rest, 5, 2)::integer;
        v_day := right(v_rest, 2)::integer;
        v_rest := NULL;
    ELSIF v_rest ~ '^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}T' THEN
        -- ISO 8601 does not depend on any setting.
        v_match := regexp_match(v_rest, '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})T(.*)$');
        v_year := v_match[1]::integer;
        v_month := v_match[2]::integer;
        v_day := v_match[3]::integer;
        v_rest := v_match[4];
        IF v_rest !~ '^[0-9]{1,2}:' THEN
            problem := 'syntax';
            RETURN;
        END IF;
    END IF;
    -- Offset and time, wherever they stand.
    IF v_rest ~ ':' OR v_rest ~* '[0-9] ?[ap]m' THEN
        v_offset := substring(v_rest from '[0-9] ?(Z|z|[+-][0-9]{1,2}:[0-9]{2})$');
        IF v_offset IS NOT NULL THEN
            v_rest := rtrim(left(v_rest, - length(v_offset)));
            utc_offset := 0;
            IF upper(v_offset COLLATE "C") <> 'Z' THEN
                utc_offset := split_part(substr(v_offset, 2), ':', 1)::integer * 60 + right(v_offset, 2)::integer;
                IF utc_offset > 14 * 60 OR right(v_offset, 2)::integer > 59 THEN
                    problem := 'syntax';
                    RETURN;
                END IF;
                IF left(v_offset, 1) = '-' THEN
                    utc_offset := - utc_offset;
                END IF;
            END IF;
        END IF;
        v_match := regexp_match(
            v_rest, '([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:([.:])([0-9]{1,9}))?)?(?: ?([ap]m))?', 'i');
        v_time := substring(
            v_rest from '[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.:][0-9]{1,9})?)?(?: ?[AaPp][Mm])?');
        IF v_match IS NULL THEN
            v_match := regexp_match(v_rest, '([0-9]{1,2})(x)?(x)?(x)?(x)? ?([ap]m)', 'i');
            v_time := substring(v_rest from '[0-9]{1,2} ?[AaPp][Mm]');
        END IF;
        -- A blank or comma parts the time from the date.
        v_before := split_part(v_rest, v_time, 1);
        v_after := substr(v_rest, length(v_before) + length(v_time) + 1);
        IF v_time IS NULL OR v_before !~ '(^|[ ,])$' OR v_after !~ '^($|[ ,])' THEN
            problem := 'syntax';
            RETURN;
        END IF;
        v_hour := v_match[1]::integer;
        v_minute := coalesce(v_match[2]::integer, 0);
        v_second := coalesce(v_match[3]::integer, 0);
        IF v_match[4] = '.' THEN
            digits := length(v_match[5]);
            -- The seventh digit is rounded away, but 23:59:59.9999999 stays on its day.
            v_micros := least(round(('0.' || v_match[5])::numeric * 1000000), 999999);
        ELSIF v_match[4] = ':' THEN
            -- After a colon they are thousandths.
            digits := greatest(length(v_match[5]), 3);
            v_micros := v_match[5]::integer * 1000;
            IF digits > 3 THEN
                problem := 'syntax';
                RETURN;
            END IF;
        END IF;
        IF v_match[6] IS NOT NULL THEN
            IF v_hour > 12 AND lower(v_match[6] COLLATE "C") = 'am' OR v_hour = 0 AND lower(v_match[6] COLLATE "C") = 'pm' THEN
                problem := 'range';
                RETURN;
            END IF;
            v_hour := CASE
                WHEN v_hour > 12 THEN v_hour
                WHEN lower(v_match[6] COLLATE "C") = 'pm' THEN v_hour % 12 + 12
                ELSE v_hour % 12
            END;
        END IF;
        v_rest := btrim(btrim(v_before, ' ,') || ' ' || btrim(v_after, ' ,'));
        IF v_hour > 23 OR v_minute > 59 OR v_second > 59 THEN
            problem := 'range';
            RETURN;
        END IF;
    END IF;
    -- What is left is the date.
    IF v_rest <> '' THEN
        v_order := sys.date_order(style);
        IF v_rest ~ '^[0-9]{8}$' THEN
            v_year := left(v_rest, 4)::integer;
            v_month := substr(v_rest, 5, 2)::integer;
            v_day := right(v_rest, 2)::integer;
        ELSIF v_rest ~ '^[0-9]{6}$' THEN
            v_year := sys.four_digit_year(left(v_rest, 2));
            v_month := substr(v_rest, 3, 2)::integer;
            v_day := right(v_rest, 2)::integer;
        ELSIF v_rest ~ '^[0-9]{4}$' THEN
            v_year := v_rest::integer;
        ELSIF v_rest ~ '^[0-9]{1,4} ?[-/.] ?[0-9]{1,4} ?[-/.] ?[0-9]{1,4}$' THEN
            v_numbers := regexp_split_to_array(v_rest, ' ?[-/.] ?');
            IF length(v_numbers[1]) > 2 THEN
                v_order := CASE
                    WHEN NOT year_first_is_ymd AND v_order IN ('dmy', 'ydm') THEN 'ydm'
                    ELSE 'ymd'
                END;
            ELSIF length(v_numbers[3]) > 2 AND v_order NOT IN ('mdy', 'dmy') THEN
                v_order := CASE v_order WHEN 'ydm' THEN 'dmy' ELSE 'mdy' END;
            END IF;
            v_year := sys.four_digit_year(v_numbers[strpos(v_order, 'y')]);
            v_month := v_numbers[strpos(v_order, 'm')]::integer;
            v_day := v_numbers[strpos(v_order, 'd')]::integer;
        ELSE
            v_match := regexp_match(
                v_rest,
                '^(?:([0-9]{1,4})[-/., ]*)?(?:([0-9]{1,4})[-/., ]+)?([A-Za-z]{3,9})[-/., ]*([0-9]{1,4})?(?:[-/., ]+([0-9]{1,4}))?$');
            v_month := sys.month_number(v_match[3]);
            v_numbers := array_remove(ARRAY[v_match[1], v_match[2], v_match[4], v_match[5]], NULL);
            IF v_match IS NULL OR v_month = 0 OR cardinality(v_numbers) NOT IN (1, 2) THEN
                problem := 'syntax';
                RETURN;
            END IF;
            IF cardinality(v_numbers) = 1 THEN
                v_year := sys.four_digit_year(v_numbers[1]);
            ELSIF length(v_numbers[1]) > 2 OR length(v_numbers[2]) < 3 AND v_order LIKE 'y%' THEN
                v_year := sys.four_digit_year(v_numbers[1]);
                v_day := v_numbers[2]::integer;
            ELSE
                v_year := sys.four_digit_year(v_numbers[2]);
                v_day := v_numbers[1]::integer;
            END IF;
        END IF;
    END IF;
    IF v_year = 0 OR v_month NOT BETWEEN 1 AND 12 OR v_day < 1 OR v_day > 31 THEN
        problem := 'range';
        RETURN;
    END IF;
    -- A statement of its own: the planner may compute the month's end before it looks at the month.
    IF v_day > 28 AND v_day > date_part('day', make_date(v_year, v_month, 1) + interval '1 month - 1 day') THEN
        problem := 'range';
        RETURN;
    END IF;
    moment := make_timestamp(v_year, v_month, v_day, v_hour, v_minute, v_second)
            + v_micros * interval '1 microsecond';
END;
$$;

-- datetime counts three-hundredths of a second: the last digit of its
-- milliseconds is 0, 3 or 7.
CREATE OR REPLACE FUNCTION sys.round_datetime(value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('second', value)
    + ((((date_part('microseconds', value)::bigint % 1000000) * 3 + 5000) / 10000 * 10 + 1) / 3)
    * interval '1 millisecond';

-- smalldatetime counts minutes; 29.999 seconds go up.
CREATE OR REPLACE FUNCTION sys.round_smalldatetime(value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('minute', value + interval '30.001 second');

-- A moment to n digits after the second (PostgreSQL keeps 6 of SQL Server's 7).
CREATE OR REPLACE FUNCTION sys.round_moment(value timestamp, scale integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN scale >= 6 THEN value
    WHEN scale = 3 THEN value::timestamp(3)
    WHEN scale = 0 THEN value::timestamp(0)
    WHEN scale = 1 THEN value::timestamp(1)
    WHEN scale = 2 THEN value::timestamp(2)
    WHEN scale = 4 THEN value::timestamp(4)
    WHEN scale = 5 THEN value::timestamp(5)
END;

-- What programs write, year first, needs no analysis. Days from the 29th on
-- take the long way, which knows the months.
CREATE OR REPLACE FUNCTION sys.is_default_datetime(value text, type_name text, style integer) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN value ~ ('^(19|20|21)[0-9]{2}(-(0[1-9]|1[0-2])-|(0[1-9]|1[0-2]))(0[1-9]|1[0-9]|2[0-8])'
                '([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,3})?)?)?$')
    AND type_name <> 'smalldatetime' AND (type_name <> 'datetime' OR sys.date_order(style) <> 'dmy');
CREATE OR REPLACE FUNCTION sys.default_datetime(value timestamp, type_name text) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE type_name WHEN 'datetime' THEN sys.round_datetime(value) ELSE value END;

-- sys.read_datetime_as for every other string.
CREATE OR REPLACE FUNCTION sys.read_any_datetime_as(value text, type_name text, style integer, quiet boolean, source text)
RETURNS timestamp
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old_type boolean := type_name IN ('datetime', 'smalldatetime');
    v_read record;
BEGIN
    -- XML's dates may name their zone (2026-11-20Z), which a date, and no other type, takes and forgets.
    v_read := sys.read_datetime(
        CASE WHEN type_name <> 'date' THEN value
             ELSE regexp_replace(value, '^(\s*[0-9]{4}-[0-9]{2}-[0-9]{2})(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)\s*$', '\1') END,
        style, NOT v_old_type);
    IF v_read.problem IS NULL AND v_old_type THEN
        IF v_read.digits > 3 THEN
            v_read.problem := 'syntax';
        ELSIF v_read.utc_offset IS NOT NULL AND v_read.utc_offset <> 0 AND style NOT IN (126, 127) THEN
            v_read.problem := 'syntax';
        ELSE
            v_read.moment := v_read.moment - coalesce(v_read.utc_offset, 0) * interval '1 minute';
            IF type_name = 'datetime' AND v_read.moment < timestamp '1753-01-01'
               OR type_name = 'smalldatetime'
                  AND NOT v_read.moment BETWEEN timestamp '1900-01-01' AND timestamp '2079-06-06 23:59:29.998' THEN
                v_read.problem := 'range';
            END IF;
        END IF;
    END IF;
    IF v_read.problem IS NULL THEN
        RETURN CASE type_name
            WHEN 'datetimeoffset' THEN v_read.moment - coalesce(v_read.utc_offset, 0) * interval '1 minute'
            WHEN 'datetime' THEN sys.round_datetime(v_read.moment)
            WHEN 'smalldatetime' THEN sys.round_smalldatetime(v_read.moment)
            ELSE v_read.moment
        END;
    ELSIF quiet THEN
        RETURN NULL;
    ELSIF v_read.problem = 'range' AND v_old_type THEN
        PERFORM ssb_internal.raise_error(242, format(
            'The conversion of a %s data type to a %s data type resulted in an out-of-range value.', source, type_name),
            16, 3);
    ELSIF type_name = 'smalldatetime' THEN
        PERFORM ssb_internal.raise_error(295, 'Conversion failed when converting character string to smalldatetime data type.',
            16, 3);
    ELSE
        PERFORM ssb_internal.raise_error(241, 'Conversion failed when converting date and/or time from character string.');
    END IF;
    RETURN NULL;
END;
$$;

-- Reads a string as the T-SQL type type_name, or fails as CONVERT does:
-- 241 no date, 242 no such day or outside the type's range (datetime,
-- smalldatetime), 295 (smalldatetime). quiet: NULL instead of an error. source: what
-- the message calls the string, varchar or nvarchar.
-- Returns the wall clock; for datetimeoffset the moment in UTC.
-- COST 1 lets the planner inline date functions around it.
CREATE OR REPLACE FUNCTION sys.read_datetime_as(value text, type_name text, style integer, quiet boolean, source text)
RETURNS timestamp
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1
AS $$
DECLARE
    v_moment timestamp;
BEGIN
    IF sys.is_default_datetime(value, type_name, style) THEN
        v_moment := value;
        RETURN sys.default_datetime(v_moment, type_name);
    END IF;
    RETURN sys.read_any_datetime_as(value, type_name, style, quiet, source);
END;
$$;
CREATE OR REPLACE FUNCTION sys.read_datetime_as(value text, type_name text, style integer, quiet boolean)
RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, type_name, style, quiet, 'varchar');

-- CAST and CONVERT of a string in a computed column, which is stored: PostgreSQL wants a promise that the value does not
-- change, and it does not once the row is written.
CREATE OR REPLACE FUNCTION sys.moment_stored(value text, type_name text, style integer, quiet boolean, source text)
RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, type_name, style, quiet, source);
