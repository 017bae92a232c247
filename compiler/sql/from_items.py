"""What FROM is made of while it is translated: its items, each with its text and its relation."""

from __future__ import annotations

from sqlglot import exp

from ...grammar.records import dataclass
from .context import Context, Relation

Join = tuple[str, str, str | None]


@dataclass
class Source:
    """One item of FROM: how it is joined, its text, its ON condition, its hints."""

    kind: str
    """Empty for the first one, ``,``, JOIN, LEFT, RIGHT, FULL or CROSS."""
    text: str
    on: str | None = None
    hints: frozenset[str] = frozenset()
    relation: Relation | None = None
    """The relation, where the item is exactly one."""
    lockable: bool = False
    """A table: rows can be locked."""
    bare: str = ""
    """Its text without alias: what LOCK TABLE takes."""
    lateral: bool = False
    """Its text begins with LATERAL."""
    derived: tuple[str, str] | None = None
    """Of ``(query) AS alias (columns)`` the query, and what stands behind the alias."""


def failed(kind: str, ctx: Context) -> Source:
    """What stands for an item that was refused: nothing more is said about its columns."""
    ctx.frame.relations.append(Relation("", None))
    return Source(kind, "NULL")


def alias_of(node: exp.Expr) -> tuple[str | None, list[str]]:
    """(alias, column names) of an item."""
    alias = node.args.get("alias")
    if alias is None:
        return None, []
    return (alias.name or None), [column.name for column in alias.columns]
