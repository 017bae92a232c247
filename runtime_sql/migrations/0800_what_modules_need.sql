-- Modules WITH SCHEMABINDING know what they need; functions are among them.
ALTER TABLE IF EXISTS ssb.view_binding ADD COLUMN IF NOT EXISTS needs text[];
-- It takes what is needed.
DROP FUNCTION IF EXISTS ssb_internal.bind_to_schema(text);
