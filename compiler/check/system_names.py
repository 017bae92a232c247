"""Names of the system's message types, contracts and services that are written with https.

Pages about Service Broker spell them so in places. A program that compares a type with such a name
never meets EndDialog, and leaves its conversations open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...grammar.problems import Problems
from ...grammar.source import Source, Span
from ...grammar.tokens import Token, TokenKind

__all__ = ["SYSTEM_NAMES", "check_system_names"]

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
