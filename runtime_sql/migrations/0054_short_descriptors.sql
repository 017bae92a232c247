-- Dialogs are told without what goes without saying.
DROP FUNCTION IF EXISTS ssb_internal.dialog_descriptor(ssb.conversation_endpoint, ssb.remote_conversation, ssb.database, text);
