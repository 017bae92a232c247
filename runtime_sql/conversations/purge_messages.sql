-- ssb.purge_messages: takes messages off a queue as if they had been received and thrown away. For operators with the
-- right to ALTER the queue and to RECEIVE from it. Conversations stay; groups that somebody holds are passed.
--
-- count_only  deletes nothing, and returns how many it would be, held ones too
-- Locks       the groups of what it deletes
CREATE OR REPLACE FUNCTION ssb.purge_messages(queue text, message_type text DEFAULT NULL, older_than interval DEFAULT NULL,
                                              count_only boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_change('alter', $1);
    v_count bigint;
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF $4 THEN
        RETURN (SELECT count(*) FROM ssb.message_stored AS m
                 WHERE m.queue_id = v_queue.queue_id AND ($3 IS NULL OR m.enqueued_at < clock_timestamp() - $3)
                   AND ($2 IS NULL OR m.message_type_id IN (SELECT t.message_type_id FROM ssb.message_type AS t WHERE t.name LIKE $2)));
    END IF;
    WITH found AS MATERIALIZED (
        SELECT DISTINCT e.lock_id
          FROM ssb.message_stored AS m JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
         WHERE m.queue_id = v_queue.queue_id AND ($3 IS NULL OR m.enqueued_at < clock_timestamp() - $3)
           AND ($2 IS NULL OR m.message_type_id IN (SELECT t.message_type_id FROM ssb.message_type AS t WHERE t.name LIKE $2))
    ), locked AS MATERIALIZED (
        SELECT l.endpoint_id FROM ssb.conversation_endpoint AS l
         WHERE l.endpoint_id IN (SELECT f.lock_id FROM found AS f)
           AND (l.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(l.claim_id))
         ORDER BY l.endpoint_id FOR NO KEY UPDATE SKIP LOCKED
    )
    DELETE FROM ssb.message_stored AS m
     USING ssb.conversation_endpoint AS e
     WHERE e.lock_id IN (SELECT l.endpoint_id FROM locked AS l) AND m.endpoint_id = e.endpoint_id
       AND m.queue_id = v_queue.queue_id AND ($3 IS NULL OR m.enqueued_at < clock_timestamp() - $3)
       AND ($2 IS NULL OR m.message_type_id IN (SELECT t.message_type_id FROM ssb.message_type AS t WHERE t.name LIKE $2));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END;
$$;
