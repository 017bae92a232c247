"""Runs one service program for the daemon: ``python -m pgsb.client.run package.module:program``.

The queue, the T-SQL database and the server come from PGSB_QUEUE, PGSB_DATABASE and
DATABASE_URL, as the daemon sets them. Behind ``--check`` the program is loaded, and no more.
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
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise SystemExit(f"cannot load {name}: {error}\nhint: {_hint_of_module(error)}") from None
    try:
        found = getattr(module, attribute)
    except AttributeError as error:
        nearest = _nearest(attribute, [one for one in dir(module) if callable(getattr(module, one, None))])
        hint = f"\nhint: {nearest}" if nearest else ""
        raise SystemExit(f"cannot load {name}: {error}{hint}") from None
    if isinstance(found, ServiceProgram | AsyncServiceProgram):
        return found
    if not callable(found):
        raise SystemExit(f"{name} is neither a service program nor callable")
    return AsyncServiceProgram(found) if is_async(found) else ServiceProgram(found)


def _hint_of_module(error: ImportError) -> str:
    """Where a module was looked for, and which one has almost its name."""
    looked = f"modules are found in {os.getcwd()}, in PYTHONPATH and beside the packages of {sys.executable}"
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return looked
    # Imported here: it is for those who have mistyped.
    import pkgutil

    package, _, last = error.name.rpartition(".")
    folders = getattr(sys.modules.get(package), "__path__", []) if package else None
    nearest = _nearest(last, [one.name for one in pkgutil.iter_modules(folders)])
    return f"{nearest}; {looked}" if nearest else looked


def _nearest(name: str, known: list[str]) -> str | None:
    import difflib

    found = difflib.get_close_matches(name, known, 1)
    return f"did you mean {found[0]!r}?" if found else None


def main() -> None:
    """Run the program named by the last argument on the queue of the environment."""
    program = load(sys.argv[-1])
    if sys.argv[1] == "--check":
        return
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
