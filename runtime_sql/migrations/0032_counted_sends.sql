-- A part of a send that comes again has as many messages as it had.
ALTER TABLE ssb.completed_send ADD COLUMN IF NOT EXISTS messages bigint;
