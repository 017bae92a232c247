-- Parts of tables and modules: columns of indexes, defaults, foreign keys' columns,
-- identity and computed columns, parameters, extended properties. PostgreSQL's catalog
-- knows them; names are the folded ones.

CREATE OR REPLACE VIEW sys.index_columns AS
SELECT i.indrelid::integer AS object_id, n.index_id, k.place::integer AS index_column_id, i.indkey[k.place - 1]::integer AS column_id,
       CASE WHEN k.place <= i.indnkeyatts THEN k.place ELSE 0 END::smallint AS key_ordinal, 0::smallint AS partition_ordinal,
       (coalesce(i.indoption[k.place - 1], 0) & 1)::sys.bit AS is_descending_key,
       (k.place > i.indnkeyatts)::integer::sys.bit AS is_included_column
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indexrelid
  JOIN ssb_internal.numbered_index AS n ON n.indexrelid = i.indexrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
  CROSS JOIN LATERAL generate_series(1, i.indnatts) AS k (place)
 ORDER BY 1, 2, 3;

CREATE OR REPLACE VIEW sys.default_constraints AS
SELECT d.spelling AS name, d.oid::integer AS object_id, NULL::integer AS principal_id, v.schema_id, d.relation::integer AS parent_object_id,
       'D'::char(2) AS type, 'DEFAULT_CONSTRAINT'::text AS type_desc, NULL::timestamp(3) AS create_date,
       NULL::timestamp(3) AS modify_date, 0::sys.bit AS is_ms_shipped, 0::sys.bit AS is_published, 0::sys.bit AS is_schema_published,
       d.number::integer AS parent_column_id,
       ssb_internal.default_definition(d.oid) COLLATE "C" AS definition,
       d.is_system_named::integer::sys.bit AS is_system_named
  FROM ssb_internal.column_default AS d
  JOIN ssb_internal.visible_schema AS v ON v.oid = d.namespace
 ORDER BY 2;

CREATE OR REPLACE VIEW sys.foreign_key_columns AS
SELECT k.oid::integer AS constraint_object_id, n.place::integer AS constraint_column_id, k.conrelid::integer AS parent_object_id,
       k.conkey[n.place]::integer AS parent_column_id, k.confrelid::integer AS referenced_object_id,
       k.confkey[n.place]::integer AS referenced_column_id
  FROM pg_constraint AS k
  JOIN ssb_internal.visible_schema AS v ON v.oid = k.connamespace
  CROSS JOIN LATERAL generate_series(1, cardinality(k.conkey)) AS n (place)
 WHERE k.contype = 'f'
 ORDER BY 1, 2;

CREATE OR REPLACE VIEW sys.identity_columns AS
SELECT c.*, s.seqstart AS seed_value, s.seqincrement AS increment_value,
       (SELECT q.last_value FROM pg_sequences AS q WHERE q.schemaname = n.nspname AND q.sequencename = r.relname) AS last_value,
       0::sys.bit AS is_not_for_replication
  FROM sys.columns AS c
  -- Looked up, not joined: the planner takes a join by so many conditions for a row, and then who joins this view to another
  -- has the other one read whole for each column. For the same reason not is_identity = 1.
  JOIN pg_sequence AS s ON s.seqrelid = (SELECT d.objid FROM pg_depend AS d
                                          WHERE d.refobjid = c.object_id::oid AND d.refobjsubid = c.column_id AND d.deptype IN ('i', 'a')
                                            AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
                                            AND EXISTS (SELECT FROM pg_sequence AS q WHERE q.seqrelid = d.objid)
                                          LIMIT 1)
  JOIN pg_class AS r ON r.oid = s.seqrelid
  JOIN pg_namespace AS n ON n.oid = r.relnamespace
 WHERE c.is_identity > 0;

CREATE OR REPLACE VIEW sys.computed_columns AS
SELECT c.*, (SELECT '(' || pg_get_expr(d.adbin, d.adrelid) || ')' FROM pg_attrdef AS d
              WHERE d.adrelid = c.object_id::oid AND d.adnum = c.column_id) AS definition,
       1::sys.bit AS uses_database_collation, 1::sys.bit AS is_persisted
  FROM sys.columns AS c WHERE c.is_computed > 0;

