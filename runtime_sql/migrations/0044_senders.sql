-- The parts of a send belong to who sends it. What was noted before counts for whoever sends it again.
ALTER TABLE ssb.completed_send ADD COLUMN IF NOT EXISTS role name NOT NULL DEFAULT '';
ALTER TABLE ssb.completed_send ALTER COLUMN role DROP DEFAULT;
ALTER TABLE ssb.completed_send DROP CONSTRAINT IF EXISTS completed_send_pkey;
ALTER TABLE ssb.completed_send ADD CONSTRAINT completed_send_pkey PRIMARY KEY (role, send_id, partition);
