"""The DO block that batches of one transaction become together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..grammar.problems import Problem
from . import nodes
from .analysis.declared_types import variable_names
from .batches import block_labels
from .catalog.names import fold
from .catalog.scope import Catalog, Scope, sets_row_limit
from .lower.context import SESSION_TYPE, Context, Frame
from .plpgsql import nodes as pl


class JoinedBatches:
    """One DO block; each batch in it has its own variables and error boundary."""

    def __init__(self, group: list[nodes.Batch]) -> None:
        """Begin the block for these batches, which :meth:`add` and :meth:`add_failed` fill in order."""
        self.frame = Frame()
        self.labels = block_labels(group)
        """Of the batches."""
        self.joined: list[tuple[int, int]] = []
        """Of each batch added: its first line, and how often it runs."""
        names = [name for batch in group for name in variable_names(batch.statements)]
        self._around = frozenset(self.labels).union(fold(name.lstrip("@")) for name in names)
        self._session: str | None = None
        self._prelude: list[pl.TopLevel] = []
        self._body: list[pl.Statement] = []

    def scope(self, batch: nodes.Batch, label: str, catalog: Catalog) -> Scope:
        """Return the scope for a batch: its names are unlike those of the block and the other batches."""
        scope = Scope(catalog, label=label)
        scope.taken_around = self._around
        self._session = self._session or scope.helper("session")
        scope.session = self._session
        scope.limits_rows = catalog.row_limited or sets_row_limit(batch.statements)
        scope.taken |= {self._session, *self.frame.declarations}
        return scope

    def add(
        self, batch: nodes.Batch, label: str, lowered: Sequence[pl.Statement], ctx: Context, *, stops: bool
    ) -> None:
        """Add a batch. ``stops``: an error in it ends the block."""
        self._prelude += ctx.prelude
        self.joined.append((batch.line, batch.repeat))
        block = pl.Block(tuple(lowered), label=label, declarations=tuple(ctx.declarations.values()))
        more = self._end(more=True, stop=stops)
        if batch.repeat > 1:
            number = ctx.scope.helper("repetition")
            self._body.append(pl.ForCount(number, batch.repeat, (block, more)))
        else:
            self._body += [block, more]

    def add_failed(self, problems: Sequence[Problem]) -> None:
        """Add what a batch that did not compile leaves to the next one: @@ERROR."""
        if self._session is None:
            return
        number = next((problem.number for problem in problems if problem.number is not None), 102)
        self._body += [
            pl.Assign(f"{self._session}.error", pl.Number(number)),
            pl.Assign(f"{self._session}.rowcount", pl.Number(0)),
        ]

    def items(self) -> Iterator[pl.TopLevel]:
        """Yield what the block needs and then the block itself; nothing where no batch compiled."""
        if self._session is None or not self._body:
            return
        body = self._body
        if isinstance(body[-1], pl.Call):
            body = body[:-1]
        declarations = (pl.Declaration(self._session, SESSION_TYPE), *self.frame.declarations.values())
        begin = pl.Call("ssb_internal.begin_batch", (pl.Name(self._session),))
        yield from self._prelude
        yield pl.Do(pl.Block((begin, *body, self._end()), declarations=declarations))

    def _end(self, **settings: bool) -> pl.Call:
        assert self._session is not None
        named = tuple((name, pl.TRUE) for name, is_set in settings.items() if is_set)
        return pl.Call("ssb_internal.end_batch", (pl.Name(self._session),), named)
