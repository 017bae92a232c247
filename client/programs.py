"""Service programs: functions that are called with each message, in a transaction of its own."""

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

from .messages import Message
from .session import Session

Handler = Callable[[Session, Message], None]


@dataclass(frozen=True)
class ServiceProgram:
    """A handler with its rules; made by `service_program`, run by the daemon or by `run`.

    ``batch`` messages at most share a transaction (all of one conversation group).
    After ``patience`` seconds without a message the program ends. With ``ends`` it
    ends its side itself when the far side has ended, and the handler does not see
    EndDialog. Raises TypeError for a coroutine or generator function, ValueError for a
    batch of none.
    """

    handler: Handler
    batch: int = 1
    patience: float = 1.0
    ends: bool = True

    def __post_init__(self) -> None:
        # Calling one does nothing yet: the message would be received, and lost.
        for is_lazy in (
            inspect.iscoroutinefunction,
            inspect.isgeneratorfunction,
            inspect.isasyncgenfunction,
        ):
            if is_lazy(self.handler):
                raise TypeError(
                    f"{self.handler.__qualname__} must be a plain function: it is called, not awaited"
                )
        if self.batch < 1:
            raise ValueError("batch is the most messages of a transaction: at least 1")

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
                if self.ends and message.is_end and message.error is None:
                    session.end(message)
                else:
                    self.handler(session, message)
        return len(messages)


@overload
def service_program(handler: Handler, /) -> ServiceProgram: ...
@overload
def service_program(
    *, batch: int = 1, patience: float = 1.0, ends: bool = True
) -> Callable[[Handler], ServiceProgram]: ...
def service_program(
    handler: Handler | None = None, /, *, batch: int = 1, patience: float = 1.0, ends: bool = True
) -> ServiceProgram | Callable[[Handler], ServiceProgram]:
    """Make a service program of a function that takes the session and one message.

    ``@service_program`` or ``@service_program(batch=10, …)``; see `ServiceProgram`.
    """
    if handler is not None:
        return ServiceProgram(handler)
    return lambda function: ServiceProgram(function, batch, patience, ends)
