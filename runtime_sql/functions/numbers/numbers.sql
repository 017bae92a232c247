-- T-SQL's mathematical functions, where the result's type or the error differs
-- from PostgreSQL's. Each keeps the type of its argument, as T-SQL does.

-- ROUND with a third argument other than 0 cuts. A negative length rounds in
-- front of the point.
CREATE OR REPLACE FUNCTION sys.round(value numeric, digits integer, truncate integer DEFAULT 0) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN truncate <> 0 THEN round(trunc(value, digits), greatest(scale(value), 0))
    ELSE round(round(value, digits), greatest(scale(value), 0))
END;
CREATE OR REPLACE FUNCTION sys.round(value double precision, digits integer, truncate integer DEFAULT 0)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN truncate <> 0 THEN trunc(value::numeric, digits)
    ELSE round(value::numeric, digits)
END::double precision;
CREATE OR REPLACE FUNCTION sys.round(value integer, digits integer, truncate integer DEFAULT 0) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN digits >= 0 THEN value ELSE sys.round(value::numeric, digits, truncate)::integer END;
CREATE OR REPLACE FUNCTION sys.round(value smallint, digits integer, truncate integer DEFAULT 0) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round(value::integer, digits, truncate);
CREATE OR REPLACE FUNCTION sys.round(value bigint, digits integer, truncate integer DEFAULT 0) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN digits >= 0 THEN value ELSE sys.round(value::numeric, digits, truncate)::bigint END;

