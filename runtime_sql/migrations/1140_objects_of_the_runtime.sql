-- What was installed, to compare with what is there (checks/runtime.sql).
ALTER TABLE IF EXISTS ssb.runtime_version ADD COLUMN IF NOT EXISTS objects text[] NOT NULL DEFAULT '{}';
-- It returns one column more.
DROP FUNCTION IF EXISTS ssb_internal.diagnosis_limits(jsonb);
