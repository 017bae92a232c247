"""System procedures that list keys, constraints, triggers, roles and files, in T-SQL; see system_queries."""

from __future__ import annotations

CATALOG_QUERIES: dict[str, tuple[str, str]] = {
    "sp_databases": (
        "",
        """
        SELECT name AS DATABASE_NAME,
               CASE name WHEN DB_NAME() THEN (SELECT SUM(size) * 8 FROM sys.database_files) END
                   AS DATABASE_SIZE,
               CAST(NULL AS varchar(254)) AS REMARKS
        FROM sys.databases ORDER BY name;
        """,
    ),
    "sp_stored_procedures": (
        "@sp_name nvarchar(390) = NULL, @sp_owner nvarchar(384) = NULL, @sp_qualifier sysname = NULL, "
        "@fusepattern bit = 1",
        """
        SELECT DB_NAME() AS PROCEDURE_QUALIFIER, SCHEMA_NAME(schema_id) AS PROCEDURE_OWNER,
               name + CASE type WHEN 'P' THEN N';1' ELSE N';0' END AS PROCEDURE_NAME, -1 AS NUM_INPUT_PARAMS,
               -1 AS NUM_OUTPUT_PARAMS, -1 AS NUM_RESULT_SETS, CAST(NULL AS varchar(254)) AS REMARKS,
               2 AS PROCEDURE_TYPE
        FROM sys.objects
        WHERE type IN ('P', 'FN', 'TF', 'IF') AND (@sp_name IS NULL OR LOWER(name) LIKE LOWER(@sp_name))
          AND (@sp_owner IS NULL OR LOWER(SCHEMA_NAME(schema_id)) LIKE LOWER(@sp_owner))
        ORDER BY 1, 2, 3;
        """,
    ),
    "sp_pkeys": (
        "@table_name sysname, @table_owner sysname = NULL, @table_qualifier sysname = NULL",
        """
        SELECT DB_NAME() AS TABLE_QUALIFIER, SCHEMA_NAME(t.schema_id) AS TABLE_OWNER, t.name AS TABLE_NAME,
               COL_NAME(c.object_id, c.column_id) AS COLUMN_NAME, CAST(c.key_ordinal AS smallint) AS KEY_SEQ,
               i.name AS PK_NAME
        FROM sys.tables AS t
        JOIN sys.indexes AS i ON i.object_id = t.object_id AND i.is_primary_key = 1
        JOIN sys.index_columns AS c
            ON c.object_id = i.object_id AND c.index_id = i.index_id AND c.key_ordinal > 0
        WHERE LOWER(t.name) = LOWER(@table_name)
          AND (@table_owner IS NULL OR LOWER(SCHEMA_NAME(t.schema_id)) = LOWER(@table_owner))
        ORDER BY 1, 2, 3, 5;
        """,
    ),
    "sp_fkeys": (
        "@pktable_name sysname = NULL, @pktable_owner sysname = NULL, @pktable_qualifier sysname = NULL, "
        "@fktable_name sysname = NULL, @fktable_owner sysname = NULL, @fktable_qualifier sysname = NULL",
        """
        SELECT DB_NAME() AS PKTABLE_QUALIFIER, OBJECT_SCHEMA_NAME(f.referenced_object_id) AS PKTABLE_OWNER,
               OBJECT_NAME(f.referenced_object_id) AS PKTABLE_NAME,
               COL_NAME(c.referenced_object_id, c.referenced_column_id) AS PKCOLUMN_NAME,
               DB_NAME() AS FKTABLE_QUALIFIER, OBJECT_SCHEMA_NAME(f.parent_object_id) AS FKTABLE_OWNER,
               OBJECT_NAME(f.parent_object_id) AS FKTABLE_NAME,
               COL_NAME(c.parent_object_id, c.parent_column_id) AS FKCOLUMN_NAME,
               CAST(c.constraint_column_id AS smallint) AS KEY_SEQ,
               CASE WHEN f.update_referential_action < 2 THEN 1 - f.update_referential_action
                    ELSE f.update_referential_action END AS UPDATE_RULE,
               CASE WHEN f.delete_referential_action < 2 THEN 1 - f.delete_referential_action
                    ELSE f.delete_referential_action END AS DELETE_RULE,
               f.name AS FK_NAME,
               (SELECT TOP (1) i.name FROM sys.indexes AS i
                WHERE i.object_id = f.referenced_object_id AND i.index_id = f.key_index_id) AS PK_NAME,
               7 AS DEFERRABILITY
        FROM sys.foreign_keys AS f
        JOIN sys.foreign_key_columns AS c ON c.constraint_object_id = f.object_id
        WHERE (@pktable_name IS NULL OR LOWER(OBJECT_NAME(f.referenced_object_id)) = LOWER(@pktable_name))
          AND (@fktable_name IS NULL OR LOWER(OBJECT_NAME(f.parent_object_id)) = LOWER(@fktable_name))
        ORDER BY 2, 3, 6, 7, 9;
        """,
    ),
    "sp_helpconstraint": (
        "@objname nvarchar(776), @nomsg varchar(5) = 'msg'",
        """
        DECLARE @here sysname = DB_NAME();
        IF OBJECT_ID(@objname) IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE
        BEGIN
            IF @nomsg <> 'nomsg' SELECT @objname AS [Object Name];
            SELECT constraint_type, constraint_name, delete_action, update_action FROM (
                SELECT CASE type WHEN 'PK' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS constraint_type,
                       name AS constraint_name, '(n/a)' AS delete_action, '(n/a)' AS update_action
                FROM sys.key_constraints WHERE parent_object_id = OBJECT_ID(@objname)
                UNION ALL
                SELECT 'FOREIGN KEY', name, REPLACE(delete_referential_action_desc, '_', ' '),
                       REPLACE(update_referential_action_desc, '_', ' ')
                FROM sys.foreign_keys WHERE parent_object_id = OBJECT_ID(@objname)
                UNION ALL
                SELECT 'CHECK', name, '(n/a)', '(n/a)'
                FROM sys.check_constraints WHERE parent_object_id = OBJECT_ID(@objname)
                UNION ALL
                SELECT 'DEFAULT on column ' + COL_NAME(parent_object_id, parent_column_id), name,
                       '(n/a)', '(n/a)'
                FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID(@objname)) AS found
            ORDER BY constraint_type, constraint_name;
        END
        """,
    ),
    "sp_helptrigger": (
        "@tabname nvarchar(776), @triggertype char(6) = NULL",
        """
        DECLARE @here sysname = DB_NAME();
        IF OBJECT_ID(@tabname) IS NULL
            RAISERROR(15009, -1, -1, @tabname, @here);
        ELSE
        SELECT t.name AS trigger_name, N'dbo' AS trigger_owner,
               (SELECT COUNT(*) FROM sys.trigger_events AS e
                WHERE e.object_id = t.object_id AND e.type_desc = 'UPDATE') AS isupdate,
               (SELECT COUNT(*) FROM sys.trigger_events AS e
                WHERE e.object_id = t.object_id AND e.type_desc = 'DELETE') AS isdelete,
               (SELECT COUNT(*) FROM sys.trigger_events AS e
                WHERE e.object_id = t.object_id AND e.type_desc = 'INSERT') AS isinsert,
               1 - t.is_instead_of_trigger AS isafter, t.is_instead_of_trigger + 0 AS isinsteadof,
               OBJECT_SCHEMA_NAME(t.parent_id) AS trigger_schema
        FROM sys.triggers AS t WHERE t.parent_id = OBJECT_ID(@tabname) ORDER BY t.name;
        """,
    ),
    "sp_helprole": (
        "@rolename sysname = NULL",
        """
        IF @rolename IS NOT NULL AND NOT EXISTS (SELECT * FROM sys.database_principals
                                                 WHERE type IN ('R', 'A') AND name = @rolename)
            RAISERROR(15409, -1, -1, @rolename);
        ELSE
        SELECT name AS RoleName, principal_id AS RoleId, CASE type WHEN 'A' THEN 1 ELSE 0 END AS IsAppRole
        FROM sys.database_principals
        WHERE type IN ('R', 'A') AND (@rolename IS NULL OR name = @rolename) ORDER BY name;
        """,
    ),
    "sp_helprolemember": (
        "@rolename sysname = NULL",
        """
        IF @rolename IS NOT NULL AND NOT EXISTS (SELECT * FROM sys.database_principals
                                                 WHERE type = 'R' AND name = @rolename)
            RAISERROR(15409, -1, -1, @rolename);
        ELSE
        SELECT r.name AS DbRole, m.name AS MemberName, m.sid AS MemberSID
        FROM sys.database_role_members AS rm
        JOIN sys.database_principals AS r ON r.principal_id = rm.role_principal_id
        JOIN sys.database_principals AS m ON m.principal_id = rm.member_principal_id
        WHERE @rolename IS NULL OR r.name = @rolename ORDER BY 1, 2;
        """,
    ),
    "sp_helpfile": (
        "@filename sysname = NULL",
        """
        SELECT name, file_id AS fileid, physical_name AS filename,
               CASE type WHEN 0 THEN FILEGROUP_NAME(data_space_id) END AS filegroup,
               CAST(size * 8 AS varchar(20)) + ' KB' AS size, 'Unlimited' AS maxsize, '0 KB' AS growth,
               CASE type WHEN 0 THEN 'data only' ELSE 'log only' END AS usage
        FROM sys.database_files WHERE @filename IS NULL OR name = @filename ORDER BY file_id;
        """,
    ),
    # The daemon's log stands for the error log: what activated procedures print, and their errors.
    "sp_readerrorlog": (
        "@p1 int = 0, @p2 int = 1, @p3 nvarchar(4000) = NULL, @p4 nvarchar(4000) = NULL",
        """
        SELECT CAST(log_date AS datetime) AS LogDate, CAST(process_info AS nvarchar(12)) AS ProcessInfo,
               CAST(line AS nvarchar(3999)) AS [Text]
        FROM ssb_internal.error_log()
        WHERE COALESCE(@p1, 0) = 0 AND COALESCE(@p2, 1) = 1
          AND (@p3 IS NULL OR CHARINDEX(LOWER(@p3), LOWER(line)) > 0)
          AND (@p4 IS NULL OR CHARINDEX(LOWER(@p4), LOWER(line)) > 0)
        ORDER BY log_id;
        """,
    ),
    "xp_readerrorlog": (
        "@p1 int = 0, @p2 int = 1, @p3 nvarchar(4000) = NULL, @p4 nvarchar(4000) = NULL, "
        "@p5 datetime = NULL, @p6 datetime = NULL, @p7 nvarchar(4) = N'asc'",
        """
        SELECT CAST(log_date AS datetime) AS LogDate, CAST(process_info AS nvarchar(12)) AS ProcessInfo,
               CAST(line AS nvarchar(3999)) AS [Text]
        FROM ssb_internal.error_log()
        WHERE COALESCE(@p1, 0) = 0 AND COALESCE(@p2, 1) = 1
          AND (@p3 IS NULL OR CHARINDEX(LOWER(@p3), LOWER(line)) > 0)
          AND (@p4 IS NULL OR CHARINDEX(LOWER(@p4), LOWER(line)) > 0)
          AND (@p5 IS NULL OR log_date >= @p5) AND (@p6 IS NULL OR log_date <= @p6)
        ORDER BY CASE LOWER(@p7) WHEN N'desc' THEN -log_id ELSE log_id END;
        """,
    ),
}
"""Name → parameters, as a procedure declares them, and text."""
