"""Behind a pooler: what works where each transaction has another session, and what says that it cannot."""

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import psycopg
import pytest
from pooler import Pooler

from activation import tsql, until
from pgsb import client
from pgsb.bulk.claim import require_readable
from pgsb.bulk.problems import BulkError
from pgsb.server.connect import Target, connect, require_session
from pgsb.server.problems import ServerError
from support import Connection, Database, rest_is_long

pytestmark = pytest.mark.one_postgres

REFUSED = "is a pooler that gives each transaction another session"


@pytest.fixture
def by_transaction(database: Database) -> Iterator[str]:
    with Pooler(database.dsn, "transaction") as pooler:
        yield pooler.dsn


@pytest.fixture
def by_session(database: Database) -> Iterator[str]:
    with Pooler(database.dsn, "session") as pooler:
        yield pooler.dsn


@pytest.fixture
def sql(connect: Callable[..., Connection]) -> Connection:
    connection = connect()
    connection.execute(
        """
        SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
        SELECT ssb.create_service('//From', 'dbo.from_queue');
        SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
        """
    )
    return connection


def _pgsb(*words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pgsb.cli.main", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def _direct(dsn: str) -> Connection:
    """As it comes, without a look at what is there."""
    return psycopg.connect(dsn, autocommit=True)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    rest_is_long([["run", "-"], ["shell"], ["broker"], ["diagnose"]], ["run", "-"], ["broker"]),
    ids=lambda words: words[0],
)
def test_what_needs_its_session_is_refused(by_transaction: str, words: list[str]) -> None:
    """Nor does it leave its settings behind, for the applications that share the pool."""
    done = _pgsb(*words, "--dsn", by_transaction, text="PRINT 'lost'")
    with psycopg.connect(by_transaction, autocommit=True) as application:
        assert application.execute("SHOW search_path").fetchone() == ('"$user", public',)
    assert (done.returncode, done.stdout) == (1, "")
    assert REFUSED in done.stderr and "hint: connect to PostgreSQL itself" in done.stderr


@pytest.mark.long
def test_so_are_readers_without_sessions(database: Database, by_transaction: str) -> None:
    done = _pgsb("broker", "--dsn", database.dsn, "--reader-dsn", by_transaction)
    assert done.returncode == 1 and REFUSED in done.stderr


def test_a_bulk_job_is_refused(sql: Connection, by_transaction: str) -> None:
    with (
        psycopg.connect(by_transaction, autocommit=True) as session,
        pytest.raises(BulkError, match=REFUSED),
    ):
        require_readable(session, by_transaction, "dbo.to_queue")


def test_a_session_is_looked_for_behind_poolers_only(database: Database, by_session: str) -> None:
    for dsn in (database.dsn, by_session):
        target = Target(dsn, False, "--dsn")
        connect(target).close()


def test_a_pooler_that_is_busy_shows_itself_too(database: Database, by_transaction: str) -> None:
    # Somebody else gets our session first, so that the second look finds another one.
    target = Target(by_transaction, False, "--dsn")
    with _direct(by_transaction) as connection, _direct(by_transaction) as other:
        other.execute("BEGIN")
        with pytest.raises(ServerError, match=REFUSED):
            require_session(connection, target)


@pytest.mark.parametrize("sessions", [1, 2, 3, 4])
@pytest.mark.parametrize("round_robin", [False, True], ids=["last", "rested"])
def test_whichever_session_a_pooler_lends(database: Database, round_robin: bool, sessions: int) -> None:
    with (
        Pooler(database.dsn, "transaction", round_robin=round_robin) as pooler,
        contextlib.ExitStack() as stack,
    ):
        target = Target(pooler.dsn, False, "--dsn")
        connection = stack.enter_context(_direct(pooler.dsn))
        others = [stack.enter_context(_direct(pooler.dsn)) for _ in range(sessions)]
        for statement in ("BEGIN", "ROLLBACK"):
            for other in others:
                other.execute(statement)
        with pytest.raises(ServerError, match=REFUSED):
            require_session(connection, target)


