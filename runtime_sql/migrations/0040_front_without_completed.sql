-- Where in the claims' front messages stand that are not the claim's. What was noted before does not tell, and is noted anew.
DO $$
BEGIN
    IF to_regclass('ssb.claimed_front') IS NOT NULL THEN
        DELETE FROM ssb.claimed_front;
        ALTER TABLE ssb.claimed_front ADD COLUMN IF NOT EXISTS rests bigint[] NOT NULL;
    END IF;
END;
$$;
