-- Names that differ in their case alone are one, as in SQL Server: of routes, bindings, priorities, notifications and certificates.
-- Of several that were made so far the first keeps its name; the others are named with their number.
DO $$
DECLARE
    v_row record;
    v_name text;
BEGIN
    IF to_regclass('ssb.route') IS NULL THEN
        RETURN;                    -- nothing is installed yet
    END IF;
    FOR v_row IN
        SELECT n.kind, n.id, n.name
          FROM (SELECT 'ssb.route' AS kind, r.route_id AS id, r.name,
                       row_number() OVER (PARTITION BY r.database_id, lower(r.name) ORDER BY r.route_id) AS place FROM ssb.route AS r
                UNION ALL
                SELECT 'ssb.remote_service_binding', b.binding_id, b.name,
                       row_number() OVER (PARTITION BY b.database_id, lower(b.name) ORDER BY b.binding_id) FROM ssb.remote_service_binding AS b
                UNION ALL
                SELECT 'ssb.broker_priority', p.priority_id, p.name,
                       row_number() OVER (PARTITION BY p.database_id, lower(p.name) ORDER BY p.priority_id) FROM ssb.broker_priority AS p
                UNION ALL
                SELECT 'ssb.event_notification', e.notification_id, e.name,
                       row_number() OVER (PARTITION BY e.scope, CASE WHEN e.scope = 'SERVER' THEN 0 ELSE e.database_id END,
                                                       e.queue_id, lower(e.name) ORDER BY e.notification_id)
                  FROM ssb.event_notification AS e
                UNION ALL
                SELECT 'ssb.certificate', c.certificate_id, c.name,
                       row_number() OVER (PARTITION BY c.database_id, lower(c.name) ORDER BY c.certificate_id) FROM ssb.certificate AS c) AS n
         WHERE n.place > 1
    LOOP
        v_name := left(v_row.name, 110) || '_' || v_row.id;
        CASE v_row.kind
            WHEN 'ssb.route' THEN UPDATE ssb.route AS r SET name = v_name WHERE r.route_id = v_row.id;
            WHEN 'ssb.remote_service_binding' THEN
                UPDATE ssb.remote_service_binding AS b SET name = v_name WHERE b.binding_id = v_row.id;
            WHEN 'ssb.broker_priority' THEN UPDATE ssb.broker_priority AS p SET name = v_name WHERE p.priority_id = v_row.id;
            WHEN 'ssb.event_notification' THEN UPDATE ssb.event_notification AS e SET name = v_name WHERE e.notification_id = v_row.id;
            ELSE UPDATE ssb.certificate AS c SET name = v_name WHERE c.certificate_id = v_row.id;
        END CASE;
        RAISE WARNING '% has another % of the name %, but for its case: it is % now', v_row.kind, v_row.id, v_row.name, v_name;
    END LOOP;
END;
$$;
ALTER TABLE IF EXISTS ssb.route DROP CONSTRAINT IF EXISTS route_database_id_name_key;
ALTER TABLE IF EXISTS ssb.remote_service_binding DROP CONSTRAINT IF EXISTS remote_service_binding_database_id_name_key;
ALTER TABLE IF EXISTS ssb.broker_priority DROP CONSTRAINT IF EXISTS broker_priority_database_id_name_key;
ALTER TABLE IF EXISTS ssb.certificate DROP CONSTRAINT IF EXISTS certificate_database_id_name_key;
DROP INDEX IF EXISTS ssb.event_notification_by_name;
