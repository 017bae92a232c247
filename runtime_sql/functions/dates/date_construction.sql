-- DATEFROMPARTS and its kin (error 289 for parts that make no date), ISDATE.

CREATE OR REPLACE FUNCTION sys.moment_from_parts(
    type_name text, year integer, month integer, day integer, hour integer, minute integer, second integer,
    micros integer)
RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF year BETWEEN 1 AND 9999 AND month BETWEEN 1 AND 12 AND day BETWEEN 1 AND 31
       AND (day <= 28 OR day <= date_part('day', make_date(year, month, 1) + interval '1 month - 1 day'))
       AND hour BETWEEN 0 AND 23 AND minute BETWEEN 0 AND 59 AND second BETWEEN 0 AND 59 AND micros BETWEEN 0 AND 999999
       AND (type_name <> 'datetime' OR year >= 1753)
       AND (type_name <> 'smalldatetime' OR year BETWEEN 1900 AND 2078
            OR year = 2079 AND make_date(year, month, day) <= date '2079-06-06') THEN
        RETURN make_timestamp(year, month, day, hour, minute, second) + micros * interval '1 microsecond';
    END IF;
    PERFORM ssb_internal.raise_error(289, format(
        'Cannot construct data type %s, some of the arguments have values which are not valid.', type_name));
    RETURN NULL;
END;
$$;

-- fractions of a second in units of 10^-scale; scale must be a constant 0 to 7.
CREATE OR REPLACE FUNCTION sys.micros_of_fractions(fractions integer, scale integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN scale NOT BETWEEN 0 AND 7 OR fractions < 0 OR fractions >= power(10, scale) THEN -1
    ELSE trunc(fractions * power(10::numeric, 6 - scale))::integer
END;

CREATE OR REPLACE FUNCTION sys.datefromparts(year integer, month integer, day integer) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_from_parts('date', year, month, day, 0, 0, 0, 0)::date;
CREATE OR REPLACE FUNCTION sys.datetimefromparts(
    year integer, month integer, day integer, hour integer, minute integer, second integer, milliseconds integer)
RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.round_datetime(sys.moment_from_parts(
    'datetime', year, month, day, hour, minute, second, sys.micros_of_fractions(milliseconds, 3)));
CREATE OR REPLACE FUNCTION sys.smalldatetimefromparts(
    year integer, month integer, day integer, hour integer, minute integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_from_parts('smalldatetime', year, month, day, hour, minute, 0, 0);
CREATE OR REPLACE FUNCTION sys.datetime2fromparts(
    year integer, month integer, day integer, hour integer, minute integer, second integer, fractions integer,
    scale integer)
RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_from_parts(
    'datetime2', year, month, day, hour, minute, second, sys.micros_of_fractions(fractions, scale));
CREATE OR REPLACE FUNCTION sys.timefromparts(
    hour integer, minute integer, second integer, fractions integer, scale integer) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_from_parts('time', 1900, 1, 1, hour, minute, second, sys.micros_of_fractions(fractions, scale))::time;
CREATE OR REPLACE FUNCTION sys.datetimeoffsetfromparts(
    year integer, month integer, day integer, hour integer, minute integer, second integer, fractions integer,
    hour_offset integer, minute_offset integer, scale integer)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (sys.moment_from_parts(
    'datetimeoffset', year, month, day, hour, minute,
    CASE WHEN hour_offset BETWEEN -14 AND 14 AND minute_offset BETWEEN -59 AND 59 AND hour_offset * minute_offset >= 0
         THEN second ELSE -1 END,
    sys.micros_of_fractions(fractions, scale))
    - (hour_offset * 60 + minute_offset) * interval '1 minute') AT TIME ZONE 'UTC';

-- ISDATE: whether CONVERT to datetime would succeed; 0 for NULL and for other types.
CREATE OR REPLACE FUNCTION sys.isdate(value text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (btrim(value) <> '' AND sys.read_datetime_as(value, 'datetime', 0, true) IS NOT NULL)::integer
    * (value IS NOT NULL)::integer;
CREATE OR REPLACE FUNCTION sys.isdate(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value IS NOT NULL)::integer;
CREATE OR REPLACE FUNCTION sys.isdate(value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value IS NOT NULL)::integer;
CREATE OR REPLACE FUNCTION sys.isdate(value anyelement) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 0';
