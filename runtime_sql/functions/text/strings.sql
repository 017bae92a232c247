-- T-SQL's string functions, where PostgreSQL's differ or are missing.
--
-- A function with a text and an anyelement version takes any type that T-SQL
-- converts by itself: text arguments pick the first, everything else becomes
-- text as CAST AS VARCHAR makes it. The text versions are inlined by the planner.
-- Characters are Unicode characters, also outside the basic plane (SQL Server
-- counts those as two without an _SC collation).

-- LEN: without trailing blanks.
CREATE OR REPLACE FUNCTION sys.len(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN length(rtrim(value, ' '));
CREATE OR REPLACE FUNCTION sys.len(value bytea) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value);

-- DATALENGTH: the bytes of the value as SQL Server stores it; text as UTF-8,
-- which is what message bodies hold.
CREATE OR REPLACE FUNCTION sys.datalength(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value);
CREATE OR REPLACE FUNCTION sys.datalength(value character) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value);
CREATE OR REPLACE FUNCTION sys.datalength(value bytea) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN octet_length(value);
CREATE OR REPLACE FUNCTION sys.datalength(value sys.xml) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN octet_length(value::text);
CREATE OR REPLACE FUNCTION sys.datalength(value sys.bit) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 1 END;
CREATE OR REPLACE FUNCTION sys.datalength(value smallint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 2 END;
CREATE OR REPLACE FUNCTION sys.datalength(value integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 4 END;
CREATE OR REPLACE FUNCTION sys.datalength(value bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 8 END;
CREATE OR REPLACE FUNCTION sys.datalength(value real) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 4 END;
CREATE OR REPLACE FUNCTION sys.datalength(value double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 8 END;
CREATE OR REPLACE FUNCTION sys.datalength(value uuid) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 16 END;
CREATE OR REPLACE FUNCTION sys.datalength(value timestamp) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 8 END;
CREATE OR REPLACE FUNCTION sys.datalength(value timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 10 END;
CREATE OR REPLACE FUNCTION sys.datalength(value date) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 3 END;
CREATE OR REPLACE FUNCTION sys.datalength(value time) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN value IS NOT NULL THEN 5 END;
-- By the digits of the value: up to 9 take 5 bytes, 19: 9, 28: 13, 38: 17.
CREATE OR REPLACE FUNCTION sys.datalength(value numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(translate(value::text, '-.', '')) <= 9 THEN 5
    WHEN length(translate(value::text, '-.', '')) <= 19 THEN 9
    WHEN length(translate(value::text, '-.', '')) <= 28 THEN 13
    WHEN value IS NOT NULL THEN 17
END;
-- DATALENGTH of nvarchar and nchar, as SQL Server counts it.
CREATE OR REPLACE FUNCTION sys.datalength_utf16(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 2 * (length(value) + length(regexp_replace(value, U&'[\0001-\FFFF]', '', 'g')));

-- LEFT, RIGHT, SUBSTRING: a negative length is error 536 or 537.
-- It takes the length so that the planner, which calls IMMUTABLE functions of
-- constants ahead of time, cannot raise what no row would.
CREATE OR REPLACE FUNCTION sys.invalid_length(function_name text, length bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF function_name = 'substring' THEN
        PERFORM ssb_internal.raise_error(537, 'Invalid length parameter passed to the LEFT or SUBSTRING function.', 16, 3);
    END IF;
    PERFORM ssb_internal.raise_error(536, format('Invalid length parameter passed to the %s function.', function_name));
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION sys.left(value text, count bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(value, CASE
    WHEN count < 0 THEN sys.invalid_length('substring', count)
    WHEN count IS NOT NULL THEN least(count, 2147483647)
END::integer);
CREATE OR REPLACE FUNCTION sys.right(value text, count bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN right(value, CASE
    WHEN count < 0 THEN sys.invalid_length('right', count)
    WHEN count IS NOT NULL THEN least(count, 2147483647)
END::integer);
CREATE OR REPLACE FUNCTION sys.left(value bytea, count bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN substr(value, 1, CASE
    WHEN count < 0 THEN sys.invalid_length('substring', count)
    WHEN count IS NOT NULL THEN least(count, 2147483647)
END::integer);
CREATE OR REPLACE FUNCTION sys.right(value bytea, count bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substr(value, greatest(octet_length(value) + 1 - CASE
    WHEN count < 0 THEN sys.invalid_length('right', count)
    WHEN count IS NOT NULL THEN count
END, 1)::integer);

-- A start before 1 eats from the length, as in PostgreSQL's substr.
CREATE OR REPLACE FUNCTION sys.substring(value text, start bigint, length bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN start IS NULL OR length IS NULL THEN NULL
    WHEN length < 0 THEN sys.invalid_length('substring', length)::text
    WHEN start + length <= 1 THEN left(value, 0)
    ELSE substr(value, greatest(start, 1)::integer,
                least(length + least(start, 1) - 1, 2147483647 - greatest(start, 1))::integer)
END;
CREATE OR REPLACE FUNCTION sys.substring(value bytea, start bigint, length bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN start IS NULL OR length IS NULL THEN NULL
    WHEN length < 0 THEN decode(sys.invalid_length('substring', length)::text, 'hex')
    WHEN start + length <= 1 THEN substr(value, 1, 0)
    ELSE substr(value, greatest(start, 1)::integer,
                least(length + least(start, 1) - 1, 2147483647 - greatest(start, 1))::integer)
END;

-- CHARINDEX: 0 when absent, and for an empty search string.
CREATE OR REPLACE FUNCTION sys.charindex(search text, value text, start integer DEFAULT 1) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN search IS NULL OR value IS NULL THEN NULL
    WHEN search = '' THEN 0
    WHEN start > 1 THEN coalesce(nullif(strpos(substr(value, start), search), 0) + start - 1, 0)
    ELSE strpos(value, search)
END;
CREATE OR REPLACE FUNCTION sys.charindex(search bytea, value bytea, start integer DEFAULT 1) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(search) = 0 OR value IS NULL THEN 0 * octet_length(value)
    WHEN position(search IN substr(value, greatest(start, 1))) = 0 THEN 0
    ELSE position(search IN substr(value, greatest(start, 1))) + greatest(start, 1) - 1
END;

-- STUFF: NULL where the place is outside the string; a NULL insertion deletes.
CREATE OR REPLACE FUNCTION sys.stuff(value text, start integer, count integer, insertion text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN start BETWEEN 1 AND length(value) AND count >= 0
        THEN left(value, start - 1) || coalesce(insertion, '') || substr(value, (least(start::bigint + count, 2147483647))::integer)
END;

CREATE OR REPLACE FUNCTION sys.stuff(value bytea, start integer, count integer, insertion bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN start BETWEEN 1 AND octet_length(value) AND count >= 0
        THEN substr(value, 1, start - 1) || coalesce(insertion, '')
          || substr(value, (least(start::bigint + count, 2147483647))::integer)
END;

-- UPDATE … SET column.WRITE(piece, at, count): from 0; NULL for at appends, NULL for count takes all
-- that follows, a NULL piece cuts off. A NULL column has no place to write to.
CREATE OR REPLACE FUNCTION sys.check_write(size bigint, at bigint, count bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF size IS NULL OR at < 0 OR at > size THEN
        PERFORM ssb_internal.raise_error(7116, format('Offset %s is not in the range of available LOB data.', coalesce(at, 0)));
    ELSIF count < 0 THEN
        PERFORM ssb_internal.raise_error(7135, format('Deletion length %s is not in the range of available text, ntext, or image data.', count));
    END IF;
    RETURN true;
END;
$$;
CREATE OR REPLACE FUNCTION sys.write(value text, piece text, at bigint, count bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN NOT sys.check_write(length(value), at, count) THEN NULL
    WHEN at IS NULL THEN value || coalesce(piece, '')
    ELSE left(value, at::integer) || coalesce(piece, '')
         || CASE WHEN piece IS NULL OR count IS NULL OR at + count >= length(value) THEN '' ELSE substr(value, (at + count)::integer + 1) END
END;
CREATE OR REPLACE FUNCTION sys.write(value bytea, piece bytea, at bigint, count bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN NOT sys.check_write(octet_length(value), at, count) THEN NULL
    WHEN at IS NULL THEN value || coalesce(piece, '')
    ELSE substr(value, 1, at::integer) || coalesce(piece, '')
         || CASE WHEN piece IS NULL OR count IS NULL OR at + count >= octet_length(value) THEN '' ELSE substr(value, (at + count)::integer + 1) END
END;

CREATE OR REPLACE FUNCTION sys.replicate(value text, count integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN count >= 0 THEN repeat(value, count) END;
CREATE OR REPLACE FUNCTION sys.replicate(value bytea, count integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN count >= 0 THEN decode(repeat(encode(value, 'hex'), count), 'hex') END;
CREATE OR REPLACE FUNCTION sys.space(count integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN count >= 0 THEN repeat(' ', least(count, 8000)) END;

-- REPLACE: an empty search string replaces nothing, as in PostgreSQL.
CREATE OR REPLACE FUNCTION sys.replace(value text, search text, replacement text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN replace(value, search, replacement);
-- Of bytes: two digits and a blank each, so that nothing is found between two digits of one byte.
CREATE OR REPLACE FUNCTION ssb_internal.spaced_digits(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN regexp_replace(encode(value, 'hex'), '(..)', '\1 ', 'g');
CREATE OR REPLACE FUNCTION sys.replace(value bytea, search bytea, replacement bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN decode(
    replace(replace(ssb_internal.spaced_digits(value), ssb_internal.spaced_digits(search), ssb_internal.spaced_digits(replacement)), ' ', ''), 'hex'
);
CREATE OR REPLACE FUNCTION sys.lower(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN lower(value);
CREATE OR REPLACE FUNCTION sys.upper(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN upper(value);
CREATE OR REPLACE FUNCTION sys.ltrim(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ltrim(value, ' ');
CREATE OR REPLACE FUNCTION sys.rtrim(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN rtrim(value, ' ');
CREATE OR REPLACE FUNCTION sys.trim(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN btrim(value, ' ');
CREATE OR REPLACE FUNCTION sys.reverse(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN reverse(value);
CREATE OR REPLACE FUNCTION sys.reverse(value bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value IS NOT NULL THEN coalesce((
    SELECT string_agg(substr(value, place, 1), NULL ORDER BY place DESC)
    FROM generate_series(1, octet_length(value)) AS place
), '') END;

-- ASCII and CHAR: the code in Windows-1252 (63, a question mark, for what it lacks).
CREATE OR REPLACE FUNCTION sys.ascii(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN value IS NULL OR value = '' THEN NULL
    WHEN ascii(value) < 128 OR ascii(value) BETWEEN 160 AND 255 THEN ascii(value)
    ELSE coalesce((
        SELECT code FROM generate_series(128, 159) AS code
        WHERE sys.text_of_cp1252(set_byte('\x00'::bytea, 0, code)) = left(value, 1)), 63)
END;
CREATE OR REPLACE FUNCTION sys.char(code integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN code = 0 THEN ''
    WHEN code BETWEEN 1 AND 127 OR code BETWEEN 160 AND 255 THEN chr(code)
    WHEN code BETWEEN 128 AND 159 THEN sys.text_of_cp1252(set_byte('\x00'::bytea, 0, code))
END;
CREATE OR REPLACE FUNCTION sys.unicode(value text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN nullif(ascii(value), 0);
-- A surrogate alone is no character here: NULL.
CREATE OR REPLACE FUNCTION sys.nchar(code integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN code = 0 THEN ''
    WHEN code BETWEEN 1 AND 55295 OR code BETWEEN 57344 AND 1114111 THEN chr(code)
END;

-- QUOTENAME: brackets unless told; NULL for more than 128 characters or
-- another quote.
CREATE OR REPLACE FUNCTION sys.quotename(value text, quote text DEFAULT '[') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN length(value) > 128 THEN NULL
    WHEN left(quote, 1) IN ('[', ']') THEN '[' || replace(value, ']', ']]') || ']'
    WHEN left(quote, 1) = '''' THEN '''' || replace(value, '''', '''''') || ''''
    WHEN left(quote, 1) = '"' THEN '"' || replace(value, '"', '""') || '"'
    WHEN left(quote, 1) IN ('(', ')') THEN '(' || replace(value, ')', '))') || ')'
    WHEN left(quote, 1) IN ('<', '>') THEN '<' || replace(value, '>', '>>') || '>'
    WHEN left(quote, 1) IN ('{', '}') THEN '{' || replace(value, '}', '}}') || '}'
    WHEN left(quote, 1) = '`' THEN '`' || replace(value, '`', '``') || '`'
END;

-- PARSENAME: part 1 is the object, 2 the schema, 3 the database, 4 the server.
CREATE OR REPLACE FUNCTION sys.parsename(value text, part integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN nullif((sys.name_parts(value))[cardinality(sys.name_parts(value)) + 1 - part], '');

-- STR: rounded, right-justified; asterisks where the integer part does not fit.
CREATE OR REPLACE FUNCTION sys.str(value double precision, length integer DEFAULT 10, decimals integer DEFAULT 0)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_number numeric;
    v_text pg_catalog.text;
BEGIN
    IF length OPERATOR(pg_catalog.<) 1 OR length OPERATOR(pg_catalog.>) 8000 OR decimals OPERATOR(pg_catalog.<) 0 THEN
        RETURN NULL;
    END IF;
    IF pg_catalog.abs(value) OPERATOR(pg_catalog.<) 1e15 THEN
        v_number := value::numeric;
    ELSE
        v_number := sys.exact_decimal(value);
    END IF;
    FOR i IN REVERSE least(decimals, 16) .. 0 LOOP
        v_text := pg_catalog.round(v_number, i)::pg_catalog.text;
        -- Decimals that do not fit are given up first.
        IF pg_catalog.length(v_text) OPERATOR(pg_catalog.<=) length THEN
            RETURN pg_catalog.lpad(v_text, length);
        END IF;
    END LOOP;
    RETURN CASE WHEN v_text IS NOT NULL THEN pg_catalog.repeat('*', length) END;
END;
$$;

-- TRANSLATE: both lists must be of the same length.
CREATE OR REPLACE FUNCTION sys.translate(value text, characters text, translations text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF pg_catalog.length(characters) OPERATOR(pg_catalog.<>) pg_catalog.length(translations) THEN
        PERFORM ssb_internal.raise_error(9828, 'The second and third arguments of the TRANSLATE built-in function must contain '
                                               'an equal number of characters.');
    END IF;
    RETURN pg_catalog.translate(value, characters, translations);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.one_character(separator text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF (pg_catalog.length(separator) OPERATOR(pg_catalog.=) 1) IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(214, 'Procedure expects parameter ''separator'' of type ''nchar(1)/nvarchar(1)''.');
    END IF;
    RETURN separator;
END;
$$;

-- STRING_SPLIT: an empty string gives one empty row, NULL none.
CREATE OR REPLACE FUNCTION sys.string_split(value text, separator text, OUT value text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT unnest(CASE WHEN $1 = '' THEN ARRAY[''] ELSE string_to_array($1, ssb_internal.one_character($2)) END);
END;

CREATE OR REPLACE FUNCTION sys.string_split(
    value text, separator text, enable_ordinal integer, OUT value text, OUT ordinal bigint)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT s.part, s.number
    FROM unnest(CASE WHEN $1 = '' THEN ARRAY[''] ELSE string_to_array($1, ssb_internal.one_character($2)) END) WITH ORDINALITY AS s (part, number);
END;

-- STRING_ESCAPE: JSON is the one kind there is.
CREATE OR REPLACE FUNCTION sys.string_escape(value text, kind text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN lower(kind COLLATE "C") = 'json' THEN replace(substr(to_json(value)::text, 2, length(to_json(value)::text) - 2), '/', '\/') END;

-- SOUNDEX: the first letter and three digits; a vowel between two letters of
-- the same group counts both, h and w do not.
CREATE OR REPLACE FUNCTION sys.soundex(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- No more than the longest varchar that is not max.
    v_letters text := upper(substring(left(value, 8000) from '^[A-Za-z]+') COLLATE "C");
    v_codes text;
    v_result text;
    v_last text;
    v_code text;
BEGIN
    IF v_letters IS NULL THEN
        RETURN '0000';
    END IF;
    v_codes := translate(v_letters, 'BFPVCGJKQSXZDTLMNRAEIOUYHW', '11112222222233455600000099');
    v_result := left(v_letters, 1);
    v_last := left(v_codes, 1);
    FOR i IN 2 .. length(v_codes) LOOP
        v_code := substr(v_codes, i, 1);
        IF v_code = '9' THEN
            CONTINUE;
        END IF;
        IF v_code <> '0' AND v_code <> v_last THEN
            v_result := v_result || v_code;
            EXIT WHEN length(v_result) = 4;
        END IF;
        v_last := v_code;
    END LOOP;
    RETURN rpad(v_result, 4, '0');
END;
$$;

-- DIFFERENCE: how many of the four characters of SOUNDEX agree.
CREATE OR REPLACE FUNCTION sys.difference(a text, b text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (substr(sys.soundex(a), 1, 1) = substr(sys.soundex(b), 1, 1))::integer
    + (substr(sys.soundex(a), 2, 1) = substr(sys.soundex(b), 2, 1))::integer
    + (substr(sys.soundex(a), 3, 1) = substr(sys.soundex(b), 3, 1))::integer
    + (substr(sys.soundex(a), 4, 1) = substr(sys.soundex(b), 4, 1))::integer;

-- The same for values of other types.
CREATE OR REPLACE FUNCTION sys.len(value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.len(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.left(value anyelement, count bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.left(sys.convert_varchar(value), count)';
CREATE OR REPLACE FUNCTION sys.right(value anyelement, count bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.right(sys.convert_varchar(value), count)';
CREATE OR REPLACE FUNCTION sys.charindex(search text, value anyelement, start integer DEFAULT 1) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.charindex(search, sys.convert_varchar(value), start)';
CREATE OR REPLACE FUNCTION sys.stuff(value anyelement, start integer, count integer, insertion text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.stuff(sys.convert_varchar(value), start, count, insertion)';
CREATE OR REPLACE FUNCTION sys.replicate(value anyelement, count integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.replicate(sys.convert_varchar(value), count)';
CREATE OR REPLACE FUNCTION sys.replace(value anyelement, search text, replacement text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.replace(sys.convert_varchar(value), search, replacement)';
CREATE OR REPLACE FUNCTION sys.lower(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.lower(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.upper(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.upper(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.ltrim(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.ltrim(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.rtrim(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.rtrim(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.trim(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.trim(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.reverse(value anyelement) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.reverse(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.ascii(value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.ascii(sys.convert_varchar(value))';
CREATE OR REPLACE FUNCTION sys.unicode(value anyelement) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT sys.unicode(sys.convert_varchar(value))';

-- CONCAT and CONCAT_WS in computed columns.
CREATE OR REPLACE FUNCTION sys.concat_stored(separator text, texts text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN array_to_string(texts, coalesce(separator, ''));

-- REPLACE under a collation that ignores case: what is looked for is taken as it is written, no pattern.
CREATE OR REPLACE FUNCTION sys.replace_ci(value text, search text, replacement text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN search = '' THEN value ELSE regexp_replace(
    value, regexp_replace(search, '([^[:alnum:][:space:]])', '\\\1', 'g'), pg_catalog.replace(replacement, '\', '\\'), 'gi') END;
