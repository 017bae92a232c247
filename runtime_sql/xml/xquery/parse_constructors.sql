-- XQuery parser: direct constructors, <a b="{$x}">text {expression} <c/></a>, and the entry points.

-- One element, comment, CDATA section or instruction, p_at standing on its '<'.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_constructor(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rest text := substr(p_source, p_at);
    v_context jsonb := p_context;
    v_name text;
    v_markup text;
    v_space text;
    v_attributes jsonb := '[]';
    v_content jsonb := '[]';
    v_parts jsonb;
BEGIN
    IF left(v_rest, 4) = '<!--' THEN
        v_markup := substring(v_rest from '^<!--(?:[^-]|-[^-])*-->');
        IF v_markup IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 9322, 'Two consecutive ''-'' can only appear in a comment constructor if they'
                                                           ' are used to close the comment (''-->'').');
        END IF;
        node := jsonb_build_object('op', 'markup', 'v', v_markup, 'c', '1', 'ty', 'comment');
        at := p_at + length(v_markup);
        RETURN;
    ELSIF left(v_rest, 9) = '<![CDATA[' THEN
        v_markup := substring(v_rest from '^<!\[CDATA\[.*?\]\]>');
        IF v_markup IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2273, 'Unterminated CDATA section');
        END IF;
        node := jsonb_build_object('op', 'text', 'c', '1', 'ty', 'text', 'content', jsonb_build_array(
            jsonb_build_object('op', 'literal', 'ty', 'xs:string', 'c', '1',
                               'v', substr(v_markup, 10, length(v_markup) - 12))));
        at := p_at + length(v_markup);
        RETURN;
    ELSIF left(v_rest, 2) = '<?' THEN
        v_markup := substring(v_rest from '^<\?.*?\?>');
        IF v_markup IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2272, '''?>'' expected');
        ELSIF v_markup ~* '^<\?xml[ \t\r\n?]' THEN
            PERFORM ssb_internal.xq_error(p_context, 2294, '''xml'' is not allowed as a processing instruction target.');
        ELSIF v_markup !~ '^<\?[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*(?:[ \t\r\n]|\?>$)' THEN
            PERFORM ssb_internal.xq_error(p_context, 2223, format('Syntax error near ''%s'', expected an identifier.',
                                                                  ssb_internal.xq_near(p_source, p_at + 2)));
        END IF;
        node := jsonb_build_object('op', 'markup', 'v', v_markup, 'c', '1', 'ty', 'processing-instruction');
        at := p_at + length(v_markup);
        RETURN;
    ELSIF left(v_rest, 2) = '<!' THEN
        PERFORM ssb_internal.xq_error(p_context, 2280, '<! was not followed by a valid construct');
    END IF;

    v_name := ssb_internal.xq_name(p_source, p_at + 1);
    IF v_name IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 2209, format('Syntax error near ''%s''', ssb_internal.xq_near(p_source, p_at + 1)));
    END IF;
    at := p_at + 1 + length(v_name);
    LOOP
        v_space := substring(substr(p_source, at) from '^[ \t\r\n]*');
        at := at + length(v_space);
        v_markup := substring(substr(p_source, at, 2) from '^/?>');
        EXIT WHEN v_markup IS NOT NULL;
        v_markup := ssb_internal.xq_name(p_source, at);
        IF v_markup IS NULL OR v_space = '' THEN
            PERFORM ssb_internal.xq_error(p_context, 2205, '">" was expected.');
        END IF;
        at := at + length(v_markup) + length(substring(substr(p_source, at + length(v_markup)) from '^[ \t\r\n]*'));
        IF substr(p_source, at, 1) <> '=' THEN
            PERFORM ssb_internal.xq_error(p_context, 2205, '"=" was expected.');
        END IF;
        at := at + 1 + length(substring(substr(p_source, at + 1) from '^[ \t\r\n]*'));
        SELECT c.parts, c.at INTO v_parts, at
          FROM ssb_internal.xq_parse_content(p_source, at + 1, substr(p_source, at, 1), v_context) AS c;
        IF v_markup = 'xmlns' OR v_markup LIKE 'xmlns:%' THEN
            IF jsonb_array_length(v_parts) > 1 OR NOT coalesce(v_parts -> 0 @> '{"op": "literal"}', true) THEN
                PERFORM ssb_internal.xq_error(p_context, 9338, 'The value of a namespace declaration attribute must be a string'
                                                               ' literal. It cannot contain expressions.');
            END IF;
            v_context := CASE v_markup
                WHEN 'xmlns' THEN jsonb_set(v_context, '{de}', to_jsonb(coalesce(v_parts -> 0 ->> 'v', '')))
                ELSE jsonb_set(v_context, ARRAY['ns', substr(v_markup, 7)], v_parts -> 0 -> 'v') END;
        END IF;
        IF v_attributes @> jsonb_build_array(jsonb_build_object('name', v_markup)) THEN
            PERFORM ssb_internal.xq_error(p_context, 2271, format('Duplicate attribute ''%s''', v_markup));
        END IF;
        v_attributes := v_attributes || jsonb_build_object('name', v_markup, 'content', v_parts);
    END LOOP;
    at := at + length(v_markup);
    IF v_markup = '>' THEN
        SELECT c.parts, c.at INTO v_content, at FROM ssb_internal.xq_parse_content(p_source, at, '<', v_context) AS c;
        v_markup := substring(substr(p_source, at) from '^</[^>]*>');
        IF v_markup IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2267, format('Expected end tag ''%s''', v_name));
        ELSIF btrim(substr(v_markup, 3, length(v_markup) - 3), E' \t\r\n') <> v_name THEN
            PERFORM ssb_internal.xq_error(p_context, 2323, format('The end tag ''%s'' doesn''t match opening tag ''%s'' from line %s',
                btrim(substr(v_markup, 3, length(v_markup) - 3), E' \t\r\n'), v_name,
                length(left(p_source, p_at)) - length(replace(left(p_source, p_at), E'\n', '')) + 1));
        END IF;
        at := at + length(v_markup);
    END IF;
    -- Attribute names may use prefixes that a later attribute declares: resolved here.
    SELECT coalesce(jsonb_agg(a || jsonb_build_object('ns',
               CASE WHEN a ->> 'name' ~ '^xmlns' THEN '{}'::jsonb
                    ELSE ssb_internal.xq_constructor_namespace(a ->> 'name', false, v_context) END)), '[]')
      INTO v_attributes
      FROM jsonb_array_elements(v_attributes) AS a;
    node := jsonb_build_object('op', 'element', 'name', v_name, 'attributes', v_attributes, 'content', v_content,
        'c', '1', 'ns', ssb_internal.xq_constructor_namespace(v_name, true, v_context),
        'ty', 'element(' || v_name || ',xdt:untyped)');
