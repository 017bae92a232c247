-- Messages are forwarded: answers to a set may come later, and one by one.
-- CREATE OR REPLACE leaves functions with other parameters beside the new ones, and takes no other result.
DROP FUNCTION IF EXISTS ssb_internal.find_route(integer, text, text, text, boolean);
DROP FUNCTION IF EXISTS ssb_internal.messages_to_send(text, text, integer, bigint);
DROP FUNCTION IF EXISTS ssb_internal.take_sealed(uuid, jsonb, integer[], bigint[], bytea[], text[]);
DROP FUNCTION IF EXISTS ssb_internal.sealed_answers(uuid);
-- Nobody had acknowledged what stands there: it comes again.
DROP TABLE IF EXISTS ssb.sealed_set CASCADE;
