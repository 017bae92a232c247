-- sys.databases, schemas and principals. Catalog views show the session's T-SQL
-- database (ssb.use_database), as they do in SQL Server after USE.

-- The number of an owner or grantee: dbo is 1, and so is whose the database is; public 0; a T-SQL principal has its
-- own, another PostgreSQL role that of ssb_internal.role_number.
CREATE OR REPLACE FUNCTION ssb_internal.principal_id_of(p_name text, p_database_id integer)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN lower(p_name COLLATE "C") = 'dbo' OR p_name = ssb_internal.runtime_owner()
                     OR p_name = (SELECT d.owner FROM ssb.database AS d WHERE d.database_id = p_database_id) THEN 1
                ELSE coalesce(ssb_internal.fixed_principal_number(p_name),
                              (SELECT p.principal_id FROM ssb.principal AS p
                                WHERE lower(p.name) = lower(p_name) AND coalesce(p.database_id, p_database_id) = p_database_id
                                ORDER BY p.database_id IS NULL LIMIT 1),
                              (SELECT ssb_internal.role_number(r.oid) FROM pg_roles AS r WHERE r.rolname = p_name)) END;
$$;

-- The rows that a catalog view shows in another T-SQL database: p_view is a NULL of its type.
-- Called by  compiled SELECT … FROM Other.sys.tables
CREATE OR REPLACE FUNCTION ssb_internal.of_database(p_database text, p_view anyelement)
RETURNS SETOF anyelement
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_database text := current_setting('pgsb.database', true);
BEGIN
    PERFORM ssb.use_database(p_database);
    RETURN QUERY EXECUTE format('SELECT v.* FROM %s AS v', pg_typeof(p_view));
    PERFORM set_config('pgsb.database', coalesce(v_database, ''), false);
EXCEPTION WHEN OTHERS THEN
    PERFORM set_config('pgsb.database', coalesce(v_database, ''), false);
    RAISE;
END;
$$;

-- What the session's scripts compare by: case counts, unless they are compiled with --collation ci, which pgsb run and
-- pgsb shell say in the setting.
CREATE OR REPLACE FUNCTION ssb_internal.collation_name()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN current_setting('pgsb.collation', true) = 'ci' THEN 'SQL_Latin1_General_CP1_CI_AS' ELSE 'SQL_Latin1_General_CP1_CS_AS' END;

