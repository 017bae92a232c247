"""What can be typed next at the prompt: names of the database, columns of what is in FROM, keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..editor.completion import Place, place_at
from ..grammar.lexer import lex
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..grammar.tokens import RESERVED_WORDS, Token, TokenKind
from .shell_names import Names, Object

_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)
_BEFORE_RELATIONS = {"FROM", "JOIN", "APPLY", "UPDATE", "INTO", "USING", "MERGE"}
_ROWS = {"table", "view", "queue", "synonym", "function"}
# What of the objects is worth offering where a value is expected.
_IN_VALUES = {"function"}


@dataclass(frozen=True)
class Suggestion:
    """A text in place of ``start`` … the cursor; ``kind`` says what it is."""

    text: str
    start: int
    kind: str


def suggest(text: str, offset: int, names: Callable[[], Names], *, asked: bool = True) -> list[Suggestion]:
    """Return what can stand at ``offset``, the best first.

    ``names`` is called when it is needed. Before a letter is typed there is something to offer only
    where it was ``asked`` for, or where names of few kinds can stand.
    """
    before = text[:offset]
    if variable := re.search(r"@@?[\w$#]*\Z", before):
        return _variables(text, variable.start(), variable[0], names)
    place = place_at(Source("<shell>", before))
    if place is None:
        return []
    typed = before[place.start :].lstrip("['\"").lower()
    if not typed and not asked and not place.exclusive and not place.qualifiers:
        return []
    found: dict[tuple[str, str], Suggestion] = {}
    for name, kind in _candidates(place, _relations(text), names()):
        if typed in name.lower() and (len(typed) > 2 or name.lower().startswith(typed)):
            found.setdefault((name, kind), Suggestion(place.spelled(name), place.start, kind))
    # What begins with the letters comes first; otherwise the order stays.
    ordered = sorted(found.values(), key=lambda one: not one.text.lstrip("['\"").lower().startswith(typed))
    words = [word for word in place.keywords(names_known=bool(found)) if word.lower().startswith(typed)]
    return ordered + [Suggestion(word, place.start, "keyword") for word in words if typed or asked]


def _candidates(
    place: Place, relations: list[tuple[tuple[str, ...], str]], names: Names
) -> Iterator[tuple[str, str]]:
    """Names and their kinds, the nearest first."""
    if place.qualifiers:
        yield from _qualified(place, relations, names)
        return
    if not place.exclusive:
        for path, alias in relations:
            one = _find(names, path)
            if one is not None:
                yield from ((column, f"column of {one.name}") for column in one.columns)
            if alias:
                yield alias, "alias"
        yield from ((one.name, one.kind) for one in names.objects if one.kind in _IN_VALUES)
        return
    yield from sorted((one.name, one.kind) for one in names.objects if one.kind in place.kinds)
    for kind in place.kinds:
        yield from ((name, kind) for name in names.of_kind(kind))
    if place.kinds & (_ROWS | {"procedure"}):
        yield "sys", "schema"
        yield from ((name, "schema") for name in names.of_kind("schema"))
        yield from ((name, "database") for name in names.of_kind("database"))


def _qualified(
    place: Place, relations: list[tuple[tuple[str, ...], str]], names: Names
) -> Iterator[tuple[str, str]]:
    """What can follow ``alias.``, ``table.``, ``schema.``, ``database.`` or several of them."""
    path = tuple(part.lower() for part in place.qualifiers)
    for relation, alias in relations:
        if path == (alias.lower(),) or (not alias and path == relation[-len(path) :]):
            one = _find(names, relation)
            if one is not None:
                yield from ((column, f"column of {one.name}") for column in one.columns)
    if len(path) == 1 and any(path[0] == name.lower() for name in names.of_kind("database")):
        yield from ((name, "schema") for name in names.of_kind("schema"))
    is_here = len(path) == 1 or path[0] == names.database.lower()
    if len(path) <= 2 and is_here:
        schema = path[-1] or "dbo"
        kinds = place.kinds if place.exclusive else _IN_VALUES
        for one in sorted((*names.objects, *names.catalog), key=lambda one: one.name):
            if one.schema.lower() == schema and (one.kind in kinds):
                yield one.name, one.kind


def _relations(text: str) -> list[tuple[tuple[str, ...], str]]:
    """The tables that a text reads or changes: the parts of their names in lower case, their aliases."""
    tokens = [token for token in lex(Source("<shell>", text), Problems()) if token.kind != TokenKind.COMMENT]
    found: list[tuple[tuple[str, ...], str]] = []
    index = 0
    while index < len(tokens):
        if tokens[index].word in _BEFORE_RELATIONS:
            index = _read_relations(tokens, index + 1, found)
        else:
            index += 1
    return found


def _read_relations(tokens: list[Token], index: int, found: list[tuple[tuple[str, ...], str]]) -> int:
    """Read ``a.b AS c, d``; return the index of what follows."""
    while True:
        path: list[str] = []
        while index < len(tokens) and tokens[index].kind in _NAMES and not _is_reserved(tokens[index]):
            path.append(tokens[index].name.lower())
            index += 1
            if index == len(tokens) or tokens[index].word != ".":
                break
            index += 1
        if not path:
            return index
        if index < len(tokens) and tokens[index].word == "AS":
            index += 1
        alias = ""
        if index < len(tokens) and tokens[index].kind in _NAMES and not _is_reserved(tokens[index]):
            alias = tokens[index].name
            index += 1
        found.append((tuple(path), alias))
        if index == len(tokens) or tokens[index].word != ",":
            return index
        index += 1


def _is_reserved(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.word in RESERVED_WORDS


def _find(names: Names, path: tuple[str, ...]) -> Object | None:
    """The object that a name of one, two or three parts means."""
    schema = path[-2] or "dbo" if len(path) > 1 else None
    if len(path) > 2 and path[-3] != names.database.lower():
        return None
    for one in (*names.objects, *names.catalog):
        if one.name.lower() == path[-1] and one.kind in _ROWS and one.schema.lower() == (schema or "dbo"):
            return one
    if schema is not None:
        return None
    of_any_schema = (one for one in names.objects if one.name.lower() == path[-1] and one.kind in _ROWS)
    return next(of_any_schema, None)


def _variables(text: str, start: int, typed: str, names: Callable[[], Names]) -> list[Suggestion]:
    """The variables of the text, and the parameters of the procedures that it executes."""
    tokens = list(lex(Source("<shell>", text), Problems()))
    if any(token.start < start < token.end for token in tokens):
        return []  # inside a string or comment
    found = {token.text: "variable" for token in tokens if token.kind is TokenKind.VARIABLE}
    found.pop(typed, None)
    for index, token in enumerate(tokens):
        if token.word in ("EXEC", "EXECUTE"):
            path: list[str] = []
            for part in tokens[index + 1 :]:
                if part.kind in _NAMES:
                    path.append(part.name.lower())
                elif part.word != ".":
                    break
            for one in names().objects:
                if path and one.kind == "procedure" and one.name.lower() == path[-1]:
                    found |= dict.fromkeys(one.columns, f"parameter of {one.name}")
    return [
        Suggestion(name, start, kind)
        for name, kind in sorted(found.items())
        if name.lower().startswith(typed.lower())
    ]
