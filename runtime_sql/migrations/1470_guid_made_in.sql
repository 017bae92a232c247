-- Where service_broker_guid was made: told in 124 when another database of this server has it, too.
ALTER TABLE IF EXISTS ssb.database ADD COLUMN IF NOT EXISTS guid_made_in text;
