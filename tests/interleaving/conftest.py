"""A database for all tests of a module, and sessions on it."""

from sessions import another, pair, session, shared

__all__ = ["another", "pair", "session", "shared"]
