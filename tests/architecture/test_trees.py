"""PostgreSQL's text is written by the emitters alone: the translation and the lowering build trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pgsb import compiler
from pgsb.compiler.target import emit, nodes, queries, statements

ROOT = Path(compiler.__file__).resolve().parent
FOLDERS = ("sql", "lower", "analysis", "catalog")
"""Their files make what is sent to PostgreSQL."""

T_SQL = {
    "lower/dynamic/runtime_compilation.py": 2,
    "lower/dynamic/sql.py": 1,
    "lower/execute.py": 1,
    "lower/rules.py": 3,
    "lower/system/procedures.py": 1,
}
"""Files that write T-SQL to be compiled in its turn, and at how many places: no text of PostgreSQL's."""

_SQL = re.compile(
    r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|VALUES|RETURNING|ORDER BY|GROUP BY|JOIN|UNION|LIMIT"
    r"|CREATE|ALTER|DROP|REVOKE|GRANT|EXISTS|LATERAL|CASE|ARRAY|CHECK|CONSTRAINT|DEFAULT|AS|IS|NOT NULL)\b"
)
_TELLS = frozenset({"problem", "unsupported", "add", "wrong", "Wrong", "Unreadable"})
"""Calls whose strings are for people."""


def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(found)


def sql_texts(tree: ast.AST) -> Iterator[int]:
    """Lines of the f-strings, and of the texts joined by ``+``, that put SQL together."""
    told = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _name(call.func) in _TELLS
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        for inner in ast.walk(argument)
    }
    for node in ast.walk(tree):
        if id(node) in told:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [part for part in (node.left, node.right) if isinstance(part, ast.Constant)]
        else:
            continue
        if any(isinstance(part.value, str) and _SQL.search(part.value) for part in parts):
            yield node.lineno


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_no_sql_is_put_together_as_text() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): len(list(sql_texts(ast.parse(path.read_text()))))
        for path in files()
    }
    assert {path: count for path, count in found.items() if count} == T_SQL


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("f'SELECT {a} FROM {b}'", 1),
        ("'SELECT ' + a", 1),
        ("f'{a} IS NOT NULL'", 1),
        ("ctx.problem(f'the SELECT {a}')", 0),
        ("f'{a}.{b}'", 0),
        ("'SELECT 1'", 0),
    ],
)
def test_a_text_would_be_found(text: str, found: int) -> None:
    assert len(list(sql_texts(ast.parse(text)))) == found


@pytest.mark.parametrize("module", [nodes, queries, statements], ids=["nodes", "queries", "statements"])
def test_every_node_has_a_writer(module: ModuleType) -> None:
    made = [
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, nodes.Node)
        and found not in (nodes.Node, nodes.Atom)
        and found.__module__ == module.__name__
    ]
    assert made
    assert [found.__name__ for found in made if found not in emit._WRITERS] == []


_LAYOUT = re.compile(r"target(\.layout)? import .*\b(BREAK|OPEN|layout|flat)\b")


def test_queries_and_statements_are_laid_out_by_the_emitter_alone() -> None:
    users = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        if "target" not in path.parts and _LAYOUT.search(path.read_text())
    ]
    assert users == []


def test_only_the_emitters_ask_for_the_text_of_a_tree() -> None:
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        if "target" not in path.parts and re.search(r"target\.emit import .*\btext_of\b", path.read_text())
    ]
    # placeholders: the text that EXECUTE gets, with the pieces that only the run time knows.
    assert asking == ["lower/placeholders.py", "plpgsql/emit.py"]
