-- What the session may not do: 229 and, where SQL Server does not tell more, that there is no such object.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- Message 229.
CREATE OR REPLACE FUNCTION ssb_internal.denied_text(p_right text, p_relation regclass)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT format('The %s permission was denied on the object ''%s'', database ''%s'', schema ''%s''.', p_right,
                  coalesce(ssb_internal.queue_spelling(p_relation), ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)),
                  coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()), ssb_internal.tsql_schema(n.nspname::text))
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.oid = p_relation;
END;

-- The right to a relation that the session lacks. PostgreSQL's message does not tell: who may change the rows may not read them, then.
CREATE OR REPLACE FUNCTION ssb_internal.denied_right(p_verb text, p_relation regclass)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_verb IN ('CREATE TABLE', 'ALTER TABLE') THEN 'REFERENCES'
                ELSE coalesce(min(r.name) FILTER (WHERE r.name = p_verb), min(r.name) FILTER (WHERE r.place = r.first),
                              p_verb, 'SELECT') END
      FROM (SELECT w.name, w.place, min(w.place) OVER () AS first
              FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) WITH ORDINALITY AS w(name, place)
             WHERE NOT has_table_privilege(p_relation, w.name)) AS r;
$$;

-- SQLSTATE 42501.
CREATE OR REPLACE FUNCTION ssb_internal.permission_error(p_message text, p_verb text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_name text;
    v_relation regclass;
BEGIN
    -- "permission denied for table t", without quotation marks and without its schema.
    v_name := substring(p_message FROM '^permission denied for (?:table|view|relation|sequence) (.+)$');
    v_relation := ssb_internal.relation_in_message(v_name);
    v_error := ROW(229, coalesce(ssb_internal.denied_text(ssb_internal.denied_right(p_verb, v_relation), v_relation), p_message),
                   14, 5, NULL, NULL);
    IF v_name IS NOT NULL AND p_verb = 'TRUNCATE TABLE' THEN
        v_error := ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                    ssb_internal.table_named(v_name)), 16, 7, NULL, NULL);
    ELSIF p_message ~ '^permission denied for schema ' THEN
        v_name := substring(p_message FROM '^permission denied for schema (.+)$');
        -- Who may use it may not make something in it.
        IF has_schema_privilege(quote_ident(v_name)::regnamespace, 'USAGE') THEN
            v_error := ROW(2760, format('The specified schema name "%s" either does not exist or you do not have permission to use it.',
                                        ssb_internal.tsql_schema(v_name)), 16, 1, NULL, NULL);
        END IF;
    ELSIF p_message ~ '^must be owner of (table|view|relation) ' THEN
        v_name := ssb_internal.table_named(substring(p_message FROM '^must be owner of \w+ (.+)$'));
        v_error := CASE p_verb
            WHEN 'DROP' THEN ROW(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                              substring(p_message FROM '(table|view) '), v_name), 14, 20, NULL, NULL)::ssb.error
            WHEN 'ALTER TABLE' THEN ROW(4902, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                                     v_name), 16, 1, NULL, NULL)::ssb.error
            WHEN 'CREATE INDEX' THEN ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                                      v_name), 16, 12, NULL, NULL)::ssb.error
            ELSE v_error END;
    ELSIF p_verb = 'DROP' AND p_message ~ '^must be owner of (routine|procedure|function) ' THEN
        v_name := substring(p_message FROM '^must be owner of \w+ (?:.+[.])?(.+)$');
        v_error := ROW(3701, format('Cannot drop the %s ''%s'', because it does not exist or you do not have permission.',
                                    CASE WHEN EXISTS (SELECT FROM pg_proc AS p WHERE p.proname = v_name AND p.prokind = 'p') THEN 'procedure'
                                         WHEN EXISTS (SELECT FROM pg_proc AS p WHERE p.proname = v_name AND p.prorettype = 'trigger'::regtype) THEN 'trigger'
                                         ELSE 'function' END, v_name), 14, 20, NULL, NULL);
    END IF;
    RETURN v_error;
END;
$$;
