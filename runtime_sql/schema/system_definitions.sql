-- Message types and contracts that every database has.
INSERT INTO ssb.message_type (message_type_id, database_id, name, validation, owner)
VALUES (1, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/Error', 'X', 'dbo'),
       (2, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog', 'E', 'dbo'),
       (3, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer', 'E', 'dbo'),
       (4, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice/MissingRoute', 'X', 'dbo'),
       (5, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice/FailedRoute', 'X', 'dbo'),
       (6, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice/MissingRemoteServiceBinding', 'X', 'dbo'),
       (7, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice/FailedRemoteServiceBinding', 'X', 'dbo'),
       (8, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceEcho/Echo', 'N', 'dbo'),
       (9, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceDiagnostic/Query', 'X', 'dbo'),
       (10, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceDiagnostic/Status', 'X', 'dbo'),
       (11, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceDiagnostic/Description', 'X', 'dbo'),
       (14, NULL, 'DEFAULT', 'N', 'dbo'),
       (19, NULL, 'http://schemas.microsoft.com/SQL/Notifications/QueryNotification', 'X', 'dbo'),
       (20, NULL, 'http://schemas.microsoft.com/SQL/Notifications/EventNotification', 'X', 'dbo')
ON CONFLICT (message_type_id) DO NOTHING;

INSERT INTO ssb.contract (contract_id, database_id, name, owner)
VALUES (1, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/BrokerConfigurationNotice', 'dbo'),
       (2, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceEcho', 'dbo'),
       (3, NULL, 'http://schemas.microsoft.com/SQL/ServiceBroker/ServiceDiagnostic', 'dbo'),
       (6, NULL, 'DEFAULT', 'dbo'),
       (7, NULL, 'http://schemas.microsoft.com/SQL/Notifications/PostQueryNotification', 'dbo'),
       (8, NULL, 'http://schemas.microsoft.com/SQL/Notifications/PostEventNotification', 'dbo')
ON CONFLICT (contract_id) DO NOTHING;

INSERT INTO ssb.contract_message_usage
       (contract_id, message_type_name, message_type_id, is_sent_by_initiator, is_sent_by_target, validation)
SELECT u.contract_id, t.name, t.message_type_id, u.by_initiator, u.by_target, t.validation
  FROM (VALUES (1, 4, true, false), (1, 5, true, false), (1, 6, true, false), (1, 7, true, false),
               (2, 8, true, true), (3, 9, true, false), (3, 10, false, true), (3, 11, false, true),
               (6, 14, true, true), (7, 19, true, false), (8, 20, true, false))
       AS u (contract_id, message_type_id, by_initiator, by_target)
  JOIN ssb.message_type AS t USING (message_type_id)
ON CONFLICT (contract_id, message_type_name) DO NOTHING;

-- Every database starts with a route that finds services inside this instance.
INSERT INTO ssb.route (route_id, database_id, name, address, owner)
SELECT d.database_id, d.database_id, 'AutoCreatedLocal', 'LOCAL', 'dbo' FROM ssb.database AS d WHERE d.database_id <= 5
ON CONFLICT DO NOTHING;

-- Each database's dbo, where scripts put their tables: those of master, tempdb, model and msdb too.
DO $$
DECLARE
    v_database ssb.database;
BEGIN
    FOR v_database IN SELECT d.* FROM ssb.database AS d WHERE d.database_id <= 5 ORDER BY d.database_id LOOP
        IF to_regnamespace(v_database.schema_prefix || 'dbo') IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', v_database.schema_prefix || 'dbo');
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO PUBLIC', v_database.schema_prefix || 'dbo');
        END IF;
        INSERT INTO ssb.schema_of_database (name, database_id, schema_name)
        VALUES (v_database.schema_prefix || 'dbo', v_database.database_id, 'dbo') ON CONFLICT DO NOTHING;
    END LOOP;
END;
$$;
