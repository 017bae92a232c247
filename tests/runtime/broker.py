"""Short words for the tests of the engine: a database with two services, and sessions on it."""

import itertools
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dialogs
import psycopg
import pytest
from dialogs import Statements, begin
from psycopg import errors

END = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"
ERROR = "http://schemas.microsoft.com/SQL/ServiceBroker/Error"
TIMER = "http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer"

_names = itertools.count(1)


class Message(NamedTuple):
    """What most tests look at in a row of RECEIVE."""

    type: str
    body: str | None
    handle: uuid.UUID
    number: int


class Session(Statements):
    """A connection and the statements of a conversation."""

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid

    def send(self, handle: uuid.UUID, message_type: str, *bodies: str | bytes | None) -> None:
        """Send messages with these bodies, text as UTF-8; without any, one that has none."""
        encoded = [body.encode() if isinstance(body, str) else body for body in bodies or (None,)]
        dialogs.send(self.connection, handle, *encoded, kind=message_type)

    def receive(self, queue: str, top: int | None = None, **where: Any) -> list[Message]:
        words = "".join(f", {name} => %s" for name in where)
        found = self.rows(
            "SELECT message_type_name, message_body, conversation_handle, message_sequence_number"
            f" FROM ssb.receive(%s, %s{words})",
            queue,
            top,
            *where.values(),
        )
        return [
            Message(kind, None if body is None else body.decode(), handle, n)
            for kind, body, handle, n in found
        ]

    def bodies(self, queue: str, top: int | None = None) -> list[str | None]:
        return [message.body for message in self.receive(queue, top)]

    def end(self, handle: uuid.UUID, **options: Any) -> None:
        words = "".join(f", {name} => %s" for name in options)
        self.do(f"SELECT ssb.end_conversation(%s{words})", handle, *options.values())

    def state(self, handle: uuid.UUID) -> str | None:
        """The state that sys.conversation_endpoints shows, None for no row."""
        found = self.column(
            "SELECT state FROM sys.conversation_endpoints WHERE conversation_handle = %s", handle
        )
        return found[0] if found else None

    def group(self, handle: uuid.UUID) -> uuid.UUID:
        found: uuid.UUID = self.value(
            "SELECT conversation_group_id FROM sys.conversation_endpoints WHERE conversation_handle = %s",
            handle,
        )
        return found

    def transmissions(self, handle: uuid.UUID) -> list[str]:
        """Why messages of this side wait, in their order."""
        return self.column(
            "SELECT transmission_status FROM sys.transmission_queue"
            " WHERE conversation_handle = %s ORDER BY message_sequence_number",
            handle,
        )

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        self.connection.rollback()


class Pair:
    """An initiator's and a target's service, each on a queue of its own, under fresh names.

    The contract `contract` allows `request` from the initiator, `reply` from the
    target, and `note` from both; none is validated.
    """

    def __init__(self, session: Session, **queue_options: Any) -> None:
        self.session = session
        n = next(_names)
        self.request, self.reply, self.note = f"//request/{n}", f"//reply/{n}", f"//note/{n}"
        self.contract = f"//contract/{n}"
        self.initiator, self.target = f"//initiator/{n}", f"//target/{n}"
        self.near, self.far = f"dbo.initiator_queue_{n}", f"dbo.target_queue_{n}"
        for name in (self.request, self.reply, self.note):
            session.do("SELECT ssb.create_message_type(%s)", name)
        session.do(
            "SELECT ssb.create_contract(%s, %s, %s)",
            self.contract,
            [self.request, self.reply, self.note],
            ["INITIATOR", "TARGET", "ANY"],
        )
        words = "".join(f", {name} => %s" for name in queue_options)
        session.do("SELECT ssb.create_queue(%s)", self.near)
        session.do(f"SELECT ssb.create_queue(%s{words})", self.far, *queue_options.values())
        session.do("SELECT ssb.create_service(%s, %s)", self.initiator, self.near)
        session.do("SELECT ssb.create_service(%s, %s, ARRAY[%s])", self.target, self.far, self.contract)

    def dialog(self, session: Session | None = None, **options: Any) -> uuid.UUID:
        """The initiator's handle of a new dialog."""
        connection = (session or self.session).connection
        handle: uuid.UUID = begin(connection, self.initiator, self.target, self.contract, **options)
        return handle

    def send_new(self, body: str | bytes = "job", session: Session | None = None, **names: str) -> uuid.UUID:
        """The first message of a new dialog in one call; ``names`` are near, far, contract and type."""
        named = {"near": self.initiator, "far": self.target, "contract": self.contract, "type": self.request}
        named |= names
        handle: uuid.UUID = (session or self.session).value(
            f"SELECT ssb.send_new(%s, %s, %s, %s, %s::{'text' if isinstance(body, str) else 'bytea'})",
            *(named[name] for name in ("near", "far", "contract", "type")),
            body,
        )
        return handle

    def say(self, handle: uuid.UUID, *bodies: str, session: Session | None = None) -> None:
        """Requests on a dialog."""
        (session or self.session).send(handle, self.request, *bodies)

    def conversing(self, **options: Any) -> tuple[uuid.UUID, uuid.UUID]:
        """Both handles of a dialog whose first request the target has received."""
        near = self.dialog(**options)
        self.session.send(near, self.request, "hello")
        (message,) = self.session.receive(self.far)
        return near, message.handle


@contextmanager
def refused(number: int, words: str = "") -> Iterator[None]:
    """The block fails with this SQL Server number, and these words stand in the message."""
    with pytest.raises(errors.Error) as caught:
        yield
    assert isinstance(caught.value, psycopg.Error)
    assert caught.value.sqlstate == sqlstate(number), f"{caught.value.sqlstate}: {caught.value}"
    assert words in str(caught.value)


def sqlstate(number: int) -> str:
    """SQLSTATE of a SQL Server error number."""
    if number <= 9999:
        return f"S{number:04}"
    digits = ""
    for _ in range(4):
        number, rest = divmod(number, 36)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest] + digits
    return "T" + digits


class Waiting:
    """A statement running in a thread, seen to wait for a lock."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(act,))
        self._thread.start()

    def _run(self, act: Callable[[], Any]) -> None:
        try:
            self._result = act()
        except BaseException as error:
            self._error = error

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> Any:
        """The statement's value, once it is through."""
        self._thread.join(20)
        assert not self._thread.is_alive(), "still waiting"
        if self._error is not None:
            raise self._error
        return self._result


def start_and_block(watcher: Session, session: Session, act: Callable[[], Any]) -> Waiting:
    """Run `act` on `session` in a thread and return when that session waits for a lock."""
    waiting = Waiting(act)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if watcher.value("SELECT cardinality(pg_blocking_pids(%s)) > 0", session.pid):
            return waiting
        time.sleep(0.002)
    raise AssertionError("the statement did not wait")
