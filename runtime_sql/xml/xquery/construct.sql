-- XQuery evaluation: FLWOR, quantifiers, constructors, and items → markup.

-- for/let/where/order by/return.
CREATE OR REPLACE FUNCTION ssb_internal.xq_flwor(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_tuples jsonb[] := ARRAY[p_env];
    v_more jsonb[];
    v_clause jsonb;
    v_env jsonb;
    v_item text;
    v_items text[] := '{}';
    v_keys text[];
    v_order integer[];
BEGIN
    FOR v_clause IN SELECT c FROM jsonb_array_elements(p_e -> 'clauses') AS c LOOP
        v_more := '{}';
        FOREACH v_env IN ARRAY v_tuples LOOP
            v_items := ssb_internal.xq_items(v_clause -> 'e', p_toks, p_ends, p_opens, p_decls, v_env, p_item, p_position, p_size);
            IF v_clause ->> 'kind' = 'let' THEN
                v_more := v_more || (v_env || jsonb_build_object(v_clause ->> 'name', to_jsonb(v_items)));
            ELSE
                FOREACH v_item IN ARRAY v_items LOOP
                    v_more := v_more || (v_env || jsonb_build_object(v_clause ->> 'name', jsonb_build_array(v_item)));
                END LOOP;
            END IF;
        END LOOP;
        v_tuples := v_more;
    END LOOP;
    IF p_e -> 'where' <> 'null' THEN
        v_more := '{}';
        FOREACH v_env IN ARRAY v_tuples LOOP
            IF ssb_internal.xq_true(p_e -> 'where', p_toks, p_ends, p_opens, p_decls, v_env, p_item, p_position, p_size) THEN
                v_more := v_more || v_env;
            END IF;
        END LOOP;
        v_tuples := v_more;
    END IF;
    -- Sorted by the last key first: each pass is stable, so the first key decides in the end.
    FOR v_clause IN
        SELECT k.key FROM jsonb_array_elements(p_e -> 'order') WITH ORDINALITY AS k(key, i) ORDER BY k.i DESC
    LOOP
        v_keys := '{}';
        FOREACH v_env IN ARRAY v_tuples LOOP
            v_keys := array_append(v_keys,
                (ssb_internal.xq_atoms(v_clause -> 'e', p_toks, p_ends, p_opens, p_decls, v_env, p_item, p_position, p_size))[1]);
        END LOOP;
        SELECT array_agg(s.i ORDER BY
                   CASE WHEN NOT s.down THEN s.number END NULLS FIRST, CASE WHEN s.down THEN s.number END DESC NULLS LAST,
                   CASE WHEN NOT s.down THEN s.string END COLLATE "C" NULLS FIRST,
                   CASE WHEN s.down THEN s.string END COLLATE "C" DESC NULLS LAST, s.i)
          INTO v_order
          FROM (SELECT k.i::integer AS i, (v_clause -> 'down')::boolean AS down,
                       CASE WHEN left(k.key, 1) IN ('i', 'd', 'f') THEN substr(k.key, 2)::numeric
                            WHEN left(k.key, 1) IN ('D', 'E', 'T')
                            THEN ssb_internal.xsd_instant(CASE left(k.key, 1) WHEN 'D' THEN 'dateTime' WHEN 'E' THEN 'date' ELSE 'time' END,
                                                          substr(k.key, 2)) END AS number,
                       CASE WHEN left(k.key, 1) NOT IN ('i', 'd', 'f', 'D', 'E', 'T') THEN substr(k.key, 2) END AS string
                  FROM unnest(v_keys) WITH ORDINALITY AS k(key, i)) AS s;
        v_more := '{}';
        FOR i IN 1 .. cardinality(v_tuples) LOOP
            v_more := v_more || v_tuples[v_order[i]];
        END LOOP;
        v_tuples := v_more;
    END LOOP;
    v_items := '{}';
    FOREACH v_env IN ARRAY v_tuples LOOP
        -- (array || array copies both)
        FOREACH v_item IN ARRAY ssb_internal.xq_items(p_e -> 'return', p_toks, p_ends, p_opens, p_decls, v_env, p_item, p_position, p_size) LOOP
            v_items := v_items || v_item;
        END LOOP;
    END LOOP;
    RETURN v_items;
END;
$$;

-- some/every: clause p_clause and those after it.
CREATE OR REPLACE FUNCTION ssb_internal.xq_quantified(
    p_e jsonb, p_clause integer,
    p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_clause jsonb := p_e -> 'clauses' -> p_clause;
    v_some boolean := p_e ->> 'op' = 'some';
    v_item text;
BEGIN
    IF v_clause IS NULL THEN
        RETURN ssb_internal.xq_true(p_e -> 'test', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    END IF;
    FOREACH v_item IN ARRAY ssb_internal.xq_items(v_clause -> 'e', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size) LOOP
        IF ssb_internal.xq_quantified(p_e, p_clause + 1, p_toks, p_ends, p_opens, p_decls,
                                      p_env || jsonb_build_object(v_clause ->> 'name', jsonb_build_array(v_item)),
                                      p_item, p_position, p_size) = v_some THEN
            RETURN v_some;
        END IF;
    END LOOP;
    RETURN NOT v_some;
END;
$$;

-- element, attribute, text and literal markup: one item. p_env's '~ns' holds the namespace
-- declarations of the constructed elements around this one, so that none is repeated.
CREATE OR REPLACE FUNCTION ssb_internal.xq_construct(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_e ->> 'op';
    v_env jsonb := p_env;
    v_scope jsonb := coalesce(p_env -> '~ns', '{}');
    v_part jsonb;
    v_items text[];
    v_item text;
    v_text text := '';
    v_space boolean := false;       -- the item before was an atomic value
    v_attributes text := '';
    v_content text := '';
    v_name text;
    v_names text[] := '{}';
    v_long text[] := '{}';          -- what comes before v_content: appending to a long text copies it
    v_need record;
BEGIN
    IF v_op = 'markup' THEN
        RETURN ARRAY['x' || (p_e ->> 'v')];
    ELSIF v_op IN ('text', 'attribute') THEN
        v_text := ssb_internal.xq_content_text(p_e -> 'content', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF v_op = 'attribute' THEN
            RETURN ARRAY['a' || (p_e ->> 'name') || '="' || ssb_internal.xml_escape_attribute(v_text) || '"'
                         || coalesce(ssb_internal.xml_escape_attribute(p_e -> 'ns' ->> split_part(p_e ->> 'name', ':', 1)), '')];
        END IF;
        RETURN CASE v_text WHEN '' THEN '{}'::text[] ELSE ARRAY['t' || v_text] END;
    END IF;

    FOR v_part IN SELECT a FROM jsonb_array_elements(p_e -> 'attributes') AS a LOOP
        v_text := ssb_internal.xq_content_text(v_part -> 'content', p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF v_part ->> 'name' ~ '^xmlns(?::|$)' THEN
            v_scope := v_scope || jsonb_build_object(substr(v_part ->> 'name', 7), v_text);
        END IF;
        v_attributes := v_attributes || ' ' || (v_part ->> 'name') || '="' || ssb_internal.xml_escape_attribute(v_text) || '"';
        v_names := v_names || (v_part ->> 'name');
    END LOOP;
    v_text := '';
    FOR v_need IN
        SELECT n.key, n.value FROM jsonb_each_text(p_e -> 'ns') AS n
        UNION
        SELECT n.key, n.value FROM jsonb_array_elements(p_e -> 'attributes') AS a, jsonb_each_text(a -> 'ns') AS n
        ORDER BY 1
    LOOP
        IF coalesce(v_scope ->> v_need.key, '') <> v_need.value THEN
            v_text := v_text || ' xmlns' || CASE v_need.key WHEN '' THEN '' ELSE ':' || v_need.key END
                      || '="' || ssb_internal.xml_escape_attribute(v_need.value) || '"';
            v_scope := v_scope || jsonb_build_object(v_need.key, v_need.value);
        END IF;
    END LOOP;
    v_attributes := v_text || v_attributes;
    v_env := p_env || jsonb_build_object('~ns', v_scope);

    v_text := '';                   -- unescaped character data not yet added to v_content
    FOR v_part IN SELECT c FROM jsonb_array_elements(p_e -> 'content') AS c LOOP
        IF v_part ->> 'op' = 'literal' THEN
            v_text := v_text || (v_part ->> 'v');
            v_space := false;
            CONTINUE;
        END IF;
        v_items := ssb_internal.xq_items(v_part, p_toks, p_ends, p_opens, p_decls, v_env, p_item, p_position, p_size);
        v_space := false;
        FOREACH v_item IN ARRAY v_items LOOP
            IF left(v_item, 1) = 't' THEN
                v_text := v_text || substr(v_item, 2);
                v_space := false;
            ELSIF left(v_item, 1) = 'a' OR left(v_item, 1) = 'n' AND substr(v_item, 2)::bigint > 4294967295 THEN
                SELECT a.attribute, a.scope INTO v_item, v_scope
                  FROM ssb_internal.xq_attribute_in_scope(v_item, v_scope, p_toks, p_ends, p_opens, p_decls) AS a;
                v_env := v_env || jsonb_build_object('~ns', v_scope);
                IF v_content <> '' OR v_text <> '' OR v_long <> '{}' THEN
                    PERFORM ssb_internal.raise_error(2396, 'XQuery: Attribute may not appear outside of an element');
                END IF;
                -- ' xmlns:p="…" p:name="…"'
                v_name := substring(v_item from '([^ =]+)="[^"]*"$');
                IF v_name = ANY (v_names) THEN
                    PERFORM ssb_internal.raise_error(6308, format('XML well-formedness check: Duplicate attribute ''%s''.'
                        ' Rewrite your XQuery so it returns well-formed XML.', v_name));
                END IF;
                v_names := v_names || v_name;
                v_attributes := v_attributes || v_item;
            ELSIF left(v_item, 1) = 'n' AND substr(v_item, 2)::bigint & 1 = 1 THEN
                v_text := v_text || ssb_internal.xml_string(substr(v_item, 2)::bigint, p_toks, p_ends);
                v_space := false;
            ELSIF left(v_item, 1) IN ('n', 'x') THEN
                v_content := v_content || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(v_text));
                v_text := '';
                v_space := false;
                IF left(v_item, 1) = 'x' THEN
                    v_content := v_content || substr(v_item, 2);
                ELSE
                    v_item := ssb_internal.xml_standalone(substr(v_item, 2)::bigint, p_toks, p_ends, p_opens, p_decls);
                    IF v_scope ->> '' <> '' AND v_item ~ '^<[^!? />:]+[ />]'
                       AND strpos(split_part(v_item, '>', 1), ' xmlns="') = 0 THEN
                        -- an element of no namespace under a constructed default namespace
                        v_item := regexp_replace(v_item, '^(<[^ />]+)', '\1 xmlns=""');
                    END IF;
                    v_content := v_content || v_item;
                END IF;
                IF octet_length(v_content) > 10000 THEN
                    v_long := v_long || v_content;
                    v_content := '';
                END IF;
            ELSE
                v_text := v_text || CASE WHEN v_space THEN ' ' ELSE '' END || ssb_internal.xq_text(v_item);
                v_space := true;
            END IF;
        END LOOP;
    END LOOP;
    v_content := array_to_string(v_long || v_content, '') || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(v_text));
    RETURN ARRAY['x<' || (p_e ->> 'name') || v_attributes
                 || CASE v_content WHEN '' THEN '/>' ELSE '>' || v_content || '</' || (p_e ->> 'name') || '>' END];
END;
$$;

-- An attribute, of the document or constructed, as it is written where p_scope (prefix → uri) is declared: ' name="value"',
-- with a declaration before it where its prefix has none, and another prefix where its own stands for something else.
CREATE OR REPLACE FUNCTION ssb_internal.xq_attribute_in_scope(
    p_item text, p_scope jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[],
    OUT attribute text, OUT scope jsonb)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_node bigint := CASE left(p_item, 1) WHEN 'n' THEN substr(p_item, 2)::bigint END;
    v_prefix text;
    v_uri text;
    v_number integer := 0;
BEGIN
    scope := p_scope;
    attribute := CASE WHEN v_node IS NULL THEN substring(p_item from '^a([^"]*"[^"]*")')
                      ELSE ssb_internal.xml_markup(v_node, p_toks, p_ends) END;
    v_prefix := substring(attribute from '^([^:=]+):');
    IF v_prefix IS NULL OR v_prefix = 'xml' THEN
        attribute := ' ' || attribute;
        RETURN;
    END IF;
    v_uri := CASE WHEN v_node IS NULL THEN ssb_internal.xml_unescape(split_part(p_item, '"', 3))
                  ELSE ssb_internal.xml_uri(v_prefix, ((v_node & 4294967295) >> 1)::integer, p_toks, p_opens, p_decls) END;
    attribute := substr(attribute, strpos(attribute, ':'));
    WHILE coalesce(scope ->> v_prefix, '') NOT IN ('', v_uri) LOOP
        v_number := v_number + 1;
        v_prefix := 'p' || v_number;
    END LOOP;
    attribute := CASE WHEN coalesce(scope ->> v_prefix, '') = ''
                      THEN ' xmlns:' || v_prefix || '="' || ssb_internal.xml_escape_attribute(v_uri) || '"' ELSE '' END
                 || ' ' || v_prefix || attribute;
    scope := scope || jsonb_build_object(v_prefix, v_uri);
END;
$$;

-- The parts of an attribute value or of text {…} as one string.
CREATE OR REPLACE FUNCTION ssb_internal.xq_content_text(
    p_parts jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_part jsonb;
    v_text text := '';
    v_atoms text[];
BEGIN
    FOR v_part IN SELECT p FROM jsonb_array_elements(p_parts) AS p LOOP
        IF v_part ->> 'op' = 'literal' THEN
            v_text := v_text || (v_part ->> 'v');
        ELSE
            v_atoms := ssb_internal.xq_atoms(v_part, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
            FOR i IN 1 .. cardinality(v_atoms) LOOP
                v_text := v_text || CASE WHEN i > 1 THEN ' ' ELSE '' END || ssb_internal.xq_text(v_atoms[i]);
            END LOOP;
        END IF;
    END LOOP;
    RETURN v_text;
END;
$$;

-- Items as the XML that .query() returns: values side by side are separated by a blank.
CREATE OR REPLACE FUNCTION ssb_internal.xq_serialise(
    p_items text[], p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_item text;
    v_result text := '';
    v_long text[] := '{}';          -- what comes before v_result: appending to a long text copies it
    v_space boolean := false;
BEGIN
    FOREACH v_item IN ARRAY p_items LOOP
        IF octet_length(v_result) > 10000 THEN
            v_long := v_long || v_result;
            v_result := '';
        END IF;
        CASE left(v_item, 1)
        WHEN 'n' THEN
            IF substr(v_item, 2)::bigint > 4294967295 THEN
                PERFORM ssb_internal.raise_error(6307, 'XML well-formedness check: Attribute cannot appear outside of element'
                                                       ' declaration. Rewrite your XQuery so it returns well-formed XML.');
            END IF;
            v_result := v_result || ssb_internal.xml_standalone(substr(v_item, 2)::bigint, p_toks, p_ends, p_opens, p_decls);
            v_space := false;
        WHEN 'x' THEN
            v_result := v_result || substr(v_item, 2);
            v_space := false;
        WHEN 't' THEN
            v_result := v_result || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(substr(v_item, 2)));
            v_space := false;
        WHEN 'a' THEN
            PERFORM ssb_internal.raise_error(6307, 'XML well-formedness check: Attribute cannot appear outside of element'
                                                   ' declaration. Rewrite your XQuery so it returns well-formed XML.');
        ELSE
            v_result := v_result || CASE WHEN v_space THEN ' ' ELSE '' END || ssb_internal.xml_escape_text(ssb_internal.xq_text(v_item));
            v_space := true;
        END CASE;
    END LOOP;
    RETURN array_to_string(v_long || v_result, '');
END;
$$;
