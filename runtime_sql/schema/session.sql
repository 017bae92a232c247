-- What a compiled batch or procedure knows about itself. PL/pgSQL keeps it in a
-- variable, so that it outlives ROLLBACK, and hands it on as the last, INOUT,
-- parameter of every CALL: no PostgreSQL exception crosses a CALL, for that
-- would forbid COMMIT and ROLLBACK below it.
--
-- Used by  session/ and every compiled batch and procedure
DO $$
BEGIN
    IF to_regtype('ssb.error') IS NULL THEN
        -- An error as ERROR_NUMBER() and its family show it.
        CREATE TYPE ssb.error AS (
            number      integer,
            message     text,
            severity    integer,
            state       integer,
            procedure   text,
            line        integer
        );
    END IF;
    IF to_regtype('ssb.session') IS NULL THEN
        CREATE TYPE ssb.session AS (
            trancount        integer,    -- @@TRANCOUNT
            autocommit       boolean,    -- @@TRANCOUNT is 0 and COMMIT is possible: each statement commits by itself
            atomic           boolean,    -- the caller's own transaction surrounds us: COMMIT and ROLLBACK cannot be real
            doomed           boolean,    -- XACT_STATE() is -1
            transaction_name text,       -- the name that the outermost BEGIN TRANSACTION gave
            xact_abort       boolean,    -- SET XACT_ABORT
            nocount          boolean,    -- SET NOCOUNT
            row_limit        bigint,     -- SET ROWCOUNT; NULL: no limit
            noexec           boolean,    -- SET NOEXEC
            try_depth        integer,    -- TRY blocks entered and not left, callers' included
            outer_tries      integer,    -- those of the callers: what catches an unresolved name
            leaving          boolean,    -- an error is on its way to a CATCH block or to the end of the batch
            unresolved       boolean,    -- … and ends this procedure or batch whatever TRY blocks it has (208, 207)
            rolling_back     boolean,    -- … and rolls back at the end of the batch
            pending          ssb.error,  -- that error
            caught           ssb.error,  -- the error of the CATCH block that is running: ERROR_NUMBER() …
            error            integer,    -- @@ERROR
            rowcount         bigint,     -- @@ROWCOUNT
            fetch_status     integer,    -- @@FETCH_STATUS
            return_code      integer,    -- of the procedure that ran last; NULL when it did not come to its end
            procedure        text,       -- ERROR_PROCEDURE() of an error raised here; NULL in a batch
            nestlevel        integer,    -- @@NESTLEVEL
            capturing        boolean,    -- INSERT … EXEC: result sets are kept, not sent
            captured         json[],     -- … here, one JSON array a row
            in_trigger       boolean,    -- ROLLBACK ends the batch of the statement that fired the trigger (3609)
            hint             text,       -- of the error that came last
            failed           boolean,    -- an error was shown since the batch began
            search_path      text,       -- the caller's, while the engine's own holds; NULL: the session has the engine's
            database         text,       -- the caller's (pgsb.database), while a module's own holds; NULL: it has none of its own
            tells_identity   boolean,    -- somebody around reads @@IDENTITY: what is inserted is noted
            identity         numeric,    -- … here
            status           integer     -- what the procedure that runs will have for return_code: see ssb_internal.signal
        );
    ELSIF NOT EXISTS (SELECT FROM pg_attribute AS a
                       WHERE a.attrelid = 'ssb.session'::regclass AND a.attname = 'search_path' AND NOT a.attisdropped) THEN
        ALTER TYPE ssb.session ADD ATTRIBUTE search_path text;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = 'ssb.session'::regclass AND a.attname = 'database' AND NOT a.attisdropped) THEN
        ALTER TYPE ssb.session ADD ATTRIBUTE database text;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = 'ssb.session'::regclass AND a.attname = 'tells_identity' AND NOT a.attisdropped) THEN
        ALTER TYPE ssb.session ADD ATTRIBUTE tells_identity boolean, ADD ATTRIBUTE identity numeric;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = 'ssb.session'::regclass AND a.attname = 'status' AND NOT a.attisdropped) THEN
        ALTER TYPE ssb.session ADD ATTRIBUTE status integer;
    END IF;
END;
$$;
