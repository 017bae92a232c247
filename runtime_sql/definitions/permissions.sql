-- GRANT, DENY, REVOKE, ALTER AUTHORIZATION.
--
-- On the broker's own objects they are rows of ssb.permission. On schemas, tables
-- and procedures they are PostgreSQL's own GRANT and REVOKE, run with the caller's
-- rights, for grantees that are PostgreSQL roles.

-- Which object is meant. 15151 when it does not exist.
CREATE OR REPLACE FUNCTION ssb_internal.find_securable(p_class text, p_name text, p_database_id integer,
                                                       OUT class text, OUT major_id integer, OUT owner text, OUT relation text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row record;
BEGIN
    class := upper(p_class COLLATE "C");
    CASE class
    WHEN 'MESSAGE TYPE' THEN
        SELECT t.message_type_id AS id, t.owner INTO v_row FROM ssb_internal.find_message_type(p_database_id, p_name) AS t;
    WHEN 'CONTRACT' THEN
        SELECT c.contract_id AS id, c.owner INTO v_row FROM ssb_internal.find_contract(p_database_id, p_name) AS c;
    WHEN 'SERVICE' THEN
        SELECT s.service_id AS id, s.owner INTO v_row FROM ssb_internal.find_service(p_database_id, p_name) AS s;
    WHEN 'ROUTE' THEN
        SELECT r.route_id AS id, r.owner INTO v_row FROM ssb.route AS r WHERE r.database_id = p_database_id AND lower(r.name) = lower(p_name);
    WHEN 'REMOTE SERVICE BINDING' THEN
        SELECT b.binding_id AS id, b.owner INTO v_row FROM ssb.remote_service_binding AS b
         WHERE b.database_id = p_database_id AND lower(b.name) = lower(p_name);
    WHEN 'CERTIFICATE' THEN
        SELECT c.certificate_id AS id, c.owner INTO v_row FROM ssb.certificate AS c
         WHERE c.database_id = p_database_id AND lower(c.name) = lower(p_name);
    WHEN 'XML SCHEMA COLLECTION' THEN
        SELECT c.collection_id AS id, ssb_internal.runtime_owner()::text AS owner INTO v_row FROM ssb.xml_schema_collection AS c
          JOIN ssb_internal.split_name(p_name) AS n ON c.schema_name = n.schema_name AND c.name = n.object_name;
    WHEN 'ENDPOINT' THEN
        SELECT b.broker_endpoint_id AS id, b.owner INTO v_row FROM ssb.broker_endpoint AS b WHERE lower(b.name) = lower(p_name);
    WHEN 'DATABASE' THEN
        SELECT d.database_id AS id, d.owner INTO v_row FROM ssb.database AS d
         WHERE d.database_id = CASE WHEN p_name IS NULL THEN p_database_id ELSE ssb_internal.find_database(p_name) END;
    WHEN 'SERVER' THEN
        SELECT 0 AS id, ssb_internal.runtime_owner()::text AS owner INTO v_row;
    WHEN 'USER', 'LOGIN', 'ROLE' THEN
        PERFORM ssb_internal.require_principal(p_name, p_database_id);
        SELECT coalesce(max(p.principal_id), 0) AS id, coalesce(max(p.owner), ssb_internal.runtime_owner()::text) AS owner
          INTO v_row FROM ssb.principal AS p
         WHERE lower(p.name) = lower(p_name) AND coalesce(p.database_id, p_database_id) = p_database_id;
    WHEN 'OBJECT' THEN
        SELECT q.queue_id AS id, q.owner INTO v_row FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_name);
        IF FOUND THEN
            class := 'QUEUE';
        ELSE
            relation := p_name;
            RETURN;
        END IF;
    WHEN 'SCHEMA' THEN
        SELECT s.name INTO relation FROM ssb.schema_of_database AS s
         WHERE s.database_id = p_database_id AND (lower(s.schema_name) = lower(p_name) OR s.name = p_name);
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_not_found('find', 'schema', ssb_internal.tsql_schema(p_name));
        END IF;
        RETURN;
    ELSE
        PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', p_class), 15, 1);
    END CASE;
    IF v_row.id IS NULL THEN
        PERFORM ssb_internal.raise_not_found('find', lower(class COLLATE "C"), p_name);
    END IF;
    major_id := v_row.id;
    owner := v_row.owner;
END;
$$;

