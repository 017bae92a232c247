-- CREATE, ALTER, DROP XML SCHEMA COLLECTION. The schemas are compiled once, here;
-- xml/schema/ has the compiler and the validator.

CREATE OR REPLACE FUNCTION ssb_internal.create_xml_schema_collection(name text, schemas text, spelling text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_name record;
    v_database_id integer;
    v_collection_id integer;
BEGIN
    SELECT n.* INTO v_name FROM ssb_internal.split_name(name) AS n;
    v_database_id := ssb_internal.database_of_schema(v_name.schema_name);
    PERFORM ssb_internal.require_definition_right('CREATE XML SCHEMA COLLECTION', v_database_id);
    PERFORM ssb_internal.check_name(v_name.object_name);
    PERFORM ssb_internal.require_schema(v_name.schema_name);
    INSERT INTO ssb.xml_schema_collection (database_id, schema_name, name, spelling, compiled, source)
    VALUES (v_database_id, v_name.schema_name, v_name.object_name, coalesce(spelling, v_name.object_name),
            ssb_internal.compile_xml_schema(schemas), schemas)
    ON CONFLICT DO NOTHING RETURNING collection_id INTO v_collection_id;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                                      coalesce(spelling, v_name.object_name)), 16, 6);
    END IF;
    PERFORM ssb_internal.create_typed_xml(v_collection_id);
    PERFORM ssb_internal.tell_of_securable('CREATE', 'XML_SCHEMA_COLLECTION', v_database_id, v_name.schema_name, coalesce(spelling, v_name.object_name), 'XML SCHEMA COLLECTION');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.collection_to_change(p_verb text, p_name text)
RETURNS ssb.xml_schema_collection
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_collection ssb.xml_schema_collection;
BEGIN
    SELECT c.* INTO v_collection FROM ssb.xml_schema_collection AS c
      JOIN ssb_internal.split_name(p_name) AS n ON c.schema_name = n.schema_name AND c.name = n.object_name;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'XML schema collection', p_name);
    END IF;
    PERFORM ssb_internal.require_definition_right('CREATE XML SCHEMA COLLECTION', v_collection.database_id);
    RETURN v_collection;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_xml_schema_collection(name text, schemas text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_collection ssb.xml_schema_collection := ssb_internal.collection_to_change('alter', name);
BEGIN
    UPDATE ssb.xml_schema_collection AS c
       SET compiled = ssb_internal.xml_schema_merge(c.compiled, schemas), source = c.source || schemas
     WHERE c.collection_id = v_collection.collection_id;
    PERFORM ssb_internal.tell_of_securable('ALTER', 'XML_SCHEMA_COLLECTION', v_collection.database_id, v_collection.schema_name, v_collection.spelling, 'XML SCHEMA COLLECTION');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_xml_schema_collection(name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_collection ssb.xml_schema_collection := ssb_internal.collection_to_change('drop', name);
BEGIN
    IF EXISTS (SELECT FROM ssb.message_type AS t WHERE t.collection_id = v_collection.collection_id) THEN
        PERFORM ssb_internal.raise_bound('XML schema collection', v_collection.spelling, 'message type');
    END IF;
    PERFORM ssb_internal.drop_typed_xml(v_collection);
    DELETE FROM ssb.xml_schema_collection AS c WHERE c.collection_id = v_collection.collection_id;
    PERFORM ssb_internal.tell_of_securable('DROP', 'XML_SCHEMA_COLLECTION', v_collection.database_id, v_collection.schema_name, v_collection.spelling, 'XML SCHEMA COLLECTION');
END;
$$;

DO $make$
BEGIN
    PERFORM ssb_internal.make_statement(s.name)
      FROM pg_catalog.unnest('{create_xml_schema_collection,alter_xml_schema_collection,drop_xml_schema_collection}'::pg_catalog.name[]) AS s (name);
END;
$make$;
