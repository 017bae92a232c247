-- INSTEAD OF triggers, COLUMNS_UPDATED(). The rows of a statement are kept in temporary tables of
-- the session, one set for each trigger function; they go with the transaction, and with the
-- savepoint of a statement that fails. Settings: pgsb.instead, the trigger functions whose bodies
-- run, which dies with the transaction; between them stands chr(31), for their names may have commas.
--
-- Called by  compiled CREATE TRIGGER and the trigger functions it makes
-- Locks      none beyond those of CREATE TRIGGER

-- @@PROCID in a trigger: its object_id, which is the trigger's, not its function's.
CREATE OR REPLACE FUNCTION ssb_internal.trigger_id(p_function text)
RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.oid::integer FROM pg_trigger AS t
     WHERE t.tgfoid = to_regproc(p_function) AND ssb_internal.without_part(t.tgname) = t.tgname
       AND t.tgrelid <> 'ssb.ddl_trigger_firing'::regclass  -- by which DDL triggers run
    UNION ALL
    SELECT d.trigger_id FROM ssb.ddl_trigger AS d WHERE d.function = p_function
    LIMIT 1;
$$;

-- One INSTEAD OF trigger for each event of a table or view.
CREATE OR REPLACE FUNCTION ssb_internal.check_instead(p_table regclass, p_name text, p_events text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_event text;
BEGIN
    SELECT e.name INTO v_event
      FROM pg_trigger AS t
     CROSS JOIN LATERAL (SELECT x.name, CASE x.name WHEN 'INSERT' THEN 4 WHEN 'DELETE' THEN 8 ELSE 16 END AS bit
                           FROM unnest(p_events) AS x (name)) AS e
     WHERE t.tgrelid = p_table AND t.tgname LIKE '%@rows' AND NOT t.tgisinternal AND t.tgtype & e.bit <> 0
     LIMIT 1;
    IF FOUND THEN
        PERFORM ssb_internal.raise_error(2111, format('Cannot create trigger ''%s'' on %s ''%s'' because an INSTEAD OF %s trigger already exists on this object.',
                                                      p_name, CASE (SELECT c.relkind FROM pg_class AS c WHERE c.oid = p_table) WHEN 'v' THEN 'view' ELSE 'table' END,
                                                      ssb_internal.tsql_name_of(p_table), v_event));
    END IF;
END;
$$;

-- OUTPUT without INTO: no enabled trigger of the target may want what the statement does.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_output(p_target text, p_events text[])
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger AS t
                WHERE t.tgrelid = to_regclass(p_target) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
                  AND (t.tgtype::integer & 4 <> 0 AND 'INSERT' = ANY (p_events)
                       OR t.tgtype::integer & 8 <> 0 AND 'DELETE' = ANY (p_events)
                       OR t.tgtype::integer & 16 <> 0 AND 'UPDATE' = ANY (p_events))
                  AND NOT ssb_internal.is_runtime_function(t.tgfoid)) THEN
        PERFORM ssb_internal.raise_error(334, format('The target table ''%s'' of the DML statement cannot have any enabled triggers if the '
            'statement contains an OUTPUT clause without INTO clause.', ssb_internal.tsql_name_of(to_regclass(p_target))));
    END IF;
END;
$$;

-- The PostgreSQL triggers of an INSTEAD OF trigger. A view's rows come to an INSTEAD OF trigger of PostgreSQL;
-- a BEFORE trigger takes those of a table away. Statements of the body itself change the table, also by an event that the
-- trigger is for besides. p_trigger: the function that has the trigger's own name.
CREATE OR REPLACE FUNCTION ssb_internal.create_instead(p_table regclass, p_event text, p_name text, p_function text, p_rows text,
                                                       p_trigger text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_view boolean := (SELECT c.relkind = 'v' FROM pg_class AS c WHERE c.oid = p_table);
    -- tr@rows, tr@update@rows.
    v_name text := CASE WHEN ssb_internal.without_part(p_name) = p_name THEN ssb_internal.stem(p_name) ELSE p_name END;
    v_when text := CASE WHEN NOT v_view THEN format('WHEN (NOT ssb_internal.instead_runs(%L))', p_trigger) ELSE '' END;
BEGIN
    EXECUTE format('CREATE TRIGGER %I BEFORE %s ON %s FOR EACH STATEMENT %s EXECUTE FUNCTION %s()',
                   v_name || '@begin', p_event, p_table, v_when, p_rows);
    EXECUTE format('CREATE TRIGGER %I %s %s ON %s FOR EACH ROW %s EXECUTE FUNCTION %s()', v_name || '@rows',
                   CASE WHEN v_view THEN 'INSTEAD OF' ELSE 'BEFORE' END, p_event, p_table, v_when, p_rows);
    EXECUTE format('CREATE TRIGGER %I AFTER %s ON %s FOR EACH STATEMENT %s EXECUTE FUNCTION %s()',
                   p_name, p_event, p_table, v_when, p_function);
END;
$$;

-- Before a statement's first row: the tables are there and empty. p_function: of the trigger's own name. p_kept: their names. They belong to the role as
-- which the trigger runs: this, and what fills them, runs as the body does.
CREATE OR REPLACE FUNCTION ssb_internal.begin_instead(p_function text, p_table regclass, VARIADIC p_kept text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kept text;
BEGIN
    IF ssb_internal.instead_runs(p_function) THEN
        PERFORM ssb_internal.raise_error(50000, format('The INSTEAD OF trigger ''%s'' changes the view that it stands for; change the tables under it.',
                                                       ssb_internal.tsql_spelling(p_function)));
    END IF;
    FOREACH v_kept IN ARRAY p_kept LOOP
        IF to_regclass(v_kept) IS NOT NULL THEN
            PERFORM ssb_internal.require_own_table(to_regclass(v_kept));
        END IF;
        IF to_regclass(v_kept) IS NOT NULL AND ARRAY(SELECT format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)) FROM pg_attribute AS a
                     WHERE a.attrelid = to_regclass(v_kept) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
              <> ARRAY(SELECT format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)) FROM pg_attribute AS a
                        WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) THEN
            EXECUTE format('DROP TABLE %s', v_kept);  -- the target has other columns now
        END IF;
        IF to_regclass(v_kept) IS NULL THEN
            EXECUTE format('CREATE TEMPORARY TABLE %s ON COMMIT DELETE ROWS AS SELECT * FROM %s WITH NO DATA', v_kept, p_table);
            -- EXECUTE AS: the body may run as another role.
            EXECUTE format('GRANT SELECT ON %s TO PUBLIC', v_kept);
        ELSE
            EXECUTE format('DELETE FROM %s', v_kept);
        END IF;
    END LOOP;
