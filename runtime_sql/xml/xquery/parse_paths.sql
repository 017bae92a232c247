-- XQuery parser: path expressions, steps, node tests, predicates.

-- A path is {"op":"path","root":bool,"start":node or null,"steps":[…]}; a step has "axis",
-- "test" (see ssb_internal.xq_parse_node_test) and "preds", or, where an expression stands as a step, "e".
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_path(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_root boolean := false;
    v_start jsonb;
    v_steps jsonb := '[]';
    v_step jsonb;
    v_slash text;
    v_count text := '1';        -- how many nodes the path can give so far
    v_type text := 'node()';
    v_first boolean := true;
BEGIN
    at := ssb_internal.xq_skip(p_source, p_at);
    v_slash := substring(substr(p_source, at, 2) from '^//?');
    IF v_slash IS NOT NULL THEN
        v_root := true;
        v_type := 'document-node()';
        at := ssb_internal.xq_skip(p_source, at + length(v_slash));
        IF v_slash = '/' AND substr(p_source, at) !~ '^(?:[A-Za-z_@*.$(\u00C0-\U0010FFFF])' THEN
            node := jsonb_build_object('op', 'path', 'root', true, 'steps', v_steps, 'c', '1', 'ty', v_type);
            RETURN;
        END IF;
    END IF;
    LOOP
        SELECT s.node, s.at INTO v_step, at
          FROM ssb_internal.xq_parse_step(p_source, at, p_context) AS s;
        IF v_step ? 'axis' THEN
            IF v_slash = '//' THEN
                -- //a is descendant::a unless a position is asked for, which counts per parent.
                IF v_step ->> 'axis' = 'child'
                   AND (v_step -> 'preds')::text !~ '"f": "(?:position|last)"'
                   AND NOT jsonb_path_exists(v_step -> 'preds',
                       '$[*] ? (@.k != "e" || (@.e.ty starts with "xs:" && @.e.ty != "xs:boolean"))') THEN
                    v_step := jsonb_set(v_step, '{axis}', '"descendant"');
                ELSE
                    v_steps := v_steps || '[{"axis": "descendant-or-self", "test": {"kind": "node"}, "preds": []}]'::jsonb;
                END IF;
                v_count := '*';
            END IF;
            IF v_root AND v_first AND v_slash = '/' AND v_step ->> 'axis' = 'attribute' THEN
                PERFORM ssb_internal.xq_error(p_context, 2390, 'Top-level attribute nodes are not supported');
            END IF;
            v_count := CASE
                WHEN v_count = '*' THEN '*'
                WHEN v_step ->> 'axis' = 'self' AND v_step -> 'test' ->> 'kind' = 'node'
                     AND v_step -> 'preds' = '[]' THEN v_count
                WHEN v_step ->> 'axis' IN ('self', 'parent') THEN '?'
                WHEN v_step ->> 'axis' = 'attribute' AND v_step -> 'test' ? 'name' THEN '?'
                WHEN v_step @> '{"preds": [{"k": "n"}]}' OR v_step @> '{"preds": [{"k": "last"}]}' THEN '?'
                ELSE '*' END;
            v_type := v_step ->> 'ty';
            v_steps := v_steps || (v_step - 'ty');
        ELSIF v_first AND v_slash IS NULL THEN
            v_start := v_step;
            v_count := v_step ->> 'c';
            v_type := v_step ->> 'ty';
        ELSE
            IF v_slash = '//' THEN
                v_steps := v_steps || '[{"axis": "descendant-or-self", "test": {"kind": "node"}, "preds": []}]'::jsonb;
                v_count := '*';
            END IF;
            v_steps := v_steps || jsonb_build_object('e', v_step);
            v_count := CASE WHEN v_count = '*' OR v_step ->> 'c' = '*' THEN '*' ELSE '?' END;
            v_type := v_step ->> 'ty';
        END IF;
        v_first := false;
        at := ssb_internal.xq_skip(p_source, at);
        v_slash := substring(substr(p_source, at, 2) from '^//?');
        EXIT WHEN v_slash IS NULL;
        at := at + length(v_slash);
    END LOOP;
    IF v_start IS NOT NULL AND v_steps = '[]' THEN
        node := v_start;
    ELSIF NOT v_root AND v_start IS NULL
          AND v_steps = '[{"axis": "self", "test": {"kind": "node"}, "preds": []}]' THEN
        node := '{"op": "context", "c": "1", "ty": "node()"}';
    ELSE
        node := jsonb_build_object('op', 'path', 'root', v_root, 'start', v_start, 'steps', v_steps,
                                   'c', v_count, 'ty', v_type);
    END IF;
END;
$$;

-- One step. With an axis it is a step object; any other expression is that expression, with
-- {"op":"filter"} around it for its predicates.
DROP FUNCTION IF EXISTS ssb_internal.xq_parse_step(text, integer, jsonb, boolean);
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_step(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context jsonb := jsonb_set(p_context, '{in}', 'true');
    v_axis text;
    v_name text;
    v_predicates jsonb := '[]';
    v_predicate jsonb;
    v_test jsonb;
BEGIN
    at := ssb_internal.xq_skip(p_source, p_at);
    v_name := ssb_internal.xq_name(p_source, at, true);
    IF substr(p_source, at, 2) = '..' THEN
        at := at + 2;
        v_axis := 'parent';
        v_test := '{"kind": "node"}';
    ELSIF substr(p_source, at, 1) = '.' AND substr(p_source, at + 1, 1) !~ '[0-9]' THEN
        at := at + 1;
        v_axis := 'self';
        v_test := '{"kind": "node"}';
    ELSIF substr(p_source, at, 1) = '@' THEN
        at := ssb_internal.xq_skip(p_source, at + 1);
        v_axis := 'attribute';
    ELSIF v_name IS NOT NULL AND substr(p_source, at + length(v_name)) ~ '^[ \t\r\n]*::' THEN
        v_axis := v_name;
        IF v_axis IN ('ancestor', 'ancestor-or-self', 'following', 'following-sibling', 'preceding', 'preceding-sibling') THEN
            PERFORM ssb_internal.xq_error(p_context, 9335, format('The XQuery syntax ''%s'' is not supported.', v_axis));
        ELSIF v_axis NOT IN ('child', 'descendant', 'descendant-or-self', 'self', 'parent', 'attribute') THEN
            PERFORM ssb_internal.xq_error(p_context, 2392, format('''%s::'' is not a valid axis', v_axis));
        END IF;
        at := ssb_internal.xq_skip(p_source, at + length(v_name));
        at := ssb_internal.xq_skip(p_source, at + 2);
    ELSIF v_name IS NOT NULL AND (
            substr(p_source, at + length(v_name)) !~ '^[ \t\r\n]*[({"'']'
            AND NOT (v_name IN ('element', 'attribute')
                     AND substr(p_source, at + length(v_name)) ~ '^[ \t\r\n]+[A-Za-z_][A-Za-z0-9_.:-]*[ \t\r\n]*\{')
            OR v_name IN ('text', 'node', 'comment', 'processing-instruction')
               AND substr(p_source, at + length(v_name)) ~ '^[ \t\r\n]*\(') THEN
        v_axis := 'child';
    END IF;

    IF v_axis IS NULL THEN
        SELECT e.node, e.at INTO node, at FROM ssb_internal.xq_parse_primary(p_source, at, p_context) AS e;
    ELSE
        IF v_test IS NULL THEN
            SELECT t.test, t.at INTO v_test, at FROM ssb_internal.xq_parse_node_test(p_source, at, v_axis, p_context) AS t;
        END IF;
        node := jsonb_build_object('axis', v_axis, 'test', v_test - 'ty', 'ty', coalesce(v_test ->> 'ty', 'node()'));
    END IF;

    LOOP
        at := ssb_internal.xq_skip(p_source, at);
        EXIT WHEN substr(p_source, at, 1) <> '[';
        SELECT e.node, e.at INTO v_predicate, at FROM ssb_internal.xq_parse(p_source, at + 1, v_context) AS e;
        at := ssb_internal.xq_expect(p_source, at, ']', p_context);
        v_predicates := v_predicates || CASE
            WHEN v_predicate ->> 'op' = 'literal' AND v_predicate ->> 'ty' = 'xs:integer'
                THEN jsonb_build_object('k', 'n', 'n', least((v_predicate ->> 'v')::numeric, 2147483647))
            WHEN v_predicate @> '{"op": "call", "f": "last"}' THEN '{"k": "last"}'::jsonb
            -- [position() = 3], either way round
            WHEN v_predicate @> '{"op": "compare", "by": "=", "l": {"op": "call", "f": "position"}, "r": {"op": "literal", "ty": "xs:integer"}}'
                THEN jsonb_build_object('k', 'n', 'n', least((v_predicate -> 'r' ->> 'v')::numeric, 2147483647))
            WHEN v_predicate @> '{"op": "compare", "by": "=", "l": {"op": "call", "f": "position"}, "r": {"op": "call", "f": "last"}}'
                THEN '{"k": "last"}'::jsonb
            ELSE jsonb_build_object('k', 'e', 'e', v_predicate) END;
    END LOOP;
    IF v_axis IS NOT NULL THEN
        node := node || jsonb_build_object('preds', v_predicates);
    ELSIF v_predicates <> '[]' THEN
        node := jsonb_build_object('op', 'filter', 'e', node, 'preds', v_predicates, 'ty', node -> 'ty',
            'c', CASE WHEN node ->> 'c' <> '*' OR v_predicates @> '[{"k": "n"}]' OR v_predicates @> '[{"k": "last"}]'
                      THEN '?' ELSE '*' END);
    END IF;
END;
$$;

-- A node test: {"kind": "element" | "attribute" | "text" | "comment" | "pi" | "node"} and, for
-- names, "name" (absent = any) and "uri" (absent = any namespace); "pi" may have "name".
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_node_test(
    p_source text, p_at integer, p_axis text, p_context jsonb, OUT test jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := ssb_internal.xq_name(p_source, p_at, true);
    v_kind text := CASE p_axis WHEN 'attribute' THEN 'attribute' ELSE 'element' END;
    v_prefix text;
BEGIN
    IF v_name IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 2256, format('Syntax error near ''%s'', expected a "node test".',
                                                              ssb_internal.xq_near(p_source, p_at)));
    END IF;
    at := p_at + length(v_name);
    IF v_name IN ('text', 'node', 'comment', 'processing-instruction')
       AND substr(p_source, at) ~ '^[ \t\r\n]*\(' THEN
        at := ssb_internal.xq_expect(p_source, at, '(', p_context);
        test := jsonb_build_object(
            'kind', CASE v_name WHEN 'processing-instruction' THEN 'pi' ELSE v_name END,
            'ty', CASE v_name WHEN 'node' THEN 'node()' ELSE v_name END);
        IF v_name = 'processing-instruction' AND substr(p_source, at, 1) IN ('"', '''') THEN
            test := test || jsonb_build_object('name',
                split_part(substr(p_source, at + 1), substr(p_source, at, 1), 1));
            at := at + 2 + length(test ->> 'name');
        END IF;
        at := ssb_internal.xq_expect(p_source, at, ')', p_context);
        RETURN;
    END IF;
    test := jsonb_build_object('kind', v_kind);
    IF strpos(v_name, ':') > 0 THEN
        v_prefix := split_part(v_name, ':', 1);
        IF v_prefix <> '*' THEN
            test := test || jsonb_build_object('uri', ssb_internal.xq_namespace(v_prefix, p_context));
        END IF;
        v_name := split_part(v_name, ':', 2);
    ELSIF v_name <> '*' THEN
        test := test || jsonb_build_object('uri', CASE v_kind WHEN 'element' THEN coalesce(p_context ->> 'de', '') ELSE '' END);
    END IF;
    IF v_name <> '*' THEN
        test := test || jsonb_build_object('name', v_name);
    END IF;
    test := test || jsonb_build_object('ty',
        v_kind || '(' || CASE WHEN v_prefix IS NOT NULL THEN v_prefix || ':' ELSE '' END || v_name
        || CASE v_kind WHEN 'element' THEN ',xdt:untyped)' ELSE ',xdt:untypedAtomic)' END);
END;
$$;
