-- sys.triggers has SQL Server's order of columns: CREATE OR REPLACE cannot move one.
DROP VIEW IF EXISTS sys.triggers;
