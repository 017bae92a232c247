-- Which migrations a database has been through: one may come, by a merge, to a lower number than others that it has.
ALTER TABLE IF EXISTS ssb.runtime_version ADD COLUMN IF NOT EXISTS migrations integer[];
