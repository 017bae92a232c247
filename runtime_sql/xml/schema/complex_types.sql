-- XML Schema: elements, attributes, complex types, groups.
--
-- The compilation travels as one jsonb, p_state: "g" the global components as they stand in the
-- documents ("type", "element", "attribute", "group", "attributeGroup": '{uri}name' → {"node",
-- "in"}), and what is compiled: "types", "elements", "attributes". p_in is the setting of the
-- document around a node: {"tns", "efd", "afd"} (target namespace, qualified elements, attributes).

-- A type by its key: 'xs:name' built in, '{uri}name' global, '#n' anonymous.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_type(p_state jsonb, p_key text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_key = 'xs:anyType' THEN
        RETURN '{"k": "c", "any": true, "mixed": true}';
    ELSIF left(p_key, 3) = 'xs:' THEN
        RETURN ssb_internal.xsd_builtin(substr(p_key, 4));
    END IF;
    -- a compilation, or its types alone
    RETURN coalesce(p_state -> 'types', p_state) -> p_key;
END;
$$;

-- A global component: {"node", "in"}; NULL for none. Its node is kept as text, which is copied as it
-- is with each change of the state, where jsonb would be taken apart and put together again.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_global(p_state jsonb, p_kind text, p_name text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_entry jsonb := p_state #> ARRAY['g', p_kind, p_name];
BEGIN
    RETURN v_entry || jsonb_build_object('node', (v_entry ->> 'node')::jsonb);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xsd_add_type(p_state jsonb, p_type jsonb, OUT state jsonb, OUT key text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    key := '#' || coalesce((p_state ->> 'count')::integer, 0) + 1;
    state := p_state || jsonb_build_object('count', substr(key, 2)::integer,
                                           'types', (p_state -> 'types') || jsonb_build_object(key, p_type));
END;
$$;

-- The key of the type that a QName in p_node names. p_now: it is needed complete (as a base).
CREATE OR REPLACE FUNCTION ssb_internal.xsd_type_key(
    p_state jsonb, p_node jsonb, p_value text, p_now boolean, OUT state jsonb, OUT key text)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_local text;
BEGIN
    state := p_state;
    key := ssb_internal.xsd_name(p_node, p_value);
    IF key LIKE '{http://www.w3.org/2001/XMLSchema}%' AND state #> ARRAY['g', 'type', key] IS NULL THEN
        v_local := split_part(key, '}', 2);
        IF v_local = 'NOTATION' THEN
            PERFORM ssb_internal.xsd_error(9337, 'The XML Schema type ''NOTATION'' is not supported.');
        ELSIF v_local <> 'anyType' AND ssb_internal.xsd_builtin(v_local) IS NULL THEN
            PERFORM ssb_internal.xsd_error(2308, format('Reference to an undefined name ''%s'' within namespace ''%s''', v_local,
                                                        'http://www.w3.org/2001/XMLSchema'));
        END IF;
        key := 'xs:' || v_local;
    ELSIF state #> ARRAY['g', 'type', key] IS NULL THEN
        PERFORM ssb_internal.xsd_undefined(key);
    ELSIF p_now THEN
        state := ssb_internal.xsd_global_type(state, key);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xsd_undefined(p_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_name LIKE '{}%' THEN
        PERFORM ssb_internal.xsd_error(2307, format('Reference to an undefined name ''%s''', substr(p_name, 3)));
    END IF;
    PERFORM ssb_internal.xsd_error(2308, format('Reference to an undefined name ''%s'' within namespace ''%s''',
                                                split_part(p_name, '}', 2), substr(split_part(p_name, '}', 1), 2)));
END;
$$;

-- A global type, compiled once.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_global_type(p_state jsonb, p_key text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_state jsonb := p_state;
    v_entry jsonb := ssb_internal.xsd_global(p_state, 'type', p_key);
    v_type jsonb;
BEGIN
    IF v_state -> 'types' ? p_key THEN
        RETURN v_state;
    ELSIF v_state -> 'busy' ? p_key THEN
        PERFORM ssb_internal.xsd_error(6953, format('Invalid type definition for type ''%s'', recursive type definitions are not allowed',
                                                    ssb_internal.xsd_shown(p_key)));
    END IF;
    v_state := jsonb_set(v_state, ARRAY['busy', p_key], 'true');
    IF v_entry -> 'node' ->> 'n' = 'simpleType' THEN
        SELECT s.state, s.type INTO v_state, v_type FROM ssb_internal.xsd_simple_type(v_state, v_entry -> 'node') AS s;
    ELSE
        SELECT c.state, c.type INTO v_state, v_type FROM ssb_internal.xsd_complex_type(v_state, v_entry -> 'in', v_entry -> 'node') AS c;
    END IF;
    -- (busy it stays: what is compiled is not looked for there)
    RETURN jsonb_set(v_state, ARRAY['types', p_key], v_type);
END;
$$;

-- The default or fixed value of a declaration has to be one of its type; p_state has all types.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_check_constraint(p_state jsonb, p_declaration jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kind text := CASE WHEN p_declaration ? 'default' THEN 'default' WHEN p_declaration ? 'fixed' THEN 'fixed' END;
    v_value text := p_declaration ->> v_kind;
    v_type jsonb;
BEGIN
    IF v_kind IS NULL THEN
        RETURN;
    END IF;
    v_type := ssb_internal.xsd_type(p_state, p_declaration ->> 't');
    IF v_type ? 'simple' THEN
        v_type := ssb_internal.xsd_type(p_state, v_type ->> 'simple');
    END IF;
    IF v_type ->> 'k' = 's' THEN
        IF ssb_internal.xsd_value_fault(p_state -> 'types', v_type, v_value) IS NOT NULL THEN
            PERFORM ssb_internal.xsd_error(2313, format('The attribute "%s" cannot have a value of "%s".', v_kind, v_value));
        END IF;
    ELSIF NOT coalesce((v_type -> 'mixed')::boolean, false) THEN
        PERFORM ssb_internal.xsd_error(6962, format('''default'' and ''fixed'' values are not allowed on element of this type: ''%s''',
                                                    ssb_internal.xsd_shown(regexp_replace(p_declaration ->> 't', '^#[0-9]+$', '(anonymous)'))));
    END IF;
END;
$$;

-- An element declaration: {"t": type key, "nillable", "fixed", "abstract"}; without a type that of
-- the head of its substitution group, else anything.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_element(p_state jsonb, p_in jsonb, p_node jsonb, OUT state jsonb, OUT declaration jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_child jsonb;
    v_type jsonb;
    v_key text;
    v_head text;
    v_name text := p_node -> 'a' ->> 'name';
BEGIN
    state := p_state;
    PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['name', 'type', 'ref', 'minOccurs', 'maxOccurs', 'nillable', 'default', 'fixed',
                                                            'form', 'abstract', 'substitutionGroup', 'final', 'block']);
    IF v_name IS NULL OR v_name !~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$' THEN
        PERFORM ssb_internal.xsd_error(2379, format('The name specified is not a valid XML name :''%s''', coalesce(v_name, '')));
    END IF;
    FOR v_child IN SELECT c FROM ssb_internal.xsd_children(p_node) AS c LOOP
        IF v_child ->> 'n' IN ('key', 'keyref', 'unique') THEN
            PERFORM ssb_internal.xsd_refuse(v_child, v_child ->> 'n');
        ELSIF v_child ->> 'n' NOT IN ('simpleType', 'complexType') THEN
            PERFORM ssb_internal.xsd_error(2297, format('Element <%s> is not valid at location ''%s''.', v_child ->> 'n', v_child ->> 'at'));
        ELSIF v_key IS NOT NULL OR p_node -> 'a' ? 'type' THEN
            PERFORM ssb_internal.xsd_error(2305, format('Element or attribute type specified more than once. Location: ''%s''.', p_node ->> 'at'));
        ELSIF v_child ->> 'n' = 'simpleType' THEN
            SELECT s.state, s.type INTO state, v_type FROM ssb_internal.xsd_simple_type(state, v_child) AS s;
            SELECT t.state, t.key INTO state, v_key FROM ssb_internal.xsd_add_type(state, v_type) AS t;
        ELSE
            SELECT s.state, s.type INTO state, v_type FROM ssb_internal.xsd_complex_type(state, p_in, v_child) AS s;
            SELECT t.state, t.key INTO state, v_key FROM ssb_internal.xsd_add_type(state, v_type) AS t;
        END IF;
    END LOOP;
    IF p_node -> 'a' ? 'type' THEN
        SELECT t.state, t.key INTO state, v_key FROM ssb_internal.xsd_type_key(state, p_node, p_node -> 'a' ->> 'type', false) AS t;
        IF v_key IN ('xs:ID', 'xs:IDREF', 'xs:IDREFS') THEN
            PERFORM ssb_internal.xsd_error(6366, format('Invalid type for element ''%s''. SQL Server does not permit the built-in XML Schema types'
                ' ''ID'' and ''IDREF'' or types derived from them to be used as the type of an element. Location: %s', v_name, p_node ->> 'at'));
        END IF;
    END IF;
    IF p_node -> 'a' ? 'substitutionGroup' THEN
        v_head := ssb_internal.xsd_name(p_node, p_node -> 'a' ->> 'substitutionGroup');
        IF state #> ARRAY['g', 'element', v_head] IS NULL THEN
            PERFORM ssb_internal.xsd_undefined(v_head);
        END IF;
        IF v_key IS NULL THEN
            state := ssb_internal.xsd_global_element(state, v_head);
            v_key := state -> 'elements' -> v_head ->> 't';
        END IF;
    END IF;
    IF p_node -> 'a' ? 'default' AND p_node -> 'a' ? 'fixed' THEN
        PERFORM ssb_internal.xsd_error(2313, format('The attribute "%s" cannot have a value of "%s".', 'fixed', p_node -> 'a' ->> 'fixed'));
    ELSIF p_node -> 'a' ->> 'nillable' IN ('true', '1') AND p_node -> 'a' ? 'fixed' THEN
        PERFORM ssb_internal.xsd_error(6997, format('Invalid definition for element ''%s''. An element which has a fixed value may not also be nillable.', v_name));
    END IF;
    declaration := jsonb_strip_nulls(jsonb_build_object(
        't', coalesce(v_key, 'xs:anyType'), 'fixed', p_node -> 'a' ->> 'fixed', 'default', p_node -> 'a' ->> 'default',
        'nillable', CASE WHEN p_node -> 'a' ->> 'nillable' IN ('true', '1') THEN true END,
        'abstract', CASE WHEN p_node -> 'a' ->> 'abstract' IN ('true', '1') THEN true END,
        'head', v_head));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xsd_global_element(p_state jsonb, p_key text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_state jsonb := p_state;
    v_entry jsonb := ssb_internal.xsd_global(p_state, 'element', p_key);
    v_declaration jsonb;
BEGIN
    IF v_state -> 'elements' ? p_key THEN
        RETURN v_state;
    ELSIF v_state -> 'busy' ? ('element ' || p_key) THEN
        PERFORM ssb_internal.xsd_error(2366, format('"%s" has a circular definition.', ssb_internal.xsd_shown(p_key)));
    END IF;
    v_state := jsonb_set(v_state, ARRAY['busy', 'element ' || p_key], 'true');
    SELECT e.state, e.declaration INTO v_state, v_declaration FROM ssb_internal.xsd_element(v_state, v_entry -> 'in', v_entry -> 'node') AS e;
    RETURN jsonb_set(v_state, ARRAY['elements', p_key], v_declaration);
END;
$$;

-- An attribute declaration: {"t": type key, "fixed"}; p_node is an attribute element with a name.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_attribute(p_state jsonb, p_node jsonb, OUT state jsonb, OUT declaration jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_child jsonb;
    v_type jsonb;
    v_key text;
BEGIN
    state := p_state;
    PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['name', 'type', 'ref', 'use', 'default', 'fixed', 'form']);
    IF p_node -> 'a' ->> 'name' IS NULL
       OR p_node -> 'a' ->> 'name' !~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$' THEN
        PERFORM ssb_internal.xsd_error(2379, format('The name specified is not a valid XML name :''%s''', coalesce(p_node -> 'a' ->> 'name', '')));
    END IF;
    SELECT c INTO v_child FROM ssb_internal.xsd_children(p_node) AS c LIMIT 1;
    IF v_child IS NOT NULL AND (v_child ->> 'n' <> 'simpleType' OR p_node -> 'a' ? 'type') THEN
        PERFORM ssb_internal.xsd_error(2305, format('Element or attribute type specified more than once. Location: ''%s''.', p_node ->> 'at'));
    ELSIF v_child IS NOT NULL THEN
        SELECT s.state, s.type INTO state, v_type FROM ssb_internal.xsd_simple_type(state, v_child) AS s;
        SELECT t.state, t.key INTO state, v_key FROM ssb_internal.xsd_add_type(state, v_type) AS t;
    ELSIF p_node -> 'a' ? 'type' THEN
        SELECT t.state, t.key INTO state, v_key FROM ssb_internal.xsd_type_key(state, p_node, p_node -> 'a' ->> 'type', true) AS t;
        IF ssb_internal.xsd_type(state, v_key) ->> 'k' <> 's' THEN
            PERFORM ssb_internal.xsd_error(6955, format('Invalid attribute definition for attribute ''%s'', attributes type has to be simple type',
                                                        p_node -> 'a' ->> 'name'));
        END IF;
    END IF;
    declaration := jsonb_strip_nulls(jsonb_build_object('t', coalesce(v_key, 'xs:anySimpleType'), 'fixed', p_node -> 'a' ->> 'fixed'));
    PERFORM ssb_internal.xsd_check_constraint(state, declaration || (p_node -> 'a'));
END;
$$;

-- The attributes that p_node (a complex type, derivation or attribute group) declares:
-- attributes {'{uri}name': {"t", "fixed", "use"}} and anything, the anyAttribute in it.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_attributes(
    p_state jsonb, p_in jsonb, p_node jsonb, OUT state jsonb, OUT attributes jsonb, OUT anything jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_child jsonb;
    v_entry jsonb;
    v_declaration jsonb;
    v_name text;
    v_more jsonb;
    v_any jsonb;
BEGIN
    state := p_state;
    attributes := '{}';
    FOR v_child IN SELECT c FROM ssb_internal.xsd_children(p_node) AS c LOOP
        CASE v_child ->> 'n'
        WHEN 'attribute' THEN
            IF v_child -> 'a' ? 'ref' THEN
                IF v_child -> 'a' ? 'name' THEN
                    PERFORM ssb_internal.xsd_error(2360, format('Cannot have both a ''name'' and ''ref'' attribute. Location: ''%s''.', v_child ->> 'at'));
                END IF;
                v_name := ssb_internal.xsd_name(v_child, v_child -> 'a' ->> 'ref');
                IF v_name LIKE '{http://www.w3.org/XML/1998/namespace}%' THEN
                    v_declaration := jsonb_build_object('t', CASE split_part(v_name, '}', 2) WHEN 'lang' THEN 'xs:language'
                        WHEN 'space' THEN 'xs:NCName' ELSE 'xs:anyURI' END);
                ELSIF state #> ARRAY['g', 'attribute', v_name] IS NULL THEN
                    PERFORM ssb_internal.xsd_undefined(v_name);
                ELSE
                    SELECT a.state, a.declaration INTO state, v_declaration
                      FROM ssb_internal.xsd_attribute(state, ssb_internal.xsd_global(state, 'attribute', v_name) -> 'node') AS a;
                END IF;
                IF v_child -> 'a' ? 'fixed' THEN
                    v_declaration := v_declaration || jsonb_build_object('fixed', v_child -> 'a' ->> 'fixed');
                END IF;
            ELSE
                SELECT a.state, a.declaration INTO state, v_declaration FROM ssb_internal.xsd_attribute(state, v_child) AS a;
                v_name := '{' || CASE WHEN coalesce(v_child -> 'a' ->> 'form', CASE WHEN (p_in -> 'afd')::boolean THEN 'qualified' END)
                                           = 'qualified' THEN p_in ->> 'tns' ELSE '' END
                          || '}' || (v_child -> 'a' ->> 'name');
            END IF;
            IF v_child -> 'a' ->> 'use' NOT IN ('optional', 'required', 'prohibited') THEN
                PERFORM ssb_internal.xsd_error(2313, format('The attribute "use" cannot have a value of "%s".', v_child -> 'a' ->> 'use'));
            ELSIF attributes ? v_name THEN
                PERFORM ssb_internal.xsd_error(2311, format('The attribute "%s" is declared more than once within "%s".', ssb_internal.xsd_shown(v_name), p_node ->> 'at'));
            END IF;
            attributes := attributes || jsonb_build_object(v_name,
                v_declaration || jsonb_build_object('use', coalesce(v_child -> 'a' ->> 'use', 'optional')));
        WHEN 'attributeGroup' THEN
            v_name := ssb_internal.xsd_name(v_child, v_child -> 'a' ->> 'ref');
            v_entry := ssb_internal.xsd_global(state, 'attributeGroup', v_name);
            IF v_entry IS NULL THEN
                PERFORM ssb_internal.xsd_undefined(v_name);
            ELSIF state -> 'busy' ? ('attributeGroup ' || v_name) THEN
                PERFORM ssb_internal.xsd_error(2366, format('"%s" has a circular definition.', ssb_internal.xsd_shown(v_name)));
            END IF;
            SELECT a.state, a.attributes, a.anything INTO state, v_more, v_any
              FROM ssb_internal.xsd_attributes(jsonb_set(state, ARRAY['busy', 'attributeGroup ' || v_name], 'true'),
                                               v_entry -> 'in', v_entry -> 'node') AS a;
            state := state #- ARRAY['busy', 'attributeGroup ' || v_name];
            attributes := attributes || v_more;
            anything := coalesce(anything, v_any);
        WHEN 'anyAttribute' THEN
            anything := ssb_internal.xsd_wildcard(v_child, p_in);
        ELSE
            NULL;           -- content, read elsewhere
        END CASE;
    END LOOP;
END;
$$;

-- xs:any and xs:anyAttribute: {"ns": ["uri", …] or "any" or "other", "tns", "how"}.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_wildcard(p_node jsonb, p_in jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_spaces text := btrim(coalesce(p_node -> 'a' ->> 'namespace', '##any'), E' \t\n');
    v_how text := coalesce(p_node -> 'a' ->> 'processContents', 'strict');
BEGIN
    PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['namespace', 'processContents', 'minOccurs', 'maxOccurs']);
    IF v_how NOT IN ('strict', 'lax', 'skip') THEN
        PERFORM ssb_internal.xsd_error(2313, format('The attribute "processContents" cannot have a value of "%s".', v_how));
    ELSIF v_spaces = '' THEN
        PERFORM ssb_internal.xsd_error(2313, 'The attribute "namespace" cannot have a value of "".');
    END IF;
    RETURN jsonb_build_object('how', v_how, 'tns', p_in ->> 'tns', 'ns', CASE v_spaces
        WHEN '##any' THEN '"any"'::jsonb
        WHEN '##other' THEN '"other"'::jsonb
        ELSE (SELECT jsonb_agg(CASE s WHEN '##local' THEN '' WHEN '##targetNamespace' THEN p_in ->> 'tns' ELSE s END)
                FROM regexp_split_to_table(v_spaces, '[ \t\n]+') AS s) END);
END;
$$;

-- A particle as a tree: {"k": "e" element | "w" wildcard | "seq" | "choice" | "all", "min", "max",
-- "c" children | "n" expanded name, "d" declaration of a local element | "w" wildcard}; max absent
-- is unbounded. NULL for one that may not occur (maxOccurs="0").
CREATE OR REPLACE FUNCTION ssb_internal.xsd_particle(p_state jsonb, p_in jsonb, p_node jsonb, OUT state jsonb, OUT tree jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kind text := p_node ->> 'n';
    v_occurs record;
    v_child jsonb;
    v_tree jsonb;
    v_children jsonb := '[]';
    v_name text;
    v_declaration jsonb;
    v_entry jsonb;
BEGIN
    state := p_state;
    SELECT o.fewest, o.most INTO v_occurs FROM ssb_internal.xsd_occurs(p_node) AS o;
    CASE v_kind
    WHEN 'element' THEN
        IF p_node -> 'a' ? 'ref' THEN
            IF p_node -> 'a' ? 'name' THEN
                PERFORM ssb_internal.xsd_error(2360, format('Cannot have both a ''name'' and ''ref'' attribute. Location: ''%s''.', p_node ->> 'at'));
            ELSIF p_node -> 'a' ? 'type' THEN
                PERFORM ssb_internal.xsd_error(2387, format('Cannot have both ''type'' and ''ref'' attributes. Location: ''%s''.', p_node ->> 'at'));
            END IF;
            v_name := ssb_internal.xsd_name(p_node, p_node -> 'a' ->> 'ref');
            IF state #> ARRAY['g', 'element', v_name] IS NULL THEN
                PERFORM ssb_internal.xsd_undefined(v_name);
            END IF;
            tree := jsonb_build_object('k', 'e', 'n', v_name);
        ELSE
            SELECT e.state, e.declaration INTO state, v_declaration FROM ssb_internal.xsd_element(state, p_in, p_node) AS e;
            v_name := '{' || CASE WHEN coalesce(p_node -> 'a' ->> 'form', CASE WHEN (p_in -> 'efd')::boolean THEN 'qualified' END)
                                       = 'qualified' THEN p_in ->> 'tns' ELSE '' END
                      || '}' || (p_node -> 'a' ->> 'name');
            tree := jsonb_build_object('k', 'e', 'n', v_name, 'd', v_declaration);
        END IF;
    WHEN 'any' THEN
        tree := jsonb_build_object('k', 'w', 'w', ssb_internal.xsd_wildcard(p_node, p_in));
    WHEN 'group' THEN
        v_name := ssb_internal.xsd_name(p_node, coalesce(p_node -> 'a' ->> 'ref', ''));
        v_entry := ssb_internal.xsd_global(state, 'group', v_name);
        IF v_entry IS NULL THEN
            PERFORM ssb_internal.xsd_undefined(v_name);
        ELSIF state -> 'busy' ? ('group ' || v_name) THEN
            PERFORM ssb_internal.xsd_error(6954, format('Invalid group definition for group ''%s'', recursive group definitions are not allowed',
                                                        ssb_internal.xsd_shown(v_name)));
        END IF;
        SELECT c INTO v_child FROM ssb_internal.xsd_children(v_entry -> 'node') AS c LIMIT 1;
        IF v_child IS NULL OR v_child ->> 'n' NOT IN ('sequence', 'choice', 'all') THEN
            PERFORM ssb_internal.xsd_error(2327, format('The content or definition of <group> is missing. Location: ''%s''.', v_entry -> 'node' ->> 'at'));
        END IF;
        SELECT t.state, t.tree INTO state, v_tree
          FROM ssb_internal.xsd_particle(jsonb_set(state, ARRAY['busy', 'group ' || v_name], 'true'), v_entry -> 'in', v_child) AS t;
        state := state #- ARRAY['busy', 'group ' || v_name];
        tree := CASE WHEN v_occurs.fewest = 1 AND v_occurs.most = 1 THEN v_tree
                     ELSE jsonb_build_object('k', 'seq', 'c', jsonb_build_array(v_tree)) END;
        IF v_occurs.fewest = 1 AND v_occurs.most = 1 THEN
            RETURN;
        END IF;
    WHEN 'sequence', 'choice', 'all' THEN
        PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['minOccurs', 'maxOccurs']);
        FOR v_child IN SELECT c FROM ssb_internal.xsd_children(p_node) AS c LOOP
            IF v_child ->> 'n' NOT IN ('element', 'any', 'group', 'sequence', 'choice')
               OR v_kind = 'all' AND v_child ->> 'n' <> 'element' THEN
                PERFORM ssb_internal.xsd_error(CASE v_child ->> 'n' WHEN 'all' THEN 6958 ELSE 2297 END, CASE v_child ->> 'n' WHEN 'all'
                    THEN format('Invalid definition for type ''%s''. An ''all'' group may not appear as the child or parent of any other model'
                                ' group, it must have minOccurs = maxOccurs = 1, its child elements must have maxOccurs = 1', v_child ->> 'at')
                    ELSE format('Element <%s> is not valid at location ''%s''.', v_child ->> 'n', v_child ->> 'at') END);
            END IF;
            SELECT t.state, t.tree INTO state, v_tree FROM ssb_internal.xsd_particle(state, p_in, v_child) AS t;
            IF v_kind = 'all' AND coalesce((v_tree ->> 'max')::integer, 2) > 1 AND v_tree IS NOT NULL THEN
                PERFORM ssb_internal.xsd_error(6958, format('Invalid definition for type ''%s''. An ''all'' group may not appear as the child or parent'
                    ' of any other model group, it must have minOccurs = maxOccurs = 1, its child elements must have maxOccurs = 1', v_child ->> 'at'));
            END IF;
            v_children := v_children || coalesce(v_tree, '[]');
        END LOOP;
        IF v_kind = 'choice' AND v_children = '[]' AND v_occurs.fewest > 0 THEN
            PERFORM ssb_internal.xsd_error(2293, format('Choice cannot be empty unless minOccurs is 0. Location: ''%s''.', p_node ->> 'at'));
        END IF;
        tree := jsonb_build_object('k', CASE v_kind WHEN 'sequence' THEN 'seq' ELSE v_kind END, 'c', v_children);
    ELSE
        PERFORM ssb_internal.xsd_error(2297, format('Element <%s> is not valid at location ''%s''.', v_kind, p_node ->> 'at'));
    END CASE;
    tree := CASE WHEN v_occurs.most = 0 THEN NULL
                 ELSE tree || jsonb_strip_nulls(jsonb_build_object('min', v_occurs.fewest, 'max', v_occurs.most)) END;
END;
$$;

-- The first model group among the children of p_node, as a tree; NULL for empty content.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_content(p_state jsonb, p_in jsonb, p_node jsonb, OUT state jsonb, OUT tree jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_child jsonb;
    v_seen boolean := false;
BEGIN
    state := p_state;
    FOR v_child IN SELECT c FROM ssb_internal.xsd_children(p_node) AS c LOOP
        IF v_child ->> 'n' IN ('sequence', 'choice', 'all', 'group') THEN
            IF v_seen THEN
                PERFORM ssb_internal.xsd_error(2369, format('Cannot have more than one group/sequence/choice/all within a restriction or extension.'
                                                            ' Location: ''%s''.', v_child ->> 'at'));
            END IF;
            v_seen := true;
            SELECT t.state, t.tree INTO state, tree FROM ssb_internal.xsd_particle(state, p_in, v_child) AS t;
        ELSIF v_child ->> 'n' NOT IN ('attribute', 'attributeGroup', 'anyAttribute') THEN
            IF v_child ->> 'n' IN ('include', 'redefine', 'notation', 'key', 'keyref', 'unique', 'assert', 'openContent', 'alternative') THEN
                PERFORM ssb_internal.xsd_refuse(v_child, v_child ->> 'n');
            END IF;
            PERFORM ssb_internal.xsd_error(2297, format('Element <%s> is not valid at location ''%s''.', v_child ->> 'n', v_child ->> 'at'));
        END IF;
    END LOOP;
END;
$$;

-- A xs:complexType element: {"k": "c", "mixed", "abstract", "simple" type key | "tree", "attrs",
-- "anyattr", "b" base, "by" extension or restriction}.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_complex_type(p_state jsonb, p_in jsonb, p_node jsonb, OUT state jsonb, OUT type jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_first jsonb;
    v_how jsonb;
    v_base jsonb;
    v_base_key text;
    v_simple jsonb;
    v_simple_key text;
    v_inner jsonb;
    v_tree jsonb;
    v_attributes jsonb;
    v_anything jsonb;
    v_extends boolean;
    v_mixed boolean := p_node -> 'a' ->> 'mixed' IN ('true', '1');
    v_name text;
BEGIN
    state := p_state;
    PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['name', 'mixed', 'abstract', 'final', 'block']);
    SELECT c INTO v_first FROM ssb_internal.xsd_children(p_node) AS c LIMIT 1;
    IF v_first ->> 'n' IN ('simpleContent', 'complexContent') THEN
        SELECT c INTO v_how FROM ssb_internal.xsd_children(v_first) AS c LIMIT 1;
        IF v_how IS NULL OR v_how ->> 'n' NOT IN ('extension', 'restriction') THEN
            PERFORM ssb_internal.xsd_error(2327, format('The content or definition of <%s> is missing. Location: ''%s''.', v_first ->> 'n', v_first ->> 'at'));
        ELSIF NOT v_how -> 'a' ? 'base' THEN
            PERFORM ssb_internal.xsd_error(2316, format('The required ''base'' attribute is missing. Location: ''%s''.', v_how ->> 'at'));
        END IF;
        v_extends := v_how ->> 'n' = 'extension';
        SELECT t.state, t.key INTO state, v_base_key FROM ssb_internal.xsd_type_key(state, v_how, v_how -> 'a' ->> 'base', true) AS t;
        v_base := ssb_internal.xsd_type(state, v_base_key);
    END IF;

    IF v_first ->> 'n' = 'simpleContent' THEN
        v_simple_key := CASE v_base ->> 'k' WHEN 's' THEN v_base_key ELSE v_base ->> 'simple' END;
        IF v_simple_key IS NULL THEN
            PERFORM ssb_internal.xsd_error(6942, format('Invalid type definition for type ''%s'', types with simple content can only be derived from base'
                                                        ' types which have simple content', p_node ->> 'at'));
        ELSIF NOT v_extends AND v_base ->> 'k' = 's' THEN
            PERFORM ssb_internal.xsd_error(6968, format('Invalid type definition for type ''%s''. Complex types cannot restrict simple types', p_node ->> 'at'));
        END IF;
        IF NOT v_extends THEN
            v_simple := ssb_internal.xsd_type(state, v_simple_key);
            SELECT c INTO v_inner FROM ssb_internal.xsd_children(v_how) AS c WHERE c ->> 'n' = 'simpleType' LIMIT 1;
            IF v_inner IS NOT NULL THEN
                SELECT s.state, s.type INTO state, v_simple FROM ssb_internal.xsd_simple_type(state, v_inner) AS s;
            END IF;
            v_simple := ssb_internal.xsd_restrict(state -> 'types', v_simple, v_how);
            SELECT t.state, t.key INTO state, v_simple_key FROM ssb_internal.xsd_add_type(state, v_simple) AS t;
        END IF;
    ELSIF v_first ->> 'n' = 'complexContent' THEN
        IF v_base ->> 'k' = 's' OR v_base ? 'simple' THEN
            PERFORM ssb_internal.xsd_error(6941, format('Invalid type definition for type ''%s'', types with complex content can only be derived from base'
                                                        ' types which have complex content', p_node ->> 'at'));
        ELSIF v_extends AND v_base ? 'any' THEN
            PERFORM ssb_internal.xsd_error(2237, 'Derivation from anyType by extension is not supported in this release.');
        END IF;
        v_mixed := coalesce(v_first -> 'a' ->> 'mixed' IN ('true', '1'), v_mixed);
        SELECT c.state, c.tree INTO state, v_tree FROM ssb_internal.xsd_content(state, p_in, v_how) AS c;
        IF v_extends THEN
            IF v_tree IS NULL THEN
                v_mixed := coalesce(v_mixed, (v_base -> 'mixed')::boolean);
                v_tree := v_base -> 'tree';
            ELSIF v_base -> 'tree' <> 'null' THEN
                IF 'all' IN (v_tree ->> 'k', v_base -> 'tree' ->> 'k') THEN
                    PERFORM ssb_internal.xsd_error(6958, format('Invalid definition for type ''%s''. An ''all'' group may not appear as the child or parent'
                        ' of any other model group, it must have minOccurs = maxOccurs = 1, its child elements must have maxOccurs = 1', p_node ->> 'at'));
                END IF;
                v_tree := jsonb_build_object('k', 'seq', 'min', 1, 'max', 1, 'c', jsonb_build_array(v_base -> 'tree', v_tree));
            END IF;
        END IF;
    ELSE
        SELECT c.state, c.tree INTO state, v_tree FROM ssb_internal.xsd_content(state, p_in, p_node) AS c;
    END IF;

    SELECT a.state, a.attributes, a.anything INTO state, v_attributes, v_anything
      FROM ssb_internal.xsd_attributes(state, p_in, coalesce(v_how, p_node)) AS a;
    IF v_base ? 'attrs' THEN
        IF v_extends THEN
            SELECT k INTO v_name FROM jsonb_object_keys(v_attributes) AS k WHERE v_base -> 'attrs' ? k LIMIT 1;
            IF FOUND THEN
                PERFORM ssb_internal.xsd_error(6976, format('Invalid redefinition of attribute ''%s'' in type ''%s''. Derivation by extension may not'
                                                            ' redefine attributes.', ssb_internal.xsd_shown(v_name), p_node ->> 'at'));
            END IF;
            v_anything := coalesce(v_anything, nullif(v_base -> 'anyattr', 'null'));
        END IF;
        v_attributes := (v_base -> 'attrs') || v_attributes;
    END IF;
    type := jsonb_strip_nulls(jsonb_build_object(
        'k', 'c', 'mixed', coalesce(v_mixed, false), 'abstract', CASE WHEN p_node -> 'a' ->> 'abstract' IN ('true', '1') THEN true END,
        'simple', v_simple_key, 'tree', v_tree, 'attrs', v_attributes, 'anyattr', v_anything,
        'b', v_base_key, 'by', v_how ->> 'n'));
END;
$$;