END;
$$;

-- p_function: of the trigger's own name, here as below. The setting spares a look at the stack; whoever has written it himself is found out there.
CREATE OR REPLACE FUNCTION ssb_internal.instead_runs(p_function text)
RETURNS boolean
LANGUAGE sql STABLE
RETURN CASE WHEN p_function = ANY (string_to_array(current_setting('pgsb.instead', true), chr(31)))
            THEN coalesce(ssb_internal.trigger_runs(to_regproc(p_function), false), false) ELSE false END;

CREATE OR REPLACE FUNCTION ssb_internal.enter_instead(p_function text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    SELECT set_config('pgsb.instead', concat_ws(chr(31), nullif(current_setting('pgsb.instead', true), ''), p_function), true);
END;

CREATE OR REPLACE FUNCTION ssb_internal.leave_instead(p_function text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    SELECT set_config('pgsb.instead', array_to_string(array_remove(string_to_array(current_setting('pgsb.instead', true), chr(31)), p_function), chr(31)), true);
END;

-- COLUMNS_UPDATED(): a bit for each column by its number in sys.columns, the first one in the lowest bit of the first byte.
-- p_named: what modules/update_notes.sql has noted, and of that #n.
CREATE OR REPLACE FUNCTION ssb_internal.columns_updated(p_table oid, p_named text[])
RETURNS bytea
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bits bytea := ssb_internal.columns_updated(p_table, false);
    v_number integer;
BEGIN
    FOR v_number IN SELECT substr(u.name, 2)::integer FROM unnest(p_named) AS u (name) WHERE u.name ~ '^#[0-9]+$' LOOP
        v_bits := set_bit(v_bits, v_number - 1, 1);
    END LOOP;
    RETURN v_bits;
END;
$$;

-- INSERT: every bit; DELETE: none.
CREATE OR REPLACE FUNCTION ssb_internal.columns_updated(p_table oid, p_every boolean)
RETURNS bytea
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_numbers CONSTANT integer[] := ARRAY(SELECT a.attnum FROM pg_attribute AS a
                                           WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum);
    v_bits bytea := decode(repeat('00', (v_numbers[cardinality(v_numbers)] + 7) / 8), 'hex');
    v_number integer;
BEGIN
    IF p_every THEN
        FOREACH v_number IN ARRAY v_numbers LOOP
            v_bits := set_bit(v_bits, v_number - 1, 1);
        END LOOP;
    END IF;
    RETURN v_bits;
END;
$$;

-- The same for triggers that were compiled while they knew the columns by their names alone.
CREATE OR REPLACE FUNCTION ssb_internal.columns_updated(p_named text[], p_columns text[])
RETURNS bytea
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_bits bytea := decode(repeat('00', (cardinality(p_columns) + 7) / 8), 'hex');
BEGIN
    FOR v_place IN 1 .. cardinality(p_columns) LOOP
        IF p_columns[v_place] = ANY (p_named) THEN
            v_bits := set_bit(v_bits, v_place - 1, 1);
        END IF;
    END LOOP;
    RETURN v_bits;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.columns_updated(p_every boolean, p_columns text[])
RETURNS bytea
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT decode(CASE WHEN p_every
        THEN repeat('ff', cardinality(p_columns) / 8) || CASE WHEN cardinality(p_columns) % 8 > 0 THEN lpad(to_hex((1 << cardinality(p_columns) % 8) - 1), 2, '0') ELSE '' END
        ELSE repeat('00', (cardinality(p_columns) + 7) / 8) END, 'hex');
END;
