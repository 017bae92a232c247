-- Trace context of messages (W3C traceparent and tracestate), beside the messages, and spans of what SQL does with them.
--
-- A session that traces has the setting pgsb.traceparent: a context, with which what it sends goes, or 'continue'.
-- Whoever receives a message with a context in such a session continues it to the end of the transaction
-- (pgsb.trace_received). All other sessions pay for one look at a setting that is not there.
--
-- Anybody may write to settings: what is no context is none.
--
-- Locks  none

-- A row belongs to one message of a queue of this instance, by its receiver's endpoint and its order. It outlives the
-- message, since its receiver asks after RECEIVE, by a day at most. (Of a message that waits in the transmission queue
-- the context is there: ssb.transmission.trace.)
CREATE TABLE IF NOT EXISTS ssb.message_trace (
    endpoint_id   bigint      NOT NULL,            -- the receiver's
    queuing_order bigint      NOT NULL,
    traceparent   text        NOT NULL,
    tracestate    text,
    noted_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (endpoint_id, queuing_order)
);
CREATE INDEX IF NOT EXISTS message_trace_by_age ON ssb.message_trace (noted_at);

-- SEND, RECEIVE and jobs of sessions with pgsb.record_spans, until the daemon has told them to OpenTelemetry.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.trace_span (
    traceparent  text        NOT NULL,             -- its own
    parent       text,
    name         text        NOT NULL,
    kind         text        NOT NULL,             -- producer, consumer
    began_at     timestamptz NOT NULL,
    ended_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    attributes   jsonb       NOT NULL DEFAULT '{}',
    links        text[]      NOT NULL DEFAULT '{}'
);
CREATE INDEX IF NOT EXISTS trace_span_by_age ON ssb.trace_span (ended_at);

-- A traceparent, and behind a blank the tracestate, if there is one.
CREATE OR REPLACE FUNCTION ssb_internal.is_trace(p_trace text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT p_trace ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}( [ -~]+)?$' AND length(p_trace) <= 568;
END;

