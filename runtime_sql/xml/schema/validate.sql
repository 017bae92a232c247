-- XML Schema: validation of a body in one pass over its tags, without recursion, so that depth
-- costs memory and nothing else.

-- 'name' or '{uri}name' of the element that piece p_at opens, or of a name used in it.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_expanded(
    p_name text, p_attribute boolean, p_at integer, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_colon integer := strpos(p_name, ':');
BEGIN
    IF v_colon = 0 AND (p_attribute OR p_decls = '{}') THEN
        RETURN '{}' || p_name;
    END IF;
    RETURN '{' || ssb_internal.xml_uri(left(p_name, greatest(v_colon - 1, 0)), p_at, p_toks, p_opens, p_decls) || '}' || substr(p_name, v_colon + 1);
END;
$$;

-- Does a wildcard admit a name?
CREATE OR REPLACE FUNCTION ssb_internal.xsd_admits(p_wildcard jsonb, p_name text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_uri text := substr(split_part(p_name, '}', 1), 2);
BEGIN
    RETURN CASE p_wildcard ->> 'ns' WHEN 'any' THEN true
                WHEN 'other' THEN v_uri <> '' AND v_uri <> p_wildcard ->> 'tns'
                ELSE p_wildcard -> 'ns' ? v_uri END;
END;
$$;

-- From a set of states [[position, times], …] over one element name: the states after it ('[]':
-- not allowed here) and the particle that matched.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_advance(p_model jsonb, p_states jsonb, p_name text, OUT states jsonb, OUT particle jsonb)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer;
    v_times integer;
    v_state jsonb;
    v_here jsonb;
    v_number jsonb;
    v_candidate jsonb;
BEGIN
    states := '[]';
    FOR s IN 0 .. jsonb_array_length(p_states) - 1 LOOP
        v_at := (p_states -> s -> 0)::integer;
        v_times := (p_states -> s -> 1)::integer;
        v_state := p_model -> 'states' -> v_at;
        v_here := CASE WHEN v_at > 0 THEN p_model -> 'pos' -> (v_at - 1) END;
        -- once more the same particle
        IF v_at > 0 AND (NOT v_here ? 'max' OR v_times < (v_here ->> 'max')::integer) THEN
            IF (CASE WHEN v_here ? 'w' THEN ssb_internal.xsd_admits(v_here -> 'w', p_name) ELSE v_here -> 'names' ? p_name END) THEN
                states := states || jsonb_build_array(jsonb_build_array(v_at,
                    CASE WHEN v_here ? 'max' THEN v_times + 1 ELSE least(v_times + 1, coalesce((v_here ->> 'min')::integer, 1)) END));
                particle := coalesce(particle, v_here);
            END IF;
        END IF;
        -- on to another one
        IF v_at = 0 OR v_times >= coalesce((v_here ->> 'min')::integer, 1) THEN
            FOR v_number IN SELECT n FROM jsonb_array_elements(coalesce(v_state -> 'n' -> p_name, '[]')) AS n LOOP
                states := states || jsonb_build_array(jsonb_build_array(v_number, 1));
                v_candidate := p_model -> 'pos' -> (v_number::integer - 1);
                particle := CASE WHEN particle IS NULL OR particle ? 'w' THEN v_candidate ELSE particle END;
            END LOOP;
            FOR v_number IN SELECT w FROM jsonb_array_elements(v_state -> 'w') AS w LOOP
                v_candidate := p_model -> 'pos' -> (v_number::integer - 1);
                IF ssb_internal.xsd_admits(v_candidate -> 'w', p_name) THEN
                    states := states || jsonb_build_array(jsonb_build_array(v_number, 1));
                    particle := coalesce(particle, v_candidate);
                END IF;
            END LOOP;
        END IF;
    END LOOP;
    -- Particles that match the same name lead to one state by several ways.
    IF jsonb_array_length(states) > 1 THEN
        states := (SELECT jsonb_agg(DISTINCT s) FROM jsonb_array_elements(states) AS s);
    END IF;
END;
$$;

-- May the content end in these states?
CREATE OR REPLACE FUNCTION ssb_internal.xsd_complete(p_model jsonb, p_states jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer;
BEGIN
    FOR s IN 0 .. jsonb_array_length(p_states) - 1 LOOP
        v_at := (p_states -> s -> 0)::integer;
        IF (p_model -> 'states' -> v_at -> 'end')::boolean
           AND (v_at = 0 OR (p_states -> s -> 1)::integer >= coalesce((p_model -> 'pos' -> (v_at - 1) ->> 'min')::integer, 1)) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END;
$$;

-- What could stand next, for messages: 'a','{urn:x}b'; '' for nothing.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_expected(p_model jsonb, p_states jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer;
    v_here jsonb;
    v_name text;
    v_names text[] := '{}';
BEGIN
    FOR s IN 0 .. jsonb_array_length(p_states) - 1 LOOP
        v_at := (p_states -> s -> 0)::integer;
        v_here := CASE WHEN v_at > 0 THEN p_model -> 'pos' -> (v_at - 1) END;
        IF v_here ? 'n' AND (NOT v_here ? 'max' OR (p_states -> s -> 1)::integer < (v_here ->> 'max')::integer) THEN
            v_names := v_names || (v_here ->> 'n');
        END IF;
        IF v_at = 0 OR (p_states -> s -> 1)::integer >= coalesce((v_here ->> 'min')::integer, 1) THEN
            FOR v_name IN SELECT w FROM jsonb_array_elements_text(p_model -> 'states' -> v_at -> 'want') AS w LOOP
                v_names := v_names || v_name;
            END LOOP;
        END IF;
    END LOOP;
    RETURN (SELECT coalesce(string_agg(DISTINCT '''' || ssb_internal.xsd_shown(n) || '''' COLLATE "C", ','), '') FROM unnest(v_names) AS n);
END;
$$;

-- Is type p_key the type p_base or derived from it?
CREATE OR REPLACE FUNCTION ssb_internal.xsd_derives(p_types jsonb, p_key text, p_base text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key text := p_key;
BEGIN
    IF p_base = 'xs:anyType' THEN
        RETURN true;
    END IF;
    WHILE v_key IS NOT NULL LOOP
        IF v_key = p_base OR p_base = 'xs:anySimpleType' AND ssb_internal.xsd_type(p_types, v_key) ->> 'k' = 's' THEN
            RETURN true;
        END IF;
        v_key := CASE WHEN left(v_key, 3) = 'xs:' THEN ssb_internal.xsd_builtin_base(substr(v_key, 4)) ELSE p_types -> v_key ->> 'b' END;
    END LOOP;
    RETURN false;
END;
$$;

-- The built-in type that a built-in type is derived from.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_builtin_base(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT 'xs:' || CASE p_name
        WHEN 'normalizedString' THEN 'string' WHEN 'token' THEN 'normalizedString' WHEN 'language' THEN 'token'
        WHEN 'Name' THEN 'token' WHEN 'NMTOKEN' THEN 'token' WHEN 'NCName' THEN 'Name' WHEN 'ID' THEN 'NCName'
        WHEN 'IDREF' THEN 'NCName' WHEN 'ENTITY' THEN 'NCName' WHEN 'integer' THEN 'decimal'
        WHEN 'nonPositiveInteger' THEN 'integer' WHEN 'negativeInteger' THEN 'nonPositiveInteger'
        WHEN 'long' THEN 'integer' WHEN 'int' THEN 'long' WHEN 'short' THEN 'int' WHEN 'byte' THEN 'short'
        WHEN 'nonNegativeInteger' THEN 'integer' WHEN 'unsignedLong' THEN 'nonNegativeInteger'
        WHEN 'unsignedInt' THEN 'unsignedLong' WHEN 'unsignedShort' THEN 'unsignedInt'
        WHEN 'unsignedByte' THEN 'unsignedShort' WHEN 'positiveInteger' THEN 'nonNegativeInteger' END;
END;

-- The attributes of the element that piece p_at opens against its type. fault without its place;
-- node is the attribute at fault; ids and references are values of types ID and IDREF(S).
CREATE OR REPLACE FUNCTION ssb_internal.xsd_check_element_attributes(
    p_compiled jsonb, p_type jsonb, p_at integer, p_toks text[], p_opens integer[], p_decls integer[],
    OUT fault text, OUT node bigint, OUT ids text[], OUT refs text[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_attribute bigint;
    v_written text;
    v_name text;
    v_value text;
    v_declaration jsonb;
    v_type jsonb;
    v_seen text[] := '{}';
    v_required text;
BEGIN
    ids := '{}';
    refs := '{}';
    IF strpos(split_part(p_toks[p_at], '>', 1), '"') > 0 THEN
        FOREACH v_attribute IN ARRAY ssb_internal.xq_attributes(p_at::bigint * 2, NULL, NULL, p_toks, p_opens, p_decls) LOOP
            v_written := split_part(substr(p_toks[p_at], (v_attribute >> 32)::integer + 1), '=', 1);
            v_name := ssb_internal.xsd_expanded(v_written, true, p_at, p_toks, p_opens, p_decls);
            CONTINUE WHEN v_name LIKE '{http://www.w3.org/2001/XMLSchema-instance}%';
            v_value := ssb_internal.xml_unescape(split_part(substr(p_toks[p_at], (v_attribute >> 32)::integer), '"', 2));
            node := v_attribute;
            v_declaration := p_type -> 'attrs' -> v_name;
            IF v_declaration ->> 'use' = 'prohibited' THEN
                v_declaration := NULL;
            END IF;
            IF v_declaration IS NULL THEN
                IF p_type ? 'any' THEN
                    v_declaration := p_compiled -> 'attributes' -> v_name;
                    CONTINUE WHEN v_declaration IS NULL;
                ELSIF p_type ? 'anyattr' AND ssb_internal.xsd_admits(p_type -> 'anyattr', v_name) THEN
                    CONTINUE WHEN p_type -> 'anyattr' ->> 'how' = 'skip';
                    v_declaration := p_compiled -> 'attributes' -> v_name;
                    CONTINUE WHEN v_declaration IS NULL AND p_type -> 'anyattr' ->> 'how' = 'lax';
                END IF;
                IF v_declaration IS NULL THEN
                    fault := format('Attribute ''%s'' is not permitted in this context.', ssb_internal.xsd_shown(v_name));
                    RETURN;
                END IF;
            END IF;
            v_seen := v_seen || v_name;
            v_type := ssb_internal.xsd_type(p_compiled, v_declaration ->> 't');
            IF ssb_internal.xsd_value_fault(p_compiled -> 'types', v_type, v_value) IS NOT NULL THEN
                fault := format('Invalid simple type value: ''%s''.', v_value);
                RETURN;
            ELSIF v_declaration ? 'fixed' AND NOT ssb_internal.xsd_is_same(v_type, v_value, v_declaration ->> 'fixed') THEN
                fault := format('Element or attribute ''%s'' was defined as fixed, the element value has to be equal to value of ''fixed'''
                                ' attribute specified in definition.', ssb_internal.xsd_shown(v_name));
                RETURN;
            END IF;
            IF v_type ->> 'p' = 'ID' THEN
                ids := ids || ssb_internal.xsd_collapse(v_value, 'collapse');
            ELSIF v_type ->> 'p' = 'IDREF' OR v_type ->> 'list' = 'xs:IDREF' THEN
                refs := refs || string_to_array(ssb_internal.xsd_collapse(v_value, 'collapse'), ' ');
            END IF;
        END LOOP;
    END IF;
    node := p_at::bigint * 2;
    SELECT a.key INTO v_required FROM jsonb_each(p_type -> 'attrs') AS a
     WHERE a.value ->> 'use' = 'required' AND NOT a.key = ANY (v_seen) ORDER BY a.key LIMIT 1;
    IF FOUND THEN
        fault := format('Required attribute ''%s'' is missing.', ssb_internal.xsd_shown(v_required));
    ELSIF cardinality(ids) > 1 THEN
        fault := 'Multiple ID attributes found on a single element.';
    END IF;
END;
$$;

-- NULL for a valid body, else what SQL Server would say, its place included. A body may have
-- several roots, each of which must be declared.
CREATE OR REPLACE FUNCTION ssb_internal.xml_schema_validate(compiled jsonb, body text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_xsi CONSTANT text := 'http://www.w3.org/2001/XMLSchema-instance';
    v_text text := replace(replace(ltrim($2, E'\uFEFF'), E'\r\n', E'\n'), E'\r', E'\n');
    v_read record;
    v_types jsonb := $1 -> 'types';
    v_toks text[];
    v_ends integer[];
    v_opens integer[];
    v_decls integer[];
    v_tok text;
    v_at integer := 1;                  -- the piece in hand
    v_depth integer := 0;
    -- of each open element: its piece, declaration, type, state, and character data so far
    v_pieces integer[] := '{}';
    v_declarations jsonb[] := '{}';
    v_open jsonb[] := '{}';
    v_states jsonb[] := '{}';
    v_values text[] := '{}';
    v_nil boolean[] := '{}';
    v_skip integer := 0;                -- beyond this piece a subtree that is not validated ends
    v_name text;
    v_tail text;
    v_position jsonb;
    v_next jsonb;
    v_declaration jsonb;
    v_key text;
    v_type jsonb;
    v_how text;
    v_checked record;
    v_ids text[] := '{}';
    v_id_places bigint[] := '{}';
    v_refs text[] := '{}';
    v_fault text;
    v_place bigint;
    v_value text;
    v_repeated record;
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT r.tokens, r.error, r.place INTO v_read FROM ssb_internal.xml_read(v_text) AS r;
    IF v_read.error IS NOT NULL THEN
        RETURN ssb_internal.xml_parsing_message(v_text, v_read.place, ssb_internal.xml_parsing_error(v_read.error));
    END IF;
    SELECT i.toks, i.ends, i.opens, i.decls INTO v_toks, v_ends, v_opens, v_decls
      FROM ssb_internal.xml_index(array_to_string(v_read.tokens, '<')) AS i;

    FOR v_at IN 1 .. cardinality(v_toks) LOOP
        v_tok := v_toks[v_at];
        v_place := v_at::bigint * 2;
        IF v_at <= v_skip THEN
            CONTINUE WHEN v_at < v_skip;
            v_skip := 0;
        ELSIF v_at > 1 AND v_tok NOT LIKE '!%' AND v_tok NOT LIKE '?%' AND v_tok NOT LIKE '/%' THEN
            -- ── a start tag ──────────────────────────────────────────────────────────────────
            v_name := ssb_internal.xsd_expanded(split_part(split_part(split_part(v_tok, '>', 1), ' ', 1), '/', 1), false, v_at,
                                                v_toks, v_opens, v_decls);
            v_declaration := NULL;
            v_how := 'strict';
            IF v_depth = 0 THEN
                v_declaration := $1 -> 'elements' -> v_name;
            ELSE
                v_type := v_open[v_depth];
                IF v_nil[v_depth] THEN
                    v_fault := format('Element ''%s'' must not have character or element children, because xsi:nil was set to true.',
                                      ssb_internal.xsd_shown(v_name));
                    EXIT;
                ELSIF v_type ->> 'k' = 's' OR v_type ? 'simple' THEN
                    v_fault := format('Element ''%s'' found in text only content model.', ssb_internal.xsd_shown(v_name));
                    EXIT;
                ELSIF v_type ? 'any' THEN
                    v_how := 'lax';
                    v_declaration := $1 -> 'elements' -> v_name;
                ELSIF v_type -> 'm' ? 'all' THEN
                    v_position := v_type -> 'm' -> 'all' -> v_name;
                    IF v_position IS NULL THEN
                        v_fault := format('Invalid content. Expected element(s): %s. Found: element ''%s'' instead.',
                            (SELECT string_agg('''' || ssb_internal.xsd_shown(k) || '''', ',' ORDER BY k) FROM jsonb_object_keys(v_type -> 'm' -> 'all') AS k
                              WHERE NOT v_states[v_depth] ? k), ssb_internal.xsd_shown(v_name));
                        EXIT;
                    ELSIF v_states[v_depth] ? (v_position ->> 'as') THEN
                        v_fault := format('Found duplicate element ''%s'' in all content model.', ssb_internal.xsd_shown(v_name));
                        EXIT;
                    END IF;
                    v_states[v_depth] := v_states[v_depth] || jsonb_build_object(v_position ->> 'as', true);
                    v_declaration := coalesce(v_position -> 'd', $1 -> 'elements' -> v_name);
                ELSE
                    SELECT a.states, a.particle INTO v_next, v_position FROM ssb_internal.xsd_advance(v_type -> 'm', v_states[v_depth], v_name) AS a;
                    IF v_next = '[]' THEN
                        v_tail := ssb_internal.xsd_expected(v_type -> 'm', v_states[v_depth]);
                        v_fault := CASE v_tail WHEN '' THEN format('Unexpected element(s): %s.', ssb_internal.xsd_shown(v_name))
                            ELSE format('Invalid content. Expected element(s): %s. Found: element ''%s'' instead.', v_tail, ssb_internal.xsd_shown(v_name)) END;
                        EXIT;
                    END IF;
                    v_states[v_depth] := v_next;
                    IF v_position ? 'w' THEN
                        v_how := v_position -> 'w' ->> 'how';
                        v_declaration := $1 -> 'elements' -> v_name;
                    ELSE
                        v_declaration := coalesce(v_position -> 'd', $1 -> 'elements' -> v_name);
                    END IF;
                END IF;
            END IF;

            IF v_how = 'skip' THEN
                v_skip := v_ends[v_at];
                CONTINUE WHEN v_skip > v_at;
                v_skip := 0;
            ELSE
                v_value := ssb_internal.xsd_attribute_value(v_at, c_xsi, 'type', v_toks, v_opens, v_decls);
                IF v_declaration IS NULL AND v_how = 'strict' AND v_value IS NULL THEN
                    v_fault := format('Declaration not found for element ''%s''.', ssb_internal.xsd_shown(v_name));
                    EXIT;
                END IF;
                v_declaration := coalesce(v_declaration, '{"t": "xs:anyType"}');
                v_key := v_declaration ->> 't';
                IF v_value IS NOT NULL THEN
                    v_key := ssb_internal.xsd_expanded(btrim(v_value, E' \t\n'), false, v_at, v_toks, v_opens, v_decls);
                    v_key := regexp_replace(v_key, '^\{http://www\.w3\.org/2001/XMLSchema\}', 'xs:');
                    IF ssb_internal.xsd_type($1, v_key) IS NULL THEN
                        v_fault := format('Type definition for type ''%s'' was not found, type definition is required before use in a type cast.',
                                          ssb_internal.xsd_shown(v_key));
                        EXIT;
                    ELSIF NOT ssb_internal.xsd_derives(v_types, v_key, v_declaration ->> 't') THEN
                        v_fault := format('Invalid cast for element ''%s'' from type ''%s'' to type ''%s''.', ssb_internal.xsd_shown(v_name),
                                          ssb_internal.xsd_shown(v_declaration ->> 't'), ssb_internal.xsd_shown(v_key));
                        EXIT;
                    END IF;
                ELSIF v_declaration ? 'abstract' THEN
                    v_fault := format('Element ''%s'' requires substitution, because it was defined as abstract.', ssb_internal.xsd_shown(v_name));
                    EXIT;
                END IF;
                v_type := ssb_internal.xsd_type($1, v_key);
                IF v_type ? 'abstract' THEN
                    v_fault := format('The type of element ''%s'' is abstract. Instantiation requires the use of xsi:type to specify a'
                                      ' non-abstract type.', ssb_internal.xsd_shown(v_name));
                    EXIT;
                END IF;
                SELECT c.* INTO v_checked FROM ssb_internal.xsd_check_element_attributes($1, v_type, v_at, v_toks, v_opens, v_decls) AS c;
                IF v_checked.fault IS NOT NULL THEN
                    v_fault := v_checked.fault;
                    v_place := v_checked.node;
                    EXIT;
                END IF;
                IF v_checked.ids <> '{}' THEN
                    v_ids := v_ids || v_checked.ids[1];         -- an element has at most one
                    v_id_places := v_id_places || v_place;
                END IF;
                FOREACH v_value IN ARRAY v_checked.refs LOOP
                    v_refs := v_refs || v_value;
                END LOOP;
                v_value := ssb_internal.xsd_attribute_value(v_at, c_xsi, 'nil', v_toks, v_opens, v_decls);
                IF v_value IN ('true', '1') AND NOT v_declaration ? 'nillable' AND v_how = 'strict' THEN
                    v_fault := format('Element ''%s'' may not have xsi:nil="true" because it was not defined as nillable or because it has a'
                                      ' fixed value constraint.', ssb_internal.xsd_shown(v_name));
                    EXIT;
                END IF;
                v_depth := v_depth + 1;
                v_pieces[v_depth] := v_at;
                v_declarations[v_depth] := v_declaration;
                v_open[v_depth] := v_type;
                v_states[v_depth] := CASE WHEN v_type -> 'm' ? 'all' THEN '{}'::jsonb ELSE '[[0, 0]]' END;
                v_values[v_depth] := '';
                v_nil[v_depth] := coalesce(v_value IN ('true', '1'), false);
            END IF;
        END IF;

        -- ── an end: of a start tag that is its own end, or an end tag ────────────────────────
        IF v_depth > 0 AND v_ends[v_pieces[v_depth]] = v_at THEN
            v_type := v_open[v_depth];
            v_declaration := v_declarations[v_depth];
            v_place := v_pieces[v_depth]::bigint * 2;
            IF v_nil[v_depth] THEN
                NULL;
            ELSIF v_type ->> 'k' = 's' OR v_type ? 'simple' THEN
                v_value := ssb_internal.xml_unescape(v_values[v_depth]);
                IF v_value = '' AND (v_declaration ? 'default' OR v_declaration ? 'fixed') THEN
                    v_value := coalesce(v_declaration ->> 'default', v_declaration ->> 'fixed');
                END IF;
                v_type := CASE WHEN v_type ? 'simple' THEN ssb_internal.xsd_type($1, v_type ->> 'simple') ELSE v_type END;
                IF ssb_internal.xsd_value_fault(v_types, v_type, v_value) IS NOT NULL THEN
                    v_fault := format('Invalid simple type value: ''%s''.', v_value);
                    EXIT;
                ELSIF v_declaration ? 'fixed' AND NOT ssb_internal.xsd_is_same(v_type, v_value, v_declaration ->> 'fixed') THEN
                    v_fault := format('Element or attribute ''%s'' was defined as fixed, the element value has to be equal to value of ''fixed'''
                        ' attribute specified in definition.',
                        split_part(split_part(split_part(v_toks[v_pieces[v_depth]], '>', 1), ' ', 1), '/', 1));
                    EXIT;
                END IF;
            ELSIF v_type -> 'm' ? 'all' THEN
                SELECT string_agg('''' || ssb_internal.xsd_shown(a.key) || '''', ',' ORDER BY a.key) INTO v_tail
                  FROM jsonb_each(v_type -> 'm' -> 'all') AS a
                 WHERE a.value -> 'min' = '1' AND a.key = a.value ->> 'as' AND NOT v_states[v_depth] ? a.key;
                IF v_tail IS NOT NULL AND NOT (v_type -> 'm' -> 'min' = '0' AND v_states[v_depth] = '{}') THEN
                    v_fault := format('Invalid content. Expected element(s): %s.', v_tail);
                    EXIT;
                END IF;
            ELSIF v_type ? 'm' AND NOT ssb_internal.xsd_complete(v_type -> 'm', v_states[v_depth]) THEN
                v_fault := format('Invalid content. Expected element(s): %s.', ssb_internal.xsd_expected(v_type -> 'm', v_states[v_depth]));
                EXIT;
            END IF;
            v_depth := v_depth - 1;
        END IF;

        -- ── character data behind the tag ────────────────────────────────────────────────────
        v_tail := ssb_internal.xml_tail(v_tok, v_at);
        IF v_tail <> '' THEN
            v_place := v_at::bigint * 2;
            IF v_depth = 0 THEN
                IF v_tail ~ '[^ \t\n]' THEN
                    v_place := 2;
                    v_fault := 'Text node is not allowed at this location, the type was defined with element only content or with simple content.';
                    EXIT;
                END IF;
            ELSE
                v_type := v_open[v_depth];
                v_place := v_pieces[v_depth]::bigint * 2;
                IF v_nil[v_depth] THEN
                    v_fault := format('Element ''%s'' must not have character or element children, because xsi:nil was set to true.',
                        split_part(split_part(split_part(v_toks[v_pieces[v_depth]], '>', 1), ' ', 1), '/', 1));
                    EXIT;
                ELSIF v_type ->> 'k' = 's' OR v_type ? 'simple' THEN
                    v_values[v_depth] := v_values[v_depth] || v_tail;
                ELSIF NOT coalesce((v_type -> 'mixed')::boolean, false) AND ssb_internal.xml_unescape(v_tail) ~ '[^ \t\n]' THEN
                    v_fault := 'Text node is not allowed at this location, the type was defined with element only content or with simple content.';
                    EXIT;
                END IF;
            END IF;
        END IF;
    END LOOP;

    -- An ID that stands twice was read before whatever else is at fault.
    IF cardinality(v_ids) > 1 THEN
        SELECT r.id, r.place INTO v_repeated
          FROM (SELECT u.id, u.place, u.n, row_number() OVER (PARTITION BY u.id ORDER BY u.n) AS time
                  FROM unnest(v_ids, v_id_places) WITH ORDINALITY AS u(id, place, n)) AS r
         WHERE r.time = 2 ORDER BY r.n LIMIT 1;
        IF FOUND THEN
            v_fault := format('ID constraint check failed. Found attribute named ''%s'' with duplicate ID value ''%s''.', 'ID', v_repeated.id);
            v_place := v_repeated.place;
        END IF;
    END IF;
    IF v_fault IS NULL THEN
        SELECT format('XML Validation: IDREF constraint check failed. Found attribute named ''%s'' with reference to ID value ''%s'','
                      ' which does not exist', 'IDREF', r.value)
          INTO v_fault
          FROM unnest(v_refs) WITH ORDINALITY AS r(value, n)
         WHERE r.value NOT IN (SELECT unnest(v_ids)) ORDER BY r.n LIMIT 1;
        RETURN v_fault;
    END IF;
    RETURN 'XML Validation: ' || v_fault || ' Location: ' || ssb_internal.xml_location(v_place, v_toks, v_ends, v_opens);
END;
$$;

-- The value of one attribute of the element that piece p_at opens; NULL if it has none.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_attribute_value(
    p_at integer, p_uri text, p_name text, p_toks text[], p_opens integer[], p_decls integer[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_node bigint;
BEGIN
    IF p_decls = '{}' OR strpos(p_toks[p_at], ':' || p_name || '="') = 0 THEN
        RETURN NULL;
    END IF;
    v_node := (ssb_internal.xq_attributes(p_at::bigint * 2, p_name, p_uri, p_toks, p_opens, p_decls))[1];
    RETURN ssb_internal.xml_unescape(split_part(substr(p_toks[p_at], (v_node >> 32)::integer), '"', 2));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xml_schema_validate(compiled jsonb, body bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_decoded record;
BEGIN
    SELECT d.value, d.error, d.place INTO v_decoded FROM ssb_internal.xml_decode($2) AS d;
    IF v_decoded.error IS NOT NULL THEN
        RETURN ssb_internal.xml_parsing_message(encode(substring($2 from 1 for 200), 'escape'), v_decoded.place,
                                                ssb_internal.xml_parsing_error(v_decoded.error));
    END IF;
    RETURN ssb_internal.xml_schema_validate($1, v_decoded.value);
END;
$$;

