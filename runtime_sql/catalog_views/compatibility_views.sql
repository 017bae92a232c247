-- Views of SQL Server 2000 that scripts still ask.

CREATE OR REPLACE VIEW sys.syscolumns AS
SELECT c.name, c.object_id AS id, c.system_type_id AS xtype, c.column_id AS colid, c.max_length AS length, c.precision AS prec,
       c.scale, c.is_nullable AS isnullable, c.user_type_id AS xusertype, c.column_id::smallint AS colorder,
       c.default_object_id AS cdefault, 0 AS domain, 0::smallint AS number, c.collation_name AS collation,
       c.is_computed::integer AS iscomputed, 0 AS isoutparam, (c.is_identity::integer * 128)::smallint AS status
  FROM sys.columns AS c;

CREATE OR REPLACE VIEW sys.sysindexes AS
SELECT i.object_id AS id, i.name, i.index_id AS indid, r.rows, r.rows AS rowcnt
  FROM sys.indexes AS i
 CROSS JOIN LATERAL (SELECT CASE WHEN i.object_id < 0 THEN (SELECT q.rows FROM ssb_internal.queue_rows AS q WHERE q.queue_id = -i.object_id)
                                 ELSE ssb_internal.rows_of(i.object_id::oid) END AS rows OFFSET 0) AS r;

CREATE OR REPLACE VIEW sys.sysusers AS
SELECT u.principal_id AS uid, u.name, u.sid, u.create_date AS createdate, u.modify_date AS updatedate,
       (u.type <> 'R')::integer AS hasdbaccess, (u.type = 'S')::integer AS islogin, (u.type = 'S')::integer AS issqluser,
       (u.type = 'R')::integer AS issqlrole, (u.type = 'A')::integer AS isapprole
  FROM sys.database_principals AS u;

-- master..spt_values: scripts count with its numbers 0 to 2047, of type P.
CREATE OR REPLACE VIEW sys.spt_values AS
SELECT NULL::text AS name, n AS number, 'P'::char(3) AS type, NULL::integer AS low, NULL::integer AS high, 0 AS status
  FROM generate_series(0, 2047) AS n;

CREATE OR REPLACE VIEW sys.syslogins AS
SELECT p.sid, p.name, p.name AS loginname, p.create_date AS createdate, p.default_database_name AS dbname, 0 AS isntname, 0 AS sysadmin
  FROM sys.server_principals AS p WHERE p.type = 'S';

CREATE OR REPLACE VIEW sys.sql_logins AS
SELECT p.name, p.principal_id, p.sid, p.type, p.type_desc, p.is_disabled, p.create_date, p.modify_date, p.default_database_name,
       p.default_language_name, p.credential_id, 0::sys.bit AS is_policy_checked, 0::sys.bit AS is_expiration_checked
  FROM sys.server_principals AS p WHERE p.type = 'S';

CREATE OR REPLACE VIEW sys.systypes AS
SELECT t.name, t.system_type_id AS xtype, t.user_type_id AS xusertype, t.max_length AS length, t.precision AS prec, t.scale
  FROM sys.types AS t;

CREATE OR REPLACE VIEW sys.syscomments AS
SELECT m.object_id AS id, 1::smallint AS colid, 1::smallint AS number, m.definition AS text FROM sys.sql_modules AS m;

CREATE OR REPLACE VIEW sys.sysreferences AS
SELECT k.object_id AS constid, k.parent_object_id AS fkeyid, k.referenced_object_id AS rkeyid FROM sys.foreign_keys AS k;

CREATE OR REPLACE VIEW sys.sysforeignkeys AS
SELECT k.constraint_object_id AS constid, k.parent_object_id AS fkeyid, k.referenced_object_id AS rkeyid,
       k.parent_column_id AS fkey, k.referenced_column_id AS rkey, k.constraint_column_id AS keyno
  FROM sys.foreign_key_columns AS k;

