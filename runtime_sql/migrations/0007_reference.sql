-- Catalog views have SQL Server's columns in its order: CREATE OR REPLACE can neither move nor remove one.
DROP VIEW IF EXISTS sys.server_events, sys.events, sys.trigger_events, sys.service_queues, sys.service_broker_endpoints,
    sys.dm_broker_connections;
