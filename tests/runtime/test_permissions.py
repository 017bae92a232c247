"""An ordinary role needs the grants that Service Broker asks for, and no right on any table."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from runtime.broker import Pair, Session, refused

from support import Database


@pytest.fixture(scope="module")
def roles(shared: Database) -> Iterator[None]:
    """Roles of the cluster, for this module."""
    names = ("app_user", "app_group", "app_stranger")
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute("GRANT app_group TO app_user")
        yield
        for name in names:
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")


@pytest.fixture(autouse=True)
def nothing_is_left(roles: None, session: Session) -> Iterator[None]:
    """What a test gave those roles goes with it: tests come in any order."""
    yield
    session.do("DELETE FROM ssb.permission WHERE lower(grantee) LIKE 'app%%'")
    session.do("DELETE FROM ssb.role_member WHERE lower(member) LIKE 'app%%'")


@pytest.fixture
def user(roles: None, another: Callable[[], Session]) -> Session:
    session = another()
    session.connection.autocommit = True
    session.do("SET ROLE app_user")
    return session


def grant(session: Session, privilege: str, kind: str, name: str | None, to: str = "app_user") -> None:
    session.do("SELECT ssb.grant_permission(ARRAY[%s], %s, %s, ARRAY[%s])", privilege, kind, name, to)


def drop_app_user(session: Session) -> None:
    """The user of T-SQL, where there is one: the role of PostgreSQL stays. What he owns goes to dbo."""
    for (kind,) in session.rows("SELECT unnest(ssb_internal.owned_kinds())"):
        session.do(f"UPDATE ssb.{kind} SET owner = 'dbo' WHERE lower(owner) = 'app_user'")
    session.do("SELECT ssb.drop_principal('app_user', 'USER', true)")


@contextmanager
def login(shared: Database, role: str) -> Iterator[Session]:
    with psycopg.connect(shared.dsn, autocommit=True, user=role) as connection:
        yield Session(connection)


def test_without_grants_nothing_goes(user: Session, pair: Pair) -> None:
    pair.send_new()
    with refused(229, "RECEIVE permission was denied"):
        user.receive(pair.far)
    with refused(8494, f"You do not have permission to access the service '{pair.initiator}'."):
        pair.dialog(user)
    handle = pair.dialog()
    for statement in ("send(%s)", "end_conversation(%s)", "begin_conversation_timer(%s, 1)"):
        with refused(229):
            user.do(f"SELECT ssb.{statement}", handle)
    with refused(229):
        user.do("SELECT ssb.move_conversation(%s, %s)", handle, pair.session.group(handle))
    with refused(229):
        user.do("SELECT ssb.get_conversation_group(%s)", pair.far)
    with refused(229):
        user.do("SELECT ssb.message_is_waiting(%s)", pair.far)
    for relation in ("ssb.message_stored", "ssb.conversation_endpoint", "ssb.queue", pair.far):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            user.rows(f"SELECT * FROM {relation}")


def test_who_may_read_all_data_may_not_take_it(session: Session, user: Session, pair: Pair) -> None:
    near, _ = pair.conversing()
    session.do("GRANT pg_read_all_data TO app_user")
    try:
        with refused(229, "RECEIVE permission was denied"):
            user.receive(pair.far)
        with refused(229):
            user.send(near, pair.request, "x")
        # It is RECEIVE that tells why there is nothing to wait for.
        user.do("CALL ssb.wait_for_message(%s, NULL, may_commit => true)", pair.far)
    finally:
        session.do("REVOKE pg_read_all_data FROM app_user")


def test_receive_on_both_queues_is_all_that_a_conversation_needs(
    session: Session, user: Session, pair: Pair
) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near)
    grant(session, "RECEIVE", "OBJECT", pair.far)
    near = pair.dialog(user)
    for i in range(3):
        user.send(near, pair.request, str(i))
    received = user.receive(pair.far)
    assert [m.body for m in received] == ["0", "1", "2"]
    user.send(received[0].handle, pair.reply, "back")
    user.end(received[0].handle)
    assert [m.body for m in user.receive(pair.near)] == ["back", None]
    user.end(near)


def test_a_dialog_of_anothers_service_needs_send(session: Session, user: Session, pair: Pair) -> None:
    session.do("SELECT ssb.alter_authorization('SERVICE', %s, 'app_user')", pair.initiator)
    grant(session, "RECEIVE", "OBJECT", pair.near)
    handle = pair.dialog(user)
    user.send(handle, pair.request, "1")
    (status,) = session.transmissions(handle)
    assert "permission" in status and pair.target in status
    grant(session, "SEND", "SERVICE", pair.target)
    assert session.transmissions(handle) == []
    user.send(handle, pair.request, "2")
    assert session.bodies(pair.far) == ["1", "2"]
    # The service's owner counts, whoever sends.
    session.do("SELECT ssb.revoke_permission('{SEND}', 'SERVICE', %s, '{app_user}')", pair.target)
    handle = pair.dialog(session)
    session.send(handle, pair.request, "3")
    (status,) = session.transmissions(handle)
    assert "permission" in status


def test_a_grant_reaches_members_and_everybody(session: Session, user: Session, pair: Pair) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near, "app_group")
    assert user.receive(pair.near) == []
    grant(session, "RECEIVE", "OBJECT", pair.far, "public")
    assert user.receive(pair.far) == []


def test_a_principal_is_of_a_kind(session: Session) -> None:
    for kind in (None, "GROUP"):
        with refused(102):
            session.do("SELECT ssb.create_principal('Ann', %s)", kind)


def test_a_tsql_role_is_a_group_too(session: Session, user: Session, pair: Pair) -> None:
    role = f"readers of {pair.near}"
    session.do("SELECT ssb.create_principal(%s, 'ROLE')", role)
    drop_app_user(session)
    session.do("SELECT ssb.create_principal('App_User', 'USER')")
    grant(session, "RECEIVE", "OBJECT", pair.near, role)
    with refused(229):
        user.receive(pair.near)
    session.do("SELECT ssb.add_member(%s, 'App_User')", role)
    assert user.receive(pair.near) == []
    with refused(15413):
        session.do("SELECT ssb.add_member('App_User', %s)", role)
    # Of db_owner the database's owner is a member, without a row that says so.
    for special in ("db_owner", "DBO", "public"):
        with refused(15405):
            session.do("SELECT ssb.add_member(%s, %s)", role, special)
    with refused(15151):
        session.do("SELECT ssb.add_member(NULL, 'app_user')")
    session.do("SELECT ssb.drop_member(%s, 'app_user')", role)
    with refused(229):
        user.receive(pair.near)


def test_deny_beats_grant_and_revoke_takes_back(session: Session, user: Session, pair: Pair) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near, "public")
    session.do("SELECT ssb.deny_permission('{RECEIVE}', 'OBJECT', %s, '{app_user}')", pair.near)
    with refused(229):
        user.receive(pair.near)
    session.do("SELECT ssb.revoke_permission('{RECEIVE}', 'OBJECT', %s, '{app_user}')", pair.near)
    assert user.receive(pair.near) == []
    session.do("SELECT ssb.revoke_permission('{RECEIVE}', 'OBJECT', %s, '{public}')", pair.near)
    with refused(229):
        user.receive(pair.near)


def test_deny_beats_what_members_of_fixed_roles_may(session: Session, user: Session, pair: Pair) -> None:
    session.do("SELECT ssb.add_member('db_owner', 'app_user')")
    assert user.receive(pair.near) == []
    for kind, name, privilege in (("OBJECT", pair.near, "RECEIVE"), ("DATABASE", None, "CONTROL")):
        session.do("SELECT ssb.deny_permission(ARRAY[%s], %s, %s, '{app_user}')", privilege, kind, name)
        with refused(229):
            user.receive(pair.near)
        session.do("SELECT ssb.revoke_permission(ARRAY[%s], %s, %s, '{app_user}')", privilege, kind, name)
        assert user.receive(pair.near) == []
    session.do("SELECT ssb.drop_member('db_owner', 'app_user'), ssb.add_member('db_ddladmin', 'app_user')")
    session.do("SELECT ssb.deny_permission('{CREATE QUEUE}', 'DATABASE', NULL, '{app_user}')")
    with refused(262):
        user.do("SELECT ssb.create_queue('dbo.denied')")
    session.do("SELECT ssb.revoke_permission('{CREATE QUEUE}', 'DATABASE', NULL, '{app_user}')")
    session.do("SELECT ssb.drop_member('db_ddladmin', 'app_user')")


def test_deny_reaches_nobody_to_whom_queue_or_database_belong(
    session: Session, user: Session, pair: Pair
) -> None:
    session.do("SELECT ssb.deny_permission('{RECEIVE}', 'OBJECT', %s, '{public}')", pair.near)
    assert session.receive(pair.near) == []
    with refused(229):
        user.receive(pair.near)
    session.do("SELECT ssb.alter_authorization('OBJECT', %s, 'app_user')", pair.near)
    assert user.receive(pair.near) == []


def test_what_was_granted_ends_with_a_new_owner(session: Session, user: Session, pair: Pair) -> None:
    kept = "SELECT count(*) FROM ssb.permission WHERE grantee = 'app_user'"
    before = session.value(kept)
    grant(session, "RECEIVE", "OBJECT", pair.near)
    grant(session, "SEND", "SERVICE", pair.target)
    for class_, name in (("OBJECT", pair.near), ("SERVICE", pair.target)):
        session.do("SELECT ssb.alter_authorization(%s, %s, 'dbo')", class_, name)
    assert session.value(kept) == before + 2  # the owner is the same
    assert user.receive(pair.near) == []
    for class_, name in (("OBJECT", pair.near), ("SERVICE", pair.target)):
        session.do("SELECT ssb.alter_authorization(%s, %s, 'app_user')", class_, name)
    assert session.value(kept) == before
    # The schema's owner is dbo.
    session.do("SELECT ssb.alter_authorization('OBJECT', %s, NULL)", pair.near)
    with refused(229):
        user.receive(pair.near)


def test_select_shows_the_queue_and_receive_does_not(session: Session, user: Session, pair: Pair) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.rows(f"SELECT * FROM {pair.near}")
    grant(session, "SELECT", "OBJECT", pair.near)
    assert user.rows(f"SELECT * FROM {pair.near}") == []


def test_the_caller_is_the_role_that_was_set_and_the_login(
    shared: Database, session: Session, roles: None, pair: Pair
) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near)
    with login(shared, "app_user") as user:
        assert user.receive(pair.near) == []
    with login(shared, "app_stranger") as stranger, refused(229):
        stranger.receive(pair.near)
    # A function that runs as its owner, the superuser, does not make its caller one.
    with pytest.raises(psycopg.Error), login(shared, "app_stranger") as stranger:
        session.do(
            "CREATE OR REPLACE FUNCTION public.borrowed(q text) RETURNS bigint LANGUAGE sql SECURITY DEFINER"
            " SET search_path = pg_catalog, pg_temp AS 'SELECT count(*) FROM ssb.receive(q)'"
        )
        stranger.value("SELECT public.borrowed(%s)", pair.near)


def test_only_owners_define(session: Session, user: Session, pair: Pair) -> None:
    for statement, number in [
        ("ssb.create_message_type('x')", 262),
        ("ssb.create_queue('dbo.mine')", 262),
        ("ssb.create_service('x', 'dbo.mine')", 262),
        ("ssb.create_database('Mine')", 262),
        (f"ssb.alter_queue('{pair.far}', false)", 15151),
        (f"ssb.drop_service('{pair.target}')", 15151),
        (f"ssb.grant_permission('{{RECEIVE}}', 'OBJECT', '{pair.far}', '{{app_user}}')", 15151),
        (f"ssb.alter_authorization('SERVICE', '{pair.target}', 'app_user')", 15151),
        ("ssb.alter_database(NULL, 'DISABLE_BROKER')", 15151),
    ]:
        with refused(number):
            user.do("SELECT " + statement)
    grant(session, "CREATE QUEUE", "DATABASE", None)
    user.do("SELECT ssb.create_queue('dbo.mine')")
    user.do("SELECT ssb.alter_queue('dbo.mine', retention => true)")
    assert user.receive("dbo.mine") == []
    user.do("SELECT ssb.drop_queue('dbo.mine')")


def test_who_makes_a_database_is_dbo_there(session: Session, shared: Database, roles: None) -> None:
    grant(session, "CREATE DATABASE", "DATABASE", None)
    owner = session.value("SELECT ssb_internal.runtime_owner()")
    with login(shared, "app_user") as user, login(shared, "app_stranger") as stranger:
        user.do("SELECT ssb.create_database('Own'), ssb.use_database('Own')")
        user.do("SELECT ssb.create_queue('own_dbo.mine'), ssb.create_schema('more')")
        user.do("CREATE TABLE own_dbo.t (a integer); CREATE TABLE own_more.t (a integer)")
        user.do("SELECT ssb.grant_permission('{CREATE QUEUE}', 'DATABASE', NULL, '{app_stranger}')")
        user.do("GRANT CREATE ON SCHEMA own_more TO app_stranger")
        stranger.do("SELECT ssb.use_database('Own'), ssb.create_queue('own_dbo.others')")
        stranger.do("CREATE TABLE own_more.u (a integer)")
        user.do("SELECT ssb.alter_queue('own_dbo.others', retention => true)")
        # But nobody else: neither the runtime's owner, by his name or a user's, nor dbo of another database.
        user.do("SELECT ssb.create_principal('nobody_yet', 'USER')")
        with refused(15247):
            user.do("SELECT ssb_internal.alter_principal('nobody_yet', 'USER', new_name => %s)", owner)
        program = "activation_procedure => 'own_dbo.p', max_queue_readers => 1"
        with refused(15517):
            user.do(f"SELECT ssb.create_queue('own_dbo.theirs', execute_as => '''{owner}''', {program})")
        # dbo means himself, and no one to whom the database does not belong.
        user.do(f"SELECT ssb.create_queue('own_dbo.his', execute_as => '''dbo''', {program})")
        user.do("SELECT ssb.create_contract('his', '{DEFAULT}', '{ANY}', owner => 'dbo')")
        made = "SELECT execute_as FROM ssb.queue WHERE name = 'own_dbo.his'"
        made += " UNION ALL SELECT owner FROM ssb.contract WHERE name = 'his'"
        assert session.column(made) == ["app_user", "app_user"]
        assert user.column("SELECT principal_id FROM sys.service_contracts WHERE name = 'his'") == [1]
        named = "SELECT sys.user_name()"
        assert [user.value(named), stranger.value(named)] == ["dbo", "app_stranger"]
        user.do("SELECT ssb_internal.execute_as('dbo')")
        assert user.value("SELECT current_user") == "app_user"
        user.do("SELECT ssb_internal.revert(), ssb.use_database(ssb_internal.database_name(5))")
        # As CREATE USER spells it, where a test before has made one of that name.
        assert user.value(named).lower() == "app_user"
        with refused(15517):
            user.do("SELECT ssb_internal.execute_as('dbo')")
        user.do("SELECT ssb.use_database('Own')")
        with refused(15517):
            stranger.do(f"SELECT ssb.create_queue('own_dbo.theirs', execute_as => '''dbo''', {program})")
        with refused(262):
            user.do("SELECT ssb.create_schema('theirs', database => ssb_internal.database_name(5))")
        session.do("SELECT ssb.alter_authorization('DATABASE', 'Own', 'dbo')")
        with refused(262):
            user.do("SELECT ssb.create_queue('own_dbo.more')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            user.do("CREATE TABLE own_dbo.v (a integer)")
        stranger.do("CREATE TABLE own_more.v (a integer)")
    session.do("SELECT ssb.drop_database('Own')")


def test_what_an_alter_keeps_is_planted_by_nobody(session: Session, user: Session) -> None:
    """Between its statements a DDL trigger of somebody else may run, in the same session."""
    session.do("CREATE VIEW dbo.kept AS SELECT 1 AS a; GRANT SELECT ON dbo.kept TO app_user")
    trigger = {"name": "t", "id": 1, "disabled": False, "text": "CREATE TABLE dbo.planted ()"}
    part = {"name": "kept", "id": 1, "owner": "app_user", "acl": None, "triggers": [trigger]}
    planted = json.dumps({"name": "dbo.kept", "parts": [part]})
    with session.connection.transaction():
        session.do("SELECT ssb_internal.prepare_view('ALTER', 'dbo.kept')")
        session.do("SELECT set_config('pgsb.altered_module', %s, false)", planted)
        # What somebody else notes and takes is of his own session.
        user.do("SELECT ssb_internal.note_module('dbo.kept'), ssb_internal.take_noted_parts('dbo.kept')")
        session.do("CREATE VIEW dbo.kept AS SELECT 2 AS a")
        session.do("SELECT ssb_internal.finish_alteration('dbo.kept')")
    assert session.value("SELECT to_regclass('dbo.planted')") is None
    owned = session.value("SELECT relowner::regrole::text FROM pg_class WHERE oid = 'dbo.kept'::regclass")
    assert owned != "app_user"
    assert user.value("SELECT a FROM dbo.kept") == 2
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.do("INSERT INTO ssb.noted_module VALUES (1, 'dbo.kept', '[]')")
    # Nor is the table filled: a session has what its last transaction has noted, in one spelling.
    session.do("CREATE VIEW dbo.other AS SELECT 1 AS a")
    for name in ("dbo.kept", 'dbo."kept"', '"dbo" . KEPT', "DBO.kept", "dbo.other", "dbo.kept"):
        user.do("SELECT ssb_internal.note_module(%s)", name)
    assert session.value("SELECT string_agg(name, ' ') FROM ssb.noted_module") == "dbo.kept"
    session.do("DROP VIEW dbo.kept, dbo.other")


def test_nobody_holds_what_describes_anothers_object(session: Session, user: Session) -> None:
    """What follows a renaming locks the object's extended properties."""
    session.do("CREATE TABLE dbo.described (a integer)")
    place = "'SCHEMA', 'dbo', 'TABLE', 'described'"
    session.do(f"SELECT sys.change_extended_property('ADD', 'note', 'one', {place})")
    session.do("SET lock_timeout = '2s'")
    with user.connection.transaction():
        user.do("SELECT ssb_internal.refresh_properties('dbo.described'::regclass)")
        session.do(f"SELECT sys.change_extended_property('UPDATE', 'note', 'two', {place})")
    session.do("ALTER TABLE dbo.described OWNER TO app_user; RESET lock_timeout")
    with user.connection.transaction():
        user.do("SELECT ssb_internal.refresh_properties('dbo.described'::regclass)")
        held = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'RowExclusiveLock'"
        assert user.value(held) > 0
    session.do("DROP TABLE dbo.described")


