-- As whom the runtime was installed, by name: what belonged to him belongs to whoever has the runtime now
-- (ssb_internal.follow_owner).
ALTER TABLE ssb.runtime_version ADD COLUMN IF NOT EXISTS owner text;
