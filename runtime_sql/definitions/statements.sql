-- The statements that define, change and drop Service Broker's objects, as callers see them. Each is done by the
-- function of the same name in ssb_internal, with the runtime owner's rights, for a caller that may. What DDL
-- triggers it fires then run here, with the rights of the caller alone (activation/ddl_triggers.sql). Who calls the
-- inner function himself gets no further: what it told of is settled before COMMIT, or the transaction fails.
--
-- Called by  compiled scripts, applications
-- Locks      as the inner functions

-- ------------------------------------------------------------------ Message types

CREATE OR REPLACE FUNCTION ssb.create_message_type(name text, validation text DEFAULT 'NONE', schema_collection text DEFAULT NULL,
    owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_message_type(name, validation, schema_collection, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_message_type(name text, validation text, schema_collection text DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_message_type(name, validation, schema_collection, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_message_type(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_message_type(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Contracts

CREATE OR REPLACE FUNCTION ssb.create_contract(name text, message_types text[], sent_by text[], owner text DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_contract(name, message_types, sent_by, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_contract(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_contract(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Queues

CREATE OR REPLACE FUNCTION ssb.create_queue(queue text, status boolean DEFAULT NULL, retention boolean DEFAULT NULL,
    activation_status boolean DEFAULT NULL, activation_procedure text DEFAULT NULL, max_queue_readers integer DEFAULT NULL,
    execute_as text DEFAULT NULL, poison_message_handling boolean DEFAULT NULL, max_rollbacks integer DEFAULT NULL,
    quarantine boolean DEFAULT NULL, external_program text DEFAULT NULL, spelling text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_queue(queue, status, retention, activation_status, activation_procedure, max_queue_readers, execute_as,
        poison_message_handling, max_rollbacks, quarantine, external_program, spelling);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_queue(queue text, status boolean DEFAULT NULL, retention boolean DEFAULT NULL,
    activation_status boolean DEFAULT NULL, activation_procedure text DEFAULT NULL, max_queue_readers integer DEFAULT NULL,
    execute_as text DEFAULT NULL, drop_activation boolean DEFAULT false, poison_message_handling boolean DEFAULT NULL,
    max_rollbacks integer DEFAULT NULL, quarantine boolean DEFAULT NULL, external_program text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_queue(queue, status, retention, activation_status, activation_procedure, max_queue_readers, execute_as,
        drop_activation, poison_message_handling, max_rollbacks, quarantine, external_program);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_queue(queue text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_queue(queue);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Services

CREATE OR REPLACE FUNCTION ssb.create_service(name text, queue text, contracts text[] DEFAULT '{}', owner text DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_service(name, queue, contracts, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_service(name text, queue text DEFAULT NULL, add_contracts text[] DEFAULT '{}',
    drop_contracts text[] DEFAULT '{}', database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_service(name, queue, add_contracts, drop_contracts, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_service(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_service(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Routes and remote service bindings

CREATE OR REPLACE FUNCTION ssb.create_route(name text, address text, service_name text DEFAULT NULL, broker_instance text DEFAULT NULL,
    lifetime integer DEFAULT NULL, mirror_address text DEFAULT NULL, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_route(name, address, service_name, broker_instance, lifetime, mirror_address, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_route(name text, address text DEFAULT NULL, service_name text DEFAULT NULL,
    broker_instance text DEFAULT NULL, lifetime integer DEFAULT NULL, mirror_address text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_route(name, address, service_name, broker_instance, lifetime, mirror_address, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_route(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_route(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.create_remote_service_binding(name text, to_service text, user_name text, anonymous boolean DEFAULT false,
    owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_remote_service_binding(name, to_service, user_name, anonymous, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_remote_service_binding(name text, user_name text DEFAULT NULL, anonymous boolean DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_remote_service_binding(name, user_name, anonymous, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_remote_service_binding(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_remote_service_binding(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Broker priorities

CREATE OR REPLACE FUNCTION ssb.create_broker_priority(name text, contract text DEFAULT NULL, local_service text DEFAULT NULL,
    remote_service text DEFAULT NULL, priority_level integer DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_broker_priority(name, contract, local_service, remote_service, priority_level, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_broker_priority(name text, contract text DEFAULT NULL, local_service text DEFAULT NULL,
    remote_service text DEFAULT NULL, priority_level integer DEFAULT NULL, any_contract boolean DEFAULT false,
    any_local_service boolean DEFAULT false, any_remote_service boolean DEFAULT false, default_level boolean DEFAULT false,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_broker_priority(name, contract, local_service, remote_service, priority_level, any_contract,
        any_local_service, any_remote_service, default_level, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_broker_priority(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_broker_priority(name, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Event notifications

CREATE OR REPLACE FUNCTION ssb.create_event_notification(name text, events text[], scope text, to_service text, broker_instance text,
    queue text DEFAULT NULL, fan_in boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_event_notification(name, events, scope, to_service, broker_instance, queue, fan_in, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_event_notification(name text, scope text, queue text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_event_notification(name, scope, queue, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Databases and schemas

CREATE OR REPLACE FUNCTION ssb.ensure_schema(name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.ensure_schema(name);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.create_database(name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_database(name);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_database(name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_database(name, if_exists);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.alter_database(name text, option text, value text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_database(name, option, value);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.create_schema(name text, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.create_schema(name, owner, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.drop_schema(name text, if_exists boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.drop_schema(name, if_exists, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Users

CREATE OR REPLACE FUNCTION ssb.alter_principal(name text, kind text, new_name text DEFAULT NULL, default_schema text DEFAULT NULL,
    login text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_principal(name, kind, new_name, default_schema, login, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- ------------------------------------------------------------------ Owners

CREATE OR REPLACE FUNCTION ssb.alter_authorization(class text, name text, principal text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.alter_authorization(class, name, principal, database);
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;
