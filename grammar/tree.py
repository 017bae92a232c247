"""What the parser makes of a batch: trees of terminals.

The shapes are Lark's: the grammar's ``?rule``, ``_rule`` and ``-> alias`` mean here what they mean
there. Places count tokens of the batch, not characters.
"""

from __future__ import annotations


class Terminal(str):
    """A terminal of the grammar: the text of its first token.

    It stands for the tokens ``start_pos`` … ``end_pos - 1``.
    """

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int

    def __repr__(self) -> str:
        return f"Terminal({self.type}, {str(self)!r})"


class Tree:
    """What a rule of the grammar matched: the rule's name, or its alias, and what stands below it.

    ``start_pos`` and ``end_pos`` are -1 for a tree of no tokens. The ``outer`` ones take in what
    the grammar leaves out of the tree around it, such as parentheses.
    """

    __slots__ = ("children", "data", "end_pos", "outer_end", "outer_start", "start_pos")

    def __init__(self, data: str, children: list[Terminal | Tree], start: int, end: int) -> None:
        """Make a tree of the tokens ``start`` … ``end - 1``, or of none."""
        self.data = data
        self.children = children
        self.start_pos = self.outer_start = start
        self.end_pos = self.outer_end = end

    @property
    def empty(self) -> bool:
        """Whether no token belongs to it."""
        return self.start_pos < 0

    def __repr__(self) -> str:
        return f"Tree({self.data}, {self.children!r})"
