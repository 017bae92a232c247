"""Trees → nodes: the way in to a script, and the last files that know Lark.

    problems = Problems()
    script = parse_script(Source.read(path), problems)
    problems.raise_if_any()

:func:`parse_batches` gives the batches one by one, for tools that run a script as they read
it. Building never raises on account of the script: what is wrong is in ``problems``, and a
batch with errors says so (``Batch.has_errors``).

The builders of the statements register with :data:`.reader.builders`, one function per rule of the
grammar.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...grammar.batches import BatchText, split
from ...grammar.parser import parse_batch as parse_tree
from ...grammar.problems import NESTED_TOO_DEEPLY, Problems
from ...grammar.source import Source, Span
from ...grammar.tokens import Token
from ...grammar.tree import Terminal
from .. import nodes
from ..check.statements import check_batch
from . import modules, queries
from .reader import Node, Reader, builders

__all__ = ["parse_batch", "parse_batches", "parse_script"]

DEEPEST_NESTING = 100
"""How many statements may stand inside one another (ELSE IF does not count)."""


def parse_script(source: Source, problems: Problems) -> nodes.Script:
    """Read a script: every batch with its statements; what is wrong goes to ``problems``."""
    return nodes.Script(
        span=source.span(0, len(source.text)),
        source=source,
        batches=tuple(parse_batches(source, problems)),
    )


def parse_batches(source: Source, problems: Problems) -> Iterator[nodes.Batch]:
    """Yield the batches of a script one by one, so that memory stays flat."""
    for text in split(source, problems):
        yield parse_batch(text, problems)


def parse_batch(text: BatchText, problems: Problems) -> nodes.Batch:
    """Read one batch and check what can be checked without a server (check/statements.py)."""
    own = Problems()
    parsed = parse_tree(text, own)
    batch = _BatchBuilder(text, own).batch(parsed.tree)
    check_batch(batch, text.tokens, own)
    problems.extend(own)
    if problems.within(text.span):
        object.__setattr__(batch, "has_errors", True)
    return batch


class _BatchBuilder:
    """Builds the statements of one batch and gives each its comments."""

    def __init__(self, text: BatchText, problems: Problems) -> None:
        self._text = text
        self._problems = problems
        self._read = Reader(text, problems)
        self._comments = [_comment(token, text.source) for token in text.comments]
        self._next_comment = 0
        self._depth = 0

    def batch(self, tree: Node | None) -> nodes.Batch:
        statements = self._statements(tree.children) if tree is not None else ()
        return nodes.Batch(
            span=self._text.span,
            statements=statements,
            line=self._text.line,
            repeat=self._text.repeat,
            closing_comments=self._comments_before(self._text.end),
        )

    # ------------------------------------------------------------------ comments

    def _comments_before(self, offset: int) -> tuple[nodes.Comment, ...]:
        """Take the comments not yet taken that end at or before ``offset``."""
        first = self._next_comment
        comments = self._comments
        if first >= len(comments):
            return ()
        while self._next_comment < len(comments) and comments[self._next_comment].span.end <= offset:
            self._next_comment += 1
        return tuple(comments[first : self._next_comment])

    def _comments_after(self, end: int) -> tuple[nodes.Comment, ...]:
        """Take the comments on the line on which the token before ``end`` ends."""
        tokens = self._read.tokens
        if self._next_comment >= len(self._comments) or end == 0:
            return ()
        while end < len(tokens) and tokens[end].word == ";":
            end += 1
        source = self._text.source
        line = source.line_of(tokens[end - 1].end - 1)
        limit = tokens[end].start if end < len(tokens) else len(source.text)
        first = self._next_comment
        while self._next_comment < len(self._comments):
            span = self._comments[self._next_comment].span
            if span.start >= limit or span.start < tokens[end - 1].end or source.line_of(span.start) != line:
                break
            self._next_comment += 1
        return tuple(self._comments[first : self._next_comment])

    # ------------------------------------------------------------------ statements

    def _statements(self, children: list[Any]) -> tuple[nodes.Statement, ...]:
        return tuple(self._statement(child) for child in children if not isinstance(child, Terminal))

    def _statement(self, tree: Node) -> nodes.Statement:
        read = self._read
        start, end = read.range_of(tree)
        while end - 1 > start and read.tokens[end - 1].word == ";":
            end -= 1
        span = read.span_of_tokens(start, end)
        leading = self._comments_before(span.start)
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            self._problems.add(
                NESTED_TOO_DEEPLY,
                span,
                hint=f"at most {DEEPEST_NESTING} statements can stand inside one another",
                number=191,
            )
            statement: nodes.Statement = nodes.InvalidStatement(span=span)
        else:
            statement = self._build(tree, span)
        self._depth -= 1
        object.__setattr__(statement, "tokens", tuple(read.tokens[start:end]))
        self._check_merge(statement, end)
        self._comments_before(span.end)  # those inside stay in the statement's text
        if leading:
            object.__setattr__(statement, "comments", leading)
        trailing = self._comments_after(end)
        if trailing:
            object.__setattr__(statement, "trailing_comments", trailing)
        return statement

    def _check_merge(self, statement: nodes.Statement, end: int) -> None:
        """Report a MERGE without the semicolon that T-SQL wants after this statement alone."""
        if isinstance(statement, nodes.SqlStatement) and statement.kind == "MERGE":
            tokens = self._read.tokens
            if end >= len(tokens) or tokens[end].word != ";":
                self._problems.add(
                    "A MERGE statement must be terminated by a semi-colon (;).",
                    self._read.span_of_tokens(end - 1, end),
                    number=10713,
                )

    def _build(self, tree: Node, span: Span) -> nodes.Statement:
        rule = str(tree.data)
        builder = builders.find(rule)
        if builder is not None:
            return builder(tree, self._read, {"span": span})
        match rule:
            case "if":
                return self._if(tree)
            case "while":
                condition, body = tree.children
                return nodes.While(
                    span=span, condition=self._read.text(condition), body=self._statement(_tree(body))
                )
            case "block":
                statements = self._statements(tree.children) or (nodes.EmptyStatement(span=span),)
                return nodes.Block(
                    span=span, statements=statements, closing_comments=self._comments_in(tree, 1)
                )
            case "atomic_block":
                return nodes.AtomicBlock(
                    span=span,
                    options=self._read.inside(self._read.need(tree, "GROUP")),
                    statements=self._statements(tree.children),
                    closing_comments=self._comments_in(tree, 1),
                )
            case "try_catch":
                return self._try(tree, span)
            case "create_schema":
                return queries.create_schema(tree, self._read, span, self._statement)
            case "invalid":
                return nodes.InvalidStatement(span=span)
        return modules.MODULES[rule](tree, self._read, span, self._body)

    def _comments_in(self, tree: Node, closing_words: int) -> tuple[nodes.Comment, ...]:
        """Take the comments before the words that close a block."""
        end = self._read.range_of(tree)[1]
        return self._comments_before(self._read.tokens[end - closing_words].start)

    def _body(self, children: list[Any]) -> tuple[tuple[nodes.Statement, ...], tuple[nodes.Comment, ...]]:
        """Build the statements of a module's body; return the comments after the last one too.

        A body reaches to the end of its batch.
        """
        statements = self._statements(children)
        return statements, self._comments_before(self._text.end)

    def _try(self, tree: Node, span: Span) -> nodes.Statement:
        body_tree, handler_tree = self._read.trees(tree)
        body = self._statements(body_tree.children) or (
            nodes.EmptyStatement(span=self._read.span(body_tree)),
        )
        body_comments = self._comments_in(body_tree, 2)
        handler = self._statements(handler_tree.children)
        return nodes.TryCatch(
            span=span,
            body=body,
            handler=handler,
            body_comments=body_comments,
            handler_comments=self._comments_in(handler_tree, 2),
        )

    def _if(self, tree: Node) -> nodes.Statement:
        """Build IF … ELSE IF … ELSE IF … without recursion along the chain."""
        links: list[tuple[int, int, nodes.SqlText, nodes.Statement, tuple[nodes.Comment, ...]]] = []
        otherwise: nodes.Statement | None = None
        leading: tuple[nodes.Comment, ...] = ()
        while True:
            start, end = self._read.range_of(tree)
            while end - 1 > start and self._read.tokens[end - 1].word == ";":
                end -= 1
            condition, *branches = tree.children
            then = self._statement(_tree(branches[0]))
            links.append((start, end, self._read.text(condition), then, leading))
            if len(branches) < 2:
                break
            following = _tree(branches[1])
            if following.data != "if":
                otherwise = self._statement(following)
                break
            leading = self._comments_before(self._read.span(following).start)
            tree = following
        for start, end, condition_text, then, comments in reversed(links):
            otherwise = nodes.If(
                span=self._read.span_of_tokens(start, end),
                tokens=tuple(self._read.tokens[start:end]),
                condition=condition_text,
                then=then,
                otherwise=otherwise,
                comments=comments,
            )
        assert otherwise is not None
        return otherwise


def _tree(child: Any) -> Node:
    assert not isinstance(child, Terminal)
    tree: Node = child
    return tree


def _comment(token: Token, source: Source) -> nodes.Comment:
    return nodes.Comment(
        span=Span(source, token.start, token.end), text=token.text, block=token.text.startswith("/*")
    )
