"""Nodes of variables, control flow, transactions, EXEC and cursors."""

from __future__ import annotations

from dataclasses import field

from ...grammar.records import dataclass
from .core import (
    Comment,
    DataType,
    Identifier,
    NameOrVariable,
    Node,
    QualifiedName,
    SqlText,
    Statement,
    StringLiteral,
    StringOrVariable,
    TableDefinition,
    Variable,
)

# ------------------------------------------------------------------ variables


@dataclass(frozen=True, kw_only=True)
class VariableDeclaration(Node):
    """``@v type [= initial]`` of a DECLARE."""

    variable: Variable
    type: DataType
    initial: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class TableVariableDeclaration(Node):
    """``@t TABLE ( … )``."""

    variable: Variable
    definition: TableDefinition


@dataclass(frozen=True, kw_only=True)
class CursorVariableDeclaration(Node):
    """``@c CURSOR``."""

    variable: Variable


@dataclass(frozen=True, kw_only=True)
class Declare(Statement):
    """``DECLARE`` of scalar variables, table variables and cursor variables."""

    declarations: tuple[VariableDeclaration | TableVariableDeclaration | CursorVariableDeclaration, ...]


@dataclass(frozen=True, kw_only=True)
class SetVariable(Statement):
    """``SET @v = value``; ``operator`` is ``=`` or a compound one: ``+=``, ``-=``, ``*=``, ``/=`` …"""

    variable: Variable
    operator: str
    value: SqlText


@dataclass(frozen=True, kw_only=True)
class SetMethod(Statement):
    """``SET @v.method(arguments)``: ``SET @x.modify('…')``."""

    variable: Variable
    method: Identifier
    arguments: SqlText
    """The inside of the parentheses."""


@dataclass(frozen=True, kw_only=True)
class SetCursorVariable(Statement):
    """``SET @c = CURSOR … FOR query``. (``SET @c = other`` is a SetVariable.)"""

    variable: Variable
    cursor: CursorDefinition


@dataclass(frozen=True, kw_only=True)
class SetOption(Statement):
    """``SET`` of session options.

    ``SET NOCOUNT, XACT_ABORT ON`` → names ("NOCOUNT", "XACT_ABORT"), value "ON".
    ``SET TRANSACTION ISOLATION LEVEL READ COMMITTED`` → ("TRANSACTION ISOLATION LEVEL",),
    "READ COMMITTED". ``SET STATISTICS IO, TIME ON`` → ("STATISTICS IO", "STATISTICS TIME").
    ``SET IDENTITY_INSERT t ON`` → ("IDENTITY_INSERT",), ``table``, "ON".
    Other options (LOCK_TIMEOUT 100, DATEFIRST @d, LANGUAGE us_english, ROWCOUNT @n,
    CONTEXT_INFO 0x…) have ``argument``, and ``value`` is its text.
    """

    names: tuple[str, ...]
    value: str
    argument: SqlText | None = None
    table: QualifiedName | None = None

    @property
    def on(self) -> bool:
        """Whether the value is ON."""
        return self.value == "ON"


# ------------------------------------------------------------------ control flow


