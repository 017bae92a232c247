-- ALTER, BACKUP and RESTORE SERVICE MASTER KEY. It is the instance's: the runtime's owner alone may.

CREATE OR REPLACE FUNCTION ssb_internal.require_service_right()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE') THEN
        PERFORM ssb_internal.raise_error(15247, 'User does not have permission to perform this action.');
    END IF;
    PERFORM ssb_internal.lock_keys();
END;
$$;

-- All master keys of the instance, for a new service master key to seal; and what came of it.
CREATE OR REPLACE FUNCTION ssb_internal.all_master_keys()
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(ssb_internal.master_key_json(k.database_id) ORDER BY k.database_id), '[]') FROM ssb.master_key AS k;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.keep_all_master_keys(p_answer jsonb)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.master_key AS k SET by_service = decode(n.sealed, 'hex'), modify_date = now()
      FROM (SELECT o.database_id, p_answer -> 'masters' ->> (row_number() OVER (ORDER BY o.database_id) - 1)::integer AS sealed
              FROM ssb.master_key AS o) AS n
     WHERE k.database_id = n.database_id;
    SELECT ssb_internal.note_service_key((p_answer ->> 'service_key')::uuid);
$$;

CREATE OR REPLACE FUNCTION ssb.regenerate_service_master_key(force boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_service_right();
    PERFORM ssb_internal.keep_all_master_keys(ssb_internal.ask_client('ALTER SERVICE MASTER KEY', 'regenerate_service_master_key',
        jsonb_build_object('action', 'change_service_key', 'masters', ssb_internal.all_master_keys(), 'force', force)));
END;
$$;

CREATE OR REPLACE FUNCTION ssb.backup_service_master_key(file text, password text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_service_right();
    PERFORM ssb_internal.note_service_key((ssb_internal.ask_client('BACKUP SERVICE MASTER KEY', 'backup_service_master_key', jsonb_build_object(
        'action', 'backup_service_key', 'service_key', ssb_internal.service_key_id(), 'file', file, 'password', password))
        ->> 'service_key')::uuid);
END;
$$;

CREATE OR REPLACE FUNCTION ssb.restore_service_master_key(file text, decryption text, force boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_service_right();
    PERFORM ssb_internal.keep_all_master_keys(ssb_internal.ask_client('RESTORE SERVICE MASTER KEY', 'restore_service_master_key',
        jsonb_build_object('action', 'restore_service_key', 'service_key', ssb_internal.service_key_id(), 'masters', ssb_internal.all_master_keys(),
                           'file', file, 'decryption', decryption, 'force', force)));
END;
$$;
