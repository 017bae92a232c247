"""Which names CREATE EVENT NOTIFICATION takes for events: errors 1084 and 1098.

An event's name begins with what happens (CREATE_TABLE, AUDIT_LOGIN). A name that begins as none does is no
event; of the others SQL Server has more with every version, and one that never occurs here is stored.
"""

from __future__ import annotations

from ...grammar.problems import Problems
from .. import nodes

__all__ = ["check_events"]

_OF_DEFINITIONS = """
ADD ALTER BIND CREATE DDL DENY DISABLE DROP ENABLE GRANT LOGON RENAME REVOKE UNBIND UPDATE
"""
_OF_TRACES = """
ASSEMBLY ATTENTION AUDIT AUTO BITMAP BLOCKED BROKER CPU CURSOR CURSORCLOSE CURSOREXECUTE
CURSORIMPLICITCONVERSION CURSOROPEN CURSORPREPARE CURSORRECOMPILE CURSORUNPREPARE DATA DATABASE
DEADLOCK DEGREE DEPRECATION DTCTRANSACTION ERRORLOG EVENTLOG EXCEPTION EXCHANGE EXEC EXECUTION
EXISTING EXISTINGCONNECTION FT FULLTEXT HASH LOCK LOG MISSING MOUNT OBJECT OLEDB PERFORMANCE PLAN
PRECONNECT PREPARE PROGRESS QN QUERY QUEUE RPC SCAN SERVER SESSION SHOWPLAN SORT SP SQL
SQLTRANSACTION STMT SUBPLAN TM TRACE TRANSACTION TRANSACTIONLOG TRC UNPREPARE USER USERCONFIGURABLE
XQUERY
"""
_FIRST_WORDS = frozenset((_OF_DEFINITIONS + _OF_TRACES).split())


def check_events(statement: nodes.CreateEventNotification, problems: Problems) -> None:
    """Report the events that are none, and those that occur on queues only."""
    on_queue = statement.scope.queue is not None
    for event in statement.events:
        name = event.text.upper()
        if name.split("_")[0] not in _FIRST_WORDS:
            problems.add(f"'{event.text}' is an invalid event type.", event.span, number=1084)
        elif name == "QUEUE_ACTIVATION" and not on_queue:
            problems.add(
                "The specified event type(s) is/are not valid on the specified target object.",
                event.span,
                hint="QUEUE_ACTIVATION is an event of a queue: ON QUEUE name",
                number=1098,
            )
