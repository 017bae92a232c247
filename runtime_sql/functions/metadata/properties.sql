-- COL_LENGTH, COLUMNPROPERTY, OBJECTPROPERTY, DATABASEPROPERTYEX, SERVERPROPERTY,
-- INDEXPROPERTY …: the properties that scripts ask for. An unknown property, like
-- an unknown object, gives NULL, as in SQL Server.

-- Defined size of a column in bytes of SQL Server's types; -1 for (max).
CREATE OR REPLACE FUNCTION sys.column_bytes(type oid, typmod integer) RETURNS integer
LANGUAGE sql STABLE
RETURN CASE format_type(type, NULL)
    WHEN 'sys."bit"' THEN 1
    WHEN 'smallint' THEN 2
    WHEN 'integer' THEN 4
    WHEN 'bigint' THEN 8
    WHEN 'real' THEN 4
    WHEN 'double precision' THEN 8
    WHEN 'uuid' THEN 16
    WHEN 'date' THEN 3
    WHEN 'time without time zone' THEN 5
    WHEN 'timestamp without time zone' THEN CASE typmod WHEN 0 THEN 4 ELSE 8 END
    WHEN 'timestamp with time zone' THEN 10
    WHEN 'numeric' THEN CASE
        WHEN typmod < 0 THEN 17
        WHEN ((typmod - 4) >> 16) <= 9 THEN 5
        WHEN ((typmod - 4) >> 16) <= 19 THEN 9
        WHEN ((typmod - 4) >> 16) <= 28 THEN 13
        ELSE 17 END
    WHEN 'character varying' THEN CASE WHEN typmod < 0 THEN -1 ELSE typmod - 4 END
    WHEN 'character' THEN CASE WHEN typmod < 0 THEN 1 ELSE typmod - 4 END
    ELSE -1
END;

-- The view that is a queue, where the number is a queue's.
CREATE OR REPLACE FUNCTION ssb_internal.relation_of_object(object_id integer) RETURNS oid
LANGUAGE sql STABLE
RETURN coalesce((SELECT to_regclass(format('%I.%I', q.schema_name, q.relation_name)) FROM ssb.queue AS q WHERE q.queue_id = object_id),
                object_id::oid);

-- The column of an object by its T-SQL name.
CREATE OR REPLACE FUNCTION sys.column_of(object_id integer, column_name text) RETURNS pg_attribute
LANGUAGE sql STABLE
RETURN (SELECT a FROM pg_attribute AS a
        WHERE a.attrelid = ssb_internal.relation_of_object(object_id) AND a.attname = sys.fold(column_name) AND a.attnum > 0 AND NOT a.attisdropped);

-- Of a queue's columns those whose types are not what the view has, as sys.columns tells them.
CREATE OR REPLACE FUNCTION ssb_internal.queue_column_bytes(column_name text) RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE column_name WHEN 'status' THEN 1 WHEN 'priority' THEN 1 WHEN 'service_name' THEN 1024
                        WHEN 'service_contract_name' THEN 512 WHEN 'message_type_name' THEN 512 END;

-- The bytes of a type that the column's comment keeps, since PostgreSQL's stands for another one as well; NULL for others.
CREATE OR REPLACE FUNCTION ssb_internal.kept_bytes(kept text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE kept WHEN 'tinyint' THEN 1 WHEN 'smallmoney' THEN 4 WHEN 'money' THEN 8 WHEN 'datetime2(0)' THEN 6 WHEN 'datetime2(3)' THEN 7
                 ELSE substring(kept FROM '^(?:var)?binary[(]([0-9]+)[)]$')::integer END;
CREATE OR REPLACE FUNCTION sys.col_length(table_name text, column_name text, database text DEFAULT NULL) RETURNS integer
LANGUAGE sql STABLE
RETURN (SELECT coalesce(CASE WHEN o.id <> (c.a).attrelid::integer THEN ssb_internal.queue_column_bytes((c.a).attname) END,
                        ssb_internal.kept_bytes(ssb_internal.kept_type(col_description((c.a).attrelid, (c.a).attnum))),
                        sys.column_bytes((c.a).atttypid, (c.a).atttypmod))
        FROM (SELECT sys.object_id(table_name, NULL, database) AS id OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT sys.column_of(o.id, column_name) AS a) AS c
        WHERE (c.a).attnum IS NOT NULL);
CREATE OR REPLACE FUNCTION sys.col_name(object_id integer, column_id integer) RETURNS text
LANGUAGE sql STABLE
RETURN (SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) FROM pg_attribute AS a
        WHERE a.attrelid = ssb_internal.relation_of_object(object_id) AND a.attnum = column_id AND a.attnum > 0 AND NOT a.attisdropped);

CREATE OR REPLACE FUNCTION sys.columnproperty(object_id integer, column_name text, property text) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_column pg_catalog.pg_attribute := sys.column_of(object_id, column_name);
    v_type text := format_type(v_column.atttypid, NULL);
