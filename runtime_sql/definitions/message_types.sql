-- CREATE, ALTER, DROP MESSAGE TYPE.
-- Locks  none beyond the rows written

-- VALIDATION as the catalog stores it, and the collection it names.
CREATE OR REPLACE FUNCTION ssb_internal.read_validation(p_validation text, p_schema_collection text,
                                                        OUT validation char(2), OUT collection_id integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name record;
BEGIN
    validation := CASE upper(p_validation COLLATE "C") WHEN 'NONE' THEN 'N' WHEN 'EMPTY' THEN 'E'
                                           WHEN 'WELL_FORMED_XML' THEN 'X' WHEN 'VALID_XML' THEN 'X' END;
    IF validation IS NULL THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_validation), 15, 1,
                                         'VALIDATION is NONE, EMPTY, WELL_FORMED_XML or VALID_XML WITH SCHEMA COLLECTION.');
    ELSIF (upper(p_validation COLLATE "C") = 'VALID_XML') <> (p_schema_collection IS NOT NULL) THEN
        PERFORM ssb_internal.raise_error(102, 'Incorrect syntax near ''VALID_XML''.', 15, 1,
                                         'VALID_XML, and only it, needs WITH SCHEMA COLLECTION.');
    ELSIF p_schema_collection IS NOT NULL THEN
        SELECT n.* INTO v_name FROM ssb_internal.split_name(p_schema_collection) AS n;
        SELECT c.collection_id INTO collection_id FROM ssb.xml_schema_collection AS c
         WHERE c.schema_name = v_name.schema_name AND c.name = v_name.object_name;
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_not_found('find', 'XML schema collection', p_schema_collection);
        END IF;
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_message_type(name text, validation text DEFAULT 'NONE',
    schema_collection text DEFAULT NULL, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_read record;
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE MESSAGE TYPE', v_database_id);
    PERFORM ssb_internal.check_name(name);
    SELECT r.* INTO v_read FROM ssb_internal.read_validation(coalesce(validation, 'NONE'), schema_collection) AS r;
    IF (ssb_internal.find_message_type(v_database_id, name)).message_type_id IS NOT NULL THEN
        PERFORM ssb_internal.raise_exists('message type', name);
    END IF;
    INSERT INTO ssb.message_type (database_id, name, validation, collection_id, owner)
    VALUES (v_database_id, name, v_read.validation, v_read.collection_id, ssb_internal.owner_or_caller(owner, v_database_id));
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_exists('message type', name);
END;
$$;

-- The message type that ALTER or DROP means: an existing one, not the system's.
CREATE OR REPLACE FUNCTION ssb_internal.message_type_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.message_type
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type ssb.message_type := ssb_internal.find_message_type(p_database_id, p_name);
BEGIN
    IF v_type.message_type_id IS NULL THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'message type', p_name);
    ELSIF v_type.database_id IS NULL THEN
        PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
    END IF;
    PERFORM ssb_internal.require_permission(p_verb, 'MESSAGE TYPE', v_type.message_type_id, p_name, 'ALTER',
                                            v_type.owner, p_database_id);
    RETURN v_type;
END;
$$;

-- The number of a service's advisory lock, beside those of message types.
CREATE OR REPLACE FUNCTION ssb_internal.service_lock(p_service_id integer)
RETURNS integer
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT hashtext('service ' || p_service_id::text);
END;

