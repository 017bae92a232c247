"""What a role with no more than CONNECT can do with functions that run with the owner's rights.

The traps are those that SECURITY DEFINER functions fall into: code of the caller's that runs while the
owner's rights are on, through views, triggers, types and temporary tables; and things made in
somebody else's name.
"""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from runtime.broker import TIMER, Pair, Session, refused

from support import Database

_TRAPS = """
CREATE TYPE pg_temp.bait AS ENUM ('a');
CREATE FUNCTION pg_temp.note() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN true; END $$;
CREATE FUNCTION pg_temp.to_json(pg_temp.bait) RETURNS json LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_temp.note(); RETURN '1'; END $$;
CREATE CAST (pg_temp.bait AS json) WITH FUNCTION pg_temp.to_json(pg_temp.bait);
CREATE FUNCTION pg_temp.to_integer(pg_temp.bait) RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_temp.note(); RETURN 1; END $$;
CREATE CAST (pg_temp.bait AS integer) WITH FUNCTION pg_temp.to_integer(pg_temp.bait) AS IMPLICIT;
CREATE FUNCTION pg_temp.to_bigint(pg_temp.bait) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_temp.note(); RETURN 1; END $$;
CREATE FUNCTION pg_temp.to_uuid(pg_temp.bait) RETURNS uuid LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_temp.note(); RETURN gen_random_uuid(); END $$;
CREATE VIEW pg_temp.trap AS SELECT 1 AS one WHERE pg_temp.note();
GRANT SELECT ON pg_temp.trap TO PUBLIC;
CREATE TEMPORARY TABLE ledger (queue_id pg_temp.bait);
GRANT ALL ON ledger TO PUBLIC;
"""


