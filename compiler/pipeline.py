"""A script → PostgreSQL text: the passes, in order.

parse (grammar) → typed nodes (build) → PL/pgSQL tree (lower_*) → text (emit).

A batch without variables and control flow becomes plain top-level statements.  Any other
becomes a DO block that the client runs outside a transaction block, so that COMMIT and
ROLLBACK in it are real.  A batch that leaves a transaction open is compiled together with
those after it, up to the one that closes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from ..grammar.batches import BatchText, split
from ..grammar.problems import Problem, Problems
from ..grammar.source import Source, Span
from . import emit, nodes
from . import plpgsql as pl
from .build import parse_batch
from .check import check_chains
from .execution_switches import parse_only, when_executing
from .flow_status import DEAD, Status, reads_at_start
from .flow_transactions import ANY, CLOSED, Depths, State
from .flow_types import types_declared, types_made
from .lower import Context, Frame, Mode
from .lower_batch import lower_batch_body, lower_module, lower_plain
from .lower_module import function_signature
from .lower_procedure import call_effect, callee_reads, signature, variable_names
from .lower_query import announce_type, table_type_statement
from .scope import Catalog, Scope, object_name, sets_row_limit

__all__ = [
    "CompileOptions",
    "CompileSession",
    "CompiledBatch",
    "CompiledScript",
    "CompiledStatement",
    "check_scripts",
    "compile_script",
    "ends_batch",
]

_ENDING = frozenset({207, 208, 217, 235, 241, 242, 244, 245, 248, 293, 295, 628, 1205, 3609, 8114, 8169})
_MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger, nodes.CreateView)
_DEFINING = frozenset({"PROC", "PROCEDURE", "FUNCTION", "USE"})
_LOCAL_VARIABLE = re.compile(r"(?<![@\w])@[A-Za-z_#$\u0080-\uffff]")
_SESSION_STATE = re.compile(
    r"@@(ERROR|ROWCOUNT|TRANCOUNT|FETCH_STATUS|CURSOR_ROWS|NESTLEVEL|PROCID|OPTIONS)"
    r"|XACT_STATE|ERROR_\w+\s*\(|ROWCOUNT_BIG",
    re.I,
)
_TABLE_LOCK = re.compile(
    r"\bTABLOCKX\b|\bMERGE\b.*\b(HOLDLOCK|SERIALIZABLE|TABLOCK|XLOCK|UPDLOCK)\b", re.I | re.S
)
"""Hints that become LOCK TABLE, which must stand in one transaction with its statement."""
_PLAIN = (
    nodes.SqlStatement,
    nodes.CreateTable,
    nodes.Receive,
    nodes.Send,
    nodes.EndConversation,
    nodes.BeginConversationTimer,
    nodes.MoveConversation,
    nodes.SetOption,
    nodes.Use,
    nodes.EmptyStatement,
)
_NEVER_PLAIN = (
    nodes.Block,
    nodes.AtomicBlock,
    nodes.If,
    nodes.While,
    nodes.TryCatch,
    nodes.Declare,
    nodes.ExecuteAs,
    nodes.Revert,
)


def ends_batch(number: int, xact_abort: bool = False) -> bool:
    """Tell whether an error with this number, raised outside TRY, ends its batch.

    For plain statements: in DO blocks the compiled code decides. ``xact_abort``: SET
    XACT_ABORT is ON.
    """
    return xact_abort or number in _ENDING or 9400 <= number <= 9499


@dataclass(frozen=True)
class CompileOptions:
    """How to compile.

    ``database`` is the T-SQL database to start in, ``default_database`` the one whose schemas
    carry no prefix (None: only the server knows). ``collation`` is ``cs``, PostgreSQL's
    comparison of strings, or ``ci``, SQL Server's usual one. ``keep_source``: the server keeps the
    T-SQL text of procedures, functions, triggers and views for OBJECT_DEFINITION and sp_helptext.
    """

    database: str | None = None
    default_database: str | None = None
    collation: str = "cs"
    keep_source: bool = False


@dataclass(frozen=True)
class CompiledStatement:
    """One statement for the server.

    ``returns_rows``: its rows are a result set of the script. ``counts_rows``: its row count
    is to be shown, as NOCOUNT OFF asks for. ``columns``: the names of the result's columns as
    the script spells them, None for one without a name; None as a whole where ``*`` stands for
    columns that are not known. ``continues``: it is a further part of a statement of the
    script, and must not run where the part before it failed.
    """

    sql: str
    returns_rows: bool
    span: Span
    counts_rows: bool = False
    columns: tuple[str | None, ...] | None = None
    continues: bool = False


@dataclass(frozen=True)
class CompiledBatch:
    """What a batch became. One with problems has no statements.

    A batch that was compiled into the batch before it has none either.
    """

    statements: tuple[CompiledStatement, ...]
    line: int
    repeat: int = 1
    problems: tuple[Problem, ...] = ()
    comments: tuple[str, ...] = ()
    """Comments behind the last statement."""


@dataclass(frozen=True)
class CompiledScript:
    """A compiled script: its batches, and all that is wrong with it."""

    batches: tuple[CompiledBatch, ...]
    problems: Problems = field(compare=False)

    def text(self) -> str:
        """Return the script as psql runs it."""
        parts: list[str] = []
        for batch in self.batches:
            for _ in range(batch.repeat):
                parts += [f"{statement.sql};" for statement in batch.statements]
            parts += batch.comments
        return "".join(f"{part}\n\n" for part in parts)


def compile_script(source: Source, options: CompileOptions | None = None) -> CompiledScript:
    """Compile a script; what is wrong with it is in ``problems`` of the result."""
    session = CompileSession(options)
    batches = tuple(session.compile_script(source))
    return CompiledScript(batches, session.problems)


def check_scripts(sources: Sequence[Source], options: CompileOptions | None = None) -> Problems:
    """Return what is wrong with scripts that run one after the other on one connection.

    Types and modules of all of them are known to each: the files of a project have no order. Keeps
    nothing of the batches but what they define.
    """
    session = CompileSession(options)
    session.announce(sources)
    for source in sources:
        for _ in session.compile_script(source):
            pass
    return session.problems


class CompileSession:
    """Compiles scripts or batches one after the other, keeping what they define."""

    def __init__(self, options: CompileOptions | None = None) -> None:
        """Start with no knowledge of the server."""
        options = options or CompileOptions()
        self.catalog = Catalog(options.database, options.default_database, options.collation)
        self.problems = Problems()
        self._keep_source = options.keep_source
        self._stops: Callable[[int], bool] = lambda line: False

    def compile_script(
        self, source: Source, *, stops: Callable[[int], bool] = lambda line: False
    ) -> Iterator[CompiledBatch]:
        """Yield the batches of a script, compiled, in order; holds what it defines and a few batches.

        ``stops`` tells whether an error in the batch that begins on a line ends the script: batches of
        one transaction run as one block, which then ends by itself.
        """
        self._stops = stops
        read = {batch.span.start: (batch, problems) for batch, problems in self.announce([source])}

        def batches() -> Iterator[nodes.Batch]:
            for text in split(source, self.problems):
                batch, problems = read.get(text.start, (None, None))
                if batch is None or problems is None:
                    yield _read_batch(text, self.problems)
                else:
                    self.problems.extend(problems)
                    yield batch

        yield from self._compile(batch for batch in map(self._switched, batches()) if batch)

    def compile_batch(self, source: Source) -> tuple[CompiledBatch, ...]:
        """Compile what a user typed up to GO."""
        return tuple(self.compile_script(source))

    def _switched(self, batch: nodes.Batch) -> nodes.Batch | None:
        """Return the batch as SET NOEXEC has it run; None where SET PARSEONLY lets it only be read."""
        if batch.has_errors:
            return batch
        self.catalog.parse_only = parse_only(batch, self.catalog.parse_only)
        if self.catalog.parse_only:
            return None
        batch, self.catalog.noexec = when_executing(batch, self.catalog.noexec, self.problems)
        return batch

    # ------------------------------------------------------------ groups of batches

    def announce(self, sources: Sequence[Source]) -> list[tuple[nodes.Batch, Problems]]:
        """Learn the types and modules of whole scripts first: bodies may name what comes later.

        Returns the batches that define something, in order, each with what is wrong with it.
        """
        read = []
        for source in sources:
            for text in split(source, Problems()):
                if _may_define(text):
                    problems = Problems()
                    read.append((_read_batch(text, problems), problems))
        batches = [batch for batch, _ in read]
        # Signatures name table types.
        self._announce(batches, self._announce_type)
        self._announce(batches, self._announce_module)
        return read

    def _announce(
        self, batches: Sequence[nodes.Batch], learn: Callable[[nodes.Statement, nodes.Batch], None]
    ) -> None:
        database = self.catalog.database
        for batch in batches:
            for statement in batch.statements:
                if isinstance(statement, nodes.Use):
                    self.catalog.database = statement.database.text.lower()
                learn(statement, batch)
        self.catalog.database = database

    def _announce_type(self, statement: nodes.Statement, batch: nodes.Batch, nesting: int = 0) -> None:
        """What is wrong with it is reported when its turn comes. Inside an IF it may be there already."""
        if isinstance(statement, nodes.SqlStatement) and statement.kind == "CREATE TYPE":
            context = self._context(batch, Problems(), Scope(self.catalog), Frame(), CLOSED)
            context.nesting = nesting
            if table_type_statement(statement, context) is None:
                announce_type(statement, context)
        for child in nodes.children_of(statement):
            self._announce_type(child, batch, nesting + 1)

    def _announce_module(self, statement: nodes.Statement, batch: nodes.Batch) -> None:
        if isinstance(statement, nodes.CreateProcedure):
            procedure = signature(statement, self.catalog)
            self.catalog.define_procedure(procedure)
            self.catalog.bodies[self.catalog.key(procedure.name)] = statement.body
        elif isinstance(statement, nodes.CreateFunction):
            key = self.catalog.key(object_name(statement.name))
            self.catalog.functions.setdefault(key, function_signature(statement, self.catalog))

    def _compile(self, batches: Iterator[nodes.Batch]) -> Iterator[CompiledBatch]:
        following = next(batches, None)
        while following is not None:
            group, following = self._group(following, batches)
            yield from self._compile_group(group, following)

    def _group(
        self, first: nodes.Batch, others: Iterator[nodes.Batch]
    ) -> tuple[list[nodes.Batch], nodes.Batch | None]:
        """Return the batches from ``first`` up to the one after which no transaction is open, and the next.

        Where none need be open they end before a batch whose variables are of a type that they make.
        """
        group: list[nodes.Batch] = []
        made: set[str] = set()
        state: State = CLOSED
        for batch in chain((first,), others):
            module = bool(batch.statements) and isinstance(batch.statements[0], _MODULES)
            if made and not module and state & CLOSED and made & types_declared(batch.statements):
                return group, batch
            group.append(batch)
            if not batch.has_errors and not module:
                state = Depths(batch.statements, state, call_effect(self.catalog)).exit
                if batch.repeat > 1:
                    state |= Depths(batch.statements, state, call_effect(self.catalog)).exit
            if state <= CLOSED:
                break
            made |= types_made(batch.statements)
        return group, next(others, None)

    def _compile_group(
        self, group: list[nodes.Batch], following: nodes.Batch | None
    ) -> Iterator[CompiledBatch]:
        first = group[0]
        if len(group) == 1:
            if first.has_errors:
                yield self._failed(first, self.problems.within(first.span))
                return
            if first.statements and isinstance(first.statements[0], _MODULES):
                yield self._module(first)
                return
            if self._is_plain(first, following):
                yield self._plain(first)
                return
        yield from self._block(group)

    def _failed(self, batch: nodes.Batch, problems: Sequence[Problem]) -> CompiledBatch:
        return CompiledBatch((), batch.line, problems=tuple(problems))

    # ------------------------------------------------------------ plain statements

    def _is_plain(self, batch: nodes.Batch, following: nodes.Batch | None) -> bool:
        if batch.repeat > 1 or (following is not None and reads_at_start(following.statements)):
            return False
        if self.catalog.xact_abort and len(batch.statements) > 1:
            return False
        if self.catalog.row_limited or sets_row_limit(batch.statements):
            return False
        return all(_is_plain(statement) for statement in batch.statements)

    def _plain(self, batch: nodes.Batch) -> CompiledBatch:
        problems = Problems()
        ctx = self._context(batch, problems, Scope(self.catalog), Frame(), CLOSED)
        ctx.mode = Mode.PLAIN
        statements: list[CompiledStatement] = []
        comments: list[str] = []
        for statement in batch.statements:
            comments += [comment.text for comment in statement.comments]
            # DROP of several objects is a statement for each: those that are there go.
            each_alone = statement.span.text[:4].upper() == "DROP"
            for part, item in enumerate(lower_plain(statement, ctx)):
                counts = isinstance(item, pl.Plain) and item.counts_rows and self.catalog.nocount is not True
                rows = isinstance(item, pl.Plain | pl.Select) and item.returns_rows
                text = "\n".join([*comments, emit.top_level(item)])
                comments.clear()
                columns = item.columns if isinstance(item, pl.Plain) else None
                continues = part > 0 and not each_alone
                statements.append(CompiledStatement(text, rows, statement.span, counts, columns, continues))
        return self._finish(batch, problems, statements, comments)

    def _finish(
        self, batch: nodes.Batch, problems: Problems, statements: list[CompiledStatement], comments: list[str]
    ) -> CompiledBatch:
        self.problems.extend(problems)
        if problems.errors:
            return self._failed(batch, problems.errors)
        closing = (*comments, *(comment.text for comment in batch.closing_comments))
        return CompiledBatch(tuple(statements), batch.line, batch.repeat, comments=closing)

    # ------------------------------------------------------------ modules

    def _module(self, batch: nodes.Batch) -> CompiledBatch:
        problems = Problems()
        ctx = self._context(batch, problems, Scope(self.catalog), Frame(), CLOSED)
        statements: list[CompiledStatement] = []
        for statement in batch.statements:
            each_alone = statement.span.text[:4].upper() == "DROP"
            for part, item in enumerate(lower_module(statement, ctx)):
                continues = part > 0 and not each_alone
                text = emit.top_level(item)
                statements.append(CompiledStatement(text, False, statement.span, continues=continues))
            if self._keep_source and isinstance(statement, _MODULES):
                arguments = (
                    pl.Text(self.catalog.sql_name(object_name(statement.name))),
                    pl.Text(batch.span.text),
                )
                keep = pl.Select(pl.Invoke("ssb.keep_source", arguments))
                text = emit.top_level(keep)
                statements.append(CompiledStatement(text, False, statement.span, continues=True))
        return self._finish(batch, problems, statements, [])

    # ------------------------------------------------------------ DO blocks

    def _context(
        self, batch: nodes.Batch, problems: Problems, scope: Scope, frame: Frame, state: State
    ) -> Context:
        ctx = Context(
            catalog=self.catalog,
            scope=scope,
            problems=problems,
            mode=Mode.BATCH,
            first_line=batch.line,
            depths=Depths(batch.statements, state, call_effect(self.catalog), careful=True),
            liveness=Status(batch.statements, DEAD, callee_reads(self.catalog)),
            body_label=scope.label,
            frame=frame,
        )
        ctx.nocount = self.catalog.nocount
        ctx.xact_abort = self.catalog.xact_abort
        return ctx

    def _block(self, group: list[nodes.Batch]) -> Iterator[CompiledBatch]:
        """Compile batches into one DO block, each with its own variables and error boundary."""
        frame = Frame()
        names = [name for batch in group for name in variable_names(batch.statements)]
        names_of_blocks = _labels(group)
        session: str | None = None
        prelude: list[pl.TopLevel] = []
        results: list[tuple[nodes.Batch, tuple[Problem, ...]]] = []
        body: list[pl.Statement] = []
        state: State = CLOSED
        for batch, label in zip(group, names_of_blocks, strict=True):
            if batch.has_errors:
                found = self.problems.within(batch.span)
                results.append((batch, found))
                if self._stops(batch.line):
                    break
                body += _failed_before(found, session)
                continue
            problems = Problems()
            scope = Scope(self.catalog, label=label)
            scope.reserve(names)
            scope.taken |= set(names_of_blocks)
            session = session or scope.helper("session")
            scope.session = session
            scope.limits_rows = self.catalog.row_limited or sets_row_limit(batch.statements)
            scope.taken |= {session, *frame.declarations}
            ctx = self._context(batch, problems, scope, frame, state)
            # An error may have ended the batch before this one at any depth.
            state = ANY
            lowered = lower_batch_body(batch, ctx)
            self.problems.extend(problems)
            results.append((batch, problems.errors))
            if problems.errors:
                if self._stops(batch.line):
                    break
                body += _failed_before(problems.errors, session)
                continue
            prelude += ctx.prelude
            block = pl.Block(tuple(lowered), label=label, declarations=tuple(ctx.declarations.values()))
            settings = [("more", pl.TRUE)] + [("stop", pl.TRUE)] * self._stops(batch.line)
            more = pl.Call("ssb.end_batch", (pl.Name(session),), tuple(settings))
            if batch.repeat > 1:
                number = scope.helper("repetition")
                body.append(pl.ForCount(number, batch.repeat, (block, more)))
            else:
                body += [block, more]
        compiled: list[CompiledStatement] = []
        first = group[0]
        if body and session is not None:
            if isinstance(body[-1], pl.Call):
                body.pop()
            body.append(pl.Call("ssb.end_batch", (pl.Name(session),)))
            declarations = (pl.Declaration(session, "ssb.session"), *frame.declarations.values())
            begin = pl.Call("ssb.begin_batch", (pl.Name(session),))
            do = pl.Do(pl.Block((begin, *body), declarations=declarations))
            for item in (*prelude, do):
                compiled.append(CompiledStatement(emit.top_level(item), False, first.span))
        placed = False
        for batch, found in results:
            if found or placed:
                yield self._failed(batch, found)
            else:
                placed = True
                yield CompiledBatch(tuple(compiled), batch.line)


def _failed_before(problems: Sequence[Problem], session: str | None) -> list[pl.Statement]:
    """What a batch that did not compile leaves to the next one of its block: @@ERROR."""
    if session is None:
        return []
    number = next((problem.number for problem in problems if problem.number is not None), 102)
    return [pl.Assign(f"{session}.error", pl.Number(number)), pl.Assign(f"{session}.rowcount", pl.Number(0))]


def _read_batch(text: BatchText, problems: Problems) -> nodes.Batch:
    batch = parse_batch(text, problems)
    check_chains(batch, problems)
    return batch


def _may_define(text: BatchText) -> bool:
    """Tell whether other batches may have to know what this one says, wherever it stands."""
    return any(
        token.word in _DEFINING or (token.word == "TYPE" and before.word == "CREATE")
        for before, token in pairwise((text.tokens[0], *text.tokens))
    )


def _is_plain(statement: nodes.Statement) -> bool:
    if isinstance(statement, _NEVER_PLAIN):
        return False
    text = statement.span.text
    if _LOCAL_VARIABLE.search(text) or _SESSION_STATE.search(text) or _TABLE_LOCK.search(text):
        return False
    if isinstance(statement, nodes.Receive):
        return not statement.assigns and statement.into is None
    return isinstance(statement, _PLAIN) or is_definition(statement)


def is_definition(statement: nodes.Statement) -> bool:
    """Tell whether a statement is carried out by calls alone (CREATE QUEUE, GRANT …)."""
    from .lower import invocations

    return invocations.dispatch(type(statement)) is not invocations.dispatch(object)


def _labels(group: list[nodes.Batch]) -> list[str]:
    """Return a block label for each batch that no identifier of the texts equals."""
    words = {word.lower() for batch in group for word in re.findall(r"\w+", batch.span.text)}
    stem = "batch"
    while any(word == stem or word.startswith(f"{stem}_") for word in words):
        stem = f"this_{stem}"
    return [stem] if len(group) == 1 else [f"{stem}_{number}" for number in range(1, len(group) + 1)]
