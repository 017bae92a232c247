-- What cannot be done to an object that there is, or not made because there is one.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- A view through which PostgreSQL changes no rows: p_detail tells why.
CREATE OR REPLACE FUNCTION ssb_internal.error_of_view(p_view text, p_detail text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := ssb_internal.table_named(p_view);
BEGIN
    RETURN CASE
        WHEN to_regclass('sys.' || quote_ident(p_view)) IS NOT NULL AND v_name ~ '^(sys[.].*|[^.]*)$'
        THEN ROW(259, 'Ad hoc updates to system catalogs are not allowed.', 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'UNION'
        THEN ROW(4416, format('UNION ALL view ''%s'' is not updatable because the definition contains a disallowed construct.', v_name),
                 16, 1, NULL, NULL)::ssb.error
        WHEN EXISTS (SELECT FROM pg_class AS c WHERE c.relname = p_view AND c.relkind = 'v' AND ssb_internal.is_unbound(c.oid))
        THEN ROW(4413, format('Could not use view or function ''%s'' because of binding errors.', v_name), 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'single table'
        THEN ROW(4405, format('View or function ''%s'' is not updatable because the modification affects multiple base tables.', v_name),
                 16, 1, NULL, NULL)::ssb.error
        WHEN p_detail ~ 'GROUP BY|DISTINCT|HAVING|aggregate'
        THEN ROW(4403, format('Cannot update the view or function ''%s'' because it contains aggregates, or a DISTINCT or GROUP BY clause, '
                              'or PIVOT or UNPIVOT operator.', v_name), 16, 1, NULL, NULL)::ssb.error
        ELSE ROW(4406, format('Update or insert of view or function ''%s'' failed because it contains a derived or constant field.', v_name),
                 16, 1, NULL, NULL)::ssb.error
    END;
END;
$$;

-- p_name: the first that the message names.
CREATE OR REPLACE FUNCTION ssb_internal.object_error(sqlstate_code text, p_message text, p_detail text, p_name text, p_verb text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_types text[];
BEGIN
    CASE sqlstate_code
    WHEN '42701' THEN
        -- Each table has its system columns: what SELECT INTO calls so has no error of SQL Server's.
        v_error := CASE WHEN p_message ~ 'conflicts with a system column' THEN v_error ELSE ROW(2705, format('Column names in each table must be unique. Column name ''%s'' in table ''%s'' is specified more '
                                    'than once.', p_name, coalesce(ssb_internal.table_named(ssb_internal.quoted_name(p_message, 2)), '')), 16, 4, NULL, NULL)::ssb.error END;
    WHEN '42P07', '42723', '42710' THEN
        v_error := coalesce(
            CASE p_verb WHEN 'CREATE TYPE'
            THEN ROW(219, format('The type ''%s'' already exists, or you do not have permission to create it.', p_name), 16, 1, NULL, NULL)::ssb.error END,
            (SELECT ROW(1913, format('The operation failed because an index or statistics with name ''%s'' already exists on '
                                     'table ''%s''.', ssb_internal.tsql_index_name(i.oid),
                                     ssb_internal.spelled(obj_description(t.oid, 'pg_class'), t.relname::text)), 16, 1, NULL, NULL)::ssb.error
               FROM pg_catalog.pg_class AS i
               JOIN pg_catalog.pg_index AS x ON x.indexrelid = i.oid
               JOIN pg_catalog.pg_class AS t ON t.oid = x.indrelid
              WHERE i.relname = p_name AND i.relname LIKE t.relname || '\_\_%' LIMIT 1),
            -- State 5: the name is that of a constraint.
            ROW(2714, format('There is already an object named ''%s'' in the database.', p_name), 16,
                CASE WHEN p_message ~ '^constraint' OR EXISTS (
                     SELECT FROM pg_catalog.pg_constraint AS c WHERE c.conname = p_name AND c.contype IN ('p', 'u')) THEN 5 ELSE 6 END,
                NULL, NULL)::ssb.error);
    WHEN '42P16' THEN
        IF p_message ~ '^multiple primary keys for table' THEN
            v_error := CASE WHEN p_verb = 'ALTER TABLE'
                THEN ROW(1779, format('Table ''%s'' already has a primary key defined on it.', ssb_internal.spelled_relation(p_name)),
                         16, 0, NULL, NULL)::ssb.error
                ELSE ROW(8110, format('Cannot add multiple PRIMARY KEY constraints to table ''%s''.', ssb_internal.table_named(p_name)),
                         16, 0, NULL, NULL)::ssb.error END;
        END IF;
    WHEN '42P17' THEN
        IF p_message ~ '^generation expression is not immutable' THEN
            v_error := ROW(4936, 'PostgreSQL stores computed columns, and the expression of one may change from call to call. '
                                 'Put it into a view.', 16, 1, NULL, NULL);
        END IF;
    WHEN '42830' THEN
        v_error := ROW(1776, format('There are no primary or candidate keys in the referenced table ''%s'' that match the referencing column '
                                    'list in the foreign key.', p_name), 16, 0, NULL, NULL);
    WHEN '2BP01' THEN
        IF p_message ~ '^cannot drop column' THEN
            v_error := ROW(4922, format('ALTER TABLE DROP COLUMN %s failed because one or more objects access this column.',
                                        substring(p_message FROM '^cannot drop column (.+?) of ')), 16, 9, NULL, NULL);
        ELSIF p_message ~ '^cannot drop constraint ' AND p_detail ~ '^constraint .* on table .* depends on ' THEN
            v_types := regexp_match(p_detail, '^constraint (.+?) on table (?:.+?[.])?(\S+) depends on ');
            v_error := ROW(3725, format('The constraint ''%s'' is being referenced by table ''%s'', foreign key constraint ''%s''.',
                                        substring(p_message FROM '^cannot drop constraint (.+?) on table '),
                                        ssb_internal.spelled_relation(v_types[2]), v_types[1]), 16, 0, NULL, NULL);
        ELSIF p_message ~ '^cannot drop index .* because constraint .* requires it$' THEN
            v_types := regexp_match(p_message, ' because constraint (.+) on table (.+) requires it$');
            v_error := ssb_internal.constraint_index_error(
                (parse_ident(v_types[2]))[cardinality(parse_ident(v_types[2]))], v_types[1],
                (SELECT c.contype FROM pg_constraint AS c WHERE c.conrelid = to_regclass(v_types[2]) AND c.conname = v_types[1]));
        END IF;
    WHEN '0A000' THEN
        IF p_message LIKE 'cannot access temporary or unlogged relations%' THEN
            -- A standby: what a statement that changes something reads first may be in such a table.
            v_error := ROW(3906, format('Failed to update database "%s" because the database is read-only.', ssb.db_name()),
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^invalid UNION/INTERSECT/EXCEPT ORDER BY clause$' THEN
            v_error := ROW(104, 'ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.',
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot use subquery in ' THEN
            v_error := ROW(1046, 'Subqueries are not allowed in this context. Only scalar expressions are allowed.', 15, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot truncate a table referenced in a foreign key' THEN
            v_error := ROW(4712, format('Cannot truncate table ''%s'' because it is being referenced by a FOREIGN KEY constraint.',
                                        ssb_internal.table_named(ssb_internal.quoted_name(p_detail, 2))), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot alter type of a column used by' THEN
            v_error := ROW(4922, format('ALTER TABLE ALTER COLUMN %s failed because one or more objects access this column.',
                                        ssb_internal.quoted_name(p_detail, 1)), 16, 9, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|merge into) column .* of view' THEN
            v_error := ssb_internal.error_of_view(ssb_internal.quoted_name(p_message, 2), p_detail);
        END IF;
    WHEN '55000', '42809' THEN
        -- A query of an index or a type, whose names are among those of tables here; TRUNCATE of a view or queue; INSERT, UPDATE, DELETE of a queue.
        IF p_message ~ 'is not a table$' AND coalesce(p_verb, '') IN ('', 'TRUNCATE TABLE') THEN
            v_error := ROW(4708, format('Could not truncate object ''%s'' because it is not a table.', p_name), 16, 1, NULL, NULL);
        -- PostgreSQL 18 says the latter, of a table where it wants a sequence.
        ELSIF p_message ~ '^".*" is not a sequence$' OR p_message ~ '^cannot open relation '
              AND EXISTS (SELECT FROM pg_class AS c WHERE c.relname = p_name AND c.relkind IN ('r', 'p', 'v'))
              AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relname = p_name AND c.relkind IN ('i', 'c')) THEN
            v_error := ROW(11726, format('Object ''%s'' is not a sequence object.', p_name), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot open relation |^".*" is an? (index|composite type)$' THEN
            v_error := ROW(208, format('Invalid object name ''%s''.', p_name), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|delete from|merge into) ' AND ssb_internal.names_queue(p_name) THEN
            v_error := ROW(416, format('The service queue "%s" cannot be directly updated.', p_name), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot (insert into|update|delete from|merge into) view' THEN
            v_error := ssb_internal.error_of_view(p_name, p_detail);
        -- The latter is PostgreSQL 14's, here and below.
        ELSIF p_message ~ '^cannot create index on relation | is not a table or materialized view$' AND ssb_internal.names_queue(p_name) THEN
            v_error := ROW(1914, format('Index cannot be created on object ''%s'' because the object is not a user table or view.', p_name),
                           16, 1, NULL, NULL);
        ELSIF p_message ~ '^cannot create index on relation | is not a table or materialized view$' THEN
            v_error := ROW(1088, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                        p_name), 16, 12, NULL, NULL);
        ELSIF p_message ~ '^".*" is a view$' AND p_detail ~ '[Tt]riggers' THEN
            v_error := ROW(8197, format('The object ''%s'' does not exist or is invalid for this operation.', p_name), 16, 6, NULL, NULL);
        ELSIF p_message ~ '^cannot change sequence ' THEN
            v_error := ROW(208, format('Invalid object name ''%s''.', p_name), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^ALTER action .* cannot be performed on relation ' AND p_detail ~ 'views'
              OR p_message ~ ' is not a table, composite type, or foreign table$'
                 AND EXISTS (SELECT FROM pg_class AS c WHERE c.relname = p_name AND c.relkind = 'v') THEN
            v_error := ROW(4909, format('Cannot alter ''%s'' because it is not a table.', p_name), 16, 1, NULL, NULL);
        ELSIF p_message ~ '^ALTER action .* cannot be performed on relation | is not a table, composite type, or foreign table$' THEN
            v_error := ROW(4902, format('Cannot find the object "%s" because it does not exist or you do not have permissions.',
                                        p_name), 16, 1, NULL, NULL);
        END IF;
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
