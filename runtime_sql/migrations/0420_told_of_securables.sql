-- One function tells of both: ssb_internal.tell_of_securable.
DROP FUNCTION IF EXISTS ssb_internal.tell_of_principal(text, text, integer, text, text, text, text);
DROP FUNCTION IF EXISTS ssb_internal.tell_of_key(text, text, integer, text);
