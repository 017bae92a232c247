-- Parameters are told as the module declares them, with lengths and precisions, wherever the text was kept.
CREATE TYPE dbo.Lines AS TABLE (Sku CHAR(6) NOT NULL);
GO
CREATE FUNCTION dbo.Label(@code VARCHAR(15), @price DECIMAL(9, 2) = 3) RETURNS NVARCHAR(30) WITH RETURNS NULL ON NULL INPUT
AS BEGIN RETURN @code + N' ' + CAST(@price AS NVARCHAR(10)); END
GO
CREATE PROCEDURE dbo.Place ( @code VARCHAR -- @price MONEY
    , @note AS NVARCHAR(MAX) = N'a @price int in a text'
    , @price [decimal] ( 9 , 2 ) OUTPUT, /* @when DATE */ @when DATETIME, @day SYS.DATE, @tiny TINYINT, @f FLOAT(20), @g FLOAT
    , @doc XML, @old NTEXT, @raw VARBINARY(20), @name SYSNAME, @at DATETIME2(3), @t TIME(0), @o DATETIMEOFFSET, @flag BIT = 1
    , @lines dbo.Lines READONLY, @m$ SMALLMONEY, @m SMALLINT, @n INTEGER, @big NUMERIC(38), @any SQL_VARIANT, @id UNIQUEIDENTIFIER)
AS
DECLARE @z INT, @y VARCHAR(99)
SELECT 1 AS one
GO
CREATE FUNCTION dbo.Numbers(@n INT) RETURNS TABLE AS RETURN SELECT @n AS n
GO
SELECT OBJECT_NAME(object_id) AS module, name, TYPE_NAME(user_type_id) AS type, max_length, precision, scale, is_output, has_default_value AS d,
       is_readonly AS r
  FROM sys.parameters WHERE object_id IN (OBJECT_ID('dbo.Place'), OBJECT_ID('dbo.Label')) ORDER BY module, parameter_id;
SELECT PARAMETER_MODE AS mode, PARAMETER_NAME AS name, DATA_TYPE AS type, CHARACTER_MAXIMUM_LENGTH AS chars, CHARACTER_OCTET_LENGTH AS bytes,
       CHARACTER_SET_NAME AS letters, NUMERIC_PRECISION AS p, NUMERIC_PRECISION_RADIX AS x, NUMERIC_SCALE AS s, DATETIME_PRECISION AS d,
       USER_DEFINED_TYPE_NAME AS made
  FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_NAME = 'place' ORDER BY ORDINAL_POSITION;
SELECT ROUTINE_NAME, ROUTINE_TYPE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH AS chars, IS_DETERMINISTIC AS det, SQL_DATA_ACCESS AS data, IS_NULL_CALL AS nulls,
       SCHEMA_LEVEL_ROUTINE AS lev, MAX_DYNAMIC_RESULT_SETS AS sets, IS_USER_DEFINED_CAST AS cst, IS_IMPLICITLY_INVOCABLE AS imp
  FROM INFORMATION_SCHEMA.ROUTINES ORDER BY ROUTINE_NAME;
SELECT TOP (0) * FROM INFORMATION_SCHEMA.PARAMETERS;
SELECT TOP (0) * FROM INFORMATION_SCHEMA.ROUTINES;
GO
-- Altered, it has the other declaration.
ALTER FUNCTION dbo.Label(@code NCHAR(4)) RETURNS INT AS BEGIN RETURN 1; END
GO
SELECT name, TYPE_NAME(user_type_id) AS type, max_length FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.Label') ORDER BY parameter_id;
EXEC sp_help 'dbo.Label';
GO
