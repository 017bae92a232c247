-- Which part of a claim was read.
ALTER TABLE IF EXISTS ssb.claim_reading ADD COLUMN IF NOT EXISTS part integer;
