-- DEFAULT constraints have names in T-SQL, and are dropped by them; PostgreSQL's defaults have none.
-- The given ones stand here, others are df__table__column.
--
-- Called by  compiled CREATE TABLE, ALTER TABLE; sys.objects, sys.default_constraints, OBJECT_ID
-- Locks      the table, as ALTER TABLE does

CREATE TABLE IF NOT EXISTS ssb.default_name (
    relation    regclass NOT NULL,
    column_name text     NOT NULL,
    name        text     NOT NULL,    -- folded, as names of tables are
    spelling    text,                 -- where the script writes it otherwise
    PRIMARY KEY (relation, column_name)
);
CREATE INDEX IF NOT EXISTS default_name_by_name ON ssb.default_name (name);

CREATE OR REPLACE VIEW ssb_internal.column_default AS
SELECT d.oid, d.adrelid AS relation, a.attnum AS number, a.attname::text AS column_name, c.relnamespace AS namespace,
       coalesce(n.name, format('df__%s__%s', c.relname, a.attname)) AS name, n.name IS NULL AS is_system_named,
       coalesce(n.spelling, n.name, format('df__%s__%s', c.relname, a.attname)) AS spelling
  FROM pg_attrdef AS d
  JOIN pg_class AS c ON c.oid = d.adrelid
  JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  LEFT JOIN ssb.default_name AS n ON n.relation = d.adrelid::regclass AND n.column_name = a.attname
 WHERE a.attgenerated = ''
   -- That of another tool's serial column is what makes it an identity column: ssb_internal.is_serial, for all at once.
   AND NOT EXISTS (SELECT FROM pg_depend AS used
                     JOIN pg_depend AS own ON own.classid = 'pg_class'::regclass AND own.objid = used.refobjid AND own.deptype = 'a'
                    WHERE used.classid = 'pg_attrdef'::regclass AND used.objid = d.oid AND used.refclassid = 'pg_class'::regclass
                      AND used.deptype = 'n'
                      AND own.refclassid = 'pg_class'::regclass AND own.refobjid = d.adrelid AND own.refobjsubid = d.adnum);
GRANT SELECT ON ssb_internal.column_default TO PUBLIC;

-- Whether a default of a table in the schema was given the name. PostgreSQL gives defaults none.
CREATE OR REPLACE FUNCTION ssb_internal.names_default(p_schema oid, p_name text)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM ssb.default_name AS d JOIN pg_class AS c ON c.oid = d.relation
                    WHERE c.relnamespace = p_schema AND d.name = p_name);
$$;

CREATE OR REPLACE FUNCTION ssb_internal.has_column(p_table oid, p_column text)
RETURNS boolean
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = p_table AND a.attname = p_column AND a.attnum > 0 AND NOT a.attisdropped);
END;

