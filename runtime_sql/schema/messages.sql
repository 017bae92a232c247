-- Messages. One pair of tables for all queues, keyed by the queue's number, so
-- that the statements of SEND and RECEIVE are static and their plans cached (see
-- docs/engine.md). New messages go to one of the pair; the other, once drained, is
-- truncated (conversations/rotate_messages.sql), which gives space back even while an old
-- snapshot keeps VACUUM from doing so.
--
-- ssb.message_stored is both of them. No foreign keys and no unique index: every row
-- is written by the functions here.
CREATE TABLE IF NOT EXISTS ssb.message_stored (
    endpoint_id             bigint      NOT NULL,      -- the receiver's
    queuing_order           bigint      NOT NULL,
    message_sequence_number bigint      NOT NULL,
    enqueued_at             timestamptz NOT NULL,
    queue_id                integer     NOT NULL,
    message_type_id         integer     NOT NULL,
    priority                smallint    NOT NULL,
    validation              char(2)     NOT NULL,
    body                    bytea
);
-- The parent holds nothing; its indexes keep plans over both tables free of the
-- planner's penalty for a sequential scan, beside which no other cost would count.
--
-- The predicates exclude nothing (the columns are NOT NULL): each says which statements its
-- index is for. After a VACUUM that found no living row every index costs the same to the
-- planner, for it expects one row; it would then look for a queue's first message in the
-- index by endpoint, reading all of that, and sort. A statement implies such a predicate by
-- its condition on that column.
CREATE INDEX IF NOT EXISTS message_stored_by_order ON ssb.message_stored (queue_id, priority DESC, queuing_order)
    WHERE queue_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_stored_by_endpoint ON ssb.message_stored (endpoint_id, queuing_order)
    WHERE endpoint_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS ssb.message_0 () INHERITS (ssb.message_stored);
CREATE TABLE IF NOT EXISTS ssb.message_1 () INHERITS (ssb.message_stored);
CREATE INDEX IF NOT EXISTS message_0_by_order ON ssb.message_0 (queue_id, priority DESC, queuing_order)
    WHERE queue_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_1_by_order ON ssb.message_1 (queue_id, priority DESC, queuing_order)
    WHERE queue_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_0_by_endpoint ON ssb.message_0 (endpoint_id, queuing_order)
    WHERE endpoint_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_1_by_endpoint ON ssb.message_1 (endpoint_id, queuing_order)
    WHERE endpoint_id IS NOT NULL;

-- Conversations with an Error or DialogTimer message that is received before messages that it
-- came after: written with that message, where others of the conversation may be waiting. Few:
-- while a queue has one, RECEIVE takes the slow path there, which removes it.
CREATE TABLE IF NOT EXISTS ssb.urgent_conversation (
    queue_id    integer NOT NULL,
    endpoint_id bigint  NOT NULL
);
CREATE INDEX IF NOT EXISTS urgent_conversation_by_queue ON ssb.urgent_conversation (queue_id, endpoint_id);
-- Counts them, before they are committed: where none was counted RECEIVE need not look. The daemon's sweep begins
-- anew when there is none (activation/broker_sweep.sql).
CREATE SEQUENCE IF NOT EXISTS ssb.urgent_conversations;
-- Those of an older version.
DO $$
BEGIN
    PERFORM nextval('ssb.urgent_conversations')
      WHERE pg_sequence_last_value('ssb.urgent_conversations') IS NULL AND EXISTS (SELECT FROM ssb.urgent_conversation);
END;
$$;

