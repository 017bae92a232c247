"""Applies the runtime to a database, and renders it as text for people who apply it themselves.

The list of files is `install.sql`, in psql's own notation; psql is not needed.
An installation is one transaction under an advisory lock: many may be started
at once, one does the work and the others find it done.
"""

import hashlib
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import psycopg
from psycopg import sql

_INCLUDE = re.compile(r"\\ir\s+(\S+)")
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql")

EXTENSION_NAME = "pg_service_broker"
"""The name for CREATE EXTENSION."""

# pg_advisory_xact_lock's key: any constant that is ours.
_LOCK = 0x5353_4200

_RECORD = """\
INSERT INTO ssb.runtime_version AS r (version, content_hash) VALUES ({version}, '{content_hash}')
ON CONFLICT (only_row) DO UPDATE
SET version = excluded.version, content_hash = excluded.content_hash, installed_at = now();
"""

_DUMP_DATA = """\
-- pg_dump leaves the contents of an extension's tables out unless told.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid::regclass FROM pg_class AS c
         WHERE c.relnamespace = 'ssb'::regnamespace AND c.relkind IN ('r', 'S')
    LOOP
        PERFORM pg_extension_config_dump(v_table, '');
    END LOOP;
END;
$$;
"""


class RuntimeVersionError(Exception):
    """The installed runtime is newer than this installer, or an unreleased state that it cannot upgrade.

    ``hint`` is what to do.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _folder() -> Traversable:
    return files(__package__ or "pgsb.runtime_sql")


def _migrations() -> list[tuple[int, str]]:
    """Version and text of every migration, in order."""
    found = [
        (int(match[1]), entry.read_text(encoding="utf-8"))
        for entry in (_folder() / "migrations").iterdir()
        if (match := _MIGRATION.fullmatch(entry.name))
    ]
    return sorted(found)


def file_names() -> list[str]:
    """The files of the runtime, in the order in which they are applied."""
    contents = (_folder() / "install.sql").read_text(encoding="utf-8")
    return [match[1] for line in contents.splitlines() if (match := _INCLUDE.fullmatch(line.strip()))]


def _parts() -> list[str]:
    """Every file's text, headed by its name."""
    return [f"-- {name}\n{(_folder() / name).read_text(encoding='utf-8')}" for name in file_names()]


def _version() -> int:
    return max((version for version, _ in _migrations()), default=1)


RUNTIME_VERSION = str(_version())
"""Version of the runtime in this package: the number of its last migration, 1 before the first."""


def _content_hash() -> str:
    return hashlib.sha256("\n".join(_parts()).encode()).hexdigest()[:32]


def _record() -> str:
    return _RECORD.format(version=_version(), content_hash=_content_hash())


def install_sql() -> str:
    """The whole runtime as one psql-ready script: a single transaction, safe to run twice.

    The same text serves servers with and without libxml and every supported
    version of PostgreSQL. It does not migrate an older runtime: `upgrade` does.
    """
    body = "\n\n".join(_parts())
    return (
        "BEGIN;\n"
        "SET LOCAL client_min_messages = warning;\n"
        # PERFORM, for nothing to be printed.
        f"DO $$ BEGIN PERFORM pg_catalog.pg_advisory_xact_lock({_LOCK}); END $$;\n\n"
        f"{body}\n\n{_record()}COMMIT;\n"
    )


def extension_files() -> dict[str, str]:
    """Control and script files with which a DBA gets the runtime by CREATE EXTENSION.

    Keys are file names for PostgreSQL's extension directory.
    """
    control = (
        "comment = 'Service Broker: dialogs, contracts and queues for compiled T-SQL'\n"
        f"default_version = '{RUNTIME_VERSION}'\n"
        "relocatable = false\n"
        "trusted = true\n"
        "superuser = true\n"
    )
    guard = f'\\echo Use "CREATE EXTENSION {EXTENSION_NAME}" to load this file. \\quit\n\n'
    body = "\n\n".join(_parts())
    result = {
        f"{EXTENSION_NAME}.control": control,
        f"{EXTENSION_NAME}--{RUNTIME_VERSION}.sql": f"{guard}{body}\n\n{_record()}\n{_DUMP_DATA}",
    }
    previous = 1
    for version, text in _migrations():
        update = f"{guard}{text}\n\n"
        if version == _version():
            update += f"{body}\n\n{_record()}\n{_DUMP_DATA}"
        result[f"{EXTENSION_NAME}--{previous}--{version}.sql"] = update
        previous = version
    return result


