-- Replaced by functions that do not believe what a statement says of itself.
DROP FUNCTION IF EXISTS ssb_internal.is_called_by(text, text), ssb_internal.is_part_of_definition(text, text);
