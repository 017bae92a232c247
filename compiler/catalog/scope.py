"""What is known while a script is compiled: objects of the script, variables of a routine.

:class:`Catalog` lives as long as a compile session: current T-SQL database, tables,
procedures, functions and types that the script has made so far.  :class:`Scope` belongs to
one batch, procedure, function or trigger; it is what the translation of queries and DML asks
(:class:`~.objects.SqlScope`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import field
from typing import Any

from ...grammar.records import dataclass, replace
from ...grammar.tokens import Token
from .. import nodes
from ..target import nodes as n
from .names import DEFAULT_SCHEMA, MAX_IDENTIFIER_BYTES, ObjectName, fold, helper_name, quote, unquoted
from .objects import (
    CursorRow,
    ForeignKey,
    Known,
    ResultColumn,
    RowPlace,
    ScalarVariable,
    SchemaBinding,
    TableInfo,
    TableVariable,
    UserFunction,
)
from .types import BIGINT, INT, SMALLINT, SqlType, TypeError_, decimal, nvarchar, sql_type, typed_xml

__all__ = [
    "Catalog",
    "Cursor",
    "KnownNames",
    "Procedure",
    "ProcedureParameter",
    "Scope",
    "TableType",
    "UnknownType",
    "object_name",
    "plain_name",
    "sets_row_limit",
]

# Not reserved, but they would hide what generated code relies on: its variables, and words that
# PL/pgSQL takes as keywords only where no variable is named so (GET STACKED DIAGNOSTICS,
# #variable_conflict use_column). They get a _, and so do those that have one of their own:
# ssb_internal.variable_name (names/spelling.sql) finds a parameter by its name likewise.
_TAKEN = frozenset(
    "found sqlstate sqlerrm new old current_user session_user"
    " diagnostics stacked use_column variable_conflict".split()
)
# Unquoted, PL/pgSQL takes them as its own words behind RETURN, whatever variables there are.
_WORDS_OF_RETURN = ("next", "query")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

ERROR_FUNCTIONS: dict[str, tuple[str, SqlType]] = {
    "error_number": ("number", INT),
    "error_message": ("message", nvarchar(4000)),
    "error_severity": ("severity", INT),
    "error_state": ("state", INT),
    "error_procedure": ("procedure", nvarchar(128)),
    "error_line": ("line", INT),
}


_MAX_NAME = 128
"""Characters of a name in T-SQL."""


def plain_name(name: str) -> str:
    """Spell a variable for PL/pgSQL: the programmer's case where it needs no quotes."""
    name = name or "@"  # @ and @@ are names too
    lowered = name.lower()
    if lowered in _WORDS_OF_RETURN:
        return f'"{lowered}"'
    if (
        _PLAIN.match(name)
        and len(name) <= MAX_IDENTIFIER_BYTES
        and lowered.rstrip("_") not in _TAKEN
        and quote(lowered) == lowered
    ):
        return name
    folded = fold(name)
    if folded.rstrip("_") in _TAKEN:
        return f"{folded}_"
    return quote(folded)


def free_reference(name: str, known: Callable[[str], str | None], avoid: Collection[str] = ()) -> str:
    """Return the PL/pgSQL name of ``@name`` or ``@@name``.

    ``known`` tells that of another variable by its lowered name: only those are asked for that the @s alone
    make another, for a batch may have thousands.
    """
    lowered = name.lower()
    bare = lowered.lstrip("@")
    others = {
        reference.lower()
        for count in range(1, _MAX_NAME - len(bare) + 1)
        if (key := "@" * count + bare) != lowered and (reference := known(key))
    }
    reference = plain_name(name.lstrip("@"))
    # By its whole name a call that only the run time knows finds it among the others.
    free, number = (quote(fold(name)) if reference.lower() in others else reference), 1
    while fold(unquoted(free)) in avoid or free.lower() in others:
        number += 1
        free = plain_name(f"{unquoted(reference)}_{number}")
    return free


def _named(procedure: n.Node) -> n.Node:
    """Dynamic SQL runs as a procedure without a name, of which T-SQL knows nothing."""
    return n.Call("nullif", (procedure, n.Text("")))