def _installed(connection: psycopg.Connection[Any]) -> tuple[int, str] | None:
    present = connection.execute("SELECT pg_catalog.to_regclass('ssb.runtime_version')").fetchone()
    if present is None or next(iter(present)) is None:
        return None
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        row = cursor.execute("SELECT version, content_hash FROM ssb.runtime_version").fetchone()
    return None if row is None else (row[0], row[1])


def installed_version(connection: psycopg.Connection[Any]) -> str | None:
    """Version of the runtime in this database; None where there is none."""
    found = _installed(connection)
    return None if found is None else str(found[0])


def install(connection: psycopg.Connection[Any]) -> None:
    """Bring the database to this package's runtime: a fresh one, or an upgrade of an older one.

    Raises RuntimeVersionError when the database has a newer one or an unreleased one
    with other tables, and psycopg.errors.InsufficientPrivilege when the role may not create schemas.
    """
    with connection.transaction():
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s::bigint)", (_LOCK,))
        found = _installed(connection)
        if found == (_version(), _content_hash()):
            return
        if found is not None:
            if found[0] > _version():
                raise RuntimeVersionError(
                    f"the database has runtime version {found[0]}; this program brings {RUNTIME_VERSION}",
                    "use the pgsb that installed it, or a newer one",
                )
            for version, text in _migrations():
                if version > found[0]:
                    connection.execute(text.encode())
        try:
            for part in _parts():
                connection.execute(part.encode())
        except psycopg.errors.InsufficientPrivilege:
            raise
        except psycopg.errors.ProgrammingError as error:
            if found is None or found[0] != _version():
                raise
            # Between releases a table can change without a migration.
            raise RuntimeVersionError(
                f"the database has an unreleased state of runtime version {RUNTIME_VERSION},"
                f" which cannot be upgraded ({error.diag.message_primary})",
                "pgsb uninstall removes it with its queues and messages, pgsb install then installs this one",
            ) from error
        connection.execute(_record().encode())


def upgrade(connection: psycopg.Connection[Any]) -> None:
    """The same as `install`: migrations where they are needed, then every function anew."""
    install(connection)


def uninstall(connection: psycopg.Connection[Any]) -> None:
    """Remove the runtime with all queues, dialogs and messages; tables and procedures of scripts stay.

    Schemas that CREATE DATABASE or CREATE SCHEMA made are dropped where they are empty.
    """
    with connection.transaction():
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s::bigint)", (_LOCK,))
        if _installed(connection) is None:
            return
        with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
            schemas = [row[0] for row in cursor.execute("SELECT s.name FROM ssb.schema_of_database AS s")]
            views = [
                (row[0], row[1])
                for row in cursor.execute("SELECT q.schema_name, q.relation_name FROM ssb.queue AS q")
            ]
        for schema, name in views:
            connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(schema, name)))
        connection.execute("DROP SCHEMA IF EXISTS ssb, sys, ssb_staging CASCADE")
        for schema in schemas:
            with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
                used = cursor.execute(
                    "SELECT EXISTS (SELECT FROM pg_catalog.pg_depend AS d"
                    " WHERE d.refclassid = 'pg_catalog.pg_namespace'::regclass"
                    " AND d.refobjid = to_regnamespace(%s))",
                    (sql.Identifier(schema).as_string(connection),),
                ).fetchone()
            if used is not None and not used[0]:
                connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {}").format(sql.Identifier(schema)))
