"""Which PostgreSQL to talk to: a DSN, the environment, or the private server.

The order: ``--dsn``, then DATABASE_URL, then libpq's PG* variables, then the
private server (embedded.py). Whatever names a server wins over the private one.
"""

import contextlib
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import tuple_row

from .problems import SERVER_GONE, ServerError, Unreachable

if TYPE_CHECKING:
    from .embedded import PrivateServer

# Of libpq's variables, those that say which server or database is meant.
_NAMING = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGUSER")
# Compiled text and the runtime's functions have backslashes in their literals that are no escapes;
# = NULL is no IS NULL; and a queue is found by its name as %I writes it.
LANGUAGE_SETTINGS = (
    "SET standard_conforming_strings = on; SET transform_null_equals = off; SET array_nulls = on;"
    " SET quote_all_identifiers = off;"
    # SELECT INTO takes the first of several rows. plpgsql.variable_conflict needs no setting: no name of ours
    # is ambiguous, or its function says what is meant; and where PL/pgSQL is preloaded an ordinary role may
    # not set it.
    " SET plpgsql.extra_errors = 'none'"
)
# Whatever the role's forms are: psycopg reads a moment and an interval in these alone, and numbers of seconds
# whole. Whether the day or the month comes first in what is given stays as it is.
FORMS = {"DateStyle": "ISO", "IntervalStyle": "postgres", "extra_float_digits": "1"}
FORM_SETTINGS = "; ".join(f"SET {name} = '{value}'" for name, value in FORMS.items())
# Notices carry results and PRINT: they must come. What is shown has one form.
OUTPUT_SETTINGS = "SET client_min_messages = notice; SET bytea_output = hex; " + FORM_SETTINGS
# In T-SQL every session begins so, and SET TRANSACTION ISOLATION LEVEL says otherwise.
ISOLATION = "SET default_transaction_isolation = 'read committed'"
# T-SQL's errors are made of PostgreSQL's, whose English words are read. Only superusers may set it: diagnose
# tells the others what does (113).
IN_ENGLISH = (
    "SELECT pg_catalog.set_config('lc_messages', 'C', false) FROM pg_catalog.pg_roles AS r"
    " WHERE r.rolname = current_user AND r.rolsuper"
    " AND pg_catalog.current_setting('lc_messages') OPERATOR(pg_catalog.!~*) '^(c|posix|en|$)'"
)
# What a role's or a database's limits are for, its programs, does not end sessions of those who watch
# (transaction_timeout came with 17).
UNENDED = (
    "SELECT pg_catalog.set_config(s.name, '0', false) FROM pg_catalog.pg_settings AS s"
    " WHERE s.name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')"
)
# A session that looks and changes nothing. It waits for a lock as long as diagnose, which tells whose (117).
LOOKING = f"SET lock_timeout = '2s'; SET default_transaction_read_only = on; {UNENDED}"
# A session in a WAITFOR whose client was killed ends so; a longer time that somebody chose stays.
CHECK_INTERVAL = (
    "SELECT pg_catalog.set_config('client_connection_check_interval', '1000', false)"
    " WHERE pg_catalog.current_setting('client_connection_check_interval') = '0'"
)
# For a server that hangs, which lets nobody in and refuses nobody: unless the DSN or PGCONNECT_TIMEOUT says.
CONNECT_SECONDS = 30
# T-SQL finds nothing by a search_path; in one with public, a function or operator that anybody made there
# with closer types of arguments would take the place of PostgreSQL's (ssb_internal.pin_search_path).
SEARCH_PATH = "SET search_path = pg_catalog, pg_temp"
# … and those parameters of a DSN that nobody is to read.
_SECRET = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")


@dataclass(frozen=True)
class Target:
    """A server to connect to: its DSN, whether it is our private one, and what named it."""

    dsn: str
    private: bool
    source: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "dsn", plain_scheme(self.dsn))


def find_target(dsn: str | None = None) -> Target:
    """Decide on the server; starts the private one when nothing names another. Raises ServerError."""
    named = named_target(dsn)
    if named is not None:
        return named
    return Target(private_server().start(), True, "the private server")


def private_server() -> "PrivateServer":
    """This user's private server, running or not. Raises ServerError where there can be none."""
    if not has_private_servers():
        raise ServerError(
            "no server is named, and a private one runs on Linux and macOS alone",
            hint="name one by --dsn, DATABASE_URL or PGHOST",
        )
    # Finding and starting a server is loaded for those who name none.
    from .embedded import PrivateServer

    return PrivateServer()


def has_private_servers() -> bool:
    """Whether private servers and the daemon run here: Windows lacks what they ask of the system."""
    return sys.platform != "win32"


