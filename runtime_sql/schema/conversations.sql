-- Conversation endpoints and their groups.
--
-- A group is the endpoints with one conversation_group_id on one service. Its lock
-- is the lock of one row, its leader's: the endpoint that lock_id names, itself for
-- a dialog that shares its group with no other, which is nearly every dialog. It is
-- taken with FOR NO KEY UPDATE and held to the end of the transaction. Nothing
-- refers to this table by foreign key: such checks would lock the rows too.
--
-- Who writes what: a side's endpoint is written only by that side's statements,
-- which hold that side's group lock. What the far side did is read from its row,
-- never written to ours; so two sides never wait for each other, and cannot
-- deadlock. (The one insert across: the first SEND makes the target's rows.)
--
-- What SEND reads stands first, in columns of fixed width: the executor gets at
-- those without walking through the row.
CREATE SEQUENCE IF NOT EXISTS ssb.endpoint_id;
CREATE TABLE IF NOT EXISTS ssb.conversation_endpoint (
    endpoint_id         bigint      PRIMARY KEY,   -- from ssb.endpoint_id
    conversation_handle uuid        NOT NULL,
    lock_id             bigint      NOT NULL,      -- the group's leader
    -- The first messages are counted one by one; see ssb.send for those after.
    sent_count          bigint      NOT NULL DEFAULT 0,
    queue_id            integer     NOT NULL,      -- copy of the service's
    contract_id         integer     NOT NULL,
    near_order          regclass,                  -- the sequences of the own queue; NULL for event notifications,
    near_state          regclass,                  -- whose queue_id is 0: nobody reads there
    priority            smallint    NOT NULL,
    is_initiator        boolean     NOT NULL,
    closed_at           timestamptz,               -- END CONVERSATION on this side
    is_error            boolean     NOT NULL DEFAULT false,  -- an Error that the broker itself made came to us
    is_refused          boolean     NOT NULL DEFAULT false,  -- … because the far side refused what we sent
    has_waiting         boolean     NOT NULL DEFAULT false,  -- messages of ours are in the transmission queue
    -- The type of the first plain message of this side, to be looked up no more: NULL
    -- when ALTER MESSAGE TYPE has changed it since.
    plain_type_id       integer,
    plain_type          text COLLATE "C",
    -- The type of the message that made this endpoint, for RECEIVE: most of its messages are of that type.
    first_type_id       integer,
    first_type          text COLLATE "C",
    -- Of the far side; NULL until the first message was put on its queue.
    sent_order          bigint,                    -- order of message number sent_count - 1 there
    far_endpoint_id     bigint,
    far_queue_id        integer,
    far_order           regclass,                  -- the sequences of the far queue
    far_state           regclass,
    far_contract_id     integer,
    far_priority        smallint,
    lifetime            timestamptz,               -- NULL: without end
    claim_id            bigint,                    -- of a leader: the group is set aside; RECEIVE passes while it lives
    conversation_group_id uuid      NOT NULL,
    conversation_id     uuid        NOT NULL,
    is_encrypted        boolean     NOT NULL,
    is_system           boolean     NOT NULL,      -- of an event notification
    database_id         integer     NOT NULL,
    service_id          integer     NOT NULL,
    service_name        text        NOT NULL,      -- copies, for RECEIVE
    contract_name       text        NOT NULL,
    far_service         text        NOT NULL,
    far_broker_instance text,
    started_at          timestamptz NOT NULL DEFAULT now(),
    dialog_timer        timestamptz,
    is_closed_by_error  boolean     NOT NULL DEFAULT false,
    is_close_known      boolean     NOT NULL DEFAULT false,  -- the far side has our EndDialog or Error, or needs none
    is_cleaned_up       boolean     NOT NULL DEFAULT false,  -- END CONVERSATION WITH CLEANUP after that: shown no more
    far_outcome         char(2),                   -- DI or ER, once the far side's row is gone
    -- When ssb.deliver_due has something to do here: the earlier of timer and lifetime while the side
    -- is open, its removal when it is closed. A target's has from the beginning a moment at which a short
    -- dialog's may go: then END changes no indexed column, and leaves the indexes alone.
    due_at              timestamptz,
    route_epoch         bigint                     -- of a dialog with another instance: see ssb_internal.mark_of_routes
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX IF NOT EXISTS conversation_endpoint_by_handle ON ssb.conversation_endpoint (conversation_handle);
CREATE INDEX IF NOT EXISTS conversation_endpoint_by_lock ON ssb.conversation_endpoint (lock_id);
CREATE INDEX IF NOT EXISTS conversation_endpoint_by_group ON ssb.conversation_endpoint (conversation_group_id);
CREATE INDEX IF NOT EXISTS conversation_endpoint_by_due ON ssb.conversation_endpoint (queue_id, due_at) WHERE due_at IS NOT NULL;