CREATE OR REPLACE FUNCTION ssb_internal.trace_of(traceparent text, tracestate text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF traceparent !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN
        RAISE EXCEPTION '% is no W3C traceparent', quote_literal(left(traceparent, 100)) USING ERRCODE = '22023',
            HINT = 'It is version, trace, span and flags: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.';
    ELSIF length(tracestate) > 512 THEN
        RAISE EXCEPTION 'a tracestate has at most 512 characters' USING ERRCODE = '22023';
    END IF;
    RETURN traceparent || coalesce(' ' || nullif(tracestate, ''), '');
END;
$$;

-- What this session sends goes with this context from now on (is_local: to the end of the transaction), and messages that
-- it receives continue theirs. NULL: no longer. SET pgsb.traceparent = 'continue', also of a role or a database, continues
-- what is received and begins nothing.
CREATE OR REPLACE FUNCTION ssb.set_trace_context(traceparent text, tracestate text DEFAULT NULL, is_local boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM set_config('pgsb.traceparent', coalesce(ssb_internal.trace_of(traceparent, tracestate), ''), is_local),
            set_config('pgsb.trace_received', '', is_local);
END;
$$;

-- A span that ends now, where this session records them and the trace is sampled; the context of what is done in it.
CREATE OR REPLACE FUNCTION ssb_internal.record_span(p_parent text, p_name text, p_kind text, p_began_at timestamptz,
                                                    p_attributes jsonb, p_links text[] DEFAULT '{}')
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_own text;
BEGIN
    IF current_setting('pgsb.record_spans', true) IS DISTINCT FROM 'on' OR get_bit(decode(substr(p_parent, 54, 2), 'hex'), 0) = 0 THEN
        RETURN p_parent;
    END IF;
    v_own := overlay(p_parent PLACING right(replace(gen_random_uuid()::text, '-', ''), 16) FROM 37 FOR 16);
    INSERT INTO ssb.trace_span (traceparent, parent, name, kind, began_at, attributes, links)
    VALUES (v_own, p_parent, p_name, p_kind, p_began_at, p_attributes, p_links);
    RETURN v_own;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.record_span(text, text, text, timestamptz, jsonb, text[]) FROM PUBLIC;

-- The context of what this side sends now; NULL: none.
CREATE OR REPLACE FUNCTION ssb_internal.trace_to_send(p_endpoint_id bigint, p_message_type text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_trace text := coalesce(nullif(current_setting('pgsb.trace_received', true), ''), current_setting('pgsb.traceparent', true));
BEGIN
    IF v_trace = 'continue' THEN
        -- Of the last message with one that was received on this conversation.
        SELECT concat_ws(' ', t.traceparent, t.tracestate) INTO v_trace
          FROM ssb.message_trace AS t
         WHERE t.endpoint_id = p_endpoint_id
           AND NOT EXISTS (SELECT FROM ssb.message_stored AS m
                            WHERE m.endpoint_id = t.endpoint_id AND m.queuing_order = t.queuing_order)
         ORDER BY t.queuing_order DESC LIMIT 1;
    END IF;
    IF ssb_internal.is_trace(v_trace) IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    RETURN ssb_internal.record_span(v_trace, 'send ' || p_message_type, 'producer', clock_timestamp(),
               (SELECT jsonb_build_object('messaging.operation.type', 'send', 'pgsb.message_type', p_message_type,
                                          'pgsb.service', e.service_name, 'pgsb.to_service', e.far_service,
                                          'messaging.message.conversation_id', upper(e.conversation_handle::text))
                  FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id));
END;
$$;

-- Keeps the context of a message that is in its queue; nothing where it is not (it was refused, or nobody wants it).
CREATE OR REPLACE FUNCTION ssb_internal.keep_trace(p_receiver_id bigint, p_order bigint, p_number bigint, p_trace text)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF ssb_internal.is_trace(p_trace) IS NOT TRUE THEN
        RETURN false;
    END IF;
    INSERT INTO ssb.message_trace AS t (endpoint_id, queuing_order, traceparent, tracestate)
    SELECT m.endpoint_id, m.queuing_order, left(p_trace, 55), nullif(substr(p_trace, 57), '')
      FROM ssb.message_stored AS m
     WHERE m.endpoint_id = p_receiver_id AND m.queuing_order = p_order
       AND m.message_sequence_number = coalesce(p_number, m.message_sequence_number)
    ON CONFLICT ON CONSTRAINT message_trace_pkey DO UPDATE
       SET traceparent = excluded.traceparent, tracestate = excluded.tracestate;
    RETURN FOUND;
END;
$$;

-- For SEND, of a message that it has put on its queue.
CREATE OR REPLACE FUNCTION ssb_internal.trace_sent(p_endpoint_id bigint, p_message_type text, p_receiver_id bigint, p_order bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.keep_trace(p_receiver_id, p_order, NULL, ssb_internal.trace_to_send(p_endpoint_id, p_message_type));
END;
$$;

-- For RECEIVE: continue the trace of the first message with a context that has just been received from that group, from
-- that order on.
CREATE OR REPLACE FUNCTION ssb_internal.trace_received(p_lock_id bigint, p_from_order bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_session CONSTANT text := current_setting('pgsb.traceparent', true);
    v_found record;
BEGIN
    SELECT concat_ws(' ', t.traceparent, t.tracestate) AS trace, e.service_name, e.conversation_handle, q.name AS queue INTO v_found
      FROM ssb.conversation_endpoint AS e
      JOIN ssb.message_trace AS t ON t.endpoint_id = e.endpoint_id AND t.queuing_order >= p_from_order
      JOIN ssb.queue AS q ON q.queue_id = e.queue_id
     WHERE e.lock_id = p_lock_id
       AND NOT EXISTS (SELECT FROM ssb.message_stored AS m
                        WHERE m.endpoint_id = t.endpoint_id AND m.queuing_order = t.queuing_order)
     ORDER BY t.queuing_order LIMIT 1;
    IF FOUND THEN
        PERFORM set_config('pgsb.trace_received', ssb_internal.record_span(v_found.trace, 'receive ' || v_found.queue, 'consumer',
            clock_timestamp(),
            jsonb_build_object('messaging.operation.type', 'receive', 'pgsb.service', v_found.service_name, 'pgsb.queue', v_found.queue,
                               'messaging.message.conversation_id', upper(v_found.conversation_handle::text)),
            CASE WHEN ssb_internal.is_trace(v_session) THEN ARRAY[v_session] ELSE '{}' END), true);
    ELSIF current_setting('pgsb.trace_received', true) <> '' THEN
        PERFORM set_config('pgsb.trace_received', '', true);
    END IF;
END;
$$;

-- The context of the message that this session has sent last on this conversation, in the same transaction as its SEND.
-- False where there is no such message. Needs what SEND needs. The order sequence tells which message that was: currval is the
-- session's own.
CREATE OR REPLACE FUNCTION ssb.trace_message(handle uuid, traceparent text, tracestate text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_trace CONSTANT text := ssb_internal.trace_of(traceparent, tracestate);
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
    v_order bigint;
BEGIN
    SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = handle;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb_internal.require_receive(v_queue);
    BEGIN
        IF v_endpoint.far_endpoint_id IS NULL OR v_endpoint.has_waiting THEN
            UPDATE ssb.transmission AS t SET trace = v_trace
             -- (From the dialog's last one on: what this session has sent is among those.)
             WHERE t.ctid = (SELECT s.ctid FROM ssb.transmission AS s
                              WHERE s.endpoint_id BETWEEN v_endpoint.endpoint_id AND v_endpoint.endpoint_id
                                AND s.transmission_id = currval(pg_get_serial_sequence('ssb.transmission', 'transmission_id'))
                              ORDER BY s.endpoint_id DESC, s.message_sequence_number DESC LIMIT 1);
            RETURN FOUND;
        END IF;
        v_order := currval(v_endpoint.far_order);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        RETURN false;                              -- this session has sent nothing there
    END;
    RETURN ssb_internal.keep_trace(v_endpoint.far_endpoint_id, v_order, NULL, v_trace);
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

-- What nobody has asked for in a day, and spans that no daemon has told within an hour.
-- (The time as a subquery, as in every look that an index by time serves: a volatile function is no condition of one.)
-- Called by  ssb_internal.sample_queues
CREATE OR REPLACE FUNCTION ssb_internal.forget_traces()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- (Who receives such a message may take as long as he likes.)
    DELETE FROM ssb.message_trace AS t
     WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.message_trace AS o
                                WHERE o.noted_at < (SELECT clock_timestamp()) - interval '1 day' FOR UPDATE SKIP LOCKED));
    DELETE FROM ssb.trace_span AS s WHERE s.ended_at < (SELECT clock_timestamp()) - interval '1 hour';
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_traces() FROM PUBLIC;

-- For the daemon, which tells them to OpenTelemetry: each once.
CREATE OR REPLACE FUNCTION ssb_internal.take_spans()
RETURNS SETOF ssb.trace_span
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.trace_span AS s
     WHERE s.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.trace_span AS o LIMIT 1000 FOR UPDATE SKIP LOCKED))
    RETURNING s.*;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_spans() FROM PUBLIC;
