-- It has one parameter more.
DROP FUNCTION IF EXISTS ssb_internal.refuse_dependants(text, text[], text[]);
