-- FORMAT: .NET's standard and custom formats for numbers, dates and times.
-- An unknown culture is error 9818; a format that makes no sense gives NULL.

-- English, German, French, Spanish, Italian, Dutch and Portuguese names; other
-- languages are refused by the callers, rather than shown in English.
CREATE OR REPLACE FUNCTION sys.month_names(language text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE language
    WHEN 'en' THEN '{January,February,March,April,May,June,July,August,September,October,November,December}'::text[]
    WHEN '' THEN '{January,February,March,April,May,June,July,August,September,October,November,December}'::text[]
    WHEN 'de' THEN '{Januar,Februar,März,April,Mai,Juni,Juli,August,September,Oktober,November,Dezember}'::text[]
    WHEN 'fr' THEN '{janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,décembre}'::text[]
    WHEN 'es' THEN '{enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre,octubre,noviembre,diciembre}'::text[]
    WHEN 'it' THEN '{gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,dicembre}'::text[]
    WHEN 'nl' THEN '{januari,februari,maart,april,mei,juni,juli,augustus,september,oktober,november,december}'::text[]
    WHEN 'pt' THEN '{janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro}'::text[]
END;
-- Sunday first.
CREATE OR REPLACE FUNCTION sys.day_names(language text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE language
    WHEN 'en' THEN '{Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday}'::text[]
    WHEN '' THEN '{Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday}'::text[]
    WHEN 'de' THEN '{Sonntag,Montag,Dienstag,Mittwoch,Donnerstag,Freitag,Samstag}'::text[]
    WHEN 'fr' THEN '{dimanche,lundi,mardi,mercredi,jeudi,vendredi,samedi}'::text[]
    WHEN 'es' THEN '{domingo,lunes,martes,miércoles,jueves,viernes,sábado}'::text[]
    WHEN 'it' THEN '{domenica,lunedì,martedì,mercoledì,giovedì,venerdì,sabato}'::text[]
    WHEN 'nl' THEN '{zondag,maandag,dinsdag,woensdag,donderdag,vrijdag,zaterdag}'::text[]
    WHEN 'pt' THEN '{domingo,segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado}'::text[]
END;
CREATE OR REPLACE FUNCTION sys.short_name(name text, language text, is_day boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN language = 'de' AND is_day OR language = 'nl' AND is_day THEN left(name, 2)
    WHEN language = 'fr' AND is_day THEN left(name, 3) || '.'
    WHEN language = 'fr' AND name IN ('mars', 'mai', 'juin', 'août') THEN name
    WHEN language = 'fr' AND name = 'juillet' THEN 'juil.'
    WHEN language = 'fr' THEN regexp_replace(name, '^(.*?[^aeéiouû]{1,2}).*$', '\1') || '.'
    WHEN language = 'nl' AND name = 'maart' THEN 'mrt'
    ELSE left(name, 3)
END;

-- A moment in a .NET date format. utc_offset: minutes, for z, zz, zzz and K.
CREATE OR REPLACE FUNCTION sys.format_moment(value timestamp, format text, culture text, utc_offset integer DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
    v_format text := format;
    v_result text := '';
    v_char text;
    v_run integer;
    v_at integer := 1;
    v_text text;
    v_name text;
BEGIN
    IF value IS NULL OR format IS NULL THEN
        RETURN NULL;
    ELSIF format = '' THEN
        v_format := 'G';
    END IF;
    IF length(v_format) = 1 THEN
        v_format := CASE v_format
            WHEN 'd' THEN v_culture.short_date
            WHEN 'D' THEN v_culture.long_date
            WHEN 't' THEN v_culture.short_time
            WHEN 'T' THEN v_culture.long_time
            WHEN 'f' THEN v_culture.long_date || ' ' || v_culture.short_time
            WHEN 'F' THEN v_culture.long_date || ' ' || v_culture.long_time
            WHEN 'U' THEN v_culture.long_date || ' ' || v_culture.long_time
            WHEN 'g' THEN v_culture.short_date || ' ' || v_culture.short_time
            WHEN 'G' THEN v_culture.short_date || ' ' || v_culture.long_time
            WHEN 'm' THEN CASE WHEN v_culture.short_date ~ '^M' THEN 'MMMM dd' ELSE 'd MMMM' END
            WHEN 'M' THEN CASE WHEN v_culture.short_date ~ '^M' THEN 'MMMM dd' ELSE 'd MMMM' END
            WHEN 'y' THEN CASE WHEN v_culture.language IN ('es', 'pt') THEN 'MMMM'' de ''yyyy' ELSE 'MMMM yyyy' END
            WHEN 'Y' THEN CASE WHEN v_culture.language IN ('es', 'pt') THEN 'MMMM'' de ''yyyy' ELSE 'MMMM yyyy' END
            WHEN 'o' THEN 'yyyy-MM-ddTHH:mm:ss.fffffffK'
            WHEN 'O' THEN 'yyyy-MM-ddTHH:mm:ss.fffffffK'
            WHEN 's' THEN 'yyyy-MM-ddTHH:mm:ss'
            WHEN 'u' THEN 'yyyy-MM-dd HH:mm:ss''Z'''
            WHEN 'r' THEN 'ddd, dd MMM yyyy HH:mm:ss ''GMT'''
            WHEN 'R' THEN 'ddd, dd MMM yyyy HH:mm:ss ''GMT'''
        END;
        IF v_format IS NULL THEN
            RETURN NULL;
        ELSIF format IN ('r', 'R', 's', 'u', 'o', 'O') THEN
            v_culture := sys.known_culture('');
        END IF;
    END IF;
    WHILE v_at <= length(v_format) LOOP
        v_char := substr(v_format, v_at, 1);
        v_run := length(substr(v_format, v_at)) - length(ltrim(substr(v_format, v_at), v_char));
        v_at := v_at + v_run;
        CASE
            WHEN v_char = 'd' AND v_run <= 2 THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMDD' ELSE 'DD' END);
            WHEN v_char = 'd' THEN
                v_name := (sys.day_names(v_culture.language))[date_part('dow', value)::integer + 1];
                v_text := CASE WHEN v_run = 3 THEN sys.short_name(v_name, v_culture.language, true) ELSE v_name END;
            WHEN v_char = 'M' AND v_run <= 2 THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMMM' ELSE 'MM' END);
            WHEN v_char = 'M' THEN
                v_name := (sys.month_names(v_culture.language))[date_part('month', value)::integer];
                v_text := CASE WHEN v_run = 3 THEN sys.short_name(v_name, v_culture.language, false) ELSE v_name END;
            WHEN v_char = 'y' AND v_run = 1 THEN
                v_text := (date_part('year', value)::integer % 100)::text;
            WHEN v_char = 'y' AND v_run = 2 THEN
                v_text := to_char(value, 'YY');
            WHEN v_char = 'y' THEN
                v_text := lpad(date_part('year', value)::integer::text, greatest(v_run, length(date_part('year', value)::integer::text)), '0');
            WHEN v_char = 'h' THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMHH12' ELSE 'HH12' END);
            WHEN v_char = 'H' THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMHH24' ELSE 'HH24' END);
            WHEN v_char = 'm' THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMMI' ELSE 'MI' END);
            WHEN v_char = 's' THEN
                v_text := to_char(value, CASE v_run WHEN 1 THEN 'FMSS' ELSE 'SS' END);
            WHEN v_char IN ('f', 'F') AND v_run <= 7 THEN
                v_text := left(to_char(value, 'US') || '0', v_run);
                IF v_char = 'F' THEN
                    v_text := rtrim(v_text, '0');
                    IF v_text = '' AND right(v_result, 1) = '.' THEN
                        v_result := left(v_result, -1);
                    END IF;
                END IF;
            WHEN v_char = 't' THEN
                v_text := left(to_char(value, 'AM'), v_run);
            WHEN v_char = 'z' THEN
                v_text := CASE v_run
                    WHEN 1 THEN CASE WHEN coalesce(utc_offset, 0) < 0 THEN '-' ELSE '+' END || (abs(coalesce(utc_offset, 0)) / 60)
                    WHEN 2 THEN left(sys.offset_text(coalesce(utc_offset, 0)), 3)
                    ELSE sys.offset_text(coalesce(utc_offset, 0))
                END;
            WHEN v_char = 'K' THEN
                v_text := coalesce(sys.offset_text(utc_offset), '');
            WHEN v_char = 'g' THEN
                v_text := 'A.D.';
            WHEN v_char = '/' THEN
                v_text := repeat(substring(v_culture.short_date from '[^dMy]'), v_run);
            WHEN v_char = ':' THEN
                v_text := repeat(coalesce(substring(v_culture.short_time from '[Hh]([^Hhm])'), ':'), v_run);
            WHEN v_char = '\' THEN
                v_at := v_at - v_run + 2;
                v_text := substr(v_format, v_at - 1, 1);
            WHEN v_char IN ('''', '"') THEN
                v_at := v_at - v_run + 1;
                IF strpos(substr(v_format, v_at), v_char) = 0 THEN
                    RETURN NULL;
                END IF;
                v_text := split_part(substr(v_format, v_at), v_char, 1);
                v_at := v_at + length(v_text) + 1;
            WHEN v_char = '%' THEN
                v_text := '';
            ELSE
                v_text := repeat(v_char, v_run);
        END CASE;
        IF v_text IS NULL THEN
            PERFORM ssb_internal.raise_error(9818, pg_catalog.format(
                'The culture parameter ''%s'' provided in the function call is not supported.', culture),
                16, 1, 'The names of its months and days are not known here.');
        END IF;
        v_result := v_result || v_text;
    END LOOP;
    RETURN v_result;
END;
$$;

-- Groups of three digits.
CREATE OR REPLACE FUNCTION sys.group_digits(digits text, mark text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN reverse(regexp_replace(reverse(digits), '([0-9]{3})(?=[0-9])', '\1' || mark, 'g'));

-- A non-negative number with that many decimals in a culture.
CREATE OR REPLACE FUNCTION sys.plain_number(value numeric, decimals integer, grouped boolean, decimal_mark text, group_mark text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN grouped THEN sys.group_digits(trunc(round(value, decimals))::text, group_mark)
    ELSE trunc(round(value, decimals))::text
END || CASE WHEN decimals > 0 THEN decimal_mark || split_part(round(value, decimals)::text, '.', 2) ELSE '' END;

-- .NET's custom numeric formats: 0 # . , % ‰ E0, quoted text, sections.
CREATE OR REPLACE FUNCTION sys.format_number_custom(value numeric, format text, decimal_mark text, group_mark text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sections text[] := '{}';
    v_section text := '';
    v_pattern text;
    v_quote text;
    v_char text;
    v_at integer := 1;
    v_number numeric := value;
    v_negative boolean := value < 0;
    v_tokens text[] := '{}';    -- one character or quoted text each; literals are marked by a leading '
    v_decimals integer := 0;
    v_least_decimals integer := 0;
    v_digits_before integer := 0;
    v_least_before integer := 0;
    v_grouped boolean := false;
    v_seen_point boolean := false;
    v_exponent text;
    v_power integer := 0;
    v_integer text;
    v_fraction text;
    v_result text := '';
    v_place integer;
    v_written boolean := false;
BEGIN
    -- Sections: positive; negative; zero.
    FOREACH v_char IN ARRAY regexp_split_to_array(format, '') LOOP
        IF v_quote IS NOT NULL THEN
            v_quote := CASE WHEN v_char = v_quote THEN NULL ELSE v_quote END;
        ELSIF v_char IN ('''', '"') AND right(v_section, 1) <> '\' THEN
            v_quote := v_char;
        ELSIF v_char = ';' THEN
            v_sections := v_sections || v_section;
            v_section := '';
            CONTINUE;
        END IF;
        v_section := v_section || v_char;
    END LOOP;
    v_sections := v_sections || v_section;
    v_pattern := v_sections[1];
    IF value < 0 AND coalesce(v_sections[2], '') <> '' THEN
        v_pattern := v_sections[2];
        v_negative := false;
    ELSIF value = 0 AND coalesce(v_sections[3], '') <> '' THEN
        v_pattern := v_sections[3];
    END IF;
    v_number := abs(v_number);
    -- Tokens, and what the placeholders ask for.
    WHILE v_at <= length(v_pattern) LOOP
        v_char := substr(v_pattern, v_at, 1);
        v_at := v_at + 1;
        IF v_char = '\' THEN
            v_tokens := v_tokens || ('''' || substr(v_pattern, v_at, 1));
            v_at := v_at + 1;
        ELSIF v_char IN ('''', '"') THEN
            v_tokens := v_tokens || ('''' || split_part(substr(v_pattern, v_at), v_char, 1));
            v_at := v_at + length(split_part(substr(v_pattern, v_at), v_char, 1)) + 1;
        ELSIF v_char IN ('0', '#') THEN
            v_tokens := v_tokens || v_char;
            IF v_seen_point THEN
                v_decimals := v_decimals + 1;
                v_least_decimals := CASE WHEN v_char = '0' THEN v_decimals ELSE v_least_decimals END;
            ELSE
                v_digits_before := v_digits_before + 1;
                v_least_before := CASE WHEN v_char = '0' OR v_least_before > 0 THEN v_least_before + 1 ELSE 0 END;
            END IF;
        ELSIF v_char = '.' THEN
            IF NOT v_seen_point THEN
                v_tokens := v_tokens || v_char;
            END IF;
            v_seen_point := true;
        ELSIF v_char = ',' THEN
            -- Between digits: grouping. Right in front of the point or the end: thousands.
            IF v_seen_point THEN
                NULL;
            ELSIF substr(v_pattern, v_at) ~ '^,*(\.|$|[^0#,])' AND v_digits_before > 0 AND substr(v_pattern, v_at) !~ '^,*[^.]*[0#]' THEN
                v_number := v_number / 1000;
            ELSIF substr(v_pattern, v_at) ~ '^,*\.' THEN
                v_number := v_number / 1000;
            ELSE
                v_grouped := v_grouped OR v_digits_before > 0;
            END IF;
        ELSIF v_char IN ('%', '‰') THEN
            v_number := v_number * CASE v_char WHEN '%' THEN 100 ELSE 1000 END;
            v_tokens := v_tokens || ('''' || v_char);
        ELSIF v_char IN ('e', 'E') AND substr(v_pattern, v_at) ~ '^[+-]?0+' THEN
            v_exponent := v_char || substring(substr(v_pattern, v_at) from '^[+-]?0+');
            v_at := v_at + length(v_exponent) - 1;
            v_tokens := v_tokens || 'E'::text;
        ELSE
            v_tokens := v_tokens || ('''' || v_char);
        END IF;
    END LOOP;
    IF v_exponent IS NOT NULL AND v_number <> 0 THEN
        v_power := floor(log(v_number))::integer - greatest(v_digits_before, 1) + 1;
        v_number := round(v_number * power(10::numeric, - v_power), v_decimals);
        IF v_number >= power(10::numeric, greatest(v_digits_before, 1)) THEN
            v_number := v_number / 10;
            v_power := v_power + 1;
        END IF;
    END IF;
    v_number := round(v_number, v_decimals);
    v_negative := v_negative AND (v_number <> 0);
    v_integer := trunc(v_number)::text;
    v_integer := CASE WHEN v_integer = '0' THEN '' ELSE v_integer END;
    v_integer := lpad(v_integer, greatest(v_least_before, length(v_integer)), '0');
    v_fraction := split_part(v_number::text, '.', 2);
    WHILE length(v_fraction) > v_least_decimals AND right(v_fraction, 1) = '0' LOOP
        v_fraction := left(v_fraction, -1);
    END LOOP;
    -- Digits go to the placeholders from the point outwards; the first takes the rest.
    v_place := v_digits_before;
    v_seen_point := false;
    FOREACH v_char IN ARRAY v_tokens LOOP
        IF left(v_char, 1) = '''' THEN
            v_result := v_result || substr(v_char, 2);
        ELSIF v_char IN ('0', '#') AND NOT v_seen_point THEN
            v_section := CASE
                WHEN NOT v_written THEN left(v_integer, greatest(length(v_integer) - v_place + 1, 0))
                WHEN length(v_integer) >= v_place THEN substr(v_integer, length(v_integer) - v_place + 1, 1)
                ELSE ''
            END;
            IF v_section <> '' THEN
                -- The mark goes behind every digit that has a multiple of three behind it.
                FOR i IN 1 .. length(v_section) LOOP
                    v_result := v_result || substr(v_section, i, 1);
                    IF v_grouped AND v_place - 1 + length(v_section) - i > 0
                       AND (v_place - 1 + length(v_section) - i) % 3 = 0 THEN
                        v_result := v_result || group_mark;
                    END IF;
                END LOOP;
            END IF;
            v_written := true;
            v_place := v_place - 1;
        ELSIF v_char IN ('0', '#') THEN
            v_place := v_place + 1;
            v_result := v_result || substr(v_fraction, v_place, 1);
        ELSIF v_char = '.' THEN
            IF NOT v_written THEN
                v_result := v_result || v_integer;
            END IF;
            v_seen_point := true;
            v_place := 0;
            v_result := v_result || CASE WHEN v_fraction <> '' THEN decimal_mark ELSE '' END;
        ELSE
            v_result := v_result || left(v_exponent, 1)
                || CASE WHEN v_power < 0 THEN '-' WHEN substr(v_exponent, 2, 1) = '+' THEN '+' ELSE '' END
                || lpad(abs(v_power)::text,
                        greatest(length(ltrim(substr(v_exponent, 2), '+-')), length(abs(v_power)::text)), '0');
        END IF;
    END LOOP;
    RETURN CASE WHEN v_negative THEN '-' ELSE '' END || v_result;
END;
$$;

-- A number in a .NET format. is_integer: D and X are for integers alone.
CREATE OR REPLACE FUNCTION sys.format_number(value numeric, format text, culture text, is_integer boolean, bits integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
    v_match text[] := regexp_match(coalesce(nullif(format, ''), 'G'), '^([A-Za-z])([0-9]{0,2})$');
    v_digits integer := nullif(v_match[2], '')::integer;
    v_text text;
BEGIN
    IF value IS NULL OR format IS NULL THEN
        RETURN NULL;
    ELSIF v_match IS NULL THEN
        RETURN sys.format_number_custom(value, format, v_culture.decimal_mark, v_culture.group_mark);
    END IF;
    CASE upper(v_match[1] COLLATE "C")
        WHEN 'N' THEN
            v_text := sys.plain_number(abs(value), coalesce(v_digits, 2), true, v_culture.decimal_mark, v_culture.group_mark);
            RETURN CASE WHEN round(value, coalesce(v_digits, 2)) < 0 THEN '-' ELSE '' END || v_text;
        WHEN 'F' THEN
            v_text := sys.plain_number(abs(value), coalesce(v_digits, 2), false, v_culture.decimal_mark, '');
            RETURN CASE WHEN round(value, coalesce(v_digits, 2)) < 0 THEN '-' ELSE '' END || v_text;
        WHEN 'C' THEN
            v_digits := coalesce(v_digits, CASE WHEN v_culture.language IN ('ja', 'ko') THEN 0 ELSE 2 END);
            v_text := sys.plain_number(abs(value), v_digits, true, v_culture.decimal_mark, v_culture.group_mark);
            RETURN replace(
                replace(split_part(v_culture.currency_pattern, '|', CASE WHEN round(value, v_digits) < 0 THEN 2 ELSE 1 END), 'n', v_text),
                '$', v_culture.currency);
        WHEN 'P' THEN
            v_text := sys.plain_number(abs(value * 100), coalesce(v_digits, 2), true, v_culture.decimal_mark, v_culture.group_mark);
            RETURN CASE WHEN round(value * 100, coalesce(v_digits, 2)) < 0 THEN '-' ELSE '' END || v_text || ' %';
        WHEN 'D' THEN
            RETURN CASE WHEN is_integer THEN
                CASE WHEN value < 0 THEN '-' ELSE '' END
                || lpad(abs(value)::text, greatest(coalesce(v_digits, 1), length(abs(value)::text)), '0') END;
        WHEN 'X' THEN
            v_text := sys.digits_of(CASE WHEN value < 0 THEN value + power(2::numeric, bits) ELSE value END, 16);
            v_text := lpad(v_text, greatest(coalesce(v_digits, 1), length(v_text)), '0');
            RETURN CASE WHEN is_integer THEN CASE v_match[1] WHEN 'x' THEN lower(v_text) ELSE v_text END END;
        WHEN 'E' THEN
            RETURN sys.format_number_custom(
                value, '0' || CASE WHEN v_digits = 0 THEN '' ELSE '.' || repeat('0', coalesce(v_digits, 6)) END || v_match[1] || '+000',
                v_culture.decimal_mark, '');
        WHEN 'G' THEN
            v_text := CASE
                WHEN v_digits > 0 AND value <> 0 THEN
                    trim_scale(round(value, v_digits - 1 - floor(log(abs(value)))::integer))::text
                ELSE value::text
            END;
            RETURN replace(v_text, '.', v_culture.decimal_mark);
        WHEN 'R' THEN
            RETURN CASE WHEN NOT is_integer THEN replace(value::text, '.', v_culture.decimal_mark) END;
        ELSE
            RETURN NULL;
    END CASE;
END;
$$;

-- A time is a TimeSpan in .NET: hh, mm, ss, fff; any other character must be
-- quoted or escaped, or the answer is NULL.
CREATE OR REPLACE FUNCTION sys.format_time(value time, format text, culture text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_culture record := sys.known_culture(culture);
BEGIN
    IF format IN ('c', 't', 'T', 'g', 'G', '') THEN
        RETURN to_char(value, 'HH24:MI:SS')
            || CASE WHEN date_part('microseconds', value)::bigint % 1000000 <> 0 THEN '.' || to_char(value, 'US') || '0' ELSE '' END;
    ELSIF regexp_replace(format, '\\.|''[^'']*''|"[^"]*"|[dhmsfF%]', '', 'g') <> '' THEN
        RETURN NULL;
    END IF;
    -- h counts from 0 to 23 here, and there are no days.
    RETURN sys.format_moment(timestamp '1900-01-01' + value, replace(replace(format, 'h', 'H'), 'd', '\0'), culture);
END;
$$;

CREATE OR REPLACE FUNCTION sys.format(value timestamp, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_moment(value, format, culture);
CREATE OR REPLACE FUNCTION sys.format(value date, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_moment(value::timestamp, format, culture);
CREATE OR REPLACE FUNCTION sys.format(value timestamptz, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sys.format_moment(value::timestamp, format, culture, (date_part('timezone', value) / 60)::integer);
CREATE OR REPLACE FUNCTION sys.format(value time, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_time(value, format, culture);
CREATE OR REPLACE FUNCTION sys.format(value smallint, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_number(value::numeric, format, culture, true, 16);
CREATE OR REPLACE FUNCTION sys.format(value integer, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_number(value::numeric, format, culture, true, 32);
CREATE OR REPLACE FUNCTION sys.format(value bigint, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_number(value::numeric, format, culture, true, 64);
CREATE OR REPLACE FUNCTION sys.format(value numeric, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_number(value, format, culture, false, 0);
CREATE OR REPLACE FUNCTION sys.format(value double precision, format text, culture text DEFAULT 'en-US') RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.format_number(value::numeric, format, culture, false, 0);
