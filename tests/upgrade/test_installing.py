"""install, upgrade, uninstall: idempotent, safe at once, and the same by every way."""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from dialogs import Statements, begin
from end_to_end.tsql import Tsql
from runtime_objects import objects

from pgsb.cli.install import upgrade_command
from pgsb.runtime_sql import installer, removal
from pgsb.server.problems import ServerError
from support import Connection, Database


@pytest.mark.long
@pytest.mark.one_postgres
def test_installing_twice_changes_nothing(postgres: str, connect: Callable[..., Connection]) -> None:
    assert installer.installed_version(connect(postgres)) is None
    connection = connect()
    assert installer.installed_version(connection) == installer.RUNTIME_VERSION
    before = objects(connection)
    assert len(before) > 300
    connection.execute("UPDATE ssb.runtime_version SET content_hash = 'another'")
    connection.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_service('s', 'dbo.q', '{DEFAULT}')")
    connection.execute("SELECT ssb.send(ssb.begin_dialog('s', 's'), body => 'kept'::bytea)")
    # As a version left it that did not count them.
    connection.execute("INSERT INTO ssb.urgent_conversation (queue_id, endpoint_id) VALUES (0, 0)")
    with_queue = objects(connection)
    installer.install(connection)
    counted = "SELECT pg_sequence_last_value('ssb.urgent_conversations') IS NOT NULL"
    assert connection.execute(counted).fetchone() == (True,)
    assert objects(connection) == with_queue
    assert connection.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall() == [(b"kept",)]
    removal.uninstall(connection)
    assert installer.installed_version(connection) is None
    assert connection.execute("SELECT to_regclass('dbo.q') IS NULL").fetchone() == (True,)
    installer.install(connection)
    assert objects(connection) == before


@pytest.mark.long
@pytest.mark.one_postgres
def test_twenty_may_install_at_once(empty_database: Database, connect: Callable[..., Connection]) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(20)

    def install_once() -> None:
        try:
            with psycopg.connect(empty_database.dsn, autocommit=True) as connection:
                start.wait(20)
                installer.install(connection)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=install_once) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert connect(empty_database.dsn).execute("SELECT count(*) FROM ssb.runtime_version").fetchone() == (1,)


