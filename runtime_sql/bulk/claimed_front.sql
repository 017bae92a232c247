-- The front of a queue that claims have taken: RECEIVE and later claims begin behind it.
--
-- A job may claim a million messages. They stay where they are, first in their queue, and
-- whoever looks for a free message would walk over all of them. So the claim notes, per queue
-- and priority, an order up to which every message belongs to a group of some claim that is
-- alive, or to one of a few others that readers held at that moment. Those who look begin
-- behind it, and look at the few others first.
--
-- The row is right as long as each of its claims is: it names them with their first messages, and
-- who uses it asks once whether all are alive. Where one is not, the front ends before its first
-- message. Nothing has to be taken back when a claim ends or its session dies.
-- The order is one below which no message can appear any more (see conversations/low_water.sql).
--
-- Called by  ssb.receive, ssb_internal.find_first, ssb_internal.broker_probe, ssb_internal.claim_messages, ssb_internal.broker_sweep
CREATE TABLE IF NOT EXISTS ssb.claimed_front (
    queue_id   integer  NOT NULL,
    priority   smallint NOT NULL,
    last_order bigint   NOT NULL,
    claims     bigint[] NOT NULL,                  -- below zero: quarantined groups
    firsts     bigint[] NOT NULL,                  -- of each claim, the order of its groups' first message
    rests      bigint[] NOT NULL,                  -- … of the first one that is not the claim's; NULL: all are
    others     bigint[] NOT NULL,                  -- endpoints of groups that readers held
    PRIMARY KEY (queue_id, priority)
);

-- The order up to which p_front still holds.
CREATE OR REPLACE FUNCTION ssb_internal.front_end(p_front ssb.claimed_front)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_end bigint := p_front.last_order;
    v_is_there boolean;
BEGIN
    FOR v_i IN 1..cardinality(p_front.claims) LOOP
        CONTINUE WHEN p_front.firsts[v_i] > v_end;
        IF p_front.claims[v_i] > 0 THEN
            v_is_there := ssb_internal.claim_is_alive(p_front.claims[v_i]);
        ELSE
            PERFORM FROM ssb.quarantined_group AS g WHERE g.quarantine_id = -p_front.claims[v_i];
            v_is_there := FOUND;
        END IF;
        IF NOT v_is_there THEN
            v_end := p_front.firsts[v_i] - 1;
        END IF;
    END LOOP;
    RETURN v_end;
END;
$$;

-- Where to begin: behind the claims' front, or 0. others: endpoints that have messages
-- before that, of groups that some reader held when the front was noted.
CREATE OR REPLACE FUNCTION ssb_internal.behind_claims(p_queue_id integer, p_priority smallint, OUT from_order bigint, OUT others bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_front ssb.claimed_front;
BEGIN
    from_order := 0;
    others := '{}';
    SELECT f.* INTO v_front FROM ssb.claimed_front AS f WHERE f.queue_id = p_queue_id AND f.priority = p_priority;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_front.last_order := ssb_internal.front_end(v_front);
    from_order := v_front.last_order + 1;
    IF v_front.others <> '{}' THEN
        SELECT coalesce(array_agg(o.endpoint_id), '{}') INTO others
          FROM unnest(v_front.others) AS o (endpoint_id)
         WHERE EXISTS (SELECT FROM ssb.message_stored AS m
                        WHERE m.endpoint_id = o.endpoint_id AND m.queuing_order <= v_front.last_order);
    END IF;
END;
$$;

-- An order of the queue up to which everything is decided: no message with a lower one can
-- appear. Looks so many times, every two milliseconds, whether those who were sending are
-- through; NULL when that is not enough.
CREATE OR REPLACE FUNCTION ssb_internal.decided_order(p_order_sequence regclass, p_looks integer DEFAULT 50)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_last CONSTANT bigint := ssb_internal.last_order(p_order_sequence);
    v_oldest bigint;
    v_next bigint;
BEGIN
    -- One snapshot for the whole transaction cannot tell what came after it.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN NULL;
    END IF;
    v_oldest := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    SELECT greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                    max(v_oldest + age((v_oldest & 4294967295)::text::xid) - age(t.transactionid)) + 1)
      INTO v_next FROM pg_locks AS t WHERE t.locktype = 'transactionid' AND t.granted;
    FOR v_round IN 1..p_looks LOOP
        IF NOT ssb_internal.has_senders(p_order_sequence, v_next) THEN
            RETURN v_last;
        END IF;
        PERFORM pg_sleep(0.002) WHERE v_round < p_looks;
    END LOOP;
    RETURN NULL;
END;
$$;

-- The front's row, made where there is none.
--
-- Locks      it, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.lock_claimed_front(p_queue_id integer, p_priority smallint)
RETURNS ssb.claimed_front
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_front ssb.claimed_front;
BEGIN
    -- Who waits for another's lock may find that the other has deleted the row.
    LOOP
        INSERT INTO ssb.claimed_front (queue_id, priority, last_order, claims, firsts, rests, others)
        VALUES (p_queue_id, p_priority, -1, '{}', '{}', '{}', '{}') ON CONFLICT DO NOTHING;
        SELECT f.* INTO v_front FROM ssb.claimed_front AS f
         WHERE f.queue_id = p_queue_id AND f.priority = p_priority FOR UPDATE;
        EXIT WHEN FOUND;
    END LOOP;
    RETURN v_front;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_claimed_front(integer, smallint) FROM PUBLIC;

