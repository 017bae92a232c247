"""The handlers of the translation: of expressions and queries by node class, of statements by verb.

Each module registers what it translates; two handlers for one key are refused when the module is imported.
A node without a handler is a problem with its place: nothing passes through unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from sqlglot import exp

from ...grammar.tokens import Token
from ..registry import Registry
from .context import Context
from .interface import Statement
from .query_result import NOTHING_SELECTED, QueryTree, Targets
from .values import Value

AnyHandler = TypeVar("AnyHandler", bound=Callable[..., Value])

_EXPRESSIONS: Registry[Callable[[Any, Context], Value]] = Registry("expressions")
_QUERIES: Registry[Callable[[Any, Context, Targets | None], QueryTree]] = Registry("queries")
_STATEMENTS: Registry[Callable[[list[Token], Context], Statement | None]] = Registry("statements")


# ---------------------------------------------------------------- expressions


def handles(*classes: type) -> Callable[[AnyHandler], AnyHandler]:
    """Register the decorated function for expression nodes of ``classes``."""
    return _EXPRESSIONS.register(*classes)


def expression(node: exp.Expr | None, ctx: Context) -> Value:
    """Translate an expression node."""
    if node is None:
        return ctx.problem("incorrect syntax: an expression is missing", number=102)
    handler = _EXPRESSIONS.find(type(node))
    if handler is None:
        return ctx.problem(f"{_describe(node)} cannot stand here", node, number=102)
    return handler(node, ctx)


def _describe(node: exp.Expr) -> str:
    names = {"Alias": "AS", "Star": "'*'", "Tuple": "a list in parentheses"}
    return names.get(type(node).__name__, type(node).__name__.upper())


class Verbatim(exp.Expression):
    """A value that is translated already, standing in a tree: ``this`` is the Value."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


@handles(Verbatim)
def _verbatim(node: Verbatim, ctx: Context) -> Value:
    value: Value = node.this
    return value


# ---------------------------------------------------------------- queries

AnyQuery = TypeVar("AnyQuery", bound=Callable[..., QueryTree])


def translates_query(*classes: type) -> Callable[[AnyQuery], AnyQuery]:
    """Register the decorated function for queries of ``classes``."""
    return _QUERIES.register(*classes)


def query_tree(node: exp.Expr, ctx: Context, *, targets: Targets | None = None) -> QueryTree:
    """Translate a query expression; its columns are converted to ``targets`` where given."""
    handler = _QUERIES.find(type(node))
    if handler is None:
        ctx.problem("a SELECT is expected here", node, number=102)
        return QueryTree(NOTHING_SELECTED, None)
    return handler(node, ctx, targets)


# ---------------------------------------------------------------- statements

AnyStatement = TypeVar("AnyStatement", bound=Callable[..., Any])
DEFINITION = "DEFINITION"
"""In place of a verb: CREATE TABLE and all else that queries and changes no rows."""


def translates(verb: str) -> Callable[[AnyStatement], AnyStatement]:
    """Register the decorated function for statements that begin with ``verb``."""
    return _STATEMENTS.register(verb)


def statement(verb: str, tokens: list[Token], ctx: Context) -> Statement | None:
    """Translate a statement. Raises NoHandler for a verb that nothing translates."""
    return _STATEMENTS[verb](tokens, ctx)
