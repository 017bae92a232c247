-- The first and the last value that is not NULL: FIRST_VALUE, LAST_VALUE, LAG and LEAD with IGNORE NULLS, which
-- PostgreSQL has from version 19 on. A strict transition function is not called for NULL, and the first value
-- becomes the state by itself.
--
-- Called by  compiled windows (compiler/sql/expressions/windows.py)
CREATE OR REPLACE FUNCTION sys.earlier_value(p_state anyelement, p_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT $1 $$;

CREATE OR REPLACE FUNCTION sys.later_value(p_state anyelement, p_value anyelement) RETURNS anyelement
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT $2 $$;

CREATE OR REPLACE AGGREGATE sys.first_present(anyelement) (
    SFUNC = sys.earlier_value, STYPE = anyelement, PARALLEL = SAFE);
CREATE OR REPLACE AGGREGATE sys.last_present(anyelement) (
    SFUNC = sys.later_value, STYPE = anyelement, PARALLEL = SAFE);
