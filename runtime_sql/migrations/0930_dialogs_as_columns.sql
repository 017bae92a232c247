-- What a sealed set says of its dialogs travels as arrays. What has come in the form of before is sent again, sealed anew.
DO $$
BEGIN
    IF to_regclass('ssb.sealed_set') IS NOT NULL THEN
        DELETE FROM ssb.sealed_set;
    END IF;
END;
$$;
-- Replaced by functions with other parameters, or other results.
DROP FUNCTION IF EXISTS ssb_internal.secure_dialogs(bigint[]),
    ssb_internal.next_set(integer, uuid, integer, bigint, bigint, bigint[], integer, bigint, bigint, bigint[], bigint[], bigint[], text[],
                          uuid[]),
    ssb_internal.take_set(jsonb, integer[], bigint[], text[], text[], bytea[], boolean),
    ssb_internal.take_plain(jsonb, integer[], bigint[], text[], text[], bytea[], boolean),
    ssb_internal.take_of_one_dialog(jsonb, bigint[], text[], text[], bytea[], boolean),
    ssb_internal.take_here(jsonb, integer[], bigint[], text[], text[], bytea[], boolean),
    ssb_internal.take_opened(jsonb, integer[], bigint[], text[], text[], bytea[]);
-- Room for the row of a dialog that gets its security, with the names of its users, and then its key.
ALTER TABLE IF EXISTS ssb.remote_conversation SET (fillfactor = 40);
