-- LIKE passes the blanks at the end of a char, not those of Unicode.
SET NOCOUNT ON
CREATE TABLE dbo.Codes (c CHAR(5), n NCHAR(5), v VARCHAR(5))
INSERT dbo.Codes VALUES ('AB1', N'AB1', 'AB1')
SELECT COUNT(*) n FROM dbo.Codes WHERE c LIKE 'AB1'
SELECT COUNT(*) n FROM dbo.Codes WHERE c LIKE '%1' AND c LIKE 'AB_' AND c LIKE 'A[B]1' AND c LIKE 'AB%' AND c NOT LIKE 'AB'
SELECT COUNT(*) n FROM dbo.Codes WHERE c LIKE 'AB1 ' AND c LIKE 'AB___' AND c LIKE 'AB%  ' AND c NOT LIKE 'AB1   '
SELECT COUNT(*) n FROM dbo.Codes WHERE c LIKE 'AB!1' ESCAPE '!'
SELECT COUNT(*) n FROM dbo.Codes WHERE n LIKE N'AB1' OR n LIKE N'%1' OR c LIKE N'AB1' OR n LIKE 'A[B]1'
SELECT COUNT(*) n FROM dbo.Codes WHERE n LIKE N'AB1  ' AND n LIKE N'AB%' AND v LIKE 'AB1' AND v NOT LIKE 'AB1 '
DECLARE @c CHAR(5) = 'AB1', @p VARCHAR(10) = '%1', @w NVARCHAR(10) = N'%1'
IF @c LIKE @p PRINT 'char' ELSE PRINT 'no char'
IF @c LIKE @w PRINT 'Unicode' ELSE PRINT 'no Unicode'
IF @c COLLATE Latin1_General_CI_AS LIKE 'ab1' PRINT 'no case'
IF 'ab ' COLLATE Latin1_General_CI_AS LIKE 'AB' PRINT 'no blanks'
GO