def test_nobody_takes_what_describes_anothers(session: Session, user: Session, pair: Pair) -> None:
    """What an altered object takes along from its old number is of objects, and of those that are gone."""
    session.do("CREATE TABLE dbo.described (a integer CONSTRAINT positive CHECK (a > 0) DEFAULT 1)")
    user.do("CREATE TEMPORARY TABLE own (a integer)")
    places = [
        "'SCHEMA', 'dbo'",
        "NULL",
        f"'SERVICE', '{pair.target}'",
        f"'SCHEMA', 'dbo', 'QUEUE', '{pair.far.removeprefix('dbo.')}'",
        "'SCHEMA', 'dbo', 'TABLE', 'described', 'CONSTRAINT', 'positive'",
        "'SCHEMA', 'dbo', 'TABLE', 'described', 'CONSTRAINT', 'df__described__a'",
    ]
    for place in places:
        session.do(f"SELECT sys.change_extended_property('ADD', 'ours', 'x', {place})")
    kept = "SELECT class, major_id, minor_id FROM ssb.extended_property WHERE name = 'ours' ORDER BY 1, 2, 3"
    before = session.rows(kept)
    assert {0, 1, 3, 17} <= {row[0] for row in before}
    for _, number, _ in before:
        user.do("SELECT ssb_internal.move_properties(%s, 'own'::regclass::oid::bigint, NULL, NULL)", number)
    assert session.rows(kept) == before
    for place in places:
        session.do(f"SELECT sys.change_extended_property('DROP', 'ours', NULL, {place})")
    user.do("DROP TABLE own")
    session.do("DROP TABLE dbo.described")


