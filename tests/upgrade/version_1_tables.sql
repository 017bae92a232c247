-- The tables, types and sequences of the runtime's version 1, as pg_dump tells them: what
-- tests/upgrade brings up to date and compares with a fresh installation. (sys.xml, which no table has, is text or xml
-- as the server can.)
CREATE SCHEMA ssb;
CREATE SCHEMA sys;
CREATE TYPE ssb.error AS ( number integer, message text, severity integer, state integer, procedure text, line
    integer );
CREATE TYPE ssb.message AS ( status smallint, priority smallint, queuing_order bigint, conversation_group_id uuid,
    conversation_handle uuid, message_sequence_number bigint, service_name text, service_id integer,
    service_contract_name text, service_contract_id integer, message_type_name text, message_type_id integer, validation
    character(2), message_body bytea, message_enqueue_time timestamp(3) without time zone );
CREATE TYPE ssb.session AS ( trancount integer, autocommit boolean, atomic boolean, doomed boolean, transaction_name
    text, xact_abort boolean, nocount boolean, row_limit bigint, noexec boolean, try_depth integer, outer_tries integer,
    leaving boolean, unresolved boolean, rolling_back boolean, pending ssb.error, caught ssb.error, error integer,
    rowcount bigint, fetch_status integer, return_code integer, procedure text, nestlevel integer, capturing boolean,
    captured json[], in_trigger boolean, hint text, failed boolean );
CREATE DOMAIN sys."bit" AS smallint CONSTRAINT "bit is 0 or 1" CHECK ((VALUE = ANY (ARRAY[0, 1])));
CREATE TYPE sys.xml_node AS ( ordinal bigint, above text[], markup text, id bigint, levels integer, document text,
    place bigint );
CREATE SEQUENCE ssb.object_id AS integer START WITH 1500000000 INCREMENT BY 1 MINVALUE 1500000000 NO MAXVALUE CACHE
    1;
CREATE TABLE ssb.remote_service_binding ( binding_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, to_service text NOT NULL, user_name text NOT NULL, is_anonymous boolean NOT NULL, owner text NOT NULL );
CREATE TABLE ssb.certificate ( certificate_id integer NOT NULL, database_id integer NOT NULL, name text NOT NULL,
    subject text, start_date timestamp without time zone, expiry_date timestamp without time zone,
    active_for_begin_dialog boolean DEFAULT true NOT NULL, source text, owner text NOT NULL );
CREATE TABLE ssb.service ( service_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, queue_id integer NOT NULL, owner text NOT NULL );
CREATE TABLE ssb.conversation_endpoint ( endpoint_id bigint NOT NULL, conversation_handle uuid NOT NULL, lock_id bigint NOT NULL, sent_count bigint DEFAULT 0 NOT NULL, queue_id integer NOT NULL, contract_id integer NOT NULL, near_order regclass, near_state regclass, priority smallint NOT NULL, is_initiator boolean NOT NULL, closed_at timestamp with time zone, is_error boolean DEFAULT false NOT NULL, is_refused boolean DEFAULT false NOT NULL, has_waiting boolean DEFAULT false NOT NULL, plain_type_id integer, plain_type text COLLATE pg_catalog."C", first_type_id integer, first_type text COLLATE pg_catalog."C", sent_order bigint, far_endpoint_id bigint, far_queue_id integer, far_order regclass, far_state regclass, far_contract_id integer, far_priority smallint, lifetime timestamp with time zone, claim_id bigint, conversation_group_id uuid NOT NULL, conversation_id uuid NOT NULL, is_encrypted boolean NOT NULL, is_system boolean NOT NULL, database_id integer NOT NULL, service_id integer NOT NULL, service_name text NOT NULL, contract_name text NOT NULL, far_service text NOT NULL, far_broker_instance text, started_at timestamp with time zone DEFAULT now() NOT NULL, dialog_timer timestamp with time zone, is_closed_by_error boolean DEFAULT false NOT NULL, is_close_known boolean DEFAULT false NOT NULL, is_cleaned_up boolean DEFAULT false NOT NULL, far_outcome character(2), due_at timestamp with time zone ) WITH (fillfactor='80');
CREATE TABLE ssb.xml_schema_collection ( collection_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, schema_name text NOT NULL, name text NOT NULL, spelling text NOT NULL, compiled jsonb NOT NULL, source text NOT NULL, create_date timestamp with time zone DEFAULT now() NOT NULL );
CREATE TABLE ssb.queue ( queue_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, name text NOT NULL COLLATE pg_catalog."C", database_id integer NOT NULL, schema_name text NOT NULL, relation_name text NOT NULL, spelling text NOT NULL, owner text NOT NULL, create_date timestamp with time zone DEFAULT now() NOT NULL, modify_date timestamp with time zone DEFAULT now() NOT NULL, is_receive_enabled boolean NOT NULL, is_enqueue_enabled boolean NOT NULL, is_retention_enabled boolean NOT NULL, is_activation_enabled boolean NOT NULL, activation_procedure text, external_program text, max_readers integer NOT NULL, execute_as text, is_poison_handling_enabled boolean NOT NULL, max_rollbacks integer DEFAULT 5 NOT NULL, is_quarantine_enabled boolean DEFAULT false NOT NULL, attempts_since bigint DEFAULT 0 NOT NULL, is_accepting boolean NOT NULL, is_watched boolean NOT NULL, priorities smallint[] DEFAULT '{5}'::smallint[] NOT NULL, has_groups boolean DEFAULT false NOT NULL, low_water bigint DEFAULT 0 NOT NULL, is_plain_reader boolean GENERATED ALWAYS AS ((is_receive_enabled AND (NOT is_retention_enabled) AND (NOT has_groups) AND (priorities = '{5}'::smallint[]) AND (max_rollbacks > 1))) STORED, order_sequence regclass NOT NULL, state_sequence regclass NOT NULL, CONSTRAINT "1 to 250 rollbacks disable a queue" CHECK (((max_rollbacks >= 1) AND (max_rollbacks <= 250))), CONSTRAINT "MAX_QUEUE_READERS is 0 to 32767" CHECK (((max_readers >= 0) AND (max_readers <= 32767))), CONSTRAINT "a queue activates a procedure or a program" CHECK (((activation_procedure IS NULL) OR (external_program IS NULL))) );
CREATE TABLE ssb.quarantined_group ( quarantine_id bigint NOT NULL, queue_id integer NOT NULL, lock_id bigint NOT
    NULL, conversation_group_id uuid NOT NULL, endpoint_id bigint NOT NULL, queuing_order bigint NOT NULL, rollbacks
    integer NOT NULL, error text, quarantined_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL );
