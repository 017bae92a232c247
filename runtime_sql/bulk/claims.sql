-- Bulk claims: many messages of many conversations set aside at once, read in
-- parallel by other sessions, and completed in one transaction.
--
-- A claim is alive while the session that made it holds an advisory lock: a driver
-- that dies frees its messages as its connection ends, with nothing to clean up
-- before others can go on. Numbers below zero are not bulk claims but groups set
-- aside by QUARANTINE, until somebody decides about them.
CREATE SEQUENCE IF NOT EXISTS ssb.claim_id AS integer MINVALUE 1 CYCLE;
CREATE TABLE IF NOT EXISTS ssb.claim (
    claim_id   integer     PRIMARY KEY,
    queue_id   integer     NOT NULL,
    role       name        NOT NULL,               -- who may read it
    pid        integer     NOT NULL,               -- of the session that holds it
    claimed_at timestamptz NOT NULL DEFAULT now(),
    -- Of a stream: which one (it comes again under this name), and until when it is waited for. Its
    -- claims outlive their sessions. NULL: the claim lives as long as its session.
    stream     text,
    expires_at timestamptz
);
-- What of each conversation: everything up to last_order, which is what a second
-- reading finds too, since nobody else receives from a claimed group.
CREATE TABLE IF NOT EXISTS ssb.claimed_conversation (
    claim_id    integer NOT NULL,
    endpoint_id bigint  NOT NULL,
    last_order  bigint  NOT NULL,
    messages    bigint  NOT NULL,
    bytes       bigint  NOT NULL,
    largest     bigint  NOT NULL,                  -- bytes of its largest body
    partition   integer NOT NULL,
    -- Its first message that failed, and why; 0: the conversation as a whole.
    failed_order bigint,
    error        text,
    is_refused   boolean NOT NULL DEFAULT false,   -- PostgreSQL would not have its results
    PRIMARY KEY (claim_id, endpoint_id)
);

-- Readings of a claim that came to their end, each of one of so many parts. A program whose job
-- ends without having read everything would otherwise throw away what it has not seen.
CREATE TABLE IF NOT EXISTS ssb.claim_reading (
    claim_id integer NOT NULL,
    parts    integer NOT NULL,                     -- below zero: ranges of the order, not partitions
    part     integer                               -- from 0 on
);
CREATE INDEX IF NOT EXISTS claim_reading_by_claim ON ssb.claim_reading (claim_id);

-- Which database this is, of all servers': claims are numbers, and another one may have the same.
CREATE OR REPLACE FUNCTION ssb_internal.database_identity()
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (SELECT c.system_identifier FROM pg_control_system() AS c) || '/' || d.oid
      FROM pg_database AS d WHERE d.datname = current_database();
$$;

