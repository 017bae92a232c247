"""What the lowering passes know of the routine around a statement, and what every statement shares.

Every statement runs in an exception block of its own (:meth:`Context.guard`), commits by itself where no
transaction is open (:meth:`Context.autocommit`), and leaves @@ERROR and @@ROWCOUNT behind where something
reads them (:meth:`Context.status`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from functools import lru_cache

from ...grammar.problems import NO_SYNONYM_FOR_QUEUES, SYNONYM_OF_QUEUE, Problems
from ...grammar.records import dataclass
from ...grammar.source import Span
from .. import nodes
from ..analysis.constants import Constants, Piece
from ..analysis.cursor_rows import LocatedTable
from ..analysis.live_status import Live, Status
from ..analysis.may_fail import cannot_raise, condition_cannot_raise
from ..analysis.transaction_depth import Depths
from ..catalog.names import ObjectName
from ..catalog.objects import Expression, TableInfo, TableVariable
from ..catalog.scope import Catalog, Scope, UnknownType, object_name
from ..catalog.types import INT, NVARCHAR_MAX, SqlType, meant_by
from ..plpgsql import nodes as pl
from ..sql import translate
from ..sql.dml.table_variable_rows import last_value
from ..sql.interface import Dml
from ..sql.operand_types import implicit_error
from ..sql.values import Value
from ..target import nodes as n


@lru_cache
def _field(session: str, name: str | None = None) -> pl.Name:
    """The session variable or a field of it: each statement that may fail asks for the same."""
    return pl.Name(session if name is None else f"{session}.{name}")


_SQLSTATE = pl.Name("SQLSTATE")
_SQLERRM = pl.Name("SQLERRM")


class Mode(Enum):
    """What kind of body is being lowered."""

    BATCH = "batch"
    PROCEDURE = "procedure"
    TRIGGER = "trigger"
    FUNCTION = "function"
    PLAIN = "plain"
    """Top-level statements without a block around them."""


@dataclass(frozen=True)
class Translated:
    """A translated expression; ``cannot_raise``: evaluating it never raises an error."""

    code: n.Node
    type: SqlType | None
    cannot_raise: bool
    before: tuple[n.Node, ...] = ()
    """Statements to run first."""

    @property
    def raw(self) -> pl.Raw:
        """It as a part of a statement."""
        return pl.Raw(self.code)


@dataclass
class Frame:
    """The block around a routine's body, or around the bodies of several batches."""

    declarations: dict[str, pl.Declaration] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    """Purpose and type → name."""


@dataclass
class Loop:
    """An enclosing WHILE: how many TRY and CATCH blocks were open where it began, and how to go on."""

    tries: int
    catches: int
    leave: tuple[pl.Statement, ...]
    """What BREAK comes to: EXIT, or the next state of a machine."""
    again: tuple[pl.Statement, ...]
    """What CONTINUE comes to."""


@dataclass(frozen=True)
class Try:
    """An enclosing TRY: the label of its block or, in a state machine, what goes on with its CATCH."""

    label: str = ""
    go: tuple[pl.Statement, ...] = ()

    def leave(self, when: pl.Expr | None) -> pl.Statement:
        """Leave it for its CATCH."""
        if not self.go:
            return pl.Exit(self.label, when)
        return pl.If(((when, self.go),)) if when is not None else pl.Together(self.go)


