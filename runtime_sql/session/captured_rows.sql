-- INSERT … EXEC: the rows of result sets, kept (captured_rows) and inserted.
--
-- Called by  compiled INSERT … EXEC

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

-- The same for a statement that is all or nothing: where no transaction is open it has one of its own,
-- in which COMMIT and ROLLBACK are errors (transactions.sql).
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
        ROLLBACK;
        IF ssb_internal.tell_of_poison() THEN
            COMMIT;
        END IF;
        PERFORM ssb_internal.pin_search_path();
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
