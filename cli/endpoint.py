"""pgsb endpoint: what PostgreSQL's files need so that other instances log in with certificates."""

from pathlib import Path
from typing import Any

import click
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from ..compiler.catalog.names import in_comment
from ..grammar.lexer import bracketed
from ..security.certificates import read_certificate
from ..security.problems import KeyProblem
from ..security.statements import KeyStatements
from ..server.connect import connect, find_target, require_owner
from ..server.problems import ServerError
from ..user_folders import write_whole
from .options import NamedPath, dsn_option


@click.command("endpoint")
@dsn_option
@click.option(
    "--write",
    "folder",
    type=NamedPath(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write peers.crt for ssl_ca_file, endpoint.crt and endpoint.key for this instance's own logins.",
)
def endpoint_command(dsn: str | None, folder: Path | None) -> None:
    """Print what postgresql.conf, pg_hba.conf and pg_ident.conf need for AUTHENTICATION = CERTIFICATE.

    The certificates of other instances are those in master that do not belong to dbo. Each becomes
    the login of a PostgreSQL role.
    """
    target = find_target(dsn)
    with connect(target) as connection:
        require_owner(connection, target)
        row = connection.execute(
            "SELECT ssb_internal.transport_logins(), pg_catalog.current_database()"
        ).fetchone()
    assert row is not None
    known, database = row
    if known["own_name"] is None:
        raise ServerError(
            "there is no endpoint with AUTHENTICATION = CERTIFICATE",
            hint="CREATE ENDPOINT … FOR SERVICE_BROKER (AUTHENTICATION = CERTIFICATE c)",
        )
    peers = folder / "peers.crt" if folder is not None else Path("peers.crt")
    click.echo(lines_for(known, database, peers))
    if folder is not None:
        _write(known, folder, peers)


def lines_for(known: dict[str, Any], database: str, peers: Path) -> str:
    """The lines, each file's below its name. ``known`` is of ssb_internal.transport_logins."""
    lines = ["# postgresql.conf", "ssl = on", f"ssl_ca_file = {_literal(str(peers.absolute()))}", ""]
    lines += ["# pg_hba.conf, above other lines that let these roles in"]
    logins = known["logins"] or []
    for one in logins:
        lines.append(f"hostssl {_quoted(database)} {_quoted(_role_of(one))} all cert map=pgsb")
    lines += ["", "# pg_ident.conf"]
    for one in logins:
        lines.append(f"pgsb {_quoted(_common_name(one))} {_quoted(_role_of(one))}")
    for one in logins:
        if one["role"] is None:
            lines += ["", f"-- psql: the role of certificate {in_comment(one['certificate'])}"]
            lines.append(f"CREATE ROLE {_quoted(_role_of(one))} LOGIN;")
        if not one["may_connect"]:
            lines += ["", f"-- pgsb shell: {in_comment(one['certificate'])} may not connect yet"]
            lines.append(
                f"GRANT CONNECT ON ENDPOINT::{bracketed(known['endpoint'])} TO {bracketed(one['login'])};"
            )
    return "\n".join(lines)


def _role_of(login: dict[str, Any]) -> str:
    role: str = login["role"] or login["login"].lower()
    return role


def _common_name(login: dict[str, Any]) -> str:
    subject = read_certificate(bytes.fromhex(login["der"])).subject
    names = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not names:
        raise ServerError(
            f"certificate {login['certificate']} has no common name, by which PostgreSQL knows its owner",
            hint="CREATE CERTIFICATE … WITH SUBJECT = 'CN=name'",
        )
    return str(names[0].value)


def _quoted(name: str) -> str:
    """A name in pg_hba.conf, pg_ident.conf and SQL; a ServerError for what would be more than a name there.

    A line break begins another line, and a slash a regular expression. The names in a certificate are
    another instance's choice, which would choose as whom it is let in.
    """
    if not name.isprintable() or name.startswith("/"):
        raise ServerError(f"PostgreSQL's files cannot hold the name {name!r}")
    return '"' + name.replace('"', '""') + '"'


def _literal(value: str) -> str:
    """A string in postgresql.conf."""
    if not value.isprintable():
        raise ServerError(f"postgresql.conf cannot hold the path {value!a}")
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _write(known: dict[str, Any], folder: Path, peers: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    certificates: list[x509.Certificate] = [
        read_certificate(bytes.fromhex(one["der"])) for one in known["logins"] or []
    ]
    write_whole(peers, b"".join(one.public_bytes(Encoding.PEM) for one in certificates))
    if known["own"] is None:
        return
    try:
        key = KeyStatements().private_key(known["own"], None)
    except KeyProblem as problem:
        raise ServerError(
            f"the private key of {known['own_name']} cannot be opened: {problem.message}"
        ) from None
    own = read_certificate(bytes.fromhex(known["own"]["der"]))
    write_whole(folder / "endpoint.crt", own.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_whole(folder / "endpoint.key", secret, 0o600)