@pytest.fixture(scope="module")
def mallory(shared: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A login without any grant, its traps laid; public.ran_as tells as whom they were sprung."""
    with psycopg.connect(shared.dsn, autocommit=True) as owner:
        owner.execute("CREATE ROLE mallory LOGIN; CREATE ROLE mallorys_friend")
        owner.execute("CREATE TABLE public.ran_as (name text); GRANT ALL ON public.ran_as TO PUBLIC")
        owner.execute("CREATE SCHEMA mallory AUTHORIZATION mallory")
        with psycopg.connect(shared.dsn, autocommit=True, user="mallory") as connection:
            connection.execute(_TRAPS)
            yield connection
        owner.execute("DELETE FROM ssb.permission WHERE grantee = 'mallory'")
        owner.execute("DROP OWNED BY mallory CASCADE; DROP ROLE mallory; DROP ROLE mallorys_friend")


@pytest.fixture
def stranger(mallory: psycopg.Connection[tuple[object, ...]], session: Session) -> Iterator[Session]:
    session.do("TRUNCATE public.ran_as")
    yield Session(mallory)
    assert set(session.column("SELECT name FROM public.ran_as")) <= {"mallory"}


def test_a_view_is_not_counted(stranger: Session) -> None:
    assert stranger.value("SELECT ssb_internal.rows_of('pg_temp.trap'::regclass)") == 0
    stranger.do("CREATE TABLE mallory.plain AS SELECT n FROM generate_series(1, 3) AS n")
    assert stranger.value("SELECT ssb_internal.rows_of('mallory.plain'::regclass)") == 3


_SWAPS = {
    "a view": "DROP TABLE mallory.swapped; CREATE VIEW mallory.swapped AS SELECT 1 AS n WHERE mallory.swap();"
    " GRANT SELECT ON mallory.swapped TO PUBLIC",
    "a policy": "ALTER TABLE mallory.swapped ENABLE ROW LEVEL SECURITY;"
    " CREATE POLICY p ON mallory.swapped USING (mallory.swap())",
}


@pytest.mark.parametrize("swap", _SWAPS.values(), ids=_SWAPS)
def test_what_comes_in_the_place_of_a_table_is_not_counted(
    stranger: Session, session: Session, shared: Database, swap: str
) -> None:
    """Its owner holds the lock for which the count waits, and lets go of it when something else is there."""
    stranger.do(
        "DROP FUNCTION IF EXISTS mallory.swap() CASCADE; CREATE FUNCTION mallory.swap() RETURNS boolean"
        " LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN true; END $$;"
        " CREATE TABLE mallory.swapped AS SELECT 1 AS n; GRANT SELECT ON mallory.swapped TO PUBLIC;"
        " GRANT USAGE ON SCHEMA mallory TO PUBLIC"
    )
    table = stranger.value("SELECT 'mallory.swapped'::regclass::oid")
    stranger.do(f"BEGIN; LOCK TABLE mallory.swapped; {swap}")
    with psycopg.connect(shared.dsn, autocommit=True) as counting, ThreadPoolExecutor(1) as pool:
        counting.execute("SET ROLE mallorys_friend")
        count = pool.submit(counting.execute, "SELECT ssb_internal.rows_of(%s::oid)", (table,))
        while not count.done() and not session.value(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
        ):
            time.sleep(0.001)
        stranger.do("COMMIT")
        assert count.result().fetchone() == (0,)
    stranger.do("DROP FUNCTION mallory.swap() CASCADE")
    kind = "TABLE" if swap.startswith("ALTER") else "VIEW IF EXISTS"
    stranger.do(f"DROP {kind} mallory.swapped")


_CURSORS_OF_MALLORY = """
CREATE FUNCTION pg_temp.cell() RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_temp.note(); RETURN '[]'; END $$;
CREATE VIEW pg_temp.ssb_cursor AS
    SELECT 'c'::text AS key, 1 AS at, 1 AS row_count, true AS can_scroll, true AS is_fixed,
           pg_temp.cell() AS columns, NULL::xid8 AS opened_in WHERE pg_temp.note();
CREATE VIEW pg_temp.ssb_cursor_row AS
    SELECT 'c'::text AS key, 1 AS place, ARRAY[pg_temp.cell()] AS cells WHERE pg_temp.note();
GRANT SELECT ON pg_temp.ssb_cursor, pg_temp.ssb_cursor_row TO PUBLIC
"""
_ARGUMENT = {
    "text": "'c'",
    "text[]": "'{1}'",
    "integer": "1",
    "bigint": "1",
    "boolean": "true",
    "jsonb": "'{}'",
}


def test_what_serves_cursors_reads_no_relation_of_the_caller(stranger: Session) -> None:
    """Each function with the owner's rights that names a temporary table, as the catalog tells them."""
    served = stranger.rows(
        "SELECT p.oid::regproc::text, ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)"
        "  FROM pg_proc AS p WHERE p.prosecdef AND p.prosrc LIKE '%pg\\_temp.%'"
        "   AND p.pronamespace IN ('ssb'::regnamespace, 'ssb_internal'::regnamespace, 'sys'::regnamespace)"
        "   AND has_function_privilege(p.oid, 'EXECUTE')"
    )
    assert {"ssb_internal.fetch_kept", "ssb_internal.kept_cursor_columns"} <= {name for name, _ in served}
    stranger.do(_CURSORS_OF_MALLORY)
    refused_names = set()
    try:
        for name, types in served:
            try:
                stranger.rows(f"SELECT {name}({', '.join(_ARGUMENT[type_] for type_ in types)})")
            except psycopg.Error as error:
                assert "does not use pg_temp" in str(error), name
                refused_names.add(name)
    finally:
        stranger.do("DROP VIEW pg_temp.ssb_cursor, pg_temp.ssb_cursor_row; DROP FUNCTION pg_temp.cell()")
    # The state of a session has none of these cursors.
    assert {name for name, _ in served} - refused_names == {"ssb_internal.cursors_of_session"}


def test_row_security_of_others_does_not_run_either(stranger: Session, session: Session) -> None:
    stranger.do("CREATE TABLE mallory.policed (n integer); GRANT SELECT ON mallory.policed TO PUBLIC")
    stranger.do(
        "CREATE FUNCTION mallory.note() RETURNS boolean LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN true; END $$;"
        " INSERT INTO mallory.policed VALUES (1); ALTER TABLE mallory.policed ENABLE ROW LEVEL SECURITY;"
        " CREATE POLICY p ON mallory.policed USING (mallory.note()); GRANT USAGE ON SCHEMA mallory TO PUBLIC"
    )
    session.do("SET ROLE mallorys_friend")
    session.rows("SELECT * FROM sys.partitions")
    session.do("RESET ROLE")


def test_trigger_functions_with_the_owners_rights_are_not_for_others(
    stranger: Session, session: Session
) -> None:
    names = session.column(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE prosecdef AND prorettype = 'trigger'::regtype"
        " AND pronamespace IN ('ssb'::regnamespace, 'ssb_internal'::regnamespace, 'sys'::regnamespace)"
    )
    assert "ssb_internal.announce_definition_event()" in names
    for name in names:
        function = str(name).removesuffix("()")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.do(
                f"CREATE TRIGGER t AFTER INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION {function}('QUEUE')"
            )


def test_bodies_in_transmission_are_for_those_who_may_receive(
    stranger: Session, session: Session, pair: Pair
) -> None:
    handle = session.value("SELECT ssb.begin_dialog(%s, 'nowhere', %s)", pair.initiator, pair.contract)
    session.send(handle, pair.request, "for few eyes")
    asked = "SELECT message_body FROM sys.transmission_queue WHERE conversation_handle = %s"
    assert session.column(asked, handle) == [b"for few eyes"]
    assert stranger.column(asked, handle) == [None]
    session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, '{mallory}')", pair.near)
    assert stranger.column(asked, handle) == [b"for few eyes"]
    session.end(handle)


