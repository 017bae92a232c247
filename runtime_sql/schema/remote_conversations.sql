-- Dialogs with services of other instances: what this instance has to know beside its own side's endpoint.
--
-- A row is made when a route leads the first message away, and when the first message comes from another instance. It
-- outlives the endpoint by a day, so that what comes twice then is still known to have come.
--
-- It has a lock of its own, that of its row, which whoever takes messages from another instance holds. So they never wait
-- for the group, in which a service program may be at work for long; and SEND and END write to the endpoint alone, where the
-- route is the one that is known.

-- The instances to which routes lead, or have led. A pair of addresses is one: its mirror is tried where it does not answer.
CREATE TABLE IF NOT EXISTS ssb.transport_peer (
    peer_id        integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    address        text    NOT NULL,
    mirror_address text
);
CREATE UNIQUE INDEX IF NOT EXISTS transport_peer_by_address ON ssb.transport_peer (address, coalesce(mirror_address, ''));
-- (Those of routes that an earlier version has made: ssb_internal.note_address.)
INSERT INTO ssb.transport_peer (address, mirror_address)
SELECT DISTINCT r.address, r.mirror_address FROM ssb.route AS r WHERE upper(r.address COLLATE "C") NOT IN ('LOCAL', 'TRANSPORT')
ON CONFLICT DO NOTHING;

-- The peers for which the daemon reads set after set while messages stream, a bit each (1 to 62): who sends to one of them need not tell
-- it. A sequence, for what it says is true at once, and no snapshot is too old for it (transport/departures.sql).
CREATE SEQUENCE IF NOT EXISTS ssb.transport_streaming MINVALUE 0;

CREATE TABLE IF NOT EXISTS ssb.remote_conversation (
    endpoint_id     bigint      PRIMARY KEY,               -- the side here
    conversation_id uuid        NOT NULL,
    is_initiator    boolean     NOT NULL,                  -- the side here
    database_id     integer     NOT NULL,
    service_id      integer     NOT NULL,                  -- the side here
    -- Made by the initiator, told with each message, over a connection that each side has chosen to trust:
    -- who does not know it does not take part. Nobody but the runtime's owner may read it here.
    session_key     uuid        NOT NULL DEFAULT gen_random_uuid(),
    far_instance    text,                                  -- service_broker_guid of the far side, once it has answered
    -- Sending
    address         text,                                  -- of the route taken; NULL: none leads there
    mirror_address  text,
    is_under_way    boolean     NOT NULL DEFAULT false,    -- something was sent, and may have arrived
    acknowledged    bigint      NOT NULL DEFAULT 0,        -- of our messages those below this number are over there
    failures        integer     NOT NULL DEFAULT 0,        -- in a row: why, transmission_status tells
    retry_at        timestamptz,                           -- the dialog is parked until then: none of its messages has a peer
    -- Receiving
    next_number     bigint      NOT NULL DEFAULT 0,        -- of the message that has not come yet
    far_outcome     char(2),                               -- DI or ER: the far side has ended it, or we refused it
    refusal_code    integer,                               -- what we answered when we refused a message
    refusal         text,
    taken_at        timestamptz NOT NULL DEFAULT now(),
    -- Security
    security        char(1),                               -- N none, A anonymous, F full; NULL: not decided yet
    near_user       text,                                  -- whose certificate serves here; whom the far side is
    far_user        text,
    outbound_key_id uuid,                                  -- of ssb.dialog_key, last used
    inbound_key_id  uuid,
    -- Behind what version 1 had
    peer_id         integer,                               -- of the address; NULL: none leads there
    sent_bytes      bigint      NOT NULL DEFAULT 0,        -- of the message number `acknowledged`, sent in fragments: so many are over there
    UNIQUE (conversation_id, is_initiator)
) WITH (fillfactor = 40);
CREATE INDEX IF NOT EXISTS remote_conversation_by_retry ON ssb.remote_conversation (peer_id, retry_at) WHERE retry_at IS NOT NULL;

-- Fragments of a large message that has not come as a whole: see transport/fragments.sql.
CREATE TABLE IF NOT EXISTS ssb.message_fragment (
    endpoint_id             bigint NOT NULL,               -- the receiver's
    message_sequence_number bigint NOT NULL,
    body_offset             bigint NOT NULL,
    body                    bytea  NOT NULL,
    body_length             bigint NOT NULL,               -- of the whole message
    stamp                   text   NOT NULL,               -- which message of that number the sender means
    PRIMARY KEY (endpoint_id, message_sequence_number, body_offset)
);
ALTER TABLE ssb.message_fragment ALTER COLUMN body SET STORAGE EXTERNAL;
REVOKE ALL ON ssb.message_fragment FROM PUBLIC;

-- A dialog of a set that another instance has brought: what its JSON says, or, of what was sealed, the block that it was in. Security and
-- what stands behind it count only where this instance's daemon has opened the set. (As an array, which costs a tenth of its JSON.)
DO $$
BEGIN
    IF to_regtype('ssb.arrived_dialog') IS NULL THEN
        CREATE TYPE ssb.arrived_dialog AS (
            conversation_id uuid,
            is_initiator    boolean,                       -- the side that sent it
            key             uuid,
            to_service      text,
            to_instance     text,
            from_service    text,
            from_instance   text,
            contract        text,
            lifetime        double precision,              -- seconds that are left
            is_encrypted    boolean,
            security        char(1),
            database_id     integer,
            far_user        text,
            key_id          uuid,
            traces          jsonb                          -- by the messages' numbers
        );
    END IF;