@dataclass(frozen=True, kw_only=True)
class Block(Statement):
    """``BEGIN … END``."""

    inside = ("statements",)

    statements: tuple[Statement, ...]
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class AtomicBlock(Statement):
    """``BEGIN ATOMIC WITH (…) … END`` of a natively compiled module."""

    inside = ("statements",)

    options: SqlText
    statements: tuple[Statement, ...]
    closing_comments: tuple[Comment, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class TryCatch(Statement):
    """``BEGIN TRY … END TRY BEGIN CATCH … END CATCH``. ``handler`` may be empty."""

    inside = ("body", "handler")

    body: tuple[Statement, ...]
    handler: tuple[Statement, ...]
    body_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """Comments after the last statement of the TRY block."""
    handler_comments: tuple[Comment, ...] = field(default=(), compare=False)
    """Comments after the last statement of the CATCH block, or its only content."""


@dataclass(frozen=True, kw_only=True)
class If(Statement):
    """``IF condition then [ELSE otherwise]``. ELSE IF is an If in ``otherwise``."""

    inside = ("then", "otherwise")

    condition: SqlText
    then: Statement
    otherwise: Statement | None = None


@dataclass(frozen=True, kw_only=True)
class While(Statement):
    """``WHILE condition body``."""

    inside = ("body",)

    condition: SqlText
    body: Statement


@dataclass(frozen=True, kw_only=True)
class Break(Statement):
    """``BREAK``."""


@dataclass(frozen=True, kw_only=True)
class Continue(Statement):
    """``CONTINUE``."""


@dataclass(frozen=True, kw_only=True)
class Goto(Statement):
    """``GOTO label``."""

    label: Identifier


@dataclass(frozen=True, kw_only=True)
class Label(Statement):
    """``label:``."""

    name: Identifier


@dataclass(frozen=True, kw_only=True)
class Return(Statement):
    """``RETURN [value]``."""

    value: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class Throw(Statement):
    """``THROW [number, message, state]``; all three or none. Each is a constant or a variable."""

    number: SqlText | None = None
    message: SqlText | None = None
    state: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class RaiseError(Statement):
    """``RAISERROR (message, severity, state, argument, …) [WITH option, …]``.

    The old form ``RAISERROR 50001 'text'`` is refused by the checks (removed in SQL Server 2012).
    """

    message: SqlText
    severity: SqlText
    state: SqlText
    arguments: tuple[SqlText, ...] = ()
    options: tuple[str, ...] = ()
    """LOG, NOWAIT, SETERROR."""


@dataclass(frozen=True, kw_only=True)
class Print(Statement):
    """``PRINT value``."""

    value: SqlText


@dataclass(frozen=True, kw_only=True)
class EmptyStatement(Statement):
    """A lone semicolon as the only content of a block."""


# ------------------------------------------------------------------ transactions


@dataclass(frozen=True, kw_only=True)
class BeginTransaction(Statement):
    """``BEGIN [DISTRIBUTED] TRAN[SACTION] [name | @v] [WITH MARK ['text']]``."""

    name: NameOrVariable | None = None
    mark: StringLiteral | None = None
    distributed: bool = False


@dataclass(frozen=True, kw_only=True)
class CommitTransaction(Statement):
    """``COMMIT [TRAN[SACTION] [name | @v]] | COMMIT WORK``."""

    name: NameOrVariable | None = None


@dataclass(frozen=True, kw_only=True)
class RollbackTransaction(Statement):
    """``ROLLBACK [TRAN[SACTION] [name | @v]] | ROLLBACK WORK``."""

    name: NameOrVariable | None = None


@dataclass(frozen=True, kw_only=True)
class SaveTransaction(Statement):
    """``SAVE TRAN[SACTION] name | @v``."""

    name: NameOrVariable


# ------------------------------------------------------------------ execution


@dataclass(frozen=True, kw_only=True)
class Argument(Node):
    """One argument of EXEC: ``[@name =] value [OUTPUT]``; ``value`` is None for DEFAULT."""

    name: Variable | None
    value: SqlText | None
    output: bool = False


@dataclass(frozen=True, kw_only=True)
class Execute(Statement):
    """``[EXEC[UTE]] [@rc =] module [;n] arguments [WITH …]``.

    ``module`` is a name or a variable that holds one. ``implicit`` tells that EXEC is left out,
    as the first statement of a batch may.
    """

    module: QualifiedName | Variable
    return_variable: Variable | None = None
    number: int | None = None
    arguments: tuple[Argument, ...] = ()
    recompile: bool = False
    result_sets: SqlText | None = None
    """What follows WITH RESULT SETS: UNDEFINED, NONE, or the parenthesised definitions."""
    implicit: bool = False


@dataclass(frozen=True, kw_only=True)
class ExecuteString(Statement):
    """``EXEC ( 'text' + @v [, argument …] ) [AS {LOGIN | USER} = 'name'] [AT server]``."""

    text: SqlText
    """The inside of the parentheses up to the first comma."""
    arguments: tuple[Argument, ...] = ()
    """Arguments of a pass-through command (only with AT)."""
    as_kind: str | None = None
    """LOGIN or USER."""
    as_name: StringLiteral | None = None
    at_server: Identifier | None = None
    result_sets: SqlText | None = None


@dataclass(frozen=True, kw_only=True)
class ExecuteAs(Statement):
    """``EXECUTE AS {LOGIN | USER} = 'name' | CALLER [WITH NO REVERT | COOKIE INTO @v]``."""

    kind: str
    """LOGIN, USER or CALLER."""
    principal: StringOrVariable | None = None
    no_revert: bool = False
    cookie: Variable | None = None


@dataclass(frozen=True, kw_only=True)
class Revert(Statement):
    """``REVERT [WITH COOKIE = @v]``."""

    cookie: Variable | None = None


@dataclass(frozen=True, kw_only=True)
class InsertExecute(Statement):
    """``INSERT [INTO] target [(columns)] EXEC …``; ``target`` is the text before EXEC."""

    target: SqlText
    execute: Execute | ExecuteString


# ------------------------------------------------------------------ cursors


@dataclass(frozen=True, kw_only=True)
class CursorDefinition(Node):
    """What stands between CURSOR and the end of a cursor's declaration.

    ``options`` in the order written: LOCAL, GLOBAL, FORWARD_ONLY, SCROLL, STATIC, KEYSET,
    DYNAMIC, FAST_FORWARD, READ_ONLY, SCROLL_LOCKS, OPTIMISTIC, TYPE_WARNING, INSENSITIVE.
    """

    options: tuple[str, ...]
    query: SqlText
    """The SELECT (with its WITH clause), without the closing FOR READ ONLY / FOR UPDATE."""
    updatable: str | None = None
    """READ ONLY or UPDATE when a FOR clause says so."""
    update_columns: tuple[Identifier, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeclareCursor(Statement):
    """``DECLARE name CURSOR … FOR query``."""

    name: Identifier
    cursor: CursorDefinition


@dataclass(frozen=True, kw_only=True)
class CursorReference(Node):
    """A cursor by its name (``GLOBAL name`` too) or by the variable that holds it."""

    name: NameOrVariable
    is_global: bool = False


@dataclass(frozen=True, kw_only=True)
class OpenCursor(Statement):
    """``OPEN c``."""

    cursor: CursorReference


@dataclass(frozen=True, kw_only=True)
class FetchCursor(Statement):
    """``FETCH [direction] [FROM] c [INTO @a, …]``."""

    direction: str
    """NEXT (also when nothing is written), PRIOR, FIRST, LAST, ABSOLUTE, RELATIVE."""
    offset: SqlText | None
    """With ABSOLUTE and RELATIVE."""
    cursor: CursorReference
    into: tuple[Variable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CloseCursor(Statement):
    """``CLOSE c``."""

    cursor: CursorReference


@dataclass(frozen=True, kw_only=True)
class DeallocateCursor(Statement):
    """``DEALLOCATE c``."""

    cursor: CursorReference
