-- A certificate was dropped: its keys go on in the anonymous dialogs that have them, and begin no other.
ALTER TABLE IF EXISTS ssb.dialog_key ADD COLUMN IF NOT EXISTS is_retired boolean NOT NULL DEFAULT false;
