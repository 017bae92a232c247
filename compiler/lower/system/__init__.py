"""System procedures and administrators' statements: every module, so that its handlers are registered."""

from . import catalog_queries, dbcc, procedures, queries

__all__ = ["catalog_queries", "dbcc", "procedures", "queries"]
