-- CREATE, ALTER, OPEN, CLOSE, BACKUP, RESTORE and DROP MASTER KEY.
--
-- The key itself is made, opened and sealed anew by the client; here stand the sealed forms of it.

-- What the client needs to open a database's master key; NULL where there is none.
CREATE OR REPLACE FUNCTION ssb_internal.master_key_json(p_database_id integer)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('guid', k.key_guid, 'by_service', ssb_internal.hex(k.by_service), 'service_key', s.key_id,
        'passwords', coalesce((SELECT jsonb_agg(ssb_internal.hex(p.sealed) ORDER BY p.password_id)
                                 FROM ssb.master_key_password AS p WHERE p.database_id = k.database_id), '[]'))
      FROM ssb.master_key AS k LEFT JOIN ssb.service_master_key AS s ON true
     WHERE k.database_id = p_database_id;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.service_key_id()
RETURNS uuid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.key_id FROM ssb.service_master_key AS s; $$;

-- Which service master key the client has used: from now on the instance's.
CREATE OR REPLACE FUNCTION ssb_internal.note_service_key(p_key_id uuid)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO ssb.service_master_key AS s (key_id) VALUES (p_key_id)
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id, modify_date = now() WHERE s.key_id <> excluded.key_id;
$$;

-- Two CREATE MASTER KEY at once must not each make a service master key, nor two DROP ENCRYPTION leave a key that nothing opens.
CREATE OR REPLACE FUNCTION ssb_internal.lock_keys()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ LOCK TABLE ssb_locks.master_keys IN SHARE ROW EXCLUSIVE MODE; $$;

