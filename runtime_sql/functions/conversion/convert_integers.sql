-- CAST, CONVERT and TRY_CONVERT to INT, BIGINT, SMALLINT, TINYINT.
-- Strings: 245, 244, 248, 8114 and 8115 as SQL Server has them. Decimals and
-- floats are cut, not rounded. Dates become days since 1900-01-01, rounded.
-- Binary values give their last bytes, most significant first.
-- source: what errors call the string where it is no varchar.

-- Days since 1900-01-01: what a datetime is as a number.
CREATE OR REPLACE FUNCTION sys.datetime_number(value timestamp) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_part('epoch', value - timestamp '1900-01-01') / 86400;
-- The last bytes (fewer count as with zeros in front) as a signed number.
CREATE OR REPLACE FUNCTION sys.integer_of_bytes(value bytea, bytes integer)
RETURNS bigint
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_number bigint := 0;
    v_length integer := pg_catalog.octet_length(value);
BEGIN
    FOR i IN greatest(v_length OPERATOR(pg_catalog.-) bytes, 0) .. v_length OPERATOR(pg_catalog.-) 1 LOOP
        v_number := (v_number OPERATOR(pg_catalog.<<) 8) OPERATOR(pg_catalog.|) pg_catalog.get_byte(value, i);
    END LOOP;
    IF bytes OPERATOR(pg_catalog.<) 8 AND bytes OPERATOR(pg_catalog.>) 1
       AND v_number OPERATOR(pg_catalog.>=) (1::bigint OPERATOR(pg_catalog.<<) ((8 OPERATOR(pg_catalog.*) bytes) OPERATOR(pg_catalog.-) 1)) THEN
        v_number := v_number OPERATOR(pg_catalog.-) (1::bigint OPERATOR(pg_catalog.<<) (8 OPERATOR(pg_catalog.*) bytes));
    END IF;
    RETURN v_number;
END;
$$;

-- A number too large for a small integer kind: 220 for integers, 8115 for
-- decimals and what arithmetic gives, 232 for floats. source int, numeric, float or expression.
CREATE OR REPLACE FUNCTION sys.small_integer(value numeric, type_name text, source text, low integer, high integer)
RETURNS integer
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_number numeric := pg_catalog.trunc(value);
BEGIN
    IF v_number OPERATOR(pg_catalog.>=) low AND v_number OPERATOR(pg_catalog.<=) high THEN
        RETURN v_number;
    ELSIF source OPERATOR(pg_catalog.=) 'int' THEN
        PERFORM ssb_internal.raise_error(220, pg_catalog.format(
            'Arithmetic overflow error for data type %s, value = %s.', type_name, v_number),
            state => CASE WHEN type_name OPERATOR(pg_catalog.=) 'tinyint' THEN 2 ELSE 1 END);
    ELSIF source OPERATOR(pg_catalog.=) 'float' THEN
        PERFORM ssb_internal.raise_error(232, pg_catalog.format(
            'Arithmetic overflow error for type %s, value = %s.', type_name, pg_catalog.round(value, 6)));
    ELSE
        PERFORM ssb_internal.raise_error(8115, pg_catalog.format(
            'Arithmetic overflow error converting %s to data type %s.', source, type_name),
            state => CASE WHEN source OPERATOR(pg_catalog.=) 'expression' THEN 2 ELSE 1 END);
    END IF;
    RETURN NULL;
END;
$$;

-- INT

CREATE OR REPLACE FUNCTION sys.convert_int(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,9}$' THEN value::integer
    ELSE sys.read_integer_of(value, 'int', -2147483648, 2147483647)::integer
END;
CREATE OR REPLACE FUNCTION sys.convert_int(value text, source text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,9}$' THEN value::integer
    ELSE sys.read_integer_of(value, 'int', -2147483648, 2147483647, source)::integer
END;

