-- System-versioned (temporal) tables: PERIOD FOR SYSTEM_TIME, history, FOR SYSTEM_TIME.
--
-- Triggers are all there is to it. sys.set_system_period keeps the period's columns: its
-- arguments are their names, the decimals of their seconds and, for each, 'hidden' or ''.
-- sys.keep_history puts former rows into the history: its arguments are the period's
-- columns and the history table. Each table has it as a function of its own, with the
-- rights of the table's owner: who may change the table need not reach the history, and
-- nobody else can have that function called. The views below read both from pg_trigger,
-- so that a dump and restore keeps everything.
--
-- Called by  compiled CREATE TABLE, ALTER TABLE, DROP TABLE, FOR SYSTEM_TIME; sys.tables,
--            sys.columns, sys.periods
-- Locks      as CREATE TRIGGER and ALTER TABLE do; a change of rows takes none beyond its own

-- When the transaction first changed a row of a table with a period, in UTC: one moment for all
-- that it changes. (T-SQL takes the moment of BEGIN TRANSACTION, which PostgreSQL does not know:
-- its transaction may have begun with the end of the one before.) Everybody may write the setting in which it
-- stands; the history is not his: a moment that is not of this transaction is none.
CREATE OR REPLACE FUNCTION ssb_internal.system_time()
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_format CONSTANT text := 'YYYY-MM-DD HH24:MI:SS.US';
    v_now CONSTANT text := to_char(clock_timestamp() AT TIME ZONE 'UTC', v_format);
    v_moment text := current_setting('pgsb.system_time', true);
BEGIN
    IF (v_moment ~ '^[-0-9:. ]{26}$' AND v_moment COLLATE "C" BETWEEN to_char(now() AT TIME ZONE 'UTC', v_format) AND v_now) IS NOT TRUE THEN
        v_moment := v_now;
        PERFORM set_config('pgsb.system_time', v_moment, true);
    END IF;
    RETURN v_moment;
END;
$$;

-- A moment cut to so many decimals of a second: rounded it might lie in the future.
CREATE OR REPLACE FUNCTION ssb_internal.cut_moment(moment text, decimals integer)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT left(moment, CASE decimals WHEN 0 THEN 19 ELSE 20 + decimals END) $$;

CREATE OR REPLACE FUNCTION sys.set_system_period()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_populate_record(NEW, jsonb_build_object(
        TG_ARGV[0], ssb_internal.cut_moment(ssb_internal.system_time(), TG_ARGV[2]::integer),
        TG_ARGV[1], ssb_internal.cut_moment('9999-12-31 23:59:59.999999', TG_ARGV[2]::integer)));
END;
$$;

CREATE OR REPLACE FUNCTION sys.keep_history()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_moment text := ssb_internal.cut_moment(ssb_internal.system_time(), TG_ARGV[3]::integer);
    v_names text;
    v_values text;
    v_kept bigint;
BEGIN
    -- Not with jsonb_populate_record: of a row older than one of its columns it would lose that column's value.
    SELECT string_agg(quote_ident(a.attname), ', '),
           string_agg(CASE a.attname WHEN TG_ARGV[1] THEN '$2' ELSE format('($1).%I', a.attname) END, ', ')
      INTO v_names, v_values
      FROM pg_attribute AS a
     WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND NOT a.attisdropped;
    EXECUTE format('INSERT INTO %s (%s) SELECT %s WHERE ($1).%I <= $2', TG_ARGV[2], v_names, v_values, TG_ARGV[0])
      USING OLD, v_moment::timestamp;
    GET DIAGNOSTICS v_kept = ROW_COUNT;
    IF v_kept = 0 THEN
        PERFORM ssb_internal.raise_error(13535, format('Data modification failed on system-versioned table ''%s'' because transaction time was '
            'earlier than period start time for affected records.', ssb_internal.tsql_full_name(TG_RELID)));
    END IF;
    RETURN NULL;
END;
$$;

