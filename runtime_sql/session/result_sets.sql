-- Result sets from inside a batch: messages with SQLSTATE SR001, 100 rows each,
-- in order with PRINT and not undone by ROLLBACK:
--   {"columns":[{"name":"id","type":"integer"},…],"rows":[[1],…],"last":true}
-- Messages after the first have no "columns".
--
-- Called by  compiled SELECT, RECEIVE and OUTPUT in batches with control flow

-- One message. columns NULL: not the first of its result set.
CREATE OR REPLACE FUNCTION ssb_internal.show_rows(columns json, result_rows text[], last boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE INFO USING ERRCODE = 'SR001',
        MESSAGE = concat('{', '"columns":' || columns::text || ',', '"rows":[', array_to_string(result_rows, ','),
                         '],"last":', last::text, '}');
END;
$$;

-- The values of a row as a JSON array; numbers keep their digits, equal names their places.
CREATE OR REPLACE FUNCTION ssb_internal.row_values(object json)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce('[' || string_agg(f.value::text, ',') || ']', '[]') FROM json_each(object) AS f;
END;

-- Sends the rows of an open cursor and closes it. columns is what the compiler
-- knows, [{"name":…,"type":…},…]; NULL: the query's own names. Sets @@ROWCOUNT.
-- INSERT … EXEC keeps the rows instead of sending them.
CREATE OR REPLACE FUNCTION ssb_internal.show(session ssb.session, result refcursor, columns json DEFAULT NULL)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row record;
    v_rows text[] := '{}';
    v_count bigint := 0;
BEGIN
    LOOP
        FETCH result INTO v_row;
        EXIT WHEN NOT FOUND;
        v_rows := v_rows || ssb_internal.row_values(row_to_json(v_row));
        v_count := v_count + 1;
        IF v_count = 1 THEN
            columns := ssb_internal.columns_now(columns, row_to_json(v_row));
        END IF;
        IF v_count % 100 = 0 AND NOT session.capturing THEN
            PERFORM ssb_internal.show_rows(CASE v_count WHEN 100 THEN columns END, v_rows, false);
            v_rows := '{}';
        END IF;
    END LOOP;
    -- FETCH leaves a row of NULLs with the query's columns when there is no row.
    IF v_count = 0 THEN
        columns := ssb_internal.columns_now(columns, row_to_json(v_row));
    END IF;
    CLOSE result;
    session.rowcount := v_count;
    session.error := 0;
    IF session.capturing THEN
        session.captured := session.captured || ssb_internal.captured_rows(v_rows, columns);
    ELSE
        PERFORM ssb_internal.show_rows(CASE WHEN v_count < 100 THEN columns END, v_rows, true);
        PERFORM ssb_internal.show_count(session);
    END IF;
    RETURN session;
END;
$$;

-- What the compiler knew of a result's columns, unless the table of a * has got others since: then the row tells.
CREATE OR REPLACE FUNCTION ssb_internal.columns_now(columns json, object json)
RETURNS json
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF columns IS NULL THEN
        RETURN ssb_internal.row_columns(object);
    ELSIF object IS NULL OR json_array_length(columns) = (SELECT count(*) FROM json_object_keys(object)) THEN
        RETURN columns;
    END IF;
    RETURN (SELECT json_agg(coalesce((SELECT c.about FROM json_array_elements(columns) AS c (about)
                                       WHERE lower(c.about ->> 'name') = f.about ->> 'name' LIMIT 1), f.about))
              FROM json_array_elements(ssb_internal.row_columns(object)) AS f (about));
END;
$$;

-- Names of a row's columns, types unknown. PostgreSQL calls an unnamed one ?column?.
CREATE OR REPLACE FUNCTION ssb_internal.row_columns(object json)
RETURNS json
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce(json_agg(json_build_object('name', nullif(f.key, '?column?'), 'type', NULL)), '[]')
      FROM json_each(object) AS f;
END;

-- Rows that were collected one by one (OUTPUT clause), each the text of ssb_internal.row_values.
CREATE OR REPLACE FUNCTION ssb_internal.show_collected(session ssb.session, result_rows text[], columns json)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.rowcount := cardinality(result_rows);
    session.error := 0;
    IF session.capturing THEN
        session.captured := session.captured || ssb_internal.captured_rows(result_rows, columns);
        RETURN session;
    END IF;
    FOR v_first IN 1..greatest(cardinality(result_rows), 1) BY 100 LOOP
        PERFORM ssb_internal.show_rows(CASE v_first WHEN 1 THEN columns END, result_rows[v_first:v_first + 99],
                                       v_first + 99 >= cardinality(result_rows));
    END LOOP;
    PERFORM ssb_internal.show_count(session);
    RETURN session;
END;
$$;

-- Rows as INSERT … EXEC keeps them: a binary value is {"bytes": …}, since as text or xml it becomes what it holds.
CREATE OR REPLACE FUNCTION ssb_internal.captured_rows(result_rows text[], columns json)
RETURNS json[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_binary bigint[] := ARRAY(SELECT c.place FROM json_array_elements(columns) WITH ORDINALITY AS c(about, place)
                                WHERE c.about ->> 'type' = 'bytea');
BEGIN
    IF cardinality(v_binary) = 0 THEN
        RETURN result_rows::json[];
    END IF;
    RETURN ARRAY(
        SELECT (SELECT json_agg(CASE WHEN f.place = ANY (v_binary) AND json_typeof(f.cell) = 'string'
                                     THEN json_build_object('bytes', f.cell) ELSE f.cell END ORDER BY f.place)
                  FROM json_array_elements(r.cells::json) WITH ORDINALITY AS f(cell, place))
          FROM unnest(result_rows) WITH ORDINALITY AS r(cells, place) ORDER BY r.place);
END;
$$;

-- INSERT … EXEC: result sets are kept from here on. Inside another one it is error 8164.
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

-- A kept cell as text that can be cast to the type of a column: bytea, xml, or any other.
CREATE OR REPLACE FUNCTION ssb_internal.captured_value(cell json, wanted text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF json_typeof(cell) IS DISTINCT FROM 'object' THEN
        RETURN cell #>> '{}';
    ELSIF wanted = 'bytea' THEN
        RETURN cell ->> 'bytes';
    ELSIF wanted = 'xml' THEN
        RETURN sys.xml_of((cell ->> 'bytes')::bytea)::text;
    END IF;
    RETURN sys.text_of((cell ->> 'bytes')::bytea);
END;
$$;

-- Inserts the kept rows; columns NULL: all that can be given, in their order.
CREATE OR REPLACE FUNCTION ssb_internal.insert_captured(session ssb.session, target text, columns text[], overriding boolean DEFAULT false)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_columns text[] := coalesce(columns, ARRAY(
        SELECT a.attname FROM pg_attribute AS a
         WHERE a.attrelid = target::regclass AND a.attnum > 0 AND NOT a.attisdropped
           AND a.attgenerated = '' AND (a.attidentity = '' OR overriding)
         ORDER BY a.attnum));
    v_count bigint;
BEGIN
    EXECUTE format('INSERT INTO %s (%s) %s SELECT %s FROM unnest($1) AS r', target,
        (SELECT string_agg(quote_ident(c), ', ' ORDER BY n) FROM unnest(v_columns) WITH ORDINALITY AS u(c, n)),
        CASE WHEN overriding THEN 'OVERRIDING SYSTEM VALUE' ELSE '' END,
        (SELECT string_agg(format('ssb_internal.captured_value(r -> %s, %L)::%s', u.n - 1,
                    CASE WHEN a.atttypid = 'bytea'::regtype THEN 'bytea'
                         WHEN 'sys.xml'::regtype IN (a.atttypid, t.typbasetype) THEN 'xml' ELSE 'text' END,
                    format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY u.n)
           FROM unnest(v_columns) WITH ORDINALITY AS u(c, n)
           JOIN pg_attribute AS a ON a.attrelid = target::regclass AND a.attname = u.c
           JOIN pg_type AS t ON t.oid = a.atttypid))
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
