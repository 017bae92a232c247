"""A compile session: batches one after the other, with what they define.

A batch that leaves a transaction open is compiled together with those after it, up to the one that closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ..grammar.problems import Problem, Problems
from ..grammar.records import replace
from ..grammar.source import Source
from . import nodes
from .analysis.callees import call_effect, callee_reads
from .analysis.declared_types import types_declared, types_made, variable_names
from .analysis.execution_switches import parse_only, when_executing, with_implicit_transactions
from .analysis.live_status import BOTH, DEAD, Live, Status, read_at_start
from .analysis.mentions import reads_identity
from .analysis.structured_jumps import structured
from .analysis.transaction_depth import ANY, CLOSED, Depths, State, depths_after
from .batches import MODULES, JoinedBatches, block_labels, error_verb, is_plain
from .catalog.scope import Catalog, KnownNames, Scope, object_name, sets_row_limit
from .check.token_pairs import expressions_of, queries_of
from .compiled import CompiledBatch, CompiledStatement, CompileOptions
from .lower.batches import lower_batch_body, lower_module, lower_plain
from .lower.context import SESSION_TYPE, Context, Frame, Mode
from .lower.functions import function_signature
from .lower.queries import announce_type, table_type_statement
from .lower.routines import bindings, signature
from .lower.system import procedures as _all_handlers  # noqa: F401
from .plpgsql import emit
from .plpgsql import nodes as pl
from .reading import Announced, ReadScript, batches_of, read_script
from .sql.translate import check_expression, check_query

_MAY_HOLD_QUERIES = frozenset("ALTER CREATE DECLARE IF INSERT MERGE RETURN WAITFOR WHILE WITH".split())
"""How statements begin that end with a query or an expression."""

OPEN_BATCH = "pg_temp.ssb_batch"
"""The procedure that ssb_internal.run_batches calls (session/open_batches.sql)."""


class CompileSession:
    """Compiles scripts or batches one after the other, keeping what they define."""

    def __init__(self, options: CompileOptions | None = None) -> None:
        """Start with no knowledge of the server."""
        options = options or CompileOptions()
        self.catalog = Catalog(options.database, options.default_database, options.collation)
        self.problems = Problems()
        self.catalog.keeps_source = options.keep_source
        self._stops: Callable[[int], bool] = lambda line: False
        self._raises = False
        self._asked: nodes.Batch | None = None
        self._answer = DEAD
        self.share: tuple[int, int] | None = None
        """Which procedures to compile: (remainder, divisor) of their numbers (checking.py); None: all."""
        self._procedures = 0
        self.sees: Callable[[nodes.Batch], None] | None = None
        """Is shown each batch of a script, as it was read."""
        self.before: KnownNames | None = None
        """Where a server runs the batches: what was known before those that it was not asked about since."""
        self._made: tuple[str, str] | None = None
        """The procedure that the last batch makes."""

    def compile_script(
        self,
        source: Source,
        *,
        stops: Callable[[int], bool] = lambda line: False,
        raises: bool = False,
        read: ReadScript | None = None,
    ) -> Iterator[CompiledBatch]:
        """Yield the batches of a script, compiled, in order; holds what it defines and a few batches.

        ``read``: the script, where it was read and announced already (:func:`read_script`).

        ``stops`` tells whether an error in the batch that begins on a line ends the script: batches of
        one transaction run as one block, which then ends by itself. ``raises``: so does every block, and by
        that error: nobody is there who looks at messages.
        """
        self._stops = stops
        self._raises = raises
        self.catalog.quoted_identifiers = source.quoted_identifiers
        batches = self._read(source, read)
        if self.sees is not None:
            batches = _shown(batches, self.sees)
        yield from self._compile(batch for batch in map(self._switched, batches) if batch)

    def _read(self, source: Source, read: ReadScript | None = None) -> Iterator[nodes.Batch]:
        """Yield the batches of a script; what any of them defines is known from the start."""
        if read is None:
            read = read_script(source)
            self.announce(read.definitions)
        return batches_of(read, self.problems)

    def compile_batches(self, source: Source, is_open: Callable[[], bool]) -> Iterator[CompiledBatch]:
        """Yield the batches of what a user typed, each compiled by itself.

        ``is_open`` tells, when the next batch is asked for, whether a transaction is open in the session.
        """
        source = replace(source, quoted_identifiers=self.catalog.quoted_identifiers)
        for batch in map(self._switched, self._read(source)):
            if batch is None:
                continue
            closed = not is_open()
            entry = CLOSED if closed else ANY
            if batch.has_errors or (
                closed and depths_after(batch.statements, entry, call_effect(self.catalog)) <= CLOSED
            ):
                yield from self._compile_group([batch], None)
            else:
                yield self._open_batch(batch, entry)

    def _open_batch(self, batch: nodes.Batch, entry: State) -> CompiledBatch:
        """Compile a batch to a procedure that is handed the session and leaves it in a setting.

        It has no INOUT parameter: it may roll back the very transaction that made it, and PostgreSQL
        looks result types up after a call.
        """
        self._remember()
        problems = Problems()
        frame = Frame()
        (label,) = block_labels([batch])
        scope = Scope(self.catalog, label=label)
        scope.reserve(variable_names(batch.statements))
        scope.taken.add(label)
        scope.session = session = scope.helper("session")
        scope.limits_rows = self.catalog.row_limited or sets_row_limit(batch.statements)
        scope.taken.add(session)
        shaped = replace(batch, statements=structured(batch.statements))
        ctx = self._context(shaped, problems, scope, frame, entry, BOTH)
        put_back = self.catalog.keep()
        lowered = lower_batch_body(shaped, ctx)
        block = pl.Block(tuple(lowered), label=label, declarations=tuple(ctx.declarations.values()))
        answer = (pl.Text("pgsb.answer"), pl.Cast(pl.Name(session), "text"), pl.FALSE)
        body = pl.Block(
            (block, pl.Perform(pl.Invoke("set_config", answer))),
            declarations=tuple(frame.declarations.values()),
        )
        routine = pl.Routine(OPEN_BATCH, (pl.Parameter(session, SESSION_TYPE),), body, tag="batch")
        statements = [
            CompiledStatement(emit.top_level(item), False, batch.span, item=item)
            for item in (*ctx.prelude, routine)
        ]
        finished = self._finish(batch, problems, statements, [])
        if finished.problems:
            put_back()
            return finished
        return replace(finished, open=True, plain=False)

    def _switched(self, batch: nodes.Batch) -> nodes.Batch | None:
        """Return the batch as SET options have it run; None where SET PARSEONLY lets it only be read."""
        if batch.has_errors:
            return batch
        self.catalog.parse_only = parse_only(batch, self.catalog.parse_only)
        if self.catalog.parse_only:
            return None
        batch, self.catalog.implicit_transactions = with_implicit_transactions(
            batch, self.catalog.implicit_transactions
        )
        batch, self.catalog.noexec = when_executing(batch, self.catalog.noexec)
        return batch

    # ------------------------------------------------------------ groups of batches

    def announce(self, read: Sequence[Announced]) -> None:
        """Learn the types and modules of whole scripts first: bodies may name what comes later."""
        batches = [batch for batch, _ in read]
        # Signatures name table types.
        self._announce(batches, self._announce_type)
        self._announce(batches, self._announce_module)

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
            key = self.catalog.key(procedure.name)
            self.catalog.to_make[key] += 1
            if self.catalog.bodies.get(key) is not statement.body:
                self.catalog.bodies[key] = statement.body
                self.catalog.call_effects.clear()
                self.catalog.call_reads.clear()
        elif isinstance(statement, nodes.CreateFunction):
            key = self.catalog.key(object_name(statement.name))
            self.catalog.functions.setdefault(key, function_signature(statement, self.catalog))

    def _remember(self) -> None:
        if self.before is None and self.catalog.knows_server:
            self.before = self.catalog.known_names()

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
            module = bool(batch.statements) and isinstance(batch.statements[0], MODULES)
            if made and not module and state & CLOSED and made & types_declared(batch.statements):
                return group, batch
            group.append(batch)
            if not batch.has_errors and not module:
                state = depths_after(batch.statements, state, call_effect(self.catalog))
                if batch.repeat > 1:
                    state |= depths_after(batch.statements, state, call_effect(self.catalog))
            if state <= CLOSED:
                break
            made |= types_made(batch.statements)
        return group, next(others, None)

    def _compile_group(
        self, group: list[nodes.Batch], following: nodes.Batch | None
    ) -> Iterator[CompiledBatch]:
        first = group[0]
        self._made = None
        self._remember()
        if len(group) == 1:
            if first.has_errors:
                key = self._begins(first)
                if key is not None:
                    self.catalog.gone.add(key)
                self._read_the_rest(first)
                yield self._failed(first, self.problems.within(first.span))
                return
            if first.statements and isinstance(first.statements[0], MODULES):
                yield self._module(first)
                return
            if self._is_plain(first, following):
                yield self._plain(first)
                return
        yield from self._block(group, following)

    def _read_the_rest(self, batch: nodes.Batch) -> None:
        """Report what cannot be read in those queries and expressions of a batch that no problem is in.

        Nothing translates them, since the batch does not run. What stands behind a statement that could not
        be read may be the rest of that.
        """
        scope = Scope(self.catalog)
        cut = ""
        for statement in nodes.all_of(batch.statements):
            is_rest = cut in _MAY_HOLD_QUERIES
            cut = statement.verb if isinstance(statement, nodes.InvalidStatement) else ""
            if is_rest:
                continue
            for text in queries_of(statement):
                if not self.problems.within(text.span):
                    check_query(text, scope, self.problems)
            for text in expressions_of(statement):
                if not self.problems.within(text.span):
                    check_expression(text, scope, self.problems)

    def _failed(self, batch: nodes.Batch, problems: Sequence[Problem]) -> CompiledBatch:
        return CompiledBatch(
            (), batch.line, problems=tuple(problems), span=batch.span, module=_module_of(batch)
        )

    # ------------------------------------------------------------ plain statements

    def _reads_at_start(self, batch: nodes.Batch | None) -> Live:
        """Return what a batch reads of the batch before it: asked twice of the same one."""
        if batch is None:
            return DEAD
        if self._asked is not batch:
            self._asked, self._answer = batch, read_at_start(batch.statements)
        return self._answer

    def _is_plain(self, batch: nodes.Batch, following: nodes.Batch | None) -> bool:
        if batch.repeat > 1 or (following is not None and self._reads_at_start(following) != DEAD):
            return False
        if len(batch.statements) > 1 and (self.catalog.xact_abort or _sets_xact_abort(batch.statements)):
            return False
        if self.catalog.row_limited or sets_row_limit(batch.statements):
            return False
        if self.catalog.unsure:
            return False  # only the run time knows whether rows are counted, and what an error ends
        if len(batch.statements) > 1 and any(reads_identity(s.tokens) for s in batch.statements):
            return False  # what its own INSERTs made is kept in a variable
        return all(is_plain(statement) for statement in batch.statements)

    def _plain(self, batch: nodes.Batch) -> CompiledBatch:
        problems = Problems()
        ctx = self._context(batch, problems, Scope(self.catalog), Frame(), CLOSED)
        ctx.mode = Mode.PLAIN
        put_back = self.catalog.keep()
        statements: list[CompiledStatement] = []
        comments: list[str] = []
        for statement in batch.statements:
            comments += [comment.text for comment in statement.comments]
            # DROP of several objects is a statement for each: those that are there go.
            each_alone = statement.verb == "DROP"
            lowered = list(lower_plain(statement, ctx))
            verb = ctx.scope.take_verb(error_verb(statement)) or ""
            for part, item in enumerate(lowered):
                counts = isinstance(item, pl.Plain) and item.counts_rows and self.catalog.nocount is not True
                rows = isinstance(item, pl.Plain | pl.Select) and item.returns_rows
                text = "\n".join([*comments, emit.top_level(item)])
                before = tuple(comments)
                comments.clear()
                columns = item.columns if isinstance(item, pl.Plain) else None
                continues = part > 0 and not each_alone
                statements.append(
                    CompiledStatement(
                        text,
                        rows,
                        statement.span,
                        counts,
                        columns,
                        continues,
                        verb,
                        item=item,
                        comments=before,
                        fractions=item.fractions if isinstance(item, pl.Plain) else (),
                    )
                )
        if problems.errors:
            put_back()
        bound = _bound(batch, ctx)
        return self._finish(batch, problems, [*bound, *statements], comments)

    def _finish(
        self, batch: nodes.Batch, problems: Problems, statements: list[CompiledStatement], comments: list[str]
    ) -> CompiledBatch:
        self.problems.extend(problems)
        if problems.errors:
            return self._failed(batch, problems.errors)
        closing = (*comments, *(comment.text for comment in batch.closing_comments))
        return CompiledBatch(
            tuple(statements),
            batch.line,
            batch.repeat,
            comments=closing,
            plain=True,
            span=batch.span,
            module=_module_of(batch),
            calls=_calls([batch]),
        )

    # ------------------------------------------------------------ modules

    def _is_of_others(self, batch: nodes.Batch) -> bool:
        """Tell whether another process compiles the batch."""
        if self.share is None or not isinstance(batch.statements[0], nodes.CreateProcedure):
            return False
        self._procedures += 1
        return self._procedures % self.share[1] != self.share[0]

    def _module(self, batch: nodes.Batch) -> CompiledBatch:
        if self._is_of_others(batch):
            return CompiledBatch((), batch.line)
        problems = Problems()
        ctx = self._context(batch, problems, Scope(self.catalog), Frame(), CLOSED)
        statements: list[CompiledStatement] = []
        key = self._made = self._begins(batch)
        put_back = self.catalog.keep()
        for statement in batch.statements:
            lowered, begun = lower_module(statement, ctx), len(statements)
            verb = ctx.scope.take_verb(error_verb(statement)) or ""
            statements += _bound(batch, ctx)
            for item in lowered:
                continues = len(statements) > begun
                text = emit.top_level(item)
                statements.append(
                    CompiledStatement(
                        text,
                        False,
                        statement.span,
                        continues=continues,
                        verb=verb,
                        item=item,
                    )
                )
        finished = self._finish(batch, problems, statements, [])
        if finished.problems:
            put_back()
            if key is not None:
                self.catalog.gone.add(key)
        return finished

    def forget_made(self) -> None:
        """The last batch has failed: the procedure that it makes may not be there, or be another."""
        if self._made is not None:
            self.catalog.gone.add(self._made)

    def _begins(self, batch: nodes.Batch) -> tuple[str, str] | None:
        """The turn of a module has come: the procedure that it makes, None where it makes none."""
        made = batch.statements[0] if batch.statements else None
        if not isinstance(made, nodes.CreateProcedure):
            return None
        key = self.catalog.key(object_name(made.name))
        self.catalog.to_make[key] -= 1
        self.catalog.gone.discard(key)
        self.catalog.begun.add(key)
        return key

    # ------------------------------------------------------------ DO blocks

    def _context(
        self,
        batch: nodes.Batch,
        problems: Problems,
        scope: Scope,
        frame: Frame,
        state: State,
        read_after: Live = DEAD,
    ) -> Context:
        ctx = Context(
            catalog=self.catalog,
            scope=scope,
            problems=problems,
            mode=Mode.BATCH,
            first_line=batch.line,
            depths=Depths(batch.statements, state, call_effect(self.catalog), careful=True),
            liveness=Status(batch.statements, read_after, callee_reads(self.catalog)),
            body_label=scope.label,
            frame=frame,
            text=batch.span,
        )
        ctx.nocount = self.catalog.nocount
        ctx.xact_abort = self.catalog.xact_abort
        return ctx

    def _block(self, group: list[nodes.Batch], following: nodes.Batch | None) -> Iterator[CompiledBatch]:
        block = JoinedBatches(group, raises=self._raises)
        results: list[tuple[nodes.Batch, tuple[Problem, ...]]] = []
        state: State = CLOSED
        others = (*group[1:], following)
        for batch, label, next_batch in zip(group, block.labels, others, strict=True):
            stops = self._stops(batch.line)
            if batch.has_errors:
                self._read_the_rest(batch)
                found, ctx = self.problems.within(batch.span), None
            else:
                # A repeated batch is followed by itself.
                left = self._reads_at_start(next_batch) | (
                    self._reads_at_start(batch) if batch.repeat > 1 else DEAD
                )
                shaped = replace(batch, statements=structured(batch.statements))
                scope = block.scope(batch, label, self.catalog)
                ctx = self._context(shaped, Problems(), scope, block.frame, state, left)
                # An error may have ended the batch before this one at any depth.
                state = ANY
                put_back = self.catalog.keep()
                lowered = lower_batch_body(shaped, ctx)
                self.problems.extend(ctx.problems)
                found = ctx.problems.errors
                if found:
                    put_back()
            results.append((batch, found))
            if ctx is not None and not found:
                block.add(batch, label, lowered, ctx, stops=stops)
            elif stops:
                break
            else:
                block.add_failed(found)
        compiled = tuple(
            CompiledStatement(emit.top_level(item), False, group[0].span, item=item) for item in block.items()
        )
        parts = tuple(block.joined) if len(group) > 1 else ()
        all_results = [(batch, self._failed(batch, found) if found else None) for batch, found in results]
        runs, refused = 0, []
        for batch, failed in all_results:
            if failed is None:
                runs += batch.repeat
            else:
                refused.append((runs, failed))
        placed = False
        for batch, failed in all_results:
            if failed is not None or placed:
                yield failed or self._failed(batch, ())
            else:
                placed = True
                among = tuple(each for each in refused if each[0] > 0)
                yield CompiledBatch(
                    compiled, batch.line, joined=parts, refused=among, span=batch.span, calls=_calls(group)
                )


def _bound(batch: nodes.Batch, ctx: Context) -> list[CompiledStatement]:
    """What finds columns before anything else of a batch runs."""
    return [
        CompiledStatement(emit.top_level(item), False, problem.span, item=item)
        for problem, item in ((problem, pl.Select(call)) for problem, call in bindings(batch.statements, ctx))
    ]


def _module_of(batch: nodes.Batch) -> str | None:
    made = batch.statements[0] if batch.statements else None
    return made.name.name.text if isinstance(made, MODULES) else None


def _calls(batches: Sequence[nodes.Batch]) -> bool:
    return any(
        isinstance(statement, nodes.Execute | nodes.ExecuteString)
        for batch in batches
        for statement in nodes.all_of(batch.statements)
    )


def _sets_xact_abort(statements: Sequence[nodes.Statement]) -> bool:
    """Tell whether SET XACT_ABORT stands before statements that it holds for, other than SET."""
    sets = [isinstance(each, nodes.SetOption) and "XACT_ABORT" in each.names for each in statements]
    behind = statements[sets.index(True) :] if any(sets) else ()
    return not all(isinstance(each, nodes.SetOption) for each in behind)


def _shown(batches: Iterator[nodes.Batch], sees: Callable[[nodes.Batch], None]) -> Iterator[nodes.Batch]:
    """Yield batches, each after it was shown."""
    for batch in batches:
        sees(batch)
        yield batch