-- Something is being sealed by a master key, which stays what it is to the end of the transaction.
CREATE OR REPLACE FUNCTION ssb_internal.share_keys()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ LOCK TABLE ssb_locks.master_keys IN ROW EXCLUSIVE MODE; $$;
REVOKE EXECUTE ON FUNCTION ssb_internal.share_keys() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.require_master_key(p_verb text, p_database_id integer)
RETURNS ssb.master_key
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key ssb.master_key;
BEGIN
    PERFORM ssb_internal.require_definition_right('CONTROL', p_database_id);
    SELECT k.* INTO v_key FROM ssb.master_key AS k WHERE k.database_id = p_database_id;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(15151, format('Cannot %s the symmetric key ''master key'', because it does not exist or you do not '
                                                       'have permission.', p_verb));
    END IF;
    RETURN v_key;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_master_key(password text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_answer jsonb;
BEGIN
    PERFORM ssb_internal.require_definition_right('CONTROL', v_database_id);
    PERFORM ssb_internal.lock_keys();
    IF EXISTS (SELECT FROM ssb.master_key AS k WHERE k.database_id = v_database_id) THEN
        PERFORM ssb_internal.raise_error(15578, 'There is already a master key in the database. Please drop it before performing this '
                                                'statement.');
    END IF;
    v_answer := ssb_internal.ask_client('CREATE MASTER KEY', 'create_master_key', jsonb_build_object(
        'action', 'create_master_key', 'service_key', ssb_internal.service_key_id(), 'password', password));
    INSERT INTO ssb.master_key (database_id) VALUES (v_database_id);
    PERFORM ssb_internal.keep_master_key(v_database_id, v_answer);
    PERFORM ssb_internal.tell_of_securable('CREATE', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
    PERFORM ssb_internal.retry_secured();
END;
$$;

-- What the client answered about a master key that it made or restored.
CREATE OR REPLACE FUNCTION ssb_internal.keep_master_key(p_database_id integer, p_answer jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.note_service_key((p_answer ->> 'service_key')::uuid);
    UPDATE ssb.master_key AS k
       SET by_service = decode(p_answer ->> 'by_service', 'hex'), key_guid = gen_random_uuid(), modify_date = now()
     WHERE k.database_id = p_database_id;
    DELETE FROM ssb.master_key_password AS p WHERE p.database_id = p_database_id;
    INSERT INTO ssb.master_key_password (database_id, sealed)
    SELECT p_database_id, decode(p_answer ->> 'by_password', 'hex') WHERE p_answer ->> 'by_password' IS NOT NULL;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.open_master_key(password text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_master_key('open', v_database_id);
    PERFORM ssb_internal.ask_client('OPEN MASTER KEY', 'open_master_key', jsonb_build_object(
        'action', 'open_master_key', 'master', ssb_internal.master_key_json(v_database_id), 'password', password));
END;
$$;

CREATE OR REPLACE FUNCTION ssb.close_master_key(database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_master_key('close', v_database_id);
    PERFORM ssb_internal.ask_client('CLOSE MASTER KEY', 'close_master_key', jsonb_build_object(
        'action', 'close_master_key', 'master', ssb_internal.master_key_json(v_database_id)));
END;
$$;

-- ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD; without a password BY SERVICE MASTER KEY.
CREATE OR REPLACE FUNCTION ssb_internal.add_master_key_encryption(password text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_answer jsonb;
BEGIN
    PERFORM ssb_internal.require_master_key('alter', v_database_id);
    PERFORM ssb_internal.lock_keys();
    v_answer := ssb_internal.ask_client('ALTER MASTER KEY', 'add_master_key_encryption', jsonb_build_object(
        'action', 'seal_master_key', 'master', ssb_internal.master_key_json(v_database_id), 'service_key', ssb_internal.service_key_id(),
        'password', password));
    IF password IS NULL THEN
        PERFORM ssb_internal.note_service_key((v_answer ->> 'service_key')::uuid);
        UPDATE ssb.master_key AS k SET by_service = decode(v_answer ->> 'by_service', 'hex'), modify_date = now()
         WHERE k.database_id = v_database_id;
    ELSE
        INSERT INTO ssb.master_key_password (database_id, sealed) VALUES (v_database_id, decode(v_answer ->> 'by_password', 'hex'));
        UPDATE ssb.master_key AS k SET modify_date = now() WHERE k.database_id = v_database_id;
    END IF;
    PERFORM ssb_internal.tell_of_securable('ALTER', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
END;
$$;

-- ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD; without a password BY SERVICE MASTER KEY. One must be left.
CREATE OR REPLACE FUNCTION ssb_internal.drop_master_key_encryption(password text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_key ssb.master_key := ssb_internal.require_master_key('alter', v_database_id);
    v_passwords integer;
    v_place integer;
BEGIN
    PERFORM ssb_internal.lock_keys();
    v_key := ssb_internal.require_master_key('alter', v_database_id);
    v_passwords := (SELECT count(*) FROM ssb.master_key_password AS p WHERE p.database_id = v_database_id);
    IF v_passwords + (v_key.by_service IS NOT NULL)::integer < 2 THEN
        PERFORM ssb_internal.raise_error(15558, format('Cannot drop encryption by %s ''''.',
                                                       CASE WHEN password IS NULL THEN 'service master key' ELSE 'password' END),
                                         16, 1, 'The master key cannot be left without encryption: ADD ENCRYPTION first.');
    ELSIF password IS NULL THEN
        IF v_key.by_service IS NULL THEN
            PERFORM ssb_internal.raise_error(15313, 'The key is not encrypted using the specified decryptor.');
        END IF;
        UPDATE ssb.master_key AS k SET by_service = NULL, modify_date = now() WHERE k.database_id = v_database_id;
        PERFORM ssb_internal.tell_of_securable('ALTER', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
        RETURN;
    END IF;
    v_place := ssb_internal.ask_client('ALTER MASTER KEY', 'drop_master_key_encryption', jsonb_build_object(
        'action', 'find_password', 'master', ssb_internal.master_key_json(v_database_id), 'password', password)) ->> 'place';
    DELETE FROM ssb.master_key_password AS p
     WHERE p.password_id = (SELECT o.password_id FROM ssb.master_key_password AS o WHERE o.database_id = v_database_id
                             ORDER BY o.password_id OFFSET v_place LIMIT 1);
    UPDATE ssb.master_key AS k SET modify_date = now() WHERE k.database_id = v_database_id;
    PERFORM ssb_internal.tell_of_securable('ALTER', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
END;
$$;

-- The private keys of certificates that a database's master key seals, for a new master key to seal; and
-- what came of it: NULL where one was lost (FORCE).
CREATE OR REPLACE FUNCTION ssb_internal.sealed_private_keys(p_database_id integer)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(ssb_internal.hex(c.private_key) ORDER BY c.certificate_id), '[]')
      FROM ssb.certificate AS c WHERE c.database_id = p_database_id AND c.encryption = 'MK';
$$;

CREATE OR REPLACE FUNCTION ssb_internal.keep_private_keys(p_database_id integer, p_sealed jsonb)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.certificate AS c
       SET private_key = decode(n.sealed, 'hex'), encryption = CASE WHEN n.sealed IS NULL THEN 'NA' ELSE 'MK' END
      FROM (SELECT o.certificate_id, p_sealed ->> (row_number() OVER (ORDER BY o.certificate_id) - 1)::integer AS sealed
              FROM ssb.certificate AS o WHERE o.database_id = p_database_id AND o.encryption = 'MK') AS n
     WHERE c.certificate_id = n.certificate_id;
$$;

-- The session keys that a new master key has to seal, too: those that nobody would exchange anew.
CREATE OR REPLACE FUNCTION ssb_internal.sealed_dialog_keys(p_database_id integer)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_object_agg(k.key_id, ssb_internal.hex(k.sealed_key)), '{}')
      FROM ssb.dialog_key AS k
     WHERE k.database_id = p_database_id
       AND (k.key_id, k.database_id) IN (SELECT n.key_id, n.database_id FROM ssb_internal.needed_dialog_keys() AS n);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.sealed_dialog_keys(integer) FROM PUBLIC;

-- … and what came of it: NULL where the old master key could not be opened, or the client is of a version that does not seal them. All
-- others are exchanged anew by the next message.
CREATE OR REPLACE FUNCTION ssb_internal.keep_dialog_keys(p_database_id integer, p_sealed jsonb)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.dialog_key AS k WHERE k.database_id = p_database_id AND (p_sealed ->> k.key_id::text) IS NULL;
    UPDATE ssb.dialog_key AS k SET sealed_key = decode(p_sealed ->> k.key_id::text, 'hex') WHERE k.database_id = p_database_id;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keep_dialog_keys(integer, jsonb) FROM PUBLIC;

-- ALTER MASTER KEY [FORCE] REGENERATE WITH ENCRYPTION BY PASSWORD. Other passwords are gone.
CREATE OR REPLACE FUNCTION ssb_internal.regenerate_master_key(password text, force boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_answer jsonb;
BEGIN
    PERFORM ssb_internal.require_master_key('alter', v_database_id);
    PERFORM ssb_internal.lock_keys();
    v_answer := ssb_internal.ask_client('ALTER MASTER KEY', 'regenerate_master_key', jsonb_build_object(
        'action', 'change_master_key', 'master', ssb_internal.master_key_json(v_database_id), 'service_key', ssb_internal.service_key_id(),
        'password', password, 'force', force, 'private_keys', ssb_internal.sealed_private_keys(v_database_id),
        'dialog_keys', ssb_internal.sealed_dialog_keys(v_database_id)));
    PERFORM ssb_internal.keep_private_keys(v_database_id, v_answer -> 'private_keys');
    PERFORM ssb_internal.keep_master_key(v_database_id, v_answer);
    PERFORM ssb_internal.keep_dialog_keys(v_database_id, v_answer -> 'dialog_keys');
    PERFORM ssb_internal.tell_of_securable('ALTER', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
END;
$$;

CREATE OR REPLACE FUNCTION ssb.backup_master_key(file text, password text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_master_key('backup', v_database_id);
    PERFORM ssb_internal.ask_client('BACKUP MASTER KEY', 'backup_master_key', jsonb_build_object(
        'action', 'backup_master_key', 'master', ssb_internal.master_key_json(v_database_id), 'file', file, 'password', password));
END;
$$;

CREATE OR REPLACE FUNCTION ssb.restore_master_key(file text, decryption text, password text, force boolean DEFAULT false,
                                                  database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_answer jsonb;
BEGIN
    PERFORM ssb_internal.require_definition_right('CONTROL', v_database_id);
    PERFORM ssb_internal.lock_keys();
    v_answer := ssb_internal.ask_client('RESTORE MASTER KEY', 'restore_master_key', jsonb_build_object(
        'action', 'restore_master_key', 'master', ssb_internal.master_key_json(v_database_id), 'service_key', ssb_internal.service_key_id(),
        'file', file, 'decryption', decryption, 'password', password, 'force', force,
        'private_keys', ssb_internal.sealed_private_keys(v_database_id), 'dialog_keys', ssb_internal.sealed_dialog_keys(v_database_id)));
    PERFORM ssb_internal.keep_private_keys(v_database_id, v_answer -> 'private_keys');
    INSERT INTO ssb.master_key (database_id) VALUES (v_database_id) ON CONFLICT DO NOTHING;
    PERFORM ssb_internal.keep_master_key(v_database_id, v_answer);
    PERFORM ssb_internal.keep_dialog_keys(v_database_id, v_answer -> 'dialog_keys');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.forget_dialog_keys(p_database_id integer)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM ssb.dialog_key AS k WHERE k.database_id = p_database_id; $$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_master_key(database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_name text;
BEGIN
    PERFORM ssb_internal.require_master_key('drop', v_database_id);
    PERFORM ssb_internal.lock_keys();
    SELECT c.name INTO v_name FROM ssb.certificate AS c
     WHERE c.database_id = v_database_id AND c.encryption = 'MK' ORDER BY c.certificate_id LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(15580, format('Cannot drop master key because certificate ''%s'' is encrypted by it.', v_name));
    END IF;
    PERFORM ssb_internal.forget_dialog_keys(v_database_id);
    DELETE FROM ssb.master_key AS k WHERE k.database_id = v_database_id;
    PERFORM ssb_internal.tell_of_securable('DROP', 'MASTER_KEY', v_database_id, NULL, NULL, 'MASTER KEY');
END;
$$;
