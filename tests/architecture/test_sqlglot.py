"""What the compiler uses of sqlglot beyond its nodes, by name: a version that has it no more fails here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from sqlglot.dialects.tsql import TSQL
from sqlglot.parsers.tsql import TSQLParser

from pgsb import compiler

ROOT = Path(compiler.__file__).resolve().parent
PLACE = """
_advance _advance_chunk _chunks _curr _index _next _prev _retreat _tokens _tokens_size
""".split()
"""Where the parser stands among its tokens."""
MATCHING = "_match _match_pair _match_text_seq".split()
CALLED = """
_parse_column _parse_from _parse_joins _parse_number _parse_order _parse_select _parse_set_operations
_parse_string _parse_trim _parse_type _parse_window_clause _parse_with
""".split()
REPLACED = """
_parse_alias _parse_between _parse_bitwise _parse_case _parse_column_ops _parse_csv _parse_dcolon
_parse_disjunction _parse_escape _parse_function _parse_group _parse_id_var _parse_in _parse_into _parse_join
_parse_lambda _parse_limit _parse_ordered _parse_projections _parse_query_modifiers _parse_star_op
_parse_statement _parse_table
_parse_table_alias _parse_table_hints _parse_table_parts _parse_table_sample _parse_unary _parse_window
""".split()
"""Methods of the parser that the reader has its own of: they are called by others of the parser."""
NAMED = frozenset((*PLACE, *MATCHING, *CALLED, *REPLACED))
INSIDE = "sql/parse/"


def knows(path: Path) -> bool:
    """Tell whether a file may know more of sqlglot than its nodes."""
    return path.relative_to(ROOT).as_posix().startswith(INSIDE)


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


@cache
def own() -> frozenset[str]:
    """The private names that the files in ``sql/parse`` define themselves."""
    found: set[str] = set()
    for path, tree in trees().items():
        if knows(path):
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    found.add(node.name)
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found.add(node.target.id)
    return frozenset(found)


def private(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            yield node.attr


def test_the_private_members_of_sqlglot_are_those_named_here() -> None:
    used = {name for path, tree in trees().items() if knows(path) for name in private(tree)}
    assert used - own() == NAMED - set(REPLACED)
    assert set(REPLACED) <= own()


@pytest.mark.parametrize("name", sorted(NAMED))
def test_sqlglot_has_what_is_used_of_it(name: str) -> None:
    assert hasattr(TSQLParser(dialect=TSQL()), name)


def test_all_but_the_reader_know_its_nodes_alone() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees().items()
        if not knows(path)
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlglot."))
        or (isinstance(node, ast.Import) and any(name.name.startswith("sqlglot") for name in node.names))
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "sqlglot"
            and [name.name for name in node.names] != ["exp"]
        )
        or (isinstance(node, ast.Attribute) and node.attr in NAMED and _is_a_reader(node.value))
    ]
    assert found == []


def _is_a_reader(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("reader", "Parser", "Reader")
