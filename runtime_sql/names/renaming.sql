-- Other names and other schemas for what there is: sp_rename, ALTER SCHEMA … TRANSFER.
--
-- Called by  compiled sp_rename and ALTER SCHEMA

-- A queue's view: neither it nor its columns can be renamed, in SQL Server either.
CREATE OR REPLACE FUNCTION ssb_internal.is_queue(relation regclass)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     JOIN ssb.queue AS q ON q.schema_name = n.nspname AND q.relation_name = c.relname
                    WHERE c.oid = relation)
$$;

-- Whether a schema has an object of that name: a table or view, a constraint, a default, a procedure or function.
CREATE OR REPLACE FUNCTION ssb_internal.object_name_is_used(p_schema oid, p_name text)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = p_schema AND c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S'))
        OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.connamespace = p_schema AND k.conname = p_name)
        OR EXISTS (SELECT FROM ssb_internal.column_default AS d WHERE d.namespace = p_schema AND d.name = p_name)
        OR EXISTS (SELECT FROM pg_proc AS f WHERE f.pronamespace = p_schema AND f.proname = p_name)
$$;

-- An index's name as the compiler gives it (compiler/sql/ddl/tables.index_name).
CREATE OR REPLACE FUNCTION ssb_internal.postgres_index_name(p_name text, p_table text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN strpos(sys.fold(p_name), p_table) > 0 THEN sys.fold(p_name) ELSE sys.fold(p_table || '__' || sys.fold(p_name)) END $$;

-- Indexes are named after their table, so that the next table of its old name may have indexes of the same names.
CREATE OR REPLACE FUNCTION ssb_internal.rename_indexes(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index regclass;
    v_old text;
    v_new text;
BEGIN
    FOR v_index, v_old, v_new IN
        SELECT i.indexrelid, c.relname,
               ssb_internal.postgres_index_name(CASE WHEN right(c.relname, 9) ~ '^_[0-9a-f]{8}$' THEN ssb_internal.tsql_index_name(i.indexrelid)
                                                     ELSE n.name END, t.relname)
          FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indexrelid
          JOIN pg_class AS t ON t.oid = i.indrelid
         CROSS JOIN LATERAL (SELECT coalesce(substring(c.relname FROM '__(.+)$'), c.relname) AS name) AS n
         WHERE i.indrelid = p_table AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid)
    LOOP
        IF v_new <> v_old THEN
            EXECUTE format('ALTER INDEX %s RENAME TO %I ;', v_index, v_new);
        END IF;
    END LOOP;
END;
$$;

-- Extended properties know what they are of by words, too, for a database that is restored: those of an object with another
-- name or schema, of its columns, constraints and triggers. They are the catalog's; only whose the object is
-- may call, as its renaming needs: the rows are locked until the caller's transaction ends, before everybody who changes them.
CREATE OR REPLACE FUNCTION ssb_internal.refresh_properties(p_object oid)
RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE ssb.extended_property AS e
       SET target = ARRAY[e.target[1], ssb_internal.tsql_schema(n.nspname::text), e.target[3], o.name, e.target[5],
                          coalesce(o.part, (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = o.relation AND a.attnum = nullif(e.minor_id, 0)),
                                   e.target[6])]
      FROM (SELECT c.oid, c.oid AS relation, c.relnamespace, c.relname, NULL, c.relowner FROM pg_class AS c WHERE c.oid = p_object
            UNION ALL SELECT p.oid, NULL, p.pronamespace, p.proname, NULL, p.proowner FROM pg_proc AS p WHERE p.oid = p_object
            UNION ALL SELECT k.oid, NULL, c.relnamespace, c.relname, k.conname, c.relowner
                        FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid WHERE k.conrelid = p_object
            UNION ALL SELECT d.oid, NULL, c.relnamespace, c.relname, NULL, c.relowner
                        FROM pg_attrdef AS d JOIN pg_class AS c ON c.oid = d.adrelid WHERE d.adrelid = p_object
            UNION ALL SELECT t.oid, NULL, c.relnamespace, c.relname, t.tgname, c.relowner
                        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid WHERE t.tgrelid = p_object) AS o (id, relation, namespace, name, part, owner)
      JOIN pg_namespace AS n ON n.oid = o.namespace
     WHERE e.class = 1 AND e.major_id = o.id::integer AND e.numbered_in = 'ssb'::regnamespace AND e.target IS NOT NULL
       AND pg_has_role(ssb_internal.caller(), o.owner, 'USAGE');
$$;

-- sp_rename of a table, view, constraint, default, index or, as 'table.column' with type COLUMN, a column. Not of a
-- procedure: its parameters are written with its name.
CREATE OR REPLACE FUNCTION ssb_internal.rename_object(object_name text, new_name text, object_type text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := sys.name_parts(object_name);
    v_owner text := ssb_internal.module_name(
        (SELECT string_agg(ssb_internal.in_brackets(p.name), '.' ORDER BY p.place)
           FROM unnest(v_parts[1:cardinality(v_parts) - 1]) WITH ORDINALITY AS p (name, place)), database);
    v_module text := ssb_internal.module_name(object_name, database);
    v_schema oid := to_regnamespace(quote_ident((parse_ident(v_module))[1]));
    v_named text := (parse_ident(v_module))[2];
    v_part text := v_parts[cardinality(v_parts)];
    v_new text := sys.fold(new_name);
    v_relation regclass := to_regclass(v_module);
    v_table regclass;
    v_column text;
    v_default text;
    v_rename text;
    v_used boolean;
    v_is_rowversion boolean;
BEGIN
    IF new_name IS NULL THEN
        PERFORM ssb_internal.raise_error(15223, 'Error: The input parameter ''NewName'' is not allowed to be null.', 11);
    ELSIF cardinality(v_parts) IS NULL THEN
        PERFORM ssb_internal.raise_error(15253, format('Syntax error parsing SQL identifier ''%s''.', coalesce(object_name, '(null)')), 11);
    ELSIF new_name = '' OR length(new_name) > 128 THEN
        PERFORM ssb_internal.raise_error(15224, format('Error: The value for the @newname parameter contains invalid characters or '
                                                       'violates a basic restriction (%s).', new_name), 11);
    ELSIF upper(object_type COLLATE "C") NOT IN ('COLUMN', 'DATABASE', 'INDEX', 'OBJECT', 'STATISTICS', 'USERDATATYPE') THEN
        PERFORM ssb_internal.raise_error(15249, format('Error: Explicit @objtype ''%s'' is unrecognized.', object_type), 11);
    ELSIF cardinality(v_parts) - (upper(object_type COLLATE "C") IN ('COLUMN', 'INDEX') IS TRUE)::integer = 3
          AND ssb_internal.find_database(v_parts[1]) IS DISTINCT FROM ssb_internal.database_id_of(database) THEN
        PERFORM ssb_internal.raise_error(15333, format('Error: The qualified @oldname references a database (%s) other than the current '
                                                       'database.', v_parts[1]), 11);
    END IF;
    IF ssb_internal.is_system_schema((parse_ident(CASE WHEN upper(object_type COLLATE "C") IN ('COLUMN', 'INDEX') THEN v_owner ELSE v_module END))[1])
       OR upper(object_type COLLATE "C") IN ('COLUMN', 'INDEX') AND (to_regclass(v_owner) IS NULL OR ssb_internal.is_queue(to_regclass(v_owner))) THEN
        NULL;  -- 15225 and 15248 below
    ELSIF upper(object_type COLLATE "C") = 'COLUMN' THEN
        SELECT format('ALTER TABLE %s RENAME COLUMN %I TO %I ;', v_owner, a.attname, v_new) INTO v_rename
          FROM pg_attribute AS a WHERE a.attrelid = v_owner::regclass AND a.attname = sys.fold(v_part) AND a.attnum > 0;
        v_is_rowversion := (SELECT ssb_internal.is_rowversion(a) FROM pg_attribute AS a
                             WHERE a.attrelid = v_owner::regclass AND a.attname = sys.fold(v_part) AND a.attnum > 0);
        v_default := (SELECT d.spelling FROM ssb_internal.column_default AS d
                       WHERE d.relation = v_owner::regclass AND d.column_name = sys.fold(v_part) AND NOT d.is_system_named);
        v_used := v_new <> sys.fold(v_part)
                  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_owner::regclass AND a.attname = v_new AND NOT a.attisdropped);
    ELSIF upper(object_type COLLATE "C") = 'INDEX' THEN
        v_table := v_owner;
        -- The names of constraints' indexes are the constraints'.
        SELECT format('ALTER INDEX %s RENAME TO %I ;', i.indexrelid::regclass,
                      CASE WHEN EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
                           THEN v_new ELSE ssb_internal.postgres_index_name(new_name, t.relname) END) INTO v_rename
          FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid
         WHERE i.indrelid = v_table AND sys.fold(ssb_internal.tsql_index_name(i.indexrelid)) = sys.fold(v_part);
        v_used := v_new <> sys.fold(v_part)
                  AND EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = v_table AND sys.fold(ssb_internal.tsql_index_name(i.indexrelid)) = v_new);
    ELSE
        -- A key's index has its name: the constraint first.
        SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I ;', c.conrelid::regclass, c.conname, v_new), c.conrelid
          INTO v_rename, v_table
          FROM pg_constraint AS c WHERE c.connamespace = v_schema AND c.conname = v_named AND c.conrelid <> 0;
        IF v_rename IS NULL AND v_relation IS NOT NULL AND NOT ssb_internal.is_queue(v_relation) THEN
            v_rename := format('ALTER TABLE %s RENAME TO %I ;', v_module, v_new);
        ELSIF v_rename IS NULL THEN
            SELECT d.relation, d.column_name INTO v_table, v_column
              FROM ssb_internal.column_default AS d WHERE d.namespace = v_schema AND d.name = v_named;
        END IF;
        v_used := v_new <> v_named AND ssb_internal.object_name_is_used(v_schema, v_new);
    END IF;
    IF v_rename IS NULL AND upper(object_type COLLATE "C") IN ('COLUMN', 'INDEX') THEN
        PERFORM ssb_internal.raise_error(15248, format('Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong.',
                                              upper(object_type COLLATE "C")), 11, 1);
    ELSIF EXISTS (SELECT FROM pg_proc AS f WHERE f.pronamespace = v_schema AND f.proname = v_named)
          AND NOT ssb_internal.is_system_schema((parse_ident(v_module))[1]) THEN
        PERFORM ssb_internal.raise_error(50000, 'sp_rename of a procedure, function or trigger is not supported here: create it under its new '
                                                'name, and drop the old one.', 16, 1);
    ELSIF v_rename IS NULL AND v_column IS NULL THEN
        PERFORM ssb_internal.raise_error(15225, format('No item by the name of ''%s'' could be found in the current database ''%s'', given '
            'that @itemtype was input as ''%s''.', object_name, ssb.db_name(), coalesce(object_type, '(null)')), 11, 1);
    ELSIF v_used THEN
        PERFORM ssb_internal.raise_error(15335, format('Error: The new name ''%s'' is already in use as a %s name and would cause a duplicate '
            'that is not permitted.', new_name, CASE WHEN upper(object_type COLLATE "C") IN ('COLUMN', 'INDEX') THEN upper(object_type COLLATE "C") ELSE 'object' END), 11, 1);
    END IF;
    IF v_table IS NULL AND v_new <> sys.fold(v_part)
       AND ssb_internal.bound_dependent(CASE WHEN upper(object_type COLLATE "C") = 'COLUMN' THEN format('%s.%I', v_owner, sys.fold(v_part))
                                             ELSE v_module END) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(15336, format('Object ''%s'' cannot be renamed because the object participates in enforced '
                                                       'dependencies.', object_name), 16, 1);
    END IF;
    IF v_column IS NOT NULL THEN
        PERFORM ssb_internal.name_default(v_table, quote_ident(v_column), quote_ident(new_name));
    ELSIF v_new <> sys.fold(v_part) THEN  -- else the spelling alone is new
        EXECUTE v_rename;
    END IF;
    IF upper(object_type COLLATE "C") = 'COLUMN' THEN
        PERFORM ssb_internal.keep_spelling(v_owner, NULL, ARRAY[new_name]);
        PERFORM ssb_internal.number_versions(v_owner::regclass, v_new) WHERE v_is_rowversion;
        IF v_default IS NOT NULL THEN
            PERFORM ssb_internal.name_default(v_owner::regclass, quote_ident(sys.fold(v_part)), NULL),
                    ssb_internal.name_default(v_owner::regclass, quote_ident(v_new), quote_ident(v_default));
        END IF;
    ELSIF v_table IS NOT NULL THEN
        PERFORM ssb_internal.keep_spelling(v_table::text, NULL, p_parts => ARRAY[new_name]) WHERE v_column IS NULL;
    ELSE
        PERFORM ssb_internal.rename_indexes(v_relation);
        PERFORM ssb_internal.keep_spelling(v_relation::text, new_name)
          FROM pg_class AS c WHERE c.oid = v_relation AND c.relkind IN ('r', 'p', 'v', 'S');
        PERFORM ssb_internal.rename_view_binding(v_module, v_relation::text);
    END IF;
    PERFORM ssb_internal.refresh_properties(coalesce(v_table, CASE WHEN upper(object_type COLLATE "C") = 'COLUMN' THEN v_owner::regclass END, v_relation));
    PERFORM ssb_internal.print('Caution: Changing any part of an object name could break scripts and stored procedures.');
