"""The runtime gets into a database, and out again: by a plain owner, by CREATE EXTENSION, by a dump."""

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgsb.cli.install import install_command
from pgsb.compiler.pipeline import compile_script
from pgsb.grammar.source import Source
from pgsb.runtime_sql import installer, removal
from support import Connection, Database


def _works(connection: Connection) -> None:
    """A message can be sent and received."""
    connection.execute("SELECT ssb.create_queue('dbo.q')")
    connection.execute("SELECT ssb.create_service('//Self', queue => 'dbo.q', contracts => '{DEFAULT}')")
    connection.execute("SELECT ssb.send(ssb.begin_dialog('//Self', '//Self'), body => 'hello'::bytea)")
    received = connection.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall()
    assert received == [(b"hello",)]


@pytest.fixture
def owner(empty_database: Database, connect: Callable[..., Connection]) -> Iterator[Connection]:
    """A connection of a role that owns the database and is no superuser."""
    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE plain_owner LOGIN")
    admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO plain_owner")
    with psycopg.connect(empty_database.dsn, user="plain_owner", autocommit=True) as connection:
        yield connection
    admin.execute("DROP OWNED BY plain_owner CASCADE")
    admin.execute(f"ALTER DATABASE {empty_database.name} OWNER TO CURRENT_USER")
    admin.execute("DROP ROLE plain_owner")


@pytest.mark.long
def test_the_owner_of_the_database_installs_uses_and_removes_it(
    owner: Connection, empty_database: Database, connect: Callable[..., Connection]
) -> None:
    admin = connect(empty_database.dsn)
    installer.install(owner)
    _works(owner)
    owner.execute("SELECT ssb.create_database('Other'), ssb.drop_database('Other')")
    # Who alters a module is neither he nor a superuser: he does not see their sessions, nor their time.
    admin.execute("CREATE ROLE plain_writer LOGIN")
    with psycopg.connect(owner.info.dsn, user="plain_writer", autocommit=True) as writer:
        owner.execute("GRANT CREATE, USAGE ON SCHEMA dbo TO plain_writer")
        writer.execute("CREATE VIEW dbo.v AS SELECT 1 AS a; GRANT SELECT ON dbo.v TO plain_owner")
        writer.execute(compile_script(Source("x.sql", "ALTER VIEW v AS SELECT 2 AS b")).text().encode())
        assert owner.execute("SELECT b FROM dbo.v").fetchall() == [(2,)]
    admin.execute("DROP OWNED BY plain_writer; DROP ROLE plain_writer")
    removal.uninstall(owner)
    assert installer.installed_version(owner) is None
    left = owner.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(ssb|sys)'").fetchall()
    assert left == []


@pytest.mark.long
def test_what_belonged_to_the_owner_belongs_to_the_next_one(
    owner: Connection, empty_database: Database, connect: Callable[..., Connection]
) -> None:
    """After ALTER ROLE … RENAME, REASSIGN OWNED, or pg_restore --no-owner."""
    admin = connect(empty_database.dsn)
    as_whom = "SELECT role_name FROM ssb_internal.broker_queues()"
    installer.install(owner)
    owner.execute(
        "CREATE PROCEDURE dbo.program() LANGUAGE sql AS 'SELECT 1';"
        " SELECT ssb.create_queue('dbo.q', activation_status => true, activation_procedure => 'dbo.program',"
        "                         max_queue_readers => 1);"
        " SELECT ssb.create_service('//Self', queue => 'dbo.q', contracts => '{DEFAULT}')"
    )
    with admin.transaction(force_rollback=True):
        admin.execute("ALTER ROLE plain_owner RENAME TO plain_chief")
        assert admin.execute(as_whom).fetchone() == ("plain_chief",)
        # A user of T-SQL with the name that is free is somebody else.
        with admin.transaction(force_rollback=True):
            admin.execute("SELECT ssb.create_principal('plain_owner', 'USER')")
            assert admin.execute(as_whom).fetchone() == (None,)
        admin.execute("SET LOCAL ROLE plain_chief")
        installer.upgrade(admin)
        admin.execute("RESET ROLE; CREATE ROLE plain_owner")
        assert admin.execute(as_whom).fetchone() == ("plain_chief",)
    assert admin.execute(as_whom).fetchone() == ("plain_owner",)
    with admin.transaction(force_rollback=True):
        admin.execute("CREATE ROLE plain_chief; REASSIGN OWNED BY plain_owner TO plain_chief")
        admin.execute("SET LOCAL ROLE plain_chief")
        installer.upgrade(admin)
        for table in ("queue", "service", "database"):
            owners = admin.execute(f"SELECT DISTINCT owner FROM ssb.{table} WHERE owner <> 'dbo'").fetchall()
            assert owners == [("plain_chief",)]


