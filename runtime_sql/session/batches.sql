-- The frame of a batch and of a procedure: what is set up before the first
-- statement and settled after the last.
--
-- Called by  compiled batches (DO blocks) and procedures
-- Settings   pgsb.nocount, pgsb.xact_abort, pgsb.rowcount, pgsb.noexec: SET options of this connection;
--            pgsb.implicit_transactions: for @@OPTIONS;
--            pgsb.nocount_now: NOCOUNT of the batch or module which runs, pgsb.trancount: @@TRANCOUNT above 1, for triggers;
--            pgsb.status: @@ERROR, @@ROWCOUNT, @@FETCH_STATUS as the last batch left them

-- A session as a connection starts it. A COMMIT inside an exception block is
-- refused in any case; which words refuse it tells whether COMMIT is possible
-- outside one. They may be in any language: a function's are compared with.
CREATE OR REPLACE PROCEDURE ssb_internal.open_session(INOUT session ssb.session)
LANGUAGE plpgsql
AS $$
BEGIN
    BEGIN
        COMMIT;
    EXCEPTION WHEN invalid_transaction_termination THEN
        session := ssb_internal.new_session(SQLERRM OPERATOR(pg_catalog.=) ssb_internal.words_of_an_impossible_commit());
    END;
    IF pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.<>) 'pg_catalog, pg_temp' THEN
        session.search_path := pg_catalog.current_setting('search_path');
        PERFORM ssb_internal.pin_search_path();
    END IF;
END;
$$;

-- T-SQL's names are found without a search_path. In the caller's, a function or operator that somebody made
-- in public with closer types of arguments would take the place of one of PostgreSQL's. Clients of pgsb set this
-- path for their sessions; where another client calls a procedure it holds for the call: to the end of
-- each transaction, so COMMIT and ROLLBACK are followed by this function, and ssb_internal.leave puts the
-- caller's back. A SET clause would forbid COMMIT in the procedure.
CREATE OR REPLACE FUNCTION ssb_internal.pin_search_path()
RETURNS text
LANGUAGE sql VOLATILE
RETURN CASE WHEN current_setting('search_path') <> 'pg_catalog, pg_temp'
            THEN set_config('search_path', 'pg_catalog, pg_temp', true) END;

CREATE OR REPLACE FUNCTION ssb_internal.new_session(p_is_atomic boolean)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    session ssb.session;
    v_status text[] := string_to_array(nullif(current_setting('pgsb.status', true), ''), ',');
BEGIN
    session.atomic := p_is_atomic;
    session.trancount := session.atomic::integer;
    session.autocommit := NOT session.atomic;
    session.doomed := false;
    session.xact_abort := coalesce(nullif(current_setting('pgsb.xact_abort', true), ''), 'off')::boolean;
    session.nocount := coalesce(nullif(current_setting('pgsb.nocount', true), ''), 'off')::boolean;
    session.row_limit := nullif(current_setting('pgsb.rowcount', true), '')::bigint;
    session.noexec := coalesce(nullif(current_setting('pgsb.noexec', true), ''), 'off')::boolean;
    session.try_depth := 0;
    IF nullif(current_setting('pgsb.tries', true), '') <> '0' THEN
        PERFORM ssb_internal.tries(0);
    END IF;
    IF current_setting('pgsb.nocount_now', true) <> '' THEN
        PERFORM set_config('pgsb.nocount_now', '', false);
    END IF;
    session.outer_tries := 0;
    session.leaving := false;
    session.unresolved := false;
    session.rolling_back := false;
    session.error := coalesce(v_status[1]::integer, 0);
    session.rowcount := coalesce(v_status[2]::bigint, 0);
    session.fetch_status := coalesce(v_status[3]::integer, 0);
    session.nestlevel := 0;
    session.capturing := false;
    session.in_trigger := false;
    session.failed := false;
    RETURN session;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.words_of_an_impossible_commit()
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    COMMIT;
    RETURN NULL;
EXCEPTION WHEN invalid_transaction_termination THEN
    RETURN SQLERRM;
END;
$$;

CREATE OR REPLACE PROCEDURE ssb_internal.begin_batch(INOUT session ssb.session)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL ssb_internal.open_session(session);
END;
$$;

