"""The import statements of a file. Statements stand in statements alone, so no expression is walked."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

Statement = ast.Import | ast.ImportFrom


@cache
def import_statements(path: Path) -> tuple[tuple[Statement, bool], ...]:
    """Every import of a file, wherever it stands, and whether that is inside a function."""
    return tuple(_among(ast.parse(path.read_text(encoding="utf-8")).body, inside=False))


def _among(statements: Iterable[ast.AST], *, inside: bool) -> Iterator[tuple[Statement, bool]]:
    for node in statements:
        if isinstance(node, Statement):
            yield node, inside
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            # A lambda's body is an expression, and no statement's.
            inner = getattr(node, field, ())
            yield from _among(inner, inside=within)
