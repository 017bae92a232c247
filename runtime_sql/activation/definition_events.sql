-- Events of definitions, as messages of event notifications and as DDL triggers:
-- CREATE_TABLE, ALTER_QUEUE, DROP_SERVICE and so on, and the groups of events that contain
-- them. The definition is made and the event told in one transaction.
--
-- Service Broker's objects, schemas and databases have rows, whose triggers tell of them. The functions that change options of
-- databases, users, logins, roles, their members, what is granted, endpoints, certificates, master keys, XML schema collections
-- and extended properties tell of that themselves.
-- Of tables, views, modules and the like PostgreSQL's event triggers tell; they are made with
-- the first notification or DDL trigger that wants them, where the runtime's owner is a superuser.
--
-- Called by  triggers of the definitions' tables; PostgreSQL, after DDL

-- What is defined, what can become of it, and the groups of these events, the nearest first. is_relational: PostgreSQL's
-- event triggers tell of it. Bound when it is made, and put into the statements that call it.
CREATE OR REPLACE FUNCTION ssb_internal.definition_kinds()
RETURNS TABLE (kind text, actions text[], groups text[], is_relational boolean)
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT k.kind,
           CASE WHEN k.kind LIKE 'GDR\_%' THEN '{GRANT,DENY,REVOKE}'::text[] WHEN k.kind LIKE 'AUTHORIZATION\_%' THEN '{ALTER}'
                WHEN k.kind = 'ROLE_MEMBER' THEN '{ADD,DROP}' ELSE '{CREATE,ALTER,DROP}' END,
           CASE WHEN k.kind IN ('RENAME', 'ROLE_MEMBER') THEN '{}'::text[] ELSE ARRAY['DDL_' || k.kind || '_EVENTS'] END || k.above
           || CASE WHEN k.kind IN ('DATABASE', 'ENDPOINT', 'LOGIN', 'GDR_SERVER', 'AUTHORIZATION_SERVER') THEN 'DDL_SERVER_LEVEL_EVENTS'
                   ELSE 'DDL_DATABASE_LEVEL_EVENTS' END || 'DDL_EVENTS'::text,
           k.is_relational
      FROM (VALUES ('QUEUE', '{DDL_SSB_EVENTS}'::text[], false), ('SERVICE', '{DDL_SSB_EVENTS}', false),
                   ('CONTRACT', '{DDL_SSB_EVENTS}', false), ('MESSAGE_TYPE', '{DDL_SSB_EVENTS}', false),
                   ('ROUTE', '{DDL_SSB_EVENTS}', false), ('REMOTE_SERVICE_BINDING', '{DDL_SSB_EVENTS}', false),
                   ('BROKER_PRIORITY', '{DDL_SSB_EVENTS}', false), ('EVENT_NOTIFICATION', '{}', false),
                   ('SCHEMA', '{DDL_DATABASE_SECURITY_EVENTS}', false), ('DATABASE', '{}', false),
                   ('CERTIFICATE', '{DDL_DATABASE_SECURITY_EVENTS}', false), ('MASTER_KEY', '{DDL_DATABASE_SECURITY_EVENTS}', false),
                   ('ENDPOINT', '{}', false), ('XML_SCHEMA_COLLECTION', '{}', false),
                   ('EXTENDED_PROPERTY', '{}', false),
                   ('USER', '{DDL_DATABASE_SECURITY_EVENTS}', false), ('ROLE', '{DDL_DATABASE_SECURITY_EVENTS}', false),
                   ('APPLICATION_ROLE', '{DDL_DATABASE_SECURITY_EVENTS}', false),
                   ('ROLE_MEMBER', '{DDL_ROLE_EVENTS,DDL_DATABASE_SECURITY_EVENTS}', false),
                   ('GDR_DATABASE', '{DDL_DATABASE_SECURITY_EVENTS}', false),
                   ('AUTHORIZATION_DATABASE', '{DDL_DATABASE_SECURITY_EVENTS}', false), ('LOGIN', '{DDL_SERVER_SECURITY_EVENTS}', false),
                   ('GDR_SERVER', '{DDL_SERVER_SECURITY_EVENTS}', false), ('AUTHORIZATION_SERVER', '{DDL_SERVER_SECURITY_EVENTS}', false),
                   ('TABLE', '{DDL_TABLE_VIEW_EVENTS}', true), ('VIEW', '{DDL_TABLE_VIEW_EVENTS}', true),
                   ('INDEX', '{DDL_TABLE_VIEW_EVENTS}', true), ('PROCEDURE', '{}', true), ('FUNCTION', '{}', true),
                   ('TRIGGER', '{}', true), ('TYPE', '{}', true), ('SEQUENCE', '{}', true), ('SYNONYM', '{}', true),
                   ('RENAME', '{}', true)) AS k (kind, above, is_relational);
