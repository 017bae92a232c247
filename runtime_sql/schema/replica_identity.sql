-- A publication FOR ALL TABLES, which tools for change data capture make, has the runtime's tables too, and PostgreSQL deletes nothing
-- from a published table without a replica identity: RECEIVE and END would fail for everybody. So tables without a primary key
-- identify their rows by all columns. It is in the WAL alone, and only with wal_level = logical: 150 bytes for a message received.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_class AS c
         WHERE c.relnamespace = 'ssb'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p' AND c.relreplident <> 'f'
           AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)
    LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', v_table);
    END LOOP;
END;
$$;
