-- The statements that define, change and drop Service Broker's objects, as callers see them. Each is done by the
-- function of the same name and arguments in ssb_internal, with the runtime owner's rights, for a caller that may.
-- What DDL triggers it fires then run here, with the rights of the caller alone (activation/ddl_triggers.sql). Who
-- calls the inner function himself gets no further: what it told of is settled before COMMIT, or the transaction fails.
--
-- Called by  compiled scripts, applications
-- Locks      as the inner functions

-- Called by  this file, definitions/xml_schema_collections.sql
CREATE OR REPLACE FUNCTION ssb_internal.make_statement(p_name name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $make$
DECLARE
    v_arguments text;
    v_passed text;
BEGIN
    SELECT pg_get_function_arguments(p.oid),
           (SELECT string_agg(quote_ident(a.name), ', ' ORDER BY a.number)
              FROM ROWS FROM (unnest(p.proargnames)) WITH ORDINALITY AS a (name, number))
      INTO STRICT v_arguments, v_passed
      FROM pg_proc AS p
     WHERE p.pronamespace = 'ssb_internal'::regnamespace AND p.proname = p_name;
    EXECUTE format($statement$
        CREATE OR REPLACE FUNCTION ssb.%I(%s)
        RETURNS void
        LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp
        AS $body$
        #variable_conflict use_variable
        BEGIN
            BEGIN
                PERFORM ssb_internal.%I(%s);
            EXCEPTION WHEN foreign_key_violation THEN
                -- What it names has gone, or what names it has come, in a transaction that was waited for. Now that is seen, and told.
                PERFORM ssb_internal.%I(%s);
            END;
            PERFORM ssb_internal.fire_ddl_triggers();
        END;
        $body$
        $statement$, p_name, v_arguments, p_name, v_passed, p_name, v_passed);
END;
$make$;
REVOKE EXECUTE ON FUNCTION ssb_internal.make_statement(name) FROM PUBLIC;

DO $make$
BEGIN
    PERFORM ssb_internal.make_statement(s.name)
      FROM pg_catalog.unnest(ARRAY[
            'create_message_type', 'alter_message_type', 'drop_message_type',
            'create_contract', 'drop_contract',
            'create_queue', 'alter_queue', 'drop_queue',
            'create_service', 'alter_service', 'drop_service',
            'create_route', 'alter_route', 'drop_route',
            'create_remote_service_binding', 'alter_remote_service_binding', 'drop_remote_service_binding',
            'create_broker_priority', 'alter_broker_priority', 'drop_broker_priority',
            'create_event_notification', 'drop_event_notification',
            'ensure_schema', 'create_database', 'drop_database', 'alter_database', 'create_schema', 'drop_schema',
            'create_principal', 'alter_principal', 'drop_principal', 'add_member', 'drop_member',
            'alter_authorization',
            'create_endpoint', 'alter_endpoint', 'drop_endpoint',
            'create_certificate', 'alter_certificate', 'drop_certificate',
            'create_master_key', 'add_master_key_encryption', 'drop_master_key_encryption', 'regenerate_master_key', 'drop_master_key'
        ]::pg_catalog.name[]) AS s (name);
END;
$make$;
