-- The catalog views of what CREATE … defined.
--
-- Of message types, contracts and services there may be thousands: their database is asked for by coalesce(…), which the planner
-- takes to hold for half of the rows, and not for one row of a table that was never analyzed.

CREATE OR REPLACE VIEW sys.service_message_types AS
SELECT t.name, t.message_type_id, ssb_internal.principal_id_of(t.owner, (SELECT ssb_internal.current_database_id())) AS principal_id, t.validation,
       CASE t.validation WHEN 'N' THEN 'BINARY' WHEN 'E' THEN 'EMPTY' ELSE 'XML' END AS validation_desc,
       t.collection_id AS xml_collection_id
  FROM ssb.message_type AS t WHERE coalesce(t.database_id = (SELECT ssb_internal.current_database_id()), true);

CREATE OR REPLACE VIEW sys.message_type_xml_schema_collection_usages AS
SELECT t.message_type_id, t.collection_id AS xml_collection_id
  FROM ssb.message_type AS t WHERE t.database_id = (SELECT ssb_internal.current_database_id()) AND t.collection_id IS NOT NULL;

CREATE OR REPLACE VIEW sys.service_contracts AS
SELECT c.name, c.contract_id AS service_contract_id, ssb_internal.principal_id_of(c.owner, (SELECT ssb_internal.current_database_id())) AS principal_id
  FROM ssb.contract AS c WHERE coalesce(c.database_id = (SELECT ssb_internal.current_database_id()), true);

CREATE OR REPLACE VIEW sys.service_contract_message_usages AS
SELECT u.contract_id AS service_contract_id, u.message_type_id, u.is_sent_by_initiator::integer::sys.bit AS is_sent_by_initiator,
       u.is_sent_by_target::integer::sys.bit AS is_sent_by_target
  FROM ssb.contract_message_usage AS u JOIN ssb.contract AS c ON c.contract_id = u.contract_id
 WHERE coalesce(c.database_id = (SELECT ssb_internal.current_database_id()), true);

-- ssb_internal.is_seen_poisoned for views of many queues. STABLE, so that nothing is looked up for who asks for other columns;
-- and by ssb_internal.last_order_seen, which keeps no lock, unless failed attempts are on record.
-- Called by  sys.service_queues
CREATE OR REPLACE FUNCTION ssb_internal.is_shown_poisoned(p_queue_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT ssb_internal.last_order_seen(q.state_sequence) >= 2 AND ssb_internal.is_seen_poisoned(q.queue_id)
                       FROM ssb.queue AS q
                      WHERE q.queue_id = p_queue_id AND q.is_poison_handling_enabled AND NOT q.is_quarantine_enabled), false);
END;
$$;

-- The queues' part of sys.objects alone: a join of it all would read every row once for each queue.
CREATE OR REPLACE VIEW sys.service_queues AS
SELECT o.*, q.max_readers::smallint AS max_readers,
       coalesce(q.activation_spelling, ssb_internal.bracketed_name(q.activation_procedure)) AS activation_procedure,
       CASE WHEN q.activation_procedure IS NULL AND q.external_program IS NULL THEN NULL
            WHEN q.execute_as IS NULL THEN -2 ELSE ssb_internal.principal_id_of(q.execute_as, q.database_id) END AS execute_as_principal_id,
       q.is_activation_enabled::integer::sys.bit AS is_activation_enabled,
       (q.is_receive_enabled AND NOT p.is_poisoned)::integer::sys.bit AS is_receive_enabled,
       (q.is_enqueue_enabled AND NOT p.is_poisoned)::integer::sys.bit AS is_enqueue_enabled,
       q.is_retention_enabled::integer::sys.bit AS is_retention_enabled,
       q.is_poison_handling_enabled::integer::sys.bit AS is_poison_message_handling_enabled,
       -- Behind SQL Server's columns our own.
       q.external_program, q.max_rollbacks, q.is_quarantine_enabled::integer::sys.bit AS is_quarantine_enabled
  FROM ssb.queue AS q JOIN ssb_internal.queue_object AS o ON o.object_id = q.queue_id
 CROSS JOIN LATERAL (SELECT ssb_internal.is_shown_poisoned(q.queue_id) AS is_poisoned OFFSET 0) AS p  -- once for both columns
