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
                                       WHERE ssb_internal.lower_name(c.about ->> 'name') = f.about ->> 'name' LIMIT 1), f.about))
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

-- The columns of a * that is left to the run time: {"name": "*", "of": table} becomes what the table has now.
CREATE OR REPLACE FUNCTION ssb_internal.with_columns_of(columns json)
RETURNS json
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT json_agg(coalesce(o.about, c.about) ORDER BY c.place, o.place)
              FROM json_array_elements(columns) WITH ORDINALITY AS c (about, place)
              LEFT JOIN LATERAL (
                   SELECT json_build_object('name', u.name, 'type', regexp_replace(u.type, '^timestamp(.*) with time zone$', 'timestamptz\1')) AS about,
                          u.place
                     FROM ssb_internal.described_relation AS r
                    CROSS JOIN LATERAL unnest(r.column_names, r.column_types) WITH ORDINALITY AS u (name, type, place)
                    WHERE r.oid = to_regclass(c.about ->> 'of')) AS o ON true);
END;
$$;

-- Rows that were collected one by one (OUTPUT clause), each the text of ssb_internal.row_values.
CREATE OR REPLACE FUNCTION ssb_internal.show_collected(session ssb.session, result_rows text[], columns json)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF strpos(columns::text, '"of":') > 0 THEN
        columns := ssb_internal.with_columns_of(columns);
    END IF;
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

-- Rows as INSERT … EXEC keeps them: a binary value is {"bytes": …}, since as text or xml it becomes what it holds; a moment and
-- a uniqueidentifier {"type": …, "value": …}, since T-SQL writes them otherwise.
CREATE OR REPLACE FUNCTION ssb_internal.captured_rows(result_rows text[], columns json)
RETURNS json[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- Of each column, NULL where JSON tells enough.
    v_types text[] := ARRAY(SELECT substring(c.about ->> 'type' FROM '^(bytea|timestamptz|timestamp|uuid)\M')
                              FROM json_array_elements(columns) WITH ORDINALITY AS c(about, place) ORDER BY c.place);
BEGIN
    IF array_to_string(v_types, '') = '' THEN
        RETURN result_rows::json[];
    END IF;
    RETURN ARRAY(
        SELECT (SELECT json_agg(CASE WHEN v_types[f.place] IS NULL OR json_typeof(f.cell) <> 'string' THEN f.cell
                                     WHEN v_types[f.place] = 'bytea' THEN json_build_object('bytes', f.cell)
                                     ELSE json_build_object('type', v_types[f.place], 'value', f.cell) END ORDER BY f.place)
                  FROM json_array_elements(r.cells::json) WITH ORDINALITY AS f(cell, place))
          FROM unnest(result_rows) WITH ORDINALITY AS r(cells, place) ORDER BY r.place);
END;
$$;