CREATE TABLE ssb.contract ( contract_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer, name text NOT NULL, owner text NOT NULL );
CREATE TABLE ssb.message_type ( message_type_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer, name text NOT NULL, validation character(2) NOT NULL, collection_id integer, owner text NOT NULL, CONSTRAINT "only XML has schemas" CHECK (((collection_id IS NULL) OR (validation = 'X'::bpchar))), CONSTRAINT "validation is none, empty or XML" CHECK ((validation = ANY (ARRAY['N'::bpchar, 'E'::bpchar, 'X'::bpchar]))) );
CREATE TABLE ssb.remote_conversation ( endpoint_id bigint NOT NULL, conversation_id uuid NOT NULL, is_initiator boolean NOT NULL, database_id integer NOT NULL, service_id integer NOT NULL, session_key uuid DEFAULT gen_random_uuid() NOT NULL, far_instance text, address text, mirror_address text, is_under_way boolean DEFAULT false NOT NULL, acknowledged bigint DEFAULT 0 NOT NULL, failures integer DEFAULT 0 NOT NULL, retry_at timestamp with time zone, next_number bigint DEFAULT 0 NOT NULL, far_outcome character(2), refusal_code integer, refusal text, taken_at timestamp with time zone DEFAULT now() NOT NULL ) WITH (fillfactor='70');
CREATE UNLOGGED TABLE ssb.transport_connection ( connection_id uuid NOT NULL, address text NOT NULL, pid integer NOT
    NULL, backend_start timestamp with time zone NOT NULL, remote_user text NOT NULL, is_encrypted boolean NOT NULL,
    connected_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, active_at timestamp with time zone DEFAULT
    clock_timestamp() NOT NULL, bytes_sent bigint DEFAULT 0 NOT NULL, sends bigint DEFAULT 0 NOT NULL );
CREATE TABLE ssb.principal ( principal_id integer NOT NULL, database_id integer, name text NOT NULL, kind text NOT NULL, default_schema text, login text, certificate text, create_date timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT "a principal is a user, login or role" CHECK ((kind = ANY (ARRAY['USER'::text, 'LOGIN'::text, 'ROLE'::text, 'APPLICATION ROLE'::text]))), CONSTRAINT "logins alone belong to the server" CHECK (((database_id IS NULL) = (kind = 'LOGIN'::text))) );
CREATE TABLE ssb.broker_priority ( priority_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, contract_id integer, service_id integer, remote_service text, priority smallint NOT NULL, CONSTRAINT "a priority is 1 to 10" CHECK (((priority >= 1) AND (priority <= 10))) );
CREATE TABLE ssb.claim ( claim_id integer NOT NULL, queue_id integer NOT NULL, role name NOT NULL, pid integer NOT
    NULL, claimed_at timestamp with time zone DEFAULT now() NOT NULL );
