-- ssb.conversation_timeline: what is known of one dialog, both sides, in time.
--
-- A received message is gone, unless its queue retains it: those are one row that counts them. Of a far
-- side in another instance only this instance's part is known: what waits to leave, what has arrived there.
-- Bodies are not shown, only their sizes.
--
-- side   'initiator' or 'target': who did it, or whose clock it is
-- event  begin; message (status tells where it is); received (how many are no longer kept); timer, lifetime (when it
--        falls due); end, error; quarantine, claim; transport

-- Called by  ssb.conversation_timeline, for one side that this instance has
CREATE OR REPLACE FUNCTION ssb_internal.side_of_timeline(e ssb.conversation_endpoint)
RETURNS TABLE (at timestamptz, side text, event text, message_type_name text, message_sequence_number bigint,
               bytes integer, status text, detail text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    WITH names AS (SELECT CASE WHEN e.is_initiator THEN 'initiator' ELSE 'target' END AS own,
                          CASE WHEN e.is_initiator THEN 'target' ELSE 'initiator' END AS other),
         waiting AS MATERIALIZED (
             SELECT m.enqueued_at, m.message_sequence_number, m.queuing_order, m.body, m.message_type_id
               FROM ssb.message_stored AS m WHERE m.endpoint_id = e.endpoint_id ORDER BY m.queuing_order LIMIT 1000)
    SELECT e.started_at, n.own, 'begin', NULL::text, NULL::bigint, NULL::integer, NULL::text,
           format('%s on contract %s, handle %s', e.service_name, e.contract_name, upper(e.conversation_handle::text))
      FROM names AS n
    UNION ALL
    SELECT w.enqueued_at, n.other, 'message', t.name, nullif(w.message_sequence_number, -1), octet_length(w.body), 'waits in queue',
           (SELECT q.name FROM ssb.queue AS q WHERE q.queue_id = e.queue_id)
      FROM waiting AS w CROSS JOIN names AS n LEFT JOIN ssb.message_type AS t ON t.message_type_id = w.message_type_id
    UNION ALL
    SELECT r.enqueued_at, CASE r.status WHEN 3 THEN n.own ELSE n.other END, 'message', t.name,
           nullif(r.message_sequence_number, -1), octet_length(r.body), CASE r.status WHEN 3 THEN 'sent, retained' ELSE 'received, retained' END, NULL
      FROM (SELECT * FROM ssb.retained_message AS r WHERE r.endpoint_id = e.endpoint_id ORDER BY r.queuing_order LIMIT 1000) AS r
     CROSS JOIN names AS n LEFT JOIN ssb.message_type AS t ON t.message_type_id = r.message_type_id
    UNION ALL
    SELECT t.enqueued_at, n.own, 'message', t.message_type_name, t.message_sequence_number, octet_length(t.body),
           'waits for delivery', t.transmission_status
      FROM (SELECT * FROM ssb.transmission AS t WHERE t.endpoint_id = e.endpoint_id ORDER BY t.message_sequence_number LIMIT 1000) AS t
     CROSS JOIN names AS n
    UNION ALL
    -- What this side has received and its queue does not retain. Numbers are exact up to the 16th message.
    SELECT NULL, n.other, 'received', NULL, NULL, NULL, NULL,
           format('%s%s of the messages that came for the %s are received and no longer kept',
                  CASE WHEN c.came > 16 THEN 'about ' END, c.came, n.own)
      FROM names AS n
     CROSS JOIN LATERAL (
           SELECT coalesce((SELECT min(w.message_sequence_number) FROM waiting AS w WHERE w.message_sequence_number >= 0),
                           ssb_internal.shown_number(e.far_endpoint_id),
                           (SELECT r.next_number FROM ssb.remote_conversation AS r WHERE r.endpoint_id = e.endpoint_id), 0)
                  - (SELECT count(*) FROM ssb.retained_message AS r WHERE r.endpoint_id = e.endpoint_id AND r.status = 0) AS came) AS c
     WHERE c.came > 0
    UNION ALL
    SELECT e.dialog_timer, n.own, 'timer', NULL, NULL, NULL, CASE WHEN e.dialog_timer > clock_timestamp() THEN 'will fire' ELSE 'is due' END,
           'BEGIN CONVERSATION TIMER' FROM names AS n WHERE e.dialog_timer IS NOT NULL
    UNION ALL
    SELECT e.lifetime, n.own, 'lifetime', NULL, NULL, NULL, CASE WHEN e.lifetime > clock_timestamp() THEN 'will end' ELSE 'has ended' END,
           'then both sides get an Error' FROM names AS n WHERE e.lifetime IS NOT NULL
    UNION ALL
    SELECT e.closed_at, n.own, CASE WHEN e.is_closed_by_error THEN 'error' ELSE 'end' END, NULL, NULL, NULL,
           CASE WHEN e.is_close_known THEN 'the other side has it' ELSE 'not yet delivered' END,
           CASE WHEN e.is_closed_by_error THEN 'END CONVERSATION WITH ERROR' ELSE 'END CONVERSATION' END
      FROM names AS n WHERE e.closed_at IS NOT NULL
    UNION ALL
    SELECT NULL, n.own, 'error', NULL, NULL, NULL, NULL,
           CASE WHEN e.is_refused THEN 'the other side refused a message: both sides have an Error'
                ELSE 'the broker has put an Error on this side''s queue' END
      FROM names AS n WHERE e.is_error AND e.closed_at IS NULL
    UNION ALL
    SELECT g.quarantined_at, n.own, 'quarantine', NULL, NULL, NULL, format('after %s rollbacks', g.rollbacks), g.error
      FROM names AS n JOIN ssb.quarantined_group AS g ON g.lock_id = e.lock_id
    UNION ALL
    SELECT k.claimed_at, n.own, 'claim', NULL, NULL, NULL, format('claim %s', k.claim_id), format('held by session %s', k.pid)
      FROM names AS n
      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
      JOIN ssb.claim AS k ON k.claim_id = l.claim_id AND ssb_internal.claim_is_alive(l.claim_id)
    UNION ALL
    SELECT r.taken_at, n.other, 'transport', NULL, NULL, NULL,
           CASE WHEN r.far_outcome IS NOT NULL THEN format('the other side has ended it (%s)', r.far_outcome)
                WHEN r.failures > 0 THEN format('%s failures in a row, next try at %s', r.failures, r.retry_at) END,
           format('another instance%s: it has the messages before number %s of this side', ' at ' || r.address, r.acknowledged)
      FROM names AS n JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.side_of_timeline(ssb.conversation_endpoint) FROM PUBLIC;

-- For operators, and for those who may receive for one of the two sides. 8426 when there is no such handle.
CREATE OR REPLACE FUNCTION ssb.conversation_timeline(handle uuid)
RETURNS TABLE (at timestamptz, side text, event text, message_type_name text, message_sequence_number bigint,
               bytes integer, status text, detail text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_near ssb.conversation_endpoint;
BEGIN
    SELECT e.* INTO v_near FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = $1;
    IF NOT FOUND OR NOT (ssb_internal.may_monitor()
        OR EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id IN (v_near.queue_id, v_near.far_queue_id) AND ssb_internal.may_receive(q)))
    THEN
        PERFORM ssb_internal.raise_handle_not_found($1);
    END IF;
    RETURN QUERY
    SELECT t.* FROM ssb.conversation_endpoint AS e CROSS JOIN LATERAL ssb_internal.side_of_timeline(e) AS t
     WHERE e.endpoint_id IN (v_near.endpoint_id, v_near.far_endpoint_id)
        -- An initiator whose first message is still on its way does not know its far side.
     ORDER BY t.event <> 'begin', t.at NULLS FIRST, t.message_sequence_number;
END;
$$;