def test_nobody_takes_the_binding_of_anothers_function(session: Session, user: Session) -> None:
    """With it his own module would keep others from changing their tables."""
    session.do("CREATE TABLE dbo.bound (a integer)")
    session.do("CREATE FUNCTION dbo.reads() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM dbo.bound'")
    session.do("SELECT ssb_internal.bind_to_schema('dbo.reads', '{dbo.bound}')")
    user.do("CREATE FUNCTION pg_temp.own() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    user.do(
        "SELECT ssb_internal.rename_view_binding('dbo.reads', pg_my_temp_schema()::regnamespace || '.own')"
    )
    assert session.rows("SELECT schema_name, name FROM ssb.view_binding WHERE needs = '{dbo.bound}'") == [
        ("dbo", "reads")
    ]
    user.do("DROP FUNCTION pg_temp.own()")
    session.do("SELECT ssb_internal.forget_view_binding('dbo.reads')")
    session.do("DROP FUNCTION dbo.reads(); DROP TABLE dbo.bound")


def test_names_of_defaults_are_of_columns_that_are_there(session: Session, user: Session) -> None:
    """Those of each #table there ever was would stay for ever: now and then they are let go."""
    name = "SELECT ssb_internal.name_default('own', %s, %s)"
    kept = "SELECT count(*)::integer FROM ssb.default_name WHERE name LIKE 'df_a%' OR name LIKE 'df_b%'"
    user.do("SELECT setseed(0.5)")
    most = 0
    for round_ in range(300):
        user.do("CREATE TEMPORARY TABLE own (a integer DEFAULT 1, b integer DEFAULT 1)")
        user.do(name, "b", f"df_b{round_}")
        user.do("ALTER TABLE own DROP COLUMN b")
        user.do(name, "a", f"df_a{round_}")
        most = max(most, *session.column(kept))
        user.do("DROP TABLE own")
    assert most < 300
    user.do("CREATE TEMPORARY TABLE own (a integer DEFAULT 1)")
    with refused(1752):
        user.do(name, "nowhere", "df_nowhere")
    user.do("DROP TABLE own")


