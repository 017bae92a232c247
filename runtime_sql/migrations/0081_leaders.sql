-- Two that no longer serve, and one that has a parameter more.
DROP FUNCTION IF EXISTS ssb_internal.leader_of_group(uuid, integer), ssb_internal.attempts_of(regclass),
                        ssb_internal.deliver_waiting_for_queue(integer);
-- Conversations whose leader has ended while they joined its group have a leader again; of what was set aside and is on no
-- record, nobody could decide.
DO $$
BEGIN
    IF to_regclass('ssb.quarantined_group') IS NOT NULL THEN
        UPDATE ssb.conversation_endpoint AS e
           SET lock_id = (SELECT min(o.endpoint_id) FROM ssb.conversation_endpoint AS o WHERE o.lock_id = e.lock_id)
         WHERE NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS l WHERE l.endpoint_id = e.lock_id);
        UPDATE ssb.quarantined_group AS g SET lock_id = l.endpoint_id
          FROM ssb.conversation_endpoint AS l
         WHERE l.claim_id = -g.quarantine_id AND l.lock_id = l.endpoint_id AND g.lock_id <> l.endpoint_id;
        DELETE FROM ssb.quarantined_group AS g
         WHERE NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS l
                            WHERE l.endpoint_id = g.lock_id AND l.claim_id = -g.quarantine_id);
        UPDATE ssb.conversation_endpoint AS l SET claim_id = NULL
         WHERE l.claim_id < 0 AND NOT EXISTS (SELECT FROM ssb.quarantined_group AS g WHERE g.quarantine_id = -l.claim_id);
    END IF;
END;
$$;
