"""Applies the runtime to a database, and renders it as text for people who apply it themselves.

The list of files is `install.sql`, in psql's own notation; psql is not needed.
An installation is one transaction under an advisory lock: many may be started
at once, one does the work and the others find it done.
"""

import hashlib
import io
import re
from collections.abc import Collection, Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, NamedTuple

import psycopg

_INCLUDE = re.compile(r"\\ir\s+(\S+)")
# What stands in install.sql beyond the broker.
_LANGUAGE = re.compile(r"^-- begin part tsql.*?^-- end part tsql$", re.S | re.M)
_CREATED = re.compile(
    r"^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE|AGGREGATE|VIEW|TYPE|DOMAIN|TABLE) (?:IF NOT EXISTS )?"
    r"((?:ssb|ssb_internal|sys)\.\w+)",
    re.M,
)
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql")

EXTENSION_NAME = "pg_service_broker"
"""The name for CREATE EXTENSION."""

# One installation at a time, under an advisory lock: any constant that is ours. Anybody may take it and keep
# it, so only those are waited for who may create schemas here.
LOCK = 0x5353_4200
TAKE_LOCK = f"""\
DO $$
BEGIN
    WHILE NOT pg_catalog.pg_try_advisory_xact_lock({LOCK}) LOOP
        PERFORM pg_catalog.pg_stat_clear_snapshot();
        EXIT WHEN NOT EXISTS (
            SELECT FROM pg_catalog.pg_locks AS l
              JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
             WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.granted
               AND l.classid OPERATOR(pg_catalog.=) 0 AND l.objid OPERATOR(pg_catalog.=) {LOCK}
               AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
               AND pg_catalog.has_database_privilege(a.usesysid, a.datname, 'CREATE'));
        PERFORM pg_catalog.pg_sleep(0.1);
    END LOOP;
END;
$$;
"""

# Views, defaults and SQL-standard bodies are bound to what is found when they are made: to nothing
# that somebody put into public. The transaction may be a migration tool's, which goes on in its own path.
# Looking into the bodies of functions takes a fifth of an installation: a test does it, for each function of
# each version. What is recorded (_RECORD) is compared with what other sessions see, in whatever way this one
# quotes.
PATH = """\
DO $$
BEGIN
    PERFORM pg_catalog.set_config('pgsb.path_before', pg_catalog.current_setting('search_path'), true);
    PERFORM pg_catalog.set_config(
        'pgsb.bodies_before', pg_catalog.current_setting('check_function_bodies'), true);
    PERFORM pg_catalog.set_config(
        'pgsb.quotes_before', pg_catalog.current_setting('quote_all_identifiers'), true);
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL check_function_bodies = off;
    SET LOCAL quote_all_identifiers = off;
END;
$$;
"""
PATH_BACK = """\
DO $$
BEGIN
    PERFORM set_config('quote_all_identifiers', current_setting('pgsb.quotes_before'), true);
    PERFORM set_config('check_function_bodies', current_setting('pgsb.bodies_before'), true);
    PERFORM set_config('search_path', current_setting('pgsb.path_before'), true);
END;
$$;
"""