def object_name(name: nodes.QualifiedName) -> ObjectName:
    """Turn a parsed dotted name into the one that knows its PostgreSQL spelling."""
    return ObjectName(
        name.name.text,
        name.schema.text if name.schema else None,
        name.database.text if name.database else None,
        name.server.text if name.server else None,
    )


class UnknownType(Exception):
    """A data type that is not known or is refused; the message says why, ``number`` is SQL Server's."""

    def __init__(self, message: str, number: int | None = None, hint: str | None = None) -> None:
        """Keep them."""
        super().__init__(message)
        self.number = number or 2715
        self.hint = hint


def _unknown_type(error: TypeError_, name: str, place: int) -> UnknownType:
    if error.number == 243:  # a name that no type has; outside of CAST it is another error
        return UnknownType(f"Column, parameter, or variable #{place}: Cannot find data type {name}.")
    return UnknownType(str(error), error.number)


@dataclass(frozen=True)
class ProcedureParameter:
    """A parameter of a procedure; ``name`` without its first @, as declared."""

    name: str
    type: SqlType | None
    """None for a table-valued or cursor parameter."""
    output: bool = False
    default: nodes.SqlText | None = None
    table_type: str | None = None
    """PostgreSQL row type of a table-valued parameter."""
    known_as: str = ""
    """Its PostgreSQL name, where another parameter differs from it by an @ alone."""

    @property
    def reference(self) -> str:
        """Its PostgreSQL name."""
        return self.known_as or plain_name(self.name.lstrip("@"))


@dataclass(frozen=True)
class Procedure:
    """A procedure that the script creates."""

    name: ObjectName
    sql_name: str
    """Schema-qualified PostgreSQL name."""
    parameters: tuple[ProcedureParameter, ...]
    session: str = "session"
    """Name of the hidden last parameter."""


@dataclass(frozen=True)
class TableType:
    """``CREATE TYPE … AS TABLE``: its row type in PostgreSQL and its columns."""

    row_type: str
    info: TableInfo


@dataclass
class Cursor:
    """A cursor of a routine: the PL/pgSQL variables that hold its rows and its place."""

    name: str
    rows: str
    position: str
    queries: list[n.Node] = field(default_factory=list)
    """PostgreSQL text that reads all rows, one for each DECLARE."""
    chosen: str | None = None
    """The variable that tells which query is in force, where there are several."""
    columns: tuple[ResultColumn, ...] | None = None
    scroll: bool = False
    fixed: bool = False
    """STATIC, INSENSITIVE or KEYSET: T-SQL knows the number of its rows from OPEN on."""
    row_place: RowPlace | None = None
    """What finds the row again, where WHERE CURRENT OF asks for it."""
    local: bool = False
    """Declared LOCAL: without the word T-SQL's default is GLOBAL, wherever the rows are kept here."""
    read_only: bool = False
    """Declared so, or over a query of which no row is one of a table."""
    update_columns: frozenset[str] = frozenset()
    """Those of FOR UPDATE OF; empty: all."""
    key: n.Variable | n.Text | None = None
    """What names it where the session keeps it for others; ``rows`` and ``position`` are empty then."""
    shown: str = ""
    """What errors call a cursor variable, with its @."""

    @property
    def variable(self) -> bool:
        """Whether ``key`` is a variable of the routine: ``@c`` that is, or is handed to, a parameter."""
        return isinstance(self.key, n.Variable)


@dataclass(frozen=True)
class KnownNames:
    """What a catalog knew at a moment, of everything that statements make, change and drop."""

    tables: dict[tuple[str, str], TableInfo]
    functions: dict[tuple[str, str], UserFunction]
    types: dict[tuple[str, str], SqlType]
    not_null_types: set[tuple[str, str]]
    table_types: dict[tuple[str, str], TableType]
    synonyms: dict[tuple[str, str], ObjectName]
    rules: dict[tuple[str, tuple[str, str]], tuple[Token, ...]]
    gone: set[tuple[str, str]]


