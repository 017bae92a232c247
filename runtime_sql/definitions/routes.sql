-- ROUTE, REMOTE SERVICE BINDING, BROKER PRIORITY.

-- Where another instance is: as SQL Server writes it (its pages leave the port out in places, and nothing connects to it: the
-- daemon is told where such an address is), or a connection URI of PostgreSQL.
CREATE OR REPLACE FUNCTION ssb_internal.is_address(p_address text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT p_address ~* '^tcp://([^]:/[]+|\[[0-9a-f:.%]+\])(:[0-9]+)?/?$' OR p_address ~ '^postgres(ql)?://[^ ]*$'; $$;

-- A URI's user:password@, or password (of what kind ever) among its parameters.
CREATE OR REPLACE FUNCTION ssb_internal.has_password(p_address text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_address ~ '^postgres(ql)?://'
       AND (p_address ~ '^[a-z]+://[^/?@]*:[^/?]*@' OR p_address ~ '[?&]((ssl)?password|[^=&]*%[^=&]*)=');
$$;

-- Checks what CREATE and ALTER ROUTE share.
CREATE OR REPLACE FUNCTION ssb_internal.check_route(p_name text, p_address text, p_service_name text, p_broker_instance text,
                                                    p_lifetime integer, p_mirror_address text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_address = '' THEN
        PERFORM ssb_internal.raise_error(9659, format('The ADDRESS of route ''%s'' cannot be empty.', p_name));
    ELSIF length(p_address) > 256 THEN
        PERFORM ssb_internal.raise_error(9660, format('The ADDRESS of route ''%s'' must be less than 256 characters long.', p_name));
    ELSIF upper(p_address COLLATE "C") NOT IN ('LOCAL', 'TRANSPORT') AND NOT ssb_internal.is_address(p_address) THEN
        PERFORM ssb_internal.raise_error(9744, format('The ADDRESS of route "%s" is not a valid address.', p_name), 16, 1,
                                         'An address is LOCAL, TRANSPORT, TCP://host:port or postgresql://….');
    ELSIF p_mirror_address IS NOT NULL AND upper(p_address COLLATE "C") IN ('LOCAL', 'TRANSPORT') THEN
        PERFORM ssb_internal.raise_error(9743, format('The ADDRESS of route "%s" must be an address when using mirroring.', p_name));
    ELSIF NOT ssb_internal.is_address(p_mirror_address) THEN
        PERFORM ssb_internal.raise_error(9744, format('The MIRROR_ADDRESS of route "%s" is not a valid address.', p_name), 16, 2,
                                         'An address is TCP://host:port or postgresql://….');
    ELSIF ssb_internal.has_password(p_address) OR ssb_internal.has_password(p_mirror_address) THEN
        PERFORM ssb_internal.raise_error(9744, format('The address of route "%s" is not valid: it has a password in it.', p_name), 16, 3,
                                         'Everybody may read sys.routes. The daemon finds passwords in its own password file '
                                         '(~/.pgpass) or service file.');
    ELSIF (p_address ~ '^postgres' OR p_mirror_address ~ '^postgres')
          AND NOT pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE') THEN
        -- The daemon would go there with whatever its login may do, to a database whose ssb may be anybody's.
        PERFORM ssb_internal.raise_error(9744, format('The address of route "%s" is not valid: a connection URI is for the owner of the '
                                                      'runtime to say.', p_name), 16, 4,
                                         'TCP://host:port is for everybody who may create routes; the daemon''s --address says where that is.');
    ELSIF upper(p_address COLLATE "C") = 'TRANSPORT' AND p_service_name IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(9745, format('The ADDRESS of route ''%s'' cannot be ''TRANSPORT'' when SERVICE_NAME is specified.',
                                                      p_name));
    ELSIF p_service_name = '' THEN
        PERFORM ssb_internal.raise_error(9659, format('The SERVICE_NAME of route ''%s'' cannot be empty.', p_name));
    ELSIF p_broker_instance = '' THEN
        PERFORM ssb_internal.raise_error(9659, format('The BROKER_INSTANCE of route ''%s'' cannot be empty.', p_name));
    ELSIF length(p_service_name) > 256 THEN
        PERFORM ssb_internal.raise_error(9660, format('The SERVICE_NAME of route ''%s'' must be less than 256 characters long.', p_name));
    ELSIF length(p_broker_instance) > 128 THEN
        PERFORM ssb_internal.raise_error(9660, format('The BROKER_INSTANCE of route ''%s'' must be less than 128 characters long.', p_name));
    ELSIF p_broker_instance IS NOT NULL AND p_service_name IS NULL THEN
        PERFORM ssb_internal.raise_error(9662, format('Cannot specify BROKER_INSTANCE without SERVICE_NAME in route "%s".', p_name));
    ELSIF p_broker_instance IS NOT NULL AND p_service_name = 'SQL/ServiceBroker/BrokerConfiguration' THEN
        PERFORM ssb_internal.raise_error(9662, format('Cannot specify BROKER_INSTANCE in route "%s": it is to a Broker Configuration Notice '
                                                      'service.', p_name), 16, 2, 'Leave BROKER_INSTANCE out.');
    ELSIF p_lifetime < 1 THEN
        PERFORM ssb_internal.raise_error(9746, format('The LIFETIME of route ''%s'' must be in the range 1 to 2147483647.', p_name));
    ELSIF p_mirror_address IS NOT NULL AND (p_service_name IS NULL OR p_broker_instance IS NULL) THEN
        PERFORM ssb_internal.raise_error(9661, format('The SERVICE_NAME and BROKER_INSTANCE of route "%s" must be specified when using '
                                                      'mirroring.', p_name));
    ELSIF lower(p_mirror_address) = lower(p_address) THEN
        PERFORM ssb_internal.raise_error(9747, format('The ADDRESS and MIRROR_ADDRESS of route ''%s'' cannot be the same.', p_name));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.create_route(name text, address text, service_name text DEFAULT NULL,
    broker_instance text DEFAULT NULL, lifetime integer DEFAULT NULL, mirror_address text DEFAULT NULL,
    owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE ROUTE', v_database_id);
    PERFORM ssb_internal.check_name(name);
    PERFORM ssb_internal.check_route(name, coalesce(address, ''), service_name, broker_instance, lifetime, mirror_address);
    INSERT INTO ssb.route (database_id, name, service_name, broker_instance, expires_at, address, mirror_address, owner)
    VALUES (v_database_id, name, service_name, broker_instance, clock_timestamp() + make_interval(secs => lifetime), address,
            mirror_address, ssb_internal.owner_or_caller(owner, v_database_id))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_exists('route', name);
    END IF;
    PERFORM ssb_internal.note_address(address, mirror_address);
    PERFORM ssb_internal.follow_routes_at_commit(v_database_id, service_name);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.route_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.route
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_route ssb.route;
BEGIN
    SELECT r.* INTO v_route FROM ssb.route AS r WHERE r.database_id = p_database_id AND lower(r.name) = lower(p_name);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'route', p_name);
    END IF;
    PERFORM ssb_internal.require_permission(p_verb, 'ROUTE', v_route.route_id, p_name, 'ALTER', v_route.owner, p_database_id);
    RETURN v_route;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_route(name text, address text DEFAULT NULL, service_name text DEFAULT NULL,
    broker_instance text DEFAULT NULL, lifetime integer DEFAULT NULL, mirror_address text DEFAULT NULL,
    database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_route ssb.route := ssb_internal.route_to_change('alter', name, v_database_id);
BEGIN
    PERFORM ssb_internal.check_route(name, coalesce(address, v_route.address), coalesce(service_name, v_route.service_name),
                                     coalesce(broker_instance, v_route.broker_instance), lifetime,
                                     coalesce(mirror_address, v_route.mirror_address));
    UPDATE ssb.route AS r
       SET address = coalesce(address, r.address),
           service_name = coalesce(service_name, r.service_name),
           broker_instance = coalesce(broker_instance, r.broker_instance),
           expires_at = coalesce(clock_timestamp() + make_interval(secs => lifetime), r.expires_at),
           mirror_address = coalesce(mirror_address, r.mirror_address)
     WHERE r.route_id = v_route.route_id AND r.database_id = v_database_id;
    IF NOT FOUND THEN                  -- who dropped it was waited for
        PERFORM ssb_internal.raise_not_found('alter', 'route', name);
    END IF;
    PERFORM ssb_internal.note_address(coalesce(address, v_route.address), coalesce(mirror_address, v_route.mirror_address));
    PERFORM ssb_internal.follow_routes_at_commit(v_database_id, v_route.service_name, coalesce(service_name, v_route.service_name));
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_route(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_route ssb.route := ssb_internal.route_to_change('drop', name, v_database_id);
BEGIN
    DELETE FROM ssb.route AS r WHERE r.route_id = v_route.route_id AND r.database_id = v_database_id;
    IF NOT FOUND THEN                  -- as in alter_route
        PERFORM ssb_internal.raise_not_found('drop', 'route', name);
    END IF;
    DELETE FROM ssb.permission AS p WHERE p.class = 'ROUTE' AND p.major_id = v_route.route_id AND p.database_id = v_database_id;
    PERFORM ssb_internal.follow_routes_at_commit(v_database_id, v_route.service_name);
END;
$$;

-- A binding's user is whose certificate the other side shows, and no role owns one.
CREATE OR REPLACE FUNCTION ssb_internal.require_certificate_owner(p_user text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.require_principal(p_user, p_database_id);
    IF lower(p_user COLLATE "C") = 'public' OR (lower(p_user COLLATE "C") LIKE 'db\_%' AND ssb_internal.is_fixed_principal(p_user))
       OR EXISTS (SELECT FROM ssb.principal AS p
                   WHERE lower(p.name) = lower(p_user) AND p.database_id = p_database_id AND p.kind = 'ROLE') THEN
        PERFORM ssb_internal.raise_error(28083, format('The database principal ''%s'' cannot be used in a remote service binding because it '
            'cannot own certificates. Remote service bindings cannot be associated with 1) roles, 2) groups or 3) principals mapped to '
            'certificates or asymmetric keys.', p_user));
    END IF;
END;
$$;

-- Which user a remote service is: its messages are taken only from a role that is, or has, that one (as whom
-- the other instance's daemon connects). Inside this instance dialogs need none.
CREATE OR REPLACE FUNCTION ssb_internal.create_remote_service_binding(name text, to_service text, user_name text,
    anonymous boolean DEFAULT false, owner text DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
BEGIN
    PERFORM ssb_internal.require_definition_right('CREATE REMOTE SERVICE BINDING', v_database_id);
    PERFORM ssb_internal.check_name(name);
    PERFORM ssb_internal.check_remote_service(to_service);
    PERFORM ssb_internal.require_certificate_owner(user_name, v_database_id);
    IF EXISTS (SELECT FROM ssb.remote_service_binding AS b WHERE b.database_id = v_database_id AND lower(b.name) = lower(name)) THEN
        PERFORM ssb_internal.raise_exists('remote service binding', name);
    END IF;
    INSERT INTO ssb.remote_service_binding (database_id, name, to_service, user_name, is_anonymous, owner)
    VALUES (v_database_id, name, to_service, user_name, coalesce(anonymous, false), ssb_internal.owner_or_caller(owner, v_database_id))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_error(9619, format('Failed to create remote service binding ''%s''. A remote service binding for service '
                                                      '''%s'' already exists.', name, to_service));
    END IF;
    PERFORM ssb_internal.retry_secured();
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.binding_to_change(p_verb text, p_name text, p_database_id integer)
RETURNS ssb.remote_service_binding
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_binding ssb.remote_service_binding;
BEGIN
    SELECT b.* INTO v_binding FROM ssb.remote_service_binding AS b WHERE b.database_id = p_database_id AND lower(b.name) = lower(p_name);
    IF NOT FOUND THEN
        PERFORM ssb_internal.raise_not_found(p_verb, 'remote service binding', p_name);
    END IF;
    PERFORM ssb_internal.require_permission(p_verb, 'REMOTE SERVICE BINDING', v_binding.binding_id, p_name, 'ALTER', v_binding.owner,
                                            p_database_id);
    RETURN v_binding;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.alter_remote_service_binding(name text, user_name text DEFAULT NULL,
    anonymous boolean DEFAULT NULL, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_binding ssb.remote_service_binding := ssb_internal.binding_to_change('alter', name, v_database_id);
BEGIN
    IF user_name IS NOT NULL THEN
        PERFORM ssb_internal.require_certificate_owner(user_name, v_database_id);
    END IF;
    UPDATE ssb.remote_service_binding AS b
       SET user_name = coalesce(user_name, b.user_name), is_anonymous = coalesce(anonymous, b.is_anonymous)
     WHERE b.binding_id = v_binding.binding_id;
    PERFORM ssb_internal.retry_secured();
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_remote_service_binding(name text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_binding ssb.remote_service_binding := ssb_internal.binding_to_change('drop', name, ssb_internal.database_id_of(database));
BEGIN
    DELETE FROM ssb.remote_service_binding AS b WHERE b.binding_id = v_binding.binding_id;
END;
$$;
