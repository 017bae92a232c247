-- BEGIN, COMMIT and ROLLBACK TRANSACTION. @@TRANCOUNT counts; at 1 COMMIT is real,
-- ROLLBACK is real at any depth. Where the caller's own transaction surrounds us
-- (session.atomic) COMMIT only counts and ROLLBACK raises, for the caller's
-- transaction is not ours to end and must not go on either.
--
-- Called by  compiled batches and procedures

CREATE OR REPLACE FUNCTION ssb_internal.begin_transaction(session ssb.session, name text DEFAULT NULL)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.trancount := session.trancount + 1;
    session.autocommit := false;
    IF session.trancount = 1 THEN
        session.transaction_name := name;
    ELSE
        PERFORM set_config('pgsb.trancount', session.trancount::text, true);  -- triggers get no session
    END IF;
    session.error := 0;
    session.rowcount := 0;
    RETURN session;
END;
$$;

-- SET IMPLICIT_TRANSACTIONS ON, before a statement that begins a transaction. @@ERROR and @@ROWCOUNT stay.
CREATE OR REPLACE FUNCTION ssb_internal.begin_implicitly(session ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF session.trancount = 0 THEN
        session.trancount := 1;
        session.autocommit := false;
    END IF;
    RETURN session;
END;
$$;

CREATE OR REPLACE PROCEDURE ssb_internal.commit_transaction(INOUT session ssb.session, line integer)
LANGUAGE plpgsql
AS $$
BEGIN
    IF session.doomed THEN
        session := ssb_internal.signal(session, ROW(3930, 'The current transaction cannot be committed and cannot support operations '
            'that write to the log file. Roll back the transaction.', 16, 1, session.procedure, line)::ssb.error);
        RETURN;
    ELSIF session.trancount OPERATOR(pg_catalog.=) 0 THEN
        session := ssb_internal.signal(session, ROW(3902, 'The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.',
            16, 1, session.procedure, line)::ssb.error);
        RETURN;
    ELSIF session.capturing AND session.trancount OPERATOR(pg_catalog.=) 1 THEN
        session := ssb_internal.signal(session, ROW(3916, 'Cannot use the COMMIT statement within an INSERT-EXEC statement unless BEGIN '
            'TRANSACTION is used first.', 16, 0, session.procedure, line)::ssb.error);
        RETURN;
    ELSIF session.trancount OPERATOR(pg_catalog.=) 1 AND NOT session.atomic THEN
        COMMIT;
        PERFORM ssb_internal.pin_search_path();
        session.autocommit := true;
        session.transaction_name := NULL;
    ELSIF session.trancount OPERATOR(pg_catalog.>) 1 THEN
        PERFORM pg_catalog.set_config('pgsb.trancount', (session.trancount OPERATOR(pg_catalog.-) 1)::pg_catalog.text, true);
    END IF;
    session.trancount := session.trancount OPERATOR(pg_catalog.-) 1;
    session.error := 0;
    session.rowcount := 0;
END;
$$;

-- ROLLBACK itself, without what it does not undo in T-SQL. SQL Server gives the locks of a deadlock's victim to those
-- who wait for them, in their turn; here the victim that begins anew at once would have them again before the one that
-- waits is awake, and be the victim again, until its retries are used up. So it steps back for a moment.
CREATE OR REPLACE PROCEDURE ssb_internal.roll_back()
LANGUAGE plpgsql
AS $$
DECLARE
    state CONSTANT text[] := ssb_internal.session_state();
    was_victim CONSTANT boolean := pg_catalog.current_setting('pgsb.was_victim', true) OPERATOR(pg_catalog.=) 'on';
BEGIN
    ROLLBACK;
    IF was_victim THEN
        PERFORM pg_catalog.pg_sleep(0.05);
    END IF;
    IF ssb_internal.tell_of_poison() THEN
        COMMIT;
    END IF;
    IF ssb_internal.restore_session_state(state) THEN
        COMMIT;
    END IF;
    PERFORM ssb_internal.pin_search_path();
END;
$$;

-- name: what ROLLBACK TRANSACTION names; only the outermost BEGIN TRANSACTION's
-- name is one (savepoints are compiled otherwise).
CREATE OR REPLACE PROCEDURE ssb_internal.rollback_transaction(INOUT session ssb.session, line integer, name text DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    reported CONSTANT text := CASE WHEN session.failed THEN pg_catalog.current_setting('pgsb.reported', true) END;
BEGIN
    IF session.trancount OPERATOR(pg_catalog.=) 0 THEN
        session := ssb_internal.signal(session, ROW(3903, 'The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.',
            16, 1, session.procedure, line)::ssb.error);
        RETURN;
    ELSIF name IS NOT NULL AND (name OPERATOR(pg_catalog.=) session.transaction_name) IS NOT TRUE THEN
        session := ssb_internal.signal(session, ROW(6401, pg_catalog.format('Cannot roll back %s. No transaction or savepoint of that name was found.',
            name), 16, 1, session.procedure, line)::ssb.error);
        RETURN;
    ELSIF session.capturing THEN
        -- Not by signal: code may go on behind a ROLLBACK without asking whether it failed.
        PERFORM ssb_internal.raise_pending(ROW(3915, 'Cannot use the ROLLBACK statement within an INSERT-EXEC statement.', 16, 0,
                                      session.procedure, line)::ssb.error);
    ELSIF session.in_trigger THEN
        -- What stands behind it is run, for its messages; all goes when the trigger ends (3609).
        session.trancount := 0;
        session.doomed := false;
        session.transaction_name := NULL;
        session.error := 0;
        session.rowcount := 0;
        RETURN;
    ELSIF pg_catalog.current_setting('pgsb.call_is_doomed', true) OPERATOR(pg_catalog.=) 'on' THEN
        RAISE EXCEPTION USING ERRCODE = 'read_only_sql_transaction', MESSAGE = 'ROLLBACK TRANSACTION in a call that cannot end the transaction';
    ELSIF session.atomic THEN
        RAISE EXCEPTION USING ERRCODE = CASE WHEN (session.caught).number IS NULL THEN '40000'
                                             ELSE ssb.sqlstate_of((session.caught).number) END,
            MESSAGE = coalesce((session.caught).message,
                               pg_catalog.format('ROLLBACK TRANSACTION at line %s%s ends the transaction that the caller began', line,
                                                  CASE WHEN session.procedure OPERATOR(pg_catalog.<>) '' THEN pg_catalog.concat(' of ', session.procedure) END)),
            DETAIL = CASE WHEN (session.caught).number IS NULL THEN '' ELSE ssb_internal.error_detail(session.caught) END,
            HINT = 'A procedure called inside a transaction block cannot roll it back by itself: roll back, or call it outside.';
    END IF;
    CALL ssb_internal.roll_back();
    PERFORM ssb_internal.tries(session.try_depth);
    IF reported OPERATOR(pg_catalog.<>) '' THEN
        -- With what end_batch may end the script.
        PERFORM pg_catalog.set_config('pgsb.reported', reported, false);
    END IF;
    session.trancount := 0;
    session.autocommit := true;
    session.doomed := false;
    session.transaction_name := NULL;
    session.error := 0;
    session.rowcount := 0;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xact_state(session ssb.session)
RETURNS smallint
LANGUAGE sql IMMUTABLE
RETURN (CASE WHEN session.doomed THEN -1 WHEN session.trancount > 0 THEN 1 ELSE 0 END)::smallint;

-- Whether a wait may end PostgreSQL's transaction: nothing was written in it yet,
-- so that nobody can tell. A lock of sp_getapplock counts as written.
CREATE OR REPLACE FUNCTION ssb_internal.may_commit(session ssb.session)
RETURNS boolean
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT session.autocommit
           OR NOT session.atomic AND pg_current_xact_id_if_assigned() IS NULL AND NOT session.doomed
              AND NOT EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = pg_backend_pid() AND l.locktype = 'advisory');
END;

-- SAVE TRANSACTION: whether it may. The savepoint itself is an exception block of
-- the compiled code.
CREATE OR REPLACE FUNCTION ssb_internal.save_transaction(session ssb.session, line integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF session.trancount = 0 THEN
        RETURN ssb_internal.signal(session, ROW(628, 'Cannot issue SAVE TRANSACTION when there is no active transaction.',
            16, 0, session.procedure, line)::ssb.error);
    ELSIF session.doomed THEN
        RETURN ssb_internal.signal(session, ROW(3930, 'The current transaction cannot be committed and cannot support operations '
            'that write to the log file. Roll back the transaction.', 16, 1, session.procedure, line)::ssb.error);
    END IF;
    session.error := 0;
    session.rowcount := 0;
    RETURN session;
END;
$$;

-- ROLLBACK TRANSACTION savepoint in a doomed transaction.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_savepoint(session ssb.session, line integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.signal(session, ROW(3931, 'The current transaction cannot be committed and cannot be rolled back to a savepoint. '
        'Roll back the entire transaction.', 16, 1, session.procedure, line)::ssb.error);
END;
$$;

-- A doomed transaction is a read-only one.
CREATE OR REPLACE FUNCTION ssb_internal.forbid_writing()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('transaction_read_only', 'on', true);
END;
$$;
