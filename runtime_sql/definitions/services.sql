-- CREATE, ALTER, DROP SERVICE.
--
-- Another queue, and DROP, wait for those who are making a target's side of the service, and those who want to wait for them
-- (ssb_internal.share_service): no side is left on a queue where the service is not.

CREATE OR REPLACE FUNCTION ssb_internal.add_contracts(p_service_id integer, p_database_id integer, p_contracts text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_contract ssb.contract;
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY coalesce(p_contracts, '{}') LOOP
        v_contract := ssb_internal.find_contract(p_database_id, v_name);
        IF v_contract.contract_id IS NULL
           OR v_name <> 'DEFAULT' AND NOT ssb_internal.may_refer_to('CONTRACT', v_contract.contract_id, v_contract.owner, p_database_id) THEN
            PERFORM ssb_internal.raise_not_found('find', 'contract', v_name);
        END IF;
        INSERT INTO ssb.service_contract_usage (service_id, contract_id) VALUES (p_service_id, v_contract.contract_id)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_error(8404, format('The service contract ''%s'' is specified more than once.  '
                                                          'Remove the duplicate service contract.', v_name));
        END IF;
    END LOOP;
END;
$$;

-- A service's queue: one of the same database on which the caller has REFERENCES.
CREATE OR REPLACE FUNCTION ssb_internal.queue_for_service(p_queue text, p_database_id integer)
RETURNS ssb.queue
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_queue) AND q.database_id = p_database_id;
    -- Who may put a service of his own on a queue may put messages there, which else takes SEND.
    IF NOT FOUND OR NOT ssb_internal.may_refer_to('QUEUE', v_queue.queue_id, v_queue.owner, p_database_id) THEN
        PERFORM ssb_internal.raise_not_found('find', 'queue', p_queue);
    END IF;
    RETURN v_queue;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_service(name text, queue text, contracts text[] DEFAULT '{}',
                                              owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_queue ssb.queue;
    v_service_id integer;
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE SERVICE', v_database_id);
    PERFORM ssb_internal.check_name(name);
    v_queue := ssb_internal.queue_for_service(queue, v_database_id);
    IF name IN (SELECT s.name FROM ssb_internal.system_service AS s) THEN
        PERFORM ssb_internal.raise_exists('service', name);
    END IF;
    INSERT INTO ssb.service AS s (database_id, name, queue_id, owner)
    VALUES (v_database_id, name, v_queue.queue_id, ssb_internal.owner_or_caller(owner, v_database_id))
    ON CONFLICT DO NOTHING
    RETURNING s.service_id INTO v_service_id;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_exists('service', name);
    END IF;
    PERFORM ssb_internal.add_contracts(v_service_id, v_database_id, contracts);
    -- What was sent before the service existed waits for it.
    PERFORM ssb_internal.deliver_waiting_for_queue(v_queue.queue_id);
END;
$$;

-- The service that ALTER or DROP means.
CREATE OR REPLACE FUNCTION ssb_internal.service_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.service
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_service ssb.service := ssb_internal.find_service(p_database_id, p_name);
BEGIN
    IF p_name IN (SELECT s.name FROM ssb_internal.system_service AS s) THEN
        PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
    ELSIF v_service.service_id IS NULL THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'service', p_name);
    END IF;
    PERFORM ssb_internal.require_permission(p_verb, 'SERVICE', v_service.service_id, p_name, 'ALTER', v_service.owner, p_database_id);
    RETURN v_service;
END;
$$;

