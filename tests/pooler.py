"""A connection pooler in the manner of PgBouncer: it lends sessions to clients, or to their transactions."""

import contextlib
import itertools
import socket
import struct
import threading
from types import TracebackType

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_PROTOCOL = 3 << 16
_NO_ENCRYPTION = (80877103, 80877104)  # a client asks for TLS, or GSSAPI


class Pooler:
    """Listens on ``dsn`` from ``with`` to its end, for the server and login of another DSN (trusted there).

    ``mode`` is "transaction" or "session". As PgBouncer by default it refuses ``options``, and what Java says
    besides, unless they are ``ignored``. It tells process numbers of its own making, and hands out the
    session that was used last; ``round_robin``: the one that has rested longest.
    """

    def __init__(self, dsn: str, mode: str, *, round_robin: bool = False, ignored: str = "") -> None:
        self._server = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
        self._mode = mode
        self._refused = {"options", "extra_float_digits"} - set(ignored.split(","))
        self._next = 0 if round_robin else -1
        self._numbers = itertools.count(1_000_000_000)
        self._free: list[_Peer] = []
        self._opened: list[_Peer] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = make_conninfo(
            host="127.0.0.1",
            port=self._listener.getsockname()[1],
            user=self._server["user"],
            dbname=self._server["dbname"],
            password="",
        )

    def __enter__(self) -> "Pooler":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for peer in self._opened:
            peer.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = _Peer(self._listener.accept()[0])
                self._opened.append(client)
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: "_Peer") -> None:
        session: _Peer | None = None
        try:
            if not self._greet(client):
                return
            while (message := client.read())[:1] != b"X":
                if session is None:
                    session = self._take()
                session.send(message)
                if message[:1] in b"QS":
                    while (answer := session.read())[:1] != b"Z":
                        client.send(answer)
                    # Free for the next client before this one knows.
                    if self._mode == "transaction" and answer[-1:] == b"I":
                        self._free.append(session)
                        session = None
                    client.send(answer)
        except (OSError, EOFError):
            pass
        finally:
            client.close()
            if session is not None:
                session.close()

    def _greet(self, client: "_Peer") -> bool:
        """Log the client in; False where it must not, or only wanted to cancel something."""
        while (opening := client.read(named=False)) and struct.unpack("!I", opening[4:8])[
            0
        ] in _NO_ENCRYPTION:
            client.send(b"N")
        if struct.unpack("!I", opening[4:8])[0] != _PROTOCOL:
            return False
        if refused := self._refused.intersection(opening[8:].decode().split("\0")[::2]):
            fields = f"SFATAL\0C08P01\0Munsupported startup parameter: {min(refused)}\0\0".encode()
            client.send(b"E" + struct.pack("!I", 4 + len(fields)) + fields)
            return False
        session = self._take()
        number = struct.pack("!II", next(self._numbers), 0)
        self._free.append(session)
        client.send(session.greeting + b"K" + struct.pack("!I", 12) + number + b"Z\0\0\0\x05I")
        return True

    def _take(self) -> "_Peer":
        with contextlib.suppress(IndexError):
            return self._free.pop(self._next)
        there = socket.socket(socket.AF_UNIX)
        there.connect(f"{self._server['host']}/.s.PGSQL.{self._server.get('port', 5432)}")
        session = _Peer(there)
        self._opened.append(session)
        words = ["user", self._server["user"], "database", self._server["dbname"], "client_encoding", "UTF8"]
        body = struct.pack("!I", _PROTOCOL) + "".join(f"{word}\0" for word in words).encode() + b"\0"
        session.send(struct.pack("!I", 4 + len(body)) + body)
        while (message := session.read())[:1] != b"Z":
            if message[:1] != b"K":
                session.greeting += message
        return session


class _Peer:
    """One end of a connection that speaks PostgreSQL's protocol."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._file = connected.makefile("rb")
        self.greeting = b""
        """What the server said at the login, but the process number."""

    def send(self, message: bytes) -> None:
        self._socket.sendall(message)

    def read(self, *, named: bool = True) -> bytes:
        """One message, with its letter where it is ``named``. Raises EOFError at the end."""
        head = self._file.read(5 if named else 4)
        if len(head) < (5 if named else 4):
            raise EOFError
        return head + self._file.read(struct.unpack("!I", head[-4:])[0] - 4)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
