"""What the grammar keeps of a statement means something: each field of its node is read by a later pass.

A clause that is read and then forgotten is dropped silently, as AS USER of EXEC once was. Fields are told
apart by name alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NODES = ROOT / "compiler" / "nodes"
READERS = ("compiler", "assess", "diff", "editor")

WITHOUT_EFFECT = {
    "AlterDatabase.termination": "sessions are not ended: docs/dialect.md",
    "CreateProcedure.for_replication": "SQL Server's replication",
    "CreateQueue.filegroup": "PostgreSQL has no filegroups",
    "CreateTrigger.not_for_replication": "SQL Server's replication",
    "CreateUser.without_login": "each user is a role, with a login or without",
    "DataType.varying": "is in the name, too",
    "Execute.implicit": "says how it is written",
    "Execute.recompile": "plans are PostgreSQL's",
    "Execute.result_sets": "columns keep their names and types: docs/dialect.md",
    "ExecuteString.result_sets": "likewise",
    "MaintainQueue.filegroup": "PostgreSQL has no filegroups",
    "MaintainQueue.lob_compaction": "there is nothing to do",
    "MaintainQueue.max_degree": "there is nothing to do",
    "SqlStatement.with_clause": "is in the text, which is read again",
    "StringLiteral.national": "the text is read again",
}


def _fields() -> Iterator[str]:
    for path in sorted(NODES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        yield f"{node.name}.{part.target.id}"


def _read_names() -> set[str]:
    """Attributes that the passes behind the builder read, and fields that their patterns ask for."""
    result: set[str] = set()
    builder = ROOT / "compiler" / "builder"
    for folder in READERS:
        for path in (ROOT / folder).rglob("*.py"):
            if builder in path.parents:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    result.add(node.attr)
                elif isinstance(node, ast.MatchClass):
                    result.update(node.kwd_attrs)
    return result


def test_every_field_of_a_node_is_read_or_has_a_reason() -> None:
    read = _read_names()
    unread = {field for field in _fields() if field.split(".")[1] not in read}
    assert sorted(unread) == sorted(WITHOUT_EFFECT)