CREATE TABLE ssb.route ( route_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, service_name text, broker_instance text, expires_at timestamp with time zone, address text NOT NULL, mirror_address text, owner text NOT NULL );
CREATE UNLOGGED TABLE ssb.activated_task ( pid integer NOT NULL, backend_start timestamp with time zone NOT NULL,
    queue_id integer NOT NULL, procedure_name text NOT NULL, execute_as text NOT NULL, started_at timestamp with time
    zone DEFAULT now() NOT NULL );
CREATE TABLE ssb.contract_message_usage ( contract_id integer NOT NULL, message_type_name text NOT NULL COLLATE pg_catalog."C", message_type_id integer NOT NULL, is_sent_by_initiator boolean NOT NULL, is_sent_by_target boolean NOT NULL, validation character(2) NOT NULL, is_plain_from_initiator boolean GENERATED ALWAYS AS ((is_sent_by_initiator AND (validation = 'N'::bpchar))) STORED, is_plain_from_target boolean GENERATED ALWAYS AS ((is_sent_by_target AND (validation = 'N'::bpchar))) STORED );
CREATE SEQUENCE sys.rowversion_numbers START WITH 2001 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_1 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_10 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_11 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_12 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_13 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_14 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_15 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_16 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_17 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_18 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_19 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_2 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_20 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_21 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_22 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_23 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_24 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_25 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_26 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_27 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_28 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_29 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_3 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_30 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_31 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_32 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_33 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_34 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_35 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_36 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_37 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_38 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_39 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_4 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_40 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_41 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_42 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_43 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_44 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_45 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_46 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_47 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_48 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_49 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_5 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_50 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_51 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_52 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_53 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_54 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_55 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_56 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_57 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_58 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_59 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_6 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_60 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_61 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_62 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_7 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_8 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempt_9 START WITH 0 INCREMENT BY 1 MINVALUE -9223372036854775807 NO MAXVALUE CACHE 1;
CREATE TABLE ssb.attempt_end ( queue_id integer NOT NULL );
CREATE TABLE ssb.attempt_lock ( );
CREATE SEQUENCE ssb.attempts_in_use START WITH 0 INCREMENT BY 1 MINVALUE 0 NO MAXVALUE CACHE 1;
CREATE SEQUENCE ssb.attempts_told START WITH 0 INCREMENT BY 1 MINVALUE 0 NO MAXVALUE CACHE 1;
CREATE UNLOGGED TABLE ssb.broker_daemon ( pid integer NOT NULL, backend_start timestamp with time zone NOT NULL,
    host text NOT NULL, version text NOT NULL, leads_since timestamp with time zone );
