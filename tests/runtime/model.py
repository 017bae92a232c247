"""Queues, dialogs and groups in plain Python: what the engine must do, without how.

Everything is as after COMMIT, one session at a time. Locks are left out; they
have tests of their own.
"""

from dataclasses import dataclass, field
from itertools import count
from typing import Literal

END, ERROR, TIMER = "EndDialog", "Error", "DialogTimer"

Refusal = int
"""The number of the error that a statement must fail with."""


@dataclass(eq=False)
class Message:
    """A message in a queue. `order` is its place among all, `number` among its sender's."""

    type: str
    body: str | None
    number: int
    order: int


@dataclass(eq=False)
class Endpoint:
    """One side of a dialog."""

    name: int
    is_initiator: bool
    queue: "Queue"
    group: int
    priority: int
    far: "Endpoint | None" = None
    target: "Queue | None" = None
    sent: int = 0
    ended: bool = False
    gone: bool = False
    outcome: Literal["", "DI", "ER"] = ""
    inbox: list[Message] = field(default_factory=list)
    waiting: list[tuple[str, str | None, int]] = field(default_factory=list)
    retained: list[tuple[int, int]] = field(default_factory=list)
    """Number and status, in the own queue."""

    def state(self) -> str | None:
        """As sys.conversation_endpoints shows it; None for no row."""
        if self.gone:
            return None
        if self.ended:
            return "DO" if self.waiting else ("CD" if not self.is_initiator else None)
        return self.outcome or ("SO" if self.is_initiator and self.sent == 0 else "CO")

    def in_turn(self) -> list[Message]:
        """What it has, as RECEIVE returns it: an Error overtakes."""
        return sorted(self.inbox, key=lambda message: message.type != ERROR)

    def forget_messages(self) -> None:
        """Nobody will receive them, nor look at what was kept."""
        self.inbox.clear()
        self.retained.clear()


@dataclass(eq=False)
class Queue:
    """A queue with one service on it."""

    name: str
    enabled: bool = True
    retains: bool = False


