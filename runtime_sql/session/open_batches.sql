-- Batches of a prompt, over which a transaction stays open: `pgsb shell`.
--
-- A COMMIT or ROLLBACK in compiled code is real only below a CALL that stands outside of any
-- transaction block. So the batches of an open transaction run inside one CALL of
-- ssb_internal.run_batches, which takes them from the client one by one until the transaction is closed.
-- While it waits for the next batch it waits for an advisory lock that a second connection of
-- the client holds, and the end of the client ends the wait.
--
-- Each round has a lock of its own, whose key nobody can guess. The client takes that of the
-- next round before it gives that of this round away, and tells its key before the statements. pg_locks shows
-- everybody the key of a lock that is held, and anybody may then queue for it: so once a second the answer is
-- looked for without the lock. The text of a batch goes through
-- ssb_internal.answer_translation (runtime_compiled_sql.sql), under a token that the notice SB001 tells.
--
-- Called by  server/open_transaction.py
-- Locks      advisory, the round's key, shared, for a moment
-- Settings   pgsb.answer

-- Asks the client for the next round's key and the statements of the next batch, and waits for them; NULL when its
-- second connection p_helper has gone.
CREATE OR REPLACE FUNCTION ssb_internal.next_batch(p_key bigint, p_helper integer, p_trancount integer)
RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $$
DECLARE
    v_token uuid := gen_random_uuid();
    v_statements text[];
    v_is_there boolean := true;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        -- What the client writes would stay invisible.
        PERFORM ssb_internal.raise_error(50000, 'A transaction stays open after GO only at the isolation level READ COMMITTED; '
            'it is rolled back. Type the whole transaction before GO.', 16);
    END IF;
    RAISE NOTICE USING ERRCODE = 'SB001', MESSAGE = json_build_object('token', v_token, 'trancount', p_trancount)::text;
    WHILE v_is_there LOOP
        BEGIN
            PERFORM pg_advisory_lock_shared(p_key);
            PERFORM pg_advisory_unlock_shared(p_key);
            v_is_there := false;
        EXCEPTION WHEN lock_not_available THEN
            v_is_there := EXISTS (SELECT FROM pg_locks AS l
                                   WHERE l.locktype = 'advisory' AND l.pid = p_helper AND l.granted AND l.objsubid = 1
                                     AND l.classid::bigint = p_key >> 32 AND l.objid::bigint = p_key & 4294967295);
        END;
        SELECT t.statements INTO v_statements FROM ssb_internal.take_translation(v_token) AS t;
        EXIT WHEN v_statements IS NOT NULL;
    END LOOP;
    RETURN v_statements;
END;
$$;

CREATE OR REPLACE PROCEDURE ssb_internal.run_batches(p_key bigint, p_helper integer)
LANGUAGE plpgsql
AS $$
DECLARE
    session ssb.session;
    v_statements text[];
    v_statement text;
    v_path text;
    v_key bigint := p_key;
BEGIN
    CALL ssb_internal.begin_batch(session);
    LOOP
        v_statements := ssb_internal.next_batch(v_key, p_helper, session.trancount);
        IF v_statements IS NULL THEN
            PERFORM ssb_internal.raise_error(50000, 'The client has gone: its transaction is rolled back.', 16);
        END IF;
        v_key := v_statements[1]::pg_catalog.int8;
        BEGIN
            FOREACH v_statement IN ARRAY v_statements[2:] LOOP
                EXECUTE v_statement;
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM);
        END;
        IF NOT session.leaving THEN
            v_path := ssb_internal.plan_calls_anew();
            CALL pg_temp.ssb_batch(session);
            IF v_path IS NOT NULL THEN
                PERFORM pg_catalog.set_config('search_path', v_path, true);
            END IF;
            session := pg_catalog.current_setting('pgsb.answer')::ssb.session;
        END IF;
        CALL ssb_internal.end_batch(session, more => true);
        EXIT WHEN session.trancount OPERATOR(pg_catalog.=) 0;
    END LOOP;
END;
$$;
