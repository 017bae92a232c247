-- Event notifications on definitions: CREATE_QUEUE, ALTER_ROUTE, DROP_SERVICE and so on,
-- and the groups of events that contain them, up to DDL_SSB_EVENTS. The definition is
-- made and the event sent in one transaction.
--
-- Called by  triggers of the definitions' tables; TG_ARGV is the type of object
CREATE OR REPLACE FUNCTION ssb.announce_definition_event()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    v_type text := TG_ARGV[0];
    v_event text := CASE TG_OP WHEN 'INSERT' THEN 'CREATE_' WHEN 'DELETE' THEN 'DROP_' ELSE 'ALTER_' END || replace(v_type, ' ', '_');
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.event_notification AS n WHERE n.scope <> 'QUEUE')
       OR v_row ->> 'database_id' IS NULL
       -- CREATE QUEUE sets its options by an update of its own.
       OR (TG_OP = 'UPDATE' AND v_type = 'QUEUE' AND (v_row ->> 'create_date')::timestamptz = now()) THEN
        RETURN NULL;
    END IF;
    PERFORM ssb.fire_event(
        ARRAY[v_event, 'DDL_' || replace(v_type, ' ', '_') || '_EVENTS', 'DDL_DATABASE_LEVEL_EVENTS', 'DDL_EVENTS']
        || CASE v_type WHEN 'EVENT NOTIFICATION' THEN '{}'::text[] ELSE '{DDL_SSB_EVENTS}'::text[] END,
        (v_row ->> 'database_id')::integer, NULL, v_row ->> 'schema_name', coalesce(v_row ->> 'spelling', v_row ->> 'name'), v_type);
    RETURN NULL;
END;
$$;

DO $$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT * FROM (VALUES ('queue', 'QUEUE', 'OF is_retention_enabled'), ('service', 'SERVICE', 'OF queue_id'),
                              ('contract', 'CONTRACT', ''), ('message_type', 'MESSAGE TYPE', ''), ('route', 'ROUTE', ''),
                              ('remote_service_binding', 'REMOTE SERVICE BINDING', ''),
                              ('broker_priority', 'BROKER PRIORITY', '')) AS t (name, type, columns)
    LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS announce_definition_event ON ssb.%I', v_table.name);
        EXECUTE format('CREATE TRIGGER announce_definition_event AFTER INSERT OR DELETE OR UPDATE %s ON ssb.%I
                        FOR EACH ROW EXECUTE FUNCTION ssb.announce_definition_event(%L)',
                       v_table.columns, v_table.name, v_table.type);
    END LOOP;
    DROP TRIGGER IF EXISTS announce_definition_event ON ssb.event_notification;
    CREATE TRIGGER announce_definition_event AFTER INSERT OR DELETE ON ssb.event_notification
        FOR EACH ROW EXECUTE FUNCTION ssb.announce_definition_event('EVENT NOTIFICATION');
END;
$$;