END;
$$;

-- Literal text and {expressions} up to p_end: a quote (an attribute value, at comes back behind
-- it) or '<' (element content, at comes back on the end tag). In content, white space alone
-- between markup is dropped, as the default boundary-space policy says.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_content(
    p_source text, p_at integer, p_end text, p_context jsonb, OUT parts jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stop text := CASE p_end WHEN '<' THEN '^[^<{}]*' WHEN '"' THEN '^[^"{}<]*' ELSE '^[^''{}<]*' END;
    v_piece text;
    v_text text := '';
    v_plain boolean := true;        -- v_text holds no reference and no {{
    v_next text;
    v_node jsonb;
    v_resolved record;
BEGIN
    IF p_end NOT IN ('<', '"', '''') THEN
        PERFORM ssb_internal.xq_error(p_context, 2225, 'A string literal was expected');
    END IF;
    parts := '[]';
    at := p_at;
    LOOP
        v_piece := substring(substr(p_source, at) from v_stop);
        at := at + length(v_piece);
        IF strpos(v_piece, '&') > 0 THEN
            SELECT r.result, r.error INTO v_resolved FROM ssb_internal.xml_resolve_references(v_piece) AS r;
            IF v_resolved.error IS NOT NULL THEN
                PERFORM ssb_internal.xq_error(p_context, 2282, 'Invalid entity reference');
            END IF;
            v_piece := v_resolved.result;
            v_plain := false;
        END IF;
        v_text := v_text || v_piece;
        v_next := substr(p_source, at, 2);
        IF v_next IN ('{{', '}}') THEN
            v_text := v_text || left(v_next, 1);
            v_plain := false;
            at := at + 2;
            CONTINUE;
        ELSIF p_end <> '<' AND v_next = p_end || p_end THEN
            v_text := v_text || p_end;
            at := at + 2;
            CONTINUE;
        ELSIF left(v_next, 1) = '}' THEN
            PERFORM ssb_internal.xq_error(p_context, 9324, 'Found ''}'' without matching ''{''. If you want to use the characters'
                ' ''{'' or ''}'', you need to escape them as ''{{'' or ''}}'' respectively.');
        END IF;
        IF v_text <> '' AND NOT (p_end = '<' AND v_plain AND v_text !~ '[^ \t\r\n]') THEN
            parts := parts || jsonb_build_object('op', 'literal', 'v', v_text, 'c', '1', 'ty', 'xs:string');
        END IF;
        v_text := '';
        v_plain := true;
        IF v_next = '' THEN
            PERFORM ssb_internal.xq_error(p_context, 2209, 'Syntax error near ''<eof>''');
        ELSIF left(v_next, 1) = '{' THEN
            SELECT e.node, e.at INTO v_node, at FROM ssb_internal.xq_parse(p_source, at + 1, p_context) AS e;
            IF substr(p_source, at, 1) <> '}' THEN
                PERFORM ssb_internal.xq_error(p_context, 2205, '"}" was expected.');
            END IF;
            at := at + 1;
            parts := parts || jsonb_build_object('op', 'enclosed', 'e', v_node, 'c', v_node -> 'c', 'ty', v_node -> 'ty');
        ELSIF left(v_next, 1) = p_end AND p_end <> '<' THEN
            at := at + 1;
            RETURN;
        ELSIF v_next = '</' THEN
            RETURN;
        ELSIF p_end <> '<' THEN
            PERFORM ssb_internal.xq_error(p_context, 2350, 'Invalid XML element content');
        ELSE
            SELECT c.node, c.at INTO v_node, at FROM ssb_internal.xq_parse_constructor(p_source, at, p_context) AS c;
            parts := parts || v_node;
        END IF;
    END LOOP;
END;
$$;

-- declare namespace …; and declare default element namespace …;: the context with them in it.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_prolog(
    p_source text, p_context jsonb, OUT context jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_match text[];
    v_uri text;
BEGIN
    context := p_context;
    at := ssb_internal.xq_skip(p_source, 1);
    LOOP
        v_match := regexp_match(substr(p_source, at),
            '^(declare[ \t\r\n]+(?:namespace[ \t\r\n]+([A-Za-z_][A-Za-z0-9_.\u00B7-\uFFFD-]*)[ \t\r\n]*=|default[ \t\r\n]+(?:element[ \t\r\n]+)?namespace)[ \t\r\n]*)["'']');
        EXIT WHEN v_match IS NULL;
        at := at + length(v_match[1]);
        SELECT s.value, s.at INTO v_uri, at FROM ssb_internal.xq_string(p_source, at, context) AS s;
        context := CASE WHEN v_match[2] IS NULL THEN jsonb_set(context, '{de}', to_jsonb(v_uri))
                        ELSE jsonb_set(context, ARRAY['ns', v_match[2]], to_jsonb(v_uri)) END;
        at := ssb_internal.xq_skip(p_source, at);
        IF substr(p_source, at, 1) <> ';' THEN
            PERFORM ssb_internal.xq_error(context, 9327, format('All prolog entries need to end with '';'', found ''%s''.',
                                                                ssb_internal.xq_near(p_source, at)));
        END IF;
        at := ssb_internal.xq_skip(p_source, at + 1);
    END LOOP;
END;
$$;

-- The tree of p_source for the xml method p_method ('value', 'query', 'exist', 'nodes', 'modify').
-- p_namespaces: prefix → uri, '' → the default element namespace (WITH XMLNAMESPACES).
-- "up" in the result: how many levels above the node it starts from it looks at most, attributes
-- of ancestors aside; 1000000 if it starts at the document.
CREATE OR REPLACE FUNCTION ssb_internal.xq_compile(p_source text, p_method text, p_namespaces jsonb DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context jsonb := jsonb_build_object('m', p_method, 'ns', coalesce(p_namespaces, '{}') - '',
        'de', coalesce(p_namespaces ->> '', ''), 'vars', '{}'::jsonb, 'in', false);
    v_node jsonb;
    v_at integer;
BEGIN
    IF p_source IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT p.context, p.at INTO v_context, v_at FROM ssb_internal.xq_parse_prolog(p_source, v_context) AS p;
    IF p_method = 'modify' THEN
        SELECT m.node, m.at INTO v_node, v_at FROM ssb_internal.xq_parse_modification(p_source, v_at, v_context) AS m;
    ELSE
        SELECT e.node, e.at INTO v_node, v_at FROM ssb_internal.xq_parse(p_source, v_at, v_context) AS e;
    END IF;
    v_at := ssb_internal.xq_skip(p_source, v_at);
    IF v_at <= length(p_source) THEN
        PERFORM ssb_internal.xq_error(v_context, 2370, format('No more tokens expected at the end of the XQuery expression. Found ''%s''.',
                                                              ssb_internal.xq_near(p_source, v_at)));
    END IF;
    IF p_method = 'value' THEN
        PERFORM ssb_internal.xq_require_one(v_node, 'value()', v_context);
    ELSIF p_method = 'nodes' AND v_node ->> 'ty' ~ '^xs:|^xdt:' THEN
        PERFORM ssb_internal.xq_error(v_context, 2374, format('A node or set of nodes is required for %s', 'nodes()'));
    END IF;
    RETURN v_node || jsonb_build_object('up', CASE
        WHEN jsonb_path_exists(v_node, '$.** ? (@.root == true)') THEN 1000000
        WHEN ssb_internal.xq_climbs_to_attributes(v_node) THEN 0
        ELSE (SELECT count(*) FROM regexp_matches(v_node::text, '"axis": "parent"', 'g')) END);
END;
$$;

-- Do all paths that use the parent axis go on to nothing but ancestors and their attributes?
CREATE OR REPLACE FUNCTION ssb_internal.xq_climbs_to_attributes(p_node jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(bool_and(NOT EXISTS (
               SELECT FROM jsonb_array_elements(p.path -> 'steps') WITH ORDINALITY AS e(step, i)
                WHERE e.i >= (SELECT min(f.i) FROM jsonb_array_elements(p.path -> 'steps') WITH ORDINALITY AS f(step, i)
                               WHERE f.step ->> 'axis' = 'parent')
                  AND NOT coalesce(e.step ->> 'axis' IN ('parent', 'self', 'attribute') AND e.step -> 'preds' = '[]', false))
               AND p.path -> 'steps' -> -1 ->> 'axis' = 'attribute'), true)
      FROM jsonb_path_query(p_node, '$.** ? (@.op == "path" && exists(@.steps[*] ? (@.axis == "parent")))') AS p(path);
END;
