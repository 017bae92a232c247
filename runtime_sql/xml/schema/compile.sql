-- XML Schema: a collection's documents → what ssb_internal.xml_schema_validate works with:
-- {"documents": [texts], "namespaces": [uris], "elements", "attributes", "types"}.

CREATE OR REPLACE FUNCTION ssb_internal.compile_xml_schema(schema_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF $1 IS NULL THEN
        PERFORM ssb_internal.xsd_error(6361, 'Invalid null parameter specified. XML Schema Collections can only be created from a non-null value.');
    END IF;
    RETURN ssb_internal.xsd_compile(jsonb_build_array($1));
END;
$$;

-- ALTER XML SCHEMA COLLECTION … ADD: what is there stays as it is (6310), more joins it.
CREATE OR REPLACE FUNCTION ssb_internal.xml_schema_merge(compiled jsonb, schema_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF $2 IS NULL THEN
        PERFORM ssb_internal.xsd_error(6361, 'Invalid null parameter specified. XML Schema Collections can only be created from a non-null value.');
    END IF;
    RETURN ssb_internal.xsd_compile(($1 -> 'documents') || to_jsonb($2));
END;
$$;

-- The target namespaces of a collection, '' where a document has none.
CREATE OR REPLACE FUNCTION ssb_internal.xml_schema_namespaces(compiled jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(n ORDER BY n), '{}') FROM jsonb_array_elements_text($1 -> 'namespaces') AS n;
END;

CREATE OR REPLACE FUNCTION ssb_internal.xsd_compile(p_documents jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_state jsonb := '{"g": {"type": {}, "element": {}, "attribute": {}, "group": {}, "attributeGroup": {}},
                       "types": {}, "elements": {}, "attributes": {}, "busy": {}}';
    v_document record;
    v_schema jsonb;
    v_in jsonb;
    v_child jsonb;
    v_kind text;
    v_name text;
    v_spaces jsonb := '[]';
    v_declaration jsonb;
    v_subs jsonb := '{}';
    v_types jsonb;
    v_head text;
BEGIN
    -- 1. what there is, by kind and name: references may go forward and across documents
    FOR v_document IN SELECT d.text, d.i FROM jsonb_array_elements_text(p_documents) WITH ORDINALITY AS d(text, i) LOOP
        FOR v_schema IN SELECT s FROM jsonb_array_elements(ssb_internal.xsd_trees(v_document.text)) AS s LOOP
            IF NOT v_schema @> '{"n": "schema", "u": "http://www.w3.org/2001/XMLSchema"}' THEN
                PERFORM ssb_internal.xsd_error(2378, 'Expected XML schema document');
            END IF;
            PERFORM ssb_internal.xsd_check_attributes(v_schema, ARRAY['targetNamespace', 'elementFormDefault', 'attributeFormDefault',
                                                                      'blockDefault', 'finalDefault', 'version']);
            v_in := jsonb_build_object('tns', coalesce(v_schema -> 'a' ->> 'targetNamespace', ''),
                'efd', coalesce(v_schema -> 'a' ->> 'elementFormDefault', '') = 'qualified',
                'afd', coalesce(v_schema -> 'a' ->> 'attributeFormDefault', '') = 'qualified');
            IF v_schema -> 'a' ->> 'targetNamespace' = '' THEN
                PERFORM ssb_internal.xsd_error(2385, 'Invalid target namespace specified');
            ELSIF NOT v_spaces ? (v_in ->> 'tns') THEN
                v_spaces := v_spaces || (v_in -> 'tns');
            END IF;
            FOR v_child IN SELECT c FROM ssb_internal.xsd_children(v_schema) AS c LOOP
                v_kind := CASE v_child ->> 'n' WHEN 'simpleType' THEN 'type' WHEN 'complexType' THEN 'type'
                    WHEN 'element' THEN 'element' WHEN 'attribute' THEN 'attribute'
                    WHEN 'group' THEN 'group' WHEN 'attributeGroup' THEN 'attributeGroup' END;
                IF v_child ->> 'n' = 'import' THEN
                    IF v_child -> 'a' ->> 'namespace' = v_in ->> 'tns' AND v_in ->> 'tns' <> '' THEN
                        PERFORM ssb_internal.xsd_error(9340, 'Explicit import of the current target namespace is invalid. References to items in the'
                            ' current target namespace that have already been loaded in the schema collection will be resolved implicitly.');
                    END IF;
                    CONTINUE;
                ELSIF v_kind IS NULL THEN
                    IF v_child ->> 'n' IN ('include', 'redefine', 'notation', 'override', 'defaultOpenContent') THEN
                        PERFORM ssb_internal.xsd_refuse(v_child, v_child ->> 'n');
                    END IF;
                    PERFORM ssb_internal.xsd_error(6940, format('Invalid component named ''%s'' found in global scope. Only elements, attributes, types'
                                                                ' and groups can be defined in global context', v_child ->> 'n'));
                ELSIF NOT v_child -> 'a' ? 'name' THEN
                    PERFORM ssb_internal.xsd_error(2299, format('Required attribute "name" of XSD element "%s" is missing.', v_child ->> 'n'));
                ELSIF v_child -> 'a' ? 'form' THEN
                    PERFORM ssb_internal.xsd_error(9339, format('The ''form'' attribute cannot be specified on a global attribute or element definition.'
                                                                ' Location: ''%s''.', v_child ->> 'at'));
                END IF;
                IF v_child -> 'a' ->> 'name' !~ '^[A-Za-z_\u00C0-\U0010FFFF][A-Za-z0-9_.\u00B7-\U0010FFFF-]*$' THEN
                    PERFORM ssb_internal.xsd_error(2379, format('The name specified is not a valid XML name :''%s''', v_child -> 'a' ->> 'name'));
                END IF;
                v_name := '{' || (v_in ->> 'tns') || '}' || (v_child -> 'a' ->> 'name');
                IF v_state #> ARRAY['g', v_kind, v_name] IS NOT NULL THEN
                    IF v_document.i > 1 AND v_state #>> ARRAY['g', v_kind, v_name, 'document'] <> v_document.i::text THEN
                        PERFORM ssb_internal.xsd_error(6310, format('Altering existing schema components is not allowed. There was an attempt to modify an'
                            ' existing XML Schema component, component namespace: ''%s'' component name: ''%s'' component kind:%s',
                            v_in ->> 'tns', v_child -> 'a' ->> 'name', initcap(v_kind)));
                    END IF;
                    PERFORM ssb_internal.xsd_error(CASE v_kind WHEN 'element' THEN 2301 ELSE 2302 END, format(CASE v_kind
                        WHEN 'element' THEN 'The element "%s" has already been defined.'
                        ELSE 'The name "%s" has already been defined in this scope.' END, v_child -> 'a' ->> 'name'));
                END IF;
                v_state := jsonb_set(v_state, ARRAY['g', v_kind, v_name],
                                     jsonb_build_object('node', v_child::text, 'in', v_in, 'document', v_document.i));
            END LOOP;
        END LOOP;
        IF NOT FOUND THEN   -- nothing, or text alone
            PERFORM ssb_internal.xsd_error(2378, 'Expected XML schema document');
        END IF;
    END LOOP;

    -- 2. each of them
    FOR v_name IN SELECT k FROM jsonb_object_keys(v_state -> 'g' -> 'type') AS k LOOP
        v_state := ssb_internal.xsd_global_type(v_state, v_name);
    END LOOP;
    FOR v_name IN SELECT k FROM jsonb_object_keys(v_state -> 'g' -> 'element') AS k LOOP
        v_state := ssb_internal.xsd_global_element(v_state, v_name);
    END LOOP;
    FOR v_name IN SELECT k FROM jsonb_object_keys(v_state -> 'g' -> 'attribute') AS k LOOP
        v_child := ssb_internal.xsd_global(v_state, 'attribute', v_name);
        SELECT a.state, a.declaration INTO v_state, v_declaration FROM ssb_internal.xsd_attribute(v_state, v_child -> 'node') AS a;
        v_state := jsonb_set(v_state, ARRAY['attributes', v_name], v_declaration);
    END LOOP;
    -- groups that nothing refers to are checked, too
    FOR v_name IN SELECT k FROM jsonb_object_keys(v_state -> 'g' -> 'group') AS k LOOP
        v_child := ssb_internal.xsd_global(v_state, 'group', v_name);
        PERFORM ssb_internal.xsd_content(v_state, v_child -> 'in', v_child -> 'node');
    END LOOP;
    FOR v_name IN SELECT k FROM jsonb_object_keys(v_state -> 'g' -> 'attributeGroup') AS k LOOP
        v_child := ssb_internal.xsd_global(v_state, 'attributeGroup', v_name);
        PERFORM ssb_internal.xsd_attributes(v_state, v_child -> 'in', v_child -> 'node');
    END LOOP;

    -- 3. substitution groups: each member stands for its head, and for its head's head
    FOR v_name, v_declaration IN SELECT e.key, e.value FROM jsonb_each(v_state -> 'elements') AS e WHERE e.value ? 'head' LOOP
        v_head := v_declaration ->> 'head';
        WHILE v_head IS NOT NULL AND NOT coalesce(v_subs -> v_head ? v_name, false) LOOP
            v_subs := v_subs || jsonb_build_object(v_head, coalesce(v_subs -> v_head, '[]') || to_jsonb(v_name));
            v_head := v_state -> 'elements' -> v_head ->> 'head';
        END LOOP;
    END LOOP;

    PERFORM ssb_internal.xsd_check_constraint(v_state, d.declaration)
       FROM (SELECT e.value FROM jsonb_each(v_state -> 'elements') AS e
              UNION ALL
             SELECT p FROM jsonb_path_query(v_state -> 'types', '$.**.d') AS p) AS d(declaration)
      WHERE d.declaration ?| ARRAY['default', 'fixed'];

    -- 4. content models as automata
    v_types := (SELECT coalesce(jsonb_object_agg(e.key, CASE
                          WHEN e.value ->> 'k' = 'c' AND NOT e.value ? 'simple'
                          THEN e.value - 'tree' || jsonb_build_object('m', ssb_internal.xsd_automaton(e.value -> 'tree', v_subs))
                          ELSE e.value - 'tree' END), '{}')
                 FROM jsonb_each(v_state -> 'types') AS e);
    RETURN jsonb_build_object('documents', p_documents, 'namespaces', v_spaces, 'elements', v_state -> 'elements',
                              'attributes', v_state -> 'attributes', 'types', v_types);
END;
$$;
