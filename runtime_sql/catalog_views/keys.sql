-- sys.certificates, symmetric_keys, key_encryptions.

CREATE OR REPLACE VIEW sys.certificates AS
SELECT c.name, c.certificate_id, ssb_internal.principal_id_of(c.owner, c.database_id) AS principal_id,
       c.encryption AS pvt_key_encryption_type,
       CASE c.encryption WHEN 'MK' THEN 'ENCRYPTED_BY_MASTER_KEY' WHEN 'PW' THEN 'ENCRYPTED_BY_PASSWORD'
                         ELSE 'NO_PRIVATE_KEY' END AS pvt_key_encryption_type_desc,
       c.active_for_begin_dialog::integer::sys.bit AS is_active_for_begin_dialog, c.issuer AS issuer_name,
       c.serial_number AS cert_serial_number, ssb_internal.certificate_sid(c.thumbprint) AS sid,
       ssb_internal.certificate_sid_text(c.thumbprint) AS string_sid, c.subject, c.expiry_date::timestamp(3) AS expiry_date,
       c.start_date::timestamp(3) AS start_date, c.thumbprint, NULL::text AS attested_by,
       (c.backup_date AT TIME ZONE 'UTC')::timestamp(3) AS pvt_key_last_backup_date, c.key_length
  FROM ssb.certificate AS c WHERE c.database_id = (SELECT ssb_internal.current_database_id());

-- The master keys alone: CREATE SYMMETRIC KEY makes none here.
CREATE OR REPLACE VIEW sys.symmetric_keys AS
SELECT k.name, k.principal_id, k.symmetric_key_id, 256 AS key_length, 'A3'::char(2) AS key_algorithm, 'AES_256'::text AS algorithm_desc,
       (k.create_date AT TIME ZONE 'UTC')::timestamp(3) AS create_date, (k.modify_date AT TIME ZONE 'UTC')::timestamp(3) AS modify_date,
       k.key_guid, NULL::bytea AS key_thumbprint, NULL::text AS provider_type, NULL::uuid AS cryptographic_provider_guid,
       NULL::bytea AS cryptographic_provider_algid
  FROM (SELECT '##MS_DatabaseMasterKey##'::text AS name, 1 AS principal_id, 101 AS symmetric_key_id, m.create_date, m.modify_date,
               m.key_guid
          FROM ssb.master_key AS m WHERE m.database_id = (SELECT ssb_internal.current_database_id())
        UNION ALL
        SELECT '##MS_ServiceMasterKey##', 1, 102, s.create_date, s.modify_date, s.key_id
          FROM ssb.service_master_key AS s WHERE (SELECT ssb_internal.current_database_id()) = 1) AS k;

CREATE OR REPLACE FUNCTION ssb_internal.controls_database(p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.has_permission(ssb_internal.caller(), 'DATABASE', p_database_id, 'CONTROL', ssb_internal.runtime_owner(), p_database_id);
END;
$$;

-- What the database's master key is encrypted by. The encrypted key is for those who control the database: passwords can be tried on it.
CREATE OR REPLACE VIEW sys.key_encryptions AS
SELECT 101 AS key_id, NULL::bytea AS thumbprint, e.crypt_type::char(4) AS crypt_type, e.crypt_type_desc,
       CASE WHEN ssb_internal.controls_database(e.database_id) THEN e.crypt_property END AS crypt_property
  FROM (SELECT m.database_id, 'ESKM' AS crypt_type, 'ENCRYPTION_BY_MASTER_KEY'::text AS crypt_type_desc, m.by_service AS crypt_property
          FROM ssb.master_key AS m WHERE m.by_service IS NOT NULL
        UNION ALL
        SELECT p.database_id, 'ESKP', 'ENCRYPTION_BY_PASSWORD', p.sealed FROM ssb.master_key_password AS p) AS e
 WHERE e.database_id = (SELECT ssb_internal.current_database_id());
