-- Checks 6xx: would a dialog from this service to that one work? Called by ssb.diagnose.

-- What one end offers a dialog, as the other end needs to know it: {"services": […], "types": {…}, "back": …}. NULL where the
-- service is not here. Asked of the other instance where the target is there.
--
-- p_instance    the service_broker_guid of its T-SQL database; NULL: any
-- p_from, p_from_instance  the initiating service, and its instance: is there a way back?
CREATE OR REPLACE FUNCTION ssb_internal.describe_end(p_service text, p_instance text, p_contract text, p_from text, p_from_instance text)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_service ssb.service;
    v_end jsonb;
BEGIN
    IF NOT ssb_internal.may_monitor() THEN
        PERFORM ssb_internal.raise_error(300, 'VIEW SERVER STATE permission was denied on object ''server'', database ''master''.', 14, 1,
                                         'GRANT pg_monitor TO this role.');
    END IF;
    SELECT s.* INTO v_service FROM ssb.service AS s JOIN ssb.database AS d ON d.database_id = s.database_id
     WHERE s.name = p_service AND (p_instance IS NULL OR d.service_broker_guid::text = lower(p_instance))
     ORDER BY s.service_id LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT jsonb_build_object(
               'service_id', v_service.service_id, 'database', ssb_internal.database_name(d.database_id), 'use', ssb_internal.use_of(d.database_id), 'instance', d.service_broker_guid,
               'is_broker_enabled', d.is_broker_enabled, 'queue', q.name, 'tsql_queue', ssb_internal.tsql_name(q),
               'takes_messages', q.is_enqueue_enabled AND q.is_receive_enabled AND NOT ssb_internal.is_seen_poisoned(q.queue_id),
               'services', (SELECT count(*) FROM ssb.service AS s JOIN ssb.database AS o ON o.database_id = s.database_id
                             WHERE s.name = p_service AND (p_instance IS NULL OR o.service_broker_guid::text = lower(p_instance))),
               'offers', EXISTS (SELECT FROM ssb.service_contract_usage AS u
                                  WHERE u.service_id = v_service.service_id AND u.contract_id = c.contract_id),
               'has_contract', c.contract_id IS NOT NULL,
               'types', coalesce((SELECT jsonb_object_agg(u.message_type_name, jsonb_build_object(
                                             'initiator', u.is_sent_by_initiator, 'target', u.is_sent_by_target, 'validation', trim(u.validation)))
                                    FROM ssb.contract_message_usage AS u WHERE u.contract_id = c.contract_id), '{}'),
               'back', (SELECT f.address FROM ssb_internal.find_route(d.database_id, p_from, p_from_instance, NULL, false) AS f),
               'back_is_here', EXISTS (SELECT FROM ssb.service AS s JOIN ssb.database AS o ON o.database_id = s.database_id
                                        WHERE s.name = p_from AND (p_from_instance IS NULL OR o.service_broker_guid::text = lower(p_from_instance))))
      INTO v_end
      FROM ssb.database AS d
      JOIN ssb.queue AS q ON q.queue_id = v_service.queue_id
      LEFT JOIN LATERAL ssb_internal.find_contract(d.database_id, p_contract) AS c ON true
     WHERE d.database_id = v_service.database_id;
    RETURN v_end;
END;
$$;

-- p_broker is that of BEGIN DIALOG: a service_broker_guid, CURRENT DATABASE or NULL. p_encryption: on, off or anonymous.
-- p_far is what ssb_internal.describe_end of the other instance answered; NULL: it was not asked.
CREATE OR REPLACE FUNCTION ssb_internal.check_dialog(p_from text, p_to text, p_broker text, p_contract text, p_encryption text, p_far jsonb)
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_contract text := coalesce(p_contract, 'DEFAULT');
    v_from ssb.service;
    v_guid text;
    v_instance text;
    v_address text;
    v_near jsonb;
    v_far jsonb;
    v_name text;
    v_security record;
    v_use_near text;      -- what remedies begin with that are for the initiator's T-SQL database
    v_use_far text;       -- … for the target's
    v_there text := '';   -- what the latter end with
