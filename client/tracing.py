"""Traces with OpenTelemetry: a message carries the context of its SEND, and its receiver continues the trace.

Needs ``pip install 'pg-service-broker[tracing]'``. Other sessions than those of `traced` do nothing of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Link, Span, SpanKind, Tracer

from .messages import DEFAULT, Message
from .session import Session
from .values import Body

_SYSTEM = "pgsb"
_CONVERSATION = "messaging.message.conversation_id"


class TracedSession(Session):
    """A session whose sends and receives are spans, and whose messages carry their trace."""

    def __init__(self, session: Session, tracer: Tracer | None = None) -> None:
        super().__init__(session.sql)
        self._tracer = tracer or trace.get_tracer("pgsb.client")

    def send(self, conversation: UUID, message_type: str = DEFAULT, body: Body | None = None) -> None:
        """See `Session.send`: a span of kind PRODUCER, whose context goes with the message."""
        with self._sending(message_type, conversation) as sent:
            super().send(conversation, message_type, body)
            sent(conversation)

    def send_new(
        self,
        from_service: str,
        to_service: str,
        contract: str = DEFAULT,
        message_type: str = DEFAULT,
        body: str | bytes | bytearray | memoryview = b"",
    ) -> UUID:
        """See `Session.send_new`: a span as that of `send`."""
        with self._sending(message_type) as sent:
            conversation = super().send_new(from_service, to_service, contract, message_type, body)
            sent(conversation)
        return conversation

    @contextmanager
    def _sending(
        self, message_type: str, conversation: UUID | None = None
    ) -> Iterator[Callable[[UUID], None]]:
        """The span of a send; the block hands over the conversation on which it has sent."""
        attributes: dict[str, Any] = {
            "messaging.system": _SYSTEM,
            "messaging.operation.type": "send",
            "pgsb.message_type": message_type,
        }
        if conversation is not None:
            attributes[_CONVERSATION] = str(conversation)
        with self._tracer.start_as_current_span(
            f"send {message_type}", kind=SpanKind.PRODUCER, attributes=attributes
        ) as span:
            carrier: dict[str, str] = {}
            propagate.inject(carrier)

            def sent(conversation: UUID) -> None:
                span.set_attribute(_CONVERSATION, str(conversation))
                if "traceparent" in carrier:
                    self._call(
                        "SELECT ssb.trace_message(%s, %s, %s)",
                        conversation,
                        carrier["traceparent"],
                        carrier.get("tracestate") or None,
                    )

            # Message and context together, or neither.
            with self.sql.transaction():
                yield sent

    @contextmanager
    def processing(self, message: Message) -> Iterator[Span]:
        """The span, of kind CONSUMER, in which a received message is processed: a child of its SEND's.

        In the transaction that has received it. What is sent inside continues the trace.
        """
        row = self._row(
            "SELECT traceparent, tracestate FROM ssb.message_traces(%s, %s)",
            message.conversation,
            [message.queuing_order],
        )
        carrier = {} if row is None else {"traceparent": row[0], **({"tracestate": row[1]} if row[1] else {})}
        parent = propagate.extract(carrier) if carrier else context.get_current()
        attributes: dict[str, Any] = {
            "messaging.system": _SYSTEM,
            "messaging.operation.type": "process",
            _CONVERSATION: str(message.conversation),
            "pgsb.service": message.service,
            "pgsb.message_type": message.type,
            "pgsb.message_sequence_number": message.sequence_number,
            "pgsb.waited_seconds": _waited(message),
        }
        # The run of the program, if that is a span too, is linked: a message's trace is its sender's.
        current = trace.get_current_span().get_span_context()
        links = [Link(current)] if current.is_valid and carrier else []
        with self._tracer.start_as_current_span(
            f"process {message.type}",
            context=parent,
            kind=SpanKind.CONSUMER,
            attributes=attributes,
            links=links,
        ) as span:
            yield span


def traced(session: Session, tracer: Tracer | None = None) -> TracedSession:
    """The same session, traced; ``tracer`` is the application's, else the global one."""
    return TracedSession(session, tracer)


def _waited(message: Message) -> float:
    return max(0.0, (datetime.now(UTC).replace(tzinfo=None) - message.enqueued_at).total_seconds())