CREATE TABLE ssb.broker_endpoint ( broker_endpoint_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, name text NOT NULL, state text NOT NULL, listener_port integer NOT NULL, listener_ip text, authentication text NOT NULL, encryption text NOT NULL, algorithm text NOT NULL, message_forwarding boolean NOT NULL, message_forward_size integer NOT NULL, owner text NOT NULL, CONSTRAINT "a port is 1024 to 32767" CHECK (((listener_port >= 1024) AND (listener_port <= 32767))), CONSTRAINT "an endpoint is started, stopped or disabled" CHECK ((state = ANY (ARRAY['STARTED'::text, 'STOPPED'::text, 'DISABLED'::text]))) );
CREATE TABLE ssb.broker_log ( log_id bigint NOT NULL, logged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL, level text NOT NULL, event text NOT NULL, queue text, program text, pid integer, error_number integer, message text NOT NULL, CONSTRAINT "a log line is debug, info, warning or error" CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warning'::text, 'error'::text]))) );
ALTER TABLE ssb.broker_log ALTER COLUMN log_id ADD GENERATED ALWAYS AS IDENTITY ( SEQUENCE NAME
    ssb.broker_log_log_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
ALTER TABLE ssb.certificate ALTER COLUMN certificate_id ADD GENERATED BY DEFAULT AS IDENTITY ( SEQUENCE NAME
    ssb.certificate_certificate_id_seq START WITH 256 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
CREATE SEQUENCE ssb.claim_id AS integer START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 CYCLE;
CREATE TABLE ssb.claimed_conversation ( claim_id integer NOT NULL, endpoint_id bigint NOT NULL, last_order bigint
    NOT NULL, messages bigint NOT NULL, bytes bigint NOT NULL, largest bigint NOT NULL, partition integer NOT NULL,
    failed_order bigint, error text );
CREATE TABLE ssb.message_stored ( endpoint_id bigint NOT NULL, queuing_order bigint NOT NULL,
    message_sequence_number bigint NOT NULL, enqueued_at timestamp with time zone NOT NULL, queue_id integer NOT NULL,
    message_type_id integer NOT NULL, priority smallint NOT NULL, validation character(2) NOT NULL, body bytea );
CREATE TABLE ssb.default_name ( relation regclass NOT NULL, column_name text NOT NULL, name text NOT NULL );
CREATE TABLE ssb.completed_claim ( claim_id integer NOT NULL, claimed_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone DEFAULT now() NOT NULL, deleted bigint NOT NULL, replied bigint NOT NULL,
    ended bigint NOT NULL, failed bigint NOT NULL );
CREATE TABLE ssb.completed_send ( send_id uuid NOT NULL, partition integer NOT NULL, completed_at timestamp with
    time zone DEFAULT now() NOT NULL );
CREATE TABLE ssb.database ( database_id integer NOT NULL, name text, schema_prefix text NOT NULL, service_broker_guid uuid DEFAULT gen_random_uuid() NOT NULL, is_broker_enabled boolean DEFAULT true NOT NULL, is_honor_broker_priority_on boolean DEFAULT false NOT NULL, is_trustworthy_on boolean DEFAULT false NOT NULL, has_master_key boolean DEFAULT false NOT NULL, options jsonb DEFAULT '{}'::jsonb NOT NULL, owner text DEFAULT SESSION_USER NOT NULL, create_date timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT "the default database alone has no name of its own" CHECK (((name IS NULL) = (schema_prefix = ''::text))) );
CREATE SEQUENCE ssb.database_id AS integer START WITH 6 INCREMENT BY 1 MINVALUE 6 NO MAXVALUE CACHE 1;
ALTER SEQUENCE ssb.database_id OWNED BY ssb.database.database_id;
CREATE TABLE ssb.ddl_trigger ( trigger_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, scope text NOT NULL, events text[] NOT NULL, function text NOT NULL, is_disabled boolean DEFAULT false NOT NULL, create_date timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT "a DDL trigger is on the server or a database" CHECK ((scope = ANY (ARRAY['SERVER'::text, 'DATABASE'::text]))) );
CREATE SEQUENCE ssb.endpoint_id START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
CREATE TABLE ssb.event_notification ( notification_id integer DEFAULT nextval('ssb.object_id'::regclass) NOT NULL, database_id integer NOT NULL, name text NOT NULL, scope text NOT NULL, queue_id integer, events text[] NOT NULL, to_service text NOT NULL, broker_instance uuid NOT NULL, fan_in boolean NOT NULL, owner text NOT NULL, conversation uuid, create_date timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT "a notification is on the server, a database or a queue" CHECK ((scope = ANY (ARRAY['SERVER'::text, 'DATABASE'::text, 'QUEUE'::text]))), CONSTRAINT "queue notifications alone name a queue" CHECK (((scope = 'QUEUE'::text) = (queue_id IS NOT NULL))) );
CREATE TABLE ssb.extended_property ( database_id integer NOT NULL, class integer NOT NULL, major_id integer NOT
    NULL, minor_id integer DEFAULT 0 NOT NULL, name text NOT NULL, value text );
CREATE TABLE ssb.message_0 ( ) INHERITS (ssb.message_stored);
CREATE TABLE ssb.message_1 ( ) INHERITS (ssb.message_stored);
CREATE TABLE ssb.module_source ( schema_name text NOT NULL, name text NOT NULL, text text NOT NULL );
CREATE TABLE ssb.permission ( database_id integer NOT NULL, class text NOT NULL, major_id integer NOT NULL, privilege text NOT NULL, grantee text NOT NULL, state character(1) NOT NULL, grantor text DEFAULT SESSION_USER NOT NULL, CONSTRAINT "a permission is granted, granted with grant option, or denied" CHECK ((state = ANY (ARRAY['G'::bpchar, 'W'::bpchar, 'D'::bpchar]))) );
CREATE SEQUENCE ssb.planned_calls START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1000;
ALTER TABLE ssb.principal ALTER COLUMN principal_id ADD GENERATED BY DEFAULT AS IDENTITY ( SEQUENCE NAME
    ssb.principal_principal_id_seq START WITH 5 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
ALTER TABLE ssb.quarantined_group ALTER COLUMN quarantine_id ADD GENERATED ALWAYS AS IDENTITY ( SEQUENCE NAME
    ssb.quarantined_group_quarantine_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
CREATE UNLOGGED TABLE ssb.queue_monitor ( queue_id integer NOT NULL, state text DEFAULT 'INACTIVE'::text NOT NULL, last_empty_rowset_time timestamp with time zone, last_activated_time timestamp with time zone, CONSTRAINT "a monitor is inactive, notified or seeing receives" CHECK ((state = ANY (ARRAY['INACTIVE'::text, 'NOTIFIED'::text, 'RECEIVES_OCCURRING'::text]))) );
CREATE TABLE ssb.recycled_dialog ( key text NOT NULL, database_id integer NOT NULL, from_service text NOT NULL,
    to_service text NOT NULL, contract text NOT NULL, closing_type text NOT NULL, handle uuid, begun_at timestamp with
    time zone DEFAULT clock_timestamp() NOT NULL, sent bigint DEFAULT 0 NOT NULL );
CREATE TABLE ssb.retained_message ( queue_id integer NOT NULL, endpoint_id bigint NOT NULL, status smallint NOT
    NULL, queuing_order bigint NOT NULL, message_sequence_number bigint NOT NULL, enqueued_at timestamp with time zone
    NOT NULL, message_type_id integer NOT NULL, priority smallint NOT NULL, validation character(2) NOT NULL, body bytea
    );
CREATE TABLE ssb.role_member ( database_id integer NOT NULL, role text NOT NULL, member text NOT NULL );
CREATE TABLE ssb.rotation ( state bigint NOT NULL, users text[] NOT NULL, place tid, noted_at timestamp with time
    zone DEFAULT clock_timestamp() NOT NULL );
CREATE SEQUENCE ssb.rotation_state START WITH 0 INCREMENT BY 1 MINVALUE 0 NO MAXVALUE CACHE 1;
CREATE TABLE ssb.runtime_version ( version integer NOT NULL, content_hash text NOT NULL, installed_at timestamp with
    time zone DEFAULT now() NOT NULL, only_row boolean DEFAULT true NOT NULL, CONSTRAINT "there is one version" CHECK
    (only_row) );
CREATE TABLE ssb.schema_of_database ( name text NOT NULL, database_id integer NOT NULL, schema_name text NOT NULL, owner text DEFAULT 'dbo'::text NOT NULL );
CREATE TABLE ssb.service_contract_usage ( service_id integer NOT NULL, contract_id integer NOT NULL );
CREATE TABLE ssb.translation ( token uuid NOT NULL, requester text DEFAULT SESSION_USER NOT NULL, statements text[],
    number integer, message text, line integer, made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT "an answer is text to run or an error" CHECK (((statements IS NULL) <> (number IS NULL))) );
CREATE TABLE ssb.transmission ( transmission_id bigint NOT NULL, database_id integer NOT NULL, endpoint_id bigint
    NOT NULL, to_service text NOT NULL, message_sequence_number bigint NOT NULL, message_type_name text NOT NULL,
    is_end_of_dialog boolean NOT NULL, is_conversation_error boolean NOT NULL, enqueued_at timestamp with time zone NOT
    NULL, body bytea, transmission_status text NOT NULL );
ALTER TABLE ssb.transmission ALTER COLUMN transmission_id ADD GENERATED ALWAYS AS IDENTITY ( SEQUENCE NAME
    ssb.transmission_transmission_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
CREATE TABLE ssb.user_message ( message_id integer NOT NULL, language_id smallint DEFAULT 1033 NOT NULL, severity
    smallint NOT NULL, is_event_logged boolean DEFAULT false NOT NULL, text text NOT NULL, CONSTRAINT "a severity is 1
    to 25" CHECK (((severity >= 1) AND (severity <= 25))), CONSTRAINT "own messages count from 50001" CHECK ((message_id
    > 50000)) );
ALTER TABLE ONLY ssb.activated_task ADD CONSTRAINT activated_task_pkey PRIMARY KEY (pid);
ALTER TABLE ONLY ssb.broker_daemon ADD CONSTRAINT broker_daemon_pkey PRIMARY KEY (pid);
ALTER TABLE ONLY ssb.broker_endpoint ADD CONSTRAINT broker_endpoint_name_key UNIQUE (name);
ALTER TABLE ONLY ssb.broker_endpoint ADD CONSTRAINT broker_endpoint_pkey PRIMARY KEY (broker_endpoint_id);
ALTER TABLE ONLY ssb.broker_log ADD CONSTRAINT broker_log_pkey PRIMARY KEY (log_id);
ALTER TABLE ONLY ssb.broker_priority ADD CONSTRAINT broker_priority_database_id_name_key UNIQUE (database_id, name);
ALTER TABLE ONLY ssb.broker_priority ADD CONSTRAINT broker_priority_pkey PRIMARY KEY (priority_id);
ALTER TABLE ONLY ssb.certificate ADD CONSTRAINT certificate_database_id_name_key UNIQUE (database_id, name);
ALTER TABLE ONLY ssb.certificate ADD CONSTRAINT certificate_pkey PRIMARY KEY (certificate_id);
ALTER TABLE ONLY ssb.claim ADD CONSTRAINT claim_pkey PRIMARY KEY (claim_id);
ALTER TABLE ONLY ssb.claimed_conversation ADD CONSTRAINT claimed_conversation_pkey PRIMARY KEY (claim_id,
    endpoint_id);
ALTER TABLE ONLY ssb.completed_claim ADD CONSTRAINT completed_claim_pkey PRIMARY KEY (claim_id, claimed_at);
ALTER TABLE ONLY ssb.completed_send ADD CONSTRAINT completed_send_pkey PRIMARY KEY (send_id, partition);
ALTER TABLE ONLY ssb.contract_message_usage ADD CONSTRAINT contract_message_usage_pkey PRIMARY KEY (contract_id,
    message_type_name);
ALTER TABLE ONLY ssb.contract ADD CONSTRAINT contract_pkey PRIMARY KEY (contract_id);
ALTER TABLE ONLY ssb.conversation_endpoint ADD CONSTRAINT conversation_endpoint_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY ssb.database ADD CONSTRAINT database_pkey PRIMARY KEY (database_id);
ALTER TABLE ONLY ssb.database ADD CONSTRAINT database_schema_prefix_key UNIQUE (schema_prefix);
ALTER TABLE ONLY ssb.ddl_trigger ADD CONSTRAINT ddl_trigger_pkey PRIMARY KEY (trigger_id);
ALTER TABLE ONLY ssb.default_name ADD CONSTRAINT default_name_pkey PRIMARY KEY (relation, column_name);
ALTER TABLE ONLY ssb.event_notification ADD CONSTRAINT event_notification_pkey PRIMARY KEY (notification_id);
ALTER TABLE ONLY ssb.extended_property ADD CONSTRAINT extended_property_database_id_class_major_id_minor_id_name_key
    UNIQUE (database_id, class, major_id, minor_id, name);
ALTER TABLE ONLY ssb.message_type ADD CONSTRAINT message_type_pkey PRIMARY KEY (message_type_id);
ALTER TABLE ONLY ssb.module_source ADD CONSTRAINT module_source_pkey PRIMARY KEY (schema_name, name);
ALTER TABLE ONLY ssb.principal ADD CONSTRAINT principal_pkey PRIMARY KEY (principal_id);
ALTER TABLE ONLY ssb.quarantined_group ADD CONSTRAINT quarantined_group_pkey PRIMARY KEY (quarantine_id);
ALTER TABLE ONLY ssb.queue_monitor ADD CONSTRAINT queue_monitor_pkey PRIMARY KEY (queue_id);
ALTER TABLE ONLY ssb.queue ADD CONSTRAINT queue_name_key UNIQUE (name);
ALTER TABLE ONLY ssb.queue ADD CONSTRAINT queue_pkey PRIMARY KEY (queue_id);
ALTER TABLE ONLY ssb.queue ADD CONSTRAINT queue_schema_name_relation_name_key UNIQUE (schema_name, relation_name);
ALTER TABLE ONLY ssb.recycled_dialog ADD CONSTRAINT recycled_dialog_pkey PRIMARY KEY (key, from_service, to_service,
    contract, database_id);
ALTER TABLE ONLY ssb.remote_conversation ADD CONSTRAINT remote_conversation_conversation_id_is_initiator_key UNIQUE
    (conversation_id, is_initiator);
ALTER TABLE ONLY ssb.remote_conversation ADD CONSTRAINT remote_conversation_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY ssb.remote_service_binding ADD CONSTRAINT remote_service_binding_database_id_name_key UNIQUE
    (database_id, name);
ALTER TABLE ONLY ssb.remote_service_binding ADD CONSTRAINT remote_service_binding_database_id_to_service_key UNIQUE
    (database_id, to_service);
ALTER TABLE ONLY ssb.remote_service_binding ADD CONSTRAINT remote_service_binding_pkey PRIMARY KEY (binding_id);
ALTER TABLE ONLY ssb.route ADD CONSTRAINT route_database_id_name_key UNIQUE (database_id, name);
ALTER TABLE ONLY ssb.route ADD CONSTRAINT route_pkey PRIMARY KEY (route_id);
ALTER TABLE ONLY ssb.runtime_version ADD CONSTRAINT runtime_version_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY ssb.schema_of_database ADD CONSTRAINT schema_of_database_pkey PRIMARY KEY (name);
ALTER TABLE ONLY ssb.service_contract_usage ADD CONSTRAINT service_contract_usage_pkey PRIMARY KEY (service_id,
    contract_id);
ALTER TABLE ONLY ssb.service ADD CONSTRAINT service_name_database_id_key UNIQUE (name, database_id);
ALTER TABLE ONLY ssb.service ADD CONSTRAINT service_pkey PRIMARY KEY (service_id);
ALTER TABLE ONLY ssb.translation ADD CONSTRAINT translation_pkey PRIMARY KEY (token);
ALTER TABLE ONLY ssb.transmission ADD CONSTRAINT transmission_pkey PRIMARY KEY (transmission_id);
ALTER TABLE ONLY ssb.transport_connection ADD CONSTRAINT transport_connection_pkey PRIMARY KEY (connection_id);
ALTER TABLE ONLY ssb.user_message ADD CONSTRAINT user_message_pkey PRIMARY KEY (message_id, language_id);
ALTER TABLE ONLY ssb.xml_schema_collection ADD CONSTRAINT xml_schema_collection_pkey PRIMARY KEY (collection_id);
ALTER TABLE ONLY ssb.xml_schema_collection ADD CONSTRAINT xml_schema_collection_schema_name_name_key UNIQUE
    (schema_name, name);
CREATE UNIQUE INDEX broker_priority_by_match ON ssb.broker_priority USING btree (database_id, COALESCE(contract_id, 0), COALESCE(service_id, 0), COALESCE(remote_service, ''::text));
CREATE UNIQUE INDEX contract_by_name ON ssb.contract USING btree (name, COALESCE(database_id, 0));
CREATE INDEX conversation_endpoint_by_due ON ssb.conversation_endpoint USING btree (queue_id, due_at) WHERE (due_at
    IS NOT NULL);
CREATE INDEX conversation_endpoint_by_group ON ssb.conversation_endpoint USING btree (conversation_group_id);
CREATE UNIQUE INDEX conversation_endpoint_by_handle ON ssb.conversation_endpoint USING btree (conversation_handle);
CREATE INDEX conversation_endpoint_by_lock ON ssb.conversation_endpoint USING btree (lock_id);
CREATE UNIQUE INDEX database_by_name ON ssb.database USING btree (lower(name));
CREATE UNIQUE INDEX ddl_trigger_by_name ON ssb.ddl_trigger USING btree (scope, ( CASE WHEN (scope = 'SERVER'::text) THEN 0 ELSE database_id END), lower(name));
CREATE INDEX event_notification_by_conversation ON ssb.event_notification USING btree (conversation);
CREATE UNIQUE INDEX event_notification_by_name ON ssb.event_notification USING btree (scope, ( CASE WHEN (scope = 'SERVER'::text) THEN 0 ELSE database_id END), COALESCE(queue_id, 0), name);
CREATE INDEX message_0_by_endpoint ON ssb.message_0 USING btree (endpoint_id, queuing_order) WHERE (endpoint_id IS
    NOT NULL);
CREATE INDEX message_0_by_order ON ssb.message_0 USING btree (queue_id, priority DESC, queuing_order) WHERE
    (queue_id IS NOT NULL);
CREATE INDEX message_1_by_endpoint ON ssb.message_1 USING btree (endpoint_id, queuing_order) WHERE (endpoint_id IS
    NOT NULL);
CREATE INDEX message_1_by_order ON ssb.message_1 USING btree (queue_id, priority DESC, queuing_order) WHERE
    (queue_id IS NOT NULL);
CREATE INDEX message_stored_by_endpoint ON ssb.message_stored USING btree (endpoint_id, queuing_order) WHERE
    (endpoint_id IS NOT NULL);
CREATE INDEX message_stored_by_order ON ssb.message_stored USING btree (queue_id, priority DESC, queuing_order)
    WHERE (queue_id IS NOT NULL);
CREATE UNIQUE INDEX message_type_by_name ON ssb.message_type USING btree (name, COALESCE(database_id, 0));
CREATE UNIQUE INDEX permission_by_object ON ssb.permission USING btree (class, major_id, privilege, grantee,
    database_id);
CREATE UNIQUE INDEX principal_by_name ON ssb.principal USING btree (COALESCE(database_id, 0), lower(name));
CREATE INDEX quarantined_group_by_group ON ssb.quarantined_group USING btree (conversation_group_id);
CREATE INDEX recycled_dialog_by_handle ON ssb.recycled_dialog USING btree (handle);
CREATE INDEX retained_message_by_endpoint ON ssb.retained_message USING btree (endpoint_id, queuing_order);
CREATE INDEX retained_message_by_queue ON ssb.retained_message USING btree (queue_id, priority DESC, queuing_order);
CREATE UNIQUE INDEX role_member_by_name ON ssb.role_member USING btree (database_id, lower(role), lower(member));
CREATE INDEX rotation_by_state ON ssb.rotation USING btree (state);
CREATE INDEX service_by_queue ON ssb.service USING btree (queue_id);
CREATE INDEX transmission_by_endpoint ON ssb.transmission USING btree (endpoint_id, transmission_id);
CREATE INDEX transmission_by_service ON ssb.transmission USING btree (to_service, endpoint_id);
ALTER TABLE ONLY ssb.broker_priority ADD CONSTRAINT broker_priority_contract_id_fkey FOREIGN KEY (contract_id)
    REFERENCES ssb.contract(contract_id);
ALTER TABLE ONLY ssb.broker_priority ADD CONSTRAINT broker_priority_database_id_fkey FOREIGN KEY (database_id)
    REFERENCES ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.broker_priority ADD CONSTRAINT broker_priority_service_id_fkey FOREIGN KEY (service_id)
    REFERENCES ssb.service(service_id);
ALTER TABLE ONLY ssb.certificate ADD CONSTRAINT certificate_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.contract ADD CONSTRAINT contract_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.contract_message_usage ADD CONSTRAINT contract_message_usage_contract_id_fkey FOREIGN KEY
    (contract_id) REFERENCES ssb.contract(contract_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.contract_message_usage ADD CONSTRAINT contract_message_usage_message_type_id_fkey FOREIGN KEY
    (message_type_id) REFERENCES ssb.message_type(message_type_id);
ALTER TABLE ONLY ssb.ddl_trigger ADD CONSTRAINT ddl_trigger_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.event_notification ADD CONSTRAINT event_notification_database_id_fkey FOREIGN KEY (database_id)
    REFERENCES ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.event_notification ADD CONSTRAINT event_notification_queue_id_fkey FOREIGN KEY (queue_id)
    REFERENCES ssb.queue(queue_id);
ALTER TABLE ONLY ssb.extended_property ADD CONSTRAINT extended_property_database_id_fkey FOREIGN KEY (database_id)
    REFERENCES ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.message_type ADD CONSTRAINT message_type_collection_id_fkey FOREIGN KEY (collection_id)
    REFERENCES ssb.xml_schema_collection(collection_id);
ALTER TABLE ONLY ssb.message_type ADD CONSTRAINT message_type_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.permission ADD CONSTRAINT permission_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.principal ADD CONSTRAINT principal_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.queue ADD CONSTRAINT queue_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.remote_service_binding ADD CONSTRAINT remote_service_binding_database_id_fkey FOREIGN KEY
    (database_id) REFERENCES ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.role_member ADD CONSTRAINT role_member_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.route ADD CONSTRAINT route_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.schema_of_database ADD CONSTRAINT schema_of_database_database_id_fkey FOREIGN KEY (database_id)
    REFERENCES ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.service_contract_usage ADD CONSTRAINT service_contract_usage_contract_id_fkey FOREIGN KEY
    (contract_id) REFERENCES ssb.contract(contract_id);
ALTER TABLE ONLY ssb.service_contract_usage ADD CONSTRAINT service_contract_usage_service_id_fkey FOREIGN KEY
    (service_id) REFERENCES ssb.service(service_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.service ADD CONSTRAINT service_database_id_fkey FOREIGN KEY (database_id) REFERENCES
    ssb.database(database_id) ON DELETE CASCADE;
ALTER TABLE ONLY ssb.service ADD CONSTRAINT service_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES
    ssb.queue(queue_id);
ALTER TABLE ONLY ssb.xml_schema_collection ADD CONSTRAINT xml_schema_collection_database_id_fkey FOREIGN KEY
    (database_id) REFERENCES ssb.database(database_id) ON DELETE CASCADE;
