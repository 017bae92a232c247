-- Made by scripts/derive_conversions.py: change that, and run it.
--
-- CHAR, NCHAR: as varchar and nvarchar, filled with blanks. BINARY: as varbinary, filled with zeros, in front
-- of numbers and behind everything else. TRY_CONVERT: only a number or a uniqueidentifier can be too long,
-- only text and bytes can be wrong.

CREATE OR REPLACE FUNCTION sys.convert_char(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value date, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value time, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value timestamptz, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_char(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN rpad(sys.convert_varchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value date, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value time, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value timestamptz, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.convert_nchar(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN rpad(sys.convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_varchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_varchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(sys.float_text(value, style)) <= length THEN sys.convert_varchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value date, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value time, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value timestamptz, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_varchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_varchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_varchar(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_varchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nvarchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(sys.float_text(value, style)) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nvarchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value date, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nvarchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value time, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nvarchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value timestamptz, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.convert_nvarchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style IN (1, 2) THEN sys.hex_text(value, length, style)
            ELSE left(sys.try_text_of(value), coalesce(length, 2147483647)) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nvarchar(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nvarchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_char(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_char(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(sys.float_text(value, style)) <= length THEN sys.convert_char(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value date, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value time, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value timestamptz, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_char(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_char(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_char(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_char(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(sys.float_text(value, style)) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value date, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value time, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.convert_nchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value timestamptz, length integer DEFAULT 30, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.convert_nchar(value, length, style);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(sys.try_convert_nvarchar(value, length, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_nchar(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN sys.convert_nchar(value, length, style) END;

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value sys.bit, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value real, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value date, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.convert_binary(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value sys.bit, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(substr(int2send(value), 2), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(int2send(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(int4send(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(int8send(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.bytes_of_decimal(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value real, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(float4send(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(float8send(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.bytes_of_datetime(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value date, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.bytes_of_date(value), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.swap_uuid_bytes(uuid_send(value)), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(value, length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.read_hex(value, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_varbinary(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.first_bytes(ssb_internal.xml_bytes(value::text), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value sys.bit, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value smallint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value integer, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value bigint, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value numeric, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value real, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value double precision, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value timestamp, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.last_bytes(sys.zeros(length) || sys.try_convert_varbinary(value, NULL, style), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value date, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value uuid, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value bytea, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_convert_varbinary(value, NULL, style) || sys.zeros(length), length);

CREATE OR REPLACE FUNCTION sys.try_convert_binary(
    value sys.xml, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_convert_varbinary(value, NULL, style) || sys.zeros(length), length);
