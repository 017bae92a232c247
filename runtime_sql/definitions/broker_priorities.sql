-- BROKER PRIORITY: levels for endpoints made from now on; existing ones keep theirs.

-- Error 33303: the name, or what conversations the priority is for, is another one's.
CREATE OR REPLACE FUNCTION ssb_internal.raise_priority_exists(p_name text, p_contract text, p_local_service text, p_remote_service text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(33303, format('A conversation priority already exists in the database with either the name ''%s'' or '
        'the properties CONTRACT_NAME=''%s'', LOCAL_SERVICE_NAME=''%s'', and REMOTE_SERVICE_NAME=''%s''. Either use a unique name or a '
        'unique set of properties.', p_name, coalesce(p_contract, 'ANY'), coalesce(p_local_service, 'ANY'), coalesce(p_remote_service, 'ANY')));
END;
$$;

-- The numbers behind CONTRACT_NAME and LOCAL_SERVICE_NAME, which must exist.
DROP FUNCTION IF EXISTS ssb_internal.read_priority_match(integer, text, text, integer);
CREATE OR REPLACE FUNCTION ssb_internal.read_priority_match(p_name text, p_database_id integer, p_contract text, p_local_service text,
                                                            p_remote_service text, p_level integer, OUT contract_id integer,
                                                            OUT service_id integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    contract_id := (ssb_internal.find_contract(p_database_id, p_contract)).contract_id;
    service_id := (ssb_internal.find_service(p_database_id, p_local_service)).service_id;
    IF p_contract IS NOT NULL AND contract_id IS NULL THEN
        PERFORM ssb_internal.raise_not_found('find', 'contract', p_contract);
    ELSIF p_local_service IS NOT NULL AND service_id IS NULL THEN
        PERFORM ssb_internal.raise_not_found('find', 'service', p_local_service);
    ELSIF p_level NOT BETWEEN 1 AND 10 THEN
        PERFORM ssb_internal.raise_error(33302, format('The PRIORITY_LEVEL that is specified for conversation priority ''%s'' is not valid. '
                                                       'The value must be between 1 and 10.', p_name));
    ELSIF length(p_remote_service) NOT BETWEEN 1 AND 256 THEN
        PERFORM ssb_internal.raise_error(33301, format('The REMOTE_SERVICE_NAME that is specified for conversation priority ''%s'' is not '
                                                       'valid. The value must be between 1 and 256 characters long.', p_name));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_broker_priority(name text, contract text DEFAULT NULL,
    local_service text DEFAULT NULL, remote_service text DEFAULT NULL, priority_level integer DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_match record;
BEGIN
    PERFORM ssb_internal.require_definition_right('ALTER ANY BROKER PRIORITY', v_database_id);
    PERFORM ssb_internal.check_name(name);
    SELECT m.* INTO v_match FROM ssb_internal.read_priority_match(name, v_database_id, contract, local_service, remote_service, priority_level) AS m;
    IF EXISTS (SELECT FROM ssb.broker_priority AS p WHERE p.database_id = v_database_id AND lower(p.name) = lower(name)) THEN
        PERFORM ssb_internal.raise_priority_exists(name, contract, local_service, remote_service);
    END IF;
    INSERT INTO ssb.broker_priority (database_id, name, contract_id, service_id, remote_service, priority)
    VALUES (v_database_id, name, v_match.contract_id, v_match.service_id, remote_service, coalesce(priority_level, 5));
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_priority_exists(name, contract, local_service, remote_service);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.priority_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.broker_priority
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_priority ssb.broker_priority;
BEGIN
    SELECT p.* INTO v_priority FROM ssb.broker_priority AS p WHERE p.database_id = p_database_id AND lower(p.name) = lower(p_name);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'conversation priority', p_name);
    END IF;
    PERFORM ssb_internal.require_definition_right('ALTER ANY BROKER PRIORITY', p_database_id);
    RETURN v_priority;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_broker_priority(name text, contract text DEFAULT NULL,
    local_service text DEFAULT NULL, remote_service text DEFAULT NULL, priority_level integer DEFAULT NULL,
    any_contract boolean DEFAULT false, any_local_service boolean DEFAULT false,
    any_remote_service boolean DEFAULT false, default_level boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_priority ssb.broker_priority := ssb_internal.priority_to_change('alter', name, v_database_id);
    v_match record;
BEGIN
    SELECT m.* INTO v_match FROM ssb_internal.read_priority_match(name, v_database_id, contract, local_service, remote_service, priority_level) AS m;
    UPDATE ssb.broker_priority AS p
       SET contract_id = CASE WHEN any_contract THEN NULL ELSE coalesce(v_match.contract_id, p.contract_id) END,
           service_id = CASE WHEN any_local_service THEN NULL ELSE coalesce(v_match.service_id, p.service_id) END,
           remote_service = CASE WHEN any_remote_service THEN NULL ELSE coalesce(remote_service, p.remote_service) END,
           priority = CASE WHEN default_level THEN 5 ELSE coalesce(priority_level, p.priority) END
     WHERE p.priority_id = v_priority.priority_id;
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_priority_exists(name,
        CASE WHEN NOT any_contract THEN coalesce(contract, (SELECT c.name FROM ssb.contract AS c WHERE c.contract_id = v_priority.contract_id)) END,
        CASE WHEN NOT any_local_service THEN
                  coalesce(local_service, (SELECT s.name FROM ssb.service AS s WHERE s.service_id = v_priority.service_id)) END,
        CASE WHEN NOT any_remote_service THEN coalesce(remote_service, v_priority.remote_service) END);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_broker_priority(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_priority ssb.broker_priority := ssb_internal.priority_to_change('drop', name, ssb_internal.database_id_of(database));
BEGIN
    DELETE FROM ssb.broker_priority AS p WHERE p.priority_id = v_priority.priority_id;
END;
$$;
