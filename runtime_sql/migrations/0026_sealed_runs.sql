-- What a set has of a dialog is sealed as one. Keys that were exchanged before served for another way: they are exchanged anew.
DO $$
BEGIN
    IF to_regclass('ssb.dialog_key') IS NOT NULL THEN
        DELETE FROM ssb.dialog_key;
    END IF;
END;
$$;
-- Replaced by functions with other parameters or results.
DROP FUNCTION IF EXISTS ssb_internal.secure_dialogs(bigint[]),
    ssb_internal.next_set(integer, uuid, integer, bigint, bigint, bigint[], integer, bigint, bigint, bigint[], bigint[], bigint[], text[]),
    ssb_internal.sealed_sets(), ssb_internal.answer_sealed(uuid, jsonb),
    ssb_internal.take_opened(jsonb, integer[], bigint[], text[], text[], bytea[]);
