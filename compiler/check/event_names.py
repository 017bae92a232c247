"""Which names CREATE EVENT NOTIFICATION and DDL triggers take for events: errors 1084 and 1098."""

from __future__ import annotations

from ...grammar.problems import Problems
from .. import nodes
from ..catalog.event_types import DDL_EVENTS, NEWER_EVENTS, OTHER_EVENTS

__all__ = ["check_events", "check_trigger_events"]

_OF_TRIGGERS = DDL_EVENTS | NEWER_EVENTS
_ALL = _OF_TRIGGERS | OTHER_EVENTS


def check_events(statement: nodes.CreateEventNotification, problems: Problems) -> None:
    """Report the events that are none, and those that occur on queues only."""
    on_queue = statement.scope.queue is not None
    for event in statement.events:
        name = event.text.upper()
        if name not in _ALL:
            problems.add(f"'{event.text}' is an invalid event type.", event.span, number=1084)
        elif name == "QUEUE_ACTIVATION" and not on_queue:
            problems.add(
                "The specified event type(s) is/are not valid on the specified target object.",
                event.span,
                hint="QUEUE_ACTIVATION is an event of a queue: ON QUEUE name",
                number=1098,
            )


def check_trigger_events(statement: nodes.CreateTrigger, problems: Problems) -> None:
    """Report what is no event of a definition, of a trigger ON DATABASE or ON ALL SERVER."""
    if statement.target is None:
        for event in statement.events:
            if event.upper() not in _OF_TRIGGERS:
                problems.add(f"'{event}' is an invalid event type.", statement.name.span, number=1084)