END;
$$;

-- What the Broker Configuration Notice service was asked, and whether it has answered.
CREATE TABLE IF NOT EXISTS ssb.configuration_notice (
    database_id  integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    kind         text        NOT NULL,                     -- MissingRoute, MissingRemoteServiceBinding
    service_name text        NOT NULL,
    endpoint_id  bigint      NOT NULL,                     -- the side that asked
    asked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    answered_at  timestamptz,
    PRIMARY KEY (database_id, kind, service_name)
);
CREATE INDEX IF NOT EXISTS configuration_notice_by_endpoint ON ssb.configuration_notice (endpoint_id);

-- Connections of the daemon to other instances, for sys.dm_broker_connections.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.transport_connection (
    connection_id  uuid        PRIMARY KEY,
    address        text        NOT NULL,
    pid            integer     NOT NULL,                   -- of the daemon's session here
    backend_start  timestamptz NOT NULL,
    remote_user    text        NOT NULL,                   -- whom the far server takes us for
    is_encrypted   boolean     NOT NULL,
    connected_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    active_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    bytes_sent     bigint      NOT NULL DEFAULT 0,
    sends          bigint      NOT NULL DEFAULT 0
);

-- Keys of pairs of services, between which dialogs are sealed: exchanged once, renewed, and each dialog's
-- derived from them (pgsb/security/dialogs.py). Sealed by the database's master key.
CREATE TABLE IF NOT EXISTS ssb.dialog_key (
    key_id          uuid        NOT NULL,
    database_id     integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    is_outbound     boolean     NOT NULL,                  -- made here, told to the far side
    is_anonymous    boolean     NOT NULL,
    near_service    text        NOT NULL,
    far_service     text        NOT NULL,
    near_user       text,                                  -- whose certificates serve; NULL: nobody's, anonymous
    far_user        text,
    near            text,                                  -- SHA-256 of the certificates
    far             text,
    sealed_key      bytea       NOT NULL,
    exchange        text,                                  -- what tells the far side of a key that was made here
    made_at         timestamptz NOT NULL,                  -- by the clock of who made it
    used_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    is_retired      boolean     NOT NULL DEFAULT false,    -- its certificate was dropped: no dialog begins under it
    PRIMARY KEY (key_id, database_id)
);
REVOKE ALL ON ssb.dialog_key FROM PUBLIC;

-- Sealed messages that another instance's daemon has brought, until this one's has opened them. Nobody has
-- acknowledged them: after a crash they come again.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.sealed_set (
    set_id      uuid        PRIMARY KEY,
    sender      text        NOT NULL DEFAULT session_user,
    dialogs     jsonb       NOT NULL,
    places      integer[]   NOT NULL,
    numbers     bigint[]    NOT NULL,
    bodies      bytea[]     NOT NULL,                      -- the messages of a block are sealed as one: the first has it, the others NULL
    exchanges   text[]      NOT NULL,
    came_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE ssb.sealed_set ALTER COLUMN bodies SET STORAGE EXTERNAL;   -- what is sealed cannot be compressed, and nothing is long here
ALTER TABLE ssb.sealed_set ALTER COLUMN dialogs SET STORAGE EXTERNAL;
ALTER TABLE ssb.sealed_set ALTER COLUMN places SET STORAGE EXTERNAL;
ALTER TABLE ssb.sealed_set ALTER COLUMN numbers SET STORAGE EXTERNAL;
ALTER TABLE ssb.sealed_set ALTER COLUMN exchanges SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS sealed_set_by_sender ON ssb.sealed_set (sender, came_at);
REVOKE ALL ON ssb.sealed_set FROM PUBLIC;

-- Messages that pass through: brought by another instance's daemon, for a service of a third. What goes on to
-- one address is a part of the set that came. Nobody has acknowledged them here either.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.forwarded_set (
    forwarded_id   bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    set_id         uuid        NOT NULL,               -- of the set that came
    sender         text        NOT NULL DEFAULT session_user,
    address        text        NOT NULL,
    mirror_address text,
    dialogs        jsonb       NOT NULL,               -- each with its place in the set that came
    places         integer[]   NOT NULL,
    numbers        bigint[]    NOT NULL,
    message_types  text[]      NOT NULL,               -- NULLs in sealed sets, and so are kinds
    kinds          text[]      NOT NULL,
    bodies         bytea[]     NOT NULL,
    exchanges      text[],                             -- NULL: in the clear
    bytes          bigint      NOT NULL,
    came_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at     timestamptz NOT NULL
);
ALTER TABLE ssb.forwarded_set ALTER COLUMN bodies SET STORAGE EXTERNAL;
REVOKE ALL ON ssb.forwarded_set FROM PUBLIC;

-- What the sender of a set asks for: answers that were not there at once.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.set_answer (
    set_id      uuid        NOT NULL,
    sender      text        NOT NULL,
    answers     jsonb       NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS set_answer_by_set ON ssb.set_answer (set_id);
REVOKE ALL ON ssb.set_answer FROM PUBLIC;
