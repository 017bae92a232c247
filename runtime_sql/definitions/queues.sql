-- CREATE, ALTER, DROP QUEUE, and the view by which a queue is visible.

-- The view under the queue's own name, with the columns of the CREATE QUEUE page.
-- A UNION: PostgreSQL refuses to write to it. The queue is chosen outside of it, where the planner can merge the
-- tables by their indexes: TOP (1) and EXISTS then read one message, however many there are.
CREATE OR REPLACE FUNCTION ssb_internal.make_queue_view(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id;
    EXECUTE format($view$
        CREATE OR REPLACE VIEW %1$I.%2$I (status, priority, queuing_order, conversation_group_id, conversation_handle,
            message_sequence_number, service_name, service_id, service_contract_name, service_contract_id,
            message_type_name, message_type_id, validation, message_body, message_enqueue_time) AS
        SELECT m.status, m.priority, m.queuing_order, e.conversation_group_id, e.conversation_handle,
               m.message_sequence_number, e.service_name, e.service_id, e.contract_name, e.contract_id,
               t.name, m.message_type_id, m.validation, m.body, m.enqueued_at::timestamp(3)
          FROM (SELECT 1::smallint AS status, s.queue_id, s.priority, s.queuing_order, s.endpoint_id, s.message_sequence_number,
                       s.message_type_id, s.validation, s.body, s.enqueued_at
                  FROM ssb.message_stored AS s
                UNION ALL
                SELECT r.status, r.queue_id, r.priority, r.queuing_order, r.endpoint_id, r.message_sequence_number,
                       r.message_type_id, r.validation, r.body, r.enqueued_at
                  FROM ssb.retained_message AS r) AS m
          JOIN ssb.conversation_endpoint AS e ON e.endpoint_id = m.endpoint_id AND e.closed_at IS NULL
          JOIN ssb.message_type AS t ON t.message_type_id = m.message_type_id
         WHERE m.queue_id = %3$L::integer
         ORDER BY m.priority DESC, m.queuing_order$view$,
        v_queue.schema_name, v_queue.relation_name, v_queue.queue_id);
END;
$$;

-- Queues that an older version made have this version's view: where its schema is, and nothing else has its name [316].
DO $$
BEGIN
    PERFORM ssb_internal.make_queue_view(q.queue_id)
       FROM ssb.queue AS q JOIN pg_namespace AS n ON n.nspname = q.schema_name
      WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = q.relation_name AND c.relkind <> 'v');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.is_accepting(p_state_sequence regclass)
RETURNS boolean
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT has_column_privilege('public', p_state_sequence, 'is_called', 'SELECT');
END;