-- The types that the text of a module declares for its parameters, which PostgreSQL's catalog keeps without their lengths; place 0 is
-- what a function returns. No row for a type of the user, nor where the text was not kept.
CREATE OR REPLACE FUNCTION ssb_internal.declared_types(p_routine oid, p_parameters text[])
RETURNS TABLE (place integer, name text, max_length integer, "precision" integer, scale integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    c_type CONSTANT text := '\s+(?:AS\s+)?(?:\[?sys\]?\s*\.\s*)?(?:\[(\w+)\]|(\w+)\M)(?!\s*\.)\s*(?:\(\s*(max|\d+)\s*(?:,\s*(\d+)\s*)?\))?';
    v_text text := (SELECT ssb_internal.source_of(n.nspname, p.proname) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                     WHERE p.oid = p_routine);
    v_found text[];
    v_size integer;
BEGIN
    IF v_text IS NULL THEN
        RETURN;
    END IF;
    v_text := regexp_replace(v_text, '--[^\n]*|/\*.*?\*/|''(?:[^'']|'''')*''', ' ', 'g');
    FOR v_place IN 0 .. cardinality(p_parameters) LOOP
        place := v_place;
        v_found := regexp_match(v_text, CASE WHEN place = 0 THEN '\)\s*RETURNS'
                                             ELSE '@' || replace(p_parameters[place], '$', '\$') || '(?![\w@#$])' END || c_type, 'i');
        name := lower(coalesce(v_found[1], v_found[2]) COLLATE "C");
        name := CASE name WHEN 'integer' THEN 'int' WHEN 'dec' THEN 'decimal' WHEN 'character' THEN 'char' WHEN 'rowversion' THEN 'timestamp'
                          ELSE name END;
        v_size := CASE lower(v_found[3] COLLATE "C") WHEN 'max' THEN -1 ELSE v_found[3]::integer END;
        IF name = 'float' AND v_size <= 24 THEN
            name := 'real';
        END IF;
        SELECT t.max_length, t.precision, t.scale INTO max_length, "precision", scale FROM ssb_internal.system_type AS t WHERE t.name = name;
        CONTINUE WHEN NOT FOUND;
        CASE
            WHEN name IN ('varchar', 'char', 'varbinary', 'binary') THEN
                max_length := coalesce(v_size, 1);
            WHEN name IN ('nvarchar', 'nchar') THEN
                max_length := CASE v_size WHEN -1 THEN -1 ELSE coalesce(2 * v_size, 2) END;
            WHEN name IN ('decimal', 'numeric') THEN
                "precision" := coalesce(v_size, 18);
                scale := coalesce(v_found[4]::integer, 0);
                max_length := CASE WHEN "precision" < 10 THEN 5 WHEN "precision" < 20 THEN 9 WHEN "precision" < 29 THEN 13 ELSE 17 END;
            WHEN name IN ('datetime2', 'datetimeoffset', 'time') AND v_size < 7 THEN
                -- Without a fraction there is no point either.
                "precision" := "precision" - 7 + v_size - CASE v_size WHEN 0 THEN 1 ELSE 0 END;
                scale := v_size;
                max_length := max_length - CASE WHEN v_size < 3 THEN 2 WHEN v_size < 5 THEN 1 ELSE 0 END;
            ELSE
        END CASE;
        RETURN NEXT;
    END LOOP;
END;
$$;

-- The hidden last parameter of compiled procedures stays hidden. What a scalar function returns is parameter 0, without a name.
CREATE OR REPLACE VIEW sys.parameters AS
SELECT p.oid::integer AS object_id, n.name, n.place AS parameter_id,
       coalesce(n.declared_id, t.system_type_id) AS system_type_id, coalesce(n.declared_user_id, t.user_type_id) AS user_type_id,
       coalesce(n.max_length, t.max_length) AS max_length, coalesce(n.precision, t.precision) AS precision,
       coalesce(n.scale, t.scale) AS scale, n.is_output::integer::sys.bit AS is_output, 0::sys.bit AS is_cursor_ref,
       0::sys.bit AS has_default_value, NULL::text AS default_value,
       coalesce(t.is_table_type, 0::sys.bit) AS is_readonly, 1::sys.bit AS is_nullable
  FROM pg_proc AS p
  JOIN ssb_internal.visible_schema AS v ON v.oid = p.pronamespace
  -- proargtypes counts from 0.
 CROSS JOIN LATERAL (SELECT coalesce(p.proallargtypes, (p.proargtypes::oid[])[0:]) AS types) AS a
 CROSS JOIN LATERAL (
    SELECT g.place,
           -- One that only an @ tells from another, and @ itself, have their whole names in PostgreSQL.
           CASE WHEN g.place = 0 THEN ''
                ELSE CASE WHEN starts_with(p.proargnames[g.place], '@') THEN '' ELSE '@' END
                     || ssb_internal.spelled_parameter(obj_description(p.oid, 'pg_proc'), p.proargnames[g.place]) END AS name,
           CASE g.place WHEN 0 THEN p.prorettype ELSE a.types[g.place] END AS type,
           g.place = 0 OR coalesce(p.proargmodes[g.place], 'i') <> 'i' AS is_output,
           s.system_type_id AS declared_id, s.user_type_id AS declared_user_id, d.max_length, d.precision, d.scale
      FROM generate_series(0, cardinality(a.types)) AS g (place)
      LEFT JOIN ssb_internal.declared_types(p.oid, ARRAY(SELECT ltrim(o.name, '@') FROM unnest(p.proargnames) WITH ORDINALITY AS o (name, place)
                                                          ORDER BY o.place)) AS d ON d.place = g.place
      LEFT JOIN sys.types AS s ON s.name = d.name AND s.is_user_defined = 0
     WHERE CASE WHEN g.place = 0 THEN p.prokind = 'f' AND NOT p.proretset
                     AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'void'::regtype)
                ELSE p.prorettype <> 'trigger'::regtype AND a.types[g.place] <> 'ssb.session'::regtype
                     AND coalesce(p.proargmodes[g.place], 'i') IN ('i', 'b', 'o') END) AS n
  JOIN pg_type AS y ON y.oid = n.type
  -- A type of the user is one by its number (a table variable is an array of such rows), a typed XML is an xml.
  LEFT JOIN sys.types AS t ON CASE WHEN y.typcategory = 'A' THEN t.user_type_id = y.typelem::integer
                                   WHEN y.typtype = 'd' AND y.typnamespace <> 'sys'::regnamespace AND y.typnamespace <> 'ssb'::regnamespace
                                   THEN t.user_type_id = y.oid::integer
                                   ELSE t.is_user_defined = 0
                                        AND t.name = CASE WHEN y.typnamespace = 'ssb'::regnamespace THEN 'xml'
                                                          ELSE ssb_internal.tsql_type(n.type) END END
 ORDER BY 1, 3;

