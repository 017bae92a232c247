"""A database for all tests of a module, and sessions on it."""

import pytest
from runtime.broker import Pair
from sessions import another, lender, maker, pair, session, shared, with_pairs

__all__ = ["another", "lender", "maker", "pair", "ready", "session", "shared", "with_pairs"]


@pytest.fixture(scope="module")
def ready() -> list[Pair]:
    """None is made beforehand: where a reader begins depends on what has been since its queue was made."""
    return []
