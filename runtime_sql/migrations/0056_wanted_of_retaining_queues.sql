-- It is told whether the queue retains.
DROP FUNCTION IF EXISTS ssb_internal.receive_wanted(integer, bigint, uuid, uuid);
