-- Which part of a claim was read.
ALTER TABLE IF EXISTS ssb.claim_reading ADD COLUMN IF NOT EXISTS part integer;
-- It tells the number of the claim's partitions.
DROP FUNCTION IF EXISTS ssb_internal.claim_of(integer);
