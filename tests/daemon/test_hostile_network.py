"""Somebody between two instances who cuts, truncates, repeats, changes, swaps and holds up what passes."""

import contextlib
import random
import shutil
import socket
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from instances import Side
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from secured import begin

from activation import Daemon, until

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.one_postgres, pytest.mark.long]

_KINDS = ("cut", "truncate", "repeat", "change", "swap", "hold up")


class Meddler:
    """Passes on what goes to a server's socket, and does something to it now and then."""

    def __init__(self, server: str, seed: int) -> None:
        self.folder = tempfile.mkdtemp(prefix="pgsb-")
        self.is_at_it = True
        self.done: dict[str, int] = defaultdict(int)
        self._server = server
        self._random = random.Random(seed)
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self.folder) / ".s.PGSQL.5432"))
        self._listener.listen()
        self._start(self._accept)

    def _start(self, act: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=act, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                server.connect(self._server)
                self._start(self._pass_on, client, server)
                self._start(self._pass_on, server, client)

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        left = self._random.randrange(2_000, 30_000)
        with contextlib.suppress(OSError):
            while data := one.recv(8192):
                left -= len(data)
                kind = None
                if left < 0 and self.is_at_it:
                    left = self._random.randrange(2_000, 30_000)
                    kind = self._random.choice(_KINDS)
                    self.done[kind] += 1
                half = len(data) // 2
                if kind == "cut":
                    break
                if kind == "repeat":
                    data += data
                elif kind == "change":
                    data = (
                        data[:half] + bytes([data[half] ^ 1 << self._random.randrange(8)]) + data[half + 1 :]
                    )
                elif kind == "swap":
                    data = data[half:] + data[:half]
                elif kind == "hold up":
                    time.sleep(self._random.uniform(0.1, 1.0))
                other.sendall(data[:half] if kind == "truncate" else data)
                if kind == "truncate":
                    break
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for one in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for one in (self._listener, *self._open):
            one.close()
        shutil.rmtree(self.folder)


@pytest.fixture
def meddler(far: Side) -> Iterator[Meddler]:
    info = conninfo_to_dict(far.database.dsn)
    one = Meddler(f"{info['host']}/.s.PGSQL.{info.get('port', 5432)}", 7)
    yield one
    one.close()


def test_sealed_messages_come_once_and_in_order_whatever_is_done_to_them(
    near: Side, far: Side, full: None, daemons: Callable[..., Daemon], meddler: Meddler
) -> None:
    dsn = make_conninfo(far.database.dsn, host=meddler.folder, port="5432")
    daemons(near, addresses={"tcp://far.example:4022": dsn})
    daemons(far)
    chance = random.Random(7)
    sent: dict[Any, list[str]] = {begin(near, "//Far"): [] for _ in range(12)}
    while sum(meddler.done.values()) < 25 or len(meddler.done) < len(_KINDS):
        with near.connection.transaction():
            for handle in chance.sample(sorted(sent), chance.randrange(1, len(sent))):
                body = f"{handle} {len(sent[handle])} {'x' * chance.choice((5, 200, 3000))}"
                sent[handle].append(body)
                near.send(handle, "//Ask", body)
        time.sleep(0.05)
    meddler.is_at_it = False
    got: dict[Any, list[str | None]] = defaultdict(list)
    for handle, _, body in far.receive(sum(map(len, sent.values()))):
        got[handle].append(body)
    assert sorted(map(str, got.values())) == sorted(map(str, filter(None, sent.values())))
    until(lambda: near.waiting() == [])
    assert far.receive(0) == []