-- Whether a claim holds: asked by everybody who meets a claimed group, so it is cheap. Who gets the
-- claim's advisory lock knows that nobody has it. Anybody may take such a lock, so who does not get it asks
-- whose it is, which reads all locks of the server, and remembers the answer for a tenth of a second. (In a
-- setting, which anybody may write to: who does passes messages that are free.) A number below zero is a
-- quarantined group. A stream's claim waits for the stream to come again (expires_at).
CREATE OR REPLACE FUNCTION ssb_internal.claim_is_alive(p_claim_id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim ssb.claim;
    v_moment CONSTANT bigint := (date_part('epoch', clock_timestamp()) * 10)::bigint;
    v_seen bigint[] := nullif(current_setting('ssb.alive_claims', true), '')::bigint[];
BEGIN
    IF p_claim_id < 0 THEN
        RETURN true;
    END IF;
    SELECT c.* INTO v_claim FROM ssb.claim AS c WHERE c.claim_id = p_claim_id;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF v_claim.expires_at IS NOT NULL THEN
        RETURN v_claim.expires_at > clock_timestamp();
    ELSIF v_claim.pid = pg_backend_pid() THEN
        RETURN ssb_internal.claim_is_held(p_claim_id);
    ELSIF pg_try_advisory_lock_shared(1397965376, p_claim_id::integer) THEN
        PERFORM pg_advisory_unlock_shared(1397965376, p_claim_id::integer);
        RETURN false;
    END IF;
    IF v_seen[1] IS DISTINCT FROM v_moment THEN
        v_seen := ARRAY[v_moment];
    ELSIF p_claim_id = ANY (v_seen[2:]) THEN
        RETURN true;
    END IF;
    IF NOT ssb_internal.claim_is_held(p_claim_id) THEN
        RETURN false;
    END IF;
    PERFORM set_config('ssb.alive_claims', (v_seen || p_claim_id)::text, false);
    RETURN true;
END;
$$;

-- The same without a memory: whether the claim's own session has its lock.
CREATE OR REPLACE FUNCTION ssb_internal.claim_is_held(p_claim_id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.claim AS k
                    WHERE k.claim_id = p_claim_id AND k.expires_at > clock_timestamp())
        OR EXISTS (SELECT FROM ssb.claim AS k
                     JOIN pg_locks AS l ON l.pid = k.pid   -- anybody may take an advisory lock
                    WHERE k.claim_id = p_claim_id AND k.expires_at IS NULL AND l.locktype = 'advisory' AND l.granted
                      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                      AND l.classid = 1397965376::oid AND l.objid::bigint = p_claim_id AND l.objsubid = 2);
END;
$$;

-- Claims dead sessions left: the rows only, their groups are free already.
CREATE OR REPLACE FUNCTION ssb_internal.forget_dead_claims()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim_id integer;
BEGIN
    FOR v_claim_id IN
        SELECT c.claim_id FROM ssb.claim AS c
         WHERE NOT ssb_internal.claim_is_held(c.claim_id) FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM ssb_internal.drop_claim(v_claim_id);
    END LOOP;
    PERFORM ssb_internal.drop_staging(s.claim_id)
       FROM (SELECT DISTINCT split_part(c.relname, '_', 2)::integer AS claim_id FROM pg_class AS c
              WHERE c.relnamespace = to_regnamespace('ssb_staging') AND c.relkind = 'r') AS s
      WHERE NOT EXISTS (SELECT FROM ssb.claim AS k WHERE k.claim_id = s.claim_id);
END;
$$;

-- What the daemon does for claims once a second: the dead ones' rows and staging tables go, and a
-- claim's front takes in what came for its groups since.
--
-- Called by  ssb_internal.broker_sweep
CREATE OR REPLACE FUNCTION ssb_internal.sweep_claims()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb.claim) THEN
        PERFORM ssb_internal.forget_dead_claims();
        PERFORM ssb_internal.note_claimed_front(f.queue_id, f.priority, ssb_internal.decided_order(q.order_sequence, 1))
           FROM ssb.claimed_front AS f JOIN ssb.queue AS q ON q.queue_id = f.queue_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.sweep_claims() FROM PUBLIC;

