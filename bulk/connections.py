"""All connections of a bulk job, and where they lead.

The session that claims says where it really is: host, port, database, user, TLS. Readers and
writers, on whatever machine, are sent exactly there, whatever made the first one arrive: a
service file, a list of hosts, PGHOST, a password file. And each reading session proves that it
is in the same database (`ssb_internal.database_identity`): what it reads would otherwise be nothing, and
completing would throw the messages away.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ..server.connect import FORM_SETTINGS, Target, is_direct, prepare_session, require_session
from ..server.problems import ServerError
from .problems import BulkError, NotConnected, first_line, has_ended, hint_of

DRIVER = "org.postgresql.Driver"

Connection = psycopg.Connection[tuple[object, ...]]

# What another machine needs to arrive where this one is, beside host, port, user and database.
_KEPT = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslcrl",
    "options",
    "gssencmode",
    "channel_binding",
    "require_auth",
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
)
# What a session is made with unless its address says otherwise. A server whose machine is gone says nothing,
# which is noticed after 25 seconds then (by itself the system asks after two hours). One that hangs takes
# connections and answers none: it must not keep a list of hosts from its next one. No limit for what is sent:
# COPY may wait for a lock as long as it wants.
_NOTICING = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_SILENCE = 600
"""Seconds after which Java gives up a server that it reads a claim from. It cannot be told when to ask
whether the machine is still there, and the system asks after two hours."""
# A transaction that reads or writes for a task is idle while Spark computes, which is no fault: a limit for
# clients that forget theirs would end it in its midst (transaction_timeout came with 17).
UNHURRIED = (
    "SELECT pg_catalog.set_config(s.name, '0', true)"
    "  FROM (VALUES ('idle_in_transaction_session_timeout'), ('transaction_timeout')) AS s (name)"
    " WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL"
)
# The same of one that reads a claim in Java, where nobody's text runs but ours and Spark's conditions: what
# somebody has made in a schema of the role's search_path takes the place of no function or operator in it.
_READING = (
    "SELECT pg_catalog.set_config(s.name, s.value, true)"
    "  FROM (VALUES ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0'),"
    " ('search_path', 'pg_catalog, pg_temp')) AS s (name, value)"
    " WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL"
)
# The driver knows these by the same names.
_JDBC = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "options")


@dataclass(frozen=True)
class Server:
    """Where a session is, for others that are to be in the same place.

    ``dsn`` for psycopg and libpq, ``identity`` what `ssb_internal.database_identity` answers there,
    ``nvarchar`` how text lies in bodies: ``utf8`` or ``utf16``.
    """

    dsn: str
    identity: str
    nvarchar: str = "utf8"

    @property
    def jdbc(self) -> dict[str, str]:
        """Spark's JDBC options: url, user, password, driver, TLS. Raises BulkError for a unix socket."""
        return _jdbc(
            {key: str(value) for key, value in conninfo_to_dict(self.dsn).items() if value is not None}
        )

    @property
    def jdbc_of_claims(self) -> dict[str, str]:
        """The same to read a claim with: what a server keeps silent about for ten minutes does not come.

        Not for what a program reads beside: a view of its own may take as long as it wants to its first row.
        """
        options = self.jdbc
        # Not a property: Spark would write its name in lower case, in which the driver does not know it.
        url = f"{options['url']}&socketTimeout={_SILENCE}"
        return {**options, "url": url, "sessionInitStatement": _READING}


def readable(dsn: str) -> str:
    """The DSN as libpq takes it, also that of a JDBC URL. Raises BulkError."""
    dsn = dsn.removeprefix("jdbc:")
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise BulkError(
            f"the address of the server cannot be read: {first_line(error)}",
            "options of JDBC's after the ? have other names in PostgreSQL's",
        ) from error
    return dsn


def connect(dsn: str, name: str) -> Connection:
    """A session for claims. A machine that dies says nothing: the server asks whether it is still there.

    The statement of a driver that was killed ends too: prepare_session lets the server look.

    Raises NotConnected when there is no connection, BulkError when the address cannot be read, a pooler lends
    the session to others or leaves the role out, or the server refuses what it needs.
    """
    dsn = readable(dsn)
    try:
        connection = open_session(dsn, name)
        try:
            require_own_session(connection, dsn)
            _require_role(connection)
            prepare_session(connection)
            connection.execute(
                f"{FORM_SETTINGS}; SELECT set_config(name, value, false) FROM (VALUES"
                " ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),"
                " ('tcp_keepalives_count', '3'),"
                # While Spark works the session that holds the claim has nothing to say.
                " ('idle_session_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),"
                " ('transaction_timeout', '0')"
                ") AS s (name, value) WHERE current_setting(name, true) IS NOT NULL"
            )
        except BaseException:
            connection.close()
            raise
    except psycopg.OperationalError as error:
        if has_ended(error):
            raise NotConnected(f"no connection to PostgreSQL: {first_line(error)}") from error
        raise BulkError(
            f"a session cannot be prepared: {first_line(error)} (SQLSTATE {error.sqlstate})", hint_of(error)
        ) from error
    return connection


def open_session(dsn: str, name: str) -> Connection:
    """An autocommit session that notices when its server's machine is gone. Raises psycopg.Error."""
    known = {*conninfo_to_dict(dsn), *({"connect_timeout"} if "PGCONNECT_TIMEOUT" in os.environ else ())}
    noticing = {key: value for key, value in _NOTICING.items() if key not in known}
    return psycopg.connect(
        make_conninfo(dsn, **noticing), autocommit=True, application_name=name, client_encoding="utf8"
    )


