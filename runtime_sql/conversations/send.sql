-- SEND.
--
-- Most messages take the fast path: three statements of one table each, found by
-- primary keys. (One statement with joins takes half as long again: what an
-- executor costs to set up grows with the nodes and columns of its plan.) They lock
-- the sender's group, make sure that nothing is special, and append to the receiver's
-- queue. (Where a queue retains, ssb_internal.send_retained does nearly the same.) Where anything is special (a body that is
-- not valid or needs a schema, a lifetime that is over, a queue that is off, a watcher to wake, a missing right, a wrong
-- argument) ssb_internal.send_slow_path takes over, which does everything and knows every
-- error.
--
-- A lock that had to be waited for gives the row in its newest version: whoever held
-- it before may have ended or moved the conversation. The order is drawn after the
-- lock, so messages of one conversation are in the order in which their transactions
-- commit; and after the transaction's number, which the lock draws: see ssb.receive.
--
-- message_sequence_number: the first 16 messages of a side are counted exactly in
-- its endpoint's row. Counting all would leave a dead row per message, which is
-- what makes queues collapse while an old snapshot pins the horizon. After those
-- the number follows the far queue's order: still 1 more from message to message
-- while one conversation alone uses that queue, always rising, with gaps when
-- several do.
--
-- One of the senders to a queue holds the advisory lock (1397965379, its order sequence), for which
-- ssb.wait_for_message waits, a little while at a time. A sender only tries; it never waits for it.
--
-- Called by  compiled SEND; the functions of activation/recycled_dialogs.sql
-- Locks      the sender's group; never anything of the receiver's; that advisory lock, if it is free