def test_nothing_is_made_in_the_name_of_another(stranger: Session, session: Session) -> None:
    session.do(
        "SELECT ssb.grant_permission('{CREATE QUEUE,CREATE SERVICE,CREATE MESSAGE TYPE}', 'DATABASE', NULL,"
        " '{mallory}')"
    )
    stranger.do("CREATE PROCEDURE mallory.program() LANGUAGE sql AS 'SELECT 1'")
    stranger.do(
        "SELECT ssb.create_queue('mallory.q', activation_procedure => 'mallory.program',"
        " max_queue_readers => 1)"
    )
    for statement, number in [
        ("ssb.alter_authorization('OBJECT', 'mallory.q', 'dbo')", 15151),
        ("ssb.alter_authorization('OBJECT', 'mallory.q', 'mallorys_friend')", 15151),
        ("ssb.create_service('//mallory', 'mallory.q', owner => 'dbo')", 15151),
        ("ssb.create_message_type('//mallory', owner => 'dbo')", 15151),
        ("ssb.alter_queue('mallory.q', execute_as => '''mallorys_friend''')", 15517),
        ("ssb.alter_queue('mallory.q', execute_as => '''dbo''')", 15517),
    ]:
        with refused(number):
            stranger.do("SELECT " + statement)
    # With ALTER on a queue of somebody else's, its program is not to be chosen either.
    session.do("SELECT ssb.create_queue('dbo.of_the_owner')")
    session.do("SELECT ssb.grant_permission('{ALTER}', 'OBJECT', 'dbo.of_the_owner', '{mallory}')")
    stranger.do("SELECT ssb.alter_queue('dbo.of_the_owner', retention => true)")
    with refused(15517):
        stranger.do(
            "SELECT ssb.alter_queue('dbo.of_the_owner', activation_procedure => 'mallory.program',"
            " max_queue_readers => 1)"
        )
    stranger.do(
        "SELECT ssb.alter_queue('dbo.of_the_owner', activation_procedure => 'mallory.program',"
        " max_queue_readers => 1, execute_as => 'SELF')"
    )
    stranger.do("SELECT ssb.drop_queue('mallory.q')")
    session.do("SELECT ssb.drop_queue('dbo.of_the_owner')")


