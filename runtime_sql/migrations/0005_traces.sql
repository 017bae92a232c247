-- Messages that wait keep their trace, and what leaves for another instance takes it along.
ALTER TABLE ssb.transmission ADD COLUMN IF NOT EXISTS trace text;
-- CREATE OR REPLACE takes no other result.
DROP FUNCTION IF EXISTS ssb_internal.messages_to_send(text,text,integer,bigint);
