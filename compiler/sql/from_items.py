"""What FROM is made of while it is translated: its items, each with its text and its relation."""

from __future__ import annotations

from sqlglot import exp

from ...grammar.records import dataclass, replace
from ..catalog.objects import KeyInfo
from ..target import nodes as n
from ..target import queries as q
from .context import Context, Relation


@dataclass
class Source:
    """One item of FROM: how it is joined, its tree, its ON condition, its hints."""

    kind: str
    """Empty for the first one, ``,``, JOIN, LEFT, RIGHT, FULL or CROSS."""
    code: n.Node
    on: n.Node | None = None
    hints: frozenset[str] = frozenset()
    relation: Relation | None = None
    """The relation, where the item is exactly one."""
    lockable: bool = False
    """A table: rows can be locked."""
    bare: n.Node = n.NOTHING
    """It without its alias: what LOCK TABLE takes."""
    keys: tuple[KeyInfo, ...] = ()
    """The keys of the table."""
    placed: bool = False
    """The place of its rows (ctid) is asked for."""

    @property
    def lateral(self) -> bool:
        """It may read columns of what stands before it."""
        return isinstance(self.code, q.Lateral) or (isinstance(self.code, q.Aliased) and self.code.lateral)

    @property
    def derived(self) -> q.Aliased | None:
        """It as ``(query) AS alias (columns)``, None where it is anything else."""
        code = self.code
        return code if isinstance(code, q.Aliased) and isinstance(code.item, n.Subquery) else None

    def make_lateral(self) -> None:
        """Let it read columns of what stands before it."""
        code = self.code
        self.code = replace(code, lateral=True) if isinstance(code, q.Aliased) else q.Lateral(code)

    def join(self) -> q.Join:
        """It as it is joined to the items before it."""
        return q.Join(self.kind, self.code, self.on)


def failed(kind: str, ctx: Context) -> Source:
    """What stands for an item that was refused: nothing more is said about its columns."""
    ctx.frame.relations.append(Relation("", None))
    return Source(kind, n.NULL)


def alias_of(node: exp.Expr) -> tuple[str | None, list[str]]:
    """(alias, column names) of an item."""
    alias = node.args.get("alias")
    if alias is None:
        return None, []
    return (alias.name or None), [column.name for column in alias.columns]
