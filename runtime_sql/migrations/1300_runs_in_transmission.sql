-- Of messages that were sent as one the transmission queue's index by peer has the last alone. What waits already was sent one by one.
ALTER TABLE IF EXISTS ssb.transmission ADD COLUMN IF NOT EXISTS is_last_of_run boolean NOT NULL DEFAULT true;
DROP INDEX IF EXISTS ssb.transmission_by_peer;
