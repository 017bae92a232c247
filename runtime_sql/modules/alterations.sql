-- What an ALTER of a module keeps, for which PostgreSQL drops it and makes it anew: owner, grants, descriptions, triggers.
--
-- Called by  ssb_internal.prepare_module, prepare_view (modules/prepare.sql) and prepare_trigger (modules/triggers.sql); compiled
--            ALTER and CREATE OR ALTER, behind the PostgreSQL statement

-- One spelling of a module's name, however a statement has it.
CREATE OR REPLACE FUNCTION ssb_internal.noted_name(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(quote_ident(n.part), '.' ORDER BY n.place) FROM unnest(parse_ident(p_name)) WITH ORDINALITY AS n (part, place);
$$;

-- What has to be as it was when a module is dropped to be made anew: its owner, who may use it, its description and extended
-- properties, a view's triggers. It stands in a table that nobody else writes, as the catalog has it: between the statements of an
-- ALTER code of others may run, DDL triggers for one, and what is noted is executed by whoever alters.
CREATE OR REPLACE FUNCTION ssb_internal.note_module(p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
    v_schema CONSTANT oid := to_regnamespace(quote_ident(ssb_internal.actual_schema(v_name[1])));
    v_view CONSTANT oid := (SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = v_schema AND c.relname = v_name[2] AND c.relkind = 'v');
BEGIN
    -- A DDL trigger may alter what is being altered: what was there before both is kept, and the ALTER that ends first has it back.
    -- Of a transaction before this one nothing is asked for any more, whatever it has noted: nobody fills the table.
    DELETE FROM ssb.noted_module AS m WHERE m.session_id = pg_backend_pid() AND m.noted_at < now();
    -- Of those whose ALTER came to nothing; nobody waits for another's.
    DELETE FROM ssb.noted_module AS m
     WHERE (m.session_id, m.name) IN (SELECT o.session_id, o.name FROM ssb.noted_module AS o
                                       WHERE o.noted_at < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED);
    INSERT INTO ssb.noted_module (session_id, name, parts)
        SELECT pg_backend_pid(), ssb_internal.noted_name(p_name), jsonb_agg(o.part)
          FROM (SELECT jsonb_build_object('name', p.proname, 'id', p.oid, 'owner', pg_get_userbyid(p.proowner), 'acl', p.proacl::text,
                           'comment', ssb_internal.comment_without_name(obj_description(p.oid, 'pg_proc')),
                           'trigger', (SELECT t.oid FROM pg_trigger AS t WHERE t.tgfoid = p.oid AND t.tgname = p.proname LIMIT 1)) AS part
                  FROM pg_proc AS p
                 WHERE p.pronamespace = v_schema AND ssb_internal.stem(p.proname) = ssb_internal.stem(v_name[2])
                UNION ALL
                SELECT jsonb_build_object('name', c.relname, 'id', c.oid, 'owner', pg_get_userbyid(c.relowner), 'acl', c.relacl::text,
                           'comment', ssb_internal.comment_without_name(obj_description(c.oid, 'pg_class')),
                           'columns', (SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'number', a.attnum, 'acl', a.attacl::text,
                                                           'comment', ssb_internal.comment_without_name(col_description(c.oid, a.attnum))))
                                         FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0),
                           'triggers', (SELECT jsonb_agg(jsonb_build_object('name', t.tgname, 'id', t.oid, 'disabled', t.tgenabled = 'D',
                                                            'text', pg_get_triggerdef(t.oid)) ORDER BY t.oid)
                                          FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal))
                  FROM pg_class AS c WHERE c.oid = v_view) AS o (part)
        HAVING count(*) > 0
    ON CONFLICT (session_id, name) DO NOTHING;
END;
$$;

-- NULL where nothing was there before. An ALTER is one transaction: what was noted before it was noted by a session that had the
-- same number, or came to nothing. Whoever calls this himself learns what the catalog tells everybody, and loses what his
-- own session has noted, no one else's.
CREATE OR REPLACE FUNCTION ssb_internal.take_noted_parts(p_name text)
RETURNS jsonb
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM ssb.noted_module AS m
     WHERE m.session_id = pg_backend_pid() AND m.name = ssb_internal.noted_name(p_name) AND m.noted_at >= now()
    RETURNING m.parts;
$$;

