-- INSERT … EXEC: the rows of result sets, kept (captured_rows) and inserted.
--
-- Called by  compiled INSERT … EXEC

-- INSERT … EXEC inside another one.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_nested_insert(session ssb.session, line integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.signal(session, ROW(8164, 'An INSERT EXEC statement cannot be nested.', 16, 1, session.procedure, line)::ssb.error);
END;
$$;

-- INSERT … EXEC: result sets are kept from here on. Inside another one modules that were compiled before there
-- was refuse_nested_insert get its error here.
CREATE OR REPLACE FUNCTION ssb_internal.begin_capture(session ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF session.capturing THEN
        PERFORM ssb_internal.raise_error(8164, 'An INSERT EXEC statement cannot be nested.');
    END IF;
    session.capturing := true;
    session.captured := '{}';
    RETURN session;
END;
$$;

-- The same for a statement that is all or nothing: where no transaction is open it has one of its own,
-- in which COMMIT and ROLLBACK are errors (session/transactions.sql).
CREATE OR REPLACE FUNCTION ssb_internal.begin_insert_execute(session ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session := ssb_internal.begin_capture(session);
    IF session.autocommit THEN
        session.trancount := 1;
        session.autocommit := false;
    END IF;
    RETURN session;
END;
$$;

-- alone: it had a transaction of its own, which ends here. @@ERROR and @@ROWCOUNT stay.
CREATE OR REPLACE PROCEDURE ssb_internal.end_insert_execute(INOUT session ssb.session, alone boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT alone THEN
        RETURN;
    ELSIF session.leaving OR session.error OPERATOR(pg_catalog.<>) 0 THEN
        CALL ssb_internal.roll_back();
        PERFORM ssb_internal.tries(session.try_depth);
        session.trancount := 0;
        session.doomed := false;
    ELSE
        session.trancount := session.trancount OPERATOR(pg_catalog.-) 1;
        IF session.trancount OPERATOR(pg_catalog.>) 0 THEN
            RETURN;  -- EXEC has left one open
        END IF;
        COMMIT;
        PERFORM ssb_internal.pin_search_path();
    END IF;
    session.autocommit := true;
    session.transaction_name := NULL;
END;
$$;

-- The kept rows; error 213 unless each has as many cells as there are columns.
CREATE OR REPLACE FUNCTION ssb_internal.captured_of_width(captured json[], width integer)
RETURNS json[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(captured) AS r WHERE json_array_length(r) <> width) THEN
        PERFORM ssb_internal.raise_error(213, 'Column name or number of supplied values does not match table definition.');
    END IF;
    RETURN captured;
END;
$$;

-- A kept cell, converted as an assignment does, as text that can be cast to the type of a column: p_wanted, without a length,
-- "string" and "xml" for every type of those; "text": PostgreSQL reads it.
CREATE OR REPLACE FUNCTION ssb_internal.captured_value(cell json, wanted text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kind text := json_typeof(cell);
    v_type text := CASE v_kind WHEN 'object' THEN coalesce(cell ->> 'type', 'bytea') ELSE v_kind END;
    v_text text := CASE v_kind WHEN 'object' THEN coalesce(cell ->> 'value', cell ->> 'bytes') ELSE cell #>> '{}' END;
    v_bytes bytea := CASE WHEN v_type = 'bytea' THEN v_text::bytea END;
BEGIN
    IF v_text IS NULL OR v_type = 'string' AND wanted = 'string' THEN
        RETURN v_text;
    ELSIF v_type = 'bytea' THEN
        RETURN CASE wanted WHEN 'bytea' THEN v_text
                           WHEN 'xml' THEN sys.xml_of(v_bytes)::text
                           WHEN 'smallint' THEN sys.convert_smallint(v_bytes)::text
                           WHEN 'integer' THEN sys.convert_int(v_bytes)::text
                           WHEN 'bigint' THEN sys.convert_bigint(v_bytes)::text
                           WHEN 'sys.bit' THEN sys.convert_bit(v_bytes)::text
                           WHEN 'uuid' THEN sys.convert_uniqueidentifier(v_bytes)::text
                           ELSE sys.text_of(v_bytes) END;
    ELSIF v_type = 'number' THEN
        RETURN CASE WHEN wanted IN ('smallint', 'integer', 'bigint') THEN trunc(v_text::numeric)::text
                    WHEN wanted = 'sys.bit' THEN (v_text::numeric <> 0)::integer::text
                    WHEN wanted = 'timestamp' THEN sys.convert_datetime(v_text::double precision)::text
                    WHEN wanted = 'bytea' AND v_text ~ '^-?\d+$' THEN sys.convert_varbinary(v_text::integer)::text
                    ELSE v_text END;
    ELSIF v_type = 'string' THEN
        RETURN CASE wanted WHEN 'smallint' THEN sys.convert_smallint(v_text)::text
                           WHEN 'integer' THEN sys.convert_int(v_text)::text
                           WHEN 'bigint' THEN sys.convert_bigint(v_text)::text
                           WHEN 'sys.bit' THEN sys.convert_bit(v_text)::text
                           WHEN 'double precision' THEN sys.convert_float(v_text)::text
                           WHEN 'real' THEN sys.convert_real(v_text)::text
                           WHEN 'timestamp' THEN sys.convert_datetime2(v_text)::text
                           WHEN 'timestamptz' THEN sys.convert_datetimeoffset(v_text)::text
                           WHEN 'date' THEN sys.convert_date(v_text)::text
                           WHEN 'time' THEN sys.convert_time(v_text)::text
                           WHEN 'uuid' THEN sys.convert_uniqueidentifier(v_text)::text
                           ELSE v_text END;
    ELSIF wanted = 'time' AND v_type IN ('timestamp', 'timestamptz') THEN
        RETURN CASE v_type WHEN 'timestamp' THEN v_text::timestamp::time ELSE v_text::timestamptz::time END::text;
    ELSIF wanted = 'string' THEN
        RETURN CASE v_type WHEN 'uuid' THEN upper(v_text)
                           WHEN 'timestamp' THEN sys.convert_nvarchar(v_text::timestamp)
                           WHEN 'timestamptz' THEN sys.convert_nvarchar(v_text::timestamptz)
                           ELSE v_text END;
    END IF;
    RETURN v_text;
END;
$$;

-- A type as ssb_internal.captured_value takes it.
CREATE OR REPLACE FUNCTION ssb_internal.captured_type(p_type oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN 'sys.xml'::regtype IN (t.oid, t.typbasetype) THEN 'xml'
                WHEN t.oid = 'sys.bit'::regtype THEN 'sys.bit'
                WHEN t.typcategory = 'S' THEN 'string'
                ELSE CASE t.typname WHEN 'timestamp' THEN 'timestamp' WHEN 'timestamptz' THEN 'timestamptz' WHEN 'time' THEN 'time'
                                    ELSE format_type(t.oid, -1) END END
      FROM pg_type AS t WHERE t.oid = p_type
$$;

-- A kept cell, by an expression that has it, for a column: converted to its T-SQL type, of which PostgreSQL's may hold more.
-- p_kept: as ssb_internal.kept_type tells it.
CREATE OR REPLACE FUNCTION ssb_internal.captured_cell(cell text, p_type oid, p_modifier integer, p_kept text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN k.name = 'tinyint' THEN format('sys.convert_tinyint(ssb_internal.captured_value(%s, ''integer'')::integer)', cell)
                WHEN k.name = 'smallmoney' THEN format('sys.convert_smallmoney(ssb_internal.captured_value(%s, ''numeric'')::numeric)', cell)
                WHEN k.name = 'binary' THEN format('sys.convert_binary(sys.fitting(%s, %s), %2$s)', c.read, k.length)
                WHEN k.name = 'varbinary' THEN format('sys.fitting(%s, %s)', c.read, k.length)
                -- What datetime and smalldatetime are made of.
                WHEN p_kept IS NULL AND p_type = 'timestamp'::regtype AND p_modifier = 3 THEN format('sys.convert_datetime(%s)', c.read)
                WHEN p_kept IS NULL AND p_type = 'timestamp'::regtype AND p_modifier = 0 THEN format('sys.convert_smalldatetime(%s)', c.read)
                ELSE c.read END
     -- Without its length: what is too long for the column is an error.
      FROM (SELECT format('ssb_internal.captured_value(%s, %L)::%s', cell, ssb_internal.captured_type(p_type), format_type(p_type, -1)) AS read) AS c
      LEFT JOIN LATERAL (SELECT m[1] AS name, m[2] AS length FROM regexp_match(p_kept, '^(\w+)(?:\((\d+)\))?') AS m) AS k ON true
$$;

-- Inserts the kept rows; columns NULL: all that can be given, in their order. types: those of the columns that ssb_internal.kept_type
-- tells of other tables, where the table is a temporary one.
CREATE OR REPLACE FUNCTION ssb_internal.insert_captured(session ssb.session, target text, columns text[], overriding boolean DEFAULT false,
                                                        types text[] DEFAULT NULL)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_columns text[] := coalesce(columns, ARRAY(
        SELECT a.attname FROM pg_attribute AS a
         WHERE a.attrelid = target::regclass AND a.attnum > 0 AND NOT a.attisdropped
           AND a.attgenerated = '' AND (overriding OR NOT ssb_internal.is_identity(a))
         ORDER BY a.attnum));
    v_count bigint;
BEGIN
    EXECUTE format('INSERT INTO %s (%s) %s SELECT %s FROM unnest($1) AS r', target,
        (SELECT string_agg(quote_ident(c), ', ' ORDER BY n) FROM unnest(v_columns) WITH ORDINALITY AS u(c, n)),
        CASE WHEN overriding THEN 'OVERRIDING SYSTEM VALUE' ELSE '' END,
        (SELECT string_agg(ssb_internal.captured_cell(format('r -> %s', u.n - 1), a.atttypid, a.atttypmod,
                                                      CASE WHEN types IS NOT NULL THEN types[u.n]
                                                           -- Nobody knows.
                                                           WHEN t.relpersistence = 't' THEN ''
                                                           ELSE ssb_internal.kept_type(col_description(a.attrelid, a.attnum)) END),
                           ', ' ORDER BY u.n)
           FROM unnest(v_columns) WITH ORDINALITY AS u(c, n)
           JOIN pg_class AS t ON t.oid = target::regclass
           JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = u.c))
    USING ssb_internal.captured_of_width(session.captured, cardinality(v_columns));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF overriding THEN
        PERFORM sys.advance_identity(target);
    END IF;
    session.rowcount := v_count;
    session.error := 0;
    RETURN session;
END;
$$;