BEGIN
    IF v_column.attnum IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN CASE lower(property COLLATE "C")
        WHEN 'allowsnull' THEN (NOT v_column.attnotnull)::integer
        WHEN 'columnid' THEN v_column.attnum
        WHEN 'ordinal' THEN v_column.attnum
        WHEN 'isidentity' THEN (pg_get_serial_sequence(v_column.attrelid::regclass::text, v_column.attname) IS NOT NULL)::integer
        WHEN 'iscomputed' THEN (v_column.attgenerated <> '')::integer
        WHEN 'isrowguidcol' THEN 0
        WHEN 'isxmlindexable' THEN (v_type = 'sys.xml')::integer
        WHEN 'precision' THEN CASE
            WHEN v_type = 'sys.bit' THEN 1
            WHEN v_type = 'smallint' THEN CASE WHEN v_column.attrelid = object_id::oid THEN 5 ELSE 3 END
            WHEN v_type = 'integer' THEN 10
            WHEN v_type = 'bigint' THEN 19
            WHEN v_type = 'numeric' AND v_column.atttypmod >= 0 THEN (v_column.atttypmod - 4) >> 16
            WHEN v_type IN ('character varying', 'character') AND v_column.atttypmod >= 0 THEN v_column.atttypmod - 4
            WHEN v_column.attrelid <> object_id::oid AND v_type = 'text'
            THEN ssb_internal.queue_column_bytes(v_column.attname) / 2
            WHEN v_type = 'double precision' THEN 53
            WHEN v_type = 'real' THEN 24
            WHEN v_type = 'timestamp without time zone' THEN 23
            WHEN v_type = 'date' THEN 10
            ELSE -1
        END
        WHEN 'scale' THEN CASE
            WHEN v_type = 'numeric' AND v_column.atttypmod >= 0 THEN (v_column.atttypmod - 4) & 65535
            WHEN v_type IN ('sys.bit', 'smallint', 'integer', 'bigint') THEN 0
            WHEN v_type = 'timestamp without time zone' THEN coalesce(nullif(v_column.atttypmod, -1), 6)
        END
        WHEN 'charmaxlen' THEN CASE
            WHEN v_type IN ('character varying', 'character') THEN greatest(v_column.atttypmod - 4, -1)
            WHEN v_type = 'text' THEN -1
        END
    END;
END;
$$;

-- NULL for what is no trigger of a table or view.
CREATE OR REPLACE FUNCTION ssb_internal.trigger_has_event(p_object_id integer, p_event text) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT bool_or(e.type_desc = p_event)::integer FROM sys.trigger_events AS e WHERE e.object_id = p_object_id);
END;
$$;

CREATE OR REPLACE FUNCTION sys.objectproperty(object_id integer, property text) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_object record;
    v_property text := lower(property COLLATE "C");
    v_relation oid := object_id::oid;
