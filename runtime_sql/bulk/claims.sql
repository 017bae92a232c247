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
    expires_at timestamptz,
    is_begun   boolean     NOT NULL DEFAULT false, -- a batch of it was: who begins it again has failed
    waits_since timestamptz                        -- when the daemon first saw that its stream does not run
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

-- Which session runs a stream: two of one name would read and complete each other's claims. It
-- does while it holds the advisory lock of that number.
CREATE TABLE IF NOT EXISTS ssb.running_stream (
    role    name        NOT NULL,
    stream  text        NOT NULL,
    lock_id integer     NOT NULL,
    pid     integer     NOT NULL,
    since   timestamptz NOT NULL,
    PRIMARY KEY (role, stream)
);

-- Whether a session runs the stream. Anybody may take an advisory lock: only the session that the row names proves it.
CREATE OR REPLACE FUNCTION ssb_internal.stream_runs(p_role name, p_stream text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM ssb.running_stream AS s JOIN pg_locks AS l ON l.pid = s.pid
                    WHERE s.role = p_role AND s.stream = p_stream AND l.locktype = 'advisory' AND l.granted
                      AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                      AND l.classid = 1397965383::oid AND l.objid::bigint = s.lock_id AND l.objsubid = 2);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.stream_runs(name, text) FROM PUBLIC;

-- Whether a claim holds: asked by everybody who meets a claimed group, so it is cheap. Who gets the
-- claim's advisory lock knows that nobody has it. Anybody may take such a lock, so who does not get it asks
-- whose it is, which reads all locks of the server, and remembers the answer for a tenth of a second. (In a
-- setting, which anybody may write to: who does passes messages that are free.) A number below zero is a
-- quarantined group. A stream's claim lives while the stream runs, and then waits for it to come again (expires_at).
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
        IF v_claim.expires_at > clock_timestamp() THEN
            RETURN true;
        END IF;
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

-- The same without a memory: whether the claim's own session has its lock, or its stream runs or is waited for.
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
                      AND l.classid = 1397965376::oid AND l.objid::bigint = p_claim_id AND l.objsubid = 2)
        OR EXISTS (SELECT FROM ssb.claim AS k
                    WHERE k.claim_id = p_claim_id AND k.expires_at <= clock_timestamp()
                      AND ssb_internal.stream_runs(k.role, k.stream));
END;
$$;

-- Claims dead sessions left: the rows only, their groups are free already. Somebody may have received from one of them, and
-- go on for long: he is not waited for. His group and the claim's row stay for a later look.
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
         WHERE NOT ssb_internal.claim_is_held(c.claim_id)
            -- What a stream had of a queue that was dropped. (Of a job's claim its session is told that.)
            OR c.stream IS NOT NULL AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = c.queue_id)
           FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE ssb.conversation_endpoint AS l SET claim_id = NULL
         WHERE l.endpoint_id = ANY (ARRAY(
            SELECT g.endpoint_id FROM ssb.conversation_endpoint AS g
             WHERE g.endpoint_id = ANY (ARRAY(SELECT o.leader FROM ssb_internal.groups_of_claim(v_claim_id) AS o (leader)))
               FOR NO KEY UPDATE SKIP LOCKED));
        IF NOT EXISTS (SELECT FROM ssb_internal.groups_of_claim(v_claim_id)) THEN
            PERFORM ssb_internal.drop_claim(v_claim_id, true);
        END IF;
    END LOOP;
    PERFORM ssb_internal.drop_staging(s.claim_id)
       FROM (SELECT DISTINCT split_part(c.relname, '_', 2)::integer AS claim_id FROM pg_class AS c
              WHERE c.relnamespace = to_regnamespace('ssb_staging') AND c.relkind = 'r') AS s
      WHERE NOT EXISTS (SELECT FROM ssb.claim AS k WHERE k.claim_id = s.claim_id);
END;
$$;

-- What the daemon does for claims once a second: the dead ones' rows and staging tables go, it is noted which wait for a stream
-- that does not run, and a claim's front takes in what came for its groups since.
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
        UPDATE ssb.claim AS c SET waits_since = clock_timestamp()
         WHERE c.claim_id = ANY (ARRAY(SELECT o.claim_id FROM ssb.claim AS o
                                        WHERE o.expires_at IS NOT NULL AND o.waits_since IS NULL
                                          AND NOT ssb_internal.stream_runs(o.role, o.stream) FOR UPDATE SKIP LOCKED));
        PERFORM ssb_internal.note_claimed_front(f.queue_id, f.priority, ssb_internal.decided_order(q.order_sequence, 1))
           FROM ssb.claimed_front AS f JOIN ssb.queue AS q ON q.queue_id = f.queue_id
          WHERE NOT ssb_internal.is_being_dropped(q.queue_id);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.sweep_claims() FROM PUBLIC;

-- The staging tables of a claim, in schema ssb_staging (complete_claims.sql). One in which a task that
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

