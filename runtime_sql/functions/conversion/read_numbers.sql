-- How T-SQL reads numbers from strings. The try_ functions answer NULL for
-- what is no number or out of range; the others raise SQL Server's error.
-- None opens a subtransaction, so all are safe in parallel plans.

-- Blanks around, a sign, digits. An empty string, and a sign alone, is 0.
CREATE OR REPLACE FUNCTION sys.read_integer(value text)
RETURNS numeric
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^\s*[+-]?[0-9]+\s*$' THEN value::numeric
    WHEN value ~ '^\s*[+-]?\s*$' THEN 0
END;

CREATE OR REPLACE FUNCTION sys.try_read_integer(value text, low numeric, high numeric)
RETURNS numeric
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_number numeric := sys.read_integer(value);
BEGIN
    RETURN CASE WHEN v_number OPERATOR(pg_catalog.>=) low AND v_number OPERATOR(pg_catalog.<=) high THEN v_number END;
END;
$$;

-- type_name int, smallint, tinyint or bigint: the number of the error and its
-- wording depend on it. source: what the message calls the string, varchar or nvarchar.
CREATE OR REPLACE FUNCTION sys.read_integer_of(value text, type_name text, low numeric, high numeric, source text)
RETURNS numeric
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_number numeric := sys.read_integer(value);
BEGIN
    IF v_number OPERATOR(pg_catalog.>=) low AND v_number OPERATOR(pg_catalog.<=) high THEN
        RETURN v_number;
    ELSIF v_number IS NULL THEN
        IF type_name OPERATOR(pg_catalog.=) 'bigint' THEN
            PERFORM ssb_internal.raise_error(8114, pg_catalog.format('Error converting data type %s to bigint.', source));
        ELSE
            PERFORM ssb_internal.raise_error(245, pg_catalog.format(
                'Conversion failed when converting the %s value ''%s'' to data type %s.', source, value, type_name));
        END IF;
    ELSIF type_name OPERATOR(pg_catalog.=) 'int' THEN
        PERFORM ssb_internal.raise_error(248, pg_catalog.format(
            'The conversion of the %s value ''%s'' overflowed an int column.', source, value));
    ELSIF type_name OPERATOR(pg_catalog.=) 'bigint' THEN
        PERFORM ssb_internal.raise_error(8115, 'Arithmetic overflow error converting expression to data type bigint.');
    ELSE
        PERFORM ssb_internal.raise_error(244, pg_catalog.format(
            'The conversion of the %s value ''%s'' overflowed an %s column. Use a larger integer column.',
            source, value, CASE WHEN type_name OPERATOR(pg_catalog.=) 'tinyint' THEN 'INT1' ELSE 'INT2' END));
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION sys.read_integer_of(value text, type_name text, low numeric, high numeric)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_integer_of(value, type_name, low, high, 'varchar');

-- Digits with a point, no exponent, no grouping: what becomes decimal.
CREATE OR REPLACE FUNCTION sys.read_decimal(value text)
RETURNS numeric
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~ '^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)\s*$' THEN value::numeric
END;

-- A float takes an exponent (e or d); an empty string is 0.
CREATE OR REPLACE FUNCTION sys.read_float(value text)
RETURNS numeric
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value ~* '^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([ed][+-]?[0-9]{1,4})?\s*$'
        THEN translate(value, 'dD', 'ee')::numeric
    WHEN value ~ '^\s*$' THEN 0
END;

-- Money takes one currency sign, commas and a sign, in any sensible order;
-- parentheses negate. A sign, a currency sign or nothing at all is 0.
-- digits: without blanks, and without the parentheses that negate.
CREATE OR REPLACE FUNCTION sys.without_currency(digits text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace(regexp_replace(digits, '^([+-]?)[$£€¥¤₩₪₫₱₹]', '\1'), ',', '');
CREATE OR REPLACE FUNCTION sys.money_of_digits(digits text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN digits ~ '^[+-]?\.?$' THEN 0
    WHEN digits ~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$' THEN round(digits::numeric, 4)
END;
CREATE OR REPLACE FUNCTION sys.in_parentheses(digits text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN digits ~ '^\(.*\)$' THEN substr(digits, 2, length(digits) - 2) END;
CREATE OR REPLACE FUNCTION sys.read_money(value text)
RETURNS numeric
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_text pg_catalog.text := pg_catalog.regexp_replace(value, '\s', '', 'g');
    v_negative pg_catalog.text := sys.in_parentheses(v_text);
    v_number numeric;
BEGIN
    v_text := sys.without_currency(coalesce(v_negative, v_text));
    v_number := sys.money_of_digits(v_text);
    RETURN CASE WHEN v_negative IS NULL THEN v_number ELSE pg_catalog.numeric_uminus(v_number) END;
END;
$$;
