-- ssb.queue_status has readers_wanted beside readers: CREATE OR REPLACE can not put a column between others.
DROP VIEW IF EXISTS ssb.queue_status;
DROP FUNCTION IF EXISTS ssb_internal.queue_measures(text, integer);
