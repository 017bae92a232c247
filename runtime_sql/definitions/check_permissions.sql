-- Who is asking, and may they? Queues and services are rows, not PostgreSQL
-- objects, so their privileges are rows too; the functions that use them are
-- SECURITY DEFINER and ask here.
--
-- The caller is the session's role: SET ROLE's, else the login. (current_user
-- inside a SECURITY DEFINER function is its owner, and tells nothing.) A caller
-- that has the role owning the runtime may do everything, as db_owner may;
-- superusers have every role.

-- Whether a role may take on another one's rights by SET ROLE. A membership may lack that since PostgreSQL 16: one WITH SET FALSE,
-- or with the ADMIN option alone, as of a role that has made the other.
CREATE OR REPLACE FUNCTION ssb_internal.may_become(p_role name, p_other name)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pg_has_role(p_role, p_other, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END);
END;
$$;

-- Whether a role has another one's rights, or may take them on.
CREATE OR REPLACE FUNCTION ssb_internal.has_or_may_become(p_role name, p_other name)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pg_has_role(p_role, p_other, 'USAGE') OR ssb_internal.may_become(p_role, p_other);
END;
$$;

-- Where PostgreSQL runs code of a table's owner in a session of somebody else, it takes the session's rights from that code: an
-- index's expressions, and a materialized view, in ANALYZE, VACUUM, REINDEX, REFRESH and autovacuum, whose session is a
-- superuser's; triggers of a table that ON DELETE and ON UPDATE of a foreign key change. The session's role does not tell. So
-- - UNLISTEN of a channel that nobody has comes first, which does nothing, at 0.1 µs, but in security-restricted operations, as PostgreSQL calls the
--   former: there it is an error (42501);
-- - in triggers the statements of foreign keys are looked for among those that are under way, by what PostgreSQL
--   writes in each of them (ONLY is not there where the table is partitioned). Such code may do nothing here,
--   unless the table's owner might be the caller, or do all. (What else contains such a text is refused as well. So
--   nobody gains anything by writing one.)
CREATE OR REPLACE FUNCTION ssb_internal.require_own_code(p_role name)
RETURNS name
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stack text;
BEGIN
    UNLISTEN ssb_rights;
    IF pg_trigger_depth() > 0 THEN
        GET DIAGNOSTICS v_stack = PG_CONTEXT;
        IF strpos(v_stack, ' OPERATOR(') > 0
           AND EXISTS (SELECT FROM regexp_matches(v_stack, '(?:DELETE FROM|UPDATE|SELECT 1 FROM) (?:ONLY )?("(?:[^"]|"")+"\."(?:[^"]|"")+") ',
                                                  'g') AS m
                         LEFT JOIN pg_class AS c ON c.oid = to_regclass(m[1])
                        WHERE NOT coalesce(ssb_internal.has_or_may_become(pg_get_userbyid(c.relowner), p_role)
                                           OR pg_has_role(c.relowner, ssb_internal.runtime_owner(), 'USAGE'), false)) THEN
            RAISE insufficient_privilege USING MESSAGE = format('What a foreign key''s ON DELETE or ON UPDATE fires runs as the owner of its '
                                                                'table, and does nothing here for %s.', p_role);
        END IF;
    END IF;
    RETURN p_role;
END;
$$;

-- As PL/pgSQL, both: one of SQL with a SET clause is planned anew for each call.
CREATE OR REPLACE FUNCTION ssb_internal.caller()
RETURNS name
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.require_own_code(coalesce(nullif(current_setting('role'), 'none')::name, session_user));
END;
$$;

-- The same as an expression, for statements whose time counts: it becomes part of them. What uses it says UNLISTEN before.
CREATE OR REPLACE FUNCTION ssb_internal.calling_role()
RETURNS name
LANGUAGE sql STABLE
RETURN CASE WHEN pg_trigger_depth() = 0 THEN coalesce(nullif(current_setting('role'), 'none')::name, session_user)
            ELSE ssb_internal.caller() END;

CREATE OR REPLACE FUNCTION ssb_internal.runtime_owner()
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'ssb');
END;
$$;

