-- ssb is what users call, with the engine's tables; ssb_internal the functions behind it,
-- and those that compiled text calls (docs/engine.md says which is which); sys holds what T-SQL scripts query: catalog views, dynamic
-- management views and the T-SQL built-in functions and types.
-- Everybody may look names up; what a function or view gives is its own matter. ssb_locks alone is the owner's
-- (schema/locks.sql).
--
-- Whatever stands in these schemas runs with the rights of their owner or of whoever
-- installs. So nothing is put into schemas of others, nor beside things that somebody
-- made there before.
DO $$
DECLARE
    v_found record;
BEGIN
    -- Bodies and names may hold every character; nowhere else is it decided what their bytes mean.
    IF getdatabaseencoding() <> 'UTF8' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000',
            MESSAGE = format('the encoding of this database is %s; the runtime needs UTF8', getdatabaseencoding()),
            HINT = 'CREATE DATABASE name TEMPLATE template0 ENCODING ''UTF8'' makes one beside it.';
    END IF;
    -- Then neither an operator for the number nor one for the text is the better one.
    SELECT format_type(c.castsource, NULL) AS source INTO v_found FROM pg_cast AS c
     WHERE c.castsource IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) AND c.casttarget = 'text'::regtype
       AND c.castcontext = 'i' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '0A000',
            MESSAGE = format('a cast makes text of each %s by itself; the runtime''s operators are ambiguous with it', v_found.source),
            HINT = format('DROP CAST (%s AS text), or make it one AS ASSIGNMENT.', v_found.source);
    END IF;
    IF current_setting('restrict_nonsystem_relation_kind', true) ~ 'view' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000',
            MESSAGE = 'restrict_nonsystem_relation_kind lets nobody read views here, and the runtime has views',
            HINT = 'RESET it by ALTER DATABASE or ALTER ROLE, for all who use the runtime.';
    END IF;
    SELECT n.nspname, pg_get_userbyid(n.nspowner) AS owner INTO v_found FROM pg_namespace AS n
     WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_staging', 'ssb_locks') AND pg_get_userbyid(n.nspowner) <> current_user LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '42501',
            MESSAGE = format('the schema %s belongs to %s, not to %s', v_found.nspname, v_found.owner, current_user),
            HINT = format('The runtime is installed and upgraded by one role: SET ROLE %I, or PGOPTIONS="-c role=%1$s".', v_found.owner);
    END IF;
    SELECT n.nspname, d.objid, d.classid INTO v_found
      FROM pg_namespace AS n JOIN pg_depend AS d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid
     WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_locks') AND to_regclass('ssb.runtime_version') IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '42P06',
            MESSAGE = format('the schema %s exists, and has in it the %s', v_found.nspname,
                             pg_describe_object(v_found.classid, v_found.objid, 0)),
            HINT = 'The runtime needs the schemas ssb, ssb_internal, ssb_locks and sys for itself.';
    END IF;
END;
$$;
-- CREATE SCHEMA IF NOT EXISTS asks for CREATE on the database where there is nothing to do, too: an upgrade has it no more after
-- ALTER DATABASE OWNER TO.
DO $$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY '{ssb,ssb_internal,ssb_staging,ssb_locks,sys}'::text[] LOOP
        IF to_regnamespace(v_name) IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', v_name);
        END IF;
    END LOOP;
END;
$$;
GRANT USAGE ON SCHEMA ssb, ssb_internal, sys TO PUBLIC;
-- Where the owner's new functions and types are not for everybody (REVOKE in ALTER DEFAULT PRIVILEGES), these are all the
-- same: they ask for the caller's rights themselves. grants.sql takes this back when they are made.
ALTER DEFAULT PRIVILEGES IN SCHEMA ssb, ssb_internal, sys GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA ssb, ssb_internal, sys GRANT USAGE ON TYPES TO PUBLIC;
