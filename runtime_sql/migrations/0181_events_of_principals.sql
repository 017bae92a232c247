-- They tell of more than they did: CREATE OR REPLACE changes neither results nor parameters.
DROP FUNCTION IF EXISTS ssb_internal.definition_kinds();
DROP FUNCTION IF EXISTS ssb_internal.event_instance(text, integer, text, text, text, text, text, text);