END;

-- The name of an event: GRANT_DATABASE has its kind's but for GDR.
CREATE OR REPLACE FUNCTION ssb_internal.event_of(p_action text, p_kind text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE p_kind WHEN 'RENAME' THEN 'RENAME' ELSE p_action || '_' || regexp_replace(p_kind, '^GDR_', '') END;

-- The event that something of the kind is created, altered or dropped, and its groups.
CREATE OR REPLACE FUNCTION ssb_internal.events_of(p_action text, p_kind text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT ssb_internal.event_of(p_action, k.kind) || k.groups
              FROM ssb_internal.definition_kinds() AS k WHERE k.kind = p_kind);
END;
$$;

-- Whether the event, or one of the group, occurs here; is_relational as above, of one at least.
CREATE OR REPLACE FUNCTION ssb_internal.event_occurs(p_event text, OUT occurs boolean, OUT is_relational boolean)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT count(*) > 0, coalesce(bool_or(k.is_relational), false) INTO occurs, is_relational
      FROM ssb_internal.definition_kinds() AS k
     WHERE p_event = ANY (k.groups)
        OR EXISTS (SELECT FROM unnest(k.actions) AS a (action) WHERE ssb_internal.event_of(a.action, k.kind) = p_event);
END;
$$;

-- Those of the events that do not occur here are told. PostgreSQL's event triggers are made
-- where they are wanted; false: they may not be.
CREATE OR REPLACE FUNCTION ssb_internal.watch_definitions(p_listener text, p_events text[])
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_event text;
    v_known record;
    v_silent text[] := '{}';
    v_is_watched boolean := EXISTS (SELECT FROM pg_event_trigger AS t WHERE t.evtname = 'pgsb_definitions');
BEGIN
    FOREACH v_event IN ARRAY p_events LOOP
        SELECT * INTO v_known FROM ssb_internal.event_occurs(v_event);
        IF v_known.is_relational AND NOT v_is_watched THEN
            BEGIN
                CREATE EVENT TRIGGER pgsb_definitions ON ddl_command_end EXECUTE FUNCTION ssb_internal.announce_statement();
                CREATE EVENT TRIGGER pgsb_drops ON sql_drop EXECUTE FUNCTION ssb_internal.announce_statement();
                v_is_watched := true;
            EXCEPTION WHEN insufficient_privilege THEN
                NULL;
            END;
        END IF;
        IF NOT v_known.occurs OR v_known.is_relational AND NOT v_is_watched THEN
            v_silent := v_silent || v_event;
            PERFORM ssb_internal.print(format('The event %s does not occur here: %s is stored, and does not fire for it.%s', v_event, p_listener,
                CASE WHEN v_known.occurs THEN ' It needs event triggers of PostgreSQL, and the runtime''s owner is no superuser.' ELSE '' END));
        END IF;
    END LOOP;
    RETURN v_silent = '{}';
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.watch_definitions(text, text[]) FROM PUBLIC;

-- ------------------------------------------------------------------ who is told

CREATE OR REPLACE FUNCTION ssb_internal.definitions_are_watched()
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ssb.event_notification AS n WHERE n.scope <> 'QUEUE')
        OR EXISTS (SELECT FROM ssb.ddl_trigger AS t WHERE NOT t.is_disabled);
END;
$$;

-- Sends the event to the notifications, and leaves it for the DDL triggers that it fires (activation/ddl_triggers.sql):
-- the number of what is left, or NULL.
CREATE OR REPLACE FUNCTION ssb_internal.tell_definition(p_events text[], p_database_id integer, p_data text)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_triggers integer[] := ARRAY(SELECT t.trigger_id FROM ssb.ddl_trigger AS t
                                   WHERE NOT t.is_disabled AND t.events && p_events AND (t.scope = 'SERVER' OR t.database_id = p_database_id));
    v_id bigint;
BEGIN
    PERFORM ssb_internal.fire_event(p_events, p_database_id, NULL, p_data);
    IF v_triggers <> '{}' THEN
        -- Whatever the caller has said of constraints: the triggers run after this.
        SET CONSTRAINTS ssb."DDL triggers have run" DEFERRED;
        INSERT INTO ssb.definition_event (ddl_triggers, event_data) VALUES (v_triggers, p_data) RETURNING event_id INTO v_id;
    END IF;
    RETURN v_id;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tell_definition(text[], integer, text) FROM PUBLIC;

