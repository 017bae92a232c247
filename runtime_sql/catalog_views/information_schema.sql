-- The INFORMATION_SCHEMA views of a T-SQL database: PostgreSQL's own show every schema
-- of the instance, under its PostgreSQL name. The compiler writes
-- INFORMATION_SCHEMA.TABLES as sys.information_schema_tables.

CREATE OR REPLACE VIEW sys.information_schema_tables AS
SELECT ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, o.name AS table_name,
       CASE o.type WHEN 'V' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type
  FROM sys.objects AS o WHERE o.type IN ('U', 'V');

CREATE OR REPLACE VIEW sys.information_schema_views AS
SELECT ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, o.name AS table_name,
       sys.object_definition(o.object_id) AS view_definition,
       CASE o.with_check_option WHEN 1 THEN 'CASCADE' ELSE 'NONE' END AS check_option, 'NO'::text AS is_updatable
  FROM sys.views AS o;

CREATE OR REPLACE VIEW sys.information_schema_columns AS
SELECT ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, o.name AS table_name,
       c.name AS column_name, c.column_id AS ordinal_position,
       (SELECT d.definition FROM sys.default_constraints AS d
         WHERE d.parent_object_id = c.object_id AND d.parent_column_id = c.column_id) AS column_default,
       CASE c.is_nullable WHEN 1 THEN 'YES' ELSE 'NO' END AS is_nullable, t.name AS data_type,
       CASE WHEN t.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml')
            THEN CASE WHEN c.max_length < 0 THEN -1 WHEN t.name LIKE 'n%' THEN c.max_length / 2 ELSE c.max_length END END::integer
           AS character_maximum_length,
       CASE WHEN t.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml') THEN c.max_length END::integer
           AS character_octet_length,
       CASE WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney', 'float', 'real') THEN c.precision END
           AS numeric_precision,
       CASE WHEN t.name IN ('float', 'real') THEN 2
            WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN 10 END::smallint
           AS numeric_precision_radix,
       CASE WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN c.scale END::integer AS numeric_scale,
       CASE WHEN t.name LIKE 'date%' OR t.name IN ('time', 'smalldatetime') THEN c.scale END::smallint AS datetime_precision,
       CASE WHEN c.collation_name IS NOT NULL THEN 'master' END AS character_set_catalog, NULL::text AS character_set_schema,
       CASE WHEN c.collation_name IS NULL THEN NULL WHEN t.name LIKE 'n%' THEN 'UNICODE' ELSE 'iso_1' END AS character_set_name,
       NULL::text AS collation_catalog, NULL::text AS collation_schema, c.collation_name,
       CASE WHEN a.is_user_defined = 1 THEN ssb.db_name() END AS domain_catalog,
       CASE WHEN a.is_user_defined = 1 THEN sys.schema_name(a.schema_id) END AS domain_schema,
       CASE WHEN a.is_user_defined = 1 THEN a.name END AS domain_name
  FROM sys.columns AS c
  JOIN sys.objects AS o ON o.object_id = c.object_id AND o.type IN ('U', 'V')
  -- Of an alias type that which it is made of.
  LEFT JOIN sys.types AS t ON t.user_type_id = c.system_type_id
  LEFT JOIN sys.types AS a ON a.user_type_id = c.user_type_id
 -- As sys.columns: scripts list a table's columns without ORDER BY.
 ORDER BY c.object_id, c.column_id;

-- The rows of PARAMETERS, with the number of the routine.
CREATE OR REPLACE VIEW ssb_internal.parameter_of_routine AS
SELECT p.object_id, p.parameter_id, p.name, p.is_output, CASE t.is_table_type WHEN 1 THEN 'table type' ELSE b.name END AS data_type,
       CASE WHEN b.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml')
            THEN CASE WHEN p.max_length < 0 THEN -1 WHEN b.name LIKE 'n%' THEN p.max_length / 2 ELSE p.max_length END
            WHEN b.name IN ('text', 'image') THEN 2147483647 WHEN b.name = 'ntext' THEN 1073741823 END::integer AS character_maximum_length,
       CASE WHEN b.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml') THEN p.max_length
            WHEN b.name IN ('text', 'image') THEN 2147483647 WHEN b.name = 'ntext' THEN 2147483646 END::integer AS character_octet_length,
       t.collation_name, CASE WHEN t.collation_name IS NULL THEN NULL WHEN b.name LIKE 'n%' THEN 'UNICODE' ELSE 'iso_1' END AS character_set_name,
       CASE WHEN b.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney', 'float', 'real') THEN p.precision END::smallint
           AS numeric_precision,
       CASE WHEN b.name IN ('float', 'real') THEN 2
            WHEN b.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN 10 END::smallint
           AS numeric_precision_radix,
       CASE WHEN b.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN p.scale END::smallint AS numeric_scale,
       CASE WHEN b.name LIKE 'date%' OR b.name IN ('time', 'smalldatetime') THEN p.scale END::smallint AS datetime_precision,
       CASE WHEN t.is_user_defined = 1 THEN ssb.db_name() END AS user_defined_type_catalog,
       CASE WHEN t.is_user_defined = 1 THEN sys.schema_name(t.schema_id) END AS user_defined_type_schema,
       CASE WHEN t.is_user_defined = 1 THEN t.name END AS user_defined_type_name
  FROM sys.parameters AS p
  LEFT JOIN sys.types AS t ON t.user_type_id = p.user_type_id
  -- Of an alias type that which it is made of; a sysname is an nvarchar.
  LEFT JOIN sys.types AS b ON b.user_type_id = p.system_type_id;

