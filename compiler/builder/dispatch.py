"""Who makes the statement of which rule of the grammar."""

from __future__ import annotations

from typing import Any, Protocol

from .. import nodes
from ..registry import Registry
from .reader import Node, Reader

__all__ = ["Builder", "builders"]


class Builder(Protocol):
    """Makes the statement of one tree; ``common`` are the fields that all statements share."""

    def __call__(self, tree: Node, read: Reader, common: dict[str, Any]) -> nodes.Statement:
        """Return the node."""


builders: Registry[Builder] = Registry("builder")
"""By the name of the grammar's rule."""
