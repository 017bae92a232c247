"""A limit to looks at a server that hangs: no timeout of its own ends them there."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import psycopg

_Connection = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]


@contextlib.contextmanager
def given_up(connection: _Connection, seconds: float) -> Iterator[None]:
    """Break the connection when what is inside takes longer: it raises psycopg.OperationalError then."""
    timer = threading.Timer(seconds, _break, [connection])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _break(connection: _Connection) -> None:
    # By another descriptor of the socket: the connection closes its own.
    with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as it:
        it.shutdown(socket.SHUT_RDWR)
