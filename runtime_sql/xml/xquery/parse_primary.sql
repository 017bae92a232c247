-- XQuery parser: literals, variables, function calls, constructors.

CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_primary(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_char text := substr(p_source, p_at, 1);
    v_text text;
    v_name text;
BEGIN
    IF v_char IN ('"', '''') THEN
        SELECT l.value, l.at INTO v_text, at FROM ssb_internal.xq_string(p_source, p_at, p_context) AS l;
        node := jsonb_build_object('op', 'literal', 'v', v_text, 'c', '1', 'ty', 'xs:string');
        RETURN;
    END IF;
    v_text := substring(substr(p_source, p_at) from '^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?');
    IF v_text IS NOT NULL THEN
        at := p_at + length(v_text);
        IF substr(p_source, at, 1) ~ '[A-Za-z_]' OR v_text ~ '[eE]' AND (v_text !~ '[eE][+-]?[0-9]{1,3}$' OR ssb_internal.xq_double(v_text) IS NULL) THEN
            PERFORM ssb_internal.xq_error(p_context, 2342, 'Invalid numeric constant.');
        END IF;
        node := jsonb_build_object('op', 'literal', 'c', '1',
            'v', CASE WHEN v_text ~ '[eE]' THEN ssb_internal.xq_double(v_text)::text ELSE trim_scale(v_text::numeric)::text END,
            'ty', CASE WHEN v_text ~ '[eE]' THEN 'xs:double' WHEN v_text ~ '\.' THEN 'xs:decimal' ELSE 'xs:integer' END);
        RETURN;
    END IF;
    IF v_char = '$' THEN
        v_name := ssb_internal.xq_name(p_source, p_at + 1);
        IF v_name IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2241, 'Variable expected: ''$name''');
        ELSIF NOT p_context -> 'vars' ? ('$' || v_name) THEN
            PERFORM ssb_internal.xq_error(p_context, 2227, format(
                'The variable ''$%s'' was not found in the scope in which it was referenced.', v_name));
        END IF;
        at := p_at + 1 + length(v_name);
        node := (p_context -> 'vars' -> ('$' || v_name)) || jsonb_build_object('op', 'variable', 'name', '$' || v_name);
        RETURN;
    END IF;
    IF v_char = '(' THEN
        at := ssb_internal.xq_skip(p_source, p_at + 1);
        IF substr(p_source, at, 1) = ')' THEN
            at := at + 1;
            node := '{"op": "seq", "items": [], "c": "?", "ty": "empty"}';
            RETURN;
        END IF;
        SELECT e.node, e.at INTO node, at FROM ssb_internal.xq_parse(p_source, at, p_context) AS e;
        at := ssb_internal.xq_expect(p_source, at, ')', p_context);
        RETURN;
    END IF;
    IF v_char = '<' THEN
        SELECT c.node, c.at INTO node, at FROM ssb_internal.xq_parse_constructor(p_source, p_at, p_context) AS c;
        RETURN;
    END IF;
    v_name := ssb_internal.xq_name(p_source, p_at);
    IF v_name IS NULL THEN
        IF p_at > length(p_source) THEN
            PERFORM ssb_internal.xq_error(p_context, 2209, 'Syntax error near ''<eof>''');
        ELSIF v_char ~ '[/\]),}|=!>*+-]' THEN
            PERFORM ssb_internal.xq_error(p_context, 9341, format(
                'Syntax error near ''%s'', expected a step expression.', v_char));
        END IF;
        PERFORM ssb_internal.xq_error(p_context, 2209, format('Syntax error near ''%s''', ssb_internal.xq_near(p_source, p_at)));
    END IF;
    IF substr(p_source, p_at + length(v_name)) ~ '^[ \t\r\n]*\(' THEN
        SELECT c.node, c.at INTO node, at FROM ssb_internal.xq_parse_call(p_source, p_at, v_name, p_context) AS c;
    ELSE
        SELECT c.node, c.at INTO node, at FROM ssb_internal.xq_parse_computed(p_source, p_at, v_name, p_context) AS c;
    END IF;
END;
$$;

-- A string literal at p_at: doubled quotes are one, references are resolved.
CREATE OR REPLACE FUNCTION ssb_internal.xq_string(
    p_source text, p_at integer, p_context jsonb, OUT value text, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_quote text := substr(p_source, p_at, 1);
    v_resolved record;
BEGIN
    value := substring(substr(p_source, p_at) from
        CASE v_quote WHEN '"' THEN '^"(?:[^"]|"")*"' ELSE '^''(?:[^'']|'''')*''' END);
    IF value IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 2274, format('Unterminated string constant (started on line %s)',
            length(left(p_source, p_at)) - length(replace(left(p_source, p_at), E'\n', '')) + 1));
    END IF;
    at := p_at + length(value);
    value := replace(substr(value, 2, length(value) - 2), v_quote || v_quote, v_quote);
    IF strpos(value, '&') > 0 THEN
        SELECT r.result, r.error INTO v_resolved FROM ssb_internal.xml_resolve_references(value) AS r;
        IF v_resolved.error IS NOT NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2282, 'Invalid entity reference');
        END IF;
        value := v_resolved.result;
    END IF;