END;
$$;

-- A table's triggers are of its schema.
CREATE OR REPLACE FUNCTION ssb_internal.transfer_triggers(p_relation regclass, p_schema text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_function regprocedure;
    v_schema text;
    v_module text;
BEGIN
    FOR v_function, v_schema, v_module IN
        SELECT p.oid, n.nspname, ssb_internal.without_part(p.proname)
          FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE p.oid = ANY (ssb_internal.functions_of_triggers(p_relation)) AND n.nspname <> p_schema
    LOOP
        EXECUTE format('ALTER ROUTINE %s SET SCHEMA %I ;', v_function, p_schema);
        PERFORM ssb_internal.move_source(format('%I.%I', v_schema, v_module), format('%I.%I', p_schema, v_module));
    END LOOP;
END;
$$;

-- Nobody but its owner has rights on it any more; that all may execute a module is PostgreSQL's own.
CREATE OR REPLACE FUNCTION ssb_internal.revoke_from_others(p_object oid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation text := (SELECT format(CASE c.relkind WHEN 'S' THEN 'SEQUENCE %s' ELSE 'TABLE %s' END, c.oid::regclass)
                          FROM pg_class AS c WHERE c.oid = p_object);
    v_object text := coalesce(v_relation, format('ROUTINE %s', p_object::regprocedure));
    v_role text;
BEGIN
    FOR v_role IN
        SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
          FROM (SELECT c.relowner, c.relacl FROM pg_class AS c WHERE c.oid = p_object
                UNION ALL
                SELECT c.relowner, t.attacl FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid WHERE c.oid = p_object
                UNION ALL
                SELECT p.proowner, p.proacl FROM pg_proc AS p WHERE p.oid = p_object) AS o (owner, acl)
         CROSS JOIN LATERAL aclexplode(o.acl) AS a
         WHERE a.grantee <> o.owner AND (a.grantee <> 0 OR v_relation IS NOT NULL)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', v_object, v_role);
    END LOOP;
END;
$$;

-- ALTER SCHEMA … TRANSFER.
CREATE OR REPLACE FUNCTION ssb_internal.transfer_object(p_schema text, p_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation regclass := to_regclass(p_name);
    v_routine regprocedure := (SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                                WHERE n.nspname = (parse_ident(p_name))[1] AND p.proname = (parse_ident(p_name))[2] LIMIT 1);
BEGIN
    IF to_regnamespace(quote_ident(p_schema)) IS NULL THEN
        PERFORM ssb_internal.raise_not_found('alter', 'schema', ssb_internal.tsql_schema(p_schema));
    ELSIF ssb_internal.is_system_schema(p_schema) THEN
        PERFORM ssb_internal.raise_error(15150, format('Cannot alter the schema ''%s''.', ssb_internal.tsql_schema(p_schema)));
    ELSIF ssb_internal.is_system_schema((parse_ident(p_name))[1]) AND coalesce(v_relation, v_routine::oid) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(15349, 'Cannot transfer an MS Shipped object.');
    ELSIF ssb_internal.is_queue(to_regclass(p_name)) THEN
        PERFORM ssb_internal.transfer_queue(p_schema, p_name);
    ELSIF ssb_internal.is_schema_bound(coalesce(v_relation, v_routine::oid))
          OR coalesce(ssb_internal.bound_dependent(p_name), ssb_internal.bound_dependent(p_name || '()')) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(15348, 'Cannot transfer a schemabound object.');
    ELSIF v_relation IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s SET SCHEMA %I ;', p_name, p_schema);
        PERFORM ssb_internal.rename_view_binding(p_name, v_relation::text);
        PERFORM ssb_internal.move_source(p_name, v_relation::text);
        PERFORM ssb_internal.transfer_triggers(v_relation, p_schema);
        PERFORM ssb_internal.revoke_from_others(v_relation);
    ELSIF v_routine IS NOT NULL THEN
        EXECUTE format('ALTER ROUTINE %s SET SCHEMA %I ;', v_routine, p_schema);
        PERFORM ssb_internal.move_source(p_name, format('%I.%I', p_schema, (parse_ident(p_name))[2]));
        PERFORM ssb_internal.revoke_from_others(v_routine);
    ELSE
        PERFORM ssb_internal.raise_error(15151, format('Cannot find the object ''%s'', because it does not exist or you do not have '
                                              'permission.', (parse_ident(p_name))[2]));
    END IF;
    PERFORM ssb_internal.refresh_properties(coalesce(v_relation, v_routine::oid));
END;
$$;
