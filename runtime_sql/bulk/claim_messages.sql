-- Claiming: which groups, and what of each.

-- Claims whole conversation groups of a queue, oldest and most urgent first, as many
-- as fit into both limits (NULL: no limit). Groups that somebody holds are passed, and
-- nobody receives from a claimed one. A first group that alone is too large is
-- claimed too, and of it as many messages, in order, as fit (at least one). Commit
-- before others are to read; the claim ends with its connection at the latest.
-- claim_id is NULL when nothing was free. firsts, lasts: of each partition the lowest and the highest of its conversations'
-- numbers (NULL: it has none), where a large claim has most of all messages (else NULL): a reader walks over that range of them.
--
-- Called by  pgsb.bulk.claim
-- Locks      the claimed groups, to the end of the transaction; the claim's advisory
--            lock (1397965376, claim_id), to the end of the session
-- stream: the claim is a stream's of that name, and outlives this session by so many seconds (wait).
DROP FUNCTION IF EXISTS ssb_internal.claim_messages(text, bigint, bigint, integer);
CREATE OR REPLACE FUNCTION ssb_internal.claim_messages(queue text, max_messages bigint DEFAULT NULL, max_bytes bigint DEFAULT NULL,
                                              partitions integer DEFAULT 1, stream text DEFAULT NULL, wait integer DEFAULT NULL,
                                              OUT claim_id integer, OUT claimed_at timestamptz, OUT conversations bigint,
                                              OUT messages bigint, OUT bytes bigint, OUT largest bigint,
                                              OUT firsts bigint[], OUT lasts bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
-- A claim of three messages and one of a million want different plans.
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
    v_taken record;
    v_priority smallint;
    v_after bigint;
    v_limit bigint;
    v_look bigint := 0;                             -- what a look meets at least, however little may still be taken
    v_seen bigint;
    v_leaders bigint[];
    v_messages bigint[];
    v_bytes bigint[];
    v_next integer;
    v_step integer;
    v_least integer := 1;                           -- of groups that are asked for at once, however little may still be taken
    v_guess double precision;
    v_ratio double precision := 1;
    v_share bigint;
    v_is_mixed boolean;
    v_is_most boolean;
    v_decided bigint;
    v_behind record;
    v_firsts bigint[];
    v_group_firsts bigint[];
    v_group_lasts bigint[];
    v_largest bigint[];
    v_first bigint;
    v_last bigint;
    v_helpers integer;
    v_snapshot text;
    v_is_long boolean;
    v_is_whole boolean;
    v_has_gap boolean;
    v_gap bigint;
    v_froms bigint[] := '{}';
    v_tos bigint[] := '{}';
    v_is_full boolean := false;
    v_endpoints bigint[];
    v_lasts bigint[];
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    IF NOT v_queue.is_receive_enabled OR ssb_internal.is_poisoned(v_queue) THEN
        PERFORM ssb_internal.raise_error(9617, format('The service queue "%s" is currently disabled.', v_queue.spelling));
    ELSIF max_messages <= 0 OR max_bytes <= 0 OR partitions <= 0 OR partitions IS NULL THEN
        RAISE EXCEPTION 'max_messages, max_bytes and partitions must be greater than 0' USING ERRCODE = '22023';
    END IF;
    PERFORM ssb_internal.forget_dead_claims();
    PERFORM ssb_internal.deliver_due_on(v_queue.queue_id);
    PERFORM ssb_internal.fetch_waiting(v_queue.queue_id);
    -- Whoever may connect can take a lock that is about to be needed.
    LOOP
        claim_id := nextval('ssb.claim_id');
        EXIT WHEN pg_try_advisory_lock(1397965376, claim_id);
    END LOOP;
    claimed_at := clock_timestamp();
    -- Before the walk: what is decided now, it sees.
    v_decided := ssb_internal.decided_order(v_queue.order_sequence);
    messages := 0;
    bytes := 0;
    conversations := 0;
    INSERT INTO ssb.claim (claim_id, queue_id, role, pid, claimed_at, stream, expires_at)
    VALUES (claim_id, v_queue.queue_id, ssb_internal.caller(), pg_backend_pid(), claimed_at, stream,
            CASE WHEN stream IS NOT NULL THEN claimed_at + make_interval(secs => coalesce(wait, 604800)) END);

    <<queue_walk>>
    FOREACH v_priority IN ARRAY v_queue.priorities LOOP
        SELECT b.* INTO v_behind FROM ssb_internal.behind_claims(v_queue.queue_id, v_priority) AS b;
        IF v_behind.others <> '{}' THEN
            -- A reader held these when others claimed what stands around them.
            SELECT g.* INTO v_taken
              FROM ssb_internal.claim_groups(claim_id, ARRAY(SELECT DISTINCT e.lock_id FROM ssb.conversation_endpoint AS e
                                                     WHERE e.endpoint_id = ANY (v_behind.others) AND e.closed_at IS NULL),
                                    max_messages - messages, max_bytes - bytes, conversations, partitions, false,
                                             NOT v_queue.has_groups) AS g;
            messages := messages + v_taken.messages;
            bytes := bytes + v_taken.bytes;
            conversations := conversations + v_taken.conversations;
            v_is_full := v_taken.is_full OR coalesce(messages >= max_messages, false);
            EXIT queue_walk WHEN v_is_full;
        END IF;
        v_after := v_behind.from_order - 1;
        -- Whether the look meets the messages of its groups from their first on.
        v_is_whole := v_behind.from_order = 0 AND NOT v_queue.has_groups AND cardinality(v_queue.priorities) = 1;
        -- Of each priority from where to where all is this claim's.
        v_froms := v_froms || v_behind.from_order;
        v_tos := v_tos || NULL::bigint;
        v_has_gap := false;
        LOOP
            -- The next stretch of the queue, one message longer than what may still be taken: the
            -- cost is that of the claim and not that of the backlog. One pass tells its groups
            -- and about how much they have; that is counted when they are locked.
            -- Where others have claimed what stands there, each is longer than the one before: looks of what may still be taken, which
            -- may be one message, would be as many as the messages are.
            v_limit := least(greatest(max_messages - messages, v_look, CASE WHEN max_messages IS NULL THEN 1000000 END), 1000000) + 1;
            v_look := least(4 * v_look + 1000, 100000);
            -- Orders are drawn one by one: where as many as may be taken are left, so are no more messages than that, and
            -- they need not come in order. Dynamic SQL may use several processes, SELECT INTO may not.
            v_first := (SELECT s.queuing_order FROM ssb.message_stored AS s
                         WHERE s.queue_id = v_queue.queue_id AND s.priority = v_priority AND s.queuing_order > v_after
                         ORDER BY s.queuing_order LIMIT 1);
            EXIT WHEN v_first IS NULL;
            v_last := ssb_internal.last_order(v_queue.order_sequence);
            -- A million messages at most: a second helper would begin for longer than it helps.
            v_helpers := current_setting('max_parallel_workers_per_gather')::integer;
            PERFORM set_config('max_parallel_workers_per_gather', least(v_helpers, 1)::text, true);
            EXECUTE format($seen$
                WITH seen AS MATERIALIZED (
                    SELECT w.*, e.lock_id
                      FROM (SELECT t.endpoint_id, min(t.queuing_order) AS first_order, max(t.queuing_order) AS last_order,
                                   count(*) AS messages, coalesce(sum(t.size), 0) AS bytes, coalesce(max(t.size), 0) AS largest
                              FROM (SELECT s.endpoint_id, s.queuing_order, octet_length(s.body) AS size
                                      FROM ssb.message_stored AS s
                                     WHERE s.queue_id = $1 AND s.priority = $2 AND s.queuing_order > $3 AND s.queuing_order <= $4
                                     %s) AS t
                             GROUP BY t.endpoint_id) AS w
                      LEFT JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = w.endpoint_id AND e.closed_at IS NULL
                )
                SELECT pg_current_snapshot()::text, t.*, o.*
                  FROM (SELECT sum(g.messages), max(g.last_order),
                               array_agg(g.lock_id ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                               array_agg(g.first_order ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                               array_agg(g.last_order ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                               array_agg(g.messages ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                               array_agg(g.bytes ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                               array_agg(g.largest ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL)
                          FROM (SELECT s.lock_id, min(s.first_order) AS first_order, max(s.last_order) AS last_order,
                                       sum(s.messages)::bigint AS messages, sum(s.bytes)::bigint AS bytes,
                                       max(s.largest)::bigint AS largest
                                  FROM seen AS s GROUP BY s.lock_id) AS g) AS t
                 CROSS JOIN (SELECT array_agg(s.endpoint_id), array_agg(s.first_order), array_agg(s.last_order)
                               FROM seen AS s WHERE s.lock_id IS NOT NULL) AS o$seen$,
                CASE WHEN v_last - v_first + 1 >= v_limit THEN 'ORDER BY s.queuing_order LIMIT $5' END)
              INTO v_snapshot, v_seen, v_after, v_leaders, v_group_firsts, v_group_lasts, v_messages, v_bytes, v_largest,
                   v_endpoints, v_firsts, v_lasts
             USING v_queue.queue_id, v_priority, v_after, v_last, v_limit;
            PERFORM set_config('max_parallel_workers_per_gather', v_helpers::text, true);
            EXIT WHEN v_seen IS NULL;
            -- Whether it is worth while to look at the first and the last message of each group instead of all of them. The look
            -- has met all messages between the two where they have one priority.
            v_is_long := NOT v_queue.has_groups AND cardinality(v_queue.priorities) = 1 AND v_seen >= 16 * cardinality(v_leaders);
            v_is_whole := v_is_whole AND v_seen < v_limit;
            v_next := 1;
            WHILE v_next <= coalesce(cardinality(v_leaders), 0) LOOP
                -- As many groups as should fit, if they have what was seen of them, in proportion
                -- to what those before turned out to have. Where the queue goes on behind the
                -- stretch they may have much more: then the steps grow with what was taken. They grow, too, while others have all.
                SELECT greatest(count(*), v_least), greatest(max(w.messages), 1) INTO v_step, v_guess
                  FROM (SELECT sum(u.messages) OVER p AS messages, sum(u.bytes) OVER p AS bytes
                          FROM unnest(v_messages[v_next : v_next + 99999], v_bytes[v_next : v_next + 99999])
                               WITH ORDINALITY AS u (messages, bytes, place)
                        WINDOW p AS (ORDER BY u.place)) AS w
                 WHERE w.messages * v_ratio <= coalesce(least(max_messages - messages,
                                                              CASE WHEN v_seen = v_limit THEN greatest(1000, 4 * messages) END),
                                                        9223372036854775807)
                   AND w.bytes * v_ratio <= coalesce(max_bytes - bytes, 9223372036854775807);
                SELECT g.* INTO v_taken
                  FROM ssb_internal.claim_groups(claim_id, v_leaders[v_next : v_next + v_step - 1], max_messages - messages,
                                        max_bytes - bytes, conversations, partitions, v_seen < v_limit,
                                        NOT v_queue.has_groups,
                                        CASE WHEN v_is_long OR v_is_whole THEN v_group_firsts[v_next : v_next + v_step - 1] END,
                                        v_group_lasts[v_next : v_next + v_step - 1], v_messages[v_next : v_next + v_step - 1],
                                        v_bytes[v_next : v_next + v_step - 1], v_largest[v_next : v_next + v_step - 1],
                                        CASE WHEN v_is_whole THEN v_snapshot END, v_is_long) AS g;
                messages := messages + v_taken.messages;
                bytes := bytes + v_taken.bytes;
                conversations := conversations + v_taken.conversations;
                -- (To the last message: nothing is left to look for.)
                v_is_full := v_taken.is_full OR coalesce(messages >= max_messages, false);
                EXIT WHEN v_is_full;
                v_ratio := greatest(1, v_taken.messages / v_guess);
                v_least := CASE WHEN v_taken.messages = 0 THEN least(2 * v_least, 1000) ELSE 1 END;
                v_next := v_next + v_step;
            END LOOP;
            IF NOT v_has_gap THEN
                -- By conversations and not by groups: one may have moved to another group after it was seen.
                SELECT min(u.first_order) FILTER (WHERE c.last_order >= u.last_order IS NOT TRUE) INTO v_gap
                  FROM unnest(v_endpoints, v_firsts, v_lasts) AS u (endpoint_id, first_order, last_order)
                  LEFT JOIN ssb.claimed_conversation AS c ON c.claim_id = claim_messages.claim_id AND c.endpoint_id = u.endpoint_id;
                v_has_gap := v_gap IS NOT NULL;
                v_tos[cardinality(v_tos)] := least(v_decided, v_gap - 1, CASE WHEN v_seen = v_limit THEN v_after END);
            END IF;
            EXIT queue_walk WHEN v_is_full;
            EXIT WHEN v_seen < v_limit;
            v_is_whole := false;
        END LOOP;
    END LOOP;

    IF messages = 0 THEN
        PERFORM ssb_internal.drop_claim(claim_id);
        PERFORM pg_advisory_unlock(1397965376, claim_id);
        claim_id := NULL;
        RETURN;
    END IF;
    DELETE FROM ssb.completed_claim AS c
     WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.completed_claim AS o
                                WHERE o.completed_at < now() - interval '7 days' FOR UPDATE SKIP LOCKED));
    DELETE FROM ssb.passed_claim AS p
     WHERE p.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.passed_claim AS o
                                WHERE o.passed_at < now() - interval '7 days' FOR UPDATE SKIP LOCKED));
    SELECT max(c.largest) INTO largest FROM ssb.claimed_conversation AS c WHERE c.claim_id = claim_messages.claim_id;
    -- Readers of a claim of most messages walk over them. As the planner estimates it: rows a page when they were counted last, and
    -- pages now. Of a few it is the same whatever they do.
    v_is_most := messages >= 10000 AND coalesce(2 * messages >= (
        SELECT sum(pg_relation_size(c.oid) / 8192.0 * c.reltuples / c.relpages) FROM pg_class AS c
         WHERE c.oid IN ('ssb.message_0'::regclass, 'ssb.message_1'::regclass) AND c.relpages > 0 AND c.reltuples >= 0), false);
    IF conversations > 1000 OR v_is_most THEN
        -- Before anything joins them: without statistics a claim looks like a few rows, each of which is compared with all messages.
        ANALYZE ssb.claimed_conversation;
    END IF;
    -- Those that came later went to the partitions in turn: equal numbers of messages where they are of about equal length.
    -- Else, and where a row less to look at is worth more than a row of a conversation written again: ranges of all.
    SELECT max(p.messages), coalesce(bool_or(p.first <= p.before), false) INTO v_share, v_is_mixed
      FROM (SELECT sum(c.messages) AS messages, min(c.endpoint_id) AS first, lag(max(c.endpoint_id)) OVER (ORDER BY c.partition) AS before
              FROM ssb.claimed_conversation AS c
             WHERE c.claim_id = claim_messages.claim_id GROUP BY c.partition) AS p;
    IF v_is_mixed AND (v_share > 1.05 * messages / partitions + 1 OR messages >= 16 * conversations) THEN
        UPDATE ssb.claimed_conversation AS c
           SET partition = least(partitions - 1, trunc(p.before * partitions / messages)::integer)
          FROM (SELECT o.endpoint_id, sum(o.messages) OVER (ORDER BY o.endpoint_id) - o.messages AS before
                  FROM ssb.claimed_conversation AS o WHERE o.claim_id = claim_messages.claim_id) AS p
         WHERE c.claim_id = claim_messages.claim_id AND c.endpoint_id = p.endpoint_id;
    END IF;
    IF v_is_most THEN
        SELECT array_agg(p.first ORDER BY n.partition), array_agg(p.last ORDER BY n.partition) INTO firsts, lasts
          FROM generate_series(0, partitions - 1) AS n (partition)
          LEFT JOIN (SELECT c.partition, min(c.endpoint_id) AS first, max(c.endpoint_id) AS last FROM ssb.claimed_conversation AS c
                      WHERE c.claim_id = claim_messages.claim_id GROUP BY c.partition) AS p ON p.partition = n.partition;
    END IF;
    FOR v_next IN 1..cardinality(v_queue.priorities) LOOP
        IF v_decided IS NOT NULL AND v_tos[v_next] >= v_froms[v_next] THEN
            PERFORM ssb_internal.advance_claimed_front(v_queue.queue_id, v_queue.priorities[v_next], claim_id, v_froms[v_next],
                                                       v_tos[v_next]);
        END IF;
        PERFORM ssb_internal.note_claimed_front(v_queue.queue_id, v_queue.priorities[v_next], v_decided);
    END LOOP;
END;
$$;

-- The conversations of these groups that have messages: up to which order, how many,
-- their bytes and the largest. place: of the group in p_leaders.
-- p_is_seen: they have hardly more than the claim's look at the queue has met, so all of
-- it is counted at once, in whatever order it lies in the table. Else group by
-- group, and a group that is larger than p_limit (NULL: no limit) not to its end.
-- p_is_single: each group is one conversation, which is open; so no conversation need be read.
-- p_firsts, …: what the look at the queue has met of each (NULL: nothing is said). Messages are taken away from the front
-- of a conversation and come behind its end. So where its first one is still the first, and where the last one is still the
-- last or the look went to the queue's end, that is what it has, and its messages are not counted again. (One
-- less, when another reader has taken an urgent one from their middle in this moment.)
-- p_is_counted: that is what they have, so no message is looked at.
DROP FUNCTION IF EXISTS ssb_internal.count_groups(bigint[], bigint, boolean), ssb_internal.count_groups(bigint[], bigint, boolean, boolean),
                        ssb_internal.count_groups(bigint[], bigint, boolean, boolean, bigint[], bigint[], bigint[], bigint[], bigint[]);
CREATE OR REPLACE FUNCTION ssb_internal.count_groups(p_leaders bigint[], p_limit bigint, p_is_seen boolean, p_is_single boolean,
                                                     p_firsts bigint[], p_lasts bigint[], p_messages bigint[], p_bytes bigint[],
                                                     p_largest bigint[], p_is_counted boolean)
RETURNS TABLE (leader bigint, place bigint, endpoint_id bigint, last_order bigint, messages bigint, bytes bigint, largest bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_is_counted THEN
        RETURN QUERY
        SELECT u.leader, u.place, u.leader, u.last_order, u.messages, u.bytes, u.largest
          FROM unnest(p_leaders, p_lasts, p_messages, p_bytes, p_largest)
               WITH ORDINALITY AS u (leader, last_order, messages, bytes, largest, place)
         WHERE u.leader IS NOT NULL;
    ELSIF p_firsts IS NOT NULL THEN
        RETURN QUERY
        SELECT u.leader, u.place, u.leader, n.last_order, n.messages, n.bytes, n.largest
          FROM (SELECT v.*, v.first_order = (SELECT s.queuing_order FROM ssb.message_stored AS s WHERE s.endpoint_id = v.leader
                                              ORDER BY s.queuing_order LIMIT 1)
                       AND (p_is_seen OR v.last_order = (SELECT s.queuing_order FROM ssb.message_stored AS s
                                                          WHERE s.endpoint_id = v.leader
                                                          ORDER BY s.queuing_order DESC LIMIT 1)) AS is_same
                  FROM unnest(p_leaders, p_firsts, p_lasts, p_messages, p_bytes, p_largest)
                       WITH ORDINALITY AS v (leader, first_order, last_order, messages, bytes, largest, place)
                OFFSET 0) AS u
         CROSS JOIN LATERAL (
               SELECT u.last_order, u.messages, u.bytes, u.largest WHERE u.is_same
               UNION ALL
               SELECT max(m.queuing_order), count(*), coalesce(sum(m.size), 0), coalesce(max(m.size), 0)::bigint
                 FROM (SELECT s.queuing_order, octet_length(s.body) AS size FROM ssb.message_stored AS s
                        WHERE u.is_same IS NOT TRUE AND s.endpoint_id = u.leader
                        ORDER BY s.queuing_order LIMIT coalesce(p_limit, 9223372036854775806) + 1) AS m
               HAVING count(*) > 0) AS n;
    ELSIF p_is_seen AND p_is_single THEN
        RETURN QUERY
        SELECT u.leader, u.place, u.leader, max(s.queuing_order), count(*),
               coalesce(sum(octet_length(s.body)), 0), coalesce(max(octet_length(s.body)), 0)::bigint
          FROM unnest(p_leaders) WITH ORDINALITY AS u (leader, place)
          JOIN ssb.message_stored AS s ON s.endpoint_id = u.leader
         GROUP BY u.leader, u.place;
    ELSIF p_is_seen THEN
        RETURN QUERY
        SELECT u.leader, u.place, n.*
          FROM unnest(p_leaders) WITH ORDINALITY AS u (leader, place)
          JOIN ssb.conversation_endpoint AS e ON e.lock_id = u.leader
          JOIN (SELECT s.endpoint_id, max(s.queuing_order), count(*),
                       coalesce(sum(octet_length(s.body)), 0), coalesce(max(octet_length(s.body)), 0)::bigint
                  FROM ssb.message_stored AS s
                 WHERE s.endpoint_id IN (SELECT o.endpoint_id FROM unnest(p_leaders) AS v (leader)
                                           JOIN ssb.conversation_endpoint AS o ON o.lock_id = v.leader AND o.closed_at IS NULL)
                 GROUP BY s.endpoint_id) AS n ON n.endpoint_id = e.endpoint_id;
    ELSE
        RETURN QUERY
        SELECT u.leader, u.place, n.*
          FROM unnest(p_leaders) WITH ORDINALITY AS u (leader, place)
         CROSS JOIN LATERAL (
               SELECT m.endpoint_id, max(m.queuing_order), count(*), coalesce(sum(m.size), 0), coalesce(max(m.size), 0)::bigint
                 FROM (SELECT s.endpoint_id, s.queuing_order, octet_length(s.body) AS size
                         FROM ssb.conversation_endpoint AS e
                         JOIN ssb.message_stored AS s ON s.endpoint_id = e.endpoint_id
                        WHERE e.lock_id = u.leader AND e.closed_at IS NULL
                        LIMIT coalesce(p_limit, 9223372036854775806) + 1) AS m
                GROUP BY m.endpoint_id) AS n;
    END IF;
END;
$$;

-- Adds groups, in the order given, to a claim while they fit into p_messages and
-- p_bytes (NULL: no limit). While the claim has no conversation (p_before: how many) a
-- first group that does not fit is cut. is_full: one was left out for want of room; the
-- rest is what was added. p_is_seen, p_firsts, …: see ssb_internal.count_groups. p_is_single: the queue's dialogs share no groups.
-- p_snapshot: of a look that has met all messages of the groups (NULL: it has not). p_is_long: see there, v_is_long.
DROP FUNCTION IF EXISTS ssb_internal.claim_groups(integer, bigint[], bigint, bigint, bigint, integer, boolean),
                        ssb_internal.claim_groups(integer, bigint[], bigint, bigint, bigint, integer, boolean, boolean),
                        ssb_internal.claim_groups(integer, bigint[], bigint, bigint, bigint, integer, boolean, boolean,
                                                  bigint[], bigint[], bigint[], bigint[], bigint[]);
CREATE OR REPLACE FUNCTION ssb_internal.claim_groups(p_claim_id integer, p_leaders bigint[], p_messages bigint, p_bytes bigint,
                                            p_before bigint, p_partitions integer, p_is_seen boolean, p_is_single boolean,
                                            p_firsts bigint[] DEFAULT NULL, p_lasts bigint[] DEFAULT NULL,
                                            p_counts bigint[] DEFAULT NULL, p_sizes bigint[] DEFAULT NULL,
                                            p_largest bigint[] DEFAULT NULL, p_snapshot text DEFAULT NULL,
                                            p_is_long boolean DEFAULT false,
                                            OUT is_full boolean, OUT messages bigint, OUT bytes bigint, OUT conversations bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_free bigint[];
    v_places bigint[];
    v_fitting ssb.claimed_conversation[];
    v_leaders bigint[];
    v_first bigint;
    v_is_counted boolean;
    -- Asked once for each claim: a plan may look at all rows of the table, a hundred thousand of this very claim
    -- among them. A claim that is not among these is asked when it is met: it may be newer.
    v_alive CONSTANT bigint[] := ARRAY(SELECT c.claim_id FROM ssb.claim AS c WHERE ssb_internal.claim_is_alive(c.claim_id));
BEGIN
    -- Locked now, claimed from the commit on. The next statement has a new snapshot:
    -- what others received before we had the lock is gone for it.
    -- Joins and not = ANY: comparing with an array is one pass over it for each row.
    SELECT array_agg(f.leader ORDER BY f.place), array_agg(f.place ORDER BY f.place) INTO v_free, v_places
      FROM (SELECT u.leader, u.place
              FROM unnest(p_leaders) WITH ORDINALITY AS u (leader, place)
              JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = u.leader
             WHERE CASE WHEN l.claim_id IS NULL THEN true WHEN l.claim_id = ANY (v_alive) THEN false
                        ELSE NOT ssb_internal.claim_is_alive(l.claim_id) END
               AND (NOT p_is_single OR l.lock_id = l.endpoint_id AND l.closed_at IS NULL)
               FOR NO KEY UPDATE OF l SKIP LOCKED) AS f;
    -- Nothing was committed since the look: what these groups had then is what they have.
    v_is_counted := coalesce(p_snapshot = pg_current_snapshot()::text, false);
    IF NOT v_is_counted AND NOT p_is_long THEN
        p_firsts := NULL;
    END IF;
    IF p_firsts IS NOT NULL AND cardinality(v_free) < cardinality(p_leaders) THEN
        SELECT array_agg(p_firsts[u.place] ORDER BY u.n), array_agg(p_lasts[u.place] ORDER BY u.n),
               array_agg(p_counts[u.place] ORDER BY u.n), array_agg(p_sizes[u.place] ORDER BY u.n),
               array_agg(p_largest[u.place] ORDER BY u.n)
          INTO p_firsts, p_lasts, p_counts, p_sizes, p_largest
          FROM unnest(v_places) WITH ORDINALITY AS u (place, n);
    END IF;
    -- The window takes all conversations of a group together: they have the same place.
    -- Partitions are ranges of the conversations' numbers with about equal numbers of messages, so that readers need not look at all
    -- messages. Who does not know yet what else comes takes them in turn (ssb_internal.claim_messages evens that out).
    SELECT array_agg(ROW(p_claim_id, s.endpoint_id, s.last_order, s.messages, s.bytes, s.largest,
                         CASE WHEN p_before = 0 THEN least(p_partitions - 1, trunc(s.before * p_partitions / s.fitting))
                              ELSE (p_before + s.number) % p_partitions END::integer, NULL, NULL, false)::ssb.claimed_conversation)
               FILTER (WHERE s.is_fitting),
           array_agg(s.leader) FILTER (WHERE s.is_fitting), coalesce(bool_or(NOT s.is_fitting), false),
           (array_agg(s.leader ORDER BY s.place))[1], coalesce(sum(s.messages) FILTER (WHERE s.is_fitting), 0),
           coalesce(sum(s.bytes) FILTER (WHERE s.is_fitting), 0), count(*) FILTER (WHERE s.is_fitting)
      INTO v_fitting, v_leaders, is_full, v_first, messages, bytes, conversations
      FROM (SELECT f.*, sum(f.messages) FILTER (WHERE f.is_fitting) OVER (ORDER BY f.endpoint_id) - f.messages AS before,
                   sum(f.messages) FILTER (WHERE f.is_fitting) OVER () AS fitting
              FROM (SELECT n.*, row_number() OVER w AS number,
                           sum(n.messages) OVER w <= coalesce(p_messages, 9223372036854775807)
                           AND sum(n.bytes) OVER w <= coalesce(p_bytes, 9223372036854775807) AS is_fitting
                      FROM ssb_internal.count_groups(v_free, p_messages, p_is_seen, p_is_single, p_firsts, p_lasts,
                                                     p_counts, p_sizes, p_largest, v_is_counted) AS n
                    WINDOW w AS (ORDER BY n.place)) AS f) AS s;
    IF is_full AND conversations = 0 AND p_before = 0 THEN
        -- The one group that is too large: its first messages.
        v_leaders := ARRAY[v_first];
        SELECT array_agg(ROW(p_claim_id, c.endpoint_id, c.last_order, c.messages, c.bytes, c.largest, 0, NULL, NULL, false)::ssb.claimed_conversation),
               sum(c.messages), sum(c.bytes), count(*)
          INTO v_fitting, messages, bytes, conversations
          FROM (SELECT t.endpoint_id, max(t.queuing_order) AS last_order, count(*) AS messages,
                       coalesce(sum(t.size), 0) AS bytes, coalesce(max(t.size), 0) AS largest
                  FROM (SELECT o.*, row_number() OVER w AS place, coalesce(sum(o.size) OVER w, 0) AS all_bytes
                          FROM (SELECT s.endpoint_id, s.queuing_order, octet_length(s.body) AS size
                                  FROM ssb.conversation_endpoint AS e
                                  JOIN ssb.message_stored AS s ON s.endpoint_id = e.endpoint_id
                                 WHERE e.lock_id = v_first AND e.closed_at IS NULL
                                 ORDER BY s.queuing_order LIMIT p_messages) AS o
                        WINDOW w AS (ORDER BY o.queuing_order)) AS t
                 WHERE t.place = 1 OR t.all_bytes <= coalesce(p_bytes, t.all_bytes)
                 GROUP BY t.endpoint_id) AS c;
    END IF;
    UPDATE ssb.conversation_endpoint AS l SET claim_id = p_claim_id
      FROM unnest(v_leaders) AS u (leader) WHERE l.endpoint_id = u.leader;
    INSERT INTO ssb.claimed_conversation (claim_id, endpoint_id, last_order, messages, bytes, largest, partition)
    SELECT c.claim_id, c.endpoint_id, c.last_order, c.messages, c.bytes, c.largest, c.partition FROM unnest(v_fitting) AS c;
END;
$$;