CREATE OR REPLACE VIEW sys.all_sql_modules AS SELECT m.* FROM sys.sql_modules AS m;
CREATE OR REPLACE VIEW sys.sysmessages AS
SELECT m.message_id AS error, m.severity, 0::smallint AS dlevel, m.text AS description, m.language_id AS msglangid FROM sys.messages AS m;

CREATE OR REPLACE VIEW sys.sysprocesses AS
SELECT s.session_id AS spid, 0 AS kpid, coalesce((pg_blocking_pids(s.session_id))[1], 0) AS blocked, 0::bigint AS waittime,
       coalesce(a.wait_event, '')::text AS lastwaittype, s.database_id AS dbid, s.login_time, a.query_start::timestamp(3) AS last_batch,
       s.status, s.host_name AS hostname, s.program_name, s.login_name AS loginame,
       (a.xact_start IS NOT NULL)::integer AS open_tran, CASE s.status WHEN 'running' THEN 'EXECUTE' ELSE 'AWAITING COMMAND' END AS cmd
  FROM sys.dm_exec_sessions AS s JOIN pg_stat_activity AS a ON a.pid = s.session_id;

-- Things that do not exist here: scripts find none of them.
CREATE OR REPLACE VIEW sys.assemblies AS
SELECT NULL::text AS name, NULL::integer AS principal_id, NULL::integer AS assembly_id, NULL::text AS clr_name,
       NULL::smallint AS permission_set, NULL::text AS permission_set_desc, NULL::sys.bit AS is_visible,
       NULL::timestamp(3) AS create_date, NULL::timestamp(3) AS modify_date, NULL::sys.bit AS is_user_defined
 WHERE false;
CREATE OR REPLACE VIEW sys.assembly_modules AS
SELECT NULL::integer AS object_id, NULL::integer AS assembly_id, NULL::text AS assembly_class, NULL::text AS assembly_method WHERE false;
CREATE OR REPLACE VIEW sys.asymmetric_keys AS
SELECT NULL::text AS name, NULL::integer AS principal_id, NULL::integer AS asymmetric_key_id, NULL::text AS algorithm_desc WHERE false;
CREATE OR REPLACE VIEW sys.credentials AS
SELECT NULL::integer AS credential_id, NULL::text AS name, NULL::text AS credential_identity WHERE false;
CREATE OR REPLACE VIEW sys.linked_logins AS
SELECT NULL::integer AS server_id, NULL::integer AS local_principal_id, NULL::text AS remote_name WHERE false;
CREATE OR REPLACE VIEW sys.server_role_members AS
SELECT NULL::integer AS role_principal_id, NULL::integer AS member_principal_id WHERE false;
-- The number of a login among the server's principals; dbo, by which the runtime's owner is meant, is sa there.
CREATE OR REPLACE FUNCTION ssb_internal.login_number(p_login text)
RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.principal_id FROM sys.server_principals AS p
     WHERE lower(p.name) = CASE lower(p_login COLLATE "C") WHEN 'dbo' THEN 'sa' ELSE lower(p_login) END LIMIT 1;
$$;
CREATE OR REPLACE VIEW sys.server_permissions AS
SELECT CASE p.class WHEN 'SERVER' THEN 100 WHEN 'LOGIN' THEN 101 ELSE 105 END::smallint AS class,
       CASE p.class WHEN 'LOGIN' THEN 'SERVER_PRINCIPAL' ELSE p.class END AS class_desc, p.major_id, 0 AS minor_id,
       ssb_internal.login_number(p.grantee) AS grantee_principal_id, ssb_internal.login_number(p.grantor) AS grantor_principal_id,
       ssb_internal.permission_code(p.privilege)::char(4) AS type, p.privilege AS permission_name, p.state,
       CASE p.state WHEN 'G' THEN 'GRANT' WHEN 'W' THEN 'GRANT_WITH_GRANT_OPTION' ELSE 'DENY' END AS state_desc
  FROM ssb.permission AS p WHERE p.class IN ('SERVER', 'LOGIN', 'ENDPOINT');
