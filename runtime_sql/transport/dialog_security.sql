-- Which security a dialog with another instance gets, and what the daemon needs to give it. Nothing here opens
-- a key: certificates and keys go to the daemon sealed (daemon/dialog_security.py).
--
-- For the runtime's owner only, as the daemon's other functions.
-- Called by  ssb_internal.next_set, the daemon

-- Names of one principal: dbo is the runtime's owner.
CREATE OR REPLACE FUNCTION ssb_internal.same_principal(p_one text, p_other text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN lower(p_one COLLATE "C") = 'dbo' THEN lower(ssb_internal.runtime_owner()::text) ELSE lower(p_one) END
         = CASE WHEN lower(p_other COLLATE "C") = 'dbo' THEN lower(ssb_internal.runtime_owner()::text) ELSE lower(p_other) END;
END;
$$;

-- The certificate of a user that serves for dialogs now: of those that do the one that expires last. Without
-- one, status says why, in SQL Server's words.
CREATE OR REPLACE FUNCTION ssb_internal.serving_certificate(p_user text, p_database_id integer, p_needs_key boolean, p_is_new boolean,
                                                   OUT certificate ssb.certificate, OUT status text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now timestamp := timezone('UTC', clock_timestamp());
BEGIN
    SELECT c.* INTO certificate FROM ssb.certificate AS c
     WHERE c.database_id = p_database_id AND ssb_internal.same_principal(c.owner, p_user)
     ORDER BY (c.start_date <= v_now AND c.expiry_date > v_now AND (c.encryption = 'MK' OR NOT p_needs_key)
               AND (c.active_for_begin_dialog OR NOT p_is_new)) DESC, c.expiry_date DESC, c.certificate_id DESC LIMIT 1;
    IF NOT FOUND THEN
        status := 'Dialog security is unavailable for this conversation because there is no security certificate bound to the '
                         'database principal (Id: %s). Either create a certificate for the principal, or specify ENCRYPTION = OFF when '
                         'beginning the conversation.';
    ELSIF certificate.start_date > v_now THEN
        status := 'The security certificate bound to database principal (Id: %s) is not yet valid. Either wait for the '
                         'certificate to become valid or install a certificate that is currently valid.';
    ELSIF certificate.expiry_date <= v_now THEN
        status := 'The security certificate bound to database principal (Id: %s) has expired. Create or install a new '
                         'certificate for the database principal.';
    ELSIF p_needs_key AND certificate.encryption = 'NA' THEN
        status := 'There is no private key for the security certificate bound to database principal (Id: %s). The certificate '
                         'may have been created or installed incorrectly. Reinstall the certificate, or create a new certificate.';
    ELSIF p_needs_key AND certificate.encryption = 'PW' THEN
        status := 'The private key for the security certificate bound to the database principal (ID %s) is password protected. '
                         'Password protected private keys are not supported for use with secure dialogs.';
    ELSIF p_is_new AND NOT certificate.active_for_begin_dialog THEN
        status := 'The security certificate bound to database principal (Id: %s) has been disabled for use with BEGIN DIALOG. '
                         'See the Books Online topics "Certificates and Service Broker" for an overview and "ALTER CERTIFICATE '
                         '(Transact-SQL)" for syntax to make a certificate ACTIVE FOR BEGIN_DIALOG.';
    END IF;
    IF status IS NOT NULL THEN
        -- Asked for here alone: each set of messages comes by.
        status := format(status, coalesce(ssb_internal.principal_id_of(p_user, p_database_id), 0));
        certificate := NULL;
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.fingerprint(p_certificate ssb.certificate)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN encode(sha256(p_certificate.der), 'hex');
END;
$$;

-- The initiator's side: N none, A anonymous, F full. With a status: none that it may have is to be had now, and its
-- messages wait. A binding forces encryption, whatever BEGIN DIALOG says.
CREATE OR REPLACE FUNCTION ssb_internal.initiator_security(p_database_id integer, p_service_id integer, p_far_service text,
    p_is_encrypted boolean, p_is_new boolean,
    OUT security char(1), OUT near_user text, OUT far_user text, OUT near text, OUT far text, OUT status text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_binding ssb.remote_service_binding;
    v_found record;
BEGIN
    SELECT b.* INTO v_binding FROM ssb.remote_service_binding AS b
     WHERE b.database_id = p_database_id AND b.to_service = p_far_service;
    IF NOT FOUND THEN
        IF p_is_encrypted THEN
            status := 'Dialog security is not available for this conversation because there is no remote service binding for the target '
                      'service. Create a remote service binding, or specify ENCRYPTION = OFF in the BEGIN DIALOG statement.';
        ELSE
            security := 'N';
        END IF;
        RETURN;
    END IF;
    far_user := v_binding.user_name;
    security := CASE WHEN v_binding.is_anonymous THEN 'A' ELSE 'F' END;
    SELECT s.* INTO v_found FROM ssb_internal.serving_certificate(far_user, p_database_id, false, p_is_new) AS s;
    far := ssb_internal.fingerprint(v_found.certificate);
    status := v_found.status;
    IF security = 'F' AND status IS NULL THEN
        SELECT s.owner INTO near_user FROM ssb.service AS s WHERE s.service_id = p_service_id;
        SELECT s.* INTO v_found FROM ssb_internal.serving_certificate(near_user, p_database_id, true, false) AS s;
        near := ssb_internal.fingerprint(v_found.certificate);
        status := v_found.status;
    END IF;
    IF status IS NULL AND NOT EXISTS (SELECT FROM ssb.master_key AS k WHERE k.database_id = p_database_id AND k.by_service IS NOT NULL) THEN
        status := 'The session keys for this conversation could not be created or accessed. The database master key is required for this '
                  'operation.';
    END IF;
END;
$$;

-- Between databases of this instance nothing travels and nothing is sealed. Where LOCAL_DIALOG_SECURITY is ON, a dialog
-- with ENCRYPTION = ON all the same waits for what it would need: as in SQL Server.
CREATE OR REPLACE FUNCTION ssb_internal.local_security_status(p_initiator ssb.conversation_endpoint, p_target_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_status text := (SELECT s.status FROM ssb_internal.initiator_security(p_initiator.database_id, p_initiator.service_id,
                                                                           p_initiator.far_service, true, true) AS s);
BEGIN
    IF v_status IS NULL AND NOT EXISTS (SELECT FROM ssb.master_key AS k
                                         WHERE k.database_id = p_target_database_id AND k.by_service IS NOT NULL) THEN
        v_status := 'Could not save a dialog session key. A master key is required in the database to save the session key.';
    END IF;
    RETURN v_status;
END;
$$;

-- Another database of this instance knows the initiating service's owner by his certificate: whoever owns that there may send.
CREATE OR REPLACE FUNCTION ssb_internal.sends_by_certificate(p_initiator ssb.conversation_endpoint, p_service ssb.service)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM ssb_internal.initiator_security(p_initiator.database_id, p_initiator.service_id, p_initiator.far_service, true, true) AS s
          JOIN ssb.certificate AS c ON c.database_id = p_service.database_id AND ssb_internal.fingerprint(c) = s.near
         WHERE s.security = 'F' AND s.status IS NULL AND ssb_internal.user_may_send(c.owner, p_service))
$$;

-- The target's side of a dialog with full security; the first message has told whom it talks to.
CREATE OR REPLACE FUNCTION ssb_internal.target_security(p_database_id integer, p_near_user text, p_far_user text,
                                               OUT near text, OUT far text, OUT status text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_found record;
BEGIN
    SELECT s.* INTO v_found FROM ssb_internal.serving_certificate(p_far_user, p_database_id, false, false) AS s;
    far := ssb_internal.fingerprint(v_found.certificate);
    status := v_found.status;
    IF status IS NULL THEN
        SELECT s.* INTO v_found FROM ssb_internal.serving_certificate(p_near_user, p_database_id, true, false) AS s;
        near := ssb_internal.fingerprint(v_found.certificate);
        status := v_found.status;
    END IF;
END;
$$;

-- Of dialogs that are about to send, pair by pair, and in their order: their security, the certificates that serve, and the newest key that
-- was made for those, or that the initiators have; what the far side has to know, of all and of each. Those that cannot have it are put
-- off, and left out, and so are those that a change of routes is just taking back, or whose row somebody holds.
-- Locks  the remote conversations' rows
CREATE OR REPLACE FUNCTION ssb_internal.secure_dialogs(p_endpoints bigint[], p_peer_id integer)
RETURNS TABLE (endpoints bigint[], conversation_ids uuid[], keys uuid[], contracts text[], lifetimes double precision[],
               database_id integer, security char(1), near text, far text, key_id uuid, is_initiator boolean, to_service text,
               to_instance text, from_service text, from_instance text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_sort = off                               -- the dialogs of a pair stay in their order
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_pair record;
    v_found record;
    v_key_id uuid;
BEGIN
    FOR v_pair IN
        SELECT d.database_id, d.service_id, d.far_service, d.is_encrypted, d.is_initiator, d.is_under_way, d.security, d.near_user,
               d.far_user, d.service_name, d.inbound_key_id, d.far_instance, array_agg(d.endpoint_id) AS endpoints,
               array_agg(d.conversation_id) AS conversation_ids, array_agg(d.session_key) AS keys, array_agg(d.contract_name) AS contracts,
               array_agg(d.lifetime) AS lifetimes
          FROM unnest(p_endpoints) AS u (endpoint_id)
         CROSS JOIN LATERAL (
               SELECT e.endpoint_id, e.conversation_id, e.contract_name, e.database_id, e.service_id, e.service_name, e.far_service,
                      e.is_encrypted, e.is_initiator, r.session_key, r.is_under_way, r.security, r.near_user, r.far_user,
                      CASE WHEN r.security = 'A' AND NOT e.is_initiator THEN r.inbound_key_id END AS inbound_key_id,
                      coalesce(e.far_broker_instance, r.far_instance) AS far_instance,
                      date_part('epoch', e.lifetime - clock_timestamp()) AS lifetime
                 FROM ssb.conversation_endpoint AS e
                 JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id
                WHERE e.endpoint_id = u.endpoint_id AND r.peer_id = p_peer_id AND r.retry_at IS NULL
                  FOR NO KEY UPDATE OF r SKIP LOCKED) AS d
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    LOOP
        -- (Of a service that was dropped an Error leaves, in the name of whom it belonged to.)
        IF v_pair.is_initiator AND NOT (v_pair.security = 'F' AND NOT EXISTS (SELECT FROM ssb.service AS s
                                                                              WHERE s.service_id = v_pair.service_id)) IS TRUE THEN
            SELECT s.* INTO v_found
              FROM ssb_internal.initiator_security(v_pair.database_id, v_pair.service_id, v_pair.far_service, v_pair.is_encrypted,
                                          NOT v_pair.is_under_way) AS s;
            IF NOT v_pair.is_under_way AND v_found.far_user IS NULL
               AND ssb_internal.awaits_notice(v_pair.database_id, 'MissingRemoteServiceBinding', v_pair.far_service) THEN
                PERFORM ssb_internal.send_notice(v_pair.database_id, 'MissingRemoteServiceBinding', v_pair.far_service);
                v_found.status := ssb_internal.status_without_notice('MissingRemoteServiceBinding');
            END IF;
            -- A dialog that has begun keeps its security: without a binding it waits.
            IF v_pair.is_under_way AND v_found.status IS NULL AND v_found.security IS DISTINCT FROM v_pair.security
               AND v_pair.security IS NOT NULL THEN
                v_found.status := 'The remote service binding of this conversation has been changed since it began.';
            END IF;
        ELSIF v_pair.security = 'F' THEN
            SELECT v_pair.security AS security, v_pair.near_user AS near_user, v_pair.far_user AS far_user, s.* INTO v_found
              FROM ssb_internal.target_security(v_pair.database_id, v_pair.near_user, v_pair.far_user) AS s;
        ELSE
            -- Anonymous: the initiator's key serves both. None: the initiator has chosen.
            SELECT coalesce(v_pair.security, 'N') AS security, v_pair.near_user AS near_user, v_pair.far_user AS far_user,
                   NULL::text AS near, NULL::text AS far, NULL::text AS status INTO v_found;
        END IF;
        IF v_found.status IS NOT NULL THEN
            PERFORM ssb_internal.put_off(v_pair.endpoints, v_found.status);
            CONTINUE;
        END IF;
        v_key_id := NULL;
        IF v_found.security = 'F' OR (v_found.security = 'A' AND v_pair.is_initiator) THEN
            v_key_id := (SELECT k.key_id FROM ssb.dialog_key AS k
                          WHERE k.database_id = v_pair.database_id AND k.is_outbound AND k.near_service = v_pair.service_name
                            AND k.far_service = v_pair.far_service
                            AND (k.near, k.far) IS NOT DISTINCT FROM (v_found.near, v_found.far)
                            -- (Not of a clock that was ahead: see is_for_sending in security/dialogs.py.)
                            AND k.made_at <= clock_timestamp() + interval '30 minutes'
                          ORDER BY k.made_at DESC LIMIT 1);
        ELSIF v_found.security = 'A' THEN
            v_key_id := (SELECT k.key_id FROM ssb.dialog_key AS k
                          WHERE k.key_id = v_pair.inbound_key_id AND k.database_id = v_pair.database_id);
        END IF;
        IF (v_pair.security, v_pair.near_user, v_pair.far_user, v_pair.is_under_way)
           IS DISTINCT FROM (v_found.security, v_found.near_user, v_found.far_user, true) THEN
            UPDATE ssb.remote_conversation AS r
               SET security = v_found.security, near_user = v_found.near_user, far_user = v_found.far_user, is_under_way = true
             WHERE r.endpoint_id = ANY (v_pair.endpoints);
        END IF;
        endpoints := v_pair.endpoints;
        conversation_ids := v_pair.conversation_ids;
        keys := v_pair.keys;
        contracts := v_pair.contracts;
        lifetimes := v_pair.lifetimes;
        is_initiator := v_pair.is_initiator;
        to_service := v_pair.far_service;
        to_instance := v_pair.far_instance;
        from_service := v_pair.service_name;
        from_instance := (SELECT d.service_broker_guid::text FROM ssb.database AS d WHERE d.database_id = v_pair.database_id);
        database_id := v_pair.database_id;
        security := v_found.security;
        near := v_found.near;
        far := v_found.far;
        key_id := v_key_id;
        RETURN NEXT;
    END LOOP;
END;
$$;

-- What is not encrypted goes in the clear, whatever its service: there is no binding, and nobody could make one for it
-- (transport/configuration_notices.sql).
CREATE OR REPLACE FUNCTION ssb_internal.needs_no_security()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM ssb.remote_service_binding AS b)
       AND NOT EXISTS (SELECT FROM ssb.route AS r WHERE r.service_name = 'SQL/ServiceBroker/BrokerConfiguration');
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.needs_no_security() FROM PUBLIC;

-- A certificate, binding or master key has changed: what waits for one is tried at once.
CREATE OR REPLACE FUNCTION ssb_internal.retry_secured()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.remote_conversation AS r SET retry_at = clock_timestamp(), failures = 1
     WHERE r.endpoint_id = ANY (ARRAY(SELECT k.endpoint_id FROM ssb.remote_conversation AS k
                                       WHERE k.retry_at IS NOT NULL AND k.security IS DISTINCT FROM 'N' FOR NO KEY UPDATE SKIP LOCKED));
    SELECT ssb_internal.deliver_waiting_from_database(d.database_id) FROM ssb.database AS d
     WHERE d.options ->> 'LOCAL_DIALOG_SECURITY' = 'ON';
    SELECT ssb_internal.announce_departure();
$$;

-- What the daemon needs to make a key for a pair of services, or to open an exchange: certificates by their
-- fingerprints, the master key; all sealed.
CREATE OR REPLACE FUNCTION ssb_internal.key_material(p_database_id integer, p_own text, p_other text)
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_build_object('master', ssb_internal.master_key_json(p_database_id),
        'own', (SELECT ssb_internal.certificate_json(c) || jsonb_build_object('owner', c.owner) FROM ssb.certificate AS c
                 WHERE c.database_id = p_database_id AND ssb_internal.fingerprint(c) = p_own),
        'other', (SELECT jsonb_build_object('der', ssb_internal.hex(c.der), 'owner', c.owner) FROM ssb.certificate AS c
                   WHERE c.database_id = p_database_id AND ssb_internal.fingerprint(c) = p_other));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.key_material(integer, text, text) FROM PUBLIC;

-- The databases in which an exchange may be meant to arrive: those with that service and the certificate for
-- which the key was wrapped, of its owner, valid now; and whom the sender's certificate stands for there.
CREATE OR REPLACE FUNCTION ssb_internal.exchange_places(p_service text, p_own text, p_other text)
RETURNS TABLE (database_id integer, near_user text, far_user text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.database_id, s.owner, o.owner
      FROM ssb.service AS s
      JOIN ssb.certificate AS c ON c.database_id = s.database_id AND ssb_internal.fingerprint(c) = p_own AND ssb_internal.same_principal(c.owner, s.owner)
       AND c.encryption = 'MK' AND timezone('UTC', clock_timestamp()) BETWEEN c.start_date AND c.expiry_date
      LEFT JOIN ssb.certificate AS o ON o.database_id = s.database_id AND ssb_internal.fingerprint(o) = p_other
       AND timezone('UTC', clock_timestamp()) BETWEEN o.start_date AND o.expiry_date
     WHERE s.name = p_service AND (p_other IS NULL OR o.certificate_id IS NOT NULL);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.exchange_places(text, text, text) FROM PUBLIC;

-- Keys that nobody would exchange anew: in an anonymous dialog the initiator's key serves for the answers, too, and as long as it only
-- waits for one, nothing of its own brings another. As long as such a dialog is here, they are. The target answers under the one that its
-- last message came with. Which that is the initiator does not know for certain (an acknowledgement may be lost, a message may be refused
-- under a newer one): each that it has had since the dialog began may be it. (A key is sent with for 12 hours.)
CREATE OR REPLACE FUNCTION ssb_internal.needed_dialog_keys()
RETURNS TABLE (key_id uuid, database_id integer)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH dialog AS MATERIALIZED (
        SELECT r.database_id, r.is_initiator, r.outbound_key_id, r.inbound_key_id, e.service_name, e.far_service, e.started_at
          FROM ssb.remote_conversation AS r
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = r.endpoint_id
         WHERE r.security = 'A'
    )
    SELECT CASE WHEN d.is_initiator THEN d.outbound_key_id ELSE d.inbound_key_id END, d.database_id FROM dialog AS d
    UNION
    SELECT k.key_id, k.database_id
      FROM (SELECT d.database_id, d.service_name, d.far_service, min(d.started_at) AS started_at
              FROM dialog AS d WHERE d.is_initiator GROUP BY 1, 2, 3) AS p
      JOIN ssb.dialog_key AS k ON k.database_id = p.database_id AND k.near_service = p.service_name AND k.far_service = p.far_service
     WHERE k.is_outbound AND k.is_anonymous AND k.made_at > p.started_at - interval '13 hours';
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.needed_dialog_keys() FROM PUBLIC;

-- Those that nobody has used for a week are exchanged anew when they are needed.
--
-- Called by  ssb_internal.forget_remote_conversations
CREATE OR REPLACE FUNCTION ssb_internal.forget_unused_dialog_keys()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb.dialog_key AS k WHERE k.used_at < clock_timestamp() - interval '7 days') THEN
        DELETE FROM ssb.dialog_key AS k
         WHERE k.used_at < clock_timestamp() - interval '7 days'
           AND (k.key_id, k.database_id) NOT IN (SELECT n.key_id, n.database_id FROM ssb_internal.needed_dialog_keys() AS n
                                                  WHERE n.key_id IS NOT NULL);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_unused_dialog_keys() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.keep_dialog_key(p_key_id uuid, p_database_id integer, p_is_outbound boolean, p_is_anonymous boolean,
    p_near_service text, p_far_service text, p_near_user text, p_far_user text, p_near text, p_far text, p_sealed bytea,
    p_exchange text, p_made_at timestamptz)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO ssb.dialog_key (key_id, database_id, is_outbound, is_anonymous, near_service, far_service, near_user, far_user, near,
                                far, sealed_key, exchange, made_at)
    VALUES (p_key_id, p_database_id, p_is_outbound, p_is_anonymous, p_near_service, p_far_service, p_near_user, p_far_user, p_near,
            p_far, p_sealed, p_exchange, p_made_at)
    ON CONFLICT DO NOTHING;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keep_dialog_key(uuid, integer, boolean, boolean, text, text, text, text, text, text, bytea, text,
                                               timestamptz) FROM PUBLIC;

-- The newest key for what is sent between two services with these certificates.
DROP FUNCTION IF EXISTS ssb_internal.outbound_key(integer, text, text, text, text, timestamptz);
CREATE OR REPLACE FUNCTION ssb_internal.outbound_key(p_database_id integer, p_near_service text, p_far_service text, p_near text, p_far text,
                                            p_after timestamptz, p_until timestamptz)
RETURNS SETOF ssb.dialog_key
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.dialog_key AS k SET used_at = clock_timestamp()
     WHERE k.key_id = (SELECT o.key_id FROM ssb.dialog_key AS o
                        WHERE o.database_id = p_database_id AND o.is_outbound AND o.near_service = p_near_service
                          AND o.far_service = p_far_service AND (o.near, o.far) IS NOT DISTINCT FROM (p_near, p_far)
                          AND o.made_at > p_after AND o.made_at <= p_until
                        ORDER BY o.made_at DESC LIMIT 1)
       AND k.database_id = p_database_id
    RETURNING k.*;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.outbound_key(integer, text, text, text, text, timestamptz, timestamptz) FROM PUBLIC;

-- Which keys the dialogs of a set are sealed with: by the conversation where this side has one, else by the
-- service that the first message is for. A retired one is too old for any dialog that would begin.
CREATE OR REPLACE FUNCTION ssb_internal.keys_of(p_key_ids uuid[])
RETURNS TABLE (key_id uuid, database_id integer, is_outbound boolean, is_anonymous boolean, near_service text, far_service text,
               near_user text, far_user text, sealed_key bytea, made_at timestamptz, master jsonb)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.key_id, k.database_id, k.is_outbound, k.is_anonymous, k.near_service, k.far_service, k.near_user, k.far_user,
           k.sealed_key, CASE WHEN k.is_retired THEN 'epoch' ELSE k.made_at END, ssb_internal.master_key_json(k.database_id)
      FROM ssb.dialog_key AS k WHERE k.key_id = ANY (p_key_ids);
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keys_of(uuid[]) FROM PUBLIC;

-- Whether a user of the database, perhaps no PostgreSQL role, may send to a service. NULL: anonymous, as public.
CREATE OR REPLACE FUNCTION ssb_internal.user_may_send(p_user text, p_service ssb.service)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_names text[];
    v_denied boolean;
    v_granted boolean;
BEGIN
    IF p_user IS NOT NULL AND (ssb_internal.same_principal(p_user, p_service.owner) OR ssb_internal.same_principal(p_user, 'dbo')) THEN
        RETURN true;
    END IF;
    WITH RECURSIVE known (name) AS (
        SELECT lower(p_user) WHERE p_user IS NOT NULL
        UNION
        SELECT lower(m.role) FROM known AS k JOIN ssb.role_member AS m ON lower(m.member) = k.name
         WHERE m.database_id = p_service.database_id
    )
    SELECT array_agg(k.name) || ARRAY['public'] INTO v_names FROM known AS k;
    v_names := coalesce(v_names, ARRAY['public']);
    SELECT bool_or(p.state = 'D'), bool_or(p.state IN ('G', 'W')) INTO v_denied, v_granted
      FROM ssb.permission AS p
     WHERE lower(p.grantee) = ANY (v_names) AND p.privilege IN ('SEND', 'CONTROL')
       AND ((p.class = 'SERVICE' AND p.major_id = p_service.service_id)
            OR (p.class = 'DATABASE' AND p.major_id = p_service.database_id));
    RETURN NOT coalesce(v_denied, false) AND (coalesce(v_granted, false) OR 'db_owner' = ANY (v_names));
END;
$$;
