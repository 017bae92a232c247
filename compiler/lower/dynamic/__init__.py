"""EXEC of a string and sp_executesql: texts compiled in place, or when they run."""

from . import runtime_compilation, sql

__all__ = ["runtime_compilation", "sql"]
