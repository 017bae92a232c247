-- A body as text for people: UTF-16 with a mark, UTF-8 if it is that, else with its bytes as \ooo.
CREATE OR REPLACE FUNCTION ssb_internal.readable_text(p_body bytea)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(CASE WHEN substr(p_body, 1, 2) = '\xfffe' THEN ssb_internal.utf16_text(substr(p_body, 3)) END,
                    convert_from(p_body, 'UTF8'));
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN encode(p_body, 'escape');
END;
$$;

-- What is wrong with conversations just now, for those who follow them: what waits and why, Errors that came,
-- quarantine. Of the conversations with these handles, or of those begun after p_after (an endpoint_id; see
-- ssb_internal.last_conversation), or, both NULL, of all: then without the Errors, which would mean to read every row.
--
-- Called by  pgsb diagnose --watch, pgsb dashboard
CREATE OR REPLACE FUNCTION ssb_internal.conversation_troubles(p_handles uuid[] DEFAULT NULL, p_after bigint DEFAULT NULL)
RETURNS TABLE (number integer, conversation_handle uuid, service_name text, far_service text, detail text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                         'GRANT pg_monitor TO this role.');
    END IF;
    RETURN QUERY
    WITH chosen AS MATERIALIZED (
        SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = ANY (p_handles)
        UNION
        SELECT f.* FROM ssb.conversation_endpoint AS e JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
         WHERE e.conversation_handle = ANY (p_handles)
        UNION
        SELECT n.* FROM (SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id > p_after
                          ORDER BY e.endpoint_id LIMIT 10000) AS n)
    SELECT 501, c.conversation_handle, c.service_name, c.far_service, t.transmission_status
      FROM chosen AS c
     CROSS JOIN LATERAL (SELECT DISTINCT t.transmission_status FROM ssb.transmission AS t
                          WHERE t.endpoint_id = c.endpoint_id AND ssb_internal.is_a_reason(t.transmission_status)) AS t
    UNION ALL
    SELECT 501, e.conversation_handle, e.service_name, e.far_service, t.transmission_status
      FROM (SELECT DISTINCT t.endpoint_id, t.transmission_status
              FROM (SELECT * FROM ssb.transmission AS t WHERE num_nonnulls(p_handles, p_after) = 0
                     ORDER BY t.endpoint_id DESC, t.message_sequence_number DESC LIMIT 10000) AS t
             WHERE ssb_internal.is_a_reason(t.transmission_status)) AS t
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id
    UNION ALL
    SELECT 403, c.conversation_handle, c.service_name, c.far_service,
           coalesce((SELECT format('Error %s: %s', substring(x.text FROM '<Code>([^<]*)</Code>'),
                                   substring(x.text FROM '<Description>([^<]*)</Description>'))
                       FROM ssb.message_stored AS m
                      CROSS JOIN LATERAL (SELECT ssb_internal.readable_text(m.body) AS text) AS x
                      WHERE m.endpoint_id = c.endpoint_id AND m.message_type_id = 1 LIMIT 1),
                    'an Error came, and was received')
      FROM chosen AS c WHERE c.closed_at IS NULL AND ssb_internal.endpoint_state(c) = 'ER'
    UNION ALL
    SELECT 310, e.conversation_handle, e.service_name, e.far_service,
           format('in quarantine after %s rollbacks: %s', g.rollbacks, coalesce(ssb_internal.last_error(q.name, g.quarantined_at), g.error, 'no error is known'))
      FROM ssb.quarantined_group AS g
      JOIN ssb.queue AS q ON q.queue_id = g.queue_id
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = g.endpoint_id
     WHERE num_nonnulls(p_handles, p_after) = 0 OR e.endpoint_id IN (SELECT c.endpoint_id FROM chosen AS c);
END;
$$;

-- The number of the conversation endpoint that was made last: those begun later have higher ones.
CREATE OR REPLACE FUNCTION ssb_internal.last_conversation()
RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb_internal.last_order('ssb.endpoint_id'); $$;