-- The end of a batch that leaves its transaction open to the next one (more = true)
-- or is the last (false). An error that ended the batch is reported here, or raised
-- when nothing follows. stop: an error ends the script as well, with SX002, which says
-- nothing more; what the transaction did goes with it. raises: it ends it as itself, though
-- it was reported, for those who apply a text and look at exceptions alone (pgsb compile --on-error stop).
CREATE OR REPLACE PROCEDURE ssb_internal.end_batch(INOUT session ssb.session, more boolean DEFAULT false, stop boolean DEFAULT false,
                                                   raises boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    v_error ssb.error := session.pending;
    -- A ROLLBACK takes the setting back.
    v_reported CONSTANT text := CASE WHEN raises AND session.failed THEN pg_catalog.current_setting('pgsb.reported', true) END;
BEGIN
    IF session.doomed AND NOT session.rolling_back THEN
        IF session.leaving AND v_error.number IS NOT NULL THEN
            PERFORM ssb_internal.report(v_error, session.hint);
        END IF;
        session.hint := NULL;
        v_error := ROW(3998, 'Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.',
                       16, 1, NULL, 1)::ssb.error;
        session.leaving := true;
        session.unresolved := false;
        session.rolling_back := true;
        session.error := 3998;
    END IF;
    IF NOT session.atomic THEN
        -- Without more the connection would keep the transaction open to its end, which rolls it back; a DO block cannot.
        IF session.rolling_back OR session.trancount OPERATOR(pg_catalog.>) 0 AND NOT more THEN
            CALL ssb_internal.roll_back();
            session.trancount := 0;
            session.doomed := false;
        ELSIF session.trancount OPERATOR(pg_catalog.=) 0 THEN
            IF pg_catalog.current_setting('pgsb.parked_routines', true) OPERATOR(pg_catalog.<>) '' THEN
                PERFORM ssb_internal.drop_parked_routines();
            END IF;
            COMMIT;
        END IF;
        session.autocommit := session.trancount OPERATOR(pg_catalog.=) 0;
    END IF;
    PERFORM ssb_internal.keep_session(session);
    IF session.leaving AND v_error.number IS NOT NULL THEN
        IF more AND NOT raises THEN
            PERFORM ssb_internal.report(v_error, session.hint);
            IF NOT session.xact_abort AND ssb_internal.terminates_statement(v_error.number, 'INSERT')
               AND ssb_internal.is_of_trigger(v_error.procedure) THEN
                -- Message 3621, which the client prints where the error itself is raised.
                PERFORM ssb_internal.print('The statement has been terminated.');
            END IF;
        ELSE
            IF NOT session.atomic AND NOT more THEN
                COMMIT;
            END IF;
            PERFORM ssb_internal.raise_pending(v_error, session.hint);
        END IF;
    END IF;
    IF v_reported OPERATOR(pg_catalog.<>) '' THEN
        PERFORM ssb_internal.raise_pending(v_reported::ssb.error);
    END IF;
    IF (stop OR raises) AND (session.failed OR session.leaving) THEN
        RAISE EXCEPTION USING ERRCODE = 'SX002', MESSAGE = 'An error ended the script.';
    END IF;
    session.leaving := false;
    session.unresolved := false;
    session.rolling_back := false;
    session.pending := NULL;
    session.caught := NULL;
    session.try_depth := 0;
    IF session.failed THEN
        PERFORM pg_catalog.set_config('pgsb.reported', '', false);
    END IF;
    session.failed := false;
    IF session.search_path IS NOT NULL THEN
        -- Further batches of ssb_internal.run_batches go on without the caller's.
        PERFORM CASE WHEN more AND session.trancount OPERATOR(pg_catalog.>) 0 THEN ssb_internal.pin_search_path()
                     ELSE pg_catalog.set_config('search_path', session.search_path, true) END;
    END IF;
    IF more AND pg_catalog.current_setting('pgsb.tells_batches', true) OPERATOR(pg_catalog.=) 'on' THEN
        -- Lines of errors count from the batch: the client counts batches.
        RAISE INFO USING ERRCODE = 'SB001', MESSAGE = 'The next batch begins.';
    END IF;
END;
$$;

-- What the next batch of this connection finds of this one.
CREATE OR REPLACE FUNCTION ssb_internal.keep_session(session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('pgsb.nocount_now', true) <> '' THEN
        PERFORM set_config('pgsb.nocount_now', '', false);
    END IF;
    PERFORM set_config('pgsb.nocount', session.nocount::text, false),
            set_config('pgsb.xact_abort', session.xact_abort::text, false),
            set_config('pgsb.rowcount', coalesce(session.row_limit::text, ''), false),
            set_config('pgsb.noexec', session.noexec::text, false),
            ssb_internal.tries(0),
            set_config('pgsb.status', concat_ws(',', session.error, session.rowcount, session.fetch_status), false);
END;
$$;

-- Into a procedure: caller is what ssb_internal.leave goes back to. An application calls
-- with session NULL; caller then stays NULL.
CREATE OR REPLACE PROCEDURE ssb_internal.enter(INOUT session ssb.session, INOUT caller ssb.session, procedure text)
LANGUAGE plpgsql
AS $$
BEGIN
    IF session.trancount IS NULL THEN
        CALL ssb_internal.open_session(session);
    ELSE
        caller := session;
    END IF;
    session.procedure := procedure;
    session.nestlevel := session.nestlevel OPERATOR(pg_catalog.+) 1;
    session.outer_tries := session.try_depth;
    session.status := 0;
    IF session.nestlevel OPERATOR(pg_catalog.>) 32 THEN
        session := ssb_internal.nested_too_deep(session, caller.procedure);
    END IF;
END;
$$;

-- Out of a procedure: to an application, which gets the error that ended it raised and its own search_path
-- back (a SET clause here would undo that), or to another procedure or batch.
CREATE OR REPLACE FUNCTION ssb_internal.leave(session ssb.session, caller ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
AS $$
BEGIN
    IF caller.trancount IS NOT NULL THEN
        RETURN ssb_internal.leave_to_caller(session, caller);
    END IF;
    PERFORM ssb_internal.leave_to_application(session);
    IF session.search_path IS NOT NULL THEN
        PERFORM pg_catalog.set_config('search_path', session.search_path, true);
    END IF;
    RETURN NULL;
END;
$$;

-- Error 266 tells of a @@TRANCOUNT that is not the caller's.
CREATE OR REPLACE FUNCTION ssb_internal.leave_to_caller(session ssb.session, caller ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_line integer := 0;
    v_name text := session.procedure;
    v_before integer := caller.trancount;
BEGIN
    session.procedure := caller.procedure;
    session.nestlevel := caller.nestlevel;
    IF session.try_depth <> caller.try_depth THEN
        -- RETURN in a TRY block.
        session.try_depth := ssb_internal.tries(caller.try_depth);
    END IF;
    session.outer_tries := caller.outer_tries;
    session.caught := caller.caught;
    session.xact_abort := caller.xact_abort;
    IF session.nocount <> caller.nocount THEN
        session.nocount := ssb_internal.no_count(caller.nocount);
    END IF;
    session.row_limit := caller.row_limit;
    session.tells_identity := caller.tells_identity;
    session.return_code := session.status;
    session.status := caller.status;
    IF session.leaving THEN
        session.return_code := NULL;
        IF NOT session.unresolved THEN
            RETURN session;
        END IF;
        session.unresolved := false;
        IF (session.pending).number IS NULL THEN
            session.leaving := false;
            v_line := (session.pending).line;
        END IF;
    END IF;
    IF session.trancount <> v_before AND NOT session.leaving THEN
        session := ssb_internal.signal(session, ROW(266, format('Transaction count after EXECUTE indicates a mismatching number of BEGIN '
            'and COMMIT statements. Previous count = %s, current count = %s.', v_before, session.trancount), 16, 2,
            v_name, v_line)::ssb.error);
        session.status := caller.status;
    END IF;
    RETURN session;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.leave_to_application(session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('pgsb.parked_routines', true) <> '' THEN
        PERFORM ssb_internal.drop_parked_routines();
    END IF;
    IF current_setting('pgsb.nocount_now', true) <> '' THEN
        PERFORM set_config('pgsb.nocount_now', '', false);
    END IF;
    IF session.leaving AND (session.pending).number IS NOT NULL THEN
        PERFORM ssb_internal.raise_pending(session.pending, session.hint);
    ELSIF session.doomed THEN
        PERFORM ssb_internal.raise_pending(ROW(3998, 'Uncommittable transaction is detected at the end of the batch. The transaction is '
            'rolled back.', 16, 1, session.procedure, 1)::ssb.error);
    ELSIF session.trancount <> session.atomic::integer THEN
        IF session.atomic THEN
            PERFORM ssb_internal.report(ROW(266, format('Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT '
                'statements. Previous count = 1, current count = %s.', session.trancount), 16, 2, session.procedure, 0)::ssb.error);
        ELSE
            PERFORM ssb_internal.raise_pending(ROW(266, format('Transaction count after EXECUTE indicates a mismatching number of BEGIN and '
                'COMMIT statements. Previous count = 0, current count = %s.', session.trancount), 16, 2, session.procedure, 0)::ssb.error,
                'The procedure left its transaction open; it has been rolled back.');
        END IF;
    END IF;
END;
$$;

-- SET NOCOUNT of a batch or module, for the triggers that it fires: they get no session.
CREATE OR REPLACE FUNCTION ssb_internal.no_count(is_on boolean)
RETURNS boolean
LANGUAGE sql
RETURN set_config('pgsb.nocount_now', is_on::text, false)::boolean;

-- Into a trigger: a transaction is open by definition, SET XACT_ABORT is ON. The TRY blocks around the
-- statement that fired it catch its errors, those of RAISERROR too.
CREATE OR REPLACE FUNCTION ssb_internal.enter_trigger(procedure text)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    session ssb.session;
    v_stack text;
BEGIN
    GET DIAGNOSTICS v_stack = PG_CONTEXT;
    session.trancount := greatest(nullif(current_setting('pgsb.trancount', true), '')::integer, 1);
    session.autocommit := false;
    session.atomic := true;
    session.doomed := false;
    session.xact_abort := true;
    session.nocount := coalesce(nullif(current_setting('pgsb.nocount_now', true), ''), nullif(current_setting('pgsb.nocount', true), ''),
                                'off')::boolean;
    session.try_depth := coalesce(nullif(current_setting('pgsb.tries', true), ''), '0')::integer;
    session.outer_tries := session.try_depth;
    session.leaving := false;
    session.unresolved := false;
    session.rolling_back := false;
    session.error := 0;
    session.rowcount := 0;
    session.fetch_status := 0;
    session.procedure := procedure;
    -- This function, the trigger, and at most the batch: the common case, seen without a closer look.
    session.nestlevel := CASE
        WHEN (length(v_stack) - length(replace(v_stack, 'PL/pgSQL', ''))) / 8
             - (v_stack LIKE '%inline_code_block%')::integer <= 2 THEN 1
        ELSE ssb_internal.nesting_level() END;
    session.capturing := false;
    session.in_trigger := true;
    IF session.nestlevel > 32 THEN
        PERFORM ssb_internal.check_nesting();
    END IF;
    RETURN session;
END;
$$;

-- Out of a trigger: the error that ended it goes to the statement that fired it.
CREATE OR REPLACE FUNCTION ssb_internal.leave_trigger(session ssb.session)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF session.leaving AND (session.pending).number IS NOT NULL THEN
        PERFORM ssb_internal.raise_pending(session.pending);
    ELSIF session.doomed AND session.trancount > 0 THEN
        PERFORM ssb_internal.raise_pending(ROW(3616, 'An error was raised during trigger execution. The batch has been aborted and the '
                                                     'user transaction, if any, has been rolled back.', 16, 1,
                                      session.procedure, NULL)::ssb.error);
    ELSIF session.trancount = 0 THEN
        PERFORM ssb_internal.raise_pending(ROW(3609, 'The transaction ended in the trigger. The batch has been aborted.', 16, 1,
                                      session.procedure, NULL)::ssb.error);
    END IF;
    IF session.try_depth <> session.outer_tries THEN
        PERFORM ssb_internal.tries(session.outer_tries);
    END IF;
    IF session.database IS NOT NULL THEN
        -- Not for the transaction alone: dynamic SQL in the trigger may have put its own database back.
        PERFORM ssb_internal.return_to_database(session.database);
    END IF;
END;
$$;

-- @@OPTIONS: IMPLICIT_TRANSACTIONS 2, the options that ODBC sets (ANSI_WARNINGS 8, ANSI_PADDING 16, ANSI_NULLS 32, ARITHABORT 64,
-- QUOTED_IDENTIFIER 256, ANSI_NULL_DFLT_ON 1024, CONCAT_NULL_YIELDS_NULL 4096), NOCOUNT 512, XACT_ABORT 16384.
CREATE OR REPLACE FUNCTION ssb_internal.options(session ssb.session)
RETURNS integer
LANGUAGE sql STABLE
RETURN 5496 + 2 * coalesce(current_setting('pgsb.implicit_transactions', true) = 'on', false)::integer + 512 * session.nocount::integer + 16384 * session.xact_abort::integer;

-- SET ROWCOUNT: the rows after which a statement stops, NULL for all of them.
CREATE OR REPLACE FUNCTION ssb_internal.row_limit(p_rows bigint)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_rows IS NULL OR p_rows < 0 THEN
        PERFORM ssb_internal.raise_error(507, 'Invalid argument for SET ROWCOUNT. Must be a non-null non-negative integer.');
    END IF;
    RETURN nullif(p_rows, 0);
END;
$$;

-- Into the batch of EXEC ('…') or sp_executesql: a scope of its own for names that
-- cannot be resolved, for SET options and for ERROR_PROCEDURE(). p_levels: sp_executesql
-- is a procedure that runs a string, two levels.
CREATE OR REPLACE FUNCTION ssb_internal.enter_string(session ssb.session, p_levels integer DEFAULT 1)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller text := session.procedure;
BEGIN
    session.procedure := '';
    session.nestlevel := session.nestlevel + p_levels;
    session.outer_tries := session.try_depth;
    session.status := 0;
    IF session.nestlevel > 32 THEN
        session := ssb_internal.nested_too_deep(session, v_caller);
    END IF;
    RETURN session;
END;
$$;