class Catalog:
    """Objects known to a compile session, by their folded PostgreSQL names."""

    def __init__(
        self, database: str | None = None, default_database: str | None = None, collation: str = "cs"
    ) -> None:
        """Start in ``database`` (None: the default one); collation is ``cs`` or ``ci``."""
        self._first_database = fold(database) if database else fold(default_database or "")
        self.default_database = default_database
        self.case_insensitive = collation == "ci"
        self.tells_varchar = False
        self.nulls_are_equal = False
        """In keys: of a server that has NULLS NOT DISTINCT."""
        self.knows_server = False
        self.checks = False
        """Whether all scripts are checked together: what no script makes is told."""
        """The server's tables are among them: one that is not there is missing, or will be made unseen."""
        """The instance keeps nvarchar as UTF-16: which columns are varchar has to be known later."""
        self.keeps_source = False
        """The server keeps the T-SQL text of modules."""
        self.tables: dict[tuple[str, str], TableInfo] = {}
        self.procedures: dict[tuple[str, str], Procedure | None] = {}
        self.to_make: Counter[tuple[str, str]] = Counter()
        """How many times the rest of the scripts makes each procedure."""
        self.has_dropped = False
        """Whether there may be views that wait for what was dropped (modules/view_bindings.sql)."""
        self.gone: set[tuple[str, str]] = set()
        """Procedures that were dropped, or could not be made, and were not made again so far."""
        self.begun: set[tuple[str, str]] = set()
        """Those whose turn in the scripts has come."""
        self.bodies: dict[tuple[str, str], tuple[nodes.Statement, ...]] = {}
        """Bodies of the script's procedures: what they do to @@TRANCOUNT is found in them."""
        self.call_effects: dict[str, dict[Any, Any]] = {}
        self.call_reads: dict[str, dict[Any, Any]] = {}
        """What analysis/callees.py has found in them, by the current database, which completes names."""
        self.functions: dict[tuple[str, str], UserFunction] = {}
        self.types: dict[tuple[str, str], SqlType] = {}
        self.not_null_types: set[tuple[str, str]] = set()
        self.table_types: dict[tuple[str, str], TableType] = {}
        self.synonyms: dict[tuple[str, str], ObjectName] = {}
        self.followed_synonyms: dict[ObjectName, ObjectName] = {}
        """Those that the statement at hand has named, with what they stand for."""
        self.followed_in_text: dict[ObjectName, ObjectName] = {}
        """The same of the dynamic SQL at hand, as they were before it."""
        self.rules: dict[tuple[str, tuple[str, str]], tuple[Token, ...]] = {}
        """What CREATE RULE and CREATE DEFAULT said, by RULE or DEFAULT and the name."""
        self.connect_anew()

    def connect_anew(self) -> None:
        """Forget what ends with a connection: the database of USE, and the options of SET."""
        self.database = self._first_database
        self.identity_insert: set[tuple[str, str]] = set()
        self.nocount: bool | None = None
        """SET NOCOUNT at batch level, None while the script has not said."""
        self.xact_abort: bool | None = None
        self.unsure: set[str] = set()
        """Of these two those that an earlier batch has set on one of its ways only."""
        self.quoted_identifiers = True
        """SET QUOTED_IDENTIFIER for the texts of dynamic SQL, and for the next batch at a prompt."""
        self.row_limited = False
        """An earlier batch may have left SET ROWCOUNT in force."""
        self.noexec = False
        """An earlier batch may have left SET NOEXEC ON."""
        self.parse_only = False
        """SET PARSEONLY is ON."""
        self.implicit_transactions = False
        """An earlier batch has left SET IMPLICIT_TRANSACTIONS ON."""

    def keep(self) -> Callable[[], None]:
        """Return what puts the options of SET back: a refused batch does not run.

        Who checks a script mends it: names stay as the batch says, those that it makes and the database of
        USE. Where the script runs those that it makes are not there.
        """
        nocount, xact_abort, row_limited = self.nocount, self.xact_abort, self.row_limited
        identity_insert, unsure = set(self.identity_insert), set(self.unsure)
        names = self.known_names() if self.knows_server else None

        def put_back() -> None:
            self.nocount, self.xact_abort, self.row_limited = nocount, xact_abort, row_limited
            self.identity_insert, self.unsure = identity_insert, unsure
            if names is not None:
                self._know_again(names)

        return put_back

    def known_names(self) -> KnownNames:
        """Return what is known now."""
        return KnownNames(
            dict(self.tables),
            dict(self.functions),
            dict(self.types),
            set(self.not_null_types),
            dict(self.table_types),
            dict(self.synonyms),
            dict(self.rules),
            set(self.gone),
        )

    def with_its_names(self) -> Catalog:
        """Return another one that knows the server as this does, for a text that may make and drop things."""
        other = Catalog(self._first_database or None, self.default_database)
        other.case_insensitive = self.case_insensitive
        other.tells_varchar, other.knows_server = self.tells_varchar, self.knows_server
        other.nulls_are_equal = self.nulls_are_equal
        other.has_dropped = self.has_dropped
        other._know_again(self.known_names())
        return other

    def _know_again(self, names: KnownNames) -> None:
        self.tables, self.functions, self.types = names.tables, names.functions, names.types
        self.not_null_types, self.table_types = names.not_null_types, names.table_types
        self.synonyms, self.rules, self.gone = names.synonyms, names.rules, names.gone

    @property
    def in_default_database(self) -> bool:
        """Whether the current T-SQL database is the default one."""
        return not self.database or (
            self.default_database is not None and fold(self.default_database) == self.database
        )

    def is_current(self, database: str) -> bool:
        """Tell whether this is the current T-SQL database's name."""
        default = "" if self.default_database is None else fold(self.default_database)
        return fold(database) == (self.database or default)

    def key(self, name: ObjectName) -> tuple[str, str]:
        """Return (schema, name) in PostgreSQL."""
        return name.parts(self.database, self.default_database)

    def sql_name(self, name: ObjectName) -> str:
        """Return the schema-qualified PostgreSQL name."""
        return name.sql(self.database, self.default_database)

    def define_synonym(self, name: ObjectName, target: ObjectName) -> None:
        """CREATE SYNONYM: its target lies in the database that is current now, whatever USE says later.

        Where the name is taken (2714) it means what it meant.
        """
        database = target.database or self.database or self.default_database
        key = self.key(name)
        if key not in self.tables and (key not in self.procedures or key in self.gone or self.to_make[key]):
            self.synonyms.setdefault(key, replace(target, database=database))

    def followed(self, name: ObjectName) -> ObjectName:
        """Return what a synonym stands for; every other name as it is."""
        target = self.synonyms.get(self.key(name)) if self.synonyms else None
        if target is None:
            return name
        self.followed_synonyms[name] = target
        return target

    def define_procedure(self, procedure: Procedure) -> None:
        """Remember a procedure; with two different signatures in one script none is known."""
        key = self.key(procedure.name)
        known = self.procedures.get(key, procedure)
        self.procedures[key] = procedure if known == procedure else None

    def define_type(self, name: ObjectName, base: SqlType, not_null: bool) -> None:
        """CREATE TYPE … FROM: what is there already stays what it is."""
        key = self.key(name)
        if key not in self.types:
            self.types[key] = base
            if not_null:
                self.not_null_types.add(key)

    def forget_type(self, name: ObjectName) -> None:
        """DROP TYPE."""
        key = self.key(name)
        self.types.pop(key, None)
        self.not_null_types.discard(key)
        self.table_types.pop(key, None)

    def type_of(self, written: nodes.DataType, place: int = 1) -> SqlType:
        """Resolve a data type as written, of the parameter or variable at a place.  Raises UnknownType."""
        name = written.name
        if name.schema is None or name.schema.text.lower() == "sys":
            arguments = []
            for argument in written.arguments:
                if argument == "MAX":
                    arguments.append(-1)
                elif argument.isdecimal():
                    arguments.append(int(argument))
                else:
                    message = f"Incorrect syntax near '{argument}'."
                    raise UnknownType(message, 102, "a length is a number or MAX")
            if written.xml_collection is not None:
                return typed_xml(*self.key(object_name(written.xml_collection)), written.xml_document)
            try:
                return sql_type(name.name.text, tuple(arguments))
            except TypeError_ as error:
                known = self.types.get(self.key(object_name(name)))
                if known is None:
                    raise _unknown_type(error, name.name.text, place) from None
                return known
        known = self.types.get(self.key(object_name(name)))
        if known is None:
            # A type made elsewhere: the server knows it under this name.
            told = ".".join(part.text for part in (name.schema, name.name) if part is not None)
            return SqlType(name.name.text.lower(), user=self.sql_name(object_name(name)), written=told)
        return known

    def is_made_elsewhere(self, written: nodes.DataType) -> bool:
        """Tell whether only the server knows the type, as no script before has made it."""
        schema = written.name.schema
        of_user = schema is not None and schema.text.lower() != "sys"
        return of_user and self.key(object_name(written.name)) not in self.types

    def table_type_of(self, written: nodes.DataType) -> TableType | None:
        """Return the table type of that name, None when it is none."""
        return self.table_types.get(self.key(object_name(written.name)))


