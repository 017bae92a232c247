"""The dashboard as a server: in this thread until it is told to end, or in a thread of its own for tests."""

import socket
import threading
from collections.abc import Callable
from types import TracebackType

import uvicorn

from ...server.problems import ServerError
from .app import Dashboard
from .deadlines import PatientProtocol
from .options import Options


def _config(options: Options) -> uvicorn.Config:
    return uvicorn.Config(
        Dashboard(options),
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=3,
        ws="none",
    )


def _bind(host: str, port: int) -> socket.socket:
    """Raises ServerError when the address cannot be had."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # At once: until one listens, others may bind to the same address, and the server listens late.
        listener.listen()
    except OSError as error:
        listener.close()
        raise ServerError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener


def serve(options: Options, host: str, port: int, announce: Callable[[int], None]) -> None:
    """Until SIGINT or SIGTERM. Raises ServerError when the address cannot be had.

    ``announce`` is told the port once it is ours: for port 0 the system has chosen one.
    """
    with _bind(host, port) as listener:
        announce(listener.getsockname()[1])
        uvicorn.Server(_config(options)).run(sockets=[listener])


class DashboardThread:
    """A dashboard on a free port of loopback, from ``with`` to its end."""

    def __init__(self, options: Options) -> None:
        self._server = uvicorn.Server(_config(options))
        self._listener = _bind("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), daemon=True)

    def __enter__(self) -> "DashboardThread":
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()
