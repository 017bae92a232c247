-- BEGIN DIALOG and its first SEND as one: for clients a round trip less, and for the server half the
-- work, since both sides' rows are written once.
--
-- Where anything is special or wrong the statements do it, one after the other: they find out what it is, and SEND
-- keeps the path for the next dialog.
--
-- Locks      as SEND; the new dialog is nobody else's yet

-- The handle. NULL: not on the fast path (dialog_fast_path.sql), and nothing was done.
-- Called by  ssb.send_new, compiled BEGIN DIALOG that a SEND follows
CREATE OR REPLACE FUNCTION ssb_internal.begin_and_send(p_from_service text, p_to_service text, p_contract text, p_message_type text,
                                                       p_body bytea, p_is_encrypted boolean DEFAULT true,
                                                       p_database text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_database_id integer := CASE WHEN coalesce(p_database, nullif(current_setting('pgsb.database', true), '')) IS NULL THEN 5
                                  ELSE ssb_internal.database_id_of(p_database) END;
    -- Before the contract is read, as in ssb_internal.send_first_fast_path.
    v_lock text := CASE WHEN pg_try_advisory_xact_lock_shared(1397965377, hashtext(p_message_type)) THEN ''
                        ELSE ssb_internal.await_definition() END;
    v_handle CONSTANT uuid := gen_random_uuid();
    v_service_id integer;
    v_queue_id integer;
    v_near_order regclass;
    v_near_state regclass;
    v_contract_id integer;
    v_far_service_id integer;
    v_far_queue_id integer;
    v_far_order regclass;
    v_far_state regclass;
    v_broker_guid text;
    v_type_id integer;
    v_validation char(2);
    v_near_id bigint;
    v_far_id bigint;
    v_order bigint;
    v_priority smallint;
    v_far_priority smallint;
    v_is_in_0 boolean;
    v_is_retaining boolean;            -- the initiator's queue
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    -- The transaction's number comes before the order, and that after its advisory lock: see ssb.send.
    SELECT p.service_id, p.queue_id, p.near_order, p.near_state, p.contract_id, p.far_service_id, p.far_queue_id,
           p.far_order, p.far_state, p.broker_guid, p.near_priority, p.far_priority, u.message_type_id, u.validation, nextval('ssb.endpoint_id'), nextval('ssb.endpoint_id'),
           CASE WHEN pg_current_xact_id() IS NOT NULL
                     AND pg_try_advisory_xact_lock(1397965379, p.far_order::oid::integer) IS NOT NULL THEN nextval(p.far_order) END,
           coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0,
           NOT has_sequence_privilege('public', p.near_state, 'SELECT')
      INTO v_service_id, v_queue_id, v_near_order, v_near_state, v_contract_id, v_far_service_id, v_far_queue_id,
           v_far_order, v_far_state, v_broker_guid, v_priority, v_far_priority, v_type_id, v_validation, v_near_id, v_far_id, v_order, v_is_in_0,
           v_is_retaining
      FROM ssb.dialog_path AS p
      JOIN ssb.contract_message_usage AS u ON u.contract_id = p.contract_id AND u.message_type_name = p_message_type
     WHERE p.database_id = v_database_id AND p.from_service = p_from_service AND p.to_service = p_to_service
       AND p.contract = p_contract
       -- First the locks of both services, then the epoch, then the queues' states, as in ssb_internal.send_first_fast_path.
       AND CASE WHEN p.far_service_id IS NOT NULL
                     AND pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p.service_id))
                     AND pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p.far_service_id))
                THEN p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0)
                     AND ssb_internal.is_accepting(p.far_state)
                     AND coalesce(pg_sequence_last_value(p.far_state), 0) = 0
                     AND (has_sequence_privilege('public', p.near_state, 'SELECT')
                          OR ssb_internal.is_accepting(p.near_state) AND coalesce(pg_sequence_last_value(p.near_state), 0) < 2) END
       -- (That the body is there, as a condition of its own, would be a plan node above the join.)
       AND u.is_sent_by_initiator
       AND CASE WHEN p_body IS NOT NULL
                THEN u.validation = 'N' OR ssb_internal.is_valid_body(u.message_type_id, u.validation, p_body) END
       AND has_sequence_privilege(ssb_internal.calling_role(),
                                  p.near_order, 'USAGE');
    IF NOT FOUND THEN
        RETURN ssb_internal.begin_and_send_to_remote(v_database_id, p_from_service, p_to_service, p_contract, p_message_type, p_body,
                                                     p_is_encrypted);
    END IF;
    -- One projection for both sides: expressions in VALUES are prepared one by one, for each row.
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id,
            service_id, queue_id,
            near_order, near_state,
            contract_id, priority,
            service_name, contract_name,
            far_service, far_broker_instance,
            first_type_id, first_type,
            far_endpoint_id, far_queue_id,
            far_order, far_state,
            far_contract_id, far_priority,
            sent_count, sent_order,
            plain_type_id,
            plain_type,
            due_at)
    SELECT s.id, s.handle, v_handle, s.is_initiator, coalesce(p_is_encrypted, true), false, s.id,
           s.handle, v_database_id,
           CASE WHEN s.is_initiator THEN v_service_id ELSE v_far_service_id END, CASE WHEN s.is_initiator THEN v_queue_id ELSE v_far_queue_id END,
           CASE WHEN s.is_initiator THEN v_near_order ELSE v_far_order END, CASE WHEN s.is_initiator THEN v_near_state ELSE v_far_state END,
           v_contract_id, CASE WHEN s.is_initiator THEN v_priority ELSE v_far_priority END,
           CASE WHEN s.is_initiator THEN p_from_service ELSE p_to_service END, p_contract,
           CASE WHEN s.is_initiator THEN p_to_service ELSE p_from_service END, CASE WHEN NOT s.is_initiator THEN v_broker_guid END,
           CASE WHEN NOT s.is_initiator THEN v_type_id END, CASE WHEN NOT s.is_initiator THEN p_message_type END,
           CASE WHEN s.is_initiator THEN v_far_id ELSE v_near_id END, CASE WHEN s.is_initiator THEN v_far_queue_id ELSE v_queue_id END,
           CASE WHEN s.is_initiator THEN v_far_order ELSE v_near_order END, CASE WHEN s.is_initiator THEN v_far_state ELSE v_near_state END,
           v_contract_id, CASE WHEN s.is_initiator THEN v_far_priority ELSE v_priority END,
           s.is_initiator::integer, CASE WHEN s.is_initiator THEN v_order END,
           CASE WHEN s.is_initiator AND v_validation = 'N' THEN v_type_id END,
           CASE WHEN s.is_initiator AND v_validation = 'N' THEN p_message_type END,
           CASE WHEN NOT s.is_initiator THEN now() + interval '31 minutes' END
      FROM (VALUES (true, v_near_id, v_handle), (false, v_far_id, ssb_internal.target_handle(v_handle))) AS s (is_initiator, id, handle);
    IF p_body = '' AND v_validation <> 'N' THEN
        p_body := NULL;
    END IF;
    IF v_is_in_0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_id, v_order, 0, clock_timestamp(), v_type_id, v_far_priority, v_validation, p_body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_far_queue_id, v_far_id, v_order, 0, clock_timestamp(), v_type_id, v_far_priority, v_validation, p_body);
    END IF;
    IF v_is_retaining THEN
        PERFORM ssb_internal.retain_sent(v_near_id, v_queue_id, v_near_order, 0, v_type_id, v_priority, v_validation, p_body);
    END IF;
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        PERFORM ssb_internal.trace_sent(v_near_id, p_message_type, v_far_id, v_order);
    END IF;
    RETURN v_handle;
