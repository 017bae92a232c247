"""Looks at the start whether the external programs are there: the first message would come upon it otherwise.

What is missing is told and nothing more. The daemon's other work goes on, and a program may come later.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable

from .config import Program
from .log import BrokerLog

# A module that takes longer to load is left alone: whether it fails is seen when it runs.
_PATIENCE = 60.0
_SHOWN_LINES = 20


async def tell_missing(programs: Iterable[Program], log: BrokerLog) -> None:
    """Log an error for each program that cannot run, one after the other. Cancelled, it leaves no process."""
    for program in programs:
        missing = _command_missing(program) if program.callable is None else await _not_loaded(program)
        if missing:
            log.write("error", "no_program", missing, program=program.name)


def _command_missing(program: Program) -> str | None:
    file = program.command[0]
    if shutil.which(file) is not None:
        return None
    if os.path.dirname(file):
        if os.path.exists(file):
            return f"cannot run {file}: it is no program that this user may execute"
        return f"cannot run {file}: there is no such file (from {os.getcwd()})"
    return f"cannot run {file}: PATH has no program of that name"


async def _not_loaded(program: Program) -> str | None:
    """What a process that loads the callable, as each run does, says when it cannot."""
    # A file and no pipe: what the module leaves running holds nobody up.
    with tempfile.TemporaryFile() as said:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "pgsb.client.run", "--check", str(program.callable)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                status = await process.wait()
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):  # it has ended by itself at this moment
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if status == 0:
            return None
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").rstrip().splitlines()
    return "\n".join(lines[-_SHOWN_LINES:]) or f"cannot load {program.callable}: status {status}"
