-- EVENT NOTIFICATION: events as messages to a service.
--
-- Events that exist here: QUEUE_ACTIVATION and BROKER_QUEUE_DISABLED on a queue, and
-- CREATE, ALTER and DROP of objects (activation/definition_events.sql).
-- Others are recorded and never fire, which is said. Of SQL Trace's events about
-- Service Broker, BROKER_QUEUE_DISABLED alone can be had as a notification.

CREATE OR REPLACE FUNCTION ssb_internal.create_event_notification(name text, events text[], scope text, to_service text,
    broker_instance text, queue text DEFAULT NULL, fan_in boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_scope text := upper(scope COLLATE "C");
    v_database_id integer := ssb_internal.database_id_of(database);
    v_queue ssb.queue;
    v_events text[] := (SELECT array_agg(upper(e COLLATE "C")) FROM unnest(events) AS e);
    v_instance uuid;
BEGIN
    PERFORM ssb_internal.check_name(name);
    IF to_service IS NULL OR broker_instance IS NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.', 16, 1, 'Give the service, and ''current database'' or its broker instance.');
    ELSIF v_events IS NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.', 16, 1, 'Give the events, or groups of events.');
    END IF;
    PERFORM ssb_internal.check_remote_service(to_service);
    PERFORM ssb_internal.check_event_names(v_events, false);
    IF v_scope IS NULL OR v_scope NOT IN ('SERVER', 'DATABASE', 'QUEUE') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', coalesce(scope, 'NULL')), 15, 1,
                                         'An event notification is on SERVER, DATABASE or QUEUE.');
    END IF;
    IF v_scope = 'QUEUE' THEN
        v_queue := ssb_internal.queue_to_change('find', queue);
        v_database_id := v_queue.database_id;
        IF EXISTS (SELECT FROM unnest(v_events) AS e WHERE e NOT IN ('QUEUE_ACTIVATION', 'BROKER_QUEUE_DISABLED')) THEN
            PERFORM ssb_internal.raise_error(1098, 'The specified event type(s) is/are not valid on the specified target object.', 15, 1,
                                             'Events of a queue are QUEUE_ACTIVATION and BROKER_QUEUE_DISABLED.');
        ELSIF 'QUEUE_ACTIVATION' = ANY (v_events)
              AND v_queue.is_activation_enabled THEN
            PERFORM ssb_internal.raise_error(9718, format('Cannot create event notification for queue_activation on queue "%s". '
                'Stored procedure activation is already configured on this queue.', v_queue.spelling));
        END IF;
    ELSIF 'QUEUE_ACTIVATION' = ANY (v_events) THEN
        PERFORM ssb_internal.raise_error(1098, 'The specified event type(s) is/are not valid on the specified target object.', 15, 1,
                                         'QUEUE_ACTIVATION is an event of a queue.');
    ELSE
        PERFORM ssb_internal.check_event_scope(v_events, v_scope);
        PERFORM ssb_internal.require_definition_right('CREATE DATABASE DDL EVENT NOTIFICATION', v_database_id);
        PERFORM ssb_internal.watch_definitions(format('the event notification "%s"', name), v_events);
    END IF;
    IF lower(broker_instance COLLATE "C") = 'current database' THEN
        SELECT d.service_broker_guid INTO v_instance FROM ssb.database AS d WHERE d.database_id = v_database_id;
    ELSE
        BEGIN
            v_instance := broker_instance::uuid;
        EXCEPTION WHEN invalid_text_representation THEN
            PERFORM ssb_internal.raise_error(1093, format('"%s" is not a valid broker name.', broker_instance));
        END;
    END IF;
    INSERT INTO ssb.event_notification (database_id, name, scope, queue_id, events, to_service, broker_instance, fan_in, owner)
    VALUES (v_database_id, name, v_scope, v_queue.queue_id, v_events, to_service, v_instance, coalesce(fan_in, false), ssb_internal.caller())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_exists('event notification', name);
    ELSIF v_queue.queue_id IS NOT NULL THEN
        PERFORM ssb_internal.refresh_queue(v_queue.queue_id);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_event_notification(name text, scope text, queue text DEFAULT NULL,
                                                       database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_scope text := upper(scope COLLATE "C");
    v_database_id integer := ssb_internal.database_id_of(database);
    v_queue ssb.queue;
    v_conversation uuid;
BEGIN
    IF v_scope = 'QUEUE' THEN
        v_queue := ssb_internal.queue_to_change('find', queue);
    ELSE
        PERFORM ssb_internal.require_definition_right('CREATE DATABASE DDL EVENT NOTIFICATION', v_database_id);
    END IF;
    DELETE FROM ssb.event_notification AS n
     WHERE n.scope = v_scope AND lower(n.name) = lower(name)
       AND CASE v_scope WHEN 'QUEUE' THEN n.queue_id = v_queue.queue_id
                        WHEN 'DATABASE' THEN n.database_id = v_database_id ELSE true END
    RETURNING n.conversation INTO v_conversation;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found('drop', 'event notification', name);
    END IF;
    PERFORM ssb_internal.end_notification(v_conversation);
    IF v_queue.queue_id IS NOT NULL THEN
        PERFORM ssb_internal.refresh_queue(v_queue.queue_id);
    END IF;
END;
$$;

-- A notification is dropped: its dialog ends, and the service that had the events gets
-- EndDialog.
-- Locks  the sending side's group
CREATE OR REPLACE FUNCTION ssb_internal.end_notification(p_handle uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint := ssb_internal.lock_endpoint(p_handle);
    v_state text := ssb_internal.endpoint_state(v_endpoint);
    v_is_known boolean := true;
BEGIN
    IF v_endpoint.endpoint_id IS NULL OR v_state IS NULL OR v_state NOT IN ('SO', 'CO') THEN
        RETURN;
    ELSIF v_state = 'CO' THEN
        v_is_known := ssb_internal.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                                                   ssb_internal.next_number(v_endpoint), true, false, NULL);
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_endpoint.endpoint_id;
    END IF;
    PERFORM ssb_internal.close_endpoint(v_endpoint, v_is_known, false);
END;
$$;

-- One side of a notification's dialog ends it: the notification is dropped.
CREATE OR REPLACE FUNCTION ssb_internal.drop_notification_of(p_handle uuid, p_far_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue_id integer;
BEGIN
    -- No DDL statement drops it: nobody is told (ssb_internal.announce_definition_event).
    UPDATE ssb.event_notification AS n SET events = '{}'
     WHERE n.conversation = p_handle
        OR n.conversation = (SELECT f.conversation_handle FROM ssb.conversation_endpoint AS f
                              WHERE f.endpoint_id = p_far_endpoint_id);
    FOR v_queue_id IN
        DELETE FROM ssb.event_notification AS n
         WHERE n.conversation = p_handle
            OR n.conversation = (SELECT f.conversation_handle FROM ssb.conversation_endpoint AS f
                                  WHERE f.endpoint_id = p_far_endpoint_id)
        RETURNING n.queue_id
    LOOP
        PERFORM ssb_internal.refresh_queue(v_queue_id);
    END LOOP;
END;
$$;

-- The dialog has failed: the service does not take events, or has been dropped. The notification goes, and with it this
-- side, which nobody would ever end. True where it was so.
-- Locks  the caller holds the side's group
CREATE OR REPLACE FUNCTION ssb_internal.drop_broken_notification(p_endpoint_id bigint)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint ssb.conversation_endpoint;
    v_name text;
BEGIN
    SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e
     WHERE e.endpoint_id = p_endpoint_id AND e.is_system AND e.is_initiator AND e.is_error AND e.closed_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT n.name INTO v_name FROM ssb.event_notification AS n WHERE n.conversation = v_endpoint.conversation_handle;
    IF FOUND THEN
        RAISE LOG 'the event notification "%" is dropped: its dialog with service "%" has failed', v_name, v_endpoint.far_service;
        PERFORM ssb_internal.drop_notification_of(v_endpoint.conversation_handle, NULL);
        PERFORM ssb_internal.remove_endpoint(v_endpoint);
    END IF;
    RETURN v_name IS NOT NULL;
END;
$$;

-- Sends one event to everybody who asked for it. p_events are the event itself and the
-- groups of events that it belongs to; p_queue_id is NULL where no queue has it; p_data is
-- of ssb_internal.event_instance. A notification has one
-- dialog, begun with its first event, from a system service that only sends. Of those
-- WITH FAN_IN that one owner made for one service, only the first tells it.
CREATE OR REPLACE FUNCTION ssb_internal.fire_event(p_events text[], p_database_id integer, p_queue_id integer, p_data text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_notification ssb.event_notification;
    v_endpoint ssb.conversation_endpoint;
BEGIN
    FOR v_notification IN
        SELECT n.* FROM (
            SELECT n, n.fan_in AND row_number() OVER (PARTITION BY n.fan_in, n.owner, n.to_service, n.broker_instance
                                                      ORDER BY n.notification_id) > 1 AS is_told
              FROM ssb.event_notification AS n
             WHERE p_events && n.events
               AND (n.queue_id = p_queue_id OR (n.scope = 'DATABASE' AND n.database_id = p_database_id)
                    OR n.scope = 'SERVER')) AS f
         CROSS JOIN LATERAL (SELECT (f.n).*) AS n
         WHERE NOT f.is_told
         ORDER BY n.notification_id
    LOOP
        v_endpoint := ssb_internal.lock_endpoint(v_notification.conversation);
        CONTINUE WHEN ssb_internal.drop_broken_notification(v_endpoint.endpoint_id);
        IF v_endpoint.endpoint_id IS NULL OR coalesce(ssb_internal.endpoint_state(v_endpoint), '') NOT IN ('SO', 'CO') THEN
            -- Somebody else may be beginning it.
            SELECT n.* INTO v_notification FROM ssb.event_notification AS n
             WHERE n.notification_id = v_notification.notification_id FOR NO KEY UPDATE;
            CONTINUE WHEN NOT FOUND;
            v_endpoint := ssb_internal.lock_endpoint(v_notification.conversation);
        END IF;
        IF v_endpoint.endpoint_id IS NULL OR coalesce(ssb_internal.endpoint_state(v_endpoint), '') NOT IN ('SO', 'CO') THEN
            v_endpoint := ssb_internal.make_endpoint(true, gen_random_uuid(),
                ROW(0, v_notification.database_id, 'http://schemas.microsoft.com/SQL/Notifications/EventNotificationService',
                    0, 'dbo')::ssb.service,
                8, 'http://schemas.microsoft.com/SQL/Notifications/PostEventNotification', v_notification.to_service,
                v_notification.broker_instance::text, NULL, NULL, NULL, false, true, NULL);
            UPDATE ssb.event_notification AS n SET conversation = v_endpoint.conversation_handle
             WHERE n.notification_id = v_notification.notification_id;
        END IF;
        PERFORM ssb_internal.deliver_or_keep(v_endpoint, 'http://schemas.microsoft.com/SQL/Notifications/EventNotification',
                                             ssb_internal.next_number(v_endpoint), false, false, ssb_internal.xml_bytes(p_data));
        PERFORM ssb_internal.drop_broken_notification(v_endpoint.endpoint_id);
    END LOOP;
END;
$$;

-- Characters that XML does not have are left out.
CREATE OR REPLACE FUNCTION ssb_internal.xml_text(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN replace(replace(replace(regexp_replace(p_text, '[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]', '', 'g'), '&', '&amp;'), '<', '&lt;'), '>', '&gt;');
END;
$$;

-- What an event tells, as XML: p_schema is PostgreSQL's, NULL where the object is in none; p_command is the
-- text of a definition, as PostgreSQL has it.
CREATE OR REPLACE FUNCTION ssb_internal.event_instance(p_event text, p_database_id integer, p_schema text, p_object text, p_type text,
                                                       p_command text DEFAULT NULL, p_target text DEFAULT NULL, p_target_type text DEFAULT NULL,
                                                       p_details text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN format('<EVENT_INSTANCE><EventType>%s</EventType><PostTime>%s</PostTime><SPID>%s</SPID>'
            '<ServerName>%s</ServerName><LoginName>%s</LoginName><UserName>%s</UserName><DatabaseName>%s</DatabaseName>'
            '%s<ObjectName>%s</ObjectName><ObjectType>%s</ObjectType>%s%s%s</EVENT_INSTANCE>',
            p_event, to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS'), pg_backend_pid(),
            ssb_internal.xml_text(coalesce(host(inet_server_addr()), 'localhost')), ssb_internal.xml_text(ssb_internal.spelled_principal(session_user, NULL)),
            ssb_internal.xml_text(ssb_internal.user_of_role(ssb_internal.caller(), p_database_id)),
            -- One that is dropped has no name any more.
            ssb_internal.xml_text(CASE p_type WHEN 'DATABASE' THEN p_object ELSE ssb_internal.database_name(p_database_id) END),
            '<SchemaName>' || ssb_internal.xml_text(coalesce((SELECT s.schema_name FROM ssb.schema_of_database AS s
                                                               WHERE s.name = p_schema), p_schema)) || '</SchemaName>',
            ssb_internal.xml_text(p_object), p_type,
            '<TargetObjectName>' || ssb_internal.xml_text(p_target) || '</TargetObjectName><TargetObjectType>' || p_target_type || '</TargetObjectType>', p_details,
            '<TSQLCommand><SetOptions ANSI_NULLS="ON" ANSI_NULL_DEFAULT="ON" ANSI_PADDING="ON" QUOTED_IDENTIFIER="ON" ENCRYPTED="FALSE"/>'
            '<CommandText>' || ssb_internal.xml_text(p_command) || '</CommandText></TSQLCommand>');
END;
$$;

-- The same for an event of a queue.
CREATE OR REPLACE FUNCTION ssb_internal.fire_queue_event(p_queue ssb.queue, p_event text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.fire_event(ARRAY[p_event], p_queue.database_id, p_queue.queue_id,
                                   ssb_internal.event_instance(p_event, p_queue.database_id, p_queue.schema_name, p_queue.spelling, 'QUEUE'));
END;
$$;

-- A watcher (the daemon, or anybody who LISTENs to ssb_arrival) asks to be notified
-- of the next message on a queue; awake, it takes the request back.
CREATE OR REPLACE FUNCTION ssb.watch_queue(queue text, is_asleep boolean)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue := ssb_internal.queue_of(queue);
BEGIN
    PERFORM ssb_internal.require_receive(v_queue);
    PERFORM ssb_internal.set_watcher(v_queue.state_sequence, is_asleep);
END;
$$;
