-- CREATE, ALTER, DROP MESSAGE TYPE.
-- Locks  none beyond the rows written

-- VALIDATION as the catalog stores it, and the collection it names.
CREATE OR REPLACE FUNCTION ssb.read_validation(p_validation text, p_schema_collection text,
                                               OUT validation char(2), OUT collection_id integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name record;
BEGIN
    validation := CASE upper(p_validation) WHEN 'NONE' THEN 'N' WHEN 'EMPTY' THEN 'E'
                                           WHEN 'WELL_FORMED_XML' THEN 'X' WHEN 'VALID_XML' THEN 'X' END;
    IF validation IS NULL THEN
        PERFORM ssb.raise_error(102, format('Incorrect syntax near ''%s''.', p_validation), 15, 1,
                                'VALIDATION is NONE, EMPTY, WELL_FORMED_XML or VALID_XML WITH SCHEMA COLLECTION.');
    ELSIF (upper(p_validation) = 'VALID_XML') <> (p_schema_collection IS NOT NULL) THEN
        PERFORM ssb.raise_error(102, 'Incorrect syntax near ''VALID_XML''.', 15, 1,
                                'VALID_XML, and only it, needs WITH SCHEMA COLLECTION.');
    ELSIF p_schema_collection IS NOT NULL THEN
        SELECT n.* INTO v_name FROM ssb.split_name(p_schema_collection) AS n;
        SELECT c.collection_id INTO collection_id FROM ssb.xml_schema_collection AS c
         WHERE c.schema_name = v_name.schema_name AND c.name = v_name.object_name;
        IF NOT FOUND THEN
            PERFORM ssb.raise_not_found('find', 'XML schema collection', p_schema_collection);
        END IF;
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.create_message_type(name text, validation text DEFAULT 'NONE',
    schema_collection text DEFAULT NULL, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb.database_id_of(database);
    v_read record;
BEGIN
    PERFORM ssb.require_definition_right('CREATE MESSAGE TYPE', v_database_id);
    PERFORM ssb.check_name(name);
    SELECT r.* INTO v_read FROM ssb.read_validation(coalesce(validation, 'NONE'), schema_collection) AS r;
    IF (ssb.find_message_type(v_database_id, name)).message_type_id IS NOT NULL THEN
        PERFORM ssb.raise_exists('message type', name);
    END IF;
    INSERT INTO ssb.message_type (database_id, name, validation, collection_id, owner)
    VALUES (v_database_id, name, v_read.validation, v_read.collection_id, ssb.owner_or_caller(owner, v_database_id));
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb.raise_exists('message type', name);
END;
$$;

-- The message type that ALTER or DROP means: an existing one, not the system's.
CREATE OR REPLACE FUNCTION ssb.message_type_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.message_type
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type ssb.message_type := ssb.find_message_type(p_database_id, p_name);
BEGIN
    IF v_type.message_type_id IS NULL THEN
        PERFORM ssb.raise_not_found(p_verb, 'message type', p_name);
    ELSIF v_type.database_id IS NULL THEN
        PERFORM ssb.raise_error(9663, 'The system object cannot be modified.');
    END IF;
    PERFORM ssb.require_permission(p_verb, 'MESSAGE TYPE', v_type.message_type_id, p_name, 'ALTER',
                                   v_type.owner, p_database_id);
    RETURN v_type;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_message_type(name text, validation text, schema_collection text DEFAULT NULL,
                                                  database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_type ssb.message_type := ssb.message_type_to_change('alter', name, ssb.database_id_of(database));
    v_read record;
BEGIN
    SELECT r.* INTO v_read FROM ssb.read_validation(validation, schema_collection) AS r;
    -- Nobody may note the old validation in an endpoint meanwhile (ssb.deliver).
    PERFORM pg_advisory_xact_lock(1397965377, hashtext(name));
    UPDATE ssb.conversation_endpoint AS e SET plain_type = NULL WHERE e.plain_type_id = v_type.message_type_id;
    UPDATE ssb.message_type AS t SET validation = v_read.validation, collection_id = v_read.collection_id
     WHERE t.message_type_id = v_type.message_type_id;
    UPDATE ssb.contract_message_usage AS u SET validation = v_read.validation
     WHERE u.message_type_id = v_type.message_type_id;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_message_type(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_type ssb.message_type := ssb.message_type_to_change('drop', name, ssb.database_id_of(database));
BEGIN
    IF EXISTS (SELECT FROM ssb.contract_message_usage AS u WHERE u.message_type_id = v_type.message_type_id) THEN
        PERFORM ssb.raise_bound('message type', name, 'contract');
    END IF;
    DELETE FROM ssb.message_type AS t WHERE t.message_type_id = v_type.message_type_id;
    DELETE FROM ssb.permission AS p WHERE p.class = 'MESSAGE TYPE' AND p.major_id = v_type.message_type_id;
END;
$$;