def test_views_let_go_of_what_is_their_owners_to_drop(session: Session, user: Session) -> None:
    session.do("CREATE TABLE dbo.base (a integer); GRANT CREATE ON SCHEMA dbo TO app_user")
    user.do("CREATE TABLE dbo.own (a integer); CREATE VIEW dbo.of_own AS SELECT a FROM dbo.own")
    # Another's view is not the owner's of a table to change; a superuser changes all.
    session.do("CREATE VIEW dbo.of_others AS SELECT a FROM dbo.own; GRANT SELECT ON dbo.of_own TO PUBLIC")
    with pytest.raises(psycopg.Error, match="is being referenced by object 'of_others'"):
        user.do("SELECT ssb_internal.drop_relation('TABLE', 'dbo.own')")
    user.do("SELECT * FROM dbo.of_own")
    session.do("DROP VIEW dbo.of_others")
    user.do("SELECT ssb_internal.drop_relation('TABLE', 'dbo.own')")
    with pytest.raises(psycopg.Error, match="Could not use view or function 'of_own'"):
        user.rows("SELECT count(*) FROM dbo.of_own")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.do("UPDATE ssb.view_binding SET definition = 'SELECT 1; DROP TABLE dbo.base'")
    # Whoever makes the table binds the view, which stays its owner's, with his rights.
    session.do("CREATE TABLE dbo.own (a bigint); SELECT ssb_internal.bind_views()")
    owner = "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'dbo.of_own'::regclass"
    assert session.value(owner) == "app_user"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.rows("SELECT * FROM dbo.of_own")
    session.do("GRANT SELECT ON dbo.own TO app_user")
    assert user.rows("SELECT * FROM dbo.of_own") == []
    assert session.value("SELECT count(*) FROM ssb.view_binding") == 0
    session.do("DROP VIEW dbo.of_own; DROP TABLE dbo.own, dbo.base")
    session.do("REVOKE CREATE ON SCHEMA dbo FROM app_user")


