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
"""

from .async_session import AsyncSession, connect_async
from .messages import DIALOG_TIMER, END_DIALOG, ERROR, BrokerError, Message
from .programs import ServiceProgram, service_program
from .session import Session, connect

__all__ = [
    "DIALOG_TIMER",
    "END_DIALOG",
    "ERROR",
    "AsyncSession",
    "BrokerError",
    "Message",
    "ServiceProgram",
    "Session",
    "connect",
    "connect_async",
    "service_program",
]
