"""External programs: Python callables and command lines of the daemon's own allow-list.

The queue's definition names a program; what that name means is said by the daemon's
configuration alone. A name that is not there is reported and nothing runs: rights in
the database never make the daemon execute anything.
"""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..server.results import ErrorEvent
from .config import BrokerOptions, Program
from .log import BrokerLog
from .readers import ActiveQueue, Outcome, ProgramError, no_such_principal

# What differs between two tellings of one error: handles, and numbers of claims, processes and times.
_VARYING = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|\d+")
# What has run for so many times as long as when it failed, and seconds more, is heard while it runs.
_LONGER = 2.0
_HEARD_AFTER = 5.0
# Lines of a program's output that are logged; the rest is counted.
_LOGGED_LINES = 1000
# Lines of one entry come together.
_ENTRY_SECONDS = 0.2
_TRACEBACK = "Traceback (most recent call last):"
# Python's words between chained exceptions, Java's before a cause.
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_CAUSE = "Caused by: "
# What pgsb's commands say behind an error, which is the line before.
_HINT = "hint: "
# A process that the program left behind may hold its output open: seconds until nobody listens.
_LAST_WORDS = 1.0
# Between two looks whether what got SIGTERM is gone.
_GROUP_LOOK = 0.05


@dataclass
class _Failure:
    """How a program has failed: what tells its error from another, how often in a row, after how long."""

    gist: str
    was_told: bool
    lasted: float
    count: int = 1


class ProgramRuns:
    """Starts external programs, each as a process of its own."""

    def __init__(self, options: BrokerOptions) -> None:
        self._options = options
        self._failed: dict[tuple[int, str], _Failure] = {}
        """By queue and program: how it has failed last, until it succeeds."""

    async def run(
        self, queue: ActiveQueue, log: BrokerLog, further: Mapping[str, str] | None = None
    ) -> Outcome:
        """Run the queue's program to its end; its output goes to the log.

        It finds the queue in PGSB_QUEUE, the T-SQL database in PGSB_DATABASE and the
        server in DATABASE_URL; ``further`` variables are for it as well. Cancelled, it and
        what it has started get SIGTERM, and after the grace period SIGKILL. Raises
        ProgramError for a name that the configuration does not know.
        """
        program = self._program_of(queue)
        output, pipe, their_end = await _open_pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *_command(program),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=their_end,
                stderr=asyncio.subprocess.STDOUT,
                env=self._environment(queue, program, further or {}),
                start_new_session=True,
            )
        except BaseException:
            pipe.close()
            raise
        finally:
            os.close(their_end)
        began = time.monotonic()
        before = self._failed.get((queue.queue_id, program.name))

        def write(level: str, text: str) -> None:
            log.write(level, "output", text, queue=queue.name, program=program.name, pid=process.pid)

        # What fails again has told why: its output is written if it ends in another way, or runs for longer.
        words = _Words(write, before is not None)
        patience = None
        if before is not None:
            loop = asyncio.get_running_loop()
            patience = loop.call_later(_HEARD_AFTER + _LONGER * before.lasted, words.speak)
        reading = asyncio.create_task(_log_output(output, words.say))
        try:
            status = await process.wait()
            await asyncio.wait([reading], timeout=_LAST_WORDS)
        finally:
            if process.returncode is None:
                await self._end(process)
            pipe.close()
            last = await reading
            if patience is not None:
                patience.cancel()
        run = _Run(queue, program.name, process.pid, words, time.monotonic() - began)
        return self._succeeded(run, log) if status == 0 else self._has_failed(run, log, status, last)

    def _program_of(self, queue: ActiveQueue) -> Program:
        """What the queue names. Raises ProgramError where the configuration does not know it, or the role."""
        assert queue.program is not None
        program = self._options.programs.get(queue.program)
        if program is None:
            raise ProgramError(
                9614,
                f"the daemon's configuration knows no program {queue.program!r}: "
                "programs are allowed by --program or --programs, never by the database",
            )
        if queue.role is None:
            raise no_such_principal(queue)
        return program

    def _environment(
        self, queue: ActiveQueue, program: Program, further: Mapping[str, str]
    ) -> dict[str, str]:
        return {
            **os.environ,
            "DATABASE_URL": self._options.reader_dsn or self._options.dsn,
            "PGSB_QUEUE": queue.name,
            "PGSB_DATABASE": queue.database or "",
            "PGSB_ROLE": queue.role or "",
            "PGSB_PROGRAM": program.name,
            **further,
        }

    def _succeeded(self, run: "_Run", log: BrokerLog) -> Outcome:
        run.words.speak()
        failure = self._failed.pop(run.key, None)
        if failure is not None and failure.was_told:
            again = "works again, having failed" + (f" {failure.count} times" if failure.count > 1 else "")
            log.write("info", "program_works", again, queue=run.queue.name, program=run.program, pid=run.pid)
        return Outcome()

    def _has_failed(self, run: "_Run", log: BrokerLog, status: int, last: str) -> Outcome:
        """Note the failure, and tell it unless the last one was the same; ``last``: its last words."""
        # They are the best account of what went wrong, and QUARANTINE shows this line.
        message = f"ended with status {status}" if status > 0 else f"ended by signal {-status}"
        message += f": {last}" if last else ""
        gist = f"{status} {_VARYING.sub('#', last)}"
        known = self._failed.get(run.key)  # others may run beside it
        if known is not None and known.gist == gist:
            known.count += 1
            known.lasted = run.lasted
        else:
            run.words.speak()
            was_told = log.write(
                "error",
                "program_failed",
                message,
                queue=run.queue.name,
                program=run.program,
                pid=run.pid,
                gist=gist,
                in_full=1,
            )
            self._failed[run.key] = _Failure(gist, was_told, run.lasted)
        return Outcome(ErrorEvent(50000, 16, 1, None, 1, message))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        # The program leads a group of its own. A signal to it alone would end a shell, and leave what that
        # shell has started, with its session and the messages that it holds.
        _signal_group(process.pid, signal.SIGTERM)
        ending = asyncio.create_task(_until_gone(process))
        try:
            await asyncio.wait([ending], timeout=max(0.1, self._options.grace))
        finally:  # nor does it outlive a second cancellation
            if not ending.done():
                _signal_group(process.pid, signal.SIGKILL)
                ending.cancel()
        await process.wait()


