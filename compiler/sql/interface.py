"""What comes out of the translation of queries and DML: a :data:`Statement` of one of these kinds."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from ...grammar.records import dataclass
from ..catalog.names import ObjectName
from ..catalog.objects import ColumnInfo, ResultColumn, TableInfo, TableVariable
from ..catalog.types import SqlType
from ..target import nodes as n


@dataclass(frozen=True)
class Query:
    """A SELECT whose rows go to the client (or feed INSERT … EXEC, a cursor, a view).

    ``columns`` has the names to show; it is None when ``*`` could not be expanded: then the
    server's own names are the names.
    """

    code: n.Node
    columns: tuple[ResultColumn, ...] | None
    before: tuple[n.Node, ...] = ()
    """Statements to run first, in the same transaction: LOCK TABLE for TABLOCKX."""


@dataclass(frozen=True)
class Assignment:
    """SELECT @a = …, @b = … and UPDATE … SET @a = …: rows flow into variables, the last one wins.

    No row leaves the variables alone.  @@ROWCOUNT is the number of rows.

    * ``rows`` is None: no relation at all; assign ``values`` in order, @@ROWCOUNT = 1.
    * ``exactly_one_row`` (an aggregate without GROUP BY): ``SELECT … INTO a, b …`` will do:
      ``query``, None in other cases, has one column a target.
    * else loop: ``FOR next_row IN rows LOOP target := value; … END LOOP``.  ``values`` are
      expressions over the loop's record ``next_row``; a value may read a variable assigned
      before it (``SELECT @s = @s + name FROM …``).
    """

    RECORD: ClassVar[str] = "next_row"

    targets: tuple[str, ...]
    """References (``ScalarVariable.reference``), in order."""
    values: tuple[n.Node, ...]
    query: n.Node | None = None
    rows: n.Node | None = None
    """The query with its columns named for the loop."""
    exactly_one_row: bool = False
    at_most_one_row: bool = False
    target_names: tuple[str, ...] = ()
    """T-SQL names, with @."""
    sources: tuple[exp.Expr | None, ...] = ()
    """Where ``rows`` and ``query`` are None: what ``=`` assigns to each, None for ``+=`` and its like."""
    before: tuple[n.Node, ...] = ()


@dataclass(frozen=True)
class Dml:
    """INSERT, UPDATE, DELETE, MERGE, SELECT … INTO on real tables.

    ``output``: columns of OUTPUT rows that go to the client: ``code`` then returns rows.
    ``code`` alone sets the row count (ROW_COUNT), also where OUTPUT INTO wraps it, except
    where ``counts`` is True: then ``code`` is a query of one row and one column, the count.
    """

    code: n.Node
    output: tuple[ResultColumn, ...] | None = None
    before: tuple[n.Node, ...] = ()
    """Statements to run first, in the same transaction: LOCK TABLE."""
    after: tuple[n.Node, ...] = ()
    """Statements to run behind it, without effect on the row count; a SELECT's row is dropped."""
    defines: tuple[TableInfo, ...] = ()
    """SELECT … INTO: the new table."""
    identity: bool = False
    """The statement may set SCOPE_IDENTITY()/@@IDENTITY."""
    target: str = ""
    """The table changed, schema-qualified: for sys.identity_of."""
    moved: n.Element | None = None
    """UPDATE … WHERE CURRENT OF: the array element that keeps the row's ctid."""
    counts: bool = False


@dataclass(frozen=True)
class InsertTarget:
    """``INSERT target (columns)`` in front of EXEC: where the rows of a procedure go."""

    target: str
    """Schema-qualified table; empty for a table variable."""
    columns: tuple[ColumnInfo, ...] | None
    """The columns to fill, in order; None when none were listed and the table is unknown."""
    table_variable: TableVariable | None = None
    overriding: bool = False
    """SET IDENTITY_INSERT is on: OVERRIDING SYSTEM VALUE."""
    before: tuple[n.Node, ...] = ()
    """Statements in front of it."""


@dataclass(frozen=True)
class TableVariableDml:
    """A statement that changes a table variable.  Exactly one of ``append`` and ``replace`` is given.

    ``append``: a row expression; ``t := array_append(t, <append>)`` is the whole statement
    (in place, O(1)); the row count is 1. ``unique``: what first makes sure, for each key, that no row has
    that of the new one, which :attr:`TableVariableDml.NEW_ROW` stands for.
    ``replace``: a query with exactly one row of two columns, the new array and the row count:
    ``SELECT … INTO t, rowcount``.  Violated constraints raise inside (2627, 515, 547).
    ``output``: OUTPUT rows, a query to be run after it (inserted) or before it (deleted).
    ``into``: OUTPUT … INTO another table variable, ``into_before``: that of an UPDATE or DELETE.
    :attr:`TableVariableDml.ADDED` in their trees stands for the number of rows that the statement has added.
    """

    ADDED: ClassVar[n.Word] = n.Word("pgsb_added_rows")
    NEW_ROW: ClassVar[n.Word] = n.Word("pgsb_new_row")

    variable: TableVariable
    append: n.Node | None = None
    unique: tuple[n.Node, ...] = ()
    replace: n.Node | None = None
    output_before: Query | None = None
    output_after: Query | None = None
    into: TableVariableDml | None = None
    into_before: TableVariableDml | None = None
    before: tuple[n.Node, ...] = ()
    changes: Dml | None = None
    """OUTPUT … INTO the table variable: the statement that changes a table, for SCOPE_IDENTITY()."""


@dataclass(frozen=True)
class Ddl:
    """DDL: statements to run in order, and what the script knows from now on."""

    statements: tuple[n.Node, ...]
    defines: tuple[TableInfo, ...] = ()
    drops: tuple[ObjectName, ...] = ()
    types: tuple[tuple[ObjectName, SqlType, bool], ...] = ()
    """CREATE TYPE … FROM: what the new name stands for, and whether its columns are NOT NULL."""


Statement = Query | Assignment | Dml | TableVariableDml | Ddl
