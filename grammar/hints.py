"""What to say about a malformed statement, besides where it is.

:func:`describe` puts into words what the grammar could have taken; :func:`sentence_for` knows
mistakes that people make: each is a malformed snippet, and what matters is the state in which
the parser gives up on it.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["describe", "sentence_for"]

_WORDS = {
    "NAME": "a name",
    "VARIABLE": "a variable",
    "STRING": "a string",
    "INTEGER": "a number",
    "NUMBER": "a number",
    "BINARY": "a binary constant",
    "GROUP": "(",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "','",
    "EQUAL": "=",
    "STAR": "*",
    "DOT": "'.'",
    "_EOS": "the end of the statement",
    "$END": "the end of the batch",
}
_NOT_SAID = frozenset({"INVALID", "SIGN", "CLASS", "PSEUDO_COLUMN", "BRACES", "MODULE_NUMBER", "ANY_WORD"})
_MOST_WORDS = 9


def describe(terminals: Iterable[str]) -> str | None:
    """Return "expected a, b or c", None when there are too many to be of help."""
    terminals = {terminal for terminal in terminals if terminal.isupper()}
    if {"CASE_EXPRESSION", "GROUP", "VARIABLE"} <= terminals:
        return "expected an expression"
    if "TEXT" in terminals:
        return None
    words: list[str] = []
    for terminal in sorted(terminals - _NOT_SAID, key=lambda t: (t not in ("NAME", "VARIABLE", "STRING"), t)):
        if terminal in ("OPERATOR", "COMPOUND", "FUNCTION_WORD", "CONSTANT_WORD", "LABEL"):
            continue
        word = _WORDS.get(terminal) or terminal.replace("_", " ")
        if word not in words:
            words.append(word)
    if not words or len(words) > _MOST_WORDS:
        return None
    if len(words) == 1:
        return f"expected {words[0]}"
    return f"expected {', '.join(words[:-1])} or {words[-1]}"


def sentence_for(state: int, terminal: str) -> str | None:
    """Return what to say when the parser gives up in ``state`` on the word ``terminal``."""
    return None