def test_a_claim_is_completed_with_no_code_of_the_caller(
    stranger: Session, session: Session, pair: Pair
) -> None:
    session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, '{mallory}')", pair.far)
    handle = pair.dialog()
    for _ in range(2):
        session.send(handle, pair.request, "work")
    claim = stranger.value("SELECT claim_id FROM ssb_internal.claim_messages(%s)", pair.far)
    complete = "SELECT deleted FROM ssb_internal.complete_claim(%s, %s)"
    # A temporary table with a trigger.
    stranger.do("CREATE TEMPORARY TABLE bulk_failure (endpoint_id bigint, from_order bigint, error text)")
    stranger.do(
        "CREATE FUNCTION pg_temp.sprung() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_temp.note(); RETURN NULL; END $$;"
        " CREATE TRIGGER t BEFORE TRUNCATE OR INSERT ON bulk_failure EXECUTE FUNCTION pg_temp.sprung()"
    )
    # Columns of types with casts, in a staging table and in one that a looser pattern would let in.
    stranger.do(
        "CREATE TEMPORARY TABLE output"
        " (conversation_handle pg_temp.bait, queuing_order pg_temp.bait, error text);"
        " CREATE CAST (pg_temp.bait AS bigint) WITH FUNCTION pg_temp.to_bigint(pg_temp.bait) AS IMPLICIT;"
        " CREATE CAST (pg_temp.bait AS uuid) WITH FUNCTION pg_temp.to_uuid(pg_temp.bait) AS IMPLICIT"
    )
    staging = stranger.value("SELECT ssb_internal.create_staging(%s, 'table', 'pg_temp.output')", claim)
    alike = f"ssb_staging_claim_{claim}_1_errors"
    stranger.do(f"CREATE TEMPORARY TABLE {alike} AS SELECT *, 1 AS attempt_id FROM output")
    for conforming in ("on", "off"):
        stranger.do(f"SET standard_conforming_strings = {conforming}")
        for table in (staging, alike):
            with pytest.raises(psycopg.Error, match="staging"):
                stranger.do(
                    complete,
                    claim,
                    json.dumps([{"kind": "errors", "staging": table, "attempts": [1], "rows": 0}]),
                )
    stranger.do("RESET standard_conforming_strings")
    assert stranger.value(complete, claim, "[]") == 2


def test_a_lock_of_somebody_else_keeps_no_claim_alive(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    session.send(pair.dialog(), pair.request, "work")
    driver, bystander = another(), another()
    driver.connection.autocommit = bystander.connection.autocommit = True
    claim = driver.value("SELECT claim_id FROM ssb_internal.claim_messages(%s)", pair.far)
    assert session.receive(pair.far) == []
    driver.do("SELECT pg_advisory_unlock_all()")
    # The next claim's lock is taken, too.
    bystander.do(
        "SELECT pg_advisory_lock(1397965376, %s), pg_advisory_lock(1397965376, %s)", claim, claim + 1
    )
    # That a claim is alive is remembered for a tenth of a second.
    session.do("SELECT pg_sleep(0.11)")
    assert [message.body for message in session.receive(pair.far)] == ["work"]
    session.send(pair.dialog(), pair.request, "more")
    assert driver.value("SELECT claim_id FROM ssb_internal.claim_messages(%s)", pair.far) == claim + 2
    driver.do("SELECT ssb_internal.abandon_claim(%s)", claim + 2)


def test_settings_lead_to_no_queue_of_another(stranger: Session, session: Session, pair: Pair) -> None:
    """What a session remembers of a queue stands in settings, which it may write itself."""
    session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, '{mallory}')", pair.near)
    handle = pair.dialog()
    for _ in range(3):
        session.send(handle, pair.request, "for others")
    endpoint = session.value("SELECT max(endpoint_id) FROM ssb.conversation_endpoint")
    queue = session.value("SELECT queue_id FROM ssb.queue WHERE name = %s", pair.near)
    stranger.receive(pair.near)
    for mark in (None, "{0,0,0,99999999999,1,0,32}", "{0,9999,9999,0,1,0,9999}"):
        stranger.do(
            "SELECT set_config('ssb.skipped_' || %s || '_5', %s, false)", str(queue), f"{{{endpoint},0}}"
        )
        if mark is not None:
            stranger.do("SELECT set_config('ssb.read_position_' || %s || '_5', %s, false)", str(queue), mark)
        assert stranger.receive(pair.near) == []
    assert session.bodies(pair.far) == ["for others"] * 3