class Model:
    """All endpoints, and the statements that change them. A statement returns what it shows, or a Refusal."""

    def __init__(self, queues: list[str]) -> None:
        self.queues = {name: Queue(name) for name in queues}
        self.endpoints: list[Endpoint] = []
        self.levels: dict[tuple[str | None, str | None], int] = {}
        """Of the contract, by local and remote service; None is ANY."""
        self._orders, self._groups, self._names = count(), count(), count()

    def level(self, local: str, remote: str) -> int:
        """Of a new side: the local service counts more than the remote one."""
        for match in ((local, remote), (local, None), (None, remote), (None, None)):
            if match in self.levels:
                return self.levels[match]
        return 5

    def begin(self, queue: str, target: str, related: Endpoint | None = None) -> Endpoint | Refusal:
        """BEGIN DIALOG, in the group of `related` if given."""
        if related is not None and (related.ended or related.gone):
            return 8426
        if related is not None and related.queue is not self.queues[queue]:
            return 8414
        group = next(self._groups) if related is None else related.group
        endpoint = Endpoint(
            next(self._names),
            True,
            self.queues[queue],
            group,
            self.level(queue, target),
            target=self.queues[target],
        )
        self.endpoints.append(endpoint)
        return endpoint

    def send(self, endpoint: Endpoint, body: str) -> Refusal | None:
        """SEND of the contract's one type, which both sides may send."""
        if endpoint.state() is None:
            return 8426
        if endpoint.state() not in ("SO", "CO"):
            return 8429
        if endpoint.queue.retains and not endpoint.queue.enabled:
            return 9618
        if endpoint.queue.retains:
            endpoint.retained.append((endpoint.sent, 3))
        self._deliver_or_keep(endpoint, "m", body)
        return None

    def receive(self, queue: str, top: int | None) -> list[tuple[Endpoint, Message]] | Refusal:
        """RECEIVE without WHERE: the group of the highest, oldest message, conversation by conversation."""
        if not self.queues[queue].enabled:
            return 9617
        holders = [e for e in self.endpoints if e.queue.name == queue and e.inbox]
        if not holders:
            return []
        holders.sort(key=lambda e: (-e.priority, e.inbox[0].order))
        of_group = [e for e in holders if e.group == holders[0].group]
        taken = [(e, m) for e in of_group for m in e.in_turn()][:top]
        self._take(taken)
        return taken

    @staticmethod
    def _take(taken: list[tuple[Endpoint, Message]]) -> None:
        for endpoint, message in taken:
            endpoint.inbox.remove(message)
            if endpoint.queue.retains:
                endpoint.retained.append((message.number, 0))

    def receive_from(self, queue: str, endpoint: Endpoint) -> list[tuple[Endpoint, Message]] | Refusal:
        """RECEIVE WHERE conversation_handle =."""
        if not self.queues[queue].enabled:
            return 9617
        if endpoint.ended or endpoint.gone or endpoint.queue.name != queue:
            return 8426
        taken = [(endpoint, message) for message in endpoint.in_turn()]
        self._take(taken)
        return taken

    def end(self, endpoint: Endpoint, with_error: bool) -> Refusal | None:
        """END CONVERSATION, or WITH ERROR."""
        state = endpoint.state()
        if state is None:
            return 8426
        if state in ("CD", "DO"):
            return 8427
        if state == "CO":
            if with_error:
                endpoint.waiting.clear()
            if not with_error or endpoint.far is not None:
                self._deliver_or_keep(endpoint, ERROR if with_error else END, None)
        endpoint.ended = True
        endpoint.forget_messages()
        self._forget(endpoint)
        return None

    def clean_up(self, endpoint: Endpoint) -> Refusal | None:
        """END CONVERSATION WITH CLEANUP."""
        if endpoint.state() is None:
            return 8426
        endpoint.gone = True
        endpoint.forget_messages()
        endpoint.waiting.clear()
        return None

    def move(self, endpoint: Endpoint, to: Endpoint) -> Refusal | None:
        """MOVE CONVERSATION into the group of `to`."""
        state = endpoint.state()
        if state is None:
            return 8426
        if state in ("CD", "DO"):
            return 8438
        open_there = [e for e in self.endpoints if e.group == to.group and not e.ended and not e.gone]
        if not open_there or open_there[0].queue is not endpoint.queue:
            return 8439
        endpoint.group = to.group
        return None

    def set_status(self, queue: str, enabled: bool) -> None:
        """ALTER QUEUE WITH STATUS: what waited is delivered when the queue comes on."""
        self.queues[queue].enabled = enabled
        if enabled:
            for endpoint in self.endpoints:
                if (
                    endpoint.waiting
                    and (endpoint.far.queue if endpoint.far else endpoint.target) is self.queues[queue]
                ):
                    self._deliver_waiting(endpoint)

    def _deliver_or_keep(self, sender: Endpoint, kind: str, body: str | None) -> None:
        sender.waiting.append((kind, body, sender.sent))
        sender.sent += 1
        self._deliver_waiting(sender)

    def _deliver_waiting(self, sender: Endpoint) -> None:
        while sender.waiting:
            kind, body, number = sender.waiting[0]
            if sender.far is None:
                assert sender.target is not None
                if not sender.target.enabled:
                    return
                far = Endpoint(
                    next(self._names),
                    False,
                    sender.target,
                    next(self._groups),
                    self.level(sender.target.name, sender.queue.name),
                    far=sender,
                )
                self.endpoints.append(far)
                sender.far = far
            far = sender.far
            if far.gone:
                return
            if not far.ended:
                if not far.queue.enabled:
                    return
                far.inbox.append(Message(kind, body, number, next(self._orders)))
                if kind in (END, ERROR):
                    far.outcome = "ER" if kind == ERROR else "DI"
            sender.waiting.pop(0)
        if sender.ended:
            self._forget(sender)

    def _forget(self, endpoint: Endpoint) -> None:
        """An initiator that has ended and told so is gone; its far side may still be told what it was."""
        if endpoint.is_initiator and endpoint.ended and not endpoint.waiting:
            endpoint.forget_messages()
