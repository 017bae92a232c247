-- The bytes of NVARCHAR: UTF-8, or SQL Server's UTF-16LE where the instance was installed so
-- (`pgsb install --nvarchar utf16`). Chosen once: message bodies, hashes, indexes and computed columns hold such bytes.
--
-- The choice is the text of a function, which the planner puts into every statement that asks: nothing is read at run
-- time, and functions of it are as IMMUTABLE as those that convert. pgsb.nvarchar is set by the installer alone; where it
-- is not, an installed choice stays, and a new instance takes UTF-8.
DO $$
DECLARE
    v_wanted CONSTANT text := nullif(current_setting('pgsb.nvarchar', true), '');
    v_chosen text;
BEGIN
    IF to_regprocedure('ssb.nvarchar_encoding()') IS NOT NULL THEN
        v_chosen := ssb.nvarchar_encoding();
    ELSIF v_wanted IS NOT NULL AND v_wanted NOT IN ('utf8', 'utf16') THEN
        RAISE EXCEPTION 'pgsb.nvarchar is utf8 or utf16, not "%"', v_wanted;
    ELSE
        -- Before there was a choice, there was UTF-8.
        v_chosen := CASE WHEN EXISTS (SELECT FROM ssb.runtime_version) THEN 'utf8' ELSE coalesce(v_wanted, 'utf8') END;
        EXECUTE format('CREATE FUNCTION ssb.nvarchar_encoding() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN %L::text',
                       v_chosen);
    END IF;
    IF v_wanted <> v_chosen THEN
        RAISE EXCEPTION 'this instance keeps nvarchar as %, which cannot become %', v_chosen, v_wanted
            USING HINT = 'Bodies, hashes and indexes hold such bytes. pgsb uninstall, then pgsb install --nvarchar ' || v_wanted
                         || ' begins anew; queues and their messages go with it.';
    END IF;
END;
$$;

-- One character of up to 127 becomes itself and a zero, which an escape in bytea's own notation writes for all at once.
-- Others are computed one by one.
CREATE OR REPLACE FUNCTION ssb_internal.utf16_bytes(value text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF value = '' THEN
        RETURN '';
    ELSIF octet_length(value) = length(value) THEN
        RETURN decode(replace(array_to_string(string_to_array(value, NULL), '\000') || '\000', '\\000', '\\\000'), 'escape');
    END IF;
    RETURN (
        SELECT string_agg(CASE
                   WHEN u.code < 65536 THEN substr(int4send(((u.code & 255) << 8) | (u.code >> 8)), 3)
                   -- The halves of a pair: d800 and the upper ten bits above 65536, dc00 and the lower ten.
                   ELSE substr(int4send((((55232 + (u.code >> 10)) & 255) << 8) | ((55232 + (u.code >> 10)) >> 8)), 3)
                        || substr(int4send(((u.code & 255) << 8) | 220 | ((u.code >> 8) & 3)), 3)
               END, '')
          FROM (SELECT ascii(c) AS code FROM string_to_table(value, NULL) AS c) AS u);
END;
$$;

-- UTF-16 as text. NULL: half a unit, half a pair, or U+0000, which text cannot hold.
CREATE OR REPLACE FUNCTION ssb_internal.utf16_text(value bytea, big_endian boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text;
BEGIN
    IF octet_length(value) % 2 = 1 THEN
        RETURN NULL;
    ELSIF NOT big_endian THEN
        -- What utf16_bytes did to plain letters, backwards; that it was nothing else is seen by doing it again.
        v_text := replace(replace(encode(value, 'escape'), '\\\000', '\'), '\000', '');
        IF 2 * octet_length(v_text) = octet_length(value) AND ssb_internal.utf16_bytes(v_text) = value THEN
            RETURN v_text;
        END IF;
    END IF;
    v_text := regexp_replace(encode(value, 'hex'), '(..)(..)', CASE WHEN big_endian THEN '\\\1\2' ELSE '\\\2\1' END, 'g');
    IF strpos(v_text, '\0000') > 0
       OR strpos(v_text, '\d') > 0 AND v_text ~ '\\d[89ab]..(?!\\d[c-f])|(?<!\\d[89ab]..)\\d[c-f]' THEN
        RETURN NULL;
    END IF;
    RETURN unistr(v_text);
END;
$$;

-- TRY_CAST(bytes AS NVARCHAR) where nvarchar is UTF-16. A last byte alone gets its zero, as in SQL Server; zeros at
-- the end are what pads BINARY(n), and go.
CREATE OR REPLACE FUNCTION ssb_internal.utf16_try_cast(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ssb_internal.utf16_text(
    rtrim(value, '\x00'::bytea)
    || CASE WHEN octet_length(rtrim(value, '\x00'::bytea)) % 2 = 1 THEN '\x00'::bytea ELSE '\x'::bytea END);

-- CAST(bytes AS NVARCHAR) there.
CREATE OR REPLACE FUNCTION ssb_internal.utf16_cast(value bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text CONSTANT text := ssb_internal.utf16_try_cast(value);
BEGIN
    IF v_text IS NULL THEN
        PERFORM ssb_internal.raise_error(8114, 'Error converting data type varbinary to nvarchar.',
            hint => 'A character of no bits (0x0000) or half a surrogate pair is among the bytes, which text cannot hold here.');
    END IF;
    RETURN v_text;
END;
$$;

-- The bytes of a text as CAST(N'…' AS VARBINARY(MAX)) has them, and as SEND of an nvarchar puts them into a body.
CREATE OR REPLACE FUNCTION ssb.nvarchar_bytes(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ssb.nvarchar_encoding() = 'utf16' THEN ssb_internal.utf16_bytes(value) ELSE convert_to(value, 'UTF8') END;

-- The text of such a body. A byte order mark, which XML has in front, goes.
CREATE OR REPLACE FUNCTION ssb.nvarchar_text(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ltrim(CASE WHEN ssb.nvarchar_encoding() = 'utf16' THEN ssb_internal.utf16_cast(value) ELSE convert_from(value, 'UTF8') END,
             U&'\FEFF');

-- XML as bytes: in UTF-16 with its mark, as CAST(xml AS VARBINARY(MAX)) has it, and the broker's own messages.
CREATE OR REPLACE FUNCTION ssb_internal.xml_bytes(value text) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ssb.nvarchar_encoding() = 'utf16' THEN '\xfffe'::bytea || ssb_internal.utf16_bytes(value)
            ELSE convert_to(value, 'UTF8') END;
