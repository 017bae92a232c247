"""Service programs: functions that are called with each message, in a transaction of its own."""

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, overload

from .async_session import AsyncSession
from .messages import Message
from .session import Session

Handler = Callable[[Session, Message], None]
AsyncHandler = Callable[[AsyncSession, Message], Awaitable[None]]


@dataclass(frozen=True)
class _Rules:
    """How messages are handed to a handler.

    ``batch`` messages at most share a transaction (all of one conversation group).
    After ``patience`` seconds without a message the program ends. With ``ends`` it
    ends its side itself when the far side has ended, and the handler does not see
    EndDialog.
    """

    handler: Callable[[Any, Message], Any]
    batch: int = 1
    patience: float = 1.0
    ends: bool = True

    def __post_init__(self) -> None:
        for is_generator in (inspect.isgeneratorfunction, inspect.isasyncgenfunction):
            # Calling one does nothing yet: the message would be received, and lost.
            if is_generator(self.handler):
                raise TypeError(f"{_name(self.handler)} must be a plain function or coroutine, no generator")
        if self.batch < 1:
            raise ValueError("batch is the most messages of a transaction: at least 1")

    def ends_itself(self, message: Message) -> bool:
        """Whether the program ends its side for the handler."""
        return self.ends and message.is_end and message.error is None


@dataclass(frozen=True)
class ServiceProgram(_Rules):
    """A handler with its rules; made by `service_program`, run by the daemon or by `run`.

    Raises TypeError for a coroutine or generator function, ValueError for a batch of none.
    """

    handler: Handler

    def __post_init__(self) -> None:
        super().__post_init__()
        if inspect.iscoroutinefunction(self.handler):
            raise TypeError(f"{_name(self.handler)} is a coroutine: service_program makes it a program")

    def __call__(self, session: Session, message: Message) -> None:
        """Call the handler, as if it were undecorated."""
        self.handler(session, message)

    def run(self, session: Session, queue: str) -> int:
        """Process messages until none comes; returns how many.

        Each transaction holds the received messages, what the handler sent and what it
        did through ``session.sql``. An exception of the handler rolls it back, so that
        the messages are there again, and comes out.
        """
        count = 0
        deadline = time.monotonic() + self.patience
        while True:
            received = self._process(session, queue)
            if received:
                count += received
                deadline = time.monotonic() + self.patience
                continue
            left = deadline - time.monotonic()
            if left <= 0:
                return count
            # Waiting stands outside the transaction: an open one would hold back VACUUM.
            session.wait(queue, left)

    def _process(self, session: Session, queue: str) -> int:
        with session.transaction():
            messages = session.receive(queue, self.batch)
            for message in messages:
                if self.ends_itself(message):
                    session.end(message)
                else:
                    self.handler(session, message)
        return len(messages)


@dataclass(frozen=True)
class AsyncServiceProgram(_Rules):
    """A handler that is awaited, with its rules; made by `service_program` of an ``async def``.

    Raises TypeError for a generator function, ValueError for a batch of none.
    """

    handler: AsyncHandler

    async def __call__(self, session: AsyncSession, message: Message) -> None:
        """Await the handler, as if it were undecorated."""
        await self.handler(session, message)

    async def run(self, session: AsyncSession, queue: str) -> int:
        """Process messages until none comes; returns how many. See `ServiceProgram.run`.

        A task that is cancelled rolls its transaction back: the messages are there again.
        """
        count = 0
        deadline = time.monotonic() + self.patience
        while True:
            received = await self._process(session, queue)
            if received:
                count += received
                deadline = time.monotonic() + self.patience
                continue
            left = deadline - time.monotonic()
            if left <= 0:
                return count
            await session.wait(queue, left)

    async def _process(self, session: AsyncSession, queue: str) -> int:
        async with session.transaction():
            messages = await session.receive(queue, self.batch)
            for message in messages:
                if self.ends_itself(message):
                    await session.end(message)
                else:
                    await self.handler(session, message)
        return len(messages)


class _Decorator(Protocol):
    """What ``service_program(batch=…)`` gives."""

    @overload
    def __call__(self, handler: AsyncHandler, /) -> AsyncServiceProgram: ...
    @overload
    def __call__(self, handler: Handler, /) -> ServiceProgram: ...


@overload
def service_program(handler: AsyncHandler, /) -> AsyncServiceProgram: ...
@overload
def service_program(handler: Handler, /) -> ServiceProgram: ...
@overload
def service_program(*, batch: int = 1, patience: float = 1.0, ends: bool = True) -> _Decorator: ...
def service_program(
    handler: Any = None, /, *, batch: int = 1, patience: float = 1.0, ends: bool = True
) -> Any:
    """Make a service program of a function, or coroutine, that takes the session and one message.

    ``@service_program`` or ``@service_program(batch=10, …)``; see `ServiceProgram` and
    `AsyncServiceProgram`. ``batch`` messages at most share a transaction (all of one conversation
    group); after ``patience`` seconds without a message the program ends; with ``ends`` it ends its
    side itself when the far side has ended, and the handler does not see EndDialog.
    """

    def make(function: Any) -> Any:
        kind = AsyncServiceProgram if is_async(function) else ServiceProgram
        return kind(function, batch, patience, ends)

    return make if handler is None else make(handler)


def is_async(function: Any) -> bool:
    """Whether calling it gives something to await: a coroutine function, or an object that is called so."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))