-- Behind the ALTER of a module, or CREATE OR ALTER: what was noted holds of what there is now.
CREATE OR REPLACE FUNCTION ssb_internal.restore_noted_module(p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts CONSTANT jsonb := ssb_internal.take_noted_parts(p_name);
    v_name CONSTANT text[] := parse_ident(p_name);
    v_schema CONSTANT oid := to_regnamespace(quote_ident(ssb_internal.actual_schema(v_name[1])));
    v_new record;
    v_part jsonb;
    v_item jsonb;
BEGIN
    IF v_parts IS NULL THEN
        RETURN;
    END IF;
    FOR v_new IN
        SELECT p.oid, p.proname AS name, 'ROUTINE' AS kind, p.oid::regprocedure::text AS shown, p.proowner AS owner,
               (SELECT t.oid FROM pg_trigger AS t WHERE t.tgfoid = p.oid AND t.tgname = p.proname LIMIT 1) AS trigger
          FROM pg_proc AS p WHERE p.pronamespace = v_schema AND ssb_internal.stem(p.proname) = ssb_internal.stem(v_name[2])
        UNION ALL
        SELECT c.oid, c.relname, 'VIEW', c.oid::regclass::text, c.relowner, NULL
          FROM pg_class AS c WHERE c.relnamespace = v_schema AND c.relname = v_name[2] AND c.relkind = 'v'
    LOOP
        -- A trigger's function for an event that is new has the owner of the others.
        v_part := (SELECT f.part FROM jsonb_array_elements(v_parts) AS f (part) ORDER BY f.part ->> 'name' <> v_new.name LIMIT 1);
        CONTINUE WHEN (v_part ->> 'id')::oid = v_new.oid;
        IF v_part ->> 'owner' <> pg_get_userbyid(v_new.owner) THEN
            EXECUTE format('ALTER %s %s OWNER TO %I ;', v_new.kind, v_new.shown, v_part ->> 'owner');
        END IF;
        IF v_part ->> 'comment' IS NOT NULL THEN
            EXECUTE format('COMMENT ON %s %s IS %L', v_new.kind, v_new.shown,
                concat_ws(chr(10), substring(obj_description(v_new.oid, CASE v_new.kind WHEN 'VIEW' THEN 'pg_class' ELSE 'pg_proc' END)
                                             FROM '^T-SQL name: [^\n]*(?:\nT-SQL parameters: [^\n]*)?'), v_part ->> 'comment'));
        END IF;
        PERFORM ssb_internal.grant_as_before(CASE v_new.kind WHEN 'VIEW' THEN 'TABLE' ELSE 'ROUTINE' END, v_new.shown, NULL, v_part ->> 'owner',
                                             (v_part ->> 'acl')::aclitem[]);
        PERFORM ssb_internal.move_properties((v_part ->> 'id')::bigint, v_new.oid::bigint, NULL, NULL);
        IF v_new.trigger IS NOT NULL THEN
            PERFORM ssb_internal.move_properties((v_part ->> 'trigger')::bigint, v_new.trigger::bigint, NULL, NULL);
        END IF;
        FOR v_item IN SELECT c.item FROM jsonb_array_elements(nullif(v_part -> 'columns', 'null')) AS c (item) LOOP
            CONTINUE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_new.oid AND a.attname = v_item ->> 'name');
            PERFORM ssb_internal.grant_as_before('TABLE', v_new.shown, v_item ->> 'name', v_part ->> 'owner', (v_item ->> 'acl')::aclitem[]);
            IF v_item ->> 'comment' IS NOT NULL THEN
                EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', v_new.shown, v_item ->> 'name',
                    (SELECT concat_ws(chr(10), substring(col_description(a.attrelid, a.attnum) FROM '^T-SQL name: [^\n]*'), v_item ->> 'comment')
                       FROM pg_attribute AS a WHERE a.attrelid = v_new.oid AND a.attname = v_item ->> 'name'));
            END IF;
            PERFORM ssb_internal.move_properties((v_part ->> 'id')::bigint, v_new.oid::bigint, (v_item ->> 'number')::integer,
                        (SELECT a.attnum FROM pg_attribute AS a WHERE a.attrelid = v_new.oid AND a.attname = v_item ->> 'name'));
        END LOOP;
        FOR v_item IN SELECT t.item FROM jsonb_array_elements(nullif(v_part -> 'triggers', 'null')) AS t (item) LOOP
            BEGIN
                EXECUTE (v_item ->> 'text') || ' ;';
            EXCEPTION WHEN undefined_column THEN
                CONTINUE;  -- it notes the UPDATE of a column that the view has no more
            END;
            IF (v_item ->> 'disabled')::boolean THEN
                EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I ;', v_new.shown, v_item ->> 'name');
            END IF;
            PERFORM ssb_internal.move_properties((v_item ->> 'id')::bigint, t.oid::bigint, NULL, NULL)
               FROM pg_trigger AS t WHERE t.tgrelid = v_new.oid AND t.tgname = v_item ->> 'name';
        END LOOP;
    END LOOP;