-- A trigger for several events is several in PostgreSQL: tr, tr@update, tr@delete; an INSTEAD OF trigger also has
-- tr@begin and tr@rows, which keep the rows. One for a group of events is for
-- each event in it.
CREATE OR REPLACE VIEW sys.trigger_events AS
SELECT coalesce((SELECT m.oid FROM pg_trigger AS m
                  WHERE m.tgrelid = t.tgrelid AND ssb_internal.stem(m.tgname) = ssb_internal.stem(t.tgname) AND ssb_internal.without_part(m.tgname) = m.tgname),
                t.oid)::integer AS object_id, e.type, e.type_desc, 0::sys.bit AS is_first, 0::sys.bit AS is_last,
       NULL::integer AS event_group_type, NULL::text AS event_group_type_desc, 1::sys.bit AS is_trigger_event
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgrelid
  JOIN ssb_internal.visible_schema AS v ON v.oid = c.relnamespace
  JOIN (VALUES (4, 1, 'INSERT'), (16, 2, 'UPDATE'), (8, 3, 'DELETE')) AS e (bit, type, type_desc) ON (t.tgtype & e.bit) <> 0
 WHERE NOT t.tgisinternal AND NOT ssb_internal.is_runtime_function(t.tgfoid) AND t.tgname !~ '@(begin|rows)$'
UNION ALL
SELECT d.trigger_id, e.type, e.type_desc, 0::sys.bit, 0::sys.bit, e.event_group_type, e.event_group_type_desc, 1::sys.bit
  FROM ssb.ddl_trigger AS d CROSS JOIN LATERAL ssb_internal.events_of_all(d.events) AS e
 WHERE d.scope = 'DATABASE' AND d.database_id = (SELECT ssb_internal.current_database_id());
CREATE OR REPLACE VIEW sys.server_trigger_events AS
SELECT d.trigger_id AS object_id, e.type, e.type_desc, 0::sys.bit AS is_first, 0::sys.bit AS is_last, e.event_group_type,
       e.event_group_type_desc, 1::sys.bit AS is_trigger_event
  FROM ssb.ddl_trigger AS d CROSS JOIN LATERAL ssb_internal.events_of_all(d.events) AS e WHERE d.scope = 'SERVER';

-- Of triggers and of event notifications.
CREATE OR REPLACE VIEW sys.events AS
SELECT t.object_id, t.type, t.type_desc, t.is_trigger_event, t.event_group_type, t.event_group_type_desc
  FROM sys.trigger_events AS t
UNION ALL
SELECT n.notification_id, e.type, e.type_desc, 0::sys.bit, e.event_group_type, e.event_group_type_desc
  FROM ssb.event_notification AS n CROSS JOIN LATERAL ssb_internal.events_of_all(n.events) AS e
 WHERE n.scope <> 'SERVER' AND n.database_id = (SELECT ssb_internal.current_database_id());
CREATE OR REPLACE VIEW sys.server_events AS
SELECT t.object_id, t.type, t.type_desc, t.is_trigger_event, t.event_group_type, t.event_group_type_desc
  FROM sys.server_trigger_events AS t
UNION ALL
SELECT n.notification_id, e.type, e.type_desc, 0::sys.bit, e.event_group_type, e.event_group_type_desc
  FROM ssb.event_notification AS n CROSS JOIN LATERAL ssb_internal.events_of_all(n.events) AS e WHERE n.scope = 'SERVER';

