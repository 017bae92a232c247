"""RAISERROR's format and the types of what goes into it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...grammar.lexer import string_value
from ...grammar.tokens import TokenKind
from ..catalog.types import SqlType
from ..nodes import SqlText

__all__ = ["fits", "literal_text", "substitution_error"]

# The same as in runtime_sql/functions/text/formatmessage.sql.
_SPECIFICATION = re.compile(r"%(?:%|[-+ #0]*(\*|[0-9]+)?(\.(?:\*|[0-9]+)?)?(h|l|I64)?([diosuxX])|)")


def literal_text(text: SqlText) -> str | None:
    """The characters of a string literal; None for anything else."""
    if len(text.tokens) != 1 or text.tokens[0].kind is not TokenKind.STRING:
        return None
    return string_value(text.tokens[0])


def _kinds(form: str) -> list[str] | None:
    """The kinds of the substitution parameters, I64 of bigints; None where a specification is none."""
    kinds: list[str] = []
    for match in _SPECIFICATION.finditer(form):
        if match.group() == "%":
            return None
        if match[4]:
            stars = f"{match[1]}{match[2]}".count("*")
            kinds += ["d"] * stars + ["I64" if match[3] == "I64" else match[4]]
    return kinds


def substitution_error(form: str | None, types: Sequence[SqlType | None]) -> tuple[int, str] | None:
    """What RAISERROR raises for the types of its arguments alone; a type that is not known will do."""
    for number, type_ in enumerate(types, 4):
        if type_ is not None and not (
            type_.is_string or type_.family in ("integer", "binary", "variant", "user")
        ):
            return (
                2748,
                f"Cannot specify {type_.name} data type (parameter {number}) as a substitution parameter.",
            )
    for number, (kind, type_) in enumerate(zip(_kinds(form or "") or (), types, strict=False), 1):
        wrong = "integer" if kind == "s" else "string"
        if type_ is not None and (type_.family == wrong or (type_.name == "bigint" and kind != "I64")):
            return (
                2786,
                f"The data type of substitution parameter {number} does not match the expected type of the "
                "format specification.",
            )
    return None


def fits(form: str, types: Sequence[SqlType | None]) -> bool:
    """Whether the message can be made for certain."""
    kinds = _kinds(form)
    if kinds is None:
        return False
    return all(
        kind == "s" or (type_ is not None and type_.family == "integer")
        for kind, type_ in zip(kinds, types, strict=False)
    )
