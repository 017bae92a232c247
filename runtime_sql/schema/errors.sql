-- SQL Server's error numbers as SQLSTATEs, and the one place that raises them.
-- Called by  every other function; compiled RAISERROR, THROW and error handlers

-- S and four digits up to 9999, T and four digits of base 36 up to 1,679,615;
-- TZZZZ beyond (the number then stands only in DETAIL).
CREATE OR REPLACE FUNCTION ssb.sqlstate_of(number integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_digits CONSTANT text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
    v_rest integer := number;
    v_result text := '';
BEGIN
    IF number BETWEEN 0 AND 9999 THEN
        RETURN 'S' || lpad(number::text, 4, '0');
    ELSIF number NOT BETWEEN 0 AND 1679615 THEN
        RETURN 'TZZZZ';
    END IF;
    FOR i IN 1..4 LOOP
        v_result := substr(v_digits, v_rest % 36 + 1, 1) || v_result;
        v_rest := v_rest / 36;
    END LOOP;
    RETURN 'T' || v_result;
END;
$$;

-- The number behind one of our SQLSTATEs; NULL for PostgreSQL's own and for TZZZZ.
CREATE OR REPLACE FUNCTION ssb.error_number_of(sqlstate_code text)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result integer := 0;
BEGIN
    IF sqlstate_code ~ '^S[0-9]{4}$' THEN
        RETURN substr(sqlstate_code, 2)::integer;
    ELSIF sqlstate_code !~ '^T[0-9A-Z]{4}$' OR sqlstate_code = 'TZZZZ' THEN
        RETURN NULL;
    END IF;
    FOR i IN 2..5 LOOP
        v_result := v_result * 36 + position(substr(sqlstate_code, i, 1) IN '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ') - 1;
    END LOOP;
    RETURN v_result;
END;
$$;

-- Raises: number, severity and state travel in DETAIL where the SQLSTATE alone
-- does not say them (severity 16 and state 1 are what it says by itself).
CREATE OR REPLACE FUNCTION ssb_internal.raise_error(number integer, message text, severity integer DEFAULT 16,
                                                    state integer DEFAULT 1, hint text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_state text := ssb.sqlstate_of(number);
    v_detail text;
BEGIN
    IF number > 9999 OR severity <> 16 OR state <> 1 THEN
        v_detail := format('Msg %s, Level %s, State %s', number, severity, state);
    END IF;
    -- RAISE shows an empty DETAIL or HINT and refuses a NULL one.
    IF v_detail IS NOT NULL AND hint IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = v_state, MESSAGE = message, DETAIL = v_detail, HINT = hint;
    ELSIF v_detail IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = v_state, MESSAGE = message, DETAIL = v_detail;
    ELSIF hint IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = v_state, MESSAGE = message, HINT = hint;
    END IF;
    RAISE EXCEPTION USING ERRCODE = v_state, MESSAGE = message;
END;
$$;
