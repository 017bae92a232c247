-- It takes CASCADE.
DROP FUNCTION IF EXISTS ssb_internal.change_permission(text, text[], text, text, text[], boolean, text, text);
