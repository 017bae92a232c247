"""The broker's errors in Python: one class with the number, and subclasses for what programs handle."""

import psycopg

from ..server.results import error_of


class BrokerError(Exception):
    """An error of a statement, as SQL Server numbers it.

    ``number`` is SQL Server's (8426 is an unknown conversation handle), ``message`` its text, ``hint`` what
    to do about it, where the server says that; a traceback shows it.
    """

    hint: str | None = None

    def __init__(self, number: int, message: str) -> None:
        super().__init__(f"Msg {number}: {message}")
        self.number = number
        self.message = message

    @classmethod
    def of(cls, error: psycopg.Error) -> "BrokerError":
        """From the server's error: of the class for its number; 50000 for PostgreSQL's own errors."""
        event = error_of(error)
        said = _CLASSES.get(event.number, BrokerError)(event.number, event.message)
        if event.hint:
            said.hint = event.hint
            said.add_note(event.hint)
        return said


class NotFound(BrokerError):
    """There is nothing of that name: 208 (a queue), 911 (a database), 8423 (a service), 8425, 8428."""


class ConversationNotFound(NotFound):
    """There is no such conversation, or no longer: 8426, 8435, 8436 (a conversation group)."""


class WrongState(BrokerError):
    """The conversation has ended, here or on the far side: 8427, 8429 (SEND), 8438, 8458."""


class ContractViolation(BrokerError):
    """The contract does not have this message type from this side: 8431, 8432, 8434; 8433: no body."""


class QueueDisabled(BrokerError):
    """The queue is off: 9617 at RECEIVE, 9618 at SEND. Poison messages turn queues off, too."""


class PermissionDenied(BrokerError):
    """The role may not: 229 (RECEIVE, SEND), 262."""


_CLASSES: dict[int, type[BrokerError]] = {
    **dict.fromkeys((208, 911, 8423, 8425, 8428), NotFound),
    **dict.fromkeys((8426, 8435, 8436), ConversationNotFound),
    **dict.fromkeys((8427, 8429, 8438, 8458), WrongState),
    **dict.fromkeys((8431, 8432, 8433, 8434), ContractViolation),
    **dict.fromkeys((9617, 9618), QueueDisabled),
    **dict.fromkeys((229, 262), PermissionDenied),
}