-- Existing dialogs keep a dropped contract; their messages move along to a new queue.
CREATE OR REPLACE FUNCTION ssb_internal.alter_service(name text, queue text DEFAULT NULL, add_contracts text[] DEFAULT '{}',
                                             drop_contracts text[] DEFAULT '{}', database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_service ssb.service := ssb_internal.service_to_change('alter', name, v_database_id);
    v_contract ssb.contract;
    v_queue ssb.queue;
    v_name text;
BEGIN
    IF queue IS NULL AND coalesce(cardinality(add_contracts), 0) = 0 AND coalesce(cardinality(drop_contracts), 0) = 0 THEN
        PERFORM ssb_internal.raise_error(8493, format('The alter of service ''%s'' must change the queue or at least one contract.', name));
    END IF;
    IF queue IS NOT NULL THEN
        v_queue := ssb_internal.queue_for_service(queue, v_database_id);
        PERFORM ssb_internal.lock_service(v_service.service_id);
    END IF;
    PERFORM FROM ssb.service AS s WHERE s.service_id = v_service.service_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('alter', 'service', name);
    END IF;
    FOREACH v_name IN ARRAY coalesce(drop_contracts, '{}') LOOP
        v_contract := ssb_internal.find_contract(v_database_id, v_name);
        DELETE FROM ssb.service_contract_usage AS u
         WHERE u.service_id = v_service.service_id AND u.contract_id = v_contract.contract_id;
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_not_found('find', 'contract', v_name);
        END IF;
    END LOOP;
    PERFORM ssb_internal.add_contracts(v_service.service_id, v_database_id, add_contracts);
    -- Also where it stays: of this update ALTER_SERVICE tells (activation/definition_events.sql).
    UPDATE ssb.service AS s SET queue_id = coalesce(v_queue.queue_id, s.queue_id) WHERE s.service_id = v_service.service_id;
    IF queue IS NOT NULL THEN
        PERFORM ssb_internal.move_messages_of_service(v_service.service_id, v_queue);
    END IF;
    PERFORM ssb_internal.deliver_waiting_for_queue(coalesce(v_queue.queue_id, v_service.queue_id));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.move_messages_of_service(p_service_id integer, p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    -- Nobody may be receiving these, or sending on them, meanwhile.
    PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e WHERE e.service_id = p_service_id), true);
    UPDATE ssb.conversation_endpoint AS e
       SET queue_id = p_queue.queue_id, near_order = p_queue.order_sequence, near_state = p_queue.state_sequence
     WHERE e.service_id = p_service_id;
    UPDATE ssb.conversation_endpoint AS f
       SET far_queue_id = p_queue.queue_id, far_order = p_queue.order_sequence, far_state = p_queue.state_sequence,
           sent_order = NULL
      FROM ssb.conversation_endpoint AS e
     WHERE e.service_id = p_service_id AND f.far_endpoint_id = e.endpoint_id;
    UPDATE ssb.queue AS q
       SET has_groups = q.has_groups OR EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                                 WHERE e.service_id = p_service_id AND e.lock_id <> e.endpoint_id),
           priorities = (SELECT array_agg(DISTINCT p.level ORDER BY p.level DESC) FROM
             (SELECT unnest(q.priorities) UNION SELECT e.priority FROM ssb.conversation_endpoint AS e
               WHERE e.service_id = p_service_id) AS p (level))
     WHERE q.queue_id = p_queue.queue_id;
    UPDATE ssb.urgent_conversation AS u SET queue_id = p_queue.queue_id
      FROM ssb.conversation_endpoint AS e
     WHERE e.service_id = p_service_id AND u.endpoint_id = e.endpoint_id;
    UPDATE ssb.retained_message AS r SET queue_id = p_queue.queue_id
      FROM ssb.conversation_endpoint AS e
     WHERE e.service_id = p_service_id AND r.endpoint_id = e.endpoint_id;
    WITH moved AS (
        DELETE FROM ssb.message_stored AS m USING ssb.conversation_endpoint AS e
         WHERE e.service_id = p_service_id AND m.endpoint_id = e.endpoint_id
        RETURNING m.*
    ), in_order AS (
        SELECT m.* FROM moved AS m ORDER BY m.queuing_order
    )
    SELECT count(ssb_internal.store_message(p_queue.queue_id, m.endpoint_id, nextval(p_queue.order_sequence),
                                            m.message_sequence_number, m.enqueued_at, m.message_type_id, m.priority, m.validation,
                                            m.body)) INTO v_count
      FROM in_order AS m;
END;
$$;

-- Its dialogs end: the far sides get an Error, this side's endpoints and messages go (to another instance: when it has arrived).
CREATE OR REPLACE FUNCTION ssb_internal.drop_service(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_service ssb.service := ssb_internal.service_to_change('drop', name, v_database_id);
    v_endpoint ssb.conversation_endpoint;
BEGIN
    IF EXISTS (SELECT FROM ssb.broker_priority AS p WHERE p.service_id = v_service.service_id) THEN
        PERFORM ssb_internal.raise_bound('service', name, 'conversation priority');
    END IF;
    PERFORM ssb_internal.lock_service(v_service.service_id);
    PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                                           WHERE e.service_id = v_service.service_id), true);
    FOR v_endpoint IN SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.service_id = v_service.service_id LOOP
        PERFORM ssb_internal.tell_far_side_of_loss(v_endpoint);
        CONTINUE WHEN ssb_internal.leave_word_of_loss(v_endpoint);
        PERFORM ssb_internal.remove_endpoint(v_endpoint);
    END LOOP;
    DELETE FROM ssb.service AS s WHERE s.service_id = v_service.service_id;
    IF NOT FOUND THEN                  -- as in alter_service
        PERFORM ssb_internal.raise_not_found('drop', 'service', name);
    END IF;
    DELETE FROM ssb.permission AS p WHERE p.class = 'SERVICE' AND p.major_id = v_service.service_id;
END;
$$;