CREATE OR REPLACE VIEW sys.databases AS
SELECT ssb_internal.database_name(d.database_id)                         AS name,
       d.database_id,
       NULL::integer                                            AS source_database_id,
       CASE WHEN lower(d.owner COLLATE "C") = 'sa' AND to_regrole('sa') IS NULL THEN '\x01'
            ELSE convert_to(d.owner, 'UTF8') END                AS owner_sid,
       d.create_date::timestamp(3)                              AS create_date,
       coalesce(nullif(d.options ->> 'COMPATIBILITY_LEVEL', '')::smallint, 160::smallint) AS compatibility_level,
       ssb_internal.collation_name()                                     AS collation_name,
       CASE WHEN d.options -> 'SINGLE_USER' IS NOT NULL THEN 1 WHEN d.options -> 'RESTRICTED_USER' IS NOT NULL THEN 2 ELSE 0 END::smallint AS user_access,
       CASE WHEN d.options -> 'SINGLE_USER' IS NOT NULL THEN 'SINGLE_USER' WHEN d.options -> 'RESTRICTED_USER' IS NOT NULL THEN 'RESTRICTED_USER'
            ELSE 'MULTI_USER' END                               AS user_access_desc,
       (d.options -> 'READ_ONLY' IS NOT NULL)::integer::sys.bit              AS is_read_only,
       0::sys.bit                                               AS is_auto_close_on,
       0::sys.bit                                               AS is_auto_shrink_on,
       CASE WHEN d.options -> 'EMERGENCY' IS NOT NULL THEN 5 WHEN d.options -> 'OFFLINE' IS NOT NULL THEN 6 ELSE 0 END::smallint AS state,
       CASE WHEN d.options -> 'EMERGENCY' IS NOT NULL THEN 'EMERGENCY' WHEN d.options -> 'OFFLINE' IS NOT NULL THEN 'OFFLINE' ELSE 'ONLINE' END AS state_desc,
       0::sys.bit                                               AS is_in_standby,
       CASE upper((d.options ->> 'ALLOW_SNAPSHOT_ISOLATION') COLLATE "C") WHEN 'ON' THEN 1 ELSE 0 END::smallint AS snapshot_isolation_state,
       coalesce(upper(d.options ->> 'ALLOW_SNAPSHOT_ISOLATION'), 'OFF') AS snapshot_isolation_state_desc,
       1::sys.bit                                               AS is_read_committed_snapshot_on,
       CASE upper((d.options ->> 'RECOVERY') COLLATE "C") WHEN 'BULK_LOGGED' THEN 2 WHEN 'SIMPLE' THEN 3 ELSE 1 END::smallint AS recovery_model,
       coalesce(upper(d.options ->> 'RECOVERY'), 'FULL')        AS recovery_model_desc,
       d.is_trustworthy_on::integer::sys.bit                    AS is_trustworthy_on,
       EXISTS (SELECT FROM ssb.master_key AS k WHERE k.database_id = d.database_id AND k.by_service IS NOT NULL)::integer::sys.bit AS is_master_key_encrypted_by_server,
       d.is_broker_enabled::integer::sys.bit                    AS is_broker_enabled,
       d.service_broker_guid,
       d.is_honor_broker_priority_on::integer::sys.bit          AS is_honor_broker_priority_on,
       0::sys.bit                                               AS is_db_chaining_on,
       0::sys.bit                                               AS is_published,
       0::sys.bit                                               AS is_encrypted,
       0::smallint                                              AS containment,
       0::smallint                                              AS log_reuse_wait,
       'NOTHING'::text                                          AS log_reuse_wait_desc,
       2::smallint                                              AS page_verify_option,
       'CHECKSUM'::text                                         AS page_verify_option_desc,
       1::sys.bit                                               AS is_auto_create_stats_on,
       1::sys.bit                                               AS is_auto_update_stats_on,
       0::sys.bit                                               AS is_query_store_on,
       0::sys.bit                                               AS is_cdc_enabled,
       0::sys.bit                                               AS is_subscribed,
       0::sys.bit                                               AS is_distributor,
       0::sys.bit                                               AS is_fulltext_enabled,
       NULL::uuid                                               AS replica_id,
       (upper((d.options ->> 'RECURSIVE_TRIGGERS') COLLATE "C") IS NOT DISTINCT FROM 'ON')::integer::sys.bit AS is_recursive_triggers_on,
       0::sys.bit                                               AS is_ansi_null_default_on,
       0::sys.bit                                               AS is_ansi_nulls_on,
       0::sys.bit                                               AS is_ansi_padding_on,
       0::sys.bit                                               AS is_ansi_warnings_on,
       0::sys.bit                                               AS is_arithabort_on,
       0::sys.bit                                               AS is_concat_null_yields_null_on,
       0::sys.bit                                               AS is_numeric_roundabort_on,
       0::sys.bit                                               AS is_quoted_identifier_on,
       0::sys.bit                                               AS is_cursor_close_on_commit_on,
       0::sys.bit                                               AS is_local_cursor_default,
       0::sys.bit                                               AS is_auto_update_stats_async_on,
       0::sys.bit                                               AS is_parameterization_forced,
       0::sys.bit                                               AS is_date_correlation_on,
       0::sys.bit                                               AS is_supplemental_logging_enabled,
       0::sys.bit                                               AS is_merge_published,
       0::sys.bit                                               AS is_sync_with_backup,
       0::sys.bit                                               AS is_cleanly_shutdown
  FROM ssb.database AS d
 ORDER BY d.database_id;