def require_own_session(connection: Connection, dsn: str) -> None:
    """Raise BulkError where a pooler would take the connection's session, and its locks, away."""
    try:
        require_session(connection, Target(dsn, False, "--dsn"))
    except ServerError as error:
        raise BulkError(str(error), error.hint) from error


def _require_role(connection: Connection) -> None:
    """Raise BulkError where the role that the address names is not the session's.

    Some poolers are told to leave options out: the login's rights would be used, and its claims made.
    """
    wanted = role_of(connection.info.options)
    if wanted is None:
        return
    there = connection.execute("SHOW role").fetchone()
    if there != (wanted,):
        raise BulkError(
            f"the pooler on the way to the server leaves out the role {wanted} of the address",
            "connect to PostgreSQL itself, or let the role be the login's: ALTER ROLE … SET role = …",
        )


def role_of(options: str) -> str | None:
    """The role that a connection's options name."""
    # As the server takes them apart: at blanks, a backslash keeps one.
    words = iter([re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", options)])
    role = None
    for word in words:
        setting = next(words, "") if word == "-c" else word[2:]
        name, _, value = setting.partition("=")
        if word.startswith(("-c", "--")) and name.lower() == "role":
            role = value
    return role


def task_session(dsn: str, name: str) -> Connection:
    """A session of a task, for one transaction, whatever settings the role and the database have.

    Raises psycopg.Error.
    """
    connection = open_session(dsn, name)
    try:
        prepare_session(connection, is_own=is_direct(connection))
        connection.execute(FORM_SETTINGS.encode())
        connection.autocommit = False
        connection.execute(UNHURRIED)
    except BaseException:
        connection.close()
        raise
    return connection


def reached(connection: Connection) -> Server:
    """Where ``connection`` is. Raises BulkError where there is no runtime of this version."""
    try:
        row = connection.execute(
            "SELECT ssb_internal.database_identity(), ssb.nvarchar_encoding()"
        ).fetchone()
    except psycopg.errors.InvalidSchemaName as error:
        raise BulkError(
            f"there is no runtime in the database {connection.info.dbname}", "`pgsb install` puts it there"
        ) from error
    except psycopg.errors.UndefinedFunction as error:
        raise BulkError(
            "the runtime in this database does not know bulk jobs of this version",
            "`pgsb install` brings it up to date",
        ) from error
    assert row is not None
    info = connection.info
    parts = {key: str(value) for key, value in info.get_parameters().items()}
    kept: dict[str, str] = {key: parts[key] for key in _KEPT if parts.get(key)}
    if info.password:
        kept["password"] = info.password
    kept |= {"host": info.host, "port": str(info.port), "dbname": info.dbname, "user": info.user}
    # Given by number: the name is only what the server's certificate is checked against.
    if "hostaddr" in parts and info.hostaddr:
        kept["hostaddr"] = info.hostaddr
    return Server(make_conninfo(**kept), str(row[0]), str(row[1]))


def jdbc_options(dsn: str) -> dict[str, str]:
    """Spark's JDBC options for the session that ``dsn`` leads to: it is made, and asked.

    A server on a unix socket is not reachable for Java: BulkError says so.
    """
    with connect(dsn, "pgsb bulk") as connection:
        return reached(connection).jdbc


def same_place(connection: Connection, dsn: str | None) -> Server:
    """Where readers and writers go: to ``dsn`` if one is given, else to where ``connection`` is.

    Raises BulkError when ``dsn`` leads to another database than the connection's.
    """
    if dsn is None:
        return reached(connection)
    own = connection.execute("SELECT ssb_internal.database_identity()").fetchone()
    assert own is not None
    with connect(dsn, "pgsb bulk") as other:
        server = reached(other)
    if server.identity != own[0]:
        raise BulkError(
            "the claim is in another database than the readers would be in",
            "one connection string serves for both",
        )
    return server


def acting_as(dsn: str, role: str) -> str:
    """The DSN with SET ROLE in every session that is made by it, in psycopg and in JDBC.

    Raises BulkError for a role without a name: the login may have more rights than the one that was meant.
    """
    if not role.strip():
        raise BulkError("the role is empty", "leave it away for the login's own rights")
    dsn = readable(dsn)
    before = conninfo_to_dict(dsn).get("options")
    # libpq takes options apart at blanks; a backslash keeps one.
    escaped = "".join(f"\\{char}" if char in "\\ " else char for char in role)
    return make_conninfo(dsn, options=f"{before} -c role={escaped}" if before else f"-c role={escaped}")


def _jdbc(parts: Mapping[str, str]) -> dict[str, str]:
    host, address = parts["host"], parts.get("hostaddr")
    if host.startswith(("/", "@")) and not address:
        raise BulkError(
            f"JDBC cannot use the unix socket in {host}",
            "Java connects by TCP: name the server's address, for example host=127.0.0.1, and let "
            "listen_addresses have it",
        )
    if address and parts.get("sslmode") != "verify-full":
        host = address
    if ":" in host:
        host = f"[{host}]"
    options = {
        "url": f"jdbc:postgresql://{host}:{parts['port']}/{quote(parts['dbname'], safe='')}"
        # Here, for Spark may write names of properties in lower case, in which the driver knows no such name.
        "?ApplicationName=pgsb-spark&tcpKeepAlive=true",
        "driver": DRIVER,
        "user": parts["user"],
    }
    if parts.get("password"):
        options["password"] = parts["password"]
    for name in _JDBC:
        if parts.get(name):
            options[name] = parts[name]
    if options.get("sslrootcert") == "system":
        # libpq's word for the certificates that the machine trusts; Java has its own.
        del options["sslrootcert"]
        options["sslfactory"] = "org.postgresql.ssl.DefaultJavaSSLFactory"
    return options