-- Brings the copies that SEND and RECEIVE read up to date. Called whenever the
-- queue, its database's broker or a notification on it changes.
--
-- PUBLIC's SELECT on the state sequence says that the queue is plain: it accepts,
-- and retains nothing. SELECT on that sequence's column is_called, which comes with it, says that it accepts
-- (ssb_internal.is_accepting). A privilege is the quickest thing to look up that obeys
-- transactions; knowing it gives nobody anything.
CREATE OR REPLACE FUNCTION ssb_internal.refresh_queue(p_queue_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
    v_is_plain boolean;
BEGIN
    UPDATE ssb.queue AS q
       SET is_accepting = q.is_enqueue_enabled AND d.is_broker_enabled,
           is_watched = (q.is_activation_enabled AND q.is_receive_enabled)
                        OR EXISTS (SELECT FROM ssb.event_notification AS n WHERE n.queue_id = q.queue_id)
      FROM ssb.database AS d
     WHERE q.queue_id = p_queue_id AND d.database_id = q.database_id
    RETURNING q.* INTO v_queue;
    v_is_plain := v_queue.is_accepting AND NOT v_queue.is_retention_enabled;
    IF v_is_plain AND NOT has_sequence_privilege('public', v_queue.state_sequence, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON SEQUENCE %s TO PUBLIC', v_queue.state_sequence);
    ELSIF NOT v_is_plain AND has_sequence_privilege('public', v_queue.state_sequence, 'SELECT') THEN
        EXECUTE format('REVOKE SELECT ON SEQUENCE %s FROM PUBLIC', v_queue.state_sequence);
    END IF;
    IF v_queue.is_accepting AND NOT ssb_internal.is_accepting(v_queue.state_sequence) THEN
        EXECUTE format('GRANT SELECT (is_called) ON TABLE %s TO PUBLIC', v_queue.state_sequence);
    ELSIF NOT v_queue.is_accepting AND ssb_internal.is_accepting(v_queue.state_sequence) THEN
        EXECUTE format('REVOKE SELECT (is_called) ON TABLE %s FROM PUBLIC', v_queue.state_sequence);
    END IF;
END;
$$;

-- EXECUTE AS SELF | OWNER | 'user' to a name; NULL for OWNER. The caller must be
-- allowed to become that user: the daemon will.
CREATE OR REPLACE FUNCTION ssb_internal.read_execute_as(p_execute_as text, p_database_id integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_user text;
BEGIN
    IF p_execute_as IS NULL OR upper(p_execute_as COLLATE "C") = 'OWNER' THEN
        RETURN NULL;
    ELSIF upper(p_execute_as COLLATE "C") = 'SELF' THEN
        RETURN ssb_internal.caller();
    ELSIF p_execute_as !~ '^''.*''$' THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_execute_as), 15, 1,
                                         'EXECUTE AS takes SELF, OWNER or a user''s name in quotes.');
    END IF;
    v_user := ssb_internal.as_dbo(replace(substr(p_execute_as, 2, length(p_execute_as) - 2), '''''', ''''), p_database_id);
    PERFORM ssb_internal.require_principal(v_user, p_database_id);
    PERFORM ssb_internal.require_impersonation(v_user, p_database_id);
    RETURN v_user;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_impersonation(p_user text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT ssb_internal.may_act_as(p_user, p_database_id) THEN
        PERFORM ssb_internal.raise_error(15517, format('Cannot execute as the database principal because the principal "%s" does not '
            'exist, this type of principal cannot be impersonated, or you do not have permission.', p_user));
    END IF;
END;
$$;

-- Whether each database has a queue of the system's under that name.
CREATE OR REPLACE FUNCTION ssb_internal.is_system_queue(p_schema text, p_name text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.tsql_schema(p_schema) = 'dbo'
           AND lower(p_name COLLATE "C") IN (SELECT lower(s.queue_name COLLATE "C") FROM ssb_internal.system_service AS s);
END;
$$;

-- CREATE QUEUE makes a relation, with the owner's rights: in T-SQL's own schemas, else where the
-- caller could make one himself, and never among the runtime's.
CREATE OR REPLACE FUNCTION ssb_internal.require_schema(p_schema text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.is_system_schema(p_schema) OR starts_with(p_schema, 'pg_')
       OR (EXISTS (SELECT FROM ssb.schema_of_database AS s WHERE s.name = p_schema)
           OR has_schema_privilege(ssb_internal.caller(), to_regnamespace(quote_ident(p_schema)), 'CREATE')) IS NOT TRUE THEN
        PERFORM ssb_internal.raise_no_schema(p_schema);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_queue(queue text, status boolean DEFAULT NULL, retention boolean DEFAULT NULL,
    activation_status boolean DEFAULT NULL, activation_procedure text DEFAULT NULL,
    max_queue_readers integer DEFAULT NULL, execute_as text DEFAULT NULL,
    poison_message_handling boolean DEFAULT NULL, max_rollbacks integer DEFAULT NULL,
    quarantine boolean DEFAULT NULL, external_program text DEFAULT NULL, spelling text DEFAULT NULL,
    activation_spelling text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_name record;
    v_database_id integer;
    v_queue_id integer;
BEGIN
    IF activation_procedure IS NOT NULL AND external_program IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', external_program), 15, 1,
                                         'A queue activates a procedure or a program, not both.');
    ELSIF coalesce(max_queue_readers::text, execute_as) IS NOT NULL AND coalesce(activation_procedure, external_program) IS NULL
          AND activation_status IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', coalesce(max_queue_readers::text, execute_as)), 15, 1,
                                         'Activation needs a procedure or a program.');
    ELSIF coalesce(activation_procedure, external_program) IS NOT NULL AND max_queue_readers IS NULL THEN
        -- With none it would never start.
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', coalesce(activation_procedure, external_program)),
                                         15, 1, 'Activation needs max_queue_readers, MAX_QUEUE_READERS in T-SQL.');
    END IF;
    SELECT n.* INTO v_name FROM ssb_internal.split_name(queue) AS n;
    v_database_id := ssb_internal.database_of_schema(v_name.schema_name);
    PERFORM ssb_internal.require_definition_right('CREATE QUEUE', v_database_id);
    -- The relation's name is cut to PostgreSQL's length: the spelling is what was asked for.
    PERFORM ssb_internal.check_name(coalesce(spelling, v_name.object_name));
    IF v_name.object_name LIKE '#%' THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', v_name.object_name), 15, 1,
                                         'A queue cannot be temporary.');
    END IF;
    PERFORM ssb_internal.make_schema_on_demand(v_name.schema_name);
    PERFORM ssb_internal.require_schema(v_name.schema_name);
    IF ssb_internal.is_system_queue(v_name.schema_name, v_name.object_name)
       OR to_regclass(format('%I.%I', v_name.schema_name, v_name.object_name)) IS NOT NULL
       OR ssb_internal.is_name_taken(to_regnamespace(quote_ident(v_name.schema_name)), v_name.object_name) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                                      coalesce(spelling, v_name.object_name)), 16, 6);
    END IF;
    v_queue_id := nextval('ssb.object_id');
    -- 0, as queuing_order starts there.
    EXECUTE format('CREATE SEQUENCE ssb.%I MINVALUE 0', 'queue_order_' || v_queue_id);
    EXECUTE format('CREATE SEQUENCE ssb.%I MINVALUE 0', 'queue_state_' || v_queue_id);
    INSERT INTO ssb.queue AS q
           (queue_id, name, database_id, schema_name, relation_name, spelling, owner,
            is_receive_enabled, is_enqueue_enabled, is_retention_enabled,
            is_activation_enabled, activation_procedure, external_program, max_readers, execute_as,
            is_poison_handling_enabled, is_accepting, is_watched, order_sequence, state_sequence)
    VALUES (v_queue_id, format('%I.%I', v_name.schema_name, v_name.object_name), v_database_id,
            v_name.schema_name, v_name.object_name, coalesce(spelling, v_name.object_name), ssb_internal.caller(),
            coalesce(status, true), coalesce(status, true), coalesce(retention, false),
            false, NULL, NULL, 0, NULL,
            true, false, false,
            format('ssb.queue_order_%s', v_queue_id)::regclass, format('ssb.queue_state_%s', v_queue_id)::regclass);
    -- What a new queue activates is on where nothing else is said; ALTER QUEUE leaves it on or off.
    IF coalesce(activation_procedure, external_program) IS NOT NULL THEN
        activation_status := coalesce(activation_status, true);
    END IF;
    PERFORM ssb_internal.set_queue_options(v_queue_id, NULL, NULL, activation_status, activation_procedure, max_queue_readers,
                                           execute_as, false, poison_message_handling, max_rollbacks, quarantine, external_program,
                                           activation_spelling);
    PERFORM ssb_internal.make_queue_view(v_queue_id);
EXCEPTION WHEN unique_violation OR duplicate_table THEN
    PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.',
                                                  coalesce(spelling, v_name.object_name)), 16, 6);
END;
$$;

-- A procedure may come after its queue. One that is there must be such as can be activated: by CALL, with nothing given.
-- One of T-SQL has no parameters; PostgreSQL's own may have some with defaults, as ssb.end_recycled_dialogs has.
CREATE OR REPLACE FUNCTION ssb_internal.check_activation_procedure(p_name text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kind "char";
    v_has_parameters boolean;
    v_name text;
BEGIN
    IF p_name ~ '(^|[.])"##?' THEN
        PERFORM ssb_internal.raise_error(9742, format('The activation stored procedure ''%s'' is invalid. Temporary procedures may not be '
                                                      'configured for activation.', ssb_internal.tsql_spelling(p_name)));
    END IF;
    -- What T-SQL compiles to has one parameter that no script writes.
    SELECT p.prokind, CASE WHEN 'ssb.session'::regtype = ANY (p.proargtypes) THEN p.pronargs > 1 ELSE p.pronargs > p.pronargdefaults END,
           ssb_internal.tsql_schema(s.schema_name) || '.' || ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), p.proname)
      INTO v_kind, v_has_parameters, v_name
      FROM pg_proc AS p
      JOIN pg_namespace AS n ON n.oid = p.pronamespace
      JOIN ssb_internal.split_name(p_name) AS s ON n.nspname = s.schema_name AND p.proname = s.object_name
     ORDER BY p.prokind <> 'p', 2
     LIMIT 1;
    IF v_kind <> 'p' THEN
        PERFORM ssb_internal.raise_error(9620, format('The activation stored procedure ''%s'' is invalid. Functions are not allowed.',
                                                      v_name));
    ELSIF v_has_parameters THEN
        PERFORM ssb_internal.raise_error(9653, format('The signature of activation stored procedure ''%s'' is invalid. Parameters are not '
                                                      'allowed.', v_name));
    END IF;
END;
$$;

-- The options that CREATE and ALTER share. NULL leaves one as it is. p_activation_spelling: the procedure's name without
-- its schema, as the script has it, for one that comes later.
CREATE OR REPLACE FUNCTION ssb_internal.set_queue_options(p_queue_id integer, p_status boolean, p_retention boolean,
    p_activation_status boolean, p_activation_procedure text, p_max_readers integer, p_execute_as text,
    p_drop_activation boolean, p_poison boolean, p_max_rollbacks integer, p_quarantine boolean, p_program text,
    p_activation_spelling text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
    v_has_program boolean;
BEGIN
    SELECT q.* INTO STRICT v_queue FROM ssb.queue AS q WHERE q.queue_id = p_queue_id FOR NO KEY UPDATE;
    -- A queue that poison has stopped stays stopped, until STATUS = ON.
    IF NOT p_poison THEN
        PERFORM ssb_internal.disable_if_poisoned(v_queue);
    END IF;
    v_has_program := p_activation_procedure IS NOT NULL OR p_program IS NOT NULL
                     OR (NOT p_drop_activation AND coalesce(v_queue.activation_procedure, v_queue.external_program) IS NOT NULL);
    IF p_max_readers NOT BETWEEN 0 AND 32767 THEN
        PERFORM ssb_internal.raise_error(1080, format('The integer value %s is out of range.', p_max_readers), 15, 1,
                                         'MAX_QUEUE_READERS is 0 to 32767.');
    ELSIF p_max_rollbacks NOT BETWEEN 1 AND 250 THEN
        PERFORM ssb_internal.raise_error(1080, format('The integer value %s is out of range.', p_max_rollbacks), 15, 1,
                                         'MAX_ROLLBACKS is 1 to 250.');
    ELSIF p_activation_status AND NOT v_has_program THEN
        PERFORM ssb_internal.raise_error(9614, format('The queue ''%s'' cannot be activated because the activation stored procedure '
                                                      'is either not specified or is invalid.', v_queue.spelling));
    ELSIF v_has_program AND coalesce(p_activation_status, v_queue.is_activation_enabled)
          AND EXISTS (SELECT FROM ssb.event_notification AS n
                       WHERE n.queue_id = p_queue_id AND 'QUEUE_ACTIVATION' = ANY (n.events)) THEN
        PERFORM ssb_internal.raise_error(9717, format('Cannot enable stored procedure activation on queue ''%s''. Event notification for '
                                                      'queue_activation is already configured on this queue.', v_queue.spelling));
    END IF;
    IF p_activation_procedure IS NOT NULL THEN
        PERFORM ssb_internal.check_activation_procedure(p_activation_procedure);
    END IF;
    UPDATE ssb.queue AS q
       SET is_receive_enabled = coalesce(p_status, q.is_receive_enabled),
           is_enqueue_enabled = coalesce(p_status, q.is_enqueue_enabled),
           is_retention_enabled = coalesce(p_retention, q.is_retention_enabled),
           activation_procedure = CASE WHEN p_activation_procedure IS NOT NULL THEN ssb_internal.normal_name(p_activation_procedure)
                                       WHEN p_drop_activation OR p_program IS NOT NULL THEN NULL
                                       ELSE q.activation_procedure END,
           activation_spelling = CASE WHEN p_activation_procedure IS NOT NULL
                                      THEN (SELECT CASE WHEN EXISTS (SELECT FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace
                                                                      WHERE n.nspname = p.schema_name AND f.proname = p.object_name)
                                                        THEN ssb_internal.bracketed_name(format('%I.%I', p.schema_name, p.object_name))
                                                        WHEN p_activation_spelling IS NOT NULL
                                                        THEN format('%s.%s', ssb_internal.in_brackets(ssb_internal.tsql_schema(p.schema_name)),
                                                                    ssb_internal.in_brackets(ssb_internal.spelled(
                                                                        'T-SQL name: ' || p_activation_spelling, p.object_name))) END
                                              FROM ssb_internal.split_name(p_activation_procedure) AS p)
                                      WHEN p_drop_activation OR p_program IS NOT NULL THEN NULL
                                      ELSE q.activation_spelling END,
           external_program = CASE WHEN p_program IS NOT NULL THEN p_program
                                   WHEN p_drop_activation OR p_activation_procedure IS NOT NULL THEN NULL
                                   ELSE q.external_program END,
           is_activation_enabled = v_has_program AND coalesce(p_activation_status, q.is_activation_enabled),
           max_readers = CASE WHEN p_drop_activation THEN 0 ELSE coalesce(p_max_readers, q.max_readers) END,
           execute_as = CASE WHEN p_drop_activation THEN NULL
                             WHEN p_execute_as IS NULL THEN q.execute_as
                             ELSE ssb_internal.read_execute_as(p_execute_as, q.database_id) END,
           is_poison_handling_enabled = coalesce(p_poison, q.is_poison_handling_enabled),
           max_rollbacks = coalesce(p_max_rollbacks, q.max_rollbacks),
           is_quarantine_enabled = coalesce(p_quarantine, q.is_quarantine_enabled),
           modify_date = now()
     WHERE q.queue_id = p_queue_id
    RETURNING q.* INTO v_queue;
    -- Who may ALTER the queue of another must not have a program of his own run as that other.
    IF coalesce(p_activation_procedure, p_program, p_execute_as) IS NOT NULL THEN
        PERFORM ssb_internal.require_impersonation(coalesce(v_queue.execute_as, v_queue.owner), v_queue.database_id);
    END IF;
    -- Message 9648.
    IF v_queue.is_activation_enabled AND v_queue.max_readers = 0 AND coalesce(p_activation_status, p_max_readers IS NOT NULL) THEN
        PERFORM ssb_internal.print(format('The queue ''%s'' has been enabled for activation, but the MAX_QUEUE_READERS is zero. No procedures '
                                          'will be activated. Consider increasing the number of MAX_QUEUE_READERS.', v_queue.spelling));
    END IF;
    PERFORM ssb_internal.refresh_queue(p_queue_id);
END;
$$;

-- The queue that ALTER or DROP means.
CREATE OR REPLACE FUNCTION ssb_internal.queue_to_change(p_verb text, p_queue text)
RETURNS ssb.queue
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_queue);
    IF v_queue.queue_id IS NULL OR NOT ssb_internal.may_alter('QUEUE', v_queue.queue_id, v_queue.owner, v_queue.database_id) THEN
        IF (SELECT ssb_internal.is_system_queue(n.schema_name, n.object_name) FROM ssb_internal.split_name(p_queue) AS n) THEN
            PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
        ELSIF p_verb = 'drop' THEN
            PERFORM ssb_internal.refuse_another_kind('QUEUE', p_queue);
            PERFORM ssb_internal.raise_error(3701, format('Cannot drop the queue ''%s'', because it does not exist or you do not have '
                                                          'permission.', ssb_internal.bare_name(p_queue)), 11, 5);
        END IF;
        PERFORM ssb_internal.raise_not_found(p_verb, 'queue', p_queue);
    END IF;
    RETURN v_queue;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_queue(queue text, status boolean DEFAULT NULL, retention boolean DEFAULT NULL,
    activation_status boolean DEFAULT NULL, activation_procedure text DEFAULT NULL,
    max_queue_readers integer DEFAULT NULL, execute_as text DEFAULT NULL, drop_activation boolean DEFAULT false,
    poison_message_handling boolean DEFAULT NULL, max_rollbacks integer DEFAULT NULL,
    quarantine boolean DEFAULT NULL, external_program text DEFAULT NULL, activation_spelling text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_change('alter', queue);
BEGIN
    IF activation_procedure IS NOT NULL AND external_program IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', external_program), 15, 1,
                                         'A queue activates a procedure or a program, not both.');
    END IF;
    -- T-SQL's ALTER QUEUE without EXECUTE AS: the activation that is there says it.
    IF execute_as = '' THEN
        execute_as := NULL;
        IF coalesce(v_queue.activation_procedure, v_queue.external_program) IS NULL AND activation_status IS DISTINCT FROM false THEN
            PERFORM ssb_internal.raise_error(9613, format('The queue ''%s'' cannot be activated because the activation user is not specified.',
                                                          v_queue.spelling));
        END IF;
    END IF;
    IF coalesce(poison_message_handling::text, max_rollbacks::text, quarantine::text) IS NOT NULL THEN
        -- By what was in force until now: what the last rollback stopped stays so.
        PERFORM ssb_internal.disable_if_poisoned(v_queue);
    END IF;
    PERFORM FROM ssb.queue AS q WHERE q.queue_id = v_queue.queue_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('alter', 'queue', queue);
    END IF;
    PERFORM ssb_internal.set_queue_options(v_queue.queue_id, status, retention, activation_status, activation_procedure,
                                           max_queue_readers, execute_as, coalesce(drop_activation, false),
                                           poison_message_handling, max_rollbacks, quarantine, external_program, activation_spelling);
    IF status OR (poison_message_handling AND NOT v_queue.is_poison_handling_enabled) THEN
        PERFORM ssb_internal.pardon(v_queue);
    END IF;
    IF status THEN
        PERFORM ssb_internal.deliver_waiting_for_queue(v_queue.queue_id);
    END IF;
END;
$$;

-- ALTER QUEUE … REBUILD, REORGANIZE, MOVE TO: nothing here needs it.
CREATE OR REPLACE FUNCTION ssb.maintain_queue(queue text, action text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.queue_to_change('alter', queue);
    IF upper(action COLLATE "C") NOT IN ('REBUILD', 'REORGANIZE', 'MOVE') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', action), 15, 1);
    END IF;
END;
$$;

-- ALTER SCHEMA … TRANSFER of a queue. Rights that were given on it do not go with it, its owner stays.
-- Called by  ssb_internal.transfer_object
CREATE OR REPLACE FUNCTION ssb_internal.transfer_queue(p_schema text, p_queue text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_change('find', p_queue);
BEGIN
    PERFORM ssb_internal.require_schema(p_schema);
    IF ssb_internal.database_of_schema(p_schema) IS DISTINCT FROM v_queue.database_id THEN
        PERFORM ssb_internal.raise_not_found('alter', 'schema', ssb_internal.tsql_schema(p_schema));
    ELSIF p_schema = v_queue.schema_name THEN
        RETURN;
    ELSIF to_regclass(format('%I.%I', p_schema, v_queue.relation_name)) IS NOT NULL THEN
        PERFORM ssb_internal.raise_exists('object', v_queue.spelling);
    END IF;
    DELETE FROM ssb.permission AS p WHERE p.class = 'QUEUE' AND p.major_id = v_queue.queue_id;
    PERFORM ssb_internal.mirror_receive_grants(v_queue);
    UPDATE ssb.queue AS q
       SET schema_name = p_schema, name = format('%I.%I', p_schema, q.relation_name), modify_date = now()
     WHERE q.queue_id = v_queue.queue_id;
    EXECUTE format('ALTER VIEW %I.%I SET SCHEMA %I', v_queue.schema_name, v_queue.relation_name, p_schema);
END;
$$;

-- In the order in which a RECEIVE looks at them: of two that meet, one waits, and neither for ever. Views of the system and the
-- daemon look in another order, and are done in a moment. So the first tries give up before anybody finds a deadlock,
-- and then nothing is held. Who still uses the sequences after those is in a transaction that has received, and is waited for.
CREATE OR REPLACE FUNCTION ssb_internal.drop_sequences(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_timeout CONSTANT integer := (SELECT s.setting FROM pg_settings AS s WHERE s.name = 'lock_timeout');    -- 0: none
    v_patience integer;
BEGIN
    FOREACH v_patience IN ARRAY ARRAY[50, 100, 200, 400] LOOP
        EXIT WHEN v_timeout BETWEEN 1 AND v_patience;
        BEGIN
            PERFORM set_config('lock_timeout', v_patience::text, true);
            EXECUTE format('DROP SEQUENCE %s, %s', p_queue.state_sequence, p_queue.order_sequence);
            PERFORM set_config('lock_timeout', v_timeout::text, true);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            NULL;                      -- the setting is what it was
        END;
    END LOOP;
    EXECUTE format('DROP SEQUENCE %s, %s', p_queue.state_sequence, p_queue.order_sequence);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.drop_sequences(ssb.queue) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.drop_queue(queue text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_queue ssb.queue := ssb_internal.queue_to_change('drop', queue);
BEGIN
    IF EXISTS (SELECT FROM ssb.service AS s WHERE s.queue_id = v_queue.queue_id) THEN
        PERFORM ssb_internal.raise_bound('queue', v_queue.spelling, 'service');
    END IF;
    PERFORM ssb_internal.loosen_synonyms(to_regclass(format('%I.%I', v_queue.schema_name, v_queue.relation_name)));
    PERFORM ssb_internal.unbind_views('pg_class', to_regclass(format('%I.%I', v_queue.schema_name, v_queue.relation_name)));
    PERFORM ssb_internal.end_notification(n.conversation) FROM ssb.event_notification AS n WHERE n.queue_id = v_queue.queue_id;
    DELETE FROM ssb.event_notification AS n WHERE n.queue_id = v_queue.queue_id;
    DELETE FROM ssb.message_stored AS m WHERE m.queue_id = v_queue.queue_id;
    DELETE FROM ssb.retained_message AS r WHERE r.queue_id = v_queue.queue_id;
    -- As long as one is there, each RECEIVE looks whether it is its queue's.
    DELETE FROM ssb.urgent_conversation AS u WHERE u.queue_id = v_queue.queue_id;
    DELETE FROM ssb.claimed_front AS f WHERE f.queue_id = v_queue.queue_id;
    DELETE FROM ssb.quarantined_group AS g WHERE g.queue_id = v_queue.queue_id;
    PERFORM FROM ssb.queue AS q WHERE q.queue_id = v_queue.queue_id FOR UPDATE;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        v_queue := ssb_internal.queue_to_change('drop', queue);
    END IF;
    PERFORM ssb_internal.forget_attempts(v_queue);
    DELETE FROM ssb.permission AS p WHERE p.class = 'QUEUE' AND p.major_id = v_queue.queue_id;
    -- While the queue is there: it is what tells its view from others (activation/definition_events.sql).
    EXECUTE format('DROP VIEW IF EXISTS %I.%I', v_queue.schema_name, v_queue.relation_name);
    DELETE FROM ssb.queue AS q WHERE q.queue_id = v_queue.queue_id;
    PERFORM ssb_internal.drop_sequences(v_queue);
EXCEPTION WHEN dependent_objects_still_exist THEN
    PERFORM ssb_internal.raise_error(3729, format('Cannot DROP QUEUE ''%s'' because it is being referenced by object ''%s''.', v_queue.spelling,
        ssb_internal.dependent_name('pg_class', to_regclass(format('%I.%I', v_queue.schema_name, v_queue.relation_name)))));
END;
$$;
