-- It takes the queue's number.
DROP FUNCTION IF EXISTS ssb_internal.is_seen_poisoned(ssb.queue);
