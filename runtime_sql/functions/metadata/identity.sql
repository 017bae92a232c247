-- DBCC CHECKIDENT ( 'table' [, NORESEED | RESEED [, value]] ): shows what an identity
-- column made last, and sets it. What comes next is the new value plus the increment, or
-- the new value itself where the table never had a row since CREATE or TRUNCATE.
-- Without a value an identity that lags behind its column is set to the column's highest.
--
-- Called by  compiled DBCC CHECKIDENT
-- Locks      the sequence, where its bounds must give way
CREATE OR REPLACE FUNCTION sys.check_identity(table_name text, reseed boolean DEFAULT true, value numeric DEFAULT NULL,
                                              messages boolean DEFAULT true, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_table regclass := ssb_internal.table_id(table_name, database)::regclass;
    v_sequence regclass;
    v_column name;
    v_definition pg_sequence;
    v_last numeric;
    v_used boolean;
    v_highest numeric;
BEGIN
    IF v_table IS NULL THEN
        PERFORM ssb_internal.raise_error(2501, format('Cannot find a table or object with the name "%s". Check the system catalog.',
                                                      table_name));
    END IF;
    v_sequence := sys.identity_sequence(v_table);
    IF v_sequence IS NULL THEN
        PERFORM ssb_internal.raise_error(7997, format('''%s'' does not contain an identity column.', table_name));
    END IF;
    SELECT a.attname INTO v_column FROM pg_attribute AS a WHERE a.attrelid = v_table AND NOT a.attisdropped AND ssb_internal.is_identity(a);
    SELECT s.* INTO v_definition FROM pg_sequence AS s WHERE s.seqrelid = v_sequence;
    EXECUTE format('SELECT last_value, is_called FROM %s', v_sequence) INTO v_last, v_used;
    IF value IS NULL THEN
        EXECUTE format('SELECT %s(%I) FROM %s', CASE WHEN v_definition.seqincrement > 0 THEN 'max' ELSE 'min' END,
                       v_column, v_table) INTO v_highest;
        IF reseed AND v_highest IS NOT NULL AND (NOT v_used OR (v_highest - v_last) * v_definition.seqincrement > 0) THEN
            PERFORM setval(v_sequence, v_highest::bigint, true);
        END IF;
    ELSIF reseed THEN
        -- RESEED, 0 is common, and below what PostgreSQL's sequence allows by itself.
        IF value < v_definition.seqmin THEN
            EXECUTE format('ALTER SEQUENCE %s MINVALUE %s ;', v_sequence, value);
        ELSIF value > v_definition.seqmax THEN
            EXECUTE format('ALTER SEQUENCE %s MAXVALUE %s ;', v_sequence, value);
        END IF;
        PERFORM setval(v_sequence, value::bigint, v_used);
    END IF;
    IF messages THEN
        PERFORM ssb_internal.print(format('Checking identity information: current identity value ''%s''',
                                          CASE WHEN v_used THEN v_last::text ELSE 'NULL' END)
            || CASE WHEN value IS NULL THEN format(', current column value ''%s''', coalesce(v_highest::text, 'NULL'))
                    ELSE '' END || '.');
        PERFORM ssb_internal.print('DBCC execution completed. If DBCC printed error messages, contact your system administrator.');
    END IF;
END;
$$;

-- Explicit values (SET IDENTITY_INSERT ON) beyond what the identity column of a table made last
-- push it on; lower ones, as the -1 of a row for "unknown", do not.
--
-- Called by  compiled INSERT and MERGE
CREATE OR REPLACE FUNCTION sys.advance_identity(target text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table regclass := target::regclass;
    v_sequence regclass := sys.identity_sequence(v_table);
    v_column name;
    v_increment bigint;
    v_last bigint;
    v_used boolean;
    v_highest bigint;
BEGIN
    SELECT a.attname INTO v_column FROM pg_catalog.pg_attribute AS a
     WHERE a.attrelid = v_table AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(target, a.attname)::regclass = v_sequence;
    IF v_column IS NULL THEN
        RETURN;
    END IF;
    SELECT s.seqincrement INTO v_increment FROM pg_catalog.pg_sequence AS s WHERE s.seqrelid = v_sequence;
    EXECUTE format('SELECT last_value, is_called FROM %s', v_sequence) INTO v_last, v_used;
    EXECUTE format('SELECT %s(%I) FROM %s', CASE WHEN v_increment > 0 THEN 'max' ELSE 'min' END, v_column, target)
       INTO v_highest;
    IF (v_highest - v_last) * sign(v_increment) > (CASE WHEN v_used THEN 0 ELSE -1 END) THEN
        PERFORM setval(v_sequence, v_highest);
    END IF;
END;
$$;

-- Error 8101 for an INSERT without a column list that would fill the identity column: its module was compiled when the table was not
-- there. p_values: how many values it has, NULL for what only the query tells.
--
-- Called by  compiled INSERT of procedures and triggers
CREATE OR REPLACE FUNCTION ssb_internal.refuse_identity(p_table text, p_values integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute AS i
                WHERE i.attrelid = to_regclass(p_table) AND NOT i.attisdropped AND ssb_internal.is_identity(i)
                  AND (p_values IS NULL OR p_values >= (SELECT count(*) FROM pg_attribute AS a
                                                        WHERE a.attrelid = i.attrelid AND a.attnum BETWEEN 1 AND i.attnum
                                                          AND NOT a.attisdropped))) THEN
        PERFORM ssb_internal.raise_error(8101, format('An explicit value for the identity column in table ''%s'' can only be specified when a '
                                                      'column list is used and IDENTITY_INSERT is ON.', ssb_internal.tsql_spelling(p_table)),
                                         16, 1, 'The module was made before the table: write the list of columns, or make it again.');
    END IF;
END;
$$;

-- Error 544 for an explicit value of an identity column that another tool made (serial, GENERATED BY DEFAULT).
--
-- Called by  compiled INSERT and MERGE that list such a column while IDENTITY_INSERT is OFF
CREATE OR REPLACE FUNCTION ssb_internal.refuse_explicit_identity(p_table text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(544, format('Cannot insert explicit value for identity column in table ''%s'' when IDENTITY_INSERT is set '
                                                 'to OFF.', ssb_internal.spelled(obj_description(to_regclass(p_table), 'pg_class'),
                                                                                 (parse_ident(p_table))[2])), 16, 1);
END;
$$;

-- While IDENTITY_INSERT is ON, error 545 for an INSERT whose list has not the identity column, and 8101 for one without a
-- list. The table of a module may have no such column by now.
--
-- Called by  compiled INSERT and MERGE under SET IDENTITY_INSERT ON
CREATE OR REPLACE FUNCTION ssb_internal.refuse_implicit_identity(p_table text, p_is_listed boolean)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text := ssb_internal.spelled(obj_description(to_regclass(p_table), 'pg_class'), (parse_ident(p_table))[2]);
BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = to_regclass(p_table) AND NOT a.attisdropped AND ssb_internal.is_identity(a)) THEN
        RETURN;
    ELSIF p_is_listed THEN
        PERFORM ssb_internal.raise_error(545, format('Explicit value must be specified for identity column in table ''%s'' either when '
                                                     'IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR '
                                                     'REPLICATION identity column.', v_name), 16, 1);
    ELSE
        PERFORM ssb_internal.raise_error(8101, format('An explicit value for the identity column in table ''%s'' can only be specified when a '
                                                      'column list is used and IDENTITY_INSERT is ON.', ssb_internal.tsql_spelling(p_table)),
                                         16, 1);
    END IF;
END;
$$;

-- SET IDENTITY_INSERT of what is no table (1088), or of a table without an identity column (8106), and ON while it is
-- ON for another (8107).
-- shown: the name as the statement has it. switched: a batch sets it ON or OFF, which stays for the session; NULL
-- elsewhere, where it ends with the module.
--
-- Settings   pgsb.identity_insert: the table, by its oid, for which the session has it ON
-- Called by  compiled SET IDENTITY_INSERT
CREATE OR REPLACE FUNCTION ssb_internal.require_identity(table_name text, shown text, switched boolean DEFAULT NULL,
                                                         database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_table oid := ssb_internal.table_id(table_name, database);
    v_set oid := nullif(current_setting('pgsb.identity_insert', true), '')::oid;
    v_other text;
BEGIN
    IF v_table IS NULL THEN
        PERFORM ssb_internal.raise_error(1088, format(
            'Cannot find the object "%s" because it does not exist or you do not have permissions.', shown));
    END IF;
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = v_table AND c.relkind = 'v') THEN
        PERFORM ssb_internal.raise_error(8105, format('''%s'' is not a user table. Cannot perform SET operation.', shown));
    ELSIF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = v_table AND c.relkind IN ('r', 'p'))
       AND NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_table AND NOT a.attisdropped AND ssb_internal.is_identity(a)) THEN
        PERFORM ssb_internal.raise_error(8106, format(
            'Table ''%s'' does not have the identity property. Cannot perform SET operation.', shown));
    END IF;
    IF switched AND v_set <> v_table THEN
        SELECT concat_ws('.', ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)),
                         ssb_internal.tsql_schema(n.nspname), ssb_internal.spelled(obj_description(c.oid, 'pg_class'), c.relname::text))
          INTO v_other FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = v_set;
        -- One that was dropped is OFF.
        IF FOUND THEN
            PERFORM ssb_internal.raise_error(8107, format(
                'IDENTITY_INSERT is already ON for table ''%s''. Cannot perform SET operation for table ''%s''.', v_other, shown));
        END IF;
    END IF;
    IF switched THEN
        PERFORM set_config('pgsb.identity_insert', v_table::text, false);
    ELSIF NOT switched AND v_set = v_table THEN
        PERFORM set_config('pgsb.identity_insert', '', false);
    END IF;
END;
$$;
