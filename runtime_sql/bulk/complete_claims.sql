-- Finishing a claim in one transaction.
--
-- Executors write what a program made into staging tables, one attempt of one task
-- after another, and each task that succeeds tells the driver its attempt. A task
-- that ran twice (retried, or as a speculative copy) has rows of both attempts
-- there; only those of the attempts that the driver names count.

-- Claims that were completed, and what ssb_internal.complete_claim answered: a driver that lost its
-- connection while it committed asks here. Kept for a week.
CREATE TABLE IF NOT EXISTS ssb.completed_claim (
    claim_id     integer     NOT NULL,
    claimed_at   timestamptz NOT NULL,
    completed_at timestamptz NOT NULL DEFAULT now(),
    deleted      bigint      NOT NULL,
    replied      bigint      NOT NULL,
    ended        bigint      NOT NULL,
    failed       bigint      NOT NULL,
    PRIMARY KEY (claim_id, claimed_at)
);

-- Claims that a stream has gone on without. Each is so for the role that says so, and for nobody else: whoever may connect may say it of
-- any claim. Kept for a week.
CREATE TABLE IF NOT EXISTS ssb.passed_claim (
    role       name        NOT NULL,
    claim_id   integer     NOT NULL,
    claimed_at timestamptz NOT NULL,
    passed_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (role, claim_id, claimed_at)
);

-- What is noted of sends and claims stays for days: for whom there is something to send or to claim.
CREATE OR REPLACE FUNCTION ssb_internal.require_some_queue()
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.queue AS q WHERE has_sequence_privilege(ssb_internal.caller(), q.order_sequence, 'USAGE'))
       AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE ssb_internal.may_receive(q)) THEN
        RAISE insufficient_privilege USING MESSAGE = format('The role %s has the RECEIVE permission on no queue.', ssb_internal.caller()),
            HINT = 'GRANT RECEIVE ON the queue of the service that sends, or whose messages are read.';
    END IF;
END;
$$;

-- Or the caller has passed it.
CREATE OR REPLACE FUNCTION ssb_internal.claim_was_completed(claim_id integer, claimed_at timestamptz)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM ssb.completed_claim AS c WHERE c.claim_id = $1 AND c.claimed_at = $2)
        OR EXISTS (SELECT FROM ssb.passed_claim AS p WHERE p.role = ssb_internal.caller() AND p.claim_id = $1 AND p.claimed_at = $2);
$$;

