-- Whoever owns a database makes tables and modules in its schemas (definitions/databases.sql).
DO $$
DECLARE
    v_schema record;
BEGIN
    FOR v_schema IN
        SELECT s.name, r.rolname FROM ssb.schema_of_database AS s
          JOIN ssb.database AS d USING (database_id)
          JOIN pg_namespace AS n ON n.nspname = s.name
          JOIN pg_roles AS r ON r.rolname = d.owner AND r.oid <> n.nspowner
         WHERE d.database_id > 5
    LOOP
        EXECUTE format('GRANT CREATE, USAGE ON SCHEMA %I TO %I WITH GRANT OPTION', v_schema.name, v_schema.rolname);
    END LOOP;
END;
$$;
