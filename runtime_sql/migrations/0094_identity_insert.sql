-- SET IDENTITY_INSERT tells whether it switches on.
DROP FUNCTION IF EXISTS ssb_internal.require_identity(text, text, text);
