-- INSERT … EXEC is told the types of a temporary table's columns.
DROP FUNCTION IF EXISTS ssb_internal.insert_captured(ssb.session, text, text[], boolean);
