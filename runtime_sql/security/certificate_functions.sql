-- CERT_ID, CERTENCODED, CERTPROPERTY, CERTPRIVATEKEY. NULL for what the database does not have.

CREATE OR REPLACE FUNCTION ssb_internal.current_certificate(p_id integer)
RETURNS ssb.certificate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.* FROM ssb.certificate AS c WHERE c.certificate_id = p_id AND c.database_id = ssb_internal.current_database_id();
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.current_certificate(integer) FROM PUBLIC;   -- it has the private key, sealed

CREATE OR REPLACE FUNCTION sys.cert_id(name text)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.certificate_id FROM ssb.certificate AS c
     WHERE c.database_id = ssb_internal.current_database_id() AND lower(c.name) = lower((sys.name_parts($1))[1])
       AND cardinality(sys.name_parts($1)) = 1;
$$;

CREATE OR REPLACE FUNCTION sys.certencoded(certificate_id integer)
RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT (ssb_internal.current_certificate($1)).der; $$;

CREATE OR REPLACE FUNCTION sys.certproperty(certificate_id integer, property text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE lower($2 COLLATE "C")
           WHEN 'expiry_date' THEN to_char(c.expiry_date, 'Mon FMDD YYYY FMHH12:MIAM')
           WHEN 'start_date' THEN to_char(c.start_date, 'Mon FMDD YYYY FMHH12:MIAM')
           WHEN 'issuer_name' THEN c.issuer
           WHEN 'cert_serial_number' THEN c.serial_number
           WHEN 'subject' THEN c.subject
           WHEN 'sid' THEN '0x' || upper(ssb_internal.hex(ssb_internal.certificate_sid(c.thumbprint)))
           WHEN 'string_sid' THEN ssb_internal.certificate_sid_text(c.thumbprint) END
      FROM ssb.certificate AS c WHERE c.certificate_id = $1 AND c.database_id = ssb_internal.current_database_id();
$$;

-- As a PVK, sealed with a password. NULL, too, where the caller does not control the certificate.
CREATE OR REPLACE FUNCTION sys.certprivatekey(certificate_id integer, encryption text, decryption text DEFAULT NULL)
RETURNS bytea
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_certificate ssb.certificate := ssb_internal.current_certificate($1);
BEGIN
    IF v_certificate.private_key IS NULL OR coalesce(encryption, '') = ''
       OR NOT ssb_internal.has_permission(ssb_internal.caller(), 'CERTIFICATE', v_certificate.certificate_id, 'CONTROL', v_certificate.owner,
                                          v_certificate.database_id) THEN
        RETURN NULL;
    END IF;
    RETURN decode(ssb_internal.ask_client('CERTPRIVATEKEY', 'certprivatekey', ssb_internal.certificate_json(v_certificate)
        || jsonb_build_object('action', 'export_private_key',
                              'private_key', jsonb_build_object('encryption', encryption, 'decryption', decryption))) ->> 'pvk', 'hex');
END;
$$;