def _signal_group(leader: int, number: int) -> bool:
    """Whether anybody of the group is left to hear it."""
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # some of them run as other users, the rest heard it
        return True
    return True


async def _until_gone(process: asyncio.subprocess.Process) -> None:
    await process.wait()
    while _signal_group(process.pid, 0):
        await asyncio.sleep(_GROUP_LOOK)


class _Words:
    """What a program says: written as it comes, or kept until somebody wants to hear it."""

    def __init__(self, write: Callable[[str, str], None], is_kept: bool) -> None:
        self._write = write
        self._kept: list[tuple[str, str]] | None = [] if is_kept else None

    def say(self, level: str, text: str) -> None:
        """One entry."""
        if self._kept is None:
            self._write(level, text)
        else:
            self._kept.append((level, text))

    def speak(self) -> None:
        """What was kept, and from now on everything as it comes."""
        kept, self._kept = self._kept or (), None
        for level, text in kept:
            self._write(level, text)


@dataclass(frozen=True)
class _Run:
    """A run that has ended, and how long it lasted."""

    queue: ActiveQueue
    program: str
    pid: int
    words: _Words
    lasted: float

    @property
    def key(self) -> tuple[int, str]:
        """By which failures are remembered."""
        return self.queue.queue_id, self.program


def _command(program: Program) -> tuple[str, ...]:
    if program.callable is not None:
        return (sys.executable, "-m", "pgsb.client.run", program.callable)
    return program.command


async def _open_pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """What a process writes to the file descriptor, and the transport to close.

    A pipe of our own: with asyncio's, waiting for the process means, in some versions of Python,
    waiting for all that have the pipe.
    """
    ours, theirs = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", buffering=0)
    )
    return reader, transport, theirs


async def _log_output(stream: asyncio.StreamReader, write: Callable[[str, str], None]) -> str:
    """``write`` what comes, with a level, until the stream ends; returns the last line with something in it.

    A line that is indented, and the whole of a traceback, belong to the line before: one entry.
    """
    count, last = 0, ""
    entry: list[str] = []
    in_traceback = False

    def flush() -> None:
        if entry:
            write("info", "\n".join(entry))
            entry.clear()

    while True:
        try:
            # What waits for more lines does not wait long. Cancelled, readline has taken nothing.
            async with asyncio.timeout(_ENTRY_SECONDS if entry else None):
                line = await stream.readline()
        except TimeoutError:
            flush()
            continue
        except ValueError:  # longer than the reader's buffer, which it has thrown away
            continue
        if not line:
            break
        count += 1
        text = line.decode("utf-8", "replace").rstrip()
        if not text.startswith(_HINT):
            last = text.strip() or last
        if count > _LOGGED_LINES:
            continue
        is_indented = text[:1].isspace() or not text
        if not (entry and (is_indented or in_traceback or text.startswith((*_CHAINED, _CAUSE, _HINT)))):
            flush()
        entry.append(text)
        if text.startswith((_TRACEBACK, *_CHAINED)):
            in_traceback = True
        elif in_traceback and not is_indented:
            # The exception itself is the traceback's last line.
            in_traceback = False
    flush()
    if count > _LOGGED_LINES:
        write("warning", f"{count - _LOGGED_LINES} more lines are left out")
    return last
