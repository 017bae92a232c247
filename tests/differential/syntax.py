"""The T-SQL that the differential check speaks, as plain dataclasses.

Nodes compare by identity. ``line`` is filled in by :mod:`.render` and counts from
the first line of the batch, as ERROR_LINE() does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

# A conversation handle is any other object: it can be tested for NULL and handed on, no more.
Value = Any


class Node:
    """Anything in a program."""


@dataclass(eq=False)
class Type:
    """``int`` (length None), ``nvarchar(length)``, or ``uniqueidentifier`` (length 0)."""

    length: int | None = None

    @property
    def is_text(self) -> bool:
        return bool(self.length)

    def __str__(self) -> str:
        if self.length == 0:
            return "uniqueidentifier"
        return "int" if self.length is None else f"nvarchar({self.length})"


INT = Type()
HANDLE = Type(0)


# --- expressions -----------------------------------------------------------------


class Expr(Node):
    """A scalar expression."""


@dataclass(eq=False)
class Const(Expr):
    value: Value


@dataclass(eq=False)
class Var(Expr):
    """A local variable, ``name`` with its @."""

    name: str


@dataclass(eq=False)
class Fn(Expr):
    """A niladic one: ``@@ERROR``, ``XACT_STATE()``, ``ERROR_NUMBER()`` …"""

    name: str


@dataclass(eq=False)
class Bin(Expr):
    """``+ - * / %`` on integers, ``+`` on two strings."""

    op: str
    left: Expr
    right: Expr


@dataclass(eq=False)
class Concat(Expr):
    """CONCAT(…): NULL counts as the empty string."""

    parts: list[Expr]


@dataclass(eq=False)
class IsNull(Expr):
    """ISNULL(a, b)."""

    value: Expr
    default: Expr


@dataclass(eq=False)
class Case(Expr):
    """CASE WHEN condition THEN value ELSE otherwise END."""

    condition: Cond
    value: Expr
    otherwise: Expr


@dataclass(eq=False)
class Cast(Expr):
    """CAST(value AS type)."""

    value: Expr
    type: Type


@dataclass(eq=False)
class Column(Expr):
    """A column of the one table of the statement."""

    name: str


@dataclass(eq=False)
class Scalar(Expr):
    """(SELECT what FROM table WHERE …): ``what`` is count, sum, max, min or a column.

    With a column, ``where`` must pick at most one row.
    """

    what: str
    table: str
    where: Cond | None = None
    column: str | None = None


@dataclass(eq=False)
class Call(Expr):
    """A scalar function of the program."""

    function: str
    args: list[Expr]


# --- conditions ------------------------------------------------------------------


class Cond(Node):
    """A search condition: true, false or unknown."""


@dataclass(eq=False)
class Compare(Cond):
    op: str
    left: Expr
    right: Expr


@dataclass(eq=False)
class NullTest(Cond):
    value: Expr
    negated: bool = False


@dataclass(eq=False)
class Logic(Cond):
    """AND, OR."""

    op: str
    left: Cond
    right: Cond


@dataclass(eq=False)
class Not(Cond):
    inner: Cond


@dataclass(eq=False)
class Exists(Cond):
    table: str
    where: Cond | None = None


# --- statements ------------------------------------------------------------------


@dataclass(eq=False)
class Stmt(Node):
    line: int = field(default=0, kw_only=True)


@dataclass(eq=False)
class Declare(Stmt):
    name: str
    type: Type
    init: Expr | None = None


@dataclass(eq=False)
class ColumnDef(Node):
    name: str
    type: Type
    nullable: bool = True
    primary_key: bool = False
    check_below: int | None = None


@dataclass(eq=False)
class DeclareTable(Stmt):
    """DECLARE @name TABLE (…)."""

    name: str
    columns: list[ColumnDef]


@dataclass(eq=False)
class SetVar(Stmt):
    name: str
    value: Expr


@dataclass(eq=False)
class SelectVars(Stmt):
    """SELECT @a = …, @b = … [FROM table WHERE …]: without a row nothing is assigned."""

    targets: list[tuple[str, Expr]]
    table: str | None = None
    where: Cond | None = None


@dataclass(eq=False)
class SelectRows(Stmt):
    """A result set: the columns of a table in key order, or one row of expressions."""

    values: list[Expr]
    table: str | None = None
    where: Cond | None = None


@dataclass(eq=False)
class Print(Stmt):
    value: Expr


@dataclass(eq=False)
class Insert(Stmt):
    table: str
    columns: list[str]
    rows: list[list[Expr]]


@dataclass(eq=False)
class InsertSelect(Stmt):
    """INSERT INTO table (columns) SELECT values FROM source."""

    table: str
    columns: list[str]
    values: list[Expr]
    source: str


@dataclass(eq=False)
class Update(Stmt):
    table: str
    sets: list[tuple[str, Expr]]
    where: Cond | None = None


@dataclass(eq=False)
class Delete(Stmt):
    table: str
    where: Cond | None = None


@dataclass(eq=False)
class Block(Stmt):
    body: list[Stmt]


@dataclass(eq=False)
class If(Stmt):
    cond: Cond
    then: list[Stmt]
    otherwise: list[Stmt] | None = None


@dataclass(eq=False)
class While(Stmt):
    cond: Cond
    body: list[Stmt]


@dataclass(eq=False)
class Break(Stmt):
    pass


@dataclass(eq=False)
class Continue(Stmt):
    pass


@dataclass(eq=False)
class Goto(Stmt):
    label: str


@dataclass(eq=False)
class Label(Stmt):
    name: str


@dataclass(eq=False)
class Return(Stmt):
    value: Expr | None = None


@dataclass(eq=False)
class Try(Stmt):
    body: list[Stmt]
    handler: list[Stmt]


@dataclass(eq=False)
class Throw(Stmt):
    """THROW number, message, state; or, with nothing, THROW; inside CATCH."""

    number: Expr | None = None
    message: Expr | None = None
    state: Expr | None = None


@dataclass(eq=False)
class Raiserror(Stmt):
    message: Expr
    severity: int
    state: int
    args: list[Expr] = field(default_factory=list)


@dataclass(eq=False)
class BeginTran(Stmt):
    name: str | None = None


@dataclass(eq=False)
class Commit(Stmt):
    pass


@dataclass(eq=False)
class Rollback(Stmt):
    name: str | None = None


@dataclass(eq=False)
class Save(Stmt):
    name: str


@dataclass(eq=False)
class SetOption(Stmt):
    """SET XACT_ABORT | NOCOUNT ON | OFF."""

    option: str
    on: bool


@dataclass(eq=False)
class Argument(Node):
    """One argument of EXEC: a constant or a variable, by position or by name."""

    value: Expr
    output: bool = False
    name: str | None = None


@dataclass(eq=False)
class Exec(Stmt):
    procedure: str
    args: list[Argument] = field(default_factory=list)
    result: str | None = None


@dataclass(eq=False)
class CreateTemp(Stmt):
    """CREATE TABLE #name (…)."""

    name: str
    columns: list[ColumnDef]