@pytest.mark.long
@pytest.mark.one_postgres
def test_timeouts_of_the_database_are_not_for_installing(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    admin = connect(empty_database.dsn)
    timeouts = admin.execute(
        "SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')"
    ).fetchall()
    for (name,) in timeouts:  # the second is of PostgreSQL 17
        admin.execute(f"ALTER DATABASE {empty_database.name} SET {name} = '100ms'")
    with psycopg.connect(empty_database.dsn, autocommit=True) as connection:
        installer.install(connection)
        installer.upgrade(connection)
        # They are there again behind it.
        assert connection.execute("SHOW statement_timeout").fetchone() == ("100ms",)
        removal.uninstall(connection)


@pytest.mark.long
def test_an_upgrade_and_those_who_work_do_not_deadlock(connect: Callable[..., Connection]) -> None:
    """Each takes tables that the other has; a client's transaction ends, and the upgrade waits for that."""
    connection = connect()
    connection.execute(
        "SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('s', 'dbo.q', '{DEFAULT}');"
    )
    client = connect(autocommit=False)
    client.execute("SELECT count(*) FROM ssb.receive('dbo.q')")
    with ThreadPoolExecutor(1) as upgrading:
        done = upgrading.submit(installer.upgrade, connection)
        with connect() as watcher:
            waits = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
            while watcher.execute(waits, [connection.info.backend_pid]).fetchone() != ("Lock",):
                assert not done.done()
        client.execute("SELECT ssb.send(ssb.begin_dialog('s', 's'), body => 'kept'::bytea)")
        client.commit()
        done.result(60)
    assert client.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall() == [(b"kept",)]
    # What never ends is named, as soon as the upgrade's lock_timeout says.
    connection.execute("SET lock_timeout = '300ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable, match="transactions that do not end") as refused:
        installer.upgrade(connection)
    assert f"process {client.info.backend_pid} of " in (refused.value.diag.message_detail or "")
    client.execute("PREPARE TRANSACTION 'nobody decides'")
    with pytest.raises(psycopg.errors.LockNotAvailable, match="transactions that do not end") as refused:
        installer.upgrade(connection)
    assert (refused.value.diag.message_detail or "").startswith("prepared transaction nobody decides of ")
    connection.execute("ROLLBACK PREPARED 'nobody decides'")
    installer.upgrade(connection)
    assert connection.execute("SHOW lock_timeout").fetchone() == ("300ms",)


@pytest.mark.long
def test_a_stranger_with_the_installers_lock_is_not_waited_for(
    database: Database, connect: Callable[..., Connection]
) -> None:
    admin = connect()
    admin.execute("CREATE ROLE lock_stranger LOGIN")
    try:
        with psycopg.connect(database.dsn, user="lock_stranger", autocommit=True) as stranger:
            stranger.execute("SELECT pg_advisory_lock(%s)", [installer.LOCK])
            admin.execute("SET statement_timeout = '60s'")
            installer.install(admin)
            admin.execute(installer.install_sql().encode())
            removal.uninstall(admin)
            # Who may create schemas may be installing.
            admin.execute(f"GRANT CREATE ON DATABASE {database.name} TO lock_stranger")
            admin.execute("SET statement_timeout = '300ms'")
            with pytest.raises(psycopg.errors.QueryCanceled):
                installer.install(admin)
    finally:
        admin.execute("SET statement_timeout = 0; DROP OWNED BY lock_stranger")
        admin.execute("DROP ROLE lock_stranger")


@pytest.mark.long
@pytest.mark.one_postgres
def test_the_script_is_the_same_as_the_installer(
    empty_database: Database, database: Database, connect: Callable[..., Connection]
) -> None:
    with psycopg.connect(empty_database.dsn, autocommit=True) as connection:
        for _ in range(2):
            connection.execute(installer.install_sql().encode())
    connection = connect(empty_database.dsn)
    assert objects(connection) == objects(connect())
    assert installer.installed_version(connection) == installer.RUNTIME_VERSION


def test_tools_that_speak_jdbc_may_apply_the_script() -> None:
    """In a statement that is prepared, as by Liquibase, ? is a parameter, outside of quotes and comments."""
    quoted = r"--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'|\"[^\"]*\""
    assert "?" not in re.sub(quoted, "", installer.install_sql(), flags=re.DOTALL)


def test_a_newer_runtime_is_left_alone(database: Database, connect: Callable[..., Connection]) -> None:
    connection = connect()
    connection.execute("UPDATE ssb.runtime_version SET version = 1000000")
    with pytest.raises(installer.RuntimeVersionError, match="1000000"):
        installer.install(connection)


def test_a_dump_without_its_data_is_left_alone(
    database: Database, connect: Callable[..., Connection]
) -> None:
    """A fresh runtime put into its tables would be in the way of the data."""
    connection = connect()
    connection.execute("DELETE FROM ssb.runtime_version")
    for bring in (installer.install, installer.upgrade):
        with pytest.raises(installer.RuntimeVersionError, match="--schema-only"):
            bring(connection)
    with pytest.raises(psycopg.errors.RaiseException, match="--schema-only"):
        connection.execute(installer.install_sql().encode())


@pytest.mark.long
def test_an_unreleased_runtime_with_other_tables_is_left_alone(
    database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect()
    connection.execute("UPDATE ssb.runtime_version SET content_hash = 'another'")
    connection.execute("ALTER TABLE ssb.recycled_dialog RENAME COLUMN handle TO dialog")
    with pytest.raises(installer.RuntimeVersionError, match="unreleased") as caught:
        installer.install(connection)
    assert "pgsb uninstall" in caught.value.hint
    assert connection.execute("SELECT content_hash FROM ssb.runtime_version").fetchone() == ("another",)
    # And one of an earlier version, whether a migration or a function is what finds that out.
    for earlier in (1, int(installer.RUNTIME_VERSION) - 1):
        connection.execute("UPDATE ssb.runtime_version SET version = %s", [earlier])
        before = objects(connection)
        refusal = f"unreleased state of runtime version {earlier},"
        with pytest.raises(installer.RuntimeVersionError, match=refusal) as caught:
            installer.upgrade(connection)
        assert "nothing was changed" in caught.value.hint
        assert objects(connection) == before


def test_a_failed_installation_leaves_nothing(
    empty_database: Database, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(empty_database.dsn)
    parts = installer._texts()
    monkeypatch.setattr(installer, "_texts", lambda wanted: [*parts[:30], "SELECT 1/0"])
    with pytest.raises(psycopg.errors.DivisionByZero):
        installer.install(connection)
    assert connection.execute("SELECT to_regnamespace('ssb'), to_regnamespace('dbo')").fetchone() == (
        None,
        None,
    )


def test_migrations_bring_an_old_runtime_up_to_date(
    connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect()
    applied = [
        (1002, "ALTER TABLE ssb.service ADD COLUMN motto text"),
        (1003, "UPDATE ssb.service SET motto = 'migrated'; ALTER TABLE ssb.service DROP COLUMN motto"),
    ]
    monkeypatch.setattr(installer, "_migrations", lambda: [])
    connection.execute(installer._record().encode())
    assert installer.installed_version(connection) == "1"
    before = objects(connection)
    monkeypatch.setattr(installer, "_migrations", lambda: applied)
    installer.upgrade(connection)
    assert installer.installed_version(connection) == "1003"
    with_traces = [line for line in objects(connection) if not line.startswith("ssb.service r")]
    assert with_traces == [line for line in before if not line.startswith("ssb.service r")]


@pytest.mark.long
def test_a_migration_of_a_lower_number_that_comes_later_is_applied(
    database: Database, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two branches have numbered theirs, and the one with the lower number is merged last."""
    connection = connect()
    late = (1, "CREATE TABLE ssb.came_late (a integer);")
    all_of_them = sorted([*installer._migrations(), late])
    with monkeypatch.context() as merged:
        merged.setattr(installer, "_migrations", lambda: all_of_them)
        found = installer.installed(connection)
        assert found is not None and found.needed() == [1]
        # What migrates nothing does not call it up to date; nor does a text for a database that has it.
        for text in (installer.install_sql(), installer.upgrade_sql(int(installer.RUNTIME_VERSION))):
            with pytest.raises(psycopg.errors.RaiseException, match="does not migrate it") as refused:
                connection.execute(text.encode())
            assert refused.value.diag.message_detail == "It lacks the migrations 1."
            connection.execute("ROLLBACK")
        installer.install(connection)
        connection.execute("INSERT INTO ssb.came_late VALUES (1)")
        connection.execute(installer.install_sql().encode())
        installer.upgrade(connection)
    # And a program without it does not know this database, though the number of the last is the same.
    with pytest.raises(installer.RuntimeVersionError, match="the database has runtime version"):
        installer.upgrade(connection)
    with pytest.raises(psycopg.errors.RaiseException, match="this text brings"):
        connection.execute(installer.install_sql().encode())
    connection.execute("ROLLBACK")
    # From before this was kept: all up to the version. Its text has it, or is refused.
    connection.execute("UPDATE ssb.runtime_version SET migrations = NULL; DROP TABLE ssb.came_late")
    monkeypatch.setattr(
        installer, "_migrations", lambda: [*all_of_them, (9998, "CREATE TABLE ssb.came_late ();")]
    )
    with pytest.raises(psycopg.errors.RaiseException, match="does not migrate it"):
        connection.execute(installer.install_sql().encode())
    connection.execute("ROLLBACK")
    connection.execute(installer.upgrade_sql(int(installer.RUNTIME_VERSION)).encode())
    found = installer.installed(connection)
    assert found is not None and found.version == 9998 and not found.needed()


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_upgrade_can_be_read_and_tried_before_it_is_done(
    database: Database,
    connect: Callable[..., Connection],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    connection = connect()
    with monkeypatch.context() as before:
        before.setattr(installer, "_migrations", lambda: [])
        connection.execute(installer._record().encode())
    monkeypatch.setattr(installer, "_migrations", lambda: [(2, "CREATE TABLE ssb.new_one (a integer);")])
    monkeypatch.setattr(installer, "RUNTIME_VERSION", "2")
    upgrade_command.main(["--dsn", database.dsn, "--dry-run"], standalone_mode=False)
    assert "runtime 1 would become 2" in capsys.readouterr().out
    assert installer.installed_version(connection) == "1"
    upgrade_command.main(["--dsn", database.dsn, "--print"], standalone_mode=False)
    text = capsys.readouterr().out
    assert text.count("CREATE TABLE ssb.new_one") == 1
    connection.execute(text.encode())
    assert installer.installed_version(connection) == "2"
    with pytest.raises(psycopg.errors.RaiseException, match="upgrades version 1 of the runtime only"):
        connection.execute(text.encode())


def test_every_file_of_the_folder_is_in_the_contents() -> None:
    listed = installer.file_names()
    folder = Path(installer.__file__).parent
    present = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.sql")
        if path.name != "install.sql" and path.parent.name != "migrations"
    }
    assert set(listed) == present
    assert len(set(listed)) == len(listed)


def test_extension_files_are_complete() -> None:
    files = installer.extension_files()
    version = installer.RUNTIME_VERSION
    assert f"default_version = '{version}'" in files["pg_service_broker.control"]
    script = files[f"pg_service_broker--{version}.sql"]
    assert "pg_extension_config_dump" in script
    assert not any(line.startswith(("BEGIN;", "COMMIT;")) for line in script.splitlines())


@pytest.mark.long
def test_uninstall_takes_no_column_with_it(connect: Callable[..., Connection]) -> None:
    connection = connect()
    for uninstall in (removal.uninstall, lambda c: c.execute(removal.uninstall_sql().encode())):
        installer.install(connection)
        connection.execute("CREATE SCHEMA IF NOT EXISTS dbo; DROP TABLE IF EXISTS dbo.kept")
        connection.execute(
            "CREATE TABLE dbo.kept (id integer, active sys.bit, body sys.xml, flags sys.bit[])"
        )
        connection.execute("INSERT INTO dbo.kept VALUES (1, 1, '<a/>', '{1,0}')")
        connection.execute("CREATE VIEW dbo.view_of_it AS SELECT active FROM dbo.kept")
        connection.execute("CREATE VIEW dbo.uses_it AS SELECT sys.db_id('x') AS id")
        connection.execute("CREATE PROCEDURE dbo.p(session ssb.session) LANGUAGE sql AS 'SELECT 1'")
        connection.execute("SELECT ssb.create_queue('dbo.q')")
        connection.execute("CREATE VIEW dbo.of_the_queue AS SELECT message_body FROM dbo.q")
        assert removal.dependents(connection) == [
            "function dbo.p(ssb.session)",
            "rule _RETURN on view dbo.of_the_queue",
            "rule _RETURN on view dbo.uses_it",
        ]
        uninstall(connection)
        row = connection.execute("SELECT id, active, body::text, flags::text FROM dbo.kept").fetchone()
        assert row == (1, 1, "<a/>", "{1,0}")
        assert connection.execute("SELECT active FROM dbo.view_of_it").fetchone() == (1,)
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE dbo.kept SET active = 2")
        left = connection.execute(
            "SELECT relname::text FROM pg_class"
            " WHERE relnamespace = 'dbo'::regnamespace AND relname <> 'kept_long_ago' ORDER BY 1"
        )
        assert [name for (name,) in left] == ["kept", "view_of_it"]
        assert removal.dependents(connection) == []
        connection.execute("DROP VIEW dbo.view_of_it; ALTER TABLE dbo.kept RENAME TO kept_before")
        connection.execute("DROP TABLE IF EXISTS dbo.kept_long_ago")
        # In the second round the types of the first are still there.
        connection.execute("ALTER TABLE dbo.kept_before RENAME TO kept_long_ago")


@pytest.mark.long
@pytest.mark.one_postgres
def test_nothing_is_installed_beside_what_others_have_put_there(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE early_bird")
    try:
        for trap, reason in [
            ("CREATE SCHEMA ssb AUTHORIZATION early_bird", "belongs to early_bird"),
            ("CREATE SCHEMA sys CREATE TABLE objects (id integer)", "has in it the table sys.objects"),
        ]:
            admin.execute(trap)
            with pytest.raises(psycopg.Error, match=reason):
                installer.install(admin)
            admin.execute("DROP SCHEMA IF EXISTS ssb, ssb_internal, sys CASCADE")
        admin.execute("CREATE SCHEMA sys")
        installer.install(admin)
        admin.execute("UPDATE ssb.runtime_version SET content_hash = 'another'")
        admin.execute("ALTER SCHEMA ssb OWNER TO early_bird")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="belongs to early_bird"):
            installer.upgrade(admin)
    finally:
        admin.execute("DROP OWNED BY early_bird CASCADE; DROP ROLE early_bird")


@pytest.mark.long
def test_the_text_of_an_upgrade_is_for_the_parts_that_a_database_has(
    database: Database, connect: Callable[..., Connection], capsys: pytest.CaptureFixture[str]
) -> None:
    connection = connect()
    texts = {}
    for parts in ("broker", "all"):
        arguments = ["--print", "--from", installer.RUNTIME_VERSION, "--parts", parts]
        upgrade_command.main(arguments, standalone_mode=False)
        texts[parts] = capsys.readouterr().out
    for has, other in (("all", "broker"), ("broker", "all")):
        connection.execute("UPDATE ssb.runtime_version SET parts = %s", [has])
        with pytest.raises(psycopg.errors.RaiseException, match=f"with parts: {other}"):
            connection.execute(texts[other].encode())
        connection.execute("ROLLBACK")
        connection.execute(texts[has].encode())
        assert installer.installed_parts(connection) == has


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_upgrade_needs_no_right_on_the_database(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    """ALTER DATABASE … OWNER TO takes it from whom the runtime belongs to."""
    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE keeper_before LOGIN")
    try:
        admin.execute(f"GRANT CREATE ON DATABASE {empty_database.name} TO keeper_before")
        with psycopg.connect(empty_database.dsn, user="keeper_before", autocommit=True) as keeper:
            installer.install(keeper)
            admin.execute(f"REVOKE CREATE ON DATABASE {empty_database.name} FROM keeper_before")
            installer.upgrade(keeper)
            keeper.execute(installer.install_sql().encode())
            # Where there is something to make, it is told who may.
            keeper.execute("DROP SCHEMA ssb_staging CASCADE")
            for option in ([], ["--dry-run"]):
                arguments = ["--dsn", f"{empty_database.dsn}&user=keeper_before", *option]
                with pytest.raises(ServerError, match="permission denied for database") as refused:
                    upgrade_command.main(arguments, standalone_mode=False)
                assert "GRANT CREATE ON DATABASE" in (refused.value.hint or "")
    finally:
        admin.execute("DROP OWNED BY keeper_before CASCADE; DROP ROLE keeper_before")


def before_ssb_internal(connection: Connection) -> None:
    """Take the installed runtime back to version 1: all routines in ssb, and their texts say so.

    What users call is what the migration lists; later additions to it are dropped.
    """
    (migration,) = (text for number, text in installer._migrations() if number == 2)
    (api,) = re.findall(r"v_api text\[\] := '(\{.*?\})'", migration, re.S)
    (views,) = re.findall(r"v_views text\[\] := '(\{.*?\})'", migration, re.S)
    # What is left calls later additions, which version 1 did not.
    connection.execute("SET check_function_bodies = off")
    connection.execute(
        f"""
        DO $$
        DECLARE
            v_name text;
        BEGIN
            FOREACH v_name IN ARRAY ARRAY(
                SELECT oid::regprocedure::text FROM pg_proc
                 WHERE pronamespace = 'ssb'::regnamespace AND proname <> ALL ('{api}'::text[])) LOOP
                EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', v_name);
            END LOOP;
            FOREACH v_name IN ARRAY ARRAY(
                SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'ssb_internal'::regnamespace
                   AND relkind = 'v' AND relname <> ALL ('{views}'::text[])) LOOP
                EXECUTE format('DROP VIEW IF EXISTS %s CASCADE', v_name);
            END LOOP;
        END;
        $$"""
    )
    connection.execute(
        """
        DO $$
        DECLARE
            v_name text;
        BEGIN
            FOR v_name IN SELECT i.oid::regprocedure::text FROM pg_proc AS i
                            JOIN pg_proc AS p ON p.proname = i.proname AND p.proargtypes = i.proargtypes
                                             AND p.pronamespace = 'ssb'::regnamespace
                           WHERE i.pronamespace = 'ssb_internal'::regnamespace LOOP
                EXECUTE format('DROP ROUTINE %s', v_name);
            END LOOP;
            FOR v_name IN SELECT oid::regprocedure::text FROM pg_proc
                           WHERE pronamespace = 'ssb_internal'::regnamespace LOOP
                EXECUTE format('ALTER ROUTINE %s SET SCHEMA ssb', v_name);
            END LOOP;
            FOR v_name IN SELECT oid::regclass::text FROM pg_class
                           WHERE relnamespace = 'ssb_internal'::regnamespace AND relkind = 'v' LOOP
                EXECUTE format('ALTER VIEW %s SET SCHEMA ssb', v_name);
            END LOOP;
            FOR v_name IN
                SELECT replace(pg_get_functiondef(p.oid), 'ssb_internal.', 'ssb.') FROM pg_proc AS p
                 WHERE p.prokind IN ('f', 'p') AND p.prosrc ~ 'ssb_internal\\.'
            LOOP
                EXECUTE v_name;
            END LOOP;
            DROP SCHEMA ssb_internal;
            UPDATE ssb.runtime_version SET version = 1, content_hash = 'version 1', migrations = NULL;
        END;
        $$"""
    )


@pytest.mark.long
def test_version_1_gets_its_functions_into_ssb_internal_and_its_modules_run(
    database: Database, new_database: Callable[[], Database], connect: Callable[..., Connection]
) -> None:
    connection = connect()
    session = Tsql(database.dsn)
    session.run_well(
        "CREATE PROCEDURE dbo.divide @by int AS\n"
        "BEGIN TRY SELECT 1 / @by AS result END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH"
    )
    session.close()
    before_ssb_internal(connection)
    connection.execute("CREATE VIEW dbo.uses_it AS SELECT ssb.database_name(5) AS name")
    connection.execute(
        "CREATE FUNCTION dbo.by_hand() RETURNS text LANGUAGE sql"
        " AS $$ SELECT ssb.database_name(5) || ssb.db_name() || ' ssb.queue'; $$"
    )
    ours = "SELECT prosrc FROM pg_proc WHERE proname = 'divide'"
    assert "ssb.failed(" in connection.execute(ours).fetchone()[0]  # type: ignore[index]
    installer.upgrade(connection)
    assert "ssb_internal.failed(" in connection.execute(ours).fetchone()[0]  # type: ignore[index]
    session = Tsql(database.dsn)
    session.run_well("EXECUTE dbo.divide @by = 0")
    assert session.prints == ["Divide by zero error encountered."]
    session.close()
    assert connection.execute(
        "SELECT u.name || u.name || ' ssb.queue' = dbo.by_hand() FROM dbo.uses_it AS u"
    ).fetchone() == (True,)
    before, fresh = objects(connection), objects(connect(new_database().dsn))
    assert [line for line in before if line not in fresh] == []
    assert [line for line in fresh if line not in before] == []


@pytest.mark.long
def test_tables_of_version_1_become_those_of_a_fresh_installation(
    empty_database: Database, database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect(empty_database.dsn)
    connection.execute((Path(__file__).parent / "version_1_tables.sql").read_bytes())
    connection.execute("INSERT INTO ssb.runtime_version (version, content_hash) VALUES (1, 'version 1')")
    installer.upgrade(connection)
    upgraded, fresh = objects(connection), objects(connect())
    assert [line for line in upgraded if line not in fresh] == []
    assert [line for line in fresh if line not in upgraded] == []


def test_conversations_that_an_older_version_left_without_a_leader_have_one_again(
    database: Database, connect: Callable[..., Connection]
) -> None:
    sql = Statements(connect())
    sql.do("SELECT ssb.create_queue('dbo.work'), ssb.create_service('Work', 'dbo.work')")
    first, second, third, fourth = (begin(sql.connection, "Work", "Nowhere") for _ in range(4))
    endpoint = "SELECT endpoint_id FROM ssb.conversation_endpoint WHERE conversation_handle = %s"
    change = "UPDATE ssb.conversation_endpoint SET {} WHERE conversation_handle = ANY (%s)"
    sql.do(change.format("lock_id = 1000"), [first, second])
    sql.do(change.format("claim_id = -7"), [third])
    sql.do(change.format("claim_id = -8"), [fourth])
    sql.do(
        "INSERT INTO ssb.quarantined_group (quarantine_id, queue_id, lock_id, conversation_group_id,"
        " endpoint_id, queuing_order, rollbacks) OVERRIDING SYSTEM VALUE"
        f" VALUES (8, 1, 1000, %s, ({endpoint}), 0, 5)",
        fourth,
        fourth,
    )
    sql.do("UPDATE ssb.runtime_version SET version = 56, migrations = NULL")
    installer.upgrade(sql.connection)
    found = dict(
        sql.rows(
            "SELECT e.conversation_handle, ROW(l.conversation_handle, l.claim_id)::text"
            " FROM ssb.conversation_endpoint AS e"
            " JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = e.lock_id"
        )
    )
    assert found == {
        first: f"({first},)",
        second: f"({first},)",
        third: f"({third},)",
        fourth: f"({fourth},-8)",
    }
    assert sql.value("SELECT lock_id FROM ssb.quarantined_group") == sql.value(endpoint, fourth)


def test_the_order_of_a_tables_columns_does_not_matter() -> None:
    """An upgrade adds columns at the end, so every INSERT into a table of the runtime names its columns."""
    insert = re.compile(r"INSERT INTO ssb\.\w+(?: AS \w+)?\s+(?:VALUES|SELECT|TABLE|OVERRIDING)\b")
    found = [one for text in installer._texts() for one in insert.findall(text)]
    # Its row is written as it was read, and `objects` compares its order.
    assert found == ["INSERT INTO ssb.dialog_path SELECT"]


@pytest.mark.long
def test_the_upgrade_rewrites_no_text_of_somebody_else(
    empty_database: Database, connect: Callable[..., Connection]
) -> None:
    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE runtime_keeper; CREATE ROLE somebody_else")
    try:
        admin.execute(f"GRANT ALL ON DATABASE {empty_database.name} TO runtime_keeper")
        admin.execute("GRANT ALL ON SCHEMA public TO runtime_keeper, somebody_else")
        admin.execute("SET ROLE runtime_keeper")
        installer.install(admin)
        before_ssb_internal(admin)
        admin.execute("RESET ROLE")
        admin.execute(
            "CREATE FUNCTION public.theirs() RETURNS text LANGUAGE sql AS 'SELECT ssb.database_name(5)';"
            "ALTER FUNCTION public.theirs() OWNER TO somebody_else"
        )
        admin.execute("SET ROLE runtime_keeper")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="belongs to somebody_else") as caught:
            installer.upgrade(admin)
        assert "GRANT somebody_else TO runtime_keeper" in (caught.value.diag.message_hint or "")
        assert installer.installed_version(admin) == "1"
        admin.execute("RESET ROLE; GRANT somebody_else TO runtime_keeper; SET ROLE runtime_keeper")
        installer.upgrade(admin)
        assert admin.execute("SELECT public.theirs() IS NOT NULL").fetchone() == (True,)
    finally:
        admin.execute("RESET ROLE; DROP OWNED BY runtime_keeper, somebody_else CASCADE")
        admin.execute("DROP ROLE runtime_keeper, somebody_else")


def test_of_names_that_differ_in_case_alone_an_upgrade_keeps_the_first(database: Database) -> None:
    (migration,) = (text for number, text in installer._migrations() if number == 1290)
    told: list[str] = []
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        connection.execute(
            """
            DROP INDEX ssb.route_by_name, ssb.broker_priority_by_name;
            SELECT ssb.create_route('Rome', 'LOCAL'), ssb.create_route('Other', 'LOCAL', service_name => 's'),
                   ssb.create_broker_priority('High', priority_level => 9),
                   ssb.create_broker_priority('Low', contract => 'DEFAULT', priority_level => 2);
            UPDATE ssb.route SET name = 'ROME' WHERE name = 'Other';
            UPDATE ssb.broker_priority SET name = 'high' WHERE name = 'Low'
            """
        )
        connection.execute(migration)
        connection.execute("CREATE UNIQUE INDEX ON ssb.route (database_id, lower(name))")
        routes = connection.execute(
            "SELECT name = 'ROME_' || route_id FROM ssb.route WHERE name ILIKE 'rome%' ORDER BY route_id"
        ).fetchall()
        priorities = connection.execute(
            "SELECT name = 'high_' || priority_id FROM ssb.broker_priority ORDER BY priority_id"
        ).fetchall()
    assert routes == priorities == [(False,), (True,)]
    assert [re.sub(r"\d+", "…", text) for text in told if "but for its case" in text] == [
        "ssb.route has another … of the name ROME, but for its case: it is ROME_… now",
        "ssb.broker_priority has another … of the name high, but for its case: it is high_… now",
    ]
