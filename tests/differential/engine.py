"""A small model of Service Broker: two services, each on its queue, dialogs from one to the other.

Only what a single session sees: messages of one conversation in order, the oldest
message's conversation first, transactional. SERVICE BROKER pages: SEND, RECEIVE, END
CONVERSATION, sys.conversation_endpoints.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import rules
from .rules import Doubtful, Raised

MESSAGE = "//check/message"
END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"
CONTRACT = "//check/contract"
# Service → its queue. The first one begins the dialogs.
QUEUES = {"//check/one": "q1", "//check/two": "q2"}


@dataclass(frozen=True)
class Handle:
    """A conversation handle; equal handles are equal numbers."""

    number: int


@dataclass
class Endpoint:
    """One side of a conversation."""

    queue: str
    initiator: bool
    state: str
    peer: Handle | None = None


@dataclass
class Received:
    """A message as RECEIVE gives it."""

    handle: Handle
    type: str
    body: str | None


@dataclass
class Engine:
    """Endpoints and queues."""

    endpoints: dict[Handle, Endpoint] = field(default_factory=dict)
    queues: dict[str, list[Received]] = field(default_factory=lambda: {"q1": [], "q2": []})
    handles: int = 0

    def copy(self) -> Engine:
        """A snapshot. Numbers of handles never come again, as in reality."""
        endpoints = {
            handle: Endpoint(each.queue, each.initiator, each.state, each.peer)
            for handle, each in self.endpoints.items()
        }
        return Engine(endpoints, {name: list(queue) for name, queue in self.queues.items()}, self.handles)

    def new_handle(self) -> Handle:
        self.handles += 1
        return Handle(self.handles)

    def begin(self) -> Handle:
        """BEGIN DIALOG from the first service to the second."""
        handle = self.new_handle()
        self.endpoints[handle] = Endpoint("q1", True, "SO")
        return handle

    def find(self, handle: Handle | None) -> Endpoint:
        if handle is None:
            raise Doubtful("a conversation handle that is NULL")
        found = self.endpoints.get(handle)
        if found is None:
            raise Raised(rules.no_such_conversation())
        return found

    def send(self, handle: Handle | None, body: str) -> None:
        """SEND page: only in a conversation that neither side has ended."""
        endpoint = self.find(handle)
        assert handle is not None
        if endpoint.state not in ("SO", "CO"):
            raise Raised(rules.wrong_state_for_send())
        if endpoint.peer is None:
            endpoint.peer = self.new_handle()
            self.endpoints[endpoint.peer] = Endpoint("q2", False, "CO", handle)
        endpoint.state = "CO"
        other = self.endpoints[endpoint.peer]
        self.queues[other.queue].append(Received(endpoint.peer, MESSAGE, body))

    def receive(self, queue: str, top: int | None) -> list[Received]:
        """RECEIVE page: messages of one conversation group; every dialog here is a group of its own."""
        waiting = self.queues[queue]
        if not waiting:
            return []
        group = [message for message in waiting if message.handle == waiting[0].handle][:top]
        self.queues[queue] = [message for message in waiting if not any(message is each for each in group)]
        return group

    def end(self, handle: Handle | None) -> None:
        """END CONVERSATION page: what is unread here goes; the other side gets EndDialog."""
        endpoint = self.find(handle)
        assert handle is not None
        queue = self.queues[endpoint.queue]
        self.queues[endpoint.queue] = [message for message in queue if message.handle != handle]
        if endpoint.state == "DI":
            # The other side ended first: this one is through.
            self.gone(handle)
        elif endpoint.state == "CO":
            assert endpoint.peer is not None
            other = self.endpoints[endpoint.peer]
            other.state = "DI"
            self.queues[other.queue].append(Received(endpoint.peer, END_DIALOG, None))
            endpoint.state = "DO" if endpoint.initiator else "CD"
        else:
            raise Doubtful("END CONVERSATION of a conversation without messages, or twice")

    def gone(self, handle: Handle) -> None:
        """Both sides ended. The target's endpoint stays a while as CD, the initiator's does not."""
        endpoint = self.endpoints[handle]
        if endpoint.initiator:
            del self.endpoints[handle]
        else:
            endpoint.state = "CD"
        assert endpoint.peer is not None
        other = self.endpoints.get(endpoint.peer)
        if other is not None and other.initiator:
            del self.endpoints[endpoint.peer]
