-- Reads the words in comments/*.sql. "name: words" describes what has that name; names with a comma between them share the
-- words. Comments that are there already stay untouched: of the three thousand a second installation writes none.

-- A text's lines as an object: 'name' and, of lines that are indented below it, 'name.column', each with its words; 'name<' is
-- what stands behind the "<" of "name < other: words".
CREATE OR REPLACE FUNCTION ssb_internal.described(p_words text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(k.key, k.words)
      FROM (SELECT h.names, h.words, h.parent, h.is_column,
                   CASE WHEN h.is_column THEN first_value(h.names) OVER (PARTITION BY h.block ORDER BY h.place) END AS relations
              FROM (SELECT l.place, starts_with(l.line, ' ') AS is_column,
                           string_to_array(ltrim(split_part(split_part(l.line, ': ', 1), ' < ', 1)), ', ') AS names,
                           nullif(split_part(split_part(l.line, ': ', 1), ' < ', 2), '') AS parent,
                           substr(l.line, strpos(l.line, ': ') + 2) AS words,
                           count(*) FILTER (WHERE NOT starts_with(l.line, ' ')) OVER (ORDER BY l.place) AS block
                      FROM unnest(string_to_array(p_words, E'\n')) WITH ORDINALITY AS l (line, place)
                     WHERE l.line <> '') AS h) AS d
     CROSS JOIN LATERAL (SELECT n.name, d.words FROM unnest(d.names) AS n (name) WHERE NOT d.is_column
                         UNION ALL
                         SELECT d.names[1] || '<', d.parent WHERE d.parent IS NOT NULL
                         UNION ALL
                         SELECT r.name || '.' || n.name, d.words
                           FROM unnest(d.relations) AS r (name) CROSS JOIN unnest(d.names) AS n (name)) AS k (key, words);
$$;

-- Views and row types of a schema. What has no words of its own has those of the relation behind the "<", then those under "*".
-- Called by  comments/*.sql
CREATE OR REPLACE FUNCTION ssb_internal.describe_relations(p_schema text, p_words text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_words jsonb := ssb_internal.described(p_words);
    v_relation record;
    v_column record;
    v_name text;
    v_kin text[];
    v_said text;
BEGIN
    FOR v_relation IN
        SELECT c.oid, c.relname, c.relkind, v_words ->> c.relname AS words,
               CASE c.relkind WHEN 'c' THEN obj_description(c.reltype, 'pg_type') ELSE obj_description(c.oid, 'pg_class') END AS present
          FROM pg_class AS c
         WHERE c.relnamespace = quote_ident(p_schema)::regnamespace AND c.relkind IN ('v', 'c') AND v_words ? c.relname
    LOOP
        IF v_relation.words IS DISTINCT FROM v_relation.present THEN
            EXECUTE format('COMMENT ON %s %I.%I IS %L', CASE v_relation.relkind WHEN 'c' THEN 'TYPE' ELSE 'VIEW' END,
                           p_schema, v_relation.relname, v_relation.words);
        END IF;
        v_kin := '{}';
        v_name := v_relation.relname;
        WHILE v_name IS NOT NULL LOOP
            v_kin := v_kin || v_name;
            v_name := v_words ->> (v_name || '<');
        END LOOP;
        v_kin := v_kin || text '*';
        FOR v_column IN
            SELECT a.attname, col_description(a.attrelid, a.attnum) AS present
              FROM pg_attribute AS a WHERE a.attrelid = v_relation.oid AND a.attnum > 0 AND NOT a.attisdropped
        LOOP
            FOREACH v_name IN ARRAY v_kin LOOP
                v_said := v_words ->> (v_name || '.' || v_column.attname);
                EXIT WHEN v_said IS NOT NULL;
            END LOOP;
            IF v_said IS DISTINCT FROM v_column.present THEN
                EXECUTE format('COMMENT ON COLUMN %I.%I.%I IS %L', p_schema, v_relation.relname, v_column.attname, v_said);
            END IF;
        END LOOP;
    END LOOP;
END;
$$;

-- Functions, procedures and aggregates of a schema; those of one name share the words.
-- Called by  comments/*.sql
CREATE OR REPLACE FUNCTION ssb_internal.describe_routines(p_schema text, p_words text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_words jsonb := ssb_internal.described(p_words);
    v_routine regprocedure;
    v_said text;
BEGIN
    FOR v_routine, v_said IN
        SELECT p.oid, v_words ->> p.proname
          FROM pg_proc AS p
         WHERE p.pronamespace = quote_ident(p_schema)::regnamespace AND v_words ? p.proname
           AND v_words ->> p.proname IS DISTINCT FROM obj_description(p.oid, 'pg_proc')
    LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, v_said);
    END LOOP;
END;
$$;
