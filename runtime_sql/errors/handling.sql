-- What an error does to a T-SQL session: the four ways an error can go.
--
--   statement  the statement undoes itself, the next one runs (most errors)
--   scope      the procedure or batch ends, its caller goes on: a name that cannot
--              be resolved (145, 207, 208, 209, 4104, 5313, 8120), or USE of a database that cannot be used;
--              only a caller's TRY catches it
--   batch      everything ends, the transaction stays: THROW without TRY
--   rollback   everything ends and rolls back (conversion errors, 1205, a full disk …), or
--              every error under SET XACT_ABORT ON but RAISERROR and 266
--
-- With a TRY block anywhere up the calls the error goes there; the transaction is
-- then doomed where it would have been rolled back. A doomed transaction is a
-- read-only one: PostgreSQL itself refuses every write (25006, our 3930).
--
-- Called by  the exception handlers of compiled statements; ssb_internal.end_batch, leave and their like (session/batches.sql, session/transactions.sql)

-- Whether an error rolls back whatever SET XACT_ABORT says.
CREATE OR REPLACE FUNCTION ssb_internal.rolls_back(number integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT number IN (235, 241, 245, 293, 295, 217, 628, 701, 823, 1105, 1204, 1205, 2714, 3609, 3616, 3951, 3960, 8114, 8169, 8631, 10708)
           OR number BETWEEN 9400 AND 9499 OR number BETWEEN 6300 AND 6399 AND number NOT IN (6314, 6328);
END;

-- How many TRY blocks a statement stands in, for the triggers that it fires: they get no session.
-- ROLLBACK forgets it (ssb_internal.rollback_transaction says it anew).
CREATE OR REPLACE FUNCTION ssb_internal.tries(depth integer)
RETURNS integer
LANGUAGE sql
RETURN set_config('pgsb.tries', depth::text, false)::integer;

-- Takes an error and decides where it goes. p_kind: NULL, RAISERROR, THROW, USE, or
-- TRIGGER for an error out of a trigger, which rolls back.
-- A procedure that comes to its end without RETURN n returns 0, or 10 minus the severity of the gravest error
-- in it (-6 of most), caught or not.
CREATE OR REPLACE FUNCTION ssb_internal.signal(session ssb.session, error ssb.error, p_kind text DEFAULT NULL, p_hint text DEFAULT NULL)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_unresolved boolean := p_kind IS NULL AND error.number IN (145, 207, 208, 209, 4104, 5313, 8120) OR coalesce(p_kind = 'USE', false);
    v_rolls_back boolean := coalesce(p_kind = 'TRIGGER', ssb_internal.rolls_back(error.number));
    -- A trigger that misses something undoes what has fired it, as with its other errors.
    v_ends boolean := v_rolls_back OR v_unresolved AND session.in_trigger
                      OR session.xact_abort AND p_kind IS DISTINCT FROM 'RAISERROR' AND NOT v_unresolved
                         AND (error.number <> 266 OR p_kind IS NOT NULL);
BEGIN
    session.error := error.number;
    session.rowcount := 0;
    session.hint := p_hint;
    IF error.severity > 10 THEN
        session.status := least(session.status, 10 - error.severity);
    END IF;
    IF session.try_depth > 0 AND NOT (v_unresolved AND session.outer_tries = 0) THEN
        session.leaving := true;
        session.unresolved := v_unresolved;
        session.pending := error;
        IF session.trancount > 0 AND NOT session.doomed
           AND (session.xact_abort OR v_rolls_back) THEN
            session.doomed := true;
            PERFORM set_config('transaction_read_only', 'on', true);
        END IF;
    ELSIF v_ends OR p_kind = 'THROW' THEN
        session.leaving := true;
        session.unresolved := v_unresolved;  -- no TRY of the trigger catches it
        session.rolling_back := v_ends;
        session.pending := error;
    ELSE
        PERFORM ssb_internal.report(error, p_hint);
        IF error.severity > 10 THEN
            PERFORM set_config('pgsb.reported', error::text, false);
        END IF;
        session.failed := true;
        session.leaving := v_unresolved;
        session.unresolved := v_unresolved;
        -- No number: reported already. The line is the one that error 266 may need.
        session.pending := ROW(NULL, NULL, NULL, NULL, NULL, error.line);
    END IF;
    RETURN session;
END;
$$;

-- The one line in every handler: a statement failed. line counts from the first
-- line of the batch; p_verb is INSERT, UPDATE, DELETE, MERGE or the first word of a definition.
CREATE OR REPLACE FUNCTION ssb_internal.failed(session ssb.session, line integer, sqlstate_code text, message text,
                                      detail text DEFAULT NULL, p_verb text DEFAULT NULL, p_hint text DEFAULT NULL)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_number integer := ssb.error_number_of(sqlstate_code);
    v_parts text[];
    v_from_trigger boolean := false;
BEGIN
    IF v_number IS NULL AND sqlstate_code <> 'TZZZZ' THEN
        v_error := ssb_internal.native_error(sqlstate_code, message, detail, p_verb);
        p_verb := split_part(p_verb, ': ', 1);
        IF sqlstate_code = '40P01' THEN
            PERFORM set_config('pgsb.was_victim', 'on', true);  -- for ssb_internal.roll_back
        END IF;
        IF sqlstate_code LIKE '53%' OR sqlstate_code = '54001' THEN
            -- Which file or limit it was, SQL Server's words do not tell.
            p_hint := concat_ws('. ', message, nullif(p_hint, ''));
        END IF;
    ELSE
        v_parts := regexp_match(detail, '^Msg (\d+), Level (\d+), State (\d+)');
        -- What a name may have in it, a comma too.
        v_parts[4] := substring(regexp_replace(detail, ', Line \d+$', '') from '^Msg \d+, Level \d+, State \d+, Procedure (.+)$');
        v_parts[5] := substring(detail from ', Line (\d+)(?: of dynamic SQL)?$');
        v_error.number := coalesce(v_number, v_parts[1]::integer, 50000);
        v_error.message := message;
        v_error.severity := coalesce(v_parts[2]::integer, ssb_internal.default_severity(v_error.number));
        v_error.state := coalesce(v_parts[3]::integer, ssb_internal.default_state(v_error.number, message));
        v_error.procedure := CASE WHEN detail LIKE '% of dynamic SQL' THEN '' ELSE v_parts[4] END;
        v_error.line := v_parts[5]::integer;
        -- A procedure that is not ours: the error comes out of a trigger.
        v_from_trigger := v_error.procedure IS NOT NULL;
    END IF;
    IF v_error.line IS NULL THEN
        v_error.procedure := session.procedure;
        v_error.line := line;
    END IF;
    v_error.message := ssb_internal.as_written(v_error.number, v_error.message, v_error.procedure, v_error.line);
    v_number := v_error.number;
    -- Error 1750, 3727, 5069 or 2759 comes behind, and is the one that CATCH and @@ERROR know.
    IF p_verb = 'CREATE SCHEMA' OR ssb_internal.spoils_constraint(v_number, v_error.state, p_verb)
       OR ssb_internal.spoils_database(v_number) THEN
        IF session.try_depth = 0 THEN
            PERFORM ssb_internal.report(v_error, nullif(p_hint, ''));
        END IF;
        p_hint := NULL;
        IF p_verb = 'CREATE SCHEMA' THEN
            v_error.number := 2759;
            v_error.message := 'CREATE SCHEMA failed due to previous errors.';
            v_error.severity := 16;
            v_error.state := 0;
        ELSIF v_number IN (3725, 3728) THEN
            v_error.number := 3727;
            v_error.message := 'Could not drop constraint. See previous errors.';
            v_error.state := 0;
        ELSIF ssb_internal.spoils_database(v_number) THEN
            v_error.number := 5069;
            v_error.message := 'ALTER DATABASE statement failed.';
            v_error.severity := 16;
            v_error.state := 1;
        ELSE
            v_error.number := 1750;
            v_error.message := 'Could not create constraint or index. See previous errors.';
            v_error.state := 1;
        END IF;
    END IF;
    -- The lines in front of its own are errors 5074: what depends on the column.
    IF v_number = 4922 THEN
        v_parts := string_to_array(v_error.message, chr(10));
        v_error.message := v_parts[cardinality(v_parts)];
        IF session.try_depth = 0 THEN
            PERFORM ssb_internal.report(ROW(5074, t.text, 16, 1, v_error.procedure, v_error.line)::ssb.error, NULL)
               FROM unnest(trim_array(v_parts, 1)) AS t (text);
        END IF;
    END IF;
    -- What the first error ends, the one behind it ends as a trigger's does.
    session := ssb_internal.signal(session, v_error, CASE WHEN v_from_trigger OR v_error.number <> v_number AND ssb_internal.rolls_back(v_number)
                                                          THEN 'TRIGGER'
                                                          -- What follows in its batch or string is meant for that database.
                                                          WHEN p_verb = 'USE' THEN 'USE' END, nullif(p_hint, ''));
    -- Message 3621. The error is out already: no TRY takes it, and it ends neither batch nor transaction.
    IF ssb_internal.terminates_statement(v_number, p_verb) AND session.failed AND NOT session.leaving
       AND (session.pending).number IS NULL THEN
        PERFORM ssb_internal.print('The statement has been terminated.');
    END IF;
    RETURN session;
END;
$$;

-- Whether error 1750 stands behind an error: a constraint was to be made, not an index by itself; or 3727: to be dropped.
CREATE OR REPLACE FUNCTION ssb_internal.spoils_constraint(number integer, state integer, verb text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN number BETWEEN 1767 AND 1779 OR number IN (1752, 1754, 1781, 3725, 3728, 8111) OR number = 2714 AND state = 5
       OR number IN (1505, 1911) AND verb LIKE 'ALTER TABLE%';

-- Whether error 5069 stands behind an error: it is one of ALTER DATABASE.
CREATE OR REPLACE FUNCTION ssb_internal.spoils_database(number integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN number IN (5011, 5016, 5030, 5058, 15309);

-- Whether message 3621 stands behind an error: the rows that the statement was about to change are as they were.
-- What is wrong with the statement itself (270, 4405) SQL Server finds before it begins.
CREATE OR REPLACE FUNCTION ssb_internal.terminates_statement(number integer, verb text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN number = 1505 OR verb IN ('INSERT', 'UPDATE', 'DELETE', 'MERGE')
       AND number IN (220, 232, 237, 238, 242, 244, 248, 512, 513, 515, 517, 535, 537, 547, 550, 1222, 2601, 2627, 2628, 3623, 8115, 8134, 8152, 8672, 16929, 16930, 16931, 16932);

-- Whether an error comes out of a trigger, by the name that it carries: it ends the batch and undoes the statement that
-- fired the trigger.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_trigger(procedure text)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_proc AS p
                    WHERE p.prorettype = 'trigger'::regtype
                      AND ssb_internal.spelled(obj_description(p.oid, 'pg_proc'), ssb_internal.stem(p.proname)) = $1)
        OR EXISTS (SELECT FROM ssb.ddl_trigger AS t WHERE t.name = $1);
$$;

-- The severity of an error whose DETAIL, in which it stands, the handler does not have: only handlers of DML and
-- of definitions ask for it. An error is the same from all of them.
CREATE OR REPLACE FUNCTION ssb_internal.default_severity(number integer)
RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN number IN (3701, 15223, 15224, 15225, 15248, 15249, 15253, 15333, 15335, 15410, 15413) THEN 11
            WHEN number IN (229, 262, 300, 942, 2627, 5011, 6107) THEN 14
            WHEN number IN (102, 103, 117, 127, 145, 155, 1014, 1023, 1038, 1080, 1084, 1095, 1098, 7801, 7810) THEN 15
            ELSE 16 END;

-- The state that SQL Server reports with such an error.
DROP FUNCTION IF EXISTS ssb_internal.default_state(integer);
CREATE OR REPLACE FUNCTION ssb_internal.default_state(number integer, message text)
RETURNS integer
LANGUAGE sql IMMUTABLE
RETURN CASE number WHEN 103 THEN 4 WHEN 220 THEN CASE WHEN message ~ ' tinyint,' THEN 2 ELSE 1 END
                   WHEN 229 THEN 5 WHEN 232 THEN CASE WHEN message ~ ' type (big)?int,' THEN 3 ELSE 1 END WHEN 235 THEN 0 WHEN 242 THEN 3
                   WHEN 295 THEN 3 WHEN 515 THEN 2 WHEN 535 THEN 0 WHEN 537 THEN 3 WHEN 547 THEN 0 WHEN 628 THEN 0 WHEN 1038 THEN 4
                   WHEN 1752 THEN 0 WHEN 1754 THEN 0 WHEN 2714 THEN 6 WHEN 3729 THEN CASE WHEN message ~ '^Cannot ALTER ' THEN 3 ELSE 1 END
                   WHEN 4513 THEN 2 WHEN 4922 THEN 9 WHEN 6106 THEN 2 WHEN 8114 THEN 5
                   WHEN 8115 THEN CASE WHEN message !~ ' numeric.$' THEN 2 WHEN message ~ ' float ' THEN 6 ELSE 8 END
                   WHEN 8169 THEN 2 WHEN 8170 THEN 2 WHEN 9815 THEN 0 WHEN 13607 THEN 4 WHEN 13608 THEN 2 WHEN 13609 THEN 4
                   WHEN 13623 THEN 2 WHEN 13624 THEN 2 ELSE 1 END;

-- SQL Server's number of any SQLSTATE, for clients that show errors of plain statements.
CREATE OR REPLACE FUNCTION ssb_internal.error_number(sqlstate_code text, message text DEFAULT '')
RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce(ssb.error_number_of(sqlstate_code), (ssb_internal.native_error(sqlstate_code, message, NULL, NULL)).number);

-- A state is a tinyint.
CREATE OR REPLACE FUNCTION ssb_internal.invalid_state(session ssb.session, line integer, state integer)
RETURNS ssb.error
LANGUAGE sql STABLE
RETURN ROW(2756, format('Invalid value %s for state. Valid range is from 0 to 255.', state), 16, 1, session.procedure, line)::ssb.error;

-- THROW number, message, state. Its own errors end the batch, too.
CREATE OR REPLACE FUNCTION ssb_internal.throw(session ssb.session, line integer, number integer, message text, state integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (number >= 50000) IS NOT TRUE THEN
        RETURN ssb_internal.signal(session, ROW(35100, format('Error number %s in the THROW statement is outside the valid range. Specify '
            'an error number in the valid range of 50000 to 2147483647.', coalesce(number, 0)), 16, 10, session.procedure, line)::ssb.error,
            'THROW');
    ELSIF state NOT BETWEEN 0 AND 255 THEN
        RETURN ssb_internal.signal(session, ssb_internal.invalid_state(session, line, state), 'THROW');
    END IF;
    -- The message is an nvarchar(2048), in which a % is doubled.
    RETURN ssb_internal.signal(session, ROW(number, replace(left(message, 2048), '%%', '%'), 16, coalesce(state, 0), session.procedure, line)::ssb.error,
                               'THROW');
END;
$$;

-- THROW without arguments in a CATCH block: the caught error goes on as it is.
CREATE OR REPLACE FUNCTION ssb_internal.rethrow(session ssb.session, line integer)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ssb_internal.signal(session, session.caught, 'THROW');
END;
$$;

-- RAISERROR (message or number, severity, state, arguments). Below severity 11 it
-- is a message; 19 asks for WITH LOG, 20 and more end the connection. A negative state is 1.
CREATE OR REPLACE FUNCTION ssb_internal.raiserror(session ssb.session, line integer, message text, severity integer, state integer,
                                         arguments text[] DEFAULT '{}', seterror boolean DEFAULT false,
                                         number integer DEFAULT 50000, with_log boolean DEFAULT true)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := sys.formatmessage(coalesce(message, ''), VARIADIC arguments);
    v_state integer := CASE WHEN state < 0 THEN 1 ELSE coalesce(state, 0) END;
BEGIN
    IF state > 255 THEN
        RETURN ssb_internal.signal(session, ssb_internal.invalid_state(session, line, state), 'RAISERROR');
    END IF;
    IF severity = -1 AND number <> 50000 THEN
        -- That of the message.
        severity := coalesce((SELECT m.severity FROM sys.messages AS m WHERE m.message_id = number LIMIT 1), 0);
    END IF;
    IF severity <= 10 THEN
        RAISE INFO USING ERRCODE = 'SP001', MESSAGE = v_text,
                         DETAIL = CASE WHEN severity > 0
                                       THEN format('Msg %s, Level %s, State %s', number, severity, v_state) ELSE '' END;
        session.error := CASE WHEN seterror THEN number ELSE 0 END;
        session.rowcount := 0;
        RETURN session;
    ELSIF severity > 18 AND NOT with_log THEN
        RETURN ssb_internal.signal(session, ROW(2754, 'Error severity levels greater than 18 can only be specified by members of the sysadmin '
            'role, using the WITH LOG option.', 16, 1, session.procedure, line)::ssb.error, 'RAISERROR');
    ELSIF severity >= 20 THEN
        PERFORM ssb_internal.raise_pending(ROW(number, v_text, least(severity, 25), v_state, session.procedure, line)::ssb.error,
                                  'Severity 20 and above ends the connection.');
    END IF;
    RETURN ssb_internal.signal(session, ROW(number, v_text, severity, v_state, session.procedure, line)::ssb.error, 'RAISERROR');
END;
$$;

-- BEGIN CATCH: the error on its way is the one that ERROR_NUMBER() and its family show.
CREATE OR REPLACE FUNCTION ssb_internal.begin_catch(session ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.caught := session.pending;
    session.pending := NULL;
    session.leaving := false;
    RETURN session;
END;
$$;

-- RETURN code. The statement itself sets @@ERROR to 0 and @@ROWCOUNT to 1; NULL counts as 0.
CREATE OR REPLACE FUNCTION ssb_internal.set_return(session ssb.session, code integer DEFAULT 0)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF code IS NULL THEN
        -- Message 282.
        PERFORM ssb_internal.print(format('The ''%s'' procedure attempted to return a status of NULL, which is not allowed. '
                                          'A status of 0 will be returned instead.', session.procedure));
    END IF;
    session.status := coalesce(code, 0);
    session.error := 0;
    session.rowcount := 1;
    RETURN session;
END;
$$;

-- RETURN without a code.
CREATE OR REPLACE FUNCTION ssb_internal.return_without_code(session ssb.session)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.error := 0;
    session.rowcount := 1;
    RETURN session;
END;
$$;
