"""The command line without the libraries of the extras security (cryptography), metrics and shell."""

import asyncio
import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from pgsb.daemon.log import BrokerLog
from pgsb.daemon.transport_choice import _NoTransport
from support import Database

pytestmark = pytest.mark.one_postgres

START = (
    "import sys; sys.modules |= dict.fromkeys(('cryptography', 'prometheus_client', 'prompt_toolkit'));"
    " from pgsb.cli.main import main; main()"
)
SCRIPT = """\
CREATE QUEUE q;
CREATE SERVICE [//Self] ON QUEUE q ([DEFAULT]);
GO
CREATE PROCEDURE serve AS
    DECLARE @d UNIQUEIDENTIFIER;
    RECEIVE TOP (1) @d = conversation_handle FROM q;
    PRINT 'served';
GO
ALTER QUEUE q WITH ACTIVATION (STATUS = ON, PROCEDURE_NAME = serve, MAX_QUEUE_READERS = 1, EXECUTE AS OWNER);
GO
DECLARE @d UNIQUEIDENTIFIER;
BEGIN DIALOG @d FROM SERVICE [//Self] TO SERVICE '//Self' WITH ENCRYPTION = OFF;
SEND ON CONVERSATION @d (N'x');
GO
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'a long password';
GO
"""


def test_programs_start_and_keys_say_what_is_missing(database: Database) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, "run", "--activate", "--dsn", database.dsn, "-"],
        input=SCRIPT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "served" in done.stderr
    assert "pip install 'pg-service-broker[security]'" in done.stdout
    assert done.returncode == 1 and "Traceback" not in done.stderr


def test_metrics_say_what_is_missing(database: Database) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, "broker", "--metrics", "0", "--dsn", database.dsn],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "hint: pip install 'pg-service-broker[metrics]'" in done.stderr


def test_the_prompt_says_what_is_missing(database: Database) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", START, "shell", "--dsn", database.dsn],
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "the prompt needs prompt_toolkit, which is not installed\nhint: pip install"
    )


def test_the_daemon_says_that_nothing_leaves() -> None:
    said: list[Any] = []
    asked = 0

    async def ask(*statement: Any) -> tuple[bool]:
        nonlocal asked
        asked += 1
        return (asked > 1,)

    async def work() -> None:
        log = BrokerLog(said.append)
        transport = _NoTransport(log, ask)
        running = asyncio.create_task(transport.run())
        while not said:
            transport.wake("")
            await asyncio.sleep(0)
        assert await transport.is_settled()
        running.cancel()

    asyncio.run(asyncio.wait_for(work(), 30))
    assert asked == 2 and "pg-service-broker[security]" in str(said[0])
