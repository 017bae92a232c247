"""What can be written at the cursor: keywords that the grammar accepts there, names of the open scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..grammar.batches import BatchText, split
from ..grammar.lexer import bracketed, lex
from ..grammar.parser import keywords_after
from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source
from ..grammar.tokens import RESERVED_WORDS, STATEMENT_WORDS, Token, TokenKind
from .documents import NAME_KINDS, Document

_ROWS = frozenset({"table", "view", "queue", "synonym", "function"})
_ANY = frozenset({"table", "view", "function", "procedure", "queue", "sequence", "synonym", "type"})
_QUERIES = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH"})
# The words before the cursor (upper case) → the kinds of names that can stand there.
_AFTER: tuple[tuple[str, frozenset[str]], ...] = (
    (r"(?:RECEIVE|GET CONVERSATION GROUP)\b.* FROM", frozenset({"queue"})),
    # A new name is coming.
    (
        r"CREATE (?:OR ALTER )?(?:MESSAGE TYPE|CONTRACT|QUEUE|SERVICE|TABLE|VIEW|PROC(?:EDURE)?|FUNCTION)",
        frozenset(),
    ),
    (r"(?:MESSAGE TYPE|CREATE CONTRACT .*[(,])", frozenset({"message type"})),
    (r"(?:CONTRACT|CONTRACT_NAME =|(?:CREATE|ALTER) SERVICE .*[(,])", frozenset({"contract"})),
    (r"(?:SERVICE(?: : :| ::)?|(?:LOCAL_|REMOTE_)SERVICE_NAME =)", frozenset({"service"})),
    (r"QUEUE", frozenset({"queue"})),
    (r"(?:EXEC|EXECUTE|PROC|PROCEDURE|PROCEDURE_NAME =)", frozenset({"procedure"})),
    (r"(?:INSERT|INTO|UPDATE|DELETE|TRUNCATE TABLE|TABLE|MERGE)", frozenset({"table", "view", "synonym"})),
    (r"VIEW", frozenset({"view"})),
    (r"USE", frozenset({"database"})),
    (r"ROUTE", frozenset({"route"})),
    (r"BINDING", frozenset({"remote service binding"})),
    (r"BROKER PRIORITY", frozenset({"broker priority"})),
    (r"SCHEMA COLLECTION", frozenset({"XML schema collection"})),
    (r"CERTIFICATE", frozenset({"certificate"})),
    (r"NEXT VALUE FOR", frozenset({"sequence"})),
    (r"(?:FROM|JOIN|APPLY|ON)", _ROWS),
)
_PATTERNS = tuple((re.compile(rf"(?:.* )?{before}", re.DOTALL), kinds) for before, kinds in _AFTER)
# The ON of a JOIN: a condition, no table.
_CONDITION = re.compile(r".*\bJOIN\b.* ON", re.DOTALL)
_WORDS_LOOKED_AT = 200
_LONGEST_PHRASE = 4  # words


@dataclass(frozen=True)
class Candidate:
    """A text to write in place of ``start`` … the cursor; ``kind`` is ``keyword`` or a name's."""

    text: str
    kind: str
    start: int


@dataclass(frozen=True)
class Place:
    """What the text before the cursor says of the word there.

    The word begins at ``start``, with the quote ``quoted``; ``qualifiers`` are the names before it, each
    with its dot. Names of ``kinds`` can stand there, and where ``exclusive`` nothing but names.
    """

    start: int
    quoted: TokenKind | None
    qualifiers: tuple[str, ...]
    kinds: frozenset[str]
    exclusive: bool
    batch: BatchText

    def keywords(self, *, names_known: bool) -> list[str]:
        """The keywords that fit, ends of phrases first; ``names_known``: there are names that fit, too."""
        if self.quoted not in (None, TokenKind.WORD) or self.qualifiers:
            return []
        ending = _ends_of_phrases(self.batch)
        return sorted(ending) + sorted(_keywords(self.batch, not (self.exclusive and names_known)) - ending)

    def spelled(self, name: str) -> str:
        """A name as it is written here."""
        return _spelled(name, self.quoted)


def place_at(before: Source) -> Place | None:
    """Read the text before the cursor; None where nothing is to be offered: in comments, after ``@``."""
    batch, started, commented = _batch_before(before)
    if commented:
        return None
    quoted = None
    start = len(before.text)
    if started is not None:
        if started.kind in (TokenKind.VARIABLE, TokenKind.NUMBER, TokenKind.BINARY):
            return None
        start, quoted = started.start, started.kind
    kinds, exclusive = _kinds(batch.tokens)
    return Place(start, quoted, _qualifiers(batch.tokens), kinds, exclusive, batch)


