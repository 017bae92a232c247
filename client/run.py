"""Runs one service program for the daemon: ``python -m pgsb.client.run package.module:program``.

The queue, the T-SQL database and the server come from PGSB_QUEUE, PGSB_DATABASE and
DATABASE_URL, as the daemon sets them.
"""

import asyncio
import contextlib
import importlib
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from .async_session import connect_async
from .programs import AsyncServiceProgram, ServiceProgram, is_async
from .session import connect


def load(name: str) -> ServiceProgram | AsyncServiceProgram:
    """The service program that "package.module:name" means. Raises SystemExit with a sentence."""
    module_name, _, attribute = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise SystemExit(f"cannot load {name}: {error}") from None
    if isinstance(found, ServiceProgram | AsyncServiceProgram):
        return found
    if not callable(found):
        raise SystemExit(f"{name} is neither a service program nor callable")
    return AsyncServiceProgram(found) if is_async(found) else ServiceProgram(found)


def main() -> None:
    """Run the program named by the only argument on the queue of the environment."""
    program = load(sys.argv[1])
    if isinstance(program, AsyncServiceProgram):
        asyncio.run(_run_async(program))
        return
    signal.signal(signal.SIGTERM, _leave)
    with connect(os.environ["DATABASE_URL"], database=os.environ.get("PGSB_DATABASE") or None) as session:
        role = os.environ.get("PGSB_ROLE")
        if role:
            session.become(role)
        program.run(session, os.environ["PGSB_QUEUE"])


async def _run_async(program: AsyncServiceProgram) -> None:
    """As `main`; SIGTERM cancels the task, so that its transaction is rolled back."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    database = os.environ.get("PGSB_DATABASE") or None
    with contextlib.suppress(asyncio.CancelledError):
        async with await connect_async(os.environ["DATABASE_URL"], database=database) as session:
            role = os.environ.get("PGSB_ROLE")
            if role:
                await session.become(role)
            await program.run(session, os.environ["PGSB_QUEUE"])
        return
    raise SystemExit(128 + signal.SIGTERM)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    # An exception, so that the transaction is rolled back and the connection closed.
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main()