# Sessions that send, receive and wait lock views and tables in orders of their own. So all are taken before
# anything is changed, and given back where one is not free soon, well within deadlock_timeout: else either
# side would wait for the other, and the upgrade or a client be ended as a deadlock's victim. ALTER VIEW, as
# it stands: LOCK TABLE of a view would take the server's own tables, too. Of others' there is nothing to
# take: schema/schemas.sql says whose they are.
TAKE_TABLES = """\
DO $$
DECLARE
    v_relation record;
    v_before text := current_setting('lock_timeout');
    v_patience integer := (SELECT s.setting FROM pg_settings AS s WHERE s.name = 'lock_timeout');
    v_until timestamptz := clock_timestamp() + coalesce(nullif(v_patience, 0), 60000) * interval '1 ms';
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '200ms', true);
            FOR v_relation IN
                SELECT c.oid::regclass AS name, c.relkind = 'v' AS is_view,
                       pg_get_userbyid(c.relowner) AS owner
                  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_locks') AND c.relkind IN ('v', 'r')
                   AND pg_has_role(c.relowner, 'USAGE')
                 ORDER BY c.relkind DESC, c.oid
            LOOP
                IF v_relation.is_view THEN
                    EXECUTE format('ALTER VIEW %s OWNER TO %I', v_relation.name, v_relation.owner);
                ELSE
                    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_relation.name);
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF clock_timestamp() > v_until THEN
                RAISE EXCEPTION USING ERRCODE = 'lock_not_available',
                    MESSAGE = 'sessions have used the runtime in transactions that do not end',
                    DETAIL = (
                        WITH holders AS (
                            SELECT l.pid, l.virtualtransaction FROM pg_locks AS l
                              JOIN pg_class AS c ON c.oid = l.relation
                              JOIN pg_namespace AS n ON n.oid = c.relnamespace
                             WHERE l.granted AND n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_locks'))
                        SELECT string_agg(t.what, E'\\n' ORDER BY t.since)
                          FROM (SELECT a.xact_start,
                                       format('process %s of %s, since %s', a.pid, a.usename, a.xact_start)
                                  FROM pg_stat_activity AS a
                                 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                                   AND a.pid IN (SELECT h.pid FROM holders AS h)
                                UNION ALL
                                SELECT p.prepared,
                                       format('prepared transaction %s of %s, since %s',
                                              p.gid, p.owner, p.prepared)
                                  FROM pg_prepared_xacts AS p
                                 WHERE p.database = current_database()
                                   AND EXISTS (
                                       SELECT FROM pg_locks AS k
                                         JOIN holders AS h ON h.virtualtransaction = k.virtualtransaction
                                        WHERE k.transactionid = p.transaction AND h.pid IS NULL)
                               ) AS t (since, what)),
                    HINT = 'pg_terminate_backend ends a session, ROLLBACK PREPARED a prepared transaction;'
                           ' nothing was changed here.';
            END IF;
        END;
        PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
    END LOOP;
    PERFORM set_config('lock_timeout', v_before, true);
END;
$$;
"""

# As with pg_dump: what settings of the role or the database say of queries is not said of this. Waiting still
# ends: for the lock above by statement_timeout, for others by lock_timeout, because behind them others wait.
NO_TIMEOUTS = """\
SELECT pg_catalog.set_config(s.name, '0', true) FROM pg_catalog.pg_settings AS s
 WHERE s.name OPERATOR(pg_catalog.=) ANY (
           '{statement_timeout,idle_in_transaction_session_timeout,transaction_timeout}'::pg_catalog.text[])
"""

NO_DATA = (
    "the database has the runtime's tables without what they hold, as a dump restored without its"
    " data (--schema-only) leaves them"
)
RESTORE_DATA = "restore its data too (--data-only), or begin anew: pgsb uninstall, then pgsb install"

# What a text brings to a database is told from what that has been through; one that was made before this was
# kept has been through all up to its version. Tables stay as they are where CREATE TABLE IF NOT EXISTS finds
# them: without its migrations a database would be called what it is not.
_REQUIRE_MIGRATIONS = """\
DO $$
DECLARE
    v_ours CONSTANT integer[] := '{{{ours}}}';
    v_brought CONSTANT integer[] := '{{{brought}}}';
    v_row jsonb;
    v_known integer[];
    v_missing text;
    v_unknown text;
BEGIN
    IF to_regclass('ssb.runtime_version') IS NULL THEN
        RETURN;
    END IF;
    SELECT to_jsonb(r) INTO v_row FROM ssb.runtime_version AS r;
    IF v_row IS NULL THEN
        RAISE EXCEPTION USING MESSAGE = '{no_data}', HINT = '{restore_data}';
    END IF;
    v_known := CASE
        WHEN v_row ->> 'migrations' IS NULL
        THEN ARRAY(SELECT m FROM unnest(v_ours) AS m WHERE m <= (v_row ->> 'version')::integer)
        ELSE ARRAY(SELECT m::integer FROM jsonb_array_elements_text(v_row -> 'migrations') AS m) END;
    SELECT string_agg(m::text, ', ' ORDER BY m) INTO v_missing FROM unnest(v_ours) AS m
     WHERE m <> ALL (v_known) AND m <> ALL (v_brought) AND m <= {up_to};
    SELECT string_agg(m::text, ', ' ORDER BY m) INTO v_unknown FROM unnest(v_known) AS m
     WHERE m <> ALL (v_ours);
    IF v_unknown IS NOT NULL OR (v_row ->> 'version')::integer > {version} THEN
        RAISE EXCEPTION USING
            MESSAGE = format('the database has runtime version %s; this text brings {version}',
                             v_row ->> 'version'),
            DETAIL = coalesce('It has been through the migrations ' || v_unknown || '.', 'It is newer.'),
            HINT = 'Take the text of the pgsb that installed it, or of a newer one.';
    ELSIF v_missing IS NOT NULL THEN
        RAISE EXCEPTION USING
            MESSAGE = format('the database has runtime version %s, and this text does not migrate it',
                             v_row ->> 'version'),
            DETAIL = format('It lacks the migrations %s.', v_missing),
            HINT = 'pgsb upgrade does it; pgsb upgrade --print writes the text that does.';
    END IF;
END;
$$;
"""