@pytest.mark.long
def test_a_script_and_the_daemon_in_pooled_sessions(sql: Connection, by_session: str) -> None:
    done = _pgsb(
        "run",
        "--dsn",
        by_session,
        "-",
        text="""
        CREATE TABLE Done (Body NVARCHAR(100));
        GO
        CREATE PROCEDURE Answer AS
            DECLARE @body NVARCHAR(100);
            RECEIVE TOP (1) @body = CAST(message_body AS NVARCHAR(100)) FROM to_queue;
            INSERT INTO Done VALUES (@body);
        GO
        ALTER QUEUE to_queue WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = Answer, MAX_QUEUE_READERS = 1,
            EXECUTE AS OWNER);
        GO
        DECLARE @dialog UNIQUEIDENTIFIER;
        BEGIN DIALOG @dialog FROM SERVICE [//From] TO SERVICE '//To' WITH ENCRYPTION = OFF;
        SEND ON CONVERSATION @dialog (N'one');
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    command = [sys.executable, "-m", "pgsb.cli.main", "broker", "--dsn", by_session]
    daemon = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert daemon.stderr is not None
        assert "leading" in daemon.stderr.readline()
        until(lambda: sql.execute("SELECT FROM dbo.done").rowcount)
        # Again, in the session that was cleaned.
        sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), body => 'x'::bytea)")
        until(lambda: sql.execute("SELECT count(*) FROM dbo.done").fetchone() == (2,))
        daemon.terminate()
        assert daemon.wait() == 0
    finally:
        daemon.kill()
        daemon.communicate()


@pytest.mark.long
def test_clients_share_sessions(sql: Connection, by_transaction: str) -> None:
    received: Counter[str] = Counter()
    failures: list[BaseException] = []

    def send(name: int) -> None:
        with client.connect(by_transaction) as session:
            dialog = session.begin_dialog("//From", "//To")
            for number in range(20):
                with session.transaction():
                    session.send(dialog, body=f"{name} {number}")

    def receive() -> None:
        with client.connect(by_transaction) as session:
            while sum(received.values()) < 80:
                with session.transaction():
                    messages = session.receive("dbo.to_queue", 3)
                received.update(message.text for message in messages)
                if not messages:
                    session.wait("dbo.to_queue", 0.1)

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except psycopg.Error as error:
            failures.append(error)
            received["failed"] += 1000

    works: list[Callable[[], None]] = [*([receive] * 4), *(lambda name=name: send(name) for name in range(4))]
    threads = [threading.Thread(target=guarded, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert received == Counter(f"{name} {number}" for name in range(4) for number in range(20))


@pytest.mark.long
def test_other_clients_of_a_pool_keep_their_isolation(
    database: Database, connect: Callable[..., Connection]
) -> None:
    """What is said in a session that a pooler lends stays there, for whoever gets it next."""
    connect().execute(f"ALTER DATABASE {database.name} SET default_transaction_isolation = 'serializable'")

    async def asynchronous(dsn: str) -> None:
        async with await client.connect_async(dsn):
            pass

    with Pooler(database.dsn, "transaction") as pooler:
        for _ in range(3):
            client.connect(pooler.dsn).close()
            asyncio.run(asynchronous(pooler.dsn))
        for _ in range(6):
            with psycopg.connect(pooler.dsn, autocommit=True) as other:
                assert other.execute("SHOW transaction_isolation").fetchone() == ("serializable",)


def test_a_wait_outside_transactions_is_one_statement(sql: Connection, by_transaction: str) -> None:
    tsql(
        sql,
        """
        CREATE TABLE Done (Body NVARCHAR(100));
        GO
        CREATE PROCEDURE Take AS
            DECLARE @body NVARCHAR(100);
            WAITFOR (RECEIVE TOP (1) @body = CAST(message_body AS NVARCHAR(100)) FROM to_queue);
            INSERT INTO Done VALUES (@body);
        """,
    )
    with psycopg.connect(by_transaction, autocommit=True) as pooled:
        taker = threading.Thread(target=pooled.execute, args=["CALL dbo.take()"])
        taker.start()
        waiting = "SELECT FROM pg_stat_activity WHERE query = 'CALL dbo.take()' AND state = 'active'"
        until(lambda: sql.execute(waiting).rowcount)
        with client.connect(by_transaction) as session:
            session.send(session.begin_dialog("//From", "//To"), body="now")
        taker.join()
    assert sql.execute("SELECT body FROM dbo.done").fetchall() == [("now",)]
