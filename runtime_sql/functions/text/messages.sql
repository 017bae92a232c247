-- sys.messages: texts by number, for RAISERROR(number, …) and FORMATMESSAGE(number, …).
-- Numbers from 50001 on are the scripts' own (sp_addmessage); below them stand the
-- ones that programs of this kind look up or raise by number.
CREATE TABLE IF NOT EXISTS ssb.user_message (
    message_id      integer  NOT NULL,
    language_id     smallint NOT NULL DEFAULT 1033,
    severity        smallint NOT NULL,
    is_event_logged boolean  NOT NULL DEFAULT false,
    text            text     NOT NULL,
    PRIMARY KEY (message_id, language_id),
    CONSTRAINT "own messages count from 50001" CHECK (message_id > 50000),
    CONSTRAINT "a severity is 1 to 25" CHECK (severity BETWEEN 1 AND 25)
);

CREATE OR REPLACE FUNCTION sys.known_messages()
RETURNS TABLE (message_id integer, severity smallint, text text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    VALUES
        (208, 16::smallint, 'Invalid object name ''%.*ls''.'),
        (229, 14, 'The %ls permission was denied on the object ''%.*ls'', database ''%.*ls'', schema ''%.*ls''.'),
        (241, 16, 'Conversion failed when converting date and/or time from character string.'),
        (245, 16, 'Conversion failed when converting the %ls value ''%.*ls'' to data type %ls.'),
        (515, 16, 'Cannot insert the value NULL into column ''%.*ls'', table ''%.*ls''; column does not allow nulls. %ls fails.'),
        (547, 16, 'The %ls statement conflicted with the %ls constraint "%.*ls". The conflict occurred in database "%.*ls", table "%.*ls"%ls%.*ls%ls.'),
        (1205, 13, 'Transaction (Process ID %d) was deadlocked on %.*ls resources with another process and has been chosen as the deadlock victim. Rerun the transaction.'),
        (1222, 16, 'Lock request time out period exceeded.'),
        (2601, 14, 'Cannot insert duplicate key row in object ''%.*ls'' with unique index ''%.*ls''. The duplicate key value is %ls.'),
        (2627, 14, 'Violation of %ls constraint ''%.*ls''. Cannot insert duplicate key in object ''%.*ls''. The duplicate key value is %ls.'),
        (2812, 16, 'Could not find stored procedure ''%.*ls''.'),
        (3902, 16, 'The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.'),
        (3903, 16, 'The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.'),
        (3906, 16, 'Failed to update database "%.*ls" because the database is read-only.'),
        (3930, 16, 'The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.'),
        (8115, 16, 'Arithmetic overflow error converting %ls to data type %ls.'),
        (8134, 16, 'Divide by zero error encountered.'),
        (8418, 16, 'The conversation handle is missing. Specify a conversation handle.'),
        (8426, 16, 'The conversation handle "%ls" is not found.'),
        (8428, 16, 'The message type "%.*ls" is not found.'),
        (8429, 16, 'The conversation endpoint is not in a valid state for SEND. The current endpoint state is ''%ls''.'),
        (8431, 16, 'The message type ''%.*ls'' is not part of the service contract.'),
        (9617, 16, 'The service queue "%.*ls" is currently disabled.'),
        (14261, 16, 'The specified %s (''%s'') already exists.'),
        (14262, 16, 'The specified %s (''%s'') does not exist.'),
        (15001, 16, 'Object ''%ls'' does not exist or is not a valid object for this operation.'),
        (15007, 16, '''%s'' is not a valid login or you do not have permission.'),
        (15009, 16, 'The object ''%s'' does not exist in database ''%s'' or is invalid for this operation.'),
        (15010, 16, 'The database ''%s'' does not exist. Supply a valid database name. To see available databases, use sys.databases.'),
        (15123, 16, 'The configuration option ''%s'' does not exist, or it may be an advanced option.'),
        (15197, 16, 'There is no text for object ''%s''.'),
        (15247, 16, 'User does not have permission to perform this action.'),
        (15409, 11, '''%s'' is not a role.'),
        (15600, 15, 'An invalid parameter or option was specified for procedure ''%s''.');
END;

CREATE OR REPLACE VIEW sys.messages AS
SELECT m.message_id, m.language_id, m.severity, m.is_event_logged::integer::sys.bit AS is_event_logged, m.text
  FROM ssb.user_message AS m
UNION ALL
SELECT k.message_id, 1033::smallint, k.severity, 0::sys.bit, k.text FROM sys.known_messages() AS k;

-- Error 15247 for those who may not change the messages.
CREATE OR REPLACE FUNCTION ssb_internal.require_messages()
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT has_table_privilege('ssb.user_message', 'INSERT, DELETE') THEN
        PERFORM ssb_internal.raise_error(15247, 'User does not have permission to perform this action.');
    END IF;
END;
$$;

-- The number of a language that messages can be in (msglangid of SQL Server's), 1033 for none; error 15033 for no language.
CREATE OR REPLACE FUNCTION ssb_internal.message_language(p_name text)
RETURNS smallint
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id smallint := CASE lower(coalesce(p_name, 'us_english') COLLATE "C")
        WHEN 'us_english' THEN 1033 WHEN 'english' THEN 1033 WHEN 'british' THEN 1033 WHEN 'british english' THEN 1033
        WHEN 'german' THEN 1031 WHEN 'deutsch' THEN 1031 WHEN 'french' THEN 1036 WHEN 'français' THEN 1036
        WHEN 'japanese' THEN 1041 WHEN '日本語' THEN 1041 WHEN 'danish' THEN 1030 WHEN 'dansk' THEN 1030
        WHEN 'spanish' THEN 3082 WHEN 'español' THEN 3082 WHEN 'italian' THEN 1040 WHEN 'italiano' THEN 1040
        WHEN 'dutch' THEN 1043 WHEN 'nederlands' THEN 1043 WHEN 'norwegian' THEN 2068 WHEN 'norsk' THEN 2068
        WHEN 'portuguese' THEN 2070 WHEN 'português' THEN 2070 WHEN 'finnish' THEN 1035 WHEN 'suomi' THEN 1035
        WHEN 'swedish' THEN 1053 WHEN 'svenska' THEN 1053 WHEN 'czech' THEN 1029 WHEN 'čeština' THEN 1029
        WHEN 'hungarian' THEN 1038 WHEN 'magyar' THEN 1038 WHEN 'polish' THEN 1045 WHEN 'polski' THEN 1045
        WHEN 'romanian' THEN 1048 WHEN 'română' THEN 1048 WHEN 'croatian' THEN 1050 WHEN 'hrvatski' THEN 1050
        WHEN 'slovak' THEN 1051 WHEN 'slovenčina' THEN 1051 WHEN 'slovenian' THEN 1060 WHEN 'slovenski' THEN 1060
        WHEN 'greek' THEN 1032 WHEN 'ελληνικά' THEN 1032 WHEN 'bulgarian' THEN 1026 WHEN 'български' THEN 1026
        WHEN 'russian' THEN 1049 WHEN 'русский' THEN 1049 WHEN 'turkish' THEN 1055 WHEN 'türkçe' THEN 1055
        WHEN 'estonian' THEN 1061 WHEN 'eesti' THEN 1061 WHEN 'latvian' THEN 1062 WHEN 'latviešu' THEN 1062
        WHEN 'lithuanian' THEN 1063 WHEN 'lietuvių' THEN 1063 WHEN 'brazilian' THEN 1046 WHEN 'português (brasil)' THEN 1046
        WHEN 'traditional chinese' THEN 1028 WHEN '繁體中文' THEN 1028 WHEN 'korean' THEN 1042 WHEN '한국어' THEN 1042
        WHEN 'simplified chinese' THEN 2052 WHEN '简体中文' THEN 2052 WHEN 'arabic' THEN 1025 WHEN 'thai' THEN 1054 WHEN 'ไทย' THEN 1054
    END;
BEGIN
    IF v_id IS NULL THEN
        PERFORM ssb_internal.raise_error(15033, format('''%s'' is not a valid official language name.', p_name));
    END IF;
    RETURN v_id;
END;
$$;

-- sp_addmessage: 15043 when the number exists in this language and @replace is not given. RAISERROR and FORMATMESSAGE take
-- the English text, as they do in sessions of SQL Server's whose language is us_english.
CREATE OR REPLACE FUNCTION sys.addmessage(
    msgnum integer, severity integer, msgtext text, lang text DEFAULT NULL, with_log text DEFAULT NULL,
    replace text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_language smallint;
BEGIN
    PERFORM ssb_internal.require_messages();
    v_language := ssb_internal.message_language(lang);
    IF msgnum NOT BETWEEN 50001 AND 2147483647 THEN
        PERFORM ssb_internal.raise_error(15040, 'User-defined error messages must have an ID greater than 50000.');
    ELSIF severity NOT BETWEEN 1 AND 25 THEN
        PERFORM ssb_internal.raise_error(15041, 'User-defined error messages must have a severity level between 1 and 25.');
    ELSIF lower(with_log COLLATE "C") NOT IN ('true', 'false') THEN
        PERFORM ssb_internal.raise_error(15271, 'Invalid @with_log parameter value. Valid values are ''true'' or ''false''.');
    ELSIF lower(replace) IS DISTINCT FROM 'replace'
          AND EXISTS (SELECT FROM ssb.user_message AS m WHERE m.message_id = msgnum AND m.language_id = v_language) THEN
        PERFORM ssb_internal.raise_error(15043, 'You must specify ''REPLACE'' to overwrite an existing message.');
    ELSIF v_language <> 1033 AND NOT EXISTS (SELECT FROM ssb.user_message AS m WHERE m.message_id = msgnum AND m.language_id = 1033) THEN
        PERFORM ssb_internal.raise_error(15279, format('You must add the us_english version of this message before you can add the ''%s'' '
                                                       'version.', lang));
    END IF;
    INSERT INTO ssb.user_message AS m (message_id, language_id, severity, is_event_logged, text)
    VALUES (msgnum, v_language, addmessage.severity, coalesce(lower(with_log COLLATE "C") = 'true', false), msgtext)
    ON CONFLICT (message_id, language_id)
    DO UPDATE SET severity = excluded.severity, is_event_logged = excluded.is_event_logged, text = excluded.text;
    RETURN 0;
END;
$$;

CREATE OR REPLACE FUNCTION sys.altermessage(message_id integer, parameter text, parameter_value text) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_messages();
    IF lower(parameter COLLATE "C") IS DISTINCT FROM 'with_log' THEN
        PERFORM ssb_internal.raise_error(15176, 'The only valid @parameter value is ''WITH_LOG''.');
    ELSIF lower(parameter_value COLLATE "C") NOT IN ('true', 'false') IS NOT FALSE THEN
        PERFORM ssb_internal.raise_error(15277, 'The only valid @parameter_value values are ''true'' or ''false''.');
    END IF;
    UPDATE ssb.user_message AS m SET is_event_logged = lower(parameter_value COLLATE "C") = 'true' WHERE m.message_id = altermessage.message_id;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(15179, 'The message number ' || message_id || ' or specified language version does not exist.',
            hint => CASE WHEN message_id <= 50000 THEN 'Of the system''s messages none goes into a log here.' END);
    END IF;
    RETURN 0;
END;
$$;

CREATE OR REPLACE FUNCTION sys.dropmessage(msgnum integer, lang text DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- NULL: all.
    v_language smallint;
BEGIN
    PERFORM ssb_internal.require_messages();
    IF msgnum < 50001 THEN
        PERFORM ssb_internal.raise_error(15178, 'Cannot drop a message with an ID less than 50,000.');
    END IF;
    IF lower(lang) IS DISTINCT FROM 'all' THEN
        v_language := ssb_internal.message_language(lang);
        IF v_language = 1033 AND EXISTS (SELECT FROM ssb.user_message AS m WHERE m.message_id = msgnum AND m.language_id <> 1033) THEN
            PERFORM ssb_internal.raise_error(15280, 'All localized versions of this message must be dropped before the us_english version '
                                                    'can be dropped.');
        END IF;
    END IF;
    DELETE FROM ssb.user_message AS m WHERE m.message_id = msgnum AND m.language_id = coalesce(v_language, m.language_id);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(15179, 'The message number ' || msgnum || ' or specified language version does not exist.');
    END IF;
    RETURN 0;
END;
$$;

-- The text of a number with its arguments filled in; NULL for an unknown number.
-- SQL Server's own %ls and %.*ls take one argument each.
CREATE OR REPLACE FUNCTION sys.formatmessage_of(message_id integer, VARIADIC arguments text[] DEFAULT '{}') RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT sys.formatmessage(regexp_replace(m.text, '%(\.\*)?ls', '%s', 'g'), VARIADIC $2)
    FROM sys.messages AS m WHERE m.message_id = $1 AND m.language_id = 1033 LIMIT 1
$$;

-- RAISERROR(number, …): the text that is filled in, or the errors of a number that has none.
CREATE OR REPLACE FUNCTION sys.message_text(message_id bigint, severity integer DEFAULT 16, state integer DEFAULT 1) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text;
BEGIN
    IF $1 < 13000 OR $1 = 50000 THEN
        PERFORM ssb_internal.raise_error(2732, format('Error number %s is invalid. The number must be from 13000 through 2147483647 '
                                                      'and it cannot be 50000.', $1));
    END IF;
    SELECT regexp_replace(m.text, '%(\.\*)?ls', '%s', 'g') INTO v_text
      FROM sys.messages AS m WHERE m.message_id = $1 AND m.language_id = 1033;
    IF v_text IS NULL THEN
        PERFORM ssb_internal.raise_error(18054, format('Error %s, severity %s, state %s was raised, but no message with that error number '
                                                       'was found in sys.messages. If error is larger than 50000, make sure the '
                                                       'user-defined message is added using sp_addmessage.', $1, $2, $3));
    END IF;
    RETURN v_text;
END;
$$;
