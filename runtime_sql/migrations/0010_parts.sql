-- A database may have the broker without the rest of the T-SQL language; until now each had all.
ALTER TABLE ssb.runtime_version ADD COLUMN IF NOT EXISTS parts text NOT NULL DEFAULT 'all'
    CONSTRAINT "parts are broker or all" CHECK (parts IN ('broker', 'all'));
