-- XQuery, second half: evaluation. Location paths over the arrays of xml/text/node_index.sql.
--
-- Every function here takes the same things after the tree of what it evaluates: the four arrays,
-- p_env (variables: '$x' → array of items, '@x' and column names → values from SQL), and the
-- context item with its position and the context size.

-- Predicates, where SQL's values are known: r[sql:variable("@i")] and r[position() = sql:variable("@i")] of a number take one node as r[3]
-- does, without a look at the others.
CREATE OR REPLACE FUNCTION ssb_internal.xq_positional(p_predicates jsonb, p_env jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_position CONSTANT jsonb := '{"op": "call", "f": "position"}';
    v_predicates jsonb := p_predicates;
    v_predicate jsonb;
    v_value jsonb;
    v_number numeric;
BEGIN
    FOR p IN 0 .. jsonb_array_length(p_predicates) - 1 LOOP
        v_predicate := p_predicates -> p -> 'e';
        v_value := p_env -> CASE
            WHEN v_predicate ->> 'op' = 'sql' THEN v_predicate ->> 'name'
            WHEN NOT v_predicate @> '{"op": "compare", "by": "="}' THEN NULL
            WHEN v_predicate -> 'l' @> c_position AND v_predicate -> 'r' ->> 'op' = 'sql' THEN v_predicate -> 'r' ->> 'name'
            WHEN v_predicate -> 'r' @> c_position AND v_predicate -> 'l' ->> 'op' = 'sql' THEN v_predicate -> 'l' ->> 'name' END;
        IF jsonb_typeof(v_value) = 'number' THEN
            v_number := v_value::numeric;
            v_predicates := jsonb_set(v_predicates, ARRAY[p::text], jsonb_build_object('k', 'n', 'n',
                CASE WHEN v_number = trunc(v_number) AND v_number BETWEEN 1 AND 2147483647 THEN trunc(v_number) ELSE 0 END));
        END IF;
    END LOOP;
    RETURN v_predicates;
END;
$$;

-- The nodes a path expression gives, in document order without duplicates.
-- p_limit: so many are enough (the caller keeps the first ones only).
CREATE OR REPLACE FUNCTION ssb_internal.xq_path(
    p_steps jsonb, p_from integer, p_start bigint[], p_limit integer,
    p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb)
RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_last integer := jsonb_array_length(p_steps) - 1;
    v_nodes bigint[] := p_start;
    v_next bigint[];
    v_found bigint[];
    v_node bigint;
    v_step jsonb;
    v_test jsonb;
    v_axis text;
    v_kind text;
    v_name text;
    v_uri text;
    v_predicates jsonb;
    v_stop integer;             -- so many matches of one step from one node are enough
    v_length integer;
    v_mode integer;             -- how an element's name is compared: see below
    v_at integer;
    v_end integer;
    v_child integer;
    v_tok text;
    v_raw text;
    v_key text;
    v_key_uri text;
    v_match boolean;
    v_unsorted boolean := false; -- nodes may lie inside one another, or come out of order
BEGIN
    FOR s IN p_from .. v_last LOOP
        v_step := p_steps -> s;
        IF v_step ? 'e' THEN
            v_next := '{}';
            FOR i IN 1 .. cardinality(v_nodes) LOOP
                FOREACH v_node IN ARRAY ssb_internal.xq_nodes(v_step -> 'e', NULL, p_toks, p_ends, p_opens, p_decls, p_env,
                                                              'n' || v_nodes[i], i, cardinality(v_nodes)) LOOP
                    v_next := v_next || v_node;
                END LOOP;
            END LOOP;
            v_nodes := ssb_internal.xq_in_order(v_next);
            CONTINUE;
        END IF;
        -- One answer is wanted: follow the first branch to its end before looking at the second.
        IF p_limit IS NOT NULL AND cardinality(v_nodes) > 1 AND NOT v_unsorted
           AND p_steps -> s ->> 'axis' IN ('child', 'attribute')
           AND NOT jsonb_path_exists(p_steps, '$[*] ? (@.axis != "child" && @.axis != "attribute")') THEN
            v_next := '{}';
            FOREACH v_node IN ARRAY v_nodes LOOP
                v_found := ssb_internal.xq_path(p_steps, s, ARRAY[v_node], p_limit - cardinality(v_next),
                                                p_toks, p_ends, p_opens, p_decls, p_env);
                IF v_found <> '{}' THEN
                    v_next := v_next || v_found;
                END IF;
                EXIT WHEN cardinality(v_next) >= p_limit;
            END LOOP;
            RETURN v_next;
        END IF;

        v_axis := v_step ->> 'axis';
        v_test := v_step -> 'test';
        v_kind := v_test ->> 'kind';
        v_name := v_test ->> 'name';
        v_uri := v_test ->> 'uri';
        v_predicates := v_step -> 'preds';
        IF v_predicates <> '[]' AND p_env <> '{}' THEN
            v_predicates := ssb_internal.xq_positional(v_predicates, p_env);
        END IF;
        v_length := length(v_name);
        v_stop := CASE WHEN v_predicates = '[]' THEN CASE WHEN s = v_last THEN p_limit END
                       WHEN v_predicates -> 0 ->> 'k' = 'n' THEN (v_predicates -> 0 ->> 'n')::integer END;
        -- 0 nothing can match, 1 the name as written, 2 name and namespace, 3 any element
        v_mode := CASE
            WHEN v_kind <> 'element' THEN 0
            WHEN p_decls = '{}' AND v_uri <> '' AND v_uri <> 'http://www.w3.org/XML/1998/namespace' THEN 0
            WHEN v_name IS NULL AND v_uri IS NULL THEN 3
            WHEN p_decls = '{}' THEN CASE WHEN v_name IS NULL THEN 3 ELSE 1 END
            ELSE 2 END;
        v_next := '{}';
        FOREACH v_node IN ARRAY v_nodes LOOP
            v_at := ((v_node & 4294967295) >> 1)::integer;
            v_found := '{}';
            CASE v_axis
            WHEN 'child', 'descendant', 'descendant-or-self' THEN
                IF v_axis = 'descendant-or-self'
                   AND ssb_internal.xq_matches(v_node, v_test, p_toks, p_opens, p_decls) THEN
                    v_found := ARRAY[v_node];
                END IF;
                v_end := p_ends[v_at];
                IF v_node & 1 = 0 AND v_node < 4294967296 AND v_end > v_at THEN
                    v_child := v_at;
                    LOOP
                        -- the character data behind the start tag, or behind the child before
                        IF v_kind IN ('text', 'node') THEN
                            v_tok := p_toks[v_child];
                            IF v_tok NOT LIKE '%>' AND v_tok <> '' THEN
                                v_found := v_found || (v_child::bigint * 2 + 1);
                            END IF;
                        END IF;
                        v_child := v_child + 1;
                        EXIT WHEN v_child >= v_end OR cardinality(v_found) >= v_stop;
                        v_tok := p_toks[v_child];
                        IF v_mode = 1 THEN
                            IF left(v_tok, v_length) = v_name AND substr(v_tok, v_length + 1, 1) IN ('>', ' ', '/') THEN
                                v_found := v_found || (v_child::bigint * 2);
                            END IF;
                        ELSIF v_mode = 2 THEN
                            v_raw := split_part(split_part(split_part(v_tok, '>', 1), ' ', 1), '/', 1);
                            IF (v_name IS NULL OR right(v_raw, v_length) = v_name)
                               AND v_raw <> '' AND left(v_raw, 1) NOT IN ('!', '?') THEN
                                v_at := strpos(v_raw, ':');
                                IF v_name IS NULL OR substr(v_raw, v_at + 1) = v_name THEN
                                    v_match := v_uri IS NULL;
                                    IF NOT v_match THEN
                                        v_raw := left(v_raw, greatest(v_at - 1, 0)) || ' ' || p_decls[v_child];
                                        IF v_raw IS DISTINCT FROM v_key THEN
                                            v_key := v_raw;
                                            v_key_uri := ssb_internal.xml_uri(split_part(v_raw, ' ', 1), v_child, p_toks, p_opens, p_decls);
                                        END IF;
                                        v_match := v_key_uri = v_uri;
                                    END IF;
                                    IF v_match THEN
                                        v_found := v_found || (v_child::bigint * 2);
                                    END IF;
                                END IF;
                            END IF;
                        ELSIF v_mode = 3 THEN
                            IF v_tok !~ '^[/!?]' THEN
                                v_found := v_found || (v_child::bigint * 2);
                            END IF;
                        ELSIF v_kind = 'node' THEN
                            IF v_tok NOT LIKE '/%' THEN
                                v_found := v_found || (v_child::bigint * 2);
                            END IF;
                        ELSIF v_kind = 'comment' AND v_tok LIKE '!%'
                              OR v_kind = 'pi' AND v_tok LIKE '?%'
                                 AND (v_name IS NULL OR v_tok ~ ('^\?' || v_name || '[ \t\n?]')) THEN
                            v_found := v_found || (v_child::bigint * 2);
                        END IF;
                        IF v_axis = 'child' THEN
                            v_child := p_ends[v_child];
                        END IF;
                    END LOOP;
                END IF;
            WHEN 'attribute' THEN
                IF v_node & 1 = 0 AND v_node < 4294967296 AND v_at > 1 AND v_kind IN ('attribute', 'node') THEN
                    v_tok := split_part(p_toks[v_at], '>', 1);
                    IF v_name IS NOT NULL AND v_uri = '' THEN
                        v_child := strpos(v_tok, ' ' || v_name || '="');
                        IF v_child > 0 THEN
                            v_found := ARRAY[(v_child::bigint << 32) + v_node];
                        END IF;
                    ELSIF strpos(v_tok, '"') > 0 THEN
                        v_found := ssb_internal.xq_attributes(v_node, v_name, v_uri, p_toks, p_opens, p_decls);
                    END IF;
                END IF;
            WHEN 'self' THEN
                IF ssb_internal.xq_matches(v_node, v_test, p_toks, p_opens, p_decls) THEN
                    v_found := ARRAY[v_node];
                END IF;
            ELSE                                                                    -- parent
                v_node := CASE WHEN v_node > 4294967295 THEN v_node & 4294967295
                               WHEN v_node = 2 THEN NULL
                               WHEN v_node & 1 = 1 THEN p_opens[v_at]::bigint * 2
                               ELSE p_opens[v_at - 1]::bigint * 2 END;
                IF ssb_internal.xq_matches(v_node, v_test, p_toks, p_opens, p_decls) THEN
                    v_found := ARRAY[v_node];
                END IF;
            END CASE;
            IF v_predicates <> '[]' THEN
                v_found := ssb_internal.xq_filter(v_found, v_predicates, p_toks, p_ends, p_opens, p_decls, p_env);
            END IF;
            -- (array || array copies both)
            IF v_next = '{}' THEN
                v_next := v_found;
            ELSE
                FOREACH v_node IN ARRAY v_found LOOP
                    v_next := v_next || v_node;
                END LOOP;
            END IF;
            EXIT WHEN s = v_last AND p_limit IS NOT NULL AND NOT v_unsorted AND v_axis <> 'parent'
                      AND cardinality(v_next) >= p_limit;
        END LOOP;
        IF cardinality(v_nodes) > 1 AND (v_unsorted OR v_axis NOT IN ('child', 'attribute', 'self')) THEN
            v_next := ssb_internal.xq_in_order(v_next);
        END IF;
        v_unsorted := (v_unsorted OR v_axis LIKE 'descendant%') AND cardinality(v_next) > 1;
        v_nodes := v_next;
        EXIT WHEN v_nodes = '{}';
    END LOOP;
    RETURN v_nodes;
END;
$$;

-- Nodes sorted into document order, each once.
CREATE OR REPLACE FUNCTION ssb_internal.xq_in_order(p_nodes bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(d.n ORDER BY d.n & 4294967295, d.n), '{}')
      FROM (SELECT DISTINCT u.n FROM unnest(p_nodes) AS u(n)) AS d;
END;

-- Does one node satisfy a node test? (For the axes where only one node is in question.)
CREATE OR REPLACE FUNCTION ssb_internal.xq_matches(
    p_node bigint, p_test jsonb, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ((p_node & 4294967295) >> 1)::integer;
    v_kind text := p_test ->> 'kind';
    v_name text;
BEGIN
    IF p_node IS NULL THEN
        RETURN false;
    ELSIF v_kind = 'node' THEN
        RETURN true;
    ELSIF p_node > 4294967295 THEN
        RETURN v_kind = 'attribute'
               AND p_node = ANY (ssb_internal.xq_attributes(p_node & 4294967295, p_test ->> 'name', p_test ->> 'uri', p_toks, p_opens, p_decls));
    ELSIF p_node & 1 = 1 THEN
        RETURN v_kind = 'text';
    ELSIF v_at = 1 THEN
        RETURN false;
    ELSIF p_toks[v_at] LIKE '!%' THEN
        RETURN v_kind = 'comment';
    ELSIF p_toks[v_at] LIKE '?%' THEN
        RETURN v_kind = 'pi' AND (NOT p_test ? 'name' OR substring(p_toks[v_at] from '^\?([^ \t\n?]+)') = p_test ->> 'name');
    ELSIF v_kind <> 'element' THEN
        RETURN false;
    END IF;
    v_name := split_part(split_part(split_part(p_toks[v_at], '>', 1), ' ', 1), '/', 1);
    RETURN (NOT p_test ? 'name' OR substr(v_name, strpos(v_name, ':') + 1) = p_test ->> 'name')
           AND (NOT p_test ? 'uri'
                OR ssb_internal.xml_uri(left(v_name, greatest(strpos(v_name, ':') - 1, 0)), v_at, p_toks, p_opens, p_decls) = p_test ->> 'uri');
END;
$$;

-- Attributes of one element; a NULL name or uri stands for any.
CREATE OR REPLACE FUNCTION ssb_internal.xq_attributes(
    p_node bigint, p_name text, p_uri text, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := (p_node >> 1)::integer;
    v_tag text := split_part(p_toks[v_at], '>', 1);
    v_parts text[];
    v_place bigint := strpos(v_tag, ' ');
    v_name text;
    v_colon integer;
    v_found bigint[] := '{}';
BEGIN
    v_parts := string_to_array(substr(v_tag, v_place::integer), '"');
    FOR i IN 1 .. cardinality(v_parts) - 1 BY 2 LOOP
        v_name := btrim(v_parts[i], ' =');
        v_colon := strpos(v_name, ':');
        IF v_name <> 'xmlns' AND v_name NOT LIKE 'xmlns:%'
           AND (p_name IS NULL OR substr(v_name, v_colon + 1) = p_name)
           AND (p_uri IS NULL OR p_uri = CASE WHEN v_colon = 0 THEN ''
                    ELSE ssb_internal.xml_uri(left(v_name, v_colon - 1), v_at, p_toks, p_opens, p_decls) END) THEN
            v_found := v_found || ((v_place << 32) + p_node);
        END IF;
        v_place := v_place + length(v_parts[i]) + length(v_parts[i + 1]) + 2;
    END LOOP;
    RETURN v_found;
END;
$$;

-- Predicates applied to a list of nodes, one after the other.
CREATE OR REPLACE FUNCTION ssb_internal.xq_filter(
    p_nodes bigint[], p_predicates jsonb,
    p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_nodes bigint[] := p_nodes;
    v_kept bigint[];
    v_predicate jsonb;
    v_size integer;
    v_number integer;
BEGIN
    FOR p IN 0 .. jsonb_array_length(p_predicates) - 1 LOOP
        v_size := cardinality(v_nodes);
        EXIT WHEN v_size = 0;
        v_predicate := p_predicates -> p;
        IF v_predicate ->> 'k' = 'n' THEN
            v_number := (v_predicate ->> 'n')::integer;
            v_nodes := CASE WHEN v_number BETWEEN 1 AND v_size THEN ARRAY[v_nodes[v_number]] ELSE '{}' END;
        ELSIF v_predicate ->> 'k' = 'last' THEN
            v_nodes := ARRAY[v_nodes[v_size]];
        ELSE
            v_predicate := v_predicate -> 'e';
            v_kept := '{}';
            FOR i IN 1 .. v_size LOOP
                IF ssb_internal.xq_holds(v_predicate, p_toks, p_ends, p_opens, p_decls, p_env, 'n' || v_nodes[i], i, v_size) THEN
                    v_kept := v_kept || v_nodes[i];
                END IF;
            END LOOP;
            v_nodes := v_kept;
        END IF;
    END LOOP;
    RETURN v_nodes;
END;
$$;

-- Is a predicate true of the context item? A number is compared with the position.
CREATE OR REPLACE FUNCTION ssb_internal.xq_holds(
    p_e jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_atoms text[];
BEGIN
    IF p_e ->> 'ty' LIKE 'xs:%' AND p_e ->> 'ty' NOT IN ('xs:boolean', 'xs:string') OR p_e ->> 'op' = 'sql' THEN
        v_atoms := ssb_internal.xq_atoms(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
        IF left(v_atoms[1], 1) IN ('i', 'd', 'f') THEN
            RETURN substr(v_atoms[1], 2)::numeric = p_position;
        END IF;
    END IF;
    RETURN ssb_internal.xq_true(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
END;
$$;

-- The nodes that an expression gives; 2374 where it gives something else.
CREATE OR REPLACE FUNCTION ssb_internal.xq_nodes(
    p_e jsonb, p_limit integer,
    p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb,
    p_item text, p_position integer, p_size integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_e ->> 'op';
    v_nodes bigint[];
    v_item text;
    v_items text[];
    v_limit integer;
    v_predicates jsonb;
BEGIN
    IF v_op = 'path' THEN
        IF (p_e -> 'root')::boolean THEN
            v_nodes := ARRAY[2::bigint];
        ELSIF p_e -> 'start' <> 'null' THEN
            v_nodes := ssb_internal.xq_nodes(p_e -> 'start', NULL, p_toks, p_ends, p_opens, p_decls, p_env,
                                             p_item, p_position, p_size);
        ELSIF left(p_item, 1) = 'n' THEN
            v_nodes := ARRAY[substr(p_item, 2)::bigint];
        ELSE
            PERFORM ssb_internal.raise_error(2374, 'XQuery: A node or set of nodes is required for /');
        END IF;
        RETURN ssb_internal.xq_path(p_e -> 'steps', 0, v_nodes, p_limit, p_toks, p_ends, p_opens, p_decls, p_env);
    ELSIF v_op = 'filter' THEN
        v_predicates := ssb_internal.xq_positional(p_e -> 'preds', p_env);
        IF v_predicates -> 0 ->> 'k' = 'n' THEN
            v_limit := (v_predicates -> 0 ->> 'n')::integer;
        END IF;
        RETURN ssb_internal.xq_filter(
            ssb_internal.xq_nodes(p_e -> 'e', v_limit, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size),
            v_predicates, p_toks, p_ends, p_opens, p_decls, p_env);
    ELSIF v_op = 'union' THEN
        RETURN ssb_internal.xq_in_order(
            ssb_internal.xq_nodes(p_e -> 'l', NULL, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size)
            || ssb_internal.xq_nodes(p_e -> 'r', NULL, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size));
    END IF;
    v_items := ssb_internal.xq_items(p_e, p_toks, p_ends, p_opens, p_decls, p_env, p_item, p_position, p_size);
    v_nodes := '{}';
    FOREACH v_item IN ARRAY v_items LOOP
        IF left(v_item, 1) = 'n' THEN
            v_nodes := v_nodes || substr(v_item, 2)::bigint;
        ELSIF left(v_item, 1) IN ('x', 'a', 't') THEN
            PERFORM ssb_internal.raise_error(2373, 'XQuery: a path expression is not supported with constructed XML');
        ELSE
            PERFORM ssb_internal.raise_error(2374, 'XQuery: A node or set of nodes is required for /');
        END IF;
    END LOOP;
    RETURN v_nodes;
END;
$$;
