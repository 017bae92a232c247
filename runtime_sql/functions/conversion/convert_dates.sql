-- CAST, CONVERT and TRY_CONVERT to DATETIME, SMALLDATETIME, DATETIME2, DATE,
-- TIME and DATETIMEOFFSET.
-- Numbers are days since 1900-01-01 (datetime and smalldatetime only). Without
-- an offset of its own a datetimeoffset has +00:00; from a datetimeoffset the
-- wall clock of the session's time zone is taken, because a timestamptz keeps
-- the moment and not the offset.

-- Half a tick of a datetime is under 2 ms: milliseconds are kept, and rounded
-- by sys.round_datetime. What no datetime has stays so, and is no error yet.
CREATE OR REPLACE FUNCTION sys.datetime_of_number(value double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value < -60000 THEN timestamp '1700-01-01'
    WHEN value > 3000000 THEN timestamp '10001-01-01'
    ELSE timestamp '1900-01-01' + floor(value) * interval '1 day'
        + round((value - floor(value)) * 86400000) * interval '1 millisecond'
END;

-- datetime in SQL Server's eight bytes: days since 1900-01-01, then
-- three-hundredths of a second since midnight, each most significant first.
CREATE OR REPLACE FUNCTION sys.datetime_of_bytes(value bytea) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number bigint := sys.integer_of_bytes(value, 8);
BEGIN
    RETURN sys.datetime_of_number(v_number >> 32)
        + ((v_number & 4294967295) * 10 + 1) / 3 * interval '1 millisecond';
END;
$$;

-- The value, if it is in the type's range; otherwise NULL when quiet, else the error of a number (8115).
CREATE OR REPLACE FUNCTION sys.is_moment_within(value timestamp, type_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN type_name = 'datetime' AND value >= timestamp '1753-01-01' AND value < timestamp '10000-01-01'
    OR type_name = 'smalldatetime' AND value >= timestamp '1900-01-01' AND value < timestamp '2079-06-07';
CREATE OR REPLACE FUNCTION sys.moment_within(value timestamp, type_name text, quiet boolean) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF sys.is_moment_within(value, type_name) THEN
        RETURN value;
    ELSIF NOT quiet THEN
        PERFORM ssb_internal.raise_error(8115, pg_catalog.format(
            'Arithmetic overflow error converting expression to data type %s.', type_name), 16, 2);
    END IF;
    RETURN NULL;
END;
$$;
-- The same of another type of moments, source (242), or of bytes, binary (210).
CREATE OR REPLACE FUNCTION sys.moment_from(value timestamp, type_name text, source text) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF sys.is_moment_within(value, type_name) THEN
        RETURN value;
    ELSIF source OPERATOR(pg_catalog.=) 'binary' THEN
        PERFORM ssb_internal.raise_error(210, pg_catalog.format(
            'Conversion failed when converting %s from binary/varbinary string.', type_name));
    END IF;
    PERFORM ssb_internal.raise_error(242, pg_catalog.format(
        'The conversion of a %s data type to a %s data type resulted in an out-of-range value.', source, type_name), 16, 3);
    RETURN NULL;
END;
$$;

-- The overloads. STABLE where the string depends on DATEFORMAT or the zone on the session.
CREATE OR REPLACE FUNCTION sys.convert_datetime(value text, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'datetime', style, false);
CREATE OR REPLACE FUNCTION sys.convert_datetime(value text, style integer, source text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'datetime', style, false, source);
CREATE OR REPLACE FUNCTION sys.convert_datetime(value timestamp, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(sys.round_datetime(value), 'datetime', 'datetime2');
CREATE OR REPLACE FUNCTION sys.convert_datetime(value date, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(value::timestamp, 'datetime', 'date');
CREATE OR REPLACE FUNCTION sys.convert_datetime(value time, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(timestamp '1900-01-01' + value);
CREATE OR REPLACE FUNCTION sys.convert_datetime(value timestamptz, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.moment_from(sys.round_datetime(value::timestamp), 'datetime', 'datetimeoffset');
CREATE OR REPLACE FUNCTION sys.convert_datetime(value integer, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.datetime_of_number(value), 'datetime', false);
CREATE OR REPLACE FUNCTION sys.convert_datetime(value double precision, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_datetime(sys.datetime_of_number(value)), 'datetime', false);
CREATE OR REPLACE FUNCTION sys.convert_datetime(value bytea, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(sys.datetime_of_bytes(value), 'datetime', 'binary');
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value text, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'smalldatetime', style, false);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value text, style integer, source text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'smalldatetime', style, false, source);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value timestamp, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(sys.round_smalldatetime(value), 'smalldatetime', 'datetime');
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value timestamp, style integer, source text) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(sys.round_smalldatetime(value), 'smalldatetime', source);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value date, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_from(value::timestamp, 'smalldatetime', 'date');
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value time, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_smalldatetime(timestamp '1900-01-01' + value);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value timestamptz, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.moment_from(sys.round_smalldatetime(value::timestamp), 'smalldatetime', 'datetimeoffset');
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value integer, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.datetime_of_number(value), 'smalldatetime', false);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value double precision, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_smalldatetime(sys.datetime_of_number(value)), 'smalldatetime', false);
CREATE OR REPLACE FUNCTION sys.convert_smalldatetime(value bytea, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_from(timestamp '1900-01-01' + ((sys.integer_of_bytes(value, 4) >> 16) & 65535) * interval '1 day' + (sys.integer_of_bytes(value, 2) & 65535) * interval '1 minute', 'smalldatetime', 'binary');
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'datetime2', style, false), scale);
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale);
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value date, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::timestamp;
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(timestamp '1900-01-01' + value, scale);
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.round_moment(value::timestamp, scale);
CREATE OR REPLACE FUNCTION sys.convert_date(value text, style integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'date', style, false)::date;
CREATE OR REPLACE FUNCTION sys.convert_date(value timestamp, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::date;
CREATE OR REPLACE FUNCTION sys.convert_date(value date, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_date(value timestamptz, style integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN value::date;
CREATE OR REPLACE FUNCTION sys.convert_time(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'time', style, false), scale)::time;
CREATE OR REPLACE FUNCTION sys.convert_time(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale)::time;
CREATE OR REPLACE FUNCTION sys.convert_time(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(timestamp '1900-01-01' + value, scale)::time;
CREATE OR REPLACE FUNCTION sys.convert_time(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.round_moment(value::timestamp, scale)::time;
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'datetimeoffset', style, false), scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value date, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::timestamp AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.round_moment(timestamp '1900-01-01' + value, scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value AT TIME ZONE 'UTC', scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value text, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'datetime', style, true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value timestamp, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_within(sys.round_datetime(value), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value date, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_within(value::timestamp, 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value time, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(timestamp '1900-01-01' + value);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value timestamptz, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.moment_within(sys.round_datetime(value::timestamp), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value integer, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.datetime_of_number(value), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value double precision, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_datetime(sys.datetime_of_number(value)), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime(value bytea, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_within(sys.datetime_of_bytes(value), 'datetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value text, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'smalldatetime', style, true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value timestamp, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_within(sys.round_smalldatetime(value), 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value date, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_within(value::timestamp, 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value time, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_smalldatetime(timestamp '1900-01-01' + value);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value timestamptz, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_smalldatetime(value::timestamp), 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value integer, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.datetime_of_number(value), 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value double precision, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(sys.round_smalldatetime(sys.datetime_of_number(value)), 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_smalldatetime(value bytea, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.moment_within(timestamp '1900-01-01' + ((sys.integer_of_bytes(value, 4) >> 16) & 65535) * interval '1 day' + (sys.integer_of_bytes(value, 2) & 65535) * interval '1 minute', 'smalldatetime', true);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'datetime2', style, true), scale);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value date, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::timestamp;
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(timestamp '1900-01-01' + value, scale);
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.round_moment(value::timestamp, scale);
CREATE OR REPLACE FUNCTION sys.try_convert_date(value text, style integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.read_datetime_as(value, 'date', style, true)::date;
CREATE OR REPLACE FUNCTION sys.try_convert_date(value timestamp, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::date;
CREATE OR REPLACE FUNCTION sys.try_convert_date(value date, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_date(value timestamptz, style integer DEFAULT 0) RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE RETURN value::date;
CREATE OR REPLACE FUNCTION sys.try_convert_time(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'time', style, true), scale)::time;
CREATE OR REPLACE FUNCTION sys.try_convert_time(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale)::time;
CREATE OR REPLACE FUNCTION sys.try_convert_time(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(timestamp '1900-01-01' + value, scale)::time;
CREATE OR REPLACE FUNCTION sys.try_convert_time(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.round_moment(value::timestamp, scale)::time;
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value text, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.round_moment(sys.read_datetime_as(value, 'datetimeoffset', style, true), scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value timestamp, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value, scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value date, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::timestamp AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value time, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.round_moment(timestamp '1900-01-01' + value, scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value timestamptz, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(value AT TIME ZONE 'UTC', scale) AT TIME ZONE 'UTC';

