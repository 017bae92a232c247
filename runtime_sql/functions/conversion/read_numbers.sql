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
    RETURN CASE WHEN v_number BETWEEN low AND high THEN v_number END;
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
    IF v_number BETWEEN low AND high THEN
        RETURN v_number;
    ELSIF v_number IS NULL THEN
        IF type_name = 'bigint' THEN
            PERFORM ssb.raise_error(8114, format('Error converting data type %s to bigint.', source));
        ELSE
            PERFORM ssb.raise_error(245, format(
                'Conversion failed when converting the %s value ''%s'' to data type %s.', source, value, type_name));
        END IF;
    ELSIF type_name = 'int' THEN
        PERFORM ssb.raise_error(248, format(
            'The conversion of the %s value ''%s'' overflowed an int column.', source, value));
    ELSIF type_name = 'bigint' THEN
        PERFORM ssb.raise_error(8115, 'Arithmetic overflow error converting expression to data type bigint.');
    ELSE
        PERFORM ssb.raise_error(244, format(
            'The conversion of the %s value ''%s'' overflowed an %s column. Use a larger integer column.',
            source, value, CASE type_name WHEN 'tinyint' THEN 'INT1' ELSE 'INT2' END));
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
CREATE OR REPLACE FUNCTION sys.read_money(value text)
RETURNS numeric
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_text text := regexp_replace(value, '\s', '', 'g');
    v_negative boolean := false;
BEGIN
    IF v_text ~ '^\(.*\)$' THEN
        v_negative := true;
        v_text := substr(v_text, 2, length(v_text) - 2);
    END IF;
    v_text := regexp_replace(v_text, '^([+-]?)[$£€¥¤₩₪₫₱₹]', '\1');
    v_text := replace(v_text, ',', '');
    IF v_text ~ '^[+-]?\.?$' THEN
        RETURN 0;
    ELSIF v_text !~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$' THEN
        RETURN NULL;
    END IF;
    RETURN round(CASE WHEN v_negative THEN - v_text::numeric ELSE v_text::numeric END, 4);
END;
$$;