-- Those that only objects of the class have; NULL: it is none of the broker's.
CREATE OR REPLACE FUNCTION ssb_internal.broker_privileges(p_class text)
RETURNS text[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE p_class
        WHEN 'QUEUE' THEN '{RECEIVE,REFERENCES,SELECT}'::text[]
        WHEN 'SERVICE' THEN '{SEND}'::text[]
        WHEN 'CONTRACT' THEN '{REFERENCES}'::text[]
        WHEN 'MESSAGE TYPE' THEN '{REFERENCES}'::text[]
        WHEN 'ROUTE' THEN '{}'::text[]
        WHEN 'REMOTE SERVICE BINDING' THEN '{}'::text[] END;
$$;

-- Error 4606 for a permission that objects of the class do not have, 102 for one that no database and no server has.
CREATE OR REPLACE FUNCTION ssb_internal.check_privileges(p_class text, p_privileges text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_own text[] := coalesce(ssb_internal.broker_privileges(p_class), CASE p_class
        WHEN 'ENDPOINT' THEN '{CONNECT}'::text[]
        WHEN 'CERTIFICATE' THEN '{REFERENCES}'::text[]
        WHEN 'USER' THEN '{IMPERSONATE}'::text[]
        WHEN 'LOGIN' THEN '{IMPERSONATE}'::text[]
        WHEN 'ROLE' THEN '{}'::text[]
        WHEN 'XML SCHEMA COLLECTION' THEN '{EXECUTE,REFERENCES}'::text[] END);
    v_wrong text;
BEGIN
    IF v_own IS NOT NULL THEN
        SELECT upper(p COLLATE "C") INTO v_wrong FROM unnest(p_privileges) AS p
         WHERE upper(p COLLATE "C") <> ALL ('{ALL,ALL PRIVILEGES,ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'::text[] || v_own) LIMIT 1;
        IF FOUND THEN
            PERFORM ssb_internal.raise_error(4606, format('Granted or revoked privilege %s is not compatible with object.', v_wrong));
        END IF;
    ELSE
        -- The compiler knows each name (compiler/check/permissions.py); here the first word tells what is no permission at all.
        SELECT upper(p COLLATE "C") INTO v_wrong FROM unnest(p_privileges) AS p
         WHERE upper(p COLLATE "C") !~ ('^(ADMINISTER|ALL|ALTER|AUTHENTICATE|BACKUP|CHECKPOINT|CONNECT|CONTROL|CREATE|DELETE|DROP|ENABLE|EXEC|EXECUTE|'
                            'EXTERNAL|GENERATE|IMPERSONATE|INSERT|KILL|REFERENCES|SELECT|SHOWPLAN|SHUTDOWN|SUBSCRIBE|TAKE|'
                            'UNMASK|UNSAFE|UPDATE|VIEW)( [A-Z]+)*$') LIMIT 1;
        IF FOUND THEN
            PERFORM ssb_internal.raise_error(102, format('Incorrect syntax near ''%s''.', v_wrong), 15, 1,
                                             'expected a permission, such as SELECT, EXECUTE, SEND, RECEIVE or CONTROL');
        END IF;
    END IF;
END;
$$;

-- Whether a principal may give and take these permissions: it controls the object, or has each of them WITH GRANT OPTION.
CREATE OR REPLACE FUNCTION ssb_internal.may_grant(p_grantor text, p_class text, p_major_id integer, p_owner text, p_privileges text[],
                                                  p_database_id integer)
RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role name := ssb_internal.role_of(p_grantor);
    v_names text[] := (
        WITH RECURSIVE above (name) AS (
            VALUES ('public'), (lower(p_grantor))
            UNION
            SELECT lower(m.role) FROM above AS a JOIN ssb.role_member AS m ON lower(m.member) = a.name
             WHERE m.database_id = p_database_id
        )
        SELECT array_agg(a.name) FROM above AS a);
BEGIN
    IF v_names && ARRAY['dbo', 'db_owner', lower(p_owner)]
       -- sa, as generated scripts have it, is the runtime's owner.
       OR (lower(p_grantor COLLATE "C") = 'sa' AND p_class IN ('SERVER', 'LOGIN', 'ENDPOINT')
           AND pg_has_role(ssb_internal.caller(), ssb_internal.runtime_owner(), 'USAGE'))
       OR (v_role IS NOT NULL AND ssb_internal.has_permission(v_role, p_class, p_major_id, 'CONTROL', p_owner, p_database_id)) THEN
        RETURN true;
    END IF;
    RETURN NOT EXISTS (
        SELECT FROM unnest(p_privileges) AS w (privilege)
         WHERE NOT EXISTS (
            SELECT FROM ssb.permission AS p
             WHERE p.class = p_class AND p.major_id = p_major_id AND p.database_id = p_database_id
               AND ((p.privilege = upper(w.privilege COLLATE "C") AND p.state = 'W') OR (p.privilege = 'CONTROL' AND p.state IN ('G', 'W')))
               AND (lower(p.grantee) = ANY (v_names)
                    OR (v_role IS NOT NULL AND ssb_internal.is_member(v_role, p.grantee, p_database_id)))));
END;
$$;

-- Those of the grantees whose permissions can change; of the others SQL Server says so (4624), and goes on. Those of the fixed
-- database roles are what they are (4617).
CREATE OR REPLACE FUNCTION ssb_internal.grantable(p_grantees text[], p_tell boolean DEFAULT false)
RETURNS text[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_grantees text[] := ARRAY(SELECT g FROM unnest(p_grantees) AS g WHERE lower(g COLLATE "C") NOT IN ('dbo', 'sa', 'sys', 'information_schema'));
BEGIN
    IF EXISTS (SELECT FROM unnest(v_grantees) AS g
                WHERE lower(g COLLATE "C") LIKE 'db\_%' AND ssb_internal.is_fixed_principal(g)) THEN
        PERFORM ssb_internal.raise_error(4617, 'Cannot grant, deny or revoke permissions to or from special roles.');
    ELSIF p_tell AND cardinality(v_grantees) < cardinality(p_grantees) THEN
        PERFORM ssb_internal.print('Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself.');
    END IF;
    RETURN v_grantees;
END;
$$;

-- 15151 unless the caller may grant these permissions on a table, a module or a schema, as PostgreSQL will have it: where he may
-- not it would only warn, and what is told of it would not be so.
CREATE OR REPLACE FUNCTION ssb_internal.require_grantor(p_class text, p_relation text, p_privileges text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_caller CONSTANT name := ssb_internal.caller();
    v_owner oid;
    v_relation oid := CASE WHEN p_class <> 'SCHEMA' THEN to_regclass(p_relation) END;
    v_routine oid;
BEGIN
    IF p_class = 'SCHEMA' THEN
        SELECT n.nspowner INTO v_owner FROM pg_namespace AS n WHERE n.nspname = p_relation;
        IF EXISTS (SELECT FROM ssb.schema_of_database AS s
                    WHERE s.name = p_relation AND (ssb_internal.is_member(v_caller, s.owner, s.database_id)
                                                   OR ssb_internal.is_member(v_caller, 'db_owner', s.database_id))) THEN
            RETURN;
        END IF;
    ELSIF v_relation IS NOT NULL THEN
        SELECT c.relowner INTO v_owner FROM pg_class AS c WHERE c.oid = v_relation;
    ELSE
        SELECT p.proowner, p.oid INTO v_owner, v_routine FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE ARRAY[n.nspname::text, p.proname::text] = parse_ident(p_relation);
    END IF;
    IF pg_has_role(v_caller, v_owner, 'USAGE')
       OR (SELECT bool_and(coalesce(CASE
                      WHEN nullif(p.name, 'ALL') IS NULL THEN false
                      WHEN v_relation IS NOT NULL THEN has_table_privilege(v_caller, v_relation, p.name || ' WITH GRANT OPTION')
                      WHEN v_routine IS NOT NULL THEN has_function_privilege(v_caller, v_routine, p.name || ' WITH GRANT OPTION') END, false))
             FROM (SELECT ssb_internal.postgres_privilege(w, CASE WHEN v_relation IS NOT NULL THEN 'TABLE' ELSE 'ROUTINE' END) AS name
                     FROM unnest(p_privileges) AS w) AS p) THEN
        RETURN;
    END IF;
    PERFORM ssb_internal.raise_not_found('find', lower(p_class COLLATE "C"),
                                         CASE p_class WHEN 'SCHEMA' THEN ssb_internal.tsql_schema(p_relation) ELSE p_relation END);
END;
$$;

-- Before DENY or REVOKE: with CASCADE those lose a permission, too, to whom this grantee or they have passed it on; without, error
-- 4611 where the grantee might have.
CREATE OR REPLACE FUNCTION ssb_internal.take_what_was_passed_on(p_verb text, p_class text, p_major_id integer, p_privileges text[],
                                                                p_grantee text, p_database_id integer, p_grantor text, p_cascade boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_granted record;
BEGIN
    IF NOT p_cascade THEN
        IF EXISTS (SELECT FROM ssb.permission AS p
                    WHERE p.class = p_class AND p.major_id = p_major_id AND p.privilege = ANY (p_privileges)
                      AND lower(p.grantee) = lower(p_grantee) AND p.database_id = p_database_id AND p.state = 'W') THEN
            PERFORM ssb_internal.raise_error(4611, 'To revoke or deny grantable privileges, specify the CASCADE option.');
        END IF;
        RETURN;
    END IF;
    FOR v_granted IN
        WITH RECURSIVE passed AS (
            SELECT p.privilege, p.grantee FROM ssb.permission AS p
             WHERE p.class = p_class AND p.major_id = p_major_id AND p.privilege = ANY (p_privileges)
               AND lower(p.grantor) = lower(p_grantee) AND p.database_id = p_database_id
            UNION
            SELECT p.privilege, p.grantee FROM ssb.permission AS p
              JOIN passed AS o ON o.privilege = p.privilege AND lower(o.grantee) = lower(p.grantor)
             WHERE p.class = p_class AND p.major_id = p_major_id AND p.database_id = p_database_id)
        SELECT o.privilege, o.grantee FROM passed AS o WHERE lower(o.grantee) <> lower(p_grantee)
    LOOP
        IF p_verb = 'DENY' THEN
            UPDATE ssb.permission AS p SET state = 'D', grantor = p_grantor
             WHERE p.class = p_class AND p.major_id = p_major_id AND p.privilege = v_granted.privilege
               AND p.grantee = v_granted.grantee AND p.database_id = p_database_id;
        ELSE
            DELETE FROM ssb.permission AS p
             WHERE p.class = p_class AND p.major_id = p_major_id AND p.privilege = v_granted.privilege
               AND p.grantee = v_granted.grantee AND p.database_id = p_database_id;
        END IF;
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.take_what_was_passed_on(text, text, integer, text[], text, integer, text, boolean) FROM PUBLIC;

-- Keeps what has permissions from being dropped, to the end of the transaction, or waits for who is dropping it. False: it has gone.
-- Locks  its row
CREATE OR REPLACE FUNCTION ssb_internal.hold_securable(p_class text, p_major_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE p_class
    WHEN 'QUEUE' THEN PERFORM FROM ssb.queue AS q WHERE q.queue_id = p_major_id FOR KEY SHARE;
    WHEN 'SERVICE' THEN PERFORM FROM ssb.service AS s WHERE s.service_id = p_major_id FOR KEY SHARE;
    WHEN 'CONTRACT' THEN PERFORM FROM ssb.contract AS c WHERE c.contract_id = p_major_id FOR KEY SHARE;
    WHEN 'MESSAGE TYPE' THEN PERFORM FROM ssb.message_type AS t WHERE t.message_type_id = p_major_id FOR KEY SHARE;
    ELSE RETURN true;
    END CASE;
    RETURN FOUND;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.hold_securable(text, integer) FROM PUBLIC;

-- Writes the rows of one GRANT, DENY or REVOKE on the broker's objects. Returns
-- what PostgreSQL has to do itself: a table, procedure or schema; NULL: nothing.
CREATE OR REPLACE FUNCTION ssb_internal.change_permission(verb text, privileges text[], class text, name text, grantees text[],
                                                          grant_option boolean, database text, grantor text, cascade boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_object record;
    v_grantee text;
    v_privilege text;
    v_meant text[];
    v_queue ssb.queue;
    v_grantor text;
BEGIN
    IF grantees IS NULL OR privileges IS NULL OR array_position(privileges, NULL) IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.');
    END IF;
    FOREACH v_grantee IN ARRAY grantees LOOP
        PERFORM ssb_internal.require_principal('find', CASE upper(class COLLATE "C") WHEN 'ENDPOINT' THEN 'login' ELSE 'user' END, v_grantee, v_database_id);
    END LOOP;
    v_grantor := ssb_internal.owner_or_caller(grantor, v_database_id);
    SELECT o.* INTO v_object FROM ssb_internal.find_securable(class, name, v_database_id) AS o;
    IF v_object.relation IS NOT NULL THEN
        PERFORM ssb_internal.require_grantor(v_object.class, v_object.relation, privileges);
        PERFORM ssb_internal.grantable(grantees, true);
        PERFORM ssb_internal.tell_of_grant(verb, v_object.class, v_object.relation, v_database_id, privileges, grantees, v_grantor, grant_option);
        RETURN v_object.relation;
    END IF;
    PERFORM ssb_internal.check_privileges(v_object.class, privileges);
    -- Who has a permission WITH GRANT OPTION may pass it on and take it back, not deny it.
    IF NOT ssb_internal.may_grant(v_grantor, v_object.class, v_object.major_id, v_object.owner,
                                  CASE WHEN verb = 'DENY' THEN '{CONTROL}' ELSE privileges END, v_database_id) THEN
        IF grantor IS NOT NULL THEN
            PERFORM ssb_internal.raise_error(4613, 'Grantor does not have GRANT permission.');
        END IF;
        PERFORM ssb_internal.require_permission('find', v_object.class, v_object.major_id, name, 'CONTROL', v_object.owner, v_database_id);
    END IF;
    IF NOT ssb_internal.hold_securable(v_object.class, v_object.major_id) THEN
        PERFORM ssb_internal.raise_not_found('find', lower(v_object.class COLLATE "C"), name);
    END IF;
    FOREACH v_grantee IN ARRAY ssb_internal.grantable(grantees, true) LOOP
        PERFORM ssb_internal.hold_principal(v_grantee, v_database_id);
        PERFORM ssb_internal.require_principal('find', CASE v_object.class WHEN 'ENDPOINT' THEN 'login' ELSE 'user' END, v_grantee, v_database_id);
        FOREACH v_privilege IN ARRAY privileges LOOP
            -- ALL is not all there are: CONTROL, ALTER and their like are given and taken by name.
            v_meant := CASE WHEN upper(v_privilege COLLATE "C") NOT IN ('ALL', 'ALL PRIVILEGES') THEN ARRAY[upper(v_privilege COLLATE "C")]
                            WHEN v_object.class = 'QUEUE' THEN '{RECEIVE,REFERENCES,SELECT}'
                            WHEN v_object.class = 'SERVICE' THEN '{SEND}'
                            ELSE '{REFERENCES}'::text[] END;
            IF verb <> 'GRANT' THEN
                PERFORM ssb_internal.take_what_was_passed_on(verb, v_object.class, v_object.major_id, v_meant, v_grantee, v_database_id,
                                                             v_grantor, cascade);
            END IF;
            IF verb = 'GRANT OPTION' THEN
                UPDATE ssb.permission AS p SET state = 'G'
                 WHERE p.class = v_object.class AND p.major_id = v_object.major_id AND p.privilege = ANY (v_meant)
                   AND lower(p.grantee) = lower(v_grantee) AND p.database_id = v_database_id AND p.state = 'W';
                CONTINUE;
            END IF;
            -- Who may pass it on still may: only REVOKE GRANT OPTION FOR takes that.
            IF verb = 'GRANT' AND NOT grant_option THEN
                v_meant := ARRAY(SELECT m FROM unnest(v_meant) AS m
                                  WHERE NOT EXISTS (SELECT FROM ssb.permission AS p
                                                     WHERE p.class = v_object.class AND p.major_id = v_object.major_id AND p.privilege = m
                                                       AND lower(p.grantee) = lower(v_grantee) AND p.database_id = v_database_id AND p.state = 'W'));
            END IF;
            DELETE FROM ssb.permission AS p
             WHERE p.class = v_object.class AND p.major_id = v_object.major_id AND p.privilege = ANY (v_meant)
               AND lower(p.grantee) = lower(v_grantee) AND p.database_id = v_database_id;
            IF verb <> 'REVOKE' THEN
                INSERT INTO ssb.permission (database_id, class, major_id, privilege, grantee, state, grantor)
                SELECT v_database_id, v_object.class, v_object.major_id, p.privilege,
                       CASE WHEN lower(v_grantee COLLATE "C") = 'public' THEN 'public' ELSE v_grantee END,
                       CASE WHEN verb = 'DENY' THEN 'D' WHEN grant_option THEN 'W' ELSE 'G' END, v_grantor
                  FROM unnest(v_meant) AS p (privilege)
                ON CONFLICT DO NOTHING;     -- another session's, of now: it gets this one's state
                UPDATE ssb.permission AS p SET state = CASE WHEN verb = 'DENY' THEN 'D' WHEN grant_option THEN 'W' ELSE 'G' END, grantor = v_grantor
                 WHERE p.class = v_object.class AND p.major_id = v_object.major_id AND p.privilege = ANY (v_meant)
                   AND lower(p.grantee) = lower(v_grantee) AND p.database_id = v_database_id
                   AND p.state <> CASE WHEN verb = 'DENY' THEN 'D' WHEN grant_option THEN 'W' ELSE 'G' END;
            END IF;
        END LOOP;
    END LOOP;
    IF v_object.class = 'QUEUE' THEN
        SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = v_object.major_id;
        PERFORM ssb_internal.mirror_receive_grants(v_queue);
    ELSIF v_object.class = 'DATABASE' THEN
        PERFORM ssb_internal.mirror_grants_of_database(v_object.major_id);
    ELSIF v_object.class = 'SERVICE' THEN
        -- What was refused for want of SEND may go now.
        PERFORM ssb_internal.deliver_waiting_for_queue(s.queue_id) FROM ssb.service AS s WHERE s.service_id = v_object.major_id;
    END IF;
    PERFORM ssb_internal.tell_of_grant(verb, v_object.class, name, v_database_id, privileges, grantees, v_grantor, grant_option);
    RETURN NULL;
END;
$$;

-- RECEIVE as USAGE on the queue's order sequence (SELECT on it would be everybody's who is
-- in pg_read_all_data), SELECT as SELECT on its view.
-- Where anybody is denied, or a grant reaches somebody through T-SQL's own roles,
-- nothing is mirrored and every look goes to the tables.
-- Locks  the queue's row
CREATE OR REPLACE FUNCTION ssb_internal.mirror_receive_grants(p_queue ssb.queue)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_role text;
    v_privilege text;
    v_object text;
BEGIN
    -- Of two that change grants at once the second sees what the first has done.
    PERFORM FROM ssb.queue AS q WHERE q.queue_id = p_queue.queue_id FOR NO KEY UPDATE;
    FOR v_privilege, v_object IN
        VALUES ('RECEIVE', format('SEQUENCE %s', p_queue.order_sequence)),
               ('SELECT', format('TABLE %I.%I', p_queue.schema_name, p_queue.relation_name))
    LOOP
        FOR v_role IN
            SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
              FROM pg_class AS c, aclexplode(c.relacl) AS a
             WHERE c.oid = CASE v_privilege WHEN 'RECEIVE' THEN p_queue.order_sequence::oid
                                ELSE to_regclass(format('%I.%I', p_queue.schema_name, p_queue.relation_name))::oid END
               AND a.grantee <> c.relowner
        LOOP
            EXECUTE format('REVOKE ALL ON %s FROM %s', v_object, v_role);
        END LOOP;
        CONTINUE WHEN EXISTS (
            SELECT FROM ssb.permission AS p
             WHERE p.state = 'D' AND p.privilege IN (v_privilege, 'CONTROL')
               AND ((p.class = 'QUEUE' AND p.major_id = p_queue.queue_id)
                    OR (p.class = 'DATABASE' AND p.major_id = p_queue.database_id)));
        FOR v_role IN
            SELECT DISTINCT CASE WHEN p.grantee = 'public' THEN 'PUBLIC' ELSE quote_ident(ssb_internal.role_of(p.grantee)) END
              FROM ssb.permission AS p
             WHERE p.state IN ('G', 'W') AND p.privilege IN (v_privilege, 'CONTROL')
               AND ((p.class = 'QUEUE' AND p.major_id = p_queue.queue_id)
                    OR (p.class = 'DATABASE' AND p.major_id = p_queue.database_id))
               AND (p.grantee = 'public' OR ssb_internal.role_of(p.grantee) IS NOT NULL)
        LOOP
            EXECUTE format('GRANT %s ON %s TO %s', CASE v_privilege WHEN 'RECEIVE' THEN 'USAGE' ELSE 'SELECT' END, v_object, v_role);
        END LOOP;
    END LOOP;
END;
$$;

-- Of all queues of a T-SQL database, in the order of their numbers.
CREATE OR REPLACE FUNCTION ssb_internal.mirror_grants_of_database(p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queue ssb.queue;
BEGIN
    FOR v_queue IN SELECT q.* FROM ssb.queue AS q WHERE q.database_id = p_database_id ORDER BY q.queue_id LOOP
        PERFORM ssb_internal.mirror_receive_grants(v_queue);
    END LOOP;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.mirror_grants_of_database(integer) FROM PUBLIC;

-- T-SQL's privilege on a table, procedure or schema as PostgreSQL calls it; NULL
-- when it has none (VIEW DEFINITION, TAKE OWNERSHIP, …).
CREATE OR REPLACE FUNCTION ssb_internal.postgres_privilege(p_privilege text, p_kind text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN upper(p_privilege COLLATE "C") IN ('ALL', 'ALL PRIVILEGES', 'CONTROL') THEN 'ALL'
        WHEN p_kind IN ('TABLE', 'ALL TABLES IN SCHEMA')
             AND upper(p_privilege COLLATE "C") IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES') THEN upper(p_privilege COLLATE "C")
        WHEN p_kind IN ('ROUTINE', 'ALL ROUTINES IN SCHEMA') AND upper(p_privilege COLLATE "C") IN ('EXECUTE', 'EXEC') THEN 'EXECUTE' END;
$$;

-- Error 4606 for a permission that a table, a view, a routine, a sequence or a schema does not have. p_routine: of a relation NULL.
CREATE OR REPLACE FUNCTION ssb_internal.check_object_privileges(p_class text, p_relation regclass, p_routine oid, p_privileges text[])
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_rows CONSTANT text[] := '{SELECT,INSERT,UPDATE,DELETE,REFERENCES,VIEW CHANGE TRACKING,UNMASK}';
    v_own text[] := CASE
        WHEN upper(p_class COLLATE "C") = 'SCHEMA' THEN v_rows || '{EXECUTE,EXEC,CREATE SEQUENCE}'::text[]
        WHEN (SELECT c.relkind = 'S' FROM pg_class AS c WHERE c.oid = p_relation) THEN '{UPDATE,REFERENCES}'
        WHEN p_relation IS NOT NULL OR (SELECT p.proretset FROM pg_proc AS p WHERE p.oid = p_routine) THEN v_rows
        WHEN (SELECT p.prokind = 'p' FROM pg_proc AS p WHERE p.oid = p_routine) THEN '{EXECUTE,EXEC}'
        ELSE '{EXECUTE,EXEC,REFERENCES}' END;
    v_wrong text := (SELECT p FROM unnest(p_privileges) AS p
                      WHERE upper(p COLLATE "C") <> ALL ('{ALL,ALL PRIVILEGES,ALTER,CONTROL,TAKE OWNERSHIP,VIEW DEFINITION}'::text[] || v_own) LIMIT 1);
BEGIN
    IF v_wrong IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(4606, format('Granted or revoked privilege %s is not compatible with object.', upper(v_wrong COLLATE "C")));
    END IF;
END;
$$;

-- Runs with the caller's rights: whoever may GRANT on the table may do it here.
CREATE OR REPLACE FUNCTION ssb_internal.change_postgres_grants(p_verb text, p_privileges text[], p_class text, p_relation text,
                                                               p_grantees text[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kinds text[];
    v_kind text;
    v_object text;
    v_privilege text;
    v_grantee text;
    v_role text;
    v_routine oid;
    v_parts CONSTANT text[] := CASE WHEN upper(p_class COLLATE "C") <> 'SCHEMA' THEN parse_ident(p_relation) END;
    v_shown CONSTANT text := ssb_internal.tsql_schema(coalesce(v_parts[1], p_relation))
                             || coalesce('.' || ssb_internal.told_name(v_parts[1], v_parts[2], v_parts[2], '{}'), '');
    v_command text := CASE p_verb WHEN 'GRANT' THEN 'GRANT %s ON %s %s TO %s'
                                  WHEN 'GRANT OPTION' THEN 'REVOKE GRANT OPTION FOR %s ON %s %s FROM %s'
                                  ELSE 'REVOKE %s ON %s %s FROM %s' END;
    v_later text := 'ALTER DEFAULT PRIVILEGES IN SCHEMA %s '
                    || CASE p_verb WHEN 'GRANT' THEN 'GRANT %s ON %s TO %s' WHEN 'GRANT OPTION' THEN 'REVOKE GRANT OPTION FOR %s ON %s FROM %s'
                                   ELSE 'REVOKE %s ON %s FROM %s' END;
BEGIN
    IF upper(p_class COLLATE "C") = 'SCHEMA' THEN
        v_kinds := '{ALL TABLES IN SCHEMA,ALL ROUTINES IN SCHEMA}';
        v_object := quote_ident(p_relation);
    ELSIF to_regclass(p_relation) IS NOT NULL THEN
        v_kinds := '{TABLE}';
        v_object := to_regclass(p_relation)::text;
    ELSE
        SELECT p.oid INTO v_routine FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE ARRAY[n.nspname::text, p.proname::text] = parse_ident(p_relation);
        IF NOT FOUND THEN
            PERFORM ssb_internal.raise_not_found('find', 'object', p_relation);
        END IF;
        v_kinds := '{ROUTINE}';
        v_object := v_routine::regprocedure::text;
    END IF;
    PERFORM ssb_internal.check_object_privileges(p_class, CASE v_kinds WHEN '{TABLE}' THEN v_object::regclass END, v_routine, p_privileges);
    IF p_verb = 'GRANT' THEN
        PERFORM ssb_internal.print(format('PostgreSQL has no %s to grant on ''%s'': only the owner may.', upper(p COLLATE "C"), v_shown))
           FROM unnest(p_privileges) AS p WHERE upper(p COLLATE "C") IN ('ALTER', 'TAKE OWNERSHIP');
    END IF;
    FOREACH v_grantee IN ARRAY ssb_internal.grantable(p_grantees) LOOP
        v_role := CASE WHEN lower(v_grantee COLLATE "C") = 'public' THEN 'PUBLIC' ELSE quote_ident(ssb_internal.role_of(v_grantee)) END;
        IF v_role IS NULL AND p_verb = 'GRANT' THEN
            PERFORM ssb_internal.print(format('''%s'' is no role of PostgreSQL, which knows who may use ''%s'': CREATE ROLE there, then GRANT again.',
                                              v_grantee, v_shown));
        END IF;
        CONTINUE WHEN v_role IS NULL;
        FOREACH v_kind IN ARRAY v_kinds LOOP
            FOREACH v_privilege IN ARRAY p_privileges LOOP
                v_privilege := ssb_internal.postgres_privilege(v_privilege, v_kind);
                CONTINUE WHEN v_privilege IS NULL;
                EXECUTE format(v_command, v_privilege, v_kind, v_object, v_role);
                -- What is granted on a schema is granted on what comes into it later, too: of those who are this role.
                IF upper(p_class COLLATE "C") = 'SCHEMA' THEN
                    EXECUTE format(v_later, v_object, v_privilege,
                                   CASE v_kind WHEN 'ALL TABLES IN SCHEMA' THEN 'TABLES' ELSE 'ROUTINES' END, v_role);
                END IF;
                -- SCOPE_IDENTITY() reads the sequence that the INSERT has moved on.
                IF v_privilege IN ('INSERT', 'ALL') AND v_kind = 'ALL TABLES IN SCHEMA' THEN
                    EXECUTE format(v_command, 'SELECT', 'ALL SEQUENCES IN SCHEMA', v_object, v_role);
                    EXECUTE format(v_later, v_object, 'SELECT', 'SEQUENCES', v_role);
                ELSIF v_privilege IN ('INSERT', 'ALL') AND v_kind = 'TABLE'
                      AND sys.identity_sequence(v_object::regclass) IS NOT NULL THEN
                    EXECUTE format(v_command, 'SELECT', 'SEQUENCE', sys.identity_sequence(v_object::regclass), v_role);
                END IF;
            END LOOP;
        END LOOP;
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.grant_permission(privileges text[], class text, name text, grantees text[],
                                                grant_option boolean DEFAULT false, database text DEFAULT NULL, grantor text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation text := ssb_internal.change_permission('GRANT', privileges, class, name, grantees, coalesce(grant_option, false), database,
                                                        grantor);
BEGIN
    IF v_relation IS NOT NULL THEN
        PERFORM ssb_internal.change_postgres_grants('GRANT', privileges, class, v_relation, grantees);
    END IF;
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- PostgreSQL knows no DENY: on tables and procedures it takes the grant away.
CREATE OR REPLACE FUNCTION ssb.deny_permission(privileges text[], class text, name text, grantees text[],
                                               cascade boolean DEFAULT false, database text DEFAULT NULL, grantor text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_relation text := ssb_internal.change_permission('DENY', privileges, class, name, grantees, false, database, grantor,
                                                      coalesce(cascade, false));
BEGIN
    IF v_relation IS NOT NULL THEN
        PERFORM ssb_internal.change_postgres_grants('REVOKE', privileges, class, v_relation, grantees);
    END IF;
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

CREATE OR REPLACE FUNCTION ssb.revoke_permission(privileges text[], class text, name text, grantees text[],
    cascade boolean DEFAULT false, grant_option_only boolean DEFAULT false, database text DEFAULT NULL, grantor text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_verb text := CASE WHEN grant_option_only THEN 'GRANT OPTION' ELSE 'REVOKE' END;
    v_relation text := ssb_internal.change_permission(v_verb, privileges, class, name, grantees, false, database, grantor,
                                                      coalesce(cascade, false));
BEGIN
    IF v_relation IS NOT NULL THEN
        PERFORM ssb_internal.change_postgres_grants(v_verb, privileges, class, v_relation, grantees);
    END IF;
    PERFORM ssb_internal.fire_ddl_triggers();
END;
$$;

-- The event that something has a new owner; the name of an object is PostgreSQL's.
CREATE OR REPLACE FUNCTION ssb_internal.tell_of_authorization(p_class text, p_name text, p_owner text, p_database_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := CASE WHEN p_class IN ('OBJECT', 'QUEUE') THEN parse_ident(ssb_internal.normal_name(p_name)) ELSE ARRAY[NULL, p_name] END;
BEGIN
    PERFORM ssb_internal.tell_of_securable(
        'ALTER', CASE p_class WHEN 'ENDPOINT' THEN 'AUTHORIZATION_SERVER' ELSE 'AUTHORIZATION_DATABASE' END, p_database_id, v_parts[1],
        CASE p_class WHEN 'SCHEMA' THEN ssb_internal.tsql_schema(p_name)
                     WHEN 'QUEUE' THEN (SELECT q.spelling FROM ssb.queue AS q WHERE q.name = ssb_internal.normal_name(p_name))
                     WHEN 'OBJECT' THEN ssb_internal.told_name(v_parts[1], v_parts[2], v_parts[2], '{}')
                     ELSE v_parts[2] END, p_class,
        format('<OwnerName>%s</OwnerName>', ssb_internal.xml_text(
            CASE ssb_internal.principal_id_of(p_owner, p_database_id) WHEN 1 THEN 'dbo' ELSE p_owner END)));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.tell_of_authorization(text, text, text, integer) FROM PUBLIC;

-- ALTER AUTHORIZATION: the new owner of one of the broker's objects, on which what was granted and denied ends, a
-- database apart; on tables and procedures nothing is recorded (their owner is a PostgreSQL role).
CREATE OR REPLACE FUNCTION ssb_internal.alter_authorization(class text, name text, principal text, database text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_object record;
    v_owner text;
    v_is_system boolean := false;
    v_queue ssb.queue;
BEGIN
    IF upper(class COLLATE "C") = 'SCHEMA' AND lower(ssb_internal.tsql_schema(name) COLLATE "C") IN ('dbo', 'sys', 'information_schema') THEN
        PERFORM ssb_internal.require_definition_right('TAKE OWNERSHIP', v_database_id);
        PERFORM ssb_internal.raise_error(15150, format('Cannot alter the schema ''%s''.', ssb_internal.tsql_schema(name)));
    ELSIF upper(class COLLATE "C") = 'SERVICE' AND name IN (SELECT s.name FROM ssb_internal.system_service AS s) THEN
        PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
    END IF;
    SELECT o.* INTO v_object FROM ssb_internal.find_securable(class, name, v_database_id) AS o;
    IF v_object.class = 'QUEUE' THEN
        SELECT q.* INTO v_queue FROM ssb.queue AS q WHERE q.queue_id = v_object.major_id;
    END IF;
    -- The owner in CREATE ROLE … AUTHORIZATION, which comes here too, is called a user.
    IF principal IS NOT NULL AND v_object.class <> 'ROLE' THEN
        PERFORM ssb_internal.require_principal('find', 'principal', ssb_internal.as_dbo(principal, v_database_id), v_database_id);
    END IF;
    v_owner := ssb_internal.owner_or_caller(
        coalesce(principal, (SELECT s.owner FROM ssb.schema_of_database AS s WHERE s.name = v_queue.schema_name), 'dbo'), v_database_id);
    IF v_object.relation IS NOT NULL THEN
        IF v_object.class = 'OBJECT' AND to_regclass(v_object.relation) IS NULL
           AND NOT EXISTS (SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                            WHERE ARRAY[n.nspname::text, p.proname::text] = parse_ident(v_object.relation)) THEN
            PERFORM ssb_internal.raise_not_found('find', 'object', v_object.relation);
        END IF;
        PERFORM ssb_internal.require_definition_right('TAKE OWNERSHIP', v_database_id);
        PERFORM ssb_internal.change_schema_owner(v_object.relation, v_owner) WHERE v_object.class = 'SCHEMA';
        PERFORM ssb_internal.tell_of_authorization(v_object.class, v_object.relation, v_owner, v_database_id);
        RETURN;
    END IF;
    PERFORM ssb_internal.require_permission('find', v_object.class, v_object.major_id, name, 'TAKE OWNERSHIP', v_object.owner, v_database_id);
    CASE v_object.class
    WHEN 'MESSAGE TYPE' THEN
        UPDATE ssb.message_type AS t SET owner = v_owner WHERE t.message_type_id = v_object.major_id AND t.database_id IS NOT NULL;
        v_is_system := NOT FOUND;
    WHEN 'CONTRACT' THEN
        UPDATE ssb.contract AS c SET owner = v_owner WHERE c.contract_id = v_object.major_id AND c.database_id IS NOT NULL;
        v_is_system := NOT FOUND;
    WHEN 'SERVICE' THEN
        UPDATE ssb.service AS s SET owner = v_owner WHERE s.service_id = v_object.major_id;
    WHEN 'QUEUE' THEN
        UPDATE ssb.queue AS q SET owner = v_owner WHERE q.queue_id = v_object.major_id;
    WHEN 'ROUTE' THEN
        UPDATE ssb.route AS r SET owner = v_owner WHERE r.route_id = v_object.major_id AND r.database_id = v_database_id;
    WHEN 'REMOTE SERVICE BINDING' THEN
        UPDATE ssb.remote_service_binding AS b SET owner = v_owner WHERE b.binding_id = v_object.major_id;
    WHEN 'CERTIFICATE' THEN
        UPDATE ssb.certificate AS c SET owner = ssb_internal.certificate_owner(v_owner, v_database_id) WHERE c.certificate_id = v_object.major_id;
    WHEN 'ENDPOINT' THEN
        UPDATE ssb.broker_endpoint AS b SET owner = v_owner WHERE b.broker_endpoint_id = v_object.major_id;
    WHEN 'DATABASE' THEN
        PERFORM ssb_internal.change_database_owner(v_object.major_id, v_owner);
    WHEN 'ROLE' THEN
        UPDATE ssb.principal AS p SET owner = v_owner
         WHERE p.principal_id = v_object.major_id AND p.kind = 'ROLE' AND p.database_id = v_database_id;
    ELSE
        NULL;   -- the owner of a schema collection is the runtime's
    END CASE;
    IF v_is_system THEN
        PERFORM ssb_internal.raise_error(9663, 'The system object cannot be modified.');
    END IF;
    IF v_object.class NOT IN ('DATABASE', 'XML SCHEMA COLLECTION')
       AND ssb_internal.principal_id_of(v_owner, v_database_id) IS DISTINCT FROM ssb_internal.principal_id_of(v_object.owner, v_database_id) THEN
        DELETE FROM ssb.permission AS p WHERE p.class = v_object.class AND p.major_id = v_object.major_id AND p.database_id = v_database_id;
        IF v_object.class = 'QUEUE' THEN
            PERFORM ssb_internal.mirror_receive_grants(v_queue);
        END IF;
    END IF;
    PERFORM ssb_internal.tell_of_authorization(v_object.class, name, v_owner, v_database_id);
END;
$$;
