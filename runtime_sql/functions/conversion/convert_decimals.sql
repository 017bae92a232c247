-- CAST, CONVERT and TRY_CONVERT to DECIMAL, MONEY, SMALLMONEY, FLOAT, REAL,
-- BIT and UNIQUEIDENTIFIER.

-- Rounds half away from zero to the scale; what does not fit is NULL.
CREATE OR REPLACE FUNCTION sys.fit_decimal(value numeric, "precision" integer, scale integer) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_rounded numeric := pg_catalog.round(value, scale);
BEGIN
    RETURN CASE WHEN pg_catalog.abs(v_rounded) OPERATOR(pg_catalog.<)
        pg_catalog.power(10::numeric, "precision" OPERATOR(pg_catalog.-) scale) THEN v_rounded END;
END;
$$;

-- source is the type that the error names: varchar, int, numeric, float, money.
CREATE OR REPLACE FUNCTION sys.decimal_of(value numeric, "precision" integer, scale integer, source text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_fitting numeric := sys.fit_decimal(value, "precision", scale);
BEGIN
    IF v_fitting IS NULL THEN
        PERFORM ssb_internal.raise_error(8115, pg_catalog.format(
            'Arithmetic overflow error converting %s to data type numeric.', source),
            state => CASE WHEN source OPERATOR(pg_catalog.=) 'float' THEN 6 ELSE 8 END);
    END IF;
    RETURN v_fitting;
END;
$$;

-- money and smallmoney: four decimals, within SQL Server's limits; NULL outside.
CREATE OR REPLACE FUNCTION sys.is_within_money(value numeric, type_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN type_name = 'money' AND value BETWEEN -922337203685477.5808 AND 922337203685477.5807
    OR type_name = 'smallmoney' AND value BETWEEN -214748.3648 AND 214748.3647;

CREATE OR REPLACE FUNCTION sys.fit_money(value numeric, type_name text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_rounded numeric := pg_catalog.round(value, 4);
BEGIN
    RETURN CASE WHEN sys.is_within_money(v_rounded, type_name) THEN v_rounded END;
END;
$$;

CREATE OR REPLACE FUNCTION sys.money_of(value numeric, type_name text, source text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_fitting numeric := sys.fit_money(value, type_name);
BEGIN
    IF v_fitting IS NULL THEN
        PERFORM ssb_internal.raise_error(8115, pg_catalog.format('Arithmetic overflow error converting %s to data type %s.', source, type_name));
    END IF;
    RETURN v_fitting;
END;
$$;

-- A string as a number by the rules of its type; NULL for what is none.
CREATE OR REPLACE FUNCTION sys.read_number(value text, type_name text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN type_name IN ('float', 'real') THEN sys.read_float(value)
    WHEN type_name IN ('money', 'smallmoney') THEN sys.read_money(value)
    ELSE sys.read_decimal(value)
END;

-- A string that is no number: 8114 for decimal, float, real; 235 for money.
CREATE OR REPLACE FUNCTION sys.read_number_of(value text, type_name text, source text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_number numeric := sys.read_number(value, type_name);
BEGIN
    IF v_number IS NOT NULL THEN
        RETURN v_number;
    ELSIF type_name OPERATOR(pg_catalog.=) 'money' THEN
        PERFORM ssb_internal.raise_error(235,
            'Cannot convert a char value to money. The char value has incorrect syntax.');
    ELSIF type_name OPERATOR(pg_catalog.=) 'smallmoney' THEN
        PERFORM ssb_internal.raise_error(293,
            'Cannot convert char value to smallmoney. The char value has incorrect syntax.');
    ELSE
        PERFORM ssb_internal.raise_error(8114, pg_catalog.format('Error converting data type %s to %s.', source, type_name));
    END IF;
    RETURN NULL;
END;
$$;
CREATE OR REPLACE FUNCTION sys.read_number_of(value text, type_name text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(value, type_name, 'varchar');

-- What stands after the 36 (in braces: 38) characters is ignored.
CREATE OR REPLACE FUNCTION sys.read_uniqueidentifier(value text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}' THEN left(value, 36)::uuid
    WHEN value ~* '^\{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}' THEN left(value, 38)::uuid
END;

CREATE OR REPLACE FUNCTION sys.uniqueidentifier_of(value text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_uuid pg_catalog.uuid := sys.read_uniqueidentifier(value);
BEGIN
    IF v_uuid IS NULL THEN
        PERFORM ssb_internal.raise_error(8169,
            'Conversion failed when converting from a character string to uniqueidentifier.');
    END IF;
    RETURN v_uuid;
END;
$$;

-- SQL Server keeps the first three groups of a uniqueidentifier least
-- significant byte first. The reordering is its own inverse. Fewer than 16
-- bytes are filled with zeros, more are cut.
CREATE OR REPLACE FUNCTION sys.swap_uuid_bytes(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(value, 4, 1) || substr(value, 3, 1) || substr(value, 2, 1) || substr(value, 1, 1)
    || substr(value, 6, 1) || substr(value, 5, 1) || substr(value, 8, 1) || substr(value, 7, 1)
    || substr(value, 9, 8);

CREATE OR REPLACE FUNCTION sys.read_bit(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~* '^\s*true\s*$' THEN 1
    WHEN value ~* '^\s*false\s*$' THEN 0
    ELSE (sys.read_integer(value) <> 0)::integer
END;
CREATE OR REPLACE FUNCTION sys.bit_of(value text) RETURNS smallint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN sys.read_bit(value);
END;
$$;

CREATE OR REPLACE FUNCTION sys.read_bit_of(value text, source text) RETURNS smallint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_bit smallint := sys.bit_of(value);
BEGIN
    IF v_bit IS NULL THEN
        PERFORM ssb_internal.raise_error(245, pg_catalog.format(
            'Conversion failed when converting the %s value ''%s'' to data type bit.', source, value));
    END IF;
    RETURN v_bit;
END;
$$;
CREATE OR REPLACE FUNCTION sys.read_bit_of(value text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_bit_of(value, 'varchar');


-- DECIMAL
CREATE OR REPLACE FUNCTION sys.convert_decimal(value text, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.decimal_of(sys.read_number_of(value, 'numeric'), "precision", scale, 'varchar');
CREATE OR REPLACE FUNCTION sys.convert_decimal(value text, "precision" integer, scale integer, source text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.decimal_of(sys.read_number_of(value, 'numeric', source), "precision", scale, source);
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value text, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(sys.read_decimal(value), "precision", scale);
CREATE OR REPLACE FUNCTION sys.convert_decimal(value integer, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.decimal_of(value::numeric, "precision", scale, 'int');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value integer, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(value::numeric, "precision", scale);
CREATE OR REPLACE FUNCTION sys.convert_decimal(value bigint, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.decimal_of(value::numeric, "precision", scale, 'bigint');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value bigint, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(value::numeric, "precision", scale);
CREATE OR REPLACE FUNCTION sys.convert_decimal(value numeric, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.decimal_of(value, "precision", scale, 'numeric');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value numeric, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(value, "precision", scale);
CREATE OR REPLACE FUNCTION sys.convert_decimal(value double precision, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.decimal_of(value::numeric, "precision", scale, 'float');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value double precision, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(value::numeric, "precision", scale);
CREATE OR REPLACE FUNCTION sys.convert_decimal(value timestamp, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.decimal_of(sys.datetime_number(value)::numeric, "precision", scale, 'datetime');
CREATE OR REPLACE FUNCTION sys.try_convert_decimal(value timestamp, "precision" integer DEFAULT 18, scale integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_decimal(sys.datetime_number(value)::numeric, "precision", scale);

-- MONEY: numeric(19,4), within SQL Server's limits
CREATE OR REPLACE FUNCTION sys.convert_money(value text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(sys.read_number_of(value, 'money'), 'money', 'varchar');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.read_money(value), 'money');
CREATE OR REPLACE FUNCTION sys.convert_money(value integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'money', 'int');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'money');
CREATE OR REPLACE FUNCTION sys.convert_money(value bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'money', 'bigint');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'money');
CREATE OR REPLACE FUNCTION sys.convert_money(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value, 'money', 'numeric');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value, 'money');
CREATE OR REPLACE FUNCTION sys.convert_money(value double precision) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'money', 'float');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value double precision) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'money');
CREATE OR REPLACE FUNCTION sys.convert_money(value bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(sys.integer_of_bytes(value, 8) * 0.0001, 4);
CREATE OR REPLACE FUNCTION sys.try_convert_money(value bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(sys.integer_of_bytes(value, 8) * 0.0001, 4);
CREATE OR REPLACE FUNCTION sys.convert_money(value timestamp) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(sys.datetime_number(value)::numeric, 'money', 'datetime');
CREATE OR REPLACE FUNCTION sys.try_convert_money(value timestamp) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.datetime_number(value)::numeric, 'money');

-- SMALLMONEY: numeric(19,4), within SQL Server's limits
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(sys.read_number_of(value, 'smallmoney'), 'smallmoney', 'varchar');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.read_money(value), 'smallmoney');
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'smallmoney', 'int');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'smallmoney');
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'smallmoney', 'bigint');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'smallmoney');
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value, 'smallmoney', 'numeric');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value, 'smallmoney');
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value double precision) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(value::numeric, 'smallmoney', 'float');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value double precision) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(value::numeric, 'smallmoney');
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(sys.integer_of_bytes(value, 4) * 0.0001, 4);
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value bytea) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(sys.integer_of_bytes(value, 4) * 0.0001, 4);
CREATE OR REPLACE FUNCTION sys.convert_smallmoney(value timestamp) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.money_of(sys.datetime_number(value)::numeric, 'smallmoney', 'datetime');
CREATE OR REPLACE FUNCTION sys.try_convert_smallmoney(value timestamp) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.fit_money(sys.datetime_number(value)::numeric, 'smallmoney');

-- FLOAT
CREATE OR REPLACE FUNCTION sys.convert_float(value text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(value, 'float')::double precision;
CREATE OR REPLACE FUNCTION sys.convert_float(value text, source text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(value, 'float', source)::double precision;
CREATE OR REPLACE FUNCTION sys.try_convert_float(value text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(sys.read_float(value)) <= 1.7976931348623157e308 THEN sys.read_float(value)::double precision END;
CREATE OR REPLACE FUNCTION sys.convert_float(value integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.try_convert_float(value integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.convert_float(value bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.try_convert_float(value bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.convert_float(value numeric) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.try_convert_float(value numeric) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::double precision;
CREATE OR REPLACE FUNCTION sys.convert_float(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_float(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_float(value timestamp) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetime_number(value);
CREATE OR REPLACE FUNCTION sys.try_convert_float(value timestamp) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetime_number(value);

-- REAL
CREATE OR REPLACE FUNCTION sys.convert_real(value text) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(value, 'real')::real;
CREATE OR REPLACE FUNCTION sys.convert_real(value text, source text) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(value, 'real', source)::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value text) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(sys.read_float(value)) <= 3.4028234e38 THEN sys.read_float(value)::real END;
CREATE OR REPLACE FUNCTION sys.convert_real(value integer) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value integer) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.convert_real(value bigint) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value bigint) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.convert_real(value numeric) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value numeric) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.convert_real(value double precision) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value double precision) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN abs(value) <= 3.4028234e38 THEN value::real END;
CREATE OR REPLACE FUNCTION sys.convert_real(value timestamp) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetime_number(value)::real;
CREATE OR REPLACE FUNCTION sys.try_convert_real(value timestamp) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.datetime_number(value)::real;

-- BIT
CREATE OR REPLACE FUNCTION sys.convert_bit(value text) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_bit_of(value)::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value text, source text) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_bit_of(value, source)::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value text) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.bit_of(value)::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value smallint) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value integer) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value bigint) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value numeric) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value double precision) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value boolean) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value bytea) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (sys.integer_of_bytes(value, 8) <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value smallint) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value integer) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value bigint) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value numeric) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value double precision) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value boolean) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value bytea) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (sys.integer_of_bytes(value, 8) <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.convert_bit(value timestamp) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (sys.datetime_number(value) <> 0)::integer::sys.bit;
CREATE OR REPLACE FUNCTION sys.try_convert_bit(value timestamp) RETURNS sys.bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (sys.datetime_number(value) <> 0)::integer::sys.bit;

-- UNIQUEIDENTIFIER
CREATE OR REPLACE FUNCTION sys.convert_uniqueidentifier(value text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.uniqueidentifier_of(value);
CREATE OR REPLACE FUNCTION sys.try_convert_uniqueidentifier(value text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_uniqueidentifier(value);
CREATE OR REPLACE FUNCTION sys.convert_uniqueidentifier(value uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.convert_uniqueidentifier(value bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(sys.swap_uuid_bytes(value || '\x00000000000000000000000000000000'::bytea), 'hex')::uuid;
CREATE OR REPLACE FUNCTION sys.try_convert_uniqueidentifier(value uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.try_convert_uniqueidentifier(value bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(sys.swap_uuid_bytes(value || '\x00000000000000000000000000000000'::bytea), 'hex')::uuid;