BEGIN
    SELECT o.* INTO v_object FROM sys.known_objects(NULL, objectproperty.object_id) AS o LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN CASE v_property
        WHEN 'istable' THEN (v_object.type IN ('U', 'S'))::integer
        WHEN 'isusertable' THEN (v_object.type = 'U')::integer
        WHEN 'issystemtable' THEN (v_object.type = 'S')::integer
        WHEN 'isview' THEN (v_object.type = 'V')::integer
        WHEN 'isprocedure' THEN (v_object.type = 'P')::integer
        WHEN 'isscalarfunction' THEN (v_object.type = 'FN')::integer
        WHEN 'istablefunction' THEN (v_object.type IN ('IF', 'TF'))::integer
        WHEN 'isinlinefunction' THEN (v_object.type = 'IF')::integer
        WHEN 'istrigger' THEN (v_object.type = 'TR')::integer
        WHEN 'isqueue' THEN (v_object.type = 'SQ')::integer
        WHEN 'isprimarykey' THEN (v_object.type = 'PK')::integer
        WHEN 'isforeignkey' THEN (v_object.type = 'F')::integer
        WHEN 'isuniquecnst' THEN (v_object.type = 'UQ')::integer
        WHEN 'ischeckcnst' THEN (v_object.type = 'C')::integer
        WHEN 'isdefaultcnst' THEN (v_object.type = 'D')::integer
        WHEN 'isconstraint' THEN (v_object.type IN ('PK', 'UQ', 'F', 'C', 'D'))::integer
        WHEN 'issequence' THEN (v_object.type = 'SO')::integer
        WHEN 'isexecuted' THEN (v_object.type IN ('P', 'V', 'FN', 'IF', 'TF', 'TR'))::integer
        WHEN 'ismsshipped' THEN (v_object.type <> 'IT' AND v_object.schema_name IN ('sys', 'ssb', 'ssb_internal', 'information_schema')
                                 OR v_object.type = 'SQ' AND EXISTS (SELECT FROM ssb_internal.system_service AS s
                                                                      WHERE s.queue_id = objectproperty.object_id))::integer
        WHEN 'isansinullson' THEN 1
        WHEN 'isquotedidenton' THEN 1
        WHEN 'execisansinullson' THEN 1
        WHEN 'execisquotedidenton' THEN 1
        WHEN 'execistriggerdisabled' THEN (SELECT t.is_disabled::integer FROM sys.triggers AS t WHERE t.object_id = v_object.object_id)
        WHEN 'execisinsteadoftrigger' THEN (SELECT t.is_instead_of_trigger::integer FROM sys.triggers AS t WHERE t.object_id = v_object.object_id)
        WHEN 'execisaftertrigger' THEN (SELECT 1 - t.is_instead_of_trigger::integer FROM sys.triggers AS t WHERE t.object_id = v_object.object_id)
        WHEN 'execisinserttrigger' THEN ssb_internal.trigger_has_event(v_object.object_id, 'INSERT')
        WHEN 'execisupdatetrigger' THEN ssb_internal.trigger_has_event(v_object.object_id, 'UPDATE')
        WHEN 'execisdeletetrigger' THEN ssb_internal.trigger_has_event(v_object.object_id, 'DELETE')
        WHEN 'isschemabound' THEN ssb_internal.is_schema_bound(v_relation)::integer
        WHEN 'isencrypted' THEN 0
        WHEN 'ownerid' THEN 1
        WHEN 'schemaid' THEN sys.schema_id(sys.tsql_schema(v_object.schema_name))
        WHEN 'tablehasidentity' THEN (sys.identity_sequence(v_relation::regclass) IS NOT NULL)::integer
        WHEN 'tablehasprimarykey' THEN
            (EXISTS (SELECT FROM pg_catalog.pg_constraint AS c WHERE c.conrelid = v_relation AND c.contype = 'p'))::integer
        WHEN 'tablehasforeignkey' THEN
            (EXISTS (SELECT FROM pg_catalog.pg_constraint AS c WHERE c.conrelid = v_relation AND c.contype = 'f'))::integer
        WHEN 'tablehasindex' THEN
            (EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid = v_relation))::integer
        WHEN 'tablehasinserttrigger' THEN (EXISTS (SELECT FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = v_relation AND NOT t.tgisinternal AND t.tgtype & 4 <> 0))::integer
        WHEN 'tablehasdeletetrigger' THEN (EXISTS (SELECT FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = v_relation AND NOT t.tgisinternal AND t.tgtype & 8 <> 0))::integer
        WHEN 'tablehasupdatetrigger' THEN (EXISTS (SELECT FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = v_relation AND NOT t.tgisinternal AND t.tgtype & 16 <> 0))::integer
        WHEN 'cardinality' THEN
            (SELECT greatest(c.reltuples, 0)::integer FROM pg_catalog.pg_class AS c WHERE c.oid = v_relation)
    END;
END;
$$;