END;
$$;

-- What we know of a function: fewest and most arguments, whether its first argument must be a
-- singleton, its type and how many items it gives. NULL: there is no such function.
CREATE OR REPLACE FUNCTION ssb_internal.xq_signature(
    p_name text, OUT fewest integer, OUT most integer, OUT one boolean, OUT ty text, OUT c text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT f.fewest, f.most, f.one, f.ty, f.c
      FROM (VALUES
        ('string', 0, 1, true, 'xs:string', '1'),
        ('data', 0, 1, false, 'xdt:untypedAtomic', '='),
        ('number', 0, 1, true, 'xs:double', '1'),
        ('count', 1, 1, false, 'xs:integer', '1'),
        ('sum', 1, 1, false, 'xs:double', '1'),
        ('avg', 1, 1, false, 'xs:double', '?'),
        ('min', 1, 1, false, 'xdt:untypedAtomic', '?'),
        ('max', 1, 1, false, 'xdt:untypedAtomic', '?'),
        ('concat', 2, 1000, true, 'xs:string', '1'),
        ('contains', 2, 2, true, 'xs:boolean', '1'),
        ('starts-with', 2, 2, true, 'xs:boolean', '1'),
        ('ends-with', 2, 2, true, 'xs:boolean', '1'),
        ('substring', 2, 3, true, 'xs:string', '1'),
        ('string-length', 0, 1, true, 'xs:integer', '1'),
        ('upper-case', 1, 1, true, 'xs:string', '1'),
        ('lower-case', 1, 1, true, 'xs:string', '1'),
        ('normalize-space', 0, 1, true, 'xs:string', '1'),
        ('local-name', 0, 1, true, 'xs:string', '1'),
        ('namespace-uri', 0, 1, true, 'xs:string', '1'),
        ('name', 0, 1, true, 'xs:string', '1'),
        ('last', 0, 0, false, 'xs:integer', '1'),
        ('position', 0, 0, false, 'xs:integer', '1'),
        ('not', 1, 1, false, 'xs:boolean', '1'),
        ('boolean', 1, 1, false, 'xs:boolean', '1'),
        ('empty', 1, 1, false, 'xs:boolean', '1'),
        ('exists', 1, 1, false, 'xs:boolean', '1'),
        ('true', 0, 0, false, 'xs:boolean', '1'),
        ('false', 0, 0, false, 'xs:boolean', '1'),
        ('distinct-values', 1, 1, false, 'xdt:untypedAtomic', '*'),
        ('ceiling', 1, 1, true, 'xs:decimal', '?'),
        ('floor', 1, 1, true, 'xs:decimal', '?'),
        ('round', 1, 1, true, 'xs:decimal', '?'),
        ('abs', 1, 1, true, 'xs:decimal', '?')
      ) AS f(name, fewest, most, one, ty, c)
     WHERE f.name = p_name;
END;

-- name(argument, …): a built-in, a constructor such as xs:int(…), or sql:variable/sql:column.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_call(
    p_source text, p_at integer, p_name text, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_function text := regexp_replace(p_name, '^fn:', '');
    v_known record;
    v_arguments jsonb := '[]';
    v_argument jsonb;
BEGIN
    at := ssb_internal.xq_expect(p_source, p_at + length(p_name), '(', p_context);
    IF substr(p_source, at, 1) <> ')' THEN
        LOOP
            SELECT s.node, s.at INTO v_argument, at FROM ssb_internal.xq_parse_single(p_source, at, p_context) AS s;
            v_arguments := v_arguments || v_argument;
            EXIT WHEN substr(p_source, at, 1) <> ',';
            at := at + 1;
        END LOOP;
    END IF;
    IF substr(p_source, at, 1) <> ')' THEN
        PERFORM ssb_internal.xq_error(p_context, 2217, ''','' or '')'' expected');
    END IF;
    at := at + 1;

    IF p_name IN ('sql:variable', 'sql:column') THEN
        IF jsonb_array_length(v_arguments) <> 1 OR NOT v_arguments -> 0 @> '{"op": "literal", "ty": "xs:string"}' THEN
            PERFORM ssb_internal.xq_error(p_context, 2225, 'A string literal was expected');
        ELSIF p_name = 'sql:variable' AND v_arguments -> 0 ->> 'v' !~ '^@.' THEN
            PERFORM ssb_internal.raise_error(9519, format('XQuery: The name supplied to sql:variable(''%s'') is not a valid SQL'
                ' variable name. Variable names must start with the ''@'' symbol followed by at least one character.',
                v_arguments -> 0 ->> 'v'));
        END IF;
        node := jsonb_build_object('op', 'sql', 'name', translate(ssb_internal.lower_name(v_arguments -> 0 ->> 'v'), '[]"', ''),
                                   'c', '?', 'ty', 'xdt:anyAtomicType');
        RETURN;
    END IF;
    IF p_name ~ '^(?:xs|xdt):' THEN
        IF jsonb_array_length(v_arguments) <> 1 THEN
            PERFORM ssb_internal.xq_error(p_context, CASE WHEN v_arguments = '[]' THEN 2236 ELSE 2238 END,
                format(CASE WHEN v_arguments = '[]' THEN 'There are not enough actual arguments in the call to function "%s".'
                            ELSE 'Too many arguments in call to function ''%s''' END, p_name));
        END IF;
        PERFORM ssb_internal.xq_require_one(v_arguments -> 0, p_name || '()', p_context);
        node := jsonb_build_object('op', 'cast', 'e', v_arguments -> 0, 'as', ssb_internal.xq_known_type(p_name, p_context),
                                   'c', '?', 'ty', p_name);
        RETURN;
    END IF;

    SELECT s.* INTO v_known FROM ssb_internal.xq_signature(v_function) AS s;
    IF v_known.ty IS NULL THEN
        IF strpos(p_name, ':') > 0 AND p_name !~ '^fn:' THEN
            PERFORM ssb_internal.xq_error(p_context, 2395, format('There is no function ''{%s}:%s()''',
                ssb_internal.xq_namespace(split_part(p_name, ':', 1), p_context), split_part(p_name, ':', 2)));
        END IF;
        PERFORM ssb_internal.xq_error(p_context, 2395, format(
            'There is no function ''{http://www.w3.org/2004/07/xpath-functions}:%s()''', v_function));
    ELSIF jsonb_array_length(v_arguments) < v_known.fewest THEN
        PERFORM ssb_internal.xq_error(p_context, 2236, format(
            'There are not enough actual arguments in the call to function "%s".', v_function));
    ELSIF jsonb_array_length(v_arguments) > v_known.most THEN
        PERFORM ssb_internal.xq_error(p_context, 2238, format('Too many arguments in call to function ''%s''', v_function));
    ELSIF v_function IN ('last', 'position') AND NOT (p_context -> 'in')::boolean THEN
        PERFORM ssb_internal.xq_error(p_context, 2371, format(
            '''%s()'' can only be used within a predicate or XPath selector', v_function));
    END IF;
    IF v_known.one THEN
        FOR v_argument IN SELECT a FROM jsonb_array_elements(v_arguments) AS a LOOP
            PERFORM ssb_internal.xq_require_one(v_argument, v_function || '()', p_context);
        END LOOP;
    END IF;
    node := jsonb_build_object('op', 'call', 'f', v_function, 'args', v_arguments, 'ty', v_known.ty, 'c',
        CASE WHEN v_known.c <> '=' THEN v_known.c ELSE coalesce(v_arguments -> 0 ->> 'c', '1') END);
    IF v_function IN ('floor', 'ceiling', 'round', 'abs') AND v_arguments -> 0 ->> 'c' = '1' THEN
        node := node || '{"c": "1"}';
    END IF;
END;
$$;

-- element name {…}, attribute name {…}, text {…}: computed constructors.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_computed(
    p_source text, p_at integer, p_kind text, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
    v_content jsonb := '[]';
BEGIN
    at := ssb_internal.xq_skip(p_source, p_at + length(p_kind));
    IF p_kind IN ('element', 'attribute') THEN
        v_name := ssb_internal.xq_name(p_source, at);
        IF v_name IS NULL THEN
            IF substr(p_source, at, 1) = '{' THEN
                PERFORM ssb_internal.xq_error(p_context, 9315, 'Only constant expressions are supported for the name expression'
                                                               ' of computed element and attribute constructors.');
            END IF;
            PERFORM ssb_internal.xq_error(p_context, 2223, format('Syntax error near ''%s'', expected an identifier.',
                                                                  ssb_internal.xq_near(p_source, at)));
        ELSIF p_kind = 'attribute' AND (v_name = 'xmlns' OR v_name LIKE 'xmlns:%') THEN
            PERFORM ssb_internal.xq_error(p_context, 9316, 'Cannot use ''xmlns'' in the name expression of computed attribute constructor.');
        END IF;
        at := at + length(v_name);
    ELSIF p_kind IN ('comment', 'processing-instruction') THEN
        PERFORM ssb_internal.xq_error(p_context, CASE p_kind WHEN 'comment' THEN 9326 ELSE 9325 END,
            format('Computed %s constructors are not supported.', replace(p_kind, '-', ' ')));
    ELSIF p_kind <> 'text' THEN
        PERFORM ssb_internal.xq_error(p_context, 2209, format('Syntax error near ''%s''', ssb_internal.xq_near(p_source, p_at)));
    END IF;
    at := ssb_internal.xq_expect(p_source, at, '{', p_context);
    IF substr(p_source, at, 1) <> '}' THEN
        SELECT jsonb_build_array(e.node), e.at INTO v_content, at FROM ssb_internal.xq_parse(p_source, at, p_context) AS e;
    END IF;
    at := ssb_internal.xq_expect(p_source, at, '}', p_context);
    IF p_kind = 'text' THEN
        node := jsonb_build_object('op', 'text', 'content', v_content, 'c', '1', 'ty', 'text');
    ELSIF p_kind = 'attribute' THEN
        node := jsonb_build_object('op', 'attribute', 'name', v_name, 'content', v_content, 'c', '1',
            'ns', ssb_internal.xq_constructor_namespace(v_name, false, p_context),
            'ty', 'attribute(' || v_name || ',xdt:untypedAtomic)');
    ELSE
        node := jsonb_build_object('op', 'element', 'name', v_name, 'attributes', '[]'::jsonb, 'content', v_content,
            'c', '1', 'ns', ssb_internal.xq_constructor_namespace(v_name, true, p_context),
            'ty', 'element(' || v_name || ',xdt:untyped)');
    END IF;
END;
$$;

-- {"prefix": uri} that a constructed name needs to have declared; {} for none.
CREATE OR REPLACE FUNCTION ssb_internal.xq_constructor_namespace(p_name text, p_element boolean, p_context jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF strpos(p_name, ':') > 0 AND p_name NOT LIKE 'xml:%' THEN
        RETURN jsonb_build_object(split_part(p_name, ':', 1), ssb_internal.xq_namespace(split_part(p_name, ':', 1), p_context));
    ELSIF p_element AND strpos(p_name, ':') = 0 THEN
        RETURN jsonb_build_object('', coalesce(p_context ->> 'de', ''));
    END IF;
    RETURN '{}';
END;
$$;