-- The front's end was before p_from, and from there to p_to all messages are those of the claim, which the caller has just made.
--
-- Called by  ssb_internal.claim_messages
-- Locks      the front's row, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.advance_claimed_front(p_queue_id integer, p_priority smallint, p_claim_id integer,
                                                              p_from bigint, p_to bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_front ssb.claimed_front;
    v_end bigint;
BEGIN
    v_front := ssb_internal.lock_claimed_front(p_queue_id, p_priority);
    v_end := ssb_internal.front_end(v_front);
    -- Not where a claim before it has died meanwhile, nor where another one has noted more.
    IF v_end >= p_from - 1 AND v_end < p_to AND cardinality(v_front.claims) < 64 THEN
        UPDATE ssb.claimed_front AS f
           SET last_order = p_to,
               (claims, firsts, rests) =
               (SELECT array_agg(c.claim_id), array_agg(c.first_order), array_agg(c.rest_order)
                  FROM (SELECT * FROM unnest(v_front.claims, v_front.firsts, v_front.rests) AS c (claim_id, first_order, rest_order)
                         WHERE c.first_order <= v_end
                        UNION ALL SELECT p_claim_id, v_end + 1, NULL) AS c)
         WHERE f.queue_id = p_queue_id AND f.priority = p_priority;
    END IF;
END;
$$;

-- A claim whose messages are all deleted: the front stays where it is without it, or ends where something is left of its groups.
--
-- Called by  ssb_internal.complete_claim
-- Locks      the front's rows, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.leave_claimed_front(p_queue_id integer, p_claim_id integer)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.claimed_front AS f
       SET (claims, firsts, rests) =
           (SELECT coalesce(array_agg(c.claim_id), '{}'), coalesce(array_agg(c.first_order), '{}'), coalesce(array_agg(c.rest_order), '{}')
              FROM (SELECT c.claim_id, CASE WHEN c.claim_id = p_claim_id THEN c.rest_order ELSE c.first_order END AS first_order, c.rest_order
                      FROM unnest(f.claims, f.firsts, f.rests) AS c (claim_id, first_order, rest_order)) AS c
             WHERE c.first_order IS NOT NULL)
     WHERE f.queue_id = p_queue_id AND p_claim_id = ANY (f.claims);
$$;

