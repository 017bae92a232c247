"""pgsb top: the overview as text, and its keys on a screen."""

import asyncio
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from observe_desk import HURRY, Shop
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from pgsb.observe.terminal.app import Top
from pgsb.observe.terminal.overview import lines, look
from support import Connection, Database

pytestmark = pytest.mark.one_postgres


def run(database: Database, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pgsb.cli.main", "top", "--dsn", database.dsn, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_it_prints_what_the_dashboard_shows(shop: Shop, database: Database) -> None:
    shown = run(database, "--once")
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout.splitlines()
    assert text[0].startswith(f" {database.name}") and "24 messages in 4 queues" in text[0]
    assert " 302 warning dbo.shipping  a queue is off and messages wait: 5 messages in the queue" in text
    assert "     pgsb shell: ALTER QUEUE [dbo].[Shipping] WITH STATUS = ON;" in text
    queues = [
        line.split()[0]
        for line in text[text.index(next(one for one in text if one.startswith("QUEUE"))) + 1 :]
    ]
    assert queues == ["dbo.billing", "dbo.orders", "dbo.shipping", "dbo.counter"]


def test_a_runtime_of_another_version_is_told(sql: Connection, database: Database) -> None:
    sql.execute("UPDATE ssb.runtime_version SET version = 1")
    told = [line for line in run(database, "--once").stdout.splitlines() if line.startswith(" 123 warning ")]
    assert len(told) == 1 and "it is version 1, this pgsb brings " in told[0]


@pytest.mark.long
def test_a_lock_does_not_keep_it_waiting(
    shop: Shop, database: Database, connect: Callable[..., Connection]
) -> None:
    connect().execute(HURRY)
    careless = connect(autocommit=False)
    careless.execute("LOCK TABLE ssb.message_0 IN ACCESS EXCLUSIVE MODE")
    shown = run(database, "--once")
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout.splitlines()
    assert "a lock keeps the queues from being read" in text[0] and "no daemon" not in text[0]
    (told,) = [line for line in text if line.startswith(" 117 error ")]
    assert f"session {careless.info.backend_pid}" in told
    careless.rollback()
    assert "24 messages in 4 queues" in run(database, "--once").stdout


@pytest.mark.one_postgres
def test_without_a_terminal_it_says_so(database: Database) -> None:
    shown = run(database)
    assert shown.returncode == 1
    assert "pgsb top needs a terminal" in shown.stderr and "--once" in shown.stderr


def test_it_is_sorted_and_filtered(shop: Shop, connect: Callable[..., Connection]) -> None:
    picture = look(connect())

    def queues(sort: str, wanted: str = "") -> list[str]:
        text = ["".join(piece for _, piece in line) for line in lines(picture, sort, wanted, False)]
        return [line.split()[0] for line in text if line.startswith("dbo.")]

    assert queues("n") == ["dbo.billing", "dbo.counter", "dbo.orders", "dbo.shipping"]
    assert queues("d", "s") == ["dbo.orders", "dbo.shipping"]
    assert "findings: f shows them" in "".join(piece for _, piece in lines(picture, "n", "", False)[2])


@pytest.mark.one_postgres
def test_keys_on_a_screen(shop: Shop, database: Database, connect: Callable[..., Connection]) -> None:
    for setting in ("DateStyle = 'SQL'", "IntervalStyle = 'sql_standard'", "client_encoding = 'sql_ascii'"):
        connect().execute(f"ALTER DATABASE {database.name} SET {setting}")
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        top = Top(database.dsn, 0.2)

        async def until(condition: Callable[[], bool]) -> None:
            async with asyncio.timeout(20):
                while not condition():
                    await asyncio.sleep(0.02)

        def text() -> str:
            return "".join(piece[1] for piece in top._text())

        async def use() -> None:
            running = asyncio.create_task(top._run())
            await until(lambda: "dbo.orders" in text())
            assert "a queue is off and messages wait" in text()
            typed.send_text("f")
            await until(lambda: "findings: f shows them" in text())
            typed.send_text("/ship\r")
            await until(lambda: "dbo.shipping" in text() and "dbo.orders" not in text())
            typed.send_text("n")
            await until(lambda: "by name" in "".join(piece[1] for piece in top._foot()))
            typed.send_text("p")
            await until(lambda: "paused" in "".join(piece[1] for piece in top._foot()))
            typed.send_text("q")
            await running

        asyncio.run(use())


@pytest.mark.one_postgres
def test_a_server_that_was_lost_is_looked_for_soon_and_nothing_old_is_shown(
    shop: Shop, database: Database
) -> None:
    """Each try at a server that hangs takes five seconds or more: the next came some minutes later."""
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        top = Top(database.dsn, 2.0)
        assert top._rest(5.0, psycopg.OperationalError("timeout expired")) == 10.0
        assert top._rest(5.0, psycopg.errors.CannotConnectNow()) == 10.0
        assert top._rest(0.01, psycopg.OperationalError()) == 2.0
        assert top._rest(10.0, psycopg.errors.QueryCanceled()) == top._rest(10.0, None) == 500.0
        assert Top(database.dsn, 60.0)._rest(5.0, psycopg.OperationalError()) == 60.0

        def lost() -> None:
            raise psycopg.OperationalError("no route to host")

        async def use() -> None:
            refreshing = asyncio.create_task(top._refresh())
            async with asyncio.timeout(20):
                while "no route to host" not in str(top._lines):
                    await asyncio.sleep(0.02)
            top._press("f")
            assert "no route to host" in str(top._lines)
            refreshing.cancel()

        top._picture = top._look()
        assert top._connection is not None
        top._connection.close()
        top._look = lost  # type: ignore[method-assign]
        asyncio.run(use())
