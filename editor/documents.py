"""A script that is open in the editor: places in the client's units, and what the script defines.

Reads tokens, not trees: a script that is being typed is broken most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from ..grammar.lexer import lex, name_parts, string_value
from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source, Span
from ..grammar.tokens import Token, TokenKind

NAME_KINDS = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
# The words after CREATE → what is defined.
_KINDS: dict[tuple[str, ...], str] = {
    ("MESSAGE", "TYPE"): "message type",
    ("CONTRACT",): "contract",
    ("QUEUE",): "queue",
    ("SERVICE",): "service",
    ("ROUTE",): "route",
    ("REMOTE", "SERVICE", "BINDING"): "remote service binding",
    ("BROKER", "PRIORITY"): "broker priority",
    ("EVENT", "NOTIFICATION"): "event notification",
    ("XML", "SCHEMA", "COLLECTION"): "XML schema collection",
    ("TABLE",): "table",
    ("VIEW",): "view",
    ("PROCEDURE",): "procedure",
    ("PROC",): "procedure",
    ("FUNCTION",): "function",
    ("TRIGGER",): "trigger",
    ("TYPE",): "type",
    ("SEQUENCE",): "sequence",
    ("SYNONYM",): "synonym",
    ("CERTIFICATE",): "certificate",
    ("ENDPOINT",): "endpoint",
}
_LONGEST_KIND = max(map(len, _KINDS))


@dataclass(frozen=True)
class Definition:
    """CREATE … of an object: ``name`` is its last part, ``span`` its whole name, ``whole`` from CREATE on."""

    kind: str
    name: str
    written: str
    span: Span
    whole: Span


class Document:
    """A script as the editor has it now.

    ``version`` is the client's number of the text. ``units`` is how the client counts the characters of a
    line: ``utf-16`` (what LSP means unless something else was agreed), ``utf-8`` or ``utf-32``.
    """

    def __init__(self, uri: str, name: str, text: str, version: int | None, units: str = "utf-16") -> None:
        """Take the text; nothing is read of it before somebody asks."""
        self.uri = uri
        self.version = version
        self.source = Source(name, text)
        self._units = units

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens, comments too; what cannot be read is left out."""
        return list(lex(self.source, Problems()))

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """What the script creates, in order."""
        return tuple(_definitions(self.source, [t for t in self.tokens if t.kind is not TokenKind.COMMENT]))

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, both from 0, the column in the client's units."""
        offset = max(0, min(offset, len(self.source.text)))
        line = self.source.line_of(offset)
        return line - 1, self._length(self.source.text[self.source.line_start(line) : offset])

    def offset(self, line: int, column: int) -> int:
        """Return the character at a place of the client; the nearest one where there is none."""
        if line < 0:
            return 0
        if line >= self.source.line_count:
            return len(self.source.text)
        text = self.source.line_text(line + 1)
        passed = index = 0
        while index < len(text) and passed < column:
            passed += self._length(text[index])
            index += 1
        return self.source.line_start(line + 1) + index

    def _length(self, text: str) -> int:
        if self._units == "utf-32":
            return len(text)
        # A lone surrogate is no character, but may be in a text all the same.
        if self._units == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def name_at(self, offset: int) -> Token | None:
        """Return the name, or the string that may hold one, that ``offset`` stands in or right behind."""
        for token in self.tokens:
            if token.start > offset:
                break
            if offset <= token.end and (token.kind in NAME_KINDS or token.kind is TokenKind.STRING):
                return token
        return None


def definitions_of(token: Token, documents: Iterable[Document]) -> list[tuple[Document, Definition]]:
    """Return the definitions of the name that a token stands for; those that agree in case, if any do."""
    name = string_value(token) if token.kind is TokenKind.STRING else token.name
    if token.kind is TokenKind.STRING:
        # 'dbo.q', of OBJECT_ID for example; names of services hold dots and slashes themselves.
        names = {name.lower(), (name_parts(name) or [name])[-1].lower()}
    else:
        names = {name.lower()}
    found = [(doc, one) for doc in documents for one in doc.definitions if one.name.lower() in names]
    return [pair for pair in found if pair[1].name == name] or found


def _definitions(source: Source, tokens: list[Token]) -> Iterator[Definition]:
    for index, token in enumerate(tokens):
        if token.word != "CREATE":
            continue
        place = index + 1
        if _word(tokens, place) == "OR" and _word(tokens, place + 1) == "ALTER":
            place += 2
        for length in range(_LONGEST_KIND, 0, -1):
            kind = _KINDS.get(tuple(_word(tokens, place + step) for step in range(length)))
            if kind is not None:
                name = _dotted(tokens, place + length)
                if name:
                    span = source.span(name[0].start, name[-1].end)
                    yield Definition(
                        kind, name[-1].name, span.text, span, source.span(token.start, name[-1].end)
                    )
                break


def _word(tokens: list[Token], index: int) -> str:
    return tokens[index].word if index < len(tokens) else ""


def _dotted(tokens: list[Token], index: int) -> list[Token]:
    """Return the tokens of a name and its dots."""
    found: list[Token] = []
    while index < len(tokens) and tokens[index].kind in NAME_KINDS:
        found.append(tokens[index])
        if _word(tokens, index + 1) != ".":
            break
        while _word(tokens, index + 1) == ".":
            index += 1
        index += 1
    return found
