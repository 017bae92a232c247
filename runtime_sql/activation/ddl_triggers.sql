-- DDL triggers run as whoever defines something, with his rights and no others, wherever the statement that tells
-- of it runs as the runtime's owner. What is told of is a row of ssb.definition_event, which only the owner writes.
-- The functions of DDL triggers are triggers of ssb.ddl_trigger_firing, an empty table: the caller's side inserts the number
-- of the event, the first trigger takes the event itself from ssb.definition_event, the next ones are the DDL triggers
-- that it fires, and the last one leaves no row. So
--
-- - they run with the rights of whoever inserts: triggers do;
-- - nobody can make up an event: what he inserts is a number, and of his own transaction's events only;
-- - nobody can call such a function otherwise: it is a trigger, and PUBLIC may not hang it on other tables;
-- - nobody can do without: an event that is left at the end of a transaction is an error.
--
-- Called by  the functions of definitions/statements.sql and definitions/permissions.sql; compiled CREATE, DROP, ENABLE and
--            DISABLE TRIGGER … ON DATABASE and ON ALL SERVER
-- Locks      ssb.ddl_trigger_firing, where a DDL trigger is made or dropped

-- Fires what this transaction has told of and not fired yet.
CREATE OR REPLACE FUNCTION ssb_internal.fire_ddl_triggers()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO ssb.ddl_trigger_firing (event_id) SELECT e.id FROM ssb_internal.events_to_fire() AS e (id);
END;
$$;

-- Those of other transactions are never seen: they are gone when these commit.
CREATE OR REPLACE FUNCTION ssb_internal.events_to_fire()
RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.event_id FROM ssb.definition_event AS e ORDER BY e.event_id;
$$;

-- The first trigger of a firing. A second firing of an event finds none.
CREATE OR REPLACE FUNCTION ssb_internal.take_definition_event()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM ssb.definition_event AS e WHERE e.event_id = NEW.event_id
    RETURNING e.ddl_triggers, e.event_data INTO NEW.ddl_triggers, NEW.event_data;
    RETURN CASE WHEN FOUND THEN NEW END;
END;
$$;

-- The last one.
CREATE OR REPLACE FUNCTION ssb_internal.end_firing()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END;
$$;

-- At the end of a transaction. Whoever has all rights of the runtime's owner writes the definitions' tables as he
-- likes; his triggers run now, as that owner. Nobody else comes here but by functions that he is not meant to call.
CREATE OR REPLACE FUNCTION ssb_internal.require_firing()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb.definition_event AS e WHERE e.event_id = NEW.event_id) THEN
        IF NOT pg_has_role(ssb_internal.caller(), current_user, 'USAGE') THEN
            PERFORM ssb_internal.raise_error(50000, 'Something was defined whose DDL triggers have not run.', 16, 1,
                                             'Call the functions of ssb, not those of ssb_internal.');
        END IF;
        INSERT INTO ssb.ddl_trigger_firing (event_id) VALUES (NEW.event_id);
    END IF;
    RETURN NULL;
END;
$$;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = 'ssb.definition_event'::regclass AND t.tgname = 'DDL triggers have run') THEN
        CREATE CONSTRAINT TRIGGER "DDL triggers have run" AFTER INSERT ON ssb.definition_event DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION ssb_internal.require_firing();
    END IF;
END;
$$;
-- They fire in the order of their names: those of a database before those of the server, the older ones first.
CREATE OR REPLACE TRIGGER "0 take" BEFORE INSERT ON ssb.ddl_trigger_firing FOR EACH ROW EXECUTE FUNCTION ssb_internal.take_definition_event();
CREATE OR REPLACE TRIGGER "2 end" BEFORE INSERT ON ssb.ddl_trigger_firing FOR EACH ROW EXECUTE FUNCTION ssb_internal.end_firing();

CREATE OR REPLACE FUNCTION ssb_internal.ddl_trigger_name(p_scope text, p_trigger_id integer)
RETURNS name
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('1 %s %s@', p_scope, lpad(p_trigger_id::text, 10, '0'))::name;
$$;

-- Only inside of a DDL trigger itself EVENTDATA() is something; the compiler writes it there.
CREATE OR REPLACE FUNCTION sys.eventdata()
RETURNS sys.xml
LANGUAGE sql IMMUTABLE
RETURN NULL::sys.xml;

-- ------------------------------------------------------------------ CREATE, DROP, ENABLE, DISABLE TRIGGER

