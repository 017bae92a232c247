-- Where rows lie, as far as scripts ask for it: the common way to count a queue's
-- messages without reading them goes from sys.internal_tables to sys.partitions.

-- SQL Server keeps the messages of a queue in an internal table of its own. Its
-- number here is the queue's with the sign changed.
CREATE OR REPLACE VIEW sys.internal_tables AS
SELECT o.*, 201::smallint AS internal_type, 'QUEUE_MESSAGES'::text AS internal_type_desc,
       o.parent_object_id AS parent_id, 0 AS parent_minor_id
  FROM sys.objects AS o WHERE o.type = 'IT';

-- The rows of a table: counted where they are few, else the planner's estimate. With the caller's
-- rights, and no code of others: a view or a row security policy would run its functions here. The table's owner may put
-- either in its place after it was looked at, above all while he holds a lock for which the count waits. So the count itself refuses
-- them: TABLESAMPLE is for tables and materialized views alone, and without row security a policy is an error. For a lock it does not wait.
CREATE OR REPLACE FUNCTION ssb_internal.rows_of(p_table oid)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET row_security = off
SET lock_timeout = '50ms'
AS $$
DECLARE
    v_estimate bigint;
    v_is_plain boolean;
    v_name regclass;
    v_count bigint;
BEGIN
    SELECT c.oid, c.reltuples::bigint, c.relkind IN ('r', 'p', 'm') AND NOT row_security_active(c.oid)
                                AND has_table_privilege(c.oid, 'SELECT')
      INTO v_name, v_estimate, v_is_plain FROM pg_class AS c WHERE c.oid = p_table;
    IF v_estimate > 100000 OR v_is_plain IS NOT TRUE THEN
        RETURN greatest(v_estimate, 0);
    END IF;
    EXECUTE format('SELECT count(*) FROM %s TABLESAMPLE SYSTEM (100)', v_name) INTO v_count;
    RETURN v_count;
EXCEPTION WHEN lock_not_available OR feature_not_supported OR insufficient_privilege OR undefined_table OR invalid_schema_name THEN
    RETURN greatest(v_estimate, 0);
END;
$$;

-- The messages of a queue, those that are retained too.
CREATE OR REPLACE VIEW ssb_internal.queue_rows AS
SELECT q.queue_id,
       (SELECT count(*) FROM ssb.message_stored AS m WHERE m.queue_id = q.queue_id)
       + (SELECT count(*) FROM ssb.retained_message AS r WHERE r.queue_id = q.queue_id) AS rows
  FROM ssb.queue AS q;

-- One partition for each index (heap 0, primary key 1, others from 2).
CREATE OR REPLACE VIEW sys.partitions AS
SELECT i.object_id::bigint << 16 | i.index_id AS partition_id, i.object_id, i.index_id, 1 AS partition_number,
       i.object_id::bigint << 16 | i.index_id AS hobt_id,
       CASE WHEN i.object_id < 0 THEN (SELECT q.rows FROM ssb_internal.queue_rows AS q WHERE q.queue_id = -i.object_id)
            ELSE ssb_internal.rows_of(i.object_id::oid) END AS rows,
       0::smallint AS data_compression, 'NONE'::text AS data_compression_desc
  FROM sys.indexes AS i
UNION ALL
-- What would lie in SQL Server's own tables: what waits to be sent; conversation groups; conversations, in two tables.
SELECT t.object_id::bigint << 16 | 1, t.object_id, 1, 1, t.object_id::bigint << 16 | 1,
       CASE t.name
           WHEN 'sysxmitqueue' THEN (SELECT count(*) FROM ssb.transmission AS w
                                      WHERE w.database_id = (SELECT ssb_internal.current_database_id()))
           WHEN 'sysconvgroup' THEN (SELECT count(*) FROM sys.conversation_groups)
           ELSE (SELECT count(*) FROM sys.conversation_endpoints) END,
       0::smallint, 'NONE'
  FROM ssb_internal.system_table AS t;

-- Pages of 8 KB: of the table (with what is stored outside its rows), of an index,
-- of what waits in a queue.
CREATE OR REPLACE FUNCTION ssb_internal.pages_of(object_id integer, index_id integer)
RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN $1 < 0 THEN (SELECT ceil(coalesce(sum(pg_column_size(m)), 0) / 8192.0)
                            FROM ssb.message_stored AS m WHERE $2 = 1 AND m.queue_id = -$1)
        WHEN $2 < 2 THEN pg_table_size($1::oid::regclass) / 8192
        ELSE (SELECT pg_relation_size(n.indexrelid) / 8192
                FROM ssb_internal.numbered_index AS n WHERE n.indrelid = $1::oid AND n.index_id = $2) END::bigint;
$$;

CREATE OR REPLACE VIEW sys.dm_db_partition_stats AS
SELECT p.partition_id, p.object_id, p.index_id, p.partition_number, p.rows AS row_count,
       g.pages AS in_row_data_page_count, g.pages AS in_row_used_page_count, g.pages AS in_row_reserved_page_count,
       0::bigint AS lob_used_page_count, 0::bigint AS lob_reserved_page_count,
       0::bigint AS row_overflow_used_page_count, 0::bigint AS row_overflow_reserved_page_count,
       g.pages AS used_page_count, g.pages AS reserved_page_count
  FROM sys.partitions AS p CROSS JOIN LATERAL (SELECT ssb_internal.pages_of(p.object_id, p.index_id) AS pages OFFSET 0) AS g;
