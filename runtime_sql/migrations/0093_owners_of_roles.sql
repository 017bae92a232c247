-- A role has an owner, who may change its members.
ALTER TABLE ssb.principal ADD COLUMN IF NOT EXISTS owner text;