-- Those of the system's tables and views too.
CREATE OR REPLACE VIEW sys.system_columns AS
SELECT r.*
  FROM (SELECT a.attrelid::integer AS object_id, a.attname::text AS name, a.attnum AS column_id, t.system_type_id,
               t.user_type_id, t.max_length, t.precision, t.scale, (NOT a.attnotnull)::integer AS is_nullable,
               1 AS is_ansi_padded, 0 AS is_rowguidcol, 0 AS is_identity, 0 AS is_computed, 0 AS is_filestream, 0 AS is_replicated,
               0 AS is_non_sql_subscribed, 0 AS is_merge_published, 0 AS is_dts_replicated, 0 AS is_xml_document,
               0 AS xml_collection_id, 0 AS default_object_id, 0 AS rule_object_id, 0 AS is_sparse, 0 AS is_column_set,
               0 AS generated_always_type, 'NOT_APPLICABLE' AS generated_always_type_desc, 0 AS is_hidden, 0 AS is_masked
          FROM pg_attribute AS a
          JOIN pg_class AS c ON c.oid = a.attrelid
          LEFT JOIN sys.types AS t ON t.name = ssb_internal.tsql_type(a.atttypid)
         WHERE c.relnamespace IN ('sys'::regnamespace, 'pg_catalog'::regnamespace) AND c.relkind IN ('r', 'v')
           AND a.attnum > 0 AND NOT a.attisdropped) AS s
 CROSS JOIN LATERAL jsonb_populate_record(NULL::sys.columns, to_jsonb(s)) AS r;
CREATE OR REPLACE VIEW sys.all_columns AS
SELECT c.* FROM sys.columns AS c UNION ALL SELECT s.* FROM sys.system_columns AS s;
CREATE OR REPLACE VIEW sys.system_views AS
SELECT o.*, 0::sys.bit AS is_replicated, 0::sys.bit AS has_replication_filter, 0::sys.bit AS has_opaque_metadata,
       0::sys.bit AS has_unchecked_assembly_data, 0::sys.bit AS with_check_option, 0::sys.bit AS is_date_correlation_view,
       0::sys.bit AS is_tracked_by_cdc
  FROM sys.system_objects AS o WHERE o.type = 'V';
CREATE OR REPLACE VIEW sys.all_views AS
SELECT v.* FROM sys.views AS v UNION ALL SELECT s.* FROM sys.system_views AS s;
CREATE OR REPLACE VIEW sys.all_parameters AS SELECT p.* FROM sys.parameters AS p;

CREATE OR REPLACE VIEW sys.sequences AS
SELECT o.*, s.seqstart AS start_value, s.seqincrement AS increment, s.seqmin AS minimum_value, s.seqmax AS maximum_value,
       s.seqcycle::integer::sys.bit AS is_cycling,
       (SELECT coalesce(q.last_value, s.seqstart) FROM pg_sequences AS q
          JOIN pg_namespace AS n ON n.nspname = q.schemaname
          JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = q.sequencename
         WHERE c.oid = s.seqrelid) AS current_value,
       (s.seqcache > 1)::integer::sys.bit AS is_cached, nullif(s.seqcache, 1)::integer AS cache_size,
       t.system_type_id::smallint AS system_type_id, t.system_type_id::integer AS user_type_id, t.precision, t.scale
  FROM sys.objects AS o JOIN pg_sequence AS s ON s.seqrelid = o.object_id::oid
  LEFT JOIN ssb_internal.system_type AS t ON t.name = ssb_internal.tsql_type(s.seqtypid)
 WHERE o.type = 'SO';

-- Whether what has a property is still there. Rows that tell of what was dropped do no harm.
CREATE OR REPLACE FUNCTION ssb_internal.property_is_alive(p_class integer, p_major_id integer, p_minor_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE p_class
        WHEN 1 THEN (EXISTS (SELECT FROM pg_class AS c WHERE c.oid = p_major_id::oid)
                     OR EXISTS (SELECT FROM pg_proc AS r WHERE r.oid = p_major_id::oid)
                     OR EXISTS (SELECT FROM sys.known_objects(NULL, p_major_id)))
                    AND (p_minor_id = 0 OR EXISTS (SELECT FROM pg_attribute AS a
                                                    WHERE a.attrelid = p_major_id::oid AND a.attnum = p_minor_id AND NOT a.attisdropped))
        WHEN 2 THEN EXISTS (SELECT FROM sys.parameters AS p WHERE p.object_id = p_major_id AND p.parameter_id = p_minor_id)
        WHEN 7 THEN EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = p_major_id::oid AND i.indexrelid = p_minor_id::oid)
        WHEN 3 THEN EXISTS (SELECT FROM sys.schemas AS s WHERE s.schema_id = p_major_id)
        WHEN 15 THEN EXISTS (SELECT FROM ssb.message_type AS t WHERE t.message_type_id = p_major_id)
        WHEN 16 THEN EXISTS (SELECT FROM ssb.contract AS c WHERE c.contract_id = p_major_id)
        WHEN 17 THEN EXISTS (SELECT FROM ssb.service AS s WHERE s.service_id = p_major_id)
        WHEN 18 THEN EXISTS (SELECT FROM ssb.remote_service_binding AS b WHERE b.binding_id = p_major_id)
        WHEN 19 THEN EXISTS (SELECT FROM ssb.route AS r WHERE r.route_id = p_major_id)
        ELSE true END;
