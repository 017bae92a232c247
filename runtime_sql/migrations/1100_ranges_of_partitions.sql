-- It tells of more: CREATE OR REPLACE cannot change what a function returns.
DROP FUNCTION IF EXISTS ssb_internal.claim_messages(text, bigint, bigint, integer, text, integer);
