-- A role has an owner, who may change its members; GRANT … AS tells the grantor.
ALTER TABLE ssb.principal ADD COLUMN IF NOT EXISTS owner text;
DROP FUNCTION IF EXISTS ssb.grant_permission(text[], text, text, text[], boolean, text),
                        ssb.deny_permission(text[], text, text, text[], boolean, text),
                        ssb.revoke_permission(text[], text, text, text[], boolean, boolean, text),
                        ssb_internal.change_permission(text, text[], text, text, text[], boolean, text);
