"""What compilation gives: statements for the server, by batches; and how to compile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ..grammar.problems import Problem, Problems
from ..grammar.records import dataclass
from ..grammar.source import Span
from .catalog.names import in_comment
from .plpgsql import emit
from .plpgsql import nodes as pl

COMPILED_BY = "-- Compiled by pgsb "
"""How a file begins that pgsb compile has written."""
NO_TSQL = "it is PostgreSQL's: pgsb compile wrote it"

_ENDING = frozenset(
    map(
        int,
        """
        145 207 208 209 217 235 241 245 293 295 628 701 823 1105 1204 1205 2714 3609 3616 3951 3960
        4104 8114 8120 8169 8631 10708
        """.split(),
    )
)
"""Names that cannot be resolved, and what ssb_internal.rolls_back knows."""


def ends_batch(number: int, xact_abort: bool = False) -> bool:
    """Tell whether an error with this number, raised outside TRY, ends its batch.

    For plain statements: in DO blocks the compiled code decides. ``xact_abort``: SET
    XACT_ABORT is ON.
    """
    is_of_xml = 9400 <= number <= 9499 or (6300 <= number <= 6399 and number not in (6314, 6328))
    return xact_abort or number in _ENDING or is_of_xml


@dataclass(frozen=True)
class CompileOptions:
    """How to compile.

    ``database`` is the T-SQL database to start in, ``default_database`` the one whose schemas
    carry no prefix (None: only the server knows). ``collation`` is ``cs``, PostgreSQL's
    comparison of strings, or ``ci``, SQL Server's default. ``keep_source``: the server keeps the
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
    script: all parts are done in one transaction, or none (:attr:`CompiledBatch.wholes`).
    """

    sql: str
    returns_rows: bool
    span: Span
    counts_rows: bool = False
    columns: tuple[str | None, ...] | None = None
    continues: bool = False
    verb: str = ""
    """INSERT, UPDATE, DELETE, MERGE, DROP or ALTER TABLE where the script says so: errors name it."""
    item: pl.TopLevel | None = field(default=None, repr=False)
    """What it was made of."""
    comments: tuple[str, ...] = field(default=(), repr=False)
    """What stands before it."""
    fractions: tuple[int | None, ...] = ()
    """The digits behind the seconds of the result's columns that are dates and times."""

    @property
    def is_block(self) -> bool:
        """A DO block, in which errors may be caught."""
        return isinstance(self.item, pl.Do)

    @property
    def names(self) -> Iterator[str]:
        """The dotted names in it: functions and relations of the runtime, and others."""
        return pl.names(self.item)

    @property
    def quiet(self) -> str | None:
        """The same as a DO block, which prints no table in psql; None for all but calls without a result."""
        if not isinstance(self.item, pl.Select) or self.item.returns_rows:
            return None
        do = pl.Do(pl.Block((pl.Perform(self.item.call),)), tag="call")
        return "\n".join((*self.comments, emit.top_level(do)))


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
    open: bool = False
    """Its statements make OPEN_BATCH, which run_batches calls: a transaction is or may become open."""
    span: Span | None = None
    """The batch as it is written."""
    joined: tuple[tuple[int, int], ...] = ()
    """Where batches of one transaction are compiled into it: the first line of each and how often it runs, in
    order. Lines of errors count from the batch of each; between two the server sends SB001 (end_batch)."""
    refused: tuple[tuple[int, CompiledBatch], ...] = ()
    """Batches with problems among those: behind how many runs each stands. They come by themselves, too."""
    plain: bool = False
    """Its statements stand by themselves: they leave nothing for @@ERROR and @@ROWCOUNT of the next batch."""
    module: str | None = None
    """The procedure, function, trigger or view that it makes: errors name it."""
    calls: bool = False
    """It executes procedures or strings, which may make tables that the compiler has not seen."""

    @property
    def wholes(self) -> Iterator[tuple[CompiledStatement, ...]]:
        """The parts of each statement of the script. Where there are several, one transaction holds them."""
        parts: list[CompiledStatement] = []
        for statement in self.statements:
            if parts and not statement.continues:
                yield tuple(parts)
                parts.clear()
            parts.append(statement)
        if parts:
            yield tuple(parts)

    def line_after(self, ended: int) -> int:
        """Return the first line of the batch that runs when ``ended`` ones have come to their end."""
        for line, times in self.joined:
            if ended < times:
                return line
            ended -= times
        return self.line


@dataclass(frozen=True)
class CompiledScript:
    """A compiled script: its batches, and all that is wrong with it."""

    batches: tuple[CompiledBatch, ...]
    problems: Problems = field(compare=False)

    def text(self, *, for_files: bool = False) -> str:
        """Return the script as psql runs it.

        ``for_files``: each batch tells file and line of its source, and calls without a result print none.
        """
        parts: list[str] = []
        for batch in self.batches:
            if for_files and batch.span is not None and batch.statements:
                file, line = batch.span.source.origin(batch.line)
                parts.append(f"-- {in_comment(file)}:{line}")
            for _ in range(batch.repeat):
                for whole in batch.wholes:
                    items = [one.item for one in whole if one.item is not None]
                    if 1 < len(whole) == len(items) and not any(one.returns_rows for one in whole):
                        # It may stand in a migration's transaction, where BEGIN and COMMIT may not.
                        parts.append("\n".join((*whole[0].comments, f"{emit.together(items)};")))
                    else:
                        parts += [f"{(one.quiet if for_files else None) or one.sql};" for one in whole]
            parts += batch.comments
        return "".join(f"{part}\n\n" for part in parts)
