-- The schema documents that a message type of this queue's database declares
-- (VALIDATION = VALID_XML WITH SCHEMA COLLECTION), NULL when it declares none.
-- Whoever may receive the messages may know what they look like.
--
-- Called by  pgsb.bulk.columns.declared_schema
CREATE OR REPLACE FUNCTION ssb_internal.message_type_schema(queue text, message_type text)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    RETURN (SELECT c.source FROM ssb_internal.find_message_type(v_queue.database_id, message_type) AS t
              JOIN ssb.xml_schema_collection AS c ON c.collection_id = t.collection_id);
END;
$$;