-- TRUNCATE of a system-versioned table, and changes of its history by others than keep_history.
CREATE OR REPLACE FUNCTION sys.refuse_change()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table text := ssb_internal.tsql_full_name(TG_RELID);
BEGIN
    IF TG_ARGV[0] = 'history' AND pg_trigger_depth() > 1 THEN
        RETURN NULL;
    END IF;
    CASE TG_OP
    WHEN 'INSERT' THEN
        PERFORM ssb_internal.raise_error(13559, format('Cannot insert rows in a temporal history table ''%s''.', v_table));
    WHEN 'DELETE' THEN
        PERFORM ssb_internal.raise_error(13560, format('Cannot delete rows from a temporal history table ''%s''.', v_table));
    WHEN 'UPDATE' THEN
        PERFORM ssb_internal.raise_error(13561, format('Cannot update rows in a temporal history table ''%s''.', v_table));
    ELSE
        PERFORM ssb_internal.raise_error(13545, format('Truncate failed on table ''%s'' because it is not a supported operation on '
                                                       'system-versioned tables.', v_table));
    END CASE;
    RETURN NULL;
END;
$$;

-- Tables with a period, and where their former rows are; history is NULL while versioning is off.
CREATE OR REPLACE VIEW ssb_internal.system_period AS
SELECT p.tgrelid AS relation, a.list[1] AS start_column, a.list[2] AS end_column, a.list[3]::integer AS decimals,
       a.list[4] = 'hidden' AS start_is_hidden, a.list[5] = 'hidden' AS end_is_hidden,
       (SELECT to_regclass((ssb_internal.trigger_arguments(h.tgargs))[3]) FROM pg_trigger AS h
         WHERE h.tgrelid = p.tgrelid AND h.tgname = 'system_versioning' AND h.tgnargs = 4) AS history
  FROM pg_trigger AS p
 CROSS JOIN LATERAL (SELECT ssb_internal.trigger_arguments(p.tgargs) AS list) AS a
 WHERE p.tgfoid = 'sys.set_system_period'::regproc;
-- The functions below have the caller's rights, and so has the command that asks which tables there are.
GRANT SELECT ON ssb_internal.system_period TO PUBLIC;

-- "db.dbo.orders", as messages on system versioning name a table.
CREATE OR REPLACE FUNCTION ssb_internal.tsql_full_name(p_table regclass)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(ssb_internal.database_name(ssb_internal.database_of_schema(n.nspname::text)), ssb.db_name()) || '.' || ssb_internal.tsql_name_of(p_table)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_table
$$;