-- CEILING, FLOOR, SIGN
CREATE OR REPLACE FUNCTION sys.ceiling(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer;
CREATE OR REPLACE FUNCTION sys.ceiling(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.ceiling(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.ceiling(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ceil(value);
CREATE OR REPLACE FUNCTION sys.ceiling(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ceil(value);
CREATE OR REPLACE FUNCTION sys.floor(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer;
CREATE OR REPLACE FUNCTION sys.floor(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.floor(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value;
CREATE OR REPLACE FUNCTION sys.floor(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN floor(value);
CREATE OR REPLACE FUNCTION sys.floor(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN floor(value);
CREATE OR REPLACE FUNCTION sys.sign(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sign(value)::integer;
CREATE OR REPLACE FUNCTION sys.sign(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sign(value)::integer;
CREATE OR REPLACE FUNCTION sys.sign(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sign(value::numeric)::bigint;
CREATE OR REPLACE FUNCTION sys.sign(value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(sign(value), scale(value));
CREATE OR REPLACE FUNCTION sys.sign(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sign(value);

-- POWER of an integer is an integer, cut (POWER(2, -1) is 0) and checked (232).
CREATE OR REPLACE FUNCTION sys.power_cut(value numeric, exponent double precision, low numeric, high numeric, type_name text)
RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result numeric;
BEGIN
    IF value = 0 AND exponent < 0 THEN
        PERFORM ssb_internal.raise_error(8134, 'Divide by zero error encountered.');
    END IF;
    v_result := CASE
        WHEN abs(exponent) * log(greatest(abs(value), 2)) > 40 AND exponent < 0 THEN 0
        WHEN abs(exponent) * log(greatest(abs(value), 2)) > 40 AND abs(value) > 1 THEN high + 1
        ELSE trunc(power(value, exponent::numeric))
    END;
    IF v_result NOT BETWEEN low AND high THEN
        PERFORM ssb_internal.raise_error(232, format('Arithmetic overflow error for type %s, value = %s.', type_name,
                                                     round(power(value::double precision, exponent)::numeric, 6)));
    END IF;
    RETURN v_result;
END;
$$;
CREATE OR REPLACE FUNCTION sys.power(value integer, exponent double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.power_cut(value, exponent, -2147483648, 2147483647, 'int')::integer;
CREATE OR REPLACE FUNCTION sys.power(value smallint, exponent double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.power(value::integer, exponent);
CREATE OR REPLACE FUNCTION sys.power(value bigint, exponent double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.power_cut(value, exponent, -9223372036854775808, 9223372036854775807, 'bigint')::bigint;
-- The scale stays that of the base.
CREATE OR REPLACE FUNCTION sys.power(value numeric, exponent double precision) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN round(power(value, exponent::numeric), scale(value));
CREATE OR REPLACE FUNCTION sys.power(value double precision, exponent double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN power(value, exponent);

-- Functions of floats: 3623 outside their domain. (The argument keeps the
-- planner from calling it ahead of time.)
CREATE OR REPLACE FUNCTION sys.invalid_float(value double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(3623, 'An invalid floating point operation occurred.');
    RETURN NULL;
END;
$$;
CREATE OR REPLACE FUNCTION sys.sqrt(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value < 0 THEN sys.invalid_float(value) ELSE sqrt(value) END;
CREATE OR REPLACE FUNCTION sys.square(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value * value;
CREATE OR REPLACE FUNCTION sys.exp(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value < -740 THEN 0 ELSE exp(value) END;
CREATE OR REPLACE FUNCTION sys.log(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value <= 0 THEN sys.invalid_float(value) ELSE ln(value) END;
CREATE OR REPLACE FUNCTION sys.log(value double precision, base double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- (Both arguments keep the planner from it: one of them may be a constant.)
RETURN CASE WHEN value <= 0 OR base <= 0 OR base = 1 THEN sys.invalid_float(value + base) ELSE ln(value) / ln(base) END;
CREATE OR REPLACE FUNCTION sys.log10(value double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value <= 0 THEN sys.invalid_float(value) ELSE log(value) END;

-- RAND: with a seed the numbers that follow are always the same ones (not SQL
-- Server's). T-SQL evaluates RAND() once for a query: STABLE would let the
-- planner choose, VOLATILE gives a number for each row, which is what people want.
CREATE OR REPLACE FUNCTION sys.rand() RETURNS double precision
LANGUAGE sql VOLATILE PARALLEL RESTRICTED RETURN random();
CREATE OR REPLACE FUNCTION sys.rand(seed integer) RETURNS double precision
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF seed IS NOT NULL THEN
        PERFORM setseed(seed / 2147483648.0);
    END IF;
    RETURN random();
END;
$$;

-- ISNUMERIC: 1 for whatever converts to one of the number types, money included.
CREATE OR REPLACE FUNCTION sys.isnumeric(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NULL OR value ~ '^\s*$' THEN 0
    WHEN sys.read_float(value) IS NOT NULL OR sys.read_money(value) IS NOT NULL THEN 1
    ELSE 0
END;
CREATE OR REPLACE FUNCTION sys.isnumeric(value numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value IS NOT NULL)::integer;
CREATE OR REPLACE FUNCTION sys.isnumeric(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value IS NOT NULL)::integer;
CREATE OR REPLACE FUNCTION sys.isnumeric(value anyelement) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 0';

-- GENERATE_SERIES: the step defaults to the direction that leads to stop.
CREATE OR REPLACE FUNCTION sys.generate_series(start integer, stop integer, step integer DEFAULT NULL)
RETURNS TABLE (value integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s FROM pg_catalog.generate_series($1, $2, coalesce($3, CASE WHEN $1 <= $2 THEN 1 ELSE -1 END)) AS s;
END;
CREATE OR REPLACE FUNCTION sys.generate_series(start bigint, stop bigint, step bigint DEFAULT NULL)
RETURNS TABLE (value bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s FROM pg_catalog.generate_series($1, $2, coalesce($3, CASE WHEN $1 <= $2 THEN 1 ELSE -1 END)) AS s;
END;
CREATE OR REPLACE FUNCTION sys.generate_series(start numeric, stop numeric, step numeric DEFAULT NULL)
RETURNS TABLE (value numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT s FROM pg_catalog.generate_series($1, $2, coalesce($3, CASE WHEN $1 <= $2 THEN 1 ELSE -1 END)) AS s;
END;

-- AVG of integers is an integer, cut.
CREATE OR REPLACE FUNCTION sys.avg_int_step(state bigint[], value bigint) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value IS NULL THEN state ELSE ARRAY[state[1] + value, state[2] + 1] END;
CREATE OR REPLACE FUNCTION sys.avg_int_join(a bigint[], b bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ARRAY[a[1] + b[1], a[2] + b[2]];
CREATE OR REPLACE FUNCTION sys.avg_int_result(state bigint[]) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN state[2] > 0 THEN state[1] / state[2] END;
CREATE OR REPLACE AGGREGATE sys.avg_int(bigint) (
    SFUNC = sys.avg_int_step, STYPE = bigint[], INITCOND = '{0,0}', FINALFUNC = sys.avg_int_result,
    COMBINEFUNC = sys.avg_int_join, PARALLEL = SAFE);

-- TOP (n) where n is no literal: error 1060 for NULL, which would be no limit.
CREATE OR REPLACE FUNCTION sys.top_count(value bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF value IS NULL THEN
        RAISE EXCEPTION 'LIMIT must not be NULL' USING ERRCODE = 'invalid_row_count_in_limit_clause';
    END IF;
    RETURN value;
END;
$$;