CREATE OR REPLACE VIEW sys.information_schema_routines AS
SELECT ssb.db_name() AS specific_catalog, sys.schema_name(o.schema_id) AS specific_schema, o.name AS specific_name,
       ssb.db_name() AS routine_catalog, sys.schema_name(o.schema_id) AS routine_schema, o.name AS routine_name,
       CASE o.type WHEN 'P' THEN 'PROCEDURE' ELSE 'FUNCTION' END AS routine_type,
       NULL::text AS module_catalog, NULL::text AS module_schema, NULL::text AS module_name,
       NULL::text AS udt_catalog, NULL::text AS udt_schema, NULL::text AS udt_name,
       CASE WHEN o.type IN ('IF', 'TF') THEN 'TABLE' ELSE p.data_type END AS data_type,
       p.character_maximum_length, p.character_octet_length, NULL::text AS collation_catalog, NULL::text AS collation_schema, p.collation_name,
       NULL::text AS character_set_catalog, NULL::text AS character_set_schema, p.character_set_name,
       p.numeric_precision, p.numeric_precision_radix, p.numeric_scale, p.datetime_precision,
       NULL::text AS interval_type, NULL::smallint AS interval_precision,
       NULL::text AS type_udt_catalog, NULL::text AS type_udt_schema, NULL::text AS type_udt_name,
       NULL::text AS scope_catalog, NULL::text AS scope_schema, NULL::text AS scope_name,
       NULL::bigint AS maximum_cardinality, NULL::text AS dtd_identifier, 'SQL'::text AS routine_body,
       left(sys.object_definition(o.object_id), 4000) AS routine_definition,
       NULL::text AS external_name, NULL::text AS external_language, NULL::text AS parameter_style,
       'NO'::text AS is_deterministic, CASE o.type WHEN 'P' THEN 'MODIFIES' ELSE 'READS' END AS sql_data_access,
       CASE WHEN o.type = 'FN' THEN CASE WHEN (SELECT r.proisstrict FROM pg_proc AS r WHERE r.oid = o.object_id::oid) THEN 'NO' ELSE 'YES' END END
           AS is_null_call,
       NULL::text AS sql_path, 'YES'::text AS schema_level_routine, CASE o.type WHEN 'P' THEN -1 ELSE 0 END::smallint AS max_dynamic_result_sets,
       'NO'::text AS is_user_defined_cast, 'NO'::text AS is_implicitly_invocable, o.create_date AS created, o.modify_date AS last_altered
  FROM sys.objects AS o
  LEFT JOIN ssb_internal.parameter_of_routine AS p ON p.object_id = o.object_id AND p.parameter_id = 0
 WHERE o.type IN ('P', 'FN', 'IF', 'TF');

CREATE OR REPLACE VIEW sys.information_schema_parameters AS
SELECT ssb.db_name() AS specific_catalog, sys.schema_name(o.schema_id) AS specific_schema, o.name AS specific_name,
       p.parameter_id AS ordinal_position,
       CASE WHEN p.parameter_id = 0 THEN 'OUT' WHEN p.is_output = 1 THEN 'INOUT' ELSE 'IN' END AS parameter_mode,
       CASE p.parameter_id WHEN 0 THEN 'YES' ELSE 'NO' END AS is_result, 'NO'::text AS as_locator, p.name AS parameter_name, p.data_type,
       p.character_maximum_length, p.character_octet_length, NULL::text AS collation_catalog, NULL::text AS collation_schema, p.collation_name,
       CASE WHEN p.collation_name IS NOT NULL THEN 'master' END AS character_set_catalog, NULL::text AS character_set_schema,
       p.character_set_name, p.numeric_precision, p.numeric_precision_radix, p.numeric_scale, p.datetime_precision,
       NULL::text AS interval_type, NULL::smallint AS interval_precision,
       p.user_defined_type_catalog, p.user_defined_type_schema, p.user_defined_type_name,
       NULL::text AS scope_catalog, NULL::text AS scope_schema, NULL::text AS scope_name
  FROM ssb_internal.parameter_of_routine AS p
  JOIN sys.objects AS o ON o.object_id = p.object_id
 ORDER BY p.object_id, p.parameter_id;

