-- What PostgreSQL refuses in a query that it could read: aggregates, windows, common table expressions, row limits.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- p_name: the first that the message names.
CREATE OR REPLACE FUNCTION ssb_internal.query_error(sqlstate_code text, p_message text, p_name text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_types text[];
BEGIN
    CASE sqlstate_code
    WHEN '42601' THEN
        -- Columns that are only known when it runs: the rows have more values than the table has columns, or fewer.
        IF p_message ~ '^INSERT ' THEN
            v_error := ROW(213, 'Column name or number of supplied values does not match table definition.', 16, 1, NULL, NULL);
        ELSIF p_message ~ '^subquery ' THEN
            v_error := ROW(116, 'Only one expression can be specified in the select list when the subquery is not introduced with '
                                'EXISTS.', 16, 1, NULL, NULL);
        ELSIF p_message ~ '^multiple assignments ' THEN
            v_error := ROW(264, format('The column name ''%s'' is specified more than once in the SET clause or column list of an INSERT. '
                                       'A column cannot be assigned more than one value in the same clause. Modify the clause to make '
                                       'sure that a column is updated only once. If this statement updates or inserts columns into a '
                                       'view, column aliasing can conceal the duplication in your code.', p_name), 16, 1, NULL, NULL);
        END IF;
    WHEN '42702' THEN
        v_error := ROW(209, format('Ambiguous column name ''%s''.', p_name), 16, 1, NULL, NULL);
    WHEN '42712' THEN
        v_error := CASE WHEN p_message ~ '^WITH query name '
            THEN ROW(239, format('Duplicate common table expression name ''%s'' was specified.', p_name), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(1011, format('The correlation name ''%s'' is specified multiple times in a FROM clause.', p_name),
                     16, 1, NULL, NULL)::ssb.error END;
    WHEN '42803' THEN
        v_error := CASE
            WHEN p_name IS NOT NULL
            THEN ROW(8120, format('Column ''%s'' is invalid in the select list because it is not contained in either an aggregate '
                                  'function or the GROUP BY clause.', p_name), 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ 'nested'
            THEN ROW(130, 'Cannot perform an aggregate function on an expression containing an aggregate or a subquery.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ 'cannot contain window function calls'
            THEN ROW(4109, 'Windowed functions cannot be used in the context of another windowed function or aggregate.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in UPDATE$'
            THEN ROW(157, 'An aggregate may not appear in the set list of an UPDATE statement.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in RETURNING$'
            THEN ROW(158, 'An aggregate may not appear in the OUTPUT clause.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in GROUP BY$'
            THEN ROW(144, 'Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.',
                     15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in (check constraints|column generation expressions)$'
            THEN ROW(175, 'An aggregate may not appear in a computed column expression or check constraint.', 15, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' in JOIN conditions$'
            THEN ROW(1015, 'An aggregate cannot appear in an ON clause unless it is in a subquery contained in a HAVING clause or select '
                           'list, and the column being aggregated is an outer reference.', 15, 1, NULL, NULL)::ssb.error
            ELSE ROW(147, 'An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause '
                          'or a select list, and the column being aggregated is an outer reference.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '42804' THEN
        v_types := regexp_match(p_message, '^column ".*" is of type (.+) but expression is of type (.+)$');
        IF v_types IS NOT NULL THEN
            v_error := ROW(206, format('Operand type clash: %s is incompatible with %s', ssb_internal.operand_type(v_types[2]),
                                       ssb_internal.tsql_type_in(v_types[1], v_types[1])), 16, 2, NULL, NULL);
        END IF;
    WHEN '42P10' THEN
        v_error := CASE WHEN p_message ~ '[0-9]'
            THEN ROW(108, format('The ORDER BY position number %s is out of range of the number of items in the select list.',
                                 substring(p_message FROM '[0-9]+')), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(145, 'ORDER BY items must appear in the select list if SELECT DISTINCT is specified.', 15, 1, NULL, NULL)::ssb.error
            END;
    WHEN '42P19' THEN
        -- A recursive common table expression. PostgreSQL does not name it where it finds an aggregate.
        v_error := CASE
            WHEN p_message ~ ' must have the form '
            THEN ROW(252, format('Recursive common table expression ''%s'' does not contain a top-level UNION ALL operator.', p_name),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' more than once$'
            THEN ROW(253, format('Recursive member of a common table expression ''%s'' has multiple recursive references.', p_name),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within its non-recursive term$'
            THEN ROW(246, format('No anchor member was specified for recursive query "%s".', p_name), 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within an outer join$'
            THEN ROW(462, format('Outer join is not allowed in the recursive part of a recursive common table expression ''%s''.', p_name),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ' within a subquery$'
            THEN ROW(465, 'Recursive references are not allowed in subqueries.', 16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ '^aggregate functions '
            THEN ROW(467, 'GROUP BY, HAVING, or aggregate functions are not allowed in the recursive part of a recursive common table '
                          'expression ''''.', 16, 1, NULL, NULL)::ssb.error
            ELSE v_error END;
    WHEN '42P20' THEN
        v_error := CASE WHEN p_message ~ 'nested|in window definitions$'
            THEN ROW(4109, 'Windowed functions cannot be used in the context of another windowed function or aggregate.',
                     15, 1, NULL, NULL)::ssb.error
            ELSE ROW(4108, 'Windowed functions can only appear in the SELECT or ORDER BY clauses.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '21000' THEN
        v_error := ROW(512, 'Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, '
                            '<= , >, >= or when the subquery is used as an expression.', 16, 1, NULL, NULL);
    WHEN '2201W' THEN
        v_error := CASE WHEN p_message ~ 'NULL'
            THEN ROW(1060, 'The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.',
                     15, 1, NULL, NULL)::ssb.error
            ELSE ROW(127, 'A TOP N or FETCH rowcount value may not be negative.', 15, 1, NULL, NULL)::ssb.error END;
    WHEN '2201X' THEN
        v_error := ROW(10742, 'The offset specified in a OFFSET clause may not be negative.', 15, 1, NULL, NULL);
    WHEN '2202H' THEN
        v_error := ROW(476, 'Invalid PERCENT tablesample size. The PERCENT tablesample size must be between 0 and 100.', 15, 1, NULL, NULL);
    WHEN '22014' THEN
        v_error := ROW(4116, 'The function ''ntile'' takes only a positive int or bigint expression as its input.', 16, 1, NULL, NULL);
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
