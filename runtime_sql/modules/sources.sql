-- The T-SQL text of modules, as `pgsb run` hands it over; names are PostgreSQL's.
CREATE TABLE IF NOT EXISTS ssb.module_source (
    schema_name text NOT NULL,
    name        text NOT NULL,
    text        text NOT NULL,
    PRIMARY KEY (schema_name, name)
);

-- Whether the module is the caller's; NULL: there is none. One that consists of parts (name@database, name@update) has the
-- owner of all of them.
CREATE OR REPLACE FUNCTION ssb_internal.is_module_of_caller(p_schema text, p_name text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_schema CONSTANT oid := to_regnamespace(quote_ident(p_schema));
    v_caller CONSTANT name := ssb_internal.caller();
    -- What begins with name@ lies between these two in the index by name; A is the character behind @.
    v_first CONSTANT name := p_name || '@';
    v_last CONSTANT name := p_name || 'A';
BEGIN
    RETURN (
        SELECT coalesce(bool_and(pg_has_role(v_caller, o.owner, 'USAGE')) FILTER (WHERE o.name = p_name),
                        bool_and(pg_has_role(v_caller, o.owner, 'USAGE')))
          FROM (SELECT p.proname, p.proowner FROM pg_proc AS p WHERE p.proname = p_name::name AND p.pronamespace = v_schema
                UNION ALL
                SELECT p.proname, p.proowner FROM pg_proc AS p WHERE p.proname >= v_first AND p.proname < v_last AND p.pronamespace = v_schema
                UNION ALL
                SELECT c.relname, c.relowner FROM pg_class AS c WHERE c.relname = p_name::name AND c.relnamespace = v_schema
                UNION ALL
                SELECT c.relname, c.relowner FROM pg_class AS c WHERE c.relname >= v_first AND c.relname < v_last AND c.relnamespace = v_schema
               ) AS o (name, owner)
         WHERE o.name = p_name OR starts_with(o.name, p_name || '@'));
END;
$$;

-- Where the session keeps the text of a temporary module, which goes with it.
CREATE OR REPLACE FUNCTION ssb_internal.source_setting(p_name text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'pgsb.text_of_' || md5(p_name);

-- Only the owner of the module says what its text is.
--
-- Called by  pgsb run, and text of pgsb compile --keep-source, after CREATE PROCEDURE and its like
CREATE OR REPLACE FUNCTION ssb_internal.keep_source(p_name text, p_text text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    IF v_name[1] = 'pg_temp' THEN
        PERFORM set_config(ssb_internal.source_setting(v_name[2]), p_text, false);
    ELSIF ssb_internal.is_module_of_caller(v_name[1], v_name[2]) THEN
        INSERT INTO ssb.module_source AS m (schema_name, name, text) VALUES (v_name[1], v_name[2], p_text)
        ON CONFLICT (schema_name, name) DO UPDATE SET text = excluded.text;
    END IF;
END;
$$;

-- What was kept is not the text of the module that comes now.
--
-- Called by  ssb_internal.prepare_module, prepare_view and prepare_trigger, behind drop_module and drop_relation
CREATE OR REPLACE FUNCTION ssb_internal.forget_source(p_name text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    IF v_name[1] = 'pg_temp' THEN
        PERFORM set_config(ssb_internal.source_setting(v_name[2]), '', false)
          WHERE current_setting(ssb_internal.source_setting(v_name[2]), true) <> '';
    ELSIF ssb_internal.is_module_of_caller(v_name[1], v_name[2]) IS NOT FALSE THEN
        DELETE FROM ssb.module_source AS m WHERE m.schema_name = v_name[1] AND m.name = v_name[2];
    END IF;
END;
$$;

-- Neither a relation nor a routine has the name: what is kept of a module under it may go along with a new one.
CREATE OR REPLACE FUNCTION ssb_internal.is_name_left(p_name text)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    RETURN to_regclass(p_name) IS NULL
       AND NOT EXISTS (SELECT FROM pg_proc AS p
                        WHERE p.proname = v_name[2]::name AND p.pronamespace = to_regnamespace(quote_ident(v_name[1])));
END;
$$;

-- The module has another name now, and is its owner's still.
--
-- Called by  ssb_internal.transfer_object
CREATE OR REPLACE FUNCTION ssb_internal.move_source(p_name text, p_new text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old CONSTANT text[] := parse_ident(p_name);
    v_new CONSTANT text[] := parse_ident(p_new);
BEGIN
    -- Parts may be left: the rows of table variables are where the module's text names them.
    IF ssb_internal.is_name_left(p_name) AND ssb_internal.is_module_of_caller(v_new[1], v_new[2]) THEN
        DELETE FROM ssb.module_source AS m WHERE m.schema_name = v_new[1] AND m.name = v_new[2]
            AND EXISTS (SELECT FROM ssb.module_source AS o WHERE o.schema_name = v_old[1] AND o.name = v_old[2]);
        UPDATE ssb.module_source AS m SET schema_name = v_new[1], name = v_new[2] WHERE m.schema_name = v_old[1] AND m.name = v_old[2];
    END IF;
END;
$$;

-- SECURITY DEFINER: the table is the owner's, the texts are everybody's, as in sys.sql_modules; a temporary module's are the session's.
CREATE OR REPLACE FUNCTION ssb_internal.source_of(p_schema text, p_name text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_schema = 'pg_temp' OR p_schema = (SELECT n.nspname FROM pg_namespace AS n WHERE n.oid = pg_my_temp_schema())
                THEN nullif(current_setting(ssb_internal.source_setting(p_name), true), '')
                ELSE (SELECT m.text FROM ssb.module_source AS m WHERE m.schema_name = p_schema AND m.name = p_name) END
$$;

-- By the name that ERROR_PROCEDURE() tells, of whatever schema: the dbo of the session's database first.
CREATE OR REPLACE FUNCTION ssb_internal.source_by_name(p_name text)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_name ~ '^#[^#]' THEN ssb_internal.source_of('pg_temp', sys.fold(p_name))
                ELSE (SELECT m.text FROM ssb.module_source AS m WHERE m.name = sys.fold(p_name)
                       ORDER BY m.schema_name <> (SELECT d.schema_prefix || 'dbo' FROM ssb.database AS d
                                                   WHERE d.database_id = ssb_internal.current_database_id()), m.schema_name LIMIT 1) END
$$;
