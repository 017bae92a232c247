-- FORMATMESSAGE, RAISERROR's and xp_sprintf's texts: %d %i %s %u %x %X %o with
-- flags - + 0 # and blank, width and precision (also *), %I64d, %%.
-- Arguments arrive as text; NULL, and an argument that is not there, print as
-- (null). The result is cut at 2,047 characters, three dots at its end.
-- Error 2787 for a specification that is none; 2786 for a text where a number
-- belongs.
CREATE OR REPLACE FUNCTION sys.formatmessage(format text, VARIADIC arguments text[] DEFAULT '{}') RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_result text := '';
    v_rest text := format;
    v_match text[];
    v_next integer := 1;
    v_flags text;
    v_width integer;
    v_precision integer;
    v_type text;
    v_argument text;
    v_number numeric;
    v_sign text;
BEGIN
    IF format IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        v_result := v_result || split_part(v_rest, '%', 1);
        EXIT WHEN strpos(v_rest, '%') = 0;
        v_rest := substr(v_rest, strpos(v_rest, '%') + 1);
        IF left(v_rest, 1) = '%' THEN
            v_result := v_result || '%';
            v_rest := substr(v_rest, 2);
            CONTINUE;
        END IF;
        v_match := regexp_match(v_rest, '^([-+ #0]*)([0-9]+|\*)?(\.(?:[0-9]+|\*)?)?(h|l|I64)?([diosuxX])');
        IF v_match IS NULL THEN
            PERFORM ssb_internal.raise_error(2787, pg_catalog.format('Invalid format specification: ''%%%s''.', v_rest));
        END IF;
        v_rest := substr(v_rest, length(concat(v_match[1], v_match[2], v_match[3], v_match[4], v_match[5])) + 1);
        v_flags := v_match[1];
        v_type := v_match[5];
        IF v_match[2] = '*' THEN
            v_width := arguments[v_next]::integer;
            v_next := v_next + 1;
            IF v_width < 0 THEN
                v_flags := v_flags || '-';
                v_width := - v_width;
            END IF;
        ELSE
            v_width := coalesce(v_match[2]::integer, 0);
        END IF;
        IF v_match[3] = '.*' THEN
            v_precision := arguments[v_next]::integer;
            v_next := v_next + 1;
        ELSE
            v_precision := CASE WHEN v_match[3] = '.' THEN 0 ELSE substr(v_match[3], 2)::integer END;
        END IF;
        v_argument := arguments[v_next];
        v_next := v_next + 1;
        IF v_argument IS NULL THEN
            v_argument := '(null)';
        ELSIF v_type = 's' THEN
            v_argument := left(v_argument, coalesce(v_precision, 2147483647));
        ELSE
            IF v_argument !~ '^\s*[+-]?[0-9]+\s*$' THEN
                PERFORM ssb_internal.raise_error(2786, pg_catalog.format(
                    'The data type of substitution parameter %s does not match the expected type of the format specification.',
                    v_next - 1));
            END IF;
            v_number := v_argument::numeric;
            v_sign := '';
            IF v_type IN ('d', 'i') THEN
                v_sign := CASE
                    WHEN v_number < 0 THEN '-'
                    WHEN strpos(v_flags, '+') > 0 THEN '+'
                    WHEN strpos(v_flags, ' ') > 0 THEN ' '
                    ELSE ''
                END;
                v_argument := abs(v_number)::text;
            ELSE
                -- The unsigned kinds show the two's complement of the argument.
                IF v_number < 0 THEN
                    v_number := v_number + CASE
                        WHEN v_match[4] = 'I64' OR v_number < -2147483648 THEN 18446744073709551616 ELSE 4294967296
                    END;
                END IF;
                v_argument := CASE v_type
                    WHEN 'u' THEN v_number::text
                    WHEN 'o' THEN sys.digits_of(v_number, 8)
                    WHEN 'x' THEN lower(sys.digits_of(v_number, 16))
                    ELSE sys.digits_of(v_number, 16)
                END;
                IF strpos(v_flags, '#') > 0 AND v_number <> 0 THEN
                    v_sign := CASE v_type WHEN 'x' THEN '0x' WHEN 'X' THEN '0X' WHEN 'o' THEN '0' ELSE '' END;
                END IF;
            END IF;
            IF v_precision IS NOT NULL THEN
                v_argument := lpad(v_argument, greatest(v_precision, length(v_argument)), '0');
            ELSIF strpos(v_flags, '0') > 0 AND strpos(v_flags, '-') = 0 THEN
                v_argument := lpad(v_argument, greatest(v_width - length(v_sign), length(v_argument)), '0');
            END IF;
            v_argument := v_sign || v_argument;
        END IF;
        v_result := v_result || CASE
            WHEN length(v_argument) >= v_width THEN v_argument
            WHEN strpos(v_flags, '-') > 0 THEN rpad(v_argument, v_width)
            ELSE lpad(v_argument, v_width)
        END;
    END LOOP;
    RETURN CASE WHEN length(v_result) > 2047 THEN left(v_result, 2044) || '...' ELSE v_result END;
END;
$$;

-- A non-negative number in base 2 to 36, upper case.
CREATE OR REPLACE FUNCTION sys.digits_of(value numeric, base integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rest numeric := trunc(value);
    v_result text := '';
BEGIN
    LOOP
        v_result := substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', mod(v_rest, base)::integer + 1, 1) || v_result;
        v_rest := div(v_rest, base);
        EXIT WHEN v_rest = 0;
    END LOOP;
    RETURN v_result;
END;
$$;
