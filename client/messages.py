"""What a RECEIVE returns."""

import codecs
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from xml.etree import ElementTree

_SYSTEM = "http://schemas.microsoft.com/SQL/ServiceBroker/"
END_DIALOG = _SYSTEM + "EndDialog"
"""Type of the message that says: the far side has ended the conversation."""
ERROR = _SYSTEM + "Error"
"""Type of the message that says: the far side, or the broker, has ended it with an error."""
DIALOG_TIMER = _SYSTEM + "DialogTimer"
"""Type of the message that a conversation timer sends to its own side."""
DEFAULT = "DEFAULT"


@dataclass(frozen=True)
class Message:
    """One received message: the queue's documented columns."""

    conversation: UUID
    """Handle of this side of the conversation; a reply goes to it."""
    conversation_group: UUID
    """Group of the conversation, whose lock the transaction holds."""
    type: str
    """Name of the message type; `END_DIALOG`, `ERROR` and `DIALOG_TIMER` are the broker's own."""
    body: bytes | None
    """As it was sent; None for a message without one."""
    service: str
    """Service of this side: whom the message was sent to."""
    contract: str
    """Contract of the conversation."""
    sequence_number: int
    """Place among the messages that the far side has sent on this conversation, from 0."""
    queuing_order: int
    """Order in which the queue has got it."""
    priority: int
    """1 to 10, by the broker priorities when it came."""
    validation: str
    """The message type's: ``N`` none, ``E`` empty, ``X`` XML, valid or well-formed."""
    enqueued_at: datetime
    """When it came to the queue: UTC, without a time zone."""
    encoding: str = "utf8"
    """By which `text` reads the body, the instance's: ``utf8`` or ``utf16`` (`pgsb install --nvarchar`)."""

    @property
    def text(self) -> str:
        """The body as text, without a byte order mark; empty without a body.

        A mark decides, else the instance's encoding. Raises UnicodeDecodeError for bytes that are not in it.
        """
        body = self.body or b""
        if body.startswith(codecs.BOM_UTF16_LE) or (
            self.encoding == "utf16" and not body.startswith(codecs.BOM_UTF8)
        ):
            return body.decode("utf-16-le").removeprefix("\ufeff")
        return body.decode("utf-8-sig")

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
