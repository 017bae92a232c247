-- Of what is to be altered, whether a procedure, function, trigger or view: where it is not made anew, it was dropped.
DELETE FROM ssb.altered_module;
ALTER TABLE ssb.altered_module ADD COLUMN IF NOT EXISTS kind text NOT NULL;
-- Replaced by functions that do not believe what a statement says of itself.
DROP FUNCTION IF EXISTS ssb_internal.is_called_by(text, text), ssb_internal.is_part_of_definition(text, text);
