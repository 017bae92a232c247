-- The runtime has another owner, or he another name: restored with pg_restore --no-owner, REASSIGN OWNED, ALTER
-- ROLE … RENAME. Queues, services and the like know their owners by name, and those of the owner before would be
-- nobody's, or somebody else's.

-- A name that is no role and no user of T-SQL, and was the owner's: it means who is the owner now, as its grants
-- and objects do. Nobody gets more by it: whoever is called so has had all rights here.
CREATE OR REPLACE FUNCTION ssb_internal.is_former_owner(p_principal text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.runtime_version AS v WHERE v.owner = p_principal)
           AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = p_principal)
           AND NOT EXISTS (SELECT FROM ssb.principal AS p WHERE lower(p.name) = lower(p_principal));
END;
$$;

-- Called by  the end of every installation and upgrade
CREATE OR REPLACE FUNCTION ssb_internal.follow_owner()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old text := (SELECT v.owner FROM ssb.runtime_version AS v);
    v_new text := ssb_internal.runtime_owner();
    v_table text;
BEGIN
    IF v_old <> v_new THEN
        FOREACH v_table IN ARRAY ssb_internal.owned_kinds() LOOP
            EXECUTE format('UPDATE ssb.%I SET owner = $1 WHERE owner = $2', v_table) USING v_new, v_old;
        END LOOP;
        UPDATE ssb.database AS d SET owner = v_new WHERE d.owner = v_old;
        UPDATE ssb.queue AS q SET execute_as = v_new WHERE q.execute_as = v_old;
        UPDATE ssb.permission AS p SET grantor = v_new WHERE p.grantor = v_old;
    END IF;
    UPDATE ssb.runtime_version AS v SET owner = v_new WHERE v.owner IS DISTINCT FROM v_new;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.follow_owner() FROM PUBLIC;
