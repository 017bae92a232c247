-- CAST, CONVERT and TRY_CONVERT to VARCHAR, NVARCHAR, CHAR and NCHAR.
-- length NULL is (max). Strings, dates and bytes are cut to the length; numbers
-- that do not fit are an error (8115), except that integers, but no bigint, become '*'
-- where the target is varchar or char. XML is not cut either (6354).

-- Bytes as varchar, and as nvarchar where that is UTF-8. A mark decides (UTF-8, UTF-16); without one: UTF-8. Bytes with
-- a zero inside cannot be UTF-8 text: they are UTF-16LE, as SQL Server writes
-- N'…' (zeros at the end only are padding and go). What is not valid UTF-8
-- either is read as Windows-1252, as SQL Server's varchar would be.
CREATE OR REPLACE FUNCTION sys.varchar_of(value bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bytea := value;
    v_text text;
BEGIN
    IF substr(v_bytes, 1, 2) = '\xfffe'::bytea THEN
        RETURN sys.text_of_utf16(substr(v_bytes, 3), false);
    ELSIF substr(v_bytes, 1, 2) = '\xfeff'::bytea THEN
        RETURN sys.text_of_utf16(substr(v_bytes, 3), true);
    ELSIF substr(v_bytes, 1, 3) = '\xefbbbf'::bytea THEN
        v_bytes := substr(v_bytes, 4);
    END IF;
    IF position('\x00'::bytea IN v_bytes) > 0 THEN
        v_bytes := rtrim(v_bytes, '\x00'::bytea);
        IF position('\x00'::bytea IN v_bytes) > 0 THEN
            RETURN sys.text_of_utf16(value, get_byte(value, 0) = 0);
        END IF;
    END IF;
    -- Checked by an expression, not by catching convert_from's error: no
    -- subtransaction, so that parallel plans may call this.
    v_text := convert_from(v_bytes, 'LATIN1');
    IF v_text !~ '[\u0080-\u00ff]' THEN
        RETURN v_text;
    ELSIF v_text ~ ('^(?:[\u0001-\u007f]|[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]'
                    '|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]'
                    '|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}'
                    '|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})*$') THEN
        RETURN convert_from(v_bytes, 'UTF8');
    END IF;
    RETURN sys.text_of_cp1252(v_bytes);
END;
$$;

-- Bytes as nvarchar (schema/nvarchar.sql).
CREATE OR REPLACE FUNCTION sys.text_of(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ssb.nvarchar_encoding() = 'utf16' THEN ssb_internal.utf16_cast(value) ELSE sys.varchar_of(value) END;
CREATE OR REPLACE FUNCTION sys.try_text_of(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ssb.nvarchar_encoding() = 'utf16' THEN ssb_internal.utf16_try_cast(value) ELSE sys.varchar_of(value) END;

-- UTF-16 code units as text; a zero unit is left out (text has no NUL), a lone
-- surrogate becomes U+FFFD, an odd last byte is ignored.
CREATE OR REPLACE FUNCTION sys.text_of_utf16(value bytea, big_endian boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := '{}';
    v_run text := '';
    v_high integer := 0;
    v_unit integer;
    v_low_at integer := big_endian::integer;
BEGIN
    FOR i IN 0 .. octet_length(value) / 2 - 1 LOOP
        v_unit := get_byte(value, 2 * i + v_low_at) + 256 * get_byte(value, 2 * i + 1 - v_low_at);
        IF v_high > 0 AND v_unit BETWEEN 56320 AND 57343 THEN
            v_run := v_run || chr(65536 + (v_high - 55296) * 1024 + v_unit - 56320);
            v_high := 0;
            CONTINUE;
        ELSIF v_high > 0 THEN
            v_run := v_run || chr(65533);
            v_high := 0;
        END IF;
        IF v_unit BETWEEN 55296 AND 56319 THEN
            v_high := v_unit;
        ELSIF v_unit BETWEEN 56320 AND 57343 THEN
            v_run := v_run || chr(65533);
        ELSIF v_unit > 0 THEN
            v_run := v_run || chr(v_unit);
        END IF;
        -- Long texts grow in pieces: appending to one string would be quadratic.
        IF length(v_run) >= 1000 THEN
            v_parts := v_parts || v_run;
            v_run := '';
        END IF;
    END LOOP;
    IF v_high > 0 THEN
        v_run := v_run || chr(65533);
    END IF;
    RETURN array_to_string(v_parts, '') || v_run;
END;
$$;

-- The five bytes that Windows-1252 leaves open map to themselves.
CREATE OR REPLACE FUNCTION sys.text_of_cp1252(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN translate(
    convert_from(value, 'LATIN1'),
    U&'\0080\0082\0083\0084\0085\0086\0087\0088\0089\008A\008B\008C\008E\0091\0092\0093\0094\0095\0096\0097\0098\0099\009A\009B\009C\009E\009F',
    '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ');

-- The number of a double precision to the last bit, as a decimal.
CREATE OR REPLACE FUNCTION sys.exact_decimal(value double precision) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bits bigint := sys.integer_of_bytes(float8send(value), 8);
    v_exponent integer := (v_bits >> 52) & 2047;
    v_number numeric := v_bits & 4503599627370495;
BEGIN
    IF v_exponent > 0 THEN
        v_number := v_number + 4503599627370496;
    ELSE
        v_exponent := 1;
    END IF;
    v_exponent := v_exponent - 1075;
    FOR i IN 1 .. v_exponent LOOP
        v_number := v_number * 2;
    END LOOP;
    -- Halving as 5/10 stays exact.
    FOR i IN 1 .. - v_exponent LOOP
        v_number := v_number * 0.5;
    END LOOP;
    RETURN CASE WHEN v_bits < 0 THEN - v_number ELSE v_number END;
END;
$$;

-- A number with so many digits and an exponent. STABLE because to_char is.
CREATE OR REPLACE FUNCTION sys.scientific(value numeric, digits integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(value, '9.' || repeat('9', digits - 1) || 'EEEE');
CREATE OR REPLACE FUNCTION sys.with_exponent(mantissa numeric, exponent integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN mantissa::text || 'e' || CASE WHEN exponent < 0 THEN '-' ELSE '+' END || lpad(abs(exponent)::text, 3, '0');
-- How many digits a style of a float has.
CREATE OR REPLACE FUNCTION sys.float_digits(style integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE style WHEN 1 THEN 8 WHEN 2 THEN 16 WHEN 3 THEN 17 ELSE 6 END;

-- A float as a string: style 0 six digits, with an exponent where it is below
-- -4 or above 5; 1 eight, 2 sixteen, 3 seventeen digits, always with exponent.
CREATE OR REPLACE FUNCTION sys.float_text(value double precision, style integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    v_digits integer := sys.float_digits(style);
    v_number numeric;
    v_scientific pg_catalog.text;
    v_exponent integer := 0;
    v_mantissa numeric;
BEGIN
    IF v_digits OPERATOR(pg_catalog.>) 15 THEN
        v_number := sys.exact_decimal(value);
    ELSE
        v_number := value::numeric;
    END IF;
    IF v_number OPERATOR(pg_catalog.<>) 0 THEN
        v_scientific := sys.scientific(v_number, v_digits);
        v_mantissa := pg_catalog.split_part(v_scientific, 'e', 1)::numeric;
        v_exponent := pg_catalog.split_part(v_scientific, 'e', 2)::integer;
    ELSE
        v_mantissa := pg_catalog.round(0.0, v_digits OPERATOR(pg_catalog.-) 1);
    END IF;
    IF v_digits OPERATOR(pg_catalog.=) 6 THEN
        IF v_exponent OPERATOR(pg_catalog.>=) (0 OPERATOR(pg_catalog.-) 4) AND v_exponent OPERATOR(pg_catalog.<=) 5 THEN
            RETURN pg_catalog.trim_scale(pg_catalog.round(v_number, 5 OPERATOR(pg_catalog.-) v_exponent))::pg_catalog.text;
        END IF;
        v_mantissa := pg_catalog.trim_scale(v_mantissa);
    END IF;
    RETURN sys.with_exponent(v_mantissa, v_exponent);
END;
$$;

-- A number that is too long for its string type. type_name as in the message.
CREATE OR REPLACE FUNCTION sys.number_text(digits text, length integer, source text, target text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF pg_catalog.length(digits) OPERATOR(pg_catalog.>) length THEN
        IF target OPERATOR(pg_catalog.=) 'varchar' AND source OPERATOR(pg_catalog.=) 'int' THEN
            RETURN '*';
        END IF;
        PERFORM ssb_internal.raise_error(8115, pg_catalog.format(
            'Arithmetic overflow error converting %s to data type %s.',
            CASE WHEN source OPERATOR(pg_catalog.=) 'int' THEN 'expression' ELSE source END, target));
    END IF;
    RETURN digits;
END;
$$;

-- money and smallmoney: style 0 two digits, 1 with commas, 2 and 126 four digits.
CREATE OR REPLACE FUNCTION sys.money_to_varchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.number_text(
    CASE
        WHEN style IN (2, 126) THEN round(value, 4)::text
        WHEN style = 1 THEN ltrim(to_char(round(value, 2), 'FM999,999,999,999,999,990.00'))
        ELSE round(value, 2)::text
    END, length, 'money', 'varchar');

CREATE OR REPLACE FUNCTION sys.try_money_to_varchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(sys.money_to_varchar(value, NULL, style)) <= length THEN sys.money_to_varchar(value, length, style) END;

-- Bytes in hexadecimal: style 1 with 0x, style 2 without; a cut keeps whole bytes.
CREATE OR REPLACE FUNCTION sys.hex_text(value bytea, length integer, style integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style = 1 THEN '0x' ELSE '' END || upper(encode(
    CASE
        WHEN length IS NULL THEN value
        ELSE substr(value, 1, greatest(length - CASE WHEN style = 1 THEN 2 ELSE 0 END, 0) / 2)
    END, 'hex'));

-- A uniqueidentifier needs 36 characters.
CREATE OR REPLACE FUNCTION sys.uuid_text(value uuid, length integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF length OPERATOR(pg_catalog.<) 36 AND value IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(8170, 'Insufficient result space to convert uniqueidentifier value to char.', 16, 2);
    END IF;
    RETURN pg_catalog.upper(value::pg_catalog.text);
END;
$$;

-- The text of XML is not cut; with attempt, as TRY_CAST has it, what is too long is NULL.
CREATE OR REPLACE FUNCTION sys.short_xml_text(value text, length integer, attempt boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF pg_catalog.length(value) OPERATOR(pg_catalog.>) length THEN
        IF attempt THEN
            RETURN NULL;
        END IF;
        PERFORM ssb_internal.raise_error(6354, 'Target string size is too small to represent the XML instance');
    END IF;
    RETURN value;
END;
$$;

-- VARCHAR
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN length IS NULL THEN value ELSE left(value, length) END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN value::text WHEN value IS NOT NULL THEN '*' END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL OR length(value::text) <= length THEN value::text WHEN value IS NOT NULL THEN '*' END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'expression', 'varchar') END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'numeric', 'varchar') END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.number_text(sys.float_text(value, style), length, 'float', 'varchar');
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN left(sys.datetime_text(value, style), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value date, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(value::timestamp, style, 0, true, false), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value time, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(timestamp '1900-01-01' + value, style, 7, false, true), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value timestamptz, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN left(sys.datetimeoffset_text(value, style, 7), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.uuid_text(value, length);
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style IN (1, 2) THEN sys.hex_text(value, length, style) ELSE left(sys.varchar_of(value), coalesce(length, 2147483647)) END;
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.short_xml_text(value::text, length);
CREATE OR REPLACE FUNCTION sys.convert_varchar(
    value boolean, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer::text;

-- NVARCHAR
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value text, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN length IS NULL THEN value ELSE left(value, length) END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value smallint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'int', 'nvarchar') END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value integer, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'int', 'nvarchar') END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value bigint, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'int', 'nvarchar') END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value numeric, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length IS NULL THEN value::text ELSE sys.number_text(value::text, length, 'numeric', 'nvarchar') END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value double precision, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sys.number_text(sys.float_text(value, style), length, 'float', 'nvarchar');
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value timestamp, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN left(sys.datetime_text(value, style), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value date, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(value::timestamp, style, 0, true, false), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value time, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(sys.datetime_text(timestamp '1900-01-01' + value, style, 7, false, true), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value timestamptz, length integer DEFAULT NULL, style integer DEFAULT 121) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN left(sys.datetimeoffset_text(value, style, 7), coalesce(length, 2147483647));
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value uuid, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.uuid_text(value, length);
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value bytea, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN style IN (1, 2) THEN sys.hex_text(value, length, style) ELSE left(sys.text_of(value), coalesce(length, 2147483647)) END;
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value sys.xml, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.short_xml_text(value::text, length);
CREATE OR REPLACE FUNCTION sys.convert_nvarchar(
    value boolean, length integer DEFAULT NULL, style integer DEFAULT 0) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN value::integer::text;
