-- AVG where only the server knows the argument's type: of integers it is an integer, cut, in
-- T-SQL; PostgreSQL's own avg would answer with decimals. (Where the compiler knows the type it
-- writes trunc(avg(x)).)
--
-- Called by  compiled AVG over columns of tables that the script does not create; MIN, MAX
-- Locks      none
CREATE OR REPLACE FUNCTION sys.avg_integer_result(p_state bigint[])
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN trunc(pg_catalog.int8_avg(p_state))::integer;

CREATE OR REPLACE FUNCTION sys.avg_numeric_step(p_state numeric[], p_value numeric)
RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_value IS NULL THEN p_state ELSE ARRAY[p_state[1] + p_value, p_state[2] + 1] END;

CREATE OR REPLACE FUNCTION sys.avg_bigint_step(p_state numeric[], p_value bigint)
RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_value IS NULL THEN p_state ELSE ARRAY[p_state[1] + p_value, p_state[2] + 1] END;

CREATE OR REPLACE FUNCTION sys.avg_numeric_result(p_state numeric[])
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_state[2] > 0 THEN p_state[1] / p_state[2] END;

CREATE OR REPLACE FUNCTION sys.avg_bigint_result(p_state numeric[])
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_state[2] > 0 THEN trunc(p_state[1] / p_state[2])::bigint END;

CREATE OR REPLACE AGGREGATE sys.avg(smallint) (
    SFUNC = int2_avg_accum, STYPE = bigint[], INITCOND = '{0,0}', FINALFUNC = sys.avg_integer_result,
    COMBINEFUNC = int4_avg_combine, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.avg(integer) (
    SFUNC = int4_avg_accum, STYPE = bigint[], INITCOND = '{0,0}', FINALFUNC = sys.avg_integer_result,
    COMBINEFUNC = int4_avg_combine, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.avg(bigint) (
    SFUNC = sys.avg_bigint_step, STYPE = numeric[], INITCOND = '{0,0}', FINALFUNC = sys.avg_bigint_result,
    PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.avg(numeric) (
    SFUNC = sys.avg_numeric_step, STYPE = numeric[], INITCOND = '{0,0}', FINALFUNC = sys.avg_numeric_result,
    PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.avg(double precision) (
    SFUNC = float8_accum, STYPE = double precision[], INITCOND = '{0,0,0}', FINALFUNC = float8_avg,
    COMBINEFUNC = float8_combine, PARALLEL = SAFE);

-- MIN and MAX of uniqueidentifier and binary values, which PostgreSQL has no aggregates for before 18.
CREATE OR REPLACE FUNCTION sys.lesser(p_state uuid, p_value uuid)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN p_value < p_state THEN p_value ELSE p_state END;

CREATE OR REPLACE FUNCTION sys.greater(p_state uuid, p_value uuid)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN p_value > p_state THEN p_value ELSE p_state END;

CREATE OR REPLACE FUNCTION sys.lesser(p_state bytea, p_value bytea)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN p_value < p_state THEN p_value ELSE p_state END;

CREATE OR REPLACE FUNCTION sys.greater(p_state bytea, p_value bytea)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN p_value > p_state THEN p_value ELSE p_state END;

CREATE OR REPLACE AGGREGATE sys.min(uuid) (
    SFUNC = sys.lesser, STYPE = uuid, COMBINEFUNC = sys.lesser, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.max(uuid) (
    SFUNC = sys.greater, STYPE = uuid, COMBINEFUNC = sys.greater, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.min(bytea) (
    SFUNC = sys.lesser, STYPE = bytea, COMBINEFUNC = sys.lesser, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.max(bytea) (
    SFUNC = sys.greater, STYPE = bytea, COMBINEFUNC = sys.greater, PARALLEL = SAFE);