def test_a_service_on_the_queue_of_another_needs_references(
    stranger: Session, session: Session, pair: Pair
) -> None:
    session.do("SELECT ssb.grant_permission('{CREATE SERVICE,CREATE QUEUE}', 'DATABASE', NULL, '{mallory}')")
    stranger.do("SELECT ssb.create_queue('mallory.own')")
    stranger.do("SELECT ssb.create_service('//mallory', 'mallory.own', '{DEFAULT}')")
    intrusions = (
        "SELECT ssb.create_service('//inside', %s, '{DEFAULT}')",
        "SELECT ssb.alter_service('//mallory', %s)",
    )
    for statement in intrusions:
        with refused(15151):
            stranger.do(statement, pair.far)
    session.do("SELECT ssb.grant_permission('{REFERENCES}', 'OBJECT', %s, '{mallory}')", pair.far)
    for statement in intrusions:
        stranger.do(statement, pair.far)
    stranger.do("SELECT ssb.drop_service('//inside'), ssb.drop_service('//mallory')")
    stranger.do("SELECT ssb.drop_queue('mallory.own')")


def test_queues_stand_where_their_makers_may_make_something(stranger: Session, session: Session) -> None:
    session.do("SELECT ssb.grant_permission('{CREATE QUEUE}', 'DATABASE', NULL, '{mallory}')")
    session.do("CREATE SCHEMA closed")
    for schema in (
        "ssb",
        "ssb_internal",
        "sys",
        "ssb_staging",
        "ssb_locks",
        "information_schema",
        "pg_catalog",
        "pg_toast",
        "closed",
    ):
        with refused(2760):
            stranger.do(f"SELECT ssb.create_queue('{schema}.q')")
    for schema in ("dbo", "mallory"):
        stranger.do(f"SELECT ssb.create_queue('{schema}.q'), ssb.drop_queue('{schema}.q')")
    with refused(2760):
        session.do("SELECT ssb.create_queue('ssb.q')")


def test_who_may_fill_roles_may_not_make_owners(stranger: Session, session: Session) -> None:
    session.do("SELECT ssb.grant_permission('{ALTER ANY ROLE}', 'DATABASE', NULL, '{mallory}')")
    stranger.do("SELECT ssb.create_principal('helpers', 'ROLE')")
    stranger.do("SELECT ssb.add_member('helpers', 'mallory')")
    for role in ("db_owner", "db_ddladmin", "dbo", "mallorys_friend"):
        with refused(15247):
            stranger.do("SELECT ssb.add_member(%s, 'mallory')", role)
    # The owner may.
    session.do("SELECT ssb.add_member('db_ddladmin', 'mallory'), ssb.drop_member('db_ddladmin', 'mallory')")


def test_a_number_that_is_no_tables_names_no_default(stranger: Session) -> None:
    """A table might have it later."""
    for number in ("0", "4000000000"):
        with refused(1088):
            stranger.do(f"SELECT ssb_internal.name_default({number}::oid::regclass, 'a', 'planted')")


def test_properties_are_changed_by_owners(stranger: Session, session: Session, pair: Pair) -> None:
    session.do("CREATE TABLE dbo.others (id integer)")
    stranger.do("CREATE TABLE mallory.own (id integer)")
    change = "SELECT sys.change_extended_property('ADD', 'note', 'x', {})"
    for place in (
        "NULL",
        "'SCHEMA', 'dbo', 'TABLE', 'others'",
        "'SCHEMA', 'dbo', 'TABLE', 'others', 'COLUMN', 'id'",
        f"'SERVICE', '{pair.target}'",
        "'SCHEMA', 'dbo'",
    ):
        with refused(15247):
            stranger.do(change.format(place))
        session.do(change.format(place))
    stranger.do(change.format("'SCHEMA', 'mallory', 'TABLE', 'own'"))
    stranger.do(change.format("'SCHEMA', 'mallory', 'TABLE', 'own', 'COLUMN', 'id'"))


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_a_certificates_name_is_no_way_to_log_in(session: Session, conforming: str) -> None:
    session.do(f"SET standard_conforming_strings = {conforming}")
    logins = "SELECT ssb_internal.endpoint_logins(%s), ssb_internal.endpoint_certificate(%s)"
    for written, name in (("[of windows]", "of windows"), ('"windows"', "windows"), ("windows", "windows")):
        both = f"certificate  {written}"
        assert session.rows(logins, both, both) == [("CERTIFICATE", name)]
    session.do("RESET standard_conforming_strings")


