-- What needs a key or a file is done by the client, outside the database: pgsb run, pgsb shell. Like dynamic
-- SQL that only the run time knows (session/runtime_compiled_sql.sql): the request goes in a message, the
-- answer comes through a second connection.
--
-- A message can be sent by any code that runs in the session. So the client does only what the statement
-- that it has itself sent says, letter for letter: this function, these files, these passwords
-- (server/key_statements.py).
--
-- Called by  the other files here
-- Settings   pgsb.key_statements: 'on' where a client answers

-- p_statement is what the user called it: 'CREATE CERTIFICATE'. INFO goes to the client alone, never to the
-- server's log: there are passwords in it.
CREATE OR REPLACE FUNCTION ssb_internal.ask_client(p_statement text, p_function text, p_request jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_token uuid := gen_random_uuid();
    v_deadline timestamptz := clock_timestamp() + interval '60 seconds';
    v_pause double precision := 0.002;
    v_answer record;
BEGIN
    IF coalesce(current_setting('pgsb.key_statements', true), '') <> 'on' THEN
        PERFORM ssb_internal.raise_error(15247, format('%s needs a key or a file outside the database, which PostgreSQL cannot reach: it is '
            'done by pgsb run and pgsb shell.', p_statement), 16, 2, 'docs/security.md tells where keys are kept.');
    ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        -- The answer would stay invisible.
        PERFORM ssb_internal.raise_error(15247, format('%s needs the isolation level READ COMMITTED.', p_statement), 16, 3);
    END IF;
    RAISE INFO USING ERRCODE = 'SX002',
        MESSAGE = (p_request || jsonb_build_object('token', v_token, 'function', p_function, 'statement', p_statement))::text;
    LOOP
        SELECT t.* INTO v_answer FROM ssb_internal.take_translation(v_token) AS t;
        EXIT WHEN v_answer.statements IS NOT NULL OR v_answer.number IS NOT NULL;
        IF clock_timestamp() > v_deadline THEN
            PERFORM ssb_internal.raise_error(15247, format('The client did not do its part of %s within 60 seconds.', p_statement), 16, 4);
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.05);
    END LOOP;
    IF v_answer.number IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(v_answer.number, v_answer.message);
    END IF;
    RETURN v_answer.statements[1]::jsonb;
END;
$$;

-- Bytes in requests and answers.
CREATE OR REPLACE FUNCTION ssb_internal.hex(p_bytes bytea)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT encode(p_bytes, 'hex'); $$;
