-- Checks 5xx: what cannot be delivered, routes, endpoints, certificates. Called by ssb.diagnose.

-- Whether this status tells why a message waits. One that waits for an earlier message has no reason of its own.
CREATE OR REPLACE FUNCTION ssb_internal.is_a_reason(p_transmission_status text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_transmission_status OPERATOR(pg_catalog.<>) ALL ('{"",Earlier messages of this conversation are waiting.}'::pg_catalog.text[]);
$$;

-- By T-SQL database, the open dialogs with other instances that were begun before the database came to where it lives now: in another
-- history of the server, or on another one. Those that ERROR_BROKER_CONVERSATIONS has failed are open no more. Of very many some are counted.
CREATE OR REPLACE FUNCTION ssb_internal.restored_dialogs()
RETURNS TABLE (database_id integer, dialogs bigint, since timestamptz)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_since timestamptz := (SELECT CASE WHEN v.lineage <> ssb_internal.lineage() THEN clock_timestamp() ELSE v.lineage_since END
                              FROM ssb.runtime_version AS v);
BEGIN
    IF v_since IS NOT NULL THEN
        RETURN QUERY
        SELECT e.database_id, count(*), v_since
          FROM (SELECT r.endpoint_id FROM ssb.remote_conversation AS r
                 WHERE r.far_outcome IS NULL AND (r.is_under_way OR r.next_number > 0) LIMIT 100000) AS r
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
         WHERE e.closed_at IS NULL AND NOT e.is_error AND e.started_at < v_since
         GROUP BY e.database_id;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.restored_dialogs() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.check_transport(p_limits jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    (SELECT 501, t.to_service, format('%s, the first since %s: %s', ssb_internal.counted(count(*), 'message'),
                                      to_char(min(t.enqueued_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), t.transmission_status),
            CASE WHEN t.transmission_status ~ '^(The target service name could not be found|No route matches the destination)'
                 THEN ssb_internal.use_of(t.database_id) || format('CREATE ROUTE %s WITH SERVICE_NAME = %s, ADDRESS = ''TCP://host:4022'';', ssb_internal.in_brackets('To ' || t.to_service),
                             ssb_internal.in_quotes(t.to_service))
                 WHEN t.transmission_status LIKE 'You do not have permission to access the service%'
                 -- That of this instance, where it is here.
                 THEN ssb_internal.use_of((SELECT min(s.database_id) FROM ssb.service AS s WHERE s.name = t.to_service))
                      || format('GRANT SEND ON SERVICE::%s TO PUBLIC;', ssb_internal.in_brackets(t.to_service))
                 ELSE ssb_internal.use_in_psql(t.database_id)
                      || format('SELECT * FROM sys.transmission_queue WHERE to_service_name = %L;', t.to_service) END,
            CASE WHEN t.transmission_status ~ '^(The target service name could not be found|No route matches the destination)'
                   OR t.transmission_status LIKE 'You do not have permission to access the service%' THEN 'pgsb shell' ELSE 'psql' END
       FROM ssb_internal.transmissions_to_report() AS t
      CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
      WHERE ssb_internal.is_a_reason(t.transmission_status) AND t.enqueued_at < clock_timestamp() - l.waiting
      GROUP BY t.database_id, t.to_service, t.transmission_status ORDER BY count(*) DESC LIMIT 20)
    UNION ALL
    SELECT 502, 'endpoint', format('%s with an address: %s', ssb_internal.counted(count(*), 'route'), string_agg(r.name, ', ' ORDER BY r.name)),
           coalesce((SELECT format('ALTER ENDPOINT %s STATE = STARTED;', ssb_internal.in_brackets(e.name)) FROM ssb.broker_endpoint AS e LIMIT 1),
                    'CREATE ENDPOINT Broker STATE = STARTED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS);'),
           'pgsb shell'
      FROM ssb.route AS r
     WHERE upper(r.address COLLATE "C") <> 'LOCAL' AND NOT ssb_internal.has_started_endpoint()
    HAVING count(*) > 0
    UNION ALL
    SELECT 503, r.name, format('its lifetime %s at %s', CASE WHEN r.expires_at > clock_timestamp() THEN 'ends' ELSE 'ended' END,
                               to_char(r.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           ssb_internal.use_of(r.database_id) || format('ALTER ROUTE %s WITH LIFETIME = 31536000;', ssb_internal.in_brackets(r.name)), 'pgsb shell'
      FROM ssb.route AS r CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l WHERE r.expires_at < clock_timestamp() + l.expiry
    UNION ALL
    SELECT CASE WHEN c.expiry_date < now() AT TIME ZONE 'UTC' THEN 504 ELSE 505 END, c.name,
           format('valid until %s', to_char(c.expiry_date, 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           ssb_internal.use_of(c.database_id) || format(CASE c.encryption WHEN 'NA' THEN 'CREATE CERTIFICATE %s AUTHORIZATION %s FROM FILE = %s;'
                       ELSE 'CREATE CERTIFICATE %s AUTHORIZATION %s WITH SUBJECT = %s;' END,
                  ssb_internal.in_brackets(c.name || ' ' || date_part('year', now())), ssb_internal.in_brackets(c.owner),
                  ssb_internal.in_quotes(CASE c.encryption WHEN 'NA' THEN 'the other side''s new one.cer' ELSE coalesce(c.subject, c.name) END)),
           'pgsb shell'
      FROM ssb.certificate AS c CROSS JOIN ssb_internal.diagnosis_limits(p_limits) AS l
     WHERE c.expiry_date < now() AT TIME ZONE 'UTC' + l.expiry
       -- Of several of a user the one that expires last serves.
       AND NOT EXISTS (SELECT FROM ssb.certificate AS o
                        WHERE o.database_id = c.database_id AND ssb_internal.same_principal(o.owner, c.owner)
                          AND (o.encryption = 'NA') = (c.encryption = 'NA')
                          AND o.start_date <= now() AT TIME ZONE 'UTC' AND o.expiry_date > c.expiry_date)
    UNION ALL
    SELECT 506, b.name, format('user %s', b.user_name),
           ssb_internal.use_of(b.database_id) || format('CREATE USER %s WITHOUT LOGIN;', ssb_internal.in_brackets(b.user_name)), 'pgsb shell'
      FROM ssb.remote_service_binding AS b
     WHERE NOT ssb_internal.is_fixed_principal(b.user_name) AND ssb_internal.role_of(b.user_name) IS NULL
       AND NOT EXISTS (SELECT FROM ssb.principal AS p
                        WHERE lower(p.name) = lower(b.user_name) AND coalesce(p.database_id, b.database_id) = b.database_id)
    UNION ALL
    SELECT 507, m.address,
           format('%s%s: %s', CASE WHEN m.is_part THEN 'at least ' END, ssb_internal.counted(m.failing, 'message'), m.status),
           ssb_internal.use_in_psql((SELECT x.database_id FROM ssb.transmission AS x WHERE x.transmission_status = m.status LIMIT 1))
           || format('SELECT * FROM sys.transmission_queue WHERE transmission_status = %L;', m.status), 'psql'
      FROM (SELECT x.*, sum(x.waiting) OVER () >= 100000 AS is_part FROM ssb_internal.transport_measures() AS x) AS m
     WHERE m.address IS NOT NULL AND m.failing > 0
    UNION ALL
    SELECT 508, f.object, f.detail, f.remedy, f.run_with FROM ssb_internal.transport_security_faults() AS f
    UNION ALL
    SELECT 509, ssb_internal.database_name(d.database_id),
           format('%s begun before, it was found out at %s', ssb_internal.counted(d.dialogs, 'dialog'),
                  to_char(d.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('ALTER DATABASE %s SET ERROR_BROKER_CONVERSATIONS;', ssb_internal.in_brackets(ssb_internal.database_name(d.database_id))), 'pgsb shell'
      FROM ssb_internal.restored_dialogs() AS d
    UNION ALL
    -- Alone it harms nobody: databases share neither messages nor services.
    SELECT 124, ssb_internal.database_name(d.database_id), format('service_broker_guid is that of database %s of this server', o.datname),
           format('ALTER DATABASE %s SET NEW_BROKER;  -- its dialogs end without a word to the far side',
                  ssb_internal.in_brackets(ssb_internal.database_name(d.database_id))), 'pgsb shell'
      FROM ssb.database AS d
     CROSS JOIN ssb_internal.database_identity() AS here
      JOIN pg_database AS o ON d.guid_made_in = split_part(here, '/', 1) || '/' || o.oid AND d.guid_made_in <> here
     WHERE d.database_id > 4
       AND (EXISTS (SELECT FROM ssb.route AS r WHERE upper(r.address COLLATE "C") <> 'LOCAL') OR EXISTS (SELECT FROM ssb.broker_endpoint))
    UNION ALL
    SELECT 510, t.to_service, format('%s waiting: %s', ssb_internal.counted(count(*), 'message'), min(t.transmission_status)),
           ssb_internal.use_in_psql(min(t.database_id)) || format('SELECT * FROM sys.transmission_queue WHERE to_service_name = %L;', t.to_service), 'psql'
      FROM (SELECT x.endpoint_id, x.database_id, x.to_service, x.transmission_status,
                   substring(x.transmission_status FROM '^Message number (\d{1,18}) of this conversation has not come')::bigint AS wanted
              FROM ssb_internal.transmissions_to_report() AS x) AS t
      JOIN ssb.remote_conversation AS r ON r.endpoint_id = t.endpoint_id
     WHERE t.wanted < r.acknowledged GROUP BY t.to_service;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_transport(jsonb) FROM PUBLIC;
