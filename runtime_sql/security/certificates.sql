-- CREATE, ALTER, BACKUP and DROP CERTIFICATE. Keys are made, and files read and written, by the client.

-- Who may own one: users and application roles. Logins that are PostgreSQL roles of their own are users.
CREATE OR REPLACE FUNCTION ssb_internal.certificate_owner(p_owner text, p_database_id integer)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb.principal AS p
                WHERE p.database_id = p_database_id AND lower(p.name) = lower(p_owner)
                  AND (p.kind = 'ROLE' OR p.certificate IS NOT NULL))
       OR lower(p_owner COLLATE "C") IN ('public', 'db_owner', 'db_ddladmin') THEN
        PERFORM ssb_internal.raise_error(15345, 'An entity of type certificate cannot be owned by a role, a group, or by principals mapped to '
                                                'certificates or asymmetric keys.');
    END IF;
    -- A login that is no user of the database.
    IF ssb_internal.role_of(p_owner) IS NULL AND NOT ssb_internal.is_fixed_principal(p_owner)
       AND NOT EXISTS (SELECT FROM ssb.principal AS p WHERE p.database_id = p_database_id AND lower(p.name) = lower(p_owner)) THEN
        PERFORM ssb_internal.raise_not_found('find', 'user', p_owner);
    END IF;
    RETURN ssb_internal.owner_or_caller(p_owner, p_database_id);
END;
$$;

