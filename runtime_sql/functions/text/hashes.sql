-- HASHBYTES, CHECKSUM and their kin.

-- SHA-1 (FIPS 180-4): PostgreSQL has it in an extension only, which may be absent.
CREATE OR REPLACE FUNCTION sys.sha1(value bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_mask CONSTANT bigint := 4294967295;
    v_data bytea;
    v_w bigint[];
    v_h bigint[] := ARRAY[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
    v_a bigint; v_b bigint; v_c bigint; v_d bigint; v_e bigint; v_f bigint; v_k bigint; v_t bigint;
BEGIN
    v_data := value || '\x80'::bytea
        || sys.zeros((119 - octet_length(value) % 64) % 64) || int8send(octet_length(value)::bigint * 8);
    FOR v_block IN 0 .. octet_length(v_data) / 64 - 1 LOOP
        v_w := '{}';
        FOR i IN 0 .. 15 LOOP
            v_w[i] := (get_byte(v_data, v_block * 64 + i * 4)::bigint << 24)
                | (get_byte(v_data, v_block * 64 + i * 4 + 1) << 16)
                | (get_byte(v_data, v_block * 64 + i * 4 + 2) << 8)
                | get_byte(v_data, v_block * 64 + i * 4 + 3);
        END LOOP;
        FOR i IN 16 .. 79 LOOP
            v_t := v_w[i - 3] # v_w[i - 8] # v_w[i - 14] # v_w[i - 16];
            v_w[i] := ((v_t << 1) | (v_t >> 31)) & c_mask;
        END LOOP;
        v_a := v_h[1]; v_b := v_h[2]; v_c := v_h[3]; v_d := v_h[4]; v_e := v_h[5];
        FOR i IN 0 .. 79 LOOP
            IF i < 20 THEN
                v_f := (v_b & v_c) | ((~ v_b & c_mask) & v_d);
                v_k := 1518500249;
            ELSIF i < 40 THEN
                v_f := v_b # v_c # v_d;
                v_k := 1859775393;
            ELSIF i < 60 THEN
                v_f := (v_b & v_c) | (v_b & v_d) | (v_c & v_d);
                v_k := 2400959708;
            ELSE
                v_f := v_b # v_c # v_d;
                v_k := 3395469782;
            END IF;
            v_t := ((((v_a << 5) | (v_a >> 27)) & c_mask) + v_f + v_e + v_k + v_w[i]) & c_mask;
            v_e := v_d;
            v_d := v_c;
            v_c := ((v_b << 30) | (v_b >> 2)) & c_mask;
            v_b := v_a;
            v_a := v_t;
        END LOOP;
        v_h := ARRAY[(v_h[1] + v_a) & c_mask, (v_h[2] + v_b) & c_mask, (v_h[3] + v_c) & c_mask,
                     (v_h[4] + v_d) & c_mask, (v_h[5] + v_e) & c_mask];
    END LOOP;
    RETURN substr(int8send(v_h[1]), 5) || substr(int8send(v_h[2]), 5) || substr(int8send(v_h[3]), 5)
        || substr(int8send(v_h[4]), 5) || substr(int8send(v_h[5]), 5);
END;
$$;

-- HASHBYTES: an algorithm of another name gives NULL, as there; MD2 and MD4
-- are refused.
CREATE OR REPLACE FUNCTION sys.builtin_hash(algorithm text, value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE upper(algorithm COLLATE "C")
    WHEN 'SHA2_256' THEN sha256(value)
    WHEN 'SHA2_512' THEN sha512(value)
    WHEN 'MD5' THEN decode(md5(value), 'hex')
END;
CREATE OR REPLACE FUNCTION sys.other_hash(algorithm text, value bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE upper(algorithm COLLATE "C")
        WHEN 'SHA1', 'SHA' THEN RETURN sys.sha1(value);
        WHEN 'MD2', 'MD4' THEN
            PERFORM ssb_internal.raise_error(50000, format('HASHBYTES with %s is not supported here.', upper(algorithm)),
                                             16, 1, 'Use SHA2_256.');
        ELSE NULL;
    END CASE;
    RETURN NULL;
END;
$$;
CREATE OR REPLACE FUNCTION sys.hashbytes(algorithm text, value bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_hash pg_catalog.bytea := sys.builtin_hash(algorithm, value);
BEGIN
    IF v_hash IS NULL THEN
        v_hash := sys.other_hash(algorithm, value);
    END IF;
    RETURN v_hash;
END;
$$;
CREATE OR REPLACE FUNCTION sys.hashbytes(algorithm text, value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.hashbytes(algorithm, convert_to(value, 'UTF8'));
CREATE OR REPLACE FUNCTION sys.hashbytes(algorithm text, value anyelement) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.hashbytes(algorithm, sys.convert_varbinary(value))';

-- CHECKSUM and BINARY_CHECKSUM: equal for equal lists and well spread, but not
-- SQL Server's numbers. CHECKSUM ignores case and trailing blanks.
CREATE OR REPLACE FUNCTION sys.binary_checksum(VARIADIC arguments text[]) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.integer_of_bytes(decode(left(md5(arguments::text), 8), 'hex'), 4)::integer;
CREATE OR REPLACE FUNCTION sys.checksum(VARIADIC arguments text[]) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.binary_checksum(VARIADIC string_to_array(
    upper(regexp_replace(array_to_string(arguments, U&'\001F', U&'\001E'), U&' *(\001F|$)', '\1', 'g')), U&'\001F'));

-- CHECKSUM_AGG: the order of the values does not matter, NULLs do not count.
CREATE OR REPLACE FUNCTION sys.checksum_agg_step(state integer, value integer) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN state # value;
CREATE OR REPLACE AGGREGATE sys.checksum_agg(integer) (
    SFUNC = sys.checksum_agg_step, STYPE = integer, COMBINEFUNC = sys.checksum_agg_step, PARALLEL = SAFE);

-- CRYPT_GEN_RANDOM(length [, seed]): from the strong random numbers of version 4 UUIDs; of their 16
-- bytes the seventh and the ninth are not all random and left out. The seed is not needed.
CREATE OR REPLACE FUNCTION sys.crypt_gen_random(length integer, seed bytea DEFAULT NULL)
RETURNS bytea
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF length NOT BETWEEN 1 AND 8000 THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT substr(string_agg(substr(u.bytes, 1, 6) || substr(u.bytes, 10, 7), ''), 1, length)
              FROM (SELECT uuid_send(gen_random_uuid()) AS bytes FROM generate_series(0, length / 13)) AS u);
END;
$$;