-- The statement that this function's caller was called by, of the lines of the stack: the innermost,
-- or, p_is_own, the one that a routine of the T-SQL programmer runs. Without one it is the client's query.
-- The words around are in the server's language; each statement ends before a line with PL/pgSQL.
CREATE OR REPLACE FUNCTION ssb_internal.statement_of_stack(p_stack text, p_is_own boolean)
RETURNS text
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((
        SELECT regexp_replace(f.part[1], '^[^"«»„“”]*["«»„“”]\s*|(?: ;)?\s*["«»“”]$', '', 'g')
          FROM regexp_matches(p_stack, '\n([^\n]*["«»„“”](?:(?!\n[^\n]*PL/pgSQL).)*["«»“”])\n([^\n]*PL/pgSQL[^\n]*)', 'g') WITH ORDINALITY AS f (part, n)
         WHERE NOT p_is_own OR f.part[2] !~ '\m(?:ssb|ssb_internal|sys)\.\w+\('
         ORDER BY f.n LIMIT 1),
        -- Without the T-SQL that pgsb puts behind it: there is no other comment in that, so nothing else goes with it.
        regexp_replace(current_query(), '\s*/\* T-SQL:\n(?:(?!/\*|\*/).)*\*/$', ''));
$$;

-- The texts of T-SQL that may have the names as the programmer has written them: of the innermost module that is running, of the batch.
-- A client may say of the batch what it likes: but for the case of letters no name is another by that.
CREATE OR REPLACE FUNCTION ssb_internal.texts_of_stack(p_stack text)
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_module CONSTANT text[] := parse_ident(substring(p_stack FROM 'PL/pgSQL function (?!ssb_internal\.|sys\.)([^(\s]+\.[^(\s]+)\('), false);
BEGIN
    RETURN array_remove(ARRAY[ssb_internal.source_of(v_module[1], v_module[2]), nullif(current_setting('pgsb.text', true), ''),
                              substring(current_query() FROM '/\* T-SQL:\n(.*) \*/$')], NULL);
END;
$$;

-- What an event calls something: as the catalog has it under p_known, its name of now, else as one of the texts.
CREATE OR REPLACE FUNCTION ssb_internal.told_name(p_schema text, p_known text, p_name text, p_texts text[])
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_schema CONSTANT oid := (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = p_schema);
    v_spelled text := ssb_internal.spelled(coalesce(
        (SELECT obj_description(c.oid, 'pg_class') FROM pg_class AS c WHERE c.relnamespace = v_schema AND c.relname = p_known),
        (SELECT obj_description(f.oid, 'pg_proc') FROM pg_proc AS f WHERE f.pronamespace = v_schema AND f.proname = p_known LIMIT 1),
        (SELECT obj_description(t.oid, 'pg_type') FROM pg_type AS t WHERE t.typnamespace = v_schema AND t.typname = p_known)), p_name);
    v_text text;
BEGIN
    IF v_spelled <> p_name THEN
        RETURN v_spelled;
    END IF;
    FOREACH v_text IN ARRAY p_texts LOOP
        v_spelled := ssb_internal.name_in_text(v_text, ARRAY[p_schema, p_name], 1, true);
        IF v_spelled IS NOT NULL THEN
            RETURN v_spelled;
        END IF;
    END LOOP;
    RETURN p_name;
END;
$$;