CREATE OR REPLACE FUNCTION ssb.send(handle uuid, message_type text, body bytea)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_lock_id bigint;
    v_endpoint_id bigint;
    v_count bigint;
    v_count_order bigint;
    v_far_endpoint_id bigint;
    v_far_queue_id integer;
    v_far_order regclass;
    v_far_priority smallint;
    v_type_id integer;
    v_validation char(2);              -- where the type was looked up
    v_order bigint;
    v_rotation bigint;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- A dialog that is a group by itself: its own row is the lock.
    SELECT e.endpoint_id, e.sent_count, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority,
           CASE WHEN e.plain_type = message_type AND body IS NOT NULL THEN e.plain_type_id END
      INTO v_endpoint_id, v_count, v_count_order, v_far_endpoint_id, v_far_queue_id, v_far_order, v_far_priority, v_type_id
      FROM ssb.conversation_endpoint AS e
     WHERE e.conversation_handle = handle AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
       AND NOT e.has_waiting AND (e.lifetime IS NULL OR e.lifetime > clock_timestamp())
       AND has_sequence_privilege('public', e.near_state, 'SELECT')
       AND has_sequence_privilege('public', coalesce(e.far_state, e.near_state), 'SELECT')
       AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
       AND has_sequence_privilege(ssb_internal.calling_role(),
                                  e.near_order, 'USAGE')
       FOR NO KEY UPDATE;
    IF v_type_id IS NULL THEN
        IF body IS NULL THEN
            PERFORM ssb_internal.raise_error(8433, 'The message body may not be NULL.  A zero-length UNICODE or binary string is allowed.');
        ELSIF v_endpoint_id IS NULL THEN
            -- (Where no queue has had groups there is none to look for. v_lock_id is NULL then.)
            IF pg_sequence_last_value('ssb.groups_or_retention') IS NOT NULL THEN
                SELECT e.lock_id INTO v_lock_id FROM ssb.conversation_endpoint AS e
                 WHERE e.conversation_handle = handle AND e.lock_id <> e.endpoint_id AND e.far_state IS NOT NULL;
            END IF;
            IF v_lock_id IS NOT NULL THEN
                PERFORM FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = v_lock_id FOR NO KEY UPDATE;
                SELECT e.endpoint_id, e.sent_count, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority,
                       CASE WHEN e.plain_type = message_type THEN e.plain_type_id END
                  INTO v_endpoint_id, v_count, v_count_order, v_far_endpoint_id, v_far_queue_id, v_far_order, v_far_priority,
                       v_type_id
                  FROM ssb.conversation_endpoint AS e
                 WHERE e.conversation_handle = handle AND e.lock_id = v_lock_id AND e.closed_at IS NULL AND NOT e.is_error
                   AND NOT e.has_waiting AND (e.lifetime IS NULL OR e.lifetime > clock_timestamp())
                   AND has_sequence_privilege('public', e.near_state, 'SELECT')
                   AND has_sequence_privilege('public', e.far_state, 'SELECT')
                   AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
                   AND has_sequence_privilege(ssb_internal.calling_role(),
                                              e.near_order, 'USAGE');
            END IF;
        ELSIF v_far_endpoint_id IS NULL AND ssb_internal.send_first_fast_path(v_endpoint_id, message_type, body) THEN
            RETURN;
        END IF;
        IF v_type_id IS NULL AND v_far_endpoint_id IS NOT NULL THEN
            -- Not this side's first type. The contract of both sides is one where they are in one database.
            SELECT u.message_type_id, u.validation INTO v_type_id, v_validation
              FROM ssb.conversation_endpoint AS e
              JOIN ssb.contract_message_usage AS u ON u.contract_id = e.contract_id AND u.message_type_name = message_type
             WHERE e.endpoint_id = v_endpoint_id AND e.far_contract_id = e.contract_id
               AND CASE WHEN e.is_initiator THEN u.is_sent_by_initiator ELSE u.is_sent_by_target END
               AND (u.validation = 'N' OR ssb_internal.is_valid_body(u.message_type_id, u.validation, body));
            IF v_validation <> 'N' AND body = '' THEN
                body := NULL;
            END IF;
        END IF;
        IF v_type_id IS NULL THEN
            IF v_endpoint_id IS NULL AND pg_sequence_last_value('ssb.groups_or_retention') IS NOT NULL
               AND ssb_internal.send_retained(handle, message_type, body) THEN
                RETURN;
            ELSIF v_endpoint_id IS NOT NULL OR NOT ssb_internal.send_to_known_remote(handle, message_type, ARRAY[body]) THEN
                PERFORM ssb_internal.send_slow_path(handle, message_type, body, NULL);
            END IF;
            RETURN;
        END IF;
    END IF;
    -- The order, after the lock; before it the lock that tells a receiver who waits when we are through.
    SELECT nextval(v_far_order), coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) INTO v_order, v_rotation
      FROM ssb.conversation_endpoint AS f
     WHERE f.endpoint_id = v_far_endpoint_id AND f.closed_at IS NULL AND NOT f.is_refused
       AND pg_try_advisory_xact_lock(1397965379, v_far_order::oid::integer) IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM ssb_internal.send_slow_path(handle, message_type, body, NULL);
        RETURN;
    END IF;
    IF v_count < 16 OR v_count_order IS NULL THEN
        UPDATE ssb.conversation_endpoint AS e SET sent_count = v_count + 1, sent_order = v_order
         WHERE e.endpoint_id = v_endpoint_id;
        v_count_order := v_order - 1;
    END IF;
    IF v_validation <> 'N' THEN
        PERFORM ssb_internal.store_message(v_far_queue_id, v_far_endpoint_id, v_order, v_count + v_order - v_count_order - 1,
                                           clock_timestamp(), v_type_id, v_far_priority, v_validation, body);
    ELSIF v_rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_endpoint_id, v_order, v_count + v_order - v_count_order - 1, clock_timestamp(),
                v_type_id, v_far_priority, 'N', body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_endpoint_id, v_order, v_count + v_order - v_count_order - 1, clock_timestamp(),
                v_type_id, v_far_priority, 'N', body);
    END IF;
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        PERFORM ssb_internal.trace_sent(v_endpoint_id, message_type, v_far_endpoint_id, v_order);
    END IF;
