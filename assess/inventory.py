"""What scripts make, and which of their names and texts mean something else on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..compiler.catalog.names import MAX_IDENTIFIER_BYTES, fold, quote
from ..grammar.batches import BatchText, split
from ..grammar.problems import Problems
from ..grammar.source import Source, Span
from ..grammar.tokens import Token, TokenKind

# The words behind CREATE → the kind of object; the longest first.
_KINDS = (
    (("XML", "SCHEMA", "COLLECTION"), "xml schema collection"),
    (("EVENT", "NOTIFICATION"), "event notification"),
    (("REMOTE", "SERVICE", "BINDING"), "remote service binding"),
    (("BROKER", "PRIORITY"), "broker priority"),
    (("MESSAGE", "TYPE"), "message type"),
    (("PROCEDURE",), "procedure"),
    (("PROC",), "procedure"),
    (("FUNCTION",), "function"),
    (("TRIGGER",), "trigger"),
    (("TABLE",), "table"),
    (("VIEW",), "view"),
    (("TYPE",), "type"),
    (("QUEUE",), "queue"),
    (("SERVICE",), "service"),
    (("CONTRACT",), "contract"),
    (("ROUTE",), "route"),
    (("SEQUENCE",), "sequence"),
    (("SYNONYM",), "synonym"),
    (("SCHEMA",), "schema"),
    (("DATABASE",), "database"),
)
_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
# Service Broker compares these with case.
_EXACT = {"message type", "contract", "service"}
# What has a PostgreSQL name of its own; the names of others are text in the runtime's tables.
_IDENTIFIERS = {"table", "view", "queue", "sequence", "synonym", "type", "procedure", "function", "schema"}
_LONGEST_DATABASE = 59
"""Bytes; CREATE DATABASE fails with 103 for a longer name, as a schema's name begins with it."""

# Functions whose results depend on SQL Server's UTF-16 → why.
_COUNTS_BYTES = {
    "DATALENGTH": "counts bytes: N'…' has two a character in SQL Server, UTF-8 here unless --nvarchar utf16",
    "HASHBYTES": "hashes bytes: NVARCHAR is UTF-16 in SQL Server, UTF-8 here unless --nvarchar utf16",
    "CHECKSUM": "depends on how text is stored",
    "BINARY_CHECKSUM": "depends on how text is stored",
}


@dataclass(frozen=True)
class Object:
    """Something that a script makes; ``span`` is that of the batch or statement that makes it."""

    kind: str
    name: str
    span: Span

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return self.span.end_line - self.span.line + 1


@dataclass(frozen=True)
class Remark:
    """A place that compiles, and that somebody should look at."""

    topic: str
    text: str
    span: Span


def objects_of(source: Source) -> Iterator[Object]:
    """The objects that a script makes, in order; temporary ones are left out."""
    for batch in split(source, Problems()):
        tokens = batch.tokens
        starts = [index for index in range(len(tokens)) if tokens[index].word == "CREATE"]
        for number, index in enumerate(starts):
            found = _object_at(tokens, index)
            if found is None:
                continue
            kind, name = found
            if kind in ("procedure", "function", "trigger", "view"):
                yield Object(kind, name, batch.span)
                break  # it takes the whole batch
            end = tokens[starts[number + 1] - 1].end if number + 1 < len(starts) else batch.end
            yield Object(kind, name, source.span(tokens[index].start, end))


def _object_at(tokens: Sequence[Token], index: int) -> tuple[str, str] | None:
    place = index + 1
    words = [token.word for token in tokens[place : place + 6]]
    if words[:2] == ["OR", "ALTER"]:
        place, words = place + 2, words[2:]
    for pattern, kind in _KINDS:
        if tuple(words[: len(pattern)]) == pattern:
            name = _name(tokens, place + len(pattern))
            return None if not name or name.startswith("#") else (kind, name)
    return None


def _name(tokens: Sequence[Token], place: int) -> str:
    parts: list[str] = []
    while place < len(tokens) and tokens[place].kind in (
        TokenKind.WORD,
        TokenKind.BRACKETED,
        TokenKind.QUOTED,
    ):
        parts.append(tokens[place].name)
        if place + 1 >= len(tokens) or tokens[place + 1].word != ".":
            break
        place += 2
    return ".".join(parts)


def remarks_of(source: Source) -> Iterator[Remark]:
    """The places in a script whose results depend on UTF-16."""
    for batch in split(source, Problems()):
        for index, token in enumerate(batch.tokens):
            why = _COUNTS_BYTES.get(token.word)
            if why is not None and _follows(batch, index, "("):
                yield Remark("UTF-16", f"{token.word} {why}", source.span(token.start, token.end))
            if token.word == "VARBINARY" and index > 1 and batch.tokens[index - 1].word == "AS":
                before = batch.tokens[index - 2]
                if before.text[:2] in ("N'", "n'"):
                    text = "CAST of N'…' to VARBINARY gives UTF-16 in SQL Server, UTF-8 here"
                    text += " unless --nvarchar utf16"
                    yield Remark("UTF-16", text, source.span(before.start, token.end))


def _follows(batch: BatchText, index: int, word: str) -> bool:
    return index + 1 < len(batch.tokens) and batch.tokens[index + 1].word == word


def name_remarks(objects: Sequence[Object]) -> Iterator[Remark]:
    """Names that differ by case only, and names that are too long for PostgreSQL."""
    by_folded: dict[tuple[str, str], Object] = {}
    for one in objects:
        if one.kind in _EXACT:
            continue
        namespace = "relation" if one.kind in ("table", "view", "queue", "sequence", "synonym") else one.kind
        first = by_folded.setdefault((namespace, one.name.lower()), one)
        if first.name != one.name:
            text = f"{one.kind} {one.name} and {first.kind} {first.name} are one name: unquoted names fold"
            yield Remark("names", text, one.span)
        last = one.name.rpartition(".")[2]
        if one.kind in _IDENTIFIERS and fold(last) != last.lower():
            text = f"{one.kind} {one.name} has more than {MAX_IDENTIFIER_BYTES} bytes: T-SQL finds it, "
            yield Remark("names", f"{text}psql and others as {quote(fold(last))}", one.span)
        if one.kind == "database" and len(last.encode()) > _LONGEST_DATABASE:
            text = f"database {one.name} has more than {_LONGEST_DATABASE} bytes: CREATE DATABASE refuses it"
            yield Remark("names", text, one.span)
