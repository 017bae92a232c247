-- sys.conversation_endpoints, conversation_groups, transmission_queue.

-- ssb_internal.next_number for those who look. STABLE, so that the planner leaves out those columns of a view that nobody asks
-- for; by the endpoint's number, for a row that the caller makes could name any sequence.
-- Called by  sys.conversation_endpoints, ssb_internal.side_of_timeline
CREATE OR REPLACE FUNCTION ssb_internal.shown_number(p_endpoint_id bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN (SELECT ssb_internal.next_number(e) FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id);
END;
$$;

-- For the planner, which would take the rows for one, and join them with others by reading those anew for each: each compares its
-- state and its side in a subquery of its own, where a condition counts for nothing, and the database in an expression that counts
-- for a half. All other conditions find the indexes. Rows whose state is NULL (ssb_internal.endpoint_state) are left out by what
-- the row itself says: there can be many before those that whoever ends all conversations one by one has still to find.
CREATE OR REPLACE VIEW sys.conversation_endpoints AS
SELECT e.conversation_handle, e.conversation_id, s.is_initiator,
       e.contract_id AS service_contract_id, e.conversation_group_id, e.service_id,
       (coalesce(e.lifetime, e.started_at + interval '2147483647 seconds') AT TIME ZONE 'UTC')::timestamp(3) AS lifetime,
       s.state,
       CASE s.state WHEN 'SO' THEN 'STARTED_OUTBOUND' WHEN 'SI' THEN 'STARTED_INBOUND' WHEN 'CO' THEN 'CONVERSING'
                    WHEN 'DI' THEN 'DISCONNECTED_INBOUND' WHEN 'DO' THEN 'DISCONNECTED_OUTBOUND'
                    WHEN 'CD' THEN 'CLOSED' ELSE 'ERROR' END AS state_desc,
       e.far_service,
       upper(coalesce(e.far_broker_instance, r.far_instance,
                      (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = f.database_id)))
           AS far_broker_instance,
       coalesce(CASE WHEN r.near_user IS NOT NULL THEN ssb_internal.principal_id_of(r.near_user, e.database_id) END, 1) AS principal_id,
       coalesce(CASE WHEN r.far_user IS NOT NULL THEN ssb_internal.principal_id_of(r.far_user, e.database_id) END,
                CASE r.security WHEN 'A' THEN 0 ELSE 1 END) AS far_principal_id,
       coalesce(r.outbound_key_id, '00000000-0000-0000-0000-000000000000') AS outbound_session_key_identifier,
       coalesce(r.inbound_key_id, '00000000-0000-0000-0000-000000000000') AS inbound_session_key_identifier,
       (CASE s.state WHEN 'CD' THEN e.closed_at + interval '30 minutes' ELSE e.started_at END AT TIME ZONE 'UTC')::timestamp(3)
           AS security_timestamp,
       coalesce((e.dialog_timer AT TIME ZONE 'UTC')::timestamp(3), '1900-01-01') AS dialog_timer,
       ssb_internal.shown_number(e.endpoint_id) AS send_sequence, '\x000000000000'::bytea AS last_send_tran_id,
       CASE WHEN e.closed_at IS NULL THEN -1 ELSE e.sent_count - 1 END AS end_dialog_sequence,
       coalesce(ssb_internal.shown_number(e.far_endpoint_id), r.next_number, 0) AS receive_sequence,
       0 AS receive_sequence_frag, 0::bigint AS system_sequence, -1::bigint AS first_out_of_order_sequence,
       -1::bigint AS last_out_of_order_sequence, 0 AS last_out_of_order_frag, e.is_system::integer::sys.bit AS is_system, e.priority
  FROM ssb.conversation_endpoint AS e
  LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id
  LEFT JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
 CROSS JOIN LATERAL (
    SELECT CASE WHEN e.closed_at IS NULL AND e.lifetime IS NOT NULL AND ssb_internal.is_over(e.lifetime) THEN 'ER'
                WHEN r.far_outcome IS NULL OR e.closed_at IS NOT NULL OR e.is_error THEN ssb_internal.endpoint_state(e, f)
                ELSE r.far_outcome END AS state,
           e.is_initiator::integer::smallint AS is_initiator
    OFFSET 0) AS s
 WHERE coalesce(e.database_id = (SELECT ssb_internal.current_database_id())
                AND (e.closed_at IS NULL OR NOT e.is_close_known OR NOT (e.is_initiator OR e.is_cleaned_up)), false);

DROP FUNCTION IF EXISTS ssb_internal.shown_number(ssb.conversation_endpoint);  -- the view's, while it asked by row

-- Those of conversations that are not closed (the state CD above, or none): to know that, no state has to be worked out.
CREATE OR REPLACE VIEW sys.conversation_groups AS
SELECT DISTINCT e.conversation_group_id, e.service_id, false::integer::sys.bit AS is_system
  FROM ssb.conversation_endpoint AS e
 WHERE coalesce(e.database_id = (SELECT ssb_internal.current_database_id()), false) AND (e.closed_at IS NULL OR NOT e.is_close_known);

-- The queues whose services' messages the caller may read: those that he may receive from.
CREATE OR REPLACE FUNCTION ssb_internal.readable_queues()
RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT q.queue_id FROM ssb.queue AS q WHERE ssb_internal.may_receive(q)
    UNION ALL
    SELECT 0 WHERE pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE');   -- event notifications
$$;

-- Everybody sees what waits and why; message_body is NULL for who may not receive on the sender's queue.
CREATE OR REPLACE VIEW sys.transmission_queue AS
SELECT e.conversation_handle, e.far_service AS to_service_name, upper(e.far_broker_instance) AS to_broker_instance,
       e.service_name AS from_service_name, e.contract_name AS service_contract_name,
       (t.enqueued_at AT TIME ZONE 'UTC')::timestamp(3) AS enqueue_time, t.message_sequence_number, t.message_type_name,
       t.is_conversation_error::integer::sys.bit AS is_conversation_error,
       t.is_end_of_dialog::integer::sys.bit AS is_end_of_dialog,
       CASE WHEN e.queue_id IN (SELECT q FROM ssb_internal.readable_queues() AS q) THEN t.body END AS message_body,
       t.transmission_status, e.priority
  FROM ssb.transmission AS t JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id
 WHERE coalesce(t.database_id = (SELECT ssb_internal.current_database_id()), false);
