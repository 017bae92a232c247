"""Python's search for cycles, made rarer while scripts are compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS = 1_000_000
_MANY = 20_000  # a search through so many takes a millisecond or two


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles after each million new objects instead of each 700.

    Nodes and tokens stay until the end, and a search goes through all of them. Only trees of queries are
    cycles, 0.7 kB a line: in the 30,000 lines that are a million objects, a third of what stays.

    What is there at the end of much counts as old, as if it had been searched: the next search would go
    through all of it at once. Not where the program has frozen objects (``gc.freeze``): they would thaw.
    """
    first, second, third = gc.get_threshold()
    before = gc.get_count()[0]
    gc.set_threshold(max(first, _OBJECTS) if first else 0, second, third)
    try:
        yield
    finally:
        # The count of what is frozen walks through it: for a short script it would be the longest part.
        if first and gc.get_count()[0] - before > _MANY and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(first, second, third)
