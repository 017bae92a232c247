-- An xml declaration must not name an encoding of other bytes than varchar and nvarchar have.
SELECT CAST('<?xml version="1.0" encoding="utf-16"?><a/>' AS xml)
GO
SELECT CAST(N'<?xml version="1.0" encoding="utf-8"?><a/>' AS xml)
GO
SELECT CAST(N'<?xml version="1.0" encoding="utf-16"?><a/>' AS xml), CAST('<?xml version="1.0" encoding="utf-8"?><a>é</a>' AS xml), CAST('<?xml version="1.0" encoding="iso-8859-1"?><a/>' AS xml)
GO
SELECT CAST(N'<?xml version="1.0" encoding="iso-8859-1"?><a/>' AS xml)
GO
SELECT CAST(CAST('<?xml version="1.0" encoding="utf-16"?><a/>' AS varbinary(max)) AS xml)
GO
SELECT CAST(CAST('<?xml version="1.0" encoding="iso-8859-1"?><a>' + CHAR(233) + '</a>' AS varbinary(max)) AS xml)
GO
DECLARE @n nvarchar(max) = N'<?xml version="1.0" encoding="utf-8"?><a/>', @v varchar(max) = '<?xml version="1.0" encoding="utf-16"?><a/>', @x xml
BEGIN TRY SET @x = @n END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ERROR_MESSAGE()) END CATCH
BEGIN TRY SET @x = @v END TRY BEGIN CATCH PRINT CONCAT(ERROR_NUMBER(), ERROR_MESSAGE()) END CATCH
SELECT TRY_CAST(@v AS xml)
GO
SELECT CAST('<?xml version="1.0" encoding="nonsense"?><a/>' AS xml)
GO
DECLARE @v varchar(max) = '<?xml version="1.0" '
SELECT CAST(@v + 'encoding="utf-16"?><a/>' AS xml)
GO
