-- Where the database has lived, as the daemon last saw it: told in 509 when it has been restored or failed over since.
ALTER TABLE IF EXISTS ssb.runtime_version
    ADD COLUMN IF NOT EXISTS lineage text,
    ADD COLUMN IF NOT EXISTS lineage_since timestamptz;
