-- AUTHENTICATION = CERTIFICATE of the endpoint: whoever connects shows a certificate, PostgreSQL has checked that it has the
-- private key ("hostssl … cert" in pg_hba.conf), and master has the certificate. Its owner counts for CONNECT.
--
-- Called by  ssb_internal.require_connect, ssb.diagnose, pgsb endpoint

-- Hexadecimal digits as a number.
CREATE OR REPLACE FUNCTION ssb_internal.number_of_hex(p_hex text)
RETURNS numeric
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number numeric := 0;
    v_digit text;
BEGIN
    FOREACH v_digit IN ARRAY string_to_array(lower(regexp_replace(p_hex, '[^0-9a-fA-F]', '', 'g')), NULL) LOOP
        v_number := v_number * 16 + strpos('0123456789abcdef', v_digit) - 1;
    END LOOP;
    RETURN v_number;
END;
$$;

-- The certificate in master with which this session has logged in. Trusted by PostgreSQL it is already.
CREATE OR REPLACE FUNCTION ssb_internal.peer_certificate()
RETURNS ssb.certificate
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_certificate ssb.certificate;
BEGIN
    SELECT c.* INTO v_certificate
      FROM pg_stat_ssl AS l
      JOIN ssb.certificate AS c ON c.database_id = 1 AND ssb_internal.number_of_hex(c.serial_number) = l.client_serial
     WHERE l.pid = pg_backend_pid() AND l.client_dn IS NOT NULL
       AND timezone('UTC', clock_timestamp()) BETWEEN c.start_date AND c.expiry_date;
    RETURN v_certificate;
END;
$$;

-- Whether the owner of a certificate in master, or the login whose user that is, has CONNECT on the endpoint.
CREATE OR REPLACE FUNCTION ssb_internal.owner_may_connect(p_owner text, p_endpoint ssb.broker_endpoint)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_names text[] := ARRAY(SELECT lower(p_owner)
                            UNION SELECT lower(p.login) FROM ssb.principal AS p
                                   WHERE p.database_id = 1 AND lower(p.name) = lower(p_owner) AND p.login IS NOT NULL
                            UNION SELECT 'public');
    v_denied boolean;
    v_granted boolean;
BEGIN
    IF ssb_internal.same_principal(p_owner, 'dbo') OR ssb_internal.same_principal(p_owner, p_endpoint.owner) THEN
        RETURN true;
    END IF;
    SELECT bool_or(p.state = 'D'), bool_or(p.state IN ('G', 'W')) INTO v_denied, v_granted
      FROM ssb.permission AS p
     WHERE p.class = 'ENDPOINT' AND p.major_id = p_endpoint.broker_endpoint_id AND p.privilege IN ('CONNECT', 'CONTROL')
       AND lower(p.grantee) = ANY (v_names);
    RETURN NOT coalesce(v_denied, false) AND coalesce(v_granted, false);
END;
$$;

-- For pgsb endpoint: the endpoint, its own certificate (sealed), and the certificates with which others may come.
CREATE OR REPLACE FUNCTION ssb_internal.transport_logins()
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint ssb.broker_endpoint;
    v_own text;
BEGIN
    SELECT b.* INTO v_endpoint FROM ssb.broker_endpoint AS b;
    v_own := ssb_internal.endpoint_certificate(v_endpoint.authentication);
    RETURN jsonb_build_object('endpoint', v_endpoint.name, 'authentication', v_endpoint.authentication,
        'encryption', v_endpoint.encryption, 'own_name', v_own,
        'own', (SELECT ssb_internal.certificate_json(c) FROM ssb.certificate AS c WHERE c.database_id = 1 AND lower(c.name) = lower(v_own)),
        'logins', (SELECT jsonb_agg(jsonb_build_object('certificate', c.name, 'owner', c.owner, 'der', ssb_internal.hex(c.der),
                              'role', coalesce(ssb_internal.role_of(p.login), ssb_internal.role_of(c.owner)),
                              'login', coalesce(p.login, c.owner),
                              'may_connect', ssb_internal.owner_may_connect(c.owner, v_endpoint)) ORDER BY c.name)
                     FROM ssb.certificate AS c
                     LEFT JOIN ssb.principal AS p ON p.database_id = 1 AND lower(p.name) = lower(c.owner)
                    WHERE c.database_id = 1 AND lower(c.name) IS DISTINCT FROM lower(v_own)
                      AND NOT ssb_internal.same_principal(c.owner, 'dbo')));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_logins() FROM PUBLIC;

-- Why the endpoint's AUTHENTICATION and ENCRYPTION cannot be what they say with this server's settings.
CREATE OR REPLACE FUNCTION ssb_internal.transport_security_faults()
RETURNS TABLE (object text, detail text, remedy text, run_with text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_endpoint ssb.broker_endpoint;
    v_own text;
    v_certificate ssb.certificate;
BEGIN
    SELECT b.* INTO v_endpoint FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED';
    v_own := ssb_internal.endpoint_certificate(v_endpoint.authentication);
    IF v_own IS NULL THEN
        RETURN;
    END IF;
    SELECT c.* INTO v_certificate FROM ssb.certificate AS c WHERE c.database_id = 1 AND lower(c.name) = lower(v_own);
    IF v_certificate.certificate_id IS NULL THEN
        RETURN QUERY SELECT v_endpoint.name, format('its certificate %s is not in master', v_own),
            format('USE master; CREATE CERTIFICATE %s WITH SUBJECT = %s;', ssb_internal.in_brackets(v_own), ssb_internal.in_quotes(v_own)), 'pgsb shell';
    ELSIF v_certificate.encryption <> 'MK' OR NOT timezone('UTC', clock_timestamp()) BETWEEN v_certificate.start_date AND v_certificate.expiry_date THEN
        RETURN QUERY SELECT v_endpoint.name,
            format('its certificate %s is not valid, or its private key is not under the master key of master', v_own),
            format('USE master; CREATE CERTIFICATE %s WITH SUBJECT = %s;', ssb_internal.in_brackets(v_own || ' 2'), ssb_internal.in_quotes(v_own)), 'pgsb shell';
    END IF;
    IF current_setting('ssl') = 'off' THEN
        RETURN QUERY SELECT v_endpoint.name, 'ssl is off: nobody can show a certificate', 'pgsb endpoint', 'sh';
    ELSIF has_function_privilege('pg_hba_file_rules()', 'EXECUTE')
          AND NOT EXISTS (SELECT FROM pg_hba_file_rules AS h WHERE h.type = 'hostssl' AND h.auth_method = 'cert' AND h.error IS NULL
                             AND (current_database() = ANY (h.database) OR 'all' = ANY (h.database))) THEN
        RETURN QUERY SELECT v_endpoint.name, 'pg_hba.conf has no line "hostssl … cert" for this database', 'pgsb endpoint', 'sh';
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.transport_security_faults() FROM PUBLIC;
