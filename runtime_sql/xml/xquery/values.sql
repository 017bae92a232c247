-- XQuery evaluation: items and atomic values.
--
-- An item is a text with its kind as first letter:
--   n<number>  a node of the document          x<markup>  a constructed element, comment, instruction
--   a<name="v"uri>  a constructed attribute    t<text>    a constructed text node
--   s string, u untypedAtomic, i integer, d decimal, f double, b boolean (b1, b0),
--   D dateTime, E date, T time, B base64Binary, H hexBinary

-- Is p_text a number, so that it can be cast to double?
CREATE OR REPLACE FUNCTION ssb_internal.xq_is_number(p_text text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN length(p_text) < 400
           AND p_text ~ '^[ \t\r\n]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?[ \t\r\n]*$';
END;
$$;

-- A number as double; NULL where it is too large for one, 0 where too small.
CREATE OR REPLACE FUNCTION ssb_internal.xq_double(p_text text) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number numeric := p_text::numeric;
BEGIN
    RETURN CASE WHEN abs(v_number) > 1.797693134862315e308 THEN NULL
                WHEN abs(v_number) < 1e-300 THEN 0
                ELSE p_text::double precision END;
END;
$$;

-- Bytes as base64Binary or hexBinary writes them.
CREATE OR REPLACE FUNCTION ssb_internal.xq_binary(p_bytes bytea, p_letter text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE p_letter WHEN 'B' THEN translate(encode(p_bytes, 'base64'), E'\n', '') ELSE upper(encode(p_bytes, 'hex')) END;
END;
$$;

-- A value cast to the type of p_letter; NULL where XQuery's cast fails (an empty sequence there).
CREATE OR REPLACE FUNCTION ssb_internal.xq_cast(p_atom text, p_letter text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_from text := left(p_atom, 1);
    v_value text := substr(p_atom, 2);
BEGIN
    IF v_from = p_letter THEN
        RETURN p_atom;
    END IF;
    CASE p_letter
    WHEN 's', 'u' THEN
        RETURN p_letter || ssb_internal.xq_text(p_atom);
    WHEN 'B', 'H' THEN
        IF v_from IN ('B', 'H') THEN
            RETURN p_letter || ssb_internal.xq_binary(CASE v_from WHEN 'B' THEN decode(v_value, 'base64') ELSE decode(v_value, 'hex') END, p_letter);
        END IF;
        v_value := translate(v_value, E' \t\r\n', '');
        RETURN CASE WHEN p_letter = 'H' AND ssb_internal.xsd_is_lexical('hexBinary', v_value) THEN 'H' || upper(v_value)
                    WHEN p_letter = 'B' AND ssb_internal.xsd_is_lexical('base64Binary', v_value) THEN 'B' || v_value END;
    WHEN 'f', 'd', 'i' THEN
        IF v_from = 'b' THEN
            RETURN p_letter || v_value;
        ELSIF NOT ssb_internal.xq_is_number(v_value) THEN
            RETURN NULL;
        ELSIF p_letter = 'f' THEN
            RETURN 'f' || ssb_internal.xq_double(v_value);
        ELSIF p_letter = 'd' AND v_from IN ('s', 'u') AND v_value ~ '[eE]' THEN
            RETURN NULL;
        ELSIF p_letter = 'd' THEN
            RETURN 'd' || trim_scale(v_value::numeric);
        ELSIF v_from IN ('s', 'u') AND v_value !~ '^[ \t\r\n]*[+-]?[0-9]+[ \t\r\n]*$' THEN
            RETURN NULL;
        END IF;
        RETURN 'i' || trunc(v_value::numeric);
    WHEN 'b' THEN
        v_value := btrim(v_value, E' \t\r\n');
        IF v_from IN ('i', 'd', 'f') THEN
            RETURN CASE WHEN v_value::numeric = 0 THEN 'b0' ELSE 'b1' END;
        END IF;
        RETURN CASE WHEN v_value IN ('true', '1') THEN 'b1' WHEN v_value IN ('false', '0') THEN 'b0' END;
    ELSE                                                                        -- D, E, T
        v_value := btrim(v_value, E' \t\r\n');
        IF v_from = 'D' AND p_letter = 'E' THEN
            RETURN 'E' || substring(v_value from '^[^T]*');
        ELSIF v_from = 'D' AND p_letter = 'T' THEN
            RETURN 'T' || substring(v_value from 'T(.*)$');
        ELSIF v_from = 'E' AND p_letter = 'D' THEN
            RETURN 'D' || substring(v_value from '^-?[0-9]+-[0-9]+-[0-9]+') || 'T00:00:00'
                   || coalesce(substring(v_value from '(?:Z|[+-][0-9]{2}:[0-9]{2})$'), '');
        ELSIF ssb_internal.xsd_instant(CASE p_letter WHEN 'D' THEN 'dateTime' WHEN 'E' THEN 'date' ELSE 'time' END, v_value) IS NULL THEN
            RETURN NULL;
        END IF;
        RETURN p_letter || v_value;
    END CASE;
END;
$$;

-- The same cast to a type that is narrower than those we compute with (xs:byte, xs:NCName).
CREATE OR REPLACE FUNCTION ssb_internal.xq_cast_to(p_atom text, p_letter text, p_type text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_atom text := ssb_internal.xq_cast(p_atom, p_letter);
    v_value text := substr(v_atom, 2);
BEGIN
    RETURN CASE WHEN CASE
        WHEN p_letter = 'i' THEN v_value::numeric BETWEEN
            CASE p_type WHEN 'byte' THEN -128 WHEN 'short' THEN -32768 WHEN 'int' THEN -2147483648
                        WHEN 'long' THEN -9223372036854775808 WHEN 'positiveInteger' THEN 1
                        WHEN 'integer' THEN '-Infinity'::numeric WHEN 'nonPositiveInteger' THEN '-Infinity'::numeric
                        WHEN 'negativeInteger' THEN '-Infinity'::numeric ELSE 0 END
            AND CASE p_type WHEN 'byte' THEN 127 WHEN 'short' THEN 32767 WHEN 'int' THEN 2147483647
                            WHEN 'long' THEN 9223372036854775807 WHEN 'unsignedByte' THEN 255 WHEN 'unsignedShort' THEN 65535
                            WHEN 'unsignedInt' THEN 4294967295 WHEN 'unsignedLong' THEN 18446744073709551615
                            WHEN 'nonPositiveInteger' THEN 0 WHEN 'negativeInteger' THEN -1 ELSE 'Infinity'::numeric END
        WHEN p_letter = 's' AND p_type NOT IN ('string', 'token', 'normalizedString', 'anyURI')
            THEN ssb_internal.xsd_is_lexical(p_type, btrim(v_value, E' \t\r\n'))
        ELSE true END THEN v_atom END;
END;
$$;

-- The string of a value: fn:string, and what .value() and constructed content show.
CREATE OR REPLACE FUNCTION ssb_internal.xq_text(p_atom text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_value text := substr(p_atom, 2);
BEGIN
    RETURN CASE left(p_atom, 1)
        WHEN 'b' THEN CASE v_value WHEN '1' THEN 'true' ELSE 'false' END
        WHEN 'f' THEN replace(upper(v_value), 'E+', 'E')
        ELSE v_value END;
END;
$$;

-- A value passed in from SQL (sql:variable, sql:column) as items. XML comes as {"xml": "…"}, binary as {"base64": "…"}.
CREATE OR REPLACE FUNCTION ssb_internal.xq_from_sql(p_value jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := p_value #>> '{}';
BEGIN
    RETURN CASE coalesce(jsonb_typeof(p_value), 'null')
        WHEN 'null' THEN '{}'::text[]
        WHEN 'string' THEN ARRAY['s' || v_text]
        WHEN 'boolean' THEN ARRAY[CASE WHEN v_text = 'true' THEN 'b1' ELSE 'b0' END]
        WHEN 'number' THEN ARRAY[CASE WHEN v_text ~ '^-?[0-9]+$' THEN 'i' WHEN v_text ~ '[eE]' THEN 'f' ELSE 'd' END || v_text]
        WHEN 'object' THEN CASE WHEN p_value ? 'base64' THEN array_remove(ARRAY['B' || (p_value ->> 'base64')], NULL)
                                ELSE ARRAY['x' || (p_value ->> 'xml')] END
        ELSE ARRAY['s' || v_text] END;
END;
$$;

-- Items of any expression.
CREATE OR REPLACE FUNCTION ssb_internal.xq_items(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_e ->> 'op';
    v_items text[] := '{}';
    v_item text;
    v_nodes bigint[];
    v_node bigint;
    v_each jsonb;
    v_last jsonb;
BEGIN
    CASE v_op
    WHEN 'path', 'filter', 'union' THEN
        v_last := p_e -> 'steps' -> -1;
        IF v_op = 'path' AND v_last ? 'e' THEN
            -- a/string(.): the last step is an expression, evaluated for each node before it
            v_nodes := ssb_internal.xq_nodes(jsonb_set(p_e, '{steps}', (p_e -> 'steps') - (-1)), NULL,
                                             p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
            FOR i IN 1 .. cardinality(v_nodes) LOOP
                -- (array || array copies both)
                FOREACH v_item IN ARRAY ssb_internal.xq_items(v_last -> 'e', p_toks, p_ends, p_opens, p_decls, p_env,
                                                              'n' || v_nodes[i], i, cardinality(v_nodes)) LOOP
                    v_items := v_items || v_item;
                END LOOP;
            END LOOP;
            RETURN v_items;
        ELSIF v_op = 'filter' AND p_e -> 'e' ->> 'op' NOT IN ('path', 'union', 'variable', 'context', 'filter') THEN
            RETURN ssb_internal.xq_filter_items(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        END IF;
        FOREACH v_node IN ARRAY ssb_internal.xq_nodes(p_e, NULL, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size) LOOP
            v_items := v_items || ('n' || v_node);
        END LOOP;
    WHEN 'context' THEN
        v_items := ARRAY[p_item];
    WHEN 'literal' THEN
        v_items := ARRAY[CASE p_e ->> 'ty' WHEN 'xs:string' THEN 's' WHEN 'xs:integer' THEN 'i'
                                           WHEN 'xs:decimal' THEN 'd' ELSE 'f' END || (p_e ->> 'v')];
    WHEN 'variable' THEN
        SELECT coalesce(array_agg(v.item), '{}') INTO v_items
          FROM jsonb_array_elements_text(p_env -> (p_e ->> 'name')) AS v(item);
    WHEN 'sql' THEN
        IF NOT p_env ? (p_e ->> 'name') THEN
            PERFORM ssb_internal.raise_error(9501, format('XQuery: Unable to resolve sql:variable(''%s''). The variable must be'
                                                          ' declared as a scalar TSQL variable.', p_e ->> 'name'));
        END IF;
        v_items := ssb_internal.xq_from_sql(p_env -> (p_e ->> 'name'));
    WHEN 'seq' THEN
        FOR v_each IN SELECT i FROM jsonb_array_elements(p_e -> 'items') AS i LOOP
            v_items := v_items || ssb_internal.xq_items(v_each, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        END LOOP;
    WHEN 'enclosed' THEN
        v_items := ssb_internal.xq_items(p_e -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'if' THEN
        v_items := ssb_internal.xq_items(
            p_e -> CASE WHEN ssb_internal.xq_true(p_e -> 'if', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
                        THEN 'then' ELSE 'else' END,
            p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'compare', 'order', 'and', 'or', 'some', 'every', 'instance' THEN
        v_items := ARRAY[CASE WHEN ssb_internal.xq_true(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
                              THEN 'b1' ELSE 'b0' END];
    WHEN 'arithmetic', 'negate' THEN
        v_items := ssb_internal.xq_arithmetic(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'cast' THEN
        v_items := ssb_internal.xq_atoms(p_e -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF v_items <> '{}' THEN
            v_items := array_remove(ARRAY[ssb_internal.xq_cast_to(v_items[1], p_e ->> 'as', split_part(p_e ->> 'ty', ':', 2))], NULL);
        END IF;
    WHEN 'call' THEN
        v_items := ssb_internal.xq_call(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'flwor' THEN
        v_items := ssb_internal.xq_flwor(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    ELSE                                                    -- element, attribute, text, markup
        v_items := ssb_internal.xq_construct(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    END CASE;
    RETURN v_items;
END;
$$;

-- (expression)[predicate] over items that need not be nodes.
CREATE OR REPLACE FUNCTION ssb_internal.xq_filter_items(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_items text[] := ssb_internal.xq_items(p_e -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    v_kept text[];
    v_predicate jsonb;
BEGIN
    FOR v_predicate IN SELECT p FROM jsonb_array_elements(p_e -> 'preds') AS p LOOP
        IF v_predicate ->> 'k' = 'e' THEN
            v_kept := '{}';
            FOR i IN 1 .. cardinality(v_items) LOOP
                IF ssb_internal.xq_holds(v_predicate -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, v_items[i], i, cardinality(v_items)) THEN
                    v_kept := v_kept || v_items[i];
                END IF;
            END LOOP;
        ELSE
            v_kept := array_remove(ARRAY[v_items[coalesce((v_predicate ->> 'n')::integer, cardinality(v_items))]], NULL);
        END IF;
        v_items := v_kept;
    END LOOP;
    RETURN v_items;
END;
$$;

-- Items of an expression as atomic values (fn:data).
CREATE OR REPLACE FUNCTION ssb_internal.xq_atoms(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_e ->> 'op';
    v_atoms text[] := '{}';
    v_item text;
    v_node bigint;
BEGIN
    IF v_op = 'literal' THEN
        RETURN ARRAY[CASE p_e ->> 'ty' WHEN 'xs:string' THEN 's' WHEN 'xs:integer' THEN 'i'
                                       WHEN 'xs:decimal' THEN 'd' ELSE 'f' END || (p_e ->> 'v')];
    ELSIF v_op = 'path' AND NOT p_e -> 'steps' -> -1 ? 'e' THEN
        FOREACH v_node IN ARRAY ssb_internal.xq_nodes(p_e, NULL, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size) LOOP
            v_atoms := v_atoms || ('u' || ssb_internal.xml_string(v_node, p_toks, p_ends));
        END LOOP;
        RETURN v_atoms;
    END IF;
    FOREACH v_item IN ARRAY ssb_internal.xq_items(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size) LOOP
        v_atoms := v_atoms || ssb_internal.xq_atom(v_item, p_toks, p_ends);
    END LOOP;
    RETURN v_atoms;
END;
$$;

-- One item as an atomic value.
CREATE OR REPLACE FUNCTION ssb_internal.xq_atom(p_item text, p_toks text[], p_ends integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE left(p_item, 1)
        WHEN 'n' THEN 'u' || ssb_internal.xml_string(substr(p_item, 2)::bigint, p_toks, p_ends)
        WHEN 't' THEN 'u' || substr(p_item, 2)
        WHEN 'a' THEN 'u' || ssb_internal.xml_unescape(split_part(p_item, '"', 2))
        WHEN 'x' THEN 'u' || ssb_internal.xml_unescape(regexp_replace(
            regexp_replace(substr(p_item, 2), '<!--(?:[^-]|-[^-])*-->|<\?(?:[^?]|\?+[^?>])*\?+>', '', 'g'), '<[^>]*>', '', 'g'))
        ELSE p_item END;
END;
$$;

-- The effective boolean value of an expression.
CREATE OR REPLACE FUNCTION ssb_internal.xq_true(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_e ->> 'op';
    v_items text[];
    v_left text[];
BEGIN
    CASE v_op
    WHEN 'compare' THEN
        v_left := ssb_internal.xq_atoms(p_e -> 'l', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF v_left = '{}' THEN
            RETURN false;
        END IF;
        RETURN ssb_internal.xq_any_compares(
            v_left, ssb_internal.xq_atoms(p_e -> 'r', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size),
            p_e ->> 'by');
    WHEN 'and' THEN
        RETURN ssb_internal.xq_true(p_e -> 'l', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
               AND ssb_internal.xq_true(p_e -> 'r', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'or' THEN
        RETURN ssb_internal.xq_true(p_e -> 'l', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
               OR ssb_internal.xq_true(p_e -> 'r', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'path' THEN
        IF NOT p_e -> 'steps' -> -1 ? 'e' THEN
            RETURN ssb_internal.xq_nodes(p_e, 1, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size) <> '{}';
        END IF;
    WHEN 'order' THEN
        v_left := ssb_internal.xq_items(p_e -> 'l', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        v_items := ssb_internal.xq_items(p_e -> 'r', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF v_left = '{}' OR v_items = '{}' OR left(v_left[1], 1) <> 'n' OR left(v_items[1], 1) <> 'n' THEN
            RETURN false;
        ELSIF p_e ->> 'by' = 'is' THEN
            RETURN v_left[1] = v_items[1];
        END IF;
        RETURN (p_e ->> 'by' = '<<') = (
            ROW(substr(v_left[1], 2)::bigint & 4294967295, substr(v_left[1], 2)::bigint)
            < ROW(substr(v_items[1], 2)::bigint & 4294967295, substr(v_items[1], 2)::bigint))
            AND v_left[1] <> v_items[1];
    WHEN 'some', 'every' THEN
        RETURN ssb_internal.xq_quantified(p_e, 0, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    WHEN 'instance' THEN
        RETURN ssb_internal.xq_instance(
            ssb_internal.xq_items(p_e -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size),
            p_e ->> 'as', p_toks);
    ELSE
        NULL;
    END CASE;
    v_items := ssb_internal.xq_items(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    RETURN CASE WHEN v_items = '{}' THEN false
                WHEN left(v_items[1], 1) IN ('n', 'x', 'a', 't') THEN true
                WHEN left(v_items[1], 1) IN ('s', 'u') THEN v_items[1] NOT IN ('s', 'u')
                WHEN left(v_items[1], 1) IN ('i', 'd', 'f') THEN substr(v_items[1], 2)::numeric <> 0
                ELSE v_items[1] <> 'b0' END;
END;
$$;

-- General comparison: does any value on the left compare so with any on the right?
CREATE OR REPLACE FUNCTION ssb_internal.xq_any_compares(p_left text[], p_right text[], p_by text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_left text;
    v_right text;
BEGIN
    FOREACH v_left IN ARRAY p_left LOOP
        FOREACH v_right IN ARRAY p_right LOOP
            IF ssb_internal.xq_compares(v_left, v_right, p_by) THEN
                RETURN true;
            END IF;
        END LOOP;
    END LOOP;
    RETURN false;
END;
$$;

-- One value with another. An untyped one takes the other's type; a cast that fails compares false.
CREATE OR REPLACE FUNCTION ssb_internal.xq_compares(p_left text, p_right text, p_by text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_left_type text := left(p_left, 1);
    v_right_type text := left(p_right, 1);
    v_left text := substr(p_left, 2);
    v_right text := substr(p_right, 2);
    v_order integer;
    v_by_type text;
BEGIN
    IF v_left_type IN ('s', 'u') AND v_right_type IN ('s', 'u') THEN
        IF p_by = '=' THEN
            RETURN v_left = v_right;
        ELSIF p_by = '!=' THEN
            RETURN v_left <> v_right;
        END IF;
        v_order := CASE WHEN v_left = v_right THEN 0 WHEN v_left COLLATE "C" < v_right THEN -1 ELSE 1 END;
    ELSIF v_left_type IN ('i', 'd', 'f') OR v_right_type IN ('i', 'd', 'f') THEN
        IF v_left_type NOT IN ('i', 'd', 'f', 'u') OR v_right_type NOT IN ('i', 'd', 'f', 'u') THEN
            PERFORM ssb_internal.raise_error(2234, format('XQuery: The operator "%s" cannot be applied to "%s" and "%s" operands.', p_by,
                ssb_internal.xq_type_name(v_left_type), ssb_internal.xq_type_name(v_right_type)));
        ELSIF NOT ssb_internal.xq_is_number(v_left) OR NOT ssb_internal.xq_is_number(v_right) THEN
            RETURN false;
        ELSIF 'f' IN (v_left_type, v_right_type) THEN
            IF ssb_internal.xq_double(v_left) IS NULL OR ssb_internal.xq_double(v_right) IS NULL THEN
                RETURN false;
            END IF;
            v_order := sign(ssb_internal.xq_double(v_left) - ssb_internal.xq_double(v_right));
        ELSE
            v_order := sign(v_left::numeric - v_right::numeric);
        END IF;
    ELSE
        IF v_left_type = 'u' THEN
            v_left := substr(ssb_internal.xq_cast(p_left, v_right_type), 2);
        ELSIF v_right_type = 'u' THEN
            v_right := substr(ssb_internal.xq_cast(p_right, v_left_type), 2);
        ELSIF v_left_type <> v_right_type THEN
            PERFORM ssb_internal.raise_error(2234, format('XQuery: The operator "%s" cannot be applied to "%s" and "%s" operands.', p_by,
                ssb_internal.xq_type_name(v_left_type), ssb_internal.xq_type_name(v_right_type)));
        END IF;
        IF v_left IS NULL OR v_right IS NULL THEN
            RETURN false;
        ELSIF v_left_type IN ('D', 'E', 'T') OR v_right_type IN ('D', 'E', 'T') THEN
            v_by_type := CASE WHEN 'D' IN (v_left_type, v_right_type) THEN 'dateTime'
                              WHEN 'E' IN (v_left_type, v_right_type) THEN 'date' ELSE 'time' END;
            v_order := sign(ssb_internal.xsd_instant(v_by_type, v_left) - ssb_internal.xsd_instant(v_by_type, v_right));
        ELSE
            v_order := CASE WHEN v_left = v_right THEN 0 WHEN v_left COLLATE "C" < v_right THEN -1 ELSE 1 END;
        END IF;
    END IF;
    RETURN CASE p_by WHEN '=' THEN v_order = 0 WHEN '!=' THEN v_order <> 0 WHEN '<' THEN v_order < 0
                     WHEN '<=' THEN v_order <= 0 WHEN '>' THEN v_order > 0 ELSE v_order >= 0 END;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_type_name(p_letter text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE p_letter WHEN 's' THEN 'xs:string' WHEN 'i' THEN 'xs:integer' WHEN 'd' THEN 'xs:decimal'
                         WHEN 'f' THEN 'xs:double' WHEN 'b' THEN 'xs:boolean' WHEN 'D' THEN 'xs:dateTime'
                         WHEN 'E' THEN 'xs:date' WHEN 'T' THEN 'xs:time' WHEN 'B' THEN 'xs:base64Binary'
                         WHEN 'H' THEN 'xs:hexBinary' ELSE 'xdt:untypedAtomic' END;
END;

-- instance of: at most one item, of the named type.
CREATE OR REPLACE FUNCTION ssb_internal.xq_instance(p_items text[], p_type text, p_toks text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_letter text := left(p_items[1], 1);
    v_node bigint;
BEGIN
    IF cardinality(p_items) <> 1 THEN
        RETURN cardinality(p_items) = 0;        -- SQL Server knows only "type ?"
    ELSIF p_type LIKE '%()' THEN
        v_node := CASE v_letter WHEN 'n' THEN substr(p_items[1], 2)::bigint END;
        RETURN CASE p_type
            WHEN 'node()' THEN v_letter IN ('n', 'x', 'a', 't')
            WHEN 'text()' THEN v_letter = 't' OR v_node & 1 = 1
            WHEN 'attribute()' THEN v_letter = 'a' OR v_node > 4294967295
            WHEN 'comment()' THEN coalesce(v_node & 1 = 0 AND v_node BETWEEN 4 AND 4294967295
                                           AND p_toks[(v_node >> 1)::integer] LIKE '!%', left(p_items[1], 3) = 'x<!')
            WHEN 'element()' THEN coalesce(v_node & 1 = 0 AND v_node BETWEEN 4 AND 4294967295
                                           AND p_toks[(v_node >> 1)::integer] !~ '^[!?]', p_items[1] ~ '^x<[^!?]')
            ELSE false END;
    END IF;
    RETURN CASE split_part(p_type, ':', 2)
        WHEN 'anyAtomicType' THEN v_letter NOT IN ('n', 'x', 'a', 't')
        WHEN 'untypedAtomic' THEN v_letter = 'u'
        WHEN 'string' THEN v_letter = 's'
        WHEN 'integer' THEN v_letter = 'i'
        WHEN 'decimal' THEN v_letter IN ('i', 'd')
        WHEN 'double' THEN v_letter = 'f'
        WHEN 'boolean' THEN v_letter = 'b'
        WHEN 'dateTime' THEN v_letter = 'D'
        WHEN 'date' THEN v_letter = 'E'
        WHEN 'time' THEN v_letter = 'T'
        ELSE false END;
END;
$$;