@dataclass
class Context:
    """What the passes know about the routine around a statement."""

    catalog: Catalog
    scope: Scope
    problems: Problems
    mode: Mode
    first_line: int
    """Line of the file that ERROR_LINE() calls 1."""
    depths: Depths
    liveness: Status
    body_label: str
    """Label of the block that an error leaves when no TRY is around."""
    declarations: dict[str, pl.Declaration] = field(default_factory=dict)
    """Variables of the routine's body block, by name, in order."""
    frame: Frame = field(default_factory=lambda: Frame())
    """Helper variables of the block around it."""
    text: Span | None = None
    """The batch as it is written, of a dynamic one the string: what is kept of a module that it makes."""
    helpers: dict[str, str] = field(default_factory=dict)
    """Shared helper variables: purpose and type → name."""
    prelude: list[pl.TopLevel] = field(default_factory=list)
    """Types that must exist before the routine."""
    loops: list[Loop] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    """The TRY blocks around, innermost last."""
    catches: int = 0
    """CATCH blocks around."""
    nesting: int = 0
    """Depth of IF, WHILE and TRY around."""
    started: bool = False
    """A statement beside DECLARE and SET options was met."""
    nocount: bool | None = None
    """SET NOCOUNT where it is known."""
    xact_abort: bool | None = None
    counters: dict[str, int] = field(default_factory=dict)
    routine_name: str | None = None
    """The routine's name as written, for ERROR_PROCEDURE()."""
    return_type: SqlType | None = None
    """Of a scalar function."""
    returned_table: str | None = None
    """The table variable that a multi-statement function returns."""
    constants: Constants = field(default_factory=Constants)
    """Which variables hold a known text before each statement."""
    placeholders: list[Placeholder] = field(default_factory=list)
    """Parts of a dynamic batch that only the run time knows."""
    at_end: list[pl.Statement] = field(default_factory=list)
    """What a dynamic batch that came to its end still does."""
    temporary_tables: dict[str, None] = field(default_factory=dict)
    """Temporary tables that the body makes, PostgreSQL names: they go when it is left."""
    string_level: int = 0
    """How many EXEC of a string are around."""
    reserved_labels: set[str] = field(default_factory=set)
    """Labels that the script gives to blocks."""
    cursor_definitions: dict[str, int] = field(default_factory=dict)
    """How many queries the body gives each of its cursors."""
    passed_cursors: frozenset[str] = frozenset()
    """Variables that the body hands to procedures for OUTPUT."""
    handed_cursors: frozenset[str] = frozenset()
    """Named cursors that the body assigns to such variables, or to its parameters."""
    deallocated_cursors: frozenset[str] = frozenset()
    """Cursors that the body deallocates."""
    located_cursors: dict[str, LocatedTable] = field(default_factory=dict)
    """Cursors that some statement names in WHERE CURRENT OF, and the table that it changes."""
    own_text_at: Span | None = None
    """Where a system procedure is executed whose T-SQL, compiled here, the script does not have."""
    receiving: Sequence[nodes.Statement] = ()
    """The body of a procedure that receives messages, empty for all others."""
    savepoints: bool = False
    """Statements run inside the exception blocks of savepoints: no COMMIT between them."""

    # ------------------------------------------------------------ names and values

    @property
    def session(self) -> str:
        """The PL/pgSQL variable of type ssb.session."""
        assert self.scope.session is not None
        return self.scope.session

    @property
    def in_function(self) -> bool:
        """A function: it has no errors, transactions or client of its own."""
        return self.mode is Mode.FUNCTION or self.scope.session is None

    def session_field(self, name: str) -> pl.Name:
        """Return a field of the session variable."""
        return _field(self.session, name)

    def label(self, stem: str) -> str:
        """Return a label that is not yet used: ``try_1``."""
        while True:
            self.counters[stem] = self.counters.get(stem, 0) + 1
            label = f"{stem}_{self.counters[stem]}"
            if label not in self.reserved_labels:
                return label

    def helper(self, wanted: str, type_: str, *, initial: pl.Expr | None = None) -> str:
        """Return a helper variable of the body block, declared once under the name it asks for."""
        key = f"{wanted}:{type_}"
        if key not in self.helpers:
            name = self.scope.helper(wanted)
            self.declarations[name] = pl.Declaration(name, type_, initial)
            self.helpers[key] = name
        return self.helpers[key]

    def new_variable(self, wanted: str, type_: str, initial: pl.Expr | None = None) -> str:
        """Return a helper variable that nothing else shares."""
        name = self.scope.helper(wanted)
        self.declarations[name] = pl.Declaration(name, type_, initial)
        return name

    def line(self, node: nodes.Node) -> int:
        """Return the line of a node as ERROR_LINE() counts."""
        return node.span.line - self.first_line + 1

    def problem(self, message: str, at: Span, hint: str | None = None, number: int | None = None) -> None:
        """Report a problem."""
        self.problems.add(message, at, hint, number)

    def object(self, name: nodes.QualifiedName) -> ObjectName:
        """Return a dotted name, synonyms followed."""
        return self.catalog.followed(object_name(name))

    def relation(self, name: nodes.QualifiedName) -> str:
        """Return the schema-qualified PostgreSQL name of a queue, table or procedure."""
        return self.catalog.sql_name(self.object(name))

    def type_of(self, written: nodes.DataType, place: int = 1) -> SqlType:
        """Resolve the type of the parameter or variable at a place; int after a problem."""
        try:
            return self.catalog.type_of(written, place)
        except UnknownType as error:
            hint = error.hint
            if hint is None and error.number == 2715:
                hint = meant_by(written.name.name.text, self.scope.type_names())
            self.problem(str(error), written.span, number=error.number, hint=hint)
            return SqlType("int")

    # ------------------------------------------------------------ queries and DML

    def expression(
        self,
        text: nodes.SqlText,
        target: SqlType | None = None,
        columns: TableInfo | None = None,
        *,
        exact: bool = False,
        assigned: bool = False,
    ) -> Translated:
        """Translate an expression, converted to ``target`` as an assignment would.

        ``exact``: for an argument of a function, which PostgreSQL finds by its type; ``assigned``: SET and
        DECLARE refuse what is not converted implicitly.
        """
        result = translate.translate_expression(
            text, self.scope, self.problems, target=target, columns=columns, exact=exact, assigned=assigned
        )
        never_raises = columns is None and cannot_raise(text.tree, self.scope, target)
        return Translated(result.code, result.type, never_raises, result.before)

    def value(self, text: nodes.SqlText, target: SqlType | None = None) -> pl.Expr:
        """Translate an expression to a piece of the target tree."""
        result = self.expression(text, target)
        return pl.Raw(result.code)

    def argument(self, text: nodes.SqlText, target: SqlType) -> pl.Expr:
        """Translate an expression to an argument of a function that takes ``target``."""
        result = self.expression(text, target, exact=True)
        return pl.Raw(result.code)

    def given(self, text: nodes.SqlText, target: SqlType) -> pl.Expr:
        """Translate what a clause is given: what no assignment converts is problem 206 or 257."""
        return self.expression(text, target, exact=target is INT, assigned=True).raw

    def condition(self, text: nodes.SqlText) -> Translated:
        """Translate a search condition."""
        result = translate.translate_condition(text, self.scope, self.problems)
        never_raises = condition_cannot_raise(text.tree, self.scope)
        return Translated(result.code, result.type, never_raises, result.before)

    def variable(self, variable: nodes.Variable) -> pl.Name:
        """Return a scalar variable; an undeclared one is problem 137."""
        known = self.scope.variable(variable.name)
        if known is None:
            self.problem(f'Must declare the scalar variable "{variable.name}".', variable.span, number=137)
            return pl.Name("NULL")
        return pl.Name(known.reference)

    def name_or_text(self, value: nodes.Identifier | nodes.StringLiteral | nodes.Variable) -> pl.Expr:
        """Return a Service Broker name: text, or the variable that holds it."""
        match value:
            case nodes.Identifier():
                return pl.Text(value.text)
            case nodes.StringLiteral():
                return pl.Text(value.value)
            case nodes.Variable():
                known = self.scope.variable(value.name)
                spelled = self.variable(value)
                if known is None or known.is_text or known.type.is_string or known.type.family == "user":
                    return spelled
                # A broker instance often comes as the uniqueidentifier that sys.databases has.
                code = pl.tree(spelled)
                error = implicit_error(Value(code, known.type), NVARCHAR_MAX)
                if error is not None:
                    self.problem(error[1], value.span, number=error[0])
                return pl.Raw(translate.convert_expression(Expression(code, known.type), NVARCHAR_MAX).code)

    def queue(self, name: nodes.QualifiedName) -> pl.Text:
        """Return a queue as the functions take it: 'schema.name'."""
        return pl.Text(self.relation(name))

    def broker_queue(self, name: nodes.QualifiedName) -> pl.Text:
        """Return a queue as :meth:`Context.queue` does; a synonym cannot stand for one (4135)."""
        written = object_name(name)
        queue = self.catalog.followed(written)
        if queue != written:
            self.problem(
                SYNONYM_OF_QUEUE.format(name.text, queue.text),
                name.span,
                number=4135,
                hint=NO_SYNONYM_FOR_QUEUES,
            )
        return self.queue(name)

    def database_argument(self) -> tuple[tuple[str, pl.Expr], ...]:
        """Return the argument that names the T-SQL database, where it is not the default one."""
        if self.catalog.in_default_database:
            return ()
        return (("database", pl.Text(self.catalog.database)),)

    # ------------------------------------------------------------ what statements share

    def guard(
        self,
        node: nodes.Node,
        body: Sequence[pl.Statement],
        *,
        verb: str | None = None,
        hints: bool = False,
        after_error: Sequence[pl.Statement] = (),
    ) -> list[pl.Statement]:
        """Run ``body`` in an exception block of its own that sends its error on its way.

        ``verb`` (INSERT …) asks for the detail of constraint violations too; ``hints``, with
        a verb: the runtime's errors may have a hint. ``after_error`` runs in the handler when
        the error leaves neither a TRY block nor the routine.
        """
        if self.mode in (Mode.FUNCTION, Mode.PLAIN):
            return list(body)
        arguments: list[pl.Expr] = [
            _field(self.session),
            pl.Number(self.line(node)),
            _SQLSTATE,
            _SQLERRM,
        ]
        handler: list[pl.Statement] = []
        verb = self.scope.take_verb(verb)
        if verb is not None:
            detail = self.outer_helper("detail", "text")
            arguments += [pl.Name(detail), pl.Text(verb)]
            hint = self.outer_helper("hint", "text") if hints else None
            handler.append(pl.GetDetail(detail, hint))
            if hint is not None:
                arguments.append(pl.Name(hint))
        handler.append(pl.Assign(self.session, pl.Invoke("ssb_internal.failed", tuple(arguments))))
        handler.append(self.leave_after_error())
        if not self.tries:
            handler += after_error
        return [pl.Block(tuple(body), handler=tuple(handler))]

    def counted_rows(self) -> n.Node:
        """Tell whether the session has counted a row: a condition."""
        return n.Comparison(">", n.Variable(f"{self.session}.rowcount"), n.Integer(0))

    def note_identity(self, target: str, inserted: n.Node) -> list[pl.Statement]:
        """Keep what an INSERT into ``target`` made, where the body reads SCOPE_IDENTITY().

        ``inserted``: a condition, that it has inserted a row.
        """
        kept = self.scope.identity
        if kept is None:
            return []
        before = n.Variable(kept)
        made = n.Call("ssb_internal.identity_after", (n.Text(target), before))
        return [pl.Assign(kept, pl.Raw(n.Case(((inserted, made),), default=before)))]

    def note_last_identity(self, variable: TableVariable, added: n.Node) -> list[pl.Statement]:
        """Keep the identity of a table variable's last row, where SCOPE_IDENTITY() or @@IDENTITY is read."""
        column = next((column for column in variable.info.columns if column.identity is not None), None)
        kept = [self.scope.identity] if self.scope.identity is not None else []
        if self.scope.asks_identity:
            kept.append(self.session_field("identity").spelling)
        if column is None or not kept:
            return []
        last = last_value(variable, column)
        condition = n.Comparison(">", added, n.Integer(0))
        return [pl.If(((pl.Raw(condition), tuple(pl.Assign(name, pl.Raw(last)) for name in kept)),))]

    def begin_telling(self, dml: Dml) -> list[pl.Statement]:
        """Before a statement whose triggers, or which in a trigger, may have something for @@IDENTITY."""
        if self.mode is Mode.TRIGGER and dml.identity:
            told = self.helper("told_before", "text")
            return [pl.Assign(told, pl.Invoke("ssb_internal.begin_telling"))]
        return []

    def tells_always(self, dml: Dml) -> bool:
        """Tell whether somebody surely asks what is inserted: this body, or who fires this trigger."""
        return dml.identity if self.mode is Mode.TRIGGER else self.scope.asks_identity

    def end_telling(self, dml: Dml, inserted: n.Node, verb: str) -> list[pl.Statement]:
        """Behind it. ``inserted``: a condition, that the statement itself has inserted a row."""
        if self.mode is not Mode.TRIGGER:
            return self.tell(dml.target, inserted, forgets=verb == "INSERT" and not dml.identity)
        if not dml.identity:
            return []
        before = pl.Name(self.helper("told_before", "text"))
        arguments = (pl.Text(dml.target), pl.Raw(inserted), before)
        return [pl.Perform(pl.Invoke("ssb_internal.tell_identity", arguments))]

    def tell(self, target: str, inserted: n.Node, *, forgets: bool = False) -> list[pl.Statement]:
        """Note what a statement or its triggers inserted, where @@IDENTITY is read here or may be around.

        ``forgets``: it is an INSERT into a table that has no identity column; @@IDENTITY is NULL behind it.
        """
        if self.scope.session is None or self.mode is Mode.TRIGGER:
            return []
        identity = self.session_field("identity")
        before = pl.NULL if forgets else identity
        told = pl.Invoke("ssb_internal.identity_told", (pl.Text(target), pl.Raw(inserted), before))
        if self.scope.asks_identity:
            return [pl.Assign(identity.spelling, told)]
        if self.mode is Mode.PROCEDURE or self.string_level:
            return [pl.AssignIf(self.session_field("tells_identity"), identity.spelling, told)]
        return []

    def around_call(self) -> tuple[list[pl.Statement], list[pl.Statement]]:
        """What stands before and behind EXEC in a trigger, whose INSERTs count for who fires it."""
        if self.mode is not Mode.TRIGGER:
            return [], []
        told = self.helper("told_before", "text")
        identity, tells = self.session_field("identity"), self.session_field("tells_identity")
        begin: list[pl.Statement] = [
            pl.Assign(told, pl.Invoke("ssb_internal.begin_telling")),
            pl.Assign(tells.spelling, pl.TRUE),
            pl.Assign(identity.spelling, pl.NULL),
        ]
        return begin, [pl.Perform(pl.Invoke("ssb_internal.tell_called", (identity, pl.Name(told))))]

    @property
    def lasts(self) -> bool:
        """Whether what is set here is still set in the next batch: not in a module, nor in EXEC ('…')."""
        return self.mode is Mode.BATCH and not self.string_level

    def note_option(self, name: str, on: bool) -> None:
        """From here on NOCOUNT or XACT_ABORT is so, whichever way control came."""
        setattr(self, name, on)
        if self.lasts:
            setattr(self.catalog, name, on)
            self.catalog.unsure.discard(name)

    def forget_option(self, name: str) -> None:
        """From here on only the run time knows it."""
        setattr(self, name, None)
        if self.lasts:
            setattr(self.catalog, name, None)
            self.catalog.unsure.add(name)

    def outer_helper(self, wanted: str, type_: str) -> str:
        """Return a helper variable of the block around the body, declared once."""
        key = f"{wanted}:{type_}"
        if key not in self.frame.helpers:
            name = self.scope.helper(wanted)
            self.frame.declarations[name] = pl.Declaration(name, type_)
            self.frame.helpers[key] = name
        return self.frame.helpers[key]

    def leave_after_error(self, *, certain: bool = True) -> pl.Statement:
        """Leave the TRY block or, where the session says so, the routine.

        ``certain``: an error has just happened, so that TRY is left without asking.
        """
        if self.tries:
            return self.tries[-1].leave(None if certain else self.session_field("leaving"))
        return pl.Exit(self.body_label, self.session_field("leaving"))

    def leave_if_failed(self) -> pl.Statement:
        """After a CALL: leave if it came back with an error."""
        return self.leave_after_error(certain=False)

    def autocommit(self, node: nodes.Statement) -> list[pl.Statement]:
        """After a write: commit it where no transaction can be open."""
        if self.mode not in (Mode.BATCH, Mode.PROCEDURE) or 0 not in self.depths.before(node):
            return []
        if self.savepoints:
            return []
        return [pl.CommitIf(self.session_field("autocommit"))]

    def status(
        self, node: nodes.Node, rowcount: pl.Expr | None = None, *, live: Live | None = None
    ) -> list[pl.Statement]:
        """Set @@ERROR to 0 and @@ROWCOUNT (None: it is set already) where they are read."""
        if self.scope.session is None:
            return []
        if live is None:
            assert isinstance(node, nodes.Statement)
            live = self.liveness.after(node)
        result: list[pl.Statement] = []
        if live.error:
            result.append(pl.Assign(f"{self.session}.error", pl.Number(0)))
        if live.rowcount and rowcount is not None:
            result.append(pl.Assign(f"{self.session}.rowcount", rowcount))
        return result if len(result) < 2 else [pl.Together(tuple(result))]

    def counts(self, node: nodes.Statement) -> bool:
        """Whether the row count of a statement is needed: read, or to be shown."""
        if self.scope.session is None:
            return False
        return self.liveness.after(node).rowcount or self.nocount is not True

    def count_rows(self, node: nodes.Statement) -> list[pl.Statement]:
        """Right after a SQL statement: keep its row count, and show it where NOCOUNT may be OFF."""
        if not self.counts(node):
            return []
        return [pl.GetRowCount(f"{self.session}.rowcount"), *self.show_count()]

    def define(self, table: TableInfo, *, makes: bool = True) -> None:
        """Keep what the script knows of its tables up to date.

        ``makes``: the statement makes the table, which then goes with the body; others change one.
        """
        if table.name is not None:
            self.catalog.tables[self.catalog.key(table.name)] = table
            if makes and table.name.is_temporary:
                self.temporary_tables[self.catalog.sql_name(table.name)] = None

    def bind_views(self, tables: Sequence[TableInfo] | None = None) -> list[pl.Invoke]:
        """Return what follows a statement that makes what views may wait for.

        ``tables``: it has made no more than these.
        """
        if tables is not None and all(one.name is not None and one.name.is_temporary for one in tables):
            return []
        return [pl.Invoke("ssb_internal.bind_views", ())] if self.catalog.has_dropped else []

    def make_temporary_tables(self, tables: Sequence[TableInfo]) -> list[pl.Statement]:
        """Return what precedes the making of temporary tables: a caller's of the same name stands back."""
        if self.mode not in (Mode.PROCEDURE, Mode.TRIGGER) and not self.string_level:
            return []
        level = pl.Name(f"{self.session}.nestlevel")
        names = [self.catalog.sql_name(t.name) for t in tables if t.name is not None and t.name.is_temporary]
        return [
            pl.Perform(pl.Invoke("ssb_internal.make_temporary_table", (level, pl.Text(name))))
            for name in names
        ]

    def drop_temporary_tables(self) -> list[pl.Statement]:
        """Return what a procedure or dynamic batch does with its temporary tables at its end."""
        if not self.temporary_tables:
            return []
        names = pl.Array(tuple(pl.Text(name) for name in self.temporary_tables), "text")
        drop = pl.Perform(pl.Invoke("ssb_internal.drop_own_temporary_tables", (pl.Name(self.session), names)))
        return [drop, pl.CommitIf(self.session_field("autocommit"))] if self.may_commit_at_its_end else [drop]

    @property
    def may_commit_at_its_end(self) -> bool:
        """Whether COMMIT is possible behind the body, once that is lowered."""
        return not self.savepoints and self.mode in (Mode.BATCH, Mode.PROCEDURE)

    def show_count(self) -> list[pl.Statement]:
        """Show @@ROWCOUNT to the client unless NOCOUNT is surely ON."""
        if self.nocount is True or self.scope.session is None:
            return []
        return [pl.Perform(pl.Invoke("ssb_internal.show_count", (pl.Name(self.session),)))]


