"""The endpoint's ENCRYPTION and AUTHENTICATION on the side that takes messages, over TCP on the loopback."""

import asyncio
import ipaddress
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from end_to_end.tsql import Tsql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from secured import certificate_row

from activation import until
from pgsb.cli.endpoint import endpoint_command, lines_for
from pgsb.daemon.peer import Peer
from pgsb.daemon.peer_connection import SETTINGS, Unreachable, encryption_conflict
from pgsb.daemon.readers import open_connection
from pgsb.runtime_sql.installer import install
from pgsb.server.binaries import all_binaries
from pgsb.server.embedded import PrivateServer
from pgsb.server.problems import ServerError
from support import server_home

pytestmark = pytest.mark.one_postgres

_REFUSED = r"There is no compatible encryption algorithm\. State 22\. .*"
_TAKE = "SELECT * FROM ssb.take_from_afar('[]', '{}', '{}', '{}', '{}', '{}')"


@pytest.fixture(scope="module")
def dsns() -> Iterator[tuple[str, str]]:
    """A server that listens on the loopback without TLS: by its socket, and by TCP."""
    home = server_home("pgsb-tcp-")
    # One that is installed, if there is: the wheels' are built without TLS.
    wanted = str(next(all_binaries()).major)
    server = PrivateServer(
        home, wanted=wanted, settings={"listen_addresses": "127.0.0.1", "fsync": "off"}, durable=False
    )
    try:
        by_socket = server.start()
        with psycopg.connect(by_socket, autocommit=True) as connection:
            row = connection.execute("SELECT pg_catalog.current_setting('hba_file')").fetchone()
            assert row is not None
            Path(row[0]).write_text(
                "host all all 127.0.0.1/32 trust\n" + Path(row[0]).read_text(encoding="utf-8"),
                encoding="utf-8",
            )
            connection.execute("SELECT pg_catalog.pg_reload_conf()")
        known = conninfo_to_dict(by_socket)
        known["host"] = "127.0.0.1"
        yield by_socket, make_conninfo("", **known)
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