def test_what_is_granted_on_a_schema_is_granted_on_its_later_tables(session: Session, user: Session) -> None:
    session.do("SELECT ssb.create_schema('later')")
    session.do("CREATE TABLE later.first (a integer)")
    session.do("SELECT ssb.grant_permission('{SELECT,INSERT,EXECUTE}', 'SCHEMA', 'later', '{app_user}')")
    session.do("CREATE TABLE later.second (a integer GENERATED ALWAYS AS IDENTITY, b integer)")
    user.do("INSERT INTO later.second (b) VALUES (7)")
    assert user.value("SELECT b FROM later.second") == 7
    told = (
        "SELECT permission_name, state_desc, sys.schema_name(major_id) FROM sys.database_permissions"
        " WHERE class_desc = 'SCHEMA' ORDER BY 1"
    )
    assert session.rows(told) == [(name, "GRANT", "later") for name in ("EXECUTE", "INSERT", "SELECT")]
    session.do("SELECT ssb.revoke_permission('{SELECT}', 'SCHEMA', 'later', '{app_user}')")
    session.do("SELECT ssb.deny_permission('{INSERT}', 'SCHEMA', 'later', '{app_user}')")
    session.do("CREATE TABLE later.third (a integer)")
    for statement in ("SELECT a FROM later.third", "INSERT INTO later.third VALUES (1)"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            user.do(statement)
    assert session.rows(told) == [("EXECUTE", "GRANT", "later")]
    session.do("DROP SCHEMA later CASCADE")


def test_tables_and_procedures_get_postgresql_grants(session: Session, user: Session) -> None:
    session.do("CREATE TABLE dbo.ledger (id integer); CREATE PROCEDURE dbo.act() LANGUAGE sql AS 'SELECT 1'")
    session.do("REVOKE ALL ON PROCEDURE dbo.act() FROM PUBLIC")
    grant(session, "SELECT", "OBJECT", "dbo.ledger")
    grant(session, "EXECUTE", "OBJECT", "dbo.act")
    assert user.rows("SELECT * FROM dbo.ledger") == []
    user.do("CALL dbo.act()")
    session.do("SELECT ssb.revoke_permission('{SELECT}', 'OBJECT', 'dbo.ledger', '{app_user}')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.rows("SELECT * FROM dbo.ledger")
    with pytest.raises(psycopg.Error):
        grant(user, "SELECT", "OBJECT", "dbo.ledger")


def test_a_permission_that_there_is_not_is_given_to_nobody(session: Session, user: Session) -> None:
    session.do("CREATE TABLE dbo.kinds_of_right (x int)")
    session.do("CREATE FUNCTION dbo.right_one() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    session.do("CREATE FUNCTION dbo.right_some() RETURNS SETOF int LANGUAGE sql AS 'SELECT 1'")
    for privilege, kind, name in (
        ("EXECUTE", "OBJECT", "dbo.kinds_of_right"),
        ("RECEIVE", "OBJECT", "dbo.kinds_of_right"),
        ("SELECT", "OBJECT", "dbo.right_one"),
        ("EXECUTE", "OBJECT", "dbo.right_some"),
        ("CREATE TABLE", "SCHEMA", "dbo"),
        ("SEND", "ROLE", "public"),
    ):
        with refused(4606):
            grant(session, privilege, kind, name)
    for kind in ("DATABASE", "SERVER"):
        for privilege in ("CONTROLL", "SEND", "RECEIVE", ""):
            with refused(102):
                grant(session, privilege, kind, None)
    grant(session, "VIEW ANY DEFINITION", "SERVER", None)
    grant(session, "SELECT", "OBJECT", "dbo.right_some")
    grant(session, "REFERENCES", "OBJECT", "dbo.kinds_of_right")


def test_who_may_insert_may_ask_for_the_identity(session: Session, user: Session) -> None:
    session.do("CREATE TABLE dbo.numbered (id integer GENERATED ALWAYS AS IDENTITY, a integer)")
    grant(session, "INSERT", "OBJECT", "dbo.numbered")
    user.do("INSERT INTO dbo.numbered (a) VALUES (1)")
    assert user.rows("SELECT sys.identity_of('dbo.numbered')") == [(1,)]
    session.do("SELECT ssb.revoke_permission('{INSERT}', 'OBJECT', 'dbo.numbered', '{app_user}')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.rows("SELECT sys.identity_of('dbo.numbered')")


@pytest.mark.long
def test_everybody_reads_the_catalog(session: Session, user: Session, pair: Pair) -> None:
    for view in session.column(
        "SELECT relname FROM pg_class WHERE relnamespace = 'sys'::regnamespace AND relkind = 'v'"
    ):
        user.rows(f"SELECT * FROM sys.{view} LIMIT 1")
    assert user.value("SELECT count(*) FROM sys.services WHERE name = %s", pair.target) == 1


def test_no_security_definer_has_an_unpinned_path(session: Session) -> None:
    assert (
        session.column(
            "SELECT p.oid::regprocedure::text FROM pg_proc AS p"
            " WHERE p.pronamespace IN ('ssb'::regnamespace, 'ssb_internal'::regnamespace,"
            " 'sys'::regnamespace) AND p.prosecdef"
            " AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS c WHERE c ="
            " 'search_path=pg_catalog, pg_temp')"
        )
        == []
    )


def test_temporary_objects_do_not_stand_in_for_ours(session: Session, user: Session, pair: Pair) -> None:
    grant(session, "RECEIVE", "OBJECT", pair.near)
    user.do("CREATE TEMP TABLE conversation_endpoint (x integer)")
    user.do("CREATE FUNCTION pg_temp.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0::bigint'")
    user.send(pair.dialog(user), pair.request, "x")
    assert session.bodies(pair.far) == ["x"]


def test_who_makes_roles_makes_no_owner_of_himself(session: Session, user: Session) -> None:
    """db_owner is there without being made: nobody gets its rights under its name."""
    drop_app_user(session)
    grant(session, "ALTER ANY ROLE", "DATABASE", None)
    with refused(15023):
        user.do("SELECT ssb.create_principal('db_owner', 'ROLE')")
    user.do("SELECT ssb.create_principal('helpers of app', 'ROLE')")
    with refused(15023):
        user.do("SELECT ssb.alter_principal('helpers of app', 'ROLE', new_name => 'DB_Owner')")
    # A role's rights are its owner's to give away, also by a name.
    with refused(15247):
        user.do("SELECT ssb.alter_principal('helpers of app', 'ROLE', new_name => 'app_user')")
    with refused(15247):
        user.do("SELECT ssb.add_member('db_owner', 'app_user')")
    user.do("SELECT ssb.drop_principal('helpers of app', 'ROLE')")
    session.do("SELECT ssb.revoke_permission('{ALTER ANY ROLE}', 'DATABASE', NULL, '{app_user}')")


def test_who_defines_things_does_not_decide_who_may_what(session: Session, user: Session, pair: Pair) -> None:
    session.do("SELECT ssb.add_member('db_ddladmin', 'app_user')")
    for number, statement in (
        (262, "create_principal('another', 'USER')"),
        (262, "create_principal('another', 'ROLE')"),
        (262, "create_principal('another', 'LOGIN')"),
        (262, "create_master_key()"),
        (262, "create_database('another')"),
        (262, "create_endpoint('another')"),
        (262, "alter_authorization('SCHEMA', 'dbo', 'app_user')"),
        (15151, f"alter_authorization('OBJECT', '{pair.far}', 'app_user')"),
        (15151, f"grant_permission('{{RECEIVE}}', 'OBJECT', '{pair.far}', '{{app_user}}')"),
        (15151, "grant_permission('{CONTROL}', 'DATABASE', NULL, '{app_user}')"),
        (15151, "deny_permission('{CONTROL}', 'DATABASE', NULL, '{db_owner}')"),
        (15151, "alter_database(current_database(), 'DISABLE_BROKER')"),
    ):
        with refused(number):
            user.do(f"SELECT ssb.{statement}")
    session.do("SELECT ssb.drop_member('db_ddladmin', 'app_user')")


def test_a_user_that_owns_something_stays_where_a_role_of_postgresql_has_his_name(session: Session) -> None:
    session.do("CREATE ROLE owning_user; SELECT ssb.create_principal('owning_user', 'USER')")
    session.do("SELECT ssb.create_queue('dbo.owned')")
    session.do("SELECT ssb.create_service('//Owned', 'dbo.owned', owner => 'owning_user')")
    with refused(15138, "owns a service"):
        session.do("SELECT ssb.drop_principal('owning_user', 'USER')")
    session.do("SELECT ssb.alter_authorization('SERVICE', '//Owned', 'dbo')")
    session.do("SELECT ssb.drop_principal('owning_user', 'USER'); DROP ROLE owning_user")


def test_rights_go_with_a_new_name_and_with_nobody_else(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.create_principal('Ann', 'USER'), ssb.create_principal('desk', 'ROLE')")
    session.do("SELECT ssb.add_member('desk', 'Ann')")
    session.do("SELECT ssb.create_queue('dbo.anns')")
    session.do("SELECT ssb.create_service('//Anns', 'dbo.anns', owner => 'Ann')")
    for privilege in ("RECEIVE", "SELECT"):
        grant(session, privilege, "OBJECT", pair.near, "Ann")
    session.do("SELECT ssb.alter_principal('ann', 'USER', new_name => 'Anna')")
    rights = "SELECT privilege, grantee, state FROM ssb.permission WHERE grantee ILIKE 'ann%' ORDER BY 1"
    assert session.rows(rights) == [("RECEIVE", "Anna", "G"), ("SELECT", "Anna", "G")]
    assert session.rows("SELECT member FROM ssb.role_member WHERE role = 'desk'") == [("Anna",)]
    assert session.rows("SELECT owner FROM ssb.service WHERE name = '//Anns'") == [("Anna",)]
    with refused(15138, "owns a service"):
        session.do("SELECT ssb.drop_principal('Anna', 'USER')")
    with refused(15144, "has members"):
        session.do("SELECT ssb.drop_principal('desk', 'ROLE')")
    session.do("SELECT ssb.drop_service('//Anns'), ssb.drop_queue('dbo.anns')")
    session.do("SELECT ssb.drop_principal('Anna', 'USER'), ssb.drop_principal('desk', 'ROLE')")
    assert session.rows(rights) == []
    # The next who is called so has nothing of hers.
    session.do("SELECT ssb.create_principal('Ann', 'USER')")
    assert session.rows(rights) == []
    session.do("SELECT ssb.drop_principal('Ann', 'USER')")


def test_what_is_built_of_others_needs_references(session: Session, user: Session, pair: Pair) -> None:
    for right in ("CREATE CONTRACT", "CREATE QUEUE", "CREATE SERVICE"):
        grant(session, right, "DATABASE", None)
    # Each database has DEFAULT for everybody.
    user.do("SELECT ssb.create_queue('dbo.users_own'), ssb.create_contract('plain', '{DEFAULT}', '{ANY}')")
    user.do("SELECT ssb.create_service('users own', 'dbo.users_own', '{DEFAULT,plain}')")
    asked = (
        ("create_contract('of others', ARRAY[%s], '{ANY}')", "MESSAGE TYPE", pair.request),
        ("alter_service('users own', add_contracts => ARRAY[%s])", "CONTRACT", pair.contract),
        ("create_service('another', 'dbo.users_own', ARRAY[%s])", "CONTRACT", pair.contract),
    )
    for statement, kind, name in asked:
        with refused(15151, f"Cannot find the {kind.lower()} '{name}'"):
            user.do(f"SELECT ssb.{statement}", name)
    with refused(15151):
        user.do(
            "SELECT ssb.create_service('notified', 'dbo.users_own', ARRAY[%s])",
            "http://schemas.microsoft.com/SQL/Notifications/PostQueryNotification",
        )
    for statement, kind, name in asked:
        grant(session, "REFERENCES", kind, name)
        user.do(f"SELECT ssb.{statement}", name)
    assert user.column("SELECT name FROM sys.services WHERE name IN ('users own', 'another') ORDER BY 1") == [
        "another",
        "users own",
    ]


def test_as_whom_a_queue_activates_is_not_dropped(session: Session, pair: Pair) -> None:
    session.do("SELECT ssb.create_principal('Runner', 'USER')")
    session.do(
        "SELECT ssb.alter_queue(%s, activation_procedure => 'dbo.p', max_queue_readers => 1,"
        " execute_as => quote_literal('Runner'))",
        pair.far,
    )
    with refused(15136, "set as the execution context"):
        session.do("SELECT ssb.drop_principal('runner', 'USER')")
    session.do("SELECT ssb.alter_queue(%s, drop_activation => true)", pair.far)
    session.do("SELECT ssb.drop_principal('runner', 'USER')")


def test_a_user_gets_the_name_of_a_role_and_a_role_keeps_its_own(
    session: Session, user: Session, pair: Pair
) -> None:
    drop_app_user(session)
    session.do("SELECT ssb.create_principal('clerk one', 'USER')")
    grant(session, "RECEIVE", "OBJECT", pair.near, "clerk one")
    session.do("SELECT ssb.deny_permission('{SELECT}', 'OBJECT', %s, '{clerk one}')", pair.near)
    grant(session, "SELECT", "OBJECT", pair.near)
    with refused(229):
        user.receive(pair.near)
    session.do("SELECT ssb.alter_principal('clerk one', 'USER', new_name => 'app_user')")
    assert user.receive(pair.near) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        user.rows(f"SELECT * FROM {pair.near}")
    with refused(15151, "Cannot alter the user 'app_user'"):
        session.do("SELECT ssb.alter_principal('app_user', 'USER', new_name => 'clerk two')")
    session.do("SELECT ssb.drop_principal('app_user', 'USER')")
    with refused(229):
        user.receive(pair.near)


def test_who_may_receive_nothing_notes_no_sends_and_streams(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """The rows stay for days, and each call would leave one."""
    # Other tests' queues in this database: one that everybody may read would be some queue.
    for (queue,) in session.rows("SELECT name FROM ssb.queue"):
        session.do("SELECT ssb.revoke_permission('{RECEIVE}', 'OBJECT', %s, '{public}')", queue)
    session.do("CREATE ROLE notes_nothing")
    session.commit()
    user = another()
    user.connection.autocommit = True
    user.do("SET ROLE notes_nothing")
    calls = (
        "SELECT ssb_internal.note_send(gen_random_uuid(), 0)",
        "SELECT ssb_internal.count_send(gen_random_uuid(), 0, 1)",
        "SELECT ssb_internal.pass_claim(1, '2020-01-01')",
        "SELECT ssb_internal.run_stream('mine')",
    )
    for call in calls:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="on no queue"):
            user.do(call)
    grant(session, "RECEIVE", "OBJECT", pair.far, "notes_nothing")
    session.commit()
    for call in calls:
        user.do(call)
    user.do("RESET ROLE")
    session.do("DROP OWNED BY notes_nothing; DROP ROLE notes_nothing")
    session.commit()


def test_nobody_notes_the_send_of_another_as_done(session: Session, user: Session, pair: Pair) -> None:
    """It would send nothing, and nobody would know."""
    grant(session, "RECEIVE", "OBJECT", pair.near)
    session.commit()
    note, count = "SELECT ssb_internal.note_send(%s, %s)", "SELECT ssb_internal.count_send(%s, %s, %s)"
    send = uuid.uuid4()
    assert user.value(note, send, 0) is True
    user.do(count, send, -1, 7)
    assert session.value(note, send, 0) is True
    session.do(count, send, 0, 3)
    session.do(count, send, -1, 1)
    assert session.value(note, send, 0) is False
    # What an earlier version noted is of whoever sends it again.
    old = uuid.uuid4()
    session.do(
        "INSERT INTO ssb.completed_send (role, send_id, partition, messages) VALUES ('', %s, 0, 3)", old
    )
    assert session.value(note, old, 0) is False
    session.do(count, old, 0, 3)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        session.do(count, old, 0, 4)


def test_nobody_prepares_the_schemas_of_a_database_to_come(session: Session, user: Session) -> None:
    """PostgreSQL's name of a schema tells its database: none means one of two."""
    session.do("SELECT ssb.create_database('First')")
    session.do("SELECT ssb.create_schema('next_dbo', database => 'First')")
    session.do("SELECT ssb.create_schema('b_more', database => 'First')")
    for name in ("First_Next", "First_b"):
        with refused(2714, "first_"):
            session.do("SELECT ssb.create_database(%s)", name)
    session.do("SELECT ssb.create_database('Other')")
    with refused(2714):
        session.do("SELECT ssb.alter_database('Other', 'NAME', 'First_Next')")
    session.do("SELECT ssb.alter_database('Other', 'NAME', 'First_Other')")
    with refused(2714):
        session.do("SELECT ssb.create_schema('other_x', database => 'First')")
    session.do("SELECT ssb.create_schema('x', database => 'First_Other')")
    session.do("CREATE SCHEMA mine_dbo AUTHORIZATION app_user")
    with refused(2714, "mine_dbo"):
        session.do("SELECT ssb.create_database('Mine')")
    session.do("DROP SCHEMA mine_dbo")
    session.do("SELECT ssb.drop_database('First'), ssb.drop_database('First_Other')")


def test_a_membership_that_forbids_set_role_lets_nobody_act_as_the_role(
    session: Session, user: Session, pg_major: int
) -> None:
    if pg_major < 16:
        pytest.skip("every member may SET ROLE")
    session.do("CREATE ROLE powerful")
    try:
        for options, may in (("SET FALSE", False), ("INHERIT FALSE, SET TRUE", True)):
            session.do(f"GRANT powerful TO app_user WITH {options}")
            assert user.value("SELECT ssb_internal.may_act_as('powerful', 5)") is may
    finally:
        session.do("DROP ROLE powerful")


def test_a_role_named_as_a_fixed_one_has_none_of_its_rights(session: Session, user: Session) -> None:
    drop_app_user(session)  # what he was granted before goes, too
    for name in ("db_owner", "db_ddladmin", "dbo"):
        session.do(f"CREATE ROLE {name}; GRANT {name} TO app_user")
        try:
            with refused(262):
                user.do("SELECT ssb.create_queue('dbo.theirs')")
            assert user.value("SELECT lower(sys.user_name())") == "app_user"  # as others have spelled it
            assert not user.value("SELECT ssb_internal.may_act_as('dbo', 5)")
        finally:
            session.do(f"DROP ROLE {name}")


def test_whoever_binds_a_view_to_a_table_needs_a_right_on_it(session: Session, user: Session) -> None:
    session.do("CREATE TABLE dbo.bound (a integer); CREATE SCHEMA of_user AUTHORIZATION app_user")
    session.do("GRANT USAGE ON SCHEMA dbo TO app_user")
    user.do("CREATE VIEW of_user.v AS SELECT 1 AS a")
    for needs in ("{dbo.bound}", "{dbo.bound.a}"):
        with refused(229):
            user.do("SELECT ssb_internal.bind_to_schema('of_user.v', %s)", needs)
    session.do("SELECT ssb_internal.drop_relation('TABLE', 'dbo.bound')")
    session.do("CREATE TABLE dbo.bound (a integer); GRANT REFERENCES ON dbo.bound TO app_user")
    user.do("SELECT ssb_internal.bind_to_schema('of_user.v', '{dbo.bound}')")
    with refused(3729):
        session.do("SELECT ssb_internal.drop_relation('TABLE', 'dbo.bound')")
    user.do("DROP VIEW of_user.v; SELECT ssb_internal.forget_source('of_user.v')")
    session.do("DROP TABLE dbo.bound; DROP SCHEMA of_user; REVOKE USAGE ON SCHEMA dbo FROM app_user")