END;
$$;

-- A body of characters is an nvarchar, as in ssb.send.
CREATE OR REPLACE FUNCTION ssb_internal.begin_and_send(p_from_service text, p_to_service text, p_contract text, p_message_type text,
                                                       p_body text, p_is_encrypted boolean DEFAULT true,
                                                       p_database text DEFAULT NULL)
RETURNS uuid
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb_internal.begin_and_send(p_from_service, p_to_service, p_contract, p_message_type,
                                       ssb.nvarchar_bytes(p_body), p_is_encrypted, p_database);
END;

CREATE OR REPLACE FUNCTION ssb_internal.begin_then_send(p_from_service text, p_to_service text, p_contract text, p_message_type text,
                                                        p_body bytea)
RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_handle CONSTANT uuid := ssb.begin_dialog(p_from_service, p_to_service, p_contract);
BEGIN
    PERFORM ssb.send(v_handle, p_message_type, p_body);
    RETURN v_handle;
END;
$$;

-- Bodies that are parsed here become part of the caller's statement: no function call of their own.
-- Called by  users
CREATE OR REPLACE FUNCTION ssb.send_new(from_service text, to_service text, contract text, message_type text, body bytea)
RETURNS uuid
LANGUAGE sql
BEGIN ATOMIC
    SELECT COALESCE(ssb_internal.begin_and_send(from_service, to_service, contract, message_type, body),
                    ssb_internal.begin_then_send(from_service, to_service, contract, message_type, body));
END;

CREATE OR REPLACE FUNCTION ssb.send_new(from_service text, to_service text, contract text, message_type text, body text)
RETURNS uuid
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb.send_new(from_service, to_service, contract, message_type, ssb.nvarchar_bytes(body));
END;
