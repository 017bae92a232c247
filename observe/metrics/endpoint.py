"""The daemon's HTTP: /metrics, /healthz and /readyz."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from ...daemon.counts import Counts
from ...server.problems import ServerError
from .collector import BrokerCollector

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication

STALE_SECONDS = 30.0
"""A daemon whose event loop has not turned for so long is not alive."""
# Each has a thread and a file of the daemon's, which programs need too.
_MOST_CONNECTIONS = 32


class _Server(ThreadingMixIn, WSGIServer):
    """Of too many open connections the oldest goes: whoever asks has his answer in a moment."""

    daemon_threads = True
    # Five is its own: of more who come at once, the others would try again a second later, or three.
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self._open: dict[Any, None] = {}
        self._opening = threading.Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._opening:
            self._open[request] = None
            if len(self._open) > _MOST_CONNECTIONS:
                oldest = next(iter(self._open))
                del self._open[oldest]
                # Its thread is waiting for it, and closes it then.
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._opening:
            self._open.pop(request, None)
        super().shutdown_request(request)


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:
        """A scrape every few seconds is no news."""


def make_app(collector: BrokerCollector, counts: Counts) -> "WSGIApplication":
    """The WSGI application: 200 or 503 with a word, and the metrics."""
    registry = CollectorRegistry()
    registry.register(collector)
    metrics = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return _say(start_response, "405 Method Not Allowed", "GET only")
        if path == "/metrics":
            return cast(Iterable[bytes], metrics(environ, start_response))
        if path == "/healthz":
            stale = time.monotonic() - counts.beat_at
            return (
                _say(start_response, "200 OK", "alive")
                if stale < STALE_SECONDS
                else _say(start_response, "503 Service Unavailable", f"no sign of life for {stale:.0f} s")
            )
        if path == "/readyz":
            is_ready = counts.state in ("leading", "standing_by")
            return _say(start_response, "200 OK" if is_ready else "503 Service Unavailable", counts.state)
        return _say(start_response, "404 Not Found", "/metrics, /healthz, /readyz")

    return answer


def _say(start_response: "StartResponse", status: str, text: str) -> list[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
    return [f"{text}\n".encode()]


class MetricsEndpoint:
    """Serves in a thread from ``with`` to its end. Raises ServerError when the address cannot be had."""

    def __init__(self, host: str, port: int, dsn: str, counts: Counts) -> None:
        self._collector = BrokerCollector(dsn, counts)
        server: type[_Server] = _Server6 if ":" in host else _Server
        try:
            self._server = make_server(
                host,
                port,
                make_app(self._collector, counts),
                server_class=server,
                handler_class=_Quiet,
            )
        except OSError as error:
            raise ServerError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="pgsb metrics", daemon=True)

    def __enter__(self) -> "MetricsEndpoint":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._collector.close()
