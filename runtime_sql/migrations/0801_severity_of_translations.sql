-- The errors of dynamic SQL that is translated as it runs have their severity and state.
ALTER TABLE IF EXISTS ssb.translation ADD COLUMN IF NOT EXISTS severity integer NOT NULL DEFAULT 15;
ALTER TABLE IF EXISTS ssb.translation ADD COLUMN IF NOT EXISTS state integer NOT NULL DEFAULT 1;
DROP FUNCTION IF EXISTS ssb_internal.answer_translation(uuid, text[], integer, text, integer);
DROP FUNCTION IF EXISTS ssb_internal.take_translation(uuid);
DROP FUNCTION IF EXISTS ssb_internal.translated(text, text, text[], integer, integer);
