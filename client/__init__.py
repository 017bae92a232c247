"""The broker from Python: dialogs, messages and the application's own SQL in one transaction.

::

    import pgsb.client

    with pgsb.client.connect("postgresql://…") as session:
        with session.transaction():
            session.sql.execute("INSERT INTO dbo.orders …")
            dialog = session.begin_dialog("//Shop/Customer", "//Shop/Counter", "//Shop/Ordering")
            session.send(dialog, "//Shop/Order", '<order product="tea"/>')

A service program is a function that the activation daemon may run (docs/activation.md)::

    @pgsb.client.service_program
    def answer(session: Session, message: Message) -> None:
        session.reply(message, "//Shop/Receipt", "thank you")

An ``async def`` is one, too; it gets an AsyncSession.
"""

from .async_session import AsyncSession, connect_async
from .errors import (
    BrokerError,
    ContractViolation,
    ConversationNotFound,
    NotFound,
    PermissionDenied,
    QueueDisabled,
    WrongState,
)
from .messages import DIALOG_TIMER, END_DIALOG, ERROR, Message
from .programs import AsyncServiceProgram, ServiceProgram, service_program
from .session import Session, connect

__all__ = [
    "DIALOG_TIMER",
    "END_DIALOG",
    "ERROR",
    "AsyncServiceProgram",
    "AsyncSession",
    "BrokerError",
    "ContractViolation",
    "ConversationNotFound",
    "Message",
    "NotFound",
    "PermissionDenied",
    "QueueDisabled",
    "ServiceProgram",
    "Session",
    "WrongState",
    "connect",
    "connect_async",
    "service_program",
]
