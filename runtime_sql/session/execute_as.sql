-- EXECUTE AS and REVERT: SET ROLE to the principal's role and back. The roles left
-- are kept in a setting, as JSON, innermost last.
--
-- Called by  compiled EXECUTE AS, REVERT and EXEC … AS USER
-- Settings   pgsb.roles

CREATE OR REPLACE FUNCTION ssb_internal.execute_as(principal text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role name := ssb_internal.role_of(ssb_internal.as_dbo(principal, ssb_internal.database_id_of(database)));
BEGIN
    PERFORM set_config('pgsb.roles', (coalesce(nullif(current_setting('pgsb.roles', true), ''), '[]')::jsonb || to_jsonb(current_user::text))::text,
                       false);
    IF principal IS NOT NULL THEN
        PERFORM ssb_internal.forget_trampolines();
        PERFORM set_config('role', coalesce(v_role, principal), false);
    END IF;
EXCEPTION WHEN invalid_parameter_value OR undefined_object OR insufficient_privilege THEN
    PERFORM ssb_internal.raise_error(15517, format('Cannot execute as the database principal because the principal "%s" does not exist, '
        'this type of principal cannot be impersonated, or you do not have permission.', principal),
        hint => format('Here it is the PostgreSQL role of the same name: CREATE ROLE %I, and GRANT it to who runs this.', lower(principal)));
END;
$$;

-- EXECUTE AS LOGIN: the same, in the words of the server.
CREATE OR REPLACE FUNCTION ssb_internal.execute_as_login(login text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.execute_as(login, database);
EXCEPTION WHEN SQLSTATE 'T0BZ1' THEN
    PERFORM ssb_internal.raise_error(15406, format('Cannot execute as the server principal because the principal "%s" does not exist, '
        'this type of principal cannot be impersonated, or you do not have permission.', login),
        hint => format('Here it is the PostgreSQL role of the same name: CREATE ROLE %I, and GRANT it to who runs this.', lower(login)));
END;
$$;

-- EXECUTE AS 'user' of a module that is being made: 15151 where there is nobody of that name, or nobody whom the caller may be.
CREATE OR REPLACE FUNCTION ssb_internal.require_user(user_name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.named_or_caller(user_name, ssb_internal.database_id_of(database));
END;
$$;

-- WITH NO REVERT: there is no way back but to the end of what runs.
CREATE OR REPLACE FUNCTION ssb_internal.forbid_revert()
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT set_config('pgsb.roles', (current_setting('pgsb.roles')::jsonb || 'false')::text, false); $$;

CREATE OR REPLACE FUNCTION ssb_internal.revert()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_roles jsonb := nullif(current_setting('pgsb.roles', true), '');
BEGIN
    IF v_roles -> -1 = 'false' THEN
        PERFORM ssb_internal.raise_error(15591, 'The current security context cannot be reverted using this statement. A cookie may or may not be '
            'needed with ''Revert'' statement depending on how the context was set with ''Execute As'' statement.');
    ELSIF jsonb_array_length(v_roles) > 0 THEN
        PERFORM ssb_internal.forget_trampolines();
        PERFORM set_config('role', v_roles ->> -1, false), set_config('pgsb.roles', (v_roles - -1)::text, false);
    END IF;
END;
$$;

-- The end of a module or of dynamic SQL that said EXECUTE AS: back to whoever it began as; p_roles is the setting of then.
CREATE OR REPLACE FUNCTION ssb_internal.revert_to(p_roles text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_before CONSTANT integer := coalesce(jsonb_array_length(nullif(p_roles, '')::jsonb), 0);
BEGIN
    WHILE jsonb_array_length(nullif(current_setting('pgsb.roles', true), '')::jsonb) > v_before LOOP
        IF current_setting('pgsb.roles')::jsonb -> -1 = 'false' THEN
            PERFORM set_config('pgsb.roles', (current_setting('pgsb.roles')::jsonb - -1)::text, false);
        ELSE
            PERFORM ssb_internal.revert();
        END IF;
    END LOOP;
END;
$$;
