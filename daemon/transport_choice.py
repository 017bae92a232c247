"""The transport to other instances, or a stand-in where the library for its keys is not installed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .config import BrokerOptions
from .counts import Counts
from .leader import pause
from .log import BrokerLog
from .readers import Connection

_WITHOUT = (
    "dialogs with other instances need the library cryptography, which is not installed:"
    " pip install 'pg-service-broker[security]', and start the daemon again"
)


class AnyTransport(Protocol):
    """What the daemon asks of its transport."""

    def wake(self, which: str) -> None:
        """Messages may be waiting; ``which``: what ssb_transport was told."""

    async def is_settled(self) -> bool:
        """Nothing waits that could leave now."""

    async def run(self) -> None:
        """Send what has to leave."""


def make_transport(
    options: BrokerOptions,
    log: BrokerLog,
    ask: Callable[..., Awaitable[Any]],
    join: Callable[[Connection], Awaitable[None]],
    counts: Counts,
) -> AnyTransport:
    """The transport; programs are started without its library, too."""
    try:
        from .transport import Transport
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "cryptography":
            raise
        return _NoTransport(log, ask)
    return Transport(options, log, ask, join, counts)


class _NoTransport:
    """Says so as soon as there is something for another instance; messages wait."""

    def __init__(self, log: BrokerLog, ask: Callable[..., Awaitable[Any]]) -> None:
        self._log = log
        self._ask = ask
        self._news = asyncio.Event()

    def wake(self, which: str) -> None:
        self._news.set()

    async def is_settled(self) -> bool:
        return True

    async def run(self) -> None:
        while not (await self._ask("SELECT ssb_internal.has_transport()"))[0]:
            await pause(self._news, 5.0)
            self._news.clear()
        self._log.write("error", "no_transport", _WITHOUT)
        await asyncio.Event().wait()
