-- ALTER TABLE … NOCHECK CONSTRAINT, … CHECK CONSTRAINT. PostgreSQL cannot switch a constraint
-- off without a superuser's rights, so that it is taken away, and a CHECK (true) of its name
-- keeps its definition as a comment: DROP CONSTRAINT, the catalog views and pg_dump know it by
-- its name. Switched on again it holds for new rows (NOT VALID, SQL Server's is_not_trusted), WITH CHECK
-- for those of old too.
--
-- Called by  compiled ALTER TABLE; sys.objects, sys.foreign_keys, sys.check_constraints
-- Locks      the table, as ALTER TABLE does; the one that a foreign key refers to

-- The definition of a constraint that is switched off; NULL of one that is on.
CREATE OR REPLACE FUNCTION ssb_internal.definition_switched_off(p_constraint oid)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT substr(t.text, length('pgsb switched off: ') + 1)
      FROM pg_description AS d
     CROSS JOIN LATERAL (SELECT ssb_internal.comment_without_name(d.description) AS text) AS t
     WHERE d.objoid = p_constraint AND d.classoid = 'pg_constraint'::regclass AND starts_with(t.text, 'pgsb switched off: ');
$$;

-- Whoever may write the comment is the table's owner, and somebody with more rights may switch the constraint on: what
-- pg_get_constraintdef never writes outside its quotation marks (a semicolon, a comment, another kind of string) is not run.
CREATE OR REPLACE FUNCTION ssb_internal.is_definition(p_text text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT p_text ~ '^(CHECK|FOREIGN KEY) [(]' AND NOT b.bare ~ '[;$''"]|--|/[*]|[[:alnum:]_&]\u0001'
      FROM (SELECT regexp_replace(p_text, '''([^'']|'''')*''|"([^"]|"")*"', chr(1), 'g') AS bare) AS b;
$$;

-- p_names: NULL for ALL. p_validate: WITH CHECK.
CREATE OR REPLACE FUNCTION ssb_internal.switch_constraints(p_table regclass, p_names text[], p_on boolean, p_validate boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
    v_rule record;
    v_missing text;
BEGIN
    SELECT n.name INTO v_missing FROM unnest(p_names) AS n (name)
     WHERE NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = p_table AND c.conname = n.name) LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(4917, format('Constraint ''%s'' does not exist.', v_missing));
    END IF;
    FOR v_rule IN
        SELECT c.oid, c.conname, ssb_internal.spelled(obj_description(c.oid, 'pg_constraint'), c.conname::text) AS name, c.contype, c.convalidated, pg_get_constraintdef(c.oid) AS definition,
               ssb_internal.definition_switched_off(c.oid) AS kept
          FROM pg_constraint AS c
         WHERE c.conrelid = p_table AND (c.conname = ANY (p_names) OR p_names IS NULL AND c.contype IN ('c', 'f'))
         ORDER BY c.conname
    LOOP
        IF v_rule.contype NOT IN ('c', 'f') THEN
            PERFORM ssb_internal.raise_error(11415, format('Object ''%s'' cannot be disabled or enabled. This action applies only to '
                                                           'foreign key and check constraints.', v_rule.name));
        ELSIF p_on AND v_rule.kept IS NOT NULL THEN
            IF NOT ssb_internal.is_definition(v_rule.kept) THEN
                PERFORM ssb_internal.raise_error(4916, 'Could not enable or disable the constraint. See previous errors.',
                                                 hint => format('The definition kept of ''%s'' is not one.', v_rule.name));
            END IF;
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I %s NOT VALID', p_table, v_rule.conname, v_rule.kept);
            IF v_rule.name <> v_rule.conname THEN
                PERFORM ssb_internal.keep_spelling(p_table::text, NULL, p_parts => ARRAY[v_rule.name]);
            END IF;
        ELSIF NOT p_on AND v_rule.kept IS NULL THEN
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I CHECK (true) NOT VALID', p_table, v_rule.conname);
            EXECUTE format('COMMENT ON CONSTRAINT %I ON %s IS %L', v_rule.conname, p_table,
                           concat_ws(chr(10), 'T-SQL name: ' || nullif(v_rule.name, v_rule.conname),
                                     'pgsb switched off: ' || regexp_replace(v_rule.definition, ' NOT VALID$', '')));
        END IF;
        IF p_on AND p_validate THEN
            EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', p_table, v_rule.conname);
        END IF;
    END LOOP;
END;
$$;
