"""What is known of tables, variables and functions while a script is compiled.

:class:`SqlScope` is what the translation of queries and expressions asks its surroundings; the other classes
are answers. Variables come out under the name the scope gives them: ``reference`` where no relation is in
scope, ``query_reference`` inside a query that has relations, where a bare name could be taken for a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Protocol

from ...grammar.records import dataclass
from ..target import nodes as n
from .names import ObjectName, fold
from .types import SqlType


@dataclass(frozen=True)
class ColumnInfo:
    """One column of a known table or table variable; names as the programmer wrote them."""

    name: str
    type: SqlType | None
    nullable: bool = True
    identity: tuple[int, int] | None = None
    default: n.Node | None = None
    """What stands for DEFAULT, as used where a table variable's row is built."""
    computed: n.Node | None = None
    """What is computed over the row's other columns."""
    holds_names: bool = False
    """Identifiers stand in it (sys.tables.name): compared without case, as T-SQL's are."""
    generated: bool = False
    """GENERATED ALWAYS AS ROW START or END: the period of a system-versioned table sets it."""
    by_default: bool = False
    """An identity column of another tool's (serial, BY DEFAULT): PostgreSQL takes explicit values for it."""
    hidden: bool = False
    """``*`` does not show it, and an INSERT without a column list does not fill it."""
    pg: str | None = None
    """What PostgreSQL has where that is not the type's own, in a query or a view: the bigint of COUNT(*)."""


@dataclass(frozen=True)
class KeyInfo:
    """PRIMARY KEY or UNIQUE: column names, and whether duplicates are skipped with warning 3604."""

    columns: tuple[str, ...]
    ignore_dup_key: bool = False
    primary: bool = False


@dataclass(frozen=True)
class ForeignKey:
    """A foreign key as the script has it: what the server's errors about it are told with."""

    name: str | None
    table: str
    table_sql: str
    columns: tuple[str, ...]
    referenced: str
    referenced_sql: str
    referenced_columns: tuple[str, ...]

    @property
    def parts(self) -> list[str | tuple[str, ...] | None]:
        """All of it, in the order in which ssb_internal.foreign_key_error takes it."""
        return [
            self.name,
            self.table,
            self.table_sql,
            self.columns,
            self.referenced,
            self.referenced_sql,
            self.referenced_columns,
        ]


@dataclass(frozen=True)
class TableInfo:
    """A relation whose columns are known at compile time."""

    name: ObjectName | None
    columns: tuple[ColumnInfo, ...]
    keys: tuple[KeyInfo, ...] = ()
    checks: tuple[n.Node, ...] = ()
    """CHECK conditions of a table variable, over its bare column names."""
    read_only: bool = False
    """A view, queue or trigger table: its rows cannot be locked."""
    is_queue: bool = False
    partial: bool = False
    """It has more columns than these: ``*`` cannot be expanded."""
    default_names: tuple[tuple[str, str], ...] = ()
    """Names of DEFAULT constraints (folded) with their columns: PostgreSQL does not name them."""
    is_of_server: bool = False
    """No script of this run has made it: its ``default_names`` are not known."""
    versioned: bool = False
    """It has, or once had, a period for system time, and may keep a history."""
    rows_of: str | None = None
    """A trigger table: what the server calls the table of the trigger."""


def names_of_columns(table: TableInfo) -> list[str]:
    """Return them folded, in order."""
    return [fold(column.name) for column in table.columns]


@dataclass(frozen=True)
class TableVariable:
    """``DECLARE @t TABLE (…)``: held as an array of a composite type.

    ``info`` is what ``translate_table_variable`` returned for the declaration.
    """

    reference: str
    """The PL/pgSQL variable (an array), e.g. ``badmessages``."""
    query_reference: str
    row_type: str
    """Schema-qualified composite type, e.g. ``dbo."processorders2@badmessages"``."""
    info: TableInfo
    read_only: bool = False
    """A parameter."""
    counter: str | None = None
    """The PL/pgSQL variable with the last number that IDENTITY gave to a row that is gone."""

    @property
    def identity(self) -> ColumnInfo | None:
        """The identity column."""
        return next((column for column in self.info.columns if column.identity is not None), None)


