-- Everybody may call the functions: each asks for the caller's rights itself, and
-- those that are not SECURITY DEFINER reach no table that the caller could not.
-- Everybody may read the catalog views, as in SQL Server. Tables belong to the owner.
DO $$
DECLARE
    v_view regclass;
    v_function regprocedure;
    v_open record;
BEGIN
    -- What ALTER DEFAULT PRIVILEGES grants on schemas: a function that somebody makes here, with closer types of
    -- arguments, would be called in the place of the runtime's, with its owner's rights. Of the locks nobody has anything.
    FOR v_open IN
        SELECT DISTINCT n.nspname AS schema, a.grantee, pg_get_userbyid(a.grantee) AS whom
          FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
         WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_staging', 'ssb_locks') AND a.grantee <> n.nspowner
           AND (a.privilege_type = 'CREATE' OR n.nspname = 'ssb_locks')
    LOOP
        IF v_open.grantee = 0 THEN
            EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', v_open.schema);
        ELSE
            EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM %I', v_open.schema, v_open.whom);
        END IF;
        IF v_open.schema = 'ssb_locks' AND v_open.grantee <> 0 THEN
            EXECUTE format('REVOKE USAGE ON SCHEMA ssb_locks FROM %I', v_open.whom);
        END IF;
    END LOOP;
    REVOKE USAGE ON SCHEMA ssb_locks FROM PUBLIC;
    FOR v_view IN
        SELECT c.oid::regclass FROM pg_class AS c WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v'
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO PUBLIC', v_view);
    END LOOP;
    -- A trigger's creator needs EXECUTE on its function, who fires it does not. Nobody may hang those that
    -- run with the owner's rights on a table of his own, whose rows and types they would trust.
    FOR v_function IN
        SELECT p.oid::regprocedure FROM pg_proc AS p
         WHERE p.pronamespace IN ('ssb'::regnamespace, 'ssb_internal'::regnamespace, 'sys'::regnamespace) AND p.prorettype = 'trigger'::regtype AND p.prosecdef
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', v_function);
    END LOOP;
    -- Restored without privileges (pg_restore -x), queues have forgotten that they are plain.
    PERFORM ssb_internal.refresh_queue(q.queue_id)
       FROM ssb.queue AS q
      WHERE (q.is_accepting AND NOT q.is_retention_enabled)
            <> has_sequence_privilege('public', q.state_sequence, 'SELECT')
         OR q.is_accepting <> ssb_internal.is_accepting(q.state_sequence);
END;
$$;
ALTER DEFAULT PRIVILEGES IN SCHEMA ssb, ssb_internal, sys REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA ssb, ssb_internal, sys REVOKE USAGE ON TYPES FROM PUBLIC;
