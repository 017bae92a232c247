-- ISJSON, JSON_VALUE, JSON_QUERY, JSON_MODIFY, JSON_PATH_EXISTS, OPENJSON.
--
-- All work on the text, through type json, which keeps it as written: numbers
-- keep their digits, objects their order and duplicate keys (the first one
-- counts, as in SQL Server). Errors: 13607 path, 13609 text, 13608 strict path
-- that finds nothing, 13623/13624 a scalar or object where the other is wanted.

-- Whether the text is JSON at all. IS JSON exists only from PostgreSQL 16 on.
CREATE OR REPLACE FUNCTION sys.try_json(value text) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
    RETURN value::pg_catalog.json;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character OR program_limit_exceeded THEN
    RETURN NULL;
END;
$$;
-- Where PostgreSQL stopped reading a JSON text, from 0, and what stands there; '.' at its end, as SQL Server writes.
-- p_context has the number of the line, and of that line the last 50 bytes up to the end of the token that p_detail names.
CREATE OR REPLACE FUNCTION ssb_internal.json_fault(p_value text, p_detail text, p_context text, OUT place integer, OUT at_place text)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_seen text[] := regexp_match(p_context, '^\D*(\d+): ([^\n]*)');
    v_token text := coalesce(substring(p_detail FROM '"(\S+)" is invalid'), substring(p_detail FROM 'found "(.+)"[.]$'));
    -- What a server that speaks another language puts into its quotes last.
    v_quoted text := btrim(substring(p_detail FROM '[«»„“”"]([^«»„“”"]+)[«»„“”"][^«»„“”"]*$'));
    v_line_start integer := 0;
BEGIN
    place := length(p_value) - length(ltrim(p_value));
    IF v_seen IS NOT NULL THEN
        FOR i IN 2 .. v_seen[1]::integer LOOP
            v_line_start := v_line_start + strpos(substr(p_value, v_line_start + 1), chr(10));
        END LOOP;
        v_seen[2] := regexp_replace(v_seen[2], '^[.]{3}|[.]{3}$', '', 'g');
        IF v_token IS NULL AND v_quoted <> '\u' AND right(v_seen[2], length(v_quoted)) = v_quoted THEN
            v_token := v_quoted;
        END IF;
        place := v_line_start + greatest(strpos(substr(p_value, v_line_start + 1), v_seen[2]), 1) - 1 + length(v_seen[2])
                 - coalesce(length(v_token), 0);
    END IF;
    at_place := coalesce(nullif(substr(p_value, place + 1, 1), ''), '.');
END;
$$;

CREATE OR REPLACE FUNCTION sys.read_json(value text) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
    v_detail text;
    v_context text;
    v_fault record;
BEGIN
    BEGIN
        RETURN value::pg_catalog.json;
    EXCEPTION WHEN invalid_text_representation OR untranslatable_character OR program_limit_exceeded THEN
        GET STACKED DIAGNOSTICS v_detail := PG_EXCEPTION_DETAIL, v_context := PG_EXCEPTION_CONTEXT;
    END;
    v_fault := ssb_internal.json_fault(value, v_detail, v_context);
    PERFORM ssb_internal.raise_error(13609, pg_catalog.format(
        'JSON text is not properly formatted. Unexpected character ''%s'' is found at position %s.', v_fault.at_place, v_fault.place), 16, 4);
END;
$$;

-- ISJSON: an object or array; with kind VALUE any JSON, SCALAR, OBJECT, ARRAY just those.
CREATE OR REPLACE FUNCTION sys.isjson(value text, kind text DEFAULT NULL) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN value IS NOT NULL THEN coalesce(
    CASE upper(coalesce(kind, '') COLLATE "C")
        WHEN '' THEN json_typeof(sys.try_json(value)) IN ('object', 'array')
        WHEN 'VALUE' THEN sys.try_json(value) IS NOT NULL
        WHEN 'OBJECT' THEN json_typeof(sys.try_json(value)) = 'object'
        WHEN 'ARRAY' THEN json_typeof(sys.try_json(value)) = 'array'
        WHEN 'SCALAR' THEN json_typeof(sys.try_json(value)) IN ('string', 'number')
    END::integer, 0) END;

