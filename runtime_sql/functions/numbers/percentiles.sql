-- PERCENTILE_CONT and PERCENTILE_DISC with OVER, which PostgreSQL has as aggregates only; TABLESAMPLE (n ROWS).
-- p_sorted: the values of the partition without NULL, in the order of WITHIN GROUP, made once a partition
-- by array_agg over the whole of it.
--
-- Called by  compiled queries

CREATE OR REPLACE FUNCTION sys.percentile_cont(p double precision, p_sorted double precision[])
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN p_sorted[1 + floor(p * (cardinality(p_sorted) - 1))::integer]
       + (p * (cardinality(p_sorted) - 1) - floor(p * (cardinality(p_sorted) - 1)))
         * (p_sorted[1 + ceil(p * (cardinality(p_sorted) - 1))::integer] - p_sorted[1 + floor(p * (cardinality(p_sorted) - 1))::integer]);

CREATE OR REPLACE FUNCTION sys.percentile_disc(p double precision, p_sorted anyarray)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT p_sorted[greatest(1, pg_catalog.ceil(p OPERATOR(pg_catalog.*) pg_catalog.cardinality(p_sorted))::integer)]';

-- A number of rows as a percentage of those that the last ANALYZE has counted.
CREATE OR REPLACE FUNCTION sys.percent_of_rows(p_table regclass, p_rows double precision)
RETURNS double precision
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN c.reltuples > p_rows THEN 100 * p_rows / c.reltuples ELSE 100 END FROM pg_class AS c WHERE c.oid = p_table
$$;
