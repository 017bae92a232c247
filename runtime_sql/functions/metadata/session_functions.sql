-- Who and where: functions and @@variables about the session and the server.

CREATE OR REPLACE FUNCTION sys.user_of_role(role name) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ssb_internal.user_of_role(role, ssb_internal.current_database_id());

-- USER_NAME(), CURRENT_USER, SESSION_USER: the database user. In a module WITH EXECUTE AS the one as whom it runs, who is not
-- ssb_internal.caller(): it gives no right to be called so.
CREATE OR REPLACE FUNCTION sys.user_name() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.user_of_role(current_user);

-- Principals by number: 0 public, 1 dbo, T-SQL's own principals by
-- principal_id, PostgreSQL's roles by ssb_internal.role_number.
CREATE OR REPLACE FUNCTION sys.user_name(id integer) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE id
        WHEN 0 THEN 'public'
        WHEN 1 THEN 'dbo'
        WHEN 2 THEN 'guest'
        WHEN 3 THEN 'INFORMATION_SCHEMA'
        WHEN 4 THEN 'sys'
        WHEN 16384 THEN 'db_owner'
        WHEN 16385 THEN 'db_accessadmin'
        WHEN 16386 THEN 'db_securityadmin'
        WHEN 16387 THEN 'db_ddladmin'
        WHEN 16389 THEN 'db_backupoperator'
        WHEN 16390 THEN 'db_datareader'
        WHEN 16391 THEN 'db_datawriter'
        WHEN 16392 THEN 'db_denydatareader'
        WHEN 16393 THEN 'db_denydatawriter'
        ELSE coalesce((SELECT p.name FROM ssb.principal AS p WHERE p.principal_id = id AND p.kind <> 'LOGIN'),
                      ssb_internal.role_numbered(id)::text)
    END
$$;
CREATE OR REPLACE FUNCTION sys.user_id(name text) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(ssb_internal.fixed_principal_number(name),
                    (SELECT p.principal_id FROM ssb.principal AS p
                      WHERE lower(p.name) = lower(user_id.name) AND p.kind <> 'LOGIN'
                        AND p.database_id = ssb_internal.current_database_id()),
                    (SELECT ssb_internal.role_number(r.oid) FROM pg_roles AS r WHERE r.rolname = ssb_internal.role_of(user_id.name)))
$$;
CREATE OR REPLACE FUNCTION sys.user_id() RETURNS integer
LANGUAGE sql STABLE RETURN sys.user_id(sys.user_name());
CREATE OR REPLACE FUNCTION sys.database_principal_id(name text) RETURNS integer
LANGUAGE sql STABLE RETURN sys.user_id(name);
CREATE OR REPLACE FUNCTION sys.database_principal_id() RETURNS integer
LANGUAGE sql STABLE RETURN sys.user_id();

-- Logins. A login is a role; its security identifier is the oid's bytes.
CREATE OR REPLACE FUNCTION sys.suser_name() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN ssb_internal.spelled_principal(current_user, NULL);
CREATE OR REPLACE FUNCTION sys.suser_name(id integer) RETURNS text
LANGUAGE sql STABLE RETURN (SELECT p.name FROM sys.server_principals AS p WHERE p.principal_id = id);
CREATE OR REPLACE FUNCTION sys.suser_id(name text) RETURNS integer
LANGUAGE sql STABLE RETURN (SELECT p.principal_id FROM sys.server_principals AS p WHERE lower(p.name) = lower(suser_id.name) LIMIT 1);
CREATE OR REPLACE FUNCTION sys.suser_id() RETURNS integer
LANGUAGE sql STABLE RETURN sys.suser_id(current_user::text);
CREATE OR REPLACE FUNCTION sys.suser_sid() RETURNS bytea
LANGUAGE sql STABLE RETURN convert_to(current_user, 'UTF8');
CREATE OR REPLACE FUNCTION sys.suser_sid(name text) RETURNS bytea
LANGUAGE sql STABLE RETURN (SELECT p.sid FROM sys.server_principals AS p WHERE lower(p.name) = lower(suser_sid.name) LIMIT 1);
CREATE OR REPLACE FUNCTION sys.suser_sname() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.suser_name();
CREATE OR REPLACE FUNCTION sys.suser_sname(sid bytea) RETURNS text
LANGUAGE sql STABLE RETURN coalesce((SELECT p.name FROM sys.server_principals AS p WHERE p.sid = suser_sname.sid), sys.suser_name(sys.convert_int(sid)));
CREATE OR REPLACE FUNCTION sys.system_user() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.suser_name();
-- The login of the connection, whatever EXECUTE AS did since.
CREATE OR REPLACE FUNCTION sys.original_login() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN session_user::text;

