-- CAST, CONVERT and TRY_CONVERT to VARBINARY and BINARY, in SQL Server's byte
-- order, so that numbers, dates and identifiers round-trip through a message
-- body. Too long: numbers keep their last bytes, everything else its first.
-- varchar is UTF-8 (SQL Server: the code page), nvarchar what the instance was installed with (schema/nvarchar.sql).

CREATE OR REPLACE FUNCTION sys.last_bytes(value bytea, length integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length IS NULL OR octet_length(value) <= length THEN value
    ELSE substr(value, octet_length(value) - length + 1)
END;

CREATE OR REPLACE FUNCTION sys.first_bytes(value bytea, length integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value ELSE substr(value, 1, length) END;

CREATE OR REPLACE FUNCTION sys.zeros(count integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(repeat('00', count), 'hex');

-- Style 0: the bytes of the text; 1: '0x…'; 2: hexadecimal without 0x. NULL for
-- what is no hexadecimal of whole bytes.
CREATE OR REPLACE FUNCTION sys.read_hex(value text, style integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN style = 1 AND value ~* '^0x([0-9a-f]{2})*$' THEN decode(substr(value, 3), 'hex')
    WHEN style = 2 AND value ~* '^([0-9a-f]{2})*$' THEN decode(value, 'hex')
    WHEN style NOT IN (1, 2) THEN convert_to(value, 'UTF8')
END;

CREATE OR REPLACE FUNCTION sys.bytes_of_text(value text, style integer) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bytea := sys.read_hex(value, style);
BEGIN
    IF v_bytes IS NULL THEN
        PERFORM ssb_internal.raise_error(8114, 'Error converting data type varchar to varbinary.');
    END IF;
    RETURN v_bytes;
END;
$$;

-- decimal: precision, scale, a zero, 1 for positive, then the digits as a
-- number, least significant byte first, in 4, 8, 12 or 16 bytes. The precision is that of
-- the value where it has more digits: PostgreSQL does not hand on the declared one.
CREATE OR REPLACE FUNCTION sys.bytes_of_decimal(value numeric, "precision" integer) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rest numeric := abs(value) * power(10::numeric, scale(value));
    v_precision integer;
    v_bytes bytea := '';
BEGIN
    v_rest := trunc(v_rest);
    v_precision := length(v_rest::text);
    IF v_precision > 38 THEN
        PERFORM ssb_internal.raise_error(8115, 'Arithmetic overflow error converting numeric to data type varbinary.');
    END IF;
    FOR i IN 1 .. CASE WHEN v_precision <= 9 THEN 4 WHEN v_precision <= 19 THEN 8 WHEN v_precision <= 28 THEN 12 ELSE 16 END
    LOOP
        v_bytes := v_bytes || set_byte('\x00'::bytea, 0, mod(v_rest, 256)::integer);
        v_rest := div(v_rest, 256);
    END LOOP;
    v_precision := greatest(v_precision, "precision");
    RETURN set_byte(set_byte(set_byte('\x00000000'::bytea, 0, v_precision), 1, scale(value)), 3, (value >= 0)::integer)
        || v_bytes;
END;
$$;

CREATE OR REPLACE FUNCTION sys.bytes_of_decimal(value numeric) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.bytes_of_decimal(value, 0);

CREATE OR REPLACE FUNCTION sys.decimal_of_bytes(value bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 21;      -- bytes: with more that are not 0 it is too large for every decimal
    v_length CONSTANT integer := octet_length(rtrim(value, '\x00'));
    v_number numeric := 0;
BEGIN
    IF octet_length(value) < 5 THEN
        PERFORM ssb_internal.raise_error(8114, 'Error converting data type varbinary to numeric.');
    END IF;
    FOR i IN REVERSE least(v_length, c_most) - 1 .. 4 LOOP
        v_number := v_number * 256 + get_byte(value, i);
    END LOOP;
    IF v_length > c_most THEN
        v_number := power(10::numeric, 300);
    END IF;
    v_number := round(v_number * power(10::numeric, - get_byte(value, 1)), get_byte(value, 1));
    RETURN CASE WHEN get_byte(value, 3) = 0 THEN - v_number ELSE v_number END;
END;
$$;

CREATE OR REPLACE FUNCTION sys.convert_decimal(
    value bytea, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.decimal_of(sys.decimal_of_bytes(value), "precision", scale, 'varbinary');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(
    value bytea, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(value) > 4 THEN sys.fit_decimal(sys.decimal_of_bytes(value), "precision", scale) END;

CREATE OR REPLACE FUNCTION sys.bytes_of_datetime(value timestamp) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN int4send(value::date - date '1900-01-01')
    || int4send(((date_part('epoch', value::time) * 1000)::integer * 3 + 5) / 10);

-- date: three bytes, days since 0001-01-01, least significant first.
CREATE OR REPLACE FUNCTION sys.bytes_of_date(value date) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bytea := int4send(value - date '0001-01-01');
BEGIN
    RETURN substr(v_bytes, 4, 1) || substr(v_bytes, 3, 1) || substr(v_bytes, 2, 1);
END;
$$;

-- The last bytes of a number in the other order.
CREATE OR REPLACE FUNCTION sys.little_endian(value bigint, count integer) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bytea := sys.zeros(count);
BEGIN
    FOR i IN 0 .. count - 1 LOOP
        v_bytes := set_byte(v_bytes, i, ((value >> 8 * i) & 255)::integer);
    END LOOP;
    RETURN v_bytes;
END;
$$;
CREATE OR REPLACE FUNCTION sys.of_little_endian(value bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number bigint := 0;
BEGIN
    FOR i IN REVERSE octet_length(value) - 1 .. 0 LOOP
        v_number := v_number * 256 + get_byte(value, i);
    END LOOP;
    RETURN v_number;
END;
$$;

-- time: the scale, then as many of its units since midnight, in three, four or five bytes. datetime2: three
-- bytes more, those of the date. datetimeoffset: the same of UTC, and the offset in minutes, which is not kept here.
CREATE OR REPLACE FUNCTION sys.time_width(scale integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN scale <= 2 THEN 3 WHEN scale <= 4 THEN 4 ELSE 5 END;
CREATE OR REPLACE FUNCTION sys.bytes_of_time(value time, scale integer DEFAULT 7) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.little_endian(scale::bigint, 1)
    || sys.little_endian(round(extract(epoch FROM value)::numeric * power(10::numeric, scale))::bigint, sys.time_width(scale));
CREATE OR REPLACE FUNCTION sys.bytes_of_datetime2(value timestamp, scale integer DEFAULT 7) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.bytes_of_time(value::time, scale) || sys.bytes_of_date(value::date);
CREATE OR REPLACE FUNCTION sys.bytes_of_datetimeoffset(value timestamptz, scale integer DEFAULT 7) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.bytes_of_datetime2(value AT TIME ZONE 'UTC', scale) || '\x0000'::bytea;

-- The wall clock in the bytes of a time (1900-01-01), a date (midnight) or a datetime2; what comes behind them is not looked at. NULL:
-- they are none.
CREATE OR REPLACE FUNCTION sys.moment_in_bytes(value bytea, has_time boolean, has_date boolean) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_scale integer := CASE WHEN has_time AND octet_length(value) > 0 THEN get_byte(value, 0) END;
    v_time_bytes integer := CASE WHEN has_time THEN 1 + sys.time_width(v_scale) ELSE 0 END;
    v_clock numeric := 0;
    v_days bigint := 0;
BEGIN
    IF v_scale > 7 OR octet_length(value) < v_time_bytes + (CASE WHEN has_date THEN 3 ELSE 0 END) THEN
        RETURN NULL;
    END IF;
    IF has_time THEN
        v_clock := sys.of_little_endian(substr(value, 2, v_time_bytes - 1)) / power(10::numeric, v_scale);
    END IF;
    IF has_date THEN
        v_days := sys.of_little_endian(substr(value, v_time_bytes + 1, 3));
    END IF;
    IF v_clock >= 86400 OR v_days > 3652058 THEN
        RETURN NULL;
    END IF;
    RETURN CASE WHEN has_date THEN timestamp '0001-01-01' + v_days * interval '1 day' ELSE timestamp '1900-01-01' END
        + v_clock * interval '1 second';
END;
$$;
CREATE OR REPLACE FUNCTION sys.moment_of_bytes(value bytea, has_date boolean, target text) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_moment timestamp := sys.moment_in_bytes(value, target <> 'date', has_date);
BEGIN
    IF v_moment IS NULL THEN
        PERFORM ssb_internal.raise_error(8114, format('Error converting data type varbinary to %s.', target));
    END IF;
    RETURN v_moment;
END;
$$;
CREATE OR REPLACE FUNCTION sys.convert_date(value bytea, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_of_bytes(value, true, 'date')::date;
CREATE OR REPLACE FUNCTION sys.convert_time(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(sys.moment_of_bytes(value, false, 'time'), scale)::time;
CREATE OR REPLACE FUNCTION sys.convert_datetime2(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(sys.moment_of_bytes(value, true, 'datetime2'), scale);
CREATE OR REPLACE FUNCTION sys.convert_datetimeoffset(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.round_moment(sys.moment_of_bytes(value, true, 'datetimeoffset'), scale) AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.try_convert_date(value bytea, style integer DEFAULT 0) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.moment_in_bytes(value, false, true)::date;
CREATE OR REPLACE FUNCTION sys.try_convert_time(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS time
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(sys.moment_in_bytes(value, true, false), scale)::time;
CREATE OR REPLACE FUNCTION sys.try_convert_datetime2(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_moment(sys.moment_in_bytes(value, true, true), scale);
CREATE OR REPLACE FUNCTION sys.try_convert_datetimeoffset(value bytea, scale integer DEFAULT 7, style integer DEFAULT 0) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.round_moment(sys.moment_in_bytes(value, true, true), scale) AT TIME ZONE 'UTC';

-- smalldatetime: days since 1900-01-01 and minutes since midnight, in two bytes each.
CREATE OR REPLACE FUNCTION sys.bytes_of_smalldatetime(value timestamp) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substr(int4send(value::date - date '1900-01-01'), 3)
    || substr(int4send((date_part('epoch', value::time) / 60)::integer), 3);

-- VARBINARY
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value sys.bit, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(substr(int2send(value), 2), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(int2send(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(int4send(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(int8send(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(sys.bytes_of_decimal(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value real, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(float4send(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(float8send(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.last_bytes(sys.bytes_of_datetime(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value date, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.first_bytes(sys.bytes_of_date(value), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.first_bytes(sys.swap_uuid_bytes(uuid_send(value)), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.first_bytes(value, length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.first_bytes(sys.bytes_of_text(value, style), length);
CREATE OR REPLACE FUNCTION sys.convert_varbinary(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.first_bytes(ssb_internal.xml_bytes(value::text), length);