-- Notes how far claims have taken the queue's front, up to p_decided at most. Goes on from
-- where the noted front ends, if that still holds; stops before the first message that is free.
--
-- Locks      the front's row and free groups at which it stops, to the end of the transaction
CREATE OR REPLACE FUNCTION ssb_internal.note_claimed_front(p_queue_id integer, p_priority smallint, p_decided bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    v_front ssb.claimed_front;
    v_alive bigint[];
    v_claims bigint[];
    v_claim_firsts bigint[];
    v_claim_rests bigint[];
    v_free bigint[];
    v_firsts bigint[];
    v_last bigint;
    v_limit integer := 1000;
    v_seen bigint;
    v_has_free boolean;
BEGIN
    IF p_decided IS NULL THEN
        RETURN;
    END IF;
    v_front := ssb_internal.lock_claimed_front(p_queue_id, p_priority);
    v_front.last_order := ssb_internal.front_end(v_front);
    v_front.others := ARRAY(SELECT o.endpoint_id FROM unnest(v_front.others) AS o (endpoint_id)
                             WHERE EXISTS (SELECT FROM ssb.message_stored AS m
                                            WHERE m.endpoint_id = o.endpoint_id AND m.queuing_order <= v_front.last_order));
    -- Asked once. What dies meanwhile makes the row wrong, which its reader sees.
    v_alive := ARRAY(SELECT c.claim_id FROM ssb.claim AS c WHERE c.queue_id = p_queue_id AND ssb_internal.claim_is_alive(c.claim_id));
    <<stretches>>
    LOOP
        SELECT coalesce(sum(m.messages), 0), max(m.last_order), array_agg(m.claim_id) FILTER (WHERE m.claim_id IS NOT NULL),
               array_agg(m.first_order) FILTER (WHERE m.claim_id IS NOT NULL),
               array_agg(m.rest_order) FILTER (WHERE m.claim_id IS NOT NULL),
               coalesce(bool_or(m.is_there AND (m.claim_id < 0 OR m.claim_id = ANY (v_alive)) IS NOT TRUE), false)
          INTO v_seen, v_last, v_claims, v_claim_firsts, v_claim_rests, v_has_free
          FROM (SELECT e.claim_id, e.is_there, sum(s.messages) AS messages, min(s.first_order) AS first_order,
                       max(s.last_order) AS last_order,
                       min(CASE WHEN c.last_order IS NULL THEN s.first_order
                                WHEN c.last_order < s.last_order THEN greatest(s.first_order, c.last_order + 1) END) AS rest_order
                  FROM (SELECT s.endpoint_id, count(*) AS messages, min(s.queuing_order) AS first_order, max(s.queuing_order) AS last_order
                          FROM (SELECT s.endpoint_id, s.queuing_order FROM ssb.message_stored AS s
                                 WHERE s.queue_id = p_queue_id AND s.priority = p_priority
                                   AND s.queuing_order > v_front.last_order AND s.queuing_order <= p_decided
                                 ORDER BY s.queuing_order LIMIT v_limit) AS s
                         GROUP BY s.endpoint_id) AS s
                  LEFT JOIN LATERAL (SELECT CASE WHEN e.lock_id = e.endpoint_id THEN e.claim_id
                                                 ELSE (SELECT l.claim_id FROM ssb.conversation_endpoint AS l
                                                        WHERE l.endpoint_id = e.lock_id) END AS claim_id, true AS is_there
                                       FROM ssb.conversation_endpoint AS e
                                      WHERE e.endpoint_id = s.endpoint_id AND e.closed_at IS NULL) AS e ON true
                  LEFT JOIN ssb.claimed_conversation AS c ON c.claim_id = e.claim_id AND c.endpoint_id = s.endpoint_id
                 GROUP BY e.claim_id, e.is_there) AS m;
        IF v_seen < v_limit THEN
            v_last := p_decided;                   -- nothing more is there
        END IF;
        -- Those that hold, with the first message that they ever had in the front.
        SELECT coalesce(array_agg(c.claim_id), '{}'), coalesce(array_agg(c.first_order), '{}'), coalesce(array_agg(c.rest_order), '{}')
          INTO v_claims, v_claim_firsts, v_claim_rests
          FROM (SELECT c.claim_id, min(c.first_order) AS first_order, min(c.rest_order) AS rest_order
                  FROM (SELECT * FROM unnest(v_front.claims, v_front.firsts, v_front.rests) AS c (claim_id, first_order, rest_order)
                         WHERE c.first_order <= v_front.last_order
                         UNION ALL SELECT * FROM unnest(v_claims, v_claim_firsts, v_claim_rests)) AS c (claim_id, first_order, rest_order)
                 WHERE c.claim_id < 0 OR c.claim_id = ANY (v_alive)
                 GROUP BY c.claim_id) AS c;
        EXIT WHEN cardinality(v_claims) > 64;
        -- What no claim has, by its first message.
        SELECT array_agg(u.endpoint_id ORDER BY u.first_order), array_agg(u.first_order ORDER BY u.first_order)
          INTO v_free, v_firsts
          FROM (SELECT s.endpoint_id, min(s.queuing_order) AS first_order
                  FROM ssb.message_stored AS s
                  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = s.endpoint_id AND e.closed_at IS NULL
                 WHERE v_has_free AND s.queue_id = p_queue_id AND s.priority = p_priority
                   AND s.queuing_order > v_front.last_order AND s.queuing_order <= v_last
                   AND NOT coalesce(CASE WHEN e.lock_id = e.endpoint_id THEN e.claim_id
                                         ELSE (SELECT l.claim_id FROM ssb.conversation_endpoint AS l
                                                WHERE l.endpoint_id = e.lock_id) END = ANY (v_claims), false)
                   AND s.endpoint_id <> ALL (v_front.others)
                 GROUP BY s.endpoint_id ORDER BY 2 LIMIT 33) AS u;
        FOR v_next IN 1..coalesce(cardinality(v_free), 0) LOOP
            -- Free: here it ends. In a reader's hands: he may put it back.
            PERFORM FROM ssb.conversation_endpoint AS l
              WHERE l.endpoint_id = (SELECT e.lock_id FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_free[v_next])
                FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND OR cardinality(v_front.others) >= 32 THEN
                v_front.last_order := v_firsts[v_next] - 1;
                v_front.claims := v_claims;
                v_front.firsts := v_claim_firsts;
                v_front.rests := v_claim_rests;
                EXIT stretches;
            END IF;
            v_front.others := v_front.others || v_free[v_next];
        END LOOP;
        v_front.last_order := v_last;
        v_front.claims := v_claims;
        v_front.firsts := v_claim_firsts;
        v_front.rests := v_claim_rests;
        EXIT WHEN v_seen < v_limit;
        v_limit := least(v_limit * 10, 1000000);
    END LOOP;
    IF v_front.claims = '{}' THEN
        DELETE FROM ssb.claimed_front AS f WHERE f.queue_id = p_queue_id AND f.priority = p_priority;
    ELSE
        UPDATE ssb.claimed_front AS f SET last_order = v_front.last_order, claims = v_front.claims,
                                         firsts = v_front.firsts, rests = v_front.rests, others = v_front.others
         WHERE f.queue_id = p_queue_id AND f.priority = p_priority;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.note_claimed_front(integer, smallint, bigint), ssb_internal.decided_order(regclass, integer) FROM PUBLIC;