-- PERIOD FOR SYSTEM_TIME (start, end), of a new table or a filled one.
CREATE OR REPLACE FUNCTION ssb_internal.add_period(p_table regclass, p_start text, p_end text, p_start_hidden boolean DEFAULT false,
                                                   p_end_hidden boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_column text;
    v_decimals integer[] := '{}';
    v_type oid;
    v_modifier integer;
    v_bad boolean;
    v_name text := ssb_internal.tsql_full_name(p_table);
BEGIN
    IF EXISTS (SELECT FROM ssb_internal.system_period AS p WHERE p.relation = p_table) THEN
        PERFORM ssb_internal.raise_error(13597, format('Temporal SYSTEM_TIME period is already defined on table ''%s''.', v_name));
    END IF;
    FOREACH v_column IN ARRAY ARRAY[p_start, p_end] LOOP
        SELECT a.atttypid, a.atttypmod INTO v_type, v_modifier FROM pg_attribute AS a WHERE a.attrelid = p_table AND a.attname = v_column;
        IF v_type IS NULL THEN
            PERFORM ssb_internal.raise_error(1911, format('Column name ''%s'' does not exist in the target table or view.', v_column));
        ELSIF v_type <> 'timestamp'::regtype THEN
            PERFORM ssb_internal.raise_error(13501, format('Temporal generated always column ''%s'' has invalid data type.', v_column));
        END IF;
        v_decimals := v_decimals || CASE WHEN v_modifier < 0 THEN 6 ELSE v_modifier END;
    END LOOP;
    IF v_decimals[1] <> v_decimals[2] THEN
        PERFORM ssb_internal.raise_error(13513, 'SYSTEM_TIME period columns cannot have different datatype precision.');
    END IF;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL, ALTER COLUMN %I SET NOT NULL', p_table, p_start, p_end);
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS t WHERE t.%I > $1)', p_table, p_start) INTO v_bad
      USING clock_timestamp() AT TIME ZONE 'UTC';
    IF v_bad THEN
        PERFORM ssb_internal.raise_error(13542, format('ADD PERIOD FOR SYSTEM_TIME on table ''%s'' failed because there are open records with '
            'start of period set to a value in the future.', v_name));
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS t WHERE t.%I <> $1)', p_table, p_end) INTO v_bad
      USING ssb_internal.cut_moment('9999-12-31 23:59:59.999999', v_decimals[2])::timestamp;
    IF v_bad THEN
        PERFORM ssb_internal.raise_error(13575, format('ADD PERIOD FOR SYSTEM_TIME failed because table ''%s'' contains records where end of '
            'period is not equal to MAX datetime.', v_name));
    END IF;
    EXECUTE format('CREATE TRIGGER system_period BEFORE INSERT OR UPDATE ON %s FOR EACH ROW '
                   'EXECUTE FUNCTION sys.set_system_period(%L, %L, %L, %L, %L)', p_table, p_start, p_end, v_decimals[1],
                   CASE WHEN p_start_hidden THEN 'hidden' ELSE '' END, CASE WHEN p_end_hidden THEN 'hidden' ELSE '' END);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_period(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_period ssb_internal.system_period;
BEGIN
    SELECT * INTO v_period FROM ssb_internal.system_period AS p WHERE p.relation = p_table;
    IF v_period.history IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(13592, format('Cannot drop SYSTEM_TIME period from table ''%s'' when SYSTEM_VERSIONING is ON.',
                                                       ssb_internal.tsql_full_name(p_table)));
    ELSIF v_period.relation IS NULL THEN
        PERFORM ssb_internal.raise_error(13593, format('SYSTEM_TIME period cannot be dropped from table ''%s'', because SYSTEM_TIME period does '
                                                       'not exist.', ssb_internal.tsql_full_name(p_table)));
    END IF;
    EXECUTE format('DROP TRIGGER system_period ON %s', p_table);
END;
$$;

-- ALTER COLUMN … ADD HIDDEN, DROP HIDDEN.
CREATE OR REPLACE FUNCTION ssb_internal.hide_column(p_table regclass, p_column text, p_hidden boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_period ssb_internal.system_period;
BEGIN
    SELECT * INTO v_period FROM ssb_internal.system_period AS p WHERE p.relation = p_table AND p_column IN (p.start_column, p.end_column);
    IF v_period.relation IS NULL THEN
        PERFORM ssb_internal.raise_error(13735, format('Cannot alter HIDDEN attribute on column ''%s'' in table ''%s'' because this column is not '
                                                       'a generated always column.', p_column, ssb_internal.tsql_full_name(p_table)));
    END IF;
    EXECUTE format('CREATE OR REPLACE TRIGGER system_period BEFORE INSERT OR UPDATE ON %s FOR EACH ROW '
                   'EXECUTE FUNCTION sys.set_system_period(%L, %L, %L, %L, %L)', p_table, v_period.start_column, v_period.end_column,
                   v_period.decimals,
                   CASE WHEN CASE p_column WHEN v_period.start_column THEN p_hidden ELSE v_period.start_is_hidden END THEN 'hidden' ELSE '' END,
                   CASE WHEN CASE p_column WHEN v_period.end_column THEN p_hidden ELSE v_period.end_is_hidden END THEN 'hidden' ELSE '' END);
END;
$$;

-- Whether an existing table can hold the former rows of p_table: 13518, 13523, 13524, 13525, 13541.
CREATE OR REPLACE FUNCTION ssb_internal.require_history(p_table regclass, p_history regclass, p_start text, p_end text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_pair record;
    v_table text := ssb_internal.tsql_full_name(p_table);
    v_history text := ssb_internal.tsql_full_name(p_history);
    v_counts bigint[] := ARRAY(SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid IN (p_table, p_history) AND a.attnum > 0
                                  AND NOT a.attisdropped GROUP BY a.attrelid ORDER BY a.attrelid <> p_table);
    v_bad boolean;
BEGIN
    IF EXISTS (SELECT FROM ssb_internal.system_period AS p WHERE p.history = p_history OR p.relation = p_history) OR p_history = p_table THEN
        PERFORM ssb_internal.raise_error(13514, format('History table ''%s'' is already in use.', v_history));
    ELSIF v_counts[1] <> v_counts[2] THEN
        PERFORM ssb_internal.raise_error(13523, format('Setting SYSTEM_VERSIONING to ON failed because table ''%s'' has %s columns and table ''%s'' '
                                                       'has %s columns.', v_table, v_counts[1], v_history, v_counts[2]));
    END IF;
    FOR v_pair IN
        WITH columns AS (
            SELECT a.attrelid, a.attname, a.atttypid, a.atttypmod, a.attidentity,
                   row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS place
              FROM pg_attribute AS a
             WHERE a.attrelid IN (p_table, p_history) AND a.attnum > 0 AND NOT a.attisdropped)
        SELECT t.attname AS name, h.attname AS history_name, t.place, h.attidentity <> '' AS is_identity,
               format_type(t.atttypid, t.atttypmod) AS type, format_type(h.atttypid, h.atttypmod) AS history_type
          FROM columns AS t
          JOIN columns AS h ON h.place = t.place
         WHERE t.attrelid = p_table AND h.attrelid = p_history
         ORDER BY t.place
    LOOP
        IF v_pair.name <> v_pair.history_name THEN
            PERFORM ssb_internal.raise_error(13524, format('Setting SYSTEM_VERSIONING to ON failed because column ''%s'' at ordinal %s in history '
                'table ''%s'' has a different name than the column ''%s'' at the same ordinal in table ''%s''.', v_pair.history_name,
                v_pair.place, v_history, v_pair.name, v_table));
        ELSIF v_pair.type <> v_pair.history_type THEN
            PERFORM ssb_internal.raise_error(13525, format('Setting SYSTEM_VERSIONING to ON failed because column ''%s'' has data type %s in history '
                'table ''%s'' which is different from corresponding column type %s in table ''%s''.', v_pair.name, v_pair.history_type,
                v_history, v_pair.type, v_table));
        ELSIF v_pair.is_identity THEN
            PERFORM ssb_internal.raise_error(13518, format('Setting SYSTEM_VERSIONING to ON failed because history table ''%s'' has IDENTITY column '
                'specification. Consider dropping all IDENTITY column specifications and trying again.', v_history));
        END IF;
    END LOOP;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS h WHERE h.%I < h.%I)', p_history, p_end, p_start) INTO v_bad;
    IF v_bad THEN
        PERFORM ssb_internal.raise_error(13541, format('Setting SYSTEM_VERSIONING to ON failed because history table ''%s'' contains invalid '
                                                       'records with end of period set before start.', v_history));
    END IF;
END;
$$;

-- SYSTEM_VERSIONING = ON. p_history: as in SQL; NULL for a table of the default name. p_spelling: as the
-- script spells it, where PostgreSQL does not.
DROP FUNCTION IF EXISTS ssb_internal.start_versioning(regclass, text);
CREATE OR REPLACE FUNCTION ssb_internal.start_versioning(p_table regclass, p_history text DEFAULT NULL, p_spelling text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_period ssb_internal.system_period;
    v_name text := ssb_internal.tsql_full_name(p_table);
    v_history text := coalesce(p_history, (SELECT format('%I.%I', n.nspname, 'mssql_temporalhistoryfor_' || c.oid)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_table));
    v_former regclass := to_regclass(v_history);
    v_keeper text := (SELECT format('%I.%I', n.nspname, 'mssql_keep_history_' || replace(gen_random_uuid()::text, '-', ''))
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_table);
BEGIN
    SELECT * INTO v_period FROM ssb_internal.system_period AS p WHERE p.relation = p_table;
    IF v_period.relation IS NULL THEN
        PERFORM ssb_internal.raise_error(13510, 'Cannot set SYSTEM_VERSIONING to ON when SYSTEM_TIME period is not defined.');
    ELSIF v_period.history IS NOT NULL AND v_period.history IS NOT DISTINCT FROM v_former THEN
        RETURN;
    ELSIF v_period.history IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(13757, format('Temporal table ''%s'' already has history table defined. Consider dropping '
            'system_versioning first if you want to use different history table.', v_name));
    ELSIF NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = p_table AND i.indisprimary) THEN
        PERFORM ssb_internal.raise_error(13553, format('System versioned temporal table ''%s'' must have primary key defined.', v_name));
    END IF;
    IF v_former IS NULL THEN
        -- The comments tell how columns are spelled, and T-SQL's types of them.
        EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING COMMENTS)', v_history, p_table);
        IF p_spelling IS NOT NULL OR p_history IS NULL THEN
            PERFORM ssb_internal.keep_spelling(v_history, coalesce(p_spelling, format('MSSQL_TemporalHistoryFor_%s', p_table::oid)));
        END IF;
        EXECUTE format('CREATE INDEX ON %s (%I, %I)', v_history, v_period.end_column, v_period.start_column);
        v_former := to_regclass(v_history);
    ELSE
        PERFORM ssb_internal.require_history(p_table, v_former, v_period.start_column, v_period.end_column);
    END IF;
    -- Only a trigger can call it, and only the owner can make one of it.
    EXECUTE format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER '
                   'SET search_path = pg_catalog, pg_temp AS %L', v_keeper,
                   (SELECT f.prosrc FROM pg_proc AS f WHERE f.oid = 'sys.keep_history()'::regprocedure));
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s() FROM PUBLIC', v_keeper);
    EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', v_keeper,
                   (SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = p_table));
    EXECUTE format('CREATE TRIGGER system_versioning AFTER UPDATE OR DELETE ON %s FOR EACH ROW '
                   'EXECUTE FUNCTION %s(%L, %L, %L, %L)', p_table, v_keeper, v_period.start_column, v_period.end_column,
                   (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     WHERE c.oid = v_former), v_period.decimals);
    EXECUTE format('CREATE TRIGGER system_versioning_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION sys.refuse_change()', p_table);
    EXECUTE format('CREATE TRIGGER system_versioning BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION sys.refuse_change(''history'')', v_former);
    EXECUTE format('CREATE TRIGGER system_versioning_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION sys.refuse_change()', v_former);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.stop_versioning(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_history regclass := (SELECT p.history FROM ssb_internal.system_period AS p WHERE p.relation = p_table);
    v_keeper regprocedure := (SELECT t.tgfoid FROM pg_trigger AS t WHERE t.tgrelid = p_table AND t.tgname = 'system_versioning');
    v_table regclass;
BEGIN
    IF v_history IS NULL THEN
        PERFORM ssb_internal.raise_error(13591, format('SYSTEM_VERSIONING is not turned ON for table ''%s''.', ssb_internal.tsql_full_name(p_table)));
    END IF;
    FOREACH v_table IN ARRAY ARRAY[p_table, v_history] LOOP
        EXECUTE format('DROP TRIGGER system_versioning ON %s', v_table);
        EXECUTE format('DROP TRIGGER system_versioning_truncate ON %s', v_table);
    END LOOP;
    EXECUTE format('DROP FUNCTION %s', v_keeper);
END;
$$;

-- DROP TABLE of a system-versioned table or its history: 13552. NULL: there is no such table.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_to_drop(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb_internal.system_period AS p WHERE p.history IS NOT NULL AND p_table IN (p.relation, p.history)) THEN
        PERFORM ssb_internal.raise_error(13552, format('Drop table operation failed on table ''%s'' because it is not supported operation on '
                                                       'system-versioned temporal tables.', ssb_internal.tsql_full_name(p_table)));
    END IF;
END;
$$;

-- After ALTER TABLE of a table with a history: what its columns have become, the history's become too.
CREATE OR REPLACE FUNCTION ssb_internal.follow_table(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_history regclass := (SELECT p.history FROM ssb_internal.system_period AS p WHERE p.relation = p_table);
    v_column record;
BEGIN
    IF v_history IS NULL THEN
        RETURN;
    END IF;
    FOR v_column IN
        SELECT coalesce(t.attname, h.attname) AS name, t.attname IS NULL AS is_gone, h.attname IS NULL AS is_new,
               format_type(t.atttypid, t.atttypmod) AS type, format_type(h.atttypid, h.atttypmod) AS former_type,
               t.attnotnull AS is_required, h.attnotnull AS was_required, t.attgenerated <> '' AS is_computed,
               pg_get_expr(d.adbin, d.adrelid) AS value
          FROM (SELECT * FROM pg_attribute AS a WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped) AS t
          FULL JOIN (SELECT * FROM pg_attribute AS a WHERE a.attrelid = v_history AND a.attnum > 0 AND NOT a.attisdropped) AS h
            ON h.attname = t.attname
          LEFT JOIN pg_attrdef AS d ON d.adrelid = t.attrelid AND d.adnum = t.attnum
         ORDER BY t.attnum
    LOOP
        IF v_column.is_gone THEN
            EXECUTE format('ALTER TABLE %s DROP COLUMN %I', v_history, v_column.name);
        ELSIF v_column.is_new AND v_column.is_computed THEN
            PERFORM ssb_internal.raise_error(13724, 'System-versioned table schema modification failed because adding computed column while '
                                                    'system-versioning is ON is not supported.');
        ELSIF v_column.is_new THEN
            EXECUTE format('ALTER TABLE %s ADD COLUMN %I %s%s', v_history, v_column.name, v_column.type, ' DEFAULT ' || v_column.value);
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', v_history, v_column.name);
        ELSIF v_column.type <> v_column.former_type THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s USING %I::%s', v_history, v_column.name, v_column.type,
                           v_column.name, v_column.type);
        END IF;
        IF NOT v_column.is_gone AND NOT v_column.is_required AND v_column.was_required THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', v_history, v_column.name);
        END IF;
    END LOOP;
END;
$$;

-- FROM t FOR SYSTEM_TIME …: rows of p_row's table and of its history. Those of which a transaction
-- made several versions are shown as it left them: versions that lasted no time are left out.
CREATE OR REPLACE FUNCTION ssb_internal.row_versions(p_row anyelement, p_kind text, p_from timestamp DEFAULT NULL, p_to timestamp DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_period ssb_internal.system_period;
    v_table regclass := (SELECT t.typrelid FROM pg_type AS t WHERE t.oid = pg_typeof(p_row));
    v_wanted text;
BEGIN
    SELECT * INTO v_period FROM ssb_internal.system_period AS p WHERE p.relation = v_table;
    IF v_period.history IS NULL THEN
        PERFORM ssb_internal.raise_error(13544, format('Temporal FOR SYSTEM_TIME clause can only be used with system-versioned tables. ''%s'' is '
                                                       'not a system-versioned table.', ssb_internal.tsql_full_name(v_table)));
    END IF;
    v_wanted := format(CASE p_kind
        WHEN 'AS OF' THEN '%1$s <= $1 AND %2$s > $1'
        WHEN 'FROM' THEN '%1$s < $2 AND %2$s > $1'
        WHEN 'BETWEEN' THEN '%1$s <= $2 AND %2$s > $1'
        WHEN 'CONTAINED IN' THEN '%1$s >= $1 AND %2$s <= $2'
        ELSE 'true' END, 'v.' || quote_ident(v_period.start_column), 'v.' || quote_ident(v_period.end_column));
    RETURN QUERY EXECUTE format('SELECT v.* FROM %1$s AS v WHERE %3$s AND v.%4$I <> v.%5$I '
                                'UNION ALL SELECT v.* FROM %2$s AS v WHERE %3$s AND v.%4$I <> v.%5$I',
                                v_table, v_period.history, v_wanted, v_period.start_column, v_period.end_column)
       USING p_from, p_to;
END;
$$;
