-- XML Schema: content models as automata, so that a document is checked in one pass.
--
-- Each particle for an element or a wildcard becomes a position (Glushkov's construction); a state
-- is the position matched last, 0 before the first. A repeated element keeps one position and is
-- counted; a group with bounds beyond one is copied.

-- p_follow with p_after added behind each position in p_last.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_follow(p_follow jsonb, p_last jsonb, p_after jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT p_follow || coalesce(jsonb_object_agg(l, coalesce(p_follow -> l, '[]') || p_after), '{}')
      FROM jsonb_array_elements_text(p_last) AS l;
END;

-- One model after the other.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_sequence(p_left jsonb, p_right jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_build_object(
        'null', (p_left -> 'null')::boolean AND (p_right -> 'null')::boolean,
        'first', CASE WHEN (p_left -> 'null')::boolean THEN (p_left -> 'first') || (p_right -> 'first') ELSE p_left -> 'first' END,
        'last', CASE WHEN (p_right -> 'null')::boolean THEN (p_left -> 'last') || (p_right -> 'last') ELSE p_right -> 'last' END,
        'pos', CASE WHEN (p_left ->> 'next')::integer > (p_right ->> 'next')::integer
                    THEN (p_right -> 'pos') || (p_left -> 'pos') ELSE (p_left -> 'pos') || (p_right -> 'pos') END,
        'follow', ssb_internal.xsd_follow((p_left -> 'follow') || (p_right -> 'follow'), p_left -> 'last', p_right -> 'first'),
        'next', p_right -> 'next');
END;

-- Positions of p_tree numbered from p_from: {"null": can be empty, "first": [..], "last": [..],
-- "pos": [{"n", "d", "w", "min", "max"}], "follow": {"position": [..]}, "next": free number}.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_positions(p_tree jsonb, p_from integer) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_least integer := coalesce((p_tree ->> 'min')::integer, 1);
    v_greatest integer := (p_tree ->> 'max')::integer;
    v_once jsonb := (p_tree - 'min') || '{"max": 1}';
    v_result jsonb;
    v_part jsonb;
    v_child jsonb;
BEGIN
    IF p_from > 3000 THEN
        PERFORM ssb_internal.xsd_error(6998, format('Invalid type definition: Type or content model ''%s'' is too complicated. It may be necessary to'
                                           ' reduce the number of enumerations or the size of the content model.', coalesce(p_tree ->> 'n', p_tree ->> 'k')));
    END IF;
    IF p_tree ->> 'k' IN ('e', 'w') THEN
        RETURN jsonb_build_object('null', v_least = 0, 'first', jsonb_build_array(p_from), 'last', jsonb_build_array(p_from),
            'pos', jsonb_build_array(p_tree - 'k'), 'follow', '{}'::jsonb, 'next', p_from + 1);
    END IF;
    IF v_greatest > 1 OR v_greatest IS NULL AND v_least > 1 THEN
        -- (x, (x, x?)?) for {1,3}; x, x, x* for {2,unbounded}
        IF v_greatest IS NULL THEN
            v_result := NULL;
            FOR i IN 1 .. v_least LOOP
                v_part := ssb_internal.xsd_positions(CASE WHEN i < v_least THEN v_once ELSE (p_tree - 'max') || '{"min": 1}' END,
                                            coalesce((v_result ->> 'next')::integer, p_from));
                v_result := CASE WHEN v_result IS NULL THEN v_part ELSE ssb_internal.xsd_sequence(v_result, v_part) END;
            END LOOP;
            RETURN v_result;
        END IF;
        v_result := NULL;
        FOR i IN REVERSE v_greatest .. 1 LOOP
            v_part := ssb_internal.xsd_positions(v_once, coalesce((v_result ->> 'next')::integer, p_from));
            v_result := CASE WHEN v_result IS NULL THEN v_part
                             ELSE ssb_internal.xsd_sequence(v_part, v_result) || jsonb_build_object('next', v_part -> 'next') END;
            IF i > v_least THEN
                v_result := v_result || '{"null": true}';
            END IF;
        END LOOP;
        RETURN v_result;
    END IF;

    v_result := jsonb_build_object('null', true, 'first', '[]'::jsonb, 'last', '[]'::jsonb, 'pos', '[]'::jsonb,
                                   'follow', '{}'::jsonb, 'next', p_from);
    IF p_tree ->> 'k' = 'choice' THEN
        v_result := v_result || jsonb_build_object('null', p_tree -> 'c' = '[]');
    END IF;
    FOR v_child IN SELECT c FROM jsonb_array_elements(p_tree -> 'c') AS c LOOP
        v_part := ssb_internal.xsd_positions(v_child, (v_result ->> 'next')::integer);
        v_result := CASE p_tree ->> 'k' WHEN 'choice' THEN jsonb_build_object(
                'null', (v_result -> 'null')::boolean OR (v_part -> 'null')::boolean,
                'first', (v_result -> 'first') || (v_part -> 'first'), 'last', (v_result -> 'last') || (v_part -> 'last'),
                'pos', (v_result -> 'pos') || (v_part -> 'pos'), 'follow', (v_result -> 'follow') || (v_part -> 'follow'),
                'next', v_part -> 'next')
            ELSE ssb_internal.xsd_sequence(v_result, v_part) END;
    END LOOP;
    IF v_greatest IS NULL THEN                                  -- * or +
        v_result := v_result || jsonb_build_object('follow',
            ssb_internal.xsd_follow(v_result -> 'follow', v_result -> 'last', v_result -> 'first'));
    END IF;
    IF v_least = 0 THEN
        v_result := v_result || '{"null": true}';
    END IF;
    RETURN v_result;
END;
$$;

-- The automaton of a tree: "states" [state → {"n": {name: [positions]}, "w": [positions of
-- wildcards], "want": [names for messages], "end": may the content end here}], "pos" the
-- positions. For xs:all "all": {name: {"d", "min"}} instead. p_subs: head → names that substitute.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_automaton(p_tree jsonb, p_subs jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_model jsonb;
    v_states jsonb := '[]';
    v_all jsonb := '{}';
    v_after jsonb;
    v_names jsonb;
    v_wild jsonb;
    v_want jsonb;
    v_position jsonb;
    v_name text;
    v_number integer;
    v_child jsonb;
    v_positions jsonb := '[]';
BEGIN
    IF p_tree IS NULL THEN
        RETURN '{"states": [{"n": {}, "w": [], "want": [], "end": true}], "pos": []}';
    ELSIF p_tree ->> 'k' = 'all' THEN
        FOR v_child IN SELECT c FROM jsonb_array_elements(p_tree -> 'c') AS c LOOP
            FOR v_name IN SELECT v_child ->> 'n' UNION ALL SELECT jsonb_array_elements_text(p_subs -> (v_child ->> 'n')) WHERE NOT v_child ? 'd' LOOP
                v_all := v_all || jsonb_build_object(v_name, v_child || jsonb_build_object('as', v_child -> 'n'));
            END LOOP;
        END LOOP;
        RETURN jsonb_build_object('all', v_all, 'min', p_tree -> 'min');
    END IF;
    v_model := ssb_internal.xsd_positions(p_tree, 1);
    -- the names that a particle for a global element matches
    FOR v_position IN SELECT p FROM jsonb_array_elements(v_model -> 'pos') AS p LOOP
        v_positions := v_positions || (v_position || CASE WHEN v_position ? 'w' THEN '{}'::jsonb ELSE jsonb_build_object('names',
            jsonb_build_array(v_position -> 'n') || CASE WHEN v_position ? 'd' THEN '[]'::jsonb
                                                         ELSE coalesce(p_subs -> (v_position ->> 'n'), '[]') END) END);
    END LOOP;
    FOR s IN 0 .. jsonb_array_length(v_model -> 'pos') LOOP
        v_after := CASE s WHEN 0 THEN v_model -> 'first' ELSE coalesce(v_model -> 'follow' -> s::text, '[]') END;
        v_names := '{}';
        v_wild := '[]';
        v_want := '[]';
        FOR v_number IN SELECT DISTINCT a::integer FROM jsonb_array_elements_text(v_after) AS a ORDER BY 1 LOOP
            v_position := v_positions -> (v_number - 1);
            IF v_position ? 'w' THEN
                v_wild := v_wild || to_jsonb(v_number);
                CONTINUE;
            END IF;
            FOR v_name IN SELECT n FROM jsonb_array_elements_text(v_position -> 'names') AS n LOOP
                v_names := v_names || jsonb_build_object(v_name, coalesce(v_names -> v_name, '[]') || to_jsonb(v_number));
                v_want := v_want || to_jsonb(v_name);
            END LOOP;
        END LOOP;
        v_states := v_states || jsonb_build_object('n', v_names, 'w', v_wild, 'want', v_want,
            'end', CASE s WHEN 0 THEN v_model -> 'null' ELSE to_jsonb(v_model -> 'last' @> to_jsonb(s)) END);
    END LOOP;
    RETURN jsonb_build_object('states', v_states, 'pos', v_positions);
END;
$$;
