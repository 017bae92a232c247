-- What CREATE MESSAGE TYPE, CONTRACT, QUEUE, SERVICE … define.
--
-- Numbers from 1500000000 on are ours and never meet an oid, so sys.objects can
-- show both; small ones are the system's. database_id NULL means: in every
-- database. Some columns are copies, kept by the functions that write here, so
-- that SEND and RECEIVE read few tables: each says so.
CREATE SEQUENCE IF NOT EXISTS ssb.object_id AS integer MINVALUE 1500000000;

CREATE TABLE IF NOT EXISTS ssb.xml_schema_collection (
    collection_id integer     PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id   integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    schema_name   text        NOT NULL,            -- PostgreSQL's
    name          text        NOT NULL,            -- folded
    spelling      text        NOT NULL,
    compiled      jsonb       NOT NULL,            -- by ssb_internal.compile_xml_schema
    source        text        NOT NULL,
    create_date   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (schema_name, name)
);

CREATE TABLE IF NOT EXISTS ssb.message_type (
    message_type_id integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id     integer REFERENCES ssb.database ON DELETE CASCADE,
    name            text    NOT NULL,
    validation      char(2) NOT NULL,              -- N none, E empty, X well-formed or valid XML
    collection_id   integer REFERENCES ssb.xml_schema_collection,
    owner           text    NOT NULL,
    CONSTRAINT "validation is none, empty or XML" CHECK (validation IN ('N', 'E', 'X')),
    CONSTRAINT "only XML has schemas" CHECK (collection_id IS NULL OR validation = 'X')
);
CREATE UNIQUE INDEX IF NOT EXISTS message_type_by_name ON ssb.message_type (name, (coalesce(database_id, 0)));

