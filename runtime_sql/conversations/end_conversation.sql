-- END CONVERSATION.
-- Called by  compiled END CONVERSATION, DROP SERVICE; end_conversations.sql for those that a set leaves
-- Locks      this side's group. The far side's row is read, never written: its
--            state follows from ours (ssb_internal.endpoint_state).

-- Takes away what this side has in its queue: nobody will receive it.
CREATE OR REPLACE FUNCTION ssb_internal.forget_messages(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    DELETE FROM ssb.message_stored AS m WHERE m.endpoint_id = p_endpoint_id;
    DELETE FROM ssb.retained_message AS r WHERE r.endpoint_id = p_endpoint_id;
END;
$$;

-- The endpoint with all that hangs on it.
CREATE OR REPLACE FUNCTION ssb_internal.remove_endpoint(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    PERFORM ssb_internal.forget_messages(p_endpoint.endpoint_id);
    IF p_endpoint.has_waiting THEN
        DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = p_endpoint.endpoint_id;
    END IF;
    PERFORM ssb_internal.hand_over_group(p_endpoint.endpoint_id, p_endpoint.claim_id);
    DELETE FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint.endpoint_id;
END;
$$;

-- Whether a closed target's row has nothing more to tell: its far side is gone, or has ended and knows. That of another
-- instance may still ask.
CREATE OR REPLACE FUNCTION ssb_internal.tells_nobody(p_target ssb.conversation_endpoint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN p_target.far_endpoint_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS f
                        WHERE f.endpoint_id = p_target.far_endpoint_id AND (f.closed_at IS NULL OR NOT f.is_close_known));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tells_nobody(ssb.conversation_endpoint) FROM PUBLIC;

-- The row of the far side of one that was cleaned up, where that is shown no more and nobody is left to whom it could tell
-- anything. Those whose group somebody else holds the daemon removes in its time (ssb_internal.remove_closed).
-- Locks  that side's group, if it is free
CREATE OR REPLACE FUNCTION ssb_internal.remove_hidden(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    PERFORM FROM ssb.conversation_endpoint AS e
      WHERE e.endpoint_id = p_endpoint_id AND e.closed_at IS NOT NULL AND e.is_close_known AND (e.is_initiator OR e.is_cleaned_up);
    IF FOUND AND ssb_internal.try_lock_endpoint(p_endpoint_id) THEN
        -- As it is now that it is locked.
        PERFORM ssb_internal.remove_endpoint(e) FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_endpoint_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.remove_hidden(bigint) FROM PUBLIC;

-- Marks a side as closed. An initiator's row has no more to tell once the far side
-- has closed too; a target's stays for 30 minutes, as SQL Server keeps it. What the far side still has waiting is for
-- nobody now: it is dropped, and a far side that has ended waits for nothing more. (Whose group somebody else holds
-- drops it when the queue comes on, or a RECEIVE looks; so the row stays that tells it of our end.)
CREATE OR REPLACE FUNCTION ssb_internal.close_endpoint(p_endpoint ssb.conversation_endpoint, p_is_known boolean, p_by_error boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_endpoint.is_initiator AND p_is_known
       AND (p_endpoint.far_endpoint_id IS NULL OR p_endpoint.far_outcome IS NOT NULL
            OR NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS f
                            WHERE f.endpoint_id = p_endpoint.far_endpoint_id AND (f.closed_at IS NULL OR NOT f.is_close_known))) THEN
        PERFORM ssb_internal.remove_endpoint(p_endpoint);
        RETURN;
    END IF;
    PERFORM ssb_internal.forget_messages(p_endpoint.endpoint_id);
    IF p_is_known AND p_endpoint.has_waiting AND p_endpoint.far_endpoint_id IS NULL THEN
        -- For another instance, where the other side has ended, too: nobody reads there any more.
        DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = p_endpoint.endpoint_id;
    END IF;
    UPDATE ssb.conversation_endpoint AS e
       SET closed_at = clock_timestamp(), is_close_known = p_is_known, is_closed_by_error = p_by_error,
           dialog_timer = NULL, due_at = clock_timestamp() + interval '30 minutes'
     WHERE e.endpoint_id = p_endpoint.endpoint_id;
    PERFORM ssb_internal.deliver_waiting(f.endpoint_id)
       FROM ssb.conversation_endpoint AS f
      WHERE f.endpoint_id = p_endpoint.far_endpoint_id AND f.has_waiting AND ssb_internal.try_lock_endpoint(f.endpoint_id);
END;
$$;

-- An EndDialog or Error that had to wait has reached the far side at last.
CREATE OR REPLACE FUNCTION ssb_internal.note_close_known(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    UPDATE ssb.conversation_endpoint AS e
       SET is_close_known = true, closed_at = clock_timestamp(), due_at = clock_timestamp() + interval '30 minutes'
     WHERE e.endpoint_id = p_endpoint_id AND e.closed_at IS NOT NULL;
END;
$$;

-- Whether a queue of this database has ever retained messages or had groups of several dialogs: the end of a
-- conversation has more to do then. A sequence, because that is the quickest thing to ask, and to be sure of: each
-- such queue has counted it before a message was retained or a dialog joined a group.
CREATE SEQUENCE IF NOT EXISTS ssb.groups_or_retention;

CREATE OR REPLACE FUNCTION ssb_internal.note_groups_or_retention()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM nextval('ssb.groups_or_retention');
    RETURN NULL;
END;
$$;

CREATE OR REPLACE TRIGGER note_groups_or_retention
    AFTER INSERT OR UPDATE OF has_groups, is_retention_enabled ON ssb.queue
    FOR EACH ROW WHEN (new.has_groups OR new.is_retention_enabled) EXECUTE FUNCTION ssb_internal.note_groups_or_retention();

-- Those of an older version.
DO $$
BEGIN
    PERFORM nextval('ssb.groups_or_retention')
      WHERE pg_sequence_last_value('ssb.groups_or_retention') IS NULL
        AND (EXISTS (SELECT FROM ssb.queue AS q WHERE q.has_groups OR q.is_retention_enabled)
             OR EXISTS (SELECT FROM ssb.retained_message));
END;
$$;

-- The fast path of END (see dialog_fast_path.sql) has no error and no CLEANUP, and is one of an initiator whose far
-- side has ended the dialog, of which nothing is left; or of a side whose far side is open, which is told. The
-- statement that removes or closes the side also locks it and sees whether it is one of those. What comes after it
-- has a snapshot of its own, and so sees what the group's last holder did; and the order is drawn below the lock.
CREATE OR REPLACE FUNCTION ssb.end_conversation(handle uuid, error integer DEFAULT NULL, description text DEFAULT NULL,
                                                cleanup boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_endpoint_id bigint;
    v_claim_id bigint;
    v_count bigint;
    v_count_order bigint;
    v_far_endpoint_id bigint;
    v_far_queue_id integer;
    v_far_priority smallint;
    v_order bigint;
    v_rotation bigint;                 -- even: ssb.message_0 takes new messages
    v_is_special boolean;
    v_is_known boolean;
    v_endpoint ssb.conversation_endpoint;
    v_queue ssb.queue;
    v_state char(2);
    v_number bigint;
BEGIN
    UNLISTEN ssb_rights;  -- see ssb_internal.caller
    IF error IS NULL AND description IS NULL AND cleanup IS NOT TRUE THEN
        IF NOT ssb_internal.is_target_handle(handle) THEN
            DELETE FROM ssb.conversation_endpoint AS e
             WHERE e.conversation_handle = handle AND e.is_initiator
               AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
               AND NOT e.has_waiting AND coalesce(e.lifetime > clock_timestamp(), true) AND NOT e.is_system AND e.far_outcome IS NULL
               AND ssb_internal.is_accepting(e.near_state) AND ssb_internal.is_accepting(e.far_state)
               AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
               AND has_sequence_privilege(ssb_internal.calling_role(),
                                          e.near_order, 'USAGE')
               AND (SELECT f.closed_at IS NOT NULL AND f.is_close_known AND NOT f.is_closed_by_error AND NOT f.is_refused
                      FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = e.far_endpoint_id)
            RETURNING e.endpoint_id, e.claim_id,
                      coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
                      pg_sequence_last_value('ssb.groups_or_retention') IS NOT NULL OR coalesce(e.claim_id < 0, false)
                 INTO v_endpoint_id, v_claim_id, v_rotation, v_is_special;
        END IF;
        IF v_endpoint_id IS NULL THEN
            -- That the far side ends while we wait for our lock is as if it did a moment later.
            UPDATE ssb.conversation_endpoint AS e
               SET sent_count = e.sent_count + 1, closed_at = clock_timestamp(), is_close_known = true,
                   is_closed_by_error = false, dialog_timer = NULL,
                   due_at = CASE WHEN e.due_at IS NULL OR e.dialog_timer IS NOT NULL OR e.lifetime IS NOT NULL
                                 THEN clock_timestamp() + interval '30 minutes' ELSE e.due_at END
             WHERE e.conversation_handle = handle
               AND e.lock_id = e.endpoint_id AND e.closed_at IS NULL AND NOT e.is_error
               AND NOT e.has_waiting AND coalesce(e.lifetime > clock_timestamp(), true) AND NOT e.is_system AND e.far_outcome IS NULL
               AND ssb_internal.is_accepting(e.near_state) AND ssb_internal.is_accepting(e.far_state)
               AND coalesce(pg_sequence_last_value(e.far_state), 0) = 0
               AND has_sequence_privilege(ssb_internal.calling_role(),
                                          e.near_order, 'USAGE')
               AND (SELECT f.closed_at IS NULL AND NOT f.is_refused
                      FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = e.far_endpoint_id)
            RETURNING e.endpoint_id, e.sent_count - 1, e.sent_order, e.far_endpoint_id, e.far_queue_id, e.far_priority,
                      -- Below the lock: what is returned is computed when the row has been written. (In the INSERT below it would
                      -- be three plan nodes more.)
                      CASE WHEN pg_try_advisory_xact_lock(1397965379, e.far_order::oid::integer) IS NOT NULL THEN nextval(e.far_order) END,
                      coalesce(pg_sequence_last_value('ssb.rotation_state'), 0),
                      pg_sequence_last_value('ssb.groups_or_retention') IS NOT NULL
                 INTO v_endpoint_id, v_count, v_count_order, v_far_endpoint_id, v_far_queue_id, v_far_priority, v_order,
                      v_rotation, v_is_special;
        END IF;
        -- Nobody will receive what is left.
        IF v_endpoint_id IS NOT NULL THEN
            IF v_is_special OR v_rotation & 2 <> 0 THEN
                PERFORM ssb_internal.forget_messages(v_endpoint_id);
                IF v_far_endpoint_id IS NULL THEN
                    PERFORM ssb_internal.hand_over_group(v_endpoint_id, v_claim_id);
                    RETURN;
                END IF;
            END IF;
            IF v_far_endpoint_id IS NOT NULL THEN
                IF v_rotation % 2 = 0 THEN
                    WITH forgotten AS (DELETE FROM ssb.message_0 AS m WHERE m.endpoint_id = v_endpoint_id)
                    INSERT INTO ssb.message_0 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                               message_type_id, priority, validation, body)
                    VALUES (v_far_queue_id, v_far_endpoint_id, v_order,
                            CASE WHEN v_count < 16 OR v_count_order IS NULL THEN v_count
                                 ELSE v_count + v_order - v_count_order - 1 END,
                            clock_timestamp(), 2, v_far_priority, 'E', NULL);
                ELSE
                    WITH forgotten AS (DELETE FROM ssb.message_1 AS m WHERE m.endpoint_id = v_endpoint_id)
                    INSERT INTO ssb.message_1 (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,
                                               message_type_id, priority, validation, body)
                    VALUES (v_far_queue_id, v_far_endpoint_id, v_order,
                            CASE WHEN v_count < 16 OR v_count_order IS NULL THEN v_count
                                 ELSE v_count + v_order - v_count_order - 1 END,
                            clock_timestamp(), 2, v_far_priority, 'E', NULL);
                END IF;
                RETURN;
            END IF;
            IF v_rotation % 2 = 0 THEN
                DELETE FROM ssb.message_0 AS m WHERE m.endpoint_id = v_endpoint_id;
            ELSE
                DELETE FROM ssb.message_1 AS m WHERE m.endpoint_id = v_endpoint_id;
            END IF;
            RETURN;
        END IF;
    END IF;
    v_is_known := true;
    IF handle IS NULL THEN
        PERFORM ssb_internal.raise_error(8418, 'The conversation handle is missing. Specify a conversation handle.');
    ELSIF (error IS NULL) <> (description IS NULL) THEN
        PERFORM ssb_internal.raise_error(8419, 'Both the error code and the description must be provided for END CONVERSATION WITH ERROR. '
                                               'Neither value can be NULL.');
    ELSIF error <= 0 THEN
        PERFORM ssb_internal.raise_error(1080, format('The integer value %s is out of range.', error), 15, 1,
                                         'The failure code of END CONVERSATION WITH ERROR is greater than 0.');
    END IF;
    v_endpoint := ssb_internal.lock_endpoint(handle);
    v_state := ssb_internal.endpoint_state(v_endpoint);
    IF v_endpoint.endpoint_id IS NULL OR v_state IS NULL THEN
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = v_endpoint.queue_id;
    IF FOUND THEN
        PERFORM ssb_internal.require_receive(v_queue);
    ELSIF v_endpoint.is_system OR NOT ssb_internal.controls_database(v_endpoint.database_id) THEN
        -- Its service and queue were dropped: it waits until another instance knows (ssb_internal.leave_word_of_loss).
        PERFORM ssb_internal.raise_handle_not_found(handle);
    END IF;
    IF v_endpoint.is_system THEN
        PERFORM ssb_internal.drop_notification_of(v_endpoint.conversation_handle, v_endpoint.far_endpoint_id);
        PERFORM ssb_internal.note_notice_answered(v_endpoint.far_endpoint_id);
    END IF;
    IF cleanup AND v_state = 'CD' AND NOT ssb_internal.tells_nobody(v_endpoint) THEN
        -- The far side was told already, and learns it from this row until that goes.
        UPDATE ssb.conversation_endpoint AS e SET is_cleaned_up = true WHERE e.endpoint_id = v_endpoint.endpoint_id;
        RETURN;
    ELSIF cleanup THEN
        PERFORM ssb_internal.remove_endpoint(v_endpoint);
        PERFORM ssb_internal.remove_hidden(v_endpoint.far_endpoint_id);
        PERFORM ssb_internal.drop_system_side(v_endpoint);
        RETURN;
    ELSIF v_state IN ('CD', 'DO') THEN
        PERFORM ssb_internal.raise_error(8427, format('The conversation endpoint is not in a valid state for END CONVERSATION. '
                                                      'The current endpoint state is ''%s''.', v_state));
    END IF;

    -- Tell the far side, unless it has ended itself, knows, or was never told of us.
    IF v_state = 'CO' THEN
        v_number := ssb_internal.next_number(v_endpoint);
        IF error IS NOT NULL AND v_endpoint.has_waiting THEN
            DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = v_endpoint.endpoint_id;
            v_endpoint.has_waiting := false;
            UPDATE ssb.conversation_endpoint AS e SET has_waiting = false WHERE e.endpoint_id = v_endpoint.endpoint_id;
        END IF;
        IF error IS NULL THEN
            v_is_known := ssb_internal.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                                                       v_number, true, false, NULL);
        ELSIF v_endpoint.far_endpoint_id IS NOT NULL
              OR EXISTS (SELECT FROM ssb.remote_conversation AS r WHERE r.endpoint_id = v_endpoint.endpoint_id) THEN
            v_is_known := ssb_internal.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/Error',
                                                       v_number, false, true, ssb_internal.error_body(error, left(description, 3000)));
        END IF;
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_endpoint.endpoint_id;
    ELSIF v_state = 'ER' AND v_endpoint.has_waiting THEN
        -- ERROR_BROKER_CONVERSATIONS: the Error for another instance has not left, and the far side is to hear of it all the same.
        v_is_known := NOT EXISTS (SELECT FROM ssb.transmission AS t
                                   WHERE t.endpoint_id = v_endpoint.endpoint_id AND t.is_conversation_error);
    END IF;
    PERFORM ssb_internal.close_endpoint(v_endpoint, v_is_known, error IS NOT NULL OR NOT v_is_known AND v_state = 'ER');
    PERFORM ssb_internal.drop_system_side(v_endpoint);
END;
$$;

-- The target of an event notification has ended its dialog: nobody would ever end the other side.
-- Locks  that side's group; who sends from there holds it, and never waits for this side's
CREATE OR REPLACE FUNCTION ssb_internal.drop_system_side(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_endpoint.is_system AND NOT p_endpoint.is_initiator THEN
        PERFORM ssb_internal.remove_endpoint(f)
           FROM ssb.conversation_endpoint AS f WHERE f.endpoint_id = p_endpoint.far_endpoint_id AND f.is_system;
        UPDATE ssb.conversation_endpoint AS e SET far_outcome = 'DI' WHERE e.endpoint_id = p_endpoint.endpoint_id;
    END IF;
END;
$$;

-- This side's service is being dropped: the far side learns it as an Error.
CREATE OR REPLACE FUNCTION ssb_internal.tell_far_side_of_loss(p_endpoint ssb.conversation_endpoint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_endpoint.closed_at IS NULL AND p_endpoint.far_endpoint_id IS NOT NULL AND ssb_internal.endpoint_state(p_endpoint) = 'CO' THEN
        PERFORM ssb_internal.fail_endpoint(p_endpoint.far_endpoint_id, -8470, 'Remote service has been dropped.');
        PERFORM ssb_internal.drop_broken_notification(p_endpoint.far_endpoint_id);
    END IF;
END;
$$;

-- The same where that is another instance: this side, closed, stays and is shown no more until the Error, or the end that it has told
-- before, has arrived there (ssb_internal.settle_sent). False: there is nothing to tell, and the side may go.
CREATE OR REPLACE FUNCTION ssb_internal.leave_word_of_loss(p_endpoint ssb.conversation_endpoint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint := p_endpoint;
    v_is_under_way boolean := (SELECT r.is_under_way FROM ssb.remote_conversation AS r
                                WHERE r.endpoint_id = p_endpoint.endpoint_id AND r.far_outcome IS NULL);
BEGIN
    IF v_is_under_way IS NULL OR v_endpoint.is_system THEN
        RETURN false;
    ELSIF v_endpoint.closed_at IS NULL AND v_is_under_way AND ssb_internal.endpoint_state(v_endpoint) = 'CO' THEN
        DELETE FROM ssb.transmission AS t WHERE t.endpoint_id = v_endpoint.endpoint_id;
        UPDATE ssb.conversation_endpoint AS e SET has_waiting = false
         WHERE e.endpoint_id = v_endpoint.endpoint_id RETURNING e.* INTO v_endpoint;
        PERFORM ssb_internal.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/Error',
                                             ssb_internal.next_number(p_endpoint), false, true,
                                             ssb_internal.error_body(-8470, 'Remote service has been dropped.'));
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_endpoint.endpoint_id;
        PERFORM ssb_internal.close_endpoint(v_endpoint, false, true);
    ELSIF v_endpoint.closed_at IS NULL OR v_endpoint.is_close_known OR NOT v_endpoint.has_waiting THEN
        RETURN false;
    END IF;
    UPDATE ssb.conversation_endpoint AS e SET is_cleaned_up = true WHERE e.endpoint_id = v_endpoint.endpoint_id;
    RETURN true;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.leave_word_of_loss(ssb.conversation_endpoint) FROM PUBLIC;