def _set_ssl(dsn: str, setting: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as admin:
        try:
            admin.execute(f"ALTER SYSTEM SET ssl = {setting}".encode())
        except psycopg.errors.InvalidParameterValue:
            pytest.skip("no PostgreSQL with TLS is installed")
        admin.execute("SELECT pg_catalog.pg_reload_conf()")
        until(lambda: admin.execute("SHOW ssl").fetchone() == (setting,))


def _make_instance(dsn: str, name: str) -> str:
    """A further database of the server with the runtime and an endpoint; its DSN."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    made = make_conninfo(dsn, dbname=name)
    with psycopg.connect(made, autocommit=True) as connection:
        install(connection)
        connection.execute("SELECT ssb.create_endpoint('e', 'STARTED', 4022)")
    return made


@pytest.fixture
def without_tls(dsns: tuple[str, str], request: pytest.FixtureRequest) -> tuple[str, str]:
    """An instance of the test's own, by the socket and by TCP, on the server as it was before any had TLS."""
    by_socket, by_tcp = dsns
    _set_ssl(by_socket, "off")
    name = f"of_{request.node.name}"[:60]
    return _make_instance(by_socket, name), make_conninfo(by_tcp, dbname=name)


@pytest.mark.long
def test_required_is_the_default_and_refuses_a_connection_without_tls(without_tls: tuple[str, str]) -> None:
    by_socket, by_tcp = without_tls
    with (
        psycopg.connect(by_socket, autocommit=True) as near,
        psycopg.connect(by_tcp, autocommit=True) as far,
    ):
        assert near.execute(_TAKE).fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=_REFUSED + "requires encryption"):
            far.execute(_TAKE)
        near.execute("SELECT ssb.alter_endpoint('e', encryption => 'SUPPORTED')")
        assert far.execute(_TAKE).fetchall() == []
        near.execute(certificate_row("WINDOWS c"))
        near.execute("SELECT ssb.alter_endpoint('e', authentication => 'CERTIFICATE [WINDOWS c]')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="client certificate"):
            far.execute(_TAKE)
        near.execute("SELECT ssb.alter_endpoint('e', authentication => 'CERTIFICATE [WINDOWS c] WINDOWS')")
        assert far.execute(_TAKE).fetchall() == []


def _make_server_certificate(folder: Path) -> None:
    """server.crt and server.key of 127.0.0.1, which belong to whom the server runs as."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    owner = folder.stat()
    for file, data in (
        (folder / "server.crt", certificate.public_bytes(Encoding.PEM)),
        (folder / "server.key", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())),
    ):
        file.touch(mode=0o600)
        file.write_bytes(data)
        os.chown(file, owner.st_uid, owner.st_gid)


def _run(dsn: str, text: str) -> str:
    session = Tsql(dsn)
    try:
        return session.run_well(text)
    finally:
        session.close()


def _endpoint(*arguments: str) -> str:
    shown = CliRunner().invoke(endpoint_command, arguments)
    assert shown.exit_code == 0, shown.output
    return shown.output


@pytest.mark.long
def test_an_instance_logs_in_with_a_certificate_that_master_has(
    without_tls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way of Microsoft's page for certificates, and what `pgsb endpoint` says of PostgreSQL's files."""
    monkeypatch.setenv("PGSB_KEYS", str(tmp_path / "keys"))
    by_socket, by_tcp = without_tls
    hosta = make_conninfo(by_socket, dbname="hosta")
    with psycopg.connect(by_socket, autocommit=True) as admin:
        admin.execute("CREATE DATABASE hosta")
        admin.execute("SELECT ssb.drop_endpoint('e')")
        admin.execute("CREATE ROLE hostalogin LOGIN")
        row = admin.execute(
            "SELECT current_setting('data_directory'), current_setting('hba_file'),"
            " current_setting('ident_file')"
        ).fetchone()
        assert row is not None
        data, hba, ident = (Path(one) for one in row)
        with psycopg.connect(hosta, autocommit=True) as other:
            install(other)
        _run(
            hosta,
            f"""USE master
            GO
            CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'a password'
            CREATE CERTIFICATE HostACert WITH SUBJECT = 'HostA', EXPIRY_DATE = '20401231'
            BACKUP CERTIFICATE HostACert TO FILE = '{tmp_path}/hosta.cer'
            CREATE ENDPOINT A STATE = STARTED AS TCP (LISTENER_PORT = 4022)
                FOR SERVICE_BROKER (AUTHENTICATION = CERTIFICATE HostACert)""",
        )
        _run(
            by_socket,
            f"""USE master
            GO
            CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'a password'
            CREATE CERTIFICATE HostBCert WITH SUBJECT = 'HostB', EXPIRY_DATE = '20401231'
            CREATE ENDPOINT B STATE = STARTED AS TCP (LISTENER_PORT = 4022)
                FOR SERVICE_BROKER (AUTHENTICATION = CERTIFICATE HostBCert, ENCRYPTION = REQUIRED)
            CREATE LOGIN HostALogin WITH PASSWORD = 'x'
            CREATE USER HostAUser FOR LOGIN HostALogin
            CREATE CERTIFICATE HostACert AUTHORIZATION HostAUser FROM FILE = '{tmp_path}/hosta.cer'""",
        )
        faults = "SELECT detail FROM ssb_internal.transport_security_faults()"
        assert admin.execute(faults).fetchall() == [("ssl is off: nobody can show a certificate",)]
        written = _endpoint("--dsn", by_socket, "--write", str(tmp_path / "b"))
        assert "GRANT CONNECT ON ENDPOINT::[B] TO [HostALogin];" in written
        assert "CREATE ROLE" not in written
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "endpoint.key").touch(mode=0o644)
        _endpoint("--dsn", hosta, "--write", str(tmp_path / "a"))
        assert (tmp_path / "a" / "endpoint.key").stat().st_mode & 0o777 == 0o600
        _make_server_certificate(data)
        shutil.copy(tmp_path / "b" / "peers.crt", data / "peers.crt")
        (data / "peers.crt").chmod(0o644)
        admin.execute("ALTER SYSTEM SET ssl_ca_file = 'peers.crt'")
        lines = written.splitlines()
        kept = hba.read_text(encoding="utf-8")
        hba.write_text(
            "\n".join(one for one in lines if one.startswith("hostssl")) + "\n" + kept, encoding="utf-8"
        )
        ident.write_text("\n".join(one for one in lines if one.startswith("pgsb ")) + "\n", encoding="utf-8")
        try:
            _set_ssl(by_socket, "on")
            assert admin.execute(faults).fetchall() == []
            shown = make_conninfo(
                by_tcp,
                user="hostalogin",
                sslmode="verify-full",
                sslrootcert=str(data / "server.crt"),
                sslcert=str(tmp_path / "a" / "endpoint.crt"),
                sslkey=str(tmp_path / "a" / "endpoint.key"),
            )
            with psycopg.connect(shown, autocommit=True) as far:
                with pytest.raises(
                    psycopg.errors.InsufficientPrivilege, match=r"'HostAUser' does not have CONNECT"
                ):
                    far.execute(_TAKE)
                _run(by_socket, "GRANT CONNECT ON ENDPOINT::B TO HostALogin")
                assert far.execute(_TAKE).fetchall() == []
                _run(by_socket, "USE master\nGO\nDROP CERTIFICATE HostACert")
                with pytest.raises(
                    psycopg.errors.InsufficientPrivilege, match="does not match the one in master"
                ):
                    far.execute(_TAKE)
            with (
                psycopg.connect(make_conninfo(by_tcp, sslmode="disable"), autocommit=True) as far,
                pytest.raises(psycopg.errors.InsufficientPrivilege, match=_REFUSED + "requires encryption"),
            ):
                far.execute(_TAKE)
        finally:
            hba.write_text(kept, encoding="utf-8")


