-- Table variables are arrays, which have no constraints: the queries that the compiler writes
-- for INSERT, UPDATE and DELETE on them call these functions instead.
--
-- Called by  compiled statements on table variables
-- Locks      none
CREATE OR REPLACE FUNCTION sys.not_null(p_value anyelement, p_column text, p_table text, p_verb text)
RETURNS anyelement
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_value IS NULL THEN
        PERFORM ssb_internal.raise_error(515, format(
            'Cannot insert the value NULL into column ''%s'', table ''%s''; column does not allow nulls. '
            '%s fails.', p_column, p_table, p_verb), 16, 2);
    END IF;
    RETURN p_value;
END;
$$;
CREATE OR REPLACE FUNCTION sys.not_null(p_value anyelement, p_column text, p_table text) RETURNS anyelement
LANGUAGE sql IMMUTABLE AS $$ SELECT sys.not_null(p_value, p_column, p_table, 'INSERT') $$;

-- True when p_fresh; otherwise error 2627.
CREATE OR REPLACE FUNCTION sys.unique_key(p_fresh boolean, p_kind text, p_table text, p_key text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_fresh IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(2627, format(
            'Violation of %s constraint. Cannot insert duplicate key in object ''dbo.%s''.%s',
            p_kind, p_table, CASE WHEN p_key <> '' THEN format(' The duplicate key value is (%s).', p_key) ELSE '' END),
            14, 1);
    END IF;
    RETURN true;
END;
$$;

-- IGNORE_DUP_KEY = ON: the duplicate is left out, with the message that SQL Server sends (3604), once a statement.
-- p_statement: what tells the statement from others.
CREATE OR REPLACE FUNCTION sys.ignore_duplicate_key(p_fresh boolean, p_statement timestamptz)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_fresh IS NOT TRUE THEN
        PERFORM ssb_internal.tell_duplicate(extract(epoch FROM p_statement)::text);
    END IF;
    RETURN p_fresh IS TRUE;
END;
$$;
CREATE OR REPLACE FUNCTION sys.ignore_duplicate_key(p_fresh boolean) RETURNS boolean
LANGUAGE sql VOLATILE
RETURN sys.ignore_duplicate_key(p_fresh, clock_timestamp());

-- A CHECK constraint is violated by false, not by NULL.
CREATE OR REPLACE FUNCTION sys.check_row(p_holds boolean, p_table text, p_verb text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_holds IS FALSE THEN
        PERFORM ssb_internal.raise_error(547, format(
            'The %s statement conflicted with the CHECK constraint. The conflict occurred in database "tempdb", table "%s".',
            p_verb, p_table), 16, 0);
    END IF;
    RETURN true;
END;
$$;
CREATE OR REPLACE FUNCTION sys.check_row(p_holds boolean, p_table text) RETURNS boolean
LANGUAGE sql STABLE
RETURN sys.check_row(p_holds, p_table, 'INSERT');

-- What is too long for a column: blanks and zero bytes are cut off.
CREATE OR REPLACE FUNCTION ssb_internal.cut_blanks(p_value text, p_length integer)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF length(rtrim(p_value, ' ')) > p_length THEN
        RAISE EXCEPTION USING ERRCODE = 'string_data_right_truncation',
            MESSAGE = format('value too long for type character varying(%s)', p_length);
    END IF;
    RETURN left(p_value, p_length);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.cut_zeros(p_value bytea, p_length integer)
RETURNS bytea
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ltrim(encode(substr(p_value, p_length + 1), 'hex'), '0') <> '' THEN
        RAISE EXCEPTION USING ERRCODE = 'string_data_right_truncation',
            MESSAGE = format('value too long for type binary varying(%s)', p_length);
    END IF;
    RETURN substr(p_value, 1, p_length);
END;
$$;

-- A value for a column of limited length. What is too long is an error, the one that PostgreSQL raises on tables.
CREATE OR REPLACE FUNCTION sys.fitting(p_value text, p_length integer)
RETURNS text
LANGUAGE sql
IMMUTABLE
RETURN CASE WHEN length(p_value) > p_length THEN ssb_internal.cut_blanks(p_value, p_length) ELSE p_value END;

CREATE OR REPLACE FUNCTION sys.fitting(p_value bytea, p_length integer)
RETURNS bytea
LANGUAGE sql
IMMUTABLE
RETURN CASE WHEN octet_length(p_value) > p_length THEN ssb_internal.cut_zeros(p_value, p_length) ELSE p_value END;

-- The rows of a table variable but those at the places, which are in order; NULL: there are none. Where one is left out,
-- the others are copied as bytes.
CREATE OR REPLACE FUNCTION sys.without_rows(p_rows anyarray, p_places bigint[])
RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_places IS NULL THEN
        RETURN p_rows;
    END IF;
    IF cardinality(p_places) = 1 THEN
        RETURN p_rows[:p_places[1] - 1] || p_rows[p_places[1] + 1:];
    END IF;
    RETURN coalesce((SELECT array_agg(p_rows[s.place] ORDER BY s.place)
                       FROM generate_series(1, cardinality(p_rows)) AS s(place)
                      WHERE NOT EXISTS (SELECT FROM unnest(p_places) AS l(place) WHERE l.place = s.place)), '{}');
END;
$$;

-- The rows of a table variable with new ones at the places, which are in order; NULL: there are none.
CREATE OR REPLACE FUNCTION sys.with_rows(p_rows anyarray, p_places bigint[], p_new anyarray)
RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_places IS NULL THEN
        RETURN p_rows;
    END IF;
    IF cardinality(p_places) = cardinality(p_rows) THEN
        RETURN p_new;
    END IF;
    FOR i IN 1 .. cardinality(p_places) LOOP
        p_rows[p_places[i]] := p_new[i];
    END LOOP;
    RETURN p_rows;
END;
$$;