END;
$$;

-- And what uses it is bound to it.
CREATE OR REPLACE FUNCTION ssb_internal.finish_alteration(p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.restore_noted_module(p_name);
    PERFORM ssb_internal.bind_views();
END;
$$;

-- p_column NULL: of the whole object. Without an acl what PostgreSQL gives by itself.
CREATE OR REPLACE FUNCTION ssb_internal.grant_as_before(p_kind text, p_shown text, p_column text, p_owner text, p_acl aclitem[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_grant record;
    v_columns CONSTANT text := coalesce(' (' || quote_ident(p_column) || ')', '');
BEGIN
    IF p_acl IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format('REVOKE ALL%s ON %s %s FROM PUBLIC', v_columns, p_kind, p_shown);
    FOR v_grant IN
        SELECT a.privilege_type, a.is_grantable, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
          FROM aclexplode(p_acl) AS a
         WHERE a.grantee = 0 OR EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = a.grantee AND r.rolname <> p_owner)
    LOOP
        EXECUTE format('GRANT %s%s ON %s %s TO %s%s', v_grant.privilege_type, v_columns, p_kind, p_shown, v_grant.grantee,
                       CASE WHEN v_grant.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP;
END;
$$;

-- Extended properties know objects by number. Only of what is gone, to what is the caller's. With an object's own (no minor
-- number is given) go those of its parameters.
CREATE OR REPLACE FUNCTION ssb_internal.move_properties(p_old bigint, p_new bigint, p_old_minor integer, p_new_minor integer)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE ssb.extended_property AS e SET major_id = p_new, minor_id = coalesce(p_new_minor, e.minor_id)
     WHERE (e.class = 1 AND e.minor_id = coalesce(p_old_minor, 0) OR p_old_minor IS NULL AND e.class = 2)
       AND e.major_id = p_old AND e.numbered_in = 'ssb'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = p_old::oid)
       AND NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = p_old::oid)
       AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.oid = p_old::oid)
       AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.oid = p_old::oid)
       AND NOT EXISTS (SELECT FROM pg_attrdef AS d WHERE d.oid = p_old::oid)
       AND NOT EXISTS (SELECT FROM ssb.queue AS q WHERE q.queue_id = e.major_id)
       AND NOT EXISTS (SELECT FROM ssb_internal.system_service AS s WHERE s.queue_id = e.major_id)
       AND NOT EXISTS (SELECT FROM ssb.event_notification AS n WHERE n.notification_id = e.major_id)
       AND NOT EXISTS (SELECT FROM ssb.ddl_trigger AS t WHERE t.trigger_id = e.major_id)
       AND EXISTS (SELECT FROM (SELECT c.oid, c.relowner FROM pg_class AS c
                                UNION ALL SELECT p.oid, p.proowner FROM pg_proc AS p
                                UNION ALL SELECT t.oid, c.relowner FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid) AS o (id, owner)
                    WHERE o.id = p_new::oid AND pg_has_role(ssb_internal.caller(), o.owner, 'USAGE'));
END;
$$;

-- PostgreSQL creates anew what T-SQL alters: for the event of it (activation/definition_events.sql). Who may alter a
-- module, and that it is there, is looked up here: nobody makes the event of a new module that of an old one.
CREATE OR REPLACE FUNCTION ssb_internal.note_alteration(p_name text, p_exists boolean)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    IF v_name[1] = 'pg_temp' OR NOT ssb_internal.definitions_are_watched() THEN
        RETURN;
    END IF;
    INSERT INTO ssb.altered_module (schema_name, name, session_id)
    SELECT v_name[1], v_name[2], pg_backend_pid()
     WHERE p_exists
       AND EXISTS (SELECT FROM pg_namespace AS n
                    WHERE n.nspname = v_name[1]
                      AND (EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = n.oid AND p.proname = v_name[2]
                                                              AND pg_has_role(ssb_internal.caller(), p.proowner, 'USAGE'))
                           OR EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = v_name[2] AND c.relkind = 'v'
                                                                  AND pg_has_role(ssb_internal.caller(), c.relowner, 'USAGE'))))
    ON CONFLICT (schema_name, name) DO UPDATE SET session_id = excluded.session_id, noted_at = excluded.noted_at;
END;
$$;
