-- They tell of more than they did: CREATE OR REPLACE changes neither results nor parameters. Until they are made
-- anew, with the triggers, what the installer writes of databases and schemas is announced to nobody.
DROP TRIGGER IF EXISTS announce_definition_event ON ssb.schema_of_database;
DROP TRIGGER IF EXISTS announce_definition_event ON ssb.database;
DROP FUNCTION IF EXISTS ssb_internal.definition_kinds();
DROP FUNCTION IF EXISTS ssb_internal.event_instance(text, integer, text, text, text, text, text, text);
