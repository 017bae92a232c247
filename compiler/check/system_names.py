"""Names that the system has: of events (1084, 1098), message types, contracts and services.

Pages about Service Broker spell the latter with https in places. A program that compares a type with such
a name never meets EndDialog, and leaves its conversations open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...grammar.problems import Problems, did_you_mean
from ...grammar.source import Source, Span
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.event_types import DDL_EVENTS, NEWER_EVENTS, OTHER_EVENTS, SERVER_EVENTS

__all__ = ["SYSTEM_NAMES", "check_events", "check_system_names", "check_trigger_events"]

_WRONG_SCOPE = "The specified event type(s) is/are not valid on the specified target object."
_OF_TRIGGERS = DDL_EVENTS | NEWER_EVENTS
_EVENTS = _OF_TRIGGERS | OTHER_EVENTS

_BROKER, _NOTICES = (
    "http://schemas.microsoft.com/SQL/ServiceBroker/",
    "http://schemas.microsoft.com/SQL/Notifications/",
)
SYSTEM_NAMES = tuple(
    [
        _BROKER + name
        for name in (
            *("EndDialog", "Error", "DialogTimer", "ServiceBroker", "ServiceEcho", "ServiceEcho/Echo"),
            *("BrokerConfigurationNotice", "BrokerConfigurationNotice/MissingRoute"),
            *(
                "BrokerConfigurationNotice/FailedRoute",
                "BrokerConfigurationNotice/MissingRemoteServiceBinding",
            ),
            "BrokerConfigurationNotice/FailedRemoteServiceBinding",
            *("ServiceDiagnostic", "ServiceDiagnostic/Query", "ServiceDiagnostic/Status"),
            "ServiceDiagnostic/Description",
        )
    ]
    + [
        _NOTICES + name
        for name in (
            *("EventNotification", "EventNotificationService", "PostEventNotification"),
            *("QueryNotification", "QueryNotificationService", "PostQueryNotification"),
        )
    ]
)
"""Message types, contracts and services that every database has, DEFAULT apart (runtime_sql's
system_definitions.sql and sys.services; tests/architecture/test_sys_views.py compares)."""
_NAMES = {name.lower().removeprefix("http"): name for name in SYSTEM_NAMES}
_MISSPELT = re.compile(r"https(://schemas\.microsoft\.com/sql/(?:servicebroker|notifications)/[a-z/]+)", re.I)
_KINDS = (TokenKind.STRING, TokenKind.BRACKETED, TokenKind.QUOTED)


def check_system_names(source: Source, tokens: Iterable[Token], problems: Problems) -> None:
    """Warn of each such name in a text, a namespace's in XQuery too, or in brackets."""
    for token in tokens:
        if token.kind not in _KINDS:
            continue
        for found in _MISSPELT.finditer(token.text):
            name = _NAMES.get(found[1].lower().rstrip("/"))
            if name is None:
                continue
            start = token.start + found.start()
            problems.add(
                f"'{found[0]}' is no name of the system's: those begin with http, not https",
                Span(source, start, start + len(found[0])),
                hint=name,
                severity="warning",
            )


_OF_QUEUES = ("QUEUE_ACTIVATION", "BROKER_QUEUE_DISABLED")
_TWICE = '"{}" has already been specified as an event type.'


def check_events(statement: nodes.CreateEventNotification, problems: Problems) -> None:
    """Report the events that are none, are given twice, or do not occur where they are asked for."""
    on_queue = statement.scope.queue is not None
    names = [event.text.upper() for event in statement.events]
    for place, event in enumerate(statement.events):
        name = names[place]
        if name in names[:place]:
            problems.add(_TWICE.format(event.text), event.span, number=1095)
        elif name not in _EVENTS:
            hint = did_you_mean(name, _EVENTS)
            problems.add(f"'{event.text}' is an invalid event type.", event.span, hint=hint, number=1084)
        elif name == "QUEUE_ACTIVATION" and not on_queue:
            problems.add(
                _WRONG_SCOPE,
                event.span,
                hint="QUEUE_ACTIVATION is an event of a queue: ON QUEUE name",
                number=1098,
            )
        elif on_queue and name not in _OF_QUEUES:
            hint = "events of a queue are QUEUE_ACTIVATION and BROKER_QUEUE_DISABLED"
            problems.add(_WRONG_SCOPE, event.span, hint=hint, number=1098)
        elif name in SERVER_EVENTS and statement.scope.kind == "DATABASE":
            problems.add(
                _WRONG_SCOPE, event.span, hint="it is an event of the server: ON SERVER", number=1098
            )


def check_trigger_events(statement: nodes.CreateTrigger, problems: Problems) -> None:
    """Report what is no event of a definition, of a trigger ON DATABASE or ON ALL SERVER."""
    if statement.target is None:
        for event in statement.events:
            if event.upper() not in _OF_TRIGGERS:
                hint = did_you_mean(event, _OF_TRIGGERS)
                problems.add(
                    f"'{event}' is an invalid event type.", statement.name.span, hint=hint, number=1084
                )
            elif event.upper() in SERVER_EVENTS and statement.scope == "DATABASE":
                hint = f"{event} is an event of the server: ON ALL SERVER"
                problems.add(_WRONG_SCOPE, statement.name.span, hint=hint, number=1098)
