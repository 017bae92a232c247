-- Users, logins, roles of T-SQL. They are names
-- that grants, AUTHORIZATION and bindings mention; logging in is PostgreSQL's
-- business. A principal means the PostgreSQL role of the same name, if there is one.

-- A user's login. 15007 where nothing of that name logs in: neither a login that was made, nor a role of PostgreSQL; DOMAIN\name is
-- Windows's to know. The owner of the server is dbo everywhere (15405), and nobody is two users of one database (15063).
CREATE OR REPLACE FUNCTION ssb_internal.require_login(p_login text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lower(p_login COLLATE "C") = 'sa' THEN
        PERFORM ssb_internal.raise_error(15405, format('Cannot use the special principal ''%s''.', p_login));
    ELSIF strpos(p_login, '\') = 0 AND NOT EXISTS (SELECT FROM ssb.principal AS p WHERE p.kind = 'LOGIN' AND lower(p.name) = lower(p_login))
          AND (ssb_internal.is_fixed_principal(p_login) OR ssb_internal.role_of(p_login) IS NULL) THEN
        PERFORM ssb_internal.raise_error(15007, format('''%s'' is not a valid login or you do not have permission.', p_login));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.require_one_user(p_login text, p_user text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM ssb.principal AS p
                WHERE p.kind = 'USER' AND p.database_id = p_database_id AND lower(p.login) = lower(p_login) AND lower(p.name) <> lower(p_user)) THEN
        PERFORM ssb_internal.raise_error(15063, 'The login already has an account under a different user name.');
    END IF;
END;
$$;

-- What an event calls a principal of the kind.
CREATE OR REPLACE FUNCTION ssb_internal.type_of_principal(p_kind text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE p_kind WHEN 'USER' THEN 'SQL USER' ELSE p_kind END;

-- The event of a role that has another member, or one less.
CREATE OR REPLACE FUNCTION ssb_internal.tell_of_member(p_action text, p_role text, p_member text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.tell_of_securable(p_action, 'ROLE_MEMBER', p_database_id, NULL, p_member,
        ssb_internal.type_of_principal(coalesce((SELECT p.kind FROM ssb.principal AS p
                                                  WHERE p.database_id = p_database_id AND lower(p.name) = lower(p_member)), 'USER')),
        format('<RoleName>%s</RoleName>', ssb_internal.xml_text(p_role)));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tell_of_member(text, text, text, integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.create_principal(name text, kind text, default_schema text DEFAULT NULL,
    login text DEFAULT NULL, certificate text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_kind text := upper(kind COLLATE "C");
    v_id integer;
    v_database_id integer := CASE WHEN upper(kind COLLATE "C") = 'LOGIN' THEN NULL ELSE ssb_internal.database_id_of(database) END;
BEGIN
    IF v_kind IS NULL OR v_kind NOT IN ('USER', 'LOGIN', 'ROLE', 'APPLICATION ROLE') THEN
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', kind), 15, 1,
                                         'A principal is a USER, LOGIN, ROLE or APPLICATION ROLE.');
    END IF;
    PERFORM ssb_internal.require_definition_right('ALTER ANY ' || v_kind, coalesce(v_database_id, 5));
    PERFORM ssb_internal.check_name(name);
    IF v_kind <> 'LOGIN' AND ssb_internal.is_fixed_principal(name) THEN
        PERFORM ssb_internal.raise_error(15023, format('User, group, or role ''%s'' already exists in the current database.', name));
    ELSIF v_kind = 'LOGIN' AND lower(name COLLATE "C") = 'sa' THEN
        PERFORM ssb_internal.raise_error(15025, format('The server principal ''%s'' already exists.', name));
    END IF;
    IF v_kind = 'USER' AND login IS NOT NULL THEN
        PERFORM ssb_internal.require_login(login);
    END IF;
    -- A login's certificate is one of master.
    IF certificate IS NOT NULL AND NOT EXISTS (SELECT FROM ssb.certificate AS c
            WHERE c.database_id = coalesce(v_database_id, 1) AND lower(c.name) = lower(certificate)) THEN
        PERFORM ssb_internal.raise_not_found('find', 'certificate', certificate);
    END IF;
    -- Roles of PostgreSQL are principals too, by their oid: the first superuser's is 10. 16384 to 16393 are the fixed roles.
    LOOP
        v_id := nextval('ssb.principal_principal_id_seq');
        EXIT WHEN v_id NOT BETWEEN 16384 AND 16393 AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = v_id::oid);
    END LOOP;
    INSERT INTO ssb.principal (principal_id, database_id, name, kind, default_schema, login, certificate, owner)
    VALUES (v_id, v_database_id, name, v_kind, default_schema, login, certificate,
            CASE v_kind WHEN 'ROLE' THEN ssb_internal.owner_or_caller(NULL, v_database_id) END)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND AND v_kind = 'LOGIN' THEN
        PERFORM ssb_internal.raise_error(15025, format('The server principal ''%s'' already exists.', name));
    ELSIF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(15023, format('User, group, or role ''%s'' already exists in the current database.', name));
    END IF;
    PERFORM ssb_internal.require_one_user(login, name, v_database_id);
    PERFORM ssb_internal.tell_of_securable('CREATE', replace(v_kind, ' ', '_'), v_database_id, NULL, name, ssb_internal.type_of_principal(v_kind));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.principal_to_change(p_verb text, p_name text, p_kind text, p_database_id integer)
RETURNS ssb.principal
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_principal ssb.principal;
BEGIN
    SELECT p.* INTO v_principal FROM ssb.principal AS p
     WHERE lower(p.name) = lower(p_name) AND p.kind = upper(p_kind COLLATE "C") AND p.database_id IS NOT DISTINCT FROM p_database_id;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, lower(p_kind COLLATE "C"), p_name);
    END IF;
    IF ssb_internal.is_member(ssb_internal.caller(), v_principal.owner, p_database_id) IS NOT TRUE THEN
        PERFORM ssb_internal.require_definition_right('ALTER ANY ' || upper(p_kind COLLATE "C"), coalesce(p_database_id, 5));
    END IF;
    RETURN v_principal;
END;
$$;

-- Whether the caller may decide what the owner decides: who is somebody with rights over everything.
CREATE OR REPLACE FUNCTION ssb_internal.is_owner_like(p_database_id integer)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE') OR ssb_internal.is_member(ssb_internal.caller(), 'db_owner', p_database_id);
$$;

-- Whatever a principal has (grants, memberships, what it owns) goes with its name: names are how it is known.
-- A name that a PostgreSQL role has as well is that role, whose rights only the owner gives away, where
-- he may become it, as queues run their programs as it; and
-- a role that is there keeps its name.
CREATE OR REPLACE FUNCTION ssb_internal.rename_principal(p_principal ssb.principal, p_new_name text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old text := lower(p_principal.name);
    v_id integer := p_principal.database_id;
    v_table text;
BEGIN
    PERFORM ssb_internal.check_name(p_new_name);
    IF p_principal.kind = 'LOGIN' THEN
        UPDATE ssb.principal AS p SET login = p_new_name WHERE lower(p.login) = v_old;
        RETURN;
    ELSIF ssb_internal.is_fixed_principal(p_new_name) THEN
        PERFORM ssb_internal.raise_error(15023, format('User, group, or role ''%s'' already exists in the current database.', p_new_name));
    ELSIF ssb_internal.role_of(p_principal.name) IS DISTINCT FROM ssb_internal.role_of(p_new_name) THEN
        IF ssb_internal.role_of(p_principal.name) IS NOT NULL THEN
            PERFORM ssb_internal.raise_error(15151, format('Cannot alter the %s ''%s'', because it does not exist or you do not have permission.',
                                                           lower(p_principal.kind COLLATE "C"), p_principal.name), 16, 1,
                format('It is the PostgreSQL role %s: ALTER ROLE %1$I RENAME TO … first.', ssb_internal.role_of(p_principal.name)));
        ELSIF NOT ssb_internal.is_owner_like(v_id) OR NOT ssb_internal.may_act_as(p_new_name, v_id) THEN
            PERFORM ssb_internal.raise_error(15247, 'User does not have permission to perform this action.');
        END IF;
    END IF;
    -- Where the new name has something already, a denial counts, then the wider grant.
    UPDATE ssb.permission AS n
       SET state = CASE WHEN 'D' IN (n.state, o.state) THEN 'D' WHEN 'W' IN (n.state, o.state) THEN 'W' ELSE 'G' END
      FROM ssb.permission AS o
     WHERE (n.class, n.major_id, n.privilege, n.database_id) = (o.class, o.major_id, o.privilege, o.database_id)
       AND n.database_id = v_id AND n.grantee = p_new_name AND lower(o.grantee) = v_old AND o.grantee <> n.grantee;
    DELETE FROM ssb.permission AS o
     USING ssb.permission AS n
     WHERE (n.class, n.major_id, n.privilege, n.database_id) = (o.class, o.major_id, o.privilege, o.database_id)
       AND n.database_id = v_id AND n.grantee = p_new_name AND lower(o.grantee) = v_old AND o.grantee <> n.grantee;
    UPDATE ssb.permission AS p SET grantee = p_new_name WHERE p.database_id = v_id AND lower(p.grantee) = v_old;
    UPDATE ssb.permission AS p SET grantor = p_new_name WHERE p.database_id = v_id AND lower(p.grantor) = v_old;
    INSERT INTO ssb.role_member (database_id, role, member)
    SELECT m.database_id, CASE WHEN lower(m.role) = v_old THEN p_new_name ELSE m.role END,
           CASE WHEN lower(m.member) = v_old THEN p_new_name ELSE m.member END
      FROM ssb.role_member AS m WHERE m.database_id = v_id AND v_old IN (lower(m.role), lower(m.member))
    ON CONFLICT DO NOTHING;
    DELETE FROM ssb.role_member AS m
     WHERE m.database_id = v_id AND v_old IN (lower(m.role), lower(m.member)) AND v_old <> lower(p_new_name);
    FOREACH v_table IN ARRAY ssb_internal.owned_kinds() LOOP
        EXECUTE format('UPDATE ssb.%I SET owner = $1 WHERE database_id = $2 AND lower(owner) = $3', v_table)
          USING p_new_name, v_id, v_old;
    END LOOP;
    UPDATE ssb.queue AS q SET execute_as = p_new_name WHERE q.database_id = v_id AND lower(q.execute_as) = v_old;
    UPDATE ssb.remote_service_binding AS b SET user_name = p_new_name WHERE b.database_id = v_id AND lower(b.user_name) = v_old;
END;
$$;

-- Tables whose rows belong to a principal of their database.
CREATE OR REPLACE FUNCTION ssb_internal.owned_kinds()
RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT '{service,queue,contract,message_type,route,remote_service_binding,event_notification,certificate,schema_of_database,principal}'::text[];
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_principal(name text, kind text, new_name text DEFAULT NULL,
    default_schema text DEFAULT NULL, login text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_principal ssb.principal := ssb_internal.principal_to_change('alter', name, kind,
        CASE WHEN upper(kind COLLATE "C") = 'LOGIN' THEN NULL ELSE ssb_internal.database_id_of(database) END);
BEGIN
    IF login IS NOT NULL THEN
        PERFORM ssb_internal.require_login(login);
        PERFORM ssb_internal.require_one_user(login, name, v_principal.database_id);
    END IF;
    UPDATE ssb.principal AS p
       SET name = coalesce(new_name, p.name), default_schema = coalesce(default_schema, p.default_schema),
           login = coalesce(login, p.login)
     WHERE p.principal_id = v_principal.principal_id;
    IF new_name IS NOT NULL THEN
        PERFORM ssb_internal.rename_principal(v_principal, new_name);
        PERFORM ssb_internal.mirror_grants_of_database(v_principal.database_id);
    END IF;
    PERFORM ssb_internal.tell_of_securable('ALTER', replace(v_principal.kind, ' ', '_'), v_principal.database_id, NULL, v_principal.name,
                                           ssb_internal.type_of_principal(v_principal.kind));
EXCEPTION WHEN unique_violation THEN
    PERFORM ssb_internal.raise_error(15023, format('User, group, or role ''%s'' already exists in the current database.', new_name));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_principal(name text, kind text, if_exists boolean DEFAULT false,
                                                       database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := CASE WHEN upper(kind COLLATE "C") = 'LOGIN' THEN NULL ELSE ssb_internal.database_id_of(database) END;
    v_principal ssb.principal;
    v_table text;
    v_owns boolean;
BEGIN
    IF upper(kind COLLATE "C") IN ('USER', 'ROLE') AND ssb_internal.is_fixed_principal(name)
       OR upper(kind COLLATE "C") = 'LOGIN' AND lower(name COLLATE "C") = 'sa' THEN
        PERFORM ssb_internal.raise_error(15150, format('Cannot drop the %s ''%s''.', lower(kind COLLATE "C"), name));
    END IF;
    IF if_exists AND NOT EXISTS (SELECT FROM ssb.principal AS p
                                  WHERE lower(p.name) = lower(name) AND p.kind = upper(kind COLLATE "C")
                                    AND p.database_id IS NOT DISTINCT FROM v_database_id) THEN
        RETURN;
    END IF;
    v_principal := ssb_internal.principal_to_change('drop', name, kind, v_database_id);
    DELETE FROM ssb.principal AS p WHERE p.principal_id = v_principal.principal_id;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('drop', lower(kind COLLATE "C"), name);
    END IF;
    PERFORM ssb_internal.tell_of_securable('DROP', replace(v_principal.kind, ' ', '_'), v_database_id, NULL, v_principal.name,
                                           ssb_internal.type_of_principal(v_principal.kind));
    IF v_principal.kind = 'LOGIN' THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM ssb.role_member AS m WHERE m.database_id = v_database_id AND lower(m.role) = lower(name)) THEN
        PERFORM ssb_internal.raise_error(15144, 'The role has members. It must be empty before it can be dropped.');
    END IF;
    -- Whoever gets the name later must find nothing of it. (A PostgreSQL role of that name stays: its user goes all the same.)
    FOREACH v_table IN ARRAY ssb_internal.owned_kinds() LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ssb.%I WHERE database_id = $1 AND lower(owner) = lower($2))', v_table)
           INTO v_owns USING v_database_id, name;
        IF v_owns AND v_table = 'principal' THEN
            PERFORM ssb_internal.raise_error(15421, 'The database principal owns a database role and cannot be dropped.');
        ELSIF v_owns AND v_table = 'queue' THEN
            PERFORM ssb_internal.raise_error(15183, 'The database principal owns objects in the database and cannot be dropped.');
        ELSIF v_owns THEN
            PERFORM ssb_internal.raise_error(15138, format('The database principal owns a %s in the database, and cannot be dropped.',
                CASE v_table WHEN 'schema_of_database' THEN 'schema' ELSE replace(v_table, '_', ' ') END));
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM ssb.queue AS q WHERE q.database_id = v_database_id AND lower(q.execute_as) = lower(name)) THEN
        PERFORM ssb_internal.raise_error(15136, 'The database principal is set as the execution context of one or more procedures, functions, '
                                                'or event notifications and cannot be dropped.', 16, 1,
                                         'Queues activate as this user: see sys.service_queues.');
    ELSIF EXISTS (SELECT FROM ssb.remote_service_binding AS b WHERE b.database_id = v_database_id AND lower(b.user_name) = lower(name)) THEN
        PERFORM ssb_internal.raise_error(33015, 'The database principal is referenced by a remote service binding in the database, and cannot '
                                                'be dropped.');
    END IF;
    DELETE FROM ssb.role_member AS m
     WHERE m.database_id = v_database_id AND lower(name) IN (lower(m.role), lower(m.member));
    DELETE FROM ssb.permission AS p WHERE lower(p.grantee) = lower(name) AND p.database_id = v_database_id;
    PERFORM ssb_internal.mirror_grants_of_database(v_database_id);
END;
$$;

-- A role whose members the caller may change: its owner may.
CREATE OR REPLACE FUNCTION ssb_internal.require_role(p_role text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ssb.principal AS p
                    WHERE lower(p.name) = lower(p_role) AND p.kind = 'ROLE' AND p.database_id = p_database_id
                      AND ssb_internal.is_member(ssb_internal.caller(), p.owner, p_database_id)) THEN
        PERFORM ssb_internal.require_definition_right('ALTER ANY ROLE', p_database_id);
    END IF;
    PERFORM ssb_internal.require_principal('alter', 'role', p_role, p_database_id);
END;
$$;

-- The errors of sp_addrolemember, sp_droprolemember and sp_droprole, which are others than those of ALTER ROLE and DROP ROLE.
CREATE OR REPLACE FUNCTION ssb_internal.require_names_of_role(role text, member text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    IF NOT ssb_internal.is_principal(role, v_database_id) THEN
        PERFORM ssb_internal.raise_error(15014, format('The role ''%s'' does not exist in the current database.', role));
    ELSIF member IS NOT NULL AND NOT ssb_internal.is_principal(member, v_database_id) THEN
        PERFORM ssb_internal.raise_error(15410, format('User or role ''%s'' does not exist in this database.', member), 11);
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.add_member(role text, member text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_role(role, v_database_id);
    PERFORM ssb_internal.require_principal('add', 'principal', member, v_database_id);
    -- Members of db_owner may do everything, and those of a PostgreSQL role own what it owns.
    IF (ssb_internal.role_of(role) IS NOT NULL OR NOT EXISTS (SELECT FROM ssb.principal AS p
                                                               WHERE lower(p.name) = lower(role) AND p.kind = 'ROLE'
                                                                 AND p.database_id = v_database_id))
       AND NOT ssb_internal.is_owner_like(v_database_id) THEN
        PERFORM ssb_internal.raise_error(15247, 'User does not have permission to perform this action.');
    END IF;
    -- The database's owner is a member of db_owner: with that in one of his own roles there would be a circle without a row for it.
    IF lower(member COLLATE "C") <> 'guest' AND ssb_internal.is_fixed_principal(member) THEN
        PERFORM ssb_internal.raise_error(15405, format('Cannot use the special principal ''%s''.', member));
    END IF;
    PERFORM ssb_internal.hold_principal(n, v_database_id) FROM unnest(ARRAY[role, member]) AS n;
    PERFORM ssb_internal.require_role(role, v_database_id);
    PERFORM ssb_internal.require_principal('add', 'principal', member, v_database_id);
    -- A circle of memberships would never end when somebody asks who is in it. Two at once could make one.
    LOCK TABLE ssb_locks.members IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (
        WITH RECURSIVE above (name) AS (
            SELECT lower(role)
            UNION
            SELECT lower(m.role) FROM above AS a JOIN ssb.role_member AS m ON lower(m.member) = a.name
             WHERE m.database_id = v_database_id
        )
        SELECT FROM above AS a WHERE a.name = lower(member))
    THEN
        PERFORM ssb_internal.raise_error(15413, 'Cannot make a role a member of itself.', 11);
    END IF;
    INSERT INTO ssb.role_member (database_id, role, member) VALUES (v_database_id, role, member) ON CONFLICT DO NOTHING;
    PERFORM ssb_internal.mirror_grants_of_database(v_database_id);
    PERFORM ssb_internal.tell_of_member('ADD', role, member, v_database_id);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_member(role text, member text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_role(role, v_database_id);
    PERFORM ssb_internal.require_principal('drop', 'principal', member, v_database_id);
    DELETE FROM ssb.role_member AS m
     WHERE m.database_id = v_database_id AND lower(m.role) = lower(role) AND lower(m.member) = lower(member);
    PERFORM ssb_internal.mirror_grants_of_database(v_database_id);
    PERFORM ssb_internal.tell_of_member('DROP', role, member, v_database_id);
END;
$$;