CREATE OR REPLACE FUNCTION sys.try_convert_int(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_read_integer(value, -2147483648, 2147483647)::integer;
CREATE OR REPLACE FUNCTION sys.convert_int(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer;
CREATE OR REPLACE FUNCTION sys.convert_int(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_int(value bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN -2147483648 AND 2147483647 THEN value::integer END;
CREATE OR REPLACE FUNCTION sys.convert_int(value numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN trunc(value)::integer;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN -2147483648 AND 2147483647 THEN trunc(value)::integer END;
CREATE OR REPLACE FUNCTION sys.convert_int(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN trunc(value) BETWEEN -2147483648 AND 2147483647 THEN trunc(value)::integer
    ELSE sys.small_integer(value::numeric, 'int', 'float', -2147483648, 2147483647)
END;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN -2147483648 AND 2147483647 THEN trunc(value)::integer END;
CREATE OR REPLACE FUNCTION sys.convert_int(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_int(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.convert_int(value bytea) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 4)::integer;
CREATE OR REPLACE FUNCTION sys.try_convert_int(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_convert_int(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.try_convert_int(value bytea) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 4)::integer;

-- BIGINT

CREATE OR REPLACE FUNCTION sys.convert_bigint(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,18}$' THEN value::bigint
    ELSE sys.read_integer_of(value, 'bigint', -9223372036854775808, 9223372036854775807)::bigint
END;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value text, source text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,18}$' THEN value::bigint
    ELSE sys.read_integer_of(value, 'bigint', -9223372036854775808, 9223372036854775807, source)::bigint
END;

CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_read_integer(value, -9223372036854775808, 9223372036854775807)::bigint;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value smallint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::bigint;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value smallint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::bigint;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::bigint;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::bigint;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN trunc(value)::bigint;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN trunc(value)::bigint END;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN trunc(value)::bigint;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value >= -9223372036854775808 AND value < 9223372036854775808 THEN trunc(value)::bigint END;
CREATE OR REPLACE FUNCTION sys.convert_bigint(value timestamp) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_bigint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.convert_bigint(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 8)::bigint;
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value timestamp) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_convert_bigint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.try_convert_bigint(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 8)::bigint;

-- SMALLINT

CREATE OR REPLACE FUNCTION sys.convert_smallint(value text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,4}$' THEN value::smallint
    ELSE sys.read_integer_of(value, 'smallint', -32768, 32767)::smallint
END;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value text, source text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^-?[0-9]{1,4}$' THEN value::smallint
    ELSE sys.read_integer_of(value, 'smallint', -32768, 32767, source)::smallint
END;

CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_read_integer(value, -32768, 32767)::smallint;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'smallint', 'int', -32768, 32767)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN -32768 AND 32767 THEN value::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'smallint', 'int', -32768, 32767)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN -32768 AND 32767 THEN value::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value numeric) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value, 'smallint', 'numeric', -32768, 32767)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value numeric) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN -32768 AND 32767 THEN trunc(value)::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'smallint', 'float', -32768, 32767)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN -32768 AND 32767 THEN trunc(value)::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_smallint(value timestamp) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_smallint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.convert_smallint(value bytea) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 2)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value timestamp) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_convert_smallint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.try_convert_smallint(value bytea) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 2)::smallint;

-- TINYINT

CREATE OR REPLACE FUNCTION sys.convert_tinyint(value text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^[0-9]{1,2}$' THEN value::smallint
    ELSE sys.read_integer_of(value, 'tinyint', 0, 255)::smallint
END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value text, source text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^[0-9]{1,2}$' THEN value::smallint
    ELSE sys.read_integer_of(value, 'tinyint', 0, 255, source)::smallint
END;

CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_read_integer(value, 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'tinyint', 'int', 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN 0 AND 255 THEN value::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'tinyint', 'int', 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN 0 AND 255 THEN value::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'tinyint', 'int', 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value BETWEEN 0 AND 255 THEN value::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value numeric) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value, 'tinyint', 'numeric', 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value numeric) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN 0 AND 255 THEN trunc(value)::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.small_integer(value::numeric, 'tinyint', 'float', 0, 255)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN trunc(value) BETWEEN 0 AND 255 THEN trunc(value)::smallint END;
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value timestamp) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_tinyint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.convert_tinyint(value bytea) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 1)::smallint;
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value timestamp) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.try_convert_tinyint(floor(sys.datetime_number(value) + 0.5));
CREATE OR REPLACE FUNCTION sys.try_convert_tinyint(value bytea) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.integer_of_bytes(value, 1)::smallint;

-- What arithmetic on two tinyints gives, as integers.
CREATE OR REPLACE FUNCTION sys.tinyint_result(value integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value BETWEEN 0 AND 255 THEN value::smallint
    ELSE sys.small_integer(value::numeric, 'tinyint', 'expression', 0, 255)::smallint
END;
