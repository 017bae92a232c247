-- Queue monitors: what the activation daemon asks and tells about queues.
-- For the runtime's owner only: the daemon's login is the owner or has its role.
--
-- Called by  the daemon

-- The queues that want a daemon: activation is on, or an event notification waits
-- for QUEUE_ACTIVATION. database_name is the T-SQL database of the procedure, else that of the queue; role_name is whom a
-- reader runs as; NULL: no such role.
CREATE OR REPLACE FUNCTION ssb_internal.broker_queues()
RETURNS TABLE (queue_id integer, name text, database_name text, procedure_name text, program text, principal text,
               role_name text, max_readers integer, has_notification boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT q.queue_id, q.name, coalesce(ssb_internal.another_database(q.activation_procedure, q.database_id), d.name),
           CASE WHEN q.is_activation_enabled
                THEN (SELECT string_agg(quote_ident(p.part), '.' ORDER BY p.place)
                        FROM unnest(parse_ident(q.activation_procedure)) WITH ORDINALITY AS p (part, place)) END,
           CASE WHEN q.is_activation_enabled THEN q.external_program END,
           coalesce(q.execute_as, q.owner), ssb_internal.role_of(coalesce(q.execute_as, q.owner))::text,
           q.max_readers, n.is_wanted
      FROM ssb.queue AS q
      JOIN ssb.database AS d ON d.database_id = q.database_id
     CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM ssb.event_notification AS n
                                         WHERE n.queue_id = q.queue_id AND 'QUEUE_ACTIVATION' = ANY (n.events))
                                AND NOT q.is_activation_enabled AS is_wanted) AS n
     WHERE q.is_receive_enabled AND ((q.is_activation_enabled AND q.max_readers > 0) OR n.is_wanted);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_queues() FROM PUBLIC;

-- The first message in a group that nobody holds: its order, and for how many
-- seconds it has waited. No row when there is none, or poison has stopped the queue, or nobody wants to be started any more. Whether a
-- group is held can only be told by trying; a RECEIVE that looks in that moment passes it. So the lock is
-- given back at once, by the end of a subtransaction, not with the statement's commit.
-- tried_by: the transaction that received the message last and rolled back; 0: none did.
DROP FUNCTION IF EXISTS ssb_internal.broker_probe(integer);
CREATE FUNCTION ssb_internal.broker_probe(p_queue_id integer, OUT head bigint, OUT waited double precision, OUT tried_by bigint)
RETURNS SETOF record
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_priorities smallint[] := (SELECT q.priorities FROM ssb.queue AS q
                                 WHERE q.queue_id = p_queue_id AND q.is_receive_enabled
                                   AND CASE WHEN q.xmax <> 0 AND ssb_internal.is_being_dropped(q.queue_id) THEN false
                                            ELSE NOT ssb_internal.is_seen_poisoned(q.queue_id) END
                                   AND (q.is_activation_enabled
                                        OR EXISTS (SELECT FROM ssb.event_notification AS n
                                                    WHERE n.queue_id = q.queue_id AND 'QUEUE_ACTIVATION' = ANY (n.events))));
    v_priority smallint;
    v_behind record;                   -- of the claims' front (bulk/claimed_front.sql)
BEGIN
    FOREACH v_priority IN ARRAY coalesce(v_priorities, '{}') LOOP
        SELECT b.* INTO v_behind FROM ssb_internal.behind_claims(p_queue_id, v_priority) AS b;
        BEGIN
            IF v_behind.others <> '{}' THEN
                SELECT m.queuing_order, date_part('epoch', clock_timestamp() - m.enqueued_at)
                  INTO head, waited
                  FROM ssb.message_stored AS m
                  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                  JOIN ssb.conversation_endpoint AS g ON g.endpoint_id = e.lock_id
                 WHERE m.endpoint_id = ANY (v_behind.others) AND e.closed_at IS NULL
                   AND (g.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(g.claim_id))
                 ORDER BY m.queuing_order LIMIT 1
                   FOR NO KEY UPDATE OF g SKIP LOCKED;
                IF FOUND THEN
                    RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'found';
                END IF;
            END IF;
            SELECT m.queuing_order, date_part('epoch', clock_timestamp() - m.enqueued_at),
                   CASE WHEN m.xmax <> 0 AND ssb_internal.fate(m.xmax::text::bigint) = 'aborted' THEN m.xmax::text::bigint ELSE 0 END
              INTO head, waited, tried_by
              FROM ssb.message_stored AS m
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
              JOIN ssb.conversation_endpoint AS g ON g.endpoint_id = e.lock_id
             WHERE m.queue_id = p_queue_id AND m.priority = v_priority AND e.closed_at IS NULL
               AND m.queuing_order >= v_behind.from_order
               AND (g.claim_id IS NULL OR NOT ssb_internal.claim_is_alive(g.claim_id))
             ORDER BY m.queuing_order LIMIT 1
               FOR NO KEY UPDATE OF g SKIP LOCKED;
            IF FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'SP001', MESSAGE = 'found';
            END IF;
        EXCEPTION WHEN SQLSTATE 'SP001' THEN
            RETURN NEXT;
            RETURN;
        END;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_probe(integer) FROM PUBLIC;

