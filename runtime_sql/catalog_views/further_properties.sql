-- SESSIONPROPERTY, TYPEPROPERTY, COLLATIONPROPERTY, CONNECTIONPROPERTY, LOGINPROPERTY, INDEXKEY_PROPERTY, and what
-- asks for files, filegroups, application locks and hexadecimal text. An unknown property, like an unknown
-- object, gives NULL, as in SQL Server. Behind the catalog views, which some of them read.

-- What SET would say: the values are those by which PostgreSQL behaves.
CREATE OR REPLACE FUNCTION sys.sessionproperty(option text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE upper(option COLLATE "C")
    WHEN 'NUMERIC_ROUNDABORT' THEN '0'
    WHEN 'ANSI_NULLS' THEN '1'
    WHEN 'ANSI_PADDING' THEN '1'
    WHEN 'ANSI_WARNINGS' THEN '1'
    WHEN 'ARITHABORT' THEN '1'
    WHEN 'CONCAT_NULL_YIELDS_NULL' THEN '1'
    WHEN 'QUOTED_IDENTIFIER' THEN '1' END;

CREATE OR REPLACE FUNCTION sys.typeproperty(type text, property text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE lower($2 COLLATE "C")
        WHEN 'precision' THEN t.precision
        WHEN 'scale' THEN CASE WHEN t.scale > 0 OR t.precision > 0 AND t.name ~ 'int|decimal|numeric|money|date|time|bit' THEN t.scale END
        WHEN 'allowsnull' THEN t.is_nullable::integer
        WHEN 'ownerid' THEN t.schema_id
        WHEN 'usesansitrim' THEN CASE WHEN t.name ~ 'char|binary' THEN 1 END END
    FROM sys.types AS t WHERE t.user_type_id = sys.type_id($1);
END;

CREATE OR REPLACE FUNCTION sys.collationproperty(collation_name text, property text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN collation_name ~* '_(CI|CS|BIN|BIN2)(_|$)' THEN CASE lower(property COLLATE "C")
    WHEN 'codepage' THEN CASE WHEN collation_name ~* '_UTF8$' THEN 65001 WHEN collation_name ~* 'Latin1' THEN 1252 END
    WHEN 'lcid' THEN CASE WHEN collation_name ~* 'Latin1' THEN 1033 END
    WHEN 'comparisonstyle' THEN CASE WHEN collation_name ~* '_BIN2?(_|$)' THEN 0 ELSE
        CASE WHEN collation_name ~* '_CI(_|$)' THEN 1 ELSE 0 END + CASE WHEN collation_name ~* '_AI(_|$)' THEN 2 ELSE 0 END
        + CASE WHEN collation_name ~* '_KS(_|$)' THEN 0 ELSE 65536 END
        + CASE WHEN collation_name ~* '_WS(_|$)' THEN 0 ELSE 131072 END END
    WHEN 'version' THEN CASE WHEN collation_name ~ '_140_' THEN 3 WHEN collation_name ~ '_100_' THEN 2
        WHEN collation_name ~ '_90_' THEN 1 ELSE 0 END END END)::text;

CREATE OR REPLACE FUNCTION sys.connectionproperty(property text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE lower(property COLLATE "C")
    WHEN 'net_transport' THEN CASE WHEN inet_client_addr() IS NULL THEN 'Shared memory' ELSE 'TCP' END
    WHEN 'physical_net_transport' THEN CASE WHEN inet_client_addr() IS NULL THEN 'Shared memory' ELSE 'TCP' END
    WHEN 'protocol_type' THEN 'TSQL'
    WHEN 'auth_scheme' THEN 'SQL'
    WHEN 'local_net_address' THEN host(inet_server_addr())
    WHEN 'local_tcp_port' THEN inet_server_port()::text
    WHEN 'client_net_address' THEN coalesce(host(inet_client_addr()), '<local machine>') END;

CREATE OR REPLACE FUNCTION sys.loginproperty(login text, property text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN sys.suser_id(login) IS NOT NULL THEN CASE lower(property COLLATE "C")
    WHEN 'badpasswordcount' THEN '0'
    WHEN 'historylength' THEN '0'
    WHEN 'isexpired' THEN '0'
    WHEN 'islocked' THEN '0'
    WHEN 'ismustchange' THEN '0'
    WHEN 'defaultdatabase' THEN sys.db_name()
    WHEN 'defaultlanguage' THEN 'us_english' END END;

CREATE OR REPLACE FUNCTION sys.indexkey_property(object_id integer, index_id integer, key_id integer, property text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE lower($4 COLLATE "C") WHEN 'columnid' THEN c.column_id WHEN 'isdescending' THEN c.is_descending_key::integer END
    FROM sys.index_columns AS c WHERE c.object_id = $1 AND c.index_id = $2 AND c.key_ordinal = $3;
END;

CREATE OR REPLACE FUNCTION sys.original_db_name() RETURNS text
LANGUAGE sql STABLE
RETURN sys.db_name();

CREATE OR REPLACE FUNCTION sys.file_name(file_id integer) RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f.name::text FROM sys.database_files AS f WHERE f.file_id = $1;
END;

CREATE OR REPLACE FUNCTION sys.file_idex(file_name text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f.file_id FROM sys.database_files AS f WHERE lower(f.name) = lower($1);
END;

CREATE OR REPLACE FUNCTION sys.fileproperty(file_name text, property text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE lower($2 COLLATE "C")
        WHEN 'spaceused' THEN f.size
        WHEN 'isreadonly' THEN 0
        WHEN 'isprimaryfile' THEN (f.file_id = 1)::integer
        WHEN 'islogfile' THEN (f.type = 1)::integer END::integer
    FROM sys.database_files AS f WHERE lower(f.name) = lower($1);
END;

CREATE OR REPLACE FUNCTION sys.filegroup_name(filegroup_id integer) RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT g.name::text FROM sys.filegroups AS g WHERE g.data_space_id = $1;
END;

CREATE OR REPLACE FUNCTION sys.filegroup_id(filegroup_name text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT g.data_space_id FROM sys.filegroups AS g WHERE lower(g.name) = lower($1);
END;

CREATE OR REPLACE FUNCTION sys.filegroupproperty(filegroup_name text, property text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE lower($2 COLLATE "C")
        WHEN 'isreadonly' THEN 0
        WHEN 'isuserdefinedfg' THEN (g.data_space_id > 1)::integer
        WHEN 'isdefault' THEN g.is_default::integer END
    FROM sys.filegroups AS g WHERE lower(g.name) = lower($1);
END;

-- The session's own lock, as sp_getapplock takes it (470): PostgreSQL keeps which of the two kinds it is, of both the stronger
-- (the first by name).
CREATE OR REPLACE FUNCTION sys.applock_mode(principal text, resource text, owner text) RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT coalesce((
        SELECT CASE min(l.mode) WHEN 'ShareLock' THEN 'Shared' ELSE 'Exclusive' END
          FROM pg_catalog.pg_locks AS l, hashtextextended('applock:' || $2, 0) AS k (key)
         WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid() AND l.granted AND l.objsubid = 1
           AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
           AND l.classid::bigint = (k.key >> 32) & 4294967295 AND l.objid::bigint = k.key & 4294967295
        HAVING count(*) > 0), 'NoLock');
END;

-- Whether another session's locks would let this one have the mode.
CREATE OR REPLACE FUNCTION sys.applock_test(principal text, resource text, mode text, owner text) RETURNS integer
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN EXISTS (
        SELECT FROM pg_catalog.pg_locks AS l, hashtextextended('applock:' || $2, 0) AS k (key)
         WHERE l.locktype = 'advisory' AND l.pid <> pg_backend_pid() AND l.granted AND l.objsubid = 1
           AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
           AND l.classid::bigint = (k.key >> 32) & 4294967295 AND l.objid::bigint = k.key & 4294967295
           AND (l.mode = 'ExclusiveLock' OR lower($3 COLLATE "C") NOT IN ('shared', 'intentshared'))) THEN 0 ELSE 1 END;
END;

-- Not in the reference, but in many scripts that show what HASHBYTES gives.
CREATE OR REPLACE FUNCTION sys.fn_varbintohexstr(value bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN '0x' || encode(value, 'hex');

CREATE OR REPLACE FUNCTION sys.fn_varbintohexsubstring(prefix integer, value bytea, start integer, count integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE prefix WHEN 1 THEN '0x' ELSE '' END
    || encode(CASE WHEN count > 0 THEN substr(value, start, count) ELSE substr(value, start) END, 'hex');
