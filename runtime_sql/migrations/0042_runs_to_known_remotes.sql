-- SEND hands a dialog's messages over as an array.
DROP FUNCTION IF EXISTS ssb_internal.send_to_known_remote(uuid, text, bytea);
