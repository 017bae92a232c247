-- ISNULL for operands of unknown types: b takes the type of a, as T-SQL says
-- (COALESCE would take the type with the higher precedence).
-- Called by  compiled ISNULL where neither type is known
CREATE OR REPLACE FUNCTION sys.isnull(a anyelement, b anycompatible)
RETURNS anyelement
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF a IS NOT NULL THEN
        RETURN a;
    END IF;
    -- Assignment converts b to the type of a.
    a := b;
    RETURN a;
END;
$$;

-- ISNULL with two character values, the common case, is COALESCE.
CREATE OR REPLACE FUNCTION sys.isnull(a text, b text)
RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN coalesce(a, b);
