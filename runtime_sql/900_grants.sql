-- Everybody may call the functions: each asks for the caller's rights itself, and
-- those that are not SECURITY DEFINER reach no table that the caller could not.
-- Everybody may read the catalog views, as in SQL Server. Tables belong to the owner.
DO $$
DECLARE
    v_view regclass;
BEGIN
    FOR v_view IN
        SELECT c.oid::regclass FROM pg_class AS c WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v'
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO PUBLIC', v_view);
    END LOOP;
END;
$$;