-- The staging tables of a claim, in schema ssb_staging (710). One in which a task that
-- nobody waits for any more is still writing stays until a later claim is made.
CREATE OR REPLACE FUNCTION ssb_internal.drop_staging(p_claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table text;
BEGIN
    FOR v_table IN
        SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE n.nspname = 'ssb_staging' AND c.relkind = 'r' AND starts_with(c.relname::text, 'claim_' || p_claim_id || '_')
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', v_table);
            EXECUTE format('DROP TABLE %s', v_table);
        EXCEPTION WHEN lock_not_available OR undefined_table THEN
            NULL;                                  -- in use, or another claim's look has dropped it
        END;
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_claim(p_claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.drop_staging(p_claim_id);
    UPDATE ssb.conversation_endpoint AS l SET claim_id = NULL
      FROM ssb.claimed_conversation AS c JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
     WHERE c.claim_id = p_claim_id AND l.endpoint_id = e.lock_id AND l.claim_id = p_claim_id
       -- A group whose conversations have all ended is done with: one row less to write.
       AND (l.closed_at IS NULL
            OR EXISTS (SELECT FROM ssb.conversation_endpoint AS o WHERE o.lock_id = l.endpoint_id AND o.closed_at IS NULL));
    DELETE FROM ssb.claimed_conversation AS c WHERE c.claim_id = p_claim_id;
    DELETE FROM ssb.claim_reading AS r WHERE r.claim_id = p_claim_id;
    DELETE FROM ssb.claim AS c WHERE c.claim_id = p_claim_id;
END;
$$;

-- Claims whole conversation groups of a queue, oldest and most urgent first, as many
-- as fit into both limits (NULL: no limit). Groups that somebody holds are passed, and
-- nobody receives from a claimed one. A first group that alone is too large is
-- claimed too, and of it as many messages, in order, as fit (at least one). Commit
-- before others are to read; the claim ends with its connection at the latest.
-- claim_id is NULL when nothing was free.
--
-- Called by  pgsb.bulk.claim
-- Locks      the claimed groups, to the end of the transaction; the claim's advisory
--            lock (1397965376, claim_id), to the end of the session
-- stream: the claim is a stream's of that name, and outlives this session by so many seconds (wait).
DROP FUNCTION IF EXISTS ssb_internal.claim_messages(text, bigint, bigint, integer);
CREATE OR REPLACE FUNCTION ssb_internal.claim_messages(queue text, max_messages bigint DEFAULT NULL, max_bytes bigint DEFAULT NULL,
                                              partitions integer DEFAULT 1, stream text DEFAULT NULL, wait integer DEFAULT NULL,
                                              OUT claim_id integer, OUT claimed_at timestamptz, OUT conversations bigint,
                                              OUT messages bigint, OUT bytes bigint, OUT largest bigint)
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
    v_seen bigint;
    v_leaders bigint[];
    v_messages bigint[];
    v_bytes bigint[];
    v_next integer;
    v_step integer;
    v_guess double precision;
    v_ratio double precision := 1;
    v_share bigint;
    v_decided bigint;
    v_behind record;
    v_firsts bigint[];
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
                                    max_messages - messages, max_bytes - bytes, conversations, partitions, false) AS g;
            messages := messages + v_taken.messages;
            bytes := bytes + v_taken.bytes;
            conversations := conversations + v_taken.conversations;
            v_is_full := v_taken.is_full;
            EXIT queue_walk WHEN v_is_full;
        END IF;
        v_after := v_behind.from_order - 1;
        -- Of each priority from where to where all is this claim's.
        v_froms := v_froms || v_behind.from_order;
        v_tos := v_tos || NULL::bigint;
        v_has_gap := false;
        LOOP
            -- The next stretch of the queue, one message longer than what may still be taken: the
            -- cost is that of the claim and not that of the backlog. One pass tells its groups
            -- and about how much they have; that is counted when they are locked.
            v_limit := least(coalesce(max_messages - messages, 1000000), 1000000) + 1;
            WITH seen AS MATERIALIZED (
                SELECT w.*, e.lock_id
                  FROM (SELECT t.endpoint_id, min(t.queuing_order) AS first_order, max(t.queuing_order) AS last_order,
                               count(*) AS messages, coalesce(sum(t.size), 0) AS bytes
                          FROM (SELECT s.endpoint_id, s.queuing_order, octet_length(s.body) AS size
                                  FROM ssb.message_stored AS s
                                 WHERE s.queue_id = v_queue.queue_id AND s.priority = v_priority AND s.queuing_order > v_after
                                 ORDER BY s.queuing_order LIMIT v_limit) AS t
                         GROUP BY t.endpoint_id) AS w
                  LEFT JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = w.endpoint_id AND e.closed_at IS NULL
            )
            SELECT t.*, o.* INTO v_seen, v_after, v_leaders, v_messages, v_bytes, v_endpoints, v_firsts, v_lasts
              FROM (SELECT sum(g.messages), max(g.last_order),
                           array_agg(g.lock_id ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                           array_agg(g.messages ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL),
                           array_agg(g.bytes ORDER BY g.first_order) FILTER (WHERE g.lock_id IS NOT NULL)
                      FROM (SELECT s.lock_id, min(s.first_order) AS first_order, max(s.last_order) AS last_order,
                                   sum(s.messages)::bigint AS messages, sum(s.bytes)::bigint AS bytes
                              FROM seen AS s GROUP BY s.lock_id) AS g) AS t
             CROSS JOIN (SELECT array_agg(s.endpoint_id), array_agg(s.first_order), array_agg(s.last_order)
                           FROM seen AS s WHERE s.lock_id IS NOT NULL) AS o;
            EXIT WHEN v_seen IS NULL;
            v_next := 1;
            WHILE v_next <= coalesce(cardinality(v_leaders), 0) LOOP
                -- As many groups as should fit, if they have what was seen of them, in proportion
                -- to what those before turned out to have. Where the queue goes on behind the
                -- stretch they may have much more: then the steps grow with what was taken.
                SELECT greatest(count(*), 1), greatest(max(w.messages), 1) INTO v_step, v_guess
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
                                        max_bytes - bytes, conversations, partitions, v_seen < v_limit) AS g;
                messages := messages + v_taken.messages;
                bytes := bytes + v_taken.bytes;
                conversations := conversations + v_taken.conversations;
                v_is_full := v_taken.is_full;
                EXIT WHEN v_is_full;
                v_ratio := greatest(1, v_taken.messages / v_guess);
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
        END LOOP;
    END LOOP;

    IF messages = 0 THEN
        PERFORM ssb_internal.drop_claim(claim_id);
        PERFORM pg_advisory_unlock(1397965376, claim_id);
        claim_id := NULL;
        RETURN;
    END IF;
    DELETE FROM ssb.completed_claim AS c WHERE c.completed_at < now() - interval '7 days';
    SELECT max(c.largest) INTO largest FROM ssb.claimed_conversation AS c WHERE c.claim_id = claim_messages.claim_id;
    IF conversations > 1000 THEN
        -- Before anything joins them: without statistics a claim looks like a few rows.
        ANALYZE ssb.claimed_conversation;
    END IF;
    -- Conversations went to the partitions in turn: equal numbers of messages where they
    -- are of about equal length. Else ranges of conversations with equal numbers.
    SELECT max(p.messages) INTO v_share
      FROM (SELECT sum(c.messages) AS messages FROM ssb.claimed_conversation AS c
             WHERE c.claim_id = claim_messages.claim_id GROUP BY c.partition) AS p;
    IF v_share > 1.05 * messages / partitions + 1 AND conversations > 1 THEN
        UPDATE ssb.claimed_conversation AS c
           SET partition = least(partitions - 1, trunc(p.before * partitions / messages)::integer)
          FROM (SELECT o.endpoint_id, sum(o.messages) OVER (ORDER BY o.endpoint_id) - o.messages AS before
                  FROM ssb.claimed_conversation AS o WHERE o.claim_id = claim_messages.claim_id) AS p
         WHERE c.claim_id = claim_messages.claim_id AND c.endpoint_id = p.endpoint_id;
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
CREATE OR REPLACE FUNCTION ssb_internal.count_groups(p_leaders bigint[], p_limit bigint, p_is_seen boolean)
RETURNS TABLE (leader bigint, place bigint, endpoint_id bigint, last_order bigint, messages bigint, bytes bigint, largest bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_is_seen THEN
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
-- rest is what was added. p_is_seen: see ssb_internal.count_groups.
CREATE OR REPLACE FUNCTION ssb_internal.claim_groups(p_claim_id integer, p_leaders bigint[], p_messages bigint, p_bytes bigint,
                                            p_before bigint, p_partitions integer, p_is_seen boolean, OUT is_full boolean,
                                            OUT messages bigint, OUT bytes bigint, OUT conversations bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_free bigint[];
    v_fitting ssb.claimed_conversation[];
    v_leaders bigint[];
    v_first bigint;
    -- Asked once for each claim: a plan may look at all rows of the table, a hundred thousand of this very claim
    -- among them. A claim that is not among these is asked when it is met: it may be newer.
    v_alive CONSTANT bigint[] := ARRAY(SELECT c.claim_id FROM ssb.claim AS c WHERE ssb_internal.claim_is_alive(c.claim_id));
BEGIN
    -- Locked now, claimed from the commit on. The next statement has a new snapshot:
    -- what others received before we had the lock is gone for it.
    -- Joins and not = ANY: comparing with an array is one pass over it for each row.
    SELECT array_agg(f.leader ORDER BY f.place) INTO v_free
      FROM (SELECT u.leader, u.place
              FROM unnest(p_leaders) WITH ORDINALITY AS u (leader, place)
              JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = u.leader
             WHERE CASE WHEN l.claim_id IS NULL THEN true WHEN l.claim_id = ANY (v_alive) THEN false
                        ELSE NOT ssb_internal.claim_is_alive(l.claim_id) END
               FOR NO KEY UPDATE OF l SKIP LOCKED) AS f;
    -- The window takes all conversations of a group together: they have the same place.
    SELECT array_agg(ROW(p_claim_id, s.endpoint_id, s.last_order, s.messages, s.bytes, s.largest,
                         (p_before + s.number) % p_partitions, NULL, NULL, false)::ssb.claimed_conversation) FILTER (WHERE s.is_fitting),
           array_agg(s.leader) FILTER (WHERE s.is_fitting), coalesce(bool_or(NOT s.is_fitting), false),
           (array_agg(s.leader ORDER BY s.place))[1], coalesce(sum(s.messages) FILTER (WHERE s.is_fitting), 0),
           coalesce(sum(s.bytes) FILTER (WHERE s.is_fitting), 0), count(*) FILTER (WHERE s.is_fitting)
      INTO v_fitting, v_leaders, is_full, v_first, messages, bytes, conversations
      FROM (SELECT n.*, row_number() OVER w AS number,
                   sum(n.messages) OVER w <= coalesce(p_messages, 9223372036854775807)
                   AND sum(n.bytes) OVER w <= coalesce(p_bytes, 9223372036854775807) AS is_fitting
              FROM ssb_internal.count_groups(v_free, p_messages, p_is_seen) AS n
            WINDOW w AS (ORDER BY n.place)) AS s;
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

-- What the caller has claimed, with the queue's documented columns; Spark reads it
-- over JDBC, one partition a task, and pushes its filters and columns down to it. Its
-- message_enqueue_time is a moment, the same in each time zone.
DROP FUNCTION IF EXISTS ssb_internal.end_of_reading(integer, text, integer), ssb_internal.end_of_reading(integer, text, integer, integer);
DROP VIEW IF EXISTS ssb_internal.claimed_message;
CREATE VIEW ssb_internal.claimed_message WITH (security_barrier) AS
    SELECT c.claim_id, c.partition AS claim_partition, 1::smallint AS status, m.priority, m.queuing_order,
           e.conversation_group_id, e.conversation_handle, m.message_sequence_number, e.service_name, e.service_id,
           e.contract_name AS service_contract_name, e.contract_id AS service_contract_id, t.name AS message_type_name,
           m.message_type_id, m.validation, m.body AS message_body, m.enqueued_at::timestamptz(3) AS message_enqueue_time
      FROM ssb.claim AS k
      JOIN ssb.claimed_conversation AS c ON c.claim_id = k.claim_id
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
      JOIN ssb.message_stored AS m ON m.endpoint_id = c.endpoint_id AND m.queuing_order <= c.last_order
      JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
     WHERE k.role = current_user;
GRANT SELECT ON ssb_internal.claimed_message TO PUBLIC;

-- Its conversations, with what the claim has of each.
-- Called by  pgsb.bulk.program
DROP VIEW IF EXISTS ssb_internal.conversation_in_claim;
CREATE VIEW ssb_internal.conversation_in_claim WITH (security_barrier) AS
    SELECT c.claim_id, c.partition AS claim_partition, e.conversation_group_id, e.conversation_handle, e.service_name,
           e.contract_name AS service_contract_name, e.priority, c.messages, c.bytes
      FROM ssb.claim AS k
      JOIN ssb.claimed_conversation AS c ON c.claim_id = k.claim_id
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
     WHERE k.role = current_user;
GRANT SELECT ON ssb_internal.conversation_in_claim TO PUBLIC;

-- The next messages of a claim's part behind p_order of p_endpoint, so many at most, column by column: arrays, and texts and
-- bodies one behind the other with their lengths in bytes (-1: NULL). Spark's Python readers make Arrow's columns of that
-- without a look at any value. What is the same for a conversation, and for a type, comes once for each, by ascending
-- numbers. Conversation by conversation, each in order.
--
-- Called by  pgsb.bulk.rows
CREATE OR REPLACE FUNCTION ssb_internal.claimed_part(claim_id integer, partition integer, endpoint bigint, after_order bigint, most integer,
    OUT endpoints bigint[], OUT orders bigint[], OUT numbers bigint[], OUT priorities smallint[], OUT types integer[],
    OUT enqueued timestamptz[], OUT validations bytea, OUT validation_lengths integer[], OUT bodies bytea, OUT body_lengths integer[],
    OUT conversations bigint[], OUT handles text, OUT groups text, OUT services bytea, OUT service_lengths integer[],
    OUT service_ids integer[], OUT contracts bytea, OUT contract_lengths integer[], OUT contract_ids integer[],
    OUT type_ids integer[], OUT type_names bytea, OUT type_lengths integer[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    PERFORM FROM ssb.claim AS k WHERE k.claim_id = $1 AND k.role = ssb_internal.caller();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- The order of the rows is that of the two index scans, one inside the other.
    SELECT array_agg(p.endpoint_id), array_agg(p.queuing_order), array_agg(p.message_sequence_number), array_agg(p.priority),
           array_agg(p.message_type_id), array_agg(p.enqueued_at::timestamptz(3)),
           string_agg(p.validation, ''), array_agg(octet_length(p.validation)),
           string_agg(p.body, ''), array_agg(coalesce(octet_length(p.body), -1))
      INTO endpoints, orders, numbers, priorities, types, enqueued, validations, validation_lengths, bodies, body_lengths
      FROM (SELECT m.endpoint_id, m.queuing_order, m.message_sequence_number, m.priority, m.message_type_id, m.enqueued_at,
                   convert_to(m.validation::text, 'UTF8') AS validation, m.body
              FROM (SELECT o.endpoint_id, o.last_order FROM ssb.claimed_conversation AS o
                     WHERE o.claim_id = $1 AND o.partition = $2 AND o.endpoint_id >= $3
                     ORDER BY o.endpoint_id LIMIT $5) AS c
             CROSS JOIN LATERAL (
                   SELECT s.* FROM ssb.message_stored AS s
                    WHERE s.endpoint_id = c.endpoint_id AND s.queuing_order <= c.last_order
                      AND s.queuing_order > CASE WHEN c.endpoint_id = $3 THEN $4 ELSE -1 END
                    ORDER BY s.queuing_order) AS m
             LIMIT $5) AS p;
    SELECT array_agg(e.endpoint_id), string_agg(e.conversation_handle::text, ''), string_agg(e.conversation_group_id::text, ''),
           string_agg(e.service_name, ''), array_agg(octet_length(e.service_name)), array_agg(e.service_id),
           string_agg(e.contract_name, ''), array_agg(octet_length(e.contract_name)), array_agg(e.contract_id)
      INTO conversations, handles, groups, services, service_lengths, service_ids, contracts, contract_lengths, contract_ids
      FROM (SELECT e.endpoint_id, e.conversation_handle, e.conversation_group_id, convert_to(e.service_name, 'UTF8') AS service_name,
                   e.service_id, convert_to(e.contract_name, 'UTF8') AS contract_name, e.contract_id
              FROM (SELECT DISTINCT u.endpoint_id FROM unnest(endpoints) AS u (endpoint_id)) AS u
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = u.endpoint_id
             ORDER BY e.endpoint_id) AS e;
    SELECT array_agg(t.message_type_id), string_agg(t.name, ''), array_agg(octet_length(t.name))
      INTO type_ids, type_names, type_lengths
      FROM (SELECT t.message_type_id, convert_to(t.name, 'UTF8') AS name
              FROM (SELECT DISTINCT u.type_id FROM unnest(types) AS u (type_id)) AS u
              JOIN ssb.message_type AS t ON t.message_type_id = u.type_id
             ORDER BY t.message_type_id) AS t;
END;
$$;

-- Stands behind the last row that a reader of a claim gets, and gives none itself: the claim was
-- made here and is still held, and this one of so many parts of it was read to the end.
--
-- Called by  what pgsb.bulk.read sends over JDBC, and its stream's readers
CREATE OR REPLACE FUNCTION ssb_internal.end_of_reading(claim_id integer, identity text, parts integer, part integer)
RETURNS SETOF ssb_internal.claimed_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF identity IS DISTINCT FROM ssb_internal.database_identity() THEN
        RAISE EXCEPTION 'claim % was made in another database than this reader is in', claim_id USING ERRCODE = '55006',
            HINT = 'Nothing was completed. Claim and readers need one server: see its address in the DSN.';
    END IF;
    PERFORM FROM ssb.claim AS c WHERE c.claim_id = $1 AND c.role = ssb_internal.caller();
    IF NOT FOUND OR NOT ssb_internal.claim_is_alive(claim_id) THEN
        PERFORM ssb_internal.raise_claim_lost(claim_id);
    END IF;
    INSERT INTO ssb.claim_reading (claim_id, parts, part) VALUES ($1, $3, $4);
END;
$$;

-- Raises 55000 unless all parts of the claim were read to their end.
CREATE OR REPLACE FUNCTION ssb_internal.require_read(claim_id integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_messages bigint := (SELECT coalesce(sum(c.messages), 0) FROM ssb.claimed_conversation AS c WHERE c.claim_id = $1);
    v_share double precision := (SELECT max(p.share)
                                   FROM (SELECT count(DISTINCT r.part) / nullif(abs(r.parts), 0)::double precision AS share
                                           FROM ssb.claim_reading AS r WHERE r.claim_id = $1 GROUP BY r.parts) AS p);
BEGIN
    -- A part that is read twice, as by two looks at the first row, is one part.
    IF v_share >= 1 IS NOT TRUE THEN
        RAISE EXCEPTION 'of the % messages of claim %, % read: the rest would be deleted unseen', v_messages, claim_id,
              CASE WHEN v_share > 0 THEN 'only a part was' ELSE 'none was' END
            USING ERRCODE = '55000',
            HINT = 'A program that means to leave messages unread returns Outputs(unread="complete").';
    END IF;
END;
$$;

-- Claims for people: whose, since when, how many messages, and in which state. held: its session is
-- there; stream: it waits for its stream until expires_at; over: it ends with the next sweep.
DROP VIEW IF EXISTS ssb.claims;
CREATE VIEW ssb.claims WITH (security_barrier) AS
    SELECT k.claim_id, q.name AS queue, k.role, k.pid, k.claimed_at, k.stream, k.expires_at,
           (SELECT count(*) FROM ssb.claimed_conversation AS c WHERE c.claim_id = k.claim_id) AS conversations,
           (SELECT coalesce(sum(c.messages), 0)::bigint FROM ssb.claimed_conversation AS c WHERE c.claim_id = k.claim_id) AS messages,
           CASE WHEN k.expires_at > clock_timestamp() THEN 'stream'
                WHEN k.expires_at IS NULL AND EXISTS (
                     SELECT FROM pg_locks AS l
                      WHERE l.pid = k.pid AND l.locktype = 'advisory' AND l.granted AND l.classid = 1397965376::oid
                        AND l.objid::bigint = k.claim_id AND l.objsubid = 2) THEN 'held'
                ELSE 'over' END AS state
      FROM ssb.claim AS k JOIN ssb.queue AS q ON q.queue_id = k.queue_id
     WHERE pg_has_role(current_user, k.role, 'MEMBER') OR pg_has_role(current_user, 'pg_monitor', 'MEMBER');
GRANT SELECT ON ssb.claims TO PUBLIC;

-- The claim must be the caller's and alive. The session that holds it may be
-- another one of the same role: a stream is read in one process and completed in another.
CREATE OR REPLACE FUNCTION ssb_internal.require_claim(p_claim_id integer)
RETURNS ssb.claim
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim ssb.claim;
BEGIN
    SELECT c.* INTO v_claim FROM ssb.claim AS c WHERE c.claim_id = p_claim_id FOR UPDATE;
    IF NOT FOUND OR v_claim.role <> ssb_internal.caller() OR NOT ssb_internal.claim_is_alive(p_claim_id) THEN
        PERFORM ssb_internal.raise_claim_lost(p_claim_id);
    END IF;
    RETURN v_claim;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_claim_lost(p_claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'there is no claim %', p_claim_id USING ERRCODE = '55006',
        HINT = 'It was completed or abandoned, or its session ended and its messages went back to the queue.';
END;
$$;

-- Lets go of the advisory lock where the caller has it.
CREATE OR REPLACE FUNCTION ssb_internal.unlock_claim(claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.granted AND l.pid = pg_backend_pid()
                  AND l.classid = 1397965376::oid AND l.objid::bigint = claim_id AND l.objsubid = 2) THEN
        PERFORM pg_advisory_unlock(1397965376, claim_id);
    END IF;
END;
$$;

-- The messages go back to the queue.
CREATE OR REPLACE FUNCTION ssb_internal.abandon_claim(claim_id integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_claim(claim_id);
    PERFORM ssb_internal.drop_claim(claim_id);
    PERFORM ssb_internal.unlock_claim(claim_id);
END;
$$;

-- A claim of the caller's that is alive, for who reads or completes it in another session.
-- partitions: into how many it is divided, but for empty ones behind the last.
CREATE OR REPLACE FUNCTION ssb_internal.claim_of(claim_id integer, OUT claimed_at timestamptz, OUT conversations bigint,
                                        OUT messages bigint, OUT bytes bigint, OUT largest bigint, OUT partitions integer)
RETURNS SETOF record
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.claimed_at, count(*), sum(c.messages)::bigint, sum(c.bytes)::bigint, max(c.largest), max(c.partition) + 1
      FROM ssb.claim AS k JOIN ssb.claimed_conversation AS c ON c.claim_id = k.claim_id
     WHERE k.claim_id = $1 AND k.role = ssb_internal.caller() AND ssb_internal.claim_is_alive(k.claim_id)
     GROUP BY k.claim_id;
$$;