# A text for the broker alone takes nothing away from a database that has all. What the same text has made
# before belongs to the runtime, too: not all of it comes back when it was lost.
_RECORD = """\
INSERT INTO ssb.runtime_version AS r (version, content_hash, parts, objects, migrations)
VALUES ({version}, '{content_hash}', '{parts}',
        ARRAY(SELECT o.line FROM ssb_internal.runtime_object AS o ORDER BY 1), '{{{migrations}}}')
ON CONFLICT (only_row) DO UPDATE
SET version = excluded.version, migrations = excluded.migrations,
    content_hash = excluded.content_hash, installed_at = now(),
    parts = CASE WHEN r.parts = 'all' THEN r.parts ELSE excluded.parts END,
    objects = ARRAY(SELECT unnest(excluded.objects)
                    UNION SELECT k.line FROM unnest(r.objects) AS k (line)
                           WHERE r.content_hash = excluded.content_hash
                    ORDER BY 1);
DO $$ BEGIN PERFORM ssb_internal.follow_owner(); END $$;
"""

Nvarchar = Literal["utf8", "utf16"]
"""The bytes of nvarchar: UTF-8, or SQL Server's UTF-16LE. Chosen once for an instance."""

Parts = Literal["broker", "all"]
"""``broker``: queues, dialogs, the API, transport, activation, measures. ``all``: T-SQL's language too."""

_DUMP_DATA = """\
-- pg_dump leaves the contents of an extension's tables out unless told. (Those of queues are not in it.)
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid::regclass FROM pg_class AS c
         WHERE c.relnamespace = 'ssb'::regnamespace AND c.relkind IN ('r', 'S')
           AND EXISTS (SELECT FROM pg_depend AS d
                        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    LOOP
        PERFORM pg_extension_config_dump(v_table, '');
    END LOOP;
END;
$$;
"""


# Queues are the users', and made anew by an update: an extension's script replaces nothing but what is in it.
_QUEUES_IN_EXTENSION = """\
DO $$
DECLARE
    v_queue record;
BEGIN
    FOR v_queue IN
        SELECT q.schema_name, q.relation_name FROM ssb.queue AS q
          JOIN pg_namespace AS n ON n.nspname = q.schema_name
          JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = q.relation_name AND c.relkind = 'v'
    LOOP
        EXECUTE format('ALTER EXTENSION {extension} {verb} VIEW %I.%I',
                       v_queue.schema_name, v_queue.relation_name);
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


@cache
def _folder() -> Traversable:
    """The folder of the SQL files: this one, or the archive that a wheel has of them (setup.py)."""
    here = files(__package__ or "pgsb.runtime_sql")
    packed = here / "runtime.zip"
    if not packed.is_file():
        return here
    # Imported here: commands that only ask for the runtime's version must start fast.
    import zipfile

    return zipfile.Path(io.BytesIO(packed.read_bytes()))


def _migrations() -> list[tuple[int, str]]:
    """Version and text of every migration, in order."""
    found = [
        (int(match[1]), entry.read_text(encoding="utf-8"))
        for entry in (_folder() / "migrations").iterdir()
        if (match := _MIGRATION.fullmatch(entry.name))
    ]
    return sorted(found)


def file_names(parts: Parts = "all") -> list[str]:
    """The files of the runtime, in the order in which they are applied."""
    contents = (_folder() / "install.sql").read_text(encoding="utf-8")
    if parts == "broker":
        contents = _LANGUAGE.sub("", contents)
    return [match[1] for line in contents.splitlines() if (match := _INCLUDE.fullmatch(line.strip()))]


def _texts(parts: Parts = "all") -> list[str]:
    """Every file's text, headed by its name."""
    folder = _folder()
    return [f"-- {name}\n{(folder / name).read_text(encoding='utf-8')}" for name in file_names(parts)]


