-- Reading what was claimed, as rows over JDBC or as arrays, and knowing that all of it was read.

-- What the caller has claimed, with the queue's documented columns; Spark reads it over JDBC, one partition a
-- task, and pushes its filters and columns down to it. Its message_enqueue_time is a moment, the same in each
-- time zone. Message types are joined from outside: where their names are not asked for, they are not there.
--
-- A subquery with a volatile column stays one, into which conditions on its other columns go down. So
-- claimed_in_long, for conversations of several messages, makes the texts of handles once for each conversation,
-- before its messages are joined to it: 0.3 of 1.0 µs a message. Conversations of one message cost as much more by it.
--
-- Called by  what pgsb.bulk.read sends over JDBC
DROP FUNCTION IF EXISTS ssb_internal.end_of_reading(integer, text, integer), ssb_internal.end_of_reading(integer, text, integer, integer),
                        ssb_internal.end_of_conversations(integer, text);
DROP VIEW IF EXISTS ssb_internal.claimed_message, ssb_internal.claimed_in_long, ssb_internal.claimed_in_range;
DO $$
DECLARE
    v_view record;
BEGIN
    FOR v_view IN SELECT * FROM (VALUES ('claimed_message', '', 'm.endpoint_id'),
                                        ('claimed_in_long', ', random() AS barrier', 'm.endpoint_id'),
                                        ('claimed_in_range', ', random() AS barrier', 'm.endpoint_id + 0')) AS v (name, barrier, found) LOOP
        EXECUTE format($view$
            CREATE VIEW ssb_internal.%I WITH (security_barrier) AS
                SELECT c.claim_id, c.partition AS claim_partition, 1::smallint AS status, m.priority, m.queuing_order,
                       c.conversation_group_id, c.conversation_handle, m.message_sequence_number, c.service_name, c.service_id,
                       c.contract_name AS service_contract_name, c.contract_id AS service_contract_id, t.name AS message_type_name,
                       m.message_type_id, m.validation, m.body AS message_body, m.enqueued_at::timestamptz(3) AS message_enqueue_time,
                       c.group_text, c.handle_text, m.endpoint_id
                  FROM (SELECT c.claim_id, c.partition, c.endpoint_id, c.last_order, e.conversation_group_id, e.conversation_handle,
                               e.service_name, e.service_id, e.contract_name, e.contract_id,
                               e.conversation_group_id::text AS group_text, e.conversation_handle::text AS handle_text%s
                          FROM ssb.claim AS k
                          JOIN ssb.claimed_conversation AS c ON c.claim_id = k.claim_id
                          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = c.endpoint_id
                         WHERE k.role = current_user) AS c
                  JOIN ssb.message_stored AS m ON %s = c.endpoint_id AND m.queuing_order <= c.last_order
                  LEFT JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id$view$, v_view.name, v_view.barrier, v_view.found);
        EXECUTE format('GRANT SELECT ON ssb_internal.%I TO PUBLIC', v_view.name);
    END LOOP;
END;
$$;

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
    -- The order of the rows is that of the two index scans, one inside the other. They go on until there are as many rows, however
    -- many conversations have no message behind that place, or none at all any more.
    SELECT array_agg(p.endpoint_id), array_agg(p.queuing_order), array_agg(p.message_sequence_number), array_agg(p.priority),
           array_agg(p.message_type_id), array_agg(p.enqueued_at::timestamptz(3)),
           string_agg(p.validation, ''), array_agg(octet_length(p.validation)),
           string_agg(p.body, ''), array_agg(coalesce(octet_length(p.body), -1))
      INTO endpoints, orders, numbers, priorities, types, enqueued, validations, validation_lengths, bodies, body_lengths
      FROM (SELECT m.endpoint_id, m.queuing_order, m.message_sequence_number, m.priority, m.message_type_id, m.enqueued_at,
                   convert_to(m.validation::text, 'UTF8') AS validation, m.body
              FROM (SELECT o.endpoint_id, o.last_order FROM ssb.claimed_conversation AS o
                     WHERE o.claim_id = $1 AND o.partition = $2 AND o.endpoint_id >= $3
                     ORDER BY o.endpoint_id OFFSET 0) AS c
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

-- Raises unless the caller's claim was made here and is still held. A reader that is on another server finds nothing of it, or
-- what has its number there.
CREATE OR REPLACE FUNCTION ssb_internal.require_claim_here(p_claim_id integer, p_identity text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_identity IS DISTINCT FROM ssb_internal.database_identity() THEN
        RAISE EXCEPTION 'claim % was made in another database than this reader is in', p_claim_id USING ERRCODE = '55006',
            HINT = 'Nothing was completed. Claim and readers need one server: see its address in the DSN.';
    END IF;
    PERFORM FROM ssb.claim AS c WHERE c.claim_id = p_claim_id AND c.role = ssb_internal.caller();
    IF NOT FOUND OR NOT ssb_internal.claim_is_alive(p_claim_id) THEN
        PERFORM ssb_internal.raise_claim_lost(p_claim_id);
    END IF;
END;
$$;

-- Stands behind the last of a claim's conversations, and gives none itself: the claim was made here and is still held.
--
-- Called by  what pgsb.bulk.program sends over JDBC
CREATE OR REPLACE FUNCTION ssb_internal.end_of_conversations(claim_id integer, identity text)
RETURNS SETOF ssb_internal.conversation_in_claim
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_claim_here(claim_id, identity);
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
    PERFORM ssb_internal.require_claim_here(claim_id, identity);
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

-- A batch of a claim begins elsewhere: what was read before does not count for it.
--
-- Called by  pgsb.bulk.streaming
CREATE OR REPLACE FUNCTION ssb_internal.forget_reading(claim_id integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_claim(claim_id);
    DELETE FROM ssb.claim_reading AS r WHERE r.claim_id = $1;
END;
$$;
