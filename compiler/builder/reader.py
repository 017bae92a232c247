"""What the builders of nodes share: where they register, and reading names, values and text off a tree.

A :class:`Reader` belongs to one batch. Positions in a tree count the batch's tokens; a reader
turns them into spans of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypedDict, TypeVar

from ...grammar.batches import BatchText
from ...grammar.hints import incorrect_syntax
from ...grammar.lexer import string_value
from ...grammar.problems import Problems
from ...grammar.records import replace
from ...grammar.source import Span
from ...grammar.tokens import RESERVED_WORDS, Token, TokenKind
from ...grammar.tree import Terminal, Tree
from .. import nodes
from ..registry import Registry

__all__ = ["Builder", "Child", "Common", "Node", "Reader", "builders"]

Node = Tree
Child = Terminal | Node

_T = TypeVar("_T")
_NAME_KINDS = frozenset({TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED})


def numbered(name: nodes.QualifiedName, number: int | None) -> nodes.QualifiedName:
    """The name of a procedure behind the first of its group: ``p;2`` is a procedure of that name."""
    if number is None or number == 1:
        return name
    return replace(name, name=replace(name.name, text=f"{name.name.text};{number}"))


class Reader:
    """Reads the tree of one batch."""

    def __init__(self, text: BatchText, problems: Problems) -> None:
        """Keep the batch's tokens; what is wrong goes to ``problems``."""
        self.source = text.source
        self.tokens = text.tokens
        self.problems = problems

    # ------------------------------------------------------------------ places

    def span_of_tokens(self, start: int, end: int) -> Span:
        """Return the span of the tokens ``start`` … ``end - 1``, of those that there are."""
        tokens = self.tokens
        end = min(end, len(tokens))
        if start >= end:
            offset = tokens[start].start if start < len(tokens) else tokens[-1].end
            return Span(self.source, offset, offset)
        return Span(self.source, tokens[start].start, tokens[end - 1].end)

    def range_of(self, child: Child) -> tuple[int, int]:
        """Return the token range of a tree or terminal."""
        start = child.start_pos
        return (0, 0) if start < 0 else (start, child.end_pos)

    def span(self, child: Child) -> Span:
        """Return the span of a tree or terminal."""
        start, end = child.start_pos, child.end_pos
        tokens = self.tokens
        if 0 <= start < end <= len(tokens):
            return Span(self.source, tokens[start].start, tokens[end - 1].end)
        return self.span_of_tokens(*self.range_of(child))

    # ------------------------------------------------------------------ children

    @staticmethod
    def trees(tree: Node, rule: str | None = None) -> list[Node]:
        """Return the subtrees directly below ``tree``, those of one rule if it is given."""
        return [
            child
            for child in tree.children
            if not isinstance(child, Terminal) and (rule is None or child.data == rule)
        ]

    @staticmethod
    def tree(tree: Node, *rules: str) -> Node | None:
        """Return the first subtree directly below ``tree`` made by one of ``rules``."""
        for child in tree.children:
            if not isinstance(child, Terminal) and child.data in rules:
                return child
        return None

    @staticmethod
    def terminals(tree: Node, *types: str) -> list[Terminal]:
        """Return the terminals directly below ``tree`` of the given types, of all without any."""
        return [
            child
            for child in tree.children
            if isinstance(child, Terminal) and (not types or child.type in types)
        ]

    @staticmethod
    def terminal(tree: Node, *types: str) -> Terminal | None:
        """Return the first terminal directly below ``tree`` of one of the given types."""
        for child in tree.children:
            if isinstance(child, Terminal) and child.type in types:
                return child
        return None

    def need(self, tree: Node, *types: str) -> Terminal:
        """Return the first terminal of one of the types, which the grammar guarantees."""
        found = self.terminal(tree, *types)
        assert found is not None, (tree.data, types)
        return found

    def need_tree(self, tree: Node, *rules: str) -> Node:
        """Return the first subtree of one of the rules, which the grammar guarantees."""
        found = self.tree(tree, *rules)
        assert found is not None, (tree.data, rules)
        return found

    # ------------------------------------------------------------------ names

    def raw(self, terminal: Terminal) -> Token:
        """Return the first token of a terminal."""
        return self.tokens[max(terminal.start_pos, 0)]

    def _span_of(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def identifier_at(self, index: int) -> nodes.Identifier:
        """Return the name that the token at ``index`` is; where the text ends before it, that is told."""
        if index >= len(self.tokens):
            last = self.tokens[-1]
            self.problems.add("Incorrect syntax: a name is missing.", self._span_of(last), number=102)
            return nodes.Identifier(span=self._span_of(last), text=last.name, quoted=False)
        token = self.tokens[index]
        return nodes.Identifier(
            span=Span(self.source, token.start, token.end),
            text=token.name,
            quoted=token.kind is not TokenKind.WORD,
        )

    def identifier(self, terminal: Terminal) -> nodes.Identifier:
        """Return a NAME (or a keyword that stands for one, as PUBLIC) as an identifier."""
        return self.identifier_at(self.range_of(terminal)[0])

    def name(self, tree: Node) -> nodes.Identifier:
        """Return the first NAME directly below ``tree``."""
        return self.identifier(self.need(tree, "NAME"))

    def qualified(self, tree: Node) -> nodes.QualifiedName:
        """Return a ``qualified_name`` tree as a name."""
        return self.qualified_at(*self.range_of(tree))

    def qualified_at(self, start: int, end: int, prefixes: int = 3) -> nodes.QualifiedName:
        """Return the name made of the tokens from ``start`` to ``end``: names and dots; 117 for too many."""
        if end == start + 1 and self.tokens[start].word != ".":
            alone = self.identifier_at(start)
            return nodes.QualifiedName(span=alone.span, name=alone)
        parts: list[nodes.Identifier | None] = []
        expects_name = True
        for index in range(start, end):
            if self.tokens[index].word == ".":
                if expects_name:
                    parts.append(None)
                expects_name = True
            else:
                parts.append(self.identifier_at(index))
                expects_name = False
        span = self.span_of_tokens(start, end)
        if parts[-1] is None or (expects_name and self.tokens[end - 1].word == "."):
            # ``dbo.`` and ``dbo..``: the last part is what is named.
            message, number = incorrect_syntax(self.tokens[end - 1])
            self.problems.add(message, span, number=number)
            return nodes.QualifiedName(span=span, name=self.identifier_at(start))
        if len(parts) > prefixes + 1:
            shown = ".".join(part.text if part else "" for part in parts)
            self.problems.add(
                f"The object name '{shown}' contains more than the maximum number of prefixes. "
                f"The maximum is {prefixes}.",
                span,
                number=117,
            )
            parts = parts[-1 - prefixes :]
        server, database, schema, name = [None] * (4 - len(parts)) + parts
        assert name is not None
        return nodes.QualifiedName(span=span, name=name, schema=schema, database=database, server=server)

    def need_qualified(self, tree: Node) -> nodes.QualifiedName:
        """Return the first qualified name directly below ``tree``."""
        return self.qualified(self.need_tree(tree, "qualified_name"))

    def need_local(self, tree: Node) -> nodes.QualifiedName:
        """Return the same of what is never on a linked server: a queue, its program."""
        return self.qualified_at(*self.range_of(self.need_tree(tree, "qualified_name")), prefixes=2)

    def name_or_variable(self, tree: Node) -> nodes.NameOrVariable | None:
        """Return the NAME or VARIABLE directly below ``tree``, if any."""
        terminal = self.terminal(tree, "NAME", "VARIABLE")
        if terminal is None:
            return None
        return self.variable(terminal) if terminal.type == "VARIABLE" else self.identifier(terminal)

    def owner(self, tree: Node) -> nodes.Identifier | None:
        """Return the principal of an AUTHORIZATION clause below ``tree``."""
        owner = self.tree(tree, "owner")
        return None if owner is None else self.identifier_at(self.range_of(owner)[1] - 1)

    # ------------------------------------------------------------------ values

    def variable(self, terminal: Terminal) -> nodes.Variable:
        """Return a VARIABLE terminal as a node."""
        return nodes.Variable(span=self.span(terminal), name=self.raw(terminal).text)

    def need_variable(self, tree: Node) -> nodes.Variable:
        """Return the first variable directly below ``tree``."""
        return self.variable(self.need(tree, "VARIABLE"))

    def string(self, terminal: Terminal) -> nodes.StringLiteral:
        """Return a STRING terminal as a node."""
        return self.string_at(self.range_of(terminal)[0])

    def string_at(self, index: int) -> nodes.StringLiteral:
        """Return the STRING token at ``index`` as a node."""
        token = self.tokens[index]
        return nodes.StringLiteral(
            span=Span(self.source, token.start, token.end),
            value=string_value(token),
            national=token.text[0] in "nN",
        )

    def string_or_variable(self, terminal: Terminal) -> nodes.StringOrVariable:
        """Return a STRING or VARIABLE terminal as a node."""
        return self.variable(terminal) if terminal.type == "VARIABLE" else self.string(terminal)

    def integer(
        self, tree: Node, least: int, most: int, what: str, outside: tuple[int, str] | None = None
    ) -> int:
        """Return the value of a ``signed_number`` tree; report it, as ``outside``, when out of range."""
        text = "".join(self.tokens[index].text for index in range(*self.range_of(tree)))
        if not text.lstrip("+-").isdecimal():
            self.problems.add(
                f"Incorrect syntax near '{text}'.", self.span(tree), hint=f"{what} is an integer", number=102
            )
            return least
        value = int(text)
        if not least <= value <= most:
            number, message = outside or (1080, f"The integer value {value} is out of range.")
            self.problems.add(
                message, self.span(tree), hint=f"{what} is between {least} and {most}", number=number
            )
            return min(max(value, least), most)
        return value

    def on(self, tree: Node) -> bool:
        """Return the value of the ON or OFF below ``tree``."""
        return self.words(self.need_tree(tree, "on_off")) == "ON"

    def words(self, child: Child) -> str:
        """Return the words of a tree or terminal in upper case with single blanks."""
        start, end = self.range_of(child)
        return " ".join(token.word or token.text for token in self.tokens[start:end])

    def words_before_text(self, tree: Node) -> str:
        """Return the upper-case words of the terminals below ``tree`` up to a NAME or TEXT."""
        words = []
        for child in tree.children:
            if not isinstance(child, Terminal) or child.type in ("NAME", "TEXT", "GROUP", "INTEGER"):
                break
            words.append(self.words(child))
        return " ".join(words)

    # ------------------------------------------------------------------ text

    def text_at(self, start: int, end: int) -> nodes.SqlText:
        """Return the tokens from ``start`` to ``end`` as text."""
        return nodes.SqlText(span=self.span_of_tokens(start, end), tokens=tuple(self.tokens[start:end]))

    def text(self, child: Child) -> nodes.SqlText:
        """Return a tree or terminal as text."""
        return self.text_at(*self.range_of(child))

    def optional_text(self, tree: Node | None) -> nodes.SqlText | None:
        """Return a tree as text, None for none."""
        return None if tree is None else self.text(tree)

    def inside(self, group: Terminal) -> nodes.SqlText:
        """Return what stands between the parentheses of a GROUP."""
        start, end = self.range_of(group)
        return self.text_at(start + 1, end - 1)

    def unwrapped(self, child: Child, *, is_query: bool = False) -> nodes.SqlText:
        """Return a tree or terminal as text, without parentheses around it.

        A query that is a value keeps its own; one that stands for itself, ``is_query``, does not.
        """
        start, end = self.range_of(child)
        while (
            end - start > 2
            and self.tokens[start].word == "("
            and (is_query or self.tokens[start + 1].word != "SELECT")
            and self.closing(start, end) == end - 1
        ):
            start, end = start + 1, end - 1
        return self.text_at(start, end)

    def closing(self, start: int, end: int) -> int:
        """Return the index of the parenthesis that closes the one at ``start``, ``end`` if none."""
        depth = 0
        for index in range(start, end):
            word = self.tokens[index].word
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
                if depth == 0:
                    return index
        return end

    def split(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the token ranges between the commas outside parentheses."""
        depth, first = 0, start
        for index in range(start, end):
            word = self.tokens[index].word
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
            elif word == "," and depth == 0:
                yield first, index
                first = index + 1
        yield first, end

    def unexpected(self, index: int, hint: str | None = None) -> None:
        """Report the token at ``index`` as SQL Server reports a syntax error."""
        index = min(index, len(self.tokens) - 1)
        token = self.tokens[index]
        message, number = incorrect_syntax(token)
        self.problems.add(message, Span(self.source, token.start, token.end), hint=hint, number=number)

    # ------------------------------------------------------------------ types

    def data_type(self, tree: Node) -> nodes.DataType:
        """Return a type tree (``named_type``, ``national_type``, ``double_type``) as a node."""
        start, end = self.range_of(tree)
        parsed, after = self.data_type_at(start, end)
        assert after == end, self.span(tree).text
        return parsed

    def data_type_at(self, start: int, end: int) -> tuple[nodes.DataType, int]:
        """Read a type from the tokens at ``start``; return it and the index after it."""
        tokens = self.tokens
        position = start
        synonym: str | None = None
        if tokens[start].word == "NATIONAL":
            position += 1
            synonym = {"TEXT": "ntext", "CHAR": "nchar", "CHARACTER": "nchar"}.get(tokens[position].word)
            if synonym is None:
                self.unexpected(position, "expected CHAR, CHARACTER or TEXT")
            position += 1
        elif tokens[start].word == "DOUBLE":
            synonym, position = "float", start + 2
        else:
            position += 1
            while position + 1 < end and tokens[position].word == ".":
                while position < end and tokens[position].word == ".":
                    position += 1
                position += 1
            if position == start + 1:
                synonym = {
                    "CHARACTER": "char",
                    "DEC": "decimal",
                    "INTEGER": "int",
                    "ROWVERSION": "timestamp",
                }.get(tokens[start].word)
        name_end = position
        if position < end and tokens[position].word == "VARYING":
            fixed = synonym or tokens[start].text.lower()
            synonym = {"nchar": "nvarchar", "char": "varchar", "binary": "varbinary"}.get(fixed)
            if synonym is None or name_end - start > 2:
                self.unexpected(position, "CHAR, NCHAR and BINARY can be VARYING")
            position += 1
        arguments: tuple[str, ...] = ()
        collection: nodes.QualifiedName | None = None
        document = False
        if position < end and tokens[position].word == "(":
            closing = self.closing(position, end)
            if tokens[name_end - 1].word == "XML":
                first = position + 1
                document = tokens[first].word == "DOCUMENT"
                if tokens[first].word in ("DOCUMENT", "CONTENT") and first + 1 < closing:
                    first += 1
                collection = self.qualified_at(first, closing) if first < closing else None
            else:
                arguments = tuple(
                    "".join(token.text for token in tokens[a:b]).upper()
                    for a, b in self.split(position + 1, closing)
                )
            position = min(closing + 1, end)
        span = self.span_of_tokens(start, position)
        name = (
            nodes.QualifiedName(span=span, name=nodes.Identifier(span=span, text=synonym))
            if synonym
            else self.qualified_at(start, name_end)
        )
        return (
            nodes.DataType(
                span=span, name=name, arguments=arguments, xml_collection=collection, xml_document=document
            ),
            position,
        )

    def is_name(self, index: int) -> bool:
        """Tell whether the token at ``index`` can be a name."""
        if index >= len(self.tokens):
            return False
        token = self.tokens[index]
        return token.kind in _NAME_KINDS and token.word not in RESERVED_WORDS

    def optional(self, tree: Node, rule: str, read: Callable[[Node], _T]) -> _T | None:
        """Return ``read`` of the first subtree made by ``rule``, None without one."""
        found = self.tree(tree, rule)
        return None if found is None else read(found)


class Common(TypedDict):
    """What a builder gives to every node. Tokens and comments follow, where it stands in its list."""

    span: Span


class Builder(Protocol):
    """Makes the statement of one tree."""

    def __call__(self, tree: Node, read: Reader, common: Common) -> nodes.Statement:
        """Return the node."""


builders: Registry[Builder] = Registry("builder")
"""Who makes the statement of which rule of the grammar, by the rule's name."""
