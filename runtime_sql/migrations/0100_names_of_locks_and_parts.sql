-- They guard services too: ssb_internal.lock_definition, ssb_internal.await_definition.
DROP FUNCTION IF EXISTS ssb_internal.change_message_type(text), ssb_internal.await_message_type();
-- It also gets the trigger of which the function is a part.
DROP FUNCTION IF EXISTS ssb_internal.create_instead(regclass, text, text, text, text);
