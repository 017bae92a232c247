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
-- number, least significant byte first, in 4, 8, 12 or 16 bytes. The precision
-- is that of the value: PostgreSQL does not hand on the declared one.
CREATE OR REPLACE FUNCTION sys.bytes_of_decimal(value numeric) RETURNS bytea
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
    RETURN set_byte(set_byte(set_byte('\x00000000'::bytea, 0, v_precision), 1, scale(value)), 3, (value >= 0)::integer)
        || v_bytes;
END;
$$;

CREATE OR REPLACE FUNCTION sys.decimal_of_bytes(value bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number numeric := 0;
BEGIN
    IF octet_length(value) < 5 THEN
        PERFORM ssb_internal.raise_error(8114, 'Error converting data type varbinary to numeric.');
    END IF;
    FOR i IN REVERSE octet_length(value) - 1 .. 4 LOOP
        v_number := v_number * 256 + get_byte(value, i);
    END LOOP;
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
