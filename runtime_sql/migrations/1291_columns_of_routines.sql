-- They have more columns, in SQL Server's order: CREATE OR REPLACE cannot move one.
DROP VIEW IF EXISTS sys.information_schema_routines, sys.information_schema_parameters;
