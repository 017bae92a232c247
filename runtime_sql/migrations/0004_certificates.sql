-- Certificates have keys, dialogs between instances are secured, and a batch knows its search path.
-- What was called a certificate before was a name without a key: nothing can be made of it but its name, so it
-- is told and dropped, with the views that show certificates; the installer makes those again.
DO $$
DECLARE
    v_names text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid = 'ssb.certificate'::regclass AND a.attname = 'thumbprint') THEN
        SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.name) INTO v_names FROM ssb.certificate AS c;
        IF v_names IS NOT NULL THEN
            RAISE WARNING 'certificates had no keys and are dropped: %', v_names
                USING HINT = 'CREATE CERTIFICATE makes them anew.';
        END IF;
        DROP TABLE ssb.certificate CASCADE;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid = 'ssb.session'::regclass AND a.attname = 'search_path') THEN
        ALTER TYPE ssb.session ADD ATTRIBUTE search_path text;
    END IF;
END;
$$;
ALTER TABLE ssb.remote_conversation
    ADD COLUMN IF NOT EXISTS security char(1), ADD COLUMN IF NOT EXISTS near_user text, ADD COLUMN IF NOT EXISTS far_user text,
    ADD COLUMN IF NOT EXISTS outbound_key_id uuid, ADD COLUMN IF NOT EXISTS inbound_key_id uuid;
-- CREATE OR REPLACE takes no other result.
DROP FUNCTION IF EXISTS ssb_internal.require_master_key(text, integer);
DROP FUNCTION IF EXISTS ssb_internal.leave_to_application(ssb.session);
DROP FUNCTION IF EXISTS ssb_internal.messages_to_send(text,text,integer,bigint);
-- They were empty before, with columns of other types.
DROP VIEW IF EXISTS sys.key_encryptions, sys.symmetric_keys;
-- It leaves one with other parameters beside the new one.
DROP FUNCTION IF EXISTS ssb.alter_certificate(text, boolean, text), ssb.alter_master_key(text), ssb.create_master_key(text),
    ssb.create_certificate(text, text, timestamp, timestamp, boolean, text, text, text), ssb_internal.end_usual(uuid),
    ssb_internal.make_target_from_afar(uuid, uuid, text, text, text, text, text, double precision, boolean),
    ssb_internal.write_trampoline(text, text[], text, integer);