@pytest.mark.long
def test_default_privileges_of_the_owner_leave_the_runtime_to_everybody(
    owner: Connection, empty_database: Database, connect: Callable[..., Connection]
) -> None:
    """REVOKE … FROM PUBLIC in ALTER DEFAULT PRIVILEGES is a common rule; the runtime asks itself."""
    owner.execute(
        "ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;"
        " ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM PUBLIC;"
        " ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC"
    )
    rules = "SELECT defaclnamespace, defaclobjtype, defaclacl FROM pg_default_acl"
    before = owner.execute(rules).fetchall()
    installer.install(owner)
    owner.execute("CREATE FUNCTION dbo.own() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    assert owner.execute(rules).fetchall() == before
    # What somebody made there would be called with the owner's rights.
    assert (
        owner.execute(
            "SELECT nspname FROM pg_namespace"
            " WHERE nspname ~ '^(ssb|sys)' AND has_schema_privilege('public', oid, 'CREATE')"
        ).fetchall()
        == []
    )
    admin = connect(empty_database.dsn)
    admin.execute("CREATE ROLE plain_user LOGIN")
    try:
        owner.execute("SELECT ssb.create_queue('dbo.q')")
        owner.execute("SELECT ssb.create_service('//S', queue => 'dbo.q', contracts => '{DEFAULT}')")
        owner.execute("SELECT ssb.grant_permission('{SEND}', 'SERVICE', '//S', '{plain_user}')")
        owner.execute("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.q', '{plain_user}')")
        with psycopg.connect(owner.info.dsn, user="plain_user", autocommit=True) as user:
            user.execute("SELECT ssb.send(ssb.begin_dialog('//S', '//S'), body => 'hello')")
            assert user.execute(
                "SELECT convert_from(message_body, 'UTF8') FROM ssb.receive('dbo.q')"
            ).fetchall() == [("hello",)]
            user.execute("CREATE TEMPORARY TABLE flags (is_set sys.bit)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                user.execute("SELECT ssb_internal.broker_try_to_lead()")
    finally:
        admin.execute("DROP OWNED BY plain_user; DROP ROLE plain_user")


def test_the_body_of_each_function_is_valid(connect: Callable[..., Connection]) -> None:
    """An installation does not look into them, as pg_restore and CREATE EXTENSION do not."""
    connection = connect()
    connection.execute("SET search_path = pg_catalog, pg_temp")

    def look() -> int:
        looks = {"plpgsql": "plpgsql_validator", "sql": "fmgr_sql_validator"}
        return sum(
            connection.execute(
                f"SELECT {validator}(p.oid) FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang"
                " WHERE p.pronamespace = ANY ('{ssb, ssb_internal, sys}'::regnamespace[]) AND l.lanname = %s"
                " AND p.prokind <> 'a'",
                [language],
            ).rowcount
            for language, validator in looks.items()
        )

    assert look() > 1000
    for language, body in {"plpgsql": "BEGIN IF true; END", "sql": "SELECT no_such_column"}.items():
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL check_function_bodies = off")
            connection.execute(
                f"CREATE FUNCTION ssb.broken() RETURNS integer LANGUAGE {language} AS '{body}'"
            )
            connection.execute("SET LOCAL check_function_bodies = on")
            with pytest.raises(psycopg.errors.ProgrammingError):
                look()


@pytest.fixture
def extension_directory(connect: Callable[..., Connection], empty_database: Database) -> Iterator[Path]:
    """Where CREATE EXTENSION looks for control files; what the test puts there is removed."""
    connection = connect(empty_database.dsn)
    row = connection.execute("SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'").fetchone()
    assert row is not None
    directory = Path(row[0]) / "extension"
    if not os.access(directory, os.W_OK):
        pytest.skip(f"this user may not write to {directory}")
    place = os.open(directory, os.O_RDONLY)
    try:
        # Other processes' tests put theirs there: half a file made an extension of nothing.
        fcntl.flock(place, fcntl.LOCK_EX)
        before = set(directory.iterdir())
        yield directory
        for made in set(directory.iterdir()) - before:
            made.unlink()
    finally:
        os.close(place)


@pytest.mark.long
def test_create_extension(
    extension_directory: Path, empty_database: Database, connect: Callable[..., Connection]
) -> None:
    for name, text in installer.extension_files().items():
        (extension_directory / name).write_text(text)
    connection = connect(empty_database.dsn)
    connection.execute(f"CREATE EXTENSION {installer.EXTENSION_NAME}")
    assert installer.installed_version(connection) == installer.RUNTIME_VERSION
    _works(connection)


@pytest.mark.long
def test_an_update_of_the_extension_keeps_queues_and_messages(
    extension_directory: Path, owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    *earlier, last = installer._migrations()
    with monkeypatch.context() as before:
        before.setattr(installer, "_migrations", lambda: earlier)
        before.setattr(installer, "RUNTIME_VERSION", str(earlier[-1][0]))
        for name, text in installer.extension_files().items():
            (extension_directory / name).write_text(text)
    owner.execute(f"CREATE EXTENSION {installer.EXTENSION_NAME}")
    owner.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_service('s', 'dbo.q', '{DEFAULT}')")
    owner.execute("SELECT ssb.send(ssb.begin_dialog('s', 's'), body => 'kept'::bytea)")
    owner.execute("CREATE VIEW dbo.of_the_queue AS SELECT message_body FROM dbo.q")
    for name, text in installer.extension_files().items():
        (extension_directory / name).write_text(text)
    owner.execute(f"ALTER EXTENSION {installer.EXTENSION_NAME} UPDATE")
    assert installer.installed_version(owner) == installer.RUNTIME_VERSION == str(last[0])
    assert owner.execute("SELECT * FROM dbo.of_the_queue").fetchall() == [(b"kept",)]
    assert owner.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall() == [(b"kept",)]
    # The queue is no part of it, as before.
    with pytest.raises(psycopg.errors.DependentObjectsStillExist, match="extension") as refused:
        owner.execute(f"DROP EXTENSION {installer.EXTENSION_NAME}")
    assert "view dbo.q depends on" in (refused.value.diag.message_detail or "")


@pytest.mark.long
def test_an_owner_creates_the_extension_and_keeps_his_tables_without_it(
    extension_directory: Path, owner: Connection
) -> None:
    for name, text in installer.extension_files().items():
        (extension_directory / name).write_text(text)
    owner.execute(f"CREATE EXTENSION {installer.EXTENSION_NAME}")
    _works(owner)
    owner.execute("CREATE TABLE dbo.kept (active sys.bit); INSERT INTO dbo.kept VALUES (1)")
    removal.uninstall(owner)
    assert owner.execute("SELECT active FROM dbo.kept").fetchall() == [(1,)]
    assert owner.execute("SELECT extname FROM pg_extension WHERE extname ~ 'broker'").fetchall() == []


@pytest.mark.long
@pytest.mark.parametrize("options", [["--no-owner"], ["--no-owner", "--no-privileges"]], ids=" ".join)
def test_a_dump_carries_queues_and_messages(
    database: Database,
    empty_database: Database,
    psql: str,
    connect: Callable[..., Connection],
    options: list[str],
) -> None:
    source = connect()
    source.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_queue('dbo.closed', status => false)")
    source.execute("SELECT ssb.create_service('//Self', queue => 'dbo.q', contracts => '{DEFAULT}')")
    source.execute("SELECT ssb.send(ssb.begin_dialog('//Self', '//Self'), body => 'kept'::bytea)")
    for statement in _DESCRIBED:
        source.execute(statement)
    pg_dump = Path(psql).with_name("pg_dump")
    dump = subprocess.run(
        [pg_dump, *options, "-d", database.dsn], capture_output=True, text=True, check=True
    ).stdout
    restored = subprocess.run(
        [psql, "-X", "-q", "-d", empty_database.dsn],
        input=dump,
        capture_output=True,
        text=True,
        check=False,
    )
    # A pg_dump newer than the server sets a parameter that the server does not know.
    errors = [line for line in restored.stderr.splitlines() if "transaction_timeout" not in line]
    assert errors == []
    there = connect(empty_database.dsn)
    assert (_rights(there) == _rights(source)) == ("--no-privileges" not in options)
    assert _descriptions(there) == _descriptions(source)
    assert [value for *_, value in _descriptions(there)] == ["of a", "of d", "of dbo", "of p", "of t"]
    for value in ("again", "once more"):
        there.execute(_DESCRIBE.format("UPDATE", value, ", 'TABLE', 't', 'COLUMN', 'd'"))
    assert [value for *_, value in _descriptions(there)] == ["of a", "of dbo", "of p", "of t", "once more"]
    assert there.execute("SELECT message_body FROM ssb.receive('dbo.q')").fetchall() == [(b"kept",)]
    installer.upgrade(there)
    assert _rights(there) == _rights(source)


_DESCRIBE = "SELECT sys.change_extended_property('{}', 'd', '{}', 'SCHEMA', 'dbo'{})"
_DESCRIBED = (
    "CREATE TABLE dbo.old_name (gone integer, a integer, d integer)",
    "ALTER TABLE dbo.old_name DROP COLUMN gone",  # the columns' numbers are others after the dump
    "CREATE PROCEDURE dbo.p(a integer) LANGUAGE sql AS 'SELECT 1'",
    _DESCRIBE.format("ADD", "of dbo", ""),
    _DESCRIBE.format("ADD", "of t", ", 'TABLE', 'old_name'"),
    _DESCRIBE.format("ADD", "of a", ", 'TABLE', 'old_name', 'COLUMN', 'a'"),
    _DESCRIBE.format("ADD", "of d", ", 'TABLE', 'old_name', 'COLUMN', 'd'"),
    _DESCRIBE.format("ADD", "of p", ", 'PROCEDURE', 'p'"),
    "SELECT ssb_internal.rename_object('dbo.old_name', 't')",
)


def _descriptions(connection: Connection) -> list[Any]:
    return connection.execute(
        "SELECT class_desc, sys.object_name(major_id), sys.col_name(major_id, minor_id), value"
        "  FROM sys.extended_properties ORDER BY value"
    ).fetchall()


def _rights(connection: Connection) -> list[Any]:
    """What PUBLIC may do in the runtime's schemas and with the queues."""
    return connection.execute(
        """
        SELECT 'EXECUTE', p.oid::regprocedure::text FROM pg_proc AS p
         WHERE p.pronamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys')
           AND has_function_privilege('public', p.oid, 'EXECUTE')
        UNION ALL
        SELECT 'SELECT', c.oid::regclass::text FROM pg_class AS c
         WHERE c.relnamespace::regnamespace::text IN ('ssb', 'ssb_internal', 'sys') AND c.relkind <> 'i'
           AND has_table_privilege('public', c.oid, 'SELECT')
        ORDER BY 1, 2
        """
    ).fetchall()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_another_encoding_is_refused_in_a_sentence(
    postgres: str, connect: Callable[..., Connection], encoding: str
) -> None:
    admin = connect(postgres)
    admin.execute(
        f"CREATE DATABASE of_bytes TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    try:
        with psycopg.connect(
            postgres.replace("/postgres?", "/of_bytes?"), autocommit=True, client_encoding="utf8"
        ) as connection:
            with pytest.raises(
                psycopg.errors.FeatureNotSupported, match=f"is {encoding}; the runtime needs UTF8"
            ):
                installer.install(connection)
            assert installer.installed_version(connection) is None
    finally:
        admin.execute("DROP DATABASE of_bytes")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE CAST (bigint AS text) WITH INOUT AS IMPLICIT", "a cast makes text of each bigint by itself"),
        ("SET restrict_nonsystem_relation_kind = 'foreign-table, view'", "lets nobody read views here"),
    ],
)
def test_what_the_runtime_could_not_work_with_is_refused_in_a_sentence(
    empty_database: Database, connect: Callable[..., Connection], made: str, said: str
) -> None:
    connection = connect(empty_database.dsn)
    connection.execute(made.encode())
    with pytest.raises(psycopg.errors.FeatureNotSupported, match=said):
        installer.install(connection)


@pytest.mark.long
def test_a_locale_without_letters_is_pointed_out(
    postgres: str, connect: Callable[..., Connection], capsys: pytest.CaptureFixture[str]
) -> None:
    admin = connect(postgres)
    said = {}
    for name, locale in (("with_letters", "C.UTF-8"), ("without_letters", "C")):
        admin.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE '{locale}'"
        )
        dsn = postgres.replace("/postgres?", f"/{name}?")
        try:
            install_command.main(["--dsn", dsn], standalone_mode=False)
            said[name] = capsys.readouterr().err
        finally:
            admin.execute(f"DROP DATABASE {name}")
    assert said["with_letters"] == ""
    assert said["without_letters"].startswith("note: with this database's LC_CTYPE only A to Z have cases")