UNION ALL
SELECT o.*, 0::smallint, NULL, NULL, 0::sys.bit, 1::sys.bit, 1::sys.bit, 0::sys.bit, 1::sys.bit, NULL, 5, 0::sys.bit
  FROM ssb_internal.system_queue_object AS o;

CREATE OR REPLACE VIEW sys.services AS
SELECT s.name, s.service_id, ssb_internal.principal_id_of(s.owner, s.database_id) AS principal_id, s.queue_id AS service_queue_id
  FROM ssb.service AS s WHERE coalesce(s.database_id = (SELECT ssb_internal.current_database_id()), false)
UNION ALL
SELECT s.name, s.service_id, 1, s.queue_id FROM ssb_internal.system_service AS s;

CREATE OR REPLACE VIEW sys.service_queue_usages AS
SELECT s.service_id, s.service_queue_id FROM sys.services AS s;

CREATE OR REPLACE VIEW sys.service_contract_usages AS
SELECT u.service_id, u.contract_id AS service_contract_id
  FROM ssb.service_contract_usage AS u JOIN ssb.service AS s ON s.service_id = u.service_id
 WHERE coalesce(s.database_id = (SELECT ssb_internal.current_database_id()), false)
UNION ALL
SELECT s.service_id, c.contract_id FROM ssb_internal.system_service AS s CROSS JOIN LATERAL unnest(s.contract_ids) AS c (contract_id);

CREATE OR REPLACE VIEW sys.routes AS
SELECT r.name, r.route_id, ssb_internal.principal_id_of(r.owner, r.database_id) AS principal_id, r.service_name AS remote_service_name,
       r.broker_instance, (r.expires_at AT TIME ZONE 'UTC')::timestamp(3) AS lifetime, r.address, r.mirror_address
  FROM ssb.route AS r WHERE r.database_id = (SELECT ssb_internal.current_database_id());

CREATE OR REPLACE VIEW sys.remote_service_bindings AS
SELECT b.name, b.binding_id AS remote_service_binding_id, ssb_internal.principal_id_of(b.owner, b.database_id) AS principal_id,
       b.to_service AS remote_service_name, 0 AS service_contract_id,
       ssb_internal.principal_id_of(b.user_name, b.database_id) AS remote_principal_id,
       b.is_anonymous::integer::sys.bit AS is_anonymous_on
  FROM ssb.remote_service_binding AS b WHERE b.database_id = (SELECT ssb_internal.current_database_id());

CREATE OR REPLACE VIEW sys.conversation_priorities AS
SELECT p.priority_id, p.name, p.contract_id AS service_contract_id, p.service_id AS local_service_id,
       p.remote_service AS remote_service_name, p.priority
  FROM ssb.broker_priority AS p WHERE p.database_id = (SELECT ssb_internal.current_database_id());

CREATE OR REPLACE VIEW sys.event_notifications AS
SELECT n.name, n.notification_id AS object_id,
       CASE n.scope WHEN 'SERVER' THEN 100 WHEN 'DATABASE' THEN 0 ELSE 1 END::smallint AS parent_class,
       CASE n.scope WHEN 'QUEUE' THEN 'OBJECT_OR_COLUMN' ELSE n.scope END AS parent_class_desc,
       coalesce(n.queue_id, 0) AS parent_id, n.create_date::timestamp(3) AS create_date, n.create_date::timestamp(3) AS modify_date,
       n.to_service AS service_name, upper(n.broker_instance::text) AS broker_instance,
       ssb_internal.principal_id_of(n.owner, n.database_id) AS principal_id,
       CASE WHEN n.fan_in THEN convert_to(n.owner, 'UTF8') END AS creator_sid
  FROM ssb.event_notification AS n
 WHERE n.database_id = (SELECT ssb_internal.current_database_id()) AND n.scope <> 'SERVER';

CREATE OR REPLACE VIEW sys.server_event_notifications AS
SELECT n.name, n.notification_id AS object_id, 100::smallint AS parent_class, 'SERVER'::text AS parent_class_desc, 0 AS parent_id,
       n.create_date::timestamp(3) AS create_date, n.create_date::timestamp(3) AS modify_date, n.to_service AS service_name,
       upper(n.broker_instance::text) AS broker_instance,
       CASE WHEN n.fan_in THEN convert_to(n.owner, 'UTF8') END AS creator_sid, 1 AS principal_id
  FROM ssb.event_notification AS n WHERE n.scope = 'SERVER';

