-- It knows lifetimes now.
DROP FUNCTION IF EXISTS ssb_internal.begin_dialog_fast_path(integer, text, text, text, boolean);
