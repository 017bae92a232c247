-- Replaced by ssb_internal.utf16_text.
DROP FUNCTION IF EXISTS ssb_internal.xml_decode_utf16(bytea, boolean);