-- The leaders of the groups that a claim has. One whose conversations have all ended is done with: one row less to write.
CREATE OR REPLACE FUNCTION ssb_internal.groups_of_claim(p_claim_id integer)
RETURNS SETOF bigint
LANGUAGE plpgsql
ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT l.endpoint_id
      FROM ssb.claimed_conversation AS c
      JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
      JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id AND l.claim_id = p_claim_id
     WHERE c.claim_id = p_claim_id
       AND (l.closed_at IS NULL
            OR EXISTS (SELECT FROM ssb.conversation_endpoint AS o WHERE o.lock_id = l.endpoint_id AND o.closed_at IS NULL));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.groups_of_claim(integer) FROM PUBLIC;

-- Gives the groups of a claim free, from the commit on. One whose conversations have all ended is done with: one row less to write.
CREATE OR REPLACE FUNCTION ssb_internal.free_claimed_groups(p_claim_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE ssb.conversation_endpoint AS l SET claim_id = NULL
      FROM ssb.claimed_conversation AS c JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
     WHERE c.claim_id = p_claim_id AND l.endpoint_id = e.lock_id AND l.claim_id = p_claim_id
       AND (l.closed_at IS NULL
            OR EXISTS (SELECT FROM ssb.conversation_endpoint AS o WHERE o.lock_id = l.endpoint_id AND o.closed_at IS NULL));
END;
$$;

-- p_is_over: none of its groups is still claimed by it, or all of them have ended.
DROP FUNCTION IF EXISTS ssb_internal.drop_claim(integer);
CREATE OR REPLACE FUNCTION ssb_internal.drop_claim(p_claim_id integer, p_is_over boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.drop_staging(p_claim_id);
    IF NOT p_is_over THEN
        PERFORM ssb_internal.free_claimed_groups(p_claim_id);
    END IF;
    DELETE FROM ssb.claimed_conversation AS c WHERE c.claim_id = p_claim_id;
    DELETE FROM ssb.claim_reading AS r WHERE r.claim_id = p_claim_id;
    DELETE FROM ssb.claim AS c WHERE c.claim_id = p_claim_id;
END;
$$;

-- Claims for people: whose, since when, how many messages, and in which state. held: its session is there; stream: its
-- stream runs; waiting: its stream does not, and is waited for until expires_at; over: it ends with the next sweep.
DROP VIEW IF EXISTS ssb.claims;
CREATE VIEW ssb.claims WITH (security_barrier) AS
    SELECT k.claim_id, q.name AS queue, k.role, k.pid, k.claimed_at, k.stream, k.expires_at,
           (SELECT count(*) FROM ssb.claimed_conversation AS c WHERE c.claim_id = k.claim_id) AS conversations,
           (SELECT coalesce(sum(c.messages), 0)::bigint FROM ssb.claimed_conversation AS c WHERE c.claim_id = k.claim_id) AS messages,
           CASE WHEN k.expires_at IS NOT NULL AND EXISTS (
                     SELECT FROM ssb.running_stream AS s JOIN pg_locks AS l ON l.pid = s.pid
                      WHERE s.role = k.role AND s.stream = k.stream AND l.locktype = 'advisory' AND l.granted
                        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                        AND l.classid = 1397965383::oid AND l.objid::bigint = s.lock_id AND l.objsubid = 2) THEN 'stream'
                WHEN k.expires_at > clock_timestamp() THEN 'waiting'
                WHEN k.expires_at IS NULL AND EXISTS (
                     SELECT FROM pg_locks AS l
                      WHERE l.pid = k.pid AND l.locktype = 'advisory' AND l.granted AND l.classid = 1397965376::oid
                        AND l.objid::bigint = k.claim_id AND l.objsubid = 2) THEN 'held'
                ELSE 'over' END AS state
      FROM ssb.claim AS k JOIN ssb.queue AS q ON q.queue_id = k.queue_id
     WHERE ssb_internal.has_or_may_become(current_user, k.role) OR pg_has_role(current_user, 'pg_monitor', 'MEMBER');
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

-- A claim of the caller's that is alive, for who reads or completes it in another session. Not one whose queue was dropped, and its
-- messages with it.
-- partitions: into how many it is divided, but for empty ones behind the last.
CREATE OR REPLACE FUNCTION ssb_internal.claim_of(claim_id integer, OUT claimed_at timestamptz, OUT conversations bigint,
                                        OUT messages bigint, OUT bytes bigint, OUT largest bigint, OUT partitions integer)
RETURNS SETOF record
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.claimed_at, count(*), sum(c.messages)::bigint, sum(c.bytes)::bigint, max(c.largest), max(c.partition) + 1
      FROM ssb.claim AS k
      JOIN ssb.queue AS q ON q.queue_id = k.queue_id
      JOIN ssb.claimed_conversation AS c ON c.claim_id = k.claim_id
     WHERE k.claim_id = $1 AND k.role = ssb_internal.caller() AND ssb_internal.claim_is_alive(k.claim_id)
     GROUP BY k.claim_id;
$$;
