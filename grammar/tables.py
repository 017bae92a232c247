"""The parser's tables: made of the .lark files by Lark once, then kept in the user's cache folder.

Making them takes a second or two; the kept ones are plain numbers and words, which Python's
marshal reads in some milliseconds. Lark itself is only loaded to make them.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..user_folders import user_cache
from .terminals import END_OF_BATCH, TerminalNames

INVALID = "INVALID"
"""The terminal that stands for a statement with an error."""

_FILES = ("lexical.lark", "service_broker.lark", "procedural.lark", "queries.lark")
# Part of the file's name: another layout is another file.
_LAYOUT = 1

Row = Mapping[str, int]
"""What a state does with each terminal and rule: the next state, or below 0 ``-1 - rule`` to finish."""


class Rule(NamedTuple):
    """A rule of the grammar, as the parser finishes it.

    ``size`` symbols become one of ``origin``. ``kept`` are those that stand in the tree, with
    True for one whose children take its place; None: all do, as they are. ``expands``: a single
    child stands for the whole.
    """

    origin: str
    size: int
    name: str
    expands: bool
    kept: tuple[tuple[int, bool], ...] | None


class Tables(NamedTuple):
    """An LALR(1) table, with the terminals that have a fixed text."""

    states: list[Row]
    rules: list[Rule]
    start: int
    end: int
    names: TerminalNames
    starters: frozenset[str]


@cache
def tables() -> Tables:
    """Return the tables, from the user's cache folder if they are there."""
    grammar = _grammar_text()
    key = hashlib.sha256(grammar.encode()).hexdigest()[:16]
    path = _folder() / f"grammar-{_LAYOUT}.{marshal.version}-{key}"
    kept = _read(path)
    if kept is None:
        kept = _make(grammar)
        _write(path, kept)
    states, rules, start, end, texts = kept
    starters = frozenset(
        word for word in states[start] if word.isupper() and word not in ("NAME", END_OF_BATCH, INVALID)
    )
    return Tables(states, [Rule(*rule) for rule in rules], start, end, TerminalNames.of(texts), starters)


def _folder() -> Path:
    return user_cache()


def _grammar_text() -> str:
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _FILES)


def _read(path: Path) -> tuple[Any, ...] | None:
    """Return what is kept; None when it is not there or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, data = content[:32], content[32:]
    if hashlib.sha256(data).digest() != digest:
        return None  # cut short by a full disk
    kept: tuple[Any, ...] = marshal.loads(data)
    return kept


def _write(path: Path, kept: tuple[Any, ...]) -> None:
    """Keep the tables, whole or not at all; without a place for them they are made again next time."""
    data = marshal.dumps(kept)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(descriptor, "wb") as out:
                out.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError:
        pass


def _make(grammar: str) -> tuple[Any, ...]:
    """Have Lark make the tables, as plain values."""
    # Loaded here: the parser runs without it.
    from lark import Lark
    from lark.lexer import PatternStr
    from lark.parsers.lalr_analysis import Shift

    lark = Lark(
        grammar,
        start="batch",
        parser="lalr",
        lexer="basic",
        propagate_positions=False,
        maybe_placeholders=False,
    )
    table = lark.parse_interactive().parser_state.parse_conf.parse_table
    numbers: dict[Any, int] = {}
    states: list[dict[str, int]] = [{} for _ in range(max(table.states) + 1)]
    for state, row in table.states.items():
        for symbol, (action, argument) in row.items():
            if action is Shift:
                states[state][symbol] = argument
            else:
                states[state][symbol] = -1 - numbers.setdefault(argument, len(numbers))
    texts = [
        (terminal.name, terminal.pattern.value)
        for terminal in lark.terminals
        if isinstance(terminal.pattern, PatternStr)
    ]
    rules = [_rule(rule) for rule in numbers]
    return states, rules, table.start_states["batch"], table.end_states["batch"], texts


def _rule(rule: Any) -> tuple[Any, ...]:
    kept = tuple(
        (index, not symbol.is_term and symbol.name.startswith("_"))
        for index, symbol in enumerate(rule.expansion)
        if rule.options.keep_all_tokens or not (symbol.is_term and symbol.filter_out)
    )
    plain = len(kept) == len(rule.expansion) and not any(inline for _, inline in kept)
    name = str(rule.alias or rule.options.template_source or rule.origin.name)
    expands = bool(rule.options.expand1 and not rule.alias)
    return str(rule.origin.name), len(rule.expansion), name, expands, None if plain else kept