-- Who the session is now, with the roles that count for it: what one looks at where EXECUTE AS and activation are not as thought.
CREATE OR REPLACE VIEW sys.user_token AS
SELECT p.principal_id, p.sid, p.name,
       -- Who EXECUTE AS names may be a role of PostgreSQL that nobody logs in with.
       CASE WHEN p.type = 'C' THEN 'USER MAPPED TO CERTIFICATE' WHEN p.type = 'R' AND p.principal_id <> sys.user_id() THEN 'ROLE'
            ELSE 'SQL USER' END AS type,
       'GRANT OR DENY'::text AS usage
  FROM sys.database_principals AS p WHERE p.principal_id = sys.user_id() OR p.type = 'R' AND sys.is_member(p.name) = 1;
CREATE OR REPLACE VIEW sys.login_token AS
SELECT p.principal_id, p.sid, p.name,
       CASE WHEN p.type = 'R' AND p.principal_id <> sys.suser_id() THEN 'SERVER ROLE' ELSE 'SQL LOGIN' END AS type, 'GRANT OR DENY'::text AS usage
  FROM sys.server_principals AS p WHERE p.principal_id = sys.suser_id() OR p.type = 'R' AND sys.is_srvrolemember(p.name) = 1;
CREATE OR REPLACE VIEW sys.dm_qn_subscriptions AS
SELECT NULL::integer AS id, NULL::integer AS database_id, NULL::text AS sid, NULL::integer AS object_id, NULL::timestamp(3) AS created,
       NULL::integer AS timeout, NULL::integer AS status
 WHERE false;
CREATE OR REPLACE VIEW sys.database_mirroring AS
SELECT d.database_id, NULL::uuid AS mirroring_guid, NULL::smallint AS mirroring_state, NULL::text AS mirroring_state_desc,
       NULL::smallint AS mirroring_role, NULL::text AS mirroring_role_desc, NULL::text AS mirroring_partner_name
  FROM sys.databases AS d;

-- The instance itself and its settings.
CREATE OR REPLACE VIEW sys.servers AS
SELECT 0 AS server_id, sys.servername() AS name, 'SQL Server'::text AS product, 'SQLNCLI'::text AS provider,
       sys.servername() AS data_source, 0::sys.bit AS is_linked;
CREATE OR REPLACE VIEW sys.configurations AS
SELECT c.configuration_id, c.name, c.value, 0 AS minimum, c.maximum, c.value AS value_in_use, c.description,
       1::sys.bit AS is_dynamic, c.is_advanced::sys.bit AS is_advanced
  FROM (VALUES (16387, 'SMO and DMO XPs', 1, 1, 'Enable or disable SMO and DMO XPs', 1),
               (518, 'show advanced options', 0, 1, 'show advanced options', 0),
               (1562, 'clr enabled', 0, 1, 'CLR user code execution enabled in the server', 0),
               (115, 'nested triggers', 1, 1, 'Allow triggers to be invoked within triggers', 0),
               (16384, 'Agent XPs', 0, 1, 'Enable or disable Agent XPs', 1),
               (16386, 'Database Mail XPs', 0, 1, 'Enable or disable Database Mail XPs', 1),
               (16390, 'xp_cmdshell', 0, 1, 'Enable or disable command shell', 1),
               (1539, 'max degree of parallelism', 0, 32767, 'maximum degree of parallelism', 1),
               (1544, 'max server memory (MB)', 2147483647, 2147483647, 'Maximum size of server memory (MB)', 1),
               (103, 'user connections', 0, 32767, 'Number of user connections allowed', 1))
       AS c (configuration_id, name, value, maximum, description, is_advanced);

-- Files: PostgreSQL keeps its own; one for each database stands for them.
CREATE OR REPLACE VIEW sys.master_files AS
SELECT d.database_id, 1 AS file_id, 0::smallint AS type, 'ROWS'::text AS type_desc, 1 AS data_space_id, d.name AS name,
       '/' || d.name || '.mdf' AS physical_name, 0::smallint AS state, 'ONLINE'::text AS state_desc,
       (pg_database_size(current_database()) / 8192)::integer AS size, -1 AS max_size, 0 AS growth
  FROM sys.databases AS d;