@dataclass(frozen=True)
class ScalarVariable:
    """A scalar variable or parameter: its T-SQL type and how PL/pgSQL spells it."""

    reference: str
    query_reference: str
    """Spelling inside a query with relations, e.g. ``usp_send.handle`` (block label in front)."""
    type: SqlType
    is_text: bool = False
    """Stands for text that only the run time knows, a literal or several: of no type that is known."""
    value: n.Node | None = None
    """What stands where it is read, where that is not the variable itself."""


@dataclass(frozen=True)
class UserFunction:
    """A user function: result type (None for a table or an unknown one) and parameters."""

    result: SqlType | None
    parameters: tuple[SqlType | None, ...] = ()
    names: tuple[str, ...] = ()
    """Folded, without @."""


@dataclass(frozen=True)
class Known:
    """What the surroundings keep under a T-SQL name, @@ROWCOUNT or ERROR_NUMBER(), and its type."""

    code: n.Node
    type: SqlType


@dataclass(frozen=True)
class CursorRow:
    """WHERE CURRENT OF."""

    columns: tuple[tuple[str, n.Node], ...]
    """Columns of the table and the values that they have in the row."""
    check: n.Call
    """What raises where the cursor stands on no row."""
    moved: n.Element | None = None
    """What must be given the row's ctid when an UPDATE has changed it."""
    update_columns: frozenset[str] = frozenset()
    """What the cursor is FOR UPDATE OF; empty: all columns."""


@dataclass
class SchemaBinding:
    """A view or function WITH SCHEMABINDING, and what it needs."""

    kind: str
    """``view`` or ``function``."""
    name: ObjectName
    needs: dict[str, None]
    """As the server calls them: relations, ``schema.relation.column`` and ``schema.function()``."""