def test_who_has_no_rights_holds_nothing_that_others_need(
    stranger: Session, session: Session, pair: Pair
) -> None:
    """In a transaction that stays open, whatever he calls."""
    handle = pair.dialog()
    session.do("SELECT ssb.begin_conversation_timer(%s, 1)", handle)
    session.do(
        "UPDATE ssb.conversation_endpoint SET due_at = now(), dialog_timer = now() WHERE due_at IS NOT NULL"
    )
    with stranger.connection.transaction():
        for statement in (
            "ssb_internal.deliver_all_due()",
            "ssb.deliver_due()",
            "ssb_internal.tell_of_poison()",
            "ssb.tidy_up()",
        ):
            stranger.do("SELECT " + statement)
        session.do("SET lock_timeout = '2s'")
        assert [message.type for message in session.receive(pair.near)] == [TIMER]
        session.end(handle)
    session.do("RESET lock_timeout")


def test_who_runs_a_stream_keeps_nobody_elses_from_its_name(
    stranger: Session, session: Session, pair: Pair
) -> None:
    session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, '{mallory}')", pair.near)
    with stranger.connection.transaction():
        stranger.do("SELECT ssb_internal.run_stream('x')")
        session.do("SET lock_timeout = '2s'")
        session.do("SELECT ssb_internal.run_stream('x')")
    session.do("RESET lock_timeout")


def test_who_may_receive_gives_space_back_between_his_transactions_alone(
    stranger: Session, session: Session, pair: Pair
) -> None:
    """TRUNCATE leaves a lock beside which nobody sends, as long as the transaction."""
    session.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', %s, '{mallory}')", pair.far)
    handle = pair.dialog()
    forged = "E'SELECT ssb.tidy_up() /*\\nPL/pgSQL function ssb.tidy() line 8 at assignment\\n*/'"
    stranger.do(
        'CREATE OR REPLACE FUNCTION mallory."PL/pgSQL function ssb.tidy() line"() RETURNS text'
        " LANGUAGE plpgsql AS $$ DECLARE v text; BEGIN v := ssb.tidy_up(); RETURN v; END $$;"
        " CREATE OR REPLACE FUNCTION mallory.forged() RETURNS text LANGUAGE plpgsql AS"
        f" $$ DECLARE v text; BEGIN EXECUTE {forged} INTO v; RETURN v; END $$"
    )
    for _ in range(300):
        session.send(handle, pair.request, "to fill the table")
    assert len(session.receive(pair.far)) == 300
    assert session.value("SELECT ssb.rotate_messages(0)") == "switched"
    with stranger.connection.transaction():
        for call in ("ssb.tidy_up()", 'mallory."PL/pgSQL function ssb.tidy() line"()', "mallory.forged()"):
            assert stranger.value(f"SELECT {call}") == "nothing"
        session.send(handle, pair.request, "beside it")
    stranger.do("CALL ssb.tidy()")
    assert session.bodies(pair.far) == ["beside it"]
    # He did all steps: none is left.
    assert session.value("SELECT ssb.rotate_messages()") == "nothing"


