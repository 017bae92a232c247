"""A field of a record is read somewhere: one that is only filled in is a clause dropped, or work for nothing.

So ALTER TABLE ADD … WITH VALUES once was read and forgotten. Fields are told apart by name alone;
those of the nodes of statements have a test of their own, with reasons (test_node_fields.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "assess bulk cli client compiler daemon diff editor grammar observe runtime_sql security server".split()
)
NODES = ROOT / "compiler" / "nodes"

FOR_OTHERS = {
    "ActiveQueue.has_notification": "a column of ssb_internal.broker_queues()",
    "Facts.der": "as_json gives all fields to the runtime",
    "Facts.key_length": "likewise",
    "Facts.thumbprint": "likewise",
    "Installed.content_hash": "compared with the other two as one tuple",
    "Message.conversation_group": "for programs that use pgsb.client",
    "Rule.expands": "the parser unpacks rules",
}


def _is_record(node: ast.ClassDef) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(isinstance(d, ast.Name) and d.id == "dataclass" for d in decorators) or any(
        isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases
    )


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_every_field_of_a_record_is_read_or_is_there_for_others() -> None:
    fields: dict[str, str] = {}
    read: set[str] = set()
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            elif isinstance(node, ast.MatchClass):
                read.update(node.kwd_attrs)
            elif isinstance(node, ast.ClassDef) and _is_record(node) and NODES not in path.parents:
                fields.update(
                    (f"{node.name}.{part.target.id}", part.target.id)
                    for part in node.body
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                )
    assert len(fields) > 500
    assert {field for field, name in fields.items() if name not in read} == set(FOR_OTHERS)