def sets_row_limit(statements: Iterable[nodes.Statement]) -> bool:
    """Tell whether SET ROWCOUNT with another value than 0 stands among statements, or inside them."""
    return any(
        isinstance(statement, nodes.SetOption) and "ROWCOUNT" in statement.names and statement.value != "0"
        for statement in nodes.all_of(statements)
    )


@dataclass
class Scope:
    """Variables of one routine, and the way from T-SQL's names to PL/pgSQL's.

    ``label`` qualifies variables inside queries; ``session`` is the PL/pgSQL variable of type
    ssb.session, None where there is none (functions, plain statements).
    """

    catalog: Catalog
    label: str = "batch"
    session: str | None = None
    missing_rows: list[str] = field(default_factory=list)
    """Unknown functions in FROM, with ``()`` in expressions, of the statement that is being translated."""
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    """Those that it makes."""
    identity: str | None = None
    """The variable that SCOPE_IDENTITY() reads, where the body asks for it."""
    asks_identity: bool = False
    """The body reads @@IDENTITY."""
    first_identity: str | None = None
    """In a trigger that does, the variable with what it was at the beginning."""
    routine: str | None = None
    """PostgreSQL name of the procedure, function or trigger."""
    trigger: bool = False
    function: bool = False
    """A user-defined function: its session, if any, counts rows and nothing else."""
    variables: dict[str, ScalarVariable] = field(default_factory=dict)
    table_variables: dict[str, TableVariable] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    """By what ``cursor_key`` returns."""
    local_cursors: Set[str] = frozenset()
    """Folded names that the body declares LOCAL."""
    cursor_variables: dict[str, Cursor] = field(default_factory=dict)
    last_opened: Cursor | None = None
    """The one that OPEN has named last, in the order of the text."""
    transition_tables: dict[str, TableInfo] = field(default_factory=dict)
    """INSERTED and DELETED of a trigger."""
    absent: dict[str, str] = field(default_factory=dict)
    """Those that the trigger's event does not have, with the one whose columns they have."""
    taken: set[str] = field(default_factory=set)
    """Folded names that helper variables must not have."""
    taken_around: Set[str] = frozenset()
    """Such names of all batches of a block, shared by their scopes."""
    avoid: set[str] = field(default_factory=set)
    """Names of the code around a dynamic batch, which its variables must not hide."""
    row_type_prefix: str = ""
    """In front of the names of a dynamic batch's row types."""
    row_type_home: str | None = None
    """The routine beside which they lie: the one whose code the dynamic batch is part of."""
    schema_binding: SchemaBinding | None = None
    """Of a view or function WITH SCHEMABINDING."""
    limits_recursion: bool = True
    limits_rows: bool = False
    """SET ROWCOUNT may be in force."""
    locks_rows: bool = False
    level_hint: str = ""
    changed_tables: Set[str] = frozenset()

    # -------------------------------------------------------- for the translation of queries and DML

    @property
    def database(self) -> str:
        """The current T-SQL database, folded."""
        return self.catalog.database

    @property
    def default_database(self) -> str | None:
        """The T-SQL database whose schemas carry no prefix."""
        if self.catalog.default_database is None and not self.catalog.database:
            return None
        return self.catalog.default_database or ""

    @property
    def case_insensitive(self) -> bool:
        """Option ``--collation ci``."""
        return self.catalog.case_insensitive

    @property
    def nulls_are_equal(self) -> bool:
        """Whether UNIQUE takes one NULL, as in SQL Server."""
        return self.catalog.nulls_are_equal

    @property
    def tells_varchar(self) -> bool:
        """Whether the bytes of varchar and nvarchar differ in this instance."""
        return self.catalog.tells_varchar

    @property
    def checks(self) -> bool:
        """Whether a table that is not known here is to be told of."""
        return self.catalog.checks

    @property
    def knows_server(self) -> bool:
        """Whether a table that is not known here was not on the server either."""
        return self.catalog.knows_server

    @property
    def row_limit(self) -> str | None:
        """SET ROWCOUNT as the session variable keeps it."""
        return f"{self.session}.row_limit" if self.limits_rows and self.session is not None else None

    def variable(self, name: str) -> ScalarVariable | None:
        """Return the scalar variable ``@name``."""
        return self.variables.get(name.lower())

    def table_variable(self, name: str) -> TableVariable | None:
        """Return the table variable ``@name``."""
        return self.table_variables.get(name.lower())

    def table(self, name: ObjectName) -> TableInfo | None:
        """Return a table made earlier in the script, or INSERTED and DELETED in a trigger."""
        if self.transition_tables and name.schema is None:
            found = self.transition_tables.get(fold(name.name))
            if found is not None:
                return found
        return self.catalog.tables.get(self.catalog.key(self.catalog.followed(name)))

    def synonym(self, name: ObjectName) -> ObjectName:
        """Return what a synonym stands for; every other name as it is."""
        return self.catalog.followed(name)

    def note_missing_rows(self, name: ObjectName) -> None:
        """Keep the name for the handler of the statement's errors."""
        self.missing_rows.append(fold(name.name))

    def note_missing_function(self, name: ObjectName) -> None:
        """Keep the name, likewise. (Of a schema that is there the server's error names the function.)"""
        if fold(name.schema or DEFAULT_SCHEMA) != DEFAULT_SCHEMA:
            self.missing_rows.append(f"{fold(name.name)}()")

    @property
    def is_module(self) -> bool:
        """Tell whether the text runs long after it was compiled: a procedure's or trigger's."""
        return self.routine is not None

    def note_foreign_key(self, key: ForeignKey) -> None:
        """Keep the foreign key for the handler of the statement's errors."""
        self.foreign_keys.append(key)

    def take_verb(self, verb: str | None) -> str | None:
        """Return what a statement's errors are told: its verb, and the unknown functions in its FROM.

        Of a table those of its foreign keys: ssb_internal.foreign_key_error reads them.
        """
        if self.foreign_keys:
            keys = json.dumps([key.parts for key in self.foreign_keys], ensure_ascii=False)
            self.foreign_keys.clear()
            self.missing_rows.clear()
            return f"{verb or 'CREATE TABLE'}: {keys}"
        if not self.missing_rows:
            return verb
        names = ".".join(self.missing_rows)
        self.missing_rows.clear()
        return f"{verb or ''}: {names}"

    def global_variable(self, name: str) -> Known | None:
        """Return ``@@…`` as the session variable keeps it."""
        if self.function and name.lower() == "@@nestlevel":
            # A function has no session from its caller; PostgreSQL's call stack tells how deep it is.
            return Known(n.Call("ssb_internal.nesting_level"), INT)
        if name.lower() == "@@procid" and self.routine is not None:
            if self.trigger:
                return Known(n.Call("ssb_internal.trigger_id", (n.Text(self.routine),)), INT)
            procedure = n.Cast(n.Cast(n.Text(self.routine), "regproc"), "oid")
            return Known(n.CertainCast(procedure, "integer"), INT)
        if name.lower() == "@@identity" and self.first_identity is not None:
            before = n.Variable(f"{self.label}.{self.first_identity}")
            return Known(n.Call("ssb_internal.identity_in_trigger", (before,)), decimal(38, 0))
        if name.lower() == "@@identity" and self.asks_identity:
            return Known(n.Variable(f"{self.session}.identity"), decimal(38, 0))
        if self.session is None or (self.function and name.lower() == "@@trancount"):
            return None
        session = n.Variable(self.session)
        match name.lower():
            case "@@rowcount":
                # A bigint there, for ROWCOUNT_BIG(): no function that takes an integer would be found.
                return Known(n.CertainCast(n.Member(session, "rowcount"), "integer"), INT)
            case "@@error":
                return Known(n.Member(session, "error"), INT)
            case "@@trancount":
                return Known(n.Member(session, "trancount"), INT)
            case "@@fetch_status":
                return Known(n.Member(session, "fetch_status"), INT)
            case "@@nestlevel":
                return Known(n.Member(session, "nestlevel"), INT)
            case "@@options":
                return Known(n.Call("ssb_internal.options", (session,)), INT)
            case "@@cursor_rows":
                return self._cursor_rows()
            case "@@procid":
                return Known(n.Integer(0), INT)
        return None

    def _cursor_rows(self) -> Known:
        cursor = self.last_opened
        if cursor is None or cursor.key is not None:
            return Known(n.Call("ssb_internal.kept_cursor_rows"), INT)
        count = n.Call("array_length", (n.Variable(cursor.rows), n.Integer(1)))
        arguments = (n.Variable(cursor.position), count, n.TRUE if cursor.fixed else n.FALSE)
        return Known(n.Call("ssb_internal.cursor_rows", arguments), INT)

    def context_function(self, name: str) -> Known | None:
        """Return ERROR_NUMBER() and its family, XACT_STATE(), SCOPE_IDENTITY()."""
        lowered = name.lower()
        if lowered == "scope_identity" and self.identity is not None:
            return Known(n.Variable(f"{self.label}.{self.identity}"), decimal(38, 0))
        if self.session is None or (self.function and lowered != "rowcount_big"):
            return None
        session = n.Variable(self.session)
        if lowered in ERROR_FUNCTIONS:
            column, type_ = ERROR_FUNCTIONS[lowered]
            field = n.Field(n.Member(session, "caught"), column)
            return Known(_named(field) if column == "procedure" else field, type_)
        if lowered == "xact_state":
            return Known(n.Call("ssb_internal.xact_state", (session,)), SMALLINT)
        if lowered == "rowcount_big":
            return Known(n.Member(session, "rowcount"), BIGINT)
        if lowered == "object_name(@@procid)":
            # As the definition spells it: PostgreSQL's catalog has the folded name.
            return Known(_named(n.Member(session, "procedure")), nvarchar(128))
        return None

    def updated_column(self, name: str) -> Known | None:
        """Return ``UPDATE(name)`` in a trigger."""
        return None

    def updated_columns(self) -> Known | None:
        """Return ``COLUMNS_UPDATED()`` in a trigger."""
        return None

    def kept_rows(self, name: str) -> str | None:
        """Return the table behind INSERTED or DELETED of an INSTEAD OF trigger."""
        return None

    def empty_like(self, name: str) -> str | None:
        """Return the rows whose columns an always empty INSERTED or DELETED has."""
        return self.absent.get(fold(name))

    def identity_insert(self, name: ObjectName) -> bool:
        """Tell whether SET IDENTITY_INSERT is ON for a table."""
        return self.catalog.key(name) in self.catalog.identity_insert

    def cursor_key(self, name: str, *, is_global: bool) -> str:
        """Return the key of a cursor: beside a LOCAL one a GLOBAL one of the same name has another."""
        key = fold(name)
        return f"{key} GLOBAL" if is_global and key in self.local_cursors else key

    def cursor_status(self, scope: str, name: str) -> Known | None:
        """Return CURSOR_STATUS of a cursor of this routine."""
        key = self.cursor_key(name, is_global=scope == "global")
        cursor = self.cursors.get(key) or self.cursor_variables.get(name.lower())
        if scope == "local" and not (cursor is not None and cursor.local):
            return Known(n.integer(-3), INT)
        if cursor is None or cursor.key is not None:
            # Without one: that of others, if any.
            kept = cursor.key if cursor is not None and cursor.key is not None else n.Text(fold(name))
            return Known(n.Call("ssb_internal.kept_cursor_status", (kept,)), INT)
        count = n.Call("array_length", (n.Variable(cursor.rows), n.Integer(1)))
        return Known(n.Call("ssb_internal.cursor_status", (n.Variable(cursor.position), count)), INT)

    def cursor_row(self, name: str) -> CursorRow | None:
        """Return what finds the row that a cursor stands on."""
        cursor = self.cursors.get(fold(name)) or self.cursor_variables.get(name.lower())
        if cursor is not None and cursor.read_only:
            read_only = (n.Integer(16929), n.Text("The cursor is READ ONLY."))
            return CursorRow((), n.Call("ssb_internal.raise_error", read_only))
        if cursor is None or cursor.row_place is None:
            return None
        places = cursor.row_place.columns
        count = len(places)
        # Behind the columns, whose number only the run time may know.
        rows, position = n.Variable(cursor.rows), n.Variable(cursor.position)
        width = n.Call("array_length", (rows, n.Integer(2)))
        cells = []
        for behind in reversed(range(count)):
            place: n.Node = n.infix("-", width, n.Integer(behind)) if behind else width
            if cursor.columns is not None:
                place = n.Integer(len(cursor.columns) + count - behind)
            cells.append(n.Element(n.Element(rows, position), place))
        size = n.Call("array_length", (rows, n.Integer(1)))
        return CursorRow(
            tuple((column, n.Cast(cell, type_)) for (column, type_), cell in zip(places, cells, strict=True)),
            n.Call("ssb_internal.require_row", (n.Text(cursor.name), position, size)),
            cells[-1] if cursor.row_place.moves else None,
            cursor.update_columns,
        )

    def is_cursor(self, name: str) -> bool:
        """Whether a variable was declared as a cursor."""
        return name.lower() in self.cursor_variables

    def user_function(self, name: ObjectName) -> UserFunction | None:
        """Return the signature of a user function."""
        return self.catalog.functions.get(self.catalog.key(name))

    def user_type(self, name: ObjectName) -> SqlType | None:
        """Return a type that the script created."""
        return self.catalog.types.get(self.catalog.key(name))

    def type_names(self) -> Iterator[str]:
        """Yield the names of the types that the script created."""
        return (name for _, name in self.catalog.types)

    def not_null_type(self, name: ObjectName) -> bool:
        """Whether a type was created NOT NULL."""
        return self.catalog.key(name) in self.catalog.not_null_types

    # -------------------------------------------------------- for the lowering

    def reserve(self, variables: Iterable[str]) -> None:
        """Keep helper variables off these T-SQL names (with @)."""
        self.taken.update(fold(name.lstrip("@")) for name in variables)

    def helper(self, wanted: str) -> str:
        """Return a name for a helper variable that no T-SQL variable and no other helper has."""
        plain = helper_name(wanted)
        name, number = plain, 1
        while name in self.taken or name in self.taken_around:
            number += 1
            name = f"{plain}_{number}"
        self.taken.add(name)
        return name

    def _free(self, name: str) -> str:
        """Return a name for ``@name`` or ``@@name`` that hides none of the code around."""

        def known(key: str) -> str | None:
            variable = self.variables.get(key) or self.table_variables.get(key)
            return variable.reference if variable else None

        return free_reference(name, known, self.avoid)

    def declare(self, name: str, type_: SqlType, *, qualifier: str | None = None) -> ScalarVariable:
        """Add the scalar variable ``@name``."""
        reference = self._free(name)
        variable = ScalarVariable(reference, f"{qualifier or self.label}.{reference}", type_)
        self.variables[name.lower()] = variable
        return variable

    def declare_table(
        self,
        name: str,
        row_type: str,
        info: TableInfo,
        *,
        qualifier: str | None = None,
        read_only: bool = False,
        counts: bool = False,
    ) -> TableVariable:
        """Add the table variable ``@name``; ``counts``: with a counter where it has an identity column."""
        reference = self._free(name)
        place = f"{qualifier or self.label}.{reference}"
        variable = TableVariable(reference, place, row_type, info, read_only)
        if counts and variable.identity is not None:
            variable = replace(variable, counter=self.helper(f"{helper_name(name.lstrip('@'))}_last"))
        self.table_variables[name.lower()] = variable
        return variable
