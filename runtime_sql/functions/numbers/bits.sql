-- LEFT_SHIFT, RIGHT_SHIFT, BIT_COUNT, GET_BIT, SET_BIT.
--
-- Integers come as bigint with the width of their T-SQL type, which decides what a
-- negative number's bits are and which bits a shift loses: 8 (tinyint, without sign), 16,
-- 32 or 64. Shifts are logical: what is vacant becomes 0. A negative amount shifts the
-- other way. Bit 0 is the lowest one, of binary values that of the last byte.

-- The low bits of a number, as the number that a type of that width has them for.
CREATE OR REPLACE FUNCTION sys.number_of_bits(value bigint, width integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE width
    WHEN 64 THEN value
    WHEN 8 THEN value & 255
    ELSE ((value & ((1::bigint << width) - 1)) # (1::bigint << (width - 1))) - (1::bigint << (width - 1)) END;

CREATE OR REPLACE FUNCTION sys.low_bits(value bigint, width integer) RETURNS bit(64)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (CASE width WHEN 64 THEN value ELSE value & ((1::bigint << width) - 1) END)::bit(64);

CREATE OR REPLACE FUNCTION sys.shift(value bigint, to_the_left bigint, width integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
    WHEN to_the_left >= width OR to_the_left <= -width THEN 0
    WHEN to_the_left >= 0 THEN sys.number_of_bits((value::bit(64) << to_the_left::integer)::bigint, width)
    ELSE sys.number_of_bits((sys.low_bits(value, width) >> (-to_the_left)::integer)::bigint, width) END;

CREATE OR REPLACE FUNCTION sys.bit_count(value bigint, width integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN bit_count(sys.low_bits(value, width));

CREATE OR REPLACE FUNCTION sys.bit_count(value bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN bit_count(value);

CREATE OR REPLACE FUNCTION sys.check_bit_place(place bigint, width bigint, function text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF place OPERATOR(pg_catalog.<) 0 OR place OPERATOR(pg_catalog.>=) width THEN
        PERFORM ssb_internal.raise_error(1023, pg_catalog.format('Invalid parameter 2 specified for %s.', function), 15, 1);
    END IF;
    RETURN place;
END;
$$;

CREATE OR REPLACE FUNCTION sys.check_bit(value bigint) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF value OPERATOR(pg_catalog.<>) 0 AND value OPERATOR(pg_catalog.<>) 1 THEN
        PERFORM ssb_internal.raise_error(1023, 'Invalid parameter 3 specified for set_bit.', 15, 1);
    END IF;
    RETURN value;
END;
$$;

CREATE OR REPLACE FUNCTION sys.get_bit(value bigint, place bigint, width integer) RETURNS smallint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ((value >> sys.check_bit_place(place, width, 'get_bit')) & 1)::smallint;

CREATE OR REPLACE FUNCTION sys.get_bit(value bytea, place bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (get_byte(value, length(value) - 1 - sys.check_bit_place(place, length(value) * 8, 'get_bit') / 8)
    >> (place % 8)::integer & 1)::smallint;

CREATE OR REPLACE FUNCTION sys.set_bit(value bigint, place bigint, width integer, new_bit bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sys.number_of_bits(CASE sys.check_bit(new_bit)
    WHEN 1 THEN value | (1::bigint << sys.check_bit_place(place, width, 'set_bit'))
    ELSE value & ~(1::bigint << sys.check_bit_place(place, width, 'set_bit')) END, width);

CREATE OR REPLACE FUNCTION sys.set_bit(value bytea, place bigint, new_bit bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_byte integer := length(value) - 1 - sys.check_bit_place(place, length(value) * 8, 'set_bit') / 8;
    v_mask integer := 1 << (place % 8)::integer;
BEGIN
    RETURN set_byte(value, v_byte, CASE sys.check_bit(new_bit)
        WHEN 1 THEN get_byte(value, v_byte) | v_mask ELSE get_byte(value, v_byte) & ~v_mask END);
END;
$$;

CREATE OR REPLACE FUNCTION sys.shift(value bytea, to_the_left bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_length integer := length(value);
    v_result bytea := value;
    v_by integer := CASE WHEN abs(to_the_left) < v_length * 8 THEN to_the_left ELSE v_length * 8 END;
    v_first integer;
    v_two integer;
BEGIN
    FOR i IN 0 .. v_length - 1 LOOP
        -- The bits of this byte come out of two neighbours: the first one is this many bytes further on.
        v_first := i + floor(v_by / 8.0)::integer;
        v_two := CASE WHEN v_first BETWEEN 0 AND v_length - 1 THEN get_byte(value, v_first) ELSE 0 END * 256
            + CASE WHEN v_first + 1 BETWEEN 0 AND v_length - 1 THEN get_byte(value, v_first + 1) ELSE 0 END;
        v_result := set_byte(v_result, i, (v_two >> (8 - ((v_by % 8 + 8) % 8))) & 255);
    END LOOP;
    RETURN v_result;
END;
$$;

-- The width where the compiler does not know the type.
CREATE OR REPLACE FUNCTION sys.bit_width(value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_catalog.pg_typeof($1)::text OPERATOR(pg_catalog.=) 'bigint' THEN 64
                WHEN pg_catalog.pg_typeof($1)::text OPERATOR(pg_catalog.=) 'integer' THEN 32 ELSE 16 END
$$;