-- Every PostgreSQL schema of the session's T-SQL database. tempdb (2) has the session's temporary tables in its dbo.
--
-- A function, for the planner: as a join its rows were taken for one, and views over it for a row each, which were then joined
-- by reading one whole for each row of the other. And it is computed once for a view, not for each of its rows.
CREATE OR REPLACE FUNCTION ssb_internal.visible_schemas()
RETURNS TABLE (oid oid, postgres_name text, name text, schema_id integer, owner text, database_id integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_database CONSTANT integer := ssb_internal.current_database_id();
BEGIN
    RETURN QUERY
    SELECT n.oid, n.nspname::text,
           CASE WHEN n.oid = pg_my_temp_schema() THEN 'dbo'
                ELSE coalesce(s.schema_name, substr(n.nspname::text, length(d.schema_prefix) + 1)) END,
           CASE WHEN n.nspname = d.schema_prefix || 'dbo' OR n.oid = pg_my_temp_schema() THEN 1 ELSE n.oid::integer END,
           coalesce(s.owner, 'dbo'), d.database_id
      FROM ssb.database AS d
      JOIN pg_namespace AS n ON ssb_internal.database_of_schema(n.nspname::text) = d.database_id
                                AND length(n.nspname) > length(d.schema_prefix) AND n.nspname !~ '^pg_'
                             OR n.oid = pg_my_temp_schema() AND d.database_id = 2
      LEFT JOIN ssb.schema_of_database AS s ON s.name = n.nspname
     WHERE d.database_id = v_database AND n.nspname NOT IN ('ssb', 'ssb_internal', 'ssb_locks', 'ssb_staging', 'sys', 'information_schema');
END;
$$;
CREATE OR REPLACE VIEW ssb_internal.visible_schema AS
SELECT v.oid, v.postgres_name COLLATE "C" AS postgres_name, v.name COLLATE "C" AS name, v.schema_id, v.owner, v.database_id
  FROM ssb_internal.visible_schemas() AS v;

-- Their numbers, for views over a catalog that has the system's own rows too: `WHERE p.pronamespace = ANY ((SELECT
-- ssb_internal.visible_namespaces())::oid[])` is cheap, so it is asked before a condition of the caller's that calls a function.
CREATE OR REPLACE FUNCTION ssb_internal.visible_namespaces()
RETURNS oid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(SELECT v.oid FROM ssb_internal.visible_schemas() AS v);
END;
$$;

CREATE OR REPLACE VIEW sys.schemas AS
SELECT v.name, v.schema_id, ssb_internal.principal_id_of(v.owner, v.database_id) AS principal_id
  FROM ssb_internal.visible_schema AS v
 WHERE v.oid <> pg_my_temp_schema()
UNION ALL
SELECT 'dbo', 1, 1 WHERE NOT EXISTS (SELECT FROM ssb_internal.visible_schema AS v WHERE v.schema_id = 1)
UNION ALL
SELECT s.name, s.schema_id, s.schema_id FROM (VALUES ('guest', 2), ('INFORMATION_SCHEMA', 3), ('sys', 4)) AS s (name, schema_id);

CREATE OR REPLACE VIEW sys.database_principals AS
SELECT b.name, b.principal_id, b.type::char(1) AS type, b.type_desc, b.default_schema_name,
       NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date, NULL::integer AS owning_principal_id,
       -- dbo is whose the database is.
       CASE b.name WHEN 'dbo' THEN (SELECT d.owner_sid FROM sys.databases AS d WHERE d.database_id = (SELECT ssb_internal.current_database_id()))
                   WHEN 'guest' THEN '\x00'::bytea END AS sid,
       (b.type = 'R' AND b.name <> 'public')::integer::sys.bit AS is_fixed_role,
       (b.name = 'dbo')::integer AS authentication_type,
       CASE b.name WHEN 'dbo' THEN 'INSTANCE' ELSE 'NONE' END AS authentication_type_desc,
       NULL::text AS default_language_name, NULL::integer AS default_language_lcid, 0::sys.bit AS allow_encrypted_value_modifications
  FROM (VALUES ('public', 0, 'R', 'DATABASE_ROLE', NULL), ('dbo', 1, 'S', 'SQL_USER', 'dbo'),
               ('guest', 2, 'S', 'SQL_USER', 'guest'), ('INFORMATION_SCHEMA', 3, 'S', 'SQL_USER', NULL),
               ('sys', 4, 'S', 'SQL_USER', NULL), ('db_owner', 16384, 'R', 'DATABASE_ROLE', NULL),
               ('db_accessadmin', 16385, 'R', 'DATABASE_ROLE', NULL), ('db_securityadmin', 16386, 'R', 'DATABASE_ROLE', NULL),
               ('db_ddladmin', 16387, 'R', 'DATABASE_ROLE', NULL), ('db_backupoperator', 16389, 'R', 'DATABASE_ROLE', NULL),
               ('db_datareader', 16390, 'R', 'DATABASE_ROLE', NULL), ('db_datawriter', 16391, 'R', 'DATABASE_ROLE', NULL),
               ('db_denydatareader', 16392, 'R', 'DATABASE_ROLE', NULL), ('db_denydatawriter', 16393, 'R', 'DATABASE_ROLE', NULL))
       AS b (name, principal_id, type, type_desc, default_schema_name)
UNION ALL
SELECT p.name, p.principal_id,
       CASE p.kind WHEN 'ROLE' THEN 'R' WHEN 'APPLICATION ROLE' THEN 'A' ELSE CASE WHEN p.certificate IS NULL THEN 'S' ELSE 'C' END END,
       CASE p.kind WHEN 'ROLE' THEN 'DATABASE_ROLE' WHEN 'APPLICATION ROLE' THEN 'APPLICATION_ROLE'
                   ELSE CASE WHEN p.certificate IS NULL THEN 'SQL_USER' ELSE 'CERTIFICATE_MAPPED_USER' END END,
       coalesce(p.default_schema, CASE WHEN p.kind = 'USER' THEN 'dbo' END),
       p.create_date::timestamp(3), p.create_date::timestamp(3),
       CASE p.kind WHEN 'ROLE' THEN coalesce(ssb_internal.principal_id_of(p.owner, p.database_id), 1) END,
       convert_to(p.name, 'UTF8'), 0::sys.bit, (p.kind = 'USER' AND p.login IS NOT NULL)::integer,
       CASE WHEN p.kind = 'USER' AND p.login IS NOT NULL THEN 'INSTANCE' ELSE 'NONE' END, NULL, NULL, 0::sys.bit
  FROM ssb.principal AS p
 WHERE p.database_id = (SELECT ssb_internal.current_database_id())
UNION ALL
SELECT r.rolname::text, ssb_internal.role_number(r.oid), CASE WHEN r.rolcanlogin THEN 'S' ELSE 'R' END,
       CASE WHEN r.rolcanlogin THEN 'SQL_USER' ELSE 'DATABASE_ROLE' END, 'dbo', NULL, NULL,
       CASE WHEN NOT r.rolcanlogin THEN 1 END, convert_to(r.rolname::text, 'UTF8'), 0::sys.bit, r.rolcanlogin::integer,
       CASE WHEN r.rolcanlogin THEN 'INSTANCE' ELSE 'NONE' END, NULL, NULL, 0::sys.bit
  FROM pg_roles AS r
 WHERE r.rolname !~ '^pg_'
   AND NOT EXISTS (SELECT FROM ssb.principal AS p
                    WHERE lower(p.name) = lower(r.rolname COLLATE "default") AND p.database_id = (SELECT ssb_internal.current_database_id()));

CREATE OR REPLACE VIEW sys.database_role_members AS
SELECT 16384 AS role_principal_id, 1 AS member_principal_id
UNION ALL
SELECT ssb_internal.principal_id_of(m.role, m.database_id), ssb_internal.principal_id_of(m.member, m.database_id)
  FROM ssb.role_member AS m WHERE m.database_id = (SELECT ssb_internal.current_database_id());

CREATE OR REPLACE VIEW sys.server_principals AS
SELECT b.name, b.principal_id, b.sid::bytea AS sid, b.type::char(1) AS type, b.type_desc, 0::sys.bit AS is_disabled,
       NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date,
       CASE b.type WHEN 'S' THEN 'master' END AS default_database_name,
       CASE b.type WHEN 'S' THEN 'us_english' END AS default_language_name, NULL::integer AS credential_id,
       CASE b.type WHEN 'R' THEN 1 END AS owning_principal_id, (b.name = 'sysadmin')::integer::sys.bit AS is_fixed_role
  FROM (VALUES ('sa', 1, '\x01', 'S', 'SQL_LOGIN'), ('public', 2, '\x02', 'R', 'SERVER_ROLE'), ('sysadmin', 3, '\x03', 'R', 'SERVER_ROLE'))
       AS b (name, principal_id, sid, type, type_desc)
UNION ALL
SELECT p.name, p.principal_id, convert_to(p.name, 'UTF8') AS sid, 'S'::char(1) AS type, 'SQL_LOGIN'::text AS type_desc,
       0::sys.bit AS is_disabled, p.create_date::timestamp(3) AS create_date, p.create_date::timestamp(3) AS modify_date,
       'master', 'us_english', NULL, NULL, 0::sys.bit
  FROM ssb.principal AS p WHERE p.kind = 'LOGIN'
UNION ALL
SELECT r.rolname::text, ssb_internal.role_number(r.oid), convert_to(r.rolname::text, 'UTF8'), CASE WHEN r.rolcanlogin THEN 'S' ELSE 'R' END,
       CASE WHEN r.rolcanlogin THEN 'SQL_LOGIN' ELSE 'SERVER_ROLE' END, 0::sys.bit, NULL, NULL, current_database()::text,
       CASE WHEN r.rolcanlogin THEN 'us_english' END, NULL, CASE WHEN NOT r.rolcanlogin THEN 1 END, 0::sys.bit
  FROM pg_roles AS r
 WHERE r.rolname !~ '^pg_' AND lower(r.rolname::text COLLATE "C") NOT IN ('sa', 'public', 'sysadmin')
   AND NOT EXISTS (SELECT FROM ssb.principal AS p WHERE p.kind = 'LOGIN' AND lower(p.name) = lower(r.rolname COLLATE "default"));

-- SQL Server's letters for a permission. A permission that it does not have has none.
CREATE OR REPLACE FUNCTION ssb_internal.permission_code(p_permission text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb '{"ALTER": "AL", "CONTROL": "CL", "DELETE": "DL", "EXECUTE": "EX", "IMPERSONATE": "IM", "INSERT": "IN", "RECEIVE": "RC",
                   "REFERENCES": "RF", "SELECT": "SL", "SEND": "SN", "TAKE OWNERSHIP": "TO", "UPDATE": "UP", "VIEW CHANGE TRACKING": "VWCT",
                   "VIEW DEFINITION": "VW", "CONNECT": "CO", "CONNECT REPLICATION": "CORP", "AUTHENTICATE": "AUTH", "CHECKPOINT": "CP",
                   "BACKUP DATABASE": "BADB", "BACKUP LOG": "BALO", "SHOWPLAN": "SPLN", "SUBSCRIBE QUERY NOTIFICATIONS": "SUQN",
                   "VIEW DATABASE STATE": "VWDS", "ALTER ANY APPLICATION ROLE": "ALAR", "ALTER ANY ASSEMBLY": "ALAS",
                   "ALTER ANY ASYMMETRIC KEY": "ALAK", "ALTER ANY CERTIFICATE": "ALCF", "ALTER ANY CONTRACT": "ALSC",
                   "ALTER ANY DATABASE DDL TRIGGER": "ALTG", "ALTER ANY DATABASE EVENT NOTIFICATION": "ALED", "ALTER ANY DATASPACE": "ALDS",
                   "ALTER ANY FULLTEXT CATALOG": "ALFT", "ALTER ANY MESSAGE TYPE": "ALMT", "ALTER ANY REMOTE SERVICE BINDING": "ALSB",
                   "ALTER ANY ROLE": "ALRL", "ALTER ANY ROUTE": "ALRT", "ALTER ANY SCHEMA": "ALSM", "ALTER ANY SERVICE": "ALSV",
                   "ALTER ANY SYMMETRIC KEY": "ALSK", "ALTER ANY USER": "ALUS", "CREATE AGGREGATE": "CRAG", "CREATE ASSEMBLY": "CRAS",
                   "CREATE ASYMMETRIC KEY": "CRAK", "CREATE CERTIFICATE": "CRCF", "CREATE CONTRACT": "CRSC", "CREATE DATABASE": "CRDB",
                   "CREATE DATABASE DDL EVENT NOTIFICATION": "CRED", "CREATE DEFAULT": "CRDF", "CREATE FULLTEXT CATALOG": "CRFT",
                   "CREATE FUNCTION": "CRFN", "CREATE MESSAGE TYPE": "CRMT", "CREATE PROCEDURE": "CRPR", "CREATE QUEUE": "CRQU",
                   "CREATE REMOTE SERVICE BINDING": "CRSB", "CREATE ROLE": "CRRL", "CREATE ROUTE": "CRRT", "CREATE RULE": "CRRU",
                   "CREATE SCHEMA": "CRSM", "CREATE SEQUENCE": "CRSO", "CREATE SERVICE": "CRSV", "CREATE SYMMETRIC KEY": "CRSK",
                   "CREATE SYNONYM": "CRSN", "CREATE TABLE": "CRTB", "CREATE TYPE": "CRTY", "CREATE VIEW": "CRVW",
                   "CREATE XML SCHEMA COLLECTION": "CRXS", "ADMINISTER BULK OPERATIONS": "ADBO", "ALTER ANY CONNECTION": "ALCO",
                   "ALTER ANY CREDENTIAL": "ALCD", "ALTER ANY DATABASE": "ALDB", "ALTER ANY ENDPOINT": "ALHE",
                   "ALTER ANY EVENT NOTIFICATION": "ALES", "ALTER ANY LINKED SERVER": "ALLS", "ALTER ANY LOGIN": "ALLG",
                   "ALTER RESOURCES": "ALRS", "ALTER SERVER STATE": "ALSS", "ALTER SETTINGS": "ALST", "ALTER TRACE": "ALTR",
                   "AUTHENTICATE SERVER": "AUTH", "CONNECT SQL": "COSQ", "CONTROL SERVER": "CL", "CREATE ANY DATABASE": "CRDB",
                   "CREATE DDL EVENT NOTIFICATION": "CRDE", "CREATE ENDPOINT": "CRHE", "CREATE TRACE EVENT NOTIFICATION": "CRTE",
                   "SHUTDOWN": "SHDN", "VIEW ANY DATABASE": "VWDB", "VIEW ANY DEFINITION": "VWAD", "VIEW SERVER STATE": "VWSS"}'
           ->> p_permission;
$$;

-- Version 1 kept there whether a database has a master key, and sys.databases showed it until it was replaced above.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute AS a
                WHERE a.attrelid = 'ssb.database'::regclass AND a.attname = 'has_master_key' AND NOT a.attisdropped) THEN
        ALTER TABLE ssb.database DROP COLUMN has_master_key;
    END IF;
END;
$$;