_NO, _MAY, _MUST = "DISABLED", "SUPPORTED", "REQUIRED"
_ALL_NINE = {
    (_NO, _NO): False,
    (_NO, _MAY): False,
    (_NO, _MUST): None,
    (_MAY, _NO): False,
    (_MAY, _MAY): True,
    (_MAY, _MUST): True,
    (_MUST, _NO): None,
    (_MUST, _MAY): True,
    (_MUST, _MUST): True,
}
"""ENCRYPTION of who connects, and of who is called: whether there is TLS; None: no connection."""


@pytest.fixture(scope="module")
def pair(dsns: tuple[str, str]) -> tuple[str, str]:
    by_socket, by_tcp = dsns
    near = _make_instance(by_socket, "calling")
    _make_instance(by_socket, "called")
    return near, make_conninfo(by_tcp, dbname="called")


@pytest.fixture
def with_tls(pair: tuple[str, str]) -> tuple[str, str]:
    """Two instances on a server with TLS: the first by the socket, the second by TCP."""
    near, _ = pair
    with psycopg.connect(near, autocommit=True) as admin:
        row = admin.execute("SELECT current_setting('data_directory')").fetchone()
        assert row is not None
    if not (Path(row[0]) / "server.crt").exists():
        _make_server_certificate(Path(row[0]))
    _set_ssl(near, "on")
    return pair


async def _connect(near_dsn: str, far_dsn: str) -> bool:
    """Whether the connection has TLS, over which the other side takes a set. Raises Unreachable."""
    near = await open_connection(near_dsn, SETTINGS)
    try:
        peer = Peer(1, "TCP://called:4022", None)
        await peer.connect(near, {"tcp://called:4022": far_dsn})
        assert peer.far is not None
        try:
            await peer.far.execute(_TAKE)
            return peer.far.pgconn.ssl_in_use
        finally:
            await peer.hang_up()
    finally:
        await near.close()