-- IS_MEMBER and kin: 1, 0, or NULL for a role that does not exist.
CREATE OR REPLACE FUNCTION sys.is_member(role text) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sys.is_rolemember(role, NULL);
END;
$$;
CREATE OR REPLACE FUNCTION sys.is_rolemember(role text, principal text DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_database integer := ssb_internal.current_database_id();
    v_role name := CASE WHEN principal IS NULL THEN ssb_internal.caller() ELSE ssb_internal.role_of(principal) END;
BEGIN
    IF role IS NULL OR lower(role COLLATE "C") NOT IN (
           'public', 'db_owner', 'db_ddladmin', 'db_datareader', 'db_datawriter', 'db_accessadmin', 'db_securityadmin',
           'db_backupoperator', 'db_denydatareader', 'db_denydatawriter')
       AND ssb_internal.role_of(role) IS NULL
       AND NOT EXISTS (SELECT FROM ssb.principal AS p
                        WHERE lower(p.name) = lower(is_rolemember.role) AND p.database_id = v_database) THEN
        RETURN NULL;
    ELSIF v_role IS NULL THEN
        -- A principal without a PostgreSQL role of its name.
        RETURN CASE WHEN EXISTS (SELECT FROM ssb.principal AS p
                                  WHERE lower(p.name) = lower(principal) AND p.database_id = v_database)
            THEN (lower(role COLLATE "C") = 'public' OR EXISTS (
                SELECT FROM ssb.role_member AS m WHERE m.database_id = v_database
                   AND lower(m.role) = lower(is_rolemember.role) AND lower(m.member) = lower(principal)))::integer
        END;
    END IF;
    RETURN (ssb_internal.is_member(v_role, role, v_database)
            OR lower(role COLLATE "C") LIKE 'db\_%' AND lower(role COLLATE "C") NOT LIKE 'db\_deny%'
               AND pg_has_role(v_role, ssb_internal.runtime_owner(), 'USAGE'))::integer;
END;
$$;
-- Fixed server roles: superusers have them all, others public only.
CREATE OR REPLACE FUNCTION sys.is_srvrolemember(role text, login text DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role name := CASE WHEN login IS NULL THEN ssb_internal.caller() ELSE ssb_internal.role_of(login) END;
    v_super boolean := (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = v_role);
BEGIN
    RETURN CASE
        WHEN v_super IS NULL THEN NULL
        WHEN lower(role COLLATE "C") = 'public' THEN 1
        WHEN lower(role COLLATE "C") = 'dbcreator' THEN
            (v_super OR (SELECT r.rolcreatedb FROM pg_catalog.pg_roles AS r WHERE r.rolname = v_role))::integer
        WHEN lower(role COLLATE "C") = 'securityadmin' THEN
            (v_super OR (SELECT r.rolcreaterole FROM pg_catalog.pg_roles AS r WHERE r.rolname = v_role))::integer
        WHEN lower(role COLLATE "C") IN ('sysadmin', 'serveradmin', 'setupadmin', 'processadmin', 'diskadmin', 'bulkadmin') THEN
            v_super::integer
    END;
END;
$$;

-- The client. HOST_NAME is the client's address: PostgreSQL is not told the name.
CREATE OR REPLACE FUNCTION sys.host_name() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED RETURN coalesce(host(inet_client_addr()), 'localhost');
CREATE OR REPLACE FUNCTION sys.host_id() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED RETURN inet_client_port()::text;
CREATE OR REPLACE FUNCTION sys.app_name() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN current_setting('application_name');
CREATE OR REPLACE FUNCTION sys.program_name() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN current_setting('application_name');

-- The server. @@SERVERNAME: the cluster's name where it has one, else where it listens.
CREATE OR REPLACE FUNCTION sys.servername() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN coalesce(nullif(current_setting('cluster_name'), ''), host(inet_server_addr()), 'localhost');
CREATE OR REPLACE FUNCTION sys.servicename() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN 'pg-service-broker';
CREATE OR REPLACE FUNCTION sys.version() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN 'Microsoft SQL Server compatible: pg-service-broker on ' || pg_catalog.version();
CREATE OR REPLACE FUNCTION sys.max_connections() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE RETURN current_setting('max_connections')::integer;
-- @@LOCK_TIMEOUT: milliseconds, -1 for no limit. PostgreSQL cannot wait for less than one: SET LOCK_TIMEOUT 0 makes it one.
CREATE OR REPLACE FUNCTION sys.lock_timeout() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT CASE t.milliseconds WHEN 0 THEN -1 WHEN 1 THEN 0 ELSE t.milliseconds END
          FROM (SELECT (date_part('epoch', current_setting('lock_timeout')::interval) * 1000)::integer AS milliseconds) AS t);
CREATE OR REPLACE FUNCTION sys.current_transaction_id() RETURNS bigint
LANGUAGE sql VOLATILE RETURN pg_current_xact_id()::text::bigint;

-- NEWSEQUENTIALID: greater than every one before it on this server (in the
-- order of PostgreSQL's uuid): 100-nanosecond clock first, then random bits.
CREATE OR REPLACE FUNCTION sys.newsequentialid() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 16, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;

-- CONTEXT_INFO and SESSION_CONTEXT live in settings of the session.
CREATE OR REPLACE FUNCTION sys.context_info() RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN decode(nullif(current_setting('pgsb.context_info', true), ''), 'hex');
CREATE OR REPLACE FUNCTION sys.set_context_info(value bytea) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A fixed 128 bytes, as sys.dm_exec_sessions shows them.
    PERFORM set_config('pgsb.context_info',
                       encode(substr(value || decode(repeat('00', 128), 'hex'), 1, 128), 'hex'), false);
END;
$$;
CREATE OR REPLACE FUNCTION sys.session_context(key text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (nullif(current_setting('pgsb.session_context', true), '')::json #>> ARRAY[key, 'value']);
CREATE OR REPLACE FUNCTION sys.set_session_context(key text, value text, read_only integer DEFAULT 0) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_all jsonb := coalesce(nullif(current_setting('pgsb.session_context', true), '')::jsonb, '{}');
BEGIN
    IF (v_all #>> ARRAY[key, 'read_only']) = '1' THEN
        PERFORM ssb_internal.raise_error(15664, format(
            'Cannot set key ''%s'' in the session context. The key has been set as read_only for this session.', key));
    END IF;
    PERFORM set_config('pgsb.session_context',
                       (v_all || jsonb_build_object(key, jsonb_build_object('value', value, 'read_only', read_only)))::text,
                       false);
END;
$$;

-- @@IDENTITY and kin. identity_of: the last value the caller made in that
-- table; NULL before the first one and for a table without identity column.
CREATE OR REPLACE FUNCTION sys.identity_of(target regclass) RETURNS numeric
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sequence regclass := sys.identity_sequence(target);
BEGIN
    RETURN currval(v_sequence);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    RETURN NULL;
END;
$$;
CREATE OR REPLACE FUNCTION sys.identity() RETURNS numeric
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN lastval();
EXCEPTION WHEN object_not_in_prerequisite_state OR insufficient_privilege THEN
    RETURN NULL;
END;
$$;
-- SCOPE_IDENTITY() where a body reads it behind an INSERT of its own, which its compiled text notes: PostgreSQL's lastval() is
-- also moved by what SEND and NEXT VALUE FOR draw, and by triggers. p_before: what it was.
--
-- Called by  compiled INSERT and MERGE of bodies that read SCOPE_IDENTITY()
CREATE OR REPLACE FUNCTION ssb_internal.identity_after(p_table text, p_before numeric) RETURNS numeric
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sequence regclass := sys.identity_sequence(to_regclass(p_table));
BEGIN
    IF v_sequence IS NULL THEN
        -- A view does not tell which table's column it was.
        RETURN CASE WHEN (SELECT c.relkind FROM pg_class AS c WHERE c.oid = to_regclass(p_table)) = 'v' THEN sys.identity() ELSE p_before END;
    END IF;
    RETURN currval(v_sequence);
EXCEPTION WHEN object_not_in_prerequisite_state OR insufficient_privilege THEN
    RETURN p_before;
END;
$$;
-- @@IDENTITY counts what triggers and called procedures inserted, and no number that SEND or NEXT VALUE FOR draws. Who reads it has
-- the session tell (ssb.session): then each INSERT of the bodies that are called notes what it made. What triggers did is in the
-- setting pgsb.identity, which is emptied when telling begins and when it is read, so that it tells of one statement alone.
--
-- Called by  compiled bodies that read @@IDENTITY, at their beginning. p_fresh: nobody around has asked before
CREATE OR REPLACE FUNCTION ssb_internal.ask_identity(session ssb.session, p_fresh boolean) RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_fresh OR session.tells_identity IS NOT TRUE THEN
        session.tells_identity := true;
        session.identity := sys.identity();
        PERFORM ssb_internal.begin_telling();
    END IF;
    RETURN session;
END;
$$;
-- What the setting told before.
--
-- Called by  compiled INSERT, MERGE and EXEC of triggers
CREATE OR REPLACE FUNCTION ssb_internal.begin_telling() RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_told text := nullif(current_setting('pgsb.identity', true), '');
BEGIN
    IF v_told IS NOT NULL THEN
        PERFORM set_config('pgsb.identity', '', true);
    END IF;
    RETURN v_told;
END;
$$;
-- Called by  compiled INSERT, UPDATE, DELETE and MERGE, where the session tells
CREATE OR REPLACE FUNCTION ssb_internal.identity_told(p_table text, p_inserted boolean, p_before numeric) RETURNS numeric
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_told text := ssb_internal.begin_telling();
BEGIN
    RETURN CASE WHEN v_told IS NOT NULL THEN v_told::numeric
                WHEN p_inserted AND (SELECT c.relkind IN ('r', 'p') FROM pg_class AS c WHERE c.oid = to_regclass(p_table))
                     AND sys.identity_sequence(to_regclass(p_table)) IS NULL THEN NULL
                WHEN p_inserted THEN ssb_internal.identity_after(p_table, p_before)
                ELSE p_before END;
END;
$$;
-- In a trigger: for the statement that fired it. p_before: what an earlier statement of the trigger has told.
CREATE OR REPLACE FUNCTION ssb_internal.tell_identity(p_table text, p_inserted boolean, p_before text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF coalesce(current_setting('pgsb.identity', true), '') = '' THEN
        PERFORM set_config('pgsb.identity',
                           coalesce(CASE WHEN p_inserted THEN ssb_internal.identity_after(p_table, NULL)::text END, p_before, ''), true);
    END IF;
END;
$$;
-- … of what a procedure has inserted that the trigger called.
CREATE OR REPLACE FUNCTION ssb_internal.tell_called(p_identity numeric, p_before text) RETURNS void
LANGUAGE sql
RETURN set_config('pgsb.identity', coalesce(p_identity::text, p_before, ''), true);
-- @@IDENTITY in a trigger. p_before: what it was when the trigger began.
CREATE OR REPLACE FUNCTION ssb_internal.identity_in_trigger(p_before numeric) RETURNS numeric
LANGUAGE sql STABLE
RETURN coalesce(nullif(current_setting('pgsb.identity', true), '')::numeric, p_before);
CREATE OR REPLACE FUNCTION sys.scope_identity() RETURNS numeric
LANGUAGE sql STABLE RETURN sys.identity();

-- sp_getapplock and sp_releaseapplock. PostgreSQL's advisory locks know shared
-- and exclusive: IntentShared and Shared are shared, all others exclusive. What
-- the resource locks is its name's hash, in this database.
-- Returns 0 granted, 1 granted after waiting, -1 timed out, -999 wrong arguments.
CREATE OR REPLACE FUNCTION sys.getapplock(
    resource text, mode text, owner text DEFAULT 'Transaction', timeout integer DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key bigint := hashtextextended('applock:' || resource, 0);
    v_shared boolean := lower(mode COLLATE "C") IN ('shared', 'intentshared');
    v_session boolean := lower(owner COLLATE "C") = 'session';
    v_granted boolean;
    v_before text := current_setting('lock_timeout');
BEGIN
    IF resource IS NULL OR lower(mode COLLATE "C") NOT IN ('shared', 'intentshared', 'update', 'intentexclusive', 'exclusive')
       OR mode IS NULL OR lower(owner COLLATE "C") NOT IN ('transaction', 'session') THEN
        RETURN -999;
    END IF;
    v_granted := CASE
        WHEN v_shared AND v_session THEN pg_try_advisory_lock_shared(v_key)
        WHEN v_shared THEN pg_try_advisory_xact_lock_shared(v_key)
        WHEN v_session THEN pg_try_advisory_lock(v_key)
        ELSE pg_try_advisory_xact_lock(v_key)
    END;
    IF v_granted THEN
        RETURN 0;
    ELSIF timeout = 0 THEN
        RETURN -1;
    END IF;
    BEGIN
        IF timeout > 0 THEN
            PERFORM set_config('lock_timeout', timeout::text, true);
        END IF;
        IF v_shared AND v_session THEN
            PERFORM pg_advisory_lock_shared(v_key);
        ELSIF v_shared THEN
            PERFORM pg_advisory_xact_lock_shared(v_key);
        ELSIF v_session THEN
            PERFORM pg_advisory_lock(v_key);
        ELSE
            PERFORM pg_advisory_xact_lock(v_key);
        END IF;
    EXCEPTION WHEN lock_not_available THEN
        RETURN -1;
    END;
    PERFORM set_config('lock_timeout', v_before, true);
    RETURN 1;
END;
$$;

-- What compiled text calls: a lock of the transaction needs one (15626, a message of severity 10).
CREATE OR REPLACE FUNCTION ssb_internal.get_applock(
    trancount integer, resource text, mode text, owner text DEFAULT 'Transaction', timeout integer DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF trancount = 0 AND lower(owner COLLATE "C") = 'transaction' THEN
        PERFORM ssb_internal.print('You attempted to acquire a transactional application lock without an active transaction.');
        RETURN -999;
    END IF;
    RETURN sys.getapplock(resource, mode, owner, timeout);
END;
$$;
-- Releases a session's lock; one of the transaction goes with the transaction,
-- as PostgreSQL has it (0 says so nevertheless: the caller holds it no longer
-- than it must).
CREATE OR REPLACE FUNCTION sys.releaseapplock(resource text, owner text DEFAULT 'Transaction') RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key bigint := hashtextextended('applock:' || resource, 0);
    v_mode text := (
        SELECT l.mode FROM pg_catalog.pg_locks AS l
         WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid() AND l.granted AND l.objsubid = 1
           AND l.classid::bigint = (v_key >> 32) & 4294967295 AND l.objid::bigint = v_key & 4294967295
         LIMIT 1);
BEGIN
    IF v_mode IS NULL THEN
        PERFORM ssb_internal.raise_error(1223, format('Cannot release the application lock (Database Principal: ''public'', '
            'Resource: ''%s'') because it is not currently held.', resource));
    ELSIF lower(owner COLLATE "C") = 'session' THEN
        IF v_mode = 'ShareLock' THEN
            PERFORM pg_advisory_unlock_shared(v_key);
        ELSE
            PERFORM pg_advisory_unlock(v_key);
        END IF;
    END IF;
    RETURN 0;
END;
$$;