-- The steps of a path, and which of them are array indexes; is_strict and
-- is_append say what the path began with.
CREATE OR REPLACE FUNCTION sys.json_path_steps(
    path text, OUT steps text[], OUT is_index boolean[], OUT is_strict boolean, OUT is_append boolean)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rest text := btrim(path);
    v_match text[];
BEGIN
    IF path ~ '^\$(\.[A-Za-z0-9_]+)+$' THEN
        -- The common path.
        steps := string_to_array(substr(path, 3), '.');
        is_index := array_fill(false, ARRAY[cardinality(steps)]);
        is_append := false;
        is_strict := false;
        RETURN;
    END IF;
    steps := '{}';
    is_index := '{}';
    is_append := v_rest ~ '^append\s';
    v_rest := regexp_replace(v_rest, '^append\s+', '');
    is_strict := v_rest ~ '^strict\s';
    v_rest := regexp_replace(v_rest, '^(lax|strict)\s+', '');
    IF left(v_rest, 1) = '$' THEN
        v_rest := substr(v_rest, 2);
        LOOP
            IF v_rest = '' THEN
                RETURN;
            END IF;
            v_match := regexp_match(v_rest, '^\[\s*([0-9]{1,9})\s*\]');
            IF v_match IS NOT NULL THEN
                steps := steps || v_match[1];
                is_index := is_index || true;
                v_rest := regexp_replace(v_rest, '^\[[^\]]*\]', '');
                CONTINUE;
            END IF;
            v_match := regexp_match(v_rest, '^\.("(?:[^"\\]|\\.)*")');
            IF v_match IS NOT NULL THEN
                steps := steps || (v_match[1]::json #>> '{}');
                is_index := is_index || false;
                v_rest := substr(v_rest, length(v_match[1]) + 2);
                CONTINUE;
            END IF;
            v_match := regexp_match(v_rest, '^\.([^.\[\]"$\s]+)');
            EXIT WHEN v_match IS NULL;
            steps := steps || v_match[1];
            is_index := is_index || false;
            v_rest := substr(v_rest, length(v_match[1]) + 2);
        END LOOP;
    END IF;
    PERFORM ssb_internal.raise_error(13607, format(
        'JSON path is not properly formatted. Unexpected character ''%s'' is found at position %s.', left(v_rest, 1),
        length(path) - length(v_rest)), 16, 4);
END;
$$;

-- The part of a JSON text at the steps, as written; NULL where there is none.
CREATE OR REPLACE FUNCTION sys.json_at(value json, steps text[], is_index boolean[]) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_json json := value;
BEGIN
    FOR i IN 1 .. cardinality(steps) LOOP
        IF is_index[i] THEN
            v_json := CASE WHEN json_typeof(v_json) = 'array' THEN v_json -> steps[i]::integer END;
        ELSIF json_typeof(v_json) = 'object' THEN
            -- json -> key takes the last of duplicate keys, SQL Server the first.
            v_json := (SELECT e.value FROM json_each(v_json) WITH ORDINALITY AS e (key, value, number)
                        WHERE e.key = steps[i] ORDER BY e.number LIMIT 1);
        ELSE
            v_json := NULL;
        END IF;
        EXIT WHEN v_json IS NULL;
    END LOOP;
    RETURN v_json;
END;
$$;

-- want scalar, container or any. lax answers NULL where strict raises.
CREATE OR REPLACE FUNCTION sys.json_find(value text, path text, want text) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_path record := sys.json_path_steps(path);
    v_json json := sys.read_json(value);
    v_type text;
BEGIN
    v_json := sys.json_at(v_json, v_path.steps, v_path.is_index);
    v_type := json_typeof(v_json);
    IF v_type IS NULL THEN
        IF v_path.is_strict THEN
            PERFORM ssb_internal.raise_error(13608, 'Property cannot be found on the specified JSON path.', 16, 2);
        END IF;
        RETURN NULL;
    ELSIF want = 'scalar' AND v_type IN ('object', 'array') THEN
        IF v_path.is_strict THEN
            PERFORM ssb_internal.raise_error(13623, 'Scalar value cannot be found in the specified JSON path.', 16, 2);
        END IF;
        RETURN NULL;
    ELSIF want = 'container' AND v_type NOT IN ('object', 'array') THEN
        IF v_path.is_strict THEN
            PERFORM ssb_internal.raise_error(13624, 'Object or array cannot be found in the specified JSON path.', 16, 2);
        END IF;
        RETURN NULL;
    END IF;
    RETURN v_json;
END;
$$;

-- JSON_VALUE: a scalar of at most 4,000 characters (lax: NULL for a longer one).
CREATE OR REPLACE FUNCTION sys.json_value(value text, path text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
    v_text pg_catalog.text := sys.json_find(value, path, 'scalar') OPERATOR(pg_catalog.#>>) '{}';
BEGIN
    IF pg_catalog.length(v_text) OPERATOR(pg_catalog.>) 4000 THEN
        IF pg_catalog.btrim(path) OPERATOR(pg_catalog.~) '^strict\s' THEN
            PERFORM ssb_internal.raise_error(13625, 'String value in the specified JSON path would be truncated.');
        END IF;
        RETURN NULL;
    END IF;
    RETURN v_text;
END;
$$;
-- JSON_QUERY: an object or array, as it is written.
CREATE OR REPLACE FUNCTION sys.json_query(value text, path text DEFAULT '$') RETURNS text
LANGUAGE sql IMMUTABLE
RETURN sys.json_find(value, path, 'container')::text;
CREATE OR REPLACE FUNCTION sys.json_path_exists(value text, path text) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN value IS NOT NULL AND path IS NOT NULL THEN
    (sys.json_find(value, regexp_replace(path, '^\s*strict\s', ''), 'any') IS NOT NULL)::integer END;

-- What OPENJSON reads is an object or an array: 13609 for a text that is neither.
CREATE OR REPLACE FUNCTION ssb_internal.container_in(json_text text, path text) RETURNS json
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_json json := sys.json_find(json_text, path, 'container');
    v_blanks integer;
BEGIN
    IF v_json IS NULL AND json_typeof(sys.read_json(json_text)) NOT IN ('object', 'array') THEN
        v_blanks := length(json_text) - length(ltrim(json_text, E' \t\n\r'));
        PERFORM ssb_internal.raise_error(13609, format(
            'JSON text is not properly formatted. Unexpected character ''%s'' is found at position %s.',
            substr(json_text, v_blanks + 1, 1), v_blanks), 16, 4);
    END IF;
    RETURN v_json;
END;
$$;

-- OPENJSON without a schema: keys (or indexes), values as text, and types
-- 0 null, 1 string, 2 number, 3 boolean, 4 array, 5 object.
CREATE OR REPLACE FUNCTION sys.openjson(json_text text, path text DEFAULT '$')
RETURNS TABLE (key text, value text, type integer)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_json json := ssb_internal.container_in(json_text, path);
BEGIN
    RETURN QUERY
    SELECT e.key, e.item #>> '{}',
           CASE json_typeof(e.item) WHEN 'null' THEN 0 WHEN 'string' THEN 1 WHEN 'number' THEN 2 WHEN 'boolean' THEN 3
                                    WHEN 'array' THEN 4 ELSE 5 END
    FROM (
        SELECT o.key, o.value AS item, o.number
        FROM json_each(CASE WHEN json_typeof(v_json) = 'object' THEN v_json END) WITH ORDINALITY AS o (key, value, number)
        UNION ALL
        SELECT (a.number - 1)::text, a.item, a.number
        FROM json_array_elements(CASE WHEN json_typeof(v_json) = 'array' THEN v_json END) WITH ORDINALITY AS a (item, number)
    ) AS e
    ORDER BY e.number;
END;
$$;
-- OPENJSON … WITH: one row for each element of an array, or for the object itself.
CREATE OR REPLACE FUNCTION sys.openjson_rows(json_text text, path text DEFAULT '$')
RETURNS TABLE (item text)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_json json := ssb_internal.container_in(json_text, path);
BEGIN
    IF json_typeof(v_json) = 'array' THEN
        RETURN QUERY SELECT a.element::text FROM json_array_elements(v_json) WITH ORDINALITY AS a (element, number)
                     ORDER BY a.number;
    ELSIF v_json IS NOT NULL THEN
        item := v_json;
        RETURN NEXT;
    END IF;
END;
$$;

-- JSON_MODIFY. The new value is JSON text already (kind json: from JSON_QUERY or
-- JSON_MODIFY; number, boolean), or a string to be quoted (kind text). NULL
-- deletes a key in lax mode and sets null in strict mode and in arrays. What lies
-- outside the path keeps its order, and is written without white space.
CREATE OR REPLACE FUNCTION sys.json_set(
    value json, steps text[], is_index boolean[], new_value text, is_strict boolean, is_append boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type text := json_typeof(value);
    v_parts text[] := '{}';
    v_found boolean := false;
    v_item record;
    v_text text;
BEGIN
    IF cardinality(steps) = 0 THEN
        IF is_append THEN
            IF v_type <> 'array' THEN
                RETURN value::text;
            END IF;
            v_parts := ARRAY(SELECT a.item::text FROM json_array_elements(value) WITH ORDINALITY AS a (item, number)
                             ORDER BY a.number);
            RETURN '[' || array_to_string(v_parts || coalesce(new_value, 'null'), ',') || ']';
        END IF;
        RETURN coalesce(new_value, 'null');
    ELSIF v_type = 'object' AND NOT is_index[1] THEN
        FOR v_item IN SELECT e.key, e.value AS item FROM json_each(value) WITH ORDINALITY AS e (key, value, number) ORDER BY e.number
        LOOP
            v_text := v_item.item::text;
            IF v_item.key = steps[1] AND NOT v_found THEN
                v_found := true;
                CONTINUE WHEN cardinality(steps) = 1 AND new_value IS NULL AND NOT is_strict AND NOT is_append;
                v_text := sys.json_set(v_item.item, steps[2:], is_index[2:], new_value, is_strict, is_append);
            END IF;
            v_parts := v_parts || (to_json(v_item.key)::text || ':' || v_text);
        END LOOP;
        IF NOT v_found AND NOT is_strict AND cardinality(steps) = 1 AND new_value IS NOT NULL THEN
            v_found := true;
            v_parts := v_parts || (to_json(steps[1])::text || ':'
                || CASE WHEN is_append THEN '[' || new_value || ']' ELSE new_value END);
        END IF;
        v_text := '{' || array_to_string(v_parts, ',') || '}';
    ELSIF v_type = 'array' AND is_index[1] THEN
        FOR v_item IN SELECT a.item, a.number - 1 AS position FROM json_array_elements(value) WITH ORDINALITY AS a (item, number)
                      ORDER BY a.number
        LOOP
            v_text := v_item.item::text;
            IF v_item.position = steps[1]::integer THEN
                v_found := true;
                v_text := sys.json_set(v_item.item, steps[2:], is_index[2:], new_value, is_strict, is_append);
            END IF;
            v_parts := v_parts || v_text;
        END LOOP;
        v_text := '[' || array_to_string(v_parts, ',') || ']';
    END IF;
    IF NOT v_found AND is_strict THEN
        PERFORM ssb_internal.raise_error(13608, 'Property cannot be found on the specified JSON path.', 16, 2);
    END IF;
    RETURN CASE WHEN v_found THEN v_text ELSE value::text END;
END;
$$;
CREATE OR REPLACE FUNCTION sys.json_modify_with(value text, path text, new_value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_path record;
BEGIN
    IF value IS NULL OR path IS NULL THEN
        RETURN NULL;
    END IF;
    v_path := sys.json_path_steps(path);
    IF coalesce(cardinality(v_path.steps), 0) = 0 AND NOT v_path.is_append THEN
        PERFORM ssb_internal.raise_error(13619, 'Unsupported JSON path found in argument 2 of JSON_MODIFY.');
    END IF;
    RETURN sys.json_set(sys.read_json(value), v_path.steps, v_path.is_index, new_value, v_path.is_strict, v_path.is_append);
END;
$$;
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value text) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, to_json(new_value)::text);
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value json) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, new_value::text);
-- A bit is true or false in JSON: the compiler passes x = 1.
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value boolean) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, new_value::text);
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value numeric) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, new_value::text);
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value double precision) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, new_value::text);
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value integer) RETURNS text
LANGUAGE sql IMMUTABLE RETURN sys.json_modify_with(value, path, new_value::text);
CREATE OR REPLACE FUNCTION sys.json_modify(value text, path text, new_value anyelement) RETURNS text
LANGUAGE sql STABLE
AS 'SELECT sys.json_modify_with(value, path, pg_catalog.to_json(sys.convert_varchar(new_value))::text)';