CREATE OR REPLACE VIEW sys.information_schema_schemata AS
SELECT ssb.db_name() AS catalog_name, s.name AS schema_name, sys.user_name(s.principal_id) AS schema_owner
  FROM sys.schemas AS s;

CREATE OR REPLACE VIEW sys.information_schema_sequences AS
SELECT ssb.db_name() AS sequence_catalog, sys.schema_name(s.schema_id) AS sequence_schema, s.name AS sequence_name, t.name AS data_type,
       s.precision AS numeric_precision, 10::smallint AS numeric_precision_radix, s.scale::integer AS numeric_scale,
       s.start_value, s.minimum_value, s.maximum_value, s.increment, s.is_cycling::integer AS cycle_option,
       NULL::integer AS declared_data_type, NULL::integer AS declared_numeric_precision, NULL::integer AS declared_numeric_scale
  FROM sys.sequences AS s
  LEFT JOIN sys.types AS t ON t.user_type_id = s.user_type_id;

-- The alias types.
CREATE OR REPLACE VIEW sys.information_schema_domains AS
SELECT ssb.db_name() AS domain_catalog, sys.schema_name(a.schema_id) AS domain_schema, a.name AS domain_name, t.name AS data_type,
       CASE WHEN t.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml')
            THEN CASE WHEN a.max_length < 0 THEN -1 WHEN t.name LIKE 'n%' THEN a.max_length / 2 ELSE a.max_length END END::integer
           AS character_maximum_length,
       CASE WHEN t.name IN ('nvarchar', 'varchar', 'nchar', 'char', 'varbinary', 'binary', 'xml') THEN a.max_length END::integer
           AS character_octet_length,
       NULL::text AS collation_catalog, NULL::text AS collation_schema, a.collation_name,
       CASE WHEN a.collation_name IS NOT NULL THEN 'master' END AS character_set_catalog, NULL::text AS character_set_schema,
       CASE WHEN t.name IN ('nvarchar', 'nchar', 'ntext') THEN 'UNICODE' WHEN a.collation_name IS NOT NULL THEN 'iso_1' END AS character_set_name,
       CASE WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney', 'float', 'real') THEN a.precision END
           AS numeric_precision,
       CASE WHEN t.name IN ('float', 'real') THEN 2
            WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN 10 END::smallint
           AS numeric_precision_radix,
       CASE WHEN t.name IN ('int', 'bigint', 'smallint', 'tinyint', 'numeric', 'decimal', 'money', 'smallmoney') THEN a.scale END AS numeric_scale,
       CASE WHEN t.name LIKE 'date%' OR t.name IN ('time', 'smalldatetime') THEN a.scale END::smallint AS datetime_precision,
       NULL::text AS domain_default
  FROM sys.types AS a
  LEFT JOIN sys.types AS t ON t.user_type_id = a.system_type_id
 WHERE a.is_user_defined = 1 AND a.is_table_type = 0;

CREATE OR REPLACE VIEW sys.information_schema_table_constraints AS
SELECT ssb.db_name() AS constraint_catalog, sys.schema_name(o.schema_id) AS constraint_schema, o.name AS constraint_name,
       ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, sys.object_name(o.parent_object_id) AS table_name,
       CASE o.type WHEN 'PK' THEN 'PRIMARY KEY' WHEN 'UQ' THEN 'UNIQUE' WHEN 'F' THEN 'FOREIGN KEY' ELSE 'CHECK' END AS constraint_type,
       'NO'::text AS is_deferrable, 'NO'::text AS initially_deferred
  FROM sys.objects AS o WHERE o.type IN ('PK', 'UQ', 'F', 'C');

CREATE OR REPLACE VIEW sys.information_schema_key_column_usage AS
SELECT ssb.db_name() AS constraint_catalog, sys.schema_name(o.schema_id) AS constraint_schema, o.name AS constraint_name,
       ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, sys.object_name(o.parent_object_id) AS table_name,
       sys.col_name(o.parent_object_id, k.conkey[n.place]) AS column_name, n.place::integer AS ordinal_position
  FROM sys.objects AS o
  JOIN pg_constraint AS k ON k.oid = o.object_id::oid
  CROSS JOIN LATERAL generate_series(1, cardinality(k.conkey)) AS n (place)
 WHERE o.type IN ('PK', 'UQ', 'F');

