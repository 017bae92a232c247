"""A line to a server that breaks as networks do: cut, cut within a message, or without its answers."""

import contextlib
import socket
import threading
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_CHUNK = 65536


class BrokenLine:
    """Passes on what is written to a Unix-domain socket in ``folder``; ``dsn`` goes that way to it."""

    def __init__(self, dsn: str, folder: Path) -> None:
        known = conninfo_to_dict(dsn)
        self._server = Path(str(known["host"]), f".s.PGSQL.{known['port']}")
        self.dsn = make_conninfo(dsn, host=str(folder))
        self._halves_next = False
        self._loses_answers = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.breaks = 0
        """How often a connection was not ended by one of its sides."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / self._server.name))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self) -> None:
        """Whatever is under way."""
        with self._lock:
            for one in self._open:
                self._break(one)

    def cut_within_a_message(self) -> None:
        """The next bytes, of either side: the other one gets half of them."""
        self._halves_next = True

    def lose_an_answer(self) -> None:
        """The server does what it is asked next, and nobody hears of it."""
        self._loses_answers = True

    def close(self) -> None:
        """Nothing more is let through."""
        _end(self._listener)
        self._threads[0].join()
        self._listener.close()
        self.cut()
        for one in self._threads:
            one.join()

    def _break(self, one: socket.socket) -> None:
        self.breaks += 1
        _end(one)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._threads.append(threading.Thread(target=self._carry, args=(client,)))
                self._threads[-1].start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            with contextlib.suppress(OSError):
                server.connect(str(self._server))
            with self._lock:
                self._open.add(client)
            asking = threading.Thread(target=self._pass_on, args=(client, server))
            asking.start()
            self._pass_on(server, client, are_answers=True)
            asking.join()
            with self._lock:
                self._open.remove(client)

    def _pass_on(self, source: socket.socket, target: socket.socket, *, are_answers: bool = False) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if are_answers and self._loses_answers:
                    self._loses_answers = False
                    self.breaks += 1
                    break
                if self._halves_next:
                    self._halves_next = False
                    self.breaks += 1
                    target.sendall(chunk[: len(chunk) // 2])
                    break
                target.sendall(chunk)
        for one in (source, target):
            _end(one)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