def test_sealed_keys_are_for_those_who_control_them(stranger: Session, session: Session) -> None:
    """Who has a key that a password seals tries passwords at home."""
    session.do("INSERT INTO ssb.master_key (database_id, by_service) VALUES (5, 'a')")
    session.do("INSERT INTO ssb.master_key_password (database_id, sealed) VALUES (5, 'b')")
    keys = "SELECT crypt_property FROM sys.key_encryptions ORDER BY crypt_type"
    assert stranger.column(keys) == [None, None]
    assert session.column(keys) == [b"a", b"b"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.do("SELECT (ssb_internal.current_certificate(256)).private_key")
    session.do("DELETE FROM ssb.master_key")


@pytest.mark.parametrize("way", ["index", "matview", "cascade", "cascade into partitions"])
def test_code_that_maintenance_runs_has_no_rights_of_the_session(
    stranger: Session, session: Session, pair: Pair, way: str
) -> None:
    """Mallory's code runs in a session of the owner's, or of a superuser's where it is autovacuum."""
    handle = pair.dialog()
    session.send(handle, pair.request, "for few eyes")
    tried = [
        "ssb_internal.add_member('db_owner', 'mallory')",
        f"ssb.grant_permission('{{RECEIVE}}', 'OBJECT', '{pair.far}', '{{mallory}}')",
        "ssb.create_queue('mallory.q')",
        f"ssb.receive('{pair.far}')",
        f"ssb.get_conversation_group('{pair.far}')",
        f"ssb_internal.look_for_message('{pair.far}', NULL, NULL)",
        f"ssb.send('{handle}', '{pair.request}', 'x'::bytea)",
        f"ssb.send_batch(array_fill('{handle}'::uuid, '{{8}}'), array_fill('{pair.request}'::text, '{{8}}'),"
        " array_fill('x'::bytea, '{8}'))",
        f"ssb.send_many('{{{handle}}}', '{pair.request}', 'x'::bytea)",
        f"ssb.begin_dialog('{pair.initiator}', '{pair.target}', '{pair.contract}', encryption => false)",
        f"ssb_internal.begin_and_send('{pair.initiator}', '{pair.target}', '{pair.contract}',"
        f" '{pair.request}', 'x', false)",
        f"ssb.end_conversation('{handle}')",
        f"ssb.end_conversations('{{{handle}}}')",
        f"ssb_internal.conversation_bodies('{handle}', 10)",
        f"ssb_internal.claim_messages('{pair.far}')",
        f"ssb_internal.bring_in('{pair.far}')",
        "ssb_internal.alter_database(current_database(), 'DISABLE_BROKER')",
    ]
    stranger.do(
        "DROP TABLE IF EXISTS mallory.loot, mallory.tried, mallory.bait, mallory.child CASCADE;"
        " CREATE TABLE mallory.loot (text text); CREATE TABLE mallory.tried (text text);"
        " CREATE TABLE mallory.bait (a integer);"
        " GRANT USAGE ON SCHEMA mallory TO PUBLIC; GRANT SELECT ON mallory.loot TO PUBLIC;"
        " CREATE OR REPLACE FUNCTION mallory.try() RETURNS integer LANGUAGE plpgsql AS $f$"
        " DECLARE v text; BEGIN IF session_user <> 'mallory' THEN INSERT INTO mallory.loot VALUES ('ran');"
        " FOR v IN SELECT text FROM mallory.tried LOOP"
        " BEGIN EXECUTE 'SELECT count(*) FROM ' || v; INSERT INTO mallory.loot VALUES (v);"
        " EXCEPTION WHEN insufficient_privilege THEN NULL; END; END LOOP; END IF; RETURN 1; END $f$;"
        " CREATE OR REPLACE FUNCTION mallory.calm(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS"
        " 'BEGIN RETURN mallory.try(); END';"
        " CREATE OR REPLACE FUNCTION mallory.sprung() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM mallory.try(); RETURN OLD; END'"
    )
    for text in tried:
        stranger.do("INSERT INTO mallory.tried VALUES (%s)", text)
    if way == "index":
        stranger.do("CREATE INDEX ON mallory.bait (mallory.calm(a)); INSERT INTO mallory.bait VALUES (1)")
        session.do("ANALYZE mallory.bait")
    elif way == "matview":
        stranger.do("CREATE MATERIALIZED VIEW mallory.seen AS SELECT mallory.calm(1)")
        session.do("REFRESH MATERIALIZED VIEW mallory.seen; DROP MATERIALIZED VIEW mallory.seen")
    else:
        session.do(
            "DROP TABLE IF EXISTS dbo.parent CASCADE; CREATE TABLE dbo.parent (id integer PRIMARY KEY);"
            " INSERT INTO dbo.parent VALUES (1);"
            " GRANT REFERENCES ON dbo.parent TO mallory"
        )
        parts = " PARTITION BY LIST (id)" if "partitions" in way else ""
        stranger.do(f"CREATE TABLE mallory.child (id integer REFERENCES dbo.parent ON DELETE CASCADE){parts}")
        if parts:
            stranger.do("CREATE TABLE mallory.part PARTITION OF mallory.child DEFAULT")
        stranger.do(
            "CREATE TRIGGER t BEFORE DELETE ON mallory.child FOR EACH ROW EXECUTE FUNCTION mallory.sprung();"
            " INSERT INTO mallory.child VALUES (1)"
        )
        session.do("DELETE FROM dbo.parent")
    assert session.column("SELECT text FROM mallory.loot") == ["ran"]
    assert session.bodies(pair.far) == ["for few eyes"]
