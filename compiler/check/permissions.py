"""GRANT, DENY, REVOKE: whether there is such a permission."""

from __future__ import annotations

from ...grammar.problems import Problems, did_you_mean
from .. import nodes

_SECURABLES = """
CONTRACT; MESSAGE TYPE; REMOTE SERVICE BINDING; ROUTE; SERVICE; ROLE; SCHEMA; USER; ASSEMBLY;
ASYMMETRIC KEY; CERTIFICATE; SYMMETRIC KEY; FULLTEXT CATALOG; EXTERNAL LANGUAGE; EXTERNAL LIBRARY;
LOGIN; ENDPOINT; SERVER ROLE; AVAILABILITY GROUP
"""
_BEHIND = {
    "ADMINISTER": "BULK OPERATIONS; DATABASE BULK OPERATIONS",
    "ALL": "; PRIVILEGES",
    "ALTER": """
            ; RESOURCES; SERVER STATE; SETTINGS; TRACE; LEDGER; LEDGER CONFIGURATION; ANY APPLICATION ROLE;
            ANY COLUMN ENCRYPTION KEY; ANY COLUMN MASTER KEY; ANY CONNECTION; ANY CREDENTIAL; ANY DATABASE;
            ANY DATABASE AUDIT; ANY DATABASE DDL TRIGGER; ANY DATABASE EVENT NOTIFICATION;
            ANY DATABASE SCOPED CONFIGURATION; ANY DATASPACE; ANY EVENT NOTIFICATION;
            ANY EXTERNAL DATA SOURCE; ANY EXTERNAL FILE FORMAT; ANY EXTERNAL JOB; ANY EXTERNAL MIRROR;
            ANY EXTERNAL MODEL; ANY EXTERNAL STREAM; ANY INFORMATION PROTECTION; ANY LINKED SERVER; ANY MASK;
            ANY SECURITY POLICY; ANY SENSITIVITY CLASSIFICATION; ANY SERVER AUDIT
            """
    + "".join(f"; ANY {kind}" for kind in _SECURABLES.split(";"))
    + "".join(
        f"; ANY {of}EVENT SESSION{what}"
        for of in ("", "DATABASE ")
        for what in (
            *("", " ADD EVENT", " ADD TARGET", " DISABLE", " DROP EVENT", " DROP TARGET"),
            *(" ENABLE", " OPTION"),
        )
    ),
    "AUTHENTICATE": "; SERVER",
    "BACKUP": "DATABASE; LOG",
    "CHECKPOINT": "",
    "CONNECT": "; ANY DATABASE; REPLICATION; SQL",
    "CONTROL": "; SERVER",
    "CREATE": f"""
            AGGREGATE; ANY DATABASE; ANY DATABASE EVENT SESSION; ANY EVENT SESSION; ANY EXTERNAL LIBRARY;
            DATABASE; DATABASE DDL EVENT NOTIFICATION; DDL EVENT NOTIFICATION; DEFAULT; EXTERNAL MODEL;
            FUNCTION; PROC; PROCEDURE; QUEUE; RULE; SEQUENCE; SYNONYM; TABLE; TRACE EVENT NOTIFICATION; TYPE;
            VIEW; XML SCHEMA COLLECTION; {_SECURABLES}
            """,
    "DELETE": "",
    "DROP": "ANY DATABASE EVENT SESSION; ANY EVENT SESSION",
    "ENABLE": "LEDGER",
    "EXEC": "; ANY EXTERNAL SCRIPT",
    "EXECUTE": "; ANY EXTERNAL ENDPOINT; ANY EXTERNAL SCRIPT; EXTERNAL SCRIPT",
    "EXTERNAL": "ACCESS ASSEMBLY",
    "GENERATE": "LEDGER DIGEST",
    "IMPERSONATE": "; ANY LOGIN",
    "INSERT": "",
    "KILL": "DATABASE CONNECTION",
    "RECEIVE": "",
    "REFERENCES": "",
    "SELECT": "; ALL USER SECURABLES",
    "SEND": "",
    "SHOWPLAN": "",
    "SHUTDOWN": "",
    "SUBSCRIBE": "QUERY NOTIFICATIONS",
    "TAKE": "OWNERSHIP",
    "UNMASK": "",
    "UNSAFE": "ASSEMBLY",
    "UPDATE": "",
    "VIEW": """
            ANY COLUMN ENCRYPTION KEY DEFINITION; ANY COLUMN MASTER KEY DEFINITION;
            ANY CRYPTOGRAPHICALLY SECURED DEFINITION; ANY DATABASE; ANY DEFINITION; ANY ERROR LOG;
            ANY PERFORMANCE DEFINITION; ANY SECURITY DEFINITION; ANY SENSITIVITY CLASSIFICATION;
            CHANGE TRACKING; CRYPTOGRAPHICALLY SECURED DEFINITION; DATABASE PERFORMANCE STATE;
            DATABASE SECURITY AUDIT; DATABASE SECURITY STATE; DATABASE STATE; DEFINITION; LEDGER CONTENT;
            PERFORMANCE DEFINITION; SECURITY DEFINITION; SERVER PERFORMANCE STATE; SERVER SECURITY AUDIT;
            SERVER SECURITY STATE; SERVER STATE
            """,
}
"""What may stand behind a permission's first word, nothing too."""
_PERMISSIONS = frozenset(
    (verb, *rest.split()) for verb, behind in _BEHIND.items() for rest in behind.split(";")
)
_BEGINNINGS = frozenset(name[:length] for name in _PERMISSIONS for length in range(1, len(name) + 1))
_OF_ONE_OBJECT = {
    "SEND": "write SEND ON SERVICE::name",
    "RECEIVE": "write RECEIVE ON the queue",
}
"""Permissions that no database has for all of its objects, and how they are granted."""


def check_permission(statement: nodes.Permission, problems: Problems) -> None:
    """Report columns, which are not supported, and permissions that there are not."""
    columns = [column for permission in statement.permissions for column in permission.columns]
    if statement.securable is not None:
        columns += statement.securable.columns
    if columns:
        problems.add(
            f"{statement.action} on columns is not supported.",
            columns[0].span,
            hint="GRANT on a view that has just these columns",
        )
    of_database = statement.securable is None or statement.securable.kind == "DATABASE"
    for permission in statement.permissions:
        near = _wrong_word(permission.name)
        if near is not None:
            hint = f"no permission is called {permission.name}"
            if permission.name.split()[0] not in _BEHIND:
                hint = (
                    did_you_mean(permission.name, _BEHIND)
                    or "expected a permission, such as SELECT, EXECUTE, SEND, RECEIVE or CONTROL"
                )
            elif permission.name.startswith("CREATE"):
                hint = "expected what can be created, such as QUEUE, SERVICE or CONTRACT"
        elif of_database and permission.name in _OF_ONE_OBJECT:
            near = permission.name
            hint = f"a database has no such permission: {_OF_ONE_OBJECT[near]}"
        else:
            continue
        problems.add(f"Incorrect syntax near '{near}'.", permission.span, hint=hint, number=102)


def _wrong_word(name: str) -> str | None:
    """Return the first word with which ``name`` is no permission any more; None for one."""
    words = tuple(name.split())
    if words in _PERMISSIONS:
        return None
    return next(
        (word for place, word in enumerate(words) if words[: place + 1] not in _BEGINNINGS), words[-1]
    )
