-- Numbers of objects are others in a database that was restored.
ALTER TABLE ssb.extended_property ADD COLUMN IF NOT EXISTS target text[], ADD COLUMN IF NOT EXISTS numbered_in oid;
UPDATE ssb.extended_property SET numbered_in = 'ssb'::regnamespace WHERE numbered_in IS NULL;