CREATE OR REPLACE VIEW sys.database_files AS
SELECT f.file_id, f.type, f.type_desc, f.data_space_id, f.name, f.physical_name, f.state, f.state_desc, f.size, f.max_size, f.growth
  FROM sys.master_files AS f WHERE f.database_id = ssb_internal.current_database_id();
CREATE OR REPLACE VIEW sys.sysaltfiles AS
SELECT f.file_id::smallint AS fileid, 1::smallint AS groupid, f.size, f.max_size AS maxsize, f.growth, 0 AS status, 0 AS perf,
       f.database_id::smallint AS dbid, f.name, f.physical_name AS filename
  FROM sys.master_files AS f;
CREATE OR REPLACE VIEW sys.sysfiles AS
SELECT f.fileid, f.groupid, f.size, f.maxsize, f.growth, f.status, f.perf, f.name, f.filename
  FROM sys.sysaltfiles AS f WHERE f.dbid = ssb_internal.current_database_id();
CREATE OR REPLACE VIEW sys.filegroups AS
SELECT 'PRIMARY'::text AS name, 1 AS data_space_id, 'FG'::char(2) AS type, 'ROWS_FILEGROUP'::text AS type_desc,
       1::sys.bit AS is_default, 0::sys.bit AS is_read_only;
CREATE OR REPLACE VIEW sys.data_spaces AS
SELECT g.name, g.data_space_id, g.type, g.type_desc, g.is_default FROM sys.filegroups AS g;
CREATE OR REPLACE VIEW sys.allocation_units AS
SELECT p.partition_id AS allocation_unit_id, 1::smallint AS type, 'IN_ROW_DATA'::text AS type_desc, p.hobt_id AS container_id,
       1 AS data_space_id, g.pages AS total_pages, g.pages AS used_pages, g.pages AS data_pages
  FROM sys.partitions AS p CROSS JOIN LATERAL (SELECT ssb_internal.pages_of(p.object_id, p.index_id) AS pages OFFSET 0) AS g;
CREATE OR REPLACE VIEW sys.synonyms AS
SELECT o.*, (SELECT CASE WHEN ssb_internal.database_of_schema(p.part[1]) <> ssb_internal.current_database_id()
                         THEN ssb_internal.in_brackets(ssb_internal.database_name(ssb_internal.database_of_schema(p.part[1]))) || '.' ELSE '' END
                    || format('%s.%s', ssb_internal.in_brackets(ssb_internal.tsql_schema(p.part[1])), ssb_internal.in_brackets(
                              -- As it is spelled where there is one.
                              coalesce((SELECT ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)
                                          FROM pg_class AS c WHERE c.oid = to_regclass(s.target)),
                                       (SELECT min(ssb_internal.spelled(obj_description(f.oid, 'pg_proc'), f.proname::text))
                                          FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace
                                         WHERE n.nspname = p.part[1] AND f.proname = p.part[2]), p.part[2])))
               FROM (SELECT parse_ident(s.target) AS part) AS p) AS base_object_name
  FROM sys.objects AS o JOIN ssb_internal.synonym AS s ON s.oid::integer = o.object_id WHERE o.type = 'SN';
CREATE OR REPLACE VIEW sys.table_types AS
SELECT t.name, t.user_type_id, t.schema_id, t.system_type_id, t.is_user_defined, t.is_table_type,
       (SELECT p.typrelid::integer FROM pg_type AS p WHERE p.oid = t.user_type_id::oid) AS type_table_object_id
  FROM sys.types AS t WHERE t.is_table_type = 1;
CREATE OR REPLACE VIEW sys.stats AS
SELECT x.object_id, x.name, x.index_id AS stats_id, 0::sys.bit AS auto_created, 0::sys.bit AS user_created
  FROM sys.indexes AS x WHERE x.index_id > 0;