END;
$$;

-- A body of characters is an nvarchar (schema/nvarchar.sql). As a body that is parsed here, bound to these
-- functions whatever the caller's search_path, it becomes part of the caller's statement.
CREATE OR REPLACE FUNCTION ssb.send(handle uuid, message_type text, body text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb.send(handle, message_type, ssb.nvarchar_bytes(body));
END;

CREATE OR REPLACE FUNCTION ssb.send(handle uuid, body bytea)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb.send(handle, 'DEFAULT', body);
END;

-- ssb.send(handle, body => 'text'): a body of characters, of the type DEFAULT. Of the type bpchar, because (uuid, text)
-- is a message type without a body; text becomes bpchar as it is, and back by its characters, blanks at the end included.
CREATE OR REPLACE FUNCTION ssb.send(handle uuid, body bpchar)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb.send(handle, 'DEFAULT', ssb.nvarchar_bytes(pg_catalog.textin(pg_catalog.bpcharout(body))));
END;

-- SEND without a body, which is not the same as with a body that is NULL.
CREATE OR REPLACE FUNCTION ssb.send(handle uuid, message_type text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
BEGIN
    -- VALIDATION = EMPTY makes a body of zero length and none the same.
    PERFORM FROM ssb.conversation_endpoint AS e
       JOIN ssb.contract_message_usage AS u ON u.contract_id = e.contract_id AND u.message_type_name = message_type
      WHERE e.conversation_handle = handle AND u.validation = 'E';
    IF FOUND THEN
        PERFORM ssb.send(handle, message_type, ''::bytea);
    ELSE
        PERFORM ssb_internal.send_slow_path(handle, message_type, NULL, NULL);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send(handle uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb.send(handle, 'DEFAULT');
END;
$$;

-- NULL: a message without a body, as in sets of messages.
CREATE OR REPLACE FUNCTION ssb_internal.send_or_signal(p_handle uuid, p_message_type text, p_body bytea)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_body IS NULL THEN
        PERFORM ssb.send(p_handle, p_message_type);
    ELSE
        PERFORM ssb.send(p_handle, p_message_type, p_body);
    END IF;
END;
$$;

-- SEND with every case: all errors of the statement, first messages, validation,
-- retention, waiting. p_place is the handle's position in a list of several.
CREATE OR REPLACE FUNCTION ssb_internal.send_slow_path(p_handle uuid, p_message_type text, p_body bytea, p_place integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint := ssb_internal.lock_endpoint(p_handle);
    v_queue ssb.queue;
    v_state char(2);
    v_type ssb.message_type;
    v_usage ssb.contract_message_usage;
    v_number bigint;
BEGIN
    IF p_handle IS NULL THEN
        PERFORM ssb_internal.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
    END IF;
    -- NULL: an initiator that both its END CONVERSATION and the far side's broker have finished with.
    v_state := ssb_internal.endpoint_state(v_endpoint);
    IF (v_endpoint.endpoint_id IS NULL OR v_state IS NULL) AND p_place IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(8435, format('The conversation handle "%s" at position %s is not found.',
                                                      upper(p_handle::text), p_place));
    ELSIF v_endpoint.endpoint_id IS NULL OR v_state IS NULL THEN
        PERFORM ssb_internal.raise_handle_not_found(p_handle);
    END IF;
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    PERFORM ssb_internal.require_receive(v_queue);
    IF v_state NOT IN ('SO', 'CO') THEN
        PERFORM ssb_internal.raise_error(8429, format('The conversation endpoint is not in a valid state for SEND. '
                                                      'The current endpoint state is ''%s''.', v_state));
    END IF;
    v_type := ssb_internal.find_message_type(v_endpoint.database_id, p_message_type);
    IF v_type.message_type_id IS NULL THEN
        PERFORM ssb_internal.raise_error(8428, format('The message type "%s" is not found.', p_message_type), 16, 1,
                                         CASE WHEN p_body IS NULL
                                              THEN 'Two arguments are a handle and a message type. A body is ssb.send(handle, body => …).' END);
    END IF;
    SELECT u.* INTO v_usage FROM ssb.contract_message_usage AS u
     WHERE u.contract_id = v_endpoint.contract_id AND u.message_type_name = p_message_type;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(8431, format('The message type ''%s'' is not part of the service contract.', p_message_type));
    ELSIF v_endpoint.is_initiator AND NOT v_usage.is_sent_by_initiator THEN
        PERFORM ssb_internal.raise_error(8432, format('The message cannot be sent because the message type ''%s'' is marked SENT BY TARGET '
                                                      'in the contract, however this service is an Initiator.', p_message_type));
    ELSIF NOT v_endpoint.is_initiator AND NOT v_usage.is_sent_by_target THEN
        PERFORM ssb_internal.raise_error(8434, format('The message cannot be sent because the message type ''%s'' is marked SENT BY '
                                                      'INTITIATOR in the contract, however this service is a Target.', p_message_type));
    ELSIF v_queue.is_retention_enabled AND (NOT v_queue.is_enqueue_enabled OR ssb_internal.is_poisoned(v_queue)) THEN
        PERFORM ssb_internal.raise_error(9618, format('The message cannot be sent because the service queue ''%s'' associated with the '
                                                      'dialog is currently disabled and retention is on.', v_queue.spelling));
    END IF;
    IF v_usage.validation = 'E' AND p_body = '' THEN
        p_body := NULL;
    END IF;
    v_number := ssb_internal.next_number(v_endpoint);
    PERFORM ssb_internal.deliver_or_keep(v_endpoint, p_message_type, v_number, false, false, p_body);
    IF v_queue.is_retention_enabled THEN
        PERFORM ssb_internal.retain_sent(v_endpoint.endpoint_id, v_queue.queue_id, v_queue.order_sequence, v_number,
                                         v_usage.message_type_id, v_endpoint.priority, v_usage.validation, p_body);
    END IF;
END;
$$;

-- The number behind the last message of this side that waits in the transmission queue; NULL: none does.
--
-- The plan is made while next to nothing waits, and serves for long: the order is asked so that no index but the primary key's has it,
-- whatever reading all of another seems to cost.
CREATE OR REPLACE FUNCTION ssb_internal.number_behind_waiting(p_endpoint_id bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
BEGIN
    RETURN (SELECT t.message_sequence_number + 1 FROM ssb.transmission AS t
             WHERE t.endpoint_id BETWEEN p_endpoint_id AND p_endpoint_id ORDER BY t.endpoint_id DESC, t.message_sequence_number DESC LIMIT 1);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.number_behind_waiting(bigint) FROM PUBLIC;

-- The number of the next message that this side sends. Of a dialog with another instance it follows from what is
-- on its way and what has arrived: counting in the endpoint's row would leave a dead row for each message.
CREATE OR REPLACE FUNCTION ssb_internal.next_number(p_endpoint ssb.conversation_endpoint)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN (SELECT CASE WHEN p_endpoint.far_endpoint_id IS NULL AND p_endpoint.has_waiting
                        THEN greatest(p_endpoint.sent_count,
                                      (SELECT r.acknowledged FROM ssb.remote_conversation AS r WHERE r.endpoint_id = p_endpoint.endpoint_id),
                                      ssb_internal.number_behind_waiting(p_endpoint.endpoint_id))
                        WHEN p_endpoint.sent_count < 16 OR p_endpoint.sent_order IS NULL OR q.queue_id IS NULL
                        THEN p_endpoint.sent_count
                        ELSE p_endpoint.sent_count + pg_sequence_last_value(q.order_sequence) - p_endpoint.sent_order END
              FROM (SELECT) AS one_row
              LEFT JOIN ssb.queue AS q ON q.queue_id = p_endpoint.far_queue_id);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.next_number(ssb.conversation_endpoint) FROM PUBLIC;