def _set_encryption(with_tls: tuple[str, str], ours: str, theirs: str) -> None:
    near, far = with_tls
    host = conninfo_to_dict(near)["host"]
    for dsn, encryption in ((near, ours), (make_conninfo(far, host=host), theirs)):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("SELECT ssb.alter_endpoint('e', encryption => %s)", [encryption])


@pytest.mark.long
@pytest.mark.parametrize(("ours", "theirs"), _ALL_NINE)
def test_encryption_of_both_endpoints_decides_about_tls(
    with_tls: tuple[str, str], ours: str, theirs: str
) -> None:
    _set_encryption(with_tls, ours, theirs)
    expected = _ALL_NINE[ours, theirs]
    if expected is None:
        with pytest.raises(
            Unreachable, match=rf"{_REFUSED}ENCRYPTION = {ours}.* there has ENCRYPTION = {theirs}"
        ):
            asyncio.run(_connect(*with_tls))
    else:
        assert asyncio.run(_connect(*with_tls)) is expected


@pytest.mark.parametrize(("ours", "theirs"), [(_NO, _MAY), (_MAY, _NO)])
def test_tls_that_a_dsn_demands_is_not_taken_away(with_tls: tuple[str, str], ours: str, theirs: str) -> None:
    _set_encryption(with_tls, ours, theirs)
    near, far = with_tls
    with pytest.raises(Unreachable, match=r"ENCRYPTION = DISABLED.*sslmode=require"):
        asyncio.run(_connect(near, make_conninfo(far, sslmode="require")))


def test_a_disabled_endpoint_takes_nothing_through_tls(with_tls: tuple[str, str]) -> None:
    """Whatever the other side's daemon makes of it."""
    _set_encryption(with_tls, _MAY, _NO)
    _, far = with_tls
    with (
        psycopg.connect(make_conninfo(far, sslmode="require"), autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="ENCRYPTION = DISABLED"),
    ):
        connection.execute(_TAKE)


@pytest.mark.parametrize("has_tls", [True, False])
@pytest.mark.parametrize(("ours", "theirs"), _ALL_NINE)
def test_a_socket_of_this_machine_needs_no_tls(ours: str, theirs: str, has_tls: bool) -> None:
    def conflict(is_local: bool) -> str | None:
        return encryption_conflict("a", ours, theirs, has_tls=has_tls, is_local=is_local)

    assert conflict(is_local=True) is None
    is_allowed = _ALL_NINE[ours, theirs] is not None and (has_tls or ours != _MUST)
    assert (conflict(is_local=False) is None) is is_allowed


@pytest.mark.parametrize("name", ["/.*", "HostA\nhostssl all all all trust", 'Ho"st'])
def test_names_of_certificates_are_no_rules_of_postgresqls_files(name: str) -> None:
    """Who made the certificate chose them."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    login = {
        "role": None,
        "login": "HostA",
        "certificate": "HostACert\nDROP ROLE hosta",
        "may_connect": False,
        "der": certificate.public_bytes(Encoding.DER).hex(),
    }
    known = {"logins": [login], "endpoint": "B]"}
    if '"' not in name:
        with pytest.raises(ServerError, match="PostgreSQL's files cannot hold the name"):
            lines_for(known, "shop", Path("peers.crt"))
        return
    lines = lines_for(known, "sh'op", Path("it's/peers.crt")).splitlines()
    assert 'pgsb "Ho""st" "hosta"' in lines
    assert "-- psql: the role of certificate HostACert?DROP ROLE hosta" in lines
    assert "GRANT CONNECT ON ENDPOINT::[B]]] TO [HostA];" in lines
    assert any(one.startswith("ssl_ca_file = '") and one.endswith("it''s/peers.crt'") for one in lines)
