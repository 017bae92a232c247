-- Dynamic routing. Where no route names a dialog's service, or no binding does, a service of the application's is asked:
-- SQL/ServiceBroker/BrokerConfiguration, if the database has a route to that. It gets a MissingRoute or
-- MissingRemoteServiceBinding message, one for a service at a time, makes the route or binding, and ends the
-- conversation. Until then the messages wait. What it has answered is remembered for 10 minutes.
--
-- Not asked is for services that are here, to which a LOCAL route for all names leads: nothing would wait but dialogs
-- that need no answer. (In SQL Server that route counts after the question.)
--
-- Called by  ssb_internal.forward_to_remote asks whether to wait; the daemon, which alone begins the conversations

CREATE OR REPLACE FUNCTION ssb_internal.has_notice_route(p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.route AS r
                    WHERE r.database_id = p_database_id AND r.service_name = 'SQL/ServiceBroker/BrokerConfiguration'
                      AND coalesce(r.expires_at, 'infinity') > clock_timestamp());
END;
$$;

-- Whether a question would be new, or is open: p_kind is MissingRoute or MissingRemoteServiceBinding.
CREATE OR REPLACE FUNCTION ssb_internal.awaits_notice(p_database_id integer, p_kind text, p_service text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_service <> 'SQL/ServiceBroker/BrokerConfiguration' AND ssb_internal.has_notice_route(p_database_id)
       AND NOT EXISTS (SELECT FROM ssb.configuration_notice AS n
                        WHERE n.database_id = p_database_id AND n.kind = p_kind AND n.service_name = p_service
                          AND n.answered_at > clock_timestamp() - interval '10 minutes');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.awaits_route(p_database_id integer, p_service text, p_instance text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
BEGIN
    RETURN ssb_internal.awaits_notice(p_database_id, 'MissingRoute', p_service)
       AND NOT EXISTS (SELECT FROM ssb.route AS r
                        WHERE r.database_id = p_database_id AND coalesce(r.expires_at, 'infinity') > clock_timestamp()
                          AND CASE WHEN r.service_name IS NULL
                                   THEN upper(r.address COLLATE "C") = 'LOCAL'
                                        AND EXISTS (SELECT FROM ssb.service AS s JOIN ssb.database AS d ON d.database_id = s.database_id
                                                     WHERE s.name = p_service
                                                       AND (p_instance IS NULL OR d.service_broker_guid::text = lower(p_instance)))
                                   ELSE r.service_name = p_service
                                        AND (r.broker_instance IS NULL OR p_instance IS NULL
                                             OR lower(r.broker_instance) = lower(p_instance)) END);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.status_without_notice(p_kind text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN format('The conversation is delayed: the Broker Configuration Notice service is asked for a %s.',
                  CASE p_kind WHEN 'MissingRoute' THEN 'route' ELSE 'remote service binding' END);
END;
$$;

-- Asks, unless that is done.
CREATE OR REPLACE FUNCTION ssb_internal.send_notice(p_database_id integer, p_kind text, p_service text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_contract constant text := 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice';
    v_notice ssb.configuration_notice;
    v_endpoint ssb.conversation_endpoint;
BEGIN
    SELECT n.* INTO v_notice FROM ssb.configuration_notice AS n
     WHERE n.database_id = p_database_id AND n.kind = p_kind AND n.service_name = p_service;
    IF FOUND AND v_notice.answered_at IS NULL THEN
        SELECT e.* INTO v_endpoint FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = v_notice.endpoint_id;
        IF coalesce(ssb_internal.endpoint_state(v_endpoint), '') NOT IN ('SO', 'CO') THEN
            -- Nobody can answer any more: refused (another contract), or cleaned up.
            PERFORM ssb_internal.note_notice_answered(v_notice.endpoint_id);
            IF v_endpoint.is_error AND ssb_internal.try_lock_endpoint(v_endpoint.endpoint_id) THEN
                PERFORM ssb_internal.remove_endpoint(v_endpoint);
            END IF;
        END IF;
        RETURN;
    END IF;
    v_endpoint := ssb_internal.make_endpoint(true, gen_random_uuid(),
        ROW(0, p_database_id, 'SQL/ServiceBroker/BrokerConfiguration', 0, 'dbo')::ssb.service, 1, v_contract,
        'SQL/ServiceBroker/BrokerConfiguration', NULL, NULL, NULL, NULL, false, true, NULL);
    INSERT INTO ssb.configuration_notice AS n (database_id, kind, service_name, endpoint_id)
    VALUES (p_database_id, p_kind, p_service, v_endpoint.endpoint_id)
    ON CONFLICT (database_id, kind, service_name) DO UPDATE
       SET endpoint_id = excluded.endpoint_id, asked_at = clock_timestamp(), answered_at = NULL;
    PERFORM ssb_internal.deliver_or_keep(v_endpoint, v_contract || '/' || p_kind, 0, false, false,
        ssb_internal.xml_bytes(format('<%1$s xmlns="%2$s/%1$s"><SERVICE_NAME>%3$s</SERVICE_NAME></%1$s>', p_kind, v_contract,
                                      ssb_internal.xml_text(p_service))));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.send_notice(integer, text, text) FROM PUBLIC;

-- The conversation has ended, with an error or without: the daemon looks at once.
CREATE OR REPLACE FUNCTION ssb_internal.note_notice_answered(p_endpoint_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_notice ssb.configuration_notice;
BEGIN
    UPDATE ssb.configuration_notice AS n SET answered_at = clock_timestamp()
     WHERE n.endpoint_id = p_endpoint_id AND n.answered_at IS NULL
    RETURNING n.* INTO v_notice;
    IF v_notice.kind = 'MissingRoute' THEN
        PERFORM ssb_internal.announce_departure();
    ELSIF v_notice.kind IS NOT NULL THEN
        PERFORM ssb_internal.retry_secured();
    END IF;
END;
$$;

-- For the daemon, at each look: asks for routes that are missing, and looks again after those dialogs that have waited for
-- an answer.
-- Locks  their groups, where nobody holds them
CREATE OR REPLACE FUNCTION ssb_internal.request_routes()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_waiting record;
    v_endpoint_id bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.route AS r WHERE r.service_name = 'SQL/ServiceBroker/BrokerConfiguration') THEN
        RETURN;
    END IF;
    FOR v_waiting IN
        SELECT w.*, ssb_internal.awaits_route(w.database_id, w.far_service, w.instance) AS awaits
          FROM (SELECT e.database_id, e.far_service, coalesce(e.far_broker_instance, r.far_instance) AS instance,
                       t.transmission_status = ssb_internal.status_without_notice('MissingRoute') AS is_delayed,
                       array_agg(DISTINCT e.endpoint_id ORDER BY e.endpoint_id) AS endpoints
                  FROM ssb.transmission AS t
                  JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = t.endpoint_id AND e.far_endpoint_id IS NULL
                  LEFT JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
                 WHERE r.address IS NULL AND ssb_internal.has_notice_route(e.database_id)
                 GROUP BY 1, 2, 3, 4) AS w
         ORDER BY w.database_id, w.far_service
    LOOP
        IF v_waiting.awaits THEN
            PERFORM ssb_internal.send_notice(v_waiting.database_id, 'MissingRoute', v_waiting.far_service);
        END IF;
        IF v_waiting.awaits <> v_waiting.is_delayed THEN
            FOREACH v_endpoint_id IN ARRAY v_waiting.endpoints LOOP
                IF ssb_internal.try_lock_endpoint(v_endpoint_id) THEN
                    PERFORM ssb_internal.deliver_waiting(v_endpoint_id);
                END IF;
            END LOOP;
        END IF;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.request_routes() FROM PUBLIC;