-- NULL where there is neither a file nor bytes.
CREATE OR REPLACE FUNCTION ssb_internal.key_source(p_file text, p_bytes bytea)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('file', p_file, 'binary', ssb_internal.hex(p_bytes)) WHERE p_file IS NOT NULL OR p_bytes IS NOT NULL;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_certificate(name text, subject text DEFAULT NULL, start_date timestamp DEFAULT NULL,
    expiry_date timestamp DEFAULT NULL, password text DEFAULT NULL, file text DEFAULT NULL, bytes bytea DEFAULT NULL,
    private_key_file text DEFAULT NULL, private_key_bytes bytea DEFAULT NULL, decryption text DEFAULT NULL,
    encryption text DEFAULT NULL, format text DEFAULT NULL, active_for_begin_dialog boolean DEFAULT NULL,
    owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_owner text;
    v_now timestamp := date_trunc('second', timezone('UTC', clock_timestamp()));
    v_start timestamp := coalesce(start_date, date_trunc('second', timezone('UTC', clock_timestamp())));
    v_options jsonb := ssb_internal.key_source(private_key_file, private_key_bytes);
    v_answer jsonb;
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE CERTIFICATE', v_database_id);
    PERFORM ssb_internal.check_name(name);
    v_owner := ssb_internal.certificate_owner(owner, v_database_id);
    PERFORM ssb_internal.share_keys();
    IF EXISTS (SELECT FROM ssb.certificate AS c WHERE c.database_id = v_database_id AND lower(c.name) = lower(name)) THEN
        PERFORM ssb_internal.raise_certificate_exists(name);
    ELSIF coalesce(file, ssb_internal.hex(bytes)) IS NULL AND password IS NULL
          AND NOT EXISTS (SELECT FROM ssb.master_key AS k WHERE k.database_id = v_database_id) THEN
        PERFORM ssb_internal.raise_error(15581, 'Please create a master key in the database or open the master key in the session before '
                                                'performing this operation.');
    END IF;
    v_answer := ssb_internal.ask_client('CREATE CERTIFICATE', 'create_certificate', jsonb_build_object(
        'action', 'create_certificate', 'master', ssb_internal.master_key_json(v_database_id),
        'source', ssb_internal.key_source(file, bytes) || jsonb_build_object('format', format),
        'private_key', CASE WHEN v_options IS NOT NULL OR decryption IS NOT NULL OR encryption IS NOT NULL
                            THEN coalesce(v_options, '{}') || jsonb_build_object('decryption', decryption, 'encryption', encryption) END,
        'subject', subject, 'password', password, 'start_date', to_char(v_start, 'YYYY-MM-DD"T"HH24:MI:SS'),
        'expiry_date', to_char(coalesce(expiry_date, v_start + interval '1 year'), 'YYYY-MM-DD"T"HH24:MI:SS')));
    INSERT INTO ssb.certificate AS c (database_id, name, owner, der, subject, issuer, serial_number, thumbprint, start_date,
                                      expiry_date, key_length, private_key, encryption, active_for_begin_dialog)
    SELECT v_database_id, name, v_owner, decode(a.der, 'hex'), a.subject, a.issuer, a.serial_number, decode(a.thumbprint, 'hex'),
           a.start_date, a.expiry_date, a.key_length, decode(a.private_key, 'hex'), a.encryption, coalesce(active_for_begin_dialog, true)
      FROM jsonb_to_record(v_answer) AS a (der text, subject text, issuer text, serial_number text, thumbprint text,
               start_date timestamp, expiry_date timestamp, key_length integer, private_key text, encryption char(2))
    ON CONFLICT DO NOTHING
    RETURNING c.start_date, c.expiry_date INTO start_date, expiry_date;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_certificate_exists(name);
    ELSIF expiry_date <= v_now THEN
        PERFORM ssb_internal.print('Warning: The certificate you created is expired.');
    ELSIF start_date > v_now THEN
        PERFORM ssb_internal.print('Warning: The certificate you created is not yet valid; its start date is in the future.');
    END IF;
    -- (The same certificate may have been dropped, and come back from its file.)
    UPDATE ssb.dialog_key AS k SET is_retired = false
     WHERE k.database_id = v_database_id AND k.is_retired
       AND encode(sha256(decode(v_answer ->> 'der', 'hex')), 'hex') IN (k.near, k.far);
    PERFORM ssb_internal.tell_of_securable('CREATE', 'CERTIFICATE', v_database_id, NULL, name, 'CERTIFICATE');
    PERFORM ssb_internal.retry_secured();
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.raise_certificate_exists(p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(15232, format('A certificate with name ''%s'' already exists or this certificate already has been '
                                                   'added to the database.', p_name));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.certificate_to_change(p_verb text, p_name text, p_database_id integer, p_privilege text DEFAULT 'ALTER')
RETURNS ssb.certificate
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_certificate ssb.certificate;
BEGIN
    SELECT c.* INTO v_certificate FROM ssb.certificate AS c WHERE c.database_id = p_database_id AND lower(c.name) = lower(p_name);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'certificate', p_name);
    END IF;
    PERFORM ssb_internal.require_permission(p_verb, 'CERTIFICATE', v_certificate.certificate_id, p_name, p_privilege, v_certificate.owner,
                                            p_database_id);
    RETURN v_certificate;
END;
$$;

-- What the client needs to open a certificate's private key.
CREATE OR REPLACE FUNCTION ssb_internal.certificate_json(p_certificate ssb.certificate)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object('name', p_certificate.name, 'der', ssb_internal.hex(p_certificate.der), 'sealed', ssb_internal.hex(p_certificate.private_key),
                              'encryption', p_certificate.encryption, 'master', ssb_internal.master_key_json(p_certificate.database_id));
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_certificate(name text, active_for_begin_dialog boolean DEFAULT NULL,
    remove_private_key boolean DEFAULT false, private_key_file text DEFAULT NULL, private_key_bytes bytea DEFAULT NULL,
    decryption text DEFAULT NULL, encryption text DEFAULT NULL, has_private_key_options boolean DEFAULT false,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_certificate ssb.certificate := ssb_internal.certificate_to_change('alter', name, ssb_internal.database_id_of(database));
    v_answer jsonb;
BEGIN
    UPDATE ssb.certificate AS c SET active_for_begin_dialog = coalesce(active_for_begin_dialog, c.active_for_begin_dialog)
     WHERE c.certificate_id = v_certificate.certificate_id;
    IF remove_private_key THEN
        UPDATE ssb.certificate AS c SET private_key = NULL, encryption = 'NA' WHERE c.certificate_id = v_certificate.certificate_id;
    ELSIF has_private_key_options THEN
        PERFORM ssb_internal.share_keys();
        SELECT c.* INTO v_certificate FROM ssb.certificate AS c WHERE c.certificate_id = v_certificate.certificate_id;
        v_answer := ssb_internal.ask_client('ALTER CERTIFICATE', 'alter_certificate', ssb_internal.certificate_json(v_certificate)
            || jsonb_build_object('action', 'change_private_key',
                   'private_key', coalesce(ssb_internal.key_source(private_key_file, private_key_bytes), '{}')
                                  || jsonb_build_object('decryption', decryption, 'encryption', encryption)));
        UPDATE ssb.certificate AS c
           SET private_key = decode(v_answer ->> 'private_key', 'hex'), encryption = v_answer ->> 'encryption'
         WHERE c.certificate_id = v_certificate.certificate_id;
    END IF;
    SELECT c.* INTO v_certificate FROM ssb.certificate AS c WHERE c.certificate_id = v_certificate.certificate_id;
    IF (remove_private_key OR has_private_key_options) AND v_certificate.encryption <> 'MK'
       AND ssb_internal.is_endpoint_certificate(v_certificate) THEN
        PERFORM ssb_internal.refuse_endpoint_certificate(v_certificate.name,
            'The endpoint authenticates with it: ALTER ENDPOINT … AUTHENTICATION comes first.');
    END IF;
    PERFORM ssb_internal.tell_of_securable('ALTER', 'CERTIFICATE', v_certificate.database_id, NULL, v_certificate.name, 'CERTIFICATE');
    PERFORM ssb_internal.retry_secured();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.backup_certificate(name text, file text, private_key_file text DEFAULT NULL,
    encryption text DEFAULT NULL, decryption text DEFAULT NULL, format text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_has_key boolean := coalesce(private_key_file, encryption, decryption, format) IS NOT NULL;
    v_certificate ssb.certificate := ssb_internal.certificate_to_change('backup', name, ssb_internal.database_id_of(database),
        CASE WHEN coalesce(private_key_file, encryption, decryption, format) IS NOT NULL THEN 'CONTROL' ELSE 'VIEW DEFINITION' END);
BEGIN
    PERFORM ssb_internal.ask_client('BACKUP CERTIFICATE', 'backup_certificate', ssb_internal.certificate_json(v_certificate)
        || jsonb_build_object('action', 'backup_certificate', 'file', file, 'format', format,
               'private_key', CASE WHEN v_has_key THEN jsonb_build_object('file', private_key_file, 'encryption', encryption,
                                                                          'decryption', decryption) END));
    IF v_has_key THEN
        UPDATE ssb.certificate AS c SET backup_date = now() WHERE c.certificate_id = v_certificate.certificate_id;
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_certificate(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_certificate ssb.certificate := ssb_internal.certificate_to_change('drop', name, ssb_internal.database_id_of(database), 'CONTROL');
    v_fingerprint text;
BEGIN
    IF EXISTS (SELECT FROM ssb.principal AS p
                WHERE lower(p.certificate) = lower(name) AND coalesce(p.database_id, 1) = v_certificate.database_id)
       OR ssb_internal.is_endpoint_certificate(v_certificate) THEN
        PERFORM ssb_internal.raise_error(15352, 'The certificate cannot be dropped because one or more entities are either signed or encrypted '
                                                'using it.');
    END IF;
    -- What it has vouched for ends with it; in anonymous dialogs that have begun, answers still need their key.
    v_fingerprint := ssb_internal.fingerprint(v_certificate);
    UPDATE ssb.dialog_key AS k SET is_retired = true
     WHERE k.database_id = v_certificate.database_id AND v_fingerprint IN (k.near, k.far)
       AND (k.key_id, k.database_id) IN (SELECT n.key_id, n.database_id FROM ssb_internal.needed_dialog_keys() AS n);
    DELETE FROM ssb.dialog_key AS k
     WHERE k.database_id = v_certificate.database_id AND v_fingerprint IN (k.near, k.far) AND NOT k.is_retired;
    DELETE FROM ssb.certificate AS c WHERE c.certificate_id = v_certificate.certificate_id;
    DELETE FROM ssb.permission AS p WHERE p.class = 'CERTIFICATE' AND p.major_id = v_certificate.certificate_id;
    PERFORM ssb_internal.tell_of_securable('DROP', 'CERTIFICATE', v_certificate.database_id, NULL, v_certificate.name, 'CERTIFICATE');
END;
$$;

-- A SID begins so for principals that certificates are (S-1-9-1-…), and goes on with the thumbprint.
CREATE OR REPLACE FUNCTION ssb_internal.certificate_sid(p_thumbprint bytea)
RETURNS bytea
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT '\x010600000000000901000000'::bytea || p_thumbprint; $$;

CREATE OR REPLACE FUNCTION ssb_internal.certificate_sid_text(p_thumbprint bytea)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'S-1-9-1-' || string_agg((get_byte(p_thumbprint, 4 * i)::bigint + 256 * get_byte(p_thumbprint, 4 * i + 1)::bigint
               + 65536 * get_byte(p_thumbprint, 4 * i + 2)::bigint + 16777216 * get_byte(p_thumbprint, 4 * i + 3)::bigint)::text,
               '-' ORDER BY i)
      FROM generate_series(0, 4) AS i;
$$;
