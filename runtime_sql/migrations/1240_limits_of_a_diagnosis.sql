-- It has a column more, unfrozen, which CREATE OR REPLACE FUNCTION would refuse.
DROP FUNCTION IF EXISTS ssb_internal.diagnosis_limits(jsonb);
