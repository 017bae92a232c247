-- CREATE, ALTER, DROP DATABASE and SCHEMA: T-SQL databases are sets of schemas.

-- The schema, made now if it is the 'dbo' of a database or one that T-SQL made
-- known; any other must exist.
CREATE OR REPLACE FUNCTION ssb_internal.make_schema_on_demand(p_schema text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_database_id integer;
    v_error ssb.error;
BEGIN
    IF to_regnamespace(quote_ident(p_schema)) IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT d.database_id INTO v_database_id FROM ssb.database AS d WHERE d.schema_prefix || 'dbo' = p_schema;
    IF NOT FOUND THEN
        v_error := ssb_internal.no_schema_error(p_schema);
        PERFORM ssb_internal.raise_error(v_error.number, v_error.message, v_error.severity, v_error.state,
            -- A text that was compiled without knowing where it would run.
            hint => CASE WHEN p_schema = ssb_internal.lower_name(current_database() COLLATE "default") || '_dbo'
                         THEN format('%s is the default database here: pgsb compile --default-database %1$s, or without USE.', current_database()) END);
    END IF;
    EXECUTE format('CREATE SCHEMA %I', p_schema);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO PUBLIC', p_schema);
    INSERT INTO ssb.schema_of_database (name, database_id, schema_name) VALUES (p_schema, v_database_id, 'dbo')
    ON CONFLICT DO NOTHING;
    PERFORM ssb_internal.open_schema_to_owner(p_schema, d.owner) FROM ssb.database AS d WHERE d.database_id = v_database_id;
END;
$$;

-- Whoever owns a database makes tables and modules in its schemas, whoever owns a schema in that, and lets others do it; the
-- schemas themselves stay the runtime's, so that nobody drops a queue's view.
CREATE OR REPLACE FUNCTION ssb_internal.open_schema_to_owner(p_schema text, p_owner text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.role_of(p_owner) <> ssb_internal.runtime_owner() THEN
        EXECUTE format('GRANT CREATE, USAGE ON SCHEMA %I TO %I WITH GRANT OPTION', p_schema, ssb_internal.role_of(p_owner));
    END IF;
END;
$$;

-- ALTER AUTHORIZATION ON SCHEMA: the owner before makes nothing more there, nor those whom he let do it.
CREATE OR REPLACE FUNCTION ssb_internal.change_schema_owner(p_schema text, p_owner text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_former name := (SELECT ssb_internal.role_of(s.owner) FROM ssb.schema_of_database AS s JOIN ssb.database AS d USING (database_id)
                       WHERE s.name = p_schema AND ssb_internal.role_of(s.owner) <> ssb_internal.role_of(d.owner));
BEGIN
    IF v_former <> ssb_internal.runtime_owner() THEN
        EXECUTE format('REVOKE CREATE, USAGE ON SCHEMA %I FROM %I CASCADE', p_schema, v_former);
    END IF;
    UPDATE ssb.schema_of_database AS s SET owner = p_owner WHERE s.name = p_schema;
    PERFORM ssb_internal.open_schema_to_owner(p_schema, p_owner);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.change_schema_owner(text, text) FROM PUBLIC;

-- ALTER AUTHORIZATION ON DATABASE. What the owner before let others do they still may.
CREATE OR REPLACE FUNCTION ssb_internal.change_database_owner(p_database_id integer, p_owner text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_former name := (SELECT ssb_internal.role_of(d.owner) FROM ssb.database AS d WHERE d.database_id = p_database_id);
    v_schema name;
    v_grant record;
BEGIN
    IF p_database_id IN (1, 2, 3) THEN
        PERFORM ssb_internal.raise_error(15109, 'Cannot change the owner of the master, model, tempdb or distribution database.');
    END IF;
    UPDATE ssb.database AS d SET owner = p_owner WHERE d.database_id = p_database_id;
    FOR v_schema IN
        SELECT n.nspname FROM ssb.schema_of_database AS s JOIN pg_namespace AS n ON n.nspname = s.name
         WHERE s.database_id = p_database_id AND n.nspowner = quote_ident(ssb_internal.runtime_owner())::regrole
    LOOP
        IF v_former <> ssb_internal.runtime_owner() THEN
            FOR v_grant IN
                SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
                  FROM pg_namespace AS n CROSS JOIN aclexplode(n.nspacl) AS a
                 WHERE n.nspname = v_schema AND a.grantor = quote_ident(v_former)::regrole
            LOOP
                EXECUTE format('GRANT %s ON SCHEMA %I TO %s', v_grant.privilege_type, v_schema, v_grant.grantee);
            END LOOP;
            EXECUTE format('REVOKE CREATE, USAGE ON SCHEMA %I FROM %I CASCADE', v_schema, v_former);
        END IF;
        PERFORM ssb_internal.open_schema_to_owner(v_schema, p_owner);
        PERFORM ssb_internal.open_schema_to_owner(v_schema, s.owner) FROM ssb.schema_of_database AS s WHERE s.name = v_schema;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.open_schema_to_owner(text, text), ssb_internal.change_database_owner(integer, text) FROM PUBLIC;

-- For compiled scripts: before they create a table in a database's dbo.
CREATE OR REPLACE FUNCTION ssb_internal.ensure_schema(name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regnamespace(quote_ident(name)) IS NULL THEN
        PERFORM ssb_internal.require_definition_right('CREATE SCHEMA', ssb_internal.database_of_schema(name));
        PERFORM ssb_internal.make_schema_on_demand(name);
    END IF;
END;
$$;

-- A database's name stands before those of its schemas, whole: only so may they be told apart by it.
CREATE OR REPLACE FUNCTION ssb_internal.check_database_prefix(p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(ssb_internal.lower_name(p_name)) > 59 THEN
        PERFORM ssb_internal.raise_error(103, format('The identifier that starts with ''%s'' is too long. Maximum length is 59 bytes here.',
                                                     left(p_name, 59)), 15, 4, 'PostgreSQL''s schema names have at most 63 bytes.');
    END IF;
    PERFORM ssb_internal.check_schema_prefix(ssb_internal.lower_name(p_name) || '_', p_name);
END;
$$;

-- PostgreSQL lets nobody make a schema whose name begins with pg_.
CREATE OR REPLACE FUNCTION ssb_internal.check_schema_prefix(p_schema text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF starts_with(p_schema, 'pg_') THEN
        PERFORM ssb_internal.raise_error(2760, format('The specified schema name "%s" either does not exist or you do not have permission '
                                                      'to use it.', p_name),
                                         hint => 'PostgreSQL keeps names of schemas that begin with pg_ for itself: take another name.');
    END IF;
END;
$$;

-- 2714 where PostgreSQL has a schema already by a name that the new database would take for its own: one of another database
-- whose name is shorter, or a dbo that somebody else has made, with what he has put there.
CREATE OR REPLACE FUNCTION ssb_internal.check_schemas_of_prefix(p_prefix text, p_except integer DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_found record;
BEGIN
    SELECT n.nspname, d.name AS database, s.schema_name, pg_get_userbyid(n.nspowner) AS owner INTO v_found
      FROM pg_namespace AS n
      LEFT JOIN ssb.schema_of_database AS s ON s.name = n.nspname
      LEFT JOIN ssb.database AS d ON d.database_id = s.database_id
     WHERE starts_with(n.nspname, p_prefix) AND d.database_id IS DISTINCT FROM coalesce(p_except, 0)
       AND (length(d.schema_prefix) < length(p_prefix)
            OR d.database_id IS NULL AND n.nspname = p_prefix || 'dbo' AND pg_get_userbyid(n.nspowner) <> ssb_internal.runtime_owner())
     LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', v_found.nspname), 16, 6,
            CASE WHEN v_found.schema_name IS NULL THEN format('It is a PostgreSQL schema of %s.', v_found.owner)
                 ELSE format('So PostgreSQL calls the schema %s of %s.', v_found.schema_name, coalesce(v_found.database, current_database())) END);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_database(name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_id integer;
    v_prefix text := ssb_internal.lower_name(name) || '_';
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE DATABASE', 5);
    PERFORM ssb_internal.check_name(name);
    IF ssb_internal.find_database(name) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(1801, format('Database ''%s'' already exists. Choose a different database name.', name), 16, 3);
    END IF;
    PERFORM ssb_internal.check_database_prefix(name);
    PERFORM ssb_internal.check_schemas_of_prefix(v_prefix);
    v_id := nextval('ssb.database_id');
    INSERT INTO ssb.database (database_id, name, schema_prefix, owner, guid_made_in)
    VALUES (v_id, name, v_prefix, ssb_internal.caller(), ssb_internal.database_identity());
    INSERT INTO ssb.route (database_id, name, address, owner) VALUES (v_id, 'AutoCreatedLocal', 'LOCAL', 'dbo');
    PERFORM ssb_internal.make_schema_on_demand(v_prefix || 'dbo');
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_error(1801, format('Database ''%s'' already exists. Choose a different database name.', name), 16, 3);
END;
$$;

-- With every schema, table, queue and dialog in it. Dialogs that reach into other
-- databases end there with an Error.
CREATE OR REPLACE FUNCTION ssb_internal.drop_database(name text, if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_id integer := ssb_internal.find_database(name);
    v_schema text;
    v_service ssb.service;
    v_queue ssb.queue;
    v_endpoint ssb.conversation_endpoint;
    v_collection ssb.xml_schema_collection;
BEGIN
    IF v_id IS NULL THEN
        IF if_exists THEN
            RETURN;
        END IF;
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the database ''%s'', because it does not exist or you do not have '
                                                      'permission.', name), 11);
    ELSIF v_id <= 4 THEN
        PERFORM ssb_internal.raise_error(3708, format('Cannot drop the database ''%s'' because it is a system database.', name));
    ELSIF v_id = 5 OR v_id = ssb_internal.current_database_id() THEN
        PERFORM ssb_internal.raise_error(3702, format('Cannot drop database "%s" because it is currently in use.', name), 16, 3,
            CASE WHEN v_id = 5 THEN 'It is the default database, the PostgreSQL database itself.' END);
    END IF;
    PERFORM ssb_internal.require_permission('drop', 'DATABASE', v_id, name, 'CONTROL',
                                            (SELECT d.owner FROM ssb.database AS d WHERE d.database_id = v_id), v_id);
    -- Whoever makes something in it holds this row by a foreign key: what he has made is found below, and who comes later finds no database.
    PERFORM FROM ssb.database AS d WHERE d.database_id = v_id FOR UPDATE;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the database ''%s'', because it does not exist or you do not have '
                                                      'permission.', name), 11);
    END IF;
    -- As DROP SERVICE does.
    FOR v_service IN SELECT s.* FROM ssb.service AS s WHERE s.database_id = v_id ORDER BY s.service_id LOOP
        PERFORM ssb_internal.lock_service(v_service.service_id);
    END LOOP;
    PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e WHERE e.database_id = v_id), true);
    FOR v_endpoint IN SELECT e.* FROM ssb.conversation_endpoint AS e WHERE e.database_id = v_id LOOP
        PERFORM ssb_internal.tell_far_side_of_loss(v_endpoint);
        PERFORM ssb_internal.remove_endpoint(v_endpoint);
    END LOOP;
    DELETE FROM ssb.event_notification AS n WHERE n.database_id = v_id;
    DELETE FROM ssb.broker_priority AS p WHERE p.database_id = v_id;
    DELETE FROM ssb.service AS s WHERE s.database_id = v_id;
    PERFORM ssb_internal.unbind_views_elsewhere(v_id);
    FOR v_queue IN SELECT q.* FROM ssb.queue AS q WHERE q.database_id = v_id LOOP
        -- Views that select from it go as the schema's other objects do.
        PERFORM ssb_internal.loosen_synonyms(to_regclass(v_queue.name));
        EXECUTE format('DROP VIEW IF EXISTS %I.%I CASCADE', v_queue.schema_name, v_queue.relation_name);
        PERFORM ssb_internal.drop_queue(v_queue.name);
    END LOOP;
    DELETE FROM ssb.contract AS c WHERE c.database_id = v_id;
    DELETE FROM ssb.message_type AS t WHERE t.database_id = v_id;
    -- Synonyms in other databases outlive what they stand for.
    PERFORM ssb_internal.loosen_synonyms(c.oid::regclass)
       FROM (SELECT DISTINCT to_regclass(y.target)::oid AS oid FROM ssb_internal.synonym AS y) AS t
       JOIN pg_class AS c ON c.oid = t.oid
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
       JOIN ssb.schema_of_database AS s ON s.name = n.nspname AND s.database_id = v_id;
    FOR v_schema IN
        SELECT s.name FROM ssb.schema_of_database AS s WHERE s.database_id = v_id
           AND to_regnamespace(quote_ident(s.name)) IS NOT NULL
    LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', v_schema);
    END LOOP;
    FOR v_collection IN SELECT c.* FROM ssb.xml_schema_collection AS c WHERE c.database_id = v_id LOOP
        PERFORM ssb_internal.drop_typed_xml(v_collection);
    END LOOP;
    DELETE FROM ssb.view_binding AS b USING ssb.schema_of_database AS s WHERE s.database_id = v_id AND b.schema_name = s.name;
    DELETE FROM ssb.database AS d WHERE d.database_id = v_id;
END;
$$;

-- Refuses what is no option of a database, as the compiler does (compiler/builder/queries.py has the same list), and a value
-- where an option has none: ENABLE_BROKER with OFF would start the broker.
CREATE OR REPLACE FUNCTION ssb_internal.check_database_option(p_option text, p_value text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_without_value text[] := string_to_array(
        'DISABLE_BROKER EMERGENCY ENABLE_BROKER ERROR_BROKER_CONVERSATIONS MULTI_USER NEW_BROKER OFFLINE ONLINE READ_ONLY READ_WRITE '
        'RESTRICTED_USER SINGLE_USER', ' ');
    v_with_value text[] := string_to_array(
        'ACCELERATED_DATABASE_RECOVERY ALLOW_SNAPSHOT_ISOLATION ANSI_NULLS ANSI_NULL_DEFAULT ANSI_PADDING ANSI_WARNINGS ARITHABORT '
        'AUTOMATIC_TUNING AUTO_CLOSE AUTO_CREATE_STATISTICS AUTO_SHRINK AUTO_UPDATE_STATISTICS AUTO_UPDATE_STATISTICS_ASYNC '
        'CHANGE_TRACKING COMPATIBILITY_LEVEL CONCAT_NULL_YIELDS_NULL CONTAINMENT CURSOR_CLOSE_ON_COMMIT CURSOR_DEFAULT DATA_RETENTION '
        'DATE_CORRELATION_OPTIMIZATION DB_CHAINING DEFAULT_FULLTEXT_LANGUAGE DEFAULT_LANGUAGE DELAYED_DURABILITY ENCRYPTION FILESTREAM '
        'HADR HONOR_BROKER_PRIORITY LOCAL_DIALOG_SECURITY MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT MIXED_PAGE_ALLOCATION NAME '
        'NESTED_TRIGGERS NUMERIC_ROUNDABORT OPTIMIZED_LOCKING PAGE_VERIFY PARAMETERIZATION PARTNER PERSISTENT_LOG_BUFFER QUERY_STORE '
        'QUOTED_IDENTIFIER READ_COMMITTED_SNAPSHOT RECOVERY RECURSIVE_TRIGGERS REMOTE_DATA_ARCHIVE SUPPLEMENTAL_LOGGING '
        'SUSPEND_FOR_SNAPSHOT_BACKUP TARGET_RECOVERY_TIME TEMPORAL_HISTORY_RETENTION TORN_PAGE_DETECTION TRANSFORM_NOISE_WORDS '
        'TRUSTWORTHY TWO_DIGIT_YEAR_CUTOFF VARDECIMAL_STORAGE_FORMAT WITNESS', ' ');
BEGIN
    IF p_option = ANY (v_without_value) THEN
        IF p_value IS NOT NULL THEN
            PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_value), 15, 1, p_option || ' has no value.');
        END IF;
    ELSIF p_option IS NULL
          -- COLLATE, ADD FILE and the like are accepted and mean nothing here.
          OR p_option !~ '^(COLLATE|(ADD|MODIFY|REMOVE)( [A-Z_]+)?)$' AND p_option <> ALL (v_with_value) THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', coalesce(p_option, 'NULL')), 15, 1,
                                         'expected an option of databases, such as ENABLE_BROKER, TRUSTWORTHY or RECOVERY');
    END IF;
END;
$$;

-- ALTER DATABASE name SET option [value]; name NULL is CURRENT. Options that mean
-- something here take effect; the others are recorded, as SQL Server's scripts set
-- dozens of them.
CREATE OR REPLACE FUNCTION ssb_internal.alter_database(name text, option text, value text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_id integer := CASE WHEN name IS NULL THEN ssb_internal.current_database_id() ELSE ssb_internal.find_database(name) END;
    v_on boolean := CASE upper(value COLLATE "C") WHEN 'ON' THEN true WHEN 'OFF' THEN false END;
    v_option text := upper(option COLLATE "C");
    v_name text := ssb_internal.database_name(v_id);
BEGIN
    IF v_id IS NULL THEN
        PERFORM ssb_internal.raise_error(5011, format('User does not have permission to alter database ''%s'', the database does not exist, '
                                                      'or the database is not in a state that allows access checks.', name), 14, 5);
    END IF;
    PERFORM ssb_internal.require_permission('alter', 'DATABASE', v_id, ssb_internal.database_name(v_id), 'ALTER',
                                            (SELECT d.owner FROM ssb.database AS d WHERE d.database_id = v_id), v_id);
    PERFORM ssb_internal.check_database_option(v_option, value);
    IF v_option IN ('HONOR_BROKER_PRIORITY', 'TRUSTWORTHY', 'LOCAL_DIALOG_SECURITY') AND v_on IS NULL THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', coalesce(value, option)), 15, 1,
                                         option || ' is ON or OFF.');
    END IF;
    -- The system databases keep their availability, master and model stay without a broker, model and tempdb untrusted.
    IF v_id IN (1, 3) AND v_option IN ('ENABLE_BROKER', 'DISABLE_BROKER', 'NEW_BROKER', 'ERROR_BROKER_CONVERSATIONS')
       OR v_id <= 3 AND v_option IN ('OFFLINE', 'EMERGENCY')
       OR v_id <= 2 AND v_option IN ('READ_ONLY', 'RESTRICTED_USER', 'SINGLE_USER', 'READ_COMMITTED_SNAPSHOT') THEN
        PERFORM ssb_internal.raise_error(5058, format('Option ''%s'' cannot be set in database ''%s''.', v_option, ssb_internal.database_name(v_id)));
    ELSIF v_id IN (2, 3) AND v_option = 'TRUSTWORTHY' THEN
        PERFORM ssb_internal.raise_error(15309, 'Cannot alter the trustworthy state of the model or tempdb databases.');
    END IF;
    CASE v_option
    WHEN 'ENABLE_BROKER', 'DISABLE_BROKER' THEN
        UPDATE ssb.database AS d SET is_broker_enabled = (v_option = 'ENABLE_BROKER') WHERE d.database_id = v_id;
        PERFORM ssb_internal.refresh_queue(q.queue_id) FROM ssb.queue AS q WHERE q.database_id = v_id;
        IF v_option = 'ENABLE_BROKER' THEN
            PERFORM ssb_internal.deliver_waiting_for_queue(q.queue_id) FROM ssb.queue AS q WHERE q.database_id = v_id;
            PERFORM ssb_internal.deliver_waiting_from_database(v_id);
        ELSE
            UPDATE ssb.transmission AS t SET transmission_status = 'The broker is disabled in the sender''s database.'
             WHERE t.database_id = v_id AND t.peer_id IS NULL;
        END IF;
    WHEN 'NEW_BROKER' THEN
        -- A new identity: dialogs of the old one are gone, without a word to the far side.
        PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e WHERE e.database_id = v_id), false);
        PERFORM ssb_internal.remove_endpoint(e) FROM ssb.conversation_endpoint AS e WHERE e.database_id = v_id;
        UPDATE ssb.database AS d
           SET is_broker_enabled = true, service_broker_guid = gen_random_uuid(), guid_made_in = ssb_internal.database_identity()
         WHERE d.database_id = v_id;
        PERFORM ssb_internal.refresh_queue(q.queue_id) FROM ssb.queue AS q WHERE q.database_id = v_id;
    WHEN 'ERROR_BROKER_CONVERSATIONS' THEN
        PERFORM ssb_internal.lock_sides(ARRAY(SELECT e.endpoint_id FROM ssb.conversation_endpoint AS e
                                               WHERE e.database_id = v_id AND e.closed_at IS NULL), true);
        PERFORM ssb_internal.fail_endpoint(e.endpoint_id, -9719, 'The database for this conversation endpoint is attached or restored.')
           FROM ssb.conversation_endpoint AS e WHERE e.database_id = v_id AND e.closed_at IS NULL;
        PERFORM ssb_internal.fail_endpoint(f.endpoint_id, -9720, 'The database for the remote conversation endpoint is attached or restored.')
           FROM ssb.conversation_endpoint AS e
           JOIN ssb.conversation_endpoint AS f ON f.endpoint_id = e.far_endpoint_id
          WHERE e.database_id = v_id AND f.database_id <> v_id AND f.closed_at IS NULL;
        PERFORM ssb_internal.deliver_or_keep(e, 'http://schemas.microsoft.com/SQL/ServiceBroker/Error', ssb_internal.next_number(e), false, true,
                    ssb_internal.error_body(-9720, 'The database for the remote conversation endpoint is attached or restored.'))
           FROM ssb.conversation_endpoint AS e
           JOIN ssb.remote_conversation AS r ON r.endpoint_id = e.endpoint_id
          WHERE e.database_id = v_id AND e.closed_at IS NULL AND r.far_outcome IS NULL;
        UPDATE ssb.database AS d SET is_broker_enabled = true WHERE d.database_id = v_id;
        PERFORM ssb_internal.refresh_queue(q.queue_id) FROM ssb.queue AS q WHERE q.database_id = v_id;
    WHEN 'HONOR_BROKER_PRIORITY' THEN
        UPDATE ssb.database AS d SET is_honor_broker_priority_on = v_on WHERE d.database_id = v_id;
    WHEN 'TRUSTWORTHY' THEN
        UPDATE ssb.database AS d SET is_trustworthy_on = v_on WHERE d.database_id = v_id;
    WHEN 'NAME' THEN
        PERFORM ssb_internal.rename_database(v_id, value);
        PERFORM ssb_internal.print(format('The database name ''%s'' has been set.', value));
    WHEN 'LOCAL_DIALOG_SECURITY' THEN
        -- With ON, ENCRYPTION = ON wants keys for another database of the instance, too (make_target).
        UPDATE ssb.database AS d SET options = d.options || jsonb_build_object(v_option, upper(value COLLATE "C")) WHERE d.database_id = v_id;
        PERFORM ssb_internal.deliver_waiting_from_database(v_id);
    WHEN 'READ_WRITE' THEN
        UPDATE ssb.database AS d SET options = d.options - 'READ_ONLY' WHERE d.database_id = v_id;
    WHEN 'MULTI_USER', 'SINGLE_USER', 'RESTRICTED_USER' THEN
        UPDATE ssb.database AS d SET options = d.options - '{MULTI_USER,SINGLE_USER,RESTRICTED_USER}'::text[] || jsonb_build_object(v_option, value)
         WHERE d.database_id = v_id;
    WHEN 'ONLINE', 'OFFLINE', 'EMERGENCY' THEN
        UPDATE ssb.database AS d SET options = d.options - '{ONLINE,OFFLINE,EMERGENCY}'::text[] || jsonb_build_object(v_option, value)
         WHERE d.database_id = v_id;
    ELSE
        IF v_option = 'COMPATIBILITY_LEVEL' AND value NOT IN ('100', '110', '120', '130', '140', '150', '160') THEN
            PERFORM ssb_internal.raise_error(15048, 'Valid values of the database compatibility level are 100, 110, 120, 130, 140, 150, or 160.');
        END IF;
        UPDATE ssb.database AS d SET options = d.options || jsonb_build_object(v_option, value) WHERE d.database_id = v_id;
    END CASE;
    -- CREATE DATABASE sets options by statements of its own.
    IF EXISTS (SELECT FROM ssb.database AS d WHERE d.database_id = v_id AND d.create_date <> now()) THEN
        PERFORM ssb_internal.tell_of_securable('ALTER', 'DATABASE', v_id, NULL, v_name, 'DATABASE');
    END IF;
