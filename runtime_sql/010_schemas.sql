-- ssb is the engine; sys holds what T-SQL scripts query: catalog views, dynamic
-- management views and the T-SQL built-in functions and types.
-- Everybody may look names up; what a function or view gives is its own matter.
CREATE SCHEMA IF NOT EXISTS ssb;
CREATE SCHEMA IF NOT EXISTS sys;
GRANT USAGE ON SCHEMA ssb, sys TO PUBLIC;