@dataclass(eq=False)
class DropTable(Stmt):
    name: str


@dataclass(eq=False)
class DeclareCursor(Stmt):
    """DECLARE name CURSOR LOCAL STATIC FOR SELECT columns FROM table ORDER BY id."""

    name: str
    columns: list[str]
    table: str
    where: Cond | None = None


@dataclass(eq=False)
class OpenCursor(Stmt):
    name: str


@dataclass(eq=False)
class Fetch(Stmt):
    """FETCH direction FROM name INTO …"""

    direction: str
    name: str
    into: list[str]


@dataclass(eq=False)
class CloseCursor(Stmt):
    name: str


@dataclass(eq=False)
class Deallocate(Stmt):
    name: str


@dataclass(eq=False)
class BeginDialog(Stmt):
    """BEGIN DIALOG from the check's first service to its second."""

    handle: str


@dataclass(eq=False)
class Send(Stmt):
    handle: str
    body: Expr


@dataclass(eq=False)
class Receive(Stmt):
    """[WAITFOR (] RECEIVE [TOP (n)] handle, type and body FROM queue [), TIMEOUT t]."""

    queue: str
    handle: str
    type: str
    body: str
    top: int | None = 1
    timeout: int | None = None


@dataclass(eq=False)
class EndConversation(Stmt):
    handle: str


# --- programs --------------------------------------------------------------------


@dataclass(eq=False)
class Param(Node):
    name: str
    type: Type
    default: Value = None
    has_default: bool = False
    output: bool = False


@dataclass(eq=False)
class ExecText(Stmt):
    """EXEC (N'…'), or with parameters sp_executesql: a batch of its own scope inside the batch."""

    body: list[Stmt]
    params: list[Param] = field(default_factory=list)
    args: list[Argument] = field(default_factory=list)  # one for each parameter, by name


@dataclass(eq=False)
class Procedure(Node):
    name: str
    params: list[Param]
    body: list[Stmt]
    returns: bool = False  # every way out says RETURN n


@dataclass(eq=False)
class Function(Node):
    """A scalar function of integers: DECLARE, SET, IF, WHILE and RETURN inside."""

    name: str
    params: list[Param]
    body: list[Stmt]


@dataclass(eq=False)
class Trigger(Node):
    """CREATE TRIGGER name ON table AFTER event AS body; no ROLLBACK and no TRY inside."""

    name: str
    table: str
    event: str
    body: list[Stmt]


@dataclass(eq=False)
class Batch(Node):
    body: list[Stmt]


@dataclass(eq=False)
class Program(Node):
    """Procedures, created one batch each, then the batches that are compared."""

    procedures: list[Procedure]
    batches: list[Batch]
    functions: list[Function] = field(default_factory=list)
    triggers: list[Trigger] = field(default_factory=list)
    terse: bool = False  # written with few semicolons


@dataclass(frozen=True)
class Table:
    """A permanent table of the check; ``name`` without schema."""

    name: str
    columns: tuple[ColumnDef, ...]

    @property
    def key(self) -> str:
        return next(column.name for column in self.columns if column.primary_key)


TABLES: tuple[Table, ...] = (
    Table(
        "t1",
        (
            ColumnDef("id", INT, nullable=False, primary_key=True),
            ColumnDef("v", INT, check_below=100),
            ColumnDef("s", Type(10), nullable=False),
        ),
    ),
    Table(
        "t2",
        (
            ColumnDef("id", INT, nullable=False, primary_key=True),
            ColumnDef("n", INT, nullable=False),
            ColumnDef("w", Type(20)),
        ),
    ),
)


def walk(node: Any) -> Iterator[Node]:
    """Yield ``node`` and everything below it, parents first."""
    if isinstance(node, Node):
        yield node
        if is_dataclass(node):
            for each in fields(node):
                yield from walk(getattr(node, each.name))
    elif isinstance(node, (list, tuple)):
        for item in node:
            yield from walk(item)