END;
$$;

-- MODIFY NAME: the schemas follow.
CREATE OR REPLACE FUNCTION ssb_internal.rename_database(p_database_id integer, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_prefix text := ssb_internal.lower_name(p_name) || '_';
    v_schema record;
BEGIN
    PERFORM ssb_internal.check_name(p_name);
    IF p_database_id < 5 THEN
        PERFORM ssb_internal.raise_error(5016, format('Cannot change the name of the system database %s.',
                                                      ssb_internal.database_name(p_database_id)));
    ELSIF ssb_internal.find_database(p_name) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(1801, format('Database ''%s'' already exists. Choose a different database name.', p_name), 16, 3);
    ELSIF p_database_id = 5 THEN
        PERFORM ssb_internal.raise_error(5030, 'The database could not be exclusively locked to perform the operation.', 16, 2,
                                         'The default database has the PostgreSQL database''s name: ALTER DATABASE … RENAME.');
    END IF;
    PERFORM ssb_internal.check_database_prefix(p_name);
    PERFORM ssb_internal.check_schemas_of_prefix(v_prefix, p_database_id);
    FOR v_schema IN
        SELECT s.name, sys.fold(v_prefix || sys.fold(s.schema_name)) AS new_name
          FROM ssb.schema_of_database AS s WHERE s.database_id = p_database_id
    LOOP
        EXECUTE format('ALTER SCHEMA %I RENAME TO %I', v_schema.name, v_schema.new_name);
        UPDATE ssb.queue AS q
           SET schema_name = v_schema.new_name, name = format('%I.%I', v_schema.new_name, q.relation_name)
         WHERE q.schema_name = v_schema.name;
        PERFORM ssb_internal.rename_typed_xml(c, v_schema.new_name)
           FROM ssb.xml_schema_collection AS c WHERE c.schema_name = v_schema.name;
        UPDATE ssb.xml_schema_collection AS c SET schema_name = v_schema.new_name WHERE c.schema_name = v_schema.name;
        UPDATE ssb.schema_of_database AS s SET name = v_schema.new_name WHERE s.name = v_schema.name;
    END LOOP;
    UPDATE ssb.database AS d SET name = p_name, schema_prefix = v_prefix WHERE d.database_id = p_database_id;
END;
$$;

-- What services of this database sent while its broker was off, or security that local dialogs need was missing.
CREATE OR REPLACE FUNCTION ssb_internal.deliver_waiting_from_database(p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_endpoint_id bigint;
BEGIN
    FOR v_endpoint_id IN
        SELECT DISTINCT t.endpoint_id FROM ssb.transmission AS t WHERE t.database_id = p_database_id ORDER BY 1
    LOOP
        IF ssb_internal.try_lock_endpoint(v_endpoint_id) THEN
            PERFORM ssb_internal.deliver_waiting(v_endpoint_id);
        END IF;
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_schema(name text, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_id integer := ssb_internal.database_id_of(database);
    v_schema text;
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE SCHEMA', v_id);
    PERFORM ssb_internal.check_name(name);
    -- Those of the system's principals.
    IF lower(name COLLATE "C") IN ('dbo', 'guest', 'sys', 'information_schema') THEN
        PERFORM ssb_internal.raise_error(2760, format('The specified schema name "%s" either does not exist or you do not have permission '
                                                      'to use it.', name));
    END IF;
    -- As the compiler spells it, however long it is.
    SELECT sys.fold(d.schema_prefix || sys.fold(name)) INTO v_schema FROM ssb.database AS d WHERE d.database_id = v_id;
    PERFORM ssb_internal.check_schema_prefix(v_schema, name);
    IF to_regnamespace(quote_ident(v_schema)) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', name), 16, 6);
    ELSIF ssb_internal.database_of_schema(v_schema) <> v_id
          AND starts_with(v_schema, (SELECT d.schema_prefix FROM ssb.database AS d WHERE d.database_id = v_id)) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', name), 16, 6,
            format('PostgreSQL would call it %s, as a schema of database %s.', v_schema,
                   ssb_internal.database_name(ssb_internal.database_of_schema(v_schema))));
    END IF;
    BEGIN
        EXECUTE format('CREATE SCHEMA %I', v_schema);
    EXCEPTION WHEN duplicate_schema OR unique_violation THEN    -- who made it was waited for
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', name), 16, 6);
    END;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO PUBLIC', v_schema);
    INSERT INTO ssb.schema_of_database (name, database_id, schema_name, owner)
    VALUES (v_schema, v_id, name, ssb_internal.owner_or_caller(owner, v_id));
    PERFORM ssb_internal.open_schema_to_owner(v_schema, o.owner)
       FROM (SELECT d.owner FROM ssb.database AS d WHERE d.database_id = v_id
             UNION SELECT s.owner FROM ssb.schema_of_database AS s WHERE s.name = v_schema) AS o;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_schema(name text, if_exists boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_id integer := ssb_internal.database_id_of(database);
    v_schema ssb.schema_of_database;
    v_object text;
BEGIN
    IF lower(name COLLATE "C") IN ('dbo', 'guest', 'sys', 'information_schema') THEN
        PERFORM ssb_internal.raise_error(15150, format('Cannot drop the schema ''%s''.', name));
    END IF;
    SELECT s.* INTO v_schema FROM ssb.schema_of_database AS s
     WHERE s.database_id = v_id AND lower(s.schema_name) = lower(name);
    IF NOT FOUND THEN
        IF NOT if_exists THEN
            PERFORM ssb_internal.raise_not_found('drop', 'schema', name);
        END IF;
        RETURN;
    END IF;
    PERFORM ssb_internal.require_definition_right('CREATE SCHEMA', v_id);
    EXECUTE format('DROP SCHEMA %I', v_schema.name);
    DELETE FROM ssb.schema_of_database AS s WHERE s.name = v_schema.name;
EXCEPTION WHEN dependent_objects_still_exist THEN
    v_object := ssb_internal.dependent_name('pg_namespace', to_regnamespace(format('%I', v_schema.name)));
    v_object := coalesce((SELECT q.spelling FROM ssb.queue AS q WHERE q.schema_name = v_schema.name AND q.relation_name = v_object), v_object);
    PERFORM ssb_internal.raise_error(3729, format('Cannot drop schema ''%s'' because it is being referenced by object ''%s''.', name, v_object));
END;
$$;
