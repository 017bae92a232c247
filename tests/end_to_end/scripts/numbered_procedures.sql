-- Procedures of one name with numbers, which are dropped together, and names that need their brackets.
CREATE PROCEDURE dbo.multi;1 @a INT AS PRINT CONCAT('one ', @a)
GO
CREATE PROCEDURE dbo.multi;2 AS PRINT 'two'
GO
EXEC dbo.multi;2
EXEC dbo.multi 5
EXEC dbo.multi;1 @a = 6
EXEC multi;3
GO
multi;2
GO
DROP PROCEDURE dbo.multi
GO
EXEC dbo.multi;2
GO
CREATE PROCEDURE [dbo].[usp-go there] AS PRINT 'there'
GO
EXEC [usp-go there]
DROP PROC [usp-go there]
EXEC [usp-go there]
GO