-- Keeps out who reads a message type's validation to note it, to the end of the transaction, and waits for
-- those who have. They share the type's advisory lock, which anybody may hold: a holder who has not read the
-- contracts' types is none of them (or about to be). Then the table is locked that they all read after it.
-- The same for a service, whose queue is noted (ssb_internal.share_service): its name here is 'service ' and
-- its number, as in ssb_internal.service_lock, and the table that they read is that of the paths.
--
-- Called by  ssb_internal.alter_message_type, ssb_internal.lock_service
-- Locks      ssb_locks.definitions, ROW EXCLUSIVE; then the definition's advisory lock, or the table
DROP FUNCTION IF EXISTS ssb_internal.lock_definition(text);
CREATE OR REPLACE FUNCTION ssb_internal.lock_definition(p_name text, p_is_service boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_began timestamptz := clock_timestamp();
    v_timeout integer := (SELECT s.setting FROM pg_settings AS s WHERE s.name = 'lock_timeout');    -- 0: none
    v_read regclass := CASE WHEN p_is_service THEN 'ssb.dialog_path' ELSE 'ssb.contract_message_usage' END;
    v_pids integer[];
    v_is_unused boolean := false;                   -- who holds the advisory lock does not use it: the table is tried in its stead
BEGIN
    LOCK TABLE ssb_locks.definitions IN ROW EXCLUSIVE MODE;
    LOOP
        BEGIN
            -- Longer than a deadlock takes to be found. And not for ever: whoever has only read the table in a transaction that goes on
            -- keeps its lock from us, and senders queue behind us.
            PERFORM set_config('lock_timeout', least(coalesce(nullif(v_timeout, 0), 2000), 2000)::text, true);
            IF NOT v_is_unused THEN
                PERFORM pg_advisory_xact_lock(1397965377, hashtext(p_name));
            ELSIF p_is_service THEN
                LOCK TABLE ssb.dialog_path IN ACCESS EXCLUSIVE MODE;
            ELSE
                LOCK TABLE ssb.contract_message_usage IN ACCESS EXCLUSIVE MODE;
            END IF;
            PERFORM set_config('lock_timeout', v_timeout::text, true);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            IF v_timeout > 0 AND clock_timestamp() - v_began >= make_interval(secs => v_timeout / 1000.0) THEN
                RAISE;
            END IF;
        END;
        IF v_is_unused THEN
            -- The senders' turn: the advisory lock keeps none of them.
            v_is_unused := false;
            CONTINUE;
        END IF;
        SELECT array_agg(l.pid) INTO v_pids
          FROM pg_locks AS l
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
           AND l.classid = 1397965377::oid AND l.objid = hashtext(p_name)::bit(32)::bigint::oid
           AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
           AND NOT EXISTS (SELECT FROM pg_locks AS r
                            WHERE r.virtualtransaction = l.virtualtransaction AND r.locktype = 'relation' AND r.granted
                              AND r.relation = v_read AND r.database = l.database);
        IF v_pids IS NOT NULL THEN
            RAISE LOG 'pgsb: the lock of % is held by sessions that do not use it: %', p_name, v_pids;
            -- For the table's lock all senders wait, of other services too, until the transaction ends: who has no more than a
            -- service or a message type of his own waits on.
            v_is_unused := pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE');
        END IF;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_definition(text, boolean) FROM PUBLIC;

-- Called by  ALTER and DROP SERVICE, DROP DATABASE
CREATE OR REPLACE FUNCTION ssb_internal.lock_service(p_service_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.lock_definition('service ' || p_service_id, true);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.lock_service(integer) FROM PUBLIC;

-- Somebody holds the advisory lock of a message type or a service. Waits if he is changing it; nobody changes
-- any until the caller's transaction ends. A stranger is not waited for. Never NULL: for initial values of
-- variables.
--
-- Called by  who could not share the definition's advisory lock at once
-- Locks      ssb_locks.definitions, SHARE
CREATE OR REPLACE FUNCTION ssb_internal.await_definition()
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE ssb_locks.definitions IN SHARE MODE;
    RETURN '';
END;
$$;

-- The same for the transport, which waits for nobody: other dialogs' messages are in the same set. False: somebody is changing the
-- definition, and its messages are tried again.
-- Locks  ssb_locks.definitions, SHARE
CREATE OR REPLACE FUNCTION ssb_internal.definition_is_settled()
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE ssb_locks.definitions IN SHARE MODE NOWAIT;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.definition_is_settled() FROM PUBLIC;

-- A side is about to be made on the service's queue: keeps ALTER and DROP SERVICE out to the end of the transaction, or waits
-- for them, as with message types. They look for the sides of the service after their lock, and would see none that is not committed.
-- False: the service is gone, or on another queue; who reads by an older snapshot fails to serialize then. p_waits false: NULL instead of waiting.
--
-- Called by  who makes a side, after he has found the service; ssb_internal.begin_dialog_fast_path, ssb_internal.send_first_fast_path,
--            ssb_internal.begin_and_send and ssb_internal.begin_and_send_to_remote do it in their statements
-- Locks      the service's advisory lock, shared, or ssb_locks.definitions, SHARE
DROP FUNCTION IF EXISTS ssb_internal.share_service(ssb.service);
CREATE OR REPLACE FUNCTION ssb_internal.share_service(p_service ssb.service, p_waits boolean DEFAULT true)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    -- By the lock on this table ssb_internal.lock_definition knows who is none of us.
    PERFORM FROM ssb.dialog_path AS p WHERE p.from_service = '';
    IF NOT pg_try_advisory_xact_lock_shared(1397965377, ssb_internal.service_lock(p_service.service_id)) THEN
        IF p_waits THEN
            PERFORM ssb_internal.await_definition();
        ELSIF NOT ssb_internal.definition_is_settled() THEN
            RETURN NULL;
        END IF;
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM ssb.service AS s WHERE s.service_id = p_service.service_id FOR SHARE;
    END IF;
    PERFORM FROM ssb.service AS s WHERE s.service_id = p_service.service_id AND s.queue_id = p_service.queue_id;
    RETURN FOUND;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.share_service(ssb.service, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.alter_message_type(name text, validation text, schema_collection text DEFAULT NULL,
                                                  database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_type ssb.message_type := ssb_internal.message_type_to_change('alter', name, ssb_internal.database_id_of(database));
    v_read record;
BEGIN
    SELECT r.* INTO v_read FROM ssb_internal.read_validation(validation, schema_collection) AS r;
    -- Nobody may note the old validation in an endpoint meanwhile (ssb_internal.deliver).
    PERFORM ssb_internal.lock_definition(name, false);
    UPDATE ssb.conversation_endpoint AS e SET plain_type = NULL WHERE e.plain_type_id = v_type.message_type_id;
    UPDATE ssb.message_type AS t SET validation = v_read.validation, collection_id = v_read.collection_id
     WHERE t.message_type_id = v_type.message_type_id;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('alter', 'message type', name);
    END IF;
    UPDATE ssb.contract_message_usage AS u SET validation = v_read.validation
     WHERE u.message_type_id = v_type.message_type_id;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_message_type(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_type ssb.message_type := ssb_internal.message_type_to_change('drop', name, ssb_internal.database_id_of(database));
BEGIN
    IF EXISTS (SELECT FROM ssb.contract_message_usage AS u WHERE u.message_type_id = v_type.message_type_id) THEN
        PERFORM ssb_internal.raise_bound('message type', name, 'contract');
    END IF;
    DELETE FROM ssb.message_type AS t WHERE t.message_type_id = v_type.message_type_id;
    IF NOT FOUND THEN                  -- as in alter_message_type
        PERFORM ssb_internal.raise_not_found('drop', 'message type', name);
    END IF;
    DELETE FROM ssb.permission AS p WHERE p.class = 'MESSAGE TYPE' AND p.major_id = v_type.message_type_id;
END;
$$;
