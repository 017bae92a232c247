-- Bytes → text for XML: the byte order mark decides, else the declaration, else it is UTF-8.
--
-- Bytes that are not in their encoding are an EXCEPTION, for which PostgreSQL before 17 has no subtransaction while a query
-- runs in parallel. So these, and all that call them, are not PARALLEL SAFE.

-- Valid UTF-8 with at least one character of several bytes.
CREATE OR REPLACE FUNCTION ssb_internal.is_utf8_beyond_ascii(p_bytes bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN length(convert_from(p_bytes, 'UTF8')) < length(p_bytes);
EXCEPTION
    WHEN character_not_in_repertoire OR untranslatable_character THEN
        RETURN false;
END;
$$;

-- The text of an XML document in bytes. error is 9401, 9402 or 9420, place the character.
CREATE OR REPLACE FUNCTION ssb_internal.xml_decode(p_bytes bytea, OUT value text, OUT error integer, OUT place integer)
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_start bytea := substring(p_bytes from 1 for 2);
    v_declaration text;
    v_encoding text;
BEGIN
    -- UTF-16 by its mark, or by a '<' or white space of two bytes
    IF v_start IN ('\xfffe', '\x3c00', '\x2000', '\x0900', '\x0a00', '\x0d00') THEN
        value := ssb_internal.utf16_text(p_bytes);
    ELSIF v_start IN ('\xfeff', '\x003c', '\x0020', '\x0009', '\x000a', '\x000d') THEN
        value := ssb_internal.utf16_text(p_bytes, big_endian => true);
    ELSE
        IF substring(p_bytes from 1 for 3) = '\xefbbbf' THEN
            v_encoding := 'utf-8';
        ELSIF substring(p_bytes from 1 for 5) = '\x3c3f786d6c' THEN
            -- the declaration is ASCII in every encoding that may follow here
            v_declaration := encode(substring(p_bytes from 1 for 200), 'escape');
            v_encoding := lower((regexp_match(v_declaration,
                '^<\?xml[^?>]*?encoding[ \t\r\n]*=[ \t\r\n]*["'']([A-Za-z0-9._-]+)["'']'))[1] COLLATE "C");
        END IF;
        BEGIN
            CASE
            WHEN v_encoding IS NULL OR v_encoding IN ('utf-8', 'utf8', 'us-ascii', 'ascii') THEN
                value := convert_from(p_bytes, 'UTF8');
            WHEN v_encoding IN ('utf-16', 'utf-16le', 'utf-16be', 'ucs-2', 'iso-10646-ucs-2', 'unicode') THEN
                -- Declared, but the bytes before it were single ones: a text, which is UTF-8 here
                -- whatever it says (what .NET writes into a string says utf-16).
                value := convert_from(p_bytes, 'UTF8');
            ELSE
                v_encoding := CASE
                    WHEN v_encoding IN ('iso-8859-1', 'latin1', 'iso_8859-1') THEN 'LATIN1'
                    WHEN v_encoding IN ('iso-8859-2', 'latin2') THEN 'LATIN2'
                    WHEN v_encoding IN ('iso-8859-3', 'latin3') THEN 'LATIN3'
                    WHEN v_encoding IN ('iso-8859-4', 'latin4') THEN 'LATIN4'
                    WHEN v_encoding IN ('iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8')
                        THEN 'ISO_8859_' || right(v_encoding, 1)
                    WHEN v_encoding = 'iso-8859-9' THEN 'LATIN5'
                    WHEN v_encoding = 'iso-8859-10' THEN 'LATIN6'
                    WHEN v_encoding = 'iso-8859-13' THEN 'LATIN7'
                    WHEN v_encoding = 'iso-8859-14' THEN 'LATIN8'
                    WHEN v_encoding = 'iso-8859-15' THEN 'LATIN9'
                    WHEN v_encoding = 'iso-8859-16' THEN 'LATIN10'
                    WHEN v_encoding ~ '^windows-(125[0-8]|874|866)$' THEN 'WIN' || substr(v_encoding, 9)
                    WHEN v_encoding = 'koi8-r' THEN 'KOI8R'
                    WHEN v_encoding = 'koi8-u' THEN 'KOI8U'
                    WHEN v_encoding IN ('shift_jis', 'shift-jis', 'windows-31j') THEN 'SJIS'
                    WHEN v_encoding = 'euc-jp' THEN 'EUC_JP'
                    WHEN v_encoding = 'euc-kr' THEN 'EUC_KR'
                    WHEN v_encoding = 'gb2312' THEN 'EUC_CN'
                    WHEN v_encoding = 'gbk' THEN 'GBK'
                    WHEN v_encoding = 'gb18030' THEN 'GB18030'
                    WHEN v_encoding = 'big5' THEN 'BIG5'
                END;
                IF v_encoding IS NULL THEN
                    error := 9401;
                ELSIF ssb_internal.is_utf8_beyond_ascii(p_bytes) THEN
                    -- The same: a text that was sent as such. Other encodings hardly ever look like this.
                    value := convert_from(p_bytes, 'UTF8');
                ELSE
                    value := convert_from(p_bytes, v_encoding);
                END IF;
            END CASE;
        EXCEPTION
            WHEN character_not_in_repertoire OR untranslatable_character THEN
                value := NULL;
        END;
        IF error IS NOT NULL THEN
            place := strpos(v_declaration, '?>') + 1;
        END IF;
    END IF;
    IF value IS NULL AND error IS NULL THEN
        error := 9420;
        place := 1;
    END IF;
    value := ltrim(value, E'\uFEFF');
END;
$$;
