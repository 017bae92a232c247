"""What callers give, as it travels: a slip is told by the parameter's name before anything is sent.

PostgreSQL would answer that there is no function for arguments of such types.
"""

import math
import operator
from decimal import Decimal
from numbers import Real
from uuid import UUID

from .messages import Message

Body = bytes | bytearray | memoryview | str | None
"""What a message carries: bytes as they are, text as the instance keeps nvarchar, None for no body."""
MOST_INTEGER = 2**31 - 1
MOST_BIGINT = 2**63 - 1


def handle_of(conversation: UUID | str | Message | None) -> UUID | None:
    """A conversation's handle, or a group's. Raises TypeError, and ValueError for a text that is none."""
    if isinstance(conversation, UUID):
        return conversation
    if conversation is None:
        return None  # the server has an error for it
    if isinstance(conversation, Message):
        return conversation.conversation
    if isinstance(conversation, str):
        try:
            return UUID(conversation)
        except ValueError:
            raise ValueError(f"{conversation[:100]!r} is no conversation handle") from None
    raise TypeError(f"a conversation handle is a UUID, not {type(conversation).__name__}")


def text_of(name: str, value: str | None) -> str | None:
    """A name. Raises TypeError."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is text, not {type(value).__name__}")
    return value


def number_of(name: str, value: int | None, most: int = MOST_INTEGER) -> int | None:
    """A whole number that the server knows. Raises TypeError, and ValueError for a larger one."""
    if value is None:
        return None
    try:
        number = int(operator.index(value))
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}") from None
    if abs(number) > most:
        raise ValueError(f"{name} is {number:,}, and must be a number up to {most:,}")
    return number


def seconds_of(name: str, value: float | Decimal | None) -> float:
    """Seconds to wait, `math.inf` without end, None for none. Raises TypeError, and ValueError for nan."""
    if value is None:
        return 0.0
    if not isinstance(value, (Real, Decimal)):
        raise TypeError(f"{name} is a number of seconds, not {type(value).__name__}")
    if math.isnan(value):
        raise ValueError(f"{name}: nan is no time to wait")
    return float(value)


def interval_of(seconds: float) -> float | None:
    """The seconds of an interval, in which NULL has no end."""
    return None if seconds == math.inf else seconds


def of_one_group(related_to: UUID | None, group: UUID | None) -> tuple[UUID | None, UUID | None]:
    """With what a dialog shares its lock. Raises ValueError for both, of which T-SQL has either."""
    if related_to is not None and group is not None:
        raise ValueError("related_to and group both choose the conversation group: give one of them")
    return handle_of(related_to), handle_of(group)


def end_of(
    conversation: UUID | Message, error: int | None, description: str | None, cleanup: bool
) -> tuple[UUID | None, int | None, str | None, bool]:
    """The parameters of ssb.end_conversation. Raises ValueError for an error beside cleanup."""
    if cleanup and (error is not None or description is not None):
        raise ValueError("cleanup tells the far side nothing: it takes no error and no description")
    number = number_of("error", error)
    return handle_of(conversation), number, text_of("description", description), bool(cleanup)


def bytes_of(
    body: str | bytes | bytearray | memoryview, encoding: str | None
) -> bytes | bytearray | memoryview:
    """A body as it travels, text in the instance's ``encoding``. Raises TypeError for what is none."""
    if isinstance(body, str):
        return body.encode("utf-16-le" if encoding == "utf16" else "utf-8")
    data = body
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"a body is bytes, text or None, not {type(body).__name__}")
    if isinstance(data, memoryview) and not data.c_contiguous:
        return data.tobytes()  # every second byte of something: libpq takes bytes that stand together
    return data
