"""What a batch becomes: plain statements, a module, or a DO block.

A batch without variables and control flow becomes plain top-level statements. Any other becomes a DO block
that the client runs outside a transaction block, so that COMMIT and ROLLBACK in it are real.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..grammar.problems import Problem
from ..grammar.tokens import TokenKind
from . import nodes
from .analysis.declared_types import variable_names
from .analysis.mentions import locks_table, names, reads_session, variables
from .catalog.names import fold
from .catalog.scope import Catalog, Scope, sets_row_limit
from .lower.context import SESSION_TYPE, Context, Frame
from .lower.dispatch import invocations
from .plpgsql import nodes as pl

MODULES = (nodes.CreateProcedure, nodes.CreateFunction, nodes.CreateTrigger, nodes.CreateView)


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


def is_plain(statement: nodes.Statement) -> bool:
    """Tell whether a statement can run at top level, outside a block."""
    if isinstance(statement, _NEVER_PLAIN):
        return False
    tokens = statement.tokens
    if variables(tokens) or reads_session(tokens) or locks_table(tokens):
        return False
    if isinstance(statement, nodes.Receive):
        return not statement.assigns and statement.into is None
    return isinstance(statement, _PLAIN) or is_definition(statement)


_VERBS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "DROP"})


def error_verb(statement: nodes.Statement) -> str:
    """Return what a statement is called where that matters to its errors (a constraint's text), else ''."""
    kind = statement.kind if isinstance(statement, nodes.SqlStatement) else statement.verb
    first = kind.partition(" ")[0]
    if isinstance(statement, nodes.SqlStatement) and statement.definition_verb:
        return statement.definition_verb
    if isinstance(statement, nodes.CreateSchema):
        return "CREATE SCHEMA"
    if isinstance(statement, nodes.Use):
        return "USE"
    return first if first in _VERBS else ""


def is_definition(statement: nodes.Statement) -> bool:
    """Tell whether a statement is carried out by calls alone (CREATE QUEUE, GRANT …)."""
    return invocations.find(type(statement)) is not None


def block_labels(group: list[nodes.Batch]) -> list[str]:
    """Return a block label for each batch that no identifier of the texts equals."""
    stem = "batch"
    tokens = [
        token
        for batch in group
        for statement in batch.statements
        for token in statement.tokens
        if stem in token.text.lower()
    ]
    words = names(tokens)
    # EXEC may make code of a string: its words are names then.
    words |= {
        word.lower() for t in tokens if t.kind is TokenKind.STRING for word in re.findall(r"\w+", t.text)
    }
    while any(word == stem or word.startswith(f"{stem}_") for word in words):
        stem = f"this_{stem}"
    return [stem] if len(group) == 1 else [f"{stem}_{number}" for number in range(1, len(group) + 1)]


class JoinedBatches:
    """One DO block; each batch in it has its own variables and error boundary."""

    def __init__(self, group: list[nodes.Batch], *, raises: bool = False) -> None:
        """Begin the block for these batches, which ``add`` and ``add_failed`` fill in order.

        ``raises``: who runs the text sees nothing but exceptions: an error that ends the block is one.
        """
        self.frame = Frame()
        self._ending = "raises" if raises else "stop"
        self._stops_at_last = False
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
        more = self._end(**{"more": True, self._ending: stops})
        self._stops_at_last = stops
        if batch.repeat > 1:
            number = ctx.scope.helper("repetition")
            self._body.append(pl.ForCount(number, batch.repeat, (block, more)))
        else:
            self._body += [block, more]

    def add_failed(self, problems: Sequence[Problem]) -> None:
        """Add what a batch that did not compile leaves to the next one: @@ERROR."""
        if self._session is None:
            return
        self._body += [
            pl.Assign(f"{self._session}.error", pl.Number(problems[-1].number or 102)),
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
        end = self._end(raises=self._stops_at_last and self._ending == "raises")
        yield pl.Do(pl.Block((begin, *body, end), declarations=declarations))

    def _end(self, **settings: bool) -> pl.Call:
        assert self._session is not None
        named = tuple((name, pl.TRUE) for name, is_set in settings.items() if is_set)
        return pl.Call("ssb_internal.end_batch", (pl.Name(self._session),), named)