def complete(document: Document, offset: int, documents: Iterable[Document]) -> list[Candidate]:
    """Return what can stand at ``offset``, names first; nothing inside comments and after ``@``."""
    place = place_at(Source(document.source.name, document.source.text[:offset]))
    if place is None:
        return []
    names = {
        (one.name, one.kind) for other in documents for one in other.definitions if one.kind in place.kinds
    }
    found = [Candidate(place.spelled(name), kind, place.start) for name, kind in sorted(names)]
    words = place.keywords(names_known=bool(names))
    return found + [Candidate(word, "keyword", place.start) for word in words]


def _qualifiers(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the names before the cursor that end with a dot; of ``db..`` the second is empty."""
    found: list[str] = []
    end = len(tokens)
    while end and tokens[end - 1].word == ".":
        end -= 1
        if end and tokens[end - 1].kind in NAME_KINDS:
            end -= 1
            found.append(tokens[end].name)
        elif end and tokens[end - 1].word == ".":
            found.append("")
        else:
            return ("", *reversed(found))
    return tuple(reversed(found))


def _batch_before(source: Source) -> tuple[BatchText, Token | None, bool]:
    """Return the batch that the cursor is in, the token that is being written, and whether in a comment."""
    end = len(source.text)
    problems = Problems()
    batch = [BatchText(source, end, end), *split(source, problems)][-1]
    if any(problem.number == 113 for problem in problems):
        return batch, None, True
    # Asked of the tokens: comments alone are no batch.
    closing = list(lex(source, Problems()))[-1:]
    if closing and closing[0].end == end and closing[0].text.startswith("--"):
        return batch, None, True
    if batch.end != end:  # GO stands after it
        return BatchText(source, end, end), None, False
    last = batch.tokens[-1] if batch.tokens else None
    if last is None or last.end != end or last.kind is TokenKind.SYMBOL or last.kind is TokenKind.COMMENT:
        return batch, None, False
    if last.kind in (*NAME_KINDS, TokenKind.STRING) and len(last.text) > 1 and last.text[-1] in "]\"'":
        return batch, None, False
    return BatchText(source, batch.start, last.start, 1, batch.tokens[:-1], batch.comments), last, False


def _kinds(tokens: Sequence[Token]) -> tuple[frozenset[str], bool]:
    """Return the kinds of names that can follow, and whether nothing else can."""
    tokens = tokens[-_WORDS_LOOKED_AT:]
    while len(tokens) > 1 and tokens[-1].word == ".":
        tokens = tokens[:-2]
    first = 0
    for index, token in enumerate(tokens):
        if token.word in STATEMENT_WORDS or token.word in ("RECEIVE", "SEND", "GET", ";"):
            first = index
    words = " ".join(token.word or token.text for token in tokens[first:])
    if _CONDITION.fullmatch(words):
        return _ANY, False
    for pattern, kinds in _PATTERNS:
        if pattern.fullmatch(words):
            return kinds, True
    return _ANY, False


def _keywords(batch: BatchText, in_queries: bool) -> frozenset[str]:
    """Return the keywords that the grammar accepts next; ``in_queries``: those of queries too."""
    accepted = keywords_after(batch)
    last = next((token.word for token in reversed(batch.tokens) if token.word in STATEMENT_WORDS), "")
    # The grammar takes queries as text: any word of the language may be right there.
    return accepted | RESERVED_WORDS if in_queries and (not accepted or last in _QUERIES) else accepted


def _ends_of_phrases(batch: BatchText) -> set[str]:
    """Return what is left of keywords of several words, such as DIALOG after BEGIN."""
    found: set[str] = set()
    for count in range(1, _LONGEST_PHRASE):
        begun = batch.tokens[-count:]
        if len(begun) < count or begun[0].kind is not TokenKind.WORD:
            break
        rest = batch.tokens[:-count]
        before = BatchText(batch.source, batch.start, begun[0].start, 1, rest, batch.comments)
        words = " ".join(token.word for token in begun) + " "
        found |= {word.removeprefix(words) for word in keywords_after(before) if word.startswith(words)}
    return found


def _spelled(name: str, quoted: TokenKind | None) -> str:
    """Return a name as it is written where a quote may have been opened."""
    if quoted is TokenKind.STRING:
        return "'" + name.replace("'", "''") + "'"
    if quoted is TokenKind.QUOTED:
        return '"' + name.replace('"', '""') + '"'
    plain = re.fullmatch(r"[^\W\d][\w@#$]*|#+\w[\w@#$]*", name) and name.upper() not in RESERVED_WORDS
    if plain and quoted is not TokenKind.BRACKETED:
        return name
    return bracketed(name)
