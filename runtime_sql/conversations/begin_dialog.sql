-- BEGIN DIALOG: the initiator's endpoint, its group, and the lock on that group.
-- Nothing is told to the target before the first SEND.
--
-- Called by  compiled BEGIN DIALOG [CONVERSATION], event notifications
-- Locks      the service's advisory lock, shared: whoever drops it, or gives it another queue, waits to find the dialog;
--            the group's row

-- The level of a new endpoint: that of the best match, 5 without one. Contract
-- counts more than the local service, that more than the remote one.
CREATE OR REPLACE FUNCTION ssb_internal.priority_for(p_database_id integer, p_contract_id integer, p_service_id integer,
                                                     p_remote_service text)
RETURNS smallint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((
        SELECT p.priority FROM ssb.broker_priority AS p
         WHERE p.database_id = p_database_id
           AND coalesce(p.contract_id, p_contract_id) = p_contract_id
           AND coalesce(p.service_id, p_service_id) = p_service_id
           AND coalesce(p.remote_service, p_remote_service) = p_remote_service
         ORDER BY p.contract_id IS NULL, p.service_id IS NULL, p.remote_service IS NULL LIMIT 1), 5);
END;
$$;

-- The queue must know every priority that its messages may have: RECEIVE looks level by level. It forgets none.
CREATE OR REPLACE FUNCTION ssb_internal.note_priority(p_queue_id integer, p_priority smallint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_priority <> 5 THEN
        UPDATE ssb.queue AS q
           SET priorities = (SELECT array_agg(l ORDER BY l DESC) FROM unnest(q.priorities || p_priority) AS l)
         WHERE q.queue_id = p_queue_id AND p_priority <> ALL (q.priorities);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_priority(integer, smallint) FROM PUBLIC;

-- A new endpoint and, unless it joins one, its group.
CREATE OR REPLACE FUNCTION ssb_internal.make_endpoint(p_is_initiator boolean, p_conversation_id uuid, p_service ssb.service,
    p_contract_id integer, p_contract_name text, p_far_service text, p_far_broker_instance text,
    p_lock_id bigint, p_group uuid, p_lifetime timestamptz, p_encryption boolean, p_is_system boolean,
    p_far ssb.conversation_endpoint)
RETURNS ssb.conversation_endpoint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_id bigint := nextval('ssb.endpoint_id');
    v_priority smallint := ssb_internal.priority_for(p_service.database_id, p_contract_id, p_service.service_id, p_far_service);
    v_endpoint ssb.conversation_endpoint;
BEGIN
    INSERT INTO ssb.conversation_endpoint AS e
           (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id,
            conversation_group_id, database_id,
            service_id, queue_id, near_order, near_state, contract_id, priority, service_name, contract_name, far_service,
            far_broker_instance, lifetime, due_at,
            far_endpoint_id, far_queue_id, far_order, far_state, far_contract_id, far_priority)
    SELECT v_id, gen_random_uuid(), p_conversation_id, p_is_initiator, p_encryption, p_is_system, coalesce(p_lock_id, v_id),
           coalesce(p_group, gen_random_uuid()),
           p_service.database_id, p_service.service_id, p_service.queue_id, q.order_sequence, q.state_sequence, p_contract_id,
           v_priority, p_service.name, p_contract_name, p_far_service, p_far_broker_instance, p_lifetime, p_lifetime,
           p_far.endpoint_id, p_far.queue_id, p_far.near_order, p_far.near_state, p_far.contract_id, p_far.priority
      FROM (SELECT) AS one_row LEFT JOIN ssb.queue AS q ON q.queue_id = p_service.queue_id
    RETURNING e.* INTO v_endpoint;
    IF p_lock_id IS NOT NULL THEN
        PERFORM ssb_internal.note_joined(p_lock_id);
        UPDATE ssb.queue AS q SET has_groups = true WHERE q.queue_id = p_service.queue_id AND NOT q.has_groups;
    END IF;
    PERFORM ssb_internal.note_priority(p_service.queue_id, v_priority);
    RETURN v_endpoint;
END;
$$;

-- LIFETIME = @seconds, where it is written.
CREATE OR REPLACE FUNCTION ssb_internal.given_lifetime(seconds integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF seconds IS NULL THEN
        PERFORM ssb_internal.raise_error(8406, 'The dialog lifetime can not be NULL. Specify a valid dialog lifetime value from 1 to 2147483647.');
    END IF;
    RETURN seconds;
END;
$$;

-- An open side in the group, of the service if there is one: NULL for a group that nobody has begun.
CREATE OR REPLACE FUNCTION ssb_internal.member_of_group(p_group uuid, p_service_id integer)
RETURNS ssb.conversation_endpoint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT e FROM ssb.conversation_endpoint AS e
             WHERE e.conversation_group_id = p_group AND e.closed_at IS NULL
             ORDER BY e.service_id <> p_service_id LIMIT 1);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.member_of_group(uuid, integer) FROM PUBLIC;

-- A group's conversations are all one service's.
CREATE OR REPLACE FUNCTION ssb_internal.raise_other_service(p_service text, p_related ssb.conversation_endpoint, p_option text, p_id uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(9610, format('The service ''%s'' in the FROM SERVICE clause must match the service ''%s'' referenced by '
                                                  '%s = ''%s''.', p_service, p_related.service_name, p_option, upper(p_id::text)));
END;
$$;

CREATE OR REPLACE FUNCTION ssb.begin_dialog(from_service text, to_service text, contract text DEFAULT 'DEFAULT',
    broker_instance text DEFAULT NULL, related_conversation uuid DEFAULT NULL,
    related_conversation_group uuid DEFAULT NULL, lifetime integer DEFAULT NULL,
    encryption boolean DEFAULT true, database text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := CASE WHEN coalesce(database, nullif(current_setting('pgsb.database', true), '')) IS NULL THEN 5
                                  ELSE ssb_internal.database_id_of(database) END;
    v_handle uuid;
    v_service ssb.service;
    v_contract ssb.contract;
    v_related ssb.conversation_endpoint;
    v_lock_id bigint;
    v_group uuid := related_conversation_group;
    v_end timestamptz;                 -- of the lifetime
BEGIN
    -- A second more than 68 years is no lifetime at all.
    IF lifetime BETWEEN 1 AND 2147483646 THEN
        v_end := clock_timestamp() + make_interval(secs => lifetime);
    END IF;
    IF coalesce(broker_instance, related_conversation::text, related_conversation_group::text) IS NULL
       AND length(to_service) BETWEEN 1 AND 256 AND coalesce(lifetime, 1) > 0 THEN
        v_handle := ssb_internal.begin_dialog_fast_path(v_database_id, from_service, to_service, contract, coalesce(encryption, true), v_end);
        IF v_handle IS NOT NULL THEN
            RETURN v_handle;
        END IF;
    END IF;
    IF from_service IS NULL OR coalesce(to_service, '') = '' THEN
        PERFORM ssb_internal.raise_error(8421, 'The service name is missing.  Specify a service name.');
    ELSIF contract IS NULL THEN
        PERFORM ssb_internal.raise_error(8417, 'The service contract name is NULL.  Specify a service contract name.');
    ELSIF lifetime < 1 THEN
        PERFORM ssb_internal.raise_error(8411, format('The dialog lifetime value of %s is outside the allowable range of 1 to 2147483647. '
                                                      'Specify a valid dialog lifetime value.', lifetime));
    ELSIF length(to_service) > 256 THEN
        PERFORM ssb_internal.raise_error(8412, format('The syntax of the service name ''%s'' is invalid.', left(to_service, 128)));
    ELSIF length(broker_instance) > 128 THEN
        PERFORM ssb_internal.raise_error(8413, format('The syntax of the broker instance ''%s'' is invalid. The specified broker instance '
                                                      'is too long, the maximum size is 256 bytes.', broker_instance));
    END IF;
    LOOP
        v_service := ssb_internal.find_service(v_database_id, from_service);
        IF v_service.service_id IS NULL THEN
            PERFORM ssb_internal.raise_error(8423, format('The service "%s" is not found.', from_service));
        END IF;
        EXIT WHEN ssb_internal.share_service(v_service);
    END LOOP;
    v_contract := ssb_internal.find_contract(v_database_id, contract);
    IF v_contract.contract_id IS NULL THEN
        PERFORM ssb_internal.raise_error(8425, format('The service contract ''%s'' is not found.', contract));
    END IF;
    IF NOT (SELECT ssb_internal.may_receive(q) FROM ssb.queue AS q WHERE q.queue_id = v_service.queue_id) THEN
        PERFORM ssb_internal.raise_error(8494, format('You do not have permission to access the service ''%s''.', from_service), 16, 1,
                                         'BEGIN DIALOG needs RECEIVE on the service''s queue.');
    END IF;

    IF related_conversation IS NOT NULL THEN
        v_related := ssb_internal.lock_endpoint(related_conversation);
        IF v_related.closed_at IS NOT NULL OR v_related.endpoint_id IS NULL THEN
            PERFORM ssb_internal.raise_handle_not_found(related_conversation);
        ELSIF v_related.service_id <> v_service.service_id THEN
            PERFORM ssb_internal.raise_other_service(from_service, v_related, 'RELATED_CONVERSATION', related_conversation);
        END IF;
        v_lock_id := v_related.lock_id;
        v_group := v_related.conversation_group_id;
    ELSIF v_group IS NOT NULL THEN
        LOOP
            v_related := ssb_internal.member_of_group(v_group, v_service.service_id);
            IF v_related.endpoint_id IS NULL THEN
                -- Two that begin the same new group would each make a leader of it.
                PERFORM ssb_internal.lock_new_group(v_group);
                v_related := ssb_internal.member_of_group(v_group, v_service.service_id);
            END IF;
            IF v_related.service_id <> v_service.service_id THEN
                PERFORM ssb_internal.raise_other_service(from_service, v_related, 'RELATED_CONVERSATION_GROUP', v_group);
            END IF;
            EXIT WHEN v_related.endpoint_id IS NULL;
            v_related := ssb_internal.lock_endpoint(v_related.conversation_handle);
            -- Who held it may have ended or moved it: then there is another one, or the group is begun anew.
            EXIT WHEN v_related.closed_at IS NULL AND v_related.conversation_group_id = v_group;
        END LOOP;
        v_lock_id := v_related.lock_id;
    END IF;
    RETURN (ssb_internal.make_endpoint(true, gen_random_uuid(), v_service, v_contract.contract_id, v_contract.name, to_service,
        CASE WHEN upper(broker_instance COLLATE "C") = 'CURRENT DATABASE'
             THEN (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = v_database_id)
             ELSE broker_instance END,
        v_lock_id, v_group, v_end, coalesce(encryption, true), false, NULL)).conversation_handle;
END;
$$;
