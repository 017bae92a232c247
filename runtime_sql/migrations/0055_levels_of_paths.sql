-- Paths are kept of dialogs that have priorities too. (Those that are kept are of dialogs that have none.)
ALTER TABLE IF EXISTS ssb.dialog_path
    ADD COLUMN IF NOT EXISTS near_priority smallint NOT NULL DEFAULT 5,
    ADD COLUMN IF NOT EXISTS far_priority smallint NOT NULL DEFAULT 5;
-- It looks at one level of a queue.
DROP FUNCTION IF EXISTS ssb_internal.find_first_beyond(integer, bigint, bigint, bigint);
