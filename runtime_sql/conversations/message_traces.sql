-- Trace context of messages (W3C traceparent and tracestate), beside the messages: SEND and RECEIVE know nothing of it,
-- so who traces nothing pays nothing. A row belongs to one message of a queue of this instance, by its receiver's
-- endpoint and its order, and goes when the receiver asks for it, or after a day.
CREATE TABLE IF NOT EXISTS ssb.message_trace (
    endpoint_id   bigint      NOT NULL,            -- the receiver's
    queuing_order bigint      NOT NULL,
    traceparent   text        NOT NULL,
    tracestate    text,
    noted_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (endpoint_id, queuing_order)
);
CREATE INDEX IF NOT EXISTS message_trace_by_age ON ssb.message_trace (noted_at);

-- The context of the message that this session has sent last on this conversation: in the same transaction as its
-- SEND. False where that message waits in the transmission queue, or is for another instance: its context is not kept.
-- Needs what SEND needs. The order sequence tells which message that was: currval is the session's own.
CREATE OR REPLACE FUNCTION ssb.trace_message(handle uuid, traceparent text, tracestate text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
    v_order bigint;
BEGIN
    IF traceparent !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN
        RAISE EXCEPTION '% is no W3C traceparent', quote_literal(left(traceparent, 100)) USING ERRCODE = '22023',
            HINT = 'It is version, trace, span and flags: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.';
    ELSIF length(tracestate) > 512 THEN
        RAISE EXCEPTION 'a tracestate has at most 512 characters' USING ERRCODE = '22023';
    END IF;
    SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = handle;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb_internal.require_receive(v_queue);
    IF v_endpoint.far_endpoint_id IS NULL OR v_endpoint.has_waiting THEN
        RETURN false;
    END IF;
    BEGIN
        v_order := currval(v_endpoint.far_order);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        RETURN false;                              -- nothing was sent to that queue in this session
    END;
    INSERT INTO ssb.message_trace AS t (endpoint_id, queuing_order, traceparent, tracestate)
    SELECT m.endpoint_id, m.queuing_order, traceparent, tracestate
      FROM ssb.message_stored AS m WHERE m.endpoint_id = v_endpoint.far_endpoint_id AND m.queuing_order = v_order
    ON CONFLICT ON CONSTRAINT message_trace_pkey DO UPDATE
       SET traceparent = excluded.traceparent, tracestate = excluded.tracestate;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- What nobody has asked for: a few at a time.
    DELETE FROM ssb.message_trace AS t
     WHERE (t.endpoint_id, t.queuing_order) IN (
           SELECT o.endpoint_id, o.queuing_order FROM ssb.message_trace AS o
            WHERE o.noted_at < clock_timestamp() - interval '1 day' ORDER BY o.noted_at LIMIT 10
              FOR UPDATE SKIP LOCKED);
    RETURN true;
END;
$$;

-- The contexts of messages that the caller has received on this conversation, by their queuing_order; each is told once,
-- with the transaction that received the message. Needs what RECEIVE needs.
CREATE OR REPLACE FUNCTION ssb.message_traces(handle uuid, orders bigint[])
RETURNS TABLE (queuing_order bigint, traceparent text, tracestate text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
BEGIN
    SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = $1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb_internal.require_receive(v_queue);
    RETURN QUERY
    DELETE FROM ssb.message_trace AS t
     WHERE t.endpoint_id = v_endpoint.endpoint_id AND t.queuing_order = ANY ($2)
    RETURNING t.queuing_order, t.traceparent, t.tracestate;
END;
$$;