BEGIN
    run_with := 'pgsb shell';
    SELECT s.* INTO v_from FROM ssb.service AS s WHERE s.name = p_from
     ORDER BY s.database_id = ssb_internal.current_database_id() DESC, s.service_id LIMIT 1;
    IF NOT FOUND AND p_from IS NOT NULL THEN
        number := 601; object := p_from; detail := 'no T-SQL database here has a service of this name (case and blanks count)';
        remedy := format('CREATE SERVICE %s ON QUEUE dbo.MyQueue (%s);', ssb_internal.in_brackets(p_from), ssb_internal.in_brackets(v_contract));
        RETURN NEXT;
    END IF;
    SELECT d.service_broker_guid::text INTO v_guid FROM ssb.database AS d
     WHERE d.database_id = coalesce(v_from.database_id, ssb_internal.current_database_id());
    v_use_near := ssb_internal.use_of(coalesce(v_from.database_id, ssb_internal.current_database_id()));
    v_instance := CASE WHEN upper(p_broker COLLATE "C") = 'CURRENT DATABASE' THEN v_guid ELSE p_broker END;
    IF p_to IS NULL THEN
        RETURN;
    END IF;
    SELECT f.address INTO v_address
      FROM ssb_internal.find_route(coalesce(v_from.database_id, ssb_internal.current_database_id()), p_to, v_instance, NULL, false) AS f;
    IF upper(v_address COLLATE "C") = 'LOCAL' THEN
        v_far := ssb_internal.describe_end(p_to, v_instance, v_contract, p_from, v_guid);
    ELSIF v_address IS NOT NULL THEN
        v_far := nullif(p_far, 'null');
    END IF;
    IF v_far IS NULL AND (v_address IS NULL OR upper(v_address COLLATE "C") = 'LOCAL' OR p_far = 'null') THEN
        number := 602; object := p_to;
        detail := CASE WHEN v_address IS NULL THEN 'no route of the initiator''s database fits'
                       WHEN upper(v_address COLLATE "C") = 'LOCAL' THEN 'the route is LOCAL, and no service of this name is here'
                       ELSE format('the route leads to %s, and no service of this name is there', v_address) END
                  || coalesce(', for the broker instance ' || v_instance, '');
        remedy := v_use_near || format('CREATE ROUTE %s WITH SERVICE_NAME = %s, ADDRESS = ''TCP://host:4022'';',
                                       ssb_internal.in_brackets('To ' || p_to), ssb_internal.in_quotes(p_to));
        RETURN NEXT;
        RETURN;
    ELSIF v_far IS NULL THEN
        number := 610; object := p_to; detail := format('the route leads to %s', v_address);
        remedy := format('pgsb diagnose --from %s --to %s --contract %s --to-dsn DSN', ssb_internal.shell_word(p_from), ssb_internal.shell_word(p_to),
                         ssb_internal.shell_word(v_contract));
        run_with := 'shell';
        RETURN NEXT;
        run_with := 'pgsb shell';
    END IF;
    IF v_from.service_id IS NOT NULL THEN
        v_near := ssb_internal.describe_end(p_from, v_guid, v_contract, p_to, v_instance);
        IF NOT (v_near ->> 'has_contract')::boolean THEN
            number := 603; object := v_contract; detail := format('in the database %s', v_near ->> 'database');
            remedy := v_use_near || format('CREATE CONTRACT %s ([DEFAULT] SENT BY ANY);', ssb_internal.in_brackets(v_contract));
            RETURN NEXT;
        END IF;
    END IF;
    -- To another instance, as the daemon will choose it. Inside this one nothing is sealed, unless LOCAL_DIALOG_SECURITY asks for it
    -- between databases.
    IF v_from.service_id IS NOT NULL
       AND (upper(v_address COLLATE "C") <> 'LOCAL'
            OR p_encryption <> 'off'
               AND EXISTS (SELECT FROM ssb.database AS d JOIN ssb.service AS s ON s.database_id <> d.database_id
                            WHERE d.database_id = v_from.database_id AND d.options ->> 'LOCAL_DIALOG_SECURITY' = 'ON'
                              AND s.service_id = (v_far ->> 'service_id')::integer)) THEN
        SELECT s.* INTO v_security
          FROM ssb_internal.initiator_security(v_from.database_id, v_from.service_id, p_to, coalesce(p_encryption, 'off') <> 'off', true) AS s;
        detail := v_security.status;
        remedy := v_use_near || CASE WHEN v_security.far_user IS NULL THEN
                           format('CREATE REMOTE SERVICE BINDING %s TO SERVICE %s WITH USER = FarUser%s;', ssb_internal.in_brackets('To ' || p_to),
                                  ssb_internal.in_quotes(p_to), CASE WHEN p_encryption = 'anonymous' THEN ', ANONYMOUS = ON' ELSE '' END)
                       WHEN v_security.far IS NULL THEN
                           format('CREATE CERTIFICATE FarCertificate AUTHORIZATION %s FROM FILE = ''…'';',
                                  ssb_internal.in_brackets(v_security.far_user))
                       WHEN v_security.security = 'F' AND v_security.near IS NULL THEN
                           format('CREATE CERTIFICATE MyCertificate AUTHORIZATION %s WITH SUBJECT = ''…'';',
                                  ssb_internal.in_brackets(v_security.near_user))
                       ELSE 'CREATE MASTER KEY ENCRYPTION BY PASSWORD = ''…'';' END;
        IF detail IS NULL AND upper(v_address COLLATE "C") = 'LOCAL'
           AND NOT EXISTS (SELECT FROM ssb.service AS s JOIN ssb.master_key AS k ON k.database_id = s.database_id
                            WHERE s.service_id = (v_far ->> 'service_id')::integer AND k.by_service IS NOT NULL) THEN
            detail := format('the target''s database %s has no master key', v_far ->> 'database');
            remedy := (v_far ->> 'use') || 'CREATE MASTER KEY ENCRYPTION BY PASSWORD = ''…'';';
        END IF;
        IF detail IS NOT NULL THEN
            number := 609; object := p_to;
            RETURN NEXT;
        END IF;
    END IF;
    IF v_far IS NULL THEN
        RETURN;
    END IF;
    v_use_far := coalesce(v_far ->> 'use', '');
    IF upper(v_address COLLATE "C") <> 'LOCAL' THEN
        v_there := '  -- in the target''s instance';
    END IF;
    object := p_to;
    IF (v_far ->> 'services')::integer > 1 THEN
        number := 611; detail := format('%s databases have one', v_far ->> 'services');
        remedy := format('SELECT d.name, d.service_broker_guid FROM sys.databases AS d;  -- and name one: TO SERVICE %s, ''guid''', ssb_internal.in_quotes(p_to));
        RETURN NEXT;
    END IF;
    IF NOT (v_far ->> 'offers')::boolean THEN
        number := 604; detail := format('%s in the database %s', v_contract, v_far ->> 'database');
        remedy := v_use_far || format('ALTER SERVICE %s (ADD CONTRACT %s);', ssb_internal.in_brackets(p_to), ssb_internal.in_brackets(v_contract)) || v_there;
        RETURN NEXT;
    END IF;
    IF v_near IS NOT NULL AND (v_near ->> 'has_contract')::boolean AND (v_far ->> 'has_contract')::boolean THEN
        FOR v_name IN SELECT k FROM jsonb_object_keys((v_near -> 'types') || (v_far -> 'types')) AS k ORDER BY k LOOP
            IF (v_near -> 'types' -> v_name) - 'validation' IS DISTINCT FROM (v_far -> 'types' -> v_name) - 'validation' THEN
                number := 605; object := v_contract;
                detail := format('%s: at the initiator %s, at the target %s', v_name, ssb_internal.sent_by(v_near -> 'types' -> v_name),
                                 ssb_internal.sent_by(v_far -> 'types' -> v_name));
                remedy := NULL;
                RETURN NEXT;
            ELSIF v_near -> 'types' -> v_name ->> 'validation' <> v_far -> 'types' -> v_name ->> 'validation' THEN
                number := 612; object := v_name;
                detail := format('at the initiator %s, at the target %s', ssb_internal.validation_words(v_near -> 'types' -> v_name ->> 'validation'),
                                 ssb_internal.validation_words(v_far -> 'types' -> v_name ->> 'validation'));
                remedy := v_use_far || format('ALTER MESSAGE TYPE %s VALIDATION = %s;', ssb_internal.in_brackets(v_name),
                                              ssb_internal.validation_words(v_near -> 'types' -> v_name ->> 'validation')) || v_there;
                RETURN NEXT;
            END IF;
        END LOOP;
    END IF;
    object := p_to;
    -- Over there the daemon's login sends, which this end does not know; here the initiating service's owner.
    IF upper(v_address COLLATE "C") = 'LOCAL' AND v_from.service_id IS NOT NULL AND NOT EXISTS (
           SELECT FROM ssb.service AS s
            WHERE s.service_id = (v_far ->> 'service_id')::integer
              AND (s.owner = v_from.owner
                   OR ssb_internal.has_permission(ssb_internal.role_of(v_from.owner), 'SERVICE', s.service_id, 'SEND', s.owner, s.database_id))) THEN
        number := 606; detail := format('%s, who owns %s, has no SEND on it', v_from.owner, p_from);
        -- A user of the initiator's database is nobody in another one.
        remedy := v_use_far || format('GRANT SEND ON SERVICE::%s TO %s;', ssb_internal.in_brackets(p_to),
                                      CASE WHEN ssb_internal.role_of(v_from.owner) IS NULL
                                             AND (v_far ->> 'database') <> ssb_internal.database_name(v_from.database_id) THEN 'PUBLIC'
                                           ELSE ssb_internal.in_brackets(v_from.owner) END);
        RETURN NEXT;
    END IF;
    IF NOT (v_far ->> 'takes_messages')::boolean THEN
        number := 607; detail := v_far ->> 'queue';
        remedy := format('ALTER QUEUE %s WITH STATUS = ON;', v_far ->> 'tsql_queue') || v_there;
        RETURN NEXT;
    ELSIF NOT (v_far ->> 'is_broker_enabled')::boolean THEN
        number := 607; detail := format('the broker of the database %s is disabled', v_far ->> 'database');
        remedy := format('ALTER DATABASE %s SET ENABLE_BROKER;', ssb_internal.in_brackets(v_far ->> 'database')) || v_there;
        RETURN NEXT;
    END IF;
    IF v_from.service_id IS NOT NULL
       -- Within an instance the target knows its initiator, and needs no route.
       AND upper(v_address COLLATE "C") <> 'LOCAL'
       AND (v_far ->> 'back' IS NULL OR (upper((v_far ->> 'back') COLLATE "C") = 'LOCAL' AND NOT (v_far ->> 'back_is_here')::boolean)) THEN
        number := 608; object := p_from;
        detail := coalesce(format('the target''s route leads to %s', v_far ->> 'back'), 'no route of the target''s database fits');
        remedy := v_use_far || format('CREATE ROUTE %s WITH SERVICE_NAME = %s, ADDRESS = ''TCP://host:4022'';',
                                      ssb_internal.in_brackets('To ' || p_from), ssb_internal.in_quotes(p_from)) || v_there;
        RETURN NEXT;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_dialog(text, text, text, text, text, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.shell_word(p_text text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT '''' || replace(p_text, '''', '''\''''') || ''''; $$;

CREATE OR REPLACE FUNCTION ssb_internal.sent_by(p_usage jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_usage IS NULL THEN 'not part of it'
                WHEN (p_usage ->> 'initiator')::boolean AND (p_usage ->> 'target')::boolean THEN 'SENT BY ANY'
                WHEN (p_usage ->> 'initiator')::boolean THEN 'SENT BY INITIATOR' ELSE 'SENT BY TARGET' END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.validation_words(p_validation text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE p_validation WHEN 'N' THEN 'NONE' WHEN 'E' THEN 'EMPTY' ELSE 'WELL_FORMED_XML' END; $$;
