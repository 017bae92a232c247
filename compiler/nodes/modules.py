"""Nodes of procedures, functions, triggers, views and synonyms."""

from __future__ import annotations

from dataclasses import field

from ...grammar.records import dataclass
from .core import (
    Comment,
    DataType,
    Identifier,
    Node,
    QualifiedName,
    SqlText,
    Statement,
    TableDefinition,
    Variable,
)
from .service_broker import ExecuteAsClause

# ------------------------------------------------------------------ modules


@dataclass(frozen=True, kw_only=True)
class Parameter(Node):
    """A parameter of a procedure or function."""

    variable: Variable
    type: DataType
    default: SqlText | None = None
    output: bool = False
    readonly: bool = False
    nullable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ModuleOptions(Node):
    """``WITH`` of a module: upper-case words, and EXECUTE AS.

    ``words``: RECOMPILE, ENCRYPTION, SCHEMABINDING, NATIVE_COMPILATION, VIEW_METADATA,
    RETURNS NULL ON NULL INPUT, CALLED ON NULL INPUT, INLINE = ON, INLINE = OFF.
    """

    words: tuple[str, ...] = ()
    execute_as: ExecuteAsClause | None = None


@dataclass(frozen=True, kw_only=True)
class ExternalName(Node):
    """``EXTERNAL NAME assembly.class.method``: a module in a CLR assembly."""

    parts: tuple[Identifier, ...]


@dataclass(frozen=True, kw_only=True)
class CreateProcedure(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} PROC[EDURE]``.

    ``body`` is empty exactly when ``external`` is given. ``text`` is the whole definition.
    """

    inside = ("body",)

    action: str
    """CREATE, ALTER or CREATE OR ALTER."""
    name: QualifiedName
    number: int | None
    parameters: tuple[Parameter, ...]
    options: ModuleOptions
    for_replication: bool
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """After the last statement of the body."""


@dataclass(frozen=True, kw_only=True)
class CreateFunction(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} FUNCTION``.

    ``kind``: SCALAR (``returns``, ``body``), INLINE (``query``), TABLE (``table_variable``,
    ``table``, ``body``).
    """

    inside = ("body",)

    action: str
    name: QualifiedName
    parameters: tuple[Parameter, ...]
    kind: str
    returns: DataType | None
    table_variable: Variable | None
    table: TableDefinition | None
    options: ModuleOptions
    query: SqlText | None
    """The query of an inline function, without RETURN and enclosing parentheses."""
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class CreateTrigger(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} TRIGGER``."""

    inside = ("body",)

    action: str
    name: QualifiedName
    target: QualifiedName | None
    """The table or view; None for DDL and logon triggers."""
    scope: str | None
    """DATABASE or ALL SERVER for DDL and logon triggers."""
    timing: str
    """AFTER (also FOR) or INSTEAD OF."""
    events: tuple[str, ...]
    """INSERT, UPDATE, DELETE, or names of DDL events."""
    options: ModuleOptions
    not_for_replication: bool
    body: tuple[Statement, ...]
    text: SqlText
    external: ExternalName | None = None
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class CreateView(Statement):
    """``{CREATE | ALTER | CREATE OR ALTER} VIEW name [(columns)] [WITH …] AS query``."""

    action: str
    name: QualifiedName
    columns: tuple[Identifier, ...]
    options: ModuleOptions
    query: SqlText
    check_option: bool
    text: SqlText


@dataclass(frozen=True, kw_only=True)
class CreateSynonym(Statement):
    """``CREATE SYNONYM name FOR target``."""

    name: QualifiedName
    target: QualifiedName


@dataclass(frozen=True, kw_only=True)
class EnableTrigger(Statement):
    """``{ENABLE | DISABLE} TRIGGER {name, … | ALL} ON {table | DATABASE | ALL SERVER}``."""

    enable: bool
    triggers: tuple[QualifiedName, ...]
    """Empty for ALL."""
    target: QualifiedName | None
    scope: str | None
    """DATABASE or ALL SERVER."""