@cache
def _names_beyond_broker() -> frozenset[str]:
    """Functions, views and types that only ``all`` has, each with its schema."""
    broker = {name for text in _texts("broker") for name in _CREATED.findall(text)}
    return frozenset(name for text in _texts() for name in _CREATED.findall(text)) - broker


def parts_needed(names: Iterable[str]) -> Parts:
    """The parts of the runtime in which functions and views with these names are, each with its schema."""
    beyond = _names_beyond_broker()
    return "all" if any(name in beyond for name in names) else "broker"


def parts_guard(parts: Parts) -> str:
    """A statement for the head of a compiled text: error 15281 where the database lacks these parts."""
    return f"DO $$ BEGIN PERFORM ssb_internal.require_parts('{parts}'); END $$;\n"


def _version() -> int:
    return max((version for version, _ in _migrations()), default=1)


RUNTIME_VERSION = str(_version())
"""Version of the runtime in this package: the number of its last migration, 1 before the first."""


def _content_hash(parts: Parts) -> str:
    return hashlib.sha256("\n".join(_texts(parts)).encode()).hexdigest()[:32]


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _record(parts: Parts = "all") -> str:
    return _RECORD.format(
        version=_version(),
        content_hash=_content_hash(parts),
        parts=parts,
        migrations=_listed(number for number, _ in _migrations()),
    )


def _require_migrations(brought: Iterable[int], up_to: str | int | None = None) -> str:
    """What refuses a database that lacks others than those that are brought, of those up to a number."""
    return _REQUIRE_MIGRATIONS.format(
        version=_version(),
        ours=_listed(number for number, _ in _migrations()),
        brought=_listed(brought),
        up_to=_version() if up_to is None else up_to,
        no_data=NO_DATA.replace("'", "''"),
        restore_data=RESTORE_DATA,
    )


def _choice(nvarchar: Nvarchar | None) -> str:
    """What schema/nvarchar.sql reads; without a choice an installed one stays."""
    return f"SET LOCAL pgsb.nvarchar = '{nvarchar or ''}';\n"


def install_sql(parts: Parts = "all", nvarchar: Nvarchar | None = None) -> str:
    """The whole runtime as one psql-ready script: a single transaction, safe to run twice.

    The same text serves servers with and without libxml and every supported
    version of PostgreSQL. It does not migrate an older runtime: `upgrade` does.
    With ``nvarchar`` it fails in a database that has chosen otherwise.
    """
    return _script(parts, nvarchar, _require_migrations([]))


def _script(parts: Parts, nvarchar: Nvarchar | None, before: str) -> str:
    """The runtime as a transaction; ``before`` stands ahead of it, where nobody uses what is there."""
    body = "\n\n".join(_texts(parts))
    return (
        "BEGIN;\n"
        # Some functions have letters beyond ASCII; psql's encoding follows the machine, or the database.
        "SET LOCAL client_encoding = 'UTF8';\n"
        "SET LOCAL client_min_messages = warning;\n"
        "SET LOCAL standard_conforming_strings = on;\n"
        f"{_choice(nvarchar) if nvarchar else ''}"
        f"{PATH}\n"
        f"{TAKE_LOCK}\n"
        f"{TAKE_TABLES}\n"
        f"{before}\n"
        f"{body}\n\n{_record(parts)}{PATH_BACK}COMMIT;\n"
    )


def upgrade_sql(version: int, parts: Parts = "all", needed: Collection[int] | None = None) -> str:
    """What `upgrade` does to a database with this version, as one psql-ready transaction.

    ``needed`` are its migrations (`Installed.needed`), those above the version by default. It refuses a
    database with another version or other parts, or that needs others. Raises RuntimeVersionError for one
    newer than this package.
    """
    if version > _version():
        raise RuntimeVersionError(
            f"version {version} is newer than this program's, {RUNTIME_VERSION}", "use a newer pgsb"
        )
    guard = (
        "DO $$ BEGIN\n"
        f"    IF (SELECT r.version FROM ssb.runtime_version AS r) IS DISTINCT FROM {version} THEN\n"
        f"        RAISE EXCEPTION 'this text upgrades version {version} of the runtime only';\n"
        # Before there were parts there was only all.
        "    ELSIF (SELECT coalesce(to_json(r) ->> 'parts', 'all') FROM ssb.runtime_version AS r)"
        f" <> '{parts}' THEN\n"
        f"        RAISE EXCEPTION 'this text upgrades a runtime with parts: {parts}'\n"
        "              USING HINT = 'pgsb upgrade --print --from takes --parts, too.';\n"
        "    END IF;\nEND $$;\n\n"
    )
    steps = [
        (number, text)
        for number, text in _migrations()
        if (number > version if needed is None else number in needed)
    ]
    guard += _require_migrations(number for number, _ in steps)
    return _script(parts, None, guard + "\n" + "\n\n".join(text for _, text in steps))


