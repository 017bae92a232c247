-- ssb_internal.queue_depth, of one queue, stands in its place.
DROP FUNCTION IF EXISTS ssb_internal.queue_depths(integer, integer);
