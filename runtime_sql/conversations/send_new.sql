-- BEGIN DIALOG and its first SEND as one: for clients a round trip less, and for the server half the
-- work, since both sides' rows are written once.
--
-- Called by  users
-- Locks      as SEND; the new dialog is nobody else's yet
CREATE OR REPLACE FUNCTION ssb.send_new(from_service text, to_service text, contract text, message_type text, body bytea)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := CASE WHEN nullif(current_setting('pgsb.database', true), '') IS NULL THEN 5
                                  ELSE ssb_internal.database_id_of(NULL) END;
    -- Before the contract is read, as in ssb_internal.send_usual_first.
    v_lock text := CASE WHEN pg_try_advisory_xact_lock_shared(1397965377, hashtext(message_type)) THEN ''
                        ELSE ssb_internal.await_message_type() END;
    v_path record;
    v_handle uuid;
    v_conversation uuid;
BEGIN
    LOOP
        -- The transaction's number comes before the order, and that after its advisory lock: see ssb.send.
        SELECT p.service_id, p.queue_id, p.near_order, p.near_state, p.contract_id, p.far_service_id, p.far_queue_id,
               p.far_order, p.far_state, p.broker_guid, u.message_type_id, pg_current_xact_id(),
               nextval('ssb.endpoint_id') AS near_id, nextval('ssb.endpoint_id') AS far_id,
               pg_try_advisory_xact_lock(1397965379, p.far_order::oid::integer),
               nextval(p.far_order) AS queuing_order, coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) AS rotation
          INTO v_path
          FROM ssb.dialog_path AS p
          JOIN ssb.contract_message_usage AS u ON u.contract_id = p.contract_id AND u.message_type_name = message_type
         WHERE p.database_id = v_database_id AND p.from_service = from_service AND p.to_service = to_service
           AND p.contract = contract AND p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0)
           AND u.is_plain_from_initiator AND body IS NOT NULL
           AND has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),
                                      p.near_order, 'USAGE')
           AND has_sequence_privilege('public', p.near_state, 'SELECT')
           AND has_sequence_privilege('public', p.far_state, 'SELECT')
           AND coalesce(pg_sequence_last_value(p.far_state), 0) = 0;
        EXIT WHEN FOUND;
        IF v_lock IS NULL
           OR EXISTS (SELECT FROM ssb.dialog_path AS p
                       WHERE p.database_id = v_database_id AND p.from_service = from_service
                         AND p.to_service = to_service AND p.contract = contract
                         AND p.epoch = coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0))
           OR (ssb_internal.find_dialog_path(v_database_id, from_service, to_service, contract)).service_id IS NULL THEN
            -- Something is special, or wrong.
            v_handle := ssb.begin_dialog(from_service, to_service, contract);
            PERFORM ssb.send(v_handle, message_type, body);
            RETURN v_handle;
        END IF;
        v_lock := NULL;
    END LOOP;
    v_handle := gen_random_uuid();
    v_conversation := gen_random_uuid();
    INSERT INTO ssb.conversation_endpoint
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id, service_id, queue_id, near_order, near_state, contract_id, priority,
            service_name, contract_name, far_service, far_broker_instance, first_type_id, first_type,
            far_endpoint_id, far_queue_id, far_order, far_state, far_contract_id, far_priority,
            sent_count, sent_order, plain_type_id, plain_type)
    VALUES (v_path.near_id, v_handle, v_conversation, true, true, false, v_path.near_id,
            gen_random_uuid(), v_database_id, v_path.service_id, v_path.queue_id, v_path.near_order, v_path.near_state,
            v_path.contract_id, 5, from_service, contract, to_service, NULL, NULL, NULL,
            v_path.far_id, v_path.far_queue_id, v_path.far_order, v_path.far_state, v_path.contract_id, 5,
            1, v_path.queuing_order, v_path.message_type_id, message_type),
           (v_path.far_id, gen_random_uuid(), v_conversation, false, true, false, v_path.far_id,
            gen_random_uuid(), v_database_id, v_path.far_service_id, v_path.far_queue_id, v_path.far_order, v_path.far_state,
            v_path.contract_id, 5, to_service, contract, from_service, v_path.broker_guid, v_path.message_type_id, message_type,
            v_path.near_id, v_path.queue_id, v_path.near_order, v_path.near_state, v_path.contract_id, 5,
            0, NULL, NULL, NULL);
    IF v_path.rotation % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_path.far_queue_id, v_path.far_id, v_path.queuing_order, 0, clock_timestamp(), v_path.message_type_id, 5, 'N', body);
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        VALUES (v_path.far_queue_id, v_path.far_id, v_path.queuing_order, 0, clock_timestamp(), v_path.message_type_id, 5, 'N', body);
    END IF;
    IF current_setting('pgsb.traceparent', true) <> '' THEN
        PERFORM ssb_internal.trace_sent(v_path.near_id, message_type, v_path.far_id, v_path.queuing_order);
    END IF;
    RETURN v_handle;
END;
$$;

-- A body of characters is stored as UTF-8, as in ssb.send.
CREATE OR REPLACE FUNCTION ssb.send_new(from_service text, to_service text, contract text, message_type text, body text)
RETURNS uuid
LANGUAGE sql
BEGIN ATOMIC
    SELECT ssb.send_new(from_service, to_service, contract, message_type, pg_catalog.convert_to(body, 'UTF8'));
END;