END;
$$;

-- What level0 … level2 of the procedures for extended properties name. An index's minor_id is its number in PostgreSQL: the
-- one that SQL Server shows is another one when an index before it is dropped.
CREATE OR REPLACE FUNCTION ssb_internal.property_target(level0type text, level0name text, level1type text, level1name text,
                                                        level2type text, level2name text, OUT class integer, OUT major_id integer, OUT minor_id integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    class := 0;
    major_id := 0;
    minor_id := 0;
    IF level0type IS NULL THEN
        RETURN;
    END IF;
    CASE replace(upper(level0type COLLATE "C"), ' ', '_')
        WHEN 'SCHEMA', 'USER' THEN
            IF level1type IS NULL THEN
                class := 3;
                major_id := sys.schema_id(level0name);
            ELSE
                class := 1;
                major_id := sys.object_id(ssb_internal.in_brackets(level0name) || '.' || ssb_internal.in_brackets(level1name));
                CASE replace(upper(level2type COLLATE "C"), ' ', '_')
                    WHEN 'COLUMN' THEN
                        minor_id := (SELECT c.column_id FROM sys.columns AS c
                                      WHERE c.object_id = major_id AND sys.fold(c.name) = sys.fold(level2name));
                    WHEN 'PARAMETER' THEN
                        class := 2;
                        minor_id := (SELECT p.parameter_id FROM sys.parameters AS p
                                      WHERE p.object_id = major_id AND sys.fold(p.name) = sys.fold(level2name));
                    WHEN 'INDEX' THEN
                        class := 7;
                        minor_id := (SELECT n.indexrelid::integer FROM ssb_internal.numbered_index AS n
                                      WHERE n.indrelid = major_id::oid
                                        AND sys.fold(ssb_internal.tsql_index_name(n.indexrelid)) = sys.fold(level2name));
                    WHEN 'EVENT_NOTIFICATION' THEN
                        major_id := (SELECT n.object_id FROM sys.event_notifications AS n
                                      WHERE n.parent_id = major_id AND sys.fold(n.name) = sys.fold(level2name));
                    ELSE
                        IF level2type IS NOT NULL THEN
                            major_id := (SELECT o.object_id FROM sys.objects AS o
                                          WHERE o.parent_object_id = major_id AND sys.fold(o.name) = sys.fold(level2name));
                        END IF;
                END CASE;
            END IF;
        WHEN 'SERVICE' THEN
            class := 17;
            major_id := (SELECT s.service_id FROM sys.services AS s WHERE s.name = level0name);
        WHEN 'CONTRACT' THEN
            class := 16;
            major_id := (SELECT c.service_contract_id FROM sys.service_contracts AS c WHERE c.name = level0name);
        WHEN 'MESSAGE_TYPE' THEN
            class := 15;
            major_id := (SELECT m.message_type_id FROM sys.service_message_types AS m WHERE m.name = level0name);
        WHEN 'ROUTE' THEN
            class := 19;
            major_id := (SELECT r.route_id FROM sys.routes AS r WHERE sys.fold(r.name) = sys.fold(level0name));
        WHEN 'REMOTE_SERVICE_BINDING' THEN
            class := 18;
            major_id := (SELECT b.remote_service_binding_id FROM sys.remote_service_bindings AS b WHERE sys.fold(b.name) = sys.fold(level0name));
        ELSE
            -- Of a kind that has no numbers here: told apart by its name.
            class := 100;
            major_id := hashtext(upper(level0type COLLATE "C") || '.' || level0name);
    END CASE;
    IF major_id IS NULL OR minor_id IS NULL THEN
        PERFORM ssb_internal.raise_error(15135, format('Object is invalid. Extended properties are not permitted on ''%s'', or the object does not exist.',
                                                       concat_ws('.', level0name, level1name, level2name)));
    END IF;
END;
$$;

-- What has a property, by its numbers now: after pg_dump and pg_upgrade it is looked for by its words. NULL when it is not there.
CREATE OR REPLACE FUNCTION ssb_internal.property_place(p_class integer, p_major_id integer, p_minor_id integer, p_target text[], p_numbered_in oid,
                                                       OUT major_id integer, OUT minor_id integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_class NOT IN (1, 2, 3, 7) OR p_numbered_in = 'ssb'::regnamespace THEN
        major_id := p_major_id;
        minor_id := p_minor_id;
    ELSIF p_target IS NOT NULL THEN
        SELECT t.major_id, t.minor_id INTO major_id, minor_id
          FROM ssb_internal.property_target(p_target[1], p_target[2], p_target[3], p_target[4], p_target[5], p_target[6]) AS t;
    END IF;
EXCEPTION WHEN SQLSTATE 'T0BOF' THEN
    NULL;
END;
$$;

-- After that, before a property is changed: what is there gets its number of now, the others go.
CREATE OR REPLACE FUNCTION ssb_internal.renumber_properties(p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_property ssb.extended_property;
    v_properties ssb.extended_property[] := '{}';
BEGIN
    FOR v_property IN
        SELECT e.* FROM ssb.extended_property AS e
         WHERE e.database_id = p_database_id AND e.class IN (1, 2, 3, 7) AND e.numbered_in IS DISTINCT FROM 'ssb'::regnamespace::oid
         ORDER BY e.class, e.major_id, e.minor_id, e.name
           FOR UPDATE
    LOOP
        v_properties := v_properties || v_property;
    END LOOP;
    IF cardinality(v_properties) = 0 THEN
        RETURN;
    END IF;
    -- Not by UPDATE: one's number of now may be another's of then.
    DELETE FROM ssb.extended_property AS e
     WHERE e.database_id = p_database_id AND e.class IN (1, 2, 3, 7) AND e.numbered_in IS DISTINCT FROM 'ssb'::regnamespace::oid;
    INSERT INTO ssb.extended_property (database_id, class, major_id, minor_id, name, value, target, numbered_in)
    SELECT p.database_id, p.class, t.major_id, t.minor_id, p.name, p.value, p.target, 'ssb'::regnamespace
      FROM unnest(v_properties) AS p
     CROSS JOIN LATERAL ssb_internal.property_place(p.class, p.major_id, p.minor_id, p.target, p.numbered_in) AS t
     WHERE t.major_id IS NOT NULL
    ON CONFLICT DO NOTHING;
END;
$$;

-- minor_id as sys.extended_properties has it: an index's is its index_id.
CREATE OR REPLACE FUNCTION ssb_internal.shown_minor_id(p_class integer, p_minor_id integer)
RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN p_class = 7
                THEN (SELECT n.index_id FROM ssb_internal.numbered_index AS n
                       WHERE n.indrelid = (SELECT i.indrelid FROM pg_index AS i WHERE i.indexrelid = p_minor_id::oid)
                         AND n.indexrelid = p_minor_id::oid)
                ELSE p_minor_id END;
END;
$$;

CREATE OR REPLACE VIEW sys.extended_properties AS
SELECT p.class::smallint AS class,
       CASE p.class WHEN 0 THEN 'DATABASE' WHEN 1 THEN 'OBJECT_OR_COLUMN' WHEN 2 THEN 'PARAMETER' WHEN 3 THEN 'SCHEMA'
                    WHEN 7 THEN 'INDEX' WHEN 15 THEN 'MESSAGE_TYPE'
                    WHEN 16 THEN 'SERVICE_CONTRACT' WHEN 17 THEN 'SERVICE' WHEN 18 THEN 'REMOTE_SERVICE_BINDING'
                    WHEN 19 THEN 'SERVICE_ROUTE' ELSE 'OTHER' END AS class_desc,
       t.major_id, ssb_internal.shown_minor_id(p.class, t.minor_id) AS minor_id, p.name, p.value
  FROM ssb.extended_property AS p
 CROSS JOIN LATERAL ssb_internal.property_place(p.class, p.major_id, p.minor_id, p.target, p.numbered_in) AS t
 WHERE p.database_id = (SELECT ssb_internal.current_database_id()) AND ssb_internal.property_is_alive(p.class, t.major_id, t.minor_id);

-- The caller owns what a property is of, or may ALTER it; 15247 when not.
CREATE OR REPLACE FUNCTION ssb_internal.require_property_right(p_class integer, p_major_id integer, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller CONSTANT name := ssb_internal.caller();
    v_role name;
    v_owner text;
    v_class text;
BEGIN
    IF pg_has_role(v_caller, ssb_internal.runtime_owner(), 'USAGE') OR ssb_internal.is_member(v_caller, 'db_owner', p_database_id)
       OR (p_class <> 0 AND ssb_internal.is_member(v_caller, 'db_ddladmin', p_database_id)) THEN
        RETURN;
    END IF;
    IF p_class IN (1, 2, 3, 7) THEN
        SELECT pg_get_userbyid(o.owner) INTO v_role
          FROM (SELECT c.oid, c.relowner, 1 FROM pg_class AS c
                UNION ALL SELECT p.oid, p.proowner, 1 FROM pg_proc AS p
                UNION ALL SELECT n.oid, n.nspowner, 3 FROM pg_namespace AS n
                UNION ALL SELECT k.oid, c.relowner, 1 FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
                UNION ALL SELECT t.oid, c.relowner, 1 FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid)
               AS o (id, owner, class)
         WHERE o.id = p_major_id::oid AND o.class = CASE p_class WHEN 3 THEN 3 ELSE 1 END;
        IF pg_has_role(v_caller, v_role, 'USAGE') THEN
            RETURN;
        END IF;
    END IF;
    SELECT o.class, o.owner INTO v_class, v_owner
      FROM (SELECT 'QUEUE' AS class, q.owner FROM ssb.queue AS q WHERE p_class = 1 AND q.queue_id = p_major_id
            UNION ALL SELECT 'MESSAGE TYPE', t.owner FROM ssb.message_type AS t WHERE p_class = 15 AND t.message_type_id = p_major_id
            UNION ALL SELECT 'CONTRACT', c.owner FROM ssb.contract AS c WHERE p_class = 16 AND c.contract_id = p_major_id
            UNION ALL SELECT 'SERVICE', s.owner FROM ssb.service AS s WHERE p_class = 17 AND s.service_id = p_major_id
            UNION ALL SELECT 'REMOTE SERVICE BINDING', b.owner FROM ssb.remote_service_binding AS b WHERE p_class = 18 AND b.binding_id = p_major_id
            UNION ALL SELECT 'ROUTE', r.owner FROM ssb.route AS r WHERE p_class = 19 AND r.route_id = p_major_id) AS o;
    IF NOT FOUND OR NOT ssb_internal.has_permission(v_caller, v_class, p_major_id, 'ALTER', v_owner, p_database_id) THEN
        PERFORM ssb_internal.raise_error(15247, 'User does not have permission to perform this action.');
    END IF;
END;
$$;

-- sp_addextendedproperty, sp_updateextendedproperty, sp_dropextendedproperty.
CREATE OR REPLACE FUNCTION sys.change_extended_property(action text, name text, value text DEFAULT NULL,
    level0type text DEFAULT NULL, level0name text DEFAULT NULL, level1type text DEFAULT NULL, level1name text DEFAULT NULL,
    level2type text DEFAULT NULL, level2name text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_target record;
    v_shown text := coalesce(nullif(concat_ws('.', level0name, level1name, level2name), ''), 'object specified');
    v_database integer := ssb_internal.current_database_id();
BEGIN
    v_target := ssb_internal.property_target(level0type, level0name, level1type, level1name, level2type, level2name);
    PERFORM ssb_internal.require_property_right(v_target.class, v_target.major_id, v_database);
    PERFORM ssb_internal.renumber_properties(v_database);
    IF action = 'ADD' THEN
        INSERT INTO ssb.extended_property AS e (database_id, class, major_id, minor_id, name, value, target, numbered_in)
        SELECT v_database, v_target.class, v_target.major_id, v_target.minor_id, change_extended_property.name, change_extended_property.value,
               ARRAY[level0type, level0name, level1type, level1name, level2type, level2name], 'ssb'::regnamespace
         WHERE NOT EXISTS (SELECT FROM ssb.extended_property AS e
                            WHERE e.database_id = v_database AND e.class = v_target.class AND e.major_id = v_target.major_id
                              AND e.minor_id = v_target.minor_id AND lower(e.name) = lower(change_extended_property.name))
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_error(15233, format('Property cannot be added. Property ''%s'' already exists for ''%s''.', name, v_shown));
        END IF;
    ELSIF action = 'UPDATE' THEN
        UPDATE ssb.extended_property AS e SET value = change_extended_property.value
         WHERE e.database_id = v_database AND e.class = v_target.class AND e.major_id = v_target.major_id
           AND e.minor_id = v_target.minor_id AND lower(e.name) = lower(change_extended_property.name);
    ELSE
        DELETE FROM ssb.extended_property AS e
         WHERE e.database_id = v_database AND e.class = v_target.class AND e.major_id = v_target.major_id
           AND e.minor_id = v_target.minor_id AND lower(e.name) = lower(change_extended_property.name);
    END IF;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(15217, format('Property cannot be updated or deleted. Property ''%s'' does not exist for ''%s''.', name, v_shown));
    END IF;
    PERFORM ssb_internal.tell_of_securable(
        CASE action WHEN 'ADD' THEN 'CREATE' WHEN 'UPDATE' THEN 'ALTER' ELSE 'DROP' END, 'EXTENDED_PROPERTY', v_database,
        CASE upper(level0type COLLATE "C") WHEN 'SCHEMA' THEN level0name END, coalesce(level2name, level1name, level0name),
        upper(coalesce(level2type, level1type, level0type, 'DATABASE') COLLATE "C"),
        CASE WHEN level2name IS NOT NULL THEN format('<TargetObjectName>%s</TargetObjectName><TargetObjectType>%s</TargetObjectType>',
                                                     ssb_internal.xml_text(level1name), ssb_internal.xml_text(upper(level1type COLLATE "C"))) ELSE '' END
        || format('<PropertyName>%s</PropertyName><PropertyValue>%s</PropertyValue>', ssb_internal.xml_text(name), ssb_internal.xml_text(value)));
END;
$$;

-- fn_listextendedproperty: 'default' stands for NULL. A type without a name: the properties of all objects of that type.
CREATE OR REPLACE FUNCTION sys.fn_listextendedproperty(p_name text, p_level0type text, p_level0name text, p_level1type text,
                                                       p_level1name text, p_level2type text, p_level2name text)
RETURNS TABLE (objtype text, objname text, name text, value text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type text := upper(coalesce(p_level2type, p_level1type, p_level0type) COLLATE "C");
    v_name text := CASE WHEN p_level2type IS NOT NULL THEN p_level2name WHEN p_level1type IS NOT NULL THEN p_level1name ELSE p_level0name END;
    v_target record;
BEGIN
    SELECT NULL::integer AS class, NULL::integer AS major_id, NULL::integer AS minor_id INTO v_target;
    BEGIN
        IF v_type IS NULL OR v_name IS NOT NULL THEN
            v_target := ssb_internal.property_target(p_level0type, p_level0name, p_level1type, p_level1name, p_level2type, p_level2name);
        ELSIF p_level1type IS NOT NULL THEN
            v_target := ssb_internal.property_target(p_level0type, p_level0name, CASE WHEN p_level2type IS NOT NULL THEN p_level1type END,
                                                     p_level1name, NULL, NULL);
        END IF;
    EXCEPTION WHEN SQLSTATE 'T0BOF' THEN
        RETURN;
    END;
    IF v_type IS NULL OR v_name IS NOT NULL THEN
        RETURN QUERY
        SELECT v_type, v_name, e.name, e.value
          FROM sys.extended_properties AS e
         WHERE e.class = v_target.class AND e.major_id = v_target.major_id
           AND e.minor_id = ssb_internal.shown_minor_id(v_target.class, v_target.minor_id)
           AND (p_name IS NULL OR lower(e.name) = lower(p_name));
        RETURN;
    END IF;
    RETURN QUERY
    -- Each side is read once: a deployment's tables have no statistics, and then one is taken for a row.
    WITH o (class, major_id, minor_id, name) AS MATERIALIZED (
        SELECT 1 AS class, c.object_id AS major_id, c.column_id AS minor_id, c.name
          FROM sys.columns AS c WHERE v_type = 'COLUMN' AND c.object_id = v_target.major_id
        UNION ALL
        SELECT 2, p.object_id, p.parameter_id, p.name
          FROM sys.parameters AS p WHERE v_type = 'PARAMETER' AND p.object_id = v_target.major_id
        UNION ALL
        SELECT 7, i.object_id, i.index_id, i.name
          FROM sys.indexes AS i WHERE v_type = 'INDEX' AND i.object_id = v_target.major_id
        UNION ALL
        SELECT 1, o.object_id, 0, o.name
          FROM sys.objects AS o
         WHERE p_level1type IS NOT NULL AND CASE WHEN p_level2type IS NULL THEN o.schema_id ELSE o.parent_object_id END = v_target.major_id
           AND CASE v_type WHEN 'TABLE' THEN o.type = 'U' WHEN 'VIEW' THEN o.type = 'V' WHEN 'PROCEDURE' THEN o.type = 'P'
                           WHEN 'FUNCTION' THEN o.type IN ('FN', 'IF', 'TF') WHEN 'QUEUE' THEN o.type = 'SQ'
                           WHEN 'SYNONYM' THEN o.type = 'SN' WHEN 'SEQUENCE' THEN o.type = 'SO' WHEN 'TRIGGER' THEN o.type = 'TR'
                           WHEN 'CONSTRAINT' THEN o.type IN ('C', 'D', 'F', 'PK', 'UQ') ELSE false END
        UNION ALL SELECT 3, s.schema_id, 0, s.name FROM sys.schemas AS s WHERE p_level1type IS NULL AND v_type IN ('SCHEMA', 'USER')
        UNION ALL SELECT 15, m.message_type_id, 0, m.name FROM sys.service_message_types AS m WHERE v_type = 'MESSAGE TYPE'
        UNION ALL SELECT 16, c.service_contract_id, 0, c.name FROM sys.service_contracts AS c WHERE v_type = 'CONTRACT'
        UNION ALL SELECT 17, s.service_id, 0, s.name FROM sys.services AS s WHERE v_type = 'SERVICE'
        UNION ALL SELECT 18, b.remote_service_binding_id, 0, b.name FROM sys.remote_service_bindings AS b WHERE v_type = 'REMOTE SERVICE BINDING'
        UNION ALL SELECT 19, r.route_id, 0, r.name FROM sys.routes AS r WHERE v_type = 'ROUTE'),
         e AS MATERIALIZED (SELECT p.class, p.major_id, p.minor_id, p.name, p.value FROM sys.extended_properties AS p)
    SELECT v_type, o.name, e.name, e.value
      FROM e
      JOIN o ON o.class = e.class AND o.major_id = e.major_id AND o.minor_id = e.minor_id
     WHERE p_name IS NULL OR lower(e.name) = lower(p_name)
     ORDER BY o.name, e.name;
END;
$$;
