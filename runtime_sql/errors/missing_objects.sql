-- What a statement names and is not there: 208, 207, 2812, 4121 and their like.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- 4121, of a function in an expression.
CREATE OR REPLACE FUNCTION ssb_internal.no_function_error(p_schema text, p_name text)
RETURNS ssb.error
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ROW(4121, format('Cannot find either column "%s" or the user-defined function or aggregate "%s", or the name is ambiguous.',
                            coalesce(p_schema, p_name), concat_ws('.', p_schema, p_name)), 16, 1, NULL, NULL)::ssb.error
$$;

-- 3723, of the index of a PRIMARY KEY or UNIQUE constraint.
CREATE OR REPLACE FUNCTION ssb_internal.constraint_index_error(p_table text, p_constraint text, p_kind "char")
RETURNS ssb.error
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ROW(3723, format('An explicit DROP INDEX is not allowed on index ''%s.%s''. It is being used for %s constraint enforcement.',
                            ssb_internal.spelled_relation(p_table), p_constraint,
                            CASE p_kind WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE KEY' END), 16, 4, NULL, NULL)::ssb.error
$$;

-- p_name: the first that the message names; p_action: of ALTER TABLE; p_behind: the table whose column it alters; p_unknown: names
-- in FROM that the compiler did not know.
CREATE OR REPLACE FUNCTION ssb_internal.missing_object_error(sqlstate_code text, p_message text, p_name text, p_verb text, p_action text, p_behind text, p_unknown text[])
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_types text[];
BEGIN
    CASE sqlstate_code
    WHEN '42P01', '3F000' THEN
        v_error := CASE
            -- "missing FROM-clause entry for table …", where no relation is looked for.
            WHEN p_message ~ 'FROM-clause'
            THEN ROW(4104, format('The multi-part identifier "%s" could not be bound.', p_name), 16, 1, NULL, NULL)::ssb.error
            -- Of a schema that is not there PostgreSQL tells no more: the text has the object (ssb_internal.as_written).
            WHEN p_verb IN ('ALTER TABLE', 'TRUNCATE TABLE', 'CREATE INDEX', 'ALTER INDEX')
            THEN ROW(CASE p_verb WHEN 'ALTER TABLE' THEN 4902 WHEN 'TRUNCATE TABLE' THEN 4701 ELSE 1088 END,
                     format('Cannot find the object "%s%s" because it does not exist or you do not have permissions.',
                            p_name, CASE WHEN sqlstate_code = '3F000' AND p_name NOT LIKE '#%' THEN '.*' END),
                     16, CASE p_verb WHEN 'CREATE INDEX' THEN 12 WHEN 'ALTER INDEX' THEN 9 ELSE 1 END, NULL, NULL)::ssb.error
            WHEN p_verb = 'DROP INDEX'
            THEN ROW(3701, format('Cannot drop the index ''%s%s'', because it does not exist or you do not have permission.', p_name,
                                  CASE WHEN sqlstate_code = '3F000' AND p_name NOT LIKE '#%' THEN '.*' END),
                     11, 7, NULL, NULL)::ssb.error
            -- A function's schema, or that of what is to be made.
            WHEN sqlstate_code = '3F000' AND p_name NOT LIKE '#%'
            THEN CASE WHEN p_unknown[1] LIKE '%()' THEN ssb_internal.no_function_error(p_name, rtrim(p_unknown[1], '()'))
                      WHEN cardinality(p_unknown) > 0
                      THEN ROW(208, format('Invalid object name ''%s.%s''.', p_name, p_unknown[1]), 16, 1, NULL, NULL)::ssb.error
                      ELSE ssb_internal.no_schema_error(ssb_internal.quoted_name(p_message, 1)) END
            ELSE ROW(208, format('Invalid object name ''%s''.', p_name), 16, (p_name !~ '^(.*[.])?#')::integer, NULL, NULL)::ssb.error END;
    WHEN '42883' THEN
        -- "procedure dbo.p(…) does not exist", "function dbo.f(…) does not exist": no quotation marks here.
        IF p_message ~ '^procedure ' THEN
            v_types := regexp_match(p_message, '^procedure (?:([^.(]+)[.])?([^(]+)');
            v_error := ROW(2812, format('Could not find stored procedure ''%s''.',
                                        concat_ws('.', ssb_internal.tsql_schema(v_types[1]), v_types[2])), 16, 62, NULL, NULL);
        ELSIF p_message ~ 'sys\.convert_\w+\(' THEN
            -- "function sys.convert_int(uuid) does not exist": T-SQL has no such conversion.
            v_types := regexp_match(p_message, 'sys\.convert_(\w+)\(([^,)]+)');
            v_error := ROW(206, format('Operand type clash: %s is incompatible with %s', ssb_internal.tsql_type_in(v_types[2], v_types[2]),
                                       v_types[1]), 16, 2, NULL, NULL);
        ELSIF p_message ~ ' (sys\.)?xml\M' AND p_message !~ '\(' THEN
            v_error := ROW(305, 'The XML data type cannot be compared or sorted, except when using the IS NULL operator.',
                           16, 1, NULL, NULL);
        ELSIF p_message !~ '\(' THEN
            -- "operator does not exist: boolean = integer"
            v_types := regexp_match(p_message, ': (.+) ([-+*/<>=~!@#%^&|?]+) (.+)$');
            v_error := ROW(402, format('The data types %s and %s are incompatible in the %s operator.',
                                       ssb_internal.operand_type(v_types[1]), ssb_internal.operand_type(v_types[3]),
                                       coalesce(ssb_internal.operator_name(v_types[2]), quote_literal(replace(v_types[2], '#', '^')))),
                           16, 1, NULL, NULL);
            IF v_types IS NULL THEN
                -- "operator does not exist: ~ character varying"
                v_types := regexp_match(p_message, ': (\S+) (.+)$');
                v_error := ROW(8117, format('Operand data type %s is invalid for %s operator.', ssb_internal.operand_type(v_types[2]),
                                            CASE v_types[1] WHEN '-' THEN 'minus' ELSE quote_literal(v_types[1]) END), 16, 1, NULL, NULL);
            END IF;
        ELSE
            v_types := regexp_match(p_message, '^\w+ (?:([^.(]+)[.])?([^(]+)\(');
            v_types[1] := ssb_internal.tsql_schema(v_types[1]);
            IF v_types[2] = ANY (p_unknown) THEN
                RETURN ROW(208, format('Invalid object name ''%s''.', concat_ws('.', v_types[1], v_types[2])), 16, 1, NULL, NULL)::ssb.error;
            END IF;
            v_error := ssb_internal.no_function_error(v_types[1], v_types[2]);
        END IF;
    WHEN '42703' THEN
        -- "column t.a does not exist": no quotation marks here.
        p_name := coalesce(p_name, substring(p_message FROM '^column [^.]*\.(.+) does not exist$'),
                            substring(p_message FROM '[\w$]+\.([\w$]+)'), p_message);
        v_error := CASE
            WHEN p_action ~ 'COLUMN$'
            THEN ROW(4924, format('%s failed because column ''%s'' does not exist in table ''%s''.', p_action, p_name, p_behind),
                     16, 1, NULL, NULL)::ssb.error
            WHEN p_verb = 'CREATE INDEX' OR p_message ~ ' named in key does not exist$'
                 -- A key that ALTER TABLE adds.
                 OR p_verb = 'ALTER TABLE' AND p_message ~ '^column ".*" of relation ".*" does not exist$'
            THEN ROW(1911, format('Column name ''%s'' does not exist in the target table or view.', p_name), 16, 1, NULL, NULL)::ssb.error
            ELSE ROW(207, format('Invalid column name ''%s''.', p_name), 16, 1, NULL, NULL)::ssb.error END;
    WHEN '42704' THEN
        IF p_message ~ '^index' THEN
            -- The index of a constraint has the constraint's name, without its table's.
            SELECT e.* INTO v_error
              FROM pg_constraint AS c
              JOIN pg_class AS t ON t.oid = c.conrelid
              JOIN pg_namespace AS n ON n.oid = t.relnamespace
             CROSS JOIN LATERAL ssb_internal.constraint_index_error(t.relname, c.conname, c.contype) AS e
             WHERE c.contype IN ('p', 'u') AND t.relname || '__' || c.conname = p_name AND ssb_internal.is_of_this_database(n.nspname);
            IF NOT FOUND THEN
                v_error := ROW(3701, format('Cannot drop the index ''%s'', because it does not exist or you do not have permission.',
                                            replace(p_name, '__', '.')), 11, 7, NULL, NULL);
            END IF;
        ELSIF p_message ~ '^there is no primary key for referenced table' THEN
            -- PostgreSQL has not named the constraint yet.
            v_error := ROW(1773, format('Foreign key has implicit reference to object ''%s'' which does not have a primary key '
                                        'defined on it.', p_name), 16, 0, NULL, NULL);
        ELSIF p_message ~ '^constraint' THEN
            v_error := ROW(3728, format('''%s'' is not a constraint.', p_name), 16, 1, NULL, NULL);
        ELSIF p_name LIKE 'ssb.%' THEN
            -- xml(collection) is a domain ssb."schema.collection" (xml/schema/typed_xml.sql).
            v_error := ROW(6314, format('Collection specified does not exist in metadata : ''%s''',
                                        regexp_replace(p_name, '^ssb\.([^.]*\.)?| document$', '', 'g')), 16, 1, NULL, NULL);
        ELSIF p_name IS NULL AND p_message ~ '^type .+ does not exist' THEN
            -- "type dbo.t does not exist": no quotation marks where a schema is named.
            v_error := ROW(2715, format('Column, parameter, or variable #1: Cannot find data type %s.',
                                        ssb_internal.spelling_in_message(substring(p_message FROM '^type (.+) does not exist'))), 16, 3, NULL, NULL);
        ELSIF p_message ~ '^type ".*" does not exist' THEN
            -- A table variable is an array.
            v_error := ROW(2715, format('Column, parameter, or variable #1: Cannot find data type %s.',
                                        ssb_internal.spelling_in_message(regexp_replace(p_name, '\[\]$', ''))), 16, 3, NULL, NULL);
        END IF;
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
