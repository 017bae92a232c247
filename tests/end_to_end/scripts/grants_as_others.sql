-- GRANT … AS: whose the grant is
CREATE USER Ann WITHOUT LOGIN; CREATE USER Bob WITHOUT LOGIN; CREATE ROLE Ops; CREATE QUEUE dbo.GQ; CREATE TABLE dbo.GT (a int)
CREATE SERVICE GS ON QUEUE dbo.GQ
GO
GRANT RECEIVE ON dbo.GQ TO Ops AS dbo
GO
GRANT RECEIVE ON dbo.GQ TO Ann AS Bob
GO
GRANT RECEIVE ON dbo.GQ TO Bob AS nobody_here
GO
GRANT RECEIVE ON dbo.GQ TO Ops WITH GRANT OPTION
GRANT RECEIVE ON dbo.GQ TO Bob AS Ops
GRANT SEND ON SERVICE::GS TO Bob WITH GRANT OPTION AS dbo
GRANT SEND ON SERVICE::GS TO Ann AS Bob
DENY SEND ON SERVICE::GS TO Ann AS Bob
GO
REVOKE SEND ON SERVICE::GS FROM Ann AS Bob
GRANT SELECT ON dbo.GT TO Ann AS Nix
GO
SELECT class_desc, permission_name, state_desc, USER_NAME(grantee_principal_id) g, USER_NAME(grantor_principal_id) b FROM sys.database_permissions
 WHERE USER_NAME(grantee_principal_id) IN ('Ann', 'Bob', 'Ops') ORDER BY 2, 4
GO
-- What may be passed on is taken with CASCADE only, and with it from whom it was passed on to
GRANT SEND ON SERVICE::GS TO Ops WITH GRANT OPTION AS Bob
GRANT SEND ON SERVICE::GS TO Ops AS Bob
GRANT SEND ON SERVICE::GS TO Ann AS Ops
GO
REVOKE RECEIVE ON dbo.GQ FROM Ops
GO
REVOKE GRANT OPTION FOR SEND ON SERVICE::GS FROM Bob
GO
DENY SEND ON SERVICE::GS TO Bob
GO
REVOKE GRANT OPTION FOR RECEIVE ON dbo.GQ FROM Ops CASCADE
DENY SEND ON SERVICE::GS TO Bob CASCADE
GO
SELECT class_desc, permission_name, state_desc, USER_NAME(grantee_principal_id) g, USER_NAME(grantor_principal_id) b FROM sys.database_permissions
 WHERE USER_NAME(grantee_principal_id) IN ('Ann', 'Bob', 'Ops') ORDER BY 2, 4
