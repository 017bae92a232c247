-- They have SQL Server's order of columns: CREATE OR REPLACE cannot move one.
DROP VIEW IF EXISTS sys.server_permissions, sys.sql_logins;
