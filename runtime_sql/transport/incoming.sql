-- The transport: messages that come from other instances.
--
-- The other instance's daemon calls ssb_internal.take_from_peer (incoming_sets.sql) on a connection of its own to
-- this database: nothing listens here but PostgreSQL. Who may: the runtime's owner, and roles with CONNECT on the endpoint
-- (GRANT CONNECT ON ENDPOINT::e TO role). What such a role may do with it: put messages on dialogs of which it
-- knows the session key, and begin dialogs with services on which it has SEND.
--
-- Locks  the remote conversations' rows, those of the call in the order of conversation_id. No group, but of an
--        event notification that ends.

-- ENCRYPTION of the started endpoint; NULL: none is started. Whoever connects asks, as in a handshake, before it sends.
CREATE OR REPLACE FUNCTION ssb_internal.endpoint_encryption()
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.encryption FROM ssb.broker_endpoint AS b WHERE b.state = 'STARTED'
$$;

-- Whether the caller may bring messages: true, or an error. (What is true is an expression, which PL/pgSQL computes without a statement.)
DROP FUNCTION IF EXISTS ssb_internal.require_connect();
CREATE OR REPLACE FUNCTION ssb_internal.require_connect()
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller name := ssb_internal.caller();
    v_found record;
    v_endpoint ssb.broker_endpoint;
    v_is_encrypted boolean;
    v_client text;
    v_certificate ssb.certificate;
    v_logins text;
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RAISE EXCEPTION 'database "%" takes no changes: it is a standby, or set to be read only', current_database()
            USING ERRCODE = '25006';
    END IF;
    SELECT b AS endpoint, pg_has_role(v_caller, n.nspowner, 'USAGE') AS is_owner INTO v_found
      FROM ssb.broker_endpoint AS b
      JOIN pg_namespace AS n ON n.nspname = 'ssb'
     WHERE b.state = 'STARTED';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Service Broker''s endpoint is not started in database "%"', current_database()
            USING ERRCODE = '55000', HINT = 'CREATE or ALTER ENDPOINT … STATE = STARTED there lets messages in.';
    END IF;
    v_endpoint := v_found.endpoint;
    -- A Unix-domain socket stays on this machine, and PostgreSQL has looked who is at its other end.
    IF inet_client_addr() IS NOT NULL THEN
        v_logins := ssb_internal.endpoint_logins(v_endpoint.authentication);
        SELECT l.ssl, l.client_dn INTO v_is_encrypted, v_client FROM pg_stat_ssl AS l WHERE l.pid = pg_backend_pid();
        IF v_endpoint.encryption = 'REQUIRED' AND NOT coalesce(v_is_encrypted, false) THEN
            RAISE EXCEPTION 'Connection handshake failed. There is no compatible encryption algorithm. State 22. '
                            'The endpoint "%" requires encryption, and this connection has no TLS', v_endpoint.name
                USING ERRCODE = '42501', HINT = 'sslmode=verify-full in the sender''s DSN, or ENCRYPTION = SUPPORTED on both endpoints.';
        ELSIF v_endpoint.encryption = 'DISABLED' AND v_is_encrypted THEN
            RAISE EXCEPTION 'Connection handshake failed. There is no compatible encryption algorithm. State 22. '
                            'The endpoint "%" has ENCRYPTION = DISABLED, and this connection has TLS', v_endpoint.name
                USING ERRCODE = '42501', HINT = 'sslmode=disable in the sender''s DSN, or ENCRYPTION = SUPPORTED or REQUIRED here.';
        ELSIF v_logins ~ 'CERTIFICATE' AND v_logins !~ 'WINDOWS' AND v_client IS NULL THEN
            RAISE EXCEPTION 'Connection handshake failed. There is no compatible authentication protocol. State 21. '
                            'The endpoint "%" requires a client certificate, and this connection has none', v_endpoint.name
                USING ERRCODE = '42501', HINT = 'sslcert and sslkey in the sender''s DSN; "hostssl … cert" in pg_hba.conf: pgsb endpoint.';
        END IF;
    END IF;
    IF v_client IS NOT NULL AND v_logins ~ 'CERTIFICATE' THEN
        v_certificate := ssb_internal.peer_certificate();
        IF v_certificate.certificate_id IS NOT NULL AND ssb_internal.owner_may_connect(v_certificate.owner, v_endpoint) THEN
            RETURN true;
        ELSIF v_certificate.certificate_id IS NOT NULL AND v_logins !~ 'WINDOWS' THEN
            RAISE EXCEPTION 'Connection handshake failed. The login ''%'' does not have CONNECT permission on the endpoint. State 84.',
                            v_certificate.owner
                USING ERRCODE = '42501', HINT = format('GRANT CONNECT ON ENDPOINT::%s TO %s.', v_endpoint.name, v_certificate.owner);
        ELSIF v_logins !~ 'WINDOWS' THEN
            RAISE EXCEPTION 'Connection handshake failed. The certificate used by the peer does not match the one in master. State 89.'
                USING ERRCODE = '42501', HINT = 'There: USE master; CREATE CERTIFICATE … AUTHORIZATION … FROM FILE = ….';
        END IF;
    END IF;
    IF v_found.is_owner OR ssb_internal.is_member(v_caller, v_endpoint.owner, 1) THEN
        RETURN true;
    END IF;
    IF EXISTS (SELECT FROM ssb.permission AS p
                WHERE p.class = 'ENDPOINT' AND p.major_id = v_endpoint.broker_endpoint_id AND p.state = 'D'
                  AND p.privilege IN ('CONNECT', 'CONTROL') AND ssb_internal.is_member(v_caller, p.grantee, p.database_id))
       OR NOT EXISTS (SELECT FROM ssb.permission AS p
                       WHERE p.class = 'ENDPOINT' AND p.major_id = v_endpoint.broker_endpoint_id AND p.state IN ('G', 'W')
                         AND p.privilege IN ('CONNECT', 'CONTROL') AND ssb_internal.is_member(v_caller, p.grantee, p.database_id))
    THEN
        RAISE EXCEPTION 'Connection handshake failed. The login ''%'' does not have CONNECT permission on the endpoint. State 84.', v_caller
            USING ERRCODE = '42501', HINT = format('GRANT CONNECT ON ENDPOINT::%s TO %s there lets it send messages.',
                                                   v_endpoint.name, v_caller);
    END IF;
    RETURN true;
