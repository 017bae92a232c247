-- ENDPOINT … FOR SERVICE_BROKER. Nothing listens but PostgreSQL itself: of the endpoint counts whether it is
-- started, without which no message leaves or comes, and who has CONNECT on it (transport/incoming.sql).

-- The name of the certificate in AUTHENTICATION = … CERTIFICATE c …; NULL: there is none.
CREATE OR REPLACE FUNCTION ssb_internal.endpoint_certificate(p_authentication text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(replace(m[1], ']]', ']'), replace(m[2], '""', '"'), m[3])
      FROM regexp_match(p_authentication COLLATE "C", E'\\ycertificate\\s+(?:\\[((?:[^]]|\\]\\])+)\\]|"((?:[^"]|"")+)"|([^\\s"[]+))', 'i') AS m;
$$;

-- The words of AUTHENTICATION without the certificate's name, which may be any: WINDOWS NTLM CERTIFICATE. Who asks
-- whether an endpoint takes certificates, or anybody without one, asks this. (Texts with E: who connects chooses what
-- standard_conforming_strings is.)
CREATE OR REPLACE FUNCTION ssb_internal.endpoint_logins(p_authentication text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN btrim(regexp_replace(upper(regexp_replace(p_authentication COLLATE "C",
               E'\\ycertificate\\s+(?:\\[(?:[^]]|\\]\\])+\\]|"(?:[^"]|"")+"|[^\\s"[]+)', 'CERTIFICATE', 'i')), E'\\s+', ' ', 'g'));
END;
$$;

-- The certificate with which this instance logs in elsewhere has to be one with which it can.
CREATE OR REPLACE FUNCTION ssb_internal.check_endpoint_certificate(p_authentication text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := ssb_internal.endpoint_certificate(p_authentication);
    v_certificate ssb.certificate;
BEGIN
    IF v_name IS NULL THEN
        RETURN;
    END IF;
    SELECT c.* INTO v_certificate FROM ssb.certificate AS c WHERE c.database_id = 1 AND lower(c.name) = lower(v_name);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found('find', 'certificate', v_name);
    ELSIF v_certificate.encryption <> 'MK'
          OR NOT timezone('UTC', clock_timestamp()) BETWEEN v_certificate.start_date AND v_certificate.expiry_date THEN
        PERFORM ssb_internal.refuse_endpoint_certificate(v_name, NULL);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.refuse_endpoint_certificate(p_name text, p_hint text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(28055, format('The certificate ''%s'' is not valid for endpoint authentication. The '
        'certificate must have a private key encrypted with the database master key and current UTC date has to be between '
        'the certificate start date and the certificate expiration date.', p_name), 16, 1, p_hint);
END;
$$;

-- Whether the endpoint logs in elsewhere with a certificate of master.
CREATE OR REPLACE FUNCTION ssb_internal.is_endpoint_certificate(p_certificate ssb.certificate)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_certificate.database_id = 1
       AND EXISTS (SELECT FROM ssb.broker_endpoint AS b
                    WHERE lower(ssb_internal.endpoint_certificate(b.authentication)) = lower(p_certificate.name));
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_endpoint(name text, state text DEFAULT NULL, listener_port integer DEFAULT NULL,
    listener_ip text DEFAULT NULL, authentication text DEFAULT NULL, encryption text DEFAULT NULL,
    algorithm text DEFAULT NULL, message_forwarding boolean DEFAULT NULL, message_forward_size integer DEFAULT NULL,
    owner text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE ENDPOINT', 5);
    PERFORM ssb_internal.check_name(name);
    PERFORM ssb_internal.check_endpoint(state, listener_port, encryption);
    PERFORM ssb_internal.check_endpoint_words(authentication, algorithm, message_forward_size);
    PERFORM ssb_internal.check_endpoint_certificate(authentication);
    IF listener_port IS NULL THEN
        PERFORM ssb_internal.raise_error(7801, 'The required parameter LISTENER_PORT was not specified.', 15);
    END IF;
    -- Two at once would make two.
    LOCK TABLE ssb_locks.endpoints IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM ssb.broker_endpoint) THEN
        PERFORM ssb_internal.raise_error(7862, 'An endpoint of the requested type already exists.  Only one endpoint of this type is '
            'supported.  Use ALTER ENDPOINT or DROP the existing endpoint and execute the CREATE ENDPOINT statement.');
    END IF;
    INSERT INTO ssb.broker_endpoint (name, state, listener_port, listener_ip, authentication, encryption, algorithm,
                                     message_forwarding, message_forward_size, owner)
    VALUES (name, coalesce(upper(state COLLATE "C"), 'STOPPED'), listener_port, listener_ip, coalesce(authentication, 'WINDOWS NEGOTIATE'),
            coalesce(upper(encryption COLLATE "C"), 'REQUIRED'), coalesce(upper(algorithm COLLATE "C"), 'AES'), coalesce(message_forwarding, false),
            coalesce(message_forward_size, 10), ssb_internal.owner_or_caller(owner, 5));
    PERFORM ssb_internal.tell_of_securable('CREATE', 'ENDPOINT', NULL, NULL, name, 'ENDPOINT');
    PERFORM ssb_internal.announce_departure();
END;
$$;

-- Called by compiled CREATE, ALTER and DROP ENDPOINT, with @@TRANCOUNT.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_in_transaction(p_trancount integer, p_statement text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_trancount > 0 THEN
        PERFORM ssb_internal.raise_error(226, format('%s statement not allowed within multi-statement transaction.', p_statement), 16, 6);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.check_endpoint(p_state text, p_port integer, p_encryption text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF upper(p_state COLLATE "C") NOT IN ('STARTED', 'STOPPED', 'DISABLED') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_state), 15, 1,
                                         'STATE is STARTED, STOPPED or DISABLED.');
    ELSIF p_port NOT BETWEEN 1024 AND 32767 THEN
        PERFORM ssb_internal.raise_error(7810, format('The value ''%s'' is not within range for the ''LISTENER_PORT'' parameter.', p_port),
                                         15, 1, 'LISTENER_PORT is 1024 to 32767.');
    ELSIF upper(p_encryption COLLATE "C") NOT IN ('DISABLED', 'SUPPORTED', 'REQUIRED') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_encryption), 15, 1,
                                         'ENCRYPTION is DISABLED, SUPPORTED or REQUIRED.');
    END IF;
END;
$$;

-- What T-SQL's grammar lets nobody write: AUTHENTICATION decides who may connect, so a word that is none must not stand there.
CREATE OR REPLACE FUNCTION ssb_internal.check_endpoint_words(p_authentication text, p_algorithm text, p_forward_size integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_logins text := ssb_internal.endpoint_logins(p_authentication);
BEGIN
    IF v_logins !~ '^(WINDOWS( (NTLM|KERBEROS|NEGOTIATE))?( CERTIFICATE)?|CERTIFICATE( WINDOWS( (NTLM|KERBEROS|NEGOTIATE))?)?)$'
       OR v_logins LIKE '%CERTIFICATE%' AND ssb_internal.endpoint_certificate(p_authentication) IS NULL THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_authentication), 15, 1,
                                         'AUTHENTICATION is WINDOWS, with NTLM, KERBEROS, NEGOTIATE or nothing, or CERTIFICATE and its name, or both.');
    ELSIF upper(p_algorithm COLLATE "C") NOT IN ('AES', 'RC4', 'AES RC4', 'RC4 AES') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_algorithm), 15, 1,
                                         'ALGORITHM is AES, RC4, AES RC4 or RC4 AES.');
    ELSIF p_forward_size < 0 THEN
        PERFORM ssb_internal.raise_error(7810, format('The value ''%s'' is not within range for the ''MESSAGE_FORWARD_SIZE'' parameter.',
                                                      p_forward_size), 15, 1, 'MESSAGE_FORWARD_SIZE is in MB.');
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_endpoint(p_verb text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.broker_endpoint AS b WHERE lower(b.name) = lower(p_name)) THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'endpoint', p_name);
    END IF;
    PERFORM ssb_internal.require_definition_right('CREATE ENDPOINT', 5);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_endpoint(name text, state text DEFAULT NULL, listener_port integer DEFAULT NULL,
    listener_ip text DEFAULT NULL, authentication text DEFAULT NULL, encryption text DEFAULT NULL,
    algorithm text DEFAULT NULL, message_forwarding boolean DEFAULT NULL, message_forward_size integer DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_endpoint('alter', name);
    PERFORM ssb_internal.check_endpoint(state, listener_port, encryption);
    PERFORM ssb_internal.check_endpoint_words(authentication, algorithm, message_forward_size);
    PERFORM ssb_internal.check_endpoint_certificate(authentication);
    UPDATE ssb.broker_endpoint AS b
       SET state = coalesce(upper(state COLLATE "C"), b.state), listener_port = coalesce(listener_port, b.listener_port),
           listener_ip = coalesce(listener_ip, b.listener_ip), authentication = coalesce(authentication, b.authentication),
           encryption = coalesce(upper(encryption COLLATE "C"), b.encryption), algorithm = coalesce(upper(algorithm COLLATE "C"), b.algorithm),
           message_forwarding = coalesce(message_forwarding, b.message_forwarding),
           message_forward_size = coalesce(message_forward_size, b.message_forward_size)
     WHERE lower(b.name) = lower(name);
    PERFORM ssb_internal.tell_of_securable('ALTER', 'ENDPOINT', NULL, NULL, name, 'ENDPOINT');
    PERFORM ssb_internal.announce_departure();
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_endpoint(name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM ssb_internal.require_endpoint('drop', name);
    DELETE FROM ssb.permission AS p USING ssb.broker_endpoint AS b
     WHERE lower(b.name) = lower(name) AND p.class = 'ENDPOINT' AND p.major_id = b.broker_endpoint_id;
    DELETE FROM ssb.broker_endpoint AS b WHERE lower(b.name) = lower(name);
    PERFORM ssb_internal.tell_of_securable('DROP', 'ENDPOINT', NULL, NULL, name, 'ENDPOINT');
END;
$$;