def named(*pairs: tuple[str, pl.Expr | None]) -> tuple[tuple[str, pl.Expr], ...]:
    """Return named arguments, those that were not written left out."""
    return tuple((name, value) for name, value in pairs if value is not None)


def call(ctx: Context, function: str, *positional: pl.Expr, **options: pl.Expr | None) -> list[pl.Invoke]:
    """Return one call; options that are not written are left out, the T-SQL database is added."""
    return [pl.Invoke(function, positional, named(*options.items()) + ctx.database_argument())]


def text_or_none(value: nodes.Identifier | nodes.StringLiteral | None) -> pl.Expr | None:
    """Return a literal, or None for what is not written."""
    if value is None:
        return None
    return pl.Text(value.text if isinstance(value, nodes.Identifier) else value.value)


def flag(value: bool | None) -> pl.Expr | None:
    """Return true or false, or None for what is not written."""
    return None if value is None else (pl.TRUE if value else pl.FALSE)


def texts(values: Sequence[str]) -> pl.Expr:
    """Return an array of strings."""
    return pl.Array(tuple(pl.Text(value) for value in values), "text")


@dataclass(frozen=True)
class Placeholder:
    """A piece in its text: ``kind`` is text (inside a literal), name, or value."""

    number: int
    piece: Piece
    kind: str
    variable: str
    """The PL/pgSQL variable that holds its text while the whole runs."""

    is_quoted: bool = False
    """Whether brackets or QUOTENAME keep the text together."""
    is_bracketed: bool = False
    """Whether it stands between brackets of the text around it."""

    @property
    def scalar(self) -> str:
        """The value that the text, a number or a string in quotes, stands for."""
        return f"ssb_internal.dynamic_scalar({self.variable})"


SESSION_TYPE = "ssb.session"
