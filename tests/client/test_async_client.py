"""pgsb.client for asyncio, and inside transactions of psycopg and SQLAlchemy that are somebody else's."""

import asyncio
import contextlib
import math
import os
import random
import subprocess
import sys
from collections.abc import Coroutine
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from client_slips import SLIPS

from pgsb import client
from support import Database

# What it asks of the server is what the other session asks, which is tested on each.
pytestmark = pytest.mark.one_postgres

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


def test_urls_as_sqlalchemy_writes_them_are_taken(dsn: str) -> None:
    url = dsn.replace("postgresql://", "postgresql+psycopg://")
    assert url != dsn
    with client.connect(url) as session:
        assert session.receive("dbo.to_queue") == []

    async def work() -> None:
        async with await client.connect_async(url) as session:
            assert await session.receive("dbo.to_queue") == []

    run(work())


def test_a_dialog_from_beginning_to_end(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            async with session.pipeline():
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


def test_a_receive_that_times_out_loses_nothing(dsn: str) -> None:
    chance = random.Random(3)

    async def work() -> None:
        async with await client.connect_async(dsn) as reader, await client.connect_async(dsn) as writer:
            dialog = await writer.begin_dialog("//From", "//To")
            bodies = [str(number) for number in range(200)]

            async def send_all() -> None:
                for body in bodies:
                    await writer.send(dialog, body=body)

            sending = asyncio.create_task(send_all())
            received: list[str] = []
            while len(received) < len(bodies):
                # Most are over while the server is at it, or its answer is under way.
                seconds = chance.choice((0.0003, 0.001, 0.003))
                with contextlib.suppress(TimeoutError):
                    if chance.random() < 0.5:
                        found = await asyncio.wait_for(reader.receive("dbo.to_queue", 3), seconds)
                    else:
                        async with asyncio.timeout(seconds):
                            found = await reader.receive("dbo.to_queue", 3)
                    received += [message.text for message in found]
                if sending.done() and not await _waiting(writer, "dbo.to_queue"):
                    break
            await sending
            assert received == bodies

    run(work())


async def _waiting(session: client.AsyncSession, queue: str) -> int:
    row = await (await session.sql.execute(f"SELECT count(*) FROM {queue}".encode())).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("has_message", [True, False])
def test_who_is_cancelled_with_messages_in_hand_is_so_when_he_wants_more(
    dsn: str, monkeypatch: pytest.MonkeyPatch, has_message: bool
) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            if has_message:
                await session.send(await session.begin_dialog("//From", "//To"), body="in hand")
            received = session._received
            is_under_way = asyncio.Event()

            async def late(function: str, *parameters: object) -> list[client.Message]:
                messages = await received(function, *parameters)
                is_under_way.set()
                await asyncio.sleep(0.05)
                return messages

            monkeypatch.setattr(session, "_received", late)
            done: list[str] = []

            async def program() -> None:
                while True:
                    for message in await session.receive("dbo.to_queue"):
                        await session.reply(message, body="done")
                        done.append(message.text)

            running = asyncio.create_task(program())
            await is_under_way.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert done == ["in hand"] * has_message
            assert await _waiting(session, "dbo.from_queue") == len(done)

    run(work())


def test_in_a_transaction_who_is_cancelled_leaves_the_message(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            await session.send(await session.begin_dialog("//From", "//To"), body="kept")

            async def program() -> None:
                async with session.transaction():
                    assert len(await session.receive("dbo.to_queue")) == 1
                    await asyncio.sleep(30)

            running = asyncio.create_task(program())
            await asyncio.sleep(0.1)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert [message.text for message in await session.receive("dbo.to_queue", wait=5)] == ["kept"]

    run(work())


def test_a_slip_is_told_by_the_parameters_name(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session, session.transaction():
            for call, given, named, kind, said in SLIPS:
                with pytest.raises(kind, match=said):
                    await getattr(session, call)(*given, **named)
            assert await session.receive("dbo.to_queue", wait=Decimal("0.001")) == []

    run(work())


def test_a_wait_without_end_hears_of_a_message(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as reader, await client.connect_async(dsn) as writer:
            waiting = asyncio.create_task(reader.receive("dbo.to_queue", wait=math.inf))
            await asyncio.sleep(0)
            await writer.send(await writer.begin_dialog("//From", "//To"), body="woken")
            assert [message.text for message in await waiting] == ["woken"]
            with pytest.raises(ValueError, match="no time to wait"):
                await reader.wait("dbo.to_queue", math.nan)

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


def test_short_dialogs_take_one_statement_each(dsn: str) -> None:
    async def work() -> None:
        async with await client.connect_async(dsn) as session:
            await session.send_new("//From", "//To", body="a")
            await session.send_new("//From", "//To", body="b")
            received = await session.receive_and_end("dbo.to_queue", groups=5)
            assert sorted(message.text for message in received) == ["a", "b"]
            assert await session.end_finished("dbo.from_queue") == 2
            assert await session.receive("dbo.from_queue") == []

    run(work())


def test_an_awaited_program_runs_until_the_queue_is_empty(dsn: str) -> None:
    seen = []

    @client.service_program(patience=0.05, batch=2)
    async def program(session: client.AsyncSession, message: client.Message) -> None:
        seen.append(message.text)
        await session.reply(message, body="re " + message.text)
        if message.text == "bad":
            raise ValueError(message.text)

    async def work() -> None:
        assert isinstance(program, client.AsyncServiceProgram)
        async with await client.connect_async(dsn) as session:
            dialog = await session.begin_dialog("//From", "//To")
            for text in "ab":
                await session.send(dialog, body=text)
            assert await program.run(session, "dbo.to_queue") == 2
            await session.end(dialog)
            assert await program.run(session, "dbo.to_queue") == 1
            assert seen == ["a", "b"]
            await session.send_new("//From", "//To", body="bad")
            with pytest.raises(ValueError, match="bad"):
                await program.run(session, "dbo.to_queue")
            # Rolled back: the message is there again, and no answer was sent for it.
            assert [one.text for one in await session.receive("dbo.to_queue")] == ["bad"]
            assert await session.receive("dbo.from_queue") == []

    run(work())


def test_a_cancelled_program_leaves_its_message(dsn: str) -> None:
    async def work() -> None:
        started = asyncio.Event()

        @client.service_program
        async def program(session: client.AsyncSession, message: client.Message) -> None:
            started.set()
            await asyncio.sleep(600)

        async with await client.connect_async(dsn) as session, await client.connect_async(dsn) as other:
            await session.send_new("//From", "//To", body="x")
            task = asyncio.create_task(program.run(session, "dbo.to_queue"))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [message.text for message in await other.receive("dbo.to_queue")] == ["x"]

    run(work())


@pytest.mark.long
@pytest.mark.parametrize("role", ["", "pg_monitor"])
def test_the_daemon_runs_an_awaited_program(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    (tmp_path / "answers.py").write_text(
        "async def answer(session, message):\n"
        "    await session.reply(message, body='re ' + message.text)\n"
        "    await session.end(message)\n"
    )
    monkeypatch.chdir(tmp_path)
    environment = {"DATABASE_URL": dsn, "PGSB_QUEUE": "dbo.to_queue", "PGSB_ROLE": role}
    with client.connect(dsn) as session:
        session.sql.execute("GRANT ALL ON SCHEMA dbo TO pg_monitor")
        session.sql.execute(
            "SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.to_queue', '{pg_monitor}')"
        )
        session.send_new("//From", "//To", body="x")
        done = subprocess.run(
            [sys.executable, "-m", "pgsb.client.run", "answers:answer"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert [one.text for one in session.receive("dbo.from_queue")] == ["re x", ""]


def test_errors_are_of_a_class_for_their_number(dsn: str) -> None:
    with client.connect(dsn) as session:
        dialog = session.send_new("//From", "//To")
        with pytest.raises(client.ConversationNotFound) as caught:
            session.send(uuid4())
        assert caught.value.number == 8426 and isinstance(caught.value, client.NotFound)
        with pytest.raises(client.NotFound, match="Msg 208"):
            session.receive("dbo.nowhere")
        with pytest.raises(client.ContractViolation, match="Msg 8431"):
            session.send(dialog, client.END_DIALOG)
        session.end(session.receive("dbo.to_queue")[0])
        with pytest.raises(client.WrongState):
            session.send(dialog)
        session.sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => false)")
        with pytest.raises(client.QueueDisabled):
            session.receive("dbo.to_queue")
        session.sql.execute("SELECT ssb.alter_queue('dbo.to_queue', status => true)")
        session.become("pg_monitor")
        with pytest.raises(client.PermissionDenied):
            session.receive("dbo.to_queue")


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
