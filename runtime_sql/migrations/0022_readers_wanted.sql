-- ssb.queue_status has readers_wanted beside readers: CREATE OR REPLACE can not put a column between others.
-- Functions of later versions take its rows: an upgrade that is made once more finds them.
DROP FUNCTION IF EXISTS ssb_internal.check_measured_queues(ssb.queue_status[], jsonb), ssb_internal.queues_with_findings(jsonb);
DROP VIEW IF EXISTS ssb.queue_status;
DROP FUNCTION IF EXISTS ssb_internal.queue_measures(text, integer);