-- Before the function of a DDL trigger is made. Its body will run as whoever defines something, a superuser
-- too: so only who has all rights of the runtime's owner may write one.
CREATE OR REPLACE FUNCTION ssb_internal.prepare_ddl_trigger(action text, name text, scope text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_exists boolean := ssb_internal.ddl_trigger_of(name, scope, ssb_internal.database_id_of(database)) IS NOT NULL;
BEGIN
    PERFORM ssb_internal.require_ddl_trigger_right();
    IF action = 'CREATE' AND v_exists THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', name), 16, 2);
    ELSIF action = 'ALTER' AND NOT v_exists THEN
        PERFORM ssb_internal.raise_error(208, format('Invalid object name ''%s''.', name), 16, 6);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_ddl_trigger_right()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_has_role(ssb_internal.caller(), current_user, 'USAGE') THEN
        PERFORM ssb_internal.raise_error(1088, 'Cannot find the object "DATABASE" because it does not exist or you do not have permissions.', 16, 120,
                                         'DDL triggers run as whoever defines something: only the owner of the runtime may make them.');
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.require_ddl_trigger_right() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.ddl_trigger_of(p_name text, p_scope text, p_database_id integer)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.trigger_id FROM ssb.ddl_trigger AS t
     WHERE lower(t.name) = lower(p_name) AND t.scope = p_scope AND (p_scope = 'SERVER' OR t.database_id = p_database_id);
$$;

-- What was kept is not the text of the trigger that comes now: its function has the module's name and the scope.
CREATE OR REPLACE FUNCTION ssb_internal.forget_ddl_trigger_source(p_function text)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.module_source AS m USING parse_ident(p_function) AS f (name)
     WHERE m.schema_name = f.name[1] AND ssb_internal.shortened(m.name, 49) = regexp_replace(f.name[2], '@(database|server)$', '');
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.forget_ddl_trigger_source(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.create_ddl_trigger(name text, scope text, events text[], function text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_id integer := ssb_internal.ddl_trigger_of(name, scope, v_database_id);
    v_events text[] := (SELECT array_agg(upper(e COLLATE "C")) FROM unnest(events) AS e);
    v_function regprocedure := (function || '()')::regprocedure;
BEGIN
    PERFORM ssb_internal.require_ddl_trigger_right();
    PERFORM ssb_internal.check_event_names(v_events, true);
    PERFORM ssb_internal.check_event_scope(v_events, scope);
    PERFORM ssb_internal.watch_definitions(format('the trigger "%s"', name), v_events);
    PERFORM ssb_internal.forget_ddl_trigger_source(function);
    IF v_id IS NULL THEN
        INSERT INTO ssb.ddl_trigger AS t (database_id, name, scope, events, function) VALUES (v_database_id, name, scope, v_events, function)
        RETURNING t.trigger_id INTO v_id;
    ELSE
        UPDATE ssb.ddl_trigger AS t SET events = v_events, function = function, is_disabled = false WHERE t.trigger_id = v_id;
        EXECUTE format('DROP TRIGGER IF EXISTS %I ON ssb.ddl_trigger_firing', ssb_internal.ddl_trigger_name(scope, v_id));
    END IF;
    EXECUTE format('CREATE TRIGGER %I BEFORE INSERT ON ssb.ddl_trigger_firing FOR EACH ROW WHEN (%s = ANY (NEW.ddl_triggers)) EXECUTE FUNCTION %s',
                   ssb_internal.ddl_trigger_name(scope, v_id), v_id, v_function);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_ddl_trigger(name text, scope text, if_exists boolean DEFAULT false, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_trigger ssb.ddl_trigger;
BEGIN
    PERFORM ssb_internal.require_ddl_trigger_right();
    DELETE FROM ssb.ddl_trigger AS t WHERE t.trigger_id = ssb_internal.ddl_trigger_of(name, scope, ssb_internal.database_id_of(database))
    RETURNING t.* INTO v_trigger;
    IF FOUND THEN
        PERFORM ssb_internal.forget_ddl_trigger_source(v_trigger.function);
        EXECUTE format('DROP TRIGGER IF EXISTS %I ON ssb.ddl_trigger_firing', ssb_internal.ddl_trigger_name(v_trigger.scope, v_trigger.trigger_id));
        IF to_regprocedure(v_trigger.function || '()') IS NOT NULL THEN
            EXECUTE format('DROP FUNCTION %s', to_regprocedure(v_trigger.function || '()'));
        END IF;
    ELSIF NOT if_exists THEN
        PERFORM ssb_internal.raise_error(3701, format('Cannot drop the trigger ''%s'', because it does not exist or you do not have permission.', name), 11, 5);
    END IF;
END;
$$;

-- ENABLE TRIGGER, DISABLE TRIGGER … ON DATABASE, ON ALL SERVER; no names: ALL.
CREATE OR REPLACE FUNCTION ssb_internal.enable_ddl_trigger(scope text, names text[], enable boolean, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_name text;
BEGIN
    PERFORM ssb_internal.require_ddl_trigger_right();
    FOREACH v_name IN ARRAY names LOOP
        IF ssb_internal.ddl_trigger_of(v_name, scope, v_database_id) IS NULL THEN
            PERFORM ssb_internal.raise_error(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.', v_name), 16, 120);
        END IF;
    END LOOP;
    UPDATE ssb.ddl_trigger AS t SET is_disabled = NOT enable
     WHERE t.scope = scope AND (scope = 'SERVER' OR t.database_id = v_database_id)
       AND (names = '{}' OR lower(t.name) IN (SELECT lower(n) FROM unnest(names) AS n));
END;
$$;