-- The monitor's state, for sys.dm_broker_queue_monitors. INACTIVE asks senders for
-- a NOTIFY; in any other state the monitor looks by itself.
CREATE OR REPLACE FUNCTION ssb_internal.broker_state(p_queue_id integer, p_state text, p_has_started boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.set_watcher(q.state_sequence, p_state = 'INACTIVE')
       FROM ssb.queue AS q WHERE q.queue_id = p_queue_id AND NOT ssb_internal.is_being_dropped(q.queue_id);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO ssb.queue_monitor AS m (queue_id, state, last_empty_rowset_time, last_activated_time)
    VALUES (p_queue_id, p_state, CASE p_state WHEN 'INACTIVE' THEN clock_timestamp() END,
            CASE WHEN p_has_started THEN clock_timestamp() END)
    ON CONFLICT (queue_id) DO UPDATE
       SET state = excluded.state,
           last_empty_rowset_time = coalesce(excluded.last_empty_rowset_time, m.last_empty_rowset_time),
           last_activated_time = coalesce(excluded.last_activated_time, m.last_activated_time);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_state(integer, text, boolean) FROM PUBLIC;

-- A queue is no longer monitored: activation is off, or the daemon ends.
CREATE OR REPLACE FUNCTION ssb_internal.broker_forget(p_queue_id integer)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.queue_monitor AS m WHERE m.queue_id = p_queue_id;
    SELECT ssb_internal.set_watcher(q.state_sequence, false)
      FROM ssb.queue AS q WHERE q.queue_id = p_queue_id AND NOT ssb_internal.is_being_dropped(q.queue_id);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.broker_forget(integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.reader_began(p_queue_id integer, p_pid integer, p_backend_start timestamptz,
                                                     p_procedure text, p_principal text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.activated_task AS t (pid, backend_start, queue_id, procedure_name, execute_as)
    VALUES (p_pid, p_backend_start, p_queue_id, p_procedure, p_principal)
    ON CONFLICT (pid) DO UPDATE
       SET backend_start = excluded.backend_start, queue_id = excluded.queue_id, procedure_name = excluded.procedure_name,
           execute_as = excluded.execute_as, started_at = clock_timestamp();
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.reader_began(integer, integer, timestamptz, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.reader_ended(p_pid integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM ssb.activated_task AS t WHERE t.pid = p_pid;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.reader_ended(integer) FROM PUBLIC;

-- Readers that wait in WAITFOR with nothing in hand: ending them loses nothing.
CREATE OR REPLACE FUNCTION ssb_internal.idle_readers(p_pids integer[])
RETURNS integer[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(a.pid), '{}') FROM pg_stat_activity AS a
             WHERE a.pid = ANY (p_pids) AND a.backend_xid IS NULL AND a.wait_event = 'PgSleep');
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.idle_readers(integer[]) FROM PUBLIC;

-- QUEUE_ACTIVATION: messages wait and nobody reads them. Who ends the notification's dialog, or drops the notification, may keep his
-- transaction open: that is an error soon (55P03), or all other queues would wait behind it for their readers.
CREATE OR REPLACE FUNCTION ssb_internal.fire_queue_activation(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $$
BEGIN
    PERFORM ssb_internal.fire_queue_event(q, 'QUEUE_ACTIVATION') FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.fire_queue_activation(integer) FROM PUBLIC;

-- Of these queues, those that are off because of poison messages, and the first message that was rolled back.
DROP FUNCTION IF EXISTS ssb_internal.poisoned_queues(integer[]);
CREATE FUNCTION ssb_internal.poisoned_queues(p_queue_ids integer[])
RETURNS TABLE (queue_id integer, message text)
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT q.queue_id, (SELECT format('message %s of type %s, conversation %s, group %s', m.queuing_order,
                                      ssb_internal.message_type_name(m.message_type_id), upper(e.conversation_handle::text),
                                      upper(e.conversation_group_id::text))
                          FROM ssb.message_stored AS m
                          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id
                         WHERE m.queue_id = q.queue_id AND m.xmax <> 0 AND ssb_internal.fate(m.xmax::text::bigint) = 'aborted'
                         ORDER BY m.priority DESC, m.queuing_order LIMIT 1)
      FROM ssb.queue AS q
     WHERE q.queue_id = ANY (p_queue_ids) AND NOT q.is_receive_enabled AND ssb_internal.failed_attempts(q) = 4095;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.poisoned_queues(integer[]) FROM PUBLIC;

-- Any change of a queue or of who wants to know reaches the daemon at once. Only
-- definitions are watched here: SEND and RECEIVE do not come this way.
CREATE OR REPLACE FUNCTION ssb_internal.announce_definition()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('ssb_definition', '') WHERE current_setting('ssb.two_phase', true) IS DISTINCT FROM 'on';
    RETURN NULL;
END;
$$;
DROP TRIGGER IF EXISTS announce_definition ON ssb.queue;
CREATE TRIGGER announce_definition
    AFTER INSERT OR DELETE OR UPDATE OF is_receive_enabled, is_activation_enabled, activation_procedure, external_program,
                                        max_readers, execute_as, is_watched
    ON ssb.queue FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.announce_definition();
DROP TRIGGER IF EXISTS announce_definition ON ssb.event_notification;
CREATE TRIGGER announce_definition
    AFTER INSERT OR DELETE ON ssb.event_notification
    FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.announce_definition();
