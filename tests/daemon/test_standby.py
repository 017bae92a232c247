"""A hot standby: what writes is refused in a sentence, and the daemon waits until it is promoted."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from activation import DRAIN, Daemon, activate, send, until
from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer
from support import Connection, server_home

pytestmark = pytest.mark.one_postgres

CANNOT = 'Failed to update database "pgsb" because the database is read-only.'


@pytest.fixture
def standby(connect: Callable[..., Connection]) -> Iterator[str]:
    """DSN of a standby whose server has gone: with a message, and the program for it."""
    home = server_home("pgsb-standby-")
    server = PrivateServer(
        home, wanted=os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0], settings={"fsync": "off"}
    )
    try:
        primary = connect(server.start())
        install(primary)
        primary.execute(
            """
            SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
            SELECT ssb.create_service('//From', 'dbo.from_queue');
            SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
            CREATE TABLE dbo.done (body text NOT NULL, at timestamptz DEFAULT clock_timestamp());
            """
        )
        activate(primary, DRAIN)
        send(primary, "kept")
        primary.close()
        server.stop()
        data = server.status().data
        assert data is not None
        (data / "standby.signal").touch()
        yield server.start()
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.long
def test_a_standby_is_read_and_promoted(
    standby: str, connect: Callable[..., Connection], daemon: Callable[..., Daemon]
) -> None:
    script = """
        SELECT COUNT(*) AS waiting FROM to_queue;
        GO
        RECEIVE TOP (1) * FROM to_queue;
        GO
        CREATE QUEUE other;
        GO
        DECLARE @h uniqueidentifier;
        BEGIN DIALOG @h FROM SERVICE [//From] TO SERVICE '//To' WITH ENCRYPTION = OFF;
        """
    command = [sys.executable, "-m", "pgsb.cli.main", "run", "--dsn", standby, "--format", "csv", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (1, ["waiting", "1"])
    assert done.stderr.count(CANNOT) == done.stderr.count("Msg 3906, Level 16, State 1") == 3

    command[4:] = ["--activate", "--dsn", standby, "-Q", "PRINT 'ran'"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("the server is a standby, on which no service program starts\n")

    waiting = daemon(standby, wait=False)
    waiting.wait_for("standing_by", "waiting for its promotion")
    there = connect(standby)
    views = there.execute(
        "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relkind = 'v'"
        " AND c.relname <> 'dm_tran_current_transaction'"
        " AND c.relnamespace IN ('ssb'::regnamespace, 'sys'::regnamespace)"
    ).fetchall()
    for view in (*(name for (name,) in views), "ssb.diagnose()", "ssb.queue_history('dbo.to_queue')"):
        there.execute(f"SELECT * FROM {view}".encode())
    there.execute("SELECT pg_promote()")
    waiting.wait_for("leading")
    assert waiting.messages("failed") == []
    # By which the next restore or promotion is found out: the second history of this server.
    row = there.execute("SELECT split_part(lineage, ' ', 2), lineage_since FROM ssb.runtime_version")
    assert row.fetchone() == ("00000002", None)
    until(lambda: there.execute("SELECT body FROM dbo.done").fetchall() == [("kept",)])