def _queues_in_extension(verb: str) -> str:
    return _QUEUES_IN_EXTENSION.format(extension=EXTENSION_NAME, verb=verb)


def extension_files(nvarchar: Nvarchar | None = None) -> dict[str, str]:
    """Control and script files with which a DBA gets the runtime by CREATE EXTENSION.

    Keys are file names for PostgreSQL's extension directory. CREATE EXTENSION takes ``nvarchar`` from
    them, also when a dump is restored; updates keep what a database has.
    """
    control = (
        "comment = 'Service Broker: dialogs, contracts and queues for compiled T-SQL'\n"
        f"default_version = '{RUNTIME_VERSION}'\n"
        "relocatable = false\n"
        # Its functions run with their owner's rights: that is who creates the extension, as with `install`.
        "superuser = false\n"
    )
    guard = f'\\echo Use "CREATE EXTENSION {EXTENSION_NAME}" to load this file. \\quit\n\n'
    body = "\n\n".join(_texts())
    result = {
        f"{EXTENSION_NAME}.control": control,
        f"{EXTENSION_NAME}--{RUNTIME_VERSION}.sql": (
            f"{guard}{_choice(nvarchar) if nvarchar else ''}{PATH}\n{body}\n\n{_record()}\n{_DUMP_DATA}"
        ),
    }
    previous = 1
    for version, text in _migrations():
        update = f"{guard}{PATH}\n{text}\n\n"
        if version == _version():
            # From whatever version the chain of updates began: it has brought all that came above that.
            check = _require_migrations([], "(v_row ->> 'version')::integer")
            update = f"{guard}{PATH}\n{check}\n{text}\n\n"
            update += f"{_queues_in_extension('ADD')}\n{body}\n\n{_queues_in_extension('DROP')}\n"
            update += f"{_record()}\n{_DUMP_DATA}"
        result[f"{EXTENSION_NAME}--{previous}--{version}.sql"] = update
        previous = version
    return result


class Installed(NamedTuple):
    """What a database says of its runtime."""

    version: int
    content_hash: str
    parts: Parts
    """Before there were parts there was only ``all``."""
    migrations: frozenset[int] | None
    """Those it has been through or was made with; None from before this was kept: all up to its version."""

    def needed(self) -> list[int]:
        """The migrations of this package that it lacks, in order: a merge may bring one of a lower number."""
        return [
            number
            for number, _ in _migrations()
            if (number > self.version if self.migrations is None else number not in self.migrations)
        ]

    def is_newer(self) -> bool:
        """Whether it has been through what this package does not know."""
        ours = {number for number, _ in _migrations()}
        return self.version > _version() or not (self.migrations or frozenset()) <= ours


