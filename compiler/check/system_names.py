"""Names that the system has: events (errors 1084 and 1098), permissions, message types, contracts, services.

Pages about Service Broker spell those of types with https in places. A program that compares a type with such
a name never meets EndDialog, and leaves its conversations open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...grammar.problems import Problems
from ...grammar.source import Source, Span
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.event_types import DDL_EVENTS, NEWER_EVENTS, OTHER_EVENTS, SERVER_EVENTS

__all__ = ["SYSTEM_NAMES", "check_events", "check_system_names", "check_trigger_events", "wrong_word"]

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


def check_events(statement: nodes.CreateEventNotification, problems: Problems) -> None:
    """Report the events that are none, and those that occur on queues only."""
    on_queue = statement.scope.queue is not None
    for event in statement.events:
        name = event.text.upper()
        if name not in _EVENTS:
            problems.add(f"'{event.text}' is an invalid event type.", event.span, number=1084)
        elif name == "QUEUE_ACTIVATION" and not on_queue:
            problems.add(
                _WRONG_SCOPE,
                event.span,
                hint="QUEUE_ACTIVATION is an event of a queue: ON QUEUE name",
                number=1098,
            )
        elif name in SERVER_EVENTS and statement.scope.kind == "DATABASE":
            problems.add(
                _WRONG_SCOPE, event.span, hint="it is an event of the server: ON SERVER", number=1098
            )


def check_trigger_events(statement: nodes.CreateTrigger, problems: Problems) -> None:
    """Report what is no event of a definition, of a trigger ON DATABASE or ON ALL SERVER."""
    if statement.target is None:
        for event in statement.events:
            if event.upper() not in _OF_TRIGGERS:
                problems.add(f"'{event}' is an invalid event type.", statement.name.span, number=1084)
            elif event.upper() in SERVER_EVENTS and statement.scope == "DATABASE":
                hint = f"{event} is an event of the server: ON ALL SERVER"
                problems.add(_WRONG_SCOPE, statement.name.span, hint=hint, number=1098)


# ---------------------------------------------------------------- permissions of GRANT, DENY and REVOKE

_CREATABLE = frozenset(
    (
        "AGGREGATE",
        "ANY DATABASE",
        "ASSEMBLY",
        "ASYMMETRIC KEY",
        "AVAILABILITY GROUP",
        "CERTIFICATE",
        "CONTRACT",
        "DATABASE",
        "DATABASE DDL EVENT NOTIFICATION",
        "DDL EVENT NOTIFICATION",
        "DEFAULT",
        "ENDPOINT",
        "EXTERNAL LANGUAGE",
        "EXTERNAL LIBRARY",
        "FULLTEXT CATALOG",
        "FUNCTION",
        "LOGIN",
        "MESSAGE TYPE",
        "PROC",
        "PROCEDURE",
        "QUEUE",
        "REMOTE SERVICE BINDING",
        "ROLE",
        "ROUTE",
        "RULE",
        "SCHEMA",
        "SEQUENCE",
        "SERVER ROLE",
        "SERVICE",
        "SYMMETRIC KEY",
        "SYNONYM",
        "TABLE",
        "TRACE EVENT NOTIFICATION",
        "TYPE",
        "USER",
        "VIEW",
        "XML SCHEMA COLLECTION",
    )
)
"""What stands behind CREATE in a permission."""

_PERMISSION_WORDS = """
ADMINISTER: BULK OPERATIONS, DATABASE BULK OPERATIONS
ALL: , PRIVILEGES
ALTER: , LEDGER, LEDGER CONFIGURATION, RESOURCES, SERVER STATE, SETTINGS, TRACE
ALTER ANY: APPLICATION ROLE, ASSEMBLY, ASYMMETRIC KEY, AVAILABILITY GROUP, CERTIFICATE, COLUMN ENCRYPTION KEY
ALTER ANY: COLUMN MASTER KEY, COLUMN MASTER KEY DEFINITION, CONNECTION, CONTRACT, CREDENTIAL, DATABASE
ALTER ANY: DATABASE AUDIT, DATABASE DDL TRIGGER, DATABASE EVENT NOTIFICATION, DATABASE EVENT SESSION
ALTER ANY: DATABASE SCOPED CONFIGURATION, DATASPACE, ENDPOINT, EVENT NOTIFICATION, EVENT SESSION
ALTER ANY: EXTERNAL DATA SOURCE, EXTERNAL FILE FORMAT, EXTERNAL JOB, EXTERNAL LANGUAGE, EXTERNAL LIBRARY
ALTER ANY: EXTERNAL STREAM, FULLTEXT CATALOG, LINKED SERVER, LOGIN, MASK, MESSAGE TYPE, REMOTE SERVICE BINDING
ALTER ANY: ROLE, ROUTE, SCHEMA, SECURITY POLICY, SENSITIVITY CLASSIFICATION, SERVER AUDIT, SERVER ROLE
ALTER ANY: SERVICE, SYMMETRIC KEY, USER
AUTHENTICATE: , SERVER
BACKUP: DATABASE, LOG
CHECKPOINT:
CONNECT: , ANY DATABASE, REPLICATION, SQL
CONTROL: , SERVER
DELETE:
ENABLE: LEDGER
EXEC:
EXECUTE: , ANY EXTERNAL SCRIPT, EXTERNAL SCRIPT
EXTERNAL: ACCESS ASSEMBLY
IMPERSONATE: , ANY LOGIN
INSERT:
KILL: DATABASE CONNECTION
RECEIVE:
REFERENCES:
SELECT: , ALL USER SECURABLES
SEND:
SHOWPLAN:
SHUTDOWN:
SUBSCRIBE: QUERY NOTIFICATIONS
TAKE: OWNERSHIP
UNMASK:
UNSAFE: ASSEMBLY
UPDATE:
VIEW: CHANGE TRACKING, DATABASE PERFORMANCE STATE, DATABASE SECURITY STATE, DATABASE STATE, DEFINITION
VIEW: LEDGER CONTENT, PERFORMANCE DEFINITION, SECURITY DEFINITION
VIEW: SERVER PERFORMANCE STATE, SERVER SECURITY STATE, SERVER STATE
VIEW ANY: COLUMN ENCRYPTION KEY DEFINITION, COLUMN MASTER KEY DEFINITION, CRYPTOGRAPHICALLY SECURED DEFINITION
VIEW ANY: DATABASE, DEFINITION, ERROR LOG, PERFORMANCE DEFINITION, SECURITY DEFINITION
VIEW ANY: SENSITIVITY CLASSIFICATION
VIEW: CRYPTOGRAPHICALLY SECURED DEFINITION
"""
"""What may begin a permission, and what may stand behind it, nothing too: as the reference's pages of GRANT
and sys.fn_builtin_permissions have them."""


def _permissions() -> frozenset[tuple[str, ...]]:
    found = {("CREATE", *what.split()) for what in _CREATABLE}
    for line in _PERMISSION_WORDS.strip().splitlines():
        first, _, behind = line.partition(":")
        found |= {(*first.split(), *rest.split()) for rest in behind.split(",")}
    return frozenset(found)


_PERMISSIONS = _permissions()
_BEGINNINGS = frozenset(name[:length] for name in _PERMISSIONS for length in range(1, len(name) + 1))


def wrong_word(name: str) -> str | None:
    """Return the first word with which ``name`` is no permission any more; None for one."""
    words = tuple(name.split())
    if words in _PERMISSIONS:
        return None
    return next(
        (word for place, word in enumerate(words) if words[: place + 1] not in _BEGINNINGS), words[-1]
    )
