"""The endpoint's ENCRYPTION and AUTHENTICATION on the side that takes messages, over TCP on the loopback."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer

pytestmark = pytest.mark.one_postgres

_TAKE = "SELECT * FROM ssb.take_from_afar('[]', '{}', '{}', '{}', '{}', '{}')"


@pytest.fixture(scope="module")
def dsns() -> Iterator[tuple[str, str]]:
    """A server that listens on the loopback without TLS: by its socket, and by TCP."""
    home = Path(tempfile.mkdtemp(prefix="pgsb-tcp-"))
    if os.geteuid() == 0:
        home.chmod(0o711)
    server = PrivateServer(
        home, wanted="18", settings={"listen_addresses": "127.0.0.1", "fsync": "off"}, durable=False
    )
    try:
        by_socket = server.start()
        with psycopg.connect(by_socket, autocommit=True) as connection:
            install(connection)
            connection.execute("SELECT ssb.create_endpoint('e', 'STARTED', 4022)")
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


def test_required_is_the_default_and_refuses_a_connection_without_tls(dsns: tuple[str, str]) -> None:
    by_socket, by_tcp = dsns
    with (
        psycopg.connect(by_socket, autocommit=True) as near,
        psycopg.connect(by_tcp, autocommit=True) as far,
    ):
        assert near.execute(_TAKE).fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="requires encryption"):
            far.execute(_TAKE)
        near.execute("SELECT ssb.alter_endpoint('e', encryption => 'SUPPORTED')")
        assert far.execute(_TAKE).fetchall() == []
        near.execute("SELECT ssb.alter_endpoint('e', authentication => 'CERTIFICATE c')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="client certificate"):
            far.execute(_TAKE)
        near.execute("SELECT ssb.alter_endpoint('e', authentication => 'CERTIFICATE c WINDOWS NEGOTIATE')")
        assert far.execute(_TAKE).fetchall() == []