def has_tables(connection: psycopg.Connection[Any]) -> bool:
    """Whether this database has the table that names the runtime, with or without a row."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        found = cursor.execute("SELECT pg_catalog.to_regclass('ssb.runtime_version') IS NOT NULL")
        return found.fetchone() == (True,)


def require_data(connection: psycopg.Connection[Any]) -> None:
    """Raise RuntimeVersionError where, without a version, there are tables that have lost their rows."""
    if has_tables(connection):
        raise RuntimeVersionError(NO_DATA, RESTORE_DATA)


def installed(connection: psycopg.Connection[Any]) -> Installed | None:
    """The runtime in this database; None where there is none."""
    if not has_tables(connection):
        return None
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        # to_json, for a runtime without the columns answers too.
        row = cursor.execute(
            "SELECT r.version, r.content_hash, pg_catalog.to_json(r) ->> 'parts',"
            " pg_catalog.to_json(r) -> 'migrations' FROM ssb.runtime_version AS r"
        ).fetchone()
    if row is None:
        return None
    return Installed(
        row[0],
        row[1],
        "broker" if row[2] == "broker" else "all",
        None if row[3] is None else frozenset(row[3]),
    )


def installed_version(connection: psycopg.Connection[Any]) -> str | None:
    """Version of the runtime in this database; None where there is none."""
    found = installed(connection)
    return None if found is None else str(found.version)


def installed_parts(connection: psycopg.Connection[Any]) -> Parts | None:
    """The parts of the runtime in this database; None without one."""
    found = installed(connection)
    return None if found is None else found.parts


def nvarchar_of(connection: psycopg.Connection[Any]) -> Nvarchar | None:
    """The bytes of nvarchar in this database; None without a runtime."""
    if installed(connection) is None:
        return None
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        known = cursor.execute("SELECT pg_catalog.to_regprocedure('ssb.nvarchar_encoding()') IS NOT NULL")
        # Before there was a choice, there was UTF-8.
        if known.fetchone() != (True,):
            return "utf8"
        return (
            "utf16" if cursor.execute("SELECT ssb.nvarchar_encoding()").fetchone() == ("utf16",) else "utf8"
        )


def install(
    connection: psycopg.Connection[Any],
    *,
    parts: Parts | None = None,
    nvarchar: Nvarchar | None = None,
    anew: bool = False,
) -> None:
    """Bring the database to this package's runtime: a fresh one, or an upgrade of an older one.

    ``parts`` None is what the database has, and all for a fresh one; ``all`` adds what ``broker`` had
    left out. ``nvarchar`` None is what the database has, and utf8 for a fresh one. Where everything is
    there already nothing is done, unless ``anew``. Raises
    RuntimeVersionError when the database has a newer one, an unreleased one with other tables,
    all the parts where only the broker is wanted, other bytes for nvarchar, or its tables alone, and
    psycopg.errors.InsufficientPrivilege when the role may not create schemas.
    """
    with connection.transaction():
        connection.execute(
            "SET LOCAL client_min_messages = warning; SET LOCAL standard_conforming_strings = on"
        )
        connection.execute(TAKE_LOCK)
        connection.execute(NO_TIMEOUTS)
        found = installed(connection)
        if found is None:
            require_data(connection)
        present = found.parts if found is not None else None
        if parts == "broker" and present == "all":
            raise RuntimeVersionError(
                "the database has all parts of the runtime; installing the broker takes none of them away",
                "pgsb uninstall removes the runtime with its queues and messages",
            )
        chosen = nvarchar_of(connection)
        if nvarchar is not None and chosen is not None and nvarchar != chosen:
            raise RuntimeVersionError(
                f"the database keeps nvarchar as {chosen}, which is chosen once: bodies, hashes and indexes"
                " hold such bytes",
                "pgsb uninstall removes the runtime with its queues and messages,"
                f" pgsb install --nvarchar {nvarchar} then begins anew; tables stay",
            )
        wanted = parts or present or "all"
        if (
            found is not None
            and found[:3] == (_version(), _content_hash(wanted), wanted)
            and not found.needed()
            and not anew
        ):
            return
        connection.execute(_choice(nvarchar).encode())
        connection.execute(PATH)
        connection.execute(TAKE_TABLES)
        if found is not None and found.is_newer():
            raise RuntimeVersionError(
                f"the database has runtime version {found.version}; this program brings {RUNTIME_VERSION}",
                "use the pgsb that installed it, or a newer one",
            )
        try:
            if found is not None:
                needed = found.needed()
                for number, text in _migrations():
                    if number in needed:
                        connection.execute(text.encode())
            for part in _texts(wanted):
                connection.execute(part.encode())
        except psycopg.errors.InsufficientPrivilege:
            raise
        except psycopg.errors.ProgrammingError as error:
            if found is None:
                raise
            # Between releases a table can change without a migration, and did before there was a first one.
            raise RuntimeVersionError(
                f"the database has an unreleased state of runtime version {found.version}, or one that was"
                f" changed by hand, which cannot be upgraded ({error.diag.message_primary})",
                "nothing was changed: the pgsb that installed it still serves it, and its pgsb upgrade makes"
                " parts anew that were dropped; pgsb uninstall removes it with its queues and messages,"
                " pgsb install then installs this one",
            ) from error
        connection.execute(_record(wanted).encode())
        connection.execute(PATH_BACK)


def upgrade(connection: psycopg.Connection[Any]) -> None:
    """Migrations where they are needed, then every function and privilege anew.

    Also where the version is the same: a database may have been restored without privileges.
    """
    install(connection, anew=True)
