-- Messages leave in the order of their priorities.
ALTER TABLE ssb.transmission ADD COLUMN IF NOT EXISTS priority smallint NOT NULL DEFAULT 5;
ALTER TABLE ssb.remote_conversation ADD COLUMN IF NOT EXISTS route_epoch bigint;
