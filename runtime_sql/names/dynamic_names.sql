-- What dynamic SQL puts into its text from variables, where the script tells the rest: names in T-SQL's spelling become PostgreSQL's,
-- and of values those that are numbers and strings are taken.
--
-- Called by  compiled EXEC (…) and sp_executesql

-- A name that stood in brackets, with the errors of one that is empty or too long.
CREATE OR REPLACE FUNCTION ssb_internal.bracketed_identifier(p_name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.check_name(p_name);
    RETURN '[' || replace(p_name, ']', ']]') || ']';
END;
$$;

-- The parts of a name in dynamic SQL: error 102 where it is none or has more than p_most, that of check_name for one too long.
CREATE OR REPLACE FUNCTION ssb_internal.dynamic_parts(p_name text, p_most integer DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts CONSTANT text[] := sys.name_parts(p_name);
BEGIN
    IF cardinality(v_parts) IS NULL OR cardinality(v_parts) > p_most THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_name), 15);
    END IF;
    PERFORM ssb_internal.check_name(p) FROM unnest(v_parts) AS p WHERE length(p) > 128;
    RETURN v_parts;
END;
$$;

-- Names inside dynamic SQL that only the run time knows: T-SQL spelling to
-- PostgreSQL's. p_schema is where a name without schema belongs.
CREATE OR REPLACE FUNCTION ssb_internal.dynamic_name(p_schema text, p_name text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := ssb_internal.dynamic_parts(p_name);
BEGIN
    IF cardinality(v_parts) > 1 OR left(v_parts[1], 1) = '#' THEN
        RETURN ssb_internal.module_name(p_name);
    END IF;
    RETURN quote_ident(p_schema) || '.' || quote_ident(sys.fold(v_parts[1]));
END;
$$;

-- PostgreSQL's name, unquoted, of a schema in dynamic SQL, which may bring its database along: [Shop].[dbo]. Both arguments are
-- T-SQL's spelling; p_database NULL: the default one.
CREATE OR REPLACE FUNCTION ssb_internal.dynamic_schema(p_name text, p_database text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := ssb_internal.dynamic_parts(p_name, 2);
    v_schema text := coalesce(nullif(v_parts[cardinality(v_parts)], ''), 'dbo');
    v_given text[] := sys.name_parts(p_database);
    v_database text := CASE cardinality(v_parts) WHEN 1 THEN v_given[cardinality(v_given)] WHEN 2 THEN v_parts[1] END;
BEGIN
    RETURN CASE WHEN v_database IS NULL THEN sys.fold(v_schema)
                ELSE coalesce(sys.schema_in_database(v_schema, v_database), sys.fold(v_database || '_' || v_schema)) END;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.dynamic_identifier(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := ssb_internal.dynamic_parts(p_name);
BEGIN
    RETURN (SELECT string_agg(quote_ident(sys.fold(p)), '.' ORDER BY n) FROM unnest(v_parts) WITH ORDINALITY AS u(p, n));
END;
$$;

-- Whether texts are what ssb_internal.dynamic_value takes; else the client must translate the whole.
CREATE OR REPLACE FUNCTION ssb_internal.are_dynamic_values(VARIADIC p_texts text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce(bool_and(t IS NULL OR t ~ '^[-+\d.,\s]*\d[-+\d.,\s]*$' OR t ~* '^\s*NULL\s*$'
                             OR t ~ '^(\s*N?''([^'']|'''')*''\s*(,|$))+$'), true)
      FROM unnest(p_texts) AS t;
END;

-- Whether texts are names, or parts of one; else the client must translate the whole.
CREATE OR REPLACE FUNCTION ssb_internal.are_dynamic_names(VARIADIC p_texts text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce(bool_and(t IS NULL OR t ~ '^\s*(?:[\w@#$]*|\[(?:[^\]]|\]\])+\]|"(?:[^"]|"")+")(?:\s*\.\s*(?:[\w@#$]+|\[(?:[^\]]|\]\])+\]|"(?:[^"]|"")+")?)*\s*$'), true)
      FROM unnest(p_texts) AS t;
END;

-- Whether texts are what ssb_internal.dynamic_scalar takes; else the client must translate the whole.
CREATE OR REPLACE FUNCTION ssb_internal.are_dynamic_scalars(VARIADIC p_texts text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce(bool_and(t IS NULL OR t ~ '^\s*[-+]?[\d.]*\d[\d.]*\s*$' OR t ~* '^\s*NULL\s*$' OR t ~ '^\s*N?''([^'']|'''')*''\s*$'), true)
      FROM unnest(p_texts) AS t;
END;

-- The value of one number, or of one string in quotes. What the script put in without quotes is a number, or
-- would not have been T-SQL: it is taken as it is.
CREATE OR REPLACE FUNCTION ssb_internal.dynamic_scalar(p_text text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT CASE WHEN p_text ~ '^\s*N?''([^'']|'''')*''\s*$' THEN replace(substring(p_text FROM '''(.*)'''), '''''', '''')
                WHEN p_text !~* '^\s*NULL\s*$' THEN p_text END;
END;

-- Numbers or strings, one or several with commas between: all that dynamic SQL may
-- put where a value stands. Everything else is T-SQL, which cannot be translated here.
CREATE OR REPLACE FUNCTION ssb_internal.dynamic_value(p_text text)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_text ~ '^[-+\d.,\s]*\d[-+\d.,\s]*$' OR p_text ~* '^\s*NULL\s*$' THEN
        RETURN p_text;
    ELSIF p_text ~ '^(\s*N?''([^'']|'''')*''\s*(,|$))+$' THEN
        RETURN regexp_replace(p_text, '(^|,)(\s*)N''', '\1\2''', 'g');
    END IF;
    PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_text), 15, 1,
        'Dynamic SQL may hold numbers and strings from variables, and names; other T-SQL cannot be translated in the server.');
    RETURN NULL;
END;
$$;
