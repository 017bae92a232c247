-- A stream's claim knows whether a batch of it was begun, and since when its stream does not run.
ALTER TABLE IF EXISTS ssb.claim ADD COLUMN IF NOT EXISTS is_begun boolean NOT NULL DEFAULT false;
ALTER TABLE IF EXISTS ssb.claim ADD COLUMN IF NOT EXISTS waits_since timestamptz;
