"""System procedures that show what there is: sp_help, sp_who, sp_spaceused and their like, in T-SQL.

EXEC of one of them is compiled as sp_executesql of its text.
"""

from __future__ import annotations

from .catalog_queries import CATALOG_QUERIES

SYSTEM_QUERIES: dict[str, tuple[str, str]] = {
    **CATALOG_QUERIES,
    "sp_helptext": (
        "@objname nvarchar(776), @columnname sysname = NULL",
        """
        DECLARE @here sysname = DB_NAME();
        IF OBJECT_ID(@objname) IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE IF OBJECT_DEFINITION(OBJECT_ID(@objname)) IS NULL
            RAISERROR(15197, -1, -1, @objname);
        ELSE
            SELECT CAST(SUBSTRING(l.value, p.number * 255 + 1, 255) AS nvarchar(255)) AS [Text]
            FROM STRING_SPLIT(REPLACE(OBJECT_DEFINITION(OBJECT_ID(@objname)), CHAR(13), N''), CHAR(10), 1)
              AS l
            JOIN master..spt_values AS p ON p.type = 'P' AND p.number <= (LEN(l.value + N'.') - 2) / 255
            ORDER BY l.ordinal, p.number;
        """,
    ),
    "sp_help": (
        "@objname nvarchar(776) = NULL",
        """
        DECLARE @here sysname = DB_NAME();
        IF @objname IS NULL
            SELECT name AS [Name], N'dbo' AS [Owner], type_desc AS Object_type
            FROM sys.objects ORDER BY type_desc, name;
        ELSE IF OBJECT_ID(@objname) IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE
        BEGIN
            SELECT name AS [Name], N'dbo' AS [Owner], type_desc AS [Type], create_date AS Created_datetime
            FROM sys.objects WHERE object_id = OBJECT_ID(@objname);
            IF EXISTS (SELECT * FROM sys.columns WHERE object_id = OBJECT_ID(@objname))
                SELECT name AS Column_name, TYPE_NAME(user_type_id) AS [Type],
                       CASE is_computed WHEN 1 THEN 'yes' ELSE 'no' END AS Computed, max_length AS [Length],
                       [precision] AS Prec, scale AS Scale,
                       CASE is_nullable WHEN 1 THEN 'yes' ELSE 'no' END AS Nullable
                FROM sys.columns WHERE object_id = OBJECT_ID(@objname) ORDER BY column_id;
            IF EXISTS (SELECT * FROM sys.parameters WHERE object_id = OBJECT_ID(@objname))
                SELECT name AS Parameter_name, TYPE_NAME(user_type_id) AS [Type], max_length AS [Length],
                       [precision] AS Prec, scale AS Scale, parameter_id AS Param_order
                FROM sys.parameters WHERE object_id = OBJECT_ID(@objname) ORDER BY parameter_id;
        END
        """,
    ),
    "sp_helpindex": (
        "@objname nvarchar(776)",
        """
        DECLARE @here sysname = DB_NAME();
        IF OBJECT_ID(@objname) IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE IF NOT EXISTS (SELECT * FROM sys.indexes WHERE object_id = OBJECT_ID(@objname) AND index_id > 0)
            PRINT N'The object ''' + @objname
                + N''' does not have any indexes, or you do not have permissions.';
        ELSE
        SELECT i.name AS index_name,
               LOWER(i.type_desc) + CASE WHEN i.is_unique = 1 THEN N', unique' ELSE N'' END
                   + CASE WHEN i.is_primary_key = 1 THEN N', primary key' ELSE N'' END AS index_description,
               (SELECT STRING_AGG(COL_NAME(k.object_id, k.column_id)
                                  + CASE k.is_descending_key WHEN 1 THEN N'(-)' ELSE N'' END, N', ')
                FROM sys.index_columns AS k
                WHERE k.object_id = i.object_id AND k.index_id = i.index_id
                  AND k.is_included_column = 0) AS index_keys
        FROM sys.indexes AS i WHERE i.object_id = OBJECT_ID(@objname) AND i.index_id > 0 ORDER BY i.name;
        """,
    ),
    "sp_helpdb": (
        "@dbname sysname = NULL",
        """
        IF @dbname IS NOT NULL AND DB_ID(@dbname) IS NULL
            RAISERROR(15010, -1, -1, @dbname);
        ELSE
        SELECT name, SUSER_SNAME(owner_sid) AS owner, database_id AS dbid, create_date AS created,
               N'Status=' + state_desc + N', Recovery=' + recovery_model_desc AS status, compatibility_level
        FROM sys.databases WHERE @dbname IS NULL OR database_id = DB_ID(@dbname) ORDER BY name;
        """,
    ),
    "sp_who": (
        "@loginame sysname = NULL",
        """
        IF @loginame IS NOT NULL AND @loginame <> 'active' AND SUSER_ID(@loginame) IS NULL
            RAISERROR(15007, -1, -1, @loginame);
        ELSE
        SELECT spid, 0 AS ecid, status, loginame, hostname, CAST(blocked AS char(5)) AS blk,
               DB_NAME(dbid) AS dbname, cmd, 0 AS request_id
        FROM sys.sysprocesses
        WHERE @loginame IS NULL OR loginame = @loginame OR @loginame = 'active' ORDER BY spid;
        """,
    ),
    "sp_who2": (
        "@loginame sysname = NULL",
        """
        IF @loginame IS NOT NULL AND @loginame <> 'active' AND SUSER_ID(@loginame) IS NULL
            RAISERROR(15007, -1, -1, @loginame);
        ELSE
        SELECT spid AS SPID, status AS Status, loginame AS [Login], hostname AS HostName,
               CASE blocked WHEN 0 THEN '  .' ELSE CAST(blocked AS varchar(10)) END AS BlkBy,
               DB_NAME(dbid) AS DBName, cmd AS Command, last_batch AS LastBatch, program_name AS ProgramName
        FROM sys.sysprocesses
        WHERE @loginame IS NULL OR loginame = @loginame OR @loginame = 'active' ORDER BY spid;
        """,
    ),
    "sp_lock": (
        "@spid1 int = NULL, @spid2 int = NULL",
        """
        SELECT request_session_id AS spid, resource_database_id AS dbid,
               resource_associated_entity_id AS ObjId, 0 AS IndId,
               resource_type AS [Type], resource_description AS Resource, request_mode AS Mode,
               request_status AS Status
        FROM sys.dm_tran_locks WHERE @spid1 IS NULL OR request_session_id IN (@spid1, @spid2) ORDER BY 1, 3;
        """,
    ),
    "sp_spaceused": (
        "@objname nvarchar(776) = NULL, @updateusage varchar(5) = NULL, @mode varchar(11) = NULL, "
        "@oneresultset bit = 0",
        """
        DECLARE @here sysname = DB_NAME();
        IF @objname IS NULL
            SELECT DB_NAME() AS database_name, CAST(SUM(size) / 128 AS varchar(15)) + ' MB' AS database_size,
                   '0.00 MB' AS [unallocated space]
            FROM sys.database_files;
        ELSE IF OBJECT_ID(@objname) IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE
            SELECT OBJECT_NAME(OBJECT_ID(@objname)) AS name, s.rows,
                   CAST(s.pages * 8 AS varchar(15)) + ' KB' AS reserved,
                   CAST(s.of_data * 8 AS varchar(15)) + ' KB' AS data,
                   CAST((s.pages - s.of_data) * 8 AS varchar(15)) + ' KB' AS index_size, '0 KB' AS unused
            FROM (SELECT MAX(p.row_count) AS rows, ISNULL(SUM(p.reserved_page_count), 0) AS pages,
                         ISNULL(SUM(CASE WHEN p.index_id < 2 THEN p.reserved_page_count END), 0) AS of_data
                  FROM sys.dm_db_partition_stats AS p
                  LEFT JOIN sys.internal_tables AS i ON i.object_id = p.object_id
                  WHERE COALESCE(i.parent_id, p.object_id) = OBJECT_ID(@objname)) AS s;
        """,
    ),
    "sp_tables": (
        "@table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL, "
        "@table_qualifier sysname = NULL, @table_type varchar(100) = NULL",
        """
        SELECT TABLE_CATALOG AS TABLE_QUALIFIER, TABLE_SCHEMA AS TABLE_OWNER, TABLE_NAME,
               REPLACE(TABLE_TYPE, 'BASE ', '') AS TABLE_TYPE, CAST(NULL AS varchar(254)) AS REMARKS
        FROM INFORMATION_SCHEMA.TABLES
        WHERE @table_name IS NULL OR LOWER(TABLE_NAME) LIKE LOWER(@table_name) ORDER BY 4, 1, 2, 3;
        """,
    ),
    "sp_columns": (
        "@table_name nvarchar(384), @table_owner nvarchar(384) = NULL, @table_qualifier sysname = NULL, "
        "@column_name nvarchar(384) = NULL",
        """
        SELECT TABLE_CATALOG AS TABLE_QUALIFIER, TABLE_SCHEMA AS TABLE_OWNER, TABLE_NAME, COLUMN_NAME,
               DATA_TYPE AS TYPE_NAME, IS_NULLABLE, ORDINAL_POSITION
        FROM INFORMATION_SCHEMA.COLUMNS
        WHERE LOWER(TABLE_NAME) LIKE LOWER(@table_name)
          AND (@column_name IS NULL OR LOWER(COLUMN_NAME) LIKE LOWER(@column_name))
        ORDER BY ORDINAL_POSITION;
        """,
    ),
    "sp_configure": (
        "@configname nvarchar(35) = NULL, @configvalue int = NULL",
        """
        IF @configname IS NOT NULL AND NOT EXISTS (SELECT * FROM sys.configurations
                                                   WHERE LOWER(name) LIKE LOWER(@configname) + N'%')
            RAISERROR(15123, -1, -1, @configname);
        ELSE
        SELECT name, minimum, maximum, value AS config_value, value_in_use AS run_value
        FROM sys.configurations
        WHERE @configname IS NULL OR LOWER(name) LIKE LOWER(@configname) + N'%' ORDER BY name;
        """,
    ),
    "sp_depends": (
        "@objname nvarchar(776)",
        """
        DECLARE @here sysname = DB_NAME(), @schema sysname = OBJECT_SCHEMA_NAME(OBJECT_ID(@objname)),
                @name sysname = OBJECT_NAME(OBJECT_ID(@objname)), @found bit = 0;
        IF @name IS NULL
            RAISERROR(15009, -1, -1, @objname, @here);
        ELSE
        BEGIN
            IF EXISTS (SELECT * FROM INFORMATION_SCHEMA.VIEW_TABLE_USAGE
                       WHERE VIEW_SCHEMA = @schema AND VIEW_NAME = @name)
            BEGIN
                SET @found = 1;
                PRINT N'In the current database, the specified object references the following:';
                SELECT u.TABLE_SCHEMA + N'.' + u.TABLE_NAME AS name,
                       LOWER(REPLACE(o.type_desc, '_', ' ')) AS type
                FROM INFORMATION_SCHEMA.VIEW_TABLE_USAGE AS u
                JOIN sys.objects AS o ON o.name = u.TABLE_NAME AND o.parent_object_id = 0
                                     AND SCHEMA_NAME(o.schema_id) = u.TABLE_SCHEMA
                WHERE u.VIEW_SCHEMA = @schema AND u.VIEW_NAME = @name ORDER BY 1;
            END
            IF EXISTS (SELECT * FROM INFORMATION_SCHEMA.VIEW_TABLE_USAGE
                       WHERE TABLE_SCHEMA = @schema AND TABLE_NAME = @name)
            BEGIN
                SET @found = 1;
                PRINT N'In the current database, the specified object is referenced by the following:';
                SELECT VIEW_SCHEMA + N'.' + VIEW_NAME AS name, N'view' AS type
                FROM INFORMATION_SCHEMA.VIEW_TABLE_USAGE
                WHERE TABLE_SCHEMA = @schema AND TABLE_NAME = @name ORDER BY 1;
            END
            IF @found = 0
                PRINT N'No view references it, and as a view it references nothing. What procedures, '
                    + N'functions and triggers reference is not known here.';
        END
        """,
    ),
    "sp_msforeachtable": (
        "@command1 nvarchar(2000), @replacechar nchar(1) = NULL",
        """
        DECLARE @command nvarchar(max), @table nvarchar(300);
        DECLARE tables CURSOR LOCAL STATIC FOR
            SELECT QUOTENAME(SCHEMA_NAME(schema_id)) + N'.' + QUOTENAME(name) FROM sys.tables ORDER BY name;
        OPEN tables;
        FETCH NEXT FROM tables INTO @table;
        WHILE @@FETCH_STATUS = 0
        BEGIN
            SET @command = REPLACE(@command1, ISNULL(@replacechar, N'?'), @table);
            EXEC (@command);
            FETCH NEXT FROM tables INTO @table;
        END
        """,
    ),
    "sp_msforeachdb": (
        "@command1 nvarchar(2000), @replacechar nchar(1) = NULL",
        """
        DECLARE @command nvarchar(max), @database sysname;
        DECLARE databases CURSOR LOCAL STATIC FOR SELECT name FROM sys.databases ORDER BY database_id;
        OPEN databases;
        FETCH NEXT FROM databases INTO @database;
        WHILE @@FETCH_STATUS = 0
        BEGIN
            SET @command = REPLACE(@command1, ISNULL(@replacechar, N'?'), @database);
            EXEC (@command);
            FETCH NEXT FROM databases INTO @database;
        END
        """,
    ),
}
"""Name → parameters, as a procedure declares them, and text."""
