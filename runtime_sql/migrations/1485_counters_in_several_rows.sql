-- A counter may have several rows: nobody waits for another's transaction to count.
ALTER TABLE IF EXISTS ssb.broker_counter DROP CONSTRAINT IF EXISTS broker_counter_pkey;
