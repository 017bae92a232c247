"""Names and options as T-SQL text."""

from __future__ import annotations

import re

from ..compiler import nodes
from ..grammar.lexer import bracketed
from ..grammar.tokens import RESERVED_WORDS

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def identifier(name: str) -> str:
    """A name, in brackets where it needs them."""
    if _PLAIN.match(name) and name.upper() not in RESERVED_WORDS:
        return name
    return bracketed(name)


def qualified(name: nodes.QualifiedName) -> str:
    """``schema.name`` as written, each part in brackets where it needs them."""
    parts = [name.server, name.database, name.schema, name.name]
    while parts[0] is None:
        parts.pop(0)
    return ".".join(identifier(part.text) if part else "" for part in parts)


def string(text: str) -> str:
    """A national string."""
    return "N'" + text.replace("'", "''") + "'"


def on_off(value: bool) -> str:
    """``ON`` or ``OFF``."""
    return "ON" if value else "OFF"


def execute_as(clause: nodes.ExecuteAsClause) -> str:
    """``EXECUTE AS OWNER`` …"""
    return "EXECUTE AS " + (string(clause.user.value) if clause.user else clause.principal)


def validation(statement: nodes.CreateMessageType) -> str:
    """What stands behind VALIDATION =; NONE where the statement does not say."""
    if statement.schema_collection is not None:
        return f"VALID_XML WITH SCHEMA COLLECTION {qualified(statement.schema_collection)}"
    return statement.validation or "NONE"
