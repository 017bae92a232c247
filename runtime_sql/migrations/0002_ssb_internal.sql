-- Functions and views that are not for users stand in ssb_internal, so that \df ssb.* shows the API.
-- Whatever depends on them (views, defaults, constraints, triggers) follows: it knows them by number.
-- PL/pgSQL and SQL texts know them by name, so each text in this database that calls one is
-- rewritten: of modules that were compiled before, of functions that somebody wrote by hand, and the runtime's own,
-- which event triggers may call before the installer has replaced them.
CREATE SCHEMA ssb_internal;
GRANT USAGE ON SCHEMA ssb_internal TO PUBLIC;
DO $$
DECLARE
    v_api text[] := '{add_member, alter_authorization, alter_broker_priority, alter_certificate, alter_database, alter_endpoint,
        alter_master_key, alter_message_type, alter_principal, alter_queue, alter_remote_service_binding,
        alter_route, alter_service, alter_xml_schema_collection, begin_conversation_timer, begin_dialog,
        conversation_timeline, create_broker_priority, create_certificate, create_contract, create_database,
        create_endpoint, create_event_notification, create_master_key, create_message_type, create_principal,
        create_queue, create_remote_service_binding, create_route, create_schema, create_service,
        create_xml_schema_collection, db_name, deliver_due, deny_permission, drop_all_quarantined,
        drop_broker_priority, drop_certificate, drop_contract, drop_database, drop_endpoint,
        drop_event_notification, drop_master_key, drop_member, drop_message_type, drop_principal, drop_quarantined,
        drop_queue, drop_remote_service_binding, drop_route, drop_schema, drop_service, drop_xml_schema_collection,
        end_conversation, end_conversations, end_recycled_dialogs, ensure_schema, error_number_of,
        fail_all_quarantined, fail_quarantined, get_conversation_group, get_transmission_status, grant_permission,
        maintain_queue, message_is_waiting, move_conversation, queue_history, receive, resubmit_all_quarantined,
        resubmit_quarantined, revoke_permission, rotate_messages, send, send_batch, send_many, send_recycled,
        sqlstate_of, take_from_afar, tidy, tidy_up, use_database, wait_for_message, watch_queue}';
    v_views text[] := '{synonym, system_type, user_type, numbered_index, referential_action, visible_schema, column_default,
                       system_period, claimed_message}';
    v_call text := '\mssb\.(?!(?:' || array_to_string(v_api, '|') || ')\()(\w+\()';
    v_view text := '\mssb\.(' || array_to_string(v_views, '|') || ')\M(?!\.)';
    v_trigger name;
    v_triggers name[];
    v_name text;
    v_routine record;
BEGIN
    SELECT array_agg(t.evtname) INTO v_triggers FROM pg_catalog.pg_event_trigger AS t
     WHERE t.evtname IN ('pgsb_definitions', 'pgsb_drops') AND t.evtenabled = 'O';
    FOREACH v_trigger IN ARRAY coalesce(v_triggers, '{}') LOOP
        EXECUTE format('ALTER EVENT TRIGGER %I DISABLE', v_trigger);
    END LOOP;
    FOR v_name IN
        SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace = 'ssb'::regnamespace
           AND p.proname::text <> ALL (v_api)
    LOOP
        EXECUTE format('ALTER ROUTINE %s SET SCHEMA ssb_internal', v_name);
    END LOOP;
    FOREACH v_name IN ARRAY v_views LOOP
        EXECUTE format('ALTER VIEW IF EXISTS ssb.%I SET SCHEMA ssb_internal', v_name);
    END LOOP;
    FOR v_routine IN
        SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS text, p.proowner AS owner
          FROM pg_catalog.pg_proc AS p
          JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang AND l.lanname IN ('plpgsql', 'sql')
         WHERE p.prokind IN ('f', 'p') AND (p.prosrc ~ v_call OR p.prosrc ~ v_view)
    LOOP
        IF NOT pg_catalog.pg_has_role(current_user, v_routine.owner, 'USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = '42501',
                MESSAGE = format('the upgrade rewrites %s, which belongs to %s', v_routine.name, pg_get_userbyid(v_routine.owner)),
                HINT = format('Upgrade as a superuser, or GRANT %s TO %s for the time of the upgrade.',
                              quote_ident(pg_get_userbyid(v_routine.owner)), quote_ident(current_user));
        END IF;
        EXECUTE regexp_replace(regexp_replace(v_routine.text, v_call, 'ssb_internal.\1', 'g'), v_view, 'ssb_internal.\1', 'g');
    END LOOP;
    FOREACH v_trigger IN ARRAY coalesce(v_triggers, '{}') LOOP
        EXECUTE format('ALTER EVENT TRIGGER %I ENABLE', v_trigger);
    END LOOP;
END;
$$;