-- OBJECTPROPERTYEX: the same as text, and BaseType, the type code.
CREATE OR REPLACE FUNCTION sys.objectpropertyex(object_id integer, property text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE
    WHEN lower(property COLLATE "C") = 'basetype' THEN (SELECT o.type FROM sys.known_objects(NULL, object_id) AS o LIMIT 1)
    ELSE sys.objectproperty(object_id, property)::text
END;

-- DATABASEPROPERTYEX
CREATE OR REPLACE FUNCTION sys.databasepropertyex(database text, property text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_database ssb.database;
BEGIN
    SELECT d.* INTO v_database FROM ssb.database AS d WHERE d.database_id = ssb_internal.find_database(database);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN CASE lower(property COLLATE "C")
        WHEN 'status' THEN CASE WHEN v_database.options ? 'EMERGENCY' THEN 'EMERGENCY' WHEN v_database.options ? 'OFFLINE' THEN 'OFFLINE' ELSE 'ONLINE' END
        WHEN 'updateability' THEN CASE WHEN v_database.options ? 'READ_ONLY' THEN 'READ_ONLY' ELSE 'READ_WRITE' END
        WHEN 'useraccess' THEN CASE WHEN v_database.options ? 'SINGLE_USER' THEN 'SINGLE_USER'
                                    WHEN v_database.options ? 'RESTRICTED_USER' THEN 'RESTRICTED_USER' ELSE 'MULTI_USER' END
        WHEN 'recovery' THEN coalesce(upper(v_database.options ->> 'RECOVERY'), 'FULL')
        WHEN 'collation' THEN ssb_internal.collation_name()
        WHEN 'comparisonstyle' THEN sys.collationproperty(ssb_internal.collation_name(), 'ComparisonStyle')::text
        WHEN 'lcid' THEN '1033'
        WHEN 'sqlsortorder' THEN CASE WHEN ssb_internal.collation_name() LIKE '%\_CI\_%' THEN '52' ELSE '51' END
        WHEN 'version' THEN '904'
        WHEN 'isautoclose' THEN '0'
        WHEN 'isautoshrink' THEN '0'
        WHEN 'isautocreatestatistics' THEN '1'
        WHEN 'isautoupdatestatistics' THEN '1'
        WHEN 'isinstandby' THEN pg_is_in_recovery()::integer::text
        WHEN 'isfulltextenabled' THEN '0'
        WHEN 'isbrokerenabled' THEN v_database.is_broker_enabled::integer::text
        WHEN 'isansinullsenabled' THEN '1'
        WHEN 'isquotedidentifiersenabled' THEN '1'
        WHEN 'issnapshotisolationenabled' THEN '1'
        WHEN 'isreadcommittedsnapshoton' THEN '1'
        ELSE lower(v_database.options ->> upper(property COLLATE "C"))
    END;
END;
$$;
CREATE OR REPLACE FUNCTION sys.databaseproperty(database text, property text) RETURNS integer
LANGUAGE sql STABLE RETURN sys.try_convert_int(sys.databasepropertyex(database, property));

-- SQL_VARIANT_PROPERTY of a value whose type the compiler knows: its name, precision, scale and bytes. Those of a
-- sql_variant are what its text takes, so that a variable can be declared with BaseType and MaxLength.
CREATE OR REPLACE FUNCTION sys.sql_variant_property(p_value text, p_property text, p_type text, p_precision integer,
                                                    p_scale integer, p_bytes integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_value IS NOT NULL THEN
    CASE lower(p_property COLLATE "C")
        WHEN 'basetype' THEN p_type
        WHEN 'precision' THEN p_precision::text
        WHEN 'scale' THEN p_scale::text
        WHEN 'maxlength' THEN coalesce(p_bytes, 2 * greatest(length(p_value), 1))::text
        -- Two bytes tell the type, further ones precision, scale, length and collation.
        WHEN 'totalbytes' THEN (CASE WHEN p_type LIKE 'n%char' THEN 8 + 2 * length(p_value)
                                     WHEN p_type LIKE '%char' THEN 8 + length(p_value)
                                     WHEN p_type IN ('decimal', 'numeric') THEN 4 + p_bytes
                                     WHEN p_type LIKE '%binary' THEN 4 + p_bytes
                                     ELSE 2 + p_bytes END)::text
        WHEN 'collation' THEN CASE WHEN p_type LIKE '%char' THEN ssb_internal.collation_name() END
    END END;

-- SERVERPROPERTY. EngineEdition 3 is Enterprise; the product version is the one
-- whose behaviour is followed.
CREATE OR REPLACE FUNCTION sys.serverproperty(property text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE lower(property COLLATE "C")
    WHEN 'productversion' THEN '16.0.1000.6'
    WHEN 'productmajorversion' THEN '16'
    WHEN 'productminorversion' THEN '0'
    WHEN 'productlevel' THEN 'RTM'
    WHEN 'edition' THEN 'pg-service-broker on PostgreSQL ' || current_setting('server_version')
    WHEN 'engineedition' THEN '3'
    WHEN 'editionid' THEN '0'
    WHEN 'servername' THEN sys.servername()
    WHEN 'machinename' THEN sys.servername()
    WHEN 'computernamephysicalnetbios' THEN sys.servername()
    WHEN 'instancename' THEN NULL
    WHEN 'collation' THEN ssb_internal.collation_name()
    WHEN 'isclustered' THEN '0'
    WHEN 'ishadrenabled' THEN '0'
    WHEN 'isfulltextinstalled' THEN '0'
    WHEN 'isintegratedsecurityonly' THEN '0'
    WHEN 'issingleuser' THEN '0'
    WHEN 'isxtpsupported' THEN '0'
    WHEN 'processid' THEN pg_backend_pid()::text
    WHEN 'lcid' THEN '1033'
    WHEN 'licensetype' THEN 'DISABLED'
    WHEN 'sqlcharsetname' THEN 'utf8'
END;

-- INDEXPROPERTY, INDEX_COL, STATS_DATE. Index ids count as sys.indexes does: the
-- primary key is 1, the others follow in the order of their creation.
CREATE OR REPLACE FUNCTION sys.indexes_of(object_id integer)
RETURNS TABLE (index_id integer, name text, index_oid oid, is_unique boolean, is_primary boolean)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT row_number() OVER (ORDER BY NOT i.indisprimary, i.indexrelid)::integer
             + CASE WHEN bool_or(i.indisprimary) OVER () THEN 0 ELSE 1 END,
           ssb_internal.tsql_index_name(c.oid), i.indexrelid, i.indisunique, i.indisprimary
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = $1::oid;
END;
CREATE OR REPLACE FUNCTION sys.indexproperty(object_id integer, index_name text, property text) RETURNS integer
LANGUAGE sql STABLE
RETURN (SELECT CASE lower(property COLLATE "C")
            WHEN 'indexid' THEN i.index_id
            WHEN 'isunique' THEN i.is_unique::integer
            WHEN 'isclustered' THEN i.is_primary::integer
            WHEN 'isdisabled' THEN 0
            WHEN 'isstatistics' THEN 0
            WHEN 'indexfillfactor' THEN 0
        END
        FROM sys.indexes_of(object_id) AS i WHERE i.name = sys.fold(index_name));
CREATE OR REPLACE FUNCTION sys.index_col(table_name text, index_id integer, key_id integer) RETURNS text
LANGUAGE sql STABLE
RETURN (SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text)
          FROM sys.indexes_of(sys.object_id(table_name)) AS i
          JOIN pg_index AS x ON x.indexrelid = i.index_oid
          JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[key_id - 1]
         WHERE i.index_id = index_col.index_id);
CREATE OR REPLACE FUNCTION sys.stats_date(object_id integer, stats_id integer) RETURNS timestamp
LANGUAGE sql STABLE
RETURN greatest(pg_stat_get_last_analyze_time(object_id::oid), pg_stat_get_last_autoanalyze_time(object_id::oid))::timestamp;

-- IDENT_CURRENT (what anybody made last), IDENT_SEED, IDENT_INCR
CREATE OR REPLACE FUNCTION sys.ident_sequence(table_name text, database text) RETURNS regclass
LANGUAGE sql STABLE
RETURN sys.identity_sequence(sys.object_id(table_name, NULL, database)::oid::regclass);
CREATE OR REPLACE FUNCTION sys.ident_current(table_name text, database text DEFAULT NULL) RETURNS numeric
LANGUAGE sql STABLE
RETURN (SELECT coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart) FROM pg_sequence AS s
        WHERE s.seqrelid = sys.ident_sequence(table_name, database));
CREATE OR REPLACE FUNCTION sys.ident_seed(table_name text, database text DEFAULT NULL) RETURNS numeric
LANGUAGE sql STABLE
RETURN (SELECT s.seqstart FROM pg_sequence AS s WHERE s.seqrelid = sys.ident_sequence(table_name, database));
CREATE OR REPLACE FUNCTION sys.ident_incr(table_name text, database text DEFAULT NULL) RETURNS numeric
LANGUAGE sql STABLE
RETURN (SELECT s.seqincrement FROM pg_sequence AS s WHERE s.seqrelid = sys.ident_sequence(table_name, database));

-- The permissions of a class of securables, as sys.fn_builtin_permissions of SQL Server 2022 has them; NULL for no class.
CREATE OR REPLACE FUNCTION ssb_internal.permissions_of_class(p_class text) RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN p_class IN ('SERVICE', 'CONTRACT', 'MESSAGE TYPE', 'ROUTE', 'REMOTE SERVICE BINDING') THEN
            '{ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'::text[] || ssb_internal.broker_privileges(p_class)
        WHEN p_class = 'OBJECT' THEN
            '{ALTER,CONTROL,DELETE,EXECUTE,INSERT,RECEIVE,REFERENCES,SELECT,TAKE OWNERSHIP,UNMASK,UPDATE,VIEW CHANGE TRACKING,VIEW DEFINITION}'
        WHEN p_class = 'SCHEMA' THEN
            '{ALTER,CONTROL,CREATE SEQUENCE,DELETE,EXECUTE,INSERT,REFERENCES,SELECT,TAKE OWNERSHIP,UNMASK,UPDATE,VIEW CHANGE TRACKING,'
            'VIEW DEFINITION}'
        WHEN p_class IN ('USER', 'LOGIN') THEN '{ALTER,CONTROL,IMPERSONATE,VIEW DEFINITION}'
        WHEN p_class IN ('ROLE', 'SERVER ROLE') THEN '{ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'
        WHEN p_class = 'APPLICATION ROLE' THEN '{ALTER,CONTROL,VIEW DEFINITION}'
        WHEN p_class = 'ENDPOINT' THEN '{ALTER,CONNECT,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'
        WHEN p_class = 'CERTIFICATE' THEN '{ALTER,CONTROL,REFERENCES,TAKE OWNERSHIP,VIEW DEFINITION}'
        WHEN p_class = 'XML SCHEMA COLLECTION' THEN '{ALTER,CONTROL,EXECUTE,REFERENCES,TAKE OWNERSHIP,VIEW DEFINITION}'
        WHEN p_class = 'DATABASE' THEN
            '{ADMINISTER DATABASE BULK OPERATIONS,ALTER,ALTER ANY APPLICATION ROLE,ALTER ANY ASSEMBLY,ALTER ANY ASYMMETRIC KEY,'
            'ALTER ANY CERTIFICATE,ALTER ANY COLUMN ENCRYPTION KEY,ALTER ANY COLUMN MASTER KEY,ALTER ANY CONTRACT,ALTER ANY DATABASE AUDIT,'
            'ALTER ANY DATABASE DDL TRIGGER,ALTER ANY DATABASE EVENT NOTIFICATION,ALTER ANY DATABASE EVENT SESSION,'
            'ALTER ANY DATABASE SCOPED CONFIGURATION,ALTER ANY DATASPACE,ALTER ANY EXTERNAL DATA SOURCE,ALTER ANY EXTERNAL FILE FORMAT,'
            'ALTER ANY EXTERNAL JOB,ALTER ANY EXTERNAL LANGUAGE,ALTER ANY EXTERNAL LIBRARY,ALTER ANY EXTERNAL STREAM,'
            'ALTER ANY FULLTEXT CATALOG,ALTER ANY MASK,ALTER ANY MESSAGE TYPE,ALTER ANY REMOTE SERVICE BINDING,ALTER ANY ROLE,ALTER ANY ROUTE,'
            'ALTER ANY SCHEMA,ALTER ANY SECURITY POLICY,ALTER ANY SENSITIVITY CLASSIFICATION,ALTER ANY SERVICE,ALTER ANY SYMMETRIC KEY,'
            'ALTER ANY USER,ALTER LEDGER,ALTER LEDGER CONFIGURATION,AUTHENTICATE,BACKUP DATABASE,BACKUP LOG,CHECKPOINT,CONNECT,'
            'CONNECT REPLICATION,CONTROL,CREATE AGGREGATE,CREATE ANY DATABASE EVENT SESSION,CREATE ASSEMBLY,CREATE ASYMMETRIC KEY,'
            'CREATE CERTIFICATE,CREATE CONTRACT,CREATE DATABASE,CREATE DATABASE DDL EVENT NOTIFICATION,CREATE DEFAULT,'
            'CREATE EXTERNAL LANGUAGE,CREATE EXTERNAL LIBRARY,CREATE FULLTEXT CATALOG,CREATE FUNCTION,CREATE MESSAGE TYPE,CREATE PROCEDURE,'
            'CREATE QUEUE,CREATE REMOTE SERVICE BINDING,CREATE ROLE,CREATE ROUTE,CREATE RULE,CREATE SCHEMA,CREATE SERVICE,'
            'CREATE SYMMETRIC KEY,CREATE SYNONYM,CREATE TABLE,CREATE TYPE,CREATE USER,CREATE VIEW,CREATE XML SCHEMA COLLECTION,DELETE,'
            'ENABLE LEDGER,EXECUTE,EXECUTE ANY EXTERNAL ENDPOINT,EXECUTE ANY EXTERNAL SCRIPT,INSERT,KILL DATABASE CONNECTION,REFERENCES,'
            'SELECT,SHOWPLAN,SUBSCRIBE QUERY NOTIFICATIONS,TAKE OWNERSHIP,UNMASK,UPDATE,VIEW ANY COLUMN ENCRYPTION KEY DEFINITION,'
            'VIEW ANY COLUMN MASTER KEY DEFINITION,VIEW ANY SENSITIVITY CLASSIFICATION,VIEW CRYPTOGRAPHICALLY SECURED DEFINITION,'
            'VIEW DATABASE PERFORMANCE STATE,VIEW DATABASE SECURITY AUDIT,VIEW DATABASE SECURITY STATE,VIEW DATABASE STATE,VIEW DEFINITION,'
            'VIEW LEDGER CONTENT,VIEW PERFORMANCE DEFINITION,VIEW SECURITY DEFINITION}'
        WHEN p_class = 'SERVER' THEN
            '{ADMINISTER BULK OPERATIONS,ALTER ANY AVAILABILITY GROUP,ALTER ANY CONNECTION,ALTER ANY CREDENTIAL,ALTER ANY DATABASE,'
            'ALTER ANY ENDPOINT,ALTER ANY EVENT NOTIFICATION,ALTER ANY EVENT SESSION,ALTER ANY LINKED SERVER,ALTER ANY LOGIN,'
            'ALTER ANY SERVER AUDIT,ALTER ANY SERVER ROLE,ALTER RESOURCES,ALTER SERVER STATE,ALTER SETTINGS,ALTER TRACE,AUTHENTICATE SERVER,'
            'CONNECT ANY DATABASE,CONNECT SQL,CONTROL SERVER,CREATE ANY DATABASE,CREATE ANY EVENT SESSION,CREATE AVAILABILITY GROUP,'
            'CREATE DDL EVENT NOTIFICATION,CREATE ENDPOINT,CREATE LOGIN,CREATE SERVER ROLE,CREATE TRACE EVENT NOTIFICATION,'
            'EXTERNAL ACCESS ASSEMBLY,IMPERSONATE ANY LOGIN,SELECT ALL USER SECURABLES,SHUTDOWN,UNSAFE ASSEMBLY,VIEW ANY DATABASE,'
            'VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION,VIEW ANY DEFINITION,VIEW ANY ERROR LOG,VIEW ANY PERFORMANCE DEFINITION,'
            'VIEW ANY SECURITY DEFINITION,VIEW SERVER PERFORMANCE STATE,VIEW SERVER SECURITY AUDIT,VIEW SERVER SECURITY STATE,VIEW SERVER STATE}'
        END;
$$;

-- HAS_PERMS_BY_NAME: for tables and views SELECT … REFERENCES, EXECUTE for
-- routines, RECEIVE, SEND and the like for Service Broker's objects, CONNECT and
-- CREATE … for a database; sub_securable is a column. NULL for what does not exist,
-- and for a permission that the class does not have. ANY is whichever permission
-- objects of that class have.
CREATE OR REPLACE FUNCTION ssb_internal.has_broker_permission(p_role name, p_class text, p_major_id integer, p_privilege text,
                                                              p_owner text, p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT bool_or(ssb_internal.has_permission(p_role, p_class, p_major_id, f.privilege, p_owner, p_database_id))
              FROM unnest(CASE WHEN p_privilege <> 'ANY' THEN ARRAY[p_privilege]
                               ELSE '{ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'::text[] || ssb_internal.broker_privileges(p_class) END)
                   AS f (privilege));
END;
$$;

CREATE OR REPLACE FUNCTION sys.has_perms_by_name(
    securable text, class text, permission text, sub_securable text DEFAULT NULL, sub_class text DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role name := ssb_internal.caller();
    v_class text := CASE WHEN securable IS NULL AND class IS NULL THEN 'SERVER' ELSE upper(class COLLATE "C") END;
    v_permission text := upper(permission COLLATE "C");
    v_database integer := ssb_internal.database_id_of(database);
    v_all boolean := pg_has_role(v_role, ssb_internal.runtime_owner(), 'USAGE');
    v_id integer;
    v_object record;
    v_queue ssb.queue;
    v_column smallint;
BEGIN
    IF v_permission IS DISTINCT FROM 'ANY' AND coalesce(v_permission <> ALL (ssb_internal.permissions_of_class(v_class)), true) THEN
        RETURN NULL;
    ELSIF v_class = 'SERVER' THEN
        RETURN CASE WHEN securable IS NULL THEN (v_all OR v_permission IN ('CONNECT SQL', 'VIEW ANY DATABASE'))::integer END;
    ELSIF v_class = 'DATABASE' THEN
        v_database := coalesce(ssb_internal.find_database(securable), CASE WHEN securable IS NULL THEN v_database END);
        RETURN CASE WHEN v_database IS NOT NULL THEN
            (v_all OR v_permission IN ('ANY', 'CONNECT')
             OR ssb_internal.has_permission(v_role, 'DATABASE', v_database, v_permission, ssb_internal.runtime_owner()::text, v_database))::integer
        END;
    ELSIF v_class IN ('USER', 'ROLE', 'APPLICATION ROLE', 'LOGIN', 'SERVER ROLE') THEN
        RETURN (SELECT ssb_internal.has_broker_permission(v_role, v_class, coalesce(max(p.principal_id), 0), v_permission,
                                                          coalesce(max(p.owner), ssb_internal.runtime_owner()::text), v_database)::integer
                  FROM (SELECT FROM sys.database_principals AS d
                         WHERE lower(d.name) = lower(securable)
                           AND v_class = CASE d.type WHEN 'R' THEN 'ROLE' WHEN 'A' THEN 'APPLICATION ROLE' ELSE 'USER' END
                        UNION ALL
                        SELECT FROM sys.server_principals AS s
                         WHERE lower(s.name) = lower(securable)
                           AND v_class = CASE s.type WHEN 'R' THEN 'SERVER ROLE' ELSE 'LOGIN' END) AS known
                  LEFT JOIN ssb.principal AS p ON lower(p.name) = lower(securable) AND coalesce(p.database_id, v_database) = v_database
                HAVING count(*) > 0);
    ELSIF v_class IN ('SERVICE', 'CONTRACT', 'MESSAGE TYPE', 'ROUTE', 'REMOTE SERVICE BINDING', 'ENDPOINT', 'CERTIFICATE', 'XML SCHEMA COLLECTION') THEN
        RETURN (SELECT ssb_internal.has_broker_permission(v_role, v_class, b.id, v_permission, b.owner, v_database)::integer
                  FROM (SELECT 'SERVICE' AS kind, s.service_id AS id, s.name, s.database_id, s.owner FROM ssb.service AS s
                        UNION ALL
                        SELECT 'CONTRACT', c.contract_id, c.name, c.database_id, c.owner FROM ssb.contract AS c
                        UNION ALL
                        SELECT 'MESSAGE TYPE', t.message_type_id, t.name, t.database_id, t.owner FROM ssb.message_type AS t
                        UNION ALL
                        SELECT 'ROUTE', r.route_id, r.name, r.database_id, r.owner FROM ssb.route AS r
                        UNION ALL
                        SELECT 'REMOTE SERVICE BINDING', b.binding_id, b.name, b.database_id, b.owner FROM ssb.remote_service_binding AS b
                        UNION ALL
                        SELECT 'ENDPOINT', e.broker_endpoint_id, e.name, NULL, e.owner FROM ssb.broker_endpoint AS e
                        UNION ALL
                        SELECT 'CERTIFICATE', c.certificate_id, c.name, c.database_id, c.owner FROM ssb.certificate AS c
                        UNION ALL
                        SELECT 'XML SCHEMA COLLECTION', c.collection_id, securable, NULL, ssb_internal.runtime_owner()::text
                          FROM ssb.xml_schema_collection AS c
                          JOIN ssb_internal.split_name(ssb_internal.normal_name(securable)) AS n
                            ON v_class = 'XML SCHEMA COLLECTION' AND c.schema_name = n.schema_name AND c.name = n.object_name) AS b
                 WHERE b.kind = v_class AND coalesce(b.database_id, v_database) = v_database
                   -- Services, contracts and message types are compared byte by byte.
                   AND CASE WHEN v_class IN ('SERVICE', 'CONTRACT', 'MESSAGE TYPE') THEN b.name = securable
                            ELSE lower(b.name) = lower(securable) END);
    ELSIF v_class = 'SCHEMA' THEN
        -- ALTER makes and drops what is in it: who owns it may, and who may create there as PostgreSQL has it. What is granted
        -- on a schema is PostgreSQL's grants on all that it has.
        RETURN (SELECT (v_all OR CASE
                            WHEN v_permission IN ('ANY', 'VIEW DEFINITION') THEN has_schema_privilege(v_role, n.oid, 'USAGE')
                            WHEN v_permission IN ('CONTROL', 'TAKE OWNERSHIP') THEN pg_has_role(v_role, n.nspowner, 'USAGE')
                            WHEN v_permission IN ('ALTER', 'CREATE SEQUENCE') THEN has_schema_privilege(v_role, n.oid, 'CREATE')
                            WHEN v_permission = 'EXECUTE' THEN
                                (SELECT bool_and(has_function_privilege(v_role, f.oid, 'EXECUTE')) FROM pg_proc AS f WHERE f.pronamespace = n.oid)
                            WHEN v_permission IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES') THEN
                                (SELECT bool_and(has_table_privilege(v_role, c.oid, v_permission)) FROM pg_class AS c
                                  WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v')
                                    AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.schema_name = n.nspname AND q.relation_name = c.relname))
                            END IS TRUE OR pg_has_role(v_role, n.nspowner, 'USAGE'))::integer
                FROM pg_namespace AS n WHERE n.nspname = sys.schema_in_database(securable, database));
    ELSIF v_class <> 'OBJECT' THEN
        RETURN NULL;
    END IF;
    v_id := sys.object_id(securable, NULL, database);
    SELECT o.* INTO v_object FROM sys.known_objects(NULL, v_id) AS o LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v_object.type = 'SQ' THEN
        SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = v_id;
        RETURN ssb_internal.has_broker_permission(v_role, 'QUEUE', v_id, v_permission, v_queue.owner, v_queue.database_id)::integer;
    ELSIF v_object.type IN ('P', 'FN', 'IF', 'TF') THEN
        RETURN (v_permission IN ('EXECUTE', 'ANY', 'SELECT') AND has_function_privilege(v_role, v_id::oid, 'EXECUTE')
                OR v_all)::integer;
    ELSIF sub_securable IS NOT NULL THEN
        v_column := (sys.column_of(v_id, sub_securable)).attnum;
        RETURN CASE WHEN v_column IS NOT NULL THEN
            (v_all OR v_permission IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                      AND has_column_privilege(v_role, v_id::oid, v_column, v_permission))::integer
        END;
    END IF;
    RETURN (v_all
        OR v_permission IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES')
           AND has_table_privilege(v_role, v_id::oid, v_permission)
        OR v_permission = 'ANY' AND has_table_privilege(v_role, v_id::oid, 'SELECT, INSERT, UPDATE, DELETE'))::integer;
END;
$$;

-- fn_my_permissions: the permissions that the caller has on one thing, and on its columns, as HAS_PERMS_BY_NAME tells. Of the
-- classes that this knows.
CREATE OR REPLACE FUNCTION sys.fn_my_permissions(p_securable text, p_class text)
RETURNS TABLE (entity_name text, subentity_name text, permission_name text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_class text := upper(p_class COLLATE "C");
    v_id integer := CASE v_class WHEN 'OBJECT' THEN sys.object_id(p_securable) END;
    v_type text := (SELECT o.type FROM sys.known_objects(NULL, v_id) AS o LIMIT 1);
    -- Of an object those of its type.
    v_own text[] := CASE WHEN v_class <> 'OBJECT' THEN ssb_internal.permissions_of_class(v_class)
                         ELSE '{ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'::text[]
                              || CASE WHEN v_type = 'SQ' THEN ssb_internal.broker_privileges('QUEUE')
                                      WHEN v_type IN ('P', 'FN') THEN '{EXECUTE}' WHEN v_type IN ('IF', 'TF') THEN '{SELECT,REFERENCES}'
                                      WHEN v_type IN ('U', 'V') THEN '{SELECT,INSERT,UPDATE,DELETE,REFERENCES}' END::text[] END;
BEGIN
    RETURN QUERY
    SELECT CASE WHEN v_class IN ('SERVER', 'DATABASE') THEN lower(v_class COLLATE "C") ELSE p_securable END, NULL::text, p.name
      FROM unnest(v_own) WITH ORDINALITY AS p (name, place)
     WHERE sys.has_perms_by_name(CASE WHEN v_class <> 'SERVER' THEN p_securable END, nullif(v_class, 'SERVER'), p.name) = 1
     ORDER BY p.place;
    RETURN QUERY
    SELECT p_securable, c.name, p.name
      FROM sys.columns AS c CROSS JOIN unnest('{SELECT,REFERENCES,UPDATE}'::text[]) WITH ORDINALITY AS p (name, place)
     WHERE c.object_id = v_id AND v_type IN ('U', 'V') AND sys.has_perms_by_name(p_securable, v_class, p.name, c.name, 'COLUMN') = 1
     ORDER BY c.column_id, p.place;
END;
$$;

-- FULLTEXTSERVICEPROPERTY: full-text search is not installed.
CREATE OR REPLACE FUNCTION sys.fulltextserviceproperty(property text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN lower(property COLLATE "C") = 'isfulltextinstalled' THEN 0 END;