CREATE OR REPLACE VIEW sys.information_schema_constraint_column_usage AS
SELECT ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, sys.object_name(o.parent_object_id) AS table_name,
       sys.col_name(o.parent_object_id, n.number) AS column_name,
       ssb.db_name() AS constraint_catalog, sys.schema_name(o.schema_id) AS constraint_schema, o.name AS constraint_name
  FROM sys.objects AS o
  JOIN pg_constraint AS k ON k.oid = o.object_id::oid
 CROSS JOIN LATERAL unnest(k.conkey) AS n (number)
 WHERE o.type IN ('PK', 'UQ', 'F', 'C');

CREATE OR REPLACE VIEW sys.information_schema_check_constraints AS
SELECT ssb.db_name() AS constraint_catalog, sys.schema_name(o.schema_id) AS constraint_schema, o.name AS constraint_name,
       sys.object_definition(o.object_id) AS check_clause
  FROM sys.check_constraints AS o;

CREATE OR REPLACE VIEW sys.information_schema_referential_constraints AS
SELECT ssb.db_name() AS constraint_catalog, sys.schema_name(o.schema_id) AS constraint_schema, o.name AS constraint_name,
       ssb.db_name() AS unique_constraint_catalog, sys.schema_name(o.schema_id) AS unique_constraint_schema,
       (SELECT ssb_internal.spelled(obj_description(u.oid, 'pg_constraint'), u.conname::text) FROM pg_constraint AS u WHERE u.conindid = k.conindid AND u.contype IN ('p', 'u') LIMIT 1)
           AS unique_constraint_name,
       'SIMPLE'::text AS match_option,
       CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' ELSE 'NO ACTION' END AS update_rule,
       CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' ELSE 'NO ACTION' END AS delete_rule
  FROM sys.foreign_keys AS o JOIN pg_constraint AS k ON k.oid = o.object_id::oid;

-- The tables, views and queues that a view reads.
CREATE OR REPLACE VIEW sys.information_schema_view_table_usage AS
SELECT DISTINCT ssb.db_name() AS view_catalog, sys.schema_name(v.schema_id) AS view_schema, v.name AS view_name,
       ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, o.name AS table_name
  FROM sys.views AS v
  JOIN pg_rewrite AS r ON r.ev_class = v.object_id::oid
  JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
                     AND d.refobjid <> r.ev_class
  JOIN pg_class AS c ON c.oid = d.refobjid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN ssb.queue AS q ON q.schema_name = n.nspname AND q.relation_name = c.relname
  JOIN sys.objects AS o ON o.object_id = coalesce(q.queue_id, c.oid::integer);

-- What the user has granted, and what is granted to the user or to everybody: PostgreSQL keeps it with the relation.
CREATE OR REPLACE VIEW sys.information_schema_table_privileges AS
SELECT g.grantor, g.grantee, ssb.db_name() AS table_catalog, sys.schema_name(o.schema_id) AS table_schema, o.name AS table_name,
       a.privilege_type, CASE WHEN a.is_grantable THEN 'YES' ELSE 'NO' END AS is_grantable
  FROM sys.objects AS o
  JOIN pg_class AS c ON c.oid = o.object_id::oid
 CROSS JOIN LATERAL aclexplode(c.relacl) AS a
 CROSS JOIN LATERAL (SELECT sys.user_of_role(pg_get_userbyid(a.grantor)) AS grantor,
                            CASE a.grantee WHEN 0 THEN 'public'
                                 ELSE sys.user_of_role(pg_get_userbyid(a.grantee)) END AS grantee) AS g
 WHERE o.type IN ('U', 'V') AND a.grantee <> c.relowner
   AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES')
   AND (sys.user_name() IN (g.grantor, g.grantee) OR a.grantee = 0);

CREATE OR REPLACE VIEW sys.information_schema_column_privileges AS
SELECT p.grantor, p.grantee, p.table_catalog, p.table_schema, p.table_name, c.name AS column_name, p.privilege_type, p.is_grantable
  FROM sys.information_schema_table_privileges AS p
  JOIN sys.objects AS o ON sys.schema_name(o.schema_id) = p.table_schema AND o.name = p.table_name AND o.type IN ('U', 'V')
  JOIN sys.columns AS c ON c.object_id = o.object_id
 WHERE p.privilege_type <> 'DELETE';
