-- NVARCHAR to VARBINARY and BINARY with a style, which alone tells whether it is read as hexadecimal; without one the compiler writes
-- ssb.nvarchar_bytes and converts what that gives.
CREATE OR REPLACE FUNCTION sys.nvarchar_to_varbinary(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style IN (1, 2) THEN sys.convert_varbinary(value, length, style)
            ELSE sys.convert_varbinary(ssb.nvarchar_bytes(value), length) END;
CREATE OR REPLACE FUNCTION sys.nvarchar_to_binary(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.nvarchar_to_varbinary(value, NULL, style) || sys.zeros(length), length);
CREATE OR REPLACE FUNCTION sys.try_nvarchar_to_varbinary(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style IN (1, 2) THEN sys.try_convert_varbinary(value, length, style)
            ELSE sys.convert_varbinary(ssb.nvarchar_bytes(value), length) END;
CREATE OR REPLACE FUNCTION sys.try_nvarchar_to_binary(
    value text, length integer DEFAULT 30, style integer DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.first_bytes(sys.try_nvarchar_to_varbinary(value, NULL, style) || sys.zeros(length), length);
