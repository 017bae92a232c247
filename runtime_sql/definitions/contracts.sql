-- CREATE CONTRACT, DROP CONTRACT.
CREATE OR REPLACE FUNCTION ssb_internal.create_contract(name text, message_types text[], sent_by text[],
                                               owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_contract_id integer;
    v_type ssb.message_type;
    v_usage record;
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE CONTRACT', v_database_id);
    PERFORM ssb_internal.check_name(name);
    IF (ssb_internal.find_contract(v_database_id, name)).contract_id IS NOT NULL THEN
        PERFORM ssb_internal.raise_exists('contract', name);
    ELSIF coalesce(cardinality(message_types), 0) = 0 OR cardinality(message_types) IS DISTINCT FROM cardinality(sent_by)
          OR EXISTS (SELECT FROM unnest(sent_by) AS s WHERE s IS NULL OR upper(s COLLATE "C") NOT IN ('INITIATOR', 'TARGET', 'ANY')) THEN
        PERFORM ssb_internal.raise_error(102, 'Incorrect syntax near ''SENT BY''.', 15, 1,
                                         'Each message type is SENT BY INITIATOR, TARGET or ANY.');
    END IF;
    INSERT INTO ssb.contract (database_id, name, owner)
    VALUES (v_database_id, name, ssb_internal.owner_or_caller(owner, v_database_id))
    RETURNING contract_id INTO v_contract_id;
    FOR v_usage IN SELECT u.type_name, upper(u.sender COLLATE "C") AS sender FROM unnest(message_types, sent_by) AS u (type_name, sender) LOOP
        v_type := ssb_internal.find_message_type(v_database_id, v_usage.type_name);
        IF v_type.message_type_id IS NULL
           OR v_type.name <> 'DEFAULT'
              AND NOT ssb_internal.may_refer_to('MESSAGE TYPE', v_type.message_type_id, v_type.owner, v_database_id) THEN
            PERFORM ssb_internal.raise_not_found('find', 'message type', v_usage.type_name);
        END IF;
        INSERT INTO ssb.contract_message_usage
               (contract_id, message_type_name, message_type_id, is_sent_by_initiator, is_sent_by_target, validation)
        VALUES (v_contract_id, v_type.name, v_type.message_type_id, v_usage.sender IN ('INITIATOR', 'ANY'),
                v_usage.sender IN ('TARGET', 'ANY'), v_type.validation)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_error(8403, format('The message type ''%s'' is specified more than once.  '
                                                          'Remove the duplicate message type.', v_type.name));
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM ssb.contract_message_usage AS u
                    WHERE u.contract_id = v_contract_id AND u.is_sent_by_initiator) THEN
        PERFORM ssb_internal.raise_error(8492, format('The service contract ''%s'' must have at least one message '
                                                      'SENT BY INITIATOR or ANY.', name));
    END IF;
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_exists('contract', name);
END;
$$;

-- Dialogs on the contract cannot go on: both sides get an Error.
CREATE OR REPLACE FUNCTION ssb_internal.drop_contract(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_contract ssb.contract := ssb_internal.find_contract(v_database_id, name);
    v_endpoint_id bigint;
BEGIN
    IF v_contract.contract_id IS NULL THEN
        PERFORM ssb_internal.raise_not_found('drop', 'contract', name);
    ELSIF v_contract.database_id IS NULL THEN
        PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
    END IF;
    PERFORM ssb_internal.require_permission('drop', 'CONTRACT', v_contract.contract_id, name, 'ALTER', v_contract.owner, v_database_id);
    IF EXISTS (SELECT FROM ssb.service_contract_usage AS u WHERE u.contract_id = v_contract.contract_id) THEN
        PERFORM ssb_internal.raise_bound('contract', name, 'service');
    ELSIF EXISTS (SELECT FROM ssb.broker_priority AS p WHERE p.contract_id = v_contract.contract_id) THEN
        PERFORM ssb_internal.raise_bound('contract', name, 'conversation priority');
    END IF;
    PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                                           WHERE e.contract_id = v_contract.contract_id AND e.closed_at IS NULL AND NOT e.is_error), false);
    FOR v_endpoint_id IN
        SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
         WHERE e.contract_id = v_contract.contract_id AND e.closed_at IS NULL AND NOT e.is_error
    LOOP
        PERFORM ssb_internal.fail_endpoint(v_endpoint_id, -8487, 'The remote service contract has been dropped.');
    END LOOP;
    DELETE FROM ssb.contract AS c WHERE c.contract_id = v_contract.contract_id;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('drop', 'contract', name);
    END IF;
    DELETE FROM ssb.permission AS p WHERE p.class = 'CONTRACT' AND p.major_id = v_contract.contract_id;
END;
$$;
