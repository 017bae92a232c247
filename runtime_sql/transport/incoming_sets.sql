-- Messages of other instances taken as a set. Most are plain: of a dialog that is open on both sides, the next ones in its order, of
-- types that its contract knows, for a queue that takes them; or they begin a dialog with a service of that name
-- that is the only one. For those everything is looked up once for the set, the dialog, the queue or the pair of contract and type, and
-- written by one statement for each table. Every other dialog of the set is taken as ssb_internal.take_set does, message by message.
--
-- Called by  ssb_internal.take_incoming
-- Locks      the remote conversations' rows in the order of conversation_id, as ssb_internal.take_set; advisory locks only where they
--            are free

-- What a dialog of another instance that begins leads to. NULL: something is special, or wrong, and
-- ssb_internal.make_target_for_remote finds out.
CREATE OR REPLACE FUNCTION ssb_internal.path_for_remote(p_to_service text, p_to_instance text, p_contract text, p_is_encrypted boolean,
    p_security char(1), p_database_id integer, p_far_user text,
    OUT service ssb.service, OUT queue ssb.queue, OUT contract_id integer, OUT contract_name text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_found ssb.service[];
    v_contract ssb.contract;
BEGIN
    IF (p_security = 'N' AND p_is_encrypted)
       OR upper((SELECT f.address FROM ssb_internal.find_route(4, p_to_service, p_to_instance, 'LOCAL', false) AS f) COLLATE "C") IS DISTINCT FROM 'LOCAL' THEN
        RETURN;
    END IF;
    v_found := ARRAY(SELECT s FROM ssb.service AS s JOIN ssb.database AS d ON d.database_id = s.database_id
                      WHERE s.name = p_to_service
                        AND CASE WHEN p_security = 'N' THEN p_to_instance IS NULL OR d.service_broker_guid::text = lower(p_to_instance)
                                 ELSE s.database_id = p_database_id END);
    IF cardinality(v_found) <> 1
       OR NOT (CASE WHEN p_security = 'N'
                    THEN ssb_internal.has_permission(ssb_internal.caller(), 'SERVICE', v_found[1].service_id, 'SEND', v_found[1].owner,
                                                     v_found[1].database_id)
                    ELSE ssb_internal.user_may_send(p_far_user, v_found[1]) END) THEN
        RETURN;
    END IF;
    v_contract := ssb_internal.find_contract(v_found[1].database_id, p_contract);
    IF EXISTS (SELECT FROM ssb.service_contract_usage AS u
                WHERE u.service_id = v_found[1].service_id AND u.contract_id = v_contract.contract_id) THEN
        service := v_found[1];
        contract_id := v_contract.contract_id;
        contract_name := v_contract.name;
        SELECT q.* INTO STRICT queue FROM ssb.queue AS q WHERE q.queue_id = service.queue_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.path_for_remote(text, text, text, boolean, char, integer, text) FROM PUBLIC;

-- Takes what is plain. next_numbers: of each dialog in the order of p_dialogs; 0 where it is not plain, and nothing has been done
-- for it. instances: which instance this is, for dialogs whose first message is in the set.
CREATE OR REPLACE FUNCTION ssb_internal.take_plain(p_dialogs ssb.arrived_dialog[], p_places integer[], p_numbers bigint[], p_message_types text[],
                                                   p_kinds text[], p_bodies bytea[], p_is_opened boolean,
                                                   OUT next_numbers bigint[], OUT instances text[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    -- Of the set's dialogs by their places (from 1 here); endpoint 0: not plain.
    v_endpoints bigint[];
    v_next bigint[];
    v_queues integer[];
    v_orders integer[];                -- the sequences of the queues
    v_contracts integer[];
    v_priorities smallint[];
    v_are_targets boolean[];           -- this side
    v_databases integer[];
    v_paths integer[];                 -- of dialogs that begin, below; 0: known
    v_reached bigint[];                -- the numbers behind their last messages
    v_first bigint[];                  -- their first messages' numbers
    v_counts bigint[];                 -- how many messages they have
    v_usual_places integer[];          -- what the arrays are where nothing else is in the set
    v_usual_numbers bigint[];
    -- Of dialogs that begin.
    v_new_places integer[] := '{}';
    v_new_paths integer[] := '{}';
    v_new_conversations uuid[] := '{}';
    v_new_keys uuid[] := '{}';
    v_new_services text[] := '{}';
    v_new_instances text[] := '{}';
    v_new_lifetimes double precision[] := '{}';
    v_new_key_ids uuid[] := '{}';
    -- Where those lead, by their paths.
    v_path_databases integer[] := '{}';
    v_path_services integer[] := '{}';
    v_path_service_names text[] := '{}';
    v_path_owners text[] := '{}';
    v_path_queues integer[] := '{}';
    v_path_orders integer[] := '{}';
    v_path_states integer[] := '{}';
    v_path_contracts integer[] := '{}';
    v_path_contract_names text[] := '{}';
    v_path_are_encrypted boolean[] := '{}';
    v_path_securities char(1)[] := '{}';
    v_path_users text[] := '{}';
    -- Of the set's messages.
    v_types integer[];
    v_validations char(2)[];
    v_order regclass;                  -- NULL: they are for several queues, of several types or priorities, or not all are taken
    v_priority smallint;
    v_type_id integer;
    v_now timestamptz;
    v_count integer := cardinality(p_dialogs);
    v_type text := CASE WHEN p_message_types[1] = ALL (p_message_types) THEN p_message_types[1] END;   -- NULL: there are several
    v_known record;
    v_path record;
    v_found record;
    v_place integer;
    v_queue_id integer;
    v_changing text;
    v_usage record;
    v_instance text;
BEGIN
    -- The numbers of the queues' orders come after this transaction's: see ssb.receive.
    PERFORM pg_current_xact_id();
    SELECT array_agg(k.place) FILTER (WHERE k.is_plain) AS places, array_agg(k.endpoint_id) FILTER (WHERE k.is_plain) AS endpoints,
           array_agg(k.next_number) FILTER (WHERE k.is_plain) AS next, array_agg(k.queue_id) FILTER (WHERE k.is_plain) AS queues,
           array_agg(k.near_order) FILTER (WHERE k.is_plain) AS orders, array_agg(k.contract_id) FILTER (WHERE k.is_plain) AS contracts,
           array_agg(k.priority) FILTER (WHERE k.is_plain) AS priorities, array_agg(NOT k.is_initiator) FILTER (WHERE k.is_plain) AS are_targets,
           array_agg(k.database_id) FILTER (WHERE k.is_plain) AS databases, array_agg(k.place) FILTER (WHERE NOT k.is_plain) AS special
      INTO v_known
      FROM (SELECT d.ordinality AS place, r.endpoint_id, r.next_number, e.queue_id, e.near_order::oid::integer AS near_order, e.contract_id, e.priority,
                   r.is_initiator, r.database_id,
                   (r.session_key = d.key AND r.refusal IS NULL AND r.far_outcome IS NULL AND e.closed_at IS NULL AND NOT e.is_error
                    AND NOT e.is_system AND coalesce(d.traces, '{}') = '{}'
                    AND CASE WHEN p_is_opened
                             THEN r.security = d.security AND r.database_id = d.database_id AND (r.far_user IS NULL) = (d.far_user IS NULL)
                                  AND coalesce(ssb_internal.same_principal(r.far_user, d.far_user), true)
                             ELSE coalesce(r.security, 'N') = 'N'
                                  AND NOT (r.is_initiator AND EXISTS (SELECT FROM ssb.remote_service_binding AS b)) END) IS TRUE AS is_plain
              FROM unnest(p_dialogs) WITH ORDINALITY AS d
              -- (Whoever does not know its key locks nobody's dialog: one by one he is told so.)
              JOIN ssb.remote_conversation AS r ON r.conversation_id = d.conversation_id AND r.is_initiator = NOT d.is_initiator
                                               AND r.session_key IS NOT DISTINCT FROM d.key
              LEFT JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
             ORDER BY r.conversation_id, r.is_initiator
               FOR NO KEY UPDATE OF r) AS k;
    -- A dialog that stands in the set twice is nothing plain.
    IF cardinality(v_known.places) <> (SELECT count(DISTINCT e) FROM unnest(v_known.endpoints) AS e) THEN
        next_numbers := array_fill(0::bigint, ARRAY[v_count]);
        instances := array_fill(NULL::text, ARRAY[v_count]);
        RETURN;
    END IF;

    -- Dialogs that begin. Somebody else may be at the same (a daemon that was killed, whose session goes on): whoever inserts a
    -- conversation's row second waits for the first, fails, and takes the set dialog by dialog.
    IF v_count > coalesce(cardinality(v_known.places), 0) + coalesce(cardinality(v_known.special), 0) AND NOT ssb_internal.may_lead_on() THEN
        FOR v_path IN
            SELECT d.to_service, d.to_instance, d.contract, d.is_encrypted, d.security, d.database_id, d.far_user,
                   array_agg(d.ordinality::integer) AS places, array_agg(d.conversation_id) AS conversations, array_agg(d.key) AS keys,
                   array_agg(d.from_service) AS services, array_agg(d.from_instance) AS instances, array_agg(d.lifetime) AS lifetimes,
                   array_agg(d.key_id) AS key_ids, count(DISTINCT d.conversation_id) AS different
              FROM unnest(p_dialogs) WITH ORDINALITY AS d
             WHERE d.ordinality <> ALL (coalesce(v_known.places, '{}')) AND d.ordinality <> ALL (coalesce(v_known.special, '{}'))
               AND d.is_initiator AND coalesce(d.traces, '{}') = '{}'
               AND NOT EXISTS (SELECT FROM ssb.remote_conversation AS o WHERE o.conversation_id = d.conversation_id AND NOT o.is_initiator)
             GROUP BY 1, 2, 3, 4, 5, 6, 7
        LOOP
            SELECT p.* INTO v_found
              FROM ssb_internal.path_for_remote(v_path.to_service, v_path.to_instance, v_path.contract, v_path.is_encrypted,
                       CASE WHEN p_is_opened THEN v_path.security ELSE 'N' END, v_path.database_id, v_path.far_user) AS p;
            CONTINUE WHEN v_found.contract_id IS NULL OR v_path.different <> cardinality(v_path.places)
                       -- A priority that may be theirs: dialog by dialog.
                       OR EXISTS (SELECT FROM ssb.broker_priority AS b
                                   WHERE b.database_id = (v_found.service).database_id
                                     AND coalesce(b.contract_id, v_found.contract_id) = v_found.contract_id
                                     AND coalesce(b.service_id, (v_found.service).service_id) = (v_found.service).service_id)
                       OR ssb_internal.share_service(v_found.service, false) IS NOT TRUE;
            v_path_databases := v_path_databases || (v_found.service).database_id;
            v_path_services := v_path_services || (v_found.service).service_id;
            v_path_service_names := v_path_service_names || (v_found.service).name;
            v_path_owners := v_path_owners || (v_found.service).owner::text;
            v_path_queues := v_path_queues || (v_found.queue).queue_id;
            v_path_orders := v_path_orders || (v_found.queue).order_sequence::oid::integer;
            v_path_states := v_path_states || (v_found.queue).state_sequence::oid::integer;
            v_path_contracts := v_path_contracts || v_found.contract_id;
            v_path_contract_names := v_path_contract_names || v_found.contract_name;
            v_path_are_encrypted := v_path_are_encrypted || v_path.is_encrypted;
            v_path_securities := v_path_securities || CASE WHEN p_is_opened THEN v_path.security ELSE 'N'::char(1) END;
            v_path_users := v_path_users || CASE WHEN p_is_opened THEN v_path.far_user END;
            v_new_places := v_new_places || v_path.places;
            v_new_paths := v_new_paths || array_fill(cardinality(v_path_contracts), ARRAY[cardinality(v_path.places)]);
            v_new_conversations := v_new_conversations || v_path.conversations;
            v_new_keys := v_new_keys || v_path.keys;
            v_new_services := v_new_services || v_path.services;
            v_new_instances := v_new_instances || v_path.instances;
            v_new_lifetimes := v_new_lifetimes || v_path.lifetimes;
            v_new_key_ids := v_new_key_ids || v_path.key_ids;
        END LOOP;
    END IF;
    SELECT array_agg(k.endpoint_id), array_agg(k.next_number), array_agg(k.queue_id), array_agg(k.near_order), array_agg(k.contract_id),
           array_agg(k.priority), array_agg(k.is_target), array_agg(k.database_id), array_agg(k.path)
      INTO v_endpoints, v_next, v_queues, v_orders, v_contracts, v_priorities, v_are_targets, v_databases, v_paths
      FROM (SELECT u.*, 0 AS path
              FROM unnest(v_known.places, v_known.endpoints, v_known.next, v_known.queues, v_known.orders, v_known.contracts,
                          v_known.priorities, v_known.are_targets, v_known.databases)
                   AS u (place, endpoint_id, next_number, queue_id, near_order, contract_id, priority, is_target, database_id)
            UNION ALL
            SELECT u.place, nextval('ssb.endpoint_id'), 0, v_path_queues[u.path], v_path_orders[u.path], v_path_contracts[u.path],
                   5::smallint, true, v_path_databases[u.path], u.path
              FROM unnest(v_new_places, v_new_paths) AS u (place, path)
            UNION ALL
            SELECT g, 0, 0, 0, 0, 0, 5::smallint, true, 0, 0 FROM generate_series(1, v_count) AS g
             WHERE v_count > coalesce(cardinality(v_known.places), 0) + cardinality(v_new_places)
               AND g <> ALL (coalesce(v_known.places, '{}')) AND g <> ALL (v_new_places)
             ORDER BY 1) AS k;

    -- Of each dialog the run of numbers that have not come: it begins with the next one, and has no gap. Nothing but messages. Nearly
    -- always dialogs stand one behind the other, each with what comes next: what the arrays have to be then is soon made, and to look at each
    -- message was a quarter of taking it.
    IF ('message' = ALL (p_kinds)) IS TRUE AND cardinality(p_kinds) = cardinality(p_places) THEN
        v_counts := ARRAY(SELECT count(*) FROM unnest(p_places) AS u (place) GROUP BY u.place ORDER BY u.place);
        SELECT array_agg(s.place), array_agg(s.number) INTO v_usual_places, v_usual_numbers
          FROM (SELECT c.place::integer - 1 AS place, v_next[c.place] + generate_series(0, c.messages - 1) AS number
                  FROM unnest(v_counts) WITH ORDINALITY AS c (messages, place)) AS s;
    END IF;
    IF cardinality(v_counts) = v_count AND v_usual_places = p_places AND v_usual_numbers = p_numbers THEN
        v_first := v_next;
        v_order := v_orders[1]::oid::regclass;
        v_reached := ARRAY(SELECT c.next_number + c.messages FROM unnest(v_next, v_counts) WITH ORDINALITY AS c (next_number, messages, place)
                            ORDER BY c.place);
    ELSE
        SELECT array_agg(CASE WHEN k.is_run THEN v_endpoints[k.place] ELSE 0 END), array_agg(k.next_number), array_agg(k.first_number)
          INTO v_endpoints, v_reached, v_first
          FROM (SELECT m.place, max(m.next_number) AS next_number, min(m.number) AS first_number,
                       coalesce(min(m.number) FILTER (WHERE m.counts) = v_next[m.place]
                                AND min(m.number - m.n) FILTER (WHERE m.counts) = max(m.number - m.n) FILTER (WHERE m.counts)
                                AND max(m.number) FILTER (WHERE m.counts) - v_next[m.place] + 1 = count(*) FILTER (WHERE m.counts)
                                AND bool_and(m.is_message) FILTER (WHERE m.counts), true) AS is_run
                  FROM (SELECT u.place + 1 AS place, u.number, u.number + 1 AS next_number, u.n,
                               u.kind IS NOT DISTINCT FROM 'message' AND u.number IS NOT NULL AS is_message,
                               (u.number >= v_next[u.place + 1]) IS NOT FALSE OR u.kind IS DISTINCT FROM 'message' AS counts
                          FROM unnest(p_places, p_numbers, p_kinds) WITH ORDINALITY AS u (place, number, kind, n)
                        UNION ALL
                        SELECT u.place, NULL, u.next_number, NULL, NULL, false FROM unnest(v_next) WITH ORDINALITY AS u (next_number, place)) AS m
                 WHERE m.place BETWEEN 1 AND v_count
                 GROUP BY m.place ORDER BY m.place) AS k;
    END IF;
    -- Each queue once.
    FOR v_queue_id IN SELECT DISTINCT q FROM unnest(v_queues, v_endpoints) AS u (q, e) WHERE u.e <> 0 LOOP
        IF ssb_internal.reason_to_wait(v_queue_id) IS NOT NULL THEN
            v_endpoints := ARRAY(SELECT CASE WHEN u.q = v_queue_id THEN 0 ELSE u.e END
                                   FROM unnest(v_queues, v_endpoints) WITH ORDINALITY AS u (q, e, n) ORDER BY u.n);
        ELSE
            PERFORM pg_try_advisory_xact_lock(1397965379, q.order_sequence::oid::integer) FROM ssb.queue AS q WHERE q.queue_id = v_queue_id;
        END IF;
    END LOOP;
    -- Each pair of contract and type once. Before it is read: ALTER MESSAGE TYPE waits for us, or the type's messages for it.
    FOR v_changing IN
        SELECT t.t
          FROM (SELECT DISTINCT t FROM unnest(CASE WHEN v_type IS NULL THEN p_message_types ELSE ARRAY[v_type] END) AS t) AS t
         WHERE NOT pg_try_advisory_xact_lock_shared(1397965377, hashtext(t.t)) AND NOT ssb_internal.definition_is_settled()
    LOOP
        FOR v_place IN
            SELECT DISTINCT m.place + 1 FROM unnest(p_places, p_message_types) AS m (place, message_type) WHERE m.message_type = v_changing
        LOOP
            v_endpoints[v_place] := 0;
        END LOOP;
    END LOOP;
    SELECT array_agg(k.contract_id) AS contracts, array_agg(k.is_target) AS are_targets, array_agg(k.message_type) AS types,
           array_agg(u.message_type_id) AS ids, array_agg(u.validation) AS validations, bool_and(u.validation = 'N') AS is_plain
      INTO v_usage
      FROM (SELECT DISTINCT u.contract_id, u.is_target, v_type AS message_type
              FROM unnest(v_contracts, v_are_targets, v_endpoints) AS u (contract_id, is_target, endpoint_id)
             WHERE v_type IS NOT NULL AND u.endpoint_id <> 0
            UNION ALL
            SELECT DISTINCT v_contracts[m.place + 1], v_are_targets[m.place + 1], m.message_type
              FROM unnest(p_places, p_message_types) AS m (place, message_type)
             WHERE v_type IS NULL AND v_endpoints[m.place + 1] <> 0) AS k
      LEFT JOIN ssb.contract_message_usage AS u
        ON u.contract_id = k.contract_id AND u.message_type_name = k.message_type
       AND CASE WHEN k.is_target THEN u.is_sent_by_initiator ELSE u.is_sent_by_target END;
    IF v_usage.is_plain IS NOT TRUE OR array_position(v_usage.ids, NULL) IS NOT NULL THEN
        FOR v_place IN
            SELECT DISTINCT m.place + 1
              FROM unnest(p_places, p_numbers, p_message_types, p_bodies) AS m (place, number, message_type, body)
              LEFT JOIN unnest(v_usage.contracts, v_usage.are_targets, v_usage.types, v_usage.ids, v_usage.validations)
                        AS u (contract_id, is_target, message_type, message_type_id, validation)
                ON u.contract_id = v_contracts[m.place + 1] AND u.is_target = v_are_targets[m.place + 1] AND u.message_type = m.message_type
             WHERE v_endpoints[m.place + 1] <> 0
               AND (u.message_type_id IS NULL
                    OR (u.validation <> 'N' AND m.number >= v_next[m.place + 1]
                        AND ssb_internal.is_refused_body(v_contracts[m.place + 1], m.message_type, m.body)))
        LOOP
            v_endpoints[v_place] := 0;
        END LOOP;
    END IF;

    IF 0 = ANY (v_first) THEN
        v_instance := (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = v_databases[1]);
    END IF;
    SELECT array_agg(CASE WHEN u.endpoint_id = 0 THEN 0 ELSE u.next_number END),
           array_agg(CASE WHEN u.first_number <> 0 THEN NULL
                          WHEN u.database_id = v_databases[1] THEN v_instance
                          ELSE (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = u.database_id) END)
      INTO next_numbers, instances
      FROM unnest(v_endpoints, v_reached, v_first, v_databases) AS u (endpoint_id, next_number, first_number, database_id);
    IF 0 = ALL (v_endpoints) THEN
        RETURN;
    END IF;
    IF cardinality(v_new_places) > 0 THEN
        INSERT INTO ssb.remote_conversation (endpoint_id, conversation_id, is_initiator, database_id, service_id, session_key,
                                             far_instance, address, mirror_address, peer_id, is_under_way, security, near_user, far_user,
                                             next_number, taken_at, inbound_key_id)
        SELECT v_endpoints[u.place], u.conversation_id, false, v_path_databases[u.path], v_path_services[u.path], u.key,
               u.instance, w.address, w.mirror_address, w.peer_id, true, v_path_securities[u.path], CASE v_path_securities[u.path] WHEN 'F' THEN v_path_owners[u.path] END,
               v_path_users[u.path], next_numbers[u.place], clock_timestamp(), CASE WHEN p_is_opened THEN u.key_id END
          FROM unnest(v_new_places, v_new_paths, v_new_conversations, v_new_keys, v_new_services, v_new_instances, v_new_key_ids)
               AS u (place, path, conversation_id, key, service, instance, key_id)
          JOIN (SELECT d.*, b.*
                  FROM (SELECT DISTINCT v_path_databases[u.path] AS database_id, u.service, u.instance
                          FROM unnest(v_new_paths, v_new_services, v_new_instances) AS u (path, service, instance)) AS d
                 CROSS JOIN LATERAL ssb_internal.way_back(d.database_id, d.service, d.instance) AS b OFFSET 0) AS w
            ON w.database_id = v_path_databases[u.path] AND w.service = u.service AND w.instance IS NOT DISTINCT FROM u.instance
         WHERE v_endpoints[u.place] <> 0
         ORDER BY u.conversation_id;                -- so that two who are at the same wait for each other in one order
        INSERT INTO ssb.conversation_endpoint AS e
               (endpoint_id, conversation_handle, conversation_id, is_initiator, is_encrypted, is_system, lock_id, conversation_group_id, database_id,
                service_id, queue_id, near_order, near_state, contract_id, priority, service_name, contract_name, far_service,
                far_broker_instance, lifetime, due_at)
        SELECT v_endpoints[u.place], u.handle, u.conversation_id, false, v_path_are_encrypted[u.path], false, v_endpoints[u.place],
               u.handle, v_path_databases[u.path], v_path_services[u.path], v_path_queues[u.path],
               v_path_orders[u.path]::oid::regclass, v_path_states[u.path]::oid::regclass, v_path_contracts[u.path], 5,
               v_path_service_names[u.path], v_path_contract_names[u.path], u.service, u.instance, u.lifetime, u.lifetime
          FROM (SELECT u.place, u.path, gen_random_uuid() AS handle, u.conversation_id, u.service, u.instance,
                       clock_timestamp() + u.lifetime * interval '1 second' AS lifetime
                  FROM unnest(v_new_places, v_new_paths, v_new_conversations, v_new_services, v_new_instances, v_new_lifetimes)
                       AS u (place, path, conversation_id, service, instance, lifetime) OFFSET 0) AS u
         WHERE v_endpoints[u.place] <> 0;
    END IF;
    -- Of one queue, priority and type, as most sets are: what is the same for all of them is no element of an array, which was a tenth of
    -- writing them.
    IF (cardinality(v_usage.ids) = 1 AND v_usage.is_plain AND v_queues[1] = ALL (v_queues) AND v_priorities[1] = ALL (v_priorities)
        AND 0 <> ALL (v_endpoints) AND cardinality(p_bodies) = cardinality(p_places)) IS NOT TRUE THEN
        v_order := NULL;
    END IF;
    IF v_order IS NOT NULL THEN
        v_queue_id := v_queues[1];
        v_priority := v_priorities[1];
        v_type_id := v_usage.ids[1];
        v_now := clock_timestamp();
    ELSIF cardinality(v_usage.ids) = 1 THEN
        v_types := array_fill(v_usage.ids[1], ARRAY[cardinality(p_places)]);
        v_validations := array_fill(v_usage.validations[1], ARRAY[cardinality(p_places)]);
    ELSE
        SELECT array_agg(u.message_type_id ORDER BY m.n), array_agg(u.validation ORDER BY m.n) INTO v_types, v_validations
          FROM unnest(p_places, p_message_types) WITH ORDINALITY AS m (place, message_type, n)
          LEFT JOIN unnest(v_usage.contracts, v_usage.are_targets, v_usage.types, v_usage.ids, v_usage.validations)
                    AS u (contract_id, is_target, message_type, message_type_id, validation)
            ON u.contract_id = v_contracts[m.place + 1] AND u.is_target = v_are_targets[m.place + 1] AND u.message_type = m.message_type;
    END IF;
    -- (unnest in a SELECT list copies nothing: in FROM it fills a tuple store first.)
    IF v_order IS NOT NULL AND coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_queue_id, v_endpoints[o.place + 1], nextval(v_order), o.number, v_now, v_type_id, v_priority, 'N', o.body
          FROM (SELECT unnest(p_places) AS place, unnest(p_numbers) AS number, unnest(p_bodies) AS body) AS o;
    ELSIF v_order IS NOT NULL THEN
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_queue_id, v_endpoints[o.place + 1], nextval(v_order), o.number, v_now, v_type_id, v_priority, 'N', o.body
          FROM (SELECT unnest(p_places) AS place, unnest(p_numbers) AS number, unnest(p_bodies) AS body) AS o;
    ELSIF coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_queues[o.place + 1], v_endpoints[o.place + 1], nextval(v_orders[o.place + 1]::oid::regclass), o.number, clock_timestamp(),
               o.message_type_id, v_priorities[o.place + 1], o.validation, CASE WHEN o.validation = 'N' THEN o.body ELSE nullif(o.body, '') END
          FROM (SELECT unnest(p_places) AS place, unnest(p_numbers) AS number, unnest(v_types) AS message_type_id,
                       unnest(v_validations) AS validation, unnest(p_bodies) AS body) AS o
         WHERE v_endpoints[o.place + 1] <> 0 AND o.number >= v_next[o.place + 1];
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_queues[o.place + 1], v_endpoints[o.place + 1], nextval(v_orders[o.place + 1]::oid::regclass), o.number, clock_timestamp(),
               o.message_type_id, v_priorities[o.place + 1], o.validation, CASE WHEN o.validation = 'N' THEN o.body ELSE nullif(o.body, '') END
          FROM (SELECT unnest(p_places) AS place, unnest(p_numbers) AS number, unnest(v_types) AS message_type_id,
                       unnest(v_validations) AS validation, unnest(p_bodies) AS body) AS o
         WHERE v_endpoints[o.place + 1] <> 0 AND o.number >= v_next[o.place + 1];
    END IF;
    IF v_known.places IS NOT NULL THEN
        UPDATE ssb.remote_conversation AS r
           SET next_number = u.next_number, taken_at = clock_timestamp(), inbound_key_id = coalesce(u.key_id, r.inbound_key_id)
          FROM (SELECT v_endpoints[d.ordinality] AS endpoint_id, next_numbers[d.ordinality] AS next_number,
                       CASE WHEN p_is_opened THEN d.key_id END AS key_id
                  FROM unnest(p_dialogs) WITH ORDINALITY AS d
                 WHERE v_endpoints[d.ordinality] <> 0 AND v_paths[d.ordinality] = 0 AND next_numbers[d.ordinality] > v_next[d.ordinality]) AS u
         WHERE r.endpoint_id = u.endpoint_id;
    END IF;
    PERFORM ssb_internal.announce_arrival(q.queue_id)
       FROM ssb.queue AS q
      WHERE q.queue_id IN (SELECT u.queue_id FROM unnest(v_queues, v_endpoints) AS u (queue_id, endpoint_id) WHERE u.endpoint_id <> 0)
        AND ssb_internal.queue_state(q.state_sequence) % 2 = 1;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_plain(ssb.arrived_dialog[], integer[], bigint[], text[], text[], bytea[], boolean) FROM PUBLIC;

-- Whether a body is not what its type's VALIDATION wants.
CREATE OR REPLACE FUNCTION ssb_internal.is_refused_body(p_contract_id integer, p_message_type text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_usage ssb.contract_message_usage;
    v_sender ssb.conversation_endpoint;
BEGIN
    SELECT u.* INTO v_usage FROM ssb.contract_message_usage AS u
     WHERE u.contract_id = p_contract_id AND u.message_type_name = p_message_type;
    RETURN ssb_internal.validate_body(v_usage, v_sender, 0, p_body) IS NOT NULL;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.is_refused_body(integer, text, bytea) FROM PUBLIC;

-- The same where the set is of one dialog that is known, of one type without VALIDATION, and not its first: what a quiet dialog sends,
-- one look at each of its rows. Returns the number behind its last message; NULL: something is special, and nothing has been done.
--
-- Called by  ssb_internal.take_here
-- Locks      as ssb_internal.take_plain
CREATE OR REPLACE FUNCTION ssb_internal.take_of_one_dialog(p_dialog ssb.arrived_dialog, p_numbers bigint[], p_message_types text[], p_kinds text[],
                                                           p_bodies bytea[], p_is_opened boolean)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_dialog record;
    v_count integer := cardinality(p_numbers);
    v_next bigint := p_numbers[1] + v_count;
    v_is_locked boolean;
BEGIN
    IF p_numbers[1] = 0 OR p_numbers[v_count] <> v_next - 1
       OR p_message_types[1] <> ALL (p_message_types) OR ('message' = ALL (p_kinds)) IS NOT TRUE OR coalesce(p_dialog.traces, '{}') <> '{}' THEN
        RETURN NULL;
    END IF;
    IF v_count > 1 THEN
        IF p_numbers <> ARRAY(SELECT n FROM generate_series(p_numbers[1], v_next - 1) AS n) THEN
            RETURN NULL;
        END IF;
    END IF;
    -- Before the type is read: ALTER MESSAGE TYPE waits for us, or the messages for it.
    IF NOT pg_try_advisory_xact_lock_shared(1397965377, hashtext(p_message_types[1])) AND NOT ssb_internal.definition_is_settled() THEN
        RETURN NULL;
    END IF;
    -- Looking at the dialog, its lock, the number behind its last message: as one statement. What has come already, and gaps, are looked
    -- at message by message elsewhere. (It draws the transaction's number, and the numbers of the queue's order come after it: see
    -- ssb.receive. One dialog alone is asked for, in the order of its index: a plan from when VACUUM found no dialogs joined all to all.)
    UPDATE ssb.remote_conversation AS r
       SET next_number = v_next, taken_at = clock_timestamp(),
           inbound_key_id = coalesce(CASE WHEN p_is_opened THEN p_dialog.key_id END, r.inbound_key_id)
      FROM ssb.conversation_endpoint AS e
      JOIN ssb.contract_message_usage AS u ON u.contract_id = e.contract_id AND u.message_type_name = p_message_types[1]
     WHERE r.endpoint_id = (SELECT k.endpoint_id FROM ssb.remote_conversation AS k
                             WHERE k.conversation_id BETWEEN p_dialog.conversation_id AND p_dialog.conversation_id
                               AND k.is_initiator = NOT p_dialog.is_initiator
                             ORDER BY k.conversation_id LIMIT 1)
       AND r.next_number = p_numbers[1] AND r.session_key = p_dialog.key AND r.refusal IS NULL AND r.far_outcome IS NULL
       AND e.endpoint_id = r.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error AND NOT e.is_system
       AND u.validation = 'N' AND CASE WHEN r.is_initiator THEN u.is_sent_by_target ELSE u.is_sent_by_initiator END
       AND CASE WHEN p_is_opened
                THEN r.security = p_dialog.security AND r.database_id = p_dialog.database_id
                     AND (r.far_user IS NULL) = (p_dialog.far_user IS NULL)
                     AND coalesce(ssb_internal.same_principal(r.far_user, p_dialog.far_user), true)
                ELSE coalesce(r.security, 'N') = 'N'
                     AND NOT (r.is_initiator AND EXISTS (SELECT FROM ssb.remote_service_binding AS b)) END
       AND CASE WHEN has_sequence_privilege('public', e.near_state, 'SELECT') AND coalesce(pg_sequence_last_value(e.near_state), 0) <= 1
                THEN true ELSE ssb_internal.reason_to_wait(e.queue_id) IS NULL END
    RETURNING r.endpoint_id, e.queue_id, e.near_order, e.near_state, e.priority, u.message_type_id INTO v_dialog;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_is_locked := pg_try_advisory_xact_lock(1397965379, v_dialog.near_order::oid::integer);       -- as ssb.send
    IF coalesce(pg_sequence_last_value('ssb.rotation_state'), 0) % 2 = 0 THEN
        INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_dialog.queue_id, v_dialog.endpoint_id, nextval(v_dialog.near_order), o.number, clock_timestamp(),
               v_dialog.message_type_id, v_dialog.priority, 'N', o.body
          FROM (SELECT unnest(p_numbers) AS number, unnest(p_bodies) AS body) AS o;
    ELSE
        INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                   message_type_id, priority, validation, body)
        SELECT v_dialog.queue_id, v_dialog.endpoint_id, nextval(v_dialog.near_order), o.number, clock_timestamp(),
               v_dialog.message_type_id, v_dialog.priority, 'N', o.body
          FROM (SELECT unnest(p_numbers) AS number, unnest(p_bodies) AS body) AS o;
    END IF;
    IF coalesce(pg_sequence_last_value(v_dialog.near_state), 0) % 2 = 1 THEN
        PERFORM ssb_internal.announce_arrival(v_dialog.queue_id);
    END IF;
    RETURN v_next;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_of_one_dialog(ssb.arrived_dialog, bigint[], text[], text[], bytea[], boolean) FROM PUBLIC;

-- Takes a set: its plain dialogs as one, the others one after the other. others: the answers of those, by their places from 0.
CREATE OR REPLACE FUNCTION ssb_internal.take_here(p_dialogs ssb.arrived_dialog[], p_places integer[], p_numbers bigint[], p_message_types text[],
                                                  p_kinds text[], p_bodies bytea[], p_is_opened boolean,
                                                  OUT next_numbers bigint[], OUT instances text[], OUT others jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_plain record;
    v_next bigint;
BEGIN
    -- The sender forgets what we have: it has to be on the disk by then.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    BEGIN
        IF cardinality(p_dialogs) = 1 AND 0 = ALL (p_places) THEN
            v_next := ssb_internal.take_of_one_dialog(p_dialogs[1], p_numbers, p_message_types, p_kinds, p_bodies, p_is_opened);
            IF v_next IS NOT NULL THEN
                next_numbers := ARRAY[v_next];
                instances := ARRAY[NULL::text];
                RETURN;
            END IF;
        END IF;
        SELECT t.* INTO v_plain FROM ssb_internal.take_plain(p_dialogs, p_places, p_numbers, p_message_types, p_kinds, p_bodies, p_is_opened) AS t;
        next_numbers := v_plain.next_numbers;
        instances := v_plain.instances;
    EXCEPTION WHEN OTHERS THEN
        -- Whatever it is meets that dialog alone below, and is told there.
        RAISE LOG 'Service Broker takes a set of messages dialog by dialog: % (%)', SQLERRM, SQLSTATE;
        next_numbers := array_fill(0::bigint, ARRAY[cardinality(p_dialogs)]);
        instances := array_fill(NULL::text, ARRAY[cardinality(p_dialogs)]);
    END;
    IF 0 = ANY (next_numbers) THEN
        SELECT jsonb_agg(to_jsonb(t)) INTO others
          FROM (SELECT array_agg(m.place ORDER BY m.n) AS places, array_agg(m.number ORDER BY m.n) AS numbers, array_agg(m.type ORDER BY m.n) AS types,
                       array_agg(m.kind ORDER BY m.n) AS kinds, array_agg(m.body ORDER BY m.n) AS bodies
                  FROM unnest(p_places, p_numbers, p_message_types, p_kinds, p_bodies) WITH ORDINALITY AS m (place, number, type, kind, body, n)
                 WHERE next_numbers[m.place + 1] = 0) AS h
         CROSS JOIN LATERAL ssb_internal.take_set(p_dialogs, h.places, h.numbers, h.types, h.kinds, h.bodies, p_is_opened) AS t;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_here(ssb.arrived_dialog[], integer[], bigint[], text[], text[], bytea[], boolean) FROM PUBLIC;

-- The same for what comes from another instance, where some dialogs may have to go on (transport/forwarding.sql): next_number and
-- status of those are NULL as long as that is not known.
CREATE OR REPLACE FUNCTION ssb_internal.take_incoming(p_dialogs jsonb, p_places integer[], p_numbers bigint[], p_message_types text[],
                                                      p_kinds text[], p_bodies bytea[],
                                                      OUT next_numbers bigint[], OUT instances text[], OUT others jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_may boolean;
    v_dialogs ssb.arrived_dialog[];
    v_on integer[];
    v_forwarded jsonb;
    v_taken record;
BEGIN
    v_may := ssb_internal.require_connect();
    -- (One body alone may be as large as PostgreSQL lets it: daemons of earlier versions send it so.)
    PERFORM ssb_internal.require_size_of_set(
        greatest(cardinality(p_places), cardinality(p_numbers), cardinality(p_message_types), cardinality(p_kinds), cardinality(p_bodies)),
        jsonb_array_length(p_dialogs),
        CASE WHEN cardinality(p_bodies) > 1 THEN pg_column_size(p_bodies)::bigint ELSE 0 END + pg_column_size(p_dialogs), 0);
    IF ssb_internal.may_lead_on() THEN
        SELECT array_agg(f.place),
               jsonb_agg(jsonb_build_object('place', f.place, 'status', f.status, 'next_number', CASE WHEN f.status IS NOT NULL THEN 0 END))
          INTO v_on, v_forwarded
          FROM ssb_internal.forward_set((p_dialogs -> 0 ->> 'set')::uuid, p_dialogs, p_places, p_numbers, p_message_types, p_kinds,
                                        p_bodies, NULL) AS f;
    END IF;
    v_dialogs := ARRAY(SELECT d FROM jsonb_populate_recordset(NULL::ssb.arrived_dialog, p_dialogs) AS d);
    IF v_on IS NULL THEN
        v_taken := ssb_internal.take_here(v_dialogs, p_places, p_numbers, p_message_types, p_kinds, p_bodies, false);
        next_numbers := v_taken.next_numbers;
        instances := v_taken.instances;
        others := v_taken.others;
    ELSE
        SELECT t.* INTO next_numbers, instances, others
          FROM (SELECT array_agg(m.place ORDER BY m.n) AS places, array_agg(m.number ORDER BY m.n) AS numbers, array_agg(m.type ORDER BY m.n) AS types,
                       array_agg(m.kind ORDER BY m.n) AS kinds, array_agg(m.body ORDER BY m.n) AS bodies
                  FROM unnest(p_places, p_numbers, p_message_types, p_kinds, p_bodies) WITH ORDINALITY AS m (place, number, type, kind, body, n)
                 WHERE m.place <> ALL (v_on)) AS h
         CROSS JOIN LATERAL ssb_internal.take_here(v_dialogs, h.places, h.numbers, h.types, h.kinds, h.bodies, false) AS t;
        -- Those have no messages here, so nothing was taken of them.
        next_numbers := ARRAY(SELECT CASE WHEN u.n - 1 = ANY (v_on) THEN 0 ELSE u.next END
                                FROM unnest(next_numbers) WITH ORDINALITY AS u (next, n) ORDER BY u.n);
        others := coalesce(others, '[]') || v_forwarded;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_incoming(jsonb, integer[], bigint[], text[], text[], bytea[]) FROM PUBLIC;

-- What the other instance's daemon calls with messages in the clear, and understands: see ssb_internal.take_incoming.
CREATE OR REPLACE FUNCTION ssb_internal.take_from_peer(p_dialogs jsonb, p_places integer[], p_numbers bigint[], p_message_types text[],
                                                       p_kinds text[], p_bodies bytea[],
                                                       OUT next_numbers bigint[], OUT instances text[], OUT others jsonb)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_taken record;
BEGIN
    v_taken := ssb_internal.take_incoming(p_dialogs, p_places, p_numbers, p_message_types, p_kinds, p_bodies);
    next_numbers := v_taken.next_numbers;
    instances := v_taken.instances;
    others := v_taken.others;
END;
$$;

-- … and what those of earlier versions call. next_number NULL: that is not known yet, for the messages of this dialog are passed on;
-- ssb_internal.set_answers will tell. So it is answered to those alone who have given each dialog the number of the set ("set").
CREATE OR REPLACE FUNCTION ssb.take_from_afar(p_dialogs jsonb, p_places integer[], p_numbers bigint[], p_message_types text[],
                                              p_kinds text[], p_bodies bytea[])
RETURNS TABLE (place integer, next_number bigint, status text, refusal_code integer, refusal text, instance text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_taken record;
BEGIN
    SELECT t.* INTO v_taken
      FROM ssb_internal.take_incoming(p_dialogs, p_places, p_numbers, p_message_types, p_kinds, p_bodies) AS t;
    RETURN QUERY
    SELECT u.place::integer - 1, u.next_number, NULL::text, NULL::integer, NULL::text, u.instance
      FROM unnest(v_taken.next_numbers, v_taken.instances) WITH ORDINALITY AS u (next_number, instance, place) WHERE u.next_number > 0
    UNION ALL
    SELECT o.place, o.next_number, o.status, o.refusal_code, o.refusal, o.instance
      FROM jsonb_to_recordset(v_taken.others)
        AS o (place integer, next_number bigint, status text, refusal_code integer, refusal text, instance text);
END;
$$;
