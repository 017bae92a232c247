"""What a RECEIVE returns, and how the broker's errors look."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from xml.etree import ElementTree

import psycopg

from ..server.results import error_of

_SYSTEM = "http://schemas.microsoft.com/SQL/ServiceBroker/"
END_DIALOG = _SYSTEM + "EndDialog"
"""Type of the message that says: the far side has ended the conversation."""
ERROR = _SYSTEM + "Error"
"""Type of the message that says: the far side, or the broker, has ended it with an error."""
DIALOG_TIMER = _SYSTEM + "DialogTimer"
"""Type of the message that a conversation timer sends to its own side."""
DEFAULT = "DEFAULT"


class BrokerError(Exception):
    """An error of a statement, as SQL Server numbers it: 8426 is an unknown conversation handle."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(f"Msg {number}: {message}")
        self.number = number
        self.message = message

    @classmethod
    def of(cls, error: psycopg.Error) -> "BrokerError":
        """From the server's error; ``number`` is 50000 for PostgreSQL's own errors."""
        event = error_of(error)
        return cls(event.number, event.message)


@dataclass(frozen=True)
class Message:
    """One received message: the queue's documented columns."""

    conversation: UUID
    conversation_group: UUID
    type: str
    body: bytes | None
    service: str
    contract: str
    sequence_number: int
    queuing_order: int
    priority: int
    validation: str
    enqueued_at: datetime

    @property
    def text(self) -> str:
        """The body as text; empty without a body. Raises UnicodeDecodeError for bytes that are no UTF-8."""
        return (self.body or b"").decode("utf-8")

    @property
    def is_end(self) -> bool:
        """The far side has ended the conversation, regularly or with an error: end it here too."""
        return self.type in (END_DIALOG, ERROR)

    @property
    def error(self) -> tuple[int, str] | None:
        """Code and description of an Error message; None for every other."""
        if self.type != ERROR or self.body is None:
            return None
        root = ElementTree.fromstring(self.body)
        values = {child.tag.rpartition("}")[2]: child.text or "" for child in root}
        return int(values.get("Code", "0")), values.get("Description", "")
