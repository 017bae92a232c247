-- XQuery evaluation: arithmetic and the function library.

CREATE OR REPLACE FUNCTION ssb_internal.xq_arithmetic(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_by text := p_e ->> 'by';
    v_left text;
    v_right text;
    v_type text;
    v_x numeric;
    v_y numeric;
BEGIN
    IF p_e ->> 'op' = 'negate' THEN
        v_right := (ssb_internal.xq_atoms(p_e -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size))[1];
        v_left := 'i0';
        v_by := '-';
    ELSE
        v_left := (ssb_internal.xq_atoms(p_e -> 'l', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size))[1];
        v_right := (ssb_internal.xq_atoms(p_e -> 'r', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size))[1];
    END IF;
    IF left(v_left, 1) = 'u' THEN
        v_left := ssb_internal.xq_cast(v_left, 'f');
    END IF;
    IF left(v_right, 1) = 'u' THEN
        v_right := ssb_internal.xq_cast(v_right, 'f');
    END IF;
    IF v_left IS NULL OR v_right IS NULL THEN
        RETURN '{}';
    ELSIF left(v_left, 1) NOT IN ('i', 'd', 'f') OR left(v_right, 1) NOT IN ('i', 'd', 'f') THEN
        PERFORM ssb_internal.raise_error(2234, format('XQuery: The operator "%s" cannot be applied to "%s" and "%s" operands.', v_by,
            ssb_internal.xq_type_name(left(v_left, 1)), ssb_internal.xq_type_name(left(v_right, 1))));
    END IF;
    v_type := CASE WHEN 'f' IN (left(v_left, 1), left(v_right, 1)) THEN 'f'
                   WHEN 'd' IN (left(v_left, 1), left(v_right, 1)) OR v_by = 'div' THEN 'd' ELSE 'i' END;
    v_x := substr(v_left, 2)::numeric;
    v_y := substr(v_right, 2)::numeric;
    IF abs(v_x) > 1e320 OR abs(v_y) > 1e320 THEN
        RETURN '{}';
    END IF;
    IF v_y = 0 AND v_by IN ('div', 'idiv', 'mod') THEN
        RETURN '{}';                            -- a dynamic error is an empty sequence here
    END IF;
    IF v_by = 'idiv' THEN
        RETURN ARRAY['i' || div(v_x, v_y)];
    ELSIF v_type = 'f' AND ssb_internal.xq_double(CASE v_by WHEN '+' THEN v_x + v_y WHEN '-' THEN v_x - v_y WHEN '*' THEN v_x * v_y
                                                       WHEN 'div' THEN v_x / v_y ELSE v_x % v_y END::text) IS NULL THEN
        RETURN '{}';                            -- so is an overflow
    ELSIF v_type = 'f' THEN
        RETURN ARRAY['f' || CASE v_by
            WHEN '+' THEN v_x::double precision + v_y::double precision
            WHEN '-' THEN v_x::double precision - v_y::double precision
            WHEN '*' THEN v_x::double precision * v_y::double precision
            WHEN 'div' THEN v_x::double precision / v_y::double precision
            ELSE (v_x % v_y)::double precision END];
    END IF;
    RETURN ARRAY[v_type || trim_scale(CASE v_by WHEN '+' THEN v_x + v_y WHEN '-' THEN v_x - v_y WHEN '*' THEN v_x * v_y
                                           WHEN 'div' THEN v_x / v_y ELSE v_x % v_y END)];
END;
$$;

-- A call of a built-in function.
CREATE OR REPLACE FUNCTION ssb_internal.xq_call(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := p_e ->> 'f';
    v_arguments jsonb := p_e -> 'args';
    v_first jsonb := CASE WHEN v_arguments = '[]' THEN '{"op": "context"}'::jsonb ELSE v_arguments -> 0 END;
    v_atoms text[];
    v_texts text[];
    v_text text;
    v_start double precision;
    v_length double precision;
BEGIN
    CASE v_name
    WHEN 'position' THEN
        RETURN ARRAY['i' || p_position];
    WHEN 'last' THEN
        RETURN ARRAY['i' || p_size];
    WHEN 'true' THEN
        RETURN ARRAY['b1'];
    WHEN 'false' THEN
        RETURN ARRAY['b0'];
    WHEN 'not', 'boolean' THEN
        RETURN ARRAY[CASE WHEN ssb_internal.xq_true(v_first, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
                               = (v_name = 'boolean') THEN 'b1' ELSE 'b0' END];
    WHEN 'count', 'empty', 'exists' THEN
        v_atoms := ssb_internal.xq_items(v_first, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        RETURN ARRAY[CASE v_name WHEN 'count' THEN 'i' || cardinality(v_atoms)
                                 ELSE CASE WHEN (v_atoms = '{}') = (v_name = 'empty') THEN 'b1' ELSE 'b0' END END];
    WHEN 'local-name', 'namespace-uri', 'name' THEN
        v_atoms := ssb_internal.xq_items(v_first, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        RETURN ARRAY['s' || ssb_internal.xq_node_name(v_atoms[1], v_name, p_toks, p_opens, p_decls)];
    ELSE
        v_atoms := ssb_internal.xq_atoms(v_first, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    END CASE;

    CASE v_name
    WHEN 'data' THEN
        RETURN v_atoms;
    WHEN 'string' THEN
        RETURN ARRAY['s' || coalesce(ssb_internal.xq_text(v_atoms[1]), '')];
    WHEN 'number' THEN
        RETURN array_remove(ARRAY[ssb_internal.xq_cast(v_atoms[1], 'f')], NULL);
    WHEN 'distinct-values' THEN
        RETURN (SELECT coalesce(array_agg(d.a ORDER BY d.i), '{}')
                  FROM (SELECT u.a, min(u.i) AS i FROM unnest(v_atoms) WITH ORDINALITY AS u(a, i) GROUP BY u.a) AS d);
    WHEN 'sum', 'avg', 'min', 'max' THEN
        RETURN ssb_internal.xq_aggregate(v_name, v_atoms);
    WHEN 'floor', 'ceiling', 'round', 'abs' THEN
        v_text := CASE WHEN left(v_atoms[1], 1) = 'u' THEN ssb_internal.xq_cast(v_atoms[1], 'f') ELSE v_atoms[1] END;
        IF v_text IS NULL THEN
            RETURN '{}';
        END IF;
        RETURN ARRAY[left(v_text, 1) || trim_scale(CASE v_name
            WHEN 'floor' THEN floor(substr(v_text, 2)::numeric)
            WHEN 'ceiling' THEN ceiling(substr(v_text, 2)::numeric)
            WHEN 'round' THEN floor(substr(v_text, 2)::numeric + 0.5)
            ELSE abs(substr(v_text, 2)::numeric) END)];
    ELSE
        NULL;
    END CASE;

    -- String functions: an empty sequence is the empty string.
    v_texts := ARRAY[coalesce(ssb_internal.xq_text(v_atoms[1]), '')];
    FOR i IN 1 .. jsonb_array_length(v_arguments) - 1 LOOP
        v_atoms := ssb_internal.xq_atoms(v_arguments -> i, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        v_texts := v_texts || coalesce(ssb_internal.xq_text(v_atoms[1]), '');
    END LOOP;
    CASE v_name
    WHEN 'concat' THEN
        RETURN ARRAY['s' || array_to_string(v_texts, '')];
    WHEN 'contains' THEN
        RETURN ARRAY[CASE WHEN strpos(v_texts[1], v_texts[2]) > 0 OR v_texts[2] = '' THEN 'b1' ELSE 'b0' END];
    WHEN 'starts-with' THEN
        RETURN ARRAY[CASE WHEN left(v_texts[1], length(v_texts[2])) = v_texts[2] THEN 'b1' ELSE 'b0' END];
    WHEN 'ends-with' THEN
        RETURN ARRAY[CASE WHEN right(v_texts[1], length(v_texts[2])) = v_texts[2] THEN 'b1' ELSE 'b0' END];
    WHEN 'string-length' THEN
        RETURN ARRAY['i' || length(v_texts[1])];
    WHEN 'upper-case' THEN
        RETURN ARRAY['s' || upper(v_texts[1])];
    WHEN 'lower-case' THEN
        RETURN ARRAY['s' || lower(v_texts[1])];
    WHEN 'normalize-space' THEN
        RETURN ARRAY['s' || btrim(regexp_replace(v_texts[1], '[ \t\r\n]+', ' ', 'g'), ' ')];
    ELSE                                                                            -- substring
        IF NOT ssb_internal.xq_is_number(v_texts[2]) OR cardinality(v_texts) = 3 AND NOT ssb_internal.xq_is_number(v_texts[3]) THEN
            RETURN ARRAY['s'];
        END IF;
        -- Characters whose place p has round(start) <= p < round(start) + round(length).
        v_start := floor(coalesce(ssb_internal.xq_double(v_texts[2]), 2147483647) + 0.5);
        v_length := CASE cardinality(v_texts) WHEN 3 THEN floor(coalesce(ssb_internal.xq_double(v_texts[3]), 2147483647) + 0.5) ELSE 2147483647 END;
        v_length := least(v_start + v_length, 2147483647) - greatest(v_start, 1);
        RETURN ARRAY['s' || CASE WHEN v_length <= 0 OR v_start > 2147483646 THEN ''
                                 ELSE substr(v_texts[1], greatest(v_start, 1)::integer, v_length::integer) END];
    END CASE;
END;
$$;

-- sum, avg, min, max: untyped values are doubles; min and max also know strings.
CREATE OR REPLACE FUNCTION ssb_internal.xq_aggregate(p_name text, p_atoms text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type text := 'i';
    v_atom text;
    v_numbers numeric[] := '{}';
BEGIN
    IF p_atoms = '{}' THEN
        RETURN CASE p_name WHEN 'sum' THEN ARRAY['i0'] ELSE '{}'::text[] END;
    END IF;
    FOREACH v_atom IN ARRAY p_atoms LOOP
        IF left(v_atom, 1) IN ('i', 'd', 'f', 'u') AND ssb_internal.xq_is_number(substr(v_atom, 2)) THEN
            v_numbers := v_numbers || substr(v_atom, 2)::numeric;
            v_type := CASE WHEN left(v_atom, 1) IN ('u', 'f') OR v_type = 'f' THEN 'f'
                           WHEN left(v_atom, 1) = 'd' THEN 'd' ELSE v_type END;
        ELSIF p_name IN ('min', 'max') AND left(v_atom, 1) NOT IN ('u', 'i', 'd', 'f') THEN
            RETURN (SELECT ARRAY[CASE p_name WHEN 'min' THEN min(u.a COLLATE "C") ELSE max(u.a COLLATE "C") END]
                      FROM unnest(p_atoms) AS u(a));
        ELSE
            RETURN '{}';                        -- a cast that fails empties the aggregate
        END IF;
    END LOOP;
    RETURN (SELECT ARRAY[CASE WHEN v_type = 'i' AND p_name = 'avg' THEN 'd' ELSE v_type END
                         || trim_scale(CASE p_name WHEN 'sum' THEN sum(n) WHEN 'avg' THEN avg(n)
                                                   WHEN 'min' THEN min(n) ELSE max(n) END)]
              FROM unnest(v_numbers) AS n);
END;
$$;

-- local-name, namespace-uri and name of a node item; '' for none.
CREATE OR REPLACE FUNCTION ssb_internal.xq_node_name(
    p_item text, p_what text, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_node bigint;
    v_at integer;
    v_tok text;
    v_name text;
BEGIN
    IF p_item IS NULL THEN
        RETURN '';
    ELSIF left(p_item, 1) <> 'n' THEN
        v_name := CASE left(p_item, 1) WHEN 'x' THEN coalesce(substring(p_item from '^x<([^ />!?]+)'), '')
                                       WHEN 'a' THEN split_part(substr(p_item, 2), '=', 1) ELSE '' END;
        RETURN CASE p_what WHEN 'name' THEN v_name WHEN 'local-name' THEN substr(v_name, strpos(v_name, ':') + 1) ELSE '' END;
    END IF;
    v_node := substr(p_item, 2)::bigint;
    v_at := ((v_node & 4294967295) >> 1)::integer;
    v_tok := p_toks[v_at];
    IF v_node > 4294967295 THEN
        v_name := split_part(substr(v_tok, (v_node >> 32)::integer + 1), '=', 1);
    ELSIF v_node & 1 = 1 OR v_at = 1 OR v_tok LIKE '!%' THEN
        RETURN '';
    ELSIF v_tok LIKE '?%' THEN
        RETURN CASE p_what WHEN 'namespace-uri' THEN '' ELSE substring(v_tok from '^\?([^ \t\n?]+)') END;
    ELSE
        v_name := split_part(split_part(split_part(v_tok, '>', 1), ' ', 1), '/', 1);
    END IF;
    IF p_what = 'namespace-uri' THEN
        IF v_node > 4294967295 AND strpos(v_name, ':') = 0 THEN
            RETURN '';
        END IF;
        RETURN ssb_internal.xml_uri(left(v_name, greatest(strpos(v_name, ':') - 1, 0)), v_at, p_toks, p_opens, p_decls);
    END IF;
    RETURN CASE p_what WHEN 'name' THEN v_name ELSE substr(v_name, strpos(v_name, ':') + 1) END;
END;
$$;