-- Which of the pair takes new messages: 0 or 1 in the lowest bit. The second bit: the other
-- one may hold messages too. The third: the other one is drained and waits for its TRUNCATE.
-- Above them a count of the changes, so that no value ever comes back: who finds the same
-- value twice knows that nothing has changed between. Only ssb.rotate_messages writes it.
CREATE SEQUENCE IF NOT EXISTS ssb.rotation_state MINVALUE 0;
-- While both may hold messages: the transactions that read ssb.rotation_state before it had this
-- value and were still at it when ssb.rotate_messages looked last; and how far it has come in the
-- old table, NULL when through. When that is drained: who had it when we looked first. (Rows of earlier
-- values are dead, and there until VACUUM can remove them; by the index they cost nothing.)
CREATE TABLE IF NOT EXISTS ssb.rotation (
    state       bigint      NOT NULL,
    users       text[]      NOT NULL,
    place       tid,
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS rotation_by_state ON ssb.rotation (state);

-- RETENTION = ON: what was received (status 0) and sent (3), until the side that
-- retains it ends its conversation.
CREATE TABLE IF NOT EXISTS ssb.retained_message (
    queue_id                integer     NOT NULL,
    endpoint_id             bigint      NOT NULL,
    status                  smallint    NOT NULL,
    queuing_order           bigint      NOT NULL,
    message_sequence_number bigint      NOT NULL,
    enqueued_at             timestamptz NOT NULL,
    message_type_id         integer     NOT NULL,
    priority                smallint    NOT NULL,
    validation              char(2)     NOT NULL,
    body                    bytea
);
CREATE INDEX IF NOT EXISTS retained_message_by_endpoint ON ssb.retained_message (endpoint_id, queuing_order);
CREATE INDEX IF NOT EXISTS retained_message_by_queue ON ssb.retained_message (queue_id, priority DESC, queuing_order);

-- sys.transmission_queue: what could not be put on the target's queue yet, in the
-- order of each conversation.
CREATE TABLE IF NOT EXISTS ssb.transmission (
    transmission_id         bigint      GENERATED ALWAYS AS IDENTITY,
    database_id             integer     NOT NULL,
    endpoint_id             bigint      NOT NULL,      -- the sender's
    to_service              text        NOT NULL,      -- copy of its far_service
    message_sequence_number bigint      NOT NULL,
    message_type_name       text        NOT NULL,
    is_end_of_dialog        boolean     NOT NULL,
    is_conversation_error   boolean     NOT NULL,
    enqueued_at             timestamptz NOT NULL,
    body                    bytea,
    transmission_status     text        NOT NULL,
    trace                   text,                      -- see conversations/message_traces.sql
    priority                smallint    NOT NULL DEFAULT 5,    -- of those that leave: 5 unless HONOR_BROKER_PRIORITY
    -- Of those that may leave now: ssb.transport_peer. NULL: the message waits here, for a service, a queue, a route, or
    -- for its dialog's next try.
    peer_id                 integer,
    -- False: of messages that a dialog has sent as one, by one statement, another follows. They leave in their order, so the last one tells
    -- that there are some, and stands in transmission_by_peer for all; each one there was a fifth of SEND. Whoever gives a peer to some of a
    -- dialog's messages alone makes it true for those.
    is_last_of_run          boolean     NOT NULL DEFAULT true,
    -- One index for what waits for a dialog, and for what has arrived of it to be found as a range: a third index was a tenth of SEND.
    -- (The number would do. But nobody's SEND is to fail for what another's mistake has left.)
    CONSTRAINT transmission_pkey PRIMARY KEY (endpoint_id, message_sequence_number, transmission_id)
);
-- Not compressed: a fragment of a large body is read without the rest (transport/fragments.sql).
ALTER TABLE ssb.transmission ALTER COLUMN body SET STORAGE EXTERNAL;
-- By expressions, for the statements that read sets to send (transport/outgoing_sets.sql) to have no other index: their plans are kept,
-- and may have been made when the table was empty and all indexes cost the same.
-- Of a dialog the newest message first: what has left stands behind it, so to see that the dialog has something is one step, however many
-- VACUUM has not removed yet. The oldest are then found by the primary key, from the number that the other instance has told.
CREATE INDEX IF NOT EXISTS transmission_by_peer
    ON ssb.transmission (peer_id, priority DESC, (endpoint_id + 0), (transmission_id + 0) DESC)
    WHERE peer_id IS NOT NULL AND is_last_of_run;
-- What leaves is not looked for by its service, and need not pay for that: a tenth of SEND.
CREATE INDEX IF NOT EXISTS transmission_by_service ON ssb.transmission (to_service, endpoint_id) WHERE peer_id IS NULL;
