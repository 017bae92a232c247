"""Whether a statement is of one of many classes, asked once for each class."""

from __future__ import annotations

from .. import nodes


class IsOneOf(dict[type[nodes.Statement], bool]):
    """``IsOneOf(If, While)[type(statement)]``: a subclass counts."""

    def __init__(self, *classes: type[nodes.Statement]) -> None:
        """Nothing was asked yet."""
        super().__init__()
        self._classes = classes

    def __missing__(self, kind: type[nodes.Statement]) -> bool:
        """Find the answer for a class."""
        self[kind] = issubclass(kind, self._classes)
        return self[kind]
