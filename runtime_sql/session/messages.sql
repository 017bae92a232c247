-- What a batch says to its client beside results: PRINT, row counts, errors that
-- did not end it. All are messages with an SQLSTATE of ours by which a client
-- tells them apart; level INFO, because client_min_messages cannot hide it and
-- it never goes to the server's log. Errors are WARNINGs, so that the log of an
-- activated procedure has them.
--
-- Called by  compiled batches, procedures and triggers

-- PRINT, and RAISERROR below severity 11. T-SQL cuts the text at 8000 bytes.
CREATE OR REPLACE FUNCTION ssb_internal.print(message text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE INFO USING ERRCODE = 'SP001', MESSAGE = coalesce(left(message, 8000), '');
END;
$$;

-- PRINT of a binary shows its digits, where CAST makes text of it.
CREATE OR REPLACE FUNCTION ssb_internal.print_bytes(message bytea)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb_internal.print('0x' || upper(encode(message, 'hex')));
$$;

-- "(3 rows affected)"
CREATE OR REPLACE FUNCTION ssb_internal.show_count(session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT session.nocount THEN
        RAISE INFO USING ERRCODE = 'SC001', DETAIL = session.rowcount::text,
            MESSAGE = format('(%s %s affected)', session.rowcount,
                             CASE session.rowcount WHEN 1 THEN 'row' ELSE 'rows' END);
    END IF;
END;
$$;

-- DETAIL of an error: what SQLSTATE and MESSAGE do not say. A procedure without a name is dynamic SQL, whose lines
-- are counted from its own first one.
CREATE OR REPLACE FUNCTION ssb_internal.error_detail(error ssb.error)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT concat('Msg ', error.number, ', Level ', error.severity, ', State ', error.state,
                  ', Procedure ' || nullif(error.procedure, ''), ', Line ' || error.line,
                  CASE WHEN error.procedure = '' AND error.line IS NOT NULL THEN ' of dynamic SQL' END);
END;

-- An error that does not end the batch.
CREATE OR REPLACE FUNCTION ssb_internal.report(error ssb.error, hint text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- RAISE refuses a hint that is NULL.
    IF hint IS NOT NULL THEN
        RAISE WARNING USING ERRCODE = 'SE001', MESSAGE = error.message, DETAIL = ssb_internal.error_detail(error), HINT = hint;
        RETURN;
    END IF;
    RAISE WARNING USING ERRCODE = 'SE001', MESSAGE = error.message, DETAIL = ssb_internal.error_detail(error);
END;
$$;

-- An error that ends the batch.
CREATE OR REPLACE FUNCTION ssb_internal.raise_pending(error ssb.error, hint text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF hint IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = ssb.sqlstate_of(error.number), MESSAGE = error.message,
                              DETAIL = ssb_internal.error_detail(error);
    END IF;
    RAISE EXCEPTION USING ERRCODE = ssb.sqlstate_of(error.number), MESSAGE = error.message,
                          DETAIL = ssb_internal.error_detail(error), HINT = hint;
END;
$$;

-- xp_logevent: a line in the server's log that no client sees.
CREATE OR REPLACE FUNCTION ssb_internal.log_event(message text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE LOG '%', message;
END;
$$;