-- A pattern in which {name} is a name, {routine} one with types.
CREATE OR REPLACE FUNCTION ssb_internal.statement_pattern(p_statement text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT replace(replace(p_statement, '{routine}', '{name}\((?:[\w., \[\]]|"(?:[^"\n]|"")*")*\)'),
                   '{name}', '(?:[[:alpha:]_][\w$]*|"(?:[^"\n]|"")*")(?:\.(?:[[:alpha:]_][\w$]*|"(?:[^"\n]|"")*"))*');
$$;

-- Whether the statement whose event trigger has this stack was executed by that function of the runtime itself and reads
-- like p_statement (statement_pattern). The stack shows statements as whoever wrote
-- them likes, with line breaks and what looks like our functions' lines. So nothing is believed but its beginning: the event
-- trigger's own line, then the statement, up to " ;" outside of quotation marks, without comments or line breaks, then the
-- line of the function. What else a statement may have written there is no SQL behind a semicolon, and was never executed.
CREATE OR REPLACE FUNCTION ssb_internal.is_executed_by(p_stack text, p_function text, p_statement text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_stack ~ format('^[^\n"]*\mssb_internal\.announce_statement\(\)[^\n"]*\n[^\n"«»„“”'']*["«„“”»][  ]?(?:%s) ;[  ]?["«»“”]\n'
                            '[^\n"«»„“”'']*PL/pgSQL[^\n"«»„“”'']*\m(?:ssb_internal|sys)\.(?:%s)\(',
                            ssb_internal.statement_pattern(p_statement), p_function);
$$;

-- ------------------------------------------------------------------ what has no trigger: principals, rights, keys, endpoints

-- What becomes of a securable: p_type is what the event calls it, p_details further elements. A login is no database's: master.
-- There may be passwords in the statement of a certificate or a master key: its strings are not told.
CREATE OR REPLACE FUNCTION ssb_internal.tell_of_securable(p_action text, p_kind text, p_database_id integer, p_schema text, p_name text, p_type text,
                                                          p_details text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_events text[] := ssb_internal.events_of(p_action, p_kind);
    v_database_id integer := coalesce(p_database_id, 1);
    v_stack text;
    v_statement text;
BEGIN
    IF ssb_internal.definitions_are_watched() THEN
        GET DIAGNOSTICS v_stack = PG_CONTEXT;
        v_statement := ssb_internal.statement_of_stack(v_stack, true);
        PERFORM ssb_internal.tell_definition(v_events, v_database_id, ssb_internal.event_instance(
            v_events[1], v_database_id, p_schema, p_name, p_type,
            CASE WHEN p_kind IN ('CERTIFICATE', 'MASTER_KEY') THEN regexp_replace(v_statement, '''(?:[^'']|'''')*''', '''******''', 'g')
                 ELSE v_statement END, p_details => p_details));
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tell_of_securable(text, text, integer, text, text, text, text) FROM PUBLIC;

-- One GRANT, DENY or REVOKE; the name of an object is PostgreSQL's.
CREATE OR REPLACE FUNCTION ssb_internal.tell_of_grant(p_verb text, p_class text, p_name text, p_database_id integer, p_privileges text[],
                                                      p_grantees text[], p_grantor text, p_grant_option boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_class text := CASE p_class WHEN 'OBJECT' THEN CASE (SELECT c.relkind FROM pg_class AS c WHERE c.oid = to_regclass(p_name))
                                                         WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'PROCEDURE' END
                                 ELSE p_class END;
    v_parts text[] := CASE WHEN p_class IN ('OBJECT', 'QUEUE') THEN parse_ident(ssb_internal.normal_name(p_name)) ELSE ARRAY[NULL, p_name] END;
BEGIN
    PERFORM ssb_internal.tell_of_securable(
        CASE p_verb WHEN 'GRANT OPTION' THEN 'REVOKE' ELSE p_verb END,
        CASE WHEN p_class IN ('SERVER', 'LOGIN', 'ENDPOINT') THEN 'GDR_SERVER' ELSE 'GDR_DATABASE' END, p_database_id, v_parts[1],
        CASE p_class WHEN 'DATABASE' THEN coalesce(p_name, ssb_internal.database_name(p_database_id))
                     WHEN 'SCHEMA' THEN ssb_internal.tsql_schema(p_name)
                     WHEN 'QUEUE' THEN (SELECT q.spelling FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_name))
                     WHEN 'OBJECT' THEN ssb_internal.told_name(v_parts[1], v_parts[2], v_parts[2], '{}')
                     ELSE v_parts[2] END, v_class,
        format('<Grantor>%s</Grantor><Permissions>%s</Permissions><Grantees>%s</Grantees><GrantOption>%s</GrantOption>',
               ssb_internal.xml_text(CASE ssb_internal.principal_id_of(p_grantor, p_database_id) WHEN 1 THEN 'dbo' ELSE p_grantor END),
               (SELECT string_agg(format('<Permission>%s</Permission>', ssb_internal.xml_text(lower(p.name COLLATE "C"))), '' ORDER BY p.n)
                  FROM unnest(p_privileges) WITH ORDINALITY AS p (name, n)),
               (SELECT string_agg(format('<Grantee>%s</Grantee>', ssb_internal.xml_text(g.name)), '' ORDER BY g.n)
                  FROM unnest(p_grantees) WITH ORDINALITY AS g (name, n)),
               (p_grant_option OR p_verb = 'GRANT OPTION')::integer));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tell_of_grant(text, text, text, integer, text[], text[], text, boolean) FROM PUBLIC;

-- ------------------------------------------------------------------ what has rows

CREATE OR REPLACE FUNCTION ssb_internal.announce_definition_event()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    v_kind text := TG_ARGV[0];
    v_schema text := CASE WHEN v_kind <> 'SCHEMA' THEN v_row ->> 'schema_name' END;
    v_name text := CASE WHEN v_kind = 'SCHEMA' THEN v_row ->> 'schema_name' ELSE coalesce(v_row ->> 'spelling', v_row ->> 'name') END;
    v_database_id integer := v_row ->> 'database_id';
    v_events text[] := ssb_internal.events_of(CASE TG_OP WHEN 'INSERT' THEN 'CREATE' WHEN 'DELETE' THEN 'DROP' ELSE 'ALTER' END, v_kind);
    v_stack text;
BEGIN
    GET DIAGNOSTICS v_stack = PG_CONTEXT;
    IF NOT ssb_internal.definitions_are_watched() OR v_database_id IS NULL
       -- CREATE QUEUE sets its options by an update of its own; CREATE DATABASE and DROP DATABASE change the schema dbo.
       OR (TG_OP = 'UPDATE' AND v_kind = 'QUEUE' AND (v_row ->> 'create_date')::timestamptz = now()
           AND v_stack ~ '\mssb_internal\.create_queue\(text,')
       OR (v_kind = 'SCHEMA' AND v_name = 'dbo')
       -- A notification whose dialog ended: ssb_internal.drop_notification_of.
       OR (v_kind = 'EVENT_NOTIFICATION' AND v_row -> 'events' = '[]') THEN
        RETURN NULL;
    END IF;
    PERFORM ssb_internal.tell_definition(v_events, v_database_id, ssb_internal.event_instance(
        v_events[1], v_database_id, v_schema, v_name, replace(v_kind, '_', ' '), ssb_internal.statement_of_stack(v_stack, true)));
    RETURN NULL;
END;
$$;

DO $$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT * FROM (VALUES ('queue', 'QUEUE', 'OR UPDATE OF is_retention_enabled'), ('service', 'SERVICE', 'OR UPDATE OF queue_id'),
                              ('contract', 'CONTRACT', 'OR UPDATE'), ('message_type', 'MESSAGE_TYPE', 'OR UPDATE'),
                              ('route', 'ROUTE', 'OR UPDATE'), ('remote_service_binding', 'REMOTE_SERVICE_BINDING', 'OR UPDATE'),
                              ('broker_priority', 'BROKER_PRIORITY', 'OR UPDATE'), ('event_notification', 'EVENT_NOTIFICATION', ''),
                              ('schema_of_database', 'SCHEMA', ''), ('database', 'DATABASE', '')) AS t (name, kind, updates)
    LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS announce_definition_event ON ssb.%I', v_table.name);
        EXECUTE format('CREATE TRIGGER announce_definition_event AFTER INSERT OR DELETE %s ON ssb.%I
                        FOR EACH ROW EXECUTE FUNCTION ssb_internal.announce_definition_event(%L)',
                       v_table.updates, v_table.name, v_table.kind);
    END LOOP;
END;
$$;

-- ------------------------------------------------------------------ what PostgreSQL tells of

-- What T-SQL statements defined or dropped, of what PostgreSQL reports of the one that just ended; name is
-- T-SQL's, the table's is not part of an index's (catalog_views/objects.sql).
-- Outside of an event trigger PostgreSQL's functions, and so this one, fail.
CREATE OR REPLACE FUNCTION ssb_internal.reported_definitions(p_event text, p_tag text)
RETURNS TABLE (action text, kind text, schema_name text, name text, target text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_event = 'sql_drop' THEN
        RETURN QUERY
        WITH dropped AS (SELECT d.* FROM pg_event_trigger_dropped_objects() AS d WHERE NOT d.is_temporary)
        SELECT 'DROP', CASE WHEN EXISTS (SELECT FROM dropped AS t WHERE t.object_type = 'trigger' AND d.object_type = 'function'
                                            AND t.address_names[3] = d.address_names[2]) THEN 'TRIGGER'
                            ELSE ssb_internal.definition_kind(d.object_type) END,
               i.schema_name, coalesce(substr(i.name, length(i.target) + 3), i.name),
               coalesce(i.target, (SELECT t.address_names[2] FROM dropped AS t
                                    WHERE t.object_type = 'trigger' AND d.object_type = 'function' AND t.address_names[3] = d.address_names[2] LIMIT 1))
          FROM dropped AS d
         CROSS JOIN LATERAL (SELECT coalesce(d.schema_name, d.address_names[1]) AS schema_name, coalesce(d.object_name, d.address_names[2]) AS name,
                (SELECT r.relname::text FROM pg_class AS r JOIN pg_namespace AS n ON n.oid = r.relnamespace
                  WHERE d.object_type = 'index' AND n.nspname = d.address_names[1] AND starts_with(d.address_names[2], r.relname || '__')
                  ORDER BY length(r.relname) DESC LIMIT 1) AS target) AS i
         WHERE d.original AND p_tag LIKE 'DROP %' AND ssb_internal.definition_kind(d.object_type) IS NOT NULL;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT CASE p_tag WHEN 'SELECT INTO' THEN 'CREATE' ELSE split_part(p_tag, ' ', 1) END, ssb_internal.definition_kind(c.object_type),
           coalesce(c.schema_name, n.nspname::text),
           coalesce(t.tgname, p.proname, y.typname, i.name, r.relname, k.conname)::text, coalesce(ti.relname, tr.relname, kr.relname)::text
      -- (CREATE OR REPLACE of a view that is there is reported twice.)
      FROM (SELECT d.classid, d.objid, d.object_type, d.schema_name, min(d.ordinality) AS n
              FROM pg_event_trigger_ddl_commands() WITH ORDINALITY AS d
             WHERE d.command_tag = p_tag AND p_tag ~ '^(CREATE|ALTER|SELECT INTO)\M'
             GROUP BY 1, 2, 3, 4) AS c
      LEFT JOIN pg_trigger AS t ON c.classid = 'pg_trigger'::regclass AND t.oid = c.objid
      LEFT JOIN pg_class AS tr ON tr.oid = t.tgrelid
      LEFT JOIN pg_namespace AS n ON n.oid = tr.relnamespace
      LEFT JOIN pg_proc AS p ON c.classid = 'pg_proc'::regclass AND p.oid = c.objid
      LEFT JOIN pg_constraint AS k ON c.classid = 'pg_constraint'::regclass AND k.oid = c.objid
      LEFT JOIN pg_class AS kr ON kr.oid = k.conrelid
      LEFT JOIN pg_type AS y ON c.classid = 'pg_type'::regclass AND y.oid = c.objid
      LEFT JOIN pg_class AS r ON c.classid = 'pg_class'::regclass AND r.oid = c.objid
      LEFT JOIN pg_index AS x ON x.indexrelid = r.oid
      LEFT JOIN pg_class AS ti ON ti.oid = x.indrelid
     CROSS JOIN LATERAL (SELECT CASE WHEN starts_with(r.relname, ti.relname || '__') THEN substr(r.relname, length(ti.relname) + 3) END AS name) AS i
     -- Triggers of the runtime (rowversion) are parts of tables, functions that return triggers of triggers.
     WHERE (t.oid IS NULL OR NOT ssb_internal.is_runtime_function(t.tgfoid))
       AND p.prorettype IS DISTINCT FROM 'trigger'::regtype
       AND coalesce(r.relpersistence, 'p') <> 't'
       AND ssb_internal.definition_kind(c.object_type) IS NOT NULL
     ORDER BY c.n;
END;
$$;

-- The kind of T-SQL's object, or column, that PostgreSQL's is; NULL: none.
CREATE OR REPLACE FUNCTION ssb_internal.definition_kind(p_object_type text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_object_type IN ('table', 'view', 'index', 'sequence', 'type', 'function', 'procedure', 'trigger') THEN upper(p_object_type COLLATE "C")
                WHEN p_object_type IN ('domain', 'composite type') THEN 'TYPE'
                WHEN p_object_type = 'table column' THEN 'COLUMN'
                WHEN p_object_type = 'table constraint' THEN 'CONSTRAINT' END;
$$;

-- Tells of what the statement defined, and returns what is to be fired; p_stack: by which other statement it was called.
CREATE OR REPLACE FUNCTION ssb_internal.announce_definitions(p_event text, p_tag text, p_stack text)
RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_object record;
    v_kind text;
    v_events text[];
    v_is_rename boolean := ssb_internal.is_executed_by(p_stack, 'rename_object',
        'ALTER (?:TABLE|INDEX) {name} RENAME (?:(?:COLUMN|CONSTRAINT) {name} )?TO {name}');
    v_is_transfer boolean := ssb_internal.is_executed_by(p_stack, 'transfer_object', 'ALTER (?:TABLE {name}|ROUTINE {routine}) SET SCHEMA {name}');
    v_is_synonym boolean := ssb_internal.is_executed_by(p_stack, 'create_synonym',
                                'CREATE VIEW {name} AS SELECT(?: \* FROM {name}| ssb_internal\.refuse_synonym\(''[^''\n]*''\))?')
                            OR ssb_internal.is_executed_by(p_stack, 'drop_synonym', 'DROP VIEW {name}');
    v_is_parking boolean := ssb_internal.is_executed_by(p_stack, 'drop_routine', 'ALTER ROUTINE {routine} RENAME TO {name}');
    v_is_alteration boolean;
    v_statement text := ssb_internal.statement_of_stack(p_stack, false);
    v_was text[];
    v_known text;
    v_renamed text;
    v_texts CONSTANT text[] := ssb_internal.texts_of_stack(p_stack);
BEGIN
    FOR v_object IN
        SELECT d.*, s.database_id FROM ssb_internal.reported_definitions(p_event, p_tag) AS d
          JOIN ssb.schema_of_database AS s ON s.name = d.schema_name
         -- No parts: the rows of a table variable, one event of a trigger.
         WHERE ssb_internal.without_part(d.name) = d.name AND NOT (strpos(d.name, '@') > 0 AND d.kind = 'TYPE' OR d.kind = 'VIEW' AND d.name LIKE '%@row')
           -- A queue's view: the queue's row tells of it.
           AND NOT (d.kind = 'VIEW' AND EXISTS (SELECT FROM ssb.queue AS q WHERE q.schema_name = d.schema_name AND q.relation_name = d.name))
    LOOP
        v_kind := CASE WHEN v_is_synonym THEN 'SYNONYM' ELSE v_object.kind END;
        IF v_kind IN ('COLUMN', 'CONSTRAINT') AND NOT v_is_rename THEN
            CONTINUE;
        END IF;
        v_is_alteration := false;
        IF v_kind = 'VIEW' AND v_object.action = 'CREATE' THEN
            CASE ssb_internal.state_of_waiting_view(v_object.schema_name, v_object.name)
                WHEN 'same' THEN CONTINUE;
                WHEN 'altered' THEN v_is_alteration := true;
                ELSE NULL;
            END CASE;
        END IF;
        IF v_is_parking THEN
            -- Its name has gone, which is all that can be seen of a DROP.
            v_object.action := 'DROP';
            v_object.name := (parse_ident(current_setting('pgsb.parked_routines')::jsonb -> replace(v_object.name, 'ssb_dropped_', '') ->> 1))[2];
        END IF;
        IF v_object.action IN ('CREATE', 'DROP') AND v_kind IN ('PROCEDURE', 'FUNCTION', 'VIEW', 'TRIGGER') THEN
            -- What is dropped, otherwise than to be made anew, is not altered any more.
            DELETE FROM ssb.altered_module AS a
             WHERE a.schema_name = v_object.schema_name AND a.name = v_object.name AND a.session_id = pg_backend_pid()
               AND a.noted_at >= (SELECT s.backend_start FROM pg_stat_get_activity(pg_backend_pid()) AS s);
            v_is_alteration := v_is_alteration OR FOUND AND v_object.action = 'CREATE';
        END IF;
        v_events := ssb_internal.events_of(CASE WHEN v_is_alteration THEN 'ALTER' ELSE v_object.action END,
                                           CASE WHEN v_is_rename THEN 'RENAME' WHEN v_is_transfer THEN 'SCHEMA' ELSE v_kind END);
        v_known := v_object.name;
        IF v_is_rename THEN
            -- It is told by its old name, a column as a part of its table.
            v_was := regexp_match(v_statement, ssb_internal.statement_pattern(
                '^ALTER (?:TABLE|INDEX) ({name}) RENAME (?:(?:COLUMN|CONSTRAINT) ({name}) )?TO ({name})$'));
            v_renamed := CASE v_kind WHEN 'COLUMN' THEN (parse_ident(v_was[3]))[1] ELSE v_object.name END;
            IF v_kind = 'COLUMN' THEN
                v_object.target := v_object.name;
            END IF;
            v_object.name := (SELECT CASE WHEN v_kind = 'INDEX' AND starts_with(i.name, v_object.target || '__')
                                          THEN substr(i.name, length(v_object.target) + 3) ELSE i.name END
                                FROM unnest(parse_ident(coalesce(v_was[2], v_was[1]))) WITH ORDINALITY AS i (name, n) ORDER BY i.n DESC LIMIT 1);
        END IF;
        RETURN NEXT ssb_internal.tell_definition(v_events, v_object.database_id, ssb_internal.event_instance(
            v_events[1], v_object.database_id, v_object.schema_name,
            ssb_internal.told_name(v_object.schema_name, v_known, v_object.name, v_texts), v_kind, v_statement,
            ssb_internal.told_name(v_object.schema_name, v_object.target, v_object.target, v_texts), CASE WHEN v_object.target IS NOT NULL THEN 'TABLE' END,
            '<NewObjectName>' || ssb_internal.xml_text(ssb_internal.told_name(v_object.schema_name, NULL, v_renamed, v_texts)) || '</NewObjectName>'));
    END LOOP;
END;
$$;

-- Whether the statement makes or drops a part of something, which T-SQL has no event for. These statements say themselves
-- what they do.
CREATE OR REPLACE FUNCTION ssb_internal.is_part_of_definition(p_stack text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.is_executed_by(p_stack, 'drop_routine|prepare_trigger', 'DROP ROUTINE {routine}(?: CASCADE)?')
        OR ssb_internal.is_executed_by(p_stack, 'drop_routine', 'ALTER PROCEDURE {routine} RENAME TO {name}')
        OR ssb_internal.is_executed_by(p_stack, 'drop_parked_routines', 'DROP PROCEDURE {routine}')
        OR ssb_internal.is_executed_by(p_stack, 'prepare_view|bind_view', 'DROP VIEW {name}')
        OR ssb_internal.is_executed_by(p_stack, 'prepare_trigger|drop_update_notes', 'DROP TRIGGER {name} ON {name}')
        OR ssb_internal.is_executed_by(p_stack, 'note_updates|drop_update_notes',
               'CREATE TRIGGER {name} AFTER UPDATE (?:OF {name} )?ON {name} FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal[.]note_update\((?:[, ]|E?''(?:[^''\n]|'''')*'')*\)')
        OR ssb_internal.is_executed_by(p_stack, 'drop_trigger_functions', 'DROP FUNCTION {routine}')
        OR ssb_internal.is_executed_by(p_stack, 'loosen_synonyms',
               'CREATE OR REPLACE VIEW {name} AS SELECT (?:[\w., ()\[\]:]|"(?:[^"\n]|"")*")* WHERE false')
        OR ssb_internal.is_executed_by(p_stack, 'bind_view', 'CREATE OR REPLACE VIEW {name} AS SELECT \* FROM {name}')
        OR ssb_internal.is_executed_by(p_stack, 'enable_trigger', 'ALTER TABLE {name} (?:ENABLE|DISABLE) TRIGGER {name}')
        OR ssb_internal.is_executed_by(p_stack, 'rename_indexes', 'ALTER INDEX {name} RENAME TO {name}')
        OR ssb_internal.is_executed_by(p_stack, 'add_rowversion', 'ALTER TABLE {name} ALTER COLUMN {name} (?:SET NOT NULL|TYPE bytea USING '
                                       'int8send[(]nextval[(]''sys\.rowversion_numbers''[)][)])')
        OR ssb_internal.is_executed_by(p_stack, 'check_identity', 'ALTER SEQUENCE {name} M(?:IN|AX)VALUE -?\d+')
        OR ssb_internal.is_executed_by(p_stack, 'restore_noted_module', 'ALTER (?:ROUTINE {routine}|VIEW {name}) OWNER TO {name}')
        OR ssb_internal.is_executed_by(p_stack, 'restore_noted_module', 'ALTER TABLE {name} DISABLE TRIGGER {name}')
        OR ssb_internal.is_executed_by(p_stack, 'restore_noted_module',
               'CREATE TRIGGER {name} (?:[\w., ()=<>]|"(?:[^"\n]|"")*"|''(?:[^''\n]|)*)* EXECUTE FUNCTION {name}\((?:[, ]|(?:[^
]|)*'')*\)');
$$;

-- Locks  none; what the DDL triggers do, they do as whoever runs the statement
CREATE OR REPLACE FUNCTION ssb_internal.announce_statement()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_stack text;
BEGIN
    IF NOT ssb_internal.definitions_are_watched() THEN
        RETURN;
    END IF;
    GET DIAGNOSTICS v_stack = PG_CONTEXT;
    IF ssb_internal.is_part_of_definition(v_stack) THEN
        RETURN;
    END IF;
    -- Not what else is left: this may be a part of a statement that the runtime's owner does for another.
    INSERT INTO ssb.ddl_trigger_firing (event_id) SELECT e.id FROM ssb_internal.announce_definitions(TG_EVENT, TG_TAG, v_stack) AS e (id);
END;
$$;
