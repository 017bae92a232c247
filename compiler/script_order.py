"""Puts the scripts of a project, which have no order, into one that runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..grammar.batches import split
from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source
from ..grammar.tokens import Token, TokenKind
from .catalog.names import fold

_KINDS = (
    *("DATABASE", "SCHEMA", "USER", "ROLE", "TYPE", "SEQUENCE", "SYNONYM", "TABLE", "VIEW", "FUNCTION"),
    *("PROC", "PROCEDURE", "MESSAGE TYPE", "CONTRACT", "QUEUE", "SERVICE", "XML SCHEMA COLLECTION"),
)
_HEADS = tuple(
    tuple(f"{action} {kind}".split())
    for kind in _KINDS
    for action in ("CREATE", "CREATE OR ALTER", *(["ALTER"] if kind == "TABLE" else ()))
)
_NAMES = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


@dataclass(frozen=True)
class _Names:
    """What is kept of a script, whose tokens may be many."""

    says_use: bool
    made: set[str]
    named: set[str]


def in_running_order(sources: Sequence[Source]) -> list[Source]:
    """Put scripts behind those that make what they name, as far as that is needed.

    An order that runs stays as it is: of what an earlier script makes the later makers are not asked. Scripts
    that name one another keep their order. One that does not say USE stays behind the one before it, in whose
    database it begins, where others do say it.
    """
    if len(sources) < 2:
        return list(sources)
    read = [_read(source) for source in sources]
    uses = [names.says_use for names in read]
    begins = [number for number, says in enumerate(uses) if says or not number or not any(uses)]
    groups = [range(*places) for places in pairwise((*begins, len(sources)))]
    makers: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for name in set[str]().union(*(read[script].made for script in group)):
            makers.setdefault(name, []).append(number)
    needs = []
    for number, group in enumerate(groups):
        needed: set[int] = set()
        for name in set[str]().union(*(read[script].named & makers.keys() for script in group)):
            earlier = [maker for maker in makers[name] if maker <= number]
            needed.update(earlier or makers[name])
        needs.append(sorted(needed - {number}))
    if any(uses) and not uses[0]:
        # It begins where the connection does.
        needs = [[0, *others] if number else [] for number, others in enumerate(needs)]
    order = [groups[number] for circle in _circles(needs) for number in circle]
    return [sources[number] for group in order for number in group]


def _read(source: Source) -> _Names:
    says_use = False
    made: set[str] = set()
    named: set[str] = set()
    for batch in split(source, Problems()):
        says_use |= any(token.word == "USE" for token in batch.tokens)
        made.update(_made(batch.tokens))
        named.update(_named(batch.tokens))
    return _Names(says_use, made, named)


def _made(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the folded names of what CREATE and ALTER TABLE make; of temporary tables none."""
    words = [token.word for token in tokens]
    for place, word in enumerate(words):
        if word not in ("CREATE", "ALTER"):
            continue
        for head in _HEADS:
            if tuple(words[place : place + len(head)]) == head:
                last = place + len(head)
                while words[last + 1 : last + 2] == ["."]:
                    last += 2
                yield from (
                    fold(token.name) for token in tokens[last : last + 1] if not token.name.startswith("#")
                )


def _named(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the folded names in a script; a queue's program may come later than the queue."""
    is_program = False
    for token in tokens:
        if token.word == "PROCEDURE_NAME":
            is_program = True
        elif token.kind in _NAMES:
            if not is_program:
                yield fold(token.name)
        elif token.text not in ("=", "."):
            is_program = False


def _circles(needs: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield numbers behind those that they need, those that need one another together (Tarjan 1972)."""
    met: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_ones: list[int] = []
    placed: set[int] = set()
    for start in range(len(needs)):
        path = [] if start in met else [(start, iter(needs[start]))]
        while path:
            number, others = path[-1]
            if number not in met:
                met[number] = lowest[number] = len(met)
                open_ones.append(number)
            other = next(others, None)
            if other is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[number])
                if lowest[number] == met[number]:
                    begin = open_ones.index(number)
                    placed.update(open_ones[begin:])
                    yield sorted(open_ones[begin:])
                    del open_ones[begin:]
            elif other not in met:
                path.append((other, iter(needs[other])))
            elif other not in placed:
                lowest[number] = min(lowest[number], met[other])
