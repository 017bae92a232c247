"""Scripts made from scripts: pieces of what is in the tests, the examples and the docs, garbled.

A mutant is a few batches of one script, token by token: dropped, doubled, swapped, cut, replaced by a token
of another script or by one of the awkward ones. ``mutant(seed, number)`` is the same text each time.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_TOKEN = re.compile(
    r"N?'(?:[^']|'')*'|\"[^\"]*\"|\[[^\]]*\]|--[^\n]*\n|/\*.*?\*/|@@?\w+|#?\w+|[<>!]=|<>|\s+|.", re.DOTALL
)
_GO = re.compile(r"(?im)^\s*GO(?:\s+\d+)?\s*$\n?")
_AWKWARD = (
    *("(", ")", ",", ".", "..", ";", "=", "*", "+", "-", "''", "N''", "[]", "[a]]b]", '"', "'", "0", "-1"),
    *("9999999999999999999999", "1e400", "0x", "NULL", "DEFAULT", "@", "@@", "@x", "@@ROWCOUNT", "#t", "##t"),
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "AS",
        "ON",
        "BEGIN",
        "END",
        "GO\n",
        "INTO",
        "OUTPUT",
        "inserted",
        "TOP",
        "WITH",
    ),
    *("xml", "int", "max", "(max)", "é", "\u00a0", "\U0001f600", "{", "}", "::", "||", "/*", "*/", "--\n"),
)
_MOST_TOKENS = 220


def _sources() -> list[str]:
    found: list[str] = []
    for folder, pattern in (
        ("tests/end_to_end/scripts", "*.sql"),
        ("examples", "**/*.sql"),
        ("tests/differential/cases", "*.sql"),
    ):
        found += [path.read_text("utf-8-sig") for path in sorted((_ROOT / folder).glob(pattern))]
    for path in sorted((_ROOT / "tests/compiler/cases").glob("*.sql")):
        cases = re.split(r"(?m)^-- (case|expect)\b.*$", path.read_text("utf-8"))
        found += [text for kind, text in zip(cases[1::2], cases[2::2], strict=True) if kind == "case"]
    dialect = (_ROOT / "docs/dialect.md").read_text("utf-8")
    found += [text.replace("\\|", "|") for text in re.findall(r"(?m)^\| `(.+?)` \|", dialect)]
    return found


@cache
def corpus() -> tuple[tuple[str, ...], ...]:
    """The batches of each source, small ones together: what one mutant begins with."""
    pieces: list[tuple[str, ...]] = []
    for text in _sources():
        batches = [batch.strip() for batch in _GO.split(text) if batch.strip()]
        if batches:
            pieces.append(tuple(batches))
    return tuple(pieces)


@cache
def vocabulary() -> tuple[str, ...]:
    """Every token of the corpus that is no blank, as often as it stands there."""
    return tuple(
        token
        for batches in corpus()
        for batch in batches
        for token in _TOKEN.findall(batch)
        if not token.isspace() and not token.startswith(("--", "/*"))
    )


def mutant(seed: int, number: int, *, mildly: bool = False) -> str:
    """The script of this number; ``mildly`` changes one or two tokens, so that many still compile."""
    chance = random.Random(f"{seed}/{number}")
    batches = chance.choice(corpus())
    count = min(len(batches), chance.randint(1, 4))
    first = chance.randrange(len(batches) - count + 1)
    return "\nGO\n".join(
        _garbled(batch, chance, chance.randint(1, 2) if mildly else chance.randint(0, 6))
        for batch in batches[first : first + count]
    )


def _garbled(batch: str, chance: random.Random, changes: int) -> str:
    tokens = _TOKEN.findall(batch)
    if len(tokens) > _MOST_TOKENS:
        start = chance.randrange(len(tokens) - _MOST_TOKENS)
        tokens = tokens[start : start + _MOST_TOKENS]
    for _ in range(changes):
        solid = [place for place, token in enumerate(tokens) if not token.isspace()]
        if not solid:
            break
        place = chance.choice(solid)
        match chance.randrange(9):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                other = chance.choice(solid)
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                del tokens[place : place + chance.randint(2, 12)]
            case 4:
                tokens[place] = chance.choice(vocabulary())
            case 5:
                tokens[place] = chance.choice(_AWKWARD)
            case 6:
                tokens[place:place] = [" ", chance.choice(vocabulary()), " "]
            case 7:
                tokens[place:place] = [" ", chance.choice(_AWKWARD), " "]
            case _:
                here = chance.choice(solid)
                tokens[place:place] = [" ", *tokens[here : here + chance.randint(2, 10)], " "]
    return "".join(tokens)
