"""A client or a server process that dies in the middle: nothing is lost, nothing comes twice, and
it counts."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from runtime.broker import Pair, Session, refused

from pgsb.runtime_sql.installer import install
from pgsb.server.embedded import PrivateServer
from support import server_home


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """DSN on a server of our own, durable, which these tests crash."""
    home = server_home("pgsb-crash-")
    wanted = os.environ.get("PGSB_TEST_POSTGRES", "18").split(",")[0]
    server = PrivateServer(home, wanted=wanted, durable=True)
    try:
        dsn = server.start()
        with psycopg.connect(dsn, autocommit=True) as connection:
            install(connection)
        yield dsn
    finally:
        server.stop(immediate=True)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def open_session(server: str) -> Iterator[Callable[[], Session]]:
    """Opens autocommit sessions, waiting while the server recovers."""
    opened: list[psycopg.Connection[object]] = []

    def open_one() -> Session:
        deadline = time.monotonic() + 20
        while True:
            try:
                opened.append(psycopg.connect(server, autocommit=True))
                return Session(opened[-1])
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    yield open_one
    for connection in opened:
        connection.close()


def kill(session: Session) -> None:
    """kill -9 of the backend; the server ends every other one and restarts itself."""
    with psycopg.connect(session.connection.info.dsn, autocommit=True) as watcher:
        os.kill(session.pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            watcher.execute("SELECT pg_sleep(20)")


@pytest.mark.long
def test_a_killed_reader_leaves_its_messages(open_session: Callable[[], Session]) -> None:
    session = open_session()
    pair = Pair(session)
    near = pair.dialog()
    for i in range(5):
        session.send(near, pair.request, str(i))
    reader = open_session()
    reader.do("BEGIN")
    assert len(reader.receive(pair.far)) == 5
    kill(reader)
    again = open_session()
    assert again.bodies(pair.far) == [str(i) for i in range(5)]


def test_a_killed_sender_leaves_nothing(open_session: Callable[[], Session]) -> None:
    session = open_session()
    pair = Pair(session)
    near, _ = pair.conversing()
    session.send(near, pair.request, "kept")
    sender = open_session()
    sender.do("BEGIN")
    sender.send(near, pair.request, "lost")
    kill(sender)
    session = open_session()
    session.send(near, pair.request, "after")
    assert session.bodies(pair.far) == ["kept", "after"]


def test_a_lost_client_frees_its_group_at_once(open_session: Callable[[], Session]) -> None:
    session = open_session()
    pair = Pair(session)
    session.send(pair.dialog(), pair.request, "x")
    reader = open_session()
    reader.do("BEGIN")
    assert reader.bodies(pair.far) == ["x"]
    session.do("SELECT pg_terminate_backend(%s, 10000)", reader.pid)
    assert session.bodies(pair.far) == ["x"]


def test_killed_backends_disable_the_queue(open_session: Callable[[], Session]) -> None:
    session = open_session()
    pair = Pair(session, max_rollbacks=3)
    session.do("CREATE TABLE dbo.written (n integer)")
    session.send(pair.dialog(), pair.request, "poison")
    for _ in range(3):
        reader = open_session()
        reader.do("BEGIN")
        assert reader.bodies(pair.far) == ["poison"]
        # What a crash must not lose has to be on disk first; anybody's commit brings it there.
        open_session().do("INSERT INTO dbo.written VALUES (1)")
        kill(reader)
    session = open_session()
    with refused(9617):
        session.receive(pair.far)
    assert session.column(
        "SELECT is_receive_enabled FROM sys.service_queues WHERE 'dbo.' || name = %s", pair.far
    ) == [0]


def test_exactly_once_through_random_deaths(open_session: Callable[[], Session]) -> None:
    session = open_session()
    pair = Pair(session, poison_message_handling=False)
    session.do("CREATE TABLE dbo.processed (body text)")
    handles = [pair.dialog() for _ in range(10)]
    for i in range(100):
        session.send(handles[i % 10], pair.request, f"{i % 10}/{i // 10}")
    take = (
        "WITH received AS MATERIALIZED (SELECT convert_from(message_body, 'UTF8') AS body FROM"
        " ssb.receive(%s, 3))"
        " INSERT INTO dbo.processed SELECT body FROM received"
    )
    reader, deaths = open_session(), 0
    while reader.rows(f"SELECT 1 FROM {pair.far} LIMIT 1"):
        reader.do("BEGIN")
        reader.do(take, pair.far)
        if deaths < 2 and reader.value("SELECT count(*) FROM dbo.processed") >= 30 * (deaths + 1):
            deaths += 1
            kill(reader)
            reader = open_session()
        else:
            reader.do("COMMIT")
    processed = reader.column("SELECT body FROM dbo.processed")
    assert deaths == 2
    assert sorted(processed) == sorted(f"{n}/{i}" for n in range(10) for i in range(10))
    for n in range(10):
        of_dialog = [body for body in processed if body.startswith(f"{n}/")]
        assert of_dialog == sorted(of_dialog)
