-- CREATE QUEUE and ALTER QUEUE tell how the script spells a procedure that comes later.
DROP FUNCTION IF EXISTS
    ssb.create_queue(text, boolean, boolean, boolean, text, integer, text, boolean, integer, boolean, text, text),
    ssb_internal.create_queue(text, boolean, boolean, boolean, text, integer, text, boolean, integer, boolean, text, text),
    ssb.alter_queue(text, boolean, boolean, boolean, text, integer, text, boolean, boolean, integer, boolean, text),
    ssb_internal.alter_queue(text, boolean, boolean, boolean, text, integer, text, boolean, boolean, integer, boolean, text),
    ssb_internal.set_queue_options(integer, boolean, boolean, boolean, text, integer, text, boolean, boolean, integer, boolean, text);
