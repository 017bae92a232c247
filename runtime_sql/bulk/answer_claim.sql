-- Replies to a claim's conversations and their ends, all of them by one statement.
--
-- What a claim is answered with is what send_sets.sql and end_conversations.sql do for sets of
-- handles: lock the groups, look that nothing is special, draw the orders, append, close. Here
-- the groups are locked already and the conversations are known by their numbers, so each row
-- is looked up once and written once, whatever is said on it.
--
-- Called by  ssb_internal.complete_claim
-- Locks      none: the caller has locked the claim's groups

-- p_staging: replies of the attempts that count (NULL: none). p_end_all: conversations of which nothing
-- failed and nothing is left are ended. Of those about which something is special (validation, another
-- type than the contract's plain ones, retention, a watcher to wake, a lifetime, an error, a group of
-- several) nothing is done: the caller goes the long way for them. answered: the others' endpoints, of
-- which everything is done, by ascending numbers. p_holds: what would be written to the message table is given back
-- instead (held), for a caller that writes it there later in the same transaction.
CREATE OR REPLACE FUNCTION ssb_internal.answer_claim(p_claim_id integer, p_staging regclass, p_attempts bigint[], p_end_all boolean, p_holds boolean,
                                                     OUT answered bigint[], OUT replied bigint, OUT ended bigint, OUT held ssb.message_stored[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_rotation CONSTANT bigint := coalesce(pg_sequence_last_value('ssb.rotation_state'), 0);
    v_messages CONSTANT text := $messages$
            SELECT t.far_queue_id AS queue_id, t.far_endpoint_id AS endpoint_id, t.queuing_order,
                   CASE WHEN t.sent_count < 16 OR t.sent_order IS NULL THEN t.sent_count + t.rank
                        ELSE t.sent_count + t.queuing_order - t.sent_order - 1 END AS message_sequence_number,
                   clock_timestamp() AS enqueued_at, t.message_type_id, t.far_priority AS priority,
                   CASE WHEN t.message_type_id = 2 THEN 'E' ELSE 'N' END AS validation, t.message_body AS body
              FROM told AS t$messages$;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    answered := '{}';
    replied := 0;
    ended := 0;
    -- Messages with a trace go one by one.
    IF current_setting('pgsb.traceparent', true) <> '' OR (p_staging IS NULL AND NOT p_end_all) THEN
        RETURN;
    END IF;
    -- What makes a conversation special is told by columns and not asked by conditions: of those the planner would
    -- expect that next to nothing passes all of them, and would join what does row by row with all of the others.
    EXECUTE format($answer$
        WITH named AS MATERIALIZED (
            SELECT e.endpoint_id, e.sent_count, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_order, e.far_priority,
                   e.conversation_handle, e.contract_id, e.is_initiator, e.plain_type, e.plain_type_id,
                   e.far_contract_id = e.contract_id AS is_same_contract, e.near_order, e.near_state, e.far_state,
                   $2 AND c.failed_order IS NULL
                   AND NOT EXISTS (SELECT FROM ssb.message_stored AS m
                                    WHERE m.endpoint_id = c.endpoint_id AND m.queuing_order > c.last_order) AS is_ending,
                   NOT c.is_refused
                   AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error AND NOT e.has_waiting
                   AND e.lifetime IS NULL AND NOT e.is_system AND e.far_outcome IS NULL
                   AND NOT f.is_refused AND f.closed_at IS NULL
                   -- Of both sides of one dialog the second follows from the first.
                   AND (e.far_queue_id <> e.queue_id
                        OR NOT EXISTS (SELECT FROM ssb.claimed_conversation AS o
                                        WHERE o.claim_id = $1 AND o.endpoint_id = e.far_endpoint_id))
                   AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS o
                                    WHERE o.lock_id = c.endpoint_id AND o.endpoint_id <> c.endpoint_id)
                   AND NOT EXISTS (SELECT FROM ssb.retained_message AS r WHERE r.endpoint_id = c.endpoint_id) AS is_plain
              FROM ssb.claimed_conversation AS c
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
              JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
             WHERE c.claim_id = $1
        ), plain AS MATERIALIZED (
            SELECT d.near_order, d.near_state, d.far_state, pg_try_advisory_xact_lock(1397965379, d.far_order::oid::integer)
              FROM (SELECT DISTINCT n.near_order, n.near_state, n.far_state, n.far_order FROM named AS n WHERE n.is_plain OFFSET 0) AS d
             WHERE has_sequence_privilege('public', d.near_state, 'SELECT')
               AND has_sequence_privilege('public', d.far_state, 'SELECT')
               AND coalesce(pg_sequence_last_value(d.far_state), 0) = 0
               AND has_sequence_privilege(ssb_internal.calling_role(), d.near_order, 'USAGE')
        ), judged AS MATERIALIZED (
            SELECT n.*, n.is_plain AND EXISTS (SELECT FROM plain AS p
                                                WHERE p.near_order = n.near_order AND p.near_state = n.near_state
                                                  AND p.far_state = n.far_state) AS is_usual
              FROM named AS n
        ), reply AS MATERIALIZED (
            SELECT n.endpoint_id, s.attempt_id, s.row_number,
                   CASE WHEN n.plain_type = s.message_type_name THEN n.plain_type_id
                        ELSE (SELECT t.message_type_id FROM ssb.contract_message_usage AS t
                               WHERE t.contract_id = n.contract_id AND t.message_type_name = s.message_type_name AND n.is_same_contract
                                 AND CASE WHEN n.is_initiator THEN t.is_plain_from_initiator ELSE t.is_plain_from_target END)
                   END AS message_type_id, s.message_body
              FROM %1$s AS s
              JOIN judged AS n ON n.conversation_handle = s.conversation_handle
             WHERE s.attempt_id = ANY ($3) AND n.is_usual
        ), usual AS MATERIALIZED (
            SELECT n.endpoint_id, n.sent_count, n.sent_order, n.far_endpoint_id, n.far_queue_id, n.far_order, n.far_priority, n.is_ending
              FROM judged AS n
             WHERE n.is_usual AND n.endpoint_id NOT IN (SELECT r.endpoint_id FROM reply AS r WHERE r.message_type_id IS NULL)
        ), told AS (
            SELECT o.* FROM (
                SELECT t.*, nextval(t.far_order) AS queuing_order
                  FROM (SELECT u.*, t.message_type_id, t.message_body,
                               row_number() OVER (PARTITION BY u.endpoint_id ORDER BY t.attempt_id, t.row_number) - 1 AS rank
                          FROM (SELECT r.endpoint_id, r.attempt_id, r.row_number, r.message_type_id, r.message_body FROM reply AS r
                                UNION ALL
                                SELECT u.endpoint_id, NULL, NULL, 2, NULL FROM usual AS u WHERE u.is_ending) AS t
                          JOIN usual AS u ON u.endpoint_id = t.endpoint_id
                         ORDER BY u.endpoint_id, t.attempt_id, t.row_number) AS t) AS o
        ), sent AS (%2$s), counted AS (
            SELECT u.endpoint_id, count(*) AS messages, max(s.queuing_order) AS last_order
              FROM sent AS s JOIN usual AS u ON u.far_endpoint_id = s.endpoint_id
             WHERE NOT u.is_ending AND (u.sent_count < 16 OR u.sent_order IS NULL)
             GROUP BY u.endpoint_id
        ), noted AS (
            UPDATE ssb.conversation_endpoint AS e SET sent_count = e.sent_count + c.messages, sent_order = c.last_order
              FROM counted AS c WHERE e.endpoint_id = c.endpoint_id
        ), closed AS (
            UPDATE ssb.conversation_endpoint AS e
               SET closed_at = clock_timestamp(), is_close_known = true, is_closed_by_error = false, dialog_timer = NULL,
                   due_at = CASE WHEN e.due_at IS NULL OR e.dialog_timer IS NOT NULL
                                 THEN clock_timestamp() + interval '30 minutes' ELSE e.due_at END
              FROM usual AS u WHERE e.endpoint_id = u.endpoint_id AND u.is_ending
        )
        SELECT (SELECT coalesce(array_agg(u.endpoint_id ORDER BY u.endpoint_id), '{}') FROM usual AS u),
               (SELECT count(*) FROM sent AS s WHERE s.message_type_id <> 2),
               (SELECT count(*) FROM usual AS u WHERE u.is_ending), %3$s$answer$,
        coalesce(p_staging::text, '(SELECT NULL::uuid AS conversation_handle, NULL::text AS message_type_name, NULL::bytea AS message_body,'
                                  ' NULL::bigint AS row_number, NULL::bigint AS attempt_id WHERE false)'),
        CASE WHEN p_holds THEN v_messages
             ELSE format('INSERT INTO ssb.%I (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,'
                         '                    message_type_id, priority, validation, body)'
                         ' %s RETURNING endpoint_id, queuing_order, message_type_id',
                         CASE WHEN v_rotation & 1 = 0 THEN 'message_0' ELSE 'message_1' END, v_messages) END,
        CASE WHEN p_holds THEN 'ARRAY(SELECT ROW(s.endpoint_id, s.queuing_order, s.message_sequence_number, s.enqueued_at, s.queue_id,'
                               ' s.message_type_id, s.priority, s.validation, s.body)::ssb.message_stored FROM sent AS s)'
             ELSE 'NULL::ssb.message_stored[]' END)
      INTO answered, replied, ended, held USING p_claim_id, p_end_all, p_attempts;
END;
$$;