CREATE TABLE IF NOT EXISTS ssb.contract (
    contract_id integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id integer REFERENCES ssb.database ON DELETE CASCADE,
    name        text    NOT NULL,
    owner       text    NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS contract_by_name ON ssb.contract (name, (coalesce(database_id, 0)));

-- SEND finds here in one probe whether a type may be sent, and what is to be checked.
CREATE TABLE IF NOT EXISTS ssb.contract_message_usage (
    contract_id          integer NOT NULL REFERENCES ssb.contract ON DELETE CASCADE,
    message_type_name    text COLLATE "C" NOT NULL,  -- copy of message_type.name
    message_type_id      integer NOT NULL REFERENCES ssb.message_type,
    is_sent_by_initiator boolean NOT NULL,
    is_sent_by_target    boolean NOT NULL,
    validation           char(2) NOT NULL,         -- copy of message_type.validation
    -- What SEND need not look at twice.
    is_plain_from_initiator boolean GENERATED ALWAYS AS (is_sent_by_initiator AND validation = 'N') STORED,
    is_plain_from_target    boolean GENERATED ALWAYS AS (is_sent_by_target AND validation = 'N') STORED,
    PRIMARY KEY (contract_id, message_type_name)
);

CREATE TABLE IF NOT EXISTS ssb.queue (
    queue_id                   integer     PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    name                       text COLLATE "C" NOT NULL UNIQUE,  -- 'schema.name' as callers write it
    database_id                integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    schema_name                text        NOT NULL,
    relation_name              text        NOT NULL,          -- the view under the queue's own name
    spelling                   text        NOT NULL,
    owner                      text        NOT NULL,
    create_date                timestamptz NOT NULL DEFAULT now(),
    modify_date                timestamptz NOT NULL DEFAULT now(),
    is_receive_enabled         boolean     NOT NULL,
    is_enqueue_enabled         boolean     NOT NULL,
    is_retention_enabled       boolean     NOT NULL,
    is_activation_enabled      boolean     NOT NULL,
    activation_procedure       text,
    activation_spelling        text,                          -- [Schema].[Procedure] when it was named, as that spelled it if it was not there
    external_program           text,
    max_readers                integer     NOT NULL,
    execute_as                 text,                          -- a role's name; NULL: OWNER
    is_poison_handling_enabled boolean     NOT NULL,
    max_rollbacks              integer     NOT NULL DEFAULT 5,
    is_quarantine_enabled      boolean     NOT NULL DEFAULT false,
    attempts_since             bigint      NOT NULL DEFAULT 0,  -- transaction of the last ALTER QUEUE STATUS = ON
    -- Copies for SEND and RECEIVE, kept by ssb_internal.refresh_queue:
    is_accepting               boolean     NOT NULL,          -- enqueue enabled, and its database's broker too
    is_watched                 boolean     NOT NULL,          -- somebody wants to know of arrivals
    priorities                 smallint[]  NOT NULL DEFAULT '{5}',  -- levels ever used, highest first
    has_groups                 boolean     NOT NULL DEFAULT false,  -- dialogs have shared a group here
    low_water                  bigint      NOT NULL DEFAULT 0,      -- no message below this order
    -- RECEIVE has nothing special to think of.
    is_plain_reader            boolean     GENERATED ALWAYS AS
        (is_receive_enabled AND NOT is_retention_enabled AND NOT has_groups AND priorities = '{5}' AND max_rollbacks > 1) STORED,
    -- Sequences are read and written in a fraction of the time of a row, and are
    -- not undone by ROLLBACK. The first gives out queuing_order; USAGE of it mirrors
    -- RECEIVE on the queue. The second is the queue's state (conversations/poison_messages.sql),
    -- 0 while there is nothing special; PUBLIC has SELECT on it while messages may
    -- simply be appended (definitions/queues.sql).
    order_sequence             regclass    NOT NULL,
    state_sequence             regclass    NOT NULL,
    UNIQUE (schema_name, relation_name),
    CONSTRAINT "MAX_QUEUE_READERS is 0 to 32767" CHECK (max_readers BETWEEN 0 AND 32767),
    CONSTRAINT "1 to 250 rollbacks disable a queue" CHECK (max_rollbacks BETWEEN 1 AND 250),
    CONSTRAINT "a queue activates a procedure or a program" CHECK (activation_procedure IS NULL OR external_program IS NULL)
);

CREATE TABLE IF NOT EXISTS ssb.service (
    service_id  integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id integer NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name        text    NOT NULL,
    queue_id    integer NOT NULL REFERENCES ssb.queue,
    owner       text    NOT NULL,
    UNIQUE (name, database_id)
);
CREATE INDEX IF NOT EXISTS service_by_queue ON ssb.service (queue_id);

CREATE TABLE IF NOT EXISTS ssb.service_contract_usage (
    service_id  integer NOT NULL REFERENCES ssb.service ON DELETE CASCADE,
    contract_id integer NOT NULL REFERENCES ssb.contract,
    PRIMARY KEY (service_id, contract_id)
);

CREATE TABLE IF NOT EXISTS ssb.route (
    route_id        integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id     integer NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name            text    NOT NULL,
    service_name    text,
    broker_instance text,
    expires_at      timestamptz,
    address         text    NOT NULL,
    mirror_address  text,
    owner           text    NOT NULL
);
-- Whatever the case, as in SQL Server, where these names have the database's collation; those of services, contracts and
-- message types are compared byte by byte.
CREATE UNIQUE INDEX IF NOT EXISTS route_by_name ON ssb.route (database_id, lower(name));

CREATE TABLE IF NOT EXISTS ssb.remote_service_binding (
    binding_id   integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id  integer NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name         text    NOT NULL,
    to_service   text    NOT NULL,
    user_name    text    NOT NULL,
    is_anonymous boolean NOT NULL,
    owner        text    NOT NULL,
    UNIQUE (database_id, to_service)
);
CREATE UNIQUE INDEX IF NOT EXISTS remote_service_binding_by_name ON ssb.remote_service_binding (database_id, lower(name));

-- NULL is ANY.
CREATE TABLE IF NOT EXISTS ssb.broker_priority (
    priority_id    integer  PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id    integer  NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name           text     NOT NULL,
    contract_id    integer  REFERENCES ssb.contract,
    service_id     integer  REFERENCES ssb.service,
    remote_service text,
    priority       smallint NOT NULL,
    CONSTRAINT "a priority is 1 to 10" CHECK (priority BETWEEN 1 AND 10)
);
CREATE UNIQUE INDEX IF NOT EXISTS broker_priority_by_name ON ssb.broker_priority (database_id, lower(name));
CREATE UNIQUE INDEX IF NOT EXISTS broker_priority_by_match
    ON ssb.broker_priority (database_id, coalesce(contract_id, 0), coalesce(service_id, 0), coalesce(remote_service, ''));

-- ENDPOINT … FOR SERVICE_BROKER: one for the server.
CREATE TABLE IF NOT EXISTS ssb.broker_endpoint (
    broker_endpoint_id   integer PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    name                 text    NOT NULL UNIQUE,
    state                text    NOT NULL,
    listener_port        integer NOT NULL,
    listener_ip          text,
    authentication       text    NOT NULL,
    encryption           text    NOT NULL,
    algorithm            text    NOT NULL,
    message_forwarding   boolean NOT NULL,
    message_forward_size integer NOT NULL,
    owner                text    NOT NULL,
    CONSTRAINT "an endpoint is started, stopped or disabled" CHECK (state IN ('STARTED', 'STOPPED', 'DISABLED')),
    CONSTRAINT "a port is 1024 to 32767" CHECK (listener_port BETWEEN 1024 AND 32767)
);

CREATE TABLE IF NOT EXISTS ssb.event_notification (
    notification_id integer     PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id     integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name            text        NOT NULL,
    scope           text        NOT NULL,
    queue_id        integer     REFERENCES ssb.queue,
    events          text[]      NOT NULL,
    to_service      text        NOT NULL,
    broker_instance uuid        NOT NULL,
    fan_in          boolean     NOT NULL,
    owner           text        NOT NULL,
    conversation    uuid,                          -- its dialog; ended by the other side, the notification goes
    create_date     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT "a notification is on the server, a database or a queue" CHECK (scope IN ('SERVER', 'DATABASE', 'QUEUE')),
    CONSTRAINT "queue notifications alone name a queue" CHECK ((scope = 'QUEUE') = (queue_id IS NOT NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS event_notification_by_name
    ON ssb.event_notification (scope, (CASE WHEN scope = 'SERVER' THEN 0 ELSE database_id END), coalesce(queue_id, 0), lower(name));
CREATE INDEX IF NOT EXISTS event_notification_by_conversation ON ssb.event_notification (conversation);

-- Modules that are being altered, where anybody listens to definitions (ssb_internal.note_alteration).
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.altered_module (
    schema_name text        NOT NULL,
    name        text        NOT NULL,
    session_id  integer     NOT NULL,
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (schema_name, name)
);

-- What was there of a module that a session alters (ssb_internal.note_module): of it and its triggers owner, grants, descriptions.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.noted_module (
    session_id integer     NOT NULL,
    name       text        NOT NULL,              -- ssb_internal.noted_name
    parts      jsonb       NOT NULL,
    noted_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (session_id, name)
);
REVOKE ALL ON ssb.noted_module FROM PUBLIC;

-- Views and functions WITH SCHEMABINDING, and views that have let go of what they select from, with what they were (modules/view_bindings.sql).
CREATE TABLE IF NOT EXISTS ssb.view_binding (
    schema_name     text    NOT NULL,
    name            text    NOT NULL,
    is_schema_bound boolean NOT NULL DEFAULT false,
    definition      text,                          -- as pg_get_viewdef has it; NULL: it is bound
    options         text[],                        -- pg_class.reloptions
    needs           text[],                        -- what a module WITH SCHEMABINDING names: dbo.t, dbo.t.a, dbo.f()
    PRIMARY KEY (schema_name, name)
);
REVOKE ALL ON ssb.view_binding FROM PUBLIC;

-- Triggers of T-SQL on definitions (activation/definition_events.sql).
CREATE TABLE IF NOT EXISTS ssb.ddl_trigger (
    trigger_id  integer     PRIMARY KEY DEFAULT nextval('ssb.object_id'),
    database_id integer     NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    name        text        NOT NULL,
    scope       text        NOT NULL,
    events      text[]      NOT NULL,
    function    text        NOT NULL,              -- as PostgreSQL writes it
    is_disabled boolean     NOT NULL DEFAULT false,
    create_date timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT "a DDL trigger is on the server or a database" CHECK (scope IN ('SERVER', 'DATABASE'))
);
CREATE UNIQUE INDEX IF NOT EXISTS ddl_trigger_by_name
    ON ssb.ddl_trigger (scope, (CASE WHEN scope = 'SERVER' THEN 0 ELSE database_id END), lower(name));

-- What the transaction that runs has told of and DDL triggers are still to be fired for; empty at the end of every
-- transaction. And what fires them, always empty (activation/ddl_triggers.sql).
CREATE TABLE IF NOT EXISTS ssb.definition_event (
    event_id     bigint    PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    ddl_triggers integer[] NOT NULL,
    event_data   text      NOT NULL
);
CREATE TABLE IF NOT EXISTS ssb.ddl_trigger_firing (
    event_id     bigint,
    ddl_triggers integer[],
    event_data   text
);
GRANT INSERT (event_id) ON ssb.ddl_trigger_firing TO PUBLIC;

-- What sp_addextendedproperty notes. It stays with a module that is altered
-- (modules/alterations.sql); else nothing reads it but scripts that ask whether a description is there already.
CREATE TABLE IF NOT EXISTS ssb.extended_property (
    database_id integer NOT NULL REFERENCES ssb.database ON DELETE CASCADE,
    class       integer NOT NULL,                  -- as sys.extended_properties numbers it
    major_id    integer NOT NULL,
    minor_id    integer NOT NULL DEFAULT 0,
    name        text    NOT NULL,
    value       text,
    -- An object's number is PostgreSQL's, which is another one after pg_dump and pg_upgrade, as schema ssb's is.
    target      text[],                            -- the words that named it: level0type, level0name, …, level2name
    numbered_in oid,                               -- schema ssb's when major_id was that object's
    UNIQUE (database_id, class, major_id, minor_id, name)
);