def require_daemon() -> None:
    """Raise ServerError where the daemon cannot run."""
    if not has_private_servers():
        raise ServerError(
            "the daemon, which starts service programs, runs on Linux and macOS alone",
            hint="run pgsb broker on a machine that reaches the server, such as the server's own",
        )


def named_target(dsn: str | None = None) -> Target | None:
    """The server that ``dsn`` or the environment names, None when they name none."""
    if dsn:
        return Target(dsn, False, "--dsn")
    url = os.environ.get("DATABASE_URL")
    if url:
        return Target(url, False, "DATABASE_URL")
    named = [name for name in _NAMING if os.environ.get(name)]
    if named:
        return Target("", False, ", ".join(named))
    return None


def connect(target: Target, seconds: float | None = None, **options: Any) -> psycopg.Connection[Any]:
    """Open an autocommit connection for compiled scripts, with a session of its own.

    Raises ServerError: Unreachable without a server.

    ``seconds``: a server that hangs is given up after so long at the latest, whatever the DSN says; no less
    than two, libpq's least.

    Statements go one by one in the simple protocol and are never prepared: only so
    may the blocks of a compiled script commit and roll back for themselves.
    """
    try:
        said = conninfo_to_dict(target.dsn).get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT")
        if seconds is not None:
            # 0 is no limit, and what is no number libpq refuses.
            least = int(said or 0) if re.fullmatch("0*[1-9][0-9]{0,8}", str(said)) else CONNECT_SECONDS
            options = {**options, "connect_timeout": max(2, min(math.ceil(seconds), least))}
        elif said is None:
            options = {"connect_timeout": CONNECT_SECONDS, **options}
        connection = psycopg.connect(
            target.dsn,
            autocommit=True,
            prepare_threshold=None,
            **{"fallback_application_name": "pgsb", "client_encoding": "utf8", **options},
        )
    except (psycopg.ProgrammingError, UnicodeError):
        # libpq's words repeat the piece that it cannot read, perhaps half a password. UnicodeError: of a host
        # whose name can be none.
        raise ServerError(
            f"cannot read the connection string of {target.source}",
            hint="postgresql://user@host:port/database, or host=… dbname=… (values with blanks in quotes)",
        ) from None
    except psycopg.Error as error:
        raise _unreachable(target, error) from None
    with opening(target, connection):
        # Before anything is set: in a session of a pooler it would be so for applications that get it next.
        require_session(connection, target)
        connection.execute(f"{OUTPUT_SETTINGS}; {SEARCH_PATH}")
        prepare_session(connection)
    return connection


