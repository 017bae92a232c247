-- Values that do not fit, cannot be converted or computed.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- p_name: the first that the message names.
CREATE OR REPLACE FUNCTION ssb_internal.value_error(sqlstate_code text, p_message text, p_detail text, p_name text)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
BEGIN
    CASE sqlstate_code
    WHEN '22001' THEN
        v_error := ROW(2628, 'String or binary data would be truncated.', 16, 1, NULL, NULL);
    WHEN '22003' THEN
        -- "numeric field overflow": too many digits for numeric(p, s).
        v_error := CASE WHEN p_message ~ 'field'
            THEN ROW(8115, 'Arithmetic overflow error converting numeric to data type numeric.', 16, 8, NULL, NULL)::ssb.error
            -- "input is out of range": ACOS(2) and its like.
            WHEN p_message ~ '^input'
            THEN ROW(3623, 'An invalid floating point operation occurred.', 16, 1, NULL, NULL)::ssb.error
            -- "value out of range: overflow": of a float.
            ELSE ROW(8115, format('Arithmetic overflow error converting expression to data type %s.',
                                  ssb_internal.tsql_type_in(p_message, CASE WHEN p_message ~ 'flow$' THEN 'float' ELSE 'int' END)),
                     16, 2, NULL, NULL)::ssb.error END;
    WHEN '22007' THEN
        v_error := ROW(241, 'Conversion failed when converting date and/or time from character string.', 16, 1, NULL, NULL);
    WHEN '22008' THEN
        -- Behind a colon stands what was read; without one the result of an addition is out of range.
        v_error := CASE
            WHEN p_message ~ ': "?\s*\d{1,2}:' THEN ROW(241, 'Conversion failed when converting date and/or time from character string.',
                                                     16, 1, NULL, NULL)::ssb.error
            WHEN p_message ~ ': "?\s*\d' THEN ROW(242, 'The conversion of a varchar data type to a datetime data type resulted in an '
                                               'out-of-range value.', 16, 3, NULL, NULL)::ssb.error
            ELSE ROW(517, 'Adding a value to a ''datetime'' column caused an overflow.', 16, 1, NULL, NULL)::ssb.error END;
    WHEN '2200H' THEN
        v_error := ROW(11728, format('The sequence object ''%s'' has reached its minimum or maximum value. Restart the sequence '
                                     'object to allow new values to be generated.', ssb_internal.spelled_relation(p_name)), 16, 1, NULL, NULL);
    WHEN '22012' THEN
        v_error := ROW(8134, 'Divide by zero error encountered.', 16, 1, NULL, NULL);
    WHEN '2201E', '2201F' THEN
        v_error := ROW(3623, 'An invalid floating point operation occurred.', 16, 1, NULL, NULL);
    WHEN '22023' THEN
        IF p_message ~ '^time zone "' THEN
            v_error := ROW(9820, format('The time zone parameter ''%s'' provided to AT TIME ZONE clause is invalid.', p_name),
                           16, 1, NULL, NULL);
        ELSIF p_message = 'step size cannot equal zero' THEN
            v_error := ROW(4199, 'Argument value 0 is invalid for argument 3 of generate_series function.', 16, 1, NULL, NULL);
        END IF;
    WHEN '22P02' THEN
        v_error := CASE
            -- In front of the value: "… for type uuid: …".
            WHEN p_message ~ '^[^\u0022\u00AB\u00BB\u201E\u201C]*\muuid\M'
            THEN ROW(8169, 'Conversion failed when converting from a character string to uniqueidentifier.', 16, 2, NULL, NULL)::ssb.error
            -- So does an enum, which has a schema, and what stands for it in "malformed range literal: …". That of JSON is in the detail.
            ELSE ROW(245, format('Conversion failed when converting the varchar value ''%s'' to data type %s.',
                                 coalesce(ssb_internal.quoted_name(p_message, 1), ssb_internal.quoted_name(p_detail, 1)),
                                 ssb_internal.tsql_type_in(split_part(p_message, ':', 1),
                                     substring(split_part(p_message, ':', 1) FROM '([^ ."]+)"?(?: literal)?$'))),
                     16, 1, NULL, NULL)::ssb.error END;
    ELSE
        NULL;
    END CASE;
    RETURN v_error;
END;
$$;