-- p_column and p_name are written as in SQL: in quotes where they need them, as a name with capitals does.
-- p_name: NULL takes the name away.
CREATE OR REPLACE FUNCTION ssb_internal.name_default(p_table regclass, p_column text, p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_column CONSTANT text := (parse_ident(p_column))[1];
    v_name CONSTANT text := (parse_ident(p_name))[1];
BEGIN
    -- Who may call ALTER TABLE; inside, current_user is the runtime's owner. A number that is no table's has no owner.
    IF pg_has_role(ssb_internal.caller(), (SELECT c.relowner FROM pg_class AS c WHERE c.oid = p_table), 'USAGE') IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.', p_table));
    END IF;
    DELETE FROM ssb.default_name AS n WHERE n.relation = p_table AND n.column_name = v_column;
    -- Of tables and columns that are gone, as each #table is that has named a default; nobody waits for another's. All names are looked
    -- at, so not each time: a script that makes thousands of tables would look at them all for each.
    IF random() < 0.02 THEN
        DELETE FROM ssb.default_name AS n
         WHERE (n.relation, n.column_name) IN (SELECT o.relation, o.column_name FROM ssb.default_name AS o
                                                WHERE NOT ssb_internal.has_column(o.relation, o.column_name) FOR UPDATE SKIP LOCKED);
    END IF;
    IF p_name IS NOT NULL THEN
        IF NOT ssb_internal.has_column(p_table, v_column) THEN
            PERFORM ssb_internal.raise_error(1752, format('Column ''%s'' in table ''%s'' is invalid for creating a default constraint.',
                                                          v_column, p_table), 16, 0);
        END IF;
        PERFORM ssb_internal.refuse_taken_name(p_table, sys.fold(v_name));
    END IF;
    INSERT INTO ssb.default_name (relation, column_name, name, spelling)
    SELECT p_table, v_column, sys.fold(v_name), nullif(v_name, sys.fold(v_name)) WHERE p_name IS NOT NULL;
END;
$$;

-- Before ALTER TABLE … ADD DEFAULT … FOR: the column is there, has no default yet, and does not number rows.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_default(p_table regclass, p_column text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text := (parse_ident(p_column))[1];
    v_table CONSTANT text := (SELECT ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text) FROM pg_class AS c WHERE c.oid = p_table);
    v_column pg_attribute;
BEGIN
    SELECT a.* INTO v_column FROM pg_attribute AS a WHERE a.attrelid = p_table AND a.attname = v_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(1752, format('Column ''%s'' in table ''%s'' is invalid for creating a default constraint.',
                                                      v_name, v_table), 16, 0);
    ELSIF v_column.attidentity <> '' THEN
        PERFORM ssb_internal.raise_error(1754, format('Defaults cannot be created on columns with an IDENTITY attribute. Table ''%s'', '
                                                      'column ''%s''.', v_table, v_name), 16, 0);
    ELSIF v_column.atthasdef AND v_column.attgenerated = '' THEN
        PERFORM ssb_internal.raise_error(1781, 'Column already has a DEFAULT bound to it.');
    END IF;
END;
$$;

-- DROP DEFAULT is for what CREATE DEFAULT has made.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_default_constraint(p_name text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb_internal.column_default AS d
                WHERE d.namespace = to_regnamespace(quote_ident((parse_ident(p_name))[1])) AND d.name = (parse_ident(p_name))[2]) THEN
        PERFORM ssb_internal.raise_error(3717, 'Cannot drop a default constraint by DROP DEFAULT statement. Use ALTER TABLE to drop a default '
                                               'constraint.');
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.column_of_default(p_table regclass, p_name text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT d.column_name FROM ssb_internal.column_default AS d WHERE d.relation = p_table AND d.name = p_name; $$;

-- p_name as above. ALTER TABLE … DROP CONSTRAINT of a constraint, or of what is only a default here.
CREATE OR REPLACE FUNCTION ssb_internal.drop_constraint(p_table regclass, p_name text, p_if_exists boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text := (parse_ident(p_name))[1];
    v_column text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = p_table AND k.conname = v_name) THEN
        v_column := ssb_internal.column_of_default(p_table, v_name);
    END IF;
    IF v_column IS NULL THEN
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %s%I', p_table, CASE WHEN p_if_exists THEN 'IF EXISTS ' END, v_name);
    ELSE
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', p_table, v_column);
        PERFORM ssb_internal.name_default(p_table, quote_ident(v_column), NULL);
    END IF;
END;
$$;

-- Error 4922 where a constraint, an index, a default or a computed column depends on one of the columns that ALTER TABLE
-- drops, or whose type it changes. Its message has lines in front that ssb_internal.failed and `pgsb run` report as errors 5074.
-- p_gone: constraints and indexes that the same statement drops. p_type: of ALTER COLUMN, the new type: another length
-- of the type concerns fewer of them.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_dependants(p_table text, p_columns text[], p_gone text[] DEFAULT '{}', p_type text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_found record;
    v_was record;
    v_length text := substring(p_type FROM '[(](.*)[)]');
    v_is_varying boolean := to_regtype(p_type)::oid = ANY ('{varchar,text,bytea}'::regtype[]::oid[]);
    v_retypes boolean := true;
    v_resizes boolean := true;
    v_grows boolean := false;
BEGIN
    SELECT ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) AS spelling,
           ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text) AS owner INTO v_found
      FROM pg_attribute AS a
      JOIN pg_class AS c ON c.oid = a.attrelid
     WHERE a.attrelid = to_regclass(p_table) AND a.attname = ANY (p_columns) AND a.attnum > 0
       AND CASE WHEN p_type IS NOT NULL THEN a.attgenerated = 's'
                ELSE NOT EXISTS (SELECT FROM pg_attribute AS o
                                  WHERE o.attrelid = a.attrelid AND o.attnum > 0 AND NOT o.attisdropped AND o.attname <> ALL (p_columns)) END
     ORDER BY a.attnum
     LIMIT 1;
    IF FOUND AND p_type IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(4928, format('Cannot alter column ''%s'' because it is ''COMPUTED''.', v_found.spelling));
    ELSIF FOUND THEN
        PERFORM ssb_internal.raise_error(4923, format(
            'ALTER TABLE DROP COLUMN failed because ''%s'' is the only data column in table ''%s''. A table must have at least one '
            'data column.', v_found.spelling, v_found.owner));
    END IF;
    IF p_type IS NOT NULL THEN
        SELECT a.atttypid AS type, substring(format_type(a.atttypid, a.atttypmod) FROM '[(](.*)[)]') AS length INTO v_was
          FROM pg_attribute AS a
         WHERE a.attrelid = to_regclass(p_table) AND a.attname = ANY (p_columns) AND a.attnum > 0;
        v_retypes := v_was.type <> to_regtype(p_type)::oid
                     AND NOT (v_is_varying AND v_was.type = ANY ('{varchar,text}'::regtype[]::oid[]) AND to_regtype(p_type) <> 'bytea'::regtype);
        v_resizes := replace(v_was.length, ' ', '') IS DISTINCT FROM replace(v_length, ' ', '');
        v_grows := v_is_varying AND v_was.length IS NOT NULL AND (v_length IS NULL OR v_length::integer >= v_was.length::integer);
        IF (v_retypes OR v_resizes) IS NOT TRUE THEN
            RETURN;
        END IF;
    END IF;
    SELECT d.spelling, string_agg(DISTINCT format('The %s ''%s'' is dependent on column ''%s''.', o.kind, o.spelling, d.spelling), chr(10)) AS text
      INTO v_found
      FROM (SELECT a.attrelid, a.attnum, a.attname,
                   ssb_internal.spelled(col_description(a.attrelid, a.attnum), a.attname::text) AS spelling
              FROM pg_attribute AS a
             WHERE a.attrelid = to_regclass(p_table) AND a.attname = ANY (p_columns) AND a.attnum > 0) AS d
     CROSS JOIN LATERAL (
           SELECT 'object' AS kind, k.conname::text AS name, ssb_internal.spelled(obj_description(k.oid, 'pg_constraint'), k.conname::text) AS spelling
             FROM pg_constraint AS k
            WHERE (k.conrelid = d.attrelid AND d.attnum = ANY (k.conkey) AND k.contype IN ('c', 'f', 'p', 'u')
                   OR k.confrelid = d.attrelid AND d.attnum = ANY (k.confkey) AND k.contype = 'f')
              AND (v_retypes OR k.contype IN ('f', 'p') OR NOT v_is_varying)
           UNION ALL
           SELECT 'object', f.name, f.spelling FROM ssb_internal.column_default AS f
            WHERE f.relation = d.attrelid AND f.number = d.attnum AND v_retypes
           UNION ALL
           SELECT 'index', c.relname::text, ssb_internal.tsql_index_name(c.oid)
             FROM pg_index AS i
             JOIN pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid = d.attrelid AND d.attnum = ANY (i.indkey) AND (v_retypes OR NOT v_grows)
              AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.conrelid = i.indrelid)
           UNION ALL
           SELECT 'column', g.attname::text, ssb_internal.spelled(col_description(g.attrelid, g.attnum), g.attname::text)
             FROM pg_depend AS p
             -- It is the expression's, of PostgreSQL 14 the column's.
             JOIN pg_attrdef AS e ON CASE p.classid WHEN 'pg_attrdef'::regclass THEN e.oid = p.objid
                                                    WHEN 'pg_class'::regclass THEN e.adrelid = p.objid AND e.adnum = p.objsubid END
             JOIN pg_attribute AS g ON g.attrelid = e.adrelid AND g.attnum = e.adnum
            WHERE p.refclassid = 'pg_class'::regclass AND p.refobjid = d.attrelid
              AND p.refobjsubid = d.attnum AND g.attgenerated <> '' AND g.attnum <> d.attnum AND g.attname <> ALL (p_columns)
           UNION ALL
           SELECT 'object', c.relname::text, ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text)
             FROM pg_depend AS p
             JOIN pg_rewrite AS w ON p.classid = 'pg_rewrite'::regclass AND w.oid = p.objid
             JOIN pg_class AS c ON c.oid = w.ev_class
            WHERE p.refclassid = 'pg_class'::regclass AND p.refobjid = d.attrelid AND p.refobjsubid = d.attnum
              AND ssb_internal.is_schema_bound(c.oid)
           UNION ALL
           -- (Nobody but the compiler knows what a function reads.)
           SELECT 'object', b.spelling, b.spelling
             FROM ssb_internal.bound_dependent(format('%s.%I', p_table, d.attname)) AS b (spelling)
            WHERE b.spelling IS NOT NULL) AS o
     WHERE o.name <> ALL (p_gone)
     GROUP BY d.attnum, d.spelling
     ORDER BY array_position(p_columns, d.spelling), d.attnum
     LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(4922, format(
            E'%s\nALTER TABLE %s COLUMN %s failed because one or more objects access this column.', v_found.text,
            CASE WHEN p_type IS NULL THEN 'DROP' ELSE 'ALTER' END, v_found.spelling), 16, 9);
    END IF;
    PERFORM ssb_internal.loosen_synonyms(to_regclass(p_table));
    PERFORM ssb_internal.unbind_views('pg_class', to_regclass(p_table), p_columns);
    PERFORM ssb_internal.drop_update_notes(to_regclass(p_table), p_columns => p_columns);
END;
$$;
