-- A message whose body is larger than a fragment travels in fragments, one in a set: so no set, no daemon and no instance on the way holds
-- all of it, and other dialogs' messages go between. The kind of such a message in a set is 'fragment OFFSET LENGTH STAMP': where
-- in the body it begins, how long that is, and which message of that number is meant (its sender may have been restored
-- to an earlier time, and have sent another one since). The destination keeps fragments until the last one comes, and takes the message then.
-- What it answers is how much of the message it has (taken_bytes), from where the sender goes on: ssb.remote_conversation.sent_bytes.

-- One fragment of the next message of a dialog whose row the caller has locked. is_whole: the message is taken, or refused for good.
--
-- Called by  ssb_internal.take_set
CREATE OR REPLACE FUNCTION ssb_internal.take_fragment(p_remote ssb.remote_conversation, p_number bigint, p_message_type text, p_kind text,
                                                      p_body bytea,
                                                      OUT is_whole boolean, OUT taken_bytes bigint, OUT status text,
                                                      OUT refusal_code integer, OUT refusal text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_offset bigint := split_part(p_kind, ' ', 2)::bigint;
    v_length bigint := split_part(p_kind, ' ', 3)::bigint;
    v_stamp text := split_part(p_kind, ' ', 4);
    v_receiver ssb.conversation_endpoint;
    v_last ssb.message_fragment;
BEGIN
    SELECT e.* INTO v_receiver FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_remote.endpoint_id;
    IF v_receiver.endpoint_id IS NULL OR v_receiver.closed_at IS NOT NULL OR v_receiver.is_system OR p_remote.far_outcome IS NOT NULL THEN
        -- Nobody reads it.
        SELECT t.status, t.refusal_code, t.refusal INTO status, refusal_code, refusal
          FROM ssb_internal.take_message(p_remote, p_number, p_message_type, 'message', NULL) AS t;
        is_whole := true;
        RETURN;
    END IF;
    status := ssb_internal.reason_to_wait(v_receiver.queue_id);
    SELECT f.* INTO v_last FROM ssb.message_fragment AS f
     WHERE f.endpoint_id = p_remote.endpoint_id AND f.message_sequence_number = p_number ORDER BY f.body_offset DESC LIMIT 1;
    taken_bytes := coalesce(v_last.body_offset + length(v_last.body), 0);
    is_whole := false;
    IF status IS NOT NULL THEN
        RETURN;
    ELSIF v_length > 1073741819 THEN
        -- Said at the first fragment: PostgreSQL has no longer value, and the last one would fail.
        status := format('Message number %s of this conversation is longer than 1 GB.', p_number);
        RETURN;
    ELSIF taken_bytes > 0 AND (v_last.stamp, v_last.body_length) IS DISTINCT FROM (v_stamp, v_length) THEN
        DELETE FROM ssb.message_fragment AS f WHERE f.endpoint_id = p_remote.endpoint_id;
        taken_bytes := 0;
    END IF;
    IF v_offset < taken_bytes THEN
        RETURN;                                     -- it has come already
    ELSIF v_offset > taken_bytes OR coalesce(length(p_body), 0) = 0 OR v_offset + length(p_body) > v_length THEN
        status := format('Byte %s of message number %s of this conversation has not come.', taken_bytes, p_number);
    ELSIF v_offset + length(p_body) < v_length THEN
        INSERT INTO ssb.message_fragment (endpoint_id, message_sequence_number, body_offset, body, body_length, stamp)
        VALUES (p_remote.endpoint_id, p_number, v_offset, p_body, v_length, v_stamp);
        taken_bytes := v_offset + length(p_body);
    ELSE
        SELECT t.status, t.refusal_code, t.refusal INTO status, refusal_code, refusal
          FROM ssb_internal.take_message(p_remote, p_number, p_message_type, 'message',
                   coalesce((SELECT string_agg(f.body, ''::bytea ORDER BY f.body_offset) FROM ssb.message_fragment AS f
                              WHERE f.endpoint_id = p_remote.endpoint_id AND f.message_sequence_number = p_number), '') || p_body) AS t;
        IF status IS NULL THEN
            DELETE FROM ssb.message_fragment AS f WHERE f.endpoint_id = p_remote.endpoint_id;
            is_whole := true;
        END IF;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_fragment(ssb.remote_conversation, bigint, text, text, bytea) FROM PUBLIC;

-- Those of dialogs that have ended since.
--
-- Called by  ssb_internal.forget_remote_conversations
CREATE OR REPLACE FUNCTION ssb_internal.forget_fragments()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.message_fragment AS f
     WHERE f.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.message_fragment AS o
                                WHERE NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                                   WHERE e.endpoint_id = o.endpoint_id AND e.closed_at IS NULL)
                                   OR EXISTS (SELECT FROM ssb.remote_conversation AS r
                                               WHERE r.endpoint_id = o.endpoint_id AND r.far_outcome IS NOT NULL)
                                  FOR UPDATE SKIP LOCKED));
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_fragments() FROM PUBLIC;
