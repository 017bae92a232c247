-- What the conversation statements have in common: the handles, the lock, the state, the errors.

-- A dialog of the fast path draws one random number, where it needs five: random numbers come from the system, and
-- cost what a small statement costs. The initiator's handle is the conversation's id too, and each side's handle that of its group,
-- as long as that is its own; the target's handle is the initiator's with another version (8 in RFC 9562: "of
-- one's own making").
CREATE OR REPLACE FUNCTION ssb_internal.target_handle(p_initiator uuid)
RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT overlay(p_initiator::text PLACING '8' FROM 15 FOR 1)::uuid;
END;

-- Whether it is surely a target's. Those that another instance has begun are drawn at random.
CREATE OR REPLACE FUNCTION ssb_internal.is_target_handle(p_handle uuid)
RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT get_byte(uuid_send(p_handle), 6) >> 4 = 8;
END;

-- Locks the group of an endpoint and returns the endpoint as it is then; a row of
-- NULLs when there is none. Waiting for the lock can take as long as the other
-- transaction: the endpoint is read again afterwards, and may have moved.
CREATE OR REPLACE FUNCTION ssb_internal.lock_endpoint(p_handle uuid)
RETURNS ssb.conversation_endpoint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_lock_id bigint;
    v_endpoint ssb.conversation_endpoint;
BEGIN
    LOOP
        SELECT e.lock_id INTO v_lock_id FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = p_handle;
        PERFORM FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = v_lock_id FOR NO KEY UPDATE;
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = p_handle;
        IF NOT FOUND OR v_endpoint.lock_id = v_lock_id THEN
            RETURN v_endpoint;
        END IF;
    END LOOP;
END;
$$;

-- For a definition that changes many conversations: these sides, and with p_with_far those of their far sides that are open, in the order
-- of their numbers, as all lock who lock several. The caller reads them afterwards: what he waited for may have changed them.
-- Called by  ALTER and DROP DATABASE, ALTER and DROP SERVICE, DROP CONTRACT
CREATE OR REPLACE FUNCTION ssb_internal.lock_sides(p_endpoint_ids bigint[], p_with_far boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM ssb.conversation_endpoint AS e
      WHERE e.endpoint_id IN (
            SELECT u.endpoint_id FROM unnest(p_endpoint_ids) AS u (endpoint_id)
             UNION ALL
            SELECT o.far_endpoint_id FROM ssb.conversation_endpoint AS o
              JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = o.far_endpoint_id
             WHERE p_with_far AND o.endpoint_id = ANY (p_endpoint_ids) AND f.closed_at IS NULL)
      ORDER BY e.endpoint_id FOR NO KEY UPDATE;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_sides(bigint[], boolean) FROM PUBLIC;

-- The same for those who come by on their own: they do not wait. True when it is locked.
CREATE OR REPLACE FUNCTION ssb_internal.try_lock_endpoint(p_endpoint_id bigint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    PERFORM FROM ssb.conversation_endpoint AS e
       JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id
      WHERE e.endpoint_id = p_endpoint_id FOR NO KEY UPDATE OF l SKIP LOCKED;
    RETURN FOUND;
END;
$$;

-- An endpoint leaves its group. If it led it, the others follow a new leader, who has its claim; a group that was set aside
-- is under its new leader's number, or nothing is left to decide about. (`+ 0`, for the minimum not to be looked for in the
-- index by number, which has every conversation.)
-- Locks  the caller holds the group
CREATE OR REPLACE FUNCTION ssb_internal.hand_over_group(p_endpoint_id bigint, p_claim_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_leader CONSTANT bigint := (SELECT min(o.endpoint_id + 0) FROM ssb.conversation_endpoint AS o
                                  WHERE o.lock_id = p_endpoint_id AND o.endpoint_id <> p_endpoint_id);
BEGIN
    UPDATE ssb.conversation_endpoint AS e SET lock_id = v_leader, claim_id = p_claim_id
     WHERE e.lock_id = p_endpoint_id AND e.endpoint_id <> p_endpoint_id;
    IF p_claim_id < 0 AND v_leader IS NULL THEN
        DELETE FROM ssb.quarantined_group AS g WHERE g.quarantine_id = -p_claim_id AND g.lock_id = p_endpoint_id;
    ELSIF p_claim_id < 0 THEN
        UPDATE ssb.quarantined_group AS g SET lock_id = v_leader WHERE g.quarantine_id = -p_claim_id AND g.lock_id = p_endpoint_id;
    END IF;
END;
$$;

-- A conversation joins the group of this leader: a new version of its row. Who has one snapshot for a whole transaction and
-- does not see the one that joined cannot end the leader then (40001), and leave the other without a lock.
-- Locks  the caller holds the group
CREATE OR REPLACE FUNCTION ssb_internal.note_joined(p_lock_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.conversation_endpoint AS l SET claim_id = l.claim_id WHERE l.endpoint_id = p_lock_id;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_joined(bigint) FROM PUBLIC;

-- The leader of the group with this id on a service, NULL when it has no open
-- conversation there.
CREATE OR REPLACE FUNCTION ssb_internal.find_group(p_group uuid, p_service_id integer)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN (SELECT e.lock_id FROM ssb.conversation_endpoint AS e
             WHERE e.conversation_group_id = p_group AND e.service_id = p_service_id AND e.closed_at IS NULL LIMIT 1);
END;
$$;

-- The state that sys.conversation_endpoints shows. NULL: it shows no such endpoint
-- any more, though its row still tells the far side how it ended. An expression, not a call, where a view asks for each row.
CREATE OR REPLACE FUNCTION ssb_internal.endpoint_state(e ssb.conversation_endpoint, f ssb.conversation_endpoint)
RETURNS char(2)
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT CASE
        WHEN e.closed_at IS NOT NULL THEN
            CASE WHEN NOT e.is_close_known THEN 'DO' WHEN NOT (e.is_initiator OR e.is_cleaned_up) THEN 'CD' END
        WHEN e.is_error OR f.is_refused OR e.far_outcome = 'ER' OR (f.is_close_known AND f.is_closed_by_error) THEN 'ER'
        WHEN e.far_outcome = 'DI' OR f.is_close_known THEN 'DI'
        WHEN e.is_initiator AND e.sent_count = 0 THEN 'SO'
        ELSE 'CO' END;
END;

-- STABLE, though the clock goes on: a view that asks it keeps its plans.
CREATE OR REPLACE FUNCTION ssb_internal.is_over(p_lifetime timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_lifetime <= clock_timestamp();
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.endpoint_state(e ssb.conversation_endpoint)
RETURNS char(2)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_far ssb.conversation_endpoint;
BEGIN
    IF e.far_endpoint_id IS NULL AND e.far_outcome IS NULL THEN
        e.far_outcome := (SELECT r.far_outcome FROM ssb.remote_conversation AS r WHERE r.endpoint_id = e.endpoint_id);
    ELSE
        SELECT f.* INTO v_far FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = e.far_endpoint_id;
    END IF;
    -- A lifetime that is over counts before anybody has put the Error on the queue.
    IF e.closed_at IS NULL AND e.lifetime <= clock_timestamp() THEN
        RETURN 'ER';
    END IF;
    RETURN ssb_internal.endpoint_state(e, v_far);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_handle_not_found(p_handle uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(8426, format('The conversation handle "%s" is not found.', upper(p_handle::text)), 16, 1,
                                     'Both sides may have ended it: see sys.conversation_endpoints.');
END;
$$;

-- RECEIVE permission on a queue is what BEGIN DIALOG, SEND, RECEIVE, END … on its
-- services need. Grants are mirrored as USAGE of the queue's order sequence
-- (ssb_internal.mirror_receive_grants), which is one quick look; the tables decide the rest.
CREATE OR REPLACE FUNCTION ssb_internal.may_receive(p_queue ssb.queue)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN has_sequence_privilege(ssb_internal.caller(), p_queue.order_sequence, 'USAGE')
        OR ssb_internal.has_permission(ssb_internal.caller(), 'QUEUE', p_queue.queue_id, 'RECEIVE', p_queue.owner, p_queue.database_id);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_receive(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.may_receive(p_queue) THEN
        PERFORM ssb_internal.raise_error(229, format('The RECEIVE permission was denied on the object ''%s'', database ''%s'', schema ''%s''.',
            p_queue.spelling, ssb_internal.database_name(p_queue.database_id),
            coalesce((SELECT s.schema_name FROM ssb.schema_of_database AS s WHERE s.name = p_queue.schema_name),
                     p_queue.schema_name)), 14, 5);
    END IF;
END;
$$;
