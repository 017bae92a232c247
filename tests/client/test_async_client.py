"""pgsb.client for asyncio, and inside transactions of psycopg and SQLAlchemy that are somebody else's."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import psycopg
import pytest

from pgsb import client
from support import Database

DEFINITIONS = """
SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
SELECT ssb.create_service('//From', 'dbo.from_queue');
SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
CREATE TABLE dbo.orders (body text);
"""


@pytest.fixture
def dsn(database: Database) -> str:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(DEFINITIONS)
    return database.dsn


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


def test_a_dialog_from_beginning_to_end(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            dialog = await session.begin_dialog("//From", "//To")
            await session.send(dialog, body="grün")
            (message,) = await session.receive("dbo.to_queue", wait=1)
            assert message.text == "grün"
            await session.reply(message, body=b"\x00")
            await session.end(message)
            answer, end = await session.receive("dbo.from_queue")
            assert (answer.body, end.is_end) == (b"\x00", True)
            await session.end(end)

    run(work())


def test_messages_and_tables_roll_back_together(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            with pytest.raises(RuntimeError):
                async with session.transaction():
                    await session.sql.execute("INSERT INTO dbo.orders VALUES ('x')")
                    await session.send(await session.begin_dialog("//From", "//To"), body="x")
                    raise RuntimeError
            assert await session.receive("dbo.to_queue") == []
            cursor = await session.sql.execute("SELECT count(*) FROM dbo.orders")
            assert await cursor.fetchone() == (0,)

    run(work())


def test_a_wait_hears_of_a_message_and_can_be_cancelled(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as reader, await client.connect_async(dsn) as writer:
            waiting = asyncio.create_task(reader.receive("dbo.to_queue", wait=20))
            await writer.send(await writer.begin_dialog("//From", "//To"), body="woken")
            assert [message.text for message in await waiting] == ["woken"]
            waiting = asyncio.create_task(reader.receive("dbo.to_queue", wait=20))
            states = (
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE query ~ 'CALL ssb.wait_for_message' AND state = 'active' AND pid <> pg_backend_pid()"
            )
            while await (await writer.sql.execute(states)).fetchone() == (0,):
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            while await (await writer.sql.execute(states)).fetchone() != (0,):
                await asyncio.sleep(0.01)

    run(work())


def test_errors_have_the_brokers_numbers(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            with pytest.raises(client.BrokerError) as caught:
                await session.begin_dialog("//Nobody", "//To")
            assert caught.value.number > 0
            with pytest.raises(client.BrokerError):
                await session.use("nowhere")

    run(work())


def test_a_session_in_somebodys_transaction(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:  # not autocommit, as applications have it
        session = client.Session(connection)
        connection.execute("INSERT INTO dbo.orders VALUES ('x')")
        session.send(session.begin_dialog("//From", "//To"), body="x")
        connection.rollback()
        assert session.receive("dbo.to_queue") == []
        session.send(session.begin_dialog("//From", "//To"), body="y")
        connection.commit()
        assert [message.text for message in session.receive("dbo.to_queue")] == ["y"]


def test_a_session_in_a_transaction_of_sqlalchemy(dsn: str) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=sqlalchemy.pool.NullPool
    )
    for text, commits in (("lost", False), ("kept", True)):
        with orm.Session(engine) as work:
            work.execute(sqlalchemy.text("INSERT INTO dbo.orders VALUES (:body)"), {"body": text})
            session = client.Session(work.connection().connection.driver_connection)
            session.send(session.begin_dialog("//From", "//To"), body=text)
            if commits:
                work.commit()
    engine.dispose()
    with client.connect(dsn) as session:
        assert [message.text for message in session.receive("dbo.to_queue")] == ["kept"]
        assert session.sql.execute("SELECT body FROM dbo.orders").fetchall() == [("kept",)]
