"""What a batch becomes: plain statements, a module, or a DO block.

A batch without variables and control flow becomes plain top-level statements. Any other becomes a DO block
that the client runs outside a transaction block, so that COMMIT and ROLLBACK in it are real.
"""

from __future__ import annotations

import re

from ..grammar.tokens import TokenKind
from . import nodes
from .analysis.mentions import locks_table, names, reads_session, variables
from .lower.dispatch import invocations

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
    """Return what the text of a constraint's error calls a statement, '' where it calls it nothing."""
    kind = statement.kind if isinstance(statement, nodes.SqlStatement) else statement.verb
    if kind == "ALTER TABLE":
        return kind
    first = kind.partition(" ")[0]
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
