-- The transmission queue has one index less: what waits for a dialog is found by the primary key, in the order of its numbers. The index
-- by peer has of each dialog the newest message first.
ALTER TABLE IF EXISTS ssb.transmission
    DROP CONSTRAINT IF EXISTS transmission_pkey,
    ADD CONSTRAINT transmission_pkey PRIMARY KEY (endpoint_id, message_sequence_number, transmission_id);
DROP INDEX IF EXISTS ssb.transmission_by_endpoint, ssb.transmission_by_peer;
-- What the other instance has told that it has, and would be told once more, is not read again: only what ends a dialog is.
DO $$
BEGIN
    IF to_regclass('ssb.remote_conversation') IS NOT NULL THEN
        DELETE FROM ssb.transmission AS t USING ssb.remote_conversation AS r
         WHERE r.endpoint_id = t.endpoint_id AND t.message_sequence_number < r.acknowledged
           AND NOT t.is_end_of_dialog AND NOT t.is_conversation_error;
    END IF;
END;
$$;
DROP FUNCTION IF EXISTS ssb_internal.settle_taken(bigint[], bigint[], bigint[], text[], uuid[], boolean);
DROP FUNCTION IF EXISTS ssb_internal.settle_sent(jsonb, bigint[]);
