-- SEND notes the route that it knows in its own side's row.
ALTER TABLE ssb.conversation_endpoint ADD COLUMN IF NOT EXISTS route_epoch bigint;
ALTER TABLE ssb.remote_conversation DROP COLUMN IF EXISTS route_epoch;
