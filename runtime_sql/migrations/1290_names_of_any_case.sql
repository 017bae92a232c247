-- Names that differ in their case alone are one, as in SQL Server: of routes, bindings, priorities, notifications and certificates.
-- Of several that were made so far the first keeps its name; the others are named with their number.
DO $$
DECLARE
    v_kind record;
    v_row record;
    v_name text;
BEGIN
    FOR v_kind IN
        SELECT k.name, k.key, k.place
          FROM (VALUES ('route', 'route_id', 'database_id'), ('remote_service_binding', 'binding_id', 'database_id'),
                       ('broker_priority', 'priority_id', 'database_id'), ('certificate', 'certificate_id', 'database_id'),
                       ('event_notification', 'notification_id',
                        'scope, CASE WHEN scope = ''SERVER'' THEN 0 ELSE database_id END, queue_id')) AS k (name, key, place)
         WHERE to_regclass('ssb.' || k.name) IS NOT NULL      -- an early installation has not all of them
    LOOP
        FOR v_row IN EXECUTE format(
            'SELECT n.id, n.name FROM (SELECT %1$I AS id, name, row_number() OVER (PARTITION BY %2$s, lower(name) ORDER BY %1$I) AS place'
            '                            FROM ssb.%3$I) AS n WHERE n.place > 1 ORDER BY n.id', v_kind.key, v_kind.place, v_kind.name)
        LOOP
            v_name := left(v_row.name, 110) || '_' || v_row.id;
            EXECUTE format('UPDATE ssb.%I SET name = $1 WHERE %I = $2', v_kind.name, v_kind.key) USING v_name, v_row.id;
            RAISE WARNING 'ssb.% has another % of the name %, but for its case: it is % now', v_kind.name, v_row.id, v_row.name, v_name;
        END LOOP;
    END LOOP;
END;
$$;
ALTER TABLE IF EXISTS ssb.route DROP CONSTRAINT IF EXISTS route_database_id_name_key;
ALTER TABLE IF EXISTS ssb.remote_service_binding DROP CONSTRAINT IF EXISTS remote_service_binding_database_id_name_key;
ALTER TABLE IF EXISTS ssb.broker_priority DROP CONSTRAINT IF EXISTS broker_priority_database_id_name_key;
ALTER TABLE IF EXISTS ssb.certificate DROP CONSTRAINT IF EXISTS certificate_database_id_name_key;
DROP INDEX IF EXISTS ssb.event_notification_by_name;
