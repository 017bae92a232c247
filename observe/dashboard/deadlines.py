"""Connections of the dashboard that say nothing, or half of a request: they end, and leave its files."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

PATIENCE = 10.0
"""Seconds in which a connection has to bring a whole request; it may be seen to end after twice as many."""
MOST_CONNECTIONS = 256
"""Of more the oldest goes. A browser has six."""


# uvicorn calls the class that it has chosen a variable, of which mypy knows no class.
class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc]
    """uvicorn's own, which waits for ever for what follows the first byte of a request."""

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._seen: object = None
        loop = asyncio.get_running_loop()
        self.opened_at = loop.time()
        self._next_look = loop.call_later(PATIENCE, self._look)
        # One that is told to end is counted until the loop has come to that.
        stay: list[PatientProtocol] = [one for one in self.connections if not one.transport.is_closing()]
        if len(stay) > MOST_CONNECTIONS:
            min(stay, key=lambda one: one.opened_at).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._next_look.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """End the connection if it waits for the same request, or for the rest of it, as at the last look."""
        request = self.cycle
        is_answered = request is not None and not request.more_body and not request.response_complete
        if request is self._seen and not is_answered:
            self.transport.abort()
            return
        self._seen = request
        self._next_look = asyncio.get_running_loop().call_later(PATIENCE, self._look)