-- The number of a PostgreSQL role among principals: its oid, above those of principals that T-SQL made and of the fixed ones. (The
-- role that initdb makes has 10, the first one of a new cluster may have db_owner's 16384.)
CREATE OR REPLACE FUNCTION ssb_internal.role_number(p_role oid)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_role < 20000 THEN 2000000000 + p_role::integer ELSE p_role::integer END;

CREATE OR REPLACE FUNCTION ssb_internal.role_numbered(p_number integer)
RETURNS name
LANGUAGE sql STABLE
RETURN (SELECT r.rolname FROM pg_roles AS r WHERE ssb_internal.role_number(r.oid) = p_number);

-- Of those that are there without being made, the ones that the catalog views show.
CREATE OR REPLACE FUNCTION ssb_internal.fixed_principal_number(p_name text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(p_name COLLATE "C") WHEN 'public' THEN 0 WHEN 'dbo' THEN 1 WHEN 'guest' THEN 2 WHEN 'information_schema' THEN 3 WHEN 'sys' THEN 4
                          WHEN 'db_owner' THEN 16384 WHEN 'db_accessadmin' THEN 16385 WHEN 'db_securityadmin' THEN 16386
                          WHEN 'db_ddladmin' THEN 16387 WHEN 'db_backupoperator' THEN 16389 WHEN 'db_datareader' THEN 16390
                          WHEN 'db_datawriter' THEN 16391 WHEN 'db_denydatareader' THEN 16392 WHEN 'db_denydatawriter' THEN 16393 END;

-- The PostgreSQL role that a T-SQL principal means; NULL when there is none. dbo is the runtime's owner, and the fixed database
-- roles are none of PostgreSQL's: nobody becomes one of them by making a role of that name.
CREATE OR REPLACE FUNCTION ssb_internal.role_of(p_principal text)
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lower(p_principal COLLATE "C") = 'dbo' THEN
        RETURN ssb_internal.runtime_owner();
    ELSIF lower(p_principal COLLATE "C") LIKE 'db\_%' AND ssb_internal.is_fixed_principal(p_principal) THEN
        RETURN NULL;
    END IF;
    RETURN coalesce((SELECT r.rolname FROM pg_roles AS r
                      WHERE r.rolname = p_principal OR r.rolname = lower(p_principal)
                      ORDER BY (r.rolname = p_principal) DESC LIMIT 1),
                    CASE WHEN ssb_internal.is_former_owner(p_principal) THEN ssb_internal.runtime_owner() END);
END;
$$;

-- Whether p_role is p_principal, or has it: through PostgreSQL's roles or through
-- T-SQL's own role memberships. Whose the database is belongs to its db_owner: he is dbo there, but not the role
-- of that name, which is the runtime's owner (ssb_internal.as_dbo).
CREATE OR REPLACE FUNCTION ssb_internal.is_member(p_role name, p_principal text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role name := ssb_internal.role_of(p_principal);
    v_member text;
BEGIN
    IF lower(p_principal COLLATE "C") = 'public' OR (v_role IS NOT NULL AND pg_has_role(p_role, v_role, 'USAGE')) THEN
        RETURN true;
    END IF;
    FOR v_member IN
        SELECT m.member FROM ssb.role_member AS m
         WHERE m.database_id = p_database_id AND lower(m.role) = lower(p_principal)
        UNION ALL
        SELECT d.owner FROM ssb.database AS d WHERE d.database_id = p_database_id AND lower(p_principal COLLATE "C") = 'db_owner'
    LOOP
        IF ssb_internal.is_member(p_role, v_member, p_database_id) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END;
$$;

-- Whether the permission, or CONTROL, is denied on the object or on the whole database. To whom the database belongs nothing is denied.
CREATE OR REPLACE FUNCTION ssb_internal.is_denied(p_role name, p_class text, p_major_id integer, p_privilege text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM ssb.permission AS p
         WHERE p.privilege IN (p_privilege, 'CONTROL') AND p.state = 'D'
           AND ((p.class = p_class AND p.major_id = p_major_id)
                OR (p.class = 'DATABASE' AND p.major_id = p_database_id))
           AND ssb_internal.is_member(p_role, p.grantee, p_database_id))
       AND NOT pg_has_role(p_role, ssb_internal.runtime_owner(), 'USAGE')
       AND NOT EXISTS (SELECT FROM ssb.database AS d
                        WHERE d.database_id = p_database_id AND ssb_internal.is_member(p_role, d.owner, p_database_id));
END;
$$;

-- DENY beats GRANT and what db_owner may; CONTROL contains everything; the owner and db_owner need no grant.
CREATE OR REPLACE FUNCTION ssb_internal.has_permission(p_role name, p_class text, p_major_id integer, p_privilege text,
                                                       p_owner text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_has_role(p_role, ssb_internal.runtime_owner(), 'USAGE') OR ssb_internal.is_member(p_role, p_owner, p_database_id) THEN
        RETURN true;
    ELSIF ssb_internal.is_denied(p_role, p_class, p_major_id, p_privilege, p_database_id) THEN
        RETURN false;
    ELSIF ssb_internal.is_member(p_role, 'db_owner', p_database_id) THEN
        RETURN true;
    END IF;
    RETURN EXISTS (
        SELECT FROM ssb.permission AS p
         WHERE p.privilege IN (p_privilege, 'CONTROL') AND p.state IN ('G', 'W')
           AND ((p.class = p_class AND p.major_id = p_major_id)
                OR (p.class = 'DATABASE' AND p.major_id = p_database_id))
           AND ssb_internal.is_member(p_role, p.grantee, p_database_id));
END;
$$;

-- May the caller define p_class ('CREATE QUEUE') in this database? 262 when not.
CREATE OR REPLACE FUNCTION ssb_internal.require_definition_right(p_privilege text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller name := ssb_internal.caller();
BEGIN
    -- db_ddladmin defines things of the database, not who may do what, and nothing of the server.
    IF (p_privilege NOT IN ('ALTER ANY USER', 'ALTER ANY ROLE', 'ALTER ANY APPLICATION ROLE', 'ALTER ANY LOGIN', 'CONTROL', 'TAKE OWNERSHIP',
                            'CREATE DATABASE', 'CREATE ENDPOINT')
        AND ssb_internal.is_member(v_caller, 'db_ddladmin', p_database_id)
        AND NOT ssb_internal.is_denied(v_caller, 'DATABASE', p_database_id, p_privilege, p_database_id))
       OR ssb_internal.has_permission(v_caller, 'DATABASE', p_database_id, p_privilege, ssb_internal.runtime_owner(), p_database_id) THEN
        RETURN;
    END IF;
    PERFORM ssb_internal.raise_error(262, format('%s permission denied in database ''%s''.', p_privilege,
                                                 ssb_internal.database_name(p_database_id)), 14);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.may_alter(p_class text, p_major_id integer, p_owner text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.has_permission(ssb_internal.caller(), p_class, p_major_id, 'ALTER', p_owner, p_database_id)
        OR ssb_internal.is_member(ssb_internal.caller(), 'db_ddladmin', p_database_id)
           AND NOT ssb_internal.is_denied(ssb_internal.caller(), p_class, p_major_id, 'ALTER', p_database_id);
END;
$$;

-- May the caller ALTER, DROP or use this one object? 15151 as if it did not exist, when not.
CREATE OR REPLACE FUNCTION ssb_internal.require_permission(p_verb text, p_class text, p_major_id integer, p_name text,
                                                           p_privilege text, p_owner text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller name := ssb_internal.caller();
BEGIN
    IF ssb_internal.has_permission(v_caller, p_class, p_major_id, p_privilege, p_owner, p_database_id)
       OR (p_privilege = 'ALTER' AND p_class <> 'DATABASE' AND ssb_internal.is_member(v_caller, 'db_ddladmin', p_database_id)) THEN
        RETURN;
    END IF;
    PERFORM ssb_internal.raise_not_found(p_verb, lower(p_class COLLATE "C"), p_name);
END;
$$;

-- May the caller put it into what he makes: a message type into a contract, a contract into a service, a service on a queue?
-- The contract and the message type DEFAULT are everybody's.
CREATE OR REPLACE FUNCTION ssb_internal.may_refer_to(p_class text, p_major_id integer, p_owner text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.has_permission(ssb_internal.caller(), p_class, p_major_id, 'REFERENCES', p_owner, p_database_id)
        OR ssb_internal.is_member(ssb_internal.caller(), 'db_ddladmin', p_database_id)
           AND NOT ssb_internal.is_denied(ssb_internal.caller(), p_class, p_major_id, 'REFERENCES', p_database_id);
END;
$$;

-- Things are made in the name of p_principal: who owns a service sends with his rights, who owns a
-- queue is whom its program runs as. So the caller must be able to become him (IMPERSONATE, or
-- membership in a role): to SET ROLE to the PostgreSQL role of that name, and where
-- there is none, to act as that principal in the database.
CREATE OR REPLACE FUNCTION ssb_internal.may_act_as(p_principal text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN ssb_internal.role_of(p_principal) IS NOT NULL THEN ssb_internal.may_become(ssb_internal.caller(), ssb_internal.role_of(p_principal))
                ELSE pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE')
                     OR ssb_internal.is_member(ssb_internal.caller(), p_principal, p_database_id)
                     OR ssb_internal.is_member(ssb_internal.caller(), 'db_owner', p_database_id) END;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.owns_database(p_role name, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.database AS d
                    WHERE d.database_id = p_database_id AND pg_has_role(p_role, ssb_internal.role_of(d.owner), 'USAGE'));
END;
$$;

-- dbo in AUTHORIZATION and EXECUTE AS, where the caller may not be the runtime's owner but the database is his: the owner of
-- the database, whose rights he has. Other names, and dbo from others, are what they are.
CREATE OR REPLACE FUNCTION ssb_internal.as_dbo(p_principal text, p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lower(p_principal COLLATE "C") = 'dbo' AND NOT ssb_internal.may_act_as(p_principal, p_database_id)
       AND ssb_internal.owns_database(ssb_internal.caller(), p_database_id) THEN
        RETURN (SELECT d.owner FROM ssb.database AS d WHERE d.database_id = p_database_id);
    END IF;
    RETURN p_principal;
END;
$$;

-- AUTHORIZATION name, or the caller. 15151 when the name means nobody, or nobody whom the caller may be.
CREATE OR REPLACE FUNCTION ssb_internal.named_or_caller(p_owner text, p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_owner CONSTANT text := coalesce(ssb_internal.as_dbo(p_owner, p_database_id), ssb_internal.caller());
BEGIN
    IF p_owner IS NULL THEN
        RETURN v_owner;
    END IF;
    PERFORM ssb_internal.require_principal(v_owner, p_database_id);
    IF NOT ssb_internal.may_act_as(v_owner, p_database_id) THEN
        PERFORM ssb_internal.raise_not_found('find', 'user', p_owner);
    END IF;
    RETURN v_owner;
END;
$$;

-- Something is about to name the user or role: keeps it from being dropped or renamed, to the end of the transaction, or waits for who
-- does that. Whoever gets the name later must find nothing of it (ssb_internal.drop_principal). Whether it is there is asked afterwards.
-- Locks  its row
CREATE OR REPLACE FUNCTION ssb_internal.hold_principal(p_name text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM ssb.principal AS p
      WHERE lower(p.name) = lower(p_name) AND coalesce(p.database_id, p_database_id) = p_database_id FOR KEY SHARE;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.hold_principal(text, integer) FROM PUBLIC;

-- The same for what will be his.
-- Locks  his row
CREATE OR REPLACE FUNCTION ssb_internal.owner_or_caller(p_owner text, p_database_id integer)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.hold_principal(ssb_internal.as_dbo(p_owner, p_database_id), p_database_id);
    RETURN ssb_internal.named_or_caller(p_owner, p_database_id);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.owner_or_caller(text, integer) FROM PUBLIC;

-- Users and roles that are there without being made.
CREATE OR REPLACE FUNCTION ssb_internal.is_fixed_principal(p_name text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN lower(p_name COLLATE "C") IN ('dbo', 'guest', 'public', 'sys', 'information_schema', 'sa', 'db_owner', 'db_ddladmin',
                             'db_datareader', 'db_datawriter', 'db_securityadmin', 'db_accessadmin',
                             'db_backupoperator', 'db_denydatareader', 'db_denydatawriter');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.is_principal(p_name text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.is_fixed_principal(p_name) IS TRUE
        OR ssb_internal.role_of(p_name) IS NOT NULL
        OR EXISTS (SELECT FROM ssb.principal AS p
                    WHERE lower(p.name) = lower(p_name) AND coalesce(p.database_id, p_database_id) = p_database_id);
END;
$$;

-- A name that a grant or AUTHORIZATION may mention.
CREATE OR REPLACE FUNCTION ssb_internal.require_principal(p_verb text, p_kind text, p_name text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.is_principal(p_name, p_database_id) THEN
        PERFORM ssb_internal.raise_not_found(p_verb, p_kind, p_name);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_principal(p_name text, p_database_id integer)
RETURNS void
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ssb_internal.require_principal('find', 'user', p_name, p_database_id) $$;

-- A role's name as CREATE USER (of this T-SQL database), or CREATE LOGIN (NULL), spells it: role appworker is user AppWorker.
CREATE OR REPLACE FUNCTION ssb_internal.spelled_principal(p_role name, p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT p.name FROM ssb.principal AS p
                      WHERE lower(p.name) = lower(p_role) AND coalesce(p.database_id, 0) = coalesce(p_database_id, 0)), p_role);
END;
$$;

-- The T-SQL name of a role: dbo for whoever has the role that owns the runtime
-- (superusers have every role), and for whose the database is; else the user's.
CREATE OR REPLACE FUNCTION ssb_internal.user_of_role(p_role name, p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN pg_has_role(p_role, ssb_internal.runtime_owner(), 'USAGE') OR ssb_internal.owns_database(p_role, p_database_id) THEN 'dbo'
                ELSE ssb_internal.spelled_principal(p_role, p_database_id) END;
END;
$$;