-- A stream goes on without a claim that has ended (failOnDataLoss = false): that is noted for `completing`, which cannot tell otherwise
-- that the claim has not come into the wrong hands. Not one that is there, nor one to come.
--
-- Called by  pgsb.bulk.streaming
CREATE OR REPLACE FUNCTION ssb_internal.pass_claim(claim_id integer, claimed_at timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.require_some_queue();
    INSERT INTO ssb.passed_claim (role, claim_id, claimed_at)
    SELECT ssb_internal.caller(), $1, $2
     WHERE $2 < clock_timestamp() AND NOT EXISTS (SELECT FROM ssb.claim AS c JOIN ssb.queue AS q ON q.queue_id = c.queue_id
                                                      WHERE c.claim_id = $1 AND c.claimed_at = $2)
    ON CONFLICT DO NOTHING;
$$;

-- What its completion answered; no row when it was not completed.
CREATE OR REPLACE FUNCTION ssb_internal.claim_result(claim_id integer, claimed_at timestamptz, OUT deleted bigint,
                                            OUT replied bigint, OUT ended bigint, OUT failed bigint)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.deleted, c.replied, c.ended, c.failed FROM ssb.completed_claim AS c
     WHERE c.claim_id = $1 AND c.claimed_at = $2;
$$;

-- A staging table for one output. kind: replies, errors, ends, or table, and then target is
-- its name and the columns are those that are written, each with the type in which it travels
-- (pgsb.bulk.transport; those of PostgreSQL's own only).
-- Returns the staging table's qualified name; its columns are the output's and
-- row_number and attempt_id. kind: packed, and then the rows come in packs (pgsb.bulk.packed_rows), each of which fills a page;
-- in_files, and then there is no such table (NULL), but the same is asked.
-- The caller owns what goes in, so it may write there and nowhere else.
DROP FUNCTION IF EXISTS ssb_internal.create_staging(integer, text, text);
CREATE OR REPLACE FUNCTION ssb_internal.create_staging(claim_id integer, kind text, target text DEFAULT NULL,
                                              columns text[] DEFAULT '{}', types text[] DEFAULT '{}')
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $$
#variable_conflict use_variable
DECLARE
    v_target regclass;
    v_columns text;
    v_name text;
BEGIN
    PERFORM ssb_internal.require_claim(claim_id);
    v_columns := CASE kind
        WHEN 'replies' THEN 'conversation_handle uuid NOT NULL, message_type_name text, message_body bytea, row_number bigint NOT NULL'
        WHEN 'errors' THEN 'conversation_handle uuid NOT NULL, queuing_order bigint, error text'
        WHEN 'ends' THEN 'conversation_handle uuid NOT NULL, error_code integer, error_text text'
        WHEN 'packed' THEN 'place integer NOT NULL, is_plain boolean NOT NULL, packed bytea NOT NULL, origin bytea'
        END;
    IF kind IN ('table', 'packed', 'in_files') THEN
        v_target := to_regclass(target);
        IF v_target IS NULL THEN
            PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', target));
        ELSIF NOT has_any_column_privilege(ssb_internal.caller(), v_target, 'INSERT') THEN
            PERFORM ssb_internal.raise_error(229, ssb_internal.denied_text('INSERT', v_target), 14, 5);
        END IF;
    END IF;
    IF kind = 'in_files' THEN
        RETURN NULL;
    ELSIF kind = 'table' THEN
        IF NOT types <@ '{int2,int4,int8,float4,float8,bool,bytea,text,date,timestamp,timestamptz,uuid}'
           OR cardinality(columns) <> cardinality(types) THEN
            RAISE EXCEPTION 'a staging table has columns of other types' USING ERRCODE = '22023';
        END IF;
        SELECT coalesce(string_agg(format('%I pg_catalog.%s', c.name, c.type), ', ' ORDER BY c.place), 'nothing text') INTO v_columns
          FROM unnest(columns, types) WITH ORDINALITY AS c (name, type, place);
    ELSIF v_columns IS NULL THEN
        RAISE EXCEPTION 'unknown kind of output: %', kind USING ERRCODE = '22023';
    END IF;
    -- The number is this claim's only: one of those that come again after two billions, and not of the objects'.
    v_name := format('claim_%s_%s_%s', claim_id, nextval('ssb.claim_id'), kind);
    -- UNLOGGED: after a crash of the server the claim is gone, and this with it.
    EXECUTE format('CREATE UNLOGGED TABLE ssb_staging.%I (%s, attempt_id bigint NOT NULL%s)', v_name, v_columns,
                   CASE WHEN kind NOT IN ('replies', 'packed') THEN ', row_number bigint NOT NULL DEFAULT 0' END);
    IF kind = 'packed' THEN
        EXECUTE format('ALTER TABLE ssb_staging.%I SET (toast_tuple_target = 8160), ALTER packed SET STORAGE EXTERNAL,'
                       ' ALTER origin SET STORAGE EXTERNAL', v_name);
    END IF;
    EXECUTE format('GRANT INSERT, SELECT ON ssb_staging.%I TO %I', v_name, ssb_internal.caller());
    RETURN 'ssb_staging.' || v_name;
END;
$$;
DO $$
BEGIN
    EXECUTE 'GRANT USAGE ON SCHEMA ssb_staging TO PUBLIC';
END;
$$;

-- The staging table that is named so, if it was made here for this claim and this kind of
-- output, whose columns have types of PostgreSQL's own: a caller's type would bring
-- functions that run with our rights. The rows of the attempts that count are verified
-- against what the tasks reported.
CREATE OR REPLACE FUNCTION ssb_internal.check_staging(p_claim_id integer, p_kind text, p_staging text, p_attempts bigint[], p_rows bigint)
RETURNS regclass
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table regclass;
    v_rows bigint;
BEGIN
    SELECT c.oid INTO v_table
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = 'ssb_staging' AND n.nspname || '.' || c.relname = p_staging AND c.relkind = 'r'
       AND c.relowner = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
       AND split_part(c.relname, '_', 1) = 'claim' AND split_part(c.relname, '_', 2) = p_claim_id::text
       AND split_part(c.relname, '_', 4) = p_kind AND split_part(c.relname, '_', 5) = '';
    IF v_table IS NULL THEN
        RAISE EXCEPTION '% is no staging table for % of claim %', p_staging, p_kind, p_claim_id USING ERRCODE = '22023';
    END IF;
    EXECUTE format('SELECT count(*) FROM %s AS s WHERE s.attempt_id = ANY ($1)', v_table) INTO v_rows USING p_attempts;
    IF v_rows <> p_rows THEN
        RAISE EXCEPTION 'the tasks wrote % rows to %, % are there', p_rows, p_staging, v_rows USING ERRCODE = '55000',
            HINT = 'The server was restarted since. The claim''s messages are back in the queue: run the job again.';
    END IF;
    RETURN v_table;
END;
$$;

-- The outputs of one kind, verified.
CREATE OR REPLACE FUNCTION ssb_internal.claim_outputs(p_claim_id integer, p_outputs jsonb, p_kind text)
RETURNS TABLE (staging regclass, attempts bigint[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_output record;
BEGIN
    FOR v_output IN
        SELECT o.* FROM jsonb_to_recordset(p_outputs) AS o (kind text, staging text, attempts jsonb, rows bigint)
         WHERE o.kind = p_kind
    LOOP
        attempts := ARRAY(SELECT a::bigint FROM jsonb_array_elements_text(coalesce(v_output.attempts, '[]')) AS a);
        staging := ssb_internal.check_staging(p_claim_id, p_kind, v_output.staging, attempts, v_output.rows);
        RETURN NEXT;
    END LOOP;
END;
$$;

-- Sets the groups of failed conversations aside, with the first message that failed
-- and its error, as QUARANTINE does with poisoned ones (activation/quarantine.sql); ssb.resubmit_quarantined
-- and ssb.drop_quarantined decide about them. A conversation of which no message is
-- left, since the job ended it, needs none.
--
-- Called by  ssb_internal.complete_claim, which holds the groups
CREATE OR REPLACE FUNCTION ssb_internal.quarantine_failures(p_claim_id integer, p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH failed AS (
        SELECT DISTINCT ON (e.lock_id) e.lock_id, e.conversation_group_id, e.endpoint_id, m.queuing_order, f.error
          FROM ssb.claimed_conversation AS f
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = f.endpoint_id AND e.closed_at IS NULL
         CROSS JOIN LATERAL (SELECT s.queuing_order FROM ssb.message_stored AS s
                              WHERE s.endpoint_id = f.endpoint_id AND s.queuing_order >= f.failed_order
                              ORDER BY s.queuing_order LIMIT 1) AS m
         WHERE f.claim_id = p_claim_id AND f.failed_order IS NOT NULL
         ORDER BY e.lock_id, m.queuing_order
    ), noted AS (
        INSERT INTO ssb.quarantined_group AS g
               (queue_id, lock_id, conversation_group_id, endpoint_id, queuing_order, rollbacks, error)
        SELECT p_queue_id, f.lock_id, f.conversation_group_id, f.endpoint_id, f.queuing_order, 0, f.error
          FROM failed AS f
        RETURNING g.quarantine_id, g.lock_id
    )
    UPDATE ssb.conversation_endpoint AS l SET claim_id = -n.quarantine_id
      FROM noted AS n WHERE l.endpoint_id = n.lock_id;
END;
$$;

-- Messages whose results PostgreSQL has refused: of these conversations nothing from that order on
-- counts (NULL: nothing at all), no reply is sent and no end. In the transaction that completes.
--
-- Called by  pgsb.bulk.complete
CREATE OR REPLACE FUNCTION ssb_internal.fail_conversations(claim_id integer, handles text[], orders bigint[], errors text[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_claim ssb.claim := ssb_internal.require_claim(claim_id);
    v_found bigint;
BEGIN
    UPDATE ssb.claimed_conversation AS c SET failed_order = f.failed_order, error = f.error, is_refused = true
      FROM (SELECT e.endpoint_id, min(coalesce(u.failed_order, 0)) AS failed_order,
                   (array_agg(u.error ORDER BY u.failed_order NULLS FIRST))[1] AS error
              FROM ssb.claimed_conversation AS o
              JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = o.endpoint_id
              JOIN unnest(handles, orders, errors) AS u (handle, failed_order, error) ON u.handle = e.conversation_handle::text
             WHERE o.claim_id = v_claim.claim_id
             GROUP BY e.endpoint_id) AS f
     WHERE c.claim_id = v_claim.claim_id AND c.endpoint_id = f.endpoint_id;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    IF v_found <> (SELECT count(DISTINCT h) FROM unnest(handles) AS h) THEN
        RAISE EXCEPTION 'a row that was refused comes from no conversation of claim %', claim_id USING ERRCODE = '22023';
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.is_refused(p_claim_id integer, p_endpoint_id bigint)
RETURNS boolean
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM ssb.claimed_conversation AS c
                    WHERE c.claim_id = p_claim_id AND c.endpoint_id = p_endpoint_id AND c.is_refused);
END;

-- For a job that completes a claim: what it sends continues the traces of the messages that it has read.
CREATE OR REPLACE FUNCTION ssb_internal.trace_claim(p_claim ssb.claim)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_session CONSTANT text := current_setting('pgsb.traceparent', true);
    v_links text[];
BEGIN
    -- Whoever traces nothing has none.
    PERFORM FROM ssb.message_trace LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A span has 128 links at most.
    SELECT array_agg(concat_ws(' ', l.traceparent, l.tracestate)) INTO v_links
      FROM (SELECT t.traceparent, t.tracestate
              FROM ssb.claimed_conversation AS c
              JOIN ssb.message_trace AS t ON t.endpoint_id = c.endpoint_id AND t.queuing_order <= c.last_order
             WHERE c.claim_id = p_claim.claim_id ORDER BY t.noted_at DESC LIMIT 128) AS l;
    IF v_links IS NULL THEN
        RETURN;
    END IF;
    PERFORM ssb_internal.record_span(CASE WHEN ssb_internal.is_trace(v_session) THEN v_session ELSE v_links[1] END,
                'process ' || q.name, 'consumer', p_claim.claimed_at,
                jsonb_build_object('messaging.operation.type', 'process', 'pgsb.queue', q.name, 'pgsb.claim', p_claim.claim_id), v_links)
       FROM ssb.queue AS q WHERE q.queue_id = p_claim.queue_id;
    PERFORM set_config('pgsb.traceparent', 'continue', true), set_config('pgsb.trace_received', '', true);
END;
$$;

-- Deletes the claimed messages, but those of a conversation from its first failed one on, unless failures are dropped. Returns how many.
--
-- Called by  ssb_internal.complete_claim, which holds the groups
CREATE OR REPLACE FUNCTION ssb_internal.delete_claimed(p_claim_id integer, p_failures text, p_expected bigint)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_deleted bigint;
BEGIN
    DELETE FROM ssb.message_stored AS m
     USING (SELECT c.endpoint_id,
                   CASE WHEN p_failures = 'drop' THEN c.last_order ELSE least(c.last_order, c.failed_order - 1) END AS last_order
              FROM ssb.claimed_conversation AS c
             WHERE c.claim_id = p_claim_id) AS d
     WHERE m.endpoint_id = d.endpoint_id AND m.queuing_order <= d.last_order;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    PERFORM ssb_internal.require_no_more(p_claim_id, p_expected, v_deleted);
    RETURN v_deleted;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_no_more(p_claim_id integer, p_expected bigint, p_deleted bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_deleted > p_expected THEN
        RAISE EXCEPTION 'claim % held % messages, % would be deleted', p_claim_id, p_expected, p_deleted USING ERRCODE = '55000';
    END IF;
END;
$$;

-- Replies in order, ends of conversations, and the claimed messages deleted, except
-- those of a conversation from its first failed message on, when failures go back
-- to the queue. Results for tables are inserted by the caller in the same
-- transaction, with the caller's own rights.
--
-- outputs   jsonb array of {"kind", "staging", "attempts": […], "rows"}
-- failures  requeue: the conversation's messages from the failed one on stay in the queue;
--           drop: they count as processed (their errors were written to a table);
--           quarantine: the conversation's group is set aside with the error text
-- end_all   END CONVERSATION on every claimed conversation that has no failure and no
--           message left (one that was cut by the limit, or got more since)
--
-- Called by  pgsb.bulk.complete
-- Locks      the claimed groups, in the order of their numbers
CREATE OR REPLACE FUNCTION ssb_internal.complete_claim(claim_id integer, outputs jsonb DEFAULT '[]', failures text DEFAULT 'requeue',
                                              end_all boolean DEFAULT false, OUT deleted bigint,
                                              OUT replied bigint, OUT ended bigint, OUT failed bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_claim ssb.claim := ssb_internal.require_claim(claim_id);
    v_output record;
    v_expected bigint;
    v_sent bigint;
    v_end record;
    v_is_retaining boolean;
    v_replies record;
    v_answered bigint[] := '{}';
    v_has_groups boolean;
    v_state regclass;
    v_conversations bigint;
    v_is_over boolean := false;        -- all of its groups have ended
    v_stranger uuid;
    v_truncates boolean;               -- the messages go at the end, and all at once
    v_held ssb.message_stored[];       -- replies and ends that are written behind that
BEGIN
    deleted := 0;
    replied := 0;
    ended := 0;
    failed := 0;
    IF failures NOT IN ('requeue', 'drop', 'quarantine') THEN
        RAISE EXCEPTION 'failures is requeue, drop or quarantine, not %', failures USING ERRCODE = '22023';
    END IF;
    IF EXISTS (SELECT FROM jsonb_to_recordset(outputs) AS o (kind text)
                WHERE o.kind IN ('errors', 'replies', 'ends') IS NOT TRUE) THEN
        RAISE EXCEPTION 'outputs are errors, replies and ends' USING ERRCODE = '22023';
    END IF;
    SELECT q.is_retention_enabled, q.has_groups, q.state_sequence INTO v_is_retaining, v_has_groups, v_state FROM ssb.queue AS q WHERE q.queue_id = v_claim.queue_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the queue of claim % was dropped', claim_id USING ERRCODE = '55006',
            HINT = 'Its messages went with it.';
    END IF;
    -- What joins a million conversations should not go to files.
    IF pg_size_bytes(current_setting('work_mem')) < 67108864 THEN
        PERFORM set_config('work_mem', '64MB', true);
    END IF;
    PERFORM FROM ssb.conversation_endpoint AS l
      WHERE l.endpoint_id IN (SELECT e.lock_id FROM ssb.claimed_conversation AS c
                                JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
                               WHERE c.claim_id = v_claim.claim_id)
      ORDER BY l.endpoint_id FOR NO KEY UPDATE;
    -- From here on nobody else can take these groups, even if the claim's session ends.
    -- Before, somebody may have.
    IF NOT ssb_internal.claim_is_alive(claim_id) THEN
        PERFORM ssb_internal.raise_claim_lost(claim_id);
    END IF;

    FOR v_output IN SELECT o.* FROM ssb_internal.claim_outputs(claim_id, outputs, 'errors') AS o LOOP
        EXECUTE format('UPDATE ssb.claimed_conversation AS c
                           SET failed_order = least(c.failed_order, f.failed_order),
                               error = CASE WHEN c.failed_order <= f.failed_order THEN c.error ELSE f.error END
                          FROM (SELECT e.endpoint_id, min(coalesce(s.queuing_order, 0)) AS failed_order,
                                       (array_agg(s.error ORDER BY s.queuing_order NULLS FIRST))[1] AS error
                                  FROM %s AS s JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = s.conversation_handle
                                 WHERE s.attempt_id = ANY ($1) GROUP BY e.endpoint_id) AS f
                         WHERE c.claim_id = $2 AND c.endpoint_id = f.endpoint_id', v_output.staging)
          USING v_output.attempts, claim_id;
        -- The message that it means would count as processed.
        EXECUTE format('SELECT s.conversation_handle FROM %s AS s
                         WHERE s.attempt_id = ANY ($1)
                           AND NOT EXISTS (SELECT FROM ssb.conversation_endpoint AS e
                                             JOIN ssb.claimed_conversation AS c ON c.claim_id = $2 AND c.endpoint_id = e.endpoint_id
                                            WHERE e.conversation_handle = s.conversation_handle) LIMIT 1', v_output.staging)
          INTO v_stranger USING v_output.attempts, claim_id;
        IF v_stranger IS NOT NULL THEN
            RAISE EXCEPTION 'errors name the conversation %, which is not of claim %', v_stranger, claim_id USING ERRCODE = '22023';
        END IF;
    END LOOP;
    SELECT count(*) INTO failed
      FROM ssb.claimed_conversation AS c WHERE c.claim_id = v_claim.claim_id AND c.failed_order IS NOT NULL;

    IF v_is_retaining THEN
        INSERT INTO ssb.retained_message (queue_id, endpoint_id, status, queuing_order, message_sequence_number,
                                          enqueued_at, message_type_id, priority, validation, body)
        SELECT m.queue_id, m.endpoint_id, 0, m.queuing_order, m.message_sequence_number, m.enqueued_at, m.message_type_id,
               m.priority, m.validation, m.body
          FROM ssb.claimed_conversation AS c
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id AND e.closed_at IS NULL
          JOIN ssb.message_stored AS m ON m.endpoint_id = c.endpoint_id AND m.queuing_order <= c.last_order
         WHERE c.claim_id = v_claim.claim_id
           AND (c.failed_order IS NULL OR failures = 'drop' OR m.queuing_order < c.failed_order);
    END IF;
    SELECT coalesce(sum(c.messages), 0), count(*) INTO v_expected, v_conversations FROM ssb.claimed_conversation AS c WHERE c.claim_id = v_claim.claim_id;
    SELECT count(*) FILTER (WHERE o.kind = 'replies') AS number, coalesce(sum(o.rows) FILTER (WHERE o.kind = 'replies'), 0) AS rows,
           count(*) FILTER (WHERE o.kind = 'ends') AS ends, end_all AND count(*) FILTER (WHERE o.kind = 'ends') = 0 AS is_ending
      INTO v_replies FROM jsonb_to_recordset(outputs) AS o (kind text, rows bigint);
    -- The batch of a stream may end conversations behind this.
    v_truncates := failed = 0 AND v_claim.stream IS NULL AND v_replies.number <= 1 AND v_replies.ends = 0
                   AND ssb_internal.may_truncate_claimed(v_expected, v_conversations);
    IF NOT v_truncates THEN
        -- Before conversations are ended, which takes the rest of their messages away.
        deleted := ssb_internal.delete_claimed(claim_id, failures, v_expected);
    END IF;

    PERFORM ssb_internal.trace_claim(v_claim);
    IF v_replies.number <= 1 THEN
        SELECT a.answered, a.replied, a.ended, a.held INTO v_answered, replied, ended, v_held
          FROM (VALUES (1)) AS one
          LEFT JOIN ssb_internal.claim_outputs(claim_id, outputs, 'replies') AS o ON true
         CROSS JOIN LATERAL ssb_internal.answer_claim(claim_id, o.staging, o.attempts, v_replies.is_ending,
                                                      v_truncates AND ssb_internal.may_hold_replies(o.staging, (v_replies.rows + v_conversations)::bigint)) AS a;
        v_is_over := ended = v_conversations AND NOT v_has_groups;
    END IF;
    IF v_truncates AND (replied < v_replies.rows OR end_all AND ended < v_conversations
                        OR pg_sequence_last_value(v_state) > 1) THEN
        v_truncates := false;
        deleted := ssb_internal.delete_claimed(claim_id, failures, v_expected);
        PERFORM ssb_internal.write_messages(v_held);
    END IF;
    -- The others, about which something is special.
    FOR v_output IN SELECT o.* FROM ssb_internal.claim_outputs(claim_id, outputs, 'replies') AS o WHERE replied < v_replies.rows LOOP
        -- In sets of so many messages and bytes: an array holds a gigabyte at most, and
        -- ssb_internal.send_plain_set compares each message with all conversations of its set. In the
        -- order of the conversations' rows: a million of them in any order are read from
        -- disk again and again.
        EXECUTE format('SELECT coalesce(sum(t.sent), 0) FROM (
                            SELECT ssb.send_batch(array_agg(r.conversation_handle ORDER BY r.n), array_agg(r.message_type_name ORDER BY r.n),
                                                  array_agg(r.message_body ORDER BY r.n)) AS sent
                              FROM (SELECT s.*, row_number() OVER w AS n,
                                           coalesce(sum(octet_length(s.message_body)) OVER w, 0) / 33554432 AS b
                                      FROM %s AS s
                                      LEFT JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = s.conversation_handle
                                     WHERE s.attempt_id = ANY ($1) AND NOT ssb_internal.is_refused($2, e.endpoint_id)
                                       AND NOT EXISTS (SELECT FROM unnest($3) AS d (endpoint_id) WHERE d.endpoint_id = e.endpoint_id)
                                    WINDOW w AS (ORDER BY e.endpoint_id, s.attempt_id, s.row_number)) AS r
                             GROUP BY r.n / 1000, r.b ORDER BY r.n / 1000, r.b) AS t', v_output.staging)
          INTO v_sent USING v_output.attempts, claim_id, v_answered;
        replied := replied + v_sent;
    END LOOP;
    FOR v_output IN SELECT o.* FROM ssb_internal.claim_outputs(claim_id, outputs, 'ends') AS o LOOP
        -- With an error one by one, all others together; an error counts more than none.
        -- What is left of a conversation of which nothing failed is behind the claim.
        FOR v_end IN EXECUTE format('SELECT d.error_code, d.error_text, array_agg(d.conversation_handle) AS handles,
                                            array_agg(CASE WHEN c.failed_order IS NULL THEN c.last_order END) AS after
                                       FROM (SELECT DISTINCT ON (s.conversation_handle) s.* FROM %s AS s
                                              WHERE s.attempt_id = ANY ($1)
                                              ORDER BY s.conversation_handle, s.error_code) AS d
                                       LEFT JOIN ssb.conversation_endpoint AS e ON e.conversation_handle = d.conversation_handle
                                       LEFT JOIN ssb.claimed_conversation AS c ON c.endpoint_id = e.endpoint_id AND c.claim_id = $2
                                      WHERE c.is_refused IS NOT TRUE
                                      GROUP BY d.error_code, d.error_text, CASE WHEN num_nonnulls(d.error_code, d.error_text) > 0
                                                                                THEN d.conversation_handle END', v_output.staging)
                     USING v_output.attempts, claim_id
        LOOP
            IF num_nonnulls(v_end.error_code, v_end.error_text) > 0 THEN
                PERFORM ssb.end_conversation(v_end.handles[1], v_end.error_code, v_end.error_text);
            ELSE
                PERFORM ssb_internal.end_set(v_end.handles, v_end.after);
            END IF;
            ended := ended + cardinality(v_end.handles);
        END LOOP;
    END LOOP;
    IF end_all AND ended < v_conversations THEN
        SELECT array_agg(e.conversation_handle ORDER BY e.endpoint_id) AS handles,
               array_agg(c.last_order ORDER BY e.endpoint_id) AS after
          INTO v_end
          FROM ssb.claimed_conversation AS c
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
         WHERE c.claim_id = v_claim.claim_id AND c.failed_order IS NULL AND e.closed_at IS NULL
           AND NOT EXISTS (SELECT FROM ssb.message_stored AS m WHERE m.endpoint_id = c.endpoint_id AND m.queuing_order > c.last_order);
        PERFORM ssb_internal.end_set(v_end.handles, v_end.after);
        ended := ended + coalesce(cardinality(v_end.handles), 0);
    END IF;
    IF v_truncates THEN
        -- Whatever may wait for somebody comes before its lock.
        IF NOT v_is_over THEN
            PERFORM ssb_internal.free_claimed_groups(claim_id);
            v_is_over := true;
        END IF;
        PERFORM ssb_internal.drop_staging(claim_id);
        PERFORM ssb_internal.leave_claimed_front(v_claim.queue_id, claim_id);
        deleted := ssb_internal.truncate_claimed(claim_id, v_expected, v_held);
        IF deleted IS NULL THEN
            deleted := ssb_internal.delete_claimed(claim_id, failures, v_expected);
            PERFORM ssb_internal.write_messages(v_held);
        END IF;
        PERFORM ssb_internal.require_no_more(claim_id, v_expected, deleted);
    END IF;
    INSERT INTO ssb.completed_claim (claim_id, claimed_at, deleted, replied, ended, failed)
    VALUES (v_claim.claim_id, v_claim.claimed_at, deleted, replied, ended, failed);
    IF failures = 'quarantine' THEN
        PERFORM ssb_internal.quarantine_failures(v_claim.claim_id, v_claim.queue_id);
    END IF;
    -- Rollbacks are counted from the last success on, which ends with the commit, whatever the caller wants to be checked before.
    IF deleted > 0 AND pg_sequence_last_value(v_state) > 1 THEN
        SET CONSTRAINTS ssb.attempt_ends DEFERRED;
        PERFORM ssb_internal.reset_at_commit(v_claim.queue_id);
    END IF;
    IF failed = 0 AND NOT v_truncates THEN
        PERFORM ssb_internal.leave_claimed_front(v_claim.queue_id, claim_id);
    END IF;
    PERFORM ssb_internal.drop_claim(claim_id, v_is_over);
END;
$$;

-- Completes the claim of a batch that a sink of Spark's has for good. end_conversations: those whose EndDialog or
-- Error was in it are ended on this side too, which is all that can still be done with them, and
-- which such a sink cannot say.
--
-- Called by  pgsb.bulk.streaming
-- Locks      the claimed groups, in the order of their numbers
CREATE OR REPLACE FUNCTION ssb_internal.complete_batch(claim_id integer, end_conversations boolean,
                                                       OUT deleted bigint, OUT ended bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_claim ssb.claim := ssb_internal.require_claim(claim_id);
    v_handles uuid[];
    v_orders bigint[];
BEGIN
    IF end_conversations THEN
        -- Of those that go on no message is looked at.
        SELECT array_agg(e.conversation_handle ORDER BY e.endpoint_id), array_agg(c.last_order ORDER BY e.endpoint_id)
          INTO v_handles, v_orders
          FROM ssb.claimed_conversation AS c
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
          LEFT JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
         WHERE c.claim_id = v_claim.claim_id AND e.closed_at IS NULL AND NOT e.is_system
           AND (f.endpoint_id IS NULL OR f.closed_at IS NOT NULL OR f.is_refused OR e.is_error OR e.far_outcome IS NOT NULL)
           AND EXISTS (SELECT FROM ssb.message_stored AS m
                        WHERE m.endpoint_id = c.endpoint_id AND m.queuing_order <= c.last_order AND m.message_type_id IN (1, 2));
    END IF;
    deleted := (SELECT d.deleted FROM ssb_internal.complete_claim(v_claim.claim_id) AS d);
    PERFORM ssb_internal.end_set(v_handles, v_orders);
    ended := coalesce(cardinality(v_handles), 0);
END;
$$;

-- Sending in bulk, one transaction a task: a task that is run again after it committed
-- finds itself here and sends nothing. Partition -1 is a send that is through, its messages the
-- number of its partitions. Each is the sender's own: nobody notes those of another as sent.
CREATE TABLE IF NOT EXISTS ssb.completed_send (
    role         name        NOT NULL,            -- '': noted before roles were, and anybody's
    send_id      uuid        NOT NULL,
    partition    integer     NOT NULL,
    completed_at timestamptz NOT NULL DEFAULT now(),
    messages     bigint,
    PRIMARY KEY (role, send_id, partition)
);

-- Whose the send is: the caller's.
CREATE OR REPLACE FUNCTION ssb_internal.sender_of(p_send_id uuid)
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT c.role FROM ssb.completed_send AS c WHERE c.role = '' AND c.send_id = p_send_id LIMIT 1), ssb_internal.caller());
$$;

-- True for the first transaction that asks for this part and commits. 55000 for a part that a send
-- which is through did not have: its messages were in other parts.
--
-- Called by  pgsb.bulk.sending
CREATE OR REPLACE FUNCTION ssb_internal.note_send(send_id uuid, partition integer)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sender CONSTANT name := ssb_internal.sender_of($1);
BEGIN
    PERFORM ssb_internal.require_some_queue();
    -- Other tasks that forget them go on as long as their partitions take.
    DELETE FROM ssb.completed_send AS c
     WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.completed_send AS o
                                WHERE o.completed_at < now() - interval '7 days' FOR UPDATE SKIP LOCKED));
    INSERT INTO ssb.completed_send (role, send_id, partition) VALUES (v_sender, $1, $2) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM FROM ssb.completed_send AS c WHERE c.role = v_sender AND c.send_id = $1 AND c.partition = -1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_other_send($1);
    END IF;
    RETURN true;
END;
$$;

-- Notes how many messages a part has, or, for partition -1, how many parts the send. 55000 when it had
-- another number before: the same number of a send stands for the same parts.
--
-- Called by  pgsb.bulk.sending, pgsb.bulk.writing
CREATE OR REPLACE FUNCTION ssb_internal.count_send(send_id uuid, partition integer, messages bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_some_queue();
    INSERT INTO ssb.completed_send AS c (role, send_id, partition, messages) VALUES (ssb_internal.sender_of($1), $1, $2, $3)
        ON CONFLICT ON CONSTRAINT completed_send_pkey DO UPDATE SET messages = $3
     WHERE c.messages IS NULL OR c.messages = $3;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_other_send($1);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_other_send(p_send_id uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'the rows of send % are divided into other partitions than when it was sent, or are others', p_send_id
        USING ERRCODE = '55000',
              HINT = 'Under one number a send has the same rows in the same partitions: repartition them by a column, into a given number.';
END;
$$;
