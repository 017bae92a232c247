-- How a script spells an object and its parts, where that is not how PostgreSQL knows them: 'OrderID', orderid.
-- It is kept in the first line of the object's comment, and so goes with the object, with its renamed schema, and into a
-- dump. One that no longer fits the name (ALTER TABLE … RENAME) means nothing.
--
-- Called by  compiled CREATE TABLE, ALTER TABLE ADD, CREATE INDEX, SELECT INTO, CREATE VIEW and those of modules, sequences
--            and types; catalog views; server/learn.py

-- A name of at most so many bytes: a longer one keeps its beginning and gets a digest.
CREATE OR REPLACE FUNCTION ssb_internal.shortened(p_name text, p_bytes integer)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(p_name) <= p_bytes THEN p_name
    ELSE (
        SELECT left(p_name, count(*) FILTER (WHERE octet_length(left(p_name, n)) <= p_bytes - 9)::integer)
            || '_' || left(encode(sha256(convert_to(p_name, 'UTF8')), 'hex'), 8)
        FROM generate_series(1, p_bytes - 9) AS n)
END;

-- A name in lower case as everybody writes it, and the compiler: the database's locale may make another letter of I (Turkish),
-- and one letter or two of a capital with a dot.
CREATE OR REPLACE FUNCTION ssb_internal.lower_name(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(replace(translate(p_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), U&'\0130', U&'i\0307'));

-- A T-SQL identifier as PostgreSQL stores it: lower case, at most 63 bytes (as the compiler's names.fold does).
CREATE OR REPLACE FUNCTION sys.fold(identifier text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(ssb_internal.lower_name(identifier)) <= 63 THEN ssb_internal.lower_name(identifier)
            ELSE ssb_internal.shortened(ssb_internal.lower_name(identifier), 63) END;

-- What the names of a module's parts begin with, before their @: tr@update and p@rows belong to tr and p. Of a name, and of
-- a part's name, the same. It leaves room for what follows (as the compiler's names.part_name does).
CREATE OR REPLACE FUNCTION ssb_internal.stem(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.shortened(regexp_replace(p_name, '(?:@(?:insert|update|delete|database|server))?(?:@(?:begin|rows))?$', ''), 49);

-- The name of the trigger that a trigger or function is a part of, or its own. A name may have an @ in it.
CREATE OR REPLACE FUNCTION ssb_internal.without_part(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(p_name, '(?:@(?:insert|update|delete|database|server))?(?:@(?:begin|rows))?$', '');

-- A name as its comment has it, or as PostgreSQL does. Behind the comment's first line stands what else is said of the object.
--
-- As PL/pgSQL: called for each column of each relation when a script is compiled, and most have no comment.
CREATE OR REPLACE FUNCTION ssb_internal.spelled(p_comment text, p_name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    IF starts_with(p_comment, 'T-SQL name: ') THEN
        v_name := substr(split_part(p_comment, chr(10), 1), 13);
        IF ssb_internal.lower_name(v_name) = p_name OR sys.fold(v_name) = p_name THEN
            RETURN v_name;
        END IF;
    END IF;
    RETURN p_name;
END;
$$;

-- What a variable is named in PL/pgSQL, by its folded name without the @: of the names that generated code relies on another one
-- (compiler/catalog/scope.py).
CREATE OR REPLACE FUNCTION ssb_internal.variable_name(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_name || CASE WHEN rtrim(p_name, '_') IN ('found', 'sqlstate', 'sqlerrm', 'new', 'old', 'current_user', 'session_user', 'diagnostics',
                                                      'stacked', 'use_column', 'variable_conflict') THEN '_' ELSE '' END;
$$;

-- The place of the parameter that a call names (@ and @@ are names, and so are @a and @@a of one procedure); NULL: there is none.
CREATE OR REPLACE FUNCTION ssb_internal.parameter_place(p_names text[], p_mark text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_position(p_names, sys.fold(p_mark)), array_position(p_names, ssb_internal.variable_name(sys.fold(ltrim(p_mark, '@')))),
                    array_position(p_names, sys.fold(ltrim(p_mark, '@'))));
$$;

-- A parameter, without its @, as the comment of its routine has it: "T-SQL parameters: @OrderID, @Note".
CREATE OR REPLACE FUNCTION ssb_internal.spelled_parameter(p_comment text, p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT substr(f.name, 2)
                       FROM unnest(string_to_array(substring(p_comment FROM '\nT-SQL parameters: ([^\n]*)'), ', ')) AS f (name)
                      WHERE starts_with(p_comment, 'T-SQL name: ') AND starts_with(f.name, '@') AND p_name IN (sys.fold(substr(f.name, 2)), ssb_internal.variable_name(sys.fold(substr(f.name, 2))))
                      LIMIT 1),
                    CASE WHEN p_name LIKE '%\_' AND ssb_internal.variable_name(left(p_name, -1)) = p_name THEN left(p_name, -1) ELSE p_name END);
$$;

-- What stands in a comment besides the name, the text of a synonym or of a constraint that is switched off among it.
CREATE OR REPLACE FUNCTION ssb_internal.comment_without_name(p_comment text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT nullif(regexp_replace(p_comment, '^T-SQL name: [^\n]*\n?(T-SQL (?:parameters|type): [^\n]*\n?)?', ''), ''); $$;

-- A comment with the name in front. NULL: without one.
CREATE OR REPLACE FUNCTION ssb_internal.comment_with_name(p_comment text, p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT concat_ws(chr(10), 'T-SQL name: ' || p_name,
                     CASE WHEN p_name IS NOT NULL THEN substring(p_comment FROM '^T-SQL name: [^\n]*\n(T-SQL type: [^\n]*)') END,
                     ssb_internal.comment_without_name(p_comment));
$$;

-- The type of a column, by the comment's second line, where PostgreSQL's stands for another one as well: money, tinyint, datetime2(3),
-- datetime2(0), binary(n), varbinary(n); varchar where nvarchar has other bytes.
CREATE OR REPLACE FUNCTION ssb_internal.kept_type(p_comment text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT substring(p_comment FROM '^T-SQL name: [^\n]*\nT-SQL type: ([^\n]*)'); $$;

-- p_types: NULL where PostgreSQL's type tells.
CREATE OR REPLACE FUNCTION ssb_internal.keep_types(p_relation text, p_columns text[], p_types text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_column record;
BEGIN
    FOR v_column IN
        SELECT a.attname, w.type, ssb_internal.spelled(c.text, a.attname) AS spelled, ssb_internal.comment_without_name(c.text) AS rest
          FROM unnest(p_columns, p_types) AS w (name, type)
          JOIN pg_attribute AS a ON a.attrelid = to_regclass(p_relation) AND a.attname = w.name
         CROSS JOIN LATERAL (SELECT col_description(a.attrelid, a.attnum) AS text) AS c
         WHERE w.type IS DISTINCT FROM ssb_internal.kept_type(c.text)
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', to_regclass(p_relation), v_column.attname,
                       concat_ws(chr(10), 'T-SQL name: ' || v_column.spelled, 'T-SQL type: ' || v_column.type, v_column.rest));
    END LOOP;
END;
$$;

-- Columns that are varchar, char or text, where nvarchar has other bytes. p_are: of each, whether it is; NULL: all are.
CREATE OR REPLACE FUNCTION ssb_internal.keep_varchar(p_relation text, p_columns text[], p_are boolean[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.keep_types(p_relation, array_agg(w.name), array_agg(CASE WHEN w.is_varchar THEN 'varchar' END))
       FROM (SELECT u.name, coalesce(u.is_varchar, true) AS is_varchar FROM unnest(p_columns, p_are) AS u (name, is_varchar)) AS w
       JOIN pg_attribute AS a ON a.attrelid = to_regclass(p_relation) AND a.attname = w.name
      WHERE w.is_varchar <> coalesce(ssb_internal.kept_type(col_description(a.attrelid, a.attnum)) = 'varchar', false);
END;
$$;

DROP FUNCTION IF EXISTS ssb_internal.is_kept_as_varchar(text);   -- keep_varchar's, while it wrote comments itself

-- As ssb_internal.keep_types, of an alias type.
CREATE OR REPLACE FUNCTION ssb_internal.keep_base_type(p_name text, p_type text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type regtype := p_name::regtype;
    v_comment text := obj_description(v_type, 'pg_type');
BEGIN
    EXECUTE format('COMMENT ON TYPE %s IS %L', v_type,
                   concat_ws(chr(10), 'T-SQL name: ' || ssb_internal.spelled(v_comment, (SELECT t.typname::text FROM pg_type AS t WHERE t.oid = v_type)),
                             'T-SQL type: ' || p_type, ssb_internal.comment_without_name(v_comment)));
END;
$$;

-- Whether an object of the schema has the name: relations, routines, constraints and defaults share them in SQL Server.
-- p_constraint: one that does not count.
CREATE OR REPLACE FUNCTION ssb_internal.is_name_taken(p_schema oid, p_name text, p_constraint oid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_constraint AS k
                    WHERE k.connamespace = p_schema AND k.conname = p_name AND k.contype IN ('c', 'f', 'p', 'u')
                      AND k.oid IS DISTINCT FROM p_constraint)
        OR EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = p_schema AND c.relname = p_name AND c.relkind IN ('r', 'p', 'v', 'S'))
        OR EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = p_schema AND p.proname = p_name)
        OR ssb_internal.names_default(p_schema, p_name);
END;
$$;

-- Error 2714 where an object of the schema has the name of a CHECK, a foreign key or a default: PostgreSQL lets each table have it.
-- p_constraint: whose name it is, NULL for a default.
CREATE OR REPLACE FUNCTION ssb_internal.refuse_taken_name(p_relation regclass, p_name text, p_constraint oid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.is_name_taken((SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = p_relation), p_name, p_constraint) THEN
        PERFORM ssb_internal.raise_error(2714, format('There is already an object named ''%s'' in the database.', p_name), 16, 5);
    END IF;
END;
$$;

-- p_name NULL: the relation's own is left as it is. p_columns: of those columns whose spelling must be kept; p_parts: constraints
-- and indexes whose spelling must be kept, or whose names no other object may have. p_relation may be a sequence or a type.
CREATE OR REPLACE FUNCTION ssb_internal.keep_spelling(p_relation text, p_name text, p_columns text[] DEFAULT '{}', p_parts text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation regclass := to_regclass(p_relation);
    v_kind "char" := (SELECT c.relkind FROM pg_class AS c WHERE c.oid = v_relation);
    v_column text;
    v_part text;
    v_constraint pg_constraint;
    v_index regclass;
BEGIN
    IF p_name IS NOT NULL AND v_kind IS DISTINCT FROM 'c' AND v_relation IS NOT NULL THEN
        EXECUTE format('COMMENT ON %s %s IS %L', CASE v_kind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, v_relation,
                       ssb_internal.comment_with_name(obj_description(v_relation, 'pg_class'), p_name));
    ELSIF p_name IS NOT NULL THEN
        EXECUTE format('COMMENT ON TYPE %s IS %L', p_relation::regtype,
                       ssb_internal.comment_with_name(obj_description(p_relation::regtype, 'pg_type'), p_name));
    END IF;
    FOREACH v_column IN ARRAY p_columns LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', v_relation, sys.fold(v_column),
            (SELECT ssb_internal.comment_with_name(col_description(a.attrelid, a.attnum), v_column) FROM pg_attribute AS a
              WHERE a.attrelid = v_relation AND a.attname = sys.fold(v_column)));
    END LOOP;
    FOREACH v_part IN ARRAY p_parts LOOP
        SELECT c.* INTO v_constraint FROM pg_constraint AS c WHERE c.conrelid = v_relation AND c.conname = sys.fold(v_part);
        IF FOUND THEN
            IF v_constraint.contype IN ('c', 'f') THEN
                PERFORM ssb_internal.refuse_taken_name(v_relation, v_constraint.conname, v_constraint.oid);
            END IF;
            IF v_part <> v_constraint.conname THEN
                EXECUTE format('COMMENT ON CONSTRAINT %I ON %s IS %L', v_constraint.conname, v_relation,
                               ssb_internal.comment_with_name(obj_description(v_constraint.oid, 'pg_constraint'), v_part));
            END IF;
            CONTINUE;
        END IF;
        SELECT i.indexrelid INTO v_index FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indexrelid
          JOIN pg_class AS t ON t.oid = i.indrelid
         WHERE i.indrelid = v_relation AND c.relname IN (sys.fold(v_part), sys.fold(t.relname || '__' || sys.fold(v_part)));
        IF FOUND THEN
            EXECUTE format('COMMENT ON INDEX %s IS %L', v_index,
                           ssb_internal.comment_with_name(obj_description(v_index, 'pg_class'), v_part));
        END IF;
    END LOOP;
END;
$$;

-- Of a procedure, function or trigger: p_parameters are those whose spelling must be kept.
CREATE OR REPLACE FUNCTION ssb_internal.keep_module_spelling(p_module text, p_name text, p_parameters text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text[] := parse_ident(p_module);
    v_routine regprocedure;
    v_comment text;
BEGIN
    FOR v_routine, v_comment IN
        SELECT p.oid, obj_description(p.oid, 'pg_proc') FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE n.nspname = v_name[1] AND p.proname = v_name[2]
    LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine,
                       concat_ws(chr(10), 'T-SQL name: ' || p_name,
                                 'T-SQL parameters: @' || nullif(array_to_string(p_parameters, ', @'), ''),
                                 ssb_internal.comment_without_name(v_comment)));
    END LOOP;
END;
$$;

-- The object's name as the text of a module or batch has it, from the line on where the error is, else anywhere; NULL: it is not
-- there. p_parts: as PostgreSQL knows it, schema and name; a name of * is any behind that schema, or alias. p_alone: without what
-- stands before the name.
CREATE OR REPLACE FUNCTION ssb_internal.name_in_text(p_text text, p_parts text[], p_line integer, p_alone boolean)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_part CONSTANT text := '(?:\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|[[:alpha:]_][\w@#$]*|#[\w@#$]+)';
    c_no_names CONSTANT text := '--[^\n]*|/\*.*?\*/|''(?:[^'']|'''')*''';
    v_name CONSTANT text := sys.fold(p_parts[cardinality(p_parts)]);
    -- What of it is the schema: that may have dots in its name, and so may the object.
    v_schemas CONSTANT text[] := ARRAY(SELECT sys.fold(array_to_string(p_parts[s.start:cardinality(p_parts) - 1], '.'))
                                         FROM generate_series(1, cardinality(p_parts) - 1) AS s (start));
    v_dotted text;
    v_behind text;
    v_text text;
    v_chain text;
    v_written text[];
    v_qualifier text;
BEGIN
    FOR i IN 1..cardinality(p_parts) - 1 LOOP
        v_dotted := array_to_string(p_parts[i:], '.');
        IF strpos(lower(p_text), '[' || lower(v_dotted)) > 0 OR strpos(lower(p_text), '"' || lower(v_dotted)) > 0 THEN
            v_chain := ssb_internal.name_in_text(p_text, p_parts[:i - 1] || v_dotted, p_line, p_alone);
            IF v_chain IS NOT NULL THEN
                RETURN v_chain;
            END IF;
        END IF;
    END LOOP;
    v_behind := array_to_string((string_to_array(p_text, chr(10)))[p_line:], chr(10));
    -- Those in the text of dynamic SQL after those around it.
    FOREACH v_text IN ARRAY ARRAY[
        regexp_replace(v_behind, c_no_names, ' ', 'g'), v_behind, regexp_replace(p_text, c_no_names, ' ', 'g'), p_text]
    LOOP
        FOR v_chain IN
            SELECT m.chain[1]
              FROM regexp_matches(v_text, format('(?<![\w@#$.])(%s(?:\s*\.\s*(?:%s)?)*)', c_part, c_part), 'g') AS m (chain)
        LOOP
            v_written := coalesce(sys.name_parts(v_chain), sys.name_parts(regexp_replace(v_chain, '\s*\.\s*', '.', 'g')));
            CONTINUE WHEN v_written IS NULL;
            IF v_name = '*' THEN
                -- x.a and dbo.x.a; of x.a.value(…) what stands before the method.
                FOR i IN 1..cardinality(v_written) - 1 LOOP
                    IF sys.fold(v_written[i]) = ANY (v_schemas)
                       OR sys.fold(v_written[i - 1]) || '_' || sys.fold(v_written[i]) = ANY (v_schemas) THEN
                        RETURN array_to_string(v_written[:i + 1], '.');
                    END IF;
                END LOOP;
                CONTINUE;
            END IF;
            CONTINUE WHEN sys.fold(v_written[cardinality(v_written)]) IS DISTINCT FROM v_name;
            IF p_alone THEN
                RETURN v_written[cardinality(v_written)];
            END IF;
            v_qualifier := coalesce(nullif(v_written[cardinality(v_written) - 1], ''), 'dbo');
            -- With its database in front where that is none that the runtime knows. A bare name is none of a schema of its own.
            IF v_schemas = '{}' OR cardinality(v_written) = 1 AND sys.fold(p_parts[cardinality(p_parts) - 1]) ~ '^(\w+_)?dbo$|^pg_temp'
               OR sys.fold(v_qualifier) = ANY (v_schemas)
               OR sys.fold(sys.fold(v_written[cardinality(v_written) - 2]) || '_' || sys.fold(v_qualifier)) = ANY (v_schemas) THEN
                RETURN array_to_string(v_written, '.');
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END;
$$;

-- The message of an error about a row of a temporary table, with the names as the text has them that makes the table: PostgreSQL keeps
-- no other spelling of those.
CREATE OR REPLACE FUNCTION ssb_internal.temporary_as_written(p_message text, p_texts text[])
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table CONSTANT text := substring(p_message FROM '[''"](?:tempdb[.])?dbo[.](#[^''"]+)[''"]');
    v_message text := p_message;
    v_text text;
    v_quoted text;
    v_name text;
BEGIN
    FOREACH v_text IN ARRAY p_texts LOOP
        v_text := substring(v_text FROM '(?i)\m(?:table|into)\s+((?:\w*\.\w*\.)?\[?' || regexp_replace(v_table, '([^[:alnum:]])', '\\\1', 'g') || '\M.*)');
        CONTINUE WHEN v_text IS NULL;
        FOR v_quoted IN SELECT m.quoted[1] FROM regexp_matches(p_message, '''[^'']+''|"[^"]+"', 'g') AS m (quoted) LOOP
            v_name := substring(v_quoted FROM '([^.''"]+)[''"]$');
            CONTINUE WHEN v_name IS NULL;  -- it ends with a dot
            v_message := replace(v_message, v_quoted, replace(v_quoted, v_name, coalesce(
                CASE WHEN v_name <> 'tempdb' THEN ssb_internal.name_in_text(v_text, ARRAY[v_name], 1, true) END, v_name)));
        END LOOP;
        EXIT;
    END LOOP;
    RETURN v_message;
END;
$$;

-- The message of an error about names that are not there, or there already, with the names as they are written where it came up:
-- in the module, in dynamic SQL, in the batch, which pgsb run puts behind what it sends (server/spelling.py). As PostgreSQL knows
-- them where none of these texts is kept.
--
-- Called by  ssb_internal.failed (errors/handling.sql)
CREATE OR REPLACE FUNCTION ssb_internal.as_written(p_number integer, p_message text, p_procedure text, p_line integer)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text;
    v_message text := p_message;
    v_mark text;
    v_name text;
    v_parts text[];
    v_alone boolean;
    v_shown text;
    v_stack text;
    v_around text[];
    v_texts text[];
    v_is_temporary CONSTANT boolean := p_number IN (515, 547, 2601, 2627) AND p_message ~ '[''"](tempdb[.])?dbo[.]#';
BEGIN
    IF NOT v_is_temporary AND p_number NOT IN (207, 208, 218, 219, 239, 252, 253, 416, 462, 547, 1088, 1752, 1754, 1911, 1913, 1914, 2010, 2501, 2702, 2705, 2714, 2760, 2812, 3701, 3705, 3723, 3728, 3732, 4104,
                        4121, 4513, 4701, 4708, 4901, 4902, 4909, 4920, 4924, 6314, 8101, 8197, 15151) THEN
        RETURN p_message;
    ELSIF p_number = 547 AND p_message !~ '^The ALTER TABLE ' AND NOT v_is_temporary THEN
        RETURN p_message;
    END IF;
    IF coalesce(p_procedure, '') = '' THEN
        -- Dynamic SQL of a module names no procedure: the innermost module that is running has its text.
        GET DIAGNOSTICS v_stack = PG_CONTEXT;
        v_around := parse_ident(substring(v_stack FROM 'PL/pgSQL function (?!ssb_internal\.|sys\.)([^(\s]+\.[^(\s]+)\('), false);
    END IF;
    v_texts := array_remove(ARRAY[
        ssb_internal.source_by_name(p_procedure), nullif(current_setting('pgsb.text', true), ''),
        ssb_internal.source_of(v_around[1], v_around[2]), substring(current_query() FROM '/\* T-SQL:\n(.*) \*/$')], NULL);
    IF v_is_temporary THEN
        RETURN ssb_internal.temporary_as_written(p_message, v_texts);
    END IF;
    FOR v_mark, v_name IN
        SELECT left(m.quoted[1], 1), substr(m.quoted[1], 2, length(m.quoted[1]) - 2)
          FROM regexp_matches(p_message, '(''[^'']+''|"[^"]+")', 'g') AS m (quoted)
    LOOP
        -- Of 547 the constraint, where it could not be made: of others the names are known.
        -- A schema that is there has its own spelling already.
        CONTINUE WHEN p_number <> 2705 AND substring(v_name FROM '[^.]*$') <> lower(substring(v_name FROM '[^.]*$'))
                      OR p_number = 547 AND NOT starts_with(split_part(p_message, ' constraint ', 2), v_mark || v_name || v_mark);
        -- 4104 knows the alias that is missing, not the column asked of it.
        v_parts := CASE p_number WHEN 2702 THEN ARRAY[v_name || '_dbo'] ELSE string_to_array(v_name, '.') END
                   || CASE WHEN p_number IN (2702, 2760, 4104) THEN '{*}'::text[] ELSE '{}' END;
        -- Of 2705 the column, not the table, which stands there as it was written.
        v_alone := v_mark = '''' AND NOT (p_number = 2705 AND cardinality(v_parts) > 1) AND p_number IN (207, 239, 252, 253, 462, 1752, 1754, 1913, 1914, 2705, 2714, 3728, 4708, 4901, 4909, 4920, 4924, 6314, 15151)
                   OR p_number IN (416, 547);
        v_shown := NULL;
        FOREACH v_text IN ARRAY v_texts
        LOOP
            v_shown := coalesce(CASE WHEN p_message !~ '^(Cannot drop the|An explicit DROP INDEX is not allowed on) index ' OR v_name LIKE '%.*' THEN
                                          ssb_internal.name_in_text(v_text, v_parts, p_line, v_alone) END,
                                -- An index, behind its table.
                                coalesce(regexp_replace(ssb_internal.name_in_text(v_text, v_parts, p_line, false), '[.][^.]*$', ''),
                                         ssb_internal.name_in_text(v_text, v_parts[1:1], p_line, false)) || '.'
                                || ssb_internal.name_in_text(v_text, v_parts[2:2], p_line, true));
            IF p_number = 2760 THEN
                v_shown := substring(v_shown FROM '^(.*)[.]');
            ELSIF p_number = 2702 THEN
                v_shown := substring(v_shown FROM '^(.*)[.][^.]*[.]');
            END IF;
            EXIT WHEN v_shown IS NOT NULL;
        END LOOP;
        IF v_shown IS NULL AND cardinality(v_parts) = 2 AND p_number <> 2702 THEN
            v_shown := ssb_internal.tsql_schema(v_parts[1]) || coalesce('.' || nullif(v_parts[2], '*'), '');
        END IF;
        v_message := replace(v_message, v_mark || v_name || v_mark, v_mark || coalesce(v_shown, regexp_replace(v_name, '[.][*]$', '')) || v_mark);
    END LOOP;
    RETURN v_message;
END;
$$;
