"""Queues, dialogs and groups in plain Python: what the engine must do, without how.

Everything is as after COMMIT, one session at a time. Locks are left out; they
have tests of their own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

END, ERROR, TIMER = "EndDialog", "Error", "DialogTimer"
_TURN = {TIMER: 0, ERROR: 1}
_ROLLBACKS = 5

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
class Queue:
    """`fails`: transactions that have received and rolled back, one after another."""

    name: str
    enabled: bool = True
    retains: bool = False
    handles_poison: bool = True
    fails: int = 0


@dataclass(eq=False)
class Service:
    """A service of one of the T-SQL databases."""

    name: str
    queue: Queue
    database: str


@dataclass(eq=False)
class Endpoint:
    """One side of a dialog."""

    name: int
    is_initiator: bool
    service: Service
    group: int
    priority: int
    far: "Endpoint | None" = None
    target: Service | None = None
    sent: int = 0
    ended: bool = False
    gone: bool = False
    outcome: Literal["", "DI", "ER"] = ""
    inbox: list[Message] = field(default_factory=list)
    waiting: list[tuple[str, str | None, int]] = field(default_factory=list)
    retained: list[tuple[int, int]] = field(default_factory=list)
    """Number and status, in the own queue."""

    @property
    def queue(self) -> Queue:
        """Where its messages arrive."""
        return self.service.queue

    @property
    def is_open(self) -> bool:
        """Whether its own END is still to come."""
        return not self.ended and not self.gone

    def state(self) -> str | None:
        """As sys.conversation_endpoints shows it; None for no row."""
        if self.gone:
            return None
        if self.ended:
            return "DO" if self.waiting else ("CD" if not self.is_initiator else None)
        return self.outcome or ("SO" if self.is_initiator and self.sent == 0 else "CO")

    def in_turn(self) -> list[Message]:
        """What it has, as RECEIVE returns it: a DialogTimer overtakes, then an Error."""
        return sorted(self.inbox, key=lambda message: _TURN.get(message.type, 2))

    def forget_messages(self) -> None:
        """Nobody will receive them, nor look at what was kept."""
        self.inbox.clear()
        self.retained.clear()


class Model:
    """All endpoints, and the statements that change them. A statement returns what it shows, or a Refusal."""

    def __init__(self, services: Iterable[tuple[str, str, str]]) -> None:
        """Services as name, queue and database."""
        self.queues: dict[str, Queue] = {}
        self.services: dict[str, Service] = {}
        for name, queue, database in services:
            kept = self.queues.setdefault(queue, Queue(queue))
            self.services[name] = Service(name, kept, database)
        self.endpoints: list[Endpoint] = []
        self.timers: list[Endpoint] = []
        """Sides whose timer has run out while their queue was off, in that order."""
        self.levels: dict[tuple[str, str | None, str | None], int] = {}
        """Of the contract, by database, local and remote service; None is ANY."""
        self._orders, self._groups, self._names = count(), count(), count()

    def level(self, local: Service, remote: str) -> int:
        """Of a new side: the local service counts more than the remote one."""
        for match in ((local.name, remote), (local.name, None), (None, remote), (None, None)):
            if (local.database, *match) in self.levels:
                return self.levels[local.database, *match]
        return 5

    def members(self, group: int) -> list[Endpoint]:
        """Its open sides."""
        return [e for e in self.endpoints if e.group == group and e.is_open]

    def begin(
        self,
        service: str,
        target: str,
        related: Endpoint | None = None,
        group: int | None = None,
    ) -> Endpoint | Refusal:
        """BEGIN DIALOG, in the group of `related` or in `group` if given."""
        near = self.services[service]
        if related is not None:
            if not related.is_open:
                return 8426
            if related.service is not near:
                return 9610
            group = related.group
        elif group is not None:
            members = self.members(group)
            if members and all(e.service is not near for e in members):
                return 9610
        else:
            group = next(self._groups)
        endpoint = Endpoint(
            next(self._names),
            True,
            near,
            group,
            self.level(near, target),
            target=self.services[target],
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

    def first(self, queue: str) -> Endpoint | None:
        """Whose group RECEIVE takes, and GET CONVERSATION GROUP returns: of the highest, oldest message."""
        holders = [e for e in self.endpoints if e.queue.name == queue and e.inbox]
        return min(holders, key=lambda e: (-e.priority, e.inbox[0].order), default=None)

    def _of_group(self, queue: str, group: int) -> list[tuple[Endpoint, Message]]:
        """What it has, conversation by conversation."""
        holders = [e for e in self.endpoints if e.queue.name == queue and e.group == group and e.inbox]
        holders.sort(key=lambda e: (-e.priority, e.inbox[0].order))
        return [(e, m) for e in holders for m in e.in_turn()]

    def wanted(self, queue: str, top: int | None) -> list[tuple[Endpoint, Message]] | Refusal:
        """What RECEIVE without WHERE returns."""
        if not self.queues[queue].enabled:
            return 9617
        first = self.first(queue)
        return [] if first is None else self._of_group(queue, first.group)[:top]

    def receive(self, queue: str, top: int | None) -> list[tuple[Endpoint, Message]] | Refusal:
        """RECEIVE without WHERE."""
        return self._take(queue, self.wanted(queue, top))

    def _take(
        self, queue: str, taken: list[tuple[Endpoint, Message]] | Refusal
    ) -> list[tuple[Endpoint, Message]] | Refusal:
        if not isinstance(taken, int):
            for endpoint, message in taken:
                endpoint.inbox.remove(message)
                if endpoint.queue.retains:
                    endpoint.retained.append((message.number, 0))
            if taken:
                self.queues[queue].fails = 0
        return taken

    def receive_from(
        self, queue: str, endpoint: Endpoint, top: int | None
    ) -> list[tuple[Endpoint, Message]] | Refusal:
        """RECEIVE WHERE conversation_handle =."""
        if not self.queues[queue].enabled:
            return 9617
        if not endpoint.is_open or endpoint.queue.name != queue:
            return 8426
        return self._take(queue, [(endpoint, message) for message in endpoint.in_turn()][:top])

    def receive_group(
        self, queue: str, group: int, top: int | None
    ) -> list[tuple[Endpoint, Message]] | Refusal:
        """RECEIVE WHERE conversation_group_id =."""
        if not self.queues[queue].enabled:
            return 9617
        if all(e.queue.name != queue for e in self.members(group)):
            return 8436
        return self._take(queue, self._of_group(queue, group)[:top])

    def roll_back(self, queue: str, top: int | None) -> None:
        """A transaction that receives and rolls back; the fifth in a row stops the queue."""
        of = self.queues[queue]
        if of.handles_poison and self.wanted(queue, top):
            of.fails += 1
            if of.fails == _ROLLBACKS:
                of.enabled, of.fails = False, 0

    def end(self, endpoint: Endpoint, with_error: bool = False) -> Refusal | None:
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
        self._forget_timer(endpoint)
        if endpoint.far is not None:
            # Nobody wants what the far side still has.
            self._deliver_waiting(endpoint.far)
        return None

    def clean_up(self, endpoint: Endpoint) -> Refusal | None:
        """END CONVERSATION WITH CLEANUP."""
        if endpoint.state() is None:
            return 8426
        endpoint.gone = True
        endpoint.forget_messages()
        endpoint.waiting.clear()
        self._forget_timer(endpoint)
        return None

    def move(self, endpoint: Endpoint, group: int) -> Refusal | None:
        """MOVE CONVERSATION into a group."""
        state = endpoint.state()
        if state is None:
            return 8426
        if state in ("CD", "DO"):
            return 8438
        if all(e.service is not endpoint.service for e in self.members(group)):
            return 8439
        endpoint.group = group
        return None

    def run_out(self, endpoint: Endpoint) -> Refusal | None:
        """BEGIN CONVERSATION TIMER, whose time is over at once."""
        state = endpoint.state()
        if state is None:
            return 8426
        if state in ("CD", "DO", "ER"):
            return 8458
        self._forget_timer(endpoint)
        self.timers.append(endpoint)
        self._deliver_timers()
        return None

    def _forget_timer(self, endpoint: Endpoint) -> None:
        if endpoint in self.timers:
            self.timers.remove(endpoint)

    def _deliver_timers(self) -> None:
        for endpoint in [e for e in self.timers if e.queue.enabled]:
            self.timers.remove(endpoint)
            endpoint.inbox.append(Message(TIMER, None, -1, next(self._orders)))

    def set_status(self, queue: str, enabled: bool) -> None:
        """ALTER QUEUE WITH STATUS: what waited is delivered when the queue comes on."""
        self.queues[queue].enabled = enabled
        if enabled:
            self.queues[queue].fails = 0
            for endpoint in sorted(self.endpoints, key=lambda e: e.name):
                to = endpoint.far.service if endpoint.far else endpoint.target
                if endpoint.waiting and to is not None and to.queue is self.queues[queue]:
                    self._deliver_waiting(endpoint)
            self._deliver_timers()

    def handle_poison(self, queue: str, handles: bool) -> None:
        """ALTER QUEUE WITH POISON_MESSAGE_HANDLING: counts anew from when it comes on."""
        of = self.queues[queue]
        if handles and not of.handles_poison:
            of.fails = 0
        of.handles_poison = handles

    def _deliver_or_keep(self, sender: Endpoint, kind: str, body: str | None) -> None:
        sender.waiting.append((kind, body, sender.sent))
        sender.sent += 1
        self._deliver_waiting(sender)

    def _deliver_waiting(self, sender: Endpoint) -> None:
        while sender.waiting:
            kind, body, number = sender.waiting[0]
            if sender.far is None:
                assert sender.target is not None
                if not sender.target.queue.enabled:
                    return
                far = Endpoint(
                    next(self._names),
                    False,
                    sender.target,
                    next(self._groups),
                    self.level(sender.target, sender.service.name),
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