CREATE OR REPLACE VIEW sys.endpoints AS
SELECT b.name, b.broker_endpoint_id AS endpoint_id, ssb_internal.principal_id_of(b.owner, 5) AS principal_id, 2::smallint AS protocol,
       'TCP'::text AS protocol_desc, 3::smallint AS type, 'SERVICE_BROKER'::text AS type_desc,
       CASE b.state WHEN 'STARTED' THEN 0 WHEN 'STOPPED' THEN 1 ELSE 2 END::smallint AS state, b.state AS state_desc,
       0::sys.bit AS is_admin_endpoint
  FROM ssb.broker_endpoint AS b;

CREATE OR REPLACE VIEW sys.tcp_endpoints AS
SELECT e.*, b.listener_port AS port, 0::sys.bit AS is_dynamic_port, b.listener_ip AS ip_address
  FROM sys.endpoints AS e JOIN ssb.broker_endpoint AS b ON b.broker_endpoint_id = e.endpoint_id;

CREATE OR REPLACE VIEW sys.service_broker_endpoints AS
SELECT e.*, b.message_forwarding::integer::sys.bit AS is_message_forwarding_enabled, b.message_forward_size AS message_forwarding_size,
       array_position(ARRAY['NTLM', 'KERBEROS', 'NEGOTIATE', 'CERTIFICATE', 'NTLM, CERTIFICATE', 'KERBEROS, CERTIFICATE',
                            'NEGOTIATE, CERTIFICATE', 'CERTIFICATE, NTLM', 'CERTIFICATE, KERBEROS', 'CERTIFICATE, NEGOTIATE'],
                      d.authentication)::smallint AS connection_auth,
       d.authentication AS connection_auth_desc,
       coalesce((SELECT c.certificate_id FROM ssb.certificate AS c
                  WHERE c.database_id = 1 AND lower(c.name) = lower(ssb_internal.endpoint_certificate(b.authentication))), 0) AS certificate_id,
       (array_position(ARRAY['NONE', 'RC4', 'AES', 'NONE, RC4', 'NONE, AES', 'RC4, AES', 'AES, RC4', 'NONE, RC4, AES', 'NONE, AES, RC4'],
                       d.encryption) - 1)::smallint AS encryption_algorithm,
       d.encryption AS encryption_algorithm_desc
  FROM sys.endpoints AS e
  JOIN ssb.broker_endpoint AS b ON b.broker_endpoint_id = e.endpoint_id
  -- WINDOWS [NTLM | KERBEROS | NEGOTIATE] and CERTIFICATE name, in either order; what is encrypted, and how.
 CROSS JOIN LATERAL (
    SELECT concat_ws(', ', CASE WHEN l.words ~ '^CERTIFICATE' THEN 'CERTIFICATE' END,
                     CASE WHEN l.words ~ 'WINDOWS'
                          THEN coalesce(substring(l.words FROM 'NTLM|KERBEROS|NEGOTIATE'), 'NEGOTIATE') END,
                     CASE WHEN l.words ~ ' CERTIFICATE' THEN 'CERTIFICATE' END) AS authentication,
           CASE b.encryption WHEN 'DISABLED' THEN 'NONE' WHEN 'SUPPORTED' THEN 'NONE, ' || replace(b.algorithm, ' ', ', ')
                             ELSE replace(b.algorithm, ' ', ', ') END AS encryption
      FROM ssb_internal.endpoint_logins(b.authentication) AS l (words)) AS d;

CREATE OR REPLACE VIEW sys.xml_schema_collections AS
SELECT c.collection_id AS xml_collection_id, coalesce(v.schema_id, 1) AS schema_id, NULL::integer AS principal_id, c.spelling AS name,
       c.create_date::timestamp(3) AS create_date, c.create_date::timestamp(3) AS modify_date
  FROM ssb.xml_schema_collection AS c LEFT JOIN ssb_internal.visible_schema AS v ON v.postgres_name = c.schema_name
 WHERE c.database_id = (SELECT ssb_internal.current_database_id());

CREATE OR REPLACE VIEW sys.xml_schema_namespaces AS
SELECT c.collection_id AS xml_collection_id, n.name, n.position::integer AS xml_namespace_id
  FROM ssb.xml_schema_collection AS c
 CROSS JOIN LATERAL jsonb_array_elements_text(c.compiled -> 'namespaces') WITH ORDINALITY AS n (name, position)
 WHERE c.database_id = (SELECT ssb_internal.current_database_id());
