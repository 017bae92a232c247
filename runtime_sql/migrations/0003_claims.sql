-- Claims of streams outlive their sessions; a conversation whose results PostgreSQL refuses is marked.
ALTER TABLE ssb.claim ADD COLUMN IF NOT EXISTS stream text;
ALTER TABLE ssb.claim ADD COLUMN IF NOT EXISTS expires_at timestamptz;
ALTER TABLE ssb.claimed_conversation ADD COLUMN IF NOT EXISTS is_refused boolean NOT NULL DEFAULT false;
