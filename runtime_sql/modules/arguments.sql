-- Arguments of EXEC: how each becomes its parameter's type, and the errors of those that do not.
--
-- Called by  compiled EXEC and sp_executesql; ssb_internal.trampoline_body (modules/trampolines.sql)

-- A type as ssb_internal.converted_argument takes it: strings are one.
CREATE OR REPLACE FUNCTION ssb_internal.type_of_argument(p_type oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN t.typcategory = 'S' AND t.typtype = 'b' THEN 'text' ELSE format_type(t.oid, -1) END FROM pg_type AS t WHERE t.oid = p_type
$$;

-- An expression of the type p_from, as T-SQL converts it to p_to where it assigns; money, a numeric here, is rounded where
-- it becomes an integer. An argument may come without a type: then PostgreSQL reads its text. Where T-SQL's conversions
-- are left out PostgreSQL's stand for them.
CREATE OR REPLACE FUNCTION ssb_internal.converted_argument(p_value text, p_from text, p_to text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_from text := CASE p_from WHEN 'money' THEN 'numeric' ELSE p_from END;
    v_to text := CASE p_to WHEN 'money' THEN 'numeric' ELSE p_to END;
    v_value text := CASE WHEN p_from = 'money' AND p_to IN ('smallint', 'integer', 'bigint') THEN format('round(%s)', p_value) ELSE p_value END;
    v_function text;
BEGIN
    IF v_from IS NULL OR v_from = v_to THEN
        RETURN v_value;
    ELSIF v_to = 'text' AND v_from IN ('sys.xml', 'sys."bit"') THEN
        RETURN format('%s::text', v_value);
    ELSIF v_to = 'timestamp without time zone' AND v_from IN ('smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision') THEN
        v_function := 'convert_datetime';
        v_value := v_value || '::double precision';
    ELSIF v_to = 'numeric' AND v_from = 'text' THEN
        v_function := 'convert_money';
    ELSIF v_from IN ('text', 'bytea') AND to_regtype(v_to) IN (SELECT 'sys.xml'::regtype UNION ALL
                                                               SELECT t.oid FROM pg_type AS t WHERE t.typbasetype = 'sys.xml'::regtype) THEN
        v_function := 'xml_of';
    ELSE
        v_function := (SELECT f.name
                         FROM (VALUES ('text', 'convert_nvarchar'), ('smallint', 'convert_smallint'), ('integer', 'convert_int'),
                                      ('bigint', 'convert_bigint'), ('sys."bit"', 'convert_bit'), ('double precision', 'convert_float'),
                                      ('real', 'convert_real'), ('timestamp without time zone', 'convert_datetime2'),
                                      ('timestamp with time zone', 'convert_datetimeoffset'), ('date', 'convert_date'),
                                      ('time without time zone', 'convert_time'), ('uuid', 'convert_uniqueidentifier'),
                                      ('bytea', 'convert_varbinary')) AS f (type, name)
                        WHERE f.type = v_to);
        IF v_to = 'text' AND v_from = 'bytea' THEN
            v_function := 'text_of';
        END IF;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = 'sys'::regnamespace AND p.proname = v_function) THEN
        RETURN format('%s::%s', v_value, v_to);
    ELSIF v_function = 'convert_money' THEN
        -- Whether the parameter is a money only its procedure knows.
        RETURN format('CASE WHEN btrim(%1$s) ~ ''^[-+]?(\d+\.?\d*|\.\d+)$'' THEN btrim(%1$s)::numeric ELSE sys.%2$s(%1$s) END',
                      v_value, v_function);
    END IF;
    RETURN format('sys.%s(%s)', v_function, v_value);
END;
$$;

-- Error 257 or 206 of an argument that no assignment converts to its parameter's type; NULL where one does.
CREATE OR REPLACE FUNCTION ssb_internal.unconverted_argument(p_from text, p_to text, procedure text)
RETURNS ssb.error
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH known (type, name, kind) AS (
        VALUES ('text', 'varchar', 'text'), ('bytea', 'varbinary', 'bytes'), ('sys.xml', 'xml', 'xml'), ('uuid', 'uniqueidentifier', 'guid'),
               ('date', 'date', 'date'), ('time without time zone', 'time', 'time'), ('timestamp without time zone', 'datetime', 'moment'),
               ('timestamp with time zone', 'datetimeoffset', 'offset'), ('smallint', 'smallint', 'number'), ('integer', 'int', 'number'),
               ('bigint', 'bigint', 'number'), ('numeric', 'numeric', 'number'), ('money', 'money', 'number'), ('real', 'real', 'number'),
               ('double precision', 'float', 'number'), ('sys."bit"', 'bit', 'number'))
    SELECT CASE WHEN f.kind = 'text' AND t.kind = 'bytes' OR f.kind = 'moment' AND t.kind = 'number'
                     OR p_from IN ('money', 'sys.xml') AND t.kind = 'text'
                THEN ROW(257, format('Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.',
                                     f.name, t.name), 16, 3, procedure, 0)::ssb.error
                WHEN t.kind = ANY (CASE f.kind WHEN 'number' THEN '{date,time,offset,guid,xml}' WHEN 'date' THEN '{number,time,guid,xml}'
                                                WHEN 'time' THEN '{number,date,guid,xml}' WHEN 'moment' THEN '{guid,xml}'
                                                WHEN 'offset' THEN '{number,guid,xml}' WHEN 'guid' THEN '{number,date,time,moment,offset,xml}'
                                                WHEN 'xml' THEN '{number,date,time,moment,offset,guid}' ELSE '{}' END::text[])
                     OR f.kind = 'bytes' AND t.name IN ('float', 'real')
                THEN ROW(206, format('Operand type clash: %s is incompatible with %s', f.name, t.name), 16, 2, procedure, 0)::ssb.error END
      FROM known AS f JOIN known AS t ON t.type = p_to
     WHERE f.type = p_from
$$;

-- Whether an error is a conversion's, of which EXEC tells no more than the two types. XML tells what is wrong with it:
-- 9400 and above how it is written, 6300 to 6999 what its schema does not allow.
CREATE OR REPLACE FUNCTION ssb_internal.is_of_conversion(sqlstate_code text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
RETURN sqlstate_code ~ '^22' OR ssb.error_number_of(sqlstate_code) NOT BETWEEN 6300 AND 6999 AND ssb.error_number_of(sqlstate_code) < 9000;

-- EXEC in the text: an argument that does not convert to its parameter's type.
CREATE OR REPLACE FUNCTION ssb_internal.unfit_argument(session ssb.session, line integer, procedure text, sqlstate_code text, message text,
                                              p_from text, p_to text)
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    IF ssb_internal.is_of_conversion(sqlstate_code) THEN
        RETURN ssb_internal.signal(session, ROW(8114, format('Error converting data type %s to %s.', p_from, p_to), 16, 5,
                                       procedure, 0)::ssb.error);
    END IF;
    RETURN ssb_internal.failed(session, line, sqlstate_code, message);
END;
$$;

-- The same, raised: an argument of sp_executesql. What is wrong with a uniqueidentifier has errors of its own.
CREATE OR REPLACE FUNCTION ssb_internal.raise_unfit(sqlstate_code text, message text, p_from text, p_to text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.is_of_conversion(sqlstate_code) AND ssb.error_number_of(sqlstate_code) IN (8169, 8170) IS NOT TRUE THEN
        PERFORM ssb_internal.raise_error(8114, format('Error converting data type %s to %s.', p_from, p_to), 16, 5);
    END IF;
    RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message;
END;
$$;

-- An argument that does not convert to its parameter's type, from p_from.
CREATE OR REPLACE FUNCTION ssb_internal.failed_argument(session ssb.session, line integer, procedure text, sqlstate_code text, message text,
                                               p_from text DEFAULT 'varchar')
RETURNS ssb.session
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    session.return_code := NULL;
    IF ssb_internal.is_of_conversion(sqlstate_code) THEN
        RETURN ssb_internal.signal(session, ROW(8114, format('Error converting data type %s to %s.', p_from,
            coalesce(substring(message FROM ' to (?:data type )?(\w+)\.$'), CASE WHEN message ~ 'date and/or time' THEN 'datetime' END,
                     ssb_internal.tsql_type_in(message, 'int'))), 16, 5, procedure, 0)::ssb.error);
    END IF;
    RETURN ssb_internal.failed(session, line, sqlstate_code, message);
END;
$$;