@contextlib.contextmanager
def opening(target: Target, connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Close the connection where the first words on it fail; a server that goes meanwhile is Unreachable."""
    try:
        yield
    except BaseException as error:
        connection.close()
        if isinstance(error, psycopg.OperationalError) and error.sqlstate in (None, *SERVER_GONE):
            raise _unreachable(target, error) from None
        raise


def _unreachable(target: Target, error: psycopg.Error) -> Unreachable:
    return Unreachable(
        f"cannot connect to {describe(target)}: {_one_line(error)}",
        hint="`pgsb status` shows the private server's log"
        if target.private
        else f"the server was named by {target.source}",
    )


def prepare_session(connection: psycopg.Connection[Any], *, is_own: bool = True) -> None:
    """Settle what a session needs, whatever its role's and database's defaults are.

    Not ``is_own``: a pooler lends it to others too, whose transactions it would otherwise weaken.
    """
    connection.execute(f"{LANGUAGE_SETTINGS}; {ISOLATION}; {IN_ENGLISH}" if is_own else LANGUAGE_SETTINGS)
    if settings := trace_settings():
        connection.execute(settings.encode())
    # A WAITFOR without TIMEOUT notices by itself only what comes to its queue: without this the
    # session of a client that was killed would wait for ever, and its transaction hold its locks.
    # Servers on some platforms cannot look.
    with contextlib.suppress(psycopg.errors.InvalidParameterValue):
        connection.execute(CHECK_INTERVAL)


def trace_settings() -> str | None:
    """What a program that a daemon with --traces has started says first: it is part of that run's trace."""
    trace = os.environ.get("TRACEPARENT", "")
    if "PGSB_PROGRAM" not in os.environ or not re.fullmatch("[0-9a-f-]{55}", trace):
        return None
    recording = "on" if os.environ.get("PGSB_RECORD_SPANS") == "on" else "off"
    return f"SET pgsb.traceparent = '{trace}'; SET pgsb.record_spans = {recording}"


def read_dsn(dsn: str, source: str) -> dict[str, Any]:
    """The parameters of a connection string, without a look at the server.

    Raises ServerError where libpq cannot read it, or a host's name can be none.
    """
    try:
        known = conninfo_to_dict(dsn)
        for host in str(known.get("host") or "").split(","):
            host.encode("idna" if not host.startswith(("/", "@")) else "utf-8")
    except (psycopg.ProgrammingError, UnicodeError):
        # libpq's words repeat the piece that it cannot read, perhaps half a password.
        raise ServerError(f"cannot read the connection string of {source}") from None
    return known


def require_session(connection: psycopg.Connection[Any], target: Target) -> None:
    """Raise ServerError where a pooler gives each transaction of the connection another session.

    A leader's lock, a claim, temporary tables and all that SET says would be somebody else's.
    """
    # A pooler makes up the process number that it tells; only behind one it is worth looking closer.
    if is_direct(connection):
        return
    with psycopg.connect(target.dsn, autocommit=True, fallback_application_name="pgsb") as other:
        shared = _share_sessions(connection, other)
    if shared:
        raise ServerError(
            f"{describe(target)} is a pooler that gives each transaction another session",
            hint="connect to PostgreSQL itself, or to a pool with pool_mode = session",
        )


def _share_sessions(connection: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Whether the other connection gets the session that this one has just used, or this one another.

    Neither need happen at once: a pooler lends the session that was used last, or the one that has
    rested longest, and other clients take them meanwhile.
    """
    for _ in range(2):
        before = _session_of(connection)
        for _ in range(2):
            other.execute("BEGIN")
            shared = _session_of(other) == before or _session_of(connection) != before
            other.execute("ROLLBACK")
            if shared:
                return True
    return False


def is_direct(connection: psycopg.Connection[Any]) -> bool:
    """Whether the process that answers is the one of which libpq was told, as without a pooler."""
    return _session_of(connection) == connection.info.backend_pid


def _session_of(connection: psycopg.Connection[Any]) -> int:
    # Whatever form the connection's rows have.
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute("SELECT pg_catalog.pg_backend_pid()").fetchone()
    assert row is not None
    pid: int = row[0]
    return pid


def describe(target: Target) -> str:
    """The server in words, without its passwords and keys."""
    if target.private:
        return "the private server"
    try:
        parts = conninfo_to_dict(target.dsn)
    except psycopg.Error:
        return "the server"
    shown = make_conninfo("", **{name: value for name, value in parts.items() if name not in _SECRET})
    return shown or "the server named by the PG* variables"


def no_runtime(target: Target) -> ServerError:
    """What is wrong with a database into which nobody has installed the runtime."""
    hint = f"`pgsb install{_dsn_option(target)}` puts it there"
    return ServerError(f"there is no runtime in {describe(target)}", hint)


def require_owner(connection: psycopg.Connection[Any], target: Target) -> None:
    """Raise ServerError where there is no runtime, or the role lacks the rights of its owner."""
    row = connection.execute(
        "SELECT pg_get_userbyid(n.nspowner), pg_has_role(n.nspowner, 'USAGE'), current_user"
        " FROM pg_namespace AS n WHERE n.nspname = 'ssb' AND to_regclass('ssb.runtime_version') IS NOT NULL"
    ).fetchone()
    if row is None:
        raise no_runtime(target)
    owner, is_allowed, role = row
    if not is_allowed:
        raise ServerError(
            f"the runtime in {describe(target)} belongs to {owner}, and {role} does not have its rights",
            hint=f"log in as {owner}, or as a member of it that inherits its rights",
        )


def older_runtime(target: Target, installed: str, needed: str) -> ServerError:
    """What is wrong with a database whose runtime is of an earlier version, or lacks a part."""
    if installed == needed:
        return ServerError(
            f"parts of the runtime in {describe(target)} are missing",
            f"`pgsb upgrade{_dsn_option(target)}` makes them anew",
        )
    return ServerError(
        f"the runtime in {describe(target)} is version {installed}, this pgsb needs {needed}",
        f"`pgsb upgrade{_dsn_option(target)}` brings it up to date",
    )


def _dsn_option(target: Target) -> str:
    """What a command needs to find the same server as this one."""
    return " --dsn …" if target.source in ("--dsn", "-S") else ""


def plain_scheme(url: str) -> str:
    """The URL as libpq takes it: `postgresql+psycopg://…`, as SQLAlchemy writes it, is no scheme of libpq."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}" if separator else url


def _one_line(error: psycopg.Error) -> str:
    # libpq asks its questions on lines of their own, and repeats what it was told when it tries without TLS.
    # The second where there is no socket, or no file of that name.
    said = str(error).removeprefix("connection failed: ").removeprefix("connection is bad: ")
    lines = (" ".join(line.split()).rstrip(".") for line in said.splitlines())
    return ". ".join(dict.fromkeys(line for line in lines if line))
