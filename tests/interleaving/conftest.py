"""A database for all tests of a module, and sessions on it."""

from sessions import another, lender, maker, pair, ready, session, shared, with_pairs

__all__ = ["another", "lender", "maker", "pair", "ready", "session", "shared", "with_pairs"]