END;
$$;

-- The target's side of a dialog that begins, as ssb_internal.make_target makes it for dialogs of this instance. Routes
-- of msdb tell which services messages from outside may look for here: all, by its AutoCreatedLocal.
CREATE OR REPLACE FUNCTION ssb_internal.make_target_for_remote(p_conversation_id uuid, p_key uuid, p_to_service text, p_to_instance text,
    p_from_service text, p_from_instance text, p_contract text, p_lifetime double precision, p_is_encrypted boolean,
    p_security char(1), p_database_id integer, p_far_user text,
    OUT remote ssb.remote_conversation, OUT status text, OUT refusal_code integer, OUT refusal text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_address text;
    v_service ssb.service;
    v_is_shared boolean;
    v_contract ssb.contract;
    v_endpoint ssb.conversation_endpoint;
    v_back record;
BEGIN
    LOOP
        v_address := (SELECT f.address FROM ssb_internal.find_route(4, p_to_service, p_to_instance, 'LOCAL', false) AS f);
        v_service := NULL;
        IF upper(v_address COLLATE "C") = 'LOCAL' THEN
            -- Of a dialog that is secured the key has told the database.
            IF p_security = 'N' THEN
                v_service := ssb_internal.choose_service(p_to_service, p_to_instance);
            ELSE
                SELECT s.* INTO v_service FROM ssb.service AS s WHERE s.name = p_to_service AND s.database_id = p_database_id;
            END IF;
        END IF;
        v_is_shared := v_service.service_id IS NULL OR ssb_internal.share_service(v_service, false);
        IF v_is_shared IS NULL THEN
            status := format('The service ''%s'' is being changed by a transaction that is open.', v_service.name);
            RETURN;
        END IF;
        EXIT WHEN v_is_shared OR current_setting('transaction_isolation') <> 'read committed';
    END LOOP;
    IF v_service.service_id IS NULL THEN
        status := CASE WHEN upper(v_address COLLATE "C") = 'LOCAL'
                       THEN 'The target service name matched a LOCAL route, but there is no service by that name in the local SQL Server instance.'
                       ELSE ssb_internal.status_on_route(NULL) END;
        RETURN;
    ELSIF p_security = 'N' AND p_is_encrypted THEN
        -- Whoever sends in the clear what was to be encrypted is not to be believed anything.
        status := 'The message of a conversation with ENCRYPTION = ON has come in the clear.';
        RETURN;
    END IF;
    IF NOT (CASE WHEN p_security = 'N'
                THEN ssb_internal.has_permission(ssb_internal.caller(), 'SERVICE', v_service.service_id, 'SEND', v_service.owner, v_service.database_id)
                ELSE ssb_internal.user_may_send(p_far_user, v_service) END) THEN
        status := format('You do not have permission to access the service ''%s''.', v_service.name);
        RETURN;
    END IF;
    status := ssb_internal.reason_to_wait(v_service.queue_id);
    IF status IS NOT NULL THEN
        RETURN;
    END IF;
    v_contract := ssb_internal.find_contract(v_service.database_id, p_contract);
    IF v_contract.contract_id IS NULL
       OR NOT EXISTS (SELECT FROM ssb.service_contract_usage AS u
                       WHERE u.service_id = v_service.service_id AND u.contract_id = v_contract.contract_id) THEN
        refusal_code := -8408;
        refusal := format('Target service ''%s'' does not support contract ''%s''.', v_service.name, p_contract);
        RETURN;
    END IF;
    v_endpoint := ssb_internal.make_endpoint(false, p_conversation_id, v_service, v_contract.contract_id, v_contract.name, p_from_service,
        p_from_instance, NULL, NULL, clock_timestamp() + p_lifetime * interval '1 second', p_is_encrypted, false, NULL);
    SELECT w.* INTO v_back FROM ssb_internal.way_back(v_service.database_id, p_from_service, p_from_instance) AS w;
    INSERT INTO ssb.remote_conversation AS r (endpoint_id, conversation_id, is_initiator, database_id, service_id, session_key,
                                              far_instance, address, mirror_address, peer_id, is_under_way, security, near_user, far_user)
    VALUES (v_endpoint.endpoint_id, p_conversation_id, false, v_service.database_id, v_service.service_id, p_key, p_from_instance,
            v_back.address, v_back.mirror_address, v_back.peer_id, true, p_security,
            CASE p_security WHEN 'F' THEN v_service.owner END, p_far_user)
    RETURNING r.* INTO remote;
END;
$$;

-- The body of an Error that another instance has sent. Programs make XML of it, and a number of its code: where
-- it is not as instances write it, an Error that says so takes its place, and no program fails again and again.
CREATE OR REPLACE FUNCTION ssb_internal.arrived_error(p_body bytea)
RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_code text := substring((SELECT ltrim(d.value, E'\uFEFF') FROM ssb_internal.xml_decode(p_body) AS d)
                        FROM '^<Error xmlns="http://schemas[.]microsoft[.]com/SQL/ServiceBroker/Error"><Code>(-?[0-9]{1,10})</Code>'
                             '<Description>[^<]*</Description></Error>$');
BEGIN
    IF v_code::bigint BETWEEN -2147483648 AND 2147483647 THEN
        IF ssb_internal.xml_fault(p_body) IS NULL THEN
            RETURN p_body;
        END IF;
    END IF;
    RETURN ssb_internal.error_body(-9615, 'A message of type ''http://schemas.microsoft.com/SQL/ServiceBroker/Error'' failed XML '
                                          'validation on the target service.');
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.arrived_error(bytea) FROM PUBLIC;

-- One message of a dialog whose row the caller has locked, with the number that is next. Like ssb_internal.deliver.
CREATE OR REPLACE FUNCTION ssb_internal.take_message(p_remote ssb.remote_conversation, p_number bigint, p_message_type text,
                                                     p_kind text, p_body bytea,
                                                     OUT status text, OUT refusal_code integer, OUT refusal text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_receiver ssb.conversation_endpoint;
    v_sender ssb.conversation_endpoint;
    v_usage ssb.contract_message_usage;
BEGIN
    SELECT e.* INTO v_receiver FROM ssb.conversation_endpoint AS e WHERE e.endpoint_id = p_remote.endpoint_id;
    IF NOT FOUND THEN
        -- Ended here, and gone. That the other side ends, too, needs nobody to be told.
        IF p_kind = 'message' AND p_remote.far_outcome IS NULL THEN
            IF NOT EXISTS (SELECT FROM ssb.service AS s WHERE s.service_id = p_remote.service_id) AND p_remote.service_id <> 0 THEN
                refusal_code := -8470;
                refusal := 'Remote service has been dropped.';
            ELSE
                status := 'The remote conversation endpoint is either in a state where no more messages can be exchanged, '
                          'or it has been dropped.';
            END IF;
        END IF;
        RETURN;
    ELSIF v_receiver.closed_at IS NOT NULL
          OR (p_kind = 'message' AND (v_receiver.is_error
                                      OR EXISTS (SELECT FROM ssb.remote_conversation AS r
                                                  WHERE r.endpoint_id = p_remote.endpoint_id AND r.far_outcome IS NOT NULL))) THEN
        -- Ended here, or over there; or the broker has put an Error into the queue: behind an end comes nothing.
        RETURN;
    ELSIF v_receiver.is_system THEN
        -- An event notification's own side: nobody reads there. Who has had the events wants no more.
        IF p_kind <> 'message' THEN
            IF NOT ssb_internal.try_lock_endpoint(v_receiver.endpoint_id) THEN
                status := 'The event notification whose dialog this is fires at the moment.';
                RETURN;
            END IF;
            PERFORM ssb_internal.drop_notification_of(v_receiver.conversation_handle, NULL);
            PERFORM ssb_internal.note_notice_answered(v_receiver.endpoint_id);
            PERFORM ssb_internal.remove_endpoint(v_receiver);
        END IF;
        RETURN;
    END IF;
    status := ssb_internal.reason_to_wait(v_receiver.queue_id);
    IF status IS NOT NULL THEN
        RETURN;
    END IF;
    IF p_kind <> 'message' THEN
        UPDATE ssb.remote_conversation AS r SET far_outcome = CASE p_kind WHEN 'end' THEN 'DI' ELSE 'ER' END
         WHERE r.endpoint_id = v_receiver.endpoint_id AND r.far_outcome IS NULL;
        IF FOUND AND p_kind = 'end' THEN
            PERFORM ssb_internal.put_message(v_receiver, 2, p_number, 'E', NULL);
        ELSIF FOUND THEN
            PERFORM ssb_internal.put_message(v_receiver, 1, p_number, 'X', ssb_internal.arrived_error(p_body));
        END IF;
        RETURN;
    END IF;
    -- Before the contract is read: ALTER MESSAGE TYPE waits for us, or the message for it.
    IF NOT pg_try_advisory_xact_lock_shared(1397965377, hashtext(p_message_type)) AND NOT ssb_internal.definition_is_settled() THEN
        status := format('The message type ''%s'' is being changed by a transaction that is open.', p_message_type);
        RETURN;
    END IF;
    SELECT u.* INTO v_usage FROM ssb.contract_message_usage AS u
     WHERE u.contract_id = v_receiver.contract_id AND u.message_type_name = p_message_type;
    IF NOT FOUND THEN
        refusal_code := -8498;
        refusal := format('The remote service has sent a message of type ''%s'' that is not part of the local contract.',
                          p_message_type);
    ELSIF NOT v_receiver.is_initiator AND NOT v_usage.is_sent_by_initiator THEN
        refusal_code := -8457;
        refusal := format('The message received was sent by the initiator of the conversation, but the message type ''%s'' is '
                          'marked SENT BY TARGET in the contract.', p_message_type);
    ELSIF v_receiver.is_initiator AND NOT v_usage.is_sent_by_target THEN
        refusal_code := -8437;
        refusal := format('The message received was sent by a Target service, but the message type ''%s'' is marked SENT BY '
                          'INITIATOR in the contract.', p_message_type);
    ELSE
        v_sender.conversation_id := v_receiver.conversation_id;
        v_sender.is_initiator := NOT v_receiver.is_initiator;
        refusal := ssb_internal.validate_body(v_usage, v_sender, p_number, p_body);
        IF refusal IS NULL THEN
            PERFORM ssb_internal.put_message(v_receiver, v_usage.message_type_id, p_number, v_usage.validation, p_body);
            RETURN;
        END IF;
        refusal_code := CASE v_usage.validation WHEN 'X' THEN -9615 ELSE -8430 END;
    END IF;
    -- The same message gets the same answer if it comes again.
    UPDATE ssb.remote_conversation AS r
       SET far_outcome = 'ER', refusal_code = take_message.refusal_code, refusal = take_message.refusal
     WHERE r.endpoint_id = v_receiver.endpoint_id;
END;
$$;

-- The row of a conversation, which is locked for whoever has its session key. Its number is told to everybody (sys.conversation_endpoints),
-- and who holds the row keeps the messages of both sides back. p_waits: for whoever holds it, else it is held (is_held) and not locked.
--
-- Called by  ssb_internal.take_set
CREATE OR REPLACE FUNCTION ssb_internal.lock_remote(p_conversation_id uuid, p_is_initiator boolean, p_key uuid, p_waits boolean,
                                                    OUT remote ssb.remote_conversation, OUT is_held boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF p_waits THEN
        SELECT r.* INTO remote FROM ssb.remote_conversation AS r
         WHERE r.conversation_id = p_conversation_id AND r.is_initiator = p_is_initiator AND r.session_key IS NOT DISTINCT FROM p_key
           FOR UPDATE;
    ELSE
        SELECT r.* INTO remote FROM ssb.remote_conversation AS r
         WHERE r.conversation_id = p_conversation_id AND r.is_initiator = p_is_initiator AND r.session_key IS NOT DISTINCT FROM p_key
           FOR UPDATE SKIP LOCKED;
    END IF;
    is_held := false;
    IF NOT FOUND THEN
        SELECT r.* INTO remote FROM ssb.remote_conversation AS r
         WHERE r.conversation_id = p_conversation_id AND r.is_initiator = p_is_initiator;
        is_held := FOUND AND remote.session_key IS NOT DISTINCT FROM p_key;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_remote(uuid, boolean, uuid, boolean) FROM PUBLIC;

-- A set of messages, and about each dialog in it an answer: next_number, below which everything has come;
-- status, why the rest has to wait; refusal and refusal_code, why it never will be taken. It commits as a whole.
--
-- p_dialogs: its dialogs, p_places: for each message its dialog's place there, from 0. A message
-- is taken when it is the next one of its dialog (of one in fragments, taken_bytes tells how much has come). One that has come already counts as taken; behind a gap
-- nothing is. An Error is taken whatever its number, once: before it the sender has thrown away what was still
-- to be sent, and one that was restored to an earlier time has begun to count anew.
--
-- Dialogs with a security other than N have been opened by this instance's daemon (ssb_internal.take_opened); they have
-- key_id, database_id and far_user, whom the key belongs to.
CREATE OR REPLACE FUNCTION ssb_internal.take_set(p_dialogs ssb.arrived_dialog[], p_places integer[], p_numbers bigint[], p_message_types text[],
                                        p_kinds text[], p_bodies bytea[], p_is_opened boolean)
RETURNS TABLE (place integer, next_number bigint, status text, refusal_code integer, refusal text, instance text, taken_bytes bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_variable
DECLARE
    v_message record;
    v_locked record;
    v_remote ssb.remote_conversation;
    v_made record;
    v_is_known boolean;
    v_is_whole boolean;
    v_binding text;
    v_dropped bigint := 0;
BEGIN
    -- The sender forgets what we have: it has to be on the disk by then.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    FOR v_message IN
        SELECT d.ordinality - 1 AS place, d.conversation_id, d.is_initiator, d.key, d.to_service, d.to_instance, d.from_service,
               d.from_instance, d.contract, d.lifetime, d.is_encrypted, m.number, m.type, m.kind, m.body,
               CASE WHEN p_is_opened THEN d.security ELSE 'N' END AS security, d.database_id, d.far_user, d.key_id,
               d.traces ->> m.number::text AS trace,
               lag(d.ordinality) OVER w IS DISTINCT FROM d.ordinality AS is_first,
               lead(d.ordinality) OVER w IS DISTINCT FROM d.ordinality AS is_last
          FROM unnest(p_dialogs) WITH ORDINALITY AS d
          JOIN unnest(p_places, p_numbers, p_message_types, p_kinds, p_bodies) AS m (place, number, type, kind, body)
            ON m.place = d.ordinality - 1
        WINDOW w AS (ORDER BY d.conversation_id, d.is_initiator, d.ordinality, m.number)
         ORDER BY d.conversation_id, d.is_initiator, d.ordinality, m.number
    LOOP
        IF v_message.is_first THEN
            place := v_message.place;
            status := NULL;
            refusal_code := NULL;
            refusal := NULL;
            instance := NULL;
            taken_bytes := NULL;
            next_number := 0;
            v_locked := ssb_internal.lock_remote(v_message.conversation_id, NOT v_message.is_initiator, v_message.key, NOT p_is_opened);
            v_remote := v_locked.remote;
            v_is_known := v_remote.endpoint_id IS NOT NULL;
            IF NOT v_is_known AND v_message.is_initiator AND v_message.number = 0
               AND (v_message.kind = 'message' OR v_message.kind LIKE 'fragment %') THEN
                -- Somebody else may be at the same (a daemon that was killed, whose session goes on).
                PERFORM ssb_internal.lock_name('target ' || v_message.conversation_id);
                v_locked := ssb_internal.lock_remote(v_message.conversation_id, false, v_message.key, NOT p_is_opened);
                v_remote := v_locked.remote;
                v_is_known := v_remote.endpoint_id IS NOT NULL;
                IF NOT v_is_known THEN
                    SELECT t.* INTO v_made
                      FROM ssb_internal.make_target_for_remote(v_message.conversation_id, v_message.key, v_message.to_service,
                               v_message.to_instance, v_message.from_service, v_message.from_instance, v_message.contract,
                               v_message.lifetime, v_message.is_encrypted, v_message.security, v_message.database_id,
                               v_message.far_user) AS t;
                    v_remote := v_made.remote;
                    status := v_made.status;
                    refusal_code := v_made.refusal_code;
                    refusal := v_made.refusal;
                    v_is_known := v_remote.endpoint_id IS NOT NULL;
                END IF;
            END IF;
            IF v_locked.is_held THEN
                status := 'Messages of this conversation are being taken by a transaction that is open.';
                v_is_known := false;
            ELSIF v_is_known THEN
                SELECT b.user_name INTO v_binding FROM ssb.remote_service_binding AS b
                 WHERE v_remote.is_initiator AND b.database_id = v_remote.database_id AND b.to_service = v_message.from_service;
                IF coalesce(v_remote.security, 'N') <> v_message.security
                   OR (v_message.security <> 'N' AND (v_remote.database_id <> v_message.database_id
                       OR (v_remote.far_user IS NULL) <> (v_message.far_user IS NULL)
                       OR NOT coalesce(ssb_internal.same_principal(v_remote.far_user, v_message.far_user), true))) THEN
                    status := 'The message does not have the security of its conversation.';
                    v_is_known := false;
                ELSIF v_remote.session_key IS DISTINCT FROM v_message.key THEN
                    status := 'The message does not come from the instance that takes part in this conversation.';
                    v_is_known := false;
                ELSIF v_message.security = 'N' AND v_binding IS NOT NULL AND NOT ssb_internal.is_member(ssb_internal.caller(), v_binding, v_remote.database_id)
                      AND NOT pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE') THEN
                    status := format('The remote service binding of service ''%s'' expects its messages from user ''%s''.',
                                     v_message.from_service, v_binding);
                    v_is_known := false;
                ELSE
                    next_number := v_remote.next_number;
                    refusal_code := v_remote.refusal_code;
                    refusal := v_remote.refusal;
                    instance := (SELECT d.service_broker_guid::text FROM ssb.database AS d
                                  WHERE d.database_id = v_remote.database_id);
                END IF;
            END IF;
        END IF;
        IF status IS NULL AND refusal IS NULL
           AND (v_message.number >= 0 AND v_message.kind ~ '^(message|end|error|fragment [0-9]{1,18} [0-9]{1,18} .*)$') IS NOT TRUE THEN
            status := 'The message has a number or is of a kind that is not known here.';
        ELSIF status IS NULL AND refusal IS NULL AND NOT v_is_known THEN
            -- No dialog of ours, or one that was forgotten long ago. Of its end nobody needs to be told.
            IF v_message.kind NOT IN ('end', 'error') THEN
                status := 'The remote conversation endpoint is either in a state where no more messages can be exchanged, '
                          'or it has been dropped.';
            ELSE
                next_number := v_message.number + 1;
            END IF;
        ELSIF status IS NULL AND refusal IS NULL AND (v_message.number = next_number OR v_message.kind = 'error') THEN
            v_is_whole := true;
            IF v_message.kind LIKE 'fragment %' THEN
                SELECT t.is_whole, t.taken_bytes, t.status, t.refusal_code, t.refusal
                  INTO v_is_whole, taken_bytes, status, refusal_code, refusal
                  FROM ssb_internal.take_fragment(v_remote, v_message.number, v_message.type, v_message.kind, v_message.body) AS t;
            ELSE
                SELECT t.status, t.refusal_code, t.refusal INTO status, refusal_code, refusal
                  FROM ssb_internal.take_message(v_remote, v_message.number, v_message.type, v_message.kind, v_message.body) AS t;
                IF v_message.kind <> 'message' AND status IS NULL THEN
                    DELETE FROM ssb.message_fragment AS f WHERE f.endpoint_id = v_remote.endpoint_id;
                END IF;
            END IF;
            IF status IS NULL AND refusal IS NULL AND v_is_whole THEN
                taken_bytes := NULL;
                next_number := greatest(next_number, v_message.number + 1);
                IF v_message.trace IS NOT NULL AND v_message.kind NOT IN ('end', 'error') THEN
                    PERFORM ssb_internal.keep_trace(m.endpoint_id, m.queuing_order, v_message.number, v_message.trace)
                       FROM (SELECT m.endpoint_id, m.queuing_order FROM ssb.message_stored AS m
                              WHERE m.endpoint_id = v_remote.endpoint_id AND m.message_sequence_number = v_message.number
                              ORDER BY m.queuing_order DESC LIMIT 1) AS m;
                END IF;
            END IF;
        ELSIF status IS NULL AND refusal IS NULL AND v_message.number > next_number THEN
            status := format('Message number %s of this conversation has not come.', next_number);
        END IF;
        IF status IS NOT NULL THEN
            v_dropped := v_dropped + 1;
        END IF;
        IF v_message.is_last THEN
            IF v_is_known AND next_number > v_remote.next_number THEN
                UPDATE ssb.remote_conversation AS r
                   SET next_number = next_number, taken_at = clock_timestamp(),
                       inbound_key_id = coalesce(v_message.key_id, r.inbound_key_id)
                 WHERE r.endpoint_id = v_remote.endpoint_id;
            END IF;
            RETURN NEXT;
        END IF;
    END LOOP;
    IF v_dropped > 0 THEN
        PERFORM ssb_internal.count_events('messages_dropped', v_dropped);
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_set(ssb.arrived_dialog[], integer[], bigint[], text[], text[], bytea[], boolean) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ssb_internal.make_target_for_remote(uuid, uuid, text, text, text, text, text, double precision, boolean, char,
                                                     integer, text) FROM PUBLIC;

-- A daemon shares it for as long as it opens what comes, and sends on what goes on.
CREATE OR REPLACE FUNCTION ssb_internal.transport_lock() RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN 1397965382; END $$;

-- Shares it. Daemons do no more: who keeps them from that is none, and is ended.
--
-- Called by  daemon/transport.py
CREATE OR REPLACE FUNCTION ssb_internal.share_transport_lock()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_try_advisory_lock_shared(ssb_internal.transport_lock()) THEN
        PERFORM ssb_internal.end_holders_of(ssb_internal.transport_lock());
        PERFORM pg_advisory_lock_shared(ssb_internal.transport_lock());
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.share_transport_lock() FROM PUBLIC;

-- Whether a daemon is there. A stranger who shares the lock only makes others wait for one.
CREATE OR REPLACE FUNCTION ssb_internal.has_transport_daemon()
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_lock bigint := ssb_internal.transport_lock();
BEGIN
    RETURN EXISTS (SELECT FROM pg_locks AS l
                    WHERE l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                      AND l.locktype = 'advisory' AND l.classid = 0 AND l.objid::bigint = v_lock AND l.objsubid = 1 AND l.granted);
END;
$$;

-- No daemon makes a set that is much larger than 5 MB or has more than some thousand messages: whoever brings such a set occupies
-- neither this server nor this instance's daemon with it.
CREATE OR REPLACE FUNCTION ssb_internal.require_size_of_set(p_messages bigint, p_dialogs bigint, p_bytes bigint, p_exchanges bigint)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_bytes > 32 * 1048576 OR p_messages > 10000 OR p_dialogs > 10000 OR p_exchanges > 2000 THEN
        RAISE EXCEPTION 'A set of % messages of % dialogs with % bytes is none that a daemon makes', p_messages, p_dialogs, p_bytes
            USING ERRCODE = '54000';
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.require_size_of_set(bigint, bigint, bigint, bigint) FROM PUBLIC;

-- Of one that a daemon reads as a whole into its memory.
CREATE OR REPLACE FUNCTION ssb_internal.require_handy_set(p_dialogs jsonb, p_places integer[], p_bodies bytea[], p_exchanges text[],
                                                          p_more bigint)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bytes bigint := pg_column_size(p_places)::bigint + pg_column_size(p_bodies) + coalesce(pg_column_size(p_exchanges), 0) + p_more;
    v_dialogs record;
BEGIN
    -- (What a block says of all its dialogs an instance on the way says of each.)
    SELECT coalesce(sum(d.count), 0) AS count, coalesce(sum(d.count * pg_column_size(d.header)), 0) AS bytes INTO v_dialogs
      FROM (SELECT CASE jsonb_typeof(d.value -> 'conversation_ids') WHEN 'array' THEN jsonb_array_length(d.value -> 'conversation_ids')
                                                                    ELSE 1 END AS count,
                   CASE jsonb_typeof(d.value) WHEN 'object' THEN d.value - 'conversation_ids' ELSE d.value END AS header
              FROM jsonb_array_elements(p_dialogs) AS d) AS d;
    v_bytes := v_bytes + v_dialogs.bytes;
    PERFORM ssb_internal.require_size_of_set(cardinality(p_places), v_dialogs.count, v_bytes, cardinality(p_exchanges));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.require_handy_set(jsonb, integer[], bytea[], text[], bigint) FROM PUBLIC;

-- Sets of one sender's that wait to be opened take the room of some hundred MB at most. A daemon that is told so sends again. (What other
-- sessions of his have not committed is not counted: how many there are, his role's CONNECTION LIMIT says.)
CREATE OR REPLACE FUNCTION ssb_internal.require_room_for_sealed()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_held record;
BEGIN
    SELECT count(*) AS sets, coalesce(sum(pg_column_size(s.bodies)::bigint + pg_column_size(s.dialogs) + pg_column_size(s.exchanges)
                                          + pg_column_size(s.places) + pg_column_size(s.numbers)), 0) AS bytes INTO v_held
      FROM ssb.sealed_set AS s WHERE s.sender = session_user;
    IF v_held.sets >= 1000 OR v_held.bytes >= 256 * 1048576 THEN
        RAISE EXCEPTION '% sets of messages with % bytes, which "%" has brought, wait already to be opened by this instance''s daemon',
                        v_held.sets, v_held.bytes, session_user
            USING ERRCODE = '53400', HINT = 'They are sent again. Where this stays, the daemon of this instance is stopped, or does not keep up.';
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.require_room_for_sealed() FROM PUBLIC;

-- … and with sealed ones: they are put down for this instance's daemon, which alone can open them, or goes on with
-- them. Nobody acknowledges them before: answers come by ssb_internal.set_answers. Returned is why messages of a
-- dialog are not taken (by its place), and NULL where nobody is there to open them.
CREATE OR REPLACE FUNCTION ssb_internal.take_sealed(p_set_id uuid, p_dialogs jsonb, p_places integer[], p_numbers bigint[], p_bodies bytea[],
                                                    p_exchanges text[])
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_answers jsonb := '[]';
    v_on integer[];
BEGIN
    PERFORM ssb_internal.require_connect();
    PERFORM ssb_internal.require_handy_set(p_dialogs, p_places, p_bodies, p_exchanges, pg_column_size(p_numbers));
    IF NOT ssb_internal.has_transport_daemon() THEN
        RETURN NULL;
    END IF;
    PERFORM ssb_internal.require_room_for_sealed();
    IF ssb_internal.may_lead_on() THEN
        p_dialogs := ssb_internal.whole_dialogs(p_dialogs);
        SELECT array_agg(f.place),
               coalesce(jsonb_agg(jsonb_build_object('place', f.place, 'status', f.status, 'is_apart', f.is_apart))
                        FILTER (WHERE f.status IS NOT NULL), '[]')
          INTO v_on, v_answers
          FROM ssb_internal.forward_set(p_set_id, p_dialogs, p_places, p_numbers, NULL, NULL, p_bodies, p_exchanges) AS f;
    END IF;
    IF v_on IS NULL THEN
        INSERT INTO ssb.sealed_set (set_id, dialogs, places, numbers, bodies, exchanges)
        VALUES (p_set_id, p_dialogs, p_places, p_numbers, p_bodies, p_exchanges);
    ELSIF cardinality(v_on) < jsonb_array_length(p_dialogs) THEN
        INSERT INTO ssb.sealed_set (set_id, dialogs, places, numbers, bodies, exchanges)
        SELECT p_set_id, ssb_internal.part_of_dialogs(p_dialogs, h.here), array_agg(array_position(h.here, m.place) - 1 ORDER BY m.n),
               array_agg(m.number ORDER BY m.n), array_agg(m.body ORDER BY m.n), p_exchanges
          FROM (SELECT ARRAY(SELECT d.place FROM generate_series(0, jsonb_array_length(p_dialogs) - 1) AS d (place)
                              WHERE d.place <> ALL (v_on) ORDER BY d.place) AS here) AS h
          JOIN unnest(p_places, p_numbers, p_bodies) WITH ORDINALITY AS m (place, number, body, n) ON m.place = ANY (h.here)
         GROUP BY h.here;
    END IF;
    PERFORM pg_notify('ssb_transport', 'sealed');
    RETURN v_answers;
END;
$$;

-- Answers to sets of the caller's that have come in meanwhile; waits for some seconds where there are none. Those of
-- one set may come one after the other.
CREATE OR REPLACE FUNCTION ssb_internal.set_answers(p_sets uuid[], p_seconds double precision)
RETURNS TABLE (set_id uuid, answers jsonb)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_deadline timestamptz := clock_timestamp() + least(p_seconds, 5) * interval '1 second';
    v_pause double precision := 0.002;
BEGIN
    PERFORM ssb_internal.require_connect();
    WHILE NOT EXISTS (SELECT FROM ssb.set_answer AS a WHERE a.set_id = ANY (p_sets)) LOOP
        IF clock_timestamp() > v_deadline THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.02);
    END LOOP;
    RETURN QUERY
    DELETE FROM ssb.set_answer AS a WHERE a.set_id = ANY (p_sets) AND a.sender = session_user
    RETURNING a.set_id, a.answers;
END;
$$;

-- Until their sender asks for them.
CREATE OR REPLACE FUNCTION ssb_internal.keep_answers(p_set_id uuid, p_sender text, p_answers jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.set_answer (set_id, sender, answers) VALUES (p_set_id, p_sender, p_answers);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keep_answers(uuid, text, jsonb) FROM PUBLIC;

-- What this instance's daemon answers to the set that it has opened last (NULL: none), and the next one that it has to open, with the
-- keys that this names. Whoever may connect has brought it: what is no key's id names none. Senders take turns: one who brings more than
-- can be opened makes nobody else wait.
CREATE OR REPLACE FUNCTION ssb_internal.next_sealed_set(p_answered uuid, p_answers jsonb)
RETURNS TABLE (set_id uuid, dialogs jsonb, places integer[], numbers bigint[], bodies bytea[], exchanges text[], keys jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_sender text;
BEGIN
    DELETE FROM ssb.sealed_set AS s WHERE s.set_id = p_answered RETURNING s.sender INTO v_sender;
    IF FOUND THEN
        PERFORM ssb_internal.keep_answers(p_answered, v_sender, p_answers);
    END IF;
    RETURN QUERY
    SELECT s.set_id, s.dialogs, s.places, s.numbers, s.bodies, s.exchanges, k.keys
      FROM ((SELECT * FROM ssb.sealed_set AS s WHERE s.sender > v_sender ORDER BY s.sender, s.came_at LIMIT 1)
            UNION ALL
            (SELECT * FROM ssb.sealed_set AS s ORDER BY s.sender, s.came_at LIMIT 1)
            LIMIT 1) AS s
     CROSS JOIN LATERAL (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
                       'key_id', k.key_id, 'database_id', k.database_id, 'is_outbound', k.is_outbound, 'is_anonymous', k.is_anonymous,
                       'near_service', k.near_service, 'far_service', k.far_service, 'far_user', k.far_user,
                       'sealed_key', encode(k.sealed_key, 'hex'), 'made_at',
                       CASE WHEN k.is_retired THEN 0 ELSE extract(epoch FROM k.made_at) END)), '[]') AS keys
              FROM ssb.dialog_key AS k
             WHERE k.key_id IN (SELECT CASE WHEN d.value ->> 'key_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                            THEN (d.value ->> 'key_id')::uuid END
                                  FROM jsonb_array_elements(CASE jsonb_typeof(s.dialogs) WHEN 'array' THEN s.dialogs ELSE '[]' END) AS d
                                 WHERE d.value ? 'key_id')) AS k;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.next_sealed_set(uuid, jsonb) FROM PUBLIC;

-- What it has opened, which is taken as what comes in the clear. All instances' messages go through the one connection on which the daemon
-- does that: nobody's transaction is waited for who holds a conversation (100 ms, and it is told as the reason to send again). p_blocks: an object for each block, which says what all its dialogs have
-- in common and how many they are (dialogs); what each has of its own are the columns behind, block by block.
CREATE OR REPLACE FUNCTION ssb_internal.take_opened(p_blocks jsonb, p_conversation_ids uuid[], p_keys uuid[], p_contracts text[],
                                           p_lifetimes double precision[], p_places integer[], p_numbers bigint[],
                                           p_message_types text[], p_kinds text[], p_bodies bytea[],
                                           OUT next_numbers bigint[], OUT instances text[], OUT others jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '100ms'
AS $$
DECLARE
    v_dialogs ssb.arrived_dialog[];
BEGIN
    v_dialogs := ARRAY(
        SELECT ROW(d.conversation_id, b.is_initiator, d.key, b.to_service, b.to_instance, b.from_service, b.from_instance, d.contract,
                   d.lifetime, true, b.security, b.database_id, b.far_user, b.key_id, b.traces -> (b.n - 1)::text)::ssb.arrived_dialog
          FROM unnest(p_conversation_ids, p_keys, p_contracts, p_lifetimes) WITH ORDINALITY
               AS d (conversation_id, key, contract, lifetime, place)
          JOIN (SELECT b.*, s.n, row_number() OVER () AS place
                  FROM jsonb_to_recordset(p_blocks)
                    AS b (dialogs integer, is_initiator boolean, to_service text, to_instance text, from_service text, from_instance text,
                          security char(1), database_id integer, far_user text, key_id uuid, traces jsonb)
                 CROSS JOIN LATERAL generate_series(1, b.dialogs) AS s (n)) AS b ON b.place = d.place
         ORDER BY d.place);
    SELECT t.* INTO next_numbers, instances, others
      FROM ssb_internal.take_here(v_dialogs, p_places, p_numbers, p_message_types, p_kinds, p_bodies, true) AS t;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_opened(jsonb, uuid[], uuid[], text[], double precision[], integer[], bigint[], text[],
                                           text[], bytea[]) FROM PUBLIC;
