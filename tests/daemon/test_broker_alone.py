"""Only the broker's part is installed: it sends, receives, activates and talks to another instance."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from instances import ERROR, FAR, Side, make_side

from activation import DRAIN, Daemon, until
from pgsb.runtime_sql import installer
from support import Database


@pytest.fixture
def near(empty_database: Database) -> Iterator[Side]:
    with psycopg.connect(empty_database.dsn, autocommit=True) as connection:
        installer.install(connection, parts="broker")
    side = make_side(empty_database, "dbo.near_queue", "//Near")
    side.do("SELECT ssb.create_route('ToFar', %s, '//Far')", FAR)
    yield side
    side.connection.close()


@pytest.mark.long
def test_the_broker_alone_talks_to_an_instance_with_all(
    near: Side, far: Side, daemons: Callable[..., Daemon]
) -> None:
    handle = near.begin("//Far")
    near.send(handle, "//Ask", "one")
    near.send(handle, "//Xml", "<two/>")
    daemons(near)
    daemons(far)
    got = far.receive(2)
    assert [(kind, body) for _, kind, body in got] == [("//Ask", "one"), ("//Xml", "<two/>")]
    # The answers start a program here.
    near.do("CREATE TABLE dbo.done (body text NOT NULL)")
    program = DRAIN.replace("dbo.to_queue", "dbo.near_queue").replace("'DEFAULT'", "'//Answer'")
    near.do(f"CREATE PROCEDURE dbo.program() LANGUAGE plpgsql AS $p${program}$p$")
    near.do(
        "SELECT ssb.alter_queue('dbo.near_queue', activation_status => true,"
        " activation_procedure => 'dbo.program', max_queue_readers => 1, execute_as => 'OWNER')"
    )
    far.send(got[0][0], "//Answer", "three")
    until(lambda: near.column("SELECT body FROM dbo.done") == ["three"])
    far.do("SELECT ssb.end_conversation(%s)", got[0][0])
    until(lambda: near.states() == [])
    assert "dbo.near_queue" in near.column("SELECT queue FROM ssb.queue_status")
    near.do("SELECT * FROM ssb.diagnose()")
    # A body that is no XML is refused where it comes in.
    bad = far.begin("//Near")
    far.send(bad, "//Xml", "<three>")
    ((handle, kind, body),) = far.receive(1)
    assert (handle, kind) == (bad, ERROR)
    assert "failed XML validation" in str(body)
