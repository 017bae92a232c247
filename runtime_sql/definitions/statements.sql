-- The statements that define, change and drop Service Broker's objects, as callers see them. Each is done by the
-- function of the same name and arguments in ssb_internal, with the runtime owner's rights, for a caller that may.
-- What DDL triggers it fires then run here, with the rights of the caller alone (activation/ddl_triggers.sql). Who
-- calls the inner function himself gets no further: what it told of is settled before COMMIT, or the transaction fails.
--
-- Called by  compiled scripts, applications
-- Locks      as the inner functions
DO $make$
DECLARE
    v_name name;
    v_arguments text;
    v_passed text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY[
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
        'alter_authorization'
    ]::name[] LOOP
        SELECT pg_catalog.pg_get_function_arguments(p.oid),
               (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.name), ', ' ORDER BY a.number)
                  FROM ROWS FROM (pg_catalog.unnest(p.proargnames)) WITH ORDINALITY AS a (name, number))
          INTO STRICT v_arguments, v_passed
          FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace = 'ssb_internal'::pg_catalog.regnamespace AND p.proname = v_name;
        EXECUTE format($statement$
            CREATE OR REPLACE FUNCTION ssb.%I(%s)
            RETURNS void
            LANGUAGE plpgsql
            SET search_path = pg_catalog, pg_temp
            AS $body$
            #variable_conflict use_variable
            BEGIN
                PERFORM ssb_internal.%I(%s);
                PERFORM ssb_internal.fire_ddl_triggers();
            END;
            $body$
            $statement$, v_name, v_arguments, v_name, v_passed);
    END LOOP;
END;
$make$;
