"""A database for all tests of a module, and sessions on it."""

from sessions import another, lender, maker, pair, session, shared

__all__ = ["another", "lender", "maker", "pair", "session", "shared"]
