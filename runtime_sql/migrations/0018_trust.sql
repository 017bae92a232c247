-- Batches of an open transaction: each round has a lock of its own (session/open_batches.sql).
DROP PROCEDURE IF EXISTS ssb_internal.run_batches(bigint);
DROP FUNCTION IF EXISTS ssb_internal.next_batch(bigint, integer, integer);
