-- Paths are kept of dialogs with other instances too.
ALTER TABLE IF EXISTS ssb.dialog_path
    ALTER COLUMN far_service_id DROP NOT NULL, ALTER COLUMN far_queue_id DROP NOT NULL,
    ALTER COLUMN far_order DROP NOT NULL, ALTER COLUMN far_state DROP NOT NULL,
    ADD COLUMN IF NOT EXISTS peer_id integer, ADD COLUMN IF NOT EXISTS address text, ADD COLUMN IF NOT EXISTS mirror_address text;
-- It tells whether the route is the only one of its kind.
DROP FUNCTION IF EXISTS ssb_internal.find_route(integer, text, text, text, boolean, text);