class SqlScope(Protocol):
    """What the translation asks its surroundings.  ``compiler.scope`` implements it."""

    schema_binding: SchemaBinding | None
    """Set where the body of such a module is translated."""
    limits_recursion: bool
    """False in a view and an inline function: the OPTION (MAXRECURSION n) of the query around them counts."""

    locks_rows: bool
    """Set by the translation of a query that locks rows or tables."""
    level_hint: str
    """What the isolation level means as a hint for each table from here on; '' where PostgreSQL keeps it."""
    changed_tables: Set[str]
    """Folded names of the tables that the body changes; told with ``level_hint``."""

    @property
    def database(self) -> str:
        """The current T-SQL database (folded); the default one's name where USE was not met."""

    @property
    def default_database(self) -> str | None:
        """The T-SQL database whose schemas carry no prefix; None when only the run time knows."""

    @property
    def case_insensitive(self) -> bool:
        """Option ``--collation ci``."""

    @property
    def checks(self) -> bool:
        """Whether a table that is not known here is to be told of."""

    @property
    def knows_server(self) -> bool:
        """Whether a table that is not known here was not on the server either."""

    @property
    def nulls_are_equal(self) -> bool:
        """Whether UNIQUE takes one NULL, as in SQL Server; False without a server."""

    @property
    def tells_varchar(self) -> bool:
        """Whether the bytes of varchar and nvarchar differ in this instance; False without a server."""

    @property
    def row_limit(self) -> str | None:
        """SET ROWCOUNT as PostgreSQL text, NULL for no limit; None where it cannot be in force."""

    def variable(self, name: str) -> ScalarVariable | None:
        """``@name`` (given with its @, any case); None when not declared."""

    def table_variable(self, name: str) -> TableVariable | None:
        """``@name`` declared as TABLE; None when not declared so."""

    def table(self, name: ObjectName) -> TableInfo | None:
        """A table, view, queue or temp table created earlier in the script; None when unknown."""

    def note_missing_rows(self, name: ObjectName) -> None:
        """A function that FROM calls is unknown: where the server has none either, that is error 208."""

    def note_missing_function(self, name: ObjectName) -> None:
        """An expression calls an unknown function: without its schema, too, that is error 4121."""

    @property
    def is_module(self) -> bool:
        """A procedure or trigger, whose text is run long after it was compiled."""

    def note_foreign_key(self, key: ForeignKey) -> None:
        """The statement makes a foreign key: the server's error about it tells what is wrong with which."""

    def global_variable(self, name: str) -> Known | None:
        """``@@rowcount``, ``@@error``, ``@@trancount``, ``@@fetch_status``, ``@@procid``, ``@@nestlevel``…
        as the lowering keeps them; None: sql/ maps it itself (@@SPID, @@VERSION, …) or refuses it."""

    def context_function(self, name: str) -> Known | None:
        """``error_number``, ``error_message``, ``error_line``…, ``xact_state``, ``scope_identity`` without
        their parentheses, ``object_name(@@procid)``; None when they mean nothing special here."""

    def updated_column(self, name: str) -> Known | None:
        """``UPDATE(name)`` in a trigger, a boolean; None outside triggers."""

    def updated_columns(self) -> Known | None:
        """``COLUMNS_UPDATED()`` in a trigger; None outside triggers and where the columns are unknown."""

    def synonym(self, name: ObjectName) -> ObjectName:
        """What a synonym stands for; every other name as it is."""

    def kept_rows(self, name: str) -> str | None:
        """The table behind ``inserted`` or ``deleted`` of an INSTEAD OF trigger; None elsewhere."""

    def empty_like(self, name: str) -> str | None:
        """The table whose shape an always empty ``inserted`` or ``deleted`` of a trigger has.

        None for every other name.
        """

    def cursor_status(self, scope: str, name: str) -> Known | None:
        """``CURSOR_STATUS(scope, name)``: ``local``, ``global`` or ``variable``, in small letters."""

    def is_cursor(self, name: str) -> bool:
        """Whether a variable was declared as a cursor."""

    def cursor_row(self, name: str) -> CursorRow | None:
        """What finds the row a cursor stands on; None when it cannot be told."""

    def identity_insert(self, name: ObjectName) -> bool:
        """SET IDENTITY_INSERT name ON is in force."""

    def user_function(self, name: ObjectName) -> UserFunction | None:
        """The signature of a user function; None when unknown."""

    def type_names(self) -> Iterator[str]:
        """Yield the names of the types that the script created."""

    def user_type(self, name: ObjectName) -> SqlType | None:
        """A type that the script created (CREATE TYPE … FROM), None when unknown."""

    def not_null_type(self, name: ObjectName) -> bool:
        """Whether a type was created NOT NULL."""


@dataclass(frozen=True)
class Expression:
    """A scalar expression.  ``type`` is None when only the server will know."""

    code: n.Node
    type: SqlType | None = None
    before: tuple[n.Node, ...] = ()
    """Statements to run first, in the same transaction: the locks that hints ask for."""


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result: its name as written (None: unnamed) and its type where known."""

    name: str | None
    type: SqlType | None = None
    pg: str | None = None
    """As ``ColumnInfo.pg``."""
    every_of: str | None = None
    """For ``*``: the columns that this table of the server has when the statement runs."""


@dataclass(frozen=True)
class RowPlace:
    """The columns behind those of a cursor that find its row: (PostgreSQL name, type)."""

    columns: tuple[tuple[str, str], ...]

    @property
    def moves(self) -> bool:
        """An UPDATE of the row changes them."""
        return self.columns == (("ctid", "tid"),)


def keeping_of_types(sql: str, columns: Iterable[ColumnInfo], *, new: bool = True) -> n.Call | None:
    """What keeps the types of columns that PostgreSQL's do not tell; not ``new``: and those no more."""
    typed = [(fold(c.name), c.type) for c in columns if c.type is not None]
    kept = [(name, type_.kept) for name, type_ in typed if type_.kept or (not new and type_.may_be_kept)]
    if not kept:
        return None
    names = n.Array(tuple(n.Text(name) for name, _ in kept))
    types = n.Array(tuple(n.NULL if type_ is None else n.Text(type_) for _, type_ in kept))
    return n.Call("ssb_internal.keep_types", (n.Text(sql), names, types))
